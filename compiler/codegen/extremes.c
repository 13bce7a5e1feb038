/* SPDX-License-Identifier: MIT
 *
 * Minima and maxima of floats, which are NaN if an operand is. A test of each operand takes three instructions where
 * numbers take one, and gcc makes branches of tests of what a nested one gave. So a nest, max(min(a, b), min(max(a, b),
 * c)), is computed of its operands as if they were numbers, of which the result is any value if one of them is NaN, and
 * they are tested once, two by one instruction (runtime/pmgrt_math.h):
 *
 *     pmg_or_nan_f64(pmg_greatest_f64(pmg_least_f64(a, b), …), pmg_are_nan_f64(a, b) | pmg_are_nan_f64(c, c))
 *
 * Operands that are more than a name or an element get a name of their own before the statement. A variable that only
 * such nests read, in the same iteration, is not tested either: what it was made of is tested by its readers, as for
 * the steps of a sorting network. */
#include <math.h>

#include "codegen/codegen_private.h"
#include "codegen/extremes.h"

enum { MOST_OPERANDS = 32 };

bool expr_is_extreme(const struct expr *expr)
{
	return expr->kind == EXPR_OP && (expr->op == OP_MIN || expr->op == OP_MAX) && type_is_float(expr->type);
}

static bool is_simple(const struct expr *expr)
{
	return expr->kind == EXPR_PARAM || expr->kind == EXPR_FLOAT || expr->kind == EXPR_INT ||
	       expr->kind == EXPR_READ;
}

bool expr_is_unchosen(const struct expr *expr)
{
	bool is = !expr_is_extreme(expr) && !expr_is_choice(expr) &&
		  (expr->kind != EXPR_READ || !array_is_local(expr->access.array));

	for (int i = 0; i < expr_n_args(expr) && is; i++)
		is = expr_is_unchosen(expr->args[i]);
	return is;
}

/* Scalars, in statements of their own. */
static bool is_open(const struct emit *e)
{
	return !e->block.mark && !e->target->device;
}

/* ---- operands ---- */

struct formula {
	struct emit *e;
	const struct point *point;
	expr_list tested;
};

static void add_operand(struct formula *formula, struct k_expr *operand)
{
	for (int i = 0; i < formula->tested.n; i++)
		if (k_expr_is_equal(formula->tested.items[i], operand))
			return;
	vec_push(formula->e->arena, &formula->tested, operand);
}

static const struct cell *untested_cell(const struct emit *e, const struct expr *expr)
{
	const struct cell *cell = NULL;

	if (expr->kind == EXPR_READ && array_is_local(expr->access.array))
		cell = cell_find(e->locals.items, e->locals.n, expr->access.array);
	return cell && cell->untested.n ? cell : NULL;
}

static struct k_expr *named(struct emit *e, enum scalar_type type, struct k_expr *value)
{
	const char *name = names_declare(&e->names, "operand");

	k_const(e->b, k_scalar(type_c_name(type)), name, value);
	return k_name(e->arena, name);
}

static struct k_expr *operand_of_nest(struct formula *formula, const struct expr *expr)
{
	const struct cell *cell = untested_cell(formula->e, expr);
	struct k_expr *operand;

	for (int i = 0; cell && i < cell->untested.n; i++)
		add_operand(formula, cell->untested.items[i]);
	if (cell)
		return k_name(formula->e->arena, cell->name);
	operand = c_expr(formula->e, formula->point, expr);
	if (expr->kind == EXPR_INT || (expr->kind == EXPR_FLOAT && !isnan(expr->real)))
		return operand;
	if (!is_simple(expr))
		operand = named(formula->e, expr->type, operand);
	add_operand(formula, operand);
	return operand;
}

/* A function of floats of a type: pmg_least_f64. */
static struct k_expr *call_of_type(struct arena *arena, const char *function, enum scalar_type type, struct k_expr *a,
				   struct k_expr *b)
{
	return k_call(arena, arena_printf(arena, "pmg_%s_%s", function, type_name(type)), 2, a, b);
}

