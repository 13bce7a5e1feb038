/* SPDX-License-Identifier: MIT
 *
 * Expressions of the module to C text with the fewest parentheses that C and its compilers want. Dims are replaced
 * by the arguments of an instance. Integer sums, which is what subscripts are, pass through affine.c; everything
 * else is printed as it was written, operand by operand, in the types of the module. */
#include <string.h>

#include "codegen/codegen_private.h"
#include "codegen/streams.h"

/* ---- integers as sums ---- */

struct affine affine_of_dim(struct emit *e, const struct point *point, int dim)
{
	return affine_of_ast(e, isl_ast_expr_op_get_arg(point->instance, dim + 1), 1, 0);
}

static struct affine affine_of_other(struct emit *e, const struct point *point, const struct expr *expr)
{
	return affine_name(e->arena, text_at_least(e->arena, c_expr(e, point, expr), LEVEL_PRIMARY));
}

static struct affine affine_of_product(struct emit *e, const struct point *point, const struct expr *expr)
{
	struct affine a = affine_of_expr(e, point, expr->args[0]), b = affine_of_expr(e, point, expr->args[1]);
	int64_t value;

	if (affine_is_constant(&a, &value))
		return affine_scale(e->arena, &b, value, 0);
	if (affine_is_constant(&b, &value))
		return affine_scale(e->arena, &a, value, 0);
	return affine_name(e->arena, arena_printf(e->arena, "(%s*%s)",
						  text_at_least(e->arena, affine_print(e->arena, &a), LEVEL_PRODUCT),
						  text_at_least(e->arena, affine_print(e->arena, &b), LEVEL_UNARY)));
}

static struct affine affine_of_function(struct emit *e, const struct point *point, const struct expr *expr)
{
	static const char *const functions[OP_N] = {
		[OP_DIV] = "pmg_div", [OP_MOD] = "pmg_mod", [OP_MIN] = "pmg_min_i64", [OP_MAX] = "pmg_max_i64"
	};
	struct affine a = affine_of_expr(e, point, expr->args[0]), b = affine_of_expr(e, point, expr->args[1]);

	return affine_name(e->arena, arena_printf(e->arena, "%s(%s, %s)", functions[expr->op],
						  affine_plain(e->arena, &a), affine_plain(e->arena, &b)));
}

static struct affine affine_of_op(struct emit *e, const struct point *point, const struct expr *expr)
{
	struct affine a, b;

	if (expr->op == OP_MUL)
		return affine_of_product(e, point, expr);
	if (expr->op == OP_DIV || expr->op == OP_MOD || expr->op == OP_MIN || expr->op == OP_MAX)
		return affine_of_function(e, point, expr);
	if (expr->op != OP_ADD && expr->op != OP_SUB && expr->op != OP_NEG)
		return affine_of_other(e, point, expr);
	a = affine_of_expr(e, point, expr->args[0]);
	if (expr->op == OP_NEG)
		return affine_scale(e->arena, &a, -1, 0);
	b = affine_of_expr(e, point, expr->args[1]);
	return affine_combine(e->arena, 1, &a, expr->op == OP_SUB ? -1 : 1, &b);
}

struct affine affine_of_expr(struct emit *e, const struct point *point, const struct expr *expr)
{
	if (expr->kind == EXPR_INT)
		return affine_constant(expr->integer);
	if (expr->kind == EXPR_DIM)
		return affine_of_dim(e, point, expr->index);
	if (expr->kind == EXPR_OP && expr->type == TYPE_I64)
		return affine_of_op(e, point, expr);
	if (expr->kind == EXPR_PARAM)
		return affine_name(e->arena, e->layout->params[expr->index]);
	return affine_of_other(e, point, expr);
}

/* ---- reads ---- */

struct affine affine_of_range(struct emit *e, const struct array *array, int d)
{
	struct affine lo = affine_of_expr(e, NULL, array->lo[d]), hi = affine_of_expr(e, NULL, array->hi[d]);

	return affine_combine(e->arena, 1, &hi, -1, &lo);
}

/* Of a window, so many. */
static struct affine stored_range(struct emit *e, const struct array *array, int d)
{
	return array->window && array->windowed == d ? affine_constant(array->window) : affine_of_range(e, array, d);
}

/* The place of a subscript, counted from the first, in the window of its array; it is not negative. */
static struct affine place_in_window(struct emit *e, const struct array *array, const struct affine *sub)
{
	if (array->window == 1)
		return affine_constant(0);
	return affine_name(e->arena, arena_printf(e->arena, "(%s %% %s)",
						  text_at_least(e->arena, affine_print(e->arena, sub), LEVEL_PRODUCT),
						  int_text(e->arena, array->window)));
}

