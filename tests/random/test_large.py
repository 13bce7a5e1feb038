# SPDX-License-Identifier: MIT
"""Systems whose arrays are too large for caches, against the interpreter: rows that are asked for ahead, results that
go back window by window or past the caches, upwards and downwards, by lines that begin at the same row of all lanes or
not. Its C is not optimised. Not with sanitizers: the interpreter takes most of the time."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PMG = os.environ.get("PMG", "build/pmg")

CHAINS = """pipeline chains {{
    param m, n;
    in a, b, c, d : {0}[m, n];
    out x : {0}[m, n];
    x = TriBatch(a, b, c, d);
}}"""
TREES = """pipeline trees {{
    param m, n;
    fixed in T : Tree(n);
    in upper, lower : {0}[n];
    in diag, rhs : {0}[m, n];
    out x : {0}[m, n];
    x = HinesSystem(T, upper, lower, diag, rhs);
}}"""
# Each row of `x` is many values, of which the loop that goes on from row to row writes all.
ROWS = """pipeline rows {{
    param m, n, R;
    in b, a : f64[m, n];
    in d : f64[m, n, R];
    out x : f64[m, n, R];
    func y[s in 0..m, i in 0..n] : f64 = case {{
        i == {0} : a[s,i]/b[s,i];
        else : (a[s,i] - b[s,i{1}1]*a[s,i{1}1]*y[s,i{1}1])/b[s,i];
    }};
    x[s,i,r] = case {{
        i == {0} : d[s,i,r]/b[s,i];
        else : (d[s,i,r] - y[s,i]*x[s,i{1}1,r])/b[s,i];
    }} for s in 0..m, i in 0..n, r in 0..R;
    schedule {{ fuse y, x; }}
}}"""
BEHIND = Path("tests/decide/block_put_behind.pmg").read_text()

OF_CHAINS = ["a=random:1", "b=4", "c=random:2", "d=random:3"]
OF_TREES = ["T.parent=random:4", "upper=random:1", "lower=random:2", "diag=64", "rhs=random:3"]
OF_ROWS = ["m=256", "n=64", "R=16", "a=random:1", "b=4", "d=random:2"]

# 16 MB go past the caches, and lanes of whole lines of 4 MB among 24 MB; 1 MB is read from far.
RUNS = [
    (CHAINS.format("f64"), ["m=32770", "n=64", *OF_CHAINS], ["--interleave=narrow"]),
    (CHAINS.format("f64"), ["m=13001", "n=64", *OF_CHAINS], []),
    (CHAINS.format("f64"), ["m=2101", "n=63", *OF_CHAINS], []),
    (CHAINS.format("f64"), ["m=1301", "n=100", *OF_CHAINS], ["--interleave=narrow"]),
    (CHAINS.format("f64"), ["m=70", "n=2048", *OF_CHAINS], []),
    (CHAINS.format("f64"), ["m=341", "n=100", *OF_CHAINS], ["--interleave=wide"]),
    (TREES.format("f64"), ["m=32769", "n=64", *OF_TREES], []),
    (TREES.format("f32"), ["m=4111", "n=76", *OF_TREES], ["--interleave=narrow"]),
    (TREES.format("f32"), ["m=675", "n=76", *OF_TREES], ["--interleave=wide"]),
    (ROWS.format("n - 1", "+"), OF_ROWS, []),
    (ROWS.format("0", "-"), OF_ROWS, []),
    (BEHIND, ["nSystems=2101", "n=64", "a=4", "b=random:1", "c=4", "d=random:2"], []),
]
if "PMG_TEST_LONG" in os.environ:
    RUNS.append((CHAINS.format("f32"), ["m=32801", "n=128", *OF_CHAINS], []))


def agrees(folder, text, values, options):
    program = Path(folder) / "large.pmg"
    program.write_text(text)
    run = subprocess.run([PMG, "run", str(program), *values, *options, "--tune=off", "--compare"],
                         capture_output=True, text=True, check=False)
    if run.returncode != 0:
        print(f"{text}\n{' '.join(values + options)}\n{run.stdout}{run.stderr}")
    return run.returncode == 0


def main():
    with tempfile.TemporaryDirectory() as folder:
        passed = sum(agrees(folder, *run) for run in RUNS)
    print(f"{passed} passed, {len(RUNS) - passed} failed")
    sys.exit(passed != len(RUNS))


main()
