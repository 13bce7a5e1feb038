/* SPDX-License-Identifier: MIT
 *
 * Sparse_matvec: products with a matrix kept as a sparse tensor.
 *     Sparse_matvec(PHI, D, w)             y = M w   (Aggarwal 2020, figure 2.6a)
 *     Sparse_matvec(transpose(PHI), D, Y)  w = M' y  (figure 2.6b)
 * where the three modes of PHI are, by position, those of dictionary, result and vector, and M[(v, t), f] is the sum
 * of D[a, t] PHI[a, v, f] over a. With two modes (result, vector) it is the product with a sparse matrix:
 *     Sparse_matvec(A, x). The vector may have a last dimension of right-hand sides. */
#include "constructs/construct.h"

#define USAGE "Sparse_matvec(PHI, D, w), Sparse_matvec(transpose(PHI), D, Y) or Sparse_matvec(A, x)"

/* The modes of the result and of the vector: the last two, swapped by transpose. */
struct product {
	const struct object *tensor;
	const struct construct_arg *dictionary, *vector;
	int result_mode, vector_mode;
	bool is_transposed;
};

static struct product product_of(const struct construct_call *call)
{
	const struct construct_arg *first = &call->args.items[0];
	int last = first->object->modes.n - 1;

	return (struct product) {
		.tensor = first->object,
		.dictionary = call->args.n == 3 ? &call->args.items[1] : NULL,
		.vector = &call->args.items[call->args.n - 1],
		.result_mode = first->is_transposed ? last : last - 1,
		.vector_mode = first->is_transposed ? last - 1 : last,
		.is_transposed = first->is_transposed,
	};
}

static bool check_modes(const struct construct_call *call, const struct product *p)
{
	if (p->tensor->modes.n == call->args.n)
		return true;
	diag_error(call->diags, DIAG_CONSTRUCT_ARGUMENT, call->args.items[0].span,
		   "'%s' has %d mode%s; with %d arguments Sparse_matvec needs %d (for others, write the `reduce`)",
		   p->tensor->name, p->tensor->modes.n, p->tensor->modes.n == 1 ? "" : "s", call->args.n, call->args.n);
	return false;
}

/* The vector is [mode], or [mode, nTheta] where it is a signal; then right-hand sides. */
static bool check_shapes(const struct construct_call *call, const struct product *p)
{
	int vector = call->args.n - 1;
	int rank = p->dictionary && p->is_transposed ? 2 : 1;

	if (p->dictionary && (!construct_expect_array(call, 1, 2, 2) ||
			      !construct_expect_extent(call, 1, 0, p->tensor->mode_sizes.items[0],
						       "the size of the first mode")))
		return false;
	if (!construct_expect_array(call, vector, rank, rank + 1) ||
	    !construct_expect_extent(call, vector, 0, p->tensor->mode_sizes.items[p->vector_mode],
				     "the size of its mode"))
		return false;
	return rank == 1 || construct_expect_extent(call, vector, 1, p->dictionary->extents[1],
						    "the length of an atom of the dictionary");
}

static bool signature(struct construct_call *call)
{
	struct product p;
	int rank = 0, vector_rank;

	if (!construct_expect_count(call, 2, 3, USAGE) ||
	    !construct_expect_object(call, 0, "PHI_Tensor", "fixed in PHI : PHI_Tensor<f64>(nCoeffs; atom < nAtoms, "
				     "voxel < nVoxels, fiber < nFibers);"))
		return false;
	p = product_of(call);
	if (!check_modes(call, &p) || !check_shapes(call, &p))
		return false;
	vector_rank = p.dictionary && p.is_transposed ? 2 : 1;
	call->result_extents[rank++] = p.tensor->mode_sizes.items[p.result_mode];
	if (p.dictionary && !p.is_transposed)
		call->result_extents[rank++] = p.dictionary->extents[1];
	if (p.vector->rank > vector_rank)
		call->result_extents[rank++] = p.vector->extents[vector_rank];
	call->result_rank = rank;
	call->result_type = p.tensor->scalar == TYPE_F64 ? TYPE_F64 : construct_widest(call, 1);
	return true;
}

static const char *mode_read(const struct construct_call *call, const struct product *p, int mode)
{
	return arena_printf(call->arena, "%s.%s[k]", p->tensor->name, p->tensor->modes.items[mode]);
}

static void expand_matrix(const struct construct_call *call, const struct product *p, struct str *text)
{
	const char *rhs = p->vector->rank > 1 ? ", q" : "";

	str_add(text, "reduce result[%s%s] += %s.value[k] * %s[%s%s]\n    for k in 0..%s",
		mode_read(call, p, p->result_mode), rhs, p->tensor->name, p->vector->name,
		mode_read(call, p, p->vector_mode), rhs, p->tensor->args.items[0]);
	if (*rhs)
		str_add(text, ", q in 0..%s", p->vector->extents[1]);
	str_add(text, ";\n");
}

static void expand_dictionary(const struct construct_call *call, const struct product *p, struct str *text)
{
	const char *result = mode_read(call, p, p->result_mode), *vector = mode_read(call, p, p->vector_mode);
	const char *atom = mode_read(call, p, 0), *value = arena_printf(call->arena, "%s.value[k]", p->tensor->name);
	int vector_rank = p->is_transposed ? 2 : 1;
	const char *rhs = p->vector->rank > vector_rank ? ", q" : "";

	if (p->is_transposed)
		str_add(text, "reduce result[%s%s] += %s * %s[%s, t] * %s[%s, t%s]", result, rhs, value,
			p->dictionary->name, atom, p->vector->name, vector, rhs);
	else
		str_add(text, "reduce result[%s, t%s] += %s[%s, t] * %s[%s%s] * %s", result, rhs, p->dictionary->name,
			atom, p->vector->name, vector, rhs, value);
	str_add(text, "\n    for k in 0..%s, t in 0..%s", p->tensor->args.items[0], p->dictionary->extents[1]);
	if (*rhs)
		str_add(text, ", q in 0..%s", p->vector->extents[vector_rank]);
	str_add(text, ";\n");
}

static void expand(const struct construct_call *call, struct str *text)
{
	struct product p = product_of(call);

	if (p.dictionary)
		expand_dictionary(call, &p, text);
	else
		expand_matrix(call, &p, text);
}

const struct construct construct_sparse_matvec = { .name = "Sparse_matvec", .signature = signature, .expand = expand };
