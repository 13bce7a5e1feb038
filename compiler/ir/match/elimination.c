/* SPDX-License-Identifier: MIT
 *
 * Recognition of elimination (ir/match/elimination.h). Each of the three recurrences is taken apart into terms: how it
 * depends on its own value of the row before, and the rest. What the rest is does not matter; that the three belong
 * together is what has to be proved: the pivots take the product of the two off-diagonals, and all run over the same
 * rows. */
#include <string.h>

#include "ir/match/elimination_private.h"

bool PRINTF_LIKE(2, 3) match_fail(struct match *m, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	m->problem = arena_vprintf(m->arena, format, args);
	va_end(args);
	return false;
}

/* ---- recurrences ---- */

struct self_reads {
	struct sweep *sweep;
	int n;
	bool is_first_order;
};

static void look_at_read(struct access *access, void *user)
{
	struct self_reads *reads = user;
	struct sweep *sweep = reads->sweep;
	int dim, row = -1;
	int64_t by = 0, offset;

	if (access->array != sweep->array)
		return;
	for (int i = 0; i < access->array->rank && reads->is_first_order; i++) {
		reads->is_first_order = expr_is_shifted_dim(access->subs[i], &dim, &offset) &&
					dim == sweep->step->write.subs[i]->index && (!offset || row < 0);
		if (offset) {
			row = i;
			by = offset;
		}
	}
	reads->is_first_order = reads->is_first_order && (by == 1 || by == -1) &&
				(!reads->n || (row == sweep->row && by == sweep->by));
	sweep->row = row;
	sweep->by = by;
	reads->n++;
}

static bool writes_dims(const struct stage *stage)
{
	bool writes = true;

	for (int i = 0; writes && i < stage->write.array->rank; i++) {
		const struct expr *sub = stage->write.subs[i];

		writes = sub->kind == EXPR_DIM && stage->dims.items[sub->index].kind == DIM_RANGE;
		for (int j = 0; writes && j < i; j++)
			writes = stage->write.subs[j]->index != sub->index;
	}
	return writes;
}

bool sweep_find(struct module *module, struct array *array, struct sweep *sweep)
{
	struct self_reads reads = { .sweep = sweep, .is_first_order = true };

	*sweep = (struct sweep) { .array = array };
	for (int i = 0; i < module->stages.n; i++) {
		struct stage *stage = module->stages.items[i];

		if (stage->write.array != array)
			continue;
		if (stage->op != REDUCE_SET || stage->is_init || stage->is_commit ||
		    (sweep->step && stage_reads_array(stage, array)))
			return false;
		if (stage_reads_array(stage, array))
			sweep->step = stage;
		else
			vec_push(module->arena, &sweep->bases, stage);
	}
	if (!sweep->step || !sweep->bases.n || !type_is_float(array->type) || !writes_dims(sweep->step))
		return false;
	expr_reads(sweep->step->value, look_at_read, &reads);
	return reads.n && reads.is_first_order;
}

/* ---- do they belong together ---- */

static bool dims_agree(const struct stage *a, const struct stage *b, int n)
{
	bool agree = a->dims.n >= n && b->dims.n >= n;

	for (int i = 0; agree && i < n; i++) {
		const struct dim *x = &a->dims.items[i], *y = &b->dims.items[i];

		agree = x->kind == y->kind;
		if (agree && x->kind == DIM_RANGE)
			agree = expr_equal(x->lo, y->lo) && expr_equal(x->hi, y->hi);
		else if (agree)
			agree = x->source.array == y->source.array;
		for (int s = 0; agree && x->kind != DIM_RANGE && s < access_n_subs(&x->source); s++)
			agree = expr_equal(x->source.subs[s], y->source.subs[s]);
	}
	return agree;
}

static bool guards_agree(const struct stage *a, const struct stage *b)
{
	return a->guard && b->guard ? expr_same(a->guard, b->guard) : a->guard == b->guard;
}

