/* SPDX-License-Identifier: MIT
 *
 * Bare little-endian numbers, row-major: FILE.f64[362,64], or without a shape as a flat list that whoever
 * uses it gives its shape. The suffix is the type. */
#include "formats/streams.h"

#include <inttypes.h>
#include <string.h>

static bool type_of_suffix(const char *path, pmg_type *type)
{
	const char *dot = strrchr(path, '.');
	for (int t = PMG_F32; dot && t <= PMG_BOOL; t++) {
		*type = (pmg_type) t;
		if (strcmp(dot + 1, pmg_type_name(*type)) == 0)
			return true;
	}
	return false;
}

static void to_machine_order(struct ndarray *array)
{
	if (__BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		ndarray_swap_bytes(array);
}

static bool check_size(const struct binary_input *in, const struct location *location, pmg_type type,
		       struct failure *failure)
{
	size_t bytes, element = pmg_type_size(type);
	char text[200];
	if (in->size % (int64_t) element != 0)
		return fail_file(failure, in->path, "%" PRId64 " bytes are not a whole number of %s",
				 in->size, pmg_type_name(type));
	if (location->rank < 0)
		return true;
	extents_text(location->rank, location->shape, text, sizeof(text));
	if (shape_bytes(location->rank, location->shape, element, &bytes) && (int64_t) bytes == in->size)
		return true;
	return fail_file(failure, in->path, "%" PRId64 " bytes hold %" PRId64 " of %s, not shape %s",
			 in->size, in->size / (int64_t) element, pmg_type_name(type), text);
}

static bool read_numbers(struct binary_input *in, const struct location *location, pmg_type type,
			 struct ndarray *array, struct failure *failure)
{
	const int64_t flat = in->size / (int64_t) pmg_type_size(type);
	bool is_flat = location->rank < 0;
	if (!check_size(in, location, type, failure) ||
	    !ndarray_new(array, type, is_flat ? 1 : location->rank, is_flat ? &flat : location->shape,
			 failure) ||
	    !binary_read(in, array->data, ndarray_bytes(array), "the elements", failure))
		return false;
	to_machine_order(array);
	return true;
}

bool raw_holds_reals(const char *path)
{
	pmg_type type;
	return type_of_suffix(path, &type) && !type_holds_integers(type);
}

bool raw_read(const struct location *location, const struct wish *wish, struct content *content,
	      struct failure *failure)
{
	struct binary_input in;
	pmg_type type;
	(void) wish;
	content->kind = location->rank < 0 ? CONTENT_FLAT : CONTENT_ARRAY;
	if (!type_of_suffix(location->path, &type))
		return fail_file(failure, location->path, "the suffix names no type");
	struct member *member = content_add(content, "", failure);
	if (!member || !binary_open(&in, location->path, failure))
		return false;
	bool ok = read_numbers(&in, location, type, &member->array, failure);
	snprintf(member->storage, sizeof(member->storage), "little-endian, row-major");
	binary_close(&in);
	return ok;
}

bool raw_write(const struct location *location, const struct content *content, struct failure *failure)
{
	struct output out;
	struct ndarray array;
	pmg_type type;
	if (!type_of_suffix(location->path, &type))
		return fail(failure, OUTCOME_USAGE, "%s: the suffix names no type", location->path);
	if (!ndarray_copy(&array, &content->members[0].array, failure))
		return false;
	bool ok = ndarray_convert(&array, type, location->path, failure) &&
		  output_open(&out, location->path, failure);
	if (ok) {
		to_machine_order(&array);
		fwrite(array.data, 1, ndarray_bytes(&array), out.file);
		ok = output_close(&out, true, failure);
	}
	ndarray_free(&array);
	return ok;
}
