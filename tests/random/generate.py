#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Random valid programs: generate.py SEED COUNT [FIRST] prints COUNT pipelines, named x_… (results are exact: small
integers in floating point, so that any order of a sum gives the same bits) or t_… (with divisions, compared with a
tolerance).

Every program has the same inputs, over sizes n, m, p, and 2 to 6 statements drawn from templates: element-wise and
shifted functions, `case`, reductions with affine and indirect targets, ragged ranges, recurrences over rows,
segments and trees, states in a loop, and every construct."""

import random
import re
import sys

import statements
from statements import I1, IJ, J1, K1, KI, KJ

INPUTS = """    param n, m, p;
    fixed in off  : offsets(p)[n + 1];
    fixed in col  : index(m)[p];
    fixed in row  : index(n)[p];
    in       dyn  : index(n)[m];
    fixed in perm : index(m)[n] unique;
    fixed in srt  : index(n)[m] sorted;
    fixed in par  : index(n)[n] tree;
    fixed in PHI  : PHI_Tensor<f64>(p; atom < m, voxel < n, fiber < m);
    in a, b : f64[n];
    in c : f64[m];
    in v : f64[p];
    in A, B : f64[n, m];
    in F : f32[n];
    in I : i64[n];
""" + statements.INPUTS

# Arrays of each shape that expressions may read; statements add theirs.
SHAPES = {"n": ["a", "b"], "m": ["c"], "p": ["v"], "nm": ["A", "B"]}


def used_inputs(inputs, text):
    """The declarations of what `text` uses, and of what these use themselves (sizes are kept)."""
    lines = []
    for line in reversed(inputs.splitlines()):
        head, _, tail = line.partition(":")
        if not _ or "param" in head:
            lines.append(line)
            continue
        words = head.split()
        names = [name.strip(",") for name in words if name not in ("in", "fixed")]
        names = [name for name in names if re.search(rf"\b{name}\b", text)]
        if names:
            role = " ".join(word for word in words if word in ("in", "fixed"))
            role = "fixed in" if "fixed" in role else "in"
            lines.append(f"    {role} {', '.join(names)} :{tail}")
    return "\n".join(reversed(lines)) + "\n"


class Program:
    def __init__(self, rng, name):
        self.rng, self.name = rng, name
        self.reads = {shape: list(names) for shape, names in SHAPES.items()}
        self.declarations, self.body, self.counter = [], [], 0
        self.loop, self.scalars, self.items = None, "", ""

    def fresh(self, stem):
        self.counter += 1
        return f"{stem}{self.counter}"

    def pick(self, *choices):
        return self.rng.choice(choices)

    def one_of(self, shape):
        """An array of the shape that is there already."""
        return self.rng.choice(self.reads[shape])

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

    def elementwise(self):
        shape = self.pick("n", "m")
        name = self.fresh("e")
        operands = self.reads[shape]
        x, y = self.rng.choice(operands), self.rng.choice(operands)
        self.add(f"temp {name} : f64[{shape}] = "
                 + self.pick(f"{x} + 2*{y}", f"max({x} - {y}, 0)", f"select({x} > {y}, {x}, -{y})", f"abs({x})"))
        self.body[-1] += ";"
        self.done(name, shape)

    def function(self):
        name = self.fresh("f")
        if self.rng.random() < 0.5:
            self.add(f"func {name}[i in 0..n] : f64 = {self.expr(I1)};")
            self.done(name, "n")
        else:
            self.add(f"func {name}[i in 0..n, j in 0..m] : f64 = {self.expr(IJ)};")
            self.done(name, "nm")

    def shrinking(self):
        name, y = self.fresh("g"), self.output("n")
        self.add(f"func {name}[i in 1..n-1] : f64 = "
                 f"stencil({self.one_of('n')}[i], [1, {self.rng.randint(-2, 2)}, 1]);")
        self.add(f"{y}[i] = case {{ i >= 1 and i < n-1 : {name}[i]; else : {self.expr(I1, 1)}; }} for i in 0..n;")
        self.done(y, "n")

    def cases(self):
        first, second = self.condition("i", "n"), self.condition("j", "m")
        y, tail = self.fresh("y"), f"else : {self.expr(IJ, 1)}; "
        if self.rng.random() < 0.3:
            tail = ""
        self.declare("out" if tail else "inout", y, "nm")
        self.add(f"{y}[i,j] = case {{ {first} : {self.expr(IJ, 1)}; "
                 f"{second} : {self.expr(IJ, 1)}; {tail}}} for i in 0..n, j in 0..m;")
        self.done(y, "nm")

    def triangle(self):
        y = self.output("n")
        op = self.pick("sum", "max", "min")
        self.add(f"func t{y}[i in 0..n, j in 0..i] : f64 = {self.expr(I1, 1)};")
        self.add(f"{y}[i] = {op}(j in 0..i) t{y}[i,j] for i in 0..n;")
        if op == "sum":
            self.done(y, "n")

    def scatter(self):
        op, value = self.pick(("+=", None), ("min=", None), ("max=", None), ("*=", "select({} > 0, 1.0, -1.0)"))
        shape, target, ranges, vars_ = self.pick(
            ("m", "col[k]", "k in 0..p", K1), ("n", "row[k]", "k in 0..p", K1),
            ("n", "dyn[j]", "j in 0..m", J1), ("n", "srt[j]", "j in 0..m", J1),
            ("m", "perm[i]", "i in 0..n", I1),
            ("nm", "row[k], col[k]", "k in 0..p", K1), ("nm", "row[k], j", "k in 0..p, j in 0..m", KJ),
            ("n", "i", "i in 0..n, j in 0..m", IJ))
        start = self.rng.random()
        if start < 0.3 and op == "+=":
            y = self.fresh("s")
            self.add(f"temp {y} : f64[{', '.join(shape)}] = {self.rng.randint(0, 2)};")
        elif start < 0.5 and op == "+=":
            y = self.fresh("q")
            self.declare("inout", y, shape)
        else:
            y = self.output(shape)
        text = self.expr(vars_, 1)
        self.add(f"reduce {y}[{target}] {op} {value.format(text) if value else text} for {ranges};")
        if op == "+=":
            self.done(y, shape)

    def ragged(self):
        y = self.output("n")
        op = self.pick("sum", "sum", "min", "max")
        self.add(f"{y}[i] = {op}(k in off[i]..off[i+1]) {self.read(K1)}*{self.read(KI)} for i in 0..n;")
        if op == "sum":
            self.done(y, "n")

    def nested(self):
        y = self.output("n")
        self.add(f"{y}[i] = {self.read(I1)} - (sum(j in 0..m) {self.read(IJ)}) "
                 f"+ 2*(sum(k in off[i]..off[i+1]) {self.read(K1)}) for i in 0..n;")
        self.done(y, "n")

    def whole(self):
        y = self.output("")
        x, z = (self.one_of("n") for _ in range(2))
        value = self.pick(f"dot({x}, {z})", f"sum({x}*{z})", f"maxval(abs({x}))", f"cast<f64>(nnz({x} > {z}))")
        self.add(f"{y} = {value};")

    def matrix_product(self):
        name = self.fresh("P")
        self.add(f"temp {name} : f64[n, n] = matmul({self.one_of('nm')}, "
                 f"transpose({self.one_of('nm')}));")
        y = self.output("n")
        self.add(f"{y}[i] = sum(k in 0..n) {name}[i,k] for i in 0..n;")

    def row_recurrence(self):
        y = self.output("nm")
        first, step = self.pick(("j == 0", "j-1"), ("j == m-1", "j+1"))
        self.add(f"{y}[i,j] = case {{ {first} : {self.expr(IJ, 1)}; "
                 f"else : {self.pick('', '-')}{y}[i,{step}]{self.pick('', '/(-1)', '/(-1)')} + {self.expr(IJ, 1)}; }} "
                 f"for i in 0..n, j in 0..m;")
        self.done(y, "nm")

    def plane_recurrence(self):
        y = self.output("nm")
        self.add(f"{y}[i,j] = case {{ i == 0 or j == 0 : {self.expr(IJ, 1)}; "
                 f"else : max({y}[i-1,j], {y}[i,j-1]) + {self.read(IJ)}; }} for i in 0..n, j in 0..m;")

    def segment_recurrence(self):
        y = self.output("p")
        first, step = self.pick(("k == off[s]", "k-1"), ("k == off[s+1]-1", "k+1"))
        self.add(f"{y}[k] = case {{ {first} : {self.read(K1)}; "
                 f"else : {y}[{step}]{self.pick('', '', '/(-1)')} + {self.pick('', '', 's - ')}{self.expr(K1, 1)}; }} "
                 f"for s in 0..n, k in off[s]..off[s+1];")
        self.done(y, "p")

    def tree_recurrence(self):
        y = self.output("n")
        if self.rng.random() < 0.5:
            self.add(f"{y}[i] = case {{ par[i] < 0 : {self.read(I1)}; "
                     f"else : {y}[par[i]] + {self.expr(I1, 1)}; }} for i in 0..n;")
        else:
            x = self.one_of("n")
            self.add(f"{y}[i] = {self.read(I1)} + (sum(h in children(par, i)) ({x}[h] + {y}[h])) for i in 0..n;")
        self.done(y, "n")

    def trees(self):
        y = self.output("nm")
        if self.rng.random() < 0.5:
            self.add(f"{y}[i,j] = case {{ par[i] < 0 : {self.read(IJ)}; "
                     f"else : {y}[par[i],j]/2 + {self.expr(IJ, 1)}; }} for j in 0..m, i in 0..n;")
        else:
            self.add(f"{y}[i,j] = {self.read(IJ)} + (sum(h in children(par, i)) {y}[h,j]/2) for j in 0..m, i in 0..n;")
        self.done(y, "nm")

    def histogram(self):
        y, bins = self.output("m", "i64"), self.fresh("bin")
        x = self.one_of("n")
        self.add(f"func {bins}[i in 0..n] : index(m) = min(max(cast<i64>(floor({x}[i])), 0), m - 1);")
        self.add(f"reduce {y}[{bins}[i]] += {self.pick('1', 'I[i]', 'i')} for i in 0..n;")

    def integers(self):
        y = self.output("n", "i64")
        value = self.pick("I[i]/2 + I[i] % 3", "I[i]*I[i] - i", "(I[i] - 7)/3", "min(I[i], i) % 4")
        self.add(f"{y}[i] = {value} for i in 0..n;")

    def single(self):
        y = self.output("n", "f32")
        self.add(f"{y} = {self.pick('F*F + 1', 'max(F, 0) - F', 'abs(F)*2')};")

    def life(self):
        y = self.output("n" if self.rng.random() < 0.5 else "m")
        if self.declarations[-1].endswith("[n];"):
            name = self.fresh("Y")
            self.add(f"temp {name} : f64[n, m] = Sparse_matvec(PHI, Dict, {self.one_of('m')});")
            self.add(f"{y}[i] = sum(j in 0..m) {name}[i,j] for i in 0..n;")
            self.done(name, "nm")
        else:
            self.add(f"{y} = Sparse_matvec(transpose(PHI), Dict, {self.one_of('nm')});")
        self.needs_dictionary = True

    def chained(self):
        """Values read through two index arrays, and a scatter along such a chain."""
        y = self.output("m")
        self.add(f"func way{y}[j in 0..m] : index(n) = dyn[j];")
        self.add(f"{y}[j] = {self.one_of('m')}[perm[way{y}[j]]] - {self.read(J1)} for j in 0..m;")
        z = self.output("m")
        self.add(f"reduce {z}[perm[row[k]]] += {self.read(K1)} for k in 0..p;")
        self.done(y, "m")
        self.done(z, "m")

    def narrow(self):
        """Small integers, which C computes in int, and conditions that are stored."""
        y, type_ = self.fresh("y"), self.pick("i32", "i16", "i8", "u8", "u16")
        self.declare("out", y, "n", type_)
        sign = f"select({self.one_of('n')}[i] > 0, 1, 0)"
        self.add(f"{y}[i] = cast<{type_}>({self.pick(f'{sign} + i % 3', sign, 'abs(I[i]) % 5', '(i*i) % 7')}) "
                 f"for i in 0..n;")
        flag = self.fresh("flag")
        self.declare("out", flag, "nm", "bool")
        self.add(f"{flag}[i,j] = {self.read(IJ)} < {self.read(IJ)} {self.pick('and', 'or')} "
                 f"{self.condition('i', 'n')} for i in 0..n, j in 0..m;")

    def deep(self):
        """Three dimensions, summed over the one in the middle, and a stencil over the outer ones."""
        name, y = self.fresh("d"), self.output("nm")
        self.add(f"func {name}[i in 0..n, h in 0..3, j in 0..m] : f64 = {self.expr(IJ, 1)} + h*{self.read(I1)};")
        self.add(f"{y}[i,j] = (sum(h in 0..3) {name}[i,h,j]) - {name}[max(i-1, 0), 1, min(j+1, m-1)] "
                 f"for i in 0..n, j in 0..m;")
        self.done(y, "nm")

    def pieces(self):
        """Cells defined by several statements, the ends apart from the middle."""
        y = self.output("n")
        self.add(f"{y}[0] = {self.rng.randint(-2, 2)} for u in 0..min(n, 1);")
        self.add(f"{y}[i] = {self.expr(I1, 1)} for i in 1..n;")
        self.done(y, "n")

    def chain(self):
        """A few element-wise and shifted functions in a row, as in images: material for fusion."""
        source, first = self.one_of("nm"), None
        for _ in range(self.rng.randint(2, 4)):
            name = self.fresh("h")
            first = first or name
            self.add(f"func {name}[i in 0..n, j in 0..m] : f64 = " + self.pick(
                f"{source}[i,j] + {source}[max(i-1, 0), j]", f"{source}[i, min(j+1, m-1)] - {source}[i,j]",
                f"max({source}[i,j], {self.one_of('nm')}[i,j])", f"abs({source}[i,j]) - 1") + ";")
            self.done(name, "nm")
            source = name
        y = self.output("nm")
        self.add(f"{y} = {source};" if self.rng.random() < 0.5 else
                 f"{y}[i,j] = {source}[i,j] for i in 0..n, j in 0..m;")
        if self.rng.random() < 0.5:
            tiled = self.pick(y, source)
            self.items += (f"        fuse {first}, {tiled};\n"
                           f"        tile {tiled} ({self.pick('2', '3, 4', '1, 5', '8')});\n")

    def layers(self):
        """Rows of images computed from a few rows of the one before, forwards or backwards: windows of rows."""
        source, y, back = self.fresh("r"), self.output("nm"), self.rng.random() < 0.3
        end, before = ("m-1", "j+1") if back else ("0", "j-1")
        self.add(f"func {source}[i in 0..n, j in 0..m, h in 0..3] : f64 = {self.expr(IJ, 1)} + h;")
        for _ in range(self.rng.randint(1, 3)):
            name, s = self.fresh("r"), source
            above = f"{s}[i, max(j-{self.pick('1', '2', '3')}, 0), {self.pick('h', '2-h')}]"
            below = f"{s}[i, min(j+{self.pick('1', '2')}, m-1), {self.pick('h', '1')}]"
            self.add(f"func {name}[i in 0..n, j in 0..m, h in 0..3] : f64 = " + self.pick(
                f"{above} + {below}", f"{s}[i,j,h] - {above}", f"max({below}, {s}[i,j,0])",
                f"case {{ j == {end} : {s}[i,j,h]; else : {s}[i,j,h] - {name}[i,{before},h]; }}") + ";")
            source = self.pick(name, name, source)
        self.add(f"{y}[i,j] = (sum(h in 0..3) {source}[i, {self.pick('j', 'max(j-1, 0)', 'm-1-j')}, h]) + "
                 f"{source}[i, min(j+1, m-1), 0] for i in 0..n, j in 0..m;")
        self.done(y, "nm")

    def scaled(self):
        """A scalar argument of each execution."""
        y = self.output("n")
        self.add(f"{y}[i] = {self.read(I1)} + scale*{self.read(I1)} for i in 0..n;")
        self.scalars = "    param f64 scale;\n"

    def loop_statement(self):
        x = self.fresh("x")
        self.declare("state", x, "n", init=f" = {self.one_of('n')}")
        self.declare("state", "g" + x, "", init=" = 0")
        trace = self.fresh("trace")
        self.declarations.append(f"    out {trace} : f64[2];")
        condition = self.pick("", f" until g{x} > 20")
        count = self.output("", "i64")
        step = self.pick(
            f"next {x} = {x} + {self.one_of('n')};",
            f"next {x}[i] = {x}[i-1] + {x}[i+1] for i in 1..n-1;",
            f"reduce next {x}[row[k]] += v[k] for k in 0..p;")
        self.loop = (f"    iterate it in 0..4{condition} {{\n        {step}\n"
                     f"        temp s{x} : f64 = sum(i in 0..n) abs({x}[i]);\n"
                     f"        next g{x} = g{x} + s{x};\n"
                     f"        {trace}[it/2] = case {{ it % 2 == 0 : s{x}; }};\n"
                     f"        reduce {count} += 1;\n    }}\n"
                     f"    last{x} = {x};\n")
        self.declarations.append(f"    out last{x} : f64[n];")

    def text(self):
        dictionary = "    in Dict : f64[m, m];\n" if getattr(self, "needs_dictionary", False) else ""
        if not any(line.strip().startswith("out") for line in self.declarations):
            self.whole()
        body = "".join(f"    {line}\n" for line in self.body)
        declared = "\n".join(self.declarations)
        inputs = self.scalars + used_inputs(INPUTS + dictionary, declared + body + (self.loop or ""))
        size = self.rng.choice(["n", "m", "p"])
        known = f"    specialize {size} = {self.rng.choice([1, 3, 4, 8, 16])};\n" if self.rng.random() < 0.1 else ""
        block = schedule(self.rng, self.arrays(declared + body), "(PHI" in body, self.items)
        return f"pipeline {self.name} {{\n{inputs}{declared}\n{known}\n{body}{self.loop or ''}{block}}}\n"

    @staticmethod
    def arrays(text):
        """(name, number of dims, whether it is an argument) of what the program defines."""
        found = [(name, dims.count(",") + 1, role == "out")
                 for role, name, dims in re.findall(r"\b(out|temp) (\w+) : \w+\[([^\]]*)\]", text)]
        return found + [(name, dims.count(",") + 1, False)
                        for name, dims in re.findall(r"func (\w+)\[([^\]]*)\]", text)]


# ---- Schedules ----

def some(rng, names, most):
    return ", ".join(rng.sample(names, min(len(names), rng.randint(1, most))))


# An item of a schedule block, of (name, dims, is argument) of the arrays. Which of them a program can have is for the
# compiler to say: what it refuses is left out by whoever compiles the program (build.c).
ITEMS = {
    "fuse": lambda rng, arrays: "fuse " + some(rng, [name for name, _, _ in arrays], 4),
    "inline": lambda rng, arrays: "inline " + some(
        rng, [name for name, _, is_out in arrays if not is_out] or [arrays[0][0]], 2),
    "tile": lambda rng, arrays: "tile {} ({})".format(*(lambda array: (array[0], ", ".join(
        str(rng.choice([1, 2, 3, 4, 8, 16, 32])) for _ in range(array[1]))))(rng.choice(arrays))),
    "layout": lambda rng, arrays: f"layout {some(rng, [name for name, _, _ in arrays], 2)} : "
                                  + rng.choice(["flat", "full", "interleave(block = 4)", "interleave(block = 8)"]),
    "algorithm": lambda rng, arrays: f"algorithm {rng.choice(arrays)[0]} : "
                                     + rng.choice(["chains", "level_batches", "thomas", "hines", "pcr", "auto"]),
    "partition": lambda rng, arrays: f"partition {rng.choice(arrays)[0]} by "
                                     + rng.choice(["voxel", "coeff", "row", "auto"]),
    "accumulate": lambda rng, arrays: f"accumulate {rng.choice(arrays)[0]} : f64",
    "blas": lambda rng, arrays: "blas " + rng.choice(["off", "auto", "on"]),
}
MODES = ["atom", "voxel", "fiber"]
ITEMS_OF_A_TENSOR = {
    "restructure": lambda rng, arrays: "restructure PHI by " + rng.choice(
        [*MODES, "none", "auto", "hybrid({}, {})".format(*rng.sample(MODES, 2)), "voxel", "hybrid(voxel, atom)"]),
    "partition": lambda rng, arrays: f"partition {rng.choice(arrays)[0]} by " + rng.choice(["coeff", *MODES]),
}


def schedule(rng, arrays, has_tensor, items=""):
    """A schedule block, one item a line; empty for most programs."""
    if arrays and rng.random() >= 0.5:
        table = list(ITEMS.values()) + 3*list(ITEMS_OF_A_TENSOR.values())*has_tensor
        items += "".join(f"        {rng.choice(table)(rng, arrays)};\n" for _ in range(rng.randint(1, 3)))
    return f"    schedule {{\n{items}    }}\n" if items else ""


EXACT = [Program.elementwise, Program.function, Program.function, Program.shrinking, Program.cases, Program.triangle,
         Program.scatter, Program.scatter, Program.scatter, Program.ragged, Program.nested, Program.whole,
         Program.matrix_product, Program.row_recurrence, Program.plane_recurrence, Program.segment_recurrence,
         Program.tree_recurrence, Program.trees, Program.histogram, Program.integers, Program.single, Program.life,
         Program.chained, Program.narrow, Program.deep, Program.pieces, Program.chain, Program.layers,
         Program.scaled, *statements.STATEMENTS]
LOOPS = [Program.loop_statement, Program.loop_statement, *statements.LOOPS]

MORE_INPUTS = """    in d : f64[n];
    in M, R : f64[n, m];
    in U : f64[m];
    fixed in T : Tree(m);
