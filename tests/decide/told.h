/* SPDX-License-Identifier: MIT
 *
 * Whether remarks tell of each loop that stays serial and of each two groups that are not fused. */
#ifndef TESTS_DECIDE_TOLD_H
#define TESTS_DECIDE_TOLD_H

#include "driver/pipeline.h"

struct told {
	int n;                          /* what has to be told, and is */
	struct str missing;             /* a row for each that is not, and for each remark that shows no pair */
};

/* Looks at a compilation whose passes have run. */
void told_check(struct compilation *c, struct told *told);

#endif
