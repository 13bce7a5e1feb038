/* SPDX-License-Identifier: MIT
 *
 * The table of constructs, and what their signatures have in common. */
#include "constructs/construct.h"

#include <string.h>

#define CONSTRUCT(variable) extern const struct construct construct_##variable;
#include "constructs/constructs.def"
#undef CONSTRUCT

static const struct construct *const constructs[] = {
#define CONSTRUCT(variable) &construct_##variable,
#include "constructs/constructs.def"
#undef CONSTRUCT
};

enum { N_CONSTRUCTS = (int) (sizeof constructs / sizeof constructs[0]) };

const struct construct *construct_find(const char *name)
{
	for (int i = 0; i < N_CONSTRUCTS; i++)
		if (!strcmp(constructs[i]->name, name))
			return constructs[i];
	return NULL;
}

int construct_names(const char **names, int max)
{
	int n = N_CONSTRUCTS < max ? N_CONSTRUCTS : max;

	for (int i = 0; i < n; i++)
		names[i] = constructs[i]->name;
	return n;
}

static bool expect_numbers(const struct construct_call *call)
{
	bool are = true;

	for (int i = 0; i < call->args.n; i++) {
		const struct construct_arg *given = &call->args.items[i];

		if (given->kind == ARG_OBJECT || given->type != TYPE_BOOL)
			continue;
		diag_error(call->diags, DIAG_CONSTRUCT_ARGUMENT, given->span,
			   "argument %d of '%s' is bool; it needs numbers", i + 1, call->construct->name);
		are = false;
	}
	return are;
}

bool construct_expect_count(const struct construct_call *call, int min, int max, const char *usage)
{
	if (call->args.n >= min && call->args.n <= max)
		return expect_numbers(call);
	diag_error(call->diags, DIAG_CONSTRUCT_ARGUMENT, call->span, "'%s' has %d argument%s; it is used as %s",
		   call->construct->name, call->args.n, call->args.n == 1 ? "" : "s", usage);
	return false;
}

static bool object_is(const struct object *object, const char *kinds)
{
	return object && strstr(kinds, object->construct->name);
}

bool construct_expect_object(const struct construct_call *call, int arg, const char *kind, const char *declaration)
{
	const struct construct_arg *given = &call->args.items[arg];
	struct diag *diag;

	if (given->kind == ARG_OBJECT && object_is(given->object, kind))
		return true;
	diag = diag_error(call->diags, DIAG_CONSTRUCT_ARGUMENT, given->span, "argument %d of '%s' must be a %s",
			  arg + 1, call->construct->name, kind);
	diag_help(call->diags, diag, given->span, "declare it as in %s", declaration);
	return false;
}

static const char *ranks_text(struct arena *arena, int min, int max)
{
	if (min == max)
		return arena_printf(arena, "%d", min);
	return max == ARRAY_MAX_RANK ? arena_printf(arena, "%d or more", min)
				     : arena_printf(arena, "%d %s %d", min, max == min + 1 ? "or" : "to", max);
}

/* NULL: the argument is an array of such a rank. */
static struct diag *report_array(const struct construct_call *call, int arg, int min_rank, int max_rank)
{
	const struct construct_arg *given = &call->args.items[arg];
	bool is_value = given->kind == ARG_ARRAY || (given->kind == ARG_SCALAR && min_rank == 0);

	if (is_value && given->rank >= min_rank && given->rank <= max_rank)
		return NULL;
	if (!is_value || max_rank == 0)
		return diag_error(call->diags, DIAG_CONSTRUCT_ARGUMENT, given->span, "argument %d of '%s' must be %s",
				  arg + 1, call->construct->name, is_value ? "a scalar" : "an array");
	return diag_error(call->diags, DIAG_CONSTRUCT_ARGUMENT, given->span,
			  "argument %d of '%s' has %d dimension%s; it needs %s", arg + 1, call->construct->name,
			  given->rank, given->rank == 1 ? "" : "s", ranks_text(call->arena, min_rank, max_rank));
}

bool construct_expect_array(const struct construct_call *call, int arg, int min_rank, int max_rank)
{
	return !report_array(call, arg, min_rank, max_rank);
}

bool construct_expect_batch(const struct construct_call *call, int arg, int max_rank, const char *points)
{
	const struct construct_arg *given = &call->args.items[arg];
	struct diag *diag = report_array(call, arg, 1, max_rank);

	if (diag && given->kind == ARG_SCALAR)
		diag_help(call->diags, diag, given->span,
			  "it tells how many systems and rows there are; one value in all is an array as well: "
			  "func r[%s] : f64 = 1;", points);
	return !diag;
}

