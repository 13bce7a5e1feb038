#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reduces a random program that fails: shrink.py FILE.pmg FIRST-LAST VARIANT prints a smaller one that fails in the
same way, the draw of sizes and data, and the command that repeats it.

Edits are made on the text, and test_programs says of each result whether it is still a program and how it fails; so
an edit may be as bold as it likes. Tried, the boldest first, until none helps: what an array is defined by is left out
(the array is an input then, or nobody reads it); lines; one size for another; a dimension everywhere; parts of
expressions; names. At last the draw with the smallest sizes is looked for.

PMG_TEST_SHRINK_SECONDS limits the time (180)."""
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

CHECK = [str(Path(os.environ.get("BUILD", "build")) / "tests/random/test_programs")]
REFUSED, DRAWS, MORE_DRAWS = 2, 24, 400
SECONDS = float(os.environ.get("PMG_TEST_SHRINK_SECONDS", "180"))
DRAW = re.compile(r"draw (\d+), .*; sizes(.*)")
SIZES = ["n", "m", "p"]


class Checker:
    """How a text fails: the exit status of test_programs, negative for a signal."""

    def __init__(self, folder, variant, first):
        self.path, self.variant, self.first = Path(folder) / "program.pmg", variant, first
        self.n_checks, self.deadline = 0, time.monotonic() + SECONDS

    def run(self, text, first, last):
        self.n_checks += 1
        self.path.write_text(text)
        try:
            done = subprocess.run([*CHECK, str(self.path), f"{first}-{last}", str(self.variant)], capture_output=True,
                                  text=True, errors="replace", check=False, timeout=120)
        except subprocess.TimeoutExpired:
            return "endless", ""
        return done.returncode, done.stderr

    def status(self, text):
        return self.run(text, self.first, self.first + DRAWS - 1)[0]

    def is_late(self):
        return time.monotonic() > self.deadline


def one_a_line(text):
    """Edits leave out lines: definitions by cases apart, each statement has one."""
    return "\n".join(row if "{" in row else re.sub(r"; (?=\S)", ";\n    ", row) for row in text.split("\n"))


# ---- Edits: each yields texts ----------------------------------------------------------------------------------

def without_definition(text):
    """An array that is defined becomes an input, or goes."""
    for name, type_ in re.findall(r"\b(?:out|inout|temp|state) (\w+) : (\w+(?:\[[^\]]*\])?)", text):
        rest = "\n".join(row for row in text.split("\n") if not defines(row, name))
        yield rest
        yield declare(rest, f"in {name} : {type_};")
    for name, dims, type_ in re.findall(r"func (\w+)\[([^\]]*)\] : (\w+)", text):
        rest = "\n".join(row for row in text.split("\n") if not defines(row, name))
        extents = ", ".join(dim.split("..")[-1] for dim in dims.split(","))
        yield rest
        yield declare(rest, f"in {name} : {type_}[{extents}];")


def defines(row, name):
    return re.match(rf"\s*(?:(?:out|inout|temp|state|func|reduce|next|reduce next) )?{name}\b", row)


def declare(text, declaration):
    head, _, tail = text.partition("{\n")
    return head + "{\n    " + declaration + "\n" + tail


def without_unused(text):
    """Inputs, constants and files that nothing uses, all at once; then the schedule, too."""
    kept, rows = [], text.split("\n")
    for number, row in enumerate(rows):
        names = re.findall(r"\w+", re.sub(r"^(\s*(fixed )?in|const) |[:=<].*", "", row))
        rest = "\n".join(rows[:number] + rows[number + 1:])
        is_used = any(re.search(rf"\b{name}\b", rest) for name in names)
        if (is_used or not re.match(r"\s*(fixed )?in |const ", row)) and not row.startswith("include"):
            kept.append(row)
    yield "\n".join(kept)
    yield re.sub(r"    schedule \{.*?\n    \}\n", "", "\n".join(kept), flags=re.S)
    yield re.sub(r"    schedule \{.*?\n    \}\n", "", text, flags=re.S)


def without_lines(text):
    """Halves first, single lines at last; the last line is the pipeline's."""
    rows = text.rstrip("\n").split("\n")
    size = max(len(rows)//2, 1)
    while size:
        for start in range(len(rows) - size):
            yield "\n".join(rows[:start] + rows[start + size:])
        size //= 2
    for start, row in enumerate(rows):      # blocks, with what is in them and without
        if row.rstrip().endswith("{") and start:
            end = next((i for i in range(start, len(rows)) if rows[i].strip() == "}"), None)
            if end:
                yield "\n".join(rows[:start] + rows[end + 1:])
                yield "\n".join(rows[:start] + rows[start + 1:end] + rows[end + 1:])


def without_names(text):
    """One name less in a declaration of several, and declarations nobody needs."""
    for found in re.finditer(r"(\w+), |, (\w+)(?= ?[:;])", text):
        yield text[:found.start()] + text[found.end():]


def with_one_size(text):
    for one in SIZES:
        for other in SIZES:
            if one != other and re.search(rf"\b{other}\b", text):
                changed = re.sub(rf"\b{other}\b", one, text)
                yield re.sub(rf"param ([^;]*);", lambda m: "param " + ", ".join(
                    dict.fromkeys(m[1].split(", "))) + ";", changed, count=1)


def without_dimension(text):
    for var, size in re.findall(r"(\w+) in 0\.\.(\w+)", text):
        changed = re.sub(rf", {var} in 0\.\.{size}\b|\b{var} in 0\.\.{size}, ", "", text)
        changed = re.sub(rf",\s*{var}\]", "]", re.sub(rf"\[{var},\s*", "[", changed))
        yield changed
        yield re.sub(rf", {size}\]", "]", changed)


def groups(text):
    """(start, end) of everything between parentheses, with the name of a function before it."""
    opened = []
    for at, c in enumerate(text):
        if c == "(":
            opened.append(at)
        elif c == ")" and opened:
            start = opened.pop()
            yield start - len(re.search(r"\w*$", text[:start])[0]), start, at + 1


def operands(text):
    """The parts of an expression between operators and commas outside parentheses."""
    depth, start = 0, 0
    for at, c in enumerate(text + ","):
        depth += (c in "([{") - (c in ")]}")
        if depth == 0 and (c in ",*<>?" or text[at:at + 2] in ("+ ", "- ", "/ ") or at == len(text)):
            yield text[start:at].strip(" =")
            start = at + 1


def with_parts_of_expressions(text):
    for head, start, end in sorted(groups(text), key=lambda group: group[1] - group[2]):
        for part in ["1", "0", *operands(text[start + 1:end - 1])]:
            yield text[:head] + part + text[end:]
    for found in re.finditer(r"= ([^;={}]+?)( for [^;]*)?;", text):
        for part in ["1", *operands(found[1])]:
            if part != found[1]:
                yield text[:found.start(1)] + part + text[found.end(1):]
    for found in re.finditer(r"case \{(.*?)\}", text):
        arms = [arm.strip() for arm in found[1].split(";") if arm.strip()]
        for arm in arms:
            yield text[:found.start()] + arm.split(" : ")[-1] + text[found.end():]
        for i in range(len(arms)):
            yield text[:found.start(1)] + "; ".join([*arms[:i], *arms[i + 1:]]) + ";" + text[found.end(1):]
    for found in re.finditer(r"\w+\[[^\[\]]*\](?! [-+*]?=|\[)", text):
        yield text[:found.start()] + "1" + text[found.end():]
    for found in re.finditer(r"\b[a-z]+\[(\w+)\](?=[\],])", text):
        yield text[:found.start()] + found[1] + text[found.end():]
    for found in re.finditer(r"(?<=[\w\])]) ?[-+*/%] ?(?:\d+(?:\.\d+)?)", text):
        yield text[:found.start()] + text[found.end():]


EDITS = [without_unused, without_definition, without_lines, with_one_size, without_dimension, without_lines,
         without_names, with_parts_of_expressions]


def shrunk(text, checker, status):
    """The text after every edit that keeps the status and makes it shorter."""
    helped = True
    while helped and not checker.is_late():
        helped = False
        for edit in EDITS:
            again = True
            while again and not checker.is_late():
                again, tried = False, set()
                for shorter in edit(text):
                    shorter = shorter.strip("\n") + "\n"
                    if measure(shorter) >= measure(text) or shorter in tried:
                        continue
                    tried.add(shorter)
                    if checker.is_late():
                        break
                    if checker.status(shorter) == status:
                        text, again, helped = shorter, True, True
                        break
    return text


def measure(text):
    """Statements weigh more than words, words more than characters; inputs weigh least."""
    statements = sum(not re.match(r"\s*(fixed )?in ", row) for row in text.split("\n"))
    return 40*statements + 5*len(re.findall(r"\w+", text)) + len(text)


def smallest_draw(text, checker, status):
    """The draw that fails with the smallest sizes, and what test_programs says of it."""
    found, said = checker.run(text, checker.first, checker.first + MORE_DRAWS)
    draws = [(sum(map(int, re.findall(r"= (\d+)", m[2]))), int(m[1])) for m in DRAW.finditer(said)]
    if found != status or not draws:
        return checker.first, said
    best = min(draws)[1]
    return best, checker.run(text, best, best)[1]


def main():
    path, draws, variant = sys.argv[1], sys.argv[2], sys.argv[3]
    text = Path(path).read_text()
    with tempfile.TemporaryDirectory(prefix="pmg-shrink-") as folder:
        checker = Checker(folder, variant, int(draws.split("-")[0]))
        status = checker.status(text)
        if status in (0, REFUSED) and "-" in draws:
            status = checker.run(text, *draws.split("-"))[0]
        if status == 0:
            print(f"{path} does not fail by variant {variant}")
            return 0
        if status != REFUSED:
            lines = one_a_line(text)
            text = shrunk(lines if checker.status(lines) == status else text, checker, status)
        draw, said = smallest_draw(text, checker, status)
    kept = Path(tempfile.gettempdir()) / f"pmg-failed-{Path(path).stem}-{variant}.pmg"
    kept.write_text(text)
    print(f"# status {status}, after {checker.n_checks} attempts\n{text}\n{said.splitlines()[0] if said else ''}\n"
          f"{' '.join(CHECK)} {kept} {draw} {variant}")
    return 1


if __name__ == "__main__":
    sys.exit(main())
