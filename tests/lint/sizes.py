# SPDX-License-Identifier: MIT
"""Lengths of files, lines, functions, macros and structs. A C function runs from a `{` to a `}` in the first column, a
macro as far as its lines end with a backslash."""
import re
import statistics

FILE_LINES = 800
LINE_COLUMNS = 120
ROW_COLUMNS = 150       # of a table
FUNCTION_LINES = 80
FUNCTION_MEDIAN = 15
STRUCT_FIELDS = 25
OURS = ("compiler/", "runtime/", "tools/", "bench/")
SOURCES = (".c", ".h", ".l", ".y", ".def", ".py", ".sh", "Makefile", "tests/run", "tests/one")
NAME = re.compile(r"(\w+)\s*\(")


def functions(tree, name):
    """(function, first line, length) of each function of a C file."""
    rows = tree.lines(name)
    start = None
    for number, row in enumerate(rows, 1):
        if row == "{" and number > 1 and rows[number - 2].rstrip().endswith((")", "))")):
            start = number
        elif row == "}" and start:
            yield name_above(rows, start), start, number - start - 1
            start = None


def name_above(rows, start):
    """The name of the function whose body opens in line `start`: in the nearest line above that is not indented."""
    for row in reversed(rows[:start - 1]):
        found = NAME.search(row)
        if found and row[:1] not in ("\t", " "):
            return found.group(1)
    return "?"


def all_functions(tree, under):
    return [(name, f, at, n) for name in tree.select(".c", ".h", under=under) for f, at, n in functions(tree, name)]


def file_length(tree):
    for name in tree.select(*SOURCES):
        n = len(tree.lines(name)) - 1
        if n > FILE_LINES:
            yield f"{name}: {n} lines, limit {FILE_LINES}"


def line_length(tree):
    for name in tree.select(*SOURCES):
        for number, row in enumerate(tree.lines(name), 1):
            n, limit = len(row.expandtabs(8)), ROW_COLUMNS if name.endswith(".def") else LINE_COLUMNS
            if n > limit:
                yield f"{name}:{number}: {n} columns, limit {limit}"


def function_length(tree):
    for name, function, at, n in all_functions(tree, OURS + ("tests/",)):
        if n > FUNCTION_LINES:
            yield f"{name}:{at}: {function} has {n} lines, limit {FUNCTION_LINES}"


def macros(tree, name):
    """(macro, first line, length) of each macro of a C file."""
    rows = tree.lines(name)
    start = None
    for number, row in enumerate(rows, 1):
        found = re.match(r"\s*#\s*define (\w+)", row)
        start = start or (found and (found.group(1), number))
        if start and not row.endswith("\\"):
            yield *start, number - start[1] + 1
            start = None


def macro_length(tree):
    """What is longer is a header that is read for each type, as runtime/pmgrt_each_real.h does it."""
    for name in tree.select(".c", ".h", ".def", ".cu", ".cuh", under=OURS + ("tests/",)):
        for macro, at, n in macros(tree, name):
            if n > FUNCTION_LINES:
                yield f"{name}:{at}: {macro} has {n} lines, limit {FUNCTION_LINES}"


def structs(text):
    """(struct, place, body) of each struct that is declared in the first column."""
    for found in re.finditer(r"^struct (\w+) \{\n(.*?)^\}", text, re.S | re.M):
        yield found.group(1), found.start(), found.group(2)


def n_fields(body):
    """A list (VEC) and a struct inside are one field, a function with its parameters too."""
    inside = re.compile(r"\([^()]*\)|\{[^{}]*\}")
    while inside.search(body):
        body = inside.sub("", body)
    return sum(row.count(",") + 1 for row in body.split(";") if row.strip())


def struct_fields(tree):
    for name in tree.select(".c", ".h", ".y", ".l", under=("compiler/",)):
        bare = re.sub(r"/\*.*?\*/", lambda found: "\n" * found.group().count("\n"), "\n".join(tree.lines(name)),
                      flags=re.S)
        for struct, at, body in structs(bare):
            n = n_fields(body)
            if n > STRUCT_FIELDS:
                line = bare.count("\n", 0, at) + 1
                yield f"{name}:{line}: struct {struct} has {n} fields, limit {STRUCT_FIELDS}"


def function_median(tree):
    lengths = [n for *_, n in all_functions(tree, OURS)]
    if lengths and statistics.median(lengths) > FUNCTION_MEDIAN:
        yield f"the median function has {statistics.median(lengths)} lines, limit {FUNCTION_MEDIAN}"


def summary(tree):
    lengths = sorted(n for *_, n in all_functions(tree, OURS))
    if not lengths:
        return "no functions"
    return (f"{len(lengths)} functions: median {statistics.median(lengths):g} lines, "
            f"9 in 10 at most {lengths[int(0.9 * (len(lengths) - 1))]}, longest {lengths[-1]}")


CHECKS = [file_length, line_length, function_length, macro_length, struct_fields, function_median]
