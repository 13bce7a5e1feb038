# SPDX-License-Identifier: MIT
"""Runs of the reference interpreter, `pmg run --interp`, through bare files of numbers."""
import os
import subprocess
from array import array
from pathlib import Path

import campaign
from library import CODES


class Failed(Exception):
    pass


def find(build):
    """The program, or None where it does not start."""
    pmg = str(Path(os.environ.get("PMG", build / "pmg")).resolve())
    try:
        done = subprocess.run([pmg, "--version"], capture_output=True, check=False)
    except OSError:
        return None
    return pmg if done.returncode == 0 else None


def run(pmg, p, where, got, drawn):
    arguments, outputs = [], {}
    for name, kind, value in campaign.members(p, got, drawn):
        role = p.arrays[name].role if kind == "array" else None
        if role is None:
            arguments.append(f"{name}={value!r}")
            continue
        t, values, shape = value
        if role in ("in", "inout"):
            path = where / f"in.{name}.{t}"
            path.write_bytes(array(CODES[t], values).tobytes())
            arguments.append(f"{name}={path}[{','.join(map(str, shape))}]" if shape else f"{name}={path}[1]")
        if role in ("out", "inout"):
            outputs[name] = (t, where / f"out.{name}.{t}")
            arguments += ["-o", f"{name}={outputs[name][1]}"]
    done = subprocess.run([pmg, "run", "--interp", f"p{p.name[1:]}.pmg", *arguments], cwd=where, capture_output=True,
                          text=True, timeout=600, check=False)
    if done.returncode:
        raise Failed(f"status {done.returncode}: {done.stderr.strip()[:600]}")
    results = {}
    for name, (t, path) in outputs.items():
        results[name] = array(CODES[t])
        results[name].frombytes(Path(path).read_bytes())
    return results
