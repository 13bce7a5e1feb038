#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pmg run`: how arguments are bound and sizes found, what it says when they are wrong, to the letter, that both ways
of running give NumPy's numbers, and that nothing is left behind however it ends.
With sanitizers only for --long: tests/faults starts pmg with them. Its C is not optimised."""
import os
import re
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import h5py
import numpy as np
import scipy.io
import scipy.sparse

PMG = str(Path(os.environ.get("PMG") or Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
LIFE_EXAMPLES = {"Y": Path("dsl_examples/life_dsc.pmg").resolve(), "w": Path("dsl_examples/life_wc.pmg").resolve()}
RESULTS = {"passed": 0, "failed": 0}
RANDOM = np.random.default_rng(7)
ENV = dict(os.environ)

LIFE = """pipeline dsc {
    param nAtoms, nVoxels, nFibers, nTheta, nCoeffs;
    fixed in PHI : PHI_Tensor<f64>(nCoeffs; atom < nAtoms, voxel < nVoxels, fiber < nFibers);
    fixed in D   : f64[nAtoms, nTheta];
    in  w   : f64[nFibers];
    out Y   : f64[nVoxels, nTheta];
    Y = Sparse_matvec(PHI, D, w);
}
"""
ROWS = """pipeline rows {
    param n, nnz;
    param f64 scale;
    fixed in off : offsets(nnz)[n + 1];
    in  val : f64[nnz];
    out y : f64[n];
    y[i] = scale*sum(k in off[i]..off[i+1]) val[k] for i in 0..n;
}
"""
KINDS = """pipeline sums {
    param n, m;
    in  a : f32[n, m];
    in  b : i32[n];
    out total : f32[n];
    out twice : i32[n];
    total[i] = sum(j in 0..m) a[i,j] for i in 0..n;
    twice[i] = b[i] + b[i] for i in 0..n;
}

