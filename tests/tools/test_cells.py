#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pmg import` and `pmg hines solve`: matrices of shapes against ones computed here, what conventions change and tell,
solutions against references, and every malformed file answered with file and line. Its C is not optimised.
With sanitizers only for --long: test_lines and test_damage ask its readers."""
import math
import os
import random
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import h5py
import numpy as np

PMG = str(Path(os.environ.get("PMG") or Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
DATA = os.environ.get("PMG_TEST_DATA")
IS_LONG = "PMG_TEST_LONG" in os.environ
PASSED, FAILED, SKIPPED = [], [], []


def check(holds, what):
    (PASSED if holds else FAILED).append(what)
    if not holds:
        print(f"wrong: {what}")


def pmg(*words, **more):
    run = subprocess.run([PMG, *words], capture_output=True, text=True, errors="replace", check=False, timeout=60,
                         env=dict(os.environ, OMP_NUM_THREADS="1"), **more)
    return run.returncode, run.stdout, run.stderr


def imported(text, *options, kind="swc", suffix=".swc"):
    """The file's arrays as a dictionary, and what was told."""
    Path("in" + suffix).write_text(text)
    status, out, error = pmg("import", kind, "in" + suffix, "-o", "out.h5", *options)
    if status:
        check(False, f"import: {error}")
        return {}, out
    with h5py.File("out.h5") as file:
        arrays = {}
        file.visititems(lambda name, item: arrays.update({name: item[()]}) if isinstance(item, h5py.Dataset) else None)
    return arrays, out


def refused(text, where, kind="swc", status=3, suffix=".swc"):
    path = Path("bad" + suffix)
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    got, out, error = pmg("import", kind, str(path), "-o", "bad.h5")
    check(got == status and where in error and not Path("bad.h5").exists(), f"{text[:60]!r}: {got} {out}{error}")


def swc(points):
    return "".join(" ".join(str(word) for word in point) + "\n" for point in points)


# ---- Matrices ---------------------------------------------------------------------------------------

def matrix_of(points, ra=150, cm=1, leak=1e-4, dt=0.025):
    """Parents, off-diagonals and diagonal of points whose ids are 1, 2, ..., in mS."""
    area, diag, off, parent = [0]*len(points), [0]*len(points), [0]*len(points), []
    for i, (_, _, *place, r, above) in enumerate(points):
        parent.append(above - 1 if above > 0 else -1)
        if above < 0:
            continue
        *to, q = points[above - 1][2:6]
        length = math.dist(place, to)
        off[i] = -0.1*math.pi*r*q/(ra*length)
        for j in (i, above - 1):
            diag[j] -= off[i]
            area[j] += math.pi*(r + q)*math.hypot(length, r - q)/2
    return parent, off, [d + (cm/dt + 1e3*leak)*a*1e-8 for d, a in zip(diag, area)]


def drawn(n, seed):
    rng = random.Random(seed)
    return [(i + 1, 3, *(round(rng.uniform(-50, 50), 3) for _ in range(3)), round(rng.uniform(0.2, 3), 3),
             -1 if i == 0 else rng.randint(max(1, i - 3), i)) for i in range(n)]


def shapes_become_matrices():
    points = drawn(60, 1)
    for options, physics in (([], {}), (["--ra=100", "--cm=2", "--leak=1e-3", "--dt=0.1"],
                                        {"ra": 100, "cm": 2, "leak": 1e-3, "dt": 0.1})):
        arrays, out = imported("# a comment\n\n" + swc(points), *options)
        parent, off, diag = matrix_of(points, **physics)
        check(list(arrays["F/parent"]) == parent and list(arrays["F/offset"]) == [0, 60], "parents")
        check(np.allclose(arrays["upper"], off, rtol=1e-14) and np.allclose(arrays["lower"], off, rtol=1e-14), "off")
        check(np.allclose(arrays["diag"], diag, rtol=1e-13) and out == "in.swc: 1 system, 60 nodes\n", f"diag {out}")
    rest, _ = imported(swc(points), "--voltage=-65")
    check(np.allclose(rest["rhs"], -65*(rest["diag"] + sum_off(rest)), rtol=1e-9), "rhs at rest")
    copies, _ = imported(swc(points), "--systems=3")
    check(copies["diag"].shape == (3, 60) and copies["T/parent"].shape == (60,) and copies["upper"].shape == (60,)
          and len({tuple(row) for row in copies["rhs"]}) == 3 and np.all(copies["diag"] == copies["diag"][0]), "copies")
    os.mkfifo("once.swc")
    threading.Thread(target=Path("once.swc").write_text, args=(swc(points),), daemon=True).start()
    status, out, error = pmg("import", "swc", "once.swc", "--systems=3", "-o", "out.h5")
    check(status == 0 and out == "once.swc: 3 systems, 180 nodes\n", f"a file is read once: {out}{error}")
    alone, _ = imported("1 1 0 0 0 5 -1\n")
    status, _, error = pmg("import", "swc", "in.swc", "-o", "out.h5", "--rest=1e308", "--leak=1e308")
    check(status == 6 and "in.swc: the node of line 1 has the" in error and "numbers of options" in error, error)
    check(np.allclose(alone["diag"], 40.1*4*math.pi*25*1e-8), "a single point is a sphere")


