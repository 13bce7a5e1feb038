# SPDX-License-Identifier: MIT
"""For Arbor's Python: the control volumes of each file, by each policy, and what Arbor computes in one step. FOLDER has
NAME.swc; FOLDER/NAME.RULE.npz gets the parents, the voltages before the step and behind it, and the areas of the
parts of Arbor's segments."""
import math
import sys
from pathlib import Path

import arbor
import numpy as np
from arbor import units as U

POLICIES = {"one": arbor.cv_policy_fixed_per_branch(1), "three": arbor.cv_policy_fixed_per_branch(3),
            "length": arbor.cv_policy_max_extent_um(25.0)}
DT = 0.025


class Step(arbor.recipe):
    def __init__(self, cell):
        arbor.recipe.__init__(self)
        self.cell, self.properties = cell, arbor.neuron_cable_properties()

    def num_cells(self):
        return 1

    def cell_kind(self, _):
        return arbor.cell_kind.cable

    def cell_description(self, _):
        return self.cell

    def global_properties(self, _):
        return self.properties

    def probes(self, _):
        return [arbor.cable_probe_membrane_voltage_cell("v")]


def side(segments):
    return sum(math.pi*(s.prox.radius + s.dist.radius)*math.dist((s.prox.x, s.prox.y, s.prox.z, s.prox.radius),
                                                                (s.dist.x, s.dist.y, s.dist.z, s.dist.radius))
               for s in segments)


def step(morphology, policy):
    decor = arbor.decor().set_property(rL=150*U.Ohm*U.cm, cm=0.01*U.F/U.m2)
    decor.paint("(all)", arbor.density("pas/e=-65", {"g": 1e-4}))
    volumes = arbor.cv_data(arbor.cable_cell(morphology, decor, arbor.label_dict(), policy))
    n = volumes.num_cv
    before = [-65 + 7*i % 23 for i in range(n)]
    place, areas = arbor.place_pwlin(morphology), np.zeros(n)
    for i in range(n):
        whole = [c for c in volumes.cables(i) if c.prox < c.dist]
        for c in whole:
            decor.paint(f"(cable {c.branch} {c.prox!r} {c.dist!r})", Vm=before[i]*U.mV)
        areas[i] = side(place.segments(whole)) if whole else 0
    model = arbor.simulation(Step(arbor.cable_cell(morphology, decor, arbor.label_dict(), policy)))
    handle = model.sample((0, "v"), arbor.explicit_schedule([DT*U.ms]))
    model.run(2*DT*U.ms, DT*U.ms)
    (data, cables), = model.samples(handle)
    volume_of = {(c.branch, c.prox, c.dist): i for i in range(n) for c in volumes.cables(i)}
    after = np.full(n, np.nan)
    for cable, v in zip(cables, data[0, 1:]):
        after[volume_of[cable.branch, cable.prox, cable.dist]] = v
    return {"parent": [volumes.parent(i) for i in range(n)], "before": before, "after": after, "area": areas}


folder = Path(sys.argv[1])
for path in sorted(folder.glob("*.swc")):
    try:
        shape = arbor.load_swc_arbor(str(path)).morphology
    except (RuntimeError, ValueError):     # a soma of one point
        continue
    for name, policy in POLICIES.items():
        np.savez(folder/f"{path.stem}.{name}.npz", **step(shape, policy))
