#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pmg import swc --convention=neuron` against NEURON's import of the same files: sections, segments, areas, volumes,
resistances, diameters and distances, by each rule for the number of segments. Not with sanitizers: readers are
fuzzed."""
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from checks import SKIPPED, check, closing, distance, imported
from peers import peer, run_with
from shapes import write_shapes

OPTIONS = {"one": [], "three": ["--per-branch=3"], "even": ["--per-branch=4"], "length": ["--max-length=25"],
           "lambda": ["--d-lambda=0.1"]}
RULES_OF_REAL = ("three", "lambda")


def shape_is_neurons(path, rule):
    right, got = np.load(f"{path.stem}.{rule}.npz"), imported(path, "--convention=neuron", *OPTIONS[rule])
    if got is None or not np.array_equal(got["F/parent"], right["parent"]):
        check(False, f"{path.name} {rule}: the nodes")
        return
    axial = np.concatenate([[0], 1e-3/right["ri"][1:]])
    for name, value in (("area", right["area"]), ("volume", right["volume"]), ("gAxial", axial),
                        ("diameter", right["diameter"])):
        error = distance(got[name], value)
        check(error < 1e-12, f"{path.name} {rule}: {name} {error}")
    far = np.max(np.abs(got["distance"] - right["distance"]))
    check(far < 1e-9, f"{path.name} {rule}: distance {far}")
    off = got["area"]*1e-8*(1/0.025 + 0.1)
    np.add.at(off, got["F/parent"][1:], axial[1:])
    check(np.allclose(got["diag"], off + axial, rtol=1e-12), f"{path.name} {rule}: the diagonal")


def versions_agree():
    """NEURON 9 imports as 8.2 does: one comparison serves both."""
    folders = {}
    for version in ("8.2.7", "9.0.1"):
        place = peer("neuron", version)
        if not place:
            SKIPPED.append(version)
            continue
        folders[version] = Path(version)
        folders[version].mkdir()
        write_shapes(version, 40, 5)
        run_with(place, "neuron_sections.py", version)
    for path in sorted(Path("9.0.1").glob("*.npz")) if len(folders) == 2 else []:
        other = Path("8.2.7", path.name)
        same = other.exists() and np.array_equal(np.load(path)["area"], np.load(other)["area"])
        check(same, f"{path.name}: versions")
    return next(iter(folders.values()), None)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        where = versions_agree()
        if where:
            os.chdir(where)
            for path in sorted(Path().glob("*.swc")):
                for rule in OPTIONS if path.stem.startswith("drawn") else RULES_OF_REAL:
                    if Path(f"{path.stem}.{rule}.npz").exists():
                        shape_is_neurons(path, rule)
        os.chdir("/")
    return closing()


sys.exit(main())
