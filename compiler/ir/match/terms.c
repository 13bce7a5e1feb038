/* SPDX-License-Identifier: MIT
 *
 * Values as sums of products. Products are taken apart through * and /, sums only where the array that one looks for is
 * read inside: what else there is stays as it was written. Whether two products are equal does not depend on the order
 * of their factors. That a value is a pivot changes nothing. */
#include "ir/match/terms.h"

#include <float.h>
#include <math.h>

static struct term product_of(struct arena *arena, struct expr *value, const struct array *array);

/* Does a sum stand here that has to be taken apart? */
static bool is_sum(struct expr *value, const struct array *array)
{
	return value->kind == EXPR_OP && (value->op == OP_ADD || value->op == OP_SUB) && expr_reads_array(value, array);
}

static void add_factors(struct arena *arena, factor_list *to, const factor_list *from)
{
	for (int i = 0; i < from->n; i++)
		vec_push(arena, to, from->items[i]);
}

struct term term_product(struct arena *arena, const struct term *a, const struct term *b)
{
	struct term product = { .is_negative = a->is_negative != b->is_negative };

	add_factors(arena, &product.over, &a->over);
	add_factors(arena, &product.over, &b->over);
	add_factors(arena, &product.under, &a->under);
	add_factors(arena, &product.under, &b->under);
	return product;
}

static struct term inverse(struct term term)
{
	return (struct term) { .is_negative = term.is_negative, .over = term.under, .under = term.over };
}

static struct term product_of(struct arena *arena, struct expr *value, const struct array *array)
{
	struct term term = { 0 }, right;

	value = expr_without_pivot(value);
	if (value->kind == EXPR_OP && value->op == OP_NEG) {
		term = product_of(arena, value->args[0], array);
		term.is_negative = !term.is_negative;
	} else if (value->kind == EXPR_OP && (value->op == OP_MUL || value->op == OP_DIV)) {
		term = product_of(arena, value->args[0], array);
		right = product_of(arena, value->args[1], array);
		if (value->op == OP_DIV)
			right = inverse(right);
		term = term_product(arena, &term, &right);
	} else {
		vec_push(arena, &term.over, value);
	}
	return term;
}

static void add_terms(struct arena *arena, struct expr *value, const struct array *array, const struct term *times,
		      term_list *terms);

/* a*(b + c), and (b + c)/d */
static void add_product(struct arena *arena, struct expr *value, const struct array *array, const struct term *times,
			term_list *terms)
{
	int sum = value->kind == EXPR_OP && value->op == OP_MUL && expr_reads_array(value->args[1], array) ? 1 : 0;
	struct term other;

	if (value->kind != EXPR_OP || (value->op != OP_MUL && value->op != OP_DIV) ||
	    !expr_reads_array(value->args[sum], array)) {
		other = product_of(arena, value, array);
		other = term_product(arena, times, &other);
		vec_push(arena, terms, other);
		return;
	}
	other = product_of(arena, value->args[1 - sum], array);
	if (value->op == OP_DIV)
		other = inverse(other);
	other = term_product(arena, &other, times);
	add_terms(arena, value->args[sum], array, &other, terms);
}

static void add_terms(struct arena *arena, struct expr *value, const struct array *array, const struct term *times,
		      term_list *terms)
{
	struct term negative = *times;

	value = expr_without_pivot(value);
	negative.is_negative = !negative.is_negative;
	if (is_sum(value, array)) {
		add_terms(arena, value->args[0], array, times, terms);
		add_terms(arena, value->args[1], array, value->op == OP_SUB ? &negative : times, terms);
	} else if (value->kind == EXPR_OP && value->op == OP_NEG && expr_reads_array(value, array)) {
		add_terms(arena, value->args[0], array, &negative, terms);
	} else {
		add_product(arena, value, array, times, terms);
	}
}

term_list terms_of(struct arena *arena, struct expr *value, const struct array *array)
{
	const struct term one = { 0 };
	term_list terms = { 0 };

	add_terms(arena, value, array, &one, &terms);
	return terms;
}

/* ---- questions ---- */

struct expr *factors_take_read(factor_list *factors, const struct array *array)
{
	struct expr *found = NULL;
	int n = 0, n_found = 0;

	for (int i = 0; i < factors->n; i++) {
		struct expr *factor = factors->items[i];

		if (factor->kind == EXPR_READ && factor->access.array == array) {
			found = factor;
			n_found++;
		} else {
			factors->items[n++] = factor;
		}
	}
	factors->n = n;
	return n_found == 1 ? found : NULL;
}

bool term_reads(const struct term *term, const struct array *array)
{
	bool reads = false;

	for (int i = 0; i < term->over.n; i++)
		reads = reads || expr_reads_array(term->over.items[i], array);
	for (int i = 0; i < term->under.n; i++)
		reads = reads || expr_reads_array(term->under.items[i], array);
	return reads;
}

bool expr_same(const struct expr *a, const struct expr *b)
{
	int64_t at_a, at_b;
	int dim_a, dim_b;
	bool is = true;

	if (a->type == TYPE_I64 && expr_is_shifted_dim(a, &dim_a, &at_a))
		return expr_is_shifted_dim(b, &dim_b, &at_b) && dim_a == dim_b && at_a == at_b;
	if (a->kind != b->kind || a->type != b->type || (a->kind == EXPR_OP && a->op != b->op))
		return false;
	if (a->kind == EXPR_READ && a->access.array != b->access.array)
		return false;
	for (int i = 0; a->kind == EXPR_READ && i < access_n_subs(&a->access); i++)
		is = is && expr_same(a->access.subs[i], b->access.subs[i]);
	for (int i = 0; i < expr_n_args(a); i++)
		is = is && expr_same(a->args[i], b->args[i]);
	return is && (expr_n_args(a) || a->kind == EXPR_READ || expr_equal(a, b));
}

