/* SPDX-License-Identifier: MIT
 *
 * Reductions inside expressions: sum(k in 0..n) E, dot(a, b), matmul(A, B) and the like.
 *
 * Where the reduction depends only on the variables of the group, it is a LOCAL array of the group: set to
 * the identity, which is of the body's own type (of no i32, the least is the largest i32, though integers are
 * computed in 64 bits), accumulated over the reduction's own dims, read by the stage that needs it. Two cases are
 * computed apart, in a group before and into an array of their own: what depends on no variable at all while
 * the group has some (it would be computed again at every point), and what depends on a variable of a
 * reduction around it, which no LOCAL array can hold. */
#include <string.h>

#include "sema/sema_private.h"

struct reduction {
	enum reduce_op op;
	const char *word;               /* for names */
	const struct tree_expr *tree;
	const struct shape *shape;      /* runs over all its points; NULL: over the ranges of `tree` */
	struct expr *(*term)(const struct context *ctx, const struct reduction *r, const struct point *own);
};

enum reduce_op op_of_reduce(enum tree_reduce_op op)
{
	static const enum reduce_op ops[] = {
		[TREE_SUM] = REDUCE_ADD,
		[TREE_PROD] = REDUCE_MUL,
		[TREE_MIN] = REDUCE_MIN,
		[TREE_MAX] = REDUCE_MAX,
	};
	return ops[op];
}

/* ---- which variables it depends on ---- */

static void mark_tree(const struct context *ctx, const struct tree_expr *expr, bool is_whole, bool *slots);

static void mark_point(const struct context *ctx, bool *slots)
{
	for (int i = 0; ctx->point && i < ctx->point->rank; i++)
		slots[ctx->point->at[i]->index] = true;
}

static void mark_name(const struct context *ctx, const struct tree_expr *expr, bool is_whole, bool *slots)
{
	const struct symbol *symbol = scope_find(ctx->scope, name_text(ctx->sema->arena, &expr->name));

	if (symbol && symbol->kind == SYMBOL_VARIABLE)
		slots[symbol->slot] = true;
	if (symbol && symbol->kind == SYMBOL_ARRAY && symbol->target->array->rank && !is_whole)
		mark_point(ctx, slots);
}

static void mark_ranges(const struct context *ctx, const tree_ranges *ranges, bool *slots)
{
	for (int i = 0; i < ranges->n; i++) {
		mark_tree(ctx, ranges->items[i]->lo, true, slots);
		if (ranges->items[i]->hi)
			mark_tree(ctx, ranges->items[i]->hi, true, slots);
	}
}

/* A product or a construct: its elements are not those of its arguments. */
static bool call_gives_array(const struct tree_expr *expr)
{
	const struct function *function = expr->kind == TREE_CALL ? function_find(expr->name.name) : NULL;

	return expr->kind == TREE_CALL && (!function || function->kind == FUNCTION_MATMUL);
}

static bool call_takes_arrays(const struct tree_expr *expr)
{
	const struct function *function = expr->kind == TREE_CALL ? function_find(expr->name.name) : NULL;

	return call_gives_array(expr) || (function && function->kind == FUNCTION_WHOLE);
}

/* Sets slots[s] for the variables in `expr`; with `is_whole`, arrays stand for themselves. */
static void mark_tree(const struct context *ctx, const struct tree_expr *expr, bool is_whole, bool *slots)
{
	if (expr->kind == TREE_NAME)
		mark_name(ctx, expr, is_whole, slots);
	if (call_gives_array(expr) && !is_whole)
		mark_point(ctx, slots);
	if (call_takes_arrays(expr))
		is_whole = true;
	mark_ranges(ctx, &expr->ranges, slots);
	for (int i = 0; i < expr->args.n; i++)
		mark_tree(ctx, expr->args.items[i], is_whole, slots);
}

