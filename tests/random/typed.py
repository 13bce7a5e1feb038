# SPDX-License-Identifier: MIT
"""Expressions of every type, and of values of every class, at a point i of 0..n (and j of 0..m). Of integers an
interval is kept, so that nothing overflows 64 bits, which would be an error of the program. Floats may be anything:
what is computed as it is written gives the same bits everywhere."""

from tables import FLOATS, INTEGERS, NARROW, NUMBERS, TYPES

I64 = TYPES["i64"]
# Roots of a row of data, by class: [n] but for the last.
CLASSES = {"wide": NUMBERS, "nan": FLOATS, "half": FLOATS, "tie": NUMBERS}
INPUTS = "".join(f"    in {class_}_{name} : {name}[{'m' if class_ == 'tie' else 'n'}];\n"
                 for class_, names in CLASSES.items() for name in names)
INPUTS += "".join(f"    in grid_{name} : {name}[n, m];\n" for name in NUMBERS)
INPUTS += """    in wide_bool : bool[n];
    in tie_bool : bool[m];
    fixed in dyn_n : index(n)[n];
    in perm_n : index(n)[n] unique;
    in srt_m : index(m)[m] sorted;
    in len : index(m + 1)[n];
"""
# Of f32 and f64: zeros, denormal, tiny, huge, next to whole numbers that the type has not all of, infinite.
REALS = ["0.0", "(-0.0)", "1e-320", "1e-40", "1e-5", "0.1", "1.5", "16777217.0", "1e38", "1e300", "inf", "(-inf)",
         "2.0"]
SINGLES = ["0.0", "(-0.0)", "1e-40", "1e-30", "0.1", "1.5", "16777216.0", "3e38", "inf", "(-inf)", "2.0"]


class Integer:
    """The text of an integer between lo and hi, and whether it is one that the compiler knows."""

    def __init__(self, text, lo, hi, is_constant=False):
        self.text, self.lo, self.hi, self.is_constant = text, lo, hi, is_constant


def literal(value):
    if value == I64.lo:
        return Integer(f"(-{I64.hi} - 1)", value, value, True)
    return Integer(f"({value})" if value < 0 else str(value), value, value, True)


def classes_of_literals():
    """Around the limits of every type, where floats cease to have all integers, and small ones."""
    values = {0, 1, -1, 2, -2, 200, -200, 1 << 24, (1 << 24) + 1, (1 << 53) + 1, 1 << 62}
    for name in INTEGERS:
        for limit in (TYPES[name].lo, TYPES[name].hi):
            values |= {limit - 1, limit, limit + 1}
    return sorted(value for value in values if I64.lo <= value <= I64.hi)


LITERALS = classes_of_literals()


