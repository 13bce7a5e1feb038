/* SPDX-License-Identifier: MIT
 *
 * What a block of segments of variable length has of arrays (runtime/pmgrt_ragged.h): of a temporary the memory of its
 * thread, with room for one row more before and after it; of an argument the caller's own memory, if the caller has
 * blocked it, else a copy. The caller's memory has no room around it: a row that may be outside is read, and written,
 * at the nearest one inside, by lanes that have no use for it. */
#include "codegen/codegen_private.h"

bool is_blocked_by_caller(const struct emit *e, const struct array *copy)
{
	int slot = e->layout->slot_of[copy->owner->number];

	return slot >= 0 && e->layout->slots.items[slot].lanes > 0;
}

static bool has_window(const struct array *copy)
{
	return copy->stored.window > 0;
}

static bool is_prefetched(const struct array *copy)
{
	return copy->stored.is_prefetched;
}

/* Is there a part, such a one unless NULL, of what the caller may have blocked? */
static bool has_blocked(const struct emit *e, bool (*is_such)(const struct array *copy))
{
	bool has = false;

	for (int i = 0; i < e->block.mark->arrays.n && !has; i++)
		has = is_blocked_by_caller(e, e->block.mark->arrays.items[i]) &&
		      (!is_such || is_such(e->block.mark->arrays.items[i]));
	return has;
}

static void note_rows(struct emit *e)
{
	struct affine rows = affine_atom(e->arena, e->variable_length->rows), zero = affine_constant(0);
	struct affine longest = affine_name(e->arena, e->variable_length->longest);

	row_is_inside(e, &rows, &zero, &longest);
}

/* Where the thread's next block begins in what the caller has blocked. `block` has the segments, their order and
 * number, the first one of the block, its lanes and the blocks between. */
static void declare_later(struct emit *e, const struct k_expr *block)
{
	e->variable_length->later = names_declare(&e->names, "later");
	k_const(e->b, k_scalar("pmg_lying"), e->variable_length->later,
		k_with_list(e->arena, k_call(e->arena, "pmg_block_later", 0), block));
}

/* Where its lanes begin. */
static void declare_next(struct emit *e, const struct k_expr *block)
{
	struct k_expr *next;

	e->variable_length->next = names_declare(&e->names, "next");
	next = k_name(e->arena, e->variable_length->next);
	k_array(e->b, k_scalar("int64_t"), e->variable_length->next, lanes_expr(e), NULL);
	k_do(e->b, K_WITH(e->arena, k_with_list(e->arena, k_call(e->arena, "pmg_block_next", 0), block), next));
}

/* Where the block begins in what the caller has blocked, in rows: the list of the segments is followed by this. */
void start_declare(struct emit *e, const struct array *segments, struct k_expr *first)
{
	struct affine n_segments = segments_count(e, segments);
	struct affine at = affine_term(e->arena, k_operate(e->arena, first, K_DIV, lanes_expr(e)));
	struct k_expr *order = order_of_block(e, segments), *block;

	note_rows(e);
	if (!has_blocked(e, NULL))
		return;
	at = affine_combine(e->arena, 1, &n_segments, 1, &at);
	e->variable_length->start = names_declare(&e->names, "start");
	k_const(e->b, k_scalar("int64_t"), e->variable_length->start,
		k_load(e->arena, order, affine_expr(e->arena, &at)));
	block = K_LIST(e->arena, k_name(e->arena, segments->c_name), order, affine_expr(e->arena, &n_segments), first,
		       lanes_expr(e), e->block.n_turns);
	if (has_blocked(e, is_prefetched))
		declare_later(e, block);
	if (has_blocked(e, has_window))
		declare_next(e, block);
}

/* ---- at the begin and the end of a block ---- */

/* f(b_block, 16, b, …): a block and the array that it is of. */
static struct k_expr *call_of_pair(struct emit *e, const char *function, const struct array *copy, struct k_expr *block)
{
	return K_CALL(e->arena, typed_function(e, function, copy->type), block, lanes_expr(e),
		      k_name(e->arena, copy->owner->c_name));
}

