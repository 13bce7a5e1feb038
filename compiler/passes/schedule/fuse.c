/* SPDX-License-Identifier: MIT
 *
 * Which groups share their outer loops. Level by level, outermost first, groups are gathered in clusters: two are
 * merged when no dependence goes from one iteration of the loop to another one, so that fusion keeps every loop as
 * parallel as it was, and when nothing has to run between them; inner loops that run in order by themselves also when
 * it goes to a later one: recurrences that feed each other then wait for each other's operations once. Producers and
 * consumers are merged by themselves; `fuse a, b` merges what it names, also where the loop then carries a dependence
 * forwards, and is refused with a pair of iterations where one would go backwards. Where a consumer reads ahead, it
 * runs some iterations later (fuse_slide.c). Clusters are put in an order that their dependences ask for, the order of
 * the region where that leaves a choice (typed fusion: Kennedy and McKinley 1993).
 *
 * The result is group->n_fused and the order of region->groups; ir/isl/textual.c builds the tree, which is proved like
 * any other. Without dependences nothing is fused. */
#include "passes/schedule/fuse_private.h"

static bool edges_allow(const struct level *level, int x, int y, struct obstacle *obstacle)
{
	for (int e = 0; e < level->edges->n; e++) {
		const struct edge *edge = &level->edges->items[e];

		if (!edge_goes_between(level, edge, x, y) && !edge_goes_between(level, edge, y, x))
			continue;
		if (level->number > 0 && edge->is_crossing && cluster_carries(level, x, true) &&
		    cluster_carries(level, y, true) && !edge_goes_back(edge, level->number))
			continue;
		if (edge->is_crossing)
			return obstacle_is(obstacle, "an iteration needs another one",
					   edge_crossing(edge, level->number));
	}
	return true;
}

/* x stands before y, or no edge says otherwise. */
static bool may_merge(const struct level *level, int x, int y, bool is_asked, struct obstacle *obstacle)
{
	bool is_same = cluster_carries(level, x, true) == cluster_carries(level, y, true) &&
		       cluster_carries(level, x, false) == cluster_carries(level, y, false);

	if (!loops_agree(level, x, y, is_asked, obstacle) || !edges_allow(level, x, y, obstacle))
		return false;
	if (cluster_slides(level, x) || cluster_slides(level, y))
		return obstacle_is(obstacle, "one of them waits for others", NULL);
	if (!is_same)
		return obstacle_is(obstacle, "one of the loops carries a dependence and the other does not", NULL);
	return !is_between(level, x, y, obstacle);
}

static bool is_call(const struct level *level, int x)
{
	const struct fusion *f = level->fusion;
	bool is = false;

	for (int i = 0; i < level->members->n && !is; i++)
		is = level->cluster[i] == x &&
		     blas_needs_loop(f->module, f->options, level->members->items[i], level->number);
	return is;
}

static bool may_merge_unasked(const struct level *level, int x, int y, struct obstacle *obstacle)
{
	if (is_call(level, x) || is_call(level, y))
		return obstacle_is(obstacle, "one of them is a call of the BLAS", NULL);
	return may_merge(level, x, y, false, obstacle);
}

/* ---- what is merged ---- */

static void refuse(struct fusion *f, const struct asked *asked, const struct group *a, const struct group *b,
		   struct obstacle *obstacle)
{
	struct diag *diag = diag_error(f->module->diags, DIAG_BREAKS_DEPENDENCE, asked->override->span,
				       "'%s' and '%s' cannot be fused: %s", a->name, b->name, obstacle->reason);

	if (obstacle->pairs)
		diag_label(f->module->diags, diag, (struct span) { 0 }, "%s",
			   dependence_sample(f->module, isl_union_map_from_map(isl_map_copy(obstacle->pairs))));
	f->failed = true;
}

static bool adds_to(const struct group *group, const struct array *array)
{
	bool does = false;

	for (int i = 0; i < group->stages.n; i++)
		does |= group->stages.items[i]->op != REDUCE_SET && group->stages.items[i]->write.array == array;
	return does;
}

/* Does the group give an array the values to which a later one that is asked for adds? */
static bool is_start(const struct asked *asked, const struct group *group)
{
	const struct stage *stage = group->stages.items[0];
	bool is = false;

	for (int i = asked->groups.n - 1; asked->groups.items[i] != group; i--)
		is |= stage->op == REDUCE_SET && adds_to(asked->groups.items[i], stage->write.array);
	return is;
}

