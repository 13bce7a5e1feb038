/* SPDX-License-Identifier: MIT
 *
 * Which innermost loops run in vector registers: those that carry no strict dependence, whose updates are not
 * atomic (but for lanes of a device, which are threads), and whose reductions end in an accumulator of the loop, which
 * threads of a device do not share. A computed index that must be checked where it is used keeps its loop scalar. So
 * does a sum over a range of data that reads through an index array: such ranges are mostly short (a row of a sparse
 * matrix), and gathering a vector takes as long as reading its elements. An innermost loop, or one of updates, inside
 * of a shared one that each thread runs in order gets a remark, with a pair of iterations if it carries any.
 *
 * The C library's functions of vectors have other last bits than those of numbers, which take the iterations that fill
 * no vector. Where no result may depend on the number of threads, threads that share a loop of vectors take CHUNK
 * iterations at a time: then these are the same ones however many threads there are. */
#include "passes/pass_private.h"

enum {
	CHUNK = 64,             /* a multiple of the lanes of any vector */
	FEW = 8
};

static bool is_atomic(const struct tree_walk *walk, __isl_keep isl_schedule_node *node, const struct stage *stage)
{
	return !walk->options->is_device && schedule_has_mark_below(node, MARK_ATOMIC, stage) &&
	       !schedule_has_mark_above(node, MARK_ACCUMULATE, stage);
}

static bool is_shared(__isl_keep isl_schedule_node *node)
{
	const struct mark *mark = mark_above(node);

	return mark && mark->kind == MARK_PARALLEL;
}

/* The least and largest floats let NaN through. */
static bool is_float_extreme(const struct stage *stage)
{
	return (stage->op == REDUCE_MIN || stage->op == REDUCE_MAX) && type_is_float(stage->write.array->type);
}

/* An extreme of so few is unrolled by compilers, which then take the loop around it for their vectors: a pool. */
static bool is_unrolled(const struct tree_walk *walk, const struct mark *mark, const struct stage *stage)
{
	int64_t length;

	return !walk->options->is_device && is_float_extreme(stage) &&
	       dim_has_known_length(walk->module, mark->dim, &length) && length < FEW;
}

/* Threads of a processor add the lanes of their parts of the loop to one sum each (codegen/partitions.c). */
static bool update_allows(const struct tree_walk *walk, __isl_keep isl_schedule_node *node, const struct stage *stage)
{
	return schedule_has_mark_above(node, MARK_ACCUMULATE, stage) &&
	       !(walk->options->is_device && is_shared(node)) && !(walk->options->is_device && is_float_extreme(stage));
}

static bool carries_nothing(struct tree_walk *walk, __isl_keep isl_schedule_node *node, const struct mark *mark)
{
	isl_union_map *strict = tree_carried(node, walk->region->strict);
	isl_union_map *updates = tree_carried(node, walk->region->reduction);
	stage_list meeting = tree_meeting(walk->module, updates);
	bool nothing = isl_union_map_is_empty(strict) == isl_bool_true;

	for (int i = 0; i < meeting.n; i++)
		nothing = nothing && !is_unrolled(walk, mark, meeting.items[i]) &&
			  update_allows(walk, node, meeting.items[i]);
	isl_union_map_free(strict);
	isl_union_map_free(updates);
	return nothing;
}

static bool is_data(const struct stage *stage, const struct expr *bound)
{
	return bound->kind == EXPR_DIM && stage->dims.items[bound->index].kind == DIM_BIND;
}

/* A sum over a range of data with a subscript that is read from an index array at each point. */
static bool is_gathered_sum(const struct stage *stage, int loop)
{
	const struct dim *dim = &stage->dims.items[loop];
	bool is_gathered = false;

	if (stage->op == REDUCE_SET || !is_data(stage, dim->lo) || !is_data(stage, dim->hi))
		return false;
	for (int d = loop + 1; d < stage->dims.n; d++) {
		const struct dim *read = &stage->dims.items[d];

		is_gathered |= read->kind == DIM_BIND && access_uses_dim(&read->source, loop);
	}
	return is_gathered;
}

