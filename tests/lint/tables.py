# SPDX-License-Identifier: MIT
"""The tables (*.def): rows are unique, and each diagnostic is used and expected by a test."""
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



def documented_order(tree):
    """docs/passes.md lists which pass stands behind which, and why."""
    rows = re.findall(r'^AFTER\((\w+), (\w+), "(.*)"\)$', tree.text("compiler/passes/passes.def"), re.M)
    listed = re.findall(r"^\| `(\w+)` \| `(\w+)` \| (.*) \|$", tree.text("docs/passes.md"), re.M)
    if rows != listed:
        yield "docs/passes.md: its table is not that of the rows AFTER of compiler/passes/passes.def"


CHECKS = [unique_rows, unique_diagnostics, used_diagnostics, expected_diagnostics, documented_order]