/* The first that is no start. */
static const struct group *leader_of(const struct asked *asked)
{
	int i = 0;

	while (is_start(asked, asked->groups.items[i]))
		i++;
	return asked->groups.items[i];
}

/* Merges what an item names; refuses it where that cannot be. Only on the outermost level an item insists, and not on
 * starts, which are merged when everything else is. */
static void merge_asked(struct level *level, const struct asked *asked, bool starts)
{
	const struct group *first = leader_of(asked);

	for (int i = 0; i < asked->groups.n && !level->fusion->failed; i++) {
		const struct group *group = asked->groups.items[i];
		int x = cluster_of(level, first), y = cluster_of(level, group);
		struct obstacle obstacle = { NULL, NULL };

		if (x < 0 || y < 0 || x == y || level->number >= asked->depth || is_start(asked, group) != starts)
			continue;
		if (level->number == 0 && !slide_merge(level, x, y, true, &obstacle) && !starts)
			refuse(level->fusion, asked, first, group, &obstacle);
		else if (level->number > 0 && may_merge(level, x, y, true, &obstacle))
			clusters_merge(level, x, y);
		isl_map_free(obstacle.pairs);
	}
}

/* Has an edge before this one the same ends? */
static bool is_told(const struct level *level, const struct edge *edge)
{
	for (const struct edge *other = level->edges->items; other < edge; other++)
		if (other->is_strict && other->from == edge->from && other->to == edge->to)
			return true;
	return false;
}

/* A reduction that starts apart. */
static bool is_of_start(const struct edge *edge)
{
	const struct stage *start = edge->from->stages.items[0];

	return start->is_init && group_writes(edge->to, start->write.array);
}

/* With a pair of iterations: one that speaks against it, or else one that made it worth a thought. The two may share
 * the loops around this level. There is no pair where isl's quota has run out, of which a warning tells. */
static void remark_unfused(const struct level *level, const struct edge *edge, struct obstacle *obstacle)
{
	struct fusion *f = level->fusion;
	isl_map *pairs = obstacle->pairs ? obstacle->pairs : edge->pairs;
	struct diag *diag;
	const char *sample;

	if (!group_has_loop(edge->from, level->number) || !group_has_loop(edge->to, level->number) ||
	    is_told(level, edge))
		return;
	sample = dependence_sample(f->module, isl_union_map_from_map(isl_map_copy(pairs)));
	if (!sample)
		return;
	diag = diag_remark(f->module->diags, DIAG_NOT_FUSED, edge->to->span, "'%s' is not fused with '%s'%s%s: %s",
			   edge->to->name, edge->from->name, is_of_start(edge) ? " at its start" : "",
			   level->number ? " below the loops that they share" : "",
			   obstacle->reason);
	diag_label(f->module->diags, diag, (struct span) { 0 }, obstacle->pairs ? "%s" : "what links them: %s", sample);
}

/* Loops that are to be tiled are shared only where an item says so. */
static bool is_tiled(const struct fusion *f, const struct group *group)
{
	for (int i = 0; i < f->module->overrides.n; i++) {
		const struct override *override = &f->module->overrides.items[i];

		for (int s = 0; s < override->subjects.n && override->numbers.n && override->verb == VERB_TILE &&
			    override->choice != CHOICE_HALO; s++)
			if (group_defines(group, override->subjects.items[s]))
				return true;
	}
	return false;
}

/* Has an item said with which others a group is fused, and to what depth? */
static bool is_settled(const struct level *level, const struct edge *edge)
{
	const struct fusion *f = level->fusion;

	if (is_tiled(f, edge->from) || is_tiled(f, edge->to))
		return true;
	for (int i = 0; i < f->asked.n; i++)
		if (level->number >= f->asked.items[i].depth && group_is_in(&f->asked.items[i].groups, edge->from) &&
		    group_is_in(&f->asked.items[i].groups, edge->to))
			return true;
	return !f->is_automatic;
}

