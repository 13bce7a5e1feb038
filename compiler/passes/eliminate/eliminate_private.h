/* SPDX-License-Identifier: MIT
 *
 * Algorithms for elimination, written as stages (eliminate_*.c). */
#ifndef PMGC_PASSES_ELIMINATE_PRIVATE_H
#define PMGC_PASSES_ELIMINATE_PRIVATE_H

#include "ir/match/elimination.h"
#include "passes/pass_private.h"

/* Chunks of `chunk` rows are condensed to one each; rows are halved by cyclic reduction until at most `rows` are left;
 * then `steps` times each row is freed of its neighbours, by parallel cyclic reduction; what is still coupled after
 * that is solved by Thomas' algorithm. */
struct algorithm {
	enum item_choice choice;        /* its name */
	int64_t chunk;                  /* 0: rows are not in chunks */
	int64_t rows;                   /* 0: nothing is halved */
	int64_t steps;                  /* ALL_STEPS: until nothing is coupled */
	bool has_chunk, has_rows, has_steps;    /* the number can be chosen */
	bool doubles;                   /* neither: recursive doubling of the recurrences themselves */
};

enum { ALL_STEPS = -1 };

/* ---- words.c ---- */

/* A word in braces and what stands for it. */
struct word {
	const char *name, *value;
};

struct builder {
	const struct elimination *what;
	const struct algorithm *algorithm;
	struct module *module;
	struct arena *arena;
	enum region_kind region;        /* of the recurrence, which has so many groups of the program */
	int n_groups;
	bool is_device;
	VEC(struct word) words;
};

struct builder builder_new(const struct elimination *what, const struct algorithm *algorithm);
/* The words that each system has: x c_x solution type zero one n systems on boxes sides side side_boxes out behind, and
 * 0 to 6 for so many dims below the loops over systems. */
void builder_open(struct builder *b);
/* A later word of the same name hides the earlier one; `value` may hold words. */
void builder_set(struct builder *b, const char *name, const char *value);
void builder_set_size(struct builder *b, const char *word, const struct expr *size);
/* A size that follows from another one. */
void builder_derive(struct builder *b, const char *word, const char *name, enum derivation derivation, struct expr *of,
		    int64_t limit);
/* Lines of the format. False after a diagnostic. */
bool builder_add(struct builder *b, enum region_kind region, const char *text);
/* "{x}.cr_diag" */
struct array *builder_array(const struct builder *b, const char *name);
struct expr *builder_n_rows(const struct builder *b);
/* What a subscript of the solution is called: "on.s", "side.q". */
const char *builder_variable(const struct builder *b, int sub);
/* Subscripts of the solution for a row. */
const char *builder_solution_at(const struct builder *b, const char *row);
void builder_close(struct builder *b);

/* ---- rows.c ---- */

/* ceil(rows/chunk) */
struct expr *builder_n_chunks(const struct builder *b);
/* The coefficients of the program, each row by a power of two that brings them near 1, as {x}.PREFIX_lower,
 * _diag, _upper and _rhs at {scaled}. False after a diagnostic. */
bool builder_add_system(struct builder *b, const char *prefix);

/* ---- strides.c ---- */

/* The table of strides and the words that go with it: steps stepping here next left right. */
bool builder_add_strides(struct builder *b);

/* ---- doubling.c ---- */

bool builder_add_doubling(struct builder *b);

/* ---- partition.c ---- */

/* Words for the rows of chunks. */
void builder_open_chunks(struct builder *b);
/* The rows of the program condensed to one of each chunk, those that steps of parallel reduction begin with. */
bool builder_add_condensed(struct builder *b);
/* The solution from what these steps leave. */
bool builder_add_chunks(struct builder *b);

/* ---- trees.c ---- */

/* Replaces what computes the solution over a tree by stages over chunks of it. False after a diagnostic. */
bool eliminate_tree_by(const struct tree_elimination *elimination, const struct algorithm *algorithm, bool is_device);

/* ---- check.c ---- */

/* The pivots of the program, checked where the solution is not finite: in a row of each chunk, or in any. */
bool builder_add_check(struct builder *b, bool has_chunks);

/* ---- stages.c ---- */

/* Replaces what computes the solution by stages of the algorithm. False after a diagnostic. */
bool eliminate_by(const struct elimination *elimination, const struct algorithm *algorithm, bool is_device);

#endif
