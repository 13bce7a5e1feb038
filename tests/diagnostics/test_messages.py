#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""--message-format: every wrong program of the tests says the same in all formats, JSON tells the truth about places,
and what it offers as a replacement mends the program.
With sanitizers only for --long: test_sema and test_mutate ask the front end."""
import json
import re
import resource
import sys
import tempfile
from collections import Counter
from pathlib import Path

from pmgc import IS_SANITIZED, ROOT, Count, messages, pmgc

WRONG = sorted(ROOT.glob("tests/*/err/*.pmg"))
HEAD = re.compile(r"(?:(?P<file>[^:]+):(?P<line>\d+):(?P<column>\d+): )?(?P<severity>error|warning|remark)"
                  r"\[(?P<code>PMG\d{4})\]: (?P<message>.*)")
KEYS = {"severity", "code", "message", "span", "labels", "helps"}

FUNCTIONS = """
acos acosh asin asinh atan atan2 atanh cbrt ceil copysign cosh erf erfc exp10 exp2 expm1 fabs fdim fma fmax fmin
fmod frexp gamma hypot ilogb isfinite isinf isnan j0 ldexp lgamma llrint llround log10 log1p log2 logb lrint
lround modf nearbyint nextafter nexttoward pow10 remainder remquo rint round scalbln scalbn signbit sinh tan
tgamma trunc y1 asinhf fabsf fminl log1pf arcsinh arccosh arctanh sigmoid relu softplus heaviside radians
degrees erfinv gammaln digamma
""".split()

# Wrong, and the whole of what it becomes when each replacement is put in.
MENDED = [
    ("near name", "pipeline p { param n; out y : f64[n]; y[i] = 1 for i in 0..m; }", None),
    ("type", "pipeline p { out y : f46; y = 1; }", "pipeline p { out y : f64; y = 1; }"),
    ("semicolon", "pipeline p { out y : f64; y = 1\n}", "pipeline p { out y : f64; y = 1;\n}"),
    ("semicolon before a brace", "pipeline p { out y : f64; y = 1 }", "pipeline p { out y : f64; y = 1; }"),
    ("semicolon before a comment", "pipeline p { out y : f64  # ;\n; y = 1 # one\n\n}",
     "pipeline p { out y : f64  # ;\n; y = 1; # one\n\n}"),
    ("semicolon before else",
     "pipeline p { param n; out y : f64[n]; y[i] = case { i == 0 : 1 else : 2; } for i in 0..n; }",
     "pipeline p { param n; out y : f64[n]; y[i] = case { i == 0 : 1; else : 2; } for i in 0..n; }"),
    ("semicolon at the end of a case",
     "pipeline p { param n; out y : f64[n]; y[i] = case { i == 0 : 1; else : 2 } for i in 0..n; }",
     "pipeline p { param n; out y : f64[n]; y[i] = case { i == 0 : 1; else : 2; } for i in 0..n; }"),
    ("in", "pipeline p { param n; out y : f64[n]; y[i] = 1 for i 0..n; }",
     "pipeline p { param n; out y : f64[n]; y[i] = 1 for i in 0..n; }"),
    ("in for =", "pipeline p { param n; out y : f64[n]; y[i] = sum(j = 0..n) 1 for i in 0..n; }",
     "pipeline p { param n; out y : f64[n]; y[i] = sum(j in 0..n) 1 for i in 0..n; }"),
    *[(f"= for {sign}", f"pipeline p {{ param n; out y : f64[n]; y[i] {sign} 1 for i in 0..n; }}",
       "pipeline p { param n; out y : f64[n]; y[i] = 1 for i in 0..n; }") for sign in ["==", ":=", "<-"]],
    ("bracket of a target", "pipeline p { param n; out y : f64[n]; y[i = 1 for i in 0..n; }",
     "pipeline p { param n; out y : f64[n]; y[i] = 1 for i in 0..n; }"),
    ("bracket of a type", "pipeline p { param n; out y : f64[n; y[i] = 1 for i in 0..n; }",
     "pipeline p { param n; out y : f64[n]; y[i] = 1 for i in 0..n; }"),
    ("bracket at the end of a line", "pipeline p { param n; out y : f64[n\n; y[i] = exp(i for i in 0..n; }",
     "pipeline p { param n; out y : f64[n]\n; y[i] = exp(i) for i in 0..n; }"),
    ("bracket behind brackets", "pipeline p { param n; in x : f64[n]; out y : f64[n]; y[i] = exp(x[i] for i in 0..n; }",
     "pipeline p { param n; in x : f64[n]; out y : f64[n]; y[i] = exp(x[i]) for i in 0..n; }"),
    ("brace of a case", "pipeline p { param n; out y : f64[n]; y[i] = case { i == 0 : 1; else : 2; for i in 0..n; }",
     "pipeline p { param n; out y : f64[n]; y[i] = case { i == 0 : 1; else : 2; } for i in 0..n; }"),
    ("brace of the pipeline", "pipeline p { out y : f64; y = 1;  # one\n",
     "pipeline p { out y : f64; y = 1;\n}  # one\n"),
    ("two", "pipeline p { out y : f46;\n out z : f64; y = 1.; z = y; }",
     "pipeline p { out y : f64;\n out z : f64; y = 1.0; z = y; }"),
    ("equality", "pipeline p { param n; out y : f64[n]; y[i] = case { i = 1 : 2; else : 3; } for i in 0..n; }",
     "pipeline p { param n; out y : f64[n]; y[i] = case { i == 1 : 2; else : 3; } for i in 0..n; }"),
    ("function", "pipeline p { in x : f64; out y : f64; y = sqt(x); }",
     "pipeline p { in x : f64; out y : f64; y = sqrt(x); }"),
    ("name behind characters of several bytes",
     "pipeline p { # \u00e9\u65e5\n\tin value : f64; out y : f64; y = valeu; }",
     "pipeline p { # \u00e9\u65e5\n\tin value : f64; out y : f64; y = value; }"),
    ("member", "pipeline p { param n, m; fixed in S : PHI_Tensor<f64>(n; row < m); out y : f64[m];"
     " reduce y[S.rwo[k]] += S.value[k] for k in 0..n; }",
     "pipeline p { param n, m; fixed in S : PHI_Tensor<f64>(n; row < m); out y : f64[m];"
     " reduce y[S.row[k]] += S.value[k] for k in 0..n; }"),
    ("each use of a name",
     "pipeline p { param n; in value : f64[n]; out y : f64[n]; y[i] = valeu[i]*valeu[i] for i in 0..n; }",
     "pipeline p { param n; in value : f64[n]; out y : f64[n]; y[i] = value[i]*value[i] for i in 0..n; }"),
    ("'default'", "pipeline p { param n; out y : f64[n]; y[i] = case { i == 0 : 2; default : 3; } for i in 0..n; }",
     "pipeline p { param n; out y : f64[n]; y[i] = case { i == 0 : 2; else : 3; } for i in 0..n; }"),
    ("construct", "pipeline p { param n, m; fixed in S : Phi_Tensor<f64>(n; row < m); out y : f64[m];"
     " reduce y[S.row[k]] += S.value[k] for k in 0..n; }",
     "pipeline p { param n, m; fixed in S : PHI_Tensor<f64>(n; row < m); out y : f64[m];"
     " reduce y[S.row[k]] += S.value[k] for k in 0..n; }"),
    ("item of a schedule", "pipeline p { out y : f64; y = 1; schedule { partitoin y by rows; } }",
     "pipeline p { out y : f64; y = 1; schedule { partition y by rows; } }"),
    ("infinity", "pipeline p { out y : f64; y = 1e999; }", "pipeline p { out y : f64; y = inf; }"),
]


# Wrong, and it is not known where what is missing belongs, or what is meant.
UNKNOWN = [
    "pipeline p { param n; out y : f64[n]; y[i] = 2*(i + 1 for i in 0..n; }",
    "pipeline p { param n; in x : f64[n]; out y : f64[n]; y[i] = x[i + 1 for i in 0..n; }",
    "pipeline p { param n; in x : f64[n]; out y : f64; y = sum(x[i] for i in 0..n); }",
    "pipeline p { param n; out y : f64[n]; y[i] = 1 for i of 0..n; }",
    "pipeline p { param n; state y : f64[n]; iterate t in 0..3 { next y[i] = 1 for i in 0..n;",
]


def place(text, offset):
    """Line and column of a byte, as messages count them."""
    before = text[:offset].split(b"\n")
    column = 0
    for c in before[-1].decode(errors="replace"):
        column = (column // 8 + 1) * 8 if c == "\t" else column + 1
    return len(before), column + 1


def span_complaint(folder, span):
    if span is None:
        return ""
    text = (folder / span["file"]).read_bytes()
    if not 0 <= span["start"] <= span["end"] <= len(text):
        return f"offsets outside the file: {span}"
    first, last = place(text, span["start"]), place(text, span["end"])
    if first != (span["line"], span["column"]) or last != (span["end_line"], span["end_column"]):
        return f"{span} is not at {first} to {last}"
    return ""


def in_formats(*arguments, **more):
    return [pmgc(*arguments, f"--message-format={form}", **more).stderr.decode() for form in ("human", "short", "json")]


def check_formats(count, program):
    """The three formats of one program: the same messages, at the same places."""
    name, folder = program.name, program.parent
    human, short, objects = in_formats(name, "-o", "-", "--remarks", folder=folder)
    heads = [row for row in human.splitlines() if HEAD.fullmatch(row)]
    rows = [json.loads(row) for row in objects.splitlines()]
    told = [{**HEAD.fullmatch(row).groupdict()} for row in short.splitlines()]
    count.equal(f"{name}: short is the first lines of human", short.splitlines(), heads)
    count(f"{name}: has messages", "" if rows else "none")
    count.equal(f"{name}: keys", [set(row) for row in rows], [KEYS] * len(rows))
    count.equal(f"{name}: json says what short says",
                [(r["severity"], r["code"], r["message"], r["span"] and str(r["span"]["line"]),
                  r["span"] and str(r["span"]["column"])) for r in rows],
                [(t["severity"], t["code"], t["message"], t["line"], t["column"]) for t in told])
    spans = [item["span"] for row in rows for item in [row, *row["labels"], *row["helps"]]]
    count(f"{name}: places", next(filter(None, (span_complaint(folder, s) for s in spans)), ""))
    notes = [item["message"] for row in rows for key in ("labels", "helps") for item in row[key] if item["message"]]
    count.equal(f"{name}: notes and helps", sorted(notes),
                sorted(re.findall(r"(?:note|help): (.*)$", human, re.M)))


def mend(text, rows):
    """The text with every replacement put in, from the back."""
    fixes = [help for row in rows for help in row["helps"] if help["replacement"] is not None]
    for fix in sorted(fixes, key=lambda fix: -fix["span"]["start"]):
        text = text[:fix["span"]["start"]] + fix["replacement"].encode() + text[fix["span"]["end"]:]
    return text, len(fixes)


def check_mended(count, folder):
    for name, wrong, right in MENDED:
        (folder / "p.pmg").write_text(wrong)
        rows = messages("p.pmg", folder=folder)
        text, n = mend(wrong.encode(), rows)
        count.equal(f"{name}: mended", (n > 0, text.decode()), (right is not None, right or wrong))
        (folder / "p.pmg").write_bytes(text)
        left = messages("p.pmg", "--overrides=off", folder=folder)
        count.equal(f"{name}: what is left", [row["message"] for row in left],
                    [] if right else ["unknown name 'm'"])


def check_unknown(count, folder):
    for wrong in UNKNOWN:
        (folder / "p.pmg").write_text(wrong)
        rows = messages("p.pmg", folder=folder)
        count.equal(f"{wrong}: replacements", (bool(rows), mend(wrong.encode(), rows)[1]), (True, 0))


def key(row):
    return row["code"], row["message"]


def check_every_fix(count, program):
    """A program of the tests with each replacement put in no longer has those mistakes."""
    rows = messages(program.name, folder=program.parent)
    text, n = mend(program.read_bytes(), rows)
    if not n or any(row["span"] and row["span"]["file"] != program.name for row in rows):
        return
    mended = Counter(key(row) for row in rows if any(help["replacement"] is not None for help in row["helps"]))
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / program.name).write_bytes(text)
        left = Counter(key(row) for row in messages(program.name, folder=folder))
    before = Counter(key(row) for row in rows)
    count.equal(f"{program.name}: still there when mended", {k for k in mended if left[k] > before[k] - mended[k]},
                set())


def check_functions(count, folder):
    """What stands for functions of libm, and of Python's libraries, is told of each."""
    for name in FUNCTIONS:
        (folder / "p.pmg").write_text(f"pipeline p {{ in x : f64; out y : f64; y = {name}(x); }}")
        (row,) = messages("p.pmg", folder=folder)
        advice = [help["message"] for help in row["helps"] if help["replacement"] is None]
        count.equal(f"{name}: unknown, with advice", (row["message"], len(advice)), (f"unknown function '{name}'", 1))


