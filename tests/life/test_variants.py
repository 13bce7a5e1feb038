#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Variants of the solver, dsl_examples/life: l1 terms by `pmg life fit`, several signals at once, COMMIT's shape of a
model; each reaches the optimum that SciPy finds. PMG_TEST_LONG also compares with the interpreter.
Not with sanitizers: most of its time is that of C compilers. Its C is not optimised."""
import csv
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
    np.save(folder/"start.npy", np.ones(problem.n_fibers))
    M = problem.M.toarray()
    b = np.stack([problem.b + scale*rng.normal(size=problem.b.shape) for scale in (0, 0.1, 0.5)])
    path = write(folder/"s.h5", problem, voxel_coords=rng.integers(0, 5, (len(problem.b), 3)), signals=b)
    common = ["fit", path, f"--signals={path}:/signals", "--iterations=400", "--tolerance=1e-9"]
    run(*common, "-o", folder/"w.npy", "--history", folder/"h.csv")
    w, rows = np.load(folder/"w.npy"), list(csv.DictReader((folder/"h.csv").open()))
    check(w.shape == (3, problem.n_fibers) and len(rows) < 400, f"{w.shape}, {len(rows)} rows")
    run(*common, "-o", folder/"w1.npy", "--threads=1")
    check(folder.joinpath("w1.npy").read_bytes() == folder.joinpath("w.npy").read_bytes(), "1 and 2 threads")
    for q in range(3):
        wanted = nnls(M, b[q].ravel())[0]
        check(np.abs(w[q] - wanted).max() < 1e-6, f"signal {q}: {np.abs(w[q] - wanted).max()}")
        check(abs(float(rows[-1][f"objective_{q}"])/(0.5*np.sum((M @ w[q] - b[q].ravel())**2)) - 1) < 1e-9,
              f"objective of signal {q}")
    check(int(rows[-1]["live"]) == np.count_nonzero(w), "live fibers of all")
    run(*common[:-2], "--iterations=5", "--tolerance=0", "-o", f"{path}:/w", "--start", folder/"start.npy",
        "--no-preconditioner", "--threads=1")
    one_of_several(folder, path, problem, b, w)


def one_of_several(folder, path, problem, b, w):
    """Steps behind the fit of several signals take the weights of one."""
    run("predict", path, folder/"w.npy", "--signal=2", "-o", folder/"two.npy")
    check(np.allclose(np.load(folder/"two.npy").ravel(), problem.M @ w[2], 1e-12), "the prediction of signal 2")
    run("export", folder/"w.npy", "--signal=1", "-o", folder/"one.npy")
    check((np.load(folder/"one.npy") == w[1]).all(), "the weights of signal 1")
    out = run("evaluate", path, folder/"w.npy", "--signal=2", f"--signals={path}:/signals")
    check(f"{0.5*np.sum((problem.M @ w[2] - b[2].ravel())**2):.6g}"[:6] in out, f"the objective of signal 2: {out}")
    np.save(folder/"flat.npy", b[0][:, 1:])
    np.save(folder/"nan.npy", np.full_like(b, np.nan))
    for words, text in [
            (["export", folder/"w.npy", "-o", folder/"no.npy"], "--signal=N"),
            (["export", folder/"w.npy", "--signal=3", "-o", folder/"no.npy"], "no weights of a signal 3"),
            (["evaluate", path, folder/"w.npy", "--signal=3", f"--signals={path}:/signals"], "there is no signal 3"),
            (["fit", path, "-o", folder/"no.npy", f"--signals={folder}/flat.npy"], "not [signals, 40, 16]"),
            (["fit", path, "-o", folder/"no.npy", f"--signals={folder}/nan.npy"], "[0, 0, 0] is nan"),
            (["fit", path, "-o", folder/"no.npy", f"--signals={path}:/PHI"], "an array [signals, voxels, directions]"),
            (["fit", path, "-o", folder/"no.npy", f"--signals={path}:/signals", "--l1=1"], "do not go together")]:
        done = life(*words)
        check(done.returncode in (2, 3) and text in done.stdout, f"{words}: {done.returncode}: {done.stdout}")


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
