#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pools, medians and sums over windows of a few elements, of each type of numbers, are what the interpreter computes,
with NaN, infinities and zeros of both signs among the elements, by gcc and by clang: their loops are written out, their
minima and maxima tested for NaN once (compiler/passes/map/unroll.c, compiler/codegen/extremes.c). Further integers
with PMG_TEST_LONG. Not with sanitizers: its time is that of C compilers."""
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

import numpy as np

PMG = str((Path(os.environ.get("BUILD", "build"))/"pmg").resolve())
RESULTS = {"passed": 0, "failed": 0}
TYPES = {"f64": np.float64, "f32": np.float32, "i8": np.int8, "u8": np.uint8, "i16": np.int16, "u16": np.uint16,
         "i32": np.int32, "u32": np.uint32, "i64": np.int64}
TESTED = TYPES if "PMG_TEST_LONG" in os.environ else ("f64", "f32", "u8", "i32")
SHAPE = 23, 41
# A network of 19 steps that leaves the median of nine in the middle.
NETWORK = ((1, 2), (4, 5), (7, 8), (0, 1), (3, 4), (6, 7), (1, 2), (4, 5), (7, 8), (0, 3), (5, 8), (4, 7), (3, 6),
           (1, 4), (2, 5), (4, 7), (4, 2), (6, 4), (4, 2))
PROGRAM = """pipeline windows {{
    param n, m;
    assume n >= 5 and m >= 5;
    in x : {type}[n, m];
    out largest, smallest, total, inner, median, mixed : {type}[n, m];
    out row : {type}[m];
    out three, five, clamp : {type}[n, m];

    reduce largest[i,j] max= x[i+p,j+q] for i in 0..n-2, j in 0..m-2, p in 0..3, q in 0..3;
    reduce smallest[i,j] min= x[i+p,j+q] for p in -1..2, i in 1..n-1, q in 0..2, j in 1..m-1;
    reduce total[i,j] += x[i+p,j+q] for i in 0..n-2, j in 0..m-4, p in 0..3, q in 0..5;
    reduce row[j] max= x[i,j] for i in 2..5, j in 0..m;
    inner[i,j] = case {{
        i >= 1 and i < n-1 and j >= 1 and j < m-1 : max(p in 0..3, q in 0..3) x[i+p-1,j+q-1];
        else : x[i,j];
    }} for i in 0..n, j in 0..m;
{network}
    median[i,j] = case {{
        i >= 1 and i < n-1 and j >= 1 and j < m-1 : {middle};
        else : x[i,j];
    }} for i in 0..n, j in 0..m;
    mixed[i,j] = case {{
        j >= 1 : max(min(cast<{type}>(2*x[i,j]), x[i,j-1]), cast<{type}>(x[i,j] + 1));
        else : min(x[i,j], 3);
    }} for i in 0..n, j in 0..m;
    three[i,j] = case {{
        j >= 2 : max(min(x[i,j], x[i,j-1]), min(max(x[i,j], x[i,j-1]), x[i,j-2]));
        else : x[i,j];
    }} for i in 0..n, j in 0..m;
    five[i,j] = case {{
        j >= 2 : max(max(x[i,j], x[i,j-1]), min(x[i,j-2], max(7, x[i,j])));
        else : x[i,j];
    }} for i in 0..n, j in 0..m;
    clamp[i,j] = max(min(x[i,j], 100), 5) for i in 0..n, j in 0..m;
}}
"""
NAMES = ("largest", "smallest", "total", "inner", "median", "mixed", "row", "three", "five", "clamp")


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print(what)


def shifted(name, by):
    return name + (f"{by:+d}" if by else "")


def needed(lines, value):
    """Those that the value is made of."""
    kept = []
    for line in reversed(lines):
        name = line.split()[1].split("[")[0]
        if f"{name}[i,j]" in value + "".join(kept):
            kept.insert(0, line)
    return kept


def program(kind):
    wires = [f"x[{shifted('i', p)},{shifted('j', q)}]" for p in (-1, 0, 1) for q in (-1, 0, 1)]
    lines = []
    for step, (a, b) in enumerate(NETWORK):
        for word in ("min", "max"):
            lines.append(f"    func {word}{step}[i in 1..n-1, j in 1..m-1] : {kind} = {word}({wires[a]}, {wires[b]});")
        wires[a], wires[b] = f"min{step}[i,j]", f"max{step}[i,j]"
    return PROGRAM.format(type=kind, network="\n".join(needed(lines, wires[4])), middle=wires[4])


def elements(kind, rng):
    dtype = TYPES[kind]
    if kind in ("f64", "f32"):
        values = rng.integers(-200, 200, SHAPE).astype(dtype)
        for special in (np.nan, np.inf, -np.inf, -0.0, 0.0):
            values[rng.random(SHAPE) < 0.02] = special
        return values
    limits = np.iinfo(dtype)
    return rng.integers(max(limits.min, -1 << 40)//4, min(limits.max, 1 << 40)//4, SHAPE, dtype, endpoint=True)


def compute(folder, kind, values, *options):
    Path(folder, "windows.pmg").write_text(program(kind), encoding="ascii")
    np.save(f"{folder}/x.npy", values)
    outputs = [word for name in NAMES for word in ("-o", f"{name}={folder}/{name}.npy")]
    done = subprocess.run([PMG, "run", f"{folder}/windows.pmg", f"x={folder}/x.npy", *outputs, *options], check=False,
                          text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    check(done.returncode == 0, f"{kind} {options}: {done.stdout}")
    return {name: np.load(f"{folder}/{name}.npy") for name in NAMES} if done.returncode == 0 else None


def main():
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory() as folder:
        for kind in TESTED:
            values = elements(kind, rng)
            wanted = compute(folder, kind, values, "--interp")
            for compiler in filter(shutil.which, ("gcc", "clang")):
                got = compute(folder, kind, values, "--tune=off", f"--cc={compiler}")
                for name in NAMES if wanted and got else ():
                    check(np.array_equal(wanted[name], got[name], equal_nan=kind[0] == "f"),
                          f"{kind} by {compiler}: other values of {name}")
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return RESULTS["failed"] != 0


if __name__ == "__main__":
    raise SystemExit(main())
