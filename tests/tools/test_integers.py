#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Integers beyond 2^53, as arguments of `pmg run`: each is kept to the last digit, and becomes a float where a float is
that integer. One behind 2^53 had become 2^53 without a word, from a file as f64 and from x=NUMBER as i64; 2^62 was
refused as f64, which holds it.
With sanitizers only for --long: test_inputs runs programs."""
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

PMG = str((Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
RESULTS = {"passed": 0, "failed": 0}
LARGEST = 2**63 - 1


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print("does not hold:", what)


def copied(kind, value):
    """What y = x gives of arrays of this type, or what is said instead."""
    Path("same.pmg").write_text(f"pipeline same {{ param n; in x : {kind}[n]; out y : {kind}[n]; y = x; }}\n")
    done = subprocess.run([PMG, "run", "same.pmg", "--interp", f"x={value}", *([] if ".npy" in value else ["n=1"]),
                           "-o", "y=y.npy"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return np.load("y.npy").tolist() if done.returncode == 0 else (done.returncode, done.stderr.split("\n")[0])


def numbers():
    for text, value in (("9007199254740993", 2**53 + 1), (f"{LARGEST}", LARGEST), (f"{-LARGEST - 1}", -LARGEST - 1),
                        ("1e18", 10**18), ("-0", 0)):
        check(copied("i64", text) == [value], f"x={text}: {copied('i64', text)}")
    for text in f"{LARGEST + 1}", "1e19":
        status, told = copied("i64", text)
        check(status == 3 and told.endswith(", which i64 cannot hold"), f"x={text}: {told}")
    check(copied("f32", "16777217") == [2.0**24], "a number for floats is a float, which is rounded")


def files():
    exact = np.array([2**53 + 2, 2**62, -2**63])
    np.save("integers.npy", exact)
    np.save("floats.npy", exact.astype("float64"))
    check(copied("f64", "integers.npy") == exact.astype("float64").tolist(), "integers that are floats")
    check(copied("i64", "floats.npy") == exact.tolist(), "floats that are integers")
    for kind, value in ("f64", 2**53 + 1), ("f64", LARGEST), ("f32", 2**24 + 1):
        np.save("near.npy", np.array([0, value]))
        check(copied(kind, "near.npy") == (3, f"pmg run: x[1] is {value}, which {kind} cannot hold"),
              f"{value} as {kind}: {copied(kind, 'near.npy')}")


def main():
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        numbers()
        files()
        os.chdir(here)
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return RESULTS["failed"] > 0


raise SystemExit(main())
