/* SPDX-License-Identifier: MIT
 *
 * --emit=STAGE: every arrow of the pipeline as text. */
#include "driver/emit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "codegen/target.h"
#include "ir/schedule.h"

typedef const char *text_of_module(struct compilation *c, struct module *module);

static const char *ir_text(struct compilation *c, struct module *module)
{
	return module_text(module, &c->arena);
}

static const char *dot_text(struct compilation *c, struct module *module)
{
	return module_dot(module, &c->arena);
}

static void add_relation(struct compilation *c, struct str *text, const char *name, isl_union_map *relation)
{
	char *isl_text = relation ? isl_union_map_to_str(relation) : NULL;

	str_add(text, "  %s: ", name);
	for (const char *at = isl_text ? isl_text : "not known (isl's quota)"; *at; at++)
		str_add(text, at[0] == ';' ? ";\n     " : "%c", *at);
	str_add(text, "\n");
	free(isl_text);
	(void) c;
}

static const char *const region_names[] = { "prologue", "body", "epilogue" };

static const char *deps_text(struct compilation *c, struct module *module)
{
	struct str text = str_new(&c->arena);

	str_add(&text, "%s\n", module->name);
	for (int i = 0; i < REGION_N; i++) {
		if (!module->regions[i].groups.n)
			continue;
		str_add(&text, " %s\n", region_names[i]);
		add_relation(c, &text, "strict", module->regions[i].strict);
		add_relation(c, &text, "reduction", module->regions[i].reduction);
	}
	return str_text(&text);
}

static const char *schedules_text(struct compilation *c, struct module *module)
{
	struct str text = str_new(&c->arena);

	for (int i = 0; i < REGION_N; i++)
		if (module->regions[i].schedule)
			str_add(&text, "# %s, %s\n%s", module->name, region_names[i],
				schedule_text(module, module->regions[i].schedule));
	return str_text(&text);
}

static const char *loops_text(struct compilation *c, struct module *module)
{
	return compilation_make_loops(c, module) ? target_loops_text(module, &c->arena) : NULL;
}

static const char *kernel_text(struct compilation *c, struct module *module)
{
	const struct kernel_watch watch = compilation_watch(c);
	const char *text;

	if (!compilation_make_loops(c, module))
		return NULL;
	text = target_kernel_text(module, target_find(c->target), c->all_isas, &c->arena, &watch);
	compilation_add_decisions(c);
	return text;
}

static const struct stage_text {
	const char *name;
	text_of_module *text;
	bool needs_passes;
} stage_texts[] = {
	{ "ir", ir_text, false },
	{ "dot", dot_text, false },
	{ "deps", deps_text, true },
	{ "schedule", schedules_text, true },
	{ "loops", loops_text, true },
	{ "kernel", kernel_text, true },
};

static const struct stage_text *find_stage(const char *name)
{
	for (size_t i = 0; i < sizeof stage_texts / sizeof stage_texts[0]; i++)
		if (!strcmp(stage_texts[i].name, name))
			return &stage_texts[i];
	return NULL;
}

bool emit_is_known(const char *stage)
{
	static const char *const others[] = { "tokens", "ast", "c", "h", "cu" };

	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (!strcmp(stage, others[i]))
			return true;
	return find_stage(stage);
}

bool emit_is_by_pipeline(const char *stage)
{
	return find_stage(stage);
}

static bool has_pipeline(struct compilation *c, const char *name)
{
	const char **names = arena_new_array(&c->arena, const char *, c->modules.n + 1), *nearest;
	struct str all = str_new(&c->arena);
	struct diag *diag;

	if (compilation_module(c, name))
		return true;
	for (int i = 0; i < c->modules.n; i++) {
		names[i] = c->modules.items[i]->name;
		str_add(&all, "%s%s", i ? ", " : "", names[i]);
	}
	nearest = suggest_nearest(name, names, c->modules.n);
	diag = diag_error(&c->diags, DIAG_UNKNOWN_NAME, (struct span) { 0 }, "there is no pipeline '%s'", name);
	if (nearest)
		diag_help(&c->diags, diag, (struct span) { 0 }, "did you mean '%s'?", nearest);
	else
		diag_help(&c->diags, diag, (struct span) { 0 }, "the program has %s", str_text(&all));
	return false;
}

