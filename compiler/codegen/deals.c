/* SPDX-License-Identifier: MIT
 *
 * Deals: below a DEAL mark each lane of a team has an iteration of its own, whose scalar statements it runs; lanes
 * behind the last iteration run that one again, and write nothing. A loop of vectors runs for those lanes that need it
 * (deal_vectors.c). Each group has sums of its own in a row (rows.c).
 *
 * All lanes of a team meet in shuffles: where something stands below a condition, the kernel is printed without
 * deals. */
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
	return block_open(e, "if (%s) {", e->deal->is_in);
}

void emit_given_sum(struct emit *e, const struct update *update)
{
	if (*e->deal->sum)
		quote(e->b, "%s = %s;", e->deal->sum, x_text(e, update->value));
	e->deal->given = *update;
}

/* ---- the loop ---- */

bool loop_is_dealt(const struct emit *e, const struct mark *loop)
{
	return e->next_deal && e->next_deal->dim == loop->dim && e->grid && e->grid->has_deals && !e->deal &&
	       !e->grid->has_shared && !e->grid->in_lanes;
}

/* Of what counts up to a variable. */
static const char *number_type(const struct emit *e, const char *end)
{
	const struct binding *binding = binding_of(e, end);

	return binding ? bound_type(e, binding->array) : type_c_name(TYPE_I64);
}

bool emit_deal_loop(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use,
		     const struct range *range)
{
	struct deal deal = { .mark = e->next_deal, .n_iterators = e->iterators.n, .n_locals = e->locals.n };
	struct scope scope = scope_enter(e);
	int visible, names;
	const char *dim = use->mark->dim->name, *end = affine_plain(e->arena, &range->end), *first, *name;
	struct affine variable;
	isl_ast_node *body;
	int start;

	if (!loop_is_dealt(e, use->mark))
		return false;
	if (range->is_single || range->step != 1) {
		e->grid->is_broken = true;
		return false;
	}
	streams_begin(e, deal.mark, affine_plain(e->arena, &range->first), end);
	visible = e->names.visible.n;
	first = names_declare(&e->names, arena_printf(e->arena, "%s_first", dim));
	name = names_declare(&e->names, dim);
	deal.is_in = names_declare(&e->names, "is_in");
	quote_open(e->b, "for (%s %s = %s; %s < %s; %s += pmg_team) {", number_type(e, end), first,
		   affine_plain(e->arena, &range->first), first, end, first);
	quote(e->b, "const bool %s = %s + pmg_lane < %s;", deal.is_in, first, end);
	quote(e->b, "const int64_t %s = %s ? %s + pmg_lane : %s;", name, deal.is_in, first,
	     affine_plain(e->arena, &range->last));
	variable = affine_name(e->arena, name);
	quote(e->b, "(void) %s;", name);
	deal.variable = name;
	iterator_push(e, node, &variable, 1);
	range_facts(e, range, &variable, 1);
	e->deal = &deal;
	e->grid->in_lanes = true;
	streams_go_on(e, first, end);
	start = block_here(e)->stmts.n;
	body = isl_ast_node_for_get_body(node);
	names = few_open(e, body);
	emit_node(e, body, (struct loop_use) { 0 });
	isl_ast_node_free(body);
	few_close(e, names);
	streams_end(e, start);
	e->grid->in_lanes = false;
	e->deal = NULL;
	block_close(e, visible);
	scope_leave(e, scope);
	return true;
}
