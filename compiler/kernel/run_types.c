/* SPDX-License-Identifier: MIT
 *
 * Types of a running kernel program: what their names in C stand for, how many bytes and lanes they have. */
#include "kernel/run_private.h"

#include <string.h>

static int element_named(const char *type)
{
	static const struct {
		const char *name;
		int element;
	} names[] = {
#define TYPE(id, name, c_name, abi_name, size, is_float, is_signed) { c_name, TYPE_##id },
#include "support/types.def"
#undef TYPE
		{ "int", TYPE_I32 }, { "unsigned", TYPE_U32 }, { "uint64_t", RUN_U64 }, { "size_t", RUN_U64 },
		{ "uintptr_t", RUN_U64 }, { "char", TYPE_I8 }, { "void", RUN_VOID }, { "pmg_lane_masks", RUN_KIN },
		{ "pmg_vector_f64", RUN_VECTOR_F64 }, { "pmg_vector_f32", RUN_VECTOR_F32 }
	};

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (!strcmp(names[i].name, type))
			return names[i].element;
	return -1;
}

int run_element_of(struct run *run, const char *type)
{
	const size_t at = ((uintptr_t) type >> 3) % RUN_TYPES;

	if (run->types[at].name != type) {
		run->types[at].name = type;
		run->types[at].element = element_named(type);
	}
	return run->types[at].element;
}

int64_t run_element_bytes(const struct run *run, int element)
{
	if (element < TYPE_N)
		return type_size((enum scalar_type) element);
	switch ((enum run_element) element) {
	case RUN_U64: return 8;
	case RUN_VECTOR_F64:
	case RUN_VECTOR_WIDE: return 8*run_lanes(run, element);
	case RUN_VECTOR_F32: return 4*run_lanes(run, element);
	case RUN_KIN: return 4*(int64_t) sizeof(int64_t);
	case RUN_VOID: break;
	}
	return 1;
}

bool run_is_vector(int element)
{
	return element == RUN_VECTOR_F64 || element == RUN_VECTOR_F32 || element == RUN_VECTOR_WIDE;
}

int run_lanes(const struct run *run, int element)
{
	bool is_single = element == TYPE_F32 || element == RUN_VECTOR_F32 || element == RUN_VECTOR_WIDE;

	return run->fiber->width ? run->fiber->width : run->host->vector_bytes/(is_single ? 4 : 8);
}