def nodes_know_their_points():
    """Ids of points in the order of nodes, -1 where a node is no point of the file."""
    points = [(7, 1, 0, 0, 0, 5, -1), (20, 3, 30, 40, 0, 1, 9), (9, 3, 30, 0, 0, 1, 7), (3, 3, 60, 0, 0, 1, 9)]
    got, _ = imported(swc(points))
    check(list(got["id"]) == [7, 9, 20, 3] and got["id"].dtype == np.int64, f"ids {got['id']}")
    got, _ = imported(swc(points), "--systems=2", "--order=depth-first")
    check(list(got["id"]) == [7, 9, 20, 3], f"ids of copies {got['id']}")
    got, _ = imported(swc(points), "--per-branch=2")
    check(list(got["id"]) == [7, -1, 9, -1, 20, -1, 3], f"ids of what is added {got['id']}")
    soma = [(1, 1, 0, 0, 0, 7, -1), (2, 1, 0, -7, 0, 7, 1), (3, 1, 0, 7, 0, 7, 1), (4, 3, 20, 0, 0, 1, 1),
            (8, 3, 90, 0, 0, 1, -1), (9, 3, 99, 0, 0, 1, 8)]
    got, _ = imported(swc(soma), "--soma=three-point", "--roots=split")
    check(list(got["id"]) == [1, 4, 8, 9] and list(got["F/parent"]) == [-1, 0, -1, 0], f"a soma's {got['id']}")
    check("id" not in imported("0 -1 0 0 1 1 1\n", kind="tsv", suffix=".tsv")[0], "a table has no points")


def sum_off(arrays):
    """Off-diagonals of each row, added up."""
    total = arrays["lower"].copy()
    for i, p in enumerate(arrays["F/parent"]):
        if p >= 0:
            total[p] += arrays["upper"][i]
    return total


# ---- Conventions ---------------------------------------------------------------------------------------

def ids_and_order_do_not_matter():
    points = drawn(40, 2)
    right, _ = imported(swc(points), "--order=depth-first", "--voltage=-65")
    rng = random.Random(3)
    names = rng.sample(range(5, 10**9), len(points))
    mixed = [(names[i - 1], *rest, names[p - 1] if p > 0 else -1) for i, *rest, p in points]
    rng.shuffle(mixed)
    got, out = imported("\ufeff" + swc(mixed).replace("\n", "\r\n"), "--order=depth-first", "--voltage=-65")
    check("points that are listed before their parents" in out and "ids are not 1, 2" in out, out)
    old, _ = imported(("# c\n\n" + swc(mixed)).replace("\n", "\r"), "--order=depth-first", "--voltage=-65")
    check(all(np.array_equal(old[name], got[name]) for name in ("id", "F/parent", "diag")), "lines that end in CR")
    check(np.allclose(sorted(got["diag"]), sorted(right["diag"]), rtol=1e-13), "the same nodes")
    check(all(p < i for i, p in enumerate(got["F/parent"])), "parents before")
    chains = sum(p == i - 1 for i, p in enumerate(got["F/parent"]))
    check(chains >= sum(p == i - 1 for i, p in enumerate(imported(swc(mixed))[0]["F/parent"])), "depth first")


def somata_have_conventions():
    r, neurite = 7, [(4, 3, 20, 0, 0, 1, 1), (5, 3, 30, 0, 0, 1, 4)]
    three = [(1, 1, 0, 0, 0, r, -1), (2, 1, 0, -r, 0, r, 1), (3, 1, 0, r, 0, r, 1)] + neurite
    drawn_, _ = imported(swc(three))
    check(len(drawn_["diag"]) == 5, "as drawn")
    for name in ("three-point", "sphere"):
        got, out = imported(swc(three), f"--soma={name}", "--leak=0")
        check(len(got["diag"]) == 2 and list(got["id"]) == [1, 5] and "soma" in out, f"{name}: {out}")
        area = (got["diag"][0] + got["upper"][1])/40e-8
        check(math.isclose(area, 4*math.pi*r*r + math.pi*10, rel_tol=1e-12), f"{name}: area {area}")
    for what, left, right, q, is_soma in (("apart", 0.96, 1.03, r, True), ("too far", 1.015, 1.015, r, False),
                                          ("of other radii", 1, 1, 6.9, False)):
        points = [three[0], (2, 1, 0, -left*r, 0, q, 1), (3, 1, 0, right*r, 0, q, 1)] + neurite
        ours, out = imported(swc(points), "--soma=three-point")
        theirs, _ = imported(swc(points), "--convention=neuron")
        check(is_soma == ("the soma of three points is one node" in out) == (len(ours["diag"]) == 2), f"{what}: {out}")
        same, _ = imported(swc(three), "--convention=neuron")
        check(is_soma == np.array_equal(theirs["area"], same["area"]), f"{what}: as NEURON has it")
    ring = [(i + 1, 1, 10*math.cos(i), 10*math.sin(i), 0, 1, i if i else -1) for i in range(40)] + \
           [(41, 3, 30, 0, 0, 1, 20)]
    got, out = imported(swc(ring), "--soma=sphere")
    check(len(got["diag"]) == 2 and "a soma of 40 points is a sphere of radius" in out, out)
    check("there is no soma of three points" in imported(swc(ring), "--soma=three-point")[1], "no three points")
    check("there is no point of a soma" in imported(swc(drawn(5, 1)), "--soma=sphere")[1], "no soma")


