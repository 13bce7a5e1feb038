/* SPDX-License-Identifier: MIT
 *
 * The decisions that candidates vary: a row each, with what else there is to choose. */
#include "driver/candidates.h"

#include <string.h>

#include "ir/match/block.h"

bool is_overridden(const struct module *module, enum verb verb)
{
	for (int i = 0; i < module->overrides.n; i++)
		if (module->overrides.items[i].verb == verb && module->overrides.items[i].choice != CHOICE_AUTO)
			return true;
	return false;
}

typedef VEC(const char *) name_list;

static struct choice private_choice(const struct module *module, const name_list *targets)
{
	struct str text = str_new(module->arena), name = str_new(module->arena), quoted = str_new(module->arena);
	struct choice choice = { .override = { .verb = VERB_PARTITION, .choice = CHOICE_PRIVATE,
					       .span = module->span } };

	for (int i = 0; i < targets->n; i++) {
		str_add(&text, "%s%s", i ? ", " : "", targets->items[i]);
		str_add(&name, "%s%s", i ? "_" : "", targets->items[i]);
		str_add(&quoted, "%s'%s'", i ? ", " : "", targets->items[i]);
		vec_push(module->arena, &choice.override.subjects, targets->items[i]);
	}
	choice.text = arena_printf(module->arena, "partition %s by private", str_text(&text));
	choice.name = arena_printf(module->arena, "%s_private", str_text(&name));
	choice.reason = arena_printf(module->arena, "threads that add to copies of %s do not wait", str_text(&quoted));
	return choice;
}

static bool is_among(const name_list *names, const char *name)
{
	bool is = false;

	for (int i = 0; i < names->n; i++)
		is = is || !strcmp(names->items[i], name);
	return is;
}

/* What is updated atomically, all of it first, and each alone, since one may be too large for copies. */
static void partition_choices(struct module *module, const struct pass_options *options, choice_list *choices)
{
	name_list targets = { 0 };

	(void) options;
	for (int i = 0; i < module->decisions.n && !is_overridden(module, VERB_PARTITION); i++) {
		const struct decision *decision = &module->decisions.items[i];

		if (decision->kind == DECISION_PARALLEL_ATOMIC && module_find_array(module, decision->subject) &&
		    !is_among(&targets, decision->subject))
			vec_push(module->arena, &targets, decision->subject);
	}
	if (targets.n > 1)
		vec_push(module->arena, choices, private_choice(module, &targets));
	for (int i = 0; i < targets.n; i++) {
		const name_list one = { .items = &targets.items[i], .n = 1 };

		vec_push(module->arena, choices, private_choice(module, &one));
	}
}

static void order_choices(struct module *module, const struct pass_options *options, choice_list *choices)
{
	if (options->schedule == ORDER_AUTO)
		vec_push(module->arena, choices, ((struct choice) {
			.text = "--schedule=isl", .name = "isl", .flag = "--schedule=isl", .is_alone = true,
			.is_for_trials = true,
			.reason = "loops that isl fuses read their data once" }));
}

static bool has_blocks(const struct module *module)
{
	return module_find_decision(module, DECISION_INTERLEAVE, NULL);
}

/* Can arguments lie in blocks where they are, none of them in blocks of segments? */
static bool has_held_blocks(struct module *module)
{
	bool has = false, has_segments = false;

	for (int i = 0; i < module->arrays.n; i++)
		if (block_held(module, module->arrays.items[i])) {
			has = true;
			has_segments = has_segments || block_segments(module, module->arrays.items[i]);
		}
	return has && !has_segments;
}

static struct choice width_choice(struct arena *arena, const char *width, const char *reason)
{
	const char *flag = arena_printf(arena, "--interleave=%s", width);

	return (struct choice) { .text = flag, .name = width, .flag = flag, .is_alone = true, .reason = reason };
}

static void interleave_choices(struct module *module, const struct pass_options *options, choice_list *choices)
{
	if (options->interleave == INTERLEAVE_OFF || !has_blocks(module) || is_overridden(module, VERB_LAYOUT))
		return;
	vec_push(module->arena, choices, ((struct choice) {
		.text = "--interleave=off", .name = "flat", .flag = "--interleave=off", .is_alone = true,
		.is_for_sizes = true, .reason = "nothing is copied, where there are few systems" }));
	if (options->interleave != INTERLEAVE_ON)
		return;
	vec_push(module->arena, choices,
		 width_choice(module->arena, "narrow", "a row of a block is one cache line, where memory is far"));
	if (!has_held_blocks(module))
		return;
	vec_push(module->arena, choices,
		 width_choice(module->arena, "wide", "more rows under way, where the second caches hold all"));
	choices->items[choices->n - 1].is_for_trials = true;
}

