#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The pass of docs/passes.md and the target of docs/targets.md: a file and a row, put beside the others, are all that
they need.

Each table is built anew with the row of its page and linked, with the file of the page, before the library. The program
of the page is compiled by that compiler and by the one that there is, and both give the same numbers.
Not with sanitizers. Not with counts of lines, for which the library must be linked otherwise.
Its C is not optimised.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(os.environ.get("BUILD", "build"))
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-Wall", "-Wextra", "-Wconversion", "-Werror"]
SANITIZERS = ["-fsanitize=address,undefined"] if BUILD.name.endswith("-san") else []
RESULTS = {"passed": 0, "failed": 0}

# Fills inputs, plans, executes and prints outputs: of every pipeline with one input and one output of floats.
MAIN = """#include <stdio.h>
#include "p.h"

#define DENSE(array, type) pmg_dense(array, type, 1, (int64_t[]) { sizeof(array) / sizeof((array)[0]) })

int main(void)
{
	enum { N = 40, M = 7 };
	static double x[N], y[LENGTH];
	static int64_t at[N];
	pmg_context *context = pmg_context_new(NULL);
	const pmg_options options = { .context = context, .threads = 1 };
	NAME_args args = { ARGS };
	NAME_plan_t *plan = NULL;
	bool bad;

	for (int i = 0; i < N; i++) {
		x[i] = 1.7*i + 0.3;
		at[i] = 5*i % M;
	}
	bad = NAME_plan(&args, &options, &plan) || NAME_execute(plan, &args, NULL);
	for (int i = 0; !bad && i < LENGTH; i++)
		printf("%a\\n", y[i]);
	NAME_destroy(plan);
	pmg_context_free(context);
	return bad || at[0];
}
"""


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what}")


def run(*words, **more):
    return subprocess.run([str(word) for word in words], check=True, stdout=subprocess.PIPE, text=True, **more).stdout


def cc():
    return os.environ.get("CC", "clang" if "clang" in BUILD.name else "gcc").split()


def block(page, before):
    """The first fenced block behind a text of the page."""
    return re.search(r"```\w*\n(.*?)```", page[page.index(before):], re.S).group(1)


def compiler_with(folder, page, part, table, owner, before):
    """pmgc with the file of a page, and with its row in `table`, which is read by the C file `owner`: ahead of the row
    that starts with `before`, or last. A pass has a decision, too, in the table of these."""
    rows = Path(f"compiler/{part}/{table}").read_text()
    row = block(page, "The row in")
    (folder / part).mkdir(parents=True)
    (folder / part / table).write_text(rows.replace(before, row + before, 1) if before else rows + row)
    owners = [f"compiler/{part}/{owner}"]
    if "The row of its decision" in page:
        decisions = Path("compiler/ir/core/decisions.def").read_text()
        (folder / "ir/core").mkdir(parents=True)
        (folder / "ir/core/decisions.def").write_text(decisions + block(page, "The row of its decision"))
        owners.append("compiler/ir/core/decisions.c")
    source = folder / Path(re.search(r"compiler/[\w/]+\.c(?=`:)", page).group(0)).name
    source.write_text(block(page, "The file"))
    libs = [run("pkg-config", option, "isl").split() for option in ("--cflags", "--libs")]
    run(*cc(), *FLAGS, *SANITIZERS, f"-I{folder}", "-Icompiler", "-Iruntime", *libs[0], source, *owners,
        BUILD / "obj/compiler/driver/main.o", BUILD / "obj/tools/pmgc.o", BUILD / "libpmgtools.a", BUILD / "libpmgc.a",
        *libs[1], "-lz", "-lm", "-o", folder / "pmgc")
    return folder / "pmgc"


def results(folder, pmgc, name, args, length, *options):
    """The generated C and what it computes. Without OpenMP nothing uses the sizes that only pragmas count with."""
    folder.mkdir()
    run(pmgc, folder.parent / "p.pmg", "-o", folder / "p.c", *options)
    main = MAIN.replace("ARGS", args).replace("NAME", name).replace("LENGTH", length)
    (folder / "main.c").write_text(main)
    for source in "p.c", "main.c":
        run(*cc(), *FLAGS[:3], "-Wno-unknown-pragmas", "-Wno-unused-variable", "-Werror", "-O1", *SANITIZERS,
            "-Iruntime", f"-I{folder}", "-c", folder / source, "-o", (folder / source).with_suffix(".o"))
    run(*cc(), *SANITIZERS, "-fopenmp", folder / "p.o", folder / "main.o", BUILD / "libpmgrt.a", "-lm", "-o",
        folder / "p")
    return (folder / "p.c").read_text(), run(folder / "p")


