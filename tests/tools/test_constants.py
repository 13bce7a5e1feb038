#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Numbers that stand in the text: into every type, in every place of the language that takes one, beside data of other
types. What they have to be is computed here: integers in 64 bits, of which a narrower type keeps the low ones; floats
cut off and held at the limits of an integer type. By generated code, for a device (emulated) and in the interpreter:
without PMG_TEST_LONG, each program by the interpreter and one compiler, in turn.
Constants into narrower integers were held at their limits, where they have to wrap. Not with sanitizers: its time is
that of C compilers. Its C is not optimised."""
import math
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

PMG = str((Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
NVCC = str(Path("tests/cuda/emulated/nvcc").resolve())
WAYS = {"interp": ["--interp"], "gcc": ["--candidates=1"],
        "clang": ["--candidates=1", "--cc=clang", "--schedule=isl", "--parallel=off"],
        "cuda": ["--candidates=1", "--target=cuda", f"--nvcc={NVCC}"]}
RESULTS = {"passed": 0, "failed": 0}
COMPILED = []

INTEGERS = {f"{'i' if low else 'u'}{bits}": (-2**(bits - 1) if low else 0, 2**(bits - bool(low)) - 1)
            for low in (1, 0) for bits in (8, 16, 32, 64) if low or bits < 64}
NUMPY = {**{name: np.dtype(name[0] + str(int(name[1:])//8)) for name in INTEGERS},
         "f32": np.dtype("f4"), "f64": np.dtype("f8"), "bool": np.dtype("bool")}
WIDE = [2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**32 - 1, 2**32, 2**63 - 1, -2**63, 2**24 + 1, 2**53 + 1,
        2**60 + 2**36 + 1, -2**60 - 2**36 - 1]
REALS = ["-1.9", "200.5", "1e300", "-inf", "inf - inf", "9223372036854775807.0", "2147483648.5"]


def wrapped(kind, value):
    low, high = INTEGERS[kind]
    return (value - low) % (high - low + 1) + low


def held(kind, value):
    low, high = INTEGERS[kind]
    return 0 if math.isnan(value) else low if value <= low else high if value >= high else int(value)


def text(value):
    return f"({value})" if value != -2**63 else "(-9223372036854775807 - 1)"


def real(words):
    return eval(words, {"inf": math.inf})  # pylint: disable=eval-used


class Program:
    """Outputs of a pipeline with what each has to be, in all of its three cells."""

    def __init__(self, name, begin=(), data=()):
        self.name, self.lines, self.wanted, self.begin = name, [], [], list(begin)
        self.data, self.empty = dict(data), []

    def declare(self, kind):
        self.wanted.append((kind, None))
        self.begin.append(f"out o{len(self.wanted)} : {kind}[n];")
        return f"o{len(self.wanted)}"

    def put(self, kind, value, wanted):
        """One definition of a new output."""
        self.lines.append(f"{self.declare(kind)}[i] = {value} for i in 0..n;")
        self.wanted[-1] = (kind, wanted, value)

    def add(self, kind, what, *lines, wanted):
        """Lines that define a new output, {o}."""
        name = self.declare(kind)
        self.lines += [line.format(o=name) for line in lines]
        self.wanted[-1] = (kind, wanted, what)

    def source(self):
        inputs = [f"in {name} : {kind}[n];" for name, (kind, _) in self.data.items()]
        return "\n".join([f"pipeline {self.name} {{", "param n, none;", *inputs, *self.begin, *self.lines, "}", ""])


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what}")


def same(kind, given, wanted):
    if kind in ("f32", "f64"):
        with np.errstate(over="ignore"):
            wanted = NUMPY[kind].type(wanted)
        return all(np.isnan(given)) if np.isnan(wanted) else (given == wanted).all() and (
            np.signbit(given) == np.signbit(wanted)).all()
    return [int(v) for v in given] == [int(wanted)]*3


def in_turn(ways):
    """The interpreter, and another way for each program than for the one before."""
    COMPILED.append(ways)
    others = [way for way in ways if way != "interp"]
    return ways if "PMG_TEST_LONG" in os.environ else ("interp", others[len(COMPILED) % len(others)])


def ask(program, header="", ways=tuple(WAYS)):
    Path(f"{program.name}.pmg").write_text(header + program.source())
    for name, (kind, value) in program.data.items():
        np.save(f"{name}.npy", np.full(3, value, NUMPY[kind]))
    for way in in_turn(ways):
        files = [f"-oo{k + 1}=o{k + 1}.npy" for k in range(len(program.wanted))]
        data = [f"{name}={name}.npy" for name in program.data] + [f"{name}=0" for name in program.empty]
        run = subprocess.run([PMG, "run", f"{program.name}.pmg", "n=3", "none=0", *data, *files, *WAYS[way]],
                             capture_output=True, text=True, check=False)
        check(run.returncode == 0, f"{program.name} by {way}: {run.stdout[-800:]}{run.stderr[-1500:]}")
        for k, (kind, wanted, what) in enumerate(program.wanted if run.returncode == 0 else []):
            given = np.load(f"o{k + 1}.npy")
            check(given.dtype == NUMPY[kind] and same(kind, given, wanted),
                  f"{program.name} by {way}: {what} in {kind} is {given.tolist()}, has to be {wanted}")


def stored():
    """As the whole right-hand side, and cast, to be read as 64 bits."""
    program = Program("stored")
    for kind in INTEGERS:
        low, high = INTEGERS[kind]
        for value in [-2, 200, max(low - 1, -2**63), low, high, min(high + 1, 2**63 - 1), 2**40 + 77]:
            program.put(kind, text(value), wrapped(kind, value))
            program.put("i64", f"cast<{kind}>({text(value)})", wrapped(kind, value))
    ask(program, ways=("interp", "gcc", "clang"))


def from_floats():
    program = Program("floats")
    for kind in INTEGERS:
        for words in REALS:
            program.put(kind, f"cast<{kind}>({words})", held(kind, real(words)))
    ask(program, ways=("interp", "gcc"))


def to_floats():
    program = Program("reals", data={"h": ("f32", 0.5), "d": ("f64", 0.5), "one": ("i8", 1)})
    for value in WIDE:
        for kind in ("f32", "f64"):
            exact = float(np.float32(value)) if kind == "f32" and abs(value) < 2**53 else value
            single = np.float32(np.int64(value)) if kind == "f32" else np.float64(exact)
            program.put(kind, text(value), single)
            program.put(kind, f"cast<{kind}>({text(value)})", single)
            program.put(kind, f"cast<{kind}>({text(value)} + 0*one[i])", single)
    for words in ["0.1", "-0.0", "1e-40", "1e-46", "-1e-46", "3.4028236e38", "3.4028235e38", "1e39", "-inf",
                  "inf - inf", "1e-320", "5e-324", "1.00000006", "0.1 + 0.2", "1e308*10", "2.0/3"]:
        program.put("f32", words, real(words))
        program.put("f64", words, real(words))
        program.put("f64", f"cast<f64>({words})", real(words))
    program.put("f64", "cast<f64>(0.1)*h[i]", 0.1*0.5)
    program.put("f64", "0.1*d[i]", 0.1*0.5)
    program.put("f32", "0.1*h[i]", np.float32(0.1)*np.float32(0.5))
    program.put("f64", "16777217*d[i]", 16777217*0.5)
    program.put("f32", "16777217*h[i]", np.float32(16777217)*np.float32(0.5))
    ask(program, ways=("interp", "gcc"))


def places():
    """Every place that takes a value."""
    program = Program("places", data={"a": ("u8", 200), "z": ("i64", 0)})
    header = "const LESS = -2;\nconst MORE = 3*100;\nconst SHORT = cast<i8>(200);\n"
    program.put("i64", "SHORT + a[i]", 144)
    for kind in ("i8", "u16", "i32", "u32"):
        f, t = f"f_{kind}", f"t_{kind}"
        w = lambda value, kind=kind: wrapped(kind, value)
        program.put(kind, "LESS", w(-2))
        program.put(kind, "MORE", w(300))
        program.put("i64", f"cast<{kind}>(MORE) + a[i]", w(300) + 200)
        program.put(kind, "select(a[i] > 3, -2, 5)", w(-2))
        program.put(kind, "select(a[i] < 3, 5, 70000)", w(70000))
        program.put("i64", f"select(a[i] > 3, cast<{kind}>(-2), 5)", w(-2))
        program.put("i64", f"-cast<{kind}>(200)", -w(200))
        program.put("i64", f"abs(cast<{kind}>(-200))", abs(w(-200)))
        program.put("i64", f"cast<{kind}>(-200)/7", w(-200)//7)
        program.put("i64", f"cast<{kind}>(-200) % 7", w(-200) % 7)
        program.put("i64", f"min(cast<{kind}>(-200), a[i])", min(w(-200), 200))
        program.put("i64", f"max(cast<{kind}>(-200), -3)", max(w(-200), -3))
        program.put("i64", f"cast<{kind}>(a[i] + 100)", w(300))
        program.put("f64", f"cast<f64>(cast<{kind}>(-200))", w(-200))
        program.put("bool", f"cast<{kind}>(-200) < a[i]", w(-200) < 200)
        program.put("bool", f"cast<{kind}>(300) == 300", w(300) == 300)
        program.put("bool", f"cast<{kind}>(-1) > 4294967294", w(-1) > 4294967294)
        cases = "{o}[i] = case {{ i == 0 : -2; i == 1 : -2 + 0*z[i]; else : LESS; }} for i in 0..n;"
        program.add(kind, "a case", cases, wanted=w(-2))
        cases = f"func {f}[i in 0..n] : {kind} = case {{{{ i == 1 : 300; else : 300 + 0*z[i]; }}}};"
        program.add(kind, "a func", cases, f"{{o}}[i] = {f}[i] for i in 0..n;", wanted=w(300))
        program.add("i64", "a func, read", f"{{o}}[i] = {f}[i] + 1 for i in 0..n;", wanted=w(300) + 1)
        program.add("i64", "a temp", f"temp {t} : {kind}[n];", f"{t}[i] = -300 for i in 0..n;",
                    f"{{o}}[i] = {t}[i]*2 for i in 0..n;", wanted=2*w(-300))
        program.add("i64", "a temp with a value", f"temp v{t} : {kind}[n] = -300;",
                    f"reduce v{t}[i] += 1 for i in 0..n;", f"{{o}}[i] = v{t}[i] for i in 0..n;",
                    wanted=wrapped(kind, w(-300) + 1))
        least, most = INTEGERS[kind]
        for op, value, result in [("+=", -2, w(-2)), ("+=", 40000, w(40000)), ("*=", 300, w(300)),
                                  ("min=", 300, min(w(300), most)), ("min=", -2, w(-2)),
                                  ("max=", -2, max(w(-2), least)), ("max=", 300, max(w(300), least))]:
            program.add(kind, f"reduce {op} {value}", f"reduce {{o}}[i] {op} {value} for i in 0..n;", wanted=result)
            program.add(kind, f"reduce {op} {value} + 0*z", f"reduce {{o}}[i] {op} {value} + 0*z[i] for i in 0..n;",
                        wanted=result)
        program.add(kind, "a product of many", "reduce {o}[i] *= 65535 for i in 0..n, j in 0..3;",
                    wanted=wrapped(kind, 65535**3))
        for op, ends in (("min=", 1), ("max=", 0)):
            program.add(kind, f"reduce {op} of nothing", f"reduce {{o}}[i] {op} a[i] for i in 0..n, j in 0..none;",
                        wanted=INTEGERS[kind][ends])
    ask(program, header, ways=("interp", "gcc", "cuda"))


def states():
    """States begin at a value and get a next one; a size that is known is a constant."""
    program = Program("states", begin=["specialize n = 3;"])
    inside, after = [], []
    for kind in INTEGERS:
        s = f"s_{kind}"
        program.begin += [f"state {s} : {kind} = -2;", f"state {s}n : {kind} = 300;", f"state {s}r : {kind}[n] = 200;"]
        inside += [f"next {s}n = {s}n*100;", f"reduce next {s}r[i] += 40000 for i in 0..n;"]
        after.append((kind, s))
    program.lines += ["iterate it in 0..2 {", *inside, "}"]
    for kind, s in after:
        program.put(kind, s, wrapped(kind, -2))
        program.put("i64", f"{s}n", wrapped(kind, wrapped(kind, wrapped(kind, 300)*100)*100))
        program.put("i64", f"{s}r[i]", wrapped(kind, 200 + 80000))
        program.put("i64", f"cast<{kind}>(n - 5)", wrapped(kind, -2))
    ask(program, ways=("interp", "gcc", "clang"))


def of_nothing():
    """Of no elements, the least and the largest are the ends of the type of what is asked for; computing goes on in 64
    bits. The least of no i32 was the largest i64, which is -1 as an i32, and wrapped to 0 where 1 was added."""
    program = Program("nothing", data={"f": ("f32", 1)})
    for kind, ends in {**INTEGERS, "i64, computed": INTEGERS["i64"]}.items():
        kind, *computed = kind.split(", ")
        name, more = f"{'c' if computed else 'v'}_{kind}", " + f_one[i]" if computed else ""
        program.data[name] = (kind, 1)
        program.empty.append(f"e{name}")
        program.begin.append(f"in e{name} : {kind}[none];")
        for op, wanted in (("min", ends[1]), ("max", ends[0]), ("sum", 0), ("prod", 1)):
            inside = f"({op}(j in 0..none) {name}[i]*1)" if computed else f"({op}(j in 0..none) {name}[i])"
            program.put("i64", inside, wanted)
            program.put("i32", inside, wrapped("i32", wanted))
            if kind != "i64":
                program.put("i64", f"{inside} + 1", wanted + 1)
                program.put(kind, f"{op}(j in 0..none, k in 0..i) e{name}[j]", wanted)
        program.put("i64", f"maxval(e{name})", ends[0])
        program.put("i64", f"min(j in 0..none) cast<{kind}>({name}[i] + 1)", ends[1])
    program.data["f_one"] = ("i32", 1)
    program.put("f32", "min(j in 0..none) f[i]", math.inf)
    program.put("f64", "max(j in 0..none) f[i]", -math.inf)
    ask(program, ways=("interp", "gcc", "cuda"))


def folded():
    """What is computed of numbers alone, and of conditions between them, is not computed otherwise than of data."""
    program = Program("folded", data={"a": ("i32", 2), "b": ("i32", 1), "x": ("f64", 2.0)})
    program.put("i64", "select(a[i] > 0, 2000000000, 5)*2", 4000000000)
    program.put("i64", "select(a[i] > 0, 2000000000, 5)*select(b[i] > 0, 2000000000, 5)", 4*10**18)
    program.put("i64", "select(a[i] > 0, 2000000000, 5) + select(b[i] > 0, 2000000000, 5)", 4*10**9)
    program.put("i64", "-select(a[i] > 0, -9223372036854775807 - 1 + 1, 5)", 2**63 - 1)
    program.put("i64", "abs(select(a[i] > 0, -9223372036854775807, 5))", 2**63 - 1)
    program.put("i64", "min(4611686018427387904, 4611686018427387905)", 2**62)
    program.put("i64", "max(4611686018427387905, 4611686018427387904)", 2**62 + 1)
    program.put("i64", "min(4611686018427387905, 4611686018427387904, a[i] + 4611686018427387903)", 2**62)
    program.put("f64", "min(1, 2.5)/2", 0.5)
    program.put("f64", "max(3, 2.5)/2", 1.5)
    program.put("f64", "min(inf - inf, 1)", math.nan)
    program.put("f64", "max(1, inf - inf)", math.nan)
    program.put("f64", "max(inf - inf, 1.0) + x[i]", math.nan)
    program.put("f64", "abs(-0.0)", 0.0)
    program.put("f64", "floor(-0.5)", -1.0)
    program.put("i64", "abs(-2147483648) + a[i]", 2**31 + 2)
    program.put("i64", "-7/2", -4)
    program.put("i64", "7 % -2 + a[i]", 1)
    program.put("i64", "(-9223372036854775807 - 1) % -1", 0)
    program.put("i64", "max(9223372036854775807, a[i])", 2**63 - 1)
    program.put("bool", "inf - inf == inf - inf", False)
    program.put("bool", "cast<u32>(-1) > cast<i32>(-1)", True)
    program.put("bool", "-1 < cast<u32>(1)", True)
    program.put("bool", "9007199254740993 > 9007199254740992", True)
    program.put("bool", "9007199254740993 == 9007199254740992 + a[i] - 1", True)
    program.put("bool", "a[i] < 4294967297", True)
    program.put("bool", "a[i] != -4294967294", True)
    program.put("f64", "pow(2, 0.5)", 2**0.5)
    program.put("f64", "pow(-inf, 0.5)", math.inf)
    program.put("f64", "pow(-0.0, 0.5)", 0.0)
    ask(program)


def main():
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for part in (stored, from_floats, to_floats, places, states, of_nothing, folded):
            part()
        os.chdir(here)
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return RESULTS["failed"] != 0


if __name__ == "__main__":
    raise SystemExit(main())
