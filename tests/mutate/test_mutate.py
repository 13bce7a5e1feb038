#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Good programs with one wrong token: a token left out, written twice, or replaced by another of the program.

pmgc ends with its own exit statuses and in time, whatever it is given. Of the mutations that it refuses, the first
message points at the line that was changed in at least 95 of 100; the others are listed."""
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PMGC = os.environ.get("PMGC") or str(Path(os.environ.get("BUILD", "build")) / "pmgc")
PROGRAMS = sorted([*Path("dsl_examples").glob("*.pmg"), *Path("tests/programs").glob("*.pmg")])
TOKEN = re.compile(r"#[^\n]*|\s+|[A-Za-z_]\w*|\d+(?:\.\d+)?(?:[eE][+-]?\d+)?|min=|max=|\.\.|[-+*!<>=]=|.")
PLACE = re.compile(r"^[^:\n]+:(\d+):\d+: error", re.M)
IS_SANITIZED = "-san" in os.environ.get("PMGC", "")
REFUSED, SHARE, SEED = 100 if IS_SANITIZED else 500, 0.95, 20
STATUSES = (0, 1)


def mutation(text, draw):
    """The text with one token changed, the line of the token, and what was done to it."""
    tokens = [m for m in TOKEN.finditer(text) if not m[0].isspace() and not m[0].startswith("#")]
    token, other = draw.choice(tokens), draw.choice(tokens)
    how = draw.choice(["left out", "written twice", "replaced"])
    instead = {"left out": "", "written twice": f"{token[0]} {token[0]}", "replaced": other[0]}[how]
    if instead == token[0]:
        return mutation(text, draw)
    line = text.count("\n", 0, token.start()) + 1
    what = f"'{token[0]}' {how}" + (f" by '{other[0]}'" if how == "replaced" else "")
    return text[:token.start()] + instead + text[token.end():], line, what


def outcome(seed):
    """What the test says of one mutation: crash, silence, hit or miss, and a line that describes it."""
    draw = random.Random(seed)
    program = draw.choice(PROGRAMS)
    text, line, what = mutation(program.read_text(), draw)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / program.name
        path.write_text(text)
        try:
            done = subprocess.run([PMGC, str(path), "-o", f"{folder}/out", "--overrides=off"], stdin=subprocess.DEVNULL,
                                  capture_output=True, text=True, errors="replace", timeout=60, check=False)
        except subprocess.TimeoutExpired:
            return "crash", f"{program}:{line}: {what}: takes more than a minute"
    where = f"{program}:{line}: {what}"
    if done.returncode not in STATUSES:
        return "crash", f"{where}: exit status {done.returncode}\n{done.stderr}"
    if done.returncode == 0:
        return "silence", where
    first = PLACE.search(done.stderr)
    if not first:
        return "crash", f"{where}: refused without a place\n{done.stderr}"
    message = next(row for row in done.stderr.splitlines() if ": error" in row)
    return "hit" if int(first[1]) == line else "miss", f"{where}\n    {message.split('/')[-1]}"


def main():
    counts, misses = {"crash": 0, "silence": 0, "hit": 0, "miss": 0}, []
    seed = SEED
    with ThreadPoolExecutor(int(os.environ.get("PMG_TEST_JOBS", 2))) as pool:
        while counts["hit"] + counts["miss"] < REFUSED and seed < 10*REFUSED:
            for kind, text in pool.map(outcome, range(seed, seed + 20)):
                if counts["hit"] + counts["miss"] == REFUSED:
                    break
                counts[kind] += 1
                if kind in ("crash", "miss"):
                    misses.append(text)
            seed += 20
    print(*misses, sep="\n")
    refused = counts["hit"] + counts["miss"]
    is_good = refused == REFUSED and counts["hit"] >= SHARE*refused
    print(f"{counts['hit']} of {refused} refused mutations are shown at their line; "
          f"{counts['silence']} are good programs")
    print(f"{refused + counts['silence'] - (not is_good)} passed, {counts['crash'] + (not is_good)} failed")
    return counts["crash"] > 0 or not is_good


sys.exit(main())
