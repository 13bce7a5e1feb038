#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""A pass that is moved before one that it must follow: the table of passes does not compile, and the message names both
and says why."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

TABLE = Path("compiler/passes/passes.def")
ROW = re.compile(r"^PASS\((\w+),.*?\)\n(?=PASS|AFTER|\Z)", re.M | re.S)
ORDER = re.compile(r'^AFTER\((\w+), (\w+), "(.*)"\)$', re.M)


def moved(text, name, before):
    """The table with the row of a pass in front of another one's; the rows AFTER stay."""
    rows = {row.group(1): row.group(0) for row in ROW.finditer(text)}
    return text.replace(rows[name], "").replace(rows[before], rows[name] + rows[before])


def complaints(folder, text):
    (folder / "passes").mkdir(exist_ok=True)
    (folder / TABLE.relative_to("compiler")).write_text(text)
    isl = subprocess.run(["pkg-config", "--cflags", "isl"], check=True, stdout=subprocess.PIPE, text=True)
    source = folder / "passes.c"
    source.write_text(Path("compiler/passes/passes.c").read_text())
    cc = os.environ.get("CC", "gcc").split()
    run = subprocess.run([*cc, "-std=c11", "-D_GNU_SOURCE", "-fsyntax-only", f"-I{folder}", "-Icompiler", "-Iruntime",
                          *isl.stdout.split(), str(source)], stderr=subprocess.PIPE, text=True, check=False)
    return run.stderr


def main():
    text = TABLE.read_text()
    passed = failed = 0
    with tempfile.TemporaryDirectory() as name:
        wrong = [] if not complaints(Path(name), text) else ["the table itself does not compile"]
        orders = ORDER.findall(text)
        for later, earlier, reason in orders:
            said = complaints(Path(name), moved(text, later, earlier))
            if f"pass {later} must follow {earlier}: {reason}" not in said:
                wrong.append(f"{later} before {earlier}: {said or 'compiles'}")
    for problem in wrong:
        print(f"FAILED: {problem}")
    failed = len(wrong)
    passed = len(orders) + 1 - failed
    print(f"{passed} passed, {failed} failed")
    return 1 if failed or not orders else 0


sys.exit(main())
