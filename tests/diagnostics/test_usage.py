#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The command line of pmgc: every option is in every form of the help; what is wrong is said, with exit status 2."""
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from pmgc import PMGC, ROOT, Count, lowerings, messages, passes, pmgc

# Arguments, and the first line of what is said.
WRONG = [
    ([], "no input file"),
    (["a.pmg", "b.pmg"], "one input file, not 'a.pmg' and 'b.pmg'"),
    (["a.pmg", "--shedule=isl"], "unknown option '--shedule=isl'; did you mean '--schedule'?"),
    (["a.pmg", "--xyz"], "unknown option '--xyz'"),
    (["a.pmg", "--target"], "option '--target' needs NAME"),
    (["a.pmg", "--time=3"], "option '--time' takes no value"),
    (["a.pmg", "--max-operations=-1"], "option '--max-operations' takes a whole number from 0 on, not '-1'"),
    (["a.pmg", "--max-operations=1x"], "option '--max-operations' takes a whole number from 0 on, not '1x'"),
    (["a.pmg", "--candidates"], "option '--candidates' needs N"),
    (["a.pmg", "--emit=ir", "-o", "b.c"],
     "--emit prints on the standard output, and -o names 'b.c'; one of them is to be left out"),
    (["a.pmg", "-MD", "-o", "-"], "-MD writes FILE.d beside FILE.c, but the standard output is asked for"),
    (["a.pmg", "-MD", "--emit=c"], "-MD writes FILE.d beside FILE.c, but the standard output is asked for"),
    (["a.pmg", "--emit=asm"],
     "--emit takes tokens, ast, ir, deps, schedule, loops, kernel, c, h, cu or dot, not 'asm'"),
    (["a.pmg", "--emit=cu"], "--emit=cu is for targets with a file of kernels, as cuda, not 'openmp'"),
    *((["a.pmg", "--pipeline=p", *emit],
       "--pipeline is for --emit=ir, deps, schedule, loops, kernel or dot") for emit in
      ([], ["--emit=c"], ["--emit=ast"])),
    *((["a.pmg", "-o", no_file],
       f"-o takes FILE.c, FILE for FILE.c and FILE.h, or - for the standard output, not '{no_file}'")
      for no_file in ("out.txt", "out.c/", "/dev/null", "/tmp")),
    *((["a.pmg", "-o", name], f"'{folder}.c' would be a hidden file; -o takes FILE.c") for name, folder in
      (("", ""), (".c", ""), ("sub/.c", "sub/"), (".hidden", ""))),
    (["a.pmg", "-o", 'a"b.c'],
     "'a\"b.h' cannot be included, with a quote or an end of line in its name; -o takes another"),
    (['a"b.pmg'], "'a\"b.h' cannot be included, with a quote or an end of line in its name; -o takes another"),
    *((["a.pmg", "-o", f"{name}.c"],
       f"'{name}.h' is the name of a header that generated code includes; -o takes another")
      for name in ("stdint", "math", "omp", "pmgrt", "pmgrt_cuda")),
    *((["a.pmg", f"--{name}=n=1", f"--{name}=m=2"], f"option '--{name}' is given twice: one takes all of its items")
      for name in ("with", "specialize")),
    (["a.pmg", "--schedule=best"], "--schedule takes auto, textual or isl, not 'best'"),
    (["a.pmg", "--parallel=yes"], "--parallel takes auto, on or off, not 'yes'"),
    *((["a.pmg", f"--{switch}=yes"], f"--{switch} takes on or off, not 'yes'") for switch in
      ("inline", "fuse", "swap", "storage", "restructure", "deterministic", "vector", "reciprocals",
       "columns", "overrides")),
    (["a.pmg", "--interleave=yes"], "--interleave takes on, wide, narrow or off, not 'yes'"),
    (["a.pmg", "--blas=yes"], "--blas takes on, off or auto, not 'yes'"),
    (["a.pmg", "--skip-zeros=yes"], "--skip-zeros takes auto, on or off, not 'yes'"),
    (["a.pmg", "--candidates=0"], "--candidates takes a number from 1 on"),
    (["a.pmg", "--isa=avx2"], "--isa takes native or all, not 'avx2'"),
    (["a.pmg", "--isa=all", "--target=cuda"], "--isa=all is for targets without a device, not 'cuda'"),
    (["a.pmg", "--message-format=xml"], "--message-format takes human, short or json, not 'xml'"),
    (["a.pmg", "--dump-after=x"], "--dump-after takes all, lower, build, a pass or a lowering, not 'x'; "
     "pmgc --help-passes lists them"),
    (["a.pmg", "--dump-after=prefetsh"], "--dump-after takes all, lower, build, a pass or a lowering, not 'prefetsh'; "
     "did you mean 'prefetch'?"),
]
ROW = re.compile(r'^OPTION\(\w+,\s*\w+,\s*"([^"]+)"', re.M)


