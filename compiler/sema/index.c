/* SPDX-License-Identifier: MIT
 *
 * Subscripts, ranges and conditions: integer expressions that must be affine. Reading an index array in one
 * of them makes a dim bound to that element, so that the expression stays affine (ir/module.h). */
#include "sema/sema_private.h"

#include <math.h>
#include <string.h>

/* ---- affine or not ---- */

static const char *purpose_text(enum purpose purpose)
{
	switch (purpose) {
	case PURPOSE_SUBSCRIPT:
		return "a subscript";
	case PURPOSE_RANGE:
		return "a range";
	case PURPOSE_CONDITION:
		return "a condition";
	case PURPOSE_SIZE:
		return "a size";
	case PURPOSE_VALUE:
	case PURPOSE_CONST:
	case PURPOSE_UNTIL:
		break;
	}
	return "this";
}

/* A quotient or a remainder by a constant below 0. */
static bool has_negative_divisor(const struct expr *expr)
{
	bool has = expr->kind == EXPR_OP && (expr->op == OP_MOD || expr->op == OP_DIV) &&
		   expr->args[1]->kind == EXPR_INT && expr->args[1]->integer < 0;

	for (int i = 0; i < expr_n_args(expr) && !has; i++)
		has = has_negative_divisor(expr->args[i]);
	return has;
}

#define POSITIVE_DIVISOR "the divisor of '/' and '%%' must be positive here: i %% 3; -(i/3) for i/-3"

static struct expr *report_not_affine(const struct context *ctx, const struct expr *value, struct span span,
				      enum purpose purpose)
{
	struct diags *diags = ctx->sema->diags;
	struct diag *diag =
		diag_error(diags, DIAG_NOT_AFFINE, span, "%s must be affine", purpose_text(purpose));
	bool is_ring = purpose == PURPOSE_SUBSCRIPT && value->kind == EXPR_OP && value->op == OP_MOD &&
		       expr_is_affine(value->args[0]) && expr_is_affine(value->args[1]);

	if (has_negative_divisor(value)) {
		diag_help(diags, diag, (struct span) { 0 }, POSITIVE_DIVISOR);
		return NULL;
	}
	diag_help(diags, diag, (struct span) { 0 }, is_ring
		  ? "where an array is a ring, its end is a case, as in case { i == n-1 : x[0]; else : x[i+1]; }"
		  : "use variables, sizes and integers with + and -, constant factors, / and %% by positive constants, "
		    "min and max");
	return NULL;
}

/* ---- 64 bits ---- */

#define LARGEST_SIZE 0x1p40

/* The largest magnitude of an affine expression or condition of sizes, or of a part of it, if each size may be
 * anything below 2^40. */
static double largest_magnitude(const struct expr *expr)
{
	double first, second;

	if (expr->kind == EXPR_INT)
		return fabs((double) expr->integer);
	if (expr_n_args(expr) == 0)
		return LARGEST_SIZE;
	first = largest_magnitude(expr->args[0]);
	second = expr_n_args(expr) > 1 ? largest_magnitude(expr->args[1]) : 0;
	if (expr->kind != EXPR_OP)
		return first;
	if (expr->op == OP_ADD || expr->op == OP_SUB)
		return first + second;
	if (expr->op == OP_MUL)
		return first * second;
	return fmax(first, second);
}

/* The runtime computes sizes and assumptions in 64 bits, and what is proved of them holds of integers. */
static struct expr *fitting(const struct context *ctx, struct expr *value, struct span span)
{
	struct diag *diag;

	if (largest_magnitude(value) <= 0x1p63)
		return value;
	diag = diag_error(ctx->sema->diags, DIAG_OVERFLOW, span,
			  "this does not fit into 64 bits for all sizes below 2^40");
	diag_help(ctx->sema->diags, diag, (struct span) { 0 }, "the factors of sizes add up to 2^23 at most");
	return NULL;
}

struct expr *lower_index(const struct context *ctx, const struct tree_expr *expr, enum purpose purpose)
{
	struct context inner = *ctx;
	struct expr *value;

	inner.purpose = purpose;
	inner.point = NULL;
	value = lower_value(&inner, expr);
	if (!value)
		return NULL;
	if (!type_is_integer(value->type)) {
		diag_error(ctx->sema->diags, DIAG_NOT_INTEGER, expr->span,
			   "%s must be an integer, this is %s", purpose_text(purpose),
			   type_name(value->type));
		return NULL;
	}
	if (!expr_is_affine(value))
		return report_not_affine(ctx, value, expr->span, purpose);
	return purpose == PURPOSE_SIZE ? fitting(ctx, value, expr->span) : value;
}

