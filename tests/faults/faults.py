# SPDX-License-Identifier: MIT
"""What the tests of failing calls share: the shim, commands that run under it, and folders before and after."""
import os
import subprocess
from pathlib import Path

BUILD = Path(os.environ.get("BUILD", "build")).resolve()
PMG = str(Path(os.environ.get("PMG") or BUILD / "pmg").resolve())
PMGC = str(Path(os.environ.get("PMGC") or BUILD / "pmgc").resolve())
FAILED_IO, NO_RESOURCES = 4, 5      # exit statuses
RESULTS = {"passed": 0, "failed": 0}


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print("does not hold:", what)


def closing_line():
    skipped = f", {RESULTS['skipped']} skipped" if "skipped" in RESULTS else ""
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed{skipped}")
    return RESULTS["failed"] != 0


def state(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def restore(folder, old):
    for path in folder.iterdir():
        path.unlink()
    for name, data in old.items():
        (folder / name).write_bytes(data)


def run(command, folder, **env):
    return subprocess.run(command, cwd=folder, env=dict(os.environ, **env), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", check=False)


def sanitizer():
    """What must be loaded before the shim where the programs are built with a sanitizer."""
    libraries = subprocess.run(["ldd", PMGC], capture_output=True, text=True, check=True).stdout.split()
    return [word for word in libraries if word.startswith("/") and "libasan" in word]


class Shim:
    """preload/shim.c as a library in `folder`."""

    def __init__(self, folder):
        self.library, self.log, self.count = folder / "shim.so", folder / "log", folder / "count"
        subprocess.run([os.environ.get("CC", "gcc"), "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-fPIC", "-shared",
                        str(Path(__file__).with_name("preload") / "shim.c"), "-ldl", "-o", str(self.library)],
                       check=True)
        self.preload = " ".join([*sanitizer(), str(self.library)])

    def run(self, command, folder, kind, at, **env):
        """What the command did, and the call that failed; None: there is no call of that number."""
        self.log.unlink(missing_ok=True)
        self.count.unlink(missing_ok=True)
        done = run(command, folder, LD_PRELOAD=self.preload, FAULT_KIND=kind, FAULT_AT=str(at),
                   FAULT_LOG=str(self.log), FAULT_COUNT=str(self.count), **env)
        return done, self.log.read_text().strip() if self.log.exists() else None

    def calls(self, command, folder, kind, **env):
        """How many calls of that kind the command makes, and what it does when all of them succeed."""
        done, _ = self.run(command, folder, kind, 0, **env)
        return self.count.stat().st_size if self.count.exists() else 0, done
