# SPDX-License-Identifier: MIT
"""Kinds of statements: constructs, as language.md writes them out, and the loop over iterations with its states."""
from draw import Dim
from shapes import SHAPES
from statements import KINDS, keep, role
from tree import E, binary, call, cast, cmp, lit, plus, read, red, text, var
from values import FLOATS


def sparse(d):
    """A tensor in coordinates: of three modes with a dictionary, or a matrix; both ways."""
    t, name, nnz = d.r.choice(FLOATS), d.name("PHI"), Dim(d.size())
    three = d.r.random() < 0.6
    sizes = [Dim(d.size()) for _ in range(3 if three else 2)]
    modes = ["m0", "m1", "m2"] if three else ["row", "col"]
    d.p.lines.append(f"fixed in {name} : PHI_Tensor<{t}>({text(nnz.e())}; " + ", ".join(
        f"{m} < {text(s.e())}" for m, s in zip(modes, sizes)) + ");")
    for m, s in zip(modes, sizes):
        d.declare("in", "i64", [nnz], s, "", True, name=f"{name}.{m}")
    d.declare("in", t, [nnz], None, "", True, name=f"{name}.value")
    k = d.vars([nnz])[0]
    at = [read(f"{name}.{m}", "i64", [k.e()]) for m in modes]
    value = read(f"{name}.value", t, [k.e()])
    d.p.order[-len(modes) - 1:] = [("array", f"{name}.{m}") for m in modes + ["value"]]
    turned = d.r.random() < 0.5
    shown = f"transpose({name})" if turned else name
    if three:
        theta = d.dim(True)
        dictionary, th = d.input(t, [sizes[0], theta]), d.vars([theta])[0]
        atom = read(dictionary.name, t, [at[0], th.e()])
        if turned:
            x = d.input(t, [sizes[1], theta])
            y = d.declared(role(d), t, [sizes[2]])
            term = binary("*", binary("*", value, atom), read(x.name, t, [at[1], th.e()]))
            d.define(y, [at[2]], [k, th], term, "+=", show=False)
        else:
            x = d.input(t, [sizes[2]])
            y = d.declared(role(d), t, [sizes[1], theta])
            term = binary("*", binary("*", atom, read(x.name, t, [at[2]])), value)
            d.define(y, [at[1], th.e()], [k, th], term, "+=", show=False)
        d.line(f"{y.name} = Sparse_matvec({shown}, {dictionary.name}, {x.name});")
    else:
        to, of = (1, 0) if turned else (0, 1)
        x, y = d.input(t, [sizes[of]]), d.declared(role(d), t, [sizes[to]])
        d.define(y, [at[to]], [k], binary("*", value, read(x.name, t, [at[of]])), "+=", show=False)
        d.line(f"{y.name} = Sparse_matvec({shown}, {x.name});")
    for a in (d.p.arrays[y.name],):
        keep(d, a)
    d.p.items += [("tensor", name, modes, y.name)]


def loose(a, b):
    e = binary("/", a, b)
    return E("/", e.t, e.a, "recurrence")


def hidden(d, t, scope, branches):
    """An array of the meaning only."""
    a = d.declare("func", t, [v.dim for v in scope])
    d.p.hidden.add(a.name)
    d.define(a, [v.e() for v in scope], scope, branches, show=False)
    return a


