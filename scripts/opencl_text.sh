#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes a text in OpenCL C as a string in C, with the headers that it shares in the place of its line SHARED, without
# what they include: opencl_text.sh TEXT HEADER... > text.c
set -e
text=$1
shift
echo '/* Written by scripts/opencl_text.sh. */'
echo '#include "pmgrt_generated.h"'
echo
echo 'const char pmg_opencl_text[] ='
{
	sed '/^SHARED$/,$d' "$text"
	sed '/^#include/d' "$@"
	sed '1,/^SHARED$/d' "$text"
} | sed 's/[\\"]/\\&/g; s/.*/	"&\\n"/'
echo '	;'
