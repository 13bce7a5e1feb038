/* SPDX-License-Identifier: MIT
 *
 * Types and spaces of a kernel function: an index is an integer and what has it is a buffer, a condition is true or
 * false, a value goes where it is put, and an array is where a function can have one. A value goes into another type
 * as C converts it, but no pointer loses `const`, and vectors stay what they are. */
#include <string.h>

#include "kernel/kernel_private.h"

#define TEXT(check, expr) k_expr_text((check)->place->arena, (expr))
#define TYPE_TEXT(check, type) k_type_text((check)->place->arena, (type))

/* ---- conversions ------------------------------------------------------------------------------------- */

static bool is_void(const struct k_type *type)
{
	return strcmp(type->name, "void") == 0;
}

static bool is_null(const struct k_expr *expr)
{
	return (expr->kind == KE_INT && expr->integer == 0) ||
	       (expr->kind == KE_NAME && strcmp(expr->text, "NULL") == 0);
}

static bool pointers_convert(const struct k_type *to, const struct k_type *from)
{
	return (to->is_const || !from->is_const) && (is_void(to) || is_void(from) || strcmp(to->name, from->name) == 0);
}

static bool converts(const struct k_type *to, const struct k_expr *value)
{
	const struct k_type *from = &value->type;

	if (!to->name || !from->name || strcmp(to->name, "auto") == 0 || value->kind == KE_LIST)
		return true;
	if (to->is_pointer && from->is_pointer)
		return pointers_convert(to, from);
	if (to->is_pointer)
		return is_null(value);
	if (from->is_pointer)
		return strcmp(to->name, "bool") == 0;
	return (k_is_arithmetic(to) && k_is_arithmetic(from)) || strcmp(to->name, from->name) == 0;
}

static void check_value(struct k_check *check, const struct k_type *to, const struct k_expr *value)
{
	if (value && !converts(to, value))
		K_FAULT(check, "'%s' is of type '%s', not '%s'", TEXT(check, value), TYPE_TEXT(check, &value->type),
		      TYPE_TEXT(check, to));
}

/* ---- expressions ------------------------------------------------------------------------------------------ */

static void check_integer(struct k_check *check, const struct k_expr *expr, const char *what)
{
	if (expr && expr->type.name && !k_is_integer(&expr->type))
		K_FAULT(check, "%s '%s' is of type '%s', no integer", what, TEXT(check, expr),
		      TYPE_TEXT(check, &expr->type));
}

static void check_condition(struct k_check *check, const struct k_expr *expr)
{
	if (expr && expr->type.name && !expr->type.is_pointer && !k_is_integer(&expr->type))
		K_FAULT(check, "condition '%s' is of type '%s'", TEXT(check, expr), TYPE_TEXT(check, &expr->type));
}

static void check_load(struct k_check *check, const struct k_expr *load)
{
	const struct k_expr *buffer = load->args.items[0];

	check_integer(check, load->args.items[1], "index");
	if (buffer->type.name && !buffer->type.is_pointer && !k_is_vector(&buffer->type))
		K_FAULT(check, "'%s' is of type '%s', no buffer", TEXT(check, buffer), TYPE_TEXT(check, &buffer->type));
}

static bool is_pointer_letter(char letter)
{
	return letter && strchr("rwbp", letter) != NULL;
}

/* Of the runtime: a pointer is one, a value none, a type is a type. */
static void check_letter(struct k_check *check, const struct k_expr *arg, char letter)
{
	const bool is_pointer = arg->type.name && arg->type.is_pointer;
	const struct k_declared *declared = arg->kind == KE_NAME ? k_declared_find(check->place, arg->text) : NULL;
	const bool is_type = arg->kind == KE_TYPE || (declared && declared->stmt && declared->stmt->kind == KS_RECORD);

	if (is_type != (letter == 't'))
		K_FAULT(check, "argument '%s' is %s type", TEXT(check, arg), letter == 't' ? "no" : "a");
	else if (is_pointer && (letter == 'v' || letter == 'l'))
		K_FAULT(check, "argument '%s' is a pointer", TEXT(check, arg));
	else if (arg->type.name && !is_pointer && is_pointer_letter(letter))
		K_FAULT(check, "argument '%s' is no pointer", TEXT(check, arg));
}

