/* SPDX-License-Identifier: MIT
 *
 * Running a kernel program as kernel.h says what it means, one node after the other, on the memory of a plan. Every
 * element carries who wrote it and who read it last, so that three mistakes are told that a result need not show: an
 * index outside of its buffer, a value that nobody has written, and two iterations of a concurrent loop that touch one
 * element with nothing between them. The first one ends the run. */
#ifndef PMGC_KERNEL_RUN_H
#define PMGC_KERNEL_RUN_H

#include "kernel/kernel.h"

/* Memory that a kernel reaches by plan->data. */
struct k_run_array {
	void *data;
	int64_t bytes;
	enum scalar_type type;          /* in which its elements are kept */
	bool is_const;                  /* the kernel may read it only */
	bool is_set;                    /* all of it has a value when the kernel begins */
	bool is_result;                 /* what nobody has written may not go there */
};

/* As pmg_place of the runtime: how many elements from block to block, row to row, lane to lane. */
struct k_run_place {
	int64_t block, row, lane;
	bool is_padded;
};

/* A number that goes into a call of the host, or comes out of it. */
struct k_run_number {
	bool is_float;
	int64_t integer;
	double real;
	const void *address;            /* of a pointer */
};

/* What the plan and the arguments hold, and what the runtime does beyond arithmetic. `user` is handed on. */
struct k_run_host {
	void *user;
	int threads;                    /* of a team; at least 1 */
	int vector_bytes;               /* PMG_VECTOR_BYTES: 16, 32 or 64 */
	int64_t most_statements;        /* a program that runs more of them is taken not to end; 0: any number */
	bool (*array)(void *user, int64_t number, struct k_run_array *array);
	bool (*size)(void *user, int64_t number, int64_t *size);
	bool (*place)(void *user, int64_t number, struct k_run_place *place);
	bool (*argument)(void *user, const char *name, struct k_run_number *value);
	/* false: there is no such function. A `result` that is not set is an integer, 0. */
	bool (*call)(void *user, const char *function, const struct k_run_number *args, int n,
		     struct k_run_number *result);
	/* Before each statement; NULL. */
	void (*visit)(void *user, const struct k_stmt *stmt);
};

enum k_run_end {
	K_RUN_WHOLE,                    /* to its end */
	K_RUN_FAULT,                    /* text: "function: statement: what is wrong" */
	K_RUN_UNKNOWN                   /* text: the call, type or name that cannot be run */
};

struct k_run_result {
	enum k_run_end end;
	const char *text;
	int64_t statements;             /* how many were run */
};

struct k_run_result k_run(const struct k_program *program, const char *function, const struct k_run_host *host,
			  struct arena *arena);

#endif
