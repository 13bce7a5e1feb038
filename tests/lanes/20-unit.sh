#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 180s
# Every tests/*/test_*.c and tests/*/test_*.py, as built in $BUILD.
set -e
make -s unit-programs ${SAN:+SAN=1}
exec "$PYTHON" tests/lanes/unit.py "$BUILD"
