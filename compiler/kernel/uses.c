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

enum use {
	USE_VALUE,                      /* read; of a pointer, the address */
	USE_READ, USE_WRITE, USE_UPDATE, USE_ADDRESS
};

struct search {
	const char *name;
	struct k_uses uses;
};

static void use_value(struct search *search, const struct k_expr *expr);
static void use_pointer(struct search *search, const struct k_expr *expr, enum use use);
static void use_element(struct search *search, const struct k_expr *expr, enum use use);

static void use_name(struct search *search, const char *name, bool is_pointer, enum use use)
{
	if (strcmp(name, search->name) != 0)
		return;
	if (use == USE_VALUE)
		use = is_pointer ? USE_ADDRESS : USE_READ;
	search->uses.reads += use == USE_READ || use == USE_UPDATE;
	search->uses.writes += use == USE_WRITE || use == USE_UPDATE;
	search->uses.addresses += use == USE_ADDRESS;
}

/* ---- what lies behind a pointer ---------------------------------------------------------------- */

static void use_sum_of_pointer(struct search *search, const struct k_expr *expr, enum use use)
{
	const int pointer = expr->args.items[1]->type.is_pointer;

	use_pointer(search, expr->args.items[pointer], use);
	use_value(search, expr->args.items[!pointer]);
}

static void use_either_pointer(struct search *search, const struct k_expr *expr, enum use use)
{
	use_element(search, expr->args.items[0], USE_READ);
	use_pointer(search, expr->args.items[1], use);
	use_pointer(search, expr->args.items[2], use);
}

/* Elements behind the value of an expression are used. */
static void use_pointer(struct search *search, const struct k_expr *expr, enum use use)
{
	if (expr->kind == KE_NAME)
		use_name(search, expr->text, true, use);
	else if (expr->kind == KE_UNARY && expr->op == K_ADDRESS)
		use_element(search, expr->args.items[0], use);
	else if (expr->kind == KE_BINARY && (expr->op == K_ADD || expr->op == K_SUB))
		use_sum_of_pointer(search, expr, use);
	else if (expr->kind == KE_CAST)
		use_pointer(search, expr->args.items[0], use);
	else if (expr->kind == KE_SELECT)
		use_either_pointer(search, expr, use);
	else if (expr->kind == KE_MEMBER || expr->kind == KE_LOAD)
		use_element(search, expr, use);
	else
		use_value(search, expr);
}

/* ---- an element, or a variable ------------------------------------------------------------------- */

static void use_indexed(struct search *search, const struct k_expr *expr, enum use use)
{
	use_pointer(search, expr->args.items[0], use);
	use_value(search, expr->args.items[1]);
}

static void use_call_as_target(struct search *search, const struct k_expr *expr, enum use use)
{
	if (k_effects(expr) & K_CALL_IS_TARGET && expr->args.n == 1)
		use_element(search, expr->args.items[0], use);
	else
		use_value(search, expr);
}

static void use_element(struct search *search, const struct k_expr *expr, enum use use)
{
	if (expr->kind == KE_NAME)
		use_name(search, expr->text, false, use);
	else if (expr->kind == KE_LOAD)
		use_indexed(search, expr, use);
	else if (expr->kind == KE_MEMBER && !expr->is_arrow)
		use_element(search, expr->args.items[0], use);
	else if (expr->kind == KE_MEMBER || (expr->kind == KE_UNARY && expr->op == K_CONTENT))
		use_pointer(search, expr->args.items[0], use);
	else if (expr->kind == KE_CALL)
		use_call_as_target(search, expr, use);
	else
		use_value(search, expr);
}

/* ---- calls ------------------------------------------------------------------------------------------ */

/* What a letter of calls.def says. An argument of a function that is not known is a value: of a pointer, its
 * address. */
static void use_argument(struct search *search, const struct k_expr *arg, char letter)
{
	switch (letter) {
	case 't':
	case 'f':
	case 'x':
		return;
	case 'r':
		use_pointer(search, arg, USE_READ);
		return;
	case 'w':
		use_pointer(search, arg, USE_WRITE);
		return;
	case 'b':
		use_pointer(search, arg, USE_UPDATE);
		return;
	case 'p':
		use_pointer(search, arg, USE_ADDRESS);
		return;
	case 'c':
	case 'C':
		use_element(search, arg, USE_READ);
		return;
	case 's':
	case 'S':
		use_element(search, arg, USE_WRITE);
		return;
	case 'u':
		use_element(search, arg, USE_UPDATE);
		return;
	default:
		use_value(search, arg);
		return;
	}
}

