/* SPDX-License-Identifier: MIT
 *
 * The candidates of a pipeline that are printed: other decisions may lead to the same kernel, which is found by
 * printing all of them under one name. */
#include <string.h>

#include "codegen/abi.h"

/* NULL: it cannot be printed. */
static const char *kernel_text(struct module *module, const char *prefix, const struct target *target)
{
	struct writer scratch = writer_new(module->arena);

	return emit_kernel(&scratch, layout_new(module, prefix), target) ? str_text(&scratch.text) : NULL;
}

static bool is_known(const char *const *texts, int n, const char *text)
{
	for (int i = 0; i < n; i++)
		if (!strcmp(texts[i], text))
			return true;
	return false;
}

void pipeline_open(struct pipeline *pipeline, struct module *module, bool all_isas, struct names *prefixes,
		   const struct target *target)
{
	int most = 1 + module->candidates.n;
	const char **texts = arena_new_array(module->arena, const char *, most);

	pipeline->layouts = arena_new_array(module->arena, struct layout *, most);
	pipeline->layouts[0] = layout_new(module, module->name);
	pipeline->n = 1;
	if (most > 1)
		texts[0] = kernel_text(module, module->name, target);
	for (int i = 0; texts[0] && i < module->candidates.n; i++) {
		struct module *other = module->candidates.items[i];
		const char *text = kernel_text(other, module->name, target);

		if (!text || is_known(texts, pipeline->n, text))
			continue;
		texts[pipeline->n] = text;
		pipeline->layouts[pipeline->n++] = layout_new(other, names_declare(prefixes, arena_printf(
			module->arena, "%s_%s", module->name, other->choice_name)));
	}
	for (int i = 0; i < pipeline->n; i++)
		pipeline->layouts[i]->all_isas = all_isas;
	for (int i = 0; i < pipeline->n && module->stages.n; i++)
		pipeline->layouts[i]->has_work = pipeline->n > 1;
}
