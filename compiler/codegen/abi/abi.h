/* SPDX-License-Identifier: MIT
 *
 * What stands around kernels in a generated file: the descriptor that the runtime reads, and the functions of the
 * header. One section for each file. */
#ifndef PMGC_CODEGEN_ABI_ABI_H
#define PMGC_CODEGEN_ABI_ABI_H

#include "codegen/codegen_private.h"

/* ---- abi.c ---------------------------------------------------------------------------------------------- */

void emit_header_of(struct writer *w, const struct layout *layout);
typedef VEC(const char *) field_list;

/* Of a row: what stands between its commas. */
void add_field(struct arena *arena, field_list *fields, const char *format, ...) PRINTF_LIKE(3, 4);
void emit_fields(struct writer *w, const field_list *fields);   /* in lines, each with a comma at its end */
void emit_param_table(struct writer *w, const struct layout *layout);
/* A macro of the rows of arguments, where all candidates have the same but for lanes; it is noted in the layouts. */
void emit_shared_arguments(struct writer *w, struct layout *const *layouts, int n, const struct target *target);
void emit_array_table(struct writer *w, const struct layout *layout, const struct target *target);
const char *children_row(const struct layout *layout, int number);
void emit_children_table(struct writer *w, const struct layout *layout, const struct target *target);
/* The function that writes extents that are no parameter plus a constant. */
void emit_extents(struct writer *w, const struct layout *layout, const struct target *target);
void emit_assumption(struct writer *w, const struct layout *layout, const struct target *target);
void emit_functions(struct writer *w, const struct layout *layout);
/* Declares the parameters, which come from `args` unless their value is known here. */
void add_params(struct k_builder *b, const struct layout *layout, bool is_specialized);
/* A function of the descriptor, which takes `const void *arguments`: its body is built after `table_body_open`, and
 * printed behind what it reads of the arguments. `last` is a line behind it, or NULL. */
struct emit emit_for_table(const struct layout *layout, const struct target *target);
struct k_block *table_body_open(struct emit *e);
void table_function_print(struct writer *w, const struct emit *e, const char *head, const struct k_block *body,
			  const char *last);

/* ---- restructuring.c --------------------------------------------------------------------------------- */

/* Restructurings read it, and no kernel does. */
bool array_is_for_inspection(const struct module *module, const struct array *array);
void emit_restructuring_table(struct writer *w, const struct layout *layout, const struct target *target);
void emit_branches_table(struct writer *w, const struct layout *layout, const struct target *target);
void emit_chunks_table(struct writer *w, const struct layout *layout, const struct target *target);

/* ---- description.c ---------------------------------------------------------------------------------- */

/* A pipeline to be printed, with its candidates, itself first. A candidate whose kernels are those of an earlier one is
 * left out. */
struct pipeline {
	struct layout **layouts;
	struct k_program *programs;
	int n;
	bool all_isas;
};

/* The kernels of all candidates; then all that describes them, and the functions of the pipeline. */
void emit_kernels(struct writer *w, const struct pipeline *pipeline, const struct target *target);
void emit_pipeline(struct writer *w, const struct pipeline *pipeline, const struct target *target);
/* Kernels of a device as a string, and what the plan's device part is made of. */
void emit_kernel_text(struct writer *w, const struct pipeline *pipeline, const struct target *target);
/* That the kernels are in another file. */
void emit_kernel_names(struct writer *w, const struct pipeline *pipeline);

/* ---- work.c -------------------------------------------------------------------------------------------- */

/* Rows of the table PREFIX_work: stages, and copies of threads; the function PREFIX_count, which writes numbers of
 * points that are no products of sizes. */
int n_of_work(const struct module *module);
void emit_work_table(struct writer *w, const struct layout *layout, const struct target *target);
void emit_count(struct writer *w, const struct layout *layout, const struct target *target);
/* The sizes that the candidate is meant for, as a field of its description: one of some has to be long enough; "": any,
 * or what a function tells. */
const char *least_field(const struct layout *layout);
void emit_suits(struct writer *w, const struct layout *layout, const struct target *target);

/* ---- candidates.c -------------------------------------------------------------------------------------- */

/* `prefixes` are the C names that are taken. false: there are no kernels for the pipeline. */
bool pipeline_open(struct pipeline *pipeline, struct module *module, bool all_isas, struct names *prefixes,
		   const struct target *target, const struct kernel_watch *watch);

#endif
