#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 300s
# long budget: 580s
# The unit tests again with the address, undefined-behaviour and leak sanitizers.
set -e
tests=(build-san -random -cuda -opencl)
# shellcheck disable=SC2046
make -s SAN=1 CC=gcc all $("$PYTHON" tests/lanes/unit.py --programs "${tests[@]}")
exec "$PYTHON" tests/lanes/unit.py "${tests[@]}"
