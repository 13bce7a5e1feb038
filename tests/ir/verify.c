/* SPDX-License-Identifier: MIT
 *
 * Each corruption of a good module is found, by the check that is made for it. */
#include "ir/fixture.h"
#include "ir/programs.h"

#include <math.h>
#include <string.h>

static struct stage *stage_at(const struct module *m, int number)
{
	return m->stages.items[number];
}

static struct array *named(const struct module *m, const char *name)
{
	return module_find_array(m, name);
}

static void wrong_number(struct module *m) { m->arrays.items[1]->number = 0; }
static void lost_group(struct module *m) { m->regions[REGION_PROLOGUE].groups.n--; }
static void foreign_group(struct module *m) { stage_at(m, 0)->group = m->groups.items[1]; }
static void empty_group(struct module *m) { m->groups.items[2]->stages.n = 0; }
static void same_c_name(struct module *m) { m->arrays.items[1]->c_name = m->arrays.items[0]->c_name; }
static void second_counter(struct module *m) { m->params.items[0].is_loop = true; }
static void no_box(struct module *m) { m->arrays.items[0]->hi[0] = NULL; }
static void box_of_dim(struct module *m) { m->arrays.items[0]->hi[0] = expr_dim(m->arena, 0, m->span); }
static void offsets_of_caller(struct module *m) { named(m, "col")->row_of = named(m, "x"); }
static void no_limit(struct module *m) { named(m, "col")->limit = NULL; }
static void argument_is_prefetched(struct module *m) { named(m, "x")->stored.is_prefetched = true; }
static void float_index(struct module *m) { named(m, "col")->type = TYPE_F64; }
static void no_owner(struct module *m) { named(m, "x.next")->owner = NULL; }
static void local_of_none(struct module *m) { named(m, "sum2")->group = NULL; }
static void no_loop(struct module *m) { m->loop.var = NULL, m->params.items[3].is_loop = false; }
static void until_number(struct module *m) { m->loop.until = expr_int(m->arena, 1, m->span); }
static void own_dim(struct module *m) { stage_at(m, 0)->dims.items[0].hi = expr_dim(m->arena, 0, m->span); }
static void plain_source(struct module *m) { stage_at(m, 1)->dims.items[1].source.array = named(m, "val"); }
static void other_common(struct module *m) { stage_at(m, 2)->dims.items[0].name = "other"; }
static void too_few_dims(struct module *m) { stage_at(m, 0)->dims.n = 0; }
static void odd_direction(struct module *m) { m->groups.items[0]->direction[0] = 2; }
static void branches_of_no_tree(struct module *m)
{
	struct branching branching = { .tree = named(m, "col") };

	branching.depth = branching.levels = branching.begins = branching.ends = named(m, "col");
	vec_push(m->arena, &m->branchings, branching);
}
static void chunks_of_no_tree(struct module *m)
{
	struct chunking chunking = { .tree = named(m, "col"), .rows = 1 };

	chunking.offsets = chunking.above = chunking.child = chunking.sibling = chunking.turn = named(m, "col");
	vec_push(m->arena, &m->chunkings, chunking);
}
static void later_dim(struct module *m) { stage_at(m, 0)->write.subs[0] = expr_dim(m->arena, 1, m->span); }
static void float_sub(struct module *m)
{
	stage_at(m, 0)->write.subs[0] = expr_float(m->arena, 1, TYPE_F64, m->span);
}
static void guard_of_value(struct module *m) { stage_at(m, 0)->guard = stage_at(m, 0)->value; }
static void wrong_store(struct module *m) { stage_at(m, 0)->value = expr_int(m->arena, 1, m->span); }
static void wrong_operands(struct module *m) { stage_at(m, 1)->value->args[0] = expr_int(m->arena, 1, m->span); }
static void choice_by_data(struct module *m)
{
	struct expr *value = stage_at(m, 1)->value, **args = arena_new_array(m->arena, struct expr *, 3);

	args[0] = expr_binary(m->arena, OP_GT, TYPE_BOOL, value, value);
	args[1] = args[2] = value;
	stage_at(m, 1)->value = expr_call(m->arena, OP_CHOOSE, value->type, args, m->span);
}
static void wrong_result(struct module *m) { stage_at(m, 1)->value->type = TYPE_F32; }
static void no_value(struct module *m) { stage_at(m, 1)->value = NULL; }
static void foreign_local(struct module *m) { named(m, "total")->group = m->groups.items[0]; }
static void written_input(struct module *m) { named(m, "y")->role = ROLE_IN; }
static void commit_to_output(struct module *m) { stage_at(m, 0)->is_commit = true; }
static void update_at_start(struct module *m) { stage_at(m, 0)->op = REDUCE_ADD; }
static void two_operators(struct module *m)
{
	stage_at(m, 2)->op = REDUCE_MUL;
	stage_at(m, 2)->write = stage_at(m, 1)->write;
}
static void start_at_one(struct module *m) { stage_at(m, 0)->value->real = 1; }
static void count_from_one(struct module *m) { stage_at(m, 1)->value->integer = 1; }
static void least_of_some(struct module *m) { stage_at(m, 0)->value->real = 9; }
static void largest_of_some(struct module *m) { stage_at(m, 2)->value->real = NAN; }
static void product_from_zero(struct module *m) { stage_at(m, 4)->value->real = 0; }

