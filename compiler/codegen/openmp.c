/* SPDX-License-Identifier: MIT
 *
 * The OpenMP target: how parallel and vector loops and updates that may meet are written in C11 with pragmas. The
 * runtime sets the number of threads around the kernel. Minima and maxima of floats let NaN through, which OpenMP's own
 * do not: pmgrt_math.h declares theirs. Atomic ones have no pragma and go through the runtime. */
#include "codegen/codegen_private.h"

static const char *clause_operator(enum reduce_op op)
{
	static const char *const operators[] = {
		[REDUCE_SET] = "", [REDUCE_ADD] = "+", [REDUCE_MUL] = "*", [REDUCE_MIN] = "min", [REDUCE_MAX] = "max"
	};

	return operators[op];
}

/* In another order floats have other last bits, the least and largest one of the zeros of both signs. */
static void note_order(struct emit *e, enum scalar_type type)
{
	if (type_is_float(type))
		*e->layout->is_unordered = true;
}

static bool lets_nan_through(const struct cell *cell, enum scalar_type type)
{
	return type_is_float(type) && (cell->op == REDUCE_MIN || cell->op == REDUCE_MAX);
}

/* An even part at once, unless the loop says otherwise. */
static struct k_share share_of(struct emit *e, const struct loop_use *use)
{
	struct k_share share = { .starts_team = !e->threads.in_region };

	if (use->chunk)
		share.chunk = k_int(e->arena, use->chunk);
	else if (use->turn)
		share.chunk = use->turn;
	else
		share.is_dynamic = use->is_dynamic;
	if (share.starts_team)
		share.threads = region_threads(e);
	return share;
}

static void add_reductions(struct emit *e, struct k_loop *loop, bool is_parallel)
{
	for (int i = 0; i < e->accumulators.n; i++) {
		const struct cell *cell = &e->accumulators.items[i];
		const enum scalar_type type = ((const struct stage *) cell->of)->write.array->type;
		const char *prefix = lets_nan_through(cell, type) ? "pmg_" : "";
		const char *op = arena_printf(e->arena, "%s%s", prefix, clause_operator(cell->op));

		vec_push(e->arena, &loop->reductions, ((struct k_reduction) { op, cell->name }));
		if (is_parallel)
			note_order(e, type);
	}
}

static void openmp_share(struct emit *e, struct k_stmt *stmt, const struct loop_use *use)
{
	struct k_loop *loop = &stmt->loop;

	loop->kind = use->is_parallel ? K_LOOP_WORKSHARE : K_LOOP_SIMD;
	loop->is_simd = use->is_parallel && use->is_vector;
	if (use->is_parallel)
		loop->share = share_of(e, use);
	add_reductions(e, loop, use->is_parallel);
}

static void openmp_open_team(struct emit *e)
{
	k_begin_parallel(e->b, region_threads(e));
}

static void openmp_atomic_update(struct emit *e, const struct update *update)
{
	struct arena *a = e->arena;
	const char *name;

	if (emit_atomic_store(e, update))
		return;
	name = arena_printf(a, "pmg_atomic_%s_%s", clause_operator(update->op), type_name(update->type));
	k_do(e->b, K_CALL(a, name, k_address(a, update->target), update->value));
}

static void openmp_file_head(struct writer *w)
{
	line(w, "#include <pmgrt_openmp.h>");
}

static const struct target openmp = {
	.name = "openmp",
	.prints = {
		[MARK_LOOP] = true, [MARK_TILE] = true, [MARK_BIND] = true, [MARK_CHILDREN] = true, [MARK_GROUP] = true,
		[MARK_PARALLEL] = true, [MARK_VECTOR] = true, [MARK_ATOMIC] = true, [MARK_ACCUMULATE] = true,
		[MARK_TEAM] = true, [MARK_STORAGE] = true, [MARK_ROW] = true, [MARK_PRIVATE] = true,
		[MARK_DYNAMIC] = true, [MARK_PARTS] = true, [MARK_BLOCK] = true,
		[MARK_BLAS] = true, [MARK_SKIP] = true, [MARK_SKIP_ALWAYS] = true, [MARK_UNROLL] = true
	},
	.swaps = true,
	.has_hints = true,
	.shares_bodies = true,
	.file_head = openmp_file_head,
	.share = openmp_share,
	.open_team = openmp_open_team,
	.atomic_update = openmp_atomic_update
};

const struct target *target_openmp(void)
{
	return &openmp;
}
