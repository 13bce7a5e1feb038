/* SPDX-License-Identifier: MIT
 *
 * Loops and parallel regions of a running kernel program. Iterations of a concurrent loop run in order, each as a node
 * of its own; those of a shared loop are given to the threads as OpenMP does it. A reduction is made in a copy that
 * belongs to the loop, or to the thread's part of it. */
#include "kernel/run_private.h"

struct range {
	int64_t first, step, n;         /* iterations: first + k*step */
};

/* ---- one iteration ---- */

static enum run_flow iteration(struct run *run, const struct k_loop *loop, int64_t i)
{
	struct run_binding *outer = run->fiber->names;
	enum run_flow flow;

	run_bind(run, loop->name, &loop->type, run_int(i));
	flow = run_block(run, &loop->body);
	run_leave(run, outer);
	return flow;
}

static int64_t of_expr(struct run *run, const struct k_expr *expr, int64_t otherwise)
{
	const struct run_value value = expr ? run_expr(run, expr) : run_int(otherwise);

	return run_integer(run, &value);
}

static struct range range_of(struct run *run, const struct k_loop *loop)
{
	struct range range = { .first = of_expr(run, loop->first, 0), .step = of_expr(run, loop->step, 1) };
	int64_t bound = of_expr(run, loop->bound, 0), distance;

	if (range.step <= 0)
		run_fault(run, "a loop with step %lld", (long long) range.step);
	if (run->has_stopped)
		return (struct range) { 0 };
	distance = loop->is_down ? range.first - bound + 1 : bound - range.first;
	range.n = distance > 0 ? (distance - 1)/range.step + 1 : 0;
	if (loop->is_down)
		range.step = -range.step;
	return range;
}

/* ---- in order ---- */

/* The bound is what it is before each iteration. */
static enum run_flow run_serial(struct run *run, const struct k_loop *loop)
{
	const int64_t step = of_expr(run, loop->step, 1);
	int64_t i = of_expr(run, loop->first, 0);

	while (!run->has_stopped) {
		int64_t bound = of_expr(run, loop->bound, 0);
		enum run_flow flow;

		if (run->has_stopped || (loop->is_down ? i < bound : i >= bound))
			break;
		flow = iteration(run, loop, i);
		if (flow == RUN_BREAK || flow == RUN_RETURN)
			return flow == RUN_BREAK ? RUN_ON : flow;
		i += loop->is_down ? -step : step;
	}
	return RUN_ON;
}

/* ---- reductions ---- */

static void begin_reductions(struct run *run, const struct k_loop *loop, int64_t instance)
{
	for (int r = 0; r < loop->reductions.n; r++) {
		const char *name = loop->reductions.items[r].name;
		struct run_value value = run_name_read(run, name);
		const struct run_binding *of = run_find(run, name);

		if (of)
			run_bind(run, name, &of->type, value)->reduces = instance;
	}
}

static void end_reductions(struct run *run, const struct k_loop *loop, struct run_binding *outer)
{
	for (int r = 0; r < loop->reductions.n; r++) {
		const char *name = loop->reductions.items[r].name;
		struct run_value value = run_name_read(run, name);
		struct run_binding *inner = run->fiber->names;

		run->fiber->names = outer;
		run_name_write(run, name, value);
		run->fiber->names = inner;
	}
	run_leave(run, outer);
}

/* ---- as lanes of vectors ---- */

static void run_simd(struct run *run, const struct k_loop *loop)
{
	const struct range range = range_of(run, loop);
	const struct run_node *above = run->fiber->node;
	const int64_t instance = ++run->instances;
	struct run_binding *outer = run->fiber->names;

	begin_reductions(run, loop, instance);
	for (int64_t k = 0; k < range.n && !run->has_stopped; k++) {
		run->fiber->node = run_node(run, above, instance, false);
		iteration(run, loop, range.first + k*range.step);
	}
	run->fiber->node = above;
	end_reductions(run, loop, outer);
}

/* ---- shared by threads ---- */

/* Does the thread have iteration k of n? Without a chunk, the first threads have one more than the others. */
static bool is_mine(int64_t k, int64_t n, int64_t chunk, int thread, int threads)
{
	int64_t part = n/threads, larger = n % threads;

	if (chunk > 0)
		return k/chunk % threads == thread;
	return (k < larger*(part + 1) ? k/(part + 1) : larger + (k - larger*(part + 1))/part) == thread;
}

