/* SPDX-License-Identifier: MIT
 *
 * What a team that is a block keeps of a temporary whose values live in one iteration of the shared loop, in place of
 * an array in memory. Where each cell is touched by one lane alone, and the subscripts that are not folded are numbers
 * once short loops are unrolled, it is kept in registers; else in memory that the lanes share. Subscripts that are the
 * dim of the shared loop, or of registers that of the loop of the lanes, are folded.
 *
 * Registers are limited: a lane keeps at most REGISTER_BYTES. How much shared memory an iteration takes the host knows
 * when it starts the kernel, which then runs with arrays in memory if that does not suffice (codegen/block_kernels.c).
 * Each decision is proved (ir/isl/storage_check.c). */
#include "ir/match/blas.h"
#include "passes/pass_private.h"

enum { REGISTER_BYTES = 2048, LEAST_CELL = 4 };

struct keeping {
	struct module *module;
	int shared_dim;                 /* number of the dim of the shared loop */
	int *lane_dim;                  /* by number of stage: that of the loop of the lanes; -1: none is around */
	int64_t register_bytes;         /* of all arrays in registers */
	/* Of the array that is looked at: subscripts that are these dims in all accesses. */
	struct array *array;
	const struct stage *stage;
	unsigned shared, lane;
	bool is_constant, is_touched;   /* the other subscripts are numbers once loops are unrolled */
	int64_t row;                    /* elements from one lane to the next, in all accesses; 0: they differ */
	bool is_written;
	bool is_kept;                   /* what was last tried is proved */
};

/* ---- how an array is used ---- */

static bool is_dim(const struct expr *expr, int dim)
{
	return expr->kind == EXPR_DIM && expr->index == dim;
}

static bool is_short(const struct dim *dim)
{
	int64_t n;

	return dim->kind == DIM_RANGE && range_is_constant(dim->lo, dim->hi, &n) && n <= MOST_UNROLLED;
}

/* A number, or a dim plus a number whose loop can be written out. */
static bool is_unrolled(const struct keeping *keeping, const struct expr *expr)
{
	int64_t value;
	int dim;

	if (expr_is_constant(expr, &value))
		return true;
	return expr_is_shifted_dim(expr, &dim, &value) && is_short(&keeping->stage->dims.items[dim]);
}

/* Elements by which an access moves with a dim; 0: that is not known, or it does not. */
static int64_t step_of(const struct access *access, int dim)
{
	int64_t step = 0, behind = 1, slope, n;

	for (int i = access->array->rank - 1; i >= 0; i--) {
		const struct array *array = access->array;

		if (!blas_coefficient(access->subs[i], dim, &slope) || (slope && !behind))
			return 0;
		step += slope*behind;
		behind = range_is_constant(array->lo[i], array->hi[i], &n) ? behind*n : 0;
	}
	return step;
}

static void note_row(struct keeping *keeping, const struct access *access)
{
	const int lane = keeping->lane_dim[keeping->stage->number];
	const int64_t step = lane >= 0 ? step_of(access, lane) : 0;

	keeping->row = !keeping->is_touched || keeping->row == step ? step : 0;
}

static void look_at_access(struct access *access, void *user)
{
	struct keeping *keeping = user;
	const int lane = keeping->lane_dim[keeping->stage->number];

	if (access->array != keeping->array)
		return;
	note_row(keeping, access);
	keeping->is_touched = true;
	for (int i = 0; i < access->array->rank; i++) {
		const struct expr *sub = access->subs[i];

		if (!is_dim(sub, keeping->shared_dim))
			keeping->shared &= ~(1U << i);
		if (!is_dim(sub, lane))
			keeping->lane &= ~(1U << i);
		if (!is_dim(sub, keeping->shared_dim) && !is_dim(sub, lane))
			keeping->is_constant = keeping->is_constant && is_unrolled(keeping, sub);
	}
}

static void look_at_array(struct keeping *keeping, struct array *array, const stage_list *below)
{
	keeping->array = array;
	keeping->shared = keeping->lane = (1U << array->rank) - 1;
	keeping->is_constant = true;
	keeping->is_touched = keeping->is_written = false;
	for (int i = 0; i < below->n; i++) {
		keeping->stage = below->items[i];
		look_at_access(&below->items[i]->write, keeping);
		keeping->is_written |= below->items[i]->write.array == array;
		stage_reads(below->items[i], look_at_access, keeping);
	}
}

/* ---- lanes ---- */

