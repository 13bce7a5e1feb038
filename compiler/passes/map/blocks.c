/* SPDX-License-Identifier: MIT
 *
 * What a block of systems holds of the arrays that move with them: of a temporary that lives in one iteration of the
 * loop as many values as the block has lanes, in the place of one; of any other array a copy of the block's part,
 * X.block, which is read from it before the block runs and written back behind it. Where one loop reads each row of it
 * once, in its order, the copy has a few rows at a time (a window), which are read when the loop is there: they are
 * used while they are in the nearest cache, and the rest of it is left to what is read again.
 *
 * A copy is none where the caller holds the array in blocks. Then memory is read row after row, which the hardware
 * prefetcher covers, unless the loop reads rows of children, of other branches, in between, or segments: it prefetches
 * what it reads. Lanes of flat arrays are more streams than the hardware prefetcher follows: a loop prefetches them.
 *
 * A temporary that is not read any more where a result is made has its values in the cells of that result
 * (ir/match/block_share.c): a block takes less of the caches, and brings fewer lines there. */
#include <isl/map.h>
#include <isl/schedule_node.h>
#include <isl/union_set.h>

#include "ir/match/block.h"
#include "passes/pass_private.h"

enum { ROWS = 8 };      /* at a time: squares of each instruction set (runtime/pmgrt_square.h) divide them */

static const char *block_name(struct module *module, const struct array *array)
{
	const char *name = arena_printf(module->arena, "%s.block", array->name);

	for (int i = 2; module_find_array(module, name); i++)
		name = arena_printf(module->arena, "%s.block%d", array->name, i);
	return name;
}

/* ---- rows that are read in their order ---- */

struct sweep {
	struct module *module;
	const struct block_use *use;
	int at, level;                  /* the subscript and the dim of the rows */
	int n_loops;                    /* over it, around statements that read the array */
	bool is_of_rows;                /* each of them reads the row that its loop is at */
	bool is_of_children;            /* or one of its children */
	const struct stage *stage;
};

static void look_at_read(struct access *access, void *user)
{
	struct sweep *sweep = user;
	const struct expr *row;

	if (access->array != sweep->use->array)
		return;
	row = access->subs[sweep->at];
	sweep->is_of_rows = sweep->is_of_rows && row->kind == EXPR_DIM && row->index == sweep->level &&
			    sweep->stage->dims.items[sweep->level].kind == DIM_RANGE &&
			    !expr_has_choice(sweep->stage->value);
	sweep->is_of_children = sweep->is_of_children && row->kind == EXPR_DIM &&
			   (row->index == sweep->level ||
			    sweep->stage->dims.items[row->index].kind == DIM_CHILDREN);
}

static bool reads_rows(struct sweep *sweep, __isl_keep isl_schedule_node *node)
{
	stage_list below = tree_stages(sweep->module, node);
	bool reads = false;

	for (int i = 0; i < below.n; i++) {
		sweep->stage = below.items[i];
		stage_reads(below.items[i], look_at_read, sweep);
		reads = reads || stage_reads_array(below.items[i], sweep->use->array);
	}
	return reads;
}

/* [value of the loop] -> [row] */
static __isl_give isl_map *rows_at(__isl_keep isl_union_map *values, const struct stage *stage, unsigned level)
{
	isl_union_set *domain = isl_union_set_from_set(isl_set_copy(stage->domain));
	isl_map *value = isl_map_from_union_map(isl_union_map_intersect_domain(isl_union_map_copy(values), domain));
	isl_map *row = isl_set_identity(isl_set_copy(stage->domain));

	row = isl_map_project_out(row, isl_dim_out, level + 1, (unsigned) stage->dims.n - level - 1);
	row = isl_map_reset_tuple_id(isl_map_project_out(row, isl_dim_out, 0, level), isl_dim_out);
	return isl_map_apply_domain(row, value);
}

