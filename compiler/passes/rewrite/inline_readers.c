/* SPDX-License-Identifier: MIT
 *
 * Which stages read an array, as an index that follows what is inlined. */
#include "passes/rewrite/inline_private.h"

struct search {
	struct readers *readers;
	struct stage *reader;
};

/* A stage that reads the array several times stands there once. */
static void note_read(struct access *access, void *user)
{
	struct search *search = user;
	stage_list *of = &search->readers->of[access->array->number];

	for (int i = 0; i < of->n; i++)
		if (of->items[i] == search->reader)
			return;
	vec_push(search->readers->module->arena, of, search->reader);
}

struct readers readers_new(struct module *module)
{
	struct readers readers = { module, arena_new_array(module->arena, stage_list, module->arrays.n) };

	for (int i = 0; i < module->stages.n; i++) {
		struct search search = { &readers, module->stages.items[i] };

		stage_reads(module->stages.items[i], note_read, &search);
	}
	return readers;
}

void readers_replace(struct readers *readers, const struct array *array, const struct group *definition)
{
	stage_list old = readers->of[array->number];

	readers->of[array->number] = (stage_list) { 0 };
	for (int i = 0; i < old.n; i++) {
		struct search search = { readers, old.items[i] };

		if (stage_reads_array(old.items[i], array))
			vec_push(readers->module->arena, &readers->of[array->number], old.items[i]);
		for (int s = 0; s < definition->stages.n; s++)
			stage_reads(definition->stages.items[s], note_read, &search);
	}
}
