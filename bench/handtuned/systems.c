/* SPDX-License-Identifier: MIT
 *
 * The versions and their calls: which kernel, what it is told about the tree, and LAPACK for one system after the
 * other. */
#include "systems.h"

#include <omp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/systems_kernels.h"
#include "systems_blocks.h"

const struct system_version system_versions[] = {
	{ "sequential", "the papers' algorithm, one system after the other", SYSTEM_SEQUENTIAL, 0 },
	{ "multicore", "the same, threads over systems", SYSTEM_MULTICORE, 0 },
	{ "lapack_gtsv", "LAPACK with pivots, threads over systems", SYSTEM_GTSV, 0 },
	{ "lapack_ptsv", "LAPACK for positive definite systems, threads over systems", SYSTEM_PTSV, 0 },
	{ "transposed", "flat data, transposed in registers", SYSTEM_TRANSPOSED, 0 },
	{ "interleaved8", "8 systems at a time, interleaved by the caller", SYSTEM_INTERLEAVED, 8 },
	{ "interleaved16", "16 systems at a time", SYSTEM_INTERLEAVED, 16 },
	{ "interleaved32", "32 systems at a time", SYSTEM_INTERLEAVED, 32 },
	{ "gathered8", "8 trees at a time, rows through tables", SYSTEM_GATHERED, 8 },
	{ "masked8", "8 trees at a time, chains in registers", SYSTEM_MASKED, 8 },
	{ "masked16", "16 trees at a time, chains in registers", SYSTEM_MASKED, 16 },
	{ "moved16", "no solve: what two loops over blocks of 16 read and write", SYSTEM_MOVED, 16 },
};

const int n_system_versions = sizeof(system_versions) / sizeof(system_versions[0]);

/* Results larger than this are not found in a cache by whoever reads them. */
enum { STREAMED_BYTES = 24 << 20, COPIED_BYTES = 8 << 20 };

const struct system_version *system_version_named(const char *name)
{
	for (int i = 0; i < n_system_versions; i++)
		if (strcmp(system_versions[i].name, name) == 0)
			return &system_versions[i];
	return NULL;
}

static const struct system_kernels *kernels_for(const char *isa)
{
	const struct life_kernels *able = life_kernels_for(isa);
#ifdef __x86_64__
	if (able && strcmp(able->isa, system_kernels_v4.isa) == 0)
		return &system_kernels_v4;
	if (able && strcmp(able->isa, system_kernels_v3.isa) == 0)
		return &system_kernels_v3;
#endif
	return able ? &system_kernels_v1 : NULL;
}

void system_stream(const char *isa, int threads, int reads, int64_t n, const double *const *from, double *x)
{
	kernels_for(isa)->stream(threads, reads, n, n * (int64_t) sizeof(double) > STREAMED_BYTES, from, x);
}

void system_copy(const char *isa, int threads, int arrays, int64_t n, const double *const *from, double *const *to)
{
	kernels_for(isa)->copy(threads, arrays, n, arrays * n * (int64_t) sizeof(double) > COPIED_BYTES, from, to);
}

/* ---- Preparing ------------------------------------------------------------------------------- */

static bool has_equal_lengths(const struct system_batch *batch)
{
	return batch->n_rows == batch->n_systems * batch->n;
}

/* What the version cannot do; NULL: nothing. */
static const char *refusal(const struct system_call *call)
{
	const struct system_batch *b = call->batch;
	switch (call->version->code) {
	case SYSTEM_SEQUENTIAL:
	case SYSTEM_MULTICORE:
		return NULL;
	case SYSTEM_GTSV:
	case SYSTEM_PTSV:
		return b->is_chain ? NULL : "it is for tridiagonal systems";
	case SYSTEM_TRANSPOSED:
		return b->is_single			       ? "it is for doubles"
		       : has_equal_lengths(b) && (b->is_chain || b->has_one_tree) ? NULL
										  : "systems differ";
	case SYSTEM_INTERLEAVED:
	case SYSTEM_MOVED:
		return b->is_chain || b->has_one_tree ? NULL : "trees differ";
	case SYSTEM_GATHERED:
	case SYSTEM_MASKED:
		return b->is_chain || b->has_one_tree ? "it is for different trees" : NULL;
	}
	return NULL;
}

/* ROW_… of each row of the one tree. */
static bool classify_rows(struct system_call *call)
{
	const int32_t *parent = call->batch->parent;
	int64_t n = call->batch->n;
	call->rows = calloc((size_t) n + 1, 1);
	if (!call->rows)
		return false;
	for (int64_t i = n - 1; i >= 0; i--) {
		uint8_t *row = &call->rows[i];
		if (parent[i] < 0) {
			*row |= ROW_ROOT;
		} else if (parent[i] == i - 1) {
			*row |= ROW_CHAIN;
			call->rows[i - 1] |= ROW_NEXT;
		} else {
			uint8_t *above = &call->rows[parent[i]];
			*row |= *above & ROW_ADDED ? 0 : ROW_FIRST;
			*above |= ROW_ADDED;
		}
	}
	call->bytes += (size_t) n;
	return true;
}

