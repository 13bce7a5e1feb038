/* SPDX-License-Identifier: MIT
 *
 * The reference interpreter: the module as written, in its textual order, by walking its expressions. It knows
 * neither isl nor any pass, and checks everything that can be checked when it happens. It is the oracle that
 * generated code is compared with.
 *
 * Sums and products of floats are accumulated in long double and rounded when they are read. Integers of 64 bits
 * must not overflow, narrower ones wrap modulo 2^bits. Integer division by zero is an error. A float cast to an
 * integer is truncated and saturates, NaN becomes 0. Internal arrays start as zeros. */
#include "ir/interp/interp_private.h"
#include "words.h"

#include <math.h>
#include <string.h>

/* ---- running ---- */

static void run_region(struct run *run, enum region_kind kind)
{
	const struct region *region = &run->module->regions[kind];

	for (int i = 0; i < region->groups.n && run->stop == RUN_GOES; i++)
		group_execute(run, &run->groups[region->groups.items[i]->number]);
}

/* The interpreter copies: between two iterations, arrays that change places hold the same. */
static void copy_slot(struct slot *to, const struct slot *from)
{
	for (int64_t i = 0; i < to->n; i++)
		if (to->exact && from->exact)
			slot_set_fine(to, i, from->exact[i]);
		else if (type_is_float(to->type))
			slot_set_real(to, i, slot_real(from, i));
		else
			slot_set_integer(to, i, slot_integer(from, i));
}

static void copy_swapped(struct run *run, bool to_owner)
{
	for (int i = 0; i < run->module->arrays.n && run->stop == RUN_GOES; i++) {
		const struct array *array = run->module->arrays.items[i];
		struct slot *next = &run->slots[i];

		if (array->is_swapped && to_owner)
			copy_slot(&run->slots[array->owner->number], next);
		else if (array->is_kept)
			copy_slot(next, &run->slots[array->owner->number]);
	}
}

static bool is_looked_at(const struct array *array, bool is_last)
{
	if (!type_is_float(array->type))
		return false;
	return array->role == ROLE_STATE || array->role == ROLE_INOUT || (is_last && array->role == ROLE_OUT);
}

/* " at [3]", nothing of a scalar. */
static const char *position_text(struct run *run, const struct slot *slot, int64_t i)
{
	const char *position = strchr(slot_cell_text(run->scratch, slot, i), '[');

	return position ? arena_printf(run->scratch, " at %s", position) : "";
}

static void look_at_slot(struct run *run, const struct slot *slot, const char *when)
{
	int64_t i = 0;
	double value = 0;

	while (i < slot->n && isfinite(value = slot_real(slot, i)))
		i++;
	if (i < slot->n)
		run_fail(run, slot->array->span, "array '%s' holds %s%s%s, but " WORDS_OF_FINITE, slot->array->name,
			 isnan(value) ? "NaN" : value > 0 ? "infinity" : "-infinity", position_text(run, slot, i),
			 when);
}

/* Results that are not finite, in the words of the runtime (runtime/kernel/finite.c). */
static void look_at_results(struct run *run, const struct interp_input *input, bool is_last, const char *when)
{
	for (int i = 0; input->checks_finite && i < run->module->arrays.n && run->stop == RUN_GOES; i++)
		if (is_looked_at(run->module->arrays.items[i], is_last))
			look_at_slot(run, &run->slots[i], when);
}

static const char *after_iteration(struct run *run, const struct interp_input *input, int64_t it)
{
	return input->checks_finite ? arena_printf(run->scratch, " after iteration %lld", (long long) it) : "";
}

static void run_loop(struct run *run, const struct interp_input *input)
{
	const struct loop *loop = &run->module->loop;
	const struct node *until = loop->until ? compile_expr(run, loop->until) : NULL;
	const int64_t lo = eval_integer(run, compile_expr(run, loop->lo));
	const int64_t hi = eval_integer(run, compile_expr(run, loop->hi));

	copy_swapped(run, false);
	for (int64_t it = lo; it < hi && run->stop == RUN_GOES; it++) {
		run->sizes[loop->param] = it;
		if (until && eval_integer(run, until))
			break;
		if (input->max_iterations >= 0 && it - lo >= input->max_iterations) {
			if (input->is_stopped)
				*input->is_stopped = true;
			break;
		}
		run->iteration = it - lo + 1;
		run_region(run, REGION_BODY);
		copy_swapped(run, true);
		look_at_results(run, input, false, after_iteration(run, input, it));
	}
}

static void run_all(struct run *run, const struct interp_input *input)
{
	bind_params(run, input);
	if (run->stop == RUN_GOES)
		bind_slots(run, input);
	if (run->stop == RUN_GOES)
		bind_facts(run);
	if (run->stop == RUN_GOES)
		bind_restructurings(run);
	if (run->stop == RUN_GOES)
		bind_branchings(run);
	if (run->stop == RUN_GOES)
		bind_chunkings(run);
	run->is_bound = run->stop == RUN_GOES;
	if (run->is_bound)
		compile_groups(run);
	run_region(run, REGION_PROLOGUE);
	if (run->module->loop.var && run->stop == RUN_GOES)
		run_loop(run, input);
	run_region(run, REGION_EPILOGUE);
	look_at_results(run, input, !(input->is_stopped && *input->is_stopped), "");
}

/* ---- entry ---- */

static void report_weights(const struct run *run, struct interp_weight **weights)
{
	for (int i = 0; i < run->module->arrays.n; i++)
		weights[i] = run->slots[i].weight;
}

/* Memory that cannot be had ends here, not at the caller's handler, so that the scratch arena is freed. */
static bool run_guarded(struct run *run, const struct interp_input *input)
{
	jmp_buf failure;

	run->scratch->on_failure = &failure;
	run->arena->on_failure = &failure;
	if (setjmp(failure) != 0)
		return false;
	run_all(run, input);
	return true;
}

const char *module_interpret(struct module *module, struct arena *arena, const struct interp_input *input,
			     struct interp_weight **weights)
{
	jmp_buf *on_failure = arena->on_failure;
	struct run *run = arena_new(arena, struct run);
	struct arena scratch = { 0 };
	bool has_memory;

	run->module = module;
	run->arena = arena;
	run->scratch = &scratch;
	run->weighs = weights;
	run->arithmetic = input->arithmetic;
	run->random = 2 * input->seed + 0x9e3779b97f4a7c15;     /* never 0 */
	run->decisions = input->decisions;
	has_memory = run_guarded(run, input);
	arena->on_failure = on_failure;
	if (has_memory && weights && run->slots)
		report_weights(run, weights);
	arena_release(&scratch);
	if (input->fault)
		*input->fault = !has_memory ? INTERP_MEMORY : run->is_bound ? INTERP_COMPUTED : INTERP_BOUND;
	if (!has_memory)
		return "not enough memory to interpret the pipeline";
	return run->error;
}
