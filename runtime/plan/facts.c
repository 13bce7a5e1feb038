/* SPDX-License-Identifier: MIT
 *
 * What must be read to be known: the declared facts of index arrays, that a bool is 0 or 1, and on demand
 * that floating-point inputs are finite. All in O(n); the first violation in row-major order is reported,
 * whatever the number of threads. The values are those that the kernel will see, a tree being still local to
 * its segments.
 *
 * Ranges are checked before uniqueness, whose table of bits they bound. */
#include "plan/plan.h"
#include "words.h"

#include <string.h>

struct values {
	struct plan *plan;
	int32_t number;
	const pmg_array_desc *array;
	const void *data;
	const int64_t *index;           /* data of an index array */
	int64_t n, limit;
	int threads;
	bool is_elsewhere;      /* on a device: nothing is read */
};

static pmg_context *context_of(const struct values *values)
{
	return values->plan->context;
}

/* The first i in 0..n for which `condition` holds, else n. */
#define FIND_FIRST(values, found, condition) \
	int64_t found = (values)->n; \
	PARALLEL((values)->threads, (values)->n, reduction(min : found)) \
	for (int64_t i = 0; i < (values)->n; i++) \
		found = (condition) && i < found ? i : found

static const char *position_text(const struct plan *plan, const pmg_array_desc *array, int64_t position,
				 char *text)
{
	int64_t at[PMG_MAX_RANK];

	if (array->role == PMG_INSPECTED)
		return list_text(text, 1, &position);
	for (int32_t d = array->rank - 1; d >= 0; d--) {
		int64_t extent = plan->extents[array->first_extent + d];

		at[d] = d > 0 && extent > 0 ? position % extent : position;
		position = d > 0 && extent > 0 ? position / extent : position;
	}
	return list_text(text, array->rank, at);
}

pmg_status index_fail(const struct plan *plan, pmg_status status, int32_t number, int64_t position,
		      int64_t value)
{
	const pmg_array_desc *array = &plan->desc->arrays[number];
	char text[LIST_TEXT_SIZE];
	long long limit;
	bool is_number;

	position_text(plan, array, position, text);
	if (!array_has_limit(array))
		return pmg_fail(plan->context, status,
				"array '%s' holds %lld at %s, which is out of range (%s)",
				array->name, (long long) value, text, array->place);
	limit = plan->extents[array->first_extent + array->rank];
	is_number = strspn(array->limit.text, "0123456789") == strlen(array->limit.text);
	return pmg_fail(plan->context, status,
			"array '%s' holds %lld at %s, which is not %sin 0..%lld (%s%s%s)", array->name,
			(long long) value, text, array->facts & PMG_FACT_TREE ? "-1 or " : "", limit,
			is_number ? "" : array->limit.text, is_number ? "" : ", ",
			array->place);
}

/* "array 'off' holds 3 at [4], but `reason` (life.pmg:5)" */
static pmg_status fact_fail(const struct values *values, int64_t position, const char *reason)
{
	char text[LIST_TEXT_SIZE];

	return pmg_fail(context_of(values), PMG_BAD_DATA, "array '%s' holds %lld at %s, but %s (%s)",
			values->array->name, (long long) values->index[position],
			position_text(values->plan, values->array, position, text), reason,
			values->array->place);
}

static pmg_status index_check(const struct values *values)
{
	const int64_t lowest = (values->array->facts & PMG_FACT_TREE) != 0 ? -1 : 0;
	FIND_FIRST(values, found, values->index[i] < lowest || values->index[i] >= values->limit);

	if (found == values->n)
		return PMG_OK;
	return index_fail(values->plan, PMG_BAD_DATA, values->number, found, values->index[found]);
}

/* Of an array that is inspected as it lies. */
static pmg_status elements_check(const struct values *values)
{
	const struct elements elements = elements_of(&values->plan->bindings[values->number].buffer);
	int64_t found = values->n, value;

	PARALLEL(values->threads, values->n, reduction(min : found))
	for (int64_t first = 0; first < values->n; first += BLOCK) {
		const int64_t n = block_size(first, values->n);
		int64_t block[BLOCK], i = 0;

		elements_read(&elements, first, n, block);
		while (i < n && 0 <= block[i] && block[i] < values->limit)
			i++;
		found = i < n && first + i < found ? first + i : found;
	}
	if (found == values->n)
		return PMG_OK;
	elements_read(&elements, found, 1, &value);
	return index_fail(values->plan, PMG_BAD_DATA, values->number, found, value);
}

