/* SPDX-License-Identifier: MIT
 *
 * Expressions in C text, and calls with constants as C++ has them: f<32, add>(x). A name in parentheses is a type, and
 * so the parentheses a cast, if it is that of a scalar or of a vector, or if a `*` follows it there; a call's constants
 * begin with a `<` right behind the name. Parentheses of the text are kept. */
#include "kernel/read.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 1000 };

static struct k_expr *read_level(struct k_reader *r, enum k_level level);

static struct k_expr *missing(struct k_reader *r, const char *what)
{
	k_fail(r, what);
	return NULL;
}

/* ---- numbers ---- */

static bool is_float(const char *text)
{
	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X'))
		return strpbrk(text, ".pP") != NULL;
	return strpbrk(text, ".eEfF") != NULL;
}

/* The text is kept where it is not how the number is printed. */
static struct k_expr *int_of(struct k_reader *r, int64_t value, const char *text)
{
	struct k_expr *expr = k_int(r->arena, value);

	if (strcmp(text, k_int_text(r->arena, value)) != 0)
		expr->text = text;
	return expr;
}

static struct k_expr *read_number(struct k_reader *r)
{
	const char *text = arena_copy(r->arena, r->token.text, r->token.length);
	char *end;
	long long value;

	if (is_float(text)) {
		k_next(r);
		return k_float(r->arena, text);
	}
	errno = 0;
	value = strtoll(text, &end, 0);
	if (errno || end[strspn(end, "uUlL")])
		return missing(r, "this is no number");
	k_next(r);
	return int_of(r, value, text);
}

/* INT64_C(n), behind the name. */
static struct k_expr *read_wide(struct k_reader *r)
{
	const char *digits;
	bool is_negative;
	char *end;
	long long value;

	k_expect(r, "(");
	is_negative = k_accept(r, "-");
	digits = arena_printf(r->arena, "%s%.*s", is_negative ? "-" : "", (int) r->token.length, r->token.text);
	errno = 0;
	value = strtoll(digits, &end, 10);
	if (r->token.kind != K_TOKEN_NUMBER || errno || *end)
		return missing(r, "this is no number");
	k_next(r);
	k_expect(r, ")");
	return r->error ? NULL : int_of(r, value, arena_printf(r->arena, "INT64_C(%s)", digits));
}

/* ---- names, calls, lists ---- */

/* Up to a mark, which is taken. */
static void read_args(struct k_reader *r, k_expr_list *args, bool are_constants, const char *closing)
{
	if (k_accept(r, closing))
		return;
	do
		vec_push(r->arena, args, are_constants ? read_level(r, K_LEVEL_SUM) : k_read_value(r));
	while (k_accept(r, ","));
	k_expect(r, closing);
}

/* What a macro names may be called: MACRO(f)(x). */
static struct k_expr *read_call(struct k_reader *r, const char *name)
{
	struct k_expr *call = k_call(r->arena, name, 0);

	if (k_accept(r, "<"))
		read_args(r, &call->constants, true, ">");
	k_expect(r, "(");
	read_args(r, &call->args, false, ")");
	if (k_accept(r, "(")) {
		call = k_call(r->arena, k_expr_text(r->arena, call), 0);
		read_args(r, &call->args, false, ")");
	}
	return call;
}

static struct k_expr *read_type_arg(struct k_reader *r)
{
	struct k_type type;

	return k_read_type(r, &type) ? k_type_arg(r->arena, type) : missing(r, "a type is missing");
}

static struct k_expr *read_name(struct k_reader *r)
{
	const char *name;

	if (k_is_scalar(r->arena, &r->token) || k_is(r, "const"))
		return read_type_arg(r);
	name = k_expect_name(r);
	if (!strcmp(name, "true") || !strcmp(name, "false"))
		return k_bool(r->arena, name[0] == 't');
	if (!strcmp(name, "INT64_C") && k_is(r, "("))
		return read_wide(r);
	if (k_is(r, "(") || (k_is(r, "<") && !r->token.is_spaced))
		return read_call(r, name);
	if (!strcmp(name, "INT64_MAX"))
		return k_int(r->arena, INT64_MAX);
	if (!strcmp(name, "INT64_MIN"))
		return k_int(r->arena, INT64_MIN);
	return k_name(r->arena, name);
}

static struct k_expr *read_list(struct k_reader *r)
{
	struct k_expr *list = arena_new(r->arena, struct k_expr);

	list->kind = KE_LIST;
	k_next(r);
	read_args(r, &list->args, false, "}");
	return list;
}

static struct k_expr *read_string(struct k_reader *r)
{
	struct k_expr *string = k_name(r->arena, arena_copy(r->arena, r->token.text, r->token.length));

	string->kind = KE_STRING;
	k_next(r);
	return string;
}

