#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 10s
# long budget: 3600s
# With --long: wrong changes of generated code, which the comparison with the interpreter must tell from the right one.
if [ -z "$PMG_TEST_LONG" ]; then
	echo "0 passed, 0 failed, 20 skipped"
	exit 0
fi
exec "$PYTHON" tests/mutations/mutations.py "$BUILD" 300
