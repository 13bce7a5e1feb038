/* SPDX-License-Identifier: MIT
 *
 * Which algorithm goes over a tree, where an item `algorithm x : NAME` asks for one. A recurrence over the nodes of
 * trees goes from the leaves to the roots, or back, node after node:
 *
 *     hines           each tree by one thread, values of parents and children from memory
 *     chains          the same; along a branch, values stay in registers (codegen/loop_carried.c), which is done anyway
 *     level_batches   all branches of a level at a time, whichever tree they are of:
 *
 *     for i in 0..n, …                      becomes
 *     for level in 0..depth, for branch in levels[level]..levels[level + 1], for i in begins[branch]..ends[branch], …
 *
 * which visits the same points. That branches of one level need nothing from each other follows from what a branching
 * is (ir/module.h). An item is about what it names and about the recurrences over that tree which this reads. Partition
 * is for eliminations alone, and left to the pass that has their other algorithms (trees.c). */
#include "ir/match/elimination.h"
#include "passes/pass_private.h"

#define ALGORITHMS "hines, chains, level_batches, and partition(rows = 64) of an elimination"

/* ---- what an item is about ---- */

struct item {
	struct module *module;
	struct override *override;
	bool *is_meant;                 /* by number of group */
};

static bool group_is_named(const struct group *group, const struct override *override)
{
	bool is = false;

	for (int s = 0; s < group->stages.n; s++)
		is = is || override_names(override, group->stages.items[s]->write.array);
	return is;
}

static bool reads_group(const struct group *reader, const struct group *group)
{
	bool reads = false;

	for (int s = 0; s < group->stages.n; s++)
		reads = reads || group_reads(reader, group->stages.items[s]->write.array);
	return reads;
}

static bool is_read_by_meant(const struct item *item, const struct group *group)
{
	bool is = false;

	for (int g = 0; g < item->module->groups.n; g++)
		is = is || (item->is_meant[g] && reads_group(item->module->groups.items[g], group));
	return is;
}

/* What the meant recurrences over this tree read is computed by the same algorithm. */
static void mean_all(struct item *item, const struct array *tree)
{
	bool has_changed = true;

	while (has_changed) {
		has_changed = false;
		for (int g = 0; g < item->module->groups.n; g++) {
			struct tree_cut cut = { .module = item->module, .group = item->module->groups.items[g] };

			if (!item->is_meant[g] && tree_cut_find(&cut) && cut.tree == tree &&
			    is_read_by_meant(item, cut.group))
				item->is_meant[g] = has_changed = true;
		}
	}
}

/* ---- refusals ---- */

static bool dim_is_of_tree(const struct dim *dim)
{
	return dim->kind == DIM_CHILDREN || (dim->kind == DIM_BIND && dim->source.array->facts & FACT_TREE);
}

static bool goes_over_tree(const struct group *group)
{
	bool goes = false;

	for (int i = 0; i < group->stages.n; i++)
		for (int d = 0; d < group->stages.items[i]->dims.n; d++)
			goes = goes || dim_is_of_tree(&group->stages.items[i]->dims.items[d]);
	return goes && group->is_recurrence;
}

static bool refuse(const struct item *item, const char *problem)
{
	struct override *override = item->override;
	struct diag *diag = diag_error(item->module->diags, DIAG_BAD_ITEM, override->span, "%s", problem);

	diag_help(item->module->diags, diag, (struct span) { 0 },
		  "'%s' is computed over a tree; algorithms for these are " ALGORITHMS, override->subjects.items[0]);
	return false;
}

bool is_tree_algorithm(enum item_choice choice)
{
	return choice == CHOICE_HINES || choice == CHOICE_CHAINS || choice == CHOICE_LEVEL_BATCHES;
}

/* Does the item ask for an algorithm that there is? False after a diagnostic. */
static bool is_well_asked(const struct item *item)
{
	const struct override *override = item->override;
	const char *name = override_choice(override);

	if (!is_tree_algorithm(override->choice))
		return refuse(item, arena_printf(item->module->arena, "a tree has no algorithm '%s'", name));
	if (override->words.n || override->numbers.n)
		return refuse(item, arena_printf(item->module->arena, "'%s' does not take that", name));
	return true;
}

/* ---- does the recurrence go along branches? ---- */

struct fit {
	const struct tree_cut *cut;
	const struct stage *stage;
	bool fits;
};

