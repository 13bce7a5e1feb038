/* SPDX-License-Identifier: MIT
 *
 * What statements below a loop do with arrays, and whether its iterations can run in blocks (ir/match/block.h). What
 * moves of an array below the loop is one run of its subscripts, so that a block of it is a matrix: rows, and lanes. */
#include "ir/match/block.h"

struct look {
	struct module *module;
	const struct mark *loop;
	struct stage *stage;
	int level;                      /* of the loop: the number of its dim in all stages */
	bool is_write, is_chosen;       /* looked at: a write; reads, some of which are not made at all points */
	block_use_list uses;
	struct array *segments;         /* of which the loop runs over the numbers; NULL */
	bool has_number;                /* the number of an iteration is computed with */
	const char *problem;
};

/* ---- stages ---- */

/* What the band below the mark of a loop runs over, for the stage. */
static __isl_give isl_pw_aff *band_of_stage(__isl_keep isl_schedule_node *loop, const struct stage *stage)
{
	isl_schedule_node *band = isl_schedule_node_first_child(isl_schedule_node_copy(loop));
	isl_multi_union_pw_aff *partial = isl_schedule_node_band_get_partial_schedule(band);
	isl_union_pw_aff *loops = isl_multi_union_pw_aff_get_union_pw_aff(partial, 0);
	isl_space *space = isl_space_from_domain(isl_set_get_space(stage->domain));
	isl_pw_aff *of_stage;

	space = isl_space_add_dims(space, isl_dim_out, 1);
	of_stage = isl_union_pw_aff_extract_pw_aff(loops, space);
	isl_union_pw_aff_free(loops);
	isl_multi_union_pw_aff_free(partial);
	isl_schedule_node_free(band);
	return of_stage;
}

/* Is the loop that over the dim of this number, of the stage, as it is? */
static bool band_is_dim(struct module *module, __isl_keep isl_schedule_node *loop, const struct stage *stage, int level)
{
	const struct expr dim = { .kind = EXPR_DIM, .type = TYPE_I64, .index = level };
	isl_pw_aff *of_band, *wanted;
	bool is;

	if (level >= stage->dims.n)
		return false;
	of_band = band_of_stage(loop, stage);
	wanted = expr_pw_aff(module, stage, &dim);
	is = isl_pw_aff_plain_is_equal(of_band, wanted) == isl_bool_true;
	if (!is) {
		of_band = isl_pw_aff_intersect_domain(of_band, isl_set_copy(stage->domain));
		wanted = isl_pw_aff_intersect_domain(wanted, isl_set_copy(stage->domain));
		is = isl_pw_aff_is_equal(of_band, wanted) == isl_bool_true;
	}
	isl_pw_aff_free(of_band);
	isl_pw_aff_free(wanted);
	return is;
}

/* Of an offsets array, where the segment of the loop begins (0) or ends (1); -1. */
static int border_of(const struct look *look, int number)
{
	const struct dim *dim = &look->stage->dims.items[number];
	int level;
	int64_t by;

	if (dim->kind != DIM_BIND || !(dim->source.array->facts & FACT_OFFSETS) || !dim->source.array->is_fixed ||
	    !expr_is_shifted_dim(dim->source.subs[0], &level, &by) || level != look->level || by < 0 || by > 1)
		return -1;
	return (int) by;
}

static bool is_border(const struct look *look, const struct expr *expr, int which)
{
	return expr->kind == EXPR_DIM && expr->index > look->level && border_of(look, expr->index) == which;
}

static bool is_row(const struct look *look, int number)
{
	const struct dim *dim = &look->stage->dims.items[number];

	return number > look->level && dim->kind == DIM_RANGE && is_border(look, dim->lo, 0) &&
	       is_border(look, dim->hi, 1);
}

/* A parent or child of a row, in the same segment. */
static bool is_member(const struct look *look, int number)
{
	const struct dim *dim = &look->stage->dims.items[number];

	return number > look->level && dim->kind != DIM_RANGE && (dim->source.array->facts & FACT_TREE) &&
	       dim->source.array->is_fixed && dim->source.array->segments &&
	       dim->source.subs[0]->kind == EXPR_DIM && is_row(look, dim->source.subs[0]->index);
}

static bool is_of_segment(const struct look *look, int number)
{
	return number > look->level && (border_of(look, number) >= 0 || is_row(look, number) ||
					is_member(look, number));
}

