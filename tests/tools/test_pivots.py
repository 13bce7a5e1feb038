#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Pivots of eliminations that are zero or not finite: a status and a message that name row and system, the same by
generated code, on a device (emulated) and in the interpreter. NaN of the caller goes through instead, and recurrences
that are no elimination have IEEE values. Not with sanitizers: generated code has none, and what it asks of libpmgrt,
tests/runtime/pivots.c asks with them. Its C is not optimised."""
import os
import re
import subprocess
import tempfile
from pathlib import Path

import numpy as np

PMG, PMGC = (str((Path(os.environ.get("BUILD", "build")) / name).resolve()) for name in ("pmg", "pmgc"))
WAYS = {"openmp": ["--tune=off"], "interp": ["--interp"],
        "cuda": ["--target=cuda", "--nvcc=tests/cuda/emulated/nvcc", "--candidates=1"]}
FIRST = ["--candidates=1"]          # of what is compiled, where others would tell nothing new
RESULTS = {"passed": 0, "failed": 0}
SYSTEMS, ROWS = 37, 21              # two whole blocks of 16, and lanes that do not exist

CHAIN = """pipeline chain {{
    param nSystems, n;
    in  a, b, c, d : {type}[nSystems, n];
    out x : {type}[nSystems, n];
    x = TriBatch(a, b, c, d);
}}
"""
SIDES = """pipeline sides {
    param nSystems, n;
    in  a, b, c : f64[nSystems, n];
    in  d : f64[nSystems, n, 3];
    out x : f64[nSystems, n, 3];
    x = TriBatch(a, b, c, d);
}
"""
# One system; off its diagonal, and on it, all is the same.
SINGLE = """pipeline single {
    param n;
    in  b, c : f64;
    in  a, d : f64[n];
    out x : f64[n];
    x = TriBatch(a, b, c, d);
}
"""
# Each row divided by its pivot at once, and upwards.
SCALED = """pipeline scaled {
    param nSystems, n;
    in  a, b, c, d : f64[nSystems, n];
    out x : f64[nSystems, n];
    func u[s in 0..nSystems, i in 0..n] : f64 = case {
        i == n - 1 : a[s,i]/b[s,i];
        else : a[s,i]/(b[s,i] - c[s,i]*u[s,i+1]);
    };
    func z[s in 0..nSystems, i in 0..n] : f64 = case {
        i == n - 1 : d[s,i]/b[s,i];
        else : (d[s,i] - c[s,i]*z[s,i+1])/(b[s,i] - c[s,i]*u[s,i+1]);
    };
    x[s,i] = case {
        i == 0 : z[s,i];
        else : z[s,i] - u[s,i]*x[s,i-1];
    } for s in 0..nSystems, i in 0..n;
}
"""
# Systems next to each other, of two dimensions, of which the second is innermost.
INNER = """pipeline inner {
    param nSystems, n, k;
    in  a, b, c, d : f64[nSystems, n, k];
    out x : f64[nSystems, n, k];
    func p[s in 0..nSystems, i in 0..n, t in 0..k] : f64 = case {
        i == 0 : b[s,i,t];
        else : b[s,i,t] - a[s,i,t]*c[s,i-1,t]/p[s,i-1,t];
    };
    func y[s in 0..nSystems, i in 0..n, t in 0..k] : f64 = case {
        i == 0 : d[s,i,t];
        else : d[s,i,t] - a[s,i,t]*y[s,i-1,t]/p[s,i-1,t];
    };
    x[s,i,t] = case {
        i == n - 1 : y[s,i,t]/p[s,i,t];
        else : (y[s,i,t] - c[s,i,t]*x[s,i+1,t])/p[s,i,t];
    } for s in 0..nSystems, i in 0..n, t in 0..k;
}
"""
RAGGED = """pipeline ragged {
    param nSystems, nTotal;
    fixed in offset : offsets(nTotal)[nSystems + 1];
    in  a, b, c, d : f64[nTotal];
    out x : f64[nTotal];
    x = TriBatch(a, b, c, d, offset);
}
"""
TREE = """pipeline tree {
    param nSystems, n;
    fixed in T : Tree(n);
    in  upper, lower : f64[n];
    in  diag, rhs : f64[nSystems, n];
    out x : f64[nSystems, n];
    x = HinesSystem(T, upper, lower, diag, rhs);
}
"""
FOREST = """pipeline forest {{
    param nSystems, nTotal;
    fixed in F : Forest(nSystems, nTotal);
    in  upper, lower, diag, rhs : {type}[nTotal];
    out x : {type}[nTotal];
    x = HinesSystem(F, upper, lower, diag, rhs);
    {item}
}}
"""
# From the second iteration on, the pivot of the first row of the fourth system is zero.
LOOP = """pipeline loop {
    param nSystems, n, nSteps;
    in  a, c : f64[nSystems, n];
    inout u : f64[nSystems, n];
    out steps : i64;
    iterate it in 0..nSteps {
        func b[s in 0..nSystems, i in 0..n] : f64 = case { s == 3 and i == 0 : 4 - 4*it; else : 4; };
        next u = TriBatch(a, b, c, u);
    }
    steps = nSteps;
}
"""
# Divides by what it computes, and is no elimination.
OTHER = """pipeline other {
    param n;
    in  b, d : f64[n];
    out y : f64[n];
    func p[i in 0..n] : f64 = case { i == 0 : b[i]; else : b[i] - 1/p[i-1]; };
    y[i] = d[i]/p[i] for i in 0..n;
}
"""


def check(condition, what):
    RESULTS["passed" if condition else "failed"] += 1
    if not condition:
        print(what)


def written(folder, program):
    path = Path(folder)/(re.search(r"pipeline (\w+)", program)[1] + ".pmg")
    path.write_text(program, encoding="ascii")
    return path


def run(folder, way, program, sizes, arrays, *more):
    """The status of a run of a text or a file, and what it prints."""
    path = program if isinstance(program, Path) else written(folder, program)
    given = [f"{name}={value}" for name, value in sizes.items()]
    for name, values in arrays.items():
        np.save(f"{folder}/{name}.npy", values)
        given.append(f"{name}={folder}/{name}.npy")
    done = subprocess.run([PMG, "run", *WAYS[way], str(path), *given, *more], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.STDOUT, check=False)
    return done.returncode, done.stdout


def chain(shape=(SYSTEMS, ROWS), dtype=np.float64, sides=()):
    one = np.ones(shape, dtype)
    return {"a": one.copy(), "b": 4*one, "c": one.copy(), "d": np.ones(shape + sides, dtype)}


def zero(arrays, at):
    """The pivot at `at` is zero, from whichever side elimination comes."""
    for name in "abc":
        arrays[name][at] = 0
    return arrays


def trees():
    """Trees of 1 to 40 nodes: chains, on whose second node all others of the second half hang. The leaf 9 of tree 33 of
    40 has no value on its diagonal."""
    parents, offset = [], [0]
    for s in range(40):
        n = 1 + s
        local = [-1] + [1 if i > max(2, n//2) else i - 1 for i in range(1, n)]
        parents += local
        offset.append(offset[-1] + n)
    return np.array(parents, np.int64), np.array(offset, np.int64)


def forest(dtype=np.float64):
    parents, offset = trees()
    one = np.ones(len(parents), dtype)
    arrays = {"F.parent": parents, "F.offset": offset, "upper": one, "lower": one, "diag": 9*one + len(parents),
              "rhs": one}
    arrays["diag"][offset[33] + 33] = 0
    return arrays


def cases():
    """(name, program, sizes, arrays, where the zero is, the array that becomes NaN)."""
    for dtype in ("f64", "f32"):
        of = dict(dtype=np.float32 if dtype == "f32" else np.float64)
        yield (f"chains in {dtype}", CHAIN.format(type=dtype), {}, zero(chain(**of), (36, 20)),
               "row 20 of system 36", "b")
        yield (f"forest in {dtype}", FOREST.format(type=dtype, item=""), {}, forest(**of), "row 33 of system 33",
               "diag")
    yield "first row", CHAIN.format(type="f64"), {}, zero(chain(), (0, 0)), "row 0 of system 0", "b"
    yield "one system", CHAIN.format(type="f64"), {}, zero(chain((1, 5)), (0, 4)), "row 4 of system 0", "b"
    yield "sides", SIDES, {}, zero(chain(sides=(3,)), (17, 5)), "row 5 of system 17", "b"
    yield "scaled", SCALED, {}, zero(chain(), (20, 7)), "row 7 of system 20", "b"
    yield "inner", INNER, {}, zero(chain((5, ROWS, 7)), (3, 11, 6)), f"row 11 of system {3*7 + 6}", "b"
    levels = FOREST.format(type="f64", item="schedule { algorithm x : level_batches; }")
    yield "levels", levels, {}, forest(), "row 33 of system 33", "diag"
    chunks = FOREST.format(type="f64", item="schedule { algorithm x : partition(rows = 1); }")
    yield "chunks", chunks, {}, forest(), "row 33 of system 33", "diag"
    offset = np.concatenate([[0], np.cumsum(np.arange(40)*7 % 23)]).astype(np.int64)
    at = offset[29] + 4
    yield ("ragged", RAGGED, {}, {"offset": offset, **zero(chain((int(offset[-1]),)), at)}, "row 4 of system 29", "b")
    parents, _ = trees()
    parents = parents[-40:]
    diag = np.full((SYSTEMS, 40), 50.0)
    diag[33, 39] = 0
    yield ("tree", TREE, {}, {"T.parent": parents, "upper": np.ones(40), "lower": np.ones(40), "diag": diag,
                              "rhs": np.ones((SYSTEMS, 40))}, "row 39 of system 33", "diag")


ALL_WAYS = "chains in f64", "forest in f32", "sides", "inner", "ragged", "tree", "chunks"


def named(folder):
    for name, program, sizes, arrays, where, poisoned in cases():
        for way in WAYS if name in ALL_WAYS else ("openmp", "interp"):
            status, out = run(folder, way, program, sizes, arrays)
            check(status == 6 and re.search(f"the pivot of '[xpu]' in {where} is zero", out),
                  f"{name}, {way}: status {status}: {out}")
        given = dict(arrays, **{poisoned: np.where(arrays[poisoned] == 0, np.nan, arrays[poisoned])})
        for way in WAYS if name == ALL_WAYS[0] else ("openmp", "interp") if name in ALL_WAYS else ("interp",):
            status, out = run(folder, way, program, sizes, given)
            check(status == 0 and "NaN" in out, f"{name}, NaN, {way}: status {status}: {out}")


def not_finite(folder):
    arrays = chain((3, 5))
    arrays["b"][1, 0] = 1e-310
    for way in WAYS:
        status, out = run(folder, way, CHAIN.format(type="f64"), {}, arrays)
        check(status == 6 and "the pivot of 'x' in row 1 of system 1 is not finite" in out, f"{way}: {status}: {out}")


def single(folder):
    """Its rows have no system. A scalar that is not finite is a value of the caller's, too."""
    arrays = {"a": np.ones(5), "d": np.ones(5)}
    for way in WAYS:
        status, out = run(folder, way, SINGLE, {"b": 2, "c": 4}, arrays)
        check(status == 6 and "the pivot of 'x' in row 1 is zero" in out, f"single, {way}: {status}: {out}")
        status, out = run(folder, way, SINGLE, {"b": 2, "c": "nan"}, arrays)
        check(status == 0 and "NaN" in out, f"single, {way}, NaN: {status}: {out}")


