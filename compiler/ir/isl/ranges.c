/* SPDX-License-Identifier: MIT
 *
 * Ranges without values, and branches of a case without points, since those before take them all. A range goes up, also
 * where a recurrence runs down: n..0 has no value but by mistake, and what stands behind it is silently never
 * computed. */
#include "ir/ir.h"

#include <string.h>

/* Sizes of at least 1: some ranges that go down have a value where a size is 0. */
static __isl_give isl_set *positive_sizes(const struct module *module)
{
	isl_set *sizes = isl_set_copy(module->context);

	for (int i = 0; i < module->params.n; i++) {
		const struct param *param = &module->params.items[i];
		int at = isl_set_find_dim_by_name(sizes, isl_dim_param, param->name);

		if (at >= 0 && !param->is_loop)
			sizes = isl_set_lower_bound_si(sizes, isl_dim_param, (unsigned) at, 1);
	}
	return sizes;
}

static bool is_empty(__isl_take isl_set *set, __isl_keep isl_set *sizes)
{
	isl_bool empty;

	set = isl_set_intersect_params(set, isl_set_copy(sizes));
	empty = isl_set_is_empty(set);
	isl_set_free(set);
	return empty == isl_bool_true;
}

static void warn(struct module *module, const char *name, struct span span, bool is_always)
{
	struct diag *diag;

	if (diag_was_reported(module->diags, DIAG_EMPTY_RANGE, span))
		return;
	diag = diag_warning(module->diags, DIAG_EMPTY_RANGE, span, "the range of '%s' is empty for all sizes%s", name,
			    is_always ? "" : " from 1 on");
	diag_help(module->diags, diag, (struct span) { 0 },
		  "a range goes up, also where a recurrence runs down: lo..hi has the values lo, ..., hi-1");
}

/* Of an array as a whole, and not of a range in the text. */
static bool is_implied(const struct dim *dim)
{
	return dim->lo->span.start < dim->span.start || dim->lo->span.end > dim->span.end;
}

/* What a construct computes is not in the text, but for the call. */
static bool is_written(const struct stage *stage)
{
	const struct span *value = &stage->value->span, *whole = &stage->span;

	return stage->guard && !strchr(stage->write.array->name, '.') && value->end && value->start != whole->start;
}

static void warn_branch(struct module *module, struct span span)
{
	struct diag *diag;

	if (diag_was_reported(module->diags, DIAG_NEVER_REACHED, span))
		return;
	diag = diag_warning(module->diags, DIAG_NEVER_REACHED, span, "this branch is never reached");
	diag_help(module->diags, diag, (struct span) { 0 },
		  "the first branch whose condition holds is taken: no point of the ranges is left for this one");
}

static void check_stage(struct module *module, const struct stage *stage, __isl_keep isl_set *sizes)
{
	int n = 0;

	while (n < stage->dims.n && !is_empty(stage_points(module, stage, n + 1), sizes))
		n++;
	if (n == stage->dims.n && is_written(stage) && is_empty(isl_set_copy(stage->domain), module->context))
		warn_branch(module, stage->value->span);
	if (n < stage->dims.n && stage->dims.items[n].kind == DIM_RANGE && !is_implied(&stage->dims.items[n]))
		warn(module, stage->dims.items[n].name, stage->dims.items[n].span,
		     is_empty(stage_points(module, stage, n + 1), module->context));
}

void module_check_ranges(struct module *module)
{
	isl_set *sizes = positive_sizes(module);

	if (module->loop.var && isl_set_is_empty(sizes) == isl_bool_false && is_empty(loop_set(module), sizes))
		warn(module, module->loop.var, module->loop.span, is_empty(loop_set(module), module->context));
	for (int i = 0; i < module->stages.n; i++) {
		const struct stage *stage = module->stages.items[i];

		if (is_empty(isl_set_copy(stage->domain), sizes) && !is_empty(stage_points(module, stage, 0), sizes))
			check_stage(module, stage, sizes);
		module_note_quota(module, stage->span);
	}
	isl_set_free(sizes);
}