/* A block of segments has a row before the first and one behind the last; the plan adds the longest segment. */
enum { ROWS_AROUND = 2 };

/* Elements that are left free behind the part of a thread: a page, since processors ask ahead for lines up to its end,
 * also for those that another thread writes, which may be far away. Parts with several rows have only a line of cache
 * behind each, not to grow by a page with each. */
static int64_t gap_behind(const struct array *array)
{
	enum { LINE = 64, PAGE = 4096 };
	const int size = type_size(array->type);

	if (!array->is_per_thread)
		return 0;
	return array_n_stored(array) > 1 ? LINE/size : PAGE/size/(array->lanes ? array->lanes : 1);
}

struct affine part_extent(struct emit *e, const struct array *array, int d)
{
	const int64_t gap = gap_behind(array);
	bool is_last = d == array_n_stored(array) - 1;
	struct affine extent;

	if (d == array_n_stored(array))
		return affine_constant(array->lanes*(1 + (d ? 0 : gap)));
	for (int i = 0; i <= d; i++)
		d += (array->folded >> i & 1U) != 0;
	extent = array->role == ROLE_BLOCK && array->segments && !array->window ? affine_constant(ROWS_AROUND)
										 : stored_range(e, array, d);
	return affine_scale(e->arena, &extent, 1, is_last ? gap : 0);
}

struct affine affine_multiply(struct emit *e, const struct affine *a, const struct affine *b)
{
	int64_t value;

	if (affine_is_constant(a, &value))
		return affine_scale(e->arena, b, value, 0);
	if (affine_is_constant(b, &value))
		return affine_scale(e->arena, a, value, 0);
	return affine_name(e->arena, arena_printf(e->arena, "%s*%s",
		text_at_least(e->arena, affine_print(e->arena, a), LEVEL_PRODUCT),
		text_at_least(e->arena, affine_print(e->arena, b), LEVEL_UNARY)));
}

const char *c_offset(struct emit *e, const char *name, const struct affine *index)
{
	struct affine base = affine_name(e->arena, name), sum = affine_combine(e->arena, 1, &base, 1, index);

	return affine_plain(e->arena, &sum);
}

/* Is the first subscript a variable that holds the offset of a row (passes/premultiply.c)? */
static bool begins_with_row(const struct point *point, const struct access *access)
{
	const struct dim *dim = access->array->rank > 1 && access->subs[0]->kind == EXPR_DIM
			      ? &point->stage->dims.items[access->subs[0]->index] : NULL;

	return dim && dim->kind == DIM_BIND && dim->source.array->row_of;
}

/* ((i0*n1 + i1)*n2 + i2), each less the first subscript; what stands for a block has its lanes behind. */
static struct affine index_of(struct emit *e, const struct point *point, const struct access *access, bool is_inside)
{
	const struct array *array = block_array(e, access->array);
	struct affine index = affine_constant(0), row = affine_constant(0), lane, begin;
	bool has_row = begins_with_row(point, access);

	if (has_row)
		row = affine_of_expr(e, point, access->subs[0]);
	if (has_row && array != access->array)
		emit_fail(e, "rows of '%s' are kept in blocks", access->array->name);
	for (int d = has_row; d < array->rank; d++) {
		struct affine lo = affine_of_expr(e, NULL, array->lo[d]), extent = stored_range(e, array, d);
		struct affine sub = affine_of_expr(e, point, access->subs[d]);

		if (array->folded & 1U << d)
			continue;
		index = affine_multiply(e, &index, &extent);
		sub = affine_combine(e->arena, 1, &sub, -1, &lo);
		if (array->window && array->windowed == d)
			sub = place_in_window(e, array, &sub);
		if (array->role == ROLE_BLOCK && array->segments) {
			begin = affine_name(e->arena, e->ragged->begin);
			sub = affine_combine(e->arena, 1, &sub, -1, &begin);
			sub = is_inside ? row_inside(e, array, &sub) : sub;
		}
		index = affine_combine(e->arena, 1, &index, 1, &sub);
	}
	index = affine_combine(e->arena, 1, &row, 1, &index);
	if (!array->lanes)
		return index;
	index = affine_scale(e->arena, &index, array->lanes, 0);
	lane = affine_name(e->arena, e->lane);
	return affine_combine(e->arena, 1, &index, 1, &lane);
}

