#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Files of numbers as NumPy, SciPy and h5py write and read them, through `pmg convert`; what `pmg inspect` says of
them; and what either command says, to the letter, when it is called wrongly.
With sanitizers only for --long: test_damage.c reads all kinds of files with them. Its C is not optimised."""
import gzip
import os
import subprocess
import tempfile
from pathlib import Path

import h5py
import numpy as np
import scipy.io
import scipy.sparse

PMG = str(Path(os.environ.get("PMG") or Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
RESULTS = {"passed": 0, "failed": 0}
RANDOM = np.random.default_rng(20)


def check(holds, what):
    RESULTS["passed" if holds else "failed"] += 1
    if not holds:
        print("does not hold:", what)


def pmg(*arguments):
    done = subprocess.run([PMG, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    return done.returncode, done.stdout, done.stderr


def convert(*arguments):
    status, _, error = pmg("convert", *arguments)
    check(status == 0, f"convert {' '.join(map(str, arguments))}: {status} {error}")
    return status == 0


def expect(arguments, status, error, output=""):
    got = pmg(*arguments)
    wanted = status, output, error
    check(got == wanted, f"{' '.join(map(str, arguments))}:\n{got}\nexpected\n{wanted}")


def same(a, b, what):
    a, b = np.asarray(a), np.asarray(b)
    check(a.shape == b.shape and a.dtype == b.dtype and np.array_equal(a, b, equal_nan=a.dtype.kind == "f"),
          f"{what}: {a.dtype}{a.shape} and {b.dtype}{b.shape}")


def values(dtype, shape):
    if dtype == "bool":
        return RANDOM.random(shape) < 0.5
    if np.dtype(dtype).kind == "f":
        return RANDOM.standard_normal(shape).astype(dtype)
    low, high = max(np.iinfo(dtype).min, -1000), min(np.iinfo(dtype).max, 1000)
    return RANDOM.integers(low, high, shape, endpoint=True).astype(dtype)


# ---- Dense arrays ---------------------------------------------------------------------------------------------

TYPES = "float32 float64 int8 int16 int32 int64 uint8 uint16 uint32 bool".split()
SHAPES = [(), (0,), (1,), (7,), (3, 4), (2, 0), (2, 3, 4), (1, 2, 1, 2, 1, 2, 1, 2)]


def npy_arrays():
    for dtype in TYPES:
        for shape in SHAPES:
            array = values(dtype, shape)
            np.save("in.npy", array)
            if convert("in.npy", "out.npy"):
                same(np.load("out.npy"), array, f"npy {dtype} {shape}")


def npy_layouts():
    array = values("float64", (3, 4, 5))
    for order in "<f8", ">f8":
        for layout in "C", "F":
            for version in (1, 0), (2, 0), (3, 0):
                with open("in.npy", "wb") as file:
                    np.lib.format.write_array(file, np.asarray(array, order, order=layout), version)
                if convert("in.npy", "out.npy"):
                    same(np.load("out.npy"), array, f"npy {order} {layout} {version}")
    half = np.array([0, -0.0, 1, -2.5, 6e-8, 65504, np.inf, -np.inf, np.nan], "float16")
    np.save("in.npy", half)
    if convert("in.npy", "out.npy"):
        same(np.load("out.npy"), half.astype("float32"), "half precision")
    np.save("in.npy", np.array([0, 2**63 - 1], "uint64"))
    if convert("in.npy", "out.npy"):
        same(np.load("out.npy"), np.array([0, 2**63 - 1], "int64"), "uint64 that fits")
    np.save("in.npy", np.array([[0, 2**63], [2**63, 0]], "uint64"))
    expect(["convert", "in.npy", "out.npy"], 3, "pmg convert: in.npy: the value at [0, 1] is above 2^63 - 1\n")


def hdf5_arrays():
    for dtype in TYPES:
        for shape in SHAPES:
            array = values(dtype, shape)
            with h5py.File("in.h5", "w") as file:
                file["a/b"] = array
            if convert("in.h5:/a/b", "mid.npy") and convert("mid.npy", "out.h5:/x/y/z"):
                same(np.load("mid.npy"), array, f"HDF5 read {dtype} {shape}")
                with h5py.File("out.h5") as file:
                    same(file["x/y/z"][()], array, f"HDF5 write {dtype} {shape}")
    os.remove("out.h5")


def hdf5_storage():
    array = values("float64", (100, 30))
    kinds = {
        "big": {"dtype": ">f8"}, "chunked": {"chunks": (7, 11)}, "deflate": {"chunks": (7, 11), "compression": "gzip"},
        "shuffle": {"chunks": (100, 30), "compression": "gzip", "shuffle": True},
    }
    with h5py.File("in.h5", "w") as file:
        for name, options in kinds.items():
            file.create_dataset(name, data=array, **options)
        file.create_dataset("half", data=array.astype("float16"))
        file.create_dataset("u64", data=np.arange(3, dtype="uint64"))
        file.create_dataset("large", data=np.array([2**63], dtype="uint64"))
    for name in kinds:
        if convert(f"in.h5:/{name}", "out.npy"):
            same(np.load("out.npy"), array, name)
    if convert("in.h5:half", "out.npy"):
        same(np.load("out.npy"), array.astype("float16").astype("float32"), "half")
    if convert("in.h5:/u64", "out.npy"):
        same(np.load("out.npy"), np.arange(3), "u64")
    expect(["convert", "in.h5:/large", "out.npy"], 3,
           "pmg convert: in.h5: /large: it has values above 2^63 - 1\n")


def hdf5_large():
    """More than one piece through the pipe, and rows that are larger than a piece."""
    for shape in (3_000_000,), (2, 1_500_000), (1_500_000, 2):
        array = RANDOM.standard_normal(shape)
        with h5py.File("in.h5", "w") as file:
            file.create_dataset("a", data=array, chunks=tuple(min(n, 100_000) for n in shape))
        if convert("in.h5", "out.npy"):
            same(np.load("out.npy"), array, f"large {shape}")


def hdf5_keeps_others():
    first, second = values("float64", (3,)), values("int32", (4, 2))
    np.save("first.npy", first)
    np.save("second.npy", second)
    Path("out.h5").unlink(missing_ok=True)
    for source, place in ("second", "/a"), ("first", "/a"), ("second", "/group/b"):
        convert(f"{source}.npy", f"out.h5:{place}")
    with h5py.File("out.h5") as file:
        same(file["a"][()], first, "replaced")
        same(file["group/b"][()], second, "added")
        check(sorted(file) == ["a", "group"], "nothing else")
    before = Path("out.h5").read_bytes()
    convert("first.npy", "again.h5:/a")
    convert("first.npy", "again.h5:/a")
    convert("first.npy", "once.h5:/a")
    Path("broken.h5").write_bytes(before[:200])
    status, _, error = pmg("convert", "first.npy", "broken.h5:/a")
    check(status == 3 and error.startswith("pmg convert: broken.h5: not an HDF5 file"), error)
    check(Path("broken.h5").read_bytes() == before[:200], "what cannot be changed stays as it is")
    check(not [f for f in os.listdir() if ".part" in f], f"no parts are left: {os.listdir()}")


def hdf5_refused():
    with h5py.File("other.h5", "w") as file:
        file["x"] = np.arange(4.0)
    with h5py.File("in.h5", "w") as file:
        file["outside"] = h5py.ExternalLink("other.h5", "/x")
        layout = h5py.VirtualLayout((4,), "f8")
        layout[:] = h5py.VirtualSource("other.h5", "x", (4,))
        file.create_virtual_dataset("virtual", layout)
        file.create_dataset("checksum", data=np.arange(9), chunks=(3,), fletcher32=True)
        file.create_dataset("unwritten", (1 << 40,), "f8", chunks=(1 << 20,))
        file["text"] = "words"
        file["record"] = np.zeros(2, [("a", "i4"), ("b", "f8")])
        file.create_dataset("raw", (2,), "f8", external=[("raw.bin", 0, 16)])
        file["null"] = h5py.Empty("f8")
    say = "pmg convert: in.h5: "
    expect(["convert", "in.h5:/outside", "o.npy"], 3, say + "/outside: there is no such object in the file, or it "
           "lies in another one ('pmg inspect' lists what there is)\n")
    for name, reason in {
            "virtual": "it is a virtual dataset, whose numbers are in other files",
            "checksum": "it has a filter other than deflate and shuffle",
            "unwritten": "its shape is more than what the file stores of it",
            "text": "its elements are not integers, floats or bools",
            "record": "its elements are not integers, floats or bools",
            "raw": "its numbers are in another file",
            "null": "it has no shape, or more dimensions than we take"}.items():
        expect(["convert", f"in.h5:/{name}", "o.npy"], 3, f"{say}/{name}: {reason}\n")
    status, listing, _ = pmg("inspect", "in.h5")
    check(status == 0 and "/outside                         a link, not followed\n" in listing, listing)


def raw_numbers():
    for dtype, suffix in zip(TYPES, "f32 f64 i8 i16 i32 i64 u8 u16 u32 bool".split()):
        array = values(dtype, (3, 5))
        array.tofile(f"in.{suffix}")
        if convert(f"in.{suffix}[3,5]", "out.npy"):
            same(np.load("out.npy"), array, suffix)
        if convert("out.npy", f"out.{suffix}"):
            check(Path(f"out.{suffix}").read_bytes() == array.tobytes(), f"bytes of {suffix}")
    if convert("in.f64", "flat.npy") and convert("in.f64", "shaped.npy", "--shape", "5,3"):
        check(np.load("flat.npy").shape == (15,) and np.load("shaped.npy").shape == (5, 3), "shapes of a raw file")
    expect(["convert", "in.f64[4,4]", "o.npy"], 3,
           "pmg convert: in.f64: 120 bytes hold 15 of f64, not shape [4, 4]\n")
    expect(["convert", "in.f64[4,x]", "o.npy"], 2, "pmg convert: '[4,x]': 'x' is not a size\n")
    expect(["convert", "in.f64", "o.npy", "--shape", "4"], 3,
           "pmg convert: in.f64: 15 values do not make the shape [4]\n")
    Path("odd.f64").write_bytes(b"123")
    expect(["convert", "odd.f64", "o.npy"], 3, "pmg convert: odd.f64: 3 bytes are not a whole number of f64\n")


def texts():
    for shape in (6,), (3, 2):
        array = values("float64", shape)*1e-7
        np.savetxt("in.txt", array, fmt="%.17g")
        if convert("in.txt", "out.npy") and convert("out.npy", "out.txt"):
            same(np.load("out.npy"), array, f"text {shape}")
            same(np.loadtxt("out.txt"), array, f"text again {shape}")
    Path("in.txt").write_text("# head\n 1 2\t3 # rest\n\n4 5 6")
    if convert("in.txt", "out.npy"):
        same(np.load("out.npy"), np.array([[1, 2, 3], [4, 5, 6]]), "integers, comments, no last newline")
    Path("in.txt").write_text("1 nan -inf 2.5e3\n")
    if convert("in.txt", "out.npy"):
        same(np.load("out.npy"), np.array([1, np.nan, -np.inf, 2500.0]), "one line")
    Path("in.txt").write_text("1\n2 3\n")
    expect(["convert", "in.txt", "o.npy"], 3,
           "pmg convert: in.txt:2: 2 numbers in this row, 1 in those before\n")
    Path("in.txt").write_text("1\n\n# \nx\x1b[2J\n")
    expect(["convert", "in.txt", "o.npy"], 3, "pmg convert: in.txt:4: 'x\\x1b[2J' is not a number\n")


# ---- Sparse tensors ---------------------------------------------------------------------------------------------

def matrices():
    sparse = scipy.sparse.random(7, 5, 0.4, random_state=1).tocoo()
    scipy.io.mmwrite("in.mtx", sparse)
    if convert("in.mtx", "out.mtx"):
        again = scipy.io.mmread("out.mtx")
        same(again.toarray(), scipy.io.mmread("in.mtx").toarray(), "coordinate matrix")
    lower = np.tril(values("float64", (4, 4)))
    for symmetry, whole in ("symmetric", lower + np.tril(lower, -1).T), (
            "skew-symmetric", np.tril(lower, -1) - np.tril(lower, -1).T):
        for matrix in whole, scipy.sparse.coo_matrix(whole):
            scipy.io.mmwrite("in.mtx", matrix, symmetry=symmetry, precision=17)
            if convert("in.mtx", "out.mtx"):
                again = scipy.io.mmread("out.mtx")
                got = again if isinstance(again, np.ndarray) else again.toarray()
                same(got, whole, f"{symmetry} {type(matrix)}")
    dense = values("float64", (3, 4))
    scipy.io.mmwrite("in.mtx", dense)
    if convert("in.mtx", "out.npy"):
        same(np.load("out.npy"), dense, "dense matrix")
    scipy.io.mmwrite("in.mtx", values("int64", (3, 4)))
    if convert("in.mtx", "out.npy"):
        same(np.load("out.npy"), scipy.io.mmread("in.mtx").astype("int64"), "integer matrix")
    # Integers of a triangle became floats, and were rounded.
    for symmetry, lower, upper in ("symmetric", "3\n9007199254740993\n-5", 2**53 + 1), (
            "skew-symmetric", "9007199254740993", -2**53 - 1):
        Path("in.mtx").write_text(f"%%MatrixMarket matrix array integer {symmetry}\n2 2\n{lower}\n")
        if convert("in.mtx", "out.npy"):
            diagonal = (3, -5) if symmetry == "symmetric" else (0, 0)
            same(np.load("out.npy"), [[diagonal[0], upper], [2**53 + 1, diagonal[1]]], symmetry)
    # -2^63 was written, and refused when it was read; only what is skew needs its negative.
    np.save("in.npy", np.array([[-2**63], [2**63 - 1]]))
    if convert("in.npy", "low.mtx") and convert("low.mtx", "out.npy"):
        same(np.load("out.npy"), np.load("in.npy"), "the lowest integer")
    Path("in.mtx").write_text("%%MatrixMarket matrix coordinate integer skew-symmetric\n2 2 1\n"
                              "2 1 -9223372036854775808\n")
    expect(["convert", "in.mtx", "o.npy"], 3, "pmg convert: in.mtx:3: the integer has no negative\n")
    Path("in.mtx").write_text("%%MatrixMarket matrix coordinate pattern general\n% c\n3 3 2\n1 2\n3 3\n")
    if convert("in.mtx", "out.tns"):
        check(Path("out.tns").read_text() == "1\t2\t1\n3\t3\t1\n", "pattern")


def one_based_groups(entries, value):
    """A group counts from where the option says, else its attribute."""
    with h5py.File("one.h5", "w") as file:
        for name, base in ("told", None), ("stated", 1):
            group = file.create_group(name)
            for mode, member in enumerate(["atom", "voxel", "fiber"]):
                group[member] = entries[:, mode] + 1
            group["value"] = value
            if base is not None:
                group.attrs["index_base"] = base
        file["off"] = np.arange(3)
    for name, options in ("told", ["--one-based"]), ("stated", []), ("stated", ["--one-based"]):
        for modes in [], ["--modes", "atom,voxel,fiber"]:
            convert(f"one.h5:/{name}", f"zero.h5:/{name}", *options, *modes, "--force")
            with h5py.File("zero.h5") as file:
                same(file[name]["voxel"][()].astype("int64"), entries[:, 1].astype("int64"),
                     f"{name} {options} {modes}")
                check(file[name].attrs.get("index_base", 0) == 0, "counts from 0 now")
    expect(["convert", "phi.h5:/PHI", "o.h5:/PHI", "--one-based"], 3, "pmg convert: phi.h5:/PHI/atom: entry "
           f"{int(np.argmin(entries[:, 0]))} is 0, but coordinates count from 1\n")
    expect(["convert", "one.h5:/off", "o.npy", "--one-based"], 2,
           "pmg convert: --one-based is for sparse tensors; one.h5 holds an array\n")


def tensors():
    entries = np.unique(RANDOM.integers(0, 6, (30, 3)), axis=0)
    value = RANDOM.standard_normal(len(entries))
    rows = [" ".join(map(str, [*entry, repr(x)])) for entry, x in zip(entries + 1, value)]
    Path("in.tns").write_text("# from FROSTT\n" + "\n".join(rows) + "\n")
    convert("in.tns", "phi.h5:/PHI", "--modes", "atom,voxel,fiber", "--shape", "6,7,8")
    with h5py.File("phi.h5") as file:
        for mode, name in enumerate(["atom", "voxel", "fiber"]):
            same(file["PHI"][name][()], entries[:, mode].astype("int32"), name)
        same(file["PHI/value"][()], value, "value")
        check(list(file["PHI"].attrs["shape"]) == [6, 7, 8] and file["PHI"].attrs["index_base"] == 0, "attributes")
    one_based_groups(entries, value)
    convert("phi.h5:/PHI", "back.tns", "--modes", "atom,voxel,fiber")
    same(np.loadtxt("back.tns"), np.column_stack([entries + 1, value]), "tns again")
    convert("phi.h5:/PHI", "turned.tsv", "--modes", "fiber,atom,voxel")
    same(np.loadtxt("turned.tsv"), np.column_stack([entries[:, [2, 0, 1]], value]), "modes in another order")
    with gzip.open("phi.tsv.gz", "wt") as file:
        np.savetxt(file, np.column_stack([entries, value]), fmt="%d\t%d\t%d\t%.17g", header="0-based")
    convert("phi.tsv.gz", "zero.tns")
    check(Path("zero.tns").read_text() == Path("back.tns").read_text(), "tsv counts from 0, tns from 1")
    convert("phi.tsv.gz", "same.tns", "--zero-based")
    check(Path("same.tns").read_text() == Path("back.tns").read_text(), "the option says the same")
    Path("t.tsv").write_text("0 1 2.5\n1 2 3.5\n")
    np.savetxt("dense.txt", [[1, 2], [3, 4]])
    for name in ("o.txt.gz", "o.mtx.gz"):
        expect(["convert", "dense.txt", name], 2, f"pmg convert: {name}: compressed text is read, not written\n")
    expect(["convert", "t.tsv", "o.tns", "--one-based"], 3,
           "pmg convert: t.tsv:1: coordinate 0 in a file that counts from 1\n")
    expect(["convert", "t.tsv", "o.tns", "--shape", "2,2"], 3, "pmg convert: t.tsv:2: coordinate 2 of "
           "mode 1 is above 1, the last by --shape\n")
    expect(["convert", "t.tsv", "o.tns", "--shape", "2,3,4"], 2,
           "pmg convert: --shape gives 3 sizes, the tensor has 2 modes\n")
    expect(["convert", "t.tsv", "o.h5", "--modes", "a"], 2, "pmg convert: --modes names 1 modes, the tensor has 2\n")
    # Of two members of one name, the second took the place of the first without a word.
    for modes, what in (("a,a", "'a' is given twice"), ("value,a", "'value' is the name of the values, not of a mode"),
                        (".,a", "'.,a' is not a list of names"),
                        (f"{'a'*256},b", f"'{'a'*256},b' is not a list of names")):
        expect(["convert", "t.tsv", "twice.h5", "--modes", modes], 2, f"pmg convert: --modes: {what}\n")
    expect(["convert", "phi.h5:/PHI", "twice.tns", "--modes", "atom,atom,fiber"], 2,
           "pmg convert: --modes: 'atom' is given twice\n")
    check(not Path("twice.h5").exists() and not Path("twice.tns").exists(), "nothing is written of modes of one name")
    expect(["convert", "phi.h5:/PHI", "o.tns", "--modes", "a,b"], 3,
           "pmg convert: phi.h5: the group has not all of the members a,b,value\n")
    expect(["convert", "phi.h5:/PHI", "o.tns"], 2, "pmg convert: phi.h5:/PHI: the order of the modes is "
           "needed\n  help: --modes atom,fiber,voxel, in the order that o.tns shall have\n")


def inspections():
    Path("t.tsv").write_text("2 0 1.5\n0 1 -1\n2 0 0\n")
    status, text, _ = pmg("inspect", "t.tsv")
    check((status, text) == (0, """t.tsv: sparse tensor as text, coordinates from 0
  mode                     size        occur
  mode 0                      3            2
  mode 1                      2            2
  3 entries, not sorted, 1 duplicate
  values from -1 to 1.5, sum 0.5, 1 zero, 0 NaN, 0 infinite
