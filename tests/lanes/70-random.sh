#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 420s
# Examples and random programs: generated code against the interpreter, with gcc and clang, in several schedules.
set -e
make -s unit-programs
exec "$PYTHON" tests/lanes/unit.py "$BUILD" random
