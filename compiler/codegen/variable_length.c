/* SPDX-License-Identifier: MIT
 *
 * Blocks of segments of variable length (ir/match/block.h). Row r of a block is row r of each of its segments:
 * i = begin[lane] + r. Loops over rows run over r, as far as the longest segment, and what holds for some lanes only
 * (that the segment has such a row, that it begins or ends there, that a node is a root) is a condition of what is
 * written, x = condition ? value : x, so that lanes stay vectors. Where such conditions are lane masks, as those on
 * parents and children are (lane_masks.c), lanes can be vectors of the processor (lanes.c).
 *
 * Terms of sums that are the same for all lanes cancel what is not: r = i - begin[lane]. */
#include "codegen/codegen_private.h"

/* ---- conditions ---- */

static void add_condition(struct emit *e, struct k_expr *test, int first_fact, bool is_row)
{
	struct lane_condition condition = { .test = test, .is_row = is_row };

	for (int i = 0; i < e->variable_length->known.n; i++)
		if (k_expr_is_equal(e->variable_length->known.items[i].test, test))
			condition = e->variable_length->known.items[i];
	for (int i = first_fact; i < e->facts.n; i++)
		vec_push(e->arena, &condition.facts, e->facts.items[i]);
	vec_push(e->arena, &e->variable_length->conditions, condition);
}

struct condition condition_open(struct emit *e, struct k_expr *test, int first_fact)
{
	struct condition condition = { -1, e->variable_length ? e->variable_length->conditions.n : 0 };

	if (e->variable_length && !e->block.in_lanes && k_expr_mentions(test, e->block.lane))
		add_condition(e, k_at_least(e->arena, test, K_LEVEL_AND), first_fact, false);
	else
		condition.names = block_of(e, k_begin_if(e->b, test));
	return condition;
}

struct condition condition_otherwise(struct emit *e)
{
	return (struct condition) { block_reopen(e), 0 };
}

void condition_close(struct emit *e, struct condition condition)
{
	if (e->variable_length)
		e->variable_length->conditions.n = condition.n_conditions;
	if (condition.names >= 0)
		block_close(e, condition.names);
}

static bool has_fact(const fact_list *facts, const struct affine *fact)
{
	for (int i = 0; i < facts->n; i++)
		if (facts->items[i].terms.items == fact->terms.items && facts->items[i].constant == fact->constant)
			return true;
	return false;
}

static fact_list facts_without(struct emit *e, const fact_list *facts, const fact_list *those)
{
	fact_list rest = { 0 };

	for (int i = 0; i < facts->n; i++)
		if (!has_fact(those, &facts->items[i]))
			vec_push(e->arena, &rest, facts->items[i]);
	return rest;
}

static bool all_follow(struct emit *e, const fact_list *from, const fact_list *facts)
{
	bool follow = facts->n > 0;

	for (int i = 0; i < facts->n && follow; i++)
		follow = facts_imply(e->module->ctx, e->arena, from, &facts->items[i]);
	return follow;
}

static bool is_of_lanes(const struct emit *e, const struct affine *affine)
{
	for (int i = 0; i < affine->terms.n; i++)
		if (k_expr_mentions(affine->terms.items[i].atom, e->block.lane))
			return true;
	return false;
}

/* PMG_HAS_ROWS_F64(rows, lane, i + 2) of i + 2 <= rows[lane]; NULL: the fact is none on lengths. */
static struct k_expr *length_mask(struct emit *e, const struct affine *fact)
{
	struct affine rows = affine_atom(e->arena, e->variable_length->rows), least;
	struct k_expr *mask;
	int64_t factor = 0;

