/* SPDX-License-Identifier: MIT
 *
 * Sentences of --explain beside kernel trees, and parts of the trees beside the sentences. */
#include "explained.h"

#include <string.h>

#include "sentences.h"

/* Candidates share what they have alike later on. */
static struct k_program copy_of(struct arena *arena, const struct k_program *program)
{
	const struct k_replacing nothing = { 0 };
	struct k_program copy = *program;

	copy.functions.items = NULL;
	copy.functions.n = copy.functions.capacity = 0;
	for (int i = 0; i < program->functions.n; i++) {
		struct k_function *function = arena_new(arena, struct k_function);

		*function = *program->functions.items[i];
		function->body = k_copy_block(arena, &function->body, &nothing);
		vec_push(arena, &copy.functions, function);
	}
	return copy;
}

static void keep_kernels(void *user, struct module *module, const struct k_program *program, int lowering)
{
	struct explained *explained = user;
	struct arena *arena = &explained->c->arena;

	if (lowering == k_n_lowerings - 1)
		vec_push(arena, &explained->kernels, ((struct explained_kernels) { module, copy_of(arena, program) }));
}

static void fail(struct explained *explained, const struct module *module, const char *text)
{
	printf("%s, %s, for %s: %s\n", explained->path, module->name, explained->c->target, text);
	explained->failed++;
}

static void check_decision(struct explained *explained, const struct sentence *sentence)
{
	const struct decision *d = sentence->decision;
	bool is_checked;
	const char *fault = sentence_fault(sentence, &is_checked);

	if (fault)
		fail(explained, sentence->module,
		     arena_printf(&explained->c->arena, "%s %s %s %s: %s", d->pass, d->subject, d->chosen, d->reason,
				  fault));
	else if (is_checked)
		explained->passed++;
	else
		explained->excused++;
}

static void check_tree(struct explained *explained, const struct explained_kernels *kernels)
{
	const struct tree tree = tree_of(&explained->c->arena, &kernels->program);
	struct sentence sentence = { &tree, kernels->module, NULL, !strcmp(explained->c->target, "cuda") };

	for (int i = 0; i < kernels->module->decisions.n; i++) {
		sentence.decision = &kernels->module->decisions.items[i];
		check_decision(explained, &sentence);
	}
	for (int i = 0; i < tree.nodes.n; i++) {
		const char *untold = untold_in(&tree, kernels->module, i);

		if (untold)
			fail(explained, kernels->module,
			     arena_printf(&explained->c->arena, "no decision tells of %s in statement %d", untold, i));
	}
}

void explained_watch(struct explained *explained, struct compilation *c, const char *path)
{
	explained->c = c;
	explained->kernels.n = explained->kernels.capacity = 0;
	explained->kernels.items = NULL;
	explained->path = path;
	c->watch.after_lowering = keep_kernels;
	c->watch.user = explained;
}

void explained_check(struct explained *explained)
{
	for (int i = 0; i < explained->kernels.n; i++)
		check_tree(explained, &explained->kernels.items[i]);
}
