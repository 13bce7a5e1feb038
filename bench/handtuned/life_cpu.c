/* SPDX-License-Identifier: MIT
 *
 * The versions of the thesis (section 6.3.1) and the best one, and their calls: which layout and which kernel. Layouts
 * are made once for all calls of a context. */
#include "life_cpu.h"

#include "kernels/kernels.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct life_version life_versions[] = {
	{ "cpu_naive", "the original code, sequential", LIFE_NAIVE,
	  { LIFE_BY_ATOM, LIFE_BY_ATOM }, { LIFE_COEFF, LIFE_COEFF } },
	{ "cpu_naive_blas", "the same with a BLAS call for each coefficient", LIFE_NAIVE_BLAS,
	  { LIFE_BY_ATOM, LIFE_BY_ATOM }, { LIFE_COEFF, LIFE_COEFF } },
	{ "cpu_naive_par", "the original code in parallel, with atomics", LIFE_NAIVE_PAR,
	  { LIFE_BY_VOXEL, LIFE_BY_ATOM }, { LIFE_COEFF, LIFE_COEFF } },
	{ "cpu_opt", "all of the thesis' optimisations", LIFE_OPT,
	  { LIFE_BY_VOXEL, LIFE_BY_ATOM }, { LIFE_COEFF_EXCLUSIVE, LIFE_COEFF } },
	{ "cpu_opt_atomic_noblas", "the same with atomics, without BLAS", LIFE_OPT_ATOMIC_NOBLAS,
	  { LIFE_BY_VOXEL, LIFE_BY_ATOM }, { LIFE_COEFF, LIFE_COEFF } },
	{ "cpu_opt_noblas", "the same without BLAS", LIFE_OPT_NOBLAS,
	  { LIFE_BY_VOXEL, LIFE_BY_ATOM }, { LIFE_COEFF_EXCLUSIVE, LIFE_COEFF } },
	{ "best", "the best known: merged pairs, rows in registers", LIFE_BEST,
	  { LIFE_HYBRID, LIFE_HYBRID }, { LIFE_VOXEL, LIFE_VOXEL } },
	{ "best_f32", "the same with D and sums in single precision", LIFE_BEST_F32,
	  { LIFE_HYBRID, LIFE_HYBRID }, { LIFE_VOXEL, LIFE_VOXEL } },
};

const int n_life_versions = sizeof(life_versions) / sizeof(life_versions[0]);

struct life_cpu {
	const struct life_tensor *tensor;
	struct life_naive *naive[LIFE_ORDERS];
	struct life_opt *opt[LIFE_ORDERS];
	struct life_best *best;
	struct blas blas;
};

const struct life_version *life_version_named(const char *name, size_t length)
{
	for (int i = 0; i < n_life_versions; i++)
		if (strlen(life_versions[i].name) == length && strncmp(life_versions[i].name, name, length) == 0)
			return &life_versions[i];
	return NULL;
}

const char *life_order_name(enum life_order order)
{
	static const char *const names[] = { "none", "atom", "voxel", "hybrid(voxel, atom)" };
	return names[order];
}

const char *life_partition_name(enum life_partition partition)
{
	static const char *const names[] = { "coeff", "coeff_exclusive", "voxel", "atom" };
	return names[partition];
}

/* ---- The context ------------------------------------------------------------------------- */

struct life_cpu *life_cpu_new(const struct life_tensor *tensor)
{
	struct life_cpu *cpu = calloc(1, sizeof(*cpu));
	if (cpu)
		cpu->tensor = tensor;
	return cpu;
}

void life_cpu_free(struct life_cpu *cpu)
{
	if (!cpu)
		return;
	for (int order = 0; order < LIFE_ORDERS; order++) {
		life_naive_free(cpu->naive[order]);
		life_opt_free(cpu->opt[order]);
	}
	life_best_free(cpu->best);
	blas_close(&cpu->blas);
	free(cpu);
}

/* ---- Instruction sets ------------------------------------------------------------------------ */

