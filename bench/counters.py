#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What figure 6.2 of K. Aggarwal's thesis (IISc 2020) counts by PAPI, counted by callgrind: instructions, vector
instructions of doubles, references to the last cache and misses of it, for each coefficient of a product. On one
thread, for AVX2, which valgrind knows, with an instruction cache and a first data cache of 32 KiB and a last one of 1
MiB, for problems that fit into it as little as those of the thesis fit into theirs.

    bench/counters.py [--op=dsc,wc] [--time=first,500th] [--versions=A,B] [OPTION…]

Further options are those of `pmg bench life`, such as --scale=0.01. Weights are dense in the first iteration, and 21 %
of them are not zero in the 500th.
"""
import os
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PMG = ROOT / os.environ.get("BUILD", "build") / "pmg"
PROBLEM = ["--scale=0.003", "--grid-of-angles=30", "--threads=1", "--isa=v3", "--check"]
CACHES = ["--I1=32768,8,64", "--D1=32768,8,64", "--LL=1048576,16,64"]
WEIGHTS = {"first": "dense", "500th": "sparse=0.21"}
KERNELS = {"cpu_naive": "naive_{op}_v3", "cpu_naive_blas": "naive_{op}_blas_v3", "cpu_naive_par": "naive_{op}_par_v3",
           "cpu_opt": "opt_{op}_v3", "cpu_opt_noblas": "opt_{op}_v3", "best": "best_{op}_v3",
           "generated": "life_{op}_kernel"}
VECTOR = re.compile(r"^v?(?:add|sub|mul|div|sqrt|fn?m(?:add|sub)\d*)pd$")
COLUMNS = ("Inst", "DP-VI", "CR", "CM", "CM/CR")


def vector_addresses(path):
    """Where an object file computes with vectors of doubles."""
    text = subprocess.run(["objdump", "-d", "--no-show-raw-insn", path], capture_output=True, text=True,
                          check=False).stdout
    return {int(at, 16) for at, name in re.findall(r"^ *([0-9a-f]+):\t(\S+)", text, re.M) if VECTOR.match(name)}


def costs_of(path):
    """Of each line of costs: the object file, the function, the address, and the costs by the names of events."""
    events, names, at, is_called, where = [], {}, 0, False, {}
    for line in path.read_text(errors="replace").splitlines():
        if line.startswith("events:"):
            events = line.split()[1:]
        elif match := re.match(r"(ob|fn)=\((\d+)\)(?: (.*))?$", line):
            kind, number, name = match.groups()
            where[kind] = names.setdefault((kind, number), name)
        elif match := re.match(r"(cob|cfn)=\((\d+)\) (.*)$", line):
            names.setdefault((match[1][1:], match[2]), match[3])
        elif line.startswith("calls="):
            is_called = True
        elif match := re.match(r"(\+|-|\*|)(0x[0-9a-f]+|\d*) ", line):
            sign, number = match.groups()
            at = int(number or "0", 0) if not sign else at + int(sign.replace("*", "+") + (number or "0"), 0)
            if not is_called:           # behind calls=, costs are those of what is called
                yield where["ob"], where["fn"], at, dict(zip(events, map(int, line.split()[2:])))
            is_called = False


def summed(path, kernel):
    """Costs of one execution of the kernel, by events and as "vector"."""
    total, vectors, entry = Counter(), {}, {}
    for library, function, at, costs in costs_of(path):
        if library not in vectors:
            vectors[library] = vector_addresses(library)
        if function == kernel:
            entry[at] = entry.get(at, 0) + costs.get("Ir", 0)
        total.update(costs)
        total["vector"] += costs.get("Ir", 0) if at in vectors[library] else 0
    if not entry:
        sys.exit(f"{kernel} did not run")
    runs = entry[min(entry)]
    return Counter({event: cost/runs for event, cost in total.items()})


def counts_of(version, op, weights, options):
    """The columns of the table, for each coefficient."""
    kernel = KERNELS[version].format(op=op)
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "callgrind.out")
        row = ([f"--generated='--cc=gcc -mno-avx512f' --keep={folder}", "--versions=cpu_naive"]
               if version == "generated" else [f"--versions={version}"])
        done = subprocess.run(["valgrind", "--tool=callgrind", "--cache-sim=yes", "--dump-instr=yes",
                               "--collect-atstart=no", *CACHES, f"--callgrind-out-file={out}",
                               f"--toggle-collect={kernel}", PMG, "bench", "life", f"--op={op}",
                               f"--weights={weights}", *PROBLEM, *row, *options],
                              capture_output=True, text=True, check=False,
                              env=dict(os.environ, OMP_NUM_THREADS="1", OMP_WAIT_POLICY="passive"))
        found = re.search(r"^(\d+) coefficients", done.stdout, re.M)
        if done.returncode or not found or not out.exists():
            sys.exit(done.stdout + done.stderr)
        costs = summed(out, kernel)
    references = sum(costs[event] for event in ("I1mr", "D1mr", "D1mw"))
    misses = sum(costs[event] for event in ("ILmr", "DLmr", "DLmw"))
    n = int(found[1])
    return costs["Ir"]/n, costs["vector"]/n, references/n, misses/n, misses/references


def chosen(options, name, among):
    """What `--name=A,B` among the options leaves, which is taken out of them."""
    found = [option for option in options if option.startswith(f"--{name}=")]
    options[:] = [option for option in options if option not in found]
    return found[-1].split("=")[1].split(",") if found else list(among)


def main():
    options = sys.argv[1:]
    ops, times, versions = (chosen(options, name, among) for name, among in
                            (("op", ("dsc", "wc")), ("time", WEIGHTS), ("versions", KERNELS)))
    print(f"{'':4} {'':6} {'':16}" + "".join(f"{name:>9}" for name in COLUMNS))
    for op in ops:
        for time in times:
            for version in versions:
                counts = counts_of(version, op, WEIGHTS[time], options)
                print(f"{op:4} {time:6} {version:16}" + "".join(f"{count:9.3g}" for count in counts), flush=True)


if __name__ == "__main__":
    main()
