/* SPDX-License-Identifier: MIT
 *
 * Values by name: a hash table with open addressing, at most half full. What is replaced stays in the arena. */
#include "support/support.h"

#include <string.h>

enum { LEAST_SLOTS = 16 };

/* FNV-1a. */
static uint32_t hash_of(const char *name)
{
	uint32_t hash = 2166136261U;

	for (; *name; name++)
		hash = (hash ^ (unsigned char) *name) * 16777619U;
	return hash;
}

/* The entry of that name, or the free one in which it would be. */
static struct name_entry *find_entry(const struct name_table *names, const char *name)
{
	uint32_t last = (uint32_t) names->n_slots - 1, at = hash_of(name) & last;

	while (names->slots[at].name && strcmp(names->slots[at].name, name) != 0)
		at = (at + 1) & last;
	return &names->slots[at];
}

static void grow(struct arena *arena, struct name_table *names)
{
	struct name_table larger = { .n = names->n, .n_slots = names->n_slots ? 2 * names->n_slots : LEAST_SLOTS };

	larger.slots = arena_new_array(arena, struct name_entry, larger.n_slots);
	for (int i = 0; i < names->n_slots; i++)
		if (names->slots[i].name)
			*find_entry(&larger, names->slots[i].name) = names->slots[i];
	*names = larger;
}

void *name_table_get(const struct name_table *names, const char *name)
{
	return names->n ? find_entry(names, name)->value : NULL;
}

void name_table_set(struct arena *arena, struct name_table *names, const char *name, void *value)
{
	struct name_entry *entry;

	if (2 * (names->n + 1) > names->n_slots)
		grow(arena, names);
	entry = find_entry(names, name);
	names->n += !entry->name;
	*entry = (struct name_entry) { name, value };
}
