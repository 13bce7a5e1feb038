#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What choices by estimate cost: of each program all candidates are executed in turns (`pmg run --turns`), and the
median of the one that is chosen is told beside that of the best one.

    tests/estimates/measure.py [OPTION…] [FILE.pmg…]      without files: examples, and the programs of this folder
    --random=COUNT      as many random programs (tests/random/generate.py) whose best candidate takes 1 ms or more
    --seed=N            of the first one (1)
    --turns=N           (9)
    --threads=N         of the kernels (default: as OpenMP sees fit); of one, processor time counts
    --json=FILE         a line for each program

A program says how it is run in a comment, `# arguments: n=100 x=random:1`; examples have theirs here. The exit status
is 1 where a choice takes 25 % more than the best, or, of random programs, where that is so for more than 5 in 100 or
one takes twice as long."""
import argparse
import json
import os
import random
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PMG = ROOT / os.environ.get("BUILD", "build") / "pmg"
MOST, MOST_OF_ONE, PART = 1.25, 2.0, 0.05
LEAST_MS = 1.0
SECONDS = 120    # that a program may take to compile and measure
SIZES = "nAtoms=1000 nVoxels=8000 nFibers=4000 nTheta=96 nCoeffs=400000"
# By example and pipeline: its parameters; inputs are random.
EXAMPLES = {
    "adjoint adjoint": "nVoxels=8000 nFibers=4000 nTheta=96",
    "blur blur": "R=1500 C=1400",
    "cable cable": "nCells=256 n=200 nSteps=20 dt=0.01 eLeak=-65",
    "conjugate_gradient conjugate_gradient": "n=40000 nnz=400000 maxIter=10 tol=0",
    "harris harris": "R=1200 C=1000",
    "heat_cube heat_cube": "nx=120 ny=110 nz=100 nSteps=10 r=0.1",
    "hines hines": "nSystems=2000 n=300",
    "hines hines_written": "nSystems=2000 n=300",
    "hines hines_forest": "nSystems=2000 nTotal=400000",
    "hines_own hines_own": "nSystems=2000 n=300",
    "histogram histogram": "nPixels=4000000 nLevels=256",
    "histogram weighted_histogram": "n=1000000 nBins=300 lo=-1 hi=1",
    "jacobi jacobi": "nx=800 ny=700 maxIter=10 h=0.1 tol=0",
    "life_dsc life_dsc": SIZES,
    "life_dsc_written life_dsc_written": SIZES,
    "life_wc life_wc": SIZES,
    "life_wc_written life_wc_written": SIZES,
    "matmul matmul": "n=500 m=400 k=300",
    "matmul matmul_written": "n=500 m=400 k=300",
    "mttkrp mttkrp": "nA=4000 nB=3000 nC=2000 nnz=400000 rank=16",
    "mttkrp mttkrp4": "nA=4000 nB=3000 nC=2000 nD=1000 nnz=400000 rank=16",
    "prefix prefix": "m=2000 n=1000",
    "prefix segmented_prefix": "nSegments=20000 n=2000000",
    "sbbnnls sbbnnls": SIZES + " maxIter=5 preconditioned=1 tolGradient=0 tolObjective=0",
    "segments segments": "nSegments=20000 n=2000000",
    "spmv csr_spmv": "nRows=50000 nCols=40000 nnz=1000000",
    "spmv csr_spmv_transposed": "nRows=50000 nCols=40000 nnz=1000000",
    "spmv coo_spmv": "nRows=50000 nCols=40000 nnz=1000000",
    "spmv coo_spmv_written": "nRows=50000 nCols=40000 nnz=1000000",
    "thomas thomas": "nSystems=4000 n=200",
    "tree tree": "n=500000",
    "tri_ragged tri_ragged": "nSystems=3000 nTotal=600000",
    "tridiagonal tri_batch": "nSystems=4000 n=200",
    "tridiagonal heat": "nRods=1000 n=200 nSteps=10 r=0.1",
    "tucker tucker": "nA=400 nB=300 nC=200 nD=100 nnz=100000 rA=8 rB=8 rC=8 rD=8",
    "unsharp_mask unsharp_mask": "nChannels=3 R=900 C=1000 weight=3 threshold=0.01",
}


def declared(text, pipeline):
    """Parameters (name: type) and inputs of a pipeline of a program."""
    found = re.search(rf"pipeline {pipeline} \{{(.*?)^\}}", text, re.S | re.M)
    body = re.sub(r"#.*", "", found[1])
    params = {name.strip(): kind for kind, line in re.findall(r"\bparam (?:(f64|f32) )?([^;]*);", body)
              for name in line.split(",")}
    inputs = [name.strip() for line in re.findall(r"(?:^|;)\s*(?:fixed )?(?:in|inout) ([\w, ]+?)\s*:", body)
              for name in line.split(",")]
    return params, inputs


def random_words(inputs):
    return [f"{name}=random:{number}" for number, name in enumerate(inputs, 1)]


def run(program, arguments, options, pipeline=None):
    words = [PMG, "run", str(program), *arguments, f"--turns={options.turns}", "--wisdom=off"]
    words += [f"--threads={options.threads}"] if options.threads else []
    words += [f"--pipeline={pipeline}"] if pipeline else []
    try:
        return subprocess.run(words, capture_output=True, text=True, check=False, timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(words, 1, "", f"takes more than {SECONDS} s")


def rows_of(text):
    rows = re.findall(r"^([* ]) (\S.*?) +([0-9.]+) +([0-9.]+) +(\d+)(?:  left out.*)?$", text, re.M)
    return [{"choice": row[1], "chosen": row[0] == "*", "estimate": float(row[2]), "ms": float(row[3])}
            for row in rows if int(row[4])]


class Tally:
    def __init__(self, json_file):
        self.ratios, self.failed, self.file = {}, [], json_file and open(json_file, "a", encoding="utf-8")

    def add(self, name, done):
        """Its ratio; None: it could not be measured."""
        found = re.search(r"^chosen: (.*) takes ([0-9.]+) times the best, (.*), of ([0-9.]+) ms$", done.stdout, re.M)
        if not found:
            self.failed.append(name)
            print(f"{name}: {done.stderr.strip() or done.stdout.strip()}", flush=True)
            return None
        return float(found[2]), float(found[4]), found[1], found[3]

    def count(self, name, measured, done):
        ratio, best, chosen, other = measured
        self.ratios[name] = ratio
        print(f"{ratio:6.3f} {best:10.3f} ms  {name:28} {chosen}" + (f"   best: {other}" if ratio > 1 else ""),
              flush=True)
        if self.file:
            print(json.dumps({"name": name, "ratio": ratio, "best_ms": best, "candidates": rows_of(done.stdout)}),
                  file=self.file, flush=True)

    def over(self, limit):
        return sum(ratio > limit for ratio in self.ratios.values())


def programs(options, tally):
    """Examples and those of this folder, or those that are named."""
    for name, sizes in EXAMPLES.items() if not options.files else ():
        example, pipeline = name.split()
        path = ROOT / "dsl_examples" / f"{example}.pmg"
        words = sizes.split() + random_words(declared(path.read_text(), pipeline)[1])
        done = run(path, words, options, pipeline)
        measured = tally.add(pipeline, done)
        if measured:
            tally.count(pipeline, measured, done)
    for path in map(Path, options.files or sorted(HERE.glob("*.pmg"))):
        text = path.read_text()
        found = re.search(r"^# arguments: (.*)$", text, re.M)
        if not found:
            sys.exit(f"{path} does not say '# arguments: …'")
        done = run(path, found[1].split(), options)
        measured = tally.add(path.stem, done)
        if measured:
            tally.count(path.stem, measured, done)


def random_program(seed, folder):
    """A program and its arguments, of sizes that are drawn."""
    path = Path(folder, f"r{seed}.pmg")
    text = subprocess.run([sys.executable, ROOT / "tests" / "random" / "generate.py", str(seed), "1"],
                          capture_output=True, text=True, check=True).stdout
    path.write_text(text)
    pipeline = re.search(r"pipeline (\w+)", text)[1]
    params, inputs = declared(text, pipeline)
    draw = random.Random(seed)
    n, m = sorted(int(10**draw.uniform(2.3, 3.6)) for _ in "nm")
    sizes = {"n": n, "m": m, "p": int(10**draw.uniform(5, 6.5))}
    words = [f"{name}={sizes.get(name, 2)}" for name in params]
    return path, pipeline, words + random_words(inputs) + ["--overrides=off"]


def randoms(options, tally):
    with tempfile.TemporaryDirectory() as folder:
        seed, counted = options.seed, 0
        while counted < options.random:
            path, pipeline, words = random_program(seed, folder)
            done = run(path, words, options, pipeline)
            measured = tally.add(f"seed {seed}", done)
            if measured and measured[1] >= LEAST_MS:
                tally.count(f"seed {seed}", measured, done)
                counted += 1
            seed += 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--random", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--turns", type=int, default=9)
    parser.add_argument("--threads", type=int)
    parser.add_argument("--json")
    parser.add_argument("files", nargs="*")
    options = parser.parse_args()
    tally = Tally(options.json)
    if options.random:
        randoms(options, tally)
        allowed = PART*options.random
    else:
        programs(options, tally)
        allowed = 0
    over, twice = tally.over(MOST), tally.over(MOST_OF_ONE)
    print(f"{len(tally.ratios)} programs: {over} take more than {MOST} times the best, {twice} more than "
          f"{MOST_OF_ONE}, {len(tally.failed)} could not be measured")
    return over > allowed or twice > 0 or (bool(tally.failed) and not options.random)


if __name__ == "__main__":
    sys.exit(main())
