/* SPDX-License-Identifier: MIT
 *
 * What the interpreter computes: whole programs, values of every kind, recurrences. */
#include "ir/fixture.h"
#include "ir/programs.h"

#include <math.h>

/* ---- programs ---- */

static void test_blur(struct ir_tests *tests)
{
	double x[] = { 1, 2, 4, 8, 16 }, y[5];
	struct ir_fixture f;

	ir_open_text(&f, ir_program("blur"));
	ir_size(&f, "n", 5);
	ir_bind(&f, "x", TYPE_F64, x, 5, 0);
	ir_bind(&f, "y", TYPE_F64, y, 5, 0);
	IR_CHECK(tests, ir_run(&f) == NULL);
	IR_CHECK_REALS(tests, y, 5, 1, 2.25, 4.5, 9, 16);
	ir_close(&f);
}

static void test_csr(struct ir_tests *tests)
{
	int64_t off[] = { 0, 2, 2, 3 };
	int16_t col[] = { 0, 3, 1 };
	double val[] = { 2, 3, 5 }, x[] = { 1, 10, 100, 1000 }, y[] = { -1, -1, -1 };
	struct ir_fixture f;

	ir_open_text(&f, ir_program("csr"));
	ir_size(&f, "nRows", 3);
	ir_size(&f, "nCols", 4);
	ir_size(&f, "nnz", 3);
	ir_bind(&f, "off", TYPE_I64, off, 4, 0);
	ir_bind(&f, "col", TYPE_I16, col, 3, 0);
	ir_bind(&f, "val", TYPE_F64, val, 3, 0);
	ir_bind(&f, "x", TYPE_F64, x, 4, 0);
	ir_bind(&f, "y", TYPE_F64, y, 3, 0);
	IR_CHECK(tests, ir_run(&f) == NULL);
	IR_CHECK_REALS(tests, y, 3, 3002, 0, 50);
	ir_close(&f);
}

static void bind_dsc(struct ir_fixture *f, int64_t n_coeffs, void *atom, void *voxel, void *fiber, double *value)
{
	static const char *const sizes[] = { "nAtoms", "nVoxels", "nFibers", "nTheta" };

	for (int i = 0; i < 4; i++)
		ir_size(f, sizes[i], i == 3 ? 2 : 3);
	ir_size(f, "nCoeffs", n_coeffs);
	ir_bind(f, "PHI.atom", TYPE_I32, atom, n_coeffs, 0);
	ir_bind(f, "PHI.voxel", TYPE_I32, voxel, n_coeffs, 0);
	ir_bind(f, "PHI.fiber", TYPE_I32, fiber, n_coeffs, 0);
	ir_bind(f, "PHI.value", TYPE_F64, value, n_coeffs, 0);
}

static void test_dsc(struct ir_tests *tests)
{
	int32_t atom[] = { 0, 2, 1, 0 }, voxel[] = { 1, 1, 0, 1 }, fiber[] = { 0, 1, 2, 2 };
	double value[] = { 1, 2, 3, -4 }, d[] = { 1, 2, 3, 4, 5, 6 }, w[] = { 10, 20, 30 }, y[6], terms[6];
	struct interp_weight *weights[7], *of_y;
	struct ir_fixture f;

	ir_open_text(&f, ir_program("dsc"));
	bind_dsc(&f, 4, atom, voxel, fiber, value);
	ir_bind(&f, "D", TYPE_F64, d, 3, 2);
	ir_bind(&f, "w", TYPE_F64, w, 3, 0);
	ir_bind(&f, "Y", TYPE_F64, y, 3, 2);
	IR_CHECK(tests, module_interpret(f.module, &f.arena, &f.input, weights) == NULL);
	IR_CHECK_REALS(tests, y, 6, 270, 360, 90, 20, 0, 0);
	IR_CHECK(tests, weights[f.module->arrays.items[4]->number] == NULL);
	of_y = weights[6];
	for (int i = 0; i < 6; i++) {
		y[i] = of_y[i].magnitude;
		terms[i] = of_y[i].terms;
	}
	IR_CHECK_REALS(tests, y, 6, 270, 360, 330, 500, 0, 0);
	IR_CHECK_REALS(tests, terms, 6, 1, 1, 3, 3, 0, 0);
	ir_close(&f);
}

