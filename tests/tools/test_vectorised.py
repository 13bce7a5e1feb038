#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Which operators and functions of the language become vectors, for each type, compiler and instruction set: one loop
for each in one program, compiled to assembly. A loop is vectorised if the compiler says so of its lines or, for
functions and conversions, which it may compute one by one in such a loop, if the packed instruction or the vector
function stands in the loop's own code. What is not is exactly the table of docs/bench.md. For x86-64-v3; the others
with PMG_TEST_LONG. With PMG_UPDATE=1 too, prints that table's rows, without reasons. Not with sanitizers: its time is
that of C compilers."""
import os
import platform
import re
import shutil
import subprocess
import tempfile
from itertools import product
from pathlib import Path

import operators
from operators import ARITHMETIC, COMPARISONS, CONNECTIVES, FLOATS, INTEGERS, OF_FLOATS, OF_INTEGERS, REDUCES, WHOLE

PMGC = str((Path(os.environ.get("BUILD", "build")) / "pmgc").resolve())
DOCS = Path("docs/bench.md")
LEVELS = {"base": "x86-64", "v3": "x86-64-v3", "v4": "x86-64-v4"}
TESTED = list(LEVELS) if "PMG_TEST_LONG" in os.environ else ["v3"]
FLAGS = "-std=c11 -O3 -ffp-contract=fast -fno-trapping-math -fopenmp -fPIC -fwrapv -g1 -S".split()
COMPILERS = {"gcc": ["-fopt-info-vec"], "clang": ["-fveclib=libmvec", "-fno-math-errno", "-Rpass=loop-vectorize"]}
SAID = {"gcc": re.compile(r"\.c:(\d+):\d+: optimized: loop vectorized"),
        "clang": re.compile(r"\.c:(\d+):\d+: remark: vectorized loop")}
RESULTS = {"passed": 0, "failed": 0, "skipped": 0}

# What is packed about it, where loops may be called vectorised and compute each value by itself.
PACKED = {name: rf"_ZGV\w+_{function}f?\b" for name, function in
          {"EXP": "exp", "LOG": "log", "SIN": "sin", "COS": "cos", "TANH": "tanh", "POW": "pow",
           "EXPRELR": "expm1"}.items()}
PACKED.update(SQRT=r"\bv?sqrtp[sd]\b")


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what}")


class Program:
    def __init__(self):
        self.lines, self.asked = [], {}
        for kind in (*FLOATS, *INTEGERS, "bool"):
            self.lines.append(f"in x_{kind}, y_{kind} : {kind}[n];")

    def put(self, what, kind, statement, output, packed=None):
        name = f"o{len(self.asked)}"
        self.lines += [f"out {name} : {output};", statement.format(o=name)]
        self.asked[name] = (what, kind, packed)

    def value(self, what, kind, form, output=None, packed=None):
        form = form.format(x=f"x_{kind}[i]", y=f"y_{kind}[i]")
        self.put(what, kind, f"{{o}}[i] = {form} for i in 0..n;", f"{output or kind}[n]", packed)

    def source(self):
        declared = [line for line in self.lines if re.match("in|out", line)]
        rest = [line for line in self.lines if line not in declared]
        return "\n".join(["pipeline v {", "param n;", *declared, *rest, "}", ""])


def shown(form):
    return "`" + form.format(x="x", y="y") + "`"


def casts(program):
    for kind in FLOATS:
        for other in INTEGERS:
            program.value(f"`cast<{other}>(x)`", kind, f"cast<{other}>({{x}})", other, r"\bv?cvttp[sd]2")
            program.value(f"`cast<{kind}>(x)`", other, f"cast<{kind}>({{x}})", kind)
    program.value("`cast<f32>(x)`", "f64", "cast<f32>({x})", "f32")
    program.value("`cast<f64>(x)`", "f32", "cast<f64>({x})", "f64")
    for kind in INTEGERS:
        for other in INTEGERS:
            if kind != other and "i64" in (kind, other):
                program.value(f"`cast<{other}>(x)`", kind, f"cast<{other}>({{x}})", other)


def reductions(program):
    for kind in (*FLOATS, *INTEGERS):
        for sign in REDUCES.values():
            if sign == "=":
                program.put("`=`", kind, f"{{o}}[i] = y_{kind}[0] for i in 0..n;", f"{kind}[n]")
            else:
                program.put(f"`reduce s {sign} x`", kind, f"reduce {{o}} {sign} x_{kind}[i] for i in 0..n;", kind)
        for name, form in WHOLE.items():
            if kind in FLOATS or name != "norm2":
                form = form.format(x=f"x_{kind}", y=f"y_{kind}")
                result = kind if kind in FLOATS and name != "nnz" else "i64"
                program.put(shown(WHOLE[name]), kind, f"{{o}} = {form};", result)


def everything():
    program = Program()
    for kind in (*FLOATS, *INTEGERS):
        own = OF_FLOATS if kind in FLOATS else OF_INTEGERS
        for name, form in {**ARITHMETIC, **own}.items():
            packed = PACKED.get(name)
            if name == "FLOOR" and kind in FLOATS:
                packed = r"\bv?(round|rndscale)p[sd]\b"
            if name in ("DIV", "MOD") and kind in INTEGERS:
                packed = r"\bpacked division of integers: there is none\b"
            program.value(shown(form), kind, form, packed=packed)
        for form in COMPARISONS.values():
            program.value(shown(form), kind, form, "bool")
        choice = f"{{o}}[i] = case {{{{ 2*i >= n : x_{kind}[i]; else : y_{kind}[i]; }}}} for i in 0..n;"
        program.put("`case`", kind, choice, f"{kind}[n]")
    for form in (*CONNECTIVES.values(), COMPARISONS["EQ"], COMPARISONS["NE"]):
        program.value(shown(form), "bool", form)
    casts(program)
    reductions(program)
    return program


def regions(text, program):
    """The lines of each output's loop: from the comment above it to the next one."""
    begins = [(number, line) for number, line in enumerate(text.split("\n"), 1)
              if re.match(r"\t/\* (v\.pmg|\w+(\[i\])? =|reduce)", line)]
    lines, found = text.split("\n"), {}
    for (number, _), (end, _) in zip(begins, [*begins[1:], (len(lines), "")]):
        name = re.search(r"\bo\d+\b", "\n".join(lines[number - 1:number + 3]))
        if name and name[0] in program.asked:
            found.setdefault(name[0], []).append(range(number, end))
    return found


