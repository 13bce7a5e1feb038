/* SPDX-License-Identifier: MIT
 *
 * What a product asks of the machine at least. As written, each coefficient is a row of n_theta multiplications and
 * additions; coefficients of one atom and voxel can be merged, and pairs whose weights are all zero are nothing. All
 * data have to be read once: 12 bytes a coefficient (value and fiber) and 6 a pair (atom and place) in the densest form
 * that is known, the weights, the dictionary and Y. */
#include "life/life.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "handtuned/life_layout.h"

static bool has_weight(const struct life_case *problem, int32_t k)
{
	return ((const double *) problem->w.data)[problem->tensor.fiber[k]] != 0;
}

bool life_work_count(const struct life_case *problem, struct life_work *work, struct failure *failure)
{
	const struct life_tensor *t = &problem->tensor;
	int32_t *places = life_order(t, LIFE_HYBRID);
	bool is_active = false;
	*work = (struct life_work){ 0 };
	if (!places)
		return fail_memory(failure, "counting pairs");
	for (int64_t i = 0; i < t->n_coeffs; i++) {
		int32_t k = places[i], before = i ? places[i - 1] : -1;
		bool is_new = before < 0 || t->voxel[k] != t->voxel[before] || t->atom[k] != t->atom[before];
		is_active = !is_new && is_active;
		work->n_pairs += is_new;
		work->n_active += !is_active && has_weight(problem, k);
		is_active |= has_weight(problem, k);
	}
	free(places);
	double row = (double) t->n_theta;
	work->flops = 2 * row * (double) t->n_coeffs;
	work->flops_merged[LIFE_DSC] = 2 * row * (double) work->n_active;
	work->flops_merged[LIFE_WC] = 2 * row * (double) work->n_pairs;
	work->bytes = 12 * (double) t->n_coeffs + 6 * (double) work->n_pairs + 8 * (double) t->n_fibers +
		      8 * row * (double) (t->n_voxels + t->n_atoms);
	return true;
}

void life_work_rate(const struct life_work *work, const struct ceilings *ceilings, struct record *record)
{
	double seconds = 1e-3 * record->ms_median;
	record->gflops = 1e-9 * work->flops / seconds;
	record->gbps = 1e-9 * work->bytes / seconds;
	if (!ceilings)
		return;
	int all = record->threads > 1;
	bool is_single = strcmp(record->precision, "f32") == 0;
	double fma = is_single ? ceilings->fma_f32[all] : ceilings->fma_f64[all];
	double stream = fmax(ceilings->read[all], ceilings->triad[all]);
	enum life_op op = strcmp(record->op, "dsc") == 0 ? LIFE_DSC : LIFE_WC;
	record->of_fma = work->flops / seconds / fma;
	record->of_fma_merged = work->flops_merged[op] / seconds / fma;
	record->of_stream = work->bytes / seconds / stream;
	record->limit = record->of_fma_merged > record->of_stream ? "fma" : "stream";
	record->fraction_of_limit = fmax(record->of_fma_merged, record->of_stream);
}