def options_are_for_their_files():
    """What changes nothing is refused, not passed over."""
    Path("small.hines.tsv").write_text("0 -1 0 0 1 1\n1 0 -1 -1 4 1\n")
    for option in "--soma=sphere", "--voltage=-65", "--per-branch=2", "--dt=0.1", "--seed=3":
        name = option.split("=")[0]
        for command in ["import", "tsv", "small.hines.tsv", "-o", "o.h5"], ["hines", "solve", "small.hines.tsv"]:
            status, _, error = pmg(*command, option)
            check(status == 2 and f"{name} changes nothing: small.hines.tsv has the systems itself" in error,
                  f"{command[0]} {option}: {error}")
    Path("small.swc").write_text(swc([(1, 1, 0, 0, 0, 5, -1), (2, 3, 20, 0, 0, 1, 1)]))
    status, out, error = pmg("hines", "solve", "small.swc", "small.hines.tsv", "--soma=sphere")
    check(status == 0 and out.count("1 system") == 2, f"an option for one of the files: {out}{error}")
    check(not Path("o.h5").exists(), "nothing is written")


def several_roots_have_conventions():
    points = [(1, 3, 0, 0, 0, 1, -1), (2, 3, 9, 0, 0, 1, 1), (3, 3, 0, 50, 0, 1, -1), (4, 3, 0, 60, 0, 1, 3),
              (5, 3, 0, 70, 0, 1, 4)]
    keep, out = imported(swc(points))
    check(list(keep["F/parent"]) == [-1, 0, -1, 2, 3] and "there are 2 roots: one system holds them all" in out, out)
    largest, out = imported(swc(points), "--roots=largest")
    check(list(largest["F/parent"]) == [-1, 0, 1] and "left out: 2" in out, out)
    split, out = imported(swc(points), "--roots=split")
    check(list(split["F/parent"]) == [-1, 0, -1, 0, 1] and list(split["F/offset"]) == [0, 2, 5]
          and "each is a system of its own" in out and "2 systems, 5 nodes" in out, out)


def several_trees_are_not_one():
    """Parents in a Forest count in each tree; a Tree takes them where there is one."""
    points = [(1, 3, 0, 0, 0, 1, -1), (2, 3, 9, 0, 0, 1, 1), (3, 3, 0, 50, 0, 1, -1), (4, 3, 0, 60, 0, 1, 3)]
    Path("depth.pmg").write_text("""pipeline depth {
    param n;
    fixed in T : Tree(n);
    out d : f64[n];
    d[i] = case { T.parent[i] < 0 : 0; else : d[T.parent[i]] + 1; } for i in 0..n;
}
""")
    imported(swc(points), "--roots=split")
    status, out, error = pmg("run", "depth.pmg", "T=out.h5:/F")
    check(status == 3 and "out.h5:/F holds 2 trees, but T is one" in error and
          "declare 'T : Forest(nSystems, n)'" in error, f"{status} {out}{error}")
    with h5py.File("out.h5", "r+") as file:
        offset = file["F/offset"][()]
        del file["F/offset"]
        file["F/offset"] = offset.reshape(1, -1)
    check(pmg("run", "depth.pmg", "T=out.h5:/F")[0] == 3, "offsets in a row")
    with h5py.File("out.h5", "r+") as file:
        del file["F/offset"]
        file["F/offset"] = "of another kind"
    check(pmg("run", "depth.pmg", "T=out.h5:/F")[0] == 0, "what only has the name of offsets")
    imported(swc(points))
    status, out, error = pmg("run", "depth.pmg", "T=out.h5:/F")
    check(status == 0 and out.split()[-1] == "2", f"{status} {out}{error}")
    imported(swc(points), "--systems=1")
    check(pmg("run", "depth.pmg", "T=out.h5")[0] == 0, "a tree")


def the_other_import_is_told():
    """A Forest where a Tree and tables are expected, and the other way round."""
    def solve(pipeline, tree):
        numbers = [f"{name}=out.h5" for name in ("upper", "lower", "diag", "rhs")]
        return pmg("run", os.environ["PMG_HOME"] + "/dsl_examples/hines.pmg", f"--pipeline={pipeline}", tree, *numbers)
    imported(swc(drawn(5, 1)))
    status, out, error = solve("hines", "T=out.h5:/F")
    check(status == 3 and error.endswith("  help: out.h5:/F is a Forest, for a pipeline such as hines_forest of "
                                         "dsl_examples/hines.pmg; 'pmg import swc FILE --systems=1' makes a Tree\n"),
          f"{status} {out}{error}")
    check(solve("hines_forest", "F=out.h5")[0] == 0, "a forest")
    imported(swc(drawn(5, 1)), "--systems=1")
    status, out, error = solve("hines_forest", "F=out.h5")
    check(status == 3 and error.endswith("  help: out.h5:/T is a Tree, for a pipeline such as hines of "
                                         "dsl_examples/hines.pmg; 'pmg import' without --systems makes a Forest\n"),
          f"{status} {out}{error}")
    check(solve("hines", "T=out.h5")[0] == 0, "a tree and tables")


