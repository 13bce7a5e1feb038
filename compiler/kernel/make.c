/* SPDX-License-Identifier: MIT
 *
 * Constructors of statements. What they add has the span of the builder. */
#include "kernel/make.h"

#include <string.h>

/* ---- declarations ---- */

/* Pointers may move unless they are the only way to what they point to. */
struct k_stmt *k_let_of(struct arena *arena, struct k_type type, const char *name, struct k_expr *value)
{
	struct k_stmt *stmt = k_stmt(arena, KS_LET);
	const bool may_change = type.is_pointer ? !type.is_restrict : !type.is_const;

	stmt->let = (struct k_let) { .type = type, .name = name, .value = value, .is_variable = may_change };
	return stmt;
}

struct k_stmt *k_const_at(struct k_builder *b, const char *emitter, struct k_type type, const char *name,
			  struct k_expr *value)
{
	type.is_const |= !type.is_pointer;
	return k_add(b, k_let_of(b->arena, type, name, value), emitter);
}

struct k_stmt *k_var_at(struct k_builder *b, const char *emitter, struct k_type type, const char *name,
			struct k_expr *value)
{
	return k_add(b, k_let_of(b->arena, type, name, value), emitter);
}

static enum k_space space_of(const struct k_type *type)
{
	return !strncmp(type->name, "pmg_vector_", strlen("pmg_vector_")) && !type->is_pointer
		? K_SPACE_REGISTERS : K_SPACE_STACK;
}

struct k_stmt *k_array_at(struct k_builder *b, const char *emitter, struct k_type type, const char *name,
			  struct k_expr *extent, struct k_expr *value)
{
	struct k_stmt *stmt = k_let_of(b->arena, type, name, value);

	vec_push(b->arena, &stmt->let.extents, extent);
	stmt->let.space = space_of(&type);
	return k_add(b, stmt, emitter);
}

struct k_stmt *k_record_at(struct k_builder *b, const char *emitter, const char *name, int alignment)
{
	struct k_stmt *stmt = k_stmt(b->arena, KS_RECORD);

	stmt->record.name = name;
	stmt->record.alignment = k_int(b->arena, alignment);
	return k_open(b, stmt, emitter);
}

/* ---- effects ---- */

struct k_stmt *k_store_of(struct arena *arena, enum k_op op, struct k_expr *target, struct k_expr *value)
{
	struct k_stmt *stmt = k_stmt(arena, KS_STORE);

	stmt->store.op = op;
	stmt->store.value = value;
	vec_push(arena, &stmt->store.targets, target);
	return stmt;
}

struct k_stmt *k_step_of(struct arena *arena, enum k_op op, struct k_expr *target)
{
	struct k_stmt *stmt = k_store_of(arena, op, target, k_int(arena, 1));

	stmt->store.is_step = true;
	return stmt;
}

struct k_stmt *k_update_at(struct k_builder *b, const char *emitter, enum k_op op, struct k_expr *target,
			   struct k_expr *value)
{
	return k_add(b, k_store_of(b->arena, op, target, value), emitter);
}

struct k_stmt *k_value_at(struct k_builder *b, const char *emitter, enum k_stmt_kind kind, struct k_expr *value)
{
	struct k_stmt *stmt = k_stmt(b->arena, kind);

	stmt->value = value;
	return k_add(b, stmt, emitter);
}

/* ---- blocks ---- */

struct k_stmt *k_if_at(struct k_builder *b, const char *emitter, struct k_expr *condition, bool is_bare)
{
	struct k_stmt *stmt = k_stmt(b->arena, KS_IF);

	stmt->branch.condition = condition;
	stmt->branch.is_bare = is_bare;
	return is_bare ? k_add(b, stmt, emitter) : k_open(b, stmt, emitter);
}

struct k_stmt *k_for_at(struct k_builder *b, const char *emitter, const char *type, const char *name,
			struct k_expr *first, struct k_expr *bound, struct k_expr *step, bool is_down)
{
	struct k_stmt *stmt = k_stmt(b->arena, KS_LOOP);

	stmt->loop = (struct k_loop) { .type = k_scalar(type), .name = name, .first = first, .bound = bound,
				       .step = step, .is_down = is_down };
	return k_open(b, stmt, emitter);
}

struct k_stmt *k_while_at(struct k_builder *b, const char *emitter, struct k_expr *condition)
{
	struct k_stmt *stmt = k_stmt(b->arena, KS_WHILE);

	stmt->repeat.condition = condition;
	return k_open(b, stmt, emitter);
}

struct k_stmt *k_parallel_at(struct k_builder *b, const char *emitter, struct k_expr *threads)
{
	struct k_stmt *stmt = k_stmt(b->arena, KS_PARALLEL);

	stmt->value = threads;
	return k_open(b, stmt, emitter);
}

/* ---- expressions ---- */

static struct k_expr *add_args(struct arena *arena, struct k_expr *expr, struct k_expr *const *args, int n)
{
	for (int i = 0; i < n; i++)
		vec_push(arena, &expr->args, args[i]);
	return expr;
}

struct k_expr *k_call_of(struct arena *arena, const char *function, struct k_expr *const *args, int n)
{
	return add_args(arena, k_call(arena, function, 0), args, n);
}

struct k_expr *k_list_of(struct arena *arena, struct k_expr *const *items, int n)
{
	struct k_expr *list = arena_new(arena, struct k_expr);

	list->kind = KE_LIST;
	return add_args(arena, list, items, n);
}

struct k_expr *k_with_args(struct arena *arena, const struct k_expr *call, struct k_expr *const *args, int n)
{
	struct k_expr *with = arena_new(arena, struct k_expr);

	with->kind = call->kind;
	with->text = call->text;
	add_args(arena, with, call->args.items, call->args.n);
	return add_args(arena, with, args, n);
}

struct k_expr *k_with_list(struct arena *arena, const struct k_expr *call, const struct k_expr *list)
{
	return k_with_args(arena, call, list->args.items, list->args.n);
}

struct k_expr *k_with_constant(struct arena *arena, struct k_expr *call, struct k_expr *constant)
{
	vec_push(arena, &call->constants, constant);
	return call;
}

/* Chains of one associative operator are read from the left, and need parentheses on the right alone. */
struct k_expr *k_operate(struct arena *arena, struct k_expr *a, enum k_op op, struct k_expr *b)
{
	const enum k_level level = k_op_level(op);

	return k_binary(arena, op, k_at_least(arena, a, level), k_at_least(arena, b, level + 1));
}

struct k_expr *k_times(struct arena *arena, struct k_expr *left, struct k_expr *right)
{
	if (!left)
		return right;
	if (right->kind != KE_BINARY || right->is_grouped || k_op_level(right->op) != K_LEVEL_PRODUCT)
		return k_binary(arena, K_MUL, left, right);
	return k_binary(arena, right->op, k_times(arena, left, right->args.items[0]), right->args.items[1]);
}

struct k_expr *k_string(struct arena *arena, const char *quoted)
{
	struct k_expr *string = k_name(arena, quoted);

	string->kind = KE_STRING;
	return string;
}

struct k_expr *k_address(struct arena *arena, struct k_expr *of)
{
	return k_unary(arena, K_ADDRESS, of);
}

struct k_expr *k_at(struct arena *arena, const char *name, struct k_expr *index)
{
	return k_load(arena, k_name(arena, name), index);
}

struct k_type k_buffer(const char *c_name, bool is_const, bool is_restrict)
{
	struct k_type type = k_pointer(c_name, is_const);

	type.is_restrict = is_restrict;
	return type;
}
