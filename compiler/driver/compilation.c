/* SPDX-License-Identifier: MIT
 *
 * What a compilation holds, what can be asked of it, and the guard that each of its steps runs under: when the arena
 * finds no memory, the step ends on the arena's reserve and counts as failed; when that does not suffice, control
 * comes back here at once. */
#include "driver/pipeline.h"

#include <isl/options.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/target.h"
#include "driver/options.h"

/* The reserve is four times what the largest step of our largest program takes. */
enum { SHOWN_ERRORS = 20, RESERVE_BYTES = 8 << 20 };

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

/* ---- targets and modules ---- */

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

static const struct device *device_of(const struct compilation *c)
{
	const struct target *target = target_find(c->target);

	return target ? target->device : NULL;
}

bool compilation_has_device(const struct compilation *c)
{
	return device_of(c);
}

const char *compilation_libraries(const struct compilation *c)
{
	if (device_of(c) && device_of(c)->libraries)
		return device_of(c)->libraries;
	return compilation_calls_blas(c) ? "-lopenblas" : "";
}

const char *compilation_device_ending(const struct compilation *c)
{
	return device_of(c) ? device_of(c)->ending : NULL;
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

const char *compilation_options_text(struct compilation *c)
{
	const struct pass_options *options = &c->options;
	struct str text = str_new(&c->arena);

#define PASS_TEXT(name) \
	str_add(&text, #name "%s%s\n", options->name ? "=" : "", options->name ? options->name : "");
#define PASS_NUMBER(type, name) str_add(&text, #name "=%lld\n", (long long) options->name);
#include "passes/pass_options.def"
#undef PASS_TEXT
#undef PASS_NUMBER
	return str_text(&text);
}

const char *compilation_messages(struct compilation *c, bool remarks)
{
	struct messages messages = { remarks, NULL };

	return compilation_guard(c, messages_step, &messages) ? messages.text : out_of_memory_text(c);
}
