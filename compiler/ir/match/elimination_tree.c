/* SPDX-License-Identifier: MIT
 *
 * Elimination over a tree, from children to parents, and substitution back: whatever the names,
 *
 *     p[i] = diag[i] - sum over the children c of i of upper[c] lower[c]/p[c]
 *     y[i] = rhs[i] - sum over the children c of i of upper[c] y[c]/p[c]
 *     x[i] = (y[i] - lower[i] x[parent[i]])/p[i]
 *
 * `upper` and `lower` being any products. What the pivots are is to be known of more recurrences than those that an
 * algorithm can take the place of. */
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
	if (family->sum->dims.n != family->step->dims.n + 1)
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

/* What computes a solution. */
struct tree_match {
	struct stage *step;             /* from the parent */
	struct family pivot, reduced;
	struct term lower;
};

static bool tree_match_find(struct module *module, struct array *solution, struct tree_match *m)
{
	struct array *reduced, *pivot;
	term_list terms;

	m->step = type_is_float(solution->type) ? step_of(module, solution) : NULL;
	if (!m->step)
		return false;
	terms = terms_of(module->arena, m->step->value, solution);
	if (!terms_split(&terms, solution) || terms.items[0].is_negative)
		return false;
	reduced = factor_here(&terms.items[0].over, m->step);
	pivot = factor_here(&terms.items[0].under, m->step);
	if (!reduced || !pivot || reduced->rank != solution->rank || !family_find(module, pivot, &m->pivot) ||
	    !family_find(module, reduced, &m->reduced))
		return false;
	m->lower = terms.items[1];
	m->lower.is_negative = !m->lower.is_negative;
	return is_at_parent(factors_take_read(&m->lower.over, solution), m->step, m->pivot.tree) &&
	       factors_take_read(&m->lower.under, pivot) &&
	       belong_together(module, &m->pivot, &m->reduced, m->step, &m->lower);
}

struct array *tree_elimination_pivots(struct module *module, struct array *solution, int *row)
{
	struct tree_match m;

	if (!tree_match_find(module, solution, &m))
		return NULL;
	*row = row_of(&m.pivot);
	return m.pivot.array;
}

/* ---- what an algorithm needs to know ---- */

/* Is the guard `parent < 0`, or `parent >= 0`, of the parent in the pivots' tree of the row that the stage writes? */
static bool is_guarded(const struct stage *stage, const struct family *pivot, enum expr_op op)
{
	const struct expr *row = stage->write.subs[row_of(pivot)];
	const struct expr *guard = stage->guard, *parent = guard && guard->kind == EXPR_OP ? guard->args[0] : NULL;
	const struct dim *dim = parent && parent->kind == EXPR_DIM ? &stage->dims.items[parent->index] : NULL;

	return dim && guard->op == op && expr_is_zero(guard->args[1]) && dim->kind == DIM_BIND &&
	       dim->source.array == pivot->tree && expr_same(dim->source.subs[0], row);
}

/* Does the stage write all of its array, whose first subscripts are those of the matrix, in the same dims? */
static bool goes_over_all(const struct stage *stage, const struct stage *matrix)
{
	const struct array *array = stage->write.array;
	bool goes = true;

	for (int d = 0; goes && d < array->rank; d++) {
		const struct expr *sub = stage->write.subs[d];
		const struct dim *dim = sub->kind == EXPR_DIM ? &stage->dims.items[sub->index] : NULL;

		goes = dim && dim->kind == DIM_RANGE && expr_equal(dim->lo, array->lo[d]) &&
		       expr_equal(dim->hi, array->hi[d]) &&
		       (d >= matrix->write.array->rank || (expr_same(sub, matrix->write.subs[d]) &&
							   dim_equal(dim, &matrix->dims.items[sub->index])));
	}
	return goes;
}

static bool boxes_agree(const struct array *a, const struct array *b)
{
	bool agree = a->rank == b->rank;

	for (int d = 0; agree && d < a->rank; d++)
		agree = expr_equal(a->lo[d], b->lo[d]) && expr_equal(a->hi[d], b->hi[d]);
	return agree;
}

static bool is_plain(const struct family *family)
{
	return !family->step->guard && family->step->dims.n == family->array->rank;
}

/* Do the recurrences run over all nodes, in the same loops? */
static bool go_over_all(const struct tree_match *m)
{
	const int row = row_of(&m->pivot);

	return is_plain(&m->pivot) && is_plain(&m->reduced) && goes_over_all(m->pivot.step, m->pivot.step) &&
	       goes_over_all(m->reduced.step, m->pivot.step) && goes_over_all(m->step, m->pivot.step) &&
	       boxes_agree(m->step->write.array, m->reduced.array) &&
	       expr_is_zero(m->pivot.array->lo[row]) && expr_equal(m->pivot.array->hi[row], m->pivot.tree->hi[0]);
}