struct expr *lower_condition(const struct context *ctx, const struct tree_expr *expr, bool is_assumed)
{
	struct context inner = *ctx;
	struct expr *value;
	struct diag *diag;

	inner.purpose = PURPOSE_CONDITION;
	inner.point = NULL;
	value = lower_value(&inner, expr);
	if (!value || !value_expect_bool(ctx->sema, value, is_assumed ? "'assume'" : "'case'"))
		return NULL;
	if (expr_is_affine_condition(value))
		return is_assumed ? fitting(ctx, value, expr->span) : value;
	diag = diag_error(ctx->sema->diags, DIAG_NOT_AFFINE, expr->span,
			  "a condition must compare affine expressions of variables and sizes");
	if (has_negative_divisor(value))
		diag_help(ctx->sema->diags, diag, (struct span) { 0 }, POSITIVE_DIVISOR);
	else
		diag_help(ctx->sema->diags, diag, (struct span) { 0 }, is_assumed
			  ? "'assume' speaks of sizes, as in assume n >= 1; nothing is assumed of scalars and of data"
			  : "a choice that depends on data is select(c, a, b)");
	return NULL;
}

/* ---- reading arrays ---- */

/* A condition is mended where it stands; subscripts and ranges, all of them, by another declaration. */
static bool data_index_is_news(const struct context *ctx, struct symbol *symbol)
{
	bool is_news = !symbol->is_no_index;

	if (ctx->purpose == PURPOSE_CONDITION)
		return misuse_is_news(ctx->sema, symbol);
	symbol->is_no_index = true;
	return is_news;
}

static struct expr *report_data_index(const struct context *ctx, const struct target *target,
				      struct span span)
{
	struct diags *diags = ctx->sema->diags;
	const struct array *array = target->array;
	struct diag *diag;

	if (!data_index_is_news(ctx, target->symbol))
		return NULL;
	diag = diag_error(diags, DIAG_NOT_AN_INDEX, span, "%s cannot read '%s', which is %s",
			  purpose_text(ctx->purpose), array->name, type_name(array->type));
	label_declaration(ctx->sema, diag, target->symbol);
	if (ctx->purpose == PURPOSE_CONDITION)
		diag_help(diags, diag, (struct span) { 0 },
			  "a choice that depends on data is select(c, a, b)");
	else if (ctx->purpose == PURPOSE_RANGE)
		diag_help(diags, diag, (struct span) { 0 },
			  "bounds are read from offsets, as in k in off[i]..off[i+1] with off : offsets(m)[n + 1], or "
			  "from lengths, as in k in 0..len[i] with len : index(m + 1)[n]");
	else if (type_is_integer(array->type))
		diag_help(diags, diag, (struct span) { 0 },
			  "declare it as index(N)[...], with values in [0, N), where N is how many there are of what "
			  "it is a subscript of");
	return NULL;
}

static struct expr *report_no_read(const struct context *ctx, const struct target *target, struct span span)
{
	struct diag *diag = diag_error(ctx->sema->diags, DIAG_NOT_CONSTANT, span,
				       "'%s' cannot be read here", target->array->name);

	label_declaration(ctx->sema, diag, target->symbol);
	if (ctx->purpose == PURPOSE_SIZE || ctx->purpose == PURPOSE_CONDITION)
		diag_help(ctx->sema->diags, diag, (struct span) { 0 },
			  "%s are made of parameters and constants",
			  ctx->purpose == PURPOSE_SIZE ? "sizes" : "assumptions");
	return NULL;
}

/* In `c in children(parent, node)`, parent[c] is the node. */
static struct expr *node_of_child(const struct draft *draft, const struct access *source)
{
	const struct expr *child = source->array->facts & FACT_TREE ? source->subs[0] : NULL;
	const struct dim *dim = child && child->kind == EXPR_DIM ? &draft->slots.items[child->index].dim : NULL;

	return dim && dim->kind == DIM_CHILDREN && dim->source.array == source->array ? dim->source.subs[0] : NULL;
}

struct expr *read_array(const struct context *ctx, struct target *target, struct expr **subs,
			struct span span)
{
	struct access source = { target->array, subs, span };
	struct expr *node;

