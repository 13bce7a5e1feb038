#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random programs show the whole language: every production of its grammar and every row of the compiler's tables, in
the programs of the quick tests. A new row that the generator does not know is told, and so is a class of functions."""
import sys

import coverage
import deck
import ebnf
import generate


def is_new_operator_told(total):
    return coverage.too_few([("operator", "<<", 2, "i8")], total) == [("operator", "<<", 2, "i8")]


def is_new_kind_told():
    deck.FUNCTIONS.append(("erf", "NEW", 1, 1))
    try:
        deck.function(generate.Program(1, 0, "plain"), "erf", "f64")
    except NotImplementedError as told:
        return "erf" in str(told)
    finally:
        deck.FUNCTIONS.pop()
    return False


def is_other_text_refused():
    try:
        ebnf.read(ebnf.grammar(), "pipeline p { out y : f64; y = 1 +* 2; }")
    except ValueError:
        return True
    return False


def main():
    total = coverage.counts()
    passed, failed = coverage.check(coverage.all_rows(), total)
    for holds in (is_new_operator_told(total), is_new_kind_told(), is_other_text_refused()):
        passed, failed = passed + holds, failed + (not holds)
    print(f"{passed} passed, {failed} failed")
    return failed > 0


sys.exit(main())
