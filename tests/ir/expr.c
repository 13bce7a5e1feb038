/* SPDX-License-Identifier: MIT
 *
 * Expressions and modules built by calls: what counts as affine, substitution, printing, C names. */
#include "ir/fixture.h"

#include <stdlib.h>
#include <string.h>

static const struct span nowhere;

static struct expr *number(struct ir_fixture *f, int64_t value)
{
	return expr_int(&f->arena, value, nowhere);
}

static struct expr *dim(struct ir_fixture *f, int n)
{
	return expr_dim(&f->arena, n, nowhere);
}

static struct expr *binary(struct ir_fixture *f, enum expr_op op, struct expr *a, struct expr *b)
{
	struct expr *args[] = { a, b };

	return expr_binary(&f->arena, op, op_result_type(op, args), a, b);
}

static void test_affine(struct ir_tests *tests, struct ir_fixture *f)
{
	struct expr *i = dim(f, 0), *j = dim(f, 1), *two = number(f, 2), *zero = number(f, 0);
	struct expr *minus = expr_unary(&f->arena, OP_NEG, TYPE_I64, two);
	struct expr *real = expr_float(&f->arena, 1, TYPE_F64, nowhere);
	int64_t value;

	IR_CHECK(tests, expr_is_affine(binary(f, OP_MUL, two, i)));
	IR_CHECK(tests, expr_is_affine(binary(f, OP_MUL, i, minus)));
	IR_CHECK(tests, !expr_is_affine(binary(f, OP_MUL, i, j)));
	IR_CHECK(tests, expr_is_affine(binary(f, OP_DIV, i, two)));
	IR_CHECK(tests, !expr_is_affine(binary(f, OP_DIV, i, zero)));
	IR_CHECK(tests, !expr_is_affine(binary(f, OP_MOD, i, minus)));
	IR_CHECK(tests, expr_is_affine(binary(f, OP_MAX, i, j)));
	IR_CHECK(tests, !expr_is_affine(real));
	IR_CHECK(tests, expr_is_affine(expr_cast(&f->arena, TYPE_I64, i)));
	IR_CHECK(tests, !expr_is_affine(expr_cast(&f->arena, TYPE_I32, i)));
	IR_CHECK(tests, expr_is_affine_condition(binary(f, OP_AND, binary(f, OP_LT, i, j), binary(f, OP_EQ, j, two))));
	IR_CHECK(tests, !expr_is_affine_condition(i));
	IR_CHECK(tests, expr_is_constant(binary(f, OP_SUB, two, number(f, 5)), &value) && value == -3);
	IR_CHECK(tests, !expr_is_constant(binary(f, OP_ADD, number(f, INT64_MAX), two), &value));
	IR_CHECK(tests, !expr_is_constant(i, &value));
}

static void count_read(struct access *access, void *user)
{
	(void) access;
	++*(int *) user;
}

static void test_walking(struct ir_tests *tests, struct ir_fixture *f)
{
	struct array *a = module_add_array(f->module, "a", ROLE_IN, TYPE_F64, 2, nowhere);
	struct expr *subs[] = { dim(f, 0), binary(f, OP_ADD, dim(f, 2), number(f, 1)) };
	struct expr *read = expr_read(&f->arena, a, subs, nowhere);
	struct expr *sum = binary(f, OP_ADD, read, binary(f, OP_MUL, read, read));
	struct expr *dims[] = { NULL, NULL, number(f, 7) }, *copy = expr_substitute(&f->arena, sum, dims);
	int n = 0;

	expr_reads(sum, count_read, &n);
	IR_CHECK(tests, n == 3);
	IR_CHECK(tests, expr_last_dim(sum) == 2);
	IR_CHECK(tests, expr_last_dim(copy) == 0);
	IR_CHECK(tests, !expr_equal(sum, copy));
	IR_CHECK(tests, expr_equal(sum, expr_substitute(&f->arena, sum, (struct expr *[]) { NULL, NULL, NULL })));
	IR_CHECK_SAME(tests, expr_text(&f->arena, f->module, NULL, copy->args[0]), "a[$0, 7 + 1]");
}

/* Parentheses where they are needed, and nowhere else. */
static void test_text(struct ir_tests *tests, struct ir_fixture *f)
{
	struct expr *one = number(f, 1), *two = number(f, 2), *three = number(f, 3);
	struct expr *difference = binary(f, OP_SUB, one, two);
	struct expr *less = binary(f, OP_LT, one, two);

	IR_CHECK_SAME(tests, expr_text(&f->arena, f->module, NULL, binary(f, OP_SUB, difference, three)), "1 - 2 - 3");
	IR_CHECK_SAME(tests, expr_text(&f->arena, f->module, NULL, binary(f, OP_SUB, three, difference)),
		      "3 - (1 - 2)");
	IR_CHECK_SAME(tests, expr_text(&f->arena, f->module, NULL, binary(f, OP_MUL, difference, three)),
		      "(1 - 2) * 3");
	IR_CHECK_SAME(tests, expr_text(&f->arena, f->module, NULL, expr_unary(&f->arena, OP_NOT, TYPE_BOOL, less)),
		      "not 1 < 2");
	IR_CHECK_SAME(tests, expr_text(&f->arena, f->module, NULL, binary(f, OP_EQ, less, less)),
		      "(1 < 2) == (1 < 2)");
	IR_CHECK_SAME(tests, expr_text(&f->arena, f->module, NULL, binary(f, OP_MIN, one, difference)),
		      "min(1, 1 - 2)");
	IR_CHECK_SAME(tests, expr_text(&f->arena, f->module, NULL, expr_float(&f->arena, 0.1, TYPE_F64, nowhere)),
		      "0.1");
	IR_CHECK_SAME(tests, expr_text(&f->arena, f->module, NULL, expr_float(&f->arena, 100, TYPE_F32, nowhere)),
		      "100.0");
}

