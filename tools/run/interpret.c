/* SPDX-License-Identifier: MIT
 *
 * Running the module in the reference interpreter, as written, before any pass has seen it. */
#include "run/run.h"

#include <string.h>

static void give_params(struct session *s, struct interp_input *input)
{
	int64_t *sizes = arena_new_array(s->arena, int64_t, s->sizes.n + 1);
	double *scalars = arena_new_array(s->arena, double, s->sizes.n + 1);
	for (int p = 0; p < s->sizes.n; p++) {
		sizes[p] = s->sizes.items[p].value;
		scalars[p] = s->sizes.items[p].real;
	}
	input->sizes = sizes;
	input->scalars = scalars;
}

static void give_arrays(struct session *s, struct results *results, struct interp_input *input)
{
	for (int i = 0; i < s->arguments.n; i++) {
		const struct argument *argument = &s->arguments.items[i];
		const struct ndarray *value =
			argument_is_written(argument) ? &results->arrays[i] : &argument->value;
		struct interp_array array = { .array = argument->array,
					      .type = (enum scalar_type) value->type,
					      .data = value->data };
		memcpy(array.shape, value->shape, sizeof(array.shape));
		vec_push(s->arena, &input->arrays, array);
	}
}

bool interpreter_run(struct session *s, struct results *results, double **magnitude, struct timing *timing,
		     struct failure *failure)
{
	static const enum outcome outcomes[] = {
		[INTERP_BOUND] = OUTCOME_DATA,
		[INTERP_COMPUTED] = OUTCOME_NUMERICAL,
		[INTERP_MEMORY] = OUTCOME_RESOURCES
	};
	enum interp_fault fault = INTERP_BOUND;
	struct interp_input input = { .max_iterations = s->values.iterations,
				      .is_stopped = &results->is_stopped,
				      .fault = &fault };
	if (!compilation_find_pivots(s->c, s->module))
		return program_failed(s, failure);
	give_params(s, &input);
	give_arrays(s, results, &input);
	double start = clock_now();
	const char *message = module_interpret(s->module, s->arena, &input, magnitude);
	timing->interpreter = clock_now() - start;
	if (!message)
		return true;
	fail(failure, outcomes[fault], "%s", message);
	failure_explain(s, failure);
	return false;
}
