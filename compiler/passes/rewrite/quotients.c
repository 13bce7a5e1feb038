/* SPDX-License-Identifier: MIT
 *
 * What recurrences divide. Where all that divides by a temporary p of a recurrence divides values that belong to the
 * same point, y[i]/p[i] and c[i]/p[i], the quotients are kept in the place of what they are made of: y is y/p from
 * the beginning, and of a c that is there before p, c/p is kept instead of p, which then lives in one iteration. So is
 * a sum divided term by term: (y[i] - c[i]*x[j])/p[i] becomes y[i] - c[i]*x[j] of these, which is two values to read,
 * not three, and one operation to wait for.
 *
 * The terms of all numerators are looked at first: each must have a factor whose subscripts tell those of p. Those that
 * are the only such factor of a term are kept as quotients, and must do for all other terms. */
#include <string.h>

#include "passes/pass_private.h"

/* A factor that is kept divided: in its place, or, where it is there before the divisor, in that of the divisor. */
struct kept {
	struct array *array;
	bool is_before;
	int *subs;                      /* the subscript of the divisor as one of the array; `is_before`: the reverse */
	int n_terms;
	struct array *quotient;         /* `is_before`: what takes the place of the divisor */
};

struct quotients {
	struct module *module;
	struct array *divisor;
	VEC(struct kept) kept;
	bool is_possible;
	void (*visit)(struct quotients *q, struct expr *term, const struct access *divisor);
};

/* ---- terms of numerators ---- */

static void visit_numerator(struct quotients *q, struct expr *expr, const struct access *divisor)
{
	bool is_sum = expr->kind == EXPR_OP && (expr->op == OP_ADD || expr->op == OP_SUB || expr->op == OP_NEG);

	if (!is_sum)
		q->visit(q, expr, divisor);
	for (int i = 0; is_sum && i < expr_n_args(expr); i++)
		visit_numerator(q, expr->args[i], divisor);
}

static void visit_quotients(struct quotients *q, struct expr *expr)
{
	if (expr_is_quotient_by(expr, q->divisor)) {
		q->is_possible = q->is_possible && !expr_reads_array(expr->args[0], q->divisor);
		visit_numerator(q, expr->args[0], &expr->args[1]->access);
		return;
	}
	for (int i = 0; i < expr_n_args(expr); i++)
		visit_quotients(q, expr->args[i]);
}

static void visit_all(struct quotients *q, void (*visit)(struct quotients *q, struct expr *term,
							 const struct access *divisor))
{
	q->visit = visit;
	for (int i = 0; i < q->module->stages.n && q->is_possible; i++)
		visit_quotients(q, q->module->stages.items[i]->value);
}

/* ---- factors ---- */

/* Where the first and the last group that write an array run among all groups; -1: arguments are there before. */
struct places {
	int first, last;
};

static struct places places_of(const struct module *module, const struct array *array)
{
	struct places places = { -1, -1 };
	int place = 0;

	for (int r = 0; r < REGION_N; r++)
		for (int g = 0; g < module->regions[r].groups.n; g++, place++)
			if (group_writes(module->regions[r].groups.items[g], array))
				places = (struct places) { places.first < 0 ? place : places.first, place };
	return places;
}

static bool is_set_plainly(const struct module *module, const struct array *array)
{
	bool is = true;

	for (int i = 0; i < module->stages.n && is; i++) {
		const struct stage *stage = module->stages.items[i];

		is = stage->write.array != array || (stage->op == REDUCE_SET && !stage->is_init && !stage->is_commit);
	}
	return is;
}

/* Is each subscript of `few` one of `many`, and of the same range? */
static bool are_among(const struct access *few, const struct access *many, int *subs)
{
	for (int d = 0; d < few->array->rank; d++) {
		int at = 0;

		while (at < many->array->rank && !expr_equal(few->subs[d], many->subs[at]))
			at++;
		if (at == many->array->rank || !expr_equal(few->array->lo[d], many->array->lo[at]) ||
		    !expr_equal(few->array->hi[d], many->array->hi[at]))
			return false;
		subs[d] = at;
	}
	return true;
}

static bool is_candidate(const struct quotients *q, const struct access *factor, const struct access *divisor,
			 struct kept *kept)
{
	struct array *array = factor->array;
	struct places of = places_of(q->module, array), of_divisor = places_of(q->module, q->divisor);