def zero_pivots_are_of_a_file():
    Path("zero.hines.tsv").write_text("0 -1 0 0 1 1 1\n1 0 0 0 0 1 1\n")
    status, out, error = pmg("hines", "solve", "zero.hines.tsv")
    check(status == 6 and "in row 1 of system 0 is zero" in error and "those of zero.hines.tsv" in error,
          f"{status} {out}{error}")


def bad_files_do_not_keep_others_from_being_solved():
    Path("good.swc").write_text(swc(drawn(9, 1)))
    Path("wrong.swc").write_text("1 1 0 0 0 1 7\n")
    Path("zero.hines.tsv").write_text("0 -1 0 0 1 1 1\n1 0 0 0 0 1 1\n")
    status, out, error = pmg("hines", "solve", "wrong.swc", "what.xyz", "good.swc", "zero.hines.tsv", "none.swc",
                             "good.swc")
    said = [line for line in error.splitlines() if not line.startswith("  ")]
    check(status == 3 and out.count("good.swc: 1 system, 9 nodes") == 2 and len(said) == 5 and
          said[0].startswith("pmg hines solve: wrong.swc:1: point 1 has the parent 7") and "what.xyz" in said[1] and
          "in row 1 of system 0 is zero" in said[2] and "none.swc: cannot open" in said[3] and
          said[4] == "pmg hines solve: 4 of 6 files failed", f"{status} {out}{error}")
    status, _, error = pmg("hines", "solve", "good.swc", "good.swc", "--format=swx")
    check(status == 2 and error.count("there is no format") == 1 and "files failed" not in error, f"{status} {error}")


def radii_and_lengths_are_mended():
    points = [(1, 3, 0, 0, 0, 0, -1), (2, 3, 9, 0, 0, 2, 1), (3, 3, 18, 0, 0, -1, 2), (4, 3, 18, 0, 0, 2, 3)]
    got, out = imported(swc(points), "--voltage=-65")
    mended = [(1, 3, 0, 0, 0, 2, -1), (2, 3, 9, 0, 0, 2, 1), (3, 3, 18, 0, 0, 2, 2), (4, 3, 18.001, 0, 0, 2, 3)]
    check("neighbours are taken: 2" in out and "taken as so long: 1" in out, out)
    check(np.allclose(got["diag"], imported(swc(mended), "--voltage=-65")[0]["diag"], rtol=1e-9), "as mended")
    fork = [(1, 3, 0, 0, 0, 0, -1), (2, 3, 9, 0, 0, -1, 1), (3, 3, 0, 9, 0, 2, 1), (4, 3, 0, 0, 9, 3, 1)]
    got, out = imported(swc(fork))
    mended = [(i, t, x, y, z, r if r > 0 else 2, p) for i, t, x, y, z, r, p in fork]
    check("neighbours are taken: 2" in out and "1 um" not in out, out)
    check(np.allclose(got["diag"], imported(swc(mended))[0]["diag"], rtol=1e-9), "a root is as its first child")
    none = [(1, 3, 0, 0, 0, 0, -1), (2, 3, 9, 0, 0, -1, 1), (3, 3, 18, 0, 0, 2, 2)]
    got, out = imported(swc(none))
    check("nor that of a child, for which 1 um is taken: 1" in out and "neighbours are taken: 1" in out, out)
    check(np.allclose(got["diag"], imported(swc([(*p[:5], max(p[5], 1), p[6]) for p in none]))[0]["diag"], rtol=1e-9),
          "1 um where there are no radii")


def cells_are_discretised():
    points = [(1, 3, 0, 0, 0, 2, -1), (2, 3, 30, 0, 0, 2, 1), (3, 3, 30, 40, 0, 2, 2), (4, 3, 100, 0, 0, 1, 2)]
    got, out = imported(swc(points), "--max-length=10")
    check("4 points become 15 nodes" in out and len(got["diag"]) == 1 + 3 + 4 + 7, out)
    check(np.allclose(got["upper"][1:8], -0.1*math.pi*4/(150*10)), "equal pieces")
    got, out = imported(swc(points), "--per-branch=2")
    check(list(got["F/parent"]) == [-1, 0, 1, 2, 3, 2, 5] and "4 points become 7 nodes" in out, out)
    line = [(i + 1, 3, i*0.5, 0, 0, 1, i if i else -1) for i in range(101)]
    got, _ = imported(swc(line), "--max-length=25")
    whole, _ = imported(swc([(1, 3, 0, 0, 0, 1, -1), (2, 3, 25, 0, 0, 1, 1), (3, 3, 50, 0, 0, 1, 2)]))
    check(np.allclose(got["diag"], whole["diag"], rtol=1e-12), "points in between go")
    got, out = imported(swc([(1, 3, 0, 0, 0, 1, -1), (2, 3, 0.1001, 0, 0, 1, 1)]), "--max-length=0.002")
    check(len(got["diag"]) == 52 and "as so long" not in out, f"the shortest pieces: {out}")


