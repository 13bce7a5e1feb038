/* SPDX-License-Identifier: MIT
 *
 * The best version in double precision. */
#define REAL double
#define NAME(name) name
#define ROWS(layout) (layout)->D
#define ROW(layout) (layout)->row

#include "best_rows.h"
