# SPDX-License-Identifier: MIT
"""Seeded wrong changes of generated code, to learn whether the tests would see them: mutations.py BUILD COUNT [SEED].

A mutant is the C text of a program with one change in a kernel: a comparison, a bound or a subscript off by one,
bounds exchanged, operands of `-` and `/` swapped, `+` and `-` exchanged, a condition dropped, min and max exchanged, an
atomic update that is not atomic, threads that do not wait for each other. It is compiled and run on random draws
against the interpreter, and where it agrees, in four threads under the thread sanitizer: one row too many may be right
as long as nobody else writes it. At least 95 in 100 must be told from the right program, of a small sample 85.

Not counted as mutants: those that do not compile and those that compile to the same machine code; not made: those
that EQUIVALENT and WRITTEN_AGAIN describe.
"""
import os
import random
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent / "races"))
import races    # noqa: E402

GCC = ["gcc", "-std=c11", "-O1", "-fwrapv", "-fopenmp", "-DPMG_ALL_THREADS"]
DRAWS, DRAWS_IN_THREADS, SECONDS = "160", "40", 60
LEAST, LEAST_OF_SAMPLE, SAMPLE = 0.95, 0.85, 200    # a sample is smaller than that: chance has a say
EQUIVALENT_ROWS = Path("tests/mutations/equivalent")
# What computes: kernels and the stages of long ones. Others say how much memory or work there is.
COMPUTES = re.compile(r"^static (?:void|pmg_status) \w+\(pmg_plan \*plan\b.*?^}", re.M | re.S)
SCHEDULE = re.compile(r"^\s*schedule\b", re.M)
TILE = re.compile(r"(\btile \w+ \()([\d, ]+)\)")
SUBSCRIPT = re.compile(r"(?<=\w)\[([^\[\]]+)\]")
RULES = {
    "< to <=": (re.compile(r"(?<=\s)<(?=\s)"), lambda m: "<="),
    "<= to <": (re.compile(r"(?<=\s)<=(?=\s)"), lambda m: "<"),
    ">= to >": (re.compile(r"(?<=\s)>=(?=\s)"), lambda m: ">"),
    "== to !=": (re.compile(r"(?<=\s)==(?=\s)"), lambda m: "!="),
    "first + 1": (re.compile(r"(?<=for \(int64_t )(\w+ = [^;]+);"), lambda m: f"{m[1]} + 1;"),
    "last - 1": (re.compile(r"(?<=; )(\w+ <=? [^;]+);(?= \w+(?:\+\+|--|\s))"), lambda m: f"{m[1]} - 1;"),
    "swap bounds": (re.compile(r"\b(\w+) = ([^;()]+); \1 < ([^;()]+);"),
                    lambda m: f"{m[1]} = {m[3]}; {m[1]} < {m[2]};"),
    "subscript + 1": (SUBSCRIPT, lambda m: f"[{m[1]} + 1]"),
    "subscript - 1": (SUBSCRIPT, lambda m: f"[{m[1]} - 1]"),
    "swap -": (re.compile(r"(?<![\w.])((?:\d+\.)?\w+(?:\[[^\[\]]+\])?) - ((?:\d+\.)?\w+(?:\[[^\[\]]+\])?)(?![\w(.])"),
               lambda m: f"{m[2]} - {m[1]}"),
    "swap /": (re.compile(r"(?<![\w.])((?:\d+\.)?\w+(?:\[[^\[\]]+\])?)/((?:\d+\.)?\w+(?:\[[^\[\]]+\])?)(?![\w(.])"),
               lambda m: f"{m[2]}/{m[1]}"),
    "+= to -=": (re.compile(r"\+=(?=[^\n]*;)"), lambda m: "-="),
    "+ to -": (re.compile(r"(?<=\s)\+(?=\s)"), lambda m: "-"),
    "* to +": (re.compile(r"(?<=[\w\])])\*(?=[\w(])"), lambda m: " + "),
    "drop if": (re.compile(r"\bif \(([^{}\n]+)\)(?= \{| *\n)"), lambda m: "if (1)"),
    "min to max": (re.compile(r"\bpmg_min_"), lambda m: "pmg_max_"),
    "max to min": (re.compile(r"\bpmg_max_"), lambda m: "pmg_min_"),
    "drop barrier": (re.compile(r"#pragma omp for schedule\(\w+\)(?!.*nowait)"), lambda m: f"{m[0]} nowait"),
    "drop atomic": (re.compile(r"#pragma omp atomic\b[^\n]*\n"), lambda m: "\n"),
}
# Rows that compute nothing: comments, where arrays lie and how large they are, how many cells a variable of several
# has, other pragmas, what is fetched ahead, and the place that the message of a zero pivot names.
OUTSIDE = re.compile(r"^\s*(?:/\*|\*|#include|\(void\)|\w+ \w+\[[^\]]*\](?: = [^;]*)?;|PMG_PREFETCH|pmg_check_pivot"
                     r"|PMG_CHECK_|#pragma(?! omp (?:atomic|for)))|restrict|plan->(?:data|sizes)\[")
