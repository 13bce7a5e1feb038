/* SPDX-License-Identifier: MIT
 *
 * Questions to a schedule tree: which dependences does a loop carry, is the tree legal, does it keep its invariant.
 *
 * The proof of legality does not trust any pass: it takes the whole order of the tree (isl_schedule_get_map) and
 * checks that every strict dependence goes forwards in it, that no parallel or vector loop carries one, and that
 * updates which may meet are atomic or end in an accumulator of the loop. */
#include "ir/schedule.h"

#include <isl/point.h>

/* ---- what a band carries ---- */

__isl_give isl_union_map *schedule_carried(__isl_keep isl_schedule_node *node, __isl_keep isl_union_map *deps)
{
	isl_multi_union_pw_aff *outer = isl_schedule_node_get_prefix_schedule_multi_union_pw_aff(node);
	isl_multi_union_pw_aff *band = isl_schedule_node_band_get_partial_schedule(node);
	isl_union_map *reached = isl_union_map_copy(deps), *together;
	isl_union_set *domain = isl_schedule_node_get_domain(node);

	reached = isl_union_map_intersect_domain(reached, isl_union_set_copy(domain));
	reached = isl_union_map_intersect_range(reached, domain);
	if (isl_multi_union_pw_aff_size(outer) > 0)
		reached = isl_union_map_eq_at_multi_union_pw_aff(reached, outer);
	else
		isl_multi_union_pw_aff_free(outer);
	together = isl_union_map_eq_at_multi_union_pw_aff(isl_union_map_copy(reached), band);
	return isl_union_map_coalesce(isl_union_map_subtract(reached, together));
}

/* ---- samples ---- */

static void add_tuple(struct str *text, __isl_keep isl_point *point, __isl_keep isl_map *map, enum isl_dim_type type,
		      int first)
{
	int n = isl_map_dim(map, type);
	const struct stage *stage = isl_map_has_tuple_id(map, type) == isl_bool_true
				  ? stage_of_id(isl_map_get_tuple_id(map, type)) : NULL;

	str_add(text, "%s[", stage ? stage->name : "");
	for (int i = 0; i < n; i++) {
		isl_val *value = isl_point_get_coordinate_val(point, isl_dim_set, first + i);

		str_add(text, "%s%s%s%ld", i ? ", " : "", stage ? stage->dims.items[i].name : "",
			stage ? " = " : "", isl_val_get_num_si(value));
		isl_val_free(value);
	}
	str_add(text, "]");
}

struct sample {
	struct module *module;
	const char *text;
};

static isl_stat sample_map(__isl_take isl_map *map, void *user)
{
	struct sample *sample = user;
	struct str text = str_new(sample->module->arena);
	isl_point *point = isl_set_sample_point(isl_set_flatten(isl_map_wrap(isl_map_copy(map))));

	if (!sample->text && isl_point_is_void(point) == isl_bool_false) {
		add_tuple(&text, point, map, isl_dim_in, 0);
		str_add(&text, " -> ");
		add_tuple(&text, point, map, isl_dim_out, isl_map_dim(map, isl_dim_in));
		sample->text = str_text(&text);
	}
	isl_point_free(point);
	isl_map_free(map);
	return isl_stat_ok;
}

const char *dependence_sample(struct module *module, __isl_take isl_union_map *deps)
{
	struct sample sample = { module, NULL };

	isl_union_map_foreach_map(deps, sample_map, &sample);
	isl_union_map_free(deps);
	return sample.text;
}

/* ---- legality ---- */

/* { [x] -> [y] : y lexicographically not after x } on the space of a flat schedule. */
static __isl_give isl_union_map *not_forwards(__isl_keep isl_union_map *order)
{
	isl_map *any = isl_map_from_union_map(isl_union_map_range_map(isl_union_map_copy(order)));
	isl_space *space = isl_space_range(isl_map_get_space(any));

	isl_map_free(any);
	return isl_union_map_from_map(isl_map_lex_ge(space));
}

/* The pairs of `deps` whose second instance does not run after the first. */
static __isl_give isl_union_map *backwards(__isl_keep isl_schedule *schedule, __isl_keep isl_union_map *deps)
{
	isl_union_map *order = isl_schedule_get_map(schedule);
	isl_union_map *image, *bad;

	image = isl_union_map_apply_domain(isl_union_map_copy(deps), isl_union_map_copy(order));
	image = isl_union_map_apply_range(image, isl_union_map_copy(order));
	if (isl_union_map_is_empty(image) == isl_bool_true) {
		isl_union_map_free(order);
		return image;
	}
	bad = isl_union_map_intersect(isl_union_map_copy(image), not_forwards(image));
	isl_union_map_free(image);
	bad = isl_union_map_apply_domain(bad, isl_union_map_reverse(isl_union_map_copy(order)));
	bad = isl_union_map_apply_range(bad, isl_union_map_reverse(order));
	return isl_union_map_intersect(bad, isl_union_map_copy(deps));
}

