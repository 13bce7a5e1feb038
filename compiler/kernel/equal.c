/* SPDX-License-Identifier: MIT
 *
 * Whether two trees say the same. Of two programs, names that begin with the program's own prefix are the same where
 * what follows is: candidates of a pipeline differ in nothing else when they come to the same kernels. */
#include <string.h>

#include "kernel/kernel_private.h"

struct pair {
	const char *a, *b;              /* prefixes; NULL: of expressions and blocks */
	struct arena *arena;
	k_integers_list *integers;    /* they may differ; NULL: they may not */
};

static const char *without_prefix(const char *name, const char *prefix)
{
	const char *at = prefix ? strstr(name, prefix) : NULL;

	return at ? at + strlen(prefix) : NULL;
}

static bool is_same_text(const char *a, const char *b, const struct pair *pair)
{
	const char *rest_a, *rest_b;

	if (!a || !b)
		return a == b;
	if (!strcmp(a, b))
		return true;
	rest_a = without_prefix(a, pair->a);
	rest_b = without_prefix(b, pair->b);
	return rest_a && rest_b && !strcmp(rest_a, rest_b);
}

bool k_type_is_equal(const struct k_type *a, const struct k_type *b)
{
	return a->is_const == b->is_const && a->is_pointer == b->is_pointer && a->is_restrict == b->is_restrict &&
	       (a->name == b->name || (a->name && b->name && !strcmp(a->name, b->name)));
}

static bool is_same_expr(const struct k_expr *a, const struct k_expr *b, const struct pair *pair);

static bool are_same_exprs(const k_expr_list *a, const k_expr_list *b, const struct pair *pair)
{
	bool same = a->n == b->n;

	for (int i = 0; same && i < a->n; i++)
		same = is_same_expr(a->items[i], b->items[i], pair);
	return same;
}

static bool are_integers(const struct k_expr *a, const struct k_expr *b, const struct pair *pair)
{
	return pair->integers && a->kind == KE_INT && b->kind == KE_INT && !a->text && !b->text;
}

static bool is_same_expr(const struct k_expr *a, const struct k_expr *b, const struct pair *pair)
{
	if (!a || !b)
		return a == b;
	if (are_integers(a, b, pair)) {
		vec_push(pair->arena, pair->integers, ((struct k_integers) { a, b->integer }));
		return true;
	}
	return a->kind == b->kind && a->op == b->op && a->integer == b->integer && a->is_arrow == b->is_arrow &&
	       is_same_text(a->text, b->text, pair) && k_type_is_equal(&a->of, &b->of) &&
	       are_same_exprs(&a->args, &b->args, pair) && are_same_exprs(&a->constants, &b->constants, pair);
}

static bool is_same_stmt(const struct k_stmt *a, const struct k_stmt *b, const struct pair *pair);

static bool is_same_block(const struct k_block *a, const struct k_block *b, const struct pair *pair)
{
	bool same = a->stmts.n == b->stmts.n;

	for (int i = 0; same && i < a->stmts.n; i++)
		same = is_same_stmt(a->stmts.items[i], b->stmts.items[i], pair);
	return same;
}

/* ---- statements: what they say besides their parts ---- */

static bool is_same_let(const struct k_let *a, const struct k_let *b, const struct pair *pair)
{
	return k_type_is_equal(&a->type, &b->type) && is_same_text(a->name, b->name, pair) && a->space == b->space &&
	       a->is_variable == b->is_variable && a->is_known == b->is_known && a->is_padded == b->is_padded &&
	       a->is_result == b->is_result;
}

static bool is_same_store(const struct k_store *a, const struct k_store *b)
{
	return a->op == b->op && a->mode == b->mode && a->is_interim == b->is_interim;
}

static bool are_same_reductions(const struct k_loop *a, const struct k_loop *b, const struct pair *pair)
{
	bool same = a->reductions.n == b->reductions.n;

	for (int i = 0; same && i < a->reductions.n; i++)
		same = is_same_text(a->reductions.items[i].op, b->reductions.items[i].op, pair) &&
		       is_same_text(a->reductions.items[i].name, b->reductions.items[i].name, pair);
	return same;
}