pipeline doubled {
    param n;
    inout x : f64[n];
    reduce x[i] *= 2.0 for i in 0..n;
}
"""
RAGGED = """pipeline ragged {
    param m, n;
    fixed in off : offsets(n)[m + 1];
    in  d : f64[n];
    out up, down : f64[n];
    up[k] = case { k == off[s] : d[k]; else : d[k] - 0.5*up[k-1]; } for s in 0..m, k in off[s]..off[s+1];
    down[k] = case { k == off[s+1]-1 : d[k]; else : d[k] - 0.5*down[k+1]; } for s in 0..m, k in off[s]..off[s+1];
}
"""
FACTS = """pipeline facts {
    param n, m, systems;
    fixed in s : index(m)[n] sorted unique;
    fixed in F : Forest(systems, n);
    out a : f64[n];
    out b : f64[n];
    a[k] = cast<f64>(s[k]) for k in 0..n;
    b[k] = case { F.parent[k] < 0 : 1; else : b[F.parent[k]] + 1; } for k in 0..n;
}
"""


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print("does not hold:", what)


def pmg(*arguments, env=None):
    done = subprocess.run([PMG, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          env=env or ENV)
    return done.returncode, done.stdout, done.stderr


def run(*arguments, env=None):
    status, output, error = pmg("run", *arguments, env=env)
    check(status == 0, f"run {' '.join(map(str, arguments))}: {status} {error}")
    return output if status == 0 else ""


def refuse(arguments, status, error):
    got = pmg("run", *arguments)
    check(got == (status, "", error), f"run {' '.join(map(str, arguments))}:\n{got}\nexpected {(status, error)}")


def close(got, expected, what):
    got, expected = np.asarray(got), np.asarray(expected)
    eps = np.finfo(expected.dtype).eps if expected.dtype.kind == "f" else 0
    bound = 100*eps*max(1, np.max(np.abs(expected), initial=0))
    check(got.shape == expected.shape and got.dtype == expected.dtype
          and bool(np.all(np.abs(got.astype(float) - expected) <= bound)), f"{what}: {got} {expected}")


class Life:
    """A small problem in all its files."""

    def __init__(self):
        self.shape = 5, 4, 6
        index = RANDOM.choice(120, 40, replace=False)
        self.entries = np.array(np.unravel_index(index, self.shape))
        self.value = RANDOM.standard_normal(40)
        self.D, self.w = RANDOM.standard_normal((5, 3)), RANDOM.standard_normal(6)
        self.Y = np.zeros((4, 3))
        atom, voxel, fiber = self.entries
        np.add.at(self.Y, voxel, self.D[atom]*(self.w[fiber]*self.value)[:, None])
        table = np.column_stack([self.entries.T, self.value])
        np.savetxt("phi.tsv", table, fmt="%d\t%d\t%d\t%.17g")
        np.savetxt("phi.tns", table + [1, 1, 1, 0], fmt="%d\t%d\t%d\t%.17g")
        np.save("D.npy", self.D)
        np.savetxt("w.txt", self.w, fmt="%.17g")
        self.D.tofile("D.f64")
        with h5py.File("life.h5", "w") as file:
            group = file.create_group("PHI")
            for name, column in zip(["atom", "voxel", "fiber"], self.entries):
                group[name] = column.astype("uint16")
                np.save(f"{name}.npy", column.astype("float64"))
            group["value"] = self.value
            group.attrs["nVoxels"] = 4
            file["D"], file["w"] = self.D.astype(">f8"), self.w
        np.save("value.npy", self.value)


# ---- Binding ------------------------------------------------------------------------------------------------------

def objects(life):
    members = [f"PHI.{name}={name}.npy" for name in ("atom", "voxel", "fiber", "value")]
    for phi in ["PHI=phi.tsv"], ["PHI=phi.tns"], ["PHI=life.h5"], ["PHI=life.h5:/PHI"], members:
        output = run("life.pmg", "--interp", *phi, "D=D.npy", "w=w.txt", "nVoxels=4", "-o", "Y=Y.npy")
        check(" by " not in output, f"no guess with {phi}")
        close(np.load("Y.npy"), life.Y, f"Y with {phi}")
    output = run("life.pmg", "--interp", "PHI=phi.tsv", "D=D.npy", "w=w.txt")
    check(output.startswith("nVoxels = 4, by the largest value of PHI.voxel (phi.tsv)\n"), output)
    output = run("life.pmg", "--interp", "PHI=life.h5", "D=life.h5", "w=life.h5:/w")
    check(output.startswith("nVoxels = 4, by the attribute nVoxels of life.h5\n"), output)
    matrix = scipy.sparse.random(7, 9, 0.3, random_state=2).tocoo()
    scipy.io.mmwrite("A.mtx", matrix, precision=17)
    vector = RANDOM.standard_normal(9)
    np.save("x.npy", vector.reshape(1, 9))
    run("spmv.pmg", "--interp", "A=A.mtx", "x=x.npy", "-o", "y=y.f64")
    close(np.fromfile("y.f64"), scipy.io.mmread("A.mtx") @ vector, "sizes of a matrix from its file")


def outputs(life):
    base = ["life.pmg", "--interp", "PHI=phi.tsv", "D=D.npy", "w=w.txt"]
    for name in "Y.npy", "Y.txt", "Y.f64", "Y.mtx", "out.h5", "out.h5:/a/b", "empty.h5:":
        run(*base, "-o", f"Y={name}")
    close(np.load("Y.npy"), life.Y, "npy")
    close(np.loadtxt("Y.txt"), life.Y, "txt")
    close(np.fromfile("Y.f64").reshape(4, 3), life.Y, "raw")
    close(scipy.io.mmread("Y.mtx"), life.Y, "mtx")
    with h5py.File("out.h5") as file:
        close(file["Y"][()], life.Y, "HDF5 by the name of the output")
        close(file["a/b"][()], life.Y, "HDF5 by its own name")
    with h5py.File("empty.h5") as file:
        check(list(file) == ["Y"], f"HDF5 by the name of the output, for none: {list(file)}")
    before = Path("Y.npy").read_bytes()
    check(pmg("run", *base[:-1], "w=D.npy", "-o", "Y=Y.npy")[0] == 3 and Path("Y.npy").read_bytes() == before,
          "the old file stays when the run fails")


def shapes(life):
    for D in "D.f64[5,3]", "D.f64":
        run("life.pmg", "--interp", "PHI=phi.tsv", f"D={D}", "w=w.txt", "nTheta=3", "-o", "Y=Y.npy")
        close(np.load("Y.npy"), life.Y, f"shape of {D}")
    np.save("off.npy", np.array([0, 2, 2, 5], "uint8"))
    np.save("val.npy", np.arange(1.0, 6))
    run("rows.pmg", "--interp", "off=off.npy", "val=val.npy", "scale=0.5", "-o", "y=y.txt")
    close(np.loadtxt("y.txt"), np.array([1.5, 0.0, 6.0]), "n + 1 offsets give n")
    run("kinds.pmg", "--interp", "--pipeline", "sums", "a=1.5", "b=3", "n=2", "m=4", "-o", "total=t.npy", "-o",
        "twice=b.npy")
    close(np.load("t.npy"), np.full(2, 6, "float32"), "a number for all elements")
    check(np.array_equal(np.load("b.npy"), [6, 6]) and np.load("b.npy").dtype == np.int32, "integers")
    np.save("x.npy", np.arange(3.0))
    run("kinds.pmg", "--interp", "--pipeline", "doubled", "x=x.npy", "-o", "x=x2.npy")
    close(np.load("x2.npy"), 2*np.arange(3.0), "inout")
    close(np.load("x.npy"), np.arange(3.0), "the input file stays")


def mix(x):
    x = (x + 0x9e3779b97f4a7c15) % 2**64
    x = (x ^ x >> 30)*0xbf58476d1ce4e5b9 % 2**64
    x = (x ^ x >> 27)*0x94d049bb133111eb % 2**64
    return x ^ x >> 31


def uniform(seed, name, i):
    key = mix(seed)
    for byte in name.encode():
        key = mix(key ^ byte)
    return ((mix(key ^ mix(i)) >> 11) + 0.5)*2.0**-52 - 1


def randoms():
    sizes = ["n=200", "m=300", "systems=7"]
    for seed in 1, 2, 1:
        run("facts.pmg", "--interp", "s=random:1", f"F=random:{seed}", *sizes, "-o", "a=a.npy", "-o", f"b=b{seed}.npy")
    chosen = np.load("a.npy")
    check(bool(np.all(np.diff(chosen) > 0)) and chosen.min() >= 0 and chosen.max() < 300, "sorted and unique")
    check(not np.array_equal(np.load("b1.npy"), np.load("b2.npy")), "another seed, other numbers")
    run("kinds.pmg", "--interp", "--pipeline", "doubled", "x=random:5", "n=10000", "-o", "x=x.npy")
    x = np.load("x.npy")/2
    check(-1 < x.min() < -0.99 and 0.99 < x.max() < 1 and abs(x.mean()) < 0.03 and len(set(x)) == 10000, "uniform")
    check(list(x[:5]) == [uniform(5, "x", i) for i in range(5)], f"the same on every machine: {x[:5]}")
    refuse(["facts.pmg", "--interp", "s=random:1", "F=random:1", "n=5", "m=3", "systems=1"], 3,
           "pmg run: s: there are no 5 different numbers in [0, 3)\n")


# ---- Refusals --------------------------------------------------------------------------------------------------------

def wrong_words():
    refuse([], 2, "pmg run: a program is needed: FILE.pmg\n")
    refuse(["life.pmg", "PHI"], 2, "pmg run: 'PHI' is not of the form NAME=VALUE\n")
    refuse(["life.pmg", "PHI="], 2, "pmg run: 'PHI=' has no value\n")
    refuse(["life.pmg", "PHO=phi.tns"], 2,
           "pmg run: pipeline 'dsc' has no argument 'PHO'\n  help: did you mean 'PHI'?\n")
    refuse(["life.pmg", "nAtom=5"], 2,
           "pmg run: pipeline 'dsc' has no argument 'nAtom'\n  help: did you mean 'nAtoms'?\n")
    refuse(["life.pmg", "PHI.voxels=voxel.npy"], 2,
           "pmg run: pipeline 'dsc' has no argument 'PHI.voxels'\n  help: did you mean 'PHI.voxel'?\n")
    refuse(["life.pmg", "somethingelse=5"], 2, "pmg run: pipeline 'dsc' has no argument 'somethingelse'\n"
           "  help: 'pmg inspect life.pmg' lists its arguments\n")
    refuse(["life.pmg", "nAtoms=-5"], 2, "pmg run: nAtoms: '-5' is not a size: an integer of 0 or more\n")
    refuse(["life.pmg", "nAtoms=9223372036854775808"], 2, "pmg run: nAtoms: '9223372036854775808' is not a size: "
           "an integer from 0 to 9223372036854775807\n")
    # 1e39 had become infinite; a number is rounded, as any float.
    Path("single.pmg").write_text("pipeline single { param f32 a; out y : f32; y = a; }\n")
    refuse(["single.pmg", "a=1e39"], 3, "pmg run: a is 1e39, which f32 cannot hold\n")
    run("single.pmg", "--interp", "a=16777217", "-o", "y=single.npy")
    check(np.load("single.npy") == 2.0**24, "a parameter of f32 is rounded")
    refuse(["life.pmg", "nAtoms=5.5"], 2, "pmg run: nAtoms: '5.5' is not a size: an integer of 0 or more\n"
           "  help: a parameter that may be any number is declared 'param f64 nAtoms;'\n")
    refuse(["life.pmg", "w=random:x"], 2, "pmg run: random:x: the seed must be a number from 0\n")
    refuse(["life.pmg", "w=1", "w=w.txt"], 2, "pmg run: 'w' is given twice: 1 and another value\n")
    refuse(["life.pmg", "PHI=phi.tns", "PHI.value=1"], 2,
           "pmg run: 'PHI.value' is given twice: phi.tns and another value\n")
    refuse(["life.pmg", "Y=Y.npy"], 2, "pmg run: 'Y' is an output\n  help: -o Y=FILE saves it\n")
    refuse(["life.pmg", "-o", "w=w.npy"], 2, "pmg run: -o w=w.npy: 'w' is an input\n")
    refuse(["life.pmg", "-o", "Z=w.npy"], 2, "pmg run: pipeline 'dsc' has no argument 'Z'\n"
           "  help: 'pmg inspect life.pmg' lists its arguments\n")
    refuse(["life.pmg", "-o", "Y"], 2, "pmg run: -o Y: the form is -o NAME=FILE\n")
    for name, what in (("x.mat", "the format is read, not written"), ("x.npz", "the format is read, not written"),
                       ("x.xyz", "unknown format")):
        refuse(["kinds.pmg", "--pipeline=doubled", "--cc=no-compiler", "x=1", "n=5", "-o", f"x={name}"], 2,
               f"pmg run: {name}: {what}\n  help: written are .npy .h5 .hdf5 .mtx .tns .tsv .txt "
               ".f64 .f32 .i64 .i32 .i16 .i8 .u32 .u16 .u8 .bool\n")
    refuse(["kinds.pmg", "--pipeline=doubled", "--cc=no-compiler", "x=1", "n=5", "-o", "x=nodir/x.npy"], 4,
           "pmg run: nodir/x.npy: cannot write: there is no such folder\n")
    refuse(["kinds.pmg", "--pipeline=doubled", "--cc=no-compiler", "x=1", "n=5", "-o", "x=x.tsv"], 2,
           "pmg run: x.tsv: the format holds sparse tensors only\n")
    refuse(["kinds.pmg", "--pipeline=doubled", "--cc=no-compiler", "x=1", "n=5", "-o", "x=x.txt.gz"], 2,
           "pmg run: x.txt.gz: compressed text is read, not written\n")
    refuse(["kinds.pmg", "--pipeline=doubled", "x=1", "n=5", "n=6"], 2, "pmg run: 'n' is given twice: n=5 and n=6\n")
    refuse(["life.pmg", "-o", "Y=a.npy", "-o", "Y=b.npy"], 2,
           "pmg run: -o Y=b.npy: 'Y' goes to 'a.npy' already\n")
    refuse(["life.pmg", "w=w.txt"], 2,
           "pmg run: no value for PHI; D : f64[nAtoms, nTheta]\n  help: PHI=FILE or PHI=random:SEED\n")
    refuse(["life.pmg", "D=D.npy", "w=w.txt", "PHI.value=1", "PHI.voxel=random:1"], 2,
           "pmg run: no value for PHI.atom : i64[nCoeffs]; PHI.fiber : i64[nCoeffs]\n"
           "  help: PHI.atom=FILE or PHI.atom=random:SEED\n")
    refuse(["life.pmg", "PHI=random:1", "D=D.npy", "w=w.txt"], 2,
           "pmg run: not known, and told by no argument: nVoxels, nCoeffs\n  help: give nVoxels=NUMBER\n")
    refuse(["life.pmg", "--repeat", "0"], 2, "pmg run: --repeat: '0' is not an integer from 1 to 1000000\n")
    refuse(["life.pmg", "--repeet=2"], 2, "pmg run: unknown option '--repeet'\n  help: did you mean '--repeat'?\n")
    for flag in "--isa=all", "--emit=c", "--dump-after=all":
        for target in [], ["--target=cuda"]:
            refuse(["kinds.pmg", *target, flag], 2, f"pmg run: unknown option '{flag.split('=')[0]}'\n"
                   "  help: 'pmg run --help' lists the options\n")
    refuse(["life.pmg", "--schedule=sideways"], 2,
           "pmg run: --schedule takes auto, textual or isl, not 'sideways'\n")
    refuse(["kinds.pmg"], 2, "pmg run: the program has 2 pipelines; say which one to run\n"
           "  help: --pipeline takes one of sums, doubled\n")
    refuse(["kinds.pmg", "--pipeline", "sum"], 2,
           "pmg run: there is no pipeline 'sum'\n  help: did you mean 'sums'?\n")
    refuse(["kinds.pmg", "--pipeline", "zzzz"], 2,
           "pmg run: there is no pipeline 'zzzz'\n  help: the program has sums, doubled\n")
    Path("one.pmg").write_text("pipeline right { param n; in x : f64[n]; out y : f64[n]; y = 2*x; }\n"
                               "pipeline wrong { param k; in n : f64[k]; out y : f64[k]; y = q; }\n")
    run("one.pmg", "--interp", "--pipeline", "right", "x=random:1", "n=3", "--specialize=n=3")


def wrong_data():
    rest = ["PHI=phi.tns", "w=w.txt"]
    np.save("D4.npy", np.zeros((4, 3)))
    np.save("D1.npy", np.zeros(5))
    np.save("c.npy", np.array([0.0, 1.0, 1.5]))
    refuse(["life.pmg", *rest, "D=D.npy", "nTheta=4"], 3,
           "pmg run: nTheta is 4 by nTheta=4, but 3 by D (D.npy, dimension 1)\n")
    refuse(["life.pmg", *rest, "D=D4.npy", "nAtoms=5"], 3,
           "pmg run: nAtoms is 5 by nAtoms=5, but 4 by D (D4.npy, dimension 0)\n")
    refuse(["life.pmg", *rest, "D=D1.npy"], 3, "pmg run: D is f64[nAtoms, nTheta], but D1.npy has shape [5]\n")
    refuse(["life.pmg", *rest, "D=D.f64", "nTheta=4"], 3,
           "pmg run: D has 15 numbers (D.f64), but its shape is [5, 4]\n")
    refuse(["life.pmg", *rest, "D=phi.tns"], 3, "pmg run: D is an array, but phi.tns holds a sparse tensor\n")
    refuse(["life.pmg", *rest, "D=life.h5:/PHI"], 3, "pmg run: D is an array, but life.h5:/PHI is a group of 4\n"
           "  help: name one of them: D=life.h5:/PHI/atom\n")
    refuse(["life.pmg", "PHI=D.npy"], 3, "pmg run: PHI is made of several arrays, but D.npy holds one\n"
           "  help: give PHI.atom=FILE and the others\n")
    refuse(["life.pmg", "PHI=A.mtx"], 3, "pmg run: PHI has 3 modes, but the tensor in A.mtx has 2\n")
    refuse(["life.pmg", "PHI=life.h5:/D"], 3, "pmg run: PHI is made of several arrays, but life.h5:/D holds one\n"
           "  help: give PHI.atom=FILE and the others\n")
    refuse(["life.pmg", "PHI.atom=c.npy"], 3, "pmg run: PHI.atom[2] is 1.5, which i64 cannot hold\n"
           "  note: 'PHI.atom' is from c.npy\n  note: its values are subscripts, which are whole numbers\n")
    refuse(["kinds.pmg", "--pipeline", "sums", "b=c.npy"], 3, "pmg run: b[2] is 1.5, which i32 cannot hold\n"
           "  note: 'b' is from c.npy\n")
    refuse(["life.pmg", "w=none.npy"], 4, "pmg run: none.npy: cannot open: No such file or directory\n")
    for value in "random", "0x1g", "1,5", "1e999":
        refuse(["life.pmg", f"w={value}"], 4, f"pmg run: {value}: cannot open: No such file or directory\n"
               "  help: what is no file is a number, as in w=1.5e3, inf or nan, or w=random:SEED\n")
    np.save("off.npy", np.array([], "int64"))
    refuse(["rows.pmg", "off=off.npy", "val=val.npy", "scale=1"], 3,
           "pmg run: no n makes n + 1 equal to 0, which it is by off (off.npy, dimension 0)\n")
    np.save("off.npy", np.array([0, 5]))
    refuse(["rows.pmg", "off=off.npy", "val=val.npy", "scale=1", "n=3"], 3,
           "pmg run: n + 1 must be 4, but is 2 by off (off.npy, dimension 0)\n  help: n is 3 by n=3\n")


def wrong_indices():
    """What the facts say is checked by whoever runs: interpreter and library."""
    np.save("bad.npy", np.array([1, 4, 5]))
    for way in ["--interp"], []:
        status, output, error = pmg("run", "rows.pmg", *way, "off=bad.npy", "val=val.npy", "scale=1")
        check(status == 3 and not output and "off" in error, f"offsets that do not start at 0 or end early: {error}")
    np.save("bad.npy", np.array([0, 3, 2, 5]))
    for way in ["--interp"], []:
        status, output, error = pmg("run", "rows.pmg", *way, "off=bad.npy", "val=val.npy", "scale=1", "-o", "y=no.npy")
        check(status == 3 and not output and "off" in error and not Path("no.npy").exists(), f"offsets fall: {error}")


def wrong_programs():
    Path("bad.pmg").write_text("pipeline p { out y : f64[3]; y = z; }\n")
    status, output, error = pmg("run", "bad.pmg")
    check(status == 1 and not output and "bad.pmg:1:34: error[" in error
          and error.endswith("pmg run: 'bad.pmg' has errors\n"), error)
    check(pmg("inspect", "bad.pmg")[0] == 1, "inspect says the same")
    check(pmg("run", "none.pmg")[0] == 4, "no such program")


def broken_assumptions():
    Path("pairs.pmg").write_text("""pipeline pairs {
    param n;
    in x : f64[n]; out y : f64[n];

    assume n >= 2;
    y[i] = x[i] + x[n-2] for i in 0..n;
}
""")
    for way in ["--interp"], []:
        status, output, error = pmg("run", "pairs.pmg", *way, "x=random:1", "n=1")
        check(status == 3 and not output and "pairs.pmg:5" in error and "n >= 2" in error, error)


# ---- Generated code ----------------------------------------------------------------------------------------------

def left_behind():
    return os.listdir(ENV["TMPDIR"])


def libraries(life):
    base = ["life.pmg", "PHI=phi.tsv", "D=D.npy", "w=w.txt"]
    # gcc's leak checker cannot stop the threads of clang's OpenMP.
    no_leaks = dict(ENV, ASAN_OPTIONS=ENV.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
    for cc in "gcc", "clang", "gcc -O0 -g":
        run(*base, "--cc", cc, "-o", "Y=Y.npy", env=no_leaks if cc == "clang" else ENV)
        close(np.load("Y.npy"), life.Y, f"Y by {cc}")
        check(not left_behind(), f"left behind: {left_behind()}")
    for flags in ["--threads", "3"], ["--schedule=textual"], ["--parallel=off", "--vector=off"]:
        output = run(*base, "--compare", *flags)
        line = re.search(r"^Y +(\S+) +(\S+) +(\S+) +(\S+)$", output, re.M)
        check(line and float(line[4]) < 1 and float(line[1]) < 1e-13, f"compared with {flags}: {output}")
    output = run(*base, "--time", "--repeat", "5")
    check(re.search(r"^plan [\d.]+ ms, execute [\d.]+ ms \(median of 5, least [\d.]+\)$", output, re.M), output)
    check("dsc\n" in run(*base, "--explain"), "decisions")
    run(*base, "--keep", "kept")
    check({"dsc.c", "dsc.h", "dsc.so"} <= set(os.listdir("kept")), "what is kept")
    np.save("off.npy", np.array([0, 2, 2, 5], "int16"))
    run("rows.pmg", "off=off.npy", "val=val.npy", "scale=0.5", "-o", "y=y.txt")
    close(np.loadtxt("y.txt"), np.array([1.5, 0.0, 6.0]), "offsets of a narrow type, a scalar")
    np.save("x.npy", np.arange(3.0))
    run("kinds.pmg", "--pipeline", "doubled", "x=x.npy", "--repeat", "3", "-o", "x=x2.npy")
    close(np.load("x2.npy"), 2*np.arange(3.0), "inout starts afresh in each execution")
    run("kinds.pmg", "--pipeline", "sums", "--compare", "a=random:3", "b=random:4", "n=50", "m=70")


def few_systems():
    """What runs in blocks comes with a kernel for few systems; both agree with the interpreter."""
    program = str(Path(LIFE_EXAMPLES["Y"]).with_name("tridiagonal.pmg"))
    for n_systems in 1, 3, 4, 17:
        run(program, "--pipeline", "tri_batch", f"nSystems={n_systems}", "n=50", "a=random:1", "b=3", "c=random:2",
            "d=random:3", "--compare", "--keep", "few")
    text = next(Path("few").glob("*.c")).read_text()
    check("{ offsetof(tri_batch_args, nSystems), 0, 4 }" in text and '.choice = "--interleave=off"' in text,
          "a kernel for few systems")


def wide_blocks():
    """Where arguments may lie in blocks, there is a kernel for blocks of 32, not where these are of segments."""
    of_chains = ["n=50", "a=random:1", "b=3", "c=random:2", "d=random:3"]
    of_segments = ["nSystems=20", "nTotal=400", "a=random:1", "b=3", "c=random:2", "d=random:3", "offset=random:4"]
    for example, pipeline, is_there, arguments in (("tridiagonal", "tri_batch", True, ["nSystems=33", *of_chains]),
                                                   ("tri_ragged", "tri_ragged", False, of_segments)):
        program = str(Path(LIFE_EXAMPLES["Y"]).with_name(f"{example}.pmg"))
        run(program, "--pipeline", pipeline, *arguments, "--compare", "--candidates=6", "--keep", example)
        text = next(Path(example).glob("*.c")).read_text()
        check(('.choice = "--interleave=wide"' in text) == is_there, f"{example}: blocks of 32")
    program = str(Path(LIFE_EXAMPLES["Y"]).with_name("tridiagonal.pmg"))
    for n_systems in 1, 31, 32, 70:
        run(program, "--pipeline", "tri_batch", f"nSystems={n_systems}", *of_chains, "--compare",
            "--candidate=--interleave=wide")


ANY_THREADS = """pipeline any_threads {
    param n, m;
    in u : f64[n];
    in v : f32[n];
    in A : f64[m, n];
    out x, y : f64[n];
    out z : f32[n];
    out c : i64;
    x[i] = sin(u[i])*u[i] + pow(abs(u[i]), 0.3) for i in 0..n;
    y[k] = sum(j in 0..m) cos(A[j,k]) for k in 0..n;
    z[i] = exp(v[i])*tanh(v[i]) for i in 0..n;
    c = sum(i in 0..n) cast<i64>(1e17*sin(u[i]));
}
"""


def any_threads():
    """Elements that fill no vector have other last bits: they are the same ones for any number of threads."""
    Path("any_threads.pmg").write_text(ANY_THREADS)
    names = "x", "y", "z", "c"
    for n in 40, 263:
        found = set()
        for threads in 1, 3, 4:
            run("any_threads.pmg", "--deterministic", f"n={n}", "m=9", "u=random:1", "v=random:2", "A=random:3",
                "--threads", str(threads), *[word for name in names for word in ("-o", f"{name}={name}.npy")])
            found.add(tuple(Path(f"{name}.npy").read_bytes() for name in names))
        check(len(found) == 1, f"{n} elements by any number of threads")


def single_sums():
    """Rows and dot products in single precision: within its bound, and not in double precision by mistake."""
    data = "PHI=random:1 D=random:2 nAtoms=9 nVoxels=30 nFibers=20 nCoeffs=900 --threads=2 --compare".split()
    for target, more, theta in ("Y", ["w=random:3"], 96), ("Y", ["w=random:3"], 33), ("w", ["Y=random:3"], 64):
        for precision in "", "precision D : f32; ", "precision D : f64top; ":
            output = run(str(LIFE_EXAMPLES[target]), *data, *more, f"nTheta={theta}",
                         f"--with={precision}accumulate {target} : f32")
            line = re.search(rf"^{target} +(\S+) +\S+ +\S+ +(\S+)$", output, re.M)
            check(line and 1e-9 < float(line[1]) < 1e-4 and float(line[2]) < 1, f"{target} {precision}: {output}")
    text = LIFE_EXAMPLES["Y"].read_text()
    Path("twice.pmg").write_text(text.replace("life_dsc", "twice").replace(
        "    Y = ", "    out z : f64[nVoxels, nTheta];\n"
        "    z[v, t] = 2*Y[v, t] for v in 0..nVoxels, t in 0..nTheta;\n    Y = "))
    for item, most in ("--with=accumulate Y : f32", 1e-4), ("--with=accumulate z : f32", 1e-12):
        output = run("twice.pmg", *data, "w=random:3", "nTheta=96", item)
        line = re.search(r"^z +(\S+) +\S+ +\S+ +(\S+)$", output, re.M)
        check(line and float(line[1]) < most and float(line[2]) < 1, f"what is computed from single sums: {output}")


SINGLES = """pipeline singles {
    param n;
    in x : f32[n];
    out total, z : f64;
    out y : f64[n];
    total = sum(x);
    y[i] = tanh(x[i]) + 1.5 for i in 0..n;
    z = 2*total;
}
"""


def computed_in_single():
    """What is computed from f32 is right to its precision, where it is stored in f64 too."""
    Path("singles.pmg").write_text(SINGLES)
    output = run("singles.pmg", "x=random:1", "n=1000", "--compare")
    for name in "total", "y", "z":
        line = re.search(rf"^{name} +(\S+) +\S+ +\S+ +(\S+)$", output, re.M)
        check(line and float(line[1]) < 1e-3 and float(line[2]) < 1, f"{name}: {output}")


CANCELLED = """pipeline cancelled {
    param n;
    in x : f64[n];
    in A : f64[2, n];
    out total, mean, spread : f64;
    out y : f64[2];
    total = sum(x);
    mean = sum(i in 0..n) (x[i] + 1)/n;
    spread = sum(i in 0..n) (x[i] + 1 - mean);
    y = matmul(A, x);
}