/* Does it depend on the iteration, itself or by what belongs to its segment? */
static bool depends(const struct look *look, const struct expr *expr)
{
	bool does = expr_uses_dim(expr, look->level);

	for (int d = look->level + 1; d < look->stage->dims.n && !does; d++)
		does = is_of_segment(look, d) && expr_uses_dim(expr, d);
	return does;
}

int block_row_level(const struct mark *mark)
{
	const dim_list *dims = &mark->stage->dims;
	int level = mark_dim_number(mark) + 1;

	while (level < dims->n && dims->items[level].kind == DIM_BIND &&
	       dims->items[level].source.array->facts & FACT_OFFSETS)
		level++;
	return level;
}

/* Does the loop run over all segments? Blocks take them by length, not by number. */
static bool is_over_all(const struct look *look, const struct array *segments)
{
	const struct dim *dim = &look->stage->dims.items[look->level];
	isl_pw_aff *hi = expr_pw_aff(look->module, look->stage, dim->hi);
	isl_pw_aff *n = expr_pw_aff(look->module, look->stage, segments->hi[0]);
	int64_t lo;
	bool is;

	hi = isl_pw_aff_add_constant_val(hi, isl_val_one(look->module->ctx));
	is = expr_is_constant(dim->lo, &lo) && lo == 0 && isl_pw_aff_is_equal(hi, n) == isl_bool_true;
	isl_pw_aff_free(hi);
	isl_pw_aff_free(n);
	return is;
}

static void note_segments(struct look *look, struct array *segments)
{
	if (!is_over_all(look, segments))
		look->problem = "it leaves segments out";
	if (look->segments && look->segments != segments)
		look->problem = "it has segments of several arrays";
	look->segments = segments;
}

static void check_dim(struct look *look, int number)
{
	const struct dim *dim = &look->stage->dims.items[number];

	if (border_of(look, number) >= 0)
		note_segments(look, dim->source.array);
	else if (is_member(look, number))
		note_segments(look, dim->source.array->segments);
	else if (is_row(look, number))
		return;
	else if (dim->kind == DIM_RANGE && (depends(look, dim->lo) || depends(look, dim->hi)))
		look->problem = "a range inside depends on it";
}

/* Compared are rows and borders, or a parent with a number, that of a root. */
static bool condition_is_of_segment(const struct look *look, const struct expr *expr)
{
	bool is = !expr_uses_dim(expr, look->level);
	int64_t value;

	if (expr->kind == EXPR_OP && (expr->op == OP_AND || expr->op == OP_OR || expr->op == OP_NOT)) {
		for (int i = 0; i < expr_n_args(expr); i++)
			is = is && condition_is_of_segment(look, expr->args[i]);
		return is;
	}
	for (int d = look->level + 1; d < look->stage->dims.n && is; d++)
		if (is_member(look, d) && expr_uses_dim(expr, d))
			is = expr->args[0]->kind == EXPR_DIM && expr_is_constant(expr->args[1], &value);
	return is;
}

static void check_dims(struct look *look)
{
	for (int d = look->level + 1; d < look->stage->dims.n; d++)
		check_dim(look, d);
	if (look->stage->guard && !condition_is_of_segment(look, look->stage->guard))
		look->problem = "a condition depends on it";
}

/* What is computed must not be made of numbers that the lanes have of their own, but by subscripts. */
static bool computes_with(struct look *look, const struct expr *expr)
{
	bool does = expr->kind == EXPR_DIM && is_of_segment(look, expr->index);

	look->has_number |= expr->kind == EXPR_DIM && expr->index == look->level;
	for (int i = 0; i < expr_n_operands(expr) && !does; i++)
		does = computes_with(look, expr->args[i]);
	return does;
}

/* ---- accesses ---- */

/* Is it the row, one beside it, or a parent or child of the row? */
static bool is_row_subscript(const struct look *look, const struct expr *sub)
{
	int dim;
	int64_t by;

	if (!expr_is_shifted_dim(sub, &dim, &by) || by < -1 || by > 1)
		return false;
	return is_row(look, dim) || (by == 0 && is_member(look, dim));
}

static bool uses_segment(const struct look *look, const struct access *access)
{
	bool uses = false;

	for (int i = 0; i < access->array->rank && !uses; i++)
		uses = depends(look, access->subs[i]) && !expr_uses_dim(access->subs[i], look->level);
	return uses;
}

