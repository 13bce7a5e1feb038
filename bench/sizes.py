#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws times by size, docs/sizes.svg, from records of `pmg bench life --target=cuda` at several --scale: both products
with dense weights, generated and by cuSPARSE, on logarithmic axes.

    bench/sizes.py [--check]

--check says whether the picture is no longer what is drawn from bench/results.
"""
import json
import math
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "scripts"))
from pictures import Picture, number  # noqa: E402

RECORDS = ("life_sizes_h200.json", "life_h200.json")
PRODUCTS = (("dsc", "y = M w"), ("wc", "w = M'y"))
LINES = (("generated", "area", "generated"), ("gpu_sparse", "other", "cuSPARSE"))
LEFT, TOP, WIDE, HIGH, GAP = 62, 52, 330, 300, 70
DECADES_X, DECADES_Y = (2, 8), (-3, 1)          # coefficients; ms


def read():
    """(op, version): (coefficients, ms), by size."""
    found = {}
    for name in RECORDS:
        with open(ROOT / "bench" / "results" / name, encoding="utf-8") as file:
            for record in map(json.loads, file):
                if record["weights"] == "dense" and not record["algorithm"]:
                    # two operations for each coefficient and direction
                    theta = int(record["case"].split("ntheta=")[1].split()[0])
                    n = record["gflops"] * 1e6 * record["ms_median"] / (2 * theta)
                    found.setdefault((record["op"], record["version"]), []).append((n, record["ms_median"]))
    return {key: sorted(points) for key, points in found.items()}


def place(value, decades, size):
    return (math.log10(value) - decades[0]) * size / (decades[1] - decades[0])


def axes(picture, x, title):
    picture.text(x, TOP - 14, title, "title")
    picture.frame(x, TOP, WIDE, HIGH)
    for d in range(DECADES_X[0], DECADES_X[1] + 1):
        at = x + place(10**d, DECADES_X, WIDE)
        picture.path("mean", f"M{number(at)} {TOP}v{HIGH}")
        picture.text(at, TOP + HIGH + 18, f"10{'⁰¹²³⁴⁵⁶⁷⁸⁹'[d]}", "small middle")
    for d in range(DECADES_Y[0], DECADES_Y[1] + 1):
        at = TOP + HIGH - place(10**d, DECADES_Y, HIGH)
        picture.path("mean", f"M{x} {number(at)}h{WIDE}")
        picture.text(x - 6, at + 4, f"{10**d:g}", "small end")
    picture.text(x + WIDE / 2, TOP + HIGH + 38, "coefficients", "small middle")
    picture.turned(x - 44, TOP + HIGH // 2, "ms")


def curve(picture, x, kind, points):
    at = [(x + place(n, DECADES_X, WIDE), TOP + HIGH - place(ms, DECADES_Y, HIGH)) for n, ms in points]
    picture.path("frame", "M" + "L".join(f"{number(px)} {number(py)}" for px, py in at))
    for px, py in at:
        picture.box(kind, px - 3.5, py - 3.5, 7, 7)


def drawn(found):
    picture = Picture(LEFT + 2 * WIDE + GAP + 20, TOP + HIGH + 84, "Times of the two products of LiFE by size")
    for i, (op, title) in enumerate(PRODUCTS):
        x = LEFT + i * (WIDE + GAP)
        axes(picture, x, title)
        for version, kind, _ in LINES:
            curve(picture, x, kind, found[op, version])
    for i, (_, kind, name) in enumerate(LINES):
        picture.box(kind, LEFT + 110 * i, TOP + HIGH + 56, 12, 12)
        picture.text(LEFT + 110 * i + 18, TOP + HIGH + 67, name, "small")
    return picture.written()


def main(arguments):
    file, text = ROOT / "docs" / "sizes.svg", drawn(read())
    if "--check" not in arguments:
        file.write_text(text, encoding="utf-8")
        return 0
    if not file.is_file() or file.read_text(encoding="utf-8") != text:
        print("sizes.svg is not what bench/sizes.py draws", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