def flags():
    return ROW.findall((ROOT / "compiler" / "driver" / "options.def").read_text())


def check_help(count):
    listed = flags()
    count("there are options", "" if len(listed) > 15 else f"{len(listed)}")
    texts = {form: pmgc(form).stdout.decode() for form in ("--help", "--help-man", "--help-markdown")}
    texts["--help-man"] = texts["--help-man"].replace("\\-", "-").replace("\\fB", "").replace("\\fR", "")
    shown = {"--help": "  {}", "--help-man": "\n.TP\n{}", "--help-markdown": "| `{}"}
    for form, text in texts.items():
        count.equal(f"{form}: left out", [flag for flag in listed if shown[form].format(flag) not in text], [])
    count("--help is as wide as a terminal", "\n".join(r for r in texts["--help"].splitlines() if len(r) > 120))
    listed = passes() + lowerings()
    count.equal("passes in the manual", [p for p in listed if f"\n.TP\n{p}\n" not in texts["--help-man"]], [])
    count("there are lowerings", "" if "prefetch" in lowerings() else f"{lowerings()}")


def check_manual(count):
    if not shutil.which("groff"):
        count.skipped += 1
        return
    done = subprocess.run(["groff", "-man", "-ww", "-Tascii", ROOT / "docs" / "pmgc.1"], capture_output=True)
    count("groff reads the manual", done.stderr.decode())


def check_wrong(count, folder):
    for arguments, said in WRONG:
        done = pmgc(*arguments, folder=folder)
        count.equal(" ".join(["pmgc", *arguments]), (done.returncode, done.stderr.decode().splitlines()[0]),
                    (2, f"pmgc: {said}"))
    count.equal("nothing was written", list(folder.iterdir()), [])


