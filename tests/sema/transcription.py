# SPDX-License-Identifier: MIT
"""What transcriptions of programs are made with: the list of them, and how a pipeline runs in the interpreter."""
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np

TOOL = Path(os.environ.get("BUILD", "build")) / "tests" / "sema" / "test_sema"
FOLDERS = [Path("tests/programs"), Path("tests/sema/dumps")]
F32, F64, I64 = np.float32, np.float64, np.int64
CASES = []


def case(function):
    CASES.append(function)
    return function


def run(file, pipeline, params, arrays, outputs):
    """Runs a pipeline; arrays: name -> values to bind, outputs: name -> (type, shape). The outputs, by name."""
    with tempfile.TemporaryDirectory() as folder:
        for name, values in arrays.items():
            np.ascontiguousarray(values).tofile(f"{folder}/{name}.bin")
        settings = [f"{name}={value!r}" for name, value in params.items()]
        path = next(f / file for f in [*FOLDERS, Path("dsl_examples")] if (f / file).exists())
        subprocess.run([TOOL, "--interp", path, pipeline, folder, *settings], check=True, stdout=subprocess.PIPE,
                       stderr=subprocess.PIPE)
        return {name: np.fromfile(f"{folder}/{name}.bin", dtype).reshape(shape)
                for name, (dtype, shape) in outputs.items()}


def close(got, wanted, rtol=1e-10):
    wanted = np.asarray(wanted)
    scale = np.max(np.abs(wanted[np.isfinite(wanted)]), initial=1e-30) if wanted.size else 1
    np.testing.assert_allclose(got, wanted, rtol=rtol, atol=rtol * scale)


def tensor(rng, n, *sizes, dtype=F64):
    """Coordinates of n entries, some of them equal, and their values."""
    return [rng.integers(0, size, n) for size in sizes] + [rng.standard_normal(n).astype(dtype)]
