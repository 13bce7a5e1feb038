/* SPDX-License-Identifier: MIT
 *
 * Sentences of --explain, each compared with the kernel tree of its pipeline. */
#ifndef TESTS_DECIDE_SENTENCES_H
#define TESTS_DECIDE_SENTENCES_H

#include "driver/pipeline.h"
#include "tree.h"

struct sentence {
	const struct tree *tree;
	const struct module *module;
	const struct decision *decision;
	bool is_device;
};

/* NULL: the tree has what the sentence says; else what it lacks. *is_checked: false for kinds that are excused. */
const char *sentence_fault(const struct sentence *sentence, bool *is_checked);
/* The other way round: what the tree has and no decision says; NULL. */
const char *untold_in(const struct tree *tree, const struct module *module, int node);
/* How many rows of decisions.def have neither a check nor a reason why there is none. */
int sentences_without_check(void);

#endif
