# SPDX-License-Identifier: MIT
"""Calls of compiled pipelines by the functions of docs/abi.md: p_plan, p_execute, p_destroy."""
import ctypes as C
import itertools
from array import array

TYPES = ["f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "bool"]
CODES = {"f32": "f", "f64": "d", "i8": "b", "i16": "h", "i32": "i", "i64": "q", "u8": "B", "u16": "H", "u32": "I",
         "bool": "B"}


class Buffer(C.Structure):
    _fields_ = [("data", C.c_void_p), ("type", C.c_int), ("device", C.c_int), ("rank", C.c_int32),
                ("shape", C.c_int64*8), ("strides", C.c_int64*8)]


class Options(C.Structure):
    _fields_ = [("context", C.c_void_p), ("threads", C.c_int32), ("max_memory", C.c_int64),
                ("check_finite", C.c_bool), ("tune", C.c_int), ("candidate", C.c_char_p),
                ("deterministic", C.c_bool), ("in_blocks", C.c_bool)]


def runtime(build):
    lib = C.CDLL(str(build / "libpmgrt.so"), mode=C.RTLD_GLOBAL)
    lib.pmg_context_new.restype = C.c_void_p
    lib.pmg_message.restype = C.c_char_p
    return lib


def buffer_of(t, values, shape):
    held = array(CODES[t], values) if values else array(CODES[t], [0])
    b = Buffer(held.buffer_info()[0], TYPES.index(t), 0, len(shape))
    step = held.itemsize
    for i in reversed(range(len(shape))):
        b.shape[i], b.strides[i] = shape[i], step
        step *= shape[i]
    return b, held


class Failed(Exception):
    pass


class Library:
    def __init__(self, path, rt):
        self.lib, self.rt = C.CDLL(str(path)), rt

    def run(self, name, members, options):
        """members: (name, "size", value), (name, "f64", value) or (name, "array", (type, values, shape, is_read)) in
        the order of declaration. Returns the arrays of those that are written, by name."""
        fields, held, args = [], {}, []
        for member, kind, value in members:
            field = member.replace(".", "_")
            if kind == "array":
                t, values, shape = value
                b, held[member] = buffer_of(t, values, shape)
                fields.append((field, Buffer))
                args.append(b)
            else:
                fields.append((field, {"size": C.c_int64, "f64": C.c_double, "f32": C.c_float}[kind]))
                args.append(value)
        struct = type("Args", (C.Structure,), {"_fields_": fields})(*args)
        context = self.rt.pmg_context_new(None)
        options.context = context
        plan = C.c_void_p()
        try:
            for step in (lambda: self.of(name, "plan")(C.byref(struct), C.byref(options), C.byref(plan)),
                         lambda: self.of(name, "execute")(plan, C.byref(struct), None)):
                status = step()
                if status:
                    raise Failed(f"status {status}: {self.rt.pmg_message(C.c_void_p(context)).decode()}")
        finally:
            self.of(name, "destroy")(plan)
            self.rt.pmg_context_free(C.c_void_p(context))
        return held

    def of(self, name, what):
        return getattr(self.lib, f"{name}_{what}")


def rows(shape):
    return itertools.product(*map(range, shape))
