# SPDX-License-Identifier: MIT
"""Runs the tests that are built in a folder with gcc's --coverage, and tells which lines of compiler and runtime they
reach, by folder: coverage.py BUILD. BUILD/uncovered lists what they do not, a row for each file.

Whether the tests pass is not asked here: some count calls of the system, and the counts of lines are written by such
calls. Processes that end without exit (batches of random programs, readers of HDF5) leave no counts.
"""
import json
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

PARTS = ["compiler", "runtime"]
LEAST = 95.0    # of a hundred lines


def run_tests(build):
    for path in build.rglob("*.gcda"):
        path.unlink()
    done = subprocess.run([sys.executable, "tests/lanes/unit.py", str(build)], capture_output=True, text=True,
                          check=False)
    print("tests:", (done.stdout.splitlines() or [done.stderr])[-1])


def measured(build):
    """File -> (lines that run, lines that do not)."""
    command = ["gcovr", "--root", ".", "--json", "-", *(f"--filter={part}/" for part in PARTS), str(build / "obj")]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return {file["file"]: tuple([row["line_number"] for row in file["lines"]
                                 if not row.get("gcovr/noncode") and (row["count"] > 0) == is_run]
                                for is_run in (True, False)) for file in told["files"]}


def ranges(numbers):
    rows = []
    for number in numbers:
        if rows and number == rows[-1][1] + 1:
            rows[-1][1] = number
        else:
            rows.append([number, number])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in rows)


def main():
    build = Path(sys.argv[1])
    run_tests(build)
    files = measured(build)
    folders = defaultdict(lambda: [0, 0])
    for name, counts in files.items():
        for i, lines in enumerate(counts):
            folders[str(Path(name).parent)][i] += len(lines)
            folders[Path(name).parts[0]][i] += name.count("/") > 1 and len(lines)
            folders["all"][i] += len(lines)
    for folder, (run, missed) in sorted(folders.items()):
        print(f"{folder:24} {run:6} of {run + missed:6} lines  {100*run/(run + missed):5.1f} %")
    (build / "uncovered").write_text("".join(f"{name}: {ranges(missed)}\n"
                                             for name, (_, missed) in sorted(files.items()) if missed))
    run, missed = folders["all"]
    return 100*run < LEAST*(run + missed)


sys.exit(main())
