/* SPDX-License-Identifier: MIT
 *
 * Dense arrays of the ten types of the language: sizes without overflow, values as integers or reals, and
 * conversions that lose nothing but the last bits of floating-point numbers. */
#include "formats/formats.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

bool shape_bytes(int rank, const int64_t *shape, size_t element, size_t *bytes)
{
	size_t product = element;
	bool is_empty = false, ok = rank >= 0 && rank <= PMG_MAX_RANK;
	for (int d = 0; d < rank && ok; d++) {
		ok = shape[d] >= 0;
		is_empty |= shape[d] == 0;
		if (ok && shape[d] > 0)
			ok = !__builtin_mul_overflow(product, (size_t) shape[d], &product);
	}
	*bytes = is_empty ? 0 : product;
	return ok && product <= PTRDIFF_MAX;
}

/* Cleared, and in large pages where it fills them: kernels that read rows of a table here and there look up fewer. */
static void *cleared_memory(size_t bytes)
{
	void *memory = pmg_memory(bytes ? bytes : 1);
	return memory ? memset(memory, 0, bytes) : NULL;
}

bool ndarray_new(struct ndarray *array, pmg_type type, int rank, const int64_t *shape,
		 struct failure *failure)
{
	size_t bytes;
	char text[200];
	*array = (struct ndarray){ .type = type, .rank = rank };
	if (!shape_bytes(rank, shape, pmg_type_size(type), &bytes))
		return fail(failure, OUTCOME_RESOURCES, "an array of shape %s is too large",
			    extents_text(rank, shape, text, sizeof(text)));
	memcpy(array->shape, shape, (size_t) rank * sizeof(shape[0]));
	array->data = cleared_memory(bytes);
	if (!array->data)
		return fail(failure, OUTCOME_RESOURCES,
			    "not enough memory for an array of shape %s (%zu bytes)",
			    extents_text(rank, shape, text, sizeof(text)), bytes);
	return true;
}

bool ndarray_copy(struct ndarray *to, const struct ndarray *from, struct failure *failure)
{
	if (!ndarray_new(to, from->type, from->rank, from->shape, failure))
		return false;
	memcpy(to->data, from->data, ndarray_bytes(from));
	return true;
}

void ndarray_free(struct ndarray *array)
{
	free(array->data);
	array->data = NULL;
}

int64_t ndarray_count(const struct ndarray *array)
{
	int64_t n = 1;
	for (int d = 0; d < array->rank; d++)
		n *= array->shape[d];
	return n;
}

size_t ndarray_bytes(const struct ndarray *array)
{
	return (size_t) ndarray_count(array) * pmg_type_size(array->type);
}

/* ---- Values ---------------------------------------------------------------------- */

bool type_holds_integers(pmg_type type)
{
	return type != PMG_F32 && type != PMG_F64;
}

int64_t ndarray_integer(const struct ndarray *array, int64_t i)
{
	switch (array->type) {
	case PMG_I8:
		return ((const int8_t *) array->data)[i];
	case PMG_I16:
		return ((const int16_t *) array->data)[i];
	case PMG_I32:
		return ((const int32_t *) array->data)[i];
	case PMG_I64:
		return ((const int64_t *) array->data)[i];
	case PMG_U8:
	case PMG_BOOL:
		return ((const uint8_t *) array->data)[i];
	case PMG_U16:
		return ((const uint16_t *) array->data)[i];
	case PMG_U32:
		return ((const uint32_t *) array->data)[i];
	case PMG_F32:
	case PMG_F64:
		break;
	}
	return 0;
}

double ndarray_real(const struct ndarray *array, int64_t i)
{
	if (array->type == PMG_F64)
		return ((const double *) array->data)[i];
	if (array->type == PMG_F32)
		return (double) ((const float *) array->data)[i];
	return (double) ndarray_integer(array, i);
}

/* False where the type cannot hold the integer. */
static bool store_integer(struct ndarray *array, int64_t i, int64_t value)
{
	switch (array->type) {
	case PMG_I8:
		((int8_t *) array->data)[i] = (int8_t) value;
		break;
	case PMG_I16:
		((int16_t *) array->data)[i] = (int16_t) value;
		break;
	case PMG_I32:
		((int32_t *) array->data)[i] = (int32_t) value;
		break;
	case PMG_I64:
		((int64_t *) array->data)[i] = value;
		break;
	case PMG_BOOL:
		((uint8_t *) array->data)[i] = value != 0;
		break;
	case PMG_U8:
		((uint8_t *) array->data)[i] = (uint8_t) value;
		break;
	case PMG_U16:
		((uint16_t *) array->data)[i] = (uint16_t) value;
		break;
	case PMG_U32:
		((uint32_t *) array->data)[i] = (uint32_t) value;
		break;
	case PMG_F32:
	case PMG_F64:
		return false;
	}
	return ndarray_integer(array, i) == value;
}

