/* SPDX-License-Identifier: MIT
 *
 * How long an execution will take, by the sizes alone. Numbers of a machine as it is common today; they need be right
 * only as far as the order of the candidates goes. Sizes that a restructuring will find are taken at their largest:
 * as many runs as points. */
#include "plan.h"
#include "restructure.h"

/* Seconds. */
static const struct rates {
	double flop, vector_flop, byte, fetch, atomic, shared_loop;
} rates = { 0.4e-9, 0.08e-9, 0.06e-9, 6e-9, 8e-9, 4e-6 };

enum { MOST_SIZES = 64, MOST_WORK = 256 };

static double work_seconds(const pmg_work_desc *work, double points, double rows, int32_t threads)
{
	const double compute = points * work->flops * (work->is_vector ? rates.vector_flop : rates.flop);
	const double memory = (points * work->bytes + rows * work->row_bytes) * rates.byte
		+ rows * work->fetches * rates.fetch;
	const double atomics = (points * work->atomics + rows * work->row_atomics) * rates.atomic;
	const double alone = (compute > memory ? compute + memory / 4 : memory + compute / 4) + atomics;

	return work->is_shared && threads > 1 ? alone / threads + rates.shared_loop : alone;
}

/* The sizes that restructurings may find at most. */
static void sizes_bound(const pmg_pipeline_desc *desc, const int64_t *extents, int32_t threads, int64_t *sizes)
{
	for (int32_t i = 0; i < desc->n_restructurings; i++) {
		const pmg_restructure_desc *r = &desc->restructurings[i];
		const int64_t n = array_elements(&desc->arrays[r->keys[0]], extents);

		if (r->n_runs >= 0)
			sizes[r->n_runs] = n;
		if (r->parts)
			sizes[r->parts->n_parts] = parts_most(n, array_limit(&desc->arrays[r->keys[0]], extents));
		if (r->n_chunks >= 0)
			sizes[r->n_chunks] = r->is_by_threads ? threads : 256;
	}
}

double execution_estimate(const pmg_pipeline_desc *desc, const void *args, const int64_t *extents, int32_t threads)
{
	int64_t sizes[MOST_SIZES] = { 0 };
	double counts[2 * MOST_WORK], seconds = 0;
	const pmg_plan plan = { .sizes = sizes, .threads = threads };

	if (!desc->count || desc->n_sizes > MOST_SIZES || desc->n_work > MOST_WORK)
		return 0;
	sizes_bound(desc, extents, threads, sizes);
	desc->count(&plan, args, counts);
	for (int32_t i = 0; i < desc->n_work; i++)
		seconds += work_seconds(&desc->work[i], counts[2 * i], counts[2 * i + 1], threads);
	return seconds;
}
