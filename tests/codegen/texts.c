/* SPDX-License-Identifier: MIT
 *
 * The small texts: sums and comparisons of affine.c, consequences, identifiers, literals and conversions. */
#include <math.h>

#include "codegen/codegen_private.h"
#include "codegen/codegen_tests.h"

static struct affine name(struct arena *arena, const char *text)
{
	return affine_name(arena, text);
}

/* a*i + b*n + c */
static struct affine sum(struct arena *arena, int64_t a, int64_t b, int64_t c)
{
	struct affine i = name(arena, "i"), n = name(arena, "n"), ab = affine_combine(arena, a, &i, b, &n);

	return affine_scale(arena, &ab, 1, c);
}

static const char *sum_text(struct arena *arena, int64_t a, int64_t b, int64_t c)
{
	struct affine s = sum(arena, a, b, c);

	return k_expr_text(arena, affine_expr(arena, &s));
}

static void check_sums(struct tests *tests, struct arena *arena)
{
	CHECK_TEXT(tests, sum_text(arena, 0, 0, 0), "0");
	CHECK_TEXT(tests, sum_text(arena, 1, 0, 0), "i");
	CHECK_TEXT(tests, sum_text(arena, -1, 1, -1), "n - i - 1");
	CHECK_TEXT(tests, sum_text(arena, -1, 0, 2), "2 - i");
	CHECK_TEXT(tests, sum_text(arena, 4, -3, 2), "4*i + 2 - 3*n");
	CHECK_TEXT(tests, sum_text(arena, -1, 0, 0), "-i");
	CHECK_TEXT(tests, sum_text(arena, 0, 0, 3000000000), "INT64_C(3000000000)");
	CHECK_TEXT(tests, sum_text(arena, 0, 0, INT64_MIN), "INT64_MIN");
}

/* A sum that is read from its expression is the same one; parentheses and products without a number are atoms. */
static void check_read_sums(struct tests *tests, struct arena *arena)
{
	static const int64_t factors[][3] = { { 0, 0, 0 }, { 1, 0, 0 }, { -1, 1, -1 }, { 4, -3, 2 }, { -16, 0, 0 } };
	struct k_expr *product = k_binary(arena, K_MUL, k_name(arena, "i"), k_name(arena, "n"));
	struct k_expr *twice = k_join(arena, K_MUL, k_int(arena, 2), product);
	struct affine read, row = sum(arena, 1, 0, 1);

	for (size_t i = 0; i < sizeof factors / sizeof *factors; i++) {
		const struct affine s = sum(arena, factors[i][0], factors[i][1], factors[i][2]);

		read = affine_of(arena, affine_expr(arena, &s));
		CHECK(tests, affine_is_equal(arena, &read, &s));
	}
	read = affine_of(arena, k_binary(arena, K_SUB, twice, k_grouped(arena, k_name(arena, "i"))));
	CHECK(tests, read.terms.n == 2 && read.terms.items[0].factor == 2 && read.terms.items[1].factor == -1 &&
		     k_expr_is_equal(read.terms.items[0].atom, product));
	read = sum(arena, 4, -3, 2);
	read = affine_with(arena, &read, k_name(arena, "n"), &row);
	CHECK_TEXT(tests, k_expr_text(arena, affine_expr(arena, &read)), "i - 1");
}

static const char *comparison_text(struct arena *arena, struct affine left, enum k_op op, struct affine right)
{
	return k_expr_text(arena, affine_comparison(arena, &left, op, &right));
}

static void check_comparisons(struct tests *tests, struct arena *arena)
{
	CHECK_TEXT(tests, comparison_text(arena, sum(arena, 1, 0, 0), K_LE, sum(arena, 0, 1, -1)), "i < n");
	CHECK_TEXT(tests, comparison_text(arena, sum(arena, 1, 0, 0), K_GE, sum(arena, 0, 1, 1)), "i > n");
	CHECK_TEXT(tests, comparison_text(arena, sum(arena, 1, 0, 0), K_GE, sum(arena, 0, 0, 1)), "i >= 1");
	CHECK_TEXT(tests, comparison_text(arena, sum(arena, -1, 0, 0), K_LE, sum(arena, 0, 0, 0)), "i >= 0");
	CHECK_TEXT(tests, comparison_text(arena, sum(arena, -1, 0, 3), K_LT, sum(arena, 0, -1, 0)), "n + 3 < i");
	CHECK_TEXT(tests, comparison_text(arena, sum(arena, 1, 0, 2), K_EQ, sum(arena, 0, 0, 5)), "i == 3");
}

