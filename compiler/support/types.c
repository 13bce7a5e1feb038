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

void type_limits(enum scalar_type type, int64_t *lo, int64_t *hi)
{
	int bits = type == TYPE_BOOL ? 1 : 8 * type_size(type) - (type_is_signed(type) ? 1 : 0);

	*hi = (int64_t) (UINT64_MAX >> (64 - bits));
	*lo = type_is_signed(type) ? -*hi - 1 : 0;
}

int64_t type_wrap(enum scalar_type type, int64_t value)
{
	int bits = 8 * type_size(type);
	uint64_t low = (uint64_t) value << (64 - bits);

	if (type == TYPE_BOOL)
		return value != 0;
	return type_is_signed(type) ? (int64_t) low >> (64 - bits) : (int64_t) (low >> (64 - bits));
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

bool type_is_narrow(const char *c_name)
{
	for (int i = 0; i < TYPE_N; i++)
		if (type_is_integer((enum scalar_type) i) && !strcmp(rows[i].c_name, c_name))
			return rows[i].size < type_size(TYPE_I32);
	return false;
}
