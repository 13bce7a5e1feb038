/* SPDX-License-Identifier: MIT
 *
 * Kernels whose teams are blocks, or parts of one (passes/map/block_teams.c). The lanes of a team share the loops of
 * LANES marks; what the team keeps of temporaries is declared at TEAM_STORAGE marks, in registers or in memory that the
 * lanes share. How many lanes and how much memory that takes follows from sizes that the host knows when it starts the
 * kernel: where the device lacks them it starts another one, without copies of arguments, and where that does not
 * suffice, one with arrays in memory and teams of a warp (grids.c).
 *
 * Iteration k of a loop of the lanes is that of lane k, if anything is kept in registers, so that what a lane computes
 * in one loop is there in the next one; else lanes begin at their numbers and go on by how many there are. */
#include "codegen/codegen_private.h"

/* ---- what stands in the place of arrays ---- */

const struct array *block_kernel_array(const struct emit *e, const struct array *array)
{
	const struct block_kernel *block = e->grid ? e->grid->block : NULL;

	for (int i = 0; block && i < block->kept.n; i++)
		if (block->kept.items[i]->owner == array)
			return block->kept.items[i];
	return array;
}

static struct array kept_as(const struct array *array)
{
	struct array copy = *array;

	copy.owner = (struct array *) (uintptr_t) array;
	copy.stored = (struct stored) { .folded = array->in_team->folded, .window = array->in_team->window,
					.windowed = array->in_team->windowed };
	return copy;
}

static struct array *kept_copy(struct emit *e, const struct array *array)
{
	struct array *copy = arena_new(e->arena, struct array);
	const char *what = array->in_team->is_shared ? "shared" : "own";

	*copy = kept_as(array);
	copy->c_name = names_declare(&e->names, arena_printf(e->arena, "%s_%s", array->c_name, what));
	return copy;
}

/* Elements that are stored without those that are left free. */
static struct affine cells_of(struct emit *e, const struct array *array)
{
	struct affine cells = affine_constant(1);

	for (int d = 0; d < array_n_stored(array); d++) {
		struct affine extent = part_extent(e, array, d);

		cells = affine_multiply(e, &cells, &extent);
	}
	return cells;
}

static void add_shared(struct emit *e, const struct array *copy, struct k_expr *cells)
{
	struct block_kernel *block = e->grid->block;
	struct k_expr *room = K_CALL(e->arena, "PMG_ROOM", k_type_arg(e->arena, k_scalar(type_c_name(copy->type))),
				     cells);

	block->shared = block->shared ? k_binary(e->arena, K_ADD, block->shared, room) : room;
}

/* ---- elements that are left free ---- */

/* index = row*q + rest with 0 <= rest < row: q; false: that is not known. */
static bool split_rows(struct emit *e, const struct affine *index, int64_t row, struct affine *q)
{
	const int64_t constant = index->constant >= 0 ? index->constant/row : -((row - 1 - index->constant)/row);
	struct affine rest, most;

	*q = affine_constant(constant);
	for (int i = 0; i < index->terms.n; i++) {
		struct term term = index->terms.items[i];

		if (term.factor % row)
			continue;
		term.factor /= row;
		vec_push(e->arena, &q->terms, term);
	}
	rest = affine_combine(e->arena, 1, index, -row, q);
	most = affine_scale(e->arena, &rest, -1, row - 1);
	return facts_imply(e->module->ctx, e->arena, &e->facts, &rest) &&
	       facts_imply(e->module->ctx, e->arena, &e->facts, &most);
}

/* index + index/row */
struct affine block_kernel_index(struct emit *e, const struct array *array, struct affine index)
{
	const int64_t row = array->in_team && array->owner && e->grid && e->grid->block ? array->in_team->row : 0;
	struct affine q;

	if (!row)
		return index;
	if (!split_rows(e, &index, row, &q))
		q = affine_atom(e->arena, k_binary(e->arena, K_DIV, k_at_least(e->arena, affine_expr(e->arena, &index),
									       K_LEVEL_PRIMARY), k_int(e->arena, row)));
	return affine_combine(e->arena, 1, &index, 1, &q);
}