static bool is_same_loop(const struct k_loop *a, const struct k_loop *b, const struct pair *pair)
{
	return a->kind == b->kind && k_type_is_equal(&a->type, &b->type) && a->is_simd == b->is_simd &&
	       a->is_down == b->is_down && a->is_strided == b->is_strided && a->is_short == b->is_short &&
	       a->share.starts_team == b->share.starts_team && a->share.is_dynamic == b->share.is_dynamic &&
	       a->row.is_narrow == b->row.is_narrow && a->row.is_neutral == b->row.is_neutral &&
	       is_same_text(a->name, b->name, pair) &&
	       are_same_reductions(a, b, pair);
}

static bool are_same_properties(const struct k_stmt *a, const struct k_stmt *b, const struct pair *pair)
{
	switch (a->kind) {
	case KS_LET: return is_same_let(&a->let, &b->let, pair);
	case KS_STORE: return is_same_store(&a->store, &b->store);
	case KS_LOOP: return is_same_loop(&a->loop, &b->loop, pair);
	case KS_WHILE: return a->repeat.kind == b->repeat.kind;
	case KS_IF: return a->branch.has_otherwise == b->branch.has_otherwise;
	case KS_COMMENT: return is_same_text(a->text, b->text, pair);
	case KS_RECORD: return is_same_text(a->record.name, b->record.name, pair);
	case KS_BLOCK: return is_same_text(a->part, b->part, pair) && a->is_apart == b->is_apart;
	case KS_PARALLEL: case KS_CALL: case KS_RETURN: case KS_BREAK: case KS_CONTINUE:
	case KS_UNUSED: case KS_BLANK: case KS_N: break;
	}
	return true;
}

static bool is_same_part(const void *a, const void *b, enum k_part_sort sort, const struct pair *pair)
{
	const struct k_stmt *const *stmt_a = a, *const *stmt_b = b;

	switch (sort) {
	case K_PART_EXPR: return is_same_expr(*(struct k_expr *const *) a, *(struct k_expr *const *) b, pair);
	case K_PART_EXPRS: return are_same_exprs(a, b, pair);
	case K_PART_BLOCK:
	case K_PART_FIELDS: return is_same_block(a, b, pair);
	case K_PART_STMT: return *stmt_a && *stmt_b ? is_same_stmt(*stmt_a, *stmt_b, pair) : *stmt_a == *stmt_b;
	case K_PART_END: break;
	}
	return true;
}

static bool is_same_stmt(const struct k_stmt *a, const struct k_stmt *b, const struct pair *pair)
{
	bool same = a->kind == b->kind && are_same_properties(a, b, pair);

	for (const struct k_part *part = k_parts(a); same && part->sort != K_PART_END; part++)
		same = is_same_part(k_part_at(a, part), k_part_at(b, part), part->sort, pair);
	return same;
}

static bool is_same_team(const struct k_team *a, const struct k_team *b)
{
	return a->lanes == b->lanes && a->group == b->group && a->width == b->width && a->warps == b->warps &&
	       a->is_rolled == b->is_rolled;
}

static bool is_same_function(const struct k_function *a, const struct k_function *b, const struct pair *pair)
{
	bool same = a->kind == b->kind && a->params.n == b->params.n &&
		    is_same_expr(a->bounds, b->bounds, pair) && is_same_team(&a->team, &b->team);

	for (int i = 0; same && i < a->params.n; i++)
		same = k_type_is_equal(&a->params.items[i].type, &b->params.items[i].type) &&
		       is_same_text(a->params.items[i].name, b->params.items[i].name, pair);
	return same && is_same_block(&a->body, &b->body, pair);
}

bool k_program_is_equal(const struct k_program *a, const char *prefix_a, const struct k_program *b,
			const char *prefix_b)
{
	const struct pair pair = { prefix_a, prefix_b, NULL, NULL };
	bool same = a->functions.n == b->functions.n;

	for (int i = 0; same && i < a->functions.n; i++)
		same = is_same_text(a->functions.items[i]->name, b->functions.items[i]->name, &pair) &&
		       is_same_function(a->functions.items[i], b->functions.items[i], &pair);
	return same;
}

bool k_function_is_equal(const struct k_function *a, const struct k_function *b)
{
	const struct pair pair = { .a = NULL };

	return is_same_text(a->qualifiers, b->qualifiers, &pair) && is_same_function(a, b, &pair);
}

bool k_expr_is_equal(const struct k_expr *a, const struct k_expr *b)
{
	return is_same_expr(a, b, &(struct pair) { 0 });
}

bool k_block_is_similar(struct arena *arena, const struct k_block *a, const struct k_block *b,
			k_integers_list *integers)
{
	const struct pair pair = { .arena = arena, .integers = integers };

	return is_same_block(a, b, &pair);
}