static struct k_expr *nest_of(struct formula *formula, const struct expr *expr)
{
	struct k_expr *a, *b;

	if (!expr_is_extreme(expr))
		return operand_of_nest(formula, expr);
	a = nest_of(formula, expr->args[0]);
	b = nest_of(formula, expr->args[1]);
	return call_of_type(formula->e->arena, expr->op == OP_MIN ? "least" : "greatest", expr->type, a, b);
}

static struct k_expr *test_of(struct formula *formula, enum scalar_type type)
{
	const expr_list *tested = &formula->tested;
	struct k_expr *test = NULL;

	for (int i = 0; i < tested->n; i += 2)
		test = k_join(formula->e->arena, K_BIT_OR, test,
			      call_of_type(formula->e->arena, "are_nan", type, tested->items[i],
					   tested->items[i + 1 < tested->n ? i + 1 : i]));
	return test;
}

/* ---- nests ---- */

static bool all_operands(const struct expr *expr, bool (*is_such)(const struct expr *expr))
{
	if (!expr_is_extreme(expr))
		return is_such(expr);
	return all_operands(expr->args[0], is_such) && all_operands(expr->args[1], is_such);
}

static bool has_untested(const struct emit *e, const struct expr *expr)
{
	if (!expr_is_extreme(expr))
		return untested_cell(e, expr) != NULL;
	return has_untested(e, expr->args[0]) || has_untested(e, expr->args[1]);
}

static int n_tested(const struct expr *expr)
{
	if (!expr_is_extreme(expr))
		return expr->kind != EXPR_INT && expr->kind != EXPR_FLOAT;
	return n_tested(expr->args[0]) + n_tested(expr->args[1]);
}

/* A clamp takes no test: of a literal and a number, the number goes last. */
static bool is_nest(const struct emit *e, const struct expr *expr)
{
	const bool is_nested = expr_is_extreme(expr->args[0]) || expr_is_extreme(expr->args[1]);

	return (is_nested && n_tested(expr) > 1) || has_untested(e, expr);
}

struct k_expr *extreme_of(struct emit *e, bool is_min, enum scalar_type type, enum extreme_order order,
			  struct k_expr *target, struct k_expr *value)
{
	const bool is_swapped = type_is_float(type) && order == VALUE_FIRST;
	const bool are_both = type_is_float(type) && order == NEITHER_FIRST;
	const char *function = is_min ? are_both ? "min_both" : "min" : are_both ? "max_both" : "max";

	return call_of_type(e->arena, function, type, is_swapped ? value : target, is_swapped ? target : value);
}

/* A literal needs no test. */
static enum extreme_order order_of(const struct expr *a, const struct expr *b)
{
	if (a->kind == EXPR_FLOAT || (b->kind != EXPR_FLOAT && expr_is_unchosen(a)))
		return TARGET_FIRST;
	return b->kind == EXPR_FLOAT || expr_is_unchosen(b) ? VALUE_FIRST : NEITHER_FIRST;
}

struct k_expr *extreme_expr(struct emit *e, const struct point *point, const struct expr *expr)
{
	struct formula formula = { e, point, { 0 } };
	struct k_expr *a, *b;

	if (is_open(e) && is_nest(e, expr) &&
	    ((e->statement.may_name && !e->statement.is_chosen) || all_operands(expr, is_simple))) {
		a = nest_of(&formula, expr);
		if (!formula.tested.n)
			return a;
		return call_of_type(e->arena, "or_nan", expr->type, a, test_of(&formula, expr->type));
	}
	a = c_expr(e, point, expr->args[0]);
	b = c_expr(e, point, expr->args[1]);
	return extreme_of(e, expr->op == OP_MIN, expr->type, order_of(expr->args[0], expr->args[1]), a, b);
}

/* ---- variables that their readers test ---- */

struct reads {
	const struct array *array;
	int n;
};

static void count_read(struct access *access, void *user)
{
	struct reads *reads = user;

	reads->n += access->array == reads->array;
}

