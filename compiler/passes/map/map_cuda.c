/* SPDX-License-Identifier: MIT
 *
 * What runs as a kernel of the device, for targets that have one: the mark GRID. From the root down, a loop that stays
 * sequential around shared ones is a loop of the host, which starts kernels; a shared loop becomes one kernel, of which
 * each iteration belongs to a team of lanes: one where nothing inside is a loop of vectors, else a warp, or as many as
 * hold a row of accumulators in few registers each (K. Aggarwal, thesis, IISc 2020, 4.2.2), of which each reads 16
 * bytes at a time where rows of even length allow it. What the host cannot see, since it is read from an array, and
 * what is not shared, runs in a kernel of one team, whose lanes share the loops inside where they can.
 *
 * Values of one point of a group are variables of a kernel. Where the host runs what is between its kernels, they
 * become arrays of one cell. */
#include "passes/pass_private.h"

enum { FEWEST = 4, WARP = 32 };                 /* lanes of a team */
enum { ROW_BYTES = 96, ROW_OF_WARP_LOOP = 64 };      /* what a lane has of a row, at most; where it keeps several */
enum { CELLS = 4, VECTOR = 16 };                /* cells of a row that are read at a time, and bytes, at most */

static const char pass_name[] = "map_cuda";

static bool has_shared_below(__isl_keep isl_schedule_node *node)
{
	return schedule_has_mark_below(node, MARK_PARALLEL, NULL) || schedule_has_mark_below(node, MARK_VECTOR, NULL);
}

/* ---- teams ---- */

struct lanes {
	const struct module *module;
	int64_t row;                    /* bytes of the longest row that lanes share */
	bool has_vectors, is_unknown;   /* a length is not known */
	int width;                      /* cells that every row has next to one another in 16 bytes */
	int64_t smallest;               /* bytes of a cell of a row */
	int64_t length;                 /* cells of the longest row */
	bool has_short_products;        /* a dot product of doubles, of which a row is stored in fewer bytes */
};

static bool known_value(const struct module *module, const struct expr *expr, int64_t *value)
{
	if (expr->kind != EXPR_PARAM)
		return expr_is_constant(expr, value);
	*value = module->params.items[expr->index].value;
	return module->params.items[expr->index].is_specialized;
}

/* May cells of a row be read so many at a time: does it begin at a multiple of them? */
static bool is_aligned(const struct module *module, const struct access *access, int dim, int64_t width)
{
	const struct array *array = access->array;
	const struct expr *last = array->rank ? access->subs[array->rank - 1] : NULL;
	int64_t lo = 0, hi;

	return last && last->kind == EXPR_DIM && last->index == dim &&
	       known_value(module, array->hi[array->rank - 1], &hi) &&
	       known_value(module, array->lo[array->rank - 1], &lo) &&
	       (hi - lo) % width == 0 && lo % width == 0;
}

struct row_access {
	struct lanes *lanes;
	int dim;
	int64_t smallest;               /* bytes of a cell of one of its rows */
};

static void note_access(struct access *access, void *user)
{
	struct row_access *row = user;
	struct lanes *lanes = row->lanes;
	int64_t bytes = array_cell_size(access->array);

	if (!access_uses_dim(access, row->dim))
		return;
	row->smallest = bytes < row->smallest ? bytes : row->smallest;
	while (lanes->width > 1 && !is_aligned(lanes->module, access, row->dim, lanes->width))
		lanes->width /= 2;
}

static void note_row(struct lanes *lanes, const struct mark *loop, int64_t lo)
{
	const struct access *write = &loop->stage->write;
	struct row_access row = { lanes, mark_dim_number(loop), VECTOR };

	expr_reads(loop->stage->value, note_access, &row);
	lanes->has_short_products |= !access_uses_dim(write, row.dim) && row.smallest < type_size(write->array->sums);
	note_access(&loop->stage->write, &row);
	lanes->smallest = row.smallest < lanes->smallest ? row.smallest : lanes->smallest;
	while (lanes->width > 1 && lo % lanes->width != 0)
		lanes->width /= 2;
}

