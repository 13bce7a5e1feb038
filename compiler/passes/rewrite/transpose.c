/* SPDX-License-Identifier: MIT
 *
 * Arrays that are stored in another order of their dimensions than they are declared in, where an item asks for it:
 * `layout x : full` puts the first dimension behind all others, so that values of all systems stand next to each other
 * for each row (Valero-Lara et al. 2018: full interleaving), `layout A : order(2, 0, 1)` any order: the numbers are
 * those of the dimensions as declared, the one that is stored outermost first.
 *
 * All statements use an array of the pipeline's own in the place of what is named, at permuted subscripts: what the
 * layout is stands in each access, and all that is proved of accesses is proved of it. What the caller holds is copied
 * before its first use and behind what is computed of it. A line of the innermost dimension takes an odd number of
 * cache lines: no power of two lies between neighbouring rows, which would meet in few sets of a cache. */
#include <string.h>

#include "passes/pass_private.h"

enum { BYTES_OF_BLOCK = 128 };

struct transposition {
	struct module *module;
	struct array *from, *to;
	int *order;                     /* of `from`, the dimension that is this one of `to` */
};

/* ---- items ---- */

static bool refuse(struct module *module, const struct override *item, const char *help, const char *name,
		   const char *problem)
{
	struct diag *diag = diag_error(module->diags, DIAG_BAD_ITEM, item->span,
				       "the layout of '%s' cannot be '%s': %s", name, override_choice(item), problem);

	if (help)
		diag_help(module->diags, diag, (struct span) { 0 }, "%s", help);
	return false;
}

static bool is_about_order(const struct override *item)
{
	return item->verb == VERB_LAYOUT && (item->choice == CHOICE_FULL || item->choice == CHOICE_ORDER);
}

/* By a statement, or because it changes places with its next value. */
static bool is_written_in_loop(const struct module *module, const struct array *array)
{
	const struct region *body = &module->regions[REGION_BODY];
	bool is = false;

	for (int g = 0; g < body->groups.n; g++)
		is = is || group_writes(body->groups.items[g], array);
	for (int i = 0; i < module->arrays.n; i++)
		is = is || (module->arrays.items[i]->is_swapped && module->arrays.items[i]->owner == array);
	return is;
}

static const char *absence_of(const struct module *module, const char *name)
{
	for (int i = 0; i < module->arrays.n; i++)
		if (array_is_of(module->arrays.items[i], name))
			return "it is made of several arrays: name one of them";
	return module_find_decision(module, DECISION_INLINE, name) ? "it is inlined" : "nothing stores it";
}

static const char *array_problem(const struct module *module, const struct array *array, const char *name)
{
	if (!array)
		return absence_of(module, name);
	if (!array_is_argument(array) && array->role != ROLE_TEMP)
		return "a state is kept in the order in which it is saved";
	if (array_is_argument(array) && is_written_in_loop(module, array))
		return "it is computed in the loop, and would be copied in each iteration";
	if (array_is_index(array))
		return "it is an index array";
	if (array->rank < 2)
		return "it has one dimension";
	if (array->storage != STORAGE_F64)
		return "another item says how its values are kept";
	return NULL;
}

/* Each dimension once. */
static bool read_order(const struct override *item, int rank, int *order)
{
	unsigned seen = 0;

	for (int i = 0; i < rank; i++)
		order[i] = (i + 1) % rank;
	if (item->choice == CHOICE_FULL)
		return !item->numbers.n;
	if (item->numbers.n != rank)
		return false;
	for (int i = 0; i < rank; i++) {
		if (item->numbers.items[i] < 0 || item->numbers.items[i] >= rank)
			return false;
		order[i] = (int) item->numbers.items[i];
		seen |= 1U << order[i];
	}
	return seen == (1U << rank) - 1;
}

/* ---- the new array ---- */

static struct expr *combined(const struct transposition *t, enum expr_op op, struct expr *a, int64_t b)
{
	return expr_binary(t->module->arena, op, TYPE_I64, a, expr_int(t->module->arena, b, t->from->span));
}

static int64_t values_of_block(const struct transposition *t)
{
	return BYTES_OF_BLOCK/type_size(t->from->type);
}

/* The least odd number of halves of blocks that hold `n` values. */
static struct expr *padded(const struct transposition *t, struct expr *n)
{
	int64_t values = values_of_block(t);
	struct expr *blocks = combined(t, OP_DIV, combined(t, OP_ADD, n, values/2 - 1), values);

