/* SPDX-License-Identifier: MIT
 *
 * Expressions of the module format, by precedence climbing over ops.def. All binary operators bind to the left. */
#include "ir/text/read_private.h"

#include <math.h>
#include <string.h>

static struct expr *read_binary(struct reader *r, int least);
static struct expr *read_unary(struct reader *r);

/* Something to go on with after an error. */
static struct expr *nothing(struct reader *r)
{
	return expr_int(r->arena, 0, r->token.span);
}

/* ---- literals ---- */

static bool at_number(const struct reader *r)
{
	return r->token.kind == TOKEN_INTEGER || r->token.kind == TOKEN_FLOAT || reader_at(r, "inf") ||
	       reader_at(r, "nan");
}

static struct expr *read_float(struct reader *r, double value, struct span span)
{
	reader_advance(r);
	return expr_float(r->arena, value, reader_take(r, ":") ? reader_type(r) : TYPE_F64, span);
}

static struct expr *read_integer(struct reader *r, bool is_negative, struct span span)
{
	struct expr *expr = expr_int(r->arena, (int64_t) (is_negative ? 0 - r->token.integer : r->token.integer), span);

	if (!is_negative && r->token.integer > INT64_MAX)
		reader_fail(r, span, "this number does not fit into 64 bits");
	reader_advance(r);
	if (reader_take(r, ":"))
		expr->type = reader_type(r);
	return expr;
}

static struct expr *read_number(struct reader *r, bool is_negative, struct span span)
{
	double value = reader_at(r, "inf") ? INFINITY : reader_at(r, "nan") ? NAN : r->token.real;

	if (r->token.kind == TOKEN_INTEGER)
		return read_integer(r, is_negative, span);
	return read_float(r, is_negative ? -value : value, span);
}

static struct expr *read_bool(struct reader *r)
{
	struct expr *expr = expr_int(r->arena, reader_at(r, "true"), r->token.span);

	expr->kind = EXPR_BOOL;
	expr->type = TYPE_BOOL;
	reader_advance(r);
	return expr;
}

/* ---- names ---- */

static struct expr *read_dim_number(struct reader *r, struct span span)
{
	int64_t number = reader_integer(r);

	if (!r->failed && (!r->stage || number < 0 || number >= r->stage->dims.n)) {
		reader_fail(r, span, "there is no such dim here");
		return nothing(r);
	}
	return expr_dim(r->arena, (int) number, span);
}

static struct expr *read_variable(struct reader *r, const char *name, struct span span)
{
	for (int i = 0; r->stage && i < r->stage->dims.n; i++)
		if (strcmp(r->stage->dims.items[i].name, name) == 0)
			return expr_dim(r->arena, i, span);
	for (int i = 0; i < r->module->params.n; i++)
		if (strcmp(r->module->params.items[i].name, name) == 0)
			return expr_param(r->arena, r->module, i, span);
	reader_fail(r, span, "'%s' is neither a dim nor a param", name);
	return nothing(r);
}

/* The subscripts of `array`, from the bracket on. */
static struct access read_subs(struct reader *r, struct array *array, struct span span)
{
	struct access access = { .array = array, .span = span };
	int n = access_n_subs(&access);

	access.subs = arena_new_array(r->arena, struct expr *, n);
	reader_expect(r, "[");
	for (int i = 0; i < n; i++) {
		if (i > 0)
			reader_expect(r, ",");
		access.subs[i] = read_expr(r);
	}
	access.span.end = r->token.span.end;
	reader_expect(r, "]");
	return access;
}

static struct array *find_array(struct reader *r, const char *name, struct span span)
{
	struct array *array = module_find_array(r->module, name);

	if (!array)
		reader_fail(r, span, "'%s' is not an array", name);
	return array;
}

struct access read_access(struct reader *r)
{
	struct span span = r->token.span;
	struct array *array = find_array(r, reader_name(r), span);

	return array ? read_subs(r, array, span) : (struct access) { 0 };
}

static struct expr *read_element(struct reader *r, const char *name, struct span span)
{
	struct array *array = find_array(r, name, span);
	struct access access;

