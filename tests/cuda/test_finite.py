# SPDX-License-Identifier: MIT
"""With PMG_CHECK_FINITE=1 a result that is not finite ends the run with status 6: by the interpreter, OpenMP and CUDA
(emulated) with the same array, place and iteration. Without it, such values are data. States, `inout` and `out` arrays,
scalars, loops that stop, trials of other candidates. Its C is not optimised."""
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PMG = str((Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
DEVICE = ["--target=cuda", f"--nvcc={Path('tests/cuda/emulated/nvcc').resolve()}"]
PROGRAMS = """pipeline goes {
    param n, steps;
    assume n >= 4;
    param f64 low;
    in g : f64[n];
    inout v : f64[2, n];
    state w : f64[n] = 1;
    out trace : f64[steps];
    iterate it in 0..steps {
        next w[i] = w[i] - 0.25 for i in 0..n;
        next v[s,i] = v[s,i] + select(i == 3 and s == 1, g[i]*sqrt(max(w[i], low)), 0) for s in 0..2, i in 0..n;
        trace[it] = log(10 - it);
    }
}

pipeline hidden {
    param n, steps;
    in g : f64[n];
    out y : f64[n];
    state w : f32[n] = 1e38;
    iterate it in 3..steps {
        next w[i] = cast<f32>(w[i]*g[i]) for i in 0..n;
    }
    y[i] = select(w[i] > 1, 1, 0) for i in 0..n;
}

pipeline once {
    param n;
    in x : f64[n];
    out s : f64;
    out y : f64[n];
    y[i] = 1/(x[i] - 5) for i in 0..n;
    s = sum(x)/0;
}
"""
GOES = ["--pipeline=goes", "g=1", "v=0", "n=6"]
END = "but only finite values are accepted"
WAYS = ["--interp"], [], DEVICE
PROBLEMS = []


def check(condition, what):
    PROBLEMS.append("" if condition else what)


def run(*words, checks=True):
    env = dict(os.environ, PMG_CHECK_FINITE="1" if checks else "0")
    return subprocess.run([PMG, "run", "programs.pmg", *words], capture_output=True, text=True, env=env, check=False)


def refuse(words, message, ways=WAYS):
    for way in ways:
        done = run(*words, *way)
        said = done.stderr.splitlines()[0] if done.stderr else ""
        check(done.returncode == 6 and f"{message}, {END}" in said,
              f"{words} {way}: {done.returncode} {done.stderr}{done.stdout}")


def works(*words, checks=True):
    done = run(*words, checks=checks)
    check(done.returncode == 0, f"{words}: {done.returncode} {done.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("programs.pmg").write_text(PROGRAMS)
        refuse([*GOES, "steps=8", "low=-9"], "array 'v' holds NaN at [1, 3] after iteration 5")
        refuse([*GOES, "steps=12", "low=0"], "array 'trace' holds -infinity at [10]")
        refuse(["--pipeline=hidden", "g=2", "n=3", "steps=50"], "array 'w' holds infinity at [0] after iteration 4")
        refuse(["--pipeline=once", "x=4", "n=3"], "array 's' holds infinity")
        refuse([*GOES, "steps=8", "low=-9", "--iterations=7"], "array 'v' holds NaN at [1, 3] after iteration 5")
        refuse([*GOES, "steps=8", "low=-9"], "array 'v' holds NaN at [1, 3] after iteration 5", [["--tune=measure"]])
        for way in WAYS:
            works(*GOES, "steps=8", "low=-9", *way, checks=False)
        # What a loop that stops has not written yet is not looked at.
        works(*GOES, "steps=30", "low=0", "--iterations=4")
        works(*GOES, "steps=30", "low=-9", "--iterations=5", *DEVICE)
        works(*GOES, "steps=10", "low=0", "--tune=measure", "--wisdom=off")
        os.chdir("/")
    for problem in filter(None, PROBLEMS):
        print("FAILED:", problem)
    failed = sum(map(bool, PROBLEMS))
    print(f"{len(PROBLEMS) - failed} passed, {failed} failed")
    return failed > 0


if __name__ == "__main__":
    sys.exit(main())
