/* SPDX-License-Identifier: MIT
 *
 * Dims that are read from index arrays. A BIND is a variable and, where isl's bounds of the dim say more than what
 * is known of the index array, an `if`; a condition that the loop below tests anyway is left out, and one that holds
 * whenever that of the `if` before does not is its `else`. CHILDREN is a loop over the list of a node's children. A
 * computed index is checked before it is used: inside parallel loops nothing can return, so that a bad one skips its
 * point and the kernel stops at the next place where it can. */
#include "codegen/codegen_private.h"

typedef VEC(struct k_expr *) condition_list;

static const struct dim *dim_of(const struct loop_use *use)
{
	return use->mark->dim;
}

/* ---- what is known of a bound dim ---- */

static void order_bindings(struct emit *e, const struct binding *a, const struct binding *b)
{
	struct affine distance = affine_combine(e->arena, 1, &a->subscript, -1, &b->subscript);
	int64_t by, sign;

	if (a->array != b->array || !(a->array->facts & (FACT_OFFSETS | FACT_SORTED)) ||
	    !affine_is_constant(&distance, &by))
		return;
	sign = by < 0 ? -1 : 1;
	fact_push(e, affine_combine(e->arena, sign, &a->value, -sign, &b->value));
}

static void bind_facts(struct emit *e, const struct dim *dim, const struct point *point, const struct affine *variable)
{
	const struct array *array = dim->source.array;
	struct binding binding = { array, affine_constant(0), *variable };
	bool is_tree = array->facts & FACT_TREE;
	struct affine limit;

	if (array->rank == 1)
		binding.subscript = affine_of_expr(e, point, dim->source.subs[0]);
	limit = is_tree ? binding.subscript : affine_of_expr(e, NULL, array->limit);
	fact_push(e, affine_scale(e->arena, variable, 1, is_tree ? 1 : 0));
	limit = affine_scale(e->arena, &limit, 1, array->facts & FACT_OFFSETS ? 0 : -1);
	fact_push(e, affine_combine(e->arena, 1, &limit, -1, variable));
	if (dim_is_checked(dim))
		fact_push(e, affine_scale(e->arena, variable, -1, INDEX_ANY - 1));
	for (int i = 0; i < e->bindings.n && array->rank == 1; i++)
		order_bindings(e, &binding, &e->bindings.items[i]);
	vec_push(e->arena, &e->bindings, binding);
}

/* ---- conditions ---- */

/* Adds `left op right` unless it follows from what is known, difference being what it says is >= 0. */
static void require(struct emit *e, condition_list *list, const struct affine *left, enum k_op op,
		    const struct affine *right, struct affine difference)
{
	if (!facts_imply(e->module->ctx, e->arena, &e->facts, &difference))
		vec_push(e->arena, list, affine_comparison(e->arena, left, op, right));
}

static struct k_expr *conjunction(struct emit *e, const condition_list *list)
{
	struct k_expr *all = NULL;

	for (int i = 0; i < list->n; i++)
		all = k_join(e->arena, K_AND, all, list->items[i]);
	return all;
}

static bool is_implied(struct emit *e, const struct affine *larger, const struct affine *smaller)
{
	struct affine difference = affine_combine(e->arena, 1, larger, -1, smaller);

	return facts_imply(e->module->ctx, e->arena, &e->facts, &difference);
}

/* Is `bound` <= `sub` known, or, where not `above`, `sub` <= `bound`? */
static bool sub_is_known(struct emit *e, const struct point *point, const struct expr *sub, const struct affine *bound,
			 bool above)
{
	struct affine value;

	if (sub->kind == EXPR_OP && (sub->op == OP_MIN || sub->op == OP_MAX)) {
		bool first = sub_is_known(e, point, sub->args[0], bound, above);
		bool second = sub_is_known(e, point, sub->args[1], bound, above);

		return (sub->op == OP_MAX) == above ? first || second : first && second;
	}
	value = affine_of_expr(e, point, sub);
	return above ? is_implied(e, &value, bound) : is_implied(e, bound, &value);
}

