#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files and options that `pmg life encode` cannot take: each ends with a status and a message that names the file and
the place, never with a crash, silence or NaN; and the readers take what is unusual but sound.
With sanitizers only for --long: test_damage asks readers, test_encode the step."""
import re
import shutil
import struct
import sys
import tempfile
import zipfile

import nibabel
import numpy as np

from scans import AFFINE, RESULTS, Scan, TRACKS, check, close, life, tck_bytes, trk_bytes

USAGE, WRONG, IO, RESOURCES = 2, 3, 4, 5


def refused(scan, words, status=WRONG, *flags, names=None, **files):
    done = scan.encode("bad.h5", *flags, runner=life, **files)
    what = f"{flags} {files}: status {done.returncode}: {done.stdout.strip()}"
    check(done.returncode == status, what)
    check(re.search(words, done.stdout) is not None, f"{what}; /{words}/")
    check(not scan.path("bad.h5").exists() and len(done.stdout) < 2500, f"{what}: leaves a file")
    for name in [names] if names else files.values():
        if name and status == WRONG:
            check(name in done.stdout, f"{what}: names the file")


def tck(scan):
    good = tck_bytes(scan.lines)
    head = "mrtrix tracks\ndatatype: Float32LE\nfile: . 100\nEND\n"
    end = good.rindex(np.full(3, np.inf, "<f4").tobytes())
    damage = {
        "empty": (b"", "byte 0"),
        "magic": (good.replace(b"mrtrix", b"matrix"), "byte 0"),
        "no END": (good.replace(b"END\n", b"END:"), "END"),
        "type": (tck_bytes(scan.lines, header=head.replace("32LE", "16LE")), "byte 14: .*Float16LE"),
        "no type": (tck_bytes(scan.lines, header=head.replace("datatype: Float32LE\n", "")), "datatype"),
        "offset": (tck_bytes(scan.lines, header=head.replace(". 100", ". 10")), "byte 34: 'file'"),
        "far": (tck_bytes(scan.lines, header=head.replace(". 100", ". 99999999")), "byte 34: 'file'"),
        "other file": (tck_bytes(scan.lines, header=head.replace(". 100", "x 100")), "byte 34: 'file'"),
        "count": (tck_bytes(scan.lines, header="mrtrix tracks\ncount: x\n" + head[14:]), "count"),
        "cut": (good[:end], f"byte {end}: .*infinities"),
        "cut in a point": (good[:2000], r"byte 19\d\d"),
        "cut in a streamline": (good[:end - 12] + good[end:], f"byte {end - 12}"),
        "infinite": (good[:112] + struct.pack("<f", np.inf) + good[116:], "byte 112"),
        "NaN": (good[:112] + struct.pack("<f", np.nan) + good[116:], "byte 112"),
        "nothing": (tck_bytes([]), "no streamline"),
        "noise": (np.random.default_rng(1).bytes(5000), "byte 0"),
    }
    for name, (data, words) in damage.items():
        scan.path(f"{name}.tck").write_bytes(data)
        refused(scan, words, tracks=f"{name}.tck")


def trk(scan):
    good = trk_bytes(scan.lines)
    damage = {
        "cut header": (good[:500], "byte 500"),
        "magic": (trk_bytes(scan.lines, magic=b"TRUCK"), "byte 0"),
        "header size": (trk_bytes(scan.lines, bytes=b"\0\0\0\0"), "byte 996"),
        "size": (trk_bytes(scan.lines, size=struct.pack("<3f", 1, 0, 1)), "byte 16"),
        "NaN size": (trk_bytes(scan.lines, size=struct.pack("<3f", np.nan, 1, 1)), "byte 12"),
        "matrix": (trk_bytes(scan.lines, matrix=np.full(16, np.nan, "<f4").tobytes()), "byte 440"),
        "order": (trk_bytes(scan.lines, order=b"RRS"), "byte 948"),
        "order letters": (trk_bytes(scan.lines, order=b"\xff\x01S"), r"byte 948: '\\xff"),
        "scalars": (trk_bytes(scan.lines, scalars=struct.pack("<h", -1)), "byte 36"),
        "properties": (trk_bytes(scan.lines, properties=struct.pack("<h", 30000)), "byte 238"),
        "negative count": (trk_bytes(scan.lines, count=-5), "byte 988"),
        "too few": (trk_bytes(scan.lines, count=41), r"byte \d+: it ends after 40 of 41"),
        "too many": (trk_bytes(scan.lines, count=39), r"byte \d+: more follows"),
        "points": (good[:1000] + struct.pack("<i", 10**9) + good[1004:], "byte 1000"),
        "negative points": (good[:1000] + struct.pack("<i", -1) + good[1004:], "byte 1000"),
        "infinite": (good[:1004] + struct.pack("<f", np.inf) + good[1008:], "byte 1004"),
        "cut": (good[:-5], r"byte \d+"),
    }
    for name, (data, words) in damage.items():
        scan.path(f"{name}.trk").write_bytes(data)
        refused(scan, words, tracks=f"{name}.trk")


def trx_file(path, members):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)


def trx(scan):
    points = np.concatenate(scan.lines).astype("<f4")
    offsets = np.cumsum([0] + [len(s) for s in scan.lines]).astype("<u4")
    header = f'{{"NB_VERTICES": {len(points)}, "NB_STREAMLINES": {len(scan.lines)}}}'
    good = {"header.json": header, "positions.3.float32": points.tobytes(), "offsets.uint32": offsets.tobytes()}
    wrong = offsets.copy()
    wrong[3] = 5
    first = offsets.copy()
    first[0] = 1
    nan = points.copy()
    nan[7] = np.nan
    damage = {
        "no header": ({"header.json": None}, "header.json"),
        "no points": ({"positions.3.float32": None}, "positions"),
        "no offsets": ({"offsets.uint32": None}, "offsets"),
        "empty header": ({"header.json": "{}"}, "header.json: .*NB_VERTICES"),
        "negative": ({"header.json": header.replace(": 40", ": -40")}, "NB_STREAMLINES"),
        "fewer points": ({"positions.3.float32": points[:-1].tobytes()}, "positions.3.float32, byte"),
        "fewer offsets": ({"offsets.uint32": offsets[:-3].tobytes()}, "offsets.uint32, byte"),
        "descending": ({"offsets.uint32": wrong.tobytes()}, "offsets.uint32, byte 8"),
        "first": ({"offsets.uint32": first.tobytes()}, "offsets.uint32, byte 0"),
        "last": ({"offsets.uint32": (offsets + (offsets == offsets[-1])).astype("<u4").tobytes()}, "byte 156"),
        "NaN point": ({"positions.3.float32": nan.tobytes()}, "positions.3.float32, byte 84"),
        "type": ({"positions.3.float32": None, "positions.3.int32": points.tobytes()}, "positions.3.int32"),
    }
    for name, (changes, words) in damage.items():
        trx_file(scan.path(f"{name}.trx"), {k: v for k, v in {**good, **changes}.items() if v is not None})
        refused(scan, words, tracks=f"{name}.trx")
    trx_file(scan.path("good.trx"), good)
    whole = scan.path("good.trx").read_bytes()
    for name, data in {"cut": whole[:-40], "no zip": whole[50:], "flipped": whole[:300] + b"xxxx" + whole[304:],
                       "none": b""}.items():
        scan.path(f"{name}.trx").write_bytes(data)
        refused(scan, "cannot|not a zip|damaged|lacks", tracks=f"{name}.trx")


def images(scan):
    image = nibabel.Nifti1Image(scan.data, AFFINE)
    good = image.to_bytes()
    damage = {
        "empty.nii": b"", "noise.nii": np.random.default_rng(2).bytes(3000), "cut header.nii": good[:200],
        "cut.nii": good[:5000], "cut.nii.gz": scan.path("scan.nii.gz").read_bytes()[:3000],
        "zero.nii": good[:42] + struct.pack("<h", 0) + good[44:],
        "negative.nii": good[:42] + struct.pack("<h", -8) + good[44:],
        "type.nii": good[:70] + struct.pack("<hh", 128, 24) + good[74:],
    }
    for name, data in damage.items():
        scan.path(name).write_bytes(data)
        refused(scan, "NIfTI|data|header|type|size", dwi=name)
    nibabel.save(nibabel.Nifti1Image(scan.data[..., :5], AFFINE), scan.path("few.nii"))
    refused(scan, "22 b-values for the 5 volumes", dwi="few.nii", names="scan.bval")
    nowhere = nibabel.Nifti1Image(scan.data, None)
    nibabel.save(nowhere, scan.path("nowhere.nii"))
    refused(scan, "where voxels are", dwi="nowhere.nii")
    flat = nibabel.Nifti1Image(scan.data, None)
    flat.header.set_sform(np.diag([2, 2, 0, 1]), 1)
    scan.path("flat.nii").write_bytes(flat.to_bytes())
    refused(scan, "inverted|where voxels", dwi="flat.nii")
    far = AFFINE.copy()
    far[:3, 3] = 1e5
    nibabel.save(nibabel.Nifti1Image(scan.data, far), scan.path("far.nii"))
    refused(scan, "no streamline has a point in this image", dwi="far.nii")
    near = AFFINE.copy()
    near[:3, 3] += 9
    nibabel.save(nibabel.Nifti1Image(scan.data, near), scan.path("near.nii"))
    points = np.concatenate(scan.lines).astype(np.float32)
    places = np.rint((points - near[:3, 3]) @ np.linalg.inv(near[:3, :3]).T)
    outside = np.count_nonzero(((places < 0) | (places >= 8)).any(1))/len(points)
    low, high = (f"({', '.join(f'{x:.4g}' for x in of)})" for of in (points.min(0), points.max(0)))
    done = scan.encode("near.h5", runner=life, dwi="near.nii")
    told = (f"pmg life encode: warning: {100*outside:.0f} % of the points lie outside of the image: the streamlines "
            f"lie from {low} to {high} mm, the image from (-1, 5, 9) to (15, 21, 25) mm\n")
    check(outside > 0.5 and done.returncode == 0 and told in done.stdout, f"{done.stdout} {told}")
    check("warning" not in scan.encode("near.h5"), "no warning of a scan in its place")
    nibabel.save(nibabel.Nifti1Image(0*scan.data, AFFINE), scan.path("dark.nii"))
    refused(scan, "positive signal", dwi="dark.nii")
    nibabel.save(nibabel.Nifti1Image(np.full(scan.data.shape, np.nan, np.float32), AFFINE), scan.path("nan.nii"))
    refused(scan, "positive signal", dwi="nan.nii")


def gradients(scan):
    def table(name, values):
        np.savetxt(scan.path(name), values)
        return name

    few, negative, nan = scan.bvals[:-1], scan.bvals.copy(), scan.bvals.copy()
    negative[4], nan[4] = -1000, np.nan
    refused(scan, "21 b-values for the 22 volumes", bvals=table("few.bval", few[None]))
    refused(scan, "b-value 4 is -1000", bvals=table("negative.bval", negative))
    refused(scan, "b-value 4 is -?nan", bvals=table("nan.bval", nan))
    refused(scan, "no volume has b <= 20", bvals=table("bright.bval", scan.bvals + 100))
    refused(scan, "two are needed", bvals=table("none.bval", scan.bvals*0))
    scan.path("words.bval").write_text("0 1000 thousand\n")
    refused(scan, "thousand|line 1", bvals="words.bval")
    long, zero = scan.bvecs.T.copy(), scan.bvecs.T.copy()
    long[:, 5] *= 2
    zero[:, 5] = 0
    refused(scan, "direction 5 .* length 2", bvecs=table("long.bvec", long))
    refused(scan, "direction 5 .* length 0", bvecs=table("zero.bvec", zero))
    refused(scan, r"shape is \[3, 21\]", bvecs=table("few.bvec", scan.bvecs.T[:, 1:]))
    refused(scan, r"\[3, 22\]", bvecs=table("list.bvec", scan.bvecs.ravel()))
    np.savetxt(scan.path("nan.bvec"), np.where(np.arange(22) == 5, np.nan, scan.bvecs.T))
    refused(scan, "direction 5", bvecs="nan.bvec")
    refused(scan, "length", sphere=table("long.txt", 2*scan.sphere))
    refused(scan, r"\[N, 3\]", sphere=table("flat.txt", scan.sphere[:, :2]))


def options(scan):
    refused(scan, "No such file", IO, tracks="missing.tck")
    refused(scan, "No such file", IO, dwi="missing.nii")
    refused(scan, "No such file", IO, bvals="missing.bval")
    refused(scan, "suffix", USAGE, tracks="scan.bval")
    refused(scan, "did you mean 'dipy'", USAGE, "--convention=dippy")
    refused(scan, "did you mean 'voxel'", USAGE, "--bvec-space=voxels")
    refused(scan, "--tensor", USAGE, "--tensor=1")
    refused(scan, "--tensor", USAGE, "--tensor=-1,0")
    refused(scan, "--max-mem", USAGE, "--max-mem=lots")
    for memory in "1G", "1GiB", "0.001TB", "1e9", "1000000000B", "1000000k", "1gb":
        scan.encode("memory.h5", f"--max-mem={memory}")
    for tensor in ["--tensor=0.1,0"], ["--tensor=2e-5,0"], ["--convention=encode", "--tensor=100,0"]:
        scan.encode("tensor.h5", *tensor)
    table = scan.path("strong.bval")
    for factor, convention in (150, "dipy"), (680, "encode"):        # b-values of 680 000, whose unit is right
        np.savetxt(table, factor*scan.bvals[None])
        scan.encode("tensor.h5", f"--convention={convention}", "--shell-tolerance=10000", bvals="strong.bval")
    np.savetxt(table, 750*scan.bvals[None])
    refused(scan, r"exp\(-7\d\d\) of the signal along a fiber is left, which is nothing", USAGE, bvals="strong.bval")
    refused(scan, "may need", RESOURCES, "--max-mem=100K")
    refused(scan, "exclude", USAGE, "--grid=16")
    refused(scan, "--tracks is needed", USAGE, tracks=None)
    refused(scan, "--grid", USAGE, "--grid=1", sphere=None)


def samples(scan):
    """Files of other software: refused where they are malformed, else read whole (they lie outside of our scan)."""
    refusals = {"no_header_end.tck": "END"}
    sound = ["standard.tck", "standard.trk", "standard.LPS.trk", "complex.trk", "complex_big_endian.trk",
             "simple_big_endian.tck", "matlab_nan.tck", "multiline_header_field.tck", "tracks300.trk",
             "tract.SLF1_R.tck", "tract.IFOF_R.trk", "colby.trk", "colby.trx", "dpsv.trx"]
    if not TRACKS.is_dir():
        RESULTS["skipped"] += 1
        return
    for name in [*refusals, *sound]:
        shutil.copy(TRACKS / name, scan.path(name))
        done = scan.encode("sample.h5", runner=life, tracks=name)
        if name in refusals:
            check(done.returncode == WRONG and name in done.stdout and refusals[name] in done.stdout and
                  "byte" in done.stdout, f"{name}: {done.stdout}")
        else:
            check(done.returncode == 0 or "no streamline has a point in this image" in done.stdout,
                  f"{name}: {done.stdout}")
            whole = scan.path(name).read_bytes()
            scan.path(f"cut {name}").write_bytes(whole[:2*len(whole)//3])
            refused(scan, r"byte \d+", tracks=f"cut {name}")


def main():
    with tempfile.TemporaryDirectory() as folder:
        scan = Scan(folder)
        for part in tck, trk, trx, images, gradients, options, samples:
            part(scan)
    return close()


sys.exit(main())
