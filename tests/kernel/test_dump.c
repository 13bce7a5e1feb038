/* SPDX-License-Identifier: MIT
 *
 * Does a dump of every form come back as it was, and is what is no dump an error that names its line? */
#include <string.h>

#include "kernel/dumps.h"

/* ---- every form ---- */

/* What a node can say, whether or not a program makes codegen say it. */
static const char every_form[] =
	"# a comment of the dump\n\n"
	"global known_offsets: const int64_t *\n"
	"global known_size: int\n"
	"\n"
	"function double f(x: const double *, n: int64_t) @ 1-2 @ end 3-4\n"
	"\tlet a: const int64_t = n @ 5-6\n"
	"\tknown let b: const int = 3\n"
	"\tvar c: double = 0.0 @ 2:7-8\n"
	"\tjoined var d: double @ nowhere\n"
	"\tlet o: const double *restrict = x\n"
	"\tpadded let o_2: const int32_t *restrict = plan->data[3]\n"
	"\tjoined padded var padded: const int32_t * = o_2\n"
	"\tarray e: double [4] [n] in stack = { { 0.0, -1e-3 }, { 0 } }\n"
	"\tarray g: pmg_vector_f64 [2] in registers\n"
	"\tarray h: float [32] in shared\n"
	"\tarray h_2: float [32] in thread\n"
	"\tarray h_3: float [n] in memory\n"
	"\tlet odd: double in shared\n"
	"\ttable t: const int32_t [2] in stack = { 1, INT64_C(3000000000) }\n"
	"\te[0][1] = c = PMG_WRITE_F64(g[1]) = n > 3 && !(n == 4) ? x[0]*(double) n : *x @ 5-6\n"
	"\tatomic c += 1.0 @ above 9-10\n"
	"\tnontemporal *o = 2.0\n"
	"\td -= c -= n\n"
	"\tc++\n"
	"\te[1][1]--\n"
	"\ta >>= 2\n"
	"\t(*x).y |= p->q & ~n\n"
	"\tloop = let + if_ - call(array)\n"
	"\tcall(block) = 3\n"
	"\tblock->next = NULL\n"
	"\tcall PMG_STOP\n"
	"\tcall f<32, add>(x, double, \"a \\\"text\\\"\")\n"
	"\tcall PMG_KERNEL(f)(x)\n"
	"\tbefore\n"
	"\t\tvar i: int64_t = 0\n"
	"\t\tjoined var j: int64_t = 1 @ 1-2\n"
	"\twhile i < n, rolled, broken @ above 3-3 @ end 4-4\n"
	"\t\tbreak\n"
	"\tafter\n"
	"\t\ti++\n"
	"\twhile next(), unrolled\n"
	"\twhile true\n"
	"\t\tcontinue\n"
	"\tafter\n"
	"\t\tcall step(&i)\n"
	"\tloop r: int64_t from n - 2 down to 0 step 4, rolled\n"
	"\tloop r: int from 0 below 3, unrolled\n"
	"\tloop r: int64_t from 0 below n, workshare, dynamic, chunk f(n, 16), team, threads 4, vectors, reduce + c, "
	"reduce pmg_max d\n"
	"\tloop r: int64_t from 0 below n, simd\n"
	"\tloop r: int64_t from 0 below n, short\n"
	"\tloop r: int64_t from 3 below n step 4, grid, strided, number pmg_index, count pmg_teams\n"
	"\tloop r: int64_t from 3 below n, lanes, number pmg_lane, count pmg_team @ 1-2\n"
	"\t\tif n == 3 @ 5-6 @ end 7-8\n"
	"\t\t\tif (n), bare\n"
	"\t\t\t\treturn\n"
	"\t\telse @ 9-9\n"
	"\t\t\treturn c*2.0\n"
	"\tif n\n"
	"\telse\n"
	"\tparallel pmg_team(plan, n)\n"
	"\t\tblock\n"
	"\t\t\tunused n\n"
	"\trecord pair, alignment 8\n"
	"\t\tvar first: double\n"
	"\trecord plain\n"
	"\tcomment \"/* \\\"a\\\" \\\\ b\\n\\tc */\"\n"
	"\tblank\n"
	"\n"
	"function entry static pmg_status PMG_KERNEL(g)()\n"
	"\tblock part PMG_KERNEL(g_body) @ 1-2\n"
	"\t\tblock part g_y, apart @ end 3-4\n"
	"\t\t\tblank\n"
	"\n"
	"function device static void k(), team 32, group 8, width 2, warps 4, rolled\n"
	"\n"
	"function device extern \"C\" void h(a: int, b: int), bounds PMG_BOUNDS(32, 0), broken at 1 @ end 2-3\n";

