# SPDX-License-Identifier: MIT
"""`pmg run --target=cuda`: with kernels compiled for the processor (emulated/nvcc), the interpreter's results; what is
said when there is no compiler, no such target, and too little memory. Of what is compared with the interpreter, a third
runs without PMG_TEST_LONG. Its C is not optimised."""
import os
import subprocess
import sys
from pathlib import Path

PMG = str(Path(os.environ.get("BUILD", "build")) / "pmg")
NVCC = "tests/cuda/emulated/nvcc"
SIZES = ["nAtoms=9", "nFibers=20", "PHI=random:1", "D=random:2"]
SHORT, LONG = ["nVoxels=30", "nCoeffs=200"], ["nVoxels=2", "nCoeffs=1500"]      # segments
DSC = ["dsl_examples/life_dsc.pmg", *SIZES, *SHORT, "w=random:3"]
WC = ["dsl_examples/life_wc.pmg", *SIZES, *SHORT, "Y=random:3"]
SOLVER = ["dsl_examples/sbbnnls.pmg", *SIZES, *SHORT, "b=random:3", "w0=0", "maxIter=3", "preconditioned=1",
          "tolGradient=0", "tolObjective=0"]
LONG_DSC = ["dsl_examples/life_dsc.pmg", *SIZES, *LONG, "w=random:3"]
LONG_WC = ["dsl_examples/life_wc.pmg", *SIZES, *LONG, "Y=random:3"]
MANY = ["nAtoms=400", *SIZES[1:], *LONG]                # atoms: groups then have several rows of a warp
F32_Y, F32_W = ("--with=precision D : f32; accumulate " + name + " : f32" for name in "Yw")
TOP = "--with=precision D : f64top"
BENCH = ["--scale=0.0004", "--ntheta=33", "--grid-of-angles=9"]
NO_RESOURCES, NO_COMPILER, USAGE, PROGRAM = 5, 7, 2, 1

CASES = [
    ([*DSC, "nTheta=96", "--compare"], {}, 0, "Y "),
    ([*DSC, "nTheta=33", "--compare", "--with=precision D : f32"], {}, 0, "Y "),
    ([*DSC, "nTheta=96", "--compare", "--with=precision D : f64top; accumulate Y : f32"], {}, 0, "Y "),
    ([*DSC, "nTheta=48", "--compare"], {}, 0, "Y "),
    ([*DSC, "nTheta=40", "--compare", "--with=precision D : f64top"], {}, 0, "Y "),
    ([*LONG_DSC, "nTheta=90", "--compare", "--repeat=2"], {}, 0, "Y "),
    (["dsl_examples/life_dsc.pmg", *MANY, "w=random:3", "nTheta=96", "--compare", F32_Y], {}, 0, "Y "),
    (["dsl_examples/life_dsc.pmg", *MANY, "w=random:3", "nTheta=90", "--compare", TOP], {}, 0, "Y "),
    (["dsl_examples/life_wc.pmg", *MANY, "Y=random:3", "nTheta=90", "--compare", F32_W], {}, 0, "w "),
    (["dsl_examples/life_wc.pmg", *MANY, "Y=random:3", "nTheta=64", "--compare", TOP], {}, 0, "w "),
    (["dsl_examples/life_wc.pmg", *MANY, "Y=random:3", "nTheta=24", "--compare", F32_W], {}, 0, "w "),
    (["dsl_examples/life_dsc.pmg", *MANY, "w=random:3", "nTheta=91", "--compare"], {}, 0, "Y "),
    (["dsl_examples/life_wc.pmg", *MANY, "Y=random:3", "nTheta=91", "--compare", F32_W], {}, 0, "w "),
    ([*DSC, "nTheta=150", "--compare", "--skip-zeros=off"], {}, 0, "Y "),
    ([*DSC, "nTheta=96", "--compare", "--vector=off", "--block-warps=8"], {}, 0, "Y "),
    ([*LONG_DSC, "nTheta=96", "--compare", "--warp-loops=off", "--block-warps=1"], {}, 0, "Y "),
    ([*LONG_DSC, "nTheta=96", "--compare", "--unroll=off", "--block-warps=2"], {}, 0, "Y "),
    ([*LONG_WC, "nTheta=96", "--compare", "--unroll=off", TOP], {}, 0, "w "),
    ([*LONG_WC, "nTheta=96", "--compare", "--unroll=off", F32_W], {}, 0, "w "),
    ([*LONG_WC, "nTheta=96", "--compare", "--warp-loops=off"], {}, 0, "w "),
    ([*SOLVER, "nTheta=8", "--compare", "--block-warps=1", "--unroll=off"], {}, 0, "w "),
    ([*DSC, "nTheta=96", "--block-warps=3"], {}, USAGE, "--block-warps takes 1, 2, 4 or 8, or 0, not 3"),
    ([*DSC, "nTheta=96", "--compare", "--deterministic"], {}, 0, "Y "),
    ([*SOLVER, "nTheta=8", "--compare", "--specialize=nTheta=16"], {}, 0, "w "),
    ([*DSC, "nTheta=64", "--compare", "--with=restructure PHI by voxel; partition Y by parts"], {}, 0, "Y "),
    ([*DSC, "nTheta=96", "--compare", "--with=premultiply PHI by atom"], {}, 0, "Y "),
    ([*LONG_WC, "nTheta=33", "--compare", "--with=premultiply PHI by atom; precision D : f32"], {}, 0, "w "),
    ([*WC, "nTheta=96", "--compare", "--repeat=2"], {}, 0, "w "),
    ([*LONG_WC, "nTheta=33", "--compare"], {}, 0, "w "),
    ([*WC, "nTheta=64", "--compare", "--with=restructure PHI by fiber; accumulate w : f32"], {}, 0, "w "),
    (["dsl_examples/mttkrp.pmg", "--pipeline=mttkrp", "X=random:1", "B=random:2", "C=random:3", "nA=5", "nB=40", "nC=9",
      "nnz=2000", "rank=17", "--compare"], {}, 0, "M "),
    ([*WC, "nTheta=96"], {"PMG_EMULATED_MEMORY": "1000"}, NO_RESOURCES,
     "pmg run: pipeline 'life_wc' needs 0.1 MiB on the device, of whose 0.0 MiB 0.0 are free\n"),
    ([*WC, "nTheta=96", "--nvcc=no-such-compiler"], {}, NO_COMPILER,
     "pmg run: cannot start the CUDA compiler 'no-such-compiler': No such file or directory\n"
     "  help: --nvcc COMMAND takes another one\n"),
    ([*WC, "nTheta=96", "--nvcc=false"], {}, NO_COMPILER,
     "pmg run: the CUDA compiler 'false' fails on the generated code (status 1)\n"),
    ([*WC, "nTheta=96", "--with=partition w by private"], {}, PROGRAM,
     "'partition by private' is not to be had: threads of a device have no copies of their own"),
    ([*WC, "nTheta=96", "--target=metal"], {}, USAGE,
     "pmg run: there is no target 'metal'; there are openmp, cuda, opencl\n"),
    ([*BENCH, "--grid"], {}, USAGE, "pmg bench life: --grid, --scaling and --clock are for --target=openmp\n"),
    ([*BENCH, "--nvcc=false"], {}, NO_COMPILER, "the CUDA compiler fails on "),
    ([*WC, "nTheta=96", "--blas=on"], {}, PROGRAM, "error[PMG0601]: the target 'cuda' calls no BLAS"),
    # By partition one row of each chunk is tested: a pivot of zero anywhere in a chunk is found there, and named.
    *((["tests/cuda/bad_pivot.pmg", "nSystems=2", "n=40", f"bad={row}", f"upper={upper}", "d=random:1"], {}, 6,
       f"the pivot of 'x' in row {row} of system 0 is zero") for row, upper in ((5, 0), (15, 0.5), (37, 0))),
]


