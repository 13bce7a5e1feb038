# SPDX-License-Identifier: MIT
"""Problems M w = y that tests fit, with M as SciPy holds it beside its parts."""
import h5py
import numpy as np

from transcript import matrix


class Problem:
    """y = M w with a known w, some noise, and a fiber without coefficients."""

    def __init__(self, seed, n=600, voxels=40):
        rng = np.random.default_rng(seed)
        atoms, self.n_fibers, theta = 20, 30, 16
        self.atom = rng.integers(0, atoms, n)
        self.voxel = rng.integers(0, voxels, n)
        self.fiber = rng.integers(0, self.n_fibers - 1, n)
        self.value = rng.uniform(0.1, 2, n)
        self.D = rng.normal(size=(atoms, theta))
        self.M = matrix(self.atom, self.voxel, self.fiber, self.value, self.D, voxels, self.n_fibers)
        truth = np.maximum(rng.normal(size=self.n_fibers), 0)
        self.b = (self.M @ truth + 0.1*rng.normal(size=voxels*theta)).reshape(voxels, theta)


class Stored(Problem):
    """A case of PMG_TEST_DATA."""
    def __init__(self, base):  # pylint: disable=super-init-not-called
        atom, voxel, fiber, self.value = np.loadtxt(f"{base}_phi.tsv.gz").T
        self.atom, self.voxel, self.fiber = (x.astype(int) for x in (atom, voxel, fiber))
        self.exact = np.loadtxt(f"{base}_weights_nnls.txt")
        self.n_fibers = len(self.exact)
        self.b = np.fromfile(f"{base}_y.f64").reshape(self.voxel.max() + 1, -1)
        self.D = np.fromfile(f"{base}_dict.f64").reshape(-1, self.b.shape[1])
        self.M = matrix(self.atom, self.voxel, self.fiber, self.value, self.D, len(self.b), self.n_fibers)


def write(path, problem, **changes):
    """As HDF5; changes replace arrays, None leaves one out."""
    arrays = {"PHI/atom": problem.atom, "PHI/voxel": problem.voxel, "PHI/fiber": problem.fiber,
              "PHI/value": problem.value, "D": problem.D, "y": problem.b,
              **{name.replace("PHI_", "PHI/"): array for name, array in changes.items()}}
    with h5py.File(path, "w") as file:
        for name, array in arrays.items():
            if array is not None:
                file[name] = array
        if "PHI" in file:
            file["PHI"].attrs["nFibers"] = problem.n_fibers
    return path
