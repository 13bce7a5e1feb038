/* SPDX-License-Identifier: MIT
 *
 * The only caller of isl_ast_build: the schedule tree of a region to isl's AST, and questions to the AST.
 *
 * Bands of BIND and CHILDREN marks are generated in one piece ("atomic"): such a loop stands for one read, or one
 * visit of a list, which cannot be cut into ranges. Loops of vectors over several statements are cut where one of these
 * begins or ends ("separate"), so that no lane has to be masked out, and loops of a few iterations are written out
 * ("unroll"). Statements of one point stay together
 * ("group_coscheduled"): those of a group share its LOCAL arrays. Iterators get names that no parameter has.
 *
 * An index that is computed is checked where it is read, also where none is allowed. The loops that lead there are to
 * run whatever its range, which isl would otherwise see is empty: the tree is made anew over the domains of
 * stage_loops. */
#include <isl/id.h>
#include <isl/options.h>
#include <string.h>

#include "codegen/codegen_private.h"

/* ---- domains of loops ---- */

struct opening {
	struct module *module;
	isl_union_set *opened;
};

static isl_stat open_set(__isl_take isl_set *set, void *user)
{
	struct opening *opening = user;
	const struct stage *stage = stage_of_id(isl_set_get_tuple_id(set));

	if (stage_checks_index(stage) && isl_set_is_subset(stage->domain, set) == isl_bool_true) {
		isl_set_free(set);
		set = stage_loops(opening->module, stage);
	}
	opening->opened = isl_union_set_add_set(opening->opened, set);
	return isl_stat_ok;
}

static __isl_give isl_union_set *open_domain(struct module *module, __isl_take isl_union_set *domain)
{
	struct opening opening = { module, isl_union_set_empty(isl_union_set_get_space(domain)) };

	isl_union_set_foreach_set(domain, open_set, &opening);
	isl_union_set_free(domain);
	return opening.opened;
}

static __isl_give isl_schedule_node *copy_tree(struct module *module, __isl_take isl_schedule_node *from,
					       __isl_take isl_schedule_node *to);

static __isl_give isl_schedule_node *copy_children(struct module *module, __isl_keep isl_schedule_node *from,
						   __isl_take isl_schedule_node *to)
{
	int n = isl_schedule_node_n_children(from);
	isl_union_set_list *filters = isl_union_set_list_alloc(module->ctx, n);

	for (int i = 0; i < n; i++) {
		isl_schedule_node *child = isl_schedule_node_child(isl_schedule_node_copy(from), i);
		isl_union_set *filter = isl_schedule_node_filter_get_filter(child);

		filters = isl_union_set_list_add(filters, open_domain(module, filter));
		isl_schedule_node_free(child);
	}
	to = isl_schedule_node_get_type(from) == isl_schedule_node_set ? isl_schedule_node_insert_set(to, filters)
								       : isl_schedule_node_insert_sequence(to, filters);
	for (int i = 0; i < n; i++) {
		isl_schedule_node *below = isl_schedule_node_copy(from);

		below = isl_schedule_node_grandchild(below, i, 0);
		to = copy_tree(module, below, isl_schedule_node_grandchild(to, i, 0));
		to = isl_schedule_node_grandparent(to);
	}
	return to;
}

/* What `from` is, and all below it, is put where `to` is. */
static __isl_give isl_schedule_node *copy_tree(struct module *module, __isl_take isl_schedule_node *from,
					       __isl_take isl_schedule_node *to)
{
	enum isl_schedule_node_type type = isl_schedule_node_get_type(from);

	if (type == isl_schedule_node_sequence || type == isl_schedule_node_set)
		to = copy_children(module, from, to);
	if (type == isl_schedule_node_band)
		to = isl_schedule_node_insert_partial_schedule(to, isl_schedule_node_band_get_partial_schedule(from));
	if (type == isl_schedule_node_mark)
		to = isl_schedule_node_insert_mark(to, isl_schedule_node_mark_get_id(from));
	if (type != isl_schedule_node_band && type != isl_schedule_node_mark) {
		isl_schedule_node_free(from);
		return to;
	}
	to = copy_tree(module, isl_schedule_node_first_child(from), isl_schedule_node_first_child(to));
	return isl_schedule_node_parent(to);
}

static __isl_give isl_schedule *open_schedule(struct module *module, __isl_take isl_schedule *schedule)
{
	isl_schedule_node *from, *to;
	isl_schedule *opened;
	bool checks = false;

	for (int i = 0; i < module->stages.n; i++)
		checks = checks || stage_checks_index(module->stages.items[i]);
	if (!checks)
		return schedule;
	opened = isl_schedule_from_domain(open_domain(module, isl_schedule_get_domain(schedule)));
	from = isl_schedule_node_first_child(isl_schedule_get_root(schedule));
	to = isl_schedule_node_first_child(isl_schedule_get_root(opened));
	isl_schedule_free(schedule);
	isl_schedule_free(opened);
	to = copy_tree(module, from, to);
	opened = isl_schedule_node_get_schedule(to);
	isl_schedule_node_free(to);
	return opened;
}

