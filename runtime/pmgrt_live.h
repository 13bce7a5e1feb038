/* SPDX-License-Identifier: MIT
 *
 * When points of zero weight are left out, for the host (nonzero_points.c) and the device (pmgrt_cuda_live.h) alike. A
 * window is `patience` calls; where the points that were live in one of them are clearly fewer than those that kernels
 * work on, a copy of them is made at its end. A weight that comes back and is not in the copy makes all points come
 * back at once, and windows twice as long. */
#ifndef PMGRT_LIVE_H
#define PMGRT_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __CUDACC__
#define PMG_LIVE_RULE static inline __host__ __device__
#else
#define PMG_LIVE_RULE static inline
#endif

enum { PMG_LIVE_FIRST_PATIENCE = 3, PMG_LIVE_MOST_PATIENCE = 48 };      /* calls */

typedef struct pmg_live_rule {
	bool has_copy;
	int32_t calls, patience;        /* since the window began; its length */
	int64_t n, n_held;              /* points; those of the copy, if there is one */
} pmg_live_rule;

PMG_LIVE_RULE pmg_live_rule pmg_live_begin(int64_t n)
{
	pmg_live_rule rule = { false, 0, PMG_LIVE_FIRST_PATIENCE, n, n };

	return rule;
}

/* A copy has cost more than it has saved. */
PMG_LIVE_RULE void pmg_live_wait_longer(pmg_live_rule *rule)
{
	if (rule->patience < PMG_LIVE_MOST_PATIENCE)
		rule->patience *= 2;
}

PMG_LIVE_RULE void pmg_live_take(pmg_live_rule *rule, int64_t n_points)
{
	rule->has_copy = true;
	rule->n_held = n_points;
}

PMG_LIVE_RULE void pmg_live_drop(pmg_live_rule *rule)
{
	rule->has_copy = false;
	rule->n_held = rule->n;
}

/* A weight is not zero that the copy lacks. */
PMG_LIVE_RULE void pmg_live_fail(pmg_live_rule *rule)
{
	pmg_live_drop(rule);
	rule->calls = 0;
	pmg_live_wait_longer(rule);
}

/* One call more; true where a window ends with it. */
PMG_LIVE_RULE bool pmg_live_window_ends(pmg_live_rule *rule)
{
	if (++rule->calls < rule->patience)
		return false;
	rule->calls = 0;
	return true;
}

/* Is a copy of so many, points or weights, of those that are held, worth being made? */
PMG_LIVE_RULE bool pmg_live_pays(int64_t n, int64_t n_held)
{
	return n < n_held && (double) n <= 0.7 * (double) n_held;
}

#endif
