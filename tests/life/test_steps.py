#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pmg life predict`, `evaluate`, `export` and `import` against NumPy and nibabel, on made-up problems and on the
real ones of PMG_TEST_DATA; and a message for each input that is wrong."""
import json
import re
import struct
import sys
import tempfile
import zipfile
from pathlib import Path

import h5py
import nibabel
import numpy as np

from problems import Problem, Stored, write
from scans import AFFINE, DATA, RESULTS, Scan, check, close, life, run, tck_bytes, trk_bytes

USAGE, WRONG, IO = 2, 3, 4


def refused(status, text, *words):
    done = life(*words)
    check(done.returncode == status and text in done.stdout, f"{words}: status {done.returncode}: {done.stdout}")


def number(out, line, word=".*:"):
    """The number behind a word of a line."""
    found = re.search(rf"^{line}.*?{word} +([-+.e\d]+)", out, re.M)
    check(found is not None, f"{line}, {word}: {out}")
    return float(found[1]) if found else np.nan


def near(got, wanted, what):
    check(abs(got - wanted) <= 1e-8*abs(wanted), f"{what}: {got} instead of {wanted}")


def measured(problem, rng):
    """A signal and its S0 that give y in the convention of dipy."""
    S0 = rng.uniform(500, 1000, len(problem.b))
    mean = rng.uniform(0.3, 0.6, len(problem.b))
    problem.b -= problem.b.mean(1)[:, None]
    return S0, (problem.b + mean[:, None])*S0[:, None]


def predicts(folder, problem, w, S0, signal):
    prediction = (problem.M @ w).reshape(problem.b.shape)
    run("predict", folder/"p.h5", folder/"w.txt", "-o", folder/"plain.npy")
    check(np.allclose(np.load(folder/"plain.npy"), prediction, rtol=1e-12, atol=1e-12), "M w")
    run("predict", folder/"p.h5", folder/"w.txt", "-o", folder/"p.h5", "--measured")
    with h5py.File(folder/"p.h5") as file:
        wanted = signal.mean(1)[:, None] + S0[:, None]*prediction
        check(np.allclose(file["prediction"][:], wanted, rtol=1e-10), "as measured, in the file of the problem")
    write(folder/"bare.h5", problem)
    refused(WRONG, "--measured needs /signal", "predict", folder/"bare.h5", folder/"w.txt", "-o", folder/"x.npy",
            "--measured")
    return prediction


def evaluates(folder, problem, w, S0, prediction, rng):
    rmse = S0*np.sqrt(np.mean((prediction - problem.b)**2, axis=1))
    again = problem.b + 0.3*rng.normal(size=problem.b.shape)
    again -= again.mean(1)[:, None]
    write(folder/"again.h5", problem, y=again, signal=again*S0[:, None], S0=S0)
    cut = [1, 4, 7]
    np.savetxt(folder/"cut.txt", cut, "%d")
    out = run("evaluate", folder/"p.h5", folder/"w.txt", "--repeat", folder/"again.h5", "--lesion", folder/"cut.txt",
              "--voxels", folder/"rmse.npy")
    near(number(out, "objective"), 0.5*np.sum((prediction - problem.b)**2), "objective")
    near(number(out, "RMSE", "mean"), rmse.mean(), "mean RMSE")
    near(number(out, "RMSE", "median"), np.median(rmse), "median RMSE")
    check(np.allclose(np.load(folder/"rmse.npy"), rmse, rtol=1e-10), "RMSE by voxel")
    check(f" {np.count_nonzero(w)} of {len(w)} fibers" in out, out)
    near(number(out, "weights above 0", "sum"), w.sum(), "sum of weights")
    decades = np.floor(np.log10(w[w > 0])).astype(int)
    told = {int(d): int(n) for d, n in re.findall(r"^  from 1e(\S+) +(\d+) fibers", out, re.M)}
    check(told == {d: int((decades == d).sum()) for d in np.unique(decades)}, f"histogram: {out}")
    ratio = np.sqrt(np.mean((prediction - again)**2, 1)/np.mean((problem.b - again)**2, 1))
    near(number(out, "Rrmse", "median"), np.median(ratio), "Rrmse")
    lesioned = np.where(np.isin(np.arange(len(w)), cut), 0, w)
    other = S0*np.sqrt(np.mean(((problem.M @ lesioned).reshape(problem.b.shape) - problem.b)**2, axis=1))
    path = np.unique(problem.voxel[np.isin(problem.fiber, cut)])
    a, b = rmse[path], other[path]
    near(number(out, "lesion", "mean RMSE"), a.mean(), "RMSE along the path")
    near(number(out, "strength"), (b.mean() - a.mean())/np.sqrt(a.var(ddof=1) + b.var(ddof=1)), "S")
    near(number(out, "earth"), np.abs(np.sort(a) - np.sort(b)).mean(), "earth mover's distance")


def exports(folder, scan):
    w = np.where(np.arange(len(scan.lines)) % 3 == 0, 0, np.linspace(0.1, 4, len(scan.lines)))
    np.save(folder/"tracks.npy", w)
    run("export", folder/"tracks.npy", "-o", folder/"out.txt")
    check(np.array_equal(np.loadtxt(folder/"out.txt"), w), "weights as text keep all digits")
    folder.joinpath("scan.trk").write_bytes(trk_bytes(scan.lines))
    for suffix in "tck", "trk", "trx":
        out = run("export", folder/"tracks.npy", "--tracks", folder/"scan.tck", "--pruned", folder/f"pruned.{suffix}",
                  "--above=0.5")
        kept = np.flatnonzero(w > 0.5)
        check(f"{len(kept)} of {len(w)} streamlines" in out, out)
        if suffix != "trx":
            read = nibabel.streamlines.load(folder/f"pruned.{suffix}")
            same = len(read.streamlines) == len(kept) and all(
                np.allclose(a, scan.lines[k], atol=1e-4) for a, k in zip(read.streamlines, kept))
            check(same, f"pruned.{suffix}")
        if suffix == "trk":
            numbers = next(iter(read.tractogram.data_per_streamline.values()))
            check(np.allclose(np.ravel(numbers), w[kept], rtol=1e-6), "weights in a .trk")
        scan.encode(f"{suffix}.h5", tracks=f"pruned.{suffix}")
    with h5py.File(folder/"tck.h5") as a, h5py.File(folder/"trx.h5") as b:
        check(np.array_equal(a["voxel_coords"], b["voxel_coords"]), "the .trx has the same streamlines")
    folder.joinpath("bare.tck").write_bytes(tck_bytes([np.zeros((0, 3))]*2))
    np.save(folder/"two.npy", [1.0, 0])
    run("export", folder/"two.npy", "--tracks", folder/"bare.tck", "--pruned", folder/"one.tck")
    check(folder.joinpath("one.tck").read_bytes()[-24:] == tck_bytes([np.zeros((0, 3))])[-24:], "no points at all")


def prunes(folder, scan):
    """What a .trk has beside its streamlines is kept, in either byte order; the grid goes to other formats, too."""
    rng = np.random.default_rng(7)
    grid = {"dimensions": (8, 9, 10), "voxel_sizes": (2, 2, 2), "voxel_to_rasmm": AFFINE, "voxel_order": "PLI"}
    lines = [np.float32(line) for line in scan.lines]
    data = {"mean": rng.normal(size=(40, 1)), "end": rng.normal(size=(40, 3))}
    points = {"fa": [rng.normal(size=(len(line), 1)) for line in lines]}
    tractogram = nibabel.streamlines.Tractogram(lines, data, points, affine_to_rasmm=np.eye(4))
    nibabel.streamlines.TrkFile(tractogram, grid).save(str(folder/"rich.trk"))
    folder.joinpath("swapped.trk").write_bytes(swapped_trk(folder.joinpath("rich.trk").read_bytes()))
    w = np.where(np.arange(40) % 3 == 0, 0, rng.uniform(0.1, 4, 40))
    np.save(folder/"rich.npy", w)
    kept = np.flatnonzero(w)
    np.save(folder/"kept.npy", 2*w[kept])
    whole = nibabel.streamlines.load(folder/"rich.trk")
    for count in "5000000", str(2**63 - 1):      # a name for more properties than there are, and "weight" behind them
        head = bytearray(folder.joinpath("rich.trk").read_bytes())
        head[240:280] = f"mean\0{count}".encode().ljust(20, b"\0")[:20] + b"weight".ljust(20, b"\0")
        folder.joinpath("names.trk").write_bytes(head)
        run("export", folder/"rich.npy", "--tracks", folder/"names.trk", "--pruned", folder/"less.trk")
        less = folder.joinpath("less.trk").read_bytes()
        n = struct.unpack_from("<h", head, 238)[0]
        check(less[238:280] == struct.pack("<h", n + 1) + head[240:280] and
              struct.unpack_from("<f", less, len(less) - 4)[0] == np.float32(w[kept[-1]]), f"names for {count}")
    for name in "rich", "swapped":
        run("export", folder/"rich.npy", "--tracks", folder/f"{name}.trk", "--pruned", folder/"less.trk")
        run("export", folder/"kept.npy", "--tracks", folder/"less.trk", "--pruned", folder/"again.trk")
        for file, factor in ("less", 1), ("again", 2):
            less = nibabel.streamlines.load(folder/f"{file}.trk")
            same = all(np.array_equal(a, whole.streamlines[k]) for a, k in zip(less.streamlines, kept))
            check(same and len(less.streamlines) == len(kept), f"{name}, {file}: points to the bit")
            got, wanted = less.tractogram, whole.tractogram
            check(all(np.array_equal(got.data_per_streamline[key], wanted.data_per_streamline[key][kept])
                      for key in data), f"{name}, {file}: properties")
            check(all(np.array_equal(a, wanted.data_per_point["fa"][k])
                      for a, k in zip(got.data_per_point["fa"], kept)), f"{name}, {file}: scalars")
            check(np.allclose(got.data_per_streamline["weight"].ravel(), factor*w[kept], rtol=1e-6) and
                  set(got.data_per_streamline) == {"mean", "end", "weight"}, f"{name}, {file}: weights")
            check(all(np.array_equal(less.header[key], whole.header[key]) for key in
                      ("dimensions", "voxel_sizes", "voxel_to_rasmm", "voxel_order")), f"{name}, {file}: header")
    out = run("export", folder/"rich.npy", "--tracks", folder/"rich.trk", "--pruned", folder/"less.trx")
    check("scalars and properties of" in out and "are left out" in out, out)
    with zipfile.ZipFile(folder/"less.trx") as archive:
        header = json.loads(archive.read("header.json"))
    on_grid = header["VOXEL_TO_RASMM"] == AFFINE.tolist() and header["DIMENSIONS"] == [8, 9, 10]
    check(on_grid, f"the grid in a .trx: {header}")
    run("export", folder/"kept.npy", "--tracks", folder/"less.trx", "--pruned", folder/"back.trk")
    run("export", folder/"rich.npy", "--tracks", folder/"scan.tck", "--pruned", folder/"grid.trk", "--reference",
        folder/"scan.nii.gz")
    for name, extent in ("back", (8, 9, 10)), ("grid", (8, 8, 8)):
        read = nibabel.streamlines.load(folder/f"{name}.trk")
        check(tuple(read.header["dimensions"]) == extent and np.array_equal(read.header["voxel_to_rasmm"], AFFINE) and
              read.header["voxel_order"] == b"ALS" and np.array_equal(read.header["voxel_sizes"], (2, 2, 2)),
              f"{name}: the grid in a .trk")
        check(all(np.allclose(a, lines[k], atol=1e-5) for a, k in zip(read.streamlines, kept)), f"{name}: points")


def swapped_trk(data):
    """Of the other byte order: all is of four bytes, but for some fields of the header and letters."""
    words = np.frombuffer(data, "<u4").byteswap().tobytes()
    head = bytearray(data[:1000])
    for at, size, n in (6, 2, 3), (12, 4, 6), (36, 2, 1), (238, 2, 1), (440, 4, 16), (988, 4, 3):
        head[at:at + size*n] = np.frombuffer(data[at:at + size*n], f"<u{size}").byteswap().tobytes()
    return bytes(head) + words[1000:]


def mistakes(folder):
    p, w = folder/"p.h5", folder/"w.txt"
    np.save(folder/"short.npy", np.ones(3))
    np.save(folder/"real.npy", np.ones(3)/2)
    np.save(folder/"far.npy", np.array([2, 30]))
    np.save(folder/"lonely.npy", np.array([29]))
    folder.joinpath("words.txt").write_text("1 2 three\n")
    for status, text, *words in [
            (USAGE, "a problem", "predict", p, "-o", "x.npy"), (USAGE, "a problem", "predict", p, w),
            (WRONG, "its shape is [3]", "predict", p, folder/"short.npy", "-o", folder/"x.npy"),
            (USAGE, "the input of this step", "predict", p, w, "-o", f"{p}:/D"),
            (USAGE, "unknown format", "predict", p, w, "-o", folder/"x.xyz"),
            (IO, "none.h5", "predict", folder/"none.h5", w, "-o", folder/"x.npy"),
            (USAGE, "a problem and its weights", "evaluate", p), (WRONG, "three", "evaluate", p, folder/"words.txt"),
            (WRONG, "a list of numbers of fibers", "evaluate", p, w, "--lesion", folder/"real.npy"),
            (WRONG, "there is no fiber 30", "evaluate", p, w, "--lesion", folder/"far.npy"),
            (WRONG, "through no voxel", "evaluate", p, w, "--lesion", folder/"lonely.npy"),
            (WRONG, "equal in each voxel", "evaluate", p, w, "--repeat", p),
            (IO, "none.h5", "evaluate", p, w, "--repeat", folder/"none.h5"),
            (USAGE, "weights are needed", "export"), (USAGE, "--output or --pruned", "export", w),
            (USAGE, "go together", "export", w, "--tracks", folder/"scan.tck"),
            (USAGE, "--above=x", "export", w, "--tracks", folder/"scan.tck", "--pruned", folder/"x.tck", "--above=x"),
            (WRONG, "it has 40 streamlines, there are 30 weights", "export", w, "--tracks", folder/"scan.tck",
             "--pruned", folder/"x.tck"),
            (USAGE, "predict", "predicct"), (USAGE, "a step is needed",),
    ]:
        refused(status, text, *words)
    check(not folder.joinpath("x.npy").exists() and not folder.joinpath("x.tck").exists(), "nothing is written")


def imports(folder, problem):
    """The parts of a problem, counted from 1 and from 0, give it again."""
    entries = np.column_stack([problem.atom, problem.voxel, problem.fiber])
    np.savetxt(folder/"phi.tns", np.column_stack([entries + 1, problem.value]), "%d %d %d %.17g")
    np.save(folder/"D.npy", problem.D)
    problem.b.tofile(folder/"y.f64")
    parts = [f"--dictionary={folder/'D.npy'}", f"--y={folder/'y.f64'}[40,16]"]
    for phi in folder/"phi.tns", f"{folder/'p.h5'}:/PHI":
        out = run("import", phi, *parts, "--fibers=30", "-o", folder/"again.h5")
        check("30 fibers, 40 voxels, 16 directions, 20 atoms, 600 coefficients" in out, out)
        with h5py.File(folder/"again.h5") as file:
            same = np.array_equal(file["PHI/voxel"], problem.voxel) and np.array_equal(file["PHI/value"], problem.value)
            check(same and np.array_equal(file["D"], problem.D) and np.array_equal(file["y"], problem.b), f"{phi}")
    folder.joinpath("two.tns").write_text("1 2 3.5\n")
    np.save(folder/"narrow.npy", problem.D[:, 1:])
    np.save(folder/"few.npy", problem.D[:3])
    for status, text, *words in [
            (USAGE, "holds no dictionary; --dictionary is needed", folder/"phi.tns"),
            (WRONG, "of three modes", folder/"two.tns", *parts), (WRONG, "sparse tensor", folder/"D.npy", *parts),
            (WRONG, "a row for each voxel", folder/"phi.tns", parts[0], f"--y={folder/'y.f64'}"),
            (WRONG, "no problem", folder/"phi.tns", f"--dictionary={folder/'narrow.npy'}", parts[1]),
            (WRONG, "/PHI/atom[", folder/"phi.tns", f"--dictionary={folder/'few.npy'}", parts[1]),
            (WRONG, "/PHI/fiber[", folder/"phi.tns", *parts, "--fibers=3"),
            (IO, "none.tns", folder/"none.tns", *parts),
    ]:
        refused(status, text, "import", *words, "-o", folder/"bad.h5")
    check(not folder.joinpath("bad.h5").exists(), "nothing is written")


def real(folder):
    """The RMSE of the exact optimum in each voxel is the stored one."""
    base = DATA/"small64"
    if not base.is_dir():
        RESULTS["skipped"] += 1
        return
    stored = Stored(base/"det")
    S0 = np.loadtxt(base/"det_s0.txt")
    write(folder/"real.h5", stored, signal=(stored.b + 0.5)*S0[:, None], S0=S0)
    run("evaluate", folder/"real.h5", base/"det_weights_nnls.txt", "--voxels", folder/"real.npy")
    wanted = np.loadtxt(base/"det_rmse_voxel.txt")[:, 4]
    check(np.allclose(np.load(folder/"real.npy"), wanted, rtol=1e-6), "RMSE of the real case")


def main():
    rng = np.random.default_rng(3)
    problem = Problem(4)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        scan = Scan(folder)
        w = np.maximum(rng.normal(size=problem.n_fibers), 0)*10.0**rng.integers(-3, 2, problem.n_fibers)
        np.savetxt(folder/"w.txt", w)
        S0, signal = measured(problem, rng)
        write(folder/"p.h5", problem, signal=signal, S0=S0)
        prediction = predicts(folder, problem, w, S0, signal)
        evaluates(folder, problem, w, S0, prediction, rng)
        exports(folder, scan)
        prunes(folder, scan)
        imports(folder, problem)
        mistakes(folder)
        real(folder)
    return close()


sys.exit(main())
