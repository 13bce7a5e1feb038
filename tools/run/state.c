/* SPDX-License-Identifier: MIT
 *
 * States of pipelines with `iterate` in files: what an interrupted run leaves, and what --resume goes on from. A file
 * holds the states of the plan as the runtime writes them, the words of the command that have to be the same, a
 * checksum (FNV-1a, 64 bits) of the inputs, the parameters, then the arrays that the pipeline writes, since a loop may
 * have written parts of them, and a checksum of these. An output may have got more rows since, for more iterations. The
 * first signal during an execution ends it after the current iteration; a second one ends the process. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/streams.h"
#include "run/run.h"

#define FIRST_SUM 0xcbf29ce484222325u

enum { WORDS_SIZE = 128 };

static volatile int interrupted;

const volatile int *state_catch_signals(void)
{
	interrupted = 0;
	scratch_hold_signals(&interrupted);
	return &interrupted;
}

bool state_was_interrupted(void)
{
	scratch_hold_signals(NULL);
	return interrupted != 0;
}

/* ---- Arrays of the caller ------------------------------------------------------------------ */

static uint64_t sum_add(uint64_t sum, const unsigned char *bytes, size_t n)
{
	for (size_t i = 0; i < n; i++)
		sum = (sum ^ bytes[i]) * 0x100000001b3u;
	return sum;
}

static uint64_t results_sum(const struct execution *e)
{
	uint64_t sum = FIRST_SUM;
	for (int i = 0; i < e->session->arguments.n; i++) {
		const struct ndarray *array = &e->results->arrays[i];
		if (argument_is_written(&e->session->arguments.items[i]))
			sum = sum_add(sum, array->data, ndarray_bytes(array));
	}
	return sum;
}

static const char *words_of(const struct execution *e)
{
	const char *words = e->session->values.state_words;
	return words ? words : "";
}

/* As they are when it is first asked for. */
static uint64_t inputs_sum(struct execution *e)
{
	uint64_t sum = FIRST_SUM;
	for (int i = 0; !e->inputs_sum && i < e->session->arguments.n; i++) {
		const struct argument *argument = &e->session->arguments.items[i];
		if (argument_is_read(argument))
			sum = sum_add(sum, argument->value.data, ndarray_bytes(&argument->value));
	}
	if (!e->inputs_sum)
		e->inputs_sum = sum ? sum : 1;
	return e->inputs_sum;
}

/* ---- Parameters ---------------------------------------------------------------------------- */

static bool dim_uses(const struct dim *dim, int param)
{
	return dim->kind == DIM_RANGE ? depends_on(dim->lo, param) || depends_on(dim->hi, param)
				      : access_depends_on(&dim->source, param);
}

static bool stage_uses(const struct stage *stage, int param)
{
	bool does = depends_on(stage->value, param) || access_depends_on(&stage->write, param) ||
		    (stage->guard && depends_on(stage->guard, param));
	for (int d = 0; !does && d < stage->dims.n; d++)
		does = dim_uses(&stage->dims.items[d], param);
	return does;
}

/* Is it in what is computed, or where? What only bounds and the condition of the loop read, or what fills outputs that
 * have a row for each iteration, says how long it goes on. */
static bool must_stay(const struct module *module, int param)
{
	bool must = false;
	for (int i = 0; i < module->stages.n; i++)
		must = must || (!module->stages.items[i]->is_init && stage_uses(module->stages.items[i], param));
	return must;
}

/* As few digits as give the same number. */
static const char *real_text(struct arena *arena, double value)
{
	const char *text = arena_printf(arena, "%.15g", value);
	return strtod(text, NULL) == value ? text : arena_printf(arena, "%.17g", value);
}

static double number_of(const struct size *size)
{
	return size->param->is_scalar ? size->real : (double) size->value;
}

static bool write_parameters(const struct session *s, FILE *file)
{
	bool ok = true;
	for (int p = 0; p < s->sizes.n; p++) {
		const double number = number_of(&s->sizes.items[p]);
		if (param_is_argument(s->sizes.items[p].param))
			ok = ok && fwrite(&number, sizeof(number), 1, file) == 1;
	}
	return ok;
}

/* ---- Saving ------------------------------------------------------------------------------------ */

static pmg_status write_bytes(void *file, const void *bytes, size_t n)
{
	return fwrite(bytes, 1, n, file) == n ? PMG_OK : PMG_IO;
}

static bool write_all(struct execution *e, FILE *file)
{
	const pmg_writer writer = { write_bytes, file };
	const uint64_t inputs = inputs_sum(e), sum = results_sum(e);
	char words[WORDS_SIZE] = "";
	snprintf(words, sizeof(words), "%s", words_of(e));
	bool ok = pmg_plan_state_save(e->plan, &writer) == PMG_OK &&
		  write_bytes(file, words, sizeof(words)) == PMG_OK &&
		  write_bytes(file, &inputs, sizeof(inputs)) == PMG_OK &&
		  write_parameters(e->session, file);
	for (int i = 0; ok && i < e->session->arguments.n; i++) {
		const struct ndarray *array = &e->results->arrays[i];
		const int64_t n = (int64_t) ndarray_bytes(array);
		if (argument_is_written(&e->session->arguments.items[i]))
			ok = write_bytes(file, &n, sizeof(n)) == PMG_OK &&
			     write_bytes(file, array->data, (size_t) n) == PMG_OK;
	}
	return ok && write_bytes(file, &sum, sizeof(sum)) == PMG_OK;
}

