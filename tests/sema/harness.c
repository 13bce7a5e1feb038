/* SPDX-License-Identifier: MIT
 *
 * Lowering without the driver: tests of sema stand on what sema stands on. */
#include "sema/harness.h"

#include <stdlib.h>
#include <string.h>

#include <isl/options.h>

const char *lowered_file_text(struct arena *arena, const char *path)
{
	FILE *file = fopen(path, "rb");
	struct str text = str_new(arena);
	char buffer[4096];
	size_t n;

	if (!file)
		return NULL;
	while ((n = fread(buffer, 1, sizeof buffer, file)) > 0)
		str_add_text(&text, buffer, n);
	fclose(file);
	return str_text(&text);
}

void lowered_text(struct lowered *l, const char *text, const char *name)
{
	uint32_t number;
	struct tree_file *tree;

	memset(l, 0, sizeof *l);
	l->sources.arena = &l->arena;
	l->diags.arena = &l->arena;
	l->diags.sources = &l->sources;
	l->ctx = isl_ctx_alloc();
	isl_options_set_on_error(l->ctx, ISL_ON_ERROR_ABORT);
	number = sources_add(&l->sources, name, text, strlen(text));
	tree = syntax_parse(&l->arena, &l->diags, number);
	l->ok = l->diags.n_errors == 0 &&
		sema_lower_file(&l->arena, &l->diags, l->ctx, tree, &l->modules);
}

bool lowered_open(struct lowered *l, const char *path, const char *name)
{
	struct arena arena = { 0 };
	const char *text = lowered_file_text(&arena, path);

	if (text)
		lowered_text(l, text, name);
	arena_release(&arena);
	return text != NULL;
}

void lowered_close(struct lowered *l)
{
	for (int i = 0; i < l->modules.n; i++)
		module_free(l->modules.items[i]);
	isl_ctx_free(l->ctx);
	arena_release(&l->arena);
}

struct module *lowered_module(const struct lowered *l, const char *pipeline)
{
	for (int i = 0; i < l->modules.n; i++)
		if (strcmp(l->modules.items[i]->name, pipeline) == 0)
			return l->modules.items[i];
	return NULL;
}
