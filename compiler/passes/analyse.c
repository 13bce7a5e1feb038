/* SPDX-License-Identifier: MIT
 *
 * The passes that find facts: domains and proofs on accesses, directions of recurrences, dependences. */
#include "passes/pass_private.h"

#include <string.h>

/* Are its stages those of the program? */
static bool is_as_written(const struct module *module)
{
	bool is = !module->restructurings.n;

	for (int i = 0; i < module->params.n; i++)
		is = is && !module->params.items[i].derivation && !module->params.items[i].is_inspected;
	return is;
}

/* A dump of other stages was proved before, when its loops were those of the program. */
bool pass_analyse(struct module *module, const struct pass_options *options)
{
	(void) options;
	module_analyse(module);
	if (!is_as_written(module))
		return true;
	module_check_ranges(module);
	return module_check_assumptions(module) && module_check_accesses(module) && module_check_outputs(module);
}

bool pass_recurrences(struct module *module, const struct pass_options *options)
{
	(void) options;
	return module_order_recurrences(module);
}

bool pass_ran_out(struct module *module)
{
	bool ran_out = isl_ctx_last_error(module->ctx) == isl_error_quota;

	if (ran_out) {
		isl_ctx_reset_error(module->ctx);
		isl_ctx_reset_operations(module->ctx);
	}
	return ran_out;
}

/* Those of the original, or of a candidate of it, that was the same up to here. But what isl proposes varies with the
 * order of relations in a hash table, which is not that of a copy. */
static bool copy_dependences(struct module *module, const struct pass_options *options)
{
	const struct module *original = module->original;
	bool are_copied = false;

	if (options->schedule == ORDER_ISL)
		return false;
	for (int i = -1; original && i < original->candidates.n && !are_copied; i++) {
		const struct module *other = i < 0 ? original : original->candidates.items[i];

		are_copied = !strcmp(other->texts.before_order, module->texts.before_order) &&
			     module_copy_dependences(module, other);
	}
	return are_copied;
}

/* Without dependences (isl's quota) a region keeps its textual order, and no loop of it is shared or vectorised. */
bool pass_dependences(struct module *module, const struct pass_options *options)
{
	bool ran_out = false;

	module->texts.before_order = module_draft(module, module->arena);
	if (copy_dependences(module, options))
		return true;
	for (int i = 0; i < REGION_N; i++) {
		struct region *region = &module->regions[i];

		if (!region->groups.n || region_dependences(module, region))
			continue;
		if (!pass_ran_out(module))
			return false;
		ran_out = true;
	}
	if (ran_out)
		diag_warning(module->diags, DIAG_ISL_QUOTA, module->span,
			     "the dependences of '%s' are too many to compute: it runs in the order of the text, by "
			     "one thread", module->name);
	return true;
}
