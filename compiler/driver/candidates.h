/* SPDX-License-Identifier: MIT
 *
 * Candidates: the same pipeline compiled with other decisions, among which a plan chooses by measuring. */
#ifndef PMGC_DRIVER_CANDIDATES_H
#define PMGC_DRIVER_CANDIDATES_H

#include "driver/pipeline.h"

/* One other way to take a decision. */
struct choice {
	const char *text;               /* as in a schedule block, or the flag: "restructure PHI by voxel" */
	const char *name;               /* letters for a C name: "PHI_voxel" */
	const char *reason;             /* when it may pay */
	bool is_for_trials;             /* estimates of arguments in rows cannot tell that it is better */
	bool is_alone;                  /* not combined with choices of other variations */
	bool is_for_sizes;              /* for sizes that blocks are not meant for (codegen/abi/work.c) */
	const char *flag;               /* of pmgc; NULL: */
	struct override override;       /* an item of the schedule block */
};
typedef VEC(struct choice) choice_list;

/* A decision of which a module may have several: what else there is for it, the most promising first. `module` has
 * gone through the passes; nothing for a decision that the user has taken. */
struct variation {
	void (*choices)(struct module *module, const struct pass_options *options, choice_list *choices);
};

extern const struct variation variations[];
extern const int n_variations;

/* Has the user taken this decision in the schedule block? */
bool is_overridden(const struct module *module, enum verb verb);

/* Lowers and compiles the candidates of all modules, which have gone through the passes: combinations of the choices
 * of all variations, those that change fewest decisions first, c->options.candidates with the module itself at most.
 * A candidate that cannot be compiled is left out, and the module's decisions say why. False: no memory. */
bool candidates_add(struct compilation *c);

#endif
