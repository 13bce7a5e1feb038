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

GCC = ["gcc", "-std=c11", "-O1", "-fwrapv", "-fopenmp"]
DRAWS, DRAWS_IN_THREADS, SECONDS = "160", "40", 60
LEAST, LEAST_OF_SAMPLE, SAMPLE = 0.95, 0.85, 200    # a sample is smaller than that: chance has a say
KERNEL = re.compile(r"^static pmg_status \w+_kernel\(.*?^}", re.M | re.S)
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
    "swap -": (re.compile(r"(\w+(?:\[[^\[\]]+\])?) - (\w+(?:\[[^\[\]]+\])?)"), lambda m: f"{m[2]} - {m[1]}"),
    "swap /": (re.compile(r"(\w+(?:\[[^\[\]]+\])?)/(\w+(?:\[[^\[\]]+\])?)"), lambda m: f"{m[2]}/{m[1]}"),
    "+= to -=": (re.compile(r"\+="), lambda m: "-="),
    "+ to -": (re.compile(r"(?<=\s)\+(?=\s)"), lambda m: "-"),
    "* to +": (re.compile(r"(?<=[\w\])])\*(?=[\w(])"), lambda m: " + "),
    "drop if": (re.compile(r"\bif \(([^{}\n]+)\)(?= \{| *\n)"), lambda m: "if (1)"),
    "min to max": (re.compile(r"\bpmg_min_"), lambda m: "pmg_max_"),
    "max to min": (re.compile(r"\bpmg_max_"), lambda m: "pmg_min_"),
    "drop barrier": (re.compile(r"#pragma omp for schedule\(\w+\)(?!.*nowait)"), lambda m: f"{m[0]} nowait"),
    "drop atomic": (re.compile(r"#pragma omp atomic\b[^\n]*\n"), lambda m: "\n"),
}
# Rows that are no part of the computation, and changes that cannot be seen from outside.
OUTSIDE = re.compile(r"^\s*(/\*|\*|const |#include|\(void\))|restrict|^\s*#pragma(?! omp (?:atomic|for))|control|PMG_"
                     r"|\bstarts\b")
EQUIVALENT = [
    ("< to <=", re.compile(r"pmg_|\?.*<|: .*<")),      # which of two equal numbers a minimum takes
    (">= to >", re.compile(r"\?")),
    ("swap -", re.compile(r"fabsf?\(")),
    ("<= to <", re.compile(r"\?")),
    ("drop if", re.compile(r"!= 0\.0 \|\| !\w+_is_finite")),    # nothing, added
    # Loops over nothing need no condition.
    ("drop if", re.compile(r"if \((?:(?:\w+ \+ )?\w+ >= 1(?: && )?)+\) \{")),
    # Rows that are there already, copied again.
    ("drop if", re.compile(r"if \(\w+ < begin \|\| \w+ >= end\) \{")),
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
    """(rule, start, end, replacement) of each change that a kernel of `text` allows."""
    for kernel in KERNEL.finditer(text):
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
    return subprocess.run([*command, "-fPIC", "-shared", "-Iruntime", str(source), "-o", str(library), "-lm"],
                          capture_output=True, check=False).returncode == 0


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
    told = is_told(f"{folder}/plain/check", program, library, "1", DRAWS)
    if not told and Path(f"{folder}/check").exists() and compiled(races.CLANG, source, library):
        told = is_told(f"{folder}/check", program, library, "4", DRAWS_IN_THREADS, races.ENVIRONMENT)
    library.unlink()
    return "caught" if told else "missed"


def prepare(build, folder):
    """Text of each program, and the machine code of it unchanged."""
    texts, original = {}, {}
    programs = sorted([*Path("dsl_examples").glob("*.pmg"), *Path("tests/programs").glob("*.pmg")])
    for number, program in enumerate(programs):
        source = Path(folder) / f"original{number}.c"
        subprocess.run([f"{build}/pmgc", str(program), "--overrides=off", "-o", str(source)], check=True)
        if not compiled(GCC, source, Path(folder) / "m.so"):
            sys.exit(f"{program} does not compile")
        texts[program] = source.read_text()
        original[program] = machine_code(Path(folder) / "m.so")
    return texts, original


def draw(texts, count, rng):
    """`count` mutants, spread over the rules."""
    by_rule = {rule: [] for rule in RULES}
    for program, text in texts.items():
        for site in sites(text):
            by_rule[site[0]].append((program, text, site))
    for found in by_rule.values():
        rng.shuffle(found)
    drawn = []
    while len(drawn) < count and any(by_rule.values()):
        drawn += [found.pop() for found in by_rule.values() if found]
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
        texts, original = prepare(build, folder)
        mutants = draw(texts, count, rng)
        with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
            verdicts = list(pool.map(lambda mutant: judge(mutant, folder, original), mutants))
    for (_, program, _, (rule, _, _, replacement, row)), verdict in zip(mutants, verdicts):
        if verdict == "missed":
            print(f"missed: {program}: {rule}: {replacement.strip()} in: {row}")
    n = {verdict: verdicts.count(verdict) for verdict in ("caught", "missed", "equivalent", "invalid")}
    print(", ".join(f"{number} {verdict}" for verdict, number in n.items()))
    is_enough = 0 < n["caught"] >= (LEAST if count >= SAMPLE else LEAST_OF_SAMPLE)*(n["caught"] + n["missed"])
    print(f"{n['caught'] if is_enough else 0} passed, {0 if is_enough else max(n['missed'], 1)} failed")
    return 0 if is_enough else 1


sys.exit(main())
