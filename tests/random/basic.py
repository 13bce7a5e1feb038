# SPDX-License-Identifier: MIT
"""The plain templates of statements for generate.py: definitions, sums, updates, recurrences over rows, segments and
trees, images, a loop. Each adds to a program what its text says; values stay whole numbers."""

from statements import I1, IJ, J1, K1, KI, KJ


def elementwise(p):
    shape = p.pick("n", "m")
    name = p.fresh("e")
    operands = p.reads[shape]
    x, y = p.rng.choice(operands), p.rng.choice(operands)
    p.add(f"temp {name} : f64[{shape}] = "
             + p.pick(f"{x} + 2*{y}", f"max({x} - {y}, 0)", f"select({x} > {y}, {x}, -{y})", f"abs({x})"))
    p.body[-1] += ";"
    p.done(name, shape)


def function(p):
    name = p.fresh("f")
    if p.rng.random() < 0.5:
        p.add(f"func {name}[i in 0..n] : f64 = {p.expr(I1)};")
        p.done(name, "n")
    else:
        p.add(f"func {name}[i in 0..n, j in 0..m] : f64 = {p.expr(IJ)};")
        p.done(name, "nm")


def shrinking(p):
    name, y = p.fresh("g"), p.output("n")
    p.add(f"func {name}[i in 1..n-1] : f64 = "
             f"stencil({p.one_of('n')}[i], [1, {p.rng.randint(-2, 2)}, 1]);")
    p.add(f"{y}[i] = case {{ i >= 1 and i < n-1 : {name}[i]; else : {p.expr(I1, 1)}; }} for i in 0..n;")
    p.done(y, "n")


def cases(p):
    first, second = p.condition("i", "n"), p.condition("j", "m")
    y, tail = p.fresh("y"), f"else : {p.expr(IJ, 1)}; "
    if p.rng.random() < 0.3:
        tail = ""
    p.declare("out" if tail else "inout", y, "nm")
    p.add(f"{y}[i,j] = case {{ {first} : {p.expr(IJ, 1)}; "
             f"{second} : {p.expr(IJ, 1)}; {tail}}} for i in 0..n, j in 0..m;")
    p.done(y, "nm")


def triangle(p):
    y = p.output("n")
    op = p.pick("sum", "max", "min")
    p.add(f"func t{y}[i in 0..n, j in 0..i] : f64 = {p.expr(I1, 1)};")
    p.add(f"{y}[i] = {op}(j in 0..i) t{y}[i,j] for i in 0..n;")
    if op == "sum":
        p.done(y, "n")


def scatter(p):
    op, value = p.pick(("+=", None), ("min=", None), ("max=", None), ("*=", "select({} > 0, 1.0, -1.0)"))
    shape, target, ranges, vars_ = p.pick(
        ("m", "col[k]", "k in 0..p", K1), ("n", "row[k]", "k in 0..p", K1),
        ("n", "dyn[j]", "j in 0..m", J1), ("n", "srt[j]", "j in 0..m", J1),
        ("m", "perm[i]", "i in 0..n", I1),
        ("nm", "row[k], col[k]", "k in 0..p", K1), ("nm", "row[k], j", "k in 0..p, j in 0..m", KJ),
        ("n", "i", "i in 0..n, j in 0..m", IJ))
    start = p.rng.random()
    if start < 0.3 and op == "+=":
        y = p.fresh("s")
        p.add(f"temp {y} : f64[{', '.join(shape)}] = {p.rng.randint(0, 2)};")
    elif start < 0.5 and op == "+=":
        y = p.fresh("q")
        p.declare("inout", y, shape)
    else:
        y = p.output(shape)
    text = p.expr(vars_, 1)
    p.add(f"reduce {y}[{target}] {op} {value.format(text) if value else text} for {ranges};")
    if op == "+=":
        p.done(y, shape)