/* No coefficients: the output is zero, the index arrays may be NULL. */
static void test_empty(struct ir_tests *tests)
{
	double d[6] = { 1 }, w[3] = { 1 }, y[6] = { 7, 7, 7, 7, 7, 7 };
	struct ir_fixture f;

	ir_open_text(&f, ir_program("dsc"));
	bind_dsc(&f, 0, NULL, NULL, NULL, NULL);
	ir_bind(&f, "D", TYPE_F64, d, 3, 2);
	ir_bind(&f, "w", TYPE_F64, w, 3, 0);
	ir_bind(&f, "Y", TYPE_F64, y, 3, 2);
	IR_CHECK(tests, ir_run(&f) == NULL);
	IR_CHECK_REALS(tests, y, 6, 0, 0, 0, 0, 0, 0);
	ir_close(&f);
}

struct iteration {
	double y[3], trace[4];
	int64_t steps;
};

static struct iteration iterate(struct ir_tests *tests, double tol, int64_t max_iterations)
{
	double x0[] = { 0, 4, 8 };
	struct iteration result = { .steps = -1 };
	struct ir_fixture f;

	ir_open_text(&f, ir_program("iterate"));
	ir_size(&f, "n", 3);
	ir_size(&f, "maxIter", 4);
	ir_scalar(&f, "tol", tol);
	f.input.max_iterations = max_iterations;
	ir_bind(&f, "x0", TYPE_F64, x0, 3, 0);
	ir_bind(&f, "y", TYPE_F64, result.y, 3, 0);
	ir_bind(&f, "steps", TYPE_I64, &result.steps, 0, 0);
	ir_bind(&f, "trace", TYPE_F64, result.trace, 4, 0);
	IR_CHECK(tests, ir_run(&f) == NULL);
	ir_close(&f);
	return result;
}

static void test_iterate(struct ir_tests *tests)
{
	struct iteration all = iterate(tests, 0, -1), converged = iterate(tests, 1.75, -1), cut = iterate(tests, 0, 1);

	IR_CHECK(tests, all.steps == 4);
	IR_CHECK_REALS(tests, all.y, 3, 0, 0.25, 1.5);
	IR_CHECK_REALS(tests, all.trace, 4, INFINITY, 0, 2, 0);
	IR_CHECK(tests, converged.steps == 3);
	IR_CHECK_REALS(tests, converged.y, 3, 0, 0.5, 2.5);
	IR_CHECK(tests, cut.steps == 1);
	IR_CHECK_REALS(tests, cut.y, 3, 0, 2, 6);
}

static void test_histogram(struct ir_tests *tests)
{
	double x[] = { 0.5, 2.5, 2.75, 1.0 };
	int64_t count[3];
	struct ir_fixture f;

	ir_open_text(&f, ir_program("histogram"));
	ir_size(&f, "n", 4);
	ir_size(&f, "nBins", 3);
	ir_bind(&f, "x", TYPE_F64, x, 4, 0);
	ir_bind(&f, "count", TYPE_I64, count, 3, 0);
	IR_CHECK(tests, ir_run(&f) == NULL);
	IR_CHECK_INTEGERS(tests, count, 3, 1, 1, 2);
	ir_close(&f);
}

static void extremes(struct ir_tests *tests, double *x, int64_t n, double smallest, double largest, double product)
{
	double low, high;
	float all;
	struct ir_fixture f;

	ir_open_text(&f, ir_program("extremes"));
	ir_size(&f, "n", n);
	ir_bind(&f, "x", TYPE_F64, x, n, 0);
	ir_bind(&f, "smallest", TYPE_F64, &low, 0, 0);
	ir_bind(&f, "largest", TYPE_F64, &high, 0, 0);
	ir_bind(&f, "product", TYPE_F32, &all, 0, 0);
	IR_CHECK(tests, ir_run(&f) == NULL);
	IR_CHECK_REALS(tests, ((double[]) { low, high, all }), 3, smallest, largest, product);
	ir_close(&f);
}

static void test_extremes(struct ir_tests *tests)
{
	extremes(tests, (double[]) { 3, -1, 2 }, 3, -1, 3, -6);
	extremes(tests, (double[]) { 3, NAN, 2 }, 3, NAN, NAN, NAN);
	extremes(tests, (double[]) { NAN, 3, 2 }, 3, NAN, NAN, NAN);
	extremes(tests, NULL, 0, INFINITY, -INFINITY, 1);
}

void ir_test_programs(struct ir_tests *tests)
{
	test_blur(tests);
	test_csr(tests);
	test_dsc(tests);
	test_empty(tests);
	test_iterate(tests);
	test_histogram(tests);
	test_extremes(tests);
}