static isl_bool note_lanes(__isl_keep isl_schedule_node *node, void *user)
{
	struct keeping *keeping = user;
	const struct mark *mark = mark_of_node(node);
	stage_list below;

	if (!mark || mark->kind != MARK_LANES)
		return isl_bool_true;
	below = tree_stages(keeping->module, node);
	for (int i = 0; i < below.n; i++)
		keeping->lane_dim[below.items[i]->number] = mark_dim_number(mark_below(node));
	return isl_bool_false;
}

/* ---- what is kept ---- */

/* Bytes of the subscripts that are not folded; 0: these are no numbers. */
static int64_t bytes_of(const struct array *array, unsigned folded)
{
	int64_t bytes = type_size(array->type), n;

	for (int i = 0; i < array->rank; i++) {
		if (folded >> i & 1U)
			continue;
		if (!range_is_constant(array->lo[i], array->hi[i], &n))
			return 0;
		bytes *= n;
	}
	return bytes;
}

/* Below a mark at `node`, if that can be proved (is_kept). An array has one room in all kernels. */
static __isl_give isl_schedule_node *keep(struct keeping *keeping, __isl_take isl_schedule_node *node,
					  const struct team_storage *how)
{
	struct mark *mark = mark_new(keeping->module, MARK_TEAM_STORAGE, "team_storage", keeping->array->span);
	struct team_storage *in_team = arena_new(keeping->module->arena, struct team_storage);
	const struct team_storage *before = keeping->array->in_team;

	*in_team = *how;
	in_team->room = before ? before->room : 0;
	mark->array = keeping->array;
	keeping->array->in_team = in_team;
	node = isl_schedule_node_insert_mark(node, mark_id(keeping->module, mark));
	keeping->is_kept = !schedule_team_storage_problem(keeping->module, node);
	if (keeping->is_kept)
		return node;
	keeping->array->in_team = before;
	return isl_schedule_node_delete(node);
}

static __isl_give isl_schedule_node *keep_in_registers(struct keeping *keeping, __isl_take isl_schedule_node *node)
{
	struct array *array = keeping->array;
	const unsigned folded = keeping->shared | keeping->lane;
	const int64_t bytes = bytes_of(array, folded);

	if (!keeping->is_constant || !keeping->lane || !bytes || keeping->register_bytes + bytes > REGISTER_BYTES)
		return node;
	node = keep(keeping, node, &(struct team_storage) { .folded = folded });
	if (!keeping->is_kept)
		return node;
	keeping->register_bytes += bytes;
	module_decide(keeping->module, DECISION_TEAM_REGISTERS, array->name, array->span,
		      "each cell is of one lane, which keeps %lld bytes of it", (long long) bytes);
	return node;
}

/* ---- windows ---- */

struct windows {
	struct keeping *keeping;
	isl_schedule_node *node;
	struct team_storage *how;
};

/* The first subscript that moves with the loop at `node`, of all of whose values few are of use at a time. */
static isl_bool try_loop(__isl_keep isl_schedule_node *node, void *user)
{
	struct windows *windows = user;
	const struct mark *mark = mark_of_node(node);
	struct array *array = windows->keeping->array;
	int64_t n, window;

	if (mark && mark->kind == MARK_LANES)
		return isl_bool_false;
	for (int i = 0; mark && mark->kind == MARK_LOOP && i < array->rank && !windows->how->window; i++) {
		if ((windows->how->folded | windows->keeping->lane) >> i & 1U)
			continue;
		window = schedule_team_window(windows->keeping->module, windows->node, node, array, i);
		if (!window || (range_is_constant(array->lo[i], array->hi[i], &n) && n <= window))
			continue;
		windows->how->window = window;
		windows->how->windowed = i;
	}
	return isl_bool_true;
}

static void find_window(struct keeping *keeping, __isl_keep isl_schedule_node *node, struct team_storage *how)
{
	struct windows windows = { keeping, node, how };

	isl_schedule_node_foreach_descendant_top_down(node, try_loop, &windows);
}

/* What an iteration of the shared loop takes, as text: "nLevels*nChunks*8". */
static const char *shared_text(struct keeping *keeping)
{
	const struct array *array = keeping->array;
	struct str text = str_new(keeping->module->arena);

	for (int i = 0; i < array->rank; i++)
		if (array->in_team->window && array->in_team->windowed == i)
			str_add(&text, "%lld*", (long long) array->in_team->window);
		else if (!(array->in_team->folded >> i & 1U))
			str_add(&text, "(%s)*", expr_text(keeping->module->arena, keeping->module, NULL, array->hi[i]));
	str_add(&text, "%d", type_size(array->type));
	return str_text(&text);
}

