/* SPDX-License-Identifier: MIT
 *
 * Dot products. A loop of vectors, of which builders say how many iterations it has, adds to a variable:
 *
 *     loop t …, simd, reduce + sum, row 96
 *         sum += D[96*n + t]*Y[96*v + t]
 *
 * It becomes one over vectors of runtime/pmgrt_row.h, which adds to two sums in turn, whose lanes are added up once. A
 * read that the loop around does not move is made above that loop (dot_around.c): C compilers cannot do so where the
 * loop stores something, since they do not see that it is stored elsewhere. Several iterations of it make their dot
 * products together, where they may (dot_batches.c). A row that takes more registers than there are is taken in blocks,
 * of which nothing is kept but for a batch. */
#include "kernel/lower/dots_private.h"

struct walk {
	struct k_lowered *lowered;
	const struct k_team *team;      /* of a device that run the function; NULL: none do */
	name_list visible, variables;   /* names; those that may change */
	const struct dot *kept;         /* what the loop around keeps for its dot product; NULL: nothing */
	bool is_in_batch;               /* the dot products of the loop around are made */
};

static struct dot dot_here(const struct walk *walk)
{
	struct dot dot = { .limits = &walk->lowered->target->rows, .variables = walk->variables };

	dot.row.arena = walk->lowered->arena;
	dot.row.visible = walk->visible;
	dot.row.team = walk->team;
	return dot;
}

/* ---- where it stands ---- */

static void add_in_turn(struct walk *walk, struct dot *dot, const struct k_block *block, struct k_block *out)
{
	const struct k_stmt beside = { .kind = KS_BLOCK, .body = *block };
	struct k_builder b = k_builder_new(walk->lowered->arena, out);
	struct arena *a = b.arena;

	b.span = dot->row.cells->span;
	dot->sums = name_list_new(a, &walk->visible, &beside, "sums");
	dot->row.visible = walk->visible;
	if (dot->row.team)
		team_declare_sums(&b, dot);
	else
		k_array(&b, vectors_type(&dot->row), dot->sums, k_int(a, 2),
			K_LIST(a, K_LIST(a, k_int(a, 0)), K_LIST(a, k_int(a, 0))));
	row_add_blocks(&b, &dot->row, dot->limits, &(struct row_block_adder) { dot_add_terms, dot });
	if (dot->row.team)
		team_take_sums(&b, dot);
	else
		k_update(&b, K_ADD, (struct k_expr *) dot->row.cell,
			 K_CALL(a, vectors_macro(&dot->row, "SUM"), k_name(a, dot->sums)));
}

static bool add_dot(struct walk *walk, struct k_stmt *stmt, const struct k_block *block, struct k_block *out)
{
	struct dot dot = dot_here(walk);

	if (walk->kept && walk->kept->row.cells == stmt)
		dot = *walk->kept;
	else if (!dot_is(&dot, stmt))
		return false;
	dot.row.around = stmt;
	add_in_turn(walk, &dot, block, out);
	return true;
}

/* ---- above the loop around ---- */

static void lower_block(struct walk *walk, struct k_block *block);

static void lower_inside(struct walk *walk, struct k_block *body, const struct dot *kept, bool is_in_batch)
{
	struct walk inside = *walk;

	inside.kept = kept;
	inside.is_in_batch = is_in_batch;
	lower_block(&inside, body);
}

static void add_around(struct walk *walk, struct dot *dot, bool is_long, bool is_batched, struct k_block *out)
{
	struct k_builder b = k_builder_new(walk->lowered->arena, out);
	struct k_stmt *around = dot->row.around;
	const int visible = walk->visible.n;

	b.span = around->span;
	if (!is_long) {
		k_begin_if(&b, loop_runs(b.arena, &around->loop));
		dot_keep_read(&b, dot, &dot->row);
		vec_push(b.arena, &walk->visible, dot->row.name);
	}
	if (is_batched) {
		lower_inside(walk, &dot_add_batches(&b, dot, &walk->visible)->repeat.body, NULL, true);
	} else {
		vec_push(b.arena, &walk->visible, around->loop.name);
		lower_inside(walk, &around->loop.body, dot, walk->is_in_batch);
		k_add_as_it_is(&b, around);
	}
	if (!is_long)
		k_end(&b);
	walk->visible.n = visible;
}

