#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What plans choose, beside the best there was: for each problem and product, all candidates are measured in turns
(`pmg bench life`), and the one that `--tune=estimate` and that `--tune=measure` takes is looked up among them. An
estimate may cost 25 % of time, trials 5 %; the exit status is 1 if one costs more. PMG_TEST_DATA adds the scan there.

    bench/choices.py [--quick] [OPTION…]        options of `pmg bench life`, such as --threads=2 --clock=cpu
"""
import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / os.environ.get("BUILD", "build")
# three sizes, coefficients per pair (less noise in the streamlines: more), lengths of rows
PROBLEMS = ["--scale=0.01", "--scale=0.1", "--scale=1", "--scale=0.1 --jitter=3", "--scale=0.1 --jitter=14",
            "--scale=0.1 --ntheta=33", "--scale=0.1 --ntheta=64", "--scale=0.05 --ntheta=288"]
REAL = {"tracks_det.tck": "deterministic streamlines", "tracks_prob.tck": "probabilistic streamlines"}
QUICK = ["--scale=0.001", "--scale=0.01 --ntheta=33"]
MOST = {"--tune=estimate": 1.25, "--tune=measure": 1.05}


def real_problems(folder):
    """Options by what they are called."""
    if "PMG_TEST_DATA" not in os.environ:
        return {}
    scan = Path(os.environ["PMG_TEST_DATA"], "dmri", "small64")
    for tracks in REAL:
        subprocess.run([BUILD / "pmg", "life", "encode", f"--tracks={scan / tracks}", f"--dwi={scan}/small_64D.nii",
                        f"--bvals={scan}/small_64D.bval", f"--bvecs={scan}/small_64D.bvec",
                        "-o", Path(folder, f"{tracks}.h5")], stdout=subprocess.DEVNULL, check=True)
    return {name: f"--problem={folder}/{tracks}.h5" for tracks, name in REAL.items()}


def candidates(program):
    """Their names; the first has none."""
    text = subprocess.run([BUILD / "pmgc", "-o", "-", ROOT / "dsl_examples" / f"{program}.pmg"], capture_output=True,
                          text=True, check=True).stdout
    return re.findall(rf"^ \* Pipeline {program} with (.*?)(?: \(.*)?:?$", text, re.M)


def measured(problem, op, names, options):
    rows = ["--tune=off", *MOST, *(f"'--candidate={name}'" for name in names)]
    words = [f"--generated={row} --wisdom=off" for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "records.json")
        done = subprocess.run([BUILD / "pmg", "bench", "life", f"--op={op}", *problem.split(), f"--json={path}",
                               "--versions=cpu_opt", "--baseline=cpu_opt", *words, *options],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stdout + done.stderr)
        return [json.loads(line) for line in path.read_text().splitlines()]


def times(records):
    """By candidate, the first one called so; and which one each way of choosing takes."""
    times, chosen = {}, {}
    for record in records:
        way, choice = record["algorithm"].split(" --wisdom")[0], record["layout"] or "first"
        if record["version"] == "generated" and way in MOST:
            chosen[way] = choice
        elif record["version"] == "generated":
            times[choice] = record["ms_median"]
    return times, chosen


def judge(name, problem, options, worst):
    """Both products of a problem."""
    for op, program in ("dsc", "life_dsc"), ("wc", "life_wc"):
        by_choice, chosen = times(measured(problem, op, candidates(program), options))
        best = min(by_choice, key=by_choice.get)
        print(f"{name} {op}: best {by_choice[best]:.4g} ms, {best}")
        for way, choice in chosen.items():
            ratio = by_choice[choice]/by_choice[best]
            worst[way] = max(worst[way], ratio)
            print(f"    {way:16} {ratio:5.2f} x  {choice}", flush=True)


def main():
    options = [option for option in sys.argv[1:] if option != "--quick"]
    is_quick = len(options) < len(sys.argv[1:])
    worst = dict.fromkeys(MOST, 1.0)
    with tempfile.TemporaryDirectory() as folder:
        problems = {name: name for name in (QUICK if is_quick else PROBLEMS)}
        if not is_quick:
            problems |= real_problems(folder)
        for name, problem in problems.items():
            judge(name, problem, options, worst)
    print(", ".join(f"{way} {ratio:.2f} x at most" for way, ratio in worst.items()))
    return any(worst[way] > MOST[way] for way in MOST)


if __name__ == "__main__":
    sys.exit(main())
