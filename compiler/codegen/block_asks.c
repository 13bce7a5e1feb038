/* SPDX-License-Identifier: MIT
 *
 * Rows that are asked for ahead (passes/blocks.c). Where the caller holds arrays in blocks, nothing is copied, and a
 * loop over rows reads them where they lie; if it goes through children as well, in an order that the processor does
 * not foresee. So each iteration asks for the rows of all arrays that it reads some iterations later, if all of these
 * lie far away: in the caches that would cost more than it gives. */
#include "codegen/codegen_private.h"

void asks_note(struct emit *e, const struct array *copy, const char *is_far, const char *call, const char *n_rows)
{
	struct block_ask ask = { copy, is_far, call, n_rows, false };

	vec_push(e->arena, &e->asks, ask);
}

/* "pmg_block_is_far(&plan->places[3], 16, lanes) && …", of those that are read below; NULL: none is. */
static const char *all_are_far(struct emit *e, __isl_keep isl_ast_node *node)
{
	struct str all = str_new(e->arena);

	for (int i = 0; i < e->asks.n; i++) {
		struct block_ask *ask = &e->asks.items[i];
		struct finding found = find_part(node, ask->copy->owner);

		ask->is_here = found.stage;
		if (ask->is_here)
			str_add(&all, "%s%s", all.length ? " && " : "", ask->is_far);
		isl_ast_expr_free(found.instance);
	}
	return all.length ? str_text(&all) : NULL;
}

void asks_open(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *loop)
{
	const char *are_far;

	if (!e->asks.n || e->in_lanes || !rows_are_of(e, loop) || !ast_has_mark(node, MARK_CHILDREN, NULL) ||
	    isl_ast_node_for_is_degenerate(node) != isl_bool_false)
		return;
	are_far = all_are_far(e, node);
	if (!are_far)
		return;
	e->asking = (struct asking) { loop, names_declare(&e->names, "is_far") };
	line(e->w, "const bool %s = %s;", e->asking.is_far, are_far);
}

void asks_emit(struct emit *e, const struct mark *loop, const char *variable)
{
	if (e->asking.loop != loop)
		return;
	open_block(e->w, "if (%s) {", e->asking.is_far);
	for (int i = 0; i < e->asks.n; i++) {
		const struct block_ask *ask = &e->asks.items[i];

		if (ask->is_here)
			line(e->w, "%s, %s %c %d, %s);", ask->call, variable, loop->direction > 0 ? '+' : '-',
			     ask->copy->ahead, ask->n_rows);
	}
	close_block(e->w, "}");
}
