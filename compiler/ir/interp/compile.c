/* SPDX-License-Identifier: MIT
 *
 * From the module to what runs: accesses point to slots, subscripts of the form d + c need no tree, types are
 * settled, and each stage knows which of its dims it needs. Nothing is simplified that could hide an error. */
#include "ir/interp/interp_private.h"

/* ---- accesses ---- */

static struct place compile_access(struct run *run, const struct access *access)
{
	struct place place = { .slot = &run->slots[access->array->number], .span = access->span };

	place.rank = access_n_subs(access);
	for (int i = 0; i < place.rank; i++)
		if (!expr_is_shifted_dim(access->subs[i], &place.subs[i].dim, &place.subs[i].add))
			place.subs[i].node = compile_expr(run, access->subs[i]);
	return place;
}

/* ---- expressions ---- */

static const struct place *compile_read(struct run *run, const struct access *access)
{
	struct place *place = arena_new(run->scratch, struct place);

	*place = compile_access(run, access);
	return place;
}

/* Floats come in, and what comes out jumps. */
static bool is_decision(const struct node *node)
{
	return node->has_float_args &&
	       (!type_is_float(node->type) || (node->kind == EXPR_OP && node->op == OP_FLOOR));
}

static struct interp_decision *new_decision(struct run *run, struct span span)
{
	struct interp_decision *decision = arena_new(run->arena, struct interp_decision);

	decision->span = span;
	vec_push(run->arena, &run->decisions->items, decision);
	return decision;
}

const struct node *compile_expr(struct run *run, const struct expr *expr)
{
	struct node *node = arena_new(run->scratch, struct node);

	node->kind = expr->kind;
	node->op = expr->op;
	node->type = expr->type;
	node->span = expr->span;
	node->index = expr->index;
	node->integer = expr->integer;
	node->real = expr->type == TYPE_F32 ? (float) expr->real : expr->real;
	for (int i = 0; i < expr_n_args(expr); i++)
		node->args[i] = compile_expr(run, expr->args[i]);
	node->has_float_args = expr_n_args(expr) && type_is_float(expr->args[0]->type);
	if (expr->kind == EXPR_READ)
		node->place = compile_read(run, &expr->access);
	if (run->decisions && is_decision(node))
		node->decision = new_decision(run, node->span);
	return node;
}

/* ---- which dims a stage needs ---- */

static void use_dims(const struct expr *expr, uint64_t *uses)
{
	if (expr->kind == EXPR_DIM)
		*uses |= UINT64_C(1) << expr->index;
	if (expr->kind == EXPR_READ)
		for (int i = 0; i < access_n_subs(&expr->access); i++)
			use_dims(expr->access.subs[i], uses);
	for (int i = 0; i < expr_n_args(expr); i++)
		use_dims(expr->args[i], uses);
}

static void use_dims_of(const struct dim *dim, uint64_t *uses)
{
	if (dim->kind == DIM_RANGE) {
		use_dims(dim->lo, uses);
		use_dims(dim->hi, uses);
		return;
	}
	for (int i = 0; i < access_n_subs(&dim->source); i++)
		use_dims(dim->source.subs[i], uses);
}

/* Loops are needed even if nobody names their variable; bound dims only by those who read them, the value (NULL: it is
 * left aside) among them. */
static uint64_t stage_uses(const struct stage *stage, const struct expr *value)
{
	uint64_t uses = 0;

	if (value)
		use_dims(value, &uses);
	if (stage->guard)
		use_dims(stage->guard, &uses);
	for (int i = 0; i < access_n_subs(&stage->write); i++)
		use_dims(stage->write.subs[i], &uses);
	for (int i = stage->dims.n - 1; i >= 0; i--)
		if (stage->dims.items[i].kind != DIM_BIND || (uses >> i & 1))
			use_dims_of(&stage->dims.items[i], &uses);
	return uses;
}

/* ---- stages and groups ---- */

static struct step compile_dim(struct run *run, const struct dim *dim)
{
	struct step step = { .dim = dim };

	switch (dim->kind) {
	case DIM_RANGE:
		step.lo = compile_expr(run, dim->lo);
		step.hi = compile_expr(run, dim->hi);
		break;
	case DIM_BIND:
		step.source = compile_access(run, &dim->source);
		break;
	case DIM_CHILDREN:
		step.source.slot = &run->slots[dim->source.array->number];
		step.parent = compile_expr(run, dim->source.subs[0]);
		break;
	}
	return step;
}

static struct stage_run compile_stage(struct run *run, const struct stage *stage)
{
	struct stage_run compiled = { .stage = stage, .n_steps = stage->dims.n };

	if (stage->dims.n > INTERP_MAX_DIMS) {
		run_fail(run, stage->span, "more than %d dims in one statement", INTERP_MAX_DIMS);
		return compiled;
	}
	compiled.steps = arena_new_array(run->scratch, struct step, stage->dims.n);
	for (int i = 0; i < stage->dims.n; i++)
		compiled.steps[i] = compile_dim(run, &stage->dims.items[i]);
	compiled.uses = stage_uses(stage, stage->value);
	compiled.place_uses = stage_uses(stage, NULL);
	compiled.guard = stage->guard ? compile_expr(run, stage->guard) : NULL;
	compiled.value = compile_expr(run, stage->value);
	compiled.write = compile_access(run, &stage->write);
	compiled.is_float = type_is_float(stage->write.array->type);
	return compiled;
}

/* A recurrence keeps track of the cells that it sets. */
static void find_recurrence(struct run *run, struct group_run *group)
{
	for (int i = 0; i < group->n_stages; i++) {
		const struct stage *stage = group->stages[i].stage;
		struct slot *slot = &run->slots[stage->write.array->number];

		if (stage->op != REDUCE_SET || stage->is_next || slot->array->role == ROLE_LOCAL ||
		    !group_reads(group->group, slot->array))
			continue;
		group->is_recurrence = true;
		if (!slot->states)
			slot->states = arena_new_array(run->scratch, unsigned char, slot->n);
	}
}

static void compile_group(struct run *run, const struct group *group)
{
	struct group_run *compiled = &run->groups[group->number];

	compiled->group = group;
	compiled->n_stages = group->stages.n;
	compiled->stages = arena_new_array(run->scratch, struct stage_run, group->stages.n);
	for (int i = 0; i < group->stages.n; i++)
		compiled->stages[i] = compile_stage(run, group->stages.items[i]);
	find_recurrence(run, compiled);
}

void compile_groups(struct run *run)
{
	const struct module *module = run->module;

	run->groups = arena_new_array(run->scratch, struct group_run, module->groups.n);
	for (int i = 0; i < module->groups.n; i++)
		compile_group(run, module->groups.items[i]);
}