/* Statements that share a loop may be at different rows. */
static bool reads_one_row(const struct sweep *sweep, __isl_keep isl_schedule_node *mark)
{
	isl_schedule_node *band = isl_schedule_node_get_child(mark, 0);
	isl_union_map *values = isl_schedule_node_band_get_partial_schedule_union_map(band);
	stage_list below = tree_stages(sweep->module, mark);
	isl_map *rows = NULL, *these;
	bool reads;

	for (int i = 0; values && i < below.n; i++) {
		if (!stage_reads_array(below.items[i], sweep->use->array))
			continue;
		these = rows_at(values, below.items[i], (unsigned) sweep->level);
		rows = rows ? isl_map_union(rows, these) : these;
	}
	reads = rows && isl_map_is_single_valued(rows) == isl_bool_true;
	isl_map_free(rows);
	isl_union_map_free(values);
	isl_schedule_node_free(band);
	return reads;
}

/* Is the row a number, the same of all systems? Where these are segments, it is at another place in each. */
static bool is_numbered(__isl_keep isl_set *rows, unsigned level)
{
	isl_set *equal = isl_set_detect_equalities(isl_set_copy(rows));
	isl_val *row = isl_set_plain_get_val_if_fixed(equal, isl_dim_set, level);
	bool is = isl_val_is_int(row) == isl_bool_true;

	isl_set_free(equal);
	isl_val_free(row);
	return is;
}

/* Has it one row of a system, which is not the first? */
static bool is_at_end(const struct stage *stage, unsigned level)
{
	const struct expr *lo = stage->dims.items[level].lo;
	isl_set *rows = isl_set_project_out(isl_set_copy(stage->domain), isl_dim_set, level + 1,
					    (unsigned) stage->dims.n - level - 1);
	isl_map *row = isl_map_from_range(isl_set_reset_tuple_id(isl_set_copy(rows)));
	isl_set *first = isl_set_copy(rows);
	bool is;

	if (lo && lo->kind == EXPR_DIM)
		first = isl_set_equate(first, isl_dim_set, (int) level, isl_dim_set, lo->index);
	row = isl_map_move_dims(row, isl_dim_in, 0, isl_dim_out, 0, level);
	is = isl_map_is_single_valued(row) == isl_bool_true &&
	     (!lo || lo->kind != EXPR_DIM || is_numbered(rows, level) ||
	      isl_set_is_equal(rows, first) != isl_bool_true);
	isl_map_free(row);
	isl_set_free(rows);
	isl_set_free(first);
	return is;
}

/* Behind a loop that ends before the last row, segments of different lengths would be at different rows. */
static bool ends_together(const struct sweep *sweep, __isl_keep isl_schedule_node *mark)
{
	stage_list below = tree_stages(sweep->module, mark);
	bool ends = true;

	for (int i = 0; sweep->use->segments && i < below.n && ends; i++)
		ends = below.items[i]->dims.n > sweep->level && !is_at_end(below.items[i], (unsigned) sweep->level);
	return ends;
}

static isl_bool look_at_loop(__isl_keep isl_schedule_node *node, void *user)
{
	struct sweep *sweep = user;
	const struct mark *mark = mark_of_node(node);

	if (mark && mark->kind == MARK_LOOP && mark_dim_number(mark) == sweep->level && reads_rows(sweep, node)) {
		sweep->n_loops++;
		sweep->is_of_rows = sweep->is_of_rows && reads_one_row(sweep, node) && ends_together(sweep, node);
	}
	return isl_bool_true;
}

/* The one that says which row is read: where systems are segments of one array, its only one. -1: none does alone. */
static int row_subscript(const struct block_use *use)
{
	if (use->segments)
		return type_is_float(use->array->type) ? 0 : -1;
	return use->first == use->last ? use->first : -1;
}

static void keep_rows(struct module *module, struct array *copy, const struct block_use *use)
{
	copy->stored.window = ROWS;
	copy->stored.windowed = row_subscript(use);
	module_decide_that(module, DECISION_BLOCKS_ROWS, use->array->name,
			   arena_printf(module->arena, "%d rows at a time", ROWS), NULL, use->array->span,
			   "one loop reads each of its rows once, in their order");
}

