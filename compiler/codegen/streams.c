/* SPDX-License-Identifier: MIT
 *
 * What the lanes of a deal read once, past the cache next to them, and early enough: of an array by iterations, each
 * lane reads the element of its next iteration while it works at this one. So it does with what such an element is the
 * subscript of, which is then read one iteration earlier still, unless the kernel writes that array. Not what a choice
 * reads: where it is not chosen, it need not exist. */
#include <string.h>

#include "codegen/codegen_private.h"
#include "codegen/streams.h"

bool is_stream_of(const struct emit *e, const struct stream *stream, const struct mark *deal)
{
	return stream->kernel == e->n_kernels && stream->deal == deal;
}

/* The number of the deal's stream; -1: there is none. */
static int find_stream(const struct emit *e, const char *array, int by)
{
	for (int i = 0; i < e->streams.n; i++) {
		const struct stream *stream = &e->streams.items[i];

		if (is_stream_of(e, stream, e->deal->mark) && stream->by == by && !strcmp(stream->array, array))
			return i;
	}
	return -1;
}

/* The variable that has the element; NULL when the kernel is printed first, and it is noted, and where it is not read
 * ahead. */
static const char *element_now(struct emit *e, const struct array *array, int by)
{
	const int i = find_stream(e, array->c_name, by);

	if (i >= 0)
		return e->streams.items[i].now;
	vec_push(e->arena, &e->streams, ((struct stream) { .deal = e->deal->mark, .array = array->c_name, .by = by,
							   .slot = e->layout->slot_of[array->number],
							   .kernel = e->n_kernels }));
	return NULL;
}

/* Of an element of an array, its index; NULL: it is none. */
static struct k_expr *index_of(const struct k_expr *element, const char *array)
{
	const struct k_expr *of = element->kind == KE_LOAD ? element->args.items[0] : NULL;

	return of && of->kind == KE_NAME && !strcmp(of->text, array) ? element->args.items[1] : NULL;
}

/* The stream whose elements are the subscripts of what is read; -1: none is. */
static int subscripts_of(struct emit *e, const struct k_expr *index)
{
	const struct binding *binding = index && index->kind == KE_NAME ? binding_of(e, index->text) : NULL;
	const char *at = binding ? affine_only_name(&binding->subscript) : NULL;

	if (!at || strcmp(at, e->deal->variable) != 0)
		return -1;
	(void) element_now(e, binding->array, -1);
	return find_stream(e, binding->array->c_name, -1);
}

static struct k_expr *read_once(struct emit *e, struct k_expr *element)
{
	return k_call(e->arena, "PMG_ONCE", 1, element);
}

struct k_expr *deal_read(struct emit *e, const struct access *access, struct k_expr *element)
{
	const struct array *array = access->array;
	struct k_expr *index;
	const char *now = NULL;
	int by;

	if (!e->deal || e->deal->in_vectors || array_is_local(array))
		return element;
	if (e->is_chosen)
		return read_once(e, element);
	index = index_of(element, array->c_name);
	by = subscripts_of(e, index);
	if (by >= 0 || (index && index->kind == KE_NAME && !strcmp(index->text, e->deal->variable)))
		now = element_now(e, array, by);
	if (now && by >= 0)
		return k_call(e->arena, "PMG_READ_AT", 2, k_name(e->arena, now), index);
	return now ? k_name(e->arena, now) : read_once(e, element);
}

void streams_settle(struct emit *e)
{
	for (int i = 0; i < e->streams.n; i++) {
		struct stream *stream = &e->streams.items[i];

		if (stream->kernel != e->n_kernels)
			continue;
		stream->is_ahead = stream->by < 0 || (stream->slot >= 0 && !e->is_written[stream->slot]);
		if (few_waits(e, stream))
			stream->is_ahead = false;
		if (stream->by >= 0 && stream->is_ahead)
			e->streams.items[stream->by].has_later = true;
	}
}

void streams_begin(struct emit *e, const struct mark *deal, const char *first, const char *end)
{
	for (int i = 0; i < e->streams.n; i++) {
		struct stream *stream = &e->streams.items[i];
		const char *array = stream->array;

		if (!is_stream_of(e, stream, deal) || !stream->is_ahead)
			continue;
		stream->ahead = names_declare(&e->names, arena_printf(e->arena, "%s_ahead", array));
		if (stream->by >= 0)
			quote(e->b, "auto %s = PMG_FIRST_AT(%s, %s, %s, %s);", stream->ahead, array,
			     e->streams.items[stream->by].ahead, first, end);
		else
			quote(e->b, "auto %s = PMG_FIRST(%s, %s, %s);", stream->ahead, array, first, end);
		if (!stream->has_later)
			continue;
		stream->later = names_declare(&e->names, arena_printf(e->arena, "%s_later", array));
		quote(e->b, "auto %s = %s;", stream->later, stream->ahead);
		quote(e->b, "PMG_NEXT(%s, %s, %s, %s);", stream->later, array, first, end);
	}
}

void streams_go_on(struct emit *e, const char *first, const char *end)
{
	for (int i = 0; i < e->streams.n; i++) {
		struct stream *stream = &e->streams.items[i];
		const char *array = stream->array;

		if (!is_stream_of(e, stream, e->deal->mark) || !stream->is_ahead)
			continue;
		stream->now = names_declare(&e->names, arena_printf(e->arena, "%s_now", array));
		quote(e->b, "const auto %s = %s;", stream->now, stream->ahead);
		if (stream->by >= 0) {
			quote(e->b, "PMG_NEXT_AT(%s, %s, %s, %s, %s);", stream->ahead, array,
			     e->streams.items[stream->by].ahead, first, end);
		} else if (stream->has_later) {
			quote(e->b, "%s = %s;", stream->ahead, stream->later);
			quote(e->b, "PMG_NEXT(%s, %s, %s + pmg_team, %s);", stream->later, array, first, end);
		} else {
			quote(e->b, "PMG_NEXT(%s, %s, %s, %s);", stream->ahead, array, first, end);
		}
	}
}

void streams_end(struct emit *e, int start)
{
	for (int i = 0; i < e->streams.n; i++) {
		const struct stream *stream = &e->streams.items[i];

		if (is_stream_of(e, stream, e->deal->mark) && stream->is_ahead &&
		    !mentions_from(block_here(e), start, stream->now))
			quote(e->b, "(void) %s;", stream->now);
	}
}