BESIDE = """pipeline beside {
    param n, k;
    in  a, b, c, d : f64[n, k];
    out x : f64[n, k];
    func p[i in 0..n, t in 0..k] : f64 = case { i == 0 : b[i,t]; else : b[i,t] - a[i,t]*c[i-1,t]/p[i-1,t]; };
    func y[i in 0..n, t in 0..k] : f64 = case { i == 0 : d[i,t]; else : d[i,t] - a[i,t]*y[i-1,t]/p[i-1,t]; };
    x[i,t] = case { i == n-1 : y[i,t]/p[i,t]; else : (y[i,t] - c[i,t]*x[i+1,t])/p[i,t]; } for i in 0..n, t in 0..k;
}
"""


def behind_nan(folder):
    """A pivot that is zero is told of behind one that is NaN since the caller's value is."""
    arrays = {name: np.full((ROWS, SYSTEMS), value) for name, value in (("a", 1.0), ("b", 4.0), ("c", 1.0), ("d", 1.0))}
    arrays["b"][5, 0] = np.nan
    arrays["b"][5, 30] = arrays["a"][5, 30] = 0
    for way, flags in {**WAYS, "simd": ["--tune=off", "--interleave=off"], "isl": ["--schedule=isl"]}.items():
        WAYS[way] = flags
        status, out = run(folder, way, BESIDE, {}, arrays)
        check(status == 6 and "row 5 of system 30 is zero" in out, f"behind NaN, {way}: {status}: {out}")
    for way in "simd", "isl":
        del WAYS[way]


