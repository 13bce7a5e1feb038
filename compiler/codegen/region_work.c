/* SPDX-License-Identifier: MIT
 *
 * How much work a parallel region has: what the runtime decides by how many threads it gets (runtime/kernel/team.c).
 * Operations are counted from the sizes, of all stages inside of the region, over those of their dims that no loop
 * around it has fixed; iterations are those of the loop that threads share. A range that depends on other dims counts
 * as the longest that the sizes allow, one that is data as the mean of its offsets array, else as a few iterations. */
#include <string.h>

#include "codegen/codegen_private.h"

/* Stages with the same number of points are one term. */
struct work_term {
	struct k_expr *points;          /* NULL: 1 */
	int64_t operations;
};

/* A stage that isl prints, maybe in several pieces: by the dims that vary in them. */
struct piece {
	struct stage *stage;
	uint64_t varies;                /* bit d: dim d */
	bool is_vector;
};

struct count {
	struct emit *e;
	VEC(struct piece) pieces;       /* none varies in some of the dims of another one of its stage alone */
	VEC(struct work_term) terms;
};

/* ---- which loops are inside ---- */

/* Is it an iterator of a loop inside of the region? */
static bool is_inside(const struct emit *e, const char *id)
{
	for (int i = 0; i < e->iterators.n; i++)
		if (!strcmp(e->iterators.items[i].id, id))
			return false;
	for (int i = 0; i < e->module->params.n; i++)
		if (!strcmp(e->module->params.items[i].name, id))
			return false;
	return true;
}

/* ---- a stage ---- */

static uint64_t bit_of(int dim)
{
	return UINT64_C(1) << dim % 64;
}

static struct k_expr *points_of(const struct count *count, const struct piece *piece)
{
	const dim_list *dims = &piece->stage->dims;
	struct k_expr *points = NULL;

	for (int d = 0; d < dims->n; d++)
		if (dims->items[d].kind == DIM_RANGE && (piece->varies & bit_of(d)))
			points = k_times(count->e->arena, points,
					 most_iterations(count->e, piece->stage, &dims->items[d]));
	return points;
}

static void add_term(struct count *count, struct k_expr *points, int64_t operations)
{
	for (int i = 0; i < count->terms.n; i++) {
		struct work_term *term = &count->terms.items[i];

		if (points == term->points || (points && term->points && k_expr_is_equal(points, term->points))) {
			term->operations += operations;
			return;
		}
	}
	vec_push(count->e->arena, &count->terms, ((struct work_term) { points, operations }));
}

/* In those of a vector of doubles, some 0.05 ns: one alone takes the time of eight, as does what surrounds it. */
static int64_t operations_of(struct stage *stage, bool is_vector)
{
	const int64_t flops = flops_of_stage(stage), bytes = bytes_of_stage(stage);
	const int size = type_size(stage->write.array->type);

	return is_vector ? (flops*size + 2*bytes)/8 + 1 : 8*flops + bytes + 8;
}

/* The first point of a row, which stands alone, adds nothing to the row; the first column adds to the first row. */
static void add_piece(struct count *count, struct piece piece)
{
	int n = 0;

	for (int i = 0; i < count->pieces.n; i++) {
		struct piece *other = &count->pieces.items[i];
		bool is_same = other->stage == piece.stage && other->varies == piece.varies;

		if (is_same)
			other->is_vector = other->is_vector || piece.is_vector;
		if (other->stage == piece.stage && !(piece.varies & ~other->varies))
			return;
	}
	for (int i = 0; i < count->pieces.n; i++)
		if (count->pieces.items[i].stage != piece.stage || (count->pieces.items[i].varies & ~piece.varies))
			count->pieces.items[n++] = count->pieces.items[i];
	count->pieces.n = n;
	vec_push(count->e->arena, &count->pieces, piece);
}

static void add_instance(struct count *count, __isl_keep isl_ast_node *node, bool is_vector)
{
	isl_ast_expr *instance = ast_instance(node);
	struct piece piece = { .stage = ast_stage(instance), .is_vector = is_vector };

	for (int d = 0; piece.stage && d < piece.stage->dims.n; d++)
		if (piece.stage->dims.items[d].kind == DIM_RANGE &&
		    ast_n_names(count->e, isl_ast_expr_op_get_arg(instance, d + 1), is_inside) > 0)
			piece.varies |= bit_of(d);
	if (piece.stage)
		add_piece(count, piece);
}

static void add_node(struct count *count, __isl_keep isl_ast_node *node, bool is_vector)
{
	const struct mark *mark = ast_mark(node);

	is_vector = is_vector || (mark && (mark->kind == MARK_VECTOR || mark->kind == MARK_BLOCK ||
					   mark->kind == MARK_ROW));
	if (isl_ast_node_get_type(node) == isl_ast_node_user)
		add_instance(count, node, is_vector);
	for (int i = 0; i < ast_n_children(node); i++)
		add_node(count, ast_child(node, i), is_vector);
}

/* ---- the sum ---- */

static struct k_expr *operations_in(const struct count *count, const struct work_term *term)
{
	const long long n = term->operations;
	struct arena *arena = count->e->arena;

	if (!term->points)
		return k_int(arena, n);
	return k_times(arena, k_float(arena, arena_printf(arena, "%lld.0", n)), term->points);
}

static struct k_expr *work_of(const struct count *count)
{
	struct k_expr *sum = NULL;

	for (int i = 0; i < count->terms.n; i++)
		sum = k_join(count->e->arena, K_ADD, sum, operations_in(count, &count->terms.items[i]));
	return sum ? sum : k_int(count->e->arena, 0);
}

/* Blocks of iterations run together. */
static struct k_expr *iterations_of(struct emit *e, const struct mark *loop, const struct mark *block)
{
	struct k_expr *n;

	if (!loop || !loop->dim || loop->dim->kind != DIM_RANGE)
		return k_name(e->arena, "INFINITY");
	n = most_iterations(e, loop->stage, loop->dim);
	return block ? k_binary(e->arena, K_DIV, n, k_int(e->arena, block->lanes)) : n;
}

/* The marks between that of a shared loop and the loop. */
static struct k_expr *find_iterations(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *block)
{
	const struct mark *mark;

	while ((mark = ast_next_mark(&node)) && mark->kind != MARK_LOOP && mark->kind != MARK_TILE)
		if (mark->kind == MARK_BLOCK)
			block = mark;
	return iterations_of(e, mark, block);
}

void region_count(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use)
{
	struct count count = { .e = e };

	if (!e->target->share || e->threads.in_region || e->threads.team || e->threads.part)
		return;
	add_node(&count, node, use && use->is_vector);
	for (int i = 0; i < count.pieces.n; i++)
		add_term(&count, points_of(&count, &count.pieces.items[i]),
			 operations_of(count.pieces.items[i].stage, count.pieces.items[i].is_vector));
	e->threads.n = K_CALL(e->arena, "pmg_team", k_name(e->arena, "plan"), work_of(&count),
			   use ? find_iterations(e, node, use->block) : k_name(e->arena, "INFINITY"));
}

struct k_expr *region_threads(struct emit *e)
{
	if (e->threads.n)
		return e->threads.n;
	emit_fail(e, "the work of a parallel region is not counted");
	return k_int(e->arena, 1);
}

const char *region_declare(struct emit *e)
{
	const char *name = names_declare(&e->names, "threads");

	k_const(e->b, k_scalar("int"), name, region_threads(e));
	e->threads.n = k_name(e->arena, name);
	return name;
}

const char *region_declare_of(struct emit *e, __isl_keep isl_ast_node *node)
{
	region_count(e, node, NULL);
	return region_declare(e);
}