"""), text)
    np.save("a.npy", np.asfortranarray(np.array([[1, np.nan, 3], [-4, np.inf, 0]], ">f4")))
    status, text, _ = pmg("inspect", "a.npy")
    check((status, text) == (0, """a.npy: NumPy's array
  name             type  shape                        min           max           sum  stored
  -                f32   [2, 3]                        -4             3             0  big-endian, column-major; \
1 zero; 1 NaN, 1 infinite
"""), text)
    np.save("a.npy", np.array([np.inf, -np.inf, -np.nan, -np.inf, 2]))
    status, text, _ = pmg("inspect", "a.npy")
    check(status == 0 and text.endswith("; 1 NaN, 3 infinite\n"), text)
    with h5py.File("g.h5", "w") as file:
        group = file.create_group("PHI")
        group["atom"], group["voxel"], group["value"] = [0, 1, 1], [2, 0, 1], [1.0, 2.0, 3.0]
        group.attrs["nAtoms"] = 9
    status, text, _ = pmg("inspect", "g.h5", "g.h5:/PHI")
    check(status == 0 and "  /PHI/atom                        i64   [3]                little-endian\n" in text
          and "attribute nAtoms = 9" in text and "3 entries, sorted by atom, voxel, 0 duplicates" in text, text)


# ---- Calls ---------------------------------------------------------------------------------------------------------

def wrong_calls():
    known = (".npy .h5 .hdf5 .npz .mat .mtx .mtx.gz .tns .tns.gz .tsv .tsv.gz .txt .txt.gz .f64 .f32 .i64 .i32 .i16 "
             ".i8 .u32 .u16 .u8 .bool")
    Path("what.xyz").write_text("1")
    Path("a.txt").write_text("1 2\n")
    os.makedirs("folder.npy", exist_ok=True)
    expect(["inspekt"], 2, "pmg: unknown command 'inspekt'\n  help: did you mean 'inspect'?\n")
    expect(["solve"], 2, "pmg: unknown command 'solve'\n  help: did you mean 'hines solve'?\n")
    for words in (["hines", "--help"], ["life", "-h"]):
        status, text, _ = pmg(*words)
        check(status == 0 and f"usage: pmg {words[0]} STEP" in text and "lists the options of a step" in text, text)
    expect(["fit", "x"], 2, "pmg: unknown command 'fit'\n  help: did you mean 'life fit'?\n")
    expect(["hines", "slove"], 2, "pmg hines: unknown step 'slove'\n  help: did you mean 'solve'?\n")
    expect(["qqqqqqqq"], 2, "pmg: unknown command 'qqqqqqqq'\n  help: 'pmg --help' lists the commands\n")
    expect(["--versio"], 2, "pmg: unknown option '--versio'\n  help: 'pmg --help' lists the commands\n")
    expect(["convert"], 2, "pmg convert: two files are needed: IN and OUT\n")
    expect(["convert", "--mode", "x"], 2, "pmg convert: unknown option '--mode'\n  help: did you mean '--modes'?\n")
    expect(["convert", "-q"], 2,
           "pmg convert: unknown option '-q'\n  help: 'pmg convert --help' lists the options\n")
    expect(["convert", "a.txt", "b.npy", "--shape"], 2, "pmg convert: --shape needs a value: A,B,C\n")
    expect(["convert", "a.txt", "b.npy", "--zero-based=1"], 2, "pmg convert: --zero-based takes no value\n")
    expect(["convert", "a.txt", "b.npy", "--zero-based", "--one-based"], 2,
           "pmg convert: --zero-based and --one-based exclude each other\n")
    expect(["convert", "a.txt", "b.npy", "--shape", "1,-2"], 2,
           "pmg convert: --shape: '1,-2' is not a list of sizes\n")
    expect(["convert", "a.txt", "b.npy", "--modes", "a"], 2,
           "pmg convert: --modes is for sparse tensors; a.txt holds an array\n")
    expect(["convert", "none.npy", "b.npy"], 4, "pmg convert: none.npy: cannot open: No such file or directory\n")
    expect(["convert", "folder.npy", "b.npy"], 4, "pmg convert: folder.npy: is a folder\n")
    expect(["convert", "a.txt", "no/such/folder/b.npy"], 4,
           "pmg convert: no/such/folder/b.npy: cannot write: there is no such folder\n")
    expect(["convert", "a.txt", "folder.npy"], 4,
           "pmg convert: folder.npy: cannot write: it exists and is not a regular file\n")
    expect(["convert", "what.xyz", "b.npy"], 2, f"pmg convert: what.xyz: unknown format\n  help: known by their "
           f"suffixes: {known}\n")
    os.makedirs("cells", exist_ok=True)
    Path("cells/cell.swc").write_text("1 1 0 0 0 1 -1\n2 3 10 1 0 1 1\n")
    made = "pmg import swc cells/cell.swc --systems=1 -o cell.h5"
    Path("tree.pmg").write_text("pipeline tree { param n; fixed in T : Tree(n); out y : f64[n]; "
                                "y[i] = cast<f64>(T.parent[i]) for i in 0..n; }\n")
    expect(["run", "tree.pmg", "T=cells/cell.swc", "-o", "y=y.npy"], 2,
           "pmg run: cells/cell.swc: a neuron's shape, from which its tree is to be made first\n"
           f"  help: {made} makes a Tree, T in that file; without --systems a Forest, F\n")
    expect(made.split()[1:], 0, "", "cells/cell.swc: 1 system, 2 nodes\n")
    check(pmg("run", "tree.pmg", "T=cell.h5", "-o", "y=y.npy")[0] == 0, "the tree that is made is taken")
    expect(["convert", "a.txt", "b.tns"], 2, "pmg convert: b.tns: the format holds sparse tensors only\n")
    expect(["convert", "t.tsv", "b.npy"], 2, "pmg convert: b.npy: the format holds one array, not 3\n")
    expect(["inspect"], 2, "pmg inspect: a file is needed\n")
    expect(["phantom"], 2, "pmg phantom: the kind of phantom is needed\n  help: 'pmg phantom life|hines|tri'\n")
    expect(["phantom", "hine"], 2,
           "pmg phantom: unknown kind of phantom 'hine'\n  help: 'pmg phantom hines'\n")
    for arguments in (["--help"], ["help"], ["convert", "--help"], ["inspect", "-h"], ["run", "--help"],
                      ["phantom", "-h"]):
        status, output, error = pmg(*arguments)
        check(status == 0 and output.startswith("usage: pmg ") and not error, f"help of {arguments}")
    check(pmg("--version")[0] == 0 and pmg()[0] == 2, "version, and no command")
    for words in (["run"], ["life", "fit"]):
        check("--target openmp|cuda|opencl " in pmg(*words, "--help")[1], f"{words}: not all targets")
    for words, name in ((["inspect", "a.txt"], "pmg inspect"), (["--help"], "pmg"), (["--version"], "pmg"),
                        (["run", "--help"], "pmg"), (["phantom", "life", "--help"], "pmg")):
        with open("/dev/full", "w") as full:
            done = subprocess.run([PMG, *words], stdout=full, stderr=subprocess.PIPE, text=True)
        check((done.returncode, done.stderr) ==
              (4, f"{name}: cannot write to the standard output: No space left on device\n"), done.stderr)


def main():
    here = os.getcwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in (npy_arrays, npy_layouts, hdf5_arrays, hdf5_storage, hdf5_large, hdf5_keeps_others, hdf5_refused,
                     raw_numbers, texts, matrices, tensors, inspections, wrong_calls):
            test()
        os.chdir(here)
    print(f"{RESULTS['passed']} passed, {RESULTS['failed']} failed")
    return RESULTS["failed"] > 0


raise SystemExit(main())
