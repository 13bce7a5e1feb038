/* SPDX-License-Identifier: MIT
 *
 * Types of values. Integers are computed in 64 bits, the narrower of two numbers is widened (integer, f32,
 * f64), a literal takes the type of the other operand, comparisons give bool, and bool is neither a number
 * nor made from one. Operations of literals are done here: INT and FLOAT nodes are literals until an
 * operation fixes their type. Storing widens, and narrows integers; what would lose a fraction or precision
 * needs a cast. */
#include "sema/sema_private.h"

#include <math.h>

bool value_is_literal(const struct expr *value)
{
	return value->kind == EXPR_INT || value->kind == EXPR_FLOAT;
}

static const char *value_type_text(const struct expr *value)
{
	if (value->kind == EXPR_INT)
		return "an integer";
	return value->kind == EXPR_FLOAT ? "a real number" : type_name(value->type);
}

struct expr *value_int(struct sema *sema, int64_t integer, struct span span)
{
	return expr_int(sema->arena, integer, span);
}

struct expr *value_bool(struct sema *sema, bool value, struct span span)
{
	struct expr *expr = arena_new(sema->arena, struct expr);

	expr->kind = EXPR_BOOL;
	expr->type = TYPE_BOOL;
	expr->span = span;
	expr->integer = value;
	return expr;
}

struct expr *value_float(struct sema *sema, double real, enum scalar_type type, struct span span)
{
	return expr_float(sema->arena, real, type, span);
}

/* ---- conversion ---- */

/* A quotient of literals that was rounded down, and is used as a float. */
static void warn_rounded(struct sema *sema, const struct expr *value)
{
	struct diag *diag;
	bool is_rounded = false;

	for (int i = 0; i < sema->rounded.n; i++)
		is_rounded |= sema->rounded.items[i] == value;
	if (!is_rounded || diag_was_reported(sema->diags, DIAG_LOSSY, value->span))
		return;
	diag = diag_warning(sema->diags, DIAG_LOSSY, value->span,
			    "this is %lld: a quotient of integers is rounded down", (long long) value->integer);
	diag_help(sema->diags, diag, (struct span) { 0 }, "a number with a point makes it one of floats, as in 1.0/2");
}

/* Rounded once. */
static double integer_as_real(int64_t value, enum scalar_type type)
{
	return type == TYPE_F32 ? (double) (float) value : (double) value;
}

/* `value`, a number, as `type`: a literal changes, or keeps its low bits; all else is cast. */
struct expr *value_as(struct sema *sema, enum scalar_type type, struct expr *value)
{
	struct expr *cast;

	if (value->kind == EXPR_INT && type_is_float(type)) {
		warn_rounded(sema, value);
		return value_float(sema, integer_as_real(value->integer, type), type, value->span);
	}
	if (value->kind == EXPR_INT && type_is_integer(type))
		return value_int(sema, type_wrap(type, value->integer), value->span);
	if (value->kind == EXPR_FLOAT && type_is_float(type))
		return value_float(sema, value->real, type, value->span);
	if (value->type == type)
		return value;
	cast = expr_cast(sema->arena, type, value);
	cast->span = value->span;
	return cast;
}

/* The type in which numbers `a` and `b` are computed. */
static enum scalar_type common_type(const struct expr *a, const struct expr *b)
{
	bool a_float = type_is_float(a->type), b_float = type_is_float(b->type);

	if (a->kind == EXPR_FLOAT && b_float)
		return b->type;
	if (b->kind == EXPR_FLOAT && a_float)
		return a->type;
	if (a->type == TYPE_F64 || b->type == TYPE_F64)
		return TYPE_F64;
	return a_float || b_float ? TYPE_F32 : TYPE_I64;
}

static void report_not_number(struct sema *sema, const struct expr *value, const char *what)
{
	struct diag *diag = diag_error(sema->diags, DIAG_TYPE_MISMATCH, value->span,
				       "%s needs a number, this is bool", what);

	diag_help(sema->diags, diag, (struct span) { 0 }, "select(condition, 1, 0) makes a number of it");
}

bool value_expect_number(struct sema *sema, const struct expr *value, const char *what)
{
	if (value->type != TYPE_BOOL)
		return true;
	report_not_number(sema, value, what);
	return false;
}

bool value_expect_bool(struct sema *sema, const struct expr *value, const char *what)
{
	struct diag *diag;

	if (value->type == TYPE_BOOL)
		return true;
	diag = diag_error(sema->diags, DIAG_TYPE_MISMATCH, value->span, "%s needs a condition, this is %s",
			  what, value_type_text(value));
	diag_help(sema->diags, diag, (struct span) { 0 }, "compare it, as in x != 0");
	return false;
}