static bool is_apart(const struct context *ctx, const bool *slots)
{
	bool has_common = false, has_any = false, has_own = false;

	for (int i = 0; i < ctx->draft->slots.n; i++) {
		has_common = has_common || ctx->draft->slots.items[i].is_common;
		has_any = has_any || slots[i];
		has_own = has_own || (slots[i] && !ctx->draft->slots.items[i].is_common);
	}
	return has_own || (has_common && !has_any);
}

/* ---- in the group itself ---- */

static bool lower_own(const struct context *ctx, const struct reduction *r, slot_list *own,
		      struct point *point)
{
	const tree_ranges *ranges = &r->tree->ranges;

	if (r->shape) {
		*point = point_over(ctx, r->shape, false, r->tree->span, own);
		return true;
	}
	for (int i = 0; i < ranges->n; i++)
		vec_push(ctx->sema->arena, own, lower_range(ctx, ranges->items[i], false));
	for (int i = 0; i < own->n; i++)
		if (own->items[i] < 0)
			return false;
	return true;
}

static struct draft_stage *add_local_stage(const struct context *ctx, struct array *local, struct expr *value)
{
	struct draft_stage *stage = draft_add_stage(ctx->sema, ctx->draft, value->span);

	stage->guard = ctx->guard;
	stage->write.array = local;
	stage->write.span = value->span;
	stage->value = value;
	return stage;
}

static struct expr *reduce_here(const struct context *ctx, const struct reduction *r)
{
	struct sema *sema = ctx->sema;
	struct context inner = *ctx;
	struct span span = r->tree->span;
	struct point point = { 0 };
	struct draft_stage *stage;
	slot_list own = { 0 };
	int first = ctx->draft->slots.n;
	enum scalar_type type;
	struct array *local;
	struct expr *value;

	inner.scope = scope_new(sema, ctx->scope);
	value = lower_own(&inner, r, &own, &point) ? r->term(&inner, r, &point) : NULL;
	if (!value || !value_expect_number(sema, value, r->word))
		return NULL;
	type = value->type;
	if (value_is_literal(value) || r->op == REDUCE_ADD || r->op == REDUCE_MUL)
		value = value_as(sema, value_settled_type(value), value);
	local = array_add(sema,
			  array_fresh_name(sema, arena_printf(sema->arena, "%s.%s", ctx->base, r->word)),
			  ROLE_LOCAL, value->type, &(struct shape) { 0 }, span);
	stage = add_local_stage(ctx, local, value_identity(sema, r->op, type, span));
	stage->is_init = true;
	stage = add_local_stage(ctx, local, value);
	stage->op = r->op;
	stage->own = own;
	draft_close(sema, ctx->draft, first);
	return expr_read(sema->arena, local, NULL, span);
}

/* ---- apart ---- */

/* All segments together are a whole range: who does not ask for the segment need not know it. */
static void mark_needed(const struct context *ctx, const bool *slots, bool *needed)
{
	for (int i = 0; i < ctx->draft->slots.n; i++)
		if (slots[i] && !segments_of(ctx, i))
			draft_mark_slot(ctx->draft, i, needed);
	for (int i = 0; i < ctx->draft->slots.n; i++)
		if (slots[i])
			needed[i] = true;
}

struct copy {                           /* of slots of one draft into another */
	const struct context *from;
	struct context to;
	const bool *needed;             /* slots of `from` */
	struct expr **dims;             /* their images */
	slot_list ranges;               /* of `from`, that are ranges */
	struct point point;
};

