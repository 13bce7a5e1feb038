# SPDX-License-Identifier: MIT
"""Templates of statements for generate.py beyond the plain ones. Each adds to a program what its text says; what it
reads is inside its arrays for any sizes, and values stay whole numbers."""

# Variables of a statement, with the sizes of their ranges.
I1, J1, K1 = {"i": "n"}, {"j": "m"}, {"k": "p"}
IJ, KI, KJ = {"i": "n", "j": "m"}, {"k": "p", "i": "n"}, {"k": "p", "j": "m"}

INPUTS = """    fixed in S : PHI_Tensor<f64>(p; si < n, sj < m);
    fixed in G : Forest(n, p);
    in mask : bool[n];
    in H : u8[n];
    in W : i32[m];
    in V : i16[n, m];
    in Wide : f64[m, 203];
"""


# ---- cells and subscripts ----

def permuted(p):
    """Cells that an index array names, each once; the others hold 0."""
    y = p.output("m")
    p.add(f"{y}[perm[i]] = {p.expr(I1, 1)} for i in 0..n;")
    p.done(y, "m")


def strided(p):
    """Even and odd cells apart, as they are read and as they are defined."""
    half, y, x = p.fresh("half"), p.output("n"), p.one_of("n")
    p.add(f"func {half}[i in 0..n/2] : f64 = {x}[2*i] {p.pick('+', '-')} {x}[2*i+1];")
    p.add(f"{y}[2*i] = {p.expr(I1, 1)} for i in 0..(n+1)/2;")
    p.add(f"{y}[2*i+1] = {half}[i] - {p.expr(I1, 1)} for i in 0..n/2;")
    p.done(y, "n")


def divided(p):
    """Subscripts by division and remainder."""
    y, x = p.output("n"), p.one_of("n")
    subscript = p.pick("i/2", "i - i%2", "(i+n)/2", "(2*i)/3", "n-1 - i/3", "min(2*i, n-1)")
    p.add(f"{y}[i] = {x}[{subscript}] - {p.expr(I1, 1)} for i in 0..n;")
    p.done(y, "n")


def padded(p):
    """A function with cells before and behind those of its array."""
    pad, y, x = p.fresh("pad"), p.output("n"), p.one_of("n")
    p.add(f"func {pad}[i in -1..n+1] : f64 = case {{ i < 0 : {p.pick('0', '2')}; i >= n : 1; else : {x}[i]; }};")
    p.add(f"{y}[i] = {pad}[i-1] - 2*{pad}[i] + {pad}[i+1] for i in 0..n;")
    p.done(y, "n")


def plane_stencil(p):
    g, y, x = p.fresh("g"), p.output("nm"), p.one_of("nm")
    weights = p.pick("[[0,1,0],[1,-4,1],[0,1,0]]", "[[1,2,1],[0,0,0],[-1,-2,-1]]", "[[1],[0],[-1]]", "[-1,2,-1]")
    p.add(f"func {g}[i in 1..n-1, j in 1..m-1] : f64 = stencil({x}[i,j], {weights});")
    p.add(f"{y}[i,j] = case {{ i >= 1 and i < n-1 and j >= 1 and j < m-1 : {g}[i,j]; else : {p.expr(IJ, 1)}; }} "
          f"for i in 0..n, j in 0..m;")
    p.done(y, "nm")


def by_data(p):
    """A case whose conditions read index arrays."""
    y, first = p.output("nm"), p.pick("par[i] < 0", "dyn[j] == 0", "srt[j] < n-1", "dyn[j] == i", "perm[i] == j",
                                      "off[i] > 0", "srt[j] >= i")
    p.add(f"{y}[i,j] = case {{ {first} : {p.expr(IJ, 1)}; {p.condition('i', 'n')} : {p.expr(IJ, 1)}; "
          f"else : {p.expr(IJ, 1)}; }} for i in 0..n, j in 0..m;")
    p.done(y, "nm")


def narrow_inputs(p):
    """Arithmetic on small integers and conditions that are given."""
    y = p.output("nm")
    value = p.pick("H[i]*W[j]", "V[i,j] - H[i]", "cast<f64>(V[i,j]/3) + W[j] % 4", "select(mask[i], V[i,j], W[j])",
                   "min(H[i], V[i,j]) - 200")
    p.add(f"{y}[i,j] = {value} for i in 0..n, j in 0..m;")
    z = p.output("n", "i64")
    p.add(f"reduce {z}[i] += {p.pick('V[i,j]', 'H[i]*V[i,j]', 'W[j]/2')} for i in 0..n, j in 0..m;")
    p.done(y, "nm")


