/* SPDX-License-Identifier: MIT
 *
 * A program whose kernels run as trees, on random sizes and data, beside the interpreter of modules. */
#ifndef PMGC_TESTS_KERNEL_TRIAL_H
#define PMGC_TESTS_KERNEL_TRIAL_H

#include "kernel/host.h"
#include "random/build.h"

/* The kernels of a pipeline or candidate at one place of the lowerings. */
struct trial_tree {
	const char *pipeline, *choice;  /* NULL: the pipeline itself */
	int lowering;                   /* behind this one; K_BUILT */
	struct k_program *program;      /* a copy, of the caller */
};

struct trial {
	const char *folder, *file, *flags;
	bool is_for_device;
	bool is_optimised;              /* what compilers make of kernels; else those of a device are left out */
	struct arena arena;             /* of the file */
	VEC(struct trial_tree) trees;   /* one that a lowering leaves as it was is not there again */
	int n_shown;                    /* trees, those that are left out with them */
	struct variant variant;         /* its compiler, if that is set: "opencl" */
	struct compilation *modules;    /* for their interpreter */
	struct compilation *compiled;   /* whose texts trees name */
};

/* Compiles trial->file, of which the first fields are set, and keeps its kernels as built and behind each lowering;
 * false after telling why. `number` tells the files of a folder apart. */
bool trial_open(struct trial *trial, int number);
void trial_close(struct trial *trial);

/* A pipeline as compiled, 0, or the candidate of this number; NULL: there is none. */
const pmg_pipeline_desc *trial_candidate(const struct trial *trial, const struct module *module, int number);
/* Its trees from the first, as built; NULL: there are no more. */
const struct trial_tree *trial_tree(const struct trial *trial, const pmg_pipeline_desc *desc, int number);
/* As it is printed. */
const struct trial_tree *trial_last_tree(const struct trial *trial, const pmg_pipeline_desc *desc);
const char *trial_tree_name(const struct trial_tree *tree);     /* of the lowering */

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
struct trial_result trial_run(const struct trial_tree *tree, const pmg_pipeline_desc *desc, const struct drawn *drawn,
			      struct hosted hosted, struct arena *arena);
/* What the C compiler made of it, if that was not left out. */
bool trial_has_code(const struct trial *trial);
struct trial_result trial_run_code(const struct trial *trial, const pmg_pipeline_desc *desc,
				   const struct drawn *drawn, struct arena *arena);

#endif