def check_files(count, folder):
    """What is written, where, and the status when that cannot be done."""
    (folder / "part.pmg").write_text("const N = 3;\n")
    (folder / "p.pmg").write_text('include "part.pmg";\npipeline p { out y : f64[N]; y[i] = i for i in 0..N; }\n')
    (folder / "sub").mkdir()
    count.equal("compiled", pmgc("p.pmg", "-o", "sub/q.c", "-MD", folder=folder).returncode, 0)
    for name in ("own.c", "own.h", "own.d"):
        shutil.copy(folder / "p.pmg", folder / name)
        run = pmgc(name, "-MD", folder=folder)
        count.equal(f"{name}: status", run.returncode, 2)
        count.equal(f"{name} stays", (folder / name).read_text(), (folder / "p.pmg").read_text())
        (folder / name).unlink()
    count.equal("files", sorted(p.name for p in (folder / "sub").iterdir()), ["q.c", "q.d", "q.h"])
    count.equal("dependencies", [os.path.normpath(p) for p in (folder / "sub" / "q.d").read_text().split()],
                ["sub/q.c", "sub/q.h:", "p.pmg", "part.pmg"])
    is_plain = '#include "q.h"' in (folder / "sub" / "q.c").read_text()
    count("the header is included by its name", "" if is_plain else "no")
    (folder / "half" / "q.c").mkdir(parents=True)
    done = pmgc("p.pmg", "-o", "half/q", "-MD", folder=folder)
    count.equal("all or none", (done.returncode, done.stderr.decode(), sorted((folder / "half").rglob("*"))),
                (4, "pmgc: cannot write 'half/q.c': Is a directory\n", [folder / "half" / "q.c"]))
    for arguments, status in ((["p.pmg", "-o", "none/q.c"], 4), (["none.pmg"], 4), (["sub"], 4)):
        count.equal(f"status of {arguments}", pmgc(*arguments, folder=folder).returncode, status)
    count.equal("a folder", pmgc(".", "-o", "q.c", folder=folder).stderr.decode(),
                "error[PMG0003]: cannot read '.': Is a directory\n"
                "      = help: one program is compiled at a time: name a file of that folder, FILE.pmg\n")
    for name, said in (("q", "there is no pipeline 'q'\n      = help: the program has smooth"),
                       ("smoth", "there is no pipeline 'smoth'\n      = help: did you mean 'smooth'?")):
        (folder / "smooth.pmg").write_text("pipeline smooth { out y : f64; y = 1; }\n")
        done = pmgc("smooth.pmg", "--emit=ir", f"--pipeline={name}", folder=folder)
        count.equal(f"--pipeline={name}", (done.returncode, done.stdout, done.stderr.decode()),
                    (1, b"", f"error[PMG0201]: {said}\n"))
    count.equal("a target that is none", pmgc("p.pmg", "--target=vax", folder=folder).returncode, 2)


def check_dependencies(count, folder):
    """make reads the names that FILE.d has, whatever they are."""
    program = "pipeline p { out y : f64; y = 1; }\n"
    for name in "a b", "a#b", "a$b", "a\\b", "a\\ b", "a\\\\ b":
        (folder / f"{name}.pmg").write_text(program)
        pmgc(f"{name}.pmg", "-o", f"{name}.c", "-MD", folder=folder)
        (folder / "Makefile").write_text("%.c:\n\t@echo '$@ of $<'\n" + (folder / f"{name}.d").read_text())
        os.utime(folder / f"{name}.c", (1, 1))
        done = subprocess.run(["make", "-s", f"{name}.c"], cwd=folder, capture_output=True, text=True, check=False)
        count.equal(f"dependencies of {name!r}", done.stdout, f"{name}.c of {name}.pmg\n")


def names_of_full(text):
    """Of arrays of the program, those that have this layout, by the head of the file."""
    lists = re.findall(r"^ \* - transpose of ([\w., ]+): full", text, re.M)
    return [name for names in lists for name in names.split(", ") if "." not in name]


def check_items(count, folder):
    """An item from outside takes the place of what the block says of its names."""
    (folder / "t.pmg").write_text("pipeline t { param n; in x : f64[n]; out y : f64[n]; y = exp(x);"
                                  " schedule { tile y (4); } }\n")
    text = pmgc("t.pmg", "--with=tile y (16)", "-o", "-", folder=folder).stdout.decode()
    count.equal("tiles", re.findall(r"_tile\d* \+= (\d+)", text), ["16"])
    (folder / "l.pmg").write_text("pipeline l { param m, n; in a, d : f64[m, n]; out x : f64[m, n];"
                                  " x = TriBatch(a, d, a, d); schedule { layout a, d : full; } }\n")
    for item, full in ("layout a : flat", ["d"]), ("layout d, a : flat", []), ("layout x : full", ["a", "d", "x"]):
        text = pmgc("l.pmg", f"--with={item}", "-o", "-", folder=folder).stdout.decode()
        count.equal(f"with {item}", names_of_full(text), full)


