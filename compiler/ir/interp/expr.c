/* SPDX-License-Identifier: MIT
 *
 * Evaluation. Floats are computed in double and rounded to f32 after each operation on f32, which gives what f32
 * arithmetic gives (a double has more than twice its digits). Integers and truth values are int64_t: overflow of 64
 * bits is an error, narrower types wrap; `/` floors, `%` takes the sign of the divisor. */
#include "ir/interp/interp_private.h"

#include <float.h>
#include <math.h>

/* ---- places ---- */

static int64_t sub_value(struct run *run, const struct sub *sub)
{
	int64_t value;

	if (sub->node)
		return eval_integer(run, sub->node);
	if (__builtin_add_overflow(run->dims[sub->dim], sub->add, &value))
		run_fail(run, (struct span) { 0 }, "a subscript exceeds 64 bits");
	return value;
}

int place_find(struct run *run, const struct place *place, int64_t *offset, int64_t *value)
{
	const struct slot *slot = place->slot;
	int64_t sum = 0;

	for (int i = 0; i < place->rank; i++) {
		int64_t v = sub_value(run, &place->subs[i]);
		uint64_t position = (uint64_t) v - (uint64_t) slot->lo[i];

		if (position >= (uint64_t) slot->extent[i]) {
			*value = v;
			return i;
		}
		sum += (int64_t) position * slot->stride[i];
	}
	*offset = sum;
	return -1;
}

void place_report(struct run *run, const struct place *place, int sub, int64_t value)
{
	const struct slot *slot = place->slot;

	if (slot->extent[sub] == 0)
		run_fail(run, place->span, "'%s' is empty, subscript %d is %lld", slot->array->name, sub + 1,
			 (long long) value);
	else
		run_fail(run, place->span, "subscript %d of '%s' is %lld, allowed are %lld to %lld", sub + 1,
			 slot->array->name, (long long) value, (long long) slot->lo[sub],
			 (long long) (slot->lo[sub] + slot->extent[sub] - 1));
}

bool place_write_offset(struct run *run, const struct place *place, int64_t *offset)
{
	int64_t value;
	int bad = place_find(run, place, offset, &value);

	if (bad >= 0)
		place_report(run, place, bad, value);
	return run->stop == RUN_GOES;
}

bool place_read_offset(struct run *run, const struct place *place, int64_t *offset)
{
	struct slot *slot = place->slot;

	if (!place_write_offset(run, place, offset))
		return false;
	if (slot->states && slot->states[*offset] == CELL_UNDEFINED) {
		run->stop = RUN_POSTPONED;
		run->needed = (struct cell) { slot, *offset };
		return false;
	}
	return true;
}

/* ---- integers ---- */

static int64_t overflow(struct run *run, const struct node *node)
{
	run_fail(run, node->span, "integer overflow: the result does not fit into 64 bits");
	return 0;
}

static int64_t floor_quotient(int64_t a, int64_t b)
{
	return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}

static int64_t divide(struct run *run, const struct node *node, int64_t a, int64_t b)
{
	if (b == 0) {
		run_fail(run, node->span, "integer division by zero");
		return 0;
	}
	if (b == -1 && node->op == OP_MOD)
		return 0;
	if (b == -1 && a == INT64_MIN)
		return overflow(run, node);
	if (node->op == OP_DIV)
		return type_wrap(node->type, floor_quotient(a, b));
	return a - floor_quotient(a, b) * b;
}

static int64_t add_multiply(struct run *run, const struct node *node, int64_t a, int64_t b)
{
	int64_t result;
	bool bad;

	if (node->op == OP_ADD)
		bad = __builtin_add_overflow(a, b, &result);
	else if (node->op == OP_SUB)
		bad = __builtin_sub_overflow(a, b, &result);
	else
		bad = __builtin_mul_overflow(a, b, &result);
	if (node->type != TYPE_I64)
		return type_wrap(node->type, result);
	return bad ? overflow(run, node) : result;
}

static int64_t negate(struct run *run, const struct node *node, int64_t a)
{
	if (node->type != TYPE_I64)
		return type_wrap(node->type, -a);
	return a == INT64_MIN ? overflow(run, node) : -a;
}

static int64_t compare_integers(enum expr_op op, int64_t a, int64_t b)
{
	if (op == OP_EQ)
		return a == b;
	if (op == OP_NE)
		return a != b;
	if (op == OP_LT)
		return a < b;
	if (op == OP_LE)
		return a <= b;
	return op == OP_GT ? a > b : a >= b;
}

