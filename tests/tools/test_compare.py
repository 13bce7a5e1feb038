#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pmg run --compare` tells right from wrong. What rounding explains is right however errors travel: through loops,
recurrences, quotients and conditions; and code that is made wrong on purpose is told, by as little as 1e-9 of a value,
one cell, one term of a sum. Outputs are written in either case. Not with sanitizers: a compiler is called each time.
Its C is not optimised."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BUILD = Path(os.environ.get("BUILD", "build"))
PMG = str((BUILD / "pmg").resolve())
EXAMPLES = Path("dsl_examples").resolve()
RESULTS = {"passed": 0, "failed": 0}

PROGRAMS = """pipeline sums {
    param n;
    in x : f64[n];
    out y, z : f64[n];
    out total : f64;
    total = sum(x);
    y[i] = exp(x[i])/3 for i in 0..n;
    z[i] = y[i] - x[i]*x[i] for i in 0..n;
}

pipeline decay {
    param n, steps;
    in g : f64[n];
    inout v : f64[n];
    iterate it in 0..steps {
        next v[i] = v[i] - 0.25*abs(g[i])*v[i] + 0.001*exp(-v[i]) for i in 0..n;
    }
}

pipeline grows {
    param n, steps;
    inout v : f64[n];
    iterate it in 0..steps {
        func turned[i in 0..n] : f64 = tanh(3*v[i]);
        next v[i] = turned[i] + 0.5*v[i] for i in 0..n;
    }
}

pipeline chaos {
    param n, steps;
    inout v : f64[n];
    iterate it in 0..steps {
        next v[i] = 3.9*v[i]*(1 - v[i])*exp(0*v[i]) for i in 0..n;
    }
}

pipeline chains {
    param s, n;
    in a, b, c, d : f64[s, n];
    out x : f64[s, n];
    x = TriBatch(a, b, c, d);
}

pipeline undecided {
    param n;
    in x : f64[n];
    out p, y : f64[n];
    out k : i32[n];
    func share[i in 0..n] : f64 = exp(log(x[i])/3);
    p = share;
    y[i] = select(share[i]*share[i]*share[i] < x[i], 1, 2) for i in 0..n;
    k[i] = cast<i32>(floor(share[i]*share[i]*share[i])) for i in 0..n;
}
"""
SUMS = ["--pipeline=sums", "x=random:1", "n=1000"]
DECAY = ["--pipeline=decay", "g=random:1", "v=random:2", "n=40", "steps=500"]
GROWS = ["--pipeline=grows", "v=random:2", "n=40", "steps=200"]
CHAINS = ["--pipeline=chains", "a=random:1", "b=random:11", "c=random:21", "d=random:31", "s=20", "n=100"]
UNDECIDED = ["--pipeline=undecided", "x=random:1", "n=60"]
CABLE = ["nCells=3", "n=23", "nSteps=1000", "dt=0.025", "eLeak=-65", "cm=1", "gLeak=0.1", "gAxial=0.1",
         "current=random:1", "v=random:2", "T.parent=parent.txt"]

# The C compiler, but of a text in which the first line of code with PATTERN has been changed, which must be there.
WRONG = """#!{python}
import pathlib, re, subprocess, sys
path = next(pathlib.Path(word) for word in sys.argv if word.endswith(".c"))
lines = path.read_text().splitlines()
at = next(i for i, line in enumerate(lines) if re.match("\\t+[^\\s*/]", line) and re.search({pattern!r}, line))
lines[at] = re.sub({pattern!r}, {by!r}, lines[at], count=1)
path.write_text("\\n".join(lines) + "\\n")
sys.exit(subprocess.run(["gcc", "-O1", *sys.argv[1:]]).returncode)
"""


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what}")


def compare(program, *words):
    return subprocess.run([PMG, "run", str(program), *words, "--compare", "--tune=off", "--threads=2"],
                          capture_output=True, text=True, check=False)


def shares(result):
    return [float(line[1]) for line in re.finditer(r"^\S+(?: +\S+){3} +(\S+)$", result.stdout.split("\noutput ")[0],
                                                   re.M) if line[1] != "bound"]


