/* SPDX-License-Identifier: MIT
 *
 * The candidates of a pipeline, as kernel programs. Other decisions may lead to the same kernels; such a candidate is
 * left out. */
#include "codegen/abi.h"

static bool is_known(const struct pipeline *pipeline, const struct layout *layout, const struct k_program *program)
{
	for (int i = 0; i < pipeline->n; i++)
		if (k_program_is_equal(&pipeline->programs[i], pipeline->layouts[i]->prefix, program, layout->prefix))
			return true;
	return false;
}

/* false: it cannot be built. */
static bool build(struct pipeline *pipeline, struct module *module, const char *prefix, const struct target *target,
		  const struct kernel_watch *watch)
{
	struct layout *layout = layout_new(module, prefix);
	struct k_program program = { 0 };

	layout->all_isas = pipeline->all_isas;
	if (!build_kernel(&program, layout, target, watch))
		return false;
	if (!is_known(pipeline, layout, &program)) {
		pipeline->programs[pipeline->n] = program;
		pipeline->layouts[pipeline->n++] = layout;
	}
	return true;
}

static void build_candidate(struct pipeline *pipeline, struct module *module, struct names *prefixes,
			    const struct target *target, const struct kernel_watch *watch)
{
	const int taken = prefixes->visible.n, n = pipeline->n;
	const char *name = pipeline->layouts[0]->module->name;

	(void) build(pipeline, module, names_declare(prefixes, arena_printf(module->arena, "%s_%s", name,
									    module->choice_name)), target, watch);
	if (pipeline->n == n)
		prefixes->visible.n = taken;
}

bool pipeline_open(struct pipeline *pipeline, struct module *module, bool all_isas, struct names *prefixes,
		   const struct target *target, const struct kernel_watch *watch)
{
	const int most = 1 + module->candidates.n;

	*pipeline = (struct pipeline) { .all_isas = all_isas,
					.layouts = arena_new_array(module->arena, struct layout *, most),
					.programs = arena_new_array(module->arena, struct k_program, most) };
	if (!build(pipeline, module, module->name, target, watch))
		return false;
	for (int i = 0; i < module->candidates.n; i++)
		build_candidate(pipeline, module->candidates.items[i], prefixes, target, watch);
	if (!target->device)
		k_share_bodies(module->arena, pipeline->programs, pipeline->n);
	for (int i = 0; i < pipeline->n && module->stages.n; i++)
		pipeline->layouts[i]->has_work = pipeline->n > 1;
	return true;
}
