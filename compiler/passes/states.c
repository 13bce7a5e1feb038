/* SPDX-License-Identifier: MIT
 *
 * Next values written in place. `next x` writes an array of its own, which is copied to x at the end of the body, so
 * that all of the body reads the old x. Where no write of a next value runs before a read of the old value of the same
 * cell, in the order of the text, it may go to x itself: array and copy are dropped. Not where a computed index may
 * stop an iteration half-way, since states then hold the last whole one. */
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
	for (int s = 0; s < module->stages.n; s++)
		for (int d = 0; d < module->stages.items[s]->dims.n; d++) {
			const struct dim *dim = &module->stages.items[s]->dims.items[d];

			if (dim->kind == DIM_BIND && dim->source.array->role == ROLE_TEMP)
				return true;
		}
	return false;
}

/* An accumulation, or a start at the old value, is left as it is. */
static bool is_plain(const struct module *module, const struct array *next)
{
	bool has_commit = false;

	for (int s = 0; s < module->stages.n; s++) {
		const struct stage *stage = module->stages.items[s];

		if (stage->write.array == next && (stage->op != REDUCE_SET || stage->is_init))
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
	module_decide(module, "states", next->owner->name, "in place", "copy", next->owner->span,
		      "no cell is read after its next value is written");
}

static void keep_copy(struct module *module, const struct array *next, __isl_keep isl_union_map *pairs)
{
	const char *sample = pairs ? dependence_sample(module, isl_union_map_copy(pairs)) : NULL;

	module_decide(module, "states", next->owner->name, "copy", "in place", next->owner->span, "%s%s",
		      sample ? "a cell is read after its next value is written: "
			     : "its next values are accumulated, or "
			       "an iteration may stop half-way",
		      sample ? sample : "");
}

bool pass_states(struct module *module, const struct pass_options *options)
{
	bool may_stop = has_checks(module);
	int n = 0;

	(void) options;
	for (int a = 0; a < module->arrays.n; a++) {
		struct array *next = module->arrays.items[a];
		isl_union_map *pairs;

		if (next->role != ROLE_NEXT)
			continue;
		pairs = may_stop || !is_plain(module, next) ? NULL : overwritten(module, next);
		if (pairs && isl_union_map_is_empty(pairs) == isl_bool_true) {
			write_in_place(module, next);
			n++;
		} else {
			keep_copy(module, next, pairs);
		}
		isl_union_map_free(pairs);
	}
	if (n)
		module_prune(module, false);
	return true;
}
