/* SPDX-License-Identifier: MIT
 *
 * What one does with a module (ir/module.h): relations for isl, checks, dependences, dumps, interpretation. */
#ifndef PMGC_IR_IR_H
#define PMGC_IR_IR_H

#include <isl/aff.h>
#include <isl/id.h>
#include <isl/local_space.h>
#include <isl/map.h>
#include <isl/set.h>
#include <isl/space.h>
#include <isl/union_set.h>
#include <isl/val.h>

#include "ir/module.h"

/* ---- access.c: affine expressions as isl objects ------------------------------ */

/* { S[D] -> [e] } over the dims of `stage`; NULL when `expr` is not affine. With stage NULL: over params alone. */
__isl_give isl_pw_aff *expr_pw_aff(const struct module *module, const struct stage *stage, const struct expr *expr);
__isl_give isl_set *expr_set(const struct module *module, const struct stage *stage, const struct expr *condition);
/* { S[D] -> A[subscripts] } for the points of the domain. LOCAL: { S[D] -> A[common dims] }. */
__isl_give isl_map *access_map(const struct module *module, const struct stage *stage, const struct access *access);
/* [params] -> { A[i] : lo <= i < hi } */
__isl_give isl_set *array_box(const struct module *module, const struct array *array);
bool stage_is_in_loop(const struct module *module, const struct stage *stage);
/* lo <= it < hi, as a condition on the parameters, in a module with a loop. */
__isl_give isl_set *loop_set(const struct module *module);
/* { S[D] }: what the ranges of the first `n` dims allow, and the facts of what they read, whatever the condition. */
__isl_give isl_set *stage_points(const struct module *module, const struct stage *stage, int n);
/* Above all that an index is. */
#define INDEX_ANY ((int64_t) 1 << 62)
/* The domain, in which dims that are bound to a computed index have any value below INDEX_ANY: what loops run over. */
__isl_give isl_set *stage_loops(const struct module *module, const struct stage *stage);
/* Of the condition of the loop, as a stage without dims: its iterations, at the beginning of which it is asked. */
__isl_give isl_set *until_domain(const struct module *module, const struct stage *until);
/* What is in `set` in some iteration of the loop. */
__isl_give isl_set *set_of_iterations(const struct module *module, __isl_take isl_set *set);
/* `map`, of a stage in the loop, for an iteration in which the loop's variable is `name`. */
__isl_give isl_map *map_in_iteration(const struct module *module, __isl_take isl_map *map, const char *name);
/* The integer; INT_MAX where it is none (not known, without bounds), or too large. */
int64_t val_integer(__isl_take isl_val *val);
/* Sets module->context, each stage's domain. */
void module_analyse(struct module *module);
/* Where isl gave up, if it did so now: at the statement at `span`. */
void module_note_quota(struct module *module, struct span span);
/* There are sizes with which all assumptions hold; an error at the first that leaves none. */
bool module_check_assumptions(struct module *module);
/* The stage of an instance tuple. */
struct stage *stage_of_id(__isl_take isl_id *id);

/* ---- isl/idle_sizes.c: which sizes play a part, by number of param --------------------------- */

/* Notes the params of an expression, of what a domain is made of, of the range of the loop. */
void sizes_of_expr(const struct expr *expr, bool *are_used);
void sizes_of_domain(const struct stage *stage, bool *are_used);
void sizes_of_loop(const struct module *module, bool *are_used);
/* Those of a stage, of the arrays that it uses, and what assumptions tie to them. */
bool *sizes_of_stage(const struct module *module, const struct stage *stage);
/* Is an assumption about sizes that are used? NULL: all are. */
bool sizes_are_tied(const struct expr *assumption, const bool *are_used);

/* ---- axioms.c: what index arrays promise ---------------------------------------- */

/* The pairs { S[D] -> T[E] } that no data can make real, from the facts of the arrays bound in both. */
__isl_give isl_map *axioms_impossible(const struct module *module, const struct stage *a, const struct stage *b);
/* The same with `b` in an iteration of the loop in which its variable is `name`; computed arrays, which may be others
 * there, promise nothing. */
__isl_give isl_map *axioms_impossible_apart(const struct module *module, const struct stage *a, const struct stage *b,
					    const char *name);

