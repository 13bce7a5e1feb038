/* SPDX-License-Identifier: MIT
 *
 * Nodes of the kernel tree, and the builder that adds statements to the innermost of the open blocks. An if without
 * braces takes the next statement and is closed by it. What a constructor is given belongs to the node from then on. */
#include "kernel/kernel.h"

#include <string.h>

/* ---- operators ---- */

struct op_row {
	const char *text;
	int arity;
	enum k_level level;
};

static const struct op_row *op_row(enum k_op op)
{
	static const struct op_row rows[K_OP_N] = {
#define K_OP(id, text, arity, level) { text, arity, K_LEVEL_##level },
#include "kernel/ops.def"
#undef K_OP
	};

	return &rows[op];
}

const char *k_op_text(enum k_op op)
{
	return op_row(op)->text;
}

int k_op_arity(enum k_op op)
{
	return op_row(op)->arity;
}

enum k_level k_op_level(enum k_op op)
{
	return op_row(op)->level;
}

/* Numbers below zero bind as a negation does. */
static enum k_level level_of_number(const struct k_expr *expr)
{
	if (expr->text)
		return expr->text[0] == '-' ? K_LEVEL_UNARY : K_LEVEL_PRIMARY;
	return expr->integer < 0 && expr->integer >= -INT32_MAX ? K_LEVEL_UNARY : K_LEVEL_PRIMARY;
}

enum k_level k_level(const struct k_expr *expr)
{
	if (expr->is_grouped)
		return K_LEVEL_PRIMARY;
	switch (expr->kind) {
	case KE_INT:
	case KE_FLOAT:
		return level_of_number(expr);
	case KE_UNARY:
	case KE_BINARY:
		return k_op_level(expr->op);
	case KE_SELECT:
		return K_LEVEL_SELECT;
	case KE_CAST:
		return K_LEVEL_UNARY;
	case KE_BOOL:
	case KE_STRING:
	case KE_NAME:
	case KE_TYPE:
	case KE_LOAD:
	case KE_MEMBER:
	case KE_CALL:
	case KE_LIST:
	case KE_N:
		break;
	}
	return K_LEVEL_PRIMARY;
}

/* ---- types ---- */

struct k_type k_scalar(const char *c_name)
{
	return (struct k_type) { .name = c_name };
}

struct k_type k_pointer(const char *c_name, bool is_const)
{
	return (struct k_type) { .name = c_name, .is_const = is_const, .is_pointer = true };
}

/* ---- expressions ---- */

static struct k_expr *expr_new(struct arena *arena, enum k_expr_kind kind)
{
	struct k_expr *expr = arena_new(arena, struct k_expr);

	expr->kind = kind;
	return expr;
}

static struct k_expr *expr_of_text(struct arena *arena, enum k_expr_kind kind, const char *text)
{
	struct k_expr *expr = expr_new(arena, kind);

	expr->text = arena_string(arena, text);
	return expr;
}

struct k_expr *k_int(struct arena *arena, int64_t value)
{
	struct k_expr *expr = expr_new(arena, KE_INT);

	expr->integer = value;
	return expr;
}

struct k_expr *k_float(struct arena *arena, const char *text)
{
	return expr_of_text(arena, KE_FLOAT, text);
}

struct k_expr *k_bool(struct arena *arena, bool value)
{
	struct k_expr *expr = expr_new(arena, KE_BOOL);

	expr->integer = value;
	return expr;
}

struct k_expr *k_name(struct arena *arena, const char *name)
{
	return expr_of_text(arena, KE_NAME, name);
}

struct k_expr *k_type_arg(struct arena *arena, struct k_type type)
{
	struct k_expr *expr = expr_new(arena, KE_TYPE);

	expr->of = type;
	return expr;
}

static struct k_expr *expr_of_args(struct arena *arena, enum k_expr_kind kind, struct k_expr *const *args, int n)
{
	struct k_expr *expr = expr_new(arena, kind);

	for (int i = 0; i < n; i++)
		vec_push(arena, &expr->args, args[i]);
	return expr;
}

