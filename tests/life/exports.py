# SPDX-License-Identifier: MIT
"""Files of LiFE models as other software writes them, from a problem of problems.py."""
import struct

import h5py
import nibabel
import numpy as np
import scipy.io
import scipy.sparse
from scipy.io.matlab import MatlabObject


def fe_parts(problem, rng):
    """ENCODE's fields by their path, and the y that they stand for. Columns of Phi.subs count from 1."""
    signal = rng.uniform(50, 100, problem.b.shape)
    n_voxels, n_theta = signal.shape
    subs = np.column_stack([problem.atom, problem.voxel, problem.fiber]) + 1.0
    order = np.lexsort(subs.T[::-1])
    parts = {
        "life/M/Phi/subs": subs[order], "life/M/Phi/vals": problem.value[order][:, None],
        "life/M/Phi/size": np.array([[len(problem.D), n_voxels, problem.n_fibers]], float),
        "life/M/DictSig": problem.D.T, "life/M/orient": rng.normal(size=(3, len(problem.D))),
        "life/diffusion_signal_img": signal, "life/diffusion_S0_img": rng.uniform(100, 200, (n_voxels, 3)),
        "life/bvals": np.full((n_theta, 1), 1.0), "life/bvecs": rng.normal(size=(n_theta, 3)),
        "roi/coords": rng.integers(1, 9, (n_voxels, 3)).astype(float)}
    return parts, signal - signal.mean(1)[:, None]


def nested(parts):
    tree = {}
    for path, value in parts.items():
        *groups, last = path.split("/")
        at = tree
        for group in groups:
            at = at.setdefault(group, {})
        at[last] = value
    return tree


def as_object(fields, name="sptensor"):
    """An object of a class made by class(), as MATLAB before classdef has them."""
    record = np.zeros((1, 1), dtype=[(field, "O") for field in fields])
    for field, value in fields.items():
        record[0, 0][field] = value
    return MatlabObject(record, name)


def save_fe(path, parts, is_object=True, compress=True, name="fe"):
    tree = nested({"name": "a text", **parts})
    tree["life"]["M"]["tracks"] = np.array([[np.eye(2), "b"]], dtype=object)        # a cell array, to be passed over
    if is_object and "Phi" in tree["life"]["M"]:
        tree["life"]["M"]["Phi"] = as_object(tree["life"]["M"]["Phi"])
    scipy.io.savemat(path, {"before": np.arange(5.0), name: tree}, do_compression=compress)


def save_opaque_fe(path, parts):
    """Version 5, with Phi as an object of a class made by classdef: what stands there is a reference to it."""
    def element(kind, data):
        return struct.pack("<2I", kind, len(data)) + data + bytes(-len(data) % 8)

    def flags(number):
        return element(6, struct.pack("<2I", number, 0))

    name, words = element(1, b""), element(6, struct.pack("<6I", 0xdd000000, 2, 1, 1, 1, 1))
    reference = element(14, flags(13) + element(5, struct.pack("<2i", 6, 1)) + name + words)
    opaque = element(14, flags(17) + name + element(1, b"MCOS") + element(1, b"sptensor") + reference)
    mark = np.full((1, len(opaque) - 56), 7, np.uint8)          # takes as many bytes, 56 of them before its numbers
    kept = {field: value for field, value in parts.items() if "/Phi/" not in field}
    save_fe(path, {**kept, "life/M/Phi": mark}, is_object=False, compress=False)
    data = path.read_bytes()
    at = data.index(mark.tobytes()) - 56
    path.write_bytes(data[:at] + opaque + data[at + len(opaque):])


def save_mat73(path, arrays, classes=()):
    """HDF5 behind MATLAB's header, each array with its dimensions reversed; `classes` names groups that are objects."""
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, array in arrays.items():
            file[name] = np.asarray(array).T
            file[name].attrs["MATLAB_class"] = np.bytes_("double")
        for group, name in dict(classes).items():
            file[group].attrs["MATLAB_class"] = np.bytes_(name)
            file[group].attrs["MATLAB_object_decode"] = np.int32(2)
    header = b"MATLAB 7.3 MAT-file, Platform: GLNXA64".ljust(116) + bytes(8) + struct.pack("<H", 0x0200) + b"IM"
    with open(path, "r+b") as file:
        file.write(header)


