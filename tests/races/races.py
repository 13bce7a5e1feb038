# SPDX-License-Identifier: MIT
"""Races of generated code: races.py BUILD. Every example and test program is compiled for clang's thread sanitizer
and run in four threads on random data; libomp's Archer tells the sanitizer where threads meet. No report may come.
Without PMG_TEST_LONG it is every sixth, and the others count as skipped.
The same code without its `#pragma omp atomic` must be reported, so that silence means something.
"""
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

# Loops that the compiler makes calls of memset or memcpy would not be watched.
CLANG = ["clang", "-std=c11", "-D_GNU_SOURCE", "-O0", "-g1", "-fwrapv", "-fno-builtin", "-fopenmp", "-fsanitize=thread",
         "-DPMG_ALL_THREADS"]
INCLUDES = ["-Icompiler", "-Iruntime", "-Itests"]
CHECK_SOURCES = ["tests/races/check_library.c", "tests/random/compare.c", "tests/random/layouts.c",
                 "tests/random/bind.c", "tests/random/values.c", "tests/support/folder.c"]
ATOMIC = "#pragma omp atomic"
THREADS, DRAWS = "4", "8"
ENVIRONMENT = dict(os.environ, TSAN_OPTIONS="ignore_noninstrumented_modules=1 exitcode=66",
                   OMP_TOOL_LIBRARIES="libarcher.so")
SHOWN = 30      # lines of a report


def packages(*arguments):
    return subprocess.run(["pkg-config", *arguments, "isl"], check=True, capture_output=True, text=True).stdout.split()


def build_checker(build, folder):
    """The runtime and check_library for the sanitizer."""
    runtime = [*CLANG, "-fPIC", "-shared", "-fvisibility=hidden", "-Iruntime", *map(str, Path("runtime").rglob("*.c")),
               "-lm", "-o", f"{folder}/libpmgrt.so"]
    check = [*CLANG, *INCLUDES, *packages("--cflags"), *CHECK_SOURCES, f"{build}/libpmgc.a", f"-L{folder}", "-lpmgrt",
             f"-Wl,-rpath,{folder}", *packages("--libs"), "-ldl", "-lm", "-o", f"{folder}/check"]
    subprocess.run(runtime, check=True)
    subprocess.run(check, check=True)


def is_available(folder):
    """Whether clang and its OpenMP are there."""
    probe = Path(folder) / "probe.c"
    probe.write_text("#include <omp.h>\nint main(void) { return omp_get_max_threads() < 1; }\n")
    try:
        made = subprocess.run([*CLANG, str(probe), "-o", f"{folder}/probe"], capture_output=True, check=False)
    except FileNotFoundError:
        return False
    return made.returncode == 0


def run_library(program, source, folder):
    """Exit status and messages of the library made of `source`; 66: it races."""
    library = source.with_suffix(".so")
    made = subprocess.run([*CLANG, "-fPIC", "-shared", "-Iruntime", str(source), "-o", str(library), "-lopenblas",
                           "-lm"], capture_output=True, text=True, check=False)
    if made.returncode:
        return made.returncode, made.stderr
    ran = subprocess.run([f"{folder}/check", str(program), str(library), THREADS, DRAWS], env=ENVIRONMENT,
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace", check=False)
    return ran.returncode, ran.stdout


def check_program(build, folder, program):
    """(what, whether it holds, messages) of a program, and of it without its atomics."""
    source = Path(folder) / f"{program.stem}_{program.parent.name}.c"
    made = subprocess.run([f"{build}/pmgc", str(program), "--overrides=off", "-o", str(source)], capture_output=True,
                          text=True, check=False)
    if made.returncode:
        return [(str(program), False, made.stderr)]
    status, messages = run_library(program, source, folder)
    results = [(str(program), status == 0, messages)]
    text = source.read_text()
    if ATOMIC in text:
        racy = source.with_name("racy_" + source.name)
        racy.write_text("".join(row for row in text.splitlines(True) if ATOMIC not in row))
        status, messages = run_library(program, racy, folder)
        results.append((f"{program} without atomics", status == 66, "not reported\n" + messages))
    return results


def main():
    build = sys.argv[1]
    every = sorted(Path("dsl_examples").glob("*.pmg")) + sorted(Path("tests/programs").glob("*.pmg"))
    programs = every[::1 if "PMG_TEST_LONG" in os.environ else 6]
    with tempfile.TemporaryDirectory(prefix="pmg-races-") as folder:
        if not is_available(folder):
            print(f"clang with OpenMP is missing\n0 passed, 0 failed, {len(every)} skipped")
            return 0
        build_checker(build, folder)
        with ThreadPoolExecutor(int(os.environ.get("PMG_TEST_JOBS", 2))) as pool:
            results = [r for rows in pool.map(lambda p: check_program(build, folder, p), programs) for r in rows]
    for what, holds, messages in results:
        if not holds:
            print(f"---- {what}\n" + "\n".join(messages.splitlines()[:SHOWN]))
    failed = sum(not holds for _, holds, _ in results)
    print(f"{len(results) - failed} passed, {failed} failed, {len(every) - len(programs)} skipped")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
