# SPDX-License-Identifier: MIT
"""How many times slower this machine is than the one for which budgets of lanes and limits of tests are set. Measured
by what they mostly consist of, a compiler at work: gcc on a text of its own, in processor time, best of some runs.
Machines that are shared become slower and faster again, so whoever is over a limit measures once more."""
import os
import subprocess
import tempfile
from pathlib import Path

REFERENCE = 0.65        # seconds of the machine that takes what limits say
FUNCTIONS, RUNS = 200, 3
FUNCTION = """double f{n}(int n, const double *a, double *b)
{{
    double s = {n};
    for (int i = 1; i < n; i++) {{
        b[i] = a[i]*{n} + b[i - 1];
        s += a[i] > {n} ? b[i] : -b[i];
    }}
    return s;
}}
"""


def compile_once(path):
    child = subprocess.Popen(["gcc", "-O2", "-c", path, "-o", f"{path}.o"], stdin=subprocess.DEVNULL)
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise RuntimeError("gcc does not compile what speed is measured by")
    return used.ru_utime + used.ru_stime


def slowness():
    """At least 1: a faster machine has the same limits."""
    with tempfile.TemporaryDirectory(prefix="pmg-speed-") as folder:
        path = Path(folder) / "speed.c"
        path.write_text("".join(FUNCTION.format(n=n) for n in range(FUNCTIONS)))
        return max(1.0, min(compile_once(path) for _ in range(RUNS)) / REFERENCE)


class Limits:
    """Limits in seconds of the reference, for this machine."""

    def __init__(self):
        self.slowness = slowness()

    def allow(self, seconds, limit):
        if seconds > limit*self.slowness:
            self.slowness = max(self.slowness, slowness())
        return seconds <= limit*self.slowness


if __name__ == "__main__":
    print(f"{slowness():.2f}")
