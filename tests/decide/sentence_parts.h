/* SPDX-License-Identifier: MIT
 *
 * What a sentence names, found in the module and in the tree. */
#ifndef TESTS_DECIDE_SENTENCE_PARTS_H
#define TESTS_DECIDE_SENTENCE_PARTS_H

#include "sentences.h"

typedef bool node_test(const struct sentence *s, int node, const char *name);

/* The n-th name in quotes of what was chosen and why; NULL: it has fewer. */
const char *sentence_quoted(const struct sentence *s, int n);
int sentence_number(const struct sentence *s);          /* the first number of what was chosen; -1 */
const struct k_stmt *sentence_stmt(const struct sentence *s, int node);
const char *sentence_fail(const struct sentence *s, const char *format, ...);

/* Of a statement of the group, or to the array, of this name; or of all of the group. */
bool group_has_span(const struct module *module, const char *group, struct span span);
/* The name of a variable of the .pmg text in C. */
const char *stem_of_dim(const struct sentence *s, const char *dim);
/* The name of an array in the tree; its last member where the module has none of the name. */
const char *c_name_of(const struct sentence *s, const char *array);
/* Memory of this name: a pointer that a function has as a parameter or takes from the plan; not of blocks. */
bool tree_has_buffer(const struct tree *tree, const char *c_name);

/* Is there a node from first on, below end, that passes the test with this name? Its number; -1. */
int find_node(const struct sentence *s, int first, int end, node_test *test, const char *name);
int find_anywhere(const struct sentence *s, node_test *test, const char *name);
/* The next one around that passes; -1. */
int find_around(const struct sentence *s, int node, node_test *test, const char *name);
int find_inside(const struct sentence *s, int node, node_test *test, const char *name);

/* Tests. */
bool is_loop_of_subject(const struct sentence *s, int node, const char *dim);   /* over this variable */
bool is_loop_over(const struct sentence *s, int node, const char *dim);         /* of any group */
bool is_shared_loop(const struct sentence *s, int node, const char *dim);       /* of the subject, or its parts are */
bool is_shared(const struct sentence *s, int node, const char *name);
/* In vectors; of a device also one whose iterations neighbouring lanes have. */
bool is_of_lanes(const struct sentence *s, int node, const char *dim);
bool is_atomic_on(const struct sentence *s, int node, const char *c_name);
bool is_store_to(const struct sentence *s, int node, const char *c_name);
bool is_call_named(const struct sentence *s, int node, const char *prefix);
bool is_of_group(const struct sentence *s, int node, const char *group);
bool mentions(const struct sentence *s, int node, const char *c_name);

#endif
