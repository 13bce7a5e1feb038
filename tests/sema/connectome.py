# SPDX-License-Identifier: MIT
"""Transcriptions of the programs about connectomes: LiFE, its solvers, COMMIT."""
import numpy as np

from transcription import F32, F64, I64, case, close, run, tensor


def life(rng, n_theta=5):
    sizes = dict(nAtoms=4, nVoxels=6, nFibers=7, nTheta=n_theta, nCoeffs=40)
    atom, voxel, fiber, value = tensor(rng, 40, 4, 6, 7)
    d = rng.standard_normal((4, n_theta))
    matrix = np.zeros((6, n_theta, 7))
    np.add.at(matrix, (voxel, slice(None), fiber), value[:, None] * d[atom])
    arrays = {"PHI.atom": atom, "PHI.voxel": voxel, "PHI.fiber": fiber, "PHI.value": value, "D": d}
    return sizes, arrays, matrix


@case
def life_dsc(rng):
    sizes, arrays, m = life(rng)
    w = rng.standard_normal(7)
    got = run("life.pmg", "life_dsc", sizes, {**arrays, "w": w}, {"Y": (F64, (6, 5))})
    close(got["Y"], m @ w)


@case
def life_dsc_written(rng):
    sizes, arrays, m = life(rng, 96)
    arrays = {name.replace("PHI.", ""): values for name, values in arrays.items()}
    w = rng.standard_normal(7)
    got = run("life.pmg", "life_dsc_written", sizes, {**arrays, "w": w}, {"Y": (F64, (6, 96))})
    close(got["Y"], m @ w)


def weights_of(rng, pipeline):
    sizes, arrays, m = life(rng)
    y = rng.standard_normal((6, 5))
    got = run("life.pmg", pipeline, sizes, {**arrays, "Y": y}, {"w": (F64, 7)})
    close(got["w"], np.einsum("vtf,vt->f", m, y))


@case
def life_wc(rng):
    weights_of(rng, "life_wc")


@case
def life_wc_written(rng):
    weights_of(rng, "life_wc_written")


@case
def life_l1_gradient(rng):
    sizes, arrays, m = life(rng)
    b, w = rng.standard_normal((6, 5)), rng.standard_normal(7)
    got = run("commit.pmg", "life_l1_gradient", {**sizes, "lambda": 0.3}, {**arrays, "b": b, "w": w},
              {"g": (F64, 7)})
    close(got["g"], np.einsum("vtf,vt->f", m, m @ w - b) + 0.3)


@case
def life_gradient_step(rng):
    sizes, arrays, m = life(rng)
    b, w = rng.standard_normal((6, 5, 3)), np.abs(rng.standard_normal((7, 3)))
    got = run("right_hand_sides.pmg", "life_gradient_step", {**sizes, "nRhs": 3}, {**arrays, "b": b, "w": w},
              {"wNew": (F64, (7, 3))})
    residual = np.einsum("vtf,fq->vtq", m, w) - b
    g = np.einsum("vtf,vtq->fq", m, residual)
    v = np.einsum("vtf,fq->vtq", m, g)
    alpha = (g * g).sum(0) / (v * v).sum((0, 1))
    close(got["wNew"], np.maximum(w - alpha * g, 0))


def sbbnnls_reference(m, h, b, w0, max_iter, preconditioned, tol_gradient, tol_objective):
    """Subspace Barzilai-Borwein on the dense matrix, as in the comment of the program."""
    s = np.divide(1, h, out=np.zeros_like(h), where=h > 0) if preconditioned else np.ones_like(h)
    x = np.divide(np.maximum(w0, 0), s, out=np.zeros_like(s), where=s > 0)
    r = m @ (s * x) - b
    g = s * np.einsum("vtf,vt->f", m, r)
    g_old, f, f_old = g, 0.5 * (r * r).sum(), np.inf
    pg = np.abs(np.where((x == 0) & (g > 0), 0, g)).max()
    objective, iterations = np.zeros(max_iter), 0
    for it in range(max_iter):
        if pg < tol_gradient or abs(f_old - f) < tol_objective:
            break
        objective[it] = f
        iterations += 1
        blocked = (x == 0) & (g > 0)
        d = np.where(blocked, 0, g_old)
        v = m @ (s * d)
        q = np.where(blocked, 0, s * np.einsum("vtf,vt->f", m, v))
        num, den = ((v * v).sum(), (q * q).sum()) if it % 2 == 0 else ((d * d).sum(), (v * v).sum())
        alpha = num / den if den > 0 else 0
        x = np.maximum(x - alpha * g, 0)
        r = m @ (s * x) - b
        g_old, g = g, s * np.einsum("vtf,vt->f", m, r)
        f_old, f = f, 0.5 * (r * r).sum()
        pg = np.abs(np.where((x == 0) & (g > 0), 0, g)).max()
    return s * x, objective, iterations, pg