static void copy_slot(struct copy *copy, int number)
{
	struct arena *arena = copy->to.sema->arena;
	struct slot slot = copy->from->draft->slots.items[number];
	int rank = slot.dim.kind == DIM_RANGE ? 0 : slot.dim.source.array->rank;
	struct expr **subs = arena_new_array(arena, struct expr *, rank + 1);

	slot.is_common = slot.dim.kind != DIM_BIND;
	if (slot.dim.kind == DIM_RANGE && slot.dim.lo->kind == EXPR_DIM &&
	    !copy->needed[slot.dim.lo->index]) {
		slot.dim.hi = segments_of(copy->from, number)->limit;
		slot.dim.lo = expr_int(arena, 0, slot.dim.span);
	} else if (slot.dim.kind == DIM_RANGE) {
		slot.dim.lo = expr_substitute(arena, slot.dim.lo, copy->dims);
		slot.dim.hi = expr_substitute(arena, slot.dim.hi, copy->dims);
	}
	for (int i = 0; i < rank; i++)
		subs[i] = expr_substitute(arena, slot.dim.source.subs[i], copy->dims);
	slot.dim.source.subs = subs;
	if (slot.is_common)
		vec_push(arena, &copy->ranges, number);
	copy->dims[number] =
		expr_dim(arena, draft_add_slot(copy->to.sema, copy->to.draft, &slot), slot.dim.span);
}

static void copy_variables(struct copy *copy)
{
	struct scope *scope = scope_new(copy->to.sema, copy->from->scope);

	for (const struct scope *s = copy->from->scope; s; s = s->up)
		for (int i = 0; i < s->symbols.n; i++) {
			struct symbol *variable = s->symbols.items[i];
			struct symbol *image;

			if (variable->kind != SYMBOL_VARIABLE || !copy->needed[variable->slot])
				continue;
			image = arena_new(copy->to.sema->arena, struct symbol);
			*image = *variable;
			image->slot = copy->dims[variable->slot]->index;
			scope_add(copy->to.sema, scope, image);
		}
	copy->to.scope = scope;
}

/* A point that the reduction does not depend on is not read there. */
static void copy_point(struct copy *copy)
{
	const struct point *from = copy->from->point;

	copy->to.point = NULL;
	if (!from)
		return;
	for (int i = 0; i < from->rank; i++)
		if (!copy->needed[from->at[i]->index])
			return;
	copy->point.rank = from->rank;
	copy->point.at = arena_new_array(copy->to.sema->arena, struct expr *, from->rank + 1);
	for (int i = 0; i < from->rank; i++)
		copy->point.at[i] = copy->dims[from->at[i]->index];
	copy->to.point = &copy->point;
}

/* The parts of a condition that speak of the copied slots and of parameters. */
static struct expr *copy_guard(const struct copy *copy, struct expr *guard)
{
	const struct draft *draft = copy->from->draft;
	struct sema *sema = copy->to.sema;
	bool *used;

	if (!guard)
		return NULL;
	if (guard->kind == EXPR_OP && guard->op == OP_AND)
		return guard_and(sema, copy_guard(copy, guard->args[0]), copy_guard(copy, guard->args[1]));
	used = arena_new_array(sema->arena, bool, draft->slots.n + 1);
	draft_mark(draft, guard, used);
	for (int i = 0; i < draft->slots.n; i++)
		if (used[i] && !copy->needed[i])
			return NULL;
	return expr_substitute(sema->arena, guard, copy->dims);
}

static void copy_context(struct copy *copy, const char *name, struct span span)
{
	struct sema *sema = copy->from->sema;
	const struct draft *draft = copy->from->draft;

	copy->to = *copy->from;
	copy->to.draft = draft_new(sema, NULL, name, span);
	copy->dims = arena_new_array(sema->arena, struct expr *, draft->slots.n + 1);
	for (int i = 0; i < draft->slots.n; i++)
		if (copy->needed[i])
			copy_slot(copy, i);
	copy_variables(copy);
	copy_point(copy);
	copy->to.guard = copy_guard(copy, copy->from->guard);
}

/* `value`, computed in the copy, is stored in an array over the copied ranges and read back. */
static struct expr *store_copy(struct copy *copy, const char *name, struct expr *value)
{
	struct sema *sema = copy->to.sema;
	struct expr **subs = arena_new_array(sema->arena, struct expr *, copy->ranges.n + 1);
	struct draft_stage *stage;
	struct symbol *symbol;
	struct shape box;

