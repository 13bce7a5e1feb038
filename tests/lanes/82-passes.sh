#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 10s
# long budget: 21600s
# With --long: wrong changes of passes and code generation, which quick tests must tell from the right compiler.
if [ -z "$PMG_TEST_LONG" ]; then
	echo "0 passed, 0 failed, 150 skipped"
	exit 0
fi
exec "$PYTHON" tests/mutations/passes.py "$BUILD" 200
