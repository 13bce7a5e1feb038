/* SPDX-License-Identifier: MIT
 *
 * Who reads and writes a name. Each occurrence of it counts once, as one of three:
 *
 *     read      its value, or an element of its buffer, is used
 *     write     it, or an element, is set; what updates one (+=, a reduction, an atomic call) reads and writes it
 *     address   where it lies is handed on: &x[i], a pointer's name alone, an argument of a call that returns a pointer
 *               to it or that is not known
 *
 * What a call of the runtime does behind a pointer says kernel/calls.def, so that pmg_block_put_f64(block, 16, x, …)
 * reads `block` and writes `x`; where its result leads to an argument, that counts as an address besides. A name whose
 * type k_resolve_types has not found counts as a value. A declaration with a value writes the name, as a loop writes
 * its variable; a declaration alone, and KS_UNUSED, use nothing. */
#include <string.h>

#include "kernel/kernel_private.h"

enum use { USE_READ, USE_WRITE, USE_UPDATE, USE_ADDRESS };

struct search {
	const char *name;
	struct k_uses uses;
};

static void use_value(struct search *search, const struct k_expr *expr);
static void use_place(struct search *search, const struct k_expr *expr, enum use use);

static void use_name(struct search *search, const char *name, enum use use)
{
	if (strcmp(name, search->name) != 0)
		return;
	search->uses.reads += use == USE_READ || use == USE_UPDATE;
	search->uses.writes += use == USE_WRITE || use == USE_UPDATE;
	search->uses.addresses += use == USE_ADDRESS;
}

/* ---- variables, elements, and what lies behind pointers ---------------------------------------- */

static void use_sum_of_pointer(struct search *search, const struct k_expr *expr, enum use use)
{
	const int pointer = expr->args.items[1]->type.is_pointer;

	use_place(search, expr->args.items[pointer], use);
	use_value(search, expr->args.items[!pointer]);
}

static void use_either_place(struct search *search, const struct k_expr *expr, enum use use)
{
	use_place(search, expr->args.items[0], USE_READ);
	use_place(search, expr->args.items[1], use);
	use_place(search, expr->args.items[2], use);
}

/* The first operand is what is reached, whatever others there are are values. */
static void use_first_place(struct search *search, const struct k_expr *expr, enum use use)
{
	use_place(search, expr->args.items[0], use);
	for (int i = 1; i < expr->args.n; i++)
		use_value(search, expr->args.items[i]);
}

static bool is_way_to_place(const struct k_expr *expr)
{
	return expr->kind == KE_LOAD || expr->kind == KE_MEMBER || expr->kind == KE_CAST ||
	       (expr->kind == KE_UNARY && (expr->op == K_ADDRESS || expr->op == K_CONTENT)) ||
	       (expr->kind == KE_CALL && expr->args.n == 1 && k_effects(expr) & K_CALL_IS_TARGET);
}

/* What the expression stands for is used, or, if it is a pointer, what lies there. */
static void use_place(struct search *search, const struct k_expr *expr, enum use use)
{
	if (expr->kind == KE_NAME)
		use_name(search, expr->text, use);
	else if (is_way_to_place(expr))
		use_first_place(search, expr, use);
	else if (expr->kind == KE_BINARY && (expr->op == K_ADD || expr->op == K_SUB))
		use_sum_of_pointer(search, expr, use);
	else if (expr->kind == KE_SELECT)
		use_either_place(search, expr, use);
	else
		use_value(search, expr);
}

/* ---- calls ------------------------------------------------------------------------------------------ */

/* What a letter of calls.def says. An argument of a function that is not known is a value: of a pointer, its
 * address. */
static void use_argument(struct search *search, const struct k_expr *arg, char letter)
{
	if (strchr("tfx", letter))
		return;
	if (strchr("rcC", letter))
		use_place(search, arg, USE_READ);
	else if (strchr("wsS", letter))
		use_place(search, arg, USE_WRITE);
	else if (strchr("bu", letter))
		use_place(search, arg, USE_UPDATE);
	else if (letter == 'p')
		use_place(search, arg, USE_ADDRESS);
	else
		use_value(search, arg);
}

static void use_call(struct search *search, const struct k_expr *call)
{
	const struct k_callee *callee = k_callee_find(call->text);

	for (int i = 0; i < call->constants.n; i++)
		use_value(search, call->constants.items[i]);
	for (int i = 0; i < call->args.n; i++) {
		const char letter = callee ? k_callee_argument(callee, i) : 'o';

		use_argument(search, call->args.items[i], letter ? letter : 'o');
		if (callee && callee->effects & K_CALL_IS_ALIAS && (letter == 'r' || letter == 'w'))
			use_place(search, call->args.items[i], USE_ADDRESS);
	}
}

/* ---- values ------------------------------------------------------------------------------------------- */

static bool is_test(enum k_op op)
{
	return op == K_OR || op == K_AND || op == K_NOT || (op >= K_EQ && op <= K_GE);
}

/* Operands of a comparison are read, pointers too. */
static void use_operands(struct search *search, const struct k_expr *expr)
{
	for (int i = 0; i < expr->args.n; i++)
		if (is_test(expr->op))
			use_place(search, expr->args.items[i], USE_READ);
		else
			use_value(search, expr->args.items[i]);
}

static void use_unary(struct search *search, const struct k_expr *expr)
{
	if (expr->op == K_ADDRESS)
		use_place(search, expr->args.items[0], USE_ADDRESS);
	else if (expr->op == K_CONTENT)
		use_place(search, expr, USE_READ);
	else
		use_operands(search, expr);
}

