/* SPDX-License-Identifier: MIT
 *
 * --dump-after=PASS: modules as text between the passes. */
#ifndef PMGC_DRIVER_DUMP_H
#define PMGC_DRIVER_DUMP_H

#include "driver/pipeline.h"

struct dumps {
	const char *wanted;             /* "all", "lower" or the name of a pass; NULL: none */
	const char *last;               /* the text of the module at work, before this pass */
};

bool dump_is_known(const char *wanted);
const char *dump_pass_name(int pass);           /* LOWERED: "lower" */

/* What is written after a pass, NULL if nothing is wanted: a comment that names the pass and says when it changed
 * nothing, then the module, which pmgc reads like a .pmg file. To be called after every pass. */
const char *dump_text(struct dumps *dumps, struct arena *arena, struct module *module, int pass);

#endif
