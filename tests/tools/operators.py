# SPDX-License-Identifier: MIT
"""How every operator and function of the compiler's tables is written of x and y, for tests that go through all."""
import re
from pathlib import Path

INTEGERS = {f"{'i' if low else 'u'}{bits}": (-2**(bits - 1) if low else 0, 2**(bits - bool(low)) - 1)
            for low in (1, 0) for bits in (8, 16, 32, 64) if low or bits < 64}
FLOATS = ("f64", "f32")

ARITHMETIC = {"ADD": "{x} + {y}", "SUB": "{x} - {y}", "MUL": "{x}*{y}", "DIV": "{x}/{y}", "NEG": "-{x}",
              "MIN": "min({x}, {y})", "MAX": "max({x}, {y})", "ABS": "abs({x})", "FLOOR": "floor({x})",
              "SELECT": "select({x} < {y}, {x}, {y})"}
OF_FLOATS = {"SQRT": "sqrt({x})", "POW": "pow({x}, {y})", "EXP": "exp({x})", "LOG": "log({x})", "SIN": "sin({x})",
             "COS": "cos({x})", "TANH": "tanh({x})", "EXPRELR": "exprelr({x})"}
OF_INTEGERS = {"MOD": "{x} % {y}"}
COMPARISONS = {"EQ": "{x} == {y}", "NE": "{x} != {y}", "LT": "{x} < {y}", "LE": "{x} <= {y}", "GT": "{x} > {y}",
               "GE": "{x} >= {y}"}
CONNECTIVES = {"OR": "{x} or {y}", "AND": "{x} and {y}", "NOT": "not {x}"}
WHOLE = {"sum": "sum({x})", "maxval": "maxval({x})", "dot": "dot({x}, {y})", "norm2": "norm2({x})", "nnz": "nnz({x})"}
REDUCES = {"SET": "=", "ADD": "+=", "MUL": "*=", "MIN": "min=", "MAX": "max="}
# CHOOSE is what `case` becomes; PIVOT and UNIT_SCALE are of solvers; the others are rows of products.
OTHERS = {"CHOOSE", "PIVOT", "UNIT_SCALE", "stencil", "matmul", "transpose"}


def missing():
    """What the tables of the compiler have, and none of the above."""
    known = set().union(ARITHMETIC, OF_FLOATS, OF_INTEGERS, COMPARISONS, CONNECTIVES, OTHERS)
    ops = re.findall(r"^OP\((\w+)", Path("compiler/ir/core/ops.def").read_text(), re.M)
    functions = re.findall(r'^FUNCTION\("(\w+)",\s+\w+,\s+(\w+)', Path("compiler/sema/functions.def").read_text(), re.M)
    reduces = re.findall(r"^REDUCE\((\w+)", Path("compiler/ir/core/reduce.def").read_text(), re.M)
    return ([op for op in ops if op not in known] + [op for op in reduces if op not in REDUCES] +
            [name for name, _ in functions if name not in WHOLE and name not in OTHERS and name.upper() not in known])
