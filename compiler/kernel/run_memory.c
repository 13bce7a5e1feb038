/* SPDX-License-Identifier: MIT
 *
 * Memory of kernel programs: buffers of bytes, and for each element who has read and written it. Values are loaded and
 * stored in the type of the address; each element that they lie in is checked. A value that nobody has written may be
 * carried about, as lanes behind the end of a row are, but it decides nothing and goes to no result. */
#include "kernel/run_private.h"

#include <inttypes.h>
#include <string.h>

/* ---- buffers ---- */

enum { GARBAGE = 0xc5 };           /* as bytes of a number, not near zero */

static struct run_buffer *new_buffer(struct run *run, int64_t bytes, int unit)
{
	struct run_buffer *buffer = arena_new(run->arena, struct run_buffer);

	*buffer = (struct run_buffer) { .bytes = bytes, .unit = unit };
	buffer->cells = arena_new_array(run->arena, struct run_cell, bytes/unit + 1);
	return buffer;
}

/* One that is no more, of the same size, or NULL. */
static struct run_buffer *take_gone(struct run *run, int64_t bytes, int unit)
{
	for (struct run_buffer **at = &run->gone; *at; at = &(*at)->next) {
		struct run_buffer *buffer = *at;

		if (buffer->bytes != bytes || buffer->unit != unit)
			continue;
		*at = buffer->next;
		memset(buffer->cells, 0, (size_t) (bytes/unit + 1)*sizeof *buffer->cells);
		return buffer;
	}
	return NULL;
}

struct run_buffer *run_take_buffer(struct run *run, const char *name, int64_t bytes, int unit)
{
	struct run_buffer *buffer = take_gone(run, bytes, unit);

	if (!buffer) {
		buffer = new_buffer(run, bytes, unit);
		buffer->base = arena_alloc(run->arena, (size_t) bytes + 1);
	}
	memset(buffer->base, GARBAGE, (size_t) bytes);
	buffer->name = name;
	buffer->owner = run->fiber;
	buffer->is_gone = false;
	return buffer;
}

void run_drop_buffer(struct run *run, struct run_buffer *buffer)
{
	buffer->is_gone = true;
	buffer->next = run->gone;
	run->gone = buffer;
}

static struct run_buffer *plan_buffer(struct run *run, const struct k_run_array *array)
{
	for (struct run_buffer *buffer = run->buffers; buffer; buffer = buffer->next)
		if (buffer->base == array->data && buffer->bytes == array->bytes)
			return buffer;
	return NULL;
}

static struct run_buffer *new_plan_buffer(struct run *run, const struct k_run_array *array)
{
	struct run_buffer *buffer = new_buffer(run, array->bytes, type_size(array->type));

	buffer->base = array->data;
	buffer->is_const = array->is_const;
	buffer->is_result = array->is_result;
	for (int64_t i = 0; array->is_set && i < array->bytes/buffer->unit; i++)
		buffer->cells[i].is_set = true;
	buffer->next = run->buffers;
	run->buffers = buffer;
	return buffer;
}

struct run_value run_plan_data(struct run *run, int64_t number)
{
	struct run_value value = { .kind = RUN_ADDRESS, .element = RUN_VOID };
	struct k_run_array array;

	if (!run->host->array(run->host->user, number, &array)) {
		run_fault(run, "the plan has no array %" PRId64, number);
		return value;
	}
	if (array.data)
		value.buffer = plan_buffer(run, &array);
	if (array.data && !value.buffer)
		value.buffer = new_plan_buffer(run, &array);
	return value;
}

/* ---- who touches an element ---- */

static bool differs(int64_t instance, int64_t but)
{
	return instance && instance != but;
}

static bool is_read_beside(const struct run *run, const struct run_cell *cell, bool owns, int64_t but)
{
	const struct run_node *node = run->fiber->node;

	return differs(run_concurrent_in(cell->reader, cell->reader_owns, node, owns), but) ||
	       differs(run_concurrent_in(cell->other_reader, cell->other_owns, node, owns), but);
}

static void note_reader(const struct run *run, struct run_cell *cell, bool owns)
{
	if (cell->reader == run->fiber->node && cell->reader_owns == owns)
		return;
	cell->other_reader = cell->reader;
	cell->other_owns = cell->reader_owns;
	cell->reader = run->fiber->node;
	cell->reader_owns = owns;
}

const char *run_touch(const struct run *run, struct run_cell *cell, enum run_access access, bool owns, int64_t but)
{
	const bool are_atomic = access == RUN_WRITE_ATOMIC && cell->is_atomic;
	const char *beside = NULL;

	if (!are_atomic && differs(run_concurrent_in(cell->writer, cell->writer_owns, run->fiber->node, owns), but))
		beside = "writes";
	if (access == RUN_READ) {
		note_reader(run, cell, owns);
		return beside;
	}
	if (is_read_beside(run, cell, owns, but))
		beside = "reads";
	cell->writer = run->fiber->node;
	cell->writer_owns = owns;
	cell->is_atomic = access == RUN_WRITE_ATOMIC;
	return beside;
}

