#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 50s
# long budget: 70s
# The documents: their programs compile, what they show is what is printed, their examples run, their links lead
# somewhere.
exec "$PYTHON" tests/docs/documents.py "$BUILD"
