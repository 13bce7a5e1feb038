/* SPDX-License-Identifier: MIT
 *
 * What the files share that keep rows of cells in vectors: rows.c finds them. */
#ifndef PMGC_KERNEL_LOWER_ROWS_PRIVATE_H
#define PMGC_KERNEL_LOWER_ROWS_PRIVATE_H

#include "kernel/lower/lower_private.h"

/* Cells of a buffer, or a block of them, which one loop updates in another one. */
struct row {
	struct arena *arena;
	struct k_stmt *around, *cells;  /* the loop over which they are kept; that over them */
	name_list visible, inside;      /* names at the first one, and at the other */
	VEC(const struct k_stmt *) way, lets;   /* between them: statements around the other one; declarations ahead */
	bool is_on_byway;               /* that way leads through an else, or a `while` */
	const struct k_expr *cell;      /* buffer[index] of the loop over them */
	const char *buffer;
	int64_t length;
	struct k_expr *block;           /* the first cell, counted from that of the row; NULL: that one */
	const char *name;               /* of the vectors */
	const struct k_team *team;      /* whose lanes have the vectors; NULL: a thread of a processor has */
	struct k_block *home;           /* where the loop over the cells stands */
	bool is_shared;                 /* groups of the team have shares of its sums */
};

/* ---- row_cells.c ---- */

/* The loop over the cells in that around it, and what is on the way there. */
bool row_find_cells(struct row *row);
const struct k_store *row_store(const struct row *row);         /* the update of a cell */
bool let_is_constant(const struct k_let *let);                  /* it can be computed a second time */
struct k_expr *loop_runs(struct arena *arena, const struct k_loop *loop);       /* has it an iteration? */
/* The name of the vectors, which is visible from here on, as is the variable of the loop over the cells. */
void row_name(struct row *row);

/* Does a loop set the cells of the row to the neutral element of its update? */
bool row_is_set_by(const struct row *row, const struct k_loop *loop);

/* ---- team_rows.c ---- */

/* Do the lanes that have vectors of a row share the loop: those of a group, of which a team may have several? */
bool team_shares(const struct k_team *team, const struct k_loop *loop);
bool team_has_groups(const struct k_team *team);
/* Can lanes of a team share the row? Keeps it so. `out` is the block that comes to be, with what stands ahead of the
 * loop. */
bool team_can_keep(const struct row *row);
void keep_team_row(struct row *row, struct k_block *out);

/* ---- long_rows.c ---- */

bool row_can_have_blocks(struct row *row, const struct k_row_limits *limits);
void keep_long_row(struct k_builder *b, struct row *row, bool begins_at_zero, const struct k_row_limits *limits);

/* ---- row_blocks.c ---- */

bool row_needs_blocks(const struct row *row, const struct k_row_limits *limits);
/* Adds what `add` does for a block of the row, for each of them: below a loop over those of one length, in braces, or,
 * where the row needs no blocks, for the row itself. */
struct row_block_adder {
	void (*add)(struct k_builder *b, const struct row *block, void *user);
	void *user;
};

void row_add_blocks(struct k_builder *b, const struct row *row, const struct k_row_limits *limits,
		    const struct row_block_adder *adder);

/* ---- row_vectors.c ---- */

const char *vectors_element(const struct row *row);             /* in which cells are added to: "float" or "double" */
int64_t vectors_cell_size(const struct row *row);               /* bytes of a cell in a vector */
struct k_type vectors_type(const struct row *row);
const char *vectors_macro(const struct row *row, const char *word);     /* of such vectors: PMG_FILL_F64 */
/* Has each lane of the team as many cells? Whether a lane has vector `number`. */
bool vectors_fill_team(const struct row *row);
struct k_expr *vectors_are_own(const struct row *row, const char *number);
/* Opens a loop over the vectors, with the first cell of each if it `needs_cell`, and returns its variable, which is
 * none of the names. */
const char *vectors_open(struct k_builder *b, const struct row *row, const name_list *names, bool needs_cell);

/* Can the value be computed as vectors: do its reads that move with the loop move as the cells do? Is it such a read?
 * The vector of such a read, or what is the same for all cells, as a float where these are; NULL: it is neither, or is
 * copied as it is. */
bool vectors_can_have(const struct row *row, const struct k_expr *value);
bool vectors_read_one(const struct row *row, const struct k_expr *value);
struct k_expr *vectors_part(const struct row *row, const struct k_expr *value);

/* Can the update be computed as vectors: does each read that moves with the loop move as the cells do? */
bool vectors_are_possible(const struct row *row);
/* Adds to the open block: the vectors; what reads them from the cells, sets them to the neutral element, or writes them
 * to the cells. */
void vectors_declare(struct k_builder *b, const struct row *row);
void vectors_read(struct k_builder *b, const struct row *row);
void vectors_begin(struct k_builder *b, const struct row *row);
void vectors_write(struct k_builder *b, const struct row *row);
/* The loop over the cells becomes one over the vectors. */
void vectors_update(const struct row *row);

#endif