/* "nSystems, n" */
static const char *extents_text(const struct construct_call *call, const struct construct_arg *arg)
{
	struct str extents = str_new(call->arena);

	for (int i = 0; i < arg->rank; i++)
		str_add(&extents, "%s%s", i ? ", " : "", arg->extents[i]);
	return str_text(&extents);
}

/* How all systems of the batch share the rows that are given. */
static const char *shared_text(const struct construct_call *call, const struct construct_arg *given,
			       const struct construct_arg *batch, const char *rows)
{
	return arena_printf(call->arena, "; what all of them have is a function: "
			    "'func shared[k in 0..%s, i in 0..%s] : %s = %s[i];'",
			    batch->extents[0], rows, type_name(given->type), given->name);
}

bool construct_expect_systems(const struct construct_call *call, int arg, int rank, int other, const char *rows)
{
	const struct construct_arg *given = &call->args.items[arg], *batch = &call->args.items[other];
	struct diag *diag = report_array(call, arg, rank, rank);
	const char *extents;

	if (!diag || given->kind != ARG_ARRAY || given->rank != rank - 1)
		return !diag;
	extents = rows ? rows : extents_text(call, given);
	if (batch->kind == ARG_ARRAY && batch->rank >= rank)
		diag_help(call->diags, diag, given->span, "the first dimension counts systems: [%s, %s]%s",
			  batch->extents[0], extents, given->rank == 1 ? shared_text(call, given, batch, extents) : "");
	else
		diag_help(call->diags, diag, given->span, "the first dimension counts systems: [nSystems, %s], or "
			  "[1, %s] for one", extents, extents);
	return false;
}

bool construct_expect_rows(const struct construct_call *call, int arg, int max_rank, const char *rows)
{
	struct diag *diag = report_array(call, arg, 1, max_rank);

	if (diag && max_rank > 1)
		diag_help(call->diags, diag, call->args.items[arg].span,
			  "it is [nSystems, %s] or, the same for all systems, [%s]", rows, rows);
	else if (diag)
		diag_help(call->diags, diag, call->args.items[arg].span,
			  "all systems lie one behind the other: [%s]", rows);
	return !diag;
}

bool construct_expect_sides(const struct construct_call *call, int arg, int coefficient)
{
	const struct construct_arg *of = &call->args.items[coefficient];
	struct diag *diag = report_array(call, arg, of->rank, of->rank + 1);
	const char *extents = extents_text(call, of);

	if (diag)
		diag_help(call->diags, diag, of->span,
			  "it is [%s], as '%s' is, or [%s, nSides] with nSides right-hand sides for each "
			  "system", extents,
			  span_text(call->diags->sources, call->arena, of->span), extents);
	return !diag;
}

bool construct_expect_extent(const struct construct_call *call, int arg, int dim, const char *extent, const char *why)
{
	const struct construct_arg *given = &call->args.items[arg];

	if (!strcmp(given->extents[dim], extent))
		return true;
	diag_error(call->diags, DIAG_CONSTRUCT_ARGUMENT, given->span,
		   "dimension %d of argument %d of '%s' is %s; it must be %s, %s", dim + 1, arg + 1,
		   call->construct->name, given->extents[dim], extent, why);
	return false;
}

bool construct_expect_offsets(const struct construct_call *call, int arg, int of)
{
	const struct construct_arg *given = &call->args.items[arg], *rows = &call->args.items[of];
	struct diag *diag;

	if (!construct_expect_array(call, arg, 1, 1))
		return false;
	if (given->limit && !strcmp(given->limit, rows->extents[0]))
		return true;
	if (given->limit)
		diag = diag_error(call->diags, DIAG_CONSTRUCT_ARGUMENT, given->span,
				  "argument %d of '%s' cuts %s rows; argument %d has %s", arg + 1,
				  call->construct->name, given->limit, of + 1, rows->extents[0]);
	else
		diag = diag_error(call->diags, DIAG_CONSTRUCT_ARGUMENT, given->span,
				  "argument %d of '%s' must hold offsets", arg + 1, call->construct->name);
	diag_help(call->diags, diag, (struct span) { 0 }, "for nSystems systems they are declared as offsets(%s)"
		  "[nSystems + 1]", rows->extents[0]);
	return false;
}

enum scalar_type construct_widest(const struct construct_call *call, int first)
{
	bool has_f32 = false, has_f64 = false;

	for (int i = first; i < call->args.n; i++) {
		has_f32 |= call->args.items[i].kind != ARG_OBJECT && call->args.items[i].type == TYPE_F32;
		has_f64 |= call->args.items[i].kind != ARG_OBJECT && call->args.items[i].type == TYPE_F64;
	}
	return has_f32 && !has_f64 ? TYPE_F32 : TYPE_F64;
}
