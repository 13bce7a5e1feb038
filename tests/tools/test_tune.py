#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pmg run --tune`: each candidate gives the interpreter's numbers, trials are told and remembered, wisdom is read
again, replaced as a whole, and left alone where it is something else. Not with sanitizers: most of its time is that of
generated code, and the files of wisdom have tests in C. Its C is not optimised."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(os.environ.get("BUILD", "build"))
PMG = str((BUILD / "pmg").resolve())
EXAMPLES = Path("dsl_examples").resolve()
DATA = ("PHI=random:1 D=random:2 Y=random:3 nAtoms=50 nVoxels=300 nFibers=40 nTheta={} nCoeffs=4000").split()
# gcc, but for what it has compiled before: all runs of one size have the same text.
COMPILER = """#!{}
import hashlib, pathlib, shutil, subprocess, sys
text, library = next(word for word in sys.argv if word.endswith(".c")), sys.argv[sys.argv.index("-o") + 1]
known = pathlib.Path(__file__ + hashlib.sha1(pathlib.Path(text).read_bytes()).hexdigest())
if known.exists():
    shutil.copy(known, library)
elif subprocess.run(["gcc", *sys.argv[1:]]).returncode == 0:
    shutil.copy(library, known)
else:
    sys.exit(1)
"""
RESULTS = {"passed": 0, "failed": 0}


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what}")


def run(*options, theta=96, cache="cache"):
    command = [PMG, "run", str(EXAMPLES / "life_wc.pmg"), *[word.format(theta) for word in DATA],
               "--candidates=3", f"--cc={Path('compiler').resolve()}", *options]
    env = dict(os.environ, XDG_CACHE_HOME=str(Path(cache).resolve()), PMG_CACHE="off")
    return subprocess.run(command, capture_output=True, text=True, env=env, check=False)


def chosen(result):
    found = re.search(r"^chosen: (.*) \((.*)\); tuning [0-9.]+ ms, inspection [0-9.]+ ms$", result.stdout, re.M)
    return found.groups() if found else (None, result.stderr)


def choices():
    result = run("--tune=measure", "--wisdom", "off")
    table = re.findall(r"^[* ] (\S.*?)  +[0-9.]+ +[0-9.]+  [0-9.]+( [0-9.]+)*$", result.stdout, re.M)
    check(len(table) >= 2, f"two trials or more: {result.stdout}{result.stderr}")
    check(result.stdout.count("\n* ") == 1, "one of them is marked")
    check(chosen(result)[1] == "measured", chosen(result))
    check(not Path("cache").exists(), "--wisdom off writes nothing")
    names = [row[0] for row in table]
    check("first" in names, f"the first one is there: {names}")
    return names


def each_is_right(names):
    for name in names:
        result = run("--compare", "--candidate", name)
        check(result.returncode == 0 and chosen(result) == (name, "asked for"), f"{name}: {result.stderr}")
    for options in ("--tune=estimate",), ("--tune=measure",), ("--deterministic", "--tune=measure"):
        result = run("--compare", "--wisdom", "off", *options)
        check(result.returncode == 0 and chosen(result)[0], f"{options}: {result.stdout}{result.stderr}")
    check(chosen(result)[1] in ("estimated", "the first"), f"a deterministic choice is not measured: {chosen(result)}")


def memory():
    first = run("--tune=measure")
    path = Path("cache/pmg/wisdom")
    check(chosen(first)[1] == "measured" and path.exists(), first.stderr)
    lines = path.read_text().splitlines()
    check(lines[0] == "pmg wisdom 1" and len(lines) == 2 and lines[1].startswith("life_wc "), lines)
    again = run("--tune=measure")
    check(chosen(again) == (chosen(first)[0], "remembered"), chosen(again))
    check(path.read_text().splitlines() == lines, "what is remembered is not measured again")
    check(chosen(run("--tune=estimate"))[1] == "remembered", "an estimate is not better than a memory")
    other = run("--tune=measure", theta=33)
    check(chosen(other)[1] == "measured" and len(path.read_text().splitlines()) == 3, "another size is another problem")
    check(chosen(run("--tune=measure", "--threads", "1"))[1] == "measured", "another number of threads, too")
    check(chosen(run())[0] is None, "without --tune nothing is told")
    mine = run("--tune=measure", "--wisdom", "folder/mine")
    check(chosen(mine)[1] == "measured" and Path("folder/mine").exists(), mine.stderr)
    check(sorted(p.name for p in path.parent.iterdir()) == ["wisdom"], "no part of a file is left")


