/* SPDX-License-Identifier: MIT
 *
 * The inspectors: what is computed once from index arrays so that kernels need not. A tree that is local to
 * its segments becomes one tree with many roots; the children of each node become a list, by counting sort, and its
 * branches and chunks are found (branches.c, chunks.c).
 *
 * Arrays are read in the order of the description, trees with segments after all others, since they are
 * checked against offsets that must have been checked themselves. */
#include "plan/plan.h"

#include <string.h>

static void tree_rebase(struct plan *plan, int32_t number)
{
	const int32_t segments = plan->desc->arrays[number].segments;
	const int64_t n_segments = array_elements(&plan->desc->arrays[segments], plan->extents) - 1;
	const int64_t n = array_elements(&plan->desc->arrays[number], plan->extents);
	const int64_t *offsets = plan->kernel.data[segments];
	int64_t *parent = plan->kernel.data[number];

	PARALLEL(plan->kernel.threads, n, schedule(static))
	for (int64_t s = 0; s < n_segments; s++)
		for (int64_t k = offsets[s]; k < offsets[s + 1]; k++)
			parent[k] += parent[k] >= 0 ? offsets[s] : 0;
}

/* offsets[p + 1] counts the children of p, then is where their list ends; filling moves offsets[p] from the
 * begin to the end of the list of p, which is the begin of the next one. */
static void children_build(struct plan *plan, const pmg_children_desc *children)
{
	const int64_t n = array_elements(&plan->desc->arrays[children->parent], plan->extents);
	const int64_t *parent = plan->kernel.data[children->parent];
	int64_t *offsets = plan->kernel.data[children->offsets];
	int64_t *list = plan->kernel.data[children->list];

	memset(offsets, 0, (size_t) (n + 1) * sizeof *offsets);
	for (int64_t i = 0; i < n; i++)
		if (parent[i] >= 0)
			offsets[parent[i] + 1]++;
	for (int64_t p = 0; p < n; p++)
		offsets[p + 1] += offsets[p];
	for (int64_t i = 0; i < n; i++)
		if (parent[i] >= 0)
			list[offsets[parent[i]]++] = i;
	for (int64_t p = n; p > 0; p--)
		offsets[p] = offsets[p - 1];
	offsets[0] = 0;
}

static pmg_status array_inspect(struct plan *plan, int32_t number, bool resume)
{
	const pmg_array_desc *array = &plan->desc->arrays[number];
	const struct binding *binding = &plan->bindings[number];
	pmg_status status;

	if (!binding->is_borrowed && (array->role != PMG_OUT || resume) &&
	    !argument_is_left_out(array, &binding->buffer)) {
		const pmg_buffer own = array_kept(array, plan->extents, binding->own);

		argument_copy(plan, number, &own, &binding->buffer);
	}
	status = array->role != PMG_OUT ? values_check(plan, number) : PMG_OK;
	if (status == PMG_OK && array_is_rebased(array))
		tree_rebase(plan, number);
	return status;
}

static pmg_status half_inspect(struct plan *plan, bool fixed, bool resume, bool rebased)
{
	pmg_status status = PMG_OK;

	for (int32_t i = 0; i < plan->desc->n_arrays && status == PMG_OK; i++) {
		const pmg_array_desc *array = &plan->desc->arrays[i];

		if (array_is_internal(array) || array->is_fixed != fixed)
			continue;
		if (array_is_rebased(array) == rebased)
			status = array_inspect(plan, i, resume);
	}
	return status;
}

pmg_status arrays_inspect(struct plan *plan, bool fixed, bool resume)
{
	const pmg_pipeline_desc *desc = plan->desc;
	pmg_status status = half_inspect(plan, fixed, resume, false);

	if (status == PMG_OK)
		status = half_inspect(plan, fixed, resume, true);
	for (int32_t i = 0; i < desc->n_children && status == PMG_OK; i++)
		if (!desc->children[i].lanes && desc->arrays[desc->children[i].parent].is_fixed == fixed)
			children_build(plan, &desc->children[i]);
	for (int32_t i = 0; i < desc->n_branches && status == PMG_OK; i++)
		if (desc->arrays[desc->branches[i].parent].is_fixed == fixed)
			branches_build(plan, &desc->branches[i]);
	for (int32_t i = 0; i < desc->n_chunks && status == PMG_OK; i++)
		if (desc->arrays[desc->chunks[i].parent].is_fixed == fixed)
			chunks_build(plan, &desc->chunks[i]);
	return status;
}