static bool add_kept(struct walk *walk, struct k_stmt *stmt, struct k_block *out)
{
	struct dot dot = dot_here(walk);
	bool is_long, is_batched;

	if (!dot_find_kept(&dot, stmt))
		return false;
	is_long = row_needs_blocks(&dot.row, dot.limits);
	is_batched = !walk->team && !walk->is_in_batch && dot_can_be_ahead(&dot);
	if (is_long && !is_batched)
		return false;
	add_around(walk, &dot, is_long, is_batched, out);
	return true;
}

/* ---- the walk ---- */

static void note_let(struct walk *walk, const struct k_let *let)
{
	vec_push(walk->lowered->arena, &walk->visible, let->name);
	if (let->is_variable && !let->extents.n && !let->type.is_pointer)
		vec_push(walk->lowered->arena, &walk->variables, let->name);
}

static void lower_stmt(struct walk *walk, struct k_stmt *stmt)
{
	const int visible = walk->visible.n, variables = walk->variables.n;
	struct k_block *before = stmt->kind == KS_WHILE ? &stmt->repeat.before : NULL;

	if (stmt->kind == KS_RECORD)
		return;
	if (stmt->kind == KS_LOOP)
		vec_push(walk->lowered->arena, &walk->visible, stmt->loop.name);
	for (int i = 0; before && i < before->stmts.n; i++)
		if (before->stmts.items[i]->kind == KS_LET)
			note_let(walk, &before->stmts.items[i]->let);
	if (stmt->kind == KS_IF)
		lower_inside(walk, &stmt->branch.otherwise, walk->kept, walk->is_in_batch);
	if (k_body(stmt))
		lower_inside(walk, k_body(stmt), walk->kept, walk->is_in_batch);
	walk->visible.n = visible;
	walk->variables.n = variables;
}

static void lower_block(struct walk *walk, struct k_block *block)
{
	const int visible = walk->visible.n, variables = walk->variables.n;
	struct k_block out = { 0 };

	for (int i = 0; i < block->stmts.n; i++) {
		struct k_stmt *stmt = block->stmts.items[i];

		if (!add_dot(walk, stmt, block, &out) && !add_kept(walk, stmt, &out)) {
			lower_stmt(walk, stmt);
			vec_push(walk->lowered->arena, &out.stmts, stmt);
		}
		if (stmt->kind == KS_LET)
			note_let(walk, &stmt->let);
	}
	walk->visible.n = visible;
	walk->variables.n = variables;
	*block = out;
}

static bool adds_to_variable(const struct k_loop *loop)
{
	const struct k_stmt *last = loop->body.stmts.n ? loop->body.stmts.items[loop->body.stmts.n - 1] : NULL;

	return last && last->kind == KS_STORE && last->store.targets.items[0]->kind == KE_NAME;
}

/* Loops that are left over add to a variable, and to no row. */
static bool forget(const struct k_stmt *stmt, void *user)
{
	(void) user;
	if (stmt->kind == KS_LOOP && (stmt->loop.reductions.n || adds_to_variable(&stmt->loop)))
		((struct k_stmt *) stmt)->loop.row = (struct k_row) { 0 };
	return true;
}

static void lower_function(struct k_lowered *lowered, struct k_function *function)
{
	struct walk walk = { .lowered = lowered, .team = function->team.lanes ? &function->team : NULL };

	name_list_begin(lowered->arena, &walk.visible, lowered->program, function);
	lower_block(&walk, &function->body);
	k_walk_block(&function->body, &(struct k_visitor) { .stmt = forget });
}

void lower_dots(struct k_lowered *lowered)
{
	for (int i = 0; i < lowered->program->functions.n; i++)
		lower_function(lowered, lowered->program->functions.items[i]);
}
