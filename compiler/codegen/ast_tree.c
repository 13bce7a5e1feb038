/* SPDX-License-Identifier: MIT
 *
 * The schedule trees that isl makes loops of: a tree for each nest of a region, over the sizes that play a part in it.
 *
 * isl's operations take time with the number of parameters and of constraints on them, at each loop. A size that no
 * domain of the nest and no assumption mentions has no other constraint than that it is not negative; without it, all
 * else is the same.
 *
 * An index that is computed is checked where it is read, also where none is allowed. The loops that lead there are to
 * run whatever its range, which isl would otherwise see is empty: the tree is made over the domains of stage_loops. */
#include "codegen/ast_tree.h"

#include <string.h>

/* ---- sizes that play a part ---- */

struct sizes {
	const struct module *module;
	bool *are_used;                 /* by number of param */
};

static void use_region(struct sizes *sizes, enum region_kind kind)
{
	for (int i = 0; i < sizes->module->assumptions.n; i++)
		sizes_of_expr(sizes->module->assumptions.items[i], sizes->are_used);
	if (kind == REGION_BODY)
		sizes_of_loop(sizes->module, sizes->are_used);
}

static isl_stat use_stage_of(__isl_take isl_set *set, void *user)
{
	const struct sizes *sizes = user;

	sizes_of_domain(stage_of_id(isl_set_get_tuple_id(set)), sizes->are_used);
	isl_set_free(set);
	return isl_stat_ok;
}

/* ---- what plays no part ---- */

struct run {
	unsigned first, n;
};

struct copying {
	struct module *module;
	unsigned n_params;
	VEC(struct run) idle;           /* of parameters, the last run first: dropping one moves none that is left */
	isl_union_set *sets;            /* that are copied */
	isl_union_pw_aff *order;
};

static bool is_idle(const struct sizes *sizes, __isl_keep isl_set *context, unsigned position)
{
	const char *name = isl_set_get_dim_name(context, isl_dim_param, position);

	for (int i = 0; i < sizes->module->params.n; i++)
		if (!strcmp(sizes->module->params.items[i].name, name))
			return !sizes->are_used[i];
	return false;
}

static void find_idle(struct copying *copying, const struct sizes *sizes, __isl_keep isl_set *context)
{
	unsigned n = 0;

	copying->n_params = (unsigned) isl_set_dim(context, isl_dim_param);
	for (unsigned i = copying->n_params; i-- > 0;) {
		n = is_idle(sizes, context, i) ? n + 1 : 0;
		if (n && (!i || !is_idle(sizes, context, i - 1)))
			vec_push(copying->module->arena, &copying->idle, ((struct run) { i, n }));
	}
}

static __isl_give isl_set *drop_idle(const struct copying *copying, __isl_take isl_set *set)
{
	bool fits = (unsigned) isl_set_dim(set, isl_dim_param) == copying->n_params;

	for (int i = 0; fits && i < copying->idle.n; i++)
		set = isl_set_project_out(set, isl_dim_param, copying->idle.items[i].first, copying->idle.items[i].n);
	return set;
}

/* ---- sets ---- */

static isl_stat copy_set(__isl_take isl_set *set, void *user)
{
	struct copying *copying = user;
	const struct stage *stage = stage_of_id(isl_set_get_tuple_id(set));

	if (stage_checks_index(stage) && isl_set_is_subset(stage->domain, set) == isl_bool_true) {
		isl_set_free(set);
		set = stage_loops(copying->module, stage);
	}
	copying->sets = isl_union_set_add_set(copying->sets, drop_idle(copying, set));
	return isl_stat_ok;
}

static __isl_give isl_union_set *copy_sets(struct copying *copying, __isl_take isl_union_set *sets)
{
	copying->sets = isl_union_set_empty_ctx(copying->module->ctx);
	isl_union_set_foreach_set(sets, copy_set, copying);
	isl_union_set_free(sets);
	return copying->sets;
}

/* ---- bands ---- */

static isl_stat copy_value(__isl_take isl_pw_aff *value, void *user)
{
	struct copying *copying = user;
	isl_union_pw_aff *order;
	bool fits = (unsigned) isl_pw_aff_dim(value, isl_dim_param) == copying->n_params;

	for (int i = 0; fits && i < copying->idle.n; i++)
		value = isl_pw_aff_drop_dims(value, isl_dim_param, copying->idle.items[i].first,
					     copying->idle.items[i].n);
	order = isl_union_pw_aff_from_pw_aff(value);
	copying->order = copying->order ? isl_union_pw_aff_union_add(copying->order, order) : order;
	return isl_stat_ok;
}