# Kernels of rows: bytes that a lane has of them, of which follows how many run side by side, and whether cells are
# long, of which follows how many share a block; parts by 32 bits; what is set ahead: rows that several parts add to,
# or all; what is read before; shares of sums; what short rows take from shared memory, two at a time where there are
# registers for them (a text behind "!" must not be there); rounds whose sums are added up together, and left in
# shared memory.
EMITTED = [
    (["dsl_examples/life_dsc.pmg"], ["PMG_BOUNDS_LONG(32, 96) life_dsc_1_Y", "for (int32_t k_first",
                                      "PMG_BOUNDS(32, 0)",
                                      "pmg_cuda_set_cut(plan, PHI_parts, PHI_part_values, Y, 96, 0.0, NULL);",
                                      "PMG_LAUNCH(plan, life_dsc_2_Y, nVoxels, 8, nVoxels, nTheta, Y);",
                                      "PMG_NEXT_AT(w_ahead, w, PHI_sorted_fiber_ahead, k_first, part_end);",
                                      "pmg_cuda_share<pmg_team, pmg_group, pmg_cuda_add>(Y_row);",
                                      "pmg_cuda_take<pmg_team>(sum_3, number);", "PMG_TEAM_LONG(32, 16, 2);",
                                      "PMG_LAUNCH_LONG(plan, life_dsc_1_Y, PHI_parts, 32,",
                                      "round += 2) {"]),
    (["dsl_examples/life_dsc.pmg", TOP], ["PMG_BOUNDS(32, 72) life_dsc_1_Y", "!_LONG", "PMG_HANDED(handed, values);",
                                           "for (; (round + 2)*pmg_groups <= pmg_cuda_count(lanes); round += 2) {",
                                           "const int number = (round + i)*pmg_groups + pmg_group_number;",
                                           "const handed taken = pmg_cuda_handed(&values[number]);",
                                           "struct alignas(16) handed {", "double sum;",
                                           "for (; round*pmg_groups < pmg_cuda_count(lanes); round += 1) {"]),
    (["dsl_examples/life_dsc.pmg", F32_Y], ["PMG_BOUNDS_F32(32, 48) life_dsc_1_Y", "struct alignas(8) handed {",
                                            "float sum;", "round += 2) {", "!_LONG"]),
    (["dsl_examples/life_dsc.pmg", F32_Y, "--specialize=nTheta=24"], ["PMG_TEAM(32, 4, 2)", "!round += 2"]),
    (["dsl_examples/life_dsc.pmg", "--specialize=nTheta=72"], ["PMG_TEAM_LONG(32, 8, 2)"]),
    (["dsl_examples/life_dsc.pmg", "--specialize=nTheta=90"], ["PMG_TEAM_LONG(32, 16, 2)"]),
    (["dsl_examples/life_dsc.pmg", "--specialize=nTheta=91"], ["PMG_TEAM_LONG(32, 16, 1)"]),
    (["dsl_examples/life_wc.pmg"], ["PMG_BOUNDS_LONG(32, 128) life_wc_2_w", "PMG_BOUNDS(32, 0) life_wc_4_w",
                                     "PMG_READ_ONCE;", "double sums[4]", "pmg_cuda_take<pmg_team>(atom_3, number);",
                                     "PMG_HANDED(double, found);\n\t\t\t\tPMG_TEAM_SYNC;", "sum += found[rank];"]),
    (["dsl_examples/life_wc.pmg", TOP], ["PMG_BOUNDS(32, 160) life_wc_2_w", "double sums[2]", "PMG_TEAM(32, 8, 4);",
                                          "const handed taken = pmg_cuda_handed(&values[number]);",
                                          "!(rounds + 2)*pmg_groups",
                                          "PMG_HANDED(double, found);\n\t\t\t\tint rounds"]),
    (["dsl_examples/life_wc.pmg", F32_W], ["PMG_BOUNDS(32, 136) life_wc_2_w", "PMG_HANDED(float, found);",
                                           "for (; (rounds + 4)*pmg_groups <= pmg_cuda_count(lanes); rounds += 4) {",
                                           "for (; rounds*pmg_groups < pmg_cuda_count(lanes); rounds += 4) {"]),
    (["dsl_examples/life_wc.pmg", TOP, "--specialize=nTheta=64"], ["(rounds + 2)*pmg_groups <="]),
    (["dsl_examples/life_dsc.pmg", "--block-warps=2", "--unroll=off"],
     ["PMG_BOUNDS_OF(2, 32, 96) life_dsc_1_Y", "PMG_TEAM_OF(2, 32, 16, 2);", "!round += 2", "!_LONG",
      "PMG_LAUNCH_OF(2, plan, life_dsc_1_Y, PHI_parts, 32, "]),
    (["dsl_examples/life_dsc.pmg", "--block-warps=4", F32_Y], ["PMG_BOUNDS_F32_OF(4, 32, 48) life_dsc_1_Y"]),
    (["dsl_examples/life_wc.pmg", "--unroll=off"], ["double sums[1]", "rounds += 1) {", "!rounds += 4"]),
    (["dsl_examples/life_wc.pmg", "--warp-loops=off"], ["PMG_TEAM(8, 8, 2);", "!pmg_cuda_take", "!PMG_HANDED"]),
    (["dsl_examples/life_wc.pmg", "--emit=schedule", "--block-warps=2", "--unroll=off"],
     ['"grid(32 / 16 x 2, 2 warps, rolled)"']),
]