static void check_letters(struct k_check *check, const struct k_expr *call)
{
	const struct k_callee *callee = k_callee_find(call->text);

	for (int i = 0; callee && i < call->args.n; i++)
		check_letter(check, call->args.items[i], k_callee_argument(callee, i));
}

/* Of a function of the program, or of one that is launched. */
static void check_arguments(struct k_check *check, const struct k_expr *call)
{
	int first = 0;
	const struct k_function *own = k_called_function(check->place->program, call, &first);

	for (int i = 0; own && first + i < call->args.n && i < own->params.n; i++)
		check_value(check, &own->params.items[i].type, call->args.items[first + i]);
}

static void check_call(struct k_check *check, const struct k_expr *call)
{
	check_letters(check, call);
	check_arguments(check, call);
}

static void check_operands(struct k_check *check, const struct k_expr *expr)
{
	if (expr->op == K_OR || expr->op == K_AND || expr->op == K_NOT)
		for (int i = 0; i < expr->args.n; i++)
			check_condition(check, expr->args.items[i]);
	if (expr->op == K_REM || expr->op == K_SHIFT || expr->op == K_BIT_AND || expr->op == K_BIT_OR)
		for (int i = 0; i < expr->args.n; i++)
			if (!k_is_vector(&expr->args.items[i]->type))
				check_integer(check, expr->args.items[i], "operand");
}

static bool check_expr(const struct k_expr *expr, void *user)
{
	struct k_check *check = user;

	if (expr->kind == KE_LOAD)
		check_load(check, expr);
	else if (expr->kind == KE_CALL)
		check_call(check, expr);
	else if (expr->kind == KE_SELECT)
		check_condition(check, expr->args.items[0]);
	else if (expr->kind == KE_UNARY || expr->kind == KE_BINARY)
		check_operands(check, expr);
	return !check->fault;
}

/* ---- statements ------------------------------------------------------------------------------------------ */

/* Of what a function declares: memory and scratch are reached by pointers. */
static void check_space(struct k_check *check, const struct k_let *let)
{
	if (let->space == K_SPACE_MEMORY || let->space == K_SPACE_THREAD)
		K_FAULT(check, "an array is in registers, on the stack or shared");
	if (let->space == K_SPACE_SHARED && check->place->function->kind != K_FUNCTION_DEVICE)
		K_FAULT(check, "only lanes of a device share an array");
}

static void check_let(struct k_check *check, const struct k_let *let)
{
	if (let->extents.n > 0)
		check_space(check, let);
	for (int i = 0; i < let->extents.n; i++)
		check_integer(check, let->extents.items[i], "extent");
	if (let->extents.n == 0)
		check_value(check, &let->type, let->value);
}

/* A pointer moves by an integer. */
static void check_store(struct k_check *check, const struct k_store *store)
{
	for (int i = 0; i < store->targets.n; i++) {
		const struct k_type *type = &store->targets.items[i]->type;

		if (type->is_pointer && store->op != K_OP_N)
			check_integer(check, store->value, "distance");
		else if (store->op == K_OP_N || !k_is_vector(type))
			check_value(check, type, store->value);
	}
}

static void check_loop(struct k_check *check, const struct k_loop *loop)
{
	check_integer(check, loop->first, "first value");
	check_integer(check, loop->bound, "bound");
	check_integer(check, loop->step, "step");
	check_integer(check, loop->share.threads, "number of threads");
}

static void check_return(struct k_check *check, const struct k_stmt *stmt)
{
	const struct k_type *result = &check->place->function->result;
	const bool has_result = result->name && (result->is_pointer || !is_void(result));

	if (has_result != (stmt->value != NULL))
		K_FAULT(check, has_result ? "the function has a result" : "the function has no result");
	else
		check_value(check, result, stmt->value);
}

static void check_stmt(struct k_check *check, const struct k_stmt *stmt)
{
	if (stmt->kind == KS_LET)
		check_let(check, &stmt->let);
	else if (stmt->kind == KS_STORE)
		check_store(check, &stmt->store);
	else if (stmt->kind == KS_LOOP)
		check_loop(check, &stmt->loop);
	else if (stmt->kind == KS_IF)
		check_condition(check, stmt->branch.condition);
	else if (stmt->kind == KS_WHILE)
		check_condition(check, stmt->repeat.condition);
	else if (stmt->kind == KS_RETURN)
		check_return(check, stmt);
}

const struct k_rule k_rule_types = { .expr = check_expr, .stmt = check_stmt };
