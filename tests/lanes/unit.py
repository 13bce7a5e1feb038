# SPDX-License-Identifier: MIT
"""Runs the tests that are built in a folder: unit.py [--programs] BUILD [FOLDER | -FOLDER...]. FOLDER is one of tests/
to run alone, or, behind a dash, some to leave out. With --programs those to be built are listed instead.

A test prints `N passed, M failed[, K skipped]` as its last line and exits with 0 only if M is 0. PMG_TEST_JOBS of them,
or two, run at a time. One that says "Not with sanitizers" (on one line) is left out where they are built in, one that
says "With sanitizers only for --long" then, too, but for --long; one that says "Not with counts of lines" where these
are; one that says "Only with sanitizers" where neither are, but for --long.
What gcc compiles for one that says "Its C is not optimised" is so, whatever it asks for (tests/quick/gcc), but for
--long. They are started in the root of the tree and see BUILD, PMGC and PMG (paths of the programs to test).
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

CLOSING = re.compile(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", re.M)
ALONE, UNCOUNTED, SANITIZED = "Not with sanitizers", "Not with counts of lines", "Only with sanitizers"
SLOW = "With sanitizers only for --long"
QUICK = "Its C is not optimised"
SHOWN = 40      # lines of a failed test's output
SANITIZERS = {
    "ASAN_OPTIONS": "detect_leaks=1:detect_stack_use_after_return=1:abort_on_error=0",
    "UBSAN_OPTIONS": "print_stacktrace=1",
}


def seconds_of(build):
    """What a test may take: counts of lines are of programs that are not optimised."""
    return 4*3600 if os.environ.get("PMG_TEST_LONG") else 1800 if "-cov" in build.name else 600


def commands(build, which):
    def is_wanted(path):
        text, is_long = path.read_text(), "PMG_TEST_LONG" in os.environ
        if ("-san" in build.name and ALONE in text) or ("-cov" in build.name and UNCOUNTED in text):
            return False
        if "-san" in build.name and SLOW in text and not is_long:
            return False
        if not re.search("-san|-cov", build.name) and SANITIZED in text and not is_long:
            return False
        return path.parent.name in which or all(f.startswith("-") and f[1:] != path.parent.name for f in which)

    programs = filter(is_wanted, sorted(Path("tests").glob("*/test_*.c")))
    scripts = filter(is_wanted, sorted(Path("tests").glob("*/test_*.py")))
    return ([(str(p), [str(build / p.with_suffix(""))]) for p in programs]
            + [(str(p), [os.environ.get("PYTHON", "python3"), str(p)]) for p in scripts])


def environment(test, env):
    """Of one test, of that of all."""
    if QUICK not in Path(test).read_text() or "PMG_TEST_LONG" in env:
        return env
    return dict(env, PATH=f"{Path('tests/quick').resolve()}:{env['PATH']}", PMG_TEST_GCC=shutil.which("gcc"),
                PMG_TEST_PATH=env["PATH"], PMG_TEST_HEADERS=str(Path(env["BUILD"], "tests/quick").resolve()))


def execute(command, env, limit):
    """Output, exit status (None: stopped at `limit`) and processor seconds of one test."""
    late = threading.Event()
    with tempfile.TemporaryFile() as out:
        child = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT)
        stop = threading.Timer(limit, lambda: (late.set(), child.kill()))
        stop.start()
        _, status, used = os.wait4(child.pid, 0)
        stop.cancel()
        out.seek(0)
        text = out.read().decode(errors="replace")
    child.returncode = os.waitstatus_to_exitcode(status)
    return text, None if late.is_set() else child.returncode, used.ru_utime + used.ru_stime


def judged(command, env, limit):
    out, status, seconds = execute(command, env, limit)
    return (*outcome(out, status, limit), seconds)


def outcome(out, status, limit):
    """Passed, failed, skipped and what to show of one test."""
    if status is None:
        return 0, 1, 0, out + f"\nstopped after {limit} s"
    closing = CLOSING.findall(out)
    if not closing:
        return 0, 1, 0, out + f"\nno closing line, exit status {status}"
    passed, failed, skipped = (int(n or 0) for n in closing[-1])
    if status != 0 and failed == 0:
        return passed, 1, skipped, out + f"\nexit status {status}"
    if passed + failed + skipped == 0:
        return 0, 1, 0, out + "\na test without an expectation"
    return passed, failed, skipped, out


def told(name, command, env, limit):
    """Passed, failed and skipped of one test, which is told when it ends."""
    passed, failed, skipped, out, seconds = judged(command, environment(name, env), limit)
    shown = f"---- {name}\n" + "\n".join(out.splitlines()[-SHOWN:]) + "\n" if failed else ""
    tail = f", {skipped} skipped" if skipped else ""
    print(f"{shown}{name:44} {seconds:6.1f} s  {passed} ok, {failed} bad{tail}", flush=True)
    return passed, failed, skipped


def list_programs(build, which):
    print(*(command[0] for name, command in commands(build, which) if name.endswith(".c")), sep="\n")
    return 0


def main():
    if sys.argv[1] == "--programs":
        return list_programs(Path(sys.argv[2]), sys.argv[3:])
    build = Path(sys.argv[1])
    env = dict(os.environ, **SANITIZERS, BUILD=str(build), PMGC=str(build / "pmgc"), PMG=str(build / "pmg"))
    env["GCOV_ERROR_FILE"] = "/dev/null"    # where counts of lines cannot be written, the test says whether it minds
    listed = commands(build, sys.argv[2:])
    with ThreadPoolExecutor(int(os.environ.get("PMG_TEST_JOBS", 2))) as pool:
        results = list(pool.map(lambda c: told(*c, env, seconds_of(build)), listed))
    passed, failed, skipped = (sum(r[i] for r in results) for i in range(3))
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