static pmg_status order_check(const struct values *values, const char *what)
{
	char text[LIST_TEXT_SIZE];
	FIND_FIRST(values, found, i > 0 && values->index[i] < values->index[i - 1]);

	if (found == values->n)
		return PMG_OK;
	return pmg_fail(context_of(values), PMG_BAD_DATA,
			"array '%s' holds %lld at %s after %lld, but %s (%s)",
			values->array->name, (long long) values->index[found],
			position_text(values->plan, values->array, found, text),
			(long long) values->index[found - 1], what, values->array->place);
}

static pmg_status offsets_check(const struct values *values)
{
	const pmg_array_desc *array = values->array;
	pmg_status status;

	if (values->n == 0)
		return pmg_fail(context_of(values), PMG_BAD_DATA,
				"array '%s' is empty, but offsets have at least one value (%s)", array->name,
				array->place);
	if (values->index[0] != 0)
		return fact_fail(values, 0, "offsets start at 0");
	status = order_check(values, "offsets never decrease");
	if (status == PMG_OK && values->index[values->n - 1] != values->limit)
		status = pmg_fail(context_of(values), PMG_BAD_DATA,
				  "array '%s' ends with %lld, but offsets end with %s = %lld (%s)",
				  array->name, (long long) values->index[values->n - 1], array->limit.text,
				  (long long) values->limit, array->place);
	return status;
}

static pmg_status tree_check(const struct values *values)
{
	FIND_FIRST(values, found, values->index[i] < -1 || values->index[i] >= i);

	if (found == values->n)
		return PMG_OK;
	return fact_fail(values, found, WORDS_OF_TREE);
}

/* The first node of segment `s` whose parent is out of place, else `n`. */
static int64_t segment_find(const struct values *values, const int64_t *offsets, int64_t s)
{
	for (int64_t k = offsets[s]; k < offsets[s + 1]; k++)
		if (values->index[k] < -1 || values->index[k] >= k - offsets[s])
			return k;
	return values->n;
}

static pmg_status segmented_tree_check(const struct values *values)
{
	const struct plan *plan = values->plan;
	const pmg_array_desc *segments = &plan->desc->arrays[values->array->segments];
	const int64_t *offsets = plan->kernel.data[values->array->segments];
	const int64_t n_segments = array_elements(segments, plan->extents) - 1;
	int64_t found = values->n;

	if (offsets[n_segments] != values->n)
		return pmg_fail(plan->context, PMG_BAD_DATA,
				"array '%s' ends with %lld, but array '%s' has %lld nodes (%s)",
				segments->name, (long long) offsets[n_segments], values->array->name,
				(long long) values->n, segments->place);
	PARALLEL(values->threads, values->n, reduction(min : found))
	for (int64_t s = 0; s < n_segments; s++) {
		int64_t here = segment_find(values, offsets, s);

		found = here < found ? here : found;
	}
	if (found == values->n)
		return PMG_OK;
	return fact_fail(values, found, WORDS_OF_LOCAL_TREE);
}

static pmg_status duplicate_fail(const struct values *values, int64_t position)
{
	char first[LIST_TEXT_SIZE], second[LIST_TEXT_SIZE];
	int64_t earlier = 0;

	while (values->index[earlier] != values->index[position])
		earlier++;
	return pmg_fail(context_of(values), PMG_BAD_DATA,
			"array '%s' holds %lld at %s and at %s, but is declared unique (%s)",
			values->array->name, (long long) values->index[position],
			position_text(values->plan, values->array, earlier, first),
			position_text(values->plan, values->array, position, second), values->array->place);
}

static int64_t duplicate_find(const struct values *values, unsigned char *seen)
{
	for (int64_t i = 0; i < values->n; i++) {
		const int64_t v = values->index[i];
		const unsigned bit = 1u << (v & 7);

		if (v < 0)
			continue;
		if ((seen[v >> 3] & bit) != 0)
			return i;
		seen[v >> 3] = (unsigned char) (seen[v >> 3] | bit);
	}
	return values->n;
}

static pmg_status unique_check(const struct values *values)
{
	const int64_t bound = array_has_limit(values->array) ? values->limit : values->n;
	const int64_t bytes = bound / 8 + 1;
	unsigned char *seen = plan_allocate(values->plan, bytes);
	int64_t found;

	if (!seen)
		return PMG_NO_RESOURCES;
	memset(seen, 0, (size_t) bytes);
	found = duplicate_find(values, seen);
	plan_release(values->plan, seen, bytes);
	return found == values->n ? PMG_OK : duplicate_fail(values, found);
}

