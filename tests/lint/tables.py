# SPDX-License-Identifier: MIT
"""The tables (*.def): rows are unique, and each diagnostic is used and expected by a test, and nothing goes by the
words of decisions."""
import re

ROW = re.compile(r"^([A-Z_]+)\(\s*([^,()]+(?:,[^,()]+)?)", re.M)
DIAG = re.compile(r'^DIAG\("(PMG\d{4})",\s*(\w+)\)', re.M)
DIAGNOSTICS = "compiler/support/diag.def"


def unique_rows(tree):
    """No two rows of a macro begin with the same two arguments."""
    for name in tree.select(".def"):
        seen = set()
        for row in ROW.findall(tree.text(name)):
            if row in seen:
                yield f"{name}: {row[0]}({row[1]}) twice"
            seen.add(row)


def diagnostics(tree):
    return DIAG.findall(tree.text(DIAGNOSTICS)) if DIAGNOSTICS in tree.files else []


def unique_diagnostics(tree):
    """Neither a code nor a name twice."""
    words = [word for row in diagnostics(tree) for word in row]
    for word in sorted({w for w in words if words.count(w) > 1}):
        yield f"{DIAGNOSTICS}: {word} twice"


def used_diagnostics(tree):
    code = "\n".join(tree.text(f) for f in tree.select(".c", ".l", ".y", under=("compiler/",)))
    for number, name in diagnostics(tree):
        if not re.search(rf"\bDIAG_{name}\b", code):
            yield f"{number} {name}: no code reports it"


def expected_diagnostics(tree):
    tests = "\n".join(tree.text(f) for f in tree.select(under=("tests/",), but=("tests/lint/",)))
    for number, name in diagnostics(tree):
        if number not in tests and not re.search(rf"\bDIAG_{name}\b", tests):
            yield f"{number} {name}: no test expects it"


ORDERED = {"compiler/passes/passes.def": "docs/passes.md", "compiler/kernel/lower/lowerings.def": "docs/ir.md"}


def documented_order(tree):
    """A page lists which pass or lowering stands behind which, and why."""
    for table, page in ORDERED.items():
        rows = re.findall(r'^AFTER\((\w+), (\w+), "(.*)"\)$', tree.text(table), re.M)
        listed = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (.*) \|$", tree.text(page), re.M)
        if rows != listed:
            yield f"{page}: its table is not that of the rows AFTER of {table}"


def documented_lowerings(tree):
    """docs/ir.md lists the lowerings with their sentences."""
    rows = re.findall(r'^LOWERING\((\w+), "(.*)",$', tree.text("compiler/kernel/lower/lowerings.def"), re.M)
    part = tree.text("docs/ir.md").partition("| lowering | what it does |\n| --- | --- |\n")[2].partition("\n\n")[0]
    if rows != re.findall(r"^\| `(\w+)` \| (.*) \|$", part, re.M):
        yield "docs/ir.md: its table is not that of compiler/kernel/lower/lowerings.def"


# What a decision says, in words of its row or in a sentence, is for people; who goes on by it asks for its kind.
WORDS = re.compile(r"\b(strn?cmp|strstr|strr?chr)\([^;]*(->|\.)(chosen|alternatives|reason)\b")


def words_of_decisions(tree):
    """Nothing is steered by the words of a decision; a module that is read has its kind by those of its row."""
    reader = ("compiler/ir/core/decisions.c",)
    for name in tree.select(".c", ".h", under=("compiler/", "tools/", "bench/"), but=reader):
        for number, row in enumerate(tree.lines(name), 1):
            if WORDS.search(row):
                yield f"{name}:{number}: compares the words of a decision"


CHECKS = [unique_rows, unique_diagnostics, used_diagnostics, expected_diagnostics, documented_order,
          documented_lowerings, words_of_decisions]
