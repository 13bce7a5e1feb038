/* SPDX-License-Identifier: MIT
 *
 * Sums of expressions: constant + factor*atom + … All subscripts, bounds and conditions pass through this form, so that
 * they are printed as one would write them, `n - 1` for `-1 + n` and `i >= 0` for `-i <= 0`, and can be compared.
 * Values are immutable; two equal atoms are one term. */
#include <inttypes.h>
#include <string.h>

#include "kernel/affine.h"

/* Factors of programs are small; what exceeds 64 bits wraps and is caught where the program is checked. */
static int64_t add(int64_t a, int64_t b)
{
	return (int64_t) ((uint64_t) a + (uint64_t) b);
}

static int64_t multiply(int64_t a, int64_t b)
{
	return (int64_t) ((uint64_t) a * (uint64_t) b);
}

struct affine affine_constant(int64_t constant)
{
	return (struct affine) { .constant = constant };
}

struct affine affine_atom(struct arena *arena, struct k_expr *atom)
{
	struct affine affine = { .constant = 0 };

	vec_push(arena, &affine.terms, ((struct term) { k_at_least(arena, atom, K_LEVEL_PRIMARY), 1 }));
	return affine;
}

struct affine affine_product(struct arena *arena, struct k_expr *a, struct k_expr *b)
{
	struct affine affine = { .constant = 0 };

	vec_push(arena, &affine.terms, ((struct term) { k_join(arena, K_MUL, a, b), 1 }));
	return affine;
}

struct affine affine_term(struct arena *arena, struct k_expr *factor)
{
	struct affine affine = { .constant = 0 };

	vec_push(arena, &affine.terms, ((struct term) { k_at_least(arena, factor, K_LEVEL_PRODUCT), 1 }));
	return affine;
}

struct affine affine_name(struct arena *arena, const char *name)
{
	return affine_term(arena, k_name(arena, name));
}

bool term_is_name(const struct term *term, const char *name)
{
	return term->atom->kind == KE_NAME && !strcmp(term->atom->text, name);
}

static void add_term(struct arena *arena, struct affine *sum, struct k_expr *atom, int64_t factor)
{
	for (int i = 0; i < sum->terms.n; i++)
		if (k_expr_is_equal(sum->terms.items[i].atom, atom)) {
			sum->terms.items[i].factor = add(sum->terms.items[i].factor, factor);
			return;
		}
	vec_push(arena, &sum->terms, ((struct term) { atom, factor }));
}

static void add_scaled(struct arena *arena, struct affine *sum, int64_t factor, const struct affine *x)
{
	sum->constant = add(sum->constant, multiply(factor, x->constant));
	for (int i = 0; i < x->terms.n; i++)
		add_term(arena, sum, x->terms.items[i].atom, multiply(factor, x->terms.items[i].factor));
}

struct affine affine_combine(struct arena *arena, int64_t a, const struct affine *x, int64_t b,
			     const struct affine *y)
{
	struct affine sum = { .constant = 0 }, result;

	add_scaled(arena, &sum, a, x);
	add_scaled(arena, &sum, b, y);
	result = affine_constant(sum.constant);
	for (int i = 0; i < sum.terms.n; i++)
		if (sum.terms.items[i].factor)
			vec_push(arena, &result.terms, sum.terms.items[i]);
	return result;
}

struct affine affine_scale(struct arena *arena, const struct affine *x, int64_t factor, int64_t constant)
{
	struct affine one = affine_constant(1);

	return affine_combine(arena, factor, x, constant, &one);
}

bool affine_is_constant(const struct affine *affine, int64_t *value)
{
	*value = affine->constant;
	return affine->terms.n == 0;
}

const char *affine_offset_name(const struct affine *value)
{
	const struct term *only = value->terms.items;

	return value->terms.n == 1 && only->factor == 1 && only->atom->kind == KE_NAME ? only->atom->text : NULL;
}

const char *affine_only_name(const struct affine *value)
{
	return value->constant == 0 ? affine_offset_name(value) : NULL;
}

bool affine_is_equal(struct arena *arena, const struct affine *a, const struct affine *b)
{
	struct affine difference = affine_combine(arena, 1, a, -1, b);
	int64_t value;

	return affine_is_constant(&difference, &value) && value == 0;
}

bool affine_is_never_negative(const struct affine *affine)
{
	for (int i = 0; i < affine->terms.n; i++)
		if (affine->terms.items[i].factor < 0)
			return false;
	return affine->constant >= 0;
}

/* ---- expressions ---- */

/* NULL + b is b, NULL - b is -b. */
static struct k_expr *plus(struct arena *arena, struct k_expr *sum, bool is_negative, struct k_expr *b)
{
	if (!sum)
		return is_negative ? k_negated(arena, b) : b;
	return k_binary(arena, is_negative ? K_SUB : K_ADD, sum, b);
}

static struct k_expr *product(struct arena *arena, int64_t factor, struct k_expr *atom)
{
	return factor == 1 ? atom : k_join(arena, K_MUL, k_int(arena, factor), atom);
}

