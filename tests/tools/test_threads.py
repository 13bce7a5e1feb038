#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Small problems on two threads take at most 1.1 times as long as on one, on an idle machine and on one with a process
that spins on each processor: they run on one in either case. Runs are interleaved, the least of each counts, and where
the machine was in the way, more are made. Not with sanitizers: it is about time. Its C is not optimised."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

BUILD = Path(os.environ.get("BUILD", "build"))
PMG = str((BUILD / "pmg").resolve())
EXAMPLES = Path("dsl_examples").resolve()
STEPS = """pipeline steps {
    param n, nSteps;
    in b : f64[n];
    inout x : f64[n];
    out total : f64[nSteps];
    iterate it in 0..nSteps {
        total[it] = sum(i in 0..n) x[i]*b[i];
        next x[i] = 0.5*x[i] + b[i] for i in 0..n;
    }
}
"""
CASES = {
    "one cell": [str(EXAMPLES / "cable.pmg"), *"nCells=1 n=100 nSteps=4000 dt=0.025 eLeak=-65 T.parent=random:1 cm=1 "
                 "gLeak=0.1 gAxial=1 current=0.1 v=0".split()],
    "short vectors": ["steps.pmg", *"n=200 nSteps=4000 b=random:1 x=random:2".split()],
    "a small picture": [str(EXAMPLES / "blur.pmg"), *"R=16 C=16 img=random:1".split()]
}
MOST, ENOUGH_ROUNDS, MOST_ROUNDS = 1.1, 3, 13
RESULTS = {"passed": 0, "failed": 0}


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what}")


def least(words, threads):
    done = subprocess.run([PMG, "run", *words, "--time", "--repeat=40", f"--threads={threads}"], capture_output=True,
                          text=True, check=False)
    found = re.search(r"least ([0-9.]+)\)", done.stdout)
    return float(found[1]) if found else float("nan")


def compare(name, words, machine):
    """The median of rounds, in which one or two threads come first by turns: clocks change while it runs."""
    ratios = []
    for i in range(MOST_ROUNDS):
        times = {threads: least(words, threads) for threads in ((1, 2) if i % 2 else (2, 1))}
        ratios.append(times[2]/max(times[1], 0.001))
        if i + 1 >= ENOUGH_ROUNDS and median(ratios) <= MOST:
            break
    check(median(ratios) <= MOST, f"{name}, {machine} machine: times of two threads by those of one: {ratios}")


def cases(first):
    """Every second from this one, or all in the long form."""
    return list(CASES.items()) if "PMG_TEST_LONG" in os.environ else list(CASES.items())[first::2]


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ.update(XDG_CACHE_HOME=f"{folder}/cache")
        Path("steps.pmg").write_text(STEPS)
        for name, words in cases(0):
            compare(name, words, "idle")
        spinning = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(os.cpu_count() or 1)]
        for name, words in cases(1):
            compare(name, words, "busy")
        for process in spinning:
            process.kill()
            process.wait()
        os.chdir("/")
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return RESULTS["failed"] != 0


if __name__ == "__main__":
    sys.exit(main())
