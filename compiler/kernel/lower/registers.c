/* SPDX-License-Identifier: MIT
 *
 * The registers of a lane, in a kernel of a device. Rows that are kept in vectors take the lane's share of their cells
 * as long as the kernel runs; a row that a loop over rounds of lanes reads takes its share while its products are made,
 * and what groups leave to lanes after several rounds, a sum of each. Where all groups have a row in each of these
 * rounds, the rows are read next to each other. */
#include <string.h>

#include "kernel/lower/lower_private.h"

struct counting {
	const struct k_team *team;
	struct k_registers found;
	const struct k_stmt *end;       /* a loop over rounds, with which counting ends, but for its sums; NULL */
	bool is_over;
	bool is_in_rounds;              /* in a loop whose iterations the lanes of a team have, one each at a time */
	const struct k_expr *vectors;   /* PMG_VECTORS(type, n): the loop around is over such vectors; NULL: none is */
};

int type_size_of(const char *c_name)
{
	for (int type = 0; type < TYPE_N; type++)
		if (strcmp(type_c_name((enum scalar_type) type), c_name) == 0)
			return type_size((enum scalar_type) type);
	return K_LONG_CELL;
}

static int64_t larger(int64_t a, int64_t b)
{
	return a < b ? b : a;
}

/* ---- rows ---- */

static int sum_size(const struct k_expr *vectors)
{
	return type_size_of(vectors->args.items[0]->of.name);
}

/* Bytes of a lane's vectors for cells of so many, of which the last one may reach behind the end of the row. */
static int64_t share_of(const struct counting *counting, const struct k_expr *vectors, int cell)
{
	const int64_t cells = (int64_t) counting->team->group*counting->team->width;

	return (vectors->args.items[1]->integer + cells - 1)/cells*counting->team->width*cell;
}

static void count_row(struct counting *counting, const struct k_let *let)
{
	const struct k_expr *vectors = let->extents.n ? let->extents.items[0] : NULL;

	if (is_call_of(vectors, "PMG_VECTORS"))
		counting->found.held += share_of(counting, vectors, sum_size(vectors));
}

/* Bytes of a cell that becomes part of a vector; 0: another expression. */
static int cell_of_read(const struct k_expr *expr)
{
	if (expr->kind != KE_CALL || k_callee_find(expr->text) != k_callee_find("PMG_READ_F64"))
		return 0;
	return is_call_of(expr, "PMG_READ_F64") || is_call_of(expr, "PMG_READ_F64_TO_F32") ? K_LONG_CELL
											   : K_LONG_CELL/2;
}

static bool count_read(const struct k_expr *expr, void *user)
{
	struct counting *counting = user;
	struct k_registers *found = &counting->found;
	const int cell = counting->is_in_rounds && counting->vectors ? cell_of_read(expr) : 0;

	if (!cell)
		return true;
	found->read = larger(found->read, share_of(counting, counting->vectors, cell));
	found->is_long = found->is_long || cell >= K_LONG_CELL;
	found->has_long_sums = found->has_long_sums || sum_size(counting->vectors) >= K_LONG_CELL;
	return true;
}

/* ---- sums ---- */

/* Does each group have a row in each of these rounds? Else there is a condition. */
static bool all_have_rows(const struct k_block *round)
{
	return round->stmts.items[round->stmts.n - 1]->kind != KS_IF;
}

bool k_leaves_sums(const struct k_block *body)
{
	const struct k_stmt *const *stmts = (const struct k_stmt *const *) body->stmts.items;

	return body->stmts.n == 3 && stmts[0]->kind == KS_LET && stmts[0]->let.extents.n > 0 &&
	       stmts[1]->kind == KS_LOOP && stmts[1]->loop.body.stmts.n > 0 && stmts[2]->kind == KS_CALL &&
	       is_call_of(stmts[2]->value, "pmg_cuda_leave");
}

static void count_sums(struct counting *counting, const struct k_block *body)
{
	struct k_registers *found = &counting->found;
	const struct k_let *sums;
	int64_t n;

	if (!k_leaves_sums(body))
		return;
	sums = &body->stmts.items[0]->let;
	n = sums->extents.items[0]->integer;
	found->held += all_have_rows(&body->stmts.items[1]->loop.body) ? (n - 1)*found->read
								       : n*type_size_of(sums->type.name);
	found->has_long_sums = true;
}

/* ---- the walk ---- */

static bool count_stmt(const struct k_stmt *stmt, void *user);

static void count_inside(struct counting *counting, const struct k_block *block)
{
	k_walk_block(block, &(struct k_visitor) { count_stmt, count_read, counting });
}

static void count_loop(struct counting *counting, const struct k_loop *loop)
{
	const struct counting outer = *counting;

	counting->is_in_rounds = outer.is_in_rounds || is_name_of(loop->step, "pmg_team");
	if (is_call_of(loop->bound, "PMG_VECTORS"))
		counting->vectors = loop->bound;
	count_inside(counting, &loop->body);
	counting->is_in_rounds = outer.is_in_rounds;
	counting->vectors = outer.vectors;
}

static bool count_stmt(const struct k_stmt *stmt, void *user)
{
	struct counting *counting = user;

	if (counting->is_over)
		return false;
	if (stmt->kind == KS_LET)
		count_row(counting, &stmt->let);
	if (stmt->kind == KS_LOOP)
		count_loop(counting, &stmt->loop);
	if (stmt->kind == KS_WHILE)
		count_inside(counting, &stmt->repeat.body);
	counting->is_over = counting->is_over || stmt == counting->end;
	if (stmt->kind == KS_WHILE && !counting->is_over)
		count_sums(counting, &stmt->repeat.body);
	return stmt->kind != KS_LOOP && stmt->kind != KS_WHILE;
}

struct k_registers k_registers_before(const struct k_team *team, const struct k_block *body, const struct k_stmt *end)
{
	struct counting counting = { .team = team, .end = end };

	count_inside(&counting, body);
	return counting.found;
}

struct k_registers k_registers_count(const struct k_team *team, const struct k_block *body)
{
	return k_registers_before(team, body, NULL);
}