	return combined(t, OP_ADD, combined(t, OP_MUL, blocks, values), values/2);
}

static void add_array(struct transposition *t, const struct override *item)
{
	struct arena *arena = t->module->arena;
	const struct array *from = t->from;
	const char *name = arena_printf(arena, "%s.%s", from->name, override_choice(item));
	struct expr *n;
	int last = from->rank - 1;

	t->to = module_add_array(t->module, name, ROLE_TEMP, from->type, from->rank, from->span);
	t->to->sums = from->sums;
	t->to->stands_for = array_is_argument(from) ? t->from : NULL;
	for (int d = 0; d < from->rank; d++) {
		t->to->lo[d] = from->lo[t->order[d]];
		t->to->hi[d] = from->hi[t->order[d]];
	}
	n = t->to->hi[last];
	if (!expr_is_zero(t->to->lo[last]))
		n = expr_binary(arena, OP_SUB, TYPE_I64, n, t->to->lo[last]);
	n = padded(t, n);
	if (!expr_is_zero(t->to->lo[last]))
		n = expr_binary(arena, OP_ADD, TYPE_I64, t->to->lo[last], n);
	t->to->hi[last] = n;
}

static struct expr **permuted(const struct transposition *t, struct expr *const *subs)
{
	struct expr **result = arena_new_array(t->module->arena, struct expr *, t->from->rank);

	for (int d = 0; d < t->from->rank; d++)
		result[d] = subs[t->order[d]];
	return result;
}

static void use_instead(struct access *access, void *user)
{
	const struct transposition *t = user;

	if (access->array == t->from)
		*access = (struct access) { t->to, permuted(t, access->subs), access->span };
}

static void replace_all(struct transposition *t)
{
	for (int i = 0; i < t->module->stages.n; i++) {
		use_instead(&t->module->stages.items[i]->write, t);
		stage_reads(t->module->stages.items[i], use_instead, t);
	}
	if (t->module->loop.until)
		expr_reads(t->module->loop.until, use_instead, t);
}

static bool is_as_declared(const struct transposition *t)
{
	bool is = true;

	for (int d = 0; d < t->from->rank; d++)
		is = is && t->order[d] == d;
	return is;
}

/* ---- copies ---- */

static struct dim range(const struct transposition *t, const char *name, struct expr *lo, struct expr *hi)
{
	return (struct dim) { .kind = DIM_RANGE, .name = name, .span = t->from->span, .lo = lo, .hi = hi };
}

/* Blocks of the dimension that is innermost in the copy, all others as they are stored, a block: neighbours of both
 * arrays are moved together. `at` is where each dimension of the array is among the dims. It is the caller's, so that
 * its subscripts begin at 0. */
static dim_list copy_dims(const struct transposition *t, struct expr **at)
{
	struct arena *arena = t->module->arena;
	struct span span = t->from->span;
	int inner = t->order[t->from->rank - 1];
	int64_t values = values_of_block(t);
	struct expr *n = t->from->hi[inner], *begin, *end;
	struct expr *n_blocks = combined(t, OP_DIV, combined(t, OP_ADD, n, values - 1), values);
	dim_list dims = { 0 };

	vec_push(arena, &dims, range(t, "block", expr_int(arena, 0, span), n_blocks));
	for (int d = 0; d < t->from->rank; d++) {
		if (d == inner)
			continue;
		at[d] = expr_dim(arena, dims.n, span);
		vec_push(arena, &dims, range(t, arena_printf(arena, "i%d", d), t->from->lo[d], t->from->hi[d]));
	}
	begin = combined(t, OP_MUL, expr_dim(arena, 0, span), values);
	end = expr_binary(arena, OP_MIN, TYPE_I64, combined(t, OP_ADD, begin, values), n);
	at[inner] = expr_dim(arena, dims.n, span);
	vec_push(arena, &dims, range(t, arena_printf(arena, "i%d", inner), begin, end));
	return dims;
}

static void add_copy(const struct transposition *t, enum region_kind kind, int place, bool is_back)
{
	struct arena *arena = t->module->arena;
	struct expr **at = arena_new_array(arena, struct expr *, t->from->rank), **subs;
	dim_list dims = copy_dims(t, at);
	const char *name = is_back ? arena_printf(arena, "%s.back", t->from->name) : t->to->name;
	struct group *group = module_add_group(t->module, kind, name, t->from->span);
	struct stage *stage = module_add_stage(t->module, group, &dims, t->from->span);

	subs = permuted(t, at);
	group->is_apart = true;
	stage->write = (struct access) { is_back ? t->from : t->to, is_back ? at : subs, stage->span };
	stage->value = expr_read(arena, is_back ? t->to : t->from, is_back ? subs : at, stage->span);
	region_move_last(&t->module->regions[kind], place);
}

