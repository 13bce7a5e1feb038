/* SPDX-License-Identifier: MIT
 *
 * Calls: functions of numbers, of whole arrays, and constructs inside expressions. */
#include "sema/sema_private.h"

#include <string.h>

static const struct function functions[] = {
#define FUNCTION(name, kind, op, min_args, max_args) { name, FUNCTION_##kind, OP_##op, min_args, max_args },
#include "sema/functions.def"
#undef FUNCTION
};

enum { N_FUNCTIONS = sizeof functions / sizeof functions[0] };

const struct function *function_find(const char *name)
{
	for (int i = 0; i < N_FUNCTIONS; i++)
		if (strcmp(functions[i].name, name) == 0)
			return &functions[i];
	return NULL;
}

int function_names(const char **names, int max)
{
	int n = 0;

	for (int i = 0; i < N_FUNCTIONS && n < max; i++)
		names[n++] = functions[i].name;
	return n;
}

/* `x.sum()`, `np.exp(x)`. */
static void help_member_call(const struct context *ctx, struct diag *diag, const struct tree_expr *call)
{
	struct sema *sema = ctx->sema;
	const struct symbol *owner = scope_find(ctx->scope, call->name.name);
	bool is_array = owner && owner->kind == SYMBOL_ARRAY;
	const char *advice = is_array ? foreign_member(call->name.member) : foreign_function(call->name.member);
	const char *ours = !owner || is_array ? foreign_call(sema, call, !owner) : NULL;
	const char *text = span_text(sema->diags->sources, sema->arena, call->span);

	if (ours)
		diag_did_you_mean(sema->diags, diag, call->span, text, ours);
	else if (advice)
		diag_help(sema->diags, diag, call->span, "%s", advice);
	else
		diag_help(sema->diags, diag, call->span, "functions are no members: abs(x), sum(x)");
}

static struct expr *report_unknown_function(const struct context *ctx, const struct tree_expr *call)
{
	const char *names[N_FUNCTIONS + 64];
	int n = function_names(names, N_FUNCTIONS);
	struct diag *diag = diag_error(ctx->sema->diags, DIAG_UNKNOWN_FUNCTION, call->name.span,
				       "unknown function '%s'", name_text(ctx->sema->arena, &call->name));
	const char *nearest, *ours = foreign_function(call->name.name);
	enum scalar_type type;

	n += construct_names(names + n, 64);
	nearest = suggest_nearest(call->name.name, names, n);
	if (call->name.member)
		help_member_call(ctx, diag, call);
	else if (ours)
		diag_help(ctx->sema->diags, diag, call->span, "%s", ours);
	else if (type_from_name(call->name.name, &type))
		diag_help(ctx->sema->diags, diag, call->span, "a conversion is written cast<%s>(x)", call->name.name);
	else if (scope_find(ctx->scope, call->name.name))
		diag_help(ctx->sema->diags, diag, call->span, "elements of arrays are written %s[...]",
			  call->name.name);
	else if (nearest)
		diag_did_you_mean(ctx->sema->diags, diag, call->name.span, call->name.name, nearest);
	return NULL;
}

/* `max(x)`, `min(x)`: of the elements of x. */
static void help_one_argument(struct sema *sema, struct diag *diag, const struct function *function,
			      const struct tree_expr *call)
{
	const char *text = span_text(sema->diags->sources, sema->arena, call->args.items[0]->span);

	if (function->op == OP_MAX)
		diag_help(sema->diags, diag, call->span, "the largest element of an array is maxval(%s)", text);
	else
		diag_help(sema->diags, diag, call->span,
			  "the smallest element of an array is taken over a range, as in min(i in 0..n) x[i]");
}

static bool check_count(const struct context *ctx, const struct function *function,
			const struct tree_expr *call)
{
	int n = call->args.n;
	struct diag *diag;

	if (n >= function->min_args && n <= function->max_args)
		return true;
	if (function->min_args == function->max_args)
		diag = diag_error(ctx->sema->diags, DIAG_WRONG_COUNT, call->span, "'%s' takes %d argument%s, not %d",
				  function->name, function->min_args, function->min_args == 1 ? "" : "s", n);
	else
		diag = diag_error(ctx->sema->diags, DIAG_WRONG_COUNT, call->span,
				  "'%s' takes %d to %d arguments, not %d", function->name, function->min_args,
				  function->max_args, n);
	if (n == 1 && (function->op == OP_MIN || function->op == OP_MAX))
		help_one_argument(ctx->sema, diag, function, call);
	return false;
}