/* f(…, begin, rows): where each segment begins, and how many rows it has. */
static struct k_expr *with_rows(struct emit *e, const struct k_expr *call)
{
	return K_WITH(e->arena, call, k_name(e->arena, e->variable_length->begin_name),
		      k_name(e->arena, e->variable_length->rows_name));
}

static struct k_expr *with_longest(struct emit *e, const struct k_expr *call)
{
	return K_WITH(e->arena, call, k_name(e->arena, e->variable_length->longest));
}

/* f(…, &plan->places[2], start): where the caller has the array, and where the block begins there. */
static struct k_expr *with_place(struct emit *e, const struct k_expr *call, const struct array *copy)
{
	return K_WITH(e->arena, call, place_in_plan(e, copy), k_name(e->arena, e->variable_length->start));
}

static void take_of_caller(struct emit *e, const struct array *copy, const struct finding *found, struct k_expr *own,
		      bool is_read)
{
	const char *function = is_read ? "pmg_segments_take" : "pmg_segments_open";
	struct k_expr *taken = with_place(e, call_of_pair(e, function, copy, own), copy);

	taken = with_longest(e, is_read ? with_rows(e, taken) : taken);
	k_var(e->b, k_buffer(type_c_name(copy->type), !found->is_written, true), copy->c_name, taken);
}

/* (double *) plan->data[3] + pmg_thread()*plan->places[3].block + 16: what the thread has of a copy. */
static struct k_expr *own_part(struct emit *e, const struct array *copy)
{
	struct arena *arena = e->arena;
	struct k_expr *plan = k_name(arena, "plan"), *slot = k_int(arena, e->layout->slot_of[copy->number]);
	struct k_expr *data = k_load(arena, k_member(arena, plan, "data", true), slot);
	struct k_expr *place = k_load(arena, k_member(arena, plan, "places", true), slot);
	struct k_expr *before = k_binary(arena, K_MUL, k_call(arena, "pmg_thread", 0),
					 k_member(arena, place, "block", false));
	struct k_expr *parts = k_cast(arena, k_pointer(type_c_name(copy->type), false), data);

	return k_binary(arena, K_ADD, k_binary(arena, K_ADD, parts, before), lanes_expr(e));
}

void variable_length_fill(struct emit *e, const struct array *copy, const struct finding *found, bool is_read)
{
	struct k_expr *block = k_name(e->arena, copy->c_name);

	if (!k_mentions(&e->variable_length->body, copy->c_name))
		return;
	note_write(e, copy);
	if (is_blocked_by_caller(e, copy)) {
		take_of_caller(e, copy, found, own_part(e, copy), is_read);
		return;
	}
	k_var(e->b, k_buffer(type_c_name(copy->type), false, true), copy->c_name, own_part(e, copy));
	if (array_is_index(copy->owner))
		k_do(e->b, with_longest(e, with_rows(e, K_CALL(e->arena, "pmg_ragged_parents", block, lanes_expr(e),
							       k_name(e->arena, copy->owner->c_name)))));
	else if (is_read)
		k_do(e->b, with_longest(e, with_rows(e, call_of_pair(e, "pmg_ragged_read", copy, block))));
}

/* pmg_segments_rows_f64(b_block, 16, b, &plan->places[2], start, begin, rows, longest, begin_2, end, …) */
static struct k_expr *rows_fill(struct emit *e, const struct block_rows *rows)
{
	const struct array *copy = rows->copy;
	const bool is_blocked = is_blocked_by_caller(e, copy);
	struct k_expr *fill = call_of_pair(e, is_blocked ? "pmg_segments_rows" : "pmg_ragged_rows", copy,
					   k_name(e->arena, copy->c_name));

	fill = is_blocked ? with_longest(e, with_rows(e, with_place(e, fill, copy))) : with_rows(e, fill);
	return K_WITH(e->arena, fill, k_name(e->arena, rows->begin), k_name(e->arena, rows->end));
}