struct legality {
	struct module *module;
	const struct region *region;
	const char *witness;
};

static bool deps_are_empty(struct legality *legality, __isl_take isl_union_map *deps, const char *what)
{
	isl_bool is_empty = isl_union_map_is_empty(deps);
	const char *sample;

	if (is_empty == isl_bool_true) {
		isl_union_map_free(deps);
		return true;
	}
	sample = dependence_sample(legality->module, deps);
	legality->witness = arena_printf(legality->module->arena, "%s: %s", what, sample ? sample : "(isl's quota)");
	return false;
}

/* Is there a mark of this kind and stage above `node`? */
static bool has_mark_above(__isl_keep isl_schedule_node *node, enum mark_kind kind, const struct stage *stage)
{
	isl_schedule_node *at = isl_schedule_node_copy(node);
	bool found = false;

	while (!found && isl_schedule_node_has_parent(at) == isl_bool_true) {
		const struct mark *mark;

		at = isl_schedule_node_parent(at);
		mark = mark_of_node(at);
		found = mark && mark->kind == kind && mark->stage == stage;
	}
	isl_schedule_node_free(at);
	return found;
}

struct find_mark {
	enum mark_kind kind;
	const struct stage *stage;
	bool found;
};

static isl_bool find_mark_below(__isl_keep isl_schedule_node *node, void *user)
{
	struct find_mark *find = user;
	const struct mark *mark = mark_of_node(node);

	if (mark && mark->kind == find->kind && mark->stage == find->stage)
		find->found = true;
	return find->found ? isl_bool_false : isl_bool_true;
}

static bool has_mark_below(__isl_keep isl_schedule_node *node, enum mark_kind kind, const struct stage *stage)
{
	struct find_mark find = { kind, stage, false };

	isl_schedule_node_foreach_descendant_top_down(node, find_mark_below, &find);
	return find.found;
}

struct reductions {
	__isl_keep isl_schedule_node *node;
	bool is_vector;
	bool is_safe;
};

static isl_stat check_reduction(__isl_take isl_map *deps, void *user)
{
	struct reductions *r = user;
	const struct stage *a = stage_of_id(isl_map_get_tuple_id(deps, isl_dim_in));
	const struct stage *b = stage_of_id(isl_map_get_tuple_id(deps, isl_dim_out));
	bool is_accumulated = a == b && has_mark_above(r->node, MARK_ACCUMULATE, a);
	bool is_atomic = has_mark_below(r->node, MARK_ATOMIC, a) && has_mark_below(r->node, MARK_ATOMIC, b);

	isl_map_free(deps);
	if (!is_accumulated && (r->is_vector || !is_atomic))
		r->is_safe = false;
	return isl_stat_ok;
}

static bool reductions_are_safe(struct legality *legality, __isl_keep isl_schedule_node *band, bool is_vector)
{
	struct reductions reductions = { band, is_vector, true };
	isl_union_map *carried = schedule_carried(band, legality->region->reduction);

	if (isl_union_map_foreach_map(carried, check_reduction, &reductions) < 0 || !reductions.is_safe)
		return deps_are_empty(legality, carried, "updates of one cell may meet");
	isl_union_map_free(carried);
	return true;
}

/* The band below a stack of marks. */
static __isl_give isl_schedule_node *band_below(__isl_keep isl_schedule_node *mark)
{
	isl_schedule_node *at = isl_schedule_node_copy(mark);

	while (isl_schedule_node_get_type(at) == isl_schedule_node_mark)
		at = isl_schedule_node_first_child(at);
	return at;
}

static isl_bool check_node(__isl_keep isl_schedule_node *node, void *user)
{
	struct legality *legality = user;
	const struct mark *mark = mark_of_node(node);
	isl_schedule_node *band;
	bool ok;

	if (!mark || (mark->kind != MARK_PARALLEL && mark->kind != MARK_VECTOR))
		return isl_bool_true;
	band = band_below(node);
	ok = deps_are_empty(legality, schedule_carried(band, legality->region->strict),
			    "a loop that is not sequential carries a dependence") &&
	     reductions_are_safe(legality, band, mark->kind == MARK_VECTOR);
	isl_schedule_node_free(band);
	return ok ? isl_bool_true : isl_bool_error;
}

bool schedule_is_legal(struct module *module, struct region *region, const char **witness)
{
	struct legality legality = { module, region, NULL };
	bool ok;

	*witness = NULL;
	if (!region->schedule || !region->strict)
		return true;
	ok = deps_are_empty(&legality, backwards(region->schedule, region->strict),
			    "the order of two instances is reversed");
	if (ok && isl_schedule_foreach_schedule_node_top_down(region->schedule, check_node, &legality) < 0)
		ok = false;
	*witness = ok ? NULL : legality.witness ? legality.witness : "isl's quota of operations is used up";
	return ok;
}
