# SPDX-License-Identifier: MIT
"""What is drawn of a program: its sizes and arrays, subscripts that stay inside, conditions, and values of any type.
Written from docs/language.md alone."""
from evaluate import Array, Definition
from tree import E, binary, call, cast, clamp, cmp, is_literal, lit, neg, of_type, plus, read, red, select, text, var
from tree import ranges_text
from values import FLOATS, INT_BITS

TYPES = ["f32", "f64", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "bool"]
NUMBERS = TYPES[:-1]
INTS = list(INT_BITS)
LITERALS = [0, 1, 2, 3, 5, 7, 100, 127, 128, 200, 255, 256, 300, 32768, 40000, 65535, 65536, 100000]
REALS = [0.5, 0.25, 1.5, 2.0, 0.1, 1.0, 3.75, 1e-3, 0.7]
FUNCTIONS = ["exp", "log", "sqrt", "sin", "cos", "tanh", "exprelr", "abs", "floor"]


class Dim:
    """An extent: factor*size + constant, or the constant alone."""

    def __init__(self, size, constant=0, factor=1):
        self.size, self.constant, self.factor = size, constant, factor
        self.key = (size, constant, factor)

    def e(self):
        if self.size is None:
            return lit(self.constant, "i64")
        base = var(self.size) if self.factor == 1 else E("*", "i64", (lit(self.factor, "i64"), var(self.size)))
        return plus(base, self.constant)


class Var:
    """A variable of a range from `lo` to `hi` more than the extent."""

    def __init__(self, name, dim, lo=0, hi=0):
        self.name, self.dim, self.lo, self.hi = name, dim, lo, hi

    def range(self):
        return (self.name, lit(self.lo, "i64") if self.lo >= 0 else neg(lit(-self.lo, "i64")),
                plus(self.dim.e(), self.hi))

    def e(self):
        return var(self.name)


class Program:
    def __init__(self, name):
        self.name, self.sizes, self.params, self.constants = name, [], [], []
        self.arrays, self.lines, self.body, self.tail = {}, [], None, []
        self.definitions, self.iterate, self.dims = [], None, {}
        self.small, self.order, self.items, self.bound = {}, [], [], {}
        self.scope, self.counter, self.least = [], 0, {}
        self.kinds, self.hidden = [], set()

    def text(self, schedule=()):
        rows = self.constants + [f"pipeline {self.name} {{"] + ["    " + r for r in self.lines]
        if schedule:
            rows.append("    schedule { " + " ".join(schedule) + " }")
        return "\n".join(rows + ["}", ""])


