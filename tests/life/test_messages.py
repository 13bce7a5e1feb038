#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What each step of `pmg life` says to input that is wrong, to the letter: messages.txt has the exit status and the
message for each row below. No crash, no silence, no output left behind. PMG_UPDATE=1 writes the file anew.
Its C is not optimised.
With sanitizers only for --long: other tests of its steps have them."""
import os
import re
import shutil
import struct
import sys
import tempfile
import zipfile
from pathlib import Path

import h5py
import nibabel
import numpy as np
import scipy.io
import scipy.sparse

from exports import Commit, as_object, fe_parts, nested, plain_arrays, save_fe, save_mat73, save_opaque_fe
from problems import Problem, write
from scans import AFFINE, RESULTS, Scan, TRACKS, check, close, life, tck_bytes, trk_bytes

GOLDEN = Path(__file__).with_name("messages.txt")
STATUSES = (2, 3, 4, 5, 6)
LEAST = 60


class Table:
    """Rows: a name that begins with the step, and the words of the command."""

    def __init__(self, folder):
        self.folder = folder
        self.rows = {}

    def row(self, name, *words):
        assert name not in self.rows, name
        self.rows[name] = [name.split()[0], *words]

    def put(self, name, data):
        path = self.folder/name
        path.write_bytes(data if isinstance(data, bytes) else data.encode())
        return path

    def save(self, name, array):
        np.save(self.folder/name, array)
        return self.folder/name


def bent(array, at, value):
    copy = np.array(array)
    copy[at] = value
    return copy


# ---- encode ----------------------------------------------------------------------------------------------------


def encode(table):
    scan = Scan(table.folder)
    files = {"tracks": "scan.tck", "dwi": "scan.nii.gz", "bvals": "scan.bval", "bvecs": "scan.bvec",
             "sphere": "sphere.npy"}

    def row(name, *flags, to="bad.h5", **changes):
        words = [f"--{option}={scan.path(file)}" for option, file in {**files, **changes}.items() if file]
        table.row(f"encode {name}", *words, *flags, "-o", scan.path(to))

    good, head = tck_bytes(scan.lines), "mrtrix tracks\ndatatype: Float32LE\nfile: . 100\nEND\n"
    for name, data in {
            "magic": good.replace(b"mrtrix", b"matrix"), "no END": good.replace(b"END\n", b"END:"),
            "type": tck_bytes(scan.lines, header=head.replace("32LE", "16LE")),
            "offset": tck_bytes(scan.lines, header=head.replace(". 100", ". 10")),
            "cut": good[:2000], "NaN": good[:112] + struct.pack("<f", np.nan) + good[116:], "nothing": b""}.items():
        table.put(f"{name}.tck", data)
        row(f".tck, {name}", tracks=f"{name}.tck")
    good = trk_bytes(scan.lines)
    for name, data in {
            "cut header": good[:500], "magic": trk_bytes(scan.lines, magic=b"TRUCK"),
            "size": trk_bytes(scan.lines, size=struct.pack("<3f", 1, 0, 1)),
            "order": trk_bytes(scan.lines, order=b"RRS"), "too few": trk_bytes(scan.lines, count=41),
            "points": good[:1000] + struct.pack("<i", 10**9) + good[1004:],
            "infinite": good[:1004] + struct.pack("<f", np.inf) + good[1008:]}.items():
        table.put(f"{name}.trk", data)
        row(f".trk, {name}", tracks=f"{name}.trk")
    points = np.concatenate(scan.lines).astype("<f4")
    offsets = np.cumsum([0] + [len(s) for s in scan.lines]).astype("<u4")
    members = {"header.json": f'{{"NB_VERTICES": {len(points)}, "NB_STREAMLINES": {len(scan.lines)}}}',
               "positions.3.float32": points.tobytes(), "offsets.uint32": offsets.tobytes()}
    for name, changes in {
            "no header": {"header.json": None}, "empty header": {"header.json": "{}"},
            "fewer points": {"positions.3.float32": points[:-1].tobytes()},
            "descending": {"offsets.uint32": bent(offsets, 3, 5).tobytes()},
            "NaN": {"positions.3.float32": bent(points, 7, np.nan).tobytes()}}.items():
        with zipfile.ZipFile(scan.path(f"{name}.trx"), "w") as archive:
            for member, data in {**members, **changes}.items():
                if data is not None:
                    archive.writestr(member, data)
        row(f".trx, {name}", tracks=f"{name}.trx")
    table.put("no zip.trx", b"PK nothing")
    row(".trx, no zip", tracks="no zip.trx")
    image = nibabel.Nifti1Image(scan.data, AFFINE).to_bytes()
    for name, data in {"empty": b"", "noise": b"noise"*100, "cut": image[:5000],
                       "size": image[:42] + struct.pack("<h", 0) + image[44:],
                       "type": image[:70] + struct.pack("<hh", 128, 24) + image[74:]}.items():
        table.put(f"{name}.nii", data)
        row(f".nii, {name}", dwi=f"{name}.nii")
    table.put("nan.bval", " ".join(["nan" if v == 4 else "1000" for v in range(22)]))
    np.savetxt(scan.path("few.bval"), scan.bvals[None, :-1])
    np.savetxt(scan.path("long.bvec"), 2*scan.bvecs.T)
    np.savetxt(scan.path("list.bvec"), scan.bvecs.ravel())
    row("b-value NaN", bvals="nan.bval")
    row("too few b-values", bvals="few.bval")
    np.savetxt(scan.path("small.bval"), scan.bvals[None]/1000)
    row("b-values in ms/um2", bvals="small.bval")
    row("b-values in ms/um2, encode", "--convention=encode", bvals="small.bval")
    np.savetxt(scan.path("metres.bval"), scan.bvals[None]*1e6)
    row("b-values in s/m2", bvals="metres.bval")
    table.put("commas.bval", ",".join(str(b) for b in scan.bvals))
    row("b-values with commas", bvals="commas.bval")
    table.put("decimal.bval", " ".join(str(b).replace(".", ",") for b in scan.bvals))
    row("b-values with decimal commas", bvals="decimal.bval")
    table.put("zeros.bval", "0 "*22)
    row("b-values of 0", bvals="zeros.bval")
    row("b-values and directions swapped", bvals="scan.bvec", bvecs="scan.bval")
    row("long directions", bvecs="long.bvec")
    row("directions as a list", bvecs="list.bvec")
    row("missing scan", dwi="none.nii")
    row("no tracks", tracks=None)
    row("convention", "--convention=dippy")
    row("tensor", "--tensor=-1,0")
    row("tensor of a ball", "--tensor=0.001,0.001")
    row("tensor of nearly a ball", "--tensor=0.001,0.00099")
    row("tensor in um2/ms", "--tensor=1.7,0.2")
    row("tensor in mm2/s, encode", "--convention=encode", "--tensor=0.0017,0.0002")
    row("tensor in m2/s", "--tensor=1.7e-9,0.2e-9")
    row("tensor in m2/s, encode", "--convention=encode", "--tensor=1.7e-9,0.2e-9")
    row("memory", "--max-mem=100K")
    row("memory in bytes", "--max-mem=90kB")
    for memory in "lots", "4GG", "4GiBs", "-1G", "iB", "1e30T":
        row(f"memory {memory}", f"--max-mem={memory}")
    for name in "bval=x", "tens=1", "max-memory=1G", "convention-name=dipy", "xyz=1":
        row(f"option --{name}", f"--{name}")
    far = np.array(AFFINE)
    far[:3, 3] += [400, -30, 7]
    nibabel.save(nibabel.Nifti1Image(scan.data, far), scan.path("far.nii"))
    row("a scan elsewhere", dwi="far.nii")
    scan.path("points.tck").write_bytes(tck_bytes([line[:1] for line in scan.lines]))
    row("streamlines of one point", tracks="points.tck")
    row("streamlines of too few points", "--min-points=16")
    for name in files.values():
        row(f"over {name}", to=name)
    scan.path("link.h5").symlink_to(scan.path("scan.nii.gz"))
    row("over a link", to="link.h5")
    row("to .npy", to="bad.npy")
    row("to no suffix", to="bad")
    row("to a device", to="/dev/full")
    row("nowhere", to="none/bad.h5")
    if TRACKS.is_dir():
        for name in ("no_header_end.tck",):
            shutil.copy(TRACKS/name, scan.path(name))
            row(f"sample {name}", tracks=name)
    return scan


# ---- fit, predict, evaluate, export -------------------------------------------------------------------------------


def fit(table, problem):
    folder = table.folder
    empty = {f"PHI_{name}": np.zeros(0, kind) for name, kind in
             (("atom", "i4"), ("voxel", "i4"), ("fiber", "i4"), ("value", "f8"))}
    for name, changes in {
            "y NaN": {"y": bent(problem.b, (2, 3), np.nan)}, "D infinite": {"D": bent(problem.D, (1, 0), np.inf)},
            "value infinite": {"PHI_value": bent(problem.value, 7, -np.inf)}, "no coefficients": empty,
            "no y": {"y": None}, "no D": {"D": None}, "neither": {"y": None, "D": None},
            "D complex": {"D": problem.D*1j}, "y text": {"y": "a text"}, "y narrow": {"y": problem.b[:, 1:]},
            "voxels beyond": {"y": problem.b[:1]}, "atoms beyond": {"D": problem.D[:1]},
            "values short": {"PHI_value": problem.value[1:]}, "no atoms": {"PHI_atom": None},
            "negative": {"PHI_atom": bent(problem.atom, 5, -3)},
            "half a fiber": {"PHI_fiber": bent(problem.fiber.astype(float), 5, 1.5)},
            "fibers beyond": {"PHI_fiber": bent(problem.fiber, 5, 100)}}.items():
        table.row(f"fit {name}", write(folder/f"fit {name}.h5", problem, **changes), "-o", folder/"bad.txt")
    good = write(folder/"good.h5", problem)
    table.row("fit no HDF5", table.put("text.h5", "no HDF5"), "-o", folder/"bad.txt")
    table.row("fit cut", table.put("cut.h5", good.read_bytes()[:4000]), "-o", folder/"bad.txt")
    table.row("fit no file", folder/"none.h5", "-o", folder/"bad.txt")
    table.row("fit start short", good, "--start", table.save("short.npy", np.ones(3)), "-o", folder/"bad.txt")
    table.row("fit start NaN", good, "--start", table.save("nan.npy", np.full(30, np.nan)), "-o", folder/"bad.txt")
    table.row("fit start negative", good, "--start", table.save("negative.npy", -np.ones(30)), "-o",
              folder/"bad.txt")
    table.row("fit start of rows", good, "--start", table.save("ones.npy", np.ones((2, 30))), "-o", folder/"bad.txt")
    table.row("fit start empty", good, "--start", table.put("empty.txt", "# nothing\n"), "-o", folder/"bad.txt")
    table.row("fit resume a folder", good, "--resume", folder/"folder.txt", "-o", folder/"bad.txt")
    table.row("fit to the standard output", good, "-o", "/dev/stdout")
    table.row("fit tolerance", good, "--tolerance=nan", "-o", folder/"bad.txt")
    table.row("fit precision", good, "--precision=f16", "-o", folder/"bad.txt")
    table.row("fit iterations", good, "--iterations=-1", "-o", folder/"bad.txt")
    table.row("fit output", good, "-o", folder/"bad.xyz")
    table.row("fit over its input", good, "-o", f"{good}:/y")
    signals = table.save("signals.npy", np.array([problem.b, 2*problem.b]))
    bad = ["-o", folder/"bad.txt"]
    table.row("fit over its signals", good, "--signals", signals, "-o", signals)
    table.row("fit over its start", good, "--start", folder/"short.npy", "-o", folder/"short.npy")
    table.row("fit history over the problem", good, *bad, "--history", good)
    table.row("fit history over the signals", good, *bad, "--signals", signals, "--history", signals)
    table.row("fit two outputs in one", good, *bad, "--history", f"{folder}/./bad.txt")
    table.row("fit state over the problem", good, *bad, "--state", good)
    table.row("fit nowhere", good, "-o", folder/"none"/"bad.txt")
    table.row("fit under a file", good, "-o", good/"bad.txt")
    table.row("fit over a folder", good, "-o", folder/"folder.txt")
    folder.joinpath("folder.txt").mkdir()
    table.row("fit state nowhere", good, *bad, "--state", folder/"none"/"bad.state")
    table.row("fit history nowhere", good, *bad, "--history", folder/"none"/"bad.csv")
    table.row("fit to .tns", good, "-o", folder/"bad.tns")
    for suffix in "f64[3]", "f64[30,1]", "i32", "npz":
        table.row(f"fit to .{suffix}", good, "-o", folder/f"bad.{suffix}")
    table.row("fit to .f64, signals", good, "--signals", signals, "-o", folder/"bad.f64[30,2]")
    with h5py.File(folder/"groups.h5", "w") as file:
        file["group/list"] = np.ones(3)
    table.row("fit to a text named .h5", good, "-o", table.put("text too.h5", "no HDF5"))
    for inner in "", "/group", "/group/list/w", "/":
        name = f"{folder/'groups.h5'}:{inner}"
        table.row(f"fit to a group, '{inner}'", good, "-o", name if inner else table.put("cut too.h5", b"\x89HDF"))
    table.row("fit nvcc", good, *bad, "--nvcc=nvcc")
    table.row("fit arch", good, *bad, "--arch=sm_90")
    table.row("fit deterministic and not", good, *bad, "--deterministic", "--no-deterministic")
    table.row("fit target", good, *bad, "--target=cudda")
    for name in "tol=1", "iter=3", "check=1", "max-iter=10", "lambda=1", "t=1":
        table.row(f"fit option --{name}", good, *bad, f"--{name}")
    table.row("fit option -x", good, *bad, "-x")
    table.row("fit memory 4GBs", good, *bad, "--max-mem=4GBs")
    return good


def steps(table, good):
    folder = table.folder
    np.savetxt(folder/"w.txt", np.ones(30))
    w = folder/"w.txt"
    table.put("words.txt", "1 2 three\n")
    table.put("cut.npy", folder.joinpath("nan.npy").read_bytes()[:200])
    table.put("header.npy", folder.joinpath("nan.npy").read_bytes().replace(b"<f8", b"<c8"))
    table.row("predict short", good, folder/"short.npy", "-o", folder/"bad.npy")
    table.row("predict NaN", good, folder/"nan.npy", "-o", folder/"bad.npy")
    table.row("predict cut", good, folder/"cut.npy", "-o", folder/"bad.npy")
    table.row("predict complex", good, folder/"header.npy", "-o", folder/"bad.npy")
    table.row("predict words", good, folder/"words.txt", "-o", folder/"bad.npy")
    table.row("predict measured", good, w, "--measured", "-o", folder/"bad.npy")
    table.row("predict over its input", good, w, "-o", f"{good}:/D")
    table.row("predict no weights", good, "-o", folder/"bad.npy")
    table.row("predict over its weights", good, w, "-o", w)
    table.row("predict nowhere", good, w, "-o", folder/"none"/"bad.npy")
    table.row("evaluate over its weights", good, w, "--voxels", w)
    table.row("evaluate nowhere", good, w, "--voxels", folder/"none"/"bad.npy")
    table.row("evaluate words", good, folder/"words.txt")
    table.row("evaluate no problem", folder/"none.h5", w)
    table.row("evaluate lesion of half a fiber", good, w, "--lesion", table.save("half.npy", np.ones(3)/2))
    table.row("evaluate lesion beyond", good, w, "--lesion", table.save("far.npy", np.array([2, 30])))
    table.row("evaluate lesion mask", good, w, "--lesion", table.save("mask.npy", np.arange(30) < 7))
    table.row("evaluate lesion nowhere", good, w, "--lesion", table.save("lonely.npy", np.array([29])))
    table.row("evaluate the same scan", good, w, "--repeat", good)
    table.row("evaluate a problem as weights", good, good)
    table.row("evaluate swapped", w, good)
    bare = table.put("bare.f64", np.ones(90).tobytes())
    table.row("evaluate bare weights of signals", good, bare, "--signal=1")
    table.row("predict bare weights of signals", good, bare, "-o", folder/"bad.npy")
    signals = ["--signals", folder/"signals.npy"]
    table.row("evaluate which of the signals", good, w, *signals)
    table.row("evaluate a signal beyond", good, table.save("two.npy", np.ones((3, 30))), *signals, "--signal=2")
    table.row("evaluate to .f64 of another shape", good, w, "--voxels", folder/"bad.f64[41]")
    table.row("predict to .f64 of another shape", good, w, "-o", folder/"bad.f64[16,40]")
    table.row("export to .f64 of another shape", w, "-o", folder/"bad.f64[31]")
    table.row("evaluate rows of other fibers", good, table.save("rows.npy", np.ones((6, 5))))
    table.row("export no output", w)
    table.row("export no weights", folder/"empty.txt", "-o", folder/"bad.npy")
    table.row("export a number of rows", folder/"ones.npy", "-o", folder/"bad.npy")
    table.row("export no pruned tracks", w, "--tracks", folder/"scan.tck")
    table.row("export above", w, "--tracks", folder/"scan.tck", "--pruned", folder/"bad.tck", "--above=x")
    table.row("export above of nothing", w, "-o", folder/"bad.npy", "--above=0.1")
    pruned = [w, "--tracks", folder/"scan.tck", "--pruned"]
    table.row("export reference of nothing", w, "-o", folder/"bad.npy", "--reference", folder/"scan.nii.gz")
    table.row("export reference of .tck", *pruned, folder/"bad.tck", "--reference", folder/"scan.nii.gz")
    np.savetxt(folder/"40.txt", np.ones(40))
    table.row("export reference no image", folder/"40.txt", *pruned[1:], folder/"bad.trk", "--reference",
              folder/"noise.nii")
    table.row("export other tracks", w, "--tracks", folder/"scan.tck", "--pruned", folder/"bad.tck")
    table.row("export broken tracks", w, "--tracks", folder/"cut.tck", "--pruned", folder/"bad.tck")
    table.row("export a matrix", folder/"good.h5", "-o", folder/"bad.npy")
    table.row("export nowhere", w, "-o", folder/"none"/"bad.npy")
    tracks = folder/"scan.tck"
    table.row("export over its weights", w, "-o", w)
    table.row("export over its tracks", w, "--tracks", tracks, "--pruned", tracks)
    table.row("export pruned nowhere", w, "--tracks", tracks, "--pruned", folder/"none"/"bad.tck")
    table.row("export pruned to .txt", w, "--tracks", tracks, "--pruned", folder/"bad.txt")


# ---- import ---------------------------------------------------------------------------------------------------------


def coordinates(table, problem, out):
    D, y = table.save("D.npy", problem.D), table.save("y.npy", problem.b)
    parts = [f"--dictionary={D}", f"--y={y}", *out]
    for name, text in {"two modes": "1 2 3.5\n", "from 0": "0 1 1 2\n", "word": "1 1 1 one\n", "short line":
                       "1 1 1 2\n1 1 2\n", "nothing": "# no line\n", "beyond": "1 1 1 2\n21 1 1 2\n",
                       "fraction": "1 1.5 1 2\n", "NaN": "1 1 1 nan\n"}.items():
        table.row(f"import .tns, {name}", table.put(f"{name}.tns", text), *parts)
    good = table.put("good.tns", "1 1 1 2\n")
    table.row("import no output", good, *parts[:2])
    table.row("import no dictionary", good, parts[1], *out)
    table.row("import no y", good, parts[0], *out)
    table.row("import D narrow", good, f"--dictionary={table.save('narrow.npy', problem.D[:, 1:])}", parts[1], *out)
    table.row("import D a list", good, f"--dictionary={table.save('list.npy', problem.D.ravel())}", parts[1], *out)
    table.row("import fewer fibers", table.put("fiber.tns", "1 1 5 2\n"), *parts, "--fibers=3")
    table.row("import an array", D, *parts)
    for name in "D.npy", "y.npy", "good.tns", "none/bad.h5", "bad.mat", "bad":
        table.row(f"import to {name}", good, *parts[:2], "-o", table.folder/name)
    table.row("import hindered", good, *parts, f"--hindered={D}")
    table.row("import one-based .tns", good, *parts, "--one-based")
    table.row("import one-based .tsv", table.put("good.tsv", "0 0 0 2\n"), *parts, "--one-based")
    table.row("import one-based tensor", f"{table.folder/'good.h5'}:/PHI", *parts, "--one-based")
    table.row("import .tsv, commas", table.put("commas.tsv", "0,0,0,2\n"), *parts)
    table.row("import .tsv, semicolons", table.put("semicolons.tsv", "0;0;0;2\n"), *parts)
    return parts


def structures(table, problem, out):
    folder = table.folder
    parts, _ = fe_parts(problem, np.random.default_rng(8))

    def row(name, changes, **how):
        save_fe(folder/f"{name}.mat", {k: v for k, v in {**parts, **changes}.items() if v is not None}, **how)
        table.row(f"import fe, {name}", folder/f"{name}.mat", *out)

    subs = parts["life/M/Phi/subs"]
    row("no subs", {"life/M/Phi/subs": None})
    row("subs of two columns", {"life/M/Phi/subs": subs[:, :2]})
    row("subs from 0", {"life/M/Phi/subs": subs - 1})
    row("subs of halves", {"life/M/Phi/subs": bent(subs, (4, 1), 1.5)})
    row("subs NaN", {"life/M/Phi/subs": bent(subs, (4, 1), np.nan)})
    row("sizes", {"life/M/Phi/size": np.array([[20.0, 40, 28]])})
    row("two sizes", {"life/M/Phi/size": np.array([[20.0, 40]])})
    row("vals short", {"life/M/Phi/vals": parts["life/M/Phi/vals"][1:]})
    row("vals complex", {"life/M/Phi/vals": parts["life/M/Phi/vals"]*1j})
    row("no DictSig", {"life/M/DictSig": None})
    row("no signal", {"life/diffusion_signal_img": None})
    row("signal NaN", {"life/diffusion_signal_img": bent(parts["life/diffusion_signal_img"], (3, 2), np.nan)})
    row("signal of fewer voxels", {"life/diffusion_signal_img": parts["life/diffusion_signal_img"][:39]})
    row("no Phi", {f"life/M/Phi/{name}": None for name in ("subs", "vals", "size")})
    scipy.io.savemat(folder/"list.mat", {"fe": nested(parts)["life"]["M"]["Phi"]})
    table.row("import fe, no fe", folder/"list.mat", *out)
    twice = np.zeros((1, 2), dtype=[("life", "O")])
    scipy.io.savemat(folder/"twice.mat", {"fe": twice})
    table.row("import fe, two structures", folder/"twice.mat", *out)
    scipy.io.savemat(folder/"object.mat", {"fe": as_object({"life": {"M": np.ones(3)}})})
    table.row("import fe, M an array", folder/"object.mat", *out)
    opaque = {f"fe/{name}": array for name, array in parts.items() if "Phi" not in name}
    save_mat73(folder/"opaque.mat", {**opaque, "fe/life/M/Phi": np.array([[0xdd000000, 2, 1, 1, 1, 1]], "u4")})
    table.row("import fe, Phi of classdef", folder/"opaque.mat", *out)
    save_opaque_fe(folder/"opaque 5.mat", parts)
    table.row("import fe, Phi of classdef, version 5", folder/"opaque 5.mat", *out)


def mat_bytes(table, problem, out):
    """Damage to the elements of a file of version 5, and of 7."""
    folder = table.folder
    plain = plain_arrays(problem)
    scipy.io.savemat(folder/"plain.mat", plain)
    good = (folder/"plain.mat").read_bytes()
    scipy.io.savemat(folder/"packed.mat", plain, do_compression=True)
    packed = (folder/"packed.mat").read_bytes()
    for name, data in {
            "empty": b"", "cut header": good[:100], "order": good[:126] + b"XX" + good[128:],
            "version": good[:124] + b"\0\2" + good[126:], "no variable": good[:128] + b"\1\0\0\0" + good[132:],
            "cut": good[:1500], "long variable": good[:132] + b"\xff\xff\xff\x7f" + good[136:],
            "flags": good[:136] + b"\5" + good[137:], "long flags": good[:140] + b"\xff" + good[141:],
            "shape": good[:160] + struct.pack("<i", -600) + good[164:],
            "other shape": good[:160] + struct.pack("<i", 599) + good[164:],
            "name": good[:168] + b"\x09" + good[169:], "type of numbers": good[:184] + b"\x12" + good[185:],
            "cut packed": packed[:300], "noise packed": packed[:136] + b"noise" + packed[141:],
            "bent packed": packed[:400] + bytes(64) + packed[464:]}.items():
        table.row(f"import .mat, {name}", table.put(f"bytes {name}.mat", data), *out)
    save_mat73(folder/"new.mat", plain)
    table.row("import .mat 7.3, cut", table.put("new cut.mat", (folder/"new.mat").read_bytes()[:3000]), *out)
    for name, changes in {
            "no fibers": {"fibers": None}, "voxels short": {"voxels": plain["voxels"][1:]},
            "atoms beyond": {"atoms": plain["atoms"] + 1}, "dSig": {"dSig": plain["dSig"][:-1]},
            "two names": {"atom": plain["atoms"]}, "DictSig": {"DictSig": np.zeros((3, 3, 3))},
            "text": {"vals": "a text"}}.items():
        scipy.io.savemat(folder/f"plain {name}.mat", {k: v for k, v in {**plain, **changes}.items() if v is not None})
        table.row(f"import arrays, {name}", folder/f"plain {name}.mat", *out)
    table.row("import arrays, one-based", folder/"plain.mat", "--one-based", *out)
    parts, _ = fe_parts(problem, np.random.default_rng(8))
    save_fe(folder/"good fe.mat", parts)
    table.row("import fe, one-based", folder/"good fe.mat", "--one-based", *out)
    table.row("import .mat, no such name", f"{folder/'plain.mat'}:/nothing", *out)


def archives(table, problem, parts, out):
    folder = table.folder
    plain = {name: np.ravel(array) if name != "DictSig" else array for name, array in plain_arrays(problem).items()}
    np.savez(folder/"good.npz", **plain)
    good = (folder/"good.npz").read_bytes()
    for name, data in {"cut": good[:-30], "bent": good[:200] + b"bent" + good[204:], "no zip": b"noise"*50}.items():
        table.row(f"import .npz, {name}", table.put(f"{name}.npz", data), *out)
    objects = {**plain, "vals": np.array([{}, None], dtype=object)}
    np.savez(folder/"objects.npz", **objects)
    table.row("import .npz, objects", folder/"objects.npz", *out)
    np.savez(folder/"other.npz", x=np.ones(3))
    table.row("import .npz, other arrays", folder/"other.npz", *out)
    with zipfile.ZipFile(folder/"header.npz", "w") as archive:
        for name, array in plain.items():
            np.save(folder/"member.npy", array)
            data = (folder/"member.npy").read_bytes()
            archive.writestr(f"{name}.npy", data[:-3] if name == "voxels" else data)
    table.row("import .npz, cut array", folder/"header.npz", *out)
    with zipfile.ZipFile(folder/"empty.npz", "w") as archive:
        archive.writestr("atoms.npy", b"")
    table.row("import .npz, empty array", folder/"empty.npz", *out)
    y = parts[1]
    scipy.sparse.save_npz(folder/"csr.npz", problem.M)
    whole = dict(np.load(folder/"csr.npz"))
    for name, changes in {"diagonals": {"format": b"dia"}, "no data": {"data": None}, "pointers short":
                          {"indptr": whole["indptr"][1:]}, "pointers": {"indptr": bent(whole["indptr"], 3, 10**6)},
                          "columns": {"indices": bent(whole["indices"], 5, 30)}, "one size": {"shape": np.array([3])},
                          "rows": {"shape": np.array([639, 30]), "indptr": whole["indptr"][[*range(639), 640]]},
                          "NaN": {"data": bent(whole["data"], 5, np.nan)}}.items():
        np.savez(folder/f"matrix {name}.npz", **{k: v for k, v in {**whole, **changes}.items() if v is not None})
        table.row(f"import sparse matrix, {name}", folder/f"matrix {name}.npz", y, *out)
    table.row("import sparse matrix, one-based", folder/"csr.npz", y, "--one-based", *out)
    table.row("import sparse matrix, no y", folder/"csr.npz", *out)
    table.row("import sparse matrix, dictionary", folder/"csr.npz", *parts)


def commit(table, out):
    def model_in(name):
        folder = table.folder/name
        folder.mkdir()
        return Commit(folder)

    base = model_in("COMMIT")
    lists = base.lists
    for name, changes in {
            "segments short": {"IC_o": lists["IC_o"][1:]}, "streamline": {"IC_f": bent(lists["IC_f"], 3, 7)},
            "voxel": {"IC_v": bent(lists["IC_v"], 3, 120)}, "voxel out of the mask": {"IC_v": lists["IC_v"]*0},
            "direction": {"IC_o": bent(lists["IC_o"], 3, 9)}, "length": {"IC_len": bent(lists["IC_len"], 3, np.nan)},
            "norm": {"TRK_norm": lists["TRK_norm"]*0}, "half a number": {"IC_f": np.zeros(7, np.uint8)},
            "peaks": {"EC_o": lists["EC_o"][1:]}}.items():
        model = model_in(f"COMMIT {name}")
        model.write(**changes)
        table.row(f"import COMMIT, {name}", *model.words(), *out)
    model = model_in("COMMIT mask")
    (model.folder/"dictionary_tdi.nii.gz").unlink()
    table.row("import COMMIT, no mask", *model.words(), *out)
    model = model_in("COMMIT list")
    (model.folder/"dictionary_IC_v.dict").unlink()
    table.row("import COMMIT, no list", *model.words(), *out)
    model = model_in("COMMIT wrong mask")
    nibabel.save(nibabel.Nifti1Image(np.ones((4, 5, 6), np.float32), np.eye(4)), model.folder/"dictionary_tdi.nii.gz")
    table.row("import COMMIT, wrong mask", *model.words(), *out)
    table.row("import COMMIT, one-based", *base.words(), "--one-based", *out)
    table.row("import COMMIT, no kernels", *base.words(dictionary=None), *out)
    table.row("import COMMIT, no y", *base.words(y=None), *out)
    table.row("import COMMIT, kernels of other samples", *base.words(isotropic="wide.npy"), *out)
    np.save(base.folder/"wide.npy", np.ones((2, 12)))
    table.row("import COMMIT, a list of kernels", *base.words(dictionary="flat.npy"), *out)
    np.save(base.folder/"flat.npy", np.ones(99))
    table.row("import a folder of something else", model_in("other").folder.parent, "--dictionary",
              base.folder/"wmr.npy", "--y", base.folder/"y.npy", *out)


# ---- The table ----------------------------------------------------------------------------------------------------


def read_golden():
    if not GOLDEN.exists():
        return {}
    blocks = re.split(r"^## ", GOLDEN.read_text(), flags=re.M)[1:]
    return {block.split(" = ")[0]: block for block in blocks}


def told(table, name):
    """The block of a row: name, status, message without the folder."""
    words = table.rows[name]
    done = life(*words)
    text = re.sub(r"(eof|base_addr) = \d+", r"\1 = N", done.stdout.replace(f"{table.folder}/", ""))
    check(done.returncode in STATUSES, f"{name}: status {done.returncode}: {text}")
    check(not re.search(r"AddressSanitizer|runtime error|crash", text) and len(text) < 2500, f"{name}: {text}")
    return f"{name} = {done.returncode}\n{text.strip()}\n\n"


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file() and "cache" not in path.parts}


def main():
    with tempfile.TemporaryDirectory() as name:
        table = Table(Path(name))
        problem = Problem(4)
        out = ["-o", table.folder/"bad.h5"]
        encode(table)
        steps(table, fit(table, problem))
        parts = coordinates(table, problem, out)
        structures(table, problem, out)
        mat_bytes(table, problem, out)
        archives(table, problem, parts, out)
        commit(table, out)
        before = contents(table.folder)
        golden, blocks = read_golden(), {name: told(table, name) for name in table.rows}
        check(contents(table.folder) == before, "files are left as they are")
        left = [path.name for path in table.folder.glob("bad.*")]
        check(not left, f"left behind: {left}")
    check(len(blocks) >= LEAST, f"{len(blocks)} rows")
    if os.environ.get("PMG_UPDATE"):
        GOLDEN.write_text("What each row of test_messages.py is answered with: its exit status, then the message.\n\n" +
                          "\n".join(f"## {block.strip()}\n" for block in blocks.values()))
        return 0
    for name, block in blocks.items():
        check(block.strip() == golden.get(name, "").strip(), f"{name}:\n{block}instead of\n{golden.get(name)}")
    missing = set(golden) - set(blocks)
    check(TRACKS.is_dir() or not missing - {"encode sample no_header_end.tck"}, f"no longer asked: {missing}")
    if not TRACKS.is_dir():
        RESULTS["skipped"] += 1
    return close()


sys.exit(main())
