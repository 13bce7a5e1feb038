# SPDX-License-Identifier: MIT
"""Kinds of statements outside of constructs and loops: definitions by cell, by parts, through permutations,
recurrences, reductions, segments, trees, whole arrays, stencils, computed indices. Each adds to a program (draw.py)."""
from draw import NUMBERS, TYPES, Dim, Var
from tree import E, binary, call, cast, clamp, cmp, lit, neg, plus, read, red, select, text, var
from values import FLOATS

BOX = [("[1, 2, 1]", [1, 2, 1]), ("[[1, 2, 1], [2, 4, 2], [1, 2, 1]]", [[1, 2, 1], [2, 4, 2], [1, 2, 1]]),
       ("[[1], [-2], [1]]", [[1], [-2], [1]]),
       ("[[0, 1, 0], [1, -4, 1], [0, 1, 0]]", [[0, 1, 0], [1, -4, 1], [0, 1, 0]])]


def role(d):
    return "temp" if d.in_body else d.r.choice(["out", "out", "out", "temp"])


def keep(d, a):
    """What is computed can be read; what nothing reads is shown by an output."""
    d.readable.append(a)
    return a


def branches(d, t, scope, depth=3):
    """A value, or a case of it with `else`."""
    if d.r.random() < 0.55:
        return d.stored(t, scope, depth)
    rows = [(d.condition(scope), d.stored(t, scope, depth - 1)) for _ in range(d.r.randint(1, 3))]
    return rows + [(None, d.stored(t, scope, depth - 1))]


def cells(d):
    t = d.r.choice(TYPES)
    scope = d.vars(d.dims(d.r.choice([0, 1, 1, 1, 2, 2, 2, 3])))
    a = None
    value = branches(d, t, scope) if scope else d.stored(t, scope)
    a = d.declared(role(d), t, [v.dim for v in scope])
    d.define(a, [v.e() for v in scope], scope, value)
    keep(d, a)


def functions(d):
    """On a smaller or a larger domain, read where that is."""
    t = d.r.choice(NUMBERS)
    scope = d.vars(d.dims(d.r.choice([1, 2, 2])))
    for v in scope:
        if v.dim.size:
            v.lo, v.hi = d.r.choice([(0, 0), (1, 0), (0, -1), (1, -1), (-1, 1), (0, 1)])
    wide = [v for v in scope if v.lo < 0 or v.hi > 0]
    value = d.stored(t, [v for v in scope if v not in wide], 3)
    f = d.func(t, scope, value)
    over = [Var(d.name("i"), v.dim, max(v.lo, 0), min(v.hi, 0)) for v in scope]
    shifted = [plus(o.e(), d.r.choice([-1, 0, 1]) if v in wide and v.lo < 0 else 0) for o, v in zip(over, scope)]
    a = d.declared(role(d), t, [v.dim for v in scope])
    one, other = read(f.name, t, shifted), read(f.name, t, [o.e() for o in over])
    inside = binary(d.r.choice("+-"), one, other) if t in FLOATS else cast(t, binary("+", one, other))
    guards = [cmp(">=", o.e(), lit(o.lo)) for o in over if o.lo] + [
        cmp("<", o.e(), plus(o.dim.e(), o.hi)) for o in over if o.hi]
    whole = [Var(o.name, o.dim) for o in over]
    if guards:
        c = guards[0]
        for g in guards[1:]:
            c = E("and", "bool", (c, g))
        d.define(a, [o.e() for o in over], whole, [(c, inside), (None, d.stored(t, whole, 1))])
    else:
        d.define(a, [o.e() for o in over], whole, inside)
    keep(d, a)


def parts(d):
    """Several definitions, each of other cells."""
    t, n = d.r.choice(TYPES), d.size()
    x = d.r.random()
    if x < 0.4:
        a = d.declared(role(d), t, [Dim(n, 0, 2)])
        for half in (0, 1):
            (v,) = d.vars([Dim(n)])
            d.define(a, [plus(E("*", "i64", (lit(2, "i64"), v.e())), half)], [v], d.stored(t, [v], 2))
    elif x < 0.7:
        a = d.declared(role(d), t, [Dim(n, 1)])
        v, = d.vars([Dim(n)])
        d.define(a, [lit(0, "i64")], [], d.stored(t, [], 1))
        d.define(a, [plus(v.e(), 1)], [v], branches(d, t, [v], 2))
    else:
        a = d.declared(role(d), t, [Dim(n), Dim(None, 3)])
        for j in range(3):
            v, = d.vars([Dim(n)])
            d.define(a, [v.e(), lit(j, "i64")], [v], d.stored(t, [v], 2))
    keep(d, a)


