/* SPDX-License-Identifier: MIT
 *
 * Temporaries stored as small as their use allows. Where all groups that touch a temporary share loops (one group
 * alone: those of its common dims), and in each access the subscripts at these loops' dims are the same, dim plus a
 * constant or plus what loops around it say, what one iteration writes is read in that iteration only: these subscripts
 * are folded, they need no storage (array contraction: Sarkar and Gao 1991). If all are folded, a variable is left;
 * else an array of the plan with the remaining subscripts, one for each thread if the loops around are shared by
 * threads. The mark STORAGE stands below the innermost of these loops: a target makes the variable there, or takes the
 * thread's part.
 *
 * A loop whose dim is no subscript counts, too, where the cell tells its iteration: that of the segment that the cell
 * is in (passes/map/storage_cells.c).
 *
 * Along the loop inside of these, or the outermost one, what is read in a few further iterations only has a window: a
 * subscript is stored modulo a small number (ir/isl/window.c). That loop must run in order. Where it has no loops
 * inside, the number is a power of two, whose remainders are masks; and what a recurrence passes on stays as it is
 * there: C compilers keep it in registers.
 *
 * Which loops these are follows from the text; the tree may have others around them, such as those of tiles. So each
 * decision is proved where its mark stands (ir/isl/storage_check.c), and what cannot be proved is stored as a whole. */
#include "passes/pass_private.h"

enum { NO_LEVEL = -1 };

