/* SPDX-License-Identifier: MIT
 *
 * The interpreter of kernel programs on a plan of the runtime. */
#include "kernel/host.h"

#include <string.h>

/* ---- what the plan holds ---- */

static enum scalar_type type_of(pmg_type type)
{
	static const enum scalar_type types[] = { TYPE_F32, TYPE_F64, TYPE_I8, TYPE_I16, TYPE_I32, TYPE_I64, TYPE_U8,
						  TYPE_U16, TYPE_U32, TYPE_BOOL };

	return types[type];
}

/* What a list of children, branches or chunks, or the order of segments, holds when the kernel begins. */
static bool is_made(const pmg_pipeline_desc *desc, int32_t number)
{
	const pmg_array_desc *array = &desc->arrays[number];

	for (int32_t i = 0; i < desc->n_children; i++)
		if (desc->children[i].offsets == number || desc->children[i].list == number)
			return true;
	for (int32_t i = 0; i < desc->n_branches; i++) {
		const pmg_branches_desc *b = &desc->branches[i];

		if (b->depth == number || b->levels == number || b->begins == number || b->ends == number)
			return true;
	}
	for (int32_t i = 0; i < desc->n_chunks; i++) {
		const pmg_chunks_desc *c = &desc->chunks[i];

		if (c->offsets == number || c->above == number || c->child == number || c->sibling == number ||
		    c->turn == number || c->order == number || c->turns == number)
			return true;
	}
	return array->offset == SIZE_MAX && array->segments >= 0 && !array->is_per_thread;
}

/* From its first byte to behind its last one, whatever its layout. */
static int64_t bytes_of(const pmg_buffer *buffer)
{
	int64_t bytes = (int64_t) pmg_type_size(buffer->type);

	for (int32_t d = 0; d < buffer->rank; d++) {
		if (buffer->shape[d] == 0)
			return 0;
		bytes += (buffer->shape[d] - 1)*buffer->strides[d];
	}
	return bytes;
}

/* What the caller has given may lie in blocks, with lanes that do not exist. */
static int64_t bytes_there(const struct hosted *hosted, int32_t number)
{
	const pmg_array_desc *desc = &hosted->desc->arrays[number];
	const pmg_buffer *buffer = (const void *) ((const char *) hosted->args + desc->offset);

	if (desc->role == PMG_INSPECTED)
		return pmg_plan_array(hosted->plan, number).bytes - PMG_BEHIND;
	if (desc->offset == SIZE_MAX || buffer->data != hosted->plan->data[number])
		return pmg_plan_array(hosted->plan, number).bytes;
	return bytes_of(buffer);
}

static bool give_array(void *user, int64_t number, struct k_run_array *array)
{
	const struct hosted *hosted = user;
	const pmg_array_desc *desc;
	pmg_array_use use;
	bool is_given;

	if (number < 0 || number >= hosted->desc->n_arrays)
		return false;
	desc = &hosted->desc->arrays[number];
	use = pmg_plan_array(hosted->plan, (int32_t) number);
	is_given = desc->role == PMG_IN || desc->role == PMG_INSPECTED || is_made(hosted->desc, (int32_t) number);
	*array = (struct k_run_array) { .data = hosted->plan->data[number], .type = type_of(use.type),
					.bytes = bytes_there(hosted, (int32_t) number), .is_const = is_given,
					.is_set = is_given || desc->role == PMG_INOUT,
					.is_result = desc->role == PMG_OUT || desc->role == PMG_INOUT };
	return true;
}

static bool give_size(void *user, int64_t number, int64_t *size)
{
	const struct hosted *hosted = user;

	if (number < 0 || number >= hosted->desc->n_sizes)
		return false;
	*size = hosted->plan->sizes[number];
	return true;
}

static bool give_place(void *user, int64_t number, struct k_run_place *place)
{
	const struct hosted *hosted = user;
	const pmg_place *of;

	if (number < 0 || number >= hosted->desc->n_arrays)
		return false;
	of = &hosted->plan->places[number];
	*place = (struct k_run_place) { of->block, of->row, of->lane, of->is_padded };
	return true;
}

/* A word of C has a line behind it. */
static bool is_field(const char *field, const char *name)
{
	const size_t length = strlen(name);

	return !strncmp(field, name, length) && (!field[length] || !strcmp(field + length, "_"));
}

static bool give_argument(void *user, const char *name, struct k_run_number *value)
{
	const struct hosted *hosted = user;

	for (int32_t i = 0; i < hosted->desc->n_params; i++) {
		const pmg_param_desc *param = &hosted->desc->params[i];
		const char *at = (const char *) hosted->args + param->offset;

		if (!is_field(name, param->name))
			continue;
		value->is_float = param->type != PMG_I64;
		if (param->type == PMG_I64)
			memcpy(&value->integer, at, sizeof value->integer);
		else if (param->type == PMG_F64)
			memcpy(&value->real, at, sizeof value->real);
		else
			value->real = (double) *(const float *) (const void *) at;
		return true;
	}
	return false;
}

