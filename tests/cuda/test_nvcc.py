# SPDX-License-Identifier: MIT
"""nvcc compiles the kernels of every program: those of a folder in one file, so that its start is paid once.

Without nvcc, on PATH or as NVCC, everything is skipped. Only the examples, without those by hand and without
optimisation of the device's code, unless PMG_TEST_LONG is set."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LONG = os.environ.get("PMG_TEST_LONG")
FOLDERS = ("dsl_examples", "tests/programs", "tests/random") if LONG else ("dsl_examples",)
FLAGS = ("-std=c++17", "-Iruntime", "-Xcompiler", "-Wall,-Wextra,-Wno-unused-function", "-Werror", "all-warnings",
         *(() if LONG else ("-Xptxas", "-O0")))


def compile_folder(build, nvcc, arch, folder, scratch):
    """The messages of what fails; "" if nothing does."""
    rows = []
    for path in sorted(Path(folder).glob("*.pmg")):
        out = Path(scratch) / f"{path.stem}.c"
        done = subprocess.run([f"{build}/pmgc", path, "--target=cuda", "--overrides=off", "-o", out],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{path}: {done.stderr}"
        rows.append(f'#include "{path.stem}.cu"\n')
    everything = Path(scratch) / "everything.cu"
    everything.write_text("".join(rows))
    done = subprocess.run([nvcc, f"-arch={arch}", *FLAGS, "-c", everything, "-o", Path(scratch) / "everything.o"],
                          capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def compile_hand_written(nvcc, arch):
    done = subprocess.run([nvcc, f"-arch={arch}", "-std=c++17", "-c", "bench/handtuned/life_gpu.cu", "-o", "/dev/null"],
                          capture_output=True, text=True, check=False)
    return done.stdout + done.stderr if done.returncode else ""


def main(arch="sm_90"):
    build = os.environ.get("BUILD", "build")
    nvcc = shutil.which(os.environ.get("NVCC", "nvcc"))
    if not nvcc:
        print(f"there is no nvcc\n0 passed, 0 failed, {len(FOLDERS)} skipped")
        return 0
    failed = 0
    for folder in FOLDERS:
        with tempfile.TemporaryDirectory() as scratch:
            messages = compile_folder(build, nvcc, arch, folder, scratch)
        if messages:
            print(f"{folder}: {messages}")
            failed += 1
    by_hand = compile_hand_written(nvcc, arch) if LONG else ""
    failed += bool(by_hand)
    print(f"{by_hand}{len(FOLDERS) + bool(LONG) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main(*sys.argv[1:]))