def check_asked(count, folder):
    """Where --with and --specialize end too early, what is shown is what was typed, and what is to be typed."""
    (folder / "t.pmg").write_text("pipeline t { param n; in x : f64[n]; out y : f64[n]; y = exp(x); }\n")
    for option, said in (
            ("--with=foo", ["--with:1:1: error[PMG0501]: unknown item of a schedule 'foo'", "    1 | foo",
                            "      | ^~~"]),
            ("--with=", ["--with:1:1: error[PMG0101]: there is no item of a schedule", "    1 | ", "      | ^",
                         '      = help: as in --with="fuse a, b; tile f (32, 256);"']),
            ("--with={ inline y; }", ["--with:1:1: error[PMG0101]: items stand here without a block around them",
                                      "    1 | { inline y; }", "      | ^~~~~~~~~~~~~",
                                      '      = help: as in --with="fuse a, b; tile f (32, 256);"']),
            ("--with=schedule { }", ["--with:1:1: error[PMG0101]: items stand here without a block around them",
                                     "    1 | schedule { }", "      | ^~~~~~~~~~~~"]),
            ("--with=inline y; tile", ["--with:1:11: error[PMG0101]: this is no whole item of a schedule",
                                       "    1 | inline y; tile", "      |           ^~~~",
                                       '      = help: as in --with="tile f (32, 256);"']),
            ("--with= ", ["--with:1:1: error[PMG0101]: there is no item of a schedule", "    1 |  ", "      | ^"]),
            ("--with=# hi", ["--with:1:1: error[PMG0101]: there is no item of a schedule", "    1 | # hi"]),
            ("--with=tile # why", ["--with:1:1: error[PMG0101]: this is no whole item of a schedule"]),
            ("--with=; ;", ["--with:1:1: error[PMG0101]: there is no item of a schedule", "    1 | ; ;", "      | ^"]),
            ("--specialize=;", ["--specialize:1:1: error[PMG0101]: a size and its value are needed", "    1 | ;",
                                "      | ^", "      = help: as in --specialize=n=96"]),
            ("--with=inline y; tile  ", ["--with:1:11: error[PMG0101]: this is no whole item of a schedule",
                                         "    1 | inline y; tile  ", "      |           ^~~~"]),
            ("--specialize=n", ["--specialize:1:1: error[PMG0101]: a size and its value are needed", "    1 | n",
                                "      | ^", "      = help: as in --specialize=n=96"])):
        done = pmgc("t.pmg", option, folder=folder)
        count.equal(option, (done.returncode, done.stderr.decode().splitlines()[:len(said)]), (1, said))
    for option in "--with=tile y (16);", "--specialize=n=4; ":
        count.equal(option, pmgc("t.pmg", option, folder=folder).returncode, 0)


