# SPDX-License-Identifier: MIT
"""Expressions as Python functions of the variables of their ranges. `stored` is a value as its target keeps it; its
`shape` is that of the products that a sum may regroup (values.total)."""
import values as V
from tree import of_type, wider
from values import FLOATS, INT_BITS, Mistake, Near, whole

INT_OPS = {"+": lambda a, b: whole(a + b), "-": lambda a, b: whole(a - b), "*": lambda a, b: whole(a*b)}


def floored(op, a, b):
    if b == 0:
        raise Mistake("division by zero")
    return whole(a//b if op == "/" else a % b)


class Closures:
    def __init__(self, meaning):
        self.m = meaning

    def of(self, e):
        return getattr(self, "of_" + NAMES.get(e.op, e.op))(e)

    def to(self, e, t):
        """An expression as an operand of type t."""
        f, of = self.of(e), e.t
        if of == t or t == "bool" or (t in INT_BITS and of in INT_BITS):
            return f
        return lambda env: V.converted(of, t, f(env))

    def stored(self, e, t):
        e = of_type(e, t if t in FLOATS else "i64")
        f, of = self.of(e), e.t
        g = f if of == t else (lambda env: V.converted(of, t, f(env)))

        def value(env):
            return g(env)

        value.shape = self.shape(e, t)
        return value

    def shape(self, e, t):
        """The shape of a term: of a product, that of any grouping of its factors."""
        factors = self.factors(e)
        if len(factors) == 1:
            f = self.to(e, t)
            return lambda env: V.shape_of(f(env)) if t in FLOATS else None
        fs = [self.to(f, t) for f in factors]

        def shape(env):
            n, size, last = 1, 1.0, 0
            for f in fs:
                s = V.shape_of(f(env))
                if s is None:
                    return False
                n, size, last = n*s[0], size*max(s[1], 1.0), last + min(s[2], 0)
            return n + len(fs), size, last
        return shape if t in FLOATS else lambda env: None

    def factors(self, e):
        if e.op == "*" and e.t in FLOATS:
            return self.factors(e.a[0]) + self.factors(e.a[1])
        if e.op == "neg" and e.t in FLOATS:
            return self.factors(e.a[0])
        return [e]

    @staticmethod
    def accumulated(op, t, terms):
        """Of (value, shape) in any order."""
        xs = [x for x, _ in terms]
        if op in ("min=", "max="):
            return V.extreme(op[:3], xs)
        if t in FLOATS:
            if op == "+=":
                return V.total(t, xs, [s for _, s in terms])
            return product(t, xs)
        y = 0 if op == "+=" else 1
        if t == "i64":
            fits_in_any_order(op, xs)
        for x in xs:
            y = V.wrap(t, y + x if op == "+=" else y*x)
        return y

    def of_lit(self, e):
        x = e.x
        if e.t in FLOATS:
            x = V.rounded(e.t, float(x))
        return lambda env: x

    def of_inf(self, e):
        return lambda env: float("inf")

    def of_name(self, e):
        name = e.x
        if name in self.m.sizes:
            value = self.m.sizes[name]
            return lambda env: value
        return lambda env: env[name]

    def of_param(self, e):
        value = self.m.scalars[e.x]
        return lambda env: value

    def of_read(self, e):
        cells, name, get = self.m.cells[e.x], e.x, self.m.demand
        subs = [self.of(s) for s in e.a]
        if len(subs) == 1:
            (one,) = subs
            key = lambda env: (one(env),)       # noqa: E731
        else:
            key = lambda env: tuple([s(env) for s in subs])     # noqa: E731

        def value(env):
            k = key(env)
            try:
                return cells[k]
            except KeyError:
                return get(name, k)
        return value

    of_whole = of_read

    def of_neg(self, e):
        f = self.to(e.a[0], e.t)
        return (lambda env: V.negative(f(env))) if e.t in FLOATS else (lambda env: whole(-f(env)))

    def of_not(self, e):
        f = self.of(e.a[0])
        return lambda env: not f(env)

    def of_logic(self, e):
        f, g = map(self.of, e.a)
        return (lambda env: f(env) and g(env)) if e.op == "and" else (lambda env: f(env) or g(env))

    def of_arithmetic(self, e):
        t, op = e.t, e.op
        f, g = (self.to(a, t) for a in e.a)
        if t not in FLOATS:
            if op in INT_OPS:
                h = INT_OPS[op]
                return lambda env: h(f(env), g(env))
            return lambda env: floored(op, f(env), g(env))
        if op == "+":
            return lambda env: V.add(t, f(env), g(env))
        if op == "-":
            return lambda env: V.add(t, f(env), V.negative(g(env)))
        if op == "*":
            return lambda env: V.times(t, f(env), g(env))
        loose = e.x == "recurrence"
        return lambda env: V.divided(t, f(env), g(env), loose)

    def of_cmp(self, e):
        t = common(e.a)
        f, g = (self.to(a, t) for a in e.a)
        op = e.x
        return lambda env: V.compare(op, f(env), g(env))

    def of_call(self, e):
        t, name = e.t, e.x
        fs = [self.to(a, t) for a in e.a]
        if name in ("min", "max"):
            return lambda env: V.extreme(name, [f(env) for f in fs])
        if name == "pow":
            return lambda env: V.power(t, fs[0](env), fs[1](env))
        (f,) = fs
        if name == "abs":
            return lambda env: V.absolute(f(env))
        if name == "floor":
            return (lambda env: V.floor(f(env))) if t in FLOATS else f
        return lambda env: V.function(name, t, f(env))

    def of_select(self, e):
        c, a, b = self.of(e.a[0]), self.to(e.a[1], e.t), self.to(e.a[2], e.t)

        def value(env):
            x, y = a(env), b(env)
            return x if c(env) else y
        return value

    def of_cast(self, e):
        f, of, t = self.of(e.a[0]), e.a[0].t, e.t
        return lambda env: V.converted(of, t, f(env))

    def of_stencil(self, e):
        """The read's subscripts end in variables that are shifted; weights in e.x[1]: ((shifts), weight)."""
        t, of = e.t, self.of
        r = e.a[0]
        subs = [of(s) for s in r.a]
        factor = of(e.a[1]) if len(e.a) > 1 else None
        get, name, shifts = self.m.get, r.x, e.x[1]

        def value(env):
            k = [s(env) for s in subs]
            lead = len(k) - len(shifts[0][0])
            terms = [V.times(t, float(w), get(name, tuple(k[:lead]) + tuple(
                i + d for i, d in zip(k[lead:], shift)))) for shift, w in shifts if w]
            y = V.total(t, terms, [V.shape_of(x) for x in terms])
            if factor is None:
                return y
            z = V.times(t, factor(env), y)
            size = abs(V.center(factor(env)))*(y.s[1] if isinstance(y, Near) and y.s else 0)
            return V.near(t, V.center(z), V.error(z) + 4*len(shifts)*V.UNIT[t]*size)
        return value

    def of_red(self, e):
        op, ranges = e.x
        t, body, over = e.t, self.stored(e.a[0], e.t), self.ranges(ranges)
        narrow = e.a[0].t if op in ("min", "max") else t
        code = {"sum": "+=", "prod": "*=", "min": "min=", "max": "max="}[op]
        identity = self.m.identity(code, narrow)

        def value(env):
            terms = [(body(x), body.shape(x) if code == "+=" else None) for x in over(env)]
            if not terms:
                return V.total(t, [], []) if code == "+=" and t in FLOATS else identity
            return self.accumulated(code, t, terms)
        return value

    def ranges(self, ranges):
        compiled = [(v, lo if isinstance(lo, str) else self.of(lo), self.of(hi)) for v, lo, hi in ranges]

        def run(env, i=0):
            if i == len(compiled):
                yield dict(env)
                return
            v, lo, hi = compiled[i]
            for x in self.children(lo, hi(env)) if isinstance(lo, str) else range(lo(env), hi(env)):
                env[v] = x
                yield from run(env, i + 1)
            env.pop(v, None)
        return lambda env: run(dict(env))

    def children(self, parent, i):
        """In a forest, what is local to each tree has been made global by who read the data."""
        key = ("children", parent)
        if key not in self.m.pending:
            table = self.m.pending[key] = {}
            for (c,), p in sorted(self.m.cells[parent].items()):
                table.setdefault(p, []).append(c)
        return self.m.pending[key].get(i, [])


def fits_in_any_order(op, xs):
    """A mistake, if the terms of one sign overflow, or the factors before a zero."""
    if op == "+=":
        whole(sum(x for x in xs if x > 0))
        whole(sum(x for x in xs if x < 0))
        return
    y = 1
    for x in xs:
        y = whole(y*abs(x)) if x else y


def product(t, xs):
    y = 1.0
    values = [V.center(x) for x in xs]
    if not all(map(V.math.isfinite, values)):
        return Near(V.math.nan, V.math.inf)
    if any(x == 0 for x in values):
        most = sum(max(V.math.log2(abs(x)), 0) for x in values if x)     # of a part, which may overflow
        is_clear = most < (100 if t == "f32" else 1000) and not any(map(V.error, xs))
        return Near(0.0, V.LEAST[t]) if is_clear else Near(V.math.nan, V.math.inf)
    relative, size = 0.0, 0.0
    for x in xs:
        y *= V.center(x)
        relative += V.error(x)/abs(V.center(x)) + 2*V.UNIT[t]
        size += abs(V.math.log2(abs(V.center(x))))
    if size > (100 if t == "f32" else 1000):
        return Near(V.math.nan, V.math.inf)
    bits = sum(grain_bits(x) for x in values)
    if bits <= V.DIGITS[t] and not any(map(V.error, xs)):
        return y
    return V.near(t, y, abs(y)*V.math.expm1(min(relative*2, 1e2)))


def grain_bits(x):
    """Digits of a float behind its first one, and that."""
    return max(int(V.math.frexp(abs(x))[1]) - V.grain(x), 1)


def common(parts):
    return "bool" if parts[0].t == "bool" else wider(p.t for p in parts)


NAMES = {"and": "logic", "or": "logic", "+": "arithmetic", "-": "arithmetic", "*": "arithmetic", "/": "arithmetic",
         "%": "arithmetic"}
