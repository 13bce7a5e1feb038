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

static void restructure_choices(const struct module *module, const struct pass_options *options, choice_list *choices)
{
	if (!options->restructure && !is_overridden(module, "restructure") && !is_overridden(module, "partition"))
		vec_push(module->arena, choices, ((struct choice) {
			.text = "--restructure=on", .name = "restructured", .flag = "--restructure=on",
			.reason = "sorted points share what they read, and each thread owns what it writes" }));
}

static struct choice private_choice(const struct module *module, const char *target)
{
	struct choice choice = {
		.text = arena_printf(module->arena, "partition %s by private", target),
		.name = arena_printf(module->arena, "%s_private", target),
		.reason = arena_printf(module->arena, "threads that add to copies of '%s' do not wait", target),
		.override = { .verb = "partition", .choice = "private", .span = module->span }
	};

	vec_push(module->arena, &choice.override.subjects, target);
	return choice;
}

static void partition_choices(const struct module *module, const struct pass_options *options, choice_list *choices)
{
	(void) options;
	for (int i = 0; i < module->decisions.n && !is_overridden(module, "partition"); i++) {
		const struct decision *decision = &module->decisions.items[i];

		if (!strcmp(decision->pass, "parallel") && !strcmp(decision->chosen, "atomic") &&
		    module_find_array(module, decision->subject))
			vec_push(module->arena, choices, private_choice(module, decision->subject));
	}
}

static void order_choices(const struct module *module, const struct pass_options *options, choice_list *choices)
{
	if (!strcmp(options->schedule, "auto"))
		vec_push(module->arena, choices, ((struct choice) {
			.text = "--schedule=isl", .name = "isl", .flag = "--schedule=isl", .is_alone = true,
			.reason = "loops that isl fuses read their data once" }));
}

/* Without threads nothing is atomic. */
static void thread_choices(const struct module *module, const struct pass_options *options, choice_list *choices)
{
	if (!options->is_parallel_given && has_decided(module, "parallel", "atomic"))
		vec_push(module->arena, choices, ((struct choice) {
			.text = "--parallel=off", .name = "serial", .flag = "--parallel=off", .is_alone = true,
			.reason = "one thread needs no atomic updates" }));
}

const struct variation variations[] = {
	{ "restructure", restructure_choices },
	{ "partition", partition_choices },
	{ "parallel", thread_choices },
	{ "schedule", order_choices },
};

const int n_variations = (int) (sizeof variations / sizeof variations[0]);