# What is asked of a file with two pipelines, each of which does without what it does not know; the messages.
SHARED = [
    ("--with=tile y (4); tile z (4)", []),
    ("--specialize=m=4", []),
    ("--with=tile y (4); tile q (4)",
     ["--with:1:18: error[PMG0201]: there is no 'q' in the pipelines of the file", "    1 | tile y (4); tile q (4)",
      "      |                  ^", "      = help: here can stand x, y and z"]),
    ("--with=fuse y, zz; partition yy by chunk",
     ["--with:1:9: error[PMG0201]: there is no 'zz' in the pipelines of the file",
      "    1 | fuse y, zz; partition yy by chunk", "      |         ^~", "      = help: did you mean 'z'?",
      "--with:1:23: error[PMG0201]: there is no 'yy' in the pipelines of the file",
      "    1 | fuse y, zz; partition yy by chunk", "      |                       ^~",
      "      = help: did you mean 'y'?"]),
    ("--with=fuse y, z",
     ["--with:1:1: error[PMG0201]: no pipeline of the file has all these names", "    1 | fuse y, z",
      "      | ^~~~~~~~~"]),
    ("--with=tiel x (16)",
     ["--with:1:1: error[PMG0501]: unknown item of a schedule 'tiel'", "    1 | tiel x (16)", "      | ^~~~",
      "      = help: did you mean 'tile'?"]),
    ("--with=partition x by chunk",
     ["--with:1:1: error[PMG0502]: 'partition by chunk' fits nothing here", "    1 | partition x by chunk",
      "      | ^~~~~~~~~~~~~~~~~~~~",
      "      = note: no sum over it runs over the points of index arrays",
      "      = help: it needs 'reduce TARGET[INDEX[k], …] += … for k in 0..n' over arrays that are 'fixed in'; leave "
      "the item out"]),
    ("--specialize=k=3",
     ["--specialize:1:1: error[PMG0201]: there is no 'k' in the pipelines of the file", "    1 | k=3", "      | ^",
      "      = help: here can stand n and m"]),
    ("--specialize=M=3",
     ["--specialize:1:1: error[PMG0201]: there is no 'M' in the pipelines of the file", "    1 | M=3", "      | ^",
      "      = help: did you mean 'm'?"]),
    ("--specialize=x=3",
     ["--specialize:1:1: error[PMG0210]: 'x' is an array; only sizes and fixed trees are specialized", "    1 | x=3",
      "      | ^", "t.pmg:1:26: note: 'x' is declared here",
      "    1 | pipeline t { param n; in x : f64[n]; out y : f64[n]; y = exp(x); }",
      "      |                          ^"]),
    ("--specialize=n=k",
     ["--specialize:1:3: error[PMG0201]: unknown name 'k'", "    1 | n=k", "      |   ^"]),
    ('--specialize=x="no.swc"',
     ["--specialize:1:1: error[PMG0003]: cannot read 'no.swc': No such file or directory",
      '    1 | x="no.swc"', "      | ^~~~~~~~~~",
      "      = help: a name without '/' in front counts from the folder in which the command runs"]),
]


def check_shared(count, folder):
    (folder / "t.pmg").write_text("pipeline t { param n; in x : f64[n]; out y : f64[n]; y = exp(x); }\n"
                                  "pipeline u { param n, m; in x : f64[n, m]; out z : f64[n, m]; z = exp(x); }\n")
    for option, said in SHARED:
        done = pmgc("t.pmg", "-o", "-", option, folder=folder)
        status = 4 if "[PMG0003]" in str(said) else 1 if said else 0
        count.equal(option, (done.returncode, done.stderr.decode().splitlines()), (status, said))


def check_block_aside(count, folder):
    """--overrides=off leaves the block of the program aside, and not what is asked for with the program."""
    (folder / "t.pmg").write_text("pipeline t { param n; in x : f64[n]; out y : f64[n]; y = exp(x);\n"
                                  "    schedule { tile y (4); } }\n")
    for item, steps in (None, b"i++"), ("tile y (8)", b"i_tile += 8"):
        asked = ["--overrides=off", "-o", "-"] + ([f"--with={item}"] if item else [])
        done = pmgc("t.pmg", *asked, folder=folder)
        count.equal(f"block aside, {item}", (done.returncode, steps in done.stdout, b"i_tile += 4" in done.stdout),
                    (0, True, False))


def check_quote(count, folder):
    """C that would include a header whose name holds a quote is not printed; all else is."""
    (folder / 'a"b.pmg').write_text("pipeline t { param n; out y : f64[n]; y[i] = 1 for i in 0..n; }\n")
    said = "pmgc: 'a\"b.h' cannot be included, with a quote or an end of line in its name; give the program another"
    for text in (["-o", "-"], ["--emit=c"], ["--emit=cu", "--target=cuda"]):
        done = pmgc('a"b.pmg', *text, folder=folder)
        count.equal(f"a quote, {text}", (done.returncode, done.stdout, done.stderr.decode().splitlines()[:1]),
                    (2, b"", [said]))
    for text in "h", "ir":
        count.equal(f"a quote, {text}", pmgc('a"b.pmg', f"--emit={text}", folder=folder).returncode, 0)


