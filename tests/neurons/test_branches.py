#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pmg import swc --convention=arbor` against Arbor: control volumes in its order, their areas, and voltages after one
step of the matrix. Not with sanitizers: readers are fuzzed."""
import os
import sys
import tempfile
from pathlib import Path

import numpy as np

from checks import SKIPPED, check, closing, distance, imported
from peers import peer, run_with
from shapes import write_shapes

OPTIONS = {"one": [], "three": ["--per-branch=3"], "length": ["--max-length=25"]}


# Points at one place where a branch begins, ends, and in between.
RINGS = {
    "begin.swc": "1 1 0 0 0 5 -1\n2 1 0 -9 0 5 1\n3 3 0 -9 0 2 2\n4 3 30 -9 0 1 3\n5 3 0 -40 0 1 2\n6 3 0 -50 0 1 5\n",
    "end.swc": "1 1 0 0 0 5 -1\n2 1 0 -9 0 5 1\n3 3 0 -30 0 2 2\n4 3 0 -30 0 3 3\n5 3 0 -30 0 1 4\n",
}


def step(got, before):
    """One step of the imported system, from those voltages, with the capacity and leak that are the default."""
    parent, n = got["F/parent"], len(before)
    matrix = np.diag(got["diag"])
    below = np.arange(n)[parent >= 0]
    matrix[below, parent[below]], matrix[parent[below], below] = got["lower"][below], got["upper"][below]
    return np.linalg.solve(matrix, (before/0.025 - 65*0.1)*got["area"]*1e-8)


def has_ring(path):
    """Two points at one place."""
    points = [line.split() for line in path.read_text().splitlines() if line and not line.startswith("#")]
    places = {words[0]: tuple(map(float, words[2:5])) for words in points}
    return any(places.get(words[6]) == places[words[0]] for words in points)


def shape_is_arbors(path, rule):
    right, got = np.load(f"{path.stem}.{rule}.npz"), imported(path, "--convention=arbor", *OPTIONS[rule])
    if got is None or not np.array_equal(got["F/parent"], right["parent"].astype(np.int32)):
        check(False, f"{path.name} {rule}: the control volumes")
        return
    if not has_ring(path):      # place_pwlin leaves these out, control volumes do not
        error = distance(got["area"], right["area"])
        check(error < 1e-12, f"{path.name} {rule}: area {error}")
    if len(right["before"]) < 1000:
        error = distance(step(got, right["before"]), right["after"])
        check(error < 1e-12, f"{path.name} {rule}: voltages {error}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        place = peer("arbor", "0.12.2")
        if place:
            write_shapes(".", 40, 6)
            for name, text in RINGS.items():
                Path(name).write_text(text)
            run_with(place, "arbor_branches.py", ".")
            shapes = sorted(Path().glob("*.npz"))
            check(len(shapes) > 60, f"{len(shapes)} shapes")
            for path in shapes:
                stem, rule = path.stem.rsplit(".", 1)
                shape_is_arbors(Path(stem + ".swc"), rule)
        else:
            SKIPPED.append("arbor")
        os.chdir("/")
    return closing()


sys.exit(main())
