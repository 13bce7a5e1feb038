/* SPDX-License-Identifier: MIT
 *
 * Running a generated library through its description, as any loader does: the arguments' struct is filled
 * by the names and offsets that the description gives, the pipeline planned once and executed as often as
 * asked. The library stays in memory, as the threads of its OpenMP runtime do. */
#include "run/run.h"

#include <dlfcn.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Loading ------------------------------------------------------------------------------ */

static const pmg_pipeline_desc *find_pipeline(void *library, const char *name, struct failure *failure)
{
	void *symbol = dlsym(library, PMG_PIPELINES_SYMBOL);
	pmg_pipelines_function pipelines;
	memcpy(&pipelines, &symbol, sizeof(pipelines));
	const pmg_pipeline_desc *const *list = symbol ? pipelines() : NULL;
	while (list && *list && strcmp((*list)->name, name) != 0)
		list++;
	if (!list || !*list) {
		fail(failure, OUTCOME_INTERNAL, "the generated library has no pipeline '%s'", name);
		return NULL;
	}
	if ((*list)->abi_version != PMG_ABI_VERSION) {
		fail(failure, OUTCOME_INTERNAL,
		     "the generated library has version %" PRIu32 " of the interface, "
		     "this program %d",
		     (*list)->abi_version, PMG_ABI_VERSION);
		return NULL;
	}
	return *list;
}

/* ---- Arguments ------------------------------------------------------------------------------ */

static void set_param(struct session *s, const pmg_param_desc *param, char *args)
{
	for (int p = 0; p < s->sizes.n; p++) {
		const struct size *size = &s->sizes.items[p];
		float narrow = (float) size->real;
		if (strcmp(size->param->name, param->name) != 0)
			continue;
		if (param->type == PMG_F64)
			memcpy(args + param->offset, &size->real, sizeof(double));
		else if (param->type == PMG_F32)
			memcpy(args + param->offset, &narrow, sizeof(float));
		else
			memcpy(args + param->offset, &size->value, sizeof(int64_t));
	}
}

static void set_array(struct session *s, const pmg_array_desc *array, struct results *results, char *args)
{
	for (int i = 0; i < s->arguments.n; i++) {
		const struct argument *argument = &s->arguments.items[i];
		if (strcmp(argument->array->name, array->name) != 0)
			continue;
		const struct ndarray *value =
			argument_is_written(argument) ? &results->arrays[i] : &argument->value;
		pmg_buffer buffer = pmg_dense(value->data, value->type, value->rank, value->shape);
		memcpy(args + array->offset, &buffer, sizeof(buffer));
	}
}

static bool set_arguments(struct session *s, struct execution *e, struct results *results,
			  struct failure *failure)
{
	e->args = calloc(1, e->desc->args_size ? e->desc->args_size : 1);
	if (!e->args)
		return fail_memory(failure, "the arguments");
	for (int i = 0; i < e->desc->n_params; i++)
		set_param(s, &e->desc->params[i], e->args);
	for (int i = 0; i < e->desc->n_arrays; i++)
		if (e->desc->arrays[i].offset != SIZE_MAX)
			set_array(s, &e->desc->arrays[i], results, e->args);
	return true;
}

/* What an `inout` held before is there again before each execution. */
static void reset_results(struct session *s, struct results *results)
{
	for (int i = 0; i < s->arguments.n; i++) {
		const struct argument *argument = &s->arguments.items[i];
		if (argument_is_written(argument) && argument_is_read(argument))
			memcpy(results->arrays[i].data, argument->value.data,
			       ndarray_bytes(&argument->value));
	}
}

/* ---- Running ---------------------------------------------------------------------------------- */

static bool accept(const struct execution *e, pmg_status status, struct failure *failure)
{
	const char *message = pmg_message(e->context);
	if (status == PMG_OK)
		return true;
	bool is_asked = e->session->values.candidate != NULL;
	enum outcome bad_call = is_asked ? OUTCOME_USAGE : OUTCOME_INTERNAL;
	fail(failure, status == PMG_BAD_CALL ? bad_call : (enum outcome) status, "%s",
	     *message ? message : "the pipeline fails without a message");
	failure_explain(e->session, failure);
	return false;
}

/* A plan of the way that is asked for, or of the first; what other ways may take is limited by what is left. */
static bool plan_fits(struct execution *e, pmg_options options, int64_t *left, struct failure *failure)
{
	struct session *s = e->session;
	int64_t peak = 0, bytes = session_bytes(s);
	if (!s->max_memory)
		return true;
	options.candidate = s->values.candidate;
	options.tune = PMG_TUNE_OFF;
	pmg_plan_forecast_with(e->desc, e->args, &options, &peak);
	*left = s->max_memory - bytes;
	return memory_suffices(bytes + peak, s->max_memory, s->values.max_memory, failure);
}