EQUIVALENT = [
    ("< to <=", re.compile(r"\?.*<|: .*<")),      # which of two equal numbers a minimum takes
    ("< to <=", re.compile(r"pmg_loop_next")),     # a method stops where it has come exactly so far
    ("drop if", re.compile(r"\bstarts\b")),        # no draw goes on from a state
    ("last - 1", re.compile(r"lane < \d+; lane \+= PMG_LANES")),     # several lanes at a time
    # What a vector more computes is behind the row: the next iteration computes it again, or nobody reads it.
    ("< to <=", re.compile(r"lane < \d+; lane \+= PMG_LANES")),
    # A tile behind the last one is empty, and so is a block of systems.
    ("< to <=", re.compile(r"_tile < pmg_div\(|_block < \w+; \w+_block \+= \d+")),
    # Whether a result goes past the caches; whether there is a pivot to tell of is asked again.
    ("drop if", re.compile(r"_is_nontemporal\)|\bfirst(?:_\d+)? != INT64_MAX")),
    (">= to >", re.compile(r"\?")),
    ("swap -", re.compile(r"fabsf?\(")),
    ("<= to <", re.compile(r"\?")),
    ("drop if", re.compile(r"!= 0\.0 \|\| !\w+_is_finite")),    # nothing, added
    # Loops over nothing need no condition.
    ("drop if", re.compile(r"if \((?:(?:\w+ \+ )?\w+ >= 1(?: && )?)+\) \{")),
    # Rows that are there already, copied again.
    *((rule, re.compile(r"if \(\w+ < begin(?:_\d+)? \|\| \w+ >= end(?:_\d+)?\) \{"))
      for rule in ("drop if", "< to <=")),
    # The BLAS and the loops beside it compute the same.
    ("drop if", re.compile(r"pmg_blas_takes")),
    # A segment without points adds nothing to its row.
    *((rule, re.compile(r"if \((\w+)_begin < \1_end\) \{")) for rule in ("drop if", "< to <=")),
]
# What a root gets in the place of another node is written again behind it, where the node has a parent: the same cell,
# which is not read in between.
WRITTEN_AGAIN = re.compile(r"if \((\w+) == -1\) \{\n\s*(\S+(?: \+ \w+\])?) = [^;{}]*;\n\s*\}\n"
                           r"\s*if \(\1 >= \w+\) \{\n\s*\2 = ")
# A segment that starts behind everything is empty, which is asked next.
ASKED_AGAIN = re.compile(r"(?:if \(\w+_begin )?< \w+\) \{\n\s*const int64_t (\w+)_end = [^;]*;\n"
                         r"\s*if \(\1_end > \1_begin\) \{")
ASKED_IF_EMPTY = re.compile(r"if \((\w+)_end > \1_begin\) \{\n(\t+)")


def only_loops(text, start):
    """Whether a condition that a segment is not empty stands around nothing but loops."""
    asked = ASKED_IF_EMPTY.match(text, start)
    if not asked:
        return False
    indent = asked[2]
    block = text[asked.end() - len(indent):text.index("\n" + indent[1:] + "}", start)]
    return all(re.match(r"for |}|#pragma", row[len(indent):]) for row in block.split("\n")
               if row.startswith(indent) and not row.startswith(indent + "\t"))


