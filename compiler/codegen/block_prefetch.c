/* SPDX-License-Identifier: MIT
 *
 * Prefetches of rows of blocks (passes/map/blocks.c). Where the caller holds arrays in blocks, nothing is copied, and a
 * loop over rows reads them where they lie. Each iteration prefetches the rows of all arrays that it reads some
 * iterations later, if all of them are memory-resident: in the caches that costs more than it gives. Where all lie
 * lane after lane, which windows copy, iterations prefetch lines of the next block instead, in the order of memory,
 * or, of long lanes, some of each in turn (runtime/tune/memory_policy.h).
 *
 * The first loop that reads an array prefetches it. The hardware prefetcher covers the rows of blocks of one length
 * that a loop takes in their order: such a loop prefetches flat arrays only. */
#include "codegen/codegen_private.h"

void prefetch_note(struct emit *e, const struct block_prefetch *prefetch)
{
	vec_push(e->arena, &e->windows.prefetches, *prefetch);
}

static bool is_read_below(__isl_keep isl_ast_node *node, const struct block_prefetch *prefetch)
{
	return find_part(node, prefetch->copy->owner).stage;
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
static bool is_first_read(__isl_keep isl_ast_node *node, const struct mark *loop, const struct block_prefetch *prefetch)
{
	return (!prefetch->loop || prefetch->loop == loop) && is_read_below(node, prefetch);
}

static bool reads_first(const struct emit *e, __isl_keep isl_ast_node *node, const struct mark *loop)
{
	bool reads = false;

	for (int i = 0; i < e->windows.prefetches.n && !reads; i++)
		reads = is_first_read(node, loop, &e->windows.prefetches.items[i]);
	return reads;
}

/* Names what the loop prefetches. pmg_block_prefetches(&plan->places[3], 16, lanes, n, 128) & …: as what all of it can
 * be prefetched. */
static struct k_expr *name_prefetches(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *loop)
{
	struct k_expr *all = NULL;

	for (int i = 0; i < e->windows.prefetches.n; i++) {
		struct block_prefetch *prefetch = &e->windows.prefetches.items[i];
		const char *name = arena_printf(e->arena, "%s_prefetch", prefetch->copy->owner->c_name);

		prefetch->name = NULL;
		if (!is_first_read(node, loop, prefetch))
			continue;
		prefetch->loop = loop;
		prefetch->name = names_declare(&e->names, name);
		all = k_join(e->arena, K_BIT_AND, all, prefetch->kinds);
	}
	return all;
}

static const struct block_prefetch *first_prefetch(const struct emit *e)
{
	int i = 0;

	while (!e->windows.prefetches.items[i].name)
		i++;
	return &e->windows.prefetches.items[i];
}

int prefetch_row_bytes(const struct block_prefetch *prefetch)
{
	return prefetch->copy->stored.lanes*(int) type_size(prefetch->copy->type);
}

/* Segments end before the hardware prefetcher covers them. */
static bool is_covered(__isl_keep isl_ast_node *node, const struct block_prefetch *prefetch)
{
	return !prefetch->copy->segments && !ast_has_mark(node, MARK_CHILDREN, NULL);
}

void prefetch_open(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *loop)
{
	const struct block_prefetch *first;
	struct k_expr *kinds;

	if (!e->windows.prefetches.n || e->block.in_lanes || !rows_are_of(e, loop) || !has_rows(node) ||
	    !reads_first(e, node, loop))
		return;
	kinds = name_prefetches(e, node, loop);
	first = first_prefetch(e);
	e->windows.prefetching = (struct prefetching) {
		.loop = loop, .distance = names_declare(&e->names, "distance"), .direction = loop->direction
	};
	if (is_covered(node, first))
		kinds = k_join(e->arena, K_BIT_AND, k_name(e->arena, "PMG_PREFETCH_FLAT"), kinds);
	k_const(e->b, k_scalar("int64_t"), e->windows.prefetching.distance,
		K_CALL(e->arena, "pmg_prefetch_distance", kinds, first->n_rows));
	for (int i = 0; i < e->windows.prefetches.n; i++)
		if (e->windows.prefetches.items[i].name)
			k_const(e->b, k_scalar("pmg_prefetch"), e->windows.prefetches.items[i].name,
				K_WITH(e->arena, e->windows.prefetches.items[i].place,
				       k_int(e->arena, loop->direction)));
}

static void emit_prefetch(struct emit *e, const struct block_prefetch *prefetch, struct k_expr *row)
{
	struct k_expr *name = k_address(e->arena, k_name(e->arena, prefetch->name));

	k_do(e->b, K_CALL(e->arena, "pmg_prefetch_row", name, row, prefetch->n_rows,
			  k_int(e->arena, prefetch_row_bytes(prefetch))));
}

void prefetch_emit(struct emit *e, const struct mark *loop, const char *variable)
{
	struct k_expr *distance, *row;

	if (e->windows.prefetching.loop != loop)
		return;
	distance = k_name(e->arena, e->windows.prefetching.distance);
	row = k_binary(e->arena, e->windows.prefetching.direction > 0 ? K_ADD : K_SUB, k_name(e->arena, variable),
		       distance);
	k_begin_if(e->b, k_binary(e->arena, K_GT, distance, k_int(e->arena, 0)));
	for (int i = 0; i < e->windows.prefetches.n; i++)
		if (e->windows.prefetches.items[i].name)
			emit_prefetch(e, &e->windows.prefetches.items[i], row);
	k_end(e->b);
}

const char *prefetch_distance(const struct emit *e, const struct array *copy)
{
	for (int i = 0; e->windows.prefetching.loop && i < e->windows.prefetches.n; i++)
		if (e->windows.prefetches.items[i].copy == copy && e->windows.prefetches.items[i].name)
			return e->windows.prefetching.distance;
	return NULL;
}