/* What is left out or written otherwise in what is printed: the comment, and a place that is the one before. */
static void test_every_form(struct tally *tally)
{
	struct arena *arena = &tally->arena;
	const char *error, *shown = strchr(every_form, '\n') + 2;
	const struct k_program *program = k_read_program(arena, every_form, &error), *again;
	const char *dump;

	tally_check(tally, program != NULL, "every form", program ? "" : error);
	if (!program)
		return;
	dump = dump_of(arena, program);
	again = k_read_program(arena, dump, &error);
	tally_check(tally, again != NULL, "every form again", again ? "" : error);
	if (!again)
		return;
	tally_check(tally, k_program_is_equal(program, NULL, again, NULL), "every form", "the trees differ");
	tally_check_text(tally, "every form", dump_of(arena, again), dump);
	tally_check_text(tally, "every form", dump, shown);
}

/* A program by hand, without places, as each printer has it. */
static void test_by_hand(struct tally *tally)
{
	static const char dump[] =
		"function static void scale(n: int64_t, x: double *restrict)\n"
		"\tknown let a: const double = 2.0\n"
		"\tloop i: int64_t from n - 1 down to 0, unrolled\n"
		"\t\tx[i] *= a\n";
	static const char in_c[] =
		"static void scale(int64_t n, double *restrict x)\n{\n"
		"\tconst double a = 2.0;\n"
		"\tPMG_UNROLL\n"
		"\tfor (int64_t i = n - 1; i >= 0; i--)\n\t\tx[i] *= a;\n}\n";
	static const char in_cuda[] =
		"static void scale(int64_t n, double *__restrict__ x)\n{\n"
		"\tconstexpr double a = 2.0;\n"
		"\tPMG_UNROLL\n"
		"\tfor (int64_t i = n - 1; i >= 0; i--)\n\t\tx[i] *= a;\n}\n";
	const char *error;

	tally_check_text(tally, "by hand, C", c_of_dump(&tally->arena, dump, C_SPELLING_OPENMP, &error), in_c);
	tally_check_text(tally, "by hand, CUDA", c_of_dump(&tally->arena, dump, C_SPELLING_CUDA, &error), in_cuda);
}

/* ---- what is no dump ---- */

static const char *error_of(struct arena *arena, const char *text)
{
	const char *error;

	return k_read_program(arena, text, &error) ? "" : error;
}

/* Of a function with these lines, which are the second one and what follows. */
static void check_error(struct tally *tally, const char *lines, const char *expected)
{
	const char *text = arena_printf(&tally->arena, "function void f(x: double *, n: int)\n%s\n", lines);

	tally_check_text(tally, lines, error_of(&tally->arena, text), expected);
}