def by_algorithm(program, name):
    return re.sub(r"(\w+ = TriBatch.*;)\n", rf"\1\n    schedule {{ algorithm x : {name}; }}\n", program)


def failing():
    """(algorithm, program, arrays, where the pivot is zero, the ways to run it)."""
    double, all_ways = CHAIN.format(type="f64"), list(WAYS)
    offset = np.concatenate([[0], np.cumsum(np.arange(40)*7 % 23)]).astype(np.int64)
    ragged = {"offset": offset, **zero(chain((int(offset[-1]),)), offset[29] + 4)}
    yield "cr", double, zero(chain(), (36, 20)), "row 20 of system 36", all_ways
    yield "pcr", SIDES, zero(chain((5, ROWS), sides=(3,)), (4, 0)), "row 0 of system 4", ["openmp"]
    yield "crpcr(rows = 4)", RAGGED, ragged, "row 4 of system 29", ["openmp"]
    yield "pcr_thomas(steps = 2)", double, zero(chain((1, 5)), (0, 4)), "row 4 of system 0", ["openmp"]
    yield "partition(rows = 4)", SIDES, zero(chain((5, ROWS), sides=(3,)), (4, 5)), "row 5 of system 4", ["openmp"]
    yield ("stone", CHAIN.format(type="f32"), zero(chain(dtype=np.float32), (0, 3)), "row 3 of system 0", ["openmp"])


