# SPDX-License-Identifier: MIT
"""Programs made to take the compiler time: pipelines of many stages, and statements whose sets and relations are more
than isl can handle."""
import random


def chain(n):
    """n stencils, element-wise functions and reductions, each of the one before it."""
    rows, before = [], "img"
    for i in range(n):
        value = [f"{before}[max(r-1,0),c] + {before}[min(r+1,R-1),c] - 2*{before}[r,c]",
                 f"max({before}[r,c], 0) + img[r,c]",
                 f"{before}[r,max(c-1,0)] + {before}[r,min(c+1,C-1)]",
                 f"{before}[r,c]*0.5 + row{i}[r]"][i % 4]
        if i % 4 == 3:
            rows.append(f"func row{i}[r in 0..R] : f64 = sum(c in 0..C) {before}[r,c];")
        rows.append(f"func s{i}[r in 0..R, c in 0..C] : f64 = {value};")
        before = f"s{i}"
    rows += [f"last = {before};", f"total = sum({before});"]
    return ("pipeline chain {\n    param R, C;\n    in img : f64[R, C];\n    out last : f64[R, C];\n"
            "    out total : f64;\n" + "".join(f"    {row}\n" for row in rows) + "}\n")


def mixture(n, seed):
    """n stages of every kind, each of any that came before; all of them are read at the end."""
    rng = random.Random(seed)
    planes, lines, rows = ["img"], ["first"], ["func first[r in 0..R] : f64 = sum(c in 0..C) img[r,c];"]
    for i in range(n):
        a, b, x, s = rng.choice(planes[-3:]), rng.choice(planes), rng.choice(lines), f"s{i}"
        to, row = rng.choice([
            (planes, f"func {s}[r in 0..R, c in 0..C] : f64 = {a}[max(r-1,0),c] + {b}[min(r+1,R-1),c] - {a}[r,c];"),
            (planes, f"func {s}[r in 0..R, c in 0..C] : f64 = max({a}[r,c], 0) + {b}[r,c]*{x}[r];"),
            (planes, f"temp {s} : f64[R, C] = {a} + 2*{b};"),
            (lines, f"func {s}[r in 0..R] : f64 = sum(c in 0..C) {a}[r,c]*{b}[r,c];"),
            (lines, f"temp {s} : f64[R] = 0;\n    reduce {s}[idx[k]] += v[k]*{x}[idx[k]] for k in 0..P;"),
            (lines, f"temp {s} : f64[R];\n    {s}[r] = case {{ r == 0 : {x}[0]; else : {s}[r-1]*0.5 + {x}[r]; }} "
                    f"for r in 0..R;"),
            (lines, f"func {s}[r in 0..R] : f64 = (sum(k in off[r]..off[r+1]) v[k]) + {x}[r];"),
        ])
        to.append(s)
        rows.append(row)
    read = " + ".join([f"{plane}[r,c]" for plane in planes] + [f"{line}[r]" for line in lines])
    rows.append(f"last[r,c] = {read} for r in 0..R, c in 0..C;")
    return ("pipeline mixture {\n    param R, C, P;\n    in img : f64[R, C];\n    fixed in idx : index(R)[P];\n"
            "    fixed in off : offsets(P)[R+1];\n    in v : f64[P];\n    out last : f64[R, C];\n"
            + "".join(f"    {row}\n" for row in rows) + "}\n")


def maps(name, sizes, point, values):
    """f0, the matrix, and f1, f2 ... with these values, each of which reads the one before it."""
    here = ",".join(part.split()[0] for part in point.split(", "))
    rows = [f"func f{k}[{point}] : f64 = {text};" for k, text in enumerate([f"x[{here}]"] + values)]
    return (f"pipeline {name} {{\n    param n, m;\n    in x : f64[{sizes}];\n    out y : f64[{sizes}];\n"
            + "".join(f"    {row}\n" for row in rows) + f"    y = f{len(values)};\n}}\n")


def stencils(n):
    """n stencils with borders, each of the one before it."""
    inner = "i >= 1 and i < n-1 and j >= 1 and j < m-1"
    return maps("stencils", "n, m", "i in 0..n, j in 0..m", [
        f"case {{ {inner} : stencil(f{k}[i,j], [[1,2,1],[2,4,2],[1,2,1]], 1.0/16); else : f{k}[i,j]; }}"
        for k in range(n-1)])


def points(n):
    """n element-wise functions, each of the one before it."""
    return maps("points", "n, m", "i in 0..n, j in 0..m", [f"max(f{k}[i,j], 0)*0.5 + x[i,j]" for k in range(n-1)])


def statements(n, has_sizes=False):
    """n statements that have nothing to do with each other, of one size, or of a size each."""
    sizes = [f"n{k}" if has_sizes else "n" for k in range(n)]
    rows = [f"    in x{k} : f64[{size}];\n    out y{k} : f64[{size}];\n"
            f"    y{k}[i] = 2*x{k}[i] + {k} for i in 0..{size};\n" for k, size in enumerate(sizes)]
    return f"pipeline statements {{\n    param {', '.join(sorted(set(sizes)))};\n" + "".join(rows) + "}\n"


