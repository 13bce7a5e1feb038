# SPDX-License-Identifier: MIT
"""SBBNNLS as the equations have it (Caiafa and Pestilli 2017; Kim, Sra and Dhillon 2013), for matrices that SciPy
holds whole: what the compiled solver is compared with."""
import numpy as np
from scipy import sparse


def matrix(atom, voxel, fiber, value, dictionary, n_voxels, n_fibers):
    """M, with a row for each voxel and direction; `dictionary` is [atoms, directions]."""
    n_theta = dictionary.shape[1]
    rows = (np.asarray(voxel)[:, None]*n_theta + np.arange(n_theta)).ravel()
    entries = (np.asarray(value)[:, None]*dictionary[atom]).ravel()
    return sparse.csr_matrix((entries, (rows, np.repeat(fiber, n_theta))), shape=(n_voxels*n_theta, n_fibers))


def preconditioner(atom, fiber, value, dictionary, n_fibers):
    """1/h_f, and 0 where a fiber has no coefficients."""
    h = np.bincount(fiber, np.asarray(value)**2*(dictionary[atom]**2).sum(1), minlength=n_fibers)
    return np.divide(1, h, out=np.zeros(n_fibers), where=h > 0)


def sbbnnls(M, b, scale, w0, iterations):
    """Weights, the objective before each iteration, the largest projected gradient at the end."""
    x = np.divide(np.maximum(w0, 0), scale, out=np.zeros(len(scale)), where=scale > 0)
    residual = M @ (scale*x) - b
    gradient = scale*(M.T @ residual)
    before = gradient
    objective = []
    for iteration in range(iterations):
        objective.append(0.5*(residual @ residual))
        blocked = (x == 0) & (gradient > 0)
        step = np.where(blocked, 0, before)
        image = M @ (scale*step)
        if iteration % 2 == 0:
            back = np.where(blocked, 0, scale*(M.T @ image))
            above, below = image @ image, back @ back
        else:
            above, below = step @ step, image @ image
        x = np.maximum(x - (above/below if below > 0 else 0)*gradient, 0)
        before = gradient
        residual = M @ (scale*x) - b
        gradient = scale*(M.T @ residual)
    violation = np.abs(np.where((x == 0) & (gradient > 0), 0, gradient)).max(initial=0)
    return scale*x, np.array(objective), violation