	for (int i = 0; i < fact->terms.n; i++)
		if (k_expr_is_equal(fact->terms.items[i].atom, e->variable_length->rows))
			factor += fact->terms.items[i].factor;
	if (factor != 1 && factor != -1)
		return NULL;
	least = affine_combine(e->arena, -factor, fact, 1, &rows);
	if (factor < 0)
		least = affine_scale(e->arena, &least, 1, 1);
	if (is_of_lanes(e, &least))
		return NULL;
	mask = K_CALL(e->arena, vector_macro(e, "PMG_HAS_ROWS", e->block.type),
		      k_name(e->arena, e->variable_length->rows_name), k_name(e->arena, e->block.lane),
		      affine_expr(e->arena, &least));
	return factor < 0 ? k_unary(e->arena, K_INVERT, mask) : mask;
}

static struct k_expr *bits_mask(struct emit *e, const struct lane_condition *condition)
{
	struct k_expr *mask = K_CALL(e->arena, vector_macro(e, "PMG_WHERE", e->block.type), condition->bits,
				     k_name(e->arena, e->block.lane));

	return condition->is_not ? k_unary(e->arena, K_INVERT, mask) : mask;
}

/* Of bits, or of all facts that say the same, beside `all`; without either, lanes are no vectors. */
static struct k_expr *add_mask(struct emit *e, struct k_expr *all, const struct lane_condition *condition)
{
	bool is_said = condition->bits || condition->facts.n;

	if (condition->bits)
		return k_join(e->arena, K_BIT_AND, all, bits_mask(e, condition));
	for (int i = 0; i < condition->facts.n; i++) {
		struct k_expr *mask = length_mask(e, &condition->facts.items[i]);

		is_said = is_said && mask;
		all = k_join(e->arena, K_BIT_AND, all, mask ? mask : k_int(e->arena, 0));
	}
	e->variable_length->has_others = e->variable_length->has_others || !is_said;
	return all;
}

/* All before and this one, of the present lane or as a vector. */
static struct k_expr *and_condition(struct emit *e, struct k_expr *all, const struct lane_condition *condition)
{
	if (!e->block.has_vectors)
		return k_join(e->arena, K_AND, all, condition->test);
	e->variable_length->only = all || condition->is_not ? NULL : condition->bits;
	return add_mask(e, all, condition);
}

void variable_length_look(struct emit *e, bool is_looking)
{
	if (!e->variable_length)
		return;
	e->variable_length->is_looking = is_looking;
	if (!is_looking)
		return;
	e->variable_length->only = NULL;
	e->variable_length->is_by_lane = false;
}

void variable_length_note_cell(struct emit *e, const struct k_expr *cell)
{
	if (!e->variable_length || (!k_expr_mentions(cell, e->variable_length->rows_name) &&
				    !k_expr_mentions(cell, e->variable_length->begin_name)))
		return;
	if (e->variable_length->is_looking)
		e->variable_length->is_by_lane = true;
	else
		e->variable_length->has_others = true;
}

/* What is written to a row that the segment does not have is never read. */
struct k_expr *lane_conditions(struct emit *e, bool is_row)
{
	struct k_expr *all = NULL;
	fact_list known = e->facts;

	if (e->variable_length)
		e->variable_length->only = NULL;
	for (int i = 0; e->variable_length && i < e->variable_length->conditions.n; i++) {
		const struct lane_condition *condition = &e->variable_length->conditions.items[i];
		fact_list others = facts_without(e, &known, &condition->facts);

		if (all_follow(e, &others, &condition->facts))
			known = others;
		else if (!is_row || !condition->is_row)
			all = and_condition(e, all, condition);
	}
	return all;
}

/* ---- dims ---- */

