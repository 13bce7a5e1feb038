/* SPDX-License-Identifier: MIT
 *
 * Non-temporal stores of results. A store through the caches reads the line first, and a result that is larger than
 * the caches is written back before anybody reads it. So whole lines of it are stored past them, if the runtime finds
 * its rows to begin with lines, and the result large enough: pmg_uses_nontemporal in runtime/tune/memory_policy.h, the
 * one threshold. What is stored is one of:
 *
 * - a row of vectors, of as many cells as lines have, which no loop around reads (nontemporal_rows.c);
 * - a block of lanes, which stays in the caches (nontemporal_blocks.c).
 *
 * Behind parallel loops and executions, others see these stores as all others (pmgrt_row.h). */
#include <string.h>

#include "kernel/lower/nontemporal_private.h"

/* ---- the walk ---- */

static void lower_block(struct search *search, struct k_block *block);

static void lower_inside(struct search *search, struct k_stmt *stmt)
{
	const struct k_stmt *nest = search->nest;
	const int visible = search->visible.n;

	if (stmt->kind == KS_RECORD || !k_body(stmt))
		return;
	if (stmt->kind == KS_LOOP) {
		search->nest = nest ? nest : stmt;
		vec_push(search->lowered->arena, &search->visible, stmt);
	}
	if (stmt->kind == KS_IF)
		lower_block(search, &stmt->branch.otherwise);
	lower_block(search, k_body(stmt));
	search->visible.n = visible;
	search->nest = nest;
}

static void lower_stmt(struct search *search, struct k_builder *b, const struct k_block *block, int i)
{
	struct k_stmt *stmt = block->stmts.items[i];

	b->span = stmt->span;
	if (stmt->kind == KS_CALL && stmt->value->kind == KE_CALL)
		nontemporal_put(search, b, stmt->value);
	if (b->bare)
		k_add(b, stmt, stmt->emitter);
	else if (stmt->kind != KS_LOOP || !nontemporal_row(search, b, stmt))
		k_add_as_it_is(b, stmt);
	if (stmt->kind == KS_LET)
		nontemporal_let(search, b, block, i);
	for (int k = 0; k < search->places.n; k++)
		nontemporal_besides(search, b, stmt, &search->places.items[k]);
}

static void lower_block(struct search *search, struct k_block *block)
{
	const int visible = search->visible.n, places = search->places.n;
	struct k_block out = { 0 };
	struct k_builder b = k_builder_new(search->lowered->arena, &out);

	for (int i = 0; i < block->stmts.n; i++) {
		lower_inside(search, block->stmts.items[i]);
		lower_stmt(search, &b, block, i);
		if (block->stmts.items[i]->kind == KS_LET)
			vec_push(search->lowered->arena, &search->visible, block->stmts.items[i]);
	}
	search->visible.n = visible;
	search->places.n = places;
	*block = out;
}

/* ---- functions ---- */

/* Results are declared as `let x: double * = plan->data[3]`. */
static bool is_of_plan(const struct k_expr *value)
{
	return value && value->kind == KE_LOAD && value->args.items[0]->kind == KE_MEMBER &&
	       strcmp(value->args.items[0]->text, "data") == 0;
}

static void find_results(struct search *search)
{
	const struct k_block *body = &search->function->body;

	for (int i = 0; i < body->stmts.n; i++) {
		const struct k_stmt *stmt = body->stmts.items[i];

		if (stmt->kind == KS_LET && stmt->let.is_result && is_of_plan(stmt->let.value))
			vec_push(search->lowered->arena, &search->results, ((struct result) { .let = stmt }));
	}
}

static void add_flags(struct search *search, struct k_block *body)
{
	struct k_block out = { 0 };
	struct k_builder b = k_builder_new(search->lowered->arena, &out);

	for (int i = 0; i < body->stmts.n; i++) {
		const struct k_stmt *stmt = body->stmts.items[i];
		const struct result *result = stmt->kind == KS_LET
					      ? nontemporal_result(search, k_name(b.arena, stmt->let.name)) : NULL;

		k_add_as_it_is(&b, body->stmts.items[i]);
		b.span = stmt->span;
		if (result && result->let == stmt && result->flag)
			k_const(&b, k_scalar("bool"), result->flag,
				K_CALL(b.arena, "pmg_is_nontemporal", stmt->let.value->args.items[0]->args.items[0],
				       stmt->let.value->args.items[1]));
	}
	*body = out;
}

static void lower_function(struct k_lowered *lowered, struct k_function *function)
{
	struct search search = { .lowered = lowered, .function = function };

	find_results(&search);
	if (search.results.n == 0)
		return;
	lower_block(&search, &function->body);
	add_flags(&search, &function->body);
}

void lower_nontemporal(struct k_lowered *lowered)
{
	for (int i = 0; lowered->target->has_nontemporal && i < lowered->program->functions.n; i++)
		lower_function(lowered, lowered->program->functions.items[i]);
}
