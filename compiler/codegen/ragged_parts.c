/* SPDX-License-Identifier: MIT
 *
 * The parts of arrays in blocks of segments (runtime/pmgrt_ragged.h): of a temporary what the thread has, in front of
 * which, and behind, there is room for a row more; of an argument where the caller holds it, if that is in such blocks,
 * else a copy. What the caller holds has no room around it: a row that may be outside is read, and written, at the
 * nearest one inside, by lanes that have no use for it. */
#include <string.h>

#include "codegen/codegen_private.h"

bool part_is_held(const struct emit *e, const struct array *copy)
{
	int slot = e->layout->slot_of[copy->owner->number];

	return slot >= 0 && e->layout->slots.items[slot].lanes > 0;
}

static bool has_window(const struct array *copy)
{
	return copy->window > 0;
}

static bool is_asked_for(const struct array *copy)
{
	return copy->is_prefetched;
}

/* Is there a part, such a one unless NULL, of what the caller may hold so? */
static bool has_held(const struct emit *e, bool (*is_such)(const struct array *copy))
{
	bool has = false;

	for (int i = 0; i < e->block->arrays.n && !has; i++)
		has = part_is_held(e, e->block->arrays.items[i]) &&
		      (!is_such || is_such(e->block->arrays.items[i]));
	return has;
}

static void note_rows(struct emit *e)
{
	struct affine rows = affine_name(e->arena, e->ragged->rows), zero = affine_constant(0);
	struct affine longest = affine_name(e->arena, e->ragged->longest);

	row_is_inside(e, &rows, &zero, &longest);
}

/* Where the block begins in what the caller holds, in rows: it stands behind the list of the segments. */
void start_declare(struct emit *e, const struct array *segments, const char *first)
{
	const char *order = layout_order(e->layout, segments, (int) e->block->lanes);
	struct affine n_segments = segments_count(e, segments);
	const char *block = arena_printf(e->arena, "%s/%s", first, lanes_text(e));
	struct affine at = affine_name(e->arena, block);

	note_rows(e);
	if (!has_held(e, NULL))
		return;
	at = affine_combine(e->arena, 1, &n_segments, 1, &at);
	e->ragged->start = names_declare(&e->names, "start");
	quote(e->b, "const int64_t %s = %s[%s];", e->ragged->start, order, affine_plain(e->arena, &at));
	if (has_held(e, is_asked_for)) {
		e->ragged->later = names_declare(&e->names, "later");
		e->ragged->later_declared = declaration_begin(e);
		quote(e->b, "const pmg_lying %s = pmg_block_later(%s, %s, %s, %s, %s, %s);", e->ragged->later,
		     segments->c_name, order, affine_plain(e->arena, &n_segments), first, lanes_text(e), e->n_turns);
		declaration_end(e, &e->ragged->later_declared);
	}
	if (!has_held(e, has_window))
		return;
	e->ragged->next = names_declare(&e->names, "next");
	quote(e->b, "int64_t %s[%s];", e->ragged->next, lanes_text(e));
	quote(e->b, "pmg_block_next(%s, %s, %s, %s, %s, %s, %s);", segments->c_name, order,
	     affine_plain(e->arena, &n_segments), first, lanes_text(e), e->n_turns, e->ragged->next);
}

/* ---- at the begin and the end of a block ---- */

/* "b_block, 16, b": a block and the array that it is of. */
static const char *pair_text(struct emit *e, const struct array *copy, const char *block)
{
	return arena_printf(e->arena, "%s, %s, %s", block, lanes_text(e), copy->owner->c_name);
}

/* "begin, rows": the names of the arrays, without the lane. */
static const char *rows_text(struct emit *e)
{
	int n = (int) strcspn(e->ragged->begin, "["), m = (int) strcspn(e->ragged->rows, "[");

	return arena_printf(e->arena, "%.*s, %.*s", n, e->ragged->begin, m, e->ragged->rows);
}

static const char *place_text(struct emit *e, const struct array *copy)
{
	return arena_printf(e->arena, "&plan->places[%d], %s", e->layout->slot_of[copy->owner->number],
			    e->ragged->start);
}

static void take_held(struct emit *e, const struct array *copy, const struct finding *found, const char *own,
		      bool is_read)
{
	const char *type = type_name(copy->type), *longest = e->ragged->longest;

	quote(e->b, "%s%s *restrict %s = pmg_segments_%s_%s(%s, %s%s%s, %s);", found->is_written ? "" : "const ",
	     type_c_name(copy->type), copy->c_name, is_read ? "take" : "open", type, pair_text(e, copy, own),
	     place_text(e, copy), is_read ? ", " : "", is_read ? rows_text(e) : "", longest);
	if (goes_past(e, found->is_written, is_read))
		declare_past(e, copy, arena_printf(e->arena, "pmg_segments_nontemporal_%s(%s, %s, %s, %s)", type,
						   lanes_text(e), copy->owner->c_name, place_text(e, copy), longest));
}

void ragged_fill(struct emit *e, const struct array *copy, const struct finding *found, bool is_read)
{
	const char *type = type_c_name(copy->type);
	int slot = e->layout->slot_of[copy->number];
	const char *own = arena_printf(e->arena, "(%s *) plan->data[%d] + pmg_thread()*plan->places[%d].block + %s",
				       type, slot, slot, lanes_text(e));

	if (!k_mentions(&e->ragged->body, copy->c_name))
		return;
	note_write(e, copy);
	if (part_is_held(e, copy)) {
		take_held(e, copy, found, own, is_read);
		return;
	}
	quote(e->b, "%s *restrict %s = %s;", type, copy->c_name, own);
	if (array_is_index(copy->owner))
		quote(e->b, "pmg_ragged_parents(%s, %s, %s);", pair_text(e, copy, copy->c_name), rows_text(e),
		     e->ragged->longest);
	else if (is_read)
		quote(e->b, "pmg_ragged_read_%s(%s, %s, %s);", type_name(copy->type),
		     pair_text(e, copy, copy->c_name), rows_text(e), e->ragged->longest);
}

