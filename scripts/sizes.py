#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Lines of code by responsibility, comments and blank lines among them: rounded, so that what shows them lasts.

    scripts/sizes.py            # each part of compiler/, runtime/ and tools/
    scripts/sizes.py PART       # the files of one part, by length

Every file belongs to the first part that has a pattern for it; a file without a part is an error.
"""
import fnmatch
import signal
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ENDINGS = (".c", ".h", ".def", ".l", ".y", ".cl")
PARTS = [
    ("parser", "text to a syntax tree", ["compiler/syntax/*"]),
    ("sema", "names, types, shapes, constructs", ["compiler/sema/*", "compiler/constructs/*"]),
    ("module", "the module, its text and its checks", ["compiler/ir/*.h", "compiler/ir/core/*", "compiler/ir/text/*"]),
    ("isl", "dependences, schedules and proofs", ["compiler/ir/isl/*"]),
    ("patterns", "eliminations, blocks, the BLAS found", ["compiler/ir/match/*"]),
    ("interpreter", "what a module means", ["compiler/ir/interp/*"]),
    ("passes", "decisions on the module and its schedule", ["compiler/passes/*"]),
    ("printers", "kernel trees as text of a target", ["compiler/codegen/c_print.*", "compiler/codegen/cuda.c",
                                                      "compiler/codegen/opencl.c", "compiler/codegen/openmp.c",
                                                      "compiler/codegen/target*", "compiler/kernel/expr_text.c",
                                                      "compiler/kernel/join.c", "compiler/codegen/comments.c"]),
    ("tables", "the descriptor of a pipeline, printed", ["compiler/codegen/abi/*"]),
    ("builders", "kernel trees from isl's loops and marks", ["compiler/codegen/*"]),
    ("lowerings", "decisions on kernel trees", ["compiler/kernel/lower/*", "compiler/kernel/share.c"]),
    ("verifier", "is a kernel tree right", ["compiler/kernel/verify*", "compiler/kernel/varying.c"]),
    ("runner", "what a kernel tree does", ["compiler/kernel/run*"]),
    ("dump", "kernel trees as text, and back", ["compiler/kernel/print.c", "compiler/kernel/read*"]),
    ("uses", "who reads and writes a name", ["compiler/kernel/uses.c", "compiler/kernel/unread.c",
                                             "compiler/kernel/scope.c"]),
    ("tree", "nodes, types, calls of the runtime", ["compiler/kernel/*"]),
    ("driver", "options, pipeline, candidates", ["compiler/driver/*"]),
    ("support", "memory, text, messages", ["compiler/support/*"]),
    ("library", "libpmgrt: plans, checks, layouts, tuning", ["runtime/*/*"]),
    ("headers", "what generated code calls", ["runtime/*"]),
    ("pmg", "the command: files, runs, problems", ["tools/*"]),
]


def sources():
    listed = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "compiler", "runtime", "tools"]
    names = subprocess.run(listed, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=True).stdout.split()
    return [name for name in names if name.endswith(ENDINGS) and (ROOT / name).exists()]


def part_of(name):
    for part, _, patterns in PARTS:
        if any(fnmatch.fnmatch(name, pattern) for pattern in patterns):
            return part
    sys.exit(f"{name} belongs to no part: name one in scripts/sizes.py")


def length(name):
    return len((ROOT / name).read_text().splitlines())


def rounded(n):
    """To about a tenth."""
    unit = next(unit for unit in (10000, 1000, 500, 100) if n >= 10*unit or unit == 100)
    return (n + unit//2)//unit*unit


def table(files):
    for part, holds, _ in PARTS:
        yield f"{rounded(sum(length(name) for name in files if part_of(name) == part)):6d}  {part:11}  {holds}"
    yield f"{rounded(sum(map(length, files))):6d}  all"


def main(arguments):
    known = [part for part, _, _ in PARTS]
    files = sources()
    if not arguments:
        print(*table(files), sep="\n")
        return 0
    if len(arguments) > 1 or arguments[0] not in known:
        print(f"usage: scripts/sizes.py [PART]; the parts are {', '.join(known)}", file=sys.stderr)
        return 1
    for name in sorted((name for name in files if part_of(name) == arguments[0]), key=length, reverse=True):
        print(f"{length(name):6d}  {name}")
    return 0


if __name__ == "__main__":
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)
    sys.exit(main(sys.argv[1:]))