	*kept = (struct kept) { .array = array, .is_before = of.last < of_divisor.first };
	if (array->type != q->divisor->type || (!kept->is_before && of.first <= of_divisor.last) ||
	    (array->role != ROLE_IN && array->role != ROLE_TEMP))
		return false;
	kept->subs = arena_new_array(q->module->arena, int, array->rank + q->divisor->rank);
	if (kept->is_before)
		return are_among(factor, divisor, kept->subs);
	return is_set_plainly(q->module, array) && are_among(divisor, factor, kept->subs);
}

/* The factors of a term that could be kept, and those that are: the last of each, and how many there are. */
struct factors {
	struct expr *expr;
	struct kept kept;
	int n;
	struct expr *chosen;
	struct kept *choice;
};

static struct kept *find_kept(struct quotients *q, const struct kept *like)
{
	int n = like->is_before ? like->array->rank : q->divisor->rank;

	for (int i = 0; i < q->kept.n; i++) {
		struct kept *kept = &q->kept.items[i];

		if (kept->array == like->array && !memcmp(kept->subs, like->subs, (size_t) n*sizeof *kept->subs))
			return kept;
	}
	return NULL;
}

static void find_factors(struct quotients *q, struct expr *expr, const struct access *divisor, struct factors *found)
{
	struct kept kept;

	if (expr->kind == EXPR_OP && (expr->op == OP_MUL || expr->op == OP_DIV)) {
		find_factors(q, expr->args[0], divisor, found);
		if (expr->op == OP_MUL)
			find_factors(q, expr->args[1], divisor, found);
	} else if (expr->kind == EXPR_READ && is_candidate(q, &expr->access, divisor, &kept)) {
		struct kept *known = find_kept(q, &kept);

		found->expr = expr;
		found->kept = kept;
		found->n++;
		if (known && (!found->choice || !known->is_before)) {
			found->chosen = expr;
			found->choice = known;
		}
	}
}

/* ---- what is kept ---- */

static void keep_only_one(struct quotients *q, struct expr *term, const struct access *divisor)
{
	struct factors found = { 0 };

	find_factors(q, term, divisor, &found);
	if (found.n == 1 && !found.choice)
		vec_push(q->module->arena, &q->kept, found.kept);
}

static void count_terms(struct quotients *q, struct expr *term, const struct access *divisor)
{
	struct factors found = { 0 };

	find_factors(q, term, divisor, &found);
	q->is_possible = q->is_possible && found.choice;
	if (found.choice)
		found.choice->n_terms++;
}

/* One value at most takes the place of the divisor; others are read divided only. */
static bool is_kept_everywhere(struct quotients *q)
{
	int n_before = 0;
	bool is = q->kept.n > 0;

	for (int i = 0; i < q->kept.n && is; i++) {
		const struct kept *kept = &q->kept.items[i];

		n_before += kept->is_before;
		is = kept->is_before || kept->n_terms == module_count_reads(q->module, kept->array);
	}
	return is && n_before <= 1;
}

/* ---- where the divisor is computed ---- */

static struct stage *first_writer(const struct quotients *q)
{
	struct stage *found = NULL;

	for (int i = 0; i < q->module->stages.n && !found; i++)
		if (q->module->stages.items[i]->write.array == q->divisor)
			found = q->module->stages.items[i];
	return found;
}

/* Is it written by one group, at each point of the common dims, one cell of its own at each? */
static bool has_plain_cells(const struct quotients *q)
{
	const struct stage *first = first_writer(q);
	bool has = first;

	for (int d = 0; d < q->divisor->rank && has; d++) {
		const struct expr *sub = first->write.subs[d];

		has = sub->kind == EXPR_DIM && sub->index < first->group->n_common &&
		      first->dims.items[sub->index].kind == DIM_RANGE;
	}
	for (int i = 0; i < q->module->stages.n && has; i++) {
		const struct stage *stage = q->module->stages.items[i];

		has = stage->write.array != q->divisor ||
		      (stage->group == first->group && access_equal(&stage->write, &first->write));
	}
	return has;
}

/* ---- the new module ---- */

static struct expr *read_divisor(struct quotients *q, struct expr **subs, const int *places, struct span span)
{
	struct expr **of = arena_new_array(q->module->arena, struct expr *, q->divisor->rank);

	for (int d = 0; d < q->divisor->rank; d++)
		of[d] = subs[places ? places[d] : d];
	return expr_read(q->module->arena, q->divisor, of, span);
}