bool library_plan(struct execution *e, struct failure *failure)
{
	pmg_options options = { .context = e->context,
				.threads = (int32_t) e->session->values.threads,
				.check_finite = session_checks_finite(),
				.in_blocks = e->in_blocks };
	if (!plan_fits(e, options, &options.max_memory, failure))
		return false;
	double start = clock_now();
	pmg_status status = tune_plan(e, &options);
	e->plan_seconds = clock_now() - start;
	if (!accept(e, status, failure)) {
		if (status == PMG_NO_RESOURCES && options.max_memory)
			fail_note(failure, "the limit is what --max-mem=%s leaves beside the arguments",
				  e->session->values.max_memory);
		return false;
	}
	tune_print(e);
	return true;
}

bool library_attach(struct session *s, const pmg_pipeline_desc *desc, struct results *results, struct execution *e,
		    struct failure *failure)
{
	*e = (struct execution){ .session = s, .results = results, .desc = desc, .context = pmg_context_new(NULL) };
	if (!e->context)
		return fail_memory(failure, "the runtime");
	return set_arguments(s, e, results, failure);
}

bool library_load(struct session *s, const char *path, struct results *results, struct execution *e,
		  struct failure *failure)
{
	*e = (struct execution){ .session = s, .results = results };
	const char *name = strchr(path, '/') ? path : arena_printf(s->arena, "./%s", path);
	void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
	if (!library)
		return fail(failure, OUTCOME_IO, "cannot load the generated library: %s", dlerror());
	const pmg_pipeline_desc *desc = find_pipeline(library, s->module->name, failure);
	dlclose(library);
	return desc && library_attach(s, desc, results, e, failure);
}

void library_set_scalar(struct execution *e, const char *name, double value)
{
	for (int i = 0; i < e->desc->n_params; i++)
		if (strcmp(e->desc->params[i].name, name) == 0 && e->desc->params[i].type == PMG_F64)
			memcpy(e->args + e->desc->params[i].offset, &value, sizeof(value));
}

bool library_step(struct execution *e, pmg_control *control, struct failure *failure)
{
	return accept(e, e->desc->execute(e->plan, e->args, control), failure);
}

/* What was computed is in a file, and nowhere else. */
static bool interrupted(struct execution *e, const pmg_control *control, struct failure *failure)
{
	if (!state_save(e, failure))
		return false;
	fail(failure, OUTCOME_INTERRUPTED, "stopped after %" PRId64 " iterations; no output is saved", control->done);
	fail_help(failure, "the same command with --resume %s goes on from here", state_path(e->session));
	return false;
}

bool library_execute(struct execution *e, double *seconds, struct failure *failure)
{
	const struct run_values *values = &e->session->values;
	pmg_control control = { .budget = values->iterations, .resume = values->resume,
				.check_every = values->check_every };
	reset_results(e->session, e->results);
	if (values->resume && !state_load(e, failure))
		return false;
	if (e->desc->has_loop)
		control.cancel = state_catch_signals();
	double start = clock_now();
	pmg_status status = e->desc->execute(e->plan, e->args, &control);
	*seconds = clock_now() - start;
	if (e->desc->has_loop && state_was_interrupted() && status == PMG_CANCELLED)
		return interrupted(e, &control, failure);
	if (!accept(e, status, failure))
		return false;
	e->results->is_stopped = !control.finished;
	return !e->results->is_stopped || !values->state || state_save(e, failure);
}

void library_close(struct execution *e)
{
	if (e->plan)
		e->desc->destroy(e->plan);
	free(e->args);
	pmg_context_free(e->context);
}

static int compare_times(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;
	return (x > y) - (x < y);
}

bool library_time(struct execution *e, struct timing *timing, struct failure *failure)
{
	int64_t n = e->session->values.repeat;
	double *times = arena_new_array(e->session->arena, double, n);
	for (int64_t i = 0; i < n; i++)
		if (!library_execute(e, &times[i], failure))
			return false;
	qsort(times, (size_t) n, sizeof(*times), compare_times);
	timing->n = n;
	timing->plan = e->plan_seconds;
	timing->least = times[0];
	timing->median = times[n / 2];
	const pmg_report *report = pmg_plan_report(e->plan);
	timing->device_bytes = report->device_bytes;
	timing->to_device = report->to_device;
	timing->from_device = report->from_device;
	timing->inspection = report->device_inspection;
	timing->kernels = report->device_seconds;
	timing->device_lacks = report->device_lacks;
	return true;
}
