/* SPDX-License-Identifier: MIT
 *
 * What the files share that lower rounds of lanes: rounds.c finds them. */
#ifndef PMGC_KERNEL_LOWER_ROUNDS_PRIVATE_H
#define PMGC_KERNEL_LOWER_ROUNDS_PRIVATE_H

#include "kernel/lower/lower_private.h"

/* A loop over rounds, in each of which a group has the row of one lane. */
struct rounds {
	struct arena *arena;
	struct k_stmt *stmt;            /* the loop */
	struct k_block *body;           /* of a round: its number, what the lane hands over, a condition */
	const char *lanes;              /* those that have rows */
	const struct k_let *sums;       /* which groups leave to lanes; NULL: they leave none */
	int source, n_values;           /* where in the block values are handed over, behind `source`; so many */
	bool shared;                    /* these are in shared memory; else shuffles bring them */
	struct k_registers registers;   /* of a lane, up to here */
	name_list visible;
};

/* ---- handed.c ---- */

void rounds_find_values(struct rounds *rounds, const struct k_block *block, int at);
/* Adds what stands ahead of the loop in the block, at `at`, with values in shared memory if they may be. */
void rounds_hand_over(struct k_builder *b, struct rounds *rounds, const struct k_block *block, int at,
		      bool may_be_shared);

#endif
