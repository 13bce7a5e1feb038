# SPDX-License-Identifier: MIT
"""pmgc as the tests of this folder run it, and what they count."""
import difflib
import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = ROOT / os.environ.get("BUILD", "build")
PMGC = Path(os.environ.get("PMGC") or BUILD / "pmgc").resolve()
SHOWN = 20      # lines of a difference
IS_SANITIZED = "san" in BUILD.name


def pmgc(*arguments, folder=ROOT, **more):
    return subprocess.run([PMGC, *arguments], cwd=folder, capture_output=True, stdin=subprocess.DEVNULL, timeout=60,
                          **more)


def help_rows(part):
    """Names in one part of --help-passes: the passes, then behind an empty line and a title the lowerings."""
    return [row.split()[0] for row in pmgc("--help-passes").stdout.decode().split("\n\n")[part].splitlines()]


def passes():
    return help_rows(0)


def lowerings():
    return help_rows(1)[1:]


def messages(program, *options, folder=ROOT):
    """The diagnostics of a program, as objects."""
    done = pmgc(program, "-o", "-", "--message-format=json", *options, folder=folder)
    try:
        return [json.loads(row) for row in done.stderr.decode().splitlines()]
    except json.JSONDecodeError:
        sys.exit(f"{program}: no messages in JSON, but, with status {done.returncode}:\n{done.stderr.decode()}")


class Count:
    """One test a call; `complaint` is empty when it passed."""

    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def __call__(self, what, complaint):
        self.passed += not complaint
        self.failed += bool(complaint)
        if complaint:
            print(f"{what}: {complaint}")

    def equal(self, what, got, expected):
        if got == expected:
            return self(what, "")
        rows = [v.splitlines() if isinstance(v, str) else [repr(v)] for v in (expected, got)]
        return self(what, "\n".join(list(difflib.unified_diff(*rows, "expected", "got", lineterm="", n=1))[:SHOWN]))

    def close(self):
        print(f"{self.passed} passed, {self.failed} failed" + (f", {self.skipped} skipped" if self.skipped else ""))
        return int(self.failed > 0)
