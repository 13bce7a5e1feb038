/* SPDX-License-Identifier: MIT
 *
 * Rows that loops write one after the other, in registers. A recurrence that runs row by row, i after i - 1 or after
 * i + 1, reads what the iteration before has written, and a load would wait for the store. Ahead of such a loop stands
 *
 *     PMG_CARRIED("x", x_block, 0, 16, false);
 *     for (int64_t i = 0; i < n; i++)
 *         for (int64_t lane = 0; lane < 16; lane += PMG_LANES(double))
 *             PMG_WRITE_F64(x_block[16*i + lane]) = … PMG_READ_F64(x_block[16*i - 16 + lane]) …;
 *
 * Each iteration keeps what it writes in vectors, x_now, and the next one has it as x_last; the loop may run in parts,
 * inside of one over windows of rows. For the first row, x_last is read from memory, unless no row is before that one.
 * All that writes the buffer in the loop must be such stores. A row that is not read later is written all the same. */
#include <string.h>

#include "kernel/lower/forward_private.h"

struct walk {
	struct arena *arena;
	name_list visible;
};

/* ---- the calls ahead of a loop ---- */

enum { STEM, BUFFER, ROW, STEP, BEGINS_EMPTY, FIRST };

static const struct k_expr *carried_call(const struct k_stmt *stmt)
{
	const bool is_call = stmt->kind == KS_CALL && stmt->value->kind == KE_CALL;

	return is_call && (strcmp(stmt->value->text, "PMG_CARRIED") == 0 ||
			   strcmp(stmt->value->text, "PMG_CARRIED_FROM") == 0) ? stmt->value : NULL;
}

static struct carried read_call(struct arena *arena, const struct k_expr *call)
{
	struct k_expr *const *args = call->args.items;
	const struct affine step = affine_of(arena, args[STEP]);

	return (struct carried) { .stem = arena_copy(arena, args[STEM]->text + 1, strlen(args[STEM]->text) - 2),
				  .buffer = args[BUFFER]->text, .row = affine_of(arena, args[ROW]),
				  .step = step.constant, .begins_empty = args[BEGINS_EMPTY]->integer,
				  .first = call->args.n > FIRST ? args[FIRST] : NULL };
}

/* ---- what the loop writes ---- */

struct writes {
	struct forward *forward;
	struct carried *carried;
	const struct k_loop *row;       /* over the vectors of a row; NULL: none is known yet */
	const struct k_loop *lanes;     /* the one of these that was entered last; NULL */
	int n;                          /* that set vectors of rows */
	bool are_of_row;
};

/* The row that the loop is at; under a condition of its variable, that need not be seen in the index. */
static bool is_of_row(const struct writes *writes, struct k_expr *index)
{
	struct arena *arena = writes->forward->arena;
	const struct affine row = row_before(writes->forward, writes->carried, 0), at = affine_of(arena, index);
	const struct affine lane = affine_name(arena, writes->lanes->name);
	const struct affine cell = affine_combine(arena, 1, &row, 1, &lane);

	return affine_is_equal(arena, &at, &cell) || !k_expr_mentions(index, writes->forward->loop->loop.name);
}

static bool note_write(const struct k_stmt *stmt, void *user)
{
	struct writes *writes = user;
	const struct k_expr *target = stmt->kind == KS_STORE ? stmt->store.targets.items[0] : NULL;
	struct k_expr *index;

	if (is_over_vectors(stmt))
		writes->lanes = is_over_row(writes->row, stmt) ? &stmt->loop : NULL;
	if (!target || !writes->lanes || target->kind != KE_CALL || target->args.n != 1 ||
	    strncmp(target->text, "PMG_WRITE_", 10) != 0)
		return true;
	index = cell_index(target->args.items[0], writes->carried->buffer);
	if (!index)
		return true;
	writes->n++;
	writes->row = writes->row ? writes->row : writes->lanes;
	writes->are_of_row = writes->are_of_row && stmt->store.op == K_OP_N && stmt->store.targets.n == 1 &&
			     is_of_row(writes, index);
	writes->carried->suffix = target->text + 10;
	writes->carried->type = k_scalar(target->type.name);
	return true;
}

