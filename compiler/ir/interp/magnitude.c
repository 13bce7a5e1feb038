/* SPDX-License-Identifier: MIT
 *
 * How much is behind a value: a running error analysis (Higham 2002, section 3.3). The magnitude of a value bounds, to
 * first order and times eps and the number of operations, by how much it may differ when sums are added in another
 * order: of a sum it is the sum of the magnitudes of its terms, of a function the larger of |f(x)| and |f'(x)| times
 * that of x, so that of what is exact it is the absolute value. A difference keeps what its operands had, also where
 * they cancel. The number of operations is that of the longest sum of sums behind it: terms of a cell, and those behind
 * one of them. Arguments that nobody computes are exact. What a recurrence, or the loop, has computed before counts as
 * such, too: over many steps the bound would grow beyond all errors, and nothing be told any more; what becomes of
 * their errors is found by runs in other arithmetics (fine.c). */
#include "ir/interp/interp_private.h"

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

static struct weighed of_exact(double value)
{
	return (struct weighed) { .value = value, .weight.magnitude = fabs(value) };
}

static struct weighed of_one(const struct node *node, struct weighed of)
{
	const double x = of.value;

	of.value = operation_of_reals(node, x, 0);
	if (node->op != OP_NEG && node->op != OP_ABS)
		of.weight.magnitude = fmax(fabs(of.value), slope(node->op, x)*of.weight.magnitude);
	return of;
}

static struct weighed of_both(const struct node *node, struct weighed a, struct weighed b)
{
	a.weight.magnitude = of_two(node->op, a.value, a.weight.magnitude, b.value, b.weight.magnitude);
	a.weight.terms = fmax(a.weight.terms, b.weight.terms);
	a.value = operation_of_reals(node, a.value, b.value);
	return a;
}

static struct weighed of_select(struct run *run, const struct node *node)
{
	const int64_t condition = eval_integer(run, node->args[0]);
	const struct weighed a = eval_weighed(run, node->args[1]), b = eval_weighed(run, node->args[2]);

	return condition ? a : b;
}

static struct weighed of_pivot(struct run *run, const struct node *node)
{
	const struct weighed pivot = eval_weighed(run, node->args[0]);

	pivot_check(run, node, pivot.value);
	return pivot;
}

static struct weighed of_operation(struct run *run, const struct node *node)
{
	const struct node *const *args = node->args;
	struct weighed a;

	if (node->op == OP_SELECT)
		return of_select(run, node);
	if (node->op == OP_CHOOSE)
		return eval_weighed(run, args[eval_integer(run, args[0]) ? 1 : 2]);
	if (node->op == OP_PIVOT)
		return of_pivot(run, node);
	if (node->op == OP_UNIT_SCALE)
		return of_exact(eval_real(run, node));
	a = eval_weighed(run, args[0]);
	return args[1] ? of_both(node, a, eval_weighed(run, args[1])) : of_one(node, a);
}

static bool counts_as_exact(const struct run *run, const struct slot *slot, int64_t offset)
{
	return !slot->weight || (slot->weight[offset].iteration && slot->weight[offset].iteration != run->iteration) ||
	       (slot->array->role != ROLE_LOCAL && group_writes(run->stage->group, slot->array));
}

static struct weighed of_read(struct run *run, const struct node *node)
{
	const struct slot *slot = node->place->slot;
	struct weighed read;
	int64_t offset = 0;

	if (!place_read_offset(run, node->place, &offset))
		return of_exact(0);
	read = of_exact(slot_real(slot, offset));
	if (!counts_as_exact(run, slot, offset))
		read.weight = slot->weight[offset];
	return read;
}

static struct weighed of_cast(struct run *run, const struct node *node)
{
	struct weighed cast = eval_weighed(run, node->args[0]);

	cast.value = node->type == TYPE_F32 ? (double) (float) cast.value : cast.value;
	return cast;
}

struct weighed eval_weighed(struct run *run, const struct node *node)
{
	if (node->kind == EXPR_READ)
		return of_read(run, node);
	if (node->kind == EXPR_CAST && node->has_float_args)
		return of_cast(run, node);
	if (node->kind == EXPR_OP)
		return of_operation(run, node);
	return of_exact(eval_real(run, node));
}

void slot_weigh(const struct run *run, struct slot *slot, int64_t offset, enum reduce_op op, struct weighed by)
{
	const double value = by.value;
	struct interp_weight weight = by.weight;
	const struct interp_weight before = slot->weight[offset];

	weight.magnitude = fmax(weight.magnitude, fabs(value));         /* NaN is no magnitude */
	if (op == REDUCE_ADD)
		weight.magnitude += before.magnitude;
	else if (op == REDUCE_MUL)
		weight.magnitude = product(slot_real(slot, offset), before.magnitude, value, weight.magnitude);
	else if (op != REDUCE_SET)
		weight.magnitude = fmax(before.magnitude, weight.magnitude);
	if (op == REDUCE_ADD || op == REDUCE_MUL)
		weight.terms = fmax(before.terms, weight.terms) + 1;
	else if (op != REDUCE_SET)
		weight.terms = fmax(before.terms, weight.terms);
	weight.iteration = run->iteration;
	slot->weight[offset] = weight;
}
