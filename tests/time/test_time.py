#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pmgc takes at most 100 ms for each example (1 s with sanitizers): the best of five runs, the process as a whole."""
import os
import subprocess
import sys
import time
from pathlib import Path

PMGC = os.environ.get("PMGC") or str(Path(os.environ.get("BUILD", "build")) / "pmgc")
LIMIT = 1.000 if "-san" in PMGC else 0.100


def seconds(example):
    start = time.perf_counter()
    subprocess.run([PMGC, str(example), "-o", "-"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main():
    passed = failed = 0
    for example in sorted(Path("dsl_examples").glob("*.pmg")):
        best = min(seconds(example) for _ in range(5))
        passed += best <= LIMIT
        failed += best > LIMIT
        if best > LIMIT:
            print(f"{example}: {1e3*best:.0f} ms")
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
