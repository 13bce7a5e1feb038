/* SPDX-License-Identifier: MIT
 *
 * Operations of the BLAS, recognised from what a nest of loops computes: the subscripts of its accesses and the product
 * that it adds. A nest is one stage below the loops that the call stands for, or a sum in a LOCAL array of its group:
 *     for i, j { sum = 0; for l { sum += A[i,l]*B[l,j]; } C[i,j] = sum; }
 * Matrices are row-major with a leading dimension, transposed or not; vectors have any positive stride. A scale factor
 * is whatever the loops do not change. What takes the sum to its target may add to it: C[i,j] = beta*D[i,j] + alpha*sum
 * with any element that steps with the loops, of another array or C[i,j] itself. */
#ifndef PMGC_IR_BLAS_H
#define PMGC_IR_BLAS_H

#include "ir/ir.h"

#include <isl/schedule_node.h>

enum blas_kind {
#define BLAS(id, text, level, work) BLAS_##id,
#include "ir/match/blas.def"
#undef BLAS
	BLAS_N
};

/* What a schedule tree, or isl's AST of it, has below the mark of a call. */
struct blas_nest {
	const struct stage *stage;      /* that adds, or copies */
	const struct stage *last;       /* that takes the sum to its target; NULL */
	int dims[3];                    /* of `stage`, the loops that the call stands for */
	int n_dims;
	bool is_shared;                 /* a loop among them is PARALLEL */
};

/* A vector has a row only. `column` of a matrix that is not transposed has stride one. */
struct blas_operand {
	const struct access *access;
	int row, column;
	bool is_transposed;
};

/* beta * D, which is added to the product; `access` is NULL where nothing is. */
struct blas_addend {
	const struct access *access;    /* of `last` */
	const struct expr *beta;        /* NULL: 1 */
	bool is_negative;
};

struct blas_call {
	enum blas_kind kind;
	enum scalar_type type;
	struct blas_nest nest;
	int m, n, k;                    /* dims of the stage, as BLAS names them; -1 where it has none */
	struct blas_operand target, a, b;
	VEC(const struct expr *) factors, last_factors; /* alpha: factors of `stage`, and of `last` */
	bool is_negative;
	bool sets;                      /* the target is set, not added to */
	struct blas_addend addend;      /* only of a target that is set */
};

const char *blas_name(enum blas_kind kind);
int blas_level(enum blas_kind kind);
int64_t blas_work(enum blas_kind kind);         /* the least for which a call pays; 0: never */

/* The call that `nest` is; false where it is none. */
bool blas_match(struct module *module, const struct blas_nest *nest, struct blas_call *call);
/* The nest below a mark, or a stack of them; false where there are other loops, marks or stages. */
bool blas_nest_below(struct module *module, __isl_keep isl_schedule_node *node, struct blas_nest *nest);
/* May the call stand at this node? Not in a team, nor where its target is in registers or a thread's copy. */
bool blas_may_stand(__isl_keep isl_schedule_node *node, const struct blas_call *call);
/* The largest call in a group, as its loops stand in the text. */
bool blas_of_group(struct module *module, const struct group *group, struct blas_call *call);
/* The coefficient of the dim in a subscript, 0 where it is not in it; false where it is not linear. */
bool blas_coefficient(const struct expr *sub, int dim, int64_t *coefficient);
/* Is alpha a number? Otherwise it is asked at run time whether it is finite and not zero, see pmg_blas_scales. */
bool blas_alpha_is_known(const struct blas_call *call);
/* Is alpha zero, whatever the data? Then there is no call. */
bool blas_alpha_is_zero(const struct blas_call *call);

#endif
