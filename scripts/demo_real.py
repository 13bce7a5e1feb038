# SPDX-License-Identifier: MIT
"""Streamlines of dipy's scan small_64D by deterministic tracking: demo_real.py OUT.tck; prints where the scan is."""
import sys
import warnings
from pathlib import Path

import dipy.data
import nibabel
import numpy as np
from dipy.core.gradients import gradient_table
from dipy.direction import peaks_from_model
from dipy.reconst.shm import CsaOdfModel
from dipy.tracking.local_tracking import LocalTracking
from dipy.tracking.stopping_criterion import ThresholdStoppingCriterion
from dipy.tracking.utils import seeds_from_mask

warnings.simplefilter("ignore")
folder = Path(dipy.data.__file__).parent / "files"
scan = nibabel.load(folder / "small_64D.nii")
directions = np.nan_to_num(np.loadtxt(folder / "small_64D.bvec"))
table = gradient_table(np.loadtxt(folder / "small_64D.bval"), directions, b0_threshold=20)
voxels = np.eye(4)
mask = np.ones(scan.shape[:3], bool)
peaks = peaks_from_model(CsaOdfModel(table, 4), scan.get_fdata(), dipy.data.default_sphere, relative_peak_threshold=0.5,
                         min_separation_angle=25, mask=mask)
stop = ThresholdStoppingCriterion(peaks.gfa, 0.1)
seeds = seeds_from_mask(peaks.gfa > 0.2, voxels, density=1)
lines = [s for s in LocalTracking(peaks, stop, seeds, voxels, step_size=0.25) if len(s) >= 15]
tractogram = nibabel.streamlines.Tractogram(lines, affine_to_rasmm=scan.affine)
nibabel.streamlines.save(tractogram, sys.argv[1])
print(folder)
