/* SPDX-License-Identifier: MIT
 *
 * Loops in another order than their ranges are written in. reduce total[l, p] += … for k, l, p updates all cells for
 * each k: threads that share k meet in each cell. With l outside each cell belongs to one thread, and k, l, p, l, k, p
 * and l, p, k become one program. Terms of a cell that keep the order of the loops left inside are added as before.
 *
 * An order is told by its outermost and its innermost loop, and costs what a step of the innermost one does
 * (ir/match/steps.c), and what it takes to keep threads apart that share the outermost one: nothing if it tells the
 * cells, a TEAM if another loop does, of which every thread runs the outer one, and else an ATOMIC update for each
 * point. Loops between them are ordered by what their steps cost, long steps outside. The order of the text is kept
 * unless another one costs less.
 *
 * Points of a sparse accumulation, which find their cells in arrays that are fixed, stay outside or come there, where
 * they can be sorted (restructure.c).
 *
 * This is done where a point depends on no other one of its statement, and where no item speaks of loops. A device has
 * a thread for each point in any case. */
#include <limits.h>

#include "passes/pass_private.h"

enum { MOST_LOOPS = 8, TEAM = 1, ATOMIC = 40, FEW = 16 };

struct nest {
	struct module *module;
	struct group *group;
	int loops[MOST_LOOPS], n_all;   /* dims that are ranges, as in the text; the last are of few terms */
	int n;                          /* of the others */
	int steps[MOST_LOOPS];          /* what a step of each costs */
	bool tells[MOST_LOOPS];         /* do its values tell the cells? */
	bool is_sum;                    /* some cells are updated */
	int points;                     /* the loop over points that can be sorted; -1: none */
};

/* ---- which nests ---- */

static bool is_asked_for(const struct module *module, const struct array *array)
{
	for (int i = 0; i < module->overrides.n; i++) {
		const struct override *item = &module->overrides.items[i];

		if ((item->verb == VERB_TILE || item->verb == VERB_FUSE || item->verb == VERB_PARTITION) &&
		    override_names(item, array))
			return true;
	}
	return false;
}

static bool reads_what_group_writes(struct stage *stage)
{
	const stage_list *stages = &stage->group->stages;
	bool reads = false;

	for (int i = 0; i < stages->n; i++)
		reads = reads || stage_reads_array(stage, stages->items[i]->write.array);
	return reads;
}

static bool is_free(const struct module *module, struct stage *stage)
{
	const struct array *array = stage->write.array;

	return stage->dims.n == stage->group->n_common && array->role != ROLE_LOCAL && !stage->is_commit &&
	       !stage->is_next && !stage_is_checked(stage) && !is_asked_for(module, array) &&
	       !reads_what_group_writes(stage);
}

static bool find_loops(struct nest *nest)
{
	const struct stage *stage = nest->group->stages.items[0];

	for (int d = 0; d < stage->dims.n; d++) {
		const enum dim_kind kind = stage->dims.items[d].kind;

		if (kind == DIM_CHILDREN || (kind == DIM_RANGE && nest->n_all == MOST_LOOPS))
			return false;
		if (kind == DIM_RANGE)
			nest->loops[nest->n_all++] = d;
	}
	nest->n = nest->n_all;
	return nest->n > 1;
}

static bool nest_open(struct nest *nest)
{
	const struct group *group = nest->group;
	bool is = !group->is_recurrence && !group->is_apart && group->stages.n > 0;

	for (int i = 0; i < group->stages.n && is; i++)
		is = is_free(nest->module, group->stages.items[i]);
	return is && find_loops(nest);
}

/* ---- what orders cost ---- */

static bool tells_cell(const struct stage *stage, int dim)
{
	const struct access *write = &stage->write;
	bool tells = false;

	for (int i = 0; i < access_n_subs(write); i++) {
		int64_t offset;
		int of;

		tells = tells || (expr_is_shifted_dim(write->subs[i], &of, &offset) && of == dim);
	}
	return tells;
}

