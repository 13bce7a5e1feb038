/* SPDX-License-Identifier: MIT
 *
 * What no output needs is dropped: groups that write only arrays of the pipeline's own which nothing that is needed
 * reads, and these arrays. States are needed, for they can be saved, and pivots that nothing else reads: they are
 * computed for their checks. What is left is numbered anew, so that numbers are positions again and the tuples of the
 * domains have the names of their stages. */
#include "passes/pass_private.h"

struct needs {
	struct module *module;
	bool *arrays, *groups;          /* by number */
	bool has_changed;
};

static void need_array(struct access *access, void *user)
{
	struct needs *needs = user;

	needs->arrays[access->array->number] = true;
}

static void need_group(struct needs *needs, const struct group *group)
{
	if (needs->groups[group->number])
		return;
	needs->groups[group->number] = needs->has_changed = true;
	for (int s = 0; s < group->stages.n; s++) {
		needs->arrays[group->stages.items[s]->write.array->number] = true;
		stage_reads(group->stages.items[s], need_array, needs);
	}
}

static bool is_check(const struct module *module, struct stage *stage)
{
	const struct array *array = stage->write.array;
	bool is = expr_find_pivot(stage->value);

	for (int s = 0; is && s < module->stages.n; s++)
		is = module->stages.items[s]->write.array == array || module->stages.items[s]->group == stage->group ||
		     !stage_reads_array(module->stages.items[s], array);
	return is;
}

/* Groups without stages are to be dropped. */
static bool writes_needed(const struct needs *needs, const struct group *group)
{
	for (int s = 0; s < group->stages.n; s++)
		if (needs->arrays[group->stages.items[s]->write.array->number] ||
		    is_check(needs->module, group->stages.items[s]))
			return true;
	return false;
}

static struct needs find_needs(struct module *module)
{
	struct needs needs = { .module = module, .has_changed = true };

	needs.arrays = arena_new_array(module->arena, bool, module->arrays.n);
	needs.groups = arena_new_array(module->arena, bool, module->groups.n);
	for (int a = 0; a < module->arrays.n; a++) {
		const struct array *array = module->arrays.items[a];

		needs.arrays[a] = array->is_swapped || (array->role != ROLE_TEMP && array->role != ROLE_LOCAL &&
							array->role != ROLE_NEXT);
	}
	if (module->loop.until)
		expr_reads(module->loop.until, need_array, &needs);
	/* What is needed mostly stands before what needs it. */
	while (needs.has_changed) {
		needs.has_changed = false;
		for (int g = module->groups.n - 1; g >= 0; g--)
			if (!needs.groups[g] && writes_needed(&needs, module->groups.items[g]))
				need_group(&needs, module->groups.items[g]);
	}
	return needs;
}

/* ---- dropping ---- */

static void drop_groups(struct needs *needs, group_list *groups)
{
	int n = 0;

	for (int g = 0; g < groups->n; g++)
		if (needs->groups[groups->items[g]->number])
			groups->items[n++] = groups->items[g];
	groups->n = n;
}

static void drop_stages(struct needs *needs)
{
	stage_list *stages = &needs->module->stages;
	int n = 0;

	for (int s = 0; s < stages->n; s++) {
		struct stage *stage = stages->items[s];

		if (!needs->groups[stage->group->number]) {
			isl_set_free(stage->domain);
			continue;
		}
		stage->number = n;
		stage->name = arena_printf(needs->module->arena, "S%d", n);
		stages->items[n++] = stage;
	}
	stages->n = n;
}

static void drop_arrays(struct needs *needs, bool remarks)
{
	struct module *module = needs->module;
	int n = 0;

	for (int a = 0; a < module->arrays.n; a++) {
		struct array *array = module->arrays.items[a];

		if (!needs->arrays[a]) {
			if (array->role == ROLE_TEMP && remarks)
				diag_remark(module->diags, DIAG_DROPPED, array->span,
					    "'%s' is not computed: no output needs it", array->name);
			continue;
		}
		array->number = n;
		module->arrays.items[n++] = array;
	}
	module->arrays.n = n;
}

/* The arrays of branches are read together. */
static void drop_branchings(struct needs *needs)
{
	struct module *module = needs->module;
	int n = 0;

	for (int i = 0; i < module->branchings.n; i++)
		if (needs->arrays[module->branchings.items[i].levels->number])
			module->branchings.items[n++] = module->branchings.items[i];
	module->branchings.n = n;
}

/* So are those of chunks. */
static void drop_chunkings(struct needs *needs)
{
	struct module *module = needs->module;
	int n = 0;

	for (int i = 0; i < module->chunkings.n; i++)
		if (needs->arrays[module->chunkings.items[i].offsets->number])
			module->chunkings.items[n++] = module->chunkings.items[i];
	module->chunkings.n = n;
}

void module_prune(struct module *module, bool remarks)
{
	struct needs needs = find_needs(module);

	for (int r = 0; r < REGION_N; r++)
		drop_groups(&needs, &module->regions[r].groups);
	drop_stages(&needs);
	drop_groups(&needs, &module->groups);
	drop_branchings(&needs);
	drop_chunkings(&needs);
	drop_arrays(&needs, remarks);
	for (int g = 0; g < module->groups.n; g++)
		module->groups.items[g]->number = g;
	module_analyse(module);
}

static bool is_left(const struct module *module, const char *name)
{
	bool is = false;

	for (int a = 0; a < module->arrays.n && !is; a++)
		is = array_is_of(module->arrays.items[a], name);
	return is;
}

/* An item about what is dropped would be ignored; false after a diagnostic. */
static bool check_item(struct module *module, const struct override *override)
{
	for (int i = 0; i < override->subjects.n; i++) {
		const char *name = override->subjects.items[i];
		const bool is_inlined = override->verb == VERB_INLINE && override->is_used;
		struct diag *diag;

		if (is_inlined || is_left(module, name) || override_is_done_anyway(override))
			continue;
		diag = diag_error(module->diags, DIAG_BAD_ITEM, override->span,
				  "'%s' is about '%s', which is never used", verb_name(override->verb), name);
		diag_help(module->diags, diag, (struct span) { 0 }, "no output needs '%s': leave the item out", name);
		return false;
	}
	return true;
}

bool pass_prune(struct module *module, const struct pass_options *options)
{
	bool ok = true;

	(void) options;
	module_prune(module, true);
	for (int i = 0; i < module->overrides.n; i++)
		ok = check_item(module, &module->overrides.items[i]) && ok;
	return ok;
}
