/* SPDX-License-Identifier: MIT
 *
 * Was the decision taken? A right answer does not show that a loop was made parallel, so that each case, a .pmg file,
 * says in comments what its first pipeline must and must not become:
 *     # must c: text            the generated C contains it
 *     # must not c: text
 *     # must explain: text      so does the list of decisions; schedule and remarks likewise
 *     # must decision: text     the same, with one space where that has several
 *     # must nest: text         of all pipelines, the loops and marks of each statement (nests.h)
 *     # must module: text       and the statements and arrays that the passes left, as --emit=ir prints them
 *     # must candidate: text    so does how a candidate differs, of all pipelines
 *     # same schedule: NAME     isl finds the schedules of the first pipeline and of NAME equal
 *     # options: --schedule=isl
 *     # target: cuda            must device: the generated text of kernels contains it
 * A case without an expectation fails. What --explain says of a case has to be true of its kernel tree (explained.c),
 * and where its text is kept in tests/codegen/decided, that is compared. Of each case and each example, remarks have to
 * tell what stays serial or is not fused (told.c). What the last pass leaves is proven legal; of every third case, what
 * each pass leaves, too, and of every third the module has to read back from its text; with PMG_TEST_LONG, and where
 * cases are named, of each.
 * In the folder `refused`, NAME.pmg is a program whose schedule is not to be had, or that no file can be generated
 * from, and NAME.expected all its messages, which PMG_UPDATE=1 writes anew.
 *     test_decide [FILE.pmg...]        these instead of all; with PMG_SHOW=1 prints what they became */
#include <isl/schedule.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen_tests.h"
#include "ir/schedule.h"
#include "support/folder.h"
#include "case.h"
#include "explained.h"
#include "nests.h"
#include "told.h"

#define FOLDER "tests/decide"

struct result {
	int passed, failed;
	int n_cases;
	bool asks_all;                  /* of each case, not in turn */
};

enum turn { TURN_PROVE, TURN_READ_BACK, N_TURNS = 3 };

struct texts {
	const char *c, *device, *schedule, *explain, *decision, *remarks, *module, *nest, *candidate;
	const char **modules;           /* each, as a dump has it */
};

static const char *all_schedules(struct compilation *c, struct module *module)
{
	struct str text = str_new(&c->arena);

	for (int i = 0; i < REGION_N; i++)
		if (module->regions[i].schedule)
			str_add(&text, "%s", schedule_text(module, module->regions[i].schedule));
	return str_text(&text);
}

static const char *text_of_kind(const struct texts *texts, const char *kind)
{
	if (!strcmp(kind, "c"))
		return texts->c;
	if (!strcmp(kind, "device"))
		return texts->device;
	if (!strcmp(kind, "schedule"))
		return texts->schedule;
	if (!strcmp(kind, "explain"))
		return texts->explain;
	if (!strcmp(kind, "decision"))
		return texts->decision;
	if (!strcmp(kind, "module"))
		return texts->module;
	if (!strcmp(kind, "nest"))
		return texts->nest;
	if (!strcmp(kind, "candidate"))
		return texts->candidate;
	return strcmp(kind, "remarks") ? NULL : texts->remarks;
}

/* With one space where there are several. */
static const char *squeezed(struct compilation *c, const char *text)
{
	struct str squeezed = str_new(&c->arena);

	for (; *text; text++)
		if (text[0] != ' ' || text[1] != ' ')
			str_add_text(&squeezed, text, 1);
	return str_text(&squeezed);
}

static const char **module_texts(struct compilation *c)
{
	const char **texts = arena_new_array(&c->arena, const char *, c->modules.n);

	for (int m = 0; m < c->modules.n; m++)
		texts[m] = module_text(c->modules.items[m], &c->arena);
	return texts;
}

/* The modules of all pipelines without what the user asked for, decisions and schedules. */
static const char *statements_text(struct compilation *c, const char *const *modules)
{
	static const char *const ends[] = { "\noverride of ", "\n decision ", "\nschedule " };
	struct str text = str_new(&c->arena);

	for (int m = 0; m < c->modules.n; m++) {
		const char *one = modules[m], *end;

		for (size_t i = 0; i < sizeof ends/sizeof ends[0]; i++)
			if ((end = strstr(one, ends[i])))
				one = arena_copy(&c->arena, one, (size_t) (end - one) + 1);
		str_add(&text, "%s\n", one);
	}
	return str_text(&text);
}

/* How each candidate differs from the first one, a line each. */
static const char *candidates_text(struct compilation *c)
{
	struct str text = str_new(&c->arena);

	for (int m = 0; m < c->modules.n; m++)
		for (int i = 0; i < c->modules.items[m]->candidates.n; i++)
			str_add(&text, "%s\n", c->modules.items[m]->candidates.items[i]->choice.items);
	return str_text(&text);
}

