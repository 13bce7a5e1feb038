/* SPDX-License-Identifier: MIT
 *
 * No cell is defined twice: neither by two points of one definition, nor by two definitions, nor in two iterations of
 * the loop. What cannot be proved is shown by the smallest two points that meet. */
#include "ir/ir.h"

#include <isl/point.h>
#include <string.h>

static bool is_plain_definition(const struct stage *stage)
{
	return stage->op == REDUCE_SET && !stage->is_init && !stage->is_commit &&
	       stage->write.array->role != ROLE_LOCAL;
}

/* The pairs of instances, of one iteration of the loop, that define one cell. */
static __isl_give isl_map *meeting(const struct module *module, const struct stage *a, const struct stage *b)
{
	isl_map *both = access_map(module, a, &a->write);

	both = isl_map_apply_range(both, isl_map_reverse(access_map(module, b, &b->write)));
	both = isl_map_subtract(both, axioms_impossible(module, a, b));
	return a == b ? isl_map_subtract(both, isl_map_identity(isl_map_get_space(both))) : both;
}

/* The same of two iterations, `now` and `later`. */
static __isl_give isl_map *meeting_apart(const struct module *module, const struct stage *a, const struct stage *b,
					 const char *now, const char *later)
{
	isl_map *both = access_map(module, a, &a->write), *at_once;
	isl_map *cells = map_in_iteration(module, access_map(module, b, &b->write), later);

	both = isl_map_apply_range(both, isl_map_reverse(cells));
	both = isl_map_subtract(both, axioms_impossible_apart(module, a, b, later));
	at_once = isl_map_equate(isl_map_copy(both), isl_dim_param,
				 isl_map_find_dim_by_name(both, isl_dim_param, now), isl_dim_param,
				 isl_map_find_dim_by_name(both, isl_dim_param, later));
	return isl_map_subtract(both, at_once);
}

static struct diag *report_twice(struct module *module, const struct stage *a, const struct stage *b,
				 const char *how_alone)
{
	struct diag *diag = diag_error(module->diags, DIAG_DEFINED_TWICE, b->span,
				       "cells of '%s' may be defined twice",
				       array_title(module->arena, b->write.array));

	diag_label(module->diags, diag, a->span, "%s", a == b ? how_alone : "the other definition is here");
	return diag;
}

/* The index array without the fact 'unique' through which the stage writes; NULL: none. */
static const struct array *index_of_target(const struct stage *stage)
{
	for (int i = 0; i < stage->write.array->rank; i++) {
		const struct expr *sub = stage->write.subs[i];
		const struct dim *dim = sub->kind == EXPR_DIM ? &stage->dims.items[sub->index] : NULL;

		if (dim && dim->kind == DIM_BIND && dim->source.array->role == ROLE_IN)
			return dim->source.array;
	}
	return NULL;
}

/* "reduce y[i/2] += x[i] for i in 0..n;" of a definition in one line; NULL: it is none. */
static const char *sum_text(const struct module *module, const struct stage *stage)
{
	const char *text = span_text(module->diags->sources, module->arena, stage->span), *sign = strchr(text, '=');
	const char *name = stage->write.array->name;

	if (!sign || strchr(text, '\n') || strncmp(text, name, strlen(name)))
		return NULL;
	return arena_printf(module->arena, "reduce %.*s+%s", (int) (sign - text), text, sign);
}

static void help_alone(struct module *module, struct diag *diag, const struct stage *stage)
{
	const struct array *index = index_of_target(stage);
	const char *sum = sum_text(module, stage);
	const char *unique = index ? arena_printf(module->arena, "if no two values of '%s' are equal, declare it "
						  "'unique'; ", index->name) : "";

	diag_help(module->diags, diag, (struct span) { 0 }, "%svalues that add up are written %s", unique,
		  sum ? arena_printf(module->arena, "'%s'", sum) : "with 'reduce'");
}

/* "for example y[0], by i = 1 and by i = 0, when n = 2" of the smallest of `pairs`, { a[D] -> b[E] }. */
static const char *pair_text(struct module *module, const struct stage *a, const struct stage *b,
			     __isl_take isl_map *pairs)
{
	isl_map *cells = access_map(module, a, &a->write);
	isl_map *all = witness_relation(module, isl_map_flat_range_product(cells, pairs));
	isl_point *point = witness_smallest(all);
	int rank = a->write.array->rank;
	const char *first = witness_dims(module, a, a->dims.n, all, point, isl_dim_in, 0);
	const char *second = witness_dims(module, b, b->dims.n, all, point, isl_dim_out, (unsigned) rank);
	const char *params = witness_params(module, all, point);
	struct str text = str_new(module->arena);

	str_add(&text, "for example %s", array_title(module->arena, a->write.array));
	for (int i = 0; i < rank; i++)
		str_add(&text, "%s%ld%s", i ? ", " : "[", witness_value(all, point, isl_dim_out, (unsigned) i),
			i == rank - 1 ? "]" : "");
	if (*first && *second)
		str_add(&text, ", by %s and by %s", first, second);
	else if (*first || *second)
		str_add(&text, ", by %s", *first ? first : second);
	str_add(&text, "%s%s", *params ? ", when " : "", params);
	isl_point_free(point);
	isl_map_free(all);
	return str_text(&text);
}

static void check_once(struct module *module, const struct stage *a, const struct stage *b)
{
	isl_map *both = meeting(module, a, b);
	struct diag *diag;

	if (is_impossible(module, &both))
		return;
	diag = report_twice(module, a, b, "two points of this definition meet");
	diag_label(module->diags, diag, (struct span) { 0 }, "%s", pair_text(module, a, b, both));
	if (a == b)
		help_alone(module, diag, a);
}

static void check_iterations(struct module *module, const struct stage *a, const struct stage *b)
{
	const char *now = module->params.items[module->loop.param].name;
	const char *later = arena_printf(module->arena, "%s'", now);
	isl_map *both = meeting_apart(module, a, b, now, later);
	isl_point *point;
	struct diag *diag;

	if (is_impossible(module, &both))
		return;
	both = witness_relation(module, both);
	point = witness_smallest(both);
	diag = report_twice(module, a, b, "two iterations of the loop meet");
	diag_label(module->diags, diag, (struct span) { 0 }, "for example%s",
		   witness_text(module, a, both, point));
	isl_point_free(point);
	isl_map_free(both);
}

/* Is there one array for all iterations of the loop? Others are new in each. */
static bool outlives_iteration(const struct module *module, const struct array *array)
{
	bool does = array->role == ROLE_OUT || array->role == ROLE_INOUT;

	for (int i = 0; i < module->stages.n && !does; i++)
		does = !stage_is_in_loop(module, module->stages.items[i]) &&
		       stage_reads_array(module->stages.items[i], array);
	return does;
}

static void check_pair(struct module *module, const struct stage *a, const struct stage *b)
{
	if (a->write.array != b->write.array || !is_plain_definition(a) || !is_plain_definition(b))
		return;
	if (a->is_next != b->is_next)
		return;
	check_once(module, a, b);
	module_note_quota(module, b->span);
	if (!a->is_next && stage_is_in_loop(module, a) && stage_is_in_loop(module, b) &&
	    outlives_iteration(module, a->write.array))
		check_iterations(module, a, b);
}

void module_check_single_definition(struct module *module)
{
	for (int i = 0; i < module->stages.n; i++)
		for (int j = i; j < module->stages.n; j++)
			check_pair(module, module->stages.items[i], module->stages.items[j]);
}
