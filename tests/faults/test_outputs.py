#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Outputs that cannot be written: each call that brings a file to disk fails in turn (preload/shim.c), folders that
refuse, a full device, and a disk of 64 KiB. Each time the exit status is that of input/output, what was there before is
there still, to the byte, and nothing half-written is left beside it. Not with counts of lines, which are
written by such calls, too. Its C is not optimised.
With sanitizers only for --long: test_inputs asks the readers."""
import subprocess
import tempfile
from pathlib import Path

import numpy as np

from faults import FAILED_IO, PMG, PMGC, RESULTS, Shim, check, closing_line, restore, run, state

MOST_CALLS = 200
PROGRAM = """pipeline twice {
    param n;
    in  x : f64[n];
    out y, z : f64[n];
    y = 2*x;
    z = x + 1;
}
"""


# ---- Each call in turn ----------------------------------------------------------------------------------------

def fail_each_call(name, command, folder, shim, outputs):
    """Several outputs are written one after the other; each is whole, the old one or the new one."""
    old = state(folder)
    clean = run(command, folder)
    new = state(folder)
    check(clean.returncode == 0 and new != old, f"{name}: {clean.stderr}")
    for at in range(1, MOST_CALLS):
        restore(folder, old)
        done, call = shim.run(command, folder, "output", at)
        if not call:
            check(done.returncode == 0 and state(folder) == new, f"{name}: without a fault: {done.stderr}")
            check(at > 3, f"{name}: only {at - 1} calls")
            return
        what = f"{name}: {call} (call {at}): "
        now = state(folder)
        if done.returncode == 0 and call.startswith("open"):    # HDF5 tries in several ways
            check(now == new, what + "other outputs")
            continue
        check(done.returncode == FAILED_IO, what + f"exit status {done.returncode}, {done.stderr}")
        check(set(now) <= set(old) | set(outputs), what + f"left behind: {sorted(set(now) - set(old))}")
        check(all(now.get(path) in (old.get(path), new.get(path)) for path in {*now, *old}), what + "torn")
        check(any(now.get(path) == old.get(path) for path in outputs), what + "all was written, yet it failed")
        check(done.stderr.strip() != "", what + "says nothing")
    check(False, f"{name}: no end of calls")


def test_calls(root, shim):
    def folder_of(name):
        folder = root / name
        folder.mkdir()
        (folder / "p.pmg").write_text(PROGRAM)
        np.save(folder / "x.npy", np.arange(5000.0))
        return folder

    cases = {
        "pmgc": ([PMGC, "p.pmg", "-o", "q.c"], ["q.c", "q.h"]),
        "run": ([PMG, "run", "p.pmg", "--interp", "x=x.npy", "-o", "y=y.npy", "-o", "z=z.npy"], ["y.npy", "z.npy"]),
        "npy": ([PMG, "convert", "x.npy", "out.npy"], ["out.npy"]),
        "text": ([PMG, "convert", "x.npy", "out.txt"], ["out.txt"]),
        "raw": ([PMG, "convert", "x.npy", "out.f64"], ["out.f64"]),
        "hdf5": ([PMG, "convert", "x.npy", "out.h5:/x"], ["out.h5"]),
    }
    for name, (command, outputs) in cases.items():
        folder = folder_of(name)
        for output in outputs:
            if not output.endswith(".h5"):
                (folder / output).write_text("what was there before\n")
        fail_each_call(name, command, folder, shim, outputs)


# ---- Places that refuse ---------------------------------------------------------------------------------------

def test_places(root):
    folder = root / "places"
    folder.mkdir()
    (folder / "p.pmg").write_text(PROGRAM)
    (folder / "file").write_text("not a folder\n")
    np.save(folder / "x.npy", np.arange(5.0))
    before = state(folder)
    for place in ("missing/", "file/"):
        for command in ([PMGC, "p.pmg", "-o", place + "q.c"], [PMG, "convert", "x.npy", place + "y.npy"],
                        [PMG, "run", "p.pmg", "--interp", "x=x.npy", "-o", f"y={place}y.npy"]):
            done = run(command, folder)
            check(done.returncode == FAILED_IO and done.stderr, f"{command}: {done.returncode} {done.stderr}")
            check(state(folder) == before, f"{command}: left something")
    with open("/dev/full", "w", encoding="ascii") as full:
        done = subprocess.run([PMGC, "p.pmg", "--emit=ir"], cwd=folder, stdout=full, stderr=subprocess.PIPE,
                              check=False)
    check(done.returncode == FAILED_IO, f"pmgc --emit=ir to a full device: {done.returncode}")


# ---- A disk that fills up -------------------------------------------------------------------------------------

def fail_on_full_disk(root, disk):
    """The inputs are elsewhere; what is written does not fit."""
    large = root / "large.npy"
    np.save(large, np.arange(30000.0))
    (root / "p.pmg").write_text(PROGRAM)
    commands = {
        "y.npy": [PMG, "convert", str(large), "y.npy"], "y.txt": [PMG, "convert", str(large), "y.txt"],
        "y.f64": [PMG, "convert", str(large), "y.f64"], "y.h5": [PMG, "convert", str(large), "y.h5:/x"],
        "z.npy": [PMG, "run", str(root / "p.pmg"), "--interp", f"x={large}", "-o", "z=z.npy"],
        "q.c": [PMGC, str(root / "p.pmg"), "-o", "q.c"],
    }
    for output, command in commands.items():
        for path in disk.iterdir():
            path.unlink()
        old = b"what was there before\n"
        if output != "y.h5":
            (disk / output).write_bytes(old)
        if output == "q.c":
            (disk / "fills").write_bytes(bytes(60 << 10))
        before = state(disk)
        done = run(command, disk)
        check(done.returncode == FAILED_IO, f"full disk, {output}: exit status {done.returncode}, {done.stderr}")
        check(output.split(".")[0] in done.stderr, f"full disk, {output}: the message names the file: {done.stderr}")
        check(state(disk) == before, f"full disk, {output}: torn, or left behind: {sorted(state(disk))}")


def test_full_disk(root):
    """On a file system of 64 KiB, where one may be mounted."""
    disk = root / "disk"
    disk.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)], capture_output=True,
                             check=False)
    if mounted.returncode:
        print("a small file system cannot be mounted here: skipped")
        RESULTS["skipped"] = 1
        return
    try:
        fail_on_full_disk(root, disk)
    finally:
        subprocess.run(["umount", str(disk)], check=True)


def main():
    with tempfile.TemporaryDirectory(prefix="pmg-faults-") as name:
        root = Path(name)
        test_calls(root, Shim(root))
        test_places(root)
        test_full_disk(root)
    return closing_line()


raise SystemExit(main())
