/* SPDX-License-Identifier: MIT
 *
 * How inputs are kept (`precision D : f32`). Rounding is part of what the program means: the interpreter
 * rounds, too. */
#include "ir/ir.h"

#include <string.h>

static const char *const names[] = {
#define STORAGE(id, text, abi_name) text,
#include "ir/storage.def"
#undef STORAGE
};

const char *storage_abi_name(enum storage storage)
{
	static const char *const abi_names[] = {
#define STORAGE(id, text, abi_name) abi_name,
#include "ir/storage.def"
#undef STORAGE
	};

	return abi_names[storage];
}

const char *storage_name(enum storage storage)
{
	return names[storage];
}

enum storage storage_from_name(const char *name)
{
	int i = 0;

	while (i < STORAGE_N && strcmp(names[i], name) != 0)
		i++;
	return (enum storage) i;
}

static bool refuse(struct module *module, const struct override *override, const char *format, const char *name)
{
	diag_error(module->diags, DIAG_BAD_ITEM, override->span, format, name);
	return false;
}

static bool keep_in(struct module *module, const struct override *override, struct array *array, enum storage storage)
{
	if (type_is_integer(array->type) || array->type == TYPE_BOOL || array_is_index(array))
		return true;
	if (storage == STORAGE_F32 && array->type == TYPE_F32)
		return true;
	if (storage != STORAGE_F64 && array->role != ROLE_IN)
		return refuse(module, override, "'%s' is no input; only inputs can be kept in another precision",
			      array->name);
	if (array->type != TYPE_F64)
		return refuse(module, override, "'%s' is of type f32 and kept so", array->name);
	array->storage = storage;
	return true;
}

static bool set_storage(struct module *module, struct override *override)
{
	enum storage storage = storage_from_name(override->choice);

	if (!strcmp(override->choice, "auto"))
		return true;
	if (storage == STORAGE_N)
		return refuse(module, override, "there is no precision '%s'; there are f64, f32 and f64top",
			      override->choice);
	for (int s = 0; s < override->subjects.n; s++)
		for (int i = 0; i < module->arrays.n; i++)
			if (array_is_of(module->arrays.items[i], override->subjects.items[s]) &&
			    !keep_in(module, override, module->arrays.items[i], storage))
				return false;
	return override->is_used = true;
}

bool module_set_storage(struct module *module)
{
	bool ok = true;

	for (int i = 0; i < module->overrides.n; i++)
		if (!strcmp(module->overrides.items[i].verb, "precision"))
			ok = set_storage(module, &module->overrides.items[i]) && ok;
	return ok;
}
