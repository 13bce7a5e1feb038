/* SPDX-License-Identifier: MIT
 *
 * TriBatch(a, b, c, d): x of a[i] x[i-1] + b[i] x[i] + c[i] x[i+1] = d[i] along the last dimension of the coefficients,
 * for every index of the leading ones, by the algorithm of Thomas. A scalar among the coefficients is a constant array;
 * `d` may have a last dimension of right-hand sides. Ragged: TriBatch(a, b, c, d, offset) on arrays of all rows, system
 * s in offset[s]..offset[s+1]. The first a and the last c of a system are never read. */
#include "constructs/construct.h"

#include <string.h>

#define USAGE "TriBatch(a, b, c, d) or TriBatch(a, b, c, d, offset)"

enum { A, B, C, D, OFFSET };

struct batch {
	int rank;                       /* of the coefficients */
	bool has_sides;
	const char *system, *sides;     /* subscripts before and after the row: "s0,s1," and ",q" */
	const char *points, *side_points;
	const char *first, *last;       /* conditions of the first and the last row */
};

static bool is_ragged(const struct construct_call *call)
{
	return call->args.n == 5;
}

static int coefficient_rank(const struct construct_call *call)
{
	int rank = 0;

	if (is_ragged(call))
		return 1;
	for (int i = A; i <= C; i++)
		if (call->args.items[i].rank > rank)
			rank = call->args.items[i].rank;
	return rank ? rank : call->args.items[D].rank;
}

/* One that has this rank; the right-hand side itself where all are scalars. */
static int shaped_coefficient(const struct construct_call *call, int rank)
{
	int arg = A;

	while (arg < D && call->args.items[arg].rank != rank)
		arg++;
	return arg;
}

static bool check_coefficient(const struct construct_call *call, int arg, int rank)
{
	if (call->args.items[arg].kind == ARG_SCALAR)
		return true;
	if (is_ragged(call) ? !construct_expect_array(call, arg, rank, rank)
			    : !construct_expect_systems(call, arg, rank, D, NULL))
		return false;
	for (int i = 0; i < rank; i++)
		if (!construct_expect_extent(call, arg, i, call->args.items[D].extents[i],
					     "as that of the right-hand side"))
			return false;
	return true;
}

/* [n] beside a right-hand side [s, n]: its rows are the last dimension of that, and its systems are missing. */
static bool lacks_systems(const struct construct_call *call, int rank)
{
	const struct construct_arg *d = &call->args.items[D];
	const struct construct_arg *of = &call->args.items[shaped_coefficient(call, rank)];
	bool fits = true;

	if (is_ragged(call) || d->rank != rank + 1)
		return false;
	for (int i = 0; i < rank; i++)
		fits = fits && !strcmp(of->extents[i], d->extents[i]);
	for (int i = 0; i < rank; i++)
		if (strcmp(of->extents[i], d->extents[i + 1]))
			return false;
	return !fits;
}

static bool signature(struct construct_call *call)
{
	int rank;

	if (!construct_expect_count(call, 4, 5, USAGE) ||
	    !construct_expect_batch(call, D, is_ragged(call) ? 2 : ARRAY_MAX_RANK,
				    is_ragged(call) ? "i in 0..nTotal" : "s in 0..nSystems, i in 0..n"))
		return false;
	rank = coefficient_rank(call);
	if (lacks_systems(call, rank))
		return construct_expect_systems(call, shaped_coefficient(call, rank), rank + 1, D, NULL);
	if (!construct_expect_sides(call, D, shaped_coefficient(call, rank)))
		return false;
	for (int i = A; i <= C; i++)
		if (!check_coefficient(call, i, rank))
			return false;
	if (is_ragged(call) && !construct_expect_offsets(call, OFFSET, D))
		return false;
	call->result_type = construct_widest(call, 0);
	call->result_rank = call->args.items[D].rank;
	memcpy(call->result_extents, call->args.items[D].extents, sizeof call->result_extents);
	return true;
}

