/* SPDX-License-Identifier: MIT
 *
 * Pivots of eliminations (PIVOT of ir/core/ops.def): one that is zero ends the run, and so does one that is not finite,
 * where all floats of the caller are and none of them, nor a state, is written. The same holds of generated code
 * (runtime/kernel/faults.c). */
#include "ir/match/elimination.h"
#include "ir/interp/interp_private.h"
#include "words.h"

#include <math.h>

static bool slot_is_finite(const struct slot *slot)
{
	bool is = true;

	for (int64_t i = 0; i < slot->n && is; i++)
		is = isfinite(slot_real(slot, i));
	return is;
}

static bool array_is_finite(const struct run *run, const struct array *array)
{
	if (!type_is_float(array->type))
		return true;
	if (array->role == ROLE_INOUT || array->role == ROLE_STATE)
		return false;
	return array->role != ROLE_IN || slot_is_finite(&run->slots[array->number]);
}

static bool arguments_are_finite(const struct run *run)
{
	bool are = true;

	for (int i = 0; i < run->module->params.n && are; i++)
		are = !run->module->params.items[i].is_scalar || isfinite(run->scalars[i]);
	for (int i = 0; i < run->module->arrays.n && are; i++)
		are = array_is_finite(run, run->module->arrays.items[i]);
	return are;
}

/* "row 5 of system 3" */
static const char *row_text(struct run *run, int64_t row, int64_t system)
{
	const struct array *segments = system < 0 ? stage_segments(run->stage) : NULL;
	const struct slot *slot = segments ? &run->slots[segments->number] : NULL;

	while (slot && system + 2 < slot->n && slot_integer(slot, system + 1) <= row)
		system++;
	if (slot)
		row -= slot_integer(slot, system);
	if (system < 0)
		return arena_printf(run->arena, "row %lld", (long long) row);
	return arena_printf(run->arena, "row %lld of system %lld", (long long) row, (long long) system);
}

void pivot_check(struct run *run, const struct node *node, double pivot)
{
	if (run->stop != RUN_GOES || (pivot != 0 && isfinite(pivot)) || (pivot != 0 && !arguments_are_finite(run)))
		return;
	run_fail(run, run->stage->span, "the pivot of '%s' in %s is %s; " WORDS_OF_PIVOTS,
		 pivots_name(run->arena, run->stage->write.array),
		 row_text(run, eval_integer(run, node->args[1]), eval_integer(run, node->args[2])),
		 pivot == 0 ? "zero" : "not finite");
}
