#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""`pmg bench`: what it prints and writes, how it compares, and what it says to wrong calls.
Not with sanitizers. Its C is not optimised."""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import h5py
import numpy as np

PMG = str(Path(os.environ.get("PMG") or Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
ROOT = Path(__file__).resolve().parents[2]
TEXTS = ("bench case op version target precision weights layout restructure partition algorithm baseline limit "
         "machine clock").split()
NUMBERS = ("threads ms_median ms_min runs ratio gbps gflops fraction_of_limit error plan_ms plan_bytes ms_low ms_high "
           "ratio_low ratio_high bound adjoint of_fma of_fma_merged of_stream ms_mean").split()
OTHERS = "tuning_ms ns_row operations inspect_ms device_bytes".split()     # of some rows only
IS_LONG = "PMG_TEST_LONG" in os.environ
CASES = []


def case(function):
    CASES.append(function)
    return function


def long_case(function):
    """What another case asks of other versions or options."""
    return case(function) if IS_LONG else function


def bench(*words, status=0):
    """What a call prints; its exit status is checked."""
    env = dict(os.environ, OMP_WAIT_POLICY="passive")
    run = subprocess.run([PMG, "bench", *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                         check=False)
    assert run.returncode == status, f"status {run.returncode}: {run.stdout}"
    return run.stdout


def life(folder, *words, status=0):
    """Output and records of a small problem."""
    path = Path(folder) / "records.json"
    out = bench("life", "--scale=0.0004", "--ntheta=33", "--grid-of-angles=9", "--min-time=0", f"--cache={folder}",
                "--threads=2", f"--json={path}", *words, status=status)
    return out, [json.loads(line) for line in path.read_text().splitlines()] if status == 0 else []


@case
def every_version_is_right_and_recorded(folder):
    out, records = life(folder)
    names = {r["version"] for r in records}
    assert {"generated", "cpu_naive", "cpu_naive_par", "cpu_opt_noblas", "best", "best_f32"} <= names, names
    assert len(records) == 2*len(names)
    for r in records:
        assert sorted(r) == sorted(TEXTS + NUMBERS + OTHERS), sorted(r)
        assert all(isinstance(r[name], str) for name in TEXTS), r
        assert all(isinstance(r[name], (int, float)) for name in NUMBERS), r
        assert 0 < r["ms_min"] <= r["ms_low"] <= r["ms_median"] <= r["ms_high"] and r["runs"] >= 6
        assert r["ratio_low"] <= r["ratio"] <= r["ratio_high"] and r["baseline"] == "cpu_naive"
        assert r["bound"] <= 1 and r["error"] < (1e-6 if r["precision"] == "f32" else 1e-14), r
        assert r["adjoint"] < (1e-6 if r["precision"] == "f32" else 1e-13), r
        assert r["of_fma_merged"] <= r["of_fma"] and r["fraction_of_limit"] > 0
    first = ("bench case op version target threads precision weights layout restructure partition algorithm ms_median "
             "ms_min runs baseline ratio gbps gflops limit fraction_of_limit error plan_ms plan_bytes machine").split()
    assert list(records[0])[:len(first)] == first
    naive = [r for r in records if r["version"] == "cpu_naive"]
    assert all(r["ratio"] == 1 and r["error"] == 0 and r["threads"] == 1 for r in naive)
    assert re.search(r"triad GB/s.*read GB/s.*FMA f64", out), out
    assert all(len(re.findall(rf"^{r['op']} +{r['version']} ", out, re.M)) == 1 for r in records)


@long_case
def weights_may_be_sparse(folder):
    _, dense = life(folder, "--versions=cpu_naive,best", "--op=dsc")
    _, sparse = life(folder, "--versions=cpu_naive,best", "--op=dsc", "--weights=sparse=0.21")
    assert [r["weights"] for r in dense + sparse] == ["dense"]*2 + ["sparse=0.21"]*2
    share = sparse[0]["of_fma_merged"]/sparse[0]["of_fma"]/(dense[0]["of_fma_merged"]/dense[0]["of_fma"])
    assert 0.15 < share < 0.45, share


@long_case
def seconds_of_processors_may_be_counted(folder):
    _, records = life(folder, "--versions=cpu_naive,generated", "--op=dsc", "--clock=cpu")
    assert [r["clock"] for r in records] == ["cpu"]*2 and all(r["ms_min"] > 0 for r in records)
    assert records[1]["version"] == "generated" and records[1]["bound"] <= 1


@case
def cells_and_generated_versions_are_chosen(folder):
    _, records = life(folder, "--versions=cpu_naive,cpu_opt_noblas@voxel+voxel", "--generated=--vector=off",
                      "--generated=--vector=off --parallel=off", "--op=wc", "--baseline=cpu_opt_noblas")
    assert [(r["version"], r["algorithm"]) for r in records] == [
        ("cpu_naive", ""), ("cpu_opt_noblas", ""), ("generated", "--vector=off"),
        ("generated", "--vector=off --parallel=off")]
    assert (records[1]["partition"], records[1]["restructure"]) == ("voxel", "voxel")
    assert records[1]["ratio"] == 1 and all(r["baseline"] == "cpu_opt_noblas" for r in records)


@case
def the_grid_stands_beside_the_thesis(folder):
    out, records = life(folder, "--versions=cpu_naive,cpu_naive_blas", "--grid", "--scaling", "--op=dsc")
    ms = {r["version"]: r["ms_median"] for r in records if r["version"] == "cpu_naive_blas" or
          (r["version"], r["restructure"]) == ("cpu_naive", "atom")}
    factor = re.search(r"^F6.1 dsc +cpu_naive_blas +cpu_naive +5.5 +([\d.e+-]+)$", out, re.M)
    assert abs(float(factor[1])*ms["cpu_naive_blas"]/ms["cpu_naive"] - 1) < 0.01, (factor[1], ms)
    for row in (r"T6.2 dsc cpu_naive +coeff +atom +1 +8.187 +8.452 +1 +1 +1 +[\d.e-]+ +1 +[\d.e-]+ +[\d.e-]+$",
                r"T6.3 dsc cpu_naive_par +voxel +voxel +16 +2.553 +2.407 +3.21 +3.51 +2( +[\d.e-]+){4}$",
                r"T6.4 wc +cpu_opt +coeff +atom +16 +0.382 +0.391 +16.5 +16.1 +2 +- +- +- +-$",
                r"T6.5 cpu_naive_par +16 +1.11 +52.20 +4.72 +4.31 +- +-$",
                r"F6.1 all +cpu_opt +cpu_naive +27.25 +-$", r"F6.1 dsc +cpu_opt +cpu_opt_noblas +4.81 +-$"):
        assert re.search(row, out, re.M), (row, out)
    cells = {(r["op"], r["version"], r["partition"], r["restructure"]) for r in records}
    assert ("dsc", "cpu_naive_par", "voxel", "voxel") in cells and ("dsc", "cpu_naive", "coeff", "voxel") in cells
    assert {r["threads"] for r in records if r["version"] == "cpu_naive_par"} == {1, 2}


@case
def rows_are_only_checked(folder):
    out = bench("life", "--scale=0.0004", "--grid-of-angles=9", f"--cache={folder}", "--check", "--op=wc",
                "--versions=cpu_naive,best,generated", "--threads=1")
    assert out.endswith("\nchecked: 3 rows are right\n") and "ceilings" not in out, out


@case
def counters_tell_vectors(folder):
    """Of 96 directions, a pair takes 24 fused operations of vectors of 4 doubles; the original code has no vectors."""
    if not shutil.which("valgrind"):
        print("counters: skipped, there is no valgrind")
        return
    versions = "cpu_naive,best" if IS_LONG else "best"
    done = subprocess.run([ROOT / "bench" / "counters.py", "--op=dsc", "--time=first", f"--versions={versions}",
                           "--scale=0.0001", f"--cache={folder}"], env=dict(os.environ, BUILD=str(Path(PMG).parent)),
                          capture_output=True, text=True, check=False)
    *naive, best = re.findall(r"^dsc +first +\S+ +([\d.e+]+) +([\d.e+]+)", done.stdout, re.M)
    assert 8 < float(best[1]) <= 24 and len(naive) == IS_LONG, done.stdout
    assert all(float(row[1]) == 0 and float(row[0]) > 4*float(best[0]) for row in naive), done.stdout


@case
def solvers_take_turns(folder):
    out, records = life(folder, "--op=fit", "--iterations=20", "--clock=cpu")
    assert [r["version"] for r in records] == ["cpu_opt", "best", "generated"], records
    for r in records:
        assert (r["op"], r["runs"], r["baseline"], r["clock"]) == ("fit", 20, "cpu_opt", "cpu"), r
        assert r["error"] < 1e-9 and r["ms_min"] <= r["ms_mean"] and r["ratio"] > 0 and r["plan_bytes"] > 0, r
        assert re.search(rf"^{r['version']} +2 +20( +[\d.e+-]+)+$", out, re.M), out
    assert records[0]["ratio"] == 1


@case
def a_problem_may_be_a_file(folder):
    rng = np.random.default_rng(1)
    path = f"{folder}/own.h5"
    with h5py.File(path, "w") as file:
        for name, limit in (("atom", 5), ("voxel", 7), ("fiber", 6)):
            file[f"PHI/{name}"] = rng.integers(0, limit, 50)
        file["PHI/value"] = rng.standard_normal(50)
        file["D"] = rng.standard_normal((5, 10))
    _, records = life(folder, "--versions=cpu_naive,generated,best", f"--problem={path}")
    assert len(records) == 6 and all(r["case"] == path and r["bound"] <= 1 for r in records)
    with h5py.File(path, "a") as file:
        file["PHI/atom"][3] = 5
    out, _ = life(folder, f"--problem={path}", status=3)
    assert "PHI.atom[3] is 5, not in 0..5" in out, out


@case
def files_are_compared_by_their_intervals(folder):
    def write(name, *times):
        rows = [{"bench": "life", "case": "c", "op": "dsc", "version": version, "threads": 2,
                 "ms_median": (low + high)/2, "ms_low": low, "ms_high": high} for version, low, high in times]
        (Path(folder) / name).write_text("".join(json.dumps(row) + "\n" for row in rows))
        return f"{folder}/{name}"

    old = write("old.json", ("a", 10, 12), ("b", 10, 12), ("c", 10, 12), ("gone", 1, 2))
    new = write("new.json", ("a", 8, 9), ("b", 11.5, 14), ("c", 13, 14), ("other", 1, 2))
    out = bench("--compare", old, new)
    assert re.search(r"^dsc a .* 1\.294 faster$", out, re.M), out
    assert re.search(r"^dsc b .* 0\.863 same$", out, re.M) and re.search(r"^dsc c .* 0\.815 slower$", out, re.M), out
    assert "3 of 4 rows are in both files" in out
    assert "no row in common" in bench("--compare", old, write("none.json", ("x", 1, 2)), status=3)


@long_case
def a_file_compares_with_itself_as_the_same(folder):
    life(folder, "--versions=cpu_naive,best", "--generated=--vector=off")
    out = bench("--compare", f"{folder}/records.json", f"{folder}/records.json")
    assert out.count(" 1.000 same\n") == 4 and out.count(" 1.000 same  --vector=off\n") == 2, out


def systems(folder, *words, status=0):
    """Output and records of a few small systems."""
    path = Path(folder) / "systems.json"
    out = bench(*words, "--min-time=0", "--threads=2", f"--json={path}", status=status)
    return out, [json.loads(line) for line in path.read_text().splitlines()] if status == 0 else []


@case
def systems_are_measured_in_every_layout(folder):
    out, records = systems(folder, "tri", "--n=20", "--systems=40")
    names = {r["version"] for r in records}
    assert {"stream", "generated", "written", "generated_held", "written_held", "into_blocks", "out_of_blocks",
            "copied", "moved16", "sequential", "multicore", "interleaved8", "interleaved32"} <= names
    assert {"--interleave=off", "'--with=layout d : interleave(block = 8)'",
            "'--with=layout d : interleave(block = 32)'"} <= {r["algorithm"] for r in records}
    out, swept = systems(folder, "tri", "--n=20,33", "--systems=4,40", "--versions=stream,sequential,interleaved16")
    assert [r["case"] for r in swept[::3]] == [f"n={n} systems={s} seed=1" for n in (20, 33) for s in (4, 40)], swept
    # of all arrays, read and written; 48 systems with those that the last block lacks
    copies = {"into_blocks": 4*(40 + 48), "out_of_blocks": 48 + 40, "copied": 4*(40 + 40)}
    for r in records + swept:
        assert r["ns_row"] > 0 and 0 < r["ms_min"] <= r["ms_low"] <= r["ms_median"] <= r["ms_high"], r
        if r["version"] in copies:
            assert abs(r["gbps"] * r["ms_median"] * 1e6 / (20 * 8 * copies[r["version"]]) - 1) < 1e-4, r
            assert r["of_stream"] is None and r["error"] is None and r["layout"] == "blocks of 16", r
            continue
        assert r["of_stream"] > 0 and r["limit"] == "stream" and r["bench"] == "tri", r
        if r["version"] not in ("stream", "moved16"):
            assert r["error"] < 1e-13 and r["bound"] <= 1 and r["baseline"] == "sequential", r
    assert out.count("MB to read and write") == 4, out
    _, records = systems(folder, "tri", "--n=3", "--systems=1",
                         "--versions=generated_held,into_blocks,out_of_blocks,copied")
    assert [r["version"] for r in records] == ["generated_held"], records   # nothing is in blocks


def logging_compiler(folder, name, command):
    """A C compiler that notes each call in the file that is given back."""
    compiler, log = Path(folder) / name, Path(folder) / f"{name}.log"
    compiler.write_text(f'#!/bin/sh\necho "$@" >> {log}\n{command}\n')
    compiler.chmod(0o755)
    return compiler, log


@case
def the_same_code_is_compiled_once(folder):
    """Whatever the number of systems and the layouts, but for each compiler and folder; with --keep, other code has a
    folder of its own."""
    compiler, log = logging_compiler(folder, "cc", 'exec gcc "$@"')
    another, other_log = logging_compiler(folder, "another", 'exec gcc "$@"')
    kept, apart = Path(folder) / "kept", Path(folder) / "apart"
    _, records = systems(folder, "tri", "--n=700", "--systems=4,40", "--versions=generated,generated_held,into_blocks",
                         "--baseline=generated", "--generated=--interleave=off", f"--generated=--cc={another}",
                         f"--generated=--keep={apart}", f"--cc={compiler}", f"--keep={kept}")
    assert len(records) == 12, records
    assert len(log.read_text().splitlines()) == 3, log.read_text()
    assert len(other_log.read_text().splitlines()) == 1, other_log.read_text()
    first, flat, again = ((kept / part / "tri_batch.c").read_text() for part in (".", "1", "2"))
    assert "interleave" in first and "interleave" not in flat
    assert first == again == (apart / "tri_batch.c").read_text()
    assert not (kept / "3").exists() and not (apart / "1").exists()


@case
def what_cannot_be_compiled_is_kept_too(folder):
    compiler, _ = logging_compiler(folder, "failing", "exit 1")
    kept = Path(folder) / "failed"
    out = bench("tri", "--n=7", "--systems=4", "--versions=generated", "--min-time=0", f"--cc={compiler}",
                f"--keep={kept}", status=7)
    assert f"the C compiler '{compiler}' fails" in out and (kept / "tri_batch.c").exists(), out


# Six programs are compiled, which takes its time.
@long_case
def algorithms_stand_side_by_side(folder):
    out, records = systems(folder, "tri", "--algorithms", "--n=8", "--systems=3")
    assert [r["operations"] for r in records] == [None, 9, 19, 41, 65, 61, 22.75, 84], records
    assert out.count(" ops/row") == 1 and all(r["error"] < 1e-13 for r in records), out
    _, records = systems(folder, "hines", "--algorithms", "--tree=64/9", "--shared", "--systems=3")
    assert [r["algorithm"] for r in records] == [""] + [f"'--with=algorithm x : {a}'" for a in (
        "chains", "hines", "level_batches", "partition(rows = 16)", "partition")], records
    assert all(r["error"] < 1e-13 and r["operations"] is None for r in records), records


@case
def trees_are_measured_by_kind(folder):
    kinds = ((["--tree=19/5", "--shared"], "hines", "transposed"),
             (["--tree=19/5,levels=9,2x4", "--precision=f32"], "hines", "interleaved16"),
             (["--tree=19/5", "--many", "--lengths=3..19"], "forest", "masked8"))
    for words, op, wanted in kinds if IS_LONG else kinds[1:]:
        _, records = systems(folder, "hines", *words, f"--versions=stream,generated,sequential,{wanted}",
                             "--systems=21")
        assert {r["version"] for r in records} == {"stream", "generated", "sequential", wanted}, records
        assert all(r["op"] == op for r in records)
    _, records = systems(folder, "hines", "--tree=64/9", "--many", "--versions=generated_held", "--systems=34000")
    assert records[0]["error"] < 1e-13 and records[0]["bound"] <= 1, records    # 17 MB, past the caches
    _, records = systems(folder, "tri", "--lengths=3..19", "--versions=generated,sequential", "--systems=9",
                         "--generated=--parallel=off")
    assert [r["algorithm"] for r in records] == ["", "", "--parallel=off"], records
    _, records = systems(folder, "tri", "--lengths=3..19", "--versions=sequential", "--systems=9")
    assert [r["case"] for r in records] == ["n=19 lengths=3..19 systems=9 seed=1"], records     # once
    _, records = systems(folder, "tri", "--n=5", "--versions=generated_held", "--systems=9", "--held=--fuse=off")
    assert [(r["version"], r["algorithm"]) for r in records] == [("generated_held", ""),
                                                                 ("generated_held", "--fuse=off")], records


@long_case
def the_papers_stand_beside(folder):
    out, _ = systems(folder, "hines", "--tree=medium-high", "--systems=256", "--versions=sequential,multicore")
    assert re.search(r"^F3 +16 cores +x 2 +here: multicore x [\d.]+, generated -$", out, re.M), out


@case
def wrong_calls_are_told(folder):
    for words, text in ((["hines", "--versions=something"], "there are generated, written, generated_held, "),
                        (["life", "--versions=bst"], "there is no version 'bst'\n  help: did you mean 'best'?"),
                        (["life", "--versions=best@voxel"], "is not PARTITION+ORDER"),
                        (["life", "--weights=some"], "neither dense nor sparse=SHARE"),
                        (["life", "--weights=sparse=2"], "neither dense nor sparse=SHARE"),
                        (["life", "--scale=big"], "'big' is not a size above 0"),
                        (["life", "--min-time=x"], "is not a number of seconds"),
                        (["life", "--clock=sun"], "'sun' is neither wall nor cpu"),
                        (["life", "--op=both"], "'both' is none of dsc, wc and fit"),
                        (["life", "--op=fit", "--grid"], "--op=fit takes no"),
                        (["life", "--baseline=bst"], "did you mean 'best'?"),
                        (["life", "--target=cuda", "--baseline=best"], "there is no version 'best' for a GPU"),
                        (["life", "--target=cuda", "--op=fit", "--versions=best"], "has one version, generated"),
                        (["life", "--op=fit", "--weights=sparse=0.2"], "--op=fit takes --weights with --target=cuda"),
                        (["life", "--check", "--grid"], "--check takes no"),
                        (["life", "--op=fit", "--versions=bst"], "did you mean 'best'?"),
                        (["life", "--isa=v9"], "cannot run 'v9'"),
                        (["life", "--target=vax", "--scale=0.0004"], "--target takes openmp or cuda, not 'vax'"),
                        (["life", "--repeat=3"], "unknown option '--repeat'"),
                        (["life", "--generated=--nothing=1"], "unknown option '--nothing=1'"),
                        (["life", "--op=dsc", "--generated=wc:--nothing=1"], "unknown option '--nothing=1'"),
                        (["life", "--versions=,"], "there is nothing to measure"),
                        (["life", "here"], "'here' is not an option"),
                        (["tri", "--n=0"], "'0' is not a number of rows"),
                        (["tri", "--systems=none"], "'none' is not a number of systems"),
                        (["tri", "--shared"], "unknown option '--shared'"),
                        (["tri", "--versions=interleaved9"], "did you mean 'interleaved8'?"),
                        (["tri", "--n=4", "--versions=sequential", "--baseline=multicore"],
                         "no version that is measured is called 'multicore'\n  help: there is only sequential"),
                        (["tri", "--n=4", "--versions=sequential", "--held=--nothing=1"],
                         "--held: unknown option '--nothing=1'\n  help: options of 'pmg run' stand here"),
                        (["tri", "--precision=f16"], "'f16' is neither f32 nor f64"),
                        (["tri", "--lengths=9"], "'9' is not LOW..HIGH"),
                        (["tri", "--lengths=0..5"], "integers from 1 to 2147483647, LOW not above HIGH"),
                        (["tri", "--versions=sequential,stream,sequential"], "'sequential' is there twice"),
                        (["tri", "--n=2147483648"], "is not a number of rows, from 1 to 2147483647"),
                        (["tri", "--lengths=3..5", "--n=4"], "--n and --lengths exclude each other"),
                        (["tri", "--n=8,,9"], "'' is not a number of rows"),
                        (["tri", "--systems=4,0"], "'0' is not a number of systems"),
                        (["hines", "--tree=16/3,foo"], "foo"), (["tri", "--max-mem=1"], "unknown option '--max-mem'"),
                        (["tri", "--generated=--target=cuda"], "--generated: --target takes openmp here"),
                        (["tri", "--generated='--with=x"], "--generated: the quote before '--with=x' is not closed"),
                        (["tri", "--versions=sequential", "--generated=--vector=off", "--baseline=multicore"],
                         "there are sequential and generated"),
                        (["life", "--generated=dsc:"], "there are no options behind 'dsc:'"),
                        (["life", "--versions=cpu_naive", "--baseline=best"],
                         "no version that is measured is called 'best'\n  help: there is only cpu_naive"),
                        (["hines", "--tree=smal-low"], "did you mean 'small-low'?"),
                        (["hines", "--shared", "--many"], "--shared is for systems on one tree"),
                        (["hines", "--isa=v9"], "cannot run 'v9'"), (["hines", "here"], "'here' is not an option"),
                        (["lfe"], "did you mean 'life'?"), (["foo"], "there are life, hines and tri"),
                        ([], "say what to measure"),
                        (["--compare", "one"], "takes two files")):
        small = {"life": ["--scale=0.0004", f"--cache={folder}"], "tri": ["--systems=3"],
                 "hines": ["--systems=3"]}.get(words[0] if words else "", [])
        out = bench(*words[:1], *small, *words[1:], status=2)
        assert text in out and "median ms" not in out, (words, out)
    assert "cannot open" in bench("--compare", "/nowhere/a", "/nowhere/b", status=4)
    assert "nothing is measured" in bench("tri", "--n=8", "--systems=99999999999", status=5)


@case
def records_that_cannot_be_written_are_told_before_anything_is_measured(folder):
    for words in (["life", f"--cache={folder}"], ["life", "--op=fit", f"--cache={folder}"], ["tri"], ["hines"]):
        out = bench(*words, "--json=/nowhere/records.json", status=4)
        assert out == f"pmg bench {words[0]}: /nowhere/records.json: cannot write: No such file or directory\n", out
    life(folder, "--versions=best", "--op=dsc")
    before = (Path(folder) / "records.json").read_text()
    life(folder, "--problem=/nowhere/x.h5", status=4)
    assert (Path(folder) / "records.json").read_text() == before
    _, records = life(folder, "--versions=best", "--op=wc")
    assert [r["op"] for r in records] == ["wc"], records
    _, before = systems(folder, "tri", "--n=4", "--systems=3", "--versions=sequential")
    for wrong in "--generated=--nothing=1", "--systems=4,0", "--baseline=multicore":
        bench("tri", "--n=4", "--systems=3", "--versions=sequential", f"--json={folder}/systems.json", wrong, status=2)
    assert [json.loads(line) for line in (Path(folder) / "systems.json").read_text().splitlines()] == before


@case
def what_cannot_be_is_left_out(folder):
    out, records = life(folder, "--versions=cpu_naive,cpu_opt_noblas@voxel+atom", "--op=dsc")
    assert "dsc of cpu_opt_noblas is left out: a partition by voxel needs" in out and len(records) == 1


def main():
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        for check in CASES:
            try:
                check(folder)
            except AssertionError as error:
                print(f"{check.__name__}: {error}")
                failed += 1
    print(f"{len(CASES) - failed} passed, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