const char *state_path(struct session *s)
{
	return s->values.state ? s->values.state : arena_printf(s->arena, "%s.state", s->module->name);
}

bool state_save(struct execution *e, struct failure *failure)
{
	const char *path = state_path(e->session);
	struct output out;
	if (!output_open(&out, path, failure))
		return false;
	bool ok = write_all(e, out.file) || fail_file(failure, path, "cannot write the state:");
	return output_close(&out, ok, failure);
}

/* ---- Loading ------------------------------------------------------------------------------------- */

static pmg_status read_bytes(void *file, void *bytes, size_t n)
{
	return fread(bytes, 1, n, file) == n ? PMG_OK : PMG_IO;
}

static bool damaged(const char *path, struct failure *failure)
{
	return fail(failure, OUTCOME_DATA, "%s: the state is damaged", path);
}

static bool same_words(const struct execution *e, FILE *file, const char *path, struct failure *failure)
{
	char words[WORDS_SIZE];
	if (read_bytes(file, words, sizeof(words)) != PMG_OK || words[WORDS_SIZE - 1] != 0)
		return damaged(path, failure);
	return strcmp(words, words_of(e)) == 0 ||
	       fail(failure, OUTCOME_DATA, "%s: the state was saved with %s, but here are %s", path,
		    *words ? words : "no such options", *words_of(e) ? words_of(e) : "no such options");
}

static bool same_parameters(const struct session *s, FILE *file, const char *path, struct failure *failure)
{
	for (int p = 0; p < s->sizes.n; p++) {
		const struct param *param = s->sizes.items[p].param;
		const double number = number_of(&s->sizes.items[p]);
		double saved;
		if (!param_is_argument(param))
			continue;
		if (read_bytes(file, &saved, sizeof(saved)) != PMG_OK)
			return damaged(path, failure);
		if (memcmp(&saved, &number, sizeof(saved)) != 0 && must_stay(s->module, p))
			return fail(failure, OUTCOME_DATA, "%s: the state was saved with %s=%s, but here is %s=%s",
				    path, param->name, real_text(s->arena, saved), param->name,
				    real_text(s->arena, number));
	}
	return true;
}

/* Of a result with rows, another number of which was saved. */
static bool other_rows(const char *name, const struct ndarray *array, int64_t saved, const char *path,
		       struct failure *failure)
{
	fail(failure, OUTCOME_DATA, "%s: '%s' has %" PRId64 " rows in the state, but %" PRId64 " in this run", path,
	     name, saved, array->shape[0]);
	fail_help(failure, "a run goes on with as many rows as were saved, or more");
	return false;
}

/* The first rows of it, or all; `sum` goes on over them. */
static bool read_result(const char *name, struct ndarray *array, FILE *file, uint64_t *sum, const char *path,
			struct failure *failure)
{
	const int64_t most = (int64_t) ndarray_bytes(array), rows = array->rank ? array->shape[0] : 1;
	const int64_t row = most ? most / rows : 0;
	int64_t n;
	if (read_bytes(file, &n, sizeof(n)) != PMG_OK || n < 0)
		return damaged(path, failure);
	if (array->rank && row && n > most && n % row == 0)
		return other_rows(name, array, n / row, path, failure);
	if (n > most || (n != most && n % row != 0) || read_bytes(file, array->data, (size_t) n) != PMG_OK)
		return damaged(path, failure);
	*sum = sum_add(*sum, array->data, (size_t) n);
	return true;
}

static bool read_all(struct execution *e, FILE *file, const char *path, struct failure *failure)
{
	const pmg_reader reader = { read_bytes, file };
	uint64_t sum, found = FIRST_SUM;
	const pmg_status status = pmg_plan_state_load(e->plan, &reader);
	if (status == PMG_IO && feof(file))
		return fail(failure, OUTCOME_DATA, "%s: it ends before a state does: cut off, or of something else",
			    path);
	if (status != PMG_OK)
		return fail(failure, status == PMG_NO_RESOURCES ? OUTCOME_RESOURCES : OUTCOME_DATA, "%s: %s", path,
			    pmg_message(e->context));
	if (!same_words(e, file, path, failure))
		return false;
	if (read_bytes(file, &sum, sizeof(sum)) != PMG_OK)
		return damaged(path, failure);
	if (sum != inputs_sum(e))
		return fail(failure, OUTCOME_DATA, "%s: the state was saved with other inputs", path);
	if (!same_parameters(e->session, file, path, failure))
		return false;
	for (int i = 0; i < e->session->arguments.n; i++) {
		const struct argument *argument = &e->session->arguments.items[i];
		if (argument_is_written(argument) &&
		    !read_result(argument->array->name, &e->results->arrays[i], file, &found, path, failure))
			return false;
	}
	return (read_bytes(file, &sum, sizeof(sum)) == PMG_OK && sum == found && fgetc(file) == EOF) ||
	       damaged(path, failure);
}

bool state_load(struct execution *e, struct failure *failure)
{
	const char *path = e->session->values.resume;
	FILE *file = fopen(path, "rbe");
	if (!file)
		return fail_file(failure, path, "cannot open:");
	bool ok = read_all(e, file, path, failure) || (ferror(file) && fail_file(failure, path, "cannot read:"));
	fclose(file);
	return ok;
}
