# SPDX-License-Identifier: MIT
"""What the language has, read from the tables that the compiler is made of: types, operators, functions, reductions,
constructs, verbs of schedule blocks, and the classes of values that bind.c fills arrays with. Whoever adds a row there
and does not teach the generator fails test_coverage.py."""

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


def rows(path, macro):
    """The arguments of every row of a table, as texts without quotes."""
    text = re.sub(r"/\*.*?\*/", "", (ROOT / path).read_text(), flags=re.S)
    return [[cell.strip().strip('"') for cell in re.findall(r'"[^"]*"|[^\s,][^,]*', row)]
            for row in re.findall(rf"^{macro}\((.*?)\)\s*$", text, flags=re.M | re.S)]


class Type:
    """A scalar type, with the limits of an integer."""

    def __init__(self, _, name, *more):
        size, self.is_float, is_signed = (int(cell) for cell in more[2:5])
        self.name, self.is_bool, bits = name, name == "bool", 8*size
        self.is_integer = not self.is_float and not self.is_bool
        self.lo = -(1 << (bits - 1)) if is_signed else 0
        self.hi = (1 << (bits - is_signed)) - 1


TYPES = {row[1]: Type(*row) for row in rows("compiler/support/types.def", "TYPE")}
INTEGERS = [name for name, type_ in TYPES.items() if type_.is_integer]
FLOATS = [name for name, type_ in TYPES.items() if type_.is_float]
NUMBERS = FLOATS + INTEGERS
NARROW = [name for name in INTEGERS if name != "i64"]

# Operators by spelling, with the number of operands: a sign and a difference are two.
OPERATORS = [(row[1], int(row[2])) for row in rows("compiler/syntax/operators.def", "TREE_OP")]
# (name, kind, fewest arguments, most)
FUNCTIONS = [(row[0], row[1], int(row[3]), int(row[4])) for row in rows("compiler/sema/functions.def", "FUNCTION")]
REDUCTIONS = [row[1] for row in rows("compiler/ir/core/reduce.def", "REDUCE") if row[0] != "SET"]
CONSTRUCTS = [re.search(rf"construct_{row[0]} = {{ .name = \"(\w+)\"",
                        (ROOT / f"compiler/constructs/{row[0]}.c").read_text())[1]
              for row in rows("compiler/constructs/constructs.def", "CONSTRUCT")]
VALUES = rows("tests/random/values.def", "VALUES")
VERBS = re.findall(r'^VERB\(\w+, +"(\w+)"\)', (ROOT / "compiler/ir/core/verbs.def").read_text(), flags=re.M)

# How a reduction is spelt inside an expression.
IN_EXPRESSION = {"+=": "sum", "*=": "prod", "min=": "min", "max=": "max"}


def operand_types(spelling, operands):
    """The types that an operator takes: a new one takes numbers."""
    if spelling in ("and", "or", "not"):
        return ["bool"]
    if spelling == "%":
        return INTEGERS
    return NUMBERS + ["bool"]*(spelling in ("==", "!=") and operands == 2)


def argument_types(kind, name):
    """The types that a function of this kind takes."""
    if kind == "SELECT" or name == "nnz":
        return [*NUMBERS, "bool"]
    return NUMBERS
