#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pmg life import`: each form in which other software keeps a LiFE model gives the same matrix, signal and voxels; the
readers of .mat and .npz give arrays to other commands, too."""
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np
import scipy.io
import scipy.sparse

from exports import Commit, fe_parts, plain_arrays, save_fe, save_mat73
from problems import Problem
from scans import DATA, PMG, RESULTS, check, close, run
from transcript import matrix


def imported(path):
    """The matrix, y and the file's other arrays."""
    with h5py.File(path) as file:
        others = {name: file[name][:] for name in file if isinstance(file[name], h5py.Dataset)}
        phi = {name: file["PHI"][name][:] for name in file["PHI"]}
        sizes = file["PHI"].attrs["shape"]
    y = others.pop("y")
    M = matrix(phi["atom"], phi["voxel"], phi["fiber"], phi["value"], others["D"], len(y), int(sizes[2]))
    return M, y, others


def same(what, path, wanted, y):
    M, found, others = imported(path)
    check(M.shape == wanted.shape and np.abs(M - wanted).max() < 1e-12, f"{what}: the matrix")
    check(found.shape == y.shape and np.abs(found - y).max() < 1e-12, f"{what}: y")
    return others


def structures(folder, problem):
    """`fe` of versions 5, 7 and 7.3, with Phi as an object or a structure."""
    parts, y = fe_parts(problem, np.random.default_rng(8))
    files = {"object, version 7": lambda path: save_fe(path, parts),
             "object, version 5": lambda path: save_fe(path, parts, compress=False),
             "structure": lambda path: save_fe(path, parts, is_object=False),
             "object, version 7.3": lambda path: save_mat73(
                 path, {f"fe/{name}": array for name, array in parts.items()}, {"fe/life/M/Phi": "sptensor"}),
             "another name": lambda path: save_fe(path, parts, name="saved")}
    for what, make in files.items():
        make(folder/"fe.mat")
        source = f"{folder/'fe.mat'}:/saved" if what == "another name" else folder/"fe.mat"
        out = run("import", source, "-o", folder/"fe.h5")
        check("30 fibers, 40 voxels, 16 directions, 20 atoms, 600 coefficients" in out, out)
        others = same(what, folder/"fe.h5", problem.M, y)
        check(np.array_equal(others["signal"], parts["life/diffusion_signal_img"]) and
              np.allclose(others["S0"], parts["life/diffusion_S0_img"].mean(1)) and
              np.array_equal(others["orientations"], parts["life/M/orient"].T) and
              np.array_equal(others["directions"], parts["life/bvecs"]) and
              np.array_equal(others["voxel_coords"], parts["roi/coords"] - 1), f"{what}: what else is known")
        folder.joinpath("fe.h5").unlink()
    np.save(folder/"y.npy", problem.b)
    save_fe(folder/"fe.mat", {name: array for name, array in parts.items() if "signal" not in name})
    run("import", folder/"fe.mat", "--y", folder/"y.npy", "-o", folder/"fe.h5")
    same("--y", folder/"fe.h5", problem.M, problem.b)


def replaced(folder, problem):
    """Nothing is left of a problem that was there: of these sizes or of others."""
    parts, _ = fe_parts(problem, np.random.default_rng(8))
    save_fe(folder/"fe.mat", parts)
    for n in len(problem.b), len(problem.b) - 3:
        run("import", folder/"fe.mat", "-o", folder/"old.h5")
        rows = n*problem.b.shape[1]
        scipy.sparse.save_npz(folder/"M.npz", problem.M[:rows])
        np.save(folder/"y.npy", problem.b[:n])
        run("import", folder/"M.npz", "--y", folder/"y.npy", "-o", folder/"old.h5")
        check(set(same(f"{n} voxels", folder/"old.h5", problem.M[:rows], problem.b[:n])) == {"D"}, "what is left")
        folder.joinpath("w.txt").write_text("1\n"*problem.n_fibers)
        check("RMSE, units of y" in run("evaluate", folder/"old.h5", folder/"w.txt"), "the units")


def with_mean(folder, problem):
    """Told of: what a dictionary without means cannot explain; not of rounding, nor of a dictionary with means."""
    def put(D, y):
        for name, array in ("D", D), ("y", y):
            np.save(folder/f"{name}.npy", array)
        np.savetxt(folder/"phi.tns", np.column_stack([problem.atom + 1, problem.voxel + 1, problem.fiber + 1,
                                                      problem.value]), fmt=["%d", "%d", "%d", "%.17g"])
        words = ["import", folder/"phi.tns", f"--dictionary={folder/'D.npy'}", "-o", folder/"mean.h5"]
        return run(*words, f"--y={folder/'y.npy'}")
    D, y = (a - a.mean(1, keepdims=True) for a in (problem.D, problem.b))
    high = y.copy()
    high[3] += 50
    check("warning" not in put(D, y.astype("f4")) and "warning" not in put(problem.D, high), "no warning")
    told = "y.npy: voxel 3 of signal 0 has the mean 50, which the dictionary"
    check(told in put(D, high), "import: a mean")


