#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""tests/one finds a case by its name and runs it alone; tests/part.py runs parts of a test in Python.
Not with sanitizers: it asks nothing of them. Not with counts of lines: it starts make, which knows no such build."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

RESULTS = {"passed": 0, "failed": 0}
PARTS = """def check(holds):
    print("holds" if holds else "does not hold")
def start():
    print("started")
def first():
    check(True)
def second():
    check(False)
def third():
    first()
def main():
    start()
    for test in (first, second):
        test()
    third()
    print("closed")
main()
"""


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what}")


def one(*words):
    done = subprocess.run([sys.executable, "tests/one", *words], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def each_kind_runs():
    for words, command in [
            (["cases/condition"], "tests/codegen/test_codegen tests/codegen/cases/condition.pmg"),
            (["decided/row_long"], "tests/codegen/test_codegen tests/decide/row_long.pmg"),
            (["decide/row_long"], "tests/decide/test_decide tests/decide/row_long.pmg"),
            (["assignment_by_equality"],
             "tests/syntax/test_syntax tests/syntax/err/assignment_by_equality.pmg"),
            (["case_default"], "tests/sema/test_sema tests/sema/err/case_default.pmg"),
            (["programs/spmv"], "tests/random/test_examples tests/programs/spmv.pmg"),
            (["test_support"], "tests/support/test_support"),
            (["test_cache", "found_again"], "tests/part.py tests/tools/test_cache.py found_again"),
            (["random", "7", "412"], "tests/random/test_programs 7 412-412")]:
        status, text = one(*words)
        first = text.splitlines()[0]
        check(status == 0 and first.startswith("$ ") and first.endswith(command) and
              text.splitlines()[-1].startswith("passed: "), f"{words}: {text}")


def names_are_told_apart():
    status, text = one("spmv")
    check(status == 1 and "tests/one programs/spmv\n" in text and "tests/one dsl_examples/spmv\n" in text, text)
    status, text = one("row_lng")
    check(status == 1 and text.startswith("no case is called 'row_lng'; near it: row_long"), text)
    status, text = one("tests/tools/test_state.py", "refusal")
    check(status == 1 and "has no part 'refusal'; it has: refusals\n" in text, text)
    status, text = one("programs/spmv", "first")
    check(status == 1 and "has no parts: first" in text, text)
    check(one()[0] == 1, "no case")


def what_fails_is_told():
    with tempfile.TemporaryDirectory() as folder:
        status, text = one("independent", "1", "nonumber")
        check(status == 1, text)
        path = Path(folder, "test_fails.py")
        path.write_text("import sys\nsys.exit(3)\n")
        code = ("import sys; from importlib.machinery import SourceFileLoader; from pathlib import Path;"
                "one = SourceFileLoader('one', 'tests/one').load_module();"
                f"sys.exit(one.run(Path('{path}'), [sys.executable, '{path}'], None))")
        done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, check=False)
        check(done.returncode == 1 and f"FAILED: {path}, exit status 3\n" in done.stdout, done.stdout + done.stderr)


def parts_run_alone():
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "test_parts.py")
        path.write_text(PARTS)
        for parts, shown in [(["first"], "started\nholds\nclosed\n"), (["second"], "started\ndoes not hold\nclosed\n"),
                             (["second", "third"], "started\ndoes not hold\nholds\nclosed\n")]:
            done = subprocess.run([sys.executable, "tests/part.py", str(path), *parts], capture_output=True, text=True,
                                  check=False)
            check(done.stdout == shown, f"{parts}: {done.stdout}{done.stderr}")


def main():
    os.chdir(Path(__file__).resolve().parent.parent.parent)
    for test in (each_kind_runs, names_are_told_apart, what_fails_is_told, parts_run_alone):
        test()
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return RESULTS["failed"] != 0


if __name__ == "__main__":
    sys.exit(main())
