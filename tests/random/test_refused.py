#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Items of schedule blocks that are refused are left out, and no more than these: an item that two accumulations refuse
took the brace behind it along, and of one whose second name is wrong, the first part was left. Nothing parsed then."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

TEST = Path(os.environ.get("BUILD", "build"))/"tests/random/test_programs"
PROGRAM = """pipeline x_items {{
    param n, m, p;
    fixed in PHI : PHI_Tensor<f64>(p; atom < m, voxel < n, fiber < m);
    in D : f64[m, m];
    in c : f64[m];
    out y : f64[n, m];
    out z : f64[n];
    y = Sparse_matvec(PHI, D, c);
    reduce z[PHI.voxel[k]] += PHI.value[k] for k in 0..p;
    schedule {{ {items} }}
}}

pipeline x_next {{
    param n;
    out y : f64[n];
    y[i] = i for i in 0..n;
}}
"""
BLOCKS = [
    "renumber PHI by voxel;",
    "renumber PHI by voxel; tile y (2);",
    "layout y, y : flat;",
    "tile y (2); layout y, y : flat; accumulate z : f64;",
]


def is_run(folder, items):
    path = Path(folder)/"items.pmg"
    path.write_text(PROGRAM.format(items=items))
    run = subprocess.run([TEST, path, "1-2", "0"], capture_output=True, text=True, check=False)
    return run.returncode == 0 and "\n0 passed" not in "\n" + run.stdout


def main():
    with tempfile.TemporaryDirectory(prefix="pmg-refused-") as folder:
        failed = [items for items in BLOCKS if not is_run(folder, items)]
    for items in failed:
        print("does not run without the items that are refused:", items)
    print(f"{len(BLOCKS) - len(failed)} passed, {len(failed)} failed")
    return len(failed) > 0


sys.exit(main())
