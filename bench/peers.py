#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Real cases fitted by others and by `pmg life`: time, memory, objective.

    bench/peers.py [--data FOLDER] [--threads N] [--json FILE] [CASE…]

FOLDER (PMG_TEST_DATA) holds dmri/CASE: a scan, streamlines and the exact optimum. Each program runs in a process of its
own. Objectives are of one system, M of dipy with its 0.5 |M w - y|^2, so that they compare; COMMIT's model is another
one (lengths of segments in place of nodes), and its weights are put into that system with the one factor that is best.
What cannot be installed is left out with the reason."""
import argparse
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path

import nibabel
import numpy as np

ROOT = Path(__file__).resolve().parent.parent
PMG = os.environ.get("PMG") or ROOT/os.environ.get("BUILD", "build")/"pmg"
# name: scan, gradients, streamlines, base of the stored references
CASES = {"small25": ("small25/small_25.nii.gz", "small25/small_25", "small25/EuDX_small_25.trk", "small25/eudx"),
         "det": ("small64/small_64D.nii", "small64/small_64D", "small64/tracks_det.tck", "small64/det"),
         "prob": ("small64/small_64D.nii", "small64/small_64D", "small64/tracks_prob.tck", "small64/prob")}


class Case:
    def __init__(self, data, name):
        scan, gradients, tracks, base = (Path(data)/"dmri"/path for path in CASES[name])
        self.name, self.scan, self.tracks, self.base = name, scan, tracks, base
        self.bvals, self.bvecs = Path(f"{gradients}.bval"), Path(f"{gradients}.bvec")

    def system(self):
        """M, y of the stored references."""
        sys.path.insert(0, str(ROOT/"tests"/"life"))
        from problems import Stored     # pylint: disable=import-outside-toplevel,import-error
        stored = Stored(self.base)
        return stored.M, stored.b.ravel(), stored.exact

    def gradients(self):
        """b-values, and a direction in each row."""
        bvecs = np.nan_to_num(np.loadtxt(self.bvecs))
        return np.loadtxt(self.bvals), bvecs if bvecs.shape[1] == 3 else bvecs.T

    def voxel_lines(self):
        image = nibabel.load(self.scan)
        lines = nibabel.streamlines.load(self.tracks).streamlines
        inverse = np.linalg.inv(image.affine)
        return image, [nibabel.affines.apply_affine(inverse, line.astype(float)) for line in lines]


# ---- in a process of its own -----------------------------------------------------------------------------------

def dipy_fit(case, _):
    from dipy.core.gradients import gradient_table      # pylint: disable=import-outside-toplevel
    from dipy.tracking.life import FiberModel           # pylint: disable=import-outside-toplevel
    image, lines = case.voxel_lines()
    data = image.get_fdata()
    table = gradient_table(*case.gradients(), b0_threshold=20)
    start = time.perf_counter()
    fit = FiberModel(table).fit(data, lines, np.eye(4))
    return time.perf_counter() - start, fit.beta


def vertices(path):
    """The directions of dipy's dictionary, which are those of the stored references."""
    from dipy.core.sphere import HemiSphere             # pylint: disable=import-outside-toplevel
    from dipy.data import get_sphere                    # pylint: disable=import-outside-toplevel
    np.save(path, HemiSphere.from_sphere(get_sphere(name="repulsion724")).vertices)


def commit_fit(case, threads):
    import amico                            # pylint: disable=import-outside-toplevel,import-error
    import commit                           # pylint: disable=import-outside-toplevel,import-error
    from commit import trk2dictionary       # pylint: disable=import-outside-toplevel,import-error
    image = nibabel.load(case.scan)
    nibabel.save(nibabel.Nifti1Image(image.get_fdata(dtype=np.float32), image.affine), "dwi.nii.gz")
    nibabel.save(nibabel.Nifti1Image(np.ones(image.shape[:3], np.uint8), image.affine), "mask.nii.gz")
    lines = nibabel.streamlines.load(case.tracks)
    header = {**nibabel.streamlines.TckFile.create_empty_header(), "count": len(lines.streamlines)}
    nibabel.streamlines.save(nibabel.streamlines.TckFile(lines.tractogram, header), "all.tck")
    amico.lut.precompute_rotation_matrices(12, 500)
    bvals, bvecs = case.gradients()
    np.savetxt("bvals", bvals[None])
    np.savetxt("bvecs", bvecs.T)
    amico.util.fsl2scheme("bvals", "bvecs", "dwi.scheme")
    start = time.perf_counter()
    trk2dictionary.run(filename_tractogram="all.tck", filename_mask="mask.nii.gz", ndirs=500, n_threads=threads)
    model = commit.Evaluation(".", ".")
    model.set_config("doDemean", True)
    model.set_config("doNormalizeSignal", True)
    model.load_data("dwi.nii.gz", "dwi.scheme", b0_thr=20)
    model.set_model("StickZeppelinBall")
    model.model.set(1e-3, [], [])
    model.generate_kernels(regenerate=True, ndirs=500)
    model.load_kernels()
    model.load_dictionary("COMMIT")
    model.set_threads(threads)
    model.build_operator()
    model.fit(tol_fun=1e-6, max_iter=1000)
    seconds = time.perf_counter() - start
    w = model.get_coeffs()[0]       # of all streamlines, 0 for those that COMMIT has left out
    return seconds, w