def right_ones():
    """None of these held with a bound that takes loops and recurrences as exact; all but the first need more runs."""
    for program, words in (("programs.pmg", SUMS), (EXAMPLES / "cable.pmg", CABLE), ("programs.pmg", DECAY),
                           ("programs.pmg", CHAINS),
                           ("programs.pmg", ["--pipeline=chaos", "v=0.3", "n=10", "steps=60", "--cc",
                                             "gcc -ffast-math"])):
        result = compare(program, *words)
        check(result.returncode == 0 and shares(result) and max(shares(result)) <= 1,
              f"{words}: {result.stdout}{result.stderr}")
        if "nSteps=1000" in words or "--pipeline=chains" in words:
            check(re.search(r"^[vx]: a run in extended precision differs by \S+ at most from what was compiled, by \S+ "
                            r"from the interpreter: .* near", result.stdout, re.M), f"{words}: {result.stdout}")


def wrong(program, words, pattern, by, at):
    """Status 6, the cell, and the outputs all the same."""
    script = Path("wrong")
    script.write_text(WRONG.format(python=sys.executable, pattern=pattern, by=by))
    script.chmod(0o755)
    saved = Path("saved.npy")
    saved.unlink(missing_ok=True)
    name = re.match(r"\w+", at)[0]
    result = compare(program, *words, "--cc", str(script.resolve()), "-o", f"{name}={saved}")
    check(result.returncode == 6 and re.search(rf"^pmg run: {at}.* more than rounding explains$", result.stderr, re.M),
          f"{pattern}: {result.returncode} {result.stdout}{result.stderr}")
    check(saved.exists() and "\noutput " in result.stdout, f"{pattern}: outputs are written and told")
    check(" in extended precision" in result.stderr, f"{pattern}: {result.stderr}")


def wrong_ones():
    for pattern, by, at in ((r"y\[i\] = exp", "y[i] = (1 + 1e-9)*exp", r"y\[\d+\]"),
                            (r"sum \+= x\[i\]", "sum += (i == 77 ? 0 : x[i])", "total"),
                            (r"sum \+= x\[i\]", "sum += x[i]*(1 + 1e-9*(i & 1))", "total"),
                            (r"y\[i\] = exp", "y[i] = (i == 500 ? 1e-13 : 0) + exp", r"y\[500\]")):
        wrong("programs.pmg", SUMS, pattern, by, at)
    for words in DECAY, GROWS:
        wrong("programs.pmg", words, r"(exp|tanh)\(", r"(1 + 1e-9)*\1(", r"v\[\d+\]")
        wrong("programs.pmg", words, r"(exp|tanh)\(", r"(i == 7 ? 1 + 1e-9 : 1)*\1(", r"v\[7\]")
    wrong("programs.pmg", [*CHAINS[:2], "b=4", *CHAINS[3:], "--interleave=off"], r"(x\[[^=]*\] = )", r"\1 1e-9 + ",
          r"x\[\d+, \d+\]")


def undecided():
    """exp(log(x)/3)³ is x but for rounding, so that conditions on it may be either; a wrong value stays wrong."""
    result = compare("programs.pmg", *UNDECIDED)
    check(result.returncode == 0, f"{result.stdout}{result.stderr}")
    result = compare("programs.pmg", "--pipeline=undecided", "x=8", "n=60", "--cc", "gcc -ffast-math")
    check(result.returncode == 0, f"{result.stdout}{result.stderr}")
    wrong("programs.pmg", ["--pipeline=undecided", "x=8", "n=60"], r"(p\[i\] = )", r"\1 1e-9 + ", r"p\[\d+\]")
    script = Path("wrong")
    script.write_text(WRONG.format(python=sys.executable, pattern=r"exp\(", by="(1 - 4e-16)*exp("))
    result = compare("programs.pmg", "--pipeline=undecided", "x=8", "n=60", "--cc", str(script.resolve()))
    told = re.search(r"^rounding decides the condition or conversion at programs.pmg:\d+:\d+: what follows from it may "
                     r"be either$", result.stdout, re.M)
    check(result.returncode == 0 and told, f"{result.stdout}{result.stderr}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("programs.pmg").write_text(PROGRAMS)
        Path("parent.txt").write_text("".join(f"{i - 1 if i % 7 or not i else i//3}\n" for i in range(23)))
        right_ones()
        wrong_ones()
        undecided()
        os.chdir("/")
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return RESULTS["failed"] > 0


if __name__ == "__main__":
    sys.exit(main())
