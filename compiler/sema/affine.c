/* SPDX-License-Identifier: MIT
 *
 * Integer expressions in normal form: a sum of atoms with constant factors and a constant, where an atom is a
 * parameter, a dim, or an operation that is not linear (a quotient, a remainder, a minimum, a maximum, or,
 * before it is refused, a product). Two extents are equal when their difference has the normal form 0. The
 * text of a normal form is canonical: constructs compare extents by it. */
#include "sema/sema_private.h"

#include <inttypes.h>
#include <string.h>

struct affine_term {
	struct expr *atom;
	int64_t factor;
};

struct affine {
	int64_t constant;
	VEC(struct affine_term) terms;
};

/* Wraps around: what overflows is reported where it is computed, not here. */
static int64_t wrap_add(int64_t a, int64_t b)
{
	return (int64_t) ((uint64_t) a + (uint64_t) b);
}

static int64_t wrap_multiply(int64_t a, int64_t b)
{
	return (int64_t) ((uint64_t) a * (uint64_t) b);
}

static void add_term(struct arena *arena, struct affine *sum, struct expr *atom, int64_t factor)
{
	struct affine_term term = { atom, factor };

	for (int i = 0; i < sum->terms.n; i++)
		if (expr_equal(sum->terms.items[i].atom, atom)) {
			sum->terms.items[i].factor = wrap_add(sum->terms.items[i].factor, factor);
			return;
		}
	vec_push(arena, &sum->terms, term);
}

/* An operation that is not linear, with operands in normal form. */
static struct expr *normal_operation(struct arena *arena, const struct expr *expr)
{
	struct expr *copy = arena_new(arena, struct expr);
	int n = op_arity(expr->op);

	*copy = *expr;
	copy->args = arena_new_array(arena, struct expr *, n);
	for (int i = 0; i < n; i++)
		copy->args[i] = affine_normal(arena, expr->args[i]);
	return copy;
}

static void add_expr(struct arena *arena, struct affine *sum, const struct expr *expr, int64_t factor);

static void add_product(struct arena *arena, struct affine *sum, const struct expr *expr, int64_t factor)
{
	int64_t constant;

	if (expr_is_constant(affine_normal(arena, expr->args[0]), &constant))
		add_expr(arena, sum, expr->args[1], wrap_multiply(factor, constant));
	else if (expr_is_constant(affine_normal(arena, expr->args[1]), &constant))
		add_expr(arena, sum, expr->args[0], wrap_multiply(factor, constant));
	else
		add_term(arena, sum, normal_operation(arena, expr), factor);
}

/* sum += factor * expr */
static void add_expr(struct arena *arena, struct affine *sum, const struct expr *expr, int64_t factor)
{
	if (expr->kind == EXPR_INT) {
		sum->constant = wrap_add(sum->constant, wrap_multiply(factor, expr->integer));
	} else if (expr->kind != EXPR_OP) {
		add_term(arena, sum, (struct expr *) (uintptr_t) expr, factor);
	} else if (expr->op == OP_ADD || expr->op == OP_SUB) {
		add_expr(arena, sum, expr->args[0], factor);
		add_expr(arena, sum, expr->args[1], expr->op == OP_ADD ? factor : wrap_multiply(factor, -1));
	} else if (expr->op == OP_NEG) {
		add_expr(arena, sum, expr->args[0], wrap_multiply(factor, -1));
	} else if (expr->op == OP_MUL) {
		add_product(arena, sum, expr, factor);
	} else {
		add_term(arena, sum, normal_operation(arena, expr), factor);
	}
}

/* Dims, then parameters, by number; then operations in the order of writing; what is added before what is
 * taken off. */
static int term_rank(const struct affine_term *term)
{
	int kind = term->atom->kind == EXPR_DIM ? 0 : term->atom->kind == EXPR_PARAM ? 1 : 2;

	return (term->factor < 0 ? 3 : 0) + kind;
}

static bool term_is_before(const struct affine_term *a, const struct affine_term *b)
{
	if (term_rank(a) != term_rank(b))
		return term_rank(a) < term_rank(b);
	return (a->atom->kind == EXPR_DIM || a->atom->kind == EXPR_PARAM) && a->atom->index < b->atom->index;
}

/* Insertion sort: stable, and the lists are short. */
static void sort_terms(struct affine *sum)
{
	for (int i = 1; i < sum->terms.n; i++)
		for (int j = i; j > 0 && term_is_before(&sum->terms.items[j], &sum->terms.items[j - 1]);
		     j--) {
			struct affine_term swap = sum->terms.items[j];

			sum->terms.items[j] = sum->terms.items[j - 1];
			sum->terms.items[j - 1] = swap;
		}
}

static struct expr *scaled(struct arena *arena, const struct affine_term *term, int64_t factor)
{
	struct span span = term->atom->span;

	if (factor == 1)
		return term->atom;
	return expr_binary(arena, OP_MUL, TYPE_I64, expr_int(arena, factor, span), term->atom);
}

