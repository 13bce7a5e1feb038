/* SPDX-License-Identifier: MIT
 *
 * Next values written in place. `next x` writes an array of its own, which is copied to x at the end of the body, so
 * that all of the body reads the old x. Where no write of a next value runs before a read of the old value of the same
 * cell, in the order of the text, it may go to x itself: array and copy are dropped. Not where a computed index may
 * stop an iteration half-way, since states then hold the last whole one; a pivot of an elimination, which may do so as
 * well, is not worth two arrays: what it leaves cannot be gone on from.
 *
 * Else x and next x change places at the end of the body, if the copy takes the same cells in every iteration: all
 * others have one value as long as the loop runs, which both hold if next x begins as a copy of x. Cells that depend
 * on data are copied, and so is a single value, and what the condition of the loop reads. */
#include <string.h>

#include "passes/pass_private.h"

struct search {
	struct module *module;
	struct array *next;
	struct stage *stage;
	isl_union_map *accesses;        /* of x, as if they were of next x */
};

static void add_access(struct search *s, const struct access *access)
{
	struct access as_next = *access;

	as_next.array = s->next;
	s->accesses = isl_union_map_union(s->accesses,
					  isl_union_map_from_map(access_map(s->module, s->stage, &as_next)));
}

static void add_read(struct access *access, void *user)
{
	struct search *s = user;

	if (access->array == s->next->owner)
		add_access(s, access);
}

/* Accesses of the body but for commits: writes of next x, or reads of x. */
static __isl_give isl_union_map *accesses(struct module *module, struct array *next, bool writes)
{
	struct search s = { module, next, NULL, isl_union_map_empty_ctx(module->ctx) };
	const struct region *body = &module->regions[REGION_BODY];

	for (int g = 0; g < body->groups.n; g++)
		for (int i = 0; i < body->groups.items[g]->stages.n; i++) {
			s.stage = body->groups.items[g]->stages.items[i];
			if (s.stage->is_commit)
				continue;
			if (!writes)
				stage_reads(s.stage, add_read, &s);
			else if (s.stage->write.array == next)
				add_access(&s, &s.stage->write);
		}
	return s.accesses;
}

/* Pairs of which the first writes a cell before the second reads its old value. */
static __isl_give isl_union_map *overwritten(struct module *module, struct array *next)
{
	isl_schedule *order = schedule_textual(module, &module->regions[REGION_BODY]);
	isl_union_map *pairs = isl_union_map_reverse(accesses(module, next, false));

	pairs = isl_union_map_apply_range(accesses(module, next, true), pairs);
	pairs = schedule_ordered(module->arena, order, pairs, true);
	isl_schedule_free(order);
	return pairs;
}

static bool has_checks(const struct module *module)
{
	bool has = false;

	for (int s = 0; s < module->stages.n && !has; s++)
		has = stage_checks_index(module->stages.items[s]);
	return has;
}

/* An accumulation that starts at the old value is left as it is. */
static bool starts_anew(const struct module *module, const struct array *next)
{
	bool has_commit = false;

	for (int s = 0; s < module->stages.n; s++) {
		const struct stage *stage = module->stages.items[s];

		if (stage->write.array == next && stage->is_init && expr_reads_array(stage->value, next->owner))
			return false;
		has_commit |= stage->is_commit && stage->write.array == next->owner;
	}
	return has_commit;
}

/* ---- writing in place ---- */

static void to_owner(struct access *access, void *user)
{
	const struct array *next = user;

	if (access->array == next)
		access->array = next->owner;
}

static void drop_commits(struct module *module, const struct array *next)
{
	group_list *groups = &module->regions[REGION_BODY].groups;
	int n = 0;

	for (int g = 0; g < groups->n; g++) {
		const struct stage *stage = groups->items[g]->stages.items[0];

		if (stage->is_commit && stage->write.array == next->owner)
			groups->items[g]->stages.n = 0;
		else
			groups->items[n++] = groups->items[g];
	}
	groups->n = n;
}

static void write_in_place(struct module *module, struct array *next)
{
	drop_commits(module, next);
	for (int s = 0; s < module->stages.n; s++) {
		struct stage *stage = module->stages.items[s];

		if (stage->write.array == next) {
			stage->write.array = next->owner;
			stage->is_next = true;
		}
		stage_reads(stage, to_owner, next);
	}
	module_decide(module, DECISION_STATES_IN_PLACE, next->owner->name, next->owner->span,
		      "no cell is read after its next value is written");
}

