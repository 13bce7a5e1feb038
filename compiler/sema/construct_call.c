/* SPDX-License-Identifier: MIT
 *
 * Calls of constructs. Arguments that are not names become arrays (or, when they are scalars, stand for
 * themselves), the construct writes its expansion, and that text is read in a scope of its own, in which
 * `result` is the array to define. Where a variable of the expansion has the name of something of the user's,
 * the latter is given another name for the expansion, and it is written anew. */
#include "sema/sema_private.h"

#include <string.h>

typedef VEC(const char *) name_list;

struct argument {
	struct symbol *symbol;          /* array or object; NULL: a scalar expression */
	const struct tree_expr *expr;
	const char *name;               /* outside of the expansion, or made up */
	bool is_made_up;
	enum scalar_type type;
	bool is_transposed;
};

struct expansion {
	struct sema *sema;
	struct scope *block;            /* where the call stands */
	const struct tree_expr *tree;
	const char *base;
	VEC(struct argument) arguments;
	struct construct_call call;
	struct str text;
	struct shape shape;             /* of the result */
	rename_list renames;
};

/* ---- arguments ---- */

static const char *made_up_name(const struct expansion *e, int number)
{
	const char *name = arena_printf(e->sema->arena, "argument%d", number + 1);

	while (scope_find(e->block, name))
		name = arena_printf(e->sema->arena, "%s_", name);
	return name;
}

static bool has_reduction(const struct tree_expr *expr)
{
	const struct function *function = expr->kind == TREE_CALL ? function_find(expr->name.name) : NULL;

	if (expr->kind == TREE_REDUCE ||
	    (expr->kind == TREE_CALL && (!function || function->kind == FUNCTION_WHOLE)))
		return true;
	for (int i = 0; i < expr->args.n; i++)
		if (has_reduction(expr->args.items[i]))
			return true;
	return false;
}

/* Checks a scalar argument, which is read again where the expansion uses it. A literal does not widen others. */
static bool set_scalar(struct expansion *e, struct argument *argument, const struct tree_expr *expr)
{
	struct context ctx = { .sema = e->sema, .scope = e->block, .base = e->base };
	struct expr *value;

	ctx.draft = draft_new(e->sema, NULL, e->base, expr->span);
	value = lower_value(&ctx, expr);
	ctx.draft->stages.n = 0;
	argument->expr = expr;
	if (value)
		argument->type = value_is_literal(value) ? TYPE_F32 : value->type;
	return value != NULL;
}

static bool set_expression(struct expansion *e, struct argument *argument, const struct tree_expr *expr,
			   int number)
{
	const struct context ctx = { .sema = e->sema, .scope = e->block, .base = e->base };
	const char *name = arena_printf(e->sema->arena, "%s.argument%d", e->base, number + 1);
	struct shape shape = { 0 };

	argument->name = made_up_name(e, number);
	argument->is_made_up = true;
	if (!shape_of(&ctx, expr, &shape))
		return false;
	if (shape.rank == 0 && !has_reduction(expr))
		return set_scalar(e, argument, expr);
	argument->symbol = define_hidden(e->sema, e->block, array_fresh_name(e->sema, name), expr, &shape);
	return argument->symbol != NULL;
}

static bool is_zero_based(struct expansion *e, const struct argument *argument, struct span span)
{
	const struct array *array = argument->symbol->target->array;
	int64_t lo = 0;

	for (int i = 0; i < array->rank; i++)
		if (!expr_is_constant(array->lo[i], &lo) || lo != 0) {
			diag_error(e->sema->diags, DIAG_CONSTRUCT_ARGUMENT, span,
				   "'%s' does not begin at 0; its domain is %s", array->name,
				   shape_text(e->sema, &(struct shape) { array->rank, array->lo, array->hi }));
			return false;
		}
	return true;
}

