#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The pruned connectome of `make demo` as SVG, from the left: fibers that the fit has dropped beside those that it has
kept, as thick as their weights, in the colours of what they truly are. A fiber goes through its voxels, at a place of
its own in each so that fibers lie side by side.

    demo_picture.py PHI.tns COORDS.txt TRUE.txt WEIGHTS.txt > connectome.svg

All are text: the coefficients as `atom voxel fiber value` from 1, a voxel's place in each line, the true weight and the
fitted one of each fiber."""
import random
import sys
from pathlib import Path

TRUE, FALSE = "#0072b2", "#d55e00"
SIZE, TOP, MARGIN, LEGEND = 400, 52, 24, 40
ACROSS, UP = 1, 2               # axes of the picture


def numbers(path):
    return [[float(word) for word in line.split()] for line in Path(path).read_text().splitlines()
            if line.strip() and not line.startswith("#")]


def trails(coefficients, places, n_fibers):
    """The places of each fiber, from one end to the other."""
    found = [{} for _ in range(n_fibers)]
    for _, voxel, fiber, *_ in coefficients:
        found[int(fiber) - 1].setdefault(int(voxel) - 1)
    return [smooth(chain([places[voxel] for voxel in voxels])) for voxels in found]


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


def smooth(path):
    """Between its ends the mean of three neighbours."""
    return [path[i] if i in (0, len(path) - 1) else [sum(p[d] for p in path[i - 1:i + 2])/3 for d in range(3)]
            for i in range(len(path))]


class Panel:
    def __init__(self, out, left, title, low, high):
        self.out, self.left, self.low = out, left, low
        self.scale = SIZE/(1 + max(high[i] - low[i] for i in (ACROSS, UP)))
        out.append(f'<text x="{left}" y="30" font-weight="bold">{title}</text>')

    def draw(self, path, offset, colour, width, opacity):
        steps = []
        for point in path:
            x = self.left + (point[ACROSS] - self.low[ACROSS] + offset[0])*self.scale
            y = TOP + SIZE - (point[UP] - self.low[UP] + offset[1])*self.scale
            steps.append(f"{x:.1f} {y:.1f}")
        if len(steps) > 1:
            self.out.append(f'<path d="M{"L".join(steps)}" stroke="{colour}" stroke-width="{width:.2f}" '
                            f'stroke-opacity="{opacity}"/>')

    def legend(self, entries):
        for number, (colour, text) in enumerate(entries):
            x, y = self.left + number*SIZE/2, TOP + SIZE + LEGEND - 12
            self.out.append(f'<path d="M{x:.0f} {y - 4}h22" stroke="{colour}" stroke-width="3"/>'
                            f'<text x="{x + 28:.0f}" y="{y}">{text}</text>')


def main():
    coefficients, places, true, fitted = map(numbers, sys.argv[1:])
    is_true, weights = [t[0] > 0 for t in true], [w[0] for w in fitted]
    paths = trails(coefficients, places, len(true))
    low, high = ([of(p[i] for p in places) for i in range(3)] for of in (min, max))
    rng = random.Random(1)
    offsets = [(rng.uniform(0.1, 0.9), rng.uniform(0.1, 0.9)) for _ in paths]
    width = 2*SIZE + 3*MARGIN
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{TOP + SIZE + LEGEND}" '
           'font-family="sans-serif" font-size="13">', '<rect width="100%" height="100%" fill="white"/>',
           '<g fill="none" stroke-linejoin="round" stroke-linecap="round">']
    texts = []
    for number, (title, is_kept) in enumerate((("dropped", False), ("kept, as thick as they weigh", True))):
        panel = Panel(texts, MARGIN + number*(SIZE + MARGIN), title, low, high)
        panel.out, chosen = out, [f for f in range(len(paths)) if (weights[f] > 0) == is_kept]
        for f in sorted(chosen, key=lambda f: weights[f]):
            thick = 3*(weights[f]/max(weights))**0.5 if is_kept else 0.6
            panel.draw(paths[f], offsets[f], TRUE if is_true[f] else FALSE, thick, 0.8 if is_kept else 0.4)
        n = sum(is_true[f] for f in chosen)
        panel.out = texts
        panel.legend(((TRUE, f"{n} true fibers"), (FALSE, f"{len(chosen) - n} false fibers")))
    print("\n".join([*out, "</g>", *texts, "</svg>"]))


main()
