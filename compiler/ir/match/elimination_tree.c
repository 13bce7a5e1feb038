/* SPDX-License-Identifier: MIT
 *
 * Elimination over a tree, from children to parents, and substitution back: whatever the names,
 *
 *     p[i] = diag[i] - sum over the children c of i of upper[c] lower[c]/p[c]
 *     y[i] = rhs[i] - sum over the children c of i of upper[c] y[c]/p[c]
 *     x[i] = (y[i] - lower[i] x[parent[i]])/p[i]
 *
 * `upper` and `lower` being any products. Nothing is replaced here: it is to be known what the pivots are. */
#include "ir/match/elimination_private.h"

/* A recurrence rest[i] - sum over the children c of i of term(c). */
struct family {
	struct array *array;
	struct stage *step, *sum;
	const struct array *tree;
	int node, child;                /* dims of the sum */
	struct term term;
};

/* The only stage that writes the array, with this operator; NULL. */
static struct stage *only_writer(struct module *module, const struct array *array, enum reduce_op op)
{
	struct stage *found = NULL;
	int n = 0;

	for (int i = 0; i < module->stages.n; i++) {
		struct stage *stage = module->stages.items[i];

		if (stage->write.array != array || stage->is_init)
			continue;
		found = stage;
		n++;
	}
	return n == 1 && found->op == op && !found->is_commit ? found : NULL;
}

static void find_local(struct access *access, void *user)
{
	struct array **local = user;

	if (access->array->role == ROLE_LOCAL)
		*local = access->array;
}

/* The sum that is taken from the rest. */
static struct stage *sum_of(struct module *module, struct stage *step)
{
	struct array *local = NULL;
	struct term own;
	term_list terms;

	expr_reads(step->value, find_local, &local);
	if (!local)
		return NULL;
	terms = terms_of(module->arena, step->value, local);
	if (!terms_take(&terms, local, &own) || !own.is_negative || own.over.n != 1 || own.under.n)
		return NULL;
	return only_writer(module, local, REDUCE_ADD);
}

static bool family_find(struct module *module, struct array *array, struct family *family)
{
	const struct dim *dim;
	term_list terms;

	*family = (struct family) { .array = array, .step = only_writer(module, array, REDUCE_SET) };
	if (!family->step || array->role != ROLE_TEMP || !type_is_float(array->type) ||
	    stage_reads_array(family->step, array))
		return false;
	family->sum = sum_of(module, family->step);
	if (!family->sum || family->sum->guard)
		return false;
	family->child = family->sum->dims.n - 1;
	dim = &family->sum->dims.items[family->child];
	if (dim->kind != DIM_CHILDREN || dim->source.subs[0]->kind != EXPR_DIM)
		return false;
	family->tree = dim->source.array;
	family->node = dim->source.subs[0]->index;
	terms = terms_of(module->arena, family->sum->value, array);
	family->term = terms.items[0];
	return terms.n == 1;
}

/* Is it a read at the child, and at the point of the family else? */
static bool is_at_child(const struct expr *read, const struct family *family)
{
	bool is = read, has_child = false;

	for (int d = 0; is && d < read->access.array->rank; d++) {
		const struct expr *sub = read->access.subs[d], *here = family->step->write.subs[d];
		bool is_child = sub->kind == EXPR_DIM && sub->index == family->child &&
				here->kind == EXPR_DIM && here->index == family->node;

		has_child = has_child || is_child;
		is = is_child || expr_same(sub, here);
	}
	return is && has_child;
}

/* Is it a read at the parent of the stage's row in this tree, and at its point else? */
static bool is_at_parent(const struct expr *read, const struct stage *stage, const struct array *tree)
{
	bool is = read, has_parent = false;

	for (int d = 0; is && d < read->access.array->rank; d++) {
		const struct expr *sub = read->access.subs[d], *here = stage->write.subs[d];
		const struct dim *dim = sub->kind == EXPR_DIM ? &stage->dims.items[sub->index] : NULL;
		bool is_parent = dim && dim->kind == DIM_BIND && dim->source.array == tree &&
				 expr_same(dim->source.subs[0], here);

		has_parent = has_parent || is_parent;
		is = is_parent || expr_same(sub, here);
	}
	return is && has_parent;
}