def ragged(p):
    y = p.output("n")
    op = p.pick("sum", "sum", "min", "max")
    p.add(f"{y}[i] = {op}(k in off[i]..off[i+1]) {p.read(K1)}*{p.read(KI)} for i in 0..n;")
    if op == "sum":
        p.done(y, "n")


def nested(p):
    y = p.output("n")
    p.add(f"{y}[i] = {p.read(I1)} - (sum(j in 0..m) {p.read(IJ)}) "
             f"+ 2*(sum(k in off[i]..off[i+1]) {p.read(K1)}) for i in 0..n;")
    p.done(y, "n")


def whole(p):
    y = p.output("")
    x, z = (p.one_of("n") for _ in range(2))
    value = p.pick(f"dot({x}, {z})", f"sum({x}*{z})", f"maxval(abs({x}))", f"cast<f64>(nnz({x} > {z}))")
    p.add(f"{y} = {value};")


def matrix_product(p):
    name = p.fresh("P")
    p.add(f"temp {name} : f64[n, n] = matmul({p.one_of('nm')}, "
             f"transpose({p.one_of('nm')}));")
    y = p.output("n")
    p.add(f"{y}[i] = sum(k in 0..n) {name}[i,k] for i in 0..n;")


def row_recurrence(p):
    y = p.output("nm")
    first, step = p.pick(("j == 0", "j-1"), ("j == m-1", "j+1"))
    p.add(f"{y}[i,j] = case {{ {first} : {p.expr(IJ, 1)}; "
             f"else : {p.pick('', '-')}{y}[i,{step}]{p.pick('', '/(-1)', '/(-1)')} + {p.expr(IJ, 1)}; }} "
             f"for i in 0..n, j in 0..m;")
    p.done(y, "nm")


def plane_recurrence(p):
    y = p.output("nm")
    p.add(f"{y}[i,j] = case {{ i == 0 or j == 0 : {p.expr(IJ, 1)}; "
             f"else : max({y}[i-1,j], {y}[i,j-1]) + {p.read(IJ)}; }} for i in 0..n, j in 0..m;")


def segment_recurrence(p):
    y = p.output("p")
    first, step = p.pick(("k == off[s]", "k-1"), ("k == off[s+1]-1", "k+1"))
    p.add(f"{y}[k] = case {{ {first} : {p.read(K1)}; "
             f"else : {y}[{step}]{p.pick('', '', '/(-1)')} + {p.pick('', '', 's - ')}{p.expr(K1, 1)}; }} "
             f"for s in 0..n, k in off[s]..off[s+1];")
    p.done(y, "p")


def tree_recurrence(p):
    y = p.output("n")
    if p.rng.random() < 0.5:
        p.add(f"{y}[i] = case {{ par[i] < 0 : {p.read(I1)}; "
                 f"else : {y}[par[i]] + {p.expr(I1, 1)}; }} for i in 0..n;")
    else:
        x = p.one_of("n")
        p.add(f"{y}[i] = {p.read(I1)} + (sum(h in children(par, i)) ({x}[h] + {y}[h])) for i in 0..n;")
    p.done(y, "n")


def trees(p):
    """Halves of halves, of which long chains have more than a number has digits."""
    y = p.output("nm")
    p.loosen("t")
    if p.rng.random() < 0.5:
        p.add(f"{y}[i,j] = case {{ par[i] < 0 : {p.read(IJ)}; "
                 f"else : {y}[par[i],j]/2 + {p.expr(IJ, 1)}; }} for j in 0..m, i in 0..n;")
    else:
        p.add(f"{y}[i,j] = {p.read(IJ)} + (sum(h in children(par, i)) {y}[h,j]/2) for j in 0..m, i in 0..n;")
    p.done(y, "nm")


def histogram(p):
    y, bins = p.output("m", "i64"), p.fresh("bin")
    x = p.one_of("n")
    p.add(f"func {bins}[i in 0..n] : index(m) = min(max(cast<i64>(floor({x}[i])), 0), m - 1);")
    p.add(f"reduce {y}[{bins}[i]] += {p.pick('1', 'I[i]', 'i')} for i in 0..n;")


