# SPDX-License-Identifier: MIT
"""Seeded wrong changes of passes and code generation, to learn whether the tests would see them:
passes.py BUILD COUNT [SEED [FILE...]].

A mutant is a file of compiler/passes or compiler/codegen with one change: a comparison or a start off by one, a
condition dropped or turned round, && and || exchanged, + and - exchanged, a flag inverted. The file is compiled and
linked before the compiler's library in BUILD, into the programs that test it, which are asked one after the other
until one of them fails: pmgc on the examples (as the lane `generated` compares them), TESTS, and random programs by
each row of their table of variants. LEAST of the mutants must be told from the right compiler.

Not counted as mutants: those that do not compile or compile to the same machine code; not made: those of rows that
NOT_MUTATED names.
"""
import hashlib
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LEAST, LEAST_OF_SAMPLE, SAMPLE = 0.95, 0.85, 200    # a sample is smaller than that: chance has a say
FOLDERS = ["compiler/passes", "compiler/codegen"]
TESTS = ["tests/codegen/test_codegen", "tests/decide/test_decide"]
RANDOM, PROGRAMS, DRAWS = "tests/random/test_programs", 15, "1-4"
VARIANTS = range(10)    # rows of the table in tests/random/batch.c
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-O1", "-fvisibility=hidden", "-Icompiler"]
SECONDS = 300
RULES = {
    "< to <=": (re.compile(r"(?<= )<(?= )"), lambda m: "<="),
    "> to >=": (re.compile(r"(?<= )>(?= )"), lambda m: ">="),
    "<= to <": (re.compile(r"(?<= )<=(?= )"), lambda m: "<"),
    ">= to >": (re.compile(r"(?<= )>=(?= )"), lambda m: ">"),
    "== to !=": (re.compile(r"(?<= )==(?= )"), lambda m: "!="),
    "!= to ==": (re.compile(r"(?<= )!=(?= )"), lambda m: "=="),
    "&& to ||": (re.compile(r"&&"), lambda m: "||"),
    "|| to &&": (re.compile(r"\|\|"), lambda m: "&&"),
    "drop !": (re.compile(r"(?<=[ (])!(?=[\w(])"), lambda m: ""),
    "+ to -": (re.compile(r"(?<= )\+(?= )"), lambda m: "-"),
    "- to +": (re.compile(r"(?<= )-(?= )"), lambda m: "+"),
    "first + 1": (re.compile(r"(?<=for \(int )(\w+) = 0;"), lambda m: f"{m[1]} = 1;"),
    "drop if": (re.compile(r"\bif \(((?:[^()\n]|\([^()\n]*\))+)\)(?=$| \{)", re.M), lambda m: "if (0)"),
    "true to false": (re.compile(r"(?<= )true(?=[;,)])"), lambda m: "false"),
    "false to true": (re.compile(r"(?<= )false(?=[;,)])"), lambda m: "true"),
}
# Memory and isl's quota run out in tests of their own; comments and tables of texts are no code.
NOT_MUTATED = re.compile(r'^\s*(/?\*|#|")|isl_bool_error|isl_stat|foreach_|is_exhausted|quota|< 0|_free\(|INT_MAX'
                         r'|^\s*\w+ = NULL|INT64_MAX|emit_fail|diag|reserve|static_assert')


def sites(path):
    """(path, rule, start, end, replacement, row) of each change that the file allows."""
    text = path.read_text()
    for rule, (pattern, change) in RULES.items():
        for found in pattern.finditer(text):
            start = text.rfind("\n", 0, found.start()) + 1
            row = text[start:text.find("\n", found.start())]
            if not NOT_MUTATED.search(row) and not is_quoted(row, found.start() - start):
                yield path, rule, found.start(), found.end(), change(found), row.strip()


def is_quoted(row, at):
    return row[:at].count('"') % 2 == 1 or "/*" in row[:at]


def packages(*arguments):
    return subprocess.run(["pkg-config", *arguments], check=True, capture_output=True, text=True).stdout.split()


def run(command, env=None, cwd=None):
    """(exit status, standard output); None, where it does not come to an end."""
    try:
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL, env=env, cwd=cwd, timeout=SECONDS, check=False)
    except subprocess.TimeoutExpired:
        return None, b""
    return done.returncode, done.stdout


