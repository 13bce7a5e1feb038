/* SPDX-License-Identifier: MIT
 *
 * From modules to the text of a target. Everything but the printing of marks is shared by all targets: one skeleton
 * (loops.c, kernel.c, abi.c) walks isl's AST of each region's schedule tree; a target says how a loop that runs in
 * parallel and an update that may meet another are written. */
#ifndef PMGC_CODEGEN_TARGET_H
#define PMGC_CODEGEN_TARGET_H

#include "codegen/c_print.h"
#include "ir/schedule.h"
#include "kernel/lower/lower.h"

#define PMGC_VERSION "0.1.0"

struct emit;
struct loop_use;
struct update;
struct k_stmt;
struct cell;

/* What runs the kernels that GRID marks stand above, while the host starts them. */
struct device {
	const char *prefix;             /* of the names of its runtime: "pmg_cuda" */
	const char *ending;             /* of a file in C++ for kernels and what launches them; NULL: they are a text
					 * in the C file */
	const char *buffer;             /* the type by which the host names an array; NULL: a pointer to elements */
	const char *argument;           /* a macro around what the host hands to a kernel; NULL: nothing */
	const char *libraries;          /* that generated code is linked with, "-lOpenCL"; or NULL */
	bool has_few_teams;             /* there may be more iterations of a shared loop than teams */
	bool records;                   /* its runtime may run a pass again, to record what is started */
	/* The call, true in one thread, which then has in the variable what all have accumulated. */
	struct k_expr *(*grid_sum)(struct emit *e, const struct cell *cell);
};

struct target {
	const char *name;
	enum c_spelling spelling;       /* of what runs its kernels */
	const struct device *device;    /* NULL: the host runs them */
	/* Marks that this target can print; any other is an internal error that names mark and target. */
	bool prints[MARK_N];
	bool swaps;                     /* arrays may change places between iterations of the loop */
	bool has_hints;                 /* kernels may prefetch, and store non-temporally */
	bool shares_bodies;             /* candidates call one function for what they have in common */
	bool orders_extremes;           /* of zeros of both signs, the same one is the least in any order of updates */
	/* At the head of the file, behind the includes. */
	void (*file_head)(struct writer *w);
	/* Says of a loop how threads and lanes share it, as its PARALLEL or VECTOR marks ask; NULL: it does not, but
	 * opens another loop. */
	void (*share)(struct emit *e, struct k_stmt *loop, const struct loop_use *use);
	/* Opens a block that every thread runs, e->threads.in_region being true inside; NULL: it has no teams of
	 * threads that each run a whole loop. */
	void (*open_team)(struct emit *e);
	/* An update below an ATOMIC mark. */
	void (*atomic_update)(struct emit *e, const struct update *update);
};

const struct target *target_find(const char *name);     /* NULL: there is none */
const char *target_names(void);                         /* "openmp, cuda" */
struct k_target_facts target_facts(const struct target *target);        /* what lowerings may use */

/* Who looks on while the kernels of a module, or of a candidate, are lowered. */
struct kernel_watch {
	/* The kernels as they are built, K_BUILT, then after each lowering; NULL. */
	void (*see)(struct module *module, const struct k_program *program, int lowering, void *user);
	void (*decide)(struct module *module, const struct k_decision *decision, void *user);   /* NULL */
	/* What a pass decided is not done; NULL. */
	void (*take_back)(struct module *module, enum decision_kind kind, const char *subject, struct span span,
			  void *user);
	void *user;
};

/* What a .pmg file becomes: a C file, each line with its origin, its header, and the file of kernels for a device. */
struct generated {
	struct writer c_file;
	const char *h_text;
	struct writer device_file;      /* empty if the target has no such file */
};

/* All pipelines of a .pmg file; `base` is the name of the files without ending. With `all_isas`, kernels are compiled
 * for several instruction sets. The modules have schedules, proved legal. A watch may be NULL. */
bool target_generate(struct module **modules, int n, const struct target *target, bool all_isas, struct arena *arena,
		     const char *base, const struct kernel_watch *watch, struct generated *generated);

/* Does the code of a module call the BLAS, and must be linked with one? */
bool target_calls_blas(const struct module *module);

/* Makes the loops of all regions, which takes isl's operations, as many as the context allows for each nest; what
 * follows takes few. False: it made none, and module->given_up is the statement of a nest that took too many. */
bool target_make_loops(struct module *module);

/* The loops of all regions, as isl sees them: for --emit=loops. */
const char *target_loops_text(struct module *module, struct arena *arena);

/* The functions that compute it, as a dump of the kernel tree: for --emit=kernel. NULL: there are none; diagnostics of
 * the module say why. */
const char *target_kernel_text(struct module *module, const struct target *target, bool all_isas, struct arena *arena,
			       const struct kernel_watch *watch);

#endif
