/* SPDX-License-Identifier: MIT
 *
 * An instance that what stands around several of them is read by. Where a branch has one value of a dim only, isl
 * writes that value, and nothing around the branch may: of all instances below, the one is taken whose dims in front of
 * the mark's are written by the most iterators. */
#include "codegen/codegen_private.h"

#include <string.h>

struct search {
	const struct emit *e;
	const struct mark *mark;
	bool any_stage;
	isl_ast_expr *found;
	int n;                          /* iterators in `found` */
	bool is_unclear;                /* another one has as many, and other dims */
};

static bool is_iterator(const struct emit *e, const char *id)
{
	for (int i = 0; i < e->iterators.n; i++)
		if (!strcmp(e->iterators.items[i].id, id))
			return true;
	return false;
}

static int n_iterators_before(const struct search *search, __isl_keep isl_ast_expr *instance)
{
	int n = 0;

	for (int i = 1; i <= mark_dim_number(search->mark) && i < ast_n_args(instance); i++)
		n += ast_n_names(search->e, isl_ast_expr_op_get_arg(instance, i), is_iterator);
	return n;
}

static bool has_same_dims(const struct search *search, __isl_keep isl_ast_expr *a, __isl_keep isl_ast_expr *b)
{
	bool is_same = true;

	for (int i = 1; is_same && i <= mark_dim_number(search->mark) && i < ast_n_args(a) && i < ast_n_args(b); i++) {
		isl_ast_expr *x = isl_ast_expr_op_get_arg(a, i), *y = isl_ast_expr_op_get_arg(b, i);

		is_same = isl_ast_expr_is_equal(x, y) == isl_bool_true;
		isl_ast_expr_free(x);
		isl_ast_expr_free(y);
	}
	return is_same;
}

static void consider(struct search *search, __isl_keep isl_ast_expr *instance)
{
	int n = n_iterators_before(search, instance);

	if (search->found && n == search->n)
		search->is_unclear |= !has_same_dims(search, search->found, instance);
	if (search->found && n <= search->n)
		return;
	search->found = instance;
	search->n = n;
	search->is_unclear = false;
}

static isl_bool visit(__isl_keep isl_ast_node *node, void *user)
{
	struct search *search = user;
	const struct stage *stage;
	isl_ast_expr *instance;

	if (isl_ast_node_get_type(node) != isl_ast_node_user)
		return isl_bool_true;
	instance = ast_instance(node);
	stage = ast_stage(instance);
	if (instance_is_here(search->e, instance) &&
	    (search->any_stage ? stage->group == search->mark->stage->group : stage == search->mark->stage))
		consider(search, instance);
	return isl_bool_true;
}

static struct search search_below(const struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	bool is_common = mark_dim_number(mark) < mark->stage->group->n_common;
	struct search search = { e, mark, is_common, NULL, 0, false };

	isl_ast_node_foreach_descendant_top_down(node, visit, &search);
	return search;
}

struct point point_below(const struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	bool is_common = mark_dim_number(mark) < mark->stage->group->n_common;
	struct point point = { .instance = search_below(e, node, mark).found };

	/* Of a stage that shares the loop: it has the same dim there. */
	if ((is_common || mark->kind == MARK_CHILDREN) && !point.instance)
		point.instance = ast_instance_below(node, NULL, false);
	point.stage = point.instance ? ast_stage(point.instance) : NULL;
	return point;
}

bool point_is_unclear(const struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	return search_below(e, node, mark).is_unclear;
}
