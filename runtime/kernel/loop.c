/* SPDX-License-Identifier: MIT
 *
 * The loop of a pipeline, as far as it is not arithmetic: where it begins, whether there is a next
 * iteration, what is reported. The position is kept in the plan, so that a stopped run can go on; `next` is
 * the iteration before which the states stand, whatever ends the loop. */
#include "plan/plan.h"

bool pmg_loop_starts(const pmg_plan *handle, const pmg_control *control)
{
	return !(control && control->resume && plan_of_const(handle)->progress.has_state);
}

int64_t pmg_loop_begin(pmg_plan *handle, pmg_control *control, int64_t lo)
{
	struct progress *progress = &plan_of(handle)->progress;

	if (pmg_loop_starts(handle, control))
		progress->first = progress->next = lo;
	progress->is_elsewhere = progress->first != lo;
	progress->begin = progress->is_elsewhere ? lo : progress->next;
	progress->has_state = progress->has_state || !pmg_failed(handle);
	return progress->begin;
}

int64_t pmg_loop_budget(const pmg_plan *handle, const pmg_control *control, int64_t it)
{
	return control->budget - (it - plan_of_const(handle)->progress.begin);
}

void pmg_keep(pmg_plan *handle, int32_t state, int32_t next)
{
	const struct plan *plan = plan_of_const(handle);
	const pmg_array_desc *array = &plan->desc->arrays[state];
	const pmg_buffer from = array_dense(array, plan->extents, handle->data[state]);
	const pmg_buffer to = array_dense(array, plan->extents, handle->data[next]);

	buffer_copy(&to, &from, handle->threads);
}

void pmg_swap(pmg_plan *plan, int32_t state, int32_t next)
{
	void *now = plan->data[state];

	plan->data[state] = plan->data[next];
	plan->data[next] = now;
}

/* The plan's own memory changes places for good; what the caller lent is filled. */
static void state_settle(struct plan *plan, int32_t state, int32_t next)
{
	struct binding *ours = &plan->bindings[state], *other = &plan->bindings[next];

	if (plan->kernel.data[next] == other->own)
		return;
	if (ours->is_borrowed) {
		pmg_swap(&plan->kernel, state, next);
		pmg_keep(&plan->kernel, next, state);
	} else {
		other->own = ours->own;
		ours->own = plan->kernel.data[state];
	}
}

void states_settle(struct plan *plan)
{
	for (int32_t i = 0; i < plan->desc->n_arrays; i++)
		if (plan->desc->arrays[i].next)
			state_settle(plan, i, plan->desc->arrays[i].next);
}

static void progress_report(const struct progress *progress, pmg_control *control, int64_t hi)
{
	control->done = progress->next - progress->first;
	if (control->progress && progress->next > progress->begin)
		control->progress(control->user, control->done, hi - progress->first);
}

bool pmg_loop_next(pmg_plan *handle, pmg_control *control, int64_t it, int64_t hi, bool until)
{
	struct progress *progress = &plan_of(handle)->progress;

	results_look(plan_of(handle), it);
	if (pmg_failed(handle) || progress->is_elsewhere)
		return false;
	progress->next = it;
	progress->is_finished = until || it >= hi;
	if (control) {
		progress_report(progress, control, hi);
		control->finished = progress->is_finished;
	}
	if (progress->is_finished || !control)
		return !progress->is_finished;
	progress->is_cancelled = control->cancel && *control->cancel != 0;
	return !progress->is_cancelled && (control->budget < 0 || it - progress->begin < control->budget);
}