static const struct node *chosen(struct run *run, const struct node *node)
{
	return node->args[eval_integer(run, node->args[0]) ? 1 : 2];
}

static int64_t select_integer(struct run *run, const struct node *node)
{
	int64_t condition = eval_integer(run, node->args[0]);
	int64_t a = eval_integer(run, node->args[1]), b = eval_integer(run, node->args[2]);

	return condition ? a : b;
}

static int64_t operate_on_integers(struct run *run, const struct node *node)
{
	int64_t a = eval_integer(run, node->args[0]);
	int64_t b = node->args[1] ? eval_integer(run, node->args[1]) : 0;

	switch (node->op) {
	case OP_OR:
		return a | b;
	case OP_AND:
		return a & b;
	case OP_NOT:
		return !a;
	case OP_EQ: case OP_NE: case OP_LT: case OP_LE: case OP_GT: case OP_GE:
		return compare_integers(node->op, a, b);
	case OP_ADD: case OP_SUB: case OP_MUL:
		return add_multiply(run, node, a, b);
	case OP_DIV: case OP_MOD:
		return divide(run, node, a, b);
	case OP_NEG:
		return negate(run, node, a);
	case OP_ABS:
		return a < 0 ? negate(run, node, a) : a;
	case OP_MIN:
		return a < b ? a : b;
	case OP_MAX:
		return a > b ? a : b;
	case OP_SELECT: case OP_CHOOSE: case OP_POW: case OP_EXP: case OP_LOG: case OP_SQRT: case OP_SIN: case OP_COS:
	case OP_TANH: case OP_FLOOR: case OP_EXPRELR: case OP_UNIT_SCALE: case OP_PIVOT: case OP_N:
		break;
	}
	return 0;
}

static int64_t read_integer(struct run *run, const struct node *node)
{
	int64_t offset;

	return place_read_offset(run, node->place, &offset) ? slot_integer(node->place->slot, offset) : 0;
}

static int64_t cast_to_integer(struct run *run, const struct node *node)
{
	if (node->has_float_args)
		return eval_truncation(run, node);
	return type_wrap(node->type, eval_integer(run, node->args[0]));
}

int64_t eval_integer(struct run *run, const struct node *node)
{
	switch (node->kind) {
	case EXPR_INT:
	case EXPR_BOOL:
		return node->integer;
	case EXPR_PARAM:
		return run->sizes[node->index];
	case EXPR_DIM:
		return run->dims[node->index];
	case EXPR_READ:
		return read_integer(run, node);
	case EXPR_CAST:
		return cast_to_integer(run, node);
	case EXPR_OP:
		if (node->op == OP_SELECT)
			return select_integer(run, node);
		if (node->op == OP_CHOOSE)
			return eval_integer(run, chosen(run, node));
		if (node->has_float_args)
			return eval_comparison(run, node);
		return operate_on_integers(run, node);
	case EXPR_FLOAT:
	case EXPR_N:
		break;
	}
	return 0;
}

/* ---- floats ---- */

/* x/(exp(x) - 1); 1 at 0, and 0 where the type does not hold the divisor. */
static double exprelr(enum scalar_type type, double x)
{
	const double divisor = expm1(x);

	if (x == 0)
		return 1;
	return divisor > (type == TYPE_F32 ? FLT_MAX : DBL_MAX) ? 0 : x / divisor;
}

/* The power of two by which |x| comes into 1..2: into 0..2 where x is subnormal, 1..8 near infinity. */
static double unit_scale(enum scalar_type type, double x)
{
	bool is_single = type == TYPE_F32;
	double least = is_single ? FLT_MIN : DBL_MIN, most = ldexp(1, is_single ? 125 : 1021);
	int exponent;

	if (fabs(x) < least)
		return ldexp(1, is_single ? 127 : 1023);
	frexp(fmin(fabs(x), most), &exponent);
	return ldexp(1, 1 - exponent);
}

