/* SPDX-License-Identifier: MIT
 *
 * The statements of a block, one after the other, and those that are neither a definition nor a declaration:
 * `assume`, `specialize`, `iterate`. */
#include <inttypes.h>
#include <string.h>

#include "sema/sema_private.h"

/* ---- what is known of parameters ---- */

static void lower_assume(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt)
{
	const struct context ctx = { .sema = sema, .scope = scope, .base = "" };
	struct expr *condition = lower_condition(&ctx, stmt->value, true);

	if (condition)
		vec_push(sema->arena, &sema->module->assumptions, condition);
}

static void report_specialize(struct sema *sema, const struct symbol *symbol, struct span span, const char *what)
{
	struct diag *diag = diag_error(sema->diags, DIAG_BAD_PARAM, span, "'%s' is %s; %s", symbol->name,
				       symbol_what(symbol), what);

	label_declaration(sema, diag, symbol);
}

/* ---- trees that are known ---- */

static bool is_one_tree(const struct array *array)
{
	return array->role == ROLE_IN && array->is_fixed && array->facts & FACT_TREE && array->rank == 1 &&
	       !array->segments;
}

/* The parents of a tree: of an object, or a fixed array. NULL: it is neither. */
static struct array *tree_of(const struct sema *sema, const struct symbol *symbol)
{
	for (int i = 0; i < sema->module->arrays.n; i++) {
		struct array *array = sema->module->arrays.items[i];

		if ((symbol->kind == SYMBOL_OBJECT || symbol->kind == SYMBOL_ARRAY) &&
		    array_is_of(array, symbol->name) && is_one_tree(array))
			return array;
	}
	return NULL;
}

/* The number of nodes becomes known, too. False after a diagnostic. */
static bool specialize_nodes(struct sema *sema, const struct array *tree, const struct tree_stmt *stmt)
{
	struct expr *nodes = tree->hi[0];
	struct param *param = nodes->kind == EXPR_PARAM ? &sema->module->params.items[nodes->index] : NULL;
	int64_t value;

	if (param && !param->is_specialized) {
		param->is_specialized = true;
		param->value = stmt->n_parents;
	}
	if (!expr_is_known(sema->module, nodes, &value) || value == stmt->n_parents)
		return true;
	diag_error(sema->diags, DIAG_BAD_PARAM, stmt->span,
		   "the tree in '%s' has %" PRId64 " nodes, but that of '%s' has %" PRId64, stmt->text,
		   stmt->n_parents, stmt->names.items[0].name, value);
	return false;
}

/* What stands where the name of a file would: that name without its quotes, it seems, or something else. */
static void report_no_file(struct sema *sema, const struct symbol *symbol, const struct tree_stmt *stmt)
{
	const struct tree_expr *value = stmt->value;
	const char *text = span_text(sema->diags->sources, sema->arena, value->span), *name = symbol->name;
	bool is_file = value->kind != TREE_FLOAT && strchr(text, '.');
	const char *file = is_file ? text : "cell.swc";
	const char *use = arena_printf(sema->arena, stmt->asked ? "--specialize='%s=\"%s\"'"
								   : "specialize %s = \"%s\";", name, file);
	struct diag *diag = diag_error(sema->diags, DIAG_BAD_PARAM, value->span,
				       "'%s' is a tree, which is specialized with the name of a file in quotes", name);

	label_declaration(sema, diag, symbol);
	if (is_file)
		diag_fix(sema->diags, diag, value->span, arena_printf(sema->arena, "\"%s\"", file), "write %s", use);
	else
		diag_help(sema->diags, diag, value->span, "as in %s", use);
}

static void specialize_tree(struct sema *sema, const struct symbol *symbol, const struct tree_stmt *stmt)
{
	struct array *tree = tree_of(sema, symbol);

	if (!tree) {
		report_specialize(sema, symbol, stmt->names.items[0].span,
				  "only a tree that is fixed is specialized with a file");
		return;
	}
	if (tree->known.parents) {
		diag_error(sema->diags, DIAG_BAD_PARAM, stmt->span, "'%s' is specialized already", symbol->name);
		return;
	}
	if (!stmt->parents || !specialize_nodes(sema, tree, stmt))
		return;
	tree->known.parents = stmt->parents;
	tree->known.n = stmt->n_parents;
}

