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

enum skip_zeros { SKIP_ZEROS_AUTO, SKIP_ZEROS_ON, SKIP_ZEROS_OFF, SKIP_ZEROS_N };
enum interleave { INTERLEAVE_OFF, INTERLEAVE_NARROW, INTERLEAVE_ON, INTERLEAVE_WIDE, INTERLEAVE_N };

enum { CANDIDATES_FOR_SIZES = -1 };

/* What the command line asks of passes. */
struct pass_options {
	const char *schedule;           /* auto | textual | isl | fused */
	bool inlining, swap, fuse, storage, parallel, reciprocals, columns, vector;
	bool deal, unroll;              /* of a device: points of lanes, several of their rows at a time */
	int block_warps;                /* of a device; 0: by the rule of its runtime */
	enum interleave interleave;     /* NARROW: systems for one cache line, ON: for two, WIDE: for four */
	enum skip_zeros skip_zeros;     /* loops whose terms vanish; ON: other factors are taken to be finite */
	bool restructure;               /* sparse accumulations of which the schedule block says nothing, too */
	const char *blas;               /* on | off | auto */
	bool is_parallel_given;         /* by the user: not varied among candidates */
	bool deterministic;             /* no result depends on the order or the number of threads */
	int candidates;                 /* ways to compile each pipeline, at most; 0 is 1; CANDIDATES_FOR_SIZES: one,
					 * and those for sizes that it is not meant for */
	bool estimated;                 /* no trial will be run: candidates that only those can tell are left out */
	const char *with;               /* items of a schedule block to add: "restructure PHI by voxel; blas off" */
	const char *specialize;         /* "nTheta = 96"; both NULL: nothing */
	bool overrides;                 /* false: the schedule block is left aside, before the passes */
	bool is_device;                 /* for a target with thousands of threads: none has copies of its own */
	unsigned long max_operations;   /* isl's, per pass; 0: no limit */
	int threads;
	bool remarks;                   /* why loops stay serial or scalar is looked for */
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
