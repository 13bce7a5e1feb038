/* SPDX-License-Identifier: MIT
 *
 * Cells of shared memory that one lane updates in a loop. Each update would be read and written there, and a compiler
 * that does not know where else pointers lead waits for it before it reads what the next iteration needs. In
 *
 *     loop k over the lanes: B[f(k)] = 0; loop: … B[f(k)] += …;
 *
 * where the loop touches no other cell of B, the cell is a variable of the lane, which is stored at the end. */
#include <string.h>

#include "kernel/lower/lower_private.h"

struct buffer {
	const char *name, *type;
};

struct cells {
	struct k_lowered *lowered;
	name_list visible;
	VEC(struct buffer) shared;
};

/* One buffer in a loop over the lanes. */
struct cell {
	const char *buffer, *type;
	const struct k_expr *index;     /* NULL: not seen yet */
	bool is_one, is_updated;        /* all accesses have this index; some update is in a loop inside */
	struct arena *arena;
	const char *variable;
};

/* ---- accesses ---- */

static void note_index(struct cell *cell, const struct k_expr *index)
{
	cell->is_one = cell->is_one && (!cell->index || k_expr_is_equal(cell->index, index));
	cell->index = index;
}

static bool is_of(const struct cell *cell, const struct k_expr *expr)
{
	return expr->kind == KE_LOAD && is_name_of(expr->args.items[0], cell->buffer);
}

static bool look_at_expr(const struct k_expr *expr, void *user)
{
	struct cell *cell = user;

	if (is_of(cell, expr)) {
		note_index(cell, expr->args.items[1]);
		return false;
	}
	cell->is_one = cell->is_one && !is_name_of(expr, cell->buffer);
	return true;
}

static bool look_at_update(const struct k_stmt *stmt, void *user)
{
	struct cell *cell = user;

	if (stmt->kind == KS_STORE && stmt->store.op != K_OP_N && is_of(cell, stmt->store.targets.items[0])) {
		cell->is_updated = true;
		cell->is_one = cell->is_one && stmt->store.mode == K_STORE_PLAIN;
	}
	return true;
}

static void look_at_loops(const struct k_block *body, struct cell *cell)
{
	for (int i = 0; i < body->stmts.n; i++)
		if (body->stmts.items[i]->kind == KS_LOOP)
			k_walk_stmt(body->stmts.items[i], &(struct k_visitor) { .stmt = look_at_update, .user = cell });
}

/* ---- the index is the same all along ---- */

struct changing {
	const struct k_expr *index;
	bool changes;
};

static bool look_at_declaration(const struct k_stmt *stmt, void *user)
{
	struct changing *changing = user;
	const char *name = stmt->kind == KS_LET ? stmt->let.name : stmt->kind == KS_LOOP ? stmt->loop.name : NULL;

	changing->changes |= name && k_expr_mentions(changing->index, name);
	return true;
}

static bool look_at_load(const struct k_expr *expr, void *user)
{
	((struct changing *) user)->changes |= expr->kind == KE_LOAD;
	return true;
}

static bool is_fixed(const struct k_block *body, const struct k_expr *index)
{
	struct changing changing = { index, false };

	k_walk_block(body, &(struct k_visitor) { .stmt = look_at_declaration, .user = &changing });
	k_walk_expr(index, &(struct k_visitor) { .expr = look_at_load, .user = &changing });
	return !changing.changes;
}

/* ---- the variable ---- */

static struct k_expr *replace(const struct k_expr *expr, void *user)
{
	const struct cell *cell = user;

	return is_of(cell, expr) ? k_name(cell->arena, cell->variable) : NULL;
}

