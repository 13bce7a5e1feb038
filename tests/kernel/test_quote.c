/* SPDX-License-Identifier: MIT
 *
 * Does every function that codegen emits come back to the byte from the kernel tree? Heads and bodies of all generated
 * files and goldens are quoted line by line, printed and compared. And is bad text an error that says what it is? */
#include <glob.h>
#include <string.h>

#include "codegen/c_print.h"
#include "kernel/quote.h"
#include "kernel/quoted.h"

struct tally {
	int passed, failed;
	struct arena arena;
};

static void check(struct tally *tally, bool holds, const char *what, const char *more)
{
	if (holds)
		tally->passed++;
	else
		tally->failed++;
	if (!holds)
		printf("%s: %s\n", what, more);
}

/* ---- functions of a file ---- */

static bool ends_with(const char *text, const char *tail)
{
	size_t n = strlen(text), m = strlen(tail);

	return n >= m && !strcmp(text + n - m, tail);
}

static void show_difference(const char *got, const char *expected)
{
	while (*got && *expected) {
		size_t n = strcspn(got, "\n"), m = strcspn(expected, "\n");

		if (n != m || strncmp(got, expected, n) != 0)
			break;
		got += n + (got[n] != '\0');
		expected += m + (expected[m] != '\0');
	}
	printf("expected: %.*s\n", (int) strcspn(expected, "\n"), expected);
	printf("     got: %.*s\n", (int) strcspn(got, "\n"), got);
}

static void check_same(struct tally *tally, const char *path, const char *name, const char *got, const char *expected)
{
	bool same = !strcmp(got, expected);

	check(tally, same, path, name);
	if (!same)
		show_difference(got, expected);
}

static void check_function(struct tally *tally, const char *path, const struct quoted_part *part)
{
	const bool is_cuda = ends_with(path, ".cu") || ends_with(path, ".device");
	const char *error = NULL;
	const struct k_function *function = quoted_function(&tally->arena, part, &error);
	struct writer w = writer_new(&tally->arena);

	if (!function) {
		check(tally, false, path, error);
		return;
	}
	c_print_function(&w, function, is_cuda ? C_SPELLING_CUDA : C_SPELLING_OPENMP);
	check_same(tally, path, function->name, str_text(&w.text),
		   arena_copy(&tally->arena, part->head, (size_t) (part->end + 2 - part->head)));
}

static void check_file(struct tally *tally, const char *path)
{
	const char *file = quoted_read(&tally->arena, path), *at = file;
	struct quoted_part part;

	while (file && quoted_next(file, &at, &part))
		check_function(tally, path, &part);
}

static void test_files(struct tally *tally, const char *pattern)
{
	glob_t found;

	check(tally, glob(pattern, 0, NULL, &found) == 0, pattern, "is there");
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct arena outer = tally->arena;

		tally->arena = (struct arena) { 0 };
		check_file(tally, found.gl_pathv[i]);
		arena_release(&tally->arena);
		tally->arena = outer;
	}
	globfree(&found);
}

/* ---- bad text ---- */

static const char *error_of(struct arena *arena, const char *text)
{
	struct k_block block = { 0 };
	struct k_builder builder = k_builder_new(arena, &block);

	quote_at(&builder, "test:1", "%s", text);
	return builder.error;
}

static void test_errors(struct tally *tally)
{
	static const char *const bad[] = {
		"x", "x;;", "x = ;", "= x;", "x + y;", "(f(x));", "f(x", "f(x));", "x = y z;", "int64_t = 3;",
		"if (x) y", "for (;;) {", "for (; x; ) {", "for (int64_t i = 0; i < n; i++) x = 3;", "while () {",
		"}", "};", "} else {", "x = \"a;", "x = 1 + * / 2;", "x = 1 = y;", "3 = x;", "x = @;",
		"x = y ? z;", "#pragma omp for", "#pragma omp parallel", "#pragma omp simd reduction(+)",
		"#pragma omp what", "x[1;", "x->3;", "x = { 1, ;", "f<1, 2;", "return",
		"x = 99999999999999999999;", "x = 1abc;", "x = y << 3;", "double *a, b;",
		"if (const int64_t i = 3; j < n) {", "struct {", "goto out;", "x = INT64_C(;",
		"x = INT64_C(y);", "PMG_UNROLL\nx = 3;", "PMG_UNROLL\n/* c */", "PMG_UNROLL\n",
		"#pragma omp atomic\nf(x);", "if (x)\n/* c */", "PMG_UNROLL\n#pragma omp simd"
	};

	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
		check(tally, error_of(&tally->arena, bad[i]) != NULL, "taken for a statement", bad[i]);
}

