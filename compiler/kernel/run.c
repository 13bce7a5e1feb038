/* SPDX-License-Identifier: MIT
 *
 * A kernel program from its entry to its end or its first fault. */
#include "kernel/run_private.h"

#include <string.h>

/* ---- what is told ---- */

void run_fault(struct run *run, const char *format, ...)
{
	const struct k_function *function = run->fiber->function;
	const char *where, *what;
	va_list args;

	if (run->has_stopped)
		return;
	va_start(args, format);
	what = arena_vprintf(run->arena, format, args);
	va_end(args);
	where = run->fiber->stmt ? k_stmt_text(run->arena, run->fiber->stmt) : "…";
	run->has_stopped = true;
	run->result.end = K_RUN_FAULT;
	run->result.text = arena_printf(run->arena, "%s: %s: %s", function ? function->name : "…", where, what);
}

void run_unknown(struct run *run, const char *format, ...)
{
	va_list args;

	if (run->has_stopped)
		return;
	va_start(args, format);
	run->result.text = arena_vprintf(run->arena, format, args);
	va_end(args);
	run->has_stopped = true;
	run->result.end = K_RUN_UNKNOWN;
}

/* ---- functions ---- */

const struct k_function *run_find_function(const struct run *run, const char *name)
{
	for (int i = 0; i < run->program->functions.n; i++)
		if (!strcmp(run->program->functions.items[i]->name, name))
			return run->program->functions.items[i];
	return NULL;
}

static void bind_params(struct run *run, const struct k_function *function, const struct run_value *args, int n)
{
	for (int i = 0; i < function->params.n; i++) {
		const struct k_param *param = &function->params.items[i];

		run_bind(run, param->name, &param->type, (struct run_value) { 0 });
		if (i < n)
			run_name_write(run, param->name, args[i]);
	}
}

struct run_value run_function(struct run *run, const struct k_function *function, const struct run_value *args, int n)
{
	struct run_fiber *fiber = run->fiber;
	struct run_binding *names = fiber->names;
	const struct k_function *above = fiber->function;

	fiber->function = function;
	fiber->names = NULL;
	run->returned = run_int(0);
	bind_params(run, function, args, n);
	if (function->team.lanes)
		run_bind_team(run, function->name, &function->team);
	run_block(run, &function->body);
	run_leave(run, NULL);
	fiber->names = names;
	fiber->function = above;
	return run->returned;
}

/* ---- all ---- */

/* The plan, the arguments, and what the caller has to say. */
static struct run_value entry_arg(const struct k_param *param)
{
	const bool is_plan = !strcmp(param->type.name, "pmg_plan");

	return (struct run_value) { .kind = is_plan ? RUN_PLAN
					  : !strcmp(param->type.name, "pmg_control") ? RUN_NOTHING : RUN_ARGUMENTS };
}

struct k_run_result k_run(const struct k_program *program, const char *function, const struct k_run_host *host,
			  struct arena *arena)
{
	struct run *run = arena_new(arena, struct run);
	struct run_value args[4];
	const struct k_function *entry;
	int n;

	*run = (struct run) { .arena = arena, .program = program, .host = host, .fiber = &run->first };
	run->first.node = arena_new(arena, struct run_node);
	entry = run_find_function(run, function);
	if (!entry)
		run_unknown(run, "function '%s'", function);
	n = entry ? entry->params.n : 0;
	for (int i = 0; i < n && i < 4; i++)
		args[i] = entry_arg(&entry->params.items[i]);
	if (entry)
		run_function(run, entry, args, n < 4 ? n : 4);
	return run->result;
}
