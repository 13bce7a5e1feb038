/* SPDX-License-Identifier: MIT
 *
 * The OpenCL target: kernels in OpenCL C, of which each work item has iterations of the shared loop, and whose loops
 * inside are plain loops. Their text is a string in the C file, which the runtime (runtime/pmgrt_opencl.h) compiles for
 * the device that it finds. It has no teams of work items: what shares a loop between lanes is not among its marks. */
#include "codegen/codegen_private.h"

static void opencl_atomic_update(struct emit *e, const struct update *update)
{
	const char *function = arena_printf(e->arena, "pmg_opencl_atomic_%s_%s", device_operation(update->op),
					    type_name(update->type));

	k_do(e->b, K_CALL(e->arena, function, k_address(e->arena, update->target), update->value));
}

static struct k_expr *opencl_grid_sum(struct emit *e, const struct cell *cell)
{
	const struct stage *stage = cell->of;
	const char *function = arena_printf(e->arena, "pmg_opencl_grid_%s_%s", device_operation(cell->op),
					    type_name(stage->write.array->type));

	return K_CALL(e->arena, function, k_address(e->arena, k_name(e->arena, cell->name)),
		      k_name(e->arena, "pmg_parts"));
}

static void opencl_file_head(struct writer *w)
{
	line(w, "#include <pmgrt_opencl.h>");
}

static const struct device opencl_device = {
	.prefix = "pmg_opencl",
	.buffer = "cl_mem",
	.argument = "PMG_OPENCL_ARGUMENT",
	.libraries = "-lOpenCL",
	.has_few_teams = true,
	.grid_sum = opencl_grid_sum
};

static const struct target opencl = {
	.name = "opencl",
	.spelling = C_SPELLING_OPENCL,
	.device = &opencl_device,
	.prints = {
		[MARK_LOOP] = true, [MARK_TILE] = true, [MARK_BIND] = true, [MARK_CHILDREN] = true, [MARK_GROUP] = true,
		[MARK_PARALLEL] = true, [MARK_ATOMIC] = true, [MARK_ACCUMULATE] = true, [MARK_STORAGE] = true,
		[MARK_DYNAMIC] = true, [MARK_GRID] = true
	},
	.orders_extremes = true,
	.file_head = opencl_file_head,
	.atomic_update = opencl_atomic_update,
};

const struct target *target_opencl(void)
{
	return &opencl;
}
