/* SPDX-License-Identifier: MIT
 *
 * The states of a plan as a stream of bytes: a header that says whose they are, the extents, the states in
 * the order of the description, and a checksum (FNV-1a, 64 bits) of all before it. Numbers are in this
 * machine's byte order, which the header shows.
 *
 * Loading reads into memory of its own and replaces the states only when all of it has been found right. */
#include "plan/plan.h"

#include <string.h>

#define MAGIC "pmgstate"
#define FORMAT_VERSION 1        /* of the stream alone: states outlive the library that saved them */
#define BYTE_ORDER_MARK 0x01020304u
#define NAME_SIZE 256

struct header {
	char magic[8];
	uint32_t version, byte_order;
	int64_t n_extents, n_bytes;             /* of extents; of all states */
	int64_t first, next;                    /* of the progress */
	char name[NAME_SIZE];                   /* of the pipeline, cut, padded with zeros */
};

/* A stream and the checksum of what has gone through it. One of writer and reader is set. */
struct stream {
	const pmg_writer *writer;
	const pmg_reader *reader;
	uint64_t sum;
};

static uint64_t sum_add(uint64_t sum, const void *bytes, size_t n)
{
	const unsigned char *byte = bytes;

	for (size_t i = 0; i < n; i++)
		sum = (sum ^ byte[i]) * 0x100000001b3u;
	return sum;
}

static pmg_status stream_write(struct stream *stream, const void *bytes, size_t n)
{
	stream->sum = sum_add(stream->sum, bytes, n);
	return n == 0 ? PMG_OK : stream->writer->write(stream->writer->user, bytes, n);
}

static pmg_status stream_read(struct stream *stream, void *bytes, size_t n)
{
	pmg_status status = n == 0 ? PMG_OK : stream->reader->read(stream->reader->user, bytes, n);

	if (status == PMG_OK)
		stream->sum = sum_add(stream->sum, bytes, n);
	return status;
}

static size_t state_bytes(const struct plan *plan, int32_t number)
{
	const pmg_array_desc *array = &plan->desc->arrays[number];

	if (array->role != PMG_STATE)
		return 0;
	return (size_t) array_elements(array, plan->extents) * pmg_type_size(array->type);
}

static struct header header_of(const struct plan *plan)
{
	struct header header = {
		.version = FORMAT_VERSION, .byte_order = BYTE_ORDER_MARK,
		.n_extents = plan->desc->n_extents,
		.first = plan->progress.first, .next = plan->progress.next
	};
	size_t length = strlen(plan->desc->name);

	memcpy(header.magic, MAGIC, sizeof header.magic);
	memcpy(header.name, plan->desc->name, length < NAME_SIZE ? length : NAME_SIZE - 1);
	for (int32_t i = 0; i < plan->desc->n_arrays; i++)
		header.n_bytes += (int64_t) state_bytes(plan, i);
	return header;
}

/* ---- Saving ---- */

static pmg_status states_write(const struct plan *plan, struct stream *stream)
{
	const struct header header = header_of(plan);
	pmg_status status = stream_write(stream, &header, sizeof header);
	uint64_t sum;

	if (status == PMG_OK)
		status = stream_write(stream, plan->extents,
				      (size_t) plan->desc->n_extents * sizeof(int64_t));
	for (int32_t i = 0; i < plan->desc->n_arrays && status == PMG_OK; i++)
		status = stream_write(stream, plan->kernel.data[i], state_bytes(plan, i));
	sum = stream->sum;
	return status == PMG_OK ? stream_write(stream, &sum, sizeof sum) : status;
}

/* Of a plan with a device: to the host, or back. */
static pmg_status states_move(struct plan *plan, bool to_host)
{
	const pmg_device_part *device = plan->desc->device;
	pmg_status status = PMG_OK;

	for (int32_t i = 0; device && i < plan->desc->n_arrays && status == PMG_OK; i++)
		if (state_bytes(plan, i) > 0)
			status = to_host ? device->load(&plan->kernel, i) : device->store(&plan->kernel, i);
	return status;
}

pmg_status pmg_plan_state_save(pmg_plan *handle, const pmg_writer *writer)
{
	struct stream stream = { .writer = writer, .sum = 0xcbf29ce484222325u };
	const struct plan *plan = plan_of_const(handle);
	pmg_status status;

	if (!plan)
		return PMG_BAD_CALL;
	if (!writer || !writer->write)
		return pmg_fail(plan->context, PMG_BAD_CALL, "saving a state needs a writer, not NULL");
	if (!plan->progress.has_state)
		return pmg_fail(plan->context, PMG_BAD_CALL, "pipeline '%s' has no state to save",
				plan->desc->name);
	status = states_move(plan_of(handle), true);
	if (status != PMG_OK)
		return status;
	status = states_write(plan, &stream);
	if (status != PMG_OK)
		return pmg_fail(plan->context, status, "the state of pipeline '%s' could not be written",
				plan->desc->name);
	return PMG_OK;
}

/* ---- Loading ---- */

static pmg_status read_fail(const struct plan *plan, pmg_status status)
{
	return pmg_fail(plan->context, status, "the state of pipeline '%s' could not be read",
			plan->desc->name);
}

static pmg_status sizes_fail(const struct plan *plan)
{
	return pmg_fail(plan->context, PMG_BAD_DATA, "the state of pipeline '%s' was saved for other sizes",
			plan->desc->name);
}

