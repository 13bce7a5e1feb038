#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 360s
# long budget: 600s
# Every tests/*/test_*.c and tests/*/test_*.py, as built in $BUILD, but for those of random, cuda and opencl, which have
# lanes.
set -e
make -s unit-programs ${SAN:+SAN=1}
exec "$PYTHON" tests/lanes/unit.py "$BUILD" -random -cuda -opencl