static void use_call(struct search *search, const struct k_expr *call)
{
	const struct k_callee *callee = k_callee_find(call->text);

	for (int i = 0; i < call->constants.n; i++)
		use_value(search, call->constants.items[i]);
	for (int i = 0; i < call->args.n; i++) {
		const char letter = callee ? k_callee_argument(callee, i) : 'o';

		use_argument(search, call->args.items[i], letter);
		if (callee && callee->effects & K_CALL_IS_ALIAS && (letter == 'r' || letter == 'w'))
			use_pointer(search, call->args.items[i], USE_ADDRESS);
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
			use_element(search, expr->args.items[i], USE_READ);
		else
			use_value(search, expr->args.items[i]);
}

static void use_unary(struct search *search, const struct k_expr *expr)
{
	if (expr->op == K_ADDRESS)
		use_element(search, expr->args.items[0], USE_ADDRESS);
	else if (expr->op == K_CONTENT)
		use_element(search, expr, USE_READ);
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
	use_element(search, expr->args.items[0], USE_READ);
	use_value(search, expr->args.items[1]);
	use_value(search, expr->args.items[2]);
}

static void use_value(struct search *search, const struct k_expr *expr)
{
	switch (expr->kind) {
	case KE_NAME:
		use_name(search, expr->text, expr->type.is_pointer, USE_VALUE);
		return;
	case KE_LOAD:
	case KE_MEMBER:
		use_element(search, expr, USE_READ);
		return;
	case KE_UNARY:
		use_unary(search, expr);
		return;
	case KE_BINARY:
		use_operands(search, expr);
		return;
	case KE_SELECT:
		use_either(search, expr);
		return;
	case KE_CAST:
	case KE_LIST:
		use_all(search, expr);
		return;
	case KE_CALL:
		use_call(search, expr);
		return;
	case KE_INT:
	case KE_FLOAT:
	case KE_BOOL:
	case KE_STRING:
	case KE_TYPE:
	case KE_N:
		return;
	}
}

/* ---- statements ------------------------------------------------------------------------------------------ */

static void use_store(struct search *search, const struct k_store *store)
{
	for (int i = 0; i < store->targets.n; i++)
		use_element(search, store->targets.items[i], store->op == K_OP_N ? USE_WRITE : USE_UPDATE);
	use_value(search, store->value);
}

static void use_loop(struct search *search, const struct k_loop *loop)
{
	use_name(search, loop->name, false, USE_WRITE);
	for (int i = 0; i < loop->reductions.n; i++)
		use_name(search, loop->reductions.items[i].name, false, USE_UPDATE);
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
		use_element(search, stmt->repeat.condition, USE_READ);
	else if (stmt->kind == KS_IF)
		use_element(search, stmt->branch.condition, USE_READ);
	else if (stmt->kind != KS_UNUSED)
		k_each_expr(stmt, use_part, search);
	if (stmt->kind == KS_LET && stmt->let.value)
		use_name(search, stmt->let.name, false, USE_WRITE);
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

/* Shows the names that nodes have of their own, one by one; until one is enough. */
struct showing {
	bool (*show)(void *user, const char *name);     /* false: that is enough */
	void *user;
	bool goes_on;
};

static bool show(struct showing *showing, const char *name)
{
	showing->goes_on = showing->goes_on && showing->show(showing->user, name);
	return showing->goes_on;
}

static bool show_expr(const struct k_expr *expr, void *user)
{
	struct showing *showing = user;

	return expr->kind == KE_NAME || expr->kind == KE_CALL ? show(showing, expr->text) : showing->goes_on;
}

static bool show_stmt(const struct k_stmt *stmt, void *user)
{
	struct showing *showing = user;

	if (stmt->kind == KS_LET)
		show(showing, stmt->let.name);
	if (stmt->kind != KS_LOOP)
		return showing->goes_on;
	show(showing, stmt->loop.name);
	for (int i = 0; i < stmt->loop.reductions.n; i++)
		show(showing, stmt->loop.reductions.items[i].name);
	return showing->goes_on;
}

static bool is_another(void *name, const char *shown)
{
	return strcmp(name, shown) != 0;
}

/* Ends at a name that is this one. */
static struct showing showing_until(const char *name)
{
	return (struct showing) { is_another, (void *) (uintptr_t) name, true };
}

bool k_mentions(const struct k_block *block, const char *name)
{
	struct showing showing = showing_until(name);

	k_walk_block(block, &(struct k_visitor) { show_stmt, show_expr, &showing });
	return !showing.goes_on;
}

bool k_expr_mentions(const struct k_expr *expr, const char *name)
{
	struct showing showing = showing_until(name);

	k_walk_expr(expr, &(struct k_visitor) { show_stmt, show_expr, &showing });
	return !showing.goes_on;
}

struct collecting {
	struct arena *arena;
	struct name_table *names;
};

static bool collect(void *user, const char *name)
{
	const struct collecting *collecting = user;

	name_table_set(collecting->arena, collecting->names, name, collecting->names);
	return true;
}

void k_stmt_mentions(struct arena *arena, const struct k_stmt *stmt, struct name_table *names)
{
	struct collecting collecting = { arena, names };
	struct showing showing = { collect, &collecting, true };

	k_walk_stmt(stmt, &(struct k_visitor) { show_stmt, show_expr, &showing });
}

void k_block_mentions(struct arena *arena, const struct k_block *block, struct name_table *names)
{
	for (int i = 0; i < block->stmts.n; i++)
		k_stmt_mentions(arena, block->stmts.items[i], names);
}
