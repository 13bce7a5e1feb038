#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The pruned connectome of `make demo` as SVG: each fiber through the centres of its voxels, seen from two sides, in
the colour of what became of it.

    demo_picture.py PHI.tns COORDS.txt TRUE.txt WEIGHTS.txt > connectome.svg

All are text: the coefficients as `atom voxel fiber value` from 1, a voxel's place in each line, the true weight and the
fitted one of each fiber."""
import sys
from pathlib import Path

KINDS = ((False, False, "false, dropped", "#c9c9c9", 0.5), (True, False, "true, dropped", "#e69f00", 0.9),
         (True, True, "true, kept", "#0072b2", 0.8), (False, True, "false, kept", "#d00000", 0.9))
VIEWS = (("from the left", 1), ("from the front", 0))
SIZE, TOP, MARGIN = 380, 44, 20


def numbers(path):
    return [[float(word) for word in line.split()] for line in Path(path).read_text().splitlines()
            if line.strip() and not line.startswith("#")]


def trails(coefficients, places, n_fibers):
    """The voxels of each fiber in the order of its coefficients, each once."""
    found = [{} for _ in range(n_fibers)]
    for _, voxel, fiber, *_ in coefficients:
        found[int(fiber) - 1].setdefault(int(voxel) - 1)
    return [chain([places[voxel] for voxel in voxels]) for voxels in found]


def chain(points):
    """From the point that is farthest from the middle, always to the nearest that is left."""
    if not points:
        return []
    middle = [sum(p[i] for p in points)/len(points) for i in range(3)]
    at = max(points, key=lambda p: distance(p, middle))
    rest, path = [p for p in points if p is not at], [at]
    while rest:
        at = min(rest, key=lambda p: distance(p, path[-1]))
        rest.remove(at)
        path.append(at)
    return path


def distance(a, b):
    return sum((x - y)**2 for x, y in zip(a, b))


def draw(path, across, left, low, scale):
    """A path of SVG; gaps of more than two voxels are left open."""
    steps = []
    for i, point in enumerate(path):
        word = "L" if i and distance(point, path[i - 1]) <= 6 else "M"
        steps.append(f"{word}{left + (point[across] - low[across])*scale:.1f} "
                     f"{TOP + SIZE - (point[2] - low[2])*scale:.1f}")
    return "".join(steps)


def main():
    coefficients, places, true, fitted = map(numbers, sys.argv[1:])
    paths = trails(coefficients, places, len(true))
    low = [min(p[i] for p in places) for i in range(3)]
    scale = SIZE/max(max(p[i] for p in places) - low[i] for i in range(3))
    width = 2*SIZE + 3*MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + SIZE + 60}" '
           'font-family="sans-serif" font-size="13">', '<rect width="100%" height="100%" fill="white"/>']
    for number, (what, across) in enumerate(VIEWS):
        left = MARGIN + number*(SIZE + MARGIN)
        out.append(f'<text x="{left}" y="26">{what}</text>')
        for is_true, is_kept, _, colour, opacity in KINDS:
            steps = [draw(path, across, left, low, scale) for path, t, w in zip(paths, true, fitted)
                     if (t[0] > 0, w[0] > 0) == (is_true, is_kept)]
            out.append(f'<path d="{"".join(steps)}" fill="none" stroke="{colour}" stroke-opacity="{opacity}" '
                       'stroke-width="0.8"/>')
    for number, (is_true, is_kept, name, colour, _) in enumerate(KINDS):
        n = sum((t[0] > 0, w[0] > 0) == (is_true, is_kept) for t, w in zip(true, fitted))
        x = MARGIN + number*(width - MARGIN)/4
        out.append(f'<path d="M{x:.0f} {TOP + SIZE + 34}h24" stroke="{colour}" stroke-width="3"/>'
                   f'<text x="{x + 30:.0f}" y="{TOP + SIZE + 38}">{n} {name}</text>')
    print("\n".join([*out, "</svg>"]))


main()