/* Every beginning of lines that hold every form is read without harm, and so is every line without one character. */
static void test_mutilated(struct tally *tally)
{
	static const char *const texts[] = {
		"const pmg_vector_f64 value = PMG_READ_F64(x[16*i + lane])*(double) n/(double) (n + 1) - -0.5*~r[-3];",
		"for (int64_t it = pmg_loop_begin(plan, control, 0);\n     next(it, rr[0] <= limit[0]); it++) {",
		"#pragma omp parallel for simd schedule(dynamic, f(n, 16)) reduction(pmg_max:m) num_threads(t)",
		"w = PMG_WRITE_F64(x[16*i]) = !a && b ? INT64_C(3000000000) : f<g, int32_t>((int32_t) k, &x);",
		"if (const int64_t x = -1 + pmg_index; x < nx + 1) {", "struct alignas(8) handed {",
		"double sums[2] = { { 0 }, { a.b->c, \"t\\\"\" } };",
		"for (int64_t begin_2, end_2 = n; end_2 > 0; end_2 = begin_2) {"
	};

	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (size_t n = 0; n < strlen(texts[i]); n++) {
			const char *begin = arena_copy(&tally->arena, texts[i], n);

			error_of(&tally->arena, begin);
			error_of(&tally->arena, arena_printf(&tally->arena, "%s%s", begin, texts[i] + n + 1));
			tally->passed++;
		}
}

static void test_depth(struct tally *tally)
{
	static const char *const repeated[] = {
		"(", "-", "a[", "f(", "{", "x = ", "a ? ", "if (x) ", "(double) ", "a + ("
	};

	for (size_t i = 0; i < sizeof repeated / sizeof *repeated; i++) {
		struct str text = str_new(&tally->arena);

		str_add(&text, "x = ");
		for (int n = 0; n < 5000; n++)
			str_add(&text, "%s", repeated[i]);
		check(tally, error_of(&tally->arena, str_text(&text)) != NULL, "no end is an error", repeated[i]);
	}
}

/* ---- trees ---- */

static void check_expr(struct tally *tally, const struct k_expr *expr, const char *expected)
{
	const char *got = k_expr_text(&tally->arena, expr);

	check(tally, !strcmp(got, expected), expected, got);
}

/* Parentheses of what was never text. */
static void test_parentheses(struct tally *tally)
{
	struct arena *m = &tally->arena;
	struct k_expr *a = k_name(m, "a"), *b = k_name(m, "b"), *sum = k_binary(m, K_ADD, a, b);
	struct k_expr *product = k_binary(m, K_MUL, a, b), *both = k_binary(m, K_AND, a, b);

	check_expr(tally, k_binary(m, K_MUL, sum, k_int(m, -1)), "(a + b)*-1");
	check_expr(tally, k_binary(m, K_SUB, a, sum), "a - (a + b)");
	check_expr(tally, k_binary(m, K_SUB, sum, product), "a + b - a*b");
	check_expr(tally, k_binary(m, K_DIV, a, product), "a/(a*b)");
	check_expr(tally, k_binary(m, K_REM, product, k_int(m, 2)), "a*b % 2");
	check_expr(tally, k_binary(m, K_OR, a, both), "a || (a && b)");
	check_expr(tally, k_unary(m, K_NEG, k_int(m, -2)), "-(-2)");
	check_expr(tally, k_unary(m, K_NOT, both), "!(a && b)");
	check_expr(tally, k_cast(m, k_scalar("double"), sum), "(double) (a + b)");
	check_expr(tally, k_load(m, k_cast(m, k_scalar("double"), a), k_int(m, INT64_MIN)), "((double) a)[INT64_MIN]");
	check_expr(tally, k_select(m, k_select(m, a, b, a), sum, k_select(m, a, b, a)),
		   "(a ? b : a) ? a + b : a ? b : a");
	check_expr(tally, k_member(m, k_unary(m, K_CONTENT, a), "b", false), "(*a).b");
	check_expr(tally, k_call(m, "f", 2, k_int(m, 3000000000), k_bool(m, true)), "f(INT64_C(3000000000), true)");
}

static const struct k_loop *loop_of(struct tally *tally, const char *text)
{
	const char *error;
	struct k_stmt *stmt = quote_stmt(&tally->arena, text, &error);

	check(tally, stmt && stmt->kind == KS_LOOP, "a loop", text);
	return stmt && stmt->kind == KS_LOOP ? &stmt->loop : NULL;
}

