# SPDX-License-Identifier: MIT
"""Numbers of the language, by docs/language.md alone: exact integers that are wrapped where they are stored, IEEE
floats, and floats of which only a bound is promised.

A float is a Python float where its bits are promised. Else it is `Near`: a value, a bound of the error by the magnitude
of what was added up, and, where a sum is exact in any order, how many terms it has, the sum of their magnitudes and the
last bit of any of them. What depends on a comparison that rounding decides is `Undecided`; overflow of 64 bits and
division by zero are `Mistake`s of the program.
"""
import math
import struct

INT_BITS = {"i8": 8, "i16": 16, "i32": 32, "i64": 64, "u8": 8, "u16": 16, "u32": 32}
FLOATS = ("f32", "f64")
UNIT = {"f64": 2.0**-53, "f32": 2.0**-24}
DIGITS = {"f64": 53, "f32": 24}
LEAST = {"f64": 5e-324, "f32": 1.5e-45}
MOST = {"f64": 1.7976931348623157e308, "f32": 3.4028234663852886e38}
ULPS = 8        # of a function of the C library, or of its vector form


class Undecided(Exception):
    pass


class Mistake(Exception):
    pass


class Near:
    __slots__ = ("v", "e", "s")

    def __init__(self, v, e, s=None):
        self.v, self.e, self.s = v, e, s


def limits(t):
    bits = INT_BITS[t]
    return (0, 2**bits - 1) if t[0] == "u" else (-2**(bits - 1), 2**(bits - 1) - 1)


def single(x):
    try:
        return struct.unpack("f", struct.pack("f", x))[0]
    except OverflowError:
        return math.copysign(math.inf, x)


def wrap(t, i):
    bits = INT_BITS[t]
    i &= (1 << bits) - 1
    return i - (1 << bits) if t[0] == "i" and i >> (bits - 1) else i


def whole(i):
    """An integer of 64 bits."""
    if not -2**63 <= i < 2**63:
        raise Mistake("overflow")
    return i


def single_of_int(i):
    spare = max(abs(i).bit_length() - 26, 0)        # one rounding: what is cut off only says whether there is more
    kept = (abs(i) >> spare) | bool(abs(i) & ((1 << spare) - 1))
    return math.copysign(single(math.ldexp(float(kept), spare)), i) if i else 0.0


def rounded(t, x):
    return x if t == "f64" else single(x)


def center(x):
    return x.v if type(x) is Near else x


def error(x):
    return x.e if type(x) is Near else 0.0


def near(t, v, e):
    """The value of an operation that is rounded once more."""
    if v != v or math.isinf(v) or e != e or abs(v) > MOST[t]/4:
        return Near(math.nan, math.inf)
    return Near(v, e*1.001 + 2*UNIT[t]*abs(v) + 2*LEAST[t])


def grain(x):
    if x == 0:
        return 1100
    n, d = x.as_integer_ratio()
    return 1 - d.bit_length() if d > 1 else (n & -n).bit_length() - 1


def shape_of(x):
    """How many terms, their magnitude and grain; None: no sum of it is exact."""
    if type(x) is Near:
        return x.s
    return (1, abs(x), grain(x)) if math.isfinite(x) else None


def is_exact(t, s):
    return s[1] < 2.0**min(DIGITS[t] + s[2], 1000)


def total(t, terms, shapes):
    """The sum of values in any order; their shapes are those of the products that they may be regrouped from."""
    values = [center(x) for x in terms]
    if not all(map(math.isfinite, values)):
        if any(type(x) is Near for x in terms) or any(s is False for s in shapes):
            return Near(math.nan, math.inf)
        return math.nan if any(x != x for x in values) or {math.inf, -math.inf} <= set(values) else \
            next(x for x in values if math.isinf(x))
    if terms and all(shapes):
        s = (sum(s[0] for s in shapes), sum(s[1] for s in shapes), min(s[2] for s in shapes))
        if is_exact(t, s):
            return Near(math.fsum(values), 0.0, s)
    n = sum(s[0] if s else 1 for s in shapes)
    size = sum(max(abs(x), s[1] if s else 0) for x, s in zip(values, shapes))
    v = math.fsum(values)
    if not terms:
        return Near(0.0, 0.0, (0, 0.0, 1100))
    y = near(t, v, sum(map(error, terms)) + (n + 8)*UNIT[t]*size*1.01)
    y.s = (n, size, -3000) if y.e != math.inf else None     # what is added to it may be among its terms
    return y


def add(t, a, b):
    if type(a) is float and type(b) is float:
        return rounded(t, a + b)
    sa, sb = shape_of(a), shape_of(b)
    if (type(a) is Near and a.s) or (type(b) is Near and b.s):
        return total(t, [a, b], [sa, sb])
    return near(t, center(a) + center(b), error(a) + error(b))


def negative(x):
    return Near(-x.v, x.e, x.s) if type(x) is Near else -x


def times(t, a, b):
    if type(a) is float and type(b) is float:
        return rounded(t, a*b)
    x, y, ea, eb = center(a), center(b), error(a), error(b)
    if ea <= LEAST[t] and eb <= LEAST[t] and math.isfinite(x*y):
        return rounded(t, x*y) if x*y else Near(0.0, LEAST[t])
    return near(t, x*y, abs(x)*eb + abs(y)*ea + ea*eb)


