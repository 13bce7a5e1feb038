#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 110s
# long budget: 10800s
# Kernels for CUDA against the interpreter, on the processor; and through nvcc, where there is one.
set -e
make -s unit-programs
exec "$PYTHON" tests/lanes/unit.py "$BUILD" cuda
