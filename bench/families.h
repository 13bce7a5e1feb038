/* SPDX-License-Identifier: MIT
 *
 * The families of `pmg bench`. */
#ifndef BENCH_FAMILIES_H
#define BENCH_FAMILIES_H

#include "cli/cli.h"

extern const struct command bench_life_command; /* life/life.c */

#endif