static void use_all(struct search *search, const struct k_expr *expr)
{
	for (int i = 0; i < expr->args.n; i++)
		use_value(search, expr->args.items[i]);
}

static void use_either(struct search *search, const struct k_expr *expr)
{
	use_place(search, expr->args.items[0], USE_READ);
	use_value(search, expr->args.items[1]);
	use_value(search, expr->args.items[2]);
}

static void use_value(struct search *search, const struct k_expr *expr)
{
	switch (expr->kind) {
	case KE_NAME: use_name(search, expr->text, expr->type.is_pointer ? USE_ADDRESS : USE_READ); break;
	case KE_LOAD:
	case KE_MEMBER: use_place(search, expr, USE_READ); break;
	case KE_UNARY: use_unary(search, expr); break;
	case KE_BINARY: use_operands(search, expr); break;
	case KE_SELECT: use_either(search, expr); break;
	case KE_CAST:
	case KE_LIST: use_all(search, expr); break;
	case KE_CALL: use_call(search, expr); break;
	case KE_INT:
	case KE_FLOAT:
	case KE_BOOL:
	case KE_STRING:
	case KE_TYPE:
	case KE_N: break;
	}
}

/* ---- statements ------------------------------------------------------------------------------------------ */

static void use_store(struct search *search, const struct k_store *store)
{
	for (int i = 0; i < store->targets.n; i++)
		use_place(search, store->targets.items[i], store->op == K_OP_N ? USE_WRITE : USE_UPDATE);
	use_value(search, store->value);
}

static void use_loop(struct search *search, const struct k_loop *loop)
{
	use_name(search, loop->name, USE_WRITE);
	for (int i = 0; i < loop->reductions.n; i++)
		use_name(search, loop->reductions.items[i].name, USE_UPDATE);
}

static void use_part(const struct k_expr *expr, void *user)
{
	use_value(user, expr);
}

/* What a statement itself does, without those inside of it. */
static bool use_stmt(const struct k_stmt *stmt, void *user)
{
	struct search *search = user;

	if (stmt->kind == KS_STORE)
		use_store(search, &stmt->store);
	else if (stmt->kind == KS_WHILE)
		use_place(search, stmt->repeat.condition, USE_READ);
	else if (stmt->kind == KS_IF)
		use_place(search, stmt->branch.condition, USE_READ);
	else if (stmt->kind != KS_UNUSED)
		k_each_expr(stmt, use_part, search);
	if (stmt->kind == KS_LET && stmt->let.value)
		use_name(search, stmt->let.name, USE_WRITE);
	if (stmt->kind == KS_LOOP)
		use_loop(search, &stmt->loop);
	return true;
}

struct k_uses k_uses_in_block(const struct k_block *block, const char *name)
{
	struct search search = { .name = name };

	k_walk_block(block, &(struct k_visitor) { .stmt = use_stmt, .user = &search });
	return search.uses;
}

struct k_uses k_uses_in_expr(const struct k_expr *expr, const char *name)
{
	struct search search = { .name = name };

	use_value(&search, expr);
	return search.uses;
}

/* ---- any occurrence ----------------------------------------------------------------------------------------- */

/* Looks for one name, until it is found, or lists all. */
struct mentions {
	const char *name;               /* NULL: all are listed */
	bool is_found;
	struct arena *arena;
	struct name_table *names;
};

static void mention(struct mentions *mentions, const char *name)
{
	if (mentions->name)
		mentions->is_found = mentions->is_found || strcmp(mentions->name, name) == 0;
	else
		name_table_set(mentions->arena, mentions->names, name, mentions->names);
}

static bool mention_in_expr(const struct k_expr *expr, void *user)
{
	struct mentions *mentions = user;

	if (expr->kind == KE_NAME || expr->kind == KE_CALL)
		mention(mentions, expr->text);
	return !mentions->is_found;
}

static bool mention_in_stmt(const struct k_stmt *stmt, void *user)
{
	struct mentions *mentions = user;

	if (stmt->kind == KS_LET)
		mention(mentions, stmt->let.name);
	if (stmt->kind != KS_LOOP)
		return !mentions->is_found;
	mention(mentions, stmt->loop.name);
	for (int i = 0; i < stmt->loop.reductions.n; i++)
		mention(mentions, stmt->loop.reductions.items[i].name);
	return !mentions->is_found;
}

bool k_mentions(const struct k_block *block, const char *name)
{
	struct mentions mentions = { .name = name };

	k_walk_block(block, &(struct k_visitor) { mention_in_stmt, mention_in_expr, &mentions });
	return mentions.is_found;
}

bool k_expr_mentions(const struct k_expr *expr, const char *name)
{
	struct mentions mentions = { .name = name };

	k_walk_expr(expr, &(struct k_visitor) { .expr = mention_in_expr, .user = &mentions });
	return mentions.is_found;
}

void k_stmt_mentions(struct arena *arena, const struct k_stmt *stmt, struct name_table *names)
{
	struct mentions mentions = { .arena = arena, .names = names };

	k_walk_stmt(stmt, &(struct k_visitor) { mention_in_stmt, mention_in_expr, &mentions });
}

void k_block_mentions(struct arena *arena, const struct k_block *block, struct name_table *names)
{
	for (int i = 0; i < block->stmts.n; i++)
		k_stmt_mentions(arena, block->stmts.items[i], names);
}
