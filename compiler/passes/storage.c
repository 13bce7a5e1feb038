/* SPDX-License-Identifier: MIT
 *
 * Temporaries stored as small as their use allows. Where all groups that touch a temporary share loops, and in each
 * access the subscripts at these loops' dims are the same, dim plus a constant or plus what loops around it say, what
 * one iteration writes is read in that iteration only: these subscripts are folded, they need no storage (array
 * contraction: Sarkar and Gao 1991). If all are folded, a variable is left; else an array of the plan with the
 * remaining subscripts, one for each thread if the loops around are shared by threads. The mark STORAGE stands below
 * the innermost of these loops: a target makes the variable there, or takes the thread's part.
 *
 * Dependences are not computed anew: those that folding adds go from one iteration of these loops to a later one, and
 * concern what each thread, or each iteration of a vector loop, has of its own. */
#include "passes/pass_private.h"

enum { MAX_RANK = 8, NO_LEVEL = -1 };

/* How all accesses of one array use their subscripts. */
struct folding {
	struct module *module;
	struct array *array;
	const struct region *region;    /* of all accesses; NULL: none yet */
	int first, last;                /* groups of the region that touch it */
	int level[MAX_RANK];            /* by subscript: the dim that it is in all accesses, or NO_LEVEL */
	const struct expr *first_sub[MAX_RANK];
	bool is_known, is_possible;     /* some access was seen; all are in one region */
};

/* ---- accesses ---- */

/* Is it a dim plus a constant, or plus an expression of dims before it? */
static bool is_moving(const struct expr *expr, int *dim)
{
	int last = expr_last_dim(expr);

	*dim = last;
	while (last >= 0 && expr->kind == EXPR_OP && (expr->op == OP_ADD || expr->op == OP_SUB)) {
		bool is_left = expr_uses_dim(expr->args[0], last), is_right = expr_uses_dim(expr->args[1], last);

		if (is_left && is_right)
			return false;
		expr = expr->args[is_right];
	}
	return last >= 0 && expr->kind == EXPR_DIM;
}

static bool are_same(const struct expr *a, const struct expr *b)
{
	int64_t a_offset, b_offset;
	int a_dim, b_dim;

	if (expr_is_shifted_dim(a, &a_dim, &a_offset) && expr_is_shifted_dim(b, &b_dim, &b_offset))
		return a_dim == b_dim && a_offset == b_offset;
	return expr_equal(a, b);
}

static void look_at_access(struct access *access, void *user)
{
	struct folding *folding = user;

	if (access->array != folding->array)
		return;
	for (int i = 0; i < access->array->rank; i++) {
		int dim;
		bool is_dim = is_moving(access->subs[i], &dim);

		if (!folding->is_known && is_dim) {
			folding->level[i] = dim;
			folding->first_sub[i] = access->subs[i];
		} else if (!is_dim || folding->level[i] != dim || !are_same(folding->first_sub[i], access->subs[i])) {
			folding->level[i] = NO_LEVEL;
		}
	}
	folding->is_known = true;
}

static bool group_touches(const struct group *group, const struct array *array)
{
	bool touches = false;

	for (int s = 0; !touches && s < group->stages.n; s++)
		touches = group->stages.items[s]->write.array == array ||
			  stage_reads_array(group->stages.items[s], array);
	return touches;
}

static void look_at_group(struct folding *folding, const struct region *region, int position)
{
	const struct group *group = region->groups.items[position];

	if (!group_touches(group, folding->array))
		return;
	folding->is_possible = folding->is_possible && (!folding->region || folding->region == region);
	folding->first = folding->region ? folding->first : position;
	folding->last = position;
	folding->region = region;
	for (int s = 0; s < group->stages.n; s++) {
		look_at_access(&group->stages.items[s]->write, folding);
		stage_reads(group->stages.items[s], look_at_access, folding);
	}
}

/* ---- what can be folded ---- */

static int n_shared_loops(const struct folding *folding)
{
	int n = folding->first < folding->last ? MAX_RANK : 0;

	for (int g = folding->first + 1; g <= folding->last; g++) {
		int fused = folding->region->groups.items[g]->n_fused;

		n = fused < n ? fused : n;
	}
	return n;
}

static bool has_level(const struct folding *folding, int level)
{
	for (int i = 0; i < folding->array->rank; i++)
		if (folding->level[i] == level)
			return true;
	return false;
}

/* The loops, outermost first, in each iteration of which the array has other values. */
static int n_private_loops(const struct folding *folding)
{
	int n_shared = n_shared_loops(folding), n = 0;

	while (n < n_shared && has_level(folding, n))
		n++;
	return n;
}

