# SPDX-License-Identifier: MIT
"""Who may ask for a target, or for what only devices have: files of their own. What else does is listed, and the list
only shrinks: a property of the target (codegen/target.h) or of the tree does as well."""
import re

ASKS = re.compile(r'(?:\b|_)is_(?:of_)?device\b|->device\b|\be->grid\b|"[^"\n]*(?:cuda|opencl|openmp)')
# The targets, kernels of devices, and what runs these.
OWN = {"compiler/codegen/" + name for name in ("target.h", "target.c", "openmp.c", "cuda.c", "opencl.c", "grids.c",
                                               "block_kernels.c", "warp_loops.c", "warp_vectors.c", "sparse_weights.c")}
OWN |= {"compiler/kernel/" + name for name in ("run_device.c", "calls.def", "lower/registers.c", "lower/rounds.c",
                                              "lower/handed.c", "lower/team_rows.c", "lower/team_dots.c")}
# File -> how many of its lines ask.
LISTED = {
    "compiler/codegen/abi/description.c": 2,
    "compiler/codegen/active_points.c": 1,
    "compiler/codegen/entry.c": 3,
    "compiler/codegen/entry_parts.c": 2,
    "compiler/codegen/entry_private.h": 1,
    "compiler/codegen/entry_regions.c": 3,
    "compiler/codegen/extremes.c": 1,
    "compiler/codegen/kernel.c": 4,
    "compiler/kernel/run_calls.c": 2,
}


def targets_by_name(tree):
    for name in tree.select(".c", ".h", ".def", under=("compiler/codegen/", "compiler/kernel/")):
        n = sum(bool(ASKS.search(row)) for row in tree.lines(name)) if name not in OWN else 0
        if n > LISTED.get(name, 0):
            yield f"{name}: {n} lines ask for a target or device, {LISTED.get(name, 0)} may; make it a property"
        if n < LISTED.get(name, 0):
            yield f"{name}: {n} lines ask for a target or device; say so in tests/lint/targets.py"
    for name in LISTED.keys() - set(tree.files):
        yield f"{name}: is listed in tests/lint/targets.py and not there"


CHECKS = [targets_by_name]