static const char *emit_modules(struct compilation *c, const struct options *options, const struct stage_text *stage)
{
	struct str text = str_new(&c->arena);

	if (options->pipeline && !has_pipeline(c, options->pipeline))
		return NULL;
	for (int i = 0; i < c->modules.n; i++)
		if (!options->pipeline || !strcmp(options->pipeline, c->modules.items[i]->name)) {
			const char *one = stage->text(c, c->modules.items[i]);

			str_add(&text, "%s", one ? one : "");
		}
	return c->diags.n_errors ? NULL : str_text(&text);
}

static const char *emit_target(struct compilation *c, const char *stage, const char *base)
{
	const char *c_text, *h_text;

	if (!compilation_run_passes(c) || !compilation_generate(c, base, &c_text, &h_text))
		return NULL;
	if (!strcmp(stage, "cu"))
		return c->device_text ? c->device_text : "";
	return !strcmp(stage, "h") ? h_text : c_text;
}

const char *emit_stage(struct compilation *c, const struct options *options, const char *base)
{
	const char *name = options->emit ? options->emit : "c";
	const struct stage_text *stage = find_stage(name);

	if (!compilation_open(c, options->input))
		return NULL;
	if (!strcmp(name, "tokens"))
		return syntax_tokens_text(&c->arena, &c->diags, c->file);
	if (!compilation_parse(c))
		return NULL;
	if (!strcmp(name, "ast"))
		return c->tree ? tree_file_text(&c->arena, c->tree) : "";
	if (!compilation_lower(c))
		return NULL;
	if (!stage)
		return emit_target(c, name, base);
	if (stage->needs_passes && !compilation_run_passes(c))
		return NULL;
	return emit_modules(c, options, stage);
}

/* ---- files ---- */

/* errno, or 0 where all is well. */
static int write_whole(int fd, const char *text)
{
	size_t length = strlen(text);
	FILE *file = fdopen(fd, "w");
	int error = file && fchmod(fd, 0644) == 0 && fwrite(text, 1, length, file) == length ? 0 : errno;

	if ((file ? fclose(file) : close(fd)) && !error)
		error = errno;
	return error;
}

static int write_temporary(struct output_file *file)
{
	size_t n = strlen(file->path) + 8;
	struct stat status;
	int fd;

	if (!stat(file->path, &status) && S_ISDIR(status.st_mode))
		return EISDIR;
	file->temporary = malloc(n);
	if (!file->temporary)
		return ENOMEM;
	snprintf(file->temporary, n, "%s.XXXXXX", file->path);
	fd = mkstemp(file->temporary);
	return fd < 0 ? errno : write_whole(fd, file->text);
}

static int put_in_place(struct output_file *file)
{
	if (rename(file->temporary, file->path))
		return errno;
	free(file->temporary);
	file->temporary = NULL;
	return 0;
}

static void discard(struct output_file *file)
{
	if (file->temporary)
		unlink(file->temporary);
	free(file->temporary);
	file->temporary = NULL;
}

const struct output_file *emit_files(struct output_file *files, int n)
{
	const struct output_file *failed = NULL;
	int error = 0;

	for (int step = 0; step < 2; step++)
		for (int i = 0; i < n && !failed; i++) {
			error = (step ? put_in_place : write_temporary)(&files[i]);
			failed = error ? &files[i] : NULL;
		}
	for (int i = 0; i < n; i++)
		discard(&files[i]);
	errno = error;
	return failed;
}

bool emit_file(const char *path, const char *text)
{
	struct output_file file = { .path = path, .text = text };

	return !emit_files(&file, 1);
}
