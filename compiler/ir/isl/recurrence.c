/* SPDX-License-Identifier: MIT
 *
 * Recurrences: a group that reads what it writes at other points, f[i - 1], x[parent[i]], or over children.
 *
 * Their points must run in an order that respects the reads: lexicographic in the common dims, each dim forwards or
 * backwards. The pairs (c, c') "c writes what c' reads" are followed from the outermost dim inwards: a dim whose
 * distances are all of one sign gets this direction and settles the pairs it separates; what is left goes to the
 * next. If a dim has distances of both signs, or a point needs itself, there is no such order and the recurrence is
 * refused with a pair that shows it. That a chain of reads ends follows, as domains are bounded. */
#include "ir/ir.h"

#include <string.h>

/* ---- pairs of a group ---- */

struct pairs {
	struct module *module;
	struct stage *writer, *reader;
	isl_map *pairs;                 /* { writer[D] -> reader[E] : writes a cell that it reads } */
};

static void add_read(struct access *access, void *user)
{
	struct pairs *pairs = user;
	isl_map *write;

	if (access->array != pairs->writer->write.array)
		return;
	write = access_map(pairs->module, pairs->writer, &pairs->writer->write);
	write = isl_map_apply_range(write, isl_map_reverse(access_map(pairs->module, pairs->reader, access)));
	pairs->pairs = pairs->pairs ? isl_map_union(pairs->pairs, write) : write;
}

/* NULL when `reader` reads nothing that `writer` writes. */
static __isl_give isl_map *stage_pairs(struct module *module, struct stage *writer, struct stage *reader)
{
	struct pairs pairs = { module, writer, reader, NULL };

	if (writer->write.array->role != ROLE_LOCAL && !writer->is_next)
		stage_reads(reader, add_read, &pairs);
	if (!pairs.pairs)
		return NULL;
	return isl_map_coalesce(isl_map_subtract(pairs.pairs, axioms_impossible(module, writer, reader)));
}

/* { [c] -> [c'] } of the pairs. */
static __isl_give isl_map *common_pairs(__isl_keep isl_map *pairs, int n_common)
{
	isl_map *common = isl_map_copy(pairs);
	unsigned n_in = (unsigned) isl_map_dim(common, isl_dim_in), n_out = (unsigned) isl_map_dim(common, isl_dim_out);
	unsigned n = (unsigned) n_common;

	common = isl_map_project_out(common, isl_dim_in, n, n_in - n);
	common = isl_map_project_out(common, isl_dim_out, n, n_out - n);
	common = isl_map_reset_tuple_id(common, isl_dim_in);
	return isl_map_reset_tuple_id(common, isl_dim_out);
}

/* ---- directions ---- */

static __isl_give isl_map *with_distance(__isl_keep isl_map *pairs, int dim, int sign)
{
	isl_map *some = isl_map_copy(pairs);

	if (sign > 0)
		return isl_map_order_lt(some, isl_dim_in, dim, isl_dim_out, dim);
	if (sign < 0)
		return isl_map_order_gt(some, isl_dim_in, dim, isl_dim_out, dim);
	return isl_map_equate(some, isl_dim_in, dim, isl_dim_out, dim);
}

static bool has_distance(__isl_keep isl_map *pairs, int dim, int sign)
{
	isl_map *some = with_distance(pairs, dim, sign);
	isl_bool is_empty = isl_map_is_empty(some);

	isl_map_free(some);
	return is_empty != isl_bool_true;
}

/* "i = 1 needs i = 0, when n = 2" of the smallest of `pairs`, { writer[D] -> reader[E] }, of which `n` dims count. */
static const char *need_text(struct module *module, const struct stage *writer, const struct stage *reader, int n,
			     __isl_take isl_map *pairs)
{
	isl_point *point = witness_smallest(pairs = witness_relation(module, pairs));
	int n_reader = n < 0 ? reader->dims.n : n, n_writer = n < 0 ? writer->dims.n : n;
	const char *needs = witness_dims(module, reader, n_reader, pairs, point, isl_dim_out, 0);
	const char *needed = witness_dims(module, writer, n_writer, pairs, point, isl_dim_in, 0);
	const char *params = witness_params(module, pairs, point);

	isl_point_free(point);
	isl_map_free(pairs);
	return arena_printf(module->arena, "%s needs %s%s%s", *needs ? needs : "the value", *needed ? needed : "itself",
			    *params ? ", when " : "", params);
}

/* A dim that is not taken yet and along which no two pairs point in different ways; `n` if there is none. Whichever is
 * taken first, the others remain such dims. */
static int next_dim(__isl_keep isl_map *pairs, int n, const bool *is_taken)
{
	int d = 0;

	while (d < n && (is_taken[d] || (has_distance(pairs, d, 1) && has_distance(pairs, d, -1))))
		d++;
	return d;
}