struct affine c_index(struct emit *e, const struct point *point, const struct access *access)
{
	return index_of(e, point, access, false);
}

static const char *local_name(struct emit *e, const struct array *array)
{
	const struct cell *cell = cell_find(e->locals.items, e->locals.n, array);

	if (cell)
		return cell->has_lanes ? lane_of(e, cell->name) : cell->name;
	emit_fail(e, "'%s' is used outside its group", array->name);
	return array->c_name;
}

static const char *narrow_read(struct emit *e, const struct array *array, const struct affine *index)
{
	struct affine limit = affine_of_expr(e, NULL, array->limit);

	for (int d = 1; array->row_of && d < array->row_of->rank; d++) {
		struct affine extent = affine_of_range(e, array->row_of, d);

		limit = affine_multiply(e, &limit, &extent);
	}
	return arena_printf(e->arena, "pmg_index_at(%s, %s, %s)", array->c_name, affine_plain(e->arena, &limit),
			    affine_plain(e->arena, index));
}

const char *c_access(struct emit *e, const struct point *point, const struct access *access)
{
	const char *row = rows_access(e, point, access);
	struct affine index;

	if (array_is_local(access->array))
		return local_name(e, access->array);
	if (row)
		return row;
	index = index_of(e, point, access, true);
	if (access->array->storage == STORAGE_NARROW)
		return narrow_read(e, access->array, &index);
	return arena_printf(e->arena, "%s[%s]", block_array(e, access->array)->c_name,
			    affine_plain(e->arena, &index));
}

/* ---- operators ---- */

static const struct op_row {
	const char *text;
	int arity;
	enum level level;               /* of the C operator; PRIMARY: a call */
} op_rows[OP_N] = {
#define OP(id, text, c_text, arity, precedence) [OP_##id] = { c_text, arity, LEVEL_PRIMARY },
#include "ir/ops.def"
#undef OP
};

static enum level op_level(enum expr_op op)
{
	static const enum level levels[OP_N] = {
		[OP_OR] = LEVEL_OR, [OP_AND] = LEVEL_AND, [OP_NOT] = LEVEL_UNARY, [OP_EQ] = LEVEL_EQUAL,
		[OP_NE] = LEVEL_EQUAL, [OP_LT] = LEVEL_COMPARE, [OP_LE] = LEVEL_COMPARE, [OP_GT] = LEVEL_COMPARE,
		[OP_GE] = LEVEL_COMPARE, [OP_ADD] = LEVEL_SUM, [OP_SUB] = LEVEL_SUM, [OP_MUL] = LEVEL_PRODUCT,
		[OP_DIV] = LEVEL_PRODUCT, [OP_NEG] = LEVEL_UNARY
	};

	return levels[op];
}

static struct text call_2(struct emit *e, const char *function, struct text a, struct text b)
{
	return (struct text) { arena_printf(e->arena, "%s(%s, %s)", function, a.text, b.text), LEVEL_PRIMARY };
}

/* Comparisons and connectives do not stand bare in one another, where compilers suspect a mistake. */
static enum level least_level(enum expr_op op, int operand)
{
	enum level own = op_level(op);

	if (own == LEVEL_OR)
		return LEVEL_EQUAL;
	if (own == LEVEL_EQUAL)
		return LEVEL_SUM;
	return operand ? (enum level) (own + 1) : own;
}

static bool is_connective_of(const struct expr *expr, enum expr_op op)
{
	return expr->kind == EXPR_OP && expr->op == op && (op == OP_AND || op == OP_OR);
}

static struct text infix(struct emit *e, const struct expr *expr, struct text a, struct text b)
{
	const char *blank = op_level(expr->op) == LEVEL_PRODUCT ? "" : " ";
	enum level left = least_level(expr->op, 0);

	if (is_connective_of(expr->args[0], expr->op))
		left = op_level(expr->op);
	if (op_is_comparison(expr->op) && *a.text == '!')
		left = LEVEL_PRIMARY;
	return (struct text) { arena_printf(e->arena, "%s%s%s%s%s", text_at_least(e->arena, a, left), blank,
					    op_rows[expr->op].text, blank,
					    text_at_least(e->arena, b, least_level(expr->op, 1))),
			       op_level(expr->op) };
}

/* Of a product of floats, -a*b is the same as -(a*b). */
static struct text negation(struct emit *e, struct text a, enum scalar_type type)
{
	enum level level = type_is_float(type) && a.level == LEVEL_PRODUCT ? LEVEL_PRODUCT : LEVEL_UNARY;
	const char *operand = text_at_least(e->arena, a, *a.text == '-' ? LEVEL_PRIMARY : level);
	struct text text = { arena_printf(e->arena, "-%s", operand), level };