def recurrences(n):
    """n recurrences along the rows of a matrix, each of the one before it."""
    return maps("recurrences", "m, n", "s in 0..m, i in 0..n", [
        f"case {{ i == 0 : f{k-1}[s,0]; else : 0.5*f{k}[s,i-1] + f{k-1}[s,i]/(1 + f{k}[s,i-1]); }}"
        for k in range(1, n)])


def updates(n):
    """n sums through an index array, each of its own."""
    rows = [f"out y{k} : f64[m];\n    reduce y{k}[at[k]] += {k+1}*v[k] for k in 0..p;" for k in range(n)]
    return ("pipeline updates {\n    param m, p;\n    in at : index(m)[p];\n    in v : f64[p];\n"
            + "".join(f"    {row}\n" for row in rows) + "}\n")


def constructs(n):
    """n systems on a tree and as many tridiagonal ones, which have nothing to do with each other."""
    rows = [f"out x{k}, z{k} : f64[nSystems, n];\n    x{k} = HinesSystem(T, upper, lower, diag, rhs);\n"
            f"    z{k} = TriBatch(rhs, diag, rhs, rhs);" for k in range(n)]
    return ("pipeline constructs {\n    param nSystems, n;\n    assume n >= 1;\n    fixed in T : Tree(n);\n"
            "    in upper, lower : f64[n];\n    in diag, rhs : f64[nSystems, n];\n"
            + "".join(f"    {row}\n" for row in rows) + "}\n")


# ---- More than isl can handle ----------------------------------------------------------------------------------

def remainders(n):
    """A case of n conditions with remainders by as many numbers."""
    arms = " ".join(f"i % {k+2} == {k} and j % {k+3} != {k} or i + j == {k} : a[i,j]*{k};" for k in range(n))
    return ("pipeline remainders {\n    param n, m;\n    in a : f64[n, m];\n    out y : f64[n, m];\n"
            f"    y[i,j] = case {{ {arms} else : 0; }} for i in 0..n, j in 0..m;\n}}\n")


def negations(n):
    """A case of n negated conditions, each of two remainders."""
    arms = " ".join(f"not (i % {k+2} == {k+1} or i % {k+2} == 0) : x[i]*{k};" for k in range(n))
    return ("pipeline negations {\n    param n;\n    in x : f64[n];\n    out y : f64[n];\n"
            f"    y[i] = case {{ {arms} else : 0; }} for i in 0..n;\n}}\n")


def clamped(n):
    """Reads of an n-dimensional array at clamped sums of all variables."""
    names = [f"i{k}" for k in range(n)]
    box = ", ".join(["n"]*n)
    near = [[names[(k+i) % n] for i in range(4)] for k in range(n)]
    subs = ", ".join(f"min(max(max({a} + {b} - {c}, {d} - 1), 0), n-1)" for a, b, c, d in near)
    return (f"pipeline clamped {{\n    param n;\n    in a : f64[{box}];\n    out y : f64[{box}];\n"
            f"    func f[{', '.join(f'{x} in 0..n' for x in names)}] : f64 = a[{subs}];\n"
            f"    y[{', '.join(names)}] = f[{subs}] for {', '.join(f'{x} in 0..n' for x in names)};\n}}\n")


def skewed(n):
    """n loops, each with bounds of divisions and multiples of the one around it."""
    ranges = ["i0 in 0..n"] + [f"i{k} in max(i{k-1}/2, 0)..min(n, 2*i{k-1}+3)" for k in range(1, n)]
    target = " + ".join(f"{(-1)**k*(k+1)}*i{k}" for k in range(n))
    return ("pipeline skewed {\n    param n;\n    in a : f64[n];\n    out y : f64[n];\n"
            f"    reduce y[min(max({target}, 0), n-1)] += a[i{n-1}] for {', '.join(ranges)};\n}}\n")


def scattered(n):
    """n updates of an array through n index arrays in turn."""
    rank = min(n, 8)
    declared = "".join(f"    fixed in x{i} : index(n)[p];\n" for i in range(n))
    updates = "".join(f"    reduce y[{', '.join(f'x{(i+k) % n}[k]' for k in range(rank))}] += v[k] for k in 0..p;\n"
                      for i in range(n))
    return (f"pipeline scattered {{\n    param n, p;\n{declared}    in v : f64[p];\n"
            f"    out y : f64[{', '.join(['n']*rank)}];\n{updates}}}\n")


def recurrent(n):
    """A recurrence over n dimensions that reads all 2^n - 1 neighbours before."""
    names = [f"i{k}" for k in range(n)]
    box, here = ", ".join(["n"]*n), ", ".join(names)
    terms = " + ".join("y[" + ", ".join(f"{x}-1" if m >> i & 1 else x for i, x in enumerate(names)) + "]"
                       for m in range(1, 2**n))
    return (f"pipeline recurrent {{\n    param n;\n    in a : f64[{box}];\n    out y : f64[{box}];\n"
            f"    y[{here}] = case {{ {' or '.join(f'{x} == 0' for x in names)} : a[{here}]; else : {terms}; }} "
            f"for {', '.join(f'{x} in 0..n' for x in names)};\n}}\n")