/* May it be a reason to merge two clusters? */
static bool is_open(const struct level *level, const struct edge *edge)
{
	int x = cluster_of(level, edge->from), y = cluster_of(level, edge->to);

	return x != y && edge->is_strict && !is_settled(level, edge);
}

/* Merges what an edge links, if that may be; why not, by number of edge. */
static void merge_by_edges(struct level *level, struct obstacle *obstacles)
{
	for (int e = 0; e < level->edges->n; e++) {
		const struct edge *edge = &level->edges->items[e];
		int x = cluster_of(level, edge->from), y = cluster_of(level, edge->to);

		if (!is_open(level, edge))
			continue;
		if (may_merge_unasked(level, x, y, &obstacles[e]))
			clusters_merge(level, x, y);
	}
}

/* Merges two clusters of which one has to run later, where that pays; false: there are none. What has several readers
 * pays as soon as they are together. */
static bool slide_by_edges(struct level *level)
{
	for (int e = 0; e < level->edges->n; e++) {
		const struct edge *edge = &level->edges->items[e];
		struct obstacle obstacle = { NULL, NULL };
		bool is_merged = is_open(level, edge) && slide_pays(level, edge) &&
				 slide_merge(level, cluster_of(level, edge->from), cluster_of(level, edge->to), false,
					     &obstacle);

		isl_map_free(obstacle.pairs);
		if (is_merged)
			return true;
	}
	return false;
}

static void merge_unasked(struct level *level)
{
	struct obstacle *obstacles = arena_new_array(level->fusion->module->arena, struct obstacle,
						     level->edges->n + 1);

	merge_by_edges(level, obstacles);
	while (slide_by_edges(level))
		;
	for (int e = 0; e < level->edges->n; e++) {
		if (obstacles[e].reason && is_open(level, &level->edges->items[e]))
			remark_unfused(level, &level->edges->items[e], &obstacles[e]);
		isl_map_free(obstacles[e].pairs);
	}
}

/* ---- the order of clusters ---- */

static bool waits(const struct level *level, int x, const bool *is_done)
{
	for (int e = 0; e < level->edges->n; e++) {
		const struct edge *edge = &level->edges->items[e];
		int from = cluster_of(level, edge->from);

		if (edge->is_strict && cluster_of(level, edge->to) == x && from != x && !is_done[from])
			return true;
	}
	return false;
}

/* A cluster has the number of its first member, so that the smallest is the first in the region. */
static int next_cluster(const struct level *level, const bool *is_done)
{
	for (int i = 0; i < level->members->n; i++)
		if (level->cluster[i] == i && !is_done[i] && !waits(level, i, is_done))
			return i;
	return -1;
}

static void fuse_level(struct level *level, group_list *ordered);

/* Of a loop of its own, are iterations independent? */
static bool is_parallel_loop(const struct level *level, int x)
{
	return !cluster_slides(level, x) && !cluster_carries(level, x, true) && !cluster_carries(level, x, false) &&
	       level->members->items[x]->stages.items[0]->dims.items[level->number].kind == DIM_RANGE;
}

/* Notes for all groups inside how much later than their dim says they run. */
static void share_shifts(const struct level *level, int x)
{
	for (int i = 0; i < level->members->n && cluster_slides(level, x); i++) {
		struct group *group = level->members->items[i];

		if (level->cluster[i] != x)
			continue;
		if (!group->shift)
			group->shift = arena_new_array(level->fusion->module->arena, int64_t, group->n_common);
		group->shift[level->number] = level->shift[i];
	}
}

static void place_cluster(struct level *level, int x, group_list *ordered)
{
	struct fusion *f = level->fusion;
	group_list inside = { 0 };
	edge_list edges;
	struct level below;
	int first = ordered->n;

	for (int i = 0; i < level->members->n; i++)
		if (level->cluster[i] == x)
			vec_push(f->module->arena, &inside, level->members->items[i]);
	if (inside.n == 1) {
		vec_push(f->module->arena, ordered, inside.items[0]);
	} else {
		share_direction(f->module, &inside, level->number);
		share_shifts(level, x);
		edges = edges_inside(f, level->edges, &inside, level->number);
		below = (struct level) { .fusion = f, .members = &inside, .edges = &edges,
					 .number = level->number + 1,
					 .is_parallel = level->is_parallel || is_parallel_loop(level, x) };
		fuse_level(&below, ordered);
		edges_free(&edges);
	}
	ordered->items[first]->n_fused = level->number;
}

