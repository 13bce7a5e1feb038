/* SPDX-License-Identifier: MIT
 *
 * The invariant of schedule trees (ir/schedule.h) as checks on each node, and trees as text. A violation is an
 * error of the pass that made it. */
#include "ir/match/blas.h"
#include "ir/match/block.h"
#include "ir/schedule.h"

#include <isl/printer.h>
#include <stdlib.h>

struct tree_check {
	struct module *module;
	const char *problem;
};

static enum isl_schedule_node_type child_type(__isl_keep isl_schedule_node *node)
{
	isl_schedule_node *child = isl_schedule_node_first_child(isl_schedule_node_copy(node));
	enum isl_schedule_node_type type = isl_schedule_node_get_type(child);

	isl_schedule_node_free(child);
	return type;
}

static bool is_one_stage(__isl_keep isl_schedule_node *node, const struct stage *stage)
{
	isl_union_set *domain = isl_schedule_node_get_domain(node);
	bool is_one = isl_union_set_n_set(domain) == 1 && domain_has_stage(domain, stage);

	isl_union_set_free(domain);
	return is_one || isl_set_is_empty(stage->domain) == isl_bool_true;
}

static const char *band_problem(__isl_keep isl_schedule_node *node)
{
	if (isl_schedule_node_band_n_member(node) != 1)
		return "a band has more than one member";
	return mark_is_loop(mark_above(node)) ? NULL : "a band has no mark that names its loop";
}

static bool is_call(struct module *module, __isl_keep isl_schedule_node *node, const struct stage *stage)
{
	isl_schedule_node *below = isl_schedule_node_first_child(isl_schedule_node_copy(node));
	struct blas_nest nest;
	struct blas_call call;
	bool is = blas_nest_below(module, below, &nest) && nest.stage == stage && blas_match(module, &nest, &call) &&
		  blas_may_stand(node, &call);

	isl_schedule_node_free(below);
	return is;
}

static isl_bool find_common_dim(__isl_keep isl_schedule_node *node, void *user)
{
	const struct mark *mark = mark_of_node(node);
	bool *has_any = user;

	*has_any |= mark_is_loop(mark) && mark_dim_number(mark) < mark->stage->group->n_common;
	return isl_bool_true;
}

/* The factor is a value of one point of the group: loops over its common dims change it. */
static const char *skip_problem(__isl_keep isl_schedule_node *node, const struct mark *mark)
{
	bool has_common = false;
	struct zero_factor factor;

	isl_schedule_node_foreach_descendant_top_down(node, find_common_dim, &has_common);
	if (has_common || !stage_zero_factor(mark->stage, &factor))
		return "what is skipped need not be zero";
	return NULL;
}

static const char *loop_problem(struct module *module, __isl_keep isl_schedule_node *node, const struct mark *mark)
{
	if (child_type(node) != isl_schedule_node_band)
		return "the mark of a loop has no band below";
	for (int i = 0; mark->dim && mark->dim->kind != DIM_RANGE && i < module->stages.n; i++)
		if (!groups_bind_alike(mark->stage->group, module->stages.items[i]->group, mark->dim) &&
		    schedule_has_stage(node, module->stages.items[i]))
			return "a bound dim has several values at a time";
	return NULL;
}

/* Is an accumulator one of those of a loop over children, which stand directly above each other and are those of all
 * stages below? */
static bool shares_children(__isl_keep isl_schedule_node *node, const struct stage *stage)
{
	isl_union_set *others = isl_schedule_node_get_domain(node);
	isl_schedule_node *at = isl_schedule_node_copy(node);
	const struct mark *mark;
	bool shares;

	while ((mark = mark_above(at)) && mark->kind == MARK_ACCUMULATE)
		at = isl_schedule_node_parent(at);
	for (; (mark = mark_of_node(at)) && mark->kind == MARK_ACCUMULATE; at = isl_schedule_node_first_child(at))
		others = isl_union_set_subtract(others, isl_union_set_from_set(isl_set_copy(mark->stage->domain)));
	shares = mark && mark->kind == MARK_CHILDREN && isl_union_set_is_empty(others) == isl_bool_true;
	isl_schedule_node_free(at);
	isl_union_set_free(others);
	return shares && schedule_has_stage(node, stage);
}

