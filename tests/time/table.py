#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The table of docs/bench.md of what compiling takes, in processor time: of each example with one candidate and with
all, and of chains of stages with one candidate. The least of some runs.

    tests/time/table.py [RUNS]      (5)"""
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

import chains

PMGC = os.environ.get("PMGC") or str(Path(os.environ.get("BUILD", "build")) / "pmgc")
RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 5
LARGE = {"500 pointwise stages": chains.points(500), "500 stencils with borders": chains.stencils(500),
         "500 statements": chains.statements(500), "150 sizes": chains.statements(150, True)}
EXAMPLES = [*sorted(Path("dsl_examples").glob("*.pmg")), Path("tests/programs/neuron_step.pmg")]


def spent():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def milliseconds(path, *options):
    def once():
        start = spent()
        subprocess.run([PMGC, str(path), *options, "-o", "-"], stdout=subprocess.DEVNULL, check=True)
        return spent() - start
    return f"{1e3 * min(once() for _ in range(RUNS)):.0f}"


def main():
    print("| program | one candidate, ms | all, ms |\n| --- | --- | --- |")
    for path in EXAMPLES:
        print(f"| `{path.stem}` | {milliseconds(path, '--candidates=1')} | {milliseconds(path)} |", flush=True)
    with tempfile.TemporaryDirectory(prefix="pmg-time-") as folder:
        for name, text in LARGE.items():
            path = Path(folder) / "large.pmg"
            path.write_text(text)
            print(f"| {name} | {milliseconds(path, '--candidates=1')} | |", flush=True)


main()