# ---- sums ----

def banded(p):
    """Ranges around the diagonal, as rows and as a scatter."""
    y, z, x = p.output("n"), p.output("n"), p.one_of("n")
    lo, hi = p.pick("max(i-2, 0)", "i", "i/2", "min(i, 3)"), p.pick("min(i+3, n)", "n", "i+1", "min(2*i+1, n)")
    p.add(f"{y}[i] = {p.pick('sum', 'sum', 'max')}(h in {lo}..{hi}) ({x}[h] - {p.read(I1)}) for i in 0..n;")
    p.add(f"reduce {z}[h] += {p.expr(I1, 1)} for i in 0..n, h in max(i-1, 0)..min(i+2, n);")
    p.done(z, "n")


def rows_of_segments(p):
    """Rows that are added along a segment: a sparse matrix times a dense one."""
    y, x = p.output("nm"), p.one_of("nm")
    if p.rng.random() < 0.5:
        p.add(f"{y}[i,j] = sum(k in off[i]..off[i+1]) {p.read(K1)}*{x}[row[k],j] for i in 0..n, j in 0..m;")
    else:
        p.add(f"reduce {y}[i,j] += {p.read(K1)}*{x}[{p.pick('row[k]', 'i')},j] "
              f"for i in 0..n, k in off[i]..off[i+1], j in 0..m;")
    p.done(y, "nm")


def within_segments(p):
    """A value for each cell of a segment, from its ends and its sum."""
    y, total = p.output("p"), p.fresh("total")
    p.add(f"func {total}[i in 0..n] : f64 = sum(k in off[i]..off[i+1]) {p.read(K1)};")
    p.add(f"{y}[k] = {p.read(K1)} - {total}[s] + {p.one_of('p')}[off[s]] for s in 0..n, k in off[s]..off[s+1];")
    p.done(y, "p")


def sparse_matrix(p):
    if p.rng.random() < 0.5:
        y = p.output("n")
        p.add(f"{y} = Sparse_matvec(S, {p.one_of('m')});")
        p.done(y, "n")
    else:
        y = p.output("m")
        p.add(f"{y} = Sparse_matvec(transpose(S), {p.one_of('n')});")
        p.done(y, "m")


def right_hand_sides(p):
    """The product of a sparse tensor with several vectors."""
    w, big, y = p.fresh("w"), p.fresh("Y"), p.output("n")
    p.add(f"func {w}[j in 0..m, r in 0..3] : f64 = {p.read(J1)} + r;")
    p.add(f"temp {big} : f64[n, m, 3] = Sparse_matvec(PHI, Dict, {w});")
    p.add(f"{y}[i] = sum(j in 0..m, r in 0..3) {big}[i,j,r] for i in 0..n;")
    p.done(y, "n")


def products(p):
    """Dense products, and products over a row."""
    y = p.output("n")
    p.add(f"{y} = matmul({p.one_of('nm')}, {p.one_of('m')});" if p.rng.random() < 0.5 else
          f"{y}[i] = prod(j in 0..m) select({p.read(IJ)} > 0, 1.0, -1.0) for i in 0..n;")
    z = p.output("m")
    p.add(f"{z} = matmul(transpose({p.one_of('nm')}), {p.one_of('n')});")
    p.done(y, "n")
    p.done(z, "m")


def single_sums(p):
    """Sums in single precision, of numbers small enough to be exact."""
    y = p.output("n", "f32")
    p.add(f"{y}[i] = sum(j in 0..m) {p.pick('cast<f32>(A[i,j])*F[i]', 'cast<f32>(c[j] - A[i,j])', 'F[i]')} "
          f"for i in 0..n;")


# ---- recurrences ----

