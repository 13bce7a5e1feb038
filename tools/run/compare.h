/* SPDX-License-Identifier: MIT
 *
 * What `--compare` is made of: bounds from one run of the interpreter (compare.c), and, where a difference exceeds
 * them, from further ones (rounding.c). Bounds are by argument, for each cell; NULL: the argument is not written. */
#ifndef TOOLS_RUN_COMPARE_H
#define TOOLS_RUN_COMPARE_H

#include "run/run.h"

enum { ROUNDING_MOST_RUNS = 10 };

struct rounding;

struct rounding *rounding_new(struct session *s);
/* Runs the program once more and raises bounds by what it shows. False: no more runs, or none is possible. */
bool rounding_raise(struct rounding *rounding, const struct results *reference, double **bounds);
/* The results in extended precision; NULL: there are none. `rounding` may be NULL, here and below. */
const struct ndarray *rounding_fine(const struct rounding *rounding, int argument);
/* Which of the two is nearer to them. */
void rounding_print(const struct rounding *rounding, int argument, const struct ndarray *value,
		    const struct ndarray *reference);
/* The first condition, or conversion to an integer, that runs take differently. */
void rounding_print_undecided(const struct rounding *rounding);
bool rounding_has_undecided(const struct rounding *rounding);
void rounding_free(struct rounding *rounding);

#endif
