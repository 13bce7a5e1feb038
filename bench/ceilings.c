/* SPDX-License-Identifier: MIT
 *
 * What the machine can do, measured in the same run as the rows: the best of several passes, over arrays that no cache
 * holds. The triad counts 24 bytes an element, as STREAM does. */
#include "bench.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "handtuned/kernels/kernels.h"

enum { ELEMENTS = 16 << 20, PASSES = 5 };

/* Where and how a ceiling is measured. */
struct stage {
	const struct life_kernels *kernels;
	int threads;
	bool counts_processors;
};

static double since(const struct stage *stage, double start)
{
	return clock_seconds(stage->counts_processors, stage->threads) - start;
}

static void measure_memory(struct ceilings *c, const struct stage *stage, int which, double *a)
{
	const double *b = a + ELEMENTS, *d = b + ELEMENTS;
	for (int pass = 0; pass < PASSES; pass++) {
		double start = since(stage, 0);
		stage->kernels->triad(stage->threads, ELEMENTS, a, b, d);
		c->triad[which] = fmax(c->triad[which], 24.0 * ELEMENTS / since(stage, start));
		start = since(stage, 0);
		stage->kernels->read(stage->threads, 3 * (int64_t) ELEMENTS, a);
		c->read[which] = fmax(c->read[which], 24.0 * ELEMENTS / since(stage, start));
	}
}

static void measure_arithmetic(struct ceilings *c, const struct stage *stage, int which)
{
	for (int pass = 0; pass < PASSES; pass++) {
		double start = since(stage, 0), flops = stage->kernels->fma_f64(stage->threads);
		c->fma_f64[which] = fmax(c->fma_f64[which], flops / since(stage, start));
		start = since(stage, 0);
		flops = stage->kernels->fma_f32(stage->threads);
		c->fma_f32[which] = fmax(c->fma_f32[which], flops / since(stage, start));
	}
}

bool ceilings_measure(struct ceilings *ceilings, int threads, bool counts_processors, struct failure *failure)
{
	const struct life_kernels *kernels = life_kernels_for(NULL);
	double *memory = life_memory(3 * (int64_t) ELEMENTS, sizeof(double));
	if (!memory)
		return fail_memory(failure, "the arrays of the bandwidth");
	for (int64_t i = 0; i < 3 * (int64_t) ELEMENTS; i++)
		memory[i] = 1;
	for (int which = 0; which < 2; which++) {
		struct stage stage = { kernels, which ? threads : 1, counts_processors };
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
