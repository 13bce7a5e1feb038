# SPDX-License-Identifier: MIT
"""Seeded wrong changes of passes and code generation, to learn whether the tests would see them:
passes.py BUILD COUNT|FIRST-LAST [SEED [FILE...]] [--jobs N] [--seconds N].

A mutant is a file of compiler/passes, compiler/codegen or compiler/kernel/lower with one change: a comparison or a
start off by one, a condition dropped or turned round, && and || exchanged, + and - exchanged, a flag inverted. The file
is compiled and linked before the compiler's library in BUILD, into the programs that test it, which are asked the
questions that reach the changed function, the quickest first, until one of them tells the mutant from the right
compiler: the cases of tests/decide and the kept texts of tests/codegen and generated/; then programs of tests/random
and tests/programs, random programs, by each row of their table of variants, and kernels for CUDA, of which only what
has another text than before is run; at last tests/codegen. LEAST of the mutants must be told. Which functions a
question reaches is found by a compiler that notes them (reached.c).

Which mutants a seed draws depends on their own rows alone: the lists of a seed before and after a change of the
compiler have nearly the same mutants. Not counted as mutants: those that do not compile, compile to the same machine
code, or are named with a reason in tests/mutations/equivalent; not made: those of rows that NOT_MUTATED names.

Mutants are judged N at a time (as many as there are processors), each in a folder of its own; what is not decided after
--seconds is left. A table of all rules comes last.
"""
import argparse
import hashlib
import json
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

LEAST, LEAST_OF_SAMPLE, SAMPLE = 0.95, 0.85, 200    # a sample is smaller than that: chance has a say
FOLDERS = ["compiler/passes", "compiler/codegen", "compiler/kernel/lower"]
PMGC, DECIDE, CODEGEN = "compiler/driver/main", "tests/decide/test_decide", "tests/codegen/test_codegen"
RANDOM, PROGRAMS, DRAWS = "tests/random/test_programs", 12, "1-4"
EMULATED = "tests/cuda/test_emulated"
ONE = "--candidates=1"     # a file with candidates begins with the same kernels
CUDA = ["--emit=cu", "--target=cuda"]
TABLE = Path("tests/random/batch.c")
EQUIVALENT = Path("tests/mutations/equivalent")
VERDICTS = ("caught", "missed", "equivalent", "invalid", "left")
FLAGS = ["-std=c11", "-D_GNU_SOURCE", "-O1", "-fvisibility=hidden", "-Icompiler", "-Iruntime"]
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
        self.is_spare = is_spare        # asked of what no other one tells
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
    examples, kept = (sorted(Path(folder).glob("*.pmg")) for folder in ("dsl_examples", "tests/programs"))
    asked = [Question(DECIDE, [path]) for path in sorted(Path("tests/decide").glob("**/*.pmg"))]
    for path in sorted(Path("tests/codegen").glob("*/*.pmg")):
        asked.append(Question(PMGC, [path, "-o", "-", ONE], kernels))
        asked.append(Question(PMGC, [path, "-o", "-", *CUDA, ONE], whole))
    asked += [Question(PMGC, [path, "-o", "-", ONE], whole) for path in examples]
    asked += [Question(PMGC, [path, "-o", "-"], whole, is_spare=True) for path in examples]
    rows = {}           # by flags: some differ by the C compiler alone
    for row, flags in enumerate(re.findall(r'\.pmgc = "([^"]*)"', TABLE.read_text())):
        rows.setdefault(" ".join(dict.fromkeys([*flags.split(), ONE])), row)
    for flags, row in rows.items():
        asked.append(Question(PMGC, [programs, "-o", "-", "--overrides=off", *flags.split()], whole,
                              (RANDOM, [programs, DRAWS, row])))
    asked += [Question(PMGC, [path, "-o", "-", *CUDA], whole) for path in examples]
    for path in sorted(Path("tests/random").glob("scheduled/*.pmg")):
        asked.append(Question(PMGC, [path, "-o", "-", ONE], whole, (RANDOM, [path, DRAWS, 0])))
    for path in [*sorted(Path("tests/random").glob("*.pmg")), *kept]:
        asked.append(Question(PMGC, [path, "-o", "-", "--overrides=off", ONE], whole, (RANDOM, [path, DRAWS, 0])))
    for path in [*examples, *kept]:
        asked.append(Question(PMGC, [path, "-o", "-", *CUDA, "--overrides=off", ONE], whole, (EMULATED, [path])))
    return [*asked, Question(CODEGEN, [])]


