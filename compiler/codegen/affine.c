/* SPDX-License-Identifier: MIT
 *
 * Sums of C texts: constant + factor*name + … All subscripts, bounds and conditions pass through this form, so that
 * they are printed as one would write them, `n - 1` for `-1 + n` and `i >= 0` for `-i <= 0`, and can be compared.
 * Values are immutable; two equal names are one term. */
#include <inttypes.h>
#include <string.h>

#include "codegen/codegen_private.h"

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

struct affine affine_name(struct arena *arena, const char *name)
{
	struct affine affine = { .constant = 0 };

	vec_push(arena, &affine.terms, ((struct term) { name, 1 }));
	return affine;
}

static void add_term(struct arena *arena, struct affine *sum, const char *text, int64_t factor)
{
	for (int i = 0; i < sum->terms.n; i++)
		if (!strcmp(sum->terms.items[i].text, text)) {
			sum->terms.items[i].factor = add(sum->terms.items[i].factor, factor);
			return;
		}
	vec_push(arena, &sum->terms, ((struct term) { text, factor }));
}

static void add_scaled(struct arena *arena, struct affine *sum, int64_t factor, const struct affine *x)
{
	sum->constant = add(sum->constant, multiply(factor, x->constant));
	for (int i = 0; i < x->terms.n; i++)
		add_term(arena, sum, x->terms.items[i].text, multiply(factor, x->terms.items[i].factor));
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

const char *affine_only_name(const struct affine *value)
{
	return value->terms.n == 1 && value->terms.items[0].factor == 1 && value->constant == 0
		       ? value->terms.items[0].text : NULL;
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

/* ---- text ---- */

const char *int_text(struct arena *arena, int64_t value)
{
	if (value == INT64_MIN || value == INT64_MAX)
		return value < 0 ? "INT64_MIN" : "INT64_MAX";
	if (value > INT32_MAX || value < -INT32_MAX)
		return arena_printf(arena, "INT64_C(%" PRId64 ")", value);
	return arena_printf(arena, "%" PRId64, value);
}

const char *text_at_least(struct arena *arena, struct text text, enum level level)
{
	return text.level >= level ? text.text : arena_printf(arena, "(%s)", text.text);
}

/* Adds " + text" or " - text", without blanks at the beginning. */
static void add_signed(struct str *out, bool is_negative, const char *text)
{
	str_add(out, "%s%s", out->length ? is_negative ? " - " : " + " : is_negative ? "-" : "", text);
}

static const char *product_text(struct arena *arena, const struct term *term)
{
	int64_t size = term->factor < 0 ? multiply(-1, term->factor) : term->factor;

	return size == 1 ? term->text : arena_printf(arena, "%s*%s", int_text(arena, size), term->text);
}

static void add_terms(struct str *out, const struct affine *affine, bool negative)
{
	for (int i = 0; i < affine->terms.n; i++) {
		const struct term *term = &affine->terms.items[i];

		if ((term->factor < 0) == negative)
			add_signed(out, negative, product_text(out->arena, term));
	}
}

static enum level level_of(const struct affine *affine)
{
	const struct term *only = affine->terms.items;

	if (affine->terms.n > 1 || (affine->terms.n && affine->constant))
		return LEVEL_SUM;
	if (!affine->terms.n)
		return affine->constant < 0 && affine->constant != INT64_MIN ? LEVEL_UNARY : LEVEL_PRIMARY;
	if (only->factor == 1)
		return LEVEL_PRIMARY;
	return only->factor == -1 ? LEVEL_UNARY : LEVEL_PRODUCT;
}

struct text affine_print(struct arena *arena, const struct affine *affine)
{
	struct str out = str_new(arena);

	if (!affine->terms.n)
		return (struct text) { int_text(arena, affine->constant), level_of(affine) };
	add_terms(&out, affine, false);
	if (affine->constant > 0)
		add_signed(&out, false, int_text(arena, affine->constant));
	add_terms(&out, affine, true);
	if (affine->constant < 0)
		add_signed(&out, true, int_text(arena, multiply(-1, affine->constant)));
	return (struct text) { str_text(&out), level_of(affine) };
}

const char *affine_plain(struct arena *arena, const struct affine *affine)
{
	return affine_print(arena, affine).text;
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

static const char *mirrored(const char *op)
{
	static const char *const pairs[][2] = { { "<", ">" }, { ">", "<" }, { "<=", ">=" }, { ">=", "<=" } };

	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++)
		if (!strcmp(op, pairs[i][0]))
			return pairs[i][1];
	return op;
}

/* i + 1 <= n is i < n; i >= n + 1 is i > n. */
static const char *strict(const char *op, struct affine *left, struct affine *right)
{
	struct affine *side = !strcmp(op, "<=") ? left : !strcmp(op, ">=") ? right : NULL;

	if (!side || side->constant != 1 || !left->terms.n || !right->terms.n)
		return op;
	side->constant = 0;
	return side == left ? "<" : ">";
}

struct text affine_comparison(struct arena *arena, const struct affine *left, const char *op,
			      const struct affine *right)
{
	struct affine difference = affine_combine(arena, 1, left, -1, right);
	struct affine l = part(arena, &difference, 1), r = part(arena, &difference, -1);
	bool is_equality = !strcmp(op, "==") || !strcmp(op, "!=");

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
	return (struct text) { arena_printf(arena, "%s %s %s", affine_plain(arena, &l), op, affine_plain(arena, &r)),
			       is_equality ? LEVEL_EQUAL : LEVEL_COMPARE };
}