/* Where a dim is read from offsets: they have segments, or end at 0. */
static __isl_give isl_set *with_segments(const struct module *module, const struct dim *dim, __isl_take isl_set *set)
{
	struct arena *arena = module->arena;
	const struct array *offsets = dim->source.array;
	struct expr *has, *ends;

	if (dim->kind != DIM_BIND || !(offsets->facts & FACT_OFFSETS))
		return set;
	has = expr_binary(arena, OP_GE, TYPE_BOOL, offsets->hi[0], expr_int(arena, 2, dim->span));
	ends = expr_binary(arena, OP_LE, TYPE_BOOL, offsets->limit, expr_int(arena, 0, dim->span));
	return isl_set_intersect_params(set, expr_set(module, NULL, expr_binary(arena, OP_OR, TYPE_BOOL, has, ends)));
}

/* Do all stages that write the array write all of it, in each iteration if they are of the loop? */
static bool is_whole(struct module *module, struct array *array)
{
	isl_set *box = isl_set_intersect_params(array_box(module, array), isl_set_copy(module->context));
	isl_set *cells = isl_set_empty(isl_set_get_space(box));
	bool is;

	for (int i = 0; i < module->stages.n; i++) {
		const struct stage *stage = module->stages.items[i];

		if (stage->write.array != array)
			continue;
		if (group_region(module, stage->group) == REGION_BODY)
			box = isl_set_intersect_params(box, loop_set(module));
		cells = isl_set_union(cells, isl_map_range(access_map(module, stage, &stage->write)));
		for (int d = 0; d < stage->dims.n; d++)
			box = with_segments(module, &stage->dims.items[d], box);
	}
	is = isl_set_is_subset(box, cells) == isl_bool_true;
	isl_set_free(box);
	isl_set_free(cells);
	return is;
}

static bool boxes_agree(const struct array *a, const struct array *b, int rank)
{
	bool agree = true;

	for (int i = 0; i < rank; i++)
		agree = agree && expr_equal(a->lo[i], b->lo[i]) && expr_equal(a->hi[i], b->hi[i]);
	return agree;
}

static bool subs_are(const struct access *access, const struct stage *stage, int n)
{
	bool are = true;

	for (int i = 0; i < n; i++)
		are = are && expr_same(access->subs[i], stage->write.subs[i]);
	return are;
}

/* Both sweeps are over the same rows of the same systems, the first with right-hand sides behind them. */
static bool agree(struct match *m, const struct sweep *a, const struct sweep *b)
{
	int n = b->step->dims.n;
	bool rows_agree = a->row == b->row && a->array->rank >= b->array->rank && dims_agree(a->step, b->step, n) &&
			  boxes_agree(a->array, b->array, b->array->rank);

	for (int i = 0; rows_agree && i < a->array->rank; i++)
		rows_agree = i < b->array->rank ? a->step->write.subs[i]->index == b->step->write.subs[i]->index
						: a->step->write.subs[i]->index >= n;
	if (!rows_agree)
		return match_fail(m, "'%s' and '%s' do not run over the same rows in the same loops", a->array->name,
			    b->array->name);
	if (group_region(m->module, a->step->group) != group_region(m->module, b->step->group))
		return match_fail(m, "'%s' and '%s' are not computed together", a->array->name, b->array->name);
	return true;
}

/* The recurrences of pivots and right-hand sides begin at the same rows. */
static bool bases_agree(struct match *m)
{
	const stage_list *a = &m->reduced.bases, *b = &m->pivot.bases;
	int n_sides = m->reduced.array->rank - m->pivot.array->rank;
	bool are = a->n == b->n;

	for (int i = 0; are && i < a->n; i++)
		are = a->items[i]->dims.n == b->items[i]->dims.n + n_sides &&
		      dims_agree(a->items[i], b->items[i], b->items[i]->dims.n) &&
		      guards_agree(a->items[i], b->items[i]) &&
		      subs_are(&a->items[i]->write, b->items[i], m->pivot.array->rank);
	return are || match_fail(m, "'%s' and '%s' do not begin at the same rows", m->reduced.array->name,
			   m->pivot.array->name);
}