static bool real_is_integer(double real)
{
	return real >= -0x1p63 && real < 0x1p63 && real == floor(real);
}

static bool store_real(struct ndarray *array, int64_t i, double value)
{
	if (array->type == PMG_F64) {
		((double *) array->data)[i] = value;
		return true;
	}
	if (array->type == PMG_F32) {
		float rounded = (float) value;
		((float *) array->data)[i] = rounded;
		return isfinite(rounded) || !isfinite(value);
	}
	return real_is_integer(value) && store_integer(array, i, (int64_t) value);
}

static bool store(struct ndarray *to, const struct ndarray *from, int64_t i)
{
	if (!type_holds_integers(from->type))
		return store_real(to, i, ndarray_real(from, i));
	int64_t value = ndarray_integer(from, i);
	if (type_holds_integers(to->type))
		return store_integer(to, i, value);
	if (!store_real(to, i, (double) value))
		return false;
	double real = ndarray_real(to, i);
	return real_is_integer(real) && (int64_t) real == value;
}

static const char *element_text(const struct ndarray *array, int64_t i, char *text, size_t size)
{
	if (type_holds_integers(array->type))
		snprintf(text, size, "%" PRId64, ndarray_integer(array, i));
	else
		snprintf(text, size, "%.17g", ndarray_real(array, i));
	return text;
}

bool ndarray_convert(struct ndarray *array, pmg_type type, const char *what, struct failure *failure)
{
	struct ndarray to;
	char place[200], value[32];
	if (array->type == type)
		return true;
	if (!ndarray_new(&to, type, array->rank, array->shape, failure))
		return false;
	int64_t n = ndarray_count(array), i = 0;
	while (i < n && store(&to, array, i))
		i++;
	if (i < n) {
		fail(failure, OUTCOME_DATA, "%s%s is %s, which %s cannot hold", what,
		     position_text(array, i, place, sizeof(place)), element_text(array, i, value, sizeof(value)),
		     pmg_type_name(type));
		ndarray_free(&to);
		return false;
	}
	ndarray_free(array);
	*array = to;
	return true;
}

/* ---- Orders -------------------------------------------------------------------------- */

void ndarray_swap_bytes(struct ndarray *array)
{
	size_t size = pmg_type_size(array->type);
	unsigned char *element = array->data;
	for (int64_t i = ndarray_count(array); i > 0 && size > 1; i--, element += size) {
		for (size_t b = 0; b < size / 2; b++) {
			unsigned char low = element[b];
			element[b] = element[size - 1 - b];
			element[size - 1 - b] = low;
		}
	}
}

/* The index of the element after "index" in row-major order. */
static void advance(int64_t *index, const struct ndarray *array)
{
	for (int d = array->rank - 1; d >= 0; d--) {
		if (++index[d] < array->shape[d])
			return;
		index[d] = 0;
	}
}

bool ndarray_from_columns(struct ndarray *array, struct failure *failure)
{
	struct ndarray rows;
	int64_t index[PMG_MAX_RANK] = { 0 }, n = ndarray_count(array);
	size_t size = pmg_type_size(array->type);
	if (array->rank < 2)
		return true;
	if (!ndarray_new(&rows, array->type, array->rank, array->shape, failure))
		return false;
	for (int64_t i = 0; i < n; i++, advance(index, array)) {
		int64_t from = 0;
		for (int d = array->rank - 1; d >= 0; d--)
			from = from * array->shape[d] + index[d];
		memcpy((char *) rows.data + (size_t) i * size,
		       (const char *) array->data + (size_t) from * size, size);
	}
	ndarray_free(array);
	*array = rows;
	return true;
}

/* ---- Texts ---------------------------------------------------------------------------- */

static const char *list_text(int n, const int64_t *numbers, char *text, size_t size)
{
	size_t used = (size_t) snprintf(text, size, "[");
	for (int d = 0; d < n && used < size; d++)
		used += (size_t) snprintf(text + used, size - used, "%s%" PRId64, d ? ", " : "", numbers[d]);
	if (used < size)
		snprintf(text + used, size - used, "]");
	return text;
}

const char *extents_text(int rank, const int64_t *shape, char *text, size_t size)
{
	if (rank > 0)
		return list_text(rank, shape, text, size);
	snprintf(text, size, "scalar");
	return text;
}

const char *position_text(const struct ndarray *array, int64_t i, char *text, size_t size)
{
	int64_t index[PMG_MAX_RANK] = { 0 };
	text[0] = '\0';
	for (int d = array->rank - 1; d >= 0; d--) {
		index[d] = i % array->shape[d];
		i /= array->shape[d];
	}
	return array->rank > 0 ? list_text(array->rank, index, text, size) : text;
}
