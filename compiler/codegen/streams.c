/* SPDX-License-Identifier: MIT
 *
 * What the lanes of a warp-cooperative loop read once, around the first-level cache, and prefetch into registers: of an
 * array by iterations, each lane reads the element of its next iteration while it works at this one. It does the same
 * with what such an element is the subscript of, unless the kernel writes that array; the subscript is then read one
 * iteration earlier still. Operands of a choice are not prefetched: they exist only if they are chosen. */
#include <string.h>

#include "codegen/codegen_private.h"
#include "codegen/streams.h"

bool is_stream_of(const struct emit *e, const struct stream *stream, const struct mark *warp_loop)
{
	return stream->kernel == e->device.n_kernels && stream->warp_loop == warp_loop;
}

/* The number of the loop's stream; -1: there is none. */
static int find_stream(const struct emit *e, const char *array, int by)
{
	for (int i = 0; i < e->device.streams.n; i++) {
		const struct stream *stream = &e->device.streams.items[i];

		if (is_stream_of(e, stream, e->warp_loop->mark) && stream->by == by && !strcmp(stream->array, array))
			return i;
	}
	return -1;
}

/* The variable that has the element. NULL: the kernel is built for the first time, and it is noted, or it is not read
 * ahead. */
static const char *element_now(struct emit *e, const struct array *array, int by)
{
	const int i = find_stream(e, array->c_name, by);

	if (i >= 0)
		return e->device.streams.items[i].now;
	vec_push(e->arena, &e->device.streams, ((struct stream) { .warp_loop = e->warp_loop->mark,
								  .array = array->c_name,
							   .by = by,
							   .slot = e->layout->slot_of[array->number],
							   .kernel = e->device.n_kernels }));
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

	if (!at || strcmp(at, e->warp_loop->variable) != 0)
		return -1;
	(void) element_now(e, binding->array, -1);
	return find_stream(e, binding->array->c_name, -1);
}

static struct k_expr *read_once(struct emit *e, struct k_expr *element)
{
	return k_call(e->arena, "PMG_ONCE", 1, element);
}

struct k_expr *stream_read(struct emit *e, const struct access *access, struct k_expr *element)
{
	const struct array *array = access->array;
	struct k_expr *index;
	const char *now = NULL;
	int by;

	if (!e->warp_loop || e->warp_loop->in_vectors || array_is_local(array))
		return element;
	if (e->statement.is_chosen)
		return read_once(e, element);
	index = index_of(element, array->c_name);
	by = subscripts_of(e, index);
	if (by >= 0 || (index && index->kind == KE_NAME && !strcmp(index->text, e->warp_loop->variable)))
		now = element_now(e, array, by);
	if (now && by >= 0)
		return k_call(e->arena, "PMG_READ_AT", 2, k_name(e->arena, now), index);
	return now ? k_name(e->arena, now) : read_once(e, element);
}

void streams_resolve(struct emit *e)
{
	for (int i = 0; i < e->device.streams.n; i++) {
		struct stream *stream = &e->device.streams.items[i];

		if (stream->kernel != e->device.n_kernels)
			continue;
		stream->is_ahead = stream->by < 0 || (stream->slot >= 0 && !e->function.is_written[stream->slot]);
		if (sparse_waits(e, stream))
			stream->is_ahead = false;
		if (stream->by >= 0 && stream->is_ahead)
			e->device.streams.items[stream->by].has_later = true;
	}
}

/* The element of an iteration: PMG_FIRST(array, first, end), or that of a subscript. */
static struct k_expr *first_of(const struct emit *e, const struct stream *stream, struct k_expr *first,
			       struct k_expr *end)
{
	struct arena *a = e->arena;
	struct k_expr *array = k_name(a, stream->array);

	if (stream->by < 0)
		return K_CALL(a, "PMG_FIRST", array, first, end);
	return K_CALL(a, "PMG_FIRST_AT", array, k_name(a, e->device.streams.items[stream->by].ahead), first, end);
}