static bool is_node(const struct tree_cut *cut, const struct expr *expr)
{
	return expr->kind == EXPR_DIM && expr->index == cut->level;
}

/* The node itself, its parent or a child of it; what else there is does not move with the node. */
static bool subscript_fits(const struct fit *fit, const struct expr *sub)
{
	const struct dim *dim = sub->kind == EXPR_DIM ? &fit->stage->dims.items[sub->index] : NULL;

	if (dim && dim_is_of_tree(dim))
		return dim->source.array == fit->cut->tree && is_node(fit->cut, dim->source.subs[0]);
	return is_node(fit->cut, sub) || !expr_uses_dim(sub, fit->cut->level);
}

static void look_at_read(struct access *access, void *user)
{
	struct fit *fit = user;

	if (group_writes(fit->cut->group, access->array))
		for (int i = 0; i < access_n_subs(access); i++)
			fit->fits = fit->fits && subscript_fits(fit, access->subs[i]);
}

static bool goes_along_branches(const struct tree_cut *cut)
{
	struct fit fit = { .cut = cut, .fits = true };

	for (int s = 0; s < cut->group->stages.n; s++) {
		fit.stage = cut->group->stages.items[s];
		expr_reads(fit.stage->value, look_at_read, &fit);
	}
	return fit.fits;
}

/* ---- branches of a tree ---- */

static struct array *add_index(struct module *module, struct array *tree, const char *what, struct expr *n,
			       struct expr *limit)
{
	const char *name = arena_printf(module->arena, "%s.%s", tree->name, what);
	struct array *array = module_add_array(module, name, ROLE_TEMP, TYPE_I64, 1, tree->span);

	array->hi[0] = n;
	array->facts = FACT_INDEX;
	array->is_proved = true;
	array->limit = limit;
	return array;
}

static const struct branching *branching_of(const struct tree_cut *cut)
{
	struct module *module = cut->module;
	struct branching branching = { .span = cut->group->span, .tree = cut->tree };
	struct expr *n = cut->tree->hi[0], *above = tree_cut_plus(cut, n, 1);

	for (int i = 0; i < module->branchings.n; i++)
		if (module->branchings.items[i].tree == cut->tree)
			return &module->branchings.items[i];
	branching.depth = add_index(module, cut->tree, "depth", expr_int(module->arena, 1, n->span), above);
	branching.levels = add_index(module, cut->tree, "levels", above, above);
	branching.levels->facts |= FACT_SORTED;
	branching.begins = add_index(module, cut->tree, "begins", n, n);
	branching.ends = add_index(module, cut->tree, "ends", n, above);
	vec_push(module->arena, &module->branchings, branching);
	return &module->branchings.items[module->branchings.n - 1];
}

/* depth = depth[0], for level in 0..depth, first = levels[level], last = levels[level + 1],
 * for branch in first..last, begin = begins[branch], end = ends[branch], for i in begin..end */
static void add_loops(const struct tree_cut *cut, dim_list *dims)
{
	const struct branching *branching = cut->branching;
	struct expr *zero = expr_int(cut->module->arena, 0, cut->nodes->span), *level, *branch, *from, *to;

	to = tree_cut_bind(cut, dims, branching->depth, "depth", zero);
	level = tree_cut_range(cut, dims, "level", zero, to);
	from = tree_cut_bind(cut, dims, branching->levels, "first", level);
	to = tree_cut_bind(cut, dims, branching->levels, "last", tree_cut_plus(cut, level, 1));
	branch = tree_cut_range(cut, dims, "branch", from, to);
	from = tree_cut_bind(cut, dims, branching->begins, "begin", branch);
	to = tree_cut_bind(cut, dims, branching->ends, "end", branch);
	tree_cut_range(cut, dims, cut->nodes->name, from, to);
}

/* ---- partition ---- */

/* Is the array a solution, or one of the recurrences that it is computed from? */
static bool is_of_elimination(struct module *module, const struct array *array)
{
	struct tree_elimination e;

	for (int i = 0; i < module->arrays.n; i++)
		if (!tree_elimination_problem(module, module->arrays.items[i], &e) &&
		    (e.rows.solution == array || e.rows.pivot == array || e.rows.reduced == array))
			return true;
	return false;
}

