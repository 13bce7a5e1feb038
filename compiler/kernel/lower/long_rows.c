/* SPDX-License-Identifier: MIT
 *
 * Rows that take more registers than there are: in blocks of about equal length (k_row_blocks), each with the whole
 * loop over what is added. All blocks but the last one have the same length, so that one loop runs over them. What else
 * an iteration does is done once: PMG_DEFERRED iterations do all but add to the row, and keep the variables that the
 * terms read; then they add, for one block after the other:
 *
 *     loop p_first … step PMG_DEFERRED
 *         loop p …                        ahead
 *             sum += …
 *             sum_ahead[p - p_first] = sum
 *         loop t_block …
 *             loop p …                    later
 *                 Y_row[j] += D[…]*sum_ahead[p - p_first]
 *
 * So an iteration may write nothing that a later one reads: but for those variables, what the terms and the conditions
 * around them read is written nowhere in the loop. */
#include <string.h>

#include "kernel/lower/rows_private.h"

/* ---- what of an iteration adds to the row ---- */

/* The way to the loop over the cells leads into a statement. */
static bool leads_to(const struct row *row, const struct k_stmt *stmt)
{
	if (stmt == row->cells)
		return true;
	for (int i = 0; i < row->way.n; i++)
		if (row->way.items[i] == stmt)
			return true;
	return false;
}

static bool is_constant(const struct k_stmt *stmt)
{
	return stmt->kind == KS_LET && let_is_constant(&stmt->let);
}

/* Does a block do nothing but add to the row? */
static bool only_adds(const struct row *row, const struct k_block *block)
{
	for (int i = 0; i < block->stmts.n; i++) {
		const struct k_stmt *stmt = block->stmts.items[i];

		if (!is_constant(stmt) && !leads_to(row, stmt))
			return false;
		if (stmt->kind == KS_WHILE || (stmt->kind == KS_IF && stmt->branch.has_otherwise))
			return false;
		if (stmt->kind == KS_IF && !only_adds(row, &stmt->branch.then))
			return false;
		if (stmt->kind == KS_BLOCK && !only_adds(row, &stmt->body))
			return false;
	}
	return true;
}

/* ---- an iteration in two parts ---- */

struct parts {
	struct row *row;
	const char *first, *stop;       /* of the iterations that are done ahead */
	VEC(const struct k_let *) values;       /* variables that are kept */
	VEC(const char *) arrays;       /* where */
};

static struct k_expr *kept_value(const struct parts *parts, int i)
{
	struct arena *arena = parts->row->arena;

	struct k_expr *number = k_binary(arena, K_SUB, k_name(arena, parts->row->around->loop.name),
					 k_name(arena, parts->first));
	struct k_expr *value = k_at(arena, parts->arrays.items[i], number);

	value->type = k_scalar(parts->values.items[i]->type.name);
	return value;
}

static struct k_block later_part(const struct row *row, const struct k_block *block);

static struct k_stmt *later_stmt(const struct row *row, const struct k_stmt *stmt)
{
	struct k_stmt *later = arena_new(row->arena, struct k_stmt);

	*later = *stmt;
	if (stmt->kind == KS_BLOCK)
		later->body = later_part(row, &stmt->body);
	if (stmt->kind == KS_IF) {
		later->branch.then = later_part(row, &stmt->branch.then);
		later->branch.otherwise = (struct k_block) { 0 };
		later->branch.has_otherwise = false;
	}
	return later;
}

/* Adds to the row, with the conditions around that and constants. */
static struct k_block later_part(const struct row *row, const struct k_block *block)
{
	struct k_block later = { 0 };

	for (int i = 0; i < block->stmts.n; i++) {
		struct k_stmt *stmt = block->stmts.items[i];

		if (stmt == row->cells || is_constant(stmt))
			vec_push(row->arena, &later.stmts, stmt);
		else if (leads_to(row, stmt))
			vec_push(row->arena, &later.stmts, later_stmt(row, stmt));
	}
	return later;
}

static void keep_values(const struct parts *parts, struct k_block *out)
{
	struct k_builder b = k_builder_new(parts->row->arena, out);

	b.span = parts->row->cells->span;
	for (int i = 0; i < parts->values.n; i++)
		k_set(&b, kept_value(parts, i), k_name(parts->row->arena, parts->values.items[i]->name));
}

static void add_ahead(const struct parts *parts, const struct k_block *block, struct k_block *out);