	if (type == TYPE_I32)
		text.text = arena_printf(e->arena, "-(int64_t) %s", text_at_least(e->arena, a, LEVEL_UNARY));
	return c_narrow(e->arena, type, text);
}

static struct text absolute(struct emit *e, struct text a, enum scalar_type type)
{
	const char *function = arena_printf(e->arena, "pmg_max_%s", type_name(type));

	if (type_is_float(type))
		return (struct text) { arena_printf(e->arena, "%s(%s)", type == TYPE_F32 ? "fabsf" : "fabs", a.text),
				       LEVEL_PRIMARY };
	return type_is_signed(type) ? call_2(e, function, a, negation(e, a, type)) : a;
}

static struct text selection(struct emit *e, const struct expr *expr, const struct text *args)
{
	struct text text = { arena_printf(e->arena, "%s ? %s : %s", text_at_least(e->arena, args[0], LEVEL_OR),
					  text_at_least(e->arena, args[1], LEVEL_OR),
					  text_at_least(e->arena, args[2], LEVEL_SELECT)), LEVEL_SELECT };

	return c_narrow(e->arena, expr->type, text);
}

static bool is_extreme(const struct expr *expr)
{
	return expr->kind == EXPR_OP && (expr->op == OP_MIN || expr->op == OP_MAX);
}

/* Does the second operand of a minimum or maximum go first? pmgrt_math.h wants those last that are such, and needs no
 * test of a literal. */
static bool are_swapped(const struct expr *expr)
{
	const struct expr *a = expr->args[0], *b = expr->args[1];

	return is_extreme(expr) && type_is_float(expr->type) && !is_extreme(b) && a->kind != EXPR_FLOAT &&
	       (is_extreme(a) || b->kind == EXPR_FLOAT);
}

static struct text function_call(struct emit *e, const struct expr *expr, const struct text *args)
{
	const char *name = op_rows[expr->op].text, *type = type_name(expr->type);

	if (!strncmp(name, "pmg_", 4))
		name = arena_printf(e->arena, "%s_%s", name, type);
	else if (expr->type == TYPE_F32)
		name = arena_printf(e->arena, "%sf", name);
	if (op_rows[expr->op].arity == 2)
		return call_2(e, name, args[are_swapped(expr)], args[!are_swapped(expr)]);
	return (struct text) { arena_printf(e->arena, "%s(%s)", name, args[0].text), LEVEL_PRIMARY };
}

/* Integer `/` and `%`, which floor. */
static struct text quotient(struct emit *e, const struct expr *expr, const struct text *args)
{
	struct text call = call_2(e, expr->op == OP_DIV ? "pmg_div" : "pmg_mod", args[0], args[1]);

	return expr->type == TYPE_I64 ? call : (struct text) {
		arena_printf(e->arena, "(%s) %s", type_c_name(expr->type), call.text), LEVEL_UNARY };
}

/* a op v for all a of the type; -1: it depends on a. */
static int settled_by_type(enum expr_op op, enum scalar_type type, int64_t v)
{
	int64_t lo, hi;

	type_limits(type, &lo, &hi);
	if (op == OP_EQ || op == OP_NE)
		return v < lo || v > hi ? op == OP_NE : -1;
	if (op == OP_LT || op == OP_GE)
		return v <= lo ? op == OP_GE : v > hi ? op == OP_LT : -1;
	return v >= hi ? op == OP_LE : v < lo ? op == OP_GT : -1;
}

/* What a chain of conversions to wider integers began with. */
static const struct expr *before_widening(const struct expr *expr)
{
	int64_t lo, hi, from_lo, from_hi;

	while (expr->kind == EXPR_CAST && type_is_integer(expr->args[0]->type)) {
		type_limits(expr->type, &lo, &hi);
		type_limits(expr->args[0]->type, &from_lo, &from_hi);
		if (from_lo < lo || from_hi > hi)
			break;
		expr = expr->args[0];
	}
	return expr;
}

