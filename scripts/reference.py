#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the reference documents: the table of docs/errors.md from the pages of docs/errors, in the groups that
compiler/support/diag.def names; docs/options.md and the manual page docs/pmgc.1 from what pmgc (in $BUILD) says of
itself.

    scripts/reference.py [--check]      # --check: say whether they are current, change nothing
"""
import os
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
GROUP = re.compile(r"(\d\d) ([a-z][a-z, ]*?)(?=, \d\d |\.)")


def between(text, name, content):
    """The text with `content` between its two marks."""
    begin, end = f"<!-- {name}: begin -->\n", f"<!-- {name}: end -->\n"
    head, rest = text.split(begin)
    return head + begin + content + end + rest.split(end)[1]


def groups():
    """Number -> name of each group of codes, from the head of diag.def."""
    comment = (ROOT / "compiler" / "support" / "diag.def").read_text().split("*/")[0]
    return dict(GROUP.findall(re.sub(r"\s*\n \* ?", " ", comment)))


def catalogue():
    pages = [page.read_text() for page in sorted((DOCS / "errors").glob("*.md"))]
    lines = []
    for number, name in groups().items():
        lines += ["", f"### {name[0].upper()}{name[1:]}", "", "| code | |", "| --- | --- |"]
        for page in pages:
            code, title = re.match(r"# (PMG\d{4}): (.*)", page).groups()
            if code[3:5] == number:
                lines.append(f"| [{code}](errors/{code}.md) | {title} |")
    return "\n".join(lines) + "\n\n"


def pmgc(option):
    program = ROOT / os.environ.get("BUILD", "build") / "pmgc"
    return subprocess.run([program, option], stdout=subprocess.PIPE, text=True, check=True).stdout


def documents():
    """Path and current text of each."""
    errors, options = DOCS / "errors.md", DOCS / "options.md"
    yield errors, between(errors.read_text(), "catalogue", catalogue())
    yield options, between(options.read_text(), "options", "\n" + pmgc("--help-markdown") + "\n")
    yield DOCS / "pmgc.1", pmgc("--help-man")


def main(arguments):
    stale = 0
    for path, text in documents():
        if path.exists() and path.read_text() == text:
            continue
        if arguments == ["--check"]:
            print(f"{path.relative_to(ROOT)} is not current; run scripts/reference.py", file=sys.stderr)
            stale += 1
        else:
            path.write_text(text)
    return int(stale > 0)


sys.exit(main(sys.argv[1:]))