/* ---- addresses ---- */

struct run_value run_at(struct run *run, struct run_value at, int64_t n)
{
	at.integer += n*run_element_bytes(run, at.element);
	return at;
}

struct run_value run_moved(struct run *run, struct run_value at, const struct run_value *n)
{
	at.is_own |= n->is_own;
	return run_at(run, at, run_integer(run, n));
}

static bool has_owner(const struct run *run, const struct run_value *at)
{
	return at->is_own || (at->buffer->owner && at->buffer->owner == run->fiber);
}

static const char *buffer_name(const struct run_buffer *buffer)
{
	return buffer->name ? buffer->name : "an array of the plan";
}

static const char *place_text(struct run *run, const struct run_value *at, const char *verb)
{
	const struct run_buffer *buffer = at->buffer;

	return arena_printf(run->arena, "%s element %" PRId64 " of %s", verb, at->integer/buffer->unit,
			    buffer_name(buffer));
}

/* false, after telling why, unless there are so many bytes. */
static bool is_inside(struct run *run, const struct run_value *at, int64_t bytes, const char *verb)
{
	if (at->kind != RUN_ADDRESS || !at->buffer)
		run_fault(run, "%s nothing: this is no address", verb);
	else if (at->buffer->is_gone)
		run_fault(run, "%s '%s', which is no more", verb, at->buffer->name);
	else if (at->integer < 0 || at->integer + bytes > at->buffer->bytes)
		run_fault(run, "%s element %" PRId64 " of %" PRId64 " of %s", verb, at->integer/at->buffer->unit,
			  at->buffer->bytes/at->buffer->unit, buffer_name(at->buffer));
	return !run->has_stopped;
}

static void tell_race(struct run *run, const struct run_value *at, const char *verb, const char *beside)
{
	if (beside && !run->has_stopped)
		run_fault(run, "%s, which another iteration or thread %s with nothing between them",
			  place_text(run, at, verb), beside);
}

/* Do threads here touch the memory as one another's updates come? */
static bool is_reduced(const struct run *run, const struct run_buffer *buffer)
{
	return run->fiber->team && run->fiber->team->reduced == buffer;
}

/* Whether all cells of these bytes are set; each is read. */
static bool cells_read(struct run *run, const struct run_value *at, int64_t bytes)
{
	struct run_buffer *buffer = at->buffer;
	const int64_t end = (at->integer + bytes - 1)/buffer->unit;
	const bool owns = has_owner(run, at);
	bool are_set = true;

	for (int64_t i = at->integer/buffer->unit; i <= end && !run->has_stopped; i++) {
		are_set &= buffer->cells[i].is_set;
		if (is_reduced(run, buffer))
			continue;
		tell_race(run, at, "reads", run_touch(run, &buffer->cells[i], RUN_READ, owns, 0));
	}
	return are_set;
}

static void cells_written(struct run *run, const struct run_value *at, int64_t bytes, bool is_set, bool is_atomic)
{
	const enum run_access access = is_atomic ? RUN_WRITE_ATOMIC : RUN_WRITE;
	struct run_buffer *buffer = at->buffer;
	const int64_t end = (at->integer + bytes - 1)/buffer->unit;
	const bool owns = has_owner(run, at);

	for (int64_t i = at->integer/buffer->unit; i <= end && !run->has_stopped; i++) {
		buffer->cells[i].is_set = is_set;
		if (is_reduced(run, buffer))
			continue;
		tell_race(run, at, "writes", run_touch(run, &buffer->cells[i], access, owns, 0));
	}
}

/* ---- loads ---- */

static int64_t loaded_integer(int element, const char *from)
{
	int64_t value = 0;
	bool is_negative, is_signed = element < TYPE_U8 || element > TYPE_BOOL;
	size_t size = element == RUN_U64 ? 8 : (size_t) type_size((enum scalar_type) element);

	memcpy(&value, from, size);
	is_negative = is_signed && size < 8 && value >> (8*size - 1) & 1;
	return is_negative ? value - ((int64_t) 1 << 8*size) : value;
}

static double loaded_real(int element, const char *from)
{
	double real = 0;
	float single = 0;

	if (element == TYPE_F64) {
		memcpy(&real, from, sizeof real);
		return real;
	}
	memcpy(&single, from, sizeof single);
	return (double) single;
}

static struct run_value load_vector(struct run *run, const struct run_value *at)
{
	struct run_value one = *at, value = run_filled(run, at->element, run_int(0));

	one.element = at->element == RUN_VECTOR_F32 ? TYPE_F32 : TYPE_F64;
	for (int i = 0; i < value.lanes && !run->has_stopped; i++) {
		struct run_value at_lane = run_at(run, one, i), lane = run_load(run, &at_lane, RUN_READ);

		value.lane[i] = lane.real;
		value.unset |= (uint32_t) lane.is_unset << i;
	}
	return value;
}

