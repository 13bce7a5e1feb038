# SPDX-License-Identifier: MIT
"""Statements that show one row each of the tables of the language: an operator or a function of a type, a cast, a
store, a constant, a reduction, a role. Program after program takes the next ones, so that so many programs show each
row, and what is around it is drawn."""

from known import KNOWN
from tables import (FLOATS, FUNCTIONS, IN_EXPRESSION, INTEGERS, NARROW, NUMBERS, OPERATORS, REDUCTIONS, TYPES,
                    argument_types, operand_types)
from typed import Expressions, Integer, literal, stored

I1, IJ = {"i": "n"}, {"i": "n", "j": "m"}
RANGES = {"i": "i in 0..n", "ij": "i in 0..n, j in 0..m"}


def cell(p, type_, value, vars_, role="out"):
    """An array of the type, its cells defined by a value."""
    y = p.fresh("y")
    shape, at = ("nm", "i,j") if "j" in vars_ else ("n", "i")
    p.declare(role, y, shape, type_)
    p.add(f"{y}[{at}] = {value} for {RANGES[''.join(vars_)]};")
    return y


# ---- operators ----

def operator(p, spelling, operands, type_):
    e = Expressions(p, IJ)
    if type_ == "bool":
        a, b = e.read("bool"), e.condition(1)
        return cell(p, "bool", f"not {a}" if operands == 1 else f"{a} {spelling} ({b})", IJ)
    if type_ in FLOATS:
        a, b = e.read(type_), e.read(type_) if p.rng.random() < 0.5 or spelling == "/" else e.operand(type_, 1)
        text = f"{spelling}({a})" if operands == 1 else f"{a} {spelling} {b}"
        return cell(p, "bool" if spelling[0] in "=!<>" else type_, text, IJ)
    return integer_operator(p, e, spelling, operands, type_)


def integer_operator(p, e, spelling, operands, type_):
    a, b = e.integer_read(type_), e.integer_read(type_)
    if spelling[0] in "=!<>":
        b = p.rng.choice([b, e.integer(2), literal(TYPES[type_].hi), literal(TYPES[type_].lo)])
        return cell(p, "bool", f"{a.text} {spelling} {b.text}", IJ)
    if spelling in "/%":
        return cell(p, "i64", e.divided(spelling, a, Integer(f"max({b.text}, 1)", 1, max(b.hi, 1))).text, IJ)
    small = Integer(f"tie_{type_}[j]", 0, 2)
    p.cover("data", "tie_", type_)
    if operands == 1:
        return cell(p, "i64", f"-{(small if type_ == 'i64' else a).text}", IJ)
    return cell(p, "i64", e.combined(spelling, *((small, small) if type_ == "i64" else (a, b))).text
                if spelling in "+-*" else f"{small.text} {spelling} {small.text}", IJ)


# ---- functions ----

def function(p, name, type_):
    kind, least, most = next(row[1:] for row in FUNCTIONS if row[0] == name)
    WRITERS.get(kind, unknown_kind)(p, name, type_, least, most)


def unknown_kind(_p, name, *_):
    raise NotImplementedError(f"the generator has no programs for '{name}': tests/random/deck.py")


def real_function(p, name, type_, least, _):
    """Of single precision compared less closely."""
    e, result = Expressions(p, I1), type_ if type_ in FLOATS else "f64"
    p.loosen("s" if result == "f32" else "t")
    classes = ("tie", "nan", "wide", "half") if name != "pow" or "infinite powers" not in KNOWN else ("tie",)
    if classes == ("tie",):
        e = Expressions(p, IJ)
    args = [moderate(e, type_, name, classes) for _ in range(least)]
    p.declare("out", y := p.fresh("y"), "nm", result)
    p.add(f"{y}[i,j] = {p.pick('', '', '-', '2*')}{name}({', '.join(args)}) for i in 0..n, j in 0..m;")


def moderate(e, type_, name, classes):
    """An argument; of angles none so large that libraries differ."""
    read = e.read(type_, *classes)
    if name in ("sin", "cos") and (type_ in FLOATS or type_ in ("i64", "u32", "i32")):
        return f"min(max({read}, -1000), 1000)"
    if type_ not in FLOATS or e.rng.random() < 0.6:
        return read
    return f"({read} + {e.rng.choice(['1', '0.5', 'i', '-2'])})"


def number_function(p, name, type_, *_):
    e = Expressions(p, I1)
    if type_ == "i64" and name == "abs":
        return cell(p, "i64", f"abs(max(wide_i64[i], -{TYPES['i64'].hi}))", I1)
    result = type_ if type_ in FLOATS else "i64"
    return cell(p, result, f"{name}({e.read(type_)})", I1)


def extremum(p, name, type_, least, most):
    e, n = Expressions(p, IJ), p.rng.randint(least, most)
    others = [e.operand(type_, 1) if type_ in FLOATS else e.integer(1).text for _ in range(n - 1)]
    args = [e.read(type_), *others]
    if type_ not in FLOATS:
        p.rng.shuffle(args)
    return cell(p, type_ if type_ in FLOATS else "i64", f"{name}({', '.join(args)})", IJ)