	if (!shape_of_draft(sema, copy->to.draft, &box))
		return NULL;
	symbol = array_hidden(sema, name, value->type, &box, value->span);
	copy->to.draft->target = symbol->target;
	stage = draft_add_stage(sema, copy->to.draft, value->span);
	stage->guard = copy->to.guard;
	stage->value = value;
	stage->write.array = symbol->target->array;
	stage->write.span = value->span;
	stage->write.subs = arena_new_array(sema->arena, struct expr *, copy->ranges.n + 1);
	for (int i = 0; i < copy->ranges.n; i++) {
		stage->write.subs[i] = copy->dims[copy->ranges.items[i]];
		subs[i] = expr_dim(sema->arena, copy->ranges.items[i], value->span);
	}
	return expr_read(sema->arena, symbol->target->array, subs, value->span);
}

static struct expr *reduce_apart(const struct context *ctx, const struct reduction *r, const bool *slots)
{
	struct sema *sema = ctx->sema;
	bool *needed = arena_new_array(sema->arena, bool, ctx->draft->slots.n + 1);
	struct copy copy = { .from = ctx, .needed = needed };
	const char *name = array_fresh_name(sema, arena_printf(sema->arena, "%s.%s", ctx->base, r->word));
	struct expr *value;

	mark_needed(ctx, slots, needed);
	copy_context(&copy, name, r->tree->span);
	copy.to.base = name;
	value = reduce_here(&copy.to, r);
	return value ? store_copy(&copy, name, value) : NULL;
}

static struct expr *reduce(const struct context *ctx, const struct reduction *r)
{
	bool *slots;

	if (ctx->purpose != PURPOSE_VALUE || !ctx->draft) {
		bool is_until = ctx->purpose == PURPOSE_UNTIL;

		diag_error(ctx->sema->diags, is_until ? DIAG_BAD_UNTIL : DIAG_NOT_AFFINE, r->tree->span, "%s",
			   is_until ? "'until' reads scalars: keep this reduction in a state"
				    : "a reduction cannot stand in a subscript, range, condition or size");
		return NULL;
	}
	slots = arena_new_array(ctx->sema->arena, bool, ctx->draft->slots.n + 1);
	mark_tree(ctx, r->tree, false, slots);
	return is_apart(ctx, slots) ? reduce_apart(ctx, r, slots) : reduce_here(ctx, r);
}

/* ---- sum(ranges) body ---- */

static struct expr *body_term(const struct context *ctx, const struct reduction *r, const struct point *own)
{
	(void) own;
	return lower_value(ctx, r->tree->args.items[0]);
}

struct expr *lower_reduction(const struct context *ctx, const struct tree_expr *tree)
{
	static const char *const words[] = {
		[TREE_SUM] = "sum", [TREE_PROD] = "prod", [TREE_MIN] = "min", [TREE_MAX] = "max",
	};
	const struct reduction r = { op_of_reduce(tree->reduce_op), words[tree->reduce_op], tree, NULL,
				     body_term };

	return reduce(ctx, &r);
}

/* ---- dot, sum, norm2, maxval, nnz ---- */

static struct expr *element_term(const struct context *ctx, const struct reduction *r,
				 const struct point *own)
{
	return lower_value_at(ctx, r->tree->args.items[0], own);
}

/* a*b for dot, a*a for norm2. */
static struct expr *product_term(const struct context *ctx, const struct reduction *r,
				 const struct point *own)
{
	struct expr *a = element_term(ctx, r, own);
	struct expr *b = r->tree->args.n == 2 ? lower_value_at(ctx, r->tree->args.items[1], own) : a;

	return value_binary(ctx->sema, OP_MUL, a, b, r->tree->span);
}

static struct expr *nonzero_term(const struct context *ctx, const struct reduction *r,
				 const struct point *own)
{
	struct sema *sema = ctx->sema;
	struct span span = r->tree->span;
	struct expr *value = element_term(ctx, r, own);

	if (value && value->type != TYPE_BOOL)
		value = value_binary(sema, OP_NE, value, value_int(sema, 0, span), span);
	return value ? value_select(sema, value, value_int(sema, 1, span), value_int(sema, 0, span), span)
		     : NULL;
}

