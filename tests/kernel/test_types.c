/* SPDX-License-Identifier: MIT
 *
 * Types of expressions: those that C gives them, those of the runtime's calls and structures, and none where a part has
 * none. Nearly all expressions of generated kernels have one. */
#include <glob.h>
#include <string.h>

#include "kernel/quoted.h"

struct tally {
	int passed, failed;
	struct arena arena;
};

static void check_text(struct tally *tally, const char *what, const char *got, const char *expected)
{
	const bool same = strcmp(got, expected) == 0;

	tally->passed += same;
	tally->failed += !same;
	if (!same)
		printf("%s: expected '%s', got '%s'\n", what, expected, got);
}

static const char *const head =
	"static float own(int64_t n)\n{\n\treturn 1.0f;\n}\n"
	"\n"
	"static void f(pmg_plan *plan, const f_args *args, int64_t n, int32_t k, int8_t b, uint32_t u, float s, "
	"double t, "
	"const double *restrict x, double *restrict y, const int8_t *restrict z)\n"
	"{\n"
	"\tpmg_vector_f64 v;\n"
	"\tdouble rows[4][8];\n"
	"\tpmg_vector_f64 sums[2];\n"
	"\tconst auto half = 0.5*t;\n"
	"\tPMG_HANDED(float, handed);\n";

/* What return gives, in a function with the declarations above. */
static const char *type_of(struct tally *tally, const char *text)
{
	const char *error;
	struct k_program *program = quoted_text(&tally->arena, arena_printf(&tally->arena, "%s\treturn %s;\n}\n", head,
									  text), &error);
	const struct k_block *body;
	const struct k_type *type;

	if (!program)
		return error;
	k_resolve_types(&tally->arena, program);
	body = &program->functions.items[1]->body;
	type = &body->stmts.items[body->stmts.n - 1]->value->type;
	return type->name ? arena_printf(&tally->arena, "%s%s%s", type->is_const ? "const " : "", type->name,
					 type->is_pointer ? " *" : "") : "?";
}

static void test_expressions(struct tally *tally)
{
	static const struct { const char *text, *type; } rows[] = {
		{ "1", "int" }, { "3000000000", "int64_t" }, { "1u", "unsigned" }, { "1.0", "double" },
		{ "1.0f", "float" },
		{ "true", "bool" }, { "n", "int64_t" }, { "b", "int8_t" }, { "-b", "int" }, { "b + b", "int" },
		{ "k + k", "int" }, { "k + n", "int64_t" }, { "n + s", "float" }, { "s + t", "double" },
		{ "u + k", "unsigned" },
		{ "u + n", "int64_t" }, { "n < t", "int" }, { "n && k", "int" }, { "!t", "int" },
		{ "n >> k", "int64_t" },
		{ "n % 2", "int64_t" }, { "b ? s : n", "float" }, { "(double) n", "double" },
		{ "(double) n/k", "double" },
		{ "x", "const double *" }, { "y", "double *" }, { "x[n]", "double" }, { "z[n]", "int8_t" },
		{ "x + n", "const double *" }, { "n + x", "const double *" }, { "x - y", "int64_t" },
		{ "&x[n]", "const double *" }, { "&y[n]", "double *" }, { "*x", "double" }, { "&t", "double *" },
		{ "n ? y : NULL", "double *" }, { "n ? NULL : y", "double *" },
		{ "v", "pmg_vector_f64" }, { "2.0*v", "pmg_vector_f64" }, { "v + v", "pmg_vector_f64" },
		{ "v[0]", "double" },
		{ "v < v", "?" }, { "sums[1]", "pmg_vector_f64" }, { "sums[1][0]", "double" },
		{ "rows", "double *" }, { "rows[1]", "double *" }, { "rows[1][2]", "double" }, { "half", "double" },
		{ "handed[0]", "float" }, { "plan->data", "void * *" }, { "plan->data[3]", "void *" },
		{ "(double *) plan->data[3] + n", "double *" }, { "plan->sizes[0]", "int64_t" },
		{ "plan->places[1].block", "int64_t" }, { "&plan->places[1]", "const pmg_place *" },
		{ "args->n", "?" },
		{ "args->n + 1", "?" }, { "PMG_ROWS", "int64_t" }, { "pmg_lane", "int" },
		{ "pmg_thread()*40", "int64_t" },
		{ "own(n)", "float" }, { "pmg_min_i64(n, k)", "int64_t" }, { "exp(s)", "double" },
		{ "foreign(n)", "?" },
		{ "PMG_READ_F64(x[n])*2.0", "pmg_vector_f64" }, { "PMG_FIRST(z, 0, n)", "int8_t" },
		{ "pmg_cuda_take<pmg_team>((int32_t) n, 3)", "int32_t" }, { "PMG_READ_AT(s, n)", "float" },
		{ "pmg_block_rows_f64(y, 16, x, &plan->places[1], 0, n, 0, n, 0, n)", "const double *" },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check_text(tally, rows[i].text, type_of(tally, rows[i].text), rows[i].type);
}

/* ---- generated kernels -------------------------------------------------------------------------------- */

struct known {
	int all, typed;
};

/* Members of the program's own arguments, types and lists have no type. */
static bool count_typed(const struct k_expr *expr, void *user)
{
	struct known *known = user;

	if (expr->kind != KE_MEMBER && expr->kind != KE_TYPE && expr->kind != KE_LIST) {
		known->all++;
		known->typed += expr->type.name != NULL;
	}
	return true;
}

static void count_file(const char *path, struct known *known)
{
	struct arena arena = { 0 };
	const char *error;
	struct k_program *program = quoted_file(&arena, path, &error);

	if (program)
		k_resolve_types(&arena, program);
	for (int i = 0; program && i < program->functions.n; i++)
		k_walk_block(&program->functions.items[i]->body,
			     &(struct k_visitor) { .expr = count_typed, .user = known });
	arena_release(&arena);
}

static void test_files(struct tally *tally)
{
	static const char *const patterns[] = { QUOTED_PATTERNS };
	struct known known = { 0, 0 };
	glob_t found;

	for (size_t p = 0; p < sizeof patterns / sizeof *patterns; p++) {
		check_text(tally, patterns[p], glob(patterns[p], 0, NULL, &found) == 0 ? "" : "none", "");
		for (size_t i = 0; i < found.gl_pathc; i++)
			count_file(found.gl_pathv[i], &known);
		globfree(&found);
	}
	printf("%d of %d expressions of generated kernels have a type\n", known.typed, known.all);
	check_text(tally, "types of generated kernels", known.typed > known.all/1000*995 ? "" : "too few", "");
}

int main(void)
{
	struct tally tally = { 0 };

	test_expressions(&tally);
	test_files(&tally);
	arena_release(&tally.arena);
	printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return tally.failed != 0;
}
