/* SPDX-License-Identifier: MIT
 *
 * Lexer, parser and tree printer. Run in the root of the project:
 * - tests/programs and tests/syntax/ok parse without a word, and what is printed parses to the same tree;
 * - the diagnostics of each tests/syntax/err/NAME.pmg are NAME.expected, to the letter;
 * - tables of expressions, texts of construct expansions, and tokens, in this file;
 * - every program, damaged in many ways, still gives a tree that prints, and one that parses if there was no error.
 * With --write the .expected files are written instead.
 *     test_syntax [FILE.pmg...]       these files of a folder instead of all */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "support/folder.h"
#include "syntax/tree_same.h"

struct tally {
	int passed, failed;
	bool is_writing;
};

struct run {
	struct arena arena;
	struct sources sources;
	struct diags diags;
};

static void run_open(struct run *run)
{
	memset(run, 0, sizeof *run);
	run->sources.arena = &run->arena;
	run->diags.arena = &run->arena;
	run->diags.sources = &run->sources;
}

static struct tree_file *run_parse(struct run *run, const char *name, const char *text, size_t size)
{
	return syntax_parse(&run->arena, &run->diags, sources_add(&run->sources, name, text, size));
}

static const char *run_messages(struct run *run)
{
	return diags_text(&run->diags, 20, true);
}

static void check(struct tally *tally, bool holds, const char *name, const char *what, const char *detail)
{
	if (holds) {
		tally->passed++;
		return;
	}
	tally->failed++;
	printf("%s: %s\n%s", name, what, detail);
}

static void check_text(struct tally *tally, const char *name, const char *got, const char *expected)
{
	if (strcmp(got, expected) != 0)
		printf("%s: expected\n%s\ngot\n", name, expected);
	check(tally, strcmp(got, expected) == 0, name, "texts differ", got);
}

/* The content of a file of less than a mebibyte, or NULL. */
static char *file_read(struct arena *arena, const char *name, size_t *size)
{
	enum { MOST = 1 << 20 };
	FILE *stream = fopen(name, "rb");
	char *text = arena_alloc(arena, MOST);

	if (stream == NULL)
		return NULL;
	*size = fread(text, 1, MOST - 1, stream);
	fclose(stream);
	return text;
}

static void test_round_trip(struct tally *tally, const char *name, const char *text, size_t size)
{
	struct tree_file *first, *second;
	const char *printed;
	struct run run;

	run_open(&run);
	first = run_parse(&run, name, text, size);
	check(tally, run.diags.list.n == 0, name, "has diagnostics", run_messages(&run));
	printed = tree_file_text(&run.arena, first);
	second = run_parse(&run, "printed.pmg", printed, strlen(printed));
	check(tally, run.diags.list.n == 0 && tree_same_file(first, second), name,
	      "does not survive printing", run_messages(&run));
	check_text(tally, name, tree_file_text(&run.arena, second), printed);
	arena_release(&run.arena);
}

static void test_ok_file(struct tally *tally, const char *name)
{
	struct arena arena = { 0 };
	size_t size = 0;
	char *text = file_read(&arena, name, &size);

	if (text == NULL)
		check(tally, false, name, "cannot be read", "");
	else
		test_round_trip(tally, name, text, size);
	arena_release(&arena);
}

static void expectation_write(const char *name, const char *text)
{
	FILE *stream = fopen(name, "wb");

	if (stream == NULL)
		return;
	fputs(text, stream);
	fclose(stream);
}

static void test_err_file(struct tally *tally, const char *name)
{
	struct run run;
	size_t size = 0;
	const char *text, *expected, *expected_name;

	run_open(&run);
	text = file_read(&run.arena, name, &size);
	expected_name = arena_printf(&run.arena, "%.*s.expected", (int) strlen(name) - 4, name);
	run_parse(&run, name, text, size);
	if (tally->is_writing)
		expectation_write(expected_name, run_messages(&run));
	expected = file_read(&run.arena, expected_name, &size);
	check(tally, run.diags.n_errors > 0, name, "has no error", "");
	check_text(tally, name, run_messages(&run), expected != NULL ? expected : "(no file of expectations)");
	arena_release(&run.arena);
}

