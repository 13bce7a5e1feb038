# SPDX-License-Identifier: MIT
"""Neurons' shapes that tests give to simulators and to `pmg import swc`: drawn ones, which have what conventions speak
of (somata of one point, of three, of several; forks at a soma; points at one place), and real ones where there are
some."""
import os
import random
from pathlib import Path

DATA = os.environ.get("PMG_TEST_DATA")
# What NEURON and Arbor do not read: parents behind their children, several roots, a root without a radius.
UNREAD = ("09_117", "720575940661205633", "Neuron_missing_parents", "dIN_446", "v_e_purk2")


def drawn(rng):
    """Lines of (type, place, radius, parent); no point lies where its parent does at the end of a section."""
    kind, points = rng.choice(["none", "point", "three", "some", "some"]), []
    for i in range(rng.randint(3, 16)):
        above = i - 1 if rng.random() < 0.6 else rng.randrange(max(i, 1))
        if i == 0:
            points.append((3 if kind == "none" else 1, (0, 0, 0), 5, -1))
            continue
        if kind == "three" and i < 3:
            points.append((1, (0, -5 if i == 1 else 5, 0), 5, 0))
            continue
        above = 0 if kind == "three" and above in (1, 2) else above
        same = kind == "some" and rng.random() < 0.8
        type_ = points[above][0] if same else rng.choice([2, 3]) if points[above][0] == 1 else points[above][0]
        place = tuple(round(x + rng.uniform(-20, 20), 3) for x in points[above][1])
        points.append((type_, place, round(rng.uniform(0.2, 4), 3), above))
    return points


def with_ring(points, rng):
    """Another radius at the place of a point within a branch: a step."""
    within = [i for i, p in enumerate(points) if p[0] != 1 and [k for k, q in enumerate(points) if q[3] == i] == [i + 1]
              and points[i + 1][0] == p[0]]
    if not within:
        return points
    at = rng.choice(within)
    type_, place, radius, _ = points[at]
    moved = [p if i <= at else (p[0], p[1], p[2], p[3] + 1 if p[3] >= at else p[3]) for i, p in enumerate(points)]
    return moved[:at + 1] + [(type_, place, radius + 0.5, at)] + moved[at + 1:]


def write_shapes(folder, n, seed):
    """Files of the folder; their names."""
    rng = random.Random(seed)
    for k in range(n):
        points = drawn(rng)
        points = with_ring(points, rng) if k % 4 == 0 else points
        Path(folder, f"drawn{k}.swc").write_text("".join(
            f"{i + 1} {type_} {x} {y} {z} {radius} {above + 1 if above >= 0 else -1}\n"
            for i, (type_, (x, y, z), radius, above) in enumerate(points)))
    for path in sorted(Path(DATA, "swc").glob("*.swc")) if DATA else []:
        if not path.name.startswith(UNREAD):
            Path(folder, path.name).write_text(path.read_text())
    return sorted(Path(folder).glob("*.swc"))
