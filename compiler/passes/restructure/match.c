/* SPDX-License-Identifier: MIT
 *
 * Accumulations that a restructuring can serve: one stage whose outermost loop runs over the points 0..n of arrays that
 * are fixed when the plan is made, some of which are index arrays. Its updates commute, so that any order of the points
 * is right. A condition that no loop of the stage changes lets all points run or none: the new stages have it, too. */
#include <string.h>

#include "passes/restructure/restructure_private.h"

bool access_is_of_points(const struct accumulation *accumulation, const struct access *access)
{
	const struct array *array = access->array;
	const struct dim *points = &accumulation->stage->dims.items[0];

	return array->role == ROLE_IN && array->is_fixed && array->rank == 1 && expr_is_zero(array->lo[0]) &&
	       expr_equal(array->hi[0], points->hi) && access->subs[0]->kind == EXPR_DIM && access->subs[0]->index == 0;
}

static bool dim_is_points(const struct dim *dim)
{
	return dim->kind == DIM_RANGE && expr_is_zero(dim->lo) && expr_last_dim(dim->hi) < 0;
}

static const char *object_of(struct arena *arena, const struct stage *stage, int mode)
{
	const char *name = stage->dims.items[mode].source.array->name, *dot = strchr(name, '.');

	return dot ? arena_printf(arena, "%.*s", (int) (dot - name), name) : stage->write.array->name;
}

static const char *shape_problem(const struct group *group)
{
	const struct stage *stage = group->stages.items[0];

	if (group->stages.n != 1 || stage->op == REDUCE_SET || stage->write.array->role == ROLE_LOCAL)
		return "this is no sum into an array by one statement";
	if (!stage->dims.n || !dim_is_points(&stage->dims.items[0]))
		return "its outermost loop does not run over all points, from 0 to a size";
	if (stage->guard && expr_last_dim(stage->guard) >= 0)
		return "it runs under a condition on its points";
	return NULL;
}

static const char *modes_find(struct accumulation *accumulation)
{
	struct stage *stage = accumulation->stage;

	for (int i = 1; i < stage->dims.n; i++) {
		const struct dim *dim = &stage->dims.items[i];

		if (dim->kind == DIM_CHILDREN)
			return "it runs over the children of a node";
		if (dim->kind == DIM_BIND && (dim->source.array->facts & FACT_INDEX) &&
		    access_is_of_points(accumulation, &dim->source))
			vec_push(accumulation->module->arena, &accumulation->modes, i);
	}
	return accumulation->modes.n ? NULL : "it reads no index array that is 'fixed in' at the points of its "
					      "outermost loop";
}

bool accumulation_match(struct module *module, struct group *group, struct accumulation *accumulation)
{
	struct stage *stage = group->stages.items[0];

	*accumulation = (struct accumulation) { .module = module, .group = group, .stage = stage };
	accumulation->problem = shape_problem(group);
	if (!accumulation->problem && stage_reads_array(stage, stage->write.array))
		accumulation->problem = "it reads what it adds to";
	if (!accumulation->problem)
		accumulation->problem = modes_find(accumulation);
	if (accumulation->problem)
		return false;
	accumulation->object = object_of(module->arena, stage, accumulation->modes.items[0]);
	return true;
}

int accumulation_mode(const struct accumulation *accumulation, const char *name)
{
	for (int i = 0; i < accumulation->modes.n; i++) {
		const struct dim *dim = &accumulation->stage->dims.items[accumulation->modes.items[i]];
		const char *array = dim->source.array->name, *dot = strchr(array, '.');

		if (!strcmp(dim->name, name) || !strcmp(array, name) || (dot && !strcmp(dot + 1, name)))
			return accumulation->modes.items[i];
	}
	return -1;
}