static bool is_number(const struct expr *expr)
{
	return expr->kind == EXPR_FLOAT;
}

static int n_without_numbers(const factor_list *factors)
{
	int n = 0;

	for (int i = 0; i < factors->n; i++)
		n += !is_number(factors->items[i]);
	return n;
}

/* Each of `a` is one of `b`, and the other way round, but for numbers. */
static bool factors_are_same(const factor_list *a, const factor_list *b)
{
	unsigned long taken = 0;

	if (n_without_numbers(a) != n_without_numbers(b) || b->n > 32)
		return false;
	for (int i = 0; i < a->n; i++) {
		int j = 0;

		if (is_number(a->items[i]))
			continue;
		while (j < b->n && (taken >> j & 1U || !expr_same(a->items[i], b->items[j])))
			j++;
		if (j == b->n)
			return false;
		taken |= 1UL << j;
	}
	return true;
}

static double number_of(const struct term *term)
{
	double number = term->is_negative ? -1 : 1;

	for (int i = 0; i < term->over.n; i++)
		number *= is_number(term->over.items[i]) ? term->over.items[i]->real : 1;
	for (int i = 0; i < term->under.n; i++)
		number /= is_number(term->under.items[i]) ? term->under.items[i]->real : 1;
	return number;
}

static bool has_single(const factor_list *factors)
{
	bool has = false;

	for (int i = 0; i < factors->n; i++)
		has = has || factors->items[i]->type == TYPE_F32;
	return has;
}

/* Numbers that stood beside each other have become their product, which was rounded. */
static bool numbers_are_same(const struct term *a, const struct term *b)
{
	double x = number_of(a), y = number_of(b);
	double rounding = has_single(&a->over) || has_single(&b->over) ? FLT_EPSILON : DBL_EPSILON;

	return fabs(x - y) <= 2*rounding*fabs(x);
}

bool term_equal(const struct term *a, const struct term *b)
{
	return numbers_are_same(a, b) && factors_are_same(&a->over, &b->over) && factors_are_same(&a->under, &b->under);
}

/* ---- at other points ---- */

static struct expr *shift_expr(struct arena *arena, struct expr *expr, int dim, int64_t by);

static struct expr **shift_all(struct arena *arena, struct expr **exprs, int n, int dim, int64_t by)
{
	struct expr **copies = arena_new_array(arena, struct expr *, n + 1);

	for (int i = 0; i < n; i++)
		copies[i] = shift_expr(arena, exprs[i], dim, by);
	return copies;
}

/* A dim and what is added to it stay one sum: i + 2 moved by -2 is i. */
static struct expr *shift_expr(struct arena *arena, struct expr *expr, int dim, int64_t by)
{
	struct expr *copy;
	int64_t at;
	int of;

	if (expr->type == TYPE_I64 && expr_is_shifted_dim(expr, &of, &at)) {
		copy = expr_dim(arena, of, expr->span);
		at += of == dim ? by : 0;
		return at ? expr_binary(arena, at < 0 ? OP_SUB : OP_ADD, TYPE_I64, copy,
					expr_int(arena, at < 0 ? -at : at, expr->span)) : copy;
	}
	copy = arena_new(arena, struct expr);
	*copy = *expr;
	if (expr->kind == EXPR_READ)
		copy->access.subs = shift_all(arena, expr->access.subs, access_n_subs(&expr->access), dim, by);
	copy->args = shift_all(arena, expr->args, expr_n_args(expr), dim, by);
	return copy;
}

struct term term_shift(struct arena *arena, const struct term *term, int dim, int64_t by)
{
	struct term copy = *term;

	copy.over.items = shift_all(arena, term->over.items, term->over.n, dim, by);
	copy.under.items = shift_all(arena, term->under.items, term->under.n, dim, by);
	return copy;
}

/* ---- as expressions again ---- */

static struct expr *product_expr(struct arena *arena, const factor_list *factors, enum scalar_type type)
{
	struct expr *product = factors->items[0];

	for (int i = 1; i < factors->n; i++)
		product = expr_binary(arena, OP_MUL, type, product, factors->items[i]);
	return product;
}

static struct expr *unsigned_expr(struct arena *arena, const struct term *term, enum scalar_type type)
{
	struct expr *over = term->over.n ? product_expr(arena, &term->over, type)
					 : expr_float(arena, 1, type, (struct span) { 0 });

	return term->under.n ? expr_binary(arena, OP_DIV, type, over, product_expr(arena, &term->under, type)) : over;
}

struct expr *term_expr(struct arena *arena, const struct term *term, enum scalar_type type)
{
	struct expr *expr = unsigned_expr(arena, term, type);

	return term->is_negative ? expr_unary(arena, OP_NEG, type, expr) : expr;
}

struct expr *terms_expr(struct arena *arena, const term_list *terms, enum scalar_type type, struct span span)
{
	struct expr *sum = terms->n ? term_expr(arena, &terms->items[0], type) : expr_float(arena, 0, type, span);

	for (int i = 1; i < terms->n; i++)
		sum = expr_binary(arena, terms->items[i].is_negative ? OP_SUB : OP_ADD, type, sum,
				  unsigned_expr(arena, &terms->items[i], type));
	return sum;
}
