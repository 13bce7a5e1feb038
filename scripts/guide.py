#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Keeps the blocks of the documents that show the output of a command current.

Such a block is a command of bash, run in the root of the tree with the build folder on the path and $T an empty folder,
and the fence behind it, whose content is replaced by what the command prints. The command is shown, or in a comment:

    `$ pmgc --emit=ir dsl_examples/prefix.pmg`
    ```text
    …
    ```

    <!-- $ sed -n '4,11p' dsl_examples/prefix.pmg -->
    ```pmg
    …
    ```

    scripts/guide.py [--check] [FILE...]        # without FILE: README.md, tests/README.md and docs/*.md
"""
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(r"(?P<head>(?:<!-- \$ (?P<hidden>.*?) -->|^`\$ (?P<command>[^`\n]+)`)\n```[\w-]*\n)(?P<shown>.*?)"
                   r"(?P<tail>^```$)", re.M | re.S)


def output(command):
    build = ROOT / os.environ.get("BUILD", "build")
    with tempfile.TemporaryDirectory() as folder:
        env = dict(os.environ, PATH=f"{build}:{os.environ['PATH']}", LC_ALL="C", T=folder)
        done = subprocess.run(["bash", "-c", "set -o pipefail\n" + command], cwd=ROOT, env=env, capture_output=True,
                              text=True)
    if done.returncode not in (0, 141):     # a reader like head may stop early
        sys.exit(f"{command}: exit status {done.returncode}\n{done.stderr}")
    text = done.stdout + done.stderr
    if not text:
        sys.exit(f"{command}: prints nothing")
    return text if text.endswith("\n") else text + "\n"


def current(text):
    return BLOCK.sub(lambda found: found["head"] + output(found["command"] or found["hidden"]) + found["tail"], text)


def main(arguments):
    check = "--check" in arguments
    names = [name for name in arguments if name != "--check"]
    paths = [Path(name) for name in names] or [ROOT / "README.md", ROOT / "tests" / "README.md",
                                               *sorted((ROOT / "docs").glob("*.md"))]
    stale = 0
    for path in paths:
        text = path.read_text()
        new = current(text)
        if new != text and check:
            print(f"{path.name} shows what a command no longer prints; run scripts/guide.py", file=sys.stderr)
            stale += 1
        elif new != text:
            path.write_text(new)
    return int(stale > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
