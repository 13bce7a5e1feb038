/* SPDX-License-Identifier: MIT
 *
 * The kernels for systems of floats. */
#define REAL float
#define PRECISION(name) name##_f32
#include "systems_flat.h"
#include "systems_interleaved.h"
#include "systems_forest.h"
