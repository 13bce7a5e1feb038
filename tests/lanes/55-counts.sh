#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 30s
# long budget: 90s
# Instructions of the kernels of the examples, against a table; skipped without valgrind or the compiler of the table.
set -e
make -s count-program
exec "$PYTHON" tests/counts/counts.py "$BUILD"