static struct affine with_free(struct emit *e, const struct array *copy, const struct affine *cells)
{
	const int64_t row = copy->in_team->row;
	struct affine free;

	if (!row)
		return *cells;
	free = affine_atom(e->arena, k_binary(e->arena, K_DIV, k_at_least(e->arena, affine_expr(e->arena, cells),
									  K_LEVEL_PRIMARY), k_int(e->arena, row)));
	return affine_combine(e->arena, 1, cells, 1, &free);
}

/* ---- copies of arguments ---- */

struct finding_access {
	const struct array *array;
	const struct access *access;
};

static void find_read(struct access *access, void *user)
{
	struct finding_access *finding = user;

	if (access->array == finding->array)
		finding->access = access;
}

static void find_in_stage(struct stage *stage, void *user)
{
	struct finding_access *finding = user;

	if (!finding->access)
		find_read(&stage->write, finding);
	if (!finding->access)
		stage_reads(stage, find_read, finding);
}

/* Where the elements of the iteration begin: "a + s*n". The first subscript is the same in all accesses below. */
static struct k_expr *begin_of(struct emit *e, __isl_keep isl_ast_node *node, const struct array *copy,
			       const struct affine *cells)
{
	const struct array *array = copy->owner;
	struct finding_access finding = { .array = array };
	struct affine lo = affine_of_expr(e, NULL, array->lo[0]), first;
	struct point point = { NULL, ast_instance_below(node, NULL, false) };

	ast_each_stage(node, find_in_stage, &finding);
	if (!point.instance || !finding.access) {
		emit_fail(e, "nothing reads or writes what a team copies");
		return k_int(e->arena, 0);
	}
	point.stage = ast_stage(point.instance);
	first = affine_of_expr(e, &point, finding.access->subs[0]);
	first = affine_combine(e->arena, 1, &first, -1, &lo);
	first = affine_multiply(e, &first, cells);
	if (copy->role == ROLE_OUT)
		note_write(e, array);
	return c_offset(e, array->c_name, &first);
}

static void emit_copy(struct emit *e, const struct array *copy, struct k_expr *begin, const struct affine *cells)
{
	struct arena *a = e->arena;
	struct k_expr *n = affine_expr(a, cells), *row = k_int(a, copy->in_team->row), *name = k_name(a, copy->c_name);

	if (copy->role == ROLE_OUT)
		k_do(e->b, K_CALL(a, "PMG_COPY_OUT", begin, name, n, row));
	else
		k_do(e->b, K_CALL(a, "PMG_COPY_IN", name, begin, n, row));
}

/* ---- declarations ---- */

static bool is_kept(const struct emit *e, const struct array *array)
{
	return !array->in_team->row || !e->grid->block->is_direct;
}

static struct affine room_of(struct emit *e, const struct array *copy)
{
	const struct affine cells = cells_of(e, copy);

	return with_free(e, copy, &cells);
}

static bool is_same(struct emit *e, const struct affine *a, const struct affine *b)
{
	struct affine difference = affine_combine(e->arena, 1, a, -1, b);
	int64_t value;

	return affine_is_constant(&difference, &value) && value == 0;
}

static bool is_kept_mark(const struct mark *mark, const void *array)
{
	return mark->kind == MARK_TEAM_STORAGE && mark->array == array;
}

/* As many elements as the largest array has that comes into the room below. */
static struct k_expr *room_of_all(struct emit *e, __isl_keep isl_ast_node *node, const struct array *copy)
{
	struct affine most = room_of(e, copy);
	struct k_expr *room = affine_expr(e->arena, &most);

	for (int i = 0; i < e->module->arrays.n; i++) {
		const struct array *other = e->module->arrays.items[i];
		struct affine cells;
		struct array kept;

		if (!other->in_team || other->in_team->room != copy->in_team->room || !is_kept(e, other) ||
		    !ast_has_such_mark(node, is_kept_mark, other))
			continue;
		kept = kept_as(other);
		cells = room_of(e, &kept);
		if (!is_same(e, &cells, &most))
			room = K_CALL(e->arena, "pmg_max_i64", room, affine_expr(e->arena, &cells));
	}
	return room;
}