static void note_vectors(struct lanes *lanes, const struct mark *loop)
{
	int64_t lo, hi, bytes;

	lanes->has_vectors = true;
	if (!loop || loop->kind != MARK_LOOP || !known_value(lanes->module, loop->dim->lo, &lo) ||
	    !known_value(lanes->module, loop->dim->hi, &hi)) {
		lanes->is_unknown = true;
		return;
	}
	note_row(lanes, loop, lo);
	bytes = (hi - lo)*type_size(loop->stage->write.array->type);
	if (bytes > lanes->row) {
		lanes->row = bytes;
		lanes->length = hi - lo;
	}
}

static isl_bool find_lanes(__isl_keep isl_schedule_node *node, void *user)
{
	const struct mark *mark = mark_of_node(node), *above;
	isl_schedule_node *below;

	if (!mark || mark->kind != MARK_VECTOR)
		return isl_bool_true;
	above = mark_above(node);
	below = isl_schedule_node_first_child(isl_schedule_node_copy(node));
	if (!above || above->kind != MARK_PARALLEL)
		note_vectors(user, mark_of_node(below));
	isl_schedule_node_free(below);
	return isl_bool_true;
}

/* Cells that vectors of so many lanes have room for, of two cells if they can have several. */
static int64_t room_of_lanes(const struct lanes *lanes, int team)
{
	const int64_t cells = team*(lanes->width > 1 ? 2 : 1);

	return (lanes->length + cells - 1)/cells*cells;
}

/* Those that share a row. Where loops are warp-cooperative, rows of several iterations are under way in the groups of
 * a warp: with fewer cells, a lane has registers for two of them, and a multiprocessor for more warps. Not if more
 * cells of vectors remain empty then, and not for sums over lanes of rows that are short already. */
static int lanes_of_row(const struct lanes *lanes, bool has_warp_loops)
{
	int team = FEWEST;

	while (team < WARP && (lanes->is_unknown || lanes->row > team*ROW_BYTES))
		team *= 2;
	while (has_warp_loops && !lanes->has_short_products && team < WARP/2 && lanes->row > team*ROW_OF_WARP_LOOP &&
	       room_of_lanes(lanes, 2*team) <= room_of_lanes(lanes, team))
		team *= 2;
	return team;
}

/* As many cells as 16 bytes hold; half of them, if not these but those fill the lanes that share a row. */
static int cells_of_vector(const struct lanes *lanes, int team)
{
	int width = lanes->width;

	while (width > 1 && width*lanes->smallest > VECTOR)
		width /= 2;
	if (width == CELLS && lanes->length % (team*width) != 0 && lanes->length % (team*width/2) == 0)
		width /= 2;
	return width;
}

/* Lanes that run one iteration together, those of them that share a row, and how many cells of it each has next to one
 * another. */
static void find_team(const struct module *module, __isl_keep isl_schedule_node *node, struct mark *grid)
{
	const bool has_warp_loops = schedule_has_mark_below(node, MARK_WARP_LOOP, NULL);
	struct lanes lanes = { .module = module, .width = CELLS, .smallest = VECTOR };
	int team;

	isl_schedule_node_foreach_descendant_top_down(node, find_lanes, &lanes);
	team = lanes_of_row(&lanes, has_warp_loops);
	grid->row_lanes = lanes.has_vectors ? team : 1;
	grid->team_lanes = has_warp_loops ? WARP : grid->row_lanes;
	grid->width = lanes.has_vectors && !lanes.is_unknown ? cells_of_vector(&lanes, team) : 1;
}

struct mapping {
	struct module *module;
	const struct pass_options *options;
};

static __isl_give isl_schedule_node *insert_grid(const struct mapping *mapping, __isl_take isl_schedule_node *node)
{
	struct module *module = mapping->module;
	struct mark *mark = mark_new(module, MARK_GRID, pass_name, (struct span) { 0 });

	find_team(module, node, mark);
	mark->warps = mapping->options->block_warps;
	mark->is_rolled = !mapping->options->unroll;
	mark->is_block = schedule_has_mark_below(node, MARK_LANES, NULL);
	if (mark->is_block)
		mark->team_lanes = mark->row_lanes = WARP;
	return isl_schedule_node_insert_mark(node, mark_id(module, mark));
}

/* ---- loops that the device shares ---- */

static bool stands_above_loop(const struct mark *mark)
{
	return mark && (mark->kind == MARK_ACCUMULATE || mark->kind == MARK_DYNAMIC || mark->kind == MARK_PARALLEL ||
			mark->kind == MARK_VECTOR);
}