/* Names the dimension; a limit has none. */
static pmg_status extent_fail(const struct plan *plan, int32_t extent, int64_t saved)
{
	for (int32_t i = 0; i < plan->desc->n_arrays; i++) {
		const pmg_array_desc *array = &plan->desc->arrays[i];
		const int32_t at = extent - array->first_extent;

		if (at >= 0 && at < array->rank)
			return pmg_fail(plan->context, PMG_BAD_DATA,
					"the state of pipeline '%s' was saved for other sizes: dimension %d of '%s' "
					"was %lld, here it is %lld", plan->desc->name, (int) at, array->name,
					(long long) saved, (long long) plan->extents[extent]);
	}
	return sizes_fail(plan);
}

static pmg_status header_check(const struct plan *plan, const struct header *given)
{
	const struct header wanted = header_of(plan);

	if (memcmp(given->magic, wanted.magic, sizeof given->magic) != 0)
		return pmg_fail(plan->context, PMG_BAD_DATA, "this is not the saved state of a pipeline");
	if (given->byte_order != wanted.byte_order)
		return pmg_fail(plan->context, PMG_BAD_DATA,
				"the state was saved on a machine of another byte order");
	if (given->version != wanted.version)
		return pmg_fail(plan->context, PMG_BAD_DATA,
				"the state was saved in format %u, but this runtime has %u",
				(unsigned) given->version, (unsigned) wanted.version);
	if (memcmp(given->name, wanted.name, NAME_SIZE) != 0)
		return pmg_fail(plan->context, PMG_BAD_DATA,
				"the state was saved by pipeline '%.*s', but this is pipeline '%s'",
				NAME_SIZE - 1, given->name, plan->desc->name);
	if (given->n_extents != wanted.n_extents)
		return sizes_fail(plan);
	if (given->next < given->first)
		return pmg_fail(plan->context, PMG_BAD_DATA, "the saved state of pipeline '%s' is damaged",
				plan->desc->name);
	return PMG_OK;
}

/* Outputs are the caller's: one with a row for each iteration is longer where more of them are to come. Of an extent
 * that another array has, too, this does not hold. */
static bool extent_is_free(const pmg_pipeline_desc *desc, int32_t extent)
{
	bool is_rows = false;

	for (int32_t i = 0; i < desc->n_arrays; i++) {
		const pmg_array_desc *array = &desc->arrays[i];
		const int32_t at = extent - array->first_extent;

		if (array->role == PMG_OUT && array->rank > 0 && at == 0)
			is_rows = true;
		else if (at >= 0 && at < array->rank)
			return false;
	}
	return is_rows;
}

static pmg_status extents_check(const struct plan *plan, struct stream *stream, int64_t n_bytes)
{
	for (int32_t i = 0; i < plan->desc->n_extents; i++) {
		int64_t extent;
		pmg_status status = stream_read(stream, &extent, sizeof extent);

		if (status != PMG_OK)
			return read_fail(plan, status);
		if (extent != plan->extents[i] && !extent_is_free(plan->desc, i))
			return extent_fail(plan, i, extent);
	}
	return n_bytes == header_of(plan).n_bytes ? PMG_OK : sizes_fail(plan);
}

static pmg_status states_read(const struct plan *plan, struct stream *stream, void *states, int64_t n_bytes)
{
	pmg_status status = stream_read(stream, states, (size_t) n_bytes);
	const uint64_t wanted = stream->sum;
	uint64_t given = 0;

	if (status == PMG_OK)
		status = stream_read(stream, &given, sizeof given);
	if (status != PMG_OK)
		return read_fail(plan, status);
	if (given != wanted)
		return pmg_fail(plan->context, PMG_BAD_DATA, "the saved state of pipeline '%s' is damaged",
				plan->desc->name);
	return PMG_OK;
}

static void states_replace(struct plan *plan, const struct header *header, const char *states)
{
	for (int32_t i = 0; i < plan->desc->n_arrays; i++) {
		const size_t n = state_bytes(plan, i);

		if (n == 0)
			continue;
		memcpy(plan->kernel.data[i], states, n);
		states += n;
	}
	plan->progress = (struct progress) {
		.has_state = true, .first = header->first, .begin = header->next, .next = header->next
	};
}

static pmg_status states_load(struct plan *plan, struct stream *stream)
{
	struct header header;
	pmg_status status = stream_read(stream, &header, sizeof header);
	int64_t n_bytes;
	void *states;

	if (status != PMG_OK)
		return read_fail(plan, status);
	status = header_check(plan, &header);
	if (status == PMG_OK)
		status = extents_check(plan, stream, header.n_bytes);
	if (status != PMG_OK)
		return status;
	n_bytes = header.n_bytes > 0 ? header.n_bytes : 1;
	states = plan_allocate(plan, n_bytes);
	if (!states)
		return PMG_NO_RESOURCES;
	status = states_read(plan, stream, states, header.n_bytes);
	if (status == PMG_OK)
		states_replace(plan, &header, states);
	if (status == PMG_OK)
		status = states_move(plan, false);
	plan_release(plan, states, n_bytes);
	return status;
}

pmg_status pmg_plan_state_load(pmg_plan *handle, const pmg_reader *reader)
{
	struct stream stream = { .reader = reader, .sum = 0xcbf29ce484222325u };
	struct plan *plan = plan_of(handle);

	if (!plan)
		return PMG_BAD_CALL;
	if (!reader || !reader->read)
		return pmg_fail(plan->context, PMG_BAD_CALL, "loading a state needs a reader, not NULL");
	if (!plan->desc->has_loop)
		return pmg_fail(plan->context, PMG_BAD_CALL, "pipeline '%s' has no state to load",
				plan->desc->name);
	return states_load(plan, &stream);
}