/* The order of all instances as isl sees it, as text: stages of two pipelines with the same statements have the same
 * names, so that a context of its own can read both. */
static const char *order_text(struct compilation *c, struct module *module, int region)
{
	isl_union_map *order = isl_schedule_get_map(module->regions[region].schedule);
	char *text = isl_union_map_to_str(order);
	const char *copy = arena_string(&c->arena, text ? text : "");

	free(text);
	isl_union_map_free(order);
	return copy;
}

static bool orders_equal(const char *a, const char *b)
{
	isl_ctx *ctx = isl_ctx_alloc();
	isl_union_map *first = isl_union_map_read_from_str(ctx, a), *second = isl_union_map_read_from_str(ctx, b);
	bool equal = isl_union_map_is_equal(first, second) == isl_bool_true;

	isl_union_map_free(first);
	isl_union_map_free(second);
	isl_ctx_free(ctx);
	return equal;
}

/* Equal orders by isl, and equal trees with their marks. */
static bool check_same(struct compilation *c, const char *name)
{
	struct module *first = compilation_module(c, NULL), *other = compilation_module(c, name);
	bool same = other && !strcmp(all_schedules(c, first), all_schedules(c, other));

	for (int i = 0; same && i < REGION_N; i++) {
		same = !first->regions[i].schedule == !other->regions[i].schedule;
		if (same && first->regions[i].schedule)
			same = orders_equal(order_text(c, first, i), order_text(c, other, i));
	}
	return same;
}

/* One line of expectation; -1: the line is none. */
static int check_line(struct compilation *c, const struct texts *texts, const char *line)
{
	char kind[16];
	int n = 0;

	if (sscanf(line, "# must not %15[a-z]: %n", kind, &n) == 1 && n)
		return text_of_kind(texts, kind) && !strstr(text_of_kind(texts, kind), line + n);
	if (sscanf(line, "# must %15[a-z]: %n", kind, &n) == 1 && n)
		return text_of_kind(texts, kind) && strstr(text_of_kind(texts, kind), line + n);
	if (!strncmp(line, "# same schedule: ", 17))
		return check_same(c, line + 17);
	return -1;
}

static void check_lines(struct compilation *c, const char *path, const struct texts *texts, char *text,
			struct result *result)
{
	int n_checks = 0;
	char *rest;

	for (char *line = strtok_r(text, "\n", &rest); line; line = strtok_r(NULL, "\n", &rest)) {
		int outcome = check_line(c, texts, line);

		if (outcome < 0)
			continue;
		n_checks++;
		if (outcome == 1) {
			result->passed++;
			continue;
		}
		result->failed++;
		fprintf(stderr, "%s: does not hold: %s\n", path, line);
	}
	if (!n_checks) {
		result->failed++;
		fprintf(stderr, "%s: has no expectation\n", path);
	}
}

static void check_told(struct compilation *c, const char *path, struct result *result)
{
	struct told told;

	told_check(c, &told);
	result->passed += told.n;
	if (!str_text(&told.missing)[0])
		return;
	result->failed++;
	fprintf(stderr, "%s: %s", path, str_text(&told.missing));
}

/* What a dump says of the module that the passes left is all that there is to say: read, it prints as it was. */
static void check_back(struct compilation *c, const char *path, const char *const *modules, struct result *result)
{
	for (int m = 0; m < c->modules.n; m++) {
		const char *text = modules[m];
		uint32_t file = sources_add(&c->sources, "back.ir", text, strlen(text));
		struct module *back = module_read(&c->arena, &c->diags, c->ctx, file);
		bool same = back && !strcmp(module_text(back, &c->arena), text);

		result->passed += same;
		result->failed += !same;
		if (!same)
			fprintf(stderr, "%s: '%s' does not read back as it was\n", path, c->modules.items[m]->name);
		if (back)
			module_free(back);
	}
}

static void count(struct result *result, int passed, int failed)
{
	result->passed += passed;
	result->failed += failed;
}

static void check_text(struct compilation *c, const char *path, const char *c_text, struct result *result)
{
	struct tests tests = { 0 };

	codegen_check_decided(&tests, c, path, c_text);
	count(result, tests.passed, tests.failed);
}

/* An example, compiled as users do. */
static void check_example(const char *path, void *user)
{
	struct result *result = user;
	struct compilation *c = compilation_new();

	c->options.remarks = true;
	if (compilation_read(c, path) && compilation_run_passes(c)) {
		check_told(c, path, result);
	} else {
		result->failed++;
		fprintf(stderr, "%s: does not compile\n", path);
	}
	compilation_free(c);
}

static bool has_turn(const struct result *result, enum turn turn)
{
	return result->asks_all || result->n_cases % N_TURNS == (int) turn;
}