struct k_expr *k_load(struct arena *arena, struct k_expr *buffer, struct k_expr *index)
{
	return expr_of_args(arena, KE_LOAD, K_ARGS(buffer, index));
}

struct k_expr *k_member(struct arena *arena, struct k_expr *of, const char *member, bool is_arrow)
{
	struct k_expr *expr = expr_of_args(arena, KE_MEMBER, K_ARGS(of));

	expr->text = arena_string(arena, member);
	expr->is_arrow = is_arrow;
	return expr;
}

struct k_expr *k_unary(struct arena *arena, enum k_op op, struct k_expr *a)
{
	struct k_expr *expr = expr_of_args(arena, KE_UNARY, K_ARGS(a));

	expr->op = op;
	return expr;
}

struct k_expr *k_binary(struct arena *arena, enum k_op op, struct k_expr *a, struct k_expr *b)
{
	struct k_expr *expr = expr_of_args(arena, KE_BINARY, K_ARGS(a, b));

	expr->op = op;
	return expr;
}

struct k_expr *k_select(struct arena *arena, struct k_expr *condition, struct k_expr *a, struct k_expr *b)
{
	return expr_of_args(arena, KE_SELECT, K_ARGS(condition, a, b));
}

struct k_expr *k_cast(struct arena *arena, struct k_type type, struct k_expr *a)
{
	struct k_expr *expr = expr_of_args(arena, KE_CAST, K_ARGS(a));

	expr->of = type;
	return expr;
}

struct k_expr *k_call(struct arena *arena, const char *function, int n, ...)
{
	struct k_expr *expr = expr_of_text(arena, KE_CALL, function);
	va_list args;

	va_start(args, n);
	for (int i = 0; i < n; i++) {
		struct k_expr *arg = va_arg(args, struct k_expr *);

		vec_push(arena, &expr->args, arg);
	}
	va_end(args);
	return expr;
}

struct k_expr *k_join(struct arena *arena, enum k_op op, struct k_expr *left, struct k_expr *right)
{
	if (!left)
		return right;
	if (right->kind != KE_BINARY || right->op != op || right->is_grouped)
		return k_binary(arena, op, left, right);
	return k_join(arena, op, k_join(arena, op, left, right->args.items[0]), right->args.items[1]);
}

struct k_expr *k_without_minus(struct arena *arena, const struct k_expr *a)
{
	struct k_expr *first;

	if (a->is_grouped)
		return NULL;
	if (a->kind == KE_UNARY && a->op == K_NEG)
		return a->args.items[0];
	if (a->kind != KE_BINARY || k_op_level(a->op) != K_LEVEL_PRODUCT)
		return NULL;
	first = k_without_minus(arena, a->args.items[0]);
	return first ? k_binary(arena, a->op, first, a->args.items[1]) : NULL;
}

struct k_expr *k_negated(struct arena *arena, struct k_expr *a)
{
	if (a->kind != KE_BINARY || a->is_grouped || k_op_level(a->op) != K_LEVEL_PRODUCT || a->op == K_REM)
		return k_unary(arena, K_NEG, a);
	return k_binary(arena, a->op, k_negated(arena, a->args.items[0]), a->args.items[1]);
}

struct k_expr *k_grouped(struct arena *arena, struct k_expr *of)
{
	struct k_expr *grouped = arena_new(arena, struct k_expr);

	*grouped = *of;
	grouped->is_grouped = true;
	return grouped;
}

struct k_expr *k_at_least(struct arena *arena, struct k_expr *expr, enum k_level level)
{
	return k_level(expr) >= level ? expr : k_grouped(arena, expr);
}

/* ---- statements ---- */

struct k_stmt *k_stmt(struct arena *arena, enum k_stmt_kind kind)
{
	struct k_stmt *stmt = arena_new(arena, struct k_stmt);

	stmt->kind = kind;
	if (kind == KS_STORE)
		stmt->store.op = K_OP_N;
	return stmt;
}

