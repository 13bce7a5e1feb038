#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The shrinker, on kernels that are made wrong on purpose: what it leaves is small, still has what matters, fails in
the same way, and the command it prints repeats the failure. A right program is left alone. PMG_TEST_LONG makes more
kernels wrong."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PYTHON = os.environ.get("PYTHON", "python3")
SEED = "3"
RESULTS = {"passed": 0, "failed": 0}


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print("does not hold:", what)


def generated(wanted, folder):
    """A random program of several statements with the wanted text in it."""
    for number in range(200):
        text = subprocess.run([PYTHON, "tests/random/generate.py", SEED, "1", str(number)], check=True,
                              capture_output=True, text=True).stdout
        if re.search(wanted, text) and text.count(";") > 12:
            path = Path(folder) / f"planted{number}.pmg"
            path.write_text(text)
            yield path
    raise SystemExit(f"no program has {wanted}")


def shrunk(path, plant, variant):
    return subprocess.run([PYTHON, "tests/random/shrink.py", str(path), "1-12", variant], text=True,
                          env=dict(os.environ, PMG_TEST_PLANT=plant), capture_output=True, check=False).stdout


def check_plant(name, wanted, plant, most_statements, status, variant="0"):
    with tempfile.TemporaryDirectory(prefix="pmg-shrink-test-") as folder:
        for path in generated(wanted, folder):      # the first in which the plant changes what is computed
            said = shrunk(path, plant, variant)
            if "does not fail" not in said:
                break
        n_before = path.read_text().count(";")
    text = said.partition("pipeline")[2].partition("\n}\n")[0]
    statements = [row for row in text.splitlines() if re.search(r"=", row) and "param" not in row]
    check(f"# status {status}," in said, f"{name}: fails in the same way: {said}")
    check(re.search(wanted, text), f"{name}: what matters is left: {said}")
    check(len(statements) <= most_statements and 2*text.count(";") < n_before, f"{name}: small: {said}")
    command = said.strip().splitlines()[-1].split()
    again = subprocess.run(command, env=dict(os.environ, PMG_TEST_PLANT=plant), capture_output=True, check=False)
    right = subprocess.run(command, capture_output=True, check=False)
    check(again.returncode == status and right.returncode == 0, f"{name}: {command} repeats it")
    if len(command) == 4 and command[1].endswith(".pmg"):
        Path(command[1]).unlink(missing_ok=True)


def main():
    check_plant("wrong values", r"\bmin(=|\()", r"s/pmg_min_f64\(/pmg_max_f64(/g", 1, 1)
    if os.environ.get("PMG_TEST_LONG"):
        check_plant("wrong subscript", r"children", r"s/(children\w*)\[(\w+)\]/\1[\2]*0/g", 1, 1)
        check_plant("bad C", r"floor", r"s/\bfloor\(/missing(/g", 2, 3)
        check_plant("crash", r"Sparse_matvec", r"s/^(\t+)(.*PHI\w*_atom\[)/\1__builtin_trap(); \2/", 2, -4, "1")
    with tempfile.TemporaryDirectory(prefix="pmg-shrink-test-") as folder:
        check("does not fail" in shrunk(next(generated(r"\bmin(=|\()", folder)), "", "0"),
              "a right program is left alone")
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return RESULTS["failed"] != 0


sys.exit(main())