static bool set_argument(struct expansion *e, struct argument *argument, const struct tree_expr *expr,
			 int number)
{
	struct symbol *symbol;

	if (expr->kind == TREE_CALL && strcmp(expr->name.name, "transpose") == 0 && expr->args.n == 1 &&
	    expr->args.items[0]->kind == TREE_NAME) {
		symbol = scope_find(e->block, name_text(e->sema->arena, &expr->args.items[0]->name));
		if (symbol && symbol->kind == SYMBOL_OBJECT) {
			argument->is_transposed = true;
			return set_argument(e, argument, expr->args.items[0], number);
		}
	}
	symbol =
		expr->kind == TREE_NAME ? scope_find(e->block, name_text(e->sema->arena, &expr->name)) : NULL;
	if (!symbol ||
	    (symbol->kind != SYMBOL_ARRAY && symbol->kind != SYMBOL_OBJECT && symbol->kind != SYMBOL_BROKEN))
		return set_expression(e, argument, expr, number);
	symbol = scope_resolve(e->sema, e->block, &expr->name, USE_SUBJECT);
	argument->symbol = symbol;
	argument->name = symbol->name;
	if (symbol->kind == SYMBOL_ARRAY)
		symbol->target->is_read = true;
	return symbol->kind == SYMBOL_OBJECT ||
	       (symbol->kind == SYMBOL_ARRAY && is_zero_based(e, argument, expr->span));
}

static bool set_arguments(struct expansion *e)
{
	bool ok = true;

	for (int i = 0; i < e->tree->args.n; i++) {
		struct argument argument = { 0 };

		ok = set_argument(e, &argument, e->tree->args.items[i], i) && ok;
		vec_push(e->sema->arena, &e->arguments, argument);
	}
	return ok;
}

/* ---- the call as the construct sees it ---- */

static const char *renamed(const struct expansion *e, const char *name)
{
	return rename_find(&e->renames, name);
}

static void fill_array(const struct expansion *e, struct construct_arg *arg, const struct array *array)
{
	arg->kind = array->rank ? ARG_ARRAY : ARG_SCALAR;
	arg->type = array->type;
	arg->rank = array->rank;
	for (int i = 0; i < array->rank; i++)
		arg->extents[i] = affine_text(e->sema, array->hi[i]);
	if (array->limit && array->facts & FACT_OFFSETS)
		arg->limit = affine_text(e->sema, array->limit);
}

static struct construct_arg fill_argument(const struct expansion *e, int number)
{
	const struct argument *argument = &e->arguments.items[number];
	struct construct_arg arg = { .kind = ARG_SCALAR, .span = e->tree->args.items[number]->span };

	arg.name = renamed(e, argument->name);
	arg.type = argument->type;
	arg.is_transposed = argument->is_transposed;
	if (argument->symbol && argument->symbol->kind == SYMBOL_OBJECT) {
		arg.kind = ARG_OBJECT;
		arg.object = object_in_expansion(e->sema, argument->symbol, arg.name);
	} else if (argument->symbol) {
		fill_array(e, &arg, argument->symbol->target->array);
	}
	return arg;
}

/* Signature and text, under the present names. */
static bool write_expansion(struct expansion *e)
{
	rename_list before = e->sema->renames;
	bool ok;

	e->call = (struct construct_call) { .construct = construct_find(e->tree->name.name),
					   .span = e->tree->span,
					   .arena = e->sema->arena,
					   .diags = e->sema->diags };
	e->text = str_new(e->sema->arena);
	e->sema->renames = e->renames;
	for (int i = 0; i < e->arguments.n; i++)
		vec_push(e->sema->arena, &e->call.args, fill_argument(e, i));
	ok = e->call.construct->signature(&e->call);
	if (ok)
		e->call.construct->expand(&e->call, &e->text);
	e->sema->renames = before;
	return ok;
}

/* ---- names of the expansion against names of the user ---- */

static void collect_ranges(struct arena *arena, const tree_ranges *ranges, name_list *names)
{
	for (int i = 0; i < ranges->n; i++)
		vec_push(arena, names, ranges->items[i]->var);
}

static void collect_expr(struct arena *arena, const struct tree_expr *expr, name_list *names)
{
	if (!expr)
		return;
	collect_ranges(arena, &expr->ranges, names);
	for (int i = 0; i < expr->args.n; i++)
		collect_expr(arena, expr->args.items[i], names);
	for (int i = 0; i < expr->branches.n; i++)
		collect_expr(arena, expr->branches.items[i].value, names);
}

static name_list collect_names(struct arena *arena, const tree_stmts *stmts)
{
	name_list names = { 0 };

	vec_push(arena, &names, "result");
	for (int i = 0; i < stmts->n; i++) {
		const struct tree_stmt *stmt = stmts->items[i];

		for (int j = 0; j < stmt->names.n; j++)
			vec_push(arena, &names, stmt->names.items[j].name);
		collect_ranges(arena, &stmt->ranges, &names);
		collect_expr(arena, stmt->value, &names);
	}
	return names;
}

