#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random valid programs: generate.py SEED COUNT [FIRST [KIND]] prints COUNT pipelines, named x_… (results are exact:
small integers in floating point, so that any order of a sum gives the same bits, or nothing that is added up), t_…
(compared with a tolerance) or s_… (with that of single precision).

Every program has the same inputs, over sizes n, m, p, and statements drawn from templates (basic.py, statements.py,
forms.py, systems.py) beside some that show the next rows of the tables of the language (deck.py). Of the KIND `items`
each has a schedule block of several items (items.py), `cuda` none; of `plain` half have a short one."""

import random
import re
import sys
from collections import Counter

import basic
import deck
import forms
import items
import statements
import systems
import typed
from known import KNOWN
from tables import NARROW, TYPES

INPUTS = """    fixed in off  : offsets(p)[n + 1];
    fixed in col  : index(m)[p];
    fixed in row  : index(n)[p];
    in       dyn  : index(n)[m];
    fixed in perm : index(m)[n] unique;
    fixed in srt  : index(n)[m] sorted;
    fixed in par  : index(n)[n] tree;
    fixed in PHI  : PHI_Tensor<f64>(p; atom < m, voxel < n, fiber < m);
    in Dict : f64[m, m];
    in a, b : f64[n];
    in c : f64[m];
    in v : f64[p];
    in A, B : f64[n, m];
    in F : f32[n];
    in I : i64[n];
""" + statements.INPUTS + forms.INPUTS + systems.INPUTS + typed.INPUTS

# What stands before all pipelines of a file.
PRELUDE = f"""include "{forms.INCLUDED}";
const CROSS = [[0, 1, 0], [1, -4, 1], [0, 1, 0]];
const LINE = [-1, 2, -1];
const HALF = 1.0/2;

