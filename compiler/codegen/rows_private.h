/* SPDX-License-Identifier: MIT
 *
 * What the files share that print rows of accumulators (rows.c) and dot products (dots.c). Included by
 * codegen_private.h. */
#ifndef PMGC_CODEGEN_ROWS_PRIVATE_H
#define PMGC_CODEGEN_ROWS_PRIVATE_H

/* ---- rows.c: rows of accumulators ------------------------------------------------------------------------ */

void emit_row(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);
/* What is known of the loop of these marks, with this range, if it is over the cells of a row or the terms of a sum. */
struct k_row row_known(struct emit *e, const struct range *range, const struct loop_use *use);
/* Of a stage that updates the cells of a row; false: it is another one. */
bool emit_row_update(struct emit *e, const struct stage *stage, const struct update *update);
/* row_parts.c. Whether no other iteration updates the cells of a row along dim `along`, as the part of a restructuring
 * that is the only one of its segment; NULL: nobody can say. */
struct k_expr *row_is_alone(struct emit *e, __isl_keep isl_ast_node *node, const struct stage *stage, int along);
/* Does a nest set cells, which the one behind may set itself where it is printed with these e->rows.of_parts? Did that
 * one, as far as it was printed? What is left of the first nest then. */
bool part_rows_find(struct emit *e, __isl_keep isl_ast_node *node, struct part_rows *rows);
bool part_rows_are_set(struct emit *e, __isl_keep isl_ast_node *node, const struct part_rows *rows);
void emit_set_cut(struct emit *e);
/* Is the row one of these, so that its cells are set ahead of the loops below the node? Sets those that no other part
 * has. */
bool row_sets_cells(struct emit *e, __isl_keep isl_ast_node *node, const struct row *row);
void emit_set_cells(struct emit *e, __isl_keep isl_ast_node *node, __isl_keep isl_ast_node *loop,
		    const struct row *row, const struct mark *over);
/* Does the target hold the neutral element until the stage has come to it? A stage of the same region has set it, and
 * nothing has updated it since: where an accumulation starts, a constant is the neutral element, and what a state held
 * is none. */
bool target_is_neutral(const struct emit *e, const struct stage *stage);
/* A read, of which `text` is the element, where vectors are printed. */
bool row_is_along(const struct emit *e, const struct access *access);
struct k_expr *row_read(struct emit *e, const struct access *access, struct k_expr *element);

/* What is shared with dots.c: is the mark that of a loop over dim number `dim` of the stage; is isl's loop over all of
 * `dim`, and around nothing but the stage; a row's length, where it is known. `row_open` opens the loop over the
 * vectors of a row, in which isl's loop has the first cell of each if it `needs_cell`, and gives the name of its
 * variable. */
bool row_is_loop(const struct mark *mark, const struct stage *stage, int dim);
bool loop_is_whole(struct emit *e, __isl_keep isl_ast_node *loop, const struct dim *dim);
bool row_is_whole_loop(struct emit *e, __isl_keep isl_ast_node *loop, const struct dim *dim);
bool row_length(const struct emit *e, const struct dim *dim, int64_t *length);
const char *row_suffix(enum scalar_type type);
/* Has each lane of a team as many cells? */
bool row_fills_team(const struct emit *e, int64_t length);
const char *row_open(struct emit *e, __isl_keep isl_ast_node *loop, const struct row *row, bool needs_cell);
/* Declares vectors for so many cells; whether the lane has the one of number `j`. */
void row_array(struct emit *e, enum scalar_type type, const char *name, int64_t length);
struct k_expr *row_is_own(struct emit *e, const struct row *row, const char *j);

/* ---- dots.c: dot products --------------------------------------------------------------------------------- */

/* Of a loop of vectors with this range, for a processor: how many terms it adds to an accumulator. A lowering makes
 * dot products of such loops (kernel/lower/dots.c). */
struct k_row sum_row(struct emit *e, const struct range *range, const struct loop_use *use);
/* On a device: the loop of a dot product; false: it is another loop. */
bool emit_dot_loop(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use);
/* Around a loop: keeps what it does not move; `names` for dots_release, or -1. */
int dots_keep(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use, const struct range *range);
void dots_release(struct emit *e, int names);
struct k_expr *dot_kept(const struct emit *e, const struct access *access);

#endif
