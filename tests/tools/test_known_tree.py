#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`specialize T = "cell.swc";`: what it computes for the tree of the file and for others, of which files the output
depends, dumps that know the tree, and what is said where there is none. Its C is not optimised.
With sanitizers only for --long."""
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

BUILD = Path(os.environ.get("BUILD", "build"))
PMG = str(Path(os.environ.get("PMG") or BUILD / "pmg").resolve())
PMGC = str(Path(os.environ.get("PMGC") or BUILD / "pmgc").resolve())
RUNTIME = Path("runtime").resolve()
RESULTS = {"passed": 0, "failed": 0}
PROGRAM = """pipeline solve {
    param nSystems, n;
    fixed in T : Tree(n);
    in upper, lower : f64[n];
    in diag, rhs : f64[nSystems, n];
    out x : f64[nSystems, n];
    x = HinesSystem(T, upper, lower, diag, rhs);
    specialize T = "cells/cell.swc";
}
"""
PARENTS = [-1, 0, 1, 2, 1, 4, 0, 6, 7, 7, 9]


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print(f"wrong: {what}")


def call(*words):
    run = subprocess.run([str(word) for word in words], capture_output=True, text=True, check=False, timeout=120,
                         env=dict(os.environ, OMP_NUM_THREADS="2"))
    return run.returncode, run.stdout, run.stderr


def swc(parents):
    rows = enumerate(parents)
    return "".join(f"{i + 1} {1 if i == 0 else 3} {10 * i} {i % 3} 0 1 {-1 if p < 0 else p + 1}\n" for i, p in rows)


def draw(parents, systems, seed):
    numbers, n = np.random.default_rng(seed), len(parents)
    arrays = {"upper": numbers.uniform(-1, -0.5, n), "lower": numbers.uniform(-1, -0.5, n),
              "diag": numbers.uniform(6, 9, (systems, n)), "rhs": numbers.normal(size=(systems, n)),
              "T.parent": np.array(parents, dtype=np.int32)}
    for name, values in arrays.items():
        np.save(f"{name}.npy", values)
    return arrays


def solution(arrays):
    parent = arrays["T.parent"]
    rows = []
    for diag, rhs in zip(arrays["diag"], arrays["rhs"]):
        matrix = np.diag(diag)
        for i, p in enumerate(parent):
            if p >= 0:
                matrix[i, p], matrix[p, i] = arrays["lower"][i], arrays["upper"][i]
        rows.append(np.linalg.solve(matrix, rhs))
    return np.array(rows).reshape(arrays["rhs"].shape)


def check_answers():
    """The kernel for the tree has tables of its own, which are used: a wrong one gives wrong answers."""
    other = PARENTS[:-1] + [0]
    for parents in PARENTS, other, PARENTS + [4], [-1]:
        for systems in 1, 2, 40:
            arrays = draw(parents, systems, len(parents) + systems)
            data = [f"{name}={name}.npy" for name in arrays]
            for flags in ["--compare"], ["--candidates=1"]:
                status, _, error = call(PMG, "run", "p.pmg", *data, "-o", "x=x.npy", *flags)
                right = status == 0 and np.allclose(np.load("x.npy"), solution(arrays), rtol=1e-10)
                check(right, f"{parents} {systems} {flags}: {error}")


def check_table():
    """The caller's tree decides: with a table that says otherwise, it is not the known one any more."""
    status, text, error = call(PMGC, "p.pmg", "--candidates=1", "-o", "-")
    table = f"\t{', '.join(map(str, PARENTS))}\n"
    check(status == 0 and table in text, f"the table of parents: {error}")
    check("args->n == 11 && pmg_has_values(plan, 0, solve_known_0, 11)" in text, "the choice")


def check_dumps():
    call(PMGC, "p.pmg", "--candidates=1", "--dump-after=all", "-o", "p.c")
    dump = next(Path(".").glob("solve.00-*.ir"))
    check("known -1, 0, 1, 2, 1, 4, 0, 6, 7, 7, 9" in dump.read_text(), "the dump")
    status, _, error = call(PMGC, dump, "--candidates=1", "-o", "again.c")
    body = [Path(name).read_text().split("#include <pmgrt.h>")[-1].split("solve_params")[0]
            for name in ("p.c", "again.c")]
    check(status == 0 and body[0].replace("p.h", "again.h").count("_known_") == body[1].count("_known") > 4, error)


def check_bad_dumps():
    dump = next(Path(".").glob("solve.00-*.ir")).read_text()
    for values, told in (("-1, 0, 900000000", "holds 900000000 at [2], which is no parent"),
                         ("-1, 0, -5, 2, 1, 4, 0, 6, 7, 7, 9", "holds -5 at [2], which is no parent")):
        Path("bad.ir").write_text(dump.replace("-1, 0, 1, 2, 1, 4, 0, 6, 7, 7, 9", values))
        status, _, error = call(PMGC, "bad.ir", "--candidates=1", "-o", "bad.c")
        check(status > 0 and told in error, f"{values}: {status} {error}")


