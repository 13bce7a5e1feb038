/* SPDX-License-Identifier: MIT */
#ifndef PMGC_DRIVER_MAIN_H
#define PMGC_DRIVER_MAIN_H

#include "driver/tree_files.h"

/* The command pmgc: its exit status. */
int pmgc_main(int argc, char **argv, tree_reader *read_tree);

#endif
