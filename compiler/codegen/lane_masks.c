/* SPDX-License-Identifier: MIT
 *
 * Parents and children in blocks of trees, of which each lane has its own (variable_length.c). In most rows and lanes
 * the parent is the row before, and the next row the first child: lane masks of parents and children (pmg_lane_masks of
 * runtime/pmgrt_generated.h) say where. What a row reads at its parent, or adds up over its children, is taken from
 * there for all lanes at once, and lane by lane for the other parents and children, which are listed as cells of the
 * block.
 *
 * Children of a node are visited in their order, in which the next row is the first of them; it is the last if all
 * that is done is to add, so that only the last sum of a row waits for the row behind. */
#include "codegen/codegen_private.h"

/* ---- the block ---- */

void masks_open(struct emit *e, struct k_expr *first)
{
	struct k_expr *block = k_operate(e->arena, first, K_DIV, lanes_expr(e));

	for (int i = 0; i < e->block.mark->arrays.n; i++) {
		const struct array *copy = e->block.mark->arrays.items[i];
		const struct children *children = layout_children(e->layout, copy->owner, copy->stored.lanes);
		struct lane_masks masks = { .tree = copy->owner };

		if (!(copy->owner->facts & FACT_TREE))
			continue;
		masks.rows = names_declare(&e->names, arena_printf(e->arena, "%s_masks", copy->owner->c_name));
		masks.cells = e->layout->slots.items[children->list].c_name;
		k_const(e->b, k_buffer("pmg_lane_masks", true, true), masks.rows,
			K_CALL(e->arena, "pmg_block_lane_masks",
			       k_name(e->arena, e->layout->slots.items[children->offsets].c_name), block));
		vec_push(e->arena, &e->variable_length->masks, masks);
	}
}

static const struct lane_masks *masks_of(const struct emit *e, const struct array *tree)
{
	for (int i = 0; e->variable_length && i < e->variable_length->masks.n; i++)
		if (e->variable_length->masks.items[i].tree == tree)
			return &e->variable_length->masks.items[i];
	return NULL;
}

bool lane_has_node(const struct emit *e, const struct dim *dim)
{
	return masks_of(e, dim->source.array);
}

static struct affine row_of(struct emit *e, const struct affine *node)
{
	struct affine begin = affine_atom(e->arena, e->variable_length->begin);

	return affine_combine(e->arena, 1, node, -1, &begin);
}

/* F_parent_kin[i + 1].children */
static struct k_expr *mask_at(struct emit *e, const struct lane_masks *masks, const struct affine *row, int64_t behind,
				 const char *member)
{
	struct affine at = affine_scale(e->arena, row, 1, behind);

	return k_member(e->arena, k_at(e->arena, masks->rows, affine_expr(e->arena, &at)), member, false);
}

static struct lane_condition has_lane(struct emit *e, struct k_expr *bits, bool is_not)
{
	struct k_expr *has = K_CALL(e->arena, "pmg_has_lane", bits, k_name(e->arena, e->block.lane));

	return (struct lane_condition) { .test = is_not ? k_unary(e->arena, K_NOT, has) : has, .bits = bits,
					 .is_not = is_not };
}

/* for (q = from; q < to; q += PMG_LISTED) for (k = 0; k < PMG_LISTED; k++): returns q + k. */
static struct k_expr *open_groups(struct emit *e, const char *q, struct k_expr *from, struct k_expr *to)
{
	struct k_expr *size = k_name(e->arena, "PMG_LISTED");
	const char *k;

	k_begin_for(e->b, "int64_t", q, from, to, size);
	k = names_declare(&e->names, "k");
	k_begin_for(e->b, "int64_t", k, k_int(e->arena, 0), size, NULL)->loop.kind = K_LOOP_UNROLLED;
	return k_binary(e->arena, K_ADD, k_name(e->arena, q), k_name(e->arena, k));
}

