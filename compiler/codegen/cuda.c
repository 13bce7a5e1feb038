/* SPDX-License-Identifier: MIT
 *
 * The CUDA target: loops that teams and lanes share, and updates that may meet, in CUDA C++ with the macros and
 * functions of runtime/pmgrt_cuda.h. What becomes a kernel is built by grids.c. A mark that only the passes for
 * processors make (teams, private copies, calls of the BLAS) is an error here, never something else in its place. */
#include "codegen/codegen_private.h"

static void cuda_atomic_update(struct emit *e, const struct update *update)
{
	struct arena *a = e->arena;
	struct k_expr *call;

	if (emit_atomic_store(e, update))
		return;
	call = K_CALL(a, arena_printf(a, "pmg_cuda_atomic_%s", device_operation(update->op)),
		      k_address(a, update->target), update->value);
	k_do(e->b, k_with_constant(a, call, k_type_arg(a, k_scalar(type_c_name(update->type)))));
}

const char *cuda_atomic_text(struct arena *arena, const struct k_store *store)
{
	const struct k_expr *target = store->targets.items[0];

	return arena_printf(arena, "pmg_cuda_atomic_%s<%s>(&%s, %s)", store->op == K_MUL ? "prod" : "add",
			    target->type.name, k_expr_text(arena, target), k_expr_text(arena, store->value));
}

static struct k_expr *cuda_grid_sum(struct emit *e, const struct cell *cell)
{
	struct k_expr *sum = K_CALL(e->arena, "pmg_cuda_grid", k_address(e->arena, k_name(e->arena, cell->name)),
				    k_name(e->arena, "pmg_parts"));

	return k_with_constant(e->arena, sum, spread_operation(e, cell->op));
}

static void cuda_file_head(struct writer *w)
{
	(void) w;
}

static const struct device gpu = {
	.prefix = "pmg_cuda",
	.ending = "cu",
	.records = true,
	.grid_sum = cuda_grid_sum
};

static const struct target cuda = {
	.name = "cuda",
	.spelling = C_SPELLING_CUDA,
	.device = &gpu,
	.prints = {
		[MARK_LOOP] = true, [MARK_TILE] = true, [MARK_BIND] = true, [MARK_CHILDREN] = true, [MARK_GROUP] = true,
		[MARK_PARALLEL] = true, [MARK_VECTOR] = true, [MARK_ATOMIC] = true, [MARK_ACCUMULATE] = true,
		[MARK_STORAGE] = true, [MARK_ROW] = true, [MARK_DYNAMIC] = true, [MARK_GRID] = true,
		[MARK_WARP_LOOP] = true, [MARK_LANES] = true, [MARK_TEAM_STORAGE] = true,
		[MARK_SKIP] = true, [MARK_SKIP_ALWAYS] = true
	},
	.orders_extremes = true,
	.file_head = cuda_file_head,
	.atomic_update = cuda_atomic_update
};

const struct target *target_cuda(void)
{
	return &cuda;
}