def waits_anyway(text, start):
    """Whether a loop that threads share is the last thing in their region, at the end of which they wait."""
    indent = text[text.rfind("\n", 0, start) + 1:start]
    behind = text.find("\n" + indent + "}\n", start)
    return behind < 0 or text.startswith(indent[1:] + "}", behind + len(indent) + 3)


def changes_nothing(rule, text, start, row):
    """Whether no test could tell: by its row, or by those behind it."""
    return any(rule == name and pattern.search(row) for name, pattern in EQUIVALENT) or \
        (rule == "drop if" and (WRITTEN_AGAIN.match(text, start) or only_loops(text, start))) or \
        (rule == "drop barrier" and waits_anyway(text, start)) or \
        (rule in ("drop if", "< to <=") and ASKED_AGAIN.match(text, start))


def sites(text):
    """(rule, start, end, replacement, row) of each change that what computes in `text` allows."""
    for kernel in COMPUTES.finditer(text):
        comments = [m.span() for m in re.finditer(r"/\*.*?\*/", kernel[0], re.S)]
        for rule, (pattern, change) in RULES.items():
            for found in pattern.finditer(kernel[0]):
                start = kernel[0].rfind("\n", 0, found.start()) + 1
                row = kernel[0][start:kernel[0].find("\n", found.start())]
                if OUTSIDE.search(row) or any(a <= found.start() < b for a, b in comments):
                    continue
                if changes_nothing(rule, kernel[0], found.start(), row):
                    continue
                yield rule, kernel.start() + found.start(), kernel.start() + found.end(), change(found), row.strip()


def compiled(command, source, library):
    """False where the text does not compile."""
    return subprocess.run([*command, "-fPIC", "-shared", "-Iruntime", str(source), "-o", str(library), "-lopenblas",
                           "-lm"], capture_output=True, check=False).returncode == 0


def machine_code(library):
    return subprocess.run(["objdump", "-d", "--no-show-raw-insn", "-j", ".text", str(library)], capture_output=True,
                          text=True, check=True).stdout.split("\n", 3)[-1]


def is_told(check, program, library, threads, draws, env=None):
    try:
        return subprocess.run([check, str(program), str(library), threads, draws], capture_output=True, env=env,
                              timeout=SECONDS, check=False).returncode != 0
    except subprocess.TimeoutExpired:
        return True


def judge(mutant, folder, original):
    """caught, missed, equivalent (the same machine code) or invalid (does not compile)."""
    number, program, text, (rule, start, end, replacement, _) = mutant
    source, library = Path(folder) / f"m{number}.c", Path(folder) / f"m{number}.so"
    source.write_text(text[:start] + replacement + text[end:])
    if not compiled(GCC, source, library):
        return "invalid"
    if rule != "drop atomic" and machine_code(library) == original[program]:
        return "equivalent"
    told = is_told(f"{folder}/plain/check", program[0], library, "1", DRAWS)
    if not told and Path(f"{folder}/check").exists() and compiled(races.CLANG, source, library):
        told = is_told(f"{folder}/check", program[0], library, "4", DRAWS_IN_THREADS, races.ENVIRONMENT)
    library.unlink()
    return "caught" if told else "missed"


def with_small_tiles(program, folder):
    """The program, its tiles so small that draws have several, whole and cut ones, in each direction. Rows of windows
    of three would meet with tiles of four: 4 % 3 is 1."""
    text = program.read_text()
    small = TILE.sub(lambda m: m[1] + ", ".join(str(min(int(size), most))
                                                for size, most in zip(m[2].split(","), (5, 8, 8)))
                     + ")", text)
    if small == text:
        return program
    copy = Path(folder) / program.name
    copy.write_text(small)
    return copy


