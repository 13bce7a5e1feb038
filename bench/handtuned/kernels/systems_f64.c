/* SPDX-License-Identifier: MIT
 *
 * The kernels for systems of doubles. */
#define REAL double
#define PRECISION(name) name##_f64
#include "systems_flat.h"
#include "systems_interleaved.h"
#include "systems_forest.h"
#include "systems_transposed.h"