def integers(p):
    y = p.output("n", "i64")
    value = p.pick("I[i]/2 + I[i] % 3", "I[i]*I[i] - i", "(I[i] - 7)/3", "min(I[i], i) % 4")
    p.add(f"{y}[i] = {value} for i in 0..n;")


def single(p):
    y = p.output("n", "f32")
    p.add(f"{y} = {p.pick('F*F + 1', 'max(F, 0) - F', 'abs(F)*2')};")


def life(p):
    y = p.output("n" if p.rng.random() < 0.5 else "m")
    if p.declarations[-1].endswith("[n];"):
        name = p.fresh("Y")
        p.add(f"temp {name} : f64[n, m] = Sparse_matvec(PHI, Dict, {p.one_of('m')});")
        p.add(f"{y}[i] = sum(j in 0..m) {name}[i,j] for i in 0..n;")
        p.done(name, "nm")
    else:
        p.add(f"{y} = Sparse_matvec(transpose(PHI), Dict, {p.one_of('nm')});")


def chained(p):
    """Values read through two index arrays, and a scatter along such a chain."""
    y = p.output("m")
    p.add(f"func way{y}[j in 0..m] : index(n) = dyn[j];")
    p.add(f"{y}[j] = {p.one_of('m')}[perm[way{y}[j]]] - {p.read(J1)} for j in 0..m;")
    z = p.output("m")
    p.add(f"reduce {z}[perm[row[k]]] += {p.read(K1)} for k in 0..p;")
    p.done(y, "m")
    p.done(z, "m")


def narrow(p):
    """Small integers, which C computes in int, and conditions that are stored."""
    y, type_ = p.fresh("y"), p.pick("i32", "i16", "i8", "u8", "u16")
    p.declare("out", y, "n", type_)
    sign = f"select({p.one_of('n')}[i] > 0, 1, 0)"
    p.add(f"{y}[i] = cast<{type_}>({p.pick(f'{sign} + i % 3', sign, 'abs(I[i]) % 5', '(i*i) % 7')}) "
             f"for i in 0..n;")
    flag = p.fresh("flag")
    p.declare("out", flag, "nm", "bool")
    p.add(f"{flag}[i,j] = {p.read(IJ)} < {p.read(IJ)} {p.pick('and', 'or')} "
             f"{p.condition('i', 'n')} for i in 0..n, j in 0..m;")


def deep(p):
    """Three dimensions, summed over the one in the middle, and a stencil over the outer ones."""
    name, y = p.fresh("d"), p.output("nm")
    p.add(f"func {name}[i in 0..n, h in 0..3, j in 0..m] : f64 = {p.expr(IJ, 1)} + h*{p.read(I1)};")
    p.add(f"{y}[i,j] = (sum(h in 0..3) {name}[i,h,j]) - {name}[max(i-1, 0), 1, min(j+1, m-1)] "
             f"for i in 0..n, j in 0..m;")
    p.done(y, "nm")


def pieces(p):
    """Cells defined by several statements, the ends apart from the middle."""
    y = p.output("n")
    p.add(f"{y}[0] = {p.rng.randint(-2, 2)} for u in 0..min(n, 1);")
    p.add(f"{y}[i] = {p.expr(I1, 1)} for i in 1..n;")
    p.done(y, "n")