/* ---- changing places ---- */

static bool has_ranges_only(const struct stage *stage)
{
	bool has = true;

	for (int d = 0; d < stage->dims.n; d++)
		has = has && stage->dims.items[d].kind == DIM_RANGE;
	return has;
}

/* The cells of next x that are copied, in each iteration; NULL: it depends on data. */
static __isl_give isl_set *copied_cells(struct module *module, const struct array *next)
{
	isl_set *box = array_box(module, next), *cells = isl_set_empty(isl_set_get_space(box));

	isl_set_free(box);
	for (int s = 0; s < module->stages.n; s++) {
		const struct stage *stage = module->stages.items[s];
		struct access as_next = stage->write;

		if (!stage->is_commit || stage->write.array != next->owner)
			continue;
		if (!has_ranges_only(stage))
			return isl_set_free(cells);
		as_next.array = (struct array *) next;
		cells = isl_set_union(cells, isl_map_range(access_map(module, stage, &as_next)));
	}
	return cells;
}

static bool are_same_in_all(const struct module *module, __isl_keep isl_set *cells)
{
	isl_set *all = set_of_iterations(module, isl_set_copy(cells));
	bool are;

	all = isl_set_intersect_params(all, loop_set(module));
	are = isl_set_is_subset(all, cells) == isl_bool_true;
	isl_set_free(all);
	return are;
}

static bool is_whole_box(struct module *module, const struct array *next, __isl_keep isl_set *cells)
{
	isl_set *box = isl_set_intersect_params(array_box(module, next), isl_set_copy(module->context));
	bool is;

	box = isl_set_intersect_params(box, loop_set(module));
	is = isl_set_is_subset(box, cells) == isl_bool_true;
	isl_set_free(box);
	return is;
}

/* Why x and next x cannot change places; NULL: they do now. */
static const char *try_swap(struct module *module, const struct pass_options *options, struct array *next)
{
	const char *problem = NULL;
	isl_set *cells;

	if (!options->swap)
		return "swap is off";
	if (!next->rank)
		return "it is a single value";
	if (module->loop.until && expr_reads_array(module->loop.until, next->owner))
		return "the condition of the loop reads it";
	cells = copied_cells(module, next);
	if (!cells)
		return "which cells have next values depends on data";
	if (are_same_in_all(module, cells))
		next->is_kept = !is_whole_box(module, next, cells);
	else
		problem = "other cells have next values in other iterations";
	isl_set_free(cells);
	next->is_swapped = !problem;
	return problem;
}

/* Why not in place. */
static const char *reason_text(struct module *module, __isl_keep isl_union_map *pairs)
{
	if (!pairs)
		return "its next values add to the old ones, or an iteration may stop half-way";
	return arena_printf(module->arena, "a cell is read after its next value is written: %s",
			    dependence_sample(module, isl_union_map_copy(pairs)));
}

static void swap_or_copy(struct module *module, const struct pass_options *options, struct array *next,
			 __isl_keep isl_union_map *pairs)
{
	const char *reason = reason_text(module, pairs), *problem = try_swap(module, options, next);

	if (problem) {
		module_decide(module, DECISION_STATES_COPY, next->owner->name, next->owner->span,
			      "%s; %s", reason, problem);
		return;
	}
	drop_commits(module, next);
	module_decide(module, DECISION_STATES_SWAPPED, next->owner->name, next->owner->span, "%s%s",
		      reason, next->is_kept ? "; cells without a next value are the same in both arrays" : "");
}

bool pass_states(struct module *module, const struct pass_options *options)
{
	bool may_stop = has_checks(module);
	int n = 0;

	for (int a = 0; a < module->arrays.n; a++) {
		struct array *next = module->arrays.items[a];
		isl_union_map *pairs;

		if (next->role != ROLE_NEXT || next->is_swapped)
			continue;
		pairs = may_stop || !starts_anew(module, next) ? NULL : overwritten(module, next);
		if (pairs && isl_union_map_is_empty(pairs) == isl_bool_true) {
			write_in_place(module, next);
			n++;
		} else {
			swap_or_copy(module, options, next, pairs);
			n += next->is_swapped;
		}
		isl_union_map_free(pairs);
	}
	if (n)
		module_prune(module, false);
	return true;
}
