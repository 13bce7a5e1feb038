# SPDX-License-Identifier: MIT
"""Loops that stay on the device (emulated): how often the host waits, how many graphs there are, that neither changes
results, the end of the loop, a stopped run or a bad index; what runs without a loop, as a graph; `pmg life fit` and
`pmg bench life --op=fit` on it. Its C is not optimised."""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

PMG = str(Path(os.environ.get("BUILD", "build")) / "pmg")
DEVICE = ["--target=cuda", "--nvcc=tests/cuda/emulated/nvcc"]
SOLVER = ["dsl_examples/sbbnnls.pmg", "nAtoms=9", "nVoxels=30", "nFibers=20", "nCoeffs=200", "nTheta=16",
          "PHI=random:1", "D=random:2", "b=random:3", "w0=0", "preconditioned=1", "tolGradient=0", "tolObjective=0.01",
          "maxIter=40"]
WALK = """pipeline walk {
    param n, steps;
    param f64 far;
    in  x : f64[n];
    out y, sum : f64;
    state v : f64 = 0;
    iterate it in 0..steps until v > far {
        temp at : index(n)[1] = it;
        next v = v + x[at[0]];
    }
    y = v;
    sum = 2*v;
}
"""
PROBLEMS = []


def check(condition, what):
    PROBLEMS.append("" if condition else what)