# ---- Other formats ---------------------------------------------------------------------------------------

TSV = "# node parent u l d rhs x\n0 -1 0 0 4 1 {0}\n1 0 -1 -2 5 2 {1}\n2 0 -1 -1 3 3 {2}\n"
SOLUTION = np.linalg.solve([[4, -1, -1], [-2, 5, 0], [-1, 0, 3]], [1, 2, 3])


def tables_are_read():
    text = TSV.format(*SOLUTION)
    got, _ = imported(text, kind="tsv", suffix=".hines.tsv")
    check(list(got["lower"]) == [0, -2, -1] and np.allclose(got["reference"], SOLUTION), "tsv")
    status, out, error = pmg("hines", "solve", "in.hines.tsv", "--check", "-o", "x.npy")
    check(status == 0 and "largest error against the reference" in out and np.allclose(np.load("x.npy"), SOLUTION),
          f"{out}{error}")
    Path("off.tsv").write_text(TSV.format(SOLUTION[0], SOLUTION[1] + 1e-9, SOLUTION[2]))
    status, _, error = pmg("hines", "solve", "off.tsv", "--check")
    check(status == 6 and "off.tsv: the error is above 1e-11" in error, f"{status} {error}")
    check(pmg("hines", "solve", "off.tsv")[0] == 0, "told without --check")
    Path("nan.tsv").write_text("0 -1 0 0 1 1 1\n1 0 1e200 0 1 1e200 1\n2 0 -1e200 0 1 1e200 1\n3 -1 0 0 1 1 1\n")
    status, out, _ = pmg("hines", "solve", "nan.tsv", "--check")
    check(status == 6 and "reference inf, backward error inf eps" in out, f"no numbers: {status} {out}")
    bsc, _ = imported("3\n0 0 0 1 4 0\n1 -1 -2 2 5 0\n2 -1 -1 3 3 0\n", kind="bsc", suffix=".txt")
    check(all(np.array_equal(bsc[name], got[name]) for name in ("F/parent", "upper", "lower", "diag", "rhs")), "bsc")


def coreneuron(parents, a, b, area, v, capacity=None, version="1.5", diameters=(), mechanism=3):
    """As NEURON writes it; capacity: of the nodes with a membrane."""
    capacity = dict.fromkeys(range(len(parents)), 1.0) if capacity is None else capacity
    text = f"{version}\n" + "1 n_real_cell\n"*(version == "1.8") + \
           f"1 ngid\n1 n_real_gid\n{len(parents)} nnode\n{len(diameters)} ndiam\n2 nmech\n" \
           f"{mechanism}\n{len(capacity)}\n4\n1\n0 nidata\n0 nvdata\n0 nweight\n"
    data, numbers = text.encode(), [x for c in capacity.values() for x in (c, 0.0)]
    arrays = [(parents, "i"), (a, "d"), (b, "d"), (area, "d"), (v, "d"), (list(capacity), "i"), (numbers, "d")]
    for number, (values, code) in enumerate(arrays[:5] + [(diameters, "d")]*bool(diameters) + arrays[5:]):
        data += f"chkpnt {2 + number}\n".encode() + struct.pack(f"{len(values)}{code}", *values)
    return data + b"chkpnt 9\n\0\0\0"


def dat_files_are_read():
    a, b, v = [0, -0.3, -0.2], [0, -0.5, -0.1], [-65, -60, -55]
    data = coreneuron([0, 0, 0], a, b, [100]*3, v, {0: 1, 2: 2})
    for file, options, cm in ((data, ["--leak=1e-3", "--rest=-70"], (1, 0, 2)),
                              (coreneuron([0, 0, 0], a, b, [100]*3, v, {0: 1, 2: 2}, "1.8", [3, 3, 3]),
                               ["--leak=1e-3", "--rest=-70"], (1, 0, 2)),
                              (data, ["--leak=1e-3", "--rest=-70", "--cm=3"], (3, 0, 3))):
        Path("1_2.dat").write_bytes(file)
        status, out, error = pmg("import", "coreneuron", "1_2.dat", "-o", "out.h5", *options)
        check(status == 0 and "mechanisms beside the capacitance, which are not read: 1" in out, f"{out}{error}")
        with h5py.File("out.h5") as f:
            diag = [0.04*c + (1e-3 if c else 0) + axial for c, axial in zip(cm, (0.5, 0.5, 0.1))]
            rhs = [0.04*c*x - (0.07 if c else 0) for c, x in zip(cm, v)]
            check(list(f["F/parent"]) == [-1, 0, 0] and np.allclose(f["diag"], diag), f"dat {options}")
            check(np.allclose(f["rhs"], rhs) and np.allclose(f["upper"], a), f"dat: a, rhs {options}")
    check(pmg("hines", "solve", "1_2.dat", "--check")[0] == 0, "dat: solved")
    for end in [*range(0, len(data) - 12, 11), len(data) - 13]:
        refused(data[:end], "bad_2.dat: ", "coreneuron", suffix="_2.dat")
    for file, where in ((coreneuron([0, 2, 0], a, b, a, v), "node 1 has the parent 2"),
                        (coreneuron([0, 0, 0], [math.nan]*3, b, a, v), "a of node 0 is not finite"),
                        (coreneuron([0, 0, 0], a, b, a, v, {5: 1}), "capacitance is said of node 5"),
                        (coreneuron([0, 0, 0], a, b, a, v, {1: -1}), "the capacity of node 1 is -1"),
                        (coreneuron([0, 0, 0], a, b, a, v, {i: 1 for i in range(4)}), "too short for its number"),
                        (coreneuron([0, 0, 0], a, b, a, v, mechanism=5), "the first mechanism is not capacitance"),
                        (coreneuron([0, 0, 0], a, b, a, v, version="1.7"),
                         "line 1 (byte 4): the version is '1.7': read are 1.5, which NEURON 8.2 writes, and 1.8"),
                        (data.replace(b"chkpnt 4", b"chkpnt 9"), "the next 'chkpnt' is expected"),
                        (data.replace(b"3 nnode", b"2000000000 nnode"), "too short for its number"),
                        (data.replace(b"3 nnode", b"-3 nnode"), "line 4"), (b"1.5\n" + b"x"*1000, "line 2 (byte")):
        refused(file, where, "coreneuron", suffix="_2.dat")