	if (!array)
		return nothing(r);
	access = read_subs(r, array, span);
	return expr_read(r->arena, array, access.subs, access.span);
}

/* ---- calls ---- */

static struct expr *read_cast(struct reader *r)
{
	struct expr *expr;
	enum scalar_type type;

	reader_expect(r, "<");
	type = reader_type(r);
	reader_expect(r, ">");
	reader_expect(r, "(");
	expr = expr_cast(r->arena, type, read_expr(r));
	reader_expect(r, ")");
	return expr;
}

static struct expr *read_call(struct reader *r, enum expr_op op, struct span span)
{
	struct expr **args = arena_new_array(r->arena, struct expr *, op_arity(op));

	reader_expect(r, "(");
	for (int i = 0; i < op_arity(op); i++) {
		if (i > 0)
			reader_expect(r, ",");
		args[i] = read_expr(r);
	}
	span.end = r->token.span.end;
	reader_expect(r, ")");
	return expr_call(r->arena, op, op_result_type(op, args), args, span);
}

static bool find_function(const char *name, enum expr_op *op)
{
	for (int i = 0; i < OP_N; i++)
		if (op_precedence((enum expr_op) i) == 0 && strcmp(op_names[i], name) == 0) {
			*op = (enum expr_op) i;
			return true;
		}
	return false;
}

static struct expr *read_named(struct reader *r)
{
	struct token token = r->token;
	enum expr_op op;

	reader_advance(r);
	if (!token.is_quoted && strcmp(token.text, "cast") == 0)
		return read_cast(r);
	if (!token.is_quoted && find_function(token.text, &op))
		return read_call(r, op, token.span);
	if (reader_at(r, "["))
		return read_element(r, token.text, token.span);
	return read_variable(r, token.text, token.span);
}

/* ---- operators ---- */

static struct expr *read_primary(struct reader *r)
{
	struct expr *expr;
	struct span span = r->token.span;

	if (at_number(r))
		return read_number(r, false, span);
	if (reader_at(r, "true") || reader_at(r, "false"))
		return read_bool(r);
	if (r->token.kind == TOKEN_NAME)
		return read_named(r);
	if (reader_take(r, "$"))
		return read_dim_number(r, span);
	if (!reader_take(r, "(")) {
		reader_fail(r, span, "expected an expression");
		return nothing(r);
	}
	expr = read_expr(r);
	reader_expect(r, ")");
	return expr;
}

static struct expr *apply(struct reader *r, enum expr_op op, struct expr *operand)
{
	return expr_unary(r->arena, op, op == OP_NOT ? TYPE_BOOL : operand->type, operand);
}

static struct expr *read_unary(struct reader *r)
{
	struct span span = r->token.span;

	if (reader_take(r, "not"))
		return apply(r, OP_NOT, read_binary(r, op_precedence(OP_NOT)));
	if (!reader_take(r, "-"))
		return read_primary(r);
	if (at_number(r))
		return read_number(r, true, span);
	return apply(r, OP_NEG, read_binary(r, op_precedence(OP_NEG)));
}

static bool at_binary(const struct reader *r, int least, enum expr_op *op)
{
	for (int i = 0; i < OP_N; i++) {
		*op = (enum expr_op) i;
		if (op_arity(*op) == 2 && op_precedence(*op) >= least && reader_at(r, op_names[i]))
			return true;
	}
	return false;
}

static struct expr *read_binary(struct reader *r, int least)
{
	struct expr *left;
	enum expr_op op;

	if (++r->depth > READER_MAX_DEPTH)
		reader_fail(r, r->token.span, "this expression is nested too deeply");
	left = r->failed ? nothing(r) : read_unary(r);
	while (at_binary(r, least, &op)) {
		struct expr *args[2] = { left };

		reader_advance(r);
		args[1] = read_binary(r, op_precedence(op) + 1);
		left = expr_binary(r->arena, op, op_result_type(op, args), args[0], args[1]);
	}
	r->depth--;
	return left;
}

struct expr *read_expr(struct reader *r)
{
	return read_binary(r, 1);
}
