/* SPDX-License-Identifier: MIT
 *
 * An `iterate` whose numbers and whose condition stay on the device, read by pmgrt_cuda_plan.h:
 *     int64_t it = pmg_cuda_loop_begin(plan, control, lo);
 *     … a kernel that finds out whether `until` holds …
 *     while (pmg_cuda_loop_next(plan, control, &it, hi)) {
 *             … kernels of the body, which begin with PMG_IN_LOOP, and behind them the same kernel as above …
 *     }
 * The host starts control->check_every iterations, then waits and looks how far they came. Those behind the end of the
 * loop do nothing, so that it ends where it would end if the host had looked each time. A body must come to the same
 * starts when it runs again for one `it`: it may do so before it has been started (pmgrt_cuda_graph.h). What runs
 * without a loop becomes a graph, too, once it runs again. */
#ifndef PMGRT_CUDA_LOOP_H
#define PMGRT_CUDA_LOOP_H

static inline pmg_cuda_loop *pmg_cuda_loop_of(pmg_plan *plan)
{
	return pmg_cuda_of(plan)->loop;
}

#define PMG_STOP_IF_BAD(plan) \
	PMG_LAUNCH(plan, pmg_cuda_stop_if_bad, 1, 1, pmg_cuda_loop_of(plan), pmg_cuda_bad_index_of(plan))

static inline int64_t pmg_cuda_loop_begin(pmg_plan *plan, pmg_control *control, int64_t lo)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);
	pmg_cuda_loop loop = { 0, 0 };

	loop.is_over = pmg_cuda_failed(plan);
	loop.it = pmg_loop_begin(plan, control, lo);
	cuda->batch_end = loop.it;
	if (cuda->status == PMG_OK)
		(void) pmg_cuda_to_device(plan, cuda->loop, &loop, sizeof loop);
	if (cuda->status == PMG_OK)
		(void) pmg_cuda_check(plan, cudaStreamSynchronize(cuda->stream), "the start of a loop");
	return loop.it;
}

/* Iterations that may be started now: as many as are told, left, and allowed by the budget. */
static inline int64_t pmg_cuda_batch(const pmg_plan *plan, const pmg_control *control, int64_t it, int64_t hi)
{
	int64_t n = pmg_cuda_looks(plan) ? 1
		    : control && control->check_every > 0 ? control->check_every : PMG_CHECK_EVERY;

	if (n > hi - it)
		n = hi - it;
	/* pmg_loop_next has allowed one at least. */
	if (control && control->budget >= 0 && n > pmg_loop_budget(plan, control, it))
		n = pmg_loop_budget(plan, control, it);
	return n;
}

/* How far has the device come, and is it to go on? */
static inline bool pmg_cuda_look(pmg_plan *plan, pmg_control *control, int64_t *it, int64_t hi)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);
	pmg_cuda_bad_index bad = { };
	pmg_cuda_loop loop = { 0, 0 };
	bool goes_on;

	cuda->starts->mode = PMG_CUDA_NOW;
	cuda->n_sums = 0;
	if (cuda->status != PMG_OK || pmg_cuda_to_host(plan, &loop, cuda->loop, sizeof loop) != PMG_OK)
		return false;
	if (loop.is_over && pmg_cuda_to_host(plan, &bad, cuda->bad_index, sizeof bad) != PMG_OK)
		return false;
	if (!bad.is_claimed)
		pmg_cuda_look_at(plan, loop.it);
	goes_on = pmg_loop_next(plan, control, loop.it, hi, loop.is_over && !bad.is_claimed);
	if (bad.is_claimed)
		(void) pmg_cuda_failed(plan);
	if (bad.is_claimed || !goes_on)
		return false;
	*it = loop.it;
	cuda->batch_end = loop.it + pmg_cuda_batch(plan, control, loop.it, hi);
	return true;
}

/* Starts what was noted, or what became of it as a graph; false: the body has to run again. */
static inline bool pmg_cuda_start_iteration(pmg_plan *plan)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);
	pmg_cuda_starts *starts = cuda->starts;
	const pmg_cuda_graph *graph;

	if (starts->mode == PMG_CUDA_AS_NODE && !starts->is_full && cuda->status == PMG_OK)
		(void) pmg_cuda_check(plan, pmg_cuda_end_graph(starts), "a graph");
	if (starts->mode == PMG_CUDA_NOW || cuda->status != PMG_OK)
		return true;
	graph = starts->is_full ? NULL : pmg_cuda_graph_of_note(starts);
	if (graph) {
		(void) pmg_cuda_check(plan, cudaGraphLaunch(graph->graph, cuda->stream), "the start of a graph");
		return true;
	}
	if (starts->mode == PMG_CUDA_AS_NODE) {
		(void) cudaGraphDestroy(starts->graph);
		starts->graph = NULL;
	}
	if (!starts->is_full && starts->n_graphs < PMG_CUDA_MOST_GRAPHS) {
		starts->mode = PMG_CUDA_AS_NODE;
		(void) pmg_cuda_check(plan, pmg_cuda_begin_graph(starts), "a graph");
	} else {
		starts->mode = PMG_CUDA_NOW;
	}
	cuda->n_sums = 0;
	return false;
}

static inline bool pmg_cuda_loop_next(pmg_plan *plan, pmg_control *control, int64_t *it, int64_t hi)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);

	if (*it < cuda->batch_end) {
		if (!pmg_cuda_start_iteration(plan))
			return true;
		++*it;
	}
	if (*it >= cuda->batch_end && !pmg_cuda_look(plan, control, it, hi))
		return false;
	pmg_cuda_begin_note(cuda->starts);
	cuda->n_sums = 0;
	return true;
}

/* ---- Without a loop ---- */

enum { PMG_CUDA_FEWEST = 2 };           /* starts that are worth a graph */

/* Around what runs once in an execution, `for (int pass = 0; pmg_cuda_pass(plan, pass); pass++)`: a graph where several
 * kernels are started with the same arguments as in the execution before. */
static inline bool pmg_cuda_pass(pmg_plan *plan, int pass)
{
	pmg_cuda_plan *cuda = pmg_cuda_of(plan);
	pmg_cuda_starts *starts = cuda->starts;

	cuda->n_sums = 0;
	if (pass == 0) {
		pmg_cuda_begin_note(starts);
		return true;
	}
	if (starts->mode == PMG_CUDA_NOTED && !pmg_cuda_graph_of_note(starts) &&
	    (!pmg_cuda_is_noted_again(starts) || starts->n_noted < PMG_CUDA_FEWEST)) {
		starts->mode = PMG_CUDA_NOW;
		return true;
	}
	if (!pmg_cuda_start_iteration(plan))
		return true;
	starts->mode = PMG_CUDA_NOW;
	return false;
}

#endif