static int position_of(struct look *look, const struct access *access)
{
	int position = -1;

	if (uses_segment(look, access)) {
		if (access->array->rank != 1 || !is_row_subscript(look, access->subs[0]))
			look->problem = "a subscript depends on it that is no row of its segment";
		return 0;
	}

	for (int i = 0; i < access->array->rank; i++) {
		if (!expr_uses_dim(access->subs[i], look->level))
			continue;
		if (position >= 0 || access->subs[i]->kind != EXPR_DIM)
			look->problem = "a subscript depends on it that is not its variable";
		position = i;
	}
	return position;
}

/* Not the same at all points below the loop. */
static bool moves(const struct look *look, const struct expr *sub)
{
	return sub->kind != EXPR_DIM || sub->index >= look->level;
}

static struct block_use *use_of(struct look *look, struct access *access, int position)
{
	for (int i = 0; i < look->uses.n; i++)
		if (look->uses.items[i].array == access->array)
			return &look->uses.items[i];
	vec_push(look->module->arena, &look->uses, ((struct block_use) {
		.array = access->array, .stage = look->stage, .access = access, .position = position,
		.first = access->array->rank, .last = -1 }));
	return &look->uses.items[look->uses.n - 1];
}

/* Has it cells for all iterations of the statement, also those that do not choose to read them? */
static bool has_systems(const struct look *look, const struct access *access, int position)
{
	isl_set *cells = isl_map_range(access_map(look->module, look->stage, access));
	isl_set *box = array_box(look->module, access->array);
	unsigned behind = (unsigned) (access->array->rank - position - 1);
	bool has;

	cells = isl_set_project_out(cells, isl_dim_set, (unsigned) position + 1, behind);
	cells = isl_set_project_out(cells, isl_dim_set, 0, (unsigned) position);
	box = isl_set_project_out(box, isl_dim_set, (unsigned) position + 1, behind);
	box = isl_set_project_out(box, isl_dim_set, 0, (unsigned) position);
	cells = isl_set_reset_tuple_id(cells);
	box = isl_set_reset_tuple_id(box);
	has = isl_set_is_subset(cells, box) == isl_bool_true;
	isl_set_free(cells);
	isl_set_free(box);
	return has;
}

static bool is_read_of_border(const struct look *look, const struct access *access)
{
	for (int d = look->level + 1; d < look->stage->dims.n; d++)
		if (&look->stage->dims.items[d].source == access)
			return border_of(look, d) >= 0;
	return false;
}

static void look_at_access(struct access *access, void *user)
{
	struct look *look = user;
	struct block_use *use;
	int position;

	if (access->array->role == ROLE_LOCAL || is_read_of_border(look, access))
		return;
	position = position_of(look, access);
	if (look->is_chosen && position >= 0 && !has_systems(look, access, position))
		look->problem = arena_printf(look->module->arena, "'%s' has no cells for some of its iterations",
					     access->array->name);
	use = use_of(look, access, position);
	if (uses_segment(look, access))
		use->segments = look->segments;
	if (use->position != position)
		look->problem = arena_printf(look->module->arena, "'%s' is used with it and without it",
					     access->array->name);
	use->is_written |= look->is_write;
	use->is_read |= !look->is_write;
	for (int i = 0; i < access->array->rank; i++)
		if (i != position && (moves(look, access->subs[i]) || !expr_equal(access->subs[i],
										   use->access->subs[i]))) {
			use->first = i < use->first ? i : use->first;
			use->last = i > use->last ? i : use->last;
		}
}

static isl_stat look_for_steps(__isl_take isl_basic_set *part, void *has_steps)
{
	*(bool *) has_steps |= isl_basic_set_dim(part, isl_dim_div) > 0;
	isl_basic_set_free(part);
	return isl_stat_ok;
}

/* Every second row, or what else needs a remainder to say. */
static bool is_in_steps(const struct stage *stage)
{
	bool has_steps = false;

	isl_set_foreach_basic_set(stage->domain, look_for_steps, &has_steps);
	return has_steps;
}

static struct look look_below(struct module *module, __isl_keep isl_schedule_node *loop)
{
	const struct mark *mark = mark_of_node(loop);
	struct look look = { .module = module, .loop = mark, .level = mark_dim_number(mark) };
	isl_union_set *domain = isl_schedule_node_get_domain(loop);

