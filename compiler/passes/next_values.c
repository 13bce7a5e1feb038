/* SPDX-License-Identifier: MIT
 *
 * A temporary that becomes the next value of a state as it is, `next r = rNew`, is that next value: what computes it
 * writes next r, all of the body reads it there, and nothing is copied. The cells are the same ones in both arrays,
 * all of them, and the temporary is computed in the body. Recurrences keep an array of their own: in that of a state,
 * what they read of their own values would not be told from old ones. */
#include "passes/pass_private.h"

/* ---- the copy ---- */

static bool is_at_dim(const struct access *access, int number)
{
	const struct expr *sub = access->subs[number];

	return sub->kind == EXPR_DIM && sub->index == number;
}

/* Does the dim run over all values of a subscript of this array? */
static bool is_whole(const struct dim *dim, const struct array *array, int number)
{
	return dim->kind == DIM_RANGE && expr_equal(dim->lo, array->lo[number]) &&
	       expr_equal(dim->hi, array->hi[number]);
}

static bool copies_all_cells(const struct stage *stage, const struct access *from)
{
	bool copies = stage->dims.n == stage->write.array->rank && stage->dims.n == from->array->rank;

	for (int d = 0; copies && d < stage->dims.n; d++)
		copies = is_at_dim(&stage->write, d) && is_at_dim(from, d) &&
			 is_whole(&stage->dims.items[d], stage->write.array, d) &&
			 is_whole(&stage->dims.items[d], from->array, d);
	return copies;
}

/* The temporary that the group copies to a next value, and nothing else; NULL. A single value is not worth it. */
static struct array *copied_by(const struct group *group)
{
	const struct stage *stage = group->stages.items[0];
	const struct array *next = stage->write.array;
	struct array *from = stage->value->kind == EXPR_READ ? stage->value->access.array : NULL;

	if (!from || from->role != ROLE_TEMP || from->stands_for || next->role != ROLE_NEXT || !next->rank ||
	    group->stages.n != 1 || stage->guard || stage->op != REDUCE_SET || from->type != next->type ||
	    from->sums != next->sums || from->facts || !copies_all_cells(stage, &stage->value->access))
		return NULL;
	return from;
}

/* ---- everything else ---- */

static bool is_in_body(const struct module *module, const struct group *group)
{
	const group_list *body = &module->regions[REGION_BODY].groups;
	bool is = false;

	for (int g = 0; g < body->n && !is; g++)
		is = body->items[g] == group;
	return is;
}

static bool is_plain_in_body(const struct module *module, const struct array *array)
{
	bool is = true;

	for (int g = 0; g < module->groups.n && is; g++) {
		const struct group *group = module->groups.items[g];

		is = !group_touches(group, array) ||
		     (is_in_body(module, group) && !(group_writes(group, array) && group_reads(group, array)));
	}
	return is;
}

static bool has_one_writer(const struct module *module, const struct array *array)
{
	int n = 0;

	for (int g = 0; g < module->groups.n; g++)
		n += group_writes(module->groups.items[g], array);
	return n == 1;
}

static bool is_in_schedule_block(const struct module *module, const struct array *array)
{
	bool is = false;

	for (int i = 0; i < module->overrides.n; i++)
		is |= override_names(&module->overrides.items[i], array);
	return is;
}

struct exchange {
	const struct array *from;
	struct array *to;
};

static void exchange_array(struct access *access, void *user)
{
	const struct exchange *exchange = user;

	if (access->array == exchange->from)
		access->array = exchange->to;
}

static void become_next(struct module *module, struct group *copy, struct exchange *exchange)
{
	module_decide(module, "next_values", exchange->to->owner->name, "computed there", "copy", copy->span,
		      "'%s' is nothing but its next value", exchange->from->name);
	copy->stages.n = 0;
	for (int s = 0; s < module->stages.n; s++) {
		exchange_array(&module->stages.items[s]->write, exchange);
		stage_reads(module->stages.items[s], exchange_array, exchange);
	}
}

bool pass_next_values(struct module *module, const struct pass_options *options)
{
	int n = 0;

	(void) options;
	for (int g = 0; g < module->groups.n; g++) {
		struct group *group = module->groups.items[g];
		struct exchange exchange = { copied_by(group), group->stages.items[0]->write.array };

		if (!exchange.from || !is_plain_in_body(module, exchange.from) ||
		    !has_one_writer(module, exchange.to) || is_in_schedule_block(module, exchange.from))
			continue;
		become_next(module, group, &exchange);
		n++;
	}
	if (n)
		module_prune(module, false);
	return true;
}
