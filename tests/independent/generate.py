# SPDX-License-Identifier: MIT
"""Programs by number, the items of their schedule blocks, and sizes and data to run them on."""
import math
import random

from draw import Draw
from shapes import SHAPES
from statements import KINDS
from systems import CONSTRUCTS, iterate
from values import FLOATS, limits, single

PARTS = ["chunks", "coeff", "coeff_exclusive", "private", "atomic", "parts"]
LAYOUTS = ["full", "flat", "interleave(block = 4)", "order(1, 0)"]
SIZES = [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 65, 130, 257, 300]


def program(seed, number):
    r = random.Random(f"{seed} {number}")
    d = Draw(r, f"p{number}")
    for _ in range(r.randint(1, 3)):
        d.input()
    if r.random() < 0.5:
        d.index(d.dim(), d.dims(1))
    kinds = r.choices(KINDS + SHAPES, k=r.randint(2, 5))
    if r.random() < 0.25:
        kinds.append(r.choice(CONSTRUCTS))
    r.shuffle(kinds)
    if r.random() < 0.22:
        kinds.insert(r.randint(0, len(kinds)), iterate)
    for kind in kinds:
        kind(d)
    if not any(a.role in ("out", "inout") for a in d.p.arrays.values()):
        KINDS[0](d)
    if d.p.sizes and r.random() < 0.15:
        d.p.special = (r.choice(d.p.sizes), r.choice([1, 3, 8, 16, 33]))
        if d.p.least[d.p.special[0]] <= d.p.special[1]:
            d.p.lines.append(f"specialize {d.p.special[0]} = {d.p.special[1]};")
    shuffle(r, d.p)
    d.p.kinds = [k.__name__ for k in kinds]
    return d.p


def shuffle(r, p):
    """A pipeline is a set of equations; the order of declarations is that of the arguments."""
    held = [x for x in p.lines if x.split()[0] in ("param", "fixed", "in", "out", "inout")]
    rest = [x for x in p.lines if x not in held]
    if r.random() < 0.5:
        r.shuffle(rest)
    names = {n for _, n in p.order}
    order = [declared for x in held for declared in named(x, p, names)]
    kinds = {n: k for k, n in p.order}
    p.order = [(kinds[n], n) for n in order]
    p.lines = held + rest


def named(row, p, names):
    """The arguments that a declaration adds, in their order."""
    words = row.rstrip(";").split(" : ")[0].split()
    name = words[-1]
    if name in names:
        return [name]
    return [n for _, n in p.order if n.startswith(name + ".")]


def items(seed, number, p, variant):
    """Requests that may fit this program or not."""
    r = random.Random(f"items {seed} {number} {variant}")
    made = [a.name for a in p.arrays.values() if a.role in ("out", "temp", "func", "inout") and a.name not in
            p.hidden]
    floats = [a.name for a in p.arrays.values() if a.t in FLOATS and a.shape and "." not in a.name and
              a.name not in p.hidden]
    out = []
    for kind, *what in p.items:
        if kind == "tensor":
            name, modes, y = what
            out.append(r.choice([f"restructure {name} by {r.choice(modes)};", f"restructure {name} by none;",
                                 f"restructure {name} by hybrid({', '.join(r.sample(modes, 2))});"]))
            out.append(f"partition {y} by {r.choice(PARTS)};")
            if r.random() < 0.5:
                out.append(r.choice([f"renumber {name} by {r.choice(modes)};", f"premultiply {name} by {modes[0]};"]))
        elif kind == "chain":
            out.append(f"algorithm {what[0]} : " + r.choice(["cr", "pcr", "crpcr(rows = 32)", "pcr_thomas(steps = 4)",
                                                              "partition(rows = 3)", "thomas"]) + ";")
        else:
            out.append(f"algorithm {what[0]} : {r.choice(['level_batches', 'chains', 'hines'])};")
    for _ in range(r.randint(1, 4)):
        a = r.choice(made)
        out.append(r.choice([
            lambda: f"fuse {a}, {r.choice(made)};", lambda: f"fuse {a}, {r.choice(made)} (1);", lambda: "fuse off;",
            lambda: f"tile {a} ({r.choice([1, 2, 3, 5])}, {r.choice([2, 4, 7, 16])});",
            lambda: f"tile {a} ({r.choice([2, 3, 8])});", lambda: f"inline {a};", lambda: "inline off;",
            lambda: "blas off;", lambda: f"layout {r.choice(floats or [a])} : {r.choice(LAYOUTS)};",
            lambda: f"fuse {a}, {r.choice(made)}; tile {a} (2, 4);"])())
    return sorted(set(out), key=out.index)