def check_limit(count, folder):
    """Twenty errors are shown, then how many more there are; warnings do not count."""
    body = "".join(f"    out y{i} : f64;\n    y{i} = nothing{i};\n" for i in range(23))
    (folder / "many.pmg").write_text("pipeline p {\n" + body + "}\n")
    human, short, objects = (text.splitlines() for text in in_formats("many.pmg", folder=folder))
    count.equal("short: errors shown", sum("error[" in row for row in short), 20)
    count.equal("human: errors shown", sum("error[" in row for row in human), 20)
    count.equal("json: errors shown", len(objects), 21)
    count.equal("the rest is counted", [human[-1], short[-1], json.loads(objects[-1])],
                ["3 more errors", "3 more errors", {"more_errors": 3}])


def check_strange_text(count, folder):
    """JSON whatever the program and its name hold."""
    name = 'a "b"\\ \n\u00e9.pmg'
    (folder / name).write_bytes(b'include "\xff\x01\xc3\xa9\xed\xa0\x80\\";\npipeline p { \x02 }\n')
    rows = messages(name, folder=folder)
    count("strange text: messages", "" if rows else "none")
    count.equal("strange text: name", {row["span"]["file"] for row in rows}, {name})
    count("strange text: what is not UTF-8", "" if "\ufffd" in rows[0]["message"] else rows[0]["message"])
    short = pmgc(name, "-o", "-", "--message-format=short", folder=folder).stderr.splitlines()
    count.equal("strange text: one line each", len(short), len(rows))


