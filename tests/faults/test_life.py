#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls that fail in the steps of `pmg life`, in runs that leave states or go on from them, and where .npz and .mat are
read, one after the other: those that bring inputs, those for memory, and those that bring outputs to disk. Each time
there is a message with a reason and the exit status that goes with it, and each file is the one that was there before,
or a new one as a whole. Where the command succeeds all the same, its files are the usual ones.

PMG_TEST_LONG takes every call; otherwise some of each command, evenly. Not with counts of lines, which are written by
such calls, too. Its C is not optimised.
With sanitizers only for --long: test_inputs asks the readers."""
import sys
from pathlib import Path

import numpy as np
import scipy.io
import scipy.sparse

from faults import PMG, check, compiler, fail_commands, run

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "life"))
import problems     # noqa: E402  pylint: disable=wrong-import-position
import scans        # noqa: E402  pylint: disable=wrong-import-position

STEPS = """pipeline steps {
    param n, last;
    in    x : f64[n];
    inout u : f64[n];
    out   total : f64;
    state s : f64 = 0;
    iterate it in 0..last {
        next u[i] = 0.5*u[i] + x[i] for i in 0..n;
        next s = s + sum(i in 0..n) u[i];
    }
    total = s;
}
"""
FIT = [PMG, "life", "fit", "p.h5", "--threads=1"]


def prepare(root):
    """The folder of the commands, with what each of them reads."""
    folder = root / "work"
    folder.mkdir()
    scan, problem = scans.Scan(folder), problems.Problem(3, n=60, voxels=5)
    problems.write(folder / "p.h5", problem)
    (folder / "steps.pmg").write_text(STEPS)
    np.save(folder / "w.npy", np.arange(float(problem.n_fibers)))
    np.save(folder / "x.npy", np.arange(7.0))
    np.save(folder / "ones.npy", np.arange(len(scan.lines)) % 2.0)
    np.savez_compressed(folder / "arrays.npz", x=np.arange(9.0), other=np.eye(3))
    scipy.sparse.save_npz(folder / "sparse.npz", scipy.sparse.eye(5, format="csr"))
    scipy.io.savemat(folder / "arrays.mat", {"x": np.arange(9.0), "s": {"y": np.eye(3)}}, do_compression=True)
    lists = {"atoms": problem.atom, "voxels": problem.voxel, "fibers": problem.fiber, "vals": problem.value}
    np.savez(folder / "lists.npz", D=problem.D, y=problem.b, **lists)
    scipy.io.savemat(folder / "lists.mat", {"D": problem.D, "y": problem.b, **lists})
    for name, data in ("lines.trk", scans.trk_bytes(scan.lines[:9])), ("lines.tck", scans.tck_bytes(scan.lines[:9])):
        (folder / name).write_bytes(data)
    np.savetxt(folder / "nine.txt", np.arange(9) % 2)
    np.savetxt(folder / "ones9.txt", np.ones(9))
    made = run([PMG, "life", "export", "ones9.txt", "--tracks=lines.tck", "--pruned=lines.trx"], folder)
    check(made.returncode == 0, made.stderr)
    return folder


def commands(root, folder):
    """Name -> command, and the files that it makes."""
    steps = [PMG, "run", "steps.pmg", "n=7", "last=9", "x=x.npy", "u=x.npy", "--threads=1"]
    steps += compiler(root, folder, "steps.pmg", steps[3:])
    life = [PMG, "life"]
    export = [*life, "export", "nine.txt"]
    fit = [*FIT, "--state=f.state"]
    for before in ([*steps, "--iterations=4", "--state=s.state"], [*fit, "--iterations=2", "-o", "v.npy"]):
        made = run(before, folder)
        check(made.returncode == 0, made.stderr)
    return {
        "state": ([*steps, "--iterations=5", "--state=s.state"], ["s.state"]),
        "resume": ([*steps, "--resume=s.state", "-o", "u=u.npy", "-o", "total=total.txt"], ["u.npy", "total.txt"]),
        "encode": ([*life, "encode", "--tracks=scan.tck", "--dwi=scan.nii.gz", "--bvals=scan.bval",
                    "--bvecs=scan.bvec", "--sphere=sphere.npy", "-o", "e.h5"], ["e.h5"]),
        "fit": ([*fit, "--iterations=3", "-o", "v.npy"], ["v.npy", "f.state"]),
        "fit on": ([*fit, "--iterations=4", "--resume=f.state", "-o", "p.h5:/v"], ["p.h5", "f.state"]),
        "predict": ([*life, "predict", "p.h5", "w.npy", "-o", "p.h5:/prediction"], ["p.h5"]),
        "evaluate": ([*life, "evaluate", "p.h5", "w.npy", "--voxels=rmse.txt"], ["rmse.txt"]),
        "export": ([*export, "-o", "nine.h5:/w", "--tracks=lines.tck", "--pruned=few.tck"], ["nine.h5", "few.tck"]),
        "trk": ([*export, "--tracks=lines.trk", "--pruned=few.trk"], ["few.trk"]),
        "trx": ([*export, "--tracks=lines.trx", "--pruned=few.trx"], ["few.trx"]),
        "import npz": ([*life, "import", "lists.npz", "-o", "i.h5"], ["i.h5"]),
        "import mat": ([*life, "import", "lists.mat", "-o", "i.h5"], ["i.h5"]),
        "npz": ([PMG, "convert", "arrays.npz:x", "o.npy"], ["o.npy"]),
        "npz sparse": ([PMG, "convert", "sparse.npz", "o.tns"], ["o.tns"]),
        "mat": ([PMG, "convert", "arrays.mat:/s/y", "o.npy"], ["o.npy"]),
    }


def check_success(what, _call, _done, _clean, _old, new, now, _kind):
    check(now == new, what + f"other files: {sorted(path for path in {*now, *new} if now.get(path) != new.get(path))}")


raise SystemExit(fail_commands(prepare, commands, 1, ("input", "memory", "output"), check_success))