# ---- Malformed files --------------------------------------------------------------------------------------

def a_place_for_the_solution_is_asked_before():
    imported("1 1 0 0 0 1 -1\n")
    for place, status, text in (("out.h5:/F", 2, "out.h5: /F: it is a group, and no place for an array\n"),
                                ("out.h5:/diag/x", 2, "out.h5: /diag: it is no group\n"),
                                ("nowhere/x.npy", 4, "nowhere/x.npy: cannot write: there is no such folder\n")):
        got, out, error = pmg("hines", "solve", "in.swc", "-o", place)
        check((got, out, error) == (status, "", f"pmg hines solve: {text}"), f"{place}: {got} {out}{error}")
    check(pmg("hines", "solve", "in.swc", "-o", "out.h5:/F/x")[0] == 0, "a group may hold one more")


def malformed_shapes_are_refused():
    good = "1 1 0 0 0 1 -1\n"
    for text, where in (("", "bad.swc: there are no points"), ("# only\n\n", "there are no points"),
                        (good + "2 3 1 0 0 1\n", "bad.swc:2: the line ends before the parent"),
                        (good + "2 3 1 0 0 1 1 9\n", "bad.swc:2: 8 columns, after lines of 7"),
                        (good + "2 3 1 0 0 x 1\n", "bad.swc:2: 'x' is not a number"),
                        (good + "2 3 1 0 nan 1 1\n", "bad.swc:2: the z is not finite"),
                        (good + "2 3 1 0 1e999 1 1\n", "bad.swc:2"),
                        (good + "2 3 inf 0 0 1 1\n", "the x is not finite"),
                        ((good + "# c\n\n2 3 1 0 0 x 1\n").replace("\n", "\r"), "bad.swc:4: 'x' is not"),
                        ((good + "# c\n\n2 3 1 0 0 x 1\n").replace("\n", "\r\n"), "bad.swc:4: 'x' is not"),
                        ("#" + "x"*65534 + "\r\nx 1 0 0 0 1 -1\n", "bad.swc:2: 'x' is not an integer"),
                        (good + "2.5 3 1 0 0 1 1\n", "bad.swc:2: '2.5' is not an integer"),
                        (good + "99999999999999999999 3 1 0 0 1 1\n", "bad.swc:2: 99999999999999999999 is out of "
                         "range: integers are from -9223372036854775808 to 9223372036854775807"),
                        (good + "-2 3 1 0 0 1 1\n", "bad.swc:2: point -2 has a negative id"),
                        (good + "2 3 1 0 0 1 -2\n", "bad.swc:2: parent -2 is neither"),
                        (good + "2 3 1 0 0 1 2\n", "bad.swc:2: point 2 is its own parent"),
                        (good + "2 3 1 0 0 1 7\n", "bad.swc:2: point 2 has the parent 7, which is not in the file"),
                        ("1 1 0 0 0 1 0\n2 3 1 0 0 1 1\n", "bad.swc:1: point 1 has the parent 0, which is not in the "
                         "file\n  help: a parent is the number of another point, or -1 where a tree begins"),
                        (good + "\n# c\n1 3 1 0 0 1 -1\n", "bad.swc:4: point 1 is there already, in line 1\n"
                         "  help: each point has a number of its own, by which others name their parent"),
                        ("1 1 0 0 0 1 2\n2 1 0 0 0 1 3\n3 1 0 0 0 1 1\n", "is an ancestor of its own"),
                        (good + "2 3 1e200 0 0 1e200 1\n", "bad.swc: the node of line 2 has the diagonal inf"),
                        (good + "2 3 0.001 0 0 1e308 1\n", "bad.swc: the node of line 2 has the off-diagonal -inf"),
                        (good + "x"*5000, "bad.swc:2: a word of 128 characters"), (b"\0"*3000, "bad.swc:1"),
                        (b"\x1f\x8b\x08\0 broken", "bad.swc:1: the compressed file")):
        refused(text, where, status=6 if "the node of" in where else 3)
    ways = ("1 1 0 0 0 1 -1\n" + "".join(f"{i} 1 {i} 0 0 1 {i - 1}\n" for i in range(2, 60001)),
            "".join(f"{i} 1 {i} 0 0 1 {i + 1}\n" for i in range(1, 60000)) + "60000 1 0 0 0 1 -1\n",
            "".join(f"{i} {1 + i % 2} {i} 0 0 1 {i - 1 if i > 1 else -1}\n" for i in range(1, 60001)))
    for way, text in enumerate(ways if IS_LONG else ways[1:2]):
        start = time.monotonic()
        for options in ([], ["--soma=sphere", "--order=depth-first", "--roots=split", "--per-branch=2"],
                        ["--convention=neuron", "--per-branch=2"], ["--convention=arbor"]):
            imported(text, *options)
        check(time.monotonic() - start < 20, f"a long file {way} takes no longer than its size")


