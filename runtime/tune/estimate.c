/* SPDX-License-Identifier: MIT
 *
 * How long an execution will take, by the sizes, and by how many runs the keys of restructurings have. Numbers of a
 * machine as it is common today; they need be right only as far as the order of the candidates goes. Parts are taken to
 * be as many as there can be. */
#include "plan/plan.h"
#include "inspect/restructure.h"

/* Seconds. */
static const struct rates {
	double flop, vector_flop, byte, fetch, far, row, atomic, shared_loop;
} rates = { 0.4e-9, 0.08e-9, 0.06e-9, 6e-9, 1.5e-9, 1.5e-9, 8e-9, 4e-6 };

enum { MOST_SIZES = 64, MOST_WORK = 256 };

static double work_seconds(const pmg_work_desc *work, double points, double rows, int32_t threads)
{
	const double compute = points * work->flops * (work->is_vector ? rates.vector_flop : rates.flop);
	const double memory = (points * work->bytes + rows * work->row_bytes) * rates.byte
		+ rows * (work->fetches * rates.fetch + rates.row) + points * work->far * rates.far;
	const double atomics = (points * work->atomics + rows * work->row_atomics) * rates.atomic;
	const double alone = (compute > memory ? compute + memory / 4 : memory + compute / 4) + atomics;

	return work->is_shared && threads > 1 ? alone / threads + rates.shared_loop : alone;
}

/* Candidates share their arguments, so that the same place in them is the same array. */
static bool are_keys(const struct known_runs *known, const pmg_pipeline_desc *desc, const pmg_restructure_desc *r)
{
	bool are = known->n_keys == r->n_keys;

	for (int32_t k = 0; are && k < r->n_keys; k++)
		are = known->offsets[k] == desc->arrays[r->keys[k]].offset;
	return are;
}

static int64_t runs_expect(const pmg_pipeline_desc *desc, const pmg_restructure_desc *r, const void *args,
			   const int64_t *extents, struct known_runs *known)
{
	if (!are_keys(known, desc, r)) {
		known->n_keys = r->n_keys;
		for (int32_t k = 0; k < r->n_keys; k++)
			known->offsets[k] = desc->arrays[r->keys[k]].offset;
		known->n_runs = runs_estimate(desc, r, args, extents);
	}
	return known->n_runs;
}

/* Chunks of trees are often shorter than they may be. */
enum { NODES_IN_CHUNK = 4, TURNS = 16 };

/* The sizes that inspectors will find. */
static void sizes_expect(const pmg_pipeline_desc *desc, const void *args, const int64_t *extents, int32_t threads,
			 struct known_runs *known, int64_t *sizes)
{
	for (int32_t i = 0; i < desc->n_restructurings; i++) {
		const pmg_restructure_desc *r = &desc->restructurings[i];
		const int64_t n = points_of(desc, r, extents);

		if (r->n_runs >= 0)
			sizes[r->n_runs] = runs_expect(desc, r, args, extents, known);
		if (r->parts)
			sizes[r->parts->n_parts] = partition_most(n, array_limit(&desc->arrays[r->keys[0]], extents));
		if (r->n_chunks >= 0)
			sizes[r->n_chunks] = r->is_by_threads ? threads : 256;
	}
	for (int32_t i = 0; i < desc->n_chunks; i++) {
		sizes[desc->chunks[i].n_chunks] =
			array_elements(&desc->arrays[desc->chunks[i].parent], extents) / NODES_IN_CHUNK;
		sizes[desc->chunks[i].n_turns] = TURNS;
	}
}

static double factor_value(const pmg_factor *factor, const pmg_plan *plan, const void *args)
{
	switch (factor->of) {
	case PMG_OF_ARGUMENT:
		return (double) (*(const int64_t *) (const void *) ((const char *) args + factor->at) + factor->plus);
	case PMG_OF_SIZE:
		return (double) (plan->sizes[factor->at] + factor->plus);
	case PMG_OF_THREADS:
		return plan->threads;
	case PMG_OF_NUMBER:
		return (double) factor->plus;
	case PMG_OF_END:
		break;
	}
	return 1;
}

/* What `count` has written where it is no product. */
static double product_value(const pmg_factor *factor, const pmg_plan *plan, const void *args, double counted)
{
	double product = 1;

	if (!factor)
		return counted;
	for (; factor->of != PMG_OF_END; factor++) {
		const double value = factor_value(factor, plan, args);

		product = factor->divides ? product / value : product * value;
	}
	return product;
}

double execution_estimate(const pmg_pipeline_desc *desc, const void *args, const int64_t *extents, int32_t threads,
			  struct known_runs *known)
{
	int64_t sizes[MOST_SIZES] = { 0 };
	double counts[2 * MOST_WORK], seconds = 0;
	const pmg_plan plan = { .sizes = sizes, .threads = threads };

	if (desc->n_sizes > MOST_SIZES || desc->n_work > MOST_WORK)
		return 0;
	sizes_expect(desc, args, extents, threads, known, sizes);
	for (int32_t i = 0; i < 2 * desc->n_work; i++)
		counts[i] = 1;
	if (desc->count)
		desc->count(&plan, args, counts);
	for (int32_t i = 0; i < desc->n_work; i++) {
		const pmg_work_desc *work = &desc->work[i];

		seconds += work_seconds(work, product_value(work->points, &plan, args, counts[2 * i]),
					product_value(work->rows, &plan, args, counts[2 * i + 1]), threads);
	}
	return seconds;
}
