# SPDX-License-Identifier: MIT
"""For NEURON's Python: what its import of SWC makes of each file, by each rule for the number of segments. FOLDER has
NAME.swc; FOLDER/NAME.RULE.npz gets the nodes: of the first section its beginning, of each section, in the order of the
import, its segments and its end."""
import sys
from pathlib import Path

import numpy as np
from neuron import h

RULES = {"one": lambda s: 1, "three": lambda s: 3, "even": lambda s: 4, "length": lambda s: int(np.ceil(s.L/25)),
         "lambda": lambda s: int((s.L/(0.1*h.lambda_f(100, sec=s)) + .9)/2)*2 + 1}
WORDS = {1: "soma", 2: "axon", 3: "dend", 4: "apic"}


class Cell:
    def __init__(self, path):
        reader = h.Import3d_SWC_read()
        reader.quiet = 1
        reader.input(path)
        h.Import3d_GUI(reader, False).instantiate(self)
        words = [WORDS.get(int(s.type), f"minus_{-int(s.type)}" if s.type < 0 else f"dend_{int(s.type)}")
                 for s in reader.sections]
        self.sections = [getattr(self, word)[words[:i].count(word)] for i, word in enumerate(words)]


def nodes_of(cell, rule):
    at, first, rows = {}, cell.sections[0], []
    for section in cell.sections:
        section.Ra, section.cm = 150, 1
        section.nseg = max(1, rule(section))
    h.distance(0, first(0))
    for section in cell.sections:
        above = section.parentseg()
        if above is None:
            at[section] = 0
            rows.append((-1, 0, np.inf, 0, np.nan, 0))
            node = 0
        elif above.x == 0 or above.x == 1:
            node = at[above.sec] if above.x == 0 else begin[above.sec][1]
            at[section] = node
        else:
            node = begin[above.sec][0] + int(above.x*above.sec.nseg)
            at[section] = node
        start = len(rows)
        for segment in section:
            rows.append((node, segment.area(), segment.ri(), segment.volume(), segment.diam, h.distance(segment)))
            node = len(rows) - 1
        rows.append((node, 0, section(1).ri(), 0, np.nan, h.distance(section(1))))
        begin[section] = (start, len(rows) - 1)
    return rows


begin = {}
h.load_file("stdlib.hoc")
h.load_file("import3d.hoc")
folder = Path(sys.argv[1])
for path in sorted(folder.glob("*.swc")):
    cell = Cell(str(path))
    if min(section.L for section in cell.sections) < 1e-3:     # NEURON takes another length
        continue
    for name, rule in RULES.items():
        begin.clear()
        parent, area, ri, volume, diameter, distance = zip(*nodes_of(cell, rule))
        np.savez(folder/f"{path.stem}.{name}.npz", parent=parent, area=area, ri=ri, volume=volume, diameter=diameter,
                 distance=distance)
