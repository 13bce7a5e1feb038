/* SPDX-License-Identifier: MIT
 *
 * The families of `pmg bench`. */
#ifndef BENCH_FAMILIES_H
#define BENCH_FAMILIES_H

#include "cli/cli.h"

extern const struct command bench_life_command;                      /* life/life.c */
extern const struct command bench_hines_command, bench_tri_command; /* systems/systems.c */

#endif