static struct expr *add_scaled(struct arena *arena, struct expr *sum, const struct affine_term *term)
{
	if (!sum && term->factor < 0)
		return expr_unary(arena, OP_NEG, TYPE_I64,
				  scaled(arena, term, wrap_multiply(term->factor, -1)));
	if (!sum)
		return scaled(arena, term, term->factor);
	if (term->factor < 0)
		return expr_binary(arena, OP_SUB, TYPE_I64, sum,
				   scaled(arena, term, wrap_multiply(term->factor, -1)));
	return expr_binary(arena, OP_ADD, TYPE_I64, sum, scaled(arena, term, term->factor));
}

struct expr *affine_normal(struct arena *arena, const struct expr *expr)
{
	struct affine sum = { 0 };
	struct expr *result = NULL;

	add_expr(arena, &sum, expr, 1);
	sort_terms(&sum);
	for (int i = 0; i < sum.terms.n; i++)
		if (sum.terms.items[i].factor != 0)
			result = add_scaled(arena, result, &sum.terms.items[i]);
	if (!result)
		result = expr_int(arena, sum.constant, expr->span);
	else if (sum.constant < 0)
		result = expr_binary(arena, OP_SUB, TYPE_I64, result,
				     expr_int(arena, wrap_multiply(sum.constant, -1), expr->span));
	else if (sum.constant > 0)
		result = expr_binary(arena, OP_ADD, TYPE_I64, result,
				     expr_int(arena, sum.constant, expr->span));
	return result;
}

struct expr *affine_sum(struct arena *arena, struct expr *a, struct expr *b, int64_t factor)
{
	struct expr *scale = expr_int(arena, factor, b->span);

	return affine_normal(arena, expr_binary(arena, OP_ADD, TYPE_I64, a,
						expr_binary(arena, OP_MUL, TYPE_I64, scale, b)));
}

struct expr *affine_plus(struct arena *arena, struct expr *a, int64_t constant)
{
	return affine_sum(arena, a, expr_int(arena, 1, a->span), constant);
}

bool affine_equal(struct arena *arena, struct expr *a, struct expr *b)
{
	int64_t difference;

	return expr_is_constant(affine_sum(arena, a, b, -1), &difference) && difference == 0;
}

/* ---- as text of the language ---- */

const char *rename_find(const rename_list *renames, const char *name)
{
	for (int i = 0; i < renames->n; i++)
		if (strcmp(renames->items[i].from, name) == 0)
			return renames->items[i].to;
	return name;
}

static void write_expr(const struct sema *sema, struct str *text, const struct expr *expr, int precedence);

static void write_call(const struct sema *sema, struct str *text, const char *name, const struct expr *expr)
{
	str_add(text, "%s(", name);
	write_expr(sema, text, expr->args[0], 0);
	str_add(text, ", ");
	write_expr(sema, text, expr->args[1], 0);
	str_add(text, ")");
}

static void write_infix(const struct sema *sema, struct str *text, const char *op, const struct expr *expr,
			int own, int precedence)
{
	if (own < precedence)
		str_add(text, "(");
	write_expr(sema, text, expr->args[0], own);
	str_add(text, "%s", op);
	write_expr(sema, text, expr->args[1], own + 1);
	if (own < precedence)
		str_add(text, ")");
}

static const char *operator_text(enum expr_op op)
{
	if (op == OP_DIV)
		return "/";
	return op == OP_MUL ? "*" : "%";
}

static void write_operation(const struct sema *sema, struct str *text, const struct expr *expr,
			    int precedence)
{
	if (expr->op == OP_MIN || expr->op == OP_MAX) {
		write_call(sema, text, expr->op == OP_MIN ? "min" : "max", expr);
	} else if (expr->op == OP_NEG) {
		str_add(text, "(-");
		write_expr(sema, text, expr->args[0], 3);
		str_add(text, ")");
	} else if (expr->op == OP_ADD || expr->op == OP_SUB) {
		write_infix(sema, text, expr->op == OP_ADD ? " + " : " - ", expr, 1, precedence);
	} else {
		write_infix(sema, text, operator_text(expr->op), expr, 2, precedence);
	}
}

static void write_expr(const struct sema *sema, struct str *text, const struct expr *expr, int precedence)
{
	if (expr->kind == EXPR_INT)
		str_add(text, expr->integer < 0 ? "(%" PRId64 ")" : "%" PRId64, expr->integer);
	else if (expr->kind == EXPR_PARAM)
		str_add(text, "%s",
			rename_find(&sema->renames, sema->module->params.items[expr->index].name));
	else if (expr->kind == EXPR_OP)
		write_operation(sema, text, expr, precedence);
}

const char *affine_text(const struct sema *sema, const struct expr *expr)
{
	struct str text = str_new(sema->arena);

	write_expr(sema, &text, affine_normal(sema->arena, expr), 0);
	return str_text(&text);
}
