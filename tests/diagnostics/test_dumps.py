#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--dump-after: each dump of every program says which pass or lowering wrote it and, truly, whether that changed
anything; a module that is fed back prints as the same and computes the same, as tests/kernel/test_dump_programs.c asks
of kernels. Not with sanitizers: tests/decide asks as much of pmgc."""
import os
import re
import sys
import tempfile
from pathlib import Path

from pmgc import ROOT, Count, lowerings, passes, pmgc

LONG = "PMG_TEST_LONG" in os.environ       # all dumps of all programs, not only the last ones of some
PROGRAMS = sorted(ROOT.glob("tests/programs/*.pmg"))
# As their items ask for: the last dumps have that.
SCHEDULED = [ROOT / f"tests/random/scheduled/{name}.pmg" for name in ("cases", "forests", "trees")]
ONE_WAY = ["--overrides=off", "--candidates=1"]         # what is dumped is the first candidate
HEAD = re.compile(r"# after (?P<name>[\w-]+)(?P<unchanged> \(unchanged\))?\n"
                  r"(?P<module>module `?(?P<pipeline>\w+)`?\n.*)", re.S)
KERNEL = re.compile(r"# after (?P<name>[\w-]+)(?P<unchanged> \(unchanged\))?\n"
                    r"(?P<module>(?:global .*\n)*\n?function .*)", re.S)
COMPUTING = re.compile(r"\t+(#pragma|for |if |while |} else|(?!const |\w+ \*|extents)\w[\w\[\]+*/% >-]* [-+*]?= .*;$)")
STEPPING = re.compile(r"pmg_loop_begin\(|pmg_failed\(")


def all_passes():
    return ["lower"] + passes()


def computation(text, pipeline):
    """Loops, conditions, pragmas and assignments of a pipeline. Which of them share a function goes by statements, and
    a dump has others than the program: so the loop of steps, which is in the last function, does not count."""
    part = text.split(f"/* ---- {pipeline} ---- */\n")[1].split("/* ---- ")[0]
    part = re.sub(r"/\*.*?\*/", "", part, flags=re.S)
    return "\n".join(row.strip() for row in part.splitlines() if COMPUTING.match(row) and not STEPPING.search(row))


def check_head(count, name, dumps, names, head):
    """The comment of each dump of a pipeline, in the order of the passes or lowerings."""
    before = None
    for dump, expected in zip(dumps, names):
        found = head.fullmatch(dump.read_text())
        count.equal(f"{name}: {dump.name}", found and found["name"], expected)
        if not found:
            return
        count.equal(f"{name}: {dump.name} is unchanged", bool(found["unchanged"]), found["module"] == before)
        before = found["module"]


def check_back(count, name, dump, compiled, *flags):
    """One dump as a program."""
    found = HEAD.fullmatch(dump.read_text())
    printed = pmgc(dump.name, "--emit=ir", folder=dump.parent)
    count.equal(f"{name}: {dump.name} printed again", printed.stdout.decode(), found["module"])
    again = pmgc(dump.name, "--emit=c", *flags, folder=dump.parent)
    count(f"{name}: {dump.name} compiled", again.stderr.decode() if again.returncode else "")
    if not again.returncode:
        got, expected = (computation(text, found["pipeline"]) for text in (again.stdout.decode(), compiled))
        count(f"{name}: {dump.name} computes", "" if " = " in expected else "nothing")
        count.equal(f"{name}: code from {dump.name}", got, expected)


def check_program(count, program, folder, *flags):
    name = program.name
    done = pmgc(program, "-o", "p.c", "--dump-after=all", *flags, folder=folder)
    count(name, done.stderr.decode() if done.returncode else "")
    dumps = sorted(folder.glob("*.ir"))
    pipelines = sorted({dump.name.split(".")[0] for dump in dumps})
    count.equal(f"{name}: dumps", len(dumps), len(pipelines) * len(all_passes()))
    compiled = (folder / "p.c").read_text()
    for pipeline in pipelines:
        dumps = sorted(folder.glob(f"{pipeline}.*.ir"))
        check_head(count, name, dumps, all_passes(), HEAD)
        kernels = sorted(folder.glob(f"{pipeline}.*.kernel"))
        count.equal(f"{name}: kernels of {pipeline}", len(kernels), 1 + len(lowerings()))
        check_head(count, name, kernels, ["build", *lowerings()], KERNEL)
        changed = [dump for dump in dumps if " (unchanged)\n" not in dump.read_text()]
        is_last = program in SCHEDULED or not LONG and pipeline != pipelines[0]
        for dump in changed[-1:] if is_last else changed if LONG else [changed[0], changed[-1]]:
            check_back(count, name, dump, compiled, *flags)


def check_one(count, folder):
    """One pass by name; a name that is none."""
    (folder / "p.pmg").write_text("pipeline p { out y : f64; y = 1; }\n")
    pmgc("p.pmg", "-o", "-", "--dump-after=schedule", folder=folder)
    count.equal("one dump", [dump.name.split("-")[1] for dump in folder.glob("*.ir")], ["schedule.ir"])
    count.equal("no kernels", list(folder.glob("*.kernel")), [])
    pmgc("p.pmg", "-o", "-", "--dump-after=dead", folder=folder)
    count.equal("one dump of kernels", [dump.name for dump in folder.glob("*.kernel")],
                [f"p.{len(passes()) + 2 + lowerings().index('dead')}-dead.kernel"])
    wrong = pmgc("p.pmg", "--dump-after=schedul", folder=folder)
    count.equal("no such pass", (wrong.returncode, "'schedul'" in wrong.stderr.decode()), (2, True))


def main():
    count = Count()
    count("programs", "" if PROGRAMS else "none is found")
    for program in PROGRAMS[::1 if LONG else 6]:
        with tempfile.TemporaryDirectory() as folder:
            check_program(count, program, Path(folder), *ONE_WAY)
    for program in SCHEDULED:
        with tempfile.TemporaryDirectory() as folder:
            check_program(count, program, Path(folder), "--candidates=1")
    with tempfile.TemporaryDirectory() as folder:
        check_one(count, Path(folder))
    return count.close()


sys.exit(main())