def check_tree(count, folder):
    """A tree that is specialized without a file: how the option is typed, and what a machine puts there."""
    row = "pipeline t { param n; fixed in T : Tree(n); out y : f64[n]; y[i] = cast<f64>(T.parent[i]) for i in 0..n; }"
    (folder / "t.pmg").write_text(f"{row}\n")
    for value, marks, told, file in ("cells/cell.swc", "^" + "~" * 13, "write", "cells/cell.swc"), \
                                    ("4", "^", "as in", "cell.swc"):
        said = ["--specialize:1:3: error[PMG0210]: 'T' is a tree, which is specialized with the name of a file in "
                "quotes",
                f"    1 | T={value}", f"      |   {marks}",
                "t.pmg:1:32: note: 'T' is declared here", f"    1 | {row}", f"      | {'^':>32}",
                f"      = help: {told} --specialize='T=\"{file}\"'"]
        done = pmgc("t.pmg", f"--specialize=T={value}", folder=folder)
        count.equal(f"T={value}", (done.returncode, done.stderr.decode().splitlines()), (1, said))
        helps = messages("t.pmg", f"--specialize=T={value}", folder=folder)[0]["helps"]
        count.equal(f"T={value}: replacement", [h["replacement"] for h in helps],
                    [f'"{file}"' if told == "write" else None])


STEPS = """pipeline steps {
    param n, last;
    in a : f64[n];
    inout u : f64[n];
    out s : f64;
    iterate it in 0..last { next u[i] = 0.5*u[i] + a[i] for i in 0..n; }
    s = sum(i in 0..n) u[i];
}
pipeline one { out y : f64; y = 1; }
"""
KERNEL = """# one, for openmp
function entry static pmg_status one_kernel(plan: pmg_plan *, arguments: const void *, control: pmg_control *) @ 198-234
\tlet y: double *restrict = plan->data[0] @ 217-218
\tblank @ 198-234
\tcomment "/* pipeline one { out y : f64; y = 1; }    (s.pmg:9) */" @ 226-232
\ty[0] = 1.0
\tunused arguments @ 198-234
\tunused control
\treturn PMG_OK
"""
# Of the pipeline `one`, to the letter; of both, what has to be there.
STAGES = [
    ("dot", 'digraph "one" {\n\tarray0 [label = "y", style = bold];\n\tsubgraph cluster_0 {\n\t\tlabel = "one";\n'
     '\t\tgroup0 [shape = box, label = "y"];\n\t}\n\tgroup0 -> array0;\n}\n',
     ['label = "loop";\n\t\tgroup0 [shape = box, label = "next u"];', "array0 -> group0;", 'digraph "one"']),
    ("deps", "one\n prologue\n  strict: {  }\n  reduction: {  }\n",
     ["steps\n body\n  strict: {  }\n  reduction: {  }\n epilogue\n  strict: [n, last, it] -> { ", "S2[i] -> S2[i']"]),
    ("schedule", '# one, prologue\ndomain: "{ S0[] }"\nchild:\n  sequence:\n  - filter: "{ S0[] }"\n    child:\n'
     '      mark: "group(G0)"\n', ["# steps, body\n", "# steps, epilogue\n", 'mark: "loop(S0.0)"', "# one, "]),
    ("loops", "# one, prologue\n// group(G0)\nS0();\n",
     ["# steps, body\n// parallel\n", "for (int c0 = 0; c0 < n; c0 += 1)", "S2(c0);", "# one, prologue\n"]),
    ("kernel", KERNEL, ["# steps, for openmp\n", ", workshare, team, threads ", KERNEL]),
]