def permuted(d):
    t, n = d.r.choice(TYPES), Dim(d.size())
    p = d.index(n, [n], d.r.choice(["unique", "unique", "sorted unique"]))
    scope = d.vars([n] + ([d.dim(True)] if d.r.random() < 0.5 else []))
    a = d.declared(role(d), t, [v.dim for v in scope])
    d.define(a, [read(p.name, "i64", [scope[0].e()])] + [v.e() for v in scope[1:]], scope, branches(d, t, scope, 2))
    keep(d, a)


def recurrence(d):
    """Up or down along one dimension, in a row of a matrix or a column."""
    t = d.r.choice(FLOATS + ("f64", "i64", "i32", "u8"))
    down, rank = d.r.random() < 0.4, d.r.choice([1, 2, 2])
    dims = [Dim(d.size()), d.dim(True)][:rank]
    if rank == 2 and d.r.random() < 0.5:
        dims.reverse()
    scope = d.vars(dims)
    along = d.r.randrange(rank)
    v, step = scope[along], d.r.choice([1, 1, 1, 2])
    a = d.declared(role(d), t, dims)
    back = [plus(w.e(), step if down else -step) if w is v else w.e() for w in scope]
    old = read(a.name, t, back)
    if t in FLOATS:
        x = d.real(t, scope, 1)
        new = d.r.choice([lambda: binary("+", old, x), lambda: binary("-", x, binary("*", lit(0.5), old)),
                          lambda: binary("+", binary("*", old, lit(0.25)), x), lambda: call("max", old, x),
                          lambda: call("tanh", binary("+", old, x)), lambda: ratio(x, old)])()
    else:
        new = cast(t, binary(d.r.choice("+-"), cast("i32", old), d.small(scope, 1)))
    start = cmp(">=", v.e(), binary("-", v.dim.e(), lit(step))) if down else cmp("<", v.e(), lit(step))
    d.define(a, [w.e() for w in scope], scope, [(start, d.stored(t, scope, 1)), (None, new)])
    keep(d, a)


def ratio(x, old):
    e = binary("/", x, binary("+", call("abs", old), lit(2)))
    return E("/", e.t, e.a, "recurrence")


def grid(d):
    """Two-dimensional, and two arrays that need each other."""
    t = d.r.choice(FLOATS + ("i64",))
    scope = d.vars([Dim(d.size()), Dim(d.size(True))])
    i, j = scope
    both = d.r.random() < 0.5
    arrays = [d.declared(role(d), t, [i.dim, j.dim]) for _ in range(2 if both else 1)]
    other = arrays[-1]
    for a in arrays:
        x = d.real(t, scope, 1) if t in FLOATS else d.small(scope, 1)
        up = read(other.name, t, [plus(i.e(), -1), j.e()])
        left = read(arrays[0].name, t, [i.e(), plus(j.e(), -1)])
        if t in FLOATS:
            new = binary("+", binary("*", lit(0.5), binary(d.r.choice("+-"), up, left)), x)
        else:
            new = binary("+", call(d.r.choice(["min", "max"]), up, left), x)
        edge = E("or", "bool", (cmp("==", i.e(), lit(0)), cmp("==", j.e(), lit(0))))
        d.define(a, [i.e(), j.e()], scope, [(edge, d.stored(t, scope, 1)), (None, new)])
    for a in arrays:
        keep(d, a)


def tree(d):
    """Towards the tips, and towards the roots."""
    t, n = d.r.choice(FLOATS + ("f64", "i64")), Dim(d.size())
    if d.r.random() < 0.5:
        p = d.declared("in", "i64", [n], n, "tree", True)
        name = p.name
    else:
        name = d.name("T")
        d.p.lines.append(f"fixed in {name} : Tree({text(n.e())});")
        name += ".parent"
        d.declare("in", "i64", [n], n, "tree", True, name=name)
    scope = d.vars([n] if d.r.random() < 0.6 else [d.dim(True), n])
    v = scope[-1]
    lead = [w.e() for w in scope[:-1]]
    a = d.declared(role(d), t, [w.dim for w in scope])
    x = d.real(t, scope, 1) if t in FLOATS else d.small(scope, 1)
    if d.r.random() < 0.5:
        up = read(a.name, t, lead + [read(name, "i64", [v.e()])])
        new = binary("+", up, x) if t == "i64" else binary("+", binary("*", lit(0.5), up), x)
        d.define(a, [w.e() for w in scope], scope, [(cmp("<", read(name, "i64", [v.e()]), lit(0)), x), (None, new)])
    else:
        c = d.name("c")
        below = read(a.name, t, lead + [var(c)])
        s = red("sum", [(c, name, v.e())], below if t == "i64" else binary("*", lit(0.5), below))
        d.define(a, [w.e() for w in scope], scope, binary("+", x, s))
    keep(d, a)
    if d.r.random() < 0.5:
        y = d.declared(role(d), "i64", [n])
        i, c = d.vars([n])[0], d.name("c")
        d.define(y, [i.e()], [i], red("sum", [(c, name, i.e())], lit(1, "i64")))
        keep(d, y)


