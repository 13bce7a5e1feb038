/* SPDX-License-Identifier: MIT
 *
 * Mistakes in the order of statements, and of what lanes do. */
#include "kernel/mistakes_private.h"

/* The first store of a statement. */
static bool find_store(const struct k_stmt *stmt, void *user)
{
	struct k_store const **found = user;

	if (stmt->kind == KS_STORE && !*found)
		*found = &stmt->store;
	return !*found;
}

static const struct k_store *first_store(const struct k_stmt *stmt)
{
	const struct k_store *found = NULL;

	k_walk_stmt(stmt, &(struct k_visitor) { .stmt = find_store, .user = &found });
	return found;
}

/* ---- two that change places ---- */

static struct k_block swapped(struct arena *arena, const struct k_block *block, int i)
{
	struct k_block other = { 0 };

	for (int j = 0; j < block->stmts.n; j++)
		vec_push(arena, &other.stmts, block->stmts.items[j == i ? i + 1 : j == i + 1 ? i : j]);
	return other;
}

static int n_reads(struct arena *arena, struct k_stmt *stmt, const char *name)
{
	struct k_block alone = { 0 };

	vec_push(arena, &alone.stmts, stmt);
	return k_uses_in_block(&alone, name).reads;
}

static void find_swap(struct search *search, struct k_block *block, int i)
{
	struct k_stmt *stmt = block->stmts.items[i];
	const struct k_store *store = stmt->kind == KS_STORE || stmt->kind == KS_LOOP ? first_store(stmt) : NULL;
	const char *name = store ? target_name(store->targets.items[0]) : NULL;

	if (name && i + 1 < block->stmts.n && n_reads(search->arena, block->stmts.items[i + 1], name) > 0)
		search_add_block(search, MISTAKE_ORDER, stmt, block, swapped(search->arena, block, i));
}

/* ---- barriers ---- */

static bool is_barrier(const struct k_stmt *stmt)
{
	return stmt->kind == KS_CALL && stmt->value->kind == KE_NAME &&
	       k_effects(stmt->value) & K_CALL_IS_BARRIER;
}

static bool find_barrier(const struct k_stmt *stmt, void *user)
{
	*(bool *) user |= is_barrier(stmt);
	return true;
}

static bool has_barrier(const struct k_stmt *stmt)
{
	bool has = false;

	k_walk_stmt(stmt, &(struct k_visitor) { .stmt = find_barrier, .user = &has });
	return has;
}

struct reading {
	const struct k_expr *written;   /* an element */
	bool differs;                   /* one is read by another index */
};

static bool look_at(const struct k_expr *expr, void *user)
{
	struct reading *reading = user;

	if (expr->kind == KE_LOAD && k_expr_is_equal(expr->args.items[0], reading->written->args.items[0]))
		reading->differs |= !k_expr_is_equal(expr->args.items[1], reading->written->args.items[1]);
	return true;
}

/* Of what a store sets, its index is read alone. */
static bool look_in(const struct k_stmt *stmt, void *user)
{
	const struct k_visitor visitor = { .expr = look_at, .user = user };
	const struct k_expr *element;

	if (stmt->kind != KS_STORE || stmt->store.op != K_OP_N)
		return true;
	k_walk_expr(stmt->store.value, &visitor);
	for (int i = 0; i < stmt->store.targets.n; i++)
		if ((element = element_of(stmt->store.targets.items[i])) != NULL)
			k_walk_expr(element->args.items[1], &visitor);
	return false;
}

/* Both are done by the same lane. */
static bool is_same_lane(const struct k_stmt *a, const struct k_stmt *b)
{
	return a->kind == KS_IF && b->kind == KS_IF && k_expr_is_equal(a->branch.condition, b->branch.condition);
}

/* Does a lane read what another one writes there, from statement `at` on to the next barrier? A body that is repeated
 * goes on where it begins. */
static bool reads_of_others(const struct k_block *block, const struct k_stmt *writer, int at, bool is_repeated)
{
	const struct k_store *store = first_store(writer);
	struct reading reading = { store ? element_of(store->targets.items[0]) : NULL, false };

	for (int n = 0; reading.written && n < block->stmts.n; n++, at++) {
		if (at == block->stmts.n && !is_repeated)
			break;
		at %= block->stmts.n;
		if (has_barrier(block->stmts.items[at]))
			break;
		if (!is_same_lane(writer, block->stmts.items[at]))
			k_walk_stmt(block->stmts.items[at], &(struct k_visitor) { look_in, look_at, &reading });
	}
	return reading.differs;
}

/* Barriers behind a statement; several may follow each other. */
static void find_barriers(struct search *search, struct k_block *block, int i)
{
	struct k_block other = { 0 };
	int end = i;

	while (end < block->stmts.n && is_barrier(block->stmts.items[end]))
		end++;
	if (i == 0 || end == i || has_barrier(block->stmts.items[i - 1]) ||
	    !reads_of_others(block, block->stmts.items[i - 1], end, block == search->repeated))
		return;
	for (int j = 0; j < block->stmts.n; j++)
		if (j < i || j >= end)
			vec_push(search->arena, &other.stmts, block->stmts.items[j]);
	search_add_block(search, MISTAKE_BARRIER, block->stmts.items[i], block, other);
}

void find_in_order(struct search *search, struct k_block *block, int i)
{
	find_swap(search, block, i);
	find_barriers(search, block, i);
}