def other_algorithms(folder):
    """Where their results are not finite, the elimination as it is written names the row."""
    for name, program, arrays, where, ways in failing():
        text = by_algorithm(program, name)
        for way in ways:
            status, out = run(folder, way, text, {}, arrays, *(FIRST if way != "interp" else []))
            check(status == 6 and f"the pivot of 'x' in {where} is zero" in out, f"{name}, {way}: {status}: {out}")
    name, program, arrays, *_ = next(failing())
    given = dict(arrays, b=np.where(arrays["b"] == 0, np.nan, arrays["b"]))
    status, out = run(folder, "openmp", by_algorithm(program, name), {}, given, *FIRST)
    check(status == 0 and "NaN" in out, f"{name}, NaN: status {status}: {out}")


def solved_otherwise(folder):
    """What an algorithm solves is not asked for pivots of another one; the interpreter eliminates as it is written."""
    arrays = {name: np.array([values], float) for name, values in
              (("a", [0, 1, 1]), ("b", [1, 1, 1]), ("c", [1, 1, 0]), ("d", [2, 3, 4]))}
    text = by_algorithm(CHAIN.format(type="f64"), "cr")
    status, out = run(folder, "openmp", text, {}, arrays, *FIRST, "-o", f"x={folder}/x.npy")
    check(status == 0 and np.allclose(np.load(f"{folder}/x.npy"), [[-1, 3, 1]]), f"by cr: status {status}: {out}")
    for way, program in (("openmp", CHAIN.format(type="f64")), ("interp", text)):
        status, out = run(folder, way, program, {}, arrays)
        check(status == 6 and "row 1 of system 0 is zero" in out, f"by elimination, {way}: {status}: {out}")


