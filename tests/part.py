#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs some parts of a test in Python, and what they need to begin with.

A part is a function of the test that counts or asserts something, itself or by functions it calls, and that the test
calls for that alone: as a statement, or as a row of a list of functions. All others of these are left out; everything
else of the test is done as it stands. A part that goes on from what another left needs that one to be named, too.

    tests/part.py TEST.py PART...
"""
import ast
import difflib
import sys
from pathlib import Path

# Names by which the tests count what holds.
COUNTS = {"RESULTS", "PROBLEMS", "PASSED", "FAILED", "check", "compare", "count"}


def used(node):
    """Names that a function reads, and whether it asserts."""
    inner = list(ast.walk(node))
    return {n.id for n in inner if isinstance(n, ast.Name)} | {"check" for n in inner if isinstance(n, ast.Assert)}


def counting(functions):
    """Names of the functions that count something, by whatever they call."""
    uses = {name: used(node) for name, node in functions.items()}
    found = {name for name in uses if uses[name] & COUNTS}
    while more := {name for name in uses if uses[name] & found} - found:
        found |= more
    return found


class Choice(ast.NodeTransformer):
    """Leaves the calls and rows of `chosen` out of those of `parts`; notes which parts it met."""
    def __init__(self, parts, chosen):
        self.parts, self.chosen, self.met = parts, chosen, []

    def is_left_out(self, node):
        if not isinstance(node, ast.Name) or node.id not in self.parts:
            return False
        self.met.append(node.id)
        return node.id not in self.chosen

    def visit_Expr(self, node):
        if isinstance(node.value, ast.Call) and self.is_left_out(node.value.func):
            return ast.copy_location(ast.Pass(), node)
        return node

    def visit_rows(self, node):
        if len(node.elts) > 0 and all(isinstance(row, ast.Name) and row.id in self.parts for row in node.elts):
            node.elts = [row for row in node.elts if not self.is_left_out(row)]
        return node

    visit_Tuple = visit_List = visit_rows


def chosen_tree(tree, chosen):
    """The test with the chosen parts alone, and the names of all of its parts."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    choice = Choice(counting(functions) - COUNTS - {"main"}, set(chosen))
    for i, node in enumerate(tree.body):
        if not isinstance(node, (ast.FunctionDef, ast.ClassDef)) or getattr(node, "name", "") == "main":
            tree.body[i] = choice.visit(node)
    return tree, sorted(set(choice.met))


def main(path, *chosen):
    tree, parts = chosen_tree(ast.parse(Path(path).read_text(), path), chosen)
    for name in chosen:
        if name not in parts:
            near = difflib.get_close_matches(name, parts, 3, 0.4) or parts
            print(f"{path} has no part '{name}'" + (f"; it has: {', '.join(near)}" if near else "; it runs as a whole"))
            return 1
    sys.argv = [path]
    sys.path[0] = str(Path(path).resolve().parent)
    exec(compile(tree, path, "exec"), {"__name__": "__main__", "__file__": path, "__doc__": ast.get_docstring(tree)})
    return 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        print(__doc__.strip())
        sys.exit(1)
    sys.exit(main(*sys.argv[1:]))