class Expressions:
    """Of one statement of a program `p`, with variables of given sizes."""

    def __init__(self, p, vars_):
        self.p, self.rng = p, p.rng
        self.vars = vars_
        self.var = next(iter(vars_))

    # ---- leaves ----

    def subscript(self, size):
        """Inside of an array of this size, which is that of a variable."""
        var = next(name for name, of in self.vars.items() if of == size)
        return self.rng.choice([var, var, var, f"{size}-1-{var}", f"max({var}-1, 0)", f"min({var}+1, {size}-1)",
                                *([f"perm_n[{var}]", f"dyn_n[{var}]"] if size == "n" else [f"srt_m[{var}]"])])

    def read(self, type_, *classes):
        """An element of a row of data of this type."""
        options = [class_ for class_ in classes or CLASSES if type_ in CLASSES.get(class_, []) or type_ == "bool"]
        options = [class_ for class_ in options if ("m" if class_ == "tie" else "n") in self.vars.values()]
        if type_ == "bool":
            options = [class_ for class_ in options if class_ in ("wide", "tie")]
        class_ = self.rng.choice(options)
        self.p.cover("data", f"{class_}_", type_)
        return f"{class_}_{type_}[{self.subscript('m' if class_ == 'tie' else 'n')}]"

    def integer_read(self, type_):
        text = self.read(type_)
        limits = (0, 2) if text.startswith("tie") else (TYPES[type_].lo, TYPES[type_].hi)
        return Integer(text, *limits)

    # ---- integers ----

    def integer(self, depth):
        if depth <= 0:
            return self.leaf()
        return self.rng.choice([self.leaf, self.arithmetic, self.arithmetic, self.quotient, self.extremum,
                                self.chosen, self.narrowed, self.size_or_variable])(depth - 1)

    def leaf(self, _=0):
        if self.rng.random() < 0.4:
            return literal(self.rng.choice(LITERALS))
        return self.integer_read(self.rng.choice(INTEGERS))

    def size_or_variable(self, _):
        name = self.rng.choice([*self.vars, "n"])
        return Integer(name, 0, 1 << 40)

    def arithmetic(self, depth):
        a, b = self.integer(depth), self.integer(depth)
        return self.combined(self.rng.choice("+-*"), a, b)

    @staticmethod
    def combined(op, a, b):
        """a op b, or a where that may overflow."""
        ends = [eval(f"{x}{op}({y})") for x in (a.lo, a.hi) for y in (b.lo, b.hi)]     # pylint: disable=eval-used
        if min(ends) < I64.lo or max(ends) > I64.hi:
            op, ends = "min", (min(a.lo, b.lo), min(a.hi, b.hi))
        text = f"min({a.text}, {b.text})" if op == "min" else f"({a.text} {op} {b.text})"
        return Integer(text, min(ends), max(ends), a.is_constant and b.is_constant)

    def quotient(self, depth):
        a, op = self.integer(depth), self.rng.choice("/%")
        if self.rng.random() < 0.5:
            by = self.rng.choice([2, 3, 7, 10, 128, 1 << 40, -1, -2, -10])
            return self.divided(op, a, literal(by))
        b = self.integer_read(self.rng.choice(INTEGERS))
        return self.divided(op, a, Integer(f"max({b.text}, 1)", 1, max(b.hi, 1)))

    @staticmethod
    def divided(op, a, b):
        if a.lo == I64.lo and b.lo < 0:
            return Integer(f"max({a.text}, 1)", 1, max(a.hi, 1), a.is_constant)
        most = max(abs(a.lo), abs(a.hi)) + 1 if op == "/" else max(abs(b.lo), abs(b.hi))
        return Integer(f"({a.text} {op} {b.text})", max(-most, I64.lo), min(most, I64.hi),
                       a.is_constant and b.is_constant)

    def extremum(self, depth):
        which = self.rng.choice(["min", "max"])
        args = [self.integer(depth - i) for i in range(self.rng.choice([2, 2, 3, 4]))]
        pick = min if which == "min" else max
        return Integer(f"{which}({', '.join(arg.text for arg in args)})", pick(arg.lo for arg in args),
                       pick(arg.hi for arg in args), all(arg.is_constant for arg in args))

    def chosen(self, depth):
        a, b = self.integer(depth), self.integer(depth)
        return Integer(f"select({self.condition(depth)}, {a.text}, {b.text})", min(a.lo, b.lo), max(a.hi, b.hi),
                       a.is_constant and b.is_constant)

    def narrowed(self, depth):
        type_ = self.rng.choice(INTEGERS)
        if self.rng.random() < 0.4:
            return self.cast_real(type_, depth)
        if self.rng.random() < 0.3:
            a = self.integer(depth)
            return self.signed("abs", a) if self.rng.random() < 0.5 else self.signed("-", a)
        return self.cast_integer(type_, self.integer(depth))

    @staticmethod
    def signed(how, a):
        if a.lo == I64.lo:
            return Integer(f"floor({a.text})", a.lo, a.hi, a.is_constant)
        most = max(abs(a.lo), abs(a.hi))
        return (Integer(f"abs({a.text})", 0, most, a.is_constant) if how == "abs" else
                Integer(f"(-{a.text})", -a.hi, -a.lo, a.is_constant))

    def cast_integer(self, type_, a):
        a = self.p.tame(self, a, type_)
        return Integer(f"cast<{type_}>({a.text})", TYPES[type_].lo, TYPES[type_].hi, a.is_constant)

    def cast_real(self, type_, depth):
        return Integer(f"cast<{type_}>({self.real(self.rng.choice(FLOATS), depth)})", TYPES[type_].lo, TYPES[type_].hi)

    # ---- floats: each has an element of its type in it, which a literal beside it takes the type of ----

    def real(self, type_, depth):
        if depth <= 0:
            return self.read(type_)
        return self.rng.choice([
            lambda: self.read(type_),
            lambda: f"({self.real(type_, depth - 1)} {self.rng.choice('+-*')} {self.operand(type_, depth - 1)})",
            lambda: f"({self.operand(type_, depth - 1)} {self.rng.choice('+-*')} {self.real(type_, depth - 1)})",
            lambda: f"({self.real(type_, depth - 1)}/{self.read(type_)})",
            lambda: f"({self.operand(type_, depth - 1)}/(1 + abs({self.real(type_, depth - 1)})))",
            lambda: (f"{self.rng.choice(['min', 'max'])}({self.real(type_, depth - 1)}, "
                     f"{self.operand(type_, depth - 1)})"),
            lambda: f"{self.rng.choice(['abs', 'floor', '-'])}({self.real(type_, depth - 1)})",
            lambda: (f"select({self.condition(depth - 1)}, {self.operand(type_, depth - 1)}, "
                     f"{self.real(type_, depth - 1)})"),
            lambda: self.converted(type_, depth - 1),
        ])()

    def converted(self, type_, depth):
        a = self.integer(depth) if self.rng.random() < 0.6 else None
        if a and a.is_constant:
            a = self.combined("+", Integer("0", 0, 0), self.integer_read(self.rng.choice(INTEGERS)))
        return f"cast<{type_}>({a.text if a else self.real(self.rng.choice(FLOATS), depth)})"

    def operand(self, type_, depth):
        """Beside a float of this type: a literal, an integer, a narrower float."""
        how = self.rng.random()
        if how < 0.2:
            return self.rng.choice(SINGLES if type_ == "f32" else REALS)
        if how < 0.35:
            return self.integer(depth).text
        return self.real("f32" if how < 0.5 else type_, depth)

    # ---- conditions ----

    def condition(self, depth):
        if depth > 0 and self.rng.random() < 0.4:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            return self.rng.choice([f"({a} and {b})", f"({a} or {b})", f"(not {a})", f"({a} == {b})", f"({a} != {b})"])
        if self.rng.random() < 0.15:
            return self.read("bool")
        compared = self.rng.choice(["==", "!=", "<", "<=", ">", ">="])
        if self.rng.random() < 0.5:
            a, b = self.integer(depth - 1), self.integer(depth - 1)
            if a.is_constant and b.is_constant:
                a = self.integer_read(self.rng.choice(INTEGERS))
            return f"({a.text} {compared} {b.text})"
        type_ = self.rng.choice(FLOATS)
        return f"({self.real(type_, depth - 1)} {compared} {self.operand(type_, depth - 1)})"


def stored(expressions, type_, depth):
    """A value for a cell of this type: as it is where the language stores it so, else by a cast."""
    rng = expressions.rng
    if type_ == "bool":
        return expressions.condition(depth)
    if type_ in NARROW + ["i64"]:
        if rng.random() < 0.3:
            return expressions.cast_real(type_, depth).text
        return expressions.p.tame(expressions, expressions.integer(depth), type_).text
    if rng.random() < 0.3:
        return expressions.integer(depth).text
    if type_ == "f64":
        return expressions.real(rng.choice(FLOATS), depth)
    return expressions.real("f32", depth)
