/* SPDX-License-Identifier: MIT
 *
 * Prefetches of rows of blocks (passes/blocks.c). Where the caller holds arrays in blocks, nothing is copied, and a
 * loop over rows reads them where they lie. Each iteration prefetches the rows of all arrays that it reads some
 * iterations later, if all of them are memory-resident: in the caches that costs more than it gives. Where all lie
 * lane after lane, which windows copy, iterations prefetch lines of the next block instead, in the order of memory,
 * or, of long lanes, some of each in turn (runtime/memory_policy.h).
 *
 * The first loop that reads an array prefetches it. The hardware prefetcher covers the rows of blocks of one length
 * that a loop takes in their order: such a loop prefetches flat arrays only. */
#include "codegen/codegen_private.h"

void asks_note(struct emit *e, const struct block_ask *ask)
{
	vec_push(e->arena, &e->asks, *ask);
}

static bool is_read_below(__isl_keep isl_ast_node *node, const struct block_ask *ask)
{
	struct finding found = find_part(node, ask->copy->owner);

	isl_ast_expr_free(found.instance);
	return found.stage;
}

static isl_bool look_at_loop(__isl_keep isl_ast_node *node, void *user)
{
	const enum isl_ast_node_type type = isl_ast_node_get_type(node);
	bool *is_long = user;

	*is_long |= type == isl_ast_node_for && isl_ast_node_for_is_degenerate(node) == isl_bool_false;
	return type == isl_ast_node_if || type == isl_ast_node_block ? isl_bool_true : isl_bool_false;
}

/* Is there more than one iteration below the mark of a loop over rows? Statements of a first or a last row may stand
 * beside the loop, and parts of it under conditions. */
static bool has_rows(__isl_keep isl_ast_node *node)
{
	bool is_long = false;

	isl_ast_node_foreach_descendant_top_down(node, look_at_loop, &is_long);
	return is_long;
}

/* Is it the first loop that reads the array? Of a loop that isl has cut in two, both parts are. */
static bool is_first_read(__isl_keep isl_ast_node *node, const struct mark *loop, const struct block_ask *ask)
{
	return (!ask->loop || ask->loop == loop) && is_read_below(node, ask);
}

static bool reads_first(const struct emit *e, __isl_keep isl_ast_node *node, const struct mark *loop)
{
	bool reads = false;

	for (int i = 0; i < e->asks.n && !reads; i++)
		reads = is_first_read(node, loop, &e->asks.items[i]);
	return reads;
}

/* Names what the loop prefetches. "pmg_block_prefetches(&plan->places[3], 16, lanes, n, 128) & …": as what all of it
 * can be prefetched. */
static const char *name_asked(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *loop)
{
	struct str far = str_new(e->arena);

	for (int i = 0; i < e->asks.n; i++) {
		struct block_ask *ask = &e->asks.items[i];

		ask->name = NULL;
		if (!is_first_read(node, loop, ask))
			continue;
		ask->loop = loop;
		ask->name = names_declare(&e->names, arena_printf(e->arena, "%s_prefetch", ask->copy->owner->c_name));
		str_add(&far, "%s%s", far.length ? " & " : "", ask->far);
	}
	return str_text(&far);
}

static const struct block_ask *first_asked(const struct emit *e)
{
	int i = 0;

	while (!e->asks.items[i].name)
		i++;
	return &e->asks.items[i];
}

int asks_row_bytes(const struct block_ask *ask)
{
	return ask->copy->lanes*(int) type_size(ask->copy->type);
}

/* Segments end before the hardware prefetcher covers them. */
static bool is_covered(__isl_keep isl_ast_node *node, const struct block_ask *ask)
{
	return !ask->copy->segments && !ast_has_mark(node, MARK_CHILDREN, NULL);
}

void asks_open(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *loop)
{
	const struct block_ask *first;
	const char *far;

	if (!e->asks.n || e->in_lanes || !rows_are_of(e, loop) || !has_rows(node) || !reads_first(e, node, loop))
		return;
	far = name_asked(e, node, loop);
	first = first_asked(e);
	e->asking = (struct asking) {
		.loop = loop, .ahead = names_declare(&e->names, "distance"), .direction = loop->direction
	};
	quote(e->b, "const int64_t %s = pmg_prefetch_distance(%s%s, %s);", e->asking.ahead,
	     is_covered(node, first) ? "PMG_PREFETCH_FLAT & " : "", far, first->n_rows);
	for (int i = 0; i < e->asks.n; i++)
		if (e->asks.items[i].name)
			quote(e->b, "const pmg_prefetch %s = %s, %d);", e->asks.items[i].name, e->asks.items[i].where,
			     loop->direction);
}

void asks_emit(struct emit *e, const struct mark *loop, const char *variable)
{
	const char sign = e->asking.direction > 0 ? '+' : '-';

	if (e->asking.loop != loop)
		return;
	quote_open(e->b, "if (%s > 0) {", e->asking.ahead);
	for (int i = 0; i < e->asks.n; i++) {
		const struct block_ask *ask = &e->asks.items[i];

		if (ask->name)
			quote(e->b, "pmg_prefetch_row(&%s, %s %c %s, %s, %d);", ask->name, variable, sign,
			      e->asking.ahead, ask->n_rows, asks_row_bytes(ask));
	}
	quote_close(e->b, "}");
}

const char *asks_of(const struct emit *e, const struct array *copy)
{
	for (int i = 0; e->asking.loop && i < e->asks.n; i++)
		if (e->asks.items[i].copy == copy && e->asks.items[i].name)
			return e->asking.ahead;
	return NULL;
}
