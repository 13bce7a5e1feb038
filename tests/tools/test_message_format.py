#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pmg run --message-format`: messages of the compiler and of the command itself in each format.
Its C is not optimised.
With sanitizers only for --long: test_usage asks messages."""
import json
import os
import subprocess
import tempfile
from pathlib import Path

PMG = str(Path(os.environ.get("PMG") or Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
RESULTS = {"passed": 0, "failed": 0}
KEYS = ["severity", "code", "message", "span", "labels", "helps"]

WRONG = "pipeline p {\n    param n;\n    out y : f64[n];\n    y[i] = z[i] for i in 0..n;\n}\n"
SERIAL = """pipeline serial {
    param n;
    assume n >= 1;
    in x : f64[n];
    out y : f64[n];
    y[0] = x[0];
    y[i] = 0.5*y[i-1] + x[i] for i in 1..n;
}
"""
COUNTS = """pipeline counts {
    param n, m;
    fixed in T : PHI_Tensor<f64>(n; at < m, to < m);
    out y : f64[m];
    reduce y[T.at[k]] += T.value[k] for k in 0..n;
}
"""


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print(f"FAILED: {what}")


def run(*words):
    return subprocess.run([PMG, "run", *map(str, words)], capture_output=True, text=True, check=False)


def objects(result):
    """The messages, each of which has all keys."""
    found = [json.loads(line) for line in result.stderr.splitlines()]
    check(found and all(list(message) == KEYS for message in found), result.stderr)
    return found


def in_each_format(*words):
    results = [run(*words, f"--message-format={name}") for name in ("human", "short", "json")]
    check(len({result.returncode for result in results}) == 1, "the status does not depend on the format")
    return results


def of_the_program():
    human, short, machine = in_each_format("wrong.pmg", "n=3")
    check(human.returncode == 1 and "    4 |     y[i] = z[i] for" in human.stderr, human.stderr)
    check(short.stderr.startswith("wrong.pmg:4:12: error[PMG0201]: ") and "|" not in short.stderr, short.stderr)
    first, last = objects(machine)
    check(first["code"] == "PMG0201" and first["span"]["line"] == 4, first)
    check(last["message"] == "'wrong.pmg' has errors" and last["span"] is None, last)


def of_the_call():
    """A help and notes are lines of the text, in short left out, else members of their own."""
    human, short, machine = in_each_format("serial.pmg", "x=random:1", "n=4", "z=random:1")
    first, help_ = human.stderr.splitlines()
    check(human.returncode == 2 and help_.startswith("  help: "), human.stderr)
    check(short.stderr == first + "\n", short.stderr)
    message, = objects(machine)
    check("pmg run: " + message["message"] == first and message["severity"] == "error", message)
    check(message["helps"] == [{"message": help_[8:], "span": None, "replacement": None}], message)
    Path("x.txt").write_text("1\n2\n3\n")
    human, short, machine = in_each_format("serial.pmg", "x=x.txt", "n=4")
    message, = objects(machine)
    lines = human.stderr.splitlines()
    check(human.returncode != 0 and len(message["labels"]) + len(message["helps"]) == len(lines) - 1, human.stderr)
    quoted = run("no \"file\".pmg", "--message-format", "json")
    check('no "file".pmg: cannot open' in objects(quoted)[0]["message"], quoted.stderr)


def besides():
    remarks = objects(run("serial.pmg", "x=random:1", "n=4", "--remarks", "--message-format=json"))
    check({remark["severity"] for remark in remarks} == {"remark"} and remarks[-1]["span"]["line"] == 7, remarks)
    Path("wisdom").write_text("a shopping list\n")
    words = ["counts.pmg", "T=random:1", "n=4", "m=3", "--tune=measure", "--wisdom", "wisdom"]
    note, = objects(run(*words, "--message-format=json"))
    check(note["severity"] == "note" and note["message"].startswith("'wisdom' is no wisdom"), note)
    check(run(*words).stderr == f"pmg run: note: {note['message']}\n", "the same note")
    failed = run("serial.pmg", "x=random:1", "n=4", "--cc", "false", "--message-format=json")
    check(failed.returncode == 7 and objects(failed)[-1]["severity"] == "error", failed.stderr)
    failed = run("serial.pmg", "x=random:1", "n=4", "--cc", "gcc --no-such-flag", "--message-format=json")
    check("no-such-flag" in objects(failed)[0]["message"], failed.stderr)
    xml = run("serial.pmg", "x=random:1", "n=4", "--message-format=xml")
    check(xml.returncode == 2 and
          xml.stderr == "pmg run: --message-format takes human, short or json, not 'xml'\n", xml.stderr)


def main():
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        Path("wrong.pmg").write_text(WRONG)
        Path("serial.pmg").write_text(SERIAL)
        Path("counts.pmg").write_text(COUNTS)
        for test in of_the_program, of_the_call, besides:
            test()
        os.chdir(here)
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return RESULTS["failed"] > 0


raise SystemExit(main())