def coupled(p):
    """Two recurrences that read each other, at the same point or before."""
    u, w = p.output("nm"), p.output("nm")
    first, before, here = p.pick(("j == 0", "i,j-1", "i,j"), ("i == 0", "i-1,j", "i,j"), ("j == m-1", "i,j+1", "i,j+1"),
                                 ("i < 2", "i-2,j", "i-1,j"))
    p.add(f"{u}[i,j] = case {{ {first} : {p.read(IJ)}; else : {w}[{before}] + {p.expr(IJ, 1)}; }} "
          f"for i in 0..n, j in 0..m;")
    p.add(f"{w}[i,j] = case {{ {first} : {p.read(IJ)}; else : {u}[{here}] - {p.read(IJ)}; }} for i in 0..n, j in 0..m;")


def coupled_trees(p):
    """Recurrences over a tree that read each other."""
    u, w = p.output("n"), p.output("n")
    if p.rng.random() < 0.5:
        p.add(f"{w}[h] = {u}[h] - {p.one_of('n')}[h] for h in 0..n;")
        p.add(f"{u}[i] = case {{ par[i] < 0 : {p.read(I1)}; else : {w}[par[i]] + 1; }} for i in 0..n;")
    else:
        p.add(f"{u}[i] = {p.read(I1)} + (sum(h in children(par, i)) {w}[h]) for i in 0..n;")
        p.add(f"func half{w}[i in 0..n] : f64 = {u}[i] - {p.read(I1)};")
        p.add(f"{w}[i] = half{w}[i]*{p.pick('1', '-1')} for i in 0..n;")


def column_recurrence(p):
    y = p.output("nm")
    first, before = p.pick(("i == 0", "i-1, j"), ("i == n-1", "i+1, j"), ("i == 0", "i-1, max(j-1, 0)"),
                           ("i == 0", "i-1, m-1-j"), ("i < 2", "i-2, j"))
    p.add(f"{y}[i,j] = case {{ {first} : {p.expr(IJ, 1)}; else : {p.expr(IJ, 1)} - {y}[{before}]; }} "
          f"for i in 0..n, j in 0..m;")
    p.done(y, "nm")


def gathered_recurrence(p):
    """A recurrence along rows that takes rows of others by an index array."""
    y, x = p.output("nm"), p.one_of("nm")
    p.add(f"{y}[i,j] = case {{ j < 2 : {p.read(IJ)}; else : {y}[i,j-2] + {x}[{p.pick('dyn[j]', 'srt[j]')},j]; }} "
          f"for i in 0..n, j in 0..m;")
    p.done(y, "nm")


def forest(p):
    """Up and down the trees of a forest."""
    y, z = p.output("p"), p.output("p")
    systems = "for s in 0..n, k in G.offset[s]..G.offset[s+1]"
    p.add(f"{y}[k] = case {{ G.parent[k] < 0 : {p.read(K1)}; else : {y}[G.parent[k]] + {p.read(K1)}; }} {systems};")
    p.add(f"{z}[k] = {p.read(K1)} + (sum(h in children(G.parent, k)) ({z}[h] - {p.one_of('p')}[h])) {systems};")


# ---- definitions in the place of their reads ----

def inline(p, *names):
    """Asks for some of them, in any order."""
    chosen = p.rng.sample(names, p.rng.randint(1, len(names)))
    p.items += f"        inline {', '.join(chosen)};\n"


def border_cases(p, i, size, value):
    """What a function around an array is: `value` inside, behind conditions that may overlap, and before others."""
    any_, inside = [f"{i} % 2 == 0", f"{i} > m", "n == m", f"not {i} < 2", f"({i} == -1 or {i} == {size}-1)",
                    f"{i} < {size} and {i} > 2"], f"{i} >= 0 and {i} < {size}"
    cases = [f"{p.pick(*any_)} : {p.pick('1', '-2', i)}; "] if p.rng.random() < 0.4 else []
    if p.rng.random() < 0.3:
        cases.append(f"{inside} and {p.pick(*any_)} : 2*{value} - 1; ")
    cases += p.rng.choice([[f"{inside} : {value}; "], [f"{i} < 0 : 3; ", f"{i} >= {size} : {i}; "]])
    last = value if len(cases) > 1 and f"{i} >= {size} :" in cases[-1] else p.pick("0", "1", i)
    return f"case {{ {''.join(cases)}else : {last}; }}"


