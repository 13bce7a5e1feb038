/* SPDX-License-Identifier: MIT
 *
 * What a step of a loop costs in memory: nothing where an array is read at one place, 1 where at the next one, FAR
 * elsewhere, which is a line of memory for each value. */
#include "ir/match/blas.h"
#include "ir/ir.h"

/* Does the value of the dim `of`, which is read from an index array, change with the dim? */
static bool follows(const struct stage *stage, int of, int dim)
{
	const struct dim *bound = &stage->dims.items[of];
	bool does = false;

	if (bound->kind != DIM_BIND)
		return false;
	for (int d = 0; d < of && !does; d++)
		does = access_uses_dim(&bound->source, d) && (d == dim || follows(stage, d, dim));
	return does;
}

int access_step(const struct stage *stage, const struct access *access, int dim)
{
	const int n = access_n_subs(access);
	int step = 0;

	for (int i = 0; i < n; i++) {
		int64_t slope;
		const bool is_linear = blas_coefficient(access->subs[i], dim, &slope);

		if (!is_linear || slope != 0)
			step = is_linear && i == n - 1 && step == 0 && (slope == 1 || slope == -1) ? 1 : STEP_FAR;
	}
	for (int d = dim + 1; d < stage->dims.n; d++)
		if (access_uses_dim(access, d) && follows(stage, d, dim))
			step = STEP_FAR;
	return step;
}
