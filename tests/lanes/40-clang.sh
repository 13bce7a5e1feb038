#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 10s
# Tests that are not built with sanitizers compile with clang without a warning, as all else does where those are built.
# Not optimised, since nothing of them runs.
set -e
built=$("$PYTHON" tests/lanes/unit.py --programs build-clang-san -random -cuda -opencl)
left=()
for source in tests/*/test_*.c tests/counts/count.c; do
	grep -qx "build-clang-san/${source%.c}" <<< "$built" || left+=("build-clang/obj/${source%.c}.o")
done
make -s CC=clang WERROR=-Werror CFLAGS=-O0 "${left[@]}"
echo "${#left[@]} passed, 0 failed"