	target->is_read = true;
	if (ctx->purpose == PURPOSE_SIZE || ctx->purpose == PURPOSE_CONST)
		return report_no_read(ctx, target, span);
	if (ctx->purpose == PURPOSE_VALUE || ctx->purpose == PURPOSE_UNTIL)
		return expr_read(ctx->sema->arena, target->array, subs, span);
	if (!ctx->draft)
		return report_no_read(ctx, target, span);
	if (!array_is_index(target->array))
		return report_data_index(ctx, target, span);
	node = node_of_child(ctx->draft, &source);
	if (node)
		return node;
	return expr_dim(ctx->sema->arena, draft_bind(ctx->sema, ctx->draft, &source, ctx->suffix), span);
}

void help_subscripts(const struct sema *sema, struct diag *diag, const struct array *array)
{
	static const char *const variables[] = { "i", "j", "k", "l", "p", "q", "r", "s" };
	struct str text = str_new(sema->arena);
	struct shape shape = shape_of_array(array);

	for (int i = 0; i < array->rank; i++)
		str_add(&text, "%s%s", i ? ", " : "", variables[i]);
	if (array->rank == 0)
		diag_help(sema->diags, diag, (struct span) { 0 }, "write it without brackets");
	else
		diag_help(sema->diags, diag, (struct span) { 0 }, "it is %s, with a subscript for each, as in %s[%s]",
			  shape_text(sema, &shape), array->name, str_text(&text));
}

static bool report_rank(const struct context *ctx, struct symbol *symbol, const struct tree_expr *expr)
{
	const struct array *array = symbol->target->array;
	struct diags *diags = ctx->sema->diags;
	struct diag *diag;

	if (!misuse_is_news(ctx->sema, symbol))
		return false;
	if (array->rank == 0)
		diag = diag_error(diags, DIAG_WRONG_RANK, expr->span, "'%s' is a scalar and has no subscripts",
				  array->name);
	else
		diag = diag_error(diags, DIAG_WRONG_RANK, expr->span, "'%s' has %d dimension%s, not %d",
				  array->name, array->rank, array->rank == 1 ? "" : "s", expr->args.n);
	label_declaration(ctx->sema, diag, symbol);
	help_subscripts(ctx->sema, diag, array);
	return false;
}

/* The subscripts of `symbol[...]`; their number must be the rank. */
bool lower_subs(const struct context *ctx, struct symbol *symbol, const struct tree_expr *expr,
		struct expr ***subs)
{
	const struct array *array = symbol->target->array;
	struct context inner = *ctx;
	bool ok = true;

	if (expr->args.n != array->rank)
		return report_rank(ctx, symbol, expr);
	inner.suffix = NULL;
	*subs = arena_new_array(ctx->sema->arena, struct expr *, array->rank);
	for (int i = 0; i < array->rank; i++) {
		(*subs)[i] = lower_index(&inner, expr->args.items[i], PURPOSE_SUBSCRIPT);
		ok = ok && (*subs)[i];
	}
	return ok;
}

/* ---- ranges ---- */

static int declare_variable(const struct context *ctx, const struct tree_range *range,
			    const struct slot *slot)
{
	struct symbol *symbol =
		scope_declare(ctx->sema, ctx->scope, SYMBOL_VARIABLE, range->var, range->var_span);

	symbol->slot = draft_add_slot(ctx->sema, ctx->draft, slot);
	symbol->is_used = true;
	return symbol->slot;
}

static void declare_broken(const struct context *ctx, const struct tree_range *range)
{
	scope_declare(ctx->sema, ctx->scope, SYMBOL_BROKEN, range->var, range->var_span)->is_used = true;
}

static int lower_plain_range(const struct context *ctx, const struct tree_range *range, struct slot *slot)
{
	struct context inner = *ctx;

	inner.suffix = "begin";
	slot->dim.lo = lower_index(&inner, range->lo, PURPOSE_RANGE);
	inner.suffix = "end";
	slot->dim.hi = lower_index(&inner, range->hi, PURPOSE_RANGE);
	if (!slot->dim.lo || !slot->dim.hi) {
		declare_broken(ctx, range);
		return -1;
	}
	slot->dim.hi = affine_normal(ctx->sema->arena, slot->dim.hi);
	return declare_variable(ctx, range, slot);
}