/* ---- what the runtime does ---- */

enum function { LOOP_BEGIN, LOOP_NEXT, LOOP_STARTS, LOOP_BUDGET, FAILED, SWAP, BAD_INDEX, BAD_PIVOT, IS_FINITE,
		HAS_VALUES, LIVE_POINTS, ALL_POINTS, LOOKS_AT, LOOK_AT, FUNCTION_N };

static enum function function_named(const char *name)
{
	static const char *const names[FUNCTION_N] = {
		"pmg_loop_begin", "pmg_loop_next", "pmg_loop_starts", "pmg_loop_budget", "pmg_failed", "pmg_swap",
		"pmg_bad_index", "pmg_bad_pivot", "pmg_is_finite", "pmg_has_values", "pmg_live_points",
		"pmg_all_points", "pmg_looks_at", "pmg_look_at"
	};
	int i = 0;

	while (i < FUNCTION_N && strcmp(names[i], name) != 0)
		i++;
	return (enum function) i;
}

static int64_t call_loop(struct hosted *hosted, enum function function, const struct k_run_number *args)
{
	pmg_control control = { .budget = -1 };

	if (function == LOOP_BEGIN)
		return pmg_loop_begin(hosted->plan, &control, args[2].integer);
	if (function == LOOP_NEXT)
		return pmg_loop_next(hosted->plan, &control, args[2].integer, args[3].integer, args[4].integer);
	if (function == LOOP_STARTS)
		return pmg_loop_starts(hosted->plan, &control);
	return INT64_MAX;
}

static int64_t call_runtime(struct hosted *hosted, enum function function, const struct k_run_number *args)
{
	pmg_plan *plan = hosted->plan;
	const int32_t a = (int32_t) args[1].integer, b = (int32_t) args[2].integer;

	switch (function) {
	case LOOP_BEGIN:
	case LOOP_NEXT:
	case LOOP_STARTS:
	case LOOP_BUDGET: return call_loop(hosted, function, args);
	case FAILED: return pmg_failed(plan);
	case SWAP: pmg_swap(plan, a, b); break;
	case BAD_INDEX: pmg_bad_index(plan, a, args[2].integer, args[3].integer); break;
	case BAD_PIVOT: pmg_bad_pivot(plan, a, args[2].integer, args[3].integer, args[4].real); break;
	case IS_FINITE: return pmg_is_finite(plan, a);
	case HAS_VALUES: return pmg_has_values(plan, a, args[2].address, args[3].integer);
	case LIVE_POINTS: pmg_live_points(plan, a, b, (int32_t) args[3].integer, args[4].integer); break;
	case ALL_POINTS: pmg_all_points(plan, a); break;
	case LOOKS_AT: return pmg_looks_at(plan, a, args[2].integer);
	case LOOK_AT: pmg_look_at(plan, a, args[2].address, args[3].integer); break;
	case FUNCTION_N: break;
	}
	return 0;
}

static bool call(void *user, const char *function, const struct k_run_number *args, int n, struct k_run_number *result)
{
	struct hosted *hosted = user;
	const enum function number = function_named(function);
	struct k_run_number all[8] = { 0 };

	for (int i = 0; i < n && i < 8; i++)
		all[i] = args[i];
	*result = (struct k_run_number) { 0 };
	if (number == FUNCTION_N)
		return false;
	result->integer = call_runtime(hosted, number, all);
	return true;
}

/* ---- as the kernel of a plan ---- */

static pmg_status run_hosted(pmg_plan *plan, const void *args, pmg_control *control)
{
	struct hosted *hosted = control->user;
	const struct k_run_host host = { .user = hosted, .threads = plan->threads, .vector_bytes = hosted->vector_bytes,
					 .most_statements = hosted->most_statements, .array = give_array,
					 .size = give_size, .place = give_place, .argument = give_argument,
					 .call = call, .visit = hosted->visit };

	hosted->plan = plan;
	hosted->args = args;
	hosted->result = k_run(hosted->program, hosted->function, &host, hosted->arena);
	return PMG_OK;
}

const char *hosted_run(struct hosted *hosted, const void *args)
{
	pmg_context *context = pmg_context_new(NULL);
	pmg_pipeline_desc desc = *hosted->desc;
	pmg_options options = { .context = context, .threads = hosted->threads };
	pmg_control control = { .budget = -1, .user = hosted };
	pmg_plan *plan = NULL;
	const char *problem = NULL;

	desc.kernel = run_hosted;
	desc.device = NULL;
	desc.n_candidates = 0;
	memset(desc.kernels, 0, sizeof desc.kernels);
	hosted->desc = &desc;
	if (pmg_plan_new(&desc, args, &options, &plan) != PMG_OK || pmg_plan_execute(plan, args, &control) != PMG_OK)
		problem = arena_printf(hosted->arena, "%s", pmg_message(context));
	pmg_plan_destroy(plan);
	pmg_context_free(context);
	return problem;
}
