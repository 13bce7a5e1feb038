#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 10s
# long budget: 52000s
# libFuzzer targets of the front end and of the readers of files: with --long their corpus and half an hour of new
# inputs each (`make fuzz` builds them at any time). Skipped otherwise, and where clang-14 or its fuzzer is missing.
set -e
if [ -z "$PMG_TEST_LONG" ] ||
	! printf 'int LLVMFuzzerTestOneInput(const unsigned char *d, long n) { (void) d; return n < 0; }' |
	clang-14 -x c -fsanitize=fuzzer -o /dev/null - 2>/dev/null; then
	echo "0 passed, 0 failed, 24 skipped"
	exit 0
fi
"$PYTHON" tests/fuzz/fuzz.py build
exec "$PYTHON" tests/fuzz/fuzz.py run 1800
