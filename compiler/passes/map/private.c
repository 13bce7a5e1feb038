/* SPDX-License-Identifier: MIT
 *
 * Private copies. Where iterations of a shared loop may update the same cell of w, each thread can add into a copy of w
 * of its own, and threads then share the cells of w for the final sum, in which the copies follow in the order of the
 * threads. Iterations are shared out statically: the result is the same in each run with the same number of threads.
 *
 * A copy costs a pass over its cells, as an atomic update costs a locked one each time. So copies are made where the
 * loop runs over the chunks of a restructuring, each of which updates many cells, and where a schedule asks for them:
 * `partition w by private`, or `by atomic` for the other. The copies are an array of the plan, w.private, with one row
 * for each thread (K. Aggarwal, thesis, IISc 2020, 4.2.1).
 *
 * Where no sum may depend on the threads, the loop is cut into parts, as many whatever the number of threads, and each
 * part has a copy: the result is the same for any number of threads. */
#include "passes/pass_private.h"

enum { PRIVATE_RANK = 8 };      /* of the copies: PMG_MAX_RANK of the runtime */

bool loop_has_parts(const struct pass_options *options, const struct mark *loop)
{
	return options->deterministic && !options->is_device && loop->kind == MARK_LOOP && loop->direction > 0;
}

bool partition_is_of_updates(const struct override *override)
{
	return override->verb == VERB_PARTITION &&
	       (override->choice == CHOICE_PRIVATE || override->choice == CHOICE_ATOMIC);
}

/* The item about the updates of an array, or of the one that it stands for in the order of new numbers. */
static struct override *find_override(struct module *module, const struct array *target)
{
	struct override *override = module_find_override(module, VERB_PARTITION, array_item_name(target), NULL);

	return override && partition_is_of_updates(override) ? override : NULL;
}

bool updates_are_asked_for(struct module *module, const stage_list *updates)
{
	for (int i = 0; i < updates->n; i++)
		if (find_override(module, updates->items[i]->write.array))
			return true;
	return false;
}

bool loop_is_over_chunks(const struct module *module, const struct dim *dim)
{
	bool is = false;

	for (int i = 0; i < module->restructurings.n; i++)
		is = is || (dim->hi->kind == EXPR_PARAM &&
			    dim->hi->index == module->restructurings.items[i].n_chunks);
	return is;
}

static bool is_wanted(struct module *module, const struct mark *loop, const struct array *target)
{
	struct override *override = find_override(module, target);

	return override ? override->choice == CHOICE_PRIVATE : loop_is_over_chunks(module, loop->dim);
}

/* [0..1, …] like the target: the plan makes a row for each of its threads; or [0..parts, …]. */
static struct array *copies_of(struct module *module, struct array *target, int parts)
{
	const char *name = arena_printf(module->arena, "%s.private", target->name);
	struct array *copies = module_find_array(module, name);

	if (copies)
		return copies;
	copies = module_add_array(module, name, ROLE_PRIVATE, target->type, target->rank + 1, target->span);
	copies->owner = target;
	copies->hi[0] = expr_int(module->arena, parts, target->span);
	for (int i = 0; i < target->rank; i++) {
		copies->lo[i + 1] = target->lo[i];
		copies->hi[i + 1] = target->hi[i];
	}
	return copies;
}

static void refuse(struct module *module, struct override *override, const char *why)
{
	struct diag *diag = diag_error(module->diags, DIAG_BAD_ITEM, override->span,
				       "'partition by %s' is not to be had: %s", override_choice(override), why);

	diag_help(module->diags, diag, (struct span) { 0 }, "leave the item out, or choose 'chunks' for a sparse sum");
	override->is_used = true;
}

static void decide(struct module *module, const struct mark *loop, const struct array *target, int parts)
{
	if (parts > 1)
		module_decide(module, DECISION_PARALLEL_PRIVATE, target->name, loop->dim->span,
			      "iterations of '%s' may update the same cell: each of %d parts of the loop has a copy, "
			      "and the copies are added in the order of the parts", loop->dim->name, parts);
	else
		module_decide(module, DECISION_PARALLEL_PRIVATE, target->name, loop->dim->span,
			      "iterations of '%s' may update the same cell: each thread has a copy, and the copies "
			      "are added in "
			      "the order of the threads", loop->dim->name);
}

__isl_give isl_schedule_node *private_try(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					  const struct mark *loop, struct stage *stage, bool *done)
{
	struct array *target = stage->write.array;
	struct override *override = find_override(walk->module, target);
	int parts = loop_has_parts(walk->options, loop) ? LOOP_PARTS : 1;
	const char *problem;

	*done = false;
	if (walk->options->is_device && override && override->choice != CHOICE_ATOMIC)
		refuse(walk->module, override, "threads of a device have no copies of their own");
	if (walk->options->is_device || target->rank >= PRIVATE_RANK || !is_wanted(walk->module, loop, target))
		return node;
	node = tree_insert_mark(walk->module, node, MARK_PRIVATE, "parallel", stage);
	problem = schedule_private_problem(node);
	if (problem && override)
		refuse(walk->module, override, problem);
	if (problem)
		return isl_schedule_node_delete(node);
	if (override)
		override->is_used = true;
	copies_of(walk->module, target, parts);
	decide(walk->module, loop, target, parts);
	*done = true;
	return node;
}

void updates_become_atomic(struct module *module, const stage_list *updates)
{
	for (int i = 0; i < updates->n; i++) {
		struct override *override = find_override(module, updates->items[i]->write.array);

		if (override && !override->is_used && override->choice != CHOICE_ATOMIC)
			refuse(module, override, "several statements of one loop update the array");
		if (override)
			override->is_used = true;
	}
}

bool partitions_check(struct module *module, const struct pass_options *options)
{
	int n_errors = module->diags->n_errors;

	for (int i = 0; i < module->overrides.n; i++) {
		struct override *override = &module->overrides.items[i];

		if (override->is_used || !partition_is_of_updates(override))
			continue;
		if (!options->parallel)
			override->is_used = true;
		else if (options->deterministic && override->choice == CHOICE_ATOMIC)
			refuse(module, override, "--deterministic=on lets no sum depend on the order of threads");
		else
			refuse(module, override, "threads never update one cell of the array at once");
	}
	return module->diags->n_errors == n_errors;
}
