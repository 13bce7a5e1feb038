#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Calls that fail where pmg and pmgc read, load and run, one after the other: those that bring inputs ("input":
opening, reading, pipes and processes, loading a library) and those for memory ("memory"), by preload/shim.c. Each time
there is a message with a reason; the exit status is that of input/output or of memory; what was there before is there
still, to the byte, with nothing beside it. Where the command succeeds all the same, its outputs are the usual ones; of
inputs that may be so where a call only asks about a file that is opened later, where HDF5 reads again, and for wisdom,
which is left alone with a note.

PMG_TEST_LONG takes every call; otherwise some of each command, evenly. Not with counts of lines, which are written by
such calls, too. Its C is not optimised."""

import h5py
import numpy as np

from faults import PMG, PMGC, check, compiler, fail_commands

PROGRAM = """include "factor.pmg";

pipeline twice {
    param n;
    in  x : f64[n];
    out y, z : f64[n];
    y = factor*x;
    z = x + 1;
}
"""
SPARSE = """pipeline product {
    param nRows, nCols, nnz;
    fixed in A : PHI_Tensor<f64>(nnz; row < nRows, col < nCols);
    in  x : f64[nCols];
    out y : f64[nRows];
    y = Sparse_matvec(A, x);
}
"""


def prepare(root):
    """The folder of the commands, with a program and its data in every format."""
    folder = root / "work"
    folder.mkdir()
    x, (rows, cols) = np.arange(300.0), np.divmod(np.arange(0, 900, 7), 30)
    (folder / "p.pmg").write_text(PROGRAM)
    (folder / "factor.pmg").write_text("const factor = 2.0;\n")
    (folder / "s.pmg").write_text(SPARSE)
    np.save(folder / "x.npy", x)
    np.save(folder / "half.npy", np.asfortranarray(x.reshape(30, 10).astype(">f2")))
    np.savetxt(folder / "x.txt", x)
    x.tofile(folder / "x.f64")
    np.savetxt(folder / "A.tsv.gz", np.column_stack([rows, cols, x[rows]]), fmt="%d %d %g")
    (folder / "A.mtx").write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1.5\n3 3 2\n")
    with h5py.File(folder / "d.h5", "w") as file:
        file["x"] = x
        for name, data in {"row": rows, "col": cols, "value": x[rows]}.items():
            file["A/" + name] = data
    return folder


def commands(root, folder):
    """Name -> command, and the files that it makes."""
    tall = compiler(root, folder, "p.pmg", ["x=x.npy"])
    sparse = compiler(root, folder, "s.pmg", ["A=A.tsv.gz", "x=1", "nRows=30", "nCols=30"])
    (folder / "wisdom").write_text("pmg wisdom 1\nanother\tchoice\t17\n")
    interp = [PMG, "run", "p.pmg", "--interp", "-o", "y=y.npy"]
    return {
        "pmgc": ([PMGC, "p.pmg", "-o", "q.c"], ["q.c", "q.h"]),
        "npy": ([*interp, "x=x.npy"], ["y.npy"]),
        "text": ([*interp, "x=x.txt"], ["y.npy"]),
        "raw": ([*interp, "x=x.f64"], ["y.npy"]),
        "hdf5": ([*interp, "x=d.h5:/x"], ["y.npy"]),
        "columns": ([PMG, "convert", "half.npy", "h.npy"], ["h.npy"]),
        "tsv": ([PMG, "convert", "A.tsv.gz", "B.tns", "--modes", "row,col"], ["B.tns"]),
        "mtx": ([PMG, "convert", "A.mtx", "B.tns"], ["B.tns"]),
        "group": ([PMG, "convert", "d.h5:/A", "d.h5:/B", "--modes", "row,col"], ["d.h5"]),
        "inspect": ([PMG, "inspect", "d.h5", "A.mtx", "x.npy", "p.pmg"], []),
        "library": ([PMG, "run", "p.pmg", "x=x.npy", "-o", "y=y.npy", *tall], ["y.npy"]),
        "plan": ([PMG, "run", "s.pmg", "A=A.tsv.gz", "x=1", "nRows=30", "nCols=30", "-o", "y=y.npy", *sparse],
                 ["y.npy"]),
        "wisdom": ([PMG, "run", "p.pmg", "x=x.npy", "--tune=measure", "--wisdom=wisdom", "-o", "y=y.npy", *tall],
                   ["y.npy", "wisdom"]),
    }


def without_wisdom(files):
    return {path: data for path, data in files.items() if path != "wisdom"}


def check_success(what, call, done, clean, old, new, now, kind):
    """Despite a fault."""
    check(without_wisdom(now) == without_wisdom(new), what + "other outputs")
    check(done.stdout == clean.stdout or "wisdom" in now, what + "says something else")     # it tells times
    check(b"another\tchoice\t17\n" in now.get("wisdom", b"another\tchoice\t17\n"), what + "wisdom is lost")
    if kind == "input" and call.split()[0] not in ("stat", "pread"):
        check(now.get("wisdom") == old.get("wisdom") and "is left alone" in done.stderr, what + "is not noticed")


raise SystemExit(fail_commands(prepare, commands, 2, ("input", "memory"), check_success))