static struct expr *report_lossy(struct sema *sema, const struct target *target, const struct expr *value)
{
	const char *type = type_name(target->array->type);
	bool is_index = target->array->facts & FACT_INDEX;
	struct diag *diag =
		diag_error(sema->diags, DIAG_LOSSY, value->span, "'%s' is %s, but this value is %s",
			   target->array->name, is_index ? "an index array" : type, value_type_text(value));

	label_declaration(sema, diag, target->symbol);
	diag_help(sema->diags, diag, (struct span) { 0 }, "write cast<%s>(...) if this is meant", type);
	return NULL;
}

static struct expr *report_bool_store(struct sema *sema, const struct target *target,
				      const struct expr *value)
{
	bool to_bool = target->array->type == TYPE_BOOL;
	struct diag *diag = diag_error(sema->diags, DIAG_TYPE_MISMATCH, value->span,
				       "'%s' is %s, but this value is %s", target->array->name,
				       type_name(target->array->type), value_type_text(value));

	label_declaration(sema, diag, target->symbol);
	diag_help(sema->diags, diag, (struct span) { 0 }, "%s",
		  to_bool ? "compare it, as in x != 0" : "select(condition, 1, 0) makes a number of it");
	return NULL;
}

struct expr *value_store(struct sema *sema, const struct target *target, struct expr *value)
{
	enum scalar_type type = target->array->type;

	if (!value)
		return NULL;
	if ((type == TYPE_BOOL) != (value->type == TYPE_BOOL))
		return report_bool_store(sema, target, value);
	if (type == TYPE_BOOL)
		return value;
	if (type_is_float(value->type) && !type_is_float(type))
		return report_lossy(sema, target, value);
	if (value->type == TYPE_F64 && type == TYPE_F32 && value->kind != EXPR_FLOAT)
		return report_lossy(sema, target, value);
	return value_as(sema, type, value);
}

/* A value whose type is settled: literals get the widest of their kind. */
enum scalar_type value_settled_type(const struct expr *value)
{
	if (value->type == TYPE_BOOL || type_is_float(value->type))
		return value->type;
	return TYPE_I64;
}

/* ---- literals ---- */

static struct expr *report_overflow(struct sema *sema, struct span span)
{
	diag_error(sema->diags, DIAG_OVERFLOW, span, "this does not fit into 64 bits");
	return NULL;
}