def chain(p):
    """A few element-wise and shifted functions in a row, as in images: material for fusion."""
    source, first = p.one_of("nm"), None
    for _ in range(p.rng.randint(2, 4)):
        name = p.fresh("h")
        first = first or name
        p.add(f"func {name}[i in 0..n, j in 0..m] : f64 = " + p.pick(
            f"{source}[i,j] + {source}[max(i-1, 0), j]", f"{source}[i, min(j+1, m-1)] - {source}[i,j]",
            f"max({source}[i,j], {p.one_of('nm')}[i,j])", f"abs({source}[i,j]) - 1") + ";")
        p.done(name, "nm")
        source = name
    y = p.output("nm")
    p.add(f"{y} = {source};" if p.rng.random() < 0.5 else
             f"{y}[i,j] = {source}[i,j] for i in 0..n, j in 0..m;")
    if p.rng.random() < 0.5:
        tiled = p.pick(y, source)
        p.items += (f"        fuse {first}, {tiled};\n"
                       f"        tile {tiled} ({p.pick('2', '3, 4', '1, 5', '8')});\n")


def layers(p):
    """Rows of images computed from a few rows of the one before, forwards or backwards: windows of rows."""
    source, y, back = p.fresh("r"), p.output("nm"), p.rng.random() < 0.3
    end, before = ("m-1", "j+1") if back else ("0", "j-1")
    p.add(f"func {source}[i in 0..n, j in 0..m, h in 0..3] : f64 = {p.expr(IJ, 1)} + h;")
    for _ in range(p.rng.randint(1, 3)):
        name, s = p.fresh("r"), source
        above = f"{s}[i, max(j-{p.pick('1', '2', '3')}, 0), {p.pick('h', '2-h')}]"
        below = f"{s}[i, min(j+{p.pick('1', '2')}, m-1), {p.pick('h', '1')}]"
        p.add(f"func {name}[i in 0..n, j in 0..m, h in 0..3] : f64 = " + p.pick(
            f"{above} + {below}", f"{s}[i,j,h] - {above}", f"max({below}, {s}[i,j,0])",
            f"case {{ j == {end} : {s}[i,j,h]; else : {s}[i,j,h] - {name}[i,{before},h]; }}") + ";")
        source = p.pick(name, name, source)
    p.add(f"{y}[i,j] = (sum(h in 0..3) {source}[i, {p.pick('j', 'max(j-1, 0)', 'm-1-j')}, h]) + "
             f"{source}[i, min(j+1, m-1), 0] for i in 0..n, j in 0..m;")
    p.done(y, "nm")


def scaled(p):
    """A scalar argument of each execution."""
    y = p.output("n")
    p.add(f"{y}[i] = {p.read(I1)} + scale*{p.read(I1)} for i in 0..n;")
    p.scalars = p.scalars or "    param f64 scale;\n"


def loop_statement(p):
    x = p.fresh("x")
    p.declare("state", x, "n", init=f" = {p.one_of('n')}")
    p.declare("state", "g" + x, "", init=" = 0")
    trace = p.fresh("trace")
    p.declarations.append(f"    out {trace} : f64[2];")
    condition = p.pick("", f" until g{x} > 20")
    count = p.output("", "i64")
    step = p.pick(
        f"next {x} = {x} + {p.one_of('n')};",
        f"next {x}[i] = {x}[i-1] + {x}[i+1] for i in 1..n-1;",
        f"reduce next {x}[row[k]] += v[k] for k in 0..p;")
    p.loop = (f"    iterate it in 0..4{condition} {{\n        {step}\n"
                 f"        temp s{x} : f64 = sum(i in 0..n) abs({x}[i]);\n"
                 f"        next g{x} = g{x} + s{x};\n"
                 f"        {trace}[it/2] = case {{ it % 2 == 0 : s{x}; }};\n"
                 f"        reduce {count} += 1;\n    }}\n"
                 f"    last{x} = {x};\n")
    p.declarations.append(f"    out last{x} : f64[n];")


STATEMENTS = [elementwise, function, function, shrinking, cases, triangle, scatter, scatter, scatter, ragged,
              nested, whole, matrix_product, row_recurrence, plane_recurrence, segment_recurrence, tree_recurrence,
              trees, histogram, integers, single, life, chained, narrow, deep, pieces, chain, layers, scaled]
LOOPS = [loop_statement, loop_statement]
