#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Sparse products beside others, on random tensors: y = A x beside SciPy's product with a CSR matrix, which runs on one
thread, and MTTKRP beside the loops as they are written (nothing restructured, one thread, no vectors). Each row is
measured in turn with its baseline, in ROUNDS rounds, so that clock and other work meet both alike; times are medians
over the rounds of each round's best. PMG and OMP_NUM_THREADS count.

    bench/sparse.py [SCALE [OPTION…]]    numbers of nonzeros are multiplied by SCALE; options of `pmg run`
"""
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np
import scipy.sparse

ROOT = Path(__file__).resolve().parent.parent
PMG = os.environ.get("PMG") or str(ROOT / os.environ.get("BUILD", "build") / "pmg")
SCALE = float(sys.argv[1]) if len(sys.argv) > 1 else 1
ROUNDS, REPEAT = 5, 9
OPTIONS = sys.argv[2:]
RANDOM = np.random.default_rng(1)
NAIVE = ["--restructure=off", "--parallel=off", "--vector=off", "--candidates=1"]


def best_of(function):
    times = []
    for _ in range(REPEAT):
        start = time.perf_counter()
        function()
        times.append(time.perf_counter() - start)
    return 1e3*min(times)


def run(program, pipeline, *words):
    """Milliseconds of the best execution, and of the plan."""
    done = subprocess.run([PMG, "run", str(ROOT / "dsl_examples" / program), "--pipeline", pipeline, "--time",
                           "--repeat", str(REPEAT), *words], capture_output=True, text=True, check=False)
    found = re.search(r"plan ([\d.]+) ms, execute [\d.]+ ms \(median of \d+, least ([\d.]+)\)", done.stdout)
    if not found:
        sys.exit(done.stdout + done.stderr)
    return float(found[2]), float(found[1])


def rounds(ours, baseline):
    pairs = [(ours(), baseline()) for _ in range(ROUNDS)]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def row(name, ours, theirs, baseline):
    print(f"{name:44} {ours:10.3f} ms {theirs:10.3f} ms {theirs/ours:6.2f} x {baseline}")


def matrix(folder, rows, columns, nnz, draw):
    i, j = np.divmod(np.unique(draw(rows, nnz).astype("i8")*columns + draw(columns, nnz)), columns)
    order = RANDOM.permutation(len(i))      # coordinates come in any order
    i, j, nnz = i[order], j[order], len(i)
    a = scipy.sparse.coo_matrix((RANDOM.standard_normal(nnz), (i, j)), (rows, columns))
    csr, x = a.tocsr(), RANDOM.standard_normal(columns)
    with h5py.File(f"{folder}/a.h5", "w") as file:
        for name, values in ("A/row", i), ("A/col", j), ("A/value", a.data), ("x", x):
            file[name] = values
    data = [f"A={folder}/a.h5:/A", f"x={folder}/a.h5:/x", f"nRows={rows}", f"nCols={columns}", "--candidates=1"]
    return lambda: run("spmv.pmg", "coo_spmv", *data, *OPTIONS)[0], lambda: best_of(lambda: csr @ x)


def products(folder):
    def uniform(n, nnz):
        return RANDOM.integers(0, n, nnz).astype("i4")

    def skewed(n, nnz):
        return np.minimum(RANDOM.zipf(1.3, nnz) - 1, n - 1).astype("i4")

    for rows, columns, nnz, draw in ((200000, 200000, 4000000, uniform), (20000, 20000, 2000000, uniform),
                                     (1000000, 1000, 3000000, uniform), (50000, 50000, 2000000, skewed)):
        nnz = max(1, int(nnz*SCALE))
        name = f"spmv {rows} x {columns}, {nnz}, {draw.__name__}"
        row(name, *rounds(*matrix(folder, rows, columns, nnz, draw)), "scipy.sparse (1 thread)")


def decompositions():
    for sizes, nnz, rank in (((2000, 3000, 4000), 2000000, 32), ((300, 300, 300), 1000000, 16),
                             ((100000, 200, 5000), 1500000, 64)):
        nnz = max(1, int(nnz*SCALE))
        data = [f"{n}={v}" for n, v in zip(("nA", "nB", "nC"), sizes)]
        data += [f"nnz={nnz}", f"rank={rank}", "X=random:1", "B=random:2", "C=random:3"]
        name = f"mttkrp {' x '.join(map(str, sizes))}, {nnz}, rank {rank}"
        row(name, *rounds(lambda: run("mttkrp.pmg", "mttkrp", *data, "--candidates=1", *OPTIONS)[0],
                          lambda: run("mttkrp.pmg", "mttkrp", *data, *NAIVE)[0]), "as written (1 thread)")


def main():
    print(f"{'':44} {'generated':>13} {'baseline':>13}")
    with tempfile.TemporaryDirectory() as folder:
        products(folder)
    decompositions()


if __name__ == "__main__":
    main()
