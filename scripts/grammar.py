#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the grammar of docs/language.md from the EBNF comments of compiler/syntax/parser.y.

    scripts/grammar.py [--check]        # --check: say whether it is current, change nothing
"""
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PARSER = ROOT / "compiler" / "syntax" / "parser.y"
DOCUMENT = ROOT / "docs" / "language.md"
BEGIN, END = "<!-- grammar: begin -->\n", "<!-- grammar: end -->\n"


def rules(text):
    """The comments that begin with `name =`, between the two lines of %%, without their frame."""
    body = re.split(r"^%%$", text, flags=re.M)[1]
    comments = re.findall(r"/\*\s*(.*?)\s*\*/", body, flags=re.S)
    text = "\n".join(re.sub(r"^ \* ", "", comment, flags=re.M) for comment in comments
                     if re.match(r"[a-z-]+ = ", comment))
    return re.sub(r"^(?! |[a-z-]+ = )", "# ", text, flags=re.M)


def document(text, grammar):
    head, rest = text.split(BEGIN)
    return head + BEGIN + "```ebnf\n" + grammar + "\n```\n" + END + rest.split(END)[1]


def main(arguments):
    text = DOCUMENT.read_text()
    current = document(text, rules(PARSER.read_text()))
    if arguments == ["--check"]:
        if current != text:
            print(f"{DOCUMENT.relative_to(ROOT)} is not current; run scripts/grammar.py", file=sys.stderr)
        return int(current != text)
    DOCUMENT.write_text(current)
    return 0


sys.exit(main(sys.argv[1:]))