struct cost {
	const struct stage *stage;
	int dim, next, all;             /* next: what a step to the next place costs */
	bool reads;
};

static void add_step(struct access *access, void *user)
{
	struct cost *cost = user;
	const int step = access_step(cost->stage, access, cost->dim);

	cost->all += step == 1 ? cost->next : step;
	cost->reads = true;
}

/* What is stored elsewhere is read first. A sum that stays where it is is in a register. */
static int step_of_write(const struct cost *cost)
{
	const int step = access_step(cost->stage, &cost->stage->write, cost->dim);

	return step == 0 ? 0 : (step == 1 ? cost->next : step + 1) +
	       (cost->stage->op != REDUCE_SET ? STEP_ACCUMULATOR : 0);
}

static int64_t length_of(const struct nest *nest, int dim)
{
	int64_t length;

	return dim_has_known_length(nest->module, &nest->group->stages.items[0]->dims.items[dim], &length) ? length
												       : INT64_MAX;
}

static int steps_along(const struct nest *nest, int dim)
{
	const stage_list *stages = &nest->group->stages;
	const int next = length_of(nest, dim) < STEP_SHORT ? STEP_SCALAR : 1;
	int all = 0;

	for (int i = 0; i < stages->n; i++) {
		struct cost cost = { stages->items[i], dim, next, 0, false };

		stage_reads(stages->items[i], add_step, &cost);
		if (cost.reads || stages->n == 1)
			all += cost.all + step_of_write(&cost);
	}
	return all;
}

static void measure_loops(struct nest *nest)
{
	const stage_list *stages = &nest->group->stages;

	for (int i = 0; i < stages->n; i++)
		nest->is_sum = nest->is_sum || stages->items[i]->op != REDUCE_SET;
	for (int l = 0; l < nest->n_all; l++) {
		nest->steps[l] = steps_along(nest, nest->loops[l]);
		nest->tells[l] = true;
		for (int i = 0; i < stages->n; i++)
			nest->tells[l] = nest->tells[l] && tells_cell(stages->items[i], nest->loops[l]);
	}
}

/* ---- few terms ---- */

static bool has_side_by_side(const struct nest *nest, int loop)
{
	const stage_list *stages = &nest->group->stages;
	bool has = nest->tells[loop] && length_of(nest, nest->loops[loop]) >= STEP_SHORT;

	for (int i = 0; i < stages->n && has; i++)
		has = stages->items[i]->op != REDUCE_SET && stages->items[i]->dims.n == nest->n_all &&
		      stage_is_side_by_side(stages->items[i], nest->loops[loop]);
	return has;
}

/* The loops that are written out inside of one along which terms stand side by side (unroll.c). */
static bool find_short(const struct nest *nest, bool *are_short)
{
	int64_t n_terms = 1;
	bool has = false;

	for (int l = 0; l < nest->n_all; l++) {
		int64_t length = 1;

		has = has || has_side_by_side(nest, l);
		are_short[l] = !nest->tells[l] &&
			     dim_has_short_range(&nest->group->stages.items[0]->dims.items[nest->loops[l]], &length);
		n_terms = are_short[l] && n_terms <= MOST_TERMS ? n_terms*length : n_terms;
	}
	return has && n_terms > 1 && n_terms <= MOST_TERMS;
}

/* Puts them last; false: they are there. */
static bool move_short(struct nest *nest)
{
	const struct nest old = *nest;
	bool are_short[MOST_LOOPS], is_moved = false;
	int n = 0;

	if (!find_short(nest, are_short))
		return false;
	for (int is_short_turn = 0; is_short_turn < 2; is_short_turn++) {
		for (int l = 0; l < old.n_all; l++) {
			if (are_short[l] != (is_short_turn == 1))
				continue;
			is_moved = is_moved || n != l;
			nest->loops[n] = old.loops[l];
			nest->steps[n] = old.steps[l];
			nest->tells[n++] = old.tells[l];
		}
		nest->n = is_short_turn ? nest->n : n;
	}
	return is_moved;
}

