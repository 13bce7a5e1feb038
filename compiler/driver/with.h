/* SPDX-License-Identifier: MIT
 *
 * What is asked for with a program on the command line. */
#ifndef PMGC_DRIVER_WITH_H
#define PMGC_DRIVER_WITH_H

#include "driver/pipeline.h"

/* Adds c->options.with and c->options.specialize to the pipelines of the tree. */
void with_add(struct compilation *c);
/* An error for each item that no pipeline was meant by, after lowering. */
void with_check(struct compilation *c);

#endif