/* Adds the conditions, beyond what is known, under which there is an element at `sub` of dimension `i`, and takes
 * them as known. */
static void require_sub(struct emit *e, condition_list *list, const struct point *point, const struct array *array,
			int i, const struct expr *sub)
{
	struct affine lo = affine_of_expr(e, NULL, array->lo[i]), hi = affine_of_expr(e, NULL, array->hi[i]);
	struct affine last = affine_scale(e->arena, &hi, 1, -1), value = affine_of_expr(e, point, sub);

	if (!sub_is_known(e, point, sub, &lo, true)) {
		vec_push(e->arena, list, affine_comparison(e->arena, &value, K_GE, &lo));
		fact_push(e, affine_combine(e->arena, 1, &value, -1, &lo));
	}
	if (!sub_is_known(e, point, sub, &last, false)) {
		vec_push(e->arena, list, affine_comparison(e->arena, &value, K_LT, &hi));
		fact_push(e, affine_combine(e->arena, 1, &last, -1, &value));
	}
}

/* Conditions under which there is an element that a dim is read from. Only then has the dim a value, and do the facts
 * of the array hold of it: isl, which takes them to hold, leaves such conditions to the loop of the dim. */
static condition_list source_conditions(struct emit *e, const struct access *source, const struct point *point)
{
	condition_list list = { 0 };

	for (int i = 0; i < source->array->rank; i++)
		require_sub(e, &list, point, source->array, i, source->subs[i]);
	return list;
}

static bool source_is_known(struct emit *e, const struct access *source, const struct point *point)
{
	int n = e->facts.n;
	bool is_known = source_conditions(e, source, point).n == 0;

	e->facts.n = n;
	return is_known;
}

/* Opens a block for what is read from `source` if it is not known to be there; -1: no block. */
static struct condition open_source(struct emit *e, const struct access *source, const struct point *point)
{
	struct condition none = { -1, e->variable_length ? e->variable_length->conditions.n : 0 };
	int first = e->facts.n;
	condition_list conditions = source_conditions(e, source, point);

	if (conditions.n)
		warp_loop_breaks(e);
	return conditions.n ? condition_open(e, conjunction(e, &conditions), first) : none;
}

/* ---- what the loops below say ---- */

static bool uses_bound_dim(const struct expr *expr, const struct stage *stage)
{
	bool uses = expr->kind == EXPR_DIM && stage->dims.items[expr->index].kind == DIM_BIND;

	for (int i = 0; !uses && i < expr_n_args(expr); i++)
		uses = uses_bound_dim(expr->args[i], stage);
	return uses;
}

/* Does what the mark prints make sense where nothing runs below it? Not an update of a cell that is found by index. */
static bool mark_is_harmless(const struct mark *mark)
{
	bool is_harmless = true;

	if (mark->kind == MARK_ACCUMULATE)
		for (int i = 0; i < access_n_subs(&mark->stage->write); i++)
			is_harmless = is_harmless && !uses_bound_dim(mark->stage->write.subs[i], mark->stage);
	return is_harmless;
}

/* If all that runs below is one loop, its iterations exist only where its range is not empty: facts for them. */
static void facts_of_inner_loop(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	enum isl_ast_node_type type = isl_ast_node_get_type(node);
	struct affine variable;
	struct range range;
	struct point point;

	if (type == isl_ast_node_mark) {
		const struct mark *next = ast_mark(node);

		if (mark_is_harmless(next))
			facts_of_inner_loop(e, ast_below(node), mark_is_loop(next) ? next : mark);
	} else if (type == isl_ast_node_for && mark && mark->kind != MARK_CHILDREN) {
		variable = affine_atom(e->arena, k_name(e->arena, arena_printf(e->arena, "@%d", e->iterators.n)));
		range = range_of(e, node, mark->direction);
		iterator_push(e, node, &variable, mark->direction);
		point = point_below(e, ast_body(node), mark);
		if (mark->kind == MARK_LOOP)
			range_facts(e, &range, &variable, mark->direction);
		if (mark->kind == MARK_BIND && point.instance && source_is_known(e, &mark->dim->source, &point)) {
			bind_facts(e, mark->dim, &point, &variable);
			facts_of_inner_loop(e, ast_body(node), NULL);
		}
	}
}