static const char *mark_problem(struct module *module, __isl_keep isl_schedule_node *node)
{
	const struct mark *mark = mark_of_node(node), *below = mark_below(node);

	if (!mark)
		return "a mark is not one of ours";
	if (mark_is_loop(mark))
		return loop_problem(module, node, mark);
	if (mark->kind == MARK_PARALLEL || mark->kind == MARK_VECTOR)
		return below && (mark_is_loop(below) || below->kind == MARK_VECTOR || below->kind == MARK_BLOCK) ? NULL
			: "a mark that says how a loop runs does not stand above the loop";
	if (mark->kind == MARK_LANES)
		return mark_is_loop(below) ? NULL : "lanes have no loop to share";
	if (mark->kind == MARK_UNROLL)
		return mark_is_loop(below) ? NULL : "there is no loop to write out";
	if (mark->kind == MARK_GRID)
		return schedule_has_mark_above(node, MARK_GRID, NULL) ? "a kernel stands inside another" : NULL;
	if (mark->kind == MARK_BLOCK)
		return block_problem(module, node);
	if (mark->kind == MARK_TEAM)
		return mark_is_loop(below) && is_one_stage(node, mark->stage) &&
		       schedule_has_mark_below(node, MARK_PARALLEL, NULL) ? NULL : "a team has no loop to share";
	if (mark->kind == MARK_BLAS)
		return is_call(module, node, mark->stage) ? NULL : "a call of the BLAS stands above another nest";
	if (mark->kind == MARK_DYNAMIC)
		return below && below->kind == MARK_PARALLEL ? NULL : "there is no loop to share among threads";
	if (mark->kind == MARK_PARTS)
		return below && below->kind == MARK_PARALLEL && mark->parts > 1 ? NULL
			: "there is nothing to cut into parts";
	if (mark->kind == MARK_PRIVATE)
		return below && below->kind == MARK_PARALLEL ? NULL : "private copies have no threads";
	if (mark->kind == MARK_WARP_LOOP)
		return below && (mark_is_loop(below) || below->kind == MARK_ROW) ? NULL
			: "a warp-cooperative loop is missing below its mark";
	if (mark->kind == MARK_ROW)
		return mark_is_loop(below) ? NULL : "a row has no loop to stand above";
	if (mark->kind == MARK_SKIP || mark->kind == MARK_SKIP_ALWAYS)
		return is_one_stage(node, mark->stage) ? skip_problem(node, mark)
						       : "a skipped loop is of one statement";
	if (mark->kind == MARK_ACCUMULATE && shares_children(node, mark->stage))
		return NULL;
	if (mark->kind == MARK_ATOMIC || mark->kind == MARK_ACCUMULATE)
		return is_one_stage(node, mark->stage) ? NULL : "a mark of one stage stands above others";
	return NULL;
}

static isl_bool check_node(__isl_keep isl_schedule_node *node, void *user)
{
	struct tree_check *check = user;

	if (isl_schedule_node_get_type(node) == isl_schedule_node_band && !check->problem)
		check->problem = band_problem(node);
	if (isl_schedule_node_get_type(node) == isl_schedule_node_mark && !check->problem)
		check->problem = mark_problem(check->module, node);
	return check->problem ? isl_bool_false : isl_bool_true;
}

bool schedule_check(struct module *module, struct region *region, const char *pass)
{
	struct tree_check check = { module, NULL };

	if (region->schedule)
		isl_schedule_foreach_schedule_node_top_down(region->schedule, check_node, &check);
	if (check.problem)
		diag_error(module->diags, DIAG_INTERNAL, module->span, "after pass '%s': %s", pass, check.problem);
	return !check.problem;
}

const char *schedule_text(struct module *module, __isl_keep isl_schedule *schedule)
{
	isl_printer *printer = isl_printer_to_str(module->ctx);
	char *text;
	const char *copy;

	printer = isl_printer_set_yaml_style(printer, ISL_YAML_STYLE_BLOCK);
	printer = isl_printer_print_schedule(printer, schedule);
	text = isl_printer_get_str(printer);
	isl_printer_free(printer);
	copy = arena_string(module->arena, text ? text : "");
	free(text);
	return copy;
}