/* ---- loops ---- */

/* Of the loop of the mark at `node`; of other marks, that of isl. */
static enum isl_ast_loop_type loop_type(__isl_keep isl_schedule_node *node, const struct mark *mark)
{
	const struct mark *how = mark_above(node);

	if (mark->kind == MARK_BIND || mark->kind == MARK_CHILDREN)
		return isl_ast_loop_atomic;
	if (mark->kind != MARK_LOOP || !how)
		return isl_ast_loop_default;
	return how->kind == MARK_VECTOR ? isl_ast_loop_separate
	     : how->kind == MARK_UNROLL ? isl_ast_loop_unroll : isl_ast_loop_default;
}

static __isl_give isl_schedule_node *set_loop_type(__isl_take isl_schedule_node *node, void *user)
{
	enum isl_ast_loop_type type = isl_ast_loop_default;
	isl_schedule_node *parent;
	const struct mark *mark;

	(void) user;
	if (isl_schedule_node_get_type(node) != isl_schedule_node_band)
		return node;
	parent = isl_schedule_node_parent(isl_schedule_node_copy(node));
	mark = mark_of_node(parent);
	if (mark)
		type = loop_type(parent, mark);
	isl_schedule_node_free(parent);
	return type == isl_ast_loop_default ? node : isl_schedule_node_band_member_set_ast_loop_type(node, 0, type);
}

/* What holds of the parameters when the region runs: in the body, lo <= it < hi too. */
static __isl_give isl_set *region_context(struct module *module, enum region_kind kind)
{
	const struct loop *loop = &module->loop;
	isl_set *context = isl_set_copy(module->context);
	struct expr *it;

	if (kind != REGION_BODY || !loop->var)
		return context;
	it = expr_param(module->arena, module, loop->param, loop->span);
	context = isl_set_intersect(context, isl_pw_aff_ge_set(expr_pw_aff(module, NULL, it),
							       expr_pw_aff(module, NULL, loop->lo)));
	return isl_set_intersect(context, isl_pw_aff_lt_set(expr_pw_aff(module, NULL, it),
							    expr_pw_aff(module, NULL, loop->hi)));
}

/* A letter, and underscores until no parameter begins like that. */
static const char *iterator_prefix(const struct module *module)
{
	struct str prefix = str_new(module->arena);
	bool is_taken = true;

	str_add(&prefix, "c");
	while (is_taken) {
		is_taken = false;
		for (int i = 0; i < module->params.n; i++)
			is_taken |= !strncmp(module->params.items[i].name, str_text(&prefix), prefix.length);
		if (is_taken)
			str_add(&prefix, "_");
	}
	return str_text(&prefix);
}

static isl_bool find_depth(__isl_keep isl_schedule_node *node, void *user)
{
	int *deepest = user;
	int depth = isl_schedule_node_get_schedule_depth(node);

	*deepest = depth + 1 > *deepest ? depth + 1 : *deepest;
	return isl_bool_true;
}

static __isl_give isl_id_list *iterators(const struct module *module, __isl_keep isl_schedule *schedule)
{
	const char *prefix = iterator_prefix(module);
	int depth = 0;
	isl_id_list *list;

	isl_schedule_foreach_schedule_node_top_down(schedule, find_depth, &depth);
	list = isl_id_list_alloc(module->ctx, depth);
	for (int i = 0; i < depth; i++) {
		const char *name = arena_printf(module->arena, "%s%d", prefix, i);

		list = isl_id_list_add(list, isl_id_alloc(module->ctx, name, NULL));
	}
	return list;
}

static __isl_give isl_ast_node *make_ast(struct module *module, enum region_kind kind)
{
	isl_schedule *schedule = isl_schedule_copy(module->regions[kind].schedule);
	isl_ast_build *build;
	isl_ast_node *ast;

	isl_options_set_ast_build_atomic_upper_bound(module->ctx, 1);
	isl_options_set_ast_build_detect_min_max(module->ctx, 1);
	isl_options_set_ast_build_group_coscheduled(module->ctx, 1);
	schedule = open_schedule(module, schedule);
	schedule = isl_schedule_map_schedule_node_bottom_up(schedule, set_loop_type, NULL);
	build = isl_ast_build_from_context(region_context(module, kind));
	build = isl_ast_build_set_iterators(build, iterators(module, schedule));
	ast = isl_ast_build_node_from_schedule(build, schedule);
	isl_ast_build_free(build);
	return ast;
}

__isl_give isl_ast_node *ast_of_region(struct module *module, enum region_kind kind)
{
	struct region *region = &module->regions[kind];

	if (region->schedule && !region->loops)
		region->loops = make_ast(module, kind);
	return isl_ast_node_copy(region->loops);
}

/* ---- questions to the AST ---- */

