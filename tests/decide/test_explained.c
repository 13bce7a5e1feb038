/* SPDX-License-Identifier: MIT
 *
 * Is what --explain says what was generated? Each decision of each program is compared with the kernel tree, and parts
 * of the tree with the decisions: sentences.c. Examples are compiled for both targets; of tests/decide three
 * programs of four for their own, every sixteenth one for both. With sanitizers only for --long: tests/decide compiles
 * these programs with them.
 *     test_explained [FILE.pmg...]     these for both targets */
#include <string.h>

#include "driver/options.h"
#include "hines/tree_file.h"
#include "sentences.h"
#include "support/folder.h"

struct kernels {
	const struct module *module;
	struct k_program program;
};

struct asking {
	struct compilation *c;
	VEC(struct kernels) kernels;
	const char *path, *target;
	int passed, failed, excused, n_programs;
	bool is_sampled;
};

static void keep_kernels(void *user, struct module *module, const struct k_program *program, int lowering)
{
	struct asking *asking = user;

	if (lowering == k_n_lowerings - 1)
		vec_push(&asking->c->arena, &asking->kernels, ((struct kernels) { module, *program }));
}

static void fail(struct asking *asking, const struct module *module, const char *text)
{
	printf("%s, %s, for %s: %s\n", asking->path, module->name, asking->target, text);
	asking->failed++;
}

static void check_decision(struct asking *asking, const struct sentence *sentence)
{
	const struct decision *d = sentence->decision;
	bool is_checked;
	const char *fault = sentence_fault(sentence, &is_checked);

	if (fault)
		fail(asking, sentence->module,
		     arena_printf(&asking->c->arena, "%s %s %s %s: %s", d->pass, d->subject, d->chosen, d->reason,
				  fault));
	else if (is_checked)
		asking->passed++;
	else
		asking->excused++;
}

static void check_tree(struct asking *asking, const struct kernels *kernels)
{
	const struct tree tree = tree_of(&asking->c->arena, &kernels->program);
	struct sentence sentence = { &tree, kernels->module, NULL, !strcmp(asking->target, "cuda") };

	for (int i = 0; i < kernels->module->decisions.n; i++) {
		sentence.decision = &kernels->module->decisions.items[i];
		check_decision(asking, &sentence);
	}
	for (int i = 0; i < tree.nodes.n; i++) {
		const char *untold = untold_in(&tree, kernels->module, i);

		if (untold)
			fail(asking, kernels->module,
			     arena_printf(&asking->c->arena, "no decision tells of %s in statement %d", untold, i));
	}
}

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
static void check_for(struct asking *asking, const char *path, const char *target)
{
	asking->c = compilation_new();
	asking->kernels.n = asking->kernels.capacity = 0;
	asking->kernels.items = NULL;
	asking->path = path;
	asking->target = target;
	asking->c->after_lowering = keep_kernels;
	asking->c->user = asking;
	if (compile(asking->c, path, target))
		for (int i = 0; i < asking->kernels.n; i++)
			check_tree(asking, &asking->kernels.items[i]);
	compilation_free(asking->c);
}

static void check_path(const char *path, void *user)
{
	struct asking *asking = user;
	const bool both = !asking->is_sampled || asking->n_programs % 16 == 0;
	const bool is_of_device = strstr(path, "device") != NULL;
	const bool is_left_out = asking->is_sampled && asking->n_programs % 4 == 3;

	if (both || (!is_of_device && !is_left_out))
		check_for(asking, path, "openmp");
	if (both || (is_of_device && !is_left_out))
		check_for(asking, path, "cuda");
	asking->n_programs++;
}

static void check_all(struct asking *asking)
{
	folder_each_program("dsl_examples", check_path, asking);
	folder_each_program("tests/programs", check_path, asking);
	asking->is_sampled = true;
	folder_each_program("tests/decide", check_path, asking);
}

int main(int argc, char **argv)
{
	struct asking asking = { 0 };

	if (sentences_without_check())
		printf("%d rows of decisions.def have no check\n", sentences_without_check());
	asking.failed += sentences_without_check();
	for (int i = 1; i < argc; i++)
		check_path(argv[i], &asking);
	if (argc < 2)
		check_all(&asking);
	printf("%d sentences are excused\n%d passed, %d failed\n", asking.excused, asking.passed, asking.failed);
	return asking.failed ? 1 : 0;
}