"""


def tolerant(rng, name):
    shape, body = rng.choice([
        ("n, m", "    temp D2 : f64[n, m] = 12 + abs(M);\n    x = HinesSystem(T, U, U, D2, R);\n"),
        ("n, m", "    temp D2 : f64[n, m] = 8 + abs(M);\n    x = TriBatch(R, D2, 1.0, A);\n"),
        ("p", "    temp dd : f64[p] = 30 + abs(v);\n    x = HinesSystem(G, v, v, dd, v);\n"),
        ("p", "    temp dd : f64[p] = 8 + abs(v);\n    x = TriBatch(v, dd, v, v, off);\n"),
        ("n, m", "    x = exp(-abs(M))*R + sqrt(abs(R)) + tanh(A);\n"),
        ("n, m", "    x[i,j] = R[i,j]/(1 + abs(M[i,j])) + exprelr(0.1*A[i,j]) for i in 0..n, j in 0..m;\n"),
        ("n", "    temp s : f64 = 1 + norm2(d);\n    x = d/s + pow(1 + abs(d), 0.5);\n"),
    ])
    block = schedule(rng, [("x", shape.count(",") + 1, True)], False)
    return f"pipeline {name} {{\n{used_inputs(INPUTS + MORE_INPUTS, body)}    out x : f64[{shape}];\n{body}{block}}}\n"


def program(rng, number):
    if rng.random() < 0.12:
        return tolerant(rng, f"t_{number}")
    made = Program(rng, f"x_{number}")
    for _ in range(rng.randint(2, 6)):
        rng.choice(EXACT)(made)
    if rng.random() < 0.25:
        rng.choice(LOOPS)(made)
    return made.text()


def main():
    seed, count = int(sys.argv[1]), int(sys.argv[2])
    first = int(sys.argv[3]) if len(sys.argv) > 3 else 0
    for number in range(first, first + count):
        print(program(random.Random(f"{seed}/{number}"), number))


if __name__ == "__main__":
    main()