static void check_facts(struct tests *tests, struct arena *arena)
{
	isl_ctx *ctx = isl_ctx_alloc();
	fact_list facts = { 0 };
	struct affine below = sum(arena, -1, 1, -1), not_negative = sum(arena, 1, 0, 0);
	struct affine n_positive = sum(arena, 0, 1, -1), n_large = sum(arena, 0, 1, -2);

	CHECK(tests, !facts_imply(ctx, arena, &facts, &n_positive));
	vec_push(arena, &facts, below);
	vec_push(arena, &facts, not_negative);
	CHECK(tests, facts_imply(ctx, arena, &facts, &n_positive));
	CHECK(tests, !facts_imply(ctx, arena, &facts, &n_large));
	isl_ctx_free(ctx);
}

static void check_names(struct tests *tests, struct arena *arena)
{
	struct names names = { .arena = arena };

	CHECK_TEXT(tests, names_declare(&names, "PHI.voxel"), "voxel");
	CHECK_TEXT(tests, names_declare(&names, "voxel"), "voxel_2");
	CHECK_TEXT(tests, names_declare(&names, "at[i]"), "at");
	CHECK_TEXT(tests, names_declare(&names, "for"), "for_");
	CHECK_TEXT(tests, names_declare(&names, "2nd"), "v2nd");
	names.visible.n = 0;
	CHECK_TEXT(tests, names_declare(&names, "voxel"), "voxel");
}

static const char *float_literal(struct arena *arena, double value, enum scalar_type type)
{
	const struct expr expr = { .kind = EXPR_FLOAT, .type = type, .real = value };

	return k_expr_text(arena, c_literal(arena, &expr));
}

static void check_literals(struct tests *tests, struct arena *arena)
{
	CHECK_TEXT(tests, float_literal(arena, 1, TYPE_F64), "1.0");
	CHECK_TEXT(tests, float_literal(arena, 0.1, TYPE_F64), "0.1");
	CHECK_TEXT(tests, float_literal(arena, 0.1, TYPE_F32), "0.1f");
	CHECK_TEXT(tests, float_literal(arena, 1.0/3, TYPE_F64), "0.3333333333333333");
	CHECK_TEXT(tests, float_literal(arena, -2.5e300, TYPE_F64), "-2.5e+300");
	CHECK_TEXT(tests, float_literal(arena, -0.0, TYPE_F64), "-0.0");
	CHECK_TEXT(tests, float_literal(arena, HUGE_VAL, TYPE_F64), "INFINITY");
	CHECK_TEXT(tests, float_literal(arena, -HUGE_VAL, TYPE_F32), "-INFINITY");
	CHECK_TEXT(tests, float_literal(arena, 16777216, TYPE_F32), "16777216.0f");
	CHECK_TEXT(tests, k_expr_text(arena, c_identity(arena, REDUCE_MIN, TYPE_I8)), "127");
	CHECK_TEXT(tests, k_expr_text(arena, c_identity(arena, REDUCE_MAX, TYPE_U32)), "0u");
	CHECK_TEXT(tests, k_expr_text(arena, c_identity(arena, REDUCE_MAX, TYPE_F32)), "-INFINITY");
	CHECK_TEXT(tests, c_string(arena, "a\"b\\c\n?" "?/"), "\"a\\\"b\\\\c\\012?\\?/\"");
}

static void check_casts(struct tests *tests, struct arena *arena)
{
	struct k_expr *x = k_binary(arena, K_ADD, k_name(arena, "x"), k_name(arena, "y"));

	CHECK_TEXT(tests, k_expr_text(arena, c_cast(arena, TYPE_I64, TYPE_I8, x)), "(int64_t) (x + y)");
	CHECK_TEXT(tests, k_expr_text(arena, c_cast(arena, TYPE_I8, TYPE_F32, x)), "pmg_to_i8(x + y)");
	CHECK_TEXT(tests, k_expr_text(arena, c_cast(arena, TYPE_U8, TYPE_I16, x)),
		   "(uint8_t) (x + y)");
	CHECK_TEXT(tests, k_expr_text(arena, c_cast(arena, TYPE_I16, TYPE_U8, x)), "(int16_t) (x + y)");
	CHECK_TEXT(tests, k_expr_text(arena, c_cast(arena, TYPE_F32, TYPE_F64, x)), "(float) (x + y)");
	CHECK_TEXT(tests, k_expr_text(arena, c_cast(arena, TYPE_BOOL, TYPE_I64, x)), "x + y != 0");
	CHECK_TEXT(tests, k_expr_text(arena, c_narrow(arena, TYPE_I8, x)), "(int8_t) (x + y)");
	CHECK_TEXT(tests, k_expr_text(arena, c_narrow(arena, TYPE_I64, x)), "x + y");
}

void codegen_test_texts(struct tests *tests)
{
	struct arena arena = { 0 };

	check_sums(tests, &arena);
	check_read_sums(tests, &arena);
	check_comparisons(tests, &arena);
	check_facts(tests, &arena);
	check_names(tests, &arena);
	check_literals(tests, &arena);
	check_casts(tests, &arena);
	arena_release(&arena);
}
