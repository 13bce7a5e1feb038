/* SPDX-License-Identifier: MIT
 *
 * Numbers made up from a seed: the same for the same seed and name of argument, on every machine. Element i
 * is a hash of (seed, name, i), the finaliser of SplitMix64 (Steele, Lea and Flood 2014), so nothing
 * depends on an order. Floating-point numbers are uniform in (-1, 1); index arrays are uniform in their
 * range and hold their facts. */
#include "run/run.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return x ^ (x >> 31);
}

static uint64_t key_of(const struct argument *argument)
{
	uint64_t key = mix(argument->seed);
	for (const char *c = argument->array->name; *c; c++)
		key = mix(key ^ (unsigned char) *c);
	return key;
}

/* In [0, n), n > 0; the bias is below n / 2^64. */
static int64_t below(uint64_t key, int64_t i, int64_t n)
{
	return (int64_t) (((unsigned __int128) mix(key ^ mix((uint64_t) i)) * (uint64_t) n) >> 64);
}

static double between_minus_one_and_one(uint64_t key, int64_t i)
{
	return ((double) (mix(key ^ mix((uint64_t) i)) >> 11) + 0.5) * 0x1p-52 - 1.0;
}

static int compare_integers(const void *a, const void *b)
{
	int64_t x = *(const int64_t *) a, y = *(const int64_t *) b;
	return (x > y) - (x < y);
}

/* ---- Index arrays ---------------------------------------------------------------------- */

/* n different numbers below the limit: a random choice of a shuffled range, which costs memory for the
 * range. */
static bool fill_unique(int64_t *values, int64_t n, int64_t limit, uint64_t key, struct failure *failure)
{
	int64_t *range = malloc(((size_t) limit + 1) * sizeof(*range));
	if (!range)
		return fail_memory(failure, "unique random numbers");
	for (int64_t i = 0; i < limit; i++)
		range[i] = i;
	for (int64_t i = 0; i < n; i++) {
		int64_t other = i + below(key, i, limit - i);
		values[i] = range[other];
		range[other] = range[i];
	}
	free(range);
	return true;
}

static bool fill_indices(const struct argument *argument, int64_t *values, int64_t n, int64_t limit,
			 struct failure *failure)
{
	uint64_t key = key_of(argument);
	unsigned facts = argument->array->facts;
	bool is_unique = facts & FACT_UNIQUE;
	if (n > 0 && (limit <= 0 || (is_unique && limit < n)))
		return fail(failure, OUTCOME_DATA,
			    "%s: there are no %" PRId64 "%s numbers in [0, %" PRId64 ")",
			    argument->array->name, n, is_unique ? " different" : "", limit);
	if (is_unique && !fill_unique(values, n, limit, key, failure))
		return false;
	for (int64_t i = 0; !is_unique && i < n; i++)
		values[i] = below(key, i, limit);
	if (facts & FACT_SORTED)
		qsort(values, (size_t) n, sizeof(*values), compare_integers);
	return true;
}

static bool fill_offsets(const struct argument *argument, int64_t *values, int64_t n, int64_t limit,
			 struct failure *failure)
{
	uint64_t key = key_of(argument);
	if (n == 0 || limit < 0 || (n == 1 && limit > 0))
		return fail(failure, OUTCOME_DATA, "%s: no %" PRId64 " offsets lead from 0 to %" PRId64,
			    argument->array->name, n, limit);
	for (int64_t i = 0; i < n; i++)
		values[i] = i == 0 ? 0 : i == n - 1 ? limit : below(key, i, limit + 1);
	qsort(values, (size_t) n, sizeof(*values), compare_integers);
	return true;
}

/* One tree over nodes 0..n: the root, then a parent among the nodes before. */
static void fill_tree(int64_t *values, int64_t n, uint64_t key, int64_t first)
{
	for (int64_t i = 0; i < n; i++)
		values[i] = i == 0 ? -1 : below(key, first + i, i);
}

