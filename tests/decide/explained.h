/* SPDX-License-Identifier: MIT
 *
 * Is what --explain says of a compilation what was generated? */
#ifndef TESTS_DECIDE_EXPLAINED_H
#define TESTS_DECIDE_EXPLAINED_H

#include "driver/pipeline.h"
#include "kernel/kernel.h"

struct explained_kernels {
	const struct module *module;
	struct k_program program;
};

struct explained {
	struct compilation *c;
	VEC(struct explained_kernels) kernels;
	const char *path;
	int passed, failed, excused;
};

/* Before kernels are generated: their trees are kept. */
void explained_watch(struct explained *explained, struct compilation *c, const char *path);
/* Compares them with the decisions, and counts. */
void explained_check(struct explained *explained);

#endif