/* ---- values: one expression of x (f64), k (i64) and s (a scalar) ---- */

struct value_case {
	const char *type, *value;
	double wanted;
	const char *error;              /* part of the message; NULL: none */
};

static const struct value_case value_cases[] = {
	{ "i64", "k / 2", -4, NULL },
	{ "i64", "k % 4", 1, NULL },
	{ "i64", "k % -4", -3, NULL },
	{ "i64", "-k / -2", -4, NULL },
	{ "i64", "k / 0", 0, "division by zero" },
	{ "i64", "k % (k - k)", 0, "division by zero" },
	{ "i64", "9223372036854775807 + k", 9223372036854775800.0, NULL },
	{ "i64", "9223372036854775807 - k", 0, "overflow" },
	{ "i64", "-9223372036854775808 / (k + 6)", 0, "overflow" },
	{ "i64", "-(-9223372036854775808 + 0)", 0, "overflow" },
	{ "i64", "abs(k) * 4611686018427387904", 0, "overflow" },
	{ "i64", "abs(k)", 7, NULL },
	{ "i64", "select(k < 0, 1, 2)", 1, NULL },
	{ "i64", "select(k < 0, 1, 2 / 0)", 0, "division by zero" },
	{ "i64", "choose(k < 0, 1, 2 / 0)", 1, NULL },
	{ "i64", "choose(k >= 0, 1 / 0, choose(k < -8, 2 / 0, 3))", 3, NULL },
	{ "i8", "cast<i8>(k) * 100:i8", 68, NULL },
	{ "u8", "cast<u8>(k)", 249, NULL },
	{ "u32", "4294967295:u32 * 4294967295:u32", 1, NULL },
	{ "i8", "cast<i8>(x[] * 1000.0)", 127, NULL },
	{ "u16", "cast<u16>(-x[])", 0, NULL },
	{ "i32", "cast<i32>(-inf)", -2147483648.0, NULL },
	{ "u32", "cast<u32>(1e30)", 4294967295.0, NULL },
	{ "i64", "cast<i64>(nan)", 0, NULL },
	{ "i64", "cast<i64>(-x[])", -2, NULL },
	{ "i64", "cast<i64>(1e30)", 9223372036854775807.0, NULL },
	{ "f64", "min(x[], nan)", NAN, NULL },
	{ "f64", "max(nan, x[])", NAN, NULL },
	{ "f64", "exprelr(0.0)", 1, NULL },
	{ "f64", "exprelr(-0.0)", 1, NULL },
	{ "f64", "exprelr(1e-20)", 1, NULL },
	{ "f64", "exprelr(inf)", 0, NULL },
	{ "f64", "exprelr(-1e3)", 1000, NULL },
	{ "f64", "unit_scale(-x[])", 0.5, NULL },
	{ "f64", "unit_scale(3e-310)", 0x1p1023, NULL },
	{ "f64", "unit_scale(inf)", 0x1p-1021, NULL },
	{ "f64", "cast<f64>(unit_scale(0.0:f32))", 0x1p127, NULL },
	{ "f64", "cast<f64>(unit_scale(3e38:f32))", 0x1p-125, NULL },
	{ "f64", "pow(x[], 2.0)", 6.25, NULL },
	{ "f64", "floor(-x[])", -3, NULL },
	{ "f64", "sqrt(x[] * 10.0) + s", 5.5, NULL },
	{ "f64", "1.0 / 0.0", INFINITY, NULL },
	{ "f64", "cast<f64>(0.1:f32 + 0.2:f32)", 0.30000001192092896, NULL },
	{ "f64", "cast<f64>(16777216.0:f32 + 1.0:f32)", 16777216, NULL },
	{ "f64", "cast<f64>(cast<f32>(16777217))", 16777216, NULL },
	{ "f64", "choose(k < 0 and k > 2, cast<f64>(1 / 0), x[])", 2.5, NULL },
	{ "f64", "select(x[] < 2.0 or not x[] == 2.5, 1.0, 2.0)", 2, NULL },
	{ "bool", "x[] >= 2.5 and k != 3", 1, NULL },
	{ "bool", "nan == nan", 0, NULL },
};

