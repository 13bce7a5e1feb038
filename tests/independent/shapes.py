# SPDX-License-Identifier: MIT
"""Further kinds of statements: ranges that depend on others, affine targets, windows, arrays of many dimensions, chains
of indices, conditions on offsets, constants of the file, nested reductions."""
from draw import INTS, NUMBERS, TYPES, Dim, Var
from statements import keep, role
from tree import E, binary, call, cast, clamp, cmp, lit, neg, plus, read, red, select
from values import FLOATS


def body_of(d, t, scope, depth=1):
    return d.real(t, scope, depth) if t in FLOATS else d.small(scope, depth)


def triangle(d):
    """Ranges over a part that other variables say: prefixes, suffixes, halves, blocks."""
    t = d.r.choice(FLOATS + ("i64", "f64"))
    i = d.vars([Dim(d.size())])[0]
    j = Var(d.name("j"), i.dim)
    n = i.dim.e()
    lo, hi = d.r.choice([(lit(0, "i64"), plus(i.e(), 1)), (i.e(), n), (plus(i.e(), 1), n),
                         (lit(0, "i64"), E("/", "i64", (n, lit(2, "i64")))),
                         (clamp("max", plus(i.e(), -2), lit(0)), clamp("min", plus(i.e(), 3), n)),
                         (E("*", "i64", (lit(2, "i64"), E("/", "i64", (i.e(), lit(2, "i64"))))), plus(i.e(), 1))])
    over = (j.name, lo, hi)
    body, op = body_of(d, t, [i, j], 2), d.r.choice(["sum", "sum", "min", "max"])
    a = d.declared(role(d), t if t in FLOATS else "i64", [i.dim])
    if d.r.random() < 0.5:
        d.define(a, [i.e()], [i], red(op, [over], body))
    else:
        target = d.r.choice([i, j])
        d.define(a, [target.e()], [i, over], body, {"sum": "+=", "min": "min=", "max": "max="}[op])
    keep(d, a)


def turned(d):
    """Targets with affine subscripts: reversed, transposed, in blocks, a sheared plane."""
    t = d.r.choice(TYPES)
    i, j = d.vars([Dim(d.size()), d.dim(True)])
    x = d.r.random()
    if x < 0.3:
        dims, subs = [i.dim, j.dim], [E("-", "i64", (plus(i.dim.e(), -1), i.e())), j.e()]
    elif x < 0.5:
        dims, subs = [j.dim, i.dim], [j.e(), i.e()]
    elif x < 0.75:
        k = d.r.randint(2, 4)
        j = Var(j.name, Dim(None, k))
        dims, subs = [Dim(i.dim.size, k*i.dim.constant, k)], [binary("+", E("*", "i64", (lit(k, "i64"), i.e())), j.e())]
    else:
        k = d.r.randint(1, 3)
        j = Var(j.name, Dim(None, 3))
        a = d.declared(role(d), "i64" if t in INTS or t == "bool" else t, [Dim(i.dim.size, i.dim.constant + 2)])
        d.define(a, [binary("+", i.e(), j.e())], [i, j], body_of(d, a.t, [i, j]), d.r.choice(["+=", "max="]))
        keep(d, a)
        return
    a = d.declared(role(d), t, dims)
    d.define(a, subs, [i, j], d.stored(t, [i, j], 2))
    keep(d, a)


def window(d):
    """Convolutions and sliding extremes over a longer input."""
    t, k = d.r.choice(FLOATS), d.r.randint(2, 5)
    i = d.vars([Dim(d.size())])[0]
    src = d.input(t, [Dim(i.dim.size, i.dim.constant + k - 1)])
    w = d.input(t, [Dim(None, k)])
    j = Var(d.name("j"), Dim(None, k))
    x = read(src.name, t, [binary("+", i.e(), j.e())])
    a = d.declared(role(d), t, [i.dim])
    back = E("-", "i64", (lit(k - 1, "i64"), j.e()))
    body = d.r.choice([x, binary("*", x, read(w.name, t, [j.e()])), binary("*", read(w.name, t, [back]), x)])
    d.define(a, [i.e()], [i], red(d.r.choice(["sum", "max", "min"]), [j.range()], body))
    keep(d, a)


def deep(d):
    """Up to six dimensions, permuted."""
    t = d.r.choice(NUMBERS)
    dims = [Dim(None, d.r.randint(1, 3)) if d.r.random() < 0.6 else Dim(d.size(True)) for _ in range(d.r.randint(4, 6))]
    scope = d.vars(dims)
    src = d.input(t, dims)
    turned_scope = d.r.sample(scope, len(scope))
    a = d.declared(role(d), t, [v.dim for v in turned_scope])
    e = read(src.name, t, [v.e() for v in scope])
    e = binary("+", e, d.leaf(t, scope)) if t in FLOATS else cast(t, binary("-", cast("i32", e), d.small(scope, 1)))
    d.define(a, [v.e() for v in turned_scope], turned_scope, e)
    y = d.declared(role(d), t if t in FLOATS else "i64", [scope[0].dim])
    d.define(y, [scope[0].e()], [scope[0]], red(d.r.choice(["sum", "max"]), [v.range() for v in scope[1:]], e))
    keep(d, a)
    keep(d, y)