/* Looks at what loops directly inside read of an array that nobody writes. */
static void look_at_rows(struct module *module, __isl_keep isl_schedule_node *node, const struct mark *mark,
			 const struct block_use *use, struct array *copy)
{
	struct sweep sweep = { .module = module, .use = use, .at = row_subscript(use),
			       .level = block_row_level(mark), .is_of_rows = true, .is_of_children = true };

	copy->stored.window = 0;
	copy->stored.is_prefetched = false;
	if (use->is_written || use->position != 0 || sweep.at < 0)
		return;
	reads_rows(&sweep, node);
	isl_schedule_node_foreach_descendant_top_down(node, look_at_loop, &sweep);
	if (sweep.is_of_rows && sweep.n_loops == 1)
		keep_rows(module, copy, use);
	if (sweep.is_of_children && array_is_argument(use->array))
		copy->stored.is_prefetched = true;
}

/* ---- prefetches ---- */

struct row_loop {
	stage_list stages;
	bool has_children;
};

/* The loops over the rows of a block, in their order. */
struct row_loops {
	struct module *module;
	const struct mark *block;
	VEC(struct row_loop) list;
};

static isl_bool note_row_loop(__isl_keep isl_schedule_node *node, void *user)
{
	struct row_loops *loops = user;
	const struct mark *mark = mark_of_node(node);
	struct row_loop loop;

	if (!mark || mark->kind != MARK_LOOP || mark_dim_number(mark) != block_row_level(loops->block))
		return isl_bool_true;
	loop.stages = tree_stages(loops->module, node);
	loop.has_children = schedule_has_mark_below(node, MARK_CHILDREN, NULL);
	vec_push(loops->module->arena, &loops->list, loop);
	return isl_bool_false;
}

static bool loop_reads(const struct row_loop *loop, const struct array *copy)
{
	bool reads = false;

	for (int i = 0; i < loop->stages.n && !reads; i++)
		reads = stage_reads_array(loop->stages.items[i], copy->owner);
	return reads;
}

/* The first loop that reads the array; NULL: none does. */
static const struct row_loop *first_loop_of(const struct row_loops *loops, const struct array *copy)
{
	for (int i = 0; i < loops->list.n; i++)
		if (loop_reads(&loops->list.items[i], copy))
			return &loops->list.items[i];
	return NULL;
}

static void decide_prefetch(struct module *module, const struct array *copy, const struct row_loop *loop)
{
	const bool is_covered = !loop->has_children && !copy->segments;

	module_decide_that(module, DECISION_AHEAD, copy->owner->name,
		      is_covered ? "prefetches the next block" : "prefetches rows", NULL, copy->owner->span, "%s",
		      is_covered ? "where it is flat, in memory: in blocks its rows are read in their order"
		      : loop->has_children ? "in memory, since rows of children are read in between"
					   : "in memory, since segments are short streams");
}

static void settle_prefetches(struct row_loops *loops)
{
	for (int i = 0; i < loops->block->arrays.n; i++) {
		struct array *copy = loops->block->arrays.items[i];
		const struct row_loop *loop = copy->stored.is_prefetched ? first_loop_of(loops, copy) : NULL;

		copy->stored.is_prefetched = loop;
		if (loop)
			decide_prefetch(loops->module, copy, loop);
	}
}

/* ---- copies ---- */

/* The subscripts of a copy are those that move below the loop. */
static unsigned folded_subscripts(const struct block_use *use)
{
	unsigned folded = 0;

	for (int i = 0; i < use->array->rank && !use->segments; i++)
		if (i < use->first || i > use->last || i == use->position)
			folded |= 1U << i;
	return folded;
}

/* One that a dump of an earlier run brought along, else a new one. */
static struct array *free_copy(struct module *module, struct array *array)
{
	struct array *copy;

	for (int i = 0; i < module->arrays.n; i++) {
		copy = module->arrays.items[i];
		if (copy->role == ROLE_BLOCK && copy->owner == array && !copy->stored.lanes)
			return copy;
	}
	copy = module_add_array(module, block_name(module, array), ROLE_BLOCK, array->type, array->rank, array->span);
	copy->owner = array;
	return copy;
}

static struct array *copy_of(struct module *module, __isl_keep isl_schedule_node *node, const struct block_use *use,
			     const struct mark *mark)
{
	struct array *array = use->array;
	struct array *copy = free_copy(module, array);

	copy->stored.lanes = (int) mark->lanes;
	copy->stored.folded = folded_subscripts(use);
	copy->segments = use->segments;
	for (int i = 0; i < array->rank; i++) {
		copy->lo[i] = array->lo[i];
		copy->hi[i] = array->hi[i];
	}
	look_at_rows(module, node, mark, use, copy);
	return copy;
}

