#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""pmgc blame: every line of generated C has a writer, which is a line of the compiler that writes, and the lines of a
loop nest come from the statement that the comment above them shows. Directives #line say the same.
Not with sanitizers: others ask as much of pmgc."""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from pmgc import ROOT, Count, pmgc

PROGRAMS = sorted(ROOT.glob("dsl_examples/*.pmg"))[::1 if "PMG_TEST_LONG" in os.environ else 6]
ROW = re.compile(r"(\d+) (\S+?):(\d+):(\d+) (\S+):(\d+)|(\d+) - (\S+):(\d+)")
WRITES = re.compile(r"\b(line|open_block|close_block|writer_blank|quote\w*|"
                    r"(block|k)_\w+|lane_declare)\(|EMITTER")
COMMENT = re.compile(r"\t+/\* (?:.*\()?[\w.]+\.pmg:(\d+)(?:\) \*/)?$")
COMPUTES = re.compile(r"\t\t+\w[^;{}]* [-+*]?= .*;$|\t+for \((?!.*pmg_loop_begin)")


def parse(text):
    """Place (line or None) and writer (file, line) of each line."""
    rows = []
    for row in text.splitlines():
        found = ROW.fullmatch(row)
        number, _, line, _, file, at, *without = found.groups()
        rows.append((int(line), file, int(at)) if number else (None, without[1], int(without[2])))
    return rows


def is_writer(file, number):
    """Whether a call that writes begins at most a few lines above, as far as it may go on."""
    rows = (ROOT / file).read_text().splitlines()
    return any(WRITES.search(row) for row in rows[max(0, number - 6):number])


def misplaced(generated, places):
    """Lines of computation whose place is not that of a comment above their nest. The comments of fused statements
    stand one behind the other. A comment that shows the first of several lines stands for all that it showed before."""
    shown, is_comment, first, last, whole = set(), False, 0, 0, {}
    for number, (row, place) in enumerate(zip(generated, places), 1):
        if row.startswith("}"):
            shown = set()
        found = COMMENT.match(row)
        if found:
            first = last = int(found[1])
            shown = (shown if is_comment else set()) | {last} | whole.get(first, set())
        elif row.lstrip().startswith("*  "):
            shown.add(last)
            whole.setdefault(first, set()).add(last)
            last += 1
        is_comment = bool(found) or row.lstrip().startswith("*")
        if shown and COMPUTES.match(row) and place not in shown:
            yield f"line {number}, {row.strip()}: from line {place}, not {sorted(shown)}"


def check_program(count, program, folder):
    (folder / program.name).write_text(program.read_text())
    made = pmgc(program.name, "-o", "out.c", folder=folder)
    count(f"{program.name}: compiled", made.stderr.decode() if made.returncode else "")
    done = pmgc("blame", "out.c", program.name, folder=folder)
    count.equal(f"{program.name}: status", (done.returncode, done.stderr), (0, made.stderr))
    generated, rows = (folder / "out.c").read_text().splitlines(), parse(done.stdout.decode())
    count.equal(f"{program.name}: a row for each line", len(rows), len(generated))
    strange = {f"{file}:{line}" for _, file, line in rows if not is_writer(file, line)}
    count.equal(f"{program.name}: these write nothing", strange, set())
    places = [row[0] for row in rows]
    count.equal(f"{program.name}: places", list(misplaced(generated, places)), [])
    return generated, places


def lines_as_compiled(text, name):
    """Rows of a text but its #line directives, each with the line of `name` that these give it; else None."""
    at, is_source = 1, False
    for row in text.splitlines():
        directive = re.fullmatch(r'#line (\d+) "(.*)"', row)
        if directive:
            at, is_source = int(directive[1]), directive[2] == name
            continue
        yield row, at if is_source else None
        at += 1


