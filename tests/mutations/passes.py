# SPDX-License-Identifier: MIT
"""Seeded wrong changes of passes and code generation, to learn whether the tests would see them:
passes.py BUILD COUNT|FIRST-LAST [SEED [FILE...]].

A mutant is a file of compiler/passes or compiler/codegen with one change: a comparison or a start off by one, a
condition dropped or turned round, && and || exchanged, + and - exchanged, a flag inverted. The file is compiled and
linked before the compiler's library in BUILD, into the programs that test it, which are asked the questions that reach
the changed function, the quickest first, until one of them tells the mutant from the right compiler: the cases of
tests/decide and the kept texts of tests/codegen and generated/; then random programs, by each row of their table of
variants, and kernels for CUDA, of which only what has another text than before is run; at last tests/codegen. LEAST of
the mutants must be told. Which functions a question reaches is found by a compiler that notes them (reached.c).

Not counted as mutants: those that do not compile or compile to the same machine code; not made: those of rows that
NOT_MUTATED names.
"""
import hashlib
import json
import os
import random
import re
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

LEAST, LEAST_OF_SAMPLE, SAMPLE = 0.95, 0.85, 200    # a sample is smaller than that: chance has a say
FOLDERS = ["compiler/passes", "compiler/codegen"]
PMGC, DECIDE, CODEGEN = "compiler/driver/main", "tests/decide/test_decide", "tests/codegen/test_codegen"
RANDOM, PROGRAMS, DRAWS = "tests/random/test_programs", 12, "1-4"
EMULATED = "tests/cuda/test_emulated"
ONE = "--candidates=1"     # a file with candidates begins with the same kernels
TABLE = Path("tests/random/batch.c")
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-O1", "-fvisibility=hidden", "-Icompiler"]
SECONDS = 120
FUNCTION = re.compile(r"^[a-z_][^;{}=]*?\b(\w+)\([^;{}]*?\)\n\{", re.M)
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
                         r'|^\s*\w+ = NULL|INT64_MAX|emit_fail|diag|reserve|static_assert|direction > 0')


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


class Question:
    """What one run of a program answers: its exit status and, where `part` says which, its text. Where that is another
    one than that of the right compiler, `then` decides (a program and its arguments), unless there is none."""

    def __init__(self, program, arguments, part=None, then=None, is_spare=False):
        self.program, self.arguments, self.part, self.then = program, arguments, part, then
        self.is_spare = is_spare        # asked of what no other question reaches
        self.answer, self.seconds, self.reached = None, 0.0, set()

    def ask(self, program, env):
        status, text = run([program, *self.arguments], env)
        return [status, hashlib.sha1(self.part(text)).hexdigest() if self.part else ""]

    def __str__(self):
        return " ".join(map(str, [self.program, *self.arguments]))


def kernels(text):
    """What tests/codegen keeps of a text."""
    return b"".join(re.findall(rb"/\* ---- .*?(?=static const pmg_)", text, re.S))


def whole(text):
    return text.split(b"\n", 2)[-1]


def questions(programs):
    """`programs`: a file of random ones."""
    examples = sorted(Path("dsl_examples").glob("*.pmg"))
    asked = [Question(DECIDE, [path]) for path in sorted(Path("tests/decide").glob("**/*.pmg"))]
    asked += [Question(PMGC, [path, "-o", "-", ONE], kernels) for path in sorted(Path("tests/codegen").glob("*/*.pmg"))]
    asked += [Question(PMGC, [path, "-o", "-", ONE], whole) for path in examples]
    asked += [Question(PMGC, [path, "-o", "-"], whole, is_spare=True) for path in examples]
    rows = {}           # by flags: some differ by the C compiler alone
    for row, flags in enumerate(re.findall(r'\.pmgc = "([^"]*)"', TABLE.read_text())):
        rows.setdefault(" ".join(dict.fromkeys([*flags.split(), ONE])), row)
    for flags, row in rows.items():
        asked.append(Question(PMGC, [programs, "-o", "-", "--overrides=off", *flags.split()], whole,
                              (RANDOM, [programs, DRAWS, row])))
    for path in [*examples, *sorted(Path("tests/programs").glob("*.pmg"))]:
        asked.append(Question(PMGC, [path, "-o", "-", "--emit=cu", "--target=cuda", "--overrides=off", ONE], whole,
                              (EMULATED, [path])))
    return [*asked, Question(CODEGEN, [])]