/* The parent of a root is -1. */
static struct k_expr *equality(struct emit *e, const struct affine *variable, const struct affine *value)
{
	struct k_expr *is_root = NULL;
	int64_t number;

	if (e->variable_length && affine_is_constant(value, &number) && number < 0)
		is_root = parent_is_none(e, variable);
	return is_root ? is_root : affine_comparison(e->arena, variable, K_EQ, value);
}

/* Of the parent of a row in a block of trees, that it is a row of them. */
static void require_first(struct emit *e, condition_list *list, const struct affine *variable, const struct affine *low)
{
	struct affine above = affine_combine(e->arena, 1, variable, -1, low), row = *low;
	struct k_expr *has_parent = NULL;
	int64_t number;

	if (e->variable_length) {
		row = affine_atom(e->arena, e->variable_length->begin);
		row = affine_combine(e->arena, 1, low, -1, &row);
	}
	if (affine_is_constant(&row, &number) && number == 0)
		has_parent = parent_is_there(e, variable);
	if (!has_parent)
		require(e, list, variable, K_GE, low, above);
	else if (!facts_imply(e->module->ctx, e->arena, &e->facts, &above))
		vec_push(e->arena, list, has_parent);
}

static void require_range(struct emit *e, condition_list *list, const struct range *range,
			  const struct affine *variable, int direction)
{
	const struct affine *low = direction > 0 ? &range->first : &range->last;
	const struct affine *high = direction > 0 ? &range->last : &range->first;

	if (range->is_single) {
		vec_push(e->arena, list, equality(e, variable, low));
		return;
	}
	require_first(e, list, variable, low);
	require(e, list, variable, K_LE, high, affine_combine(e->arena, 1, high, -1, variable));
	if (range->step != 1) {
		struct affine from_first = affine_combine(e->arena, 1, variable, -1, &range->first);
		struct k_expr *rest = K_CALL(e->arena, "pmg_mod", affine_expr(e->arena, &from_first),
					     k_int(e->arena, range->step));

		vec_push(e->arena, list, k_binary(e->arena, K_EQ, rest, k_int(e->arena, 0)));
	}
}

/* ---- BIND ---- */

bool bind_goes_before(const struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark)
{
	bool goes = isl_ast_node_get_type(node) != isl_ast_node_if;

	if (isl_ast_node_get_type(node) != isl_ast_node_block)
		return goes;
	goes = false;
	for (int i = 0; i < ast_n_children(node); i++)
		goes |= bind_goes_before(e, ast_child(node, i), mark);
	return goes && !point_is_unclear(e, node, mark);
}

static int open_check(struct emit *e, const struct dim *dim, const struct point *point, const char *name)
{
	const struct array *array = dim->source.array;
	struct affine limit = affine_of_expr(e, NULL, array->limit), index = c_index(e, point, &dim->source);
	struct k_expr *value = k_name(e->arena, name), *slot = k_int(e->arena, e->layout->slot_of[array->number]);
	struct k_expr *is_below = k_binary(e->arena, K_LT, value, k_int(e->arena, 0));
	struct k_expr *is_above = k_binary(e->arena, K_GE, value, affine_expr(e->arena, &limit));
	int names;

	warp_loop_breaks(e);
	names = block_of(e, k_begin_if(e->b, k_binary(e->arena, K_OR, is_below, is_above)));
	k_do(e->b, K_CALL(e->arena, "pmg_bad_index", k_name(e->arena, "plan"), slot, affine_expr(e->arena, &index),
			  value));
	block_otherwise(e, names);
	return names;
}

static struct affine bind_value(const struct emit *e, const struct loop_use *use)
{
	return use->value ? *use->value : affine_name(e->arena, use->bound);
}

