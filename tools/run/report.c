/* SPDX-License-Identifier: MIT
 *
 * What came out: the arrays that are written, and a line for each. */
#include "run/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Arrays that are written ----------------------------------------------------------- */

static bool new_result(struct session *s, int i, struct results *results, struct failure *failure)
{
	const struct argument *argument = &s->arguments.items[i];
	int64_t shape[PMG_MAX_RANK];
	if (argument_is_read(argument))
		return ndarray_copy(&results->arrays[i], &argument->value, failure);
	if (!sizes_shape(s, argument->array, shape))
		return fail(failure, OUTCOME_USAGE, "%s: its shape is not known", argument->array->name);
	return ndarray_new(&results->arrays[i], argument_type(argument), argument->array->rank, shape,
			   failure);
}

bool results_new(struct session *s, struct results *results, struct failure *failure)
{
	results->arrays = arena_new_array(s->arena, struct ndarray, s->arguments.n + 1);
	for (int i = 0; i < s->arguments.n; i++)
		if (argument_is_written(&s->arguments.items[i]) && !new_result(s, i, results, failure))
			return false;
	return true;
}

void results_free(const struct session *s, struct results *results)
{
	for (int i = 0; results->arrays && i < s->arguments.n; i++)
		ndarray_free(&results->arrays[i]);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void print_result(const struct argument *argument, const struct ndarray *value)
{
	char shape[200];
	struct summary summary = ndarray_summary(value);
	printf("%-12s %-5s %-18s ", argument->array->name, pmg_type_name(value->type),
	       extents_text(value->rank, value->shape, shape, sizeof(shape)));
	if (summary.min <= summary.max)
		printf("%14.7g %14.7g %14.7g", summary.min, summary.max, summary.sum);
	else
		printf("%14s %14s %14s", "-", "-", "-");
	if (summary.n_nan || summary.n_infinite)
		printf("  %" PRId64 " NaN, %" PRId64 " infinite", summary.n_nan, summary.n_infinite);
	if (argument->save)
		printf("  -> %s", argument->save);
	putchar('\n');
}

static void print_stop(const struct session *s)
{
	const struct loop *loop = &s->module->loop;
	int64_t lo, hi;
	if (sizes_evaluate(s, loop->lo, &lo) && sizes_evaluate(s, loop->hi, &hi))
		printf("stopped after %" PRId64 " of at most %" PRId64 " iterations\n", s->values.iterations,
		       hi - lo);
}

void results_print(const struct session *s, const struct results *results)
{
	sizes_print(s);
	if (results->is_stopped)
		print_stop(s);
	printf("%-12s %-5s %-18s %14s %14s %14s\n", "output", "type", "shape", "min", "max", "sum");
	for (int i = 0; i < s->arguments.n; i++)
		if (argument_is_written(&s->arguments.items[i]))
			print_result(&s->arguments.items[i], &results->arrays[i]);
}

void timing_print(const struct timing *timing)
{
	if (timing->interpreter > 0)
		printf("interpret %.3f ms\n", 1e3 * timing->interpreter);
	if (timing->n == 0)
		return;
	printf("plan %.3f ms, execute %.3f ms", 1e3 * timing->plan, 1e3 * timing->median);
	if (timing->n > 1)
		printf(" (median of %" PRId64 ", least %.3f)", timing->n, 1e3 * timing->least);
	putchar('\n');
	if (timing->device_bytes > 0)
		printf("device %.3f MiB; moved to it %.3f MiB, from it %.3f MiB; kernels %.3f ms; "
		       "restructured %s %.3f ms\n",
		       (double) timing->device_bytes / 0x1p20, (double) timing->to_device / 0x1p20,
		       (double) timing->from_device / 0x1p20, 1e3 * timing->kernels,
		       timing->inspection > 0 ? "there in" : "on the host,", 1e3 * timing->inspection);
	if (timing->device_lacks > 0)
		printf("points of zero weight stay: the device has no %.3f MiB to leave them out\n",
		       (double) timing->device_lacks / 0x1p20);
}

/* ---- Which kernel runs ------------------------------------------------------------------------ */

static bool is_known_tree(const struct argument *argument)
{
	const struct array *array = argument->array;
	bool is = ndarray_count(&argument->value) == array->known.n;
	for (int64_t i = 0; is && i < array->known.n; i++)
		is = ndarray_integer(&argument->value, i) == array->known.parents[i];
	return is;
}

/* By the program or with it. Lengths of rows that pmg compiles in by itself are no news. */
static bool is_asked(const struct session *s, int p)
{
	const struct tree_file *tree = s->c->tree;
	bool is = false;
	for (int i = 0; tree && i < tree->pipelines.n; i++) {
		const struct tree_pipeline *pipeline = tree->pipelines.items[i];
		for (int j = 0; j < pipeline->body.n && !strcmp(pipeline->name.name, s->module->name); j++) {
			const struct tree_stmt *stmt = pipeline->body.items[j];
			is = is || (stmt->kind == TREE_SPECIALIZE &&
				    !strcmp(stmt->names.items[0].name, s->sizes.items[p].param->name));
		}
	}
	return is && s->module->params.items[p].is_specialized;
}

/* "n is 12, not 11"; NULL: all that is specialized is as it was compiled. */
static const char *why_general(const struct session *s)
{
	for (int p = 0; p < s->sizes.n; p++)
		if (is_asked(s, p) && s->sizes.items[p].value != s->module->params.items[p].value)
			return arena_printf(s->arena, "%s is %" PRId64 ", not %" PRId64, s->sizes.items[p].param->name,
					    s->sizes.items[p].value, s->module->params.items[p].value);
	for (int i = 0; i < s->arguments.n && !compilation_has_device(s->c); i++)
		if (s->arguments.items[i].array->known.parents && !is_known_tree(&s->arguments.items[i]))
			return arena_printf(s->arena, "%s is another tree", s->arguments.items[i].array->name);
	return NULL;
}

void kernel_print(const struct session *s)
{
	struct str what = str_new(s->arena);
	const char *why = why_general(s);
	for (int i = 0; i < s->arguments.n && !compilation_has_device(s->c); i++)
		if (s->arguments.items[i].array->known.parents)
			str_add(&what, "%sthe tree %s", what.length ? ", " : "", s->arguments.items[i].array->name);
	for (int p = 0; p < s->sizes.n; p++)
		if (is_asked(s, p))
			str_add(&what, "%s%s = %" PRId64, what.length ? ", " : "", s->sizes.items[p].param->name,
				s->module->params.items[p].value);
	if (why)
		printf("kernel for all sizes and trees: %s\n", why);
	else if (what.length)
		printf("kernel specialized for %s\n", str_text(&what));
}

/* ---- Failures -------------------------------------------------------------------------------- */

/* The array of which the runtime says "array 'NAME' …", or the interpreter "PLACE: NAME[…"; NULL: none. */
static const struct array *blamed_array(const struct session *s, const char *text)
{
	for (int i = 0; i < s->module->arrays.n; i++) {
		const char *name = s->module->arrays.items[i]->name;
		if (strstr(text, arena_printf(s->arena, "array '%s'", name)) ||
		    strstr(text, arena_printf(s->arena, ": %s[", name)))
			return s->module->arrays.items[i];
	}
	return NULL;
}

/* The `assume` of which the runtime says "assumes TEXT (PLACE)", or the interpreter "the assumption 'TEXT'". */
static const struct expr *blamed_assumption(const struct session *s, const char *text)
{
	for (int i = 0; i < s->module->assumptions.n; i++) {
		const struct expr *assumption = s->module->assumptions.items[i];
		const char *said = expr_text(s->arena, s->module, NULL, assumption);
		if (strstr(text, arena_printf(s->arena, " assumes %s (", said)) ||
		    strstr(text, arena_printf(s->arena, "the assumption '%s'", said)))
			return assumption;
	}
	return NULL;
}

bool depends_on(const struct expr *expr, int param)
{
	bool does = (expr->kind == EXPR_PARAM && expr->index == param) ||
		    (expr->kind == EXPR_READ && access_depends_on(&expr->access, param));
	for (int i = 0; !does && i < expr_n_args(expr); i++)
		does = depends_on(expr->args[i], param);
	return does;
}

bool access_depends_on(const struct access *access, int param)
{
	bool does = false;
	for (int i = 0; !does && i < access_n_subs(access); i++)
		does = depends_on(access->subs[i], param);
	return does;
}

static void explain_file(const struct session *s, const struct array *array, struct failure *failure)
{
	for (int i = 0; i < s->arguments.n; i++)
		if (s->arguments.items[i].array == array && s->arguments.items[i].filling == FILL_FILE)
			fail_note(failure, "'%s' is from %s", array->name, s->arguments.items[i].source);
}

void failure_explain(const struct session *s, struct failure *failure)
{
	const struct array *array = blamed_array(s, failure->text);
	const struct expr *limit = array ? array->limit : blamed_assumption(s, failure->text);
	if (array)
		explain_file(s, array, failure);
	for (int p = 0; limit && p < s->sizes.n; p++) {
		const struct size *size = &s->sizes.items[p];
		if (size->source && depends_on(limit, p))
			fail_note(failure, "%s is %" PRId64 " by %s", size->param->name, size->value, size->source);
	}
}
