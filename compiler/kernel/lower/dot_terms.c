/* SPDX-License-Identifier: MIT
 *
 * The terms of a dot product as vectors of runtime/pmgrt_row.h. Where the last vector of a row overlaps the one before,
 * what both have is added once: PMG_ONCE_F64 is zero in the lanes of the last one that the other has. Of a product of
 * two reads it stands at both factors, at the kept one above the loop, so that a processor that multiplies and adds at
 * once does so still. */
#include <string.h>

#include "kernel/lower/dots_private.h"

/* ---- the loop ---- */

static bool is_reduced(const struct k_loop *loop, const char *name)
{
	bool is = false;

	for (int i = 0; i < loop->reductions.n; i++)
		is = is || (strcmp(loop->reductions.items[i].op, "+") == 0 &&
			    strcmp(loop->reductions.items[i].name, name) == 0);
	return is;
}

static bool is_float(const struct k_expr *expr)
{
	return expr->type.name && !expr->type.is_pointer &&
	       (strcmp(expr->type.name, "double") == 0 || strcmp(expr->type.name, "float") == 0);
}

/* sum += …, where the loop may add in any order, as one of lanes that have sums of their own. */
static bool adds_up(const struct k_loop *loop)
{
	const struct k_stmt *stmt = loop->body.stmts.n == 1 ? loop->body.stmts.items[0] : NULL;
	const struct k_expr *sum;

	if (!stmt || stmt->kind != KS_STORE || stmt->store.targets.n != 1 || stmt->store.mode != K_STORE_PLAIN ||
	    stmt->store.is_step || (stmt->store.op != K_ADD && stmt->store.op != K_SUB))
		return false;
	sum = stmt->store.targets.items[0];
	return sum->kind == KE_NAME && is_float(sum) &&
	       (loop->kind == K_LOOP_LANES || is_reduced(loop, sum->text)) &&
	       !k_expr_mentions(stmt->store.value, sum->text) && k_expr_mentions(stmt->store.value, loop->name);
}

static bool has_length(const struct dot *dot)
{
	const int64_t size = vectors_cell_size(&dot->row);
	struct k_row_blocks blocks;

	if (dot->row.team)
		return dot->row.length*size <= dot->limits->longest;
	return dot->row.length*size >= dot->limits->shortest &&
	       k_row_blocks(dot->limits, dot->row.length, size, &blocks);
}

bool dot_is(struct dot *dot, struct k_stmt *stmt)
{
	struct row *row = &dot->row;

	if (stmt->kind != KS_LOOP || stmt->loop.is_down ||
	    !(row->team ? team_shares(row->team, &stmt->loop) : stmt->loop.kind == K_LOOP_SIMD) || stmt->loop.step ||
	    !stmt->loop.row.length || stmt->loop.row.length->kind != KE_INT || !adds_up(&stmt->loop))
		return false;
	row->cells = stmt;
	row->length = stmt->loop.row.length->integer;
	row->cell = row_store(row)->targets.items[0];
	return has_length(dot) && vectors_can_have(row, row_store(row)->value);
}

/* ---- terms ---- */

struct term {
	const struct dot *dot;
	const struct row *block;
	const char *number;             /* the variable that numbers the vectors */
};

static struct k_expr *part_of(const struct k_expr *expr, void *user)
{
	const struct term *term = user;
	struct arena *arena = term->block->arena;

	if (expr == term->dot->kept)
		return k_at(arena, term->block->name, k_name(arena, term->number));
	return vectors_part(term->block, expr);
}

static struct k_expr *vector_of(const struct term *term, const struct k_expr *expr)
{
	return k_copy_expr(term->block->arena, expr, &(struct k_replacing) { .expr = part_of, .user = (void *) term });
}

/* What is zero where a cell of the vector, which may be the last one, is one of the vector before, too. */
static struct k_expr *once(const struct term *term, struct k_expr *value)
{
	const struct row *block = term->block;
	struct arena *arena = block->arena;

