/* SPDX-License-Identifier: MIT
 *
 * A kernel that is interpreted where the runtime calls it: the plan has bound and checked everything, and takes care of
 * what comes behind. */
#ifndef PMGC_TESTS_KERNEL_HOST_H
#define PMGC_TESTS_KERNEL_HOST_H

#include "kernel/run.h"
#include "pmgrt_generated.h"

struct hosted {
	const struct k_program *program;
	const char *function;           /* the kernel */
	const pmg_pipeline_desc *desc;
	int threads, vector_bytes;
	int64_t most_statements;
	struct arena *arena;
	void (*visit)(void *user, const struct k_stmt *stmt);   /* with this structure; NULL */
	void *user;
	pmg_plan *plan;
	const void *args;
	struct k_run_result result;
};

/* Makes a plan, executes it with this kernel; NULL, or what the runtime says is wrong. */
const char *hosted_run(struct hosted *hosted, const void *args);

#endif