def new_pass(folder):
    page = Path("docs/passes.md").read_text()
    pmgc = compiler_with(folder, page, "passes", "passes.def", "passes.c", "PASS(dependences")
    (folder / "p.pmg").write_text(block(page, "a program that uses it"))
    args = ".n = N, .x = DENSE(x, PMG_F64), .y = DENSE(y, PMG_F64)"
    text, values = results(folder / "new", pmgc, "halves", args, "N")
    old_text, old_values = results(folder / "old", BUILD / "pmgc", "halves", args, "N")
    check("x[i]*0.25" in text, text)
    check("0.25" not in old_text and values and values == old_values, "the same numbers")
    told = run(pmgc, folder / "p.pmg", "--explain", "--emit=schedule", stderr=subprocess.STDOUT)
    check(re.search(r"reciprocal +y +product +1 of its divisors", told), told)
    check("divisions by powers of two" in run(pmgc, "--help-passes"), "the help lists it")


def examples(folder, pmgc):
    """Every fifth example, with PMG_TEST_LONG each, compiles for the target, and what comes out is C."""
    for program in sorted(Path("dsl_examples").glob("**/*.pmg"))[::1 if "PMG_TEST_LONG" in os.environ else 5]:
        done = subprocess.run([pmgc, program, "--target=serial", "--candidates=1", "-o", folder / "e.c"],
                              stderr=subprocess.PIPE, text=True, check=False)
        check(not done.stderr and not done.returncode, f"{program}: {done.stderr}")
        if not done.returncode:
            run(*cc(), *FLAGS[:3], "-Wno-unknown-pragmas", "-Werror", "-fsyntax-only", "-Iruntime", folder / "e.c")


def without_a_mark(folder):
    """A mark that the target lacks is left out, or, where an item asks for it, refused as the page says."""
    folder.mkdir()
    page = Path("docs/targets.md").read_text()
    for mark in "BLOCK", "TILE", "VECTOR":
        page = page.replace(f" [MARK_{mark}] = true,", "")
    said, option = re.search(r"is answered with\n`([^`]+)`, and compiles with `([^`]+)`", page).groups()
    pmgc = compiler_with(folder, page, "codegen", "targets.def", "target.c", None)
    options = ["--target=serial", "--message-format=short", "-o", folder / "e.c"]
    done = subprocess.run([pmgc, "dsl_examples/thomas.pmg", *options], stderr=subprocess.PIPE, text=True, check=False)
    check((done.returncode, done.stderr) == (0, ""), done.stderr)
    tiles = [pmgc, "tests/random/scheduled/tiles.pmg", *options]
    done = subprocess.run(tiles, stderr=subprocess.PIPE, text=True, check=False)
    check(done.returncode == 70 and f"error[PMG0001]: {said}" in done.stderr, done.stderr)
    check(subprocess.run([*tiles, option], check=False).returncode == 0, option)


def new_target(folder):
    page = Path("docs/targets.md").read_text()
    pmgc = compiler_with(folder, page, "codegen", "targets.def", "target.c", None)
    (folder / "p.pmg").write_text(block(page, "a program to try it with"))
    args = ".n = N, .m = M, .at = DENSE(at, PMG_I64), .x = DENSE(x, PMG_F64), .y = DENSE(y, PMG_F64)"
    text, values = results(folder / "new", pmgc, "buckets", args, "M", "--target=serial")
    _, old_values = results(folder / "old", BUILD / "pmgc", "buckets", args, "M")
    check("#pragma omp" not in text and "for serial" in text, text)
    check(values and values == old_values, "the same numbers")
    wrong = subprocess.run([pmgc, folder / "p.pmg", "--target=seria"], capture_output=True, text=True, check=False)
    check(wrong.returncode == 2 and "openmp, cuda, opencl, serial" in wrong.stderr, wrong.stderr)
    check("what to generate: openmp, cuda, opencl, serial\n" in run(pmgc, "--help"), "the help lists it")
    examples(folder, pmgc)
    without_a_mark(folder / "less")


def main():
    for test in new_pass, new_target:
        with tempfile.TemporaryDirectory() as name:
            test(Path(name))
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return 1 if RESULTS["failed"] else 0


sys.exit(main())