/* ---- the recurrence of the solution ---- */

/* The only factor, a read at the point of the stage; NULL. */
struct array *factor_here(const factor_list *factors, const struct stage *stage)
{
	const struct expr *read = factors->n == 1 ? factors->items[0] : NULL;

	if (!read || read->kind != EXPR_READ || read->access.array->rank > stage->write.array->rank ||
	    !subs_are(&read->access, stage, read->access.array->rank))
		return NULL;
	return read->access.array;
}

/* Of two terms, the one that reads the array is made the second. False: there are others. */
bool terms_split(term_list *terms, const struct array *array)
{
	struct term first;

	if (terms->n != 2)
		return false;
	if (term_reads(&terms->items[0], array)) {
		first = terms->items[0];
		terms->items[0] = terms->items[1];
		terms->items[1] = first;
	}
	return !term_reads(&terms->items[0], array) && term_reads(&terms->items[1], array);
}

/* x = y/p - upper*x'/p */
static bool match_solution(struct match *m)
{
	const struct stage *step = m->solution.step;
	term_list terms = terms_of(m->arena, m->solution.step->value, m->solution.array);
	struct array *reduced, *pivot;
	struct expr *divisor;

	if (!terms_split(&terms, m->solution.array))
		return match_fail(m, "its own value does not stand in one term of two");
	reduced = factor_here(&terms.items[0].over, step);
	pivot = factor_here(&terms.items[0].under, step);
	if (!reduced || !pivot || terms.items[0].is_negative)
		return match_fail(m, "the term without its own value is not a value of the row over a pivot of the "
				  "row");
	m->upper = terms.items[1];
	m->upper.is_negative = !m->upper.is_negative;
	divisor = factors_take_read(&m->upper.under, pivot);
	if (!factors_take_read(&m->upper.over, m->solution.array) || !divisor ||
	    !subs_are(&divisor->access, step, pivot->rank))
		return match_fail(m, "its own value is not divided by the pivot of the row, '%s'", pivot->name);
	if (!sweep_find(m->module, reduced, &m->reduced))
		return match_fail(m, "'%s', which it reads, is no recurrence from row to row", reduced->name);
	if (!sweep_find(m->module, pivot, &m->pivot))
		return match_fail(m, "'%s', which it divides by, is no recurrence from row to row", pivot->name);
	return true;
}

/* Where the substitution begins, x = y/p. */
static bool match_ends(struct match *m)
{
	for (int i = 0; i < m->solution.bases.n; i++) {
		struct stage *base = m->solution.bases.items[i];
		term_list terms = terms_of(m->arena, base->value, m->solution.array);

		if (terms.n != 1 || terms.items[0].is_negative ||
		    factor_here(&terms.items[0].over, base) != m->reduced.array ||
		    factor_here(&terms.items[0].under, base) != m->pivot.array ||
		    base->dims.n < m->reduced.array->rank - m->pivot.array->rank)
			return match_fail(m, "where it begins it is not '%s' over '%s'", m->reduced.array->name,
				    m->pivot.array->name);
	}
	return true;
}

/* ---- the other two ---- */

/* Takes the term that reads `array` out of the terms. False: there is none, or several. */
bool terms_take(term_list *terms, const struct array *array, struct term *taken)
{
	int n = 0, n_taken = 0;

	for (int i = 0; i < terms->n; i++) {
		if (term_reads(&terms->items[i], array)) {
			*taken = terms->items[i];
			n_taken++;
		} else {
			terms->items[n++] = terms->items[i];
		}
	}
	terms->n = n;
	return n_taken == 1;
}

