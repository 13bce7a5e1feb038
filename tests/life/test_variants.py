#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Variants of the solver, dsl_examples/life: l1 terms by `pmg life fit`, several signals at once, COMMIT's shape of a
model; each reaches the optimum that SciPy finds. PMG_TEST_LONG also compares with the interpreter.
Not with sanitizers: most of its time is that of C compilers."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from problems import Problem, write
from scans import PMG, RESULTS, check, close, life, run

EXAMPLES = Path("dsl_examples/life").resolve()
IS_LONG = bool(os.environ.get("PMG_TEST_LONG"))


def optimum(M, y, penalty):
    """min 0.5 |M w - y|^2 + penalty . w, w >= 0; of columns of zeros the weight is 0."""
    used = np.abs(M).sum(0) > 0
    L = np.linalg.cholesky(M[:, used].T @ M[:, used])
    w = np.zeros(M.shape[1])
    w[used] = nnls(L.T, solve_triangular(L, M[:, used].T @ y - penalty[used], lower=True))[0]
    return w


def l1(folder, problem):
    M, y = problem.M.toarray(), problem.b.ravel()
    path = write(folder/"p.h5", problem)
    most = (M.T @ y).max()
    factors = np.linspace(0, 2, problem.n_fibers)
    np.save(folder/"factors.npy", factors)
    live = []
    for share, words, factor in [(0.02, [], 1), (0.1, ["--no-preconditioner"], 1),
                                 (0.05, ["--penalty", folder/"factors.npy"], factors)]:
        penalty = share*most*factor*np.ones(problem.n_fibers)
        run("fit", path, "-o", folder/"w.npy", f"--l1={share*most!r}", "--threads=2", "--tolerance=1e-9", *words)
        w, wanted = np.load(folder/"w.npy"), optimum(M, y, penalty)
        check(np.abs(w - wanted).max() < 1e-6*wanted.max(), f"l1 {share} {words}: {np.abs(w - wanted).max()}")
        live.append(np.count_nonzero(w))
    check(live[1] < live[0] <= np.count_nonzero(optimum(M, y, 0*factors)), f"fewer fibers: {live}")
    run("fit", path, "-o", folder/"w.npy", f"--l1={1.001*most!r}")
    check(not np.load(folder/"w.npy").any(), "no fiber is worth the penalty")
    for words, text in [(["--l1=-1"], "--l1=-1"), (["--l1=x"], "--l1=x"),
                        (["--penalty", folder/"factors.npy"], "--l1=LAMBDA"),
                        (["--l1=1", "--penalty", path], "an array is needed")]:
        done = life("fit", path, "-o", folder/"no.npy", *words)
        check(done.returncode in (2, 3) and text in done.stdout, f"{words}: {done.returncode}: {done.stdout}")


def program(name, folder, arrays, outputs, *words):
    """Outputs of a pipeline of dsl_examples/life, by name."""
    bound = []
    for key, array in arrays.items():
        np.save(folder/f"{key}.npy", array)
        bound.append(f"{key}={folder}/{key}.npy")
    saved = [word for output in outputs for word in ("-o", f"{output}={folder}/out.{output}.npy")]
    for flags in [[], ["--compare"]] if IS_LONG else [[]]:
        done = subprocess.run([PMG, "run", *name, *bound, *saved, *words, *flags, "--force", "--threads=2"],
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        check(done.returncode == 0, f"{name} {flags}: {done.stdout}")
    return [np.load(folder/f"out.{output}.npy") for output in outputs]


def signals(folder, problem):
    rng = np.random.default_rng(3)
    M = problem.M.toarray()
    b = np.stack([problem.b + scale*rng.normal(size=problem.b.shape) for scale in (0, 0.1, 0.5)])
    arrays = {"PHI.atom": problem.atom, "PHI.voxel": problem.voxel, "PHI.fiber": problem.fiber,
              "PHI.value": problem.value, "D": problem.D, "b": b}
    w, objective, violation, iterations = program(
        [EXAMPLES/"sbbnnls_signals.pmg"], folder, arrays, ["w", "objective", "violation", "iterations"],
        f"nFibers={problem.n_fibers}", "maxIter=400", "tolGradient=1e-6")
    for q in range(3):
        wanted = nnls(M, b[q].ravel())[0]
        check(np.abs(w[q] - wanted).max() < 1e-6, f"signal {q}: {np.abs(w[q] - wanted).max()}")
    check(iterations < 400 and (violation < 1e-6).all(), f"{iterations} iterations, {violation}")
    check(np.allclose(objective[0], 0.5*(b**2).sum((1, 2))) and (np.diff(objective[:iterations:20], axis=0) <= 0).all(),
          "objectives")


def commit(folder):
    rng = np.random.default_rng(4)
    n_ic, n_ec, dirs, voxels, fibers, theta = 120, 24, 9, 12, 10, 16
    arrays = {"IC.atom": rng.integers(0, dirs, n_ic), "IC.voxel": rng.integers(0, voxels, n_ic),
              "IC.fiber": rng.integers(0, fibers, n_ic), "IC.value": rng.uniform(0.5, 1, n_ic).astype("f4"),
              "EC.atom": rng.integers(0, dirs, n_ec), "EC.voxel": rng.integers(0, voxels, n_ec),
              "EC.value": rng.uniform(0.5, 1, n_ec).astype("f4"), "DR": rng.normal(size=(2, dirs, theta)).astype("f4"),
              "DE": rng.normal(size=(1, dirs, theta)).astype("f4"), "DQ": rng.normal(size=(2, theta)).astype("f4")}
    M = np.zeros((voxels, theta, 2*fibers + n_ec + 2*voxels))
    for k in range(n_ic):
        for r in range(2):
            M[arrays["IC.voxel"][k], :, r*fibers + arrays["IC.fiber"][k]] += \
                arrays["IC.value"][k]*arrays["DR"][r, arrays["IC.atom"][k]]
    for k in range(n_ec):
        M[arrays["EC.voxel"][k], :, 2*fibers + k] = arrays["EC.value"][k]*arrays["DE"][0, arrays["EC.atom"][k]]
    for v in range(voxels):
        for q in range(2):
            M[v, :, 2*fibers + n_ec + q*voxels + v] = arrays["DQ"][q]
    M = M.reshape(voxels*theta, -1)
    sizes = [f"nVoxels={voxels}", f"nFibers={fibers}", f"nDirs={dirs}"]
    file = EXAMPLES/"commit.pmg"
    norm = program([file, "--pipeline=commit_norm"], folder, arrays, ["norm"], *sizes, "maxIter=200")[0]
    wanted = np.linalg.norm(M, 2)**2
    check(abs(norm/wanted - 1) < 1e-3, f"the norm is {norm} instead of {wanted}")
    y = M @ np.maximum(rng.normal(size=M.shape[1]), 0) + 0.1*rng.normal(size=voxels*theta)
    penalty = np.zeros(M.shape[1])
    penalty[:2*fibers] = 0.5
    got = program([file, "--pipeline=commit"], folder, {**arrays, "b": y.reshape(voxels, theta)}, ["wIC", "wEC", "wQ"],
                  *sizes, "maxIter=3000", "lambda=0.5", f"step={0.99/norm!r}", "tol=1e-10")
    w, exact = np.concatenate([part.ravel() for part in got]), optimum(M, y, penalty)
    check(np.abs(w - exact).max() < 1e-5, f"commit: {np.abs(w - exact).max()}")


def main():
    os.environ.update(OMP_NUM_THREADS="2")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(folder/"cache")
        l1(folder, Problem(1))
        signals(folder, Problem(2))
        commit(folder)
    return close()


sys.exit(main())