def reduction(d):
    """Into cells that are affine or found, with a start or the identity, of any type."""
    t, op = d.r.choice(NUMBERS), d.r.choice(["+=", "+=", "+=", "min=", "max=", "*="])
    x = d.r.random()
    scope = d.vars([Dim(d.size())] + ([d.dim(True)] if d.r.random() < 0.5 else []))
    last = scope[-1]
    if x < 0.25:
        dims, subs = [], []
    elif x < 0.55:
        dims, subs = [last.dim], [last.e()]
    elif x < 0.65:
        k = d.r.randint(2, 5)
        dims, subs = [Dim(None, k)], [E("%", "i64", (scope[0].e(), lit(k, "i64")))]
    else:
        to = d.dim()
        p = d.index(to, [scope[0].dim])
        dims, subs = [to], [read(p.name, "i64", [scope[0].e()])]
        if len(scope) > 1 and d.r.random() < 0.7:
            dims, subs = dims + [last.dim], subs + [last.e()]
    values = [branches(d, t, scope, 2) for _ in range(d.r.choice([1, 1, 2]))]
    if d.r.random() < 0.3 and isinstance(values[0], list):
        values[0].pop()
    start = d.r.random()
    if start < 0.2 and not d.in_body:
        a = d.declared("inout", t, dims)
    else:
        s = d.vars(dims)
        first = d.stored(t, s, 1) if start < 0.45 else None
        a = d.declared(role(d), t, dims)
        if first is not None:
            d.define(a, [v.e() for v in s], s, first)
    for value in values:
        d.define(a, subs, scope, value, op)
    if a.role != "inout" and d.r.random() < 0.5:
        keep(d, a)


def segments(d):
    """Over offsets, or as many as lengths say."""
    n, t = Dim(d.size()), d.r.choice(FLOATS + ("i64", "f64"))
    i = d.vars([n])[0]
    k = d.name("k")
    if d.r.random() < 0.6:
        total = Dim(d.size())
        off = d.declared("in", "i64", [Dim(n.size, 1)], total, "", d.r.random() < 0.7, kind="offsets")
        r = Var(k, total)
        over = (k, read(off.name, "i64", [i.e()]), read(off.name, "i64", [plus(i.e(), 1)]))
    else:
        total = d.dim()
        most = Dim(total.size, total.constant + 1)
        ln = d.declared("in", "i64", [n], most, "", d.r.random() < 0.5, kind=None)
        r = Var(k, total)
        over = (k, lit(0, "i64"), read(ln.name, "i64", [i.e()]))
    if not d.reads([t], [i, r]) or d.r.random() < 0.5:
        d.input(t, [total])
    extra = d.vars([d.dim(True)] if d.r.random() < 0.3 else [])
    body = d.real(t, [i, r] + extra, 1) if t in FLOATS else d.small([i, r] + extra, 1)
    op = d.r.choice(["sum", "sum", "min", "max"] + (["prod"] if t in FLOATS else []))
    a = d.declared(role(d), t if t in FLOATS else "i64", [n] + [v.dim for v in extra])
    if d.r.random() < 0.6:
        d.define(a, [i.e()] + [v.e() for v in extra], [i] + extra, red(op, [over], body))
    else:
        code = {"sum": "+=", "prod": "*=", "min": "min=", "max": "max="}[op]
        d.define(a, [i.e()] + [v.e() for v in extra], [i, over] + extra, body, code)
    keep(d, a)


def computed(d):
    """An index array that is computed, read as a subscript and as a target."""
    n, to = Dim(d.size()), Dim(d.size(least=1))
    v = d.vars([n])[0]
    top = plus(to.e(), -1)
    x = d.integer([v], 2)
    value = clamp("min", clamp("max", x, lit(0)), top) if d.r.random() < 0.6 else E("%", "i64", (
        cast("i64", x), to.e()))
    p = d.func("i64", [v], value, to)
    p.limit, p.kind, p.dims = to, None, [n]
    t = d.r.choice(NUMBERS)
    if d.r.random() < 0.5:
        i = d.vars([n])[0]
        a = d.declared(role(d), t, [to])
        d.define(a, [read(p.name, "i64", [i.e()])], [i], d.stored(t, [i], 1), d.r.choice(["+=", "max=", "min="]))
    else:
        src = d.input(t, [to])
        i = d.vars([n])[0]
        a = d.declared(role(d), t, [n])
        d.define(a, [i.e()], [i], read(src.name, t, [read(p.name, "i64", [i.e()])]))
    keep(d, a)


