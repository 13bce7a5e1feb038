/* SPDX-License-Identifier: MIT
 *
 * The only caller of isl_ast_build: the schedule tree of a region to isl's AST, and questions to the AST.
 *
 * Bands of BIND and CHILDREN marks are generated in one piece ("atomic"): such a loop stands for one read, or one
 * visit of a list, which cannot be cut into ranges. So are those of LANES marks: each lane has one iteration. Loops
 * of vectors over several statements are cut where one of these begins or ends ("separate"), so that no lane has to be
 * masked out, and loops of a few iterations are written out ("unroll"). Statements of one point stay together
 * ("group_coscheduled"): those of a group share its LOCAL arrays. Iterators get names that no parameter has.
 */
#include <isl/id.h>
#include <isl/options.h>
#include <string.h>

#include "codegen/ast_tree.h"
#include "codegen/codegen_private.h"

/* ---- loops ---- */

/* Of the loop of the mark at `node`; of other marks, that of isl. */
static enum isl_ast_loop_type loop_type(__isl_keep isl_schedule_node *node, const struct mark *mark)
{
	const struct mark *how = mark_above(node);

	if (mark->kind == MARK_BIND || mark->kind == MARK_CHILDREN)
		return isl_ast_loop_atomic;
	if (mark->kind != MARK_LOOP || !how)
		return isl_ast_loop_default;
	if (how->kind == MARK_LANES)
		return isl_ast_loop_atomic;
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

/* ---- nests ---- */

/* The nests of a region become loops one by one, which takes isl time with their number, not with its square. But
 * neighbours below conditions of parameters come into one, or one of them into the `else` of the other: these are made
 * together, and all that follow, which mostly have such, too. */
struct planting {
	struct module *module;
	enum region_kind kind;
	isl_set *context;
	isl_id_list *iterators;
	isl_schedule_node *sequence;
	VEC(struct nests) nests;
	isl_ast_node **loops;           /* of nests, by number */
	int next;                       /* isl comes to the leaves of a sequence in its order */
};

static isl_stat find_first(__isl_take isl_set *set, void *user)
{
	struct span *first = user;
	const struct span span = stage_of_id(isl_set_get_tuple_id(set))->span;

	if (!first->end || span.start < first->start)
		*first = span;
	isl_set_free(set);
	return isl_stat_ok;
}

/* The first statement of what becomes loops, for a message if isl gives up on it. */
static struct span first_statement(__isl_keep isl_schedule *schedule)
{
	isl_union_set *domain = isl_schedule_get_domain(schedule);
	struct span first = { 0 };