/* y = value/p */
static void divide_definitions(struct quotients *q, const struct kept *kept)
{
	for (int i = 0; i < q->module->stages.n; i++) {
		struct stage *stage = q->module->stages.items[i];

		if (stage->write.array == kept->array)
			stage->value = expr_binary(q->module->arena, OP_DIV, kept->array->type, stage->value,
						   read_divisor(q, stage->write.subs, kept->subs, stage->span));
	}
}

static void add_array(struct quotients *q, struct kept *kept)
{
	struct array *divisor = q->divisor;
	const char *name = arena_printf(q->module->arena, "%s.%s", divisor->name, array_member_name(kept->array));

	kept->quotient = module_add_array(q->module, name, ROLE_TEMP, divisor->type, divisor->rank, divisor->span);
	for (int d = 0; d < divisor->rank; d++) {
		kept->quotient->lo[d] = divisor->lo[d];
		kept->quotient->hi[d] = divisor->hi[d];
	}
}

/* A stage behind those of p: c/p. */
static void add_definition(struct quotients *q, const struct kept *kept)
{
	struct arena *arena = q->module->arena;
	const struct stage *first = first_writer(q);
	struct expr **subs = arena_new_array(arena, struct expr *, kept->array->rank);
	dim_list common = { 0 };
	struct stage *stage;

	for (int d = 0; d < first->group->n_common; d++)
		vec_push(arena, &common, first->dims.items[d]);
	for (int d = 0; d < kept->array->rank; d++)
		subs[d] = first->write.subs[kept->subs[d]];
	stage = module_add_stage(q->module, first->group, &common, first->span);
	stage->write = (struct access) { kept->quotient, first->write.subs, first->span };
	stage->value = expr_binary(arena, OP_DIV, kept->quotient->type,
				   expr_read(arena, kept->array, subs, first->span),
				   read_divisor(q, first->write.subs, NULL, first->span));
}

/* Each term has a choice, as when they were counted, unless stages share it and it has been replaced already. */
static void replace_factor(struct quotients *q, struct expr *term, const struct access *divisor)
{
	struct factors found = { 0 };

	find_factors(q, term, divisor, &found);
	if (found.choice && found.choice->is_before)
		found.chosen->access = (struct access) { found.choice->quotient, divisor->subs, divisor->span };
}

static void drop_divisor(struct expr *expr, const struct array *divisor)
{
	if (expr_is_quotient_by(expr, divisor))
		*expr = *expr->args[0];
	for (int i = 0; i < expr_n_args(expr); i++)
		drop_divisor(expr->args[i], divisor);
}

static void explain(struct quotients *q, const struct kept *kept)
{
	const char *name = q->divisor->name;

	module_decide_that(q->module, DECISION_QUOTIENTS, kept->array->name,
			   arena_printf(q->module->arena, "divided by '%s'", name), NULL, kept->array->span, "%s",
			   !kept->is_before ? "each read divides it"
			   : arena_printf(q->module->arena, "others read the quotient: '%s' divides nothing but values "
					  "of its own point", name));
}

static void keep_quotients(struct quotients *q)
{
	struct module *module = q->module;

	for (int i = 0; i < q->kept.n; i++) {
		explain(q, &q->kept.items[i]);
		if (q->kept.items[i].is_before)
			add_array(q, &q->kept.items[i]);
	}
	visit_all(q, replace_factor);
	for (int i = 0; i < module->stages.n; i++)
		drop_divisor(module->stages.items[i]->value, q->divisor);
	for (int i = 0; i < q->kept.n; i++)
		if (q->kept.items[i].is_before)
			add_definition(q, &q->kept.items[i]);
		else
			divide_definitions(q, &q->kept.items[i]);
}

static bool find_quotients(struct quotients *q)
{
	q->is_possible = array_is_only_divisor(q->module, q->divisor) && has_plain_cells(q);
	visit_all(q, keep_only_one);
	visit_all(q, count_terms);
	return q->is_possible && is_kept_everywhere(q);
}

/* True if something is kept divided. */
static bool keep_for(struct module *module, struct array *divisor)
{
	struct quotients q = { .module = module, .divisor = divisor };

	if (!find_quotients(&q))
		return false;
	keep_quotients(&q);
	return true;
}

bool pass_quotients(struct module *module, const struct pass_options *options)
{
	int n_arrays = module->arrays.n;
	bool has_any = false;

	for (int i = 0; options->reciprocals && i < n_arrays; i++)
		has_any = keep_for(module, module->arrays.items[i]) || has_any;
	if (!has_any)
		return true;
	module_analyse(module);
	return module_order_recurrences(module);
}
