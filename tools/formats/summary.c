/* SPDX-License-Identifier: MIT
 *
 * What is told of an array in a table: extremes, sum, and how much of it is not a number. */
#include "formats/formats.h"

#include <math.h>

struct summary ndarray_summary(const struct ndarray *array)
{
	struct summary s = { .n = ndarray_count(array), .min = INFINITY, .max = -INFINITY };
	long double sum = 0;
	for (int64_t i = 0; i < s.n; i++) {
		double value = ndarray_real(array, i);
		s.n_nan += isnan(value) != 0;
		s.n_infinite += isinf(value) != 0;
		s.n_zero += value == 0;
		if (!isfinite(value))
			continue;
		s.min = fmin(s.min, value);
		s.max = fmax(s.max, value);
		sum += (long double) value;
	}
	s.sum = (double) sum;
	return s;
}
