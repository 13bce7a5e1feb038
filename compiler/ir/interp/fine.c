/* SPDX-License-Identifier: MIT
 *
 * Floats in other arithmetics than that of the program, for telling what rounding explains (tools/run/rounding.c):
 * FINE is extended precision throughout, PLAIN rounds each operation and each term of a sum, SHAKEN adds to what is not
 * exact a random part of what it may be off: stochastic arithmetic (Vignes 2004; Parker 1997), which follows errors
 * through quotients, recurrences and loops with the signs that they have there. A term of a sum moves it by a rounding
 * of the sum of |terms| so far, as another order would; what generated code has as a reciprocal or from a table of
 * functions is off by a few units of the last place.
 *
 * What turns floats into integers or truth values decides; each place keeps a sum by which two runs can be told to
 * have decided alike. */
#include "ir/interp/interp_private.h"

#include <float.h>
#include <math.h>

/* By how many units of the last place generated code may miss. */
enum { ULPS_OF_OPERATION = 1, ULPS_OF_QUOTIENT = 2, ULPS_OF_FUNCTION = 4 };

/* ---- rounding ---- */

/* Evenly in (-1, 1), by xorshift (Marsaglia 2003). */
static double draw(struct run *run)
{
	uint64_t x = run->random;

	x ^= x << 13;
	x ^= x >> 7;
	x ^= x << 17;
	run->random = x;
	return (double) (int64_t) x * 0x1p-63;
}

static long double rounded(enum scalar_type type, long double value)
{
	return type == TYPE_F32 ? (long double) (float) value : (long double) (double) value;
}

/* `scale` units of the last place of it are what the value may be off; its own magnitude where 0. */
static long double settle(struct run *run, enum scalar_type type, long double value, int ulps, double scale)
{
	const double eps = type == TYPE_F32 ? 0x1p-23 : 0x1p-52;

	if (run->arithmetic == INTERP_FINE)
		return value;
	if (run->arithmetic == INTERP_PLAIN || rounded(type, value) == value || !isfinite((double) value))
		return rounded(type, value);
	scale = scale > 0 ? scale : fabs((double) value);
	return rounded(type, value + (long double) (draw(run) * eps * ulps * scale));
}

/* ---- expressions ---- */

static long double exprelr(enum scalar_type type, long double x)
{
	const long double divisor = expm1l(x);

	if (x == 0)
		return 1;
	return divisor > (type == TYPE_F32 ? FLT_MAX : DBL_MAX) ? 0 : x / divisor;
}

static long double apply(enum expr_op op, enum scalar_type type, long double x)
{
	switch ((int) op) {
	case OP_NEG:
		return -x;
	case OP_ABS:
		return fabsl(x);
	case OP_EXP:
		return expl(x);
	case OP_LOG:
		return logl(x);
	case OP_SQRT:
		return sqrtl(x);
	case OP_SIN:
		return sinl(x);
	case OP_COS:
		return cosl(x);
	case OP_TANH:
		return tanhl(x);
	case OP_EXPRELR:
		return exprelr(type, x);
	default:
		return floorl(x);
	}
}

static long double extreme(long double a, long double b, bool a_wins)
{
	if (isnan(a) || isnan(b))
		return NAN;
	return a_wins ? a : b;
}

static long double combine(enum expr_op op, long double a, long double b)
{
	switch ((int) op) {
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
	default:
		return powl(a, b);
	}
}

static int ulps_of(enum expr_op op)
{
	if (op == OP_ADD || op == OP_SUB || op == OP_MUL || op == OP_SQRT)
		return ULPS_OF_OPERATION;
	return op == OP_DIV ? ULPS_OF_QUOTIENT : ULPS_OF_FUNCTION;
}

static long double select_fine(struct run *run, const struct node *node)
{
	const int64_t condition = eval_integer(run, node->args[0]);
	const long double a = eval_fine(run, node->args[1]), b = eval_fine(run, node->args[2]);

	return condition ? a : b;
}

static long double pivot_fine(struct run *run, const struct node *node)
{
	const long double pivot = eval_fine(run, node->args[0]);

	pivot_check(run, node, (double) pivot);
	return pivot;
}