static bool holds_parents(const struct symbol *symbol)
{
	return symbol && symbol->kind == SYMBOL_ARRAY && symbol->target->array->facts & FACT_TREE;
}

static bool is_tree(const struct context *ctx, const struct symbol *symbol, const struct tree_name *name)
{
	const char *parents = arena_printf(ctx->sema->arena, "%s.parent", name->name);
	struct diag *diag;

	if (symbol->kind == SYMBOL_BROKEN)
		return false;
	if (holds_parents(symbol))
		return true;
	if (symbol->kind == SYMBOL_OBJECT && holds_parents(scope_find(ctx->scope, parents))) {
		diag = diag_error(ctx->sema->diags, DIAG_BAD_FACT, name->span,
				  "'%s' is an object, whose parents are '%s'", symbol->name, parents);
		diag_did_you_mean(ctx->sema->diags, diag, name->span, symbol->name, parents);
		return false;
	}
	diag = diag_error(ctx->sema->diags, DIAG_BAD_FACT, name->span, "'%s' is not a tree", symbol->name);
	label_declaration(ctx->sema, diag, symbol);
	diag_help(ctx->sema->diags, diag, (struct span) { 0 }, "parents are declared as index(n)[n] tree");
	return false;
}

static int lower_children(const struct context *ctx, const struct tree_range *range, struct slot *slot)
{
	struct symbol *symbol = scope_resolve(ctx->sema, ctx->scope, &range->parent, USE_SUBJECT);
	struct expr *node = lower_index(ctx, range->lo, PURPOSE_RANGE);

	if (!symbol || !is_tree(ctx, symbol, &range->parent) || !node) {
		declare_broken(ctx, range);
		return -1;
	}
	symbol->target->is_read = true;
	slot->dim.kind = DIM_CHILDREN;
	slot->dim.source.array = symbol->target->array;
	slot->dim.source.span = range->span;
	slot->dim.source.subs = arena_new_array(ctx->sema->arena, struct expr *, 1);
	slot->dim.source.subs[0] = node;
	return declare_variable(ctx, range, slot);
}

int lower_range(const struct context *ctx, const struct tree_range *range, bool is_common)
{
	struct slot slot = { .is_common = is_common };

	slot.dim.kind = DIM_RANGE;
	slot.dim.name = draft_variable_name(ctx->sema, range->var);
	slot.dim.span = range->span;
	return range->is_children ? lower_children(ctx, range, &slot) : lower_plain_range(ctx, range, &slot);
}

struct point point_over(const struct context *ctx, const struct shape *shape, bool is_common,
			struct span span, slot_list *slots)
{
	struct sema *sema = ctx->sema;
	struct point point = { shape->rank, arena_new_array(sema->arena, struct expr *, shape->rank + 1) };

	for (int i = 0; i < shape->rank; i++) {
		struct slot slot = { .is_common = is_common, .is_hidden = true };
		int number;

		slot.dim.kind = DIM_RANGE;
		slot.dim.name = draft_letter(sema, ctx->draft, i);
		slot.dim.span = span;
		slot.dim.lo = shape->lo[i];
		slot.dim.hi = shape->hi[i];
		number = draft_add_slot(sema, ctx->draft, &slot);
		point.at[i] = expr_dim(sema->arena, number, span);
		if (slots)
			vec_push(sema->arena, slots, number);
	}
	return point;
}

/* ---- conditions of branches ---- */

struct expr *guard_and(struct sema *sema, struct expr *a, struct expr *b)
{
	return !a ? b : !b ? a : expr_binary(sema->arena, OP_AND, TYPE_BOOL, a, b);
}

/* The opposite of a comparison is a comparison. */
struct expr *guard_not(struct sema *sema, struct expr *condition)
{
	static const enum expr_op opposite[OP_N] = {
		[OP_EQ] = OP_NE, [OP_NE] = OP_EQ, [OP_LT] = OP_GE,
		[OP_GE] = OP_LT, [OP_LE] = OP_GT, [OP_GT] = OP_LE,
	};
	struct expr *copy;

	if (condition->kind == EXPR_OP && condition->op == OP_NOT)
		return condition->args[0];
	if (condition->kind != EXPR_OP || condition->op < OP_EQ || condition->op > OP_GE)
		return expr_unary(sema->arena, OP_NOT, TYPE_BOOL, condition);
	copy = arena_new(sema->arena, struct expr);
	*copy = *condition;
	copy->op = opposite[condition->op];
	return copy;
}