def malformed_tables_are_refused():
    for kind, text, where in (
            ("tsv", "", "bad.txt: there are no nodes"),
            ("tsv", "0 -1 0 0 1 1\n2 0 0 0 1 1\n", "bad.txt:2: node 2 where"),
            ("tsv", "0 0 0 0 1 1\n", "bad.txt:1: node 0 has the parent 0"),
            ("tsv", "0 -1 0 0 1 1\n1 1 0 0 1 1\n", "bad.txt:2: node 1 has the parent 1"),
            ("tsv", "0 -2 0 0 1 1\n", "bad.txt:1"), ("tsv", "0 -1 0 0 1\n", "bad.txt:1: the line ends before rhs"),
            ("tsv", "0 -1 0 0 1 1 1 1\n", "bad.txt:1: there are more than 7 columns"),
            ("tsv", "0 -1 0 0 1 1 1\n1 0 0 0 1 1\n", "bad.txt:2: 6 columns, after lines of 7"),
            ("tsv", "0 -1 0 nan 1 1\n", "bad.txt:1: l is not finite"), ("tsv", "0 -1 0 q 1 1\n", "'q' is not a number"),
            ("bsc", "", "the number of nodes is missing"), ("bsc", "x\n", "bad.txt:1: 'x' is not an integer"),
            ("bsc", "0\n", "bad.txt:1: 0 is not a number of nodes"),
            ("bsc", "2 3\n", "bad.txt:1: the number of nodes stands"),
            ("bsc", "9000000000\n", "bad.txt:1"), ("bsc", "2\n0 0 0 1 1 -1\n", "ends after 1 of 2 nodes"),
            ("bsc", "1\n0 0 0 1 1 -1\n1 0 0 1 1 0\n", "bad.txt:3: there are more nodes than the 1 of the first line"),
            ("bsc", "1\n0 0 0 1 1 3\n", "bad.txt:2: node 0 has the parent 3")):
        refused(text, where, kind, suffix=".txt")