/* How all accesses of one array use their subscripts. */
struct folding {
	struct module *module;
	struct array *array;
	const struct region *region;    /* of all accesses; NULL: none yet */
	int first, last;                /* groups of the region that touch it */
	int level[ARRAY_MAX_RANK];      /* by subscript: the dim that it is in all accesses, or NO_LEVEL */
	const struct expr *first_sub[ARRAY_MAX_RANK];
	int64_t shift[ARRAY_MAX_RANK];  /* of the groups in the loop over that dim, all the same */
	bool is_used[ARRAY_MAX_RANK][ARRAY_MAX_RANK];   /* by subscript and dim: all accesses use it */
	const struct group *group;      /* that is looked at */
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

static void look_at_dims(struct folding *folding, const struct access *access, int subscript)
{
	bool *is_used = folding->is_used[subscript];

	for (int d = 0; d < ARRAY_MAX_RANK; d++)
		is_used[d] = (is_used[d] || !folding->is_known) && expr_uses_dim(access->subs[subscript], d);
}

static void look_at_access(struct access *access, void *user)
{
	struct folding *folding = user;

	if (access->array != folding->array)
		return;
	for (int i = 0; i < access->array->rank; i++) {
		int dim;
		bool is_dim = is_moving(access->subs[i], &dim);
		int64_t shift = is_dim ? group_shift(folding->group, dim) : 0;

		if (!folding->is_known && is_dim) {
			folding->level[i] = dim;
			folding->first_sub[i] = access->subs[i];
			folding->shift[i] = shift;
		} else if (!is_dim || folding->level[i] != dim || folding->shift[i] != shift ||
			   !are_same(folding->first_sub[i], access->subs[i])) {
			folding->level[i] = NO_LEVEL;
		}
		look_at_dims(folding, access, i);
	}
	folding->is_known = true;
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
	folding->group = group;
	for (int s = 0; s < group->stages.n; s++) {
		look_at_access(&group->stages.items[s]->write, folding);
		stage_reads(group->stages.items[s], look_at_access, folding);
	}
}

/* ---- what can be folded ---- */

static int n_shared_loops(const struct folding *folding)
{
	int n_common = folding->region->groups.items[folding->first]->n_common;
	int n = n_common < ARRAY_MAX_RANK ? n_common : ARRAY_MAX_RANK - 1;

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

static int n_subscript_loops(const struct folding *folding, int n_shared)
{
	int n = 0;

	while (n < n_shared && has_level(folding, n))
		n++;
	return n;
}

/* The loops, outermost first, in each iteration of which the array has other values; the innermost of them is a
 * subscript. */
static int n_private_loops(const struct folding *folding)
{
	int n_shared = n_shared_loops(folding), n = n_subscript_loops(folding, n_shared);
	unsigned told;

	while (n_shared > n && !has_level(folding, n_shared - 1))
		n_shared--;
	if (n == n_shared)
		return n;
	told = cells_tell_dims(folding->module, folding->region, folding->first, folding->last, folding->array,
			       n_shared);
	while (n < n_shared && (has_level(folding, n) || told >> n & 1U))
		n++;
	while (n && !has_level(folding, n - 1))
		n--;
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
	return folding->region && folding->is_possible;
}

/* ---- where ---- */

struct target {
	struct tree_walk walk;
	struct folding *folding;
	int n_loops;
	bool is_done;
	const char *problem;            /* why it is stored otherwise than was tried; NULL */
};

/* Do the groups from the first to the last, which share the loops that are looked at, run below? */
static bool is_around(const struct target *target, __isl_keep isl_schedule_node *node)
{
	const struct folding *folding = target->folding;
	stage_list below = tree_stages(folding->module, node);
	bool has_first = false;

	for (int i = 0; i < below.n; i++)
		has_first |= below.items[i]->group == folding->region->groups.items[folding->first];
	return has_first;
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

static bool folds_all(const struct target *target)
{
	return folded_subscripts(target) == (1U << target->folding->array->rank) - 1;
}

static void decide(const struct target *target, const struct mark *loop)
{
	const struct array *array = target->folding->array;
	struct arena *arena = target->walk.module->arena;
	bool is_variable = array_is_variable(array);

	if (array->stored.window)
		module_decide_that(target->walk.module, DECISION_STORAGE_WINDOW, array->name,
				   arena_printf(arena, "window of %lld%s", (long long) array->stored.window,
						array->stored.is_per_thread ? " of a thread" : ""), NULL, array->span,
				   "no more of its values are of use in one iteration of '%s'", loop->dim->name);
	else
		module_decide(target->walk.module, is_variable ? DECISION_STORAGE_VARIABLE : array->stored.is_per_thread
			      ? DECISION_STORAGE_THREAD : DECISION_STORAGE_PART, array->name, array->span,
			      "its values live in one iteration of '%s'", loop->dim->name);
}

static void store_whole(struct array *array)
{
	array->stored.folded = 0;
	array->stored.window = 0;
	array->stored.is_per_thread = false;
}

/* Above `node`, if that is proved; is at the mark, or back at its place. */
static __isl_give isl_schedule_node *insert_storage(struct target *target, __isl_take isl_schedule_node *node,
						    const struct mark *loop)
{
	struct module *module = target->walk.module;
	struct array *array = target->folding->array;
	struct mark *mark = mark_new(module, MARK_STORAGE, "storage", array->span);

	mark->array = array;
	array->stored.folded = folded_subscripts(target);
	array->stored.is_per_thread = !array_is_variable(array) && schedule_has_mark_above(node, MARK_PARALLEL, NULL);
	node = isl_schedule_node_insert_mark(node, mark_id(module, mark));
	target->problem = schedule_storage_problem(module, node);
	target->is_done = !target->problem;
	if (target->is_done) {
		decide(target, loop);
		return node;
	}
	store_whole(array);
	return isl_schedule_node_delete(node);
}

/* ---- windows ---- */

static enum mark_kind kind_above(__isl_keep isl_schedule_node *node)
{
	const struct mark *mark = mark_above(node);

	return mark ? mark->kind : MARK_N;
}

/* Does one thread, or all of them together, run the loop in order, and neither lanes nor calls? */
static bool runs_in_order(const struct target *target, __isl_keep isl_schedule_node *loop)
{
	enum mark_kind how = kind_above(loop);

	return how != MARK_PARALLEL && how != MARK_VECTOR && how != MARK_BLOCK && how != MARK_TEAM &&
	       !target->walk.options->is_device && !schedule_has_mark_above(loop, MARK_BLOCK, NULL) &&
	       !schedule_has_mark_above(loop, MARK_TEAM, NULL) && !is_in_call(target, loop);
}

static bool has_at_most(const struct array *array, int subscript, int64_t most)
{
	int64_t n;

	return range_is_constant(array->lo[subscript], array->hi[subscript], &n) && n <= most;
}

static void remark_whole(const struct target *target, const struct mark *loop)
{
	const struct array *array = target->folding->array;

	diag_remark(target->walk.module->diags, DIAG_NO_WINDOW, array->span,
		    "'%s' is stored for all iterations of '%s': there is no bound up to %d on how many of its values "
		    "one of them needs", array->name, loop->dim->name, MAX_WINDOW);
}

static bool is_of_recurrence(const struct folding *folding)
{
	const group_list *groups = &folding->region->groups;
	bool is = false;

	for (int g = 0; g < groups->n; g++)
		for (int s = 0; s < groups->items[g]->stages.n; s++)
			is |= groups->items[g]->is_recurrence &&
			      groups->items[g]->stages.items[s]->write.array == folding->array;
	return is;
}

static int64_t power_of_two(int64_t least)
{
	int64_t power = 1;

	while (power < least)
		power *= 2;
	return least ? power : 0;
}

/* A subscript that moves with the loop has a window that is smaller than what the array has. */
static bool finds_window(const struct target *target, __isl_keep isl_schedule_node *loop)
{
	const struct folding *folding = target->folding;
	struct array *array = folding->array;
	bool is_moving = false, is_innermost = !tree_has_loop_below(loop);

	if (is_innermost && is_of_recurrence(folding))
		return false;
	for (int i = 0; i < array->rank; i++) {
		int64_t window;

		if (!folding->is_used[i][target->n_loops] || (folded_subscripts(target) & 1U << i) ||
		    has_at_most(array, i, 1))
			continue;
		window = schedule_window(target->walk.module, loop, array, i);
		is_moving = true;
		window = is_innermost ? power_of_two(window) : window;
		if (!window || has_at_most(array, i, window))
			continue;
		array->stored.window = window;
		array->stored.windowed = i;
		return true;
	}
	if (is_moving)
		remark_whole(target, mark_of_node(loop));
	return false;
}

/* The loop inside of those whose subscripts are folded. */
static __isl_give isl_schedule_node *visit_for_window(struct tree_walk *walk, __isl_take isl_schedule_node *node,
						      const struct mark *mark, bool *descend)
{
	struct target *target = (struct target *) walk;
	int n_above = 0;
	bool is_it;

	*descend = !target->is_done && is_around(target, node);
	is_it = *descend && mark->kind == MARK_LOOP && mark_dim_number(mark) == target->n_loops;
	*descend = *descend && !is_it;
	if (!is_it || isl_schedule_node_get_schedule_depth(node) != target->n_loops || !runs_in_order(target, node) ||
	    !finds_window(target, node))
		return node;
	for (; kind_above(node) == MARK_STORAGE; n_above++)
		node = isl_schedule_node_parent(node);
	node = insert_storage(target, node, mark);
	for (; n_above; n_above--)
		node = isl_schedule_node_first_child(node);
	return node;
}

/* ---- parts and variables ---- */

static __isl_give isl_schedule_node *visit(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					   const struct mark *mark, bool *descend)
{
	struct target *target = (struct target *) walk;

	*descend = !target->is_done && is_around(target, node);
	if (!*descend || mark->kind != MARK_LOOP || mark_dim_number(mark) != target->n_loops - 1)
		return node;
	*descend = false;
	if (is_in_call(target, node) || (walk->options->is_device && !schedule_has_mark_above(node, MARK_GRID, NULL)))
		return node;
	if (!folds_all(target) && (walk->options->is_device || schedule_has_mark_above(node, MARK_VECTOR, NULL)))
		return node;
	node = isl_schedule_node_first_child(isl_schedule_node_first_child(node));
	node = insert_storage(target, node, mark);
	return isl_schedule_node_parent(isl_schedule_node_parent(node));
}

static bool try_array(struct module *module, const struct pass_options *options, struct array *array)
{
	struct folding folding = { .module = module, .array = array };
	struct target target = { .walk = { .module = module, .options = options, .visit = visit_for_window,
					   .enters_blocks = true },
				 .folding = &folding };

	store_whole(array);
	if (!options->storage || !look_at(&folding))
		return true;
	target.n_loops = n_private_loops(&folding);
	if (n_shared_loops(&folding) > target.n_loops && !module_walk(&target.walk))
		return false;
	target.walk.visit = visit;
	if (!target.is_done && target.n_loops && !module_walk(&target.walk))
		return false;
	if (target.problem)
		module_decide(module, DECISION_STORAGE_ARRAY, array->name, array->span, "%s", target.problem);
	return true;
}

bool pass_storage(struct module *module, const struct pass_options *options)
{
	bool ok = true;

	for (int a = module->arrays.n - 1; ok && a >= 0; a--)
		ok = try_array(module, options, module->arrays.items[a]);
	return ok;
}
