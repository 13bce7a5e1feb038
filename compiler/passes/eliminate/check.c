/* SPDX-License-Identifier: MIT
 *
 * Where another algorithm leaves a value that is not finite, the pivots of the program are computed after all, for
 * their checks: so the row is named at which elimination fails. They are what the program computes with one dim in
 * front, bound to whether there is such a value: conditions on it keep the stages from running where there is none, and
 * as a subscript, of the box 1..2, it lets the loops below it have these pivots one after the other. */
#include "passes/eliminate/eliminate_private.h"

static const char failure[] =
	"array {x}.fails : temp i64[0..1] index(2) proved\n"
	"group \"{x}.fails\" common 0\n"
	"stage init\n"
	"{x}.fails[0] = 0\n"
	"stage\n{systems}{tested_rows}{sides}"
	"{x}.fails[0] max= select({solution}[{tested}] - {solution}[{tested}] == {zero}, 0, 1)\n";

struct repetition {
	struct builder *builder;
	struct array *pivots, *copy;
	struct array *sum, *sum_copy;   /* what the pivots of a group are computed from, one for each point; NULL */
	struct expr *fails;             /* the dim in front, and the first subscript of the copy */
};

static struct expr *integer(const struct repetition *r, int64_t value)
{
	return expr_int(r->builder->arena, value, r->pivots->span);
}

/* `first`, and `n` more. */
static struct expr **with_first(const struct repetition *r, struct expr *first, int n, struct expr **more)
{
	struct expr **all = arena_new_array(r->builder->arena, struct expr *, n + 1);

	all[0] = first;
	for (int i = 0; i < n; i++)
		all[i + 1] = more[i];
	return all;
}

/* A name by which messages call it what they call the pivots of the program (pivots_name). */
static const char *name_of_copy(const struct repetition *r)
{
	struct arena *arena = r->builder->arena;
	const char *pivots = pivots_name(arena, r->pivots), *name = arena_printf(arena, "%s.again", pivots);

	for (int more = 2; module_find_array(r->builder->module, name); more++)
		name = arena_printf(arena, "%s.again%d", pivots, more);
	return name;
}

static void add_copy(struct repetition *r)
{
	struct builder *b = r->builder;
	const char *name = name_of_copy(r);

	r->copy = module_add_array(b->module, name, ROLE_TEMP, r->pivots->type, r->pivots->rank + 1, r->pivots->span);
	r->copy->lo = with_first(r, integer(r, 1), r->pivots->rank, r->pivots->lo);
	r->copy->hi = with_first(r, integer(r, 2), r->pivots->rank, r->pivots->hi);
}

static void use_copy(struct access *access, void *user)
{
	const struct repetition *r = user;

	if (access->array == r->pivots)
		*access = (struct access) { r->copy, with_first(r, r->fails, r->pivots->rank, access->subs),
					    access->span };
	else if (r->sum && access->array == r->sum)
		access->array = r->sum_copy;
}

static void repeat_stage(struct repetition *r, struct group *group, const struct stage *from)
{
	struct arena *arena = r->builder->arena;
	struct stage *stage = module_add_stage(r->builder->module, group, &(dim_list) { 0 }, from->span);
	struct expr **behind = arena_new_array(arena, struct expr *, from->dims.n);
	struct dim fails = { .kind = DIM_BIND, .name = "fails", .span = from->span };

	fails.source = (struct access) { builder_array(r->builder, "{x}.fails"), with_first(r, integer(r, 0), 0, NULL),
					 from->span };
	vec_push(arena, &stage->dims, fails);
	for (int d = 0; d < from->dims.n; d++) {
		behind[d] = expr_dim(arena, d + 1, from->span);
		vec_push(arena, &stage->dims, dim_substitute(arena, &from->dims.items[d], behind));
	}
	stage->op = from->op;
	stage->is_init = from->is_init;
	stage->guard = expr_binary(arena, OP_EQ, TYPE_BOOL, r->fails, integer(r, 1));
	if (from->guard)
		stage->guard = expr_binary(arena, OP_AND, TYPE_BOOL, stage->guard,
					   expr_substitute(arena, from->guard, behind));
	stage->write = access_substitute(arena, &from->write, behind);
	use_copy(&stage->write, r);
	stage->value = expr_substitute(arena, from->value, behind);
	expr_reads(stage->value, use_copy, r);
}

static void find_sum(struct access *access, void *user)
{
	struct repetition *r = user;

	if (access->array->role == ROLE_LOCAL)
		r->sum = access->array;
}

/* Does the group compute pivots? Then what it adds up for each is known. */
static bool has_pivots(struct repetition *r, const struct group *group)
{
	r->sum = NULL;
	for (int s = 0; s < group->stages.n; s++)
		if (group->stages.items[s]->write.array == r->pivots)
			expr_reads(group->stages.items[s]->value, find_sum, r);
	return group_writes(group, r->pivots);
}

static void copy_sum(struct repetition *r, struct group *group)
{
	struct module *module = r->builder->module;

	if (!r->sum)
		return;
	r->sum_copy = module_add_array(module, arena_printf(module->arena, "%s.sum", r->copy->name), ROLE_LOCAL,
				       r->sum->type, 0, r->sum->span);
	r->sum_copy->group = group;
}

static void repeat_group(struct repetition *r, const struct group *from)
{
	struct group *group;

	if (!has_pivots(r, from))
		return;
	group = module_add_group(r->builder->module, r->builder->region, r->copy->name, from->span);
	copy_sum(r, group);
	for (int s = 0; s < from->stages.n; s++)
		if (from->stages.items[s]->write.array == r->pivots ||
		    (r->sum && from->stages.items[s]->write.array == r->sum))
			repeat_stage(r, group, from->stages.items[s]);
	group->n_common = from->n_common + 1;
}

/* In a chunk, what is not finite in one row makes all rows behind it so by elimination, and all ahead of it when they
 * are filled in: a factor of zero makes NaN of it. So the last row that is one of the program's tells. On a processor
 * all rows are read, in vectors. */
static void choose_rows(struct builder *b, bool has_chunks)
{
	builder_set(b, "tested_rows", has_chunks ? "for at.chunk in 0..{chunks}\n" : "for at.row in 0..{n}\n");
	builder_set(b, "tested", has_chunks ? builder_solution_at(b, "min({rows}*at.chunk + {rows} - 1, {n} - 1)")
					    : "{out}");
}

bool builder_add_check(struct builder *b, bool has_chunks)
{
	struct repetition r = { .builder = b, .pivots = b->what->pivot,
				.fails = expr_dim(b->arena, 0, b->what->pivot->span) };
	int n_groups = b->module->groups.n;

	choose_rows(b, has_chunks);
	if (!builder_add(b, b->region, failure))
		return false;
	add_copy(&r);
	for (int g = 0; g < n_groups; g++)
		repeat_group(&r, b->module->groups.items[g]);
	return true;
}