/* Sets a variable to the element of the iteration behind `first`. */
static struct k_expr *next_of(const struct emit *e, const struct stream *stream, const char *variable,
			      struct k_expr *first, struct k_expr *end)
{
	return K_CALL(e->arena, "PMG_NEXT", k_name(e->arena, variable), k_name(e->arena, stream->array), first, end);
}

static struct k_expr *next_at_of(const struct emit *e, const struct stream *stream, struct k_expr *first,
				 struct k_expr *end)
{
	return K_CALL(e->arena, "PMG_NEXT_AT", k_name(e->arena, stream->ahead), k_name(e->arena, stream->array),
		      k_name(e->arena, e->device.streams.items[stream->by].ahead), first, end);
}

void streams_begin(struct emit *e, const struct mark *warp_loop, struct k_expr *first, struct k_expr *end)
{
	for (int i = 0; i < e->device.streams.n; i++) {
		struct stream *stream = &e->device.streams.items[i];
		const char *array = stream->array;

		if (!is_stream_of(e, stream, warp_loop) || !stream->is_ahead)
			continue;
		stream->ahead = names_declare(&e->names, arena_printf(e->arena, "%s_ahead", array));
		k_var(e->b, k_scalar("auto"), stream->ahead, first_of(e, stream, first, end));
		if (!stream->has_later)
			continue;
		stream->later = names_declare(&e->names, arena_printf(e->arena, "%s_later", array));
		k_var(e->b, k_scalar("auto"), stream->later, k_name(e->arena, stream->ahead));
		k_do(e->b, next_of(e, stream, stream->later, first, end));
	}
}

/* What it has been reading for later is what it reads ahead now. */
static void move_on(struct emit *e, const struct stream *stream, struct k_expr *first, struct k_expr *end)
{
	struct k_expr *next = k_binary(e->arena, K_ADD, first, k_name(e->arena, "pmg_team"));

	k_set(e->b, k_name(e->arena, stream->ahead), k_name(e->arena, stream->later));
	k_do(e->b, next_of(e, stream, stream->later, next, end));
}

void streams_go_on(struct emit *e, const char *first, struct k_expr *end)
{
	for (int i = 0; i < e->device.streams.n; i++) {
		struct stream *stream = &e->device.streams.items[i];
		struct k_expr *here = k_name(e->arena, first);

		if (!is_stream_of(e, stream, e->warp_loop->mark) || !stream->is_ahead)
			continue;
		stream->now = names_declare(&e->names, arena_printf(e->arena, "%s_now", stream->array));
		k_const(e->b, k_scalar("auto"), stream->now, k_name(e->arena, stream->ahead));
		if (stream->by >= 0)
			k_do(e->b, next_at_of(e, stream, here, end));
		else if (stream->has_later)
			move_on(e, stream, here, end);
		else
			k_do(e->b, next_of(e, stream, stream->ahead, here, end));
	}
}

/* What is left of the statements from a number on without those that nothing reads. */
static struct k_block read_from(struct emit *e, int start)
{
	const struct k_replacing nothing = { 0 };
	const struct k_block *here = block_here(e);
	struct k_block rest = { 0 };

	for (int i = start; i < here->stmts.n; i++)
		vec_push(e->arena, &rest.stmts, k_copy_stmt(e->arena, here->stmts.items[i], &nothing));
	k_drop_unread(e->arena, &rest);
	return rest;
}

void streams_end(struct emit *e, int start)
{
	const struct k_block rest = read_from(e, start);

	for (int i = 0; i < e->device.streams.n; i++) {
		const struct stream *stream = &e->device.streams.items[i];

		if (is_stream_of(e, stream, e->warp_loop->mark) && stream->is_ahead &&
		    !k_mentions(&rest, stream->now))
			k_unused(e->b, stream->now);
	}
}