typedef void (*file_test)(struct tally *tally, const char *name);

struct folder_test {
	struct tally *tally;
	file_test test;
};

static void test_file(const char *path, void *user)
{
	const struct folder_test *folder = user;

	folder->test(folder->tally, folder_name_of(path));
}

/* Runs `test` on each program of `folder`, from within it, so that messages hold the names of the files only. */
static void test_folder(struct tally *tally, const char *folder, int least, file_test test)
{
	int n = chdir(folder) == 0 ? folder_each_program(".", test_file, &(struct folder_test) { tally, test }) : 0;

	check(tally, n >= least, folder, "has fewer programs than it should", "");
}

static const struct {
	const char *folder;
	int least;
	file_test test;
} folders[] = {
	{ "tests/programs", 13, test_ok_file },
	{ "tests/syntax/ok", 2, test_ok_file },
	{ "tests/syntax/err", 55, test_err_file },
};

enum { N_FOLDERS = sizeof folders/sizeof folders[0] };

static void test_folders(struct tally *tally)
{
	char *home = getcwd(NULL, 0);

	for (int i = 0; i < N_FOLDERS; i++) {
		test_folder(tally, folders[i].folder, folders[i].least, folders[i].test);
		check(tally, home != NULL && chdir(home) == 0, "folders", "no way back", "");
	}
	free(home);
}

/* One of them, from within its folder, too. */
static void test_named(struct tally *tally, const char *path)
{
	char *home = getcwd(NULL, 0);
	int i = 0;

	while (i < N_FOLDERS && strncmp(path, folders[i].folder, strlen(folders[i].folder)) != 0)
		i++;
	check(tally, i < N_FOLDERS && chdir(folders[i].folder) == 0, path, "is of no folder that is tested", "");
	if (i < N_FOLDERS)
		folders[i].test(tally, folder_name_of(path));
	check(tally, home != NULL && chdir(home) == 0, path, "no way back", "");
	free(home);
}

static const char *const texts[][2] = {
	{ "empty", "" },
	{ "comment only", "# nothing" },
	{ "byte order mark", "\xef\xbb\xbf" "const A = 1;" },
	{ "carriage returns", "# first\r\npipeline p {\r\n    out y : f64;\r\n    y = 1; # one\r\n}\r\n" },
	{ "UTF-8 in a comment", "const A = 1; # \xc3\xa9 \xe6\x97\xa5" },
	{ "no blanks", "const A=[1,2.5,3];pipeline p{out y:f64;y=1;}" },
};

static void test_texts(struct tally *tally)
{
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		test_round_trip(tally, texts[i][0], texts[i][1], strlen(texts[i][1]));
}

/* Texts that editors or lints would change if they stood in files. */
static void test_bad_text(struct tally *tally, const char *name, const char *text, size_t size,
			  const char *expected)
{
	struct run run;

	run_open(&run);
	run_parse(&run, name, text, size);
	check_text(tally, name, run_messages(&run), expected);
	arena_release(&run.arena);
}