static double result_value(enum scalar_type type, const void *data)
{
	switch (type) {
	case TYPE_F32: return *(const float *) data;
	case TYPE_F64: return *(const double *) data;
	case TYPE_I8: return *(const int8_t *) data;
	case TYPE_I16: return *(const int16_t *) data;
	case TYPE_I32: return *(const int32_t *) data;
	case TYPE_I64: return (double) *(const int64_t *) data;
	case TYPE_U8: return *(const uint8_t *) data;
	case TYPE_U16: return *(const uint16_t *) data;
	case TYPE_U32: return *(const uint32_t *) data;
	case TYPE_BOOL: return *(const bool *) data;
	case TYPE_N: break;
	}
	return NAN;
}

static void test_value(struct ir_tests *tests, const struct value_case *c)
{
	int64_t result = 0;
	double x = 2.5;
	enum scalar_type type = TYPE_F64;
	const char *message;
	struct arena arena = { 0 };
	struct ir_fixture f;

	type_from_name(c->type, &type);
	ir_open_text(&f, arena_printf(&arena, "module v\nsource \"\"\nparam n\nscalar s : f64\n"
				      "array x : in f64[]\narray r : out %s[]\nprologue\ngroup 0 \"r\" common 1\n"
				      "  stage 0\n  for k in 0 - 7..-6\n  r[] = %s\n", c->type, c->value));
	arena_release(&arena);
	IR_CHECK(tests, f.module != NULL);
	if (f.module) {
		ir_scalar(&f, "s", 0.5);
		ir_bind(&f, "x", TYPE_F64, &x, 0, 0);
		ir_bind(&f, "r", type, &result, 0, 0);
		message = ir_run(&f);
		if (c->error)
			IR_CHECK_HAS(tests, message, c->error);
		else
			IR_CHECK_REALS(tests, ((double[]) { message ? NAN : result_value(type, &result) }), 1,
				       c->wanted);
		if (!c->error && message)
			fprintf(stderr, "  %s: %s\n", c->value, message);
	}
	ir_close(&f);
}

/* 1e17 + 1 - 1e17 is 0 in f64, 1 in the extended sum; each reader sees the rounded value. */
static void test_extended_sum(struct ir_tests *tests)
{
	double x[] = { 1e17, 1, -1e17 }, y = 5, z = 0;
	struct ir_fixture f;

	ir_open_text(&f, "module v\nsource \"\"\nparam n\narray x : in f64[0..n]\narray y : inout f64[]\n"
			 "array z : out f64[]\nprologue\n"
			 "group 0 \"y\" common 1\n  stage 0\n  for i in 0..n\n  y[] += x[i]\n"
			 "group 1 \"z\" common 0\n  stage 1\n  z[] = y[] * 2.0\n");
	ir_size(&f, "n", 3);
	ir_bind(&f, "x", TYPE_F64, x, 3, 0);
	ir_bind(&f, "y", TYPE_F64, &y, 0, 0);
	ir_bind(&f, "z", TYPE_F64, &z, 0, 0);
	IR_CHECK(tests, ir_run(&f) == NULL);
	IR_CHECK_REALS(tests, ((double[]) { y, z }), 2, 6, 12);
	ir_close(&f);
}

void ir_test_values(struct ir_tests *tests)
{
	for (size_t i = 0; i < sizeof value_cases / sizeof value_cases[0]; i++)
		test_value(tests, &value_cases[i]);
	test_extended_sum(tests);
}

/* ---- recurrences ---- */

static void test_prefix(struct ir_tests *tests)
{
	double x[] = { 1, 2, 4, 8 }, s[4], t[4];
	struct ir_fixture f;

	ir_open_text(&f, ir_program("prefix"));
	ir_size(&f, "n", 4);
	ir_bind(&f, "x", TYPE_F64, x, 4, 0);
	ir_bind(&f, "s", TYPE_F64, s, 4, 0);
	ir_bind(&f, "t", TYPE_F64, t, 4, 0);
	IR_CHECK(tests, ir_run(&f) == NULL);
	IR_CHECK_REALS(tests, s, 4, 1, 3, 7, 15);
	IR_CHECK_REALS(tests, t, 4, 15, 14, 12, 8);
	ir_close(&f);
}

static void test_tree(struct ir_tests *tests)
{
	int64_t parent[] = { -1, 0, 0, 1, 1, -1 };
	double len[] = { 1, 2, 4, 8, 16, 32 }, up[6], below[6];
	struct ir_fixture f;

	ir_open_text(&f, ir_program("tree"));
	ir_size(&f, "n", 6);
	ir_bind(&f, "parent", TYPE_I64, parent, 6, 0);
	ir_bind(&f, "len", TYPE_F64, len, 6, 0);
	ir_bind(&f, "up", TYPE_F64, up, 6, 0);
	ir_bind(&f, "below", TYPE_F64, below, 6, 0);
	IR_CHECK(tests, ir_run(&f) == NULL);
	IR_CHECK_REALS(tests, up, 6, 0, 2, 4, 10, 18, 0);
	IR_CHECK_REALS(tests, below, 6, 30, 24, 0, 0, 0, 0);
	ir_close(&f);
}