def prepare_program(build, folder, number, program):
    """[((program, flags), text, machine code)]: as it is and, where it asks for a schedule, without."""
    source, library, prepared = Path(folder) / f"original{number}.c", Path(folder) / f"original{number}.so", []
    compiled_program = with_small_tiles(program, folder)
    for flags in (), ("--overrides=off",):
        if flags and not SCHEDULE.search(program.read_text()):
            continue
        subprocess.run([f"{build}/pmgc", str(compiled_program), *flags, "-o", str(source)], check=True)
        if not compiled(GCC, source, library):
            raise ValueError(f"{program} does not compile")
        if is_told(f"{folder}/plain/check", program, library, "1", DRAWS):
            raise ValueError(f"{program} without a change is told from itself")
        prepared.append(((program, flags), source.read_text(), machine_code(library)))
    return prepared


def prepare(build, folder, pool):
    """Text of each program and schedule, and the machine code of it unchanged."""
    programs = sorted([*Path("dsl_examples").glob("*.pmg"), *Path("tests/programs").glob("*.pmg")])
    made = pool.map(lambda row: prepare_program(build, folder, *row), enumerate(programs))
    rows = [row for prepared in made for row in prepared]
    return {program: text for program, text, _ in rows}, {program: code for program, _, code in rows}


def named_equivalents(found):
    """(program, rule, row) of each mutant of generated code that is known to change nothing."""
    rows = [row.split("\t") for row in EQUIVALENT_ROWS.read_text().splitlines() if ".pmg\t" in row]
    made = {(str(program), site[0], site[-1]) for (program, _), _, site in found}
    for row in rows:
        if len(row) != 4 or tuple(row[:3]) not in made:
            sys.exit(f"{EQUIVALENT_ROWS}: there is no such mutant, or it has no reason: {row}")
    return {tuple(row[:3]) for row in rows}


def draw(texts, count, rng):
    """`count` mutants, spread over the rules."""
    found = [(program, text, site) for program, text in texts.items() for site in sites(text)]
    equivalents = named_equivalents(found)
    by_rule = {rule: [] for rule in RULES}
    for program, text, site in found:
        if (str(program[0]), site[0], site[-1]) not in equivalents:
            by_rule[site[0]].append((program, text, site))
    for made in by_rule.values():
        rng.shuffle(made)
    drawn = []
    while len(drawn) < count and any(by_rule.values()):
        drawn += [made.pop() for made in by_rule.values() if made]
    return [(number, *mutant) for number, mutant in enumerate(drawn[:count])]


def build_plain(build, folder):
    plain = Path(folder) / "plain"
    plain.mkdir()
    subprocess.run(["gcc", "-std=c11", "-D_GNU_SOURCE", "-O1", "-fopenmp", *races.INCLUDES,
                    *races.packages("--cflags"), *races.CHECK_SOURCES, f"{build}/libpmgc.a", f"-L{build}", "-lpmgrt",
                    f"-Wl,-rpath,{Path(build).resolve()}", *races.packages("--libs"), "-ldl", "-lm", "-o",
                    f"{plain}/check"], check=True)


def main():
    build, count = sys.argv[1], int(sys.argv[2])
    rng = random.Random(sys.argv[3] if len(sys.argv) > 3 else "1")
    with tempfile.TemporaryDirectory(prefix="pmg-mutations-") as folder:
        if not races.is_available(folder):
            del RULES["drop atomic"], RULES["drop barrier"]
        else:
            races.build_checker(build, folder)
        build_plain(build, folder)
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            texts, original = prepare(build, folder, pool)
            mutants = draw(texts, count, rng)
            verdicts = list(pool.map(lambda mutant: judge(mutant, folder, original), mutants))
    for (_, program, _, (rule, _, _, replacement, row)), verdict in zip(mutants, verdicts):
        if verdict == "missed":
            print(f"missed: {' '.join(map(str, (program[0], *program[1])))}: {rule}: {replacement.strip()} in: {row}")
    n = {verdict: verdicts.count(verdict) for verdict in ("caught", "missed", "equivalent", "invalid")}
    print(", ".join(f"{number} {verdict}" for verdict, number in n.items()))
    is_enough = 0 < n["caught"] >= (LEAST if count >= SAMPLE else LEAST_OF_SAMPLE)*(n["caught"] + n["missed"])
    print(f"{n['caught'] if is_enough else 0} passed, {0 if is_enough else max(n['missed'], 1)} failed")
    return 0 if is_enough else 1


sys.exit(main())