/* Steps down to the PARALLEL or VECTOR mark of the loop at `node`; -1: it is not shared. */
static int steps_to_shared(__isl_keep isl_schedule_node *node, enum mark_kind *kind)
{
	isl_schedule_node *at = isl_schedule_node_copy(node);
	int steps = 0;

	for (; stands_above_loop(mark_of_node(at)); steps++) {
		*kind = mark_of_node(at)->kind;
		if (*kind == MARK_PARALLEL || *kind == MARK_VECTOR)
			break;
		at = isl_schedule_node_first_child(at);
	}
	steps = stands_above_loop(mark_of_node(at)) ? steps : -1;
	isl_schedule_node_free(at);
	return steps;
}

/* Of the VECTOR mark at `node`: lanes add in the same order at any time, so that the loop that threads would run in
 * order is shared after all. */
static void forget_order(struct module *module, __isl_keep isl_schedule_node *node)
{
	isl_schedule_node *below = isl_schedule_node_first_child(isl_schedule_node_copy(node));
	const struct mark *loop = mark_of_node(below);

	if (mark_is_loop(loop))
		module_take_back(module, DECISION_PARALLEL_SERIAL, loop->stage->group->name, loop->dim->span);
	isl_schedule_node_free(below);
}

static __isl_give isl_schedule_node *map_shared(const struct mapping *mapping, __isl_take isl_schedule_node *node,
						int steps, enum mark_kind kind)
{
	for (int i = 0; i < steps; i++)
		node = isl_schedule_node_first_child(node);
	if (kind == MARK_VECTOR) {
		forget_order(mapping->module, node);
		node = tree_insert_mark(mapping->module, node, MARK_PARALLEL, pass_name, NULL);
	}
	return insert_grid(mapping, isl_schedule_node_ancestor(node, steps));
}

/* ---- loops inside of a kernel of one team ---- */

/* An innermost loop: what it accumulates is brought together by lanes, which lose NaN in extremes. */
static bool lanes_may_share(const struct mapping *mapping, __isl_keep isl_schedule_node *node)
{
	const stage_list below = tree_stages(mapping->module, node);
	bool may = mapping->options->vector && !tree_has_loop_below(node);

	for (int i = 0; may && i < below.n; i++) {
		const struct stage *stage = below.items[i];
		const bool is_extreme = stage->op == REDUCE_MIN || stage->op == REDUCE_MAX;

		may = !stage_checks_index(stage) && !(is_extreme && type_is_float(stage->write.array->type) &&
						      schedule_has_mark_above(node, MARK_ACCUMULATE, stage));
	}
	return may;
}

static __isl_give isl_schedule_node *drop_atomic(__isl_take isl_schedule_node *node, void *unused)
{
	const struct mark *mark = mark_of_node(node);

	(void) unused;
	return mark && mark->kind == MARK_ATOMIC ? isl_schedule_node_delete(node) : node;
}

/* Of a loop that has others inside: these are what lanes share. */
static __isl_give isl_schedule_node *make_serial(struct module *module, __isl_take isl_schedule_node *node,
						 const struct mark *loop)
{
	static const enum decision_kind kinds[] = { DECISION_PARALLEL, DECISION_PARALLEL_ATOMIC };
	static const char why[] = "the host cannot tell how many iterations it has";
	const char *group = loop->stage->group->name;

	for (size_t i = 0; i < sizeof kinds/sizeof *kinds; i++)
		module_take_back(module, kinds[i], group, loop->dim->span);
	module_decide(module, DECISION_PARALLEL_SERIAL, group, loop->dim->span,
		      "the loop over '%s': %s", loop->dim->name, why);
	loop_remark_serial(module, loop, why, NULL);
	return isl_schedule_node_map_descendant_bottom_up(node, drop_atomic, NULL);
}

static __isl_give isl_schedule_node *share_by_lanes(__isl_take isl_schedule_node *node, void *user)
{
	const struct mapping *mapping = user;
	const struct mark *mark = mark_of_node(node);

	if (!mark || mark->kind != MARK_PARALLEL)
		return node;
	node = isl_schedule_node_delete(node);
	mark = mark_of_node(node);
	if (!mark_is_loop(mark))
		return node;
	if (!lanes_may_share(mapping, node))
		return make_serial(mapping->module, node, mark);
	module_take_back(mapping->module, DECISION_VECTOR_SCALAR, mark->stage->group->name, mark->dim->span);
	return tree_insert_mark(mapping->module, node, MARK_VECTOR, pass_name, NULL);
}

