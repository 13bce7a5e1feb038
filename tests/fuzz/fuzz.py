# SPDX-License-Identifier: MIT
"""libFuzzer targets: fuzz.py build | run [SECONDS] [TARGET...]

`build` makes build-fuzz/fuzz/TARGET for each row of TARGETS, with the address and undefined-behaviour sanitizers.
`run` replays the corpus of each target (tests/fuzz/corpus/TARGET, and files of the tree that suit it), and then
makes up inputs from it for some seconds. Those that reach new lines are kept in build-fuzz/corpus, so that a later run
goes on from there; an input that crashes is left in build-fuzz/found. Targets run two at a time, or one after the other
where the process is kept on one processor.
"""
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

BUILD = Path("build-fuzz")
CLANG = "clang-14"
INSTRUMENTED = "-O1 -g -fsanitize=fuzzer-no-link -Wno-pass-failed"
SANITIZED = ["-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"]
LIBRARIES = ["libpmgtools.a", "libpmgc.a", "libpmgrt.so"]
# target: sources, definitions, files of the tree that it starts from
TARGETS = {
    "pmg": ("program.c", 'NAME="fuzz.pmg"', ["dsl_examples/*.pmg", "tests/programs/*.pmg", "tests/syntax/*/*.pmg"]),
    "ir": ("program.c", 'NAME="fuzz.ir"', []),
    "npy": ("shared_counters.c file.c", 'SUFFIX=".npy"', []),
    "mtx": ("shared_counters.c file.c", 'SUFFIX=".mtx"', []),
    "tns": ("shared_counters.c file.c", 'SUFFIX=".tns"', []),
    "tsv": ("shared_counters.c file.c", 'SUFFIX=".tsv"', []),
    "txt": ("shared_counters.c file.c", 'SUFFIX=".txt"', []),
    "npz": ("shared_counters.c file.c", 'SUFFIX=".npz"', []),
    "mat": ("shared_counters.c file.c", 'SUFFIX=".mat"', []),
    "raw": ("shared_counters.c file.c", 'SUFFIX=".f32"', []),
    "container": ("shared_counters.c container.c", "", []),
    "swc": ("cells.c", 'KIND="swc"', []),
    "cells_tsv": ("cells.c", 'KIND="tsv"', []),
    "bsc": ("cells.c", 'KIND="bsc"', []),
    "coreneuron": ("cells.c", 'KIND="coreneuron"', []),
    "trk": ("shared_counters.c life.c", 'KIND="tracks" SUFFIX=".trk"', []),
    "tck": ("shared_counters.c life.c", 'KIND="tracks" SUFFIX=".tck"', []),
    "trx": ("shared_counters.c life.c", 'KIND="tracks" SUFFIX=".trx"', []),
    "nifti": ("shared_counters.c life.c", 'KIND="image" SUFFIX=".nii"', []),
    "gradients": ("shared_counters.c life.c", 'KIND="gradients" SUFFIX=""', []),
    "signals": ("shared_counters.c life.c", 'KIND="signals" SUFFIX=".npy"', []),
    "sphere": ("shared_counters.c life.c", 'KIND="sphere" SUFFIX=".txt"', []),
    "wisdom": ("wisdom.c", "", []),
    "state": ("state.c ../runtime/pipelines.c", "", []),
}
TIMEOUT, MEMORY, LONGEST = 10, 2048, 4096   # seconds and MiB of an input, its bytes


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.split()


def build():
    libraries = [str(BUILD / name) for name in LIBRARIES]
    subprocess.run(["make", "-s", f"CC={CLANG}", "SAN=1", f"BUILD={BUILD}", f"CFLAGS={INSTRUMENTED}", *libraries],
                   check=True)
    (BUILD / "fuzz").mkdir(exist_ok=True)
    includes = ["-Icompiler", "-Iruntime", "-Itools", "-Itests", f"-I{BUILD}",
                *output_of("pkg-config", "--cflags", "isl"), *output_of("pkg-config", "--cflags", "hdf5-serial")]
    libs = ["-Wl,-rpath,$ORIGIN/..", *output_of("pkg-config", "--libs", "isl"),
            *output_of("pkg-config", "--libs", "hdf5-serial"), *output_of("pkg-config", "--libs", "libzip"),
            "-lnifti2", "-lznz", "-lz", "-ldl", "-lm"]
    for target, (sources, definitions, _) in TARGETS.items():
        subprocess.run([CLANG, "-std=c11", "-D_GNU_SOURCE", "-O1", "-g", "-fopenmp", *SANITIZED,
                        *(f"-D{definition}" for definition in definitions.split()), *includes,
                        *(f"tests/fuzz/{source}" for source in sources.split()), *libraries, *libs,
                        "-o", str(BUILD / "fuzz" / target)], check=True)


def run_target(target, seconds):
    """Whether nothing was found, and what libFuzzer said."""
    found, kept = BUILD / "found", BUILD / "corpus" / target
    found.mkdir(exist_ok=True)
    kept.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix="pmg-fuzz-") as start:
        for number, path in enumerate(p for pattern in [f"tests/fuzz/corpus/{target}/*", *TARGETS[target][2]]
                                      for p in sorted(Path(".").glob(pattern))):
            (Path(start) / f"{number}-{path.name}").write_bytes(path.read_bytes())
        command = [str(BUILD / "fuzz" / target), f"-max_total_time={seconds}", f"-timeout={TIMEOUT}",
                   f"-rss_limit_mb={MEMORY}", f"-max_len={LONGEST}", f"-artifact_prefix={found}/{target}-",
                   "-print_final_stats=1", str(kept), start]
        ran = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
                             env=dict(os.environ, ASAN_OPTIONS="detect_leaks=1:allocator_may_return_null=1"))
    return ran.returncode == 0, ran.stdout.decode(errors="replace")


def run(seconds, targets):
    with ThreadPoolExecutor(min(2, len(os.sched_getaffinity(0)))) as pool:
        results = list(pool.map(lambda target: run_target(target, seconds), targets))
    for target, (is_clean, text) in zip(targets, results):
        units = re.search(r"number_of_executed_units: (\d+)", text)
        print(f"{target:10} {units.group(1) if units else '?':>9} inputs" + ("" if is_clean else "   FOUND"))
        if not is_clean:
            print("\n".join(text.splitlines()[-30:]))
    failed = sum(not is_clean for is_clean, _ in results)
    print(f"{len(results) - failed} passed, {failed} failed")
    return 1 if failed else 0


def main():
    if sys.argv[1:2] == ["build"]:
        return build()
    if sys.argv[1:2] == ["run"]:
        return run(int((sys.argv[2:3] or ["10"])[0]), sys.argv[3:] or list(TARGETS))
    return __doc__


sys.exit(main())
