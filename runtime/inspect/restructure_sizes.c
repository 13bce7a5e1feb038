/* SPDX-License-Identifier: MIT
 *
 * What can be said of restructurings before they are made: the arrays that they make, whether the description is
 * consistent, and the sizes that the parameters tell. */
#include "inspect/restructure.h"

/* ---- The arrays that a restructuring makes ---- */

enum { N_SINGLE = 7 };

int32_t n_made(const pmg_restructure_desc *restructure)
{
	return N_SINGLE + restructure->n_copies + restructure->n_renumberings;
}

struct made made_array(const pmg_restructure_desc *restructure, int32_t i)
{
	const pmg_parts_desc none = { -1, -1, -1, -1, -1 }, *parts = restructure->parts ? restructure->parts : &none;
	const struct made single[N_SINGLE] = {
		{ restructure->segments, MADE_SEGMENTS, 0 },
		{ restructure->runs, MADE_RUNS, 0 },
		{ restructure->chunks, MADE_CHUNKS, 0 },
		{ restructure->places ? restructure->places->values : -1, MADE_VALUES, 0 },
		{ parts->values, MADE_PARTS, 0 },
		{ parts->begins, MADE_PARTS, 0 },
		{ parts->ends, MADE_PARTS, 0 },
	};

	if (i < N_SINGLE)
		return single[i];
	i -= N_SINGLE;
	if (i < restructure->n_copies)
		return (struct made) { restructure->copies[i].to, MADE_COPY, i };
	i -= restructure->n_copies;
	return (struct made) { restructure->renumberings[i].order, MADE_ORDER, i };
}

/* ---- Is the description consistent? ---- */

static bool is_fixed_array(const pmg_pipeline_desc *desc, int32_t number)
{
	return 0 <= number && number < desc->n_arrays && desc->arrays[number].is_fixed;
}

static bool is_index_mode(const pmg_pipeline_desc *desc, int32_t number)
{
	return is_fixed_array(desc, number) && desc->arrays[number].rank == 1
		&& (desc->arrays[number].facts & (PMG_FACT_INDEX | PMG_FACT_TREE)) == PMG_FACT_INDEX;
}

static bool copy_is_consistent(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure,
			       const pmg_copy_desc *copy)
{
	const pmg_type to = desc->arrays[copy->to].type;

	if (copy->is_per_run && restructure->runs < 0)
		return false;
	if (copy->from == -1)
		return element_is_integer(to);
	if (!is_fixed_array(desc, copy->from) || desc->arrays[copy->from].rank != 1)
		return false;
	return to == array_kept_type(&desc->arrays[copy->from])
		|| (element_is_integer(to) && element_is_integer(desc->arrays[copy->from].type));
}

static bool renumbering_is_consistent(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure,
				      const pmg_renumber_desc *renumbering)
{
	if (!is_index_mode(desc, renumbering->mode) || !element_is_integer(desc->arrays[renumbering->order].type))
		return false;
	for (int32_t i = 0; i < restructure->n_copies; i++)
		if (restructure->copies[i].from == renumbering->mode)
			return true;
	return false;
}

/* Values that are written once. */
static bool may_be_multiplied(const pmg_restructure_desc *restructure, const struct made *made)
{
	if (made->kind != MADE_COPY)
		return made->kind == MADE_VALUES || made->kind == MADE_ORDER;
	for (int32_t i = 0; i < restructure->n_renumberings; i++)
		if (restructure->renumberings[i].mode == restructure->copies[made->at].from)
			return false;
	return true;
}

static bool made_is_consistent(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure,
			       const struct made *made)
{
	if (made->number == -1)
		return made->kind <= MADE_VALUES || (made->kind == MADE_PARTS && !restructure->parts);
	if (made->number < 0 || made->number >= desc->n_arrays)
		return false;
	if (desc->arrays[made->number].role != PMG_INSPECTED)
		return false;
	if (desc->arrays[made->number].n_factors > 0 && !may_be_multiplied(restructure, made))
		return false;
	if (made->kind == MADE_COPY)
		return copy_is_consistent(desc, restructure, &restructure->copies[made->at]);
	if (made->kind == MADE_ORDER)
		return renumbering_is_consistent(desc, restructure, &restructure->renumberings[made->at]);
	return element_is_integer(desc->arrays[made->number].type);
}

static bool places_are_consistent(const pmg_pipeline_desc *desc, const pmg_places_desc *places)
{
	if (!places)
		return true;
	return is_fixed_array(desc, places->coordinates) && desc->arrays[places->coordinates].rank == 2
		&& element_is_integer(desc->arrays[places->coordinates].type);
}

/* -1: no number. */
static bool is_size_or_none(const pmg_pipeline_desc *desc, int32_t number)
{
	return number == -1 || is_size_number(desc, number);
}

static bool restructuring_is_consistent(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure)
{
	if (restructure->n_keys < 1 || restructure->n_keys > PMG_MAX_RANK)
		return false;
	for (int32_t k = 0; k < restructure->n_keys; k++)
		if (!is_index_mode(desc, restructure->keys[k]))
			return false;
	for (int32_t i = 0; i < n_made(restructure); i++) {
		const struct made made = made_array(restructure, i);

		if (!made_is_consistent(desc, restructure, &made))
			return false;
	}
	if ((restructure->chunks >= 0 || restructure->parts) && restructure->segments < 0)
		return false;
	if (restructure->parts && (restructure->runs >= 0 || !is_size_or_none(desc, restructure->parts->n_parts)))
		return false;
	return places_are_consistent(desc, restructure->places)
		&& is_size_or_none(desc, restructure->n_runs) && is_size_or_none(desc, restructure->n_chunks);
}

