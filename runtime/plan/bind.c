/* SPDX-License-Identifier: MIT
 *
 * What can be said of an argument without reading its elements: that it is an array of the declared
 * type, rank and shape, that its memory can be addressed, that what is written shares memory with nothing
 * else. Every message names the array, what was given, what is asked for, and the place of the declaration.
 * */
#include "plan/plan.h"

bool argument_is_direct(const pmg_array_desc *array, const pmg_buffer *buffer)
{
	if (array->lanes > 0 && parts_are_found(array, buffer))
		return true;
	return !array_is_rebased(array) && buffer->data && buffer->type == array_kept_type(array)
		&& buffer->rank == array->rank && buffer_is_row_major(buffer);
}

bool argument_is_left_out(const pmg_array_desc *array, const pmg_buffer *buffer)
{
	return array->is_optional && !buffer->data && buffer->rank == 0;
}

bool argument_is_inspectable(const pmg_array_desc *array)
{
	return array->is_for_inspection && array->is_index && array->rank == 1
		&& (array->facts & ~(uint32_t) PMG_FACT_INDEX) == 0;
}

/* Where the argument is: the array of the description and the buffer given for it. */
struct argument {
	pmg_context *context;
	const pmg_pipeline_desc *desc;
	const pmg_array_desc *array;
	const pmg_buffer *buffer;
	const int64_t *extents;         /* of this array, then its limit */
};

static bool is_copied(const pmg_pipeline_desc *desc, const pmg_array_desc *array)
{
	bool is = false;

	for (int32_t r = 0; r < desc->n_restructurings; r++)
		for (int32_t c = 0; c < desc->restructurings[r].n_copies; c++) {
			const int32_t from = desc->restructurings[r].copies[c].from;

			is = is || (from >= 0 && &desc->arrays[from] == array);
		}
	return is;
}

static bool has_places(const pmg_pipeline_desc *desc, const pmg_array_desc *array)
{
	bool has = false;

	for (int32_t r = 0; r < desc->n_restructurings; r++) {
		const pmg_places_desc *places = desc->restructurings[r].places;

		has = has || (places && &desc->arrays[places->coordinates] == array);
	}
	return has;
}

/* Inspectors run on the host. */
static bool must_be_on_host(const pmg_pipeline_desc *desc, const pmg_array_desc *array)
{
	return array->is_index || array_kept_type(array) != array->type || is_copied(desc, array) ||
	       has_places(desc, array);
}

static pmg_status data_fail(const struct argument *argument)
{
	return pmg_fail(argument->context, PMG_BAD_DATA, "array '%s' has no data (%s)", argument->array->name,
			argument->array->place);
}

/* A buffer that nobody has set, as all its members say, is of a type and a rank, too. */
static pmg_status set_check(const struct argument *argument)
{
	return argument->buffer->data || argument->buffer->rank > 0 ? PMG_OK : data_fail(argument);
}

static pmg_status device_check(const struct argument *argument)
{
	const pmg_array_desc *array = argument->array;

	if (argument->buffer->device == PMG_HOST)
		return PMG_OK;
	if (argument->desc->device && must_be_on_host(argument->desc, array))
		return pmg_fail(argument->context, PMG_BAD_DATA,
				"array '%s' is on the device, but the plan reads it on the host (%s)", array->name,
				array->place);
	if (argument->desc->device && buffer_is_row_major(argument->buffer))
		return PMG_OK;
	if (argument->desc->device)
		return pmg_fail(argument->context, PMG_BAD_DATA,
				"array '%s' is on the device, and must be row-major there (%s)", array->name,
				array->place);
	return pmg_fail(argument->context, PMG_BAD_DATA,
			"array '%s' is not in the memory of the host, where pipeline '%s' runs (%s)",
			argument->array->name, argument->desc->name, argument->array->place);
}

/* An index array that is written must be able to hold each value of its range. */
static pmg_status range_check(const struct argument *argument)
{
	const pmg_array_desc *array = argument->array;
	const pmg_type type = argument->buffer->type;
	int64_t first = (array->facts & PMG_FACT_TREE) != 0 ? -1 : 0;
	int64_t last = array_has_limit(array) ? argument->extents[array->rank] : INT64_MAX;

	last -= (array->facts & PMG_FACT_INDEX) != 0 && last > 0 ? 1 : 0;
	if (!array_is_written(array) || (type_holds(type, first) && type_holds(type, last)))
		return PMG_OK;
	return pmg_fail(argument->context, PMG_BAD_DATA,
			"array '%s' is %s, which cannot hold all values from %lld to %lld (%s)", array->name,
			pmg_type_name(type), (long long) first, (long long) last, array->place);
}

static pmg_status type_check(const struct argument *argument)
{
	const pmg_array_desc *array = argument->array;
	const pmg_type type = argument->buffer->type;

	if (array->is_index && element_is_integer(type))
		return range_check(argument);
	if (!array->is_index && type == array->type)
		return PMG_OK;
	return pmg_fail(argument->context, PMG_BAD_DATA, "array '%s' is %s, but %s is asked for (%s)",
			array->name,
			pmg_type_name(type), array->is_index ? "an integer type" : pmg_type_name(array->type),
			array->place);
}

static bool is_in_blocks(const struct argument *argument)
{
	return !argument->array->is_index && argument->array->storage == PMG_AS_IT_IS &&
	       argument->buffer->device == PMG_HOST && buffer_is_in_blocks(argument->buffer, argument->array->rank);
}

static pmg_status rank_check(const struct argument *argument)
{
	if (argument->buffer->rank == argument->array->rank || is_in_blocks(argument))
		return PMG_OK;
	return pmg_fail(argument->context, PMG_BAD_DATA, "array '%s' has rank %d, but %d is asked for (%s)",
			argument->array->name, (int) argument->buffer->rank, (int) argument->array->rank,
			argument->array->place);
}

