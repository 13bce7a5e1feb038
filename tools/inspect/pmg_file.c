/* SPDX-License-Identifier: MIT
 *
 * A program as its user sees it: each pipeline with its parameters and arguments, their types, shapes and
 * facts. */
#include <inttypes.h>
#include <string.h>

#include "driver/pipeline.h"
#include "hines/tree_file.h"
#include "inspect/inspect.h"

static void print_params(const struct module *module)
{
	for (int p = 0; p < module->params.n; p++) {
		const struct param *param = &module->params.items[p];
		if (param->is_loop)
			continue;
		printf("  param     %-14s %s", param->name,
		       param->is_scalar ? type_name(param->type) : "size");
		if (param->is_specialized)
			printf(" = %" PRId64, param->value);
		putchar('\n');
	}
}

static const char *role_text(const struct array *array)
{
	if (array->role == ROLE_OUT)
		return "out";
	if (array->role == ROLE_INOUT)
		return "inout";
	return array->is_fixed ? "fixed in" : "in";
}

static void print_facts(struct arena *arena, const struct module *module, const struct array *array)
{
	static const struct {
		unsigned fact;
		const char *text;
	} plain[] = { { FACT_SORTED, "sorted" }, { FACT_UNIQUE, "unique" }, { FACT_TREE, "tree" } };
	const char *limit = array->limit ? expr_text(arena, module, NULL, array->limit) : "";
	if (array->facts & FACT_INDEX)
		printf("  index(%s)", limit);
	if (array->facts & FACT_OFFSETS)
		printf("  offsets(%s)", limit);
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++)
		if (array->facts & plain[i].fact)
			printf("  %s", plain[i].text);
	if (array->segments)
		printf(" within %s", array->segments->name);
}

static void print_array(struct arena *arena, const struct module *module, const struct array *array)
{
	printf("  %-9s %-14s %s", role_text(array), array->name,
	       array_is_index(array) ? "integers" : type_name(array->type));
	for (int d = 0; d < array->rank; d++)
		printf("%s%s", d ? ", " : "[", expr_text(arena, module, NULL, array->hi[d]));
	printf("%s", array->rank ? "]" : "");
	print_facts(arena, module, array);
	putchar('\n');
}

static void print_pipeline(struct arena *arena, const struct module *module)
{
	printf("pipeline %s\n", module->name);
	print_params(module);
	for (int i = 0; i < module->arrays.n; i++)
		if (array_is_argument(module->arrays.items[i]))
			print_array(arena, module, module->arrays.items[i]);
	if (module->loop.var)
		printf("  iterates over %s\n", module->loop.var);
}

static bool print_program(struct compilation *c, const char *path, struct failure *failure)
{
	if (!compilation_read(c, path))
		return fail_program(failure, c, path);
	printf("%s: %d pipeline%s\n", path, c->modules.n, s_of(c->modules.n));
	for (int i = 0; i < c->modules.n; i++)
		print_pipeline(&c->arena, c->modules.items[i]);
	return true;
}

bool inspect_program(const char *path, struct failure *failure)
{
	if (!file_is_readable(path, failure))
		return false;
	struct compilation *c = compilation_new();
	if (!c)
		return fail_memory(failure, "the compiler");
	c->read_tree = tree_file_read;
	bool ok = print_program(c, path, failure);
	compilation_free(c);
	return ok;
}
