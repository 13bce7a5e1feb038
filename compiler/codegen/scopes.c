/* SPDX-License-Identifier: MIT
 *
 * Blocks of C, in which names are declared; what is known inside of them about iterators and values; and the values
 * that the variable of one of isl's loops takes. */
#include <isl/id.h>

#include "codegen/codegen_private.h"

/* ---- blocks and scopes ---- */

void block_close_at(struct emit *e, const char *emitter, int names)
{
	k_close(e->b, emitter);
	e->names.visible.n = names;
}

void block_otherwise_at(struct emit *e, const char *emitter, int names)
{
	k_otherwise(e->b, emitter);
	e->names.visible.n = names;
}

int block_reopen_at(struct emit *e, const char *emitter)
{
	k_reopen(e->b, emitter);
	return e->names.visible.n;
}

struct k_block *block_here(const struct emit *e)
{
	return e->b->open.items[e->b->open.n - 1];
}

int depth_here(const struct emit *e)
{
	return e->b->open.n;
}

struct k_block *elsewhere_begin(struct emit *e, struct k_block *block)
{
	struct k_block *outer = block_here(e);

	e->b->open.items[e->b->open.n - 1] = block;
	return outer;
}

void elsewhere_end(struct emit *e, struct k_block *outer)
{
	k_drop_unread(e->arena, block_here(e));
	e->b->open.items[e->b->open.n - 1] = outer;
}

struct k_block build_elsewhere(struct emit *e, __isl_keep isl_ast_node *node)
{
	struct k_block block = { 0 }, *outer = elsewhere_begin(e, &block);
	int visible = e->names.visible.n;

	emit_node(e, node, (struct loop_use) { 0 });
	e->names.visible.n = visible;
	elsewhere_end(e, outer);
	return block;
}

struct scope scope_enter(const struct emit *e)
{
	return (struct scope) { e->iterators.n, e->bindings.n, e->facts.n };
}

void scope_leave(struct emit *e, struct scope scope)
{
	e->iterators.n = scope.iterators;
	e->bindings.n = scope.bindings;
	e->facts.n = scope.facts;
}

void fact_push(struct emit *e, struct affine fact)
{
	vec_push(e->arena, &e->facts, fact);
}

void fact_compare(struct emit *e, const struct affine *a, enum k_op op, const struct affine *b)
{
	struct affine rise = affine_combine(e->arena, 1, b, -1, a), fall = affine_combine(e->arena, 1, a, -1, b);

	if (op == K_LT || op == K_LE || op == K_EQ)
		fact_push(e, affine_scale(e->arena, &rise, 1, op == K_LT ? -1 : 0));
	if (op == K_GT || op == K_GE || op == K_EQ)
		fact_push(e, affine_scale(e->arena, &fall, 1, op == K_GT ? -1 : 0));
}

void iterator_push(struct emit *e, __isl_keep isl_ast_node *node, const struct affine *variable, int direction)
{
	isl_ast_expr *expr = isl_ast_node_for_get_iterator(node);
	isl_id *id = isl_ast_expr_get_id(expr);
	struct iterator iterator = { .id = arena_string(e->arena, isl_id_get_name(id)),
				     .value = affine_scale(e->arena, variable, direction, 0) };

	vec_push(e->arena, &e->iterators, iterator);
	isl_id_free(id);
	isl_ast_expr_free(expr);
}

/* ---- ranges ---- */

static int64_t step_of(struct emit *e, __isl_keep isl_ast_node *node)
{
	struct affine step = affine_of_ast(e, isl_ast_node_for_get_inc(node), 1, 0);
	int64_t value;

	if (!affine_is_constant(&step, &value))
		emit_fail(e, "a loop has a step that is not a number");
	return value;
}

struct range range_of(struct emit *e, __isl_keep isl_ast_node *node, int direction)
{
	struct range range = { .first = affine_of_ast(e, isl_ast_node_for_get_init(node), direction, 0), .step = 1 };
	isl_ast_expr *cond;
	int64_t excess;

	range.is_single = isl_ast_node_for_is_degenerate(node) == isl_bool_true;
	range.last = range.end = range.first;
	if (range.is_single)
		return range;
	cond = isl_ast_node_for_get_cond(node);
	excess = isl_ast_expr_op_get_type(cond) == isl_ast_expr_op_lt ? 0 : 1;
	if (excess && isl_ast_expr_op_get_type(cond) != isl_ast_expr_op_le)
		emit_fail(e, "a loop has no upper bound");
	range.last = affine_of_ast(e, isl_ast_expr_op_get_arg(cond, 1), direction, direction * (excess - 1));
	range.end = affine_of_ast(e, isl_ast_expr_op_get_arg(cond, 1), direction, direction * excess);
	range.step = step_of(e, node);
	isl_ast_expr_free(cond);
	return range;
}

void range_facts(struct emit *e, const struct range *range, const struct affine *variable, int direction)
{
	fact_push(e, affine_combine(e->arena, direction, variable, -direction, &range->first));
	fact_push(e, affine_combine(e->arena, direction, &range->last, -direction, variable));
}
