#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 150s
# long budget: 1800s
# Wrong changes of generated code, which the comparison with the interpreter must tell from the right one.
exec "$PYTHON" tests/mutations/mutations.py "$BUILD" "$([ -n "$PMG_TEST_LONG" ] && echo 300 || echo 20)"
