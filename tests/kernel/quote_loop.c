/* SPDX-License-Identifier: MIT
 *
 * Heads of loops in C text. One whose variable is declared there, is compared with a bound and goes on by a step is a
 * loop of the tree; it is one of lanes or of a grid if it begins at a number of these and steps by their count. All
 * others are whiles. */
#include "kernel/quote.h"

#include <string.h>

/* How a device counts who runs a body. */
static const struct device_count {
	const char *number, *count;
	enum k_loop_kind kind;
} counts[] = {
	{ "pmg_index", "pmg_teams", K_LOOP_GRID },
	{ "pmg_lane", "pmg_team", K_LOOP_LANES },
	{ "pmg_member", "pmg_group", K_LOOP_LANES }
};

static bool is_name(const struct k_expr *expr, const char *name)
{
	return expr->kind == KE_NAME && !expr->is_grouped && !strcmp(expr->text, name);
}

static bool is_binary(const struct k_expr *expr, enum k_op op)
{
	return expr->kind == KE_BINARY && expr->op == op && !expr->is_grouped;
}

/* ---- name, or factor*name ---- */

static struct k_expr *name_in(struct k_expr *expr)
{
	return is_binary(expr, K_MUL) && expr->args.items[0]->kind == KE_INT ? expr->args.items[1] : expr;
}

static struct k_expr *factor_in(struct k_expr *expr)
{
	return name_in(expr) != expr ? expr->args.items[0] : NULL;
}

static bool same_factor(const struct k_expr *a, const struct k_expr *b)
{
	return a && b ? a->integer == b->integer : a == b;
}

/* ---- loops of devices ---- */

/* Takes a start apart: first + step*number, or the number alone; false: it is another one. */
static bool take_start(struct arena *arena, struct k_loop *loop, const struct device_count *count)
{
	struct k_expr *start = loop->first, *last;

	if (!loop->is_down && !loop->step && is_name(start, count->number)) {
		loop->first = k_int(arena, 0);
		loop->number = start;
		return true;
	}
	if (!is_binary(start, loop->is_down ? K_SUB : K_ADD))
		return false;
	last = start->args.items[1];
	if (!is_name(name_in(last), count->number) || !same_factor(factor_in(last), loop->step))
		return false;
	if (!loop->is_down && !loop->step && start->args.items[0]->kind == KE_INT && start->args.items[0]->integer == 0)
		return false;
	loop->first = start->args.items[0];
	loop->number = name_in(last);
	return true;
}

static void find_device_count(struct arena *arena, struct k_loop *loop)
{
	struct k_expr *step = loop->step, *all = step ? name_in(step) : NULL;

	for (size_t i = 0; step && i < sizeof counts / sizeof *counts; i++) {
		if (!is_name(all, counts[i].count))
			continue;
		loop->step = factor_in(step);
		if (take_start(arena, loop, &counts[i])) {
			loop->kind = counts[i].kind;
			loop->is_strided = loop->kind == K_LOOP_GRID;
			loop->count = all;
			return;
		}
		loop->step = step;
	}
}

/* The step of an iteration alone is that of its number. */
static void find_single(struct arena *arena, struct k_loop *loop)
{
	struct k_expr *start = loop->first;

	if (start->kind == KE_BINARY && start->args.n == 2)
		loop->step = factor_in(start->args.items[1]);
	loop->kind = K_LOOP_GRID;
	if (!take_start(arena, loop, &counts[0]))
		loop->step = NULL;
}

/* ---- heads ---- */

/* v < bound, v >= bound; false: it is another condition. */
static bool take_condition(struct k_loop *loop, struct k_expr *condition)
{
	loop->is_down = is_binary(condition, K_GE);
	if ((!loop->is_down && !is_binary(condition, K_LT)) || !is_name(condition->args.items[0], loop->name))
		return false;
	loop->bound = condition->args.items[1];
	return true;
}

