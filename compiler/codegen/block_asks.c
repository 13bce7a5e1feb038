/* SPDX-License-Identifier: MIT
 *
 * Rows that are asked for ahead (passes/blocks.c). Where the caller holds arrays in blocks, nothing is copied, and a
 * loop over rows reads them from memory, in an order that the processor does not foresee. So each iteration asks for
 * the rows of all these arrays some iterations later, if all lie far away: in the caches that would cost more than it
 * gives. */
#include "codegen/codegen_private.h"

void asks_note(struct emit *e, const struct array *copy, const char *is_far, const char *call, const char *n_rows)
{
	struct block_ask ask = { copy, is_far, call, n_rows, false };

	vec_push(e->arena, &e->asks, ask);
}

const char *asks_declare(struct emit *e, __isl_keep isl_ast_node *body)
{
	struct str all = str_new(e->arena);
	const char *name;

	for (int i = 0; i < e->asks.n; i++) {
		struct block_ask *ask = &e->asks.items[i];
		struct finding found = find_part(body, ask->copy->owner);

		ask->is_here = found.stage;
		if (ask->is_here)
			str_add(&all, "%s%s", all.length ? " && " : "", ask->is_far);
		isl_ast_expr_free(found.instance);
	}
	if (!all.length)
		return NULL;
	name = names_declare(&e->names, "is_far");
	line(e->w, "const bool %s = %s;", name, str_text(&all));
	return name;
}

void asks_emit(struct emit *e)
{
	const char sign = e->walk.direction > 0 ? '+' : '-';

	if (!e->walk.is_far)
		return;
	open_block(e->w, "if (%s) {", e->walk.is_far);
	for (int i = 0; i < e->asks.n; i++) {
		const struct block_ask *ask = &e->asks.items[i];

		if (ask->is_here)
			line(e->w, "%s, %s %c %d, %s);", ask->call, e->walk.variable, sign, ask->copy->ahead,
			     ask->n_rows);
	}
	close_block(e->w, "}");
}
