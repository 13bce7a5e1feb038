/* SPDX-License-Identifier: MIT
 *
 * A temporary that becomes the next value of a state as it is, `next r = rNew`, is that next value: what computes it
 * writes next r, all of the body reads it there, and nothing is copied. The cells are the same ones in both arrays,
 * all of them, and the temporary is computed in the body. Recurrences keep an array of their own: in that of a state,
 * what they read of their own values would not be told from old ones.
 *
 * A next value that is such a temporary and a sum, `next v = u + turn`, where nothing else wants the sum, nor u once
 * the sum begins, becomes that copy first: the terms are added to u itself, which takes no updates but sums. Neither an
 * array for the sum nor a pass that adds both is needed then, and rows to which nothing is added stay as they are. The
 * order of the terms changes, as it does in any sum of floats that threads share. */
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

/* The temporary whose cells the stage reads at those of its target, if they are alike; NULL. */
static struct array *temporary_like(const struct stage *stage, const struct expr *expr)
{
	const struct array *next = stage->write.array;
	struct array *from = expr->kind == EXPR_READ ? expr->access.array : NULL;

	if (!from || from->role != ROLE_TEMP || from->stands_for || from->type != next->type ||
	    from->sums != next->sums || from->facts || !copies_all_cells(stage, &expr->access))
		return NULL;
	return from;
}

/* Does the group compute a next value, and nothing else? A single value is not worth it. */
static bool sets_next(const struct group *group)
{
	const struct stage *stage = group->stages.items[0];
	const struct array *next = stage->write.array;

	return next->role == ROLE_NEXT && next->rank && group->stages.n == 1 && !stage->guard &&
	       stage->op == REDUCE_SET;
}

/* ---- everything else ---- */

static bool is_plain_in_body(const struct module *module, const struct array *array)
{
	bool is = true;

	for (int g = 0; g < module->groups.n && is; g++) {
		const struct group *group = module->groups.items[g];

		is = !group_touches(group, array) ||
		     (group_region(module, group) == REGION_BODY &&
		      !(group_writes(group, array) && group_reads(group, array)));
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

/* But for items about `live`, which name the group: it has its name as before. */
static bool is_in_schedule_block(const struct module *module, const struct array *array)
{
	bool is = false;

	for (int i = 0; i < module->overrides.n; i++) {
		const struct override *item = &module->overrides.items[i];

		is |= item->verb != VERB_LIVE && override_names(item, array);
	}
	return is;
}

/* May the temporary be the next value that the group computes of it? */
static bool may_become_next(const struct module *module, const struct group *group, const struct array *from)
{
	return is_plain_in_body(module, from) && has_one_writer(module, group->stages.items[0]->write.array) &&
	       !is_in_schedule_block(module, from);
}

/* ---- sums that are added to a temporary ---- */

struct addition {
	struct module *module;
	struct group *group;            /* next v = onto + sum */
	struct array *onto, *sum;
};

/* Sets the sum to zero, or adds to it, and touches the other array not. */
static bool adds_up(const struct addition *a, const struct group *group)
{
	bool adds = !group_reads(group, a->sum) && !group_touches(group, a->onto);

	for (int s = 0; s < group->stages.n && adds; s++) {
		const struct stage *stage = group->stages.items[s];

		adds = stage->write.array == a->sum &&
		       (stage->op == REDUCE_ADD ||
			(stage->is_init && group->stages.n == 1 && expr_is_zero(stage->value)));
	}
	return adds;
}

/* In the order of the body: what touches `onto`, then what adds up the sum, then both are added. */
static bool are_in_order(const struct addition *a)
{
	const group_list *body = &a->module->regions[REGION_BODY].groups;
	bool has_begun = false, in_order = true;

	for (int g = 0; g < body->n && in_order; g++) {
		const struct group *group = body->items[g];

		if (group == a->group)
			continue;
		if (group_touches(group, a->sum))
			in_order = has_begun = adds_up(a, group);
		else
			in_order = !has_begun || !group_touches(group, a->onto);
	}
	return has_begun && in_order;
}

/* Is it set, or added up, too? Updates of one array are by one operator. */
static bool takes_sums(const struct module *module, const struct array *array)
{
	bool takes = true;

	for (int s = 0; s < module->stages.n; s++) {
		const struct stage *stage = module->stages.items[s];

		takes = takes && (stage->write.array != array || stage->op == REDUCE_SET || stage->op == REDUCE_ADD);
	}
	return takes;
}

static bool may_add_onto(const struct addition *a)
{
	return a->onto && a->sum && a->onto != a->sum && type_is_float(a->sum->type) &&
	       takes_sums(a->module, a->onto) && may_become_next(a->module, a->group, a->onto) &&
	       is_plain_in_body(a->module, a->sum) && !is_in_schedule_block(a->module, a->sum) && are_in_order(a);
}

static void add_onto(const struct addition *a, struct expr *read)
{
	struct stage *addition = a->group->stages.items[0];
	const char *decision = arena_printf(a->module->arena, "added to %s", a->onto->name);

	module_decide_that(a->module, DECISION_NEXT_VALUES_SUM, a->sum->name, decision, NULL, a->group->span,
			   "'%s' is nothing but both", addition->write.array->owner->name);
	addition->value = read;
	for (int s = 0; s < a->module->stages.n; s++) {
		struct stage *stage = a->module->stages.items[s];

		if (stage->write.array == a->sum && stage->is_init)
			stage->group->stages.n = 0;
		else if (stage->write.array == a->sum)
			stage->write.array = a->onto;
	}
}

/* Makes a copy of `next v = u + sum` or `sum + u`, if it can. */
static void add_sum(struct module *module, struct group *group)
{
	const struct stage *stage = group->stages.items[0];
	struct expr *value = stage->value;

	for (int i = 0; i < 2 && value->kind == EXPR_OP && value->op == OP_ADD; i++) {
		struct addition addition = { module, group, temporary_like(stage, value->args[i]),
					     temporary_like(stage, value->args[1 - i]) };

		if (may_add_onto(&addition)) {
			add_onto(&addition, value->args[i]);
			break;
		}
	}
}

/* ---- both ---- */

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
	module_decide(module, DECISION_NEXT_VALUES_COPY, exchange->to->owner->name, copy->span,
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
		struct exchange exchange = { 0 };

		if (!group->stages.n || !sets_next(group))
			continue;
		add_sum(module, group);
		exchange.from = temporary_like(group->stages.items[0], group->stages.items[0]->value);
		exchange.to = group->stages.items[0]->write.array;
		if (!exchange.from || !may_become_next(module, group, exchange.from))
			continue;
		become_next(module, group, &exchange);
		n++;
	}
	if (n)
		module_prune(module, false);
	return true;
}