class Judge:
    def __init__(self, build, root):
        self.build, self.root, self.objects = Path(build), Path(root), {}
        self.n_unsound, self.sound, self.lock = 0, {}, threading.Lock()
        self.isl, self.cflags = packages("--libs", "isl"), packages("--cflags", "isl")
        self.hdf5 = packages("--libs", "hdf5-serial", "libzip")
        self.env = dict(os.environ, BUILD=str(self.build), OMP_WAIT_POLICY="passive")
        self.folder = self.build / "mutations"
        self.folder.mkdir(exist_ok=True)
        programs = self.folder / "programs.pmg"
        programs.write_bytes(run([sys.executable, "tests/random/generate.py", "1", PROGRAMS, "0"])[1])
        self.questions, self.equivalents = questions(programs), named_equivalents()

    def learn(self, pool):
        """The right answers, what each question takes, and which functions it reaches: once for a compiler."""
        kept = self.folder / "learned.json"
        asked_about = self.hash_of_inputs()
        learned = json.loads(kept.read_text()) if kept.exists() else {}
        if learned.get("asked about") != asked_about:
            programs, names = self.build_noting(pool)
            rows = pool.map(lambda question: self.learn_one(question, programs, names), self.questions)
            learned = {"asked about": asked_about, "questions": dict(zip(map(str, self.questions), rows))}
            kept.write_text(json.dumps(learned))
        for question in self.questions:
            question.answer, question.seconds, reached = learned["questions"][str(question)]
            question.reached = {tuple(function) for function in reached}
            if question.answer[0] != 0:
                self.note_unsound(question)
        self.questions = [question for question in self.questions if question.answer[0] == 0]
        self.questions.sort(key=lambda question: (question.program == CODEGEN, question.is_spare, question.seconds))

    def hash_of_inputs(self):
        """Of the compiler, and of the programs that it is asked about."""
        files = [self.build / "libpmgc.a", *(word for question in self.questions for word in question.arguments
                                             if isinstance(word, Path))]
        content = "".join(hashlib.sha1(file.read_bytes()).hexdigest() for file in files)
        return hashlib.sha1((content + " ".join(map(str, self.questions))).encode()).hexdigest()

    def note_unsound(self, name):
        """A test that the right compiler fails has no say."""
        self.n_unsound += 1
        print(f"of the right compiler fails, and has no say: {name}", flush=True)

    def build_noting(self, pool):
        """The programs that are asked, and the names of their functions, by address."""
        folder = self.root / "noting"
        folder.mkdir()
        objects = [folder / f"{path.parent.name}-{path.stem}.o" for path in sources()]
        noting = ["-g", "-fno-inline", "-fno-pie", "-finstrument-functions"]
        list(pool.map(lambda pair: self.compile(*pair, noting), zip(sources(), objects)))
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
            target = folder / "original.o"
            self.compile(path, target)
            self.objects[path] = self.code(target)
        return self.objects[path]

    def link(self, name, objects, target, *more):
        """A program of BUILD with these objects in place of its own."""
        main = self.build / "obj" / f"{name}.o"
        if name == PMGC:
            return run(["gcc", *more, main, self.build / "obj/tools/pmgc.o", *objects, self.build / "libpmgtools.a",
                        self.build / "libpmgc.a", *self.isl, "-lz", "-lm", "-o", target])[0] == 0
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

    def tells(self, mutant, function, folder, latest):
        """The verdict, and who told the mutant from the right compiler."""
        asked = [question for question in self.questions if function in question.reached]
        changed = None
        for question in asked:
            if time.monotonic() > latest:
                return "left", None
            if question.ask(self.program(question.program, mutant, folder), self.env) == question.answer:
                continue
            if not question.then:
                return "caught", question
            program, arguments = question.then
            changed = changed or f"nobody, which changes the text of {question}"
            if not self.passes(self.program(program, mutant, folder), arguments) and self.is_sound(question.then):
                return "caught", f"{program} {arguments[-1]}"
        return "missed", changed

    def passes(self, program, arguments):
        return run([program, *arguments], self.env)[0] == 0

    def is_sound(self, then):
        """Does the right compiler pass this test? Tried when first something does not."""
        program, arguments = then
        with self.lock:
            if str(then) not in self.sound:
                self.sound[str(then)] = self.passes(self.build / program, arguments)
                if not self.sound[str(then)]:
                    self.note_unsound(f"{program} {arguments}")
            return self.sound[str(then)]

    def judge(self, mutant, latest):
        number, (path, rule, start, end, replacement, row) = mutant
        if (str(path), rule, row) in self.equivalents:
            return "equivalent", None
        folder = self.root / str(number)
        folder.mkdir()
        source, target = folder / path.name, folder / "mutant.o"
        text = path.read_text()
        source.write_text(text[:start] + replacement + text[end:])
        if not self.compile(source, target, ["-I", str(path.parent)]):
            return "invalid", None
        if self.code(target) == self.original(path, folder):
            return "equivalent", None
        answer = self.tells(target, (str(path), function_around(text, start)), folder, latest)
        for file in folder.iterdir():
            file.unlink()
        return answer