def wrong_calls_are_told():
    Path("one.swc").write_text("1 1 0 0 0 1 -1\n")
    Path("one.h5").write_text("0 -1 0 0 1 1 1\n")
    Path("good.hines.tsv").write_text("0 -1 0 0 1 1 1\n")
    Path("two.swc").write_text("1 1 0 0 0 1 -1\n2 3 9 0 0 1 1\n3 3 0 9 0 1 -1\n")
    for words, status, text in ((["import"], 2, "the kind of files is missing"),
                                (["import", "swc"], 2, "a file to read is missing"),
                                (["import", "one.swc", "-o", "x.h5"], 2, "one.swc: the kind of files is missing"),
                                (["import", "swc", "one.swc"], 2, "--output FILE.h5 is missing"),
                                (["import", "swc", "one.swc"], 2, "pmg import swc FILE.swc -o cells.h5"),
                                (["import", "swcc", "one.swc", "-o", "x.h5"], 2, "did you mean 'swc'?"),
                                (["import", "swc", "one.swc", "-o", "x.npy"], 2, "cells are an HDF5 file"),
                                (["import", "swc", "one.swc", "-o", "x.h5", "--soma=ball"], 2,
                                 "--soma=ball is no convention\n  help: there are as-drawn, three-point and sphere"),
                                (["import", "swc", "one.swc", "-o", "x.h5", "--order=deep-first"], 2,
                                 "did you mean 'depth-first'?"),
                                (["import", "swc", "one.swc", "-o", "x.h5", "--ra=0"], 2, "is not a number above 0"),
                                (["import", "swc", "one.swc", "-o", "x.h5", "--voltage=a..b"], 2, "--voltage=a"),
                                (["import", "swc", "one.swc", "-o", "x.h5", "--voltage=5..1"], 2,
                                 "--voltage=5..1: the lowest is above the highest"),
                                (["import", "swc", "one.swc", "-o", "x.h5", "--leak=-1"], 2,
                                 "--leak=-1 is not a number of 0 or more"),
                                (["import", "swc", "one.swc", "-o", "x.h5", "--max-length=0.0019"], 2,
                                 "--max-length=0.0019 is below 0.002 um: pieces below 0.001 um are taken as so long"),
                                (["import", "swc", "one.swc", "-o", "x.h5", "--max-length=1", "--per-branch=2"], 2,
                                 "exclude each other"),
                                (["import", "swc", "one.swc", "-o", "x.h5", "--convention=brian"], 2,
                                 "--convention=brian is no convention\n  help: there are points, neuron and arbor"),
                                (["import", "swc", "one.swc", "-o", "x.h5", "--convention=neuron", "--soma=sphere"], 2,
                                 "--soma has no effect with --convention=neuron"),
                                (["import", "swc", "one.swc", "-o", "x.h5", "--d-lambda=0.1"], 2,
                                 "--d-lambda is a rule of --convention=neuron"),
                                (["import", "swc", "one.swc", "-o", "x.h5", "--convention=neuron", "--d-lambda=0.1",
                                  "--per-branch=2"], 2, "--max-length, --per-branch and --d-lambda exclude"),
                                (["import", "swc", "one.swc", "-o", "x.h5", "--convention=arbor"], 3,
                                 "one.swc: Arbor reads no soma of one point"),
                                (["import", "swc", "two.swc", "-o", "x.h5", "--convention=neuron"], 3,
                                 "two.swc: there are 2 roots, and NEURON and Arbor read one"),
                                (["import", "swc", "none.swc", "-o", "x.h5"], 4, "none.swc: cannot open"),
                                (["import", "swc", "one.swc", "none.swc", "-o", "x.h5"], 4,
                                 "nothing is written to x.h5, which takes all files or none"),
                                (["import", "swc", ".", "-o", "x.h5"], 4, "cannot read"),
                                (["import", "tsv", "one.swc", "-o", "x.h5", "--systems=2"], 2,
                                 "--systems is for one file"),
                                (["hines"], 2, "a step is needed"), (["hines", "slve"], 2, "unknown step 'slve'"),
                                (["hines", "solve"], 2, "a file is needed"),
                                (["import", "tsv", "one.h5", "-o", "./one.h5"], 2, "that is the input 'one.h5'"),
                                (["hines", "solve", "off.tsv", "--format=tsv", "-o", "off.tsv"], 2,
                                 "that is the input 'off.tsv'"),
                                (["hines", "solve", "off.tsv", "--format=tsv", "-o", "x.npz"], 2,
                                 "x.npz: the format is read, not written"),
                                (["hines", "solve", "one.what"], 2, "the format is not known by its name"),
                                (["hines", "solve", "one.swc", "--format=xyz"], 2, "there is no format 'xyz'")):
        got, out, error = pmg(*words)
        check(got == status and text in error, f"{words}: {got} {out}{error}")


# ---- Real cells ---------------------------------------------------------------------------------------------

def real_cells_are_solved():
    if not DATA:
        SKIPPED.append("real cells")
        return
    every = 1 if IS_LONG else 3
    for path in sorted(Path(DATA, "hines").glob("*.tsv"))[::every]:
        status, out, error = pmg("hines", "solve", str(path), "--check")
        check(status == 0, f"{path.name}: {out}{error}")
        shape = Path(DATA, "swc", path.name.replace(".hines.tsv", ".swc"))
        rows = np.loadtxt(path)
        got, _ = imported(shape.read_text())
        check(np.allclose(sorted(got["diag"]), sorted(rows[:, 4]), rtol=1e-12), f"{path.name}: the diagonal")
    for path in sorted(Path(DATA, "swc").glob("*.swc")):
        status, out, error = pmg("import", "swc", str(path), "-o", "real.h5")
        if path.name == "Neuron_missing_parents.swc":
            check(status == 3 and "Neuron_missing_parents.swc:40: point 6 has the parent 5" in error, error)
        else:
            check(status == 0 and f"{len(np.loadtxt(path))} nodes" in out, f"{out}{error}")


def main():
    os.environ["PMG_HOME"] = os.environ.get("PMG_HOME", str(Path.cwd()))
    with tempfile.TemporaryDirectory() as folder:
        os.environ["XDG_CACHE_HOME"] = folder + "/cache"
        os.chdir(folder)
        for question in (shapes_become_matrices, nodes_know_their_points, ids_and_order_do_not_matter,
                         somata_have_conventions, several_roots_have_conventions, several_trees_are_not_one,
                         the_other_import_is_told, zero_pivots_are_of_a_file,
                         bad_files_do_not_keep_others_from_being_solved, radii_and_lengths_are_mended,
                         cells_are_discretised, options_are_for_their_files, tables_are_read, dat_files_are_read,
                         a_place_for_the_solution_is_asked_before,
                         malformed_shapes_are_refused, malformed_tables_are_refused, wrong_calls_are_told,
                         real_cells_are_solved):
            question()
        os.chdir("/")
    print(f"{len(PASSED)} passed, {len(FAILED)} failed" + (f", {len(SKIPPED)} skipped" if SKIPPED else ""))
    return 1 if FAILED else 0


sys.exit(main())