/* Opens the loop over what is listed for a row. Where cells are read in groups, the last ones may be no more of it. */
static struct listed_cells open_list(struct emit *e, const struct lane_masks *masks, const struct affine *row,
				     const char *member, int direction, bool is_grouped)
{
	struct k_expr *from = mask_at(e, masks, row, 0, member), *to = mask_at(e, masks, row, 1, member);
	const char *q = names_declare(&e->names, "q");
	struct k_expr *at = k_name(e->arena, q);
	struct listed_cells list = { .is_listed = k_bool(e->arena, true), .is_grouped = is_grouped };

	if (is_grouped) {
		at = open_groups(e, q, from, to);
		list.is_listed = k_binary(e->arena, K_LT, at, to);
	} else {
		open_between(e, q, from, to, direction);
	}
	list.cell = names_declare(&e->names, "cell");
	k_const(e->b, k_scalar("int64_t"), list.cell, k_at(e->arena, masks->cells, at));
	return list;
}

static void close_list(struct emit *e, const struct listed_cells *list, int names)
{
	if (list->is_grouped)
		block_close(e, names);
	block_close(e, names);
}

/* ---- children ---- */

static struct child_scope enter(struct emit *e, bool selects, bool in_lanes)
{
	struct child_scope scope = { e->variable_length->conditions, e->variable_length->selects, e->block.in_lanes,
				     e->block.has_vectors,
				     e->names.visible.n, e->variable_length->row_facts.n, { 0 } };

	e->variable_length->conditions = (lane_condition_list) { 0 };
	e->variable_length->selects = selects;
	e->variable_length->adds_to_vectors = in_lanes && e->block.has_vectors;
	e->block.has_vectors = e->block.has_vectors && !in_lanes;
	e->block.in_lanes = in_lanes;
	return scope;
}

struct child_scope child_open_next(struct emit *e, const struct mark *mark, const struct affine *node,
				   struct affine *child)
{
	const struct lane_masks *masks = masks_of(e, mark->dim->source.array);
	struct affine row = row_of(e, node);
	struct child_scope scope = enter(e, true, false);

	vec_push(e->arena, &e->variable_length->conditions, has_lane(e, mask_at(e, masks, &row, 1, "follows"), false));
	k_begin(e->b);
	*child = affine_scale(e->arena, node, 1, 1);
	return scope;
}

static int64_t log2_of(int64_t power)
{
	int64_t log = 0;

	for (; power > 1; power /= 2)
		log++;
	return log;
}

bool sum_is_in_vectors(const struct k_expr *sum)
{
	return sum->kind == KE_LOAD;
}

struct adding {
	const struct emit *e;
	bool only;
};

static void note_update(struct stage *stage, void *context)
{
	struct adding *adding = context;
	const struct k_expr *sum = accumulator_of(adding->e, stage);

	adding->only = adding->only && sum && sum_is_in_vectors(sum);
}

/* Is all that is done below the node to add to vectors? Then nothing needs to be left out but what would be added. */
bool children_only_add(const struct emit *e, __isl_keep isl_ast_node *node)
{
	struct adding adding = { e, e->block.has_vectors };

	ast_each_stage(node, note_update, &adding);
	return adding.only;
}

struct child_scope child_open_others(struct emit *e, __isl_keep isl_ast_node *body, const struct mark *mark,
				     const struct affine *node, struct affine *child)
{
	const struct lane_masks *masks = masks_of(e, mark->dim->source.array);
	struct affine row = row_of(e, node), begin = affine_atom(e->arena, e->variable_length->begin);
	struct affine first = affine_constant(0), last = affine_name(e->arena, e->variable_length->longest);
	bool is_grouped = mark->direction > 0 && children_only_add(e, body);
	struct child_scope scope = enter(e, false, true);
	const int64_t lanes = e->block.mark->lanes;
	const char *variable;
	struct k_expr *cell;

	scope.list = open_list(e, masks, &row, "children", mark->direction, is_grouped);
	e->variable_length->is_listed = scope.list.is_listed;
	cell = k_name(e->arena, scope.list.cell);
	k_const(e->b, k_scalar("int64_t"), e->block.lane,
		k_binary(e->arena, K_BIT_AND, cell, k_int(e->arena, lanes - 1)));
	variable = names_declare(&e->names, mark->dim->name);
	k_const(e->b, k_scalar("int64_t"), variable,
		k_binary(e->arena, K_SHIFT, cell, k_int(e->arena, log2_of(lanes))));
	row = affine_name(e->arena, variable);
	last = affine_scale(e->arena, &last, 1, -1);
	row_is_inside(e, &row, &first, &last);
	*child = affine_combine(e->arena, 1, &begin, 1, &row);
	return scope;
}