static struct k_expr *add_terms(struct arena *arena, struct k_expr *sum, const struct affine *affine, bool is_negative)
{
	for (int i = 0; i < affine->terms.n; i++) {
		const struct term *term = &affine->terms.items[i];
		int64_t size = term->factor < 0 ? multiply(-1, term->factor) : term->factor;

		if ((term->factor < 0) != is_negative)
			continue;
		if (!sum && is_negative && size != 1)
			sum = product(arena, term->factor, term->atom);
		else
			sum = plus(arena, sum, is_negative, product(arena, size, term->atom));
	}
	return sum;
}

struct k_expr *affine_expr(struct arena *arena, const struct affine *affine)
{
	struct k_expr *sum;

	if (!affine->terms.n)
		return k_int(arena, affine->constant);
	sum = add_terms(arena, NULL, affine, false);
	if (affine->constant > 0)
		sum = plus(arena, sum, false, k_int(arena, affine->constant));
	sum = add_terms(arena, sum, affine, true);
	if (affine->constant < 0)
		sum = plus(arena, sum, true, k_int(arena, multiply(-1, affine->constant)));
	return sum;
}

/* ---- read from an expression ---- */

/* The number that a product begins with, 1 if none does; the rest of it: NULL if nothing is left. */
static int64_t take_factor(struct arena *arena, struct k_expr *product, struct k_expr **rest)
{
	struct k_expr *left = NULL;
	int64_t factor = 1;

	*rest = product;
	if (product->kind == KE_INT && !product->text) {
		*rest = NULL;
		return product->integer;
	}
	if (product->kind != KE_BINARY || product->op != K_MUL || product->is_grouped)
		return 1;
	factor = take_factor(arena, product->args.items[0], &left);
	if (left != product->args.items[0])
		*rest = k_join(arena, K_MUL, left, product->args.items[1]);
	return factor;
}

struct affine affine_of(struct arena *arena, struct k_expr *expr)
{
	const bool is_sum = expr->kind == KE_BINARY && (expr->op == K_ADD || expr->op == K_SUB);
	struct affine a = { 0 }, b = { 0 };
	struct k_expr *rest;
	int64_t factor;

	if (is_sum && !expr->is_grouped) {
		a = affine_of(arena, expr->args.items[0]);
		b = affine_of(arena, expr->args.items[1]);
		return affine_combine(arena, 1, &a, expr->op == K_ADD ? 1 : -1, &b);
	}
	if (expr->kind == KE_UNARY && expr->op == K_NEG && !expr->is_grouped) {
		a = affine_of(arena, expr->args.items[0]);
		return affine_scale(arena, &a, -1, 0);
	}
	factor = take_factor(arena, expr, &rest);
	if (!rest)
		return affine_constant(factor);
	a = affine_term(arena, rest);
	return affine_scale(arena, &a, factor, 0);
}

struct affine affine_with(struct arena *arena, const struct affine *in, const struct k_expr *atom,
			  const struct affine *value)
{
	struct affine result = affine_constant(in->constant), term;

	for (int i = 0; i < in->terms.n; i++) {
		if (k_expr_is_equal(in->terms.items[i].atom, atom)) {
			result = affine_combine(arena, 1, &result, in->terms.items[i].factor, value);
			continue;
		}
		term = affine_term(arena, in->terms.items[i].atom);
		result = affine_combine(arena, 1, &result, in->terms.items[i].factor, &term);
	}
	return result;
}

/* ---- comparisons ---- */

/* The positive part of `difference`; of the negative one with sign -1. */
static struct affine part(struct arena *arena, const struct affine *difference, int sign)
{
	struct affine some = { .constant = 0 };

	if ((difference->constant > 0) == (sign > 0))
		some.constant = multiply(sign, difference->constant);
	for (int i = 0; i < difference->terms.n; i++) {
		struct term term = difference->terms.items[i];

		term.factor = multiply(sign, term.factor);
		if (term.factor > 0)
			vec_push(arena, &some.terms, term);
	}
	return some;
}

static enum k_op mirrored(enum k_op op)
{
	static const enum k_op pairs[][2] = { { K_LT, K_GT }, { K_GT, K_LT }, { K_LE, K_GE }, { K_GE, K_LE } };

	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		if (op == pairs[i][0])
			return pairs[i][1];
	return op;
}

/* i + 1 <= n is i < n; i >= n + 1 is i > n. */
static enum k_op strict(enum k_op op, struct affine *left, struct affine *right)
{
	struct affine *side = op == K_LE ? left : op == K_GE ? right : NULL;

	if (!side || side->constant != 1 || !left->terms.n || !right->terms.n)
		return op;
	side->constant = 0;
	return side == left ? K_LT : K_GT;
}

struct k_expr *affine_comparison(struct arena *arena, const struct affine *left, enum k_op op,
				 const struct affine *right)
{
	struct affine difference = affine_combine(arena, 1, left, -1, right);
	struct affine l = part(arena, &difference, 1), r = part(arena, &difference, -1);

	if (!l.terms.n && r.terms.n) {
		struct affine swapped = l;

		l = r;
		r = swapped;
		op = mirrored(op);
	}
	if (!r.terms.n && l.constant) {
		r.constant = multiply(-1, l.constant);
		l.constant = 0;
	}
	op = strict(op, &l, &r);
	return k_binary(arena, op, affine_expr(arena, &l), affine_expr(arena, &r));
}