def sizes(seed, number, p, which):
    """Values of the sizes: all 0, all 1 or 2, two small ones, then larger ones, few cells in all."""
    r = random.Random(f"sizes {seed} {number} {which}")
    top = [1, 2, 6, 12, 19][min(which, 4)]
    got = {}
    for s in p.sizes:
        choice = SIZES[:top] if not p.small[s] else SIZES[:min(top, 6)]
        got[s] = 0 if which == 0 else 1 if which == 1 and r.random() < 0.7 else r.choice(choice)
    special = getattr(p, "special", None)
    if special and which == 2:
        got[special[0]] = special[1]
    while cells(p, got) > 6000:
        s = max(got, key=got.get)
        got[s] = got[s]//2
    return {s: max(v, p.least[s]) for s, v in got.items()}


def cells(p, got):
    most = 0
    for d in p.definitions:
        n = 1
        for _, lo, hi in d.ranges:
            n *= extent(hi, got) if not isinstance(lo, str) else 4
        most += n*(1 + 4*any(e.op == "red" for _, e in d.branches))
    return most


def extent(e, got):
    if e.op == "lit":
        return e.x
    if e.op == "name":
        return got.get(e.x, 1)
    if e.op == "read":
        return 16
    a, b = (extent(x, got) for x in e.a[:2])
    return max(a + b if e.op == "+" else a - b if e.op == "-" else a*b, 0)


def floats(r, t, n, kind):
    """Data of a class: small multiples of 1/4, any, or with NaN, infinity, zeros of both signs and limits."""
    if kind == "dominant":
        return [40.0 + r.randrange(8) for _ in range(n)]
    if kind == "dyadic":
        return [r.randint(-32, 32)/4 for _ in range(n)]
    real = [r.uniform(-3, 3) for _ in range(n)]
    if kind == "special":
        odd = [math.nan, math.inf, -math.inf, 0.0, -0.0, 1e-310 if t == "f64" else 1e-40, 1e30, -1e30, 2.0**31, -129.0]
        real = [r.choice(odd) if r.random() < 0.2 else x for x in real]
    return [single(x) for x in real] if t == "f32" else real


def whole(r, t, n):
    low, high = limits(t)
    near = [low, high, 0, 1, high - 1]
    low, high = max(low, -10**6), min(high, 10**6)
    return [r.choice(near) if t != "i64" and r.random() < 0.1 else r.randint(low, high) if r.random() < 0.2 else
            r.randint(max(low, -9), 9) for _ in range(n)]


def facts(r, a, n, limit, offsets):
    """Values of an index array, or None where there are none."""
    if a.kind == "offsets":
        cuts = sorted(r.randint(0, limit) for _ in range(n - 2)) if r.random() < 0.8 else [0]*max(n - 2, 0)
        return None if n == 1 and limit else [0] + cuts + [limit] if n > 1 else [0]
    if "tree" in a.facts:
        return parents(r, n, offsets)
    if n and limit <= 0 or "unique" in a.facts and n > limit:
        return None
    if "unique" in a.facts:
        v = r.sample(range(limit), n)
    else:
        few = r.random() < 0.3
        v = [r.choice([0, limit - 1]) if few else r.randrange(limit) for _ in range(n)]
    return sorted(v) if "sorted" in a.facts else v


def parents(r, n, offsets):
    x, v = r.random(), []
    starts = set(offsets or [0])
    last = 0
    for i in range(n):
        last = i if i in starts else last
        if i == last or r.random() < 0.03:
            v.append(-1)
        else:
            v.append(i - 1 if x < 0.3 else last if x < 0.5 else r.randrange(last, i))
    return v


def data(seed, number, p, which, got):
    """name -> values row by row of each input, scalars; None where no data fits the sizes."""
    r = random.Random(f"data {seed} {number} {which}")
    kind = r.choice(["dyadic", "dyadic", "real", "special"])
    arrays = {}
    for a in p.arrays.values():
        if a.role not in ("in", "inout"):
            continue
        n = 1
        for e in a.shape:
            n *= extent(e, got)
        if a.limit is not None:
            offsets = arrays.get(a.kind) if a.kind and a.kind != "offsets" else None
            v = facts(r, a, n, extent(a.limit.e(), got), offsets)
            if v is None:
                return None
        elif a.t in FLOATS:
            # Of sums that may have no terms, and of pivots, which have to be finite.
            is_tame = (a.name.endswith(".value") or a.kind == "tame") and kind == "special"
            of = a.kind if a.kind != "tame" else None
            v = floats(r, a.t, n, of or ("real" if is_tame else kind))
        elif a.t == "bool":
            v = [r.random() < 0.5 for _ in range(n)]
        else:
            v = whole(r, a.t, n)
        arrays[a.name] = v
    scalars = {e.x: r.choice([0.5, 2.0, -1.5, 0.25]) if kind == "dyadic" else floats(r, e.t, 1, "real")[0]
               for e in p.params}
    return arrays, scalars