/* Behind the copies that begin the region. */
static int place_of_next(const struct region *region)
{
	int place = 0;

	while (place < region->groups.n && region->groups.items[place]->is_apart)
		place++;
	return place;
}

/* Behind the last group that computes values of it; 0: none does. */
static int place_behind(const struct transposition *t, const struct region *region)
{
	int place = 0;

	for (int g = 0; g < region->groups.n; g++)
		if (group_writes(region->groups.items[g], t->to))
			place = g + 1;
	return place;
}

static void add_copies(const struct transposition *t)
{
	for (int r = 0; r < REGION_N && t->from->role != ROLE_IN && t->from->role != ROLE_TEMP; r++) {
		int place = place_behind(t, &t->module->regions[r]);

		if (place)
			add_copy(t, (enum region_kind) r, place, true);
	}
	if (t->from->role == ROLE_IN || t->from->role == ROLE_INOUT)
		add_copy(t, REGION_PROLOGUE, place_of_next(&t->module->regions[REGION_PROLOGUE]), false);
}

/* ---- the pass ---- */

/* The last dimension outermost. */
static const char *example_of(struct module *module, const struct array *array)
{
	struct str text = str_new(module->arena);

	for (int d = array->rank - 1; d >= 0; d--)
		str_add(&text, "%d%s", d, d ? ", " : "");
	return arena_printf(module->arena, "as in layout %s : order(%s); or layout %s : full;", array->name,
			    str_text(&text), array->name);
}

static bool transpose(struct module *module, const struct override *item, struct array *array, const char *name)
{
	struct transposition t = { .module = module, .from = array };
	const char *problem = array_problem(module, array, name);

	if (problem)
		return refuse(module, item, NULL, name, problem);
	t.order = arena_new_array(module->arena, int, array->rank);
	if (!read_order(item, array->rank, t.order))
		return refuse(module, item, example_of(module, array), name,
			      item->choice == CHOICE_FULL ? "it takes no numbers"
			      : "it takes the number of each dimension once, the outermost first");
	module_decide_that(module, DECISION_TRANSPOSE, name, override_choice(item), NULL, item->span,
			   is_as_declared(&t) ? "that is the order in which it is declared"
					      : "the schedule asks for it");
	if (is_as_declared(&t))
		return true;
	add_array(&t, item);
	replace_all(&t);
	add_copies(&t);
	if (t.from->role == ROLE_TEMP)
		t.to->name = t.from->name;
	return true;
}

/* What a construct keeps for its result, "x.pivot" of "x", is stored as that is; where that cannot be, it is told of
 * the result. */
static void transpose_members(struct module *module, const struct override *item, const char *name)
{
	int n_arrays = module->arrays.n;

	for (int i = 0; i < n_arrays && item->choice == CHOICE_FULL && !item->numbers.n; i++) {
		struct array *array = module->arrays.items[i];

		if (array->role == ROLE_TEMP && array_is_of(array, name) && strcmp(array->name, name) &&
		    !array_problem(module, array, name))
			transpose(module, item, array, array->name);
	}
}

static bool transpose_named(struct module *module, const struct override *item, const char *name)
{
	struct array *array = module_find_array(module, name);

	if (array && module_find_decision(module, DECISION_TRANSPOSE, name))
		return refuse(module, item, NULL, name, "another item says so already");
	transpose_members(module, item, name);
	return transpose(module, item, array, name);
}

/* The first array that it cannot be done to is told. */
static bool take_item(struct module *module, struct override *item)
{
	bool ok = true;

	item->is_used = true;
	for (int s = 0; s < item->subjects.n && ok; s++)
		ok = transpose_named(module, item, item->subjects.items[s]);
	return ok;
}

bool pass_transpose(struct module *module, const struct pass_options *options)
{
	bool ok = true, has_any = false;

	(void) options;
	for (int i = 0; i < module->overrides.n; i++) {
		struct override *item = &module->overrides.items[i];

		if (!is_about_order(item))
			continue;
		has_any = true;
		ok = take_item(module, item) && ok;
	}
	if (!ok || !has_any)
		return ok;
	module_prune(module, false);
	return module_order_recurrences(module);
}
