/* SPDX-License-Identifier: MIT
 *
 * What a run that goes on does not compute again. States, and what is set before the loop and changed in it, are
 * *carried*: they live on in the plan. What is computed before the loop for their start alone is not needed either: an
 * array that no statement in or behind the loop reads, and before it only those that set carried arrays or such arrays
 * (the largest set that is so). What the caller gets is always computed. */
#include "ir/ir.h"

static void mark_written(const struct region *region, bool *written)
{
	for (int g = 0; g < region->groups.n; g++)
		for (int s = 0; s < region->groups.items[g]->stages.n; s++)
			written[region->groups.items[g]->stages.items[s]->write.array->number] = true;
}

struct carried {
	bool *before, *within;          /* by number of array: written before the loop, and in it */
};

static struct carried find_written(const struct module *module)
{
	struct carried carried = { arena_new_array(module->arena, bool, module->arrays.n + 1),
				   arena_new_array(module->arena, bool, module->arrays.n + 1) };

	mark_written(&module->regions[REGION_PROLOGUE], carried.before);
	mark_written(&module->regions[REGION_BODY], carried.within);
	return carried;
}

bool *module_carried(const struct module *module)
{
	bool *is_carried = arena_new_array(module->arena, bool, module->arrays.n + 1);
	struct carried written = find_written(module);

	for (int i = 0; i < module->arrays.n; i++) {
		enum array_role role = module->arrays.items[i]->role;

		is_carried[i] = module->loop.var && (role == ROLE_STATE || role == ROLE_INOUT ||
						     (written.before[i] && written.within[i]));
	}
	return is_carried;
}

/* ---- what only they need ---- */

struct search {
	const bool *is_carried;
	bool *is_of_start;
	bool has_changed;
};

static void need_always(struct access *access, void *user)
{
	struct search *search = user;
	bool *is = &search->is_of_start[access->array->number];

	if (*is && !search->is_carried[access->array->number]) {
		*is = false;
		search->has_changed = true;
	}
}

static bool sets_always(const struct group *group, const bool *is_of_start)
{
	for (int i = 0; i < group->stages.n; i++) {
		const struct array *array = group->stages.items[i]->write.array;

		if (array->role != ROLE_LOCAL && !is_of_start[array->number])
			return true;
	}
	return false;
}

static void look_at_region(const struct module *module, enum region_kind kind, struct search *search)
{
	const group_list *groups = &module->regions[kind].groups;

	for (int g = 0; g < groups->n; g++)
		if (kind != REGION_PROLOGUE || sets_always(groups->items[g], search->is_of_start))
			for (int s = 0; s < groups->items[g]->stages.n; s++)
				stage_reads(groups->items[g]->stages.items[s], need_always, search);
}

bool *module_set_at_start(const struct module *module)
{
	bool *is_of_start = module_carried(module);
	struct carried written = find_written(module);
	struct search search = { module_carried(module), is_of_start, true };

	if (!module->loop.var)
		return is_of_start;
	for (int i = 0; i < module->arrays.n; i++)
		is_of_start[i] |= module->arrays.items[i]->role == ROLE_TEMP && written.before[i];
	if (module->loop.until)
		expr_reads(module->loop.until, need_always, &search);
	while (search.has_changed) {
		search.has_changed = false;
		for (int i = 0; i < REGION_N; i++)
			look_at_region(module, (enum region_kind) i, &search);
	}
	return is_of_start;
}
