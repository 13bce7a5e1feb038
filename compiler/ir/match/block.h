/* SPDX-License-Identifier: MIT
 *
 * Blocks of iterations. Below the mark BLOCK(S.s x 16) sixteen iterations of the loop over s run together: each
 * statement for all of them, as a vector, before the next one. What an array holds for a block stands next to each
 * other, so that the vectors are read and written as such: an interleaved part, [rows, 16], of what elsewhere is an
 * array of systems, [systems, rows]. Of the last block some iterations may not exist: they compute with copies of
 * others, and nobody sees what.
 *
 * So an array that moves with s does so by one subscript, which is s; what does not is only read; and no range,
 * condition or index below depends on s. Or s is the number of a segment of fixed offsets, and all that depends on it
 * are its rows, i in offset[s]..offset[s + 1], conditions on where they begin and end, and parents and children in
 * trees that are cut there: then blocks have as many rows as their longest segment. That the iterations are
 * independent is proved with the other marks (ir/isl/legality.c). */
#ifndef PMGC_IR_BLOCK_H
#define PMGC_IR_BLOCK_H

#include "ir/schedule.h"

/* How the statements below a loop use an array. */
struct block_use {
	struct array *array;
	struct stage *stage;            /* one of them, with its access */
	struct access *access;
	int position;                   /* of the subscript that is the loop's dim; -1: none is */
	int first, last;                /* the subscripts that move below the loop; first > last: none do */
	struct array *segments;         /* offsets: its one subscript is a row of one of their segments; NULL */
	bool is_read, is_written;
};
typedef VEC(struct block_use) block_use_list;

/* Of the loop whose mark is at `loop`: each array once. */
block_use_list block_uses(struct module *module, __isl_keep isl_schedule_node *loop);
/* Why its iterations cannot run in blocks; NULL: they can. */
const char *block_refusal(struct module *module, __isl_keep isl_schedule_node *loop);
/* Does the mark at `node` stand where it may? */
const char *block_problem(struct module *module, __isl_keep isl_schedule_node *node);

/* The number of the dim that goes through the rows of this block: the next one, but for borders of segments. */
int block_row_level(const struct mark *mark);
/* If all statements that use this argument run in blocks of its first subscript, which begins at 0: how many lanes
 * these have, the same in all. Then a kernel can take its parts from wherever they are (pmg_place,
 * runtime/pmgrt_generated.h). Else 0. */
int block_held(struct module *module, const struct array *array);
/* The fixed offsets whose segments are the elements of an argument of floats, of one dimension: the first ones declared
 * over its extent; NULL: there are none. A caller may hold it in blocks of them. */
const struct array *block_segments(const struct module *module, const struct array *array);
/* Is it a temporary that lives in the block of segments of one loop? Then only the block's part of it is stored. */
bool block_hides(struct module *module, const struct array *array);
/* May a temporary that lives in the block of that loop, part for part as the result of `copy` does, have its values in
 * the cells of `copy` (ir/match/block_share.c)? */
bool block_may_hold(struct module *module, __isl_keep isl_schedule_node *loop, const struct array *array,
		    const struct array *copy);
/* Does the stage of this number run in a block that has a part of this tree? */
bool block_has_tree(struct module *module, int stage, const struct array *tree);

#endif
