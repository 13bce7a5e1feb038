#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A loop that stays serial, and one that is not fused with what feeds it, is told with a pair of iterations.
Not with sanitizers."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PMGC = str(Path(os.environ.get("PMGC") or Path(os.environ.get("BUILD", "build")) / "pmgc").resolve())
RESULTS = {"passed": 0, "failed": 0}
SERIAL, UNFUSED = "PMG0701", "PMG0703"


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what}")


def remarks(program, folder, *options):
    done = subprocess.run([PMGC, program, "-o", f"{folder}/o.c", "--candidates=1", "--remarks", "--message-format=json",
                           *options], capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"{program}: {done.stderr[:300]}")
    lines = [json.loads(line) for line in done.stderr.splitlines()]
    return [line for line in lines if line.get("code") in (SERIAL, UNFUSED)]


def main():
    reasons = set()
    with tempfile.TemporaryDirectory() as folder:
        for program in sorted(Path("dsl_examples").glob("*.pmg")):
            for options in [[], ["--deterministic=on"]] if program.stem == "histogram" else [[]]:
                for remark in remarks(program, folder, *options):
                    check(any(" -> " in label["message"] for label in remark["labels"]),
                          f"{program} {options}: {remark['message']}")
                    reasons.add(remark["message"].rpartition(": ")[2])
    for reason in ("it carries a dependence", "an iteration needs another one",
                   "a minimum or maximum that lets NaN through is computed in order",
                   "threads would add in any order", "it runs over the children of one node",
                   "their innermost loops have other ranges"):
        check(reason in reasons, f"some remark says that {reason}: {sorted(reasons)}")
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return 1 if RESULTS["failed"] else 0


sys.exit(main())
