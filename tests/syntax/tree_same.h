/* SPDX-License-Identifier: MIT
 *
 * Equality of syntax trees, but for the places they came from. */
#ifndef PMGC_TESTS_SYNTAX_TREE_SAME_H
#define PMGC_TESTS_SYNTAX_TREE_SAME_H

#include "syntax/tree.h"

bool tree_same_file(const struct tree_file *a, const struct tree_file *b);
bool tree_same_stmts(tree_stmts a, tree_stmts b);
bool tree_same_expr(const struct tree_expr *a, const struct tree_expr *b);

#endif