static void emit_declared_bind(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use,
			       const struct point *point)
{
	struct scope scope = scope_enter(e);
	struct affine variable = bind_value(e, &use);
	int names;

	bind_facts(e, dim_of(&use), point, &variable);
	e->statement.otherwise = (struct otherwise) { 0 };
	if (dim_is_checked(dim_of(&use))) {
		names = open_check(e, dim_of(&use), point, use.bound);
		emit_node(e, node, use);
		block_close(e, names);
	} else {
		emit_node(e, node, use);
	}
	scope_leave(e, scope);
}

static void emit_segment_bind(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use,
			     const struct point *point, const struct affine *value)
{
	use.bound = dim_of(&use)->name;
	use.value = value;
	emit_declared_bind(e, node, use, point);
}

const char *bind_type(const struct emit *e, const struct array *array)
{
	for (int i = 0; i < e->module->restructurings.n; i++) {
		const struct restructuring *r = &e->module->restructurings.items[i];

		if (array == r->part_begins || array == r->part_ends)
			return type_c_name(array->type);
	}
	return type_c_name(TYPE_I64);
}

static const char *variable_name(struct emit *e, const struct dim *dim)
{
	return dim->source.array->row_of ? arena_printf(e->arena, "%s_row", dim->name) : dim->name;
}

void emit_bind(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	struct point point = point_below(e, node, use.mark);
	struct scope scope = scope_enter(e);
	struct affine value;
	struct condition source;

	if (!point.instance)
		return;
	if (variable_length_bind(e, dim_of(&use), &point, &value)) {
		emit_segment_bind(e, node, use, &point, &value);
		return;
	}
	source = open_source(e, &dim_of(&use)->source, &point);
	use.bound = names_declare(&e->names, variable_name(e, dim_of(&use)));
	k_const(e->b, k_scalar(bind_type(e, dim_of(&use)->source.array)), use.bound,
		warp_loop_read(e, &dim_of(&use)->source, c_access(e, &point, &dim_of(&use)->source)));
	emit_declared_bind(e, node, use, &point);
	condition_close(e, source);
	scope_leave(e, scope);
}

/* NULL: nothing stands here yet. */
static const struct k_stmt *last_stmt(const struct emit *e)
{
	const struct k_block *here = block_here(e);

	return here->stmts.n ? here->stmts.items[here->stmts.n - 1] : NULL;
}

/* After a branch for the one value of a bound dim: that it is above, where it is not below, or the other way round. */
static void note_otherwise(struct emit *e, const struct mark *mark, const struct affine *variable,
			   const struct affine *value)
{
	struct affine above = affine_combine(e->arena, 1, variable, -1, value);
	struct affine below = affine_scale(e->arena, &above, -1, 0);
	bool is_above = is_implied(e, variable, value);

	if (e->variable_length || mark->kind != MARK_BIND || (!is_above && !is_implied(e, value, variable)))
		return;
	e->statement.otherwise = (struct otherwise) { last_stmt(e),
						      affine_scale(e->arena, is_above ? &above : &below, 1, -1) };
}

/* Does a bound dim have a value of the range whenever it has not that of the branch before? */
static bool is_otherwise(struct emit *e, const struct mark *mark, const struct range *range,
			 const struct affine *variable)
{
	condition_list others = { 0 };
	int n = e->facts.n;

	if (mark->kind != MARK_BIND || !e->statement.otherwise.branch || e->statement.otherwise.branch != last_stmt(e))
		return false;
	fact_push(e, e->statement.otherwise.fact);
	require_range(e, &others, range, variable, mark->direction);
	e->facts.n = n;
	return others.n == 0;
}

struct distant {
	bool is;
	int64_t distance;
};

static void push_iterator(struct emit *e, __isl_keep isl_ast_node *node, const struct affine *variable, int direction,
			  struct distant distant)
{
	iterator_push(e, node, variable, direction);
	e->iterators.items[e->iterators.n - 1].is_distant = distant.is;
	e->iterators.items[e->iterators.n - 1].distance = distant.distance;
}

