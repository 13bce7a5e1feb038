/* SPDX-License-Identifier: MIT
 *
 * The nest of a call in a schedule tree: loops over ranges, each upwards, with what says how they run, down to one
 * stage or to a group whose stages are the start of a sum, the sum, and what takes it to its target. */
#include "ir/match/blas.h"
#include "ir/schedule.h"

struct descent {
	struct module *module;
	struct blas_nest *nest;
	bool is_atomic, is_accumulated, has_group;
};

static bool descend(struct descent *descent, __isl_take isl_schedule_node *at);

static const struct stage *stage_at(struct descent *descent, __isl_keep isl_schedule_node *node)
{
	isl_union_set *domain = isl_schedule_node_get_domain(node);
	const struct stage *found = NULL;

	for (int i = 0; i < descent->module->stages.n && isl_union_set_n_set(domain) == 1; i++)
		if (domain_has_stage(domain, descent->module->stages.items[i]))
			found = descent->module->stages.items[i];
	isl_union_set_free(domain);
	return found;
}

/* The stage of a child of a sequence, if it stands there alone. */
static const struct stage *single(struct descent *descent, __isl_keep isl_schedule_node *sequence, int child)
{
	isl_schedule_node *at = isl_schedule_node_child(isl_schedule_node_copy(sequence), child);
	const struct stage *stage = NULL;

	at = isl_schedule_node_first_child(at);
	if (isl_schedule_node_get_type(at) == isl_schedule_node_leaf)
		stage = stage_at(descent, at);
	isl_schedule_node_free(at);
	return stage;
}

static bool starts_at_zero(const struct stage *first, const struct array *sum)
{
	return first && first->write.array == sum && first->op == REDUCE_SET && !first->guard &&
	       first->value->kind == EXPR_FLOAT && first->value->real == 0;
}

static bool descend_sequence(struct descent *descent, __isl_take isl_schedule_node *at)
{
	bool is_sum = descent->has_group && !descent->nest->last && isl_schedule_node_n_children(at) == 3;
	const struct stage *first = is_sum ? single(descent, at, 0) : NULL;

	descent->nest->last = is_sum ? single(descent, at, 2) : NULL;
	is_sum = is_sum && first && descent->nest->last && descent->nest->last->group == first->group;
	if (!is_sum) {
		isl_schedule_node_free(at);
		return false;
	}
	return descend(descent, isl_schedule_node_grandchild(at, 1, 0)) &&
	       descent->nest->stage->group == first->group &&
	       descent->nest->stage->write.array->role == ROLE_LOCAL &&
	       starts_at_zero(first, descent->nest->stage->write.array);
}

static bool take_loop(struct descent *descent, const struct mark *mark)
{
	if (descent->nest->n_dims == 3 || mark->direction < 0)
		return false;
	descent->nest->dims[descent->nest->n_dims++] = (int) (mark->dim - mark->stage->dims.items);
	return true;
}

static bool take_mark(struct descent *descent, const struct mark *mark)
{
	descent->nest->is_shared |= mark->kind == MARK_PARALLEL || mark->kind == MARK_TEAM;
	descent->has_group |= mark->kind == MARK_GROUP;
	descent->is_accumulated |= mark->kind == MARK_ACCUMULATE;
	descent->is_atomic |= mark->kind == MARK_ATOMIC;
	if (mark->kind == MARK_LOOP)
		return take_loop(descent, mark);
	return mark->kind == MARK_PARALLEL || mark->kind == MARK_GROUP || mark->kind == MARK_ACCUMULATE ||
	       mark->kind == MARK_ATOMIC || mark->kind == MARK_VECTOR || mark->kind == MARK_TEAM ||
	       mark->kind == MARK_ROW;
}

static bool descend(struct descent *descent, __isl_take isl_schedule_node *at)
{
	const struct mark *mark;
	bool ok = true;

	while (ok) {
		enum isl_schedule_node_type type = isl_schedule_node_get_type(at);

		if (type == isl_schedule_node_sequence)
			return descend_sequence(descent, at);
		if (type == isl_schedule_node_leaf)
			break;
		mark = mark_of_node(at);
		ok = type == isl_schedule_node_band || (mark && take_mark(descent, mark));
		if (ok)
			at = isl_schedule_node_first_child(at);
	}
	descent->nest->stage = ok ? stage_at(descent, at) : NULL;
	isl_schedule_node_free(at);
	return ok && descent->nest->stage;
}

/* Dims of the loops are those of the stage: a loop that is shared with others may be named by another stage. */
static bool names_dims(const struct blas_nest *nest)
{
	bool ok = nest->n_dims > 0;

	for (int i = 0; i < nest->n_dims; i++) {
		ok = ok && nest->dims[i] < nest->stage->dims.n;
		for (int j = 0; j < i; j++)
			ok = ok && nest->dims[i] != nest->dims[j];
	}
	return ok;
}

/* Updates that are atomic end in an accumulator around the call, or there is none. */
static bool ends_in_accumulator(const struct descent *descent, __isl_keep isl_schedule_node *node)
{
	return !descent->is_accumulated && schedule_has_mark_above(node, MARK_ACCUMULATE, descent->nest->stage);
}

bool blas_nest_below(struct module *module, __isl_keep isl_schedule_node *node, struct blas_nest *nest)
{
	struct descent descent = { .module = module, .nest = nest };

	*nest = (struct blas_nest) { 0 };
	return descend(&descent, isl_schedule_node_copy(node)) && names_dims(nest) &&
	       (!descent.is_atomic || ends_in_accumulator(&descent, node));
}

bool blas_may_stand(__isl_keep isl_schedule_node *node, const struct blas_call *call)
{
	bool is_sum = call->kind == BLAS_DOT || call->kind == BLAS_ASUM;
	const struct mark *above = mark_above(node);

	if (above && above->kind == MARK_PRIVATE)
		return false;
	return !schedule_has_mark_above(node, MARK_TEAM, NULL) && !schedule_has_mark_above(node, MARK_ROW, NULL) &&
	       (is_sum || !schedule_has_mark_above(node, MARK_PRIVATE, NULL));
}

/* ---- a group, as it is written ---- */

static bool stages_of_group(const struct group *group, struct blas_nest *nest)
{
	const stage_list *stages = &group->stages;

	*nest = (struct blas_nest) { .stage = stages->items[stages->n == 3] };
	if (stages->n != 3)
		return stages->n == 1;
	nest->last = stages->items[2];
	return nest->stage->write.array->role == ROLE_LOCAL &&
	       starts_at_zero(stages->items[0], nest->stage->write.array);
}

bool blas_of_group(struct module *module, const struct group *group, struct blas_call *call)
{
	struct blas_nest nest;

	if (!group->stages.n || !stages_of_group(group, &nest))
		return false;
	for (nest.n_dims = 3; nest.n_dims > 0; nest.n_dims--) {
		int first = nest.stage->dims.n - nest.n_dims;

		for (int i = 0; i < nest.n_dims && first >= 0; i++)
			nest.dims[i] = first + i;
		if (first >= 0 && blas_match(module, &nest, call))
			return true;
	}
	return false;
}