#ifdef __x86_64__
static const struct life_kernels *kernels_at(int i)
{
	const struct life_kernels *able[4];
	int n = 0;
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
	    __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
	    __builtin_cpu_supports("avx512vl"))
		able[n++] = &life_kernels_v4;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2"))
		able[n++] = &life_kernels_v3;
	able[n++] = &life_kernels_v1;
	return i < n ? able[i] : NULL;
}
#else
static const struct life_kernels *kernels_at(int i)
{
	return i == 0 ? &life_kernels_v1 : NULL;
}
#endif

const char *life_cpu_isa(int i)
{
	const struct life_kernels *kernels = kernels_at(i);
	return kernels ? kernels->isa : NULL;
}

const struct life_kernels *life_kernels_for(const char *isa)
{
	for (int i = 0; kernels_at(i); i++)
		if (!isa || strcmp(isa, kernels_at(i)->isa) == 0)
			return kernels_at(i);
	return NULL;
}

/* ---- Preparing --------------------------------------------------------------------------------- */

static bool give_naive(struct life_cpu *cpu, struct life_call *call, char *error, size_t size)
{
	struct life_naive **layout = &cpu->naive[call->order];
	if (!*layout)
		*layout = life_naive_new(cpu->tensor, call->order, error, size);
	if (!*layout)
		return false;
	call->layout = *layout;
	call->bytes = (*layout)->bytes;
	call->seconds = (*layout)->seconds;
	return true;
}

static bool give_opt(struct life_cpu *cpu, struct life_call *call, char *error, size_t size)
{
	struct life_opt **layout = &cpu->opt[call->order];
	if (!*layout)
		*layout = life_opt_new(cpu->tensor, call->order, error, size);
	if (!*layout)
		return false;
	call->layout = *layout;
	call->bytes = (*layout)->bytes;
	call->seconds = (*layout)->seconds;
	return true;
}

size_t life_best_scratch(const struct life_best *layout, int threads)
{
	int64_t own = 2 * ((layout->most_pairs + 15) & ~INT64_C(7));
	return (size_t) (layout->n_fibers * (threads + 1) + own * threads) * sizeof(double);
}

static bool give_best(struct life_cpu *cpu, struct life_call *call, char *error, size_t size)
{
	if (!cpu->best)
		cpu->best = life_best_new(cpu->tensor, error, size);
	if (!cpu->best)
		return false;
	size_t scratch = life_best_scratch(cpu->best, call->threads);
	call->scratch = life_memory((int64_t) scratch, 1);
	call->layout = cpu->best;
	call->bytes = cpu->best->bytes + scratch;
	call->seconds = cpu->best->seconds;
	if (!call->scratch)
		snprintf(error, size, "not enough memory");
	return call->scratch;
}

static bool give_layout(struct life_cpu *cpu, struct life_call *call, char *error, size_t size)
{
	switch (call->version->code) {
	case LIFE_NAIVE:
	case LIFE_NAIVE_BLAS:
	case LIFE_NAIVE_PAR:
		return give_naive(cpu, call, error, size);
	case LIFE_OPT:
	case LIFE_OPT_NOBLAS:
	case LIFE_OPT_ATOMIC_NOBLAS:
		return give_opt(cpu, call, error, size);
	case LIFE_BEST:
	case LIFE_BEST_F32:
		return give_best(cpu, call, error, size);
	}
	return false;
}

static bool calls_blas(const struct life_call *call)
{
	return call->version->code == LIFE_NAIVE_BLAS || call->version->code == LIFE_OPT;
}

/* A partition by segments needs them together. */
static bool is_possible(const struct life_call *call, char *error, size_t size)
{
	enum life_code code = call->version->code;
	bool by_voxel = call->order == LIFE_BY_VOXEL || call->order == LIFE_HYBRID;
	bool is_sequential = code == LIFE_NAIVE || code == LIFE_NAIVE_BLAS;
	if (((call->partition == LIFE_VOXEL || call->partition == LIFE_COEFF_EXCLUSIVE) && !by_voxel) ||
	    (call->partition == LIFE_ATOM && call->order != LIFE_BY_ATOM)) {
		snprintf(error, size, "a partition by %s needs the coefficients in that order",
			 life_partition_name(call->partition));
		return false;
	}
	if (calls_blas(call) && !is_sequential && call->op == LIFE_DSC && !call->is_exclusive) {
		snprintf(error, size, "a call of BLAS cannot be atomic");
		return false;
	}
	return true;
}

