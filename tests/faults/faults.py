# SPDX-License-Identifier: MIT
"""What the tests of failing calls share: the shim, commands that run under it, folders before and after, and what must
hold between them."""
import functools
import os
import re
import subprocess
import tempfile
from pathlib import Path

BUILD = Path(os.environ.get("BUILD", "build")).resolve()
PMG = str(Path(os.environ.get("PMG") or BUILD / "pmg").resolve())
PMGC = str(Path(os.environ.get("PMGC") or BUILD / "pmgc").resolve())
FAILED_IO, NO_RESOURCES = 4, 5      # exit statuses
CALLS = 10**6 if os.environ.get("PMG_TEST_LONG") else 3     # of a command and a kind
# Of calls that fail: the exit statuses, and reasons of which the message has one.
KINDS = {"input": ((FAILED_IO, NO_RESOURCES),
                   ("Input/output error", "cannot open shared object", "Too many open files",
                    "Resource temporarily unavailable", "not enough memory", "Cannot allocate memory")),
         "memory": ((NO_RESOURCES,), ("memory",)),
         "output": ((FAILED_IO,), ("",))}
# In the place of a C compiler: what it is asked for has been made before.
COMPILER = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
cp '{library}' "$2"
"""
RESULTS = {"passed": 0, "failed": 0}


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print("does not hold:", what)


def closing_line():
    skipped = f", {RESULTS['skipped']} skipped" if "skipped" in RESULTS else ""
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed{skipped}")
    return RESULTS["failed"] != 0


def state(folder):
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def restore(folder, old):
    for path in folder.iterdir():
        path.unlink()
    for name, data in old.items():
        (folder / name).write_bytes(data)


def run(command, folder, **env):
    return subprocess.run(command, cwd=folder, env=dict(os.environ, **env), stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, errors="replace", check=False)


def sanitizer():
    """What is loaded behind the shim, which allocates by it, where the programs are built with a sanitizer."""
    libraries = subprocess.run(["ldd", PMGC], capture_output=True, text=True, check=True).stdout.split()
    return [word for word in libraries if word.startswith("/") and re.search("libasan|libclang_rt.asan", word)]


@functools.cache
def archives(program):
    """Where isl's archive begins, which the linker puts behind all code of the program's own; 0: isl is shared."""
    symbols = subprocess.run(["nm", "-n", program], capture_output=True, text=True, check=True).stdout.splitlines()
    rows = (symbol.split() for symbol in symbols)
    return next((row[0] for row in rows
                 if row[-1].startswith("isl_") and row[-2] in "tT" and not row[-1].endswith(".cold")), "0")


def compiler(root, folder, program, arguments):
    """A command in place of the C compiler, which has the library of `program` ready."""
    kept = root / program
    made = run([PMG, "run", program, *arguments, "--keep", str(kept), "--cc", "gcc -O0", "--tune=estimate"], folder)
    check(made.returncode == 0, made.stderr)
    script = root / f"cc-{program}"
    script.write_text(COMPILER.format(library=next(kept.glob("*.so"))))
    script.chmod(0o755)
    return ["--cc", str(script)]


class Shim:
    """preload/shim.c as a library in `folder`."""

    def __init__(self, folder):
        self.library, self.log, self.count = folder / "shim.so", folder / "log", folder / "count"
        subprocess.run([os.environ.get("CC", "gcc"), "-std=gnu11", "-D_GNU_SOURCE", "-O1", "-fPIC", "-shared",
                        str(Path(__file__).with_name("preload") / "shim.c"), "-ldl", "-o", str(self.library)],
                       check=True)
        self.preload = " ".join([str(self.library), *sanitizer()])
        # The C compiler, which is a child of pmg, does not give back everything.
        for program in "pmg", "pmgc":
            (folder / f"options.{program}").write_text("detect_leaks=1\n")
        self.options = f"{os.environ.get('ASAN_OPTIONS', '')}:verify_asan_link_order=0:detect_leaks=0:" \
                       f"include_if_exists={folder}/options.%b"

    def run(self, command, folder, kind, at, **env):
        """What the command did, and the call that failed; None: there is no call of that number."""
        self.log.unlink(missing_ok=True)
        self.count.unlink(missing_ok=True)
        done = run(command, folder, LD_PRELOAD=self.preload, ASAN_OPTIONS=self.options, FAULT_KIND=kind,
                   FAULT_AT=str(at), FAULT_LOG=str(self.log), FAULT_COUNT=str(self.count),
                   FAULT_ARCHIVES=archives(command[0]), **env)
        return done, self.log.read_text().strip() if self.log.exists() else None

    def calls(self, command, folder, kind, **env):
        """How many calls of that kind the command makes, and what it does when all of them succeed."""
        done, _ = self.run(command, folder, kind, 0, **env)
        return self.count.stat().st_size if self.count.exists() else 0, done


# ---- Calls of one kind, one after the other -------------------------------------------------------------------

def check_failure(what, done, old, new, now, outputs, kind):
    statuses, reasons = KINDS[kind]
    check(done.returncode in statuses, what + f"exit status {done.returncode}: {done.stderr}")
    check(done.stderr.strip() and any(reason in done.stderr for reason in reasons), what + f"no reason: {done.stderr}")
    check(set(now) <= set(old) | set(outputs), what + f"left behind: {sorted(set(now) - set(old))}")
    check(all(now.get(path) in (old.get(path), new.get(path)) for path in {*now, *old}), what + "torn")


def fail_calls(name, command, folder, shim, outputs, kind, env, check_success):
    """`check_success` sees what is there where a command succeeds despite a fault."""
    old = state(folder)
    n, clean = shim.calls(command, folder, kind, **env)
    new = state(folder)
    check(clean.returncode == 0, f"{name}: {clean.stderr}")
    check(n >= 1, f"{name}: no {kind}")
    for at in sorted({1 + i*n//CALLS for i in range(min(CALLS, n))} if n > CALLS else range(1, n + 1)):
        restore(folder, old)
        done, call = shim.run(command, folder, kind, at, **env)
        if not call:
            check(done.returncode == 0, f"{name}: without a fault: {done.stderr}")
            continue
        what = f"{name}: {call} ({kind} {at} of {n}): "
        if done.returncode == 0:
            check_success(what, call, done, clean, old, new, state(folder), kind)
        else:
            check_failure(what, done, old, new, state(folder), outputs, kind)
        check(not any(Path(env["TMPDIR"]).iterdir()), f"{name}: {call}: a folder is left")
    restore(folder, old)


def fail_commands(prepare, commands, threads, kinds, check_success):
    """Of each command that `commands` gives for the folder that `prepare` makes, the calls of these kinds. What is not
    given back after one is a sanitizer's to find, where it is built in."""
    with tempfile.TemporaryDirectory(prefix="pmg-faults-") as name:
        root = Path(name)
        folder, shim = prepare(root), Shim(root)
        (root / "tmp").mkdir()
        env = {"TMPDIR": str(root / "tmp"), "XDG_CACHE_HOME": str(root / "cache"), "OMP_NUM_THREADS": str(threads)}
        for case, (command, outputs) in commands(root, folder).items():
            for kind in kinds:
                fail_calls(case, command, folder, shim, outputs, kind, env, check_success)
    return closing_line()
