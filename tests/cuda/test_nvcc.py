# SPDX-License-Identifier: MIT
"""nvcc compiles the kernels of every program: those of a folder in one file, so that its start is paid once; and those
of LiFE for a length of rows that is known, with 32 bits of D.

Without nvcc, on PATH or as NVCC, everything is skipped. Only the examples, without those by hand and without
optimisation of the device's code, unless PMG_TEST_LONG is set."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

LONG = os.environ.get("PMG_TEST_LONG")
LIFE = "dsl_examples/life_dsc.pmg", "dsl_examples/life_wc.pmg", "dsl_examples/sbbnnls.pmg"
KNOWN = "--specialize=nTheta=96"
EXAMPLES = [                    # programs, options of pmgc
    ("dsl_examples/*.pmg", "--overrides=off"),
    (LIFE, KNOWN, "--with=precision D : f64top"),
]
OTHERS = [
    (LIFE, KNOWN),
    (LIFE, KNOWN, "--with=precision D : f32"),
    (LIFE, KNOWN, "--unroll=off", "--block-warps=1"),
    (LIFE, KNOWN, "--warp-loops=off"),
    *((f"{folder}/*.pmg", "--overrides=off") for folder in
      ("dsl_examples/life", "tests/programs", "tests/random", "tests/random/scheduled", "tests/codegen/cases")),
]
SETS = EXAMPLES + (OTHERS if LONG else [])
FLAGS = ("-std=c++17", "-Iruntime", "-Xcompiler", "-Wall,-Wextra,-Wno-unused-function", "-Werror", "all-warnings",
         *(() if LONG else ("-Xptxas", "-O0")))


def compile_set(build, nvcc, arch, programs, options, scratch):
    """The messages of what fails; "" if nothing does."""
    rows = []
    for path in [Path(p) for p in programs] if isinstance(programs, tuple) else sorted(Path().glob(programs)):
        out = Path(scratch) / f"{path.stem}.c"
        done = subprocess.run([f"{build}/pmgc", path, "--target=cuda", *options, "-o", out],
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
    for source in sorted(Path("bench/handtuned").glob("*.cu")):
        done = subprocess.run([nvcc, f"-arch={arch}", "-std=c++17", "-c", source, "-o", "/dev/null"],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            return f"{source}: {done.stdout}{done.stderr}"
    return ""


def main(arch="sm_90"):
    build = os.environ.get("BUILD", "build")
    nvcc = shutil.which(os.environ.get("NVCC", "nvcc"))
    if not nvcc:
        print(f"there is no nvcc\n0 passed, 0 failed, {len(SETS)} skipped")
        return 0
    failed = 0
    for programs, *options in SETS:
        with tempfile.TemporaryDirectory() as scratch:
            messages = compile_set(build, nvcc, arch, programs, options, scratch)
        if messages:
            print(f"{programs} {options}: {messages}")
            failed += 1
    by_hand = compile_hand_written(nvcc, arch) if LONG else ""
    failed += bool(by_hand)
    print(f"{by_hand}{len(SETS) + bool(LONG) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main(*sys.argv[1:]))
