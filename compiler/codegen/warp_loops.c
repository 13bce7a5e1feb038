/* SPDX-License-Identifier: MIT
 *
 * Warp-cooperative loops: below a WARP_LOOP mark each lane of a team has one iteration, whose scalar statements it
 * runs; lanes behind the last iteration run that one again, and write nothing. A vector loop runs for those lanes
 * that need it (warp_vectors.c). Each group has sums of its own in a row (rows.c).
 *
 * All lanes of a team meet in shuffles: if one stands below a condition, the kernel is built without such loops. */
#include <string.h>

#include "codegen/codegen_private.h"

void warp_loop_breaks(struct emit *e)
{
	if (e->warp_loop && !e->warp_loop->in_vectors)
		e->grid->is_broken = true;
}

void warp_loop_breaks_at_update(struct emit *e)
{
	if (e->warp_loop && e->warp_loop->in_vectors)
		e->grid->is_broken = true;
}

void warp_loop_breaks_beside(struct emit *e)
{
	if (e->grid && e->grid->has_warp_loops && !e->warp_loop)
		e->grid->is_broken = true;
}

const struct binding *binding_of(const struct emit *e, const char *name)
{
	for (int i = e->bindings.n - 1; i >= 0; i--) {
		const char *bound = affine_only_name(&e->bindings.items[i].value);

		if (bound && !strcmp(bound, name))
			return &e->bindings.items[i];
	}
	return NULL;
}

/* ---- one lane ---- */

int warp_loop_open(struct emit *e)
{
	return block_of(e, k_begin_if(e->b, k_name(e->arena, e->warp_loop->is_in)));
}

struct k_expr *warp_loop_read(struct emit *e, const struct access *access, struct k_expr *element)
{
	if (!e->warp_loop || e->warp_loop->in_vectors || array_is_local(access->array))
		return element;
	return K_CALL(e->arena, "PMG_ONCE", element);
}

void emit_given_sum(struct emit *e, const struct update *update)
{
	if (e->warp_loop->sum)
		k_set(e->b, e->warp_loop->sum, update->value);
	e->warp_loop->given = *update;
}

/* ---- the loop ---- */

bool loop_is_of_warp(const struct emit *e, const struct mark *loop)
{
	return e->device.next_warp_loop && e->device.next_warp_loop->dim == loop->dim && e->grid &&
		e->grid->has_warp_loops &&
	       !e->warp_loop && !e->grid->has_shared && !e->grid->in_lanes;
}

/* Of what counts up to an end: that of the variable, if it is one. */
static const char *number_type(const struct emit *e, const struct affine *end)
{
	const char *name = affine_only_name(end);
	const struct binding *binding = name ? binding_of(e, name) : NULL;

	return binding ? bind_type(e, binding->array) : type_c_name(TYPE_I64);
}

/* The loop over as many iterations at a time as a team has lanes: its variable. */
static const char *open_rounds(struct emit *e, const char *dim, const struct range *range, struct k_expr *end)
{
	const char *first = names_declare(&e->names, arena_printf(e->arena, "%s_first", dim));

	k_begin_for(e->b, number_type(e, &range->end), first, affine_expr(e->arena, &range->first), end,
		    k_name(e->arena, "pmg_team"));
	return first;
}

/* Whether the lane has an iteration, and which one. */
static void declare_iteration(struct emit *e, const struct warp_loop *warp_loop, const char *first,
			      const struct range *range,
			      struct k_expr *end)
{
	struct arena *a = e->arena;
	struct k_expr *own = k_binary(a, K_ADD, k_name(a, first), k_name(a, "pmg_lane"));

	k_const(e->b, k_scalar("bool"), warp_loop->is_in, k_operate(a, own, K_LT, end));
	k_const(e->b, k_scalar("int64_t"), warp_loop->variable,
		k_select(a, k_name(a, warp_loop->is_in), own, affine_expr(a, &range->last)));
	k_unused(e->b, warp_loop->variable);
}

static void emit_warp_body(struct emit *e, __isl_keep isl_ast_node *node)
{
	isl_ast_node *body = ast_body(node);
	const int names = sparse_open(e, body);

	emit_node(e, body, (struct loop_use) { 0 });
	sparse_close(e, names);
}

void emit_below_warp_mark(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark,
			  struct loop_use use)
{
	const struct mark *outer = e->device.next_warp_loop;

	note_loop_followed(e, DECISION_WARP_LOOP, mark, false);
	e->device.next_warp_loop = mark;
	emit_node(e, node, use);
	e->device.next_warp_loop = outer;
}

bool emit_warp_loop(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use,
		     const struct range *range)
{
	struct warp_loop warp_loop = { .mark = e->device.next_warp_loop, .n_iterators = e->iterators.n,
				       .n_locals = e->locals.n };
	struct scope scope = scope_enter(e);
	struct k_expr *end = affine_expr(e->arena, &range->end);
	const char *dim = use->mark->dim->name, *first;
	struct affine variable;
	int visible;

	if (!loop_is_of_warp(e, use->mark))
		return false;
	if (range->is_single || range->step != 1) {
		e->grid->is_broken = true;
		return false;
	}
	note_loop_followed(e, DECISION_WARP_LOOP, warp_loop.mark, true);
	visible = e->names.visible.n;
	first = open_rounds(e, dim, range, end);
	warp_loop.variable = names_declare(&e->names, dim);
	warp_loop.is_in = names_declare(&e->names, "is_in");
	declare_iteration(e, &warp_loop, first, range, end);
	variable = affine_name(e->arena, warp_loop.variable);
	iterator_push(e, node, &variable, 1);
	range_facts(e, range, &variable, 1);
	e->warp_loop = &warp_loop;
	e->grid->in_lanes = true;
	emit_warp_body(e, node);
	e->grid->in_lanes = false;
	e->warp_loop = NULL;
	block_close(e, visible);
	scope_leave(e, scope);
	return true;
}