def check_memory(count, folder):
    """Memory that runs out is a message of its own, in each format, and exit status 5."""
    if IS_SANITIZED:
        count.skipped += 1
        return
    (folder / "large.pmg").write_text("const A = [" + "1, " * 2000000 + "1];\n")
    limit = 64 << 20
    for form in ("human", "short", "json"):
        done = pmgc("large.pmg", "--emit=ast", f"--message-format={form}", folder=folder,
                    preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)))
        told = done.stderr.decode()
        code = json.loads(told)["code"] if form == "json" else HEAD.fullmatch(told.strip())["code"]
        count.equal(f"out of memory, {form}", (code, done.returncode), ("PMG0002", 5))


def check_internal(count, folder):
    """PMG0001 and exit status 70: only a dump that was edited by hand gets there on purpose."""
    (folder / "p.pmg").write_text("pipeline p { param n; in x : f64[n]; out y : f64[n]; y = 2*x; }")
    dump = pmgc("p.pmg", "--emit=ir", folder=folder).stdout.decode()
    (folder / "p.ir").write_text(dump.replace("array y : out", "array y : in"))
    done = pmgc("p.ir", "-o", "-", "--message-format=json", folder=folder)
    count.equal("mistake of the compiler", (json.loads(done.stderr)["code"], done.returncode), ("PMG0001", 70))


def check_usage(count, folder):
    done = pmgc("--message-format=wrong", "x.pmg", folder=folder)
    count.equal("unknown format", (done.returncode, done.stderr.decode().splitlines()[0]),
                (2, "pmgc: --message-format takes human, short or json, not 'wrong'"))


def main():
    count = Count()
    count("there are wrong programs", "" if len(WRONG) > 100 else f"{len(WRONG)}")
    for program in WRONG[::12 if IS_SANITIZED else 1]:
        check_formats(count, program)
        check_every_fix(count, program)
    with tempfile.TemporaryDirectory() as folder:
        for check in (check_mended, check_unknown, check_functions, check_limit, check_strange_text, check_memory,
                      check_internal, check_usage):
            check(count, Path(folder))
    return count.close()


sys.exit(main())
