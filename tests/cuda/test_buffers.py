# SPDX-License-Identifier: MIT
"""Compiles buffers.cu, for the processor or, with PMG_NVCC="nvcc -arch=…", for the device, and runs it."""
import os
import shlex
import subprocess
import sys
import tempfile

BUILD = os.environ.get("BUILD", "build")
NVCC = shlex.split(os.environ.get("PMG_NVCC", "tests/cuda/emulated/nvcc"))


def main():
    with tempfile.TemporaryDirectory() as folder:
        commands = [
            [f"{BUILD}/pmgc", "dsl_examples/life_dsc.pmg", "--target=cuda", "-o", f"{folder}/life_dsc.c"],
            ["gcc", "-std=c11", "-Iruntime", "-c", f"{folder}/life_dsc.c", "-o", f"{folder}/life_dsc.o"],
            [*NVCC, "-std=c++17", "-Iruntime", f"-I{folder}", "tests/cuda/buffers.cu", f"{folder}/life_dsc.o",
             "-o", f"{folder}/buffers", f"-L{BUILD}", "-lpmgrt", "-Xlinker", f"-rpath={os.path.abspath(BUILD)}"],
            [f"{folder}/buffers"],
        ]
        for command in commands:
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode or command is commands[-1]:
                print(done.stdout + done.stderr)
            if done.returncode:
                return 1
    return 0


sys.exit(main())
