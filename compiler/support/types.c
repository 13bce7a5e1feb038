/* SPDX-License-Identifier: MIT
 *
 * The scalar types, read from types.def. */
#include "support/support.h"

#include <string.h>

static const struct type_row {
	const char *name, *c_name, *abi_name;
	int size;
	bool is_float, is_signed;
} rows[TYPE_N] = {
#define TYPE(id, name, c_name, abi_name, size, is_float, is_signed) \
	[TYPE_##id] = { name, c_name, abi_name, size, is_float, is_signed },
#include "support/types.def"
#undef TYPE
};

const char *type_name(enum scalar_type type)
{
	return rows[type].name;
}

const char *type_c_name(enum scalar_type type)
{
	return rows[type].c_name;
}

const char *type_abi_name(enum scalar_type type)
{
	return rows[type].abi_name;
}

int type_size(enum scalar_type type)
{
	return rows[type].size;
}

bool type_is_float(enum scalar_type type)
{
	return rows[type].is_float;
}

bool type_is_integer(enum scalar_type type)
{
	return !rows[type].is_float && type != TYPE_BOOL;
}

bool type_is_signed(enum scalar_type type)
{
	return rows[type].is_signed;
}

bool type_from_name(const char *name, enum scalar_type *type)
{
	for (int i = 0; i < TYPE_N; i++) {
		if (strcmp(rows[i].name, name) == 0) {
			*type = (enum scalar_type) i;
			return true;
		}
	}
	return false;
}
