# SPDX-License-Identifier: MIT
"""Does kernel/calls.def say of the runtime what its headers say? Each row has as many arguments as the function or
macro, pointers where that has them, and writes to none that is const; each call that codegen spells has a row.
Not with sanitizers: nothing of ours runs."""
import re
import sys
from pathlib import Path

ROW = re.compile(r'^K_CALL\("([^"]+)",\s*("[^"]*"|NULL),\s*"([^"]*)"', re.M)
FUNCTION = re.compile(r"(?<!return)(?<!else)(?:(?<=[\w>])\s| \*\s?)\b"
                      r"(pmg_\w+(?:##\w+(?:##\w+)?)?|PMG_(?:CALL|NAME)\(\w+\))"
                      r"\(((?:[^(){};]|\([^()]*\))*)\)\s*(?:\{|;|__attribute__)")
MACRO = re.compile(r"#define (\w+)\(([^)]*)\)")
CALL = re.compile(r"\b(pmg_\w+|PMG_\w+?)((?:_%s)*)(?:<[^>()]*>)?\(")
SUFFIX = re.compile(r"(?:##\w+|_?%s|_(?:[fiuFIU](?:8|16|32|64)|bool)(?:_AS_\w+|_TO_\w+)?)+$")
# Rows that no header has in this form: what macros declare, and what a lowering takes out.
ELSEWHERE = {"PMG_PRIVATE_ADD", "PMG_PRIVATE_MUL", "PMG_PRIVATE_BY", "PMG_CARRIED", "PMG_CARRIED_FROM",
             "PMG_ADD_LANE_", "PMG_SET_LANE_", "pmg_atomic_min_", "pmg_atomic_max_", "pmg_atomic_prod_", "pmg_min_",
             "pmg_max_", "pmg_to_", "pmg_abs_",
             "pmg_cuda_row_add", "pmg_cuda_row_prod", "pmg_cuda_row_add_first", "pmg_cuda_row_prod_first"} | {
                 f"pmg_opencl_{what}_{operation}_" for what in ("atomic", "grid")
                 for operation in ("add", "prod", "min", "max")}
# Of the loader's interface, which is no part of kernels.
INTERFACE = {"PMG_DESCRIBES", "PMG_DEVICE_PART", "PMG_KERNEL", "PMG_KERNELS", "PMG_PIPELINE", "PMG_PIPELINES",
             "PMG_PLAN_ANY", "PMG_PRODUCT"}


def plain(text):
    """Without comments, and with definitions of several lines in one."""
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.S)
    return re.sub(r"\s*\\\n\s*", " ", text)


def split(params):
    params = re.sub(r"\([^()]*\)|<[^<>]*>", "", params)
    found = [p.strip() for p in params.split(",")]
    return [] if found in ([""], ["void"]) else found


def base_of(name):
    """As rows spell families, without what stands for the type."""
    called = re.match(r"PMG_CALL\((\w+)\)", name)
    if called:
        return "pmg_cblas_?" + called.group(1)
    named = re.match(r"PMG_NAME\((\w+)\)", name)
    if named:
        return named.group(1) + "_"
    bare = SUFFIX.sub("", name)
    return bare + "_" if bare != name and not bare.endswith("_") else bare


def definitions(root):
    """base -> [(parameters, is a function)]"""
    found = {}
    for path in sorted(root.glob("runtime/pmgrt*.h")) + sorted(root.glob("runtime/*.cl")):
        text = plain(path.read_text())
        for name, params in FUNCTION.findall(text):
            found.setdefault(base_of(name), []).append((split(params), True))
        for name, params in MACRO.findall(text):
            if name.endswith("_"):
                continue
            found.setdefault(base_of(name), []).append((split(params), False))
    return found


def wrong_letter(letter, param):
    """What is wrong with the letter of a function's parameter, or None."""
    is_pointer, is_const = "*" in param or "[" in param, "const" in param.split("*")[0]
    if letter in "rwbp" and not is_pointer:
        return "is no pointer"
    if letter in "vl" and is_pointer:
        return "is a pointer"
    if letter in "wb" and is_const:
        return "is const"
    return None


def faults_of_row(name, letters, defined):
    base = name.rstrip("*")
    fitting = [(params, is_function) for params, is_function in defined
               if "..." in params or len(params) == len(letters)]
    if defined and not fitting:
        yield f"{name}: {len(letters)} arguments, the runtime's has {defined[0][0]}"
    for params, is_function in fitting:
        for letter, param in zip(letters, params):
            what = wrong_letter(letter, param) if is_function else None
            if what:
                yield f"{name}: '{letter}' of '{param}', which {what}"
    if re.search(r"[*?]", name[:len("pmg_")]):
        yield f"{name}: a wildcard ahead of where kernel/calls.c tells names apart"
    if not defined and base not in ELSEWHERE and base.lower().startswith("pmg_"):
        yield f"{name}: no header has it"


def spelled_calls(root):
    for path in sorted(root.glob("compiler/codegen/*.c")):
        for literal in re.findall(r'"((?:[^"\\]|\\.)*)"', path.read_text()):
            for name, suffix in CALL.findall(literal):
                yield path, name, suffix


def has_row(rows, name, suffix):
    base = base_of(name)
    if "%" in suffix:
        return any(row.startswith(name) for row in rows)
    return name in rows or base in rows or base + "*" in rows


def main():
    root = Path(__file__).resolve().parents[2]
    rows = {name: letters for name, _, letters in ROW.findall((root / "compiler/kernel/calls.def").read_text())}
    defined, passed, faults = definitions(root), 0, []
    for name, letters in rows.items():
        base = name[:-1] if name.endswith("*") else base_of(name)
        found = list(faults_of_row(name, letters, defined.get(base, [])))
        faults += found
        passed += not found
    for path, name, suffix in spelled_calls(root):
        known = name in INTERFACE or has_row(rows, name, suffix)
        passed += known
        if not known:
            faults.append(f"{path.name}: calls.def has no '{name}'")
    print(*faults, f"{passed} passed, {len(faults)} failed", sep="\n")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
