/* SPDX-License-Identifier: MIT
 *
 * Types of expressions, from declarations, parameters and kernel/calls.def: those that C gives them, where int is at
 * least what narrower integers become and vectors go with numbers. An array's name is a pointer to its elements.
 * Members of structures of the program, as args->n, have none that is known here, and what is computed with one that is
 * not known is not known, either. */
#include <string.h>

#include "kernel/kernel_private.h"

/* ---- C's arithmetic --------------------------------------------------------------------------- */

/* Names of arithmetic types, and what they are where something is computed with them: that further down of two. */
static const struct { const char *name, *promoted; bool is_integer; } ranks[] = {
	{ "bool", "int", true },        { "int8_t", "int", true },        { "uint8_t", "int", true },
	{ "int16_t", "int", true },     { "uint16_t", "int", true },      { "char", "int", true },
	{ "int32_t", "int", true },     { "int", "int", true },           { "pmg_status", "int", true },
	{ "uint32_t", "unsigned", true }, { "unsigned", "unsigned", true },
	{ "int64_t", "int64_t", true }, { "ptrdiff_t", "int64_t", true },
	{ "uint64_t", "uint64_t", true }, { "size_t", "uint64_t", true }, { "uintptr_t", "uint64_t", true },
	{ "float", "float", false },    { "double", "double", false },
};

/* -1: no arithmetic type. */
static int rank_of(const struct k_type *type)
{
	for (int i = 0; type->name && !type->is_pointer && i < (int) (sizeof ranks / sizeof *ranks); i++)
		if (strcmp(ranks[i].name, type->name) == 0)
			return i;
	return -1;
}

bool k_is_arithmetic(const struct k_type *type)
{
	return rank_of(type) >= 0;
}

bool k_is_integer(const struct k_type *type)
{
	const int rank = rank_of(type);

	return rank >= 0 && ranks[rank].is_integer;
}

bool k_is_vector(const struct k_type *type)
{
	return type->name && !type->is_pointer && strncmp(type->name, "pmg_vector_", strlen("pmg_vector_")) == 0;
}

/* Of arithmetic with values of both types; of one: of that with itself. */
static struct k_type computed(const struct k_type *a, const struct k_type *b)
{
	const int a_rank = rank_of(a), b_rank = rank_of(b);

	if (a_rank >= 0 && b_rank >= 0)
		return k_scalar(ranks[a_rank > b_rank ? a_rank : b_rank].promoted);
	if (k_is_vector(a) && (b_rank >= 0 || k_is_vector(b)))
		return k_scalar(a->name);
	if (k_is_vector(b) && a_rank >= 0)
		return k_scalar(b->name);
	return (struct k_type) { 0 };
}

static struct k_type pointer_to(struct k_type element)
{
	if (element.is_pointer)
		return (struct k_type) { 0 };
	element.is_pointer = true;
	return element;
}

/* A value has no qualifiers; what it points to has. */
static struct k_type value_of(struct k_type type)
{
	type.is_const = type.is_const && type.is_pointer;
	type.is_restrict = false;
	return type;
}

/* ---- expressions --------------------------------------------------------------------------------- */


static struct k_type type_of(struct k_scope *place, struct k_expr *expr);

static struct k_type type_of_integer(const struct k_expr *expr)
{
	const char *text = expr->text ? expr->text : "";
	const size_t n = strlen(text);
	const bool is_unsigned = strpbrk(text, "uU") && !strpbrk(text, "xX");

	if (n > 0 && (text[n - 1] == 'l' || text[n - 1] == 'L'))
		return k_scalar(is_unsigned ? "uint64_t" : "int64_t");
	if (is_unsigned)
		return k_scalar("unsigned");
	return k_scalar(expr->integer > INT32_MAX || expr->integer < INT32_MIN ? "int64_t" : "int");
}

static struct k_type type_of_float(const struct k_expr *expr)
{
	const char last = expr->text[strlen(expr->text) - 1];

	return k_scalar(last == 'f' || last == 'F' ? "float" : "double");
}

static struct k_type type_of_name(const struct k_scope *place, const struct k_expr *expr)
{
	const struct k_declared *declared = k_declared_find(place, expr->text);

	if (!declared)
		return k_runtime_name_type(place->arena, expr->text);
	return declared->rank > 0 ? pointer_to(declared->type) : value_of(declared->type);
}

static struct k_type element_of_vector(struct arena *arena, const struct k_type *vector)
{
	enum scalar_type type;

	if (!type_from_name(vector->name + strlen("pmg_vector_"), &type))
		return (struct k_type) { 0 };
	return k_scalar(arena_string(arena, type_c_name(type)));
}

/* Rows of an array of several dimensions are pointers, too. */
static bool is_row(const struct k_scope *place, const struct k_expr *expr)
{
	int n_indices;
	const struct k_expr *buffer = k_buffer_of(expr, &n_indices);
	const struct k_declared *declared = buffer ? k_declared_find(place, buffer->text) : NULL;

	return declared && declared->rank > n_indices;
}

static struct k_type type_of_load(const struct k_scope *place, const struct k_expr *expr)
{
	const struct k_type *buffer = &expr->args.items[0]->type;

	if (is_row(place, expr))
		return *buffer;
	if (k_is_vector(buffer))
		return element_of_vector(place->arena, buffer);
	return k_type_behind(place->arena, buffer);
}

static struct k_type type_of_member(const struct k_scope *place, const struct k_expr *expr)
{
	const struct k_type *of = &expr->args.items[0]->type;

