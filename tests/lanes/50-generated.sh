#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 60s
# What is committed in generated/ is what pmgc emits, and compiles without a warning as C11 with gcc and clang.
set -u
passed=0 failed=0
count() { if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi; }

unchanged()
{
	make -s generated && git diff --exit-code --stat generated/ &&
		[ -z "$(git status --porcelain --untracked-files=all generated/)" ]
}
compiles()
{
	"$1" -std=c11 -fopenmp -Wall -Wextra -Wconversion -Werror -Iruntime -O1 -c "$2" -o /dev/null
}

unset BUILD
count unchanged
for file in generated/*.c; do
	for compiler in gcc clang; do
		[ -e "$file" ] && count compiles "$compiler" "$file"
	done
done
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
