/* SPDX-License-Identifier: MIT
 *
 * What the machine can do, measured in the same run as the rows: the best of several passes, over arrays that no cache
 * holds; of one pass over smaller ones where rows are to take no time (--min-time=0). The triad counts 24 bytes an
 * element, as STREAM does. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "handtuned/kernels/kernels.h"

enum { ELEMENTS = 16 << 20, PASSES = 5, FEW_ELEMENTS = 4 << 20 };

/* Where and how a ceiling is measured. */
struct stage {
	const struct life_kernels *kernels;
	int threads, passes;
	int64_t elements;               /* of each of three arrays */
	bool counts_processors;
};

static double since(const struct stage *stage, double start)
{
	return clock_seconds(stage->counts_processors, stage->threads) - start;
}

static void measure_memory(struct ceilings *c, const struct stage *stage, int which, double *a)
{
	const int64_t n = stage->elements;
	const double *b = a + n, *d = b + n;
	for (int pass = 0; pass < stage->passes; pass++) {
		double start = since(stage, 0);
		stage->kernels->triad(stage->threads, n, a, b, d);
		c->triad[which] = fmax(c->triad[which], 24.0 * (double) n / since(stage, start));
		start = since(stage, 0);
		stage->kernels->read(stage->threads, 3 * n, a);
		c->read[which] = fmax(c->read[which], 24.0 * (double) n / since(stage, start));
	}
}

static void measure_arithmetic(struct ceilings *c, const struct stage *stage, int which)
{
	for (int pass = 0; pass < stage->passes; pass++) {
		double start = since(stage, 0), flops = stage->kernels->fma_f64(stage->threads);
		c->fma_f64[which] = fmax(c->fma_f64[which], flops / since(stage, start));
		start = since(stage, 0);
		flops = stage->kernels->fma_f32(stage->threads);
		c->fma_f32[which] = fmax(c->fma_f32[which], flops / since(stage, start));
	}
}

bool ceilings_measure(struct ceilings *ceilings, int threads, const struct effort *effort, struct failure *failure)
{
	const bool is_quick = effort->min_seconds <= 0;
	struct stage stage = { life_kernels_for(NULL), .passes = is_quick ? 1 : PASSES,
			       .elements = is_quick ? FEW_ELEMENTS : ELEMENTS,
			       .counts_processors = effort->counts_processors };
	double *memory = life_memory(3 * stage.elements, sizeof(double));
	if (!memory)
		return fail_memory(failure, "the arrays of the bandwidth");
	for (int64_t i = 0; i < 3 * stage.elements; i++)
		memory[i] = 1;
	for (int which = 0; which < 2; which++) {
		stage.threads = which ? threads : 1;
		measure_memory(ceilings, &stage, which, memory);
		measure_arithmetic(ceilings, &stage, which);
	}
	free(memory);
	return true;
}

void ceilings_print(const struct ceilings *c, int threads, FILE *stream)
{
	fprintf(stream, "%-10s %12s %12s %14s %14s\n", "ceilings", "triad GB/s", "read GB/s", "FMA f64 GF/s",
		"FMA f32 GF/s");
	for (int which = 0; which < 2; which++)
		fprintf(stream, "%2d thread%c %12.1f %12.1f %14.1f %14.1f\n", which ? threads : 1,
			which && threads > 1 ? 's' : ' ', 1e-9 * c->triad[which], 1e-9 * c->read[which],
			1e-9 * c->fma_f64[which], 1e-9 * c->fma_f32[which]);
}
