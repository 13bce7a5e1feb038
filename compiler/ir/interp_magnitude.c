/* SPDX-License-Identifier: MIT
 *
 * How much is behind a value: a running error analysis (Higham 2002, section 3.3). The magnitude of a value bounds, to
 * first order and times eps and a number of operations, by how much it may differ when sums are added in another order:
 * of a sum it is the sum of the magnitudes of its terms, of a function the larger of |f(x)| and |f'(x)| times that of
 * x, so that of what is exact it is the absolute value. A difference keeps what its operands had, also where they
 * cancel. Arguments that nobody computes are exact. States and what a recurrence has computed before count as such,
 * too: over many steps the bound would grow beyond all errors, and nothing be told any more. */
#include "ir/interp_private.h"

#include <math.h>

/* Of a product of x and y. */
static double product(double x, double of_x, double y, double of_y)
{
	return fmax(fabs(x)*of_y, of_x*fabs(y));
}

static double of_power(double x, double of_x, double y, double of_y)
{
	double power = fabs(pow(x, y));

	return x != 0 ? power*fmax(1, fabs(y/x)*of_x + fabs(log(fabs(x)))*of_y) : power;
}

static double of_two(enum expr_op op, double x, double of_x, double y, double of_y)
{
	switch ((int) op) {
	case OP_ADD: case OP_SUB:
		return of_x + of_y;
	case OP_MUL:
		return product(x, of_x, y, of_y);
	case OP_DIV:
		return product(x, of_x, 1/y, of_y/(y*y));
	case OP_POW:
		return of_power(x, of_x, y, of_y);
	default:
		return fmax(of_x, of_y);
	}
}

/* |f'(x)|, at most, or 1 where that is more. */
static double slope(enum expr_op op, double x)
{
	switch ((int) op) {
	case OP_EXP:
		return exp(x);
	case OP_LOG:
		return 1/fabs(x);
	case OP_SQRT:
		return x > 0 ? 0.5/sqrt(x) : 1;
	default:
		return 1;
	}
}

static double of_operation(struct run *run, const struct node *node)
{
	const struct node *const *args = node->args;
	double x, of_x;

	if (node->op == OP_SELECT || node->op == OP_CHOOSE)
		return eval_magnitude(run, args[eval_integer(run, args[0]) ? 1 : 2]);
	if (node->op == OP_PIVOT)
		return eval_magnitude(run, args[0]);
	if (node->op == OP_UNIT_SCALE)
		return eval_real(run, node);
	x = eval_real(run, args[0]);
	of_x = eval_magnitude(run, args[0]);
	if (args[1])
		return of_two(node->op, x, of_x, eval_real(run, args[1]), eval_magnitude(run, args[1]));
	if (node->op == OP_NEG || node->op == OP_ABS)
		return of_x;
	return fmax(fabs(eval_real(run, node)), slope(node->op, x)*of_x);
}

static bool counts_as_exact(const struct run *run, const struct slot *slot)
{
	return !slot->magnitude || slot->array->role == ROLE_STATE ||
	       (slot->array->role != ROLE_LOCAL && group_writes(run->stage->group, slot->array));
}

/* The value has been read before, so that the cell is there. */
static double of_read(struct run *run, const struct node *node)
{
	const struct slot *slot = node->place->slot;
	int64_t offset = 0;

	place_read_offset(run, node->place, &offset);
	return counts_as_exact(run, slot) ? fabs(slot_real(slot, offset)) : slot->magnitude[offset];
}

double eval_magnitude(struct run *run, const struct node *node)
{
	if (node->kind == EXPR_READ)
		return of_read(run, node);
	if (node->kind == EXPR_CAST && node->has_float_args)
		return eval_magnitude(run, node->args[0]);
	if (node->kind == EXPR_OP)
		return of_operation(run, node);
	return fabs(eval_real(run, node));
}

void slot_weigh(struct slot *slot, int64_t offset, enum reduce_op op, double value, double magnitude)
{
	double before = slot->magnitude[offset];

	magnitude = fmax(magnitude, fabs(value));       /* NaN is no magnitude */
	if (op == REDUCE_ADD)
		magnitude += before;
	else if (op == REDUCE_MUL)
		magnitude = product(slot_real(slot, offset), before, value, magnitude);
	else if (op != REDUCE_SET)
		magnitude = fmax(before, magnitude);
	slot->magnitude[offset] = magnitude;
}