static struct k_expr *read_group(struct k_reader *r)
{
	struct k_expr *expr;

	k_next(r);
	expr = k_read_whole(r);
	if (k_expect(r, ")"))
		expr->is_grouped = true;
	return expr;
}

static struct k_expr *read_primary(struct k_reader *r)
{
	switch (r->token.kind) {
	case K_TOKEN_NAME: return read_name(r);
	case K_TOKEN_NUMBER: return read_number(r);
	case K_TOKEN_STRING: return read_string(r);
	case K_TOKEN_MARK: return k_is(r, "(") ? read_group(r) : missing(r, "an expression is missing");
	case K_TOKEN_END: break;
	}
	return missing(r, "an expression is missing");
}

/* ---- operators ---- */

static struct k_expr *read_index(struct k_reader *r, struct k_expr *of)
{
	struct k_expr *index = k_read_whole(r);

	k_expect(r, "]");
	return k_load(r->arena, of, index);
}

static struct k_expr *read_member(struct k_reader *r, struct k_expr *of, bool is_arrow)
{
	const char *member = k_expect_name(r);

	return member ? k_member(r->arena, of, member, is_arrow) : NULL;
}

static struct k_expr *read_postfix(struct k_reader *r)
{
	struct k_expr *expr = read_primary(r);

	for (;;)
		if (k_accept(r, "["))
			expr = read_index(r, expr);
		else if (k_accept(r, "->"))
			expr = read_member(r, expr, true);
		else if (k_accept(r, "."))
			expr = read_member(r, expr, false);
		else
			return expr;
}

/* Begins a cast at a parenthesis? Then it is read, up to the operand. */
static bool read_cast(struct k_reader *r, struct k_type *type)
{
	struct k_reader ahead = *r;
	bool is_scalar;

	k_next(&ahead);
	is_scalar = k_is_scalar(r->arena, &ahead.token) || k_is(&ahead, "const");
	if (!k_read_type(&ahead, type) || !(is_scalar || type->is_pointer) || !k_accept(&ahead, ")") || ahead.error)
		return false;
	*r = ahead;
	return true;
}

/* A number's sign is part of it. */
static struct k_expr *negate(struct k_reader *r, struct k_expr *a)
{
	if (!a || a->kind != KE_INT || a->text || a->is_grouped || a->integer <= 0 || a->integer > INT32_MAX)
		return k_unary(r->arena, K_NEG, a);
	a->integer = -a->integer;
	return a;
}

static enum k_op op_of(const struct k_reader *r, int arity)
{
	for (int op = 0; op < K_OP_N; op++)
		if (r->token.kind == K_TOKEN_MARK && k_op_arity((enum k_op) op) == arity &&
		    k_is(r, k_op_text((enum k_op) op)))
			return (enum k_op) op;
	return K_OP_N;
}

static struct k_expr *read_operand(struct k_reader *r)
{
	enum k_op op = op_of(r, 1);
	struct k_type type;

	if (op != K_OP_N) {
		k_next(r);
		return op == K_NEG ? negate(r, k_read_unary(r)) : k_unary(r->arena, op, k_read_unary(r));
	}
	if (k_is(r, "(") && read_cast(r, &type))
		return k_cast(r->arena, type, k_read_unary(r));
	return read_postfix(r);
}

/* NULL behind a mistake, whatever was made of it. */
static struct k_expr *read_nested(struct k_reader *r, struct k_expr *(*read)(struct k_reader *r))
{
	struct k_expr *expr;

	if (++r->depth > DEPTH_MAX)
		k_fail(r, "this is nested too deep");
	expr = read(r);
	r->depth--;
	return r->error ? NULL : expr;
}

struct k_expr *k_read_unary(struct k_reader *r)
{
	return read_nested(r, read_operand);
}

/* Operators that bind at least so tightly, from the left. */
static struct k_expr *read_level(struct k_reader *r, enum k_level level)
{
	struct k_expr *left = k_read_unary(r);
	enum k_op op;

	while ((op = op_of(r, 2)) != K_OP_N && k_op_level(op) >= level) {
		k_next(r);
		left = k_binary(r->arena, op, left, read_level(r, k_op_level(op) + 1));
	}
	return left;
}

static struct k_expr *read_select(struct k_reader *r)
{
	struct k_expr *condition = read_level(r, K_LEVEL_OR), *a;

	if (!k_accept(r, "?"))
		return condition;
	a = k_read_whole(r);
	k_expect(r, ":");
	return k_select(r->arena, condition, a, k_read_whole(r));
}

struct k_expr *k_read_whole(struct k_reader *r)
{
	return read_nested(r, read_select);
}

struct k_expr *k_read_value(struct k_reader *r)
{
	return k_is(r, "{") ? read_nested(r, read_list) : k_read_whole(r);
}
