#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files that NEURON 8.2 and 9.0 write for CoreNEURON: what `pmg hines solve` makes of them is what NEURON's own step
does. Version 1.8 was refused, and ends of cables, which have no area, were given a membrane: up to 3.4 mV.
Not with sanitizers: the readers are fuzzed."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from checks import PMG, SKIPPED, check, closing
from peers import peer, run_with

VERSIONS = {"8.2.7": b"1.5\n", "9.0.1": b"1.8\n"}


def solved(path, *options):
    run = subprocess.run([PMG, "hines", "solve", str(path), "-o", "x.npy", *options], capture_output=True, text=True,
                         check=False, timeout=60)
    check(run.returncode == 0, f"{path}: {run.stdout}{run.stderr}")
    return np.load("x.npy") if run.returncode == 0 else np.full(1, np.nan)


def neuron_steps_as_its_files(version):
    place = peer("neuron", version)
    if not place:
        SKIPPED.append(version)
        return
    folder = Path(version)
    folder.mkdir()
    run_with(place, "coreneuron_models.py", folder)
    models = sorted(folder.glob("*.npy"))
    check(len(models) == 3, f"{version}: {models}")
    for right in models:
        path, = folder.glob(f"{right.stem}/*_2.dat")
        check(path.read_bytes().startswith(VERSIONS[version]), f"{path}: the version")
        v, x = np.load(right), solved(path, "--leak=2e-4", "--rest=-70")
        check(v.shape == x.shape and np.max(np.abs(v - x)) < 1e-9, f"{path}: {np.max(np.abs(v - x))} mV")
        check(np.max(np.abs(v - solved(path, "--leak=2e-4", "--rest=-70", "--cm=1"))) > 0.1, f"{path}: --cm")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["PMG_HOME"] = os.environ.get("PMG_HOME", str(Path.cwd()))
        os.environ["XDG_CACHE_HOME"] = folder + "/cache"
        os.chdir(folder)
        for version in VERSIONS:
            neuron_steps_as_its_files(version)
        os.chdir("/")
    return closing()


sys.exit(main())