	isl_union_set_foreach_set(domain, find_first, &first);
	isl_union_set_free(domain);
	return first;
}

static __isl_give isl_ast_node *make_nests(const struct planting *planting, const struct nests *nests)
{
	struct nest_tree tree = tree_of_nests(planting->module, planting->kind, planting->context, nests);
	isl_schedule *schedule = isl_schedule_map_schedule_node_bottom_up(tree.schedule, set_loop_type, NULL);
	isl_ast_build *build = isl_ast_build_from_context(tree.context);
	const struct span statement = first_statement(schedule);
	isl_ast_node *ast;

	isl_ctx_reset_operations(planting->module->ctx);
	build = isl_ast_build_set_iterators(build, isl_id_list_copy(planting->iterators));
	ast = isl_ast_build_node_from_schedule(build, schedule);
	isl_ast_build_free(build);
	module_note_quota(planting->module, statement);
	return ast;
}

static bool has_condition_of_params(const struct expr *condition)
{
	bool has = condition && expr_last_dim(condition) < 0;

	for (int i = 0; condition && !has && condition->kind == EXPR_OP && i < expr_n_args(condition); i++)
		has = !op_is_comparison(condition->op) && has_condition_of_params(condition->args[i]);
	return has;
}

static isl_stat find_condition(__isl_take isl_set *set, void *user)
{
	bool *has = user;

	*has = *has || has_condition_of_params(stage_of_id(isl_set_get_tuple_id(set))->guard);
	isl_set_free(set);
	return isl_stat_ok;
}

/* Does a nest stand below a condition of the program? */
static bool is_conditional(__isl_keep isl_schedule_node *sequence, int number)
{
	isl_schedule_node *child = isl_schedule_node_get_child(sequence, number);
	isl_union_set *filter = isl_schedule_node_filter_get_filter(child);
	bool is = false;

	isl_union_set_foreach_set(filter, find_condition, &is);
	isl_union_set_free(filter);
	isl_schedule_node_free(child);
	return is;
}

static void split_sequence(struct planting *planting)
{
	int n = isl_schedule_node_n_children(planting->sequence);
	bool is_behind = false;

	for (int i = 0; i < n; i++) {
		bool is = is_conditional(planting->sequence, i);

		if (is && is_behind)
			planting->nests.items[planting->nests.n - 1].n++;
		else
			vec_push(planting->module->arena, &planting->nests,
				 ((struct nests) { planting->sequence, i, 1 }));
		is_behind = is;
	}
}

/* Is the first, or the last, of the loops below a condition? */
static bool ends_with_condition(__isl_keep isl_ast_node *loops, bool first)
{
	while (isl_ast_node_get_type(loops) == isl_ast_node_block)
		loops = ast_child(loops, first ? 0 : ast_n_children(loops) - 1);
	return isl_ast_node_get_type(loops) == isl_ast_node_if;
}

static __isl_give isl_ast_node *plant_nests(__isl_take isl_ast_build *build, void *user)
{
	struct planting *planting = user;

	isl_ast_build_free(build);
	return isl_ast_node_copy(planting->loops[planting->next++]);
}

/* A sequence of as many points: isl puts the nests that stand for them in a block. */
static __isl_give isl_schedule *points_in_order(isl_ctx *ctx, int n)
{
	isl_union_set_list *filters = isl_union_set_list_alloc(ctx, n);
	isl_union_set *all = isl_union_set_empty_ctx(ctx);
	isl_schedule_node *node;
	isl_schedule *schedule;

	for (int i = 0; i < n; i++) {
		isl_space *space = isl_space_add_unnamed_tuple_ui(isl_space_params_alloc(ctx, 0), 1);
		isl_set *point = isl_set_fix_si(isl_set_universe(space), isl_dim_set, 0, i);

		filters = isl_union_set_list_add(filters, isl_union_set_from_set(isl_set_copy(point)));
		all = isl_union_set_union(all, isl_union_set_from_set(point));
	}
	node = isl_schedule_node_first_child(isl_schedule_node_from_domain(all));
	node = isl_schedule_node_insert_sequence(node, filters);
	schedule = isl_schedule_node_get_schedule(node);
	isl_schedule_node_free(node);
	return schedule;
}

static __isl_give isl_ast_node *plant_all(struct planting *planting)
{
	isl_ctx *ctx = planting->module->ctx;
	isl_ast_build *build = isl_ast_build_set_create_leaf(isl_ast_build_alloc(ctx), plant_nests, planting);
	isl_ast_node *ast = isl_ast_build_node_from_schedule(build, points_in_order(ctx, planting->nests.n));

	isl_ast_build_free(build);
	return ast;
}

/* Makes the nests before `number` and all that follow it together. */
static void make_rest(struct planting *planting, int number)
{
	struct nests *rest = &planting->nests.items[number - 1];

	isl_ast_node_free(planting->loops[number]);
	isl_ast_node_free(planting->loops[number - 1]);
	for (int i = number; i < planting->nests.n; i++)
		rest->n += planting->nests.items[i].n;
	planting->loops[number - 1] = make_nests(planting, rest);
	planting->nests.n = number;
}

/* False: isl failed. */
static bool make_each(struct planting *planting)
{
	bool ok = true;

	planting->loops = arena_new_array(planting->module->arena, isl_ast_node *, planting->nests.n);
	for (int i = 0; ok && i < planting->nests.n; i++) {
		planting->loops[i] = make_nests(planting, &planting->nests.items[i]);
		ok = planting->loops[i];
		if (ok && i && ends_with_condition(planting->loops[i - 1], false) &&
		    ends_with_condition(planting->loops[i], true))
			make_rest(planting, i);
	}
	return ok;
}

static __isl_give isl_ast_node *make_sequence(struct planting *planting)
{
	isl_ast_node *ast = NULL;

	split_sequence(planting);
	if (make_each(planting))
		ast = planting->nests.n == 1 ? isl_ast_node_copy(planting->loops[0]) : plant_all(planting);
	for (int i = 0; i < planting->nests.n; i++)
		isl_ast_node_free(planting->loops[i]);
	return ast;
}

static __isl_give isl_ast_node *make_ast(struct module *module, enum region_kind kind)
{
	isl_schedule *schedule = module->regions[kind].schedule;
	struct planting planting = { .module = module, .kind = kind, .context = region_context(module, kind),
				     .iterators = iterators(module, schedule),
				     .sequence = isl_schedule_node_first_child(isl_schedule_get_root(schedule)) };
	isl_ast_node *ast;

	isl_options_set_ast_build_atomic_upper_bound(module->ctx, 1);
	isl_options_set_ast_build_detect_min_max(module->ctx, 1);
	isl_options_set_ast_build_group_coscheduled(module->ctx, 1);
	if (isl_schedule_node_get_type(planting.sequence) == isl_schedule_node_sequence)
		ast = make_sequence(&planting);
	else
		ast = make_nests(&planting, &(struct nests) { planting.sequence, 0, 0 });
	isl_set_free(planting.context);
	isl_id_list_free(planting.iterators);
	isl_schedule_node_free(planting.sequence);
	return ast;
}

isl_ast_node *ast_of_region(struct module *module, enum region_kind kind)
{
	struct region *region = &module->regions[kind];

	if (region->schedule && !region->loops)
		region->loops = make_ast(module, kind);
	return region->loops;
}

bool target_make_loops(struct module *module)
{
	bool are_made = true;

	for (int i = 0; i < REGION_N; i++)
		are_made = are_made && (!module->regions[i].schedule || ast_of_region(module, (enum region_kind) i));
	return are_made;
}

/* ---- questions to the AST ---- */

/* isl's trees are shared, and not changed: what is below a node stays with it. */
static isl_ast_node *borrowed(__isl_take isl_ast_node *part)
{
	isl_ast_node_free(part);
	return part;
}

isl_ast_node *ast_body(__isl_keep isl_ast_node *loop)
{
	return borrowed(isl_ast_node_for_get_body(loop));
}

isl_ast_node *ast_below(__isl_keep isl_ast_node *mark)
{
	return borrowed(isl_ast_node_mark_get_node(mark));
}

isl_ast_expr *ast_instance(__isl_keep isl_ast_node *statement)
{
	isl_ast_expr *instance = isl_ast_node_user_get_expr(statement);

	isl_ast_expr_free(instance);
	return instance;
}

int ast_n_children(__isl_keep isl_ast_node *node)
{
	isl_ast_node_list *children;
	int n;

	switch (isl_ast_node_get_type(node)) {
	case isl_ast_node_for: case isl_ast_node_mark:
		return 1;
	case isl_ast_node_if:
		return isl_ast_node_if_has_else_node(node) == isl_bool_true ? 2 : 1;
	case isl_ast_node_block:
		children = isl_ast_node_block_get_children(node);
		n = isl_ast_node_list_n_ast_node(children);
		isl_ast_node_list_free(children);
		return n;
	case isl_ast_node_user: case isl_ast_node_error:
		break;
	}
	return 0;
}

static isl_ast_node *child_of_block(__isl_keep isl_ast_node *node, int i)
{
	isl_ast_node_list *children = isl_ast_node_block_get_children(node);
	isl_ast_node *child = borrowed(isl_ast_node_list_get_at(children, i));

	isl_ast_node_list_free(children);
	return child;
}

isl_ast_node *ast_child(__isl_keep isl_ast_node *node, int i)
{
	switch (isl_ast_node_get_type(node)) {
	case isl_ast_node_for:
		return ast_body(node);
	case isl_ast_node_mark:
		return ast_below(node);
	case isl_ast_node_if:
		return borrowed(i ? isl_ast_node_if_get_else_node(node) : isl_ast_node_if_get_then_node(node));
	case isl_ast_node_block:
		return child_of_block(node, i);
	case isl_ast_node_user: case isl_ast_node_error:
		break;
	}
	return NULL;
}

const struct mark *ast_mark(__isl_keep isl_ast_node *node)
{
	return isl_ast_node_get_type(node) == isl_ast_node_mark ? mark_of(isl_ast_node_mark_get_id(node)) : NULL;
}

const struct mark *ast_next_mark(isl_ast_node **node)
{
	const struct mark *mark = ast_mark(*node);

	if (mark)
		*node = ast_below(*node);
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
	instance = ast_instance(node);
	stage = ast_stage(instance);
	if (!search->stage || stage == search->stage ||
	    (search->any_of_group && stage->group == search->stage->group))
		search->found = instance;
	return isl_bool_true;
}

isl_ast_expr *ast_instance_below(__isl_keep isl_ast_node *node, const struct stage *stage, bool any_of_group)
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

	if (isl_ast_node_get_type(node) == isl_ast_node_user)
		visiting->visit(ast_stage(ast_instance(node)), visiting->user);
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
