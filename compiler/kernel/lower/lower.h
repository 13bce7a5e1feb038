/* SPDX-License-Identifier: MIT
 *
 * Lowerings of a kernel program: each takes one decision of how it runs, and writes it into the tree. lowerings.def is
 * their order: LOWERING(name, sentence, needs, gives). The driver, k_lower, checks what a lowering needs, verifies what
 * it made, and lets its caller look at the tree.
 *
 * A lowering reads properties of nodes, which builders set, and what uses.c proves of names. It knows the kernel tree
 * and nothing of where that comes from: what else it has to know of the target stands in `struct k_target_facts`. */
#ifndef PMGC_KERNEL_LOWER_LOWER_H
#define PMGC_KERNEL_LOWER_LOWER_H

#include "kernel/kernel.h"

/* What is known of a program between two lowerings. */
enum {
	K_KNOWN_READ = 1        /* every name that is declared without an effect is read */
};

/* How many bytes of a row are kept in registers at most; how many are a vector, on each machine. */
struct k_row_limits {
	int64_t longest, shortest;
};

/* What a target has that a lowering may use. */
struct k_target_facts {
	bool prefetches;        /* PMG_PREFETCH */
	bool has_nontemporal;   /* PMG_STREAM_… */
	bool has_launch_bounds; /* PMG_BOUNDS */
	struct k_row_limits rows;
};

/* What a lowering chose, for which name, and why; what else there was, or NULL. */
struct k_decision {
	int lowering;           /* its number */
	struct span span;       /* of the .pmg text */
	const char *subject, *chosen, *alternatives, *reason;
};

/* A program under way. */
struct k_lowered {
	struct arena *arena;
	struct k_program *program;
	const struct k_target_facts *target;
	int lowering;           /* the number of the one that runs */
	VEC(struct k_decision) decisions;       /* none twice */
};

struct k_lowering {
	const char *name, *sentence;
	unsigned needs, gives;
	void (*run)(struct k_lowered *lowered);
};

extern const struct k_lowering k_lowerings[];
extern const int k_n_lowerings;

enum { K_BUILT = -1 };          /* the number of a lowering before the first one: the program as it was built */

int k_lowering_find(const char *name);                  /* its number; K_BUILT: there is none of this name */

/* Is shown a program as it was built, then after each lowering; the last one may be what is wrong. */
struct k_watch {
	void (*see)(const struct k_program *program, int lowering, void *user); /* NULL: nobody looks */
	void *user;
};

/* Runs all lowerings. NULL, or what is wrong with the program that was built, or that a lowering made. */
const char *k_lower(struct k_lowered *lowered, const struct k_watch *watch);
/* The same with one of them, whatever it needs; K_BUILT: with none. */
const char *k_lower_by(struct k_lowered *lowered, int lowering, const struct k_watch *watch);

#endif
