/* SPDX-License-Identifier: MIT
 *
 * Computed only where it is read: when all readers of a temporary of the loop's body stand under conditions
 * on the loop's variable, what defines it gets their disjunction as a condition. Readers come later in the
 * body, so going backwards a condition is passed on to all that is needed for it alone. */
#include "ir/ir.h"
#include "sema/sema_private.h"

struct demand {
	struct sema *sema;
	const struct array *array;
	bool is_read;                   /* by the stage that is looked at */
	bool is_always;                 /* some reader has no condition */
	VEC(struct expr *) conditions;
	isl_set *covered;               /* { [params] : any of them } */
};

bool expr_mentions_loop(const struct module *module, const struct expr *expr)
{
	if (!expr)
		return false;
	if (expr->kind == EXPR_PARAM)
		return module->params.items[expr->index].is_loop;
	for (int i = 0; i < expr_n_args(expr); i++)
		if (expr_mentions_loop(module, expr->args[i]))
			return true;
	return false;
}

/* The parts of a guard that speak of the loop's variable and of no dim. */
static struct expr *loop_condition(struct sema *sema, struct expr *guard)
{
	if (!guard)
		return NULL;
	if (guard->kind == EXPR_OP && guard->op == OP_AND)
		return guard_and(sema, loop_condition(sema, guard->args[0]),
				 loop_condition(sema, guard->args[1]));
	return expr_last_dim(guard) < 0 && expr_mentions_loop(sema->module, guard) ? guard : NULL;
}

/* Conditions that others imply are left out. */
static void add_condition(struct demand *demand, struct expr *guard)
{
	struct expr *condition = loop_condition(demand->sema, guard);
	isl_set *set;

	if (!condition) {
		demand->is_always = true;
		return;
	}
	set = expr_set(demand->sema->module, NULL, condition);
	if (!demand->covered)
		demand->covered = isl_set_empty(isl_set_get_space(set));
	if (isl_set_is_subset(set, demand->covered) != isl_bool_true)
		vec_push(demand->sema->arena, &demand->conditions, condition);
	demand->covered = isl_set_union(demand->covered, set);
}

/* Together the conditions hold for every value of the loop's variable. */
static bool is_tautology(const struct demand *demand)
{
	isl_set *rest = isl_set_complement(isl_set_copy(demand->covered));
	bool is_empty = isl_set_is_empty(rest) == isl_bool_true;

	isl_set_free(rest);
	return is_empty;
}

static void note_read(struct access *access, void *user)
{
	struct demand *demand = user;

	demand->is_read = demand->is_read || access->array == demand->array;
}

static bool slots_read(const struct draft *draft, const struct array *array)
{
	for (int i = 0; i < draft->slots.n; i++)
		if (draft->slots.items[i].dim.kind != DIM_RANGE &&
		    draft->slots.items[i].dim.source.array == array)
			return true;
	return false;
}

static void collect_readers(struct demand *demand, const struct draft *draft)
{
	bool is_bound = slots_read(draft, demand->array);

	for (int i = 0; i < draft->stages.n; i++) {
		struct draft_stage *stage = draft->stages.items[i];

		demand->is_read = is_bound;
		expr_reads(stage->value, note_read, demand);
		if (demand->is_read && draft_writes(draft) != demand->array)
			add_condition(demand, stage->guard);
	}
}

static struct expr *any_of(struct demand *demand)
{
	struct expr *any = demand->conditions.items[0];

	for (int i = 1; i < demand->conditions.n; i++)
		any = expr_binary(demand->sema->arena, OP_OR, TYPE_BOOL, any, demand->conditions.items[i]);
	return any;
}

static void restrict_draft(struct demand *demand, struct draft *draft)
{
	struct expr *condition = any_of(demand);

	for (int i = 0; i < draft->stages.n; i++) {
		struct draft_stage *stage = draft->stages.items[i];

		if (!stage->guard || !expr_equal(stage->guard, condition))
			stage->guard = guard_and(demand->sema, condition, stage->guard);
	}
}

void demand_conditions(struct sema *sema, struct draft *const *drafts, int n)
{
	for (int i = n - 1; i >= 0; i--) {
		struct demand demand = { .sema = sema, .array = draft_writes(drafts[i]) };
		const struct target *target = sema->targets.items[demand.array->number];

		if (demand.array->role != ROLE_TEMP || !target || !target->in_body || drafts[i]->is_mutual)
			continue;
		for (int j = 0; j < n; j++)
			collect_readers(&demand, drafts[j]);
		if (!demand.is_always && demand.conditions.n > 0 && !is_tautology(&demand))
			restrict_draft(&demand, drafts[i]);
		isl_set_free(demand.covered);
	}
}
