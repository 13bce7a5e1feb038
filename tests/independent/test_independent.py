# SPDX-License-Identifier: MIT
"""Whether programs mean what docs/language.md says: programs drawn from its grammar and its rules by a generator that
shares nothing with tests/random, what they give by an evaluator in plain Python that knows nothing of the compiler, and
what the interpreter and compiled code give, with and without items of a schedule block, at several sizes.

    test_independent.py                     12 programs
    test_independent.py SEED FIRST-LAST     these; with PMG_TEST_LONG and without programs named, 2000
    PMG_TEST_KEEP=FOLDER                    keeps what is generated

Its C is not optimised: what is asked is the compiler. Not with sanitizers: Python loads what is compiled."""
import os
import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import campaign     # noqa: E402

QUICK, LONG = (61, range(12)), (61, range(2000))


def chosen(arguments):
    if len(arguments) == 2:
        first, _, last = arguments[1].partition("-")
        return int(arguments[0]), range(int(first), int(last or first) + 1)
    return LONG if "PMG_TEST_LONG" in os.environ else QUICK


def main():
    seed, numbers = chosen(sys.argv[1:])
    done = campaign.Campaign(seed, Path(os.environ.get("BUILD", "build")).resolve())
    size = 24
    for first in range(numbers.start, numbers.stop, size):
        done.batch(range(first, min(first + size, numbers.stop)))
    print(done.summary())
    print(f"{done.passed} passed, {done.failed} failed")
    return 1 if done.failed or not (done.passed or done.counts["programs given up"]) else 0


def deep():
    """Cells ask for one another: recurrences are as deep as they are long."""
    sys.setrecursionlimit(200000)
    threading.stack_size(512 << 20)
    status = []
    t = threading.Thread(target=lambda: status.append(main()))
    t.start()
    t.join()
    return status[0] if status else 1


sys.exit(deep())
