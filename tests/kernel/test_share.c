/* SPDX-License-Identifier: MIT
 *
 * Bodies that candidates share: blocks of 8 and 16 become one function of the width, what is no multiple of it another
 * parameter; bodies that differ in more stay where they are. */
#include <string.h>

#include "codegen/c_print.h"
#include "kernel/make.h"

#define N(name) k_name(arena, name)
#define I(value) k_int(arena, value)

/* A block: `rows` rows for each of so many systems, the i-th multiplied by `op`. */
struct wanted {
	int width, rows;
	enum k_op op;
};

static void add_rows(struct k_builder *b, struct arena *arena, const struct wanted *wanted)
{
	for (int i = 0; i < 10; i++)
		k_set(b, k_at(arena, "x", k_operate(arena, k_operate(arena, I(wanted->width), K_MUL, N("s")), K_ADD,
						    I(i))), k_operate(arena, N("a"), wanted->op, N("n")));
}

static void add_loop(struct k_builder *b, struct arena *arena, const struct wanted *wanted)
{
	struct k_stmt *loop = k_begin_for(b, "int64_t", "s", I(0), N("n"), I(wanted->width));

	loop->loop.kind = K_LOOP_WORKSHARE;
	loop->loop.share.starts_team = true;
	k_array(b, k_scalar("double"), "row", I(wanted->width), NULL);
	k_set(b, k_at(arena, "row", I(0)), k_at(arena, "x", I(8*wanted->width)));
	k_const(b, k_scalar("double"), "a", k_operate(arena, k_at(arena, "row", I(0)), K_MUL,
						      k_operate(arena, N("n"), K_ADD, I(wanted->rows))));
	add_rows(b, arena, wanted);
	k_end(b);
}

static struct k_program program_of(struct arena *arena, const char *name, const struct wanted *wanted)
{
	struct k_program program = { 0 };
	struct k_function *function = arena_new(arena, struct k_function);
	struct k_builder b = k_builder_new(arena, &function->body);

	*function = (struct k_function) { .kind = K_FUNCTION_HOST, .name = name, .result = k_scalar("void"),
					  .qualifiers = "static" };
	vec_push(arena, &function->params, ((struct k_param) { k_buffer("double", false, true), "x" }));
	vec_push(arena, &function->params, ((struct k_param) { k_scalar("int64_t"), "n" }));
	add_loop(&b, arena, wanted);
	vec_push(arena, &program.functions, function);
	return program;
}

static const char *text_of(struct arena *arena, const struct k_program *program)
{
	struct writer w = writer_new(arena);

	for (int i = 0; i < program->functions.n; i++)
		if (!program->functions.items[i]->is_elsewhere)
			c_print_function(&w, program->functions.items[i], C_SPELLING_OPENMP);
	return str_text(&w.text);
}

struct tally {
	int passed, failed;
};

static void check(struct tally *tally, const char *what, bool holds, const char *more)
{
	if (holds)
		tally->passed++;
	else
		tally->failed++;
	if (!holds)
		printf("%s: in\n%s", what, more);
}

static void check_has(struct tally *tally, const char *text, const char *part)
{
	check(tally, part, strstr(text, part), text);
}

static void check_verified(struct tally *tally, struct arena *arena, struct k_program *program)
{
	const char *fault;

	k_resolve_types(arena, program);
	fault = k_verify_without_races(arena, program);
	check(tally, "verified", !fault, fault ? fault : "");
}

static void check_shared(struct tally *tally, struct arena *arena)
{
	struct k_program programs[] = {
		program_of(arena, "wide", &(struct wanted) { 16, 3, K_MUL }),
		program_of(arena, "narrow", &(struct wanted) { 8, 5, K_MUL })
	};
	const char *wide, *narrow;

	k_share_bodies(arena, programs, 2);
	wide = text_of(arena, &programs[0]);
	narrow = text_of(arena, &programs[1]);
	check_has(tally, wide, "PMG_ALWAYS_INLINE void wide_block(double *restrict x, int64_t n, int64_t s, "
		  "int64_t width, int64_t extent)\n");
	check_has(tally, wide, "\tdouble row[16];\n");
	check_has(tally, wide, "\trow[0] = x[8*width];\n");
	check_has(tally, wide, "row[0]*(n + extent)");
	check_has(tally, wide, "\tx[width*s + 9] = a*n;\n");
	check_has(tally, wide, "\t\twide_block(x, n, s, 16, 3);\n");
	check_has(tally, narrow, "\t\twide_block(x, n, s, 8, 5);\n");
	check(tally, "printed once", !strstr(narrow, "PMG_ALWAYS_INLINE"), narrow);
	for (int i = 0; i < 2; i++)
		check_verified(tally, arena, &programs[i]);
}

static void check_others(struct tally *tally, struct arena *arena)
{
	struct k_program programs[] = {
		program_of(arena, "products", &(struct wanted) { 16, 3, K_MUL }),
		program_of(arena, "sums", &(struct wanted) { 8, 3, K_ADD })
	};
	const char *before = text_of(arena, &programs[1]);

	k_share_bodies(arena, programs, 2);
	check(tally, "another body", !strcmp(before, text_of(arena, &programs[1])), before);
}

/* The other's only integer has two values: its node stood for both. */
static void check_nodes(struct tally *tally, struct arena *arena)
{
	struct k_program programs[] = {
		program_of(arena, "one", &(struct wanted) { 16, 3, K_MUL }),
		program_of(arena, "two", &(struct wanted) { 8, 5, K_MUL })
	};
	struct k_stmt *loops[2];
	struct k_expr *once = I(7);
	const char *before;

	for (int i = 0; i < 2; i++) {
		struct k_builder b;

		loops[i] = programs[i].functions.items[0]->body.stmts.items[0];
		b = k_builder_new(arena, &loops[i]->loop.body);
		k_set(&b, k_at(arena, "x", i ? I(9) : once), k_at(arena, "x", i ? I(7) : once));
	}
	before = text_of(arena, &programs[1]);
	k_share_bodies(arena, programs, 2);
	check(tally, "one node, two values", !strcmp(before, text_of(arena, &programs[1])), before);
}

/* A function would get the value of a variable, and the call set that one. */
static void check_addresses(struct tally *tally, struct arena *arena)
{
	struct k_program programs[2];
	const char *before;

	for (int i = 0; i < 2; i++) {
		struct k_builder b;
		struct k_stmt *loop;
		struct k_block *body;

		programs[i] = program_of(arena, i ? "eight" : "sixteen", &(struct wanted) { i ? 8 : 16, 3, K_MUL });
		body = &programs[i].functions.items[0]->body;
		loop = body->stmts.items[0];
		b = k_builder_new(arena, &loop->loop.body);
		k_do(&b, K_CALL(arena, "note", k_address(arena, N("seen"))));
		body->stmts.n = 0;
		b = k_builder_new(arena, body);
		k_var(&b, k_scalar("int64_t"), "seen", I(0));
		vec_push(arena, &body->stmts, loop);
	}
	before = text_of(arena, &programs[1]);
	k_share_bodies(arena, programs, 2);
	check(tally, "an address", !strcmp(before, text_of(arena, &programs[1])), before);
}

int main(void)
{
	struct tally tally = { 0 };
	struct arena arena = { 0 };

	check_shared(&tally, &arena);
	check_others(&tally, &arena);
	check_nodes(&tally, &arena);
	check_addresses(&tally, &arena);
	arena_release(&arena);
	printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return tally.failed ? 1 : 0;
}