static int64_t floor_quotient(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

static struct expr *fold_integers(struct sema *sema, enum expr_op op, int64_t a, int64_t b, struct span span)
{
	int64_t result = 0;
	bool overflow = false;
	struct expr *value;

	if (op == OP_ADD)
		overflow = __builtin_add_overflow(a, b, &result);
	else if (op == OP_SUB)
		overflow = __builtin_sub_overflow(a, b, &result);
	else if (op == OP_MUL)
		overflow = __builtin_mul_overflow(a, b, &result);
	else if (b == -1)
		overflow = op == OP_DIV && __builtin_sub_overflow((int64_t) 0, a, &result);
	else
		result = op == OP_DIV ? floor_quotient(a, b) : a - b * floor_quotient(a, b);
	if (overflow)
		return report_overflow(sema, span);
	value = value_int(sema, result, span);
	if (op == OP_DIV && a != result * b)
		vec_push(sema->arena, &sema->rounded, value);
	return value;
}

static struct expr *fold_reals(struct sema *sema, enum expr_op op, double a, double b, struct span span)
{
	double result = op == OP_ADD ? a + b : op == OP_SUB ? a - b : op == OP_MUL ? a * b : a / b;

	return value_float(sema, result, TYPE_F64, span);
}

static double literal_real(const struct expr *value)
{
	return value->kind == EXPR_INT ? (double) value->integer : value->real;
}

static struct expr *fold_literals(struct sema *sema, enum expr_op op, struct expr *a, struct expr *b,
				  struct span span)
{
	if (a->kind == EXPR_INT && b->kind == EXPR_INT)
		return fold_integers(sema, op, a->integer, b->integer, span);
	warn_rounded(sema, a);
	warn_rounded(sema, b);
	return fold_reals(sema, op, literal_real(a), literal_real(b), span);
}

/* ---- operators ---- */

static struct expr *with_span(struct expr *expr, struct span span)
{
	expr->span = span;
	return expr;
}

static bool check_divisor(struct sema *sema, enum expr_op op, enum scalar_type type, const struct expr *b)
{
	if (op == OP_MOD && type_is_float(type)) {
		struct diag *diag = diag_error(sema->diags, DIAG_TYPE_MISMATCH, b->span, "'%%' is for integers");

		diag_help(sema->diags, diag, (struct span) { 0 }, "of floats it is x - floor(x/y)*y");
		return false;
	}
	if ((op == OP_DIV || op == OP_MOD) && type == TYPE_I64 && b->kind == EXPR_INT && b->integer == 0) {
		diag_error(sema->diags, DIAG_DIVISION_BY_ZERO, b->span, "division by zero");
		return false;
	}
	return true;
}

static const char *op_text(enum expr_op op)
{
	static const char *const texts[OP_N] = {
#define OP(id, text, c_text, arity, precedence) [OP_##id] = "'" text "'",
#include "ir/core/ops.def"
#undef OP
	};
	return texts[op];
}

static struct expr *value_arithmetic(struct sema *sema, enum expr_op op, struct expr *a, struct expr *b,
				     struct span span)
{
	enum scalar_type type;

	if (!value_expect_number(sema, a, op_text(op)) || !value_expect_number(sema, b, op_text(op)))
		return NULL;
	type = common_type(a, b);
	if (!check_divisor(sema, op, type, b))
		return NULL;
	if (value_is_literal(a) && value_is_literal(b))
		return fold_literals(sema, op, a, b, span);
	a = value_as(sema, type, a);
	return with_span(expr_binary(sema->arena, op, type, a, value_as(sema, type, b)), span);
}

static struct expr *value_comparison(struct sema *sema, enum expr_op op, struct expr *a, struct expr *b,
				     struct span span)
{
	enum scalar_type type;

	if ((op == OP_EQ || op == OP_NE) && a->type == TYPE_BOOL && b->type == TYPE_BOOL)
		return with_span(expr_binary(sema->arena, op, TYPE_BOOL, a, b), span);
	if (!value_expect_number(sema, a, op_text(op)) || !value_expect_number(sema, b, op_text(op)))
		return NULL;
	type = common_type(a, b);
	a = value_as(sema, type, a);
	return with_span(expr_binary(sema->arena, op, TYPE_BOOL, a, value_as(sema, type, b)), span);
}

static struct expr *value_logic(struct sema *sema, enum expr_op op, struct expr *a, struct expr *b,
				struct span span)
{
	if (!value_expect_bool(sema, a, op_text(op)) || !value_expect_bool(sema, b, op_text(op)))
		return NULL;
	return with_span(expr_binary(sema->arena, op, TYPE_BOOL, a, b), span);
}

struct expr *value_binary(struct sema *sema, enum expr_op op, struct expr *a, struct expr *b,
			  struct span span)
{
	if (!a || !b)
		return NULL;
	if (op == OP_AND || op == OP_OR)
		return value_logic(sema, op, a, b, span);
	if (op >= OP_EQ && op <= OP_GE)
		return value_comparison(sema, op, a, b, span);
	return value_arithmetic(sema, op, a, b, span);
}

static struct expr *value_negate(struct sema *sema, struct expr *a, struct span span)
{
	if (!value_expect_number(sema, a, "'-'"))
		return NULL;
	if (a->kind == EXPR_INT)
		return fold_integers(sema, OP_SUB, 0, a->integer, span);
	if (a->kind == EXPR_FLOAT)
		return value_float(sema, -a->real, a->type, span);
	a = value_as(sema, value_settled_type(a), a);
	return with_span(expr_unary(sema->arena, OP_NEG, a->type, a), span);
}

struct expr *value_unary(struct sema *sema, enum expr_op op, struct expr *a, struct span span)
{
	if (!a)
		return NULL;
	if (op == OP_NEG)
		return value_negate(sema, a, span);
	if (!value_expect_bool(sema, a, "'not'"))
		return NULL;
	return with_span(expr_unary(sema->arena, OP_NOT, TYPE_BOOL, a), span);
}

struct expr *value_cast(struct sema *sema, enum scalar_type type, struct expr *a, struct span span)
{
	if (!a)
		return NULL;
	if (type == TYPE_BOOL && !value_expect_bool(sema, a, "cast<bool>"))
		return NULL;
	if (type != TYPE_BOOL && !value_expect_number(sema, a, "cast"))
		return NULL;
	/* Of what is cast to it, the type stays, also beside operands of others. */
	return with_span((a->kind == EXPR_FLOAT ? expr_cast : expr_as)(sema->arena, type, a), span);
}

/* ---- functions ---- */

/* NaN, if one of them is. */
static struct expr *fold_min_max(enum expr_op op, struct expr *a, struct expr *b)
{
	bool a_is_less = a->kind == EXPR_INT ? a->integer < b->integer : a->real < b->real;
	bool b_is_less = a->kind == EXPR_INT ? b->integer < a->integer : b->real < a->real;

	if (a->kind == EXPR_FLOAT && isnan(a->real))
		return a;
	return (op == OP_MIN ? a_is_less : b_is_less) ? a : b;
}

struct expr *value_min_max(struct sema *sema, enum expr_op op, struct expr *a, struct expr *b,
			   struct span span)
{
	enum scalar_type type;

	if (!value_expect_number(sema, a, op_text(op)) || !value_expect_number(sema, b, op_text(op)))
		return NULL;
	type = common_type(a, b);
	if (value_is_literal(a) && value_is_literal(b))
		return fold_min_max(op, value_as(sema, type, a), value_as(sema, type, b));
	a = value_as(sema, type, a);
	return with_span(expr_binary(sema->arena, op, type, a, value_as(sema, type, b)), span);
}

struct expr *value_select(struct sema *sema, struct expr *condition, struct expr *a, struct expr *b,
			  struct span span)
{
	struct expr **args = arena_new_array(sema->arena, struct expr *, 3);
	enum scalar_type type = TYPE_BOOL;

	if (!value_expect_bool(sema, condition, "'select'"))
		return NULL;
	if (a->type == TYPE_BOOL && b->type != TYPE_BOOL && !value_expect_bool(sema, b, "'select' of a bool"))
		return NULL;
	if (a->type != TYPE_BOOL) {
		if (!value_expect_number(sema, b, "'select' of a number"))
			return NULL;
		type = common_type(a, b);
		a = value_as(sema, type, a);
		b = value_as(sema, type, b);
	}
	args[0] = condition;
	args[1] = a;
	args[2] = b;
	return expr_call(sema->arena, OP_SELECT, type, args, span);
}

static double fold_real_function(enum expr_op op, double a, double b)
{
	if (op == OP_POW)
		return pow(a, b);
	if (op == OP_EXP)
		return exp(a);
	if (op == OP_LOG)
		return log(a);
	if (op == OP_SQRT)
		return sqrt(a);
	if (op == OP_SIN)
		return sin(a);
	if (op == OP_COS)
		return cos(a);
	if (op == OP_TANH)
		return tanh(a);
	return a == 0 ? 1 : a / expm1(a);
}

/* exp, pow and the like: computed in the floating type of the arguments, f64 for integers. */
struct expr *value_real_function(struct sema *sema, enum expr_op op, struct expr **args, int n,
				 struct span span)
{
	enum scalar_type type;

	for (int i = 0; i < n; i++)
		if (!value_expect_number(sema, args[i], op_text(op)))
			return NULL;
	if (value_is_literal(args[0]) && value_is_literal(args[n - 1]))
		return value_float(sema,
				   fold_real_function(op, literal_real(args[0]), literal_real(args[n - 1])),
				   TYPE_F64, span);
	type = n == 1 ? value_settled_type(args[0]) : common_type(args[0], args[1]);
	if (!type_is_float(type))
		type = TYPE_F64;
	for (int i = 0; i < n; i++)
		args[i] = value_as(sema, type, args[i]);
	return expr_call(sema->arena, op, type, args, span);
}

/* abs and floor keep integers. */
struct expr *value_number_function(struct sema *sema, enum expr_op op, struct expr *a, struct span span)
{
	enum scalar_type type;

	if (!value_expect_number(sema, a, op_text(op)))
		return NULL;
	type = value_settled_type(a);
	if (op == OP_FLOOR && type_is_integer(type))
		return a;
	if (a->kind == EXPR_FLOAT)
		return value_float(sema, op == OP_FLOOR ? floor(a->real) : fabs(a->real), TYPE_F64, span);
	return with_span(expr_unary(sema->arena, op, type, value_as(sema, type, a)), span);
}

/* ---- reductions ---- */

struct expr *value_identity(struct sema *sema, enum reduce_op op, enum scalar_type type, struct span span)
{
	bool is_extreme = op == REDUCE_MIN || op == REDUCE_MAX;
	int64_t lo, hi;

	if (type == TYPE_BOOL)
		return value_bool(sema, false, span);
	if (type_is_float(type) && is_extreme)
		return value_float(sema, op == REDUCE_MIN ? INFINITY : -INFINITY, type, span);
	type_limits(type, &lo, &hi);
	if (is_extreme)
		return value_int(sema, op == REDUCE_MIN ? hi : lo, span);
	return value_as(sema, type, value_int(sema, op == REDUCE_MUL, span));
}
