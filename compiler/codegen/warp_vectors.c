/* SPDX-License-Identifier: MIT
 *
 * Vector loops in a warp-cooperative loop (warp_loops.c): one runs for those lanes that need it, in their order, and
 * each group of the team has one at a time. The group gets what the loop reads of a lane by shuffles, and each lane
 * finds its sum in shared memory; a lowering takes several rows at a time (kernel/lower/rounds.c). Lanes that are next
 * to each other in the order of a restructuring mostly agree in the sort key. A vector loop that depends on the key
 * alone runs once for all of them; one that also has a factor of each lane runs once with their sum
 * (ir/match/zero_factor.c). */
#include "codegen/codegen_private.h"

/* What a lane has, and its name in the loop of vectors. */
struct lane_value {
	const char *name;
	const char *packed, *taken;     /* of the lanes that need the loop, in their order; in the loop */
	enum scalar_type type;          /* as it is taken */
	const struct array *local;      /* NULL: a dim */
	bool is_sorted;                 /* a dim: equal values stand next to each other */
	int at;                         /* in e->iterators or e->locals */
};

typedef VEC(struct lane_value) value_list;

/* ---- what a lane has ---- */

static bool is_sorted_copy(const struct module *module, const struct array *array)
{
	for (int r = 0; r < module->restructurings.n; r++) {
		const struct restructuring *restructuring = &module->restructurings.items[r];

		for (int c = 0; c < restructuring->copies.n; c++)
			for (int k = 1; k < restructuring->keys.n; k++)
				if (restructuring->copies.items[c].to == array &&
				    restructuring->copies.items[c].from == restructuring->keys.items[k])
					return true;
	}
	return false;
}

static void add_dims(struct emit *e, value_list *list)
{
	for (int i = e->warp_loop->n_iterators; i < e->iterators.n; i++) {
		const char *name = affine_only_name(&e->iterators.items[i].value);
		const struct binding *binding = name ? binding_of(e, name) : NULL;

		if (name)
			vec_push(e->arena, list, ((struct lane_value) {
				.name = name, .at = i,
				.is_sorted = binding && is_sorted_copy(e->module, binding->array),
				.type = binding ? binding->array->type : TYPE_I64 }));
	}
}

static void add_locals(struct emit *e, __isl_keep isl_ast_node *node, value_list *list)
{
	for (int i = e->warp_loop->n_locals; i < e->locals.n; i++) {
		const struct array *local = e->locals.items[i].of;

		if (!is_written_below(e, node, local))
			vec_push(e->arena, list, ((struct lane_value) {
				.name = e->locals.items[i].name, .at = i, .local = local,
				.type = local->type }));
	}
}

/* In the loop of vectors they have the other names, or again their own. */
static void rename_values(struct emit *e, const value_list *list, bool is_taken)
{
	for (int i = 0; i < list->n; i++) {
		const struct lane_value *value = &list->items[i];
		const char *name = is_taken ? value->taken : value->name;

		if (value->local)
			e->locals.items[value->at].name = name;
		else
			e->iterators.items[value->at].value = affine_name(e->arena, name);
	}
}

/* ---- the loop of vectors ---- */

/* A loop of vectors below a mark of the body. */
struct vectors {
	isl_ast_node *node;
	const struct mark *mark;
	struct loop_use use;
	const struct stage *stage;
	value_list values;              /* those that it reads */
	const struct lane_value *sorted, *factor;
};

static void print_vectors(struct emit *e, const struct vectors *vectors, const value_list *values)
{
	rename_values(e, values, true);
	e->grid->in_lanes = false;
	e->warp_loop->in_vectors = true;
	if (vectors->mark->kind == MARK_ACCUMULATE)
		emit_accumulate(e, vectors->node, vectors->mark);
	else
		emit_node(e, vectors->node, vectors->use);
	e->warp_loop->in_vectors = false;
	e->grid->in_lanes = true;
	rename_values(e, values, false);
}

