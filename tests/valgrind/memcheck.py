# SPDX-License-Identifier: MIT
"""Valgrind's memcheck over pmgc, over generated kernels on random data, and over pmg with its readers: memcheck.py
BUILD. No read of what was never written or lies outside, no memory that nothing leads to any more. Blocks that somebody
still holds are not asked for: OpenMP and the dynamic linker keep theirs, so that no suppression is needed.

A kernel with a subscript past the end must be reported, so that silence means something. PMG_TEST_LONG takes every
example and test program instead of a few.
"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import h5py
import numpy as np

sys.path.insert(0, str(Path(__file__).parent.parent / "races"))
import races    # noqa: E402

REPORTED = 99
MEMCHECK = ["valgrind", "-q", f"--error-exitcode={REPORTED}", "--leak-check=full", "--show-leak-kinds=definite",
            "--errors-for-leak-kinds=definite", "--num-callers=20"]
GCC = ["gcc", "-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-fwrapv", "-fopenmp", "-DPMG_ALL_THREADS"]
ENVIRONMENT = dict(os.environ, OMP_NUM_THREADS="2", OMP_WAIT_POLICY="passive")
IS_LONG = bool(os.environ.get("PMG_TEST_LONG"))
SHOWN = 40      # lines of a report
COMPILED = [Path("dsl_examples") / f"{name}.pmg" for name in ("histogram", "jacobi")]
RUN = [Path("dsl_examples") / f"{name}.pmg" for name in ("histogram", "segments", "tree", "spmv", "life_dsc")]
WRONG = ["tests/sema/err/data_subscript.pmg", "tests/syntax/err/include_missing.pmg"]
SEEDED = "dsl_examples/blur.pmg"


def all_programs():
    return sorted([*Path("dsl_examples").glob("*.pmg"), *Path("tests/programs").glob("*.pmg")])


def memcheck(what, command, statuses=(0,)):
    """(what, whether nothing was reported, messages)."""
    ran = subprocess.run([*MEMCHECK, *map(str, command)], env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, errors="replace", check=False)
    return what, ran.returncode in statuses, f"exit status {ran.returncode}\n{ran.stderr}"


# ---- The compiler ---------------------------------------------------------------------------------------------

def compiler_cases(build, folder):
    programs = all_programs() if IS_LONG else COMPILED
    for number, path in enumerate(programs):
        yield (f"pmgc {path}", [f"{build}/pmgc", path, "--overrides=off", f"--candidates={3 if number == 0 else 1}",
                                "-o", f"{folder}/compiled{number}.c"])
    for path in WRONG:
        yield f"pmgc {path}", [f"{build}/pmgc", path, "-o", "-"], (1, 4)
    yield "pmgc explain", [f"{build}/pmgc", "explain", "PMG0101"]


# ---- Kernels --------------------------------------------------------------------------------------------------

def build_checker(build, folder):
    subprocess.run([*GCC, *races.INCLUDES, *races.packages("--cflags"), *races.CHECK_SOURCES, f"{build}/libpmgc.a",
                    f"-L{build}", "-lpmgrt", f"-Wl,-rpath,{Path(build).resolve()}", *races.packages("--libs"), "-ldl",
                    "-lm", "-o", f"{folder}/check"], check=True)


def library(build, folder, program, name, change=lambda text: text):
    source = Path(folder) / f"{name}.c"
    subprocess.run([f"{build}/pmgc", str(program), "--overrides=off", "--blas=off", "-o", str(source)], check=True)
    text = source.read_text()
    changed = change(text)
    source.write_text(changed)
    subprocess.run([*GCC, "-fPIC", "-shared", "-Iruntime", str(source), "-o", str(source.with_suffix(".so")), "-lm"],
                   check=True)
    return source.with_suffix(".so"), changed != text


def check_kernels(build, folder, program):
    made, _ = library(build, folder, program, f"{program.stem}_{program.parent.name}")
    return memcheck(f"kernels of {program}", [f"{folder}/check", program, made, "2", "2"])


def past_the_end(text):
    return re.sub(r"\bimg\[(?=[^\],]*\*)", "img[30000 + ", text, count=1)


def check_seeded(build, folder):
    made, is_changed = library(build, folder, SEEDED, "seeded", past_the_end)
    what, _, messages = memcheck("a seeded error", [f"{folder}/check", SEEDED, made, "2", "2"])
    return what, is_changed and f"exit status {REPORTED}" in messages and "Invalid read" in messages, messages


# ---- pmg --------------------------------------------------------------------------------------------------------

def write_files(folder):
    x, (rows, cols) = np.arange(40.0), np.divmod(np.arange(0, 90, 7), 10)
    np.save(f"{folder}/x.npy", x)
    np.save(f"{folder}/half.npy", np.asfortranarray(x.reshape(8, 5).astype(">f2")))
    np.savetxt(f"{folder}/x.txt", x)
    x.tofile(f"{folder}/x.f64")
    np.savetxt(f"{folder}/A.tsv.gz", np.column_stack([rows, cols, x[rows]]), fmt="%d %d %g")
    Path(f"{folder}/A.mtx").write_text("%%MatrixMarket matrix coordinate real symmetric\n3 3 2\n2 1 1.5\n3 3 2\n")
    Path(f"{folder}/bad.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 2\n2 1 1.5\n3 x 2\n")
    Path(f"{folder}/cc").write_text('#!/bin/sh\nexec gcc "$@" -g -march=x86-64-v3\n')    # what valgrind knows
    Path(f"{folder}/cc").chmod(0o755)
    Path(f"{folder}/double.pmg").write_text("pipeline twice { param n; in x : f64[n]; out y : f64[n]; y = 2*x; }\n")
    with h5py.File(f"{folder}/d.h5", "w") as file:
        file["x"] = x
        for name, data in {"row": rows, "col": cols, "value": x[rows]}.items():
            file["A/" + name] = data


def tool_cases(build, folder):
    pmg = f"{build}/pmg"
    write_files(folder)
    for source in ("half.npy", "x.txt", "x.f64", "d.h5:/x"):
        yield f"pmg convert {source}", [pmg, "convert", f"{folder}/{source}", f"{folder}/from-{source[0:3]}.npy"]
    for source in ("A.tsv.gz", "A.mtx"):
        yield f"pmg convert {source}", [pmg, "convert", f"{folder}/{source}", f"{folder}/from-{source[2:5]}.tns"]
    yield "pmg convert bad.mtx", [pmg, "convert", f"{folder}/bad.mtx", f"{folder}/bad.tns"], (3,)
    yield "pmg convert to HDF5", [pmg, "convert", f"{folder}/A.tsv.gz", f"{folder}/new.h5:/A"]
    yield "pmg inspect", [pmg, "inspect", f"{folder}/d.h5", f"{folder}/x.npy", SEEDED]
    yield "pmg run --interp", [pmg, "run", f"{folder}/double.pmg", "--interp", f"x={folder}/x.npy"]
    yield "pmg run", [pmg, "run", f"{folder}/double.pmg", f"x={folder}/x.f64", "-o", f"y={folder}/y.h5",
                      "--cc", f"{folder}/cc"]


def main():
    build = sys.argv[1]
    with tempfile.TemporaryDirectory(prefix="pmg-valgrind-") as folder:
        cases = [*compiler_cases(build, folder), *tool_cases(build, folder)]
        build_checker(build, folder)
        with ThreadPoolExecutor(int(os.environ.get("PMG_TEST_JOBS", 2))) as pool:
            waiting = [pool.submit(check_seeded, build, folder)]
            waiting += [pool.submit(check_kernels, build, folder, p) for p in (all_programs() if IS_LONG else RUN)]
            waiting += [pool.submit(memcheck, *case) for case in cases]
            results = [future.result() for future in waiting]
    for what, holds, messages in results:
        if not holds:
            print(f"---- {what}\n" + "\n".join(messages.splitlines()[:SHOWN]))
    failed = sum(not holds for _, holds, _ in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
