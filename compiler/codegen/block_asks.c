/* SPDX-License-Identifier: MIT
 *
 * Rows that are asked for ahead (passes/blocks.c). Where the caller holds arrays in blocks, nothing is copied, and a
 * loop over rows reads them where they lie. Each iteration asks for the rows of all arrays that it reads some
 * iterations later, if all of these lie far away: in the caches that would cost more than it gives. Where all lie lane
 * after lane, which windows copy, iterations ask for the lines of the next block instead, in the order of memory, or,
 * of long lanes, for some of each in turn.
 *
 * Where another loop over the rows follows, memory would rest while it runs. So that one asks, too: for rows that the
 * next block begins with, while the first loop leaves out as many (pmg_ask_most, pmg_ask_rest).
 *
 * Where none follows, only a loop that goes through children as well asks for rows: the processor foresees those of
 * others; and all of a short block, while that before it is computed. */
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

/* ---- the loops of a block ---- */

/* What stands below the mark of a loop over rows, down to loops and marks: statements of a first or a last row may
 * stand beside the loop, and parts of it under conditions. */
struct parts {
	bool are_long;                  /* one has more than one iteration */
	bool have_condition;
};

static isl_bool look_at_part(__isl_keep isl_ast_node *node, void *user)
{
	const enum isl_ast_node_type type = isl_ast_node_get_type(node);
	struct parts *parts = user;

	parts->are_long |= type == isl_ast_node_for && isl_ast_node_for_is_degenerate(node) == isl_bool_false;
	parts->have_condition |= type == isl_ast_node_if;
	return type == isl_ast_node_if || type == isl_ast_node_block ? isl_bool_true : isl_bool_false;
}

static struct parts parts_of(__isl_keep isl_ast_node *node)
{
	struct parts parts = { false, false };

	isl_ast_node_foreach_descendant_top_down(node, look_at_part, &parts);
	return parts;
}

static bool reads_any(const struct emit *e, __isl_keep isl_ast_node *node)
{
	bool reads = false;

	for (int i = 0; i < e->asks.n && !reads; i++)
		reads = is_read_below(node, &e->asks.items[i]);
	return reads;
}

static bool asks_alone(const struct emit *e, __isl_keep isl_ast_node *node)
{
	return reads_any(e, node) && ast_has_mark(node, MARK_CHILDREN, NULL);
}

/* Does a loop read no such rows but those that another one reads? */
static bool reads_no_others(const struct emit *e, __isl_keep isl_ast_node *loop, __isl_keep isl_ast_node *other)
{
	for (int i = 0; i < e->asks.n; i++)
		if (is_read_below(loop, &e->asks.items[i]) && !is_read_below(other, &e->asks.items[i]))
			return false;
	return true;
}

static bool is_of_rows(const struct mark *mark, const void *user)
{
	return rows_are_of(user, mark);
}

/* What stands below the mark of a loop over rows; NULL: it is another node. */
static __isl_give isl_ast_node *row_loop_of(const struct emit *e, __isl_keep isl_ast_node *node)
{
	const struct mark *mark = ast_mark(node);

	return mark && rows_are_of(e, mark) ? isl_ast_node_mark_get_node(node) : NULL;
}

/* Two loops that run one behind the other, where one does the other does, are in one block of statements. The second
 * one sees what the first one declares. */
static void pair_up(struct emit *e, __isl_keep isl_ast_node *one, __isl_keep isl_ast_node *other)
{
	isl_ast_node *first = row_loop_of(e, one), *second = row_loop_of(e, other);
	struct ask_pair pair = { ast_mark(one), ast_mark(other) };

	if (first && second && parts_of(first).are_long && !parts_of(first).have_condition &&
	    parts_of(second).are_long && reads_any(e, first) && !asks_alone(e, second) &&
	    reads_no_others(e, second, first))
		vec_push(e->arena, &e->ask_pairs, pair);
	isl_ast_node_free(first);
	isl_ast_node_free(second);
}

/* Has it loops over rows that may be one of a pair, or stand between those? A single row that reads nothing asked for
 * does not. */
static bool has_rows(struct emit *e, __isl_keep isl_ast_node *node)
{
	isl_ast_node *row = row_loop_of(e, node);
	const bool is_passed_over = row && !parts_of(row).are_long && !reads_any(e, row);

	isl_ast_node_free(row);
	return !is_passed_over && ast_has_such_mark(node, is_of_rows, e);
}

static isl_bool look_at_block(__isl_keep isl_ast_node *node, void *user)
{
	isl_ast_node_list *children;
	isl_ast_node *before = NULL;

	if (isl_ast_node_get_type(node) != isl_ast_node_block)
		return isl_bool_true;
	children = isl_ast_node_block_get_children(node);
	for (int i = 0; i < isl_ast_node_list_n_ast_node(children); i++) {
		isl_ast_node *child = isl_ast_node_list_get_at(children, i);

		if (!has_rows(user, child)) {
			isl_ast_node_free(child);
			continue;
		}
		if (before)
			pair_up(user, before, child);
		isl_ast_node_free(before);
		before = child;
	}
	isl_ast_node_free(before);
	isl_ast_node_list_free(children);
	return isl_bool_true;
}

