/* SPDX-License-Identifier: MIT
 *
 * What can be said of restructurings before they are made: whether the description is consistent, and how large the
 * arrays will be. All sizes follow from the parameters but the number of runs, which is the number of distinct keys. It
 * is estimated by HyperLogLog (Flajolet and others 2007) with the estimator of Ertl (2017), which needs no correction:
 * hash values fall into 2^14 registers, each of which keeps the longest run of leading zeros; the standard error is
 * 0.8 %. Nothing is allocated. */
#include "restructure.h"

/* ---- The arrays that a restructuring makes ---- */

enum { N_SINGLE = 4 };

int32_t n_made(const pmg_restructure_desc *restructure)
{
	return N_SINGLE + restructure->n_copies + restructure->n_renumberings;
}

struct made made_array(const pmg_restructure_desc *restructure, int32_t i)
{
	const struct made single[N_SINGLE] = {
		{ restructure->segments, MADE_SEGMENTS, 0 },
		{ restructure->runs, MADE_RUNS, 0 },
		{ restructure->chunks, MADE_CHUNKS, 0 },
		{ restructure->places ? restructure->places->values : -1, MADE_VALUES, 0 },
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
		return type_is_integer(to);
	if (!is_fixed_array(desc, copy->from) || desc->arrays[copy->from].rank != 1)
		return false;
	return to == desc->arrays[copy->from].type
		|| (type_is_integer(to) && type_is_integer(desc->arrays[copy->from].type));
}

static bool renumbering_is_consistent(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure,
				      const pmg_renumber_desc *renumbering)
{
	if (!is_index_mode(desc, renumbering->mode) || !type_is_integer(desc->arrays[renumbering->order].type))
		return false;
	for (int32_t i = 0; i < restructure->n_copies; i++)
		if (restructure->copies[i].from == renumbering->mode)
			return true;
	return false;
}

static bool made_is_consistent(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure,
			       const struct made *made)
{
	if (made->number == -1)
		return made->kind < MADE_VALUES || (made->kind == MADE_VALUES && !restructure->places);
	if (made->number < 0 || made->number >= desc->n_arrays)
		return false;
	if (desc->arrays[made->number].role != PMG_INSPECTED)
		return false;
	if (made->kind == MADE_COPY)
		return copy_is_consistent(desc, restructure, &restructure->copies[made->at]);
	if (made->kind == MADE_ORDER)
		return renumbering_is_consistent(desc, restructure, &restructure->renumberings[made->at]);
	return type_is_integer(desc->arrays[made->number].type);
}

static bool places_are_consistent(const pmg_pipeline_desc *desc, const pmg_places_desc *places)
{
	if (!places)
		return true;
	return is_fixed_array(desc, places->coordinates) && desc->arrays[places->coordinates].rank == 2
		&& type_is_integer(desc->arrays[places->coordinates].type);
}

static bool is_size_number(const pmg_pipeline_desc *desc, int32_t number)
{
	return -1 <= number && number < desc->n_sizes;
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
	if (restructure->chunks >= 0 && restructure->segments < 0)
		return false;
	return places_are_consistent(desc, restructure->places)
		&& is_size_number(desc, restructure->n_runs) && is_size_number(desc, restructure->n_chunks);
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

int64_t inspected_bytes(pmg_type type, int64_t n)
{
	const int64_t bytes = n * (int64_t) pmg_type_size(type);

	return (bytes + PMG_ALIGNMENT - 1) / PMG_ALIGNMENT * PMG_ALIGNMENT + PMG_ALIGNMENT;
}

/* ---- The number of runs ---- */

#define REGISTER_BITS 14
#define N_REGISTERS (1 << REGISTER_BITS)
#define MAX_ZEROS (64 - REGISTER_BITS)

/* A bijection of 64-bit numbers that changes half the bits for each one changed (Steele, Lea, Flood 2014). */
static uint64_t mix(uint64_t value)
{
	value += 0x9e3779b97f4a7c15u;
	value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
	value = (value ^ value >> 27) * 0x94d049bb133111ebu;
	return value ^ value >> 31;
}

static void block_register(const struct elements *keys, int32_t n_keys, int64_t first, int64_t n,
			   unsigned char *registers)
{
	uint64_t hashes[BLOCK] = { 0 };
	int64_t values[BLOCK];

	for (int32_t k = 0; k < n_keys; k++) {
		elements_read(&keys[k], first, n, values);
		for (int64_t i = 0; i < n; i++)
			hashes[i] = mix(hashes[i] ^ (uint64_t) values[i]);
	}
	for (int64_t i = 0; i < n; i++) {
		unsigned char *at = &registers[hashes[i] >> MAX_ZEROS];
		const uint64_t rest = hashes[i] << REGISTER_BITS;
		const int zeros = rest == 0 ? MAX_ZEROS : __builtin_clzll(rest);

		*at = *at > zeros + 1 ? *at : (unsigned char) (zeros + 1);
	}
}

/* Ertl 2017, section 2.4: what registers still empty, and those that are full, contribute. */
static double empty_term(double x)
{
	double sum = x, power = 1, before;

	if (x >= 1)
		return HUGE_VAL;
	do {
		x *= x;
		before = sum;
		sum += x * power;
		power += power;
	} while (sum > before);
	return sum;
}

static double full_term(double x)
{
	double sum = 1 - x, power = 1, before;

	if (x <= 0 || x >= 1)
		return 0;
	do {
		x = sqrt(x);
		before = sum;
		power /= 2;
		sum -= (1 - x) * (1 - x) * power;
	} while (sum < before);
	return sum / 3;
}

static double distinct_estimate(const unsigned char *registers)
{
	int64_t counts[MAX_ZEROS + 2] = { 0 };
	double sum;

	for (int i = 0; i < N_REGISTERS; i++)
		counts[registers[i]]++;
	sum = N_REGISTERS * full_term(1 - (double) counts[MAX_ZEROS + 1] / N_REGISTERS);
	for (int zeros = MAX_ZEROS; zeros > 0; zeros--)
		sum = (sum + (double) counts[zeros]) / 2;
	sum += N_REGISTERS * empty_term((double) counts[0] / N_REGISTERS);
	return (double) N_REGISTERS * N_REGISTERS / (2 * log(2)) / sum;
}

static int64_t runs_most(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure,
			 const int64_t *extents)
{
	const int64_t n = points_of(desc, restructure, extents);
	int64_t most = 1;

	for (int32_t k = 0; k < restructure->n_keys; k++) {
		const int64_t limit = array_limit(&desc->arrays[restructure->keys[k]], extents);

		if (__builtin_mul_overflow(most, limit, &most) || most >= n)
			return n;
	}
	return most;
}

static int64_t runs_estimate(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure,
			     const void *args, const int64_t *extents)
{
	const int64_t n = points_of(desc, restructure, extents);
	const int64_t most = runs_most(desc, restructure, extents);
	unsigned char registers[N_REGISTERS] = { 0 };
	struct elements keys[PMG_MAX_RANK];
	int64_t estimate;

	for (int32_t k = 0; k < restructure->n_keys; k++) {
		const int32_t number = restructure->keys[k];

		if (argument_check(NULL, desc, number, args, extents) != PMG_OK)
			return most;
		keys[k] = elements_of(array_argument(&desc->arrays[number], args));
	}
	for (int64_t first = 0; first < n; first += BLOCK)
		block_register(keys, restructure->n_keys, first, block_size(first, n), registers);
	estimate = (int64_t) (distinct_estimate(registers) + 0.5);
	return estimate < most ? estimate : most;
}

/* ---- Memory ---- */

static int64_t made_elements(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure,
			     const struct made *made, const int64_t *extents, int64_t n_runs)
{
	const int64_t n = points_of(desc, restructure, extents);
	const int64_t n_values = array_limit(&desc->arrays[restructure->keys[0]], extents);

	switch (made->kind) {
	case MADE_SEGMENTS:
		return n_values + 1;
	case MADE_RUNS:
		return n_runs + 1;
	case MADE_CHUNKS:
		return chunks_of(restructure, n, threads_of(0)) + 1;
	case MADE_VALUES:
		return n_values;
	case MADE_COPY:
		return restructure->copies[made->at].is_per_run ? n_runs : n;
	case MADE_ORDER:
		return array_limit(&desc->arrays[restructure->renumberings[made->at].mode], extents);
	}
	return 0;
}

int64_t restructurings_forecast(const pmg_pipeline_desc *desc, const void *args, const int64_t *extents,
				bool certain)
{
	int64_t bytes = 0;

	for (int32_t r = 0; r < desc->n_restructurings; r++) {
		const pmg_restructure_desc *restructure = &desc->restructurings[r];
		const int64_t n_runs = restructure->runs < 0 ? 0
				     : certain ? points_of(desc, restructure, extents) > 0
				     : runs_estimate(desc, restructure, args, extents);

		for (int32_t i = 0; i < n_made(restructure); i++) {
			const struct made made = made_array(restructure, i);

			if (made.number < 0)
				continue;
			bytes += inspected_bytes(desc->arrays[made.number].type,
						 made_elements(desc, restructure, &made, extents, n_runs));
			if (bytes >= PMG_MAX_BYTES)
				return -1;
		}
	}
	return bytes;
}