/* Is it the pivot of the row before? */
bool match_is_before(const struct match *m, const struct expr *read, const struct stage *stage)
{
	const struct sweep *pivot = &m->pivot;
	bool is = read;

	for (int i = 0; is && i < pivot->array->rank; i++) {
		int dim;
		int64_t at;

		is = expr_is_shifted_dim(read->access.subs[i], &dim, &at) && dim == stage->write.subs[i]->index &&
		     at == (i == pivot->row ? pivot->by : 0);
	}
	return is;
}

/* y = rhs - lower*y'/p' */
static bool match_reduced(struct match *m)
{
	struct sweep *sweep = &m->reduced;

	m->rhs = terms_of(m->arena, sweep->step->value, sweep->array);
	if (!terms_take(&m->rhs, sweep->array, &m->lower) || !factors_take_read(&m->lower.over, sweep->array) ||
	    !match_is_before(m, factors_take_read(&m->lower.under, m->pivot.array), sweep->step))
		return match_fail(m, "'%s' does not take its value of the row before over '%s' of the row before",
			    sweep->array->name, m->pivot.array->name);
	m->lower.is_negative = !m->lower.is_negative;
	return true;
}

/* p = diag - lower*upper'/p' */
static bool match_pivot(struct match *m)
{
	struct sweep *sweep = &m->pivot;
	int row = sweep->step->write.subs[sweep->row]->index;
	struct term upper = term_shift(m->arena, &m->upper, row, sweep->by), product, own;

	m->diag = terms_of(m->arena, sweep->step->value, sweep->array);
	if (!terms_take(&m->diag, sweep->array, &own) ||
	    !match_is_before(m, factors_take_read(&own.under, sweep->array), sweep->step))
		return match_fail(m, "'%s' does not divide by its value of the row before", sweep->array->name);
	own.is_negative = !own.is_negative;
	product = term_product(m->arena, &m->lower, &upper);
	return term_equal(&own, &product) ||
	       match_fail(m, "what '%s' takes from the diagonal is not the product of the off-diagonals",
		    sweep->array->name);
}

/* ---- what was found ---- */

static void add_value(struct match *m, enum row_coefficient of, const struct stage *stage, int n_dims,
		      struct expr *value)
{
	struct row_value row = { .stage = stage, .n_dims = n_dims, .value = value };

	vec_push(m->arena, &m->found->values[of], row);
}

/* No couplings where the recurrence begins. */
static void add_zeros(struct match *m, enum row_coefficient of, const struct sweep *sweep, int n_sides)
{
	for (int i = 0; i < sweep->bases.n; i++)
		add_value(m, of, sweep->bases.items[i], sweep->bases.items[i]->dims.n - n_sides, NULL);
}

static void add_bases(struct match *m, enum row_coefficient of, const struct sweep *sweep, const expr_list *values)
{
	for (int i = 0; i < sweep->bases.n; i++)
		add_value(m, of, sweep->bases.items[i], sweep->bases.items[i]->dims.n,
			  values->n ? values->items[i] : expr_without_pivot(sweep->bases.items[i]->value));
}

static bool reads_sweeps(const struct match *m, const struct term *term)
{
	return term_reads(term, m->solution.array) || term_reads(term, m->reduced.array) ||
	       term_reads(term, m->pivot.array);
}

static bool uses_dims_from(const struct term *term, int first)
{
	bool uses = false;

	for (int i = 0; i < term->over.n; i++)
		uses = uses || expr_last_dim(term->over.items[i]) >= first;
	for (int i = 0; i < term->under.n; i++)
		uses = uses || expr_last_dim(term->under.items[i]) >= first;
	return uses;
}