/* Keeps of `all` what the loop reads. */
static void find_values(struct emit *e, struct vectors *vectors, const value_list *all)
{
	struct k_block loop = { 0 }, *outer = elsewhere_begin(e, &loop);
	int visible = e->names.visible.n;

	print_vectors(e, vectors, all);
	elsewhere_end(e, outer);
	e->names.visible.n = visible;
	for (int i = 0; i < all->n; i++)
		if (k_mentions(&loop, all->items[i].taken))
			vec_push(e->arena, &vectors->values, all->items[i]);
}

/* Does the loop depend on what was sorted by alone, or besides on a factor that can be added up? */
static void find_sharing(struct vectors *vectors)
{
	const struct lane_value *sorted = NULL, *factor = NULL;
	struct zero_factor zero = { 0 };
	bool has_factor = stage_zero_factor(vectors->stage, &zero);

	for (int i = 0; i < vectors->values.n; i++) {
		const struct lane_value *value = &vectors->values.items[i];

		if (value->is_sorted && !sorted)
			sorted = value;
		else if (has_factor && value->local == zero.factor->access.array && !factor)
			factor = value;
		else
			return;
	}
	if (sorted && (factor || vectors->stage->write.array->role == ROLE_LOCAL)) {
		vectors->sorted = sorted;
		vectors->factor = factor;
	}
}

/* Whether a bit of a mask is that of the lane. */
static struct k_expr *lane_bit(struct arena *a, const char *mask)
{
	struct k_expr *bits = k_binary(a, K_SHIFT, k_name(a, mask), k_name(a, "pmg_lane"));

	return k_at_least(a, k_binary(a, K_BIT_AND, bits, k_int(a, 1)), K_LEVEL_PRIMARY);
}

/* The lanes for which the loop runs; `total` is the name of the sum of a factor. */
static struct k_expr *lanes_condition(struct emit *e, const struct vectors *vectors, const char *heads,
				      const char *total)
{
	const struct lane_value *factor = vectors->factor;
	struct k_expr *condition = k_name(e->arena, e->warp_loop->is_in), *skip = NULL;

	if (heads)
		condition = k_operate(e->arena, condition, K_AND, lane_bit(e->arena, heads));
	if (factor)
		e->locals.items[factor->at].name = total;
	if (vectors->mark->kind == MARK_SKIP || vectors->mark->kind == MARK_SKIP_ALWAYS)
		skip = skip_condition(e, vectors->node, vectors->mark);
	if (factor)
		e->locals.items[factor->at].name = factor->name;
	return skip ? k_operate(e->arena, condition, K_AND, skip) : condition;
}

/* The value of the lane of this number. */
static struct k_expr *shuffled(const struct emit *e, struct k_expr *value, const char *from)
{
	struct arena *a = e->arena;

	return of_team(a, K_CALL(a, runtime_name(e, "take"), value, k_name(a, from)));
}

/* The values of these lanes, in their order: lane n has that of the n-th one. A loop that is the same for all lanes
 * takes none. */
static void pack_values(struct emit *e, struct vectors *vectors, const char *lanes, const char *total)
{
	struct arena *a = e->arena;
	const char *source;

	if (!vectors->values.n)
		return;
	source = names_declare(&e->names, "source");
	k_const(e->b, k_scalar("int"), source,
		K_CALL(a, runtime_name(e, "nth"), k_name(a, lanes), k_name(a, "pmg_lane")));
	for (int i = 0; i < vectors->values.n; i++) {
		struct lane_value *value = &vectors->values.items[i];
		const struct k_type type = k_scalar(type_c_name(value->type));
		const char *has = vectors->factor == value ? total : value->name;

		value->packed = names_declare(&e->names, value->name);
		k_const(e->b, type, value->packed, shuffled(e, k_cast(a, type, k_name(a, has)), source));
	}
}

/* The first lanes of runs with the same sort key, as a mask: its name. */
static const char *declare_heads(struct emit *e, const struct lane_value *sorted)
{
	const char *heads = names_declare(&e->names, "heads");
	struct k_expr *key = k_cast(e->arena, k_scalar(type_c_name(sorted->type)), k_name(e->arena, sorted->name));

	k_const(e->b, k_scalar("unsigned"), heads, of_team(e->arena, K_CALL(e->arena, runtime_name(e, "heads"), key)));
	return heads;
}