def chained(d):
    """x[a[b[i]]], and a histogram through both."""
    n, m, k = Dim(d.size()), Dim(d.size()), Dim(d.size())
    b, a = d.index(m, [n]), d.index(k, [m])
    t = d.r.choice(NUMBERS)
    x, i = d.input(t, [k]), d.vars([n])[0]
    at = read(a.name, "i64", [read(b.name, "i64", [i.e()])])
    y = d.declared(role(d), t, [n])
    d.define(y, [i.e()], [i], [(cmp(d.r.choice(["<", "==", "!="]), at, i.e()), read(x.name, t, [at])),
                               (None, d.stored(t, [i], 1))])
    z = d.declared(role(d), t, [k])
    d.define(z, [at], [i], d.stored(t, [i], 1), d.r.choice(["+=", "min=", "max="]))
    keep(d, y)
    keep(d, z)


def firsts(d):
    """Conditions that read offsets: where a segment begins, sums that run on within it."""
    n, total, t = Dim(d.size()), Dim(d.size()), d.r.choice(FLOATS + ("i64",))
    off = d.declared("in", "i64", [Dim(n.size, 1)], total, "", d.r.random() < 0.7, kind="offsets")
    s, k = d.vars([n])[0], Var(d.name("k"), total)
    begin = read(off.name, "i64", [s.e()])
    end = read(off.name, "i64", [plus(s.e(), 1)])
    a = d.declared(role(d), t, [total])
    x = body_of(d, t, [s, k])
    down = d.r.random() < 0.4
    old = read(a.name, t, [plus(k.e(), 1 if down else -1)])
    edge = cmp("==", k.e(), plus(end, -1) if down else begin)
    new = binary("+", old, x) if t == "i64" else binary("+", binary("*", lit(0.5), old), x)
    d.define(a, [k.e()], [s, (k.name, begin, end)], [(edge, x), (None, new)])
    keep(d, a)


def known(d):
    """Constants of the file, `inf`, nested and several reductions in one expression."""
    name = "K_" + d.p.name + "_" + d.name("c")
    value = d.r.choice([0.5, 2.0, 0.1, 3, -2, 7])
    d.p.constants.append(f"const {name} = {value};")
    t = d.r.choice(FLOATS)
    i = d.vars([d.dim()])[0]
    j, k = d.vars([d.dim(True), d.dim(True)])
    constant = E("lit", None, (), value)
    inner = red(d.r.choice(["sum", "max"]), [k.range()], d.real(t, [i, j, k], 1))
    outer = red(d.r.choice(["sum", "min"]), [j.range()], inner)
    e = binary(d.r.choice("+-"), binary("*", constant, d.real(t, [i], 1)), outer)
    if d.r.random() < 0.3:
        e = call("max", e, neg(E("inf", t)))
    if d.r.random() < 0.3:
        e = select(cmp("<", d.leaf(t, [i]), E("inf", t)), e, d.leaf(t, [i]))
    a = d.declared(role(d), t, [i.dim])
    d.define(a, [i.e()], [i], rename(e, constant.x, name))
    keep(d, a)


def rename(e, value, name):
    """The literal written by its name."""
    if e.op == "lit" and e.x == value and isinstance(e.x, type(value)):
        return Named(e, name)
    return E(e.op, e.t, [rename(a, value, name) for a in e.a], e.x)


class Named(E):
    __slots__ = ("shown",)

    def __init__(self, e, name):
        super().__init__(e.op, e.t, e.a, e.x)
        self.shown = name


def softmax(d):
    """Rows that share a sum and an extreme."""
    t = d.r.choice(FLOATS)
    i, j, k = d.vars([Dim(d.size()), d.dim(True), d.dim(True)])
    k = Var(k.name, j.dim)
    x = d.input(t, [i.dim, j.dim])
    at, other = read(x.name, t, [i.e(), j.e()]), read(x.name, t, [i.e(), k.e()])
    a = d.declared(role(d), t, [i.dim, j.dim])
    d.define(a, [i.e(), j.e()], [i, j], d.r.choice([
        binary("/", at, binary("+", red("sum", [k.range()], call("abs", other)), lit(1))),
        binary("-", at, red("max", [k.range()], other)),
        binary("*", at, red("min", [k.range()], call("abs", other)))]))
    keep(d, a)


def counts(d):
    """Counters of narrow types, of conditions on data."""
    t = d.r.choice(INTS)
    i = d.vars([Dim(d.size())])[0]
    to = d.dim()
    p = d.index(to, [i.dim])
    a = d.declared(role(d), t, [to])
    d.define(a, [read(p.name, "i64", [i.e()])], [i], select(d.boolean([i], 1), lit(d.r.choice([1, 100, 200, -3])),
                                                            lit(0)), "+=")
    c = d.declared(role(d), "i64", [])
    d.define(c, [], [], red("sum", [i.range()], select(d.boolean([i], 2), lit(1), lit(0))))
    keep(d, a)
    keep(d, c)


SHAPES = [triangle, triangle, turned, turned, window, deep, chained, firsts, known, softmax, counts]
