#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pmg life fit`: the exact optimum of made-up problems and of the real ones of PMG_TEST_DATA, what it tells, and a
message for each problem and option that is wrong. Its C is not optimised. Not with sanitizers: most of its time is
that of C compilers, and test_messages.py asks for messages."""
import contextlib
import csv
import os
import pty
import re
import resource
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np
from scipy.optimize import nnls

from problems import Problem, Stored, write
from scans import DATA, PMG, RESULTS, check, close, life, run

USAGE, WRONG, IO, RESOURCES, NUMERICAL = 2, 3, 4, 5, 6
SINGLE = ["--precision=f32", "--no-preconditioner"]


def refused(status, text, *words):
    done = life("fit", *words)
    check(done.returncode == status and text in done.stdout, f"{words}: status {done.returncode}: {done.stdout}")


def part_of(cases):
    """Every second, or all in the long form."""
    return cases if os.environ.get("PMG_TEST_LONG") else cases[::2]


def half_squares(problem, w):
    return 0.5*np.sum((problem.M @ w - problem.b.ravel())**2)


def optimum(name, folder, problem, exact, *flags, well_conditioned=True):
    path = write(folder/f"{name}.h5", problem)
    out = run("fit", path, "-o", folder/"w.npy", "--history", folder/"history.csv", *flags)
    w = np.load(folder/"w.npy")
    wanted, got = half_squares(problem, exact), half_squares(problem, w)
    check(abs(got - wanted) <= 1e-6*wanted, f"{name}: objective {got} instead of {wanted}")
    check(not well_conditioned or np.abs(w - exact).max() < 1e-3, f"{name}: weights")
    rows = list(csv.DictReader((folder/"history.csv").open()))
    check([int(r["iteration"]) for r in rows] == list(range(len(rows))), f"{name}: a row for each iteration")
    check(abs(float(rows[-1]["objective"])/got - 1) < 1e-9 and int(rows[-1]["live"]) == np.count_nonzero(w),
          f"{name}: the last row is about the weights")
    check(f"after {len(rows) - 1} iterations" in out and "KKT violation" in out and "memory: " in out, out)
    gradient = problem.M.T @ (problem.M @ w - problem.b.ravel())
    check(gradient.min() > -1e-3*np.abs(problem.M.T @ problem.b.ravel()).max(), f"{name}: KKT")
    return w


def options(folder, problem, exact):
    """The same bits for 1 and 2 threads; a start; weights in the file of the problem."""
    path = write(folder/"p.h5", problem)
    run("fit", path, "-o", folder/"1.npy", "--threads=1")
    check(folder.joinpath("1.npy").read_bytes() == folder.joinpath("w.npy").read_bytes(), "1 and 2 threads")
    run("fit", path, "-o", folder/"1.npy", "--no-deterministic")
    check(np.abs(np.load(folder/"1.npy") - exact).max() < 1e-3, "--no-deterministic")
    np.savetxt(folder/"start.txt", exact)
    out = run("fit", path, "-o", f"{path}:/fitted", "--start", folder/"start.txt", *SINGLE)
    with h5py.File(path) as file:
        check(np.abs(file["fitted"][:] - exact).max() < 1e-4 and "y" in file, "weights in the file of the problem")
    check(int(re.search(r"reached after (\d+) iterations", out)[1]) < 20, f"a good start: {out}")
    write(path, problem, y=problem.b*1e200)
    refused(NUMERICAL, "the numbers of the problem are too large", path, "-o", folder/"no.npy")
    check(not folder.joinpath("no.npy").exists(), "no weights")


def with_mean(folder, problem):
    """Told of, in a signal that the dictionary cannot explain."""
    D, y = (a - a.mean(1, keepdims=True) for a in (problem.D, problem.b))
    path = write(folder/"p.h5", problem, D=D, y=y)
    words = ["fit", path, "--iterations=0", "--tolerance=0", "-o", folder/"w.npy"]
    check("warning" not in run(*words), "no warning")
    check("warning: the tolerance is not reached; it may need a higher --iterations=N" in
          run("fit", path, "--iterations=2", "-o", folder/"w.npy"), "fibers that may lose their weights")
    write(path, problem, D=D, y=y + 50*(np.arange(len(y)) == 3)[:, None])
    out = run(*words)
    check("p.h5: voxel 3 of signal 0 has the mean 50, which the dictionary" in out, out)


def hopeless(folder, problem):
    """Told of, where weights of 0 are the optimum from the start, and why."""
    for why, changes, *flags in part_of([
            ("the signal is 0", {"y": 0*problem.b}), ("the dictionary is 0", {"D": 0*problem.D}),
            ("the coefficients are 0", {"PHI_value": 0*problem.value}),
            ("the penalty is more than any fiber explains", {}, "--l1=1e300"),
            ("no fiber explains any of the signal, or numbers are too small or too large", {"D": 1e-200*problem.D}),
            ("no fiber explains any of the signal, or numbers are too small or too large", {"y": 1e-310*problem.b}),
            ("no fiber explains any of the signal, or numbers are too small or too large",
             {"PHI_value": 1e200*problem.value})]):
        path = write(folder/"hopeless.h5", problem, **changes)
        out = run("fit", path, "-o", folder/"w.npy", *flags)
        check(f"pmg life fit: warning: {path}: all weights will be 0: {why}\n" in out and
              "the tolerance is reached after 0 iterations" in out, out)
        check(not np.load(folder/"w.npy").any(), f"{why}: the weights")


def limited(size):
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def no_room(folder, problem):
    """A disk that is full, or files that may not be so large: the message, no part of an output, no weights lost."""
    path = write(folder/"room.h5", problem)
    words = [path, "--iterations=3", "--tolerance=0", "-o", folder/"room.txt"]
    done = life("fit", *words, "--history=/dev/full")
    check(done.returncode == IO and "/dev/full: cannot write: No space left on device" in done.stdout, done.stdout)
    check(np.loadtxt(folder/"room.txt").shape == (30,), "weights without a history")
    folder.joinpath("room.txt").unlink()
    state = ["--state", folder/"room.state"]
    run("fit", *words, *state)
    folder.joinpath("room.txt").rename(folder/"wanted.txt")
    size = folder.joinpath("room.state").stat().st_size
    np.savetxt(folder/"30.txt", np.ones(30))
    good = write(folder/"good.h5", problem)
    signals = folder/"many.npy"
    np.save(signals, np.tile(problem.b, (60, 1, 1)))
    for told, limit, command in [
            ("30w.txt: cannot write: File too large", 30, ["export", folder/"30.txt", "-o", folder/"30w.txt"]),
            ("30w.npy: cannot write: File too large", 130, ["export", folder/"30.txt", "-o", folder/"30w.npy"]),
            ("30w.h5: the system refuses it: File too large", 500,
             ["export", folder/"30.txt", "-o", folder/"30w.h5"]),
            ("good.h5: cannot write: File too large", 9000, ["export", folder/"30.txt", "-o", good]),
            ("room.state: cannot write: File too large", size - 20, ["fit", *words, *state]),
            ("whole.h5: the system refuses it: File too large", 9000,
             ["import", f"{good}:/PHI", f"--dictionary={good}:/D", f"--y={good}:/y", "-o", folder/"whole.h5"])]:
        # Counts of lines would be cut off, too.
        done = subprocess.run([PMG, "life", *map(str, command)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, check=False, preexec_fn=limited(limit),
                              env={**os.environ, "GCOV_PREFIX": "/dev/null"})
        check(done.returncode == IO and done.stdout.strip().endswith(told), f"{told}: {done.returncode} {done.stdout}")
    check(not list(folder.glob("30w*")) and not list(folder.glob("*part-*")), "parts are removed")
    with open("/dev/full", "w", encoding="ascii") as full:
        for command in ["fit", "--help"], ["evaluate", good, folder/"30.txt"]:
            done = subprocess.run([PMG, "life", *map(str, command)], stdout=full, stderr=subprocess.PIPE, text=True,
                                  check=False)
            check(done.returncode == IO and "cannot write to the standard output" in done.stderr, done.stderr)


def moments(folder, words):
    """A run that is ended by a signal once its history has so many rows, and its exit status."""
    count = 50 if os.environ.get("PMG_TEST_LONG") else 3
    rng = np.random.default_rng(int.from_bytes(os.urandom(4), "little"))
    for i in range(count):
        rows = int(rng.integers(1, 60))
        number = [signal.SIGKILL, signal.SIGINT, signal.SIGTERM][i % 3]
        if number != signal.SIGKILL:
            signal.signal(number, signal.SIG_DFL)   # which programs behind `&` would pass on as ignored
        folder.joinpath("part.csv").unlink(missing_ok=True)
        with subprocess.Popen([PMG, "life", "fit", *map(str, words)], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as process:
            while process.poll() is None and lines_of(folder/"part.csv") <= rows:
                time.sleep(0.001)
            process.send_signal(number)
            out = process.communicate()[0]
        yield number, rows, process.returncode, out


def left_over(folder, problem):
    """Parts of outputs that processes of this machine were killed over go when the next one begins."""
    path = write(folder/"left.h5", problem)
    machine = 0x811c9dc5
    boot = Path("/proc/sys/kernel/random/boot_id").read_text("ascii").strip()
    for byte in (boot + os.readlink("/proc/self/ns/pid")).encode():
        machine = (machine ^ byte)*0x01000193 % 2**32
    with subprocess.Popen(["true"]) as gone:
        gone.wait()
    mine = [f"left.txt.part-{machine:08x}-{gone.pid}{end}" for end in ("", f".part-{machine:08x}-{gone.pid}")]
    others = [f"left.txt.part-{machine:08x}-{os.getpid()}", f"left.txt.part-{machine ^ 1:08x}-{gone.pid}",
              f"left.txt.part-{gone.pid}", f"other.txt.part-{machine:08x}-{gone.pid}"]
    for name in mine + others:
        folder.joinpath(name).write_text("a part")
    run("fit", path, "--iterations=1", "-o", folder/"left.txt")
    left = {part.name for part in folder.glob("*.part-*")}
    check(left == set(others), f"parts: {left}")
    for name in others:
        folder.joinpath(name).unlink()
    words = [path, "--deterministic", "--iterations=100000", "--tolerance=0", "-o", folder/"left.txt",
             "--checkpoint=0", "--history", folder/"left.csv"]
    for _ in range(5 if os.environ.get("PMG_TEST_LONG") else 2):
        with subprocess.Popen([PMG, "life", "fit", *map(str, words)], stdout=subprocess.DEVNULL) as process:
            while process.poll() is None and lines_of(folder/"left.csv") < 20:
                time.sleep(0.001)
            process.kill()
        folder.joinpath("left.csv").unlink()
        left = [part.name for part in folder.glob("*.part-*")]
        check(len(left) <= 1, f"parts: {left}")
    run("fit", path, "--iterations=1", "-o", folder/"left.txt")
    check(not list(folder.glob("*.part-*")), "parts of the last one")
    folder.joinpath("left.txt.state").unlink(missing_ok=True)


def tells_compiling(folder, problem):
    """Said on the standard error before the compiler is called, on a terminal by a line that goes again; once. What
    others run has been compiled so."""
    path = write(folder/"told.h5", problem)
    told = "compiling the solver for 16 directions, once, which takes some seconds"
    command = [PMG, "life", "fit", str(path), "--iterations=1", "--tolerance=0", "-o", str(folder/"told.txt")]
    for times in 1, 0:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        check(done.returncode == 0 and done.stderr == times*f"{told}\n", done.stderr)
    ours, theirs = pty.openpty()
    with subprocess.Popen([*command, *SINGLE], stdout=subprocess.DEVNULL, stderr=theirs) as process:
        os.close(theirs)
        text = b""
        with contextlib.suppress(OSError):      # which is how a terminal ends
            while piece := os.read(ours, 4096):
                text += piece
        check(process.wait() == 0 and text.decode().startswith(f"\r{told}\x1b[K\r\x1b[K"), text)
    os.close(ours)


def any_threads(folder):
    """The same bits for any number of threads, where each has much to add up."""
    path = write(folder/"many.h5", Problem(2, 60000, 500))
    got = []
    for threads in (1, 2, 3) if os.environ.get("PMG_TEST_LONG") else (1, 3):
        run("fit", path, "-o", folder/"many.npy", "--iterations=20", "--tolerance=0", f"--threads={threads}")
        got.append(folder.joinpath("many.npy").read_bytes())
    check(len(set(got)) == 1, "1, 2 and 3 threads")


def lines_of(path):
    return len(path.read_bytes().splitlines()) if path.exists() else 0


def resumes(folder, problem):
    """Ended at random moments and resumed: the bits of the run that nothing ended."""
    path = write(folder/"r.h5", problem)
    common = [path, "--deterministic", "--iterations=200", "--tolerance=0"]
    run("fit", *common, "-o", folder/"whole.npy", "--history", folder/"whole.csv")
    part = [*common, "-o", folder/"part.npy", "--history", folder/"part.csv", "--checkpoint=0"]
    for number, rows, status, out in moments(folder, part):
        what = f"signal {number} after {rows} rows: status {status}: {out}"
        if status != 0:                                         # not done before the signal came
            check(status == (-signal.SIGKILL if number == signal.SIGKILL else 8), what)
            check(not folder.joinpath("part.npy").exists(), f"{what}: no weights")
            state = folder/"part.npy.state"
            check(state.exists() or number == signal.SIGKILL, f"{what}: a state")
            run("fit", *part, *(["--resume", state] if state.exists() else []))      # killed before the first one
        check(folder.joinpath("part.npy").read_bytes() == folder.joinpath("whole.npy").read_bytes(), f"{what}: bits")
        columns = [[row[:4] for row in csv.reader((folder/name).open())] for name in ("part.csv", "whole.csv")]
        check(columns[0] == columns[1], f"{what}: the history goes on")
        check(not folder.joinpath("part.npy.state").exists(), f"{what}: the state is removed")
        folder.joinpath("part.npy").unlink()


def wrong_states(folder, problem):
    path = write(folder/"r.h5", problem)
    words = [path, "--deterministic", "--iterations=200", "--tolerance=0", "-o", folder/"w.npy"]
    while not folder.joinpath("state").exists():
        for _, _, status, _ in moments(folder, [*words, "--history", folder/"part.csv", "--state", folder/"state",
                                                "--checkpoint=0"]):
            if status == 8:
                break
    state = folder.joinpath("state").read_bytes()
    folder.joinpath("cut").write_bytes(state[:-9])
    folder.joinpath("bent").write_bytes(state[:-60] + b"??" + state[-58:])
    refused(WRONG, "the state is damaged", *words, "--resume", folder/"cut")
    refused(WRONG, "the state is damaged", *words, "--resume", folder/"bent")
    refused(WRONG, "not the saved state", *words, "--resume", path)
    refused(IO, "cannot open", *words, "--resume", folder/"nothing")
    write(path, problem, y=problem.b + 1)
    refused(WRONG, "the state was saved with other inputs", *words, "--resume", folder/"state")
    write(path, problem)
    go_on = [*words, "--resume", folder/"state"]
    refused(WRONG, "--iterations not less", *go_on, "--iterations=100")
    refused(WRONG, "saved with --preconditioner --precision=f64, but here are --no-preconditioner", *go_on,
            "--no-preconditioner")
    refused(WRONG, "but here are --preconditioner --precision=f32", *go_on, "--precision=f32")
    refused(WRONG, "--l1, --penalty and --signals have to be as they were", *go_on, "--l1=1")
    check("the tolerance is reached" in run("fit", *go_on, "--tolerance=0.5"), "another tolerance")


def more_iterations(folder, problem):
    """A fit that --iterations ended goes on for more of them, to the bits of one that had them at once."""
    path = write(folder/"r.h5", problem)
    np.save(folder/"signals.npy", [problem.b, 2*problem.b])
    for kind in part_of([[], ["--signals", folder/"signals.npy"]]):
        words = [path, *kind, "--tolerance=0", "--state", folder/"kept"]
        run("fit", *words, "--iterations=60", "-o", folder/"whole.npy", "--history", folder/"whole.csv")
        run("fit", *words, "--iterations=25", "-o", folder/"part.npy", "--history", folder/"part.csv")
        run("fit", *words, "--iterations=60", "-o", folder/"part.npy", "--history", folder/"part.csv", "--resume",
            folder/"kept")
        check(folder.joinpath("part.npy").read_bytes() == folder.joinpath("whole.npy").read_bytes(), "more: bits")
        columns = [[row[:4] for row in csv.reader((folder/name).open())] for name in ("part.csv", "whole.csv")]
        check(columns[0] == columns[1], "more: the history")
        refused(WRONG, "--iterations not less", *words, "--iterations=30", "-o", folder/"part.npy", "--resume",
                folder/"kept")


def mistakes(folder, problem):
    def bent(array, at, value):
        copy = np.array(array)
        copy[at] = value
        return copy

    empty = {f"PHI_{name}": np.zeros(0, kind) for name, kind in
             (("atom", "i4"), ("voxel", "i4"), ("fiber", "i4"), ("value", "f8"))}
    cases = [
        ({"y": bent(problem.b, (2, 3), np.nan)}, "/y[2, 3] is nan"),
        ({"D": bent(problem.D, (1, 0), np.inf)}, "/D[1, 0] is inf"),
        ({"PHI_value": bent(problem.value, 7, -np.inf)}, "/PHI/value[7] is -inf"),
        (empty, "the problem has no coefficients"),
        ({"y": problem.b[:, :0], "D": problem.D[:, :0]}, "the shape of /D is [20, 0]"),
        ({"y": None}, "it is no problem"),
        ({"D": None}, "it is no problem"),
        ({"y": problem.b[:, 1:]}, "it is no problem"),
        ({"y": problem.b.ravel()}, "it is no problem"),
        ({"y": problem.b[:20]}, "/PHI/voxel["),
        ({"D": problem.D[:5]}, "/PHI/atom["),
        ({"PHI_value": problem.value[1:]}, "value"),
        ({"PHI_atom": None}, "lacks one of atom"),
        ({"PHI_atom": problem.atom - 3}, "negative"),
        ({"PHI_fiber": problem.fiber + 0.5}, ".5, which i64 cannot hold"),
        ({"PHI_fiber": problem.fiber + 100}, "/PHI/fiber["),
    ]
    for changes, text in cases:
        refused(WRONG, text, write(folder/"bad.h5", problem, **changes), "-o", folder/"w.txt")


def wrong_words(folder, problem):
    good = write(folder/"good.h5", problem)
    folder.joinpath("text.h5").write_text("no HDF5")
    np.save(folder/"short.npy", np.ones(3))
    np.save(folder/"nan.npy", np.full(problem.n_fibers, np.nan))
    np.save(folder/"negative.npy", np.full(problem.n_fibers, -1.0))
    for status, text, *words in [
            (WRONG, "text.h5", folder/"text.h5"), (IO, "none.h5", folder/"none.h5"), (IO, str(folder), folder),
            (USAGE, "one problem", good, good), (USAGE, "a problem is needed"),
            (WRONG, "its shape is [3]; there are 30 fibers", good, "--start", folder/"short.npy"),
            (WRONG, "the weight of fiber 0 is nan", good, "--start", folder/"nan.npy"),
            (WRONG, "the weight of fiber 0 is -1", good, "--start", folder/"negative.npy"),
            (WRONG, "an array is needed", good, "--start", good), (USAGE, "--tolerance=nan", good, "--tolerance=nan"),
            (USAGE, "--tolerance=-1", good, "--tolerance=-1"), (USAGE, "--precision=f16", good, "--precision=f16"),
            (USAGE, "iterations", good, "--iterations=-1"), (USAGE, "--max-mem=1x", good, "--max-mem=1x"),
            (USAGE, "threads", good, "--threads=0"), (USAGE, "tolerance", good, "--tolerence=1"),
            (RESOURCES, "--max-mem allows 10K", good, "--max-mem=10K"),
    ]:
        refused(status, text, *words, "-o", folder/"w.txt")
    refused(USAGE, "unknown format", good, "-o", folder/"w.xyz")
    refused(USAGE, "--output is needed", good)
    refused(USAGE, "that is the input of this step", good, "-o", f"{good}:/y")
    check(not folder.joinpath("w.txt").exists(), "nothing is written")


def main():
    os.environ.update(OMP_NUM_THREADS="2", OMP_WAIT_POLICY="passive")
    problem = Problem(1)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        os.environ["XDG_CACHE_HOME"] = str(folder/"cache")      # libraries are compiled once for all runs
        exact = nnls(problem.M.toarray()[:, :-1], problem.b.ravel())[0]
        exact = np.append(exact, 0)                             # of a fiber without coefficients
        tells_compiling(folder, problem)        # before any has been
        w = optimum("made up", folder, problem, exact)
        check(w[-1] == 0, "a fiber without coefficients has weight 0")
        options(folder, problem, exact)
        with_mean(folder, problem)
        hopeless(folder, problem)
        no_room(folder, problem)
        any_threads(folder)
        left_over(folder, problem)
        resumes(folder, problem)
        wrong_states(folder, problem)
        more_iterations(folder, problem)
        mistakes(folder, problem)
        wrong_words(folder, problem)
        for case, kind in [("small25", "eudx"), ("small64", "det"), ("small64", "prob")]:
            if not (DATA/case).is_dir():
                RESULTS["skipped"] += 1
            elif kind == "det" or os.environ.get("PMG_TEST_LONG"):
                stored = Stored(DATA/case/kind)
                optimum(kind, folder, stored, stored.exact)
    return close()


sys.exit(main())