/* The sum of a factor over such a run: its name. */
static const char *declare_total(struct emit *e, const struct lane_value *factor, const char *heads)
{
	struct arena *a = e->arena;
	const char *total = names_declare(&e->names, "total");
	struct k_expr *own = k_select(a, k_name(a, e->warp_loop->is_in), k_name(a, factor->name), k_int(a, 0));

	k_const(e->b, k_scalar(type_c_name(factor->type)), total,
		of_team(a, K_CALL(a, runtime_name(e, "merge"), k_name(a, heads), own)));
	return total;
}

/* The variables of lanes, and of those that need the loop; returns the name of how many these are. */
static const char *declare_lanes(struct emit *e, struct vectors *vectors)
{
	struct arena *a = e->arena;
	const char *lanes = names_declare(&e->names, "lanes");
	const char *heads = vectors->sorted ? declare_heads(e, vectors->sorted) : NULL;
	const char *total = vectors->factor ? declare_total(e, vectors->factor, heads) : NULL;

	k_const(e->b, k_scalar("unsigned"), lanes,
		of_team(a, K_CALL(a, runtime_name(e, "ballot"), lanes_condition(e, vectors, heads, total))));
	pack_values(e, vectors, lanes, total);
	if (e->warp_loop->given.target)
		k_const(e->b, k_scalar("int"), e->warp_loop->rank,
			K_CALL(a, runtime_name(e, "rank"), k_name(a, lanes), k_name(a, "pmg_lane")));
	return lanes;
}

static void take_values(struct emit *e, const struct vectors *vectors, const char *number)
{
	for (int i = 0; i < vectors->values.n; i++) {
		const struct lane_value *value = &vectors->values.items[i];
		const enum scalar_type type = value->local ? value->type : TYPE_I64;

		k_const(e->b, k_scalar(type_c_name(type)), value->taken,
			shuffled(e, k_name(e->arena, value->packed), number));
	}
}

/* The one of this group in a round. */
static struct k_expr *of_round(struct arena *a, struct k_expr *round)
{
	return k_operate(a, k_operate(a, round, K_MUL, k_name(a, "pmg_groups")), K_ADD,
			 k_name(a, "pmg_group_number"));
}

static struct k_expr *count_of(const struct emit *e, const char *lanes)
{
	return K_CALL(e->arena, runtime_name(e, "count"), k_name(e->arena, lanes));
}

/* Of each group that has one, the loop for one lane: number `round` of those that it has. */
static void emit_round(struct emit *e, struct vectors *vectors, const value_list *all, const char *lanes,
		       struct k_expr *round)
{
	struct arena *a = e->arena;
	const int visible = e->names.visible.n;
	const char *number = names_declare(&e->names, "number");

	k_const(e->b, k_scalar("int"), number, of_round(a, round));
	take_values(e, vectors, number);
	k_begin_if(e->b, k_binary(a, K_LT, k_name(a, number), count_of(e, lanes)));
	print_vectors(e, vectors, all);
	k_end(e->b);
	e->names.visible.n = visible;
}

/* Opens the loop over all rounds. */
static void open_rounds(struct emit *e, const char *lanes, const char *round)
{
	struct arena *a = e->arena;
	struct k_expr *rows = k_binary(a, K_MUL, k_name(a, round), k_name(a, "pmg_groups"));
	struct k_while *loop;

	k_var(e->b, k_scalar("int"), round, k_int(a, 0));
	loop = &k_begin_while(e->b, k_binary(a, K_LT, rows, count_of(e, lanes)))->repeat;
	loop->after = k_store_of(a, K_ADD, k_name(a, round), k_int(a, 1));
	loop->kind = K_LOOP_ROLLED;
}

/* Rows that are added to that of the group. */
static void emit_rounds(struct emit *e, struct vectors *vectors, const value_list *all, const char *lanes)
{
	const char *round = names_declare(&e->names, "round");

	open_rounds(e, lanes, round);
	emit_round(e, vectors, all, lanes, k_name(e->arena, round));
	k_end(e->b);
}