/* Values are kept whether or not a condition lets the row be added to. */
static void add_way_ahead(const struct parts *parts, const struct k_stmt *stmt, struct k_block *out)
{
	struct row *row = parts->row;
	struct k_stmt *ahead;
	struct k_block body = { 0 };

	if (stmt == row->cells) {
		keep_values(parts, out);
	} else if (stmt->kind == KS_IF && !stmt->branch.has_otherwise && only_adds(row, &stmt->branch.then)) {
		keep_values(parts, out);
	} else {
		ahead = arena_new(row->arena, struct k_stmt);
		*ahead = *stmt;
		add_ahead(parts, stmt->kind == KS_IF ? &stmt->branch.then : &stmt->body, &body);
		*k_body(ahead) = body;
		vec_push(row->arena, &out->stmts, ahead);
	}
}

static void add_ahead(const struct parts *parts, const struct k_block *block, struct k_block *out)
{
	for (int i = 0; i < block->stmts.n; i++) {
		struct k_stmt *stmt = block->stmts.items[i];

		if (leads_to(parts->row, stmt))
			add_way_ahead(parts, stmt, out);
		else
			vec_push(parts->row->arena, &out->stmts, stmt);
	}
}

/* ---- may they be apart ---- */

struct waiting {
	struct parts *parts;
	const struct k_block *later;
	bool can;
};

/* The declaration of a name on the way to the cells; NULL: it is declared elsewhere. */
static const struct k_let *declared_on_way(const struct row *row, const char *name)
{
	for (int i = 0; i < row->lets.n; i++)
		if (strcmp(row->lets.items[i]->let.name, name) == 0)
			return &row->lets.items[i]->let;
	return NULL;
}

static void note_value(struct parts *parts, const struct k_let *let)
{
	for (int i = 0; i < parts->values.n; i++)
		if (parts->values.items[i] == let)
			return;
	vec_push(parts->row->arena, &parts->values, let);
}

static bool look_at_name(const struct k_expr *expr, void *user)
{
	struct waiting *waiting = user;
	const struct row *row = waiting->parts->row;
	const struct k_let *let = expr->kind == KE_NAME ? declared_on_way(row, expr->text) : NULL;
	struct k_uses later;

	if (expr->kind != KE_NAME || strcmp(expr->text, row->buffer) == 0 ||
	    strcmp(expr->text, row->cells->loop.name) == 0)
		return true;
	later = k_uses_in_block(waiting->later, expr->text);
	if (let && let->is_variable && !let->extents.n && !let->type.is_pointer && later.writes == 0)
		note_value(waiting->parts, let);
	else if (let)
		waiting->can = waiting->can && !let->is_variable;
	else
		waiting->can = waiting->can && k_uses_in_block(&row->around->loop.body, expr->text).writes == 0;
	return true;
}

/* A constant that is computed a second time may read no variable of the iteration. */
static bool constants_last(const struct parts *parts, const struct k_block *later)
{
	for (int i = 0; i < parts->values.n; i++)
		for (int k = 0; k < parts->row->lets.n; k++) {
			const struct k_let *let = &parts->row->lets.items[k]->let;

			if (!let->is_variable && let->value && k_mentions(later, let->name) &&
			    k_expr_mentions(let->value, parts->values.items[i]->name))
				return false;
		}
	return true;
}

/* A condition that is asked a second time may read no variable that changes behind it. */
static bool conditions_last(const struct parts *parts)
{
	const struct row *row = parts->row;

	for (int i = 0; i < parts->values.n; i++)
		for (int k = 0; k < row->way.n; k++) {
			const struct k_stmt *stmt = row->way.items[k];
			const char *name = parts->values.items[i]->name;

			if (stmt->kind == KS_IF && k_expr_mentions(stmt->branch.condition, name) &&
			    k_uses_in_block(&stmt->branch.then, name).writes > 0)
				return false;
		}
	return true;
}

static bool can_wait(struct parts *parts, const struct k_block *later)
{
	const struct k_loop *around = &parts->row->around->loop;
	struct waiting waiting = { parts, later, !around->is_down && !around->step && !parts->row->is_on_byway };

	k_walk_block(later, &(struct k_visitor) { .expr = look_at_name, .user = &waiting });
	return waiting.can && constants_last(parts, later) && conditions_last(parts);
}

bool row_can_have_blocks(struct row *row, const struct k_row_limits *limits)
{
	struct parts parts = { .row = row };
	struct k_row_blocks blocks;
	struct k_block later;

	if (!k_row_blocks(limits, row->length, vectors_cell_size(row), &blocks))
		return false;
	if (only_adds(row, &row->around->loop.body))
		return true;
	later = later_part(row, &row->around->loop.body);
	k_drop_unread(row->arena, &later);
	return can_wait(&parts, &later);
}

/* ---- blocks ---- */

struct keeping {
	struct row *row;
	const struct parts *parts;      /* NULL: the loop does nothing but add to the row */
	struct k_stmt *loop;            /* that is run for each block */
	bool begins_at_zero;
};

