#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Weights that settle at zero, shrink and come back in a loop: with points of zero weight left out, all outputs are
those with all points, to the bit, also where atoms are kept as offsets, and those of the interpreter within the bound.
Not with sanitizers. Its C is not optimised."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

ROOT = Path(__file__).resolve().parents[2]
PMG = Path(os.environ.get("BUILD", "build")).resolve() / "pmg"
FIRST = "--candidates=1"        # which leaves them out
PROGRAM = """pipeline settling {
    param nAtoms, nVoxels, nFibers, nTheta, nCoeffs, n;
    fixed in PHI : PHI_Tensor<f64>(nCoeffs; atom < nAtoms, voxel < nVoxels, fiber < nFibers);
    fixed in D   : f64[nAtoms, nTheta];
    in  w0    : f64[nFibers];
    out w     : f64[nFibers];
    out total : f64[nVoxels, nTheta];
    state v   : f64[nFibers] = w0;

    iterate it in 0..n {
        temp Y : f64[nVoxels, nTheta] = Sparse_matvec(PHI, D, v);
        temp g : f64[nFibers] = Sparse_matvec(transpose(PHI), D, Y);
        reduce total[i, t] += Y[i, t] for i in 0..nVoxels, t in 0..nTheta;
        next v[f] = case {
            it == 12 and f % 5 == 0 : 1;
            it < 5 and f % 3 > 0    : 0;
            it > 15 and f % 9 > 0   : 0;
            else : v[f] + 1e-12*g[f];
        } for f in 0..nFibers;
    }
    w = v;
}
"""


def run(*options):
    done = subprocess.run([PMG, "run", "settling.pmg", "PHI=p.h5:/PHI", "D=p.h5:/D", "w0=w0.npy", "n=18",
                           "-o", "total=total.npy", "-o", "w=w.npy", "--force", "--threads=2", *options],
                          capture_output=True, text=True, check=False)
    if done.returncode:
        sys.exit(done.stderr)
    return [Path(name).read_bytes() for name in ("total.npy", "w.npy")]


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("settling.pmg").write_text(PROGRAM)
        subprocess.run([PMG, "phantom", "life", "--scale=0.006", "--grid=8", "--ntheta=3", "-o", "p.h5"], check=True,
                       capture_output=True)
        with h5py.File("p.h5") as file:
            phi = file["PHI"].attrs
            np.save("w0.npy", np.random.default_rng(1).random(phi["nFibers"]) + 0.1)
            enough = phi["nCoeffs"] > 2**15
        for restructure in ("hybrid(voxel, atom)", "voxel"):
            items = f"restructure Y by {restructure}"
            all_points = run(f"--with={items}; live Y : off", FIRST)
            for more in ("", "; premultiply PHI by atom"):
                same = run(f"--with={items}{more}", FIRST) == all_points
                passed, failed = passed + same, failed + (not same)
        run("--compare")
        passed, failed = passed + enough, failed + (not enough)
        os.chdir(ROOT)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


if __name__ == "__main__":
    sys.exit(main())
