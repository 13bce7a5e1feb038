# SPDX-License-Identifier: MIT
"""Templates that show productions of the grammar and properties of declarations which no other template has: facts in
any combination, ranges of each kind, extents, computed and nested index arrays, cases in each place, sizes that are
assumed or known, trees that are known, sparse products in single precision, states of each form."""

from known import KNOWN
from statements import I1, IJ, K1
from tables import ROOT

INCLUDED = ROOT / "tests/random/parts/constants.pmg"
CELL = ROOT / "tests/random/parts/cell.swc"

INPUTS = """    in both : index(m)[n] sorted unique;
    fixed in each : index(n)[n] unique;
    in cells : index(m)[n, m];
    in many : f64[2*n + 1, m + n, 3];
    in deepest : f64[n, 1, 2, 1, m, 1, 1, 2];
    in one : f64;
    in whole : i32;
    fixed in XYZ : i32[n, 3];
    fixed in XY : i32[m, 2];
    fixed in N : Tree(p);
    fixed in PSI : PHI_Tensor<f32>(p; left < m, right < n, last < m);
    fixed in Q : PHI_Tensor<f32>(p; qi < m, qj < n);
    fixed in ALONE : PHI_Tensor<f64>(p; only < n);
    in single : f32[m, m];
    in few : f32[m];
    in fewer : f32[m, 2];
    in twice : f64[n, 2];
    fixed in kept : f64[m, 4];
"""


def facts(p):
    """Index arrays that are sorted and unique, of two dimensions, read through each other, and as numbers."""
    y, z = p.output("nm"), p.output("n", "i64")
    p.add(p.pick(f"{y}[i,j] = {p.one_of('nm')}[i, cells[i,j]] - A[i, cells[i, cells[i,j]]] for i in 0..n, j in 0..m;",
                 f"{y}[i,j] = {p.one_of('nm')}[each[i], both[each[i]]] + cells[i,j] for i in 0..n, j in 0..m;",
                 f"reduce {y}[i, cells[i,j]] += {p.read(IJ)} for i in 0..n, j in 0..m;",
                 f"{y}[each[i], j] = {p.expr(IJ, 1)} for i in 0..n, j in 0..m;"))
    p.add(f"{z}[i] = off[i+1] - off[i] + {p.pick('both[i]', 'min(both[i], i)', 'max(off[i], each[i])')} for i in 0..n;")
    p.done(y, "nm")


def extents(p):
    """Arrays whose extents are affine, of up to eight dimensions, and of none."""
    y = p.output("nm")
    p.add(f"{y}[i,j] = " + p.pick("many[2*i + 1, j + i, 2] - many[2*i, j + n, j % 3]",
                                  "many[i + n, m - 1 - j, 0] + one",
                                  "deepest[i, 0, j % 2, 0, j, 0, 0, 1] + whole",
                                  "many[2*n - i, min(j + i, m), (i + j) % 3]*THIRD") + " for i in 0..n, j in 0..m;")
    p.done(y, "nm")


def eight(p):
    """A function of eight dimensions and one of empty ranges for most sizes."""
    e, f, y = p.fresh("e"), p.fresh("f"), p.output("n")
    p.add(f"func {e}[i in 0..n, a1 in 0..1, a2 in 0..2, a3 in 0..1, a4 in 0..2, a5 in 0..1, a6 in 0..1, a7 in 0..2]"
          f" : f64 = {p.one_of('n')}[i] + a2 - a4*a7;")
    p.add(f"func {f}[i in n..n+3, j in -2..0] : f64 = i - j;")
    p.add(f"{y}[i] = {e}[i,0,1,0,i%2,0,0,1] + {f}[n + i%3, -1 - i%2] for i in 0..n;")
    p.done(y, "n")


def negative(p):
    """Subscripts below zero, and quotients and remainders of numbers below zero."""
    g, y = p.fresh("g"), p.output("n")
    lo = p.pick("-3", "-n", "-n - 2", "-(n % 3) - 1")
    p.add(f"func {g}[i in {lo}..n+1] : f64 = i + {p.pick('1', 'i/3', 'i % 4', '-i % 3')};")
    p.add(f"{y}[i] = {g}[{p.pick('-1', 'i', '-(i % 2)', '(i - 3)/4', 'max(i - n, -1)', '(-1 - i/2) % 2 - 1')}]"
          f" + {p.read(I1)} for i in 0..n;")
    p.done(y, "n")


