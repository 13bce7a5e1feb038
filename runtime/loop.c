/* SPDX-License-Identifier: MIT
 *
 * The loop of a pipeline, as far as it is not arithmetic: where it begins, whether there is a next
 * iteration, what is reported. The position is kept in the plan, so that a stopped run can go on; `next` is
 * the iteration before which the states stand, whatever ends the loop. */
#include "plan.h"

bool pmg_loop_starts(const pmg_plan *handle, const pmg_control *control)
{
	return !(control && control->resume && plan_of_const(handle)->progress.has_state);
}

int64_t pmg_loop_begin(pmg_plan *handle, pmg_control *control, int64_t lo)
{
	struct progress *progress = &plan_of(handle)->progress;

	if (pmg_loop_starts(handle, control))
		progress->next = lo;
	progress->first = lo;
	progress->begin = progress->next;
	progress->has_state = progress->has_state || !pmg_failed(handle);
	return progress->begin;
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

	if (pmg_failed(handle))
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