/* ---- deps.c -------------------------------------------------------------------- */

/* Computes the dependences of a region from the textual order (memory-based, axioms subtracted). */
bool region_dependences(struct module *module, struct region *region);
/* Takes those of `other`, which has the same groups, for all regions; false: it lacks some. */
bool module_copy_dependences(struct module *module, const struct module *other);
/* Finds the direction of each dim of each recurrence; error with a witness where there is none. */
bool module_order_recurrences(struct module *module);

/* ---- update.c ------------------------------------------------------------------ */

/* "reduce v[i] += dt*m[i] for i in 0..n;" of `v[i] = v[i] + dt*m[i] for i in 0..n;`; NULL: the statement is none of
 * that form. */
const char *stage_update_text(const struct module *module, struct stage *stage);

/* ---- witness.c: counterexamples in the words of the program ------------------------- */

/* What is shown of a relation: without params that play no part in it, and for sizes of at least 2, or 1, where
 * it has such. */
__isl_give isl_map *witness_relation(const struct module *module, __isl_take isl_map *map);
__isl_give isl_set *witness_sizes(const struct module *module, __isl_take isl_set *sizes);
/* Of the points `bad` of `all` at which an access of `stage` goes wrong: without the dims and params that do not
 * matter, and on which neither its subscripts nor the extents of the array depend. */
__isl_give isl_map *witness_of_access(const struct module *module, const struct stage *stage,
				      const struct access *access, __isl_take isl_map *all, __isl_take isl_map *bad);
/* The lexicographically smallest point of { [params, D, ...] }; the values at it of one dim. */
__isl_give isl_point *witness_smallest(__isl_keep isl_map *map);
long witness_value(__isl_keep isl_map *map, __isl_keep isl_point *point, enum isl_dim_type type, unsigned dim);
/* "n = 2, m = 1"; "i = 1, row[i] = 0" of the first `n` dims of `stage`, which are those of `type` from `first` on. */
const char *witness_params(struct module *module, __isl_keep isl_map *map, __isl_keep isl_point *point);
const char *witness_dims(struct module *module, const struct stage *stage, int n, __isl_keep isl_map *map,
			 __isl_keep isl_point *point, enum isl_dim_type type, unsigned first);
/* ", when i = 7, n = 8" of a smallest point of { [params] -> [D, ...] }. */
const char *witness_text(struct module *module, const struct stage *stage, __isl_keep isl_map *pairs,
			 __isl_keep isl_point *point);
/* What is read from an index array goes by that, not by the name of the hidden dim. */
const char *dim_title(const struct module *module, const struct stage *stage, int number);
/* The name in the program: "next x" of the array for the next values of x. */
const char *array_title(struct arena *arena, const struct array *array);

/* ---- bounds.c: proofs on accesses -------------------------------------------------- */

/* Every affine access stays inside its array, every cell is defined at most once, an `out` is defined:
 * errors with a witness. */
bool module_check_accesses(struct module *module);

/* ---- possible.c ---------------------------------------------------------------------- */

/* The pairs for sizes that arguments can have. */
__isl_give isl_map *map_with_possible_sizes(const struct module *module, __isl_take isl_map *bad);
/* Is there no such pair for any data that can exist? Then they are freed. */
bool is_impossible(const struct module *module, isl_map **bad);

/* ---- single_definition.c ------------------------------------------------------------------------ */

/* Errors for the cells that may be defined twice. */
void module_check_single_definition(struct module *module);

/* ---- ranges.c --------------------------------------------------------------------- */

/* Warns of ranges that are empty for all sizes of at least 1. */
void module_check_ranges(struct module *module);

/* ---- starts.c: what a run that goes on does not compute again -------------------------- */

/* By number of array: lives on from one iteration to the next. */
bool *module_carried(const struct module *module);
/* The same, and what is computed before the loop for such arrays alone. */
bool *module_set_at_start(const struct module *module);

/* ---- outputs.c ----------------------------------------------------------------- */

/* Every cell of an `out` with affine definitions is defined: errors with the smallest cell that is not. */
bool module_check_outputs(struct module *module);

/* ---- verify.c ------------------------------------------------------------------ */