static void run_shared(struct run *run, const struct k_loop *loop, int thread, int threads)
{
	const struct range range = range_of(run, loop);
	const struct run_node *above = run->fiber->node;
	const int64_t instance = ++run->instances;
	const int64_t chunk = of_expr(run, loop->share.chunk, loop->share.is_dynamic);

	for (int64_t k = 0; k < range.n && !run->has_stopped; k++) {
		if (!is_mine(k, range.n, chunk, thread, threads))
			continue;
		run->fiber->node = run_node(run, above, instance, true);
		iteration(run, loop, range.first + k*range.step);
	}
	run->fiber->node = above;
}

/* What threads add to is the loop's: only it is touched as by the one who began the team. */
static void with_reductions(struct run *run, const struct k_loop *loop, int thread, int threads)
{
	struct run_fiber *fiber = run->fiber;
	const struct run_node *node = fiber->node;
	struct run_binding *outer = fiber->names;

	fiber->node = fiber->team ? fiber->team->above : node;
	begin_reductions(run, loop, 0);
	fiber->node = node;
	run_shared(run, loop, thread, threads);
	fiber->node = fiber->team ? fiber->team->above : node;
	end_reductions(run, loop, outer);
	fiber->node = node;
}

static void run_in_team(struct run *run, struct run_team *team)
{
	with_reductions(run, &team->stmt->loop, run->fiber->number, team->n);
}

static void begin_team(struct run *run, const struct k_expr *threads, const struct k_stmt *stmt,
		       void (*body)(struct run *, struct run_team *))
{
	const int64_t n = threads ? of_expr(run, threads, 1) : run->host->threads;
	struct run_team team = { .n = (int) n, .body = body, .stmt = stmt };

	if (n < 1 || n > RUN_MOST_THREADS)
		run_fault(run, "a team of %lld threads", (long long) n);
	if (!run->has_stopped)
		run_team(run, &team);
}

static void run_workshare(struct run *run, const struct k_stmt *stmt)
{
	const struct k_loop *loop = &stmt->loop;
	struct run_team *team = run->fiber->team;

	if (loop->share.starts_team) {
		begin_team(run, loop->share.threads, stmt, run_in_team);
		return;
	}
	with_reductions(run, loop, run->fiber->number, team ? team->n : 1);
	run_barrier(run, stmt);
}

/* ---- shared by numbers: by the groups of a device, which go through them in order, or by the lanes of one ---- */

static enum run_flow run_by_numbers(struct run *run, const struct k_loop *loop)
{
	const bool is_grid = loop->kind == K_LOOP_GRID, is_once = is_grid ? !loop->is_strided : !loop->count;
	const int64_t step = of_expr(run, loop->step, 1), count = of_expr(run, loop->count, 1);
	const int64_t number = of_expr(run, loop->number, 0), instance = ++run->instances;
	const struct run_node *above = run->fiber->node;
	const struct range range = range_of(run, loop);
	enum run_flow flow = RUN_ON;

	for (int64_t k = number; k < range.n && flow != RUN_RETURN && !run->has_stopped; k += count) {
		if (!is_grid)
			run->fiber->node = run_node(run, above, instance, true);
		flow = iteration(run, loop, range.first + k*(loop->is_down ? -step : step));
		if (is_once || count < 1)
			break;
	}
	if (!is_grid)
		run->fiber->node = above;
	return flow == RUN_RETURN ? flow : RUN_ON;
}

/* ---- all ---- */

static void run_region(struct run *run, struct run_team *team)
{
	run_body(run, &team->stmt->body);
}

void run_parallel(struct run *run, const struct k_stmt *stmt)
{
	begin_team(run, stmt->value, stmt, run_region);
}

enum run_flow run_loop(struct run *run, const struct k_stmt *stmt)
{
	switch (stmt->loop.kind) {
	case K_LOOP_SERIAL:
	case K_LOOP_UNROLLED:
	case K_LOOP_ROLLED: return run_serial(run, &stmt->loop);
	case K_LOOP_SIMD: run_simd(run, &stmt->loop); return RUN_ON;
	case K_LOOP_WORKSHARE: run_workshare(run, stmt); return RUN_ON;
	case K_LOOP_GRID:
	case K_LOOP_LANES: return run_by_numbers(run, &stmt->loop);
	case K_LOOP_KIND_N: break;
	}
	return RUN_ON;
}
