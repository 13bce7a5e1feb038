/* SPDX-License-Identifier: MIT
 *
 * Statements at different distances from a bound dim. Where statements have other residues of one dim, isl makes one
 * loop with a step for them, and moves some by a distance:
 *
 *     for c in 0..n, 2:  S(c), T(c + 1)
 *
 * A loop over all values runs both. A bound dim has one value v, so that c is v for S and v - 1 for T: what is inside
 * is built once for each distance, with the statements that have it. */
#include <isl/id.h>
#include <isl/val.h>
#include <string.h>

#include "codegen/codegen_private.h"

/* factor*iterator + constant, and whatever else. */
struct linear {
	int64_t factor, constant;
	bool has_others;
};

static struct linear linear_of(__isl_take isl_ast_expr *expr, const char *iterator);

static struct linear linear_of_op(__isl_keep isl_ast_expr *expr, const char *iterator)
{
	const enum isl_ast_expr_op_type op = isl_ast_expr_op_get_type(expr);
	const int sign = op == isl_ast_expr_op_add ? 1 : -1;
	struct linear a = linear_of(isl_ast_expr_op_get_arg(expr, 0), iterator), b = a;

	if (op != isl_ast_expr_op_add && op != isl_ast_expr_op_sub && op != isl_ast_expr_op_minus)
		return (struct linear) { .has_others = true };
	if (op == isl_ast_expr_op_minus)
		a = (struct linear) { 0 };
	else
		b = linear_of(isl_ast_expr_op_get_arg(expr, 1), iterator);
	return (struct linear) { a.factor + sign*b.factor, a.constant + sign*b.constant, a.has_others || b.has_others };
}

static struct linear linear_of(__isl_take isl_ast_expr *expr, const char *iterator)
{
	struct linear linear = { .has_others = true };
	isl_id *id;
	isl_val *val;

	if (isl_ast_expr_get_type(expr) == isl_ast_expr_op) {
		linear = linear_of_op(expr, iterator);
	} else if (isl_ast_expr_get_type(expr) == isl_ast_expr_int) {
		val = isl_ast_expr_int_get_val(expr);
		linear = (struct linear) { .constant = isl_val_get_num_si(val) };
		isl_val_free(val);
	} else if (isl_ast_expr_get_type(expr) == isl_ast_expr_id) {
		id = isl_ast_expr_id_get_id(expr);
		if (!strcmp(isl_id_get_name(id), iterator))
			linear = (struct linear) { .factor = 1 };
		isl_id_free(id);
	}
	isl_ast_expr_free(expr);
	return linear;
}

/* That of the first dim that is the iterator, or minus it, and a number. */
static int64_t distance_of(__isl_keep isl_ast_expr *instance, const char *iterator)
{
	struct linear linear;

	for (int i = 1; i < ast_n_args(instance); i++) {
		linear = linear_of(isl_ast_expr_op_get_arg(instance, i), iterator);
		if (!linear.has_others && (linear.factor == 1 || linear.factor == -1))
			return linear.constant;
	}
	return 0;
}

bool instance_is_here(const struct emit *e, __isl_keep isl_ast_expr *instance)
{
	for (int i = 0; i < e->iterators.n; i++)
		if (e->iterators.items[i].is_distant &&
		    distance_of(instance, e->iterators.items[i].id) != e->iterators.items[i].distance)
			return false;
	return true;
}

struct visiting {
	const struct emit *e;
	const char *iterator;
	distance_list *distances;       /* NULL: is one of them here? */
	bool is_here;
};

static void note_distance(struct visiting *visiting, int64_t distance)
{
	for (int i = 0; i < visiting->distances->n; i++)
		if (visiting->distances->items[i] == distance)
			return;
	vec_push(visiting->e->arena, visiting->distances, distance);
}

static isl_bool visit(__isl_keep isl_ast_node *node, void *user)
{
	struct visiting *visiting = user;
	isl_ast_expr *instance;

	if (isl_ast_node_get_type(node) != isl_ast_node_user)
		return isl_bool_true;
	instance = ast_instance(node);
	if (visiting->distances)
		note_distance(visiting, distance_of(instance, visiting->iterator));
	else
		visiting->is_here = visiting->is_here || instance_is_here(visiting->e, instance);
	return isl_bool_true;
}

bool node_is_here(const struct emit *e, __isl_keep isl_ast_node *node)
{
	struct visiting visiting = { .e = e };
	bool is_any = false;

	for (int i = 0; i < e->iterators.n; i++)
		is_any = is_any || e->iterators.items[i].is_distant;
	if (is_any)
		isl_ast_node_foreach_descendant_top_down(node, visit, &visiting);
	return !is_any || visiting.is_here;
}

distance_list distances_below(const struct emit *e, __isl_keep isl_ast_node *node)
{
	isl_ast_expr *iterator = isl_ast_node_for_get_iterator(node);
	isl_id *id = isl_ast_expr_id_get_id(iterator);
	distance_list distances = { 0 };
	struct visiting visiting = { .e = e, .iterator = isl_id_get_name(id), .distances = &distances };

	isl_ast_node_foreach_descendant_top_down(node, visit, &visiting);
	isl_id_free(id);
	isl_ast_expr_free(iterator);
	return distances;
}