static bool fill_trees(struct session *s, const struct argument *argument, int64_t *values, int64_t n,
		       struct failure *failure)
{
	const struct array *segments = argument->array->segments;
	uint64_t key = key_of(argument);
	if (!segments) {
		fill_tree(values, n, key, 0);
		return true;
	}
	for (int a = 0; a < s->arguments.n; a++) {
		const struct ndarray *offsets = &s->arguments.items[a].value;
		if (s->arguments.items[a].array != segments)
			continue;
		for (int64_t i = 0; i + 1 < ndarray_count(offsets); i++) {
			int64_t lo = ndarray_integer(offsets, i), hi = ndarray_integer(offsets, i + 1);
			if (lo < 0 || hi < lo || hi > n)
				return fail(failure, OUTCOME_DATA, "%s%s is no offset", segments->name, "");
			fill_tree(values + lo, hi - lo, key, lo);
		}
	}
	return true;
}

static bool fill_index_array(struct session *s, struct argument *argument, struct failure *failure)
{
	const struct array *array = argument->array;
	int64_t *values = argument->value.data, n = ndarray_count(&argument->value), limit = 0;
	if (array->facts & FACT_TREE)
		return fill_trees(s, argument, values, n, failure);
	if (array->limit && !sizes_evaluate(s, array->limit, &limit))
		return fail(failure, OUTCOME_USAGE, "%s: the range of its values is not known", array->name);
	if (array->facts & FACT_OFFSETS)
		return fill_offsets(argument, values, n, limit, failure);
	return fill_indices(argument, values, n, limit, failure);
}

/* ---- Others ------------------------------------------------------------------------------- */

static void fill_plain(struct argument *argument)
{
	struct ndarray *value = &argument->value;
	uint64_t key = key_of(argument);
	int64_t n = ndarray_count(value);
	for (int64_t i = 0; i < n; i++) {
		if (value->type == PMG_F64)
			((double *) value->data)[i] = between_minus_one_and_one(key, i);
		else if (value->type == PMG_F32)
			((float *) value->data)[i] = (float) between_minus_one_and_one(key, i);
		else
			((int64_t *) value->data)[i] =
				below(key, i, argument_type(argument) == PMG_BOOL ? 2 : 100);
	}
}

static void fill_number(struct argument *argument)
{
	int64_t n = ndarray_count(&argument->value);
	for (int64_t i = 0; i < n; i++) {
		if (argument->value.type == PMG_I64)
			((int64_t *) argument->value.data)[i] = argument->integer;
		else
			((double *) argument->value.data)[i] = argument->number;
	}
}

/* The type in which the numbers are made: integers as i64, converted afterwards. */
static pmg_type making_type(const struct argument *argument)
{
	bool is_real = !type_holds_integers(argument_type(argument));
	if (argument->filling == FILL_NUMBER)
		return is_real || !argument->is_integer ? PMG_F64 : PMG_I64;
	return is_real ? argument_type(argument) : PMG_I64;
}

static bool fill_argument(struct session *s, struct argument *argument, struct failure *failure)
{
	int64_t shape[PMG_MAX_RANK];
	bool is_index = array_is_index(argument->array);
	if (!sizes_shape(s, argument->array, shape))
		return fail(failure, OUTCOME_USAGE, "%s: its shape is not known", argument->array->name);
	if (!ndarray_new(&argument->value, making_type(argument), argument->array->rank, shape, failure))
		return false;
	if (argument->filling == FILL_NUMBER)
		fill_number(argument);
	else if (!is_index)
		fill_plain(argument);
	else if (!fill_index_array(s, argument, failure))
		return false;
	return ndarray_convert(&argument->value, is_index ? PMG_I64 : argument_type(argument),
			       argument->array->name, failure);
}

bool fill_arguments(struct session *s, struct failure *failure)
{
	for (int trees = 0; trees < 2; trees++) {
		for (int i = 0; i < s->arguments.n; i++) {
			struct argument *argument = &s->arguments.items[i];
			bool is_made = argument->filling == FILL_NUMBER || argument->filling == FILL_RANDOM;
			bool is_tree = argument->array->facts & FACT_TREE;
			if (is_made && is_tree == (trees == 1) && !fill_argument(s, argument, failure))
				return false;
		}
	}
	return true;
}
