/* SPDX-License-Identifier: MIT
 *
 * Sums of expressions, as which subscripts, bounds and conditions are computed, compared and printed. */
#ifndef PMGC_KERNEL_AFFINE_H
#define PMGC_KERNEL_AFFINE_H

#include "kernel/kernel.h"

/* constant + sum of factor * atom. An atom is a name, a call, a product, or stands in parentheses. */
struct term {
	struct k_expr *atom;
	int64_t factor;
};

struct affine {
	int64_t constant;
	VEC(struct term) terms;
};

struct affine affine_constant(int64_t constant);
struct affine affine_atom(struct arena *arena, struct k_expr *atom);
struct affine affine_name(struct arena *arena, const char *name);
struct affine affine_term(struct arena *arena, struct k_expr *factor);                   /* a product or quotient */
struct affine affine_product(struct arena *arena, struct k_expr *a, struct k_expr *b);   /* one term */
/* a*x + b*y */
struct affine affine_combine(struct arena *arena, int64_t a, const struct affine *x, int64_t b,
			     const struct affine *y);
struct affine affine_scale(struct arena *arena, const struct affine *x, int64_t factor, int64_t add);
bool affine_is_constant(const struct affine *affine, int64_t *value);
/* The name that is all of the value; NULL. */
const char *affine_only_name(const struct affine *value);
/* The same of a value that is a name plus a constant. */
const char *affine_offset_name(const struct affine *value);
bool term_is_name(const struct term *term, const char *name);
bool affine_is_equal(struct arena *arena, const struct affine *a, const struct affine *b);
bool affine_is_never_negative(const struct affine *affine);     /* whatever non-negative values its names have */
struct k_expr *affine_expr(struct arena *arena, const struct affine *affine);
/* `left op right` with op one of == != < <= > >=, without negative terms. */
struct k_expr *affine_comparison(struct arena *arena, const struct affine *left, enum k_op op,
				 const struct affine *right);
/* What an expression of the kernel tree says. What stands in parentheses is an atom. */
struct affine affine_of(struct arena *arena, struct k_expr *expr);
/* `in` with `value` in the place of an atom. */
struct affine affine_with(struct arena *arena, const struct affine *in, const struct k_expr *atom,
			  const struct affine *value);

/* ---- cut.c ---- */

struct cut {                            /* a range in parts */
	struct affine first, end;
	struct k_expr *n_parts;
	int64_t chunk;                  /* iterations of which a part has all or none; 0: any */
};

/* Where a part begins: FIRST + PART*LENGTH/PARTS, or whole chunks behind FIRST near to that; where it ends. */
struct k_expr *cut_begin(struct arena *arena, const struct cut *cut, const char *part);
struct k_expr *cut_end(struct arena *arena, const struct cut *cut, const char *part);

#endif
