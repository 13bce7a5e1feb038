#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pmg run` of pipelines with `iterate` that are stopped, by --iterations or by a signal, and go on from the file they
leave. With sanitizers only for --long. Its C is not optimised."""
import os
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import numpy as np

PMG = str(Path(os.environ.get("PMG") or Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
RESULTS = {"passed": 0, "failed": 0}

# A state of the plan, an `inout` of the caller, outputs that are set in the loop and behind it.
STEPS = """pipeline steps {
    param n, last;
    in    x : f64[n];
    inout u : f64[n];
    out   total, mean : f64;
    out   seen : i64;
    state s : f64 = 0;
    iterate it in 0..last {
        reduce seen += 1;
        next u[i] = 0.5*u[i] + x[i] for i in 0..n;
        next s = s + sum(i in 0..n) u[i];
    }
    total = s;
    mean = s/cast<f64>(n);
}
"""
ROWS = """pipeline rows {
    param lo, last;
    out r : f64[last - lo];
    state s : f64 = 0;
    iterate it in lo..last {
        r[it - lo] = s;
        next s = s + 1;
    }
}
"""
PLACES = """pipeline places {{
    param n, k, steps;
    assume k <= n;
    out y : f64[n];
    state u : f64[n] = 1;

    iterate t in 0..steps {{
        next u[i] = {} for i in 0..n;
    }}
    y = u;
}}
"""
SCALARS = """pipeline decay {
    param nSteps, order;
    param f64 dt, least;
    param f32 rate;
    out v : f64;
    state s : f64 = 1;
    iterate it in 0..nSteps until s < least {
        next s = s - dt*rate*s*order;
    }
    v = s;
}
"""
DOUBLE = "pipeline double {\n    param n;\n    inout x : f64[n];\n    x[i] = 2*x[i] for i in 0..n;\n}\n"


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what}")


def run(*words):
    env = dict(os.environ, OMP_NUM_THREADS="1")
    return subprocess.run([PMG, "run", *map(str, words)], capture_output=True, text=True, env=env, check=False)


def steps(*words, n=7, last=9):
    return ["steps.pmg", f"n={n}", f"last={last}", "x=random:3", "u=random:4", *words]


def saves(name):
    return [word for output in ("u", "total", "mean", "seen") for word in ("-o", f"{output}={name}.{output}.npy")]


def outputs(name):
    return [np.load(f"{name}.{output}.npy").tobytes() for output in ("u", "total", "mean", "seen")]


def goes_on():
    check(run(*steps(*saves("whole"))).returncode == 0, "the whole run")
    part = run(*steps("--iterations", 4, "--state", "s.state"))
    check(part.returncode == 0 and Path("s.state").exists(), f"a part: {part.stderr}")
    check(run(*steps("--iterations", 3, "--resume", "s.state", "--state", "t.state")).returncode == 0, "another part")
    rest = run(*steps("--resume", "t.state", *saves("rest")))
    check(rest.returncode == 0 and outputs("rest") == outputs("whole"), f"the rest gives the same bits: {rest.stderr}")
    check(run(*steps("--iterations", 4)).returncode == 0 and not Path("steps.state").exists(), "no file unless asked")


def refuse(words, status, message):
    result = run(*words)
    check(result.returncode == status and message in result.stderr, f"{words}: {result.returncode} {result.stderr}")


def refusals():
    state = Path("s.state").read_bytes()
    for name, text in (("cut", state[:-9]), ("long", state + b"x"), ("bent", state[:-20] + b"x" + state[-19:])):
        Path(name).write_bytes(text)
        refuse(steps("--resume", name), 3, f"pmg run: {name}: the state is damaged\n")
    Path("head").write_bytes(state[:100])
    refuse(steps("--resume", "head"), 3, "pmg run: head: it ends before a state does: cut off, or of something else\n")
    Path("other").write_text("a text that is long enough to be the head of a state, but is none" * 9)
    refuse(steps("--resume", "other"), 3, "pmg run: other: this is not the saved state of a pipeline\n")
    refuse(steps("--resume", "s.state", n=8), 3, "pmg run: s.state: the state of pipeline 'steps' was saved for other "
           "sizes: dimension 0 of 'x' was 7, here it is 8\n")
    other = [word.replace("random:3", "random:5") for word in steps("--resume", "s.state")]
    refuse(other, 3, "pmg run: s.state: the state was saved with other inputs\n")
    refuse(steps("--resume", "nothing"), 4, "pmg run: nothing: cannot open: No such file or directory\n")
    refuse(steps("--resume", "s.state", "--repeat", 2), 2, "--resume excludes --interp, --compare and --repeat\n")
    Path("double.pmg").write_text(DOUBLE)
    refuse(["double.pmg", "--state", "x", "n=1"], 2, "pmg run: --state: pipeline 'double' has no `iterate`\n")
    refuse(steps("--state", "x", "--interp"), 2, "pmg run: --state excludes --interp\n")
    os.mkdir("folder")
    refuse(steps("--iterations", 2, "--state", "folder"), 4,
           "folder: cannot write: it exists and is not a regular file")


def elsewhere():
    """Rows are counted from the begin of the loop: another one has no place for those of the state."""
    Path("rows.pmg").write_text(ROWS)
    def rows(lo, *words):
        return ["rows.pmg", f"lo={lo}", f"last={lo + 10}", *words]

    check(run(*rows(5, "--iterations", 3, "--state", "r.state")).returncode == 0, "three rows")
    for lo in 2, 9:
        refuse(rows(lo, "--resume", "r.state"), 3,
               f"pmg run: r.state: the state was saved with lo=5, but here is lo={lo}\n")
    refuse(["rows.pmg", "lo=5", "last=7", "--resume", "r.state"], 3,
           "pmg run: r.state: 'r' has 10 rows in the state, but 2 in this run\n"
           "  help: a run goes on with as many rows as were saved, or more\n")
    check(run(*rows(5, "--resume", "r.state", "-o", "r=r.npy")).returncode == 0, "the other rows")
    check(np.array_equal(np.load("r.npy"), np.arange(10)), "all rows")


def parameters():
    """A state goes on with the parameters that it began with, but for those that say where the loop ends."""
    Path("decay.pmg").write_text(SCALARS)
    def decay(*words, **other):
        given = {"nSteps": 9, "dt": 0.1, "least": 0.125, "rate": 0.5, "order": 1, **other}
        return ["decay.pmg", *(f"{name}={value}" for name, value in given.items()), *words]

    check(run(*decay("--iterations", 3, "--state", "d.state")).returncode == 0, "three steps")
    said = "pmg run: d.state: the state was saved with {}, but here is {}\n"
    for name, before, now in ("dt", "0.1", "0.2"), ("rate", "0.5", "nan"), ("order", "1", "3"), \
                             ("dt", "0.1", "0.10000000000000002"):
        result = run(*decay("--resume", "d.state", **{name: now}))
        check((result.returncode, result.stderr) == (3, said.format(f"{name}={before}", f"{name}={now}")),
              f"{name}={now}: {result.returncode} {result.stderr}")
    for other in {}, {"least": 0.9}, {"nSteps": 8, "dt": "1e-1"}:
        result = run(*decay("--resume", "d.state", "-o", "v=v.npy", **other))
        n = 3 if "least" in other else other.get("nSteps", 9)
        check(result.returncode == 0 and abs(np.load("v.npy") - 0.95**n) < 1e-15, f"{other}: {result.stderr}")


def places():
    """So it does with those that say where something is computed: a condition, a range, a subscript."""
    for name, value in {"condition": "case { i < k : u[i] + 1; else : u[i]; }",
                        "range": "u[i] + sum(j in 0..k) 0.5*u[j]", "subscript": "0.5*u[max(i-k, 0)]"}.items():
        Path("places.pmg").write_text(PLACES.format(value))
        words = ["places.pmg", "n=6", "steps=9"]
        check(run(*words, "k=2", "--iterations", 3, "--state", "p.state").returncode == 0, f"{name}: three steps")
        refuse([*words, "k=3", "--resume", "p.state"], 3,
               "pmg run: p.state: the state was saved with k=2, but here is k=3\n")
        check(run(*words, "k=2", "--resume", "p.state").returncode == 0, f"{name}: the others")


def interrupted():
    """Long enough to be met by a signal, on any machine."""
    words = steps(n=200000, last=10**9)
    for number in signal.SIGINT, signal.SIGTERM:
        signal.signal(number, signal.SIG_DFL)       # which programs behind `&` would pass on as ignored
        Path("steps.state").unlink(missing_ok=True)
        process = subprocess.Popen([PMG, "run", *words, "-o", "total=no.npy", "--keep", "kept", "--threads", "1"],
                                   text=True, stderr=subprocess.PIPE, stdout=subprocess.DEVNULL)
        while not Path("kept", "steps.so").exists() and process.poll() is None:
            time.sleep(0.05)
        time.sleep(0.5)
        process.send_signal(number)
        message = process.communicate(timeout=60)[1]
        check(process.returncode == 8, f"status {process.returncode}: {message}")
        check(message.startswith("pmg run: stopped after ") and "--resume steps.state goes on from" in message, message)
        check(Path("steps.state").exists() and not Path("no.npy").exists(), "a state and no output")
        Path("kept", "steps.so").unlink()
    onward = run(*words, "--resume", "steps.state", "--iterations", 1)
    check(onward.returncode == 0, f"goes on: {onward.stderr}")


def main():
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("steps.pmg").write_text(STEPS)
        for test in goes_on, refusals, elsewhere, parameters, interrupted:
            test()
        os.chdir(here)
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return RESULTS["failed"] > 0


raise SystemExit(main())
