/* SPDX-License-Identifier: MIT
 *
 * The CUDA target: loops that teams and lanes share, and updates that may meet, in CUDA C++ with the macros and
 * functions of runtime/pmgrt_cuda.h. What becomes a kernel is printed by grids.c. A mark that only the passes for
 * processors make (teams, private copies, calls of the BLAS) is an error here, never something else in its place. */
#include "codegen/codegen_private.h"

static void cuda_above_loop(struct emit *e, const struct loop_use *use)
{
	(void) e;
	(void) use;
}

/* first + step*number, as text. */
static const char *start_text(struct emit *e, const struct range *range, int direction, const char *number)
{
	const char *first = affine_plain(e->arena, &range->first);
	const char *sign = direction > 0 ? "+" : "-";
	int64_t value;

	if (direction > 0 && range->step == 1 && affine_is_constant(&range->first, &value) && value == 0)
		return number;
	if (range->step == 1)
		return arena_printf(e->arena, "%s %s %s", first, sign, number);
	return arena_printf(e->arena, "%s %s %s*%s", first, sign, int_text(e->arena, range->step), number);
}

static const char *cuda_loop_head(struct emit *e, const struct range *range, const char *name,
				  const struct loop_use *use)
{
	bool is_shared = loop_is_shared(e, use);
	const char *number = is_shared ? "pmg_index" : e->deal ? "pmg_member" : "pmg_lane";
	const char *all = is_shared ? "pmg_teams" : e->deal ? "pmg_group" : "pmg_team";
	int direction = use->mark->direction;
	const char *step = range->step == 1 ? all : arena_printf(e->arena, "%s*%s", int_text(e->arena, range->step),
								 all);
	const char *bound = affine_plain(e->arena, direction > 0 ? &range->end : &range->last);
	const char *start = start_text(e, range, direction, number), *until = direction > 0 ? "<" : ">=";

	if (is_shared && !e->grid->sums_up)
		return arena_printf(e->arena, "if (const int64_t %s = %s; %s %s %s) {", name, start, name, until,
				    bound);
	return arena_printf(e->arena, "for (int64_t %s = %s; %s %s %s; %s %s %s) {", name, start, name, until, bound,
			    name, direction > 0 ? "+=" : "-=", step);
}

static void cuda_open_team(struct emit *e)
{
	emit_fail(e, "it has no teams of threads that each run a whole loop");
	quote_open(e->b, "{");
}

static void cuda_atomic_update(struct emit *e, const struct update *update)
{
	static const char *const names[] = {
		[REDUCE_SET] = "", [REDUCE_ADD] = "add", [REDUCE_MUL] = "prod", [REDUCE_MIN] = "min",
		[REDUCE_MAX] = "max"
	};

	if (type_is_float(update->type) && (update->op == REDUCE_ADD || update->op == REDUCE_MUL))
		*e->layout->is_unordered = true;
	quote(e->b, "pmg_cuda_atomic_%s<%s>(&%s, %s);", names[update->op], type_c_name(update->type),
	      x_text(e, update->target), x_text(e, update->value));
}

static void cuda_file_head(struct writer *w)
{
	(void) w;
}

static const struct target cuda = {
	.name = "cuda",
	.spelling = C_SPELLING_CUDA,
	.device_ending = "cu",
	.prints = {
		[MARK_LOOP] = true, [MARK_TILE] = true, [MARK_BIND] = true, [MARK_CHILDREN] = true, [MARK_GROUP] = true,
		[MARK_PARALLEL] = true, [MARK_VECTOR] = true, [MARK_ATOMIC] = true, [MARK_ACCUMULATE] = true,
		[MARK_STORAGE] = true, [MARK_ROW] = true, [MARK_DYNAMIC] = true, [MARK_GRID] = true, [MARK_DEAL] = true,
		[MARK_SKIP] = true, [MARK_SKIP_ALWAYS] = true
	},
	.file_head = cuda_file_head,
	.loop_head = cuda_loop_head,
	.above_loop = cuda_above_loop,
	.open_team = cuda_open_team,
	.atomic_update = cuda_atomic_update
};

const struct target *target_cuda(void)
{
	return &cuda;
}