bool variable_length_bind(struct emit *e, const struct dim *dim, const struct point *point, struct affine *value)
{
	const struct array *copy = block_array(e, dim->source.array);
	struct affine begin, rows;
	int64_t by = 0;
	int level;

	if (!e->variable_length)
		return false;
	begin = affine_atom(e->arena, e->variable_length->begin);
	rows = affine_atom(e->arena, e->variable_length->rows);
	if (copy != dim->source.array) {
		struct k_expr *parent = c_access(e, point, &dim->source);

		parent_bind(e, dim, point, parent);
		rows = affine_atom(e->arena, parent);
		*value = affine_combine(e->arena, 1, &begin, 1, &rows);
		return true;
	}
	if (!(dim->source.array->facts & FACT_OFFSETS) || !expr_is_shifted_dim(dim->source.subs[0], &level, &by))
		return false;
	*value = by ? affine_combine(e->arena, 1, &begin, 1, &rows) : begin;
	return true;
}

/* An upper bound that is the same for all lanes: the length of a segment is at most that of the longest. */
static struct affine upper_bound(struct emit *e, const struct affine *row)
{
	struct affine longest = affine_name(e->arena, e->variable_length->longest);
	struct affine rows = affine_atom(e->arena, e->variable_length->rows);
	struct affine rest = affine_combine(e->arena, 1, row, -1, &rows);

	if (!is_of_lanes(e, row))
		return *row;
	if (is_of_lanes(e, &rest))
		return affine_scale(e->arena, &longest, 1, -1);
	return affine_combine(e->arena, 1, &rest, 1, &longest);
}

/* 0 <= bound - row, or row - bound. */
static void row_condition(struct emit *e, const struct affine *row, const struct affine *bound, bool is_upper)
{
	struct affine rows = affine_atom(e->arena, e->variable_length->rows),
		last = affine_scale(e->arena, &rows, 1, -1);
	int first = e->facts.n;

	if (!is_of_lanes(e, bound))
		return;
	fact_push(e, affine_combine(e->arena, is_upper ? 1 : -1, bound, is_upper ? -1 : 1, row));
	add_condition(e, affine_comparison(e->arena, row, is_upper ? K_LE : K_GE, bound), first,
		      is_upper && affine_is_equal(e->arena, bound, &last));
}

static void emit_rows(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use,
		      const struct range *range)
{
	struct affine begin = affine_atom(e->arena, e->variable_length->begin), zero = affine_constant(0);
	bool is_forwards = use->mark->direction > 0;
	struct affine low = affine_combine(e->arena, 1, is_forwards ? &range->first : &range->last, -1, &begin);
	struct affine high = affine_combine(e->arena, 1, is_forwards ? &range->last : &range->first, -1, &begin);
	struct affine first = is_of_lanes(e, &low) ? zero : low, last = upper_bound(e, &high);
	struct affine end = affine_scale(e->arena, &last, 1, 1), row, value;
	struct range rows = { is_forwards ? first : last, is_forwards ? last : first, end, 1, false };
	isl_ast_node *body = ast_body(node);
	int visible = e->names.visible.n, n_facts = e->variable_length->row_facts.n;
	const char *name = names_declare(&e->names, use->mark->dim->name);
	bool is_walked;

	row = affine_name(e->arena, name);
	value = affine_combine(e->arena, 1, &begin, 1, &row);
	row_is_inside(e, &row, &first, &last);
	if (!is_of_lanes(e, &low))
		fact_push(e, affine_combine(e->arena, 1, &row, -1, &low));
	row_condition(e, &row, &low, false);
	row_condition(e, &row, &high, true);
	iterator_push(e, node, &value, use->mark->direction);
	if (e->block.has_vectors)
		(void) carried_announce(e, body, use, &rows, name);
	is_walked = rows_are_of(e, use->mark) && rows_walk(e, body, name, &rows, use->mark->direction);
	open_for(e, &rows, name, use->mark->direction);
	prefetch_emit(e, use->mark, name);
	e->variable_length->n_loops++;
	carried_body(e, body, use->mark);
	e->variable_length->n_loops--;
	block_close(e, visible);
	if (is_walked)
		rows_walk_end(e);
	e->variable_length->row_facts.n = n_facts;
}

