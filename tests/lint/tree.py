# SPDX-License-Identifier: MIT
"""The files of the tree (what git knows or would add), their text, and the exceptions to the rules."""
import functools
import os
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
C_SUFFIXES = (".c", ".h", ".l", ".y")


class Tree:
    def __init__(self):
        listed = subprocess.run(["git", "ls-files", "-co", "--exclude-standard", "-z"], cwd=ROOT,
                                capture_output=True, check=True).stdout.decode()
        self.files = sorted(f for f in listed.split("\0") if f and (ROOT / f).is_file())
        self.build = ROOT / os.environ.get("BUILD", "build")

    def select(self, *suffixes, under=("",), but=("generated/",)):
        """Files with one of the suffixes below one of the folders, without those below `but`."""
        return [f for f in self.files
                if f.endswith(suffixes or ("",)) and f.startswith(tuple(under)) and not f.startswith(tuple(but))]

    @functools.lru_cache(maxsize=None)
    def text(self, name):
        """"" for what is not text."""
        try:
            return (ROOT / name).read_text()
        except UnicodeDecodeError:
            return ""

    def lines(self, name):
        return self.text(name).split("\n")


class Exceptions:
    """Rows `check  beginning of the finding  # reason`."""

    def __init__(self, path):
        self.rows = {}
        for number, row in enumerate(path.read_text().splitlines(), 1):
            rule, _, reason = row.partition("#")
            if rule.strip() and not reason.strip():
                raise SystemExit(f"{path.name}:{number}: no reason")
            if rule.strip():
                check, _, place = rule.strip().partition(" ")
                self.rows[(check, place.strip())] = False

    def excuse(self, check, finding):
        for rule, place in self.rows:
            if rule == check and finding.startswith(place):
                self.rows[(rule, place)] = True
                return True
        return False

    def unused(self):
        return [" ".join(row) for row, used in self.rows.items() if not used]