/* Is all that the item names, and goes over a tree, of eliminations? False after a diagnostic. */
static bool names_eliminations(const struct item *item)
{
	for (int g = 0; g < item->module->groups.n; g++) {
		const struct group *group = item->module->groups.items[g];
		struct tree_elimination elimination;
		struct array *array;

		if (!group_is_named(group, item->override) || !goes_over_tree(group))
			continue;
		array = group->stages.items[group->stages.n - 1]->write.array;
		if (!is_of_elimination(item->module, array))
			return refuse(item, arena_printf(item->module->arena, "'%s' has no algorithm 'partition': %s",
							 array->name, tree_elimination_problem(item->module, array,
											       &elimination)));
	}
	return true;
}

/* ---- the pass ---- */

static void decide(const struct item *item, const struct group *group, const char *reason)
{
	const enum item_choice chosen = item->override->choice;

	module_decide(item->module, chosen == CHOICE_HINES ? DECISION_BRANCHES_HINES : chosen == CHOICE_CHAINS
		      ? DECISION_BRANCHES_CHAINS : DECISION_BRANCHES_LEVELS, group->name, item->override->span, "%s",
		      reason);
}

static void apply_to(const struct item *item, struct group *group)
{
	struct tree_cut cut = { .module = item->module, .group = group, .add_loops = add_loops };
	const char *reason = "the schedule asks for it";

	group->is_in_memory = item->override->choice == CHOICE_HINES;
	if (item->override->choice == CHOICE_LEVEL_BATCHES) {
		tree_cut_find(&cut);
		cut.branching = branching_of(&cut);
		tree_cut_apply(&cut);
		reason = arena_printf(item->module->arena, "branches of one level of '%s' need nothing of each other",
				      cut.tree->name);
	}
	decide(item, group, reason);
}

/* Marks what the item names; false after a diagnostic. */
static bool find_meant(struct item *item)
{
	for (int g = 0; g < item->module->groups.n; g++) {
		struct tree_cut cut = { .module = item->module, .group = item->module->groups.items[g] };
		bool is_cut;

		if (!group_is_named(cut.group, item->override) || !goes_over_tree(cut.group))
			continue;
		is_cut = tree_cut_find(&cut);
		if (item->override->choice == CHOICE_LEVEL_BATCHES && !is_cut)
			return refuse(item, arena_printf(item->module->arena, "'%s' does not visit all nodes of a tree "
							 "in one loop", cut.group->name));
		item->is_meant[g] = true;
		if (is_cut)
			mean_all(item, cut.tree);
	}
	return true;
}

static bool is_over_tree(const struct item *item)
{
	bool is = false;

	for (int g = 0; g < item->module->groups.n; g++)
		is = is || (group_is_named(item->module->groups.items[g], item->override) &&
			    goes_over_tree(item->module->groups.items[g]));
	return is;
}

/* False after a diagnostic. */
static bool check_meant(const struct item *item)
{
	for (int g = 0; g < item->module->groups.n; g++) {
		struct tree_cut cut = { .module = item->module, .group = item->module->groups.items[g] };

		if (item->is_meant[g] && tree_cut_find(&cut) && !goes_along_branches(&cut))
			return refuse(item, arena_printf(item->module->arena, "'%s' needs more than the parent and the "
							 "children of a node, level by level", cut.group->name));
	}
	return true;
}

/* True where loops have changed. */
static bool honour(struct item *item)
{
	const bool has_levels = item->override->choice == CHOICE_LEVEL_BATCHES;

	if (item->override->choice == CHOICE_PARTITION) {
		item->override->is_used = !names_eliminations(item);
		return false;
	}
	item->override->is_used = true;
	if (!is_well_asked(item) || !find_meant(item) || (has_levels && !check_meant(item)))
		return false;
	for (int g = 0; g < item->module->groups.n; g++)
		if (item->is_meant[g])
			apply_to(item, item->module->groups.items[g]);
	return has_levels;
}

bool pass_branches(struct module *module, const struct pass_options *options)
{
	bool has_changed = false;

	(void) options;
	for (int i = 0; i < module->overrides.n; i++) {
		struct item item = { .module = module, .override = &module->overrides.items[i],
				     .is_meant = arena_new_array(module->arena, bool, module->groups.n + 1) };

		if (item.override->verb == VERB_ALGORITHM && !item.override->is_used && is_over_tree(&item))
			has_changed |= honour(&item);
	}
	if (!has_changed)
		return true;
	module_analyse(module);
	return module_order_recurrences(module);
}
