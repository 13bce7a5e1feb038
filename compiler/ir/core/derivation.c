/* SPDX-License-Identifier: MIT
 *
 * Sizes that follow from others in a way that is not affine: how many levels there are. To isl they are parameters of
 * their own. Generated code calls functions of the runtime of the same meaning (runtime/pmgrt_math.h). */
#include "ir/module.h"

#include <string.h>

const char *const derivation_names[] = {
	[DERIVATION_NONE] = "",
#define DERIVATION(id, text, c_text) [DERIVATION_##id] = text,
#include "ir/core/derivation.def"
#undef DERIVATION
};

const char *const derivation_c_names[] = {
	[DERIVATION_NONE] = "",
#define DERIVATION(id, text, c_text) [DERIVATION_##id] = c_text,
#include "ir/core/derivation.def"
#undef DERIVATION
};

bool module_has_param(const struct module *module, const char *name)
{
	bool has = false;

	for (int i = 0; !has && i < module->params.n; i++)
		has = !strcmp(module->params.items[i].name, name);
	return has;
}

struct expr *module_derive(struct module *module, const char *name, enum derivation derivation, struct expr *of,
			   int64_t limit, struct span span)
{
	const char *unique = name;
	struct param *param;
	int number;

	for (int i = 2; module_has_param(module, unique); i++)
		unique = arena_printf(module->arena, "%s_%d", name, i);
	number = module_add_param(module, unique, span);
	param = &module->params.items[number];
	param->derivation = derivation;
	param->of = of;
	param->limit = limit;
	return expr_param(module->arena, module, number, span);
}

int64_t param_derived(const struct param *param, int64_t of)
{
	int64_t limit = param->limit, n = 0;

	for (; param->derivation == DERIVATION_HALVINGS && of > limit; of /= 2)
		n++;
	for (; param->derivation == DERIVATION_DOUBLINGS && limit < of && n < 62; limit *= 2)
		n++;
	return n;
}

static bool has_known_param(const struct module *module, const struct expr *expr)
{
	bool has = expr->kind == EXPR_PARAM && param_follows_from_known(module, expr->index);

	for (int i = 0; !has && i < expr_n_args(expr); i++)
		has = has_known_param(module, expr->args[i]);
	return has;
}

bool param_follows_from_known(const struct module *module, int number)
{
	const struct param *param = &module->params.items[number];

	return param->is_specialized || (param->derivation && has_known_param(module, param->of));
}