/* Does it call a function that also exists for vectors (runtime/pmgrt_math.h)? */
static bool calls_function(const struct expr *expr)
{
	bool calls = expr->kind == EXPR_OP &&
		     (expr->op == OP_EXP || expr->op == OP_LOG || expr->op == OP_SIN || expr->op == OP_COS ||
		      expr->op == OP_TANH || expr->op == OP_POW || expr->op == OP_EXPRELR);

	for (int i = 0; !calls && i < expr_n_args(expr); i++)
		calls = calls_function(expr->args[i]);
	return calls;
}

static bool is_taken_in_chunks(const struct tree_walk *walk, __isl_keep isl_schedule_node *node,
			       const stage_list *below)
{
	bool calls = false;

	if (!walk->options->deterministic || walk->options->is_device || !is_shared(node))
		return false;
	for (int i = 0; i < below->n && !calls; i++)
		calls = calls_function(below->items[i]->value) ||
			(below->items[i]->guard && calls_function(below->items[i]->guard));
	return calls;
}

static __isl_give isl_schedule_node *insert_vector(const struct tree_walk *walk, __isl_take isl_schedule_node *node,
						   const stage_list *below)
{
	struct mark *vector = mark_new(walk->module, MARK_VECTOR, "vector", (struct span) { 0 });

	if (is_taken_in_chunks(walk, node, below))
		vector->chunk = CHUNK;
	return isl_schedule_node_insert_mark(node, mark_id(walk->module, vector));
}

static __isl_give isl_schedule_node *visit(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					   const struct mark *mark, bool *descend)
{
	stage_list below = tree_stages(walk->module, node);
	bool allowed = mark->kind == MARK_LOOP && !mark->dim->is_short && walk->region->strict &&
		       !tree_has_loop_below(node);

	for (int i = 0; allowed && i < below.n; i++)
		allowed = !is_atomic(walk, node, below.items[i]) && !stage_checks_index(below.items[i]);
	if (!allowed || !carries_nothing(walk, node, mark))
		return node;
	*descend = false;
	if (is_gathered_sum(mark->stage, mark_dim_number(mark))) {
		module_decide(walk->module, DECISION_VECTOR_SCALAR, mark->stage->group->name, mark->dim->span,
			      "the range of '%s' is data, and what it sums is read through an index array",
			      mark->dim->name)->loop = mark->dim;
		return node;
	}
	module_decide(walk->module, DECISION_VECTOR, mark->stage->group->name, mark->dim->span,
		      "iterations of '%s' are independent", mark->dim->name)->loop = mark->dim;
	return insert_vector(walk, node, &below);
}

/* ---- remarks ---- */

/* By threads or lanes, at the loop of `mark` or between it and the statement. */
static bool is_shared_towards(__isl_keep isl_schedule_node *mark, const struct stage *stage)
{
	const struct mark *above = mark_above(mark);
	isl_schedule_node *at = isl_schedule_node_copy(mark);
	bool is = above && (above->kind == MARK_PARALLEL || above->kind == MARK_VECTOR);

	while (!is && (at = schedule_down_to(at, stage))) {
		const struct mark *here = mark_of_node(at);

		is = here && (here->kind == MARK_PARALLEL || here->kind == MARK_VECTOR || here->kind == MARK_BLOCK);
	}
	isl_schedule_node_free(at);
	return is;
}

static const char for_gathers[] = "its range is data, and what it sums is read through an index array";

static const char *why_serial(const struct tree_walk *walk, __isl_keep isl_schedule_node *node,
			      const struct mark *mark, const struct stage *stage)
{
	const char *may = schedule_has_mark_above(node, MARK_ACCUMULATE, stage) ? "" : "may ";

	if (mark->kind == MARK_CHILDREN)
		return serial_for_children;
	if (!*may && walk->options->is_device && is_float_extreme(stage))
		return "a minimum or maximum that lets NaN through is computed in order";
	if (!*may && !tree_has_loop_below(node) && is_gathered_sum(stage, mark_dim_number(mark)))
		return for_gathers;
	return arena_printf(walk->module->arena, "its iterations %supdate the same cell of '%s'", may,
			    stage->write.array->name);
}

