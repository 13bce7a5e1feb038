/* SPDX-License-Identifier: MIT
 *
 * Calls of a running kernel program: functions of the program, what the runtime's files of calls do, and the host. A
 * name that says a type or a device is looked up without it. */
#include "kernel/run_private.h"

#include <string.h>
#include <strings.h>

/* ---- which one ---- */

/* The ending of a type, _f64, _F32, _i8, leaves the name: its underscore stays. */
static void drop_type(char *name, int *element)
{
	const size_t length = strlen(name);

	for (int type = 0; type < TYPE_N; type++) {
		const char *ending = type_name((enum scalar_type) type);
		const size_t n = strlen(ending);

		if (length > n && name[length - n - 1] == '_' && !strcasecmp(name + length - n, ending)) {
			*element = type;
			name[length - n] = '\0';
			return;
		}
	}
}

/* The letter at `at`, d or s, or a last f of libm, says which float it is. */
static void drop_letter(char *name, size_t at, int *element)
{
	*element = name[at] == 'd' ? TYPE_F64 : TYPE_F32;
	memmove(name + at, name + at + 1, strlen(name + at));
}

/* pmg_cuda_data, pmg_opencl_data: pmg_*_data. */
static void drop_device(char *name, const char *device)
{
	char *at = name + strlen("pmg_");

	if (strncmp(name, "pmg_", strlen("pmg_")) || strncmp(at, device, strlen(device)))
		return;
	memmove(at + 1, at + strlen(device), strlen(at + strlen(device)) + 1);
	*at = '*';
}

/* As the tables have it: without its type and its device. */
static void find_stem(char *name, int *element)
{
	const size_t blas = strlen("pmg_cblas_"), length = strlen(name);

	drop_device(name, "cuda");
	drop_device(name, "opencl");
	if (!strncmp(name, "pmg_cblas_", blas))
		drop_letter(name, blas, element);
	else if (length > 1 && name[length - 1] == 'f' && !strchr(name, '_'))
		drop_letter(name, length - 1, element);
	else
		drop_type(name, element);
}

static const struct run_call *in_table(const struct run_call *table, const char *name)
{
	for (; table->name; table++)
		if (!strcmp(table->name, name))
			return table;
	return NULL;
}

static const struct run_call *in_tables(const char *name)
{
	const struct run_call *const tables[] = { run_math_calls, run_vector_calls, run_block_calls, run_blas_calls,
						  run_device_calls, run_row_calls };
	const struct run_call *call = NULL;

	for (size_t i = 0; i < sizeof tables / sizeof *tables && !call; i++)
		call = in_table(tables[i], name);
	return call;
}

/* Where it was found is kept for the next time; an entry without a call: it is the program's or the host's. */
static const struct run_known *known_of(struct run *run, const char *name)
{
	struct run_known *known = &run->known[((uintptr_t) name >> 3) % RUN_CALLS_KNOWN];
	char stem[64];

	if (known->text == name)
		return known;
	*known = (struct run_known) { .text = name, .call = in_tables(name), .element = -1 };
	if (!known->call && strlen(name) < sizeof stem) {
		strcpy(stem, name);
		find_stem(stem, &known->element);
		known->call = in_tables(stem);
	}
	return known;
}

/* ---- arguments ---- */

struct run_value run_first_arg(struct run *run, const struct run_args *args)
{
	(void) run;
	return args->value[0];
}

int64_t run_arg(struct run *run, const struct run_args *args, int i)
{
	if (i >= args->n)
		run_fault(run, "%s: too few arguments", args->name);
	return run->has_stopped ? 0 : run_integer(run, &args->value[i]);
}

static void evaluate(struct run *run, const struct k_expr *call, enum run_takes takes, struct run_args *args)
{
	args->n = call->args.n < RUN_MOST_ARGS ? call->args.n : RUN_MOST_ARGS;
	if (takes == RUN_NODES)
		return;
	if (call->args.n > RUN_MOST_ARGS)
		run_unknown(run, "%s: so many arguments", call->text);
	for (int i = 0; i < args->n && !run->has_stopped; i++)
		args->value[i] = takes == RUN_CELL && i == 0 ? run_address(run, call->args.items[0])
						      : run_expr(run, call->args.items[i]);
	if (takes == RUN_CELL && !run->has_stopped && args->value[0].kind != RUN_ADDRESS)
		run_fault(run, "%s: this is no memory", call->text);
}

/* ---- the program's and the host's ---- */

static struct k_run_number number_of(const struct run_value *value)
{
	return (struct k_run_number) {
		.is_float = value->kind == RUN_FLOAT, .real = value->kind == RUN_FLOAT ? value->real : 0,
		.integer = value->kind == RUN_INT ? value->integer : 0,
		.address = value->kind == RUN_ADDRESS && value->buffer ? value->buffer->base + value->integer : NULL
	};
}

static struct run_value call_host(struct run *run, const struct run_args *args)
{
	struct k_run_number numbers[RUN_MOST_ARGS], result = { 0 };

	for (int i = 0; i < args->n; i++)
		numbers[i] = number_of(&args->value[i]);
	if (!run->host->call(run->host->user, args->name, numbers, args->n, &result))
		run_unknown(run, "%s", args->name);
	return result.is_float ? run_of_element(TYPE_F64, result.real, 0) : run_int(result.integer);
}

struct run_value run_call(struct run *run, const struct k_expr *call)
{
	const struct run_known known = *known_of(run, call->text);
	const struct k_function *function = known.call ? NULL : run_find_function(run, call->text);
	struct run_args args;

	if (known.call && !known.call->call)
		return run_int(known.call->code);
	args.name = call->text;
	args.element = known.element;
	args.code = known.call ? known.call->code : 0;
	args.call = call;
	evaluate(run, call, known.call ? known.call->takes : RUN_VALUES, &args);
	if (run->has_stopped)
		return run_int(0);
	if (known.call)
		return known.call->call(run, &args);
	return function ? run_function(run, function, args.value, args.n) : call_host(run, &args);
}
