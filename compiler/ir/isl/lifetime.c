/* SPDX-License-Identifier: MIT
 *
 * When what a team of a device keeps of an array is of use. Below the TEAM_STORAGE marks an iteration of the shared
 * loop is a sequence of loops. These have numbers from 1 on, in their order; a loop that is around several of them
 * counts as one. An array is of use from the first that touches it to the last one. An argument that is read is copied
 * before all of them, one that is written after all.
 *
 * Arrays that are of use at different times may have one place in shared memory: whatever lanes do in one loop, they do
 * before the next one, wherever one of them may touch what another has touched (kernel/lower/barriers.c). */
#include <limits.h>

#include "ir/schedule.h"

struct numbering {
	int n;
	int *first, *last;              /* by number of stage; 0: it does not run below */
};

static isl_stat note_stage(__isl_take isl_set *set, void *user)
{
	struct numbering *numbering = user;
	const struct stage *stage = stage_of_id(isl_set_get_tuple_id(set));

	if (!numbering->first[stage->number])
		numbering->first[stage->number] = numbering->n;
	numbering->last[stage->number] = numbering->n;
	isl_set_free(set);
	return isl_stat_ok;
}

static void number_loops(struct numbering *numbering, __isl_keep isl_schedule_node *node)
{
	const enum isl_schedule_node_type type = isl_schedule_node_get_type(node);
	const bool is_loop = type != isl_schedule_node_mark && type != isl_schedule_node_sequence &&
			     type != isl_schedule_node_filter;
	const isl_size n = isl_schedule_node_n_children(node);
	isl_union_set *domain;

	for (int i = 0; i < n && !is_loop; i++) {
		isl_schedule_node *child = isl_schedule_node_get_child(node, i);

		number_loops(numbering, child);
		isl_schedule_node_free(child);
	}
	if (!is_loop)
		return;
	numbering->n++;
	domain = isl_schedule_node_get_domain(node);
	isl_union_set_foreach_set(domain, note_stage, numbering);
	isl_union_set_free(domain);
}

static bool touches(struct stage *stage, const struct array *array)
{
	return stage->write.array == array || stage_reads_array(stage, array);
}

struct lifetime schedule_team_lifetime(struct module *module, __isl_keep isl_schedule_node *node,
				       const struct array *array)
{
	struct numbering numbering = { 0, arena_new_array(module->arena, int, module->stages.n),
				       arena_new_array(module->arena, int, module->stages.n) };
	struct lifetime lifetime = { INT_MAX, 0 };

	number_loops(&numbering, node);
	for (int i = 0; i < module->stages.n; i++) {
		if (!numbering.first[i] || !touches(module->stages.items[i], array))
			continue;
		if (numbering.first[i] < lifetime.first)
			lifetime.first = numbering.first[i];
		if (numbering.last[i] > lifetime.last)
			lifetime.last = numbering.last[i];
	}
	if (lifetime.last && array->role == ROLE_IN)
		lifetime.first = 0;
	if (lifetime.last && array->role == ROLE_OUT)
		lifetime.last = INT_MAX;
	return lifetime;
}

/* What is not touched has its last loop ahead of its first one. */
bool lifetimes_meet(const struct lifetime *a, const struct lifetime *b)
{
	return a->first <= a->last && b->first <= b->last && a->first <= b->last && b->first <= a->last;
}

const char *schedule_team_room_problem(struct module *module, __isl_keep isl_schedule_node *mark)
{
	const struct array *array = mark_of_node(mark)->array;
	const struct lifetime own = schedule_team_lifetime(module, mark, array);

	for (int i = 0; array->in_team->room && i < module->arrays.n; i++) {
		const struct array *other = module->arrays.items[i];
		struct lifetime lifetime;

		if (other == array || !other->in_team || other->in_team->room != array->in_team->room)
			continue;
		lifetime = schedule_team_lifetime(module, mark, other);
		if (!array->in_team->is_shared || other->type != array->type || lifetimes_meet(&own, &lifetime))
			return "it shares memory with what is of use at the same time";
	}
	return NULL;
}
