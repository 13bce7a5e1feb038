/* SPDX-License-Identifier: MIT
 *
 * What statements imply. An accumulation starts at its definition; where there is none, or it leaves cells
 * out, an `out` or `temp` starts at the identity of the operator, and X.next at X. Cells of an `out` that
 * nothing may define hold 0, and so do those of a `temp` where the data says which these are. At the end of the
 * loop's body the cells that `next` has defined are copied. */
#include "sema/sema_private.h"

/* A draft that runs over all cells of `array`; its dims are named after `names` where there are any. */
static struct draft *draft_over(struct sema *sema, struct target *target, struct array *array, bool in_body,
				const char *const *names)
{
	struct draft *draft = draft_new(sema, target, array->name, target->symbol->span);
	struct draft_stage *stage = draft_add_stage(sema, draft, draft->span);

	draft->in_body = in_body;
	stage->write.array = array;
	stage->write.span = draft->span;
	stage->write.subs = arena_new_array(sema->arena, struct expr *, array->rank + 1);
	for (int i = 0; i < array->rank; i++) {
		struct slot slot = { .is_common = true, .is_hidden = true };

		slot.dim.kind = DIM_RANGE;
		slot.dim.name = names && names[i] ? draft_fresh_name(sema, draft, names[i])
						  : draft_letter(sema, draft, i);
		slot.dim.span = draft->span;
		slot.dim.lo = array->lo[i];
		slot.dim.hi = array->hi[i];
		stage->write.subs[i] = expr_dim(sema->arena, draft_add_slot(sema, draft, &slot), draft->span);
	}
	return draft;
}

static void add_fill(struct sema *sema, struct target *target, enum reduce_op op)
{
	struct draft *draft = draft_over(sema, target, target->array, target->in_body, target->now.names);
	struct draft_stage *stage = draft->stages.items[0];

	draft->is_fill = true;
	draft->span = target->now.is_accumulated ? target->now.span : draft->span;
	stage->span = draft->span;
	stage->is_init = true;
	stage->value = value_identity(sema, op, target->array->type, draft->span);
}

/* X.next = X, or at the end X = X.next, everywhere. */
static struct draft *add_copy(struct sema *sema, struct target *target, struct array *to, struct array *from)
{
	struct draft *draft = draft_over(sema, target, to, true, target->later.names);
	struct draft_stage *stage = draft->stages.items[0];
	struct expr **subs = arena_new_array(sema->arena, struct expr *, from->rank + 1);

	for (int i = 0; i < from->rank; i++)
		subs[i] = stage->write.subs[i];
	stage->value = expr_read(sema->arena, from, subs, draft->span);
	return draft;
}

static void add_start(struct sema *sema, struct target *target)
{
	struct draft *draft = add_copy(sema, target, target->next, target->array);

	draft->name = arena_printf(sema->arena, "next %s", target->array->name);
	draft->is_fill = true;
	draft->stages.items[0]->is_init = true;
}

static void add_commit(struct sema *sema, struct target *target)
{
	struct draft *draft = add_copy(sema, target, target->array, target->next);

	draft->is_commit = true;
	draft->stages.items[0]->is_commit = true;
}

static void add_commit_stage(struct sema *sema, struct draft *draft, const struct draft_stage *from,
			     struct target *target)
{
	struct draft_stage *stage = draft_add_stage(sema, draft, from->span);

	stage->guard = from->guard;
	stage->write = from->write;
	stage->write.array = target->array;
	stage->value = expr_read(sema->arena, target->next, from->write.subs, from->span);
	stage->is_commit = true;
}

/* Copies the cells that `from` defines: the same variables and conditions. */
static void add_commit_like(struct sema *sema, struct target *target, const struct draft *from)
{
	struct draft *draft = draft_new(sema, target, target->array->name, from->span);

	draft->in_body = true;
	draft->is_commit = true;
	for (int i = 0; i < from->slots.n; i++)
		vec_push(sema->arena, &draft->slots, from->slots.items[i]);
	for (int i = 0; i < from->stages.n; i++)
		if (from->stages.items[i]->write.array == target->next)
			add_commit_stage(sema, draft, from->stages.items[i], target);
}

static void finish_now(struct sema *sema, struct target *target)
{
	enum array_role role = target->array->role;
	const struct cells *now = &target->now;

	if (now->is_covered || (role != ROLE_OUT && role != ROLE_TEMP))
		return;
	if (now->is_accumulated)
		add_fill(sema, target, now->op);
	else if (now->is_defined && (role == ROLE_OUT || target_depends_on_data(sema, target)))
		add_fill(sema, target, REDUCE_ADD);
}

static void finish_next(struct sema *sema, struct target *target)
{
	int n = sema->drafts.n;

	if (!target->next)
		return;
	if (target->later.is_accumulated && !target->later.is_covered)
		add_start(sema, target);
	if (target->later.is_accumulated || target->later.is_covered) {
		add_commit(sema, target);
		return;
	}
	for (int i = 0; i < n; i++)
		if (sema->drafts.items[i]->target == target &&
		    draft_writes(sema->drafts.items[i]) == target->next)
			add_commit_like(sema, target, sema->drafts.items[i]);
}

void finish_targets(struct sema *sema)
{
	for (int i = 0; i < sema->targets.n; i++)
		if (sema->targets.items[i]) {
			finish_now(sema, sema->targets.items[i]);
			finish_next(sema, sema->targets.items[i]);
		}
}
