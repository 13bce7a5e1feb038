/* SPDX-License-Identifier: MIT
 *
 * One compilation: text -> syntax tree -> modules -> passes -> target text. For the command line (driver/main.c), the
 * tools that compile in process, and the tests. */
#ifndef PMGC_DRIVER_PIPELINE_H
#define PMGC_DRIVER_PIPELINE_H

#include "codegen/target.h"
#include "driver/tree_files.h"
#include "passes/pass.h"
#include "sema/sema.h"
#include "syntax/tree.h"

enum { LOWERED = -1 };                  /* the number of a pass before the first one */

/* What a lowering decided about the kernels of a module. */
struct lowered_decision {
	struct module *module;
	struct k_decision decision;
};

/* Who looks on; a function may be NULL. */
struct compilation_watch {
	/* Called for each module as it was LOWERED, then after each pass; for dumps and timing. */
	void (*after_pass)(void *user, struct module *module, int pass, double seconds);
	/* Called with the kernels of each module, also of candidates, as they were built (K_BUILT), then after each
	 * lowering; NULL. */
	void (*after_lowering)(void *user, struct module *module, const struct k_program *program, int lowering);
	/* The same of a step that is no pass, of a pipeline or (NULL) of all. */
	void (*after_step)(void *user, const char *pipeline, const char *step, double seconds);
	void *user;
};

struct compilation {
	struct arena arena;
	struct sources sources;
	struct diags diags;
	isl_ctx *ctx;
	struct pass_options options;
	bool verify_each;
	const char *target;             /* "openmp", "cuda" */
	bool all_isas;                  /* kernels for several instruction sets in one file */
	bool line_directives;           /* generated files name the lines of the .pmg file */
	tree_reader *read_tree;         /* NULL: files of trees are not read */
	enum diag_format messages;
	const char *only;               /* the pipeline of the file that is compiled; NULL: all are */
	tree_stmts asked;               /* options.with and options.specialize, parsed */
	bool is_out_of_memory;
	char last_words[160];           /* how that is said, since it needs memory to say more */
	uint32_t file;
	struct tree_file *tree;         /* NULL when the input was a dump of a module */
	module_list modules;            /* one per pipeline of the file */
	module_list others;             /* of candidates */
	VEC(struct lowered_decision) lowered;   /* those that are yet to join the modules' */
	struct writer generated;        /* the C file, each line with its origin */
	const char *device_text;        /* the file of kernels; NULL: the target has none */
	struct compilation_watch watch;
};

double compilation_clock(void);                 /* seconds of processor time */

/* With the default options, but one way to compile each pipeline; NULL: no memory. */
struct compilation *compilation_new(void);
void compilation_free(struct compilation *c);

/* False: there is no such target. */
bool compilation_choose_target(struct compilation *c, const char *name);
const char *compilation_targets(void);          /* their names */
bool compilation_has_device(const struct compilation *c);       /* that the target's kernels run on */
/* Of the file with kernels for the target's device; NULL: there is none. */
const char *compilation_device_ending(const struct compilation *c);

/* Runs `step` with the arena's failures caught here; within another guard, too. False also when memory ran out. */
bool compilation_guard(struct compilation *c, bool (*step)(struct compilation *c, void *argument), void *argument);

/* Each step returns false once there are errors in c->diags; running out of memory is one of them. */
bool compilation_open(struct compilation *c, const char *path);         /* reads the text */
bool compilation_parse(struct compilation *c);                          /* text to tree */
bool compilation_lower(struct compilation *c);                          /* tree, or a dump (.ir), to modules */
bool compilation_read(struct compilation *c, const char *path);         /* the three together */
bool compilation_read_text(struct compilation *c, const char *name, const char *bytes); /* of a text, not of a file */
bool compilation_run_passes(struct compilation *c);                     /* every pass, verified, proved legal */
/* Marks the pivots of eliminations in a module that no pass has seen, so that the interpreter reports them; the limit
 * of isl's operations holds. False with a message, or without memory. */
bool compilation_find_pivots(struct compilation *c, struct module *module);
bool compilation_generate(struct compilation *c, const char *base, const char **c_text, const char **h_text);

bool compilation_calls_blas(const struct compilation *c);               /* generated code must be linked with one */
const char *compilation_libraries(const struct compilation *c);         /* all that it must be linked with, or "" */

const char *compilation_options_text(struct compilation *c);            /* all that is asked of passes */
const char *compilation_messages(struct compilation *c, bool remarks);  /* diagnostics, as c->messages says */
struct module *compilation_module(struct compilation *c, const char *pipeline); /* NULL name: the first one */

/* For candidates: appends the modules of the file, as they are before any pass, to c->others; takes one module through
 * the passes. What there is to say goes to the messages of the modules. */
bool compilation_lower_again(struct compilation *c, struct diags *diags);
bool compilation_run_passes_on(struct compilation *c, struct module *module, const struct pass_options *options);
/* The loops of its schedules, within the limit of isl's operations; false after a diagnostic. */
bool compilation_make_loops(struct compilation *c, struct module *module);

/* ---- lowered.c: kernels while they are lowered ---- */
struct kernel_watch compilation_watch(struct compilation *c);
void compilation_add_decisions(struct compilation *c);                  /* of lowerings to those of their modules */

/* ---- explain.c ---- */
const char *explain_text(struct compilation *c, const struct module *module);

#endif