class Draw:
    def __init__(self, rng, name):
        self.r, self.p = rng, Program(name)
        self.in_body, self.readable, self.indices, self.params = False, [], [], []
        self.used = set()

    # ---- names and declarations

    def name(self, stem):
        self.p.counter += 1
        return f"{stem}{self.p.counter}"

    def size(self, small=False, least=0):
        """A size of the program, an old one mostly."""
        fitting = [s for s in self.p.sizes if self.p.small[s] == small and self.p.least[s] >= least]
        if fitting and (self.r.random() < 0.7 or len(self.p.sizes) > 3):
            return self.r.choice(fitting)
        name = self.name("n" if not small else "k")
        self.p.sizes.append(name)
        self.p.small[name], self.p.least[name] = small, least
        self.p.order.append(("size", name))
        self.line(f"param {name};", first=True)
        if least:
            self.p.lines.append(f"assume {name} >= {least};")
        return name

    def dim(self, small=None):
        small = self.r.random() < 0.4 if small is None else small
        x = self.r.random()
        if small and x < 0.3:
            return Dim(None, self.r.randint(1, 4))
        return Dim(self.size(small), 1 if x > 0.9 else 0)

    def dims(self, rank):
        return [self.dim(small=i > 0 or None) for i in range(rank)]

    def line(self, row, first=False):
        if first:
            self.p.lines.insert(0, row)
        elif self.in_body:
            self.p.body.append(row)
        else:
            self.p.lines.append(row)

    def scalar(self):
        if self.params and self.r.random() < 0.7:
            return self.r.choice(self.params)
        t = self.r.choice(FLOATS)
        e = E("param", t, (), self.name("s"))
        self.params.append(e)
        self.p.params.append(e)
        self.p.order.append((t, e.x))
        self.p.lines.append(f"param {t} {e.x};")
        return e

    def declare(self, role, t, dims, limit=None, facts="", fixed=False, init=None, name=None, kind=None):
        a = Array(name or self.name(role[0] if role != "inout" else "b"), role, t, [d.e() for d in dims], limit,
                  self.in_body and role in ("temp", "func"), init, facts, fixed)
        a.dims, a.kind = dims, kind
        self.p.arrays[a.name] = a
        if role in ("in", "out", "inout"):
            self.p.order.append(("array", a.name))
        return a

    def declared(self, role, t, dims, limit=None, facts="", fixed=False, kind=None):
        """An array with its line."""
        a = self.declare(role, "i64" if limit else t, dims, limit, facts, fixed, kind=kind)
        of = t if not limit else f"{kind or 'index'}({text(limit.e())})"
        shape = f"[{', '.join(text(d.e()) for d in dims)}]" if dims else ""
        row = f"{'fixed ' if fixed else ''}{role} {a.name} : {of}{shape}{' ' + facts if facts else ''};"
        if role in ("in", "out", "inout"):
            self.p.lines.append(row)
        else:
            self.line(row)
        return a

    def input(self, t=None, dims=None):
        a = self.declared("in", t or self.r.choice(TYPES), self.dims(self.r.choice([1, 1, 1, 2, 2, 3])) if dims is None
                          else dims, fixed=self.r.random() < 0.25)
        self.readable.append(a)
        return a

    def index(self, limit, dims, facts=None):
        facts = self.r.choice(["", "", "sorted"]) if facts is None else facts
        a = self.declared("in", "i64", dims, limit, facts, self.r.random() < 0.6)
        self.indices.append(a)
        return a

    def define(self, target, subs, scope, branches, op=None, is_next=False, show=True):
        """`branches`: a value, or a list of (condition or None, value)."""
        is_case = isinstance(branches, list)
        ranges = [v.range() if isinstance(v, Var) else v for v in scope]
        d = Definition(target.name, subs, ranges, branches if is_case else [(None, branches)], op, self.in_body,
                       is_next)
        self.p.definitions.append(d)
        if show:
            value = self.case(branches) if is_case else text(branches)
            at = f"[{', '.join(map(text, subs))}]" if subs else ""
            over = " for " + ranges_text(ranges) if ranges else ""
            head = ("reduce " if op else "") + ("next " if is_next else "")
            self.line(f"{head}{target.name}{at} {op or '='} {value}{over};")
        return d

    def func(self, t, scope, branches, limit=None):
        a = self.declare("func", t, [v.dim for v in scope], limit)
        a.scope = scope
        ranges = [v.range() for v in scope]
        is_case = isinstance(branches, list)
        self.p.definitions.append(Definition(a.name, [v.e() for v in scope], ranges, branches if is_case else
                                             [(None, branches)], None, self.in_body))
        value = self.case(branches) if is_case else text(branches)
        of = f"index({text(limit.e())})" if limit else t
        self.line(f"func {a.name}[{ranges_text(ranges)}] : {of} = {value};")
        return a

    @staticmethod
    def case(branches):
        return "case { " + " ".join(f"{'else' if k is None else text(k)} : {text(e)};" for k, e in branches) + " }"

    def vars(self, dims):
        return [Var(self.name("i"), d) for d in dims]

    # ---- subscripts

    def inside(self, dim, scope, deep=1):
        """An affine subscript of an extent, or None."""
        fitting = []
        for v in scope:
            if not isinstance(v, Var):
                continue
            if v.dim.key == dim.key:
                fitting += [v.e()]*5 + self.shifted(v)
            elif dim.size is None and v.lo >= 0:
                fitting += [E("%", "i64", (v.e(), lit(dim.constant, "i64"))), clamp("min", v.e(),
                                                                                    lit(dim.constant - 1, "i64"))]
            elif dim.size == v.dim.size and dim.factor == v.dim.factor == 1 and dim.size and \
                    dim.constant == v.dim.constant + 1 and v.lo >= 0 and v.hi <= 0:
                fitting += [v.e(), plus(v.e(), 1)]
        if dim.size is None:
            fitting.append(lit(self.r.randrange(dim.constant), "i64"))
        elif dim.constant >= 1 and dim.factor == 1:
            fitting += [lit(0, "i64"), var(dim.size)]
        for a in self.indices if deep else []:
            if a.limit.key == dim.key and a.kind is None and "tree" not in a.facts and self.may_read(a):
                subs = [self.inside(d, scope, deep - 1 if self.r.random() < 0.5 else 0) for d in a.dims]
                if None not in subs:
                    fitting += [read(a.name, "i64", subs)]*2
        return self.r.choice(fitting) if fitting else None

    def shifted(self, v):
        c = self.r.randint(1, 3)
        rows = []
        if v.lo >= 1:
            rows.append(plus(v.e(), -self.r.randint(1, v.lo)))
        if v.hi <= -1:
            rows.append(plus(v.e(), self.r.randint(1, -v.hi)))
        if v.lo >= 0 and v.hi <= 0:
            top = plus(v.dim.e(), -1)
            rows += [E("-", "i64", (top, v.e())), clamp("max", plus(v.e(), -c), lit(0)),
                     clamp("min", plus(v.e(), c), top),
                     E("/", "i64", (v.e(), lit(c + 1, "i64"))),
                     E("-", "i64", (v.e(), E("%", "i64", (v.e(), lit(c + 1, "i64")))))]
        return rows

    def may_read(self, a):
        return self.in_body or not a.in_body

    def reads(self, types, scope):
        """Reads of arrays of these types that these variables can make."""
        found = []
        for a in self.readable:
            if a.t in types and self.may_read(a):
                subs = [self.inside_of(a, i, scope) for i in range(len(a.dims))]
                if None not in subs:
                    found.append(read(a.name, a.t, subs))
        return found

    def inside_of(self, a, i, scope):
        """A func may begin elsewhere than at 0."""
        own = getattr(a, "scope", None)
        if own is None or (own[i].lo <= 0 and own[i].hi >= 0):
            return self.inside(a.dims[i], scope)
        fitting = [v for v in scope if isinstance(v, Var) and v.dim.key == own[i].dim.key and v.lo >= own[i].lo and
                   v.hi <= own[i].hi]
        return self.r.choice(fitting).e() if fitting else None

    # ---- values

    def condition(self, scope):
        """Affine, of variables and sizes, or of what index arrays hold."""
        x = self.r.random()
        if x < 0.25:
            parts = [self.condition(scope), self.condition(scope)]
            return E(self.r.choice(["and", "or"]), "bool", parts)
        if x < 0.33:
            return E("not", "bool", [self.condition(scope)])
        left = self.whole_part(scope)
        if x < 0.5:
            left = E("%", "i64", (left, lit(self.r.randint(2, 5), "i64")))
        right = lit(self.r.randint(0, 6), "i64") if x < 0.7 else self.whole_part(scope)
        return E("cmp", "bool", (left, right), self.r.choice(["==", "!=", "<", "<=", ">", ">="]))

    def whole_part(self, scope):
        """An affine expression."""
        names = [v.e() if isinstance(v, Var) else var(v[0]) for v in scope]
        sizes = [var(s) for s in self.p.sizes[:2]]
        rows = names*3 + sizes + [plus(n, self.r.randint(-2, 2)) for n in names]
        rows += [E("*", "i64", (lit(2, "i64"), n)) for n in names]
        for a in self.indices:
            if self.may_read(a):
                subs = [self.inside(d, scope, 0) for d in a.dims]
                if None not in subs and names:
                    rows += [read(a.name, "i64", subs)]
        return self.r.choice(rows) if rows else lit(0, "i64")

    def stored(self, t, scope, depth=3):
        """A value that may be stored in a cell of type t."""
        if t == "bool":
            return self.boolean(scope, depth)
        if self.r.random() < 0.06:
            return self.literal(t)
        if t in INTS:
            return self.integer(scope, depth)
        x = self.r.random()
        return self.integer(scope, depth) if x < 0.06 else self.real(
            "f32" if t == "f64" and x < 0.2 else t, scope, depth)

    def literal(self, t):
        e = lit(self.r.choice(LITERALS if t in INTS else REALS + LITERALS[:8]))
        return neg(e) if self.r.random() < 0.35 else e

    def reduction(self, t, scope, depth):
        v = self.vars([self.dim()])
        if self.r.random() < 0.2:
            v += self.vars([self.dim(True)])
        body = self.real(t, scope + v, depth - 1) if t in FLOATS else self.small(scope + v, depth - 1)
        return red(self.r.choice(["sum", "sum", "sum", "min", "max"] + (["prod"] if t in FLOATS else [])),
                   [x.range() for x in v], of_type(body, t))

    def leaf(self, t, scope):
        rows = self.reads([t], scope)*3
        if t in FLOATS and self.r.random() < 0.25:
            s = self.scalar()
            rows += [s if s.t == t else cast(t, s)]
        if self.r.random() < 0.3:
            rows += [cast(t, e) for e in self.reads(NUMBERS, scope)]
        if not rows:
            names = [v.e() if isinstance(v, Var) else var(v[0]) for v in scope] or [var(s) for s in self.p.sizes]
            rows = [cast(t, n) for n in names] or [cast(t, lit(3, "i64"))]
        return self.r.choice(rows)

    def real(self, t, scope, depth):
        """Of type t to the letter."""
        r = self.r
        if depth <= 0:
            return self.leaf(t, scope)
        x = r.random()
        if x < 0.08:
            return self.leaf(t, scope)
        a = self.real(t, scope, depth - 1)
        if x < 0.5:
            b = r.choice([self.real(t, scope, depth - 1), self.literal(t), self.real(t, scope, 0),
                          self.small(scope, 1)])
            if r.random() < 0.5:
                a, b = b, a
            return binary(r.choice("++--**"), a, b)
        if x < 0.56:
            return binary("/", a, r.choice([lit(4), lit(3), binary("+", call("abs", self.real(t, scope, 1)), lit(1))]))
        if x < 0.64:
            return call(r.choice(["min", "max"]), a, *[self.real(t, scope, depth - 2) for _ in range(r.randint(1, 2))])
        if x < 0.74:
            return call(r.choice(FUNCTIONS), a)
        if x < 0.78:
            return call("pow", a, r.choice([lit(2.0), lit(0.5), lit(3), self.leaf(t, scope)]))
        if x < 0.86:
            return select(self.boolean(scope, depth - 1), a, r.choice([self.literal(t), self.leaf(t, scope)]))
        if x < 0.9:
            return neg(a)
        if x < 0.93:
            return cast(t, self.real("f64" if t == "f32" else "f32", scope, depth - 1))
        return self.reduction(t, scope, depth)

    def small(self, scope, depth):
        """An integer that stays far from overflow."""
        e = self.integer(scope, depth)
        return e if e.t in ("i8", "i16", "u8", "u16") else cast(self.r.choice(["i8", "i16", "u8", "i32"]), e)

    def integer(self, scope, depth):
        r = self.r
        if depth <= 0:
            rows = self.reads(INTS, scope)*2 + [v.e() for v in scope if isinstance(v, Var)]
            rows += [var(s) for s in self.p.sizes[:1]]
            e = r.choice(rows) if rows else cast("i32", lit(r.choice(LITERALS), "i64"))
            return e if e.op != "read" or e.t != "i64" else cast("i32", e)
        x = r.random()
        if x < 0.1:
            return self.integer(scope, 0)
        if x < 0.5:
            a, b = self.small(scope, depth - 1), r.choice([self.small(scope, depth - 2), self.literal("i64")])
            if r.random() < 0.5:
                a, b = b, a
            return binary(r.choice("++--**"), a, b)
        if x < 0.62:
            d = lit(r.choice([2, 3, 5, 7, 16]))
            if r.random() < 0.3:
                d = neg(d)
            elif r.random() < 0.3:
                d = binary("+", call("abs", self.small(scope, depth - 2)), lit(1))
            return binary(r.choice("/%"), self.integer(scope, depth - 1), d)
        if x < 0.7:
            return call(r.choice(["min", "max"]), self.integer(scope, depth - 1), self.integer(scope, depth - 2))
        if x < 0.78:
            return select(self.boolean(scope, depth - 1), self.integer(scope, depth - 1), self.literal("i64"))
        if x < 0.88:
            of = r.choice(FLOATS)
            return cast(r.choice(INTS), r.choice([self.leaf(of, scope), call("floor", self.leaf(of, scope))]))
        if x < 0.93:
            return neg(self.small(scope, depth - 1))
        if x < 0.96:
            return call("abs", self.small(scope, depth - 1))
        return self.reduction("i64", scope, depth)

    def boolean(self, scope, depth):
        r = self.r
        x = r.random()
        known = self.reads(["bool"], scope)
        if known and x < 0.3:
            return r.choice(known)
        if depth > 0 and x < 0.45:
            return E(r.choice(["and", "or"]), "bool", [self.boolean(scope, depth - 1), self.boolean(scope, depth - 1)])
        if depth > 0 and x < 0.52:
            return E("not", "bool", [self.boolean(scope, depth - 1)])
        t = r.choice(["f32", "f64", "i64"])
        a = self.small(scope, depth - 1) if t == "i64" else self.real(t, scope, max(depth - 2, 0))
        b = self.literal(t) if r.random() < 0.4 else self.small(scope, 0) if t == "i64" else self.leaf(t, scope)
        return cmp(r.choice(["==", "!=", "<", "<=", ">", ">="]), a, b)
