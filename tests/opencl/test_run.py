#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pmg run --target=opencl compiles, runs and compares; a file of pmgc is linked by its own words; what the target
cannot do is refused with what it is and how to go on; a plan without a platform says so.

Skipped without a platform of OpenCL.
Its C is not optimised.
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(os.environ.get("BUILD", "build"))
RESULTS = {"passed": 0, "failed": 0}
PROGRAM = """pipeline scaled {
    param n;
    in  x : f64[n];
    out y : f64[n];
    y[i] = 2*x[i] for i in 0..n;%s
}
"""
MAIN = """#include <stdio.h>
#include "p.h"

int main(void)
{
	double x[3] = { 1, 2, 3 }, y[3];
	const int64_t n[] = { 3 };
	pmg_context *context = pmg_context_new(NULL);
	scaled_args args = { .n = 3, .x = pmg_dense(x, PMG_F64, 1, n), .y = pmg_dense(y, PMG_F64, 1, n) };
	scaled_plan_t *plan = NULL;

	if (scaled_plan(&args, &(pmg_options) { .context = context }, &plan) || scaled_execute(plan, &args, NULL))
		puts(pmg_message(context));
	else
		printf("%g %g %g\\n", y[0], y[1], y[2]);
	scaled_destroy(plan);
	pmg_context_free(context);
	return 0;
}
"""


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what}")


def run(*words, **env):
    done = subprocess.run([str(word) for word in words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          env=dict(os.environ, **env), check=False)
    return done.returncode, done.stdout


def has_platform():
    return os.path.isdir("/etc/OpenCL/vendors") and os.listdir("/etc/OpenCL/vendors")


def compares(folder):
    """Sums of all work items, a loop whose end the device finds, updates that meet."""
    status, said = run(BUILD / "pmg", "run", "dsl_examples/conjugate_gradient.pmg", "--target=opencl", "--compare",
                       "n=40", "nnz=200", "maxIter=5", "tol=1e-3", "off=random:1", "col=random:2", "val=random:3",
                       "diag=random:4", "b=random:5", "x0=random:6", f"--keep={folder}")
    check(status == 0 and re.search(r"^iterations +0 ", said, re.M), said)


def links(folder):
    """As the head of the C file says."""
    (folder / "p.pmg").write_text(PROGRAM % "")
    check(run(BUILD / "pmgc", folder / "p.pmg", "--target=opencl", "-o", folder / "p.c") == (0, ""), "pmgc")
    (folder / "main.c").write_text(MAIN)
    said = re.search(r"To be linked with (-\w+)\.", (folder / "p.c").read_text())
    check(said, "what to link with")
    status = run("gcc", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Iruntime", folder / "p.c",
                 folder / "main.c", "-o", folder / "p", BUILD / "libpmgrt.a", said[1], "-fopenmp", "-lm")
    check(status == (0, ""), status)
    check(run(folder / "p") == (0, "2 4 6\n"), run(folder / "p"))
    without = run(folder / "p", OCL_ICD_VENDORS="/nowhere")
    check(without == (0, "pipeline 'scaled': there is no device of OpenCL\n"), without)


def refuses(folder):
    (folder / "p.pmg").write_text(PROGRAM % "\n    schedule { blas on; }")
    status, said = run(BUILD / "pmgc", folder / "p.pmg", "--target=opencl", "-o", folder / "q.c")
    check(status == 1 and "the target 'opencl' calls no BLAS" in said, (status, said))
    (folder / "p.pmg").write_text(Path("tests/random/scheduled/segments.pmg").read_text())
    status, said = run(BUILD / "pmgc", folder / "p.pmg", "--target=opencl", "-o", folder / "q.c")
    check(status == 1 and "'layout by interleave' is not supported for this target" in said and
          "--overrides=off compiles without the schedule block" in said, (status, said))
    check(not (folder / "q.c").exists(), "nothing is written")


def main():
    if not has_platform():
        print("0 passed, 0 failed, 3 skipped")
        return 0
    with tempfile.TemporaryDirectory() as name:
        for test in compares, links, refuses:
            test(Path(name))
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return 1 if RESULTS["failed"] else 0


sys.exit(main())