	if (block->team || block->length*vectors_cell_size(block) % term->dot->limits->shortest == 0)
		return value;
	return K_CALL(arena, vectors_macro(block, "ONCE"), k_int(arena, block->length), k_name(arena, term->number),
		      value);
}

/* Are the terms products of what is kept and another read? */
static bool is_product_with_kept(const struct dot *dot)
{
	const struct k_expr *value = row_store(&dot->row)->value, *const *args = (void *) value->args.items;

	return dot->kept && value->kind == KE_BINARY && value->op == K_MUL &&
	       (args[0] == dot->kept || args[1] == dot->kept) && vectors_read_one(&dot->row, args[0]) &&
	       vectors_read_one(&dot->row, args[1]);
}

static struct k_expr *term_value(const struct term *term)
{
	const struct k_expr *value = row_store(&term->dot->row)->value;
	struct k_expr *factors[2];

	if (!is_product_with_kept(term->dot))
		return once(term, vector_of(term, value));
	for (int i = 0; i < 2; i++) {
		factors[i] = vector_of(term, value->args.items[i]);
		if (value->args.items[i] != term->dot->kept)
			factors[i] = once(term, factors[i]);
	}
	return k_binary(term->block->arena, K_MUL, factors[0], factors[1]);
}

struct along {
	const struct dot *dot;
	bool needs_cell;
};

static bool look_along(const struct k_expr *expr, void *user)
{
	struct along *along = user;

	along->needs_cell |= expr->kind == KE_NAME && strcmp(expr->text, along->dot->row.cells->loop.name) == 0;
	return expr != along->dot->kept;
}

/* Are there other reads along the row than of what is kept? */
static bool needs_cell(const struct dot *dot)
{
	struct along along = { dot, false };

	k_walk_expr(row_store(&dot->row)->value, &(struct k_visitor) { .expr = look_along, .user = &along });
	return along.needs_cell;
}

/* The names there, and that of the loop over the cells. */
static name_list names_inside(const struct row *block)
{
	name_list names = block->visible;

	vec_push(block->arena, &names, block->cells->loop.name);
	return names;
}

void dot_add_terms(struct k_builder *b, const struct row *block, void *user)
{
	const struct dot *dot = user;
	const name_list names = names_inside(block);
	struct term term = { dot, block, vectors_open(b, block, &names, needs_cell(dot)) };
	struct k_expr *number = k_name(b->arena, term.number);
	struct k_expr *place = dot->place ? dot->place : k_binary(b->arena, K_REM, number, k_int(b->arena, 2));

	if (block->team)
		team_add_cells(b, dot, term.number, term_value(&term));
	else
		k_update(b, row_store(&dot->row)->op, k_at(b->arena, dot->sums, place), term_value(&term));
	k_end(b);
}

/* ---- what is kept ---- */

/* The buffer of a read, as which its cells may be kept. */
static const char *buffer_of(const struct k_expr *read)
{
	while (read->kind != KE_LOAD)
		read = read->args.items[0];
	return read->args.items[0]->text;
}

void dot_keep_read(struct k_builder *b, struct dot *dot, struct row *block)
{
	struct term term = { &(struct dot) { .row = dot->row, .limits = dot->limits }, block, NULL };
	struct k_expr *vector;
	name_list names;

	block->name = lower_name(b->arena, &block->visible, dot->row.around,
				 arena_printf(b->arena, "%s_row", buffer_of(dot->kept)));
	vec_push(b->arena, &block->visible, block->name);
	names = names_inside(block);
	vectors_declare(b, block);
	term.number = vectors_open(b, block, &names, true);
	if (block->team && team_has_groups(block->team))
		k_macro(b, "PMG_READ_ONCE");
	vector = vector_of(&term, dot->kept);
	if (is_product_with_kept(dot))
		vector = once(&term, vector);
	k_set(b, k_at(b->arena, block->name, k_name(b->arena, term.number)), vector);
	k_end(b);
}