static bool take_step(struct k_loop *loop, const struct k_stmt *after)
{
	const struct k_store *store = &after->store;

	if (after->kind != KS_STORE || store->op != (loop->is_down ? K_SUB : K_ADD) || store->targets.n != 1 ||
	    !is_name(store->targets.items[0], loop->name))
		return false;
	loop->step = store->is_step ? NULL : store->value;
	return true;
}

static bool take_variable(struct k_loop *loop, const struct k_block *before)
{
	const struct k_let *let = before->stmts.n == 1 ? &before->stmts.items[0]->let : NULL;

	if (!let || before->stmts.items[0]->kind != KS_LET || let->extents.n || !let->value || let->type.is_pointer)
		return false;
	loop->type = let->type;
	loop->name = let->name;
	loop->first = let->value;
	return true;
}

static struct k_stmt *loop_of(struct arena *arena, const struct k_block *before, struct k_expr *condition,
			      const struct k_stmt *after)
{
	struct k_stmt *stmt = k_stmt(arena, KS_LOOP);
	struct k_loop *loop = &stmt->loop;

	if (!take_variable(loop, before) || loop->type.is_const || !take_condition(loop, condition) ||
	    !after || !take_step(loop, after))
		return NULL;
	find_device_count(arena, loop);
	return stmt;
}

static bool read_before(struct k_reader *r, struct k_block *before)
{
	struct k_stmt *stmt;

	if (k_accept(r, ";"))
		return true;
	if (quote_is_declaration(r))
		return quote_read_declaration(r, before);
	stmt = quote_read_effect(r);
	if (!stmt || !k_expect(r, ";"))
		return false;
	vec_push(r->arena, &before->stmts, stmt);
	return true;
}

/* Does the condition begin a line? */
static bool is_broken(const struct k_reader *r)
{
	const char *at = r->token.text;

	while (r->token.is_spaced && (at[-1] == ' ' || at[-1] == '\t'))
		at--;
	return r->token.is_spaced && at[-1] == '\n';
}

struct k_stmt *quote_read_for(struct k_reader *r)
{
	struct k_block before = { 0 };
	struct k_expr *condition;
	struct k_stmt *after = NULL, *stmt;
	bool breaks;

	if (!k_expect(r, "(") || !read_before(r, &before))
		return NULL;
	breaks = is_broken(r);
	condition = k_read_whole(r);
	if (!condition || !k_expect(r, ";"))
		return NULL;
	if (!k_is(r, ")"))
		after = quote_read_effect(r);
	if (r->error || !k_expect(r, ")"))
		return NULL;
	stmt = breaks ? NULL : loop_of(r->arena, &before, condition, after);
	if (stmt)
		return stmt;
	if (!before.stmts.n && !after) {
		k_fail(r, "a loop that only has a condition is a while");
		return NULL;
	}
	stmt = k_stmt(r->arena, KS_WHILE);
	stmt->repeat.before = before;
	stmt->repeat.condition = condition;
	stmt->repeat.after = after;
	stmt->repeat.is_broken = breaks;
	return stmt;
}

struct k_stmt *quote_read_while(struct k_reader *r)
{
	struct k_stmt *stmt = k_stmt(r->arena, KS_WHILE);

	if (!k_expect(r, "("))
		return NULL;
	stmt->repeat.condition = k_read_whole(r);
	return stmt->repeat.condition && k_expect(r, ")") ? stmt : NULL;
}

struct k_stmt *quote_read_single(struct k_reader *r)
{
	struct k_stmt *stmt = k_stmt(r->arena, KS_LOOP);
	struct k_block before = { 0 };
	struct k_expr *condition;

	if (!quote_read_declaration(r, &before))
		return NULL;
	condition = k_read_whole(r);
	if (!condition || !k_expect(r, ")"))
		return NULL;
	if (!take_variable(&stmt->loop, &before) || !stmt->loop.type.is_const ||
	    !take_condition(&stmt->loop, condition)) {
		k_fail(r, "this is no iteration of a grid");
		return NULL;
	}
	stmt->loop.type.is_const = false;
	find_single(r->arena, &stmt->loop);
	return stmt;
}