/* a op b where the two, at this point, are the same but for a number; -1: they are not. */
static int settled_by_difference(struct emit *e, const struct point *point, const struct expr *expr)
{
	struct affine a, b, difference;
	int64_t by;

	if (!expr_is_affine(expr->args[0]) || !expr_is_affine(expr->args[1]))
		return -1;
	a = affine_of_expr(e, point, expr->args[0]);
	b = affine_of_expr(e, point, expr->args[1]);
	difference = affine_combine(e->arena, 1, &a, -1, &b);
	if (!affine_is_constant(&difference, &by))
		return -1;
	if (expr->op == OP_EQ || expr->op == OP_NE)
		return (by == 0) == (expr->op == OP_EQ);
	if (by == 0)
		return expr->op == OP_LE || expr->op == OP_GE;
	return (by < 0) == (expr->op == OP_LT || expr->op == OP_LE);
}

/* A number, or one that is cast. */
static bool is_number(const struct expr *expr, int64_t *value)
{
	const struct expr *number = expr->kind == EXPR_CAST && type_is_integer(expr->type) ? expr->args[0] : expr;

	if (!expr_is_constant(number, value))
		return false;
	*value = type_wrap(expr->type, *value);
	return true;
}

/* Comparisons of integers that compilers complain about, as they always give the same; -1: it is open. */
static int settled(struct emit *e, const struct point *point, const struct expr *expr)
{
	static const enum expr_op mirrored[OP_N] = {
		[OP_LT] = OP_GT, [OP_GT] = OP_LT, [OP_LE] = OP_GE, [OP_GE] = OP_LE, [OP_EQ] = OP_EQ, [OP_NE] = OP_NE
	};
	const struct expr *a, *b;
	const enum scalar_type type = op_is_comparison(expr->op) ? expr->args[0]->type : TYPE_F64;
	int64_t number;
	int value = -1;

	if (!type_is_integer(type) && type != TYPE_BOOL)
		return -1;
	a = before_widening(expr->args[0]);
	b = before_widening(expr->args[1]);
	if (expr_equal(a, b))
		return expr->op == OP_EQ || expr->op == OP_LE || expr->op == OP_GE;
	if (type == TYPE_BOOL)
		return -1;
	if (is_number(b, &number))
		value = settled_by_type(expr->op, a->type, number);
	else if (is_number(a, &number))
		value = settled_by_type(mirrored[expr->op], b->type, number);
	return value >= 0 ? value : settled_by_difference(e, point, expr);
}

/* Is it an int in C, of 32 bits: a literal, or a choice of such? */
static bool is_int_in_c(const struct expr *expr)
{
	if (expr->kind == EXPR_INT)
		return expr->integer <= INT32_MAX && expr->integer >= -INT32_MAX;
	if (expr->kind == EXPR_OP && expr->op == OP_NEG)
		return is_int_in_c(expr->args[0]);
	return expr->kind == EXPR_OP && (expr->op == OP_SELECT || expr->op == OP_CHOOSE) &&
	       is_int_in_c(expr->args[1]) && is_int_in_c(expr->args[2]);
}

/* A sum or product, in 64 bits if it is one of integers. */
static struct text arithmetic(struct emit *e, const struct expr *expr, const struct text *args)
{
	struct text first = args[0];

	if (expr->type == TYPE_I64 && is_int_in_c(expr->args[0]) && is_int_in_c(expr->args[1]))
		first = c_cast(e->arena, TYPE_I64, TYPE_I32, first);
	return c_narrow(e->arena, expr->type, infix(e, expr, first, args[1]));
}

static struct text operation(struct emit *e, const struct expr *expr, const struct text *args)
{
	switch (expr->op) {
	case OP_OR: case OP_AND: case OP_EQ: case OP_NE: case OP_LT: case OP_LE: case OP_GT: case OP_GE:
		return infix(e, expr, args[0], args[1]);
	case OP_NOT:
		return (struct text) { arena_printf(e->arena, "!%s", text_at_least(e->arena, args[0], LEVEL_UNARY)),
				       LEVEL_UNARY };
	case OP_DIV:
		if (lane_is_reciprocal(e, expr))
			return (struct text) { arena_printf(e->arena, "PMG_RECIPROCAL_%s(%s)", row_suffix(expr->type),
							    args[1].text), LEVEL_PRIMARY };
		if (type_is_float(expr->type))
			return infix(e, expr, args[0], args[1]);
		return quotient(e, expr, args);
	case OP_MOD:
		return quotient(e, expr, args);
	case OP_ADD: case OP_SUB: case OP_MUL:
		return arithmetic(e, expr, args);
	case OP_NEG:
		return negation(e, args[0], expr->type);
	case OP_ABS:
		return absolute(e, args[0], expr->type);
	case OP_SELECT: case OP_CHOOSE:
		return selection(e, expr, args);
	case OP_MIN: case OP_MAX: case OP_POW: case OP_EXP: case OP_LOG: case OP_SQRT: case OP_SIN: case OP_COS:
	case OP_TANH: case OP_FLOOR: case OP_EXPRELR: case OP_UNIT_SCALE: case OP_PIVOT: case OP_N:
		break;
	}
	return function_call(e, expr, args);
}

