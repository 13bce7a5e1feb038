#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Areas, volumes and resistances of `pmg import swc` are integrals over the file's frusta, wherever nodes are, and what
it says of each node beside the matrix. A soma of one node kept a frustum to its neurites: 2117 um2 for 1885;
--max-length and --per-branch cut corners: 0.66 to 1.38 of the area. With sanitizers only for --long."""
import math
import os
import random
import sys
import tempfile
from pathlib import Path

import numpy as np

from checks import check, closing, imported
from shapes import drawn

SPHERE = [(1, (0, 0, 0), 10, -1), (3, (10, 0, 0), 1, 0), (3, (110, 0, 0), 1, 1)]


def write(path, points):
    Path(path).write_text("".join(f"{i + 1} {t} {x} {y} {z} {r} {p + 1 if p >= 0 else -1}\n"
                                  for i, (t, (x, y, z), r, p) in enumerate(points)))
    return path


def close(got, right, what, tolerance=1e-12):
    check(math.isclose(got, right, rel_tol=tolerance), f"{what}: {got}, {right} is right")


def integrals(points):
    """Side, volume and the integral of dx/(pi r^2), 1/um, of the frusta."""
    side = volume = resistance = 0
    for _, place, r, above in points:
        if above >= 0:
            q, length = points[above][2], math.dist(place, points[above][1])
            side += math.pi*(r + q)*math.hypot(length, r - q)
            volume += math.pi*length*(r*r + r*q + q*q)/3
            resistance += length/(math.pi*r*q)
    return side, volume, resistance


def somata_have_their_own_area():
    path, right = write("sphere.swc", SPHERE), 4*math.pi*100 + 2*math.pi*100
    for options in (["--soma=sphere"], ["--convention=neuron"], ["--soma=sphere", "--per-branch=7"]):
        got = imported(path, *options)
        close(got["area"].sum(), right, f"area {options}")
    got = imported(path, "--soma=sphere")
    close(got["gAxial"][1], 0.1*math.pi/(150*100), "the conductance of the neurite")
    close(got["volume"].sum(), 4/3*math.pi*1000 + math.pi*100, "volume")
    one = imported(write("stub.swc", SPHERE[:2]), "--soma=sphere")
    close(one["area"].sum(), 4*math.pi*100 + 2*math.pi*10, "a neurite of one point is a cylinder")
    three = [(1, (0, 0, 0), 10, -1), (1, (0, -10, 0), 10, 0), (1, (0, 10, 0), 10, 0), (3, (10, 0, 0), 1, 0),
             (3, (110, 0, 0), 1, 3), (3, (10, 50, 0), 1, 3)]
    for options in (["--soma=three-point"], ["--soma=sphere"], ["--convention=neuron"]):
        got = imported(write("three.swc", three), *options)
        close(got["area"].sum(), right + 2*math.pi*50, f"area of three points {options}")


def nodes_between_points_cut_no_corners():
    rng = random.Random(4)
    for k in range(12):
        points = [(3, *rest) for _, *rest in drawn(rng)]
        path = write(f"cut{k}.swc", points)
        side, volume, resistance = integrals(points)
        for options in ([], ["--per-branch=1"], ["--per-branch=6"], ["--max-length=9"], ["--convention=arbor"],
                        ["--convention=arbor", "--max-length=9"]):
            got = imported(path, *options)
            close(got["area"].sum(), side, f"{path} {options}: area", 1e-11)
            close(got["volume"].sum(), volume, f"{path} {options}: volume", 1e-11)
            if "arbor" not in " ".join(options):
                close((0.1/(150*got["gAxial"][1:])).sum(), resistance, f"{path} {options}: resistance", 1e-11)


def input_resistance(got):
    """MOhm of the first node, at rest: of the matrix without its capacity."""
    n, parent = len(got["diag"]), got["F/parent"]
    matrix = np.diag(got["diag"] - got["cm"]/0.025*got["area"]*1e-8)
    for i in range(1, n):
        matrix[i, parent[i]], matrix[parent[i], i] = got["lower"][i], got["upper"][i]
    return 1e-3*np.linalg.inv(matrix)[0, 0]


def input_resistances_do_not_depend_on_the_nodes():
    rng, points = random.Random(8), [(3, (0, 0, 0), 1, -1)]
    for i in range(200):        # a neurite that turns at each point, with beads
        points.append((3, tuple(x + rng.uniform(-2, 2) for x in points[-1][1]), 0.1 + 0.4*(i % 3 == 0), i))
    path = write("beads.swc", points)
    fine = input_resistance(imported(path))
    for options in (["--max-length=20"], ["--per-branch=12"]):
        got = input_resistance(imported(path, *options))
        check(abs(got/fine - 1) < 0.01, f"{options}: {got} MOhm, {fine} is right")


def nodes_are_described():
    points = [(1, (0, 0, 0), 5, -1), (3, (30, 0, 0), 2, 0), (2, (30, 40, 0), 1, 1), (3, (60, 0, 0), 1, 1)]
    got = imported(write("described.swc", points), "--cm=2", "--order=depth-first")
    check(list(got["type"]) == [1, 3, 2, 3] and np.all(got["cm"] == 2), f"type {got['type']}, cm {got['cm']}")
    check(np.array_equal(got["place"], [p[1] for p in points]), f"place {got['place']}")
    check(list(got["distance"]) == [0, 30, 70, 60] and list(got["diameter"]) == [10, 4, 2, 2], "distance, diameter")
    check(np.array_equal(got["gAxial"], -got["lower"]) and got["gAxial"][0] == 0, "gAxial")
    fine = imported("described.swc", "--per-branch=2")
    check(list(fine["distance"]) == [0, 15, 30, 50, 70, 45, 60], f"finer {fine['distance']}")
    check(list(fine["type"]) == [1, 3, 3, 2, 2, 3, 3], f"finer {fine['type']}")
    check(np.array_equal(fine["place"][3], [30, 20, 0]) and fine["diameter"][3] == 3, "in between")
    copies = imported("described.swc", "--systems=3")
    check(copies["area"].shape == (4,) and np.array_equal(copies["area"], got["area"]), "of copies once")


def conventions_are_of_one_tree():
    two = [(3, (0, 0, 0), 1, -1), (3, (9, 0, 0), 1, 0), (3, (0, 50, 0), 1, -1), (3, (0, 60, 0), 1, 2)]
    path = write("two.swc", two)
    for convention in "neuron", "arbor":
        got = imported(path, f"--convention={convention}", "--roots=split")
        check(len(got["F/offset"]) == 3 and math.isclose(got["area"].sum(), 38*math.pi), f"{convention}: split")
        check(math.isclose(imported(path, f"--convention={convention}", "--roots=largest")["area"].sum(), 18*math.pi),
              f"{convention}: the largest")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for question in (somata_have_their_own_area, nodes_between_points_cut_no_corners,
                         input_resistances_do_not_depend_on_the_nodes, nodes_are_described,
                         conventions_are_of_one_tree):
            question()
        os.chdir("/")
    return closing()


sys.exit(main())