/* ---- temporaries in the place of results ---- */

static void share(struct module *module, __isl_keep isl_schedule_node *node, struct array *copy)
{
	for (int i = 0; i < module->arrays.n; i++) {
		struct array *array = module->arrays.items[i];

		if (array->stored.stands_in || !block_may_hold(module, node, array, copy))
			continue;
		array->stored.stands_in = copy;
		module_decide_that(module, DECISION_BLOCKS_SHARED, array->name,
				   arena_printf(module->arena, "in the block of '%s'", copy->owner->name), NULL,
				   array->span, "each of its values is read last by what makes the result there");
		return;
	}
}

static void hold(struct module *module, __isl_keep isl_schedule_node *node, const struct block_use *use,
		 struct mark *filled)
{
	struct array *copy = copy_of(module, node, use, filled);

	copy->stored.is_per_thread = use->segments || schedule_has_mark_above(node, MARK_PARALLEL, NULL);
	vec_push(module->arena, &filled->arrays, copy);
}

/* A temporary of segments has rows that are no dimension of its own: it is used in the block as it is, and needs a part
 * of its own only if it stands in none of the others. */
static bool may_stand_in(const struct block_use *use)
{
	return use->segments && use->is_written && use->array->role == ROLE_TEMP;
}

static void hold_uses(struct module *module, __isl_keep isl_schedule_node *node, const block_use_list *uses,
		      struct mark *filled)
{
	for (int i = 0; i < uses->n; i++) {
		struct block_use *use = &uses->items[i];

		if (use->position >= 0 && use->array->stored.folded >> use->position & 1U)
			use->array->stored.lanes = (int) filled->lanes;
		else if (use->position >= 0 && !may_stand_in(use))
			hold(module, node, use, filled);
	}
}

static __isl_give isl_schedule_node *fill(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					  const struct mark *mark)
{
	block_use_list uses = block_uses(walk->module, node);
	struct mark *filled = mark_new(walk->module, MARK_BLOCK, "interleave", mark->span);
	struct row_loops loops = { .module = walk->module, .block = filled };

	*filled = *mark;
	hold_uses(walk->module, node, &uses, filled);
	isl_schedule_node_foreach_descendant_top_down(node, note_row_loop, &loops);
	settle_prefetches(&loops);
	for (int i = 0; i < filled->arrays.n; i++)
		share(walk->module, node, filled->arrays.items[i]);
	for (int i = 0; i < uses.n; i++)
		if (may_stand_in(&uses.items[i]) && !uses.items[i].array->stored.stands_in)
			hold(walk->module, node, &uses.items[i], filled);
	node = isl_schedule_node_delete(isl_schedule_node_parent(node));
	node = isl_schedule_node_insert_mark(node, mark_id(walk->module, filled));
	return isl_schedule_node_first_child(node);
}

static __isl_give isl_schedule_node *visit(struct tree_walk *walk, __isl_take isl_schedule_node *node,
					   const struct mark *mark, bool *descend)
{
	const struct mark *block = mark_above(node);

	(void) mark;
	if (!block || block->kind != MARK_BLOCK)
		return node;
	*descend = false;
	return fill(walk, node, block);
}

/* Rows are prefetched where the caller may hold the array in blocks, which all blocks together tell. */
static void forget_prefetches(struct module *module)
{
	int n = 0;

	for (int i = 0; i < module->decisions.n; i++) {
		const struct decision *decision = &module->decisions.items[i];

		if (decision->kind != DECISION_AHEAD ||
		    block_held(module, module_find_array(module, decision->subject)))
			module->decisions.items[n++] = *decision;
	}
	module->decisions.n = n;
}

bool pass_blocks(struct module *module, const struct pass_options *options)
{
	struct tree_walk walk = { .module = module, .options = options, .enters_blocks = true, .visit = visit };

	for (int i = 0; i < module->arrays.n; i++) {
		module->arrays.items[i]->stored.lanes = 0;
		module->arrays.items[i]->stored.stands_in = NULL;
	}
	if (!module_walk(&walk))
		return false;
	forget_prefetches(module);
	return true;
}
