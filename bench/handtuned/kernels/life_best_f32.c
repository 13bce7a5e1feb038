/* SPDX-License-Identifier: MIT
 *
 * The best version with D, factors and the sums of a voxel in single precision; values, weights and results are
 * double. */
#define REAL float
#define NAME(name) name##_f32
#define ROWS(layout) (layout)->D_f32
#define ROW(layout) (layout)->row_f32

#include "best_rows.h"
