/* SPDX-License-Identifier: MIT */
#ifndef TOOLS_HINES_TREE_FILE_H
#define TOOLS_HINES_TREE_FILE_H

#include "driver/tree_files.h"

/* Of a SWC file, as `pmg import swc FILE` makes nodes of it without options. */
tree_reader tree_file_read;

#endif
