#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Data that the arrays of one candidate cannot hold, but those of another can. Its C is not optimised.
With sanitizers only for --long: test_inputs runs programs."""
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

PMG = str(Path(os.environ.get("PMG") or Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
RESULTS = {"passed": 0, "failed": 0}

# Sorted copies of indices are i32; the values of `code` are larger.
CODES = """pipeline codes {
    param n, m, most;
    fixed in T : PHI_Tensor<f64>(n; at < m, code < most);
    out y : f64[m];
    reduce y[T.at[k]] += T.value[k]*cast<f64>(T.code[k]) for k in 0..n;
}
"""


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what}")


def run(*words):
    env = dict(os.environ, OMP_NUM_THREADS="1")
    return subprocess.run([PMG, "run", *map(str, words)], capture_output=True, text=True, env=env, check=False)


def too_large():
    """The sorted candidates are passed over; where all are, the message is that of the data."""
    np.save("at.npy", np.array([2, 0, 1, 2, 2]))
    np.save("code.npy", np.array([1, 5, 3 * 10**9, 2, 7]))
    np.save("value.npy", np.arange(1.0, 6.0))
    words = ["codes.pmg", "T.at=at.npy", "T.code=code.npy", "T.value=value.npy", "m=3", "most=4000000000"]
    off = run(*words, "--tune=off")
    check(off.returncode == 3 and "T.code" in off.stderr, f"without a choice: {off.stdout}{off.stderr}")
    for how in [], ["--tune=estimate"], ["--tune=measure", "--wisdom", "off"]:
        result = run(*words, "-o", "y=y.npy", *how)
        check(result.returncode == 0, f"{how}: {result.stdout}{result.stderr}")
        if result.returncode == 0:
            check(np.array_equal(np.load("y.npy"), [10, 9e9, 1 + 8 + 35]), f"{how}: the sums")
    named = run(*words, "--candidate", "first", "--tune=measure", "--wisdom", "off")
    check(named.returncode != 0, f"the one asked for is not replaced: {named.stdout}")
    np.save("code.npy", np.array([1, 5, 4 * 10**9, 2, 7]))
    wrong = run(*words, "--tune=measure", "--wisdom", "off")
    check(wrong.returncode == 3 and "4000000000" in wrong.stderr, f"wrong data stay wrong: {wrong.stderr}")


def main():
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("codes.pmg").write_text(CODES)
        too_large()
        os.chdir(here)
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return RESULTS["failed"] > 0


raise SystemExit(main())