bool life_call_prepare(struct life_cpu *cpu, struct life_call *call, const char *isa, char *error, size_t size)
{
	bool owns = call->partition == LIFE_COEFF_EXCLUSIVE || call->partition == LIFE_VOXEL;
	call->cpu = cpu;
	call->kernels = life_kernels_for(isa);
	call->bounds = NULL;
	call->scratch = NULL;
	call->is_exclusive = (owns || call->threads == 1) && call->version->code != LIFE_OPT_ATOMIC_NOBLAS;
	if (!call->kernels) {
		snprintf(error, size, "this processor cannot run it");
		return false;
	}
	if (!is_possible(call, error, size) || !give_layout(cpu, call, error, size))
		return false;
	if (calls_blas(call) && !cpu->blas.library && !blas_open(&cpu->blas)) {
		snprintf(error, size, "no BLAS is installed (package libopenblas0)");
		return false;
	}
	call->bounds = life_bounds(cpu->tensor, call->partition, call->threads);
	if (!call->bounds)
		snprintf(error, size, "not enough memory");
	return call->bounds;
}

void life_call_release(struct life_call *call)
{
	free(call->bounds);
	free(call->scratch);
	call->bounds = NULL;
	call->scratch = NULL;
}

/* ---- Running -------------------------------------------------------------------------------------- */

static void run_dsc(const struct life_call *call, const struct life_share *share, const double *w, double *Y)
{
	const struct life_kernels *kernels = call->kernels;
	switch (call->version->code) {
	case LIFE_NAIVE:
		kernels->naive_dsc(call->layout, w, Y);
		break;
	case LIFE_NAIVE_BLAS:
		kernels->naive_dsc_blas(call->layout, &call->cpu->blas, w, Y);
		break;
	case LIFE_NAIVE_PAR:
		kernels->naive_dsc_par(call->layout, share, w, Y);
		break;
	case LIFE_OPT:
	case LIFE_OPT_NOBLAS:
	case LIFE_OPT_ATOMIC_NOBLAS:
		kernels->opt_dsc(call->layout, share, w, Y);
		break;
	case LIFE_BEST:
		kernels->best_dsc(call->layout, share, w, Y);
		break;
	case LIFE_BEST_F32:
		kernels->best_dsc_f32(call->layout, share, w, Y);
		break;
	}
}

static void run_wc(const struct life_call *call, const struct life_share *share, const double *Y, double *w)
{
	const struct life_kernels *kernels = call->kernels;
	switch (call->version->code) {
	case LIFE_NAIVE:
		kernels->naive_wc(call->layout, Y, w);
		break;
	case LIFE_NAIVE_BLAS:
		kernels->naive_wc_blas(call->layout, &call->cpu->blas, Y, w);
		break;
	case LIFE_NAIVE_PAR:
		kernels->naive_wc_par(call->layout, share, Y, w);
		break;
	case LIFE_OPT:
	case LIFE_OPT_NOBLAS:
	case LIFE_OPT_ATOMIC_NOBLAS:
		kernels->opt_wc(call->layout, share, Y, w);
		break;
	case LIFE_BEST:
		kernels->best_wc(call->layout, share, Y, w);
		break;
	case LIFE_BEST_F32:
		kernels->best_wc_f32(call->layout, share, Y, w);
		break;
	}
}

void life_call_run(const struct life_call *call, const double *in, double *out)
{
	struct life_share share = { .threads = call->threads, .bounds = call->bounds,
				    .is_exclusive = call->is_exclusive,
				    .blas = calls_blas(call) ? &call->cpu->blas : NULL, .scratch = call->scratch };
	if (call->op == LIFE_DSC)
		run_dsc(call, &share, in, out);
	else
		run_wc(call, &share, in, out);
}