/* The array that is in the room around; NULL: there is none. */
static const struct array *host_of(const struct emit *e, const struct array *copy)
{
	const struct block_kernel *block = e->grid->block;

	for (int i = 0; i < block->kept.n; i++)
		if (copy->in_team->room && block->kept.items[i]->in_team->room == copy->in_team->room)
			return block->kept.items[i];
	return NULL;
}

static void declare_shared(struct emit *e, __isl_keep isl_ast_node *node, const struct array *copy)
{
	const struct array *host = host_of(e, copy);
	const char *type = type_c_name(copy->type);
	struct k_expr *room;

	if (host) {
		k_var(e->b, k_pointer(type, false), copy->c_name, k_name(e->arena, host->c_name));
		return;
	}
	room = room_of_all(e, node, copy);
	k_array(e->b, k_scalar(type), copy->c_name, room, NULL)->let.space = K_SPACE_SHARED;
	add_shared(e, copy, room);
}

static void declare_own(struct emit *e, const struct array *copy)
{
	struct affine cells = cells_of(e, copy);
	int64_t n;

	k_array(e->b, k_scalar(type_c_name(copy->type)), copy->c_name, affine_expr(e->arena, &cells), NULL)->let.space =
		K_SPACE_REGISTERS;
	if (affine_is_constant(&cells, &n))
		e->grid->block->own += n*type_size(copy->type);
	else
		emit_fail(e, "registers have no length that is not a number");
}

/* What is below the marks; all copies are made ahead of it, at once. */
static void emit_below(struct emit *e, __isl_keep isl_ast_node *node)
{
	const struct mark *mark = ast_mark(node);

	if (e->grid->block->is_copying && !(mark && mark->kind == MARK_TEAM_STORAGE)) {
		k_macro(e->b, "PMG_COPIED");
		e->grid->block->is_copying = false;
	}
	emit_node(e, node, (struct loop_use) { 0 });
}

static void emit_kept(struct emit *e, __isl_keep isl_ast_node *node, struct array *copy)
{
	struct block_kernel *block = e->grid->block;
	const struct affine cells = cells_of(e, copy);
	const bool is_copied = copy->in_team->row > 0;
	struct k_expr *begin = is_copied ? begin_of(e, node, copy, &cells) : NULL;

	if (copy->in_team->is_shared)
		declare_shared(e, node, copy);
	else
		declare_own(e, copy);
	block->has_copies |= is_copied;
	if (is_copied && copy->role == ROLE_IN) {
		emit_copy(e, copy, begin, &cells);
		block->is_copying = true;
	}
	vec_push(e->arena, &block->kept, copy);
	emit_below(e, node);
	block->kept.n--;
	if (!copy->in_team->is_shared && k_uses_in_block(block_here(e), copy->c_name).reads == 0)
		k_unused(e->b, copy->c_name);
	if (is_copied && copy->role == ROLE_OUT) {
		emit_team_sync(e);
		emit_copy(e, copy, begin, &cells);
	}
}

void emit_team_storage(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	if (e->grid && e->grid->block && is_kept(e, mark->array))
		emit_kept(e, node, kept_copy(e, mark->array));
	else
		emit_node(e, node, (struct loop_use) { 0 });
}

static bool is_of_registers(const struct mark *mark, const void *unused)
{
	(void) unused;
	return mark->kind == MARK_TEAM_STORAGE && !mark->array->in_team->is_shared;
}

struct block_kernel block_kernel_of(__isl_keep isl_ast_node *node, bool is_direct)
{
	return (struct block_kernel) { .has_registers = ast_has_such_mark(node, is_of_registers, NULL),
				       .is_direct = is_direct };
}

/* ---- loops ---- */

/* Of all loops of the lanes, the largest number of iterations, or what is one more than the last one. */
static void note_lanes(struct emit *e, const struct affine *end)
{
	struct block_kernel *block = e->grid->block;
	struct k_expr *n = affine_expr(e->arena, end);

	for (int i = 0; i < block->ends.n; i++)
		if (is_same(e, &block->ends.items[i], end))
			return;
	vec_push(e->arena, &block->ends, *end);
	block->lanes = block->lanes ? K_CALL(e->arena, "pmg_max_i64", block->lanes, n) : n;
}

