/* SPDX-License-Identifier: MIT
 *
 * PHI_Tensor<T>(nnz; mode < size, …): a sparse tensor in coordinates, PHI.mode[k] for each mode and PHI.value[k].
 * Equal coordinates add up. (Caiafa and Pestilli 2017: the sparse core of the encoded connectome.) */
#include <string.h>

#include "constructs/construct.h"

static bool has_mode(const struct object *object, const char *name)
{
	for (int i = 0; i < object->modes.n; i++)
		if (strcmp(object->modes.items[i], name) == 0)
			return true;
	return false;
}

static bool declare(const struct object *object, struct arena *arena, struct diags *diags, struct str *text)
{
	const char *type = object->has_scalar ? type_name(object->scalar) : NULL;

	(void) arena;
	if (!type || !type_is_float(object->scalar) || object->args.n != 1 || object->modes.n < 1) {
		diag_error(diags, DIAG_CONSTRUCT_DECLARATION, object->span,
			   "a PHI_Tensor is declared as PHI_Tensor<f64>(nnz; mode < size, …), with f32 or f64 values");
		return false;
	}
	if (has_mode(object, "value")) {
		diag_error(diags, DIAG_CONSTRUCT_DECLARATION, object->span,
			   "%s.value is the array of the values of a PHI_Tensor: no mode has that name", object->name);
		return false;
	}
	for (int i = 0; i < object->modes.n; i++)
		str_add(text, "fixed in %s.%s : index(%s)[%s];\n", object->name, object->modes.items[i],
			object->mode_sizes.items[i], object->args.items[0]);
	str_add(text, "fixed in %s.value : %s[%s];\n", object->name, type, object->args.items[0]);
	return true;
}

const struct construct construct_phi_tensor = { .name = "PHI_Tensor", .declare = declare };