# Two solutions by the same pivots.
SHARED = """pipeline shared {
    param n, m;
    in  a, b, c, d, e : f64[m, n];
    out x, w : f64[m, n];
    func p[s in 0..m, i in 0..n] : f64 = case { i == 0 : b[s,i]; else : b[s,i] - a[s,i]*c[s,i-1]/p[s,i-1]; };
    func y[s in 0..m, i in 0..n] : f64 = case { i == 0 : d[s,i]; else : d[s,i] - a[s,i]*y[s,i-1]/p[s,i-1]; };
    func v[s in 0..m, i in 0..n] : f64 = case { i == 0 : e[s,i]; else : e[s,i] - a[s,i]*v[s,i-1]/p[s,i-1]; };
    x[s,i] = case { i == n-1 : y[s,i]/p[s,i]; else : (y[s,i] - c[s,i]*x[s,i+1])/p[s,i]; } for s in 0..m, i in 0..n;
    w[s,i] = case { i == n-1 : v[s,i]/p[s,i]; else : (v[s,i] - c[s,i]*w[s,i+1])/p[s,i]; } for s in 0..m, i in 0..n;
}
"""


def shared(folder):
    arrays = zero(chain((3, 8)), (2, 3))
    arrays["e"] = arrays["d"] + 1
    for items in "x : cr", "x : cr; algorithm w : pcr":
        status, out = run(folder, "openmp", SHARED, {}, arrays, f"--with=algorithm {items}", *FIRST)
        check(status == 6 and "the pivot of 'p' in row 3 of system 2 is zero" in out, f"{items}: {status}: {out}")


def loops(folder):
    arrays = chain()
    given = {"a": arrays["a"], "c": arrays["c"], "u": np.arange(SYSTEMS*ROWS, dtype=float).reshape(SYSTEMS, ROWS)}
    for way in WAYS:
        status, _ = run(folder, way, LOOP, {"nSteps": 1}, given)
        check(status == 0, f"loop of one, {way}: {status}")
        status, out = run(folder, way, LOOP, {"nSteps": 5}, given)
        check(status == 6 and "the pivot of 'u.TriBatch' in row 0 of system 3 is zero" in out, f"loop, {way}: {out}")
        # what a loop has written cannot be asked whether the caller gave it
        large = dict(given, a=1e200*given["a"], c=1e200*given["c"])
        status, out = run(folder, way, LOOP, {"nSteps": 1}, large)
        check(status == 0, f"loop, too large, {way}: {status}: {out}")


def others(folder):
    for way in WAYS:
        status, out = run(folder, way, OTHER, {}, {"b": np.array([0.0, 1, 1]), "d": np.ones(3)})
        check(status == 0 and "inf" in out, f"no elimination, {way}: {status}: {out}")


def dumped(folder, algorithm, after, line):
    """What a pass makes of an elimination over trees, run by the interpreter: the same values, the same pivot."""
    program = written(folder, FOREST.format(type="f64", item=f"schedule {{ algorithm x : {algorithm}; }}"))
    done = subprocess.run([PMGC, program.name, f"--dump-after={after}", "-o", "-"], cwd=folder, check=False,
                          stdout=subprocess.DEVNULL)
    found = list(Path(folder).glob(f"forest.*-{after}.ir"))
    check(done.returncode == 0 and len(found) == 1 and f"\n{line} of F.parent " in found[0].read_text(),
          f"a dump after {after}")
    values, arrays = [], forest()
    for path in program, *found:
        status, out = run(folder, "interp", path, {}, arrays)
        check(status == 6 and "row 33 of system 33 is zero" in out, f"{path.name}: {status}: {out}")
        status, out = run(folder, "interp", path, {}, dict(arrays, diag=arrays["diag"] + 9), "-o", f"x={folder}/x.npy")
        check(status == 0, f"{path.name}: {status}: {out}")
        values.append(np.load(f"{folder}/x.npy"))
    check(np.allclose(*values, rtol=1e-12, atol=0), f"the values by {algorithm}")


def dumps(folder):
    dumped(folder, "level_batches", "branches", "branches")
    dumped(folder, "partition(rows = 1)", "eliminate", "chunks")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = f"{folder}/cache"
        behind_nan(folder)
        other_algorithms(folder)
        solved_otherwise(folder)
        shared(folder)
        named(folder)
        not_finite(folder)
        loops(folder)
        others(folder)
        single(folder)
        dumps(folder)
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return 1 if RESULTS["failed"] else 0


if __name__ == "__main__":
    raise SystemExit(main())