def sample():
    """All messages, and some of the comparisons: each compiles kernels of its own."""
    compared = [case for case in CASES if "--compare" in case[0]]
    return [case for case in CASES if case not in compared] + compared[::1 if "PMG_TEST_LONG" in os.environ else 3]


def check_emitted(arguments, texts):
    known = [] if any(a.startswith("--specialize") for a in arguments) else ["--specialize=nTheta=96"]
    done = subprocess.run([f"{PMG}c", "--target=cuda", *known, "--emit=cu", *arguments],
                          capture_output=True, text=True, check=False)
    wrong = [text for text in texts if (text.lstrip("!") in done.stdout) == text.startswith("!")]
    return f"{arguments}: not as it should be: {wrong} {done.stderr}" if wrong else ""


def check(arguments, more, status, text):
    """"" or what is wrong."""
    command = ["bench", "life"] if arguments[0] == BENCH[0] else ["run"]
    done = subprocess.run([PMG, *command, "--target=cuda", f"--nvcc={NVCC}", *arguments], capture_output=True,
                          text=True, env=dict(os.environ, **more), check=False)
    is_right = done.returncode == status and text in done.stdout + done.stderr
    return "" if is_right else f"{arguments}: {done.returncode} {done.stdout}{done.stderr}"


def main():
    cases = sample()
    problems = [problem for case in cases if (problem := check(*case))]
    problems += [problem for case in EMITTED if (problem := check_emitted(*case))]
    print("\n".join(problems), f"{len(cases) + len(EMITTED) - len(problems)} passed, {len(problems)} failed", sep="\n")
    return 1 if problems else 0


sys.exit(main())