struct k_block *k_body(struct k_stmt *stmt)
{
	switch (stmt->kind) {
	case KS_BLOCK:
	case KS_PARALLEL:
		return &stmt->body;
	case KS_LOOP:
		return &stmt->loop.body;
	case KS_WHILE:
		return &stmt->repeat.body;
	case KS_IF:
		return &stmt->branch.then;
	case KS_RECORD:
		return &stmt->record.fields;
	case KS_LET:
	case KS_STORE:
	case KS_CALL:
	case KS_RETURN:
	case KS_BREAK:
	case KS_CONTINUE:
	case KS_UNUSED:
	case KS_COMMENT:
	case KS_BLANK:
	case KS_N:
		break;
	}
	return NULL;
}

/* ---- the builder ---- */

static void push_open(struct k_builder *builder, struct k_block *block, struct k_stmt *owner)
{
	vec_push(builder->arena, &builder->open, block);
	vec_push(builder->arena, &builder->owners, owner);
}

struct k_builder k_builder_new(struct arena *arena, struct k_block *block)
{
	struct k_builder builder = { .arena = arena };

	push_open(&builder, block, NULL);
	return builder;
}

struct k_stmt *k_add(struct k_builder *builder, struct k_stmt *stmt, const char *emitter)
{
	struct k_block *block = builder->open.items[builder->open.n - 1];

	if (builder->bare)
		block = k_body(builder->bare);
	builder->bare = stmt->kind == KS_IF && stmt->branch.is_bare && stmt->branch.then.stmts.n == 0 ? stmt : NULL;
	stmt->span = builder->span;
	stmt->emitter = emitter;
	vec_push(builder->arena, &block->stmts, stmt);
	return stmt;
}

void k_add_as_it_is(struct k_builder *builder, struct k_stmt *stmt)
{
	vec_push(builder->arena, &builder->open.items[builder->open.n - 1]->stmts, stmt);
}

void k_add_from(struct k_builder *builder, const struct k_block *block, int first)
{
	for (int i = first; i < block->stmts.n; i++)
		k_add_as_it_is(builder, block->stmts.items[i]);
}

struct k_stmt *k_open(struct k_builder *builder, struct k_stmt *stmt, const char *emitter)
{
	struct k_block *body = k_body(stmt);

	k_add(builder, stmt, emitter);
	if (body)
		push_open(builder, body, stmt);
	return stmt;
}

static void fail(struct k_builder *builder, const char *what)
{
	if (!builder->error)
		builder->error = what;
}

/* The block of a function stays open. */
void k_close(struct k_builder *builder, const char *emitter)
{
	if (builder->open.n <= 1) {
		fail(builder, "a block is closed that is not open");
		return;
	}
	builder->owners.items[builder->owners.n - 1]->end = (struct k_place) { builder->span, emitter };
	builder->open.n--;
	builder->owners.n--;
}

static void begin_else(struct k_builder *builder, struct k_stmt *stmt, const char *emitter)
{
	stmt->branch.has_otherwise = true;
	stmt->otherwise = (struct k_place) { builder->span, emitter };
	push_open(builder, &stmt->branch.otherwise, stmt);
}

void k_otherwise(struct k_builder *builder, const char *emitter)
{
	struct k_stmt *stmt = builder->owners.items[builder->owners.n - 1];

	if (!stmt || stmt->kind != KS_IF || stmt->branch.has_otherwise) {
		fail(builder, "an else has no if");
		return;
	}
	builder->open.n--;
	builder->owners.n--;
	begin_else(builder, stmt, emitter);
}

void k_reopen(struct k_builder *builder, const char *emitter)
{
	struct k_block *block = builder->open.items[builder->open.n - 1];
	struct k_stmt *stmt = block->stmts.n ? block->stmts.items[block->stmts.n - 1] : NULL;

	if (!stmt || stmt->kind != KS_IF || stmt->branch.is_bare || stmt->branch.has_otherwise) {
		fail(builder, "an else has no if");
		return;
	}
	begin_else(builder, stmt, emitter);
}
