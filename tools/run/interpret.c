/* SPDX-License-Identifier: MIT
 *
 * Running the module in the reference interpreter, as written, before any pass has seen it. */
#include "run/run.h"
#include "words.h"

#include <math.h>
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

/* The array of a module that an argument is, which may be of another module of the pipeline. */
static const struct array *array_in(const struct module *module, const struct array *array)
{
	for (int i = 0; i < module->arrays.n; i++)
		if (array_is_argument(module->arrays.items[i]) && !strcmp(module->arrays.items[i]->name, array->name))
			return module->arrays.items[i];
	return array;
}

static void give_arrays(struct session *s, struct module *module, struct results *results, struct interp_input *input)
{
	for (int i = 0; i < s->arguments.n; i++) {
		const struct argument *argument = &s->arguments.items[i];
		const struct ndarray *value =
			argument_is_written(argument) ? &results->arrays[i] : &argument->value;
		struct interp_array array = { .array = array_in(module, argument->array),
					      .type = (enum scalar_type) value->type,
					      .data = value->data };
		memcpy(array.shape, value->shape, sizeof(array.shape));
		vec_push(s->arena, &input->arrays, array);
	}
}

/* As the runtime refuses them. */
static bool is_finite_input(const struct argument *argument, struct failure *failure)
{
	const struct array *array = argument->array;
	const struct ndarray *value = &argument->value;
	int64_t n = type_is_float(array->type) && array->role != ROLE_OUT ? ndarray_count(value) : 0;
	char place[200];
	for (int64_t i = 0; i < n; i++) {
		double number = ndarray_real(value, i);
		if (isfinite(number))
			continue;
		return fail(failure, OUTCOME_DATA, "array '%s' holds %s at %s, but " WORDS_OF_FINITE, array->name,
			    isnan(number) ? "NaN" : number > 0 ? "infinity" : "-infinity",
			    position_text(value, i, place, sizeof(place)));
	}
	return true;
}

static bool inputs_are_finite(struct session *s, struct failure *failure)
{
	for (int i = 0; i < s->arguments.n; i++)
		if (!is_finite_input(&s->arguments.items[i], failure))
			return false;
	return true;
}

bool interpreter_run(struct session *s, struct results *results, struct interp_weight **weights,
		     struct timing *timing, struct failure *failure)
{
	static const enum outcome outcomes[] = {
		[INTERP_BOUND] = OUTCOME_DATA,
		[INTERP_COMPUTED] = OUTCOME_NUMERICAL,
		[INTERP_MEMORY] = OUTCOME_RESOURCES
	};
	enum interp_fault fault = INTERP_BOUND;
	struct interp_input input = { .max_iterations = s->values.iterations,
				      .is_stopped = &results->is_stopped,
				      .fault = &fault,
				      .checks_finite = session_checks_finite() };
	if (session_checks_finite() && !inputs_are_finite(s, failure))
		return false;
	if (!compilation_find_pivots(s->c, s->module))
		return program_failed(s, failure);
	give_params(s, &input);
	give_arrays(s, s->module, results, &input);
	double start = clock_now();
	const char *message = module_interpret(s->module, s->arena, &input, weights);
	timing->interpreter = clock_now() - start;
	if (!message)
		return true;
	fail(failure, outcomes[fault], "%s", message);
	failure_explain(s, failure);
	return false;
}

const char *interpreter_run_again(struct session *s, struct module *module, struct results *results,
				  struct interp_input *how)
{
	how->max_iterations = s->values.iterations;
	give_params(s, how);
	give_arrays(s, module, results, how);
	return module_interpret(module, s->arena, how, NULL);
}
