# SPDX-License-Identifier: MIT
"""No name of a program is a macro of what its C includes: whatever the preprocessor knows there, as arrays, sizes,
numbers and loop variables. With nvcc, what the headers of CUDA define, too."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

PMGC = Path(os.environ.get("PMGC", "build/pmgc")).resolve()
RUNTIME = Path("runtime").resolve()
HEADERS = ["pmgrt.h", "pmgrt_blas.h", "pmgrt_live.h"]
CUDA_HEADERS = ["pmgrt_cuda.h", "pmgrt_cuda_loop.h", "pmgrt_cuda_live.h", "pmgrt_cuda_inspect.h"]
WORDS = {"true", "false"}       # of the language: no names


def macros(command, headers, ending):
    """Names that a program may have, of all macros that are defined behind these headers."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / f"all.{ending}"
        source.write_text("".join(f"#include <{header}>\n" for header in headers))
        text = subprocess.run([*command, f"-I{RUNTIME}", source], check=True, capture_output=True, text=True).stdout
    found = set(re.findall(r"^#define ([A-Za-z]\w*)", text, re.M))
    return sorted(name for name in found - WORDS if not name.lower().startswith("pmg_"))


def programs(names):
    """Each with all of the names, in every place where a name may stand."""
    arrays = "".join(f"    in {name} : f64[n];\n" for name in names)
    definition = " + ".join(f"{name}[i]" for name in names[:40])
    yield "arrays", (f"pipeline p {{\n    param n;\n{arrays}    out y_ : f64[n];\n"
                     f"    y_[i] = {definition} for i in 0..n;\n}}\n")
    yield "sizes", f"pipeline p {{\n    param {', '.join(names)};\n    out y_ : f64[{names[0]}];\n    y_ = 1;\n}}\n"
    numbers = "".join(f"    param f64 {name};\n" for name in names)
    yield "numbers", f"pipeline p {{\n    param n;\n{numbers}    out y_ : f64[n];\n    y_ = {' + '.join(names)};\n}}\n"
    loops = "".join(f"    out y{i} : f64[n];\n    y{i}[{name}] = 2*b_[{name}] for {name} in 0..n;\n"
                    for i, name in enumerate(names[:40]))
    yield "loops", f"pipeline p {{\n    param n;\n    in b_ : f64[n];\n{loops}}}\n"


def fails(command, folder):
    run = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return run.returncode != 0 and f"{' '.join(map(str, command))}\n{run.stderr[:2000]}"


def c_complaint(text):
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "p.pmg").write_text(text)
        return (fails([PMGC, "p.pmg", "-o", "p"], folder)
                or fails(["gcc", "-fopenmp", f"-I{RUNTIME}", "-Wall", "-Werror", "-O0", "-c", "p.c"], folder))


def header_complaint(names):
    """Of the public header, where arrays have these names: its members are none of them."""
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "p.pmg").write_text(dict(programs(names))["arrays"])
        run = subprocess.run([PMGC, "p.pmg", "--emit=h"], cwd=folder, capture_output=True, text=True, check=False)
    members = set(re.findall(r"(\w+);", run.stdout))
    kept = sorted(members & set(names))
    return run.stderr if run.returncode else len(members) < len(names) or (kept and f"macros are members: {kept}")


def main():
    names = macros(["gcc", "-fopenmp", "-E", "-dM", "-xc"], HEADERS, "c")
    bad = [complaint for _, text in programs(names) if (complaint := c_complaint(text))]
    tests, skipped = 4, 0
    for expected in ("INT32_MAX", "FP_ZERO", "PMGRT_H"):
        tests += 1
        if expected not in names:
            bad.append(f"the preprocessor does not know {expected}")
    if shutil.which("nvcc"):
        tests += 1
        complaint = header_complaint(macros(["nvcc", "-E", "-Xcompiler", "-dM"], CUDA_HEADERS, "cu"))
        bad += [complaint] if complaint else []
    else:
        skipped = 1
    print("\n".join(map(str, bad)))
    print(f"{tests - len(bad)} passed, {len(bad)} failed, {skipped} skipped")
    return 1 if bad else 0


sys.exit(main())
