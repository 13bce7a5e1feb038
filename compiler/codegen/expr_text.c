/* SPDX-License-Identifier: MIT
 *
 * Expressions of the module as those of the kernel tree. Dims are replaced by the arguments of an instance. Integer
 * sums, which is what subscripts are, pass through affine.c; everything else stays as it was written, operand by
 * operand, in the types of the module. */
#include <string.h>

#include "codegen/codegen_private.h"
#include "codegen/extremes.h"

/* ---- integers as sums ---- */

struct affine affine_of_dim(struct emit *e, const struct point *point, int dim)
{
	return affine_of_ast(e, isl_ast_expr_op_get_arg(point->instance, dim + 1), 1, 0);
}

static struct affine affine_of_other(struct emit *e, const struct point *point, const struct expr *expr)
{
	return affine_atom(e->arena, c_expr(e, point, expr));
}

static struct affine affine_of_product(struct emit *e, const struct point *point, const struct expr *expr)
{
	struct affine a = affine_of_expr(e, point, expr->args[0]), b = affine_of_expr(e, point, expr->args[1]);
	int64_t value;

	if (affine_is_constant(&a, &value))
		return affine_scale(e->arena, &b, value, 0);
	if (affine_is_constant(&b, &value))
		return affine_scale(e->arena, &a, value, 0);
	return affine_atom(e->arena, k_binary(e->arena, K_MUL, affine_expr(e->arena, &a), affine_expr(e->arena, &b)));
}

static struct affine affine_of_function(struct emit *e, const struct point *point, const struct expr *expr)
{
	static const char *const functions[OP_N] = {
		[OP_DIV] = "pmg_div", [OP_MOD] = "pmg_mod", [OP_MIN] = "pmg_min_i64", [OP_MAX] = "pmg_max_i64"
	};
	struct affine a = affine_of_expr(e, point, expr->args[0]), b = affine_of_expr(e, point, expr->args[1]);

	return affine_atom(e->arena, k_call(e->arena, functions[expr->op], 2, affine_expr(e->arena, &a),
					    affine_expr(e->arena, &b)));
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
	const struct stored *stored = &array->stored;

	return stored->window && stored->windowed == d ? affine_constant(stored->window)
						       : affine_of_range(e, array, d);
}

/* The place of a subscript, counted from the first, in the window of its array; it is not negative. */
static struct affine place_in_window(struct emit *e, const struct array *array, const struct affine *sub)
{
	if (array->stored.window == 1)
		return affine_constant(0);
	return affine_atom(e->arena, k_binary(e->arena, K_REM, affine_expr(e->arena, sub),
					      k_int(e->arena, array->stored.window)));
}

/* A block of segments has a row before the first and one behind the last; the plan adds the longest segment. */
enum { ROWS_AROUND = 2 };

/* Elements that are left free behind the part of a thread: a page, since processors ask ahead for lines up to its end,
 * also for those that another thread writes, which may be far away. Parts with several rows have only a line of cache
 * behind each, not to grow by a page with each. */
static int64_t gap_behind(const struct array *array)
{
	const int size = type_size(array->type), lanes = array->stored.lanes;

	if (!array->stored.is_per_thread)
		return 0;
	return array_n_stored(array) > 1 ? PMG_CACHE_LINE/size : PMG_PAGE/size/(lanes ? lanes : 1);
}

struct affine part_extent(struct emit *e, const struct array *array, int d)
{
	const int64_t gap = gap_behind(array);
	bool is_last = d == array_n_stored(array) - 1;
	struct affine extent;

	if (d == array_n_stored(array))
		return affine_constant(array->stored.lanes*(1 + (d ? 0 : gap)));
	for (int i = 0; i <= d; i++)
		d += (array->stored.folded >> i & 1U) != 0;
	extent = array->role == ROLE_BLOCK && array->segments && !array->stored.window ? affine_constant(ROWS_AROUND)
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
	return affine_product(e->arena, affine_expr(e->arena, a), affine_expr(e->arena, b));
}

struct k_expr *c_offset(struct emit *e, const char *name, const struct affine *index)
{
	struct affine base = affine_name(e->arena, name), sum = affine_combine(e->arena, 1, &base, 1, index);

	return affine_expr(e->arena, &sum);
}

