#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Instructions that the kernels of the examples execute, by callgrind: counts.py BUILD [--update].

Each row of counts.tsv is a pipeline, small fixed inputs and a count. The examples are compiled as users' programs
are, but for x86-64-v3, which valgrind knows, and run on one thread; what the kernel function executes, with all
that it calls, is counted. OpenMP's runtime allocates there, and symbols may be looked up: an allocator without
caches, whose work depends on what was freed before, and symbols that are bound at once, keep that from counting.
More than 2 % above the table fails: code became worse, or the table is to be updated by `make counts`, and the
commit says why. Counts are those of one compiler; where there is another one, or no valgrind, the rows are skipped, and
so are three of four libraries without PMG_TEST_LONG.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TABLE = Path("tests/counts/counts.tsv")
MORE = 1.02
FLAGS = "-std=c11 -O3 -march=x86-64-v3 -ffp-contract=fast -fno-trapping-math -fopenmp -fPIC -shared -fwrapv".split()
COLLECTED = re.compile(r"Collected : (\d+)")


def compiler():
    """As the table names it: "gcc 12"."""
    version = subprocess.run(["gcc", "-dumpversion"], capture_output=True, text=True, check=False).stdout
    return "gcc " + version.split(".")[0].strip()


def read_table():
    """The compiler, and [file, pipeline, count, arguments] of each row."""
    rows = [row for row in TABLE.read_text().splitlines() if row]
    named = next(row.split(":")[1].strip() for row in rows if row.startswith("# compiler:"))
    return named, [row.split("\t") for row in rows if not row.startswith("#")]


def write_table(rows):
    head = [row for row in TABLE.read_text().splitlines() if row.startswith("#")]
    head = [f"# compiler: {compiler()}" if row.startswith("# compiler:") else row for row in head]
    TABLE.write_text("\n".join(head + ["\t".join(row) for row in rows]) + "\n")


def options_of(row):
    """Those of pmgc, in the columns behind the arguments."""
    return tuple(row[4:])


def library_of(row, folder):
    """Named by file and options."""
    return f"{folder}/{Path(row[0]).stem}_{abs(hash(options_of(row)))}"


def build_library(build, row, folder):
    name = Path(library_of(row, folder)).name
    subprocess.run([f"{build}/pmgc", f"dsl_examples/{row[0]}", "-o", f"{folder}/{name}.c", "--blas=off",
                    *options_of(row)], check=True)
    subprocess.run(["gcc", *FLAGS, "-Iruntime", f"-I{folder}", f"{folder}/{name}.c", "-o", f"{folder}/{name}.so",
                    f"-L{build}", f"-Wl,-rpath,{Path(build).resolve()}", "-lpmgrt", "-lm"], check=True)


def count(build, row, folder):
    """Instructions of one row, or what went wrong."""
    file, pipeline, _, words = row[:4]
    command = ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--collect-atstart=no",
               f"--toggle-collect={pipeline}*_kernel", f"{build}/tests/counts/count", f"dsl_examples/{file}", pipeline,
               library_of(row, folder) + ".so", *words.split()]
    run = subprocess.run(command, capture_output=True, text=True, check=False,
                         env=dict(os.environ, OMP_NUM_THREADS="1", LC_ALL="C", LD_BIND_NOW="1",
                                  GLIBC_TUNABLES="glibc.malloc.mxfast=0:glibc.malloc.tcache_count=0"))
    found = COLLECTED.search(run.stderr)
    if run.returncode != 0 or not found:
        return (run.stdout + run.stderr)[-2000:]
    return int(found.group(1)) or "no kernel of its name was executed"


def counts(build, rows):
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(int(os.environ.get("PMG_TEST_JOBS", 2))) as pool:
        libraries = {library_of(row, folder): row for row in rows}
        list(pool.map(lambda row: build_library(build, row, folder), libraries.values()))
        return list(pool.map(lambda row: count(build, row, folder), rows))


def sample(rows):
    """Rows of every fourth file with its options: what takes the time is to compile them."""
    libraries = list(dict.fromkeys((row[0], options_of(row)) for row in rows))
    return [row for row in rows if libraries.index((row[0], options_of(row))) % 4 == 0]


def judge(row, found):
    """Whether a row is as good as the table says, after printing what there is to say."""
    file, pipeline, wanted = row[:3]
    if not isinstance(found, int):
        print(f"{file}, {pipeline}: {found}")
        return False
    change = found / int(wanted) - 1
    if abs(change) > MORE - 1:
        print(f"{file}, {pipeline}: {found} instructions, {wanted} in the table ({100*change:+.1f} %)"
              + ("" if change > 0 else "; `make counts` keeps it"))
    return found <= MORE * int(wanted)


def main():
    build, update = sys.argv[1], "--update" in sys.argv
    named, rows = read_table()
    if not shutil.which("valgrind") or (compiler() != named and not update):
        why = f"{compiler()} is not {named}" if shutil.which("valgrind") else "there is no valgrind"
        print(f"instruction counts: {why}")
        print(f"0 passed, 0 failed, {len(rows)} skipped")
        return 0
    chosen = rows if update or "PMG_TEST_LONG" in os.environ else sample(rows)
    found = counts(build, chosen)
    if update:
        if not all(isinstance(n, int) for n in found):
            sys.exit(next(n for n in found if not isinstance(n, int)))
        write_table([[*row[:2], str(n), *row[3:]] for row, n in zip(rows, found)])
        return 0
    good = sum(judge(row, n) for row, n in zip(chosen, found))
    print(f"{good} passed, {len(chosen) - good} failed, {len(rows) - len(chosen)} skipped")
    return 1 if good < len(chosen) else 0


sys.exit(main())