void child_close(struct emit *e, const struct child_scope *scope)
{
	close_list(e, &scope->list, scope->names);
	e->variable_length->row_facts.n = scope->n_facts;
	e->variable_length->conditions = scope->conditions;
	e->variable_length->selects = scope->selects;
	e->variable_length->adds_to_vectors = false;
	e->block.has_vectors = scope->are_vectors;
	e->block.in_lanes = scope->in_lanes;
}

void children_add(struct emit *e, const struct update *update)
{
	struct k_expr *sums = update->target->kind == KE_LOAD ? update->target->args.items[0] : update->target;

	if (update->op != REDUCE_ADD)
		e->variable_length->has_others = true;
	k_do(e->b, K_CALL(e->arena, vector_macro(e, "PMG_ADD_LANE", update->type), sums, lanes_expr(e),
			  k_name(e->arena, e->block.lane), e->variable_length->is_listed, update->value));
}

/* ---- parents ---- */

static const struct parent *parent_of(struct emit *e, const struct affine *value)
{
	struct affine row;

	if (!e->variable_length)
		return NULL;
	row = row_of(e, value);
	for (int i = 0; i < e->variable_length->parents.n; i++) {
		struct affine parent = affine_atom(e->arena, e->variable_length->parents.items[i].number);

		if (affine_is_equal(e->arena, &row, &parent))
			return &e->variable_length->parents.items[i];
	}
	return NULL;
}

void parent_bind(struct emit *e, const struct dim *dim, const struct point *point, struct k_expr *number)
{
	struct affine node = affine_of_expr(e, point, dim->source.subs[0]), row = affine_atom(e->arena, number);
	struct affine begin = affine_atom(e->arena, e->variable_length->begin);
	struct affine value = affine_combine(e->arena, 1, &begin, 1, &row);

	if (!parent_of(e, &value))
		vec_push(e->arena, &e->variable_length->parents, ((struct parent) { dim->source.array, number,
										    row_of(e, &node) }));
}

static struct k_expr *root_condition(struct emit *e, const struct affine *value, bool is_not)
{
	const struct parent *parent = parent_of(e, value);
	struct lane_condition condition;

	if (!parent)
		return NULL;
	condition = has_lane(e, mask_at(e, masks_of(e, parent->tree), &parent->row, 0, "roots"), is_not);
	vec_push(e->arena, &e->variable_length->known, condition);
	return condition.test;
}

struct k_expr *parent_is_none(struct emit *e, const struct affine *value)
{
	return root_condition(e, value, false);
}

struct k_expr *parent_is_there(struct emit *e, const struct affine *value)
{
	return root_condition(e, value, true);
}

/* ---- what is read at parents ---- */

/* Do statements write the array at their rows only, so that no lane changes what another row reads at its parent? */
static bool is_written_by_row(const struct emit *e, const struct array *array)
{
	for (int s = 0; s < e->module->stages.n; s++) {
		const struct stage *stage = e->module->stages.items[s];
		const struct expr *sub = stage->write.array == array ? stage->write.subs[0] : NULL;

		if (sub && (sub->kind != EXPR_DIM || stage->dims.items[sub->index].kind != DIM_RANGE))
			return false;
	}
	return true;
}