def other_files():
    Path("cut").write_text("pmg wisdom 1\nlife_wc nonsense\n\x01\x02\tx\n")
    result = run("--tune=measure", "--wisdom", "cut")
    check(chosen(result)[1] == "measured" and not result.stderr, result.stderr)
    check(len(Path("cut").read_text().splitlines()) == 2, "what cannot be read goes away")
    Path("letter").write_bytes(b"Dear reader\n")
    result = run("--tune=measure", "--wisdom", "letter")
    check(result.returncode == 0 and chosen(result)[1] == "measured", result.stderr)
    check(result.stderr == "pmg run: note: 'letter' is no wisdom of this version, and left alone\n", result.stderr)
    check(Path("letter").read_bytes() == b"Dear reader\n", "a letter stays what it is")
    result = run("--tune=measure", "--wisdom", "letter/below")
    check(result.returncode == 0 and "cannot be written" in result.stderr, result.stderr)
    known = Path("cache/pmg/wisdom").read_text().replace("\t", "\tno such candidate ", 1)
    Path("old").write_text("\n".join(known.splitlines()[:2]) + "\n")
    check(chosen(run("--tune=measure", "--wisdom", "old"))[1] == "measured", "a choice that is gone is not taken")


def short_rows():
    """Sums down columns are added up row by row where rows are not short, or are known to be."""
    Path("columns.pmg").write_text("pipeline columns { param n, m; in x : f64[n, m]; out y : f64[m];\n"
                                   "y[j] = sum(i in 0..n) abs(x[i, j]) for j in 0..m; }\n")
    for m, *options, choice in ((7, "--specialize=off", ("--columns=off", "the first that suits the sizes")),
                                (8, "--specialize=off", ("first", "the first")), (7, ("first", "the first"))):
        command = [PMG, "run", "columns.pmg", "n=9", f"m={m}", "x=random:1", "--tune=off", "--compare", *options,
                   f"--cc={Path('compiler').resolve()}"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        check(result.returncode == 0 and chosen(result) == choice, f"{m} {options}: {result.stdout}{result.stderr}")


def default():
    """Without --tune a plan is estimated: what is compiled has candidates, of which one is taken by its sizes."""
    for options, wanted in ([], "2"), (["--tune=estimate"], "2"):
        folder = Path("kept", "-".join(options) or "default")
        folder.mkdir(parents=True)
        result = run("--candidates=2", *options, "--keep", str(folder))
        text = (folder / "life_wc.c").read_text()
        found = re.search(r"\.n_candidates = (\d+)", text)
        check(result.returncode == 0 and (found[1] if found else "0") == wanted, f"{options}: {result.stderr}")


def untried():
    """The order that isl proposes is for trials to tell: it takes no time of the C compiler by default."""
    for options, is_there in ([], False), (["--tune=estimate"], True), (["--candidate", "first"], True):
        folder = Path("untried", "-".join(options) or "default")
        folder.mkdir(parents=True)
        command = [PMG, "run", str(EXAMPLES / "blur.pmg"), "R=5", "C=6", "img=random:1", *options,
                   "--keep", str(folder), f"--cc={Path('compiler').resolve()}"]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        found = "--schedule=isl" in (folder / "blur.c").read_text()
        check(result.returncode == 0 and found == is_there, f"{options}: {result.stderr}")


def turns():
    """All candidates are executed in turns, and the one that is chosen is told beside the best one."""
    result = run("--turns=3", "--wisdom", "off")
    rows = re.findall(r"^[* ] (\S.*?) +[0-9.]+ +[0-9.]+ +[1-3]$", result.stdout, re.M)
    last = re.search(r"^chosen: (.*) takes ([0-9.]+) times the best, (.*), of [0-9.]+ ms$", result.stdout, re.M)
    check(len(rows) == 3 and last and last[1] in rows and last[3] in rows, result.stdout + result.stderr)
    check(bool(last) and float(last[2]) >= 1, "none is better than the best")
    result = run("--turns=3", "--repeat=2")
    check(result.returncode == 2 and "--turns excludes" in result.stderr, result.stderr)


def mistakes():
    result = run("--tune=fast")
    told = "--tune takes off, estimate or measure, not 'fast'" in result.stderr
    check(result.returncode == 2 and told, result.stderr)
    result = run("--wisdom", "none")
    check(result.stderr == "pmg run: note: there is no 'none' yet: --tune=measure writes there what trials find\n" and
          result.returncode == 0 and not Path("none").exists(), result.stderr)
    for options, name in (["--tune=off"], "--tune=off"), (["--candidate", "first"], "--candidate"):
        result = run("--wisdom", "none", *options)
        check((result.returncode, result.stderr) == (2, f"pmg run: --wisdom excludes {name}: --tune=measure writes it, "
              "and the default, --tune=estimate, reads it\n"), result.stderr)
    result = run("--candidate", "faster")
    check(result.returncode == 2 and "has no candidate 'faster'" in result.stderr, result.stderr)


def main():
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("compiler").write_text(COMPILER.format(sys.executable))
        Path("compiler").chmod(0o755)
        each_is_right(choices())
        memory()
        other_files()
        short_rows()
        default()
        untried()
        turns()
        mistakes()
        os.chdir(here)
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return RESULTS["failed"] > 0


raise SystemExit(main())