static bool is_set_at(const struct run_value *at)
{
	return at->buffer->cells[at->integer/at->buffer->unit].is_set;
}

struct run_value run_load(struct run *run, const struct run_value *at, enum run_access access)
{
	struct run_value value = run_int(0);
	int64_t bytes = run_element_bytes(run, at->element);

	if (run->has_stopped)
		return value;
	if (run_is_vector(at->element))
		return load_vector(run, at);
	if (!is_inside(run, at, bytes, "reads"))
		return value;
	if (at->element >= TYPE_N && at->element != RUN_U64) {
		run_unknown(run, "a load of this type");
		return value;
	}
	if (at->element == TYPE_F64 || at->element == TYPE_F32)
		value = run_of_element(at->element, loaded_real(at->element, at->buffer->base + at->integer), 0);
	else
		value = run_of_element(at->element, 0, loaded_integer(at->element, at->buffer->base + at->integer));
	value.is_unset = access == RUN_READ ? !cells_read(run, at, bytes) : !is_set_at(at);
	return value;
}

/* ---- stores ---- */

static void put(const struct run_value *value, int element, char *to)
{
	float single = (float) value->real;

	if (element == TYPE_F32)
		memcpy(to, &single, sizeof single);
	else if (element == TYPE_F64)
		memcpy(to, &value->real, sizeof value->real);
	else
		memcpy(to, &value->integer, element == RUN_U64 ? 8 : (size_t) type_size((enum scalar_type) element));
}

static bool may_store(struct run *run, const struct run_value *at, int64_t bytes)
{
	if (!is_inside(run, at, bytes, "writes"))
		return false;
	if (at->is_const || at->buffer->is_const)
		run_fault(run, "%s, which is const", place_text(run, at, "writes"));
	return !run->has_stopped;
}

/* Lanes of vectors may have no value wherever they go: those that do not exist have memory, too. */
static void store_one(struct run *run, const struct run_value *at, struct run_value value, bool is_unset,
		      bool is_atomic)
{
	const int64_t bytes = run_element_bytes(run, at->element);

	if (!may_store(run, at, bytes))
		return;
	if (at->element >= TYPE_N && at->element != RUN_U64) {
		run_unknown(run, "a store of this type");
		return;
	}
	value = run_converted(run, value, at->element);
	put(&value, at->element, at->buffer->base + at->integer);
	cells_written(run, at, bytes, !is_unset, is_atomic);
}

static void store_vector(struct run *run, const struct run_value *at, struct run_value value)
{
	struct run_value one = *at;

	value = run_converted(run, value, at->element);
	one.element = at->element == RUN_VECTOR_F32 ? TYPE_F32 : TYPE_F64;
	for (int i = 0; i < value.lanes && !run->has_stopped; i++) {
		struct run_value at_lane = run_at(run, one, i);
		struct run_value lane = run_of_element(one.element, value.lane[i], 0);

		store_one(run, &at_lane, lane, value.unset >> i & 1, false);
	}
}

void run_store(struct run *run, const struct run_value *at, struct run_value value, bool is_atomic)
{
	if (run->has_stopped)
		return;
	if (run_is_vector(at->element))
		store_vector(run, at, value);
	else if (value.is_unset && at->buffer && at->buffer->is_result)
		run_fault(run, "%s: its value comes from what was never written", place_text(run, at, "writes"));
	else
		store_one(run, at, value, value.is_unset, is_atomic);
}

struct run_value run_load_at(struct run *run, struct run_value array, int64_t i)
{
	array = run_at(run, array, i);
	return run_load(run, &array, RUN_READ);
}

int64_t run_number_at(struct run *run, const struct run_value *numbers, int64_t i)
{
	const struct run_value value = run_load_at(run, *numbers, i);

	return run_integer(run, &value);
}

void run_store_at(struct run *run, struct run_value array, int64_t i, struct run_value value)
{
	array = run_at(run, array, i);
	run_store(run, &array, value, false);
}

struct run_value run_update(struct run *run, const struct run_value *at, enum run_combining how, struct run_value value)
{
	const struct run_value before = run_load(run, at, RUN_WRITE_ATOMIC);

	if (run->has_stopped)
		return before;
	value = run_combined(run, how, before, value);
	run_store(run, at, value, true);
	return value;
}

void run_copy(const struct run_value *to, const struct run_value *from)
{
	const int64_t bytes = to->buffer && from->buffer ? from->buffer->bytes : 0;

	if (!bytes || to->buffer->bytes < bytes)
		return;
	memcpy(to->buffer->base, from->buffer->base, (size_t) bytes);
	for (int64_t i = 0; i < bytes/from->buffer->unit; i++)
		to->buffer->cells[i].is_set = from->buffer->cells[i].is_set;
}
