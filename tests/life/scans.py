# SPDX-License-Identifier: MIT
"""A small made-up scan with streamlines in it, and how `pmg life` is run on it."""
import os
import struct
import subprocess
from pathlib import Path

import nibabel
import numpy as np

PMG = str(Path(os.environ.get("PMG") or Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
DATA = Path(os.environ.get("PMG_TEST_DATA") or "/nonexistent") / "dmri"
TRACKS = Path(os.environ.get("PMG_TEST_DATA") or "/nonexistent") / "tracks"
AFFINE = np.array([[0, -2.0, 0, 5], [2, 0, 0, -3], [0, 0, 2, 1], [0, 0, 0, 1]])
RESULTS = {"passed": 0, "failed": 0, "skipped": 0}


def check(condition, what):
    RESULTS["passed" if condition else "failed"] += 1
    if not condition:
        print("does not hold:", what)


def close():
    skipped = f", {RESULTS['skipped']} skipped" if RESULTS["skipped"] else ""
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed{skipped}")
    return RESULTS["failed"] != 0


def life(*words, **environment):
    return subprocess.run([PMG, "life", *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          check=False, timeout=300, env={**os.environ, **environment})


def run(*words, **environment):
    done = life(*words, **environment)
    check(done.returncode == 0, f"pmg life {' '.join(map(str, words))}: exit status {done.returncode}\n{done.stdout}")
    return done.stdout


def lines(rng, n=40, size=8):
    """Curved streamlines, in voxels."""
    t = np.linspace(0, 1, 15)[:, None]
    corners = rng.uniform(0, size - 1, (n, 3, 3))
    return [c[0]*(1 - t)**2 + 2*c[1]*t*(1 - t) + c[2]*t**2 for c in corners]


def tck_bytes(streamlines, kind="<f4", header=None, end=True):
    name = {"<f4": "Float32LE", ">f4": "Float32BE", "<f8": "Float64LE", ">f8": "Float64BE"}[kind]
    data = b"".join(np.asarray(s, kind).tobytes() + np.full(3, np.nan, kind).tobytes() for s in streamlines)
    if header is None:
        header = f"mrtrix tracks\ndatatype: {name}\ncount: {len(streamlines)}\nfile: . 100\nEND\n"
    return header.encode().ljust(100, b"\0") + data + (np.full(3, np.inf, kind).tobytes() if end else b"")


class Scan:
    """Files of one scan: 20 directions of b = 1000, 2 volumes of b = 0."""

    def __init__(self, folder, seed=1):
        rng = np.random.default_rng(seed)
        self.folder = Path(folder)
        self.size, self.n = 8, 22
        self.bvals = np.full(self.n, 1000.0)
        self.bvals[[0, 11]] = 0, 5
        self.bvecs = rng.normal(size=(self.n, 3))
        self.bvecs /= np.linalg.norm(self.bvecs, axis=1)[:, None]
        self.data = rng.integers(100, 1000, (self.size,)*3 + (self.n,)).astype(np.int16)
        self.data[..., [0, 11]] += 1000
        self.lines = [s @ AFFINE[:3, :3].T + AFFINE[:3, 3] for s in lines(rng)]
        self.sphere = rng.normal(size=(50, 3))
        self.sphere /= np.linalg.norm(self.sphere, axis=1)[:, None]
        np.save(self.path("sphere.npy"), self.sphere)
        np.savetxt(self.path("scan.bval"), self.bvals[None])
        np.savetxt(self.path("scan.bvec"), self.bvecs.T)
        self.path("scan.tck").write_bytes(tck_bytes(self.lines))
        nibabel.save(nibabel.Nifti1Image(self.data, AFFINE), self.path("scan.nii.gz"))

    def path(self, name):
        return self.folder / name

    def encode(self, output, *flags, runner=run, **files):
        names = {"tracks": "scan.tck", "dwi": "scan.nii.gz", "bvals": "scan.bval", "bvecs": "scan.bvec",
                 "sphere": "sphere.npy", **files}
        words = [f"--{option}={self.path(name)}" for option, name in names.items() if name]
        return runner("encode", *words, *flags, "-o", self.path(output))


def trk_bytes(streamlines, n_scalars=0, n_properties=0, count=None, **fields):
    header = bytearray(1000)
    values = {"magic": (0, b"TRACK"), "dim": (6, struct.pack("<3h", 8, 8, 8)),
              "size": (12, struct.pack("<3f", 1, 1, 1)), "scalars": (36, struct.pack("<h", n_scalars)),
              "properties": (238, struct.pack("<h", n_properties)),
              "matrix": (440, np.eye(4, dtype="<f4").tobytes()), "order": (948, b"RAS"),
              "count": (988, struct.pack("<i", len(streamlines) if count is None else count)),
              "version": (992, struct.pack("<i", 2)), "bytes": (996, struct.pack("<i", 1000))}
    for name, (at, value) in values.items():
        value = fields.get(name, value)
        header[at:at + len(value)] = value
    body = b""
    for s in streamlines:
        points = np.concatenate([np.asarray(s, "<f4") + 0.5, np.zeros((len(s), n_scalars), "<f4")], axis=1)
        body += struct.pack("<i", len(s)) + points.astype("<f4").tobytes() + bytes(4*n_properties)
    return bytes(header) + body
