/* SPDX-License-Identifier: MIT
 *
 * The decisions that candidates vary: a row each, with what else there is to choose. */
#include "driver/candidates.h"

#include <string.h>

bool is_overridden(const struct module *module, const char *verb)
{
	for (int i = 0; i < module->overrides.n; i++)
		if (!strcmp(module->overrides.items[i].verb, verb) && strcmp(module->overrides.items[i].choice, "auto"))
			return true;
	return false;
}

static bool has_decided(const struct module *module, const char *pass, const char *chosen)
{
	for (int i = 0; i < module->decisions.n; i++)
		if (!strcmp(module->decisions.items[i].pass, pass) &&
		    !strcmp(module->decisions.items[i].chosen, chosen))
			return true;
	return false;
}

static void order_choices(const struct module *module, const struct pass_options *options, choice_list *choices)
{
	if (!strcmp(options->schedule, "auto"))
		vec_push(module->arena, choices, ((struct choice) {
			.text = "--schedule=isl", .name = "isl", .flag = "--schedule=isl",
			.reason = "loops that isl fuses read their data once" }));
}

/* Without threads nothing is atomic. */
static void thread_choices(const struct module *module, const struct pass_options *options, choice_list *choices)
{
	if (!options->is_parallel_given && has_decided(module, "parallel", "atomic"))
		vec_push(module->arena, choices, ((struct choice) {
			.text = "--parallel=off", .name = "serial", .flag = "--parallel=off",
			.reason = "one thread needs no atomic updates" }));
}

const struct variation variations[] = {
	{ "schedule", order_choices },
	{ "parallel", thread_choices },
};

const int n_variations = (int) (sizeof variations / sizeof variations[0]);
