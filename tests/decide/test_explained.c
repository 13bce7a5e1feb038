/* SPDX-License-Identifier: MIT
 *
 * Is what --explain says what was generated? Each decision of each example, for both targets, is compared with the
 * kernel tree, and parts of the tree with the decisions: sentences.c. Of tests/decide, where test_decide asks the same
 * for the target of each, every sixteenth program for both targets, with PMG_TEST_LONG all.
 * With sanitizers only for --long: tests/decide compiles these programs with them.
 *     test_explained [FILE.pmg...]     these for both targets */
#include <stdlib.h>
#include <string.h>

#include "driver/options.h"
#include "explained.h"
#include "hines/tree_file.h"
#include "sentences.h"
#include "support/folder.h"

struct asking {
	struct explained explained;
	int n_programs;
	bool is_sampled;
};

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

static void check_path(const char *path, void *user)
{
	struct asking *asking = user;

	if (asking->n_programs++ % 16 && asking->is_sampled)
		return;
	check_for(&asking->explained, path, "openmp");
	check_for(&asking->explained, path, "cuda");
}

static void check_all(struct asking *asking)
{
	folder_each_program("dsl_examples", check_path, asking);
	folder_each_program("tests/programs", check_path, asking);
	asking->is_sampled = !getenv("PMG_TEST_LONG");
	folder_each_program("tests/decide", check_path, asking);
}

int main(int argc, char **argv)
{
	struct asking asking = { 0 };
	struct explained *explained = &asking.explained;

	if (sentences_without_check())
		printf("%d rows of decisions.def have no check\n", sentences_without_check());
	explained->failed += sentences_without_check();
	for (int i = 1; i < argc; i++)
		check_path(argv[i], &asking);
	if (argc < 2)
		check_all(&asking);
	printf("%d sentences are excused\n%d passed, %d failed\n", explained->excused, explained->passed,
	       explained->failed);
	return explained->failed ? 1 : 0;
}