/* In the first of the parts at zero, in the others at what is in memory. */
static void begin_block(struct k_builder *b, const struct keeping *keeping, const struct row *block)
{
	const struct parts *parts = keeping->parts;

	if (!keeping->begins_at_zero) {
		vectors_read(b, block);
	} else if (!parts) {
		vectors_begin(b, block);
	} else {
		k_begin_if(b, k_binary(b->arena, K_EQ, k_name(b->arena, parts->first),
				       keeping->row->around->loop.first));
		vectors_begin(b, block);
		k_begin_else(b);
		vectors_read(b, block);
		k_end(b);
	}
}

static struct k_expr *kept_of(const struct k_expr *expr, void *user)
{
	const struct parts *parts = user;

	for (int i = 0; parts && expr->kind == KE_NAME && i < parts->values.n; i++)
		if (strcmp(expr->text, parts->values.items[i]->name) == 0)
			return kept_value(parts, i);
	return NULL;
}

static void add_block(struct k_builder *b, const struct row *part, void *user)
{
	const struct keeping *keeping = user;
	const struct k_replacing replacing = { .expr = kept_of, .user = (void *) keeping->parts };
	struct row block = *part, behind;
	struct k_stmt cells;

	block.around = k_copy_stmt(b->arena, keeping->loop, &replacing);
	row_find_cells(&block);
	block.cell = row_store(&block)->targets.items[0];
	row_name(&block);
	behind = block;
	cells = *block.cells;
	behind.cells = &cells;
	vectors_declare(b, &block);
	begin_block(b, keeping, &block);
	vectors_update(&block);
	k_add_as_it_is(b, block.around);
	vectors_write(b, &behind);
}

static void add_blocks(struct k_builder *b, struct keeping *keeping, const struct k_row_limits *limits)
{
	row_add_blocks(b, keeping->row, limits, &(struct row_block_adder) { add_block, keeping });
}

/* ---- parts ---- */

/* The loop over the iterations of a part. */
static struct k_stmt *loop_of(const struct parts *parts, struct k_block body)
{
	struct arena *arena = parts->row->arena;
	struct k_stmt *loop = arena_new(arena, struct k_stmt);

	*loop = *parts->row->around;
	loop->loop.first = k_name(arena, parts->first);
	loop->loop.bound = k_name(arena, parts->stop);
	loop->loop.is_short = false;
	loop->loop.body = body;
	k_drop_unread(arena, &loop->loop.body);
	return loop;
}

static const char *declare_name(struct row *row, const char *form, const char *of)
{
	return name_list_new(row->arena, &row->visible, row->around, arena_printf(row->arena, form, of));
}

static void declare_arrays(struct k_builder *b, struct parts *parts)
{
	for (int i = 0; i < parts->values.n; i++) {
		const struct k_let *let = parts->values.items[i];

		vec_push(b->arena, &parts->arrays, declare_name(parts->row, "%s_ahead", let->name));
		k_array(b, k_scalar(let->type.name), parts->arrays.items[i], k_name(b->arena, "PMG_DEFERRED"), NULL);
	}
}

static void keep_in_parts(struct k_builder *b, struct row *row, bool begins_at_zero,
			  const struct k_row_limits *limits)
{
	const struct k_loop *around = &row->around->loop;
	struct parts parts = { .row = row };
	struct keeping keeping = { row, &parts, NULL, begins_at_zero };
	struct k_block later = later_part(row, &around->body), ahead = { 0 };
	struct k_expr *length = k_name(b->arena, "PMG_DEFERRED");

	k_drop_unread(b->arena, &later);
	can_wait(&parts, &later);
	parts.first = declare_name(row, "%s_first", around->name);
	k_begin_for(b, "int64_t", parts.first, around->first, around->bound, length);
	parts.stop = declare_name(row, "%s_stop", around->name);
	k_const(b, k_scalar("int64_t"), parts.stop,
		K_CALL(b->arena, "PMG_UP_TO", k_binary(b->arena, K_ADD, k_name(b->arena, parts.first), length),
		       around->bound));
	declare_arrays(b, &parts);
	add_ahead(&parts, &around->body, &ahead);
	keeping.loop = loop_of(&parts, later);
	k_add_as_it_is(b, loop_of(&parts, ahead));
	add_blocks(b, &keeping, limits);
	k_end(b);
}

void keep_long_row(struct k_builder *b, struct row *row, bool begins_at_zero, const struct k_row_limits *limits)
{
	struct keeping keeping = { row, NULL, row->around, begins_at_zero };

	if (only_adds(row, &row->around->loop.body))
		add_blocks(b, &keeping, limits);
	else
		keep_in_parts(b, row, begins_at_zero, limits);
}