void variable_length_rows(struct emit *e, struct block_rows *rows)
{
	rows->n_rows = k_name(e->arena, e->variable_length->longest);
	rows->fill = rows_fill(e, rows);
	if (!is_blocked_by_caller(e, rows->copy))
		return;
	rows->ahead = k_name(e->arena, e->variable_length->next);
	rows->is_in_place = K_CALL(e->arena, "pmg_segments_lie", place_in_plan(e, rows->copy), rows->n_rows);
}

void variable_length_note_prefetch(struct emit *e, const struct array *copy)
{
	struct block_prefetch prefetch = { .copy = copy, .n_rows = k_name(e->arena, e->variable_length->longest) };

	prefetch.kinds = K_CALL(e->arena, "pmg_segments_prefetches", place_in_plan(e, copy), prefetch.n_rows);
	prefetch.place = K_CALL(e->arena, typed_function(e, "pmg_prefetch_segments", copy->type), lanes_expr(e),
			   k_name(e->arena, copy->owner->c_name), k_name(e->arena, e->variable_length->start),
			   k_address(e->arena, k_name(e->arena, e->variable_length->later)), prefetch.n_rows);
	prefetch_note(e, &prefetch);
}

void variable_length_empty(struct emit *e, const struct array *copy)
{
	const bool is_blocked = is_blocked_by_caller(e, copy);
	struct k_expr *call;

	if (layout_is_hidden(e->layout, copy->owner))
		return;
	note_write(e, copy->owner);
	call = call_of_pair(e, is_blocked ? "pmg_segments_put" : "pmg_ragged_write", copy,
			    k_name(e->arena, copy->c_name));
	call = is_blocked ? with_longest(e, with_rows(e, with_place(e, call, copy))) : with_rows(e, call);
	k_do(e->b, K_WITH(e->arena, call, k_bool(e->arena, false)));
}

/* ---- rows ---- */

void row_is_inside(struct emit *e, const struct affine *row, const struct affine *first, const struct affine *last)
{
	vec_push(e->arena, &e->variable_length->row_facts, affine_combine(e->arena, 1, row, -1, first));
	vec_push(e->arena, &e->variable_length->row_facts, affine_combine(e->arena, 1, last, -1, row));
}

/* By what is known in all lanes, also in those for which what is written has no value. */
static bool is_known(struct emit *e, const struct affine *fact)
{
	return affine_is_never_negative(fact) ||
	       facts_imply(e->module->ctx, e->arena, &e->variable_length->row_facts, fact);
}

/* Two rows before the end of a segment may be two before its begin. */
static bool is_far_before(const struct emit *e, const struct affine *row)
{
	return row->constant < -1 && row->terms.n == 1 &&
	       k_expr_is_equal(row->terms.items[0].atom, e->variable_length->rows);
}

/* The first row and the last one: a block without rows has no memory. */
static bool is_end(const struct affine *row, const struct affine *last)
{
	int64_t value;

	return (affine_is_constant(row, &value) && value == 0) ||
	       (row->constant == last->constant && row->terms.n == 1 && row->terms.items[0].factor == 1 &&
		k_expr_is_equal(row->terms.items[0].atom, last->terms.items[0].atom));
}

struct affine row_inside(struct emit *e, const struct array *copy, const struct affine *row)
{
	struct affine last = affine_name(e->arena, e->variable_length->longest), result = *row, rest;

	last = affine_scale(e->arena, &last, 1, -1);
	if (is_blocked_by_caller(e, copy) ? is_end(row, &last) : !is_far_before(e, row))
		return *row;
	rest = affine_combine(e->arena, 1, &last, -1, row);
	if (!is_known(e, row))
		result = affine_atom(e->arena, K_CALL(e->arena, "pmg_max_i64", affine_expr(e->arena, row),
						      k_int(e->arena, 0)));
	if (!is_known(e, &rest))
		result = affine_atom(e->arena, K_CALL(e->arena, "pmg_min_i64", affine_expr(e->arena, &result),
						      affine_expr(e->arena, &last)));
	return result;
}