static bool look_at(struct folding *folding)
{
	struct module *module = folding->module;

	if (folding->array->role != ROLE_TEMP || array_is_index(folding->array))
		return false;
	folding->is_possible = !module->loop.until || !expr_reads_array(module->loop.until, folding->array);
	for (int r = 0; r < REGION_N; r++)
		for (int g = 0; g < module->regions[r].groups.n; g++)
			look_at_group(folding, &module->regions[r], g);
	return folding->region && folding->is_possible && n_private_loops(folding) > 0;
}

/* ---- where ---- */

struct target {
	struct tree_walk walk;
	struct folding *folding;
	int n_loops;
	bool is_done;
};

/* Do all groups from the first to the last run below? */
static bool is_around(const struct target *target, __isl_keep isl_schedule_node *node)
{
	const struct folding *folding = target->folding;
	stage_list below = tree_stages(folding->module, node);
	bool has_first = false, has_last = false;

	for (int i = 0; i < below.n; i++) {
		has_first |= below.items[i]->group == folding->region->groups.items[folding->first];
		has_last |= below.items[i]->group == folding->region->groups.items[folding->last];
	}
	return has_first && has_last;
}

/* Calls of the BLAS see arrays as they are declared. */
static bool is_in_call(const struct target *target, __isl_keep isl_schedule_node *node)
{
	const struct folding *folding = target->folding;
	stage_list below = tree_stages(folding->module, node);

	for (int i = 0; i < below.n; i++)
		if (group_touches(below.items[i]->group, folding->array) &&
		    schedule_has_mark_below(node, MARK_BLAS, below.items[i]))
			return true;
	return false;
}

static unsigned folded_subscripts(const struct target *target)
{
	unsigned folded = 0;

	for (int i = 0; i < target->folding->array->rank; i++)
		if (target->folding->level[i] != NO_LEVEL && target->folding->level[i] < target->n_loops)
			folded |= 1U << i;
	return folded;
}

static void decide(const struct target *target, const struct mark *loop)
{
	const struct array *array = target->folding->array;
	bool is_variable = array_is_variable(array);

	module_decide(target->walk.module, "storage", array->name,
		      is_variable ? "variable" : array->is_per_thread ? "part of a thread" : "part", "array",
		      array->span, "its values live in one iteration of '%s'", loop->dim->name);
}

static __isl_give isl_schedule_node *insert_storage(struct target *target, __isl_take isl_schedule_node *node,
						    const struct mark *loop)
{
	struct module *module = target->walk.module;
	struct array *array = target->folding->array;
	struct mark *mark = mark_new(module, MARK_STORAGE, "storage", array->span);

	mark->array = array;
	array->is_per_thread = !array_is_variable(array) && schedule_has_mark_above(node, MARK_PARALLEL, NULL);
	node = isl_schedule_node_first_child(isl_schedule_node_first_child(node));
	node = isl_schedule_node_insert_mark(node, mark_id(module, mark));
	decide(target, loop);
	target->is_done = true;
	return isl_schedule_node_parent(isl_schedule_node_parent(node));
}

static __isl_give isl_schedule_node *visit(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					   const struct mark *mark, bool *descend)
{
	struct target *target = (struct target *) walk;
	struct array *array = target->folding->array;

	*descend = !target->is_done && is_around(target, node);
	if (!*descend || mark->kind != MARK_LOOP || mark_dim_number(mark) != target->n_loops - 1)
		return node;
	*descend = false;
	if (is_in_call(target, node) || (walk->options->is_device && !schedule_has_mark_above(node, MARK_GRID, NULL)))
		return node;
	array->folded = folded_subscripts(target);
	if (!array_is_variable(array) &&
	    (walk->options->is_device || schedule_has_mark_above(node, MARK_VECTOR, NULL))) {
		array->folded = 0;
		return node;
	}
	return insert_storage(target, node, mark);
}

bool pass_storage(struct module *module, const struct pass_options *options)
{
	bool ok = true;

	for (int a = 0; a < module->arrays.n; a++) {
		module->arrays.items[a]->folded = 0;
		module->arrays.items[a]->is_per_thread = false;
	}
	for (int a = module->arrays.n - 1; ok && options->storage && a >= 0; a--) {
		struct folding folding = { .module = module, .array = module->arrays.items[a] };
		struct target target = { .walk = { .module = module, .options = options, .visit = visit,
						   .enters_blocks = true },
					 .folding = &folding };

		if (!look_at(&folding))
			continue;
		target.n_loops = n_private_loops(&folding);
		ok = module_walk(&target.walk);
	}
	return ok;
}
