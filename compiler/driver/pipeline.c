/* SPDX-License-Identifier: MIT
 *
 * The pipeline. Every step runs under a guard: when the arena finds no memory, the step ends on the arena's reserve
 * and counts as failed; when that does not suffice, control comes back here at once. isl works under a quota of
 * operations; its errors never reach the user as such. */
#include "driver/candidates.h"

#include <errno.h>
#include <isl/options.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "codegen/target.h"
#include "driver/options.h"
#include "driver/with.h"
#include "ir/schedule.h"

/* The reserve is four times what the largest step of our largest program takes. */
enum { SHOWN_ERRORS = 20, RESERVE_BYTES = 8 << 20, USUAL_DIMS = 4, ITERATE_WORTH = 3 };

/* ---- compilation ---- */

struct compilation *compilation_new(void)
{
	const struct options options = options_default();
	struct compilation *c = calloc(1, sizeof *c);
	char problem[8];

	if (!c)
		return NULL;
	c->ctx = isl_ctx_alloc();
	if (!c->ctx || !arena_reserve(&c->arena, RESERVE_BYTES)) {
		isl_ctx_free(c->ctx);
		free(c);
		return NULL;
	}
	isl_options_set_on_error(c->ctx, ISL_ON_ERROR_CONTINUE);
	c->sources.arena = &c->arena;
	c->diags.arena = &c->arena;
	c->diags.sources = &c->sources;
	c->target = "openmp";
	options_for_passes(&options, &c->options, problem, sizeof problem);
	c->options.candidates = 1;
	return c;
}

void compilation_free(struct compilation *c)
{
	if (!c)
		return;
	for (int i = 0; i < c->modules.n; i++)
		module_free(c->modules.items[i]);
	for (int i = 0; i < c->others.n; i++)
		module_free(c->others.items[i]);
	isl_ctx_free(c->ctx);
	arena_release(&c->arena);
	free(c);
}

bool compilation_guard(struct compilation *c, bool (*step)(struct compilation *c, void *argument), void *argument)
{
	jmp_buf on_failure, *outer = c->arena.on_failure;
	volatile bool ok = false;

	c->arena.on_failure = &on_failure;
	if (!setjmp(on_failure))
		ok = step(c, argument);
	else
		c->is_out_of_memory = true;
	c->is_out_of_memory |= c->arena.is_exhausted;
	c->arena.on_failure = outer;
	return ok && !c->is_out_of_memory;
}

/* A step that fails leaves an error, so that nobody stops without a word. */
static bool guarded(struct compilation *c, bool (*step)(struct compilation *c, void *argument), void *argument)
{
	bool ok = compilation_guard(c, step, argument);

	if (!ok && !c->diags.n_errors && !c->is_out_of_memory)
		diag_error(&c->diags, DIAG_INTERNAL, (struct span) { 0 }, "a step fails and does not say why");
	return ok && !c->diags.n_errors;
}

/* ---- text ---- */

/* NULL with errno set on failure. */
static char *read_all(FILE *file, size_t *size)
{
	char *text = NULL, *grown;
	size_t capacity = 0;
	int error;

	*size = 0;
	do {
		if (*size + 1 >= capacity) {
			capacity = capacity ? 2 * capacity : 65536;
			grown = realloc(text, capacity);
			if (!grown) {
				free(text);
				return NULL;
			}
			text = grown;
		}
		*size += fread(text + *size, 1, capacity - *size - 1, file);
	} while (!feof(file) && !ferror(file));
	if (!ferror(file))
		return text;
	error = errno;
	free(text);
	errno = error;
	return NULL;
}

static bool open_step(struct compilation *c, void *path)
{
	FILE *file = fopen(path, "rb");
	size_t size = 0;
	char *text = file ? read_all(file, &size) : NULL;
	int error = text ? 0 : errno;

	if (file)
		fclose(file);
	if (text)
		c->file = sources_add(&c->sources, path, arena_copy(&c->arena, text, size), size);
	else if (error == ENOMEM)
		c->is_out_of_memory = true;
	else
		diag_error(&c->diags, DIAG_CANNOT_READ, (struct span) { 0 }, "cannot read '%s': %s",
			   (const char *) path, strerror(error));
	free(text);
	return !error;
}

static bool parse_step(struct compilation *c, void *unused)
{
	(void) unused;
	c->tree = syntax_parse(&c->arena, &c->diags, c->file);
	with_add(c);
	return true;
}

static bool is_dump(const struct compilation *c)
{
	const char *name = sources_get(&c->sources, c->file)->name;
	size_t length = strlen(name);

	return length > 3 && !strcmp(name + length - 3, ".ir");
}

static bool lower(struct compilation *c, struct diags *diags, module_list *modules)
{
	struct module *module;

	if (!is_dump(c)) {
		bool ok = sema_lower_file(&c->arena, diags, c->ctx, c->tree, modules);

		if (modules == &c->modules)
			with_check(c);
		for (int i = 0; ok && c->options.overrides && i < modules->n; i++)
			ok = module_set_storage(modules->items[i]);
		return ok;
	}
	module = module_read(&c->arena, diags, c->ctx, c->file);
	if (module)
		vec_push(&c->arena, modules, module);
	return module;
}

