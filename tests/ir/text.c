/* SPDX-License-Identifier: MIT
 *
 * Modules as text: what is printed reads back to the same, schedules too; what is wrong is reported in its place. */
#include "ir/fixture.h"
#include "ir/programs.h"
#include "ir/schedule.h"

#include <string.h>

/* print(read(text)), and the same once more. */
static void test_round_trip(struct ir_tests *tests, const struct ir_program *program)
{
	struct ir_fixture first, second;
	const char *once;

	ir_open_text(&first, program->text);
	ir_open(&second);
	IR_CHECK(tests, first.module != NULL);
	if (first.module) {
		once = module_text(first.module, &first.arena);
		ir_read(&second, once);
		IR_CHECK_SAME(tests, second.module ? module_text(second.module, &second.arena) : ir_messages(&second),
			      once);
	}
	ir_close(&first);
	ir_close(&second);
}

static void schedule_all(struct module *module)
{
	module_analyse(module);
	for (int i = 0; i < REGION_N; i++)
		if (module->regions[i].groups.n)
			module->regions[i].schedule = schedule_textual(module, &module->regions[i]);
}

/* The schedule that was read is the same tree, has our marks, and keeps its invariant. */
static void test_schedule(struct ir_tests *tests, const struct ir_program *program)
{
	struct ir_fixture first, second;
	const char *text;

	ir_open_text(&first, program->text);
	ir_open(&second);
	schedule_all(first.module);
	text = module_text(first.module, &first.arena);
	IR_CHECK_HAS(tests, text, "\nschedule prologue\n| ");
	ir_read(&second, text);
	IR_CHECK_SAME(tests, second.module ? module_text(second.module, &second.arena) : ir_messages(&second), text);
	for (int i = 0; second.module && i < REGION_N; i++)
		IR_CHECK(tests, schedule_check(second.module, &second.module->regions[i], "read"));
	ir_close(&first);
	ir_close(&second);
}

/* The interpreter sees no difference between a module and what was read from its text. */
static void test_format(struct ir_tests *tests)
{
	struct ir_fixture f;
	const char *text;

	ir_open_text(&f, ir_program("csr"));
	text = module_text(f.module, &f.arena);
	IR_CHECK_HAS(tests, text, "module csr\nsource \"spmv.pmg\"\nparam nRows\n");
	IR_CHECK_HAS(tests, text, "array off : fixed in i64[0..nRows + 1] offsets(nnz)\n");
	IR_CHECK_HAS(tests, text, "array sum2 : local f64[] group 0\n");
	IR_CHECK_HAS(tests, text, "    let c = col[k]\n    sum2[] += val[k] * x[c]\n");
	ir_close(&f);
}

/* ---- errors ---- */

struct text_case {
	const char *text, *message;
};

#define HEAD "module m\nsource \"\"\nparam n\n"
#define ARRAY HEAD "array a : temp f64[0..n]\n"
#define STAGE ARRAY "prologue\ngroup 0 \"a\" common 1\nstage 0\nfor i in 0..n\n"