static long double operate(struct run *run, const struct node *node)
{
	long double a;

	if (node->op == OP_SELECT)
		return select_fine(run, node);
	if (node->op == OP_CHOOSE)
		return eval_fine(run, node->args[eval_integer(run, node->args[0]) ? 1 : 2]);
	if (node->op == OP_PIVOT)
		return pivot_fine(run, node);
	if (node->op == OP_UNIT_SCALE)
		return eval_real(run, node);
	a = eval_fine(run, node->args[0]);
	a = node->args[1] ? combine(node->op, a, eval_fine(run, node->args[1])) : apply(node->op, node->type, a);
	if (node->op == OP_FLOOR)
		node_decides(node, integer_of_real(TYPE_I64, (double) a));
	return settle(run, node->type, a, ulps_of(node->op), 0);
}

static long double read_fine(struct run *run, const struct node *node)
{
	const struct slot *slot = node->place->slot;
	int64_t offset;

	if (!place_read_offset(run, node->place, &offset))
		return 0;
	return slot->exact ? slot->exact[offset] : (long double) slot_real(slot, offset);
}

static long double cast_fine(struct run *run, const struct node *node)
{
	if (!node->has_float_args)
		return settle(run, node->type, eval_integer(run, node->args[0]), ULPS_OF_OPERATION, 0);
	return settle(run, node->type, eval_fine(run, node->args[0]), ULPS_OF_OPERATION, 0);
}

long double eval_fine(struct run *run, const struct node *node)
{
	switch (node->kind) {
	case EXPR_READ:
		return read_fine(run, node);
	case EXPR_CAST:
		return cast_fine(run, node);
	case EXPR_OP:
		return operate(run, node);
	case EXPR_FLOAT:
	case EXPR_PARAM:
	case EXPR_INT:
	case EXPR_BOOL:
	case EXPR_DIM:
	case EXPR_N:
		break;
	}
	return eval_real(run, node);
}

/* ---- decisions ---- */

void node_decides(const struct node *node, int64_t outcome)
{
	struct interp_decision *decision = node->decision;

	if (decision)
		decision->sum += (uint64_t) outcome * (2 * decision->n++ + 1);
}

static bool compare(enum expr_op op, long double a, long double b)
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

static long double eval_any(struct run *run, const struct node *node)
{
	return run->arithmetic == INTERP_WORKING ? (long double) eval_real(run, node) : eval_fine(run, node);
}

int64_t eval_comparison(struct run *run, const struct node *node)
{
	const long double a = eval_any(run, node->args[0]), b = eval_any(run, node->args[1]);
	const bool outcome = compare(node->op, a, b);

	node_decides(node, outcome);
	return outcome;
}

int64_t eval_truncation(struct run *run, const struct node *node)
{
	const long double value = eval_any(run, node->args[0]);
	const int64_t outcome = node->type == TYPE_BOOL ? value != 0
							: integer_of_real(node->type, (double) truncl(value));

	node_decides(node, outcome);
	return outcome;
}

/* ---- cells ---- */

void slot_set_fine(struct slot *slot, int64_t offset, long double value)
{
	slot_set_real(slot, offset, (double) value);
	slot->exact[offset] = value;
}

/* Sums of a cell may be permitted to be of single precision. */
static long double updated(struct run *run, struct slot *slot, int64_t offset, enum reduce_op op, long double value)
{
	const enum scalar_type type = slot->array->sums;
	const long double before = slot->exact[offset];
	double scale = 0;

	if (op == REDUCE_MUL)
		return settle(run, type, before * value, ULPS_OF_OPERATION, 0);
	if (op != REDUCE_ADD)
		return extreme(before, value, op == REDUCE_MIN ? before < value : before > value);
	if (slot->weight)
		scale = slot->weight[offset].magnitude += fabs((double) value);
	return settle(run, type, before + value, ULPS_OF_OPERATION, scale);
}

void slot_update_fine(struct run *run, struct slot *slot, int64_t offset, enum reduce_op op, long double value)
{
	slot_set_fine(slot, offset, updated(run, slot, offset, op, value));
}