def tribatch(d):
    t, dims = d.r.choice(FLOATS), [d.dim(True), Dim(d.size())]
    if d.r.random() < 0.3:
        dims = dims[1:]
    scope = d.vars(dims)
    subs, v = [w.e() for w in scope], scope[-1]
    ins = [d.input(t, dims) for _ in range(4)]
    ins[0].kind, ins[1].kind, ins[2].kind = "tame", "dominant", "tame"
    a, b, c, rhs = (x.name for x in ins)
    for x in ins[:3]:
        d.readable.remove(x)

    def at(name, shift=0):
        return read(name, t, subs[:-1] + [plus(v.e(), shift)])

    first = cmp("==", v.e(), lit(0))
    p = hidden(d, t, scope, [(first, at(b))])
    other = binary("-", at(b), loose(binary("*", at(a), at(c, -1)), at(p.name, -1)))
    d.p.definitions[-1].branches.append((None, other))
    y = hidden(d, t, scope, [(first, at(rhs))])
    d.p.definitions[-1].branches.append((None, binary("-", at(rhs), loose(binary("*", at(a), at(y.name, -1)),
                                                                          at(p.name, -1)))))
    x = d.declared(role(d), t, dims)
    d.define(x, subs, scope, [
        (cmp("==", v.e(), plus(v.dim.e(), -1)), loose(at(y.name), at(p.name))),
        (None, loose(binary("-", at(y.name), binary("*", at(c), at(x.name, 1))), at(p.name)))], show=False)
    d.line(f"{x.name} = TriBatch({a}, {b}, {c}, {rhs});")
    keep(d, x)
    d.p.items.append(("chain", x.name))


def hines(d):
    t, n, name = d.r.choice(FLOATS), Dim(d.size()), d.name("T")
    forest = d.r.random() < 0.4
    if forest:
        systems = Dim(d.size())
        d.p.lines.append(f"fixed in {name} : Forest({text(systems.e())}, {text(n.e())});")
        d.declare("in", "i64", [Dim(systems.size, 1)], n, "", True, name=f"{name}.offset", kind="offsets")
        d.declare("in", "i64", [n], n, "tree", True, name=f"{name}.parent", kind=f"{name}.offset")
        dims = [n]
    else:
        d.p.lines.append(f"fixed in {name} : Tree({text(n.e())});")
        d.declare("in", "i64", [n], n, "tree", True, name=f"{name}.parent")
        dims = [d.dim(True), n]
    own = forest or d.r.random() < 0.5
    off = [d.input(t, dims if own else [n]) for _ in range(2)]
    diag, rhs = d.input(t, dims), d.input(t, dims)
    diag.kind = "dominant"
    for x in off:
        x.kind = "tame"
    for x in off + [diag]:
        d.readable.remove(x)
    scope, parent, c = d.vars(dims), f"{name}.parent", d.name("c")
    lead, i = [w.e() for w in scope[:-1]], scope[-1].e()
    up = read(parent, "i64", [i])

    def at(a, node):
        return read(a.name, t, (lead if len(a.shape) == len(dims) else []) + [node])

    e = hidden(d, t, scope, [])
    over = [(c, parent, i)]
    d.p.definitions[-1].branches = [(None, binary("-", at(diag, i), red("sum", over, loose(
        binary("*", at(off[0], var(c)), at(off[1], var(c))), at(e, var(c))))))]
    r = hidden(d, t, scope, [])
    d.p.definitions[-1].branches = [(None, binary("-", at(rhs, i), red("sum", over, loose(
        binary("*", at(off[0], var(c)), at(r, var(c))), at(e, var(c))))))]
    x = d.declared(role(d), t, dims)
    d.define(x, lead + [i], scope, [
        (cmp("<", up, lit(0)), loose(at(r, i), at(e, i))),
        (None, loose(binary("-", at(r, i), binary("*", at(off[1], i), at(x, up))), at(e, i)))], show=False)
    d.line(f"{x.name} = HinesSystem({name}, {off[0].name}, {off[1].name}, {diag.name}, {rhs.name});")
    keep(d, x)
    d.p.items.append(("tree", x.name))


CONSTRUCTS = [sparse, sparse, tribatch, hines]


def state(d, t, dims):
    """`state` with its start, or `inout`."""
    if d.r.random() < 0.35:
        return d.declared("inout", t, dims)
    scope = d.vars(dims)
    first = d.r.choice([a for a in d.readable if a.role == "in" and a.t == t and [x.key for x in a.dims] == [
        x.key for x in dims]] or [None])
    start = lit(0) if first is None else read(first.name, t, [v.e() for v in scope])
    if t == "bool" and first is None:
        start = E("cmp", "bool", (lit(1, "i64"), lit(2, "i64")), "<")
    a = d.declare("state", t, dims, init=([v.name for v in scope], start))
    shown = text(start) if first is None else first.name
    of = f"{t}[{', '.join(text(x.e()) for x in dims)}]" if dims else t
    d.p.lines.append(f"state {a.name} : {of} = {shown};")
    return a