def run(*words, status=0, counts=False):
    """What a command prints; with counts, (kernels, graphs, launches, waits) too."""
    env = dict(os.environ, **({"PMG_EMULATED_COUNTS": "1"} if counts else {}))
    done = subprocess.run([PMG, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=env,
                          check=False)
    check(done.returncode == status, f"{words}: status {done.returncode}: {done.stdout}")
    found = re.search(r"emulated CUDA: (\d+) kernels, (\d+) graphs, (\d+) launches, (\d+) waits", done.stdout)
    return (done.stdout, [int(number) for number in found.groups()]) if counts and found else done.stdout


def looks():
    """Two step rules are two graphs; the loop ends where it ends with a look at each iteration."""
    steps, waits = [], []
    for every in (1, 7):
        out, (_, graphs, launches, waited) = run("run", *DEVICE, *SOLVER, "--compare", f"--check-every={every}",
                                                 counts=True)
        steps.append(re.search(r"^iterations +i64 .*", out, re.M)[0])
        waits.append(waited)
        check(graphs == 2, f"--check-every={every}: {graphs} graphs")
        check(launches % every == 0, f"--check-every={every}: {launches} launches")
    check(len(set(steps)) == 1, f"the end: {steps}")
    check(waits[0] > waits[1], f"waits: {waits}")
    return out


def passes(folder):
    """Kernels of an execution like the one before are one graph; of another one, with other addresses, another."""
    words = ["nAtoms=9", "nVoxels=2", "nFibers=20", "nCoeffs=1500", "nTheta=96", "PHI=random:1", "D=random:2"]
    for program, argument, name in (("life_dsc", "w", "Y"), ("life_wc", "Y", "w")):
        results = []
        for times in (1, 2, 5):
            _, (_, graphs, launches, _) = run("run", *DEVICE, f"dsl_examples/{program}.pmg", *words,
                                              f"{argument}=random:3", "--compare", f"--repeat={times}",
                                              "-o", f"{name}={folder}/{times}.npy", "--force", counts=True)
            check((graphs, launches) == (min(1, times - 1), times - 1), f"{program}, {times} times: {graphs} graphs, "
                                                                        f"{launches} launches")
            results.append(Path(f"{folder}/{times}.npy").read_bytes())
        check(program != "life_dsc" or len(set(results)) == 1, f"{program}: not the same when repeated")


def stops(folder, whole):
    """Stopped and resumed: as if nothing had happened."""
    run("run", *DEVICE, *SOLVER, "--iterations=3", f"--state={folder}/state")
    resumed = run("run", *DEVICE, *SOLVER, f"--resume={folder}/state")
    for name in ("reached", "iterations"):
        check(re.search(f"^{name} +.*64.*", whole, re.M)[0] == re.search(f"^{name} +.*64.*", resumed, re.M)[0], resumed)


def bad_index(folder):
    program = Path(folder)/"walk.pmg"
    program.write_text(WALK)
    words = ["run", *DEVICE, program, "n=10", "x=1", "--check-every=4"]
    check(re.search(r"^y +f64 .* 9 +9", run(*words, "steps=30", "far=8.5"), re.M), "the end before a bad index")
    out = run(*words, "steps=30", "far=100", status=6)
    check("at" in out and "10" in out, out)


def life(folder):
    """The weights of the processor; in the long form, what is moved does not grow with the iterations."""
    run("phantom", "life", "-o", f"{folder}/p.h5", "--fibers=6", "--ntheta=16", "--grid=2")
    moved = []
    for iterations in (16, 32) if "PMG_TEST_LONG" in os.environ else (16,):
        common = [f"{folder}/p.h5", f"--iterations={iterations}", "--tolerance=0"]
        host = run("life", "fit", *common, "-o", f"{folder}/host.txt")
        device = run("life", "fit", *common, *DEVICE, "-o", f"{folder}/device.txt",
                     f"--history={folder}/history.csv")
        objectives = [float(re.search(r"^objective ([^;]*);", out, re.M)[1]) for out in (host, device)]
        check(abs(objectives[0]/objectives[1] - 1) < 1e-9, f"objectives {objectives}")
        moved.append(re.search(r"GPU: .* held, (.*) moved to it", device)[1])
        rows = Path(f"{folder}/history.csv").read_text(encoding="ascii").splitlines()
        check(len(rows) == 2 + iterations/16, f"{len(rows)} lines of history")
    kilobytes = [float(text.split()[0]) for text in moved]          # a few bytes for each time the host looks
    check(max(kilobytes) - min(kilobytes) < 1, f"moved to the device: {moved}")
    small = dict(PMG_EMULATED_MEMORY="10000")
    os.environ.update(small)
    out = run("life", "fit", *common, *DEVICE, "-o", f"{folder}/no.txt", status=5)
    os.environ.pop("PMG_EMULATED_MEMORY")
    check("on the device, of whose" in out, out)


def bench(folder):
    """The objectives are the processor's; with D in 32 bits, in the long form, near those with all in 64."""
    exact, near = " of their value\n", " of their value from those with all numbers in 64 bits\n"
    ways = [([], 0, 1e-9, exact), (["--with=precision D : f32"], 1e-12, 1e-4, near)]
    for options, least, most, text in ways if "PMG_TEST_LONG" in os.environ else ways[:1]:
        out = run("bench", "life", *DEVICE, "--op=fit", "--scale=0.00003", "--ntheta=16", "--grid-of-angles=4",
                  f"--cache={folder}", "--iterations=8", *options, f"--json={folder}/records.json")
        check(re.search(r"cuda +fit even .* 3 of them\ncuda +fit odd .* 3 of them\ncuda +fit ", out), out)
        check("objectives of the first 8 iterations differ by at most" in out and text in out, out)
        rows = Path(f"{folder}/records.json").read_text(encoding="utf-8").splitlines()
        errors = [row["error"] for row in map(json.loads, rows) if row["op"] == "fit"]
        check(len(rows) == 5 and len(errors) == 1 and least <= errors[0] <= most, f"records: {errors}")


def settles(folder):
    """Weights that settle at zero, shrink and come back: one graph, and the same bits however often the host looks."""
    if "PMG_TEST_LONG" not in os.environ:
        return
    program = Path("tests/life/test_live.py").read_text(encoding="ascii").split('PROGRAM = """')[1].split('"""')[0]
    Path(f"{folder}/settling.pmg").write_text(program, encoding="ascii")
    run("phantom", "life", "--scale=0.006", "--grid=8", "--ntheta=4", "-o", f"{folder}/settling.h5")
    tables = [f"{name}={folder}/settling.h5:/{name}" for name in ("PHI", "D")]
    totals = []
    for every in (1, 5):
        _, (_, graphs, _, _) = run("run", f"{folder}/settling.pmg", *DEVICE, *tables, "w0=random:1", "n=14",
                                   "--compare", f"--check-every={every}", "-o", f"total={folder}/total.npy",
                                   "--force", counts=True)
        check(graphs == 1, f"settling: {graphs} graphs")
        totals.append(Path(f"{folder}/total.npy").read_bytes())
    check(totals[0] == totals[1], "points of zero weight: not the same with each look")


def words():
    """GPUs that code is made for, as nvcc is told."""
    command = ["run", "--target=cuda", "--nvcc=echo", "dsl_examples/life_dsc.pmg", "nTheta=16", *SOLVER[1:5],
               "PHI=random:1", "D=random:2", "w=1"]
    for arch, text in (("sm_90", "is no GPU"), ("sm_80,gpu", "'gpu' is no GPU"), ("sm_80,", "'' is no GPU")):
        out = run(*command, f"--arch={arch}", status=4 if arch == "sm_90" else 2)
        check(text in out or arch == "sm_90", out)


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        stops(folder, looks())
        passes(folder)
        bad_index(folder)
        life(folder)
        bench(folder)
        settles(folder)
        words()
    wrong = [problem for problem in PROBLEMS if problem]
    print("\n".join(wrong), f"{len(PROBLEMS) - len(wrong)} passed, {len(wrong)} failed", sep="\n")
    return 1 if wrong else 0


sys.exit(main())