static struct batch ragged_batch(const struct construct_call *call)
{
	const struct construct_arg *offset = &call->args.items[OFFSET];

	return (struct batch) {
		.system = "",
		.points = arena_printf(call->arena, "s in 0..(%s) - 1, i in %s[s]..%s[s+1]", offset->extents[0],
				       offset->name, offset->name),
		.first = arena_printf(call->arena, "i == %s[s]", offset->name),
		.last = arena_printf(call->arena, "i == %s[s+1]-1", offset->name),
	};
}

static struct batch dense_batch(const struct construct_call *call, int rank)
{
	const struct construct_arg *d = &call->args.items[D];
	struct str system = str_new(call->arena), points = str_new(call->arena);

	for (int i = 0; i < rank - 1; i++) {
		str_add(&system, "s%d,", i);
		str_add(&points, "s%d in 0..%s, ", i, d->extents[i]);
	}
	str_add(&points, "i in 0..%s", d->extents[rank - 1]);
	return (struct batch) {
		.system = str_text(&system), .points = str_text(&points), .first = "i == 0",
		.last = arena_printf(call->arena, "i == (%s) - 1", d->extents[rank - 1]),
	};
}

static struct batch batch_of(const struct construct_call *call)
{
	const struct construct_arg *d = &call->args.items[D];
	int rank = coefficient_rank(call);
	struct batch batch = is_ragged(call) ? ragged_batch(call) : dense_batch(call, rank);

	batch.rank = rank;
	batch.has_sides = d->rank > rank;
	batch.sides = batch.has_sides ? ",q" : "";
	batch.side_points = batch.has_sides ? arena_printf(call->arena, ", q in 0..%s", d->extents[rank]) : "";
	return batch;
}

static const char *at(const struct construct_call *call, const struct batch *batch, int arg, const char *row)
{
	const struct construct_arg *given = &call->args.items[arg];

	if (given->kind == ARG_SCALAR || !given->rank)
		return arena_printf(call->arena, "(%s)", given->name);
	return arena_printf(call->arena, "%s[%s%s]", given->name, batch->system, row);
}

/* "temp pivot : f64[n0, n1];": the forward sweeps cover the same rows as the coefficients and the right-hand side. */
static void declare_sweep(const struct construct_call *call, const char *name, int rank, struct str *text)
{
	str_add(text, "temp %s : %s[", name, type_name(call->result_type));
	for (int i = 0; i < rank; i++)
		str_add(text, "%s%s", i ? ", " : "", call->args.items[D].extents[i]);
	str_add(text, "];\n");
}

static void expand(const struct construct_call *call, struct str *text)
{
	struct batch n = batch_of(call);
	const char *a = at(call, &n, A, "i"), *b = at(call, &n, B, "i"), *c = at(call, &n, C, "i");
	const char *before = at(call, &n, C, "i-1"), *d = call->args.items[D].name, *s = n.system, *q = n.sides;

	declare_sweep(call, "pivot", n.rank, text);
	declare_sweep(call, "y", n.rank + n.has_sides, text);
	str_add(text, "pivot[%si] = case { %s : %s; else : %s - %s*(%s/pivot[%si-1]); } for %s;\n", s, n.first, b, b, a,
		before, s, n.points);
	str_add(text, "y[%si%s] = case { %s : %s[%si%s]; else : %s[%si%s] - %s*(y[%si-1%s]/pivot[%si-1]); } ",
		s, q, n.first, d, s, q, d, s, q, a, s, q, s);
	str_add(text, "for %s%s;\n", n.points, n.side_points);
	str_add(text, "result[%si%s] = case {\n    %s : y[%si%s]/pivot[%si];\n", s, q, n.last, s, q, s);
	str_add(text, "    else : (y[%si%s] - %s*result[%si+1%s])/pivot[%si];\n} for %s%s;\n",
		s, q, c, s, q, s, n.points, n.side_points);
}

const struct construct construct_tri_batch = { .name = "TriBatch", .signature = signature, .expand = expand };
