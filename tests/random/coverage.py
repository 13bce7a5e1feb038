#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the programs of the quick tests show of the language, against its grammar and the tables of the compiler.

    coverage.py             the table of docs/testing.md
    coverage.py --all       every row, with the number of programs that show it
    coverage.py --write     puts the table into docs/testing.md
    coverage.py --check     says which rows too few programs show, and whether the document is current
"""

import re
import sys
from collections import Counter

import deck
import ebnf
import generate
from known import KNOWN
from tables import CONSTRUCTS, ROOT, TYPES, VALUES, VERBS
from typed import CLASSES

# Programs of the quick tests: test_programs.c, test_items.c, tests/cuda/test_random.c.
QUICK = {"plain": 140, "items": 40, "cuda": 20}
SEED, LEAST = 1, 1
DOCUMENT = ROOT / "docs/testing.md"
BEGIN, END = "<!-- coverage: begin -->\n", "<!-- coverage: end -->\n"

# What no program of these shows, and why.
EXEMPT = {
    ("grammar", "file", "no include | constant | pipeline"): "a file of nothing computes nothing",
    ("grammar", "file", "one include | constant | pipeline"): "files have many pipelines",
    ("grammar", "block", "no statement"): "a pipeline of nothing computes nothing",
    ("grammar", "value", "no branch"): "a case of nothing defines nothing",
    ("grammar", "expression", "without expressions"): "no function is without arguments",
}
WHAT = {
    "grammar": "alternatives, optional parts with and without, repetitions none, once and several times, of the "
               "[grammar](language.md#16-grammar)",
    "operator": "each operator of each type it takes",
    "function": "each function of each type it takes",
    "cast": "each type cast to each",
    "store": "each type stored in each that takes it without a cast",
    "constant": "constants at and beyond the limits of each integer type, in a cell, a case, a function, a select, "
                "a cast",
    "reduction": "each reduction of each type: of a cell, of a scalar, through an index array, in an expression",
    "role": "each role of each type",
    "data": "arrays of each class of values (`tests/random/values.def`) and type",
    "construct": "constructs",
    "fact": "facts of index arrays, lengths and offsets",
    "item": "items of a schedule block, by verb",
}
FACTS = {"index": r": index\(", "offsets": r": offsets\(", "sorted": r"\bsorted\b", "unique": r"\bunique\b",
         "sorted unique": r"sorted unique", "tree": r"\] tree;", "lengths": r"\.\.len\[",
         "computed": r"(func|temp) .*: index\(",
         "children": r"children\(", "several dimensions": r"in cells",
         "within another": r"\[\w+\[\w+\[|\[\w+, \w+\[\w+, \w+\["}


def all_rows():
    """Every row that programs have to show, by the tables."""
    rows = [("grammar", *row) for row in ebnf.rows(ebnf.grammar())]
    rows += [(writer.__name__, *arguments) for writer, *arguments in deck.DECK]
    classes = [begin.removesuffix("_") for begin, *_ in VALUES]
    rows += [("data", f"{class_}_", type_) for class_ in classes for type_ in CLASSES[class_]]
    rows += [("data", class_, "bool") for class_ in ("wide_", "tie_")]
    rows += [("construct", name) for name in CONSTRUCTS] + [("fact", name) for name in FACTS]
    return rows + [("item", verb) for verb in VERBS]


def shown_by(made, rules):
    """The rows that a program shows."""
    text = made.text()
    found = {("grammar", *row) for row in ebnf.read(rules, generate.PRELUDE + text)} | set(made.covered)
    found |= {("construct", name) for name in CONSTRUCTS if re.search(rf"\b{name}[(<]", text)}
    found |= {("fact", name) for name, pattern in FACTS.items() if re.search(pattern, text)}
    return found | {("item", verb) for verb in VERBS if re.search(rf"^ +(.*; )?{verb} \w[^;=]*;", text, flags=re.M)}


def counts():
    rules, total = ebnf.grammar(), Counter()
    for kind, programs in QUICK.items():
        for number in range(programs):
            total.update(shown_by(generate.program(SEED, number, kind), rules))
    return total


def is_left_out(row):
    return row in EXEMPT or "constants wrap" in KNOWN and row[0] == "constant" and row[2] in ("below", "above")


def too_few(rows, total):
    return [row for row in rows if total[row] < LEAST and not is_left_out(row)]


def table(rows, total):
    lines = ["| of | rows | fewest programs | what |", "| --- | --- | --- | --- |"]
    for group, what in WHAT.items():
        of_group = [row for row in rows if row[0] == group]
        asked = [row for row in of_group if not is_left_out(row)]
        lines.append(f"| {group} | {len(of_group)} | {min(total[row] for row in asked)} | {what} |")
    left = [f"- `{' '.join(map(str, row[1:]))}`: {reason}" for row, reason in EXEMPT.items()]
    return "\n".join([*lines, "", "Shown by none:", "", *left, ""])


def document(text, written):
    head, rest = text.split(BEGIN)
    return head + BEGIN + written + END + rest.split(END)[1]


def check(rows, total):
    """(passed, failed), each problem told."""
    few = too_few(rows, total)
    for row in few:
        print(f"{total[row]} programs show {' '.join(map(str, row))}: teach tests/random to write it")
    strange = [row for row in total if row not in set(rows) and row[0] not in ("system",)]
    for row in strange:
        print("a row of no table:", row)
    text = DOCUMENT.read_text()
    is_current = document(text, table(rows, total)) == text
    if not is_current:
        print("docs/testing.md is not current; run tests/random/coverage.py --write")
    return len(rows) - len(few) + is_current, len(few) + len(strange) + (not is_current)


def main(arguments):
    rows, total = all_rows(), counts()
    if arguments == ["--all"]:
        for row in rows:
            print(total[row], *row)
    elif arguments == ["--write"]:
        DOCUMENT.write_text(document(DOCUMENT.read_text(), table(rows, total)))
    elif arguments == ["--check"]:
        passed, failed = check(rows, total)
        print(f"{passed} passed, {failed} failed")
        return int(failed > 0)
    else:
        print(table(rows, total), end="")
    return 0


if __name__ == "__main__":
    assert TYPES
    sys.exit(main(sys.argv[1:]))
