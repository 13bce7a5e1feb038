/* SPDX-License-Identifier: MIT
 *
 * The pages of docs/errors, which the build writes into a table (scripts/error_pages.sh). */
#ifndef PMGC_DRIVER_ERROR_PAGE_H
#define PMGC_DRIVER_ERROR_PAGE_H

#include "support/support.h"

struct error_page {
	const char *code;               /* "PMG0201" */
	const char *text;               /* Markdown; the first line is "# CODE: TITLE" */
};

/* error_pages.c in the build folder; ends with a row of NULL. */
extern const struct error_page error_pages[];

/* A page as shown in a terminal; `code` may be written PMG0201, pmg0201, 0201 or 201. NULL: there is none. */
const char *error_page_text(struct arena *arena, const char *code);
/* A line for each code. */
const char *error_page_list(struct arena *arena);

#endif
