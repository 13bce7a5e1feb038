# SPDX-License-Identifier: MIT
"""Runs the tests that are built in a folder with gcc's --coverage, and tells which lines of compiler and runtime they
reach, by folder: coverage.py BUILD [again]; `again` counts what an earlier run left. BUILD/uncovered lists what they do
not reach, a row for each function.

tests/unreached says why not: below each reason the functions that have such lines (`FILE: NAME NAME`), or the text of
such lines wherever they stand (`line PATTERN`). A function without a reason fails; a name all of whose lines are
reached is told, so that it can go.

Tests that say "Not with counts of lines" are left out, and those that fail are only told: the lanes ask whether they
pass. Processes that end without exit (readers of HDF5) leave no counts.
"""
import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

PARTS = ["compiler", "runtime"]
LEAST = 95.0    # of a hundred lines
REASONS = Path("tests/unreached")


def run_tests(build):
    for path in build.rglob("*.gcda"):
        path.unlink()
    done = subprocess.run([sys.executable, "tests/lanes/unit.py", str(build)], capture_output=True, text=True,
                          check=False)
    print("tests:", (done.stdout.splitlines() or [done.stderr])[-1])


def measured(build):
    """File -> (lines that run, lines that do not, starts of functions)."""
    # gcov counts calls that fork or jump away as returning less than never, which gcovr takes for an error
    command = ["gcovr", "--root", ".", "--json", "-", "--gcov-ignore-parse-errors",
               *(f"--filter={part}/" for part in PARTS), str(build / "obj")]
    told = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    return {file["file"]: (*([row["line_number"] for row in file["lines"]
                              if not row.get("gcovr/noncode") and (row["count"] > 0) == is_run]
                             for is_run in (True, False)),
                           sorted((f["lineno"], f["name"]) for f in file["functions"])) for file in told["files"]}


def ranges(numbers):
    rows = []
    for number in numbers:
        if rows and number == rows[-1][1] + 1:
            rows[-1][1] = number
        else:
            rows.append([number, number])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in rows)


def by_function(missed, starts):
    """Name of each function with lines that do not run -> these lines."""
    found = defaultdict(list)
    for line in missed:
        found[next((name for start, name in reversed(starts) if start <= line), "-")].append(line)
    return found


def reasons():
    """(file, function) that may have such lines, and the patterns of lines that may be anywhere."""
    functions, patterns = set(), []
    for row in REASONS.read_text().splitlines():
        if row.startswith("line "):
            patterns.append(re.compile(row[len("line "):]))
        elif row and not row.startswith("#"):
            name, listed = row.split(": ")
            functions.update((name, function) for function in listed.split())
    return functions, patterns


def judged(files):
    """Rows of functions with lines that no test reaches, and names that tests/unreached has in vain."""
    functions, patterns = reasons()
    rows, used = [], set()
    for name, (_, missed, starts) in sorted(files.items()):
        text = Path(name).read_text().splitlines()
        for function, lines in by_function(missed, starts).items():
            used.add((name, function))
            is_known = (name, function) in functions or all(
                any(p.search(text[line - 1]) for p in patterns) for line in lines)
            rows.append(f"{name}: {function}: {ranges(lines)}" + ("" if is_known else "   no reason"))
    return rows, [f"{name}: {function}: reached by now" for name, function in sorted(functions - used)]


def show_folders(files):
    """Prints a row for each folder; whether there is enough in all."""
    folders = defaultdict(lambda: [0, 0])
    for name, counts in files.items():
        for i in range(2):
            folders[str(Path(name).parent)][i] += len(counts[i])
            folders[Path(name).parts[0]][i] += name.count("/") > 1 and len(counts[i])
            folders["all"][i] += len(counts[i])
    for folder, (run, missed) in sorted(folders.items()):
        print(f"{folder:24} {run:6} of {run + missed:6} lines  {100*run/(run + missed):5.1f} %")
    run, missed = folders["all"]
    return 100*run >= LEAST*(run + missed)


def main():
    build = Path(sys.argv[1])
    if "again" not in sys.argv[2:]:
        run_tests(build)
    files = measured(build)
    rows, in_vain = judged(files)
    (build / "uncovered").write_text("".join(row + "\n" for row in rows))
    print("".join(row + "\n" for row in in_vain), end="")
    is_enough = show_folders(files)
    without = [row for row in rows if row.endswith("no reason")]
    print("".join(row + "\n" for row in without), end="")
    print(f"{len(rows)} functions have lines that are not reached, {len(without)} of them for no reason that "
          f"{REASONS} gives; {build}/uncovered")
    return not is_enough or bool(without)


sys.exit(main())