/* Is the value of the dim read at the points of this loop from an index array that is fixed? */
static bool is_mode(const struct dim *dim, int points)
{
	const struct array *array = dim->source.array;

	return dim->kind == DIM_BIND && array->role == ROLE_IN && array->is_fixed && array->rank == 1 &&
	       (array->facts & FACT_INDEX) && dim->source.subs[0]->kind == EXPR_DIM &&
	       dim->source.subs[0]->index == points;
}

static int find_points(const struct nest *nest)
{
	const struct stage *stage = nest->group->stages.items[0];

	if (nest->group->stages.n != 1 || !nest->is_sum || stage->guard)
		return -1;
	for (int l = 0; l < nest->n; l++)
		for (int d = 0; d < stage->dims.n; d++)
			if (is_mode(&stage->dims.items[d], nest->loops[l]) && access_uses_dim(&stage->write, d))
				return l;
	return -1;
}

/* A team is of one statement, which all of its points run. */
static bool may_be_team(const struct nest *nest, int without)
{
	const struct stage *stage = nest->group->stages.items[0];
	bool may = false;

	for (int l = 0; l < nest->n; l++)
		may = may || (l != without && nest->tells[l] && dim_is_fixed(&stage->dims.items[nest->loops[l]]));
	return may && nest->group->stages.n == 1 && !stage->guard;
}

static int cost_of(const struct nest *nest, int outer, int inner)
{
	const int apart = !nest->is_sum || nest->tells[outer] ? 0 : may_be_team(nest, outer) ? TEAM : ATOMIC;

	return nest->steps[inner] + apart;
}

/* ---- orders ---- */

/* Of the loops: `outer`, those between by what their steps cost, `inner`, those of few terms. */
static void order_loops(const struct nest *nest, int outer, int inner, int *order)
{
	int n = 0;

	for (int l = nest->n; l < nest->n_all; l++)
		order[l] = l;
	order[n++] = outer;
	for (int l = 0; l < nest->n; l++) {
		int at = n;

		if (l == outer || l == inner)
			continue;
		for (; at > 1 && nest->steps[order[at - 1]] < nest->steps[l]; at--)
			order[at] = order[at - 1];
		order[at] = l;
		n++;
	}
	if (inner != outer)
		order[n] = inner;
}

static bool has_all(const struct stage *stage, int dim, const bool *is_there)
{
	bool has = true;

	for (int d = 0; d < stage->dims.n; d++)
		has = has && (is_there[d] || !dim_uses_dim(&stage->dims.items[dim], d));
	return has;
}

/* Values of index arrays that are known by now. */
static int take_values(const struct stage *stage, int *order, int n, bool *is_there)
{
	for (int d = 0; d < stage->dims.n; d++)
		if (!is_there[d] && stage->dims.items[d].kind == DIM_BIND && has_all(stage, d, is_there)) {
			is_there[d] = true;
			order[n++] = d;
		}
	return n;
}

/* All dims of the stage, loops in this order. False: a range needs one that is inside of it. */
static bool order_dims(struct nest *nest, const int *loops, int *order)
{
	const struct stage *stage = nest->group->stages.items[0];
	bool *is_there = arena_new_array(nest->module->arena, bool, stage->dims.n);
	int n = take_values(stage, order, 0, is_there);

	for (int l = 0; l < nest->n_all; l++) {
		const int dim = nest->loops[loops[l]];

		if (!has_all(stage, dim, is_there))
			return false;
		is_there[dim] = true;
		order[n++] = dim;
		n = take_values(stage, order, n, is_there);
	}
	return n == stage->dims.n;
}

/* Threads that share a loop of few iterations in the place of a longer one would have less to do. */
static bool is_too_short(const struct nest *nest, int outer)
{
	const int64_t length = length_of(nest, nest->loops[outer]);

	return length < FEW && length < length_of(nest, nest->loops[0]);
}

static bool may_be_outer(const struct nest *nest, int outer)
{
	return nest->points >= 0 ? outer == nest->points : !is_too_short(nest, outer);
}