/* In blocks, which are as many as asked for, lanes stand behind the other dimensions. */
static pmg_status shape_fail(const struct argument *argument, int32_t dimension)
{
	const pmg_array_desc *array = argument->array;
	const pmg_extent *extent = &array->shape[dimension];
	const pmg_buffer *buffer = argument->buffer;
	int64_t shape[PMG_MAX_RANK];
	char given[LIST_TEXT_SIZE], wanted[LIST_TEXT_SIZE];

	for (int32_t d = 0; d < buffer->rank; d++)
		shape[d] = d < array->rank ? argument->extents[d] : buffer->shape[d];
	shape[0] = buffer->rank > array->rank ? buffer->shape[0] : shape[0];
	list_text(given, buffer->rank, buffer->shape);
	list_text(wanted, buffer->rank, shape);
	if (extent->param < 0 && !extent->is_general)
		return pmg_fail(argument->context, PMG_BAD_DATA,
				"array '%s' has shape %s, but the declaration (%s) asks for %s",
				array->name, given, array->place, wanted);
	return pmg_fail(argument->context, PMG_BAD_DATA,
			"array '%s' has shape %s, but %s = %lld (%s) asks for %s", array->name, given,
			extent->text, (long long) argument->extents[dimension], array->place, wanted);
}

/* Of an array in blocks, the number of blocks stands for the first dimension. */
static pmg_status blocks_check(const struct argument *argument)
{
	const int32_t rank = argument->array->rank;
	const int64_t block = argument->buffer->shape[rank], n = argument->extents[0];
	const int64_t n_blocks = n / block + (n % block != 0);
	char given[LIST_TEXT_SIZE];

	if (argument->buffer->shape[0] == n_blocks)
		return PMG_OK;
	list_text(given, rank + 1, argument->buffer->shape);
	return pmg_fail(argument->context, PMG_BAD_DATA,
			"array '%s' has shape %s, blocks of %lld, but %s = %lld (%s) needs %lld of them",
			argument->array->name, given, (long long) block, argument->array->shape[0].text, (long long) n,
			argument->array->place, (long long) n_blocks);
}

/* How many rows blocks of segments have is known when these are listed (argument_segments). */
static pmg_status shape_check(const struct argument *argument)
{
	const bool has_blocks = is_in_blocks(argument);
	pmg_status status;

	if (has_blocks && is_in_segments(argument->desc, argument->array, argument->buffer))
		return PMG_OK;
	status = has_blocks ? blocks_check(argument) : PMG_OK;
	if (status != PMG_OK)
		return status;
	for (int32_t d = has_blocks; d < argument->array->rank; d++)
		if (argument->buffer->shape[d] != argument->extents[d])
			return shape_fail(argument, d);
	return PMG_OK;
}

static pmg_status memory_check(const struct argument *argument)
{
	const pmg_array_desc *array = argument->array;

	if (buffer_lacks_data(argument->buffer))
		return data_fail(argument);
	if (!buffer_is_addressable(argument->buffer))
		return pmg_fail(argument->context, PMG_BAD_DATA,
				"array '%s' has strides that lead out of memory (%s)", array->name,
				array->place);
	if (array_is_written(array) && !buffer_is_injective(argument->buffer))
		return pmg_fail(argument->context, PMG_BAD_DATA,
				"array '%s' is written, but its strides make elements overlap (%s)",
				array->name, array->place);
	return PMG_OK;
}

pmg_status argument_check(pmg_context *context, const pmg_pipeline_desc *desc, int32_t number,
			  const void *args, const int64_t *extents)
{
	static pmg_status (*const checks[])(const struct argument *) = {
		set_check, device_check, type_check, rank_check, shape_check, memory_check
	};
	const pmg_array_desc *array = &desc->arrays[number];
	const struct argument argument = {
		context, desc, array, array_argument(array, args), extents + array->first_extent
	};
	pmg_status status = PMG_OK;

	if (argument_is_left_out(array, argument.buffer))
		return PMG_OK;
	for (size_t i = 0; i < sizeof checks / sizeof checks[0] && status == PMG_OK; i++)
		status = checks[i](&argument);
	return status;
}

/* Whether the caller's memory of the array is used during an execution; what a plan has copied, or inspected once for
 * all, is not. */
static bool is_in_use(const struct plan *plan, int32_t number)
{
	const pmg_array_desc *array = &plan->desc->arrays[number];

	if (array_is_internal(array) || array->is_for_inspection)
		return false;
	return !array->is_fixed || plan->bindings[number].is_borrowed;
}

static pmg_status pair_check(const struct plan *plan, int32_t one, int32_t other)
{
	const pmg_array_desc *arrays = plan->desc->arrays;
	const int32_t written = array_is_written(&arrays[other]) ? other : one;

	if (!is_in_use(plan, one) || !is_in_use(plan, other) || !array_is_written(&arrays[written]))
		return PMG_OK;
	if (!buffers_overlap(&plan->bindings[one].buffer, &plan->bindings[other].buffer))
		return PMG_OK;
	return pmg_fail(plan->context, PMG_BAD_DATA,
			"arrays '%s' and '%s' overlap in memory, but '%s' is written (%s)",
			arrays[one].name, arrays[other].name, arrays[written].name, arrays[written].place);
}

pmg_status aliasing_check(const struct plan *plan)
{
	pmg_status status = PMG_OK;

	for (int32_t one = 0; one < plan->desc->n_arrays && status == PMG_OK; one++)
		for (int32_t other = one + 1; other < plan->desc->n_arrays && status == PMG_OK; other++)
			status = pair_check(plan, one, other);
	return status;
}