/* Bands have one member. */
static __isl_give isl_multi_union_pw_aff *copy_band(struct copying *copying, __isl_keep isl_schedule_node *band)
{
	isl_multi_union_pw_aff *all = isl_schedule_node_band_get_partial_schedule(band);
	isl_union_pw_aff *order = isl_multi_union_pw_aff_get_at(all, 0);

	if (!copying->idle.n) {
		isl_union_pw_aff_free(order);
		return all;
	}
	copying->order = NULL;
	isl_union_pw_aff_foreach_pw_aff(order, copy_value, copying);
	isl_union_pw_aff_free(order);
	isl_multi_union_pw_aff_free(all);
	return isl_multi_union_pw_aff_from_union_pw_aff(copying->order);
}

/* ---- nodes ---- */

static __isl_give isl_schedule_node *copy_tree(struct copying *copying, __isl_take isl_schedule_node *from,
					       __isl_take isl_schedule_node *to);

/* Children first..first+n-1. */
static __isl_give isl_schedule_node *copy_children(struct copying *copying, __isl_keep isl_schedule_node *from,
						   int first, int n, __isl_take isl_schedule_node *to)
{
	isl_union_set_list *filters = isl_union_set_list_alloc(copying->module->ctx, n);

	for (int i = 0; i < n; i++) {
		isl_schedule_node *child = isl_schedule_node_get_child(from, first + i);
		isl_union_set *filter = isl_schedule_node_filter_get_filter(child);

		filters = isl_union_set_list_add(filters, copy_sets(copying, filter));
		isl_schedule_node_free(child);
	}
	to = isl_schedule_node_get_type(from) == isl_schedule_node_set ? isl_schedule_node_insert_set(to, filters)
								       : isl_schedule_node_insert_sequence(to, filters);
	for (int i = 0; i < n; i++) {
		isl_schedule_node *below = isl_schedule_node_copy(from);

		below = isl_schedule_node_grandchild(below, first + i, 0);
		to = copy_tree(copying, below, isl_schedule_node_grandchild(to, i, 0));
		to = isl_schedule_node_grandparent(to);
	}
	return to;
}

/* What `from` is, and all below it, is put where `to` is. */
static __isl_give isl_schedule_node *copy_tree(struct copying *copying, __isl_take isl_schedule_node *from,
					       __isl_take isl_schedule_node *to)
{
	enum isl_schedule_node_type type = isl_schedule_node_get_type(from);

	if (type == isl_schedule_node_sequence || type == isl_schedule_node_set)
		to = copy_children(copying, from, 0, isl_schedule_node_n_children(from), to);
	if (type == isl_schedule_node_band)
		to = isl_schedule_node_insert_partial_schedule(to, copy_band(copying, from));
	if (type == isl_schedule_node_mark)
		to = isl_schedule_node_insert_mark(to, isl_schedule_node_mark_get_id(from));
	if (type != isl_schedule_node_band && type != isl_schedule_node_mark) {
		isl_schedule_node_free(from);
		return to;
	}
	to = copy_tree(copying, isl_schedule_node_first_child(from), isl_schedule_node_first_child(to));
	return isl_schedule_node_parent(to);
}

static struct nest_tree copy_nests(struct copying *copying, const struct nests *nests,
				   __isl_take isl_union_set *instances, __isl_keep isl_set *context)
{
	isl_schedule_node *to = isl_schedule_node_from_domain(copy_sets(copying, instances));
	isl_schedule_node *from = isl_schedule_node_copy(nests->from);
	struct nest_tree tree;

	to = isl_schedule_node_first_child(to);
	if (nests->n == 1)
		from = isl_schedule_node_grandchild(from, nests->first, 0);
	if (nests->n > 1) {
		to = copy_children(copying, from, nests->first, nests->n, to);
		isl_schedule_node_free(from);
	} else {
		to = copy_tree(copying, from, to);
	}
	tree.schedule = isl_schedule_node_get_schedule(to);
	tree.context = drop_idle(copying, isl_set_copy(context));
	isl_schedule_node_free(to);
	return tree;
}

static __isl_give isl_union_set *instances_of(const struct nests *nests)
{
	isl_union_set *domain = isl_schedule_node_get_domain(nests->from), *all;

	if (!nests->n)
		return domain;
	all = isl_union_set_empty(isl_union_set_get_space(domain));
	for (int i = nests->first; i < nests->first + nests->n; i++) {
		isl_schedule_node *child = isl_schedule_node_get_child(nests->from, i);

		all = isl_union_set_union(all, isl_schedule_node_filter_get_filter(child));
		isl_schedule_node_free(child);
	}
	return isl_union_set_intersect(all, domain);
}

struct nest_tree tree_of_nests(struct module *module, enum region_kind kind, __isl_keep isl_set *context,
			       const struct nests *nests)
{
	struct sizes sizes = { module, arena_new_array(module->arena, bool, module->params.n + 1) };
	struct copying copying = { .module = module };
	isl_union_set *instances = instances_of(nests);

	use_region(&sizes, kind);
	isl_union_set_foreach_set(instances, use_stage_of, &sizes);
	find_idle(&copying, &sizes, context);
	return copy_nests(&copying, nests, instances, context);
}