bool variable_length_loop(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	struct range range;
	struct scope scope = scope_enter(e);
	int n;

	if (!e->variable_length || e->block.in_lanes)
		return false;
	range = range_of(e, node, use.mark->direction);
	if (!is_of_lanes(e, &range.first) && !is_of_lanes(e, &range.last))
		return false;
	if (range.step != 1)
		emit_fail(e, "a loop over the rows of segments has steps");
	n = e->variable_length->conditions.n;
	if (range.is_single) {
		iterator_push(e, node, &range.first, use.mark->direction);
		emit_node(e, ast_body(node), (struct loop_use) { 0 });
	} else {
		emit_rows(e, node, &use, &range);
	}
	e->variable_length->conditions.n = n;
	scope_leave(e, scope);
	return true;
}

/* ---- the block ---- */

static const struct array *segments_of_block(const struct emit *e)
{
	const struct array *segments = NULL;

	for (int i = 0; i < e->block.mark->arrays.n; i++)
		segments = e->block.mark->arrays.items[i]->segments ? e->block.mark->arrays.items[i]->segments
								     : segments;
	return segments;
}

struct affine segments_count(struct emit *e, const struct array *offsets)
{
	struct affine n = affine_of_range(e, offsets, 0);

	return affine_scale(e->arena, &n, 1, -1);
}

struct k_expr *order_of_block(const struct emit *e, const struct array *segments)
{
	return k_name(e->arena, layout_order(e->layout, segments, (int) e->block.mark->lanes));
}

struct k_expr *variable_length_turn(struct emit *e)
{
	const struct array *segments = segments_of_block(e);
	struct affine n;

	if (!segments)
		return NULL;
	n = segments_count(e, segments);
	return K_CALL(e->arena, "pmg_turn", order_of_block(e, segments), affine_expr(e->arena, &n), lanes_expr(e));
}

/* Declares where the segments begin and how many rows each has, and the most of these. */
static void declare_segments(struct emit *e, const struct array *segments, struct k_expr *first)
{
	struct variable_length *variable_length = e->variable_length;
	struct k_expr *lane = k_name(e->arena, e->block.lane), *begin, *rows;

	variable_length->begin_name = names_declare(&e->names, "begin");
	variable_length->rows_name = names_declare(&e->names, "rows");
	variable_length->longest = names_declare(&e->names, "longest");
	variable_length->begin = k_at(e->arena, variable_length->begin_name, lane);
	variable_length->rows = k_at(e->arena, variable_length->rows_name, lane);
	begin = k_name(e->arena, variable_length->begin_name);
	rows = k_name(e->arena, variable_length->rows_name);
	k_array(e->b, k_scalar("int64_t"), variable_length->begin_name, lanes_expr(e), NULL);
	k_array(e->b, k_scalar("int64_t"), variable_length->rows_name, lanes_expr(e), NULL)->let.is_joined = true;
	k_const(e->b, k_scalar("int64_t"), variable_length->longest,
		K_CALL(e->arena, "pmg_block_segments", k_name(e->arena, segments->c_name),
		       k_binary(e->arena, K_ADD, order_of_block(e, segments), first), lanes_expr(e), e->block.n_lanes,
		       begin, rows));
}

void variable_length_open(struct emit *e, __isl_keep isl_ast_node *body, struct k_expr *first)
{
	const struct array *segments = segments_of_block(e);

	if (!segments)
		return;
	e->variable_length = arena_new(e->arena, struct variable_length);
	rows_resolve(e, body);
	declare_segments(e, segments, first);
	start_declare(e, segments, first);
	masks_open(e, first);
}

void variable_length_resolve(struct emit *e, __isl_keep isl_ast_node *body)
{
	if (!e->variable_length)
		return;
	e->variable_length->body = build_elsewhere(e, body);
	if (e->block.has_vectors && e->variable_length->has_others) {
		e->block.has_vectors = false;
		e->variable_length->body = build_elsewhere(e, body);
	}
	e->variable_length->is_resolved = true;
}
