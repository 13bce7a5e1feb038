# SPDX-License-Identifier: MIT
"""For NEURON's Python: models as NEURON writes them for CoreNEURON, FOLDER/NAME/GID_2.dat, and for each node what
NEURON itself computes in one step, FOLDER/NAME.npy."""
import sys

import numpy as np
from neuron import h

FOLDER, G, E, DT = sys.argv[1], 2e-4, -70, 0.025


class Cell:
    """Sections s[i] of (L, diam, nseg, cm, parent, x); all are passive, by `pas`, or by `hh` without its channels."""
    def __init__(self, shape, mechanism="pas"):
        self.s = [h.Section(name=f"s{i}", cell=self) for i in range(len(shape))]
        for section, (length, diam, nseg, cm, parent, x) in zip(self.s, shape):
            section.L, section.diam, section.nseg, section.cm, section.Ra = length, diam, nseg, cm, 120
            if parent >= 0:
                section.connect(self.s[parent](x))
            section.insert(mechanism)
            for segment in section:
                if mechanism == "pas":
                    segment.pas.g, segment.pas.e = G, E
                else:
                    segment.hh.gnabar, segment.hh.gkbar, segment.hh.gl, segment.hh.el = 0, 0, G, E

    def segments(self):
        for section in self.s:
            yield from section.allseg()


TREE = [(20, 20, 1, 1, -1, 0), (100, 2, 3, 1.3, 0, 1), (80, 1, 5, 0.7, 1, 1), (60, 3, 1, 1, 1, 0.5),
        (40, 1, 2, 2, 0, 0)]
MODELS = {
    "tree": [(TREE, "pas")],
    "two": [(TREE, "pas"), ([(30, 5, 4, 1, -1, 0)], "pas")],
    "ions": [(TREE, "hh"), (TREE[:2], "pas")],
}


def write(name, cells, parallel):
    for gid, cell in enumerate(cells):
        parallel.set_gid2node(gid + 1, 0)
        parallel.cell(gid + 1, h.NetCon(cell.s[0](0.5)._ref_v, None, sec=cell.s[0]))
    h.finitialize(-65)
    h.dt = DT
    for i, segment in enumerate(segment for cell in cells for segment in cell.segments()):
        segment.v = -65 + 7*i % 23
    parallel.nrncore_write(f"{FOLDER}/{name}")
    h.fadvance()
    after = {segment.node_index(): segment.v for cell in cells for segment in cell.segments()}
    np.save(f"{FOLDER}/{name}.npy", [after[i] for i in range(len(after))])
    parallel.gid_clear()


def main():
    parallel = h.ParallelContext()
    if h.nrnversion(5).startswith("8"):
        h.CVode().cache_efficient(1)
    parallel.set_maxstep(1)
    for name, cells in MODELS.items():
        write(name, [Cell(*cell) for cell in cells], parallel)


main()
