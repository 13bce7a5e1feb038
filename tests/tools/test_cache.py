#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Libraries that `pmg run` keeps for later runs: found again where all that they depend on is the same, compiled anew
where something differs or they are damaged, told with the messages of their compilation, limited, listed and cleared,
and no reason to fail where they cannot be kept. The compiler is one that notes its calls."""
import os
import re
import resource
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from pathlib import Path

BUILD = Path(os.environ.get("BUILD", "build"))
PMG = str((BUILD / "pmg").resolve())
RUNTIME, LIBRARY = Path("runtime").resolve(), (BUILD / "libpmgrt.so.1").resolve()
PROGRAM = """pipeline sums {
    param n;
    in x : f64[n];
    out y : f64[n];
    y[i] = case { i == 0 : x[i]; else : y[i-1] + x[i]; } for i in 0..n;
}
"""
COMPILER = """#!/bin/sh
case "$*" in *--version) echo cc 1.0; exit;; esac
echo "$@" >> {}
exec gcc "$@" -O0
"""
RESULTS = {"passed": 0, "failed": 0}


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what}")


def start(*options, cc="cc", program="sums.pmg", **env):
    command = [PMG, "run", program, "x=1", "n=10", "--time", f"--cc={Path(cc.split()[0]).resolve()}"
               f"{cc[len(cc.split()[0]):]}", *options]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                            env={**os.environ, **env})


def run(*options, **how):
    process = start(*options, **how)
    process.stdout_text, process.stderr_text = process.communicate()
    return process


def library(process):
    found = re.search(r"^library (found in|kept in|cannot be kept in) (\S+)$", process.stdout_text, re.M)
    return found.groups() if found else (None, process.stdout_text + process.stderr_text)


def is_right(process):
    return process.returncode == 0 and re.search(r"^y +f64 +\[10\] +1 +10 +55$", process.stdout_text, re.M)


def calls():
    return len(Path("calls").read_text().splitlines()) if Path("calls").exists() else 0


def found_again():
    first, again = run("--remarks"), run("--remarks")
    check(is_right(first) and library(first)[0] == "kept in", library(first))
    check(is_right(again) and library(again) == ("found in", library(first)[1]), library(again))
    check(calls() == 1, "the compiler is called once")
    check("PMG0701" in first.stderr_text and again.stderr_text == first.stderr_text, "messages are told again")
    check(Path(library(first)[1]).stat().st_mode & 0o077 == 0, "nobody else can write it")
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    for _ in range(5):
        run("--remarks")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)/5
    limit = 0.2 if "ASAN_OPTIONS" in os.environ else 0.06
    check(used < limit, f"a run that finds its library takes {1e3*used:.0f} ms of a processor")


def other_is_compiled():
    run()
    for what, how in {
            "flags": {"cc": "cc -g"}, "an option of a pass": {"options": ["--vector=off"]},
            "items": {"options": ["--with=precision x : f32"]}, "a size": {"options": ["--specialize=n=10"]},
            "candidates": {"options": ["--candidates=3"]}, "headers elsewhere": {"CPATH": "."},
            "remarks": {"options": ["--remarks", "--vector=off"]}}.items():
        before, options = calls(), how.pop("options", [])
        done = run(*options, **how)
        check(is_right(done) and calls() == before + 1, f"{what}: {library(done)}")
        check(library(run(*options, **how))[0] == "found in", f"{what}, again")
    before = calls()
    Path("other.pmg").write_text(PROGRAM.replace("y[i-1] +", "1 +"))
    done = run(program="other.pmg")
    check(done.returncode == 0 and calls() == before + 1 and " 19" in done.stdout_text, done.stdout_text)
    os.utime("cc", (1, 1))
    check(library(run())[0] == "kept in", "another compiler")


def wrappers_are_seen_through():
    Path("wrapper").write_text('#!/bin/sh\nexec "$@"\n')
    Path("wrapper").chmod(0o755)
    command = f"wrapper {Path('cc').resolve()}"
    status = Path("cc").stat()
    check(library(run(cc=command))[0] == "kept in" and library(run(cc=command))[0] == "found in", "a wrapper")
    text = Path("cc").read_text()
    Path("cc").write_text(text.replace("cc 1.0", "cc 1.1"))
    check(library(run(cc=command))[0] == "kept in", "a wrapper of a newer compiler")
    Path("cc").write_text(text)
    os.utime("cc", ns=(status.st_atime_ns, status.st_mtime_ns))
    check(library(run(cc=command))[0] == "found in", "a wrapper of the old compiler")


def folders_of_others_are_not_used():
    folder = Path("open")
    folder.mkdir(mode=0o700)
    path = Path(library(run(PMG_CACHE="open"))[1])
    check(path.parent == folder and library(run(PMG_CACHE="open"))[0] == "found in", "a folder of ours")
    for mode in 0o770, 0o702, 0o1777:
        folder.chmod(mode)
        before, done = calls(), run(PMG_CACHE="open")
        check(is_right(done) and calls() == before + 1 and library(done)[0] == "cannot be kept in" and
              "no libraries are kept in open: others may write it (chmod go-w ends that)" in done.stderr_text,
              f"{mode:o}: {done.stderr_text}")
    folder.chmod(0o700)
    if os.geteuid() == 0:
        os.chown(folder, 12345, -1)
        done = run(PMG_CACHE="open")
        check(is_right(done) and "no libraries are kept in open: it belongs to another user" in done.stderr_text,
              done.stderr_text)
        os.chown(folder, 0, -1)
    path.rename(folder / "elsewhere.so")
    path.symlink_to("elsewhere.so")
    check(library(run(PMG_CACHE="open"))[0] == "kept in" and not path.is_symlink(), "a link to a library is none")
    os.umask(0)
    run(PMG_CACHE="new/folder")
    os.umask(0o022)
    check(Path("new").stat().st_mode & 0o077 == 0 and library(run(PMG_CACHE="new/folder"))[0] == "found in", "new")


def what_is_missing_is_told():
    """A kept library is not taken where the runtime is not there; next to `pmg` is another one."""
    home = Path("home").resolve()
    shutil.copytree(RUNTIME, home / "include", ignore=shutil.ignore_patterns("*.c"))
    (home / "lib").mkdir()
    (home / "lib/libpmgrt.so").symlink_to(LIBRARY)
    check(is_right(run(PMG_HOME=str(home))) and library(run(PMG_HOME=str(home)))[0] == "found in", "elsewhere")
    (home / "lib/libpmgrt.so").unlink()
    check(library(run(PMG_HOME=str(home)))[0] == "kept in", "with the runtime that is next to the program")
    (home / "include/pmgrt.h").unlink()
    done = run(PMG_HOME=str(home))
    check(done.returncode != 0 and "pmgrt.h is neither in" in done.stderr_text, f"no header: {done.stderr_text}")


def flags_of_the_user_win():
    run(cc="cc -O1 -march=x86-64 -ffp-contract=off")
    words = Path("calls").read_text().splitlines()[-1].split()
    check(words.index("-O1") > words.index("-O3"), words)
    check(words.index("-march=x86-64") > words.index("-march=native"), words)
    check(words.index("-ffp-contract=off") > words.index("-ffp-contract=fast"), words)
    Path("round.pmg").write_text("pipeline round { in a, b, c : f64; out y : f64; y = a*b + c; }")
    for flag, wanted in ("fast", (-2.0**-60, 0.0)), ("off", (0.0,)):       # the processor may have no such instruction
        done = subprocess.run([PMG, "run", "round.pmg", f"a={1 + 2.0**-30!r}", f"b={1 - 2.0**-30!r}", "c=-1", "-o",
                               "y=y.f64", f"--cc=gcc -ffp-contract={flag}"], capture_output=True, text=True,
                              check=False)
        got = struct.unpack("d", Path("y.f64").read_bytes())[0] if done.returncode == 0 else done.stderr
        check(got in wanted, f"-ffp-contract={flag}: {got}")


def damaged_is_compiled():
    path = Path(library(run())[1])
    good = path.read_bytes()
    for what, bad in {"a byte": good[:3000] + bytes([good[3000] ^ 1]) + good[3001:], "half": good[:len(good)//2],
                      "nothing": b"", "another file": b"no library\n"*100,
                      "the last bytes": good[:-40] + b"x" + good[-39:], "the tail": good[:-1] + b"x"}.items():
        path.unlink()
        path.write_bytes(bad)
        path.chmod(0o600)
        done = run()
        check(is_right(done) and library(done) == ("kept in", str(path)), f"{what}: {library(done)}")
        check(path.read_bytes()[-8:] == good[-8:] and library(run())[0] == "found in", f"{what}, again")
    path.chmod(0o666)
    check(library(run())[0] == "kept in" and path.stat().st_mode & 0o022 == 0, "one that others may write is not taken")


def nowhere_to_keep():
    Path("file").write_text("")
    for folder in "/proc/pmg", "/dev/full", "file/x", str(Path("file").resolve()):
        done = run(PMG_CACHE=folder)
        check(is_right(done) and library(done)[0] == "cannot be kept in", f"{folder}: {library(done)}")
    for options, env in ([], {"PMG_CACHE": "off"}), (["--keep=kept"], {}), ([], {"XDG_CACHE_HOME": "", "HOME": ""}):
        before, done = calls(), run(*options, **env)
        check(is_right(done) and library(done)[0] is None and calls() == before + 1, f"{options} {env}")
    check(Path("kept/sums.c").exists(), "--keep writes the text")


def at_the_same_time():
    done = [start(PMG_CACHE="many") for _ in range(4)]
    for process in done:
        process.stdout_text, process.stderr_text = process.communicate()
    check(all(is_right(process) for process in done), [library(process) for process in done])
    names = [path.name for path in Path("many").iterdir()]
    check(len(names) == 1 and names[0].endswith(".so"), names)


def folder_is_limited():
    folder = Path("bounded")
    folder.mkdir(mode=0o700)
    for i, name in enumerate(["old-0000000000000000.so", "new-0000000000000001.so", "mine.so", "wisdom",
                              "killed-0000000000000002.so.part-abcdef", "runs-0000000000000003.so.part-abcdef"]):
        with open(folder / name, "wb") as file:
            file.truncate(140 << 20 if name.startswith(("old", "new", "mine")) else 10)
        age = 10 if name.startswith("runs") else 100000 - i
        os.utime(folder / name, (time.time() - age,)*2)
    check(is_right(run(PMG_CACHE="bounded")), "it runs")
    names = sorted(re.sub(r"^sums-.*", "sums", path.name) for path in folder.iterdir())
    check(names == ["mine.so", "new-0000000000000001.so", "runs-0000000000000003.so.part-abcdef", "sums", "wisdom"],
          names)


def listed_and_cleared():
    def cache(*options, folder="bounded"):
        return subprocess.run([PMG, "cache", *options], capture_output=True, text=True, check=False,
                              env={**os.environ, "PMG_CACHE": folder})
    told = cache().stdout
    check("new-0000000000000001.so\n" in told and "3 libraries in bounded, 140." in told and "mine" not in told, told)
    check(cache("--clear").stdout == "3 removed from bounded\n", "--clear")
    check(sorted(path.name for path in Path("bounded").iterdir()) == ["mine.so", "wisdom"], "others stay")
    check(cache().stdout.startswith("0 libraries in bounded"), "all gone")
    check(cache(folder="off").returncode == 0 and cache(folder="nowhere").returncode == 0, "no folder")
    check(cache("x").returncode == 2, "no operands")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        os.environ.pop("PMG_CACHE", None)
        Path("sums.pmg").write_text(PROGRAM)
        Path("cc").write_text(COMPILER.format(Path("calls").resolve()))
        Path("cc").chmod(0o755)
        for test in (found_again, other_is_compiled, wrappers_are_seen_through, folders_of_others_are_not_used,
                     what_is_missing_is_told, flags_of_the_user_win, damaged_is_compiled, nowhere_to_keep,
                     at_the_same_time, folder_is_limited, listed_and_cleared):
            test()
        os.chdir("/")
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return RESULTS["failed"] != 0


if __name__ == "__main__":
    sys.exit(main())