/* The module's invariants, as a list of small named checks; violations are internal errors naming `pass`. */
bool module_verify(struct module *module, const char *pass);

/* ---- print.c, read.c -------------------------------------------------------------- */

/* The module as text (format in docs/ir.md), schedules included once there are any; what read.c reads. */
const char *module_text(struct module *module, struct arena *arena);
/* What runs, without how it was decided, schedules as isl prints them: that takes isl much less time. */
const char *module_draft(struct module *module, struct arena *arena);
/* Are these drafts of the same, for isl may print it in several ways? */
bool module_drafts_agree(struct module *module, const char *a, const char *b);
/* Reads one module; diagnostics and NULL when the text is wrong. */
struct module *module_read(struct arena *arena, struct diags *diags, isl_ctx *ctx, uint32_t file);
/* Reads lines of the format into `module`: what they declare is added to it, groups at the end of `region`. False
 * after a diagnostic. */
bool module_read_part(struct module *module, enum region_kind region, const char *name, const char *text);
/* As it is read. */
const char *expr_exact_text(struct arena *arena, const struct module *module, const struct stage *stage,
			    const struct expr *expr);
const char *expr_text(struct arena *arena, const struct module *module, const struct stage *stage,
		      const struct expr *expr);
const char *access_text(struct arena *arena, const struct module *module, const struct stage *stage,
			const struct access *access);
const char *module_dot(struct module *module, struct arena *arena);     /* arrays and groups for graphviz */

/* ---- interp.c: the reference interpreter ------------------------------------------- */

/* A dense row-major value of the caller, of the array's type (index arrays: any integer type). */
struct interp_array {
	const struct array *array;
	enum scalar_type type;
	void *data;
	int64_t shape[8];
};

/* Where an error lies. */
enum interp_fault {
	INTERP_BOUND,                   /* in sizes and arrays of the caller */
	INTERP_COMPUTED,                /* in what the program computed from them */
	INTERP_MEMORY
};

/* In which arithmetic floats are computed. */
enum interp_arithmetic {
	INTERP_WORKING,                 /* that of the program; sums and products in extended precision */
	INTERP_FINE,                    /* extended precision throughout; rounded where the caller reads it */
	INTERP_PLAIN,                   /* that of the program, sums and products too */
	INTERP_SHAKEN                   /* as PLAIN, what is not exact moved at random by what it may be off */
};

/* What an expression that turns floats into integers or truth values has decided, in the order of the compilation. */
struct interp_decision {
	struct span span;
	uint64_t n, sum;                /* runs that decide alike have equal ones */
};

struct interp_decisions {
	VEC(struct interp_decision *) items;
};

struct interp_input {
	const int64_t *sizes;           /* by number of param; ignored for scalars */
	const double *scalars;          /* by number of param; ignored for sizes */
	VEC(struct interp_array) arrays;/* every argument of the module */
	int64_t max_iterations;         /* of the loop; negative: no limit */
	bool *is_stopped;               /* set when it is this limit that ends the loop; may be NULL */
	enum interp_fault *fault;       /* set when there is an error; may be NULL */
	bool checks_finite;             /* what is computed: states and `inout` behind each iteration, all at the end */
	enum interp_arithmetic arithmetic;
	uint64_t seed;                  /* of SHAKEN */
	struct interp_decisions *decisions;     /* receives them, in arena memory; may be NULL */
};

/* How much is behind a cell, as a scale for its error (ir/interp/magnitude.c): of sums that of |terms|, and how many
 * operations led there, one after the other. */
struct interp_weight {
	double magnitude, terms;
	int64_t iteration;              /* of the loop, from 1; 0: before it */
};

/* Runs the module as written: textual order, every subscript checked, sums in extended precision, facts of bound
 * arrays checked; no isl, no pass. Outputs are written into the callers' arrays. On a user error (index out of
 * range, fact, ill-founded recurrence, overflow of index arithmetic) the message is returned, NULL otherwise.
 * `weights`, if not NULL, receives for each argument array of floats that is computed (by number, else NULL) those of
 * its cells, in arena memory; arithmetic is WORKING then. */
const char *module_interpret(struct module *module, struct arena *arena, const struct interp_input *input,
			     struct interp_weight **weights);

#endif
