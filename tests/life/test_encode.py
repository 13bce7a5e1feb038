#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pmg life encode` against NumPy, in both conventions, and on the real cases of PMG_TEST_DATA, whose systems other
software has made: integers equal, the dictionary and the signal to 1e-12."""
import sys
import tempfile
from pathlib import Path

import h5py
import nibabel
import numpy as np
from dipy.core.sphere import HemiSphere
from dipy.data import get_sphere

from scans import AFFINE, DATA, RESULTS, Scan, check, close, run, tck_bytes, trk_bytes


def coefficients(file):
    phi = file["PHI"]
    return dict(zip(zip(phi["atom"][:], phi["voxel"][:], phi["fiber"][:]), phi["value"][:]))


def transcript(scan, streamlines, encode, data=None):
    """PHI by (vertex, place, fiber), nodes by (place, fiber)."""
    inverse = np.linalg.inv(AFFINE)
    counts, nodes = {}, {}
    for fiber, line in enumerate(streamlines):
        if len(line) < 2:
            continue
        line = np.asarray(line, np.float32).astype(float) @ inverse[:3, :3].T + inverse[:3, 3]
        direction = np.gradient(line, axis=0)
        atoms = np.abs(scan.sphere @ (direction/np.linalg.norm(direction, axis=1)[:, None]).T).argmax(0)
        for place, atom in zip(map(tuple, np.round(line).astype(int)), atoms):
            if min(place) < 0 or max(place) >= scan.size:
                continue
            counts[atom, place, fiber] = counts.get((atom, place, fiber), 0) + 1
            nodes[place, fiber] = nodes.get((place, fiber), 0) + 1
    if encode:
        S0 = (scan.data if data is None else data)[..., 0].astype(float)
        return {k: c/nodes[k[1:]]*S0[k[1]] for k, c in counts.items()}
    return counts


def compare(scan, name, wanted, encode, n_fibers):
    """The system of a file is the one of the transcript, whatever the order of voxels and atoms."""
    is_dark = scan.bvals == 0 if encode else scan.bvals <= 20
    with h5py.File(scan.path(name)) as file:
        places = [tuple(p) for p in file["voxel_coords"][:]]
        vertices = [int(np.abs(scan.sphere @ o).argmax()) for o in file["orientations"][:]]
        got = {(vertices[a], places[v], f): x for (a, v, f), x in coefficients(file).items()}
        check(file["PHI"].attrs["shape"][2] == n_fibers, f"{name}: a fiber for each streamline")
        check(got.keys() == wanted.keys(), f"{name}: {len(got.keys() ^ wanted.keys())} coefficients differ")
        worst = max(abs(got[k]/wanted[k] - 1) for k in wanted.keys() & got.keys())
        check(worst <= 1e-12, f"{name}: values")
        check(vertices == sorted(vertices), f"{name}: order of atoms")
        check((places == sorted(places)) == encode, f"{name}: order of voxels")
        signal = scan.data[tuple(np.array(places).T)].astype(float)
        S0, y = signal[:, is_dark].mean(1), signal[:, ~is_dark]
        y = y if encode else y/S0[:, None]
        check(np.allclose(file["y"][:], y - y.mean(1)[:, None], rtol=1e-12, atol=1e-12), f"{name}: y")
        along = (scan.sphere[vertices] @ scan.bvecs[~is_dark].T)**2
        D = np.exp(-scan.bvals[~is_dark]*0.001*along)
        if encode:
            for b in np.unique(scan.bvals[~is_dark]):
                shell = scan.bvals[~is_dark] == b
                D[:, shell] -= np.median(D[:, shell], axis=1)[:, None]
        else:
            D -= D.mean(1)[:, None]
        check(np.allclose(file["D"][:], D, rtol=1e-12, atol=1e-12), f"{name}: D")


def formats(scan):
    """The same streamlines in each format give the same system."""
    scan.encode("tck.h5")
    compare(scan, "tck.h5", transcript(scan, scan.lines, False), False, len(scan.lines))
    for kind in ">f4", "<f8", ">f8":
        scan.path("other.tck").write_bytes(tck_bytes(np.asarray(scan.lines, np.float32), kind))
        scan.encode("other.h5", tracks="other.tck")
        compare(scan, "other.h5", transcript(scan, scan.lines, False), False, len(scan.lines))
    lines = [np.round(np.asarray(s)*1024)/1024 for s in scan.lines]     # half a voxel more is exact
    scan.path("exact.trk").write_bytes(trk_bytes(lines, 2, 3))
    scan.encode("exact.h5", tracks="exact.trk")
    compare(scan, "exact.h5", transcript(scan, lines, False), False, len(lines))
    header = {"dimensions": (8, 8, 8), "voxel_sizes": (2, 2, 2), "voxel_to_rasmm": AFFINE, "voxel_order": "PLI"}
    tractogram = nibabel.streamlines.Tractogram(lines, affine_to_rasmm=np.eye(4))
    nibabel.streamlines.TrkFile(tractogram, header).save(str(scan.path("turned.trk")))
    scan.encode("turned.h5", tracks="turned.trk")
    read = nibabel.streamlines.load(scan.path("turned.trk")).streamlines
    check(np.abs(np.concatenate(list(read)) - np.concatenate(lines)).max() < 1e-4, "nibabel reads what it wrote")
    with h5py.File(scan.path("turned.h5")) as turned, h5py.File(scan.path("exact.h5")) as exact:
        check(np.array_equal(turned["voxel_coords"], exact["voxel_coords"]), "axes of a .trk that are turned")


def rules(scan):
    scan.bvals[3:9] = 2000      # a second shell
    np.savetxt(scan.path("shells.bval"), scan.bvals)
    out = scan.encode("encode.h5", "--convention=encode", bvals="shells.bval")
    check("shell b = 2000: 6 directions" in out and "shell b = 5: 1 direction" in out, f"shells are told: {out}")
    compare(scan, "encode.h5", transcript(scan, scan.lines, True), True, len(scan.lines))
    odd = [*scan.lines[:5], scan.lines[0][:1], scan.lines[1] + 100]
    odd[1] = np.repeat(odd[1], 2, axis=0)
    scan.path("odd.tck").write_bytes(tck_bytes(odd))
    out = scan.encode("odd.h5", "--repeated=drop", tracks="odd.tck", bvals="shells.bval")
    check("1 streamlines are too short" in out and "15 points lie where" in out and "15 points lie outside" in out
          and "2 fibers have no coefficients" in out, f"what is left out is told: {out}")
    compare(scan, "odd.h5", transcript(scan, [odd[0], odd[1][::2], *odd[2:]], False), False, len(odd))
    data = scan.data.copy()
    data[tuple(np.round((np.linalg.inv(AFFINE) @ [*scan.lines[0][3], 1])[:3]).astype(int))][:] = 0
    nibabel.save(nibabel.Nifti1Image(data, AFFINE), scan.path("dark.nii"))
    out = scan.encode("dark.h5", dwi="dark.nii")
    with h5py.File(scan.path("dark.h5")) as file:
        check("1 voxels have no positive signal" in out and np.isfinite(file["y"][:]).all(), f"dark voxels: {out}")
    out = scan.encode("grid.h5", "--grid=16", "--all-atoms", sphere=None)
    with h5py.File(scan.path("grid.h5")) as file:
        check(file["D"].shape[0] == 15*16 + 1, "a grid's atoms")
        got = {k[1:]: x for k, x in coefficients(file).items()}
        check(sum(got.values()) <= sum(map(len, scan.lines)), "a grid's coefficients")
        near_grid(scan, file)


def near_grid(scan, file):
    """Each node of a grid takes the vertex nearest to it."""
    orientations = file["orientations"][:]
    line = np.asarray(scan.lines[0], np.float32).astype(float) @ np.linalg.inv(AFFINE)[:3, :3].T
    direction = np.gradient(line, axis=0)
    direction /= np.linalg.norm(direction, axis=1)[:, None]
    phi = file["PHI"]
    atoms = phi["atom"][:][phi["fiber"][:] == 0]
    best = np.abs(orientations @ direction.T)
    check(set(atoms) == set(best.argmax(0)), "the nearest of a grid")


def threads(scan):
    for n in 1, 2:
        scan.encode(f"threads{n}.h5", runner=lambda *words, n=n: run(*words, OMP_NUM_THREADS=str(n)))
    check(scan.path("threads1.h5").read_bytes() == scan.path("threads2.h5").read_bytes(), "threads change nothing")


def real(folder):
    vertices = f"{folder}/sphere.npy"
    np.save(vertices, HemiSphere.from_sphere(get_sphere("repulsion724")).vertices)
    cases = [("small25", "small_25", ".nii.gz", "EuDX_small_25.trk", "eudx"),
             ("small64", "small_64D", ".nii", "tracks_det.tck", "det"),
             ("small64", "small_64D", ".nii", "tracks_det.trx", "det"),
             ("small64", "small_64D", ".nii", "tracks_prob.tck", "prob")]
    for case, scan, suffix, tracks, kind in cases:
        base = DATA / case
        if not base.is_dir():
            RESULTS["skipped"] += 1
            continue
        run("encode", f"--tracks={base/tracks}", f"--dwi={base/scan}{suffix}", f"--bvals={base/scan}.bval",
            f"--bvecs={base/scan}.bvec", f"--sphere={vertices}", "-o", f"{folder}/{kind}.h5")
        atom, voxel, fiber, value = np.loadtxt(base / f"{kind}_phi.tsv.gz").T
        with h5py.File(f"{folder}/{kind}.h5") as file:
            wanted = dict(zip(zip(atom, voxel, fiber), value))
            check(coefficients(file) == wanted, f"{tracks}: PHI")
            for name, stored in ("y", f"{kind}_y.f64"), ("D", f"{kind}_dict.f64"):
                got, reference = file[name][:].ravel(), np.fromfile(base / stored)
                check(len(got) == len(reference) and np.abs(got - reference).max() <= 1e-12, f"{tracks}: {name}")
            check(np.array_equal(file["S0"][:], np.loadtxt(base / f"{kind}_s0.txt")), f"{tracks}: S0")


def main():
    with tempfile.TemporaryDirectory() as folder:
        scan = Scan(folder)
        formats(scan)
        threads(scan)
        rules(scan)
        real(Path(folder))
    return close()


sys.exit(main())