def inlined_cases(p):
    """Cases at shifted points, below one another, in sums, updates and recurrences, and through index arrays."""
    q, r, x = p.fresh("q"), p.fresh("r"), p.one_of("n")
    p.add(f"func {q}[i in -2..n+2] : f64 = {border_cases(p, 'i', 'n', f'{x}[i]')};")
    p.add(f"func {r}[i in -1..n+1] : f64 = "
          + p.pick(f"{q}[i-1] - 2*{q}[i] + {q}[i+1]", f"{q}[i+1] + i", border_cases(p, "i", "n", f"{q}[i+1]")) + ";")
    inline(p, q, r)
    y = p.output("n")
    at = p.pick("i", "i-1", "i+1", "n-1-i", "min(i, 2)", "i/2")
    p.add(p.pick(f"{y}[i] = {r}[{at}] + {p.read(I1)} for i in 0..n;",
                 f"{y}[i] = {r}[i-1] - {q}[i+2]*{p.read(I1)} for i in 0..n;",
                 f"{y}[i] = case {{ i > 0 and i < n-1 : {r}[i-1] + {q}[i+1]; else : {r}[i]; }} for i in 0..n;",
                 f"{y}[i] = sum(k in off[i]..off[i+1]) {r}[row[k]]*{p.read(K1)} for i in 0..n;",
                 f"{y}[i] = sum(j in 0..m) {q}[i-1]*{p.read(IJ)} for i in 0..n;",
                 f"reduce {y}[row[k]] += {r}[row[k]-1]*{p.read(K1)} + {q}[i] for i in 0..n, k in off[i]..off[i+1];",
                 f"reduce {y}[row[k]] += {q}[row[k]+1]*{p.read(K1)}*{p.one_of('m')}[col[k]] for k in 0..p;",
                 f"{y}[i] = case {{ i == 0 : {r}[i-1]; else : {y}[i-1] + {r}[{at}]; }} for i in 0..n;"))
    p.done(y, "n")


def inlined_planes(p):
    """The same in planes: neighbours, rows that are added up, recurrences along them, tiles."""
    q, r, x = p.fresh("q"), p.fresh("r"), p.one_of("nm")
    value = border_cases(p, "j", "m", f"{x}[i,j]")
    p.add(f"func {q}[i in -1..n+1, j in -1..m+1] : f64 = case {{ i < 0 or i >= n : {p.pick('0', 'j')}; "
          f"{value.removeprefix('case { ').removesuffix(' }')} }};")
    p.add(f"func {r}[i in 0..n, j in 0..m] : f64 = "
          + p.pick(f"{q}[i-1,j] - {q}[i,j] + {q}[i+1,j]", f"{q}[i,j-1] - {q}[i+1,j+1]", f"{q}[i-1,j+1]") + ";")
    inline(p, q, r)
    y = p.output("nm")
    p.add(p.pick(f"{y}[i,j] = {r}[i,j] + {q}[i,j-1] for i in 0..n, j in 0..m;",
                 f"{y}[i,j] = {r}[{p.pick('n-1-i,j', 'i,m-1-j', 'max(i-1, 0),j')}] for i in 0..n, j in 0..m;",
                 f"{y}[i,j] = case {{ j == 0 : {q}[i-1,j-1]; else : {y}[i,j-1]/(-1) + {r}[i,j]; }} "
                 f"for i in 0..n, j in 0..m;",
                 f"{y}[i,j] = case {{ i == 0 : {q}[i,j]; else : {y}[i-1,j]/(-1) + {q}[i-1,j+1]; }} "
                 f"for j in 0..m, i in 0..n;",
                 f"reduce {y}[i,j] += {q}[row[k],j]*{p.read(K1)} for i in 0..n, k in off[i]..off[i+1], j in 0..m;",
                 f"reduce {y}[row[k],j] += {q}[row[k]-1,j]*{p.read(K1)} for k in 0..p, j in 0..m;"))
    if p.rng.random() < 0.3:
        p.items += f"        fuse {r}, {y};\n        tile {y} ({p.pick('2', '3, 4', '8')});\n"
    p.done(y, "nm")


# ---- states ----

def matrix_steps(p):
    """Neighbours of a plane, step by step."""
    x = p.fresh("x")
    p.declare("state", x, "nm", init=f" = {p.one_of('nm')}")
    neighbours = p.pick(f"{x}[i-1,j] + {x}[i+1,j] - {x}[i,j]", f"{x}[i,j-1] - {x}[i+1,j+1]",
                        f"{x}[i-1,j-1] + {x}[i,j]")
    p.declare("out", f"last{x}", "nm")
    p.loop = (f"    iterate it in 0..{p.pick('3', '4', 'min(n, 5)')} {{\n"
              f"        next {x}[i,j] = {neighbours} for i in 1..n-1, j in 1..m-1;\n    }}\n"
              f"    last{x} = {x};\n")


