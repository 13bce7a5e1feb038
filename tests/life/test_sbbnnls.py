#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The solver as a program, dsl_examples/sbbnnls.pmg, against the equations in NumPy: the objective at each of 100
iterations to 1e-9, on made-up systems and on the real ones of PMG_TEST_DATA. With sanitizers only for --long.
Its C is not optimised."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from problems import Problem, Stored
from transcript import preconditioner, sbbnnls

PMG = str(Path(os.environ.get("PMG") or Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
DATA = Path(os.environ.get("PMG_TEST_DATA") or "/nonexistent") / "dmri"
ITERATIONS = 100
RESULTS = {"passed": 0, "failed": 0, "skipped": 0}


def check(condition, what):
    RESULTS["passed" if condition else "failed"] += 1
    if not condition:
        print("does not hold:", what)


def solve(system, folder, outputs, *flags, **scalars):
    files = {"PHI.atom": system.atom, "PHI.voxel": system.voxel, "PHI.fiber": system.fiber,
             "PHI.value": system.value, "D": system.D, "b": system.b}
    words = [f"{name}={number}" for name, number in scalars.items()]
    for name, array in files.items():
        np.save(f"{folder}/{name}.npy", array)
        words.append(f"{name}={folder}/{name}.npy")
    for name in outputs:
        words += ["-o", f"{name}={folder}/out.{name}.npy"]
    done = subprocess.run([PMG, "run", "dsl_examples/sbbnnls.pmg", f"nFibers={system.n_fibers}", *flags, *words],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    check(done.returncode == 0, done.stdout)
    return [np.load(f"{folder}/out.{name}.npy") for name in outputs]


def compare(name, system, preconditioned, w0, *flags):
    scale = np.ones(system.n_fibers)
    if preconditioned:
        scale = preconditioner(system.atom, system.fiber, system.value, system.D, system.n_fibers)
    w, objective, violation = sbbnnls(system.M, system.b.ravel(), scale, np.full(system.n_fibers, w0), ITERATIONS)
    what = f"{name}, preconditioned={preconditioned}, w0={w0}"
    with tempfile.TemporaryDirectory() as folder:
        got = solve(system, folder, ["w", "objective", "iterations", "violation"], *flags, maxIter=ITERATIONS, w0=w0,
                    preconditioned=int(preconditioned), tolGradient=0, tolObjective=-1)
    worst = np.max(np.abs(got[1]/objective - 1))
    check(worst < 1e-9, f"{what}: the objective differs by {worst}")
    check(np.allclose(got[0], w, rtol=1e-6, atol=1e-6*w.max()), f"{what}: weights")
    check(np.isfinite(got[0]).all() and (got[0] >= 0).all(), f"{what}: a weight is no weight")
    check(got[2] == ITERATIONS, f"{what}: {got[2]} iterations")
    check(violation < 1e-7*np.abs(scale*(system.M.T @ system.b.ravel())).max() or abs(got[3]/violation - 1) < 1e-3,
          f"{what}: violation {got[3]} instead of {violation}")


def tolerances(system):
    """Stops where the change, or the projected gradient, is below the bound; a fiber without coefficients has 0."""
    with tempfile.TemporaryDirectory() as folder:
        objective, iterations = solve(system, folder, ["objective", "iterations"], "--interp", maxIter=ITERATIONS, w0=0,
                                      preconditioned=1, tolGradient=0, tolObjective=1e-3)
        w, violation, later = solve(system, folder, ["w", "violation", "iterations"], "--interp", maxIter=1000,
                                    w0=1, preconditioned=1, tolGradient=1e-9, tolObjective=-1)
    check(0 < iterations < ITERATIONS and not objective[iterations:].any(), "tolObjective stops")
    changes = np.abs(np.diff(objective[:iterations]))
    check((changes >= 1e-3).all(), "no earlier change is below tolObjective")
    check(later < 1000 and violation < 1e-9, f"tolGradient: {violation} after {later}")
    check(w[-1] == 0, f"a fiber without coefficients has weight {w[-1]}")


def main():
    compare("made up", Problem(1), True, 0)
    compare("made up", Problem(2), False, 0.5, "--interp")
    tolerances(Problem(3))
    for case, kind in [("small25", "eudx"), ("small64", "det"), ("small64", "prob")]:
        if not (DATA / case).is_dir():
            RESULTS["skipped"] += 1
        elif os.environ.get("PMG_TEST_LONG"):
            compare(kind, Stored(DATA / case / kind), True, 0)
    skipped = f", {RESULTS['skipped']} skipped" if RESULTS["skipped"] else ""
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed{skipped}")
    return RESULTS["failed"] != 0


sys.exit(main())