/* Equal values of a sorted array are neighbours: no table is needed. */
static pmg_status sorted_unique_check(const struct values *values)
{
	FIND_FIRST(values, found, i > 0 && values->index[i] == values->index[i - 1] && values->index[i] >= 0);

	return found == values->n ? PMG_OK : duplicate_fail(values, found);
}

static pmg_status facts_check(const struct values *values)
{
	const uint32_t facts = values->array->facts;
	pmg_status status = PMG_OK;

	if ((facts & PMG_FACT_INDEX) != 0)
		status = index_check(values);
	if (status == PMG_OK && (facts & PMG_FACT_OFFSETS) != 0)
		status = offsets_check(values);
	if (status == PMG_OK && (facts & PMG_FACT_SORTED) != 0)
		status = order_check(values, "is declared sorted");
	if (status == PMG_OK && (facts & PMG_FACT_TREE) != 0)
		status = array_is_rebased(values->array) ? segmented_tree_check(values) : tree_check(values);
	if (status == PMG_OK && (facts & PMG_FACT_UNIQUE) != 0)
		status = (facts & PMG_FACT_SORTED) != 0 ? sorted_unique_check(values) : unique_check(values);
	return status;
}

static pmg_status bool_check(const struct values *values)
{
	const unsigned char *bytes = values->data;
	char text[LIST_TEXT_SIZE];
	FIND_FIRST(values, found, bytes[i] > 1);

	if (found == values->n)
		return PMG_OK;
	return pmg_fail(context_of(values), PMG_BAD_DATA,
			"array '%s' holds the byte %d at %s, but a bool is 0 or 1 (%s)", values->array->name,
			(int) bytes[found], position_text(values->plan, values->array, found, text),
			values->array->place);
}

pmg_status finite_fail(const struct plan *plan, pmg_status status, int32_t number, int64_t position, double value,
		       const char *when)
{
	const pmg_array_desc *array = &plan->desc->arrays[number];
	char text[LIST_TEXT_SIZE];

	return pmg_fail(plan->context, status,
			"array '%s' holds %s%s%s%s, but " WORDS_OF_FINITE " (%s)",
			array->name, isnan(value) ? "NaN" : value > 0 ? "infinity" : "-infinity",
			array->rank > 0 ? " at " : "",
			array->rank > 0 ? position_text(plan, array, position, text) : "", when, array->place);
}

/* An array that is used as it lies: where the value at a position in row-major order is. */
static int64_t element_of(const struct values *values, int64_t position)
{
	const int64_t m = values->plan->extents[values->array->first_extent], rows = values->n / m;
	const pmg_place *place = &values->plan->places[values->number];
	const int64_t lanes = values->array->lanes, first = position / rows;

	return first / lanes * place->block + first % lanes * place->lane + position % rows * place->row;
}

static bool lies_in_segments(const struct values *values)
{
	return values->array->lanes > 0 && values->array->segments >= 0 &&
	       values->plan->places[values->number].lane == 1;
}

static const struct segment_list *list_of(const struct values *values)
{
	return &values->plan->bindings[values->array->segments].list;
}

static double value_at(const struct values *values, int64_t i)
{
	if (lies_in_segments(values))
		i = segments_place(list_of(values), values->array->lanes, i);
	else if (values->array->lanes > 0 && values->array->segments < 0)
		i = element_of(values, i);
	if (values->array->storage == PMG_AS_F64TOP)
		return pmg_f64_of_top(((const uint32_t *) values->data)[i]);
	if (array_kept_type(values->array) == PMG_F32)
		return (double) ((const float *) values->data)[i];
	return ((const double *) values->data)[i];
}

/* The first value that is not finite; n if all are. */
static int64_t first_infinite(const struct values *values)
{
	if (lies_in_segments(values))
		return segments_first_infinite(list_of(values), values->array->lanes, values->data,
					       values->array->type);
	if (values->array->lanes > 0 && values->array->segments < 0) {
		FIND_FIRST(values, found, !isfinite(value_at(values, i)));

		return found;
	} else if (values->array->storage == PMG_AS_F64TOP) {
		const uint32_t *data = values->data;
		FIND_FIRST(values, found, !isfinite(pmg_f64_of_top(data[i])));

		return found;
	} else if (array_kept_type(values->array) == PMG_F32) {
		const float *data = values->data;
		FIND_FIRST(values, found, !isfinite(data[i]));

		return found;
	} else {
		const double *data = values->data;
		FIND_FIRST(values, found, !isfinite(data[i]));

		return found;
	}
}

static pmg_status finite_check(const struct values *values)
{
	const int64_t found = first_infinite(values);

	return found == values->n ? PMG_OK : finite_fail(values->plan, PMG_BAD_DATA, values->number, found,
							 value_at(values, found), "");
}

