/* SPDX-License-Identifier: MIT
 *
 * Runs a pipeline in the reference interpreter: test_sema --interp FILE PIPELINE FOLDER NAME=VALUE... Sizes
 * and scalars are given as NAME=VALUE; FOLDER/NAME.bin holds each argument as raw values of its type (index
 * arrays: i64), and receives it back when it is written. */
#include "sema/harness.h"

#include <stdlib.h>
#include <string.h>

struct tool {
	struct lowered lowered;
	struct module *module;
	const char *folder;
	struct interp_input input;
	int64_t *sizes;
	double *scalars;
};

static int64_t evaluate(const struct tool *tool, const struct expr *expr)
{
	int64_t a, b;

	if (expr->kind == EXPR_INT)
		return expr->integer;
	if (expr->kind == EXPR_PARAM)
		return tool->sizes[expr->index];
	a = evaluate(tool, expr->args[0]);
	if (expr->op == OP_NEG)
		return -a;
	b = evaluate(tool, expr->args[1]);
	if (expr->op == OP_ADD)
		return a + b;
	if (expr->op == OP_SUB)
		return a - b;
	if (expr->op == OP_MUL)
		return a * b;
	if (expr->op == OP_DIV)
		return a / b;
	return expr->op == OP_MIN ? (a < b ? a : b) : (a > b ? a : b);
}

static bool set_param(struct tool *tool, const char *setting)
{
	const char *equals = strchr(setting, '=');

	for (int i = 0; equals && i < tool->module->params.n; i++) {
		const char *name = tool->module->params.items[i].name;

		if (strlen(name) != (size_t) (equals - setting) || strncmp(name, setting, strlen(name)) != 0)
			continue;
		tool->sizes[i] = strtoll(equals + 1, NULL, 10);
		tool->scalars[i] = strtod(equals + 1, NULL);
		return true;
	}
	fprintf(stderr, "no parameter for %s\n", setting);
	return false;
}

static const char *path_of(struct tool *tool, const struct array *array)
{
	return arena_printf(&tool->lowered.arena, "%s/%s.bin", tool->folder, array->name);
}

static bool load(struct tool *tool, const struct array *array)
{
	struct interp_array bound = { .array = array, .type = array->type };
	size_t n = 1, read = 0;
	FILE *file = fopen(path_of(tool, array), "rb");

	for (int i = 0; i < array->rank; i++) {
		bound.shape[i] = evaluate(tool, array->hi[i]);
		n *= (size_t) bound.shape[i];
	}
	bound.data = arena_alloc_array(&tool->lowered.arena, n + 1, (size_t) type_size(array->type));
	if (file) {
		read = fread(bound.data, (size_t) type_size(array->type), n, file);
		fclose(file);
	}
	vec_push(&tool->lowered.arena, &tool->input.arrays, bound);
	if (array->role == ROLE_OUT || read == n)
		return true;
	fprintf(stderr, "%s holds %zu of %zu values\n", array->name, read, n);
	return false;
}

static void store(struct tool *tool, const struct interp_array *bound)
{
	size_t n = 1;
	FILE *file = fopen(path_of(tool, bound->array), "wb");

	for (int i = 0; i < bound->array->rank; i++)
		n *= (size_t) bound->shape[i];
	if (!file)
		return;
	fwrite(bound->data, (size_t) type_size(bound->type), n, file);
	fclose(file);
}

static bool run(struct tool *tool)
{
	const char *error;

	for (int i = 0; i < tool->module->arrays.n; i++)
		if (array_is_argument(tool->module->arrays.items[i]) &&
		    !load(tool, tool->module->arrays.items[i]))
			return false;
	error = module_interpret(tool->module, &tool->lowered.arena, &tool->input, NULL);
	if (error) {
		fprintf(stderr, "%s\n", error);
		return false;
	}
	for (int i = 0; i < tool->input.arrays.n; i++)
		if (tool->input.arrays.items[i].array->role != ROLE_IN)
			store(tool, &tool->input.arrays.items[i]);
	return true;
}

static bool open_and_run(struct tool *tool, const char *pipeline, char **settings, int n)
{
	tool->module = tool->lowered.ok ? lowered_module(&tool->lowered, pipeline) : NULL;
	if (!tool->module) {
		fprintf(stderr, "no module '%s'\n%s", pipeline, diags_text(&tool->lowered.diags, 20, false));
		return false;
	}
	tool->sizes = arena_new_array(&tool->lowered.arena, int64_t, tool->module->params.n + 1);
	tool->scalars = arena_new_array(&tool->lowered.arena, double, tool->module->params.n + 1);
	tool->input =
		(struct interp_input) { .sizes = tool->sizes, .scalars = tool->scalars, .max_iterations = -1 };
	for (int i = 0; i < n; i++)
		if (!set_param(tool, settings[i]))
			return false;
	return run(tool);
}

int interp_tool(int argc, char **argv)
{
	struct tool tool = { .folder = argc > 4 ? argv[4] : "" };
	bool ok;

	if (argc < 5 || !lowered_open(&tool.lowered, argv[2], argv[2])) {
		fprintf(stderr, "usage: test_sema --interp FILE PIPELINE FOLDER NAME=VALUE...\n");
		return 2;
	}
	ok = open_and_run(&tool, argv[3], argv + 5, argc - 5);
	lowered_close(&tool.lowered);
	return ok ? 0 : 1;
}
