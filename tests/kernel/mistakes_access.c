/* SPDX-License-Identifier: MIT
 *
 * Mistakes in what is read, written and asked. */
#include <string.h>

#include "kernel/mistakes_private.h"

/* ---- values ---- */

static bool is_of_plan(const struct k_expr *load)
{
	return load->args.items[0]->kind == KE_MEMBER;
}

/* Where the variable of the innermost loop stands in an index; NULL: nowhere. */
static struct k_expr **find_variable(struct k_expr **index, const char *name)
{
	struct k_expr **found = expr_is_name(*index, name) ? index : NULL;

	for (int i = 0; i < (*index)->args.n && !found; i++)
		found = find_variable(&(*index)->args.items[i], name);
	return found;
}

static void find_index(struct search *search, struct k_stmt *stmt, struct k_expr **index)
{
	const int n = search->variables.n;
	struct k_expr **at = n > 1 ? find_variable(index, search->variables.items[n - 1]) : NULL;

	if (at)
		search_add_expr(search, MISTAKE_INDEX, stmt, at,
				k_name(search->arena, search->variables.items[n - 2]));
}

static struct k_expr *other_condition(struct arena *arena, const struct k_expr *condition)
{
	static const enum k_op others[K_OP_N] = {
		[K_EQ] = K_NE, [K_NE] = K_EQ, [K_LT] = K_LE, [K_GE] = K_GT, [K_LE] = K_LT, [K_GT] = K_GE
	};

	if (condition->kind != KE_BINARY || !others[condition->op])
		return NULL;
	return k_binary(arena, others[condition->op], condition->args.items[0], condition->args.items[1]);
}

static void find_in_expr(struct search *search, struct k_stmt *stmt, struct k_expr **at)
{
	struct k_expr *expr = *at, *other = other_condition(search->arena, expr);

	if (expr->kind == KE_LOAD && !is_of_plan(expr)) {
		search_add_shift(search, MISTAKE_SOURCE, stmt, &expr->args.items[1], k_int(search->arena, 1));
		find_index(search, stmt, &expr->args.items[1]);
	}
	if (expr->kind == KE_SELECT)
		search_add_expr(search, MISTAKE_CHOICE, stmt, &expr->args.items[0], k_bool(search->arena, true));
	if (expr->kind == KE_CALL && !strncmp(expr->text, "PMG_CHOOSE_", 11))
		search_add_expr(search, MISTAKE_CHOICE, stmt, at, expr->args.items[1]);
	if (expr->kind == KE_CALL && !strcmp(expr->text, "pmg_cuda_take"))
		search_add_shift(search, MISTAKE_DISTANCE, stmt, &expr->args.items[1], k_int(search->arena, 1));
	if (expr->kind == KE_TYPE && !strcmp(expr->of.name, "double"))
		search_add_expr(search, MISTAKE_TYPE, stmt, at, k_type_arg(search->arena, k_scalar("float")));
	if (other)
		search_add_expr(search, MISTAKE_COMPARISON, stmt, at, other);
	for (int i = 0; i < expr->args.n; i++)
		find_in_expr(search, stmt, &expr->args.items[i]);
}

void find_in_value(struct search *search, struct k_stmt *stmt, struct k_expr **value)
{
	if (*value)
		find_in_expr(search, stmt, value);
}

/* ---- stores ---- */

/* 2 for each other number, and 1 for it. */
static struct k_expr *other_number(struct arena *arena, const struct k_expr *number)
{
	const bool is_two = number->kind == KE_INT ? number->integer == 2 : !strcmp(number->text, "2.0");

	return number->kind == KE_INT ? k_int(arena, is_two ? 1 : 2) : k_float(arena, is_two ? "1.0" : "2.0");
}

static void find_number(struct search *search, struct k_stmt *stmt)
{
	struct k_expr **value = &stmt->store.value;

	if ((*value)->kind == KE_CALL && !strncmp((*value)->text, "PMG_FILL_", 9))
		value = &(*value)->args.items[0];
	if ((*value)->kind == KE_INT || (*value)->kind == KE_FLOAT)
		search_add_expr(search, MISTAKE_NEUTRAL, stmt, value, other_number(search->arena, *value));
}

static void find_update(struct search *search, struct k_stmt *stmt)
{
	struct k_stmt other = *stmt;

	other.store.op = stmt->store.op == K_ADD ? K_SUB : K_ADD;
	search_add_stmt(search, MISTAKE_OPERATOR, stmt, other);
}

void find_in_store(struct search *search, struct k_stmt *stmt)
{
	struct k_store *store = &stmt->store;
	struct k_stmt plain = *stmt;

	for (int i = 0; i < store->targets.n; i++)
		if (element_of(store->targets.items[i]))
			search_add_shift(search, MISTAKE_TARGET, stmt,
					 &element_of(store->targets.items[i])->args.items[1], k_int(search->arena, 1));
	find_in_value(search, stmt, &store->value);
	if (store->op == K_OP_N)
		search_add_gap(search, MISTAKE_INIT, stmt);
	if (store->op == K_OP_N && store->value)
		find_number(search, stmt);
	if (store->op != K_OP_N && !store->is_step)
		find_update(search, stmt);
	plain.store.mode = K_STORE_PLAIN;
	if (store->mode == K_STORE_ATOMIC)
		search_add_stmt(search, MISTAKE_ATOMIC, stmt, plain);
}

/* ---- branches ---- */

/* Both happens. */
static bool holds_sometimes(const struct search *search, const struct k_stmt *stmt)
{
	const struct k_block *then = &stmt->branch.then;
	const int64_t n = then->stmts.n ? search_runs(search, then->stmts.items[0]) : 0;

	return n > 0 && n < search_runs(search, stmt);
}

/* A condition that data never break may be another one. */
void find_in_branch(struct search *search, struct k_stmt *stmt)
{
	if (!holds_sometimes(search, stmt))
		return;
	find_in_value(search, stmt, &stmt->branch.condition);
	search_add_expr(search, MISTAKE_GUARD, stmt, &stmt->branch.condition, k_bool(search->arena, true));
}