def sbbnnls_case(rng, preconditioned, tol_objective):
    sizes, arrays, m = life(rng)
    arrays["PHI.value"] = np.abs(arrays["PHI.value"])
    m = np.zeros_like(m)
    np.add.at(m, (arrays["PHI.voxel"], slice(None), arrays["PHI.fiber"]),
              arrays["PHI.value"][:, None] * arrays["D"][arrays["PHI.atom"]])
    b, w0 = rng.standard_normal((6, 5)), np.abs(rng.standard_normal(7))
    h = np.zeros(7)
    np.add.at(h, arrays["PHI.fiber"], arrays["PHI.value"]**2 * (arrays["D"]**2).sum(1)[arrays["PHI.atom"]])
    params = {**sizes, "maxIter": 12, "preconditioned": preconditioned, "tolGradient": 1e-9,
              "tolObjective": tol_objective}
    arrays["voxel_coords"] = np.zeros((6, 3), np.int32)
    got = run("sbbnnls.pmg", "sbbnnls", params, {**arrays, "b": b, "w0": w0},
              {"w": (F64, 7), "objective": (F64, 12), "iterations": (I64, ()), "violation": (F64, ())})
    w, objective, iterations, pg = sbbnnls_reference(m, h, b, w0, 12, preconditioned, 1e-9, tol_objective)
    assert got["iterations"] == iterations and 2 < iterations
    close(got["w"], w, 1e-6)
    close(got["objective"], objective, 1e-6)
    np.testing.assert_allclose(got["violation"], pg, rtol=1e-6, atol=1e-10)


@case
def sbbnnls(rng):
    sbbnnls_case(rng, 1, 1e-12)


@case
def sbbnnls_stopped(rng):
    sbbnnls_case(rng, 0, 1e-2)


@case
def commit_dsc(rng):
    p = dict(nIC=20, nEC=9, nDirs=4, nVoxels=5, nFibers=6, nTheta=3, nR=2, nE=2, nQ=3)
    ia, iv, fiber, ic = tensor(rng, 20, 4, 5, 6, dtype=F32)
    ea, ev, ec = tensor(rng, 9, 4, 5, dtype=F32)
    dr, de = (rng.standard_normal((n, 4, 3)).astype(F32) for n in (2, 2))
    dq = rng.standard_normal((3, 3)).astype(F32)
    w_ic, w_ec, w_q = rng.standard_normal((2, 6)), rng.standard_normal((2, 9)), rng.standard_normal((3, 5))
    got = run("commit.pmg", "commit_dsc", p,
              {"IC.atom": ia, "IC.voxel": iv, "IC.fiber": fiber, "IC.value": ic, "EC.atom": ea, "EC.voxel": ev,
               "EC.value": ec, "DR": dr, "DE": de, "DQ": dq, "wIC": w_ic, "wEC": w_ec, "wQ": w_q},
              {"Y": (F64, (5, 3))})
    y = np.einsum("qt,qv->vt", dq.astype(F64), w_q)
    for r in range(2):
        np.add.at(y, iv, dr[r, ia] * (w_ic[r, fiber] * ic)[:, None])
        np.add.at(y, ev, de[r, ea] * (w_ec[r] * ec)[:, None])
    close(got["Y"], y)


@case
def commit_l1(rng):
    p = dict(nIC=30, nDirs=4, nVoxels=5, nFibers=6, nTheta=3, nR=2, nQ=2, maxIter=9, step=0.01, tol=1e-9)
    atom, voxel, fiber, value = tensor(rng, 30, 4, 5, 6, dtype=F32)
    dr, dq = rng.standard_normal((2, 4, 3)).astype(F32), rng.standard_normal((2, 3)).astype(F32)
    b = rng.standard_normal((5, 3))
    got = run("commit.pmg", "commit_l1", {**p, "lambda": 0.1},
              {"IC.atom": atom, "IC.voxel": voxel, "IC.fiber": fiber, "IC.value": value, "DR": dr, "DQ": dq, "b": b},
              {"wIC": (F64, (2, 6)), "wQ": (F64, (2, 5))})
    m = np.zeros((5, 3, 2, 6))
    for k in range(30):
        m[voxel[k], :, :, fiber[k]] += F64(value[k]) * dr[:, atom[k], :].T
    x, xe, z, ze, tau, change = np.zeros((2, 6)), np.zeros((2, 6)), np.zeros((2, 5)), np.zeros((2, 5)), 1.0, np.inf
    for _ in range(9):
        if change < 1e-9:
            break
        r = np.einsum("vtqf,qf->vt", m, xe) + np.einsum("qt,qv->vt", dq, ze) - b
        gx = np.einsum("vtqf,vt->qf", m, r) + 0.1
        gz = np.einsum("qt,vt->qv", dq, r) + 0.1
        x_new, z_new = np.maximum(xe - 0.01 * gx, 0), np.maximum(ze - 0.01 * gz, 0)
        tau_new = (1 + np.sqrt(1 + 4 * tau * tau)) / 2
        xe, ze = x_new + (tau - 1) / tau_new * (x_new - x), z_new + (tau - 1) / tau_new * (z_new - z)
        change = max(np.abs(x_new - x).max(), np.abs(z_new - z).max())
        x, z, tau = x_new, z_new, tau_new
    close(got["wIC"], x, 1e-6)
    close(got["wQ"], z, 1e-6)
