/* SPDX-License-Identifier: MIT
 *
 * What the interpreter refuses, and how it says so. Each case is a module, sizes, and one array `v` whose values are
 * of interest; other arguments are bound to zeros. */
#include "ir/fixture.h"
#include "ir/programs.h"

#include <string.h>

struct error_case {
	const char *declaration, *statement;
	int64_t n;
	int64_t v[4];
	const char *error;              /* NULL: none */
};

/* n is the extent of v, 4; m is 3. */
static const struct error_case error_cases[] = {
	{ "index(m)", "y[b] += 1.0", 4, { 0, 2, 1, 0 }, NULL },
	{ "index(m)", "y[b] += 1.0", 4, { 0, 2, 3, 0 }, "v[2] is 3, allowed are 0 to 2" },
	{ "index(m)", "y[b] += 1.0", 4, { 0, -1, 0, 0 }, "v[1] is -1, allowed are 0 to 2" },
	{ "index(m) sorted", "y[b] += 1.0", 4, { 0, 2, 1, 2 }, "v[2] is 1, less than 2 before it" },
	{ "index(m + 3) unique", "y[m - 1] += 1.0", 4, { 5, 2, 0, 2 }, "v[3] is 2, as v[1] is" },
	{ "index(m) unique", "y[b] += 1.0", 4, { 0, 1, 2, 0 }, "'v' cannot have 4 different values below 3" },
	{ "offsets(m)", "y[0] += 1.0", 4, { 0, 1, 1, 3 }, NULL },
	{ "offsets(m)", "y[0] += 1.0", 4, { 1, 1, 1, 3 }, "v[0] is 1, allowed are 0 to 0" },
	{ "offsets(m)", "y[0] += 1.0", 4, { 0, 1, 1, 2 }, "v[3] is 2, allowed are 3 to 3" },
	{ "offsets(m)", "y[0] += 1.0", 4, { 0, 2, 1, 3 }, "v[2] is 1, less than 2 before it" },
	{ "offsets(m)", "y[0] += 1.0", 4, { 0, 9, 3, 3 }, "v[1] is 9, allowed are 0 to 3" },
	{ "tree", "y[0] += 1.0", 4, { -1, 0, -1, 2 }, NULL },
	{ "tree", "y[0] += 1.0", 4, { -1, 0, 2, 2 }, "v[2] is 2, but a parent is -1 or comes before its child" },
	{ "tree", "y[0] += 1.0", 4, { 0, 0, 1, 2 }, "v[0] is 0, but a parent is -1 or comes before its child" },
	{ "index(m)", "y[b + 1] += 1.0", 4, { 0, 1, 2, 0 }, "subscript 1 of 'y' is 3, allowed are 0 to 2" },
	{ "index(m)", "y[k - 1] += 1.0", 4, { 0, 0, 0, 0 }, "subscript 1 of 'y' is -1, allowed are 0 to 2" },
	{ "index(m)", "y[(k + 1) * 9223372036854775807 + 1] += 1.0", 4, { 0, 0, 0, 0 }, "integer overflow" },
	{ "index(m)", "y[b] += y[k + 9223372036854775807]", 4, { 0, 0, 0, 0 },
	  "subscript 1 of 'y' is 9223372036854775807" },
	{ "index(m)", "y[b] += 1.0", -1, { 0 }, "the size 'n' is -1, it must not be negative" },
	{ "index(m)", "y[b] += 1.0", 7, { 0 }, "the assumption 'n <= 6' does not hold" },
	{ "index(m)", "y[b] += 1.0", 5, { 0 }, "'v' has the shape [4], it must be [5]" },
};

static void test_error(struct ir_tests *tests, const struct error_case *c)
{
	int64_t v[4];
	double y[3] = { 0 };
	const char *text, *message;
	struct arena arena = { 0 };
	struct ir_fixture f;

	memcpy(v, c->v, sizeof v);
	text = arena_printf(&arena, "module e\nsource \"\"\nparam n\nparam m\nassume n <= 6\n"
			    "array v : in i64[0..n] %s\narray y : inout f64[0..m]\nprologue\n"
			    "group 0 \"y\" common 2\n  stage 0\n  for k in 0..n\n  let b = v[k]\n  %s\n",
			    c->declaration, c->statement);
	ir_open_text(&f, text);
	IR_CHECK(tests, f.module != NULL);
	if (f.module) {
		ir_size(&f, "n", c->n);
		ir_size(&f, "m", 3);
		ir_bind(&f, "v", TYPE_I64, v, 4, 0);
		ir_bind(&f, "y", TYPE_F64, y, 3, 0);
		message = ir_run(&f);
		if (c->error)
			IR_CHECK_HAS(tests, message, c->error);
		else
			IR_CHECK(tests, message == NULL);
		if (message && strstr(message, "shape") == NULL)
			IR_CHECK(tests, strncmp(message, "test.ir:", 8) == 0);
	}
	ir_close(&f);
	arena_release(&arena);
}