class Judge:
    def __init__(self, build, root):
        self.build, self.root, self.objects = Path(build), Path(root), {}
        self.isl, self.cflags = packages("--libs", "isl"), packages("--cflags", "isl")
        self.hdf5 = packages("--libs", "hdf5-serial", "libzip")
        self.env = dict(os.environ, BUILD=str(self.build), OMP_WAIT_POLICY="passive")
        self.folder = self.build / "mutations"
        self.folder.mkdir(exist_ok=True)
        programs = self.folder / "programs.pmg"
        programs.write_bytes(run([sys.executable, "tests/random/generate.py", "1", PROGRAMS, "0"])[1])
        self.questions = questions(programs)

    def learn(self, pool):
        """The right answers, what each question takes, and which functions it reaches: once for a compiler."""
        kept = self.folder / "learned.json"
        library = hashlib.sha1((self.build / "libpmgc.a").read_bytes()).hexdigest()
        learned = json.loads(kept.read_text()) if kept.exists() else {}
        if learned.get("library") != library or {*learned["questions"]} != {str(q) for q in self.questions}:
            programs, names = self.build_noting(pool)
            rows = pool.map(lambda question: self.learn_one(question, programs, names), self.questions)
            learned = {"library": library, "questions": dict(zip(map(str, self.questions), rows))}
            kept.write_text(json.dumps(learned))
        for question in self.questions:
            question.answer, question.seconds, reached = learned["questions"][str(question)]
            question.reached = {tuple(function) for function in reached}
        self.questions.sort(key=lambda question: (question.program == CODEGEN, question.seconds))

    def build_noting(self, pool):
        """The programs that are asked, and the names of their functions, by address."""
        folder = self.root / "noting"
        folder.mkdir()
        sources = sorted(path for name in FOLDERS for path in Path(name).glob("*.c"))
        objects = [folder / f"{path.parent.name}-{path.stem}.o" for path in sources]
        noting = ["-g", "-fno-inline", "-fno-pie", "-finstrument-functions"]
        list(pool.map(lambda pair: self.compile(*pair, noting), zip(sources, objects)))
        self.compile(Path("tests/mutations/reached.c"), folder / "reached.o", ["-fno-pie"])
        programs = {name: folder / Path(name).name for name in {question.program for question in self.questions}}
        for name, target in programs.items():
            self.link(name, [*objects, folder / "reached.o"], target, "-no-pie")
        return programs, {name: functions_at(target) for name, target in programs.items()}

    def learn_one(self, question, programs, names):
        with tempfile.NamedTemporaryFile() as reached:
            start = time.monotonic()
            answer = question.ask(programs[question.program], dict(self.env, PMG_REACHED=reached.name))
            seconds = time.monotonic() - start
            if answer[0] != 0:
                sys.exit(f"{question}: exit status {answer[0]} of the right compiler")
            at = names[question.program]
            return answer, seconds, sorted({at[int(row, 16)] for row in reached if int(row, 16) in at})

    def compile(self, source, target, more=()):
        command = ["gcc", *FLAGS, *more, *self.cflags, f"-I{self.build}", "-I", str(source.parent), "-w", "-c", source,
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

    def link(self, name, objects, target, *more):
        """A program of BUILD with these objects in place of its own."""
        main = self.build / "obj" / f"{name}.o"
        if name == PMGC:
            return run(["gcc", *more, main, *objects, self.build / "libpmgc.a", *self.isl, "-lm", "-o",
                        target])[0] == 0
        libraries = [self.build / Path(name).parent / "libparts.a", self.build / "libpmgtest.a",
                     self.build / "libpmgtools.a", self.build / "libpmgc.a"]
        return run(["gcc", "-fopenmp", *more, main, *objects, *libraries, f"-Wl,-rpath,{self.build.resolve()}",
                    f"-L{self.build}", "-lpmgrt", *self.isl, *self.hdf5, "-lz", "-ldl", "-lm", "-lopenblas", "-o",
                    target])[0] == 0

    def program(self, name, mutant, folder):
        target = folder / Path(name).name
        if not target.exists() and not self.link(name, [mutant], target):
            sys.exit(f"{name} cannot be linked")
        return target

    def tells(self, mutant, function, folder):
        """Who tells the mutant from the right compiler; None: nobody."""
        asked = [question for question in self.questions if function in question.reached]
        for question in [question for question in asked if not question.is_spare] or asked:
            if question.ask(self.program(question.program, mutant, folder), self.env) == question.answer:
                continue
            if not question.then:
                return question
            program, arguments = question.then
            if run([self.program(program, mutant, folder), *arguments], self.env)[0] != 0:
                return f"{program} {arguments[-1]}"
        return None

    def judge(self, mutant):
        number, (path, _, start, end, replacement, _) = mutant
        folder = self.root / str(number)
        folder.mkdir()
        source, target = folder / path.name, folder / "mutant.o"
        text = path.read_text()
        source.write_text(text[:start] + replacement + text[end:])
        if not self.compile(source, target, ["-I", str(path.parent)]):
            return "invalid", None
        if self.code(target) == self.original(path, self.root):
            return "equivalent", None
        teller = self.tells(target, (str(path), function_around(text, start)), folder)
        for file in folder.iterdir():
            file.unlink()
        return ("caught", teller) if teller else ("missed", None)


def functions_at(program):
    """Address -> (file, function)."""
    rows = run(["nm", "-l", program])[1].decode().splitlines()
    found = (re.match(r"([0-9a-f]+) [tT] (\w+)\t.*?(compiler/\S+):\d+$", row) for row in rows)
    return {int(row[1], 16): (row[3], row[2]) for row in found if row}


def function_around(text, start):
    return [found[1] for found in FUNCTION.finditer(text) if found.start() <= start][-1]


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
    build, wanted = sys.argv[1], [int(number) for number in sys.argv[2].split("-")]
    first, last = wanted if len(wanted) == 2 else (0, wanted[0] - 1)
    rng = random.Random(sys.argv[3] if len(sys.argv) > 3 else "1")
    paths = [Path(name) for name in sys.argv[4:]] or sorted(p for f in FOLDERS for p in Path(f).glob("*.c"))
    mutants = draw(paths, last + 1, rng)[first:]
    n = dict.fromkeys(("caught", "missed", "equivalent", "invalid"), 0)
    n_workers = len(os.sched_getaffinity(0))
    with tempfile.TemporaryDirectory(prefix="pmg-mutations-") as root, ThreadPoolExecutor(n_workers) as pool:
        judge = Judge(build, root)
        judge.learn(pool)
        print(f"{len(judge.questions)} questions", flush=True)
        for (number, (path, rule, _, _, _, row)), (verdict, teller) in zip(mutants, pool.map(judge.judge, mutants)):
            n[verdict] += 1
            if verdict == "missed" or "PMG_TEST_SHOWN" in os.environ:
                print(f"{number} {verdict}: {teller or ''} {path}: {rule} in: {row}", flush=True)
    print(", ".join(f"{number} {verdict}" for verdict, number in n.items()))
    is_enough = 0 < n["caught"] >= (LEAST if len(mutants) >= SAMPLE else LEAST_OF_SAMPLE)*(n["caught"] + n["missed"])
    print(f"{n['caught'] if is_enough else 0} passed, {0 if is_enough else max(n['missed'], 1)} failed")
    return 0 if is_enough else 1


sys.exit(main())
