/* SPDX-License-Identifier: MIT
 *
 * Warp-cooperative loops: below a DEAL mark each lane of a team has one iteration, whose scalar statements it runs;
 * lanes behind the last iteration run that one again, and write nothing. A vector loop runs for those lanes that need
 * it (warp_vectors.c). Each group has sums of its own in a row (rows.c).
 *
 * All lanes of a team meet in shuffles: if one stands below a condition, the kernel is built without such loops. */
#include <string.h>

#include "codegen/codegen_private.h"
#include "codegen/streams.h"

void deal_breaks(struct emit *e)
{
	if (e->deal && !e->deal->in_vectors)
		e->grid->is_broken = true;
}

void deal_breaks_at_update(struct emit *e)
{
	if (e->deal && e->deal->in_vectors)
		e->grid->is_broken = true;
}

void deal_breaks_beside(struct emit *e)
{
	if (e->grid && e->grid->has_deals && !e->deal)
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

int deal_open(struct emit *e)
{
	return block_of(e, k_begin_if(e->b, k_name(e->arena, e->deal->is_in)));
}

void emit_given_sum(struct emit *e, const struct update *update)
{
	if (e->deal->sum)
		k_set(e->b, e->deal->sum, update->value);
	e->deal->given = *update;
}

/* ---- the loop ---- */

bool loop_is_dealt(const struct emit *e, const struct mark *loop)
{
	return e->device.next_deal && e->device.next_deal->dim == loop->dim && e->grid && e->grid->has_deals &&
	       !e->deal && !e->grid->has_shared && !e->grid->in_lanes;
}

/* Of what counts up to an end: that of the variable, if it is one. */
static const char *number_type(const struct emit *e, const struct affine *end)
{
	const char *name = affine_only_name(end);
	const struct binding *binding = name ? binding_of(e, name) : NULL;

	return binding ? bound_type(e, binding->array) : type_c_name(TYPE_I64);
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
static void declare_iteration(struct emit *e, const struct deal *deal, const char *first, const struct range *range,
			      struct k_expr *end)
{
	struct arena *a = e->arena;
	struct k_expr *own = k_binary(a, K_ADD, k_name(a, first), k_name(a, "pmg_lane"));

	k_const(e->b, k_scalar("bool"), deal->is_in, k_operate(a, own, K_LT, end));
	k_const(e->b, k_scalar("int64_t"), deal->variable,
		k_select(a, k_name(a, deal->is_in), own, affine_expr(a, &range->last)));
	k_unused(e->b, deal->variable);
}

static void emit_deal_body(struct emit *e, __isl_keep isl_ast_node *node)
{
	const int start = block_here(e)->stmts.n;
	isl_ast_node *body = isl_ast_node_for_get_body(node);
	const int names = few_open(e, body);

	emit_node(e, body, (struct loop_use) { 0 });
	isl_ast_node_free(body);
	few_close(e, names);
	streams_end(e, start);
}

bool emit_deal_loop(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use,
		     const struct range *range)
{
	struct deal deal = { .mark = e->device.next_deal, .n_iterators = e->iterators.n, .n_locals = e->locals.n };
	struct scope scope = scope_enter(e);
	struct k_expr *end = affine_expr(e->arena, &range->end);
	const char *dim = use->mark->dim->name, *first;
	struct affine variable;
	int visible;

	if (!loop_is_dealt(e, use->mark))
		return false;
	if (range->is_single || range->step != 1) {
		e->grid->is_broken = true;
		return false;
	}
	note_loop_followed(e, DECISION_DEAL, deal.mark, true);
	streams_begin(e, deal.mark, affine_expr(e->arena, &range->first), end);
	visible = e->names.visible.n;
	first = open_rounds(e, dim, range, end);
	deal.variable = names_declare(&e->names, dim);
	deal.is_in = names_declare(&e->names, "is_in");
	declare_iteration(e, &deal, first, range, end);
	variable = affine_name(e->arena, deal.variable);
	iterator_push(e, node, &variable, 1);
	range_facts(e, range, &variable, 1);
	e->deal = &deal;
	e->grid->in_lanes = true;
	streams_go_on(e, first, end);
	emit_deal_body(e, node);
	e->grid->in_lanes = false;
	e->deal = NULL;
	block_close(e, visible);
	scope_leave(e, scope);
	return true;
}
