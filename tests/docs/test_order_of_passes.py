#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A pass or a lowering that is moved before one that it must follow: its table does not compile, and the message names
both and says why.
Not with sanitizers: nothing of ours runs."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Word of a message, table, the source that reads it.
TABLES = [("pass", Path("passes/passes.def"), Path("passes/passes.c")),
          ("lowering", Path("kernel/lower/lowerings.def"), Path("kernel/lower/lowerings.c"))]
ROW = re.compile(r"^(?:PASS|LOWERING)\((\w+),.*?\)\n(?=PASS|LOWERING|AFTER|\Z)", re.M | re.S)
ORDER = re.compile(r'^AFTER\((\w+), (\w+), "(.*)"\)$', re.M)


def moved(text, name, before):
    """The table with the row of a pass in front of another one's; the rows AFTER stay."""
    rows = {row.group(1): row.group(0) for row in ROW.finditer(text)}
    return text.replace(rows[name], "").replace(rows[before], rows[name] + rows[before])


def complaints(folder, table, source, text):
    (folder / table).parent.mkdir(parents=True, exist_ok=True)
    (folder / table).write_text(text)
    isl = subprocess.run(["pkg-config", "--cflags", "isl"], check=True, stdout=subprocess.PIPE, text=True)
    copy = folder / source.name
    copy.write_text(("compiler" / source).read_text())
    cc = os.environ.get("CC", "gcc").split()
    run = subprocess.run([*cc, "-std=c11", "-D_GNU_SOURCE", "-fsyntax-only", f"-I{folder}", "-Icompiler", "-Iruntime",
                          *isl.stdout.split(), str(copy)], stderr=subprocess.PIPE, text=True, check=False)
    return run.stderr


def check_table(folder, word, table, source):
    """How many orders were tried, and what is wrong."""
    text = ("compiler" / table).read_text()
    wrong = [] if not complaints(folder, table, source, text) else [f"{table} itself does not compile"]
    orders = ORDER.findall(text)
    for later, earlier, reason in orders:
        said = complaints(folder, table, source, moved(text, later, earlier))
        if f"{word} {later} must follow {earlier}: {reason}" not in said:
            wrong.append(f"{later} before {earlier}: {said or 'compiles'}")
    return len(orders), wrong if orders else [f"{table} has no orders"]


def main():
    passed, wrong = 0, []
    for word, table, source in TABLES:
        with tempfile.TemporaryDirectory() as name:
            n, found = check_table(Path(name), word, table, source)
        wrong += found
        passed += n + 1 - len(found)
    for problem in wrong:
        print(f"FAILED: {problem}")
    print(f"{passed} passed, {len(wrong)} failed")
    return 1 if wrong else 0


sys.exit(main())