static bool may_be_kept(struct forward *forward, struct carried *carried)
{
	const struct k_block *body = &forward->loop->loop.body;
	const struct k_uses uses = k_uses_in_block(body, carried->buffer);
	struct writes writes = { .forward = forward, .carried = carried, .row = forward->lanes,
				 .are_of_row = true };

	k_walk_block(body, &(struct k_visitor) { .stmt = note_write, .user = &writes });
	if (!writes.n || !writes.are_of_row || uses.writes != writes.n || uses.addresses)
		return false;
	forward->lanes = writes.row;
	return true;
}

/* ---- the vectors ---- */

static struct k_stmt *open_vectors(const struct forward *forward, struct k_builder *b)
{
	const struct k_loop *lanes = forward->lanes;
	struct k_stmt *stmt = k_begin_for(b, lanes->type.name, lanes->name, lanes->first, lanes->bound, lanes->step);

	stmt->loop.kind = K_LOOP_UNROLLED;
	return stmt;
}

static void declare(const struct forward *forward, struct k_builder *b, const struct carried *carried,
		    const char *name, bool is_zero)
{
	struct arena *a = forward->arena;
	const struct k_loop *lanes = forward->lanes;

	k_array(b, carried->type, name, K_CALL(a, "PMG_VECTORS", lanes->step->args.items[0], lanes->bound),
		is_zero ? K_LIST(a, K_LIST(a, k_int(a, 0))) : NULL);
}

/* The variable of the lanes stands behind what is the same for all rows. */
static struct affine first_cell(const struct forward *forward, const struct carried *carried)
{
	struct arena *a = forward->arena;
	const struct affine lane = affine_name(a, forward->lanes->name), first = affine_of(a, carried->first);
	const struct affine from_row = affine_combine(a, 1, &first, -1, &carried->row);
	const struct affine cell = affine_combine(a, 1, &carried->row, 1, &lane);

	return affine_combine(a, 1, &cell, 1, &from_row);
}

/* What memory has of the row before the first one. */
static void read_first(const struct forward *forward, struct k_builder *b, const struct carried *carried)
{
	struct arena *a = forward->arena;
	const struct affine cell = first_cell(forward, carried);

	open_vectors(forward, b);
	k_set(b, vector_of(forward, forward->lanes, carried->last),
	      K_CALL(a, arena_printf(a, "PMG_READ_%s", carried->suffix),
		     k_at(a, carried->buffer, affine_expr(a, &cell))));
	k_end(b);
}

static void begin(const struct forward *forward, struct k_builder *b)
{
	for (int i = 0; i < forward->carried.n; i++) {
		const struct carried *carried = &forward->carried.items[i];

		declare(forward, b, carried, carried->last, !carried->first);
		if (carried->first)
			read_first(forward, b, carried);
	}
}

static void add_copies(const struct forward *forward, struct k_builder *b)
{
	open_vectors(forward, b);
	for (int i = 0; i < forward->carried.n; i++)
		k_set(b, vector_of(forward, forward->lanes, forward->carried.items[i].last),
		      vector_of(forward, forward->lanes, forward->carried.items[i].now));
	k_end(b);
}

static bool find_vectors(const struct k_stmt *stmt, void *user)
{
	bool *has_any = user;

	*has_any = *has_any || is_over_vectors(stmt);
	return !*has_any;
}

/* A body begins with prefetches and pointers to its rows, which may have to be brought there. */
static bool is_of_head(const struct k_stmt *stmt)
{
	bool has_vectors = false;

	k_walk_stmt(stmt, &(struct k_visitor) { .stmt = find_vectors, .user = &has_vectors });
	return !has_vectors && ((stmt->kind == KS_LET && stmt->let.type.is_pointer) || stmt->kind == KS_IF ||
				(stmt->kind == KS_CALL && !carried_call(stmt)));
}

static void keep_rows(struct forward *forward)
{
	struct k_block out = { 0 }, *body = &forward->loop->loop.body;
	const struct k_block kept = forwarded(forward, body);
	struct k_builder b = k_builder_new(forward->arena, &out);
	int i = 0;

	b.span = forward->loop->span;
	for (; i < kept.stmts.n && is_of_head(kept.stmts.items[i]); i++)
		k_add_as_it_is(&b, kept.stmts.items[i]);
	for (int k = 0; k < forward->carried.n; k++)
		declare(forward, &b, &forward->carried.items[k], forward->carried.items[k].now,
			forward->carried.items[k].is_partial);
	k_add_from(&b, &kept, i);
	add_copies(forward, &b);
	*body = out;
}