	for (int i = 0; i < module->stages.n; i++) {
		look.stage = module->stages.items[i];
		if (!domain_has_stage(domain, look.stage))
			continue;
		if (!band_is_dim(module, loop, look.stage, look.level)) {
			look.problem = "statements share the loop shifted against each other";
			break;
		}
		check_dims(&look);
		if (computes_with(&look, look.stage->value))
			look.problem = "numbers of rows are computed with";
		look.is_write = true;
		look_at_access(&look.stage->write, &look);
		look.is_write = false;
		look.is_chosen = expr_has_choice(look.stage->value);
		stage_reads(look.stage, look_at_access, &look);
		look.is_chosen = false;
		if (look.segments && is_in_steps(look.stage))
			look.problem = "rows of its segments are taken in steps";
	}
	isl_union_set_free(domain);
	if (look.has_number && look.segments && !look.problem)
		look.problem = "numbers of segments, which blocks take by length, are computed with";
	return look;
}

block_use_list block_uses(struct module *module, __isl_keep isl_schedule_node *loop)
{
	return look_below(module, loop).uses;
}

/* ---- may it be ---- */

static const char *refusal_of_use(struct arena *arena, const struct block_use *use)
{
	const struct array *array = use->array;

	if (use->position < 0)
		return use->is_written ? arena_printf(arena, "'%s' is the same for all of its iterations", array->name)
				       : NULL;
	if (use->segments && (array->facts & FACT_TREE))
		return array->segments == use->segments ? NULL
							: arena_printf(arena, "'%s' has other segments", array->name);
	if (!type_is_float(array->type) || array_is_index(array))
		return arena_printf(arena, "'%s' does not hold floats", array->name);
	if (array->storage != STORAGE_F64)
		return arena_printf(arena, "'%s' is kept in another precision than it has", array->name);
	if (use->first < use->position && use->position < use->last)
		return arena_printf(arena, "'%s' has its systems in the middle", array->name);
	if (array->rank == ARRAY_MAX_RANK)
		return arena_printf(arena, "'%s' has %d dimensions, and lanes are one more", array->name, array->rank);
	return NULL;
}

static isl_bool look_at_mark(__isl_keep isl_schedule_node *node, void *user)
{
	const struct mark *mark = mark_of_node(node);
	bool *is_plain = user;

	if (mark)
		*is_plain = *is_plain && (mark->kind == MARK_LOOP || mark->kind == MARK_BIND ||
					  mark->kind == MARK_GROUP || mark->kind == MARK_CHILDREN ||
					  mark->kind == MARK_ACCUMULATE || mark->kind == MARK_STORAGE);
	return isl_bool_true;
}

static isl_bool look_at_loop(__isl_keep isl_schedule_node *node, void *user)
{
	const struct mark *mark = mark_of_node(node);
	int *least = user;

	if (mark_is_loop(mark) && mark_dim_number(mark) < *least)
		*least = mark_dim_number(mark);
	return isl_bool_true;
}

/* Is all of a system inside? Then loops outside, or their tiles, are over dims up to the loop's, and loops inside over
 * those behind it. */
static bool is_around_systems(__isl_keep isl_schedule_node *loop)
{
	isl_schedule_node *at = isl_schedule_node_copy(loop);
	int level = mark_dim_number(mark_of_node(loop)), least = level;
	bool is_around = true;

	isl_schedule_node_foreach_descendant_top_down(loop, look_at_loop, &least);
	while (isl_schedule_node_has_parent(at) == isl_bool_true && is_around) {
		const struct mark *above;

		at = isl_schedule_node_parent(at);
		above = mark_of_node(at);
		is_around = !mark_is_loop(above) || mark_dim_number(above) <= level;
	}
	isl_schedule_node_free(at);
	return is_around && least == level;
}

struct systems {
	unsigned n_dims;                /* up to the loop's */
	isl_set *of_first;              /* those of the first statement */
	bool are_same;
};

static isl_stat compare_systems(__isl_take isl_set *domain, void *user)
{
	struct systems *systems = user;
	isl_set *first;

	domain = isl_set_project_out(domain, isl_dim_set, systems->n_dims,
				     (unsigned) isl_set_dim(domain, isl_dim_set) - systems->n_dims);
	domain = isl_set_reset_tuple_id(domain);
	if (!systems->of_first) {
		systems->of_first = domain;
		return isl_stat_ok;
	}
	first = isl_set_intersect_params(isl_set_copy(systems->of_first), isl_set_params(isl_set_copy(domain)));
	domain = isl_set_intersect_params(domain, isl_set_params(isl_set_copy(systems->of_first)));
	systems->are_same = systems->are_same && isl_set_is_equal(first, domain) == isl_bool_true;
	isl_set_free(first);
	isl_set_free(domain);
	return isl_stat_ok;
}

