#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Values at the edges, in every operator and function of the language: zeros, infinities, NaN, denormals, the smallest
and largest, halves, negative integers; every one beside every other, at every place of a vector. One program, compiled
by gcc and clang for each instruction set that this machine has, with and without vectors. What has to be: of floats,
what the interpreter gives, to the bit where IEEE says so, else within a few units in the last place, of the same class
and sign; of integers, what is computed here. pow(x, 0.5) was sqrt(x) in vectors, which is NaN at -inf.
Not with sanitizers: its time is that of C compilers."""
import math
import os
import re
import shutil
import stat
import subprocess
import tempfile
from pathlib import Path

import numpy as np

import operators
from operators import ARITHMETIC, COMPARISONS, INTEGERS, OF_FLOATS, OF_INTEGERS

PMG = str((Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
ROOT = Path(".").resolve()
IS_LONG = "PMG_TEST_LONG" in os.environ
RESULTS = {"passed": 0, "failed": 0, "skipped": 0}
ULPS = 4

NUMPY = {**{name: np.dtype(name[0] + str(int(name[1:])//8)) for name in INTEGERS},
         "f32": np.dtype("f4"), "f64": np.dtype("f8"), "bool": np.dtype("bool")}
EXPONENTS = ["0", "0.5", "-0.5", "1", "2", "3", "-1", "1.5", "inf", "-inf", "(inf - inf)"]

# Functions of libm may differ by a few units in the last place.
NEAR = {"POW", "EXP", "LOG", "SIN", "COS", "TANH", "EXPRELR"}
CONDITIONS = ("{x} > 1 or {y} != {y}", "{x} >= 0 and {y} < 1", "not ({x} < {y})")
INTEGER = {"ADD": lambda a, b: a + b, "SUB": lambda a, b: a - b, "MUL": lambda a, b: a*b,
           "DIV": lambda a, b: a//b if b else 0, "MOD": lambda a, b: a % b if b else 0, "NEG": lambda a, b: -a,
           "MIN": min, "MAX": max, "ABS": lambda a, b: abs(a), "FLOOR": lambda a, b: a, "SELECT": min}


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what}")


def pairs(values, kind):
    """Every value beside every other; an odd number of them, so that each comes to each place of a vector."""
    values = values if len(values) % 2 else values + values[:1]
    values = np.array(values, NUMPY[kind])
    return np.tile(values, len(values)), np.repeat(values, len(values))


def floats(kind):
    info = np.finfo(NUMPY[kind])
    small = float(info.smallest_subnormal)
    sizes = [0.0, small, 3*small, float(info.tiny), 1e-3, 0.25, 0.5, 1.0, 1.5, 2.0, 3.0, 3.5, 7.0, 100.0, 128.0,
             2**31, 2.0**63, 1e22, float(info.max), math.inf]
    return [sign*size for size in sizes for sign in (1, -1)] + [math.nan]


def integers(kind):
    low, high = INTEGERS[kind]
    return sorted({v for v in (low, low + 1, -100, -7, -3, -2, -1, 0, 1, 2, 3, 7, 100, high - 1, high)
                   if low <= v <= high})


def wrapped(kind, value):
    low, high = INTEGERS[kind]
    return (value - low) % (high - low + 1) + low


class Program:
    def __init__(self):
        self.data, self.lines, self.wanted = {}, [], []

    def inputs(self, kind, values):
        """Two arrays of pairs, with a size of their own."""
        first, second = pairs(values, kind)
        self.data[kind] = first, second
        self.lines += [f"param n_{kind};", f"in x_{kind}, y_{kind} : {kind}[n_{kind}];"]

    def put(self, kind, of, form, wanted=None, ulps=0):
        """An output of type `kind` from the data of type `of`; without `wanted`, as the interpreter has it."""
        name = f"o{len(self.wanted)}"
        value = form.format(x=f"x_{of}[i]", y=f"y_{of}[i]")
        self.lines += [f"out {name} : {kind}[n_{of}];", f"{name}[i] = {value} for i in 0..n_{of};"]
        self.wanted.append((name, kind, of, value, wanted, ulps))

    def of_interpreter(self):
        """The part that the interpreter tells; it refuses to divide an integer by 0."""
        part = Program()
        part.data = {kind: values for kind, values in self.data.items() if kind in ("f32", "f64")}
        part.lines = [line for line in self.lines if re.search(r"\bn_f\d+\b", line)]
        part.wanted = [row for row in self.wanted if row[2] in part.data]
        return part

    def source(self):
        declared = [line for line in self.lines if re.match("param|in|out", line)]
        return "\n".join(["pipeline special {", *declared, *(l for l in self.lines if l not in declared), "}", ""])


def of_floats(program, kind):
    program.inputs(kind, floats(kind))
    for name, form in {**ARITHMETIC, **OF_FLOATS}.items():
        program.put(kind, kind, form, ulps=ULPS*(name in NEAR))
    for form in (*COMPARISONS.values(), *CONDITIONS):
        program.put("bool", kind, form)
    for exponent in EXPONENTS:
        program.put(kind, kind, f"pow({{x}}, {exponent})", ulps=ULPS)
    for base in ("0.0", "1", "2", "-1", "inf"):
        program.put(kind, kind, f"pow({base}, {{x}})", ulps=ULPS)
    for other in INTEGERS:
        program.put(other, kind, f"cast<{other}>({{x}})")
    program.put("f32" if kind == "f64" else "f64", kind, f"cast<{'f32' if kind == 'f64' else 'f64'}>({{x}})")


def of_integers(program, kind):
    program.inputs(kind, integers(kind))
    a, b = ([int(v) for v in values] for values in program.data[kind])
    for name, compute in INTEGER.items():
        form = {**ARITHMETIC, **OF_INTEGERS}[name]
        program.put(kind, kind, form, [wrapped(kind, compute(p, q)) for p, q in zip(a, b)])
    for other in ("f32", "f64"):
        program.put(other, kind, f"cast<{other}>({{x}})", program.data[kind][0].astype(NUMPY[other]))


def compilers(folder):
    """Names of ways, each with a compiler that compiles as it is asked, but for an instruction set of its own."""
    has = Path("/proc/cpuinfo").read_text() if Path("/proc/cpuinfo").exists() else ""
    levels = ["x86-64"] + ["x86-64-v3"]*(" avx2 " in has) + ["x86-64-v4"]*(" avx512vl " in has)
    if not IS_LONG:
        levels = levels[:1] + levels[1:][-1:]
    ways = [(c, level, "") for c in ("gcc", "clang") for level in levels] + [
        ("gcc", levels[-1], "-fno-tree-vectorize"), ("clang", levels[-1], "-fno-vectorize -fno-slp-vectorize")]
    for compiler, level, flags in ways:
        name = "-".join([compiler, level] + ["scalar"]*bool(flags))
        if not shutil.which(compiler):
            RESULTS["skipped"] += 1
            continue
        Path(folder, name).write_text(
            f'#!/bin/sh\nfor a; do shift; [ "$a" = -march=native ] || set -- "$@" "$a"; done\n'
            f'exec {compiler} "$@" -march={level} {flags}\n')
        Path(folder, name).chmod(stat.S_IRWXU)
        yield name


def run(program, flags):
    Path("special.pmg").write_text(program.source())
    files = [f"-o{row[0]}={row[0]}.npy" for row in program.wanted]
    data = [f"{c}_{kind}={c}_{kind}.npy" for kind in program.data for c in "xy"]
    done = subprocess.run([PMG, "run", "special.pmg", *data, *files, *flags], capture_output=True, text=True,
                          check=False)
    check(done.returncode == 0, f"{' '.join(flags)}: {done.stdout[-300:]}{done.stderr[-1500:]}")
    return {row[0]: np.load(f"{row[0]}.npy") for row in program.wanted} if done.returncode == 0 else None


def differing(given, wanted, ulps):
    """Where floats are not the same, or not near."""
    with np.errstate(all="ignore"):
        bits = np.dtype(f"i{given.dtype.itemsize}")
        apart = np.abs(given.view(bits).astype(object) - wanted.view(bits).astype(object)) > ulps
        is_special = ~np.isfinite(wanted) | (wanted == 0) | ~np.isfinite(given) | (given == 0)
        other = (given != wanted) | (np.signbit(given) != np.signbit(wanted))
        return np.where(np.isnan(wanted), ~np.isnan(given), np.where(is_special, other, apart.astype(bool)))


def compare(program, way, given, interpreted):
    for name, kind, of, value, wanted, ulps in program.wanted:
        wanted = interpreted[name] if wanted is None else np.array(wanted, NUMPY[kind])
        values = given[name]
        if kind not in ("f32", "f64"):
            wrong = values != wanted
        else:
            wrong = differing(values, wanted, ulps)
            if value.startswith(("min", "max")):
                wrong &= ~((values == 0) & (wanted == 0))       # of zeros of both signs, either
        x, y = program.data[of]
        told = [f"({x[i]}, {y[i]}): {values[i]}, has to be {wanted[i]}" for i in np.flatnonzero(wrong)[:3]]
        check(not told, f"{way}: {value} in {kind}, {np.count_nonzero(wrong)} of {len(values)}: {'; '.join(told)}")


def main():
    check(not operators.missing(), f"not asked for: {operators.missing()}")
    check(set(INTEGER) == set(ARITHMETIC) | set(OF_INTEGERS), "operators of integers that are not asked for")
    program = Program()
    for kind in ("f64", "f32"):
        of_floats(program, kind)
    for kind in INTEGERS:
        of_integers(program, kind)
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for kind, values in program.data.items():
            for c, array in zip("xy", values):
                np.save(f"{c}_{kind}.npy", array)
        interpreted = run(program.of_interpreter(), ["--interp"])
        for way in compilers(folder):
            given = run(program, ["--candidates=1", "--parallel=off", f"--cc={folder}/{way}"])
            if given and interpreted:
                compare(program, way, given, interpreted)
        os.chdir(ROOT)
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed"
          + (f", {RESULTS['skipped']} skipped" if RESULTS["skipped"] else ""))
    return RESULTS["failed"] != 0


if __name__ == "__main__":
    raise SystemExit(main())