/* Where there is no parent, x = y/p; else the step. */
static bool begins_at_roots(struct module *module, const struct tree_match *m)
{
	int n = 0;

	for (int i = 0; i < module->stages.n; i++) {
		struct stage *stage = module->stages.items[i];
		term_list terms;

		if (stage->write.array != m->step->write.array || stage == m->step)
			continue;
		terms = terms_of(module->arena, stage->value, stage->write.array);
		if (n++ || !goes_over_all(stage, m->pivot.step) || !is_guarded(stage, &m->pivot, OP_LT) ||
		    terms.n != 1 || terms.items[0].is_negative ||
		    factor_here(&terms.items[0].over, stage) != m->reduced.array ||
		    factor_here(&terms.items[0].under, stage) != m->pivot.array)
			return false;
	}
	return n == 1 && is_guarded(m->step, &m->pivot, OP_GE);
}

/* What is left of a recurrence without its sum. */
static struct expr *rest_of(struct module *module, const struct family *family)
{
	struct expr *value = expr_without_pivot(family->step->value);
	const struct array *sum = family->sum->write.array;
	term_list terms = terms_of(module->arena, value, sum);
	struct term own;

	terms_take(&terms, sum, &own);
	return terms_expr(module->arena, &terms, value->type, value->span);
}

/* The coefficient in the parent's row, at the node itself. */
static struct expr *upper_of(struct module *module, const struct tree_match *m)
{
	struct term upper = m->reduced.term;

	factors_take_read(&upper.over, m->reduced.array);
	factors_take_read(&upper.under, m->pivot.array);
	for (int i = 0; i < upper.over.n; i++)
		if (expr_uses_dim(upper.over.items[i], m->reduced.node))
			return NULL;
	for (int i = 0; i < upper.under.n; i++)
		if (expr_uses_dim(upper.under.items[i], m->reduced.node))
			return NULL;
	upper = at_dim(module->arena, &upper, m->reduced.sum, m->reduced.child, m->reduced.node);
	return term_expr(module->arena, &upper, m->reduced.array->type);
}

struct finding_reads {
	const struct tree_match *m;
	bool has_result, has_local;
};

static void look_at_coefficient(struct access *access, void *user)
{
	struct finding_reads *finding = user;

	finding->has_local |= access->array->role == ROLE_LOCAL;
	finding->has_result |= access->array == finding->m->step->write.array ||
			       access->array == finding->m->pivot.array || access->array == finding->m->reduced.array;
}

static const char *coefficients_problem(const struct tree_match *m, const struct tree_elimination *found)
{
	struct expr *const all[] = { found->lower, found->upper, found->diag, found->rhs };
	const int n_matrix = m->pivot.step->dims.n, n_all = m->reduced.step->dims.n;
	struct finding_reads finding = { .m = m };

	for (size_t i = 0; i < sizeof all/sizeof all[0]; i++) {
		if (!all[i])
			return "a coefficient of a node's parent depends on the parent, too";
		if (expr_last_dim(all[i]) >= (all[i] == found->rhs ? n_all : n_matrix))
			return "its coefficients depend on more than the system and the node";
		expr_reads(all[i], look_at_coefficient, &finding);
	}
	return finding.has_local ? "a coefficient is a sum, which is to be defined by itself first"
	     : finding.has_result ? "its coefficients depend on its results" : NULL;
}

static void keep(struct module *module, const struct tree_match *m, struct tree_elimination *found)
{
	const struct row_value rhs = { .stage = m->reduced.step, .n_dims = m->reduced.step->dims.n };
	struct elimination *rows = &found->rows;

	rows->solution = m->step->write.array;
	rows->row = row_of(&m->pivot);
	rows->n_sides = m->reduced.array->rank - m->pivot.array->rank;
	rows->group = m->step->group;
	rows->pivot = m->pivot.array;
	rows->reduced = m->reduced.array;
	vec_push(module->arena, &rows->values[ROW_RHS], rhs);
	found->tree = (struct array *) (uintptr_t) m->pivot.tree;
	found->lower = term_expr(module->arena, &m->lower, rows->solution->type);
	found->upper = upper_of(module, m);
	found->diag = rest_of(module, &m->pivot);
	found->rhs = rest_of(module, &m->reduced);
}

const char *tree_elimination_problem(struct module *module, struct array *solution,
				     struct tree_elimination *elimination)
{
	struct tree_match m;

	*elimination = (struct tree_elimination) { .rows = { .module = module } };
	if (!tree_match_find(module, solution, &m))
		return "it is not computed by the three recurrences of elimination over a tree";
	if (!go_over_all(&m))
		return "its recurrences do not run over all nodes in the same loops";
	if (!begins_at_roots(module, &m))
		return "it does not begin at all roots, and only there, as a right-hand side over a pivot";
	keep(module, &m, elimination);
	return coefficients_problem(&m, elimination);
}