void ir_test_expr(struct ir_tests *tests)
{
	struct ir_fixture f;

	ir_open(&f);
	f.module = module_new(&f.arena, &f.diags, f.ctx, "test", nowhere);
	test_affine(tests, &f);
	test_walking(tests, &f);
	test_text(tests, &f);
	ir_close(&f);
}

/* ---- modules ---- */

static void test_c_names(struct ir_tests *tests, struct ir_fixture *f)
{
	static const char *const names[][2] = {
		{ "PHI.voxel", "PHI_voxel" }, { "PHI_voxel", "PHI_voxel_2" }, { "int", "int_" },
		{ "double", "double_" }, { "I", "I_" }, { "main", "main_" }, { "plan", "plan_" }, { "args", "args_" },
		{ "control", "control_" },
		{ "exp", "exp_" }, { "float", "float_" }, { "int_", "int__2" }, { "pmg_min", "a_pmg_min" },
		{ "n", "n_2" }, { "_x", "a__x" }, { "f32", "f32" }, { "w", "w" },
	};

	module_add_param(f->module, "n", nowhere);
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct array *array = module_add_array(f->module, names[i][0], ROLE_TEMP, TYPE_F64, 0, nowhere);

		IR_CHECK_SAME(tests, array->c_name, names[i][1]);
	}
	IR_CHECK(tests, module_find_array(f->module, "PHI_voxel")->number == 1);
	IR_CHECK(tests, module_find_array(f->module, "nothing") == NULL);
}

static struct dim range(struct ir_fixture *f, const char *name, struct expr *hi)
{
	return (struct dim) { .kind = DIM_RANGE, .name = name, .lo = number(f, 0), .hi = hi };
}

static struct access at(struct ir_fixture *f, struct array *array, struct expr *sub)
{
	struct access access = { .array = array, .subs = arena_new_array(&f->arena, struct expr *, 1) };

	access.subs[0] = sub;
	return access;
}

/* y[v[k]] += x[k], by calls. */
static void build_scatter(struct ir_fixture *f)
{
	struct module *module = f->module;
	struct expr *n = expr_param(&f->arena, module, module_add_param(module, "n", nowhere), nowhere);
	struct expr *m = expr_param(&f->arena, module, module_add_param(module, "m", nowhere), nowhere);
	struct array *v = module_add_array(module, "v", ROLE_IN, TYPE_I32, 1, nowhere);
	struct array *x = module_add_array(module, "x", ROLE_IN, TYPE_F64, 1, nowhere);
	struct array *y = module_add_array(module, "y", ROLE_INOUT, TYPE_F64, 1, nowhere);
	struct group *group = module_add_group(module, REGION_PROLOGUE, "y", nowhere);
	struct dim bind = { .kind = DIM_BIND, .name = "b", .source = at(f, v, dim(f, 0)) };
	dim_list dims = { 0 };
	struct stage *stage;

	v->hi[0] = x->hi[0] = n;
	y->hi[0] = m;
	v->facts = FACT_INDEX;
	v->limit = m;
	vec_push(&f->arena, &dims, range(f, "k", n));
	vec_push(&f->arena, &dims, bind);
	stage = module_add_stage(module, group, &dims, nowhere);
	stage->write = at(f, y, dim(f, 1));
	stage->op = REDUCE_ADD;
	stage->value = expr_read(&f->arena, x, at(f, x, dim(f, 0)).subs, nowhere);
}

static void test_built(struct ir_tests *tests)
{
	double x[] = { 1, 2, 4, 8 }, y[] = { 100, 200, 300 };
	int32_t v[] = { 2, 0, 2, 2 };
	struct ir_fixture f;

	ir_open(&f);
	f.module = module_new(&f.arena, &f.diags, f.ctx, "scatter", nowhere);
	build_scatter(&f);
	IR_CHECK(tests, module_verify(f.module, "test"));
	IR_CHECK(tests, group_accumulates(f.module->groups.items[0]) && f.module->groups.items[0]->n_common == 2);
	IR_CHECK_SAME(tests, f.module->stages.items[0]->name, "S0");
	ir_size(&f, "n", 4);
	ir_size(&f, "m", 3);
	ir_bind(&f, "v", TYPE_I32, v, 4, 0);
	ir_bind(&f, "x", TYPE_F64, x, 4, 0);
	ir_bind(&f, "y", TYPE_F64, y, 3, 0);
	IR_CHECK(tests, ir_run(&f) == NULL);
	IR_CHECK_REALS(tests, y, 3, 102, 200, 313);
	IR_CHECK_SAME(tests, access_text(&f.arena, f.module, f.module->stages.items[0],
					 &f.module->stages.items[0]->write), "y[v[k]]");
	ir_close(&f);
}

void ir_test_module(struct ir_tests *tests)
{
	struct ir_fixture f;

	ir_open(&f);
	f.module = module_new(&f.arena, &f.diags, f.ctx, "test", nowhere);
	test_c_names(tests, &f);
	module_decide_that(f.module, DECISION_TRANSPOSE, "y", "full", NULL, nowhere, "because of %d", 3);
	IR_CHECK_SAME(tests, f.module->decisions.items[0].reason, "because of 3");
	IR_CHECK_SAME(tests, f.module->decisions.items[0].chosen, "full");
	IR_CHECK_SAME(tests, f.module->decisions.items[0].alternatives, "as declared");
	ir_close(&f);
	test_built(tests);
}