class Judge:
    def __init__(self, build, root):
        self.build, self.objects, self.programs = Path(build), {}, Path(root) / "programs.pmg"
        self.programs.write_bytes(run([sys.executable, "tests/random/generate.py", "1", PROGRAMS, "0"])[1])
        self.isl, self.cflags = packages("--libs", "isl"), packages("--cflags", "isl")
        self.hdf5 = packages("--libs", "hdf5-serial", "libzip")
        self.examples = sorted(Path("dsl_examples").glob("*.pmg"))

    def compile(self, source, target):
        folder = source if source.parent.name != "" else Path(".")
        command = ["gcc", *FLAGS, *self.cflags, f"-I{self.build}", "-I", str(folder.parent), "-w", "-c", source,
                   "-o", target]
        return run(command)[0] == 0

    def code(self, target):
        done = subprocess.run(["objdump", "-d", "-s", "-j", ".text", "-j", ".rodata", "--no-show-raw-insn",
                               str(target)], capture_output=True, check=False).stdout.split(b"\n", 3)[-1]
        return hashlib.sha1(done).hexdigest()

    def original(self, path, folder):
        if path not in self.objects:
            target = Path(folder) / f"original-{path.stem}.o"
            self.compile(path, target)
            self.objects[path] = self.code(target)
        return self.objects[path]

    def link(self, name, mutant, target):
        """A program of BUILD with the mutant in place of its file."""
        main = self.build / "obj" / f"{name}.o"
        if name == "compiler/driver/main":
            return run(["gcc", main, mutant, self.build / "libpmgc.a", *self.isl, "-lm", "-o", target])[0] == 0
        libraries = [self.build / Path(name).parent / "libparts.a", self.build / "libpmgtest.a",
                     self.build / "libpmgtools.a", self.build / "libpmgc.a"]
        return run(["gcc", "-fopenmp", main, mutant, *libraries, f"-Wl,-rpath,{self.build.resolve()}",
                    f"-L{self.build}", "-lpmgrt", *self.isl, *self.hdf5, "-lz", "-ldl", "-lm", "-lopenblas", "-o",
                    target])[0] == 0

    def examples_differ(self, pmgc):
        for example in self.examples:
            status, text = run([pmgc, example, "-o", "-"])
            wanted = Path("generated") / f"{example.stem}.c"
            if status != 0 or text.split(b"\n")[2:] != wanted.read_bytes().split(b"\n")[2:]:
                return True
        return False

    def tells(self, mutant, folder):
        """Who tells the mutant from the right compiler; None: nobody."""
        program = Path(folder) / "program"
        if not self.link("compiler/driver/main", mutant, program):
            return "linker"
        if self.examples_differ(program):
            return "generated"
        env = dict(os.environ, BUILD=str(self.build), OMP_WAIT_POLICY="passive")
        for test in TESTS:
            self.link(test, mutant, program)
            if run([program], env)[0] != 0:
                return test
        self.link(RANDOM, mutant, program)
        return next((f"{RANDOM} by row {row}" for row in VARIANTS
                     if run([program, self.programs, DRAWS, row], env)[0] != 0), None)

    def judge(self, mutant, root):
        number, (path, _, start, end, replacement, _) = mutant
        folder = Path(root) / str(number)
        folder.mkdir()
        source, target = folder / path.name, folder / "mutant.o"
        text = path.read_text()
        source.write_text(text[:start] + replacement + text[end:])
        if not self.compile(source, target):
            return "invalid", None
        if self.code(target) == self.original(path, root):
            return "equivalent", None
        teller = self.tells(target, folder)
        for file in folder.iterdir():
            file.unlink()
        return ("caught", teller) if teller else ("missed", None)


def draw(paths, count, rng):
    """`count` mutants, spread over the rules."""
    by_rule = {rule: [] for rule in RULES}
    for path in paths:
        for site in sites(path):
            by_rule[site[1]].append(site)
    for found in by_rule.values():
        rng.shuffle(found)
    drawn = []
    while len(drawn) < count and any(by_rule.values()):
        drawn += [found.pop() for found in by_rule.values() if found]
    return list(enumerate(drawn[:count]))


def main():
    build, count = sys.argv[1], int(sys.argv[2])
    rng = random.Random(sys.argv[3] if len(sys.argv) > 3 else "1")
    paths = [Path(name) for name in sys.argv[4:]] or sorted(p for f in FOLDERS for p in Path(f).glob("*.c"))
    mutants = draw(paths, count, rng)
    n = dict.fromkeys(("caught", "missed", "equivalent", "invalid"), 0)
    n_workers = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="pmg-mutations-") as root, ThreadPoolExecutor(n_workers) as pool:
        judge = Judge(build, root)
        for (_, (path, rule, _, _, _, row)), (verdict, teller) in zip(mutants, pool.map(
                lambda mutant: judge.judge(mutant, root), mutants)):
            n[verdict] += 1
            if verdict == "missed" or "PMG_TEST_SHOWN" in os.environ:
                print(f"{verdict}: {teller or ''} {path}: {rule} in: {row}", flush=True)
    print(", ".join(f"{number} {verdict}" for verdict, number in n.items()))
    is_enough = 0 < n["caught"] >= (LEAST if count >= SAMPLE else LEAST_OF_SAMPLE)*(n["caught"] + n["missed"])
    print(f"{n['caught'] if is_enough else 0} passed, {0 if is_enough else max(n['missed'], 1)} failed")
    return 0 if is_enough else 1


sys.exit(main())