def selection(p, name, type_, *_):
    e = Expressions(p, IJ)
    a, b = e.read(type_), e.read(type_)
    return cell(p, type_, f"{name}({e.condition(2)}, {a}, {b})", IJ)


def stencil(p, name, type_, *_):
    """In the middle of an array; of integers without a factor that is none."""
    y, result = p.fresh("y"), type_ if type_ in FLOATS else "i64"
    p.declare("out", y, "nm", result)
    weights = p.pick("[1, -2, 1]", "[1, 2, 1]", "[[1], [0], [-1]]", "[[0,1,0],[1,-4,1],[0,1,0]]", "CROSS", "LINE")
    factor = p.pick("", ", 2", ", n") if result == "i64" else p.pick("", ", 0.5", ", 1.0/4", ", -2")
    p.add(f"{y}[i,j] = case {{ i >= 1 and i < n-1 and j >= 1 and j < m-1 : "
          f"{name}(grid_{type_}[i,j], {weights}{factor}); else : grid_{type_}[i,j]; }} for i in 0..n, j in 0..m;")


def whole(p, name, type_, least, _):
    """Over all elements: of such values that no order of a sum matters."""
    class_ = p.pick("nan", "tie") if type_ in FLOATS and name == "sum" else "tie"
    class_ = "wide" if name in ("maxval", "nnz") else class_
    if name == "maxval" and type_ not in FLOATS and "empty minima" in KNOWN:
        p.declare("out", y := p.fresh("y"), "", "bool")
        return p.add(f"{y} = maxval({class_}_{type_}) > 1;")
    p.cover("data", f"{class_}_", type_)
    result = "i64" if name == "nnz" or type_ not in FLOATS and name != "norm2" else type_ if type_ in FLOATS else "f64"
    p.declare("out", y := p.fresh("y"), "", result)
    args = [f"{class_}_{type_}"]*least
    if type_ in NUMBERS and type_ != "i64" and p.rng.random() < 0.4 and name not in ("dot", "norm2"):
        args[0] = p.pick(f"abs({args[0]})", f"{args[0]} + 1", f"min({args[0]}, 2)")
    p.add(f"{y} = {name}({', '.join(args)});")
    return y


def product_of_matrices(p, name, type_, *_):
    y, result = p.fresh("y"), type_ if type_ in FLOATS else "i64"
    if p.rng.random() < 0.5:
        p.declarations.append(f"    out {y} : {result}[n, n];")
        p.add(f"{y} = {name}(grid_{type_}, transpose(grid_{type_}));")
    else:
        p.declare("out", y, "n", result)
        p.add(f"{y} = {name}(grid_{type_}, tie_{type_});")
        p.cover("data", "tie_", type_)


def transposed(p, name, type_, *_):
    p.declarations.append(f"    out {(y := p.fresh('y'))} : {type_}[m, n];")
    p.add(f"{y} = {name}(grid_{type_});")


WRITERS = {"REAL": real_function, "NUMBER": number_function, "MIN_MAX": extremum, "SELECT": selection,
           "STENCIL": stencil, "WHOLE": whole, "MATMUL": product_of_matrices, "TRANSPOSE": transposed}


# ---- conversions and constants ----

def cast(p, source, target):
    e = Expressions(p, IJ)
    if target == "bool":
        return cell(p, "bool", f"cast<bool>({e.condition(1)})", IJ)
    text = f"cast<{target}>({e.read(source)})"
    if p.rng.random() < 0.5 and target not in FLOATS:
        return cell(p, "i64", e.combined(p.pick("+", "-", "*"), Integer(text, TYPES[target].lo, TYPES[target].hi),
                                         e.integer_read(p.pick(*NARROW))).text, IJ)
    return cell(p, target, text, IJ)


def store(p, source, target):
    """What is stored without a cast."""
    e = Expressions(p, IJ)
    text = e.read(source)
    if source in NARROW and p.rng.random() < 0.5:
        text += p.pick(" + 1", " - 1", "*3", "/2")
    return cell(p, target, text, IJ)


def constant(p, type_, which):
    """Around the limits, in each place where a constant stands."""
    limits = TYPES[type_]
    value = {"below": limits.lo - 1, "lowest": limits.lo, "highest": limits.hi, "above": limits.hi + 1}[which]
    text, e, y = literal(value).text, Expressions(p, I1), p.fresh("y")
    p.declare("out", y, "n", type_)
    p.add(p.pick(f"{y}[i] = {text} for i in 0..n;", f"{y} = cast<{type_}>({text});",
                 f"{y}[i] = case {{ {p.condition('i', 'n')} : {text}; else : {e.read(type_)}; }} for i in 0..n;",
                 f"{y}[i] = select({e.condition(1)}, {text}, {e.integer(1).text}) for i in 0..n;",
                 f"func {y}f[i in 0..n] : {type_} = {text}; {y}[i] = {y}f[i] for i in 0..n;",
                 f"temp {y}t : {type_} = {text}; {y}[i] = {y}t for i in 0..n;"))


# ---- reductions ----

