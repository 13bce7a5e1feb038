# SPDX-License-Identifier: MIT
"""Compiles quotients.cu, for the processor or, with PMG_NVCC="nvcc -arch=…", for the device, and runs it."""
import os
import shlex
import subprocess
import sys
import tempfile

BUILD = os.environ.get("BUILD", "build")
NVCC = shlex.split(os.environ.get("PMG_NVCC", "tests/cuda/emulated/nvcc"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([*NVCC, "-std=c++17", "-Iruntime", "tests/cuda/quotients.cu", "-o", f"{folder}/quotients",
                               f"-L{BUILD}", "-lpmgrt", "-Xlinker", f"-rpath={os.path.abspath(BUILD)}"], check=False)
        return done.returncode or subprocess.run([f"{folder}/quotients"], check=False).returncode


sys.exit(main())
