/* SPDX-License-Identifier: MIT
 *
 * Elements of random arrays, by the classes of values.def. */
#ifndef PMGC_TESTS_RANDOM_VALUES_H
#define PMGC_TESTS_RANDOM_VALUES_H

#include "ir/ir.h"

/* The next number below n of a sequence. */
int64_t random_below(uint64_t *random, int64_t n);
/* Fills an array whose elements have no facts; what is drawn follows from how its name begins. */
void values_fill(const struct array *array, void *data, int64_t n, uint64_t *random);

#endif
