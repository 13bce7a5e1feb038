/* SPDX-License-Identifier: MIT
 *
 * Memory, arrays, strings, places, diagnostics, suggestions, names, indented writing, scalar types. */
#include <string.h>

#include "support/support.h"

struct tally {
	int passed, failed;
	struct arena arena;
};

static void check(struct tally *tally, bool holds, const char *what)
{
	if (holds)
		tally->passed++;
	else
		tally->failed++;
	if (!holds)
		printf("%s\n", what);
}

static void check_text(struct tally *tally, const char *what, const char *got, const char *expected)
{
	bool same = strcmp(got, expected) == 0;

	check(tally, same, what);
	if (!same)
		printf("expected\n%s\ngot\n%s\n", expected, got);
}

static bool is_zero(const char *memory, size_t size)
{
	for (size_t i = 0; i < size; i++)
		if (memory[i] != 0)
			return false;
	return true;
}

/* Sizes around those that get a block of their own; each is zero, aligned, and apart from the others. */
static void test_arena(struct tally *tally)
{
	static const size_t sizes[] = { 0, 1, 7, 16, 100, 16383, 16384, 16385, 70000, 3, 65536 };
	char *kept[sizeof sizes / sizeof *sizes];
	struct arena arena = { 0 };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
		kept[i] = arena_alloc(&arena, sizes[i]);
		check(tally, is_zero(kept[i], sizes[i]), "memory of an arena is zero");
		check(tally, (uintptr_t) kept[i] % _Alignof(max_align_t) == 0, "memory of an arena is aligned");
		memset(kept[i], (int) i + 1, sizes[i]);
	}
	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		for (size_t j = 0; j < sizes[i]; j++)
			if (kept[i][j] != (char) (i + 1))
				check(tally, false, "pieces of an arena overlap");
	check(tally, arena.allocated >= 70000, "an arena counts what it hands out");
	arena_release(&arena);
	check(tally, arena.blocks == NULL, "a released arena is empty");
}

/* What cannot be had ends at `on_failure`, not in a pointer. */
static void test_arena_failure(struct tally *tally)
{
	static const size_t counts[] = { SIZE_MAX, SIZE_MAX / 2, SIZE_MAX / 8 + 1 };
	volatile int failures = 0;
	struct arena arena = { 0 };
	jmp_buf failed;

	arena.on_failure = &failed;
	for (volatile size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
		if (setjmp(failed) == 0)
			arena_alloc_array(&arena, counts[i], 8);
		else
			failures++;
	}
	check(tally, failures == 3, "too much memory goes to on_failure");
	arena_release(&arena);
}

static void test_vec_and_str(struct tally *tally)
{
	VEC(int) numbers = { 0 };
	struct str str = str_new(&tally->arena);
	bool same = true;

	check_text(tally, "an empty string is \"\"", str_text(&str), "");
	for (int i = 0; i < 1000; i++) {
		vec_push(&tally->arena, &numbers, i * i);
		str_add(&str, "%d%s", i % 10, i % 100 == 99 ? "\n" : "");
	}
	for (int i = 0; i < 1000; i++)
		same = same && numbers.items[i] == i * i;
	check(tally, same && numbers.n == 1000, "an array keeps its items");
	check(tally, str.length == 1010 && strlen(str.text) == 1010, "a string keeps its length");
	check(tally, memcmp(str.text, "0123456789", 10) == 0 && str.text[1009] == '\n', "a string keeps its text");
	str_add_text(&str, "a\0b", 3);
	check(tally, str.length == 1013 && str.text[1012] == 'b' && str.text[1013] == 0, "a string takes any byte");
}

static void test_source(struct tally *tally)
{
	static const char text[] = "ab\tc\r\n\t\xc3\xa9x\n\nlast";
	struct sources sources = { .arena = &tally->arena };
	uint32_t file = sources_add(&sources, "f.pmg", text, sizeof text - 1);
	struct source *source = sources_get(&sources, file);
	static const struct {
		uint32_t offset;
		int line, column;
	} rows[] = { { 0, 1, 1 }, { 3, 1, 9 }, { 6, 2, 1 }, { 7, 2, 9 }, { 9, 2, 10 }, { 11, 3, 1 }, { 12, 4, 1 },
		     { 16, 4, 5 }, { 1000, 4, 5 } };
	struct span span = { file, 3, 10 }, nowhere = { 0 };

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct position at = source_position(source, rows[i].offset);

		check(tally, at.line == rows[i].line && at.column == rows[i].column, "line and column");
	}
	check_text(tally, "text of a span", span_text(&sources, &tally->arena, span), "c\r\n\t\xc3\xa9x");
	check_text(tally, "lines of a span", span_lines(&sources, &tally->arena, span), "ab\tc\r\n\t\xc3\xa9x");
	check_text(tally, "place of a span", span_place(&sources, &tally->arena, span), "f.pmg:1:9");
	check_text(tally, "place of no span", span_place(&sources, &tally->arena, nowhere), "");
	check(tally, !span_is_known(nowhere) && span_is_known(span), "a zero span has no place");
	span = span_join((struct span) { file, 5, 6 }, (struct span) { file, 1, 2 });
	check(tally, span.start == 1 && span.end == 6, "joined spans");
	check(tally, span_join(nowhere, span).end == 6, "joined with no span");
}