def functions_at(program):
    """Address -> (file, function)."""
    rows = run(["nm", "-l", program])[1].decode().splitlines()
    found = (re.match(r"([0-9a-f]+) [tT] (\w+)\t.*?(compiler/\S+):\d+$", row) for row in rows)
    return {int(row[1], 16): (row[3], row[2]) for row in found if row}


def function_around(text, start):
    return [found[1] for found in FUNCTION.finditer(text) if found.start() <= start][-1]


def draw(paths, seed, count):
    """`count` mutants, numbered, spread over the rules: of each rule by a hash of the row."""
    by_rule = {rule: [] for rule in RULES}
    seen = Counter()
    for path in paths:
        for site in sites(path):
            name = f"{seed} {path} {site[1]} {site[-1]}"
            seen[name] += 1
            by_rule[site[1]].append((hashlib.sha1(f"{name} {seen[name]}".encode()).digest(), site))
    for found in by_rule.values():
        found.sort(key=lambda pair: pair[0], reverse=True)
    drawn = []
    while len(drawn) < count and any(by_rule.values()):
        drawn += [found.pop()[1] for found in by_rule.values() if found]
    return list(enumerate(drawn[:count]))


def named_equivalents():
    """(path, rule, row) of each mutant that is known to change nothing."""
    rows = [row.split("\t") for row in EQUIVALENT.read_text().splitlines() if ".c\t" in row]
    made = {(str(site[0]), site[1], site[-1]) for path in sources() for site in sites(path)}
    for row in rows:
        if len(row) != 4 or tuple(row[:3]) not in made:
            sys.exit(f"{EQUIVALENT}: there is no such mutant, or it has no reason: {row}")
    return {tuple(row[:3]) for row in rows}


def sources():
    return sorted(path for folder in FOLDERS for path in Path(folder).rglob("*.c"))


def shown(path, rule, start, end, replacement, _):
    """Where the change is, and the row with what it replaces."""
    text = path.read_text()
    at = start - text.rfind("\n", 0, start) - 1
    line = text[start - at:].split("\n", 1)[0]
    changed = f"{line[:at]}[{text[start:end]} -> {replacement}]{line[at + end - start:]}".strip()
    return f"{path}:{text.count(chr(10), 0, start) + 1}: {rule}: {changed}"


def print_table(n_by_rule):
    """A row for each rule, and the sum; the share is that of the caught ones in those that count."""
    print(f"{'':16}" + "".join(f"{name:>12}" for name in (*VERDICTS, "share")))
    for rule, n in [*n_by_rule.items(), ("all", sum(n_by_rule.values(), Counter()))]:
        share = f"{100*n['caught']/(n['caught'] + n['missed']):.1f} %" if n["caught"] + n["missed"] else "-"
        print(f"{rule:16}" + "".join(f"{n[name]:12}" for name in VERDICTS) + f"{share:>12}")


def judge_all(judge, mutants, pool, seconds):
    """How many of each rule met which verdict; each is told when it is known."""
    end = time.monotonic() + seconds
    n_by_rule = {rule: Counter() for rule in RULES}
    running = {pool.submit(judge.judge, mutant, end): mutant for mutant in mutants}
    for done in as_completed(running):
        number, site = running[done]
        verdict, teller = done.result()
        n_by_rule[site[1]][verdict] += 1
        if verdict == "missed" or "PMG_TEST_SHOWN" in os.environ:
            print(f"{number} {verdict}: {shown(*site)}{f' told by {teller}' if teller else ''}", flush=True)
    return n_by_rule


def arguments():
    parser = argparse.ArgumentParser(description="Would the tests see wrong changes of passes and code generation?")
    parser.add_argument("build")
    parser.add_argument("wanted", metavar="COUNT|FIRST-LAST")
    parser.add_argument("seed", nargs="?", default="1")
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--seconds", type=float, default=float("inf"))
    return parser.parse_args()


def main():
    asked = arguments()
    wanted = [int(number) for number in asked.wanted.split("-")]
    first, last = wanted if len(wanted) == 2 else (0, wanted[0] - 1)
    mutants = draw(asked.files or sources(), asked.seed, last + 1)[first:]
    with tempfile.TemporaryDirectory(prefix="pmg-mutations-") as root, ThreadPoolExecutor(asked.jobs) as pool:
        judge = Judge(asked.build, root)
        judge.learn(pool)
        print(f"{len(judge.questions)} questions", flush=True)
        n_by_rule = judge_all(judge, mutants, pool, asked.seconds)
    print_table(n_by_rule)
    n = sum(n_by_rule.values(), Counter())
    is_enough = 0 < n["caught"] >= (LEAST if len(mutants) >= SAMPLE else LEAST_OF_SAMPLE)*(n["caught"] + n["missed"])
    n_failed = judge.n_unsound + (0 if is_enough else max(n["missed"], 1))
    print(f"{n['caught'] if is_enough else 0} passed, {n_failed} failed")
    return 1 if n_failed else 0


sys.exit(main())