static __isl_give isl_schedule_node *keep_shared(struct keeping *keeping, __isl_take isl_schedule_node *node)
{
	struct array *array = keeping->array;

	struct team_storage how = { .is_shared = true, .folded = keeping->shared };

	if (!keeping->shared)
		return node;
	find_window(keeping, node, &how);
	node = keep(keeping, node, &how);
	if (keeping->is_kept)
		module_decide(keeping->module, DECISION_TEAM_SHARED, array->name, array->span,
			      "lanes read what others wrote: %s bytes for an iteration of the loop that blocks share",
			      shared_text(keeping));
	return node;
}

/* An argument of which each lane has a few elements next to each other: lanes would read, or write, elements that are
 * far apart. The team copies what belongs to the iteration, which lies together, and leaves an element free behind each
 * lane's, so that lanes are at different banks. */
static bool may_be_copied(const struct array *array)
{
	return (array->role == ROLE_IN || array->role == ROLE_OUT) && !array_is_index(array) && array->rank > 1 &&
	       array->storage == STORAGE_F64 && type_size(array->type) >= LEAST_CELL;
}

static __isl_give isl_schedule_node *copy(struct keeping *keeping, __isl_take isl_schedule_node *node)
{
	struct array *array = keeping->array;

	if (keeping->row < 2 || keeping->row > MOST_UNROLLED || keeping->shared != 1 ||
	    keeping->is_written != (array->role == ROLE_OUT))
		return node;
	node = keep(keeping, node, &(struct team_storage) { .is_shared = true, .folded = 1, .row = keeping->row });
	if (keeping->is_kept)
		module_decide(keeping->module, DECISION_TEAM_COPY, array->name, array->span,
			      "each lane has %lld elements next to each other: %s bytes for an iteration of the loop "
			      "that blocks share", (long long) keeping->row, shared_text(keeping));
	return node;
}

static bool may_be_kept(const struct keeping *keeping, const struct array *array)
{
	const struct module *module = keeping->module;

	return array->role == ROLE_TEMP && !array_is_index(array) && array->rank > 0 && !array->stored.folded &&
	       !array->stored.window && (!module->loop.until || !expr_reads_array(module->loop.until, array));
}

static __isl_give isl_schedule_node *keep_all(struct keeping *keeping, __isl_take isl_schedule_node *node)
{
	struct module *module = keeping->module;
	const stage_list below = tree_stages(module, node);

	for (int a = module->arrays.n - 1; a >= 0; a--) {
		struct array *array = module->arrays.items[a];

		if (!may_be_kept(keeping, array) && !may_be_copied(array))
			continue;
		look_at_array(keeping, array, &below);
		keeping->is_kept = false;
		if (!keeping->is_touched)
			continue;
		if (may_be_copied(array)) {
			node = copy(keeping, node);
			continue;
		}
		node = keep_in_registers(keeping, node);
		if (!keeping->is_kept)
			node = keep_shared(keeping, node);
	}
	return node;
}

/* ---- the walk ---- */

static bool is_of_block(__isl_keep isl_schedule_node *loop)
{
	isl_schedule_node *grid = schedule_mark_above(loop, MARK_GRID, NULL);
	const struct mark *parallel = mark_above(loop);
	const bool is = grid && mark_of_node(grid)->is_block && parallel && parallel->kind == MARK_PARALLEL;

	isl_schedule_node_free(grid);
	return is;
}

static __isl_give isl_schedule_node *visit(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					   const struct mark *mark, bool *descend)
{
	struct keeping keeping = { .module = walk->module };
	isl_size depth = isl_schedule_node_get_tree_depth(node);

	*descend = !is_of_block(node);
	if (*descend)
		return node;
	keeping.shared_dim = mark_dim_number(mark);
	keeping.lane_dim = arena_new_array(walk->module->arena, int, walk->module->stages.n);
	for (int i = 0; i < walk->module->stages.n; i++)
		keeping.lane_dim[i] = -1;
	isl_schedule_node_foreach_descendant_top_down(node, note_lanes, &keeping);
	node = keep_all(&keeping, isl_schedule_node_first_child(isl_schedule_node_first_child(node)));
	team_rooms_share(walk->module, node);
	return isl_schedule_node_ancestor(node, isl_schedule_node_get_tree_depth(node) - depth);
}

bool pass_team_storage(struct module *module, const struct pass_options *options)
{
	struct tree_walk walk = { .module = module, .options = options, .visit = visit };

	for (int i = 0; i < module->arrays.n; i++)
		module->arrays.items[i]->in_team = NULL;
	return !options->is_device || !options->storage || module_walk(&walk);
}