/* The body of a `for` that stands for one value, under the conditions that are not known to hold. */
static void emit_in_range(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark,
			  const struct affine *variable, const struct range *range, struct distant distant)
{
	isl_ast_node *body = ast_body(node);
	condition_list conditions = { 0 };
	struct scope scope = scope_enter(e);
	bool is_root = e->variable_length && range->is_single; /* whose parent is another number there */
	bool is_else;
	struct condition condition;

	push_iterator(e, node, variable, mark->direction, distant);
	facts_of_inner_loop(e, body, NULL);
	require_range(e, &conditions, range, variable, mark->direction);
	is_else = conditions.n && is_otherwise(e, mark, range, variable);
	scope_leave(e, scope);
	push_iterator(e, node, variable, mark->direction, distant);
	if (conditions.n) {
		warp_loop_breaks(e);
		if (!is_root)
			range_facts(e, range, variable, mark->direction);
		condition = is_else ? condition_otherwise(e)
				    : condition_open(e, conjunction(e, &conditions),
						     is_root ? e->facts.n : scope.facts);
	}
	emit_node(e, body, (struct loop_use) { 0 });
	if (conditions.n)
		condition_close(e, condition);
	scope_leave(e, scope);
	if (conditions.n && range->is_single)
		note_otherwise(e, mark, variable, &range->first);
}

/* The same. With a step, statements inside may be at other distances from the iterator. */
static void emit_if_in_range(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark,
			     const struct affine *variable)
{
	const struct range range = range_of(e, node, mark->direction);
	distance_list distances;

	if (range.step == 1) {
		emit_in_range(e, node, mark, variable, &range, (struct distant) { false });
		return;
	}
	distances = distances_below(e, node);
	for (int i = 0; i < distances.n; i++) {
		const int64_t distance = distances.items[i];
		const struct affine value = affine_scale(e->arena, variable, 1, -distance);

		emit_in_range(e, node, mark, &value, &range, (struct distant) { true, distance });
	}
}

void emit_bind_for(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	struct affine variable = bind_value(e, &use);

	emit_if_in_range(e, node, use.mark, &variable);
}

/* ---- CHILDREN ---- */

static const char *list_name(struct emit *e, int slot)
{
	return e->layout->slots.items[slot].c_name;
}

/* Opens the loop over the children of the dim's node and declares the child. */
static const char *open_children(struct emit *e, const struct mark *mark, const struct point *point)
{
	const struct children *children = layout_children(e->layout, mark->dim->source.array, 0);
	struct affine node = affine_of_expr(e, point, mark->dim->source.subs[0]);
	struct affine next = affine_scale(e->arena, &node, 1, 1), child;
	const char *offsets = list_name(e, children->offsets), *q = names_declare(&e->names, "q"), *name;
	struct k_expr *begin = k_at(e->arena, offsets, affine_expr(e->arena, &node));
	struct k_expr *end = k_at(e->arena, offsets, affine_expr(e->arena, &next));

	open_between(e, q, begin, end, mark->direction);
	name = names_declare(&e->names, mark->dim->name);
	child = affine_name(e->arena, name);
	k_const(e->b, k_scalar("int64_t"), name,
		k_at(e->arena, list_name(e, children->list), k_name(e->arena, q)));
	fact_push(e, affine_combine(e->arena, 1, &child, -1, &next));
	return name;
}

/* Of a node between off[s] and off[s + 1], children end where the segment does. */
static void segment_facts(struct emit *e, const struct array *tree, const struct affine *node,
			  const struct affine *child)
{
	for (int a = 0; tree->segments && a < e->bindings.n; a++)
		for (int b = 0; b < e->bindings.n; b++) {
			const struct binding *lo = &e->bindings.items[a], *hi = &e->bindings.items[b];
			struct affine step = affine_combine(e->arena, 1, &hi->subscript, -1, &lo->subscript);
			struct affine last = affine_scale(e->arena, &hi->value, 1, -1);
			int64_t by;

			if (lo->array == tree->segments && hi->array == tree->segments &&
			    affine_is_constant(&step, &by) && by == 1 && is_implied(e, node, &lo->value) &&
			    is_implied(e, &last, node))
				fact_push(e, affine_combine(e->arena, 1, &last, -1, child));
		}
}

