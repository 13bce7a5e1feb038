/* SPDX-License-Identifier: MIT
 *
 * Overrides that ask for what is done anyway are honoured here; the others are left to the passes that take the
 * decision. What no pass has honoured at the end is refused with what it would have needed, so that no word of a
 * schedule block is ignored in silence. */
#include "passes/restructure/restructure_private.h"

static const struct {
	enum verb verb;
	enum item_choice choice;
} as_it_is[] = {
	{ VERB_RESTRUCTURE, CHOICE_BY_NONE }, { VERB_ORDER, CHOICE_BY_NONE }, { VERB_PARTITION, CHOICE_COEFF },
	{ VERB_LAYOUT, CHOICE_FLAT }, { VERB_LIVE, CHOICE_OFF }, { VERB_PREMULTIPLY, CHOICE_BY_NONE },
};

bool override_is_done_anyway(const struct override *override)
{
	if (override->choice == CHOICE_AUTO)
		return true;
	for (size_t i = 0; i < sizeof as_it_is / sizeof as_it_is[0]; i++)
		if (override->verb == as_it_is[i].verb && override->choice == as_it_is[i].choice)
			return true;
	return false;
}

bool pass_overrides(struct module *module, const struct pass_options *options)
{
	(void) options;
	for (int i = 0; i < module->overrides.n; i++)
		module->overrides.items[i].is_used |= override_is_done_anyway(&module->overrides.items[i]);
	return true;
}

/* ---- what no pass has honoured ---- */

/* The first stage that writes what the item names, or is at points of it; NULL: there is none. */
static const struct stage *stage_of(const struct module *module, const struct override *override)
{
	for (int i = 0; i < module->stages.n; i++) {
		const struct stage *stage = module->stages.items[i];
		bool is = !stage->is_init && override_names(override, stage->write.array);

		for (int d = 0; !is && d < stage->dims.n; d++)
			is = stage->dims.items[d].kind == DIM_BIND &&
			     override_names(override, stage->dims.items[d].source.array);
		if (is)
			return stage;
	}
	return NULL;
}

static bool is_about_points(const struct override *override)
{
	return override->verb == VERB_RESTRUCTURE || override->verb == VERB_PARTITION ||
	       override->verb == VERB_RENUMBER || override->verb == VERB_ORDER ||
	       override->verb == VERB_LIVE || override->verb == VERB_PREMULTIPLY;
}

/* An item about the order of points where no restructuring is. */
static void explain(struct module *module, const struct override *override, struct diag *diag)
{
	const struct stage *stage = stage_of(module, override);
	struct accumulation accumulation = { .problem = "no sum over it runs over the points of index arrays" };
	struct span nowhere = { 0 };
	bool matches = stage && accumulation_match(module, stage->group, &accumulation);

	diag_label(module->diags, diag, stage ? stage->span : nowhere, "%s",
		   matches ? "this sum is left in the caller's order" : accumulation.problem);
	diag_help(module->diags, diag, nowhere, "%s", matches ?
		  "choose an order, such as 'restructure PHI by voxel', or leave the item out" :
		  "it needs 'reduce TARGET[INDEX[k], …] += … for k in 0..n' over arrays that are 'fixed in'; leave the "
		  "item out");
}

static void refuse(struct module *module, const struct override *override)
{
	bool is_fit = !is_about_points(override);
	struct diag *diag = diag_error(module->diags, is_fit ? DIAG_NOT_SUPPORTED : DIAG_BAD_ITEM, override->span,
				       "'%s%s%s' %s", verb_name(override->verb),
				       override->choice != CHOICE_ABSENT ? " by " : "",
				       override_choice(override),
				       is_fit ? "is not supported for this target" : "fits nothing here");

	if (!is_fit)
		explain(module, override, diag);
	else
		diag_help(module->diags, diag, (struct span) { 0 },
			  "leave the item out; --overrides=off compiles without the schedule block");
}

bool overrides_are_honoured(struct module *module)
{
	int n_errors = module->diags->n_errors;

	for (int i = 0; i < module->overrides.n; i++)
		if (!module->overrides.items[i].is_used)
			refuse(module, &module->overrides.items[i]);
	return module->diags->n_errors == n_errors;
}
