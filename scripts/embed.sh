#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes programs as strings in C, named by their files: embed.sh HEADER PROGRAM.pmg... > programs.c
set -e
header=$1
shift
echo '/* Written by scripts/embed.sh. */'
echo "#include \"$header\""
for program; do
	echo
	echo "const char program_$(basename "$program" .pmg)[] ="
	sed 's/[\\"]/\\&/g; s/.*/	"&\\n"/' "$program"
	echo '	;'
done