static int32_t n_makers(const pmg_pipeline_desc *desc, int32_t number)
{
	int32_t n = 0;

	for (int32_t r = 0; r < desc->n_restructurings; r++)
		for (int32_t i = 0; i < n_made(&desc->restructurings[r]); i++)
			n += made_array(&desc->restructurings[r], i).number == number;
	return n;
}

bool restructurings_are_consistent(const pmg_pipeline_desc *desc)
{
	for (int32_t i = 0; i < desc->n_restructurings; i++)
		if (!restructuring_is_consistent(desc, &desc->restructurings[i]))
			return false;
	for (int32_t i = 0; i < desc->n_arrays; i++)
		if (desc->arrays[i].role == PMG_INSPECTED && n_makers(desc, i) != 1)
			return false;
	return desc->n_sizes >= 0;
}

/* ---- Sizes that the parameters tell ---- */

int64_t array_limit(const pmg_array_desc *array, const int64_t *extents)
{
	return extents[array->first_extent + array->rank];
}

/* A row without elements has none, however long the others are. */
int64_t inspected_factor(const pmg_array_desc *array, const int64_t *extents)
{
	const int64_t *factors = extents + array->first_factor;
	int64_t factor = 1;

	for (int32_t i = 0; i < array->n_factors; i++)
		if (factors[i] == 0)
			return 0;
	for (int32_t i = 0; i < array->n_factors; i++)
		if (__builtin_mul_overflow(factor, factors[i], &factor))
			return INT64_MAX;
	return factor;
}

pmg_type inspected_type(const pmg_array_desc *array, const int64_t *extents)
{
	const int64_t factor = inspected_factor(array, extents);
	const bool is_narrow = array_has_limit(array)
		&& (factor == 0 || array_limit(array, extents) <= PMG_NARROW_LIMIT / factor);

	return is_narrow ? PMG_U16 : array->type;
}

int64_t points_of(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure, const int64_t *extents)
{
	return array_elements(&desc->arrays[restructure->keys[0]], extents);
}

static bool restructuring_fits(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure,
			       const int64_t *extents)
{
	const int64_t n = points_of(desc, restructure, extents);

	for (int32_t k = 0; k < restructure->n_keys; k++)
		if (array_elements(&desc->arrays[restructure->keys[k]], extents) != n)
			return false;
	for (int32_t i = 0; i < restructure->n_copies; i++) {
		const int32_t from = restructure->copies[i].from;

		if (from >= 0 && array_elements(&desc->arrays[from], extents) != n)
			return false;
	}
	if (restructure->places) {
		const pmg_array_desc *array = &desc->arrays[restructure->places->coordinates];
		const int64_t *shape = extents + array->first_extent;

		if (shape[0] != array_limit(&desc->arrays[restructure->keys[0]], extents))
			return false;
		return shape[1] == 2 || shape[1] == 3;
	}
	return true;
}

bool restructurings_fit(const pmg_pipeline_desc *desc, const int64_t *extents)
{
	for (int32_t i = 0; i < desc->n_restructurings; i++)
		if (!restructuring_fits(desc, &desc->restructurings[i], extents))
			return false;
	return true;
}

int64_t chunks_of(const pmg_restructure_desc *restructure, int64_t n, int32_t threads)
{
	const int64_t n_chunks = (n + 2047) / 2048;

	if (restructure->is_by_threads)
		return threads;
	return n_chunks < 1 ? 1 : n_chunks > 256 ? 256 : n_chunks;
}

enum { MOST_TEAMS = 1 << 13 };          /* of any device */

int64_t part_points(int64_t n, int64_t teams)
{
	const int64_t points = teams > 0 ? n / (PMG_PART_ROUNDS * teams) / PMG_WARP_LANES * PMG_WARP_LANES
					 : PMG_PART_POINTS;

	return points > PMG_PART_POINTS ? PMG_PART_POINTS : points < PMG_WARP_LANES ? PMG_WARP_LANES : points;
}

int64_t partition_most(int64_t n, int64_t n_values)
{
	return n / part_points(n, MOST_TEAMS) + n_values;
}

int64_t inspected_bytes(pmg_type type, int64_t n)
{
	const int64_t bytes = n * (int64_t) pmg_type_size(type);

	return (bytes + PMG_ALIGNMENT - 1) / PMG_ALIGNMENT * PMG_ALIGNMENT + PMG_BEHIND;
}

int32_t last_copy(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure)
{
	for (int32_t i = restructure->n_copies - 1; i >= 0; i--) {
		const pmg_copy_desc *copy = &restructure->copies[i];

		if (!copy->is_per_run && pmg_type_size(desc->arrays[copy->to].type) == 8)
			return i;
	}
	return -1;
}

int64_t rank_bytes(int64_t n_values)
{
	return 2 * (n_values + 1) * (int64_t) sizeof(int64_t);
}