/* What stands directly below a node, in its order. */
__isl_give isl_ast_node_list *ast_children(__isl_keep isl_ast_node *node)
{
	isl_ast_node_list *children = isl_ast_node_list_alloc(isl_ast_node_get_ctx(node), 2);

	switch (isl_ast_node_get_type(node)) {
	case isl_ast_node_for:
		return isl_ast_node_list_add(children, isl_ast_node_for_get_body(node));
	case isl_ast_node_if:
		children = isl_ast_node_list_add(children, isl_ast_node_if_get_then_node(node));
		if (isl_ast_node_if_has_else_node(node) == isl_bool_true)
			children = isl_ast_node_list_add(children, isl_ast_node_if_get_else_node(node));
		return children;
	case isl_ast_node_block:
		return isl_ast_node_list_concat(children, isl_ast_node_block_get_children(node));
	case isl_ast_node_mark:
		return isl_ast_node_list_add(children, isl_ast_node_mark_get_node(node));
	case isl_ast_node_user: case isl_ast_node_error:
		break;
	}
	return children;
}

const struct mark *ast_mark(__isl_keep isl_ast_node *node)
{
	return isl_ast_node_get_type(node) == isl_ast_node_mark ? mark_of(isl_ast_node_mark_get_id(node)) : NULL;
}

const struct mark *ast_strip_mark(isl_ast_node **node)
{
	const struct mark *mark = ast_mark(*node);
	isl_ast_node *below = mark ? isl_ast_node_mark_get_node(*node) : NULL;

	if (mark) {
		isl_ast_node_free(*node);
		*node = below;
	}
	return mark;
}

int ast_n_args(__isl_keep isl_ast_expr *expr)
{
	return isl_ast_expr_op_get_n_arg(expr);
}

struct stage *ast_stage(__isl_keep isl_ast_expr *instance)
{
	isl_ast_expr *name = isl_ast_expr_op_get_arg(instance, 0);
	struct stage *stage = stage_of_id(isl_ast_expr_get_id(name));

	isl_ast_expr_free(name);
	return stage;
}

struct search {
	const struct stage *stage;
	bool any_of_group;
	isl_ast_expr *found;
};

static isl_bool search_instance(__isl_keep isl_ast_node *node, void *user)
{
	struct search *search = user;
	const struct stage *stage;
	isl_ast_expr *instance;

	if (search->found || isl_ast_node_get_type(node) != isl_ast_node_user)
		return search->found ? isl_bool_false : isl_bool_true;
	instance = isl_ast_node_user_get_expr(node);
	stage = ast_stage(instance);
	if (!search->stage || stage == search->stage ||
	    (search->any_of_group && stage->group == search->stage->group))
		search->found = instance;
	else
		isl_ast_expr_free(instance);
	return isl_bool_true;
}

__isl_give isl_ast_expr *ast_first_instance(__isl_keep isl_ast_node *node, const struct stage *stage,
					    bool any_of_group)
{
	struct search search = { .stage = stage, .any_of_group = false };

	isl_ast_node_foreach_descendant_top_down(node, search_instance, &search);
	if (!search.found && any_of_group) {
		search.any_of_group = true;
		isl_ast_node_foreach_descendant_top_down(node, search_instance, &search);
	}
	return search.found;
}

struct visiting {
	void (*visit)(struct stage *stage, void *user);
	void *user;
};

static isl_bool visit_instance(__isl_keep isl_ast_node *node, void *user)
{
	const struct visiting *visiting = user;
	isl_ast_expr *instance;

	if (isl_ast_node_get_type(node) != isl_ast_node_user)
		return isl_bool_true;
	instance = isl_ast_node_user_get_expr(node);
	visiting->visit(ast_stage(instance), visiting->user);
	isl_ast_expr_free(instance);
	return isl_bool_true;
}

void ast_each_stage(__isl_keep isl_ast_node *node, void (*visit)(struct stage *stage, void *user), void *user)
{
	struct visiting visiting = { visit, user };

	isl_ast_node_foreach_descendant_top_down(node, visit_instance, &visiting);
}

struct mark_search {
	mark_predicate is_such;
	const void *user;
	bool found;
};

static isl_bool search_mark(__isl_keep isl_ast_node *node, void *user)
{
	struct mark_search *search = user;
	const struct mark *mark = ast_mark(node);

	search->found = search->found || (mark && search->is_such(mark, search->user));
	return search->found ? isl_bool_false : isl_bool_true;
}

bool ast_has_such_mark(__isl_keep isl_ast_node *node, mark_predicate is_such, const void *user)
{
	struct mark_search search = { is_such, user, false };

	isl_ast_node_foreach_descendant_top_down(node, search_mark, &search);
	return search.found;
}

struct kind_of {
	enum mark_kind kind;
	const struct stage *stage;
};

static bool is_of_kind(const struct mark *mark, const void *user)
{
	const struct kind_of *wanted = user;

	return mark->kind == wanted->kind && (!wanted->stage || mark->stage == wanted->stage);
}

bool ast_has_mark(__isl_keep isl_ast_node *node, enum mark_kind kind, const struct stage *stage)
{
	return ast_has_such_mark(node, is_of_kind, &(struct kind_of) { kind, stage });
}