static struct expr *report_scalar(const struct context *ctx, const struct tree_expr *call, struct span span)
{
	struct diag *diag = diag_error(ctx->sema->diags, DIAG_WRONG_RANK, span,
				       "'%s' needs an array, this is a scalar", call->name.name);

	if (strcmp(call->name.name, "sum") == 0)
		diag_help(ctx->sema->diags, diag, (struct span) { 0 }, "over a range it is sum(i in 0..n) x[i]");
	return NULL;
}

static bool shape_of_arguments(const struct context *ctx, const struct tree_expr *call, struct shape *shape)
{
	for (int i = 0; i < call->args.n; i++) {
		struct shape arg = { 0 };

		if (!shape_of(ctx, call->args.items[i], &arg))
			return false;
		if (arg.rank == 0)
			return report_scalar(ctx, call, call->args.items[i]->span);
		if (i > 0 && !shape_equal(ctx->sema, shape, &arg))
			return report_shapes(ctx, call->span, shape, &arg, "its arguments have the same shape");
		*shape = arg;
	}
	return true;
}

struct expr *lower_whole_reduction(const struct context *ctx, const struct tree_expr *call)
{
	const struct function *function = function_find(call->name.name);
	struct reduction r = { REDUCE_ADD, function->name, call, NULL, element_term };
	struct shape shape = { 0 };
	struct expr *value, **root;

	if (!shape_of_arguments(ctx, call, &shape))
		return NULL;
	r.shape = &shape;
	if (function->op == OP_MAX)
		r.op = REDUCE_MAX;
	if (function->op == OP_NE)
		r.term = nonzero_term;
	if (function->op == OP_MUL || function->op == OP_SQRT)
		r.term = product_term;
	value = reduce(ctx, &r);
	if (!value || function->op != OP_SQRT)
		return value;
	root = arena_new_array(ctx->sema->arena, struct expr *, 1);
	root[0] = value;
	return value_real_function(ctx->sema, OP_SQRT, root, 1, call->span);
}

/* ---- matmul ---- */

static int rank_of(const struct context *ctx, const struct tree_expr *expr)
{
	struct shape shape = { 0 };

	shape_of(ctx, expr, &shape);
	return shape.rank;
}

static struct expr *matmul_term(const struct context *ctx, const struct reduction *r, const struct point *own)
{
	const struct tree_expr *a = r->tree->args.items[0], *b = r->tree->args.items[1];
	const struct point *outer = ctx->point;
	struct expr *a_at[] = { outer->at[0], own->at[0] };
	struct expr *b_at[] = { own->at[0], outer->at[outer->rank - 1] };
	struct point a_point = { 2, a_at }, b_point = { 2, b_at };
	struct expr *x, *y;

	x = lower_value_at(ctx, a, rank_of(ctx, a) == 2 ? &a_point : own);
	y = lower_value_at(ctx, b, rank_of(ctx, b) == 2 ? &b_point : own);
	return value_binary(ctx->sema, OP_MUL, x, y, r->tree->span);
}

struct expr *lower_matmul(const struct context *ctx, const struct tree_expr *call)
{
	struct reduction r = { REDUCE_ADD, "matmul", call, NULL, matmul_term };
	struct shape args[2], result = { 0 }, inner;

	if (!shape_of_matmul(ctx, call, args, &result))
		return NULL;
	if (!ctx->point || ctx->point->rank != result.rank) {
		diag_error(ctx->sema->diags, DIAG_WRONG_RANK, call->span,
			   "'matmul' gives an array, here one value is needed");
		return NULL;
	}
	inner = (struct shape) { 1, args[1].lo, args[1].hi };
	r.shape = &inner;
	return reduce(ctx, &r);
}
