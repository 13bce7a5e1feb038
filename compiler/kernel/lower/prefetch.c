/* SPDX-License-Identifier: MIT
 *
 * Cells behind an index array, prefetched. In a short loop
 *
 *     let n = index[k]
 *     … buf[n] …
 *
 * the hardware prefetcher does not know which cell of `buf` is read, and each one is waited for. The index array knows
 * it long before, so that the cell that is used PMG_PREFETCH_POINTS iterations later is prefetched now. A short loop
 * goes on in the next one over its variable, and behind the last one a padded index array may be read.
 *
 * Only where `n` is all of the index: of rows, the first cells are a small part. Only what is read or updated in every
 * iteration: nothing waits for a store, and what is chosen elsewhere need not exist. Only serial loops: a prefetch in
 * each iteration hinders vectors. */
#include <string.h>

#include "kernel/lower/lower_private.h"

struct search {
	struct k_lowered *lowered;
	name_list padded;               /* index arrays of the function */
	const struct k_loop *loop;      /* the innermost one around, if it is short and serial; NULL */
};

/* ---- which cells are read or updated in every iteration ---- */

struct cells {
	struct arena *arena;
	const char *number;             /* of the cell */
	name_list buffers;
};

static void note_cell(struct cells *cells, const struct k_expr *expr)
{
	const struct k_expr *buffer = expr->args.items[0], *index = expr->args.items[1];

	if (buffer->kind == KE_NAME && index->kind == KE_NAME && strcmp(index->text, cells->number) == 0 &&
	    !name_list_has(&cells->buffers, buffer->text))
		vec_push(cells->arena, &cells->buffers, buffer->text);
}

static bool note_cells_of_expr(const struct k_expr *expr, void *user)
{
	if (expr->kind == KE_SELECT || (expr->kind == KE_BINARY && (expr->op == K_AND || expr->op == K_OR)))
		return false;
	if (expr->kind == KE_LOAD)
		note_cell(user, expr);
	return true;
}

static void note_cells_of(struct cells *cells, const struct k_expr *expr)
{
	if (expr)
		k_walk_expr(expr, &(struct k_visitor) { .expr = note_cells_of_expr, .user = cells });
}

/* What is updated stands behind what is read for it; what is set is no cell to wait for. */
static void note_cells_of_store(struct cells *cells, const struct k_store *store)
{
	note_cells_of(cells, store->value);
	for (int i = 0; i < store->targets.n && store->op != K_OP_N; i++)
		note_cells_of(cells, store->targets.items[i]);
}

static void note_cells_of_block(struct cells *cells, const struct k_block *block);

/* Of statements that every iteration runs, and of inner loops, which few iterations leave out. */
static void note_cells_of_stmt(struct cells *cells, const struct k_stmt *stmt)
{
	if (stmt->kind == KS_STORE)
		note_cells_of_store(cells, &stmt->store);
	else if (stmt->kind == KS_LET)
		note_cells_of(cells, stmt->let.value);
	else if (stmt->kind == KS_IF)
		note_cells_of(cells, stmt->branch.condition);
	else if (stmt->kind == KS_BLOCK)
		note_cells_of_block(cells, &stmt->body);
	else if (stmt->kind == KS_LOOP)
		note_cells_of_block(cells, &stmt->loop.body);
}

static void note_cells_of_block(struct cells *cells, const struct k_block *block)
{
	for (int i = 0; i < block->stmts.n; i++)
		note_cells_of_stmt(cells, block->stmts.items[i]);
}

/* ---- prefetching them ---- */

/* The index of `let n = index[i]`, where i moves with the loop; NULL: the statement is no such declaration. */
static const struct k_expr *index_of(const struct search *search, const struct k_stmt *stmt)
{
	const struct k_expr *value = stmt->kind == KS_LET ? stmt->let.value : NULL;

	if (!value || value->kind != KE_LOAD || stmt->let.is_variable || stmt->let.extents.n ||
	    value->args.items[0]->kind != KE_NAME || !name_list_has(&search->padded, value->args.items[0]->text) ||
	    !k_expr_mentions(value->args.items[1], search->loop->name))
		return NULL;
	return value;
}

