#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 80s
# long budget: 5400s
# Kernels in OpenCL C against the interpreter, where there is a platform of OpenCL, and their trees.
set -e
make -s unit-programs
exec "$PYTHON" tests/lanes/unit.py "$BUILD" opencl
