/* SPDX-License-Identifier: MIT
 *
 * Whether two trees say the same. Of two programs, names that begin with the program's own prefix are the same where
 * what follows is: candidates of a pipeline differ in nothing else when they come to the same kernels. */
#include <string.h>

#include "kernel/kernel.h"

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

static bool are_same_exprs(struct k_expr *const *a, int n_a, struct k_expr *const *b, int n_b,
			   const struct pair *pair)
{
	bool same = n_a == n_b;

	for (int i = 0; same && i < n_a; i++)
		same = is_same_expr(a[i], b[i], pair);
	return same;
}

#define ARE_SAME(x, y, pair) are_same_exprs((x).items, (x).n, (y).items, (y).n, pair)

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
	       ARE_SAME(a->args, b->args, pair) && ARE_SAME(a->constants, b->constants, pair);
}

static bool is_same_stmt(const struct k_stmt *a, const struct k_stmt *b, const struct pair *pair);

static bool is_same_block(const struct k_block *a, const struct k_block *b, const struct pair *pair)
{
	bool same = a->stmts.n == b->stmts.n;

	for (int i = 0; same && i < a->stmts.n; i++)
		same = is_same_stmt(a->stmts.items[i], b->stmts.items[i], pair);
	return same;
}

static bool is_same_let(const struct k_let *a, const struct k_let *b, const struct pair *pair)
{
	return k_type_is_equal(&a->type, &b->type) && is_same_text(a->name, b->name, pair) && a->space == b->space &&
	       a->is_variable == b->is_variable && a->is_known == b->is_known && a->is_padded == b->is_padded &&
	       a->is_result == b->is_result && is_same_expr(a->value, b->value, pair) &&
	       ARE_SAME(a->extents, b->extents, pair);
}

static bool is_same_store(const struct k_store *a, const struct k_store *b, const struct pair *pair)
{
	return a->op == b->op && a->mode == b->mode && a->is_interim == b->is_interim &&
	       is_same_expr(a->value, b->value, pair) && ARE_SAME(a->targets, b->targets, pair);
}

static bool are_same_reductions(const struct k_loop *a, const struct k_loop *b, const struct pair *pair)
{
	bool same = a->reductions.n == b->reductions.n;

	for (int i = 0; same && i < a->reductions.n; i++)
		same = is_same_text(a->reductions.items[i].op, b->reductions.items[i].op, pair) &&
		       is_same_text(a->reductions.items[i].name, b->reductions.items[i].name, pair);
	return same;
}

static bool is_same_share(const struct k_share *a, const struct k_share *b, const struct pair *pair)
{
	return a->starts_team == b->starts_team && a->is_dynamic == b->is_dynamic &&
	       is_same_expr(a->chunk, b->chunk, pair) && is_same_expr(a->threads, b->threads, pair);
}

static bool is_same_row(const struct k_row *a, const struct k_row *b, const struct pair *pair)
{
	return a->is_narrow == b->is_narrow && is_same_expr(a->length, b->length, pair);
}

static bool is_same_loop(const struct k_loop *a, const struct k_loop *b, const struct pair *pair)
{
	return a->kind == b->kind && k_type_is_equal(&a->type, &b->type) && a->is_simd == b->is_simd &&
	       a->is_down == b->is_down && a->is_strided == b->is_strided && a->is_short == b->is_short &&
	       is_same_text(a->name, b->name, pair) &&
	       is_same_expr(a->first, b->first, pair) && is_same_expr(a->bound, b->bound, pair) &&
	       is_same_expr(a->step, b->step, pair) && is_same_expr(a->number, b->number, pair) &&
	       is_same_expr(a->count, b->count, pair) && is_same_share(&a->share, &b->share, pair) &&
	       are_same_reductions(a, b, pair) && is_same_row(&a->row, &b->row, pair) &&
	       is_same_block(&a->body, &b->body, pair);
}

static bool is_same_while(const struct k_while *a, const struct k_while *b, const struct pair *pair)
{
	return a->kind == b->kind && is_same_block(&a->before, &b->before, pair) &&
	       is_same_expr(a->condition, b->condition, pair) && !a->after == !b->after &&
	       (!a->after || is_same_stmt(a->after, b->after, pair)) && is_same_block(&a->body, &b->body, pair);
}

static bool is_same_if(const struct k_if *a, const struct k_if *b, const struct pair *pair)
{
	return a->has_otherwise == b->has_otherwise && is_same_expr(a->condition, b->condition, pair) &&
	       is_same_block(&a->then, &b->then, pair) && is_same_block(&a->otherwise, &b->otherwise, pair);
}

static bool is_same_stmt(const struct k_stmt *a, const struct k_stmt *b, const struct pair *pair)
{
	if (a->kind != b->kind || !is_same_expr(a->value, b->value, pair))
		return false;
	switch (a->kind) {
	case KS_BLOCK: case KS_PARALLEL:
		return is_same_block(&a->body, &b->body, pair);
	case KS_LET:
		return is_same_let(&a->let, &b->let, pair);
	case KS_STORE:
		return is_same_store(&a->store, &b->store, pair);
	case KS_LOOP:
		return is_same_loop(&a->loop, &b->loop, pair);
	case KS_WHILE:
		return is_same_while(&a->repeat, &b->repeat, pair);
	case KS_IF:
		return is_same_if(&a->branch, &b->branch, pair);
	case KS_COMMENT:
		return is_same_text(a->text, b->text, pair);
	case KS_RECORD:
		return is_same_text(a->record.name, b->record.name, pair) &&
		       is_same_block(&a->record.fields, &b->record.fields, pair);
	case KS_CALL: case KS_RETURN: case KS_BREAK: case KS_CONTINUE: case KS_UNUSED: case KS_BLANK: case KS_N:
		break;
	}
	return true;
}

static bool is_same_function(const struct k_function *a, const struct k_function *b, const struct pair *pair)
{
	bool same = a->kind == b->kind && is_same_text(a->name, b->name, pair) && a->params.n == b->params.n &&
		    is_same_expr(a->bounds, b->bounds, pair);

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
		same = is_same_function(a->functions.items[i], b->functions.items[i], &pair);
	return same;
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
