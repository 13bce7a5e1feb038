#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""How often an iteration of generated/sbbnnls.c goes over each vector, besides in the products with the tensor: at most
twice, in even and in odd iterations, and three times over the gradient, which is updated in place. What is counted are
outermost loops that mention the vector.
Not with sanitizers: nothing of ours runs."""
import re
import sys
from pathlib import Path

FILE = Path("generated/sbbnnls.c")
MOST, MOST_OF_GRADIENT = 2, 3
EVEN = "if (pmg_mod(it, 2) == 0) {"


def functions(text):
    return {m[1]: m[2] for m in re.finditer(r"^static \w+ (\w+)\([^)]*\)\n\{\n(.*?)^\}", text, re.M | re.S)}


def called_in_loop(kernel):
    loop = kernel[kernel.index("pmg_loop_begin"):]
    return re.findall(r"^\t\t(\w+)\(plan", loop[:loop.index("\n\t}")], re.M)


def block(lines, at):
    """Up to the line that closes what the line opens: its indentation again. One statement has no braces."""
    indent = lines[at][:len(lines[at]) - len(lines[at].lstrip())]
    if not lines[at].endswith("{"):
        end = next(i for i in range(at + 1, len(lines)) if not lines[i].startswith(indent + "\t"))
        return lines[at + 1:end], end - 1
    end = next(i for i in range(at + 1, len(lines)) if lines[i].startswith(indent + "}"))
    return lines[at + 1:end], end


def sweeps(lines, is_even):
    """The texts of the outermost loops that run in such an iteration."""
    found, at = [], 0
    while at < len(lines):
        text = lines[at].strip()
        if text.startswith("for ("):
            inside, at = block(lines, at)
            found.append("\n".join(inside))
            at += 1
        elif text == EVEN:
            inside, at = block(lines, at)
            if is_even:
                found += sweeps(inside, is_even)
            if lines[at].strip() == "} else {":
                inside, at = block(lines, at)
                if not is_even:
                    found += sweeps(inside, is_even)
        else:
            at += 1
    return found


def vectors(body):
    """Arrays that the function reads or writes at a variable."""
    names = re.findall(r"(\w+) = plan->data\[\d+\][,;]", body)
    return [name for name in names if re.search(rf"\b{name}\[[a-z]", body)]


def main():
    parts = functions(FILE.read_text())
    steps = [parts[name] for name in called_in_loop(parts["sbbnnls_kernel"]) if name in parts]
    others = [body for body in steps if "PHI_" not in body]
    passed = failed = 0
    counted = set()
    for is_even in (True, False):
        counts = {}
        for body in others:
            for sweep in sweeps(body.splitlines(), is_even):
                for name in vectors(body):
                    counts[name] = counts.get(name, 0) + bool(re.search(rf"\b{name}\[", sweep))
        for name, count in counts.items():
            most = MOST_OF_GRADIENT if name == "g" else MOST
            passed, failed = passed + (count <= most), failed + (count > most)
            if count > most:
                print(f"{count} passes over {name} in {'even' if is_even else 'odd'} iterations")
        counted |= set(counts)
    for condition, what in [(len(steps) - len(others) == 4, "four products"),
                            (set("xgsdvr") <= counted, f"the vectors are found: {sorted(counted)}")]:
        passed, failed = passed + condition, failed + (not condition)
        if not condition:
            print("does not hold:", what)
    print(f"{passed} passed, {failed} failed")
    return failed != 0


sys.exit(main())