def ranges(p):
    """Bounds by minima, quotients, offsets and lengths; several ranges of one sum; children of children."""
    y = p.output("n")
    over = p.pick("h in 0..len[i]", "k in off[i]..off[i+1], h in 0..m", "h in i/2..min(i + 2, n), g in 0..h % 3",
                  "h in children(par, i), g in children(par, h)", "h in children(par, i), g in 0..m",
                  "h in 0..min(max(n - i, 0), m)", "h in len[i]..m", "h in 0..both[i]")
    term = p.pick("1", "(h - i)", p.read(I1), f"select(h > 1, 2, {p.read(I1)})")
    which = "sum" if term == "1" else p.pick("sum", "sum", "sum", "max")
    p.add(f"{y}[i] = {which}({over}) {term} for i in 0..n;")
    z = p.output("m")
    over = p.pick("h in 0..len[i]", "h in min(i, m)..m", "h in 0..m/2")
    p.add(f"reduce {z}[h] += {p.read(I1)} for i in 0..n, {over};")
    p.done(z, "m")


def computed(p):
    """Index arrays that are computed, read in a subscript of a subscript, and as targets."""
    w, u, y = p.fresh("w"), p.fresh("u"), p.output("n")
    p.add(f"func {w}[i in 0..n] : index(m) = {p.pick('perm[i]', 'min(max(cast<i64>(abs(a[i])), 0), m - 1)', 'i % m')};"
          if p.rng.random() < 0.7 else f"temp {w} : index(m)[n]; {w}[i] = perm[n-1-i] for i in 0..n;")
    p.head += "    assume m >= 1;\n" if "assume m" not in p.head else ""
    p.add(f"func {u}[i in 0..n] : index(n) = {p.pick('dyn[perm[i]]', f'dyn[{w}[i]]', 'n-1-i')};")
    p.add(p.pick(f"{y}[i] = {p.one_of('m')}[{w}[{u}[i]]] + {p.read(I1)} for i in 0..n;",
                 f"reduce {y}[{u}[i]] += {p.one_of('m')}[{w}[i]] for i in 0..n;",
                 f"{y}[i] = sum(h in 0..{w}[i]) {p.read(I1)} for i in 0..n;"))
    p.done(y, "n")


def cases_everywhere(p):
    """As values of functions, of temps, of updates, of scalars; without variables in their conditions; of data."""
    f, t, y = p.fresh("f"), p.fresh("t"), p.output("n")
    p.add(f"func {f}[i in 0..n] : f64 = case {{ {p.condition('i', 'n')} : {p.read(I1)}; else : i; }};")
    p.add(f"temp {t} : f64 = case {{ n > {p.pick('0', '3')} and m <= 8 or n == m : 2; not m != 1 : 3; else : -1; }};")
    p.add(f"reduce {y}[i] {p.pick('+=', 'max=', 'min=')} case {{ {p.condition('i', 'n')} : {f}[i]; "
          f"{p.pick('par[i] < 0', 'perm[i] > i', 'len[i] == j', 'off[i] < off[i+1]')} : {t}; }} "
          f"for i in 0..n, j in 0..m;")


def sizes(p):
    """Sizes that are assumed, and known ones; of a program that has such already, extents instead."""
    if p.head:
        return extents(p)
    y = p.output("n")
    p.head += p.pick("    assume n <= 600 and m >= 0;\n", "    assume n >= 1 or m >= 0;\n",
                     "    assume 2*n + m < 5000;\n",
                     "    specialize n = 2*THIRD + 1;\n    specialize m = 8;\n", "    assume not n == 77;\n")
    p.add(f"{y}[i] = {p.read(I1)} + n*m - {p.pick('n', 'm')} for i in 0..n;")


def known_tree(p):
    """A tree whose tables stand in the generated file."""
    y = p.output("p")
    if "specialize" not in p.head:
        p.head += f'    specialize N = "{CELL}";\n'
    p.add(p.pick(f"{y}[k] = case {{ N.parent[k] < 0 : {p.read(K1)}; else : {y}[N.parent[k]] + {p.read(K1)}; }} "
                 f"for k in 0..p;",
                 f"{y}[k] = {p.read(K1)} + (sum(h in children(N.parent, k)) {y}[h]) for k in 0..p;"))


