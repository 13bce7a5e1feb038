#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pmg bench tri` and `hines` with --target=cuda, with kernels by hand that are compiled for the processor
(tests/cuda/emulated/nvcc): every method's results, what is recorded, parts, and messages. Not seen here: cuSPARSE,
clusters of blocks and copies that go on beside the work, which only nvcc compiles, and generated kernels, which cannot
reach the memory of another library there.
Not with sanitizers. Its C is not optimised."""
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

PMG = str(Path(os.environ.get("PMG") or Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
BY_THREADS = "thomas_batch,thomas_registers"
BY_LANES = "hybrid,hybrid_8,hybrid_16"
HINES = "hines_flat,hines_interleaved,hines_blocks_32,hines_shared"
CHAINS = "nodes,chains,chains_4,held,held_4,held_8,held_16,held_24,best"
OF_ONE_TREE = "hines_levels,hines_registers"
KEPT = tempfile.TemporaryDirectory()
OF_LENGTHS = f"thomas_vbatch_cp,thomas_vbatch_ncp,thomas_vbatch_ncp_sorted,thomas_registers,{BY_LANES}"


def bench(*words, status=0, nvcc=None):
    nvcc = nvcc or f"tests/cuda/emulated/once {KEPT.name}"
    run = subprocess.run([PMG, "bench", *words, "--target=cuda", f"--nvcc={nvcc}", "--min-time=0"],
                         stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    assert run.returncode == status, f"status {run.returncode}: {run.stdout}"
    return run.stdout


def records(folder, *words):
    path = Path(folder) / "systems.json"
    path.unlink(missing_ok=True)
    bench(*words, f"--json={path}")
    return [json.loads(line) for line in path.read_text().splitlines()]


def check(measured, least_bytes, most_error):
    for r in measured:
        assert r["target"] == "cuda" and r["clock"] == "device" and r["runs"] >= 7, r
        if r["version"] in ("copy", "convert"):
            assert r["error"] is None and r["fraction_of_limit"] is None, r
            continue
        assert r["error"] < most_error and r["limit"] == "copy" and r["fraction_of_limit"] > 0, r
        assert abs(r["gbps"]*r["ms_median"]*1e6/least_bytes - 1) < 1e-4, r


def every_tridiagonal_method_is_right(folder):
    """Of one row, of less rows than a lane has, of several blocks' lanes; one warp's systems and more."""
    for n, systems in (1, 3), (13, 5), (64, 18), (300, 2):
        found = records(folder, "tri", f"--n={n}", f"--systems={systems}",
                        f"--versions=copy,convert,{BY_THREADS},{BY_LANES}")
        assert [r["version"] for r in found] == f"copy,convert,{BY_THREADS},{BY_LANES}".split(","), found
        check(found, 40*n*systems, 1e-13)
    found = records(folder, "tri", "--n=77", "--systems=5", "--precision=f32",
                    f"--versions={BY_THREADS},{BY_LANES},hybrid_32")
    check(found, 20*77*5, 1e-5)


def lengths_may_differ(folder):
    for precision, most, size in ("f64", 1e-13, 8), ("f32", 1e-5, 4):
        found = records(folder, "tri", "--lengths=1..90", "--systems=35", f"--precision={precision}",
                        f"--versions={OF_LENGTHS}")
        assert len(found) == 7, found
        rows = found[0]["gbps"]*found[0]["ms_median"]*1e6/(5*size)
        check(found, 5*size*round(rows), most)
    out = bench("tri", "--lengths=3..9", "--systems=4", "--versions=thomas_batch,thomas_registers")
    assert "thomas_batch is left out: it is for systems of one length" in out, out


def rows_and_lanes_are_told(folder):
    found = records(folder, "tri", "--n=40,600", "--systems=2", "--versions=hybrid_8,hybrid_16")
    assert [r["layout"] for r in found] == ["8 rows, 8 lanes, 1 block", "16 rows, 4 lanes, 1 block",
                                            "8 rows, 128 lanes, 1 block", "16 rows, 64 lanes, 1 block"], found


def every_method_for_trees_is_right(folder):
    """Short branches and long ones, more chains than a warp has lanes, systems that no multiple of 16 bytes
    separates."""
    for tree, systems, versions in (("1/0", 2, f"{HINES},{OF_ONE_TREE},{CHAINS}"),
                                    ("37/12", 11, f"{HINES},{OF_ONE_TREE},{CHAINS}"),
                                    ("150/70", 2, "hines_registers,hines_levels,nodes,chains_8,held_4"),
                                    ("levels=3", 2, "hines_levels,held_24,best")):
        found = records(folder, "hines", f"--tree={tree}", f"--systems={systems}", f"--versions={versions}")
        assert [r["version"] for r in found] == versions.split(","), found
        check(found, 40*systems*(512 if "levels" in tree else int(tree.split("/")[0])), 1e-13)
    found = records(folder, "hines", "--tree=41/9", "--systems=7", "--precision=f32",
                    f"--versions={HINES},{OF_ONE_TREE},{CHAINS}")
    check(found, 20*7*41, 1e-5)


def trees_may_differ(folder):
    found = records(folder, "hines", "--tree=40/12", "--many", "--systems=7", f"--versions={HINES},{CHAINS}")
    check(found, 44*7*40, 1e-13)        # with a parent for each node
    assert {r["op"] for r in found} == {"forest"}, found
    for precision, most in ("f64", 1e-13), ("f32", 1e-5):
        found = records(folder, "hines", "--tree=40/12", "--many", "--lengths=1..40", "--systems=9",
                        f"--precision={precision}", f"--versions={HINES},{CHAINS}")
        assert len(found) == 13 and all(r["error"] < most for r in found), found
    out = bench("hines", "--tree=9/3", "--many", "--systems=4", "--versions=hines_levels,hines_registers,chains")
    assert out.count("is left out: it is for systems on one tree") == 2, out


def chains_are_told(folder):
    """A tree of 512 nodes in three levels of branches: one of 256, two of 64, four of 32."""
    found = records(folder, "hines", "--tree=levels=3", "--systems=2",
                    "--versions=hines_levels,hines_registers,chains_16,held_24")
    layouts = [r["layout"] for r in found]
    assert layouts == ["interleaved, 6 kernels", "interleaved, 2 slots",
                       "staged of 16, 32 chains, 22 levels, 32 lanes x 1",
                       "held of 24, 25 chains, 16 levels, 32 lanes x 1"], layouts


def parts_go_on_where_the_last_ended(folder):
    path = Path(folder) / "parts.json"
    words = "tri", "--n=4,8", "--systems=3", "--versions=thomas_batch", f"--json={path}"
    out = bench(*words, "--part=1e-9")
    assert "the same command goes on" in out and len(path.read_text().splitlines()) == 1, out
    bench(*words, "--part=60")
    assert [json.loads(line)["case"] for line in path.read_text().splitlines()] == [
        "n=4 systems=3 seed=1", "n=8 systems=3 seed=1"]
    before = path.read_text()
    out = bench(*words, "--part=60")
    assert path.read_text() == before and "median us" not in out, out
    bench(*words[:-1], "--precision=f32", words[-1], "--part=60")
    assert len(path.read_text().splitlines()) == 4      # other cases


def wrong_calls_are_answered(_):
    for words, text in ((["--versions=hybird"], "for a GPU\n  help: did you mean 'hybrid'?"),
                        (["--versions=stream"], "there is no version 'stream' for a GPU"),
                        (["--held=--fuse=off"], "--held is for processors"), (["--isa=v3"], "--isa is for processors"),
                        (["--versions=held"], "there is no version 'held' for a GPU"),
                        (["--clock=cpu"], "--clock is for processors"),
                        (["--algorithms"], "--algorithms is for processors"),
                        (["--part=5"], "--part goes on from the records of --json"),
                        (["--part=x", "--json=/dev/null"], "--part: 'x' is not a number of seconds"),
                        (["--generated=--target=openmp"], "--generated: --target takes cuda here, not 'openmp'")):
        out = bench("tri", *words, status=2)
        assert text in out and "median us" not in out, (words, out)
    out = bench("hines", "--shared", status=2)
    assert "--shared is for processors: not with --target=cuda" in out, out
    out = bench("tri", "--n=4", "--versions=hybrid", status=7, nvcc="false")
    assert "the CUDA compiler fails on" in out and "--nvcc COMMAND takes another one" in out, out


def main():
    checks = (every_tridiagonal_method_is_right, lengths_may_differ, rows_and_lanes_are_told,
              every_method_for_trees_is_right, trees_may_differ, chains_are_told, parts_go_on_where_the_last_ended,
              wrong_calls_are_answered)
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for function in checks:
            try:
                function(folder)
            except AssertionError as error:
                print(f"{function.__name__}: {error}")
                failed += 1
    print(f"{len(checks) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
