/* SPDX-License-Identifier: MIT
 *
 * The nests of a region. Each is printed below the lines of the program that it comes from. When a stopped run goes
 * on, what is carried from iteration to iteration (states, and what the loop adds to) is not set again, nor is computed
 * what only that needs: in the prologue such nests, or where they are fused with others their statements, stand below a
 * test.
 */
#include <string.h>

#include "codegen/codegen_private.h"

/* ---- finding them ---- */

struct collecting {
	struct emit *e;
	struct nest *nest;
};

static bool has_group(const struct nest *nest, const struct group *group)
{
	for (int i = 0; i < nest->groups.n; i++)
		if (nest->groups.items[i] == group)
			return true;
	return false;
}

static void note_stage(struct stage *stage, void *user)
{
	struct collecting *collecting = user;
	struct nest *nest = collecting->nest;

	if (!has_group(nest, stage->group))
		vec_push(collecting->e->arena, &nest->groups, stage->group);
	if (stage->write.array->role != ROLE_LOCAL) {
		bool is_of_start = collecting->e->layout->is_of_start[stage->write.array->number];

		nest->sets_at_start |= is_of_start;
		nest->sets_other |= !is_of_start;
	}
	nest->is_commit |= stage->is_commit;
}

static void add_nests(struct emit *e, enum region_kind kind, __isl_keep isl_ast_node *node, nest_list *nests)
{
	struct nest nest = { .region = kind, .node = node };
	struct collecting collecting = { e, &nest };

	if (isl_ast_node_get_type(node) == isl_ast_node_block) {
		for (int i = 0; i < ast_n_children(node); i++)
			add_nests(e, kind, ast_child(node, i), nests);
		return;
	}
	ast_each_stage(node, note_stage, &collecting);
	vec_push(e->arena, nests, nest);
}

bool nests_of_region(struct emit *e, enum region_kind kind, nest_list *nests)
{
	isl_ast_node *ast = e->arena->is_exhausted ? NULL : ast_of_region(e->module, kind);

	if (ast)
		add_nests(e, kind, ast, nests);
	else if (e->module->regions[kind].groups.n)
		emit_fail(e, "isl made no loops from a schedule");
	return !e->failed;
}

/* ---- what is known in a region ---- */

static void push_comparison(struct emit *e, const struct expr *expr)
{
	struct affine a = affine_of_expr(e, NULL, expr->args[0]), b = affine_of_expr(e, NULL, expr->args[1]);

	fact_compare(e, &a, k_op_of(expr->op), &b);
}

static void push_assumption(struct emit *e, const struct expr *expr)
{
	if (expr->kind != EXPR_OP)
		return;
	if (expr->op == OP_AND) {
		push_assumption(e, expr->args[0]);
		push_assumption(e, expr->args[1]);
	} else if (op_is_comparison(expr->op)) {
		push_comparison(e, expr);
	}
}

static void push_loop(struct emit *e)
{
	const struct loop *loop = &e->module->loop;
	struct affine it = affine_name(e->arena, e->layout->params[loop->param]);
	struct affine lo = affine_of_expr(e, NULL, loop->lo), hi = affine_of_expr(e, NULL, loop->hi);
	struct affine last = affine_scale(e->arena, &hi, 1, -1);

	fact_push(e, affine_combine(e->arena, 1, &it, -1, &lo));
	fact_push(e, affine_combine(e->arena, 1, &last, -1, &it));
}

static void push_context(struct emit *e, enum region_kind kind)
{
	for (int i = 0; i < e->module->params.n; i++)
		if (!e->module->params.items[i].is_scalar && !e->module->params.items[i].is_loop)
			fact_push(e, affine_name(e->arena, e->layout->params[i]));
	for (int i = 0; i < e->module->assumptions.n; i++)
		push_assumption(e, e->module->assumptions.items[i]);
	if (kind == REGION_BODY && e->module->loop.var)
		push_loop(e);
}

/* ---- printing them ---- */

/* Is the statement at `span` that of one of the first `n` groups? */
static bool shows_first(const struct nest *nest, int n, struct span span)
{
	bool is_shown = false;

	for (int i = 0; i < n; i++)
		is_shown |= !memcmp(&nest->groups.items[i]->span, &span, sizeof span);
	return is_shown;
}