void open_block_lanes(struct emit *e, const struct range *range, const char *name)
{
	struct arena *a = e->arena;
	const bool is_one = e->grid->block->has_registers;
	struct affine end = range->is_single ? affine_scale(a, &range->first, 1, 1) : range->end;
	struct k_loop *loop;
	int64_t first;

	if (range->step != 1)
		emit_fail(e, "lanes share a loop that leaves out iterations");
	note_lanes(e, &end);
	loop = &k_begin_for(e->b, "int64_t", name, is_one ? k_int(a, 0) : affine_expr(a, &range->first),
			    affine_expr(a, &end), NULL)->loop;
	loop->kind = K_LOOP_LANES;
	loop->number = k_name(a, "pmg_lane");
	loop->count = is_one ? NULL : k_name(a, "pmg_team");
	if (is_one && !(affine_is_constant(&range->first, &first) && first == 0))
		k_begin_if(e->b, k_binary(a, K_GE, k_name(a, name), affine_expr(a, &range->first)));
}

/* The one iteration of a loop of the lanes that isl made none of. */
bool emit_lane_single(struct emit *e, __isl_keep isl_ast_node *node, const struct loop_use *use)
{
	const int depth = depth_here(e), visible = e->names.visible.n;
	struct range range = { .step = 1, .is_single = true };
	struct point point;

	if (!e->grid || !e->grid->block || !loop_is_of_lanes(e, use))
		return false;
	point = point_below(e, node, use->mark);
	if (!point.instance)
		emit_fail(e, "lanes share a loop without a value");
	if (e->failed)
		return true;
	range.first = affine_of_dim(e, &point, mark_dim_number(use->mark));
	emit_team_sync(e);
	open_block_lanes(e, &range, names_declare(&e->names, use->mark->dim->name));
	e->grid->in_lanes = true;
	emit_single(e, node, *use);
	e->grid->in_lanes = false;
	while (depth_here(e) > depth)
		k_end(e->b);
	e->names.visible.n = visible;
	emit_team_sync(e);
	return true;
}

/* Numbers between which a dim is in all stages below. */
struct short_range {
	int number;                     /* of the dim */
	int64_t lo, hi;
	bool is_known, has_any;
};

static void widen(struct stage *stage, void *user)
{
	struct short_range *range = user;
	const struct dim *dim = range->number < stage->dims.n ? &stage->dims.items[range->number] : NULL;
	int64_t lo, hi;

	if (!dim || dim->kind != DIM_RANGE || !expr_is_constant(dim->lo, &lo) || !expr_is_constant(dim->hi, &hi)) {
		range->is_known = false;
		return;
	}
	range->lo = range->has_any && range->lo < lo ? range->lo : lo;
	range->hi = range->has_any && range->hi > hi ? range->hi : hi;
	range->has_any = true;
}

static bool find_short(struct emit *e, __isl_keep isl_ast_node *body, const struct loop_use *use,
		       struct short_range *range)
{
	*range = (struct short_range) { .number = mark_dim_number(use->mark), .is_known = true };
	ast_each_stage(body, widen, range);
	return !e->failed && range->is_known && range->has_any && range->hi - range->lo <= MOST_UNROLLED;
}

static bool is_at_least(struct emit *e, const struct affine *larger, const struct affine *smaller)
{
	struct affine difference = affine_combine(e->arena, 1, larger, -1, smaller);
	int64_t value;

	return affine_is_constant(&difference, &value) && value >= 0;
}

/* Whether the loop comes to a number between lo and hi; NULL: to all of them. */
static struct k_expr *is_in_range(struct emit *e, const struct range *range, const struct affine *variable,
				  const struct affine *lo, const struct affine *hi, bool is_down)
{
	const struct affine *least = is_down ? &range->last : &range->first;
	const struct affine *most = is_down ? &range->first : &range->last;
	struct k_expr *condition = NULL;

	if (range->is_single)
		return affine_comparison(e->arena, variable, K_EQ, &range->first);
	if (!is_at_least(e, lo, least))
		condition = affine_comparison(e->arena, variable, K_GE, least);
	if (!is_at_least(e, most, hi))
		condition = k_join(e->arena, K_AND, condition, affine_comparison(e->arena, variable, K_LE, most));
	return condition;
}