def check_names():
    """Of two pipelines whose names and trees run together."""
    program = """pipeline {0} {{
    param n;
    fixed in {1} : Tree(n);
    in x : f64[n];
    out y : f64[n];
    specialize {1} = "cells/cell.swc";
    y[i] = sum(c in children({1}.parent, i)) x[c] for i in 0..n;
}}
"""
    Path("names.pmg").write_text(program.format("a", "b_T") + program.format("a_b", "T"))
    status, _, error = call(PMGC, "names.pmg", "-o", "names.c")
    failed, _, told = call("gcc", "-fsyntax-only", "-Werror", "-fopenmp", f"-I{RUNTIME}", "names.c")
    check(status == failed == 0, f"names: {error}{told}")


def check_dependencies():
    status, _, error = call(PMGC, "p.pmg", "-MD", "-o", "p.c")
    check(status == 0 and "cells/cell.swc" in Path("p.d").read_text(), f"p.d: {error}")


def check_refusals():
    both = PROGRAM.replace("specialize T", "specialize n = 10;\n    specialize T")
    twice = PROGRAM.replace("\n}", "\n    specialize T = \"cells/cell.swc\";\n}")
    Path("bad.swc").write_text("1 1 0 0 0 1 -1\n2 3 1 0 0 1 7\n")
    for text, told in (
            (PROGRAM.replace("cell.swc", "none.swc"),
             "p.pmg:8:5: error[PMG0003]: cannot read 'cells/none.swc': No such file"),
            (PROGRAM.replace("cell.swc", "none.swc"),
             "help: a name without '/' in front counts from the folder of the program's file"),
            (PROGRAM.replace("cells/cell.swc", "bad.swc"),
             "cannot read a tree: bad.swc:2: point 2 has the parent 7, which is not in the file"),
            (PROGRAM.replace("cells/cell.swc", "cells"), "cannot read 'cells': Is a directory"),
            (both, "p.pmg:9:5: error[PMG0210]: the tree in 'cells/cell.swc' has 11 nodes, but that of 'T' has 10"),
            (twice, "p.pmg:9:5: error[PMG0210]: 'T' is specialized already")):
        Path("wrong.pmg").write_text(text)
        status, _, error = call(PMGC, "wrong.pmg", "-o", "wrong.c")
        right = status == (4 if "cannot read" in told or "help" in told else 1) and error.count("error[") == 1
        check(right and told.replace("p.pmg", "wrong.pmg") in error and not Path("wrong.c").exists(),
              f"{told}: {status} {error}")


def check_flag():
    """As an option the file is looked for where the command runs."""
    Path("plain.pmg").write_text(PROGRAM.replace("    specialize T = \"cells/cell.swc\";\n", ""))
    status, text, error = call(PMGC, "plain.pmg", '--specialize=T = "cells/cell.swc"', "-o", "-")
    check(status == 0 and "solve_known_0" in text, f"the option: {error}")
    status, text, error = call(PMG, "run", "plain.pmg", '--specialize=T="cells/none.swc"')
    told = "--specialize:1:1: error[PMG0003]: cannot read 'cells/none.swc': No such file or directory\n"
    ends = "help: a name without '/' in front counts from the folder in which the command runs\n" \
           "pmg run: --specialize has errors\n"
    check(status == 4 and error.startswith(told) and error.endswith(ends), f"a missing file: {status} {error}")
    status, text, error = call(PMG, "inspect", "p.pmg")
    check(status == 0 and "n              size = 11" in text, f"inspect: {text}{error}")


def check_told():
    """--time and --explain say which of the two kernels ran, and why; without a specialised one, nothing."""
    other = PARENTS[:-1] + [0]
    general = "kernel for all sizes and trees: "
    for parents, program, flags, told in (
            (PARENTS, "p.pmg", ["--time"], "kernel specialized for the tree T.parent\n"),
            (other, "p.pmg", ["--explain"], general + "T.parent is another tree\n"),
            (PARENTS + [4], "p.pmg", ["--time", "--explain"], general + "T.parent is another tree\n"),
            (PARENTS, "plain.pmg", ["--time", "--specialize=nSystems=3"], "kernel specialized for nSystems = 3\n"),
            (PARENTS, "plain.pmg", ["--time", "--specialize=nSystems=5"], general + "nSystems is 3, not 5\n"),
            (PARENTS, "plain.pmg", ["--time"], ""), (PARENTS, "p.pmg", [], ""),
            (PARENTS, "p.pmg", ["--time", "--interp"], "")):
        data = [f"{name}={name}.npy" for name in draw(parents, 3, 5)]
        data += ["--candidates=1"] if "--interp" not in flags else []
        status, text, error = call(PMG, "run", program, *data, *flags)
        rows = "".join(row for row in text.splitlines(True) if row.startswith("kernel "))
        check((status, rows) == (0, told), f"{program} {flags}: {rows}{error}")


PARTS = (check_answers, check_table, check_dumps, check_bad_dumps, check_names, check_dependencies, check_refusals,
         check_flag, check_told)


def main():
    with tempfile.TemporaryDirectory(prefix="pmg-known-") as folder:
        os.chdir(folder)
        Path("cells").mkdir()
        Path("cells/cell.swc").write_text(swc(PARENTS))
        Path("p.pmg").write_text(PROGRAM)
        for part in PARTS:
            part()
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return RESULTS["failed"] > 0


if __name__ == "__main__":
    raise SystemExit(main())