static bool has_name(const name_list *names, const char *name)
{
	for (int i = 0; i < names->n; i++)
		if (strcmp(names->items[i], name) == 0)
			return true;
	return false;
}

/* True when something of the user's had to be renamed. */
static bool rename_clashes(struct expansion *e, const name_list *names)
{
	for (int i = 0; i < names->n; i++) {
		const char *from = names->items[i], *to = from;

		if (!scope_find(e->block, from) || strcmp(renamed(e, from), from) != 0)
			continue;
		while (scope_find(e->block, to) || has_name(names, to))
			to = arena_printf(e->sema->arena, "%s_", to);
		vec_push(e->sema->arena, &e->renames, ((struct rename) { from, to }));
	}
	return e->renames.n > 0;
}

static tree_stmts parse(const struct expansion *e)
{
	return syntax_parse_statements(e->sema->arena, e->sema->diags, str_text(&e->text), e->tree->span);
}

/* ---- the scope of the expansion ---- */

static struct symbol *add_symbol(struct expansion *e, struct scope *scope, const struct symbol *symbol,
				 const char *name)
{
	struct symbol *copy = arena_new(e->sema->arena, struct symbol);

	*copy = *symbol;
	copy->name = name;
	scope_add(e->sema, scope, copy);
	return copy;
}

/* `from` and, of an object, its members, under the name `to`. */
static void add_renamed(struct expansion *e, struct scope *scope, const struct rename *rename)
{
	size_t length = strlen(rename->from);

	for (const struct scope *s = e->block; s; s = s->up)
		for (int i = 0; i < s->symbols.n; i++) {
			const struct symbol *symbol = s->symbols.items[i];

			if (strncmp(symbol->name, rename->from, length) != 0 ||
			    (symbol->name[length] && symbol->name[length] != '.'))
				continue;
			add_symbol(e, scope, symbol, arena_printf(e->sema->arena, "%s%s", rename->to,
								  symbol->name + length));
		}
}

static void add_made_up(struct expansion *e, struct scope *scope, const struct argument *argument)
{
	struct symbol alias = { .kind = SYMBOL_ALIAS, .expr = argument->expr, .scope = e->block };

	add_symbol(e, scope, argument->symbol ? argument->symbol : &alias, renamed(e, argument->name));
}

static struct scope *expansion_scope(struct expansion *e, const struct symbol *result)
{
	struct scope *scope = scope_new(e->sema, e->block);

	scope->is_expansion = true;
	for (int i = 0; i < e->renames.n; i++)
		add_renamed(e, scope, &e->renames.items[i]);
	for (int i = 0; i < e->arguments.n; i++)
		if (e->arguments.items[i].is_made_up)
			add_made_up(e, scope, &e->arguments.items[i]);
	if (result)
		add_symbol(e, scope, result, "result")->is_used = true;
	return scope;
}

/* ---- a call ---- */

/* The extents that the signature gave as text. */
static bool read_shape(struct expansion *e)
{
	struct str text = str_new(e->sema->arena);
	struct scope *scope = expansion_scope(e, NULL);
	int rank = e->call.result_rank;
	tree_stmts stmts;

	str_add(&text, "temp result : f64");
	for (int i = 0; i < rank; i++)
		str_add(&text, "%s%s%s", i ? ", " : "[", e->call.result_extents[i], i == rank - 1 ? "]" : "");
	str_add(&text, ";");
	stmts = syntax_parse_statements(e->sema->arena, e->sema->diags, str_text(&text), e->tree->span);
	if (stmts.n != 1)
		return false;
	e->shape = (struct shape) { rank, arena_new_array(e->sema->arena, struct expr *, rank + 1),
				    arena_new_array(e->sema->arena, struct expr *, rank + 1) };
	for (int i = 0; i < rank; i++) {
		e->shape.lo[i] = expr_int(e->sema->arena, 0, e->tree->span);
		e->shape.hi[i] = lower_size(e->sema, scope, stmts.items[0]->type->shape.items[i]);
		if (!e->shape.hi[i])
			return false;
	}
	return true;
}

static bool open_expansion(struct expansion *e)
{
	const struct construct *construct = construct_find(e->tree->name.name);
	tree_stmts stmts;
	name_list names;

	if (!construct->signature) {
		struct diag *diag = diag_error(e->sema->diags, DIAG_CONSTRUCT_ARGUMENT, e->tree->span,
					       "'%s' is declared, not called", construct->name);

		diag_help(e->sema->diags, diag, (struct span) { 0 }, "write fixed in X : %s(...);",
			  construct->name);
		return false;
	}
	if (!set_arguments(e) || !write_expansion(e))
		return false;
	stmts = parse(e);
	names = collect_names(e->sema->arena, &stmts);
	if (rename_clashes(e, &names))
		write_expansion(e);
	return read_shape(e);
}