static double apply(enum expr_op op, enum scalar_type type, double x)
{
	switch (op) {
	case OP_NEG:
		return -x;
	case OP_ABS:
		return fabs(x);
	case OP_EXP:
		return exp(x);
	case OP_LOG:
		return log(x);
	case OP_SQRT:
		return sqrt(x);
	case OP_SIN:
		return sin(x);
	case OP_COS:
		return cos(x);
	case OP_TANH:
		return tanh(x);
	case OP_FLOOR:
		return floor(x);
	case OP_EXPRELR:
		return exprelr(type, x);
	case OP_OR: case OP_AND: case OP_NOT: case OP_EQ: case OP_NE: case OP_LT: case OP_LE: case OP_GT: case OP_GE:
	case OP_ADD: case OP_SUB: case OP_MUL: case OP_DIV: case OP_MOD: case OP_MIN: case OP_MAX: case OP_SELECT:
	case OP_CHOOSE: case OP_POW: case OP_UNIT_SCALE: case OP_PIVOT: case OP_N:
		break;
	}
	return 0;
}

static double extreme(double a, double b, bool a_wins)
{
	if (isnan(a) || isnan(b))
		return NAN;
	return a_wins ? a : b;
}

static double combine(enum expr_op op, double a, double b)
{
	switch (op) {
	case OP_ADD:
		return a + b;
	case OP_SUB:
		return a - b;
	case OP_MUL:
		return a * b;
	case OP_DIV:
		return a / b;
	case OP_MIN:
		return extreme(a, b, a < b);
	case OP_MAX:
		return extreme(a, b, a > b);
	case OP_POW:
		return pow(a, b);
	case OP_OR: case OP_AND: case OP_NOT: case OP_EQ: case OP_NE: case OP_LT: case OP_LE: case OP_GT: case OP_GE:
	case OP_MOD: case OP_NEG: case OP_SELECT: case OP_CHOOSE: case OP_ABS: case OP_EXP: case OP_LOG: case OP_SQRT:
	case OP_SIN: case OP_COS: case OP_TANH: case OP_FLOOR: case OP_EXPRELR: case OP_UNIT_SCALE: case OP_PIVOT:
	case OP_N:
		break;
	}
	return 0;
}

static double select_real(struct run *run, const struct node *node)
{
	int64_t condition = eval_integer(run, node->args[0]);
	double a = eval_real(run, node->args[1]), b = eval_real(run, node->args[2]);

	return condition ? a : b;
}

static double eval_pivot(struct run *run, const struct node *node)
{
	const double pivot = eval_real(run, node->args[0]);

	pivot_check(run, node, pivot);
	return pivot;
}

double operation_of_reals(const struct node *node, double a, double b)
{
	const double value = node->args[1] ? combine(node->op, a, b) : apply(node->op, node->type, a);

	if (node->op == OP_FLOOR)
		node_decides(node, integer_of_real(TYPE_I64, value));
	return node->type == TYPE_F32 ? (float) value : value;
}

static double operate_on_reals(struct run *run, const struct node *node)
{
	double a;

	if (node->op == OP_SELECT)
		return select_real(run, node);
	if (node->op == OP_CHOOSE)
		return eval_real(run, chosen(run, node));
	if (node->op == OP_PIVOT)
		return eval_pivot(run, node);
	if (node->op == OP_UNIT_SCALE)
		return unit_scale(node->type, eval_real(run, node->args[0]));
	a = eval_real(run, node->args[0]);
	return operation_of_reals(node, a, node->args[1] ? eval_real(run, node->args[1]) : 0);
}

static double read_real(struct run *run, const struct node *node)
{
	const struct slot *slot = node->place->slot;
	int64_t offset;

	if (!place_read_offset(run, node->place, &offset))
		return 0;
	return slot->type == TYPE_F64 ? ((const double *) slot->data)[offset] : slot_real(slot, offset);
}

static double cast_to_real(struct run *run, const struct node *node)
{
	double value;

	if (!node->has_float_args && node->type == TYPE_F32)
		return (float) eval_integer(run, node->args[0]);
	value = node->has_float_args ? eval_real(run, node->args[0]) : (double) eval_integer(run, node->args[0]);
	return node->type == TYPE_F32 ? (float) value : value;
}

double eval_real(struct run *run, const struct node *node)
{
	switch (node->kind) {
	case EXPR_FLOAT:
		return node->real;
	case EXPR_PARAM:
		return run->scalars[node->index];
	case EXPR_READ:
		return read_real(run, node);
	case EXPR_CAST:
		return cast_to_real(run, node);
	case EXPR_OP:
		return operate_on_reals(run, node);
	case EXPR_INT:
	case EXPR_BOOL:
	case EXPR_DIM:
	case EXPR_N:
		break;
	}
	return 0;
}