struct best {
	int cost, outer, inner;
};

static struct best find_best(struct nest *nest, int *order)
{
	const int last = nest->n - 1;
	struct best best = { may_be_outer(nest, 0) ? cost_of(nest, 0, last) : INT_MAX, 0, last };

	for (int outer = 0; outer < nest->n; outer++)
		for (int inner = 0; inner < nest->n; inner++) {
			int loops[MOST_LOOPS];

			if (outer == inner || !may_be_outer(nest, outer) || cost_of(nest, outer, inner) >= best.cost)
				continue;
			order_loops(nest, outer, inner, loops);
			if (order_dims(nest, loops, order))
				best = (struct best) { cost_of(nest, outer, inner), outer, inner };
		}
	return best;
}

static const char *names_of(const struct nest *nest, const int *loops)
{
	struct str text = str_new(nest->module->arena);

	for (int l = 0; l < nest->n_all; l++)
		str_add(&text, "%s%s", l ? ", " : "",
			nest->group->stages.items[0]->dims.items[nest->loops[loops[l]]].name);
	return str_text(&text);
}

static const char *names_as_written(const struct nest *nest)
{
	const struct stage *stage = nest->group->stages.items[0];
	struct str text = str_new(nest->module->arena);

	for (int d = 0, n = 0; d < stage->dims.n; d++)
		if (stage->dims.items[d].kind == DIM_RANGE)
			str_add(&text, "%s%s", n++ ? ", " : "", stage->dims.items[d].name);
	return str_text(&text);
}

static void decide(struct nest *nest, const struct best *best, const int *loops, bool is_moved)
{
	const int last = nest->n - 1;
	const char *why = nest->points >= 0 && best->outer == nest->points ? "points that can be sorted are outside"
			: nest->steps[best->inner] < nest->steps[last] ? "neighbouring values stand next to each other"
			: nest->is_sum && !nest->tells[0] && nest->tells[best->outer]
			? "no cell is updated by two iterations of the outermost one"
			: is_moved ? "those of few terms are inside"
			: "the longest steps through memory are outside";

	module_decide_that(nest->module, DECISION_INTERCHANGE, nest->group->name,
		      names_of(nest, loops), names_as_written(nest), nest->group->span,
		      "loops in this order: %s", why);
}

/* Is the innermost loop but one, of which rows are made, one of shorter steps than in the text? */
static bool is_changed(const struct nest *nest, const int *loops)
{
	const int last = nest->n - 1;

	return loops[0] != 0 || loops[last] != last ||
	       (nest->n > 2 && nest->steps[loops[last - 1]] < nest->steps[last - 1]);
}

static bool interchange(struct nest *nest, const struct pass_options *options)
{
	const stage_list *stages = &nest->group->stages;
	const int n = stages->items[0]->dims.n;
	int *order = arena_new_array(nest->module->arena, int, n);
	int loops[MOST_LOOPS];
	struct best best;
	bool is_moved;

	measure_loops(nest);
	is_moved = move_short(nest);
	nest->points = options->restructure ? find_points(nest) : -1;
	best = find_best(nest, order);
	order_loops(nest, best.outer, best.inner, loops);
	if ((!is_moved && !is_changed(nest, loops)) || !order_dims(nest, loops, order))
		return false;
	decide(nest, &best, loops, is_moved);
	for (int i = 0; i < stages->n; i++)
		stage_take_dims(nest->module->arena, stages->items[i], order, n);
	return true;
}

bool pass_interchange(struct module *module, const struct pass_options *options)
{
	bool is_any = false;

	for (int i = 0; i < module->groups.n && !options->is_device && options->schedule != ORDER_TEXTUAL; i++) {
		struct nest nest = { .module = module, .group = module->groups.items[i] };

		if (nest_open(&nest) && interchange(&nest, options))
			is_any = true;
	}
	if (!is_any)
		return true;
	module_analyse(module);
	return module_order_recurrences(module);
}