static void test_loops(struct tally *tally)
{
	const struct k_loop *loop = loop_of(tally, "for (int64_t i = n - 2; i >= 0; i -= 4) {");

	check(tally, loop && loop->kind == K_LOOP_SERIAL && loop->is_down && loop->step->integer == 4,
	      "serial", "down");
	loop = loop_of(tally, "for (int64_t t = 3 + 4*pmg_lane; t < n; t += 4*pmg_team) {");
	check(tally, loop && loop->kind == K_LOOP_LANES && loop->first->integer == 3 &&
	      loop->step->integer == 4 && !strcmp(loop->number->text, "pmg_lane") &&
	      !strcmp(loop->count->text, "pmg_team"), "lanes", "from 3 by 4");
	loop = loop_of(tally, "for (int64_t k = begin; k < n; k += pmg_team) {");
	check(tally, loop && loop->kind == K_LOOP_SERIAL && !loop->number, "every lane", "has these iterations");
	loop = loop_of(tally, "if (const int64_t i = n - 1 - pmg_index; i >= 0) {");
	check(tally, loop && loop->kind == K_LOOP_GRID && loop->is_down && !loop->is_strided, "grid", "one iteration");
	loop = loop_of(tally, "for (int64_t i = pmg_index; i < n; i += pmg_teams) {");
	check(tally, loop && loop->kind == K_LOOP_GRID && loop->is_strided && loop->first->integer == 0, "grid",
	      "strided");
}

/* An if without braces may guard a loop; one statement is printed without any. A loop of a team's begin has its empty
 * line in one text. */
static void test_guarded_loop(struct tally *tally)
{
	static const char expected[] =
		"if (part == 0)\n\tfor (int64_t i = 3; i < n; i += 2)\n\t\tf(i);\nconst int64_t end = n;\n\n";
	struct k_block block = { 0 };
	struct k_builder builder = k_builder_new(&tally->arena, &block);
	struct writer w = writer_new(&tally->arena);

	quote_open(&builder, "if (part == 0)\n\tfor (int64_t i = 3; i < n; i += 2) {");
	quote(&builder, "f(i);");
	quote_close(&builder, "}");
	quote(&builder, "const int64_t end = n;\n");
	c_print_block(&w, &block, C_SPELLING_OPENMP);
	check(tally, !builder.error && !strcmp(str_text(&w.text), expected), "a guarded loop", str_text(&w.text));
}

/* An else begins where the if is open, or was closed last. */
static void test_else(struct tally *tally)
{
	static const char expected[] = "if (a) {\n\tf(a);\n} else {\n\tf(b);\n}\n";
	struct k_block block = { 0 };
	struct k_builder builder = k_builder_new(&tally->arena, &block);
	struct writer w = writer_new(&tally->arena);

	quote_open(&builder, "if (%s) {", "a");
	quote(&builder, "f(a);");
	quote_close(&builder, "}");
	quote_reopen(&builder);
	quote(&builder, "f(b);");
	quote_close(&builder, "}");
	c_print_block(&w, &block, C_SPELLING_OPENMP);
	check(tally, !builder.error && !strcmp(str_text(&w.text), expected), "an else", str_text(&w.text));
	quote_reopen(&builder);
	check(tally, builder.error != NULL, "an if", "has one else");
}

/* Each line has the place of the call that it came by, closing ones and annotations, too. */
static void test_places(struct tally *tally)
{
	static const char *const emitters[] = { "a:1", "a:2", "a:3", "a:4", "a:5", "a:6" };
	struct k_block block = { 0 };
	struct k_builder builder = k_builder_new(&tally->arena, &block);
	struct writer w = writer_new(&tally->arena);

	quote_at(&builder, "a:1", "PMG_UNROLL");
	builder.span.start = 1;
	quote_open_at(&builder, "a:2", "for (int i = 0; i < 2; i++) {");
	builder.span.start = 2;
	quote_at(&builder, "a:3", "if (x)");
	builder.span.start = 3;
	quote_at(&builder, "a:4", "\tf(x);");
	builder.span.start = 4;
	quote_close_at(&builder, "a:5", "}");
	builder.span.start = 5;
	quote_at(&builder, "a:6", "(void) x;");
	c_print_block(&w, &block, C_SPELLING_OPENMP);
	check(tally, !builder.error && w.lines.n == 6, "lines", str_text(&w.text));
	for (int i = 0; i < 6 && i < w.lines.n; i++)
		check(tally, w.lines.items[i].span.start == (uint32_t) i && w.lines.items[i].emitter &&
		      !strcmp(w.lines.items[i].emitter, emitters[i]), "the place of", emitters[i]);
}

int main(void)
{
	struct tally tally = { 0 };

	test_files(&tally, "generated/*.c");
	test_files(&tally, "generated/cuda/*.cu");
	test_files(&tally, "tests/codegen/*/*.kernel");
	test_files(&tally, "tests/codegen/*/*.device");
	test_errors(&tally);
	test_mutilated(&tally);
	test_depth(&tally);
	test_parentheses(&tally);
	test_loops(&tally);
	test_guarded_loop(&tally);
	test_else(&tally);
	test_places(&tally);
	arena_release(&tally.arena);
	printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return tally.failed ? 1 : 0;
}