static void test_errors(struct tally *tally)
{
	static const char *const errors[][2] = {
		{ "\tx[0] = 1 2", "line 2: the line goes on at '2'" },
		{ "\treturn\n\n\tx[0] =", "line 4: an expression is missing at ''" },
		{ "\tlet a int = 3", "line 2: ':' is missing at 'int = 3'" },
		{ "\tlet a: = 3", "line 2: a type is missing at '= 3'" },
		{ "\tlet a: int [3] in stack", "line 2: what has extents is an array or a table at ''" },
		{ "\tarray a: int = 3", "line 2: extents are missing at '= 3'" },
		{ "\tarray a: int [3] in heap",
		  "line 2: where it is is missing: memory, registers, stack, shared or thread at 'heap'" },
		{ "\tknown a: int = 3", "line 2: 'table' is missing at 'a: int = 3'" },
		{ "\tloop i: int from 0 to n", "line 2: 'below' is missing at 'to n'" },
		{ "\tloop i: int from n down 0", "line 2: 'to' is missing at '0'" },
		{ "\tloop i: int from 0 below n, fast", "line 2: this is said of no loop at 'fast'" },
		{ "\twhile n, strided", "line 2: this is said of no loop at 'strided'" },
		{ "\tif n, quick", "line 2: 'bare' is missing at 'quick'" },
		{ "\tcall n + 1", "line 2: this calls nothing at ''" },
		{ "\trecord r, align 3", "line 2: 'alignment' is missing at 'align 3'" },
		{ "\tcomment /* x */", "line 2: the text in quotes is missing at '/* x */'" },
		{ "\tx[0] + 1", "line 2: this is no statement: '=' is missing at '+ 1'" },
		{ "\tx[0] = x[1] += 2", "line 2: one store has one sign of assignment at '+= 2'" },
		{ "\tgoto out", "line 2: no statement begins so at 'goto out'" },
		{ "\telse", "line 2: no statement begins so at 'else'" },
		{ "\tafter\n\t\tn++", "line 2: no statement begins so at 'after'" },
		{ "\tbefore\n\t\tn++\n\treturn", "line 2: a 'while' follows what is before it" },
		{ "\tbefore\n\twhile n", "line 2: there is nothing below this line" },
		{ "\twhile n\n\tafter\n\t\tn++\n\t\tn++", "line 3: one statement is after the body of a loop" },
		{ "\treturn\n\t\treturn", "line 3: this is part of no statement: it has too many tabs" },
		{ "\t    return", "line 2: lines are indented by tabs" },
		{ "\treturn @ 3", "line 2: '-' is missing at ''" },
		{ "\treturn @ 3-x", "line 2: a place is missing: FIRST-END, FILE:FIRST-END or nowhere at 'x'" },
		{ "\treturn @ 3-99999999999",
		  "line 2: a place is missing: FIRST-END, FILE:FIRST-END or nowhere at '99999999999'" },
		{ "return", "line 2: 'function' is missing at 'return'" },
		{ "global a", "line 2: ':' is missing at ''" },
		{ "global a: int = 3", "line 2: the line goes on at '= 3'" },
		{ "function void", "line 2: a name is missing at ''" },
		{ "function void f(a, b: int)", "line 2: ':' is missing at ', b: int)'" },
		{ "function void f(), pretty", "line 2: 'broken' is missing at 'pretty'" },
		{ "function device void f(), bounds", "line 2: an expression is missing at ''" },
		{ "\tbefore\n\t\tn++\n\tbefore\n\t\tn++\n\twhile n", "line 4: no statement begins so at 'before'" }
	};

	for (size_t i = 0; i < sizeof errors / sizeof *errors; i++)
		check_error(tally, errors[i][0], errors[i][1]);
	tally_check_text(tally, "no function", error_of(&tally->arena, "\n\treturn\n"),
			 "line 2: this is part of no function");
	tally_check_text(tally, "nothing", error_of(&tally->arena, ""), "");
}

/* Every beginning of the dump, and the dump without any one character or with another one there, is read without harm:
 * what is then a dump can be printed. */
static void check_mutilated(struct tally *tally, const char *text)
{
	struct arena arena = { 0 };
	const char *error;
	const struct k_program *program = k_read_program(&arena, text, &error);

	if (program)
		dump_of(&arena, program);
	if (program)
		c_of_program(&arena, program, C_SPELLING_CUDA);
	tally_check(tally, program || !strncmp(error, "line ", 5), "mutilated", text);
	arena_release(&arena);
}

static void test_mutilated(struct tally *tally)
{
	const size_t n = strlen(every_form);

	for (size_t i = 0; i < n; i++) {
		struct arena arena = { 0 };
		const char *begin = arena_copy(&arena, every_form, i), *rest = every_form + i + 1;

		check_mutilated(tally, begin);
		check_mutilated(tally, arena_printf(&arena, "%s%s", begin, rest));
		check_mutilated(tally, arena_printf(&arena, "%s%c%s", begin, "\n\t @,=(0"[i % 8], rest));
		arena_release(&arena);
	}
}

static void test_depth(struct tally *tally)
{
	static const char *const words[] = { "block", "if n", "before" };

	for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
		struct str text = str_new(&tally->arena);

		str_add(&text, "function void f()\n");
		for (int n = 1; n < 1000; n++) {
			for (int tab = 0; tab < n; tab++)
				str_add(&text, "\t");
			str_add(&text, "%s\n", words[i]);
		}
		tally_check(tally, *error_of(&tally->arena, str_text(&text)) != '\0', "no end is an error", words[i]);
	}
}

int main(void)
{
	struct tally tally = { 0 };

	test_every_form(&tally);
	test_by_hand(&tally);
	test_errors(&tally);
	test_mutilated(&tally);
	test_depth(&tally);
	arena_release(&tally.arena);
	printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return tally.failed ? 1 : 0;
}
