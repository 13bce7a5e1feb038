/* SPDX-License-Identifier: MIT
 *
 * Copies of batches in blocks. */
#ifndef BENCH_HANDTUNED_SYSTEMS_BLOCKS_H
#define BENCH_HANDTUNED_SYSTEMS_BLOCKS_H

#include "systems.h"

bool system_blocks_make(struct system_call *call);      /* false: no memory */
void system_blocks_free(struct system_blocks *blocks);

#endif