/* A computed index is checked where it is used. */
static void test_computed_index(struct ir_tests *tests)
{
	double x[] = { 0.5, 3.5, 1.0 };
	int64_t count[3];
	struct ir_fixture f;

	ir_open_text(&f, ir_program("histogram"));
	ir_size(&f, "n", 3);
	ir_size(&f, "nBins", 3);
	ir_bind(&f, "x", TYPE_F64, x, 3, 0);
	ir_bind(&f, "count", TYPE_I64, count, 3, 0);
	IR_CHECK_SAME(tests, ir_run(&f), "test.ir:22:13: bin[1] is 3, allowed are 0 to 2");
	ir_size(&f, "nBins", 0);
	IR_CHECK_HAS(tests, ir_run(&f), "the assumption 'nBins >= 1' does not hold");
	ir_close(&f);
}

static void test_unbound(struct ir_tests *tests)
{
	double x[3] = { 0 };
	float y[3];
	struct ir_fixture f;

	ir_open_text(&f, ir_program("blur"));
	ir_size(&f, "n", 3);
	ir_bind(&f, "x", TYPE_F64, x, 3, 0);
	IR_CHECK_HAS(tests, ir_run(&f), "'y' is not bound");
	ir_bind(&f, "y", TYPE_F32, y, 3, 0);
	IR_CHECK_HAS(tests, ir_run(&f), "'y' is bound to f32, it must be f64");
	ir_size(&f, "n", INT64_MAX / 2);
	IR_CHECK_HAS(tests, ir_run(&f), "too large");
	ir_close(&f);
}

static void test_local_trees(struct ir_tests *tests)
{
	int64_t parent[] = { -1, 0, 1, 0 }, offset[] = { 0, 2, 4 };
	double x[4] = { 0 }, up[4], largest[2];
	struct ir_fixture f;

	ir_open_text(&f, ir_program("forest"));
	ir_size(&f, "nSystems", 2);
	ir_size(&f, "n", 4);
	ir_bind(&f, "F.parent", TYPE_I64, parent, 4, 0);
	ir_bind(&f, "F.offset", TYPE_I64, offset, 3, 0);
	ir_bind(&f, "x", TYPE_F64, x, 4, 0);
	ir_bind(&f, "up", TYPE_F64, up, 4, 0);
	ir_bind(&f, "largest", TYPE_F64, largest, 2, 0);
	IR_CHECK_HAS(tests, ir_run(&f), "F.parent[2] is 1, but a parent, counted in its own system, is -1 or");
	ir_close(&f);
}

/* a[k - 1] at k = 0 is no error where the guard leaves k = 0 out, nor where nobody needs it. */
static void test_guarded_bind(struct ir_tests *tests)
{
	int64_t v[] = { 2, 1, 0 };
	double y[3] = { 0 };
	struct ir_fixture f;

	ir_open_text(&f, "module g\nsource \"\"\nparam n\narray v : in i64[0..n] index(n)\narray y : out f64[0..n]\n"
			 "prologue\ngroup 0 \"y\" common 2\n"
			 "  stage 0\n  for k in 0..n\n  let b = v[k - 1]\n  where k == 0\n  y[k] = 10.0\n"
			 "  stage 1\n  for k in 0..n\n  let b = v[k - 1]\n  where k > 0\n  y[k] = cast<f64>(b)\n");
	ir_size(&f, "n", 3);
	ir_bind(&f, "v", TYPE_I64, v, 3, 0);
	ir_bind(&f, "y", TYPE_F64, y, 3, 0);
	IR_CHECK(tests, ir_run(&f) == NULL);
	IR_CHECK_REALS(tests, y, 3, 10, 2, 1);
	ir_close(&f);
}

void ir_test_errors(struct ir_tests *tests)
{
	for (size_t i = 0; i < sizeof error_cases / sizeof error_cases[0]; i++)
		test_error(tests, &error_cases[i]);
	test_computed_index(tests);
	test_unbound(tests);
	test_local_trees(tests);
	test_guarded_bind(tests);
}