/* ---- sizes that are known ---- */

static void specialize_size(struct sema *sema, const struct symbol *symbol, const struct tree_stmt *stmt)
{
	struct param *param = symbol->kind == SYMBOL_PARAM ? &sema->module->params.items[symbol->param] : NULL;
	int64_t value;

	if (!param && tree_of(sema, symbol)) {
		report_no_file(sema, symbol, stmt);
		return;
	}
	if (!param || param->is_scalar) {
		report_specialize(sema, symbol, stmt->names.items[0].span,
				  "only sizes and fixed trees are specialized");
		return;
	}
	if (!const_integer(sema, stmt->value, "the value of a size", &value))
		return;
	if (value < 0 || param->is_specialized) {
		diag_error(sema->diags, DIAG_BAD_PARAM, stmt->value->span,
			   value < 0 ? "a size cannot be negative" : "'%s' is specialized already",
			   symbol->name);
		return;
	}
	param->is_specialized = true;
	param->value = value;
	param->specialized = stmt->asked ? (struct span) { 0 } : stmt->span;
}

/* Is it something to specialize? */
static bool is_specialized(const struct sema *sema, const struct symbol *symbol)
{
	const struct param *param = symbol->kind == SYMBOL_PARAM ? &sema->module->params.items[symbol->param] : NULL;

	return param ? !param->is_scalar && !param->is_loop : tree_of(sema, symbol) != NULL;
}

static void lower_specialize(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt)
{
	const struct tree_name *name = &stmt->names.items[0];
	struct symbol *symbol;

	if (stmt->asked && !asked_is_meant(sema, stmt->asked, is_specialized))
		return;
	symbol = scope_resolve(sema, scope, name, USE_VALUE);
	if (!symbol || symbol->kind == SYMBOL_BROKEN)
		return;
	if (stmt->text)
		specialize_tree(sema, symbol, stmt);
	else
		specialize_size(sema, symbol, stmt);
}

/* ---- the loop ---- */

static bool check_loop(struct sema *sema, const struct tree_stmt *stmt)
{
	struct diag *diag;

	if (sema->in_body) {
		diag = diag_error(sema->diags, DIAG_MISPLACED, stmt->span, "loops do not nest");
		diag_help(sema->diags, diag, (struct span) { 0 },
			  "steps inside of a step are a recurrence over a dimension, as in func v[t in 0..m] : f64 = "
			  "case { t == 0 : x; else : 0.5*v[t-1]; };");
		return false;
	}
	if (sema->loop) {
		diag = diag_error(sema->diags, DIAG_NOT_SUPPORTED, stmt->span,
				  "a pipeline has at most one 'iterate'");
		diag_label(sema->diags, diag, sema->loop->span, "the first one is here");
		diag_help(sema->diags, diag, (struct span) { 0 },
			  "one loop does what both would, with 'case'; or another pipeline goes on with these results");
		return false;
	}
	if (stmt->ranges.n != 1 || !stmt->ranges.items[0])
		return false;
	if (!stmt->ranges.items[0]->is_children)
		return true;
	diag_error(sema->diags, DIAG_MISPLACED, stmt->ranges.items[0]->span,
		   "a loop runs over a range of integers");
	return false;
}

/* The variable of the loop, a parameter to its body. */
static bool declare_loop(struct sema *sema, struct scope *scope, const struct tree_range *range)
{
	const struct context ctx = { .sema = sema, .scope = sema->scope, .base = "" };
	struct loop *loop = &sema->module->loop;
	struct symbol *symbol;

	loop->lo = lower_index(&ctx, range->lo, PURPOSE_SIZE);
	loop->hi = lower_index(&ctx, range->hi, PURPOSE_SIZE);
	loop->var = range->var;
	loop->span = range->span;
	loop->param = module_add_param(sema->module, range->var, range->var_span);
	sema->module->params.items[loop->param].is_loop = true;
	symbol = scope_declare(sema, scope, SYMBOL_PARAM, range->var, range->var_span);
	symbol->param = loop->param;
	symbol->is_used = true;
	return loop->lo && loop->hi;
}