/* Do all statements run for the same iterations of the loop, if they run at all? */
static bool runs_for_same_systems(__isl_keep isl_schedule_node *loop)
{
	struct systems systems = { .n_dims = (unsigned) mark_dim_number(mark_of_node(loop)) + 1, .are_same = true };
	isl_union_set *domain = isl_schedule_node_get_domain(loop);
	bool is_told = isl_union_set_foreach_set(domain, compare_systems, &systems) == isl_stat_ok;

	isl_set_free(systems.of_first);
	isl_union_set_free(domain);
	return is_told && systems.are_same;
}

const char *block_refusal(struct module *module, __isl_keep isl_schedule_node *loop)
{
	const struct mark *mark = mark_of_node(loop);
	struct look look;
	bool is_plain = true;

	isl_schedule_node_foreach_descendant_top_down(loop, look_at_mark, &is_plain);
	if (!is_plain || mark->kind != MARK_LOOP || mark->direction < 0)
		return "its loops run in another way";
	if (!is_around_systems(loop))
		return "a loop outside of it, or its tiles, cuts the systems";
	look = look_below(module, loop);
	for (int i = 0; i < look.uses.n && !look.problem; i++)
		look.problem = refusal_of_use(module->arena, &look.uses.items[i]);
	for (int i = 0; i < look.uses.n && !look.problem; i++)
		if (look.uses.items[i].segments && look.uses.items[i].array->facts & FACT_TREE &&
		    schedule_has_mark_above(loop, MARK_TILE, NULL))
			look.problem = "its tiles cut blocks of trees";
	for (int i = 0; i < look.uses.n && !look.problem && look.segments; i++)
		if (look.uses.items[i].position >= 0 && !look.uses.items[i].segments)
			look.problem = "it has values for segments, beside those for their rows";
	if (!look.problem && !runs_for_same_systems(loop))
		look.problem = "its statements run for different systems";
	return look.problem;
}

const char *block_problem(struct module *module, __isl_keep isl_schedule_node *node)
{
	isl_schedule_node *loop = isl_schedule_node_first_child(isl_schedule_node_copy(node));
	const struct mark *mark = mark_of_node(node), *below = mark_of_node(loop);
	const char *problem = "a block has no loop to stand above";

	if (below && mark_is_loop(below) && mark->lanes > 0)
		problem = block_refusal(module, loop);
	isl_schedule_node_free(loop);
	return problem;
}

/* ---- arrays that are used in blocks only ---- */

struct holding {
	struct module *module;
	const struct array *array;
	bool *is_in_block;              /* by number of stage */
	int lanes, n_blocks;
	const struct array *segments;   /* offsets, of whose segments the blocks are; NULL */
	bool is_even;
};

/* Does the loop begin with the first system, for all statements? */
static bool is_from_first(const struct stage *stage, const struct mark *mark)
{
	const struct dim *dim = &stage->dims.items[mark_dim_number(mark)];
	int64_t lo;

	return dim->kind == DIM_RANGE && expr_is_constant(dim->lo, &lo) && lo == 0 &&
	       expr_equal(dim->hi, mark->dim->hi);
}

static const struct array *copy_in(const struct mark *mark, const struct array *array)
{
	for (int i = 0; i < mark->arrays.n; i++)
		if (mark->arrays.items[i]->owner == array)
			return mark->arrays.items[i];
	return NULL;
}