/* Is the first subscript a variable that holds the offset of a row (passes/restructure/premultiply.c)? */
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

		if (array->stored.folded & 1U << d)
			continue;
		index = affine_multiply(e, &index, &extent);
		sub = affine_combine(e->arena, 1, &sub, -1, &lo);
		if (array->stored.window && array->stored.windowed == d)
			sub = place_in_window(e, array, &sub);
		if (array->role == ROLE_BLOCK && array->segments) {
			begin = affine_atom(e->arena, e->variable_length->begin);
			sub = affine_combine(e->arena, 1, &sub, -1, &begin);
			sub = is_inside ? row_inside(e, array, &sub) : sub;
		}
		index = affine_combine(e->arena, 1, &index, 1, &sub);
	}
	index = affine_combine(e->arena, 1, &row, 1, &index);
	if (!array->stored.lanes)
		return block_kernel_index(e, array, index);
	index = affine_scale(e->arena, &index, array->stored.lanes, 0);
	lane = affine_name(e->arena, e->block.lane);
	return affine_combine(e->arena, 1, &index, 1, &lane);
}

struct affine c_index(struct emit *e, const struct point *point, const struct access *access)
{
	return index_of(e, point, access, false);
}

static struct k_expr *local_read(struct emit *e, const struct array *array)
{
	const struct cell *cell = cell_find(e->locals.items, e->locals.n, array);

	if (cell)
		return cell->has_lanes ? lane_of(e, cell->name) : cell->value ? cell->value
									       : k_name(e->arena, cell->name);
	emit_fail(e, "'%s' is used outside its group", array->name);
	return k_name(e->arena, array->c_name);
}

static struct k_expr *narrow_read(struct emit *e, const struct array *array, const struct affine *index)
{
	struct affine limit = affine_of_expr(e, NULL, array->limit);

	for (int d = 1; array->row_of && d < array->row_of->rank; d++) {
		struct affine extent = affine_of_range(e, array->row_of, d);

		limit = affine_multiply(e, &limit, &extent);
	}
	return k_call(e->arena, "pmg_index_at", 3, k_name(e->arena, array->c_name), affine_expr(e->arena, &limit),
		      affine_expr(e->arena, index));
}

struct k_expr *c_access(struct emit *e, const struct point *point, const struct access *access)
{
	struct k_expr *row = rows_access(e, point, access);
	struct affine index;

	if (array_is_local(access->array))
		return local_read(e, access->array);
	if (row)
		return row;
	index = index_of(e, point, access, true);
	if (access->array->storage == STORAGE_NARROW)
		return narrow_read(e, access->array, &index);
	return k_load(e->arena, k_name(e->arena, block_array(e, access->array)->c_name), affine_expr(e->arena, &index));
}

/* ---- operators ---- */

enum k_op k_op_of(enum expr_op op)
{
	static const enum k_op ops[OP_N] = {
		[OP_OR] = K_OR, [OP_AND] = K_AND, [OP_NOT] = K_NOT, [OP_EQ] = K_EQ, [OP_NE] = K_NE, [OP_LT] = K_LT,
		[OP_LE] = K_LE, [OP_GT] = K_GT, [OP_GE] = K_GE, [OP_ADD] = K_ADD, [OP_SUB] = K_SUB, [OP_MUL] = K_MUL,
		[OP_DIV] = K_DIV, [OP_NEG] = K_NEG
	};

	return ops[op];
}

static const struct op_row {
	const char *function;           /* the name of a function, without the suffix of its type */
	int arity;
} op_rows[OP_N] = {
#define OP(id, text, c_text, arity, precedence) [OP_##id] = { c_text, arity },
#include "ir/core/ops.def"
#undef OP
};

/* Comparisons and connectives do not stand bare in one another, where compilers suspect a mistake. */
static enum k_level least_level(enum k_op op, int operand)
{
	enum k_level own = k_op_level(op);

	if (own == K_LEVEL_OR)
		return K_LEVEL_EQUAL;
	if (own == K_LEVEL_EQUAL)
		return K_LEVEL_SUM;
	return operand ? (enum k_level) (own + 1) : own;
}

static bool is_connective_of(const struct expr *expr, enum expr_op op)
{
	return expr->kind == EXPR_OP && expr->op == op && (op == OP_AND || op == OP_OR);
}

static bool is_not(const struct k_expr *expr)
{
	return expr->kind == KE_UNARY && expr->op == K_NOT && !expr->is_grouped;
}

static struct k_expr *infix(struct emit *e, const struct expr *expr, struct k_expr *a, struct k_expr *b)
{
	const enum k_op op = k_op_of(expr->op);
	enum k_level left = least_level(op, 0);