static bool is_read_of(const struct expr *expr, const struct array *array)
{
	return expr->kind == EXPR_READ && expr->access.array == array;
}

/* How often it is an operand. */
static int n_operands(const struct expr *expr, const struct array *array)
{
	int n = 0;

	for (int i = 0; i < expr_n_args(expr); i++)
		n += (expr_is_extreme(expr) && is_read_of(expr->args[i], array)) + n_operands(expr->args[i], array);
	return n;
}

/* Do all that read the variable make minima and maxima of it, where it is set? */
static bool readers_test(const struct emit *e, const struct stage *stage)
{
	const struct array *array = stage->write.array;
	bool test = true;

	for (int i = 0; i < e->module->stages.n && test; i++) {
		struct stage *other = e->module->stages.items[i];
		struct reads reads = { array, 0 };

		stage_reads(other, count_read, &reads);
		test = (other == stage || other->write.array != array) &&
		       (!reads.n || (reads.n == n_operands(other->value, array) && other->dims.n == stage->dims.n &&
				     !expr_has_choice(other->value) && !expr_find_pivot(other->value)));
	}
	return test;
}

/* Has it the same value where the variable is read? */
static bool stays(const struct expr *expr)
{
	return is_simple(expr) && (expr->kind != EXPR_READ || expr->access.array->role == ROLE_IN ||
				   array_is_local(expr->access.array));
}

struct k_expr *extreme_untested(struct emit *e, const struct stage *stage, const struct point *point,
				expr_list *operands)
{
	const struct expr *value = stage->value;
	struct formula formula = { e, point, { 0 } };
	struct k_expr *nest;

	if (!is_open(e) || !expr_is_extreme(value) || value->type != stage->write.array->type ||
	    n_tested(value) < 2 || !all_operands(value, stays) || !readers_test(e, stage))
		return NULL;
	nest = nest_of(&formula, value);
	*operands = formula.tested;
	return formula.tested.n && formula.tested.n <= MOST_OPERANDS ? nest : NULL;
}

/* ---- integers ---- */

/* Integers are computed in 64 bits, in which a vector has fewer of them; of two numbers of a narrower type one is the
 * result. */
static bool holds(enum scalar_type type, const struct expr *operand)
{
	int64_t lo, hi, own_lo, own_hi;

	type_limits(type, &lo, &hi);
	if (operand->kind == EXPR_INT)
		return operand->integer >= lo && operand->integer <= hi;
	type_limits(operand->type, &own_lo, &own_hi);
	return own_lo >= lo && own_hi <= hi;
}

static const struct expr *operand_of(const struct expr *expr, int i)
{
	const struct expr *operand = before_widening(expr->args[i]);
	const struct expr *number = operand->kind == EXPR_CAST ? operand->args[0] : operand;

	return number->kind == EXPR_INT && type_wrap(operand->type, number->integer) == number->integer ? number
													  : operand;
}

enum scalar_type extreme_narrow_type(const struct expr *expr)
{
	const struct expr *a, *b;

	if (expr->kind != EXPR_OP || (expr->op != OP_MIN && expr->op != OP_MAX) || expr->type != TYPE_I64 ||
	    expr_is_affine(expr))
		return TYPE_I64;
	a = operand_of(expr, 0);
	b = operand_of(expr, 1);
	if (a->kind != EXPR_INT && holds(a->type, b))
		return a->type;
	return b->kind != EXPR_INT && holds(b->type, a) ? b->type : TYPE_I64;
}

struct k_expr *extreme_narrow(struct emit *e, const struct point *point, const struct expr *expr)
{
	const enum scalar_type type = extreme_narrow_type(expr);
	struct k_expr *args[2];

	for (int i = 0; i < 2; i++) {
		const struct expr *operand = operand_of(expr, i);

		args[i] = c_expr(e, point, operand);
		if (operand->kind != EXPR_INT)
			args[i] = c_cast(e->arena, type, operand->type, args[i]);
	}
	return call_of_type(e->arena, expr->op == OP_MIN ? "min" : "max", type, args[0], args[1]);
}
