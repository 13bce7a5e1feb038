#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real input: the two LiFE products on a real tractogram, from the files as they are, against NumPy.

The data are those of PMG_TEST_DATA (dmri/small64 and dmri/small25); without them every check counts as skipped.
Each element must be within n*eps*sum|terms| of NumPy's, n the number of its terms. Not with sanitizers.
Its C is not optimised."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

DATA = Path(os.environ.get("PMG_TEST_DATA") or "/nonexistent") / "dmri"
PMG = os.environ.get("PMG") or str(Path(os.environ.get("BUILD", "build")) / "pmg")
CASES = [("small64", "prob"), ("small64", "det"), ("small25", "eudx")]
RESULTS = {"passed": 0, "failed": 0, "skipped": 0}


def check(condition, what):
    RESULTS["passed" if condition else "failed"] += 1
    if not condition:
        print("does not hold:", what)


def run(*arguments):
    done = subprocess.run([PMG, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    check(done.returncode == 0, f"pmg {' '.join(map(str, arguments))}: exit status {done.returncode}\n{done.stdout}")
    return done.returncode == 0


def within(got, expected, magnitude, terms, what):
    eps = np.finfo(float).eps
    bound = (terms + 2)*eps*magnitude
    check(got.shape == expected.shape, f"{what}: shape {got.shape}")
    if got.shape == expected.shape:
        worst = np.max(np.abs(got - expected) - bound)
        check(worst <= 0, f"{what}: an element is {worst} over its bound")


def products(case, kind, folder):
    base = DATA / case
    atom, voxel, fiber, value = np.loadtxt(base / f"{kind}_phi.tsv.gz").T
    atom, voxel, fiber = (x.astype(int) for x in (atom, voxel, fiber))
    weights = np.loadtxt(base / f"{kind}_weights_nnls.txt")
    n_atoms, n_voxels = atom.max() + 1, voxel.max() + 1
    signal = np.fromfile(base / f"{kind}_y.f64").reshape(n_voxels, -1)
    n_theta = signal.shape[1]
    dictionary = np.fromfile(base / f"{kind}_dict.f64").reshape(-1, n_theta)
    n_atoms = dictionary.shape[0]
    phi = folder / "phi.h5"
    if not run("convert", base / f"{kind}_phi.tsv.gz", f"{phi}:/PHI", "--zero-based", "--modes", "atom,voxel,fiber"):
        return

    common = [f"PHI={phi}:/PHI", f"D={base}/{kind}_dict.f64[{n_atoms},{n_theta}]"]
    terms = dictionary[atom]*(weights[fiber]*value)[:, None]
    expected, magnitude, count = (np.zeros((n_voxels, n_theta)) for _ in range(3))
    np.add.at(expected, voxel, terms)
    np.add.at(magnitude, voxel, abs(terms))
    np.add.at(count, voxel, 1)
    if run("run", "dsl_examples/life_dsc.pmg", *common, f"w={base}/{kind}_weights_nnls.txt", f"nVoxels={n_voxels}",
           "-o", f"Y={folder}/Y.npy"):
        within(np.load(folder / "Y.npy"), expected, magnitude, count, f"{case} {kind}, DSC")

    terms = value[:, None]*dictionary[atom]*signal[voxel]
    expected, magnitude, count = (np.zeros(len(weights)) for _ in range(3))
    np.add.at(expected, fiber, terms.sum(axis=1))
    np.add.at(magnitude, fiber, abs(terms).sum(axis=1))
    np.add.at(count, fiber, n_theta)
    if run("run", "dsl_examples/life_wc.pmg", *common, f"Y={base}/{kind}_y.f64[{n_voxels},{n_theta}]",
           f"nFibers={len(weights)}", "-o", f"w={folder}/w.npy"):
        within(np.load(folder / "w.npy"), expected, magnitude, count, f"{case} {kind}, WC")


def main():
    for case, kind in CASES:
        if not (DATA / case).is_dir():
            RESULTS["skipped"] += 1
            continue
        with tempfile.TemporaryDirectory() as folder:
            products(case, kind, Path(folder))
    skipped = f", {RESULTS['skipped']} skipped" if RESULTS["skipped"] else ""
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed{skipped}")
    return RESULTS["failed"] != 0


sys.exit(main())