static void test_bad_texts(struct tally *tally)
{
	static const char carriage_returns[] = "pipeline p {\r\n    y = 1 +\r\n}\r\n";
	static const char control_bytes[] = "pipeline p {\n    y = 1\003 + ;\n    y = \001\002 2;\n}\n";
	static const char zero_byte[] = "pipeline p {\n    y = 1\0 + ;\n    y = \001 2;\n}\n";
	static const char no_final_newline[] = "pipeline p {\n\ty = 1";

	test_bad_text(tally, "crlf.pmg", carriage_returns, sizeof carriage_returns - 1,
		      "crlf.pmg:2:11: error[PMG0101]: expected an expression after '+'\n"
		      "    2 |     y = 1 +\n"
		      "      |           ^\n");
	test_bad_text(tally, "bytes.pmg", control_bytes, sizeof control_bytes - 1,
		      "bytes.pmg:2:10: error[PMG0102]: unexpected byte 0x03\n"
		      "    2 |     y = 1? + ;\n"
		      "      |          ^\n"
		      "bytes.pmg:3:9: error[PMG0102]: unexpected byte 0x01\n"
		      "    3 |     y = ?? 2;\n"
		      "      |         ^~\n");
	test_bad_text(tally, "zero.pmg", zero_byte, sizeof zero_byte - 1,
		      "zero.pmg:2:10: error[PMG0102]: unexpected byte 0x00\n"
		      "    2 |     y = 1? + ;\n"
		      "      |          ^\n");
	test_bad_text(tally, "end.pmg", no_final_newline, sizeof no_final_newline - 1,
		      "end.pmg:2:13: error[PMG0101]: expected ';' after '1'\n"
		      "    2 |         y = 1\n"
		      "      |             ^\n");
}

/* What is written, and how the printer writes the same: no parentheses but those needed. */
static const char *const expressions[][2] = {
	{ "a+b*c", "a + b*c" },
	{ "(a+b)*c", "(a + b)*c" },
	{ "(a-b)-c", "a - b - c" },
	{ "a-(b-c)", "a - (b - c)" },
	{ "a/(b/c)%d", "a/(b/c)%d" },
	{ "-(a*b)", "-(a*b)" },
	{ "-a*b", "-a*b" },
	{ "a - -b", "a - -b" },
	{ "--a", "--a" },
	{ "not a==b", "not a == b" },
	{ "(not a)==b", "(not a) == b" },
	{ "not (a and b)", "not (a and b)" },
	{ "not a and b", "not a and b" },
	{ "(a<b)==(c<d)", "(a < b) == (c < d)" },
	{ "a or b and c", "a or b and c" },
	{ "(a or b) and c", "(a or b) and c" },
	{ "a or (b or c)", "a or (b or c)" },
	{ "sum(i in 0..n) a*b/c + d", "sum(i in 0..n) a*b/c + d" },
	{ "sum(i in 0..n) (a + b)", "sum(i in 0..n) (a + b)" },
	{ "(sum(i in 0..n) a)*b", "(sum(i in 0..n) a)*b" },
	{ "x - sum(c in children(F.parent, k)) u[c]*e[c]", "x - sum(c in children(F.parent, k)) u[c]*e[c]" },
	{ "-sum(i in 0..n) a*b", "-(sum(i in 0..n) a*b)" },
	{ "max(i in 1..m-1, j in 0..n) abs(v[i,j])", "max(i in 1..m - 1, j in 0..n) abs(v[i, j])" },
	{ "sum(i in 0..n) sum(j in 0..m) a", "sum(i in 0..n) (sum(j in 0..m) a)" },
	{ "min(max(i, 0), R-1)", "min(max(i, 0), R - 1)" },
	{ "sum(x)", "sum(x)" },
	{ "cast<i64>(floor(x))", "cast<i64>(floor(x))" },
	{ "1e5/area[node[j]]", "1e5/area[node[j]]" },
	{ "0.5*PHI.value[k]", "0.5*PHI.value[k]" },
	{ "x[0..1]", NULL },
	{ "a < b < c", NULL },
	{ "f(x)(y)", NULL },
	{ "sum(i in 0..n)", NULL },
	{ "min(a, i in 0..n) b", NULL },
};

