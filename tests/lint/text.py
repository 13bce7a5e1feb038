# SPDX-License-Identifier: MIT
"""What a line of text may not contain, and how a file begins and ends."""
import re

COMMENTED = (".c", ".h", ".l", ".y", ".py", ".sh", "Makefile", "tests/run", "tests/one")
# Written so that this file passes its own check.
UNFINISHED = re.compile(r"\b(TO" r"DO|FIX" r"ME|XX" r"X)\b")
ABSOLUTE = re.compile(r"(?<![\w.*$}])/(work|root|home|tmp/bash)" r"/")
GENERATED = re.compile(r"(^|/)(lex\.yy\.c|[^/]*\.tab\.[ch]|(parser|lexer)\.[ch])$")


def matching(tree, pattern, sentence, but=("generated/",)):
    for name in tree.select(but=but):
        for number, row in enumerate(tree.lines(name), 1):
            if pattern.search(row):
                yield f"{name}:{number}: {sentence}"


def unfinished(tree):
    return matching(tree, UNFINISHED, "unfinished work belongs in the tracker")


def absolute_paths(tree):
    return matching(tree, ABSOLUTE, "a path of somebody's machine", but=())


def trailing_whitespace(tree):
    return matching(tree, re.compile(r"[ \t\r]$"), "trailing whitespace", but=("tests/data/", "tests/fuzz/corpus/"))


def final_newline(tree):
    for name in tree.select(but=("generated/", "tests/codegen/", "tests/fuzz/corpus/")):
        text = tree.text(name)
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            yield f"{name}: must end with one newline"


def licence_line(tree):
    for name in tree.select(*COMMENTED):
        first = next((row for row in tree.lines(name) if not row.startswith("#!")), "")
        if "SPDX-License-Identifier: MIT" not in first:
            yield f"{name}: the first line must be the SPDX line"


def indentation(tree):
    """C is indented by tabs; spaces only align."""
    for name in tree.select(".c", ".h"):
        for number, row in enumerate(tree.lines(name), 1):
            if row.startswith("    ") and row.strip()[:1] not in "*/\"" and not row.startswith(" *"):
                yield f"{name}:{number}: indented by spaces"


def generated_files(tree):
    for name in tree.files:
        if GENERATED.search(name):
            yield f"{name}: written by flex or bison; belongs in the build folder"


CHECKS = [unfinished, absolute_paths, trailing_whitespace, final_newline, licence_line, indentation,
          generated_files]