def child(which, case, threads):
    warnings.simplefilter("ignore")
    seconds, w = {"dipy": dipy_fit, "commit": commit_fit}[which](case, threads)
    np.save("weights.npy", w)
    print(f"\nseconds {seconds!r}")


# ---- rows ------------------------------------------------------------------------------------------------------------

# What a process counts as its memory begins with that of whoever starts it: a small one.
STARTER = """import resource, subprocess, sys
status = subprocess.call(sys.argv[2:])
open(sys.argv[1], "w").write(str(1024*resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss))
sys.exit(status)
"""


def measured(words, folder):
    """Status, output, seconds and the most memory of a process."""
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-S", "-c", STARTER, folder/"memory", *map(str, words)], cwd=folder,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL, text=True,
                          errors="replace", check=False)
    return done.returncode, done.stdout, time.perf_counter() - start, int((folder/"memory").read_text())


def row(case, name, seconds, memory, w, system):
    M, y, exact = system
    half = lambda v: 0.5*np.sum((M @ v - y)**2)     # noqa: E731
    if name == "COMMIT":
        image = M @ w
        w = w*(image @ y)/(image @ image)
    return {"case": case.name, "program": name, "seconds": seconds, "bytes": memory, "objective": half(w),
            "above": half(w)/half(exact) - 1, "live": int(np.count_nonzero(w > 0))}


def others(case, which, name, threads, system):
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        status, out, _, memory = measured([sys.executable, __file__, "--child", which, "--threads", threads, "--data",
                                      case.base.parents[2], case.name], folder)
        if status:
            lines = [line for line in re.sub(r"\x1b\[[0-9;]*m", "", out).splitlines() if line.strip()]
            reason = lines[-1] if lines else f"status {status}"
            return {"case": case.name, "program": name, "failed": reason.strip()}
        words = out.split()
        at = len(words) - 1 - words[::-1].index("seconds")
        return row(case, name, float(words[at + 1]), memory, np.load(folder/"weights.npy"), system)


def pmg(case, threads, system):
    """encode and fit together; the solver is compiled before."""
    with tempfile.TemporaryDirectory() as folder:
        folder = Path(folder)
        vertices(folder/"sphere.npy")
        encode = [PMG, "life", "encode", f"--sphere={folder}/sphere.npy", f"--tracks={case.tracks}",
                  f"--dwi={case.scan}", f"--bvals={case.bvals}", f"--bvecs={case.bvecs}", "-o", folder/"p.h5"]
        fit = [PMG, "life", "fit", folder/"p.h5", "-o", folder/"w.npy", f"--threads={threads}"]
        for words in (encode, [*fit, "--iterations=1"]):
            measured(words, folder)
        runs = [measured(words, folder) for words in (encode, fit)]
        if any(status for status, *_ in runs):
            return {"case": case.name, "program": "pmg", "failed": runs[-1][1].strip()}
        return row(case, "pmg", sum(r[2] for r in runs), max(r[3] for r in runs), np.load(folder/"w.npy"), system)


def show(rows):
    print(f"{'case':8} {'program':8} {'seconds':>8} {'MB':>6} {'objective':>14} {'above NNLS':>10} {'live':>6}")
    for r in rows:
        if "failed" in r:
            print(f"{r['case']:8} {r['program']:8} {r['failed']}")
        else:
            print(f"{r['case']:8} {r['program']:8} {r['seconds']:8.3g} {1e-6*r['bytes']:6.0f} {r['objective']:14.8g} "
                  f"{r['above']:10.1e} {r['live']:6}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE", help=", ".join(CASES))
    parser.add_argument("--data", default=os.environ.get("PMG_TEST_DATA"))
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--json")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.data:
        parser.error("--data or PMG_TEST_DATA is needed")
    cases = [Case(options.data, name) for name in options.cases or CASES]
    if options.child:
        child(options.child, cases[0], options.threads)
        return
    rows = []
    for case in cases:
        system = case.system()
        rows.append(pmg(case, options.threads, system))
        rows.append(others(case, "dipy", "dipy", options.threads, system))
        rows.append(others(case, "commit", "COMMIT", options.threads, system))
    show(rows)
    if options.json:
        Path(options.json).write_text("".join(json.dumps(r) + "\n" for r in rows))


main()
