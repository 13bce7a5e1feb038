/* SPDX-License-Identifier: MIT
 *
 * The pipeline: text -> tree -> modules -> passes -> candidates -> text of the target. The passes, in their order, are
 * those of passes/passes.def. */
#include "driver/candidates.h"

#include <errno.h>
#include <string.h>

#include "codegen/target.h"
#include "driver/with.h"

/* A step that fails leaves an error, so that nobody stops without a word. */
static bool guarded(struct compilation *c, bool (*step)(struct compilation *c, void *argument), void *argument)
{
	bool ok = compilation_guard(c, step, argument);

	if (!ok && !c->diags.n_errors && !c->is_out_of_memory)
		diag_error(&c->diags, DIAG_INTERNAL, (struct span) { 0 }, "a step fails and does not say why");
	return ok && !c->diags.n_errors;
}

static bool timed(struct compilation *c, const char *name, bool (*step)(struct compilation *c, void *argument),
		  void *argument)
{
	double start = compilation_clock();
	bool ok = guarded(c, step, argument);

	if (ok && c->watch.after_step)
		c->watch.after_step(c->watch.user, NULL, name, compilation_clock() - start);
	return ok;
}

/* ---- text to modules ---- */

static bool open_step(struct compilation *c, void *path)
{
	struct diag *diag;
	int why;

	c->file = sources_read(&c->sources, path);
	if (c->file)
		return true;
	why = errno;
	diag = diag_error(&c->diags, DIAG_CANNOT_READ, (struct span) { 0 }, "cannot read '%s': %s",
			  (const char *) path, strerror(why));
	if (why == EISDIR)
		diag_help(&c->diags, diag, (struct span) { 0 },
			  "one program is compiled at a time: name a file of that folder, FILE.pmg");
	return false;
}

struct text {
	const char *name, *bytes;
};

static bool text_step(struct compilation *c, void *argument)
{
	const struct text *text = argument;

	c->file = sources_add(&c->sources, text->name, arena_string(&c->arena, text->bytes), strlen(text->bytes));
	return true;
}

/* If there is none of this name, all stay, to be listed. */
static void keep_only(struct tree_file *tree, const char *name)
{
	int n = 0;

	for (int i = 0; i < tree->pipelines.n; i++)
		if (!strcmp(tree->pipelines.items[i]->name.name, name))
			tree->pipelines.items[n++] = tree->pipelines.items[i];
	tree->pipelines.n = n ? n : tree->pipelines.n;
}

static bool parse_step(struct compilation *c, void *unused)
{
	(void) unused;
	c->tree = syntax_parse(&c->arena, &c->diags, c->file);
	if (c->only)
		keep_only(c->tree, c->only);
	with_add(c);
	tree_files_read(c);
	return true;
}

static bool is_dump(const struct compilation *c)
{
	const char *name = sources_get(&c->sources, c->file)->name;
	size_t length = strlen(name);

	return length > 3 && !strcmp(name + length - 3, ".ir");
}

static void leave_block_aside(struct module *module)
{
	int n = 0;

	for (int i = 0; i < module->overrides.n; i++)
		if (module->overrides.items[i].is_asked)
			module->overrides.items[n++] = module->overrides.items[i];
	module->overrides.n = n;
}

static bool lower_program(struct compilation *c, struct diags *diags, module_list *modules)
{
	bool ok = sema_lower_file(&c->arena, diags, c->ctx, c->tree, modules);

	if (modules == &c->modules)
		with_check(c);
	for (int i = 0; ok && i < modules->n; i++) {
		if (!c->options.overrides)
			leave_block_aside(modules->items[i]);
		ok = module_set_storage(modules->items[i]);
	}
	return ok;
}

static bool lower(struct compilation *c, struct diags *diags, module_list *modules)
{
	struct module *module;

	if (!is_dump(c))
		return lower_program(c, diags, modules);
	module = module_read(&c->arena, diags, c->ctx, c->file);
	if (!module)
		return false;
	if (!c->options.overrides)
		leave_block_aside(module);
	vec_push(&c->arena, modules, module);
	return true;
}

