/* SPDX-License-Identifier: MIT
 *
 * What --max-mem counts before a plan is made: the arguments, read from files or to be made up, and arrays for what is
 * computed, by the interpreter as well with --compare. */
#include "run/run.h"

static int64_t argument_bytes(const struct session *s, const struct argument *argument)
{
	int64_t shape[PMG_MAX_RANK];
	size_t bytes;
	if (argument->value.data)
		return (int64_t) ndarray_bytes(&argument->value);
	return sizes_shape(s, argument->array, shape) &&
	       shape_bytes(argument->array->rank, shape, pmg_type_size(argument_type(argument)), &bytes)
		? (int64_t) bytes : 0;
}

int64_t session_bytes(const struct session *s)
{
	int64_t sum = 0;
	for (int i = 0; i < s->arguments.n; i++) {
		const struct argument *argument = &s->arguments.items[i];
		int copies = !argument_is_written(argument) ? 0 : s->values.compare ? 2 : 1;
		sum += argument_bytes(s, argument) * (argument_is_read(argument) + copies);
	}
	return sum;
}

bool session_fits(struct session *s, struct failure *failure)
{
	return !s->max_memory ||
	       memory_suffices(session_bytes(s), s->max_memory, s->values.max_memory, failure);
}