static struct text c_operation(struct emit *e, const struct point *point, const struct expr *expr)
{
	struct text args[3] = { { NULL, LEVEL_PRIMARY } };
	struct affine sum;
	int value = settled(e, point, expr);
	bool is_chosen = e->is_chosen;

	if (expr->op == OP_PIVOT)
		return e->pivot ? (struct text) { e->pivot, LEVEL_PRIMARY } : c_expr(e, point, expr->args[0]);
	if (value >= 0)
		return (struct text) { value ? "true" : "false", LEVEL_PRIMARY };
	if (expr_is_choice(expr) && (value = settled(e, point, expr->args[0])) >= 0)
		return c_expr(e, point, expr->args[value ? 1 : 2]);
	if (expr_is_affine(expr)) {
		sum = affine_of_expr(e, point, expr);
		return affine_print(e->arena, &sum);
	}
	for (int i = 0; i < op_rows[expr->op].arity; i++) {
		e->is_chosen = is_chosen || (expr->op == OP_CHOOSE && i);
		args[i] = c_expr(e, point, expr->args[i]);
	}
	e->is_chosen = is_chosen;
	return operation(e, expr, args);
}

static struct text conversion(struct emit *e, const struct point *point, const struct expr *expr)
{
	struct expr literal = { .kind = EXPR_INT, .type = expr->type };

	if (!expr_is_constant(expr->args[0], &literal.integer) || expr->type == TYPE_BOOL)
		return c_cast(e->arena, expr->type, expr->args[0]->type, c_expr(e, point, expr->args[0]));
	if (!type_is_float(expr->type))
		literal.integer = type_wrap(expr->type, literal.integer);
	return c_literal(e->arena, &literal);
}

/* What is read, in the type of the array. */
static struct text c_value(struct emit *e, const struct point *point, const struct access *access, const char *text)
{
	const char *above = kin_read(e, point, access), *lane = above ? above : lane_read(e, point, access, text);

	if (lane)
		return (struct text) { lane, LEVEL_PRIMARY };
	if (row_is_along(e, access))
		return (struct text) { row_read(e, access, text), LEVEL_PRIMARY };
	if (access->array->storage == STORAGE_F32)
		return (struct text) { arena_printf(e->arena, "(double) %s", text), LEVEL_UNARY };
	if (access->array->storage == STORAGE_F64TOP)
		return (struct text) { arena_printf(e->arena, "pmg_f64_of_top(%s)", text), LEVEL_PRIMARY };
	return (struct text) { text, LEVEL_PRIMARY };
}

/* A double beside vectors of floats: what does not lie along their row. */
static bool is_beside_floats(const struct emit *e, const struct expr *expr)
{
	return e->vector && e->vector->stage->write.array->sums == TYPE_F32 && expr->type == TYPE_F64 &&
	       !expr_uses_dim(expr, e->vector->dim);
}

static struct text narrowed(struct emit *e, const struct point *point, const struct expr *expr)
{
	const struct row *vector = e->vector;
	struct text text;

	e->vector = NULL;
	text = c_cast(e->arena, TYPE_F32, TYPE_F64, c_expr(e, point, expr));
	e->vector = vector;
	return text;
}

struct text c_expr(struct emit *e, const struct point *point, const struct expr *expr)
{
	struct affine sum;

	if (is_beside_floats(e, expr))
		return narrowed(e, point, expr);
	switch (expr->kind) {
	case EXPR_INT:
	case EXPR_FLOAT:
	case EXPR_BOOL:
		return c_literal(e->arena, expr);
	case EXPR_PARAM:
		return (struct text) { e->layout->params[expr->index], LEVEL_PRIMARY };
	case EXPR_DIM:
		sum = affine_of_dim(e, point, expr->index);
		return affine_print(e->arena, &sum);
	case EXPR_READ:
		return c_value(e, point, &expr->access, deal_read(e, &expr->access, c_access(e, point, &expr->access)));
	case EXPR_CAST:
		return conversion(e, point, expr);
	case EXPR_OP:
		return c_operation(e, point, expr);
	case EXPR_N:
		break;
	}
	return (struct text) { "0", LEVEL_PRIMARY };
}
