/* SPDX-License-Identifier: MIT
 *
 * Recurrences over many trees, tree by tree. A tree that is cut into segments is a forest: parents and children do not
 * leave their segment (runtime/plan/facts.c checks it). So a recurrence over all of its nodes,
 *
 *     for i in 0..n, …                      becomes
 *     for tree in 0..trees, begin = offset[tree], end = offset[tree + 1], for i in begin..end, …
 *
 * which visits the same points. That trees need nothing from each other then follows from the facts of both arrays
 * (ir/isl/access.c, ir/isl/axioms.c), and they run side by side. */
#include "passes/pass_private.h"

/* for tree in 0..trees, begin = offset[tree], end = offset[tree + 1], for i in begin..end */
static void add_loops(const struct tree_cut *cut, dim_list *dims)
{
	struct arena *arena = cut->module->arena;
	struct array *offsets = cut->tree->segments;
	const char *name = array_member_name(offsets);
	struct expr *zero = expr_int(arena, 0, cut->nodes->span), *begin, *end;
	struct expr *tree = tree_cut_range(cut, dims, "tree", zero, tree_cut_plus(cut, offsets->hi[0], -1));

	begin = tree_cut_bind(cut, dims, offsets, arena_printf(arena, "%s_begin", name), tree);
	end = tree_cut_bind(cut, dims, offsets, arena_printf(arena, "%s_end", name), tree_cut_plus(cut, tree, 1));
	tree_cut_range(cut, dims, cut->nodes->name, begin, end);
}

bool pass_segments(struct module *module, const struct pass_options *options)
{
	bool has_cut = false;

	(void) options;
	for (int g = 0; g < module->groups.n; g++) {
		struct tree_cut cut = { .module = module, .group = module->groups.items[g], .add_loops = add_loops,
					.is_of_segments = true };

		if (!tree_cut_find(&cut))
			continue;
		tree_cut_apply(&cut);
		module_decide(module, DECISION_SEGMENTS, cut.group->name, cut.group->span,
			      "nodes of '%s' have parents and children in their own segment", cut.tree->name);
		has_cut = true;
	}
	if (!has_cut)
		return true;
	module_analyse(module);
	return module_order_recurrences(module);
}