def plain_arrays(problem):
    """What the lines of docs/life.md save in MATLAB; coordinates count from 0, dSig has directions the fastest."""
    column = {name: np.asarray(array)[:, None] for name, array in
              {"atoms": problem.atom, "voxels": problem.voxel, "fibers": problem.fiber}.items()}
    return {**{name: array.astype(np.uint32) for name, array in column.items()}, "vals": problem.value[:, None],
            "DictSig": problem.D.T, "dSig": problem.b.reshape(-1, 1),
            "sz": np.array([[len(problem.D), len(problem.b), problem.n_fibers]], float)}


class Commit:
    """A folder of COMMIT's dictionary with made-up segments, its kernels, y, and the matrix that they make."""

    def __init__(self, folder, seed=5):
        rng = np.random.default_rng(seed)
        self.folder = folder
        shape, n_fibers, n_segments, directions, samples = (4, 5, 6), 7, 60, 9, 11
        mask = rng.uniform(size=shape) < 0.4
        places = np.flatnonzero(mask.ravel(order="F"))
        number = np.full(mask.size, -1)
        number[places] = np.arange(len(places))
        f = rng.integers(0, n_fibers, n_segments)
        v, o = rng.choice(places, n_segments), rng.integers(0, directions, n_segments)
        length = rng.uniform(0.1, 1, n_segments).astype("f4")
        norm = rng.uniform(1, 2, n_fibers).astype("f4")
        peak_v, peak_o, lumps = rng.choice(places, 12), rng.integers(0, directions, 12), rng.permutation(places)
        self.lists = {"IC_f": f.astype("<u4"), "IC_v": v.astype("<u4"), "IC_o": o.astype("<u2"), "IC_len": length,
                      "TRK_norm": norm, "EC_v": peak_v.astype("<u4"), "EC_o": peak_o.astype("<u2"),
                      "ISO_v": lumps.astype("<u4")}
        shapes = {"wmr": (2, directions, samples), "wmh": (1, directions, samples), "iso": (2, samples)}
        self.kernels = {name: rng.normal(size=size).astype("f4").astype(float) for name, size in shapes.items()}
        self.y = rng.normal(size=(len(places), samples))
        self.M = np.zeros((len(places), samples, 2*n_fibers + 12 + 2*len(places)))
        for k in range(n_segments):
            for r in range(2):
                share = float(length[k])/float(norm[f[k]])
                self.M[number[v[k]], :, r*n_fibers + f[k]] += share*self.kernels["wmr"][r, o[k]]
        for i, k in enumerate(np.argsort(peak_v, kind="mergesort")):
            self.M[number[peak_v[k]], :, 2*n_fibers + i] += self.kernels["wmh"][0, peak_o[k]]
        for kind in range(2):
            for i, place in enumerate(np.sort(lumps)):
                self.M[number[place], :, 2*n_fibers + 12 + kind*len(places) + i] += self.kernels["iso"][kind]
        self.M = self.M.reshape(self.y.size, -1)
        self.write()
        nibabel.save(nibabel.Nifti1Image(mask.astype(np.float32), np.eye(4)), folder/"dictionary_tdi.nii.gz")
        for name, kernel in self.kernels.items():
            np.save(folder/f"{name}.npy", kernel.astype("f4"))
        np.save(folder/"y.npy", self.y)

    def write(self, **changes):
        for name, array in {**self.lists, **changes}.items():
            self.folder.joinpath(f"dictionary_{name}.dict").write_bytes(array.tobytes())

    def words(self, **changes):
        options = {"dictionary": "wmr.npy", "y": "y.npy", "hindered": "wmh.npy", "isotropic": "iso.npy", **changes}
        return [self.folder, *(f"--{option}={self.folder/name}" for option, name in options.items() if name)]