def term(p, e, op, type_):
    """What may be added up in any order."""
    if op in ("min=", "max="):
        return e.read(type_)
    if op == "*=":
        return e.read(type_) if type_ in NARROW else f"select({e.condition(1)}, 1, -1)"
    if type_ in FLOATS:
        return p.pick(e.read(type_, "nan"), f"{e.read(type_, 'nan')} + i", f"select({e.condition(1)}, i, -2)")
    return e.read(type_, "tie", "wide") if type_ in NARROW else f"select({e.condition(1)}, i, -2)"


def reduction(p, op, type_, how):
    e = Expressions(p, IJ)
    value = term(p, e, op, type_)
    if how == "in an expression":
        return in_expression(p, e, op, type_)
    y, role = p.fresh("y"), p.pick("out", "out", "inout", "temp")
    shape, target = {"of a cell": ("n", "i"), "through an index array": ("n", p.pick("dyn_n[i]", "perm_n[i]")),
                     "of a scalar": ("", "")}[how]
    at = f"[{target}]" if target else ""
    if role == "temp":
        p.add(f"temp {y} : {type_}{'[n]' if shape else ''} = 1;")
        p.declare("out", y + "o", shape, type_)
    else:
        p.declare(role, y, shape, type_)
    p.add(f"reduce {y}{at} {op} {value} for {p.pick('i in 0..n, j in 0..m', 'j in 0..m, i in 0..n')};")
    if role == "temp":
        p.add(f"{y}o = {y};")
    return y


def in_expression(p, e, op, type_):
    """Over a range of known length, a row, a segment, lengths, children."""
    name, result = IN_EXPRESSION[op], type_ if type_ in FLOATS else "i64"
    known = name in ("min", "max") and "empty minima" in KNOWN and type_ in INTEGERS
    ranges = ["h in 0..3"] if known else ["h in 0..3", "h in 0..m", "h in 0..len[i]", "h in off[i]..off[i+1]",
                                          "h in children(par, i)", "h in min(i, 2)..n"]
    chosen, value = p.pick(*ranges), term(p, e, op, type_)
    if type_ == "i64" or op == "*=" and type_ in INTEGERS:
        value = f"select({e.condition(1)}, 1, {'-1' if op == '*=' else 'h'})"
    if op in ("min=", "max="):
        value = f"({value} - h)" if type_ in FLOATS else f"max({value}, h)"
    return cell(p, result, f"{name}({chosen}) {value}", IJ)


# ---- roles ----

def role(p, which, type_):
    e, y = Expressions(p, I1), p.fresh("y")
    value = stored(e, type_, 2)
    if which == "state":
        return p.start_loop(y, type_, value)
    if which == "inout":
        p.declare("inout", y, "n", type_)
        return p.add(f"{y}[i] = case {{ {p.condition('i', 'n')} : {value}; }} for i in 0..n;")
    if which == "temp":
        p.add(p.pick(f"temp {y} : {type_}[n]; {y}[i] = {value} for i in 0..n;",
                     f"func {y}[i in 0..n] : {type_} = {value};"))
        p.declare("out", y + "o", "n", type_)
        return p.add(f"{y}o[i] = {y}[{e.subscript('n')}] for i in 0..n;")
    return cell(p, type_, value, I1)


# ---- the deck ----

def rows_of_tables():
    """(writer, arguments...) of every row; what the tables hold decides."""
    rows = [(operator, spelling, n, type_) for spelling, n in OPERATORS for type_ in operand_types(spelling, n)]
    rows += [(function, name, type_) for name, kind, *_ in FUNCTIONS for type_ in argument_types(kind, name)]
    rows += [(cast, source, target) for source in NUMBERS for target in NUMBERS] + [(cast, "bool", "bool")]
    rows += [(store, source, target) for source in INTEGERS for target in NUMBERS] + [(store, "f32", "f64")]
    rows += [(constant, type_, which) for type_ in INTEGERS for which in ("below", "lowest", "highest", "above")
             if type_ != "i64" or which in ("lowest", "highest")]
    rows += [(reduction, op, type_, how) for op in REDUCTIONS for type_ in NUMBERS
             for how in ("of a cell", "through an index array", "of a scalar", "in an expression")]
    rows += [(role, which, type_) for which in ("out", "inout", "temp", "state") for type_ in TYPES]
    return rows


def is_close(row):
    """Are results compared with a tolerance?"""
    return row[0] is function and next(kind for name, kind, *_ in FUNCTIONS if name == row[1]) == "REAL"


def is_left_out(row):
    return (row[0] is constant and row[2] in ("below", "above") and row[1] != "i64" and "constants wrap" in KNOWN)


DECK = rows_of_tables()
CLOSE = [[row for row in DECK if is_close(row) and (row[2] == "f32") == single] for single in (False, True)]
EXACT = [row for row in DECK if not is_close(row) and not is_left_out(row)]


def deal(p, rows, first, count):
    """Writes the rows number first.. of a deck, around and around, in an order of its own for each time around."""
    for number in range(first, first + count):
        around, at = divmod(number, len(rows))
        row = p.shuffled(rows, around)[at]
        row[0](p, *row[1:])
        p.cover(row[0].__name__, *row[1:])