/* The parents of each segment count from its start; the middle one is empty. */
static void test_forest(struct ir_tests *tests)
{
	int32_t parent[] = { -1, 0, 1, -1, 0, 0 };
	int64_t offset[] = { 0, 3, 3, 6 };
	double x[] = { 1, 2, 4, 8, 16, 32 }, up[6], largest[3];
	struct ir_fixture f;

	ir_open_text(&f, ir_program("forest"));
	ir_size(&f, "nSystems", 3);
	ir_size(&f, "n", 6);
	ir_bind(&f, "F.parent", TYPE_I32, parent, 6, 0);
	ir_bind(&f, "F.offset", TYPE_I64, offset, 4, 0);
	ir_bind(&f, "x", TYPE_F64, x, 6, 0);
	ir_bind(&f, "up", TYPE_F64, up, 6, 0);
	ir_bind(&f, "largest", TYPE_F64, largest, 3, 0);
	IR_CHECK(tests, ir_run(&f) == NULL);
	IR_CHECK_REALS(tests, up, 6, 1, 3, 7, 8, 24, 40);
	IR_CHECK_REALS(tests, largest, 3, 4, -INFINITY, 32);
	ir_close(&f);
}

/* Rows forwards, columns backwards: no single sweep does it. */
static void test_mixed_directions(struct ir_tests *tests)
{
	double a[9];
	struct ir_fixture f;

	ir_open_text(&f, "module v\nsource \"\"\nparam n\narray a : out f64[0..n, 0..n]\nprologue\n"
			 "group 0 \"a\" common 2\n"
			 "  stage 0\n  for i in 0..n\n  for j in 0..n\n  where i == 0 or j == n - 1\n  a[i, j] = 1.0\n"
			 "  stage 1\n  for i in 0..n\n  for j in 0..n\n  where i > 0 and j < n - 1\n"
			 "  a[i, j] = a[i - 1, j + 1] + a[i, j + 1]\n");
	ir_size(&f, "n", 3);
	ir_bind(&f, "a", TYPE_F64, a, 3, 3);
	IR_CHECK(tests, ir_run(&f) == NULL);
	IR_CHECK_REALS(tests, a, 9, 1, 1, 1, 3, 2, 1, 4, 2, 1);
	ir_close(&f);
}

/* A cell that another group has set is there from the start. */
static void test_started_elsewhere(struct ir_tests *tests)
{
	double a[4];
	struct ir_fixture f;

	ir_open_text(&f, "module v\nsource \"\"\nparam n\narray a : out f64[0..n]\nprologue\n"
			 "group 0 \"a\" common 0\n  stage 0\n  a[n - 1] = 1.0\n"
			 "group 1 \"a\" common 1\n  stage 1\n  for i in 0..n - 1\n  a[i] = 2.0 * a[i + 1]\n");
	ir_size(&f, "n", 4);
	ir_bind(&f, "a", TYPE_F64, a, 4, 0);
	IR_CHECK(tests, ir_run(&f) == NULL);
	IR_CHECK_REALS(tests, a, 4, 8, 4, 2, 1);
	ir_close(&f);
}

static void test_ill_founded(struct ir_tests *tests)
{
	double a[4];
	struct ir_fixture f;

	ir_open_text(&f, "module v\nsource \"\"\nparam n\narray a : out f64[0..n]\nprologue\n"
			 "group 0 \"a\" common 1\n"
			 "  stage 0\n  for i in 0..n\n  where i <= 1\n  a[i] = 1.0\n"
			 "  stage 1\n  for i in 0..n\n  where i > 1\n  a[i] = a[n + 1 - i]\n");
	ir_size(&f, "n", 4);
	ir_bind(&f, "a", TYPE_F64, a, 4, 0);
	IR_CHECK_HAS(tests, ir_run(&f), "recurrence is not well founded: 'a' needs a[3], which has no value yet");
	ir_close(&f);
}

void ir_test_recurrences(struct ir_tests *tests)
{
	test_prefix(tests);
	test_tree(tests);
	test_forest(tests);
	test_mixed_directions(tests);
	test_started_elsewhere(tests);
	test_ill_founded(tests);
}