static void test_expression(struct tally *tally, const char *text, const char *expected)
{
	const struct tree_expr *expr;
	struct span origin = { 0 };
	const char *got = "";
	tree_stmts stmts;
	struct run run;

	run_open(&run);
	stmts = syntax_parse_statements(&run.arena, &run.diags, arena_printf(&run.arena, "y = %s;", text), origin);
	if (expected == NULL) {
		check(tally, run.diags.n_errors == 1, text, "should be one mistake", run_messages(&run));
		arena_release(&run.arena);
		return;
	}
	if (stmts.n == 1) {
		expr = stmts.items[0]->value;
		got = tree_expr_text(&run.arena, expr);
		stmts = syntax_parse_statements(&run.arena, &run.diags,
						arena_printf(&run.arena, "y = %s;", got), origin);
		check(tally, stmts.n == 1 && tree_same_expr(expr, stmts.items[0]->value), text,
		      "changes when printed", run_messages(&run));
	}
	check_text(tally, text, got, expected);
	check(tally, run.diags.list.n == 0, text, "has diagnostics", run_messages(&run));
	arena_release(&run.arena);
}

static void test_expressions(struct tally *tally)
{
	for (size_t i = 0; i < sizeof expressions / sizeof *expressions; i++)
		test_expression(tally, expressions[i][0], expressions[i][1]);
}

/* All of an expansion, its mistakes too, is placed where the construct was called. */
static void test_expansion(struct tally *tally)
{
	static const char text[] = "fixed in PHI.atom : index(nAtoms)[nCoeffs] tree(F.offset);\nresult = 2*x + ;\n";
	static const char called[] = "Y = Construct(x);";
	struct span origin;
	tree_stmts stmts;
	struct run run;

	run_open(&run);
	origin = (struct span) { sources_add(&run.sources, "p.pmg", called, strlen(called)), 4, 16 };
	stmts = syntax_parse_statements(&run.arena, &run.diags, text, origin);
	check(tally, stmts.n == 1, "expansion", "should have one statement that can be read", "");
	if (stmts.n == 1) {
		struct tree_stmt *stmt = stmts.items[0];

		check(tally, span_equal(stmt->span, origin), "expansion", "statement not at its origin", "");
		check(tally, span_equal(stmt->type->shape.items[0]->span, origin), "expansion",
		      "expression not at its origin", "");
		check_text(tally, "dotted name", stmt->names.items[0].member, "atom");
		check_text(tally, "dotted fact", stmt->type->segments.member, "offset");
	}
	check_text(tally, "expansion", run_messages(&run),
		   "p.pmg:1:5: error[PMG0101]: unexpected ';', expected an expression\n"
		   "    1 | Y = Construct(x);\n"
		   "      |     ^~~~~~~~~~~~\n"
		   "      = note: in what this stands for: result = 2*x + ;\n");
	arena_release(&run.arena);
}

static void test_tokens(struct tally *tally)
{
	static const char text[] = "in x : f64; # c\nx min= 0..1.5e3 \"s\" $";
	struct run run;

	run_open(&run);
	check_text(tally, "tokens",
		   syntax_tokens_text(&run.arena, &run.diags,
				      sources_add(&run.sources, "t.pmg", text, strlen(text))),
		   "t.pmg:1:1 word in\nt.pmg:1:4 name x\nt.pmg:1:6 symbol :\nt.pmg:1:8 name f64\n"
		   "t.pmg:1:11 symbol ;\nt.pmg:2:1 name x\nt.pmg:2:3 symbol min=\nt.pmg:2:8 integer 0\n"
		   "t.pmg:2:9 symbol ..\nt.pmg:2:11 number 1.5e3\nt.pmg:2:17 string \"s\"\nt.pmg:2:21 error $\n"
		   "t.pmg:2:22 end of file\n");
	check(tally, run.diags.n_errors == 1, "tokens", "should have one error", "");
	arena_release(&run.arena);
}