/* ---- a loop and the calls ahead of it ---- */

/* The loop over rows, or, in one over windows, over those of a window; NULL. */
static struct k_stmt *loop_of(struct k_stmt *stmt)
{
	struct k_stmt *found = stmt->kind == KS_LOOP ? stmt : NULL;

	for (int i = 0; stmt->kind == KS_WHILE && i < stmt->repeat.body.stmts.n; i++)
		if (stmt->repeat.body.stmts.items[i]->kind == KS_LOOP)
			found = found ? found : stmt->repeat.body.stmts.items[i];
	return found && found->loop.kind == K_LOOP_SERIAL && !found->loop.step ? found : NULL;
}

/* Statement `i` of the block or one behind it, with declarations ahead. */
static struct k_stmt *find_loop(const struct k_block *block, int i)
{
	while (i < block->stmts.n && block->stmts.items[i]->kind == KS_LET)
		i++;
	return i < block->stmts.n ? loop_of(block->stmts.items[i]) : NULL;
}

static void keep_those_read(struct forward *forward)
{
	int n = 0;

	(void) forwarded(forward, &forward->loop->loop.body);
	for (int i = 0; i < forward->carried.n; i++)
		if (forward->carried.items[i].is_read)
			forward->carried.items[n++] = forward->carried.items[i];
	forward->carried.n = n;
}

static void name_vectors(struct walk *walk, struct forward *forward, const struct k_block *block, int i)
{
	struct arena *a = walk->arena;

	for (int k = 0; k < forward->carried.n; k++) {
		struct carried *carried = &forward->carried.items[k];

		carried->last = name_list_ahead(a, &walk->visible, block, i, arena_printf(a, "%s_last", carried->stem));
		carried->now = name_list_ahead(a, &walk->visible, block, i, arena_printf(a, "%s_now", carried->stem));
	}
}

/* Adds what stands ahead of a loop, in the place of the calls from statement `i` of the block on. Returns the number
 * of the first statement that is no such call. */
static int add_ahead(struct walk *walk, const struct k_block *block, int i, struct k_block *out)
{
	struct forward forward = { .arena = walk->arena };
	struct k_builder b = k_builder_new(walk->arena, out);
	const int visible = walk->visible.n;
	int end = i;

	while (end < block->stmts.n && carried_call(block->stmts.items[end]))
		end++;
	forward.loop = find_loop(block, end);
	for (int k = i; k < end && forward.loop; k++) {
		struct carried carried = read_call(walk->arena, carried_call(block->stmts.items[k]));

		if (may_be_kept(&forward, &carried))
			vec_push(walk->arena, &forward.carried, carried);
	}
	name_vectors(walk, &forward, block, end);
	if (forward.carried.n)
		keep_those_read(&forward);
	if (forward.carried.n) {
		b.span = block->stmts.items[i]->span;
		begin(&forward, &b);
		keep_rows(&forward);
	}
	walk->visible.n = visible;
	for (int k = 0; k < forward.carried.n; k++)
		vec_push(walk->arena, &walk->visible, forward.carried.items[k].last);
	return end;
}

/* ---- the walk ---- */

static void lower_block(struct k_block *block, void *user)
{
	struct walk *walk = user;
	const int visible = walk->visible.n;
	struct k_block out = { 0 };

	for (int i = 0; i < block->stmts.n;) {
		struct k_stmt *stmt = block->stmts.items[i];

		if (carried_call(stmt)) {
			i = add_ahead(walk, block, i, &out);
			continue;
		}
		name_list_inside(walk->arena, &walk->visible, stmt, lower_block, walk);
		name_list_declare(walk->arena, &walk->visible, stmt);
		vec_push(walk->arena, &out.stmts, stmt);
		i++;
	}
	walk->visible.n = visible;
	*block = out;
}

void lower_forward(struct k_lowered *lowered)
{
	for (int i = 0; i < lowered->program->functions.n; i++) {
		struct k_function *function = lowered->program->functions.items[i];
		struct walk walk = { .arena = lowered->arena };

		name_list_begin(walk.arena, &walk.visible, lowered->program, function);
		lower_block(&function->body, &walk);
	}
}