/* ---- functions of numbers ---- */

static struct expr *lower_min_max(struct sema *sema, enum expr_op op, struct expr **args, int n,
				  struct span span)
{
	struct expr *value = args[0];

	for (int i = 1; i < n && value; i++)
		value = value_min_max(sema, op, value, args[i], span);
	return value;
}

static struct expr *lower_number_call(const struct context *ctx, const struct function *function,
				      const struct tree_expr *call)
{
	struct sema *sema = ctx->sema;
	struct expr **args = arena_new_array(sema->arena, struct expr *, call->args.n);
	bool ok = true;

	for (int i = 0; i < call->args.n; i++) {
		args[i] = lower_value(ctx, call->args.items[i]);
		ok = ok && args[i];
	}
	if (!ok)
		return NULL;
	if (function->kind == FUNCTION_REAL)
		return value_real_function(sema, function->op, args, call->args.n, call->span);
	if (function->kind == FUNCTION_NUMBER)
		return value_number_function(sema, function->op, args[0], call->span);
	if (function->kind == FUNCTION_SELECT)
		return value_select(sema, args[0], args[1], args[2], call->span);
	return lower_min_max(sema, function->op, args, call->args.n, call->span);
}

/* ---- functions of whole arrays ---- */

static struct expr *lower_transpose(const struct context *ctx, const struct tree_expr *call)
{
	struct expr *at[2];
	struct point swapped = { 2, at };

	if (!ctx->point || ctx->point->rank != 2) {
		diag_error(ctx->sema->diags, DIAG_WRONG_RANK, call->span,
			   "'transpose' gives a matrix, here one value is needed");
		return NULL;
	}
	at[0] = ctx->point->at[1];
	at[1] = ctx->point->at[0];
	return lower_value_at(ctx, call->args.items[0], &swapped);
}

static struct expr *lower_construct(const struct context *ctx, const struct tree_expr *call)
{
	struct symbol *symbol = construct_result(ctx, call);
	struct target *target = symbol ? symbol->target : NULL;
	struct diag *diag;

	if (!symbol)
		return NULL;
	if (ctx->point && ctx->point->rank == target->array->rank)
		return read_at_point(ctx, target, call->span);
	diag = diag_error(ctx->sema->diags, DIAG_WRONG_RANK, call->span,
			  "'%s' gives an array, here one value is needed", call->name.name);
	diag_help(ctx->sema->diags, diag, call->span, "it defines an array as a whole, as in x = %s(...);",
		  call->name.name);
	return NULL;
}

static struct expr *report_not_here(const struct context *ctx, const struct tree_expr *call)
{
	diag_error(ctx->sema->diags, DIAG_NOT_AFFINE, call->span,
		   "'%s' cannot stand in a subscript, range, condition "
		   "or size",
		   call->name.name);
	return NULL;
}

struct expr *lower_call(const struct context *ctx, const struct tree_expr *call)
{
	const struct function *function = call->name.member ? NULL : function_find(call->name.name);

	if (!function && !call->name.member && construct_find(call->name.name))
		return ctx->purpose == PURPOSE_VALUE ? lower_construct(ctx, call)
						     : report_not_here(ctx, call);
	if (!function)
		return report_unknown_function(ctx, call);
	if (!check_count(ctx, function, call))
		return NULL;
	switch (function->kind) {
	case FUNCTION_REAL:
	case FUNCTION_NUMBER:
	case FUNCTION_MIN_MAX:
	case FUNCTION_SELECT:
		return lower_number_call(ctx, function, call);
	case FUNCTION_STENCIL:
		return lower_stencil(ctx, call);
	case FUNCTION_WHOLE:
		return lower_whole_reduction(ctx, call);
	case FUNCTION_MATMUL:
		return lower_matmul(ctx, call);
	case FUNCTION_TRANSPOSE:
		break;
	}
	return lower_transpose(ctx, call);
}