static void test_spans(struct tally *tally)
{
	static const char text[] = "pipeline p {\n    y[i] = (a + b)*c for i in 0..n;\n}\n";
	struct tree_stmt *stmt;
	struct run run;

	run_open(&run);
	stmt = run_parse(&run, "s.pmg", text, strlen(text))->pipelines.items[0]->body.items[0];
	check_text(tally, "span of a statement", span_text(&run.sources, &run.arena, stmt->span),
		   "y[i] = (a + b)*c for i in 0..n;");
	check_text(tally, "span of a target", span_text(&run.sources, &run.arena, stmt->target->span), "y[i]");
	check_text(tally, "span of an expression", span_text(&run.sources, &run.arena, stmt->value->span),
		   "(a + b)*c");
	check_text(tally, "span of a range",
		   span_text(&run.sources, &run.arena, stmt->ranges.items[0]->span), "i in 0..n");
	check_text(tally, "place", span_place(&run.sources, &run.arena, stmt->value->span), "s.pmg:2:12");
	arena_release(&run.arena);
}

/* A small generator with a fixed start: the same damage in every run. */
static uint32_t random_next(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Overwrites, cuts out or doubles a few bytes, or cuts the text off. */
static size_t text_damage(char *text, size_t size, uint32_t *state)
{
	static const char bytes[] = "(){}[];:=.,<>+-*/\"#\n01a\0\xc3";
	size_t at = random_next(state) % size, length = random_next(state) % 8 + 1;

	if (at + length > size)
		length = size - at;
	switch (random_next(state) % 4) {
	case 0:
		text[at] = bytes[random_next(state) % (sizeof bytes - 1)];
		return size;
	case 1:
		memmove(text + at, text + at + length, size - at - length);
		return size - length;
	case 2:
		memmove(text + at, text + size - length, length);
		return size;
	default:
		return at + 1;
	}
}

/* Whether the damaged text gave a tree that can be walked, and one that survives if there was no error. */
static bool damaged_is_safe(const char *text, size_t size)
{
	struct tree_file *first, *second;
	const char *printed;
	struct run run;
	bool safe;

	run_open(&run);
	first = run_parse(&run, "damaged.pmg", text, size);
	printed = tree_file_text(&run.arena, first);
	safe = run_messages(&run) != NULL;
	if (run.diags.n_errors == 0) {
		second = run_parse(&run, "printed.pmg", printed, strlen(printed));
		safe = run.diags.n_errors == 0 && tree_same_file(first, second);
	}
	arena_release(&run.arena);
	return safe;
}

static void test_damage(struct tally *tally, const char *name)
{
	enum { ROUNDS = 60 };
	struct arena arena = { 0 };
	size_t size = 0, damaged_size;
	char *text = file_read(&arena, name, &size);
	char *damaged = arena_alloc(&arena, size + 1);
	uint32_t state = (uint32_t) size;
	int safe = 0;

	for (int i = 0; i < ROUNDS; i++) {
		memcpy(damaged, text, size);
		damaged_size = text_damage(damaged, size, &state);
		safe += damaged_is_safe(damaged, damaged_size);
	}
	check(tally, safe == ROUNDS, name, "is not safe when damaged\n", "");
	arena_release(&arena);
}

static void test_damaged_programs(struct tally *tally)
{
	char *home = getcwd(NULL, 0);

	test_folder(tally, "tests/programs", 13, test_damage);
	check(tally, home != NULL && chdir(home) == 0, "folders", "no way back", "");
	free(home);
}

static void test_all(struct tally *tally)
{
	test_folders(tally);
	test_texts(tally);
	test_bad_texts(tally);
	test_expressions(tally);
	test_expansion(tally);
	test_tokens(tally);
	test_spans(tally);
	test_damaged_programs(tally);
}

int main(int argc, char **argv)
{
	struct tally tally = { .is_writing = argc > 1 && strcmp(argv[1], "--write") == 0 };

	if (argc < 2 || tally.is_writing)
		test_all(&tally);
	for (int i = 1; i < argc && !tally.is_writing; i++)
		test_named(&tally, argv[i]);
	printf("%d passed, %d failed\n", tally.passed, tally.failed);
	return tally.failed == 0 ? 0 : 1;
}
