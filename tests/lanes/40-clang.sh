#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 60s
# Everything compiles with clang without a warning; not optimised, since nothing of it runs.
set -e
make -s CC=clang WERROR=-Werror CFLAGS=-O0 kernels_level=0 objects
echo "$(find build-clang/obj -name '*.o' | wc -l) passed, 0 failed"
