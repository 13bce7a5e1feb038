/* SPDX-License-Identifier: MIT
 *
 * Constructors of statements: each adds what the C that is quoted here says, to the byte and to the node. */
#include <string.h>

#include "codegen/c_print.h"
#include "kernel/quote.h"
#include "kernel/make.h"

typedef void build_fn(struct k_builder *b, struct arena *arena);

#define N(name) k_name(arena, name)
#define I(value) k_int(arena, value)

static void constants(struct k_builder *b, struct arena *arena)
{
	k_const(b, k_scalar("int64_t"), "n", K_CALL(arena, "pmg_min_i64", N("a"), I(4)));
	k_const(b, k_buffer("double", true, true), "x", k_load(arena, k_member(arena, N("plan"), "data", true), I(3)));
	k_var(b, k_buffer("double", false, true), "y", N("x"));
	k_var(b, k_scalar("double"), "sum", k_float(arena, "0.0"));
	k_var(b, k_scalar("double"), "later", NULL);
	k_array(b, k_scalar("int64_t"), "begin", I(16), NULL);
	k_array(b, k_scalar("double"), "sums", I(2), K_LIST(arena, I(0), N("a")));
}

static const char constants_text[] =
	"const int64_t n = pmg_min_i64(a, 4);\n"
	"const double *restrict x = plan->data[3];\n"
	"double *restrict y = x;\n"
	"double sum = 0.0;\n"
	"double later;\n"
	"int64_t begin[16];\n"
	"double sums[2] = { 0, a };\n";

static void effects(struct k_builder *b, struct arena *arena)
{
	k_set(b, k_at(arena, "y", N("i")), k_operate(arena, N("a"), K_MUL, k_operate(arena, N("b"), K_ADD, I(1))));
	k_update(b, K_ADD, N("sum"), N("a"));
	k_do(b, K_CALL(arena, "pmg_put", k_address(arena, N("x")), N("a")));
	k_macro(b, "PMG_TEAM_SYNC");
	k_unused(b, "n");
	k_blank(b);
	k_only_if(b, k_binary(arena, K_LT, N("a"), N("b")));
	k_set(b, N("a"), N("b"));
	k_set(b, N("a"), k_times(arena, k_grouped(arena, N("a")), k_binary(arena, K_DIV, N("b"), I(2))));
	k_do(b, K_CALL(arena, "pmg_say", k_string(arena, "\"a\"")));
	k_return(b, N("PMG_OK"));
}

static const char effects_text[] =
	"y[i] = a*(b + 1);\n"
	"sum += a;\n"
	"pmg_put(&x, a);\n"
	"PMG_TEAM_SYNC;\n"
	"(void) n;\n"
	"\n"
	"if (a < b)\n"
	"\ta = b;\n"
	"a = (a)*b/2;\n"
	"pmg_say(\"a\");\n"
	"return PMG_OK;\n";

static void arguments(struct k_builder *b, struct arena *arena)
{
	struct k_expr *place = K_LIST(arena, I(16), N("x")), *call = K_CALL(arena, "pmg_put", N("y"));

	k_do(b, K_WITH(arena, k_with_list(arena, call, place), N("end")));
	k_do(b, k_with_list(arena, call, K_WITH(arena, place, N("n"))));
	k_do(b, call);
}

static const char arguments_text[] =
	"pmg_put(y, 16, x, end);\n"
	"pmg_put(y, 16, x, n);\n"
	"pmg_put(y);\n";

static void blocks(struct k_builder *b, struct arena *arena)
{
	struct k_stmt *loop;

	k_begin_for(b, "int64_t", "i", I(0), N("n"), NULL)->loop.kind = K_LOOP_UNROLLED;
	k_begin_if(b, k_binary(arena, K_GE, N("i"), N("k")));
	k_macro(b, "PMG_READ_ONCE");
	k_begin_else(b);
	k_begin(b);
	k_end(b);
	k_end(b);
	k_end(b);
	k_begin_down(b, "int64_t", "j", N("n"), I(0), I(2));
	k_end(b);
	k_begin_while(b, k_binary(arena, K_GT, N("a"), I(0)));
	k_end(b);
	loop = k_begin_while(b, k_binary(arena, K_AND, k_binary(arena, K_LT, N("i"), N("n")), N("more")));
	vec_push(arena, &loop->repeat.before.stmts, k_let_of(arena, k_scalar("int64_t"), "i", I(0)));
	loop->repeat.after = k_step_of(arena, K_ADD, N("i"));
	k_end(b);
	k_begin_parallel(b, K_CALL(arena, "pmg_team", N("plan")));
	k_end(b);
	k_record(b, "handed", 8);
	k_var(b, k_scalar("double"), "value", NULL);
	k_end(b);
}

static const char blocks_text[] =
	"PMG_UNROLL\n"
	"for (int64_t i = 0; i < n; i++) {\n"
	"\tif (i >= k) {\n"
	"\t\tPMG_READ_ONCE;\n"
	"\t} else {\n"
	"\t\t{\n"
	"\t\t}\n"
	"\t}\n"
	"}\n"
	"for (int64_t j = n; j >= 0; j -= 2) {\n"
	"}\n"
	"while (a > 0) {\n"
	"}\n"
	"for (int64_t i = 0; i < n && more; i++) {\n"
	"}\n"
	"#pragma omp parallel num_threads(pmg_team(plan))\n"
	"{\n"
	"}\n"
	"struct alignas(8) handed {\n"
	"\tdouble value;\n"
	"};\n";

/* ---- checks ---- */

struct tally {
	int passed, failed;
};

static void check(struct tally *tally, const char *what, const char *got, const char *expected)
{
	if (strcmp(got, expected) == 0) {
		tally->passed++;
		return;
	}
	tally->failed++;
	printf("%s: expected\n%sgot\n%s", what, expected, got);
}

static const char *text_of(struct arena *arena, const struct k_block *block)
{
	struct writer w = writer_new(arena);

	c_print_block(&w, block, C_SPELLING_OPENMP);
	return str_text(&w.text);
}

static const char *dump_of(struct arena *arena, const struct k_block *block)
{
	struct writer w = writer_new(arena);

	k_print_block(&w, block);
	return str_text(&w.text);
}

static void check_case(struct tally *tally, struct arena *arena, const char *what, build_fn *build, const char *text)
{
	struct k_block made = { 0 }, quoted = { 0 };
	struct k_builder b = k_builder_new(arena, &made), q = k_builder_new(arena, &quoted);

	build(&b, arena);
	quote(&q, "%.*s", (int) strlen(text) - 1, text);
	check(tally, what, b.error ? b.error : "", "");
	check(tally, what, q.error ? q.error : "", "");
	check(tally, what, text_of(arena, &made), text);
	check(tally, what, dump_of(arena, &made), dump_of(arena, &quoted));
}

int main(void)
{
	struct tally tally = { 0 };
	struct arena arena = { 0 };

	check_case(&tally, &arena, "declarations", constants, constants_text);
	check_case(&tally, &arena, "effects", effects, effects_text);
	check_case(&tally, &arena, "arguments", arguments, arguments_text);
	check_case(&tally, &arena, "blocks", blocks, blocks_text);
	arena_release(&arena);
	printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return tally.failed ? 1 : 0;
}