static void fuse_level(struct level *level, group_list *ordered)
{
	struct fusion *f = level->fusion;
	struct arena *arena = f->module->arena;
	bool *is_done = arena_new_array(arena, bool, level->members->n);

	level->cluster = arena_new_array(arena, int, level->members->n);
	level->shift = arena_new_array(arena, int64_t, level->members->n);
	level->position = arena_new_array(arena, int, f->module->groups.n);
	for (int i = 0; i < f->module->groups.n; i++)
		level->position[i] = -1;
	for (int i = 0; i < level->members->n; i++) {
		level->cluster[i] = i;
		level->position[level->members->items[i]->number] = i;
	}
	for (int i = 0; i < f->asked.n; i++) {
		merge_asked(level, &f->asked.items[i], false);
		merge_asked(level, &f->asked.items[i], true);
	}
	merge_unasked(level);
	for (int x = next_cluster(level, is_done); x >= 0; x = next_cluster(level, is_done)) {
		is_done[x] = true;
		place_cluster(level, x, ordered);
	}
}

/* ---- regions ---- */

/* Only of loops that both share. */
static const char *shift_text(struct module *module, const struct group *group, const struct group *before)
{
	struct str text = str_new(module->arena);

	for (int i = 0; i < group->n_fused; i++) {
		long long later = (long long) (group_shift(group, i) - group_shift(before, i));

		if (later)
			str_add(&text, ", %lld iteration%s of '%s' %s", later < 0 ? -later : later,
				later == 1 || later == -1 ? "" : "s", group->stages.items[0]->dims.items[i].name,
				later < 0 ? "earlier" : "later");
	}
	return str_text(&text);
}

/* What is read of an index array between two loops is no loop. */
static int n_fused_loops(const struct group *group)
{
	int n = 0;

	for (int i = 0; i < group->n_fused; i++)
		n += group->stages.items[0]->dims.items[i].kind != DIM_BIND;
	return n;
}

static void decide(struct module *module, const group_list *ordered)
{
	for (int i = 1; i < ordered->n; i++) {
		const struct group *group = ordered->items[i], *before = ordered->items[i - 1];
		const int n = n_fused_loops(group);

		if (n)
			module_decide(module, DECISION_FUSE, group->name, group->span, "its outer %s of '%s'%s",
				      n == 1 ? "loop is that" : arena_printf(module->arena, "%d loops are those", n),
				      before->name, shift_text(module, group, before));
	}
}

static void unfuse(struct group *group)
{
	group->n_fused = 0;
	group->shift = NULL;
}

static bool fuse_region(struct fusion *f)
{
	edge_list edges = edges_of_region(f);
	struct level outermost = { .fusion = f, .members = &f->region->groups, .edges = &edges };
	group_list ordered = { 0 };

	fuse_level(&outermost, &ordered);
	edges_free(&edges);
	f->ran_out = pass_ran_out(f->module);
	if (f->ran_out || ordered.n != f->region->groups.n) {
		for (int i = 0; i < f->region->groups.n; i++)
			unfuse(f->region->groups.items[i]);
		return !f->failed;
	}
	for (int i = 0; i < ordered.n; i++)
		f->region->groups.items[i] = ordered.items[i];
	decide(f->module, &ordered);
	return !f->failed;
}

bool pass_fuse(struct module *module, const struct pass_options *options)
{
	const bool *is_of_start = module_set_at_start(module);
	bool ok = true, ran_out = false;

	for (int i = 0; i < module->groups.n; i++)
		unfuse(module->groups.items[i]);
	if (!fuse_read_items(module))
		return false;
	for (int i = 0; ok && i < REGION_N; i++) {
		struct fusion f = { .module = module, .region = &module->regions[i], .options = options,
				    .is_of_start = is_of_start };

		if (!f.region->groups.n || !f.region->strict)
			continue;
		fuse_ask(&f);
		ok = fuse_region(&f);
		ran_out |= f.ran_out;
	}
	if (ran_out)
		diag_warning(module->diags, DIAG_ISL_QUOTA, module->span,
			     "'%s' takes too many operations to fuse: groups of it keep loops of their own",
			     module->name);
	return ok;
}
