/* SPDX-License-Identifier: MIT
 *
 * The statements of a kernel tree, and what each does. */
#include "tree.h"

#include <string.h>

/* ---- the list ---- */

static void add_block(struct tree *tree, const struct k_block *block, int parent, const struct k_function *function);

static void add_inside(struct tree *tree, const struct k_stmt *stmt, int at, const struct k_function *function)
{
	if (stmt->kind == KS_BLOCK || stmt->kind == KS_PARALLEL)
		add_block(tree, &stmt->body, at, function);
	if (stmt->kind == KS_LOOP)
		add_block(tree, &stmt->loop.body, at, function);
	if (stmt->kind == KS_WHILE) {
		add_block(tree, &stmt->repeat.before, at, function);
		add_block(tree, &stmt->repeat.body, at, function);
	}
	if (stmt->kind == KS_IF) {
		add_block(tree, &stmt->branch.then, at, function);
		add_block(tree, &stmt->branch.otherwise, at, function);
	}
}

static void add_block(struct tree *tree, const struct k_block *block, int parent, const struct k_function *function)
{
	for (int i = 0; i < block->stmts.n; i++) {
		const int at = tree->nodes.n;

		vec_push(tree->arena, &tree->nodes,
			 ((struct tree_node) { block->stmts.items[i], parent, 0, function }));
		add_inside(tree, block->stmts.items[i], at, function);
		tree->nodes.items[at].end = tree->nodes.n;
	}
}

struct tree tree_of(struct arena *arena, const struct k_program *program)
{
	struct tree tree = { .arena = arena, .program = program };

	for (int i = 0; i < program->functions.n; i++)
		add_block(&tree, &program->functions.items[i]->body, -1, program->functions.items[i]);
	return tree;
}

/* ---- names ---- */

bool name_has_stem(const char *name, const char *stem)
{
	const size_t n = strlen(stem);

	return name && !strncmp(name, stem, n) && (!name[n] || name[n] == '_');
}

/* ---- statements ---- */

bool stmt_is_shared(const struct k_stmt *stmt)
{
	return stmt->kind == KS_LOOP && (stmt->loop.kind == K_LOOP_WORKSHARE || stmt->loop.kind == K_LOOP_GRID);
}

bool stmt_is_of_lanes(const struct k_stmt *stmt)
{
	return stmt->kind == KS_LOOP && (stmt->loop.kind == K_LOOP_SIMD || stmt->loop.kind == K_LOOP_LANES ||
					 stmt->loop.is_simd);
}

const char *loop_name(const struct k_stmt *stmt)
{
	return stmt->kind == KS_LOOP ? stmt->loop.name : NULL;
}

/* ---- its own expressions ---- */

struct looking {
	const struct k_stmt *stmt;
	const char *name, *prefix;
	unsigned effects;
	enum k_op op;
	int number;
	bool mentions, calls, has;
};

static bool stay(const struct k_stmt *stmt, void *user)
{
	const struct looking *l = user;

	return stmt == l->stmt;
}

static bool look(const struct k_expr *expr, void *user)
{
	struct looking *l = user;
	const bool is_call = expr->kind == KE_CALL || expr->kind == KE_NAME;

	if (expr->kind == KE_BINARY && expr->op == l->op)
		l->has |= l->number < 0 || (expr->args.items[1]->kind == KE_INT &&
					    expr->args.items[1]->integer == l->number);
	if (is_call)
		l->effects |= k_effects(expr);
	if (is_call && l->name)
		l->mentions |= !strcmp(expr->text, l->name);
	if (is_call && l->prefix)
		l->calls |= !strncmp(expr->text, l->prefix, strlen(l->prefix));
	return true;
}

/* Of a loop its bounds, of an if its condition. */
static struct looking look_at(const struct k_stmt *stmt, const char *name, const char *prefix)
{
	struct looking l = { .stmt = stmt, .name = name, .prefix = prefix, .op = K_OP_N };

	k_walk_stmt(stmt, &(struct k_visitor) { .stmt = stay, .expr = look, .user = &l });
	return l;
}

unsigned stmt_effects(const struct k_stmt *stmt)
{
	return look_at(stmt, NULL, NULL).effects;
}

bool stmt_mentions(const struct k_stmt *stmt, const char *name)
{
	return look_at(stmt, name, NULL).mentions;
}

bool stmt_calls(const struct k_stmt *stmt, const char *prefix)
{
	return look_at(stmt, NULL, prefix).calls;
}

bool stmt_has(const struct k_stmt *stmt, enum k_op op, int number)
{
	struct looking l = { .stmt = stmt, .op = op, .number = number };

	k_walk_stmt(stmt, &(struct k_visitor) { .stmt = stay, .expr = look, .user = &l });
	return l.has;
}

const char *expr_base(const struct k_expr *expr)
{
	while (expr && expr->kind != KE_NAME) {
		const bool is_target = expr->kind == KE_CALL && (k_effects(expr) & K_CALL_IS_TARGET);

		if (!is_target && expr->kind != KE_LOAD && expr->kind != KE_UNARY && expr->kind != KE_CAST &&
		    expr->kind != KE_BINARY && expr->kind != KE_MEMBER)
			return NULL;
		expr = expr->args.n ? expr->args.items[0] : NULL;
	}
	return expr ? expr->text : NULL;
}

bool stmt_is_atomic(const struct k_stmt *stmt)
{
	if (stmt->kind == KS_STORE)
		return stmt->store.mode == K_STORE_ATOMIC;
	return stmt->kind == KS_CALL && (k_effects(stmt->value) & K_CALL_IS_ATOMIC);
}

const char *stmt_target(const struct k_stmt *stmt)
{
	if (stmt->kind == KS_STORE)
		return expr_base(stmt->store.targets.items[stmt->store.targets.n - 1]);
	if (stmt->kind == KS_CALL && stmt->value->args.n && (stmt_is_atomic(stmt) || stmt_calls(stmt, "PMG_ADD_LANE")))
		return expr_base(stmt->value->args.items[0]);
	return NULL;
}