static struct k_stmt *prefetch_of(struct arena *arena, const struct k_stmt *let, const struct k_expr *index,
				  const char *buffer)
{
	struct k_stmt *stmt = k_stmt(arena, KS_CALL);

	stmt->value = K_CALL(arena, "PMG_PREFETCH", k_name(arena, buffer), index->args.items[0],
			     index->args.items[1]);
	stmt->span = let->span;
	stmt->emitter = EMITTER;
	return stmt;
}

static void decide(struct k_lowered *lowered, struct span span, const char *index, const char *buffer)
{
	lower_decide(lowered, (struct k_decision) {
		.span = span, .subject = buffer, .chosen = "prefetches cells",
		.alternatives = "leaves it to the hardware prefetcher",
		.reason = arena_printf(lowered->arena, "%s says which cells come next, which no hardware knows", index)
	});
}

static void add_prefetches(struct search *search, struct k_block *out, const struct k_block *block, int i)
{
	struct arena *arena = search->lowered->arena;
	const struct k_stmt *let = block->stmts.items[i];
	const struct k_expr *index = search->loop ? index_of(search, let) : NULL;
	struct cells cells = { .arena = arena, .number = let->kind == KS_LET ? let->let.name : NULL };

	for (int k = i + 1; index && k < block->stmts.n; k++)
		note_cells_of_stmt(&cells, block->stmts.items[k]);
	for (int k = 0; k < cells.buffers.n; k++) {
		vec_push(arena, &out->stmts, prefetch_of(arena, let, index, cells.buffers.items[k]));
		decide(search->lowered, let->span, index->args.items[0]->text, cells.buffers.items[k]);
	}
}

/* ---- the walk ---- */

static void lower_block(struct search *search, struct k_block *block);

static void lower_loop(struct search *search, struct k_loop *loop)
{
	const struct k_loop *outer = search->loop;

	search->loop = loop->kind == K_LOOP_SERIAL && loop->is_short ? loop : NULL;
	lower_block(search, &loop->body);
	search->loop = outer;
}

/* What is declared below a condition, or in an inner loop, is no number of a cell for each iteration. */
static void lower_inside(struct search *search, struct k_stmt *stmt)
{
	const struct k_loop *outer = search->loop;

	if (stmt->kind == KS_LOOP) {
		lower_loop(search, &stmt->loop);
		return;
	}
	if (stmt->kind != KS_BLOCK)
		search->loop = NULL;
	if (stmt->kind == KS_IF)
		lower_block(search, &stmt->branch.otherwise);
	if (stmt->kind != KS_RECORD && k_body(stmt))
		lower_block(search, k_body(stmt));
	search->loop = outer;
}

static void lower_block(struct search *search, struct k_block *block)
{
	struct k_block out = { 0 };

	for (int i = 0; i < block->stmts.n; i++) {
		vec_push(search->lowered->arena, &out.stmts, block->stmts.items[i]);
		add_prefetches(search, &out, block, i);
		lower_inside(search, block->stmts.items[i]);
	}
	*block = out;
}

struct collecting {
	struct arena *arena;
	name_list names;
};

static bool note_padded(const struct k_stmt *stmt, void *user)
{
	struct collecting *collecting = user;

	if (stmt->kind == KS_LET && stmt->let.is_padded)
		vec_push(collecting->arena, &collecting->names, stmt->let.name);
	return true;
}

static void lower_function(struct k_lowered *lowered, struct k_function *function)
{
	struct collecting collecting = { .arena = lowered->arena };
	struct search search = { .lowered = lowered };

	k_walk_block(&function->body, &(struct k_visitor) { .stmt = note_padded, .user = &collecting });
	search.padded = collecting.names;
	if (search.padded.n)
		lower_block(&search, &function->body);
}

void lower_prefetch(struct k_lowered *lowered)
{
	for (int i = 0; lowered->target->prefetches && i < lowered->program->functions.n; i++)
		lower_function(lowered, lowered->program->functions.items[i]);
}