/* The term with another dim in the place of `dim`. */
static struct term at_dim(struct arena *arena, const struct term *term, const struct stage *stage, int dim, int other)
{
	struct expr **dims = arena_new_array(arena, struct expr *, stage->dims.n);
	struct term moved = { .is_negative = term->is_negative };

	dims[dim] = expr_dim(arena, other, stage->span);
	for (int i = 0; i < term->over.n; i++)
		vec_push(arena, &moved.over, expr_substitute(arena, term->over.items[i], dims));
	for (int i = 0; i < term->under.n; i++)
		vec_push(arena, &moved.under, expr_substitute(arena, term->under.items[i], dims));
	return moved;
}

/* p' = diag - sum of upper*lower/p, y' = rhs - sum of upper*y/p */
static bool belong_together(struct module *module, struct family *pivot, struct family *reduced,
			    const struct stage *solution, const struct term *lower)
{
	struct term upper = reduced->term, own = pivot->term, moved, product;

	if (pivot->tree != reduced->tree || pivot->node != reduced->node ||
	    !is_at_child(factors_take_read(&upper.over, reduced->array), reduced) ||
	    !is_at_child(factors_take_read(&upper.under, pivot->array), reduced) ||
	    !is_at_child(factors_take_read(&own.under, pivot->array), pivot))
		return false;
	upper = at_dim(module->arena, &upper, reduced->sum, reduced->child, pivot->child);
	moved = at_dim(module->arena, lower, solution, pivot->node, pivot->child);
	product = term_product(module->arena, &upper, &moved);
	return term_equal(&own, &product);
}

/* The stage that reads the array which it writes; NULL: none does, or others than plain ones write it. */
static struct stage *step_of(struct module *module, const struct array *array)
{
	struct stage *step = NULL;

	for (int i = 0; i < module->stages.n; i++) {
		struct stage *stage = module->stages.items[i];

		if (stage->write.array != array)
			continue;
		if (stage->op != REDUCE_SET || stage->is_init || stage->is_commit)
			return NULL;
		step = stage_reads_array(stage, array) ? stage : step;
	}
	return step;
}

static int row_of(const struct family *family)
{
	int row = 0;

	while (family->step->write.subs[row]->kind != EXPR_DIM ||
	       family->step->write.subs[row]->index != family->node)
		row++;
	return row;
}

struct array *tree_elimination_pivots(struct module *module, struct array *solution, int *row)
{
	struct stage *step = type_is_float(solution->type) ? step_of(module, solution) : NULL;
	struct family of_pivot, of_reduced;
	struct array *reduced, *pivot;
	struct term lower;
	term_list terms;

	if (!step)
		return NULL;
	terms = terms_of(module->arena, step->value, solution);
	if (!terms_split(&terms, solution) || terms.items[0].is_negative)
		return NULL;
	reduced = factor_here(&terms.items[0].over, step);
	pivot = factor_here(&terms.items[0].under, step);
	if (!reduced || !pivot || reduced->rank != solution->rank || !family_find(module, pivot, &of_pivot) ||
	    !family_find(module, reduced, &of_reduced))
		return NULL;
	lower = terms.items[1];
	lower.is_negative = !lower.is_negative;
	if (!is_at_parent(factors_take_read(&lower.over, solution), step, of_pivot.tree) ||
	    !factors_take_read(&lower.under, pivot) ||
	    !belong_together(module, &of_pivot, &of_reduced, step, &lower))
		return NULL;
	*row = row_of(&of_pivot);
	return pivot;
}