/* A kernel whose shared loops are not outside. */
static __isl_give isl_schedule_node *map_inside(const struct mapping *mapping, __isl_take isl_schedule_node *node)
{
	return insert_grid(mapping, isl_schedule_node_map_descendant_bottom_up(node, share_by_lanes,
									       (void *) (uintptr_t) mapping));
}

/* ---- values of a point of the host ---- */

static bool keep_locals(struct module *module, const struct group *group)
{
	bool any = false;

	for (int i = 0; i < module->arrays.n; i++) {
		struct array *array = module->arrays.items[i];

		if (array->role != ROLE_LOCAL || array->group != group)
			continue;
		array->role = ROLE_TEMP;
		array->group = NULL;
		any = true;
		module_decide(module, DECISION_MAP_CUDA, array->name, array->span,
			      "several kernels write and read it");
	}
	return any;
}

/* ---- the walk ---- */

static __isl_give isl_schedule_node *map_node(const struct mapping *mapping, __isl_take isl_schedule_node *node);

static __isl_give isl_schedule_node *map_children(const struct mapping *mapping, __isl_take isl_schedule_node *node)
{
	isl_size n = isl_schedule_node_n_children(node);

	for (int i = 0; i < n; i++)
		node = isl_schedule_node_parent(map_node(mapping, isl_schedule_node_child(node, i)));
	return node;
}

/* The host tests nothing that is in an array. */
static bool is_of_skip(const struct mark *mark)
{
	return mark->kind == MARK_SKIP || mark->kind == MARK_SKIP_ALWAYS;
}

static __isl_give isl_schedule_node *map_mark(const struct mapping *mapping, __isl_take isl_schedule_node *node,
					      const struct mark *mark)
{
	enum mark_kind kind = MARK_N;
	int steps = steps_to_shared(node, &kind);

	if (steps >= 0)
		return map_shared(mapping, node, steps, kind);
	if (!has_shared_below(node))
		return insert_grid(mapping, node);
	if (is_of_skip(mark))
		return map_node(mapping, isl_schedule_node_delete(node));
	if (mark->kind == MARK_GROUP)
		keep_locals(mapping->module, mark->group);
	if (mark->kind == MARK_GROUP || mark->kind == MARK_LOOP || mark->kind == MARK_TILE ||
	    mark->kind == MARK_ATOMIC)
		return map_children(mapping, node);
	return map_inside(mapping, node);
}

static bool is_outermost(__isl_keep isl_schedule_node *node)
{
	isl_schedule_node *parent = isl_schedule_node_parent(isl_schedule_node_copy(node));
	enum isl_schedule_node_type type = isl_schedule_node_get_type(parent);

	isl_schedule_node_free(parent);
	return type == isl_schedule_node_domain || type == isl_schedule_node_context;
}

/* Returns the node at the same depth. */
static __isl_give isl_schedule_node *map_node(const struct mapping *mapping, __isl_take isl_schedule_node *node)
{
	enum isl_schedule_node_type type = isl_schedule_node_get_type(node);

	if (type == isl_schedule_node_mark)
		return map_mark(mapping, node, mark_of_node(node));
	if (type == isl_schedule_node_leaf)
		return insert_grid(mapping, node);
	if (type == isl_schedule_node_sequence && !is_outermost(node) && !has_shared_below(node))
		return insert_grid(mapping, node);
	return map_children(mapping, node);
}

bool pass_map_cuda(struct module *module, const struct pass_options *options)
{
	const struct mapping mapping = { module, options };
	bool ok = true;

	for (int i = 0; ok && options->is_device && i < REGION_N; i++) {
		struct region *region = &module->regions[i];
		isl_schedule_node *root;

		if (!region->schedule)
			continue;
		root = map_children(&mapping, isl_schedule_get_root(region->schedule));
		isl_schedule_free(region->schedule);
		region->schedule = isl_schedule_node_get_schedule(root);
		isl_schedule_node_free(root);
		ok = region->schedule;
	}
	return ok;
}