/* Off-diagonals are those of the matrix, the same for all right-hand sides, and so is where the substitution begins. */
static bool check_matrix(struct match *m)
{
	int n = m->pivot.step->dims.n, n_sides = m->reduced.array->rank - m->pivot.array->rank;
	const stage_list *ends = &m->solution.bases;
	bool depends = uses_dims_from(&m->lower, n) || uses_dims_from(&m->upper, n) ||
		       (m->solution.step->guard && expr_last_dim(m->solution.step->guard) >= n);

	for (int i = 0; i < ends->n; i++)
		depends = depends || (ends->items[i]->guard &&
				      expr_last_dim(ends->items[i]->guard) >= ends->items[i]->dims.n - n_sides);
	if (depends)
		return match_fail(m, "its coefficients are not the same for all right-hand sides");
	if (reads_sweeps(m, &m->lower) || reads_sweeps(m, &m->upper))
		return match_fail(m, "its coefficients depend on its results");
	return true;
}

static bool check_rows(struct match *m)
{
	if (!agree(m, &m->reduced, &m->pivot) || !agree(m, &m->solution, &m->reduced) || !bases_agree(m))
		return false;
	if (m->solution.array->rank != m->reduced.array->rank)
		return match_fail(m, "'%s' has other right-hand sides", m->reduced.array->name);
	if (m->pivot.by != m->reduced.by || m->solution.by != -m->reduced.by)
		return match_fail(m, "it does not run against '%s' and '%s'", m->reduced.array->name,
				  m->pivot.array->name);
	if (!is_whole(m->module, m->solution.array) || !is_whole(m->module, m->reduced.array) ||
	    !is_whole(m->module, m->pivot.array))
		return match_fail(m, "it does not define whole arrays");
	return true;
}

static void keep(struct match *m)
{
	struct elimination *found = m->found;
	bool is_upwards = m->pivot.by < 0;
	enum row_coefficient before = is_upwards ? ROW_LOWER : ROW_UPPER, behind = is_upwards ? ROW_UPPER : ROW_LOWER;
	enum scalar_type pivot = m->pivot.step->value->type, solution = m->solution.step->value->type;
	int n = m->pivot.step->dims.n;

	found->solution = m->solution.array;
	found->pivot = m->pivot.array;
	found->reduced = m->reduced.array;
	found->group = m->solution.step->group;
	found->row = m->pivot.row;
	found->n_sides = m->reduced.array->rank - m->pivot.array->rank;
	add_zeros(m, before, &m->pivot, 0);
	add_value(m, before, m->pivot.step, n, term_expr(m->arena, &m->lower, pivot));
	add_bases(m, ROW_DIAG, &m->pivot, &m->diag_bases);
	add_value(m, ROW_DIAG, m->pivot.step, n, terms_expr(m->arena, &m->diag, pivot, m->pivot.step->span));
	add_zeros(m, behind, &m->solution, found->n_sides);
	add_value(m, behind, m->solution.step, m->solution.step->dims.n - found->n_sides,
		  term_expr(m->arena, &m->upper, solution));
	add_bases(m, ROW_RHS, &m->reduced, &m->rhs_bases);
	add_value(m, ROW_RHS, m->reduced.step, m->reduced.step->dims.n,
		  terms_expr(m->arena, &m->rhs, m->reduced.step->value->type, m->reduced.step->span));
}

const char *pivots_name(struct arena *arena, const struct array *pivots)
{
	const char *dot = strrchr(pivots->name, '.');

	return dot ? arena_printf(arena, "%.*s", (int) (dot - pivots->name), pivots->name) : pivots->name;
}

const char *elimination_problem(struct module *module, struct array *solution, struct elimination *elimination)
{
	struct match m = { .found = elimination, .module = module, .arena = module->arena };
	bool is;

	*elimination = (struct elimination) { .module = module };
	if (!sweep_find(module, solution, &m.solution))
		is = match_fail(&m, "it is no recurrence from row to row");
	else
		is = ((elimination->is_scaled = match_is_scaled(&m))
		      ? check_rows(&m) && match_scaled(&m)
		      : match_solution(&m) && check_rows(&m) && match_ends(&m) && match_reduced(&m) &&
			match_pivot(&m)) && check_matrix(&m);
	if (is)
		keep(&m);
	elimination->is_near = m.pivot.array;
	return is ? NULL : m.problem;
}
