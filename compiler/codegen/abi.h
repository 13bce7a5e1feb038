/* SPDX-License-Identifier: MIT
 *
 * What stands around kernels in a generated file: the descriptor that the runtime reads, and the functions of the
 * header. One section for each file. */
#ifndef PMGC_CODEGEN_ABI_H
#define PMGC_CODEGEN_ABI_H

#include "codegen/codegen_private.h"

/* ---- abi.c ---------------------------------------------------------------------------------------------- */

void emit_header_of(struct writer *w, const struct layout *layout);
void emit_param_table(struct writer *w, const struct layout *layout);
void emit_array_table(struct writer *w, const struct layout *layout, const struct target *target);
void emit_children_table(struct writer *w, const struct layout *layout, const struct target *target);
void emit_extents(struct writer *w, const struct layout *layout, const struct target *target);
void emit_assumption(struct writer *w, const struct layout *layout, const struct target *target);
void emit_functions(struct writer *w, const struct layout *layout);
/* Lines that declare the parameters which `body` mentions, read from `args` unless their value is known here. */
void emit_params(struct writer *w, const struct layout *layout, const char *body, bool is_specialized);
bool needs_args(const struct layout *layout, const char *body, bool is_specialized);
/* Where a function takes `const void *arguments`: as the pipeline's own, with those lines, or as unused. */
void emit_arguments(struct writer *w, const struct layout *layout, const char *body);

/* ---- abi_restructuring.c --------------------------------------------------------------------------------- */

/* Restructurings read it, and no kernel does. */
bool array_is_for_inspection(const struct module *module, const struct array *array);
void emit_restructuring_table(struct writer *w, const struct layout *layout, const struct target *target);
void emit_branches_table(struct writer *w, const struct layout *layout, const struct target *target);

/* ---- abi_description.c ---------------------------------------------------------------------------------- */

/* `layouts` are those of the candidates of a pipeline, the first of which is the pipeline itself: their kernels, then
 * all that describes them, and the functions of the pipeline. */
bool emit_kernels(struct writer *w, struct layout *const *layouts, int n, const struct target *target);
void emit_pipeline(struct writer *w, struct layout *const *layouts, int n, const struct target *target);
/* That the kernels are in another file. */
void emit_kernel_names(struct writer *w, struct layout *const *layouts, int n);

/* ---- work.c -------------------------------------------------------------------------------------------- */

/* The tables PREFIX_work and PREFIX_count, for a module with stages. */
/* Rows of its table: stages, and copies of threads. */
int n_of_work(const struct module *module);
void emit_work(struct writer *w, const struct layout *layout, const struct target *target);
/* Is the candidate not meant for some sizes? The function that tells which. */
bool has_unfit_sizes(const struct layout *layout);
void emit_suits(struct writer *w, const struct layout *layout, const struct target *target);

/* ---- candidates.c -------------------------------------------------------------------------------------- */

/* A pipeline to be printed. Candidates whose kernel would be that of an earlier one are left out. */
struct pipeline {
	struct layout **layouts;        /* of its candidates, the pipeline itself first */
	int n;
};

/* `prefixes` are the C names that are taken. */
void pipeline_open(struct pipeline *pipeline, struct module *module, bool all_isas, struct names *prefixes,
		   const struct target *target);

#endif