static bool is_float(const pmg_array_desc *array)
{
	return array->type == PMG_F32 || array->type == PMG_F64;
}

static struct values values_of(struct plan *plan, int32_t number)
{
	const pmg_array_desc *array = &plan->desc->arrays[number];

	return (struct values) {
		.plan = plan, .number = number, .array = array,
		.data = plan->kernel.data[number],
		.index = array->type == PMG_I64 ? plan->kernel.data[number] : NULL,
		.n = array_elements(array, plan->extents),
		.limit = array_has_limit(array) ? plan->extents[array->first_extent + array->rank] : 0,
		.threads = plan->kernel.threads,
		.is_elsewhere = plan->bindings[number].is_borrowed && plan->bindings[number].buffer.device != PMG_HOST
	};
}

bool pmg_is_finite(pmg_plan *handle, int32_t number)
{
	struct plan *plan = plan_of(handle);
	struct binding *binding = &plan->bindings[number];
	const struct values values = values_of(plan, number);

	if (!binding->is_finite_known) {
		binding->is_finite = is_float(values.array) && !values.is_elsewhere &&
				     (plan->check_finite || first_infinite(&values) == values.n);
		binding->is_finite_known = values.array->is_fixed;
	}
	return binding->is_finite;
}

/* 0, or NaN where one is not finite: sums that do not wait for each other. */
enum { N_PROBES = 8 };
#define PROBE(type, data, first, n, probe) \
	do { \
		const type *at = (const type *) (data) + (first); \
		type sums[N_PROBES] = { 0 }; \
		int64_t i = 0; \
		for (; i + N_PROBES <= (n); i += N_PROBES) \
			for (int k = 0; k < N_PROBES; k++) \
				sums[k] += at[i + k] - at[i + k]; \
		for (; i < (n); i++) \
			sums[0] += at[i] - at[i]; \
		for (int k = 0; k < N_PROBES; k++) \
			(probe) += (double) sums[k]; \
	} while (0)

/* Of values that lie one after the other; false: perhaps not. */
static bool are_surely_finite(const struct values *values)
{
	double probe = 0;

	if (values->array->lanes > 0 || values->array->storage == PMG_AS_F64TOP)
		return false;
	PARALLEL(values->threads, values->n, reduction(+ : probe))
	for (int64_t first = 0; first < values->n; first += BLOCK)
		if (array_kept_type(values->array) == PMG_F32)
			PROBE(float, values->data, first, block_size(first, values->n), probe);
		else
			PROBE(double, values->data, first, block_size(first, values->n), probe);
	return probe == 0;
}

bool values_are_finite(struct plan *plan, int32_t number, const void *data, int64_t *position, double *value)
{
	struct values values = values_of(plan, number);

	values.data = data;
	if (are_surely_finite(&values))
		return true;
	*position = first_infinite(&values);
	if (*position < values.n)
		*value = value_at(&values, *position);
	return *position == values.n;
}

bool pmg_has_values(pmg_plan *handle, int32_t number, const int64_t *expected, int64_t n)
{
	struct plan *plan = plan_of(handle);
	struct binding *binding = &plan->bindings[number];
	const struct values values = values_of(plan, number);

	if (!binding->has_values_known) {
		binding->has_values = values.index && values.n == n &&
				      !memcmp(values.index, expected, (size_t) n * sizeof *expected);
		binding->has_values_known = true;
	}
	return binding->has_values;
}

bool values_are_checked(const struct plan *plan, int32_t number)
{
	const pmg_array_desc *array = &plan->desc->arrays[number];

	return array->facts != 0 || array->type == PMG_BOOL || (plan->check_finite && is_float(array));
}

pmg_status values_check(struct plan *plan, int32_t number)
{
	const struct values values = values_of(plan, number);
	const pmg_array_desc *array = values.array;

	if (values.is_elsewhere || !values_are_checked(plan, number))
		return PMG_OK;
	if (array->facts != 0)
		return values.data || values.n == 0 ? facts_check(&values) : elements_check(&values);
	return array->type == PMG_BOOL ? bool_check(&values) : finite_check(&values);
}

bool pmg_is_nontemporal(const pmg_plan *handle, int32_t number)
{
	const struct plan *plan = (const struct plan *) handle;
	const pmg_array_desc *array = &plan->desc->arrays[number];
	const int64_t n = array_elements(array, plan->extents);

	return pmg_uses_nontemporal(n * (int64_t) pmg_type_size(array->type),
				    (uintptr_t) plan->kernel.data[number] % PMG_ALIGNMENT == 0);
}
