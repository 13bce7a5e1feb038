#!/bin/sh
# SPDX-License-Identifier: MIT
# Writes the pages of docs/errors as a table in C: error_pages.sh PAGE... > error_pages.c
set -e
echo '/* Written from docs/errors by scripts/error_pages.sh. */'
echo '#include "driver/error_page.h"'
echo
echo 'const struct error_page error_pages[] = {'
for page; do
	echo "	{ \"$(basename "$page" .md)\","
	sed 's/[\\"]/\\&/g; s/.*/	  "&\\n"/' "$page"
	echo '	},'
done
echo '	{ NULL, NULL },'
echo '};'