pipeline residual {
    param s, n;
    in a, c, d : f64[s, n];
    param f64 b;
    out x, r : f64[s, n];
    x = TriBatch(a, fill, c, d);
    r[i,j] = case {
        j == 0 and n > 1 : b*x[i,0] + c[i,0]*x[i,1] - d[i,0];
        j == 0 : b*x[i,0] - d[i,0];
        j == n-1 : a[i,j]*x[i,j-1] + b*x[i,j] - d[i,j];
        else : a[i,j]*x[i,j-1] + b*x[i,j] + c[i,j]*x[i,j+1] - d[i,j];
    } for i in 0..s, j in 0..n;
    temp fill : f64[s, n] = b;
}

pipeline functions {
    param n;
    in x : f64[n];
    out y, z : f64[n];
    out least, most, all : f64;
    inout w : f64[n];
    temp p : f64[n] = 40 + sum(x) + x;
    y[i] = pow(p[i], 1.5) + log(p[i]) - exp(x[i])/p[i] + sqrt(abs(-p[i])) for i in 0..n;
    z[i] = select(x[i] > 0, min(x[i]*p[i], 1), sin(pow(0, p[i])) - sqrt(0*p[i])) for i in 0..n;
    least = min(i in 0..n) p[i]*x[i];
    reduce most max= p[i] for i in 0..n;
    reduce all *= x[i]/p[i] for i in 0..n;
    reduce w[i] += x[i]*p[i] for i in 0..n;
}
pipeline dropped {
    param n;
    in x : f64[n];
    temp unused, more : f64[n];
    out y : f64;

    unused = 2*x;
    more = 3*unused;
    y = sum(i in 0..n) 1e9*x[i] - sum(i in 0..n) 1e9*x[n-1-i];
}
"""


def what_cancels():
    """Rounding explains what differs where terms cancel, and only that."""
    Path("cancelled.pmg").write_text(CANCELLED)
    half = RANDOM.random(500)
    np.save("opposite.npy", RANDOM.permutation(np.concatenate([half, -half])))
    for words in (["--pipeline=cancelled", "x=opposite.npy", "A=1"],
                  ["--pipeline=residual", "a=random:1", "b=2.1", "c=random:2", "d=random:3", "s=50", "n=77"],
                  ["--pipeline=residual", "a=random:1", "b=4", "c=random:2", "d=random:3", "s=5", "n=200",
                   "--with=algorithm x : pcr"],
                  ["--pipeline=dropped", "x=random:1", "n=10000"],
                  ["--pipeline=functions", "x=random:1", "w=random:2", "n=30"]):
        output = run("cancelled.pmg", *words, "--compare").split("output ")[0]
        shares = [float(line.split()[4]) for line in output.splitlines()[1:]]
        check(shares and max(shares) < 0.1, f"{words}: {output}")


def negative_extents():
    Path("shorter.pmg").write_text("pipeline shorter { param n; in x : f64[n]; out y : f64[n-2];"
                                   " y[i] = x[i+2] for i in 0..n-2; }\n")
    refuse(["shorter.pmg", "x=random:1", "n=1"], 3,
           "pmg run: 'y' would have n - 2 = -1 values along subscript 1 (shorter.pmg:1:48)\n"
           "  help: give larger sizes; 'assume n - 2 >= 0;' says in the program which fit\n")


def narrow_indices():
    """Atoms, or offsets of their rows of two, in 16 bits where there are so many at most, in 32 where there is one
    more."""
    data = "PHI=random:1 D=random:2 nVoxels=30 nFibers=20 nCoeffs=5000 nTheta=2 --threads=2 --compare".split()
    offsets = "; premultiply PHI by atom"
    for target, more in ("Y", "w=random:3"), ("w", "Y=random:3"):
        for n_atoms, item in (65536, ""), (65537, ""), (32768, offsets), (32769, offsets):
            output = run(str(LIFE_EXAMPLES[target]), *data, more, f"nAtoms={n_atoms}",
                         f"--with=restructure PHI by hybrid(voxel, atom){item}")
            line = re.search(rf"^{target} +(\S+) +\S+ +\S+ +(\S+)$", output, re.M)
            check(line and float(line[1]) < 1e-13 and float(line[2]) < 1, f"{n_atoms} atoms{item}: {output}")


def estimates():
    """Of the same sizes: where coefficients are of few pairs of voxel and atom, sorting by both is estimated to take
    less time than by voxels; where all are of different pairs, more."""
    for n_pairs, is_less in (40, True), (5000, False):
        pair = np.arange(5000) % n_pairs
        np.savetxt("pairs.tsv", np.column_stack([pair//100, pair % 100, np.arange(5000) % 60, np.ones(5000)]),
                   fmt=["%d", "%d", "%d", "%g"], delimiter="\t")
        output = run(str(LIFE_EXAMPLES["Y"]), "PHI=pairs.tsv", "D=random:1", "w=random:2", "nAtoms=50", "nVoxels=100",
                     "nFibers=60", "nTheta=96", "--tune=estimate", "--wisdom=off", "--specialize=off")
        times = dict(re.findall(r"^[* ] (first|restructure PHI by voxel) +([\d.]+)", output, re.M))
        check(len(times) == 2 and (float(times["first"]) < float(times["restructure PHI by voxel"])) == is_less,
              f"the estimate for {n_pairs} pairs: {output}")


def large_results():
    """Rows that are written past the caches, most of them of nothing, by gcc and clang and for older processors."""
    sizes = "nAtoms=50 nVoxels=22000 nFibers=60 nTheta=96 nCoeffs=3000 PHI=random:1 D=random:2 w=random:3".split()
    for cc in ["gcc"] if "ASAN_OPTIONS" in ENV else ["gcc", "clang", "gcc -mno-avx512f", "gcc -mno-avx"]:
        output = run(str(LIFE_EXAMPLES["Y"]), *sizes, "--threads=2", "--tune=off", "--compare", "--cc", cc,
                     env=dict(ENV, ASAN_OPTIONS=ENV.get("ASAN_OPTIONS", "") + ":detect_leaks=0"))
        line = re.search(r"^Y +(\S+) +\S+ +\S+ +(\S+)$", output, re.M)
        check(line and 0 < float(line[1]) < 1e-13 and float(line[2]) < 1, f"a large result by {cc}: {output}")


COMPUTED_INDEX = """pipeline walk {
    param n;
    in  x : f64[n];
    out y : f64[n];
    func j[i in 0..n] : index(n) = case { i == 0 : 0; else : cast<i64>(y[i-1])%n; };
    y[i] = x[j[i]] + i for i in 0..n;
}
"""


def computed_index():
    """An index that a recurrence computes from its last value; the interpreter looks ahead at where it will write."""
    Path("walk.pmg").write_text(COMPUTED_INDEX)
    np.save("x.npy", np.array([3.0, 1, 4, 1]))
    run("walk.pmg", "--interp", "x=x.npy", "-o", "y=y.npy")
    close(np.load("y.npy"), np.array([3.0, 2, 6, 7]), "an index computed from the last value")


def recurrences():
    """Ragged rows, forwards and backwards; first rows of every length."""
    d = np.arange(1.0, 8.0)
    np.save("d.npy", d)
    for first in range(8):
        offsets = np.array([0, first, max(first, 4), 7])
        up, down = d.copy(), d.copy()
        for lo, hi in zip(offsets, offsets[1:]):
            for k in range(lo + 1, hi):
                up[k] -= 0.5*up[k - 1]
            for k in range(hi - 2, lo - 1, -1):
                down[k] -= 0.5*down[k + 1]
        np.save("off.npy", offsets)
        for way in ["--interp"], ["--cc", "gcc -O1"]:
            run("ragged.pmg", *way, "off=off.npy", "d=d.npy", "-o", "up=up.npy", "-o", "down=down.npy")
            close(np.load("up.npy"), up, f"forwards {offsets} {way}")
            close(np.load("down.npy"), down, f"backwards {offsets} {way}")


def c_compilers():
    base = ["life.pmg", "PHI=phi.tsv", "D=D.npy", "w=w.txt"]
    refuse([*base, "--cc", "no-such-compiler"], 7, "pmg run: cannot start the C compiler 'no-such-compiler': No such "
           "file or directory\n  help: --cc COMMAND takes another one\n")
    refuse([*base, "--cc", "false"], 7, "pmg run: the C compiler 'false' fails on the generated code (status 1)\n")
    status, _, error = pmg("run", *base, env=dict(ENV, PMG_HOME="/nowhere"))
    check((status, error) == (5, "pmg run: pmgrt.h is neither in /nowhere/include nor in /nowhere/runtime\n"
                              "  help: PMG_HOME names the folder where pmgc is installed or built\n"), error)
    check(not left_behind(), f"left behind: {left_behind()}")


def lengths():
    """Bounds of ranges that are read from index arrays, given and computed."""
    Path("lengths.pmg").write_text("pipeline lengths { param n, m; in len : index(n + 1)[m]; in raw : i32[m];\n"
                                   "    in x : f64[n]; out y, z : f64[m]; temp first : index(n)[m];\n"
                                   "    first[i] = cast<i64>(raw[i]) for i in 0..m;\n"
                                   "    y[i] = sum(k in 0..len[i]) x[k] for i in 0..m;\n"
                                   "    z[i] = sum(k in first[i]..len[i]) x[k] for i in 0..m; }\n")
    n, length, first, x = 5, [0, 3, 5, 2, 5], [0, 1, 4, 4, 0], np.random.default_rng(5).standard_normal(5)
    for name, values in ("len", np.array(length)), ("raw", np.array(first, np.int32)), ("x", x):
        np.save(f"{name}.npy", values)
    words = ["lengths.pmg", "len=len.npy", "raw=raw.npy", "x=x.npy"]
    run(*words, "--compare", "-o", "y=y.npy", "-o", "z=z.npy")
    close(np.load("y.npy"), [x[:hi].sum() for hi in length], "sums of the first elements")
    close(np.load("z.npy"), [x[lo:hi].sum() for lo, hi in zip(first, length)], "sums from an element on")
    np.save("len.npy", np.array([n + 1, *length[1:]]))
    check("len" in pmg("run", *words)[2], "a length beyond all elements is refused")


def items_and_sizes():
    """What pmgc is told on its command line, pmg run can be told too; and both have the same defaults."""
    base = ["life.pmg", "--explain", "PHI=phi.tsv", "D=D.npy", "w=w.txt", "-o", "Y=Y.npy"]
    run(*base)
    plain = np.load("Y.npy")
    explained = run(*base, "--with=restructure PHI by voxel; partition Y by voxel")
    check("restructure PHI              voxel" in explained and "partition  Y                voxel" in explained,
          explained)
    close(np.load("Y.npy"), plain, "the same result in another order")
    run(*base, "--specialize=nTheta=7")
    close(np.load("Y.npy"), plain, "the same result for a known size")
    check(pmg("run", *base, "--with=nonsense")[0] == 1, "an item that is none is an error of the program")
    told = "--with:1:13: error[PMG0201]: there is no 'Phi' in the pipelines of the file\n" \
           "    1 | restructure Phi by voxel\n      |             ^~~\n      = help: did you mean 'PHI'?\n" \
           "pmg run: --with has errors\n"
    refuse([*base, "--with=restructure Phi by voxel"], 1, told)
    refuse([*base, "--with=blas off", "--with=inline off"], 2,
           "pmg run: --with is given twice: one takes all of its items\n")
    twice = "restructure PHI by voxel; restructure PHI by fiber"
    told = f"--with:1:27: error[PMG0502]: there is another 'restructure' of 'PHI'\n    1 | {twice}\n" \
           f"      | {26*' '}^{23*'~'}\n--with:1:1: note: the first one is here\n    1 | {twice}\n" \
           f"      | ^{24*'~'}\npmg run: --with has errors\n"
    refuse([*base, f"--with={twice}"], 1, told)
    told = "--specialize:1:1: error[PMG0201]: there is no 'nTeta' in the pipelines of the file\n    1 | nTeta=7\n" \
           "      | ^~~~~\n      = help: did you mean 'nTheta'?\npmg run: --specialize has errors\n"
    refuse([*base, "--specialize=nTeta=7"], 1, told)
    Path("blocks.pmg").write_text("pipeline blocks { param m, n; in a, b, c, d : f64[m, n]; out x : f64[m, n];\n"
                                  "    x = TriBatch(a, b, c, d); schedule { layout a, d : interleave(block = 8); } }\n")
    np.save("one.npy", np.ones((3, 5)))
    for layout, blocks in ("interleave(block = 4)", "blocks of 4"), ("flat", None), ("interleave", "blocks of 16"):
        explained = run("blocks.pmg", "--explain", "--compare", "a=0", "b=one.npy", "c=0", "d=one.npy",
                        f"--with=layout d : {layout}")
        check(blocks in explained if blocks else "blocks of" not in explained, f"{layout} goes before: {explained}")
    Path("fused.pmg").write_text("pipeline fused { param n; in x : f64[n]; out y, z : f64[n];\n"
                                 "    y[i] = 2*x[i] for i in 0..n; z[i] = 3*x[i] for i in 0..n; }\n")
    check("fused" in run("fused.pmg", "--explain", "n=9", "x=random:1"), "loops are fused as by pmgc")
    Path("space.pmg").write_text(LIFE.replace("in  w ", "fixed in XYZ : i32[nVoxels, 3];\n    in  w ").replace(
        "w);", "w);\n    schedule { order PHI by morton(voxel, XYZ); }"))
    for how in "partition Y by auto", "restructure PHI by voxel; partition Y by coeff":
        run("space.pmg", "--compare", "XYZ=random:3", f"--with={how}", *base[2:])
        close(np.load("Y.npy"), plain, "the same result whatever the order in space")


def waiting():
    """Commands that run code of OpenMP start anew with threads that soon sleep, unless the user says how they wait."""
    own = ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT", "KMP_BLOCKTIME")
    env = {name: value for name, value in ENV.items() if name not in own}
    for command, said, spins in (("run", {}, "2000"), ("bench", {}, "2000"), ("life", {}, "2000"),
                                 ("hines", {}, "2000"), ("inspect", {}, None),
                                 ("hines", {"GOMP_SPINCOUNT": "77"}, "77")):
        result = subprocess.run([PMG, command, "--help"], capture_output=True, text=True, check=False,
                                env=dict(env, OMP_DISPLAY_ENV="verbose", **said))
        found = re.findall(r"GOMP_SPINCOUNT = '(\d+)'", result.stderr)
        if not found and "OPENMP" in result.stderr:     # another library
            return
        check(result.returncode == 0 and (found[-1] == spins if spins else len(found) == 1),
              f"pmg {command}: spins {found}")


def interruptions():
    Path("slow-cc").write_text("#!/bin/sh\n[ \"$1\" = --version ] || sleep 20\n")
    os.chmod("slow-cc", 0o755)
    for number in signal.SIGINT, signal.SIGTERM, signal.SIGHUP:
        signal.signal(number, signal.SIG_DFL)       # which programs behind `&` would pass on as ignored
        process = subprocess.Popen([PMG, "run", "life.pmg", "PHI=phi.tsv", "D=D.npy", "w=w.txt", "--cc", "./slow-cc"],
                                   env=ENV, start_new_session=True)
        for _ in range(200):
            if left_behind() and Path(ENV["TMPDIR"], left_behind()[0], "dsc.c").exists():
                break
            time.sleep(0.05)
        check(left_behind(), "the folder of the compilation is there")
        os.killpg(process.pid, number)
        check(process.wait() == -number, f"ends by signal {number}")
        check(not left_behind(), f"left behind after signal {number}: {left_behind()}")


def main():
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        ENV["TMPDIR"] = str(Path(folder, "tmp"))
        os.mkdir("tmp")
        for name, text in ("life", LIFE), ("rows", ROWS), ("kinds", KINDS), ("facts", FACTS), (
                "ragged", RAGGED), (
                "spmv", "pipeline spmv { param m, n, nnz; fixed in A : PHI_Tensor<f64>(nnz; row < m, col < n);\n"
                "    in x : f64[n]; out y : f64[m]; y = Sparse_matvec(A, x); }\n"):
            Path(f"{name}.pmg").write_text(text)
        life = Life()
        for test in objects, outputs, shapes:
            test(life)
        for test in randoms, wrong_words, wrong_data, wrong_indices, wrong_programs, broken_assumptions:
            test()
        libraries(life)
        few_systems()
        wide_blocks()
        estimates()
        large_results()
        narrow_indices()
        if "ASAN_OPTIONS" not in ENV:       # much C to compile, of few ways to run
            any_threads()
            single_sums()
            computed_in_single()
            what_cancels()
            lengths()
            negative_extents()
            recurrences()
            c_compilers()
        computed_index()
        items_and_sizes()
        interruptions()
        waiting()
        os.chdir(here)
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return RESULTS["failed"] > 0


raise SystemExit(main())