static bool lower_step(struct compilation *c, void *unused)
{
	(void) unused;
	return lower(c, &c->diags, &c->modules);
}

bool compilation_lower_again(struct compilation *c, struct diags *diags)
{
	return lower(c, diags, &c->others);
}

/* ---- passes ---- */

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

/* The proof before anything is printed: a schedule that breaks a dependence is our own error. */
static bool prove_legal(struct module *module, const char *pass)
{
	for (int i = 0; i < REGION_N; i++) {
		const char *witness;

		if (!schedule_check(module, &module->regions[i], pass))
			return false;
		if (schedule_is_legal(module, &module->regions[i], &witness))
			continue;
		diag_error(module->diags, DIAG_INTERNAL, module->span,
			   "after pass '%s' the schedule of '%s' is wrong: %s", pass, module->name, witness);
		return false;
	}
	return true;
}

static unsigned long n_loops(const struct stage *stage)
{
	unsigned long n = 0;

	for (int d = 0; d < stage->dims.n; d++)
		n += stage->dims.items[d].kind != DIM_BIND;
	return n;
}

/* isl's operations on sets of many loops take longer; that no program takes more than seconds, it gets fewer. One with
 * `iterate` runs for long, and is worth more. */
static unsigned long operations_allowed(const struct module *module, unsigned long max_operations)
{
	unsigned long deepest = USUAL_DIMS;

	for (int i = 0; i < module->stages.n; i++)
		if (n_loops(module->stages.items[i]) > deepest)
			deepest = n_loops(module->stages.items[i]);
	if (max_operations > USUAL_DIMS)
		max_operations = max_operations/deepest*USUAL_DIMS;
	return module->loop.var ? ITERATE_WORTH*max_operations : max_operations;
}

static bool out_of_quota(struct compilation *c, struct module *module, const struct pass *pass)
{
	if (isl_ctx_last_error(c->ctx) != isl_error_quota)
		return false;
	isl_ctx_reset_error(c->ctx);
	diag_error(module->diags, DIAG_ISL_QUOTA, module->span,
		   "pass '%s' gives up on '%s' after %lu operations; simplify it, or raise --max-operations",
		   pass->name, module->name, operations_allowed(module, c->options.max_operations));
	return true;
}

static bool run_pass(struct compilation *c, struct module *module, const struct pass_options *options,
		     const struct pass *pass, unsigned *known)
{
	int n_errors = module->diags->n_errors;
	double start = now();
	bool ok;

	if ((*known & pass->needs) != pass->needs) {
		diag_error(module->diags, DIAG_INTERNAL, module->span, "pass '%s' lacks what it needs", pass->name);
		return false;
	}
	isl_ctx_reset_operations(c->ctx);
	isl_ctx_set_max_operations(c->ctx, operations_allowed(module, c->options.max_operations));
	ok = pass->run(module, options);
	isl_ctx_set_max_operations(c->ctx, 0);
	if (c->arena.is_exhausted || out_of_quota(c, module, pass))
		return false;
	if (!ok && module->diags->n_errors == n_errors)
		diag_error(module->diags, DIAG_INTERNAL, module->span, "pass '%s' fails on '%s' and does not say why",
			   pass->name, module->name);
	if (!ok)
		return false;
	*known = (*known & ~pass->breaks) | pass->gives;
	if (c->after_pass && !module->choice)
		c->after_pass(c->user, module, (int) (pass - passes), now() - start);
	return module_verify(module, pass->name) && (!c->verify_each || prove_legal(module, pass->name));
}

const char *compilation_targets(void)
{
	return target_names();
}

bool compilation_choose_target(struct compilation *c, const char *name)
{
	const struct target *target = target_find(name);

	if (target)
		c->target = target->name;
	return target;
}

const char *compilation_device_ending(const struct compilation *c)
{
	const struct target *target = target_find(c->target);

	return target ? target->device_ending : NULL;
}

/* What is asked of the passes, as far as the target can do it. */
static struct pass_options options_for_target(const struct compilation *c, const struct pass_options *asked)
{
	struct pass_options options = *asked;

	options.is_device = compilation_device_ending(c);
	if (options.is_device && !strcmp(options.blas, "auto"))
		options.blas = "off";
	return options;
}

static bool target_can(const struct compilation *c, struct module *module, const struct pass_options *options)
{
	bool calls_blas = !strcmp(options->blas, "on");

	for (int i = 0; i < module->overrides.n && options->overrides; i++)
		calls_blas = calls_blas || (!strcmp(module->overrides.items[i].verb, "blas") &&
					    !strcmp(module->overrides.items[i].choice, "on"));
	if (!options->is_device || !calls_blas)
		return true;
	diag_error(module->diags, DIAG_NOT_SUPPORTED, module->span, "the target '%s' calls no BLAS", c->target);
	return false;
}

