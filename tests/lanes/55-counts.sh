#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 120s
# Instructions that the kernels of the examples execute, against a table; skipped without valgrind or the table's compiler.
set -e
make -s count-program
exec "$PYTHON" tests/counts/counts.py "$BUILD"
