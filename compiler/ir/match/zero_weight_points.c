/* SPDX-License-Identifier: MIT
 *
 * Points that change nothing. In Y[voxel, t] += D[atom, t]*w[fiber]*value a point k at which w[fiber] is zero adds
 * nothing, whatever the loops around it. If this holds for all that a group does at the points and runs of a
 * restructuring, these points may be left out of it, and the runs that then are empty: the runtime keeps a shorter
 * restructuring beside the whole one while the zeros stay (runtime/inspect/nonzero_points.c).
 *
 * At a point, the factor is a cell of the weights, or a LOCAL value of the same point; at a run, a LOCAL value, which
 * by induction is made of terms that vanish. All else is zero, or touches segments and chunks only, which stay. */
#include "ir/schedule.h"

struct search {
	const struct restructuring *r;
	const struct stage *stage;
	struct live_points *live;
	bool is_at_point;               /* LOCAL values of the group are of one point */
};

static const struct inspected_copy *copy_in(const struct restructuring *r, const struct array *array)
{
	for (int i = 0; i < r->copies.n; i++)
		if (r->copies.items[i].to == array)
			return &r->copies.items[i];
	return NULL;
}

struct touch {
	const struct restructuring *r;
	bool runs, points;              /* what is stored by run or point, or where such begin; by point */
};

static void note_touch(struct access *access, void *user)
{
	struct touch *touch = user;
	const struct inspected_copy *copy = copy_in(touch->r, access->array);

	touch->runs |= copy || access->array == touch->r->segments || access->array == touch->r->runs ||
		       (touch->r->part_ends && access->array == touch->r->part_ends);
	touch->points |= copy && !copy->is_per_run;
}

static struct touch touch_of(const struct restructuring *r, const struct stage *stage)
{
	struct touch touch = { .r = r };

	stage_reads((struct stage *) stage, note_touch, &touch);
	return touch;
}

bool group_touches_points(const struct group *group, const struct restructuring *r)
{
	for (int i = 0; i < group->stages.n; i++)
		if (touch_of(r, group->stages.items[i]).runs)
			return true;
	return false;
}

/* The copy at whose values the weights are read; NULL: it is no such read. */
static const struct array *index_of_weights(const struct search *search, const struct expr *read)
{
	const struct array *array = read->access.array;
	const struct expr *sub = array->rank == 1 && array->role != ROLE_LOCAL ? read->access.subs[0] : NULL;
	const struct inspected_copy *copy;
	const struct dim *dim;

	if (!sub || sub->kind != EXPR_DIM || array->storage != STORAGE_F64 || array->role == ROLE_INSPECTED)
		return NULL;
	dim = &search->stage->dims.items[sub->index];
	copy = dim->kind == DIM_BIND ? copy_in(search->r, dim->source.array) : NULL;
	return copy && !copy->is_per_run ? copy->to : NULL;
}

static bool vanishes(const struct expr *read, const void *user)
{
	const struct search *search = user;
	const struct array *by = index_of_weights(search, read);
	struct live_points *live = search->live;

	if (read->access.array->role == ROLE_LOCAL)
		return search->is_at_point || !touch_of(search->r, search->stage).points;
	if (!by || (live->weights && (live->weights != read->access.array || live->by != by)))
		return false;
	live->weights = read->access.array;
	live->by = by;
	return true;
}

static bool add_finite(struct live_points *live, const struct zero_factor *factor)
{
	for (int i = 0; i < factor->n_finite; i++) {
		bool is_known = false;

		for (int j = 0; j < live->n_finite; j++)
			is_known |= live->finite[j] == factor->finite[i];
		if (!is_known && live->n_finite == MAX_FINITE)
			return false;
		if (!is_known)
			live->finite[live->n_finite++] = factor->finite[i];
	}
	return true;
}

static bool changes_nothing(const struct search *search)
{
	const struct stage *stage = search->stage;
	const bool is_local = stage->write.array->role == ROLE_LOCAL;
	struct zero_factor factor;

	if (is_local && stage->op == REDUCE_SET && expr_is_zero(stage->value))
		return true;
	if (stage->op != REDUCE_ADD && !(is_local && stage->op == REDUCE_SET))
		return false;
	return type_is_float(stage->write.array->type) && expr_zero_factor(stage->value, vanishes, search, &factor) &&
	       add_finite(search->live, &factor);
}

static bool has_points_in_common(const struct restructuring *r, const struct group *group)
{
	const dim_list *dims = &group->stages.items[0]->dims;

	for (int d = 0; d < group->n_common; d++) {
		const struct inspected_copy *copy = dims->items[d].kind == DIM_BIND
						  ? copy_in(r, dims->items[d].source.array) : NULL;

		if (copy && !copy->is_per_run)
			return true;
	}
	return false;
}

/* The offsets that all loops over points must go by: others are not those of the points that are left. */
static const struct array *ends_of_points(const struct restructuring *r)
{
	if (r->part_ends)
		return r->part_ends;
	return r->runs ? r->runs : r->segments;
}

bool group_live_points(const struct group *group, const struct restructuring *r, struct live_points *live)
{
	struct search search = { .r = r, .live = live, .is_at_point = has_points_in_common(r, group) };

	*live = (struct live_points) { .restructuring = r };
	if (!r->segments)
		return false;
	for (int i = 0; i < group->stages.n; i++) {
		search.stage = group->stages.items[i];
		if (touch_of(r, search.stage).runs && !changes_nothing(&search))
			return false;
		if (touch_of(r, search.stage).points && !stage_reads_array(group->stages.items[i], ends_of_points(r)))
			return false;
	}
	return live->weights;
}

bool module_live_points(const struct module *module, const struct group *group, struct live_points *live)
{
	for (int i = 0; i < module->restructurings.n; i++)
		if (group_live_points(group, &module->restructurings.items[i], live))
			return true;
	return false;
}

const struct array *restructuring_live_by(const struct module *module, const struct restructuring *r)
{
	struct live_points live;

	for (int g = 0; g < module->groups.n; g++)
		if (module->groups.items[g]->is_live && group_live_points(module->groups.items[g], r, &live))
			return live.by;
	return NULL;
}