def arrays(folder, problem):
    """Plain arrays: the same names in each format."""
    plain = plain_arrays(problem)
    scipy.io.savemat(folder/"plain.mat", plain)
    save_mat73(folder/"plain73.mat", plain)
    np.savez_compressed(folder/"plain.npz", **{name: np.ravel(array) if name != "DictSig" else array
                                               for name, array in plain.items()})
    np.savez(folder/"ours.npz", atom=problem.atom, voxel=problem.voxel, fiber=problem.fiber.astype(">i8"),
             value=problem.value, D=np.asfortranarray(problem.D), y=problem.b,
             shape=[len(problem.D), len(problem.b), problem.n_fibers])
    with h5py.File(folder/"plain.h5", "w") as file:
        for name, array in plain.items():
            file[name] = array
    scipy.io.savemat(folder/"one.mat", {name: array + 1 if name in ("atoms", "voxels", "fibers") else array
                                        for name, array in plain.items()})
    for name, *flags in ("plain.mat",), ("plain73.mat",), ("plain.npz",), ("ours.npz",), ("plain.h5",), (
            "one.mat", "--one-based"):
        run("import", folder/name, *flags, "-o", folder/"plain-problem.h5")
        same(name, folder/"plain-problem.h5", problem.M, problem.b)
        folder.joinpath("plain-problem.h5").unlink()


def matrices(folder, problem):
    """An explicit matrix, as dipy has it."""
    np.save(folder/"y.npy", problem.b)
    for kind in "coo", "csr", "csc":
        scipy.sparse.save_npz(folder/f"{kind}.npz", problem.M.asformat(kind), compressed=kind != "csr")
        out = run("import", folder/f"{kind}.npz", "--y", folder/"y.npy", "-o", folder/"matrix.h5")
        same(kind, folder/"matrix.h5", problem.M, problem.b)
        check("30 fibers, 40 voxels, 16 directions" in out, out)
        folder.joinpath("matrix.h5").unlink()


def commit(folder):
    folder.mkdir()
    model = Commit(folder)
    run("import", *model.words(), "-o", folder/"commit.h5")
    same("COMMIT", folder/"commit.h5", model.M, model.y)
    run("import", *model.words(hindered=None, isotropic=None), "-o", folder/"streamlines.h5")
    same("COMMIT without other compartments", folder/"streamlines.h5", model.M[:, :14], model.y)


def elsewhere(folder):
    """`pmg inspect` and `pmg convert` on .mat and .npz."""
    def pmg(*words):
        done = subprocess.run([PMG, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                              check=False)
        check(done.returncode == 0, f"pmg {words}: {done.stdout}")
        return done.stdout
    sample = np.arange(24).reshape(2, 3, 4)
    for name, kind in ("i1", np.int8), ("u2", np.uint16), ("f4", np.float32), ("i8", np.int64), ("b1", bool):
        scipy.io.savemat(folder/"a.mat", {"a": sample.astype(kind), "t": "text"}, do_compression=name == "u2")
        pmg("convert", folder/"a.mat", folder/"a.npy")
        check(np.array_equal(np.load(folder/"a.npy"), sample.astype(kind)), f"a .mat of {name}")
    np.savez(folder/"two.npz", a=sample, b=sample*2.5)
    pmg("convert", f"{folder/'two.npz'}:b", folder/"b.npy")
    check(np.array_equal(np.load(folder/"b.npy"), sample*2.5), "an array of two in an .npz")
    out = pmg("inspect", folder/"two.npz", folder/"fe.mat")
    check("/fe/life/M/Phi/subs" in out and "/fe/life/M/tracks" in out and "a cell array" in out and "2.5" not in out,
          out)
    scipy.sparse.save_npz(folder/"s.npz", scipy.sparse.coo_matrix(([1.5, 2], ([0, 3], [2, 1])), shape=(5, 4)))
    pmg("convert", folder/"s.npz", folder/"s.mtx")
    check(np.array_equal(scipy.io.mmread(folder/"s.mtx").toarray(), scipy.sparse.load_npz(folder/"s.npz").toarray()),
          "a sparse matrix as .mtx")


def real(folder):
    """The stored structures of PMG_TEST_DATA, whose y is relative."""
    for case, kind in ("small25", "eudx"), ("small64", "det"):
        path = DATA/case/f"{kind}_fe_like.mat"
        if not path.exists():
            RESULTS["skipped"] += 1
            continue
        run("import", path, f"--y={path}:/fe/life/dSig_relative_demeaned", "-o", folder/f"{kind}.h5")
        D = np.fromfile(DATA/case/f"{kind}_dict.f64")
        y = np.fromfile(DATA/case/f"{kind}_y.f64")
        with h5py.File(folder/f"{kind}.h5") as file:
            check(np.array_equal(file["D"][:].ravel(), D) and np.array_equal(file["y"][:].ravel(), y), f"{kind}: D, y")
            phi = np.loadtxt(DATA/case/f"{kind}_phi.tsv.gz")
            stored = np.column_stack([file["PHI"][name][:] for name in ("atom", "voxel", "fiber", "value")])
            check(np.array_equal(stored[np.lexsort(stored.T)], phi[np.lexsort(phi.T)]), f"{kind}: Phi")


def main():
    problem = Problem(2)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        structures(folder, problem)
        replaced(folder, problem)
        with_mean(folder, problem)
        arrays(folder, problem)
        matrices(folder, problem)
        commit(folder/"COMMIT")
        elsewhere(folder)
        real(folder)
    return close()


sys.exit(main())