struct corruption {
	const char *program;
	void (*corrupt)(struct module *module);
	const char *check;
};

static const struct corruption corruptions[] = {
	{ "csr", wrong_number, "numbers are positions" },
	{ "prefix", lost_group, "groups stand in one region" },
	{ "prefix", foreign_group, "groups stand in one region" },
	{ "iterate", empty_group, "groups stand in one region" },
	{ "csr", same_c_name, "C names differ" },
	{ "csr", second_counter, "one loop" },
	{ "csr", no_box, "boxes are affine" },
	{ "csr", box_of_dim, "boxes are affine" },
	{ "csr", no_limit, "facts have limits" },
	{ "csr", argument_is_prefetched, "'x' is prefetched, but no block of an argument" },
	{ "csr", offsets_of_caller, "facts have limits" },
	{ "csr", float_index, "facts have limits" },
	{ "iterate", no_owner, "next arrays and locals have owners" },
	{ "csr", local_of_none, "next arrays and locals have owners" },
	{ "iterate", no_loop, "the loop's range and condition" },
	{ "iterate", until_number, "the loop's range and condition" },
	{ "csr", own_dim, "dims refer to earlier dims" },
	{ "csr", plain_source, "dims refer to earlier dims" },
	{ "csr", other_common, "stages share the common dims" },
	{ "csr", too_few_dims, "stages share the common dims" },
	{ "prefix", odd_direction, "directions are" },
	{ "csr", branches_of_no_tree, "branches are of trees" },
	{ "csr", chunks_of_no_tree, "chunks are of trees" },
	{ "blur", later_dim, "accesses are affine" },
	{ "blur", float_sub, "accesses are affine" },
	{ "blur", guard_of_value, "accesses are affine" },
	{ "blur", wrong_store, "accesses are affine" },
	{ "csr", wrong_operands, "accesses are affine" },
	{ "csr", choice_by_data, "accesses are affine" },
	{ "csr", wrong_result, "accesses are affine" },
	{ "csr", no_value, "accesses are affine" },
	{ "tree", foreign_local, "locals stay in their group" },
	{ "csr", written_input, "writes go to what can be written" },
	{ "csr", commit_to_output, "writes go to what can be written" },
	{ "csr", update_at_start, "writes go to what can be written" },
	{ "csr", two_operators, "one operator for each accumulation" },
	{ "csr", start_at_one, "constants that updates start at" },
	{ "histogram", count_from_one, "constants that updates start at" },
	{ "extremes", least_of_some, "constants that updates start at" },
	{ "extremes", largest_of_some, "constants that updates start at" },
	{ "extremes", product_from_zero, "constants that updates start at" },
};

static void test_corruption(struct ir_tests *tests, const struct corruption *c)
{
	struct ir_fixture f;

	ir_open_text(&f, ir_program(c->program));
	IR_CHECK(tests, module_verify(f.module, "before"));
	c->corrupt(f.module);
	IR_CHECK(tests, !module_verify(f.module, "spoil"));
	IR_CHECK(tests, f.diags.n_errors == 1 && f.diags.list.items[0]->code == DIAG_INTERNAL);
	IR_CHECK_HAS(tests, ir_messages(&f), "after pass 'spoil' the check '");
	IR_CHECK_HAS(tests, ir_messages(&f), c->check);
	ir_close(&f);
}

void ir_test_verify(struct ir_tests *tests)
{
	for (size_t i = 0; i < sizeof corruptions / sizeof corruptions[0]; i++)
		test_corruption(tests, &corruptions[i]);
}