	if (is_connective_of(expr->args[0], expr->op))
		left = k_op_level(op);
	if (op_is_comparison(expr->op) && is_not(a))
		left = K_LEVEL_PRIMARY;
	return k_binary(e->arena, op, k_at_least(e->arena, a, left), k_at_least(e->arena, b, least_level(op, 1)));
}

static bool begins_with_minus(const struct k_expr *expr)
{
	if (expr->is_grouped)
		return false;
	if (expr->kind == KE_BINARY)
		return begins_with_minus(expr->args.items[0]);
	return (expr->kind == KE_UNARY && expr->op == K_NEG) || (expr->kind == KE_FLOAT && *expr->text == '-') ||
	       (expr->kind == KE_INT && expr->integer < 0);
}

/* Of a product of floats, -a*b is the same as -(a*b). */
static struct k_expr *negation(struct emit *e, struct k_expr *a, enum scalar_type type)
{
	struct k_expr *negated;

	if (type == TYPE_I32)
		a = k_cast(e->arena, k_scalar(type_c_name(TYPE_I64)), a);
	if (type_is_float(type) && !begins_with_minus(a))
		negated = k_negated(e->arena, a);
	else
		negated = k_unary(e->arena, K_NEG, begins_with_minus(a) ? k_at_least(e->arena, a, K_LEVEL_PRIMARY) : a);
	return c_narrow(e->arena, type, negated);
}

static struct k_expr *absolute(struct emit *e, struct k_expr *a, enum scalar_type type)
{
	if (type_is_float(type))
		return k_call(e->arena, type == TYPE_F32 ? "fabsf" : "fabs", 1, a);
	return type_is_signed(type) ? k_call(e->arena, arena_printf(e->arena, "pmg_max_%s", type_name(type)), 2, a,
					     negation(e, a, type)) : a;
}

static struct k_expr *selection(struct emit *e, const struct expr *expr, struct k_expr *const *args)
{
	return c_narrow(e->arena, expr->type, k_select(e->arena, args[0], k_at_least(e->arena, args[1], K_LEVEL_OR),
						       args[2]));
}

static struct k_expr *function_call(struct emit *e, const struct expr *expr, struct k_expr *const *args)
{
	const char *name = op_rows[expr->op].function, *type = type_name(expr->type);

	if (!strncmp(name, "pmg_", 4))
		name = arena_printf(e->arena, "%s_%s", name, type);
	else if (expr->type == TYPE_F32)
		name = arena_printf(e->arena, "%sf", name);
	if (op_rows[expr->op].arity == 2)
		return k_call(e->arena, name, 2, args[0], args[1]);
	return k_call(e->arena, name, 1, args[0]);
}

/* Integer `/` and `%`, which floor. */
static struct k_expr *quotient(struct emit *e, const struct expr *expr, struct k_expr *const *args)
{
	struct k_expr *call = k_call(e->arena, expr->op == OP_DIV ? "pmg_div" : "pmg_mod", 2, args[0], args[1]);

	return expr->type == TYPE_I64 ? call : k_cast(e->arena, k_scalar(type_c_name(expr->type)), call);
}

/* a op v for all a of the type; -1: it depends on a. */
static int value_of_type(enum expr_op op, enum scalar_type type, int64_t v)
{
	int64_t lo, hi;

	type_limits(type, &lo, &hi);
	if (op == OP_EQ || op == OP_NE)
		return v < lo || v > hi ? op == OP_NE : -1;
	if (op == OP_LT || op == OP_GE)
		return v <= lo ? op == OP_GE : v > hi ? op == OP_LT : -1;
	return v >= hi ? op == OP_LE : v < lo ? op == OP_GT : -1;
}

const struct expr *before_widening(const struct expr *expr)
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
static int value_of_difference(struct emit *e, const struct point *point, const struct expr *expr)
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
static int resolved(struct emit *e, const struct point *point, const struct expr *expr)
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
		value = value_of_type(expr->op, a->type, number);
	else if (is_number(a, &number))
		value = value_of_type(mirrored[expr->op], b->type, number);
	return value >= 0 ? value : value_of_difference(e, point, expr);
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
static struct k_expr *arithmetic(struct emit *e, const struct expr *expr, struct k_expr *const *args)
{
	struct k_expr *first = args[0];

	if (expr->type == TYPE_I64 && is_int_in_c(expr->args[0]) && is_int_in_c(expr->args[1]))
		first = c_cast(e->arena, TYPE_I64, TYPE_I32, first);
	return c_narrow(e->arena, expr->type, infix(e, expr, first, args[1]));
}