static struct above *above_of(struct emit *e, const struct array *array, const struct parent *parent)
{
	for (int i = 0; i < e->variable_length->above.n; i++)
		if (e->variable_length->above.items[i].array == array &&
		    k_expr_is_equal(e->variable_length->above.items[i].parent.number, parent->number))
			return &e->variable_length->above.items[i];
	vec_push(e->arena, &e->variable_length->above, ((struct above) { .array = array, .parent = *parent }));
	return &e->variable_length->above.items[e->variable_length->above.n - 1];
}

struct k_expr *parents_read(struct emit *e, const struct point *point, const struct access *access)
{
	const struct parent *parent;
	const struct above *above;
	struct affine value;

	if (!e->variable_length || !e->variable_length->takes_above || access->array->role == ROLE_LOCAL ||
	    access->array->rank != 1 ||
	    access->subs[0]->kind != EXPR_DIM || !block_array(e, access->array)->stored.lanes ||
	    !is_written_by_row(e, access->array))
		return NULL;
	value = affine_of_expr(e, point, access->subs[0]);
	parent = parent_of(e, &value);
	if (!parent)
		return NULL;
	above = above_of(e, access->array, parent);
	return lane_of(e, above->name ? above->name : access->array->c_name);
}

void parents_look(struct emit *e)
{
	if (!e->variable_length)
		return;
	e->variable_length->takes_above = true;
	e->variable_length->above.n = 0;
}

/* The lane of a cell takes the value of the cell. */
static void set_lane(struct emit *e, const struct array *copy, const char *name, const struct listed_cells *list)
{
	struct k_expr *cell = k_name(e->arena, list->cell), *value = k_at(e->arena, copy->c_name, cell);
	struct k_expr *lane = k_binary(e->arena, K_BIT_AND, cell, k_int(e->arena, copy->stored.lanes - 1));

	if (e->block.has_vectors)
		k_do(e->b, K_CALL(e->arena, vector_macro(e, "PMG_SET_LANE", copy->type), k_name(e->arena, name),
				  lanes_expr(e), lane, list->is_listed, value));
	else
		k_set(e->b, k_at(e->arena, name, lane), value);
}

static struct affine cell_of(struct emit *e, const struct array *copy, const struct affine *row)
{
	struct affine cell = affine_scale(e->arena, row, copy->stored.lanes, 0);
	struct affine lane = affine_name(e->arena, e->block.lane);

	return affine_combine(e->arena, 1, &cell, 1, &lane);
}

/* x_parent[lane]: from the row before, and from where else parents are. */
static void declare_above(struct emit *e, const struct above *above)
{
	const struct lane_masks *masks = masks_of(e, above->parent.tree);
	const struct array *copy = block_array(e, above->array);
	struct affine before = affine_scale(e->arena, &above->parent.row, 1, -1);
	struct affine inside = row_inside(e, copy, &before), index = cell_of(e, copy, &inside);
	struct listed_cells list;
	struct k_expr *cell;
	int names;

	lane_declare(e, copy->type, above->name, false);
	names = lanes_open(e);
	cell = k_at(e->arena, copy->c_name, affine_expr(e->arena, &index));
	if (e->block.has_vectors)
		cell = K_CALL(e->arena, vector_macro(e, "PMG_READ", copy->type), cell);
	k_set(e->b, lane_of(e, above->name), cell);
	lanes_close(e, names);
	names = e->names.visible.n;
	list = open_list(e, masks, &above->parent.row, "parents", 1, e->block.has_vectors);
	set_lane(e, copy, above->name, &list);
	close_list(e, &list, names);
}

void parents_declare(struct emit *e)
{
	for (int i = 0; e->variable_length && i < e->variable_length->above.n; i++) {
		struct above *above = &e->variable_length->above.items[i];

		above->name = names_declare(&e->names, arena_printf(e->arena, "%s_parent", above->array->c_name));
		declare_above(e, above);
	}
}

void parents_end(struct emit *e)
{
	if (!e->variable_length)
		return;
	e->variable_length->takes_above = false;
	e->variable_length->above.n = 0;
}