/* Statements below that no lanes or threads share, of which the loop may carry an update, or is the innermost one. */
static stage_list find_serial(struct tree_walk *walk, __isl_keep isl_schedule_node *node, const struct mark *mark)
{
	stage_list below = tree_stages(walk->module, node), serial = { 0 };
	bool are_all = mark->kind == MARK_CHILDREN || !tree_has_loop_below(node);

	for (int i = 0; i < below.n; i++)
		if ((are_all || below.items[i]->op != REDUCE_SET) && !is_shared_towards(node, below.items[i]))
			vec_push(walk->module->arena, &serial, below.items[i]);
	return serial;
}

static const struct stage *find_common(const stage_list *a, const stage_list *b)
{
	for (int i = 0; i < a->n; i++)
		for (int k = 0; k < b->n; k++)
			if (a->items[i] == b->items[k])
				return a->items[i];
	return NULL;
}

/* Of an innermost loop that carries nothing. */
static const char *why_scalar(struct tree_walk *walk, __isl_keep isl_schedule_node *node, const struct mark *mark,
			      const stage_list *serial)
{
	if (mark->kind == MARK_CHILDREN)
		return serial_for_children;
	for (int i = 0; i < serial->n; i++) {
		if (is_atomic(walk, node, serial->items[i]))
			return "its updates are atomic";
		if (stage_checks_index(serial->items[i]))
			return "an index that it reads is checked where it is used";
	}
	return is_gathered_sum(mark->stage, mark_dim_number(mark)) ? for_gathers : "it has a few iterations only";
}

static void remark(struct tree_walk *walk, __isl_keep isl_schedule_node *node, const struct mark *mark,
		   const stage_list *serial, __isl_keep isl_union_map *pairs)
{
	stage_list meeting = tree_meeting(walk->module, pairs);
	const struct stage *stage = find_common(&meeting, serial);

	if (stage)
		loop_remark_serial(walk->module, mark, why_serial(walk, node, mark, stage),
				   dependence_sample(walk->module, isl_union_map_copy(pairs)));
	else if (!tree_has_loop_below(node))
		diag_remark(walk->module->diags, DIAG_LOOP_SERIAL, mark->dim->span,
			    "the loop over '%s' of '%s' stays scalar: %s", mark->dim->name, mark->stage->group->name,
			    why_scalar(walk, node, mark, serial));
}

/* Of loops over ranges that carry a strict dependence parallel.c tells. */
static __isl_give isl_schedule_node *visit_for_remarks(struct tree_walk *walk, __isl_take isl_schedule_node *node,
						       const struct mark *mark, bool *descend)
{
	isl_union_map *strict, *pairs;
	stage_list serial;

	(void) descend;
	if ((mark->kind != MARK_LOOP && mark->kind != MARK_CHILDREN) || !walk->region->strict ||
	    !schedule_has_mark_above(node, MARK_PARALLEL, NULL))
		return node;
	serial = find_serial(walk, node, mark);
	if (!serial.n)
		return node;
	strict = tree_carried(node, walk->region->strict);
	pairs = tree_carried(node, walk->region->reduction);
	if (mark->kind == MARK_CHILDREN)
		pairs = isl_union_map_union(pairs, isl_union_map_copy(strict));
	if (mark->kind == MARK_CHILDREN || isl_union_map_is_empty(strict) == isl_bool_true)
		remark(walk, node, mark, &serial, pairs);
	isl_union_map_free(strict);
	isl_union_map_free(pairs);
	return node;
}

bool pass_vector(struct module *module, const struct pass_options *options)
{
	struct tree_walk walk = { .module = module, .options = options, .visit = visit };
	struct tree_walk remarks = { .module = module, .options = options, .visit = visit_for_remarks };

	return !options->vector || (module_walk(&walk) && (!walk_remarks(&walk) || module_walk(&remarks)));
}
