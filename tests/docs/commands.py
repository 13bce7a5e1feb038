# SPDX-License-Identifier: MIT
"""Blocks of documents that cannot be run, by what can be told of them without running: a shell's by its grammar, and by
the programs, options, goals and files that it names; Python's by its grammar."""
import re
import shlex
import subprocess
from functools import lru_cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ASSIGNMENT = re.compile(r"\w+=")
GOALS = set(re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.M))
OURS = "pmg", "pmgc"


@lru_cache(maxsize=None)
def help_of(build, *command):
    """What a program says of its options; 'pmg run' passes on those of pmgc, and 'pmg bench' those of 'pmg run'."""
    program = ROOT / build / command[0]
    text = subprocess.run([program, *command[1:], "--help"], stdout=subprocess.PIPE, text=True).stdout
    if command[:2] == ("pmg", "bench"):
        text += help_of(build, "pmg", "run")
    return text + (help_of(build, "pmgc") if command == ("pmg", "run") else "")


def subcommand(words):
    """pmg and the names of the command behind it: up to two words, as far as there is one called so."""
    if words[0] == "pmgc":
        return "pmgc",
    deep = words[1] in ("life", "bench", "hines", "phantom", "import") and len(words) > 2
    return tuple(words[:3 if deep and re.fullmatch(r"[a-z]+", words[2]) else 2])


def wrong_options(words, text):
    flags = [word.split("=")[0] for word in words if re.match(r"--?[a-zA-Z]", word)]
    return [flag for flag in flags if not re.search(rf"(?<![\w-]){re.escape(flag)}(?![\w-])", text)]


def wrong_in_file(words):
    path = next((word for word in words if "/" in word), "")
    source = ROOT / re.sub(r"^build(-\w+)?/", "", path)
    if "/" not in path or path.startswith("./") or source.with_suffix(".c").is_file():
        return ""
    if not source.is_file():
        return f"there is no {path}"
    wrong = wrong_options(words[words.index(path) + 1:], source.read_text())
    return f"{path} has no {', '.join(wrong)}" if wrong else ""


def wrong_in_command(words, build):
    while words and (ASSIGNMENT.match(words[0]) or words[0] == "export"):
        words = words[1:]
    if not words:
        return ""
    if words[0] == "make":
        goals = [word for word in words[1:] if "=" not in word and not word.startswith("-")]
        return "".join(f"make has no goal {goal}" for goal in goals if goal not in GOALS)
    if words[0] in OURS:
        command = subcommand(words)
        wrong = wrong_options(words[len(command):], help_of(build, *command))
        return f"{' '.join(command)} has no {', '.join(wrong)}" if wrong else ""
    return wrong_in_file(words) if "/" in words[0] or words[0].startswith("python") else ""


def wrong_in_shell(text, build):
    """What is wrong with a block of commands; empty: nothing."""
    done = subprocess.run(["bash", "-n"], input=text, stderr=subprocess.PIPE, text=True)
    if done.returncode:
        return done.stderr
    complaints = []
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        while words:
            end = words.index("&&") if "&&" in words else len(words)
            complaints.append(wrong_in_command(words[:end], build))
            words = words[end + 1:]
    return "\n".join(filter(None, complaints))


def wrong_in_python(text):
    try:
        compile(text, "block", "exec")
    except SyntaxError as error:
        return str(error)
    return ""
