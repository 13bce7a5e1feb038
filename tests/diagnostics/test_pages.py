#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""docs/errors: a page for each row of diag.def, all of one form. The wrong program of a page gives that code and no
other, the right one gives no message; `pmgc explain` shows the page, and the catalogue lists it.
With sanitizers only for --long: test_messages.py asks as much of pmgc."""
import re
import sys
import tempfile
from pathlib import Path

from pmgc import ROOT, Count, messages, pmgc

ROW = re.compile(r'^DIAG\("(PMG\d{4})", \w+\)$', re.M)
PAGE = re.compile(r"# (?P<code>PMG\d{4}): (?P<title>[^\n]+)\n\n(?P<text>.+?\n)"
                  r"(?:\n```pmg-wrong(?P<options>[^\n]*)\n(?P<wrong>.+?)```\n\n```pmg\n(?P<right>.+?)```\n)?", re.S)
# No program of some lines causes these. The second column is the test that does.
WITHOUT_PROGRAM = {
    "PMG0001": "tests/diagnostics/test_messages.py",
    "PMG0002": "tests/diagnostics/test_messages.py",
}


def codes():
    return ROW.findall((ROOT / "compiler" / "support" / "diag.def").read_text())


def told(folder, name, text, options):
    """The codes of a program's messages. Remarks count only when one of them is asked for."""
    (folder / name).write_text(text)
    return {(row["code"], row["severity"]) for row in messages(name, "--remarks", *options, folder=folder)}


def check_programs(count, page, folder):
    code, name = page["code"], page["code"] + ".pmg"
    wrong = told(folder, name, page["wrong"], page["options"].split())
    right = told(folder, name, page["right"], [])
    own = {row for row in wrong if row[0] == code}
    count(f"{code}: wrong program", "" if own else f"says {wrong}")
    count.equal(f"{code}: other messages of the wrong program",
                {row for row in wrong - own if row[1] != "remark"}, set())
    count.equal(f"{code}: messages of the right program",
                {row for row in right if row[1] != "remark" or row in own}, set())


def check_page(count, code, folder):
    path = ROOT / "docs" / "errors" / f"{code}.md"
    page = path.exists() and PAGE.fullmatch(path.read_text())
    count(f"{code}: form of the page", "" if page and page["code"] == code else "not the form of the others")
    if not page:
        return
    if page["wrong"]:
        check_programs(count, page, folder)
    else:
        other = WITHOUT_PROGRAM.get(code)
        count(f"{code}: tested elsewhere", "" if other and code in (ROOT / other).read_text() else f"not in {other}")
    shown = pmgc("explain", code)
    count.equal(f"{code}: explain", (shown.returncode, shown.stderr, shown.stdout.decode().splitlines()[0]),
                (0, b"", f"{code}: {page['title']}"))
    rows = shown.stdout.decode()
    for program in filter(None, (page["wrong"], page["right"])):
        count(f"{code}: explain shows the programs", "" if "    " + program.split("\n")[0] in rows else rows)


def check_explain(count):
    """Codes are found however they are written; all of them are listed; an unknown one is wrong usage."""
    page = pmgc("explain", "PMG0201").stdout
    for spelling in ("pmg0201", "0201", "201"):
        count.equal(f"explain {spelling}", pmgc("explain", spelling).stdout, page)
    listed = pmgc("explain").stdout.decode()
    count.equal("explain: the list", re.findall(r"^(PMG\d{4}): \S", listed, re.M), codes())
    for wrong in (["PMG9999"], ["nonsense"], ["PMG0201x"], [""]):
        done = pmgc("explain", *wrong)
        count.equal(f"explain {wrong}", (done.returncode, done.stdout), (2, b""))
    count.equal("explain: too much", pmgc("explain", "PMG0201", "PMG0202").returncode, 2)


def main():
    count = Count()
    rows = codes()
    count("rows of diag.def", "" if len(rows) > 50 else f"{len(rows)}")
    count.equal("rows of diag.def are in order", rows, sorted(rows))
    pages = sorted(p.stem for p in (ROOT / "docs" / "errors").glob("*.md"))
    count.equal("pages", pages, sorted(rows))
    with tempfile.TemporaryDirectory() as folder:
        for code in rows:
            check_page(count, code, Path(folder))
    check_explain(count)
    return count.close()


sys.exit(main())
