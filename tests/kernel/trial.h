/* SPDX-License-Identifier: MIT
 *
 * A program whose kernels run as trees, on random sizes and data, beside the interpreter of modules. */
#ifndef PMGC_TESTS_KERNEL_TRIAL_H
#define PMGC_TESTS_KERNEL_TRIAL_H

#include "kernel/host.h"
#include "random/build.h"

struct trial {
	struct arena arena;             /* of the file */
	const char *folder, *file, *flags, *text;
	struct k_program *program;
	struct variant variant;
	struct compilation *modules;    /* for their interpreter */
	const char *compiler;           /* as of a variant: "gcc", "device" (CUDA), "opencl" */
};

/* Compiles the file, for the descriptions of its pipelines, and quotes its kernels; false after telling why. */
bool trial_open(struct trial *trial, const char *folder, const char *file, const char *flags, int number);
/* The same for a device: `number` tells the files of a folder apart. */
bool trial_open_device(struct trial *trial, const char *folder, const char *file, const char *flags, int number);
/* For OpenCL, whose kernels are no functions of the C file: the trees are read from a dump. */
bool trial_open_opencl(struct trial *trial, const char *folder, const char *file, const char *flags, int number);
void trial_close(struct trial *trial);

/* A pipeline as compiled, 0, or the candidate of this number; NULL: there is none. */
const pmg_pipeline_desc *trial_candidate(const struct trial *trial, const struct module *module, int number);

/* One draw of sizes and data, and what the interpreter of modules makes of it. */
struct drawn {
	struct arena arena;
	uint64_t seed;
	struct binding_set set;
	void **expected;
	const char *stopped;            /* why it stops; NULL: it does not */
};

/* false: these sizes allow no data. */
bool drawn_make(struct drawn *drawn, struct module *module, uint64_t seed);
void drawn_free(struct drawn *drawn);
const char *drawn_sizes(const struct drawn *drawn, struct arena *arena);

enum trial_end { TRIAL_AGREES, TRIAL_DIFFERS, TRIAL_UNKNOWN };

struct trial_result {
	enum trial_end end;
	const char *text;               /* what is wrong; what cannot be run */
	bool is_fault;                  /* TRIAL_DIFFERS: told by the interpreter of kernels itself */
};

/* `hosted` brings what is to be visited, and how many statements there may be. */
struct trial_result trial_run(const struct trial *trial, const pmg_pipeline_desc *desc, const struct drawn *drawn,
			      struct hosted hosted, struct arena *arena);

#endif
