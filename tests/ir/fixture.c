/* SPDX-License-Identifier: MIT
 *
 * Opening, binding and running modules for tests, and counting checks. */
#include "ir/fixture.h"

#include <math.h>
#include <string.h>

void ir_check(struct ir_tests *tests, bool ok, const char *file, int line, const char *text)
{
	if (ok) {
		tests->passed++;
		return;
	}
	tests->failed++;
	fprintf(stderr, "%s:%d: failed: %s\n", file, line, text);
}

void ir_check_has(struct ir_tests *tests, const char *text, const char *part, const char *file, int line)
{
	bool ok = text && strstr(text, part);

	ir_check(tests, ok, file, line, part);
	if (!ok)
		fprintf(stderr, "  in: %s\n", text ? text : "(nothing)");
}

void ir_check_same(struct ir_tests *tests, const char *text, const char *wanted, const char *file, int line)
{
	bool ok = text && strcmp(text, wanted) == 0;

	ir_check(tests, ok, file, line, "the texts are the same");
	if (!ok)
		fprintf(stderr, "---- got\n%s\n---- wanted\n%s\n", text ? text : "(nothing)", wanted);
}

static bool reals_equal(double a, double b)
{
	return (isnan(a) && isnan(b)) || a == b;
}

void ir_check_reals(struct ir_tests *tests, const double *got, const double *wanted, int n, const char *file, int line)
{
	for (int i = 0; i < n; i++)
		if (!reals_equal(got[i], wanted[i])) {
			ir_check(tests, false, file, line, "the values are those wanted");
			fprintf(stderr, "  at %d: %.17g, wanted %.17g\n", i, got[i], wanted[i]);
			return;
		}
	ir_check(tests, true, file, line, "");
}

void ir_check_integers(struct ir_tests *tests, const int64_t *got, const int64_t *wanted, int n, const char *file,
		       int line)
{
	for (int i = 0; i < n; i++)
		if (got[i] != wanted[i]) {
			ir_check(tests, false, file, line, "the values are those wanted");
			fprintf(stderr, "  at %d: %lld, wanted %lld\n", i, (long long) got[i], (long long) wanted[i]);
			return;
		}
	ir_check(tests, true, file, line, "");
}

void ir_open(struct ir_fixture *f)
{
	memset(f, 0, sizeof *f);
	f->sources.arena = &f->arena;
	f->diags.arena = &f->arena;
	f->diags.sources = &f->sources;
	f->ctx = isl_ctx_alloc();
	f->input.sizes = f->sizes;
	f->input.scalars = f->scalars;
	f->input.max_iterations = -1;
}

void ir_read(struct ir_fixture *f, const char *text)
{
	uint32_t file = sources_add(&f->sources, "test.ir", text, strlen(text));

	f->module = module_read(&f->arena, &f->diags, f->ctx, file);
}

void ir_open_text(struct ir_fixture *f, const char *text)
{
	ir_open(f);
	ir_read(f, text);
	if (!f->module)
		fprintf(stderr, "%s", ir_messages(f));
}

void ir_close(struct ir_fixture *f)
{
	if (f->module)
		module_free(f->module);
	isl_ctx_free(f->ctx);
	arena_release(&f->arena);
}

static int param_number(const struct ir_fixture *f, const char *name)
{
	int number = 0;

	for (int i = 0; i < f->module->params.n; i++)
		if (strcmp(f->module->params.items[i].name, name) == 0)
			number = i;
	return number;
}

void ir_size(struct ir_fixture *f, const char *param, int64_t value)
{
	f->sizes[param_number(f, param)] = value;
}

void ir_scalar(struct ir_fixture *f, const char *param, double value)
{
	f->scalars[param_number(f, param)] = value;
}

void ir_bind(struct ir_fixture *f, const char *array, enum scalar_type type, void *data, int64_t d0, int64_t d1)
{
	struct interp_array input = { module_find_array(f->module, array), type, data, { d0, d1 } };

	vec_push(&f->arena, &f->input.arrays, input);
}

const char *ir_run(struct ir_fixture *f)
{
	return module_interpret(f->module, &f->arena, &f->input, NULL);
}

const char *ir_messages(struct ir_fixture *f)
{
	return diags_text(&f->diags, 20, false);
}
