/* SPDX-License-Identifier: MIT
 *
 * What is known of rows of accumulators and of sums. Included by codegen_private.h. */
#ifndef PMGC_CODEGEN_ROWS_PRIVATE_H
#define PMGC_CODEGEN_ROWS_PRIVATE_H

/* ---- rows.c: rows of accumulators ------------------------------------------------------------------------ */

void emit_row(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark);
/* What is known of the loop of these marks, with this range, if it is over the cells of a row or the terms of a sum. */
struct k_row row_known(struct emit *e, const struct range *range, const struct loop_use *use);
/* Is it one of a sum, which writes no memory? */
bool sum_is_known(struct emit *e, const struct range *range, const struct loop_use *use);
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

/* Is isl's loop over all of `dim`; and around nothing but the stage? */
bool loop_is_whole(struct emit *e, __isl_keep isl_ast_node *loop, const struct dim *dim);
bool row_is_whole_loop(struct emit *e, __isl_keep isl_ast_node *loop, const struct dim *dim);
const char *row_suffix(enum scalar_type type);          /* "F64", behind the name of a macro of vectors */

#endif
