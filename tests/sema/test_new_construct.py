#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The construct of docs/constructs.md: its file and its row, put beside the others, are all that it needs.

Builds the table of constructs anew with the file and the row from that page, links it before the library, and runs
the program of the page in the interpreter.
Not with counts of lines, for which the library must be linked otherwise.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

BUILD = Path(os.environ.get("BUILD", "build"))
PAGE = Path("docs/constructs.md").read_text()
TABLE = Path("compiler/constructs/constructs.def").read_text()
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
SANITIZERS = ["-fsanitize=address,undefined"] if BUILD.name.endswith("-san") else []


def compiler():
    return os.environ.get("CC", "clang" if "clang" in BUILD.name else "gcc").split()


def block(before):
    """The first fenced block behind a text of the page."""
    return re.search(r"```\w*\n(.*?)```", PAGE[PAGE.index(before):], re.S).group(1)


def build(folder, change=("", "")):
    """test_sema with one more construct, in whose file a text is replaced."""
    folder.mkdir()
    (folder / "constructs").mkdir()
    (folder / "constructs" / "constructs.def").write_text(TABLE + block("The row in"))
    source = folder / "segment_mean.c"
    source.write_text(block("The file").replace(*change))
    isl = subprocess.run(["pkg-config", "--libs", "isl"], check=True, stdout=subprocess.PIPE).stdout.decode().split()
    objects = BUILD / "obj" / "tests"
    tests = [*sorted((objects / "sema").glob("*.o")), objects / "support" / "folder.o"]
    tool = folder / "test_sema"
    subprocess.run([*compiler(), *FLAGS, *SANITIZERS, f"-I{folder}", "-Icompiler", source,
                    "compiler/constructs/construct.c", *tests, BUILD / "libpmgc.a", *isl, "-lm", "-o", tool],
                   check=True)
    return tool


def run(tool, folder, x, y, off):
    program = folder / "means.pmg"
    program.write_text(block("a program that uses it"))
    for name, values in (("x", x), ("y", y), ("off", off)):
        values.tofile(folder / f"{name}.bin")
    subprocess.run([tool, "--interp", program, "means", folder, f"nSegments={len(off) - 1}", f"n={len(x)}"],
                   check=True)
    return np.fromfile(folder / "m.bin")


def refused(folder):
    """What is said of the page's program where the construct takes a scalar, not an array."""
    tool = build(folder, ("construct_expect_array(call, X, 1, 1)", "construct_expect_array(call, X, 0, 0)"))
    (folder / "means.pmg").write_text(block("a program that uses it").replace("x*y", "x"))
    done = subprocess.run([tool, "--interp", folder / "means.pmg", "means", folder, "nSegments=0", "n=0"], check=False,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.stdout


def mean(values):
    return values.mean() if len(values) else 0


def main():
    rng = np.random.default_rng(1)
    x, y, off = rng.random(9), rng.random(9), np.array([0, 4, 4, 9])
    lines = len(block("The file").splitlines())
    with tempfile.TemporaryDirectory() as name:
        got = run(build(Path(name) / "new"), Path(name) / "new", x, y, off)
        said = refused(Path(name) / "scalar")
    parts = [slice(off[s], off[s + 1]) for s in range(3)]
    wanted = [mean((x * y)[p]) - mean(x[p]) * mean(y[p]) for p in parts]
    ok = [np.allclose(got, wanted, rtol=1e-12, atol=1e-15), lines <= 45,
          ":7:22: error[PMG0380]: argument 1 of 'Segment_mean' must be a scalar\n" in said]
    if not all(ok):
        print(f"got {got}, wanted {wanted}, {lines} lines; said {said}")
    print(f"{sum(ok)} passed, {len(ok) - sum(ok)} failed")
    return 0 if all(ok) else 1


sys.exit(main())
