/* SPDX-License-Identifier: MIT
 *
 * Memory of restructurings, of what stays and of what is held at a moment while they are made. All sizes follow from
 * the parameters but the number of runs, which is the number of distinct keys. It is estimated by HyperLogLog (Flajolet
 * and others 2007) with the estimator of Ertl (2017), which needs no correction: hash values fall into 2^14 registers,
 * each of which keeps the longest run of leading zeros; the standard error is 0.8 %. Nothing is allocated. */
#include "inspect/restructure.h"

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

int64_t runs_estimate(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure, const void *args,
		      const int64_t *extents)
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

/* A part for each segment, and some more. */
static int64_t parts_estimate(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure,
			      const int64_t *extents, bool certain)
{
	const int64_t n_values = array_limit(&desc->arrays[restructure->keys[0]], extents);

	return certain ? n_values : partition_most(points_of(desc, restructure, extents), n_values);
}

/* ---- Memory ---- */

static int64_t greatest(int64_t one, int64_t other)
{
	return one > other ? one : other;
}

/* What sizes depend on besides the parameters. */
struct unknowns {
	int64_t n_runs, n_parts;
	int32_t threads;
};

static int64_t made_elements(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure,
			     const struct made *made, const int64_t *extents, const struct unknowns *unknowns)
{
	const int64_t n = points_of(desc, restructure, extents);
	const int64_t n_values = array_limit(&desc->arrays[restructure->keys[0]], extents);

	switch (made->kind) {
	case MADE_SEGMENTS:
		return n_values + 1;
	case MADE_RUNS:
		return unknowns->n_runs + 1;
	case MADE_CHUNKS:
		return chunks_of(restructure, n, unknowns->threads) + 1;
	case MADE_VALUES:
		return n_values;
	case MADE_PARTS:
		return unknowns->n_parts;
	case MADE_COPY:
		return restructure->copies[made->at].is_per_run ? unknowns->n_runs : n;
	case MADE_ORDER:
		return array_limit(&desc->arrays[restructure->renumberings[made->at].mode], extents);
	}
	return 0;
}

/* Bytes of the arrays of one restructuring, from what follows the sort on: those of `order` are part of `copies`, where
 * the last copy takes its place. */
struct made_bytes {
	int64_t values, borders, copies, orders;
	int64_t order, rank;                    /* for a while */
	int64_t numbering;                      /* the most of `orders` and tables for new numbers at a moment */
};

static struct made_bytes bytes_of(const pmg_pipeline_desc *desc, const pmg_restructure_desc *restructure,
				  const int64_t *extents, const struct unknowns *unknowns)
{
	const int64_t n = points_of(desc, restructure, extents);
	struct made_bytes bytes = { .order = inspected_bytes(PMG_I64, n) };

	if (restructure->places)
		bytes.rank = rank_bytes(array_limit(&desc->arrays[restructure->keys[0]], extents));
	if (restructure->parts)
		bytes.rank += partition_bytes(array_limit(&desc->arrays[restructure->keys[0]], extents));
	for (int32_t i = 0; i < n_made(restructure); i++) {
		const struct made made = made_array(restructure, i);
		const int64_t elements = made_elements(desc, restructure, &made, extents, unknowns);
		int64_t *const sums[] = {
			[MADE_SEGMENTS] = &bytes.borders, [MADE_RUNS] = &bytes.borders, [MADE_CHUNKS] = &bytes.borders,
			[MADE_VALUES] = &bytes.values, [MADE_PARTS] = &bytes.borders, [MADE_COPY] = &bytes.copies,
			[MADE_ORDER] = &bytes.orders
		};

		if (made.number >= 0)
			*sums[made.kind] += inspected_bytes(inspected_type(&desc->arrays[made.number], extents),
							      elements);
		if (made.kind == MADE_ORDER)
			bytes.numbering = greatest(bytes.numbering, bytes.orders
						   + numbering_bytes(n, elements, unknowns->threads));
	}
	return bytes;
}

/* The most that is held at a moment: in the sort, when the copies are made, with the tables of new numbers. */
static int64_t peak_of(const struct made_bytes *bytes, bool has_last)
{
	const int64_t stays = bytes->values + bytes->borders + bytes->copies;
	const int64_t peak = greatest(bytes->values + 2 * bytes->order, stays + (has_last ? 0 : bytes->order));

	return bytes->rank + greatest(peak, stays + bytes->numbering);
}

int64_t restructurings_forecast(const pmg_pipeline_desc *desc, const void *args, const int64_t *extents,
				bool certain, int64_t *peak)
{
	int64_t sum = 0;

	*peak = 0;
	for (int32_t r = 0; r < desc->n_restructurings; r++) {
		const pmg_restructure_desc *restructure = &desc->restructurings[r];
		const struct unknowns unknowns = {
			.n_parts = restructure->parts ? parts_estimate(desc, restructure, extents, certain) : 0,
			.n_runs = restructure->runs < 0 ? 0
				: certain ? points_of(desc, restructure, extents) > 0
				: runs_estimate(desc, restructure, args, extents),
			.threads = certain ? 1 : threads_of(0)
		};
		const struct made_bytes bytes = bytes_of(desc, restructure, extents, &unknowns);

		*peak = greatest(*peak, sum + peak_of(&bytes, last_copy(desc, restructure) >= 0));
		sum += bytes.values + bytes.borders + bytes.copies + bytes.orders;
		if (*peak >= PMG_MAX_BYTES)
			return -1;
	}
	return sum;
}