static void child_facts(struct emit *e, const struct dim *dim, const struct point *point, const struct affine *child)
{
	struct affine n = affine_of_expr(e, NULL, dim->source.array->hi[0]);
	struct affine node = affine_of_expr(e, point, dim->source.subs[0]);

	n = affine_scale(e->arena, &n, 1, -1);
	fact_push(e, affine_combine(e->arena, 1, &n, -1, child));
	segment_facts(e, dim->source.array, &node, child);
}

/* What is below the mark, for a child. */
typedef void emit_child(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark,
			const struct affine *child);

static void emit_children(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark,
			  const struct point *point, emit_child *emit)
{
	struct condition source = open_source(e, &mark->dim->source, point);
	int visible = e->names.visible.n;
	const char *name = open_children(e, mark, point);
	struct affine child = affine_name(e->arena, name);

	child_facts(e, mark->dim, point, &child);
	emit(e, node, mark, &child);
	block_close(e, visible);
	condition_close(e, source);
}

/* Where each lane has a node of its own. */
static void emit_children_of_lanes(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark,
				   const struct point *point, emit_child *emit, bool is_next)
{
	struct affine parent = affine_of_expr(e, point, mark->dim->source.subs[0]), child;
	struct affine behind = affine_scale(e->arena, &parent, 1, 1);
	struct scope scope = scope_enter(e);
	struct child_scope inner_scope = is_next ? child_open_next(e, mark, &parent, &child)
				       : child_open_others(e, node, mark, &parent, &child);
	struct condition source = open_source(e, &mark->dim->source, point);

	fact_push(e, affine_combine(e->arena, 1, &child, -1, &behind));
	child_facts(e, mark->dim, point, &child);
	emit(e, node, mark, &child);
	condition_close(e, source);
	child_close(e, &inner_scope);
	scope_leave(e, scope);
}

static void emit_family(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark,
			const struct point *point, emit_child *emit)
{
	struct scope scope = scope_enter(e);

	if (!lane_has_node(e, mark->dim)) {
		emit_children(e, node, mark, point, emit);
	} else {
		bool is_next_first = mark->direction > 0 && !children_only_add(e, node);

		rows_enter(e, node);
		emit_children_of_lanes(e, node, mark, point, emit, is_next_first);
		emit_children_of_lanes(e, node, mark, point, emit, !is_next_first);
	}
	scope_leave(e, scope);
}

void emit_children_for(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	struct point point = point_below(e, node, use.mark);

	if (point.instance)
		emit_family(e, node, use.mark, &point, emit_if_in_range);
}

/* ---- dims with one value ---- */

static void emit_if_equal(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark,
			  const struct affine *variable)
{
	struct point point = point_below(e, node, mark);
	struct affine value = affine_of_dim(e, &point, mark_dim_number(mark));
	struct condition condition = condition_open(e, equality(e, variable, &value), e->facts.n);

	warp_loop_breaks(e);
	emit_node(e, node, (struct loop_use) { 0 });
	condition_close(e, condition);
	note_otherwise(e, mark, variable, &value);
}

void emit_single(struct emit *e, __isl_keep isl_ast_node *node, struct loop_use use)
{
	struct point point = { NULL, NULL };
	struct scope scope = scope_enter(e);
	struct affine variable;

	if (use.block) {
		emit_block_single(e, node, use);
		return;
	}
	if (use.mark->kind == MARK_LOOP || use.mark->kind == MARK_TILE) {
		emit_node(e, node, (struct loop_use) { 0 });
		return;
	}
	point = point_below(e, node, use.mark);
	if (point.instance && use.mark->kind == MARK_BIND) {
		variable = bind_value(e, &use);
		emit_if_equal(e, node, use.mark, &variable);
	} else if (point.instance) {
		emit_family(e, node, use.mark, &point, emit_if_equal);
	}
	scope_leave(e, scope);
}