static struct k_expr *division(struct emit *e, const struct expr *expr, struct k_expr *const *args)
{
	if (lane_is_reciprocal(e, expr))
		return k_call(e->arena, arena_printf(e->arena, "PMG_RECIPROCAL_%s", row_suffix(expr->type)), 1,
			      args[1]);
	return type_is_float(expr->type) ? infix(e, expr, args[0], args[1]) : quotient(e, expr, args);
}

static struct k_expr *operation(struct emit *e, const struct expr *expr, struct k_expr *const *args)
{
	switch (expr->op) {
	case OP_OR: case OP_AND: case OP_EQ: case OP_NE: case OP_LT: case OP_LE: case OP_GT: case OP_GE:
		return infix(e, expr, args[0], args[1]);
	case OP_NOT:
		return k_unary(e->arena, K_NOT, args[0]);
	case OP_DIV:
		return division(e, expr, args);
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

static struct k_expr *c_operation(struct emit *e, const struct point *point, const struct expr *expr)
{
	struct k_expr *args[3] = { NULL };
	struct affine sum;
	int value = resolved(e, point, expr);
	bool is_chosen = e->statement.is_chosen;

	if (expr->op == OP_PIVOT)
		return e->statement.pivot ? k_name(e->arena, e->statement.pivot) : c_expr(e, point, expr->args[0]);
	if (value >= 0)
		return k_bool(e->arena, value != 0);
	if (expr_is_choice(expr) && (value = resolved(e, point, expr->args[0])) >= 0)
		return c_expr(e, point, expr->args[value ? 1 : 2]);
	if (expr_is_affine(expr)) {
		sum = affine_of_expr(e, point, expr);
		return affine_expr(e->arena, &sum);
	}
	if (expr_is_extreme(expr))
		return extreme_expr(e, point, expr);
	if (extreme_narrow_type(expr) != TYPE_I64)
		return c_cast(e->arena, TYPE_I64, extreme_narrow_type(expr), extreme_narrow(e, point, expr));
	for (int i = 0; i < op_rows[expr->op].arity; i++) {
		e->statement.is_chosen = is_chosen || (expr->op == OP_CHOOSE && i);
		args[i] = c_expr(e, point, expr->args[i]);
	}
	e->statement.is_chosen = is_chosen;
	return operation(e, expr, args);
}

static struct k_expr *conversion(struct emit *e, const struct point *point, const struct expr *expr)
{
	struct expr literal = { .kind = EXPR_INT, .type = expr->type };

	if (expr->type != TYPE_I64 && extreme_narrow_type(expr->args[0]) == expr->type)
		return extreme_narrow(e, point, expr->args[0]);
	if (!expr_is_constant(expr->args[0], &literal.integer) || expr->type == TYPE_BOOL)
		return c_cast(e->arena, expr->type, expr->args[0]->type, c_expr(e, point, expr->args[0]));
	if (!type_is_float(expr->type))
		literal.integer = type_wrap(expr->type, literal.integer);
	return c_literal(e->arena, &literal);
}

/* What is read, in the type of the array. */
static struct k_expr *c_value(struct emit *e, const struct point *point, const struct access *access,
			      struct k_expr *element)
{
	struct k_expr *above = parents_read(e, point, access);
	struct k_expr *lane = above ? above : lane_read(e, access, element);

	if (lane)
		return lane;
	if (access->array->storage == STORAGE_F32)
		return k_cast(e->arena, k_scalar("double"), element);
	if (access->array->storage == STORAGE_F64TOP)
		return k_call(e->arena, "pmg_f64_of_top", 1, element);
	return element;
}

struct k_expr *c_expr(struct emit *e, const struct point *point, const struct expr *expr)
{
	struct affine sum;

	switch (expr->kind) {
	case EXPR_INT:
	case EXPR_FLOAT:
	case EXPR_BOOL:
		return c_literal(e->arena, expr);
	case EXPR_PARAM:
		return k_name(e->arena, e->layout->params[expr->index]);
	case EXPR_DIM:
		sum = affine_of_dim(e, point, expr->index);
		return affine_expr(e->arena, &sum);
	case EXPR_READ:
		return c_value(e, point, &expr->access,
			       warp_loop_read(e, &expr->access, c_access(e, point, &expr->access)));
	case EXPR_CAST:
		return conversion(e, point, expr);
	case EXPR_OP:
		return c_operation(e, point, expr);
	case EXPR_N:
		break;
	}
	return k_int(e->arena, 0);
}
