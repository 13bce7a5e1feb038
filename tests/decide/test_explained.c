/* SPDX-License-Identifier: MIT
 *
 * Is what --explain says what was generated? Each decision of each example is compared with the kernel tree, and parts
 * of the tree with the decisions: sentences.c. The two targets take examples in turn, and of tests/decide, where
 * test_decide asks the same for the target of each, every thirty-second program; with PMG_TEST_LONG all, for both.
 * With sanitizers only for --long: tests/decide compiles these programs with them.
 *     test_explained [FILE.pmg...]     these for both targets */
#include <stdlib.h>
#include <string.h>

#include "driver/options.h"
#include "explained.h"
#include "hines/tree_file.h"
#include "sentences.h"
#include "support/folder.h"

static char *comment_of(struct compilation *c, const char *word)
{
	const char *text = sources_get(&c->sources, c->file)->text, *line = strstr(text, word);

	return line ? arena_copy(&c->arena, line + strlen(word), strcspn(line + strlen(word), "\n")) : NULL;
}

static bool take_comments(struct compilation *c)
{
	char *options = comment_of(c, "# options: ");
	bool ok = true;

	for (char *flag = options ? strtok(options, " ") : NULL; flag; flag = strtok(NULL, " "))
		ok = options_pass_flag(&c->options, flag) && ok;
	c->options.candidates = 1;
	return ok;
}

static bool compile(struct compilation *c, const char *path, const char *target)
{
	const char *c_text, *h_text;

	c->read_tree = tree_file_read;
	c->options.restructure = false;
	return compilation_open(c, path) && take_comments(c) && compilation_choose_target(c, target) &&
	       compilation_parse(c) && compilation_lower(c) && compilation_run_passes(c) &&
	       compilation_generate(c, "explained", &c_text, &h_text);
}

/* What cannot be had for a target has no tree. */
static void check_for(struct explained *explained, const char *path, const char *target)
{
	struct compilation *c = compilation_new();

	explained_watch(explained, c, path);
	if (compile(c, path, target))
		explained_check(explained);
	compilation_free(c);
}

static void check_for_openmp(const char *path, void *explained)
{
	check_for(explained, path, "openmp");
}

static void check_for_cuda(const char *path, void *explained)
{
	check_for(explained, path, "cuda");
}

static void check_all(struct explained *explained)
{
	static const struct {
		const char *name;
		int every;
	} folders[] = { { "dsl_examples", 2 }, { "tests/programs", 2 }, { "tests/decide", 32 } };

	for (size_t f = 0; f < sizeof folders/sizeof folders[0]; f++) {
		folder_each_nth(folders[f].name, folders[f].every, 0, check_for_openmp, explained);
		folder_each_nth(folders[f].name, folders[f].every, folders[f].every/2, check_for_cuda, explained);
	}
}

int main(int argc, char **argv)
{
	struct explained all = { 0 }, *explained = &all;

	if (sentences_without_check())
		printf("%d rows of decisions.def have no check\n", sentences_without_check());
	explained->failed += sentences_without_check();
	for (int i = 1; i < argc; i++) {
		check_for_openmp(argv[i], explained);
		check_for_cuda(argv[i], explained);
	}
	if (argc < 2)
		check_all(explained);
	printf("%d sentences are excused\n%d passed, %d failed\n", explained->excused, explained->passed,
	       explained->failed);
	return explained->failed ? 1 : 0;
}