/* The statement of the body that sets the cell before all else touches it; -1: there is none. */
static int first_set(const struct k_block *body, const struct cell *cell)
{
	for (int i = 0; i < body->stmts.n; i++) {
		const struct k_stmt *stmt = body->stmts.items[i];

		const struct k_block one = { .stmts = { .items = &body->stmts.items[i], .n = 1 } };

		if (!k_mentions(&one, cell->buffer))
			continue;
		return stmt->kind == KS_STORE && stmt->store.op == K_OP_N && stmt->store.targets.n == 1 &&
		       is_of(cell, stmt->store.targets.items[0]) && !k_expr_mentions(stmt->store.value, cell->buffer) ?
		       i : -1;
	}
	return -1;
}

/* The body with a variable in the place of the cell. */
static struct k_block with_variable(const struct k_block *body, const struct cell *cell, int set)
{
	const struct k_replacing replacing = { .expr = replace, .user = (void *) (uintptr_t) cell };
	struct k_block out = { 0 };
	struct k_builder b = k_builder_new(cell->arena, &out);

	for (int i = 0; i < body->stmts.n; i++) {
		const struct k_stmt *stmt = body->stmts.items[i];

		b.span = stmt->span;
		if (i == set)
			k_var(&b, k_scalar(cell->type), cell->variable, stmt->store.value);
		else
			vec_push(cell->arena, &out.stmts, k_copy_stmt(cell->arena, stmt, &replacing));
	}
	k_set(&b, k_load(cell->arena, k_name(cell->arena, cell->buffer),
			 k_copy_expr(cell->arena, cell->index, &(struct k_replacing) { 0 })),
	      k_name(cell->arena, cell->variable));
	return out;
}

static void try_buffer(struct cells *cells, struct k_stmt *stmt, const struct buffer *buffer)
{
	struct k_lowered *lowered = cells->lowered;
	struct k_block *body = &stmt->loop.body;
	struct cell cell = { .buffer = buffer->name, .type = buffer->type, .is_one = true, .arena = lowered->arena };
	int set;

	k_walk_block(body, &(struct k_visitor) { .expr = look_at_expr, .user = &cell });
	look_at_loops(body, &cell);
	set = first_set(body, &cell);
	if (!cell.is_one || !cell.is_updated || set < 0 || !is_fixed(body, cell.index))
		return;
	cell.variable = name_list_new(lowered->arena, &cells->visible, stmt,
				      arena_printf(lowered->arena, "%s_cell", buffer->name));
	*body = with_variable(body, &cell, set);
	lower_decide(lowered, (struct k_decision) {
		.span = stmt->span, .subject = buffer->name, .chosen = "variable", .alternatives = "shared memory",
		.reason = "in a loop a lane updates one cell of it"
	});
}

/* ---- kernels ---- */

static bool note_shared(const struct k_stmt *stmt, void *user)
{
	struct cells *cells = user;
	const bool is_shared = stmt->kind == KS_LET && stmt->let.space == K_SPACE_SHARED && stmt->let.extents.n == 1;
	const bool is_name = stmt->kind == KS_LET && stmt->let.type.is_pointer;

	if (is_shared || is_name)
		vec_push(cells->lowered->arena, &cells->shared,
			 ((struct buffer) { stmt->let.name, stmt->let.type.name }));
	return true;
}

static bool take(void *user, struct k_block *out, const struct k_block *block, int i)
{
	struct cells *cells = user;
	struct k_stmt *stmt = block->stmts.items[i];

	if (stmt->kind != KS_LOOP || stmt->loop.kind != K_LOOP_LANES)
		return false;
	for (int k = 0; k < cells->shared.n; k++)
		try_buffer(cells, stmt, &cells->shared.items[k]);
	vec_push(cells->lowered->arena, &out->stmts, stmt);
	return true;
}

void lower_lane_cells(struct k_lowered *lowered)
{
	for (int i = 0; i < lowered->program->functions.n; i++) {
		struct k_function *function = lowered->program->functions.items[i];
		struct cells cells = { .lowered = lowered };

		if (!is_kernel_of_blocks(function))
			continue;
		k_walk_block(&function->body, &(struct k_visitor) { .stmt = note_shared, .user = &cells });
		if (cells.shared.n)
			lower_each(lowered, function, &cells.visible, take, &cells);
	}
}
