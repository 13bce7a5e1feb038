# SPDX-License-Identifier: MIT
"""Expressions of the language as trees with types, and their text: what docs/language.md, "Expressions" and "Numbers",
says of types, literals and precedence, and nothing of how they are compiled."""
from values import FLOATS, INT_BITS

PRECEDENCE = {"or": 1, "and": 2, "not": 3, "cmp": 4, "+": 5, "-": 5, "red": 6, "*": 7, "/": 7, "%": 7, "neg": 8}


class E:
    """op: lit, name, param, read, whole, neg, not, + - * / %, cmp, and, or, call, select, cast, red, stencil, inf."""
    __slots__ = ("op", "t", "a", "x")

    def __init__(self, op, t, a=(), x=None):
        self.op, self.t, self.a, self.x = op, t, tuple(a), x


def lit(value, t=None):
    """A number; its type is that of what it meets: None so far."""
    return E("lit", t, (), value)


def var(name):
    return E("name", "i64", (), name)


def read(name, t, subs):
    return E("read", t, subs, name)


def is_literal(e):
    return e.op in ("lit", "inf") and e.t is None or e.op == "neg" and is_literal(e.a[0])


def of_type(e, t):
    """A literal that has met the type t."""
    if not is_literal(e):
        return e
    if t in INT_BITS:
        t = "i64"
    if e.op == "neg":
        return E("neg", t, [of_type(e.a[0], t)])
    if t == "i64" and (e.op == "inf" or isinstance(e.x, float)):
        t = "f64"
    return E(e.op, t, e.a, e.x)


def wider(types):
    types = set(types)
    return "f64" if "f64" in types else "f32" if "f32" in types else "i64"


def met(parts):
    """Operands with their common type."""
    known = [p.t for p in parts if not is_literal(p)]
    t = wider(known)
    if t == "i64":
        parts = [of_type(p, "i64") for p in parts]
        return parts, wider(p.t for p in parts)
    return [of_type(p, t) for p in parts], t


def binary(op, a, b):
    (a, b), t = met([a, b])
    return E(op, t, (a, b))


def cmp(op, a, b):
    (a, b), _ = met([a, b])
    return E("cmp", "bool", (a, b), op)


def neg(a):
    return E("neg", a.t if a.t in FLOATS or a.t is None else "i64", [a])


def call(name, *args):
    if name in ("min", "max", "pow"):
        args, t = met(list(args))
        return E("call", t, args, name)
    (a,) = args
    if name in ("abs", "floor"):
        return E("call", a.t if a.t in FLOATS else "i64", [a], name)
    return E("call", a.t if a.t in FLOATS else "f64", [a], name)


def select(c, a, b):
    if "bool" in (a.t, b.t):
        return E("select", "bool", (c, a, b))
    (a, b), t = met([a, b])
    return E("select", t, (c, a, b))


def cast(t, a):
    return E("cast", t, [of_type(a, "f64" if a.op == "inf" else "i64")], t)


def red(op, ranges, body):
    return E("red", body.t if body.t in FLOATS else "i64", [body], (op, ranges))


def clamp(name, *args):
    """min or max of affine expressions."""
    return E("call", "i64", [of_type(a, "i64") for a in args], name)


def plus(e, c):
    if c == 0:
        return e
    return E("+" if c > 0 else "-", "i64", (e, lit(abs(c), "i64")))


def ranges_text(ranges):
    return ", ".join(f"{v} in children({lo}, {text(hi)})" if isinstance(lo, str) else
                     f"{v} in {text(lo)}..{text(hi)}" for v, lo, hi in ranges)


def strength(e):
    return PRECEDENCE.get(e.op, 9)


def inside(e, least):
    return text(e) if strength(e) >= least else f"({text(e)})"


def number(x):
    if isinstance(x, int):
        return str(x)
    s = repr(x)
    return s.replace("e-0", "e-").replace("e+", "e")


def text(e):
    return TEXTS[e.op](e)


def two(e):
    p = strength(e)
    return f"{inside(e.a[0], p)} {e.op} {inside(e.a[1], p + 1)}"


def product(e):
    return f"{inside(e.a[0], 7)}{e.op}{inside(e.a[1], 8)}"


def listed(parts):
    return ", ".join(map(text, parts))


TEXTS = {
    "lit": lambda e: getattr(e, "shown", None) or number(e.x), "inf": lambda e: "inf",
    "name": lambda e: e.x, "param": lambda e: e.x,
    "read": lambda e: f"{e.x}[{listed(e.a)}]" if e.a else e.x,
    "whole": lambda e: e.x,
    "neg": lambda e: "-" + inside(e.a[0], 8), "not": lambda e: "not " + inside(e.a[0], 3),
    "cmp": lambda e: f"{inside(e.a[0], 5)} {e.x} {inside(e.a[1], 5)}",
    "and": two, "or": two, "+": two, "-": two, "*": product, "/": product, "%": product,
    "call": lambda e: f"{e.x}({listed(e.a)})",
    "select": lambda e: f"select({listed(e.a)})",
    "cast": lambda e: f"cast<{e.x}>({text(e.a[0])})",
    "red": lambda e: f"{e.x[0]}({ranges_text(e.x[1])}) {inside(e.a[0], 6)}",
    "stencil": lambda e: f"stencil({text(e.a[0])}, {e.x[0]}" + (f", {text(e.a[1])})" if len(e.a) > 1 else ")"),
}


def walk(e):
    yield e
    for a in e.a:
        yield from walk(a)
    if e.op == "red":
        for _, lo, hi in e.x[1]:
            if not isinstance(lo, str):
                yield from walk(lo)
            yield from walk(hi)