static void lower_until(struct sema *sema, struct scope *scope, const struct tree_expr *until)
{
	const struct context ctx = {
		.sema = sema, .scope = scope, .purpose = PURPOSE_UNTIL, .base = "until"
	};
	struct expr *value = lower_value(&ctx, until);

	if (value && value_expect_bool(sema, value, "'until'"))
		sema->module->loop.until = value;
}

/* What a loop defines that is not lowered is not said to be undefined. */
static void excuse_targets(struct sema *sema, const struct scope *scope, const tree_stmts *stmts)
{
	for (int i = 0; i < stmts->n; i++) {
		const struct tree_stmt *stmt = stmts->items[i];
		struct symbol *symbol = NULL;

		if (stmt->target)
			symbol = scope_find(scope, name_text(sema->arena, &stmt->target->name));
		if (symbol && symbol->kind == SYMBOL_ARRAY)
			symbol->target->is_excused = true;
		excuse_targets(sema, scope, &stmt->body);
	}
}

static void lower_iterate(struct sema *sema, const struct scope *around, const struct tree_stmt *stmt)
{
	struct scope *scope = scope_new(sema, sema->scope);
	bool is_loop = check_loop(sema, stmt);

	sema->loop = is_loop ? stmt : sema->loop;
	if (!is_loop || !declare_loop(sema, scope, stmt->ranges.items[0])) {
		excuse_targets(sema, around, &stmt->body);
		return;
	}
	if (stmt->value)
		lower_until(sema, scope, stmt->value);
	sema->in_body = true;
	declare_all(sema, scope, &stmt->body);
	lower_statements(sema, scope, &stmt->body);
	sema->in_body = false;
	sema->body_scope = scope;
}

/* ---- blocks ---- */

static void report_outside(struct sema *sema, const struct tree_stmt *stmt, const char *word)
{
	diag_error(sema->diags, DIAG_MISPLACED, stmt->span, "'%s' stands outside the loop", word);
}

static void lower_global(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt)
{
	if (sema->in_body)
		report_outside(sema, stmt,
			       stmt->kind == TREE_ASSUME       ? "assume"
			       : stmt->kind == TREE_SPECIALIZE ? "specialize"
							       : "schedule");
	else if (stmt->kind == TREE_ASSUME)
		lower_assume(sema, scope, stmt);
	else if (stmt->kind == TREE_SPECIALIZE)
		lower_specialize(sema, scope, stmt);
}

static void lower_statement(struct sema *sema, struct scope *scope, const struct tree_stmt *stmt)
{
	sema->stmt = stmt;
	switch (stmt->kind) {
	case TREE_PARAM:
		break;
	case TREE_DECL:
		lower_declaration(sema, scope, stmt);
		break;
	case TREE_FUNC:
		lower_func(sema, scope, stmt);
		break;
	case TREE_DEFINE:
		lower_define(sema, scope, stmt);
		break;
	case TREE_ACCUMULATE:
		lower_accumulate(sema, scope, stmt);
		break;
	case TREE_ITERATE:
		lower_iterate(sema, scope, stmt);
		break;
	case TREE_ASSUME:
	case TREE_SPECIALIZE:
	case TREE_SCHEDULE:
		lower_global(sema, scope, stmt);
		break;
	}
}

void lower_statements(struct sema *sema, struct scope *scope, const tree_stmts *stmts)
{
	const struct tree_stmt *stmt = sema->stmt;
	struct scope *block = sema->block;

	sema->block = scope;
	for (int i = 0; i < stmts->n; i++)
		lower_statement(sema, scope, stmts->items[i]);
	sema->block = block;
	sema->stmt = stmt;
}
