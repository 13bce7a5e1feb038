# SPDX-License-Identifier: MIT
"""What tests of this folder share: expectations that are counted, and `pmg import swc` as arrays."""
import os
import subprocess
from pathlib import Path

import h5py
import numpy as np

PMG = str(Path(os.environ.get("PMG") or Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
PASSED, FAILED, SKIPPED = [], [], []


def check(holds, what):
    (PASSED if holds else FAILED).append(what)
    if not holds:
        print(f"wrong: {what}")


def closing():
    """The last line of a test, and its exit status."""
    print(f"{len(PASSED)} passed, {len(FAILED)} failed" + (f", {len(SKIPPED)} skipped" if SKIPPED else ""))
    return 1 if FAILED else 0


def imported(path, *options):
    """The file's arrays as a dictionary; None, and a failed expectation, where it is refused."""
    run = subprocess.run([PMG, "import", "swc", str(path), "-o", "out.h5", *options], capture_output=True, text=True,
                         check=False, timeout=60)
    if run.returncode:
        check(False, f"{path} {options}: {run.stdout}{run.stderr}")
        return None
    with h5py.File("out.h5") as file:
        arrays = {}
        file.visititems(lambda name, item: arrays.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return arrays


def distance(got, right):
    """Largest difference as a share of the right value, where that is a number; of 0 nothing else is right."""
    known = np.isfinite(right) & (right != 0)
    if np.any(got[right == 0] != 0):
        return np.inf
    return np.max(np.abs(got - right)[known]/np.abs(right[known]), initial=0)