def functions(assembly):
    """The code of each function, with the first line of the C that it is of."""
    for block in re.split(r"\n(?=(?!\.L)[\w.]+:\s*(?:#.*)?\n)", assembly):
        line = re.search(r"^\s*\.loc\s+[01] (\d+)", block, re.M)
        if line:
            yield int(line[1]), block


def vectorised(compiler, level, folder, program, found):
    """The outputs that are."""
    flags = [*FLAGS, *COMPILERS[compiler], f"-march={LEVELS[level]}", f"-I{os.getcwd()}/runtime"]
    run = subprocess.run([compiler, *flags, "-o", "v.s", "v.c"], cwd=folder, capture_output=True, text=True,
                         check=False)
    check(run.returncode == 0, f"{compiler} {level}: {run.stderr[-2000:]}")
    said = {int(line) for line in SAID[compiler].findall(run.stderr)}
    code = list(functions(Path(folder, "v.s").read_text())) if run.returncode == 0 else []
    for name, (_, _, packed) in program.asked.items():
        places = found.get(name, [])
        if packed:
            is_so = any(line in place and re.search(packed, block) for line, block in code for place in places)
        else:
            is_so = any(line in place for line in said for place in places)
        if is_so:
            yield name


def exceptions(program, ways):
    """What is not vectorised: of which type, by which compiler, at which level."""
    return {(*program.asked[name][:2], *way) for way, names in ways.items() for name in program.asked
            if name not in names}


def printed(scalar):
    """As rows of the table."""
    rows, cells = {}, {}
    for what, kind, compiler, level in scalar:
        cells.setdefault((what, kind), {}).setdefault(compiler, set()).add(level)
    for (what, kind), levels in cells.items():
        row = tuple(" ".join(l for l in LEVELS if l in levels.get(compiler, ())) or "–" for compiler in COMPILERS)
        rows.setdefault((what, *row), []).append(kind)
    order = {kind: i for i, kind in enumerate((*FLOATS, *INTEGERS, "bool"))}
    return sorted(f"| {what} | {' '.join(sorted(kinds, key=order.get))} | {' | '.join(row)} |"
                  for (what, *row), kinds in rows.items())


def documented():
    table = DOCS.read_text().partition("<!-- not vectorised -->\n")[2].partition("\n\n")[0]
    told = set()
    for line in table.splitlines()[2:]:
        row = [cell.strip() for cell in line.strip("|").split(" | ")]
        check(len(row) == 5 and row[4], f"docs/bench.md: no reason in {line}")
        for kind, (compiler, levels) in product(row[1].split(), zip(COMPILERS, row[2:4])):
            told |= {(row[0], kind, compiler, level) for level in levels.split() if level in LEVELS}
    return told


def measured(program, folder):
    run = subprocess.run([PMGC, "v.pmg", "--candidates=1", "-o", "v.c"], cwd=folder, capture_output=True, text=True,
                         check=False)
    check(run.returncode == 0, run.stderr[-2000:])
    found = regions(Path(folder, "v.c").read_text(), program)
    lost = [name for name in program.asked if name not in found]
    check(not lost, f"loops that are not found: {lost}")
    ways = {}
    for compiler, level in product(COMPILERS, TESTED):
        if shutil.which(compiler) and platform.machine() == "x86_64":
            ways[compiler, level] = set(vectorised(compiler, level, folder, program, found))
        else:
            RESULTS["skipped"] += 1
    return ways


def main():
    check(not operators.missing(), f"not asked for: {operators.missing()}")
    program = everything()
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "v.pmg").write_text(program.source())
        ways = measured(program, folder)
    scalar = exceptions(program, ways)
    if "PMG_UPDATE" in os.environ:
        print("\n".join(printed(scalar)))
    told = {row for row in documented() if row[2:] in ways}
    RESULTS["passed"] += len(program.asked)*len(ways)
    for row in sorted(scalar ^ told):
        RESULTS["passed"] -= 1
        check(False, " ".join(row) + (": not vectorised; docs/bench.md does not say so" if row in scalar else
                                      ": vectorised; docs/bench.md says it is not"))
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed"
          + (f", {RESULTS['skipped']} skipped" if RESULTS["skipped"] else ""))
    return RESULTS["failed"] != 0


if __name__ == "__main__":
    raise SystemExit(main())
