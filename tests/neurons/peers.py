# SPDX-License-Identifier: MIT
"""Simulators of PyPI, whose own numbers tests ask for: each in a folder of its own, build/peers/NAME-VERSION, where pip
puts it when it is first asked for. Without pip, or without a way to PyPI, tests that need one are skipped."""
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[2] / "build" / "peers"
PIP = ["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check",
       "--no-input", "--retries=1", "--timeout=20"]


def peer(name, version):
    """The folder for PYTHONPATH; None, and the reason is printed, where it cannot be had."""
    place = FOLDER / f"{name}-{version}"
    if place.exists():
        return place
    FOLDER.mkdir(parents=True, exist_ok=True)
    made = tempfile.mkdtemp(dir=FOLDER)
    try:
        run = subprocess.run([sys.executable, *PIP, "--target", made, f"{name}=={version}"], capture_output=True,
                             text=True, timeout=150, check=False)
        if run.returncode == 0 and any(Path(made).iterdir()):
            try:
                os.rename(made, place)
            except OSError:         # another test was quicker
                pass
            return place
        reason = (run.stderr.strip().splitlines() or ["pip fails"])[-1]
    except subprocess.TimeoutExpired:
        reason = "pip takes too long"
    finally:
        shutil.rmtree(made, ignore_errors=True)
    print(f"skipped: {name} {version} is not to be had: {reason}")
    return None


def run_with(place, script, *words):
    """A script of this folder, with that simulator."""
    env = dict(os.environ, PYTHONPATH=str(place), NEURON_MODULE_OPTIONS="-nogui", OMP_NUM_THREADS="1")
    run = subprocess.run([sys.executable, str(Path(__file__).parent / script), *map(str, words)], capture_output=True,
                         text=True, env=env, timeout=300, check=False)
    if run.returncode:
        raise SystemExit(f"{script}: {run.stdout}{run.stderr}")
    return run.stdout
