/* SPDX-License-Identifier: MIT
 *
 * Items of the schedule block: what they are called, what they choose, and which one speaks of an array. */
#include "ir/module.h"

#include <string.h>

static const char *const verb_names[] = {
#define VERB(id, text) text,
#include "ir/core/verbs.def"
#undef VERB
};

static const char *const choice_words[] = {
	[CHOICE_ABSENT] = "",
	[CHOICE_NAME] = NULL,
#define CHOICE(id, text) text,
#define STORAGE(id, text, abi_name) text,
#include "ir/core/choices.def"
#include "ir/core/storage.def"
#undef STORAGE
#undef CHOICE
};

const char *verb_name(enum verb verb)
{
	return verb_names[verb];
}

enum verb verb_of_name(const char *name)
{
	int i = 0;

	while (i < VERB_N && strcmp(verb_names[i], name) != 0)
		i++;
	return (enum verb) i;
}

const char *item_choice_word(enum item_choice choice)
{
	return choice_words[choice];
}

enum item_choice item_choice_of_word(const char *word)
{
	for (int i = 0; i < CHOICE_N; i++)
		if (choice_words[i] && !strcmp(choice_words[i], word))
			return (enum item_choice) i;
	return CHOICE_NAME;
}

enum storage item_choice_storage(enum item_choice choice)
{
	return choice >= CHOICE_F64 ? (enum storage) (choice - CHOICE_F64) : STORAGE_N;
}

void override_choose(struct override *override, const char *word)
{
	override->choice = item_choice_of_word(word);
	override->name = override->choice == CHOICE_NAME ? word : NULL;
}

const char *override_choice(const struct override *override)
{
	return override->choice == CHOICE_NAME ? override->name : choice_words[override->choice];
}

struct override *module_find_override(const struct module *module, enum verb verb, const char *first,
				      const char *second)
{
	for (int i = 0; i < module->overrides.n; i++) {
		struct override *override = &module->overrides.items[i];

		for (int s = 0; s < override->subjects.n && override->verb == verb; s++)
			if (!strcmp(override->subjects.items[s], first) ||
			    (second && !strcmp(override->subjects.items[s], second)))
				return override;
	}
	return NULL;
}

bool override_names(const struct override *override, const struct array *array)
{
	for (int i = 0; i < override->subjects.n; i++)
		if (array_is_of(array, override->subjects.items[i]))
			return true;
	return false;
}
