#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 20s
# long budget: 180s
# Generated code in four threads under clang's thread sanitizer with Archer; skipped where they are missing.
exec "$PYTHON" tests/races/races.py "$BUILD"
