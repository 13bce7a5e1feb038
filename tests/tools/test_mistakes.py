#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pmg` and the mistakes of its first users: what would be lost is kept, what was done by halves is said, and each
message names the file and what to do, to the letter. Its C is not optimised.
With sanitizers only for --long: other tests of commands have them."""
import os
import re
import struct
import subprocess
import tempfile
from pathlib import Path

import h5py
import numpy as np

PMG = str(Path(os.environ.get("PMG") or Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
BINS = """pipeline bins {
    param n, nBins;
    assume nBins >= 1;
    in x : f64[n];
    out count : i64[nBins];
    temp bin : index(nBins)[n];

    bin[i] = cast<i64>(floor(x[i])) for i in 0..n;
    reduce count[bin[i]] += 1 for i in 0..n;
}
"""
RESULTS = {"passed": 0, "failed": 0}

LIFE = """pipeline dsc {
    param nAtoms, nVoxels, nFibers, nTheta, nCoeffs;
    fixed in PHI : PHI_Tensor<f64>(nCoeffs; atom < nAtoms, voxel < nVoxels, fiber < nFibers);
    fixed in D   : f64[nAtoms, nTheta];
    in  w   : f64[nFibers];
    out Y   : f64[nVoxels, nTheta];
    Y = Sparse_matvec(PHI, D, w);
}
"""
WC = """pipeline wc {
    param nAtoms, nVoxels, nFibers, nTheta, nCoeffs;
    fixed in PHI : PHI_Tensor<f64>(nCoeffs; atom < nAtoms, voxel < nVoxels, fiber < nFibers);
    fixed in D   : f64[nAtoms, nTheta];
    in  Y   : f64[nVoxels, nTheta];
    out w   : f64[nFibers];
    w = Sparse_matvec(transpose(PHI), D, Y);
}
"""
SMALL = """pipeline scaled {
    param n;
    inout x : f64[n];
    out y : f64[n];
    reduce x[i] *= 2.0 for i in 0..n;
    y[i] = 1.0 for i in 0..n;
}
"""
HALVE = """pipeline halve {
    param n, m;
    inout x : f64[n];
    iterate t in 0..m {
        next x[i] = 0.5*x[i] for i in 0..n;
    }
}
"""
TREE = """pipeline tree {
    param n;
    fixed in T : Tree(n);
    out y : f64[n];
    y[i] = cast<f64>(T.parent[i]) for i in 0..n;
}
"""
HEAD = ["PHI=phi.tsv", "D=D.npy"]


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print("does not hold:", what)


def pmg(*arguments, **more):
    done = subprocess.run([PMG, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          **more)
    return done.returncode, done.stdout, done.stderr


def works(*arguments, **more):
    status, output, error = pmg(*arguments, **more)
    check(status == 0, f"{' '.join(map(str, arguments))}: {status} {error}")
    return output


def refuse(arguments, status, error, **more):
    got = pmg(*arguments, **more)
    check((got[0], got[2]) == (status, error), f"{' '.join(map(str, arguments))}:\n{got}\nexpected {(status, error)}")


def make_data():
    random = np.random.default_rng(3)
    entries = np.array(np.unravel_index(random.choice(120, 40, replace=False), (5, 4, 6)))
    value = random.standard_normal(40)
    np.savetxt("phi.tsv", np.column_stack([entries.T, value]), fmt="%d\t%d\t%d\t%.17g")
    np.save("D.npy", random.standard_normal((5, 3)))
    np.savetxt("w.txt", np.ones(6))
    np.ones((4, 3)).tofile("Y.f64")
    with h5py.File("life.h5", "w") as file:
        for name, column in zip(["atom", "voxel", "fiber", "value"], [*entries, value]):
            file[f"PHI/{name}"] = column
        file["D"] = np.load("D.npy")
        file["Y"] = np.ones((4, 3))


def what_is_lost():
    """No output over an input, no group for a dataset."""
    before = Path("life.h5").read_bytes(), Path("Y.f64").read_bytes()
    wc, h5 = ["run", "wc.pmg", "--interp"], ["PHI=life.h5:/PHI", "D=life.h5", "Y=life.h5:/Y"]
    refuse([*wc, *h5, "-o", "w=life.h5:/PHI"], 2,
           "pmg run: -o w=life.h5:/PHI: that is the input 'PHI.atom' of this run\n"
           "  help: name another object or file\n")
    refuse([*wc, *h5, "-o", "w=life.h5://D/"], 2, "pmg run: -o w=life.h5://D/: that is the input 'D' of this run\n"
           "  help: name another object or file\n")
    os.symlink("Y.f64", "link.f64")
    for name in "Y.f64", "./Y.f64", "link.f64":
        refuse([*wc, *HEAD, "Y=Y.f64", "-o", f"w={name}"], 2,
               f"pmg run: -o w={name}: that is the input 'Y' of this run\n  help: name another file\n")
    refuse([*wc, *HEAD, "Y=Y.f64", "-o", "w=life.h5:/PHI"], 2,
           "pmg run: life.h5: /PHI: it is a group, which --force replaces by the array\n")
    compiled = ["run", "wc.pmg", *HEAD, "Y=Y.f64", "--cc=no-compiler"]
    Path("text.h5").write_text("w\n")
    for place, status, message in (
            ("life.h5:/PHI", 2, "life.h5: /PHI: it is a group, which --force replaces by the array"),
            ("life.h5:/D/w", 2, "life.h5: /D: it is no group"),
            ("text.h5:/w", 3, "text.h5: not an HDF5 file that can be opened: file signature not found")):
        refuse([*compiled, "-o", f"w={place}"], status, f"pmg run: {message}\n")
    with h5py.File("kinds.h5", "w") as file:
        file["type"] = np.dtype("f8")
        file["nowhere"] = h5py.SoftLink("/gone")
    refuse([*compiled, "-o", "w=kinds.h5:/type"], 2,
           "pmg run: kinds.h5: /type: it is no array; --force replaces it by one\n")
    refuse(["convert", "phi.tsv", "kinds.h5:/type", "--modes", "a,v,f"], 2,
           "pmg convert: kinds.h5: /type: it is no group; --force replaces it by one\n")
    refuse([*compiled, "-o", "w=kinds.h5:/nowhere/w"], 2, "pmg run: kinds.h5: /nowhere: it is no group\n")
    works("convert", "phi.tsv", "kinds.h5:/nowhere", "--modes", "a,v,f")
    works("convert", "Y.f64[12]", "kinds.h5:/type", "--force")
    with h5py.File("kinds.h5") as file:
        check(sorted(file["nowhere"]) == ["a", "f", "v", "value"] and file["type"].shape == (12,),
              "a link to nothing, and what --force is given for, are replaced")
    refuse(["convert", "Y.f64", "life.h5:/PHI"], 2,
           "pmg convert: life.h5: /PHI: it is a group, which --force replaces by the array\n")
    refuse(["convert", "phi.tsv", "life.h5:/D", "--modes", "a,v,f"], 2,
           "pmg convert: life.h5: /D: it is no group; --force replaces it by one\n")
    refuse(["convert", "life.h5:/PHI", "life.h5:/PHI"], 2, "pmg convert: life.h5:/PHI: OUT is IN or holds it\n")
    refuse(["convert", "Y.f64", "Y.f64"], 2, "pmg convert: Y.f64: OUT is IN or holds it\n")
    check((Path("life.h5").read_bytes(), Path("Y.f64").read_bytes()) == before, "the inputs are as they were")
    works(*wc, *h5, "-o", "w=life.h5")
    works("convert", "life.h5:/w", "life.h5:/other")
    works("convert", "phi.tsv", "life.h5:/PHI", "--modes", "atom,voxel,fiber")
    works("convert", "Y.f64", "life.h5:/PHI", "--force")
    with h5py.File("life.h5") as file:
        check(file["PHI"].shape == (12,) and file["other"].shape == (6,) and file["w"].shape == (6,), "what is in it")
    make_data()
    np.save("x.npy", np.arange(3.0))
    refuse(["run", "scaled.pmg", "--interp", "x=x.npy", "-o", "y=x.npy"], 2,
           "pmg run: -o y=x.npy: that is the input 'x' of this run\n  help: name another file\n")
    refuse(["run", "scaled.pmg", "--interp", "x=x.npy", "-o", "x=a.npy", "-o", "y=a.npy"], 2,
           "pmg run: -o y=a.npy: 'x' goes there too\n")
    # A name with '.' for a component was taken for another one, and y written over x.
    refuse(["run", "scaled.pmg", "--interp", "x=x.npy", "-o", "x=a.h5:/a/b", "-o", "y=a.h5:./a/.//b/."], 2,
           "pmg run: -o y=a.h5:./a/.//b/.: 'x' goes there too\n")
    works("run", "scaled.pmg", "--interp", "x=x.npy", "-o", "x=x.npy")
    check(np.array_equal(np.load("x.npy"), [0, 2, 4]), "an inout goes back to where it came from")


def what_is_suggested():
    wc = ["run", "wc.pmg", "--interp", *HEAD]
    np.ones((6, 3)).tofile("Y6.f64")
    notes = [line for line in works(*wc, "Y=Y6.f64").splitlines() if "but" in line]
    check(notes == ["nVoxels = 6 by Y (Y6.f64, 18 numbers), but the largest value of PHI.voxel (phi.tsv) suggests 4"],
          notes)
    check("but" not in works(*wc, "Y=Y6.f64", "nVoxels=6"), "what the user says himself")
    check("but" not in works(*wc, "Y=Y.f64"), "a size that is right")


def what_is_stopped():
    base = ["run", "halve.pmg", "x=random:1", "n=3", "m=100"]
    for way in ["--interp"], [], ["--compare"]:
        check("stopped after 3 of at most 100 iterations\n" in works(*base, *way, "--iterations", "3"), way)
        for more in [], ["--iterations", "100"], ["--iterations=200"]:
            check("stopped" not in works(*base, *way, *more), f"{way} {more}")
    refuse(["run", "life.pmg", *HEAD, "w=w.txt", "--iterations", "3"], 2,
           "pmg run: --iterations: pipeline 'dsc' has no `iterate`\n")
    output = works(*base, "--interp", "--time")
    check(re.match(r"interpret [\d.]+ ms\n", output), output)
    check(re.match(r"(?s).*^interpret [\d.]+ ms\nplan [\d.]+ ms, execute [\d.]+ ms$",
                   works(*base, "--compare", "--time"), re.M), "both times")


def what_has_another_shape():
    base = ["run", "life.pmg", "--interp", *HEAD, "w=w.txt", "-o"]
    for name in "Y.f64", "Y.npy":
        refuse([*base, f"Y={name}[6,2]"], 2, f"pmg run: {name}: the shape is [4, 3], not [6, 2]\n")
    works(*base, "Y=out.f64[4,3]")
    refuse(["convert", "Y.f64", "Z.f64[5]"], 2, "pmg convert: Z.f64: the shape is [12], not [5]\n")
    works("convert", "Y.f64", "Z.f64[3,4]")
    refuse(["phantom", "life", "-o", "x.npy"], 2,
           "pmg phantom life: x.npy: a phantom is an HDF5 file: -o FILE.h5\n")


def what_cannot_be_read():
    os.mkdir("d.npy")
    for name, words in {"none.pmg": "cannot open: No such file or directory", "d.npy": "is a folder",
                        ".": "is a folder"}.items():
        refuse(["run", name], 4, f"pmg run: {name}: {words}\n")
        refuse(["inspect", name], 4, f"pmg inspect: {name}: {words}\n")
    refuse(["run", "life.pmg", "w=d.npy"], 4, "pmg run: d.npy: is a folder\n")
    refuse(["run", "--pipeline", "dsc", "A=t.tns"], 2, "pmg run: a program is needed: FILE.pmg\n")
    refuse(["run", "life.pmg", "--parallel", "off"], 2,
           "pmg run: --parallel takes its value after '='\n  help: write --parallel=off\n")
    for flag in "candidates", "max-operations", "block-warps":
        for value in "x", "-1", "":
            refuse(["run", "life.pmg", f"--{flag}={value}"], 2,
                   f"pmg run: option '--{flag}' takes a whole number from 0 on, not '{value}'\n")
    refuse(["run", "life.pmg", "--candidates=0"], 2, "pmg run: --candidates takes a number from 1 on\n")
    for flag in "nvcc=nvcc", "arch=sm_80", "check-every=3":
        refuse(["run", "life.pmg", f"--{flag}"], 2,
               f"pmg run: --{flag.split('=')[0]} is of --target=cuda, which is not given\n")
    refuse(["run", "life.pmg", *HEAD, "w=w.txt"], 4,
           "pmg run: /no/where: cannot make a folder in it, as TMPDIR asks: No such file or directory\n",
           env=dict(os.environ, TMPDIR="/no/where", PMG_CACHE="off"))
    for array, words in {"c": (np.zeros(3, complex), "complex numbers ('<c16')"),
                         "o": (np.array([None]), "Python objects ('|O')"), "u": (np.array(["abc"]), "texts ('<U3')"),
                         "r": (np.zeros(2, [("a", "f8")]), "records")}.values():
        np.save("bad.npy", array)
        refuse(["inspect", "bad.npy"], 3,
               f"pmg inspect: bad.npy: the elements are {words}; integers, floats and bools are supported\n")
    for order in "<", ">":
        Path("old.mat").write_bytes(struct.pack(f"{order}5i2s6d", 0 if order == "<" else 1000, 2, 3, 0, 2, b"x\0",
                                                *range(6)))
        refuse(["inspect", "old.mat"], 3, "pmg inspect: old.mat: version 4 of MATLAB's format is not read\n  help: in "
               "MATLAB, load it and save it with -v7: load('old.mat'); save('new.mat', '-v7')\n")
    for end in "", "3", "3 3", "3 3 ":
        Path("cut.mtx").write_text("%%MatrixMarket matrix coordinate real general\n3 3 4\n1 1 1\n2 2 2\n" + end)
        refuse(["inspect", "cut.mtx"], 3, "pmg inspect: cut.mtx:5: ends after 2 of 4 entries\n")
    output = pmg("inspect", "none.npy", "D.npy", "bad.npy", "w.txt")
    check((output[0], output[2].count("\n")) == (4, 2) and "D.npy: " in output[1] and "w.txt: " in output[1], output)


def what_comes_from_where():
    np.ones(5).tofile("D5.f64")
    Path("w3.txt").write_text("1\n1\n1\n")
    Path("far.tsv").write_text("0\t0\t0\t1\n# a comment\n4\t3\t5\t1\n")
    run, far = ["run", "life.pmg"], ["PHI=far.tsv", "D=D.npy", "w=w3.txt"]
    notes = "  note: 'PHI.fiber' is from far.tsv\n  note: nFibers is 3 by w (w3.txt, 3 numbers)\n"
    refuse([*run, *far], 3, "pmg run: array 'PHI.fiber' holds 5 at [1], which is not in 0..3 (nFibers, life.pmg:3)\n"
           + notes)
    refuse([*run, "--interp", *far], 3, "pmg run: life.pmg:3:20: PHI.fiber[1] is 5, allowed are 0 to 2\n" + notes)
    refuse([*run, "PHI=far.tsv", "D=D5.f64", "w=1", "nAtoms=2"], 3,
           "pmg run: D (D5.f64): 5 numbers are no multiple of nAtoms = 2\n")
    with h5py.File("deep.h5", "w") as file, h5py.File("life.h5") as life:
        file["b"] = file["a"] = np.ones((5, 3))
        life.copy("PHI", file, "X/PHI")
    for name in "deep.h5", "deep.h5:/X":
        refuse([*run, f"PHI={name}"], 3,
               f"pmg run: {name}: there is no 'atom' for PHI.atom\n  help: did you mean PHI=deep.h5:/X/PHI?\n")
    refuse([*run, "D=deep.h5"], 3,
           "pmg run: D is an array, but deep.h5 is a group of 2\n  help: name one of them: D=deep.h5:/a\n")
    with h5py.File("one.h5", "w") as file, h5py.File("life.h5") as life:
        life.copy("PHI", file, "PHI")
        file["PHI"].attrs["shape"] = [file["PHI"][mode][:].max() for mode in ("atom", "voxel", "fiber")]
    got = pmg(*run, "PHI=one.h5")
    check(got[0] == 3 and "by the file (coordinates count from 0)\n" in got[2], f"counted from 1: {got}")
    np.save("p.npy", np.array([-1, 0, 0, 2]))
    works("run", "tree.pmg", "--interp", "T=p.npy", "-o", "y=y.npy")
    check(np.array_equal(np.load("y.npy"), [-1, 0, 0, 2]), "an object of one array")
    output = works("run", "tree.pmg", "--interp", "T=p.npy")
    check("suggest" not in output, f"a tree's last node is nobody's parent: {output}")
    refuse(["convert", "life.h5:/PHI", "out.tns"], 2, "pmg convert: life.h5:/PHI: the order of the modes is needed\n"
           "  help: --modes atom,fiber,voxel, in the order that out.tns shall have\n")
    works("convert", "life.h5:/PHI", "out.tns", "--modes", "atom,voxel,fiber")
    works("convert", "far.tsv", "far.h5:/PHI", "--modes", "a,v,f")
    refuse(["convert", "far.tsv", "out.tns", "--shape", "5,3,6"], 3,
           "pmg convert: far.tsv:3: coordinate 3 of mode 1 is above 2, the last by --shape\n")
    refuse(["convert", "far.h5:/PHI", "out.tns", "--modes", "a,v,f", "--shape", "5,3,6"], 3,
           "pmg convert: far.h5: entry 1: coordinate 3 of mode 1 is above 2, the last by --shape\n")
    Path("one.tns").write_text("5 1 1\n1 1 1\n")
    refuse(["convert", "one.tns", "out.tsv", "--shape", "4,2"], 3,
           "pmg convert: one.tns:1: coordinate 5 of mode 0 is above 4, the last by --shape\n")
    works("convert", "one.tns", "out.tsv", "--shape", "5,1")


def what_is_not_finite():
    Path("twice.pmg").write_text("pipeline twice { param n; in b : f64[n]; out y : f64[n]; y = 2*b; }\n")
    for value, name in ("inf", "infinity"), ("nan", "NaN"):
        for way, place in ([], " (twice.pmg:1)"), (["--interp"], ""), (["--compare"], ""):
            got = pmg("run", "twice.pmg", "n=3", f"b={value}", *way, env=dict(os.environ, PMG_CHECK_FINITE="1"))
            told = f"pmg run: array 'b' holds {name} at [0], but only finite values are accepted{place}\n"
            check(got == (3, "", told), f"{value} {way}: {got}")
            check(pmg("run", "twice.pmg", "n=3", f"b={value}", *way)[0] == 0, f"{value} {way} is data")


def what_has_no_effect():
    """What would do nothing is refused with a sentence, not taken without a word."""
    for flag in ("--target=cuda", "--tune=measure", "--candidate=fuse=off", "--threads=2", "--cc=gcc", "--keep=k",
                 "--wisdom=off", "--repeat=2", "--explain", "--compare", "--vector=off"):
        name = flag if flag == "--vector=off" else flag.split("=")[0]
        refuse(["run", "twice.pmg", "--interp", flag, "n=3", "b=1"], 2,
               f"pmg run: {name} excludes --interp: the interpreter compiles nothing, and runs once, in one thread\n")
    for value in "yes", "2", "01":
        refuse(["run", "twice.pmg", "--interp", "n=3", "b=1"], 2,
               f"pmg run: PMG_CHECK_FINITE in the environment takes 1 or 0, not '{value}'\n",
               env=dict(os.environ, PMG_CHECK_FINITE=value))
    refuse(["run", "twice.pmg", "n=3", "b=1"], 2, "pmg run: PMG_ISA in the environment takes baseline, avx2 or "
           "avx512, not 'sse9'\n",
           env=dict(os.environ, PMG_ISA="sse9"))
    Path("truth.pmg").write_text("pipeline truth { param n; in b : bool[n]; out y : bool[n]; y = not b; }\n")
    for value, negation in ("true", [0, 0]), ("false", [1, 1]):
        works("run", "truth.pmg", "--interp", "n=2", f"b={value}", "-o", "y=truth.npy")
        check(np.load("truth.npy").tolist() == negation, f"a bool is {value}")


def what_is_computed_wrong():
    """An index that the program computes is none of the data: the status is another one, whoever finds it."""
    np.save("x.npy", np.array([0.5, 1.5, 3.5]))
    run = ["run", "bins.pmg", "x=x.npy"]
    notes = "  note: nBins is 3 by nBins=3\n"
    walked = "pmg run: bins.pmg:9:18: bin[2] is 3, allowed are 0 to 2\n" + notes
    refuse([*run, "nBins=3"], 6, "pmg run: array 'bin' holds 3 at [2], which is not in 0..3 (nBins, bins.pmg:6)\n"
           + notes)
    for way in "--interp", "--compare":
        refuse([*run, "nBins=3", way], 6, walked)
        refuse([*run, "nBins=0", way], 3, "pmg run: bins.pmg:3:12: the assumption 'nBins >= 1' does not hold\n"
               "  note: nBins is 0 by nBins=0\n")
    Path("three.pmg").write_text("pipeline three { param n; assume n >= 3; in x : f64[n]; out y : f64[n];\n"
                                 "temp k : index(3)[n]; k[i] = i for i in 0..n; y[i] = x[k[i]] for i in 0..n; }\n")
    refuse(["run", "three.pmg", "n=4", "x=1"], 6,
           "pmg run: array 'k' holds 3 at [3], which is not in 0..3 (three.pmg:2)\n")
    refuse([*run, "nBins=0"], 3, "pmg run: pipeline 'bins' assumes nBins >= 1 (bins.pmg:3), which does not hold\n"
           "  note: nBins is 0 by nBins=0\n")


def what_takes_too_much():
    """--max-mem counts what is read or made up, what is computed, and the plan; the first two before any is made."""
    run = ["run", "scaled.pmg", "x=random:1"]
    for more, needed in ([], "24.0 kB"), (["--interp"], "24.0 kB"), (["--compare"], "40.0 kB"):
        refuse([*run, "n=1000", "--max-mem", "1k", *more], 5,
               f"pmg run: {needed} are needed, --max-mem allows 1k\n")
    refuse([*run, f"n={10**12}", "--max-mem=1G"], 5, "pmg run: 24.0 TB are needed, --max-mem allows 1G\n")
    refuse([*run, "n=1000", "--max-mem=1k", "--message-format=short"], 5,
           "pmg run: 24.0 kB are needed, --max-mem allows 1k\n")
    works(*run, "n=1000", "--max-mem=24000", "--interp")
    got = pmg(*run, "n=1000", "--max-mem=24000")
    check(got[0] == 5 and re.fullmatch(r"pmg run: \d\d\.\d kB are needed, --max-mem allows 24000\n", got[2]),
          f"a plan takes memory, too: {got}")
    works(*run, "n=1000", "--max-mem=1M")
    np.save("x.npy", np.array([0.5, 1.5, 3.5]))
    bins = ["run", "bins.pmg", "x=x.npy", "nBins=100000", "--threads=2", "--max-mem=1500kB"]
    works(*bins)
    got = pmg(*bins, "--candidate=partition count by private")
    check(got[0] == 5 and re.fullmatch(
        r"pmg run: pipeline 'bins' needs \d+ bytes, but the limit is 699976\n"
        r"  note: the limit is what --max-mem=1500kB leaves beside the arguments\n", got[2]), f"a candidate's: {got}")
    for text in "lots", "-1G", "4GG":
        refuse([*run, "n=1000", f"--max-mem={text}"], 2, f"pmg run: --max-mem={text}: a number of bytes is needed\n"
               "  help: --max-mem=4G is 4 GiB, 4GB is 4e9 bytes; there are K, M, G and T\n")
    refuse([*run, "n=1000", "--max-mem"], 2, "pmg run: --max-mem needs a value: BYTES\n")
    got = pmg(*run, "n=1000", "--max-operations=1")
    check(got[0] == 1 and "PMG0702" in got[2] and "after 1 operations" in got[2], f"the compiler may spend 1: {got}")
    works(*run, "n=1000", "--max-operations=0")


def what_is_large():
    """Numbers above 2^31 are as they were written, not as C has them."""
    Path("large.pmg").write_text("""pipeline large {
    param n;
    fixed in f : index(3000000000)[n];
    out y : f64[n];
    y[i] = cast<f64>(f[i]) for i in 0..n;
}
""")
    Path("f.txt").write_text("1\n4000000000\n3\n")
    refuse(["run", "large.pmg", "f=f.txt"], 3,
           "pmg run: array 'f' holds 4000000000 at [1], which is not in 0..3000000000 (large.pmg:3)\n"
           "  note: 'f' is from f.txt\n")
    Path("larger.pmg").write_text("pipeline larger { param n; in x : f64[n + 3000000000]; out y : f64; y = x[n]; }\n")
    done = subprocess.run([Path(PMG).with_name("pmgc"), "larger.pmg", "-o", "-"], capture_output=True, text=True,
                          check=True)
    check('"n + 3000000000"' in done.stdout and '"n + INT64_C' not in done.stdout, "sizes in texts of C")


def main():
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for name, text in ("life", LIFE), ("wc", WC), ("scaled", SMALL), ("halve", HALVE), ("tree", TREE), \
                ("bins", BINS):
            Path(f"{name}.pmg").write_text(text)
        make_data()
        for test in what_is_lost, what_is_suggested, what_is_stopped, what_has_another_shape, \
                what_cannot_be_read, what_comes_from_where, what_is_not_finite, what_has_no_effect, \
                what_is_computed_wrong, what_takes_too_much, what_is_large:
            test()
        os.chdir(here)
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return RESULTS["failed"] > 0


raise SystemExit(main())
