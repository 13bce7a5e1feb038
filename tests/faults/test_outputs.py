#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Outputs that cannot be written: each call that brings a file to disk fails in turn (preload/shim.c), folders that
refuse, a full device, and a disk of 64 KiB. Each time the exit status is that of input/output, what was there before is
there still, to the byte, and nothing half-written is left beside it."""
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

BUILD = Path(os.environ.get("BUILD", "build")).resolve()
PMG = str(Path(os.environ.get("PMG") or BUILD / "pmg").resolve())
PMGC = str(Path(os.environ.get("PMGC") or BUILD / "pmgc").resolve())
FAILED_IO = 4
MOST_CALLS = 200
RESULTS = {"passed": 0, "failed": 0}
PROGRAM = """pipeline twice {
    param n;
    in  x : f64[n];
    out y, z : f64[n];
    y = 2*x;
    z = x + 1;
}
"""


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print("does not hold:", what)


def state(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def run(command, folder, **env):
    return subprocess.run(command, cwd=folder, env=dict(os.environ, **env), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)


def built_shim(folder):
    shim = folder / "shim.so"
    subprocess.run([os.environ.get("CC", "gcc"), "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-fPIC", "-shared",
                    str(Path(__file__).with_name("preload") / "shim.c"), "-ldl", "-o", str(shim)], check=True)
    return shim


def sanitizer():
    """What must be loaded before the shim where the programs are built with a sanitizer."""
    libraries = subprocess.run(["ldd", PMGC], capture_output=True, text=True, check=True).stdout.split()
    return [word for word in libraries if word.startswith("/") and "libasan" in word]


# ---- Each call in turn ----------------------------------------------------------------------------------------

def fail_each_call(name, command, folder, shim, log, outputs):
    """Several outputs are written one after the other; each is whole, the old one or the new one."""
    old = state(folder)
    clean = run(command, folder)
    new = state(folder)
    check(clean.returncode == 0 and new != old, f"{name}: {clean.stderr}")
    preload = " ".join([*sanitizer(), str(shim)])
    for at in range(1, MOST_CALLS):
        for path in folder.iterdir():
            path.unlink()
        for path, data in old.items():
            (folder / path).write_bytes(data)
        log.unlink(missing_ok=True)
        done = run(command, folder, LD_PRELOAD=preload, FAULT_AT=str(at), FAULT_LOG=str(log))
        if not log.exists():
            check(done.returncode == 0 and state(folder) == new, f"{name}: without a fault: {done.stderr}")
            check(at > 3, f"{name}: only {at - 1} calls")
            return
        what = f"{name}: {log.read_text()} (call {at}): "
        now = state(folder)
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

    log = root / "log"
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
        fail_each_call(name, command, folder, shim, log, outputs)


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
        test_calls(root, built_shim(root))
        test_places(root)
        test_full_disk(root)
    skipped = f", {RESULTS['skipped']} skipped" if "skipped" in RESULTS else ""
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed{skipped}")
    return RESULTS["failed"] != 0


raise SystemExit(main())