/* The parts of a branch's condition that speak of parameters alone. */
static struct expr *params_condition(struct sema *sema, struct expr *guard)
{
	if (!guard)
		return NULL;
	if (guard->kind == EXPR_OP && guard->op == OP_AND)
		return guard_and(sema, params_condition(sema, guard->args[0]),
				 params_condition(sema, guard->args[1]));
	return expr_last_dim(guard) < 0 ? guard : NULL;
}

static void expand_into(struct expansion *e, struct symbol *result)
{
	struct sema *sema = e->sema;
	struct scope *scope = expansion_scope(e, result);
	const char *prefix = sema->prefix;
	tree_stmts stmts = parse(e);

	sema->prefix = arena_printf(sema->arena, "%s.", result->target->array->name);
	declare_all(sema, scope, &stmts);
	lower_statements(sema, scope, &stmts);
	sema->prefix = prefix;
	result->target->now.is_defined = true;
}

/* ---- as a definition ---- */

static bool is_accumulated_too(const struct sema *sema, const char *name)
{
	for (int i = 0; i < sema->accumulated.n; i++)
		if (strcmp(sema->accumulated.items[i], name) == 0)
			return true;
	return false;
}

static bool is_direct(const struct sema *sema, const struct target *target)
{
	enum array_role role = target->array->role;

	return (role == ROLE_TEMP || role == ROLE_OUT) && target->in_body == sema->in_body &&
	       !is_accumulated_too(sema, target->symbol->name);
}

static bool check_result(const struct expansion *e, const struct target *target)
{
	struct shape shape = shape_of_array(target->array);
	struct sema *sema = e->sema;
	struct diag *diag;

	if (!shape_equal(sema, &shape, &e->shape))
		diag = diag_error(sema->diags, DIAG_SHAPE_MISMATCH, e->tree->span,
				  "'%s' is %s, but this is %s", target->array->name, shape_text(sema, &shape),
				  shape_text(sema, &e->shape));
	else if (!type_is_float(target->array->type) ||
		 (e->call.result_type == TYPE_F64 && target->array->type == TYPE_F32))
		diag = diag_error(sema->diags, DIAG_LOSSY, e->tree->span, "'%s' is %s, but this value is %s",
				  target->array->name, type_name(target->array->type),
				  type_name(e->call.result_type));
	else
		return true;
	label_declaration(sema, diag, target->symbol);
	return false;
}

bool construct_define(struct sema *sema, struct scope *scope, struct target *target,
		      const struct tree_expr *call)
{
	struct expansion e = { .sema = sema, .block = scope, .tree = call, .base = target->array->name };

	if (!is_direct(sema, target))
		return false;
	target->now.is_defined = true;
	if (open_expansion(&e) && check_result(&e, target))
		expand_into(&e, target->symbol);
	return true;
}

/* ---- inside an expression ---- */

static struct symbol *expand_hidden(struct expansion *e)
{
	struct sema *sema = e->sema;
	struct symbol *symbol;
	const char *name;

	if (!open_expansion(e))
		return NULL;
	name = arena_printf(sema->arena, "%s.%s", e->base, e->call.construct->name);
	symbol = array_hidden(sema, array_fresh_name(sema, name), e->call.result_type, &e->shape,
			      e->tree->span);
	symbol->target->now = (struct cells) { 0 };
	expand_into(e, symbol);
	return symbol;
}

struct symbol *construct_result(const struct context *ctx, const struct tree_expr *call)
{
	struct sema *sema = ctx->sema;
	struct expansion e = { .sema = sema, .block = sema->block, .tree = call, .base = ctx->base };
	struct expr *condition = sema->condition;
	struct hidden hidden = { call, NULL };

	for (int i = 0; i < sema->hidden.n; i++)
		if (sema->hidden.items[i].call == call)
			return sema->hidden.items[i].symbol;
	sema->condition = params_condition(sema, ctx->guard);
	hidden.symbol = expand_hidden(&e);
	sema->condition = condition;
	vec_push(sema->arena, &sema->hidden, hidden);
	return hidden.symbol;
}
