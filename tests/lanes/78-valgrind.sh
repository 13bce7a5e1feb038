#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 50s
# long budget: 7200s
# Valgrind over the compiler, generated kernels and the readers of files; skipped where it is missing.
if ! command -v valgrind > /dev/null; then
	echo "0 passed, 0 failed, 25 skipped"
	exit 0
fi
exec "$PYTHON" tests/valgrind/memcheck.py "$BUILD"
