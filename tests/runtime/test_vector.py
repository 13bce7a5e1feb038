# SPDX-License-Identifier: MIT
"""Loops over mathematical functions become calls of libmvec, without -ffast-math, and the headers are C++ as well.

gcc learns of the vector functions from pmgrt_math.h, with and without OpenMP; clang from its own options. A right
result does not show that a loop was vectorised, so the assembly is read. Not with sanitizers: nothing of it is ours.
"""
import platform
import re
import shutil
import subprocess
import sys

FLAGS = ["-O3", "-march=x86-64-v3", "-std=c11", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Iruntime"]
CLANG_FLAGS = ["-fveclib=libmvec", "-fno-math-errno"]
LOOP = "void f({0} *restrict y, const {0} *restrict x, long n) {{ for (long i = 0; i < n; i++) y[i] = {1}; }}"
SOURCE = "#include \"pmgrt_generated.h\"\nvoid f({0} *restrict y, const {0} *restrict x, long n);\n" + LOOP

GCC = [
    ("double", "exp(x[i])", "_ZGVdN4v_exp"), ("float", "expf(x[i])", "_ZGVdN8v_expf"),
    ("double", "log(x[i])", "_ZGVdN4v_log"), ("float", "logf(x[i])", "_ZGVdN8v_logf"),
    ("double", "sin(x[i])", "_ZGVdN4v_sin"), ("float", "cosf(x[i])", "_ZGVdN8v_cosf"),
    ("double", "pmg_pow_f64(x[i], y[i])", "_ZGVdN4vv_pow"), ("float", "pmg_pow_f32(x[i], 0.5f)", "vsqrtps"),
    ("double", "sqrt(x[i])", "vsqrtpd"),
    ("double", "pmg_min_f64(x[i], y[i])", "vminpd|vblendvpd"),
    ("float", "pmg_max_f32(x[i], y[i])", "vmaxps|vblendvps"),
    ("double", "pmg_unit_scale_f64(x[i])", r"vpsubq\s.*ymm"), ("float", "pmg_unit_scale_f32(x[i])", r"vpsubd\s.*ymm"),
    ("double", "pmg_max_f64(y[i], pmg_max_f64(x[i], 3.0))", "vmaxpd|vblendvpd"),
    ("float", "pmg_min_f32(1.0f, pmg_max_f32(0.0f, x[i]))", "vminps|vblendvps"),
    ("double", "pmg_max_f64(pmg_min_f64(x[i], y[i]), pmg_min_f64(2*x[i], pmg_max_f64(x[i], y[i])))",
     "vm(ax|in)pd|vblendvpd"),
]
GLIBC_2_35 = [("double", "tanh(x[i])", "_ZGVdN4v_tanh"), ("double", "pmg_exprelr_f64(x[i])", "_ZGVdN4v_expm1"),
              ("float", "pmg_exprelr_f32(x[i])", "_ZGVdN8v_expm1f")]


def assembly(compiler, flags, source):
    command = [compiler, *flags, "-x", "c", "-S", "-o", "-", "-"]
    run = subprocess.run(command, input=source, capture_output=True, text=True, check=False)
    return run.stdout if run.returncode == 0 else run.stderr


def check_loops(compiler, flags, rows):
    failures = []
    for kind, expression, wanted in rows:
        text = assembly(compiler, FLAGS + flags, SOURCE.format(kind, expression))
        if not re.search(wanted, text):
            failures.append(f"{compiler} {' '.join(flags)}: no {wanted} for {expression}")
    return len(rows), failures


def check_cplusplus(compiler):
    command = [compiler, "-x", "c++", "-Wall", "-Wextra", "-Wconversion", "-Werror", "-Iruntime", "-fsyntax-only", "-"]
    run = subprocess.run(command, input='#include "pmgrt_generated.h"\n', capture_output=True, text=True, check=False)
    return 1, [] if run.returncode == 0 else [f"{compiler}: {run.stderr}"]


def main():
    counts, skipped = [], 0
    version = tuple(int(n) for n in platform.libc_ver()[1].split(".")) if platform.libc_ver()[1] else (0,)
    is_ours = platform.machine() == "x86_64" and version >= (2, 22)
    rows = GCC + (GLIBC_2_35 if version >= (2, 35) else [])
    for compiler in ("gcc", "clang"):
        if not is_ours or not shutil.which(compiler):
            skipped += 1
        elif compiler == "gcc":
            counts += [check_loops(compiler, flags, rows) for flags in ([], ["-fopenmp"])]
        else:
            counts.append(check_loops(compiler, CLANG_FLAGS, GCC))
    for compiler in ("g++", "clang++-14"):
        if shutil.which(compiler):
            counts.append(check_cplusplus(compiler))
        else:
            skipped += 1
    failures = [line for _, lines in counts for line in lines]
    print("\n".join(failures), end="\n" if failures else "")
    passed = sum(n for n, _ in counts) - len(failures)
    print(f"{passed} passed, {len(failures)} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failures else 0


sys.exit(main())
