#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Each example solves one problem whose answer is known: compiled and run by `pmg run`, against NumPy, SciPy or
theory: in the short form every second. That compiled and interpreted values agree on random data is another test
(tests/random). Not with sanitizers: most of its time is that of C compilers. Its C is not optimised."""
import os
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from scipy import ndimage, sparse
from scipy.linalg import expm, solve_banded

PMG = str(Path(os.environ.get("PMG") or Path(os.environ.get("BUILD", "build")) / "pmg").resolve())
EXAMPLES = Path("dsl_examples")
ELSEWHERE = ("life_dsc", "life_wc", "sbbnnls")  # tests/real, tests/life
CASES = []


def case(function):
    CASES.append(function)
    return function


def run(file, pipeline, outputs, **arguments):
    """Runs a pipeline on numbers and arrays; the outputs that are named, in their order. A dot is written `__`."""
    with tempfile.TemporaryDirectory() as folder:
        command = [PMG, "run", str(EXAMPLES / file), "--pipeline", pipeline]
        for name, value in arguments.items():
            name = name.replace("__", ".")
            if isinstance(value, np.ndarray):
                np.save(f"{folder}/{name}.npy", value)
                value = f"{folder}/{name}.npy"
            command.append(f"{name}={value}")
        for name in outputs:
            command += ["-o", f"{name}={folder}/{name}.result.npy"]
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        assert done.returncode == 0, done.stdout
        return [np.load(f"{folder}/{name}.result.npy") for name in outputs]


def close(got, wanted, rtol=1e-12):
    wanted = np.asarray(wanted)
    np.testing.assert_allclose(got, wanted, rtol=rtol, atol=rtol*max(1e-30, np.max(np.abs(wanted), initial=0)))


# ---- images and grids -------------------------------------------------------------------------------------------

@case
def harris_finds_the_corners_of_a_square(_):
    image = np.zeros((24, 28), np.float32)
    image[6:15, 8:20] = 1
    corners, = run("harris.pmg", "harris", ["corners"], img=image)
    peaks = np.argwhere((corners == ndimage.maximum_filter(corners, 5)) & (corners > 0.1*corners.max()))
    wanted = np.array([[6, 8], [6, 19], [14, 8], [14, 19]])
    distance = np.abs(peaks[:, None] - wanted[None]).max(2)
    assert (distance.min(0) <= 1).all() and (distance.min(1) <= 1).all(), peaks
    assert corners[6, 13] < 0 and corners[10, 8] < 0, "an edge is not a corner"
    assert not corners[:3].any() and not corners[-2:].any() and corners[10, 13] == 0


@case
def unsharp_mask_sharpens_an_edge_and_leaves_what_is_flat(_):
    image = np.zeros((3, 16, 18), np.float32)
    image[:, :, 9:] = [[[1]], [[2]], [[0.01]]]
    mask, = run("unsharp_mask.pmg", "unsharp_mask", ["mask"], img=image, weight=1, threshold=0.02)
    close(mask[:, :, :7], image[:, :, :7])
    close(mask[:, :, 11:], image[:, :, 11:])
    close(mask[0, :, 8:10], np.tile([-0.3125, 1.3125], (16, 1)), 1e-6)
    close(mask[1], 2*mask[0], 1e-6)
    close(mask[2], image[2])


@case
def blur_of_a_plane_is_the_plane(_):
    i, j = np.mgrid[0:9, 0:11]
    plane = (2*i + 3*j).astype(np.float32)
    blurred, = run("blur.pmg", "blur", ["out_img"], img=plane)
    close(blurred, plane, 1e-6)


@case
def jacobi_converges_to_the_solution(_):
    n = 17
    h = 1/(n - 1)
    x, y = np.meshgrid(np.arange(n)*h, np.arange(n)*h, indexing="ij")
    solution = x*(1 - x)*y*(1 - y)          # quadratic in each variable: its differences are exact
    start = solution.copy()
    start[1:-1, 1:-1] = 0
    u, change = run("jacobi.pmg", "jacobi", ["u", "lastChange"], f=2*(x*(1 - x) + y*(1 - y)), u=start,
                    h=h, tol=1e-14, maxIter=5000)
    assert change < 1e-14
    close(u, solution, 1e-10)


@case
def jacobi_without_an_iteration(_):
    u, change = run("jacobi.pmg", "jacobi", ["u", "lastChange"], f=np.ones((3, 3)), u=np.eye(3), h=1, tol=1, maxIter=0)
    close(u, np.eye(3))
    assert change == np.inf


# ---- sums, segments, trees --------------------------------------------------------------------------------------

@case
def histogram_counts(rng):
    level = rng.integers(0, 200, 5000)
    count, = run("histogram.pmg", "histogram", ["count"], level=level, nLevels=256)
    np.testing.assert_array_equal(count, np.bincount(level, minlength=256))


@case
def weighted_histogram_with_values_outside(rng):
    x, weight = 2*rng.standard_normal(3000), rng.random(3000)
    mass, = run("histogram.pmg", "weighted_histogram", ["mass"], x=x, weight=weight, lo=-1.0, hi=1.0, nBins=16)
    wanted, _ = np.histogram(np.clip(x, -1, 1), 16, (-1, 1), weights=weight)
    close(mass, wanted)


@case
def segments_of_different_lengths(rng):
    lengths = np.array([3, 0, 1, 40, 0, 7])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    x = rng.integers(1, 9, offsets[-1]).astype(float)
    total, largest, where, scaled = run("segments.pmg", "segments", ["total", "largest", "where", "scaled"],
                                        off=offsets, x=x)
    parts = np.split(x, offsets[1:-1])
    close(total, [p.sum() for p in parts])
    close(largest[lengths > 0], [p.max() for p in parts if len(p)])
    assert (largest[lengths == 0] == -np.inf).all()
    np.testing.assert_array_equal(where, [s + p.argmax() if len(p) else len(x) for s, p in zip(offsets, parts)])
    close(scaled, np.concatenate([p/p.max() if len(p) else p for p in parts]))


@case
def prefix_sums_of_rows(rng):
    x = rng.standard_normal((5, 33))
    before, after = run("prefix.pmg", "prefix", ["before", "after"], x=x)
    close(before, np.cumsum(x, 1))
    close(after, np.cumsum(x[:, ::-1], 1)[:, ::-1])


@case
def prefix_sums_of_segments(rng):
    offsets, x = np.array([0, 4, 4, 10]), rng.standard_normal(10)
    before, = run("prefix.pmg", "segmented_prefix", ["before"], off=offsets, x=x)
    close(before, np.concatenate([np.cumsum(x[:4]), np.cumsum(x[4:])]))


def random_parents(rng, n, roots=(0,)):
    parent = np.array([rng.integers(0, max(i, 1)) for i in range(n)])
    parent[list(roots)] = -1
    return parent


@case
def tree_of_two_roots(rng):
    n = 60
    parent, length = random_parents(rng, n, (0, 7)), rng.random(n)
    above = np.zeros((n, n), bool)          # above[i, j]: j is i or above i
    for i in range(n):
        above[i] = above[parent[i]] if parent[i] >= 0 else False
        above[i, i] = True
    outputs = ["toRoot", "below", "height", "depth", "size"]
    to_root, below, height, depth, size = run("tree.pmg", "tree", outputs, parent=parent, len=length)
    pieces = np.where(parent < 0, 0, length)
    distance = above @ pieces
    close(to_root, distance)
    close(below, above.T @ pieces - pieces)
    close(height, (above*distance[:, None]).max(0) - distance, 1e-10)
    np.testing.assert_array_equal(depth, above.sum(1) - 1)
    np.testing.assert_array_equal(size, above.sum(0))


# ---- systems of equations ---------------------------------------------------------------------------------------

def bands(rng, systems, n):
    a, c, d = rng.standard_normal((3, systems, n))
    return a, 4 + rng.random((systems, n)), c, d


def banded(a, b, c, d):
    """The solutions, one row a system."""
    rows = [np.array([np.append(0, c[s, :-1]), b[s], np.append(a[s, 1:], 0)]) for s in range(len(b))]
    return np.array([solve_banded((1, 1), rows[s], d[s]) for s in range(len(b))])


@case
def tri_ragged_solves(rng):
    lengths = (5, 1, 0, 33)
    systems = [bands(rng, 1, n) for n in lengths]
    a, b, c, d = (np.concatenate([bands_of[i][0] for bands_of in systems]) for i in range(4))
    x, = run("tri_ragged.pmg", "tri_ragged", ["x"], offset=np.append(0, np.cumsum(lengths)), a=a, b=b, c=c, d=d)
    close(x, np.concatenate([banded(*own)[0] for own, n in zip(systems, lengths) if n]))


def tridiagonal_case(rng, file, pipeline):
    a, b, c, d = bands(rng, 7, 50)
    x, = run(file, pipeline, ["x"], a=a, b=b, c=c, d=d)
    close(x, banded(a, b, c, d))


@case
def thomas_solves(rng):
    tridiagonal_case(rng, "thomas.pmg", "thomas")


@case
def tri_batch_solves(rng):
    tridiagonal_case(rng, "tridiagonal.pmg", "tri_batch")


@case
def heat_decays_as_a_sine_does(_):
    n, r, steps = 31, 0.5, 40
    modes = np.array([[1], [2], [5]])
    sines = np.sin(np.pi*modes*np.arange(1, n + 1)/(n + 1))
    u, = run("tridiagonal.pmg", "heat", ["u"], u=sines, r=r, nSteps=steps)
    eigen = 2 - 2*np.cos(np.pi*modes/(n + 1))
    close(u, sines*((1 - 0.5*r*eigen)/(1 + 0.5*r*eigen))**steps, 1e-10)
    laplace = np.diag(np.full(n - 1, 1.0), 1) + np.diag(np.full(n - 1, 1.0), -1) - 2*np.eye(n)
    close(u[0], expm(steps*r*laplace) @ sines[0], 1e-4)


@case
def heat_of_a_cube_decays_by_the_factors_of_douglas(_):
    shape, modes, r, steps = (9, 12, 7), (1, 3, 2), 0.8, 6
    sines = [np.sin(np.pi*m*np.arange(1, n + 1)/(n + 1)) for m, n in zip(modes, shape)]
    start = np.einsum("x,y,z->xyz", *sines)
    u, = run("heat_cube.pmg", "heat_cube", ["u"], u=start, r=r, nSteps=steps)
    a, b, c = (r*(2 - 2*np.cos(np.pi*m/(n + 1))) for m, n in zip(modes, shape))
    factor = (1 - a/2 - b - c)/(1 + a/2)
    for along in (b, c):
        factor = (factor + along/2)/(1 + along/2)
    close(u, start*factor**steps, 1e-10)


def hines_matrix(parent, upper, lower, diag):
    matrix = np.diag(diag)
    child = np.flatnonzero(parent >= 0)
    matrix[child, parent[child]] = lower[child]
    matrix[parent[child], child] = upper[child]
    return matrix


def hines_case(rng, file, pipeline, own=()):
    """own: the extents of the off-diagonals before that of nodes."""
    n, systems = 40, 3
    parent, (upper, lower) = random_parents(rng, n), rng.standard_normal((2, *own, n))
    diag, rhs = 20 + rng.random((systems, n)), rng.standard_normal((systems, n))
    x, = run(file, pipeline, ["x"], T__parent=parent, upper=upper, lower=lower, diag=diag, rhs=rhs)
    all_systems = zip(*(np.broadcast_to(band, (systems, n)) for band in (upper, lower)), diag, rhs)
    close(x, [np.linalg.solve(hines_matrix(parent, u, l, d), r) for u, l, d, r in all_systems])


@case
def hines_solves(rng):
    hines_case(rng, "hines.pmg", "hines")


@case
def hines_of_own_coefficients_solves(rng):
    hines_case(rng, "hines_own.pmg", "hines_own", (3,))


@case
def hines_written_solves(rng):
    hines_case(rng, "hines.pmg", "hines_written")


@case
def hines_forest_solves(rng):
    parents = [random_parents(rng, n) for n in (9, 1, 14)]
    offset = np.concatenate([[0], np.cumsum([len(p) for p in parents])])
    n = offset[-1]
    upper, lower, rhs = rng.standard_normal((3, n))
    diag = 20 + rng.random(n)
    x, = run("hines.pmg", "hines_forest", ["x"], F__offset=offset, F__parent=np.concatenate(parents), upper=upper,
             lower=lower, diag=diag, rhs=rhs)
    whole = np.concatenate([np.where(p < 0, -1, p + o) for p, o in zip(parents, offset)])
    close(x, np.linalg.solve(hines_matrix(whole, upper, lower, diag), rhs))


@case
def cable_follows_backward_euler(rng):
    n, cells, steps, dt, leak = 25, 3, 7, 0.025, -65.0
    parent, (cm, g_leak, g_axial) = random_parents(rng, n), 0.1 + rng.random((3, n))
    current, start = rng.standard_normal((2, cells, n))
    v, trace = run("cable.pmg", "cable", ["v", "trace"], T__parent=parent, cm=cm, gLeak=g_leak, gAxial=g_axial,
                   current=current, v=start, dt=dt, eLeak=leak, nSteps=steps)
    flow = hines_matrix(parent, -g_axial, -g_axial, np.zeros(n))
    matrix = flow + np.diag(cm/dt + g_leak - flow.sum(1))
    for step in range(steps):
        close(trace[step], start[:, 0])
        start = np.linalg.solve(matrix, (cm/dt*start + g_leak*leak + current).T).T
    close(v, start)


@case
def conjugate_gradient_solves_a_grid(rng):
    n = 12
    line = sparse.diags([-1, 2.5, -1], [-1, 0, 1], (n, n))
    matrix = (sparse.kron(line, sparse.eye(n)) + sparse.kron(sparse.eye(n), line)).tocsr()
    wanted = rng.standard_normal(n*n)
    x, iterations = run("conjugate_gradient.pmg", "conjugate_gradient", ["x", "iterations"],
                        off=matrix.indptr.astype(np.int64), col=matrix.indices.astype(np.int64), val=matrix.data,
                        diag=matrix.diagonal(), b=matrix @ wanted, x0=np.zeros(n*n), tol=1e-13, maxIter=n*n)
    close(x, wanted, 1e-11)
    assert 10 < iterations < n*n


@case
def conjugate_gradient_of_zero_stops_at_once(_):
    one = np.ones(2)
    x, iterations = run("conjugate_gradient.pmg", "conjugate_gradient", ["x", "iterations"], off=np.arange(3),
                        col=np.arange(2), val=one, diag=one, b=0*one, x0=0*one, tol=1e-9, maxIter=9)
    close(x, 0*one)
    assert iterations == 0


# ---- products ---------------------------------------------------------------------------------------------------

def sparse_tensor(rng, *sizes, n=200):
    """Entries, some at equal coordinates: the arguments that bind them, and the same as a dense array."""
    at, value = [rng.integers(0, size, n) for size in sizes], rng.standard_normal(n)
    dense = np.zeros(sizes)
    np.add.at(dense, tuple(at), value)
    return {**{f"X__{mode}": index for mode, index in zip("abcd", at)}, "X__value": value}, dense


@case
def mttkrp_of_three_modes(rng):
    bound, dense = sparse_tensor(rng, 5, 6, 7)
    b, c = rng.standard_normal((6, 4)), rng.standard_normal((7, 4))
    m, = run("mttkrp.pmg", "mttkrp", ["M"], **bound, B=b, C=c, nA=5)
    close(m, np.einsum("abc,br,cr->ar", dense, b, c))


@case
def mttkrp_of_four_modes(rng):
    bound, dense = sparse_tensor(rng, 5, 6, 7, 3)
    b, c, d = (rng.standard_normal((n, 4)) for n in (6, 7, 3))
    m, = run("mttkrp.pmg", "mttkrp4", ["M"], **bound, B=b, C=c, D=d, nA=5)
    close(m, np.einsum("abcd,br,cr,dr->ar", dense, b, c, d))


@case
def tucker_core(rng):
    bound, dense = sparse_tensor(rng, 5, 6, 7, 8)
    a, b, c, d = (rng.standard_normal(shape) for shape in ((5, 2), (6, 3), (7, 4), (8, 2)))
    g, = run("tucker.pmg", "tucker", ["G"], **bound, A=a, B=b, C=c, D=d)
    close(g, np.einsum("abcd,ap,bq,cr,ds->pqrs", dense, a, b, c, d))


def spmv_case(rng, pipeline, **more):
    dense = np.where(rng.random((20, 30)) < 0.2, rng.standard_normal((20, 30)), 0)
    matrix = sparse.csr_matrix(dense)
    x = rng.standard_normal(20 if "transposed" in pipeline else 30)
    if "coo" in pipeline:
        coo = matrix.tocoo()
        bound = dict(A__row=coo.row.astype(np.int64), A__col=coo.col.astype(np.int64), A__value=coo.data, nRows=20)
    else:
        bound = dict(off=matrix.indptr.astype(np.int64), col=matrix.indices.astype(np.int64), val=matrix.data)
    y, = run("spmv.pmg", pipeline, ["y"], x=x, **bound, **more)
    close(y, dense.T @ x if "transposed" in pipeline else dense @ x)


@case
def csr_spmv(rng):
    spmv_case(rng, "csr_spmv")


@case
def csr_spmv_transposed(rng):
    spmv_case(rng, "csr_spmv_transposed", nCols=30)


@case
def coo_spmv(rng):
    spmv_case(rng, "coo_spmv")


@case
def coo_spmv_written(rng):
    spmv_case(rng, "coo_spmv_written")


@case
def matmul(rng):
    a, b = rng.standard_normal((9, 5)), rng.standard_normal((5, 7))
    for pipeline in ("matmul", "matmul_written"):
        close(run("matmul.pmg", pipeline, ["C"], A=a, B=b)[0], a @ b)


@case
def life_products_are_adjoint(rng):
    n, sizes, n_theta = 300, (5, 20, 9), 8
    atom, voxel, fiber = (rng.integers(0, size, n) for size in sizes)
    phi = dict(PHI__atom=atom, PHI__voxel=voxel, PHI__fiber=fiber, PHI__value=rng.random(n),
               D=rng.standard_normal((5, n_theta)))
    w, y = rng.random(9), rng.standard_normal((20, n_theta))
    products = []
    for form in ("", "_written"):
        mw, = run(f"life_dsc{form}.pmg", f"life_dsc{form}", ["Y"], **phi, w=w, nVoxels=20)
        mty, = run(f"life_wc{form}.pmg", f"life_wc{form}", ["w"], **phi, Y=y, nFibers=9)
        products.append((mw, mty))
    wanted = np.zeros((20, n_theta))
    np.add.at(wanted, voxel, phi["D"][atom]*(w[fiber]*phi["PHI__value"])[:, None])
    close(products[0][0], wanted)
    close(products[1][0], products[0][0])
    close(products[1][1], products[0][1])
    difference, = run("adjoint.pmg", "adjoint", ["difference"], Mw=mw, y=y, w=w, Mty=mty)
    assert difference < 1e-13


# ---- the cases --------------------------------------------------------------------------------------------------

def problem_of(function):
    try:
        function(np.random.default_rng(5))
    except AssertionError as problem:
        return f"{function.__name__}: {problem}"
    return ""


def main():
    source = Path(__file__).read_text()
    unused = [f"{path}: no problem for it" for path in sorted(EXAMPLES.glob("*.pmg"))
              if f'"{path.name}"' not in source and path.stem.replace("_written", "") not in ELSEWHERE]
    chosen = CASES[::1 if "PMG_TEST_LONG" in os.environ else 2]
    with ThreadPoolExecutor(int(os.environ.get("PMG_TEST_JOBS", 2))) as pool:
        problems = [p for p in pool.map(problem_of, chosen) if p] + unused
    print(*problems, f"{len(chosen) + len(unused) - len(problems)} passed, {len(problems)} failed, "
          f"{len(CASES) - len(chosen)} skipped", sep="\n")
    return len(problems) != 0


sys.exit(main())