bool compilation_run_passes_on(struct compilation *c, struct module *module, const struct pass_options *asked)
{
	struct pass_options for_target = options_for_target(c, asked);
	const struct pass_options *options = &for_target;
	unsigned known = 0;
	bool done = target_can(c, module, options) && module_verify(module, "lower");

	if (done && c->after_pass && !module->choice)
		c->after_pass(c->user, module, LOWERED, 0);
	for (int i = 0; done && i < n_passes; i++)
		done = run_pass(c, module, options, &passes[i], &known);
	return done && prove_legal(module, "passes") && overrides_are_honoured(module);
}

static bool passes_step(struct compilation *c, void *unused)
{
	const struct target *target = target_find(c->target);
	bool ok = true;

	(void) unused;
	c->options.swap = c->options.swap && target && target->swaps;
	for (int m = 0; m < c->modules.n; m++)
		ok = compilation_run_passes_on(c, c->modules.items[m], &c->options) && ok;
	return ok;
}

/* ---- target ---- */

struct generate {
	const char *base;
	const char **c_text, **h_text;
};

static bool candidates_step(struct compilation *c, void *unused)
{
	(void) unused;
	return candidates_add(c);
}

static bool generate_step(struct compilation *c, void *argument)
{
	const struct generate *generate = argument;
	const struct target *target = target_find(c->target);
	struct generated generated = { 0 };

	if (!target)
		return diag_error(&c->diags, DIAG_NOT_SUPPORTED, (struct span) { 0 }, "there is no target '%s'",
				  c->target), false;
	if (!target_generate(c->modules.items, c->modules.n, target, c->all_isas, &c->arena, generate->base,
			     &generated))
		return false;
	c->generated = generated.c_file;
	c->device_text = generated.device_text;
	*generate->c_text = str_text(&c->generated.text);
	*generate->h_text = generated.h_text;
	return true;
}

/* ---- the steps ---- */

bool compilation_open(struct compilation *c, const char *path)
{
	return guarded(c, open_step, (void *) (uintptr_t) path);
}

struct text {
	const char *name, *bytes;
};

static bool text_step(struct compilation *c, void *argument)
{
	const struct text *text = argument;

	c->file = sources_add(&c->sources, text->name, arena_string(&c->arena, text->bytes), strlen(text->bytes));
	return true;
}

bool compilation_parse(struct compilation *c)
{
	return is_dump(c) || guarded(c, parse_step, NULL);
}

bool compilation_lower(struct compilation *c)
{
	return guarded(c, lower_step, NULL);
}

bool compilation_read(struct compilation *c, const char *path)
{
	return compilation_open(c, path) && compilation_parse(c) && compilation_lower(c);
}

bool compilation_read_text(struct compilation *c, const char *name, const char *bytes)
{
	struct text text = { name, bytes };

	return guarded(c, text_step, &text) && compilation_parse(c) && compilation_lower(c);
}

bool compilation_run_passes(struct compilation *c)
{
	return guarded(c, passes_step, NULL);
}

bool compilation_generate(struct compilation *c, const char *base, const char **c_text, const char **h_text)
{
	struct generate generate = { base, c_text, h_text };

	if (c->options.candidates > 1 && !compilation_device_ending(c) && !guarded(c, candidates_step, NULL))
		return false;
	return guarded(c, generate_step, &generate);
}

/* ---- messages ---- */

/* In the format asked for, and without any memory of the arena. */
static const char *out_of_memory_text(struct compilation *c)
{
	static const char *const formats[DIAG_FORMAT_N] = {
		[DIAG_HUMAN] = "error[%s]: out of memory\n",
		[DIAG_SHORT] = "error[%s]: out of memory\n",
		[DIAG_JSON] = ("{\"severity\": \"error\", \"code\": \"%s\", \"message\": \"out of memory\", "
			       "\"span\": null, \"labels\": [], \"helps\": []}\n"),
	};

	snprintf(c->last_words, sizeof c->last_words, formats[c->messages], diag_code_text(DIAG_OUT_OF_MEMORY));
	return c->last_words;
}

struct messages {
	bool remarks;
	const char *text;
};

static bool messages_step(struct compilation *c, void *argument)
{
	struct messages *messages = argument;

	messages->text = diags_text_as(&c->diags, c->messages, SHOWN_ERRORS, messages->remarks);
	return true;
}

const char *compilation_messages(struct compilation *c, bool remarks)
{
	struct messages messages = { remarks, NULL };

	return compilation_guard(c, messages_step, &messages) ? messages.text : out_of_memory_text(c);
}

bool compilation_calls_blas(const struct compilation *c)
{
	bool calls = false;

	for (int i = 0; i < c->modules.n; i++)
		calls = calls || target_calls_blas(c->modules.items[i]);
	for (int i = 0; i < c->others.n; i++)
		calls = calls || target_calls_blas(c->others.items[i]);
	return calls;
}

struct module *compilation_module(struct compilation *c, const char *pipeline)
{
	for (int i = 0; i < c->modules.n; i++)
		if (!pipeline || !strcmp(c->modules.items[i]->name, pipeline))
			return c->modules.items[i];
	return NULL;
}