def scalars(p):
    """Arguments of both precisions, and of the pipeline's own."""
    y, z = p.output("n"), p.output("m", "f32")
    p.scalars = "    param f64 scale, more;\n    param f32 weight;\n"
    p.add(f"{y}[i] = {p.read(I1)}*more + {p.pick('scale', 'weight', 'one', 'HALF')} for i in 0..n;")
    p.add(f"{z}[j] = few[j]*weight {p.pick('+ whole', '- THIRD', '+ cast<f32>(more)')} for j in 0..m;")
    p.done(y, "n")


def conditions(p):
    """Arrays and scalars of conditions."""
    y, t = p.output("n", "bool"), p.fresh("t")
    p.add(f"temp {t} : bool = {p.pick('true', 'false', 'n > m', 'one > 0', 'not (one == 1)', 'nnz(mask) > 1')};")
    p.add(f"{y}[i] = mask[i] {p.pick('and', 'or', '==', '!=')} {p.pick(t, 'true', f'(a[i] < b[i] and {t})')} "
          f"for i in 0..n;")
    z, u, w = p.fresh("y"), p.fresh("y"), p.fresh("y")
    p.declarations.append(f"    out {z}, {u}, {w} : bool[n];")
    p.add(f"{z} = {p.pick('a < b', 'mask', 'not mask', 'a == b or mask')}; {w} = {z};")
    p.add(f"{u}[i] = case {{ {p.condition('i', 'n')} : {p.pick('true', 'false')}; else : {p.pick(t, 'false')}; }} "
          f"for i in 0..n;")


def sparse_products(p):
    """In single precision, with right-hand sides, within expressions, of one mode."""
    y = p.fresh("y")
    dims, value = p.pick(
        ("f32[n, m]", "Sparse_matvec(PSI, single, few)"), ("f32[n, m, 2]", "Sparse_matvec(PSI, single, fewer)"),
        ("f32[m]", "Sparse_matvec(transpose(PSI), single, grid_f32)"), ("f64[n]", "2*Sparse_matvec(S, c) - a"),
        ("f32[m, 2]", "Sparse_matvec(Q, cast<f32>(twice))"), ("f32[n, 2]", "Sparse_matvec(transpose(Q), fewer)"),
        ("f64[n]", "Sparse_matvec(S, Sparse_matvec(transpose(S), b))"),
        ("f64[m]", "Sparse_matvec(transpose(S), a) + c"))
    if "cast<f32>(twice)" in value:
        p.add(f"temp t{y} : f32[n, 2] = cast<f32>(twice);")
        value = f"Sparse_matvec(Q, t{y})"
    p.declarations.append(f"    out {y} : {dims};")
    p.add(f"{y} = {value};")
    z = p.output("n")
    p.add(f"reduce {z}[ALONE.only[k]] += ALONE.value[k]*{p.read(K1)} for k in 0..p;")
    p.done(z, "n")


def rows_of_a_table(p):
    """Rows that a sparse tensor names, of an input of known rows: what offsets and precisions are for."""
    y = p.fresh("y")
    p.declarations.append(f"    out {y} : f64[n, 4];")
    p.add(f"reduce {y}[PHI.voxel[k], t] += kept[PHI.atom[k], t]*{p.one_of('m')}[PHI.fiber[k]]*PHI.value[k] "
          f"for k in 0..p, t in 0..4;")


def means(p):
    """Images: boxes by constant lists and factors, of whole numbers."""
    y, x = p.output("nm"), p.one_of("nm")
    p.add(f"{y}[i,j] = case {{ i >= 1 and i < n-1 and j >= 1 and j < m-1 : "
          f"stencil({x}[i,j], {p.pick('SMOOTH', 'CROSS', 'LINE', '[[1],[2],[1]]')}, "
          f"{p.pick('4', 'HALF', '-1', '1.0/4')}); "
          f"else : {x}[i,j]; }} for i in 0..n, j in 0..m;")


