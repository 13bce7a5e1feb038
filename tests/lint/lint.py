# SPDX-License-Identifier: MIT
"""The rules of docs/STYLE.md that a script can check. `make lint`.

Each check is a function in CHECKS that yields findings: a place and a sentence. It counts as one test. Exceptions
are rows of tests/lint/exceptions, each with its reason; one that excuses nothing is a finding too.
"""
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import arrows   # noqa: E402
import objects  # noqa: E402
import sizes    # noqa: E402
import tables   # noqa: E402
import targets  # noqa: E402
import text     # noqa: E402
from tree import Exceptions, Tree   # noqa: E402

CHECKS = arrows.CHECKS + sizes.CHECKS + text.CHECKS + tables.CHECKS + objects.CHECKS + targets.CHECKS


def main():
    tree = Tree()
    exceptions = Exceptions(Path(__file__).parent / "exceptions")
    failed = 0
    for check in CHECKS:
        findings = [f for f in check(tree) if not exceptions.excuse(check.__name__, f)]
        for finding in findings:
            print(f"{check.__name__}: {finding}")
        failed += bool(findings)
    unused = exceptions.unused()
    for row in unused:
        print(f"tests/lint/exceptions: excuses nothing: {row}")
    failed += bool(unused)
    print(sizes.summary(tree))
    print(f"{len(CHECKS) + 1 - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
