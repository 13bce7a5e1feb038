#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""With --deterministic, each layout of systems has its bits for any number of threads; another layout may have others
(docs/layouts.md). Not with sanitizers: a compiler is called each time. Its C is not optimised."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PMG = str((Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
LAYOUTS = """pipeline chains {
    param s, n;
    in a, b, c, d : f64[s, n];
    out x : f64[s, n];
    x = TriBatch(a, b, c, d);
}

pipeline steps {
    param s, n;
    in a, b, c, d : f64[s, n];
    out x : f64[s, n];
    x[i,j] = case {
        j == 0 : d[i,0]/b[i,0];
        else   : tanh(d[i,j] - a[i,j]*x[i,j-1])/(b[i,j] + exp(c[i,j]));
    } for i in 0..s, j in 0..n;
}
"""
DATA = ["a=random:1", "b=random:2", "c=random:3", "d=random:4", "s=53", "n=19", "--tune=off", "--deterministic"]
LAYOUT = "--interleave=on", "--interleave=narrow", "--interleave=off", "--with=layout x : full"


def bits(pipeline, how, threads):
    """Of x, or what is wrong."""
    done = subprocess.run([PMG, "run", "layouts.pmg", "--pipeline", pipeline, *DATA, how, "--threads", str(threads),
                           "-o", "x=x.npy"], capture_output=True, text=True, check=False)
    return Path("x.npy").read_bytes() if done.returncode == 0 else done.stderr


def main():
    passed = failed = 0
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("layouts.pmg").write_text(LAYOUTS)
        for pipeline in "chains", "steps":
            for how in LAYOUT:
                found = {bits(pipeline, how, threads) for threads in (1, 2, 3)}
                holds = len(found) == 1 and isinstance(next(iter(found)), bytes)
                passed, failed = passed + holds, failed + (not holds)
                if not holds:
                    print(f"FAILED: {pipeline} {how}: {len(found)} results for 1, 2 and 3 threads")
        os.chdir("/")
    print(f"{passed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
