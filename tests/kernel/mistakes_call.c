/* SPDX-License-Identifier: MIT
 *
 * Mistakes in calls. */
#include <string.h>

#include "kernel/mistakes_private.h"

/* ---- launches ---- */

static bool find_strided(const struct k_stmt *stmt, void *user)
{
	*(bool *) user |= stmt->kind == KS_LOOP && stmt->loop.kind == K_LOOP_GRID && stmt->loop.is_strided;
	return true;
}

static struct k_function *function_of(const struct k_program *program, const char *name)
{
	for (int i = 0; i < program->functions.n; i++)
		if (!strcmp(program->functions.items[i]->name, name))
			return program->functions.items[i];
	return NULL;
}

/* Where iterations are divided among groups, any number does. */
static bool divides(const struct search *search, const char *kernel)
{
	const struct k_function *function = function_of(search->program, kernel);
	bool is_strided = !function;

	if (function)
		k_walk_block(&function->body, &(struct k_visitor) { .stmt = find_strided, .user = &is_strided });
	return is_strided;
}

/* PMG_LAUNCH(plan, kernel, groups, …) */
static void find_groups(struct search *search, struct k_stmt *stmt)
{
	struct k_expr *call = stmt->value;
	int kernel = 0;

	while (kernel < call->args.n && k_callee_argument(k_callee_find(call->text), kernel) != 'f')
		kernel++;
	if (kernel + 1 < call->args.n && !divides(search, call->args.items[kernel]->text))
		search_add_expr(search, MISTAKE_GROUPS, stmt, &call->args.items[kernel + 1],
				k_binary(search->arena, K_SUB, call->args.items[kernel + 1],
					 k_int(search->arena, 1)));
}

/* The last two. */
static void find_arguments(struct search *search, struct k_stmt *stmt)
{
	const struct k_expr *call = stmt->value;
	struct k_expr *other = arena_new(search->arena, struct k_expr);
	const int n = call->args.n;

	*other = *call;
	memset(&other->args, 0, sizeof other->args);
	for (int i = 0; i < n; i++)
		vec_push(search->arena, &other->args,
			 call->args.items[i == n - 1 ? n - 2 : i == n - 2 ? n - 1 : i]);
	search_add_expr(search, MISTAKE_ARGUMENTS, stmt, &stmt->value, other);
}

/* ---- updates ---- */

/* x[i] += v, where an atomic call did it. */
static void find_atomic(struct search *search, struct k_stmt *stmt)
{
	const struct k_expr *call = stmt->value, *target = call->args.items[0];
	struct k_stmt other = *stmt;

	if (call->args.n != 2 || target->kind != KE_UNARY || target->op != K_ADDRESS)
		return;
	other.kind = KS_STORE;
	memset(&other.store, 0, sizeof other.store);
	other.store.op = K_ADD;
	other.store.value = call->args.items[1];
	vec_push(search->arena, &other.store.targets, target->args.items[0]);
	search_add_stmt(search, MISTAKE_ATOMIC, stmt, other);
}

/* ---- functions of the program ---- */

/* Neither the function nor its call has the parameter any more. */
static void find_parameter(struct search *search, struct k_stmt *stmt, struct k_function *function, int i)
{
	struct k_function other = *function;
	struct k_expr *call = arena_new(search->arena, struct k_expr);

	*call = *stmt->value;
	memset(&call->args, 0, sizeof call->args);
	memset(&other.params, 0, sizeof other.params);
	for (int k = 0; k < function->params.n; k++)
		if (k != i) {
			vec_push(search->arena, &other.params, function->params.items[k]);
			vec_push(search->arena, &call->args, stmt->value->args.items[k]);
		}
	search_add_function(search, (struct mistake) { .kind = MISTAKE_PARAMETER, .stmt = stmt, .expr = &stmt->value,
						       .other_expr = call, .function = function,
						       .other_function = other });
}

static bool is_used_behind(const struct k_block *block, int i, const char *name)
{
	const struct k_block rest = { .stmts = { .items = block->stmts.items + i, .n = block->stmts.n - i } };

	return k_uses_in_block(&rest, name).reads > 0;
}

/* Declaration `i` of the block is one of the function, which is called behind it. */
static void find_cut(struct search *search, struct k_block *block, int i, struct k_function *function)
{
	struct k_stmt *let = block->stmts.items[i];
	struct k_block without = { 0 };
	struct k_function other = *function;

	memset(&other.body, 0, sizeof other.body);
	vec_push(search->arena, &other.body.stmts, let);
	for (int k = 0; k < function->body.stmts.n; k++)
		vec_push(search->arena, &other.body.stmts, function->body.stmts.items[k]);
	for (int k = 0; k < block->stmts.n; k++)
		if (k != i)
			vec_push(search->arena, &without.stmts, block->stmts.items[k]);
	search_add_function(search, (struct mistake) { .kind = MISTAKE_CUT, .stmt = let, .block = block,
						       .other_block = without, .function = function,
						       .other_function = other });
}

void find_in_called(struct search *search, struct k_block *block, int i)
{
	struct k_stmt *stmt = block->stmts.items[i];
	struct k_function *function = stmt->kind == KS_CALL && stmt->value->kind == KE_CALL
				    ? function_of(search->program, stmt->value->text) : NULL;

	for (int k = 0; function && k < function->params.n; k++)
		find_parameter(search, stmt, function, k);
	for (int k = 0; function && k < i; k++)
		if (block->stmts.items[k]->kind == KS_LET &&
		    is_used_behind(block, i, block->stmts.items[k]->let.name))
			find_cut(search, block, k, function);
}

void find_in_call(struct search *search, struct k_stmt *stmt)
{
	const unsigned effects = k_effects(stmt->value);

	if (effects & K_CALL_IS_NONTEMPORAL)
		search_add_gap(search, MISTAKE_NONTEMPORAL, stmt);
	if (effects & K_CALL_IS_ATOMIC)
		find_atomic(search, stmt);
	if (effects & K_CALL_IS_LAUNCH && stmt->value->args.n > 6) {
		find_groups(search, stmt);
		find_arguments(search, stmt);
	}
}