def running_steps(p):
    """A recurrence in each step, whose sums are added up over all of them."""
    x, total = p.fresh("x"), p.output("n")
    p.declare("state", x, "n", init=f" = {p.one_of('n')}")
    p.declare("inout", f"io{x}", "n")
    p.loop = (f"    iterate it in 0..3 {{\n        temp run{x} : f64[n];\n"
              f"        run{x}[i] = case {{ i == 0 : {x}[i]; else : {x}[i] - run{x}[i-1]; }} for i in 0..n;\n"
              f"        next {x}[i] = run{x}[n-1-i] + it for i in 0..n;\n"
              f"        next io{x}[i] = io{x}[max(i-1, 0)] + {x}[i] for i in 0..n;\n"
              f"        reduce {total}[{p.pick('i', 'n-1-i')}] += run{x}[i] for i in 0..n;\n    }}\n")


def exchanged_steps(p):
    """Two states that change places, and one that keeps some of its cells."""
    x, y = p.fresh("x"), p.fresh("x")
    for name in (x, y):
        p.declare("state", name, "m", init=f" = {p.one_of('m')}")
        p.declare("out", f"last{name}", "m")
    p.loop = (f"    iterate it in 0..{p.pick('2', '5')} {{\n        next {x} = {y};\n"
              f"        next {y}[j] = case {{ {p.condition('j', 'm')} : {x}[j] - {y}[m-1-j]; }} for j in 0..m;\n"
              f"    }}\n"
              f"    last{x} = {x};\n    last{y} = {y};\n")


def inlined_steps(p):
    """Steps of a stencil with a border that no array has, which is not stored."""
    x, q = p.fresh("x"), p.fresh("q")
    p.declare("state", x, "n", init=f" = {p.one_of('n')}")
    p.declare("out", f"last{x}", "n")
    inline(p, q)
    p.loop = (f"    iterate it in 0..{p.pick('3', 'min(n, 5)')} {{\n"
              f"        func {q}[i in -1..n+1] : f64 = {border_cases(p, 'i', 'n', f'{x}[i]')};\n"
              f"        next {x}[i] = {q}[i-1] - {q}[i+1] + {p.pick('0', 'it', f'{q}[i]')} for i in 0..n;\n    }}\n"
              f"    last{x} = {x};\n")


def known_rows(p):
    """Rows and dot products of a length that is known: of less than a vector, of some, of several blocks of them."""
    y, z = p.fresh("y"), p.output("p")
    lengths = "7", "8", "33", "96", "97", "203"
    p.declarations.append(f"    out {y} : f64[n, 203];")
    p.add(p.pick(f"reduce {y}[row[k],t] += Wide[col[k],t]*{p.one_of('p')}[k] for k in 0..p, ",
                 f"reduce {y}[i,t] += Wide[col[k],t] - {p.one_of('p')}[k] for i in 0..n, k in off[i]..off[i+1], ",
                 f"reduce {y}[PHI.voxel[k],t] += Wide[PHI.atom[k],t]*{p.one_of('m')}[PHI.fiber[k]]*PHI.value[k] "
                 f"for k in 0..p, ") + f"t in 0..{p.pick(*lengths)};")
    p.add(p.pick(f"reduce {z}[k] += Wide[col[k],t]*{y}[i,t] for i in 0..n, k in off[i]..off[i+1], ",
                 f"reduce {z}[k] += Wide[col[k],t]*{y}[row[k],t] for k in 0..p, ") + f"t in 0..{p.pick(*lengths)};")


STATEMENTS = [permuted, strided, divided, padded, plane_stencil, by_data, narrow_inputs, banded, rows_of_segments,
              within_segments, sparse_matrix, right_hand_sides, products, single_sums, coupled, coupled_trees,
              column_recurrence, gathered_recurrence, forest, known_rows, inlined_cases, inlined_planes]
LOOPS = [matrix_steps, running_steps, exchanged_steps, inlined_steps]
