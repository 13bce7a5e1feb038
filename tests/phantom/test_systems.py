#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pmg phantom hines` and `tri`: trees have the nodes and branches that were asked for, files are the same each time,
`pmg run` takes them, and wrong calls are told."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

PMG = str(Path(os.environ.get("PMG") or Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
PASSED, FAILED = [], []


def check(holds, what):
    (PASSED if holds else FAILED).append(what)
    if not holds:
        print(f"wrong: {what}")


def pmg(*words, threads="2"):
    env = dict(os.environ, OMP_NUM_THREADS=threads)
    run = subprocess.run([PMG, *words], env=env, capture_output=True, text=True, check=False)
    return run.returncode, run.stdout, run.stderr


def branches_of(parent):
    """Runs of edges without a fork: a child of a root or of a fork begins one."""
    children = np.bincount(parent[parent >= 0], minlength=len(parent))
    return sum(1 for p in parent if p >= 0 and (parent[p] < 0 or children[p] > 1))


def solve(parent, upper, lower, diag, rhs):
    a = np.diag(diag)
    for i, p in enumerate(parent):
        if p >= 0:
            a[p, i] += upper[i]
            a[i, p] += lower[i]
    return np.linalg.solve(a, rhs)


def trees_are_as_asked(folder):
    for shape, n, branches in (("small-low", 76, 7), ("small-high", 76, 29), ("medium-low", 305, 30),
                               ("medium-high", 319, 157), ("big-low", 695, 66), ("big-high", 691, 341),
                               ("levels=2", 512, 3), ("levels=3", 512, 7), ("levels=4", 512, 15),
                               ("levels=256,2x32,4x16,8x8", 448, 15), ("levels=256,2x256", 768, 3),
                               ("chain", 512, 1), ("1/0", 1, 0), ("2/1", 2, 1), ("90/89", 90, 89)):
        status, out, error = pmg("phantom", "hines", f"--tree={shape}", "--systems=2", "--stats", "-o",
                                 f"{folder}/t.h5")
        check(status == 0 and f"one tree, {branches} branch{'es'*(branches != 1)}, at" in out, f"{shape}: {out}{error}")
        parent = h5py.File(f"{folder}/t.h5")["T/parent"][:]
        check(len(parent) == n and branches_of(parent) == branches, f"{shape}: {len(parent)}, {branches_of(parent)}")
        check(parent[0] == -1 and all(0 <= p < i for i, p in enumerate(parent) if i), f"{shape}: parents before")


def files_are_the_same_each_time(folder):
    for words in (["hines", "--many", "--tree=40/9", "--systems=300"], ["tri", "--n=33"], ["hines", "--tree=9/3"]):
        for threads, name in (("1", "a.h5"), ("3", "b.h5")):
            pmg("phantom", *words, "-o", f"{folder}/{name}", threads=threads)
        check(Path(f"{folder}/a.h5").read_bytes() == Path(f"{folder}/b.h5").read_bytes(), f"{words}: the same bytes")
        pmg("phantom", *words, "--seed=2", "-o", f"{folder}/b.h5")
        check(Path(f"{folder}/a.h5").read_bytes() != Path(f"{folder}/b.h5").read_bytes(), f"{words}: another seed")


def run_takes_them(folder):
    def result(program, pipeline, path, names, tree=()):
        words = [f"{name}={path}" for name in [*tree, *names]]
        status, out, error = pmg("run", "--interp", f"dsl_examples/{program}", f"--pipeline={pipeline}", *words,
                                 "-o", f"x={folder}/x.npy")
        check(status == 0, f"run {pipeline}: {out}{error}")
        return np.load(f"{folder}/x.npy")

    four = ["upper", "lower", "diag", "rhs"]
    path = f"{folder}/one.h5"
    pmg("phantom", "hines", "--tree=30/9", "--systems=3", "-o", path)
    f = h5py.File(path)
    x = result("hines.pmg", "hines", path, four, ["T"])
    right = [solve(f["T/parent"][:], f["upper"][:], f["lower"][:], d, r) for d, r in zip(f["diag"][:], f["rhs"][:])]
    check(np.allclose(x, right, rtol=1e-13, atol=1e-13), "one tree")
    path = f"{folder}/own.h5"
    pmg("phantom", "hines", "--tree=30/9", "--systems=3", "--own", "-o", path)
    f = h5py.File(path)
    x = result("hines_own.pmg", "hines_own", path, four, ["T"])
    right = [solve(f["T/parent"][:], *(f[name][s] for name in four)) for s in range(3)]
    check(np.allclose(x, right, rtol=1e-13, atol=1e-13), "one tree, coefficients of each system")
    path = f"{folder}/many.h5"
    pmg("phantom", "hines", "--tree=20/5", "--lengths=1..40", "--systems=7", "-o", path)
    f = h5py.File(path)
    offset = f["F/offset"][:]
    x = result("hines.pmg", "hines_forest", path, four, ["F"])
    for a, b in zip(offset[:-1], offset[1:]):
        check(np.allclose(x[a:b], solve(f["F/parent"][a:b], *(f[name][a:b] for name in four)), rtol=1e-13), "a tree")
    path = f"{folder}/tri.h5"
    pmg("phantom", "tri", "--n=9", "--systems=4", "-o", path)
    f = h5py.File(path)
    x = result("tridiagonal.pmg", "tri_batch", path, list("abcd"))
    for s in range(4):
        a, b, c, d = (f[name][s] for name in "abcd")
        matrix = np.diag(b) + np.diag(a[1:], -1) + np.diag(c[:-1], 1)
        check(np.allclose(matrix, matrix.T) and np.allclose(x[s], np.linalg.solve(matrix, d)), "a tridiagonal one")
    path = f"{folder}/ragged.h5"
    pmg("phantom", "tri", "--lengths=1..9", "--systems=6", "-o", path)
    f = h5py.File(path)
    x = result("tri_ragged.pmg", "tri_ragged", path, list("abcd"), ["offset"])
    for at, end in zip(f["offset"][:-1], f["offset"][1:]):
        a, b, c, d = (f[name][at:end] for name in "abcd")
        matrix = np.diag(b) + np.diag(a[1:], -1) + np.diag(c[:-1], 1)
        check(np.allclose(x[at:end], np.linalg.solve(matrix, d)), "one of its own length")


def wrong_calls_are_told(folder):
    for words, status, text in ((["hines"], 2, "nothing to do: give -o FILE.h5"),
                                (["hines", "-o", f"{folder}/x.npy"], 2, "a phantom is an HDF5 file"),
                                (["hines", "--tree=smal-low", "--stats"], 2, "did you mean 'small-low'?"),
                                (["hines", "--tree=5/9", "--stats"], 2, "5 nodes cannot have 9 branches"),
                                (["hines", "--tree=5/0", "--stats"], 2, "5 nodes cannot have 0 branches"),
                                (["hines", "--tree=1/1", "--stats"], 2, "a tree of 1 node cannot have 1 branch"),
                                (["hines", "--tree=levels=9,2x3,3x3", "--stats"], 2, "3 branches for 2 above"),
                                (["hines", "--tree=levels=9,2y3", "--stats"], 2, "is not the shape of a tree"),
                                (["hines", "--tree=levels=9,2x3,", "--stats"], 2, "is not the shape of a tree"),
                                (["hines", "--tree=levels=9,,3", "--stats"], 2, "is not the shape of a tree"),
                                (["hines", "--tree=levels=9", "--n=20", "--stats"], 2, "20 nodes cannot have 9 levels"),
                                (["hines", "--n=99", "--stats"], 2,
                                 "--n=99 is for chain and levels=N; the tree medium-low has 305 nodes"),
                                (["hines", "--n=99", "--tree=40/9", "--stats"], 2, "the tree 40/9 has 40 nodes"),
                                (["hines", "--n=99", "--tree=chain", "--lengths=1..9", "--stats"], 2,
                                 "--n and --lengths exclude each other"),
                                (["tri", "--n=99", "--lengths=1..9", "--stats"], 2, "exclude each other"),
                                (["hines", "--own", "--many", "--stats"], 2,
                                 "--own is for one tree: with --many each system has its own anyway"),
                                (["hines", "--own", "--lengths=1..9", "--stats"], 2, "with --lengths each system"),
                                (["hines", "--lengths=9..4", "--stats"], 2, "'9..4' is not LOW..HIGH"),
                                (["hines", "--systems=0", "--stats"], 2, "is not an integer from 1"),
                                (["tri", "more", "--stats"], 2, "'more' is not an option"),
                                (["tri", "-o", "/nowhere/x.h5"], 4, "cannot write")):
        got, out, error = pmg("phantom", *words)
        check(got == status and text in error, f"{words}: {got} {out}{error}")
    check(not re.search("Tree|parent", pmg("phantom", "tri", "--help")[1]), "help of tri says nothing of trees")


def main():
    with tempfile.TemporaryDirectory() as folder:
        for question in (trees_are_as_asked, files_are_the_same_each_time, run_takes_them, wrong_calls_are_told):
            question(folder)
    print(f"{len(PASSED)} passed, {len(FAILED)} failed")
    return 1 if FAILED else 0


sys.exit(main())