static bool lower_step(struct compilation *c, void *unused)
{
	(void) unused;
	return lower(c, &c->diags, &c->modules);
}

bool compilation_lower_again(struct compilation *c, struct diags *diags)
{
	return lower(c, diags, &c->others);
}

/* ---- modules to text ---- */

static bool passes_step(struct compilation *c, void *unused)
{
	const struct target *target = target_find(c->target);
	bool ok = true;

	(void) unused;
	c->options.swap = c->options.swap && target && target->swaps;
	for (int m = 0; m < c->modules.n; m++)
		ok = compilation_run_passes_on(c, c->modules.items[m], &c->options) && ok;
	return ok;
}

struct generate {
	const char *base;
	const char **c_text, **h_text;
};

static bool wants_candidates(struct compilation *c)
{
	return (c->options.candidates > 1 || c->options.candidates == CANDIDATES_FOR_SIZES) &&
	       !compilation_has_device(c);
}

static bool candidates_step(struct compilation *c, void *unused)
{
	(void) unused;
	return candidates_add(c);
}

static bool loops_step(struct compilation *c, void *unused)
{
	bool ok = true;

	(void) unused;
	for (int m = 0; m < c->modules.n; m++)
		ok = compilation_make_loops(c, c->modules.items[m]) && ok;
	return ok;
}

/* The text of a generated file, which is `base` with this ending. */
static const char *file_text(struct compilation *c, const struct writer *file, const char *base, const char *ending)
{
	if (!c->line_directives)
		return str_text(&file->text);
	return writer_text_with_places(file, &c->sources, arena_printf(&c->arena, "%s.%s", base, ending));
}

static bool generate_step(struct compilation *c, void *argument)
{
	const struct generate *generate = argument;
	const struct target *target = target_find(c->target);
	const struct kernel_watch watch = compilation_watch(c);
	struct generated generated = { 0 };

	if (!target)
		return diag_error(&c->diags, DIAG_NOT_SUPPORTED, (struct span) { 0 }, "there is no target '%s'",
				  c->target), false;
	if (!target_generate(c->modules.items, c->modules.n, target, c->all_isas, &c->arena, generate->base, &watch,
			     &generated))
		return false;
	compilation_add_decisions(c);
	c->generated = generated.c_file;
	c->device_text = NULL;
	if (compilation_device_ending(c))
		c->device_text = file_text(c, &generated.device_file, generate->base,
					   compilation_device_ending(c));
	*generate->c_text = file_text(c, &c->generated, generate->base, "c");
	*generate->h_text = generated.h_text;
	return true;
}

/* ---- the steps ---- */

bool compilation_open(struct compilation *c, const char *path)
{
	return guarded(c, open_step, (void *) (uintptr_t) path);
}

bool compilation_parse(struct compilation *c)
{
	return is_dump(c) || timed(c, "(parse)", parse_step, NULL);
}

bool compilation_lower(struct compilation *c)
{
	return timed(c, "(lower)", lower_step, NULL);
}

bool compilation_read(struct compilation *c, const char *path)
{
	return compilation_open(c, path) && compilation_parse(c) && compilation_lower(c);
}

bool compilation_read_text(struct compilation *c, const char *name, const char *bytes)
{
	struct text text = { name, bytes };

	return guarded(c, text_step, &text) && compilation_parse(c) && compilation_lower(c);
}

bool compilation_run_passes(struct compilation *c)
{
	return guarded(c, passes_step, NULL);
}

bool compilation_generate(struct compilation *c, const char *base, const char **c_text, const char **h_text)
{
	struct generate generate = { base, c_text, h_text };

	if (!timed(c, "(loops)", loops_step, NULL))
		return false;
	if (wants_candidates(c) && !timed(c, "(candidates)", candidates_step, NULL))
		return false;
	return timed(c, "(code)", generate_step, &generate);
}
