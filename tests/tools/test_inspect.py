#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pmg inspect` of files that only steps read was refused as an unknown format: streamlines, scans, gradient tables,
shapes of neurons, systems of cells. What it tells of each, and that it refuses what the steps refuse.
Its C is not optimised."""
import os
import sys
import tempfile
import zipfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent/"life"))
from scans import PMG, RESULTS, Scan, check, close, trk_bytes  # pylint: disable=wrong-import-position
import subprocess  # pylint: disable=wrong-import-position,wrong-import-order

SWC = """1 1 0 0 0 5 -1
2 3 10 0 0 1 1
3 3 20 0 0 0.5 2
4 4 10 5 0 2 2
5 9 -7 0 0 1 1
"""


def inspect(path):
    run = subprocess.run([PMG, "inspect", str(path)], capture_output=True, text=True, check=False)
    return run.returncode, run.stdout, run.stderr


def tells(path, *lines):
    status, out, error = inspect(path)
    check(status == 0 and out.startswith(f"{path}: "), f"{path}: {status} {error}")
    for line in lines:
        check(line in out, f"{path}: no '{line}' in {out}")


def refuses(path, text, content):
    path.write_bytes(content)
    status, out, error = inspect(path)
    check(status == 3 and not out and text in error, f"{path}: {status} {out}{error}")


def scans(folder):
    scan = Scan(folder)
    points = sum(len(line) for line in scan.lines)
    tells(scan.path("scan.tck"), f"  40 streamlines of 15 to 15 points, {points} in all\n", "scanner's space (RAS)")
    tells(scan.path("scan.nii.gz"), "  22 volumes\n", "  voxels 8 x 8 x 8 of 2 x 2 x 2 mm, axes to ALS\n")
    tells(scan.path("scan.bval"), "  22 volumes, b from 0 to 1000 s/mm^2, 2 of them up to 20\n")
    tells(scan.path("scan.bvec"), "  22 volumes, lengths from 1 to 1, a row for each axis\n")
    lines = [np.array([[0, 0, 0], [1, 2, 3]]), np.array([[4, 4, 4.0]])]
    scan.path("few.trk").write_bytes(trk_bytes(lines, n_scalars=1))
    tells(scan.path("few.trk"), "  2 streamlines of 1 to 2 points, 3 in all; with values",
          "from (0, 0, 0) to (4, 4, 4) mm",
          "  voxels 8 x 8 x 8 of 1 x 1 x 1 mm, axes to RAS\n")
    with zipfile.ZipFile(scan.path("few.trx"), "w") as archive:
        archive.writestr("header.json", '{"DIMENSIONS": [8, 8, 8], "NB_STREAMLINES": 2, "NB_VERTICES": 3, '
                         '"VOXEL_TO_RASMM": [[1,0,0,0],[0,1,0,0],[0,0,1,0],[0,0,0,1]]}')
        archive.writestr("positions.3.float32", np.concatenate(lines).astype("<f4").tobytes())
        archive.writestr("offsets.uint32", np.array([0, 2, 3], "<u4").tobytes())
    tells(scan.path("few.trx"), "  2 streamlines of 1 to 2 points, 3 in all\n")
    refuses(scan.path("bad.tck"), "bad.tck", b"mrtrix tracks\n")
    refuses(scan.path("bad.bvec"), "three numbers for each volume are needed", b"1 2\n3 4\n")
    refuses(scan.path("bad.nii"), "bad.nii", b"no scan")


def cells(folder):
    Path(folder, "one.swc").write_text(SWC)
    tells(Path(folder, "one.swc"), "  5 points: 1 soma, 2 basal dendrite, 1 apical dendrite, 1 of other types\n",
          "  from (-7, 0, 0) to (20, 5, 0) um\n", "  radii from 0.5 to 5 um\n",
          "  1 root, 5 branches, 2 forks, 3 ends\n")
    Path(folder, "one.hines.tsv").write_text("0 -1 0 0 1 1\n1 0 1 1 4 1\n2 1 1 1 4 1\n")
    tells(Path(folder, "one.hines.tsv"), "  3 nodes\n", "  1 root, 1 branches, 0 forks, 1 ends\n")
    refuses(Path(folder, "bad.swc"), "bad.swc:2: ", b"1 1 0 0 0 1 -1\n2 3 x\n")
    refuses(Path(folder, "1_2.dat"), "1_2.dat", b"9.9\n")


def main():
    with tempfile.TemporaryDirectory() as folder:
        scans(folder)
        cells(folder)
    help_text = subprocess.run([PMG, "inspect", "--help"], capture_output=True, text=True, check=False).stdout
    check(all(suffix in help_text for suffix in (".trx", ".nii.gz", ".bvec", ".swc", "_2.dat")), help_text)
    return close()


if __name__ == "__main__":
    os.environ.pop("PMG_TEST_DATA", None)
    assert RESULTS
    raise SystemExit(main())
