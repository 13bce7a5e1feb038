/* SPDX-License-Identifier: MIT
 *
 * Loops of vectors in a deal (deals.c): one runs for those lanes that need it, in their order, of which each group of
 * the team has one at a time: what the loop reads of a lane, the group takes from it by shuffles, or, where rows are
 * short, from shared memory, where each lane also finds its sum. Lanes that are next to each other in the order of a
 * restructuring mostly agree in what was sorted by. Where a loop of vectors depends on that alone, it runs once for all
 * of them; and where it also has a factor of each lane, it runs once with their sum (ir/zero_factor.c). */
#include <string.h>

#include "codegen/codegen_private.h"

enum { ROUNDS = 4, FEW_ROUNDS = 2 };    /* whose sums groups add up together */
enum { ROWS_AT_A_TIME = 2 };            /* that a group reads next to each other, where they are short */
enum { MOST_GROUPS = 4 };               /* of more, a deal seldom has that many rows for each */
enum { ROOM_FOR_ROWS = 192 };           /* bytes of rows and sums of a lane up to which that is done */

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
	for (int i = e->deal->n_iterators; i < e->iterators.n; i++) {
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
	for (int i = e->deal->n_locals; i < e->locals.n; i++) {
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
	const char *handed, *handed_type;       /* what is in shared memory; NULL: shuffles bring the values */
};

static void print_vectors(struct emit *e, const struct vectors *vectors, const value_list *values)
{
	rename_values(e, values, true);
	e->grid->in_lanes = false;
	e->deal->in_vectors = true;
	if (vectors->mark->kind == MARK_ACCUMULATE)
		emit_accumulate(e, vectors->node, vectors->mark);
	else
		emit_node(e, vectors->node, vectors->use);
	e->deal->in_vectors = false;
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

/* The lanes for which the loop runs; `total` is the name of the sum of a factor. */
static const char *lanes_condition(struct emit *e, const struct vectors *vectors, const char *heads, const char *total)
{
	const struct lane_value *factor = vectors->factor;
	struct str text = str_new(e->arena);
	const char *skip = NULL;

	str_add(&text, "%s", e->deal->is_in);
	if (heads)
		str_add(&text, " && (%s >> pmg_lane & 1)", heads);
	if (factor)
		e->locals.items[factor->at].name = total;
	if (vectors->mark->kind == MARK_SKIP || vectors->mark->kind == MARK_SKIP_ALWAYS)
		skip = skip_condition(e, vectors->node, vectors->mark);
	if (skip)
		str_add(&text, strstr(skip, "||") ? " && (%s)" : " && %s", skip);
	if (factor)
		e->locals.items[factor->at].name = factor->name;
	return str_text(&text);
}

/* In shared memory: fewer shuffles and registers, where rows that are read are too short for these not to count. */
static bool is_handed_over(const struct emit *e)
{
	return e->grid->read > 0 && e->grid->cell <= SHORT_CELL;
}

/* Are there registers for so many rows next to each other, besides so many bytes of sums? */
static bool has_room_for_rows(const struct emit *e, int n, int64_t sums)
{
	return e->grid->read > 0 && !e->grid->is_rolled && e->grid->team/e->grid->group <= MOST_GROUPS &&
	       e->grid->held + sums + n*e->grid->read <= ROOM_FOR_ROWS;
}

/* A factor as the sums have it to which its products are added. */
static enum scalar_type handed_value_type(const struct vectors *vectors, const struct lane_value *value)
{
	return value == vectors->factor ? vectors->stage->write.array->sums : value->type;
}

/* Such that one read brings all of what a lane hands over, up to 16 bytes. */
static int handed_alignment(const struct vectors *vectors)
{
	int bytes = 0;

	for (int i = 0; i < vectors->values.n; i++)
		bytes += type_size(handed_value_type(vectors, &vectors->values.items[i]));
	return bytes <= 4 ? 4 : bytes <= 8 ? 8 : 16;
}

static void hand_over(struct emit *e, struct vectors *vectors, const char *lanes, const char *total)
{
	struct str values = str_new(e->arena);
	const char *type = names_declare(&e->names, "handed");

	vectors->handed = names_declare(&e->names, "values");
	vectors->handed_type = type;
	quote_open(e->b, "struct alignas(%d) %s {", handed_alignment(vectors), type);
	for (int i = 0; i < vectors->values.n; i++) {
		const struct lane_value *value = &vectors->values.items[i];
		const char *as = type_c_name(handed_value_type(vectors, value));

		quote(e->b, "%s %s;", as, value->name);
		str_add(&values, "%s(%s) %s", i ? ", " : "", as, vectors->factor == value ? total : value->name);
	}
	quote_close(e->b, "};");
	quote(e->b, "PMG_HANDED(%s, %s);", type, vectors->handed);
	quote(e->b, "PMG_TEAM_SYNC;");
	quote(e->b, "%s[pmg_cuda_place(%s, pmg_lane)] = { %s };", vectors->handed, lanes, str_text(&values));
	quote(e->b, "PMG_TEAM_SYNC;");
}

/* The values of these lanes, in their order: lane n has that of the n-th one, or they are in shared memory. A loop that
 * is the same of all lanes takes none. */
static void pack_values(struct emit *e, struct vectors *vectors, const char *lanes, const char *total)
{
	const char *source;

	if (!vectors->values.n)
		return;
	if (is_handed_over(e)) {
		hand_over(e, vectors, lanes, total);
		return;
	}
	source = names_declare(&e->names, "source");
	quote(e->b, "const int %s = pmg_cuda_nth(%s, pmg_lane);", source, lanes);
	for (int i = 0; i < vectors->values.n; i++) {
		struct lane_value *value = &vectors->values.items[i];

		value->packed = names_declare(&e->names, value->name);
		quote(e->b, "const %s %s = pmg_cuda_take<pmg_team>((%s) %s, %s);", type_c_name(value->type),
		     value->packed, type_c_name(value->type), vectors->factor == value ? total : value->name, source);
	}
}

/* The variables of lanes, and of those that need the loop; returns the name of how many these are. */
static const char *declare_lanes(struct emit *e, struct vectors *vectors)
{
	const char *heads = NULL, *total = NULL, *lanes = names_declare(&e->names, "lanes");

	if (vectors->sorted) {
		heads = names_declare(&e->names, "heads");
		quote(e->b, "const unsigned %s = pmg_cuda_heads<pmg_team>((%s) %s);", heads,
		     type_c_name(vectors->sorted->type), vectors->sorted->name);
	}
	if (vectors->factor) {
		total = names_declare(&e->names, "total");
		quote(e->b, "const %s %s = pmg_cuda_merge<pmg_team>(%s, %s ? %s : 0);",
		     type_c_name(vectors->factor->type), total, heads, e->deal->is_in, vectors->factor->name);
	}
	quote(e->b, "const unsigned %s = pmg_cuda_ballot<pmg_team>(%s);", lanes,
	     lanes_condition(e, vectors, heads, total));
	pack_values(e, vectors, lanes, total);
	if (e->deal->given.target)
		quote(e->b, "const int %s = pmg_cuda_rank(%s, pmg_lane);", e->deal->rank, lanes);
	return lanes;
}

static void take_values(struct emit *e, const struct vectors *vectors, const char *number)
{
	const char *taken = vectors->handed ? names_declare(&e->names, "taken") : NULL;

	if (taken)
		quote(e->b, "const %s %s = pmg_cuda_handed(&%s[%s]);", vectors->handed_type, taken, vectors->handed,
		     number);
	for (int i = 0; i < vectors->values.n; i++) {
		const struct lane_value *value = &vectors->values.items[i];
		const enum scalar_type has = taken ? handed_value_type(vectors, value) : value->type;
		const char *type = type_c_name(value->local ? has : TYPE_I64);

		if (taken)
			quote(e->b, "const %s %s = %s.%s;", type, value->taken, taken, value->name);
		else
			quote(e->b, "const %s %s = pmg_cuda_take<pmg_team>(%s, %s);", type, value->taken, value->packed,
			     number);
	}
}

/* Of each group, the loop for one lane: number `round` of those that it has; if not all groups have one, of those that
 * do. */
static void emit_round(struct emit *e, struct vectors *vectors, const value_list *all, const char *lanes,
		       const char *round, bool all_have_one)
{
	const int visible = e->names.visible.n;
	const char *number = names_declare(&e->names, "number");

	quote(e->b, "const int %s = %s*pmg_groups + pmg_group_number;", number, round);
	take_values(e, vectors, number);
	if (!all_have_one)
		quote_open(e->b, "if (%s < pmg_cuda_count(%s)) {", number, lanes);
	print_vectors(e, vectors, all);
	if (!all_have_one)
		quote_close(e->b, "}");
	e->names.visible.n = visible;
}

/* Opens a loop over rounds, so many at a time: as long as all groups have rows in them, or over all that are left. */
static void open_rounds(struct emit *e, const char *lanes, const char *round, int n, bool all_have_one)
{
	quote(e->b, "PMG_ROLLED");
	if (all_have_one)
		quote_open(e->b, "for (; (%s + %d)*pmg_groups <= pmg_cuda_count(%s); %s += %d) {", round, n, lanes,
			   round, n);
	else
		quote_open(e->b, "for (; %s*pmg_groups < pmg_cuda_count(%s); %s += %d) {", round, lanes, round, n);
}

/* Rows that are added to that of the group: two are read next to each other as long as all groups have them. The
 * second one is not counted among what lanes hold: what the first one has is free as soon as it is added. */
static void emit_rounds(struct emit *e, struct vectors *vectors, const value_list *all, const char *lanes)
{
	const char *round = names_declare(&e->names, "round"), *i;

	quote(e->b, "int %s = 0;", round);
	if (has_room_for_rows(e, ROWS_AT_A_TIME, 0)) {
		i = names_declare(&e->names, "i");
		open_rounds(e, lanes, round, ROWS_AT_A_TIME, true);
		quote(e->b, "PMG_UNROLL");
		quote_open(e->b, "for (int %s = 0; %s < %d; %s++) {", i, i, ROWS_AT_A_TIME, i);
		emit_round(e, vectors, all, lanes, arena_printf(e->arena, "(%s + %s)", round, i), true);
		quote_close(e->b, "}");
		quote_close(e->b, "}");
	}
	open_rounds(e, lanes, round, 1, false);
	emit_round(e, vectors, all, lanes, round, false);
	quote_close(e->b, "}");
}

/* Sums that are made in several rounds, added up over the lanes of groups together, and left in shared memory. */
struct sums {
	const char *rounds, *found;     /* variables: the first of these rounds; where sums are left */
	enum scalar_type type;
	int n;                          /* of rounds */
};

static void emit_rounds_of_sums(struct emit *e, struct vectors *vectors, const value_list *all, const char *lanes,
				const struct sums *sums, bool all_have_one)
{
	const char *round = names_declare(&e->names, "round"), *name = names_declare(&e->names, "sums");

	open_rounds(e, lanes, sums->rounds, sums->n, all_have_one);
	quote(e->b, "%s %s[%d] = { };", type_c_name(sums->type), name, sums->n);
	quote(e->b, "PMG_UNROLL");
	quote_open(e->b, "for (int %s = 0; %s < %d; %s++) {", round, round, sums->n, round);
	e->deal->sum = arena_printf(e->arena, "%s[%s]", name, round);
	emit_round(e, vectors, all, lanes, arena_printf(e->arena, "(%s + %s)", sums->rounds, round), all_have_one);
	quote_close(e->b, "}");
	quote(e->b, "pmg_cuda_leave<pmg_team, pmg_group, %s>(%s, &%s[%s*pmg_groups + pmg_group_number]);",
	     spread_operation(e->deal->given.op), name, sums->found, sums->rounds);
	quote_close(e->b, "}");
}

/* Fewer rounds where there are no registers for all of their rows, which leaves room for more teams. */
static int n_rounds(const struct emit *e, enum scalar_type type)
{
	const bool is_narrow = is_handed_over(e) && !has_room_for_rows(e, ROUNDS, ROUNDS*type_size(type));

	return e->grid->is_rolled ? 1 : is_narrow ? FEW_ROUNDS : ROUNDS;
}

static struct sums declare_sums(struct emit *e, const struct vectors *vectors)
{
	const enum scalar_type type = vectors->stage->write.array->sums;
	const struct sums sums = {
		.rounds = names_declare(&e->names, "rounds"), .found = names_declare(&e->names, "found"),
		.type = type, .n = n_rounds(e, type)
	};

	quote(e->b, "PMG_HANDED(%s, %s);", type_c_name(sums.type), sums.found);
	if (!vectors->handed)
		quote(e->b, "PMG_TEAM_SYNC;");
	quote(e->b, "int %s = 0;", sums.rounds);
	return sums;
}

static void emit_sums(struct emit *e, struct vectors *vectors, const value_list *all, const char *lanes)
{
	const struct sums sums = declare_sums(e, vectors);
	const int visible = e->names.visible.n;
	const int64_t bytes = sums.n*type_size(sums.type);
	struct deal *deal = e->deal;
	struct update taken;

	if (vectors->handed && has_room_for_rows(e, sums.n, bytes)) {
		emit_rounds_of_sums(e, vectors, all, lanes, &sums, true);
		e->names.visible.n = visible;
		grid_holds(e, (sums.n - 1)*e->grid->read);
	}
	emit_rounds_of_sums(e, vectors, all, lanes, &sums, false);
	e->names.visible.n = visible;
	grid_holds(e, bytes);
	e->grid->folds = true;
	quote(e->b, "PMG_TEAM_SYNC;");
	quote_open(e->b, "if (%s >= 0) {", deal->rank);
	taken = deal->given;
	taken.value = k_load(e->arena, k_name(e->arena, sums.found), k_name(e->arena, deal->rank));
	emit_update(e, &taken);
	quote_close(e->b, "}");
}

/* Whether any lane adds to the row of the loop, where that is asked for. */
static void note_added(struct emit *e, const struct vectors *vectors, const char *lanes)
{
	for (int i = 0; i < e->rows.n; i++)
		if (e->rows.items[i].stage == vectors->stage && e->rows.items[i].added)
			quote(e->b, "%s |= %s;", e->rows.items[i].added, lanes);
}

static void emit_vectors(struct emit *e, struct vectors *vectors)
{
	struct deal *deal = e->deal;
	value_list all = { 0 };
	const char *lanes;

	add_dims(e, &all);
	add_locals(e, vectors->node, &all);
	deal->rank = names_declare(&e->names, "rank");
	deal->sum = "";
	deal->given = (struct update) { 0 };
	for (int i = 0; i < all.n; i++)
		all.items[i].taken = names_declare(&e->names, all.items[i].name);
	find_values(e, vectors, &all);
	find_sharing(vectors);
	lanes = declare_lanes(e, vectors);
	note_added(e, vectors, lanes);
	if (deal->given.target)
		emit_sums(e, vectors, &all, lanes);
	else
		emit_rounds(e, vectors, &all, lanes);
}

bool emit_deal_vectors(struct emit *e, __isl_keep isl_ast_node *node, const struct mark *mark, struct loop_use use)
{
	struct vectors vectors = { .node = node, .mark = mark, .use = use };
	isl_ast_expr *instance;

	if (!e->deal || e->deal->in_vectors || (mark->kind != MARK_SKIP && mark->kind != MARK_SKIP_ALWAYS &&
					    mark->kind != MARK_VECTOR && mark->kind != MARK_ACCUMULATE))
		return false;
	instance = ast_first_instance(node, NULL, false);
	if (!instance)
		return false;
	vectors.use.is_vector |= mark->kind == MARK_VECTOR;
	vectors.stage = ast_stage(instance);
	isl_ast_expr_free(instance);
	emit_vectors(e, &vectors);
	return true;
}
