#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Every pipeline of tests/programs and of tests/sema/dumps, run by the reference interpreter, against its
transcription in NumPy/SciPy.

Each transcription is a function that draws small random data, runs the pipeline on them with `run`, and computes the
same with dense algebra, library routines or plain loops. It shares nothing with the compiler but the text of the
program.
"""
import subprocess
import sys
import zlib

import numpy as np
from scipy import ndimage, signal, sparse
from scipy.linalg import solve_banded
from scipy.special import exprel, softmax

import connectome  # noqa: F401
from transcription import CASES, FOLDERS, F32, F64, I64, case, close, run, tensor


# ---- sparse and dense -------------------------------------------------------------------------------------------

def csr(rng, rows, cols):
    matrix = sparse.random(rows, cols, 0.3, "csr", random_state=np.random.RandomState(rng.integers(1000)))
    arrays = {"off": matrix.indptr.astype(I64), "col": matrix.indices.astype(I64), "val": matrix.data}
    return matrix, dict(nnz=matrix.nnz), arrays


@case
def csr_spmv(rng):
    matrix, sizes, arrays = csr(rng, 8, 6)
    x = rng.standard_normal(6)
    got = run("spmv.pmg", "csr_spmv", {**sizes, "nRows": 8, "nCols": 6}, {**arrays, "x": x}, {"y": (F64, 8)})
    close(got["y"], matrix @ x)


@case
def csr_spmv_transposed(rng):
    matrix, sizes, arrays = csr(rng, 8, 6)
    x = rng.standard_normal(8)
    got = run("spmv.pmg", "csr_spmv_transposed", {**sizes, "nRows": 8, "nCols": 6}, {**arrays, "x": x},
              {"y": (F64, 6)})
    close(got["y"], matrix.T @ x)


def coo(rng, pipeline):
    row, col, value = tensor(rng, 25, 8, 6)
    x = rng.standard_normal(6)
    got = run("spmv.pmg", pipeline, dict(nRows=8, nCols=6, nnz=25),
              {"A.row": row, "A.col": col, "A.value": value, "x": x}, {"y": (F64, 8)})
    close(got["y"], sparse.coo_matrix((value, (row, col)), (8, 6)) @ x)


@case
def coo_spmv(rng):
    coo(rng, "coo_spmv")


@case
def coo_spmv_written(rng):
    coo(rng, "coo_spmv_written")


@case
def conjugate_gradient(rng):
    n = 12
    dense = np.where(rng.random((n, n)) < 0.2, rng.standard_normal((n, n)), 0)
    dense = dense @ dense.T + np.diag(3 + rng.random(n))
    matrix = sparse.csr_matrix(dense)
    b, x0 = rng.standard_normal(n), rng.standard_normal(n)
    arrays = {"off": matrix.indptr.astype(I64), "col": matrix.indices.astype(I64), "val": matrix.data,
              "diag": dense.diagonal(), "b": b, "x0": x0}
    got = run("conjugate_gradient.pmg", "conjugate_gradient", dict(n=n, nnz=matrix.nnz, maxIter=50, tol=1e-12), arrays,
              {"x": (F64, n), "iterations": (I64, ())})
    close(got["x"], np.linalg.solve(dense, b), 1e-9)
    assert 0 < got["iterations"] < 50


def dense_layer(rng, pipeline):
    x, w, bias = (rng.standard_normal(shape).astype(F32) for shape in ((5, 4), (4, 3), (3,)))
    got = run("dense.pmg", pipeline, dict(n=5, nIn=4, nOut=3), {"X": x, "W": w, "bias": bias}, {"Z": (F32, (5, 3))})
    close(got["Z"], np.maximum(x.astype(F64) @ w + bias, 0), 1e-5)


@case
def layer(rng):
    dense_layer(rng, "layer")


@case
def layer_written(rng):
    dense_layer(rng, "layer_written")


@case
def softmax_rows(rng):
    z = rng.standard_normal((5, 7)).astype(F32)
    got = run("dense.pmg", "softmax_rows", dict(n=5, m=7), {"Z": z}, {"S": (F32, (5, 7))})
    close(got["S"], softmax(z.astype(F64), axis=1), 1e-5)


@case
def mttkrp(rng):
    *modes, value = tensor(rng, 30, 4, 5, 6)
    b, c = rng.standard_normal((5, 3)), rng.standard_normal((6, 3))
    got = run("tensor.pmg", "mttkrp", dict(nA=4, nB=5, nC=6, nnz=30, rank=3),
              {**{f"X.{m}": i for m, i in zip("abc", modes)}, "X.value": value, "B": b, "C": c}, {"M": (F64, (4, 3))})
    x = np.zeros((4, 5, 6))
    np.add.at(x, tuple(modes), value)
    close(got["M"], np.einsum("abc,br,cr->ar", x, b, c))


def four_modes(rng):
    *modes, value = tensor(rng, 40, 4, 5, 6, 3)
    x = np.zeros((4, 5, 6, 3))
    np.add.at(x, tuple(modes), value)
    return x, dict(nA=4, nB=5, nC=6, nD=3, nnz=40), {**{f"X.{m}": i for m, i in zip("abcd", modes)}, "X.value": value}


@case
def mttkrp4(rng):
    x, sizes, arrays = four_modes(rng)
    b, c, d = (rng.standard_normal((n, 2)) for n in (5, 6, 3))
    got = run("tensor.pmg", "mttkrp4", {**sizes, "rank": 2}, {**arrays, "B": b, "C": c, "D": d}, {"M": (F64, (4, 2))})
    close(got["M"], np.einsum("abcd,br,cr,dr->ar", x, b, c, d))


@case
def tucker_core(rng):
    x, sizes, arrays = four_modes(rng)
    factors = [rng.standard_normal(shape) for shape in ((4, 2), (5, 3), (6, 2), (3, 2))]
    got = run("tensor.pmg", "tucker_core", {**sizes, "rA": 2, "rB": 3, "rC": 2, "rD": 2},
              {**arrays, **dict(zip("ABCD", factors))}, {"Z": (F64, (4, 3, 2, 2)), "G": (F64, (2, 3, 2, 2))})
    close(got["Z"], np.einsum("abcd,bq,cr,ds->aqrs", x, *factors[1:]))
    close(got["G"], np.einsum("abcd,ap,bq,cr,ds->pqrs", x, *factors))


# ---- trees and chains -------------------------------------------------------------------------------------------

def random_parents(rng, n, n_roots=1):
    return np.array([-1 if i < n_roots else rng.integers(-1 if n_roots > 1 else 0, i) for i in range(n)], I64)


def hines_dense(parent, upper, lower, diag, rhs):
    matrix = np.diag(diag)
    for i, p in enumerate(parent):
        if p >= 0:
            matrix[i, p] += lower[i]
            matrix[p, i] += upper[i]
    return np.linalg.solve(matrix, rhs)


def hines_of_tree(rng, pipeline, name, is_shared):
    n, systems = 9, 4
    parent = random_parents(rng, n)
    upper, lower = (rng.standard_normal((n,) if is_shared else (systems, n)) for _ in range(2))
    diag, rhs = 8 + rng.random((systems, n)), rng.standard_normal((systems, n))
    got = run("hines.pmg", pipeline, dict(nSystems=systems, n=n),
              {name: parent, "upper": upper, "lower": lower, "diag": diag, "rhs": rhs}, {"x": (F64, (systems, n))})
    up, low = np.broadcast_to(upper, (systems, n)), np.broadcast_to(lower, (systems, n))
    close(got["x"], [hines_dense(parent, up[s], low[s], diag[s], rhs[s]) for s in range(systems)])


@case
def hines_tree(rng):
    hines_of_tree(rng, "hines_tree", "T.parent", True)


@case
def hines_tree_written(rng):
    hines_of_tree(rng, "hines_tree_written", "parent", False)


def forest(rng, sizes):
    """Offsets, parents local to each system, and the same as one array of nodes."""
    offset = np.concatenate([[0], np.cumsum(sizes)]).astype(I64)
    local = [random_parents(rng, n, min(n, 2)) for n in sizes]
    rebased = [np.where(p >= 0, p + o, -1) for p, o in zip(local, offset)]
    return offset, np.concatenate(local).astype(I64), np.concatenate(rebased).astype(I64)


def hines_of_forest(rng, pipeline):
    offset, local, parent = forest(rng, [5, 0, 1, 7])
    n = len(parent)
    upper, lower, rhs = (rng.standard_normal(n) for _ in range(3))
    diag = 8 + rng.random(n)
    got = run("hines.pmg", pipeline, dict(nSystems=4, nTotal=n),
              {"F.offset": offset, "F.parent": local, "upper": upper, "lower": lower, "diag": diag, "rhs": rhs},
              {"x": (F64, n)})
    close(got["x"], hines_dense(parent, upper, lower, diag, rhs))


@case
def hines_forest(rng):
    hines_of_forest(rng, "hines_forest")


@case
def hines_forest_written(rng):
    hines_of_forest(rng, "hines_forest_written")


@case
def tree_lengths(rng):
    n = 11
    parent, length = random_parents(rng, n), rng.random(n)
    got = run("hines.pmg", "tree_lengths", dict(n=n), {"parent": parent, "len": length},
              {"toRoot": (F64, n), "below": (F64, n)})
    to_root, below = np.zeros(n), np.zeros(n)
    for i in range(1, n):
        to_root[i] = to_root[parent[i]] + length[i]
    for i in range(n - 1, 0, -1):
        below[parent[i]] += length[i] + below[i]
    close(got["toRoot"], to_root)
    close(got["below"], below)


@case
def hines_many(rng):
    n, systems, sides = 8, 3, 2
    parent = random_parents(rng, n)
    upper, lower, diag = rng.standard_normal(n), rng.standard_normal(n), 8 + rng.random((systems, n))
    rhs = rng.standard_normal((systems, n, sides))
    got = run("right_hand_sides.pmg", "hines_many", dict(nSystems=systems, n=n, nRhs=sides),
              {"T.parent": parent, "upper": upper, "lower": lower, "diag": diag, "rhs": rhs},
              {"x": (F64, (systems, n, sides))})
    close(got["x"], [hines_dense(parent, upper, lower, diag[s], rhs[s]) for s in range(systems)])


def tridiagonal(a, b, c, d):
    """x of one system; a[0] and c[n-1] are not read."""
    bands = np.zeros((3, len(b)))
    bands[0, 1:], bands[1], bands[2, :-1] = c[:-1], b, a[1:]
    return solve_banded((1, 1), bands, d) if len(b) else d


def coefficients(rng, shape):
    a, c = rng.standard_normal(shape), rng.standard_normal(shape)
    return a, 6 + rng.random(shape), c


def batch(rng, file, pipeline, sides=None):
    a, b, c = coefficients(rng, (4, 7))
    d = rng.standard_normal((4, 7) + ((sides,) if sides else ()))
    got = run(file, pipeline, {"nSystems": 4, "n": 7, **({"nRhs": sides} if sides else {})},
              {"a": a, "b": b, "c": c, "d": d}, {"x": (F64, d.shape)})
    close(got["x"], [tridiagonal(a[s], b[s], c[s], d[s]) for s in range(4)])


@case
def thomas(rng):
    batch(rng, "tridiagonal.pmg", "thomas")


@case
def quotients_in_parts(rng):
    n = 7
    a, b, d = rng.random(n + 1), rng.random(n + 1), rng.random(n + 1)
    got = run("quotients.pmg", "quotients_in_parts", dict(n=n), {"a": a, "b": b, "d": d},
              {"x": (F64, n + 1), "y": (F64, n + 1)})
    first = np.arange(n + 1) == 0
    kept = [(a + 2*~first)/(b*b + 1), a/(b*b + 1 + ~first)]
    for name, quotient in zip("xy", kept):
        value = quotient.copy()
        for i in range(1, n + 1):
            value[i] = d[i] - value[i - 1]*quotient[i]
        close(got[name], value)


@case
def tri_batch(rng):
    batch(rng, "tridiagonal.pmg", "tri_batch")


@case
def tri_many(rng):
    batch(rng, "right_hand_sides.pmg", "tri_many", 3)


def ragged_batch(rng, pipeline):
    offset = np.array([0, 5, 5, 6, 13], I64)
    a, b, c = coefficients(rng, 13)
    d = rng.standard_normal(13)
    got = run("tridiagonal.pmg", pipeline, dict(nSystems=4, nTotal=13),
              {"offset": offset, "a": a, "b": b, "c": c, "d": d}, {"x": (F64, 13)})
    parts = [slice(offset[s], offset[s + 1]) for s in range(4)]
    close(got["x"], np.concatenate([tridiagonal(a[p], b[p], c[p], d[p]) for p in parts]))


@case
def tri_ragged(rng):
    ragged_batch(rng, "tri_ragged")


@case
def tri_ragged_written(rng):
    ragged_batch(rng, "tri_ragged_written")


@case
def adi_heat(rng):
    shape, steps, r = (5, 4, 6), 3, 0.7
    u = rng.standard_normal(shape)
    got = run("tridiagonal.pmg", "adi_heat", dict(zip(("nx", "ny", "nz"), shape), nSteps=steps, r=r), {"u": u},
              {"u": (F64, shape)})
    second = [np.diag(np.full(n, -2.0)) + np.diag(np.ones(n - 1), 1) + np.diag(np.ones(n - 1), -1) for n in shape]
    for _ in range(steps):
        d = [np.moveaxis(np.tensordot(second[k], u, (1, k)), 0, k) for k in range(3)]
        at = u + r*(d[0]/2 + d[1] + d[2])
        for k in range(3):
            at -= r*d[k]/2 if k else 0
            rows = np.moveaxis(at, k, 0).reshape(shape[k], -1)
            rows = np.linalg.solve(np.eye(shape[k]) - r*second[k]/2, rows)
            at = np.moveaxis(rows.reshape(np.moveaxis(at, k, 0).shape), 0, k)
        u = at
    close(got["u"], u)


# ---- images and grids -------------------------------------------------------------------------------------------

@case
def harris(rng):
    img = rng.random((9, 8)).astype(F32)
    got = run("image.pmg", "harris", dict(R=9, C=8), {"img": img}, {"corners": (F32, (9, 8))})
    sobel = np.array([[-1, -2, -1], [0, 0, 0], [1, 2, 1]])
    gi, gj = (signal.correlate2d(img.astype(F64), k, "valid") / 12 for k in (sobel, sobel.T))
    box = np.ones((3, 3))
    sii, sij, sjj = (signal.correlate2d(g, box, "valid") for g in (gi * gi, gi * gj, gj * gj))
    wanted = np.zeros((9, 8))
    wanted[2:-2, 2:-2] = sii * sjj - sij * sij - 0.04 * (sii + sjj)**2
    close(got["corners"], wanted, 1e-4)


@case
def unsharp_mask(rng):
    img = rng.random((3, 7, 6)).astype(F32)
    got = run("image.pmg", "unsharp_mask", dict(nChannels=3, R=7, C=6, weight=0.5, threshold=0.1), {"img": img},
              {"mask": (F32, img.shape)})
    kernel = np.array([1, 4, 6, 4, 1]) / 16
    blur = ndimage.correlate1d(ndimage.correlate1d(img.astype(F64), kernel, 1, mode="nearest"), kernel, 2,
                               mode="nearest")
    close(got["mask"], np.where(np.abs(img - blur) < 0.1, img, 1.5 * img - 0.5 * blur), 1e-5)


@case
def jacobi(rng):
    f, u = rng.standard_normal((6, 7)), rng.standard_normal((6, 7))
    got = run("jacobi.pmg", "jacobi", dict(nx=6, ny=7, maxIter=200, h=0.2, tol=1e-3), {"f": f, "u": u},
              {"u": (F64, u.shape), "lastChange": (F64, ())})
    change, iterations = np.inf, 0
    while change >= 1e-3 and iterations < 200:
        v = 0.25 * (u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:] + 0.04 * f[1:-1, 1:-1])
        change = np.abs(v - u[1:-1, 1:-1]).max()
        u = u.copy()
        u[1:-1, 1:-1] = v
        iterations += 1
    assert 5 < iterations < 200
    close(got["u"], u)
    close(got["lastChange"], change, 1e-8)


# ---- histograms and segments ------------------------------------------------------------------------------------

@case
def histogram(rng):
    level = rng.integers(0, 5, 40)
    got = run("histogram.pmg", "histogram", dict(nPixels=40, nLevels=6), {"level": level}, {"count": (I64, 6)})
    np.testing.assert_array_equal(got["count"], np.bincount(level, minlength=6))


@case
def weighted_histogram(rng):
    x, weight = 3 * rng.standard_normal(50), rng.random(50)
    got = run("histogram.pmg", "weighted_histogram", dict(n=50, nBins=7, lo=-2.0, hi=2.5), {"x": x, "weight": weight},
              {"mass": (F64, 7)})
    bins = np.clip(np.floor((x + 2) / 4.5 * 7).astype(int), 0, 6)
    close(got["mass"], np.bincount(bins, weight, 7))


@case
def segments(rng):
    off = np.array([0, 3, 3, 9, 10], I64)
    x = rng.standard_normal(10)
    x[[4, 7]] = 5
    got = run("histogram.pmg", "segments", dict(nSegments=4, n=10), {"off": off, "x": x},
              {"total": (F64, 4), "largest": (F64, 4), "where": (I64, 4)})
    parts = [x[off[s]:off[s + 1]] for s in range(4)]
    close(got["total"], [p.sum() for p in parts])
    np.testing.assert_array_equal(got["largest"], [p.max() if len(p) else -np.inf for p in parts])
    np.testing.assert_array_equal(got["where"], [off[s] + p.argmax() if len(p) else 10 for s, p in enumerate(parts)])


# ---- neurons ----------------------------------------------------------------------------------------------------

def gate(alpha, beta, old, dt):
    """The exact solution over one step."""
    return alpha / (alpha + beta) + (old - alpha / (alpha + beta)) * np.exp(-dt * (alpha + beta))


def exprelr(x):
    return 1 / exprel(x)


def events(rng, steps, n_synapses, n):
    off = np.sort(rng.integers(0, n + 1, steps - 1))
    return np.concatenate([[0], off, [n]]).astype(I64), rng.integers(0, n_synapses, n), rng.random(n) * 1e-3


def draw_neurons(rng):
    offset, local, parent = forest(rng, [6, 4])
    n, steps, dt = 10, 23, 0.05
    hh, exp_node, exp2_node = np.array([0, 2, 6]), np.array([1, 1, 7]), np.array([3, 8])
    stim_node, det, probe = np.array([0, 6]), np.array([0, 6, 2]), np.array([0, 5])
    p = dict(nSystems=2, nTotal=n, nSteps=steps, nHH=3, nExp=3, nExp2=2, nEvents=8, nEvents2=5, nStim=2, nDet=3,
             nProbes=2, maxSpikes=2, dt=dt, threshold=-64.0, eNa=50.0, eK=-77.0, eL=-54.3)
    coupling = -1e2 * rng.random(n) * 1e-2
    axial = np.zeros(n)
    for i, q in enumerate(parent):
        if q >= 0:
            axial[i] -= coupling[i]
            axial[q] -= coupling[i]
    a = {"F.offset": offset, "F.parent": local, "upper": coupling, "lower": coupling, "axial": axial,
         "cm": np.full(n, 1.0), "area": 100 + 300 * rng.random(n), "gPas": np.full(n, 0.03),
         "ePas": np.full(n, -65.0), "hhNode": hh, "expNode": exp_node, "exp2Node": exp2_node,
         "stimNode": stim_node, "detNode": det, "probe": probe, "gNa": np.full(3, 120.0), "gK": np.full(3, 36.0),
         "gL": np.full(3, 0.3), "eSyn": np.array([0.0, 0.0, -80.0]), "tau": np.array([2.0, 3.0, 5.0]),
         "eSyn2": np.zeros(2), "tauRise": np.array([0.5, 1.0]), "tauDecay": np.array([3.0, 4.0]),
         "stim": rng.random((steps, 2)) * 0.05}
    a["evOff"], a["evSyn"], a["evW"] = events(rng, steps, 3, 8)
    a["evOff2"], a["evSyn2"], a["evW2"] = events(rng, steps, 2, 5)
    state = {"v": -65 + 4 * rng.standard_normal(n), "m": np.full(3, 0.05), "h": np.full(3, 0.6),
             "n": np.full(3, 0.32), "gSyn": np.zeros(3), "gRise": np.zeros(2), "gDecay": np.zeros(2)}
    outputs = {name: (F64, values.shape) for name, values in state.items()}
    outputs.update(trace=(F64, ((steps + 9) // 10, 2)), spikeCount=(I64, 3), spikeDet=(I64, 3), spikeStep=(I64, 3),
                   nSpikes=(I64, ()))
    return p, a, state, outputs, parent


@case
def neuron_step(rng):
    """Of neurons that spike more often than there is room for."""
    wanted = {"nSpikes": 0}
    while wanted["nSpikes"] <= 2:
        p, a, state, outputs, parent = draw_neurons(rng)
        wanted = neuron_reference(p, a, {k: x.copy() for k, x in state.items()}, parent)
    got = run("neuron_step.pmg", "neuron_step", p, {**a, **state}, outputs)
    for name in outputs:
        close(got[name], wanted[name], 1e-9)


def neuron_reference(p, a, s, parent):
    """Step by step, with the systems as one dense matrix."""
    dt, n, top = p["dt"], p["nTotal"], p["maxSpikes"]
    trace = np.zeros(((p["nSteps"] + 9) // 10, p["nProbes"]))
    spikes, count = [], np.zeros(p["nDet"], I64)
    smallest = np.iinfo(I64).min
    spike_det, spike_step = np.full(top + 1, smallest), np.full(top + 1, smallest)
    for it in range(p["nSteps"]):
        if it % 10 == 0:
            trace[it // 10] = s["v"][a["probe"]]
        now, now2 = slice(*a["evOff"][it:it + 2]), slice(*a["evOff2"][it:it + 2])
        syn, rise, decay = s["gSyn"].copy(), s["gRise"].copy(), s["gDecay"].copy()
        np.add.at(syn, a["evSyn"][now], a["evW"][now])
        for target in (rise, decay):
            np.add.at(target, a["evSyn2"][now2], a["evW2"][now2])
        i_na, i_k = a["gNa"] * s["m"]**3 * s["h"], a["gK"] * s["n"]**4
        g1 = 1e5 / a["area"][a["expNode"]] * syn
        g2 = 1e5 / a["area"][a["exp2Node"]] * (decay - rise)
        g, g_e = a["gPas"].copy(), a["gPas"] * a["ePas"]
        for nodes, conductance, current in (
                (a["hhNode"], i_na + i_k + a["gL"], i_na * p["eNa"] + i_k * p["eK"] + a["gL"] * p["eL"]),
                (a["expNode"], g1, g1 * a["eSyn"]), (a["exp2Node"], g2, g2 * a["eSyn2"])):
            np.add.at(g, nodes, conductance)
            np.add.at(g_e, nodes, current)
        np.add.at(g_e, a["stimNode"], 1e5 / a["area"][a["stimNode"]] * a["stim"][it])
        v_new = hines_dense(parent, a["upper"], a["lower"], a["cm"] / dt + a["axial"] + g, a["cm"] / dt * s["v"] + g_e)
        u = v_new[a["hhNode"]]
        up = (s["v"][a["detNode"]] < p["threshold"]) & (v_new[a["detNode"]] >= p["threshold"])
        first = len(spikes)
        for d in range(p["nDet"]):
            slot = min(first + up[:d].sum(), top) if up[d] else top
            spike_det[slot] = max(spike_det[slot], d if up[d] else -1)
            spike_step[slot] = max(spike_step[slot], it if up[d] else -1)
            spikes += [(it, d)] if up[d] else []
        count += up
        s["m"] = gate(exprelr(-(u + 40) / 10), 4 * np.exp(-(u + 65) / 18), s["m"], dt)
        s["h"] = gate(0.07 * np.exp(-(u + 65) / 20), 1 / (1 + np.exp(-(u + 35) / 10)), s["h"], dt)
        s["n"] = gate(0.1 * exprelr(-(u + 55) / 10), 0.125 * np.exp(-(u + 65) / 80), s["n"], dt)
        s["v"], s["gSyn"] = v_new, syn * np.exp(-dt / a["tau"])
        s["gRise"], s["gDecay"] = rise * np.exp(-dt / a["tauRise"]), decay * np.exp(-dt / a["tauDecay"])
    return {**s, "trace": trace, "spikeCount": count, "spikeDet": spike_det, "spikeStep": spike_step,
            "nSpikes": np.int64(len(spikes))}


# ---- forms of lowering (tests/sema/dumps) -----------------------------------------------------------------------

@case
def hoisted(rng):
    x, y, a, w = rng.random(5), rng.random(5), rng.random((5, 3)), rng.random(3)
    got = run("hoisted.pmg", "hoisted", dict(n=5, m=3), {"x": x, "y": y, "A": a, "w": w},
              {"z": (F64, 5), "s": (F64, 5), "t": (F64, ())})
    close(got["z"], x + x @ y * y)
    close(got["s"], a @ a.sum(0) + a @ w)
    close(got["t"], np.linalg.norm(x) / np.count_nonzero(x > y) + a.max() + x.prod())


def branches_case(rng, flag):
    n = 7
    row, col, value = tensor(rng, n, n, n)
    x, a = rng.standard_normal(n), rng.integers(0, n, n)
    got = run("branches.pmg", "branches", dict(n=n, flag=flag),
              {"A.row": row, "A.col": col, "A.value": value, "x": x, "a": a},
              {"y": (F64, n), "z": (F64, n), "u": (F64, n)})
    y = [0 if i == 0 else x[:i].sum() if a[i] < i else x[a[i]] if 3 < i < n - 1 or a[i] == i else 0 for i in range(n)]
    close(got["y"], y)
    close(got["z"], sparse.coo_matrix((value, (row, col)), (n, n)) @ x if flag == 1 else x * (x @ x))
    close(got["u"], [x[a[i - 1]] if i >= 1 else x[a[a[i]]] for i in range(n)])


@case
def branches(rng):
    branches_case(rng, 1)


@case
def branches_other(rng):
    branches_case(rng, 0)


@case
def products(rng):
    a, b, x = rng.random((4, 3)), rng.random((3, 5)), rng.random(5)
    got = run("products.pmg", "products", dict(n=4, m=5, k=3), {"A": a, "B": b, "x": x},
              {"C": (F64, (4, 5)), "D": (F64, (5, 4)), "y": (F64, 3), "z": (F64, 4)})
    for name, wanted in (("C", a @ b + 1), ("D", (a @ b).T), ("y", b @ x), ("z", a @ b @ x)):
        close(got[name], wanted)


@case
def stencils(rng):
    u = rng.random((5, 6)).astype(F32)
    got = run("stencils.pmg", "stencils", dict(n=5, m=6), {"u": u}, {"v": (F32, u.shape), "w": (F32, u.shape)})
    v = np.zeros((5, 6))
    v[1:-1, 1:-1] = signal.correlate2d(u.astype(F64), [[0, 1, 0], [1, -4, 1], [0, 1, 0]], "valid") / 4
    j = np.clip(np.arange(6), 1, 4)
    close(got["v"], v, 1e-5)
    close(got["w"], u[:, j - 1] + 2.5 * u[:, j + 1], 1e-5)


@case
def nexts(rng):
    n = 6
    a, d, x = rng.integers(0, n, n), rng.random(n), rng.random(n)
    got = run("nexts.pmg", "nexts", dict(n=n), {"a": a, "d": d, "x": x},
              {"x": (F64, n), "r": (F64, n), "total": (F64, ()), "last": (F64, ())})
    y, z, c, total = d.copy(), np.ones(n), 0, 0.0
    for it in range(n):
        if c > 3:
            break
        new_x, new_y, new_z = x.copy(), y.copy(), np.zeros(n)
        new_x[0] = y[0]
        for i in range(1, n):
            if i % 2 == it % 2:
                new_x[i] = x[i - 1] + z[i]
        np.add.at(new_y, a, x)
        np.maximum.at(new_z, a, x)
        total += x @ y
        x, y, z, c = new_x, new_y, new_z, c + 1
    for name, wanted in (("x", x), ("r", x + y + z), ("total", total), ("last", (x + y + z).sum() + total)):
        close(got[name], wanted)


@case
def demand(rng):
    n, x = 8, rng.random(8)
    got = run("demand.pmg", "demand", dict(n=n), {"x": x}, {"log": (F64, 3), "y": (F64, n)})
    states = [x * 2.0**it for it in range(n)]
    close(got["log"], [s.mean() + np.linalg.norm(s * s + 2 * s) for s in states[::3]])
    close(got["y"], x * 2.0**n)


@case
def types(rng):
    n = 6
    i8s, u16s = rng.integers(-9, 9, n).astype(np.int8), rng.integers(0, 60000, n).astype(np.uint16)
    f32s, f64s, flags = rng.random(n).astype(F32), 9 * rng.standard_normal(n), rng.random(n) < 0.5
    got = run("types.pmg", "types", dict(n=n, a=0.5, b=0.1),
              {"i8s": i8s, "u16s": u16s, "f32s": f32s, "f64s": f64s, "flags": flags},
              {"i": (np.int32, n), "f": (F32, n), "d": (F64, n), "g": (np.bool_, n), "k": (I64, ())})
    wide, f = i8s.astype(I64), f32s.astype(F64)
    np.testing.assert_array_equal(got["i"], wide + u16s.astype(I64) * 2 - n)
    close(got["f"], 2 * f + 0.5 * wide / 3 - 0.1 + f64s, 1e-5)
    close(got["d"], f * f64s + 0.1 + f32s**2 + np.floor(f) + np.abs(wide) + np.sqrt(n) + np.sqrt(2), 1e-7)
    np.testing.assert_array_equal(got["g"], ~flags & ((wide % 3 == -1) | (flags == (f < 0.5))))
    assert got["k"] == min(n, 3, 4) + np.trunc(f64s).max() - 7 // 2


@case
def ragged(rng):
    m, n, p = 3, 8, 4
    off, parent = np.array([0, 3, 3, 8]), random_parents(rng, n, 2)
    to, v, x = rng.integers(0, p, n), rng.random((p, p)), rng.random(n)
    got = run("ragged.pmg", "ragged", dict(m=m, n=n, p=p), {"off": off, "parent": parent, "to": to, "v": v, "x": x},
              {"y": (F64, m), "z": (F64, (p, p)), "t": (F64, n)})
    close(got["y"], [x[off[s]:off[s + 1]] @ v[to[off[s]:off[s + 1]]].sum(1) for s in range(m)])
    z, t = np.zeros((p, p)), np.zeros(n)
    for i in range(n):
        for k in range(i, n - 1):
            z[to[k]] += v[to[k + 1], to[i]]
    for i, q in enumerate(parent):
        t[i] = x[i] if q < 0 else t[q] + x[np.flatnonzero(parent == i)].sum()
    close(got["z"], z)
    close(got["t"], t)


@case
def expansions(rng):
    s, n, k = 2, 5, 6
    parent, r, c = random_parents(rng, n), rng.random(n), rng.random(n)
    i, q = 6 + rng.random((s, n)), rng.random((s, n))
    a, t = 0.1 * rng.random(k), 0.1 * rng.random(k)
    got = run("expansions.pmg", "expansions", dict(s=s, n=n, k=k),
              {"e.parent": parent, "r": r, "c": c, "i": i, "q": q, "a": a, "t": t}, {"x": (F64, (s, n)), "y": (F64, k)})
    close(got["x"], [hines_dense(parent, r, c, i[j] + 1, q[j]) for j in range(s)])
    close(got["y"], a - tridiagonal(np.full(k, -0.5 * np.linalg.norm(a)), np.full(k, 2.0), t, a))


@case
def segments_inside(rng):
    off, at = np.array([0, 2, 2, 7]), rng.integers(0, 4, 7)
    d, x, val, pair = rng.random((4, 5)), rng.random(5), rng.random(7), rng.integers(0, 4, (3, 2))
    got = run("segments_inside.pmg", "segments_inside", dict(nRows=3, nnz=7, nA=4, nT=5, nSteps=4),
              {"off": off, "at": at, "D": d, "x": x, "val": val, "root": np.array([2]), "pair": pair},
              {"y": (F64, 3), "z": (F64, ()), "w": (F64, 3), "last": (I64, ())})
    rows = [slice(off[s], off[s + 1]) for s in range(3)]
    y = np.array([val[r] @ (d @ x)[at[r]] for r in rows])
    close(got["y"], y)
    close(got["z"], y[2] + sum((s + 1) * val[r].sum() for s, r in enumerate(rows)))
    close(got["w"], d[pair[:, 0]].sum(1) - d[pair[:, 1]].sum(1))
    assert got["last"] == sum(7 % (it + 2) for it in range(4))


# ---- all of them ------------------------------------------------------------------------------------------------

def pipelines():
    """The names of all pipelines of the folders."""
    words = " ".join(path.read_text() for folder in FOLDERS for path in sorted(folder.glob("*.pmg"))).split()
    return {words[i + 1] for i, word in enumerate(words[:-2]) if word == "pipeline" and words[i + 2] == "{"}


def report(function, problem):
    print(f"failed: {function.__name__}: {problem}")
    return 1


def main():
    failed = 0
    for function in CASES:
        try:
            function(np.random.default_rng(zlib.crc32(function.__name__.encode())))
        except subprocess.CalledProcessError as error:
            failed += report(function, error.stderr.decode())
        except AssertionError as error:
            failed += report(function, error)
    names = {function.__name__ for function in CASES}
    missing = pipelines() - names
    for name in sorted(missing):
        print(f"failed: no transcription of {name}")
    print(f"{len(CASES) + len(pipelines()) - failed - len(missing)} passed, {failed + len(missing)} failed")
    return 1 if failed or missing else 0


sys.exit(main())