def check_directives(count, program, generated, places, folder):
    made = pmgc(program.name, "--line-directives", "-o", "lines.c", folder=folder)
    count(f"{program.name}: with directives", "" if made.returncode == 0 else made.stderr.decode())
    rows = list(lines_as_compiled((folder / "lines.c").read_text(), program.name))
    count.equal(f"{program.name}: the same but for directives", [row for row, _ in rows],
                [row.replace('"out.h"', '"lines.h"') for row in generated])
    wrong = [f"{row.strip()}: line {at}, not {place}" for (row, at), place in zip(rows, places)
             if COMPUTES.match(row) and at != place]
    count.equal(f"{program.name}: lines that directives give", wrong, [])
    gcc = ["gcc", "-Wall", "-Wextra", "-Werror", "-fopenmp", f"-I{ROOT}/runtime", "-c", "lines.c"]
    built = subprocess.run(gcc, cwd=folder, capture_output=True, text=True, check=False)
    count(f"{program.name}: with directives, compiled", built.stderr)


def check_line(count, program, generated, folder):
    """One line in full, and what is refused."""
    number = next(i for i, row in enumerate(generated, 1) if COMPUTES.match(row))
    told = pmgc("blame", f"out.c:{number}", program.name, folder=folder).stdout.decode()
    count.equal("the line itself", told.splitlines()[0], f"out.c:{number}: {generated[number - 1].strip()}")
    count("its parts", "" if re.search(r"\.pmg:\d+:\d+: from here\n +\d+ \| .*\n +\| +\^.*\n"
                                       r" += written by compiler/codegen/\w+\.c:\d+\n", told) else told)
    count("what was decided", "" if re.search(r"= pass '\w+' chose ", told) else told)
    (folder / "other.c").write_text("\n".join(generated[:-1]) + "\n")
    refused = [
        (["out.c:0", program.name], 2), (["out.c:x", program.name], 2), (["out.c:99999", program.name], 2),
        (["out.c:1"], 2), (["none.c:1", program.name], 4), (["out.c:1", "none.pmg"], 4),
        (["other.c:1", program.name], 2), (["out.c:1", program.name, "--parallel=off"], 2),
    ]
    for arguments, status in refused:
        done = pmgc("blame", *arguments, folder=folder)
        count.equal(f"blame {' '.join(arguments)}", (done.returncode, done.stdout), (status, b""))


def check_lowering(count, folder):
    """A line that a lowering made names it, and what it decided there."""
    program = ROOT / "tests/decide/ahead_updates.pmg"
    (folder / "p.pmg").write_text(program.read_text())
    pmgc("p.pmg", "--candidates=1", "-o", "p.c", folder=folder)
    number = next(i for i, row in enumerate((folder / "p.c").read_text().splitlines(), 1) if "PMG_PREFETCH(" in row)
    told = pmgc("blame", f"p.c:{number}", "p.pmg", "--candidates=1", folder=folder).stdout.decode()
    writer = re.search(r"written by compiler/kernel/lower/prefetch\.c:\d+, in the lowering 'prefetch'\n", told)
    count("the lowering", "" if writer else told)
    count("its decision", "" if "= lowering 'prefetch' chose prefetches cells for 'g': " in told else told)


def check_header(count, program, folder):
    done = pmgc("blame", "out.h:2", program.name, folder=folder)
    count.equal("blame out.h:2", (done.returncode, done.stdout, done.stderr.decode().splitlines()[0]),
                (2, b"", "pmgc: blame takes the C file, OUT.c:LINE, not 'out.h:2'"))


def main():
    count = Count()
    count("programs", "" if len(PROGRAMS) >= 5 else f"{len(PROGRAMS)}")
    for program in PROGRAMS:
        with tempfile.TemporaryDirectory() as folder:
            generated, places = check_program(count, program, Path(folder))
            check_directives(count, program, generated, places, Path(folder))
            if program == PROGRAMS[0]:
                check_line(count, program, generated, Path(folder))
                check_header(count, program, Path(folder))
                check_lowering(count, Path(folder))
    return count.close()


sys.exit(main())