static bool shows(const struct nest *nest, struct span span)
{
	return nest && shows_first(nest, nest->groups.n, span);
}

bool nests_are_of_one_statement(const struct nest *a, const struct nest *b)
{
	return a->groups.n == 1 && b->groups.n == 1 && shows(a, b->groups.items[0]->span);
}

/* The lines of a group's definition; and of those that it reads in turn, where they begin. */
static void emit_group_comments(struct emit *e, const struct group *group)
{
	const struct array *last = NULL;

	e->b->span = group->span;
	add_source_comment(e->b, e->module, group->span);
	for (int i = 0; i < group->stages.n; i++) {
		const struct stage *stage = group->stages.items[i];
		bool is_inside = stage->span.start >= group->span.start && stage->span.end <= group->span.end;

		if (!is_inside && stage->write.array != last && stage->write.array->role != ROLE_LOCAL)
			add_source_comment(e->b, e->module, stage->span);
		last = stage->write.array;
	}
}

static void emit_comments(struct emit *e, const struct nest *nest, const struct nest *previous)
{
	for (int i = 0; i < nest->groups.n; i++)
		if (!shows(previous, nest->groups.items[i]->span) &&
		    !shows_first(nest, i, nest->groups.items[i]->span))
			emit_group_comments(e, nest->groups.items[i]);
}

static void emit_nest(struct emit *e, const struct nest *nest)
{
	bool sets_at_start = nest->region == REGION_PROLOGUE && nest->sets_at_start;
	bool is_guarded = sets_at_start && !nest->sets_other;
	int names = 0;

	if (nest->groups.n)
		e->b->span = nest->groups.items[0]->span;
	e->function.guards_starts = sets_at_start && nest->sets_other;
	e->function.in_loop = nest->region == REGION_BODY && e->module->loop.var;
	if (is_guarded)
		names = block_of(e, k_begin_if(e->b, k_name(e->arena, e->function.starts)));
	if (e->rows.of_parts)
		emit_set_cut(e);
	emit_node(e, nest->node, (struct loop_use) { 0 });
	if (is_guarded)
		block_close(e, names);
	e->function.guards_starts = e->function.in_loop = false;
}

static void print_nest(struct emit *e, struct nest *nest, struct part_rows *rows)
{
	struct scope scope = scope_enter(e);

	push_context(e, nest->region);
	e->rows.of_parts = rows;
	emit_nest(e, nest);
	e->rows.of_parts = NULL;
	scope_leave(e, scope);
}

/* Does the nest behind set what this one does, but for rows of several parts? It is built to see. */
static bool is_set_behind(struct emit *e, const struct nest *nest, struct nest *behind, struct part_rows *rows)
{
	struct k_program unused = { 0 };
	struct k_block starts = { 0 }, *outer;
	struct emit_device kernels;

	if (nest->is_commit || behind->is_commit || !part_rows_find(e, nest->node, rows))
		return false;
	kernels = kernels_begin(e, &unused);
	outer = elsewhere_begin(e, &starts);
	print_nest(e, behind, rows);
	elsewhere_end(e, outer);
	kernels_end(e, kernels);
	return part_rows_are_set(e, behind->node, rows);
}

bool nests_are_joined(struct emit *e, const struct nest *nest, struct nest *behind)
{
	const struct names names = e->names;
	struct k_program unused = { 0 };
	struct k_block block = { 0 };
	struct k_builder b = k_builder_new(e->arena, &block);
	struct part_rows rows;
	struct emit_device kernels = kernels_begin(e, &unused);
	bool is_joined;

	e->b = &b;
	is_joined = is_set_behind(e, nest, behind, &rows);
	e->b = NULL;
	kernels_end(e, kernels);
	e->names = names;
	return is_joined;
}

void emit_nests(struct emit *e, nest_list *nests, int first, int last)
{
	for (int i = first; i < last; i++) {
		struct nest *nest = &nests->items[i];
		struct part_rows rows;
		bool is_joined = i + 1 < last && is_set_behind(e, nest, nest + 1, &rows);

		if (i > first)
			k_blank(e->b);
		emit_comments(e, nest, NULL);
		if (is_joined)
			emit_comments(e, nest + 1, nest);
		i += is_joined;
		print_nest(e, &nests->items[i], is_joined ? &rows : NULL);
	}
}