void asks_settle(struct emit *e, __isl_keep isl_ast_node *body)
{
	e->ask_pairs.n = 0;
	if (e->asks.n)
		isl_ast_node_foreach_descendant_top_down(body, look_at_block, e);
}

/* The loop that shares what this one asks for; NULL: none does. */
static const struct mark *second_of(const struct emit *e, const struct mark *loop)
{
	for (int i = 0; i < e->ask_pairs.n; i++)
		if (e->ask_pairs.items[i].first == loop)
			return e->ask_pairs.items[i].second;
	return NULL;
}

/* ---- what a loop does ---- */

/* Names what is read below. "pmg_block_far(&plan->places[3], 16, lanes, n, 128) & …": as what is all of it far away? */
static const char *name_asked(struct emit *e, __isl_keep isl_ast_node *node)
{
	struct str far = str_new(e->arena);

	for (int i = 0; i < e->asks.n; i++) {
		struct block_ask *ask = &e->asks.items[i];

		ask->name = NULL;
		if (!is_read_below(node, ask))
			continue;
		ask->name = names_declare(&e->names, arena_printf(e->arena, "%s_asked", ask->copy->owner->c_name));
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

static void open_asking(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *loop)
{
	const char *far = name_asked(e, node);
	const struct block_ask *first = first_asked(e);

	e->asking = (struct asking) {
		.loop = loop, .second = second_of(e, loop), .ahead = names_declare(&e->names, "ahead"),
		.direction = loop->direction
	};
	e->asking.share = e->asking.second ? ASKS_MOST : ASKS_ALL;
	e->asked = e->asking;
	if (!asks_alone(e, node))
		far = arena_printf(e->arena, "pmg_far_if_long(%s) & %s", first->n_rows, far);
	quote(e->b, "const int64_t %s = pmg_%s_ahead(%s, %d, %s);", e->asking.ahead,
	     e->asking.second ? "most" : "rows", far, first->copy->ahead, first->n_rows);
	for (int i = 0; i < e->asks.n; i++)
		if (e->asks.items[i].name)
			quote(e->b, "const pmg_asked %s = %s, %d);", e->asks.items[i].name, e->asks.items[i].where,
			     loop->direction);
}

void asks_open(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *loop)
{
	if (!e->asks.n || e->in_lanes || !rows_are_of(e, loop) || !parts_of(node).are_long)
		return;
	if (e->asked.second == loop) {
		e->asking = e->asked;
		e->asking.loop = loop;
		e->asking.share = ASKS_REST;
	} else if (asks_alone(e, node) || (second_of(e, loop) && reads_any(e, node))) {
		open_asking(e, node, loop);
	}
}

/* The rows that are left to a loop behind `variable`, if it runs in `direction`. */
static const char *rows_left(struct emit *e, const char *n_rows, const char *variable, int direction)
{
	return direction < 0 ? variable : arena_printf(e->arena, "%s - 1 - %s", n_rows, variable);
}

/* Declares how many rows further on one is asked for, and gives that row. */
static const char *open_share(struct emit *e, const struct mark *loop, const char *variable, char sign)
{
	const char *n_rows = first_asked(e)->n_rows, *asked = names_declare(&e->names, "asked");
	const bool is_most = e->asking.share == ASKS_MOST;

	quote(e->b, "const int64_t %s = pmg_ask_%s(%s, %s, %d);", asked, is_most ? "most" : "rest",
	     rows_left(e, n_rows, variable, is_most ? loop->direction : -loop->direction), e->asking.ahead,
	     asks_row_bytes(first_asked(e)));
	quote_open(e->b, "if (%s > 0) {", asked);
	if (is_most)
		return arena_printf(e->arena, "%s %c %s", variable, sign, asked);
	return sign == '-' ? arena_printf(e->arena, "-%s", asked)
			   : arena_printf(e->arena, "%s - 1 + %s", n_rows, asked);
}

static const char *open_all(struct emit *e, const char *variable, char sign)
{
	quote_open(e->b, "if (%s > 0) {", e->asking.ahead);
	return arena_printf(e->arena, "%s %c %s", variable, sign, e->asking.ahead);
}

void asks_emit(struct emit *e, const struct mark *loop, const char *variable)
{
	const char sign = e->asking.direction > 0 ? '+' : '-', *row;

	if (e->asking.loop != loop)
		return;
	row = e->asking.share == ASKS_ALL ? open_all(e, variable, sign) : open_share(e, loop, variable, sign);
	for (int i = 0; i < e->asks.n; i++) {
		const struct block_ask *ask = &e->asks.items[i];

		if (ask->name)
			quote(e->b, "pmg_row_ask(&%s, %s, %s, %d);", ask->name, row, ask->n_rows, asks_row_bytes(ask));
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
