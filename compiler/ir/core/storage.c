/* SPDX-License-Identifier: MIT
 *
 * How inputs are kept (`precision D : f32`). Rounding is part of what the program means: the interpreter
 * rounds, too. And in which type targets may be added to (`accumulate Y : f32`), which is a permission: the
 * interpreter adds in the type of the array, and results differ by as much as single precision rounds. */
#include "ir/ir.h"

#include <string.h>

static const char *const names[] = {
#define STORAGE(id, text, abi_name) text,
#include "ir/core/storage.def"
#undef STORAGE
};

const char *storage_abi_name(enum storage storage)
{
	static const char *const abi_names[] = {
#define STORAGE(id, text, abi_name) abi_name,
#include "ir/core/storage.def"
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

static bool is_of_numbers(const struct array *array)
{
	return type_is_float(array->type) && !array_is_index(array);
}

static bool keep_in(struct module *module, const struct override *override, struct array *array, enum storage storage)
{
	if (!is_of_numbers(array))
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

static bool add_in(struct module *module, const struct override *override, struct array *array,
		   enum scalar_type type)
{
	if (array->role == ROLE_IN)
		return refuse(module, override, "nothing is added to the input '%s'", array->name);
	if (!is_of_numbers(array) || type == array->type)
		return true;
	if (type == TYPE_F64)
		return refuse(module, override, "'%s' is of type f32 and added to in f32", array->name);
	array->sums = type;
	return true;
}

static bool set_storage(struct module *module, struct override *override)
{
	bool is_precision = override->verb == VERB_PRECISION, ok = true, is_any = false, has_numbers = false;
	enum storage storage = item_choice_storage(override->choice);

	if (override->choice == CHOICE_AUTO)
		return true;
	if (is_precision && storage >= STORAGE_NARROW)
		return refuse(module, override, "there is no precision '%s'; there are f64, f32 and f64top",
			      override_choice(override));
	if (!is_precision && storage != STORAGE_F64 && storage != STORAGE_F32)
		return refuse(module, override, "there are no sums in '%s'; there are f64 and f32",
			      override_choice(override));
	for (int i = 0; ok && i < module->arrays.n; i++) {
		struct array *array = module->arrays.items[i];

		if (!override_names(override, array))
			continue;
		is_any = true;
		has_numbers = has_numbers || is_of_numbers(array);
		ok = is_precision ? keep_in(module, override, array, storage)
				  : add_in(module, override, array, storage == STORAGE_F32 ? TYPE_F32 : TYPE_F64);
	}
	if (ok && is_any && !has_numbers)
		ok = refuse(module, override, "'%s' has no floating-point numbers", override->subjects.items[0]);
	return override->is_used = ok;
}

bool module_set_storage(struct module *module)
{
	bool ok = true;

	for (int i = 0; i < module->overrides.n; i++)
		if (module->overrides.items[i].verb == VERB_PRECISION ||
		    module->overrides.items[i].verb == VERB_ACCUMULATE)
			ok = set_storage(module, &module->overrides.items[i]) && ok;
	return ok;
}

struct singles {
	const bool *is_single;
	bool is_found;
};

static void look_for_single(struct access *access, void *user)
{
	struct singles *singles = user;

	singles->is_found = singles->is_found || singles->is_single[access->array->number];
}

/* Is anything rounded to single precision in the expression? */
static bool computes_single(const struct expr *expr)
{
	bool does = (expr->kind == EXPR_OP || expr->kind == EXPR_CAST) && expr->type == TYPE_F32;
	int n = expr->kind == EXPR_OP ? op_arity(expr->op) : expr->kind == EXPR_CAST;

	for (int i = 0; i < n && !does; i++)
		does = computes_single(expr->args[i]);
	return does;
}

static bool stage_is_single(struct stage *stage, const bool *is_single)
{
	const struct array *array = stage->write.array;
	struct singles singles = { is_single, array->sums != array->type || array->type == TYPE_F32 };

	if (!singles.is_found)
		stage_reads(stage, look_for_single, &singles);
	return singles.is_found || computes_single(stage->value);
}

bool *module_singles(struct module *module)
{
	bool *is_single = arena_new_array(module->arena, bool, module->arrays.n), changes = true;

	while (changes) {
		changes = false;
		for (int i = 0; i < module->stages.n; i++) {
			struct stage *stage = module->stages.items[i];
			bool *is = &is_single[stage->write.array->number];

			if (*is || !stage_is_single(stage, is_single))
				continue;
			*is = changes = true;
		}
	}
	return is_single;
}