/* "b_rows = pmg_segments_rows_f64(b_block, 16, b, &plan->places[2], start, begin, rows, longest, begin_2, end, " */
static const char *rows_fill_text(struct emit *e, const struct block_rows *rows)
{
	const struct array *copy = rows->copy;
	const char *type = type_name(copy->type), *pair = pair_text(e, copy, copy->c_name);

	if (!part_is_held(e, copy))
		return arena_printf(e->arena, "pmg_ragged_rows_%s(%s, %s, %s, %s);", type, pair, rows_text(e),
				    rows->begin, rows->end);
	return arena_printf(e->arena, "%s = pmg_segments_rows_%s(%s, %s, %s, %s, %s, %s, ", rows->rows, type, pair,
			    place_text(e, copy), rows_text(e), e->ragged->longest, rows->begin, rows->end);
}

void ragged_rows(struct emit *e, struct block_rows *rows)
{
	rows->n_rows = e->ragged->longest;
	rows->fill = rows_fill_text(e, rows);
	rows->ahead = part_is_held(e, rows->copy) ? e->ragged->next : NULL;
	rows->lies = part_is_held(e, rows->copy)
		     ? arena_printf(e->arena, "pmg_segments_lie(&plan->places[%d], %s)",
				    e->layout->slot_of[rows->copy->owner->number], e->ragged->longest) : NULL;
}

void ragged_note_ask(struct emit *e, const struct array *copy)
{
	struct block_ask ask = { .copy = copy, .n_rows = e->ragged->longest };

	ask.far = arena_printf(e->arena, "pmg_segments_prefetches(&plan->places[%d], %s)",
			       e->layout->slot_of[copy->owner->number], ask.n_rows);
	ask.where = arena_printf(e->arena, "pmg_prefetch_segments_%s(%s, %s, %s, &%s, %s", type_name(copy->type),
				 lanes_text(e), copy->owner->c_name, e->ragged->start, e->ragged->later, ask.n_rows);
	asks_note(e, &ask);
}

void ragged_empty(struct emit *e, const struct array *copy)
{
	const struct cell *past = cell_find(e->past.items, e->past.n, copy->owner);
	const char *is_past, *pair = pair_text(e, copy, copy->c_name);

	if (layout_is_hidden(e->layout, copy->owner))
		return;
	is_past = e->layout->slots.items[e->layout->slot_of[copy->owner->number]].large;
	is_past = is_past ? is_past : "false";
	note_write(e, copy->owner);
	if (past)
		quote(e->b, "if (!%s)", past->name);
	if (part_is_held(e, copy))
		quote(e->b, "%spmg_segments_put_%s(%s, %s, %s, %s, %s);", past ? "\t" : "", type_name(copy->type), pair,
		     place_text(e, copy), rows_text(e), e->ragged->longest, is_past);
	else
		quote(e->b, "pmg_ragged_write_%s(%s, %s, %s);", type_name(copy->type), pair, rows_text(e), is_past);
}

/* ---- rows ---- */

void row_is_inside(struct emit *e, const struct affine *row, const struct affine *first, const struct affine *last)
{
	vec_push(e->arena, &e->ragged->row_facts, affine_combine(e->arena, 1, row, -1, first));
	vec_push(e->arena, &e->ragged->row_facts, affine_combine(e->arena, 1, last, -1, row));
}

/* By what is known in all lanes, also in those for which what is written has no value. */
static bool is_known(struct emit *e, const struct affine *fact)
{
	return affine_is_never_negative(fact) ||
	       facts_imply(e->module->ctx, e->arena, &e->ragged->row_facts, fact);
}

/* Two rows before the end of a segment may be two before its begin. */
static bool is_far_before(const struct emit *e, const struct affine *row)
{
	return row->constant < -1 && row->terms.n == 1 && term_is_name(e->arena, &row->terms.items[0], e->ragged->rows);
}

/* The first row and the last one: a block without rows lies nowhere. */
static bool is_end(const struct affine *row, const struct affine *last)
{
	int64_t value;

	return (affine_is_constant(row, &value) && value == 0) ||
	       (row->constant == last->constant && row->terms.n == 1 && row->terms.items[0].factor == 1 &&
		k_expr_is_equal(row->terms.items[0].atom, last->terms.items[0].atom));
}

struct affine row_inside(struct emit *e, const struct array *copy, const struct affine *row)
{
	struct affine last = affine_name(e->arena, e->ragged->longest), result = *row, rest;

	last = affine_scale(e->arena, &last, 1, -1);
	if (part_is_held(e, copy) ? is_end(row, &last) : !is_far_before(e, row))
		return *row;
	rest = affine_combine(e->arena, 1, &last, -1, row);
	if (!is_known(e, row))
		result = affine_name(e->arena, arena_printf(e->arena, "pmg_max_i64(%s, 0)",
							    affine_plain(e->arena, row)));
	if (!is_known(e, &rest))
		result = affine_name(e->arena, arena_printf(e->arena, "pmg_min_i64(%s, %s)",
							    affine_plain(e->arena, &result),
							    affine_plain(e->arena, &last)));
	return result;
}