def check_stages(count, folder):
    """What --emit shows of the stages of a compilation, and that it shows nothing of what cannot be compiled."""
    (folder / "s.pmg").write_text(STEPS)
    (folder / "t.pmg").write_text("const N = 3;\n")
    (folder / "wrong.pmg").write_text("pipeline { }\n")
    (folder / "unknown.pmg").write_text("pipeline p { out y : f64; y = z; }\n")
    for stage, one, both in STAGES:
        count.equal(f"--emit={stage} of one", pmgc("s.pmg", f"--emit={stage}", "--pipeline=one",
                                                   folder=folder).stdout.decode(), one)
        text = pmgc("s.pmg", f"--emit={stage}", folder=folder).stdout.decode()
        count.equal(f"--emit={stage}: not there", [part for part in both if part not in text], [])
    count.equal("--emit=tokens", pmgc("t.pmg", "--emit=tokens", folder=folder).stdout.decode(),
                "t.pmg:1:1 word const\nt.pmg:1:7 name N\nt.pmg:1:9 symbol =\nt.pmg:1:11 integer 3\n"
                "t.pmg:1:12 symbol ;\nt.pmg:2:1 end of file\n")
    count.equal("--emit=ast", pmgc("t.pmg", "--emit=ast", folder=folder).stdout, b"const N = 3;\n")
    for name, status in ("wrong.pmg", 1), ("unknown.pmg", 1), ("none.pmg", 4):
        for stage in "ir", "deps", "c":
            done = pmgc(name, f"--emit={stage}", folder=folder)
            count.equal(f"{name}, --emit={stage}", (done.returncode, done.stdout), (status, b""))


def check_told(count, folder):
    """--time has a row for each pass and pipeline, and what comes behind them, --explain one for each decision."""
    (folder / "s.pmg").write_text(STEPS)
    rows = pmgc("s.pmg", "--candidates=1", "--time", "-o", "-", folder=folder).stderr.decode().splitlines()
    count.equal("--time", [row.split()[:2] for row in rows],
                [["(all)", "(parse)"], ["(all)", "(lower)"]] +
                [[pipeline, name] for pipeline in ("steps", "one") for name in passes() + ["(proof)"]] +
                [["(all)", "(loops)"], ["(all)", "(code)"]])
    count.equal("--time: no time", [row for row in rows if not re.search(r" \d+\.\d\d ms$", row)], [])
    rows = pmgc("s.pmg", "--time", "-o", "-", folder=folder).stderr.decode().splitlines()
    count.equal("--time: candidates", [row.split()[:2] for row in rows[-3:]],
                [["(all)", "(loops)"], ["(all)", "(candidates)"], ["(all)", "(code)"]])
    rows = pmgc("s.pmg", "--candidates=1", "--explain", "-o", "-", folder=folder).stderr.decode().splitlines()
    count.equal("--explain: pipelines", [row for row in rows if not row.startswith(" ")], ["steps", "one"])
    count("--explain", "" if any(re.match("  parallel +next u +parallel +.*s.pmg:6:", row) for row in rows) else rows)


def check_full(count, folder):
    """A text that does not fit where the standard output goes."""
    (folder / "t.pmg").write_text("pipeline t { param n; in x : f64[n]; out y : f64[n]; y = exp(x); }\n")
    for words in (["t.pmg", "--emit=ir"], ["--help"], ["explain"]):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([PMGC, *words], cwd=folder, stdout=full, stderr=subprocess.PIPE, check=False)
        count.equal(f"full: {words}", (done.returncode, done.stderr.decode()),
                    (4, "pmgc: cannot write to the standard output: No space left on device\n"))


def main():
    count = Count()
    check_help(count)
    check_manual(count)
    for check in (check_wrong, check_files, check_dependencies, check_items, check_asked, check_shared,
                  check_block_aside, check_quote, check_tree, check_stages, check_told, check_full):
        with tempfile.TemporaryDirectory() as folder:
            check(count, Path(folder))
    return count.close()


sys.exit(main())
