# SPDX-License-Identifier: MIT
"""No name of a program is a macro of what its C includes, whatever the preprocessors know there, or a function that
it calls, or a word of C++: as arrays, sizes, numbers, loop variables. With nvcc, what headers of CUDA define, too.
Not with sanitizers: its time is that of C compilers."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PMGC = Path(os.environ.get("PMGC", "build/pmgc")).resolve()
RUNTIME = Path("runtime").resolve()
HEADERS = ["pmgrt_generated.h", "pmgrt_blas.h", "pmgrt_live.h"]
CUDA_HEADERS = ["pmgrt_cuda.h", "pmgrt_cuda_loop.h", "pmgrt_cuda_live.h", "pmgrt_cuda_inspect.h"]
COMPILERS = [["gcc", "-fopenmp", "-xc"], ["gcc", "-fopenmp", "-D_GNU_SOURCE", "-xc"], ["g++", "-fopenmp", "-xc++"],
             ["clang", "-fopenmp", "-xc"]]
WORDS = {"true", "false", "and", "or", "not"}       # of the language: no names
# What generated code calls or C++ does not take as a name; no macros.
OTHERS = ("expf logf sqrtf powf fabsf floorf sinf cosf tanhf expm1f fminf fmaxf decltype noexcept requires concept "
          "static_cast const_cast dynamic_cast reinterpret_cast wchar_t char8_t char16_t char32_t co_await co_return "
          "co_yield consteval constinit double class NULL errno").split()
AT_A_TIME = 320


def has_openmp(compiler):
    command = [*compiler, "-fsyntax-only", "-"]
    return (shutil.which(compiler[0]) is not None
            and subprocess.run(command, input="#include <omp.h>\n", text=True, capture_output=True).returncode == 0)


def macros(command, headers, ending):
    """Names that a program may have, of all macros that are defined behind these headers."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"all.{ending}"
        source.write_text("".join(f"#include <{header}>\n" for header in headers))
        text = subprocess.run([*command, f"-I{RUNTIME}", source], check=True, capture_output=True, text=True).stdout
    found = set(re.findall(r"^#define ([A-Za-z]\w*)", text, re.M))
    return sorted(name for name in found - WORDS if not name.lower().startswith("pmg_"))


def arrays_of(names):
    """Read and written, in both precisions, where functions of both are called."""
    arrays = "".join(f"    in {name} : f{32 + 32*(i % 2)}[n];\n" for i, name in enumerate(names))
    terms = " + ".join(f"exp({name}[i])" for name in names)
    return (f"pipeline p {{\n    param n;\n{arrays}    out y_ : f64[n];\n"
            f"    y_[i] = {terms} for i in 0..n;\n}}\n")


def programs(names):
    """Each with all of the names, in every place where a name may stand."""
    yield "arrays", arrays_of(names)
    yield "sizes", f"pipeline p {{\n    param {', '.join(names)};\n    out y_ : f64[{names[0]}];\n    y_ = 1;\n}}\n"
    numbers = "".join(f"    param f64 {name};\n" for name in names)
    yield "numbers", f"pipeline p {{\n    param n;\n{numbers}    out y_ : f64[n];\n    y_ = {' + '.join(names)};\n}}\n"
    loops = "".join(f"    out y{i} : f64[n];\n    y{i}[{name}] = 2*b_[{name}] for {name} in 0..n;\n"
                    for i, name in enumerate(names))
    yield "loops", f"pipeline p {{\n    param n;\n    in b_ : f64[n];\n{loops}}}\n"


def fails(command, folder):
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return run.returncode != 0 and f"{' '.join(map(str, command))}\n{run.stderr[:2000]}"


def c_complaint(compilers, text):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "p.pmg").write_text(text)
        complaint = fails([PMGC, "p.pmg", "-o", "p"], folder)
        for compiler in compilers:
            part = "p.h" if "-xc++" in compiler else "p.c"      # C++ programs include the header
            complaint = complaint or fails([*compiler, f"-I{RUNTIME}", "-Werror", "-fsyntax-only", part], folder)
        return complaint


def header_complaint(names):
    """Of the public header, where arrays have these names: its members are none of them."""
    with tempfile.TemporaryDirectory() as folder:
        inputs = "".join(f"    in {name} : f64[n];\n" for name in names)
        (Path(folder) / "p.pmg").write_text("pipeline p {\n    param n;\n" + inputs
                                            + "    out y_ : f64[n];\n    y_ = 1;\n}\n")
        run = subprocess.run([PMGC, "p.pmg", "--emit=h"], cwd=folder, capture_output=True, text=True, check=False)
    members = set(re.findall(r"(\w+);", run.stdout))
    kept = sorted(members & set(names))
    return run.stderr if run.returncode else len(members) < len(names) or (kept and f"macros are members: {kept}")


def main():
    compilers = [compiler for compiler in COMPILERS if has_openmp(compiler)]
    names = sorted(set().union(*(macros([*compiler, "-E", "-dM"], HEADERS, "c") for compiler in compilers)))
    bad, tests, skipped = [], 0, len(COMPILERS) - len(compilers)
    for expected in ("INT32_MAX", "FP_ZERO", "PMGRT_H"):
        tests += 1
        if expected not in names:
            bad.append(f"the preprocessor does not know {expected}")
    names += OTHERS
    for first in range(0, len(names), AT_A_TIME):
        for what, text in programs(names[first:first + AT_A_TIME]):
            tests += 1
            complaint = c_complaint(compilers, text)
            bad += [f"{what}: {complaint}"] if complaint else []
    if shutil.which("nvcc"):
        tests += 1
        complaint = header_complaint(macros(["nvcc", "-E", "-Xcompiler", "-dM"], CUDA_HEADERS, "cu"))
        bad += [complaint] if complaint else []
    else:
        skipped += 1
    print("\n".join(map(str, bad)))
    print(f"{tests - len(bad)} passed, {len(bad)} failed, {skipped} skipped")
    return 1 if bad else 0


sys.exit(main())