/* Adds up the sums of rounds over the lanes of groups, and leaves them in shared memory, for the lanes. */
static void leave_sums(struct emit *e, const char *rounds, const char *name, const char *found)
{
	struct arena *a = e->arena;
	struct k_expr *place = k_address(a, k_at(a, found, of_round(a, k_name(a, rounds))));
	struct k_expr *call = of_team(a, K_CALL(a, runtime_name(e, "leave"), k_name(a, name), place));

	k_with_constant(a, call, k_name(a, "pmg_group"));
	k_with_constant(a, call, spread_operation(e, e->warp_loop->given.op));
	k_do(e->b, call);
}

/* Those of one round together; a lowering has more (kernel/lower/rounds.c). */
static void emit_rounds_of_sums(struct emit *e, struct vectors *vectors, const value_list *all, const char *lanes,
				const char *found, const char *rounds)
{
	struct arena *a = e->arena;
	const struct k_type type = k_scalar(type_c_name(vectors->stage->write.array->sums));
	const int visible = e->names.visible.n;
	const char *round, *name;

	open_rounds(e, lanes, rounds);
	round = names_declare(&e->names, "round");
	name = names_declare(&e->names, "sums");
	k_array(e->b, type, name, k_int(a, 1), k_list_of(a, NULL, 0));
	k_begin_for(e->b, "int", round, k_int(a, 0), k_int(a, 1), NULL)->loop.kind = K_LOOP_UNROLLED;
	e->warp_loop->sum = k_at(a, name, k_name(a, round));
	emit_round(e, vectors, all, lanes, k_binary(a, K_ADD, k_name(a, rounds), k_name(a, round)));
	k_end(e->b);
	leave_sums(e, rounds, name, found);
	k_end(e->b);
	e->names.visible.n = visible;
}

static void emit_sums(struct emit *e, struct vectors *vectors, const value_list *all, const char *lanes)
{
	struct arena *a = e->arena;
	const char *rounds = names_declare(&e->names, "rounds"), *found = names_declare(&e->names, "found");
	const struct warp_loop *warp_loop = e->warp_loop;
	struct update taken;

	k_do(e->b, K_CALL(a, "PMG_HANDED", c_type(a, vectors->stage->write.array->sums), k_name(a, found)));
	k_macro(e->b, "PMG_TEAM_SYNC");
	emit_rounds_of_sums(e, vectors, all, lanes, found, rounds);
	k_macro(e->b, "PMG_TEAM_SYNC");
	k_begin_if(e->b, k_binary(a, K_GE, k_name(a, warp_loop->rank), k_int(a, 0)));
	taken = warp_loop->given;
	taken.value = k_at(a, found, k_name(a, warp_loop->rank));
	emit_update(e, &taken);
	k_end(e->b);
}

static void emit_vectors(struct emit *e, struct vectors *vectors)
{
	struct warp_loop *warp_loop = e->warp_loop;
	value_list all = { 0 };
	const char *lanes;

	add_dims(e, &all);
	add_locals(e, vectors->node, &all);
	warp_loop->rank = names_declare(&e->names, "rank");
	warp_loop->sum = NULL;
	warp_loop->given = (struct update) { 0 };
	for (int i = 0; i < all.n; i++)
		all.items[i].taken = names_declare(&e->names, all.items[i].name);
	find_values(e, vectors, &all);
	find_sharing(vectors);
	lanes = declare_lanes(e, vectors);
	if (warp_loop->given.target)
		emit_sums(e, vectors, &all, lanes);
	else
		emit_rounds(e, vectors, &all, lanes);
}

bool emit_warp_vectors(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark, struct loop_use use)
{
	struct vectors vectors = { .node = node, .mark = mark, .use = use };
	isl_ast_expr *instance;

	if (!e->warp_loop || e->warp_loop->in_vectors || (mark->kind != MARK_SKIP && mark->kind != MARK_SKIP_ALWAYS &&
					    mark->kind != MARK_VECTOR && mark->kind != MARK_ACCUMULATE))
		return false;
	instance = ast_instance_below(node, NULL, false);
	if (!instance)
		return false;
	vectors.use.is_vector |= mark->kind == MARK_VECTOR;
	vectors.stage = ast_stage(instance);
	emit_vectors(e, &vectors);
	return true;
}