def whole(d):
    """Right-hand sides without subscripts, and functions of all elements."""
    t = d.r.choice(FLOATS)
    dims = d.dims(d.r.choice([1, 2]))
    a, b = d.input(t, dims), d.input(t, dims)
    scope = d.vars(dims)
    subs = [v.e() for v in scope]

    def w(x):
        return E("whole", t, subs, x.name)

    s = d.scalar()
    s = s if s.t == t else lit(1.5)
    e = d.r.choice([lambda: binary("+", binary("*", lit(2), w(a)), s),
                    lambda: call("max", binary("-", w(a), w(b)), lit(0)),
                    lambda: select(cmp("<", w(a), w(b)), w(a), neg(w(b))), lambda: call("abs", binary("*", w(a), w(b))),
                    lambda: binary("-", w(a), binary("/", w(b), lit(3)))])()
    y = d.declared(role(d), t, dims)
    d.define(y, subs, scope, e, show=False)
    d.line(f"{y.name} = {text(e)};")
    keep(d, y)
    z = d.declared(role(d), t, [])
    ranges = [v.range() for v in scope]
    ra, rb = read(a.name, t, subs), read(b.name, t, subs)
    shown, value = d.r.choice([
        (f"dot({a.name}, {b.name})", red("sum", ranges, binary("*", ra, rb))),
        (f"sum({a.name})", red("sum", ranges, ra)),
        (f"maxval(abs({a.name}))", red("max", ranges, call("abs", ra))),
        (f"norm2({b.name})", call("sqrt", red("sum", ranges, binary("*", rb, rb))))])
    d.define(z, [], [], value, show=False)
    d.line(f"{z.name} = {shown};")
    keep(d, z)
    if d.r.random() < 0.4:
        c = d.declared(role(d), "i64", [])
        d.define(c, [], [], red("sum", ranges, select(cmp("!=", ra, lit(0)), lit(1), lit(0))), show=False)
        d.line(f"{c.name} = nnz({a.name});")
        keep(d, c)


def matrices(d):
    t, (n, k, m) = d.r.choice(FLOATS), d.dims(3)
    turned = d.r.random() < 0.5
    a = d.input(t, [k, n] if turned else [n, k])
    i, j, l = d.vars([n, m, k])
    ra = read(a.name, t, [l.e(), i.e()] if turned else [i.e(), l.e()])
    left = f"transpose({a.name})" if turned else a.name
    if d.r.random() < 0.3:
        b = d.input(t, [k])
        y = d.declared(role(d), t, [n])
        d.define(y, [i.e()], [i], red("sum", [l.range()], binary("*", ra, read(b.name, t, [l.e()]))), show=False)
    else:
        b = d.input(t, [k, m])
        y = d.declared(role(d), t, [n, m])
        d.define(y, [i.e(), j.e()], [i, j], red("sum", [l.range()], binary(
            "*", ra, read(b.name, t, [l.e(), j.e()]))), show=False)
    d.line(f"{y.name} = matmul({left}, {b.name});")
    keep(d, y)


def stencils(d):
    t, dims = d.r.choice(FLOATS), [Dim(d.size()), Dim(d.size(True))]
    shown, weights = d.r.choice(BOX)
    two = isinstance(weights[0], list)
    a, (i, j) = d.input(t, dims), d.vars(dims)
    if d.r.random() < 0.3:
        name = "W_" + d.p.name + "_" + d.name("c")
        d.p.constants.append(f"const {name} = {shown};")
        shown = name
    table = weights if two else [weights]
    shifts = [((p - len(table)//2, q - len(row)//2), w) for p, row in enumerate(table) for q, w in enumerate(row)]
    f = E("stencil", t, [read(a.name, t, [i.e(), j.e()])] + ([lit(0.25, t)] if d.r.random() < 0.5 else []),
          (shown, shifts))
    c = None
    for g in [cmp(">=", i.e(), lit(1)), cmp("<", i.e(), plus(i.dim.e(), -1)), cmp(">=", j.e(), lit(1)),
              cmp("<", j.e(), plus(j.dim.e(), -1))]:
        c = g if c is None else E("and", "bool", (c, g))
    y = d.declared(role(d), t, dims)
    d.define(y, [i.e(), j.e()], [i, j], [(c, f), (None, d.stored(t, [i, j], 1))])
    keep(d, y)


KINDS = [cells]*5 + [functions, parts]*2 + [permuted, grid, computed, whole, matrices, stencils] + [recurrence]*3 + [
    tree, segments]*2 + [reduction]*4