/* A loop in a lane that goes through few numbers is written out, so that what the lane has in registers has numbers as
 * subscripts; what it does not come to is left out by a condition. */
bool open_block_short(struct emit *e, __isl_keep isl_ast_node *body, const struct range *range, const char *name,
		      const struct loop_use *use)
{
	const bool is_down = use->mark->direction < 0;
	struct affine variable = affine_name(e->arena, name), lo, hi;
	struct short_range numbers;
	struct k_expr *condition;

	if (!e->grid || !e->grid->block || !e->grid->block->has_registers || !e->grid->in_lanes ||
	    use->mark->kind != MARK_LOOP || range->step != 1 || !find_short(e, body, use, &numbers))
		return false;
	lo = affine_constant(numbers.lo);
	hi = affine_constant(numbers.hi - 1);
	if (is_down)
		k_begin_down(e->b, "int64_t", name, affine_expr(e->arena, &hi), affine_expr(e->arena, &lo), NULL)
			->loop.kind = K_LOOP_UNROLLED;
	else
		k_begin_for(e->b, "int64_t", name, affine_expr(e->arena, &lo), k_int(e->arena, numbers.hi), NULL)
			->loop.kind = K_LOOP_UNROLLED;
	condition = is_in_range(e, range, &variable, &lo, &hi, is_down);
	if (condition)
		k_begin_if(e->b, condition);
	return true;
}

/* ---- what the host starts ---- */

struct k_expr *block_kernel_lanes(struct arena *arena, const struct block_kernel *block)
{
	return k_name(arena, block->is_direct ? "pmg_direct_lanes" : "pmg_lanes");
}

static struct k_expr *bytes_name(struct arena *arena, const struct block_kernel *block)
{
	return k_name(arena, block->is_direct ? "pmg_direct_bytes" : "pmg_bytes");
}

static struct k_expr *bytes_shared(struct arena *arena, const struct block_kernel *block)
{
	return block->shared ? block->shared : k_int(arena, 0);
}

/* Bytes for which a lane shall have registers. What is without copies is for the largest teams, whose lanes have half
 * as many: compilers keep the rest in memory of the lane, which is next to shared memory. */
static struct k_expr *bytes_own(struct arena *arena, const struct block_kernel *block)
{
	return k_int(arena, block->is_direct ? block->own/2 : block->own);
}

struct k_expr *block_kernel_bounds(const struct emit *e)
{
	return K_CALL(e->arena, "PMG_BOUNDS_BLOCK", bytes_own(e->arena, e->grid->block));
}

struct k_expr *block_kernel_launch(const struct emit *e, const char *kernel, struct k_expr *n,
				   const expr_list *arguments)
{
	struct arena *a = e->arena;
	struct k_expr *launch = K_CALL(a, "PMG_LAUNCH_BLOCK", k_name(a, "plan"), k_name(a, kernel), n,
				       block_kernel_lanes(a, e->grid->block), bytes_name(a, e->grid->block));

	return k_with_args(a, launch, arguments->items, arguments->n);
}

/* The lanes: as many as the longest loop has iterations, if a block can be of so many. The bytes: what they share. */
void block_kernel_begin(struct emit *e, const struct block_kernel *block)
{
	struct arena *a = e->arena;
	struct k_expr *most = K_CALL(a, "PMG_BLOCK_LANES", bytes_own(a, block)), *lanes = block_kernel_lanes(a, block);
	struct k_expr *bytes = bytes_name(a, block);
	struct k_expr *fits = K_CALL(a, "pmg_cuda_fits", k_name(a, "plan"), lanes, bytes);

	k_begin(e->b);
	k_const(e->b, k_scalar("int"), lanes->text, K_CALL(a, "pmg_cuda_lanes", block->lanes, most));
	k_const(e->b, k_scalar("int64_t"), bytes->text, bytes_shared(a, block));
	if (block->has_registers)
		fits = k_binary(a, K_AND, k_binary(a, K_LE, block->lanes, lanes), fits);
	k_begin_if(e->b, fits);
}
