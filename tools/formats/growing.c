/* SPDX-License-Identifier: MIT
 *
 * Lists of numbers read from text, which tells how many there are only by ending. */
#include "formats/streams.h"

#include <stdlib.h>
#include <string.h>

static bool reserve(struct growing *list)
{
	if (list->n < list->capacity)
		return true;
	int64_t capacity = list->capacity ? 2 * list->capacity : 1024;
	void *data = realloc(list->data, (size_t) capacity * sizeof(double));
	if (!data)
		return false;
	list->data = data;
	list->capacity = capacity;
	return true;
}

bool growing_add_real(struct growing *list, double value)
{
	list->type = PMG_F64;
	if (!reserve(list))
		return false;
	((double *) list->data)[list->n++] = value;
	return true;
}

bool growing_add_integer(struct growing *list, int64_t value)
{
	list->type = PMG_I64;
	if (!reserve(list))
		return false;
	((int64_t *) list->data)[list->n++] = value;
	return true;
}

void growing_free(struct growing *list)
{
	free(list->data);
	list->data = NULL;
	list->n = list->capacity = 0;
}

bool growing_finish(struct growing *list, struct ndarray *array, int rank, const int64_t *shape,
		    struct failure *failure)
{
	if (!list->data && !reserve(list))
		return fail_memory(failure, "a list of numbers");
	*array = (struct ndarray){ .type = list->type, .rank = rank > 0 ? rank : 1, .shape = { list->n } };
	if (rank > 0)
		memcpy(array->shape, shape, (size_t) rank * sizeof(shape[0]));
	void *fitted = realloc(list->data, list->n > 0 ? (size_t) list->n * sizeof(double) : 1);
	array->data = fitted ? fitted : list->data;
	*list = (struct growing){ .type = list->type };
	return true;
}