def divided(t, a, b, loose=False):
    x, y, ea, eb = center(a), center(b), error(a), error(b)
    if type(a) is float and type(b) is float and not loose:
        if y == 0:
            return math.nan if x == 0 or x != x else math.copysign(math.inf, x)*math.copysign(1.0, y)
        return rounded(t, x/y)
    if not abs(y) > eb or not math.isfinite(y):
        return Near(math.nan, math.inf)
    if ea <= LEAST[t] and eb <= LEAST[t] and not loose:
        return rounded(t, x/y) if x else Near(0.0, LEAST[t])
    q = x/y
    size = a.s[1] if type(a) is Near and a.s else abs(x)
    return near(t, q, (ea + abs(q)*eb)/(abs(y) - eb) + (8*UNIT[t]*size/abs(y) if loose else 0))


def called(f, x):
    try:
        return f(x)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


def exprelr(x):
    return 1.0 if x == 0 else x/math.expm1(x) if x < 700 else math.nan if x != x else 0.0


def exprelr_of(t, x):
    """0 where exp(x) is more than the type holds."""
    return 0.0 if t == "f32" and x > math.log(MOST[t]) else exprelr(x)


SLOPES = {"exp": lambda v, e: called(math.exp, v + e), "log": lambda v, e: 1/(v - e) if v > e else math.inf,
          "sin": lambda v, e: 1.0, "cos": lambda v, e: 1.0, "tanh": lambda v, e: 1.0, "exprelr": lambda v, e: 1.0}


def log(x):
    return -math.inf if x == 0 else math.log(x) if x == x and x > 0 else math.nan


FUNCTIONS = {"exp": math.exp, "log": log, "sin": math.sin, "cos": math.cos, "tanh": math.tanh, "exprelr": exprelr}


def function(name, t, x):
    v, e = center(x), error(x)
    if name == "sqrt":
        if e == 0:
            return rounded(t, math.sqrt(v)) if v >= 0 else math.nan
        return near(t, math.sqrt(v), e/math.sqrt(v - e)) if v > e else Near(math.nan, math.inf)
    y = exprelr_of(t, v) if name == "exprelr" else called(FUNCTIONS[name], v)
    if e == 0 and (y != y or math.isinf(y)):
        return y
    y = rounded(t, y)
    if not math.isfinite(y):
        return Near(y, math.inf)
    return near(t, y, (SLOPES[name](v, e)*e if e else 0) + ULPS*UNIT[t]*abs(y) + 2*LEAST[t])


def power(t, x, y):
    v, w = center(x), center(y)
    p = called(lambda _: math.pow(v, w), 0)
    if not (v > error(x) and math.isfinite(p)) or p == 0 or abs(p) > MOST[t]:
        exact = type(x) is float and type(y) is float and (v != v or w != w) and w != 0 and v != 1
        return math.nan if exact else Near(math.nan, math.inf)
    slope = abs(w/v)*error(x)/(1 - error(x)/v) + abs(math.log(v))*error(y)
    return near(t, rounded(t, p), abs(p)*(math.expm1(min(slope, 1e2)) + 2*ULPS*UNIT[t]))


def absolute(x):
    return Near(abs(x.v), x.e) if type(x) is Near else abs(x)


def floor(x):
    v, e = center(x), error(x)
    if not math.isfinite(v):
        if e:
            raise Undecided
        return v
    if e > LEAST["f64"] and (not math.isfinite(e) or math.floor(v - e) != math.floor(v + e)):
        raise Undecided
    return float(math.floor(v))


def extreme(name, xs):
    pick = min if name == "min" else max
    if any(type(x) is float and x != x for x in xs):
        return math.nan
    if any(type(x) is Near for x in xs):
        if any(error(x) == math.inf for x in xs):
            return Near(math.nan, math.inf)
        v, e = pick(map(center, xs)), max(map(error, xs))
        return Near(v, e) if e else v
    return pick(xs)


def compare(op, a, b):
    x, y = center(a), center(b)
    e = error(a) + error(b)
    if e > 1e-300 and not abs(x - y) > e*1.01:
        raise Undecided
    return {"==": x == y, "!=": x != y, "<": x < y, "<=": x <= y, ">": x > y, ">=": x >= y}[op]


def converted(of, to, x):
    """`cast<to>(x)`; what may be stored is converted likewise."""
    if of == to:
        return x
    if to in FLOATS:
        if of in INT_BITS:
            return single_of_int(x) if to == "f32" else float(x)
        if type(x) is Near:
            return near(to, single(x.v), x.e) if to == "f32" and x.e != math.inf else Near(x.v, x.e)
        return rounded(to, x)
    if of in INT_BITS:
        return wrap(to, x)
    low, high = limits(to)

    def cut(v):
        return 0 if v != v else low if v <= low else high if v >= high else math.trunc(v)

    v, e = center(x), error(x)
    if e > 1e-300 and (not math.isfinite(e) or cut(v - e) != cut(v + e)):
        raise Undecided
    return cut(v)


def agree(t, expected, got):
    """Whether a result is what it has to be: to the bit but for the sign of a zero, or within the bound."""
    if t not in FLOATS:
        return expected == got
    v, e = center(expected), error(expected)
    if e == math.inf:
        return True
    return (v != v and got != got) or v == got or abs(v - got) <= e
