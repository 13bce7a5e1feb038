#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pmgc takes at most 300 ms for each way in which it compiles an example (2.6 s for a whole solver), at most 1.5 s
(or 2.6 s) for all of them (with PMG_TEST_LONG; else a sixth of the examples, of which half in all ways), and 1 s for
a pipeline of 100 stages, which stays parallel (1.8 s, for a busy machine, where each has cases and nine neighbours);
up to 3.5 s for hundreds of stages and for 150 sizes (LARGE); 600 ms to tell of 5000 unknown names beside 5000 known
ones; and whatever it is given it ends within 10 s: with code, or with the message that says that isl's quota is used
up. The best of some runs, in processor time, so that what else runs on the machine does not count; of the reference
of tests/speed.py, if this one is slower. Not with sanitizers, which take their own time. Not with counts of lines,
which do so, too."""
import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, "tests")
import chains
import speed

PMGC = os.environ.get("PMGC") or str(Path(os.environ.get("BUILD", "build")) / "pmgc")
ONE_WAY, ALL_WAYS, LONG, MANY, MOST = 0.300, 1.500, 1.000, 1.800, 10.000
PROGRAMS = ["tests/programs/neuron_step.pmg", "dsl_examples/life/commit.pmg"]       # of many stages
SOLVERS = {"sbbnnls.pmg": 2.600}                # a hundred stages
LARGE = {                                       # programs, and what they may take
    "500 points": (chains.points(500), 0.500),
    "250 stencils": (chains.stencils(250), 4.000),
    "500 statements": (chains.statements(500), 1.000),
    "150 sizes": (chains.statements(150, True), 3.500),
}
STAGES, RUNS = 100, 3
NAMES, DIAGNOSED = 5000, 0.600
QUOTA = "PMG0702"
LONG_FORM = "PMG_TEST_LONG" in os.environ
RESULTS = {"passed": 0, "failed": 0}
LIMITS = speed.Limits()


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print("does not hold:", what)


def spent():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def compiled(path, *options):
    """Processor seconds, exit status, C and messages."""
    start = spent()
    done = subprocess.run([PMGC, str(path), *options, "--remarks", "-o", "-"], stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False, timeout=30*MOST)
    return spent() - start, done.returncode, done.stdout, done.stderr


def test_examples():
    for number, example in enumerate(sorted(Path("dsl_examples").glob("*.pmg"))[::1 if LONG_FORM else 6]):
        ways = [(SOLVERS.get(example.name, ONE_WAY), ["--candidates=1"])]
        if number % 2 == 0 or LONG_FORM:
            ways.append((max(ALL_WAYS, ways[0][0]), []))
        for limit, options in ways:
            times = []
            while not times or (len(times) < RUNS and not LIMITS.allow(min(times), limit)):
                times.append(compiled(example, *options)[0])
            check(LIMITS.allow(min(times), limit), f"{example} {options}: {1e3*min(times):.0f} ms")


def test_programs():
    """Candidates, of which there are fewer the more stages a file has."""
    rest = [str(path) for folder in ("tests/programs", "dsl_examples/life") for path in Path(folder).glob("*.pmg")]
    for path in sorted(rest) if LONG_FORM else PROGRAMS:
        seconds, status, code, _ = compiled(path)
        check(LIMITS.allow(seconds, MOST), f"{path}: {seconds:.1f} s")
        check(status == 0 and "_kernel" in code, path)
        check(path not in PROGRAMS or "of the ways to compile it (not all)" in code, f"{path}: all candidates")


def test_long(folder):
    for name, text in {"chain": chains.chain(STAGES), "mixture 1": chains.mixture(STAGES, 1),
                       "mixture 2": chains.mixture(STAGES, 2)}.items():
        path = Path(folder) / "long.pmg"
        path.write_text(text)
        runs = [compiled(path)]
        while len(runs) < RUNS and not LIMITS.allow(min(runs)[0], LONG):
            runs.append(compiled(path))
        best, status, code, messages = min(runs)
        check(LIMITS.allow(best, LONG), f"{name} of {STAGES}: {best:.2f} s")
        is_parallel = "#pragma omp parallel" in code and "too many to compute" not in messages
        check(status == 0 and is_parallel, f"{name}: parallel: {messages}")


def test_large(folder):
    for name, (text, limit) in LARGE.items():
        path = Path(folder) / "large.pmg"
        path.write_text(text)
        runs = [compiled(path, "--candidates=1")]
        while len(runs) < RUNS and not LIMITS.allow(min(runs)[0], limit):
            runs.append(compiled(path, "--candidates=1"))
        best, status, _, messages = min(runs)
        check(LIMITS.allow(best, limit), f"{name}: {best:.2f} s")
        check(status == 0 and QUOTA not in messages, f"{name}: {messages[:500]}")


def test_quota(folder):
    """Many definitions have more operations, so that what is simple does not run out of them."""
    cases = [("stencils", chains.stencils(STAGES), STAGES), ("recurrences", chains.recurrences(STAGES), 1),
             ("updates", chains.updates(STAGES), STAGES), ("constructs", chains.constructs(8), 16)]
    for name, text, n_parallel in cases[::1 if LONG_FORM else 2]:
        path = Path(folder) / "many.pmg"
        path.write_text(text)
        runs = [compiled(path, "--candidates=1")]
        while len(runs) < RUNS and not LIMITS.allow(min(runs)[0], MANY):
            runs.append(compiled(path, "--candidates=1"))
        best, status, code, messages = min(runs)
        check(LIMITS.allow(best, MANY), f"{name}: {best:.2f} s")
        check(status == 0 and QUOTA not in messages, f"{name}: {messages}")
        check(code.count("#pragma omp parallel") >= n_parallel, f"{name}: parallel")


def test_most(folder):
    hard = {f"{make.__name__} {n}": make(n)
            for make, counts in {chains.remainders: (4, 3, 30), chains.negations: (8, 4), chains.clamped: (8, 4),
                                 chains.skewed: (8, 5, 6, 7), chains.scattered: (30, 8),
                                 chains.recurrent: (7, 5, 6), chains.chain: (300,)}.items()
            for n in counts[:None if LONG_FORM else 1]}
    hard = hard if LONG_FORM else dict(list(hard.items())[:2])
    n_given_up = 0
    for name, text in hard.items():
        path = Path(folder) / "hard.pmg"
        path.write_text(text)
        seconds, status, code, messages = compiled(path)
        n_given_up += QUOTA in messages
        check(LIMITS.allow(seconds, MOST), f"{name}: {seconds:.1f} s")
        check((status == 0 and "_kernel" in code) or (status == 1 and QUOTA in messages), f"{name}: {messages}")
        check(QUOTA not in messages or "hard.pmg:1:1: error" not in messages, f"{name}: at no statement: {messages}")
    check(n_given_up >= (3 if LONG_FORM else 1), f"only {n_given_up} of {len(hard)} are more than isl can handle")


def test_unknown_names(folder):
    """5000 beside 5000 that are known, and the same of long names, each of which is near to many."""
    path = Path(folder) / "unknown.pmg"
    for stem, in_short in ("", True), ("an_array_of_a_long_name_", False):
        path.write_text("pipeline p {\n" + "".join(
            f"in {stem}known{i} : f64; out {stem}y{i} : f64; {stem}y{i} = {stem}unknown{i} + {stem}known{i};\n"
            for i in range(NAMES)) + "}\n")
        runs = [compiled(path)]
        while len(runs) < RUNS and not LIMITS.allow(min(runs)[0], DIAGNOSED):
            runs.append(compiled(path))
        best, status, _, messages = min(runs)
        check(LIMITS.allow(best, DIAGNOSED), f"{NAMES} unknown names, short {in_short}: {best:.2f} s")
        check(status == 1 and f"{NAMES - 20} more errors" in messages, messages[-200:])


def test_few_operations():
    """Wherever isl runs out of them, there is an end."""
    for n in range(12000, 72000, 2000) if LONG_FORM else (24000, 64000):
        options = ["--restructure=off", f"--max-operations={n}"]
        seconds, status, _, messages = compiled("tests/programs/hines.pmg", *options)
        is_in_time = LIMITS.allow(seconds, MOST)
        check(is_in_time and status in (0, 1) and QUOTA in messages, f"{n}: {seconds:.1f} s, {messages}")


def main():
    with tempfile.TemporaryDirectory(prefix="pmg-time-") as folder:
        test_examples()
        test_programs()
        test_long(folder)
        test_large(folder)
        test_quota(folder)
        test_most(folder)
        test_unknown_names(folder)
    test_few_operations()
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return RESULTS["failed"] != 0


sys.exit(main())