def both_ways(p):
    """Sums of a matrix down its columns and along its rows; what a sum over few cells is multiplied by."""
    if p.kind == "cuda" and "device rows" in KNOWN:
        return
    s, q, y = p.fresh("s"), p.output("m"), p.output("m")
    p.declarations.append(f"    out {s} : f64[203];")
    length = p.pick("7", "8", "9", "33", "203")
    p.add(f"reduce {s}[t] += Wide[j,t]*{p.pick('c[j]', '2')} for j in 0..m, t in 0..{length};")
    p.add(f"reduce {q}[j] += Wide[j,t]{p.pick('', '*t')} for j in 0..m, t in 0..{length};")
    p.add(f"reduce {y}[j] += (sum(h in 0..3) many[0,j,h])*many[0,j,0]*c[perm[i]] for i in 0..n, j in 0..m;")
    p.done(q, "m")


def stacks(p):
    """Images one behind the other: what two of them read of a third one, in tiles of some of the loops."""
    g, y, z, x = p.fresh("g"), p.fresh("y"), p.fresh("z"), p.one_of("nm")
    ranges = "i in 0..n, j in 0..m, h in 0..7"
    p.declarations.append(f"    out {y}, {z} : f64[n, m, 7];")
    p.add(f"func {g}[{ranges}] : f64 = {x}[i,j] + {p.pick('h', 'abs(h - j)')};")
    value = p.pick(f"2*{x}[i,j]", f"{g}[i,j,h] - {g}[i,j,6-h]", f"2*{g}[i,j,h] - h")
    p.add(f"{y}[i,j,h] = {value} for {ranges};")
    p.add(f"{z}[i,j,h] = case {{ j >= 1 : {g}[i,j,h] + {g}[i,j-1,h]; else : {p.pick('0', f'{y}[i,j,h]')}; }} "
          f"for {ranges};")
    tiles = ", ".join(p.pick("1", "2", "5", "8") for _ in range(p.rng.randint(1, 3)))
    if "tiles of contracted storage" not in KNOWN:
        p.items += f"        fuse {g}, {p.pick(y, z, f'{y}, {z}')};\n        tile {p.pick(y, z)} ({tiles});\n"


STATEMENTS = [facts, extents, eight, negative, ranges, computed, cases_everywhere, sizes, known_tree, scalars,
              conditions, sparse_products, rows_of_a_table, means, both_ways,
              stacks]


# ---- loops ----

def accumulating_steps(p):
    """States and inouts that are added to, minima of them, a scalar state that ends the loop, samples."""
    x, g, y = p.fresh("x"), p.fresh("g"), p.fresh("y")
    p.declare("state", x, "m", init=" = c")
    p.declare("state", g, "", "i32", " = 0")
    p.declare("inout", y, "n", p.pick("f64", "i64"))
    p.declarations.append(f"    out last{x} : f64[m];\n    inout sample{x} : f64[3, m];\n    out count{x} : i32;")
    p.loop = (f"    iterate it in {p.pick('0', '1', '-1')}..{p.pick('3', '5', 'min(n, 4)')}"
              f"{p.pick('', f' until {g} >= 2', f' until {g} == 1 or whole > 2', ' until one < 0 and not n == 3')} {{\n"
              f"        reduce next {x}[perm[i]] {p.pick('+=', 'min=', 'max=')} {p.read(I1)} for i in 0..n;\n"
              f"        next {g} = {g} + {p.pick('1', 'it % 2')};\n"
              f"        reduce next {y}[{p.pick('each[i]', 'i')}] += {p.pick('1', 'it', 'i')} for i in 0..n;\n"
              f"        sample{x}[it % 3, j] = case {{ it >= 1 and it < 4 : {x}[j]; }} for j in 0..m;\n    }}\n"
              f"    last{x} = {x};\n    count{x} = {g};\n")


def computed_steps(p):
    """Functions, cases and sums within the loop, and a state that gets its next value in part."""
    x, f = p.fresh("x"), p.fresh("f")
    p.declare("state", x, "nm", "f32", " = 1")
    p.declare("out", f"last{x}", "nm", "f32")
    p.loop = (f"    iterate it in 0..{p.pick('2', '3')} {{\n"
              f"        func {f}[i in 0..n, j in 0..m] : f32 = case {{ it == 0 : grid_f32[i,j]; "
              f"else : {x}[i,j] - it; }};\n"
              f"        next {x}[i,j] = case {{ {p.condition('i', 'n')} : {f}[i, m-1-j]; {p.condition('j', 'm')} : "
              f"max({f}[i,j], {x}[n-1-i,j]); }} for i in 0..n, j in 0..m;\n    }}\n    last{x} = {x};\n")


LOOPS = [accumulating_steps, computed_steps]