static void check_case(const char *path, void *user)
{
	struct result *result = user;
	struct compilation *c = compilation_new();
	struct explained explained = { 0 };
	struct texts texts = { 0 };
	const char *text;

	c->verify_each = has_turn(result, TURN_PROVE);
	explained_watch(&explained, c, path);
	if (case_compile(c, path, &text, &texts.c)) {
		texts.device = c->device_text;
		texts.schedule = all_schedules(c, compilation_module(c, NULL));
		texts.explain = explain_text(c, compilation_module(c, NULL));
		texts.remarks = compilation_messages(c, true);
		texts.modules = module_texts(c);
		texts.module = statements_text(c, texts.modules);
		texts.nest = nests_text(c);
		texts.candidate = candidates_text(c);
		texts.decision = squeezed(c, texts.explain);
		if (getenv("PMG_SHOW"))
			printf("---- nest\n%s---- module\n%s---- decision\n%s", texts.nest, texts.module,
			       texts.decision);
		check_lines(c, path, &texts, arena_string(&c->arena, text), result);
		check_told(c, path, result);
		if (has_turn(result, TURN_READ_BACK))
			check_back(c, path, texts.modules, result);
		check_text(c, path, texts.c, result);
		explained_check(&explained);
		count(result, explained.passed, explained.failed);
	} else {
		count(result, 0, 1);
		fprintf(stderr, "%s: does not compile\n%s", path, compilation_messages(c, true));
	}
	result->n_cases++;
	compilation_free(c);
}

/* ---- what is refused ---- */

static bool messages_are(const char *path, const char *messages)
{
	char expected[16384], name[512];
	FILE *file;
	size_t n;

	snprintf(name, sizeof name, "%.*s.expected", (int) strlen(path) - 4, path);
	file = fopen(name, getenv("PMG_UPDATE") ? "w+b" : "rb");
	if (!file)
		return false;
	if (getenv("PMG_UPDATE")) {
		fputs(messages, file);
		rewind(file);
	}
	n = fread(expected, 1, sizeof expected - 1, file);
	expected[n] = '\0';
	fclose(file);
	return !strcmp(expected, messages);
}

static void check_refused(const char *path, void *user)
{
	struct result *result = user;
	struct compilation *c = compilation_new();
	const char *c_text, *h_text;
	bool compiles = compilation_read(c, path) && compilation_run_passes(c) &&
			compilation_generate(c, "case", &c_text, &h_text);

	if (!compiles && messages_are(path, compilation_messages(c, false))) {
		result->passed++;
	} else {
		result->failed++;
		fprintf(stderr, "%s: %s\n%s", path, compiles ? "is not refused" : "says",
			compilation_messages(c, false));
	}
	compilation_free(c);
}

/* ---- folders ---- */

/* With sanitizers, whose time goes with the length of the compiler's work, every twelfth program. */
#ifdef SANITIZED
enum { EVERY = 12 };
#else
enum { EVERY = 1 };
#endif

static const struct {
	const char *name;
	void (*check)(const char *path, void *result);
} folders[] = {
	{ FOLDER "/refused", check_refused },
	{ FOLDER, check_case },
	{ "dsl_examples", check_example },
};

static bool check_file(const char *path, struct result *result)
{
	for (size_t f = 0; f < sizeof folders/sizeof folders[0]; f++)
		if (!strncmp(path, folders[f].name, strlen(folders[f].name))) {
			folders[f].check(path, result);
			return true;
		}
	return false;
}

/* Before the interpreter runs, pivots are looked for, which may take too many operations of isl, too. */
static void check_pivots_quota(struct result *result)
{
	struct compilation *c = compilation_new();
	bool is_read = compilation_read(c, FOLDER "/pivots.pmg"), ok;
	const char *said;

	c->options.max_operations = 1;
	ok = is_read && !compilation_find_pivots(c, c->modules.items[0]);
	said = compilation_messages(c, false);
	ok = ok && strstr(said, ": error[PMG0702]: pass 'pivots' gives up on 'pivots' after 1 operations; simplify it, "
				"or raise --max-operations\n");
	if (!ok)
		printf("%s/pivots.pmg: pivots are not looked for in one operation: %s\n", FOLDER, said);
	result->passed += ok;
	result->failed += !ok;
	compilation_free(c);
}

int main(int argc, char **argv)
{
	struct result result = { .asks_all = argc > 1 || getenv("PMG_TEST_LONG") };
	bool found = true;

	for (int i = 1; i < argc; i++)
		found = check_file(argv[i], &result) && found;
	for (size_t f = 0; argc == 1 && f < sizeof folders/sizeof folders[0]; f++)
		found = folder_each_nth(folders[f].name, EVERY, 0, folders[f].check, &result) > 0 && found;
	if (argc == 1)
		check_pivots_quota(&result);
	printf("%d passed, %d failed\n", result.passed, result.failed + !found);
	return result.failed || !found;
}
