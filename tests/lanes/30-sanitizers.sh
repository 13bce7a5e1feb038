#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 230s
# long budget: 580s
# The unit tests again with the address, undefined-behaviour and leak sanitizers of clang, which also warns of nothing
# in what it compiles here.
set -e
export CC=clang
tests=(build-clang-san -random -cuda -opencl)
# shellcheck disable=SC2046
make -s SAN=1 WERROR=-Werror all $("$PYTHON" tests/lanes/unit.py --programs "${tests[@]}")
exec "$PYTHON" tests/lanes/unit.py "${tests[@]}"