	if (!of->name || of->is_pointer != expr->is_arrow)
		return (struct k_type) { 0 };
	return value_of(k_member_type(place->arena, of->name, expr->text));
}

/* Does an address lead to what may not be changed? */
static bool is_address_of_const(const struct k_scope *place, const struct k_expr *expr)
{
	const struct k_declared *declared;

	if (expr->kind == KE_LOAD)
		return expr->args.items[0]->type.is_const;
	declared = expr->kind == KE_NAME ? k_declared_find(place, expr->text) : NULL;
	return declared && declared->type.is_const;
}

static struct k_type type_of_unary(const struct k_scope *place, const struct k_expr *expr)
{
	const struct k_type *a = &expr->args.items[0]->type;
	struct k_type type;

	if (expr->op == K_NOT)
		return k_scalar("int");
	if (expr->op == K_CONTENT)
		return k_type_behind(place->arena, a);
	if (expr->op != K_ADDRESS)
		return computed(a, a);
	type = a->name ? pointer_to(*a) : *a;
	type.is_const = is_address_of_const(place, expr->args.items[0]);
	return type;
}

static struct k_type type_of_sum(const struct k_expr *expr)
{
	const struct k_type *a = &expr->args.items[0]->type, *b = &expr->args.items[1]->type;

	if (a->is_pointer && b->is_pointer)
		return k_scalar("int64_t");
	if (a->is_pointer)
		return *a;
	return b->is_pointer ? *b : computed(a, b);
}

static struct k_type type_of_comparison(const struct k_expr *expr)
{
	const struct k_type *a = &expr->args.items[0]->type, *b = &expr->args.items[1]->type;

	return k_is_vector(a) || k_is_vector(b) ? (struct k_type) { 0 } : k_scalar("int");
}

static struct k_type type_of_binary(const struct k_expr *expr)
{
	const struct k_type *a = &expr->args.items[0]->type, *b = &expr->args.items[1]->type;

	if (expr->op == K_ADD || expr->op == K_SUB)
		return type_of_sum(expr);
	if (expr->op == K_OR || expr->op == K_AND)
		return k_scalar("int");
	if (expr->op >= K_EQ && expr->op <= K_GE)
		return type_of_comparison(expr);
	return expr->op == K_SHIFT ? computed(a, a) : computed(a, b);
}

static struct k_type type_of_select(const struct k_expr *expr)
{
	const struct k_type *a = &expr->args.items[1]->type, *b = &expr->args.items[2]->type;

	if (a->is_pointer)
		return strcmp(a->name, "void") == 0 && b->is_pointer ? *b : *a;
	return b->is_pointer ? *b : computed(a, b);
}

static struct k_type type_of_call(const struct k_scope *place, const struct k_expr *expr)
{
	const struct k_function *own = k_function_find(place->program, expr->text);
	const struct k_callee *callee = own ? NULL : k_callee_find(expr->text);

	if (own)
		return value_of(own->result);
	return callee ? k_callee_result(place->arena, callee, expr) : (struct k_type) { 0 };
}

static struct k_type type_by_parts(struct k_scope *place, const struct k_expr *expr)
{
	switch (expr->kind) {
	case KE_INT:
		return type_of_integer(expr);
	case KE_FLOAT:
		return type_of_float(expr);
	case KE_BOOL:
		return k_scalar("bool");
	case KE_STRING:
		return (struct k_type) { .name = "char", .is_const = true, .is_pointer = true };
	case KE_NAME:
		return type_of_name(place, expr);
	case KE_LOAD:
		return type_of_load(place, expr);
	case KE_MEMBER:
		return type_of_member(place, expr);
	case KE_UNARY:
		return type_of_unary(place, expr);
	case KE_BINARY:
		return type_of_binary(expr);
	case KE_SELECT:
		return type_of_select(expr);
	case KE_CAST:
		return value_of(expr->of);
	case KE_CALL:
		return type_of_call(place, expr);
	case KE_TYPE:
	case KE_LIST:
	case KE_N:
		break;
	}
	return (struct k_type) { 0 };
}

static struct k_type type_of(struct k_scope *place, struct k_expr *expr)
{
	for (int i = 0; i < expr->constants.n; i++)
		(void) type_of(place, expr->constants.items[i]);
	for (int i = 0; i < expr->args.n; i++)
		(void) type_of(place, expr->args.items[i]);
	expr->type = type_by_parts(place, expr);
	return expr->type;
}

/* ---- statements --------------------------------------------------------------------------------- */

/* The walk takes trees const; this one is the caller's to change. */
static void resolve_expr(const struct k_expr *expr, void *user)
{
	(void) type_of(user, (struct k_expr *) expr);
}

static void resolve_stmt(struct k_scope *place, const struct k_stmt *stmt, void *user)
{
	(void) user;
	k_each_expr(stmt, resolve_expr, place);
}

static void resolve_function(struct arena *arena, struct k_program *program, struct k_function *function)
{
	struct k_scope outside = { .arena = arena, .program = program, .function = function };

	if (function->bounds)
		(void) type_of(&outside, function->bounds);
	k_walk_function(arena, program, function, &(struct k_scope_visitor) { .stmt = resolve_stmt });
}

void k_resolve_types(struct arena *arena, struct k_program *program)
{
	for (int i = 0; i < program->functions.n; i++)
		resolve_function(arena, program, program->functions.items[i]);
}
