/* SPDX-License-Identifier: MIT
 *
 * A pass takes one decision and writes it onto the module or its schedule trees. passes.def is the pipeline in
 * order: PASS(name, sentence, needs, gives, breaks); the driver checks what a pass needs, forgets what it breaks,
 * verifies, dumps and times. */
#ifndef PMGC_PASSES_PASS_H
#define PMGC_PASSES_PASS_H

#include "ir/ir.h"

/* What is known of a module between two passes. */
enum {
	KNOWN_DOMAINS = 1,      /* context and domains */
	KNOWN_ORDER = 2,        /* directions of recurrences */
	KNOWN_DEPS = 4,         /* dependences of each region */
	KNOWN_SCHEDULE = 8,     /* a schedule tree per region */
	KNOWN_PARALLEL = 16,    /* marks that say how loops run */
	MAY_BE_LEFT_OUT = 32    /* given by a pass that changes nothing but marks without which all is right, too */
};

enum order { ORDER_AUTO, ORDER_TEXTUAL, ORDER_ISL, ORDER_N };
/* ON: other factors are taken to be finite. */
enum skip_zeros { SKIP_ZEROS_AUTO, SKIP_ZEROS_ON, SKIP_ZEROS_OFF, SKIP_ZEROS_N };
/* NARROW: systems for one cache line, ON: for two, WIDE: for four. */
enum interleave { INTERLEAVE_OFF, INTERLEAVE_NARROW, INTERLEAVE_ON, INTERLEAVE_WIDE, INTERLEAVE_N };

/* A number of candidates: one, and those for sizes that it is not meant for. */
enum { CANDIDATES_FOR_SIZES = -1 };

struct pass_options {
#define PASS_TEXT(name) const char *name;
#define PASS_NUMBER(type, name) type name;
#include "passes/pass_options.def"
#undef PASS_TEXT
#undef PASS_NUMBER
};

struct pass {
	const char *name, *sentence;
	unsigned needs, gives, breaks;
	bool (*run)(struct module *module, const struct pass_options *options);
};

extern const struct pass passes[];
extern const int n_passes;

/* Did isl give up for want of operations? If so it has all of them again, for a pass that can do without the answer. */
bool pass_ran_out(struct module *module);
/* pivots.c: what the pass of that name does, to a module whose domains are known. */
void module_mark_pivots(struct module *module);

/* After all passes: has one honoured each item of the schedule block? False after a diagnostic for each other one. */
bool overrides_are_honoured(struct module *module);

#endif