static void column_choices(struct module *module, const struct pass_options *options, choice_list *choices)
{
	bool has_rows = false;

	for (int g = 0; g < module->groups.n; g++)
		has_rows = has_rows || module->groups.items[g]->is_by_rows;
	if (options->columns && has_rows)
		vec_push(module->arena, choices, ((struct choice) {
			.text = "--columns=off", .name = "columns", .flag = "--columns=off", .is_alone = true,
			.is_for_sizes = true, .reason = "each sum is in a register, where rows are short" }));
}

/* Without threads nothing is atomic. */
static void thread_choices(struct module *module, const struct pass_options *options, choice_list *choices)
{
	if (!options->is_parallel_given && module_find_decision(module, DECISION_PARALLEL_ATOMIC, NULL))
		vec_push(module->arena, choices, ((struct choice) {
			.text = "--parallel=off", .name = "serial", .flag = "--parallel=off", .is_alone = true,
			.reason = "one thread needs no atomic updates" }));
}

/* `VERB SUBJECT by CHOICE`, with WORDS of a hybrid. */
static void add_item(const struct module *module, choice_list *choices, enum verb verb, const char *subject,
		     const char *choice, const char *reason)
{
	struct choice item = { .reason = reason };

	item.text = arena_printf(module->arena, "%s %s by %s", verb_name(verb), subject, choice);
	item.name = arena_printf(module->arena, "%s_%s", verb_name(verb), choice);
	item.override = (struct override) { .verb = verb };
	override_choose(&item.override, choice);
	vec_push(module->arena, &item.override.subjects, subject);
	vec_push(module->arena, choices, item);
}

/* "PHI" of "PHI.voxel". */
static size_t object_length(const struct restructuring *r)
{
	return strcspn(r->keys.items[0]->name, ".");
}

static bool has_array(const struct restructuring *r, const struct array *array)
{
	bool has = array == r->segments || array == r->order || array == r->runs || array == r->chunks ||
		   array == r->part_values;

	for (int i = 0; i < r->copies.n; i++)
		has = has || array == r->copies.items[i].to;
	return has;
}

/* The first array that is added to in the order of the restructuring; of one in the order of new numbers, the old. */
static const char *target_of(const struct module *module, const struct restructuring *r)
{
	for (int i = 0; i < module->stages.n; i++) {
		const struct stage *stage = module->stages.items[i];
		bool is = stage->write.array->role != ROLE_LOCAL && !stage->is_init;
		bool uses = false;

		for (int d = 0; d < stage->dims.n; d++)
			uses = uses || (stage->dims.items[d].kind == DIM_BIND &&
					has_array(r, stage->dims.items[d].source.array));
		if (is && uses)
			return arena_printf(module->arena, "%.*s", (int) strcspn(stage->write.array->name, "."),
					    stage->write.array->name);
	}
	return r->name;
}

/* What an item that is about this restructuring names: the object, or where it has others, the target. */
static const char *subject_of(const struct module *module, const struct restructuring *r)
{
	size_t length = object_length(r);

	for (int i = 0; i < module->restructurings.n; i++) {
		const struct restructuring *other = &module->restructurings.items[i];

		if (other != r && object_length(other) == length &&
		    !strncmp(other->keys.items[0]->name, r->keys.items[0]->name, length))
			return target_of(module, r);
	}
	return r->name;
}

/* One key where there are two: runs of equal keys pay where they are long. Or the order of the caller. */
static void restructure_choices(struct module *module, const struct pass_options *options, choice_list *choices)
{
	(void) options;
	if (is_overridden(module, VERB_RESTRUCTURE))
		return;
	for (int i = 0; i < module->restructurings.n; i++) {
		const struct restructuring *r = &module->restructurings.items[i];

		if (r->keys.n > 1)
			add_item(module, choices, VERB_RESTRUCTURE, subject_of(module, r),
				 array_member_name(r->keys.items[0]),
				 "a product for each point, where few agree in both keys");
		add_item(module, choices, VERB_RESTRUCTURE, subject_of(module, r), item_choice_word(CHOICE_BY_NONE),
			 "nothing is sorted, where all is in cache");
	}
}

/* A copied mode that is no index of rows may be renumbered. */
static void renumber_choices(struct module *module, const struct pass_options *options, choice_list *choices)
{
	(void) options;
	if (is_overridden(module, VERB_RENUMBER))
		return;
	for (int i = 0; i < module->restructurings.n; i++) {
		const struct restructuring *r = &module->restructurings.items[i];

		for (int c = 0; c < r->copies.n && !r->renumberings.n; c++)
			if (!r->copies.items[c].is_per_run && r->copies.items[c].from &&
			    array_is_index(r->copies.items[c].from))
				add_item(module, choices, VERB_RENUMBER, subject_of(module, r),
					 array_member_name(r->copies.items[c].from),
					 "neighbours use neighbouring cells, where there are more than a cache holds");
	}
}

const struct variation variations[] = {
	{ partition_choices },
	{ renumber_choices },
	{ restructure_choices },
	{ interleave_choices },
	{ column_choices },
	{ thread_choices },
	{ order_choices },
};

const int n_variations = (int) (sizeof variations / sizeof variations[0]);