/* "k, i, j": an order of the dims in which the recurrence could run; NULL: there is none. */
static const char *order_text(struct module *module, const struct group *group, __isl_take isl_map *pairs)
{
	const struct stage *stage = group->stages.items[0];
	bool *is_taken = arena_new_array(module->arena, bool, group->n_common);
	const char *text = "";

	for (int n = 0; text && n < group->n_common; n++) {
		int d = next_dim(pairs, group->n_common, is_taken);

		if (d == group->n_common) {
			text = NULL;
		} else {
			is_taken[d] = true;
			text = arena_printf(module->arena, "%s%s%s", text, n ? ", " : "", stage->dims.items[d].name);
			pairs = isl_map_equate(pairs, isl_dim_in, d, isl_dim_out, d);
		}
	}
	isl_map_free(pairs);
	return text;
}

static struct diag *refuse(struct module *module, struct group *group, const char *why, const char *example)
{
	struct diag *diag = diag_error(module->diags, DIAG_ILL_FOUNDED, group->span,
				       "the recurrence of '%s' is not well founded: %s", group->name, why);

	diag_label(module->diags, diag, (struct span) { 0 }, "for example %s", example);
	return diag;
}

static void refuse_direction(struct module *module, struct group *group, __isl_take isl_map *pairs, int dim)
{
	const struct stage *stage = group->stages.items[0];
	const char *before = need_text(module, stage, stage, group->n_common, with_distance(pairs, dim, 1));
	const char *behind = need_text(module, stage, stage, group->n_common, with_distance(pairs, dim, -1));
	const char *order = order_text(module, group, pairs);
	struct diag *diag = refuse(module, group,
				   arena_printf(module->arena, "along '%s' it needs values on both sides",
						stage->dims.items[dim].name),
				   arena_printf(module->arena, "%s, and %s", before, behind));

	if (order)
		diag_help(module->diags, diag, (struct span) { 0 },
			  "ranges are loops, the first one outermost; in the order %s it could run", order);
	else
		diag_help(module->diags, diag, (struct span) { 0 },
			  "read one side only, or come near the solution in 'iterate', with a 'state'");
}

/* Through an index array that may lead anywhere? */
static bool is_indirect(const struct stage *stage)
{
	bool is = false;

	for (int i = 0; i < stage->dims.n; i++)
		is |= stage->dims.items[i].kind == DIM_BIND && !(stage->dims.items[i].source.array->facts & FACT_TREE);
	return is;
}

static void refuse_itself(struct module *module, struct group *group, const struct stage *writer,
			  struct stage *reader, __isl_take isl_map *pairs)
{
	struct diag *diag = refuse(module, group, "a value needs itself", need_text(module, writer, reader, -1, pairs));
	bool is_inout = writer == reader && writer->write.array->role == ROLE_INOUT && span_is_known(reader->span);
	const char *update = is_inout ? stage_update_text(module, reader) : NULL;

	if (update) {
		diag_fix(module->diags, diag, reader->span, update, "write %s", update);
		return;
	}
	diag_help(module->diags, diag, (struct span) { 0 }, "%s",
		  is_indirect(reader)
			  ? "index arrays whose values are all before the point are declared 'tree'"
			  : "the old values of cells are those of an 'inout', changed by 'reduce', or of a 'state', "
			    "changed by 'next'");
}

/* Finds the direction of each common dim. Takes `remaining` and returns the pairs that no dim separates; NULL on
 * failure. */
static __isl_give isl_map *find_directions(struct module *module, struct group *group, __isl_take isl_map *remaining)
{
	for (int d = 0; d < group->n_common; d++) {
		bool forwards = has_distance(remaining, d, 1), backwards = has_distance(remaining, d, -1);

		if (forwards && backwards) {
			refuse_direction(module, group, remaining, d);
			return NULL;
		}
		group->direction[d] = backwards ? -1 : 1;
		remaining = isl_map_equate(remaining, isl_dim_in, d, isl_dim_out, d);
	}
	return remaining;
}

/* Within one point the writer must come before the reader. */
static bool check_same_point(struct module *module, struct group *group, __isl_take isl_map *pairs,
			     const struct stage *writer, struct stage *reader)
{
	for (int d = 0; d < group->n_common; d++)
		pairs = isl_map_equate(pairs, isl_dim_in, d, isl_dim_out, d);
	if (writer->number < reader->number || isl_map_is_empty(pairs) == isl_bool_true) {
		isl_map_free(pairs);
		return true;
	}
	refuse_itself(module, group, writer, reader, pairs);
	return false;
}

static bool order_group(struct module *module, struct group *group)
{
	isl_map *all = NULL;
	bool ok = true;

	group->shift = NULL;
	group_run_forwards(module, group);
	for (int i = 0; ok && i < group->stages.n; i++)
		for (int j = 0; ok && j < group->stages.n; j++) {
			struct stage *writer = group->stages.items[i], *reader = group->stages.items[j];
			isl_map *pairs = stage_pairs(module, writer, reader), *common;

			if (!pairs)
				continue;
			group->is_recurrence = true;
			common = common_pairs(pairs, group->n_common);
			all = all ? isl_map_union(all, common) : common;
			ok = check_same_point(module, group, pairs, writer, reader);
		}
	if (ok && all)
		all = find_directions(module, group, all);
	ok = ok && (!group->is_recurrence || all);
	isl_map_free(all);
	return ok;
}

bool module_order_recurrences(struct module *module)
{
	bool ok = true;

	for (int i = 0; i < module->groups.n; i++)
		ok = order_group(module, module->groups.items[i]) && ok;
	return ok;
}