static void test_diag(struct tally *tally)
{
	static const char text[] = "one two\n\tthree\n";
	struct sources sources = { .arena = &tally->arena };
	struct diags diags = { .arena = &tally->arena, .sources = &sources };
	uint32_t file = sources_add(&sources, "f.pmg", text, sizeof text - 1);
	struct span nowhere = { 0 };
	struct diag *diag;

	check_text(tally, "no diagnostics", diags_text(&diags, 20, true), "");
	diag_remark(&diags, DIAG_INTERNAL, (struct span) { file, 0, 3 }, "remark");
	diag_error(&diags, DIAG_CANNOT_READ, (struct span) { file, 14, 15 }, "at the end of %s", "a line");
	diag = diag_error(&diags, DIAG_INTERNAL, (struct span) { file, 4, 12 }, "two lines");
	diag_label(&diags, diag, (struct span) { file, 9, 14 }, "here");
	diag_label(&diags, diag, nowhere, "nowhere");
	diag_help(&diags, diag, nowhere, "try '%d'", 3);
	diag_warning(&diags, DIAG_INTERNAL, nowhere, "warning");
	check(tally, diags.n_errors == 2, "errors are counted, other messages not");
	check_text(tally, "diagnostics", diags_text(&diags, 1, false),
		   "warning[PMG0001]: warning\n"
		   "f.pmg:1:5: error[PMG0001]: two lines\n"
		   "    1 | one two\n"
		   "      |     ^~~\n"
		   "f.pmg:2:9: note: here\n"
		   "    2 |         three\n"
		   "      |         ^~~~~\n"
		   "      = note: nowhere\n"
		   "      = help: try '3'\n"
		   "1 more error\n");
	check(tally, strstr(diags_text(&diags, 2, true), "remark[PMG0001]") != NULL, "remarks on demand");
	check(tally, strstr(diags_text(&diags, 2, true), "more error") == NULL, "all errors shown");
}

static void test_suggest(struct tally *tally)
{
	static const char *const names[] = { "nVoxels", "nFibers", "nAtoms", "w", "PHI", "HinesSystem", "HinesForest" };
	static const char *const rows[][2] = {
		{ "nVoxel", "nVoxels" }, { "nvoxels", "nVoxels" }, { "nFibres", "nFibers" }, { "nAtosm", "nAtoms" },
		{ "PIH", "PHI" }, { "nothing", NULL }, { "v", NULL }, { "", NULL }, { "nVoxels", NULL },
		{ "nvox", "nVoxels" }, { "nvo", NULL }, { "hinesS", "HinesSystem" },
		{ "nVoxe", "nVoxels" }, { "Hines", NULL }, { "HinesFroets", "HinesForest" }, { "sHinesFoxxt", NULL },
	};

	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *near = suggest_nearest(rows[i][0], names, sizeof names / sizeof *names);

		check_text(tally, "suggestion", near != NULL ? near : "", rows[i][1] != NULL ? rows[i][1] : "");
	}
}

static void test_name_table(struct tally *tally)
{
	struct name_table names = { 0 };
	static int values[1000];
	bool all = true, others = true;

	check(tally, name_table_get(&names, "x") == NULL, "an empty table has no names");
	for (int i = 0; i < 1000; i++)
		name_table_set(&tally->arena, &names, arena_printf(&tally->arena, "name%d", i), &values[i]);
	name_table_set(&tally->arena, &names, "name7", &values[8]);
	for (int i = 0; i < 1000; i++) {
		const char *name = arena_printf(&tally->arena, "name%d", i);

		all = all && name_table_get(&names, name) == &values[i == 7 ? 8 : i];
		others = others && !name_table_get(&names, arena_printf(&tally->arena, "name%d", i + 1000));
	}
	check(tally, all && names.n == 1000, "each name has its last value");
	check(tally, others, "other names have none");
}

static void test_writer(struct tally *tally)
{
	struct writer w = writer_new(&tally->arena);
	int line_of_open = __LINE__ + 3;

	w.span = (struct span) { 1, 2, 3 };
	open_block(&w, "for (int i = 0; i < %d; i++) {", 3);
	line(&w, "a;\n\nb;");
	close_block(&w, "}");
	writer_blank(&w);
	check_text(tally, "writer", str_text(&w.text), "for (int i = 0; i < 3; i++) {\n\ta;\n\n\tb;\n}\n\n");
	check(tally, w.lines.n == 6 && w.lines.items[3].span.end == 3 && w.lines.items[3].start == 35,
	      "lines know where they start and why");
	check(tally, strstr(w.lines.items[0].emitter, "test_support.c:") != NULL, "lines know their emitter");
	check_text(tally, "emitter", strrchr(w.lines.items[0].emitter, ':') + 1,
		   arena_printf(&tally->arena, "%d", line_of_open));
}

static void test_types(struct tally *tally)
{
	enum scalar_type type = TYPE_F64;

	for (int i = 0; i < TYPE_N; i++)
		check(tally, type_from_name(type_name((enum scalar_type) i), &type) && type == (enum scalar_type) i,
		      "a type is found by its name");
	check(tally, !type_from_name("double", &type), "C's names are no types");
	check(tally, type_size(TYPE_F32) == 4 && type_is_float(TYPE_F32) && !type_is_integer(TYPE_F32), "f32");
	check(tally, type_is_integer(TYPE_U8) && !type_is_signed(TYPE_U8) && type_is_signed(TYPE_I64), "u8, i64");
	check(tally, !type_is_integer(TYPE_BOOL) && !type_is_float(TYPE_BOOL), "bool");
	check_text(tally, "name in C", type_c_name(TYPE_I16), "int16_t");
	check_text(tally, "name in the ABI", type_abi_name(TYPE_F64), "PMG_F64");
}

int main(void)
{
	struct tally tally = { 0 };

	test_arena(&tally);
	test_arena_failure(&tally);
	test_vec_and_str(&tally);
	test_source(&tally);
	test_diag(&tally);
	test_suggest(&tally);
	test_name_table(&tally);
	test_writer(&tally);
	test_types(&tally);
	arena_release(&tally.arena);
	printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return tally.failed == 0 ? 0 : 1;
}