static const struct text_case text_cases[] = {
	{ "", "test.ir:1:1: error[PMG0101]: expected 'module', found the end of the text" },
	{ "modul m\n", "expected 'module', found 'modul'" },
	{ HEAD "nonsense\n", "test.ir:4:1: error[PMG0101]: no line begins like this" },
	{ HEAD "array a : hidden f64[]\n", "expected a role" },
	{ HEAD "array a : in f65[]\n", "'f65' is not a type" },
	{ HEAD "array a : in f64[0..k]\n", "test.ir:4:21: error[PMG0101]: 'k' is neither a dim nor a param" },
	{ HEAD "array a : in f64[0..n\n", "expected ',', found the end of the line" },
	{ HEAD "array a : next f64[] of b\n", "'b' is not an array" },
	{ HEAD "array a : local f64[] group 3\n", "there is no such group" },
	{ HEAD "stage 0\n", "a stage stands in a group" },
	{ HEAD "param `k\n", "no closing '`'" },
	{ HEAD "decision \"a\n", "no closing '\"'" },
	{ HEAD "decision \"fuse\" \"y\" \"mended\" \"separate\" \"\"\n", "no pass decides that" },
	{ HEAD "override of \"mend\" choice \"auto\"\n", "no item of a schedule begins so" },
	{ HEAD "param m = 99999999999999999999\n", "does not fit into 64 bits" },
	{ HEAD "param m = 9223372036854775808\n", "does not fit into 64 bits" },
	{ HEAD "param m ! 3\n", "this character means nothing here" },
	{ HEAD "loop it in 0..n\n", "'it' is not a counter" },
	{ HEAD "derived m = thirds(n, 1)\n", "expected halvings or doublings" },
	{ STAGE "a[i] := 1.0\n", "expected =, +=, *=, min= or max=" },
	{ STAGE "a[i, i] = 1.0\n", "expected ']', found ','" },
	{ STAGE "a[$3] = 1.0\n", "there is no such dim here" },
	{ STAGE "a[i] = 1.0 +\n", "expected an expression" },
	{ STAGE "b[i] = 1.0\n", "'b' is not an array" },
	{ STAGE "a[i] = 1.0\nstage 0\nfor i in 0..n\na[i] = 1.0\n", "used twice" },
	{ STAGE "a[i] = 1\n", "after pass 'read' the check 'accesses are affine, values are typed' fails" },
	{ STAGE "a[i] = 1.0\nschedule prologue\n| nothing: here\n", "isl cannot read this schedule" },
	{ STAGE "a[i] = 1.0\nschedule prologue\n| domain: \"{ S7[i] : i = 0 }\"\n", "isl cannot read this schedule" },
	{ STAGE "a[i] = 1.0\nschedule prologue\n| domain: \"{ S0[i] : i = 0 }\"\n| child:\n|   mark: \"odd\"\n",
	  "isl cannot read this schedule" },
	{ STAGE "a[i] = 1.0\nschedule prologue\n| domain: \"{ S0[i] : i = 0 }\"\n| child:\n|   mark: \"group\"\n",
	  "isl cannot read this schedule" },
};

static void test_wrong_text(struct ir_tests *tests, const struct text_case *c)
{
	struct ir_fixture f;

	ir_open(&f);
	ir_read(&f, c->text);
	IR_CHECK(tests, f.module == NULL);
	IR_CHECK(tests, f.diags.n_errors == 1);
	IR_CHECK_HAS(tests, ir_messages(&f), c->message);
	ir_close(&f);
}

/* Every beginning of a text is refused or read, and leaks nothing. */
static void test_cut_text(struct ir_tests *tests, const char *text)
{
	int n_read = 0;

	for (size_t length = 0; length < strlen(text); length += 3) {
		struct arena arena = { 0 };
		struct ir_fixture f;

		ir_open(&f);
		ir_read(&f, arena_copy(&arena, text, length));
		n_read += f.module != NULL;
		IR_CHECK(tests, (f.module == NULL) == (f.diags.n_errors > 0));
		ir_close(&f);
		arena_release(&arena);
	}
	IR_CHECK(tests, n_read > 0);
}

static void test_deep_text(struct ir_tests *tests)
{
	struct arena arena = { 0 };
	struct str text = str_new(&arena);
	struct ir_fixture f;

	str_add(&text, "%s", STAGE "a[i] = ");
	for (int i = 0; i < 100000; i++)
		str_add(&text, "(");
	ir_open(&f);
	ir_read(&f, str_text(&text));
	IR_CHECK_HAS(tests, ir_messages(&f), "nested too deeply");
	ir_close(&f);
	arena_release(&arena);
}

static void test_dot(struct ir_tests *tests)
{
	struct ir_fixture f;
	const char *dot;

	ir_open_text(&f, ir_program("csr"));
	dot = module_dot(f.module, &f.arena);
	IR_CHECK_HAS(tests, dot, "digraph \"csr\" {");
	IR_CHECK_HAS(tests, dot, "group0 [shape = box, label = \"y\"];");
	IR_CHECK_HAS(tests, dot, "array0 -> group0;");
	IR_CHECK_HAS(tests, dot, "group0 -> array4;");
	IR_CHECK(tests, strstr(dot, "sum2") == NULL);
	ir_close(&f);
}

void ir_test_text(struct ir_tests *tests)
{
	for (int i = 0; i < ir_n_programs; i++)
		test_round_trip(tests, &ir_programs[i]);
	for (int i = 0; i < ir_n_programs - 1; i++)
		test_schedule(tests, &ir_programs[i]);
	test_format(tests);
	for (size_t i = 0; i < sizeof text_cases / sizeof text_cases[0]; i++)
		test_wrong_text(tests, &text_cases[i]);
	test_cut_text(tests, ir_program("names"));
	test_cut_text(tests, ir_program("iterate"));
	test_deep_text(tests);
	test_dot(tests);
}
