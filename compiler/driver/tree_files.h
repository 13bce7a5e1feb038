/* SPDX-License-Identifier: MIT
 *
 * `specialize T = "cell.swc";`: trees that are known when a program is compiled. What files of trees look like is not
 * the compiler's matter: who compiles says who reads them. */
#ifndef PMGC_DRIVER_TREE_FILES_H
#define PMGC_DRIVER_TREE_FILES_H

#include "support/support.h"

struct compilation;

/* The parents of the n > 0 nodes of a tree, in the arena: each before its children, -1 for a root. NULL, or what is
 * wrong with the file. */
typedef const char *tree_reader(struct arena *arena, const char *path, const int64_t **parents, int64_t *n);

/* Reads the files of all statements of c->tree by c->read_tree. */
void tree_files_read(struct compilation *c);

#endif