/* Two arrays for as many systems as are solved at a time; what LAPACK overwrites. */
static size_t scratch_of(const struct system_call *call)
{
	const struct system_batch *b = call->batch;
	size_t element = b->is_single ? sizeof(float) : sizeof(double);
	size_t lanes = call->version->lanes ? (size_t) call->blocks.lanes : 16;
	size_t bytes = 2 * ((size_t) b->n + 4) * lanes * element + 256;
	return (bytes + 4095) / 4096 * 4096 + 320;
}

static bool make_scratch(struct system_call *call)
{
	call->scratch_bytes = scratch_of(call) / 64 * 64;
	size_t bytes = call->scratch_bytes * (size_t) call->threads;
	call->scratch = aligned_alloc(64, bytes);
	call->bytes += bytes;
	return call->scratch;
}

bool system_call_prepare(struct system_call *call, const char *isa, char *error, size_t size)
{
	const struct system_batch *batch = call->batch;
	const char *why = refusal(call);
	enum system_code code = call->version->code;
	size_t element = batch->is_single ? sizeof(float) : sizeof(double);
	double start = omp_get_wtime();
	call->threads = code == SYSTEM_SEQUENTIAL ? 1 : call->threads;
	call->kernels = kernels_for(isa);
	call->streams = (size_t) batch->n_rows * element > STREAMED_BYTES;
	bool needs_lapack = code == SYSTEM_GTSV || code == SYSTEM_PTSV;
	if (!why && needs_lapack && !lapack_open(&call->lapack))
		why = "no LAPACK is installed";
	if (!why && ((!batch->is_chain && batch->has_one_tree && !classify_rows(call)) ||
		     (call->version->lanes && !system_blocks_make(call)) || !make_scratch(call)))
		why = "not enough memory";
	call->seconds = omp_get_wtime() - start;
	if (why)
		snprintf(error, size, "%s", why);
	return !why;
}

void system_call_release(struct system_call *call)
{
	system_blocks_free(&call->blocks);
	lapack_close(&call->lapack);
	free(call->rows);
	free(call->scratch);
	call->rows = NULL;
	call->scratch = NULL;
}

/* ---- Running ----------------------------------------------------------------------------------- */

/* Copies of the diagonals in scratch; the right-hand side becomes the solution where it is wanted. */
static void solve_by_lapack(const struct system_call *call, int64_t s, void *out)
{
	const struct system_batch *b = call->batch;
	const struct lapack *lapack = &call->lapack;
	int64_t at = b->offset[s], rows = b->offset[s + 1] - at, own = b->is_shared ? 0 : at;
	size_t element = b->is_single ? sizeof(float) : sizeof(double), bytes = (size_t) rows * element;
	bool has_pivots = call->version->code == SYSTEM_GTSV;
	char *diag = (char *) call->scratch + (size_t) omp_get_thread_num() * call->scratch_bytes;
	char *upper = diag + bytes, *lower = upper + bytes, *x = (char *) out + (size_t) at * element;
	int n = (int) rows, one = 1, info;
	if (n == 0)
		return;
	memcpy(diag, (const char *) b->diag + (size_t) at * element, bytes);
	memcpy(upper, (const char *) b->upper + (size_t) own * element, bytes - element);
	memcpy(x, (const char *) b->rhs + (size_t) at * element, bytes);
	if (has_pivots)
		memcpy(lower, (const char *) b->lower + (size_t) (own + 1) * element, bytes - element);
	if (b->is_single && has_pivots)
		lapack->sgtsv(&n, &one, (float *) (void *) lower, (float *) (void *) diag, (float *) (void *) upper,
			      (float *) (void *) x, &n, &info);
	else if (b->is_single)
		lapack->sptsv(&n, &one, (float *) (void *) diag, (float *) (void *) upper, (float *) (void *) x, &n,
			      &info);
	else if (has_pivots)
		lapack->dgtsv(&n, &one, (double *) (void *) lower, (double *) (void *) diag,
			      (double *) (void *) upper, (double *) (void *) x, &n, &info);
	else
		lapack->dptsv(&n, &one, (double *) (void *) diag, (double *) (void *) upper, (double *) (void *) x, &n,
			      &info);
}

static void run_lapack(const struct system_call *call, void *x)
{
#pragma omp parallel for num_threads(call->threads) schedule(static)
	for (int64_t s = 0; s < call->batch->n_systems; s++)
		solve_by_lapack(call, s, x);
}

void system_call_run(const struct system_call *call, void *x)
{
	bool is_single = call->batch->is_single;
	switch (call->version->code) {
	case SYSTEM_SEQUENTIAL:
	case SYSTEM_MULTICORE:
		call->kernels->flat[is_single](call, x);
		break;
	case SYSTEM_GTSV:
	case SYSTEM_PTSV:
		run_lapack(call, x);
		break;
	case SYSTEM_TRANSPOSED:
		call->kernels->transposed[is_single](call, x);
		break;
	case SYSTEM_INTERLEAVED:
	case SYSTEM_MOVED:
		call->kernels->interleaved[is_single](call, x);
		break;
	case SYSTEM_GATHERED:
		call->kernels->gathered[is_single](call, x);
		break;
	case SYSTEM_MASKED:
		call->kernels->masked[is_single](call, x);
		break;
	}
}
