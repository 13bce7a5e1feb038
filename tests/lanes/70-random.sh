#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 120s
# long budget: 28800s
# Examples and random programs (more with --long): generated code against the interpreter, with gcc and clang, in
# several schedules; and the shrinker of what fails.
set -e
make -s unit-programs
exec "$PYTHON" tests/lanes/unit.py "$BUILD" random