def next_of(d, a, it):
    """The next values of all cells, of some, or what is added to them."""
    scope = d.vars(a.dims)
    subs, t = [v.e() for v in scope], a.t
    old = read(a.name, t, subs)
    x = d.r.random()
    if a.dims and x < 0.2 and t != "bool":
        d.define(a, subs, scope, d.stored(t, scope, 1), d.r.choice(["+=", "max="]), is_next=True)
        return
    if t in FLOATS:
        value = d.r.choice([lambda: binary("+", binary("*", lit(0.5), old), d.real(t, scope, 1)),
                            lambda: call("max", old, d.real(t, scope, 1)), lambda: d.real(t, scope, 2)])()
    elif t == "bool":
        value = E("not", "bool", [old]) if d.r.random() < 0.5 else d.boolean(scope, 1)
    else:
        value = cast(t, binary("+", cast("i32", old), d.small(scope, 1)))
    some = d.r.random()
    if a.dims and some < 0.25:
        value = [(d.condition(scope), value)]
    elif some < 0.4:
        value = [(cmp("==", binary("%", var(it), lit(2)), lit(0)), value), (None, old)]
    d.define(a, subs, scope, value, is_next=True)


def iterate(d):
    """States, what the body computes, traces, and what is read afterwards."""
    it, steps = d.name("it"), Dim(None, d.r.randint(1, 5)) if d.r.random() < 0.5 else Dim(d.size(True))
    types = d.r.choices(list(FLOATS)*3 + ["i64", "i32", "u8", "bool"], k=d.r.randint(1, 3))
    states = [state(d, t, d.dims(d.r.choice([0, 1, 1, 2]))) for t in types]
    count = d.declare("state", "i64", [], init=([], lit(0)))
    d.p.lines.append(f"state {count.name} : i64 = 0;")
    until = None
    if d.r.random() < 0.6:
        until = cmp(">=", read(count.name, "i64", []), lit(d.r.randint(0, 4)))
        scalars = [a for a in states if not a.dims and a.t in FLOATS]
        if scalars and d.r.random() < 0.5:
            until = E("or", "bool", (until, cmp(">", read(scalars[0].name, scalars[0].t, []), lit(2.0))))
    traces = []
    for a in states:
        if d.r.random() < 0.6:
            traces.append((a, d.declared("out", a.t, [Dim(steps.size, steps.constant)] + a.dims)))
    counted = d.declared("out", "i64", []) if d.r.random() < 0.4 else None
    d.in_body, d.p.body, outside = True, [], list(d.readable)
    d.readable += states + [count]
    for kind in d.r.choices(KINDS + SHAPES + CONSTRUCTS, k=d.r.randint(0, 3)):
        kind(d)
    for a in states:
        next_of(d, a, it)
    d.define(count, [], [], binary("+", read(count.name, "i64", []), lit(1)), is_next=True)
    for a, tr in traces:
        scope = d.vars(a.dims)
        subs = [v.e() for v in scope]
        d.define(tr, [var(it)] + subs, scope, read(a.name, a.t, subs))
    if counted:
        d.define(counted, [], [], lit(1), "+=")
    rows, d.in_body = d.p.body, False
    stop = f" until {text(until)}" if until is not None else ""
    d.p.lines.append(f"iterate {it} in 0..{text(steps.e())}{stop} {{ " + "\n        ".join([""] + rows) + " }")
    d.p.iterate = (it, lit(0, "i64"), steps.e(), until)
    d.readable = outside + states + [count]
    for a in states + [count]:
        if a.role == "state":
            scope = d.vars(a.dims)
            y = d.declared("out", a.t, a.dims)
            subs = [v.e() for v in scope]
            d.define(y, subs, scope, read(a.name, a.t, subs))