"""

# Arrays of each shape that expressions may read; statements add theirs.
SHAPES = {"n": ["a", "b"], "m": ["c"], "p": ["v"], "nm": ["A", "B"]}
STATEMENTS = basic.STATEMENTS + statements.STATEMENTS + forms.STATEMENTS
LOOPS = basic.LOOPS + statements.LOOPS + forms.LOOPS

# Of programs one after the other: how many are exact, rows of the deck in each, the closeness of the others.
ROWS, CLOSE_EVERY, SINGLE_EVERY = {"plain": 7, "items": 1, "cuda": 4}, 8, 24


def used_inputs(inputs, text):
    """The declarations of what `text` uses, and of what these use themselves."""
    lines = []
    for line in reversed(inputs.splitlines()):
        head, _, tail = line.partition(":")
        names = [name.strip(",") for name in head.split() if name not in ("in", "fixed")]
        names = [name for name in names if re.search(rf"\b{name}\b", text)]
        if names:
            role = "fixed in" if "fixed" in head else "in"
            lines.append(f"    {role} {', '.join(names)} :{tail}")
    return "\n".join(reversed(lines)) + "\n"


class Program:
    def __init__(self, seed, number, kind):
        self.seed, self.number, self.kind = seed, number, kind
        self.rng = random.Random(f"{seed}/{number}/{kind}")
        self.reads = {shape: list(names) for shape, names in SHAPES.items()}
        self.declarations, self.body, self.counter = [], [], 0
        self.loop, self.scalars, self.items, self.head = None, "", "", ""
        self.covered, self.closeness = Counter(), "x"

    def fresh(self, stem):
        self.counter += 1
        return f"{stem}{self.counter}"

    def pick(self, *choices):
        return self.rng.choice(choices)

    def one_of(self, shape):
        """An array of the shape that is there already."""
        return self.rng.choice(self.reads[shape])

    # ---- what the program shows, and how its results are compared ----

    def cover(self, *row):
        self.covered[row] += 1

    def loosen(self, closeness):
        self.closeness = max(self.closeness, closeness, key="xts".index)

    def shuffled(self, rows, around):
        order = list(rows)
        random.Random(f"{self.seed}/{around}").shuffle(order)
        return order

    @staticmethod
    def tame(expressions, a, type_):
        """An integer that may be stored in this type, as far as that is right."""
        limits = TYPES[type_]
        if "constants wrap" in KNOWN and a.is_constant and not (limits.lo <= a.lo and a.hi <= limits.hi):
            return expressions.integer_read(expressions.rng.choice(NARROW))
        return a

    # ---- expressions at a point ----

    def read(self, vars_):
        """A read that is inside its array for any sizes, given variables as {name: size}."""
        options = ["literal"]
        for var, size in vars_.items():
            options += [("own", var, size)] * 3 + [("clamp", var, size), ("mirror", var, size)]
            if size == "m":
                options += [("dyn", var, size), ("srt", var, size)]
            if size == "n":
                options.append(("perm", var, size))
            if size == "p":
                options += [("col", var, size), ("row", var, size)]
        sizes = {size: var for var, size in vars_.items()}
        if "n" in sizes and "m" in sizes:
            options += ["matrix"] * 3
        choice = self.rng.choice(options)
        if choice == "literal":
            return str(self.rng.randint(-3, 3)) if self.rng.random() < 0.5 else f"{self.rng.randint(0, 3)}.0"
        if choice == "matrix":
            return f"{self.one_of('nm')}[{sizes['n']},{sizes['m']}]"
        how, var, size = choice
        own = self.one_of(size)
        shift = self.rng.randint(1, 2)
        return {
            "own": lambda: f"{own}[{var}]",
            "clamp": lambda: f"{own}[{self.pick(f'max({var}-{shift}, 0)', f'min({var}+{shift}, {size}-1)')}]",
            "mirror": lambda: f"{own}[{size}-1-{var}]",
            "dyn": lambda: f"{self.one_of('n')}[dyn[{var}]]",
            "srt": lambda: f"{self.one_of('n')}[srt[{var}]]",
            "perm": lambda: f"{self.one_of('m')}[perm[{var}]]",
            "col": lambda: f"{self.one_of('m')}[col[{var}]]",
            "row": lambda: f"{self.one_of('n')}[row[{var}]]",
        }[how]()

    def expr(self, vars_, depth=2):
        if depth == 0 or self.rng.random() < 0.25:
            return self.read(vars_)
        left, right = self.expr(vars_, depth - 1), self.expr(vars_, depth - 1)
        return self.rng.choice([
            f"({left} + {right})", f"({left} - {right})", f"{left}*{self.read(vars_)}",
            f"min({left}, {right})", f"max({left}, {right})", f"abs({left})",
            f"select({left} < {right}, {left}, {right})", f"(-{left})",
        ])

    def condition(self, var, size):
        return self.rng.choice([
            f"{var} == 0", f"{var} < {size}-1", f"{var} % 2 == 0", f"{var} >= 2 and {var} < {size}-2",
            f"not {var} == 1", f"{var} == 0 or {var} == {size}-1", f"n == m", f"{var} < m",
        ])

    # ---- statements ----

    def declare(self, role, name, shape, type_="f64", init=""):
        dims = {"n": "[n]", "m": "[m]", "p": "[p]", "nm": "[n, m]", "": ""}[shape]
        self.declarations.append(f"    {role} {name} : {type_}{dims}{init};")

    def add(self, text):
        self.body.append(text)

    def output(self, shape, type_="f64"):
        name = self.fresh("y")
        self.declare("out", name, shape, type_)
        return name

    def done(self, name, shape):
        if shape in self.reads:
            self.reads[shape].append(name)

    def start_loop(self, x, type_, value):
        """A loop with one state of this type; if there is a loop already, a copy of the value."""
        self.declare("out", f"last{x}", "n", type_)
        if self.loop:
            self.add(f"last{x}[i] = {value} for i in 0..n;")
            return
        self.add(f"func first{x}[i in 0..n] : {type_} = {value};")
        self.declare("state", x, "n", type_, f" = first{x}")
        self.loop = (f"    iterate it in 0..{self.pick('2', '3', 'min(m, 4)')} {{\n"
                     f"        next {x}[i] = {x}[{self.pick('n-1-i', 'max(i-1, 0)', 'i')}] for i in 0..n;\n    }}\n"
                     f"    last{x} = {x};\n")

    # ---- the text ----

    def text(self):
        if not any(line.strip().startswith(("out", "inout")) for line in self.declarations):
            basic.whole(self)
        body = "".join(f"    {line}\n" for line in self.body)
        declared = "\n".join(self.declarations)
        block = items.schedule(self, self.arrays(declared + body), declared + body)
        used = self.head + declared + body + (self.loop or "") + block
        inputs = "    param n, m, p;\n" + self.scalars + used_inputs(INPUTS, used)
        known = f"    specialize {self.pick('n', 'm', 'p')} = {self.pick('1', '3', '4', '8', '16', '2*4', '33')};\n"
        known = self.head + (known if self.rng.random() < 0.1 and "specialize" not in self.head else "")
        return (f"pipeline {self.closeness}_{self.number} {{\n{inputs}{declared}\n{known}\n{body}"
                f"{self.loop or ''}{block}}}\n")

    @staticmethod
    def arrays(text):
        """(name, number of dims, whether it is an argument) of what the program defines."""
        found = [(name, dims.count(",") + 1, role != "temp")
                 for role, name, dims in re.findall(r"\b(out|inout|temp) (\w+) : \w+\[([^\]]*)\]", text)]
        return found + [(name, dims.count(",") + 1, False)
                        for name, dims in re.findall(r"func (\w+)\[([^\]]*)\]", text)]


def close_program(made):
    """Of functions of floats, and of systems."""
    turn, is_single = made.number//CLOSE_EVERY, made.number % SINGLE_EVERY == CLOSE_EVERY - 1
    turn = made.number//SINGLE_EVERY if is_single else turn - made.number//SINGLE_EVERY - 1
    made.loosen("s" if is_single else "t")
    deck.deal(made, deck.CLOSE[is_single], 8*turn, 8)
    systems.write(made, "f32" if is_single else "f64", turn)


def program(seed, number, kind):
    made = Program(seed, number, kind)
    if number % CLOSE_EVERY == CLOSE_EVERY - 1:
        close_program(made)
        return made
    deck.deal(made, deck.EXACT, ROWS[kind]*(number - number//CLOSE_EVERY), ROWS[kind])
    for _ in range(made.rng.randint(1, 3 + 2*(kind == "items"))):
        made.rng.choice(STATEMENTS)(made)
    if not made.loop and made.rng.random() < 0.25:
        made.rng.choice(LOOPS)(made)
    return made


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    kind = sys.argv[4] if len(sys.argv) > 4 else "plain"
    print(PRELUDE, end="")
    for number in range(first, first + count):
        print(program(seed, number, kind).text())


if __name__ == "__main__":
    main()
