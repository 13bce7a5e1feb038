#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the pictures of docs/restructuring.md from a real tensor: the file of coefficients dmri/small64/det_phi.tsv.gz
below the folder that PMG_TEST_DATA names, a line `atom voxel fiber value` for each.

    scripts/pictures.py [--check]

The same data give the same bytes. --check says which of docs/*.svg are no longer what is drawn.
"""
import gzip
import os
import sys
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FILE = "dmri/small64/det_phi.tsv.gz"
THREADS = 4

STYLE = """
  text { font: 13px sans-serif; fill: #24292f } .title { font-weight: bold; font-size: 14px }
  .small { font-size: 12px; fill: #57606a } .end { text-anchor: end } .middle { text-anchor: middle }
  .card { fill: #ffffff; stroke: #d0d7de } .frame { fill: none; stroke: #8c959f }
  .dots { stroke: #0969da; stroke-width: 1.5; stroke-linecap: round; fill: none }
  .area { fill: #0969da } .other { fill: #bc4c00 } .line { stroke: #bc4c00; stroke-width: 2; fill: none }
  .mean { stroke: #57606a; stroke-dasharray: 4 3; fill: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3 } .small { fill: #9da7b3 }
    .card { fill: #0d1117; stroke: #30363d } .frame { stroke: #6e7681 }
    .dots { stroke: #58a6ff } .area { fill: #58a6ff } .other { fill: #f0883e } .line { stroke: #f0883e }
    .mean { stroke: #9da7b3 }
  }
"""


class Picture:
    def __init__(self, width, height, what):
        self.parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
                      f'height="{height}" role="img">', f"<title>{what}</title>", f"<style>{STYLE}</style>",
                      f'<rect class="card" x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="6"/>']

    def text(self, x, y, text, kind=""):
        self.parts.append(f'<text x="{number(x)}" y="{number(y)}"' + (f' class="{kind}"' if kind else "")
                          + f">{text}</text>")

    def turned(self, x, y, text):
        self.parts.append(f'<text class="small middle" transform="translate({x} {y}) rotate(-90)">{text}</text>')

    def path(self, kind, steps):
        self.parts.append(f'<path class="{kind}" d="{steps}"/>')

    def frame(self, x, y, width, height):
        self.path("frame", f"M{x} {y}v{height}h{width}v-{height}z")

    def box(self, kind, x, y, width, height):
        self.parts.append(f'<rect class="{kind}" x="{number(x)}" y="{number(y)}" width="{number(width)}" '
                          f'height="{number(height)}"/>')

    def written(self):
        return "\n".join([*self.parts, "</svg>", ""])


def number(value):
    return f"{value:.1f}".rstrip("0").rstrip(".")


def counted(value):
    """12 345"""
    return f"{value:,}".replace(",", "\u202f")


def read(path):
    with gzip.open(path, "rt") as lines:
        return [tuple(map(int, line.split()[:3])) for line in lines if not line.startswith("#")]


# ---- which voxel the k-th coefficient touches ----

PANEL, GAP, LEFT, TOP = 250, 24, 62, 62
EACH = 10               # of how many coefficients one is drawn
FIRST, SHOWN = 10000, 300


def dots(picture, x, y, size, points, n_points, n_voxels):
    """Points (place, voxel), the voxels upwards."""
    picture.frame(x, y, PANEL, size)
    picture.path("dots", "".join(f"M{number(x + (at + 0.5) * PANEL / n_points)} "
                                 f"{number(y + size - (voxel + 0.5) * size / n_voxels)}h0" for at, voxel in points))


def order(picture, x, title, voxels, n_voxels):
    """One order of the coefficients: all, from afar, and a few neighbours."""
    some = list(enumerate(voxels))[::EACH]
    near = voxels[FIRST:FIRST + SHOWN]
    windows = [len(set(voxels[at:at + SHOWN])) for at in range(0, len(voxels) - SHOWN + 1, SHOWN)]
    picture.text(x, TOP - 14, title, "title")
    dots(picture, x, TOP, PANEL, some, len(voxels), n_voxels)
    dots(picture, x, TOP + PANEL + 50, 150, list(enumerate(near)), SHOWN, n_voxels)
    picture.text(x, TOP + PANEL + 222, f"{len(set(near))} different voxels among these {SHOWN},", "small")
    mean = number(sum(windows) / len(windows))
    picture.text(x, TOP + PANEL + 240, f"{mean} in the mean of all such {SHOWN}", "small")


def orders(coefficients, n_voxels):
    picture = Picture(LEFT + 3 * PANEL + 2 * GAP + 20, TOP + PANEL + 256,
                      "Which voxel the k-th coefficient touches, in three orders")
    lists = (("in the caller's order", coefficients),
             ("sorted by atom", sorted(coefficients, key=lambda c: c[0])),
             ("sorted by voxel", sorted(coefficients, key=lambda c: c[1])))
    picture.text(LEFT, 24, f"The voxel of the k-th of {counted(len(coefficients))} coefficients", "title")
    for i, (title, of) in enumerate(lists):
        order(picture, LEFT + i * (PANEL + GAP), title, [c[1] for c in of], n_voxels)
    for y, size in ((TOP, PANEL), (TOP + PANEL + 50, 150)):
        picture.text(LEFT - 6, y + 10, n_voxels, "small end")
        picture.text(LEFT - 6, y + size, "0", "small end")
        picture.turned(LEFT - 30, y + size // 2, "voxel")
    picture.text(LEFT, TOP + PANEL + 18, f"k from 0 to the end; one of {EACH} is drawn", "small")
    picture.text(LEFT, TOP + PANEL + 42, f"{SHOWN} neighbours, k from {counted(FIRST)} on", "small")
    return picture.written()


# ---- what threads get ----

STRIP, WIDE = 130, 700


def nearest_borders(starts):
    """Borders of segments nearest to equal shares of the coefficients; of two at one distance, the first."""
    n = starts[-1]
    return [min(range(len(starts)), key=lambda s: (abs(starts[s] - n * t // THREADS), s)) for t in range(THREADS)] \
        + [len(starts) - 1]


def strip(picture, y, title, counts, borders):
    width, high = WIDE / len(counts), max(counts)
    steps = f"M{LEFT} {y + STRIP}" + "".join(f"V{number(y + STRIP - count * STRIP / high)}h{width:.3f}"
                                             for count in counts) + f"V{y + STRIP}z"
    loads = [sum(counts[a:b]) for a, b in zip(borders, borders[1:])]
    mean = sum(counts) / THREADS
    most = max(loads) / mean
    picture.text(LEFT, y - 10, f"{title}: the largest load is {most:.2f} times the mean", "title")
    picture.path("area", steps)
    picture.frame(LEFT, y, WIDE, STRIP)
    picture.path("line", "".join(f"M{number(LEFT + b * width)} {y}v{STRIP + 8}" for b in borders[1:-1]))
    picture.text(LEFT - 6, y + 10, high, "small end")
    picture.text(LEFT - 6, y + STRIP, "0", "small end")
    picture.turned(LEFT - 34, y + STRIP // 2, "coefficients")
    bars(picture, y + STRIP + 20, borders, loads, mean)


def bars(picture, y, borders, loads, mean):
    scale = (WIDE - 250) / 9000
    for t, load in enumerate(loads):
        top = y + 20 * t
        picture.text(LEFT, top + 11, f"thread {t}: voxels {borders[t]}..{borders[t + 1]}", "small")
        picture.box("other", LEFT + 165, top, load * scale, 13)
        picture.text(LEFT + 171 + load * scale, top + 11, counted(load), "small")
    picture.path("mean", f"M{number(LEFT + 165 + mean * scale)} {y - 4}v{20 * THREADS}")


def loads(voxels, n_voxels):
    per_voxel = Counter(voxels)
    counts = [per_voxel[v] for v in range(n_voxels)]
    starts = [0]
    for count in counts:
        starts.append(starts[-1] + count)
    picture = Picture(LEFT + WIDE + 20, 2 * STRIP + 290, "Coefficients of each voxel, and what threads get")
    strip(picture, 36, "by voxel, equal numbers of voxels", counts,
          [n_voxels * t // THREADS for t in range(THREADS + 1)])
    strip(picture, STRIP + 176, "by coeff_exclusive", counts, nearest_borders(starts))
    return picture.written()


# ---- coefficients that share a pair ----

LAST = 7                # more are one class


def shares(coefficients):
    sizes = Counter(Counter((atom, voxel) for atom, voxel, _ in coefficients).values())
    n_pairs, n = sum(sizes.values()), len(coefficients)
    classes = [(str(m), sizes[m], m * sizes[m]) for m in range(1, LAST + 1)]
    classes.append((f"&gt; {LAST}", sum(c for m, c in sizes.items() if m > LAST),
                    sum(m * c for m, c in sizes.items() if m > LAST)))
    height, y, step = 200, 66, WIDE / len(classes)
    picture = Picture(LEFT + WIDE + 20, y + height + 60, "How many coefficients share a pair of voxel and atom")
    picture.text(LEFT, 24, f"{counted(n)} coefficients lie on {counted(n_pairs)} pairs (voxel, atom): "
                 f"{n / n_pairs:.2f} a pair", "title")
    picture.box("area", LEFT, 38, 12, 12)
    picture.text(LEFT + 18, 49, "pairs", "small")
    picture.box("other", LEFT + 80, 38, 12, 12)
    picture.text(LEFT + 98, 49, "coefficients on them", "small")
    scale = height / max(max(c[1], c[2]) for c in classes) * 0.92
    for i, (name, pairs, of) in enumerate(classes):
        x = LEFT + i * step
        for kind, value, at in (("area", pairs, 6), ("other", of, step / 2)):
            picture.box(kind, x + at, y + height - value * scale, step / 2 - 8, value * scale)
            picture.text(x + at + step / 4 - 4, y + height - value * scale - 4, counted(value), "small middle")
        picture.text(x + step / 2, y + height + 18, name, "middle")
    picture.path("frame", f"M{LEFT} {y + height}h{WIDE}")
    picture.text(LEFT + WIDE / 2, y + height + 42, "coefficients that share a pair", "small middle")
    return picture.written()


def main(arguments):
    path = Path(os.environ.get("PMG_TEST_DATA", ".")) / FILE
    if not path.is_file():
        sys.exit(f"PMG_TEST_DATA does not name a folder with {FILE}")
    coefficients = read(path)
    n_voxels = 1 + max(voxel for _, voxel, _ in coefficients)
    drawn = {"restructuring_orders.svg": orders(coefficients, n_voxels),
             "restructuring_loads.svg": loads([voxel for _, voxel, _ in coefficients], n_voxels),
             "restructuring_shares.svg": shares(coefficients)}
    stale = 0
    for name, text in drawn.items():
        file = ROOT / "docs" / name
        if "--check" not in arguments:
            file.write_text(text)
        elif not file.is_file() or file.read_text() != text:
            print(f"{name} is not what scripts/pictures.py draws", file=sys.stderr)
            stale += 1
    return int(stale > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
