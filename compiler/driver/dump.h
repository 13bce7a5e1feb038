/* SPDX-License-Identifier: MIT
 *
 * --dump-after=PASS: modules as text between the passes, and their kernels between the lowerings. */
#ifndef PMGC_DRIVER_DUMP_H
#define PMGC_DRIVER_DUMP_H

#include "driver/pipeline.h"

struct dumps {
	const char *wanted;             /* "all", "lower", "build", or the name of a pass or lowering; NULL: none */
	const char *last;               /* the text of the module or kernels at work, before this pass or lowering */
};

bool dump_is_known(const char *wanted);
const char *dump_nearest(struct arena *arena, const char *wanted);       /* what may be meant; NULL */
const char *dump_pass_name(int pass);           /* LOWERED: "lower" */
const char *dump_lowering_name(int lowering);   /* K_BUILT: "build" */

/* What is written after a pass, NULL if nothing is wanted: a comment that names the pass and says when it changed
 * nothing, then the module, which pmgc reads like a .pmg file. To be called after every pass. */
const char *dump_text(struct dumps *dumps, struct arena *arena, struct module *module, int pass);
/* The same after a lowering, with the kernels of a module as a dump that k_read_program reads. */
const char *dump_kernel_text(struct dumps *dumps, struct arena *arena, const struct k_program *program, int lowering);

#endif