static void look_at_block(struct holding *holding, __isl_keep isl_schedule_node *node, const struct mark *mark)
{
	const struct array *copy = copy_in(mark, holding->array);
	isl_schedule_node *loop;
	isl_union_set *domain;
	block_use_list uses;

	if (!copy)
		return;
	loop = isl_schedule_node_first_child(isl_schedule_node_copy(node));
	uses = block_uses(holding->module, loop);
	domain = isl_schedule_node_get_domain(loop);
	for (int i = 0; i < uses.n; i++)
		if (uses.items[i].array == holding->array)
			holding->is_even = holding->is_even && uses.items[i].position == 0 &&
					   copy->stored.is_per_thread &&
					   (!holding->lanes || holding->lanes == copy->stored.lanes);
	for (int i = 0; i < holding->module->stages.n; i++) {
		const struct stage *stage = holding->module->stages.items[i];

		if (!domain_has_stage(domain, stage))
			continue;
		holding->is_in_block[i] = true;
		holding->is_even = holding->is_even && is_from_first(stage, mark);
	}
	holding->lanes = copy->stored.lanes;
	holding->n_blocks++;
	holding->is_even = holding->is_even && (holding->n_blocks == 1 || holding->segments == copy->segments);
	holding->segments = copy->segments;
	/* The loop within a tile begins where the tile does. */
	holding->is_even = holding->is_even && !schedule_has_mark_above(node, MARK_TILE, NULL);
	isl_union_set_free(domain);
	isl_schedule_node_free(loop);
}

static isl_bool look_for_blocks(__isl_keep isl_schedule_node *node, void *user)
{
	const struct mark *mark = mark_of_node(node);

	if (mark && mark->kind == MARK_BLOCK)
		look_at_block(user, node, mark);
	return isl_bool_true;
}

static bool is_used_elsewhere(const struct holding *holding)
{
	struct module *module = holding->module;

	for (int i = 0; i < module->stages.n; i++) {
		struct stage *stage = module->stages.items[i];

		if (!holding->is_in_block[i] && (stage->write.array == holding->array ||
						 stage_reads_array(stage, holding->array)))
			return true;
	}
	for (int i = 0; i < module->arrays.n; i++)
		if (module->arrays.items[i]->owner == holding->array && module->arrays.items[i]->role != ROLE_BLOCK)
			return true;
	return module->loop.until && expr_reads_array(module->loop.until, holding->array);
}

static bool has_copies(const struct module *module, const struct array *array)
{
	bool has = false;

	for (int i = 0; i < module->arrays.n && !has; i++)
		has = module->arrays.items[i]->role == ROLE_BLOCK && module->arrays.items[i]->owner == array;
	return has;
}

static struct holding look_for_holding(struct module *module, const struct array *array)
{
	struct holding holding = { .module = module, .array = array, .is_even = true };
	bool is_copied = has_copies(module, array);

	holding.is_in_block = arena_new_array(module->arena, bool, module->stages.n + 1);
	for (int i = 0; i < REGION_N && is_copied; i++)
		if (module->regions[i].schedule)
			isl_schedule_foreach_schedule_node_top_down(module->regions[i].schedule, look_for_blocks,
								    &holding);
	return holding;
}

const struct array *block_segments(const struct module *module, const struct array *array)
{
	int64_t lo;

	if (!array_is_argument(array) || !type_is_float(array->type) || array->rank != 1 ||
	    !expr_is_constant(array->lo[0], &lo) || lo != 0)
		return NULL;
	for (int i = 0; i < module->arrays.n; i++) {
		const struct array *offsets = module->arrays.items[i];

		if (array_is_argument(offsets) && offsets->is_fixed && (offsets->facts & FACT_OFFSETS) &&
		    offsets->rank == 1 && expr_equal(offsets->limit, array->hi[0]))
			return offsets;
	}
	return NULL;
}

int block_held(struct module *module, const struct array *array)
{
	struct holding holding;

	if (!array_is_argument(array) || array->rank < 1)
		return 0;
	holding = look_for_holding(module, array);
	if (holding.segments != block_segments(module, array))
		return 0;
	return holding.lanes && holding.is_even && !is_used_elsewhere(&holding) ? holding.lanes : 0;
}

/* Blocks of segments take offsets. */
static bool has_offsets(const struct module *module)
{
	bool has = false;

	for (int i = 0; i < module->arrays.n; i++)
		has = has || (module->arrays.items[i]->facts & FACT_OFFSETS) != 0;
	return has;
}

bool block_hides(struct module *module, const struct array *array)
{
	struct holding holding;

	if (array->role != ROLE_TEMP || array->rank != 1 || !has_offsets(module))
		return false;
	holding = look_for_holding(module, array);
	return holding.n_blocks == 1 && holding.segments && !is_used_elsewhere(&holding);
}

bool block_has_tree(struct module *module, int stage, const struct array *tree)
{
	return tree->segments && look_for_holding(module, tree).is_in_block[stage];
}
