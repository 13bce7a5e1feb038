#!/usr/bin/env bash
# SPDX-License-Identifier: MIT
# budget: 40s
# long budget: 60s
# What is committed in generated/ is what pmgc emits, and compiles without a warning as C11 with gcc and clang.
set -u
count() { if "$@"; then echo passed; else echo failed; fi; }

# Emitted into another folder: other lanes read this one.
unchanged()
{
	local folder
	folder=$(mktemp -d) && make -s generated GENERATED="$folder" >&2 && diff -rq "$folder" generated >&2 &&
		[ -z "$(git status --porcelain --untracked-files=all generated/)" ] && rm -r "$folder"
}
# gcc finds some of what it warns of when it optimises: every fourth file, or each in the long form.
compiles()
{
	local how=-fsyntax-only
	[ "$1" = clang ] || [ "$3" = quick ] || how="-O1 -c -o /dev/null"
	"$1" -std=c11 -fopenmp -Wall -Wextra -Wconversion -Werror -Iruntime $how "$2"
}
export -f count compiles

unset BUILD
results=$(
	count unchanged
	for compiler in gcc clang; do
		number=0
		for file in generated/*.c; do
			[ -n "${PMG_TEST_LONG-}" ] || [ $((number++ % 4)) = 0 ] && how=optimised || how=quick
			echo "$compiler $file $how"
		done
	done | xargs -P "${PMG_TEST_JOBS:-2}" -L 1 bash -c 'count compiles "$@"' -
)
passed=$(grep -c passed <<< "$results") failed=$(grep -c failed <<< "$results")
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
