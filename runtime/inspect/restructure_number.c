/* SPDX-License-Identifier: MIT
 *
 * New numbers for the values of a mode, by first use in the new order, so that what is used together lies together.
 * Each share of the order lists the values that it uses first of all its points; shares merge their lists in order, so
 * that the numbers are those of one pass over all points. */
#include "inspect/restructure.h"

#include <string.h>

struct numbering {
	struct plan *plan;
	struct elements uses;           /* a copy of the mode in the new order */
	int64_t n, n_values;
	int32_t n_shares;
	int64_t *numbers;               /* new number of each value */
	int64_t *lists;                 /* n_values for each share */
	uint64_t *seen;                 /* bits, n_words for each share */
	int64_t n_words, n_listed[PMG_MAX_SHARES];
};

/* One share where tables would be larger than what is read. */
static int32_t numbering_shares(int64_t n, int64_t n_values, int32_t threads)
{
	const int32_t n_shares = shares_of(n, threads < 16 ? threads : 16);

	return n / 4 / n_shares < n_values ? 1 : n_shares;
}

static int64_t words_of(int64_t n_values)
{
	return n_values / 64 + 1;
}

int64_t numbering_bytes(int64_t n, int64_t n_values, int32_t threads)
{
	const int64_t n_shares = numbering_shares(n, n_values, threads);

	return (n_values + n_shares * (n_values + words_of(n_values))) * (int64_t) sizeof(int64_t);
}

static void share_list(struct numbering *numbering, int32_t share)
{
	const int64_t begin = share_begin(numbering->n, numbering->n_shares, share);
	const int64_t end = share_begin(numbering->n, numbering->n_shares, share + 1);
	int64_t *list = numbering->lists + share * numbering->n_values;
	uint64_t *seen = numbering->seen + share * numbering->n_words;
	int64_t n_listed = 0, values[BLOCK];

	memset(seen, 0, (size_t) numbering->n_words * sizeof *seen);
	for (int64_t first = begin; first < end; first += BLOCK) {
		elements_read(&numbering->uses, first, block_size(first, end), values);
		for (int64_t i = 0; i < block_size(first, end); i++) {
			const uint64_t bit = (uint64_t) 1 << (values[i] & 63);

			if ((seen[values[i] >> 6] & bit) == 0)
				list[n_listed++] = values[i];
			seen[values[i] >> 6] |= bit;
		}
	}
	numbering->n_listed[share] = n_listed;
}

/* The values in their new order become the list of share 0: it is never written before it is read. */
static void lists_merge(struct numbering *numbering)
{
	int64_t *order = numbering->lists, *numbers = numbering->numbers, next = 0;

	for (int64_t v = 0; v < numbering->n_values; v++)
		numbers[v] = -1;
	for (int32_t s = 0; s < numbering->n_shares; s++)
		for (int64_t i = 0; i < numbering->n_listed[s]; i++) {
			const int64_t value = numbering->lists[s * numbering->n_values + i];

			if (numbers[value] < 0) {
				numbers[value] = next;
				order[next++] = value;
			}
		}
	for (int64_t v = 0; v < numbering->n_values; v++)
		if (numbers[v] < 0) {
			numbers[v] = next;
			order[next++] = v;
		}
}

static void copy_renumber(const struct numbering *numbering, const struct elements *copy, int64_t n)
{
	PARALLEL(numbering->plan->kernel.threads, n, schedule(static))
	for (int64_t first = 0; first < n; first += BLOCK) {
		int64_t values[BLOCK];

		elements_read(copy, first, block_size(first, n), values);
		for (int64_t i = 0; i < block_size(first, n); i++)
			values[i] = numbering->numbers[values[i]];
		elements_write(copy, first, block_size(first, n), values);
	}
}

static int64_t copy_elements(const struct inspection *in, const pmg_copy_desc *copy)
{
	return copy->is_per_run ? in->n_runs : in->order.n;
}

/* The copy that tells the order of use: of all points, or else of the runs. */
static const pmg_copy_desc *uses_of(const struct inspection *in, int32_t mode)
{
	const pmg_copy_desc *found = NULL;

	for (int32_t i = 0; i < in->desc->n_copies; i++) {
		const pmg_copy_desc *copy = &in->desc->copies[i];

		if (copy->from == mode && (!found || (found->is_per_run && !copy->is_per_run)))
			found = copy;
	}
	return found;
}

static void values_number(const struct inspection *in, const pmg_renumber_desc *renumbering,
			  struct numbering *numbering)
{
	PARALLEL(numbering->n_shares, numbering->n, schedule(static))
	for (int32_t s = 0; s < numbering->n_shares; s++)
		share_list(numbering, s);
	lists_merge(numbering);
	inspected_set(in->plan, renumbering->order, numbering->n_values, numbering->lists);
	for (int32_t i = 0; i < in->desc->n_copies; i++) {
		const struct elements copy = array_values(in->plan, in->desc->copies[i].to);

		if (in->desc->copies[i].from == renumbering->mode)
			copy_renumber(numbering, &copy, copy_elements(in, &in->desc->copies[i]));
	}
}

static pmg_status renumbering_make(const struct inspection *in, const pmg_renumber_desc *renumbering)
{
	struct plan *plan = in->plan;
	const int64_t n_values = array_limit(&plan->desc->arrays[renumbering->mode], plan->extents);
	const pmg_copy_desc *uses = uses_of(in, renumbering->mode);
	struct numbering numbering = {
		.plan = plan, .uses = array_values(plan, uses->to), .n = copy_elements(in, uses),
		.n_values = n_values, .n_words = words_of(n_values)
	};
	pmg_status status = inspected_new(plan, renumbering->order, n_values, n_values - 1);
	int64_t bytes;

	if (status != PMG_OK)
		return status;
	numbering.n_shares = numbering_shares(numbering.n, n_values, plan->kernel.threads);
	bytes = numbering_bytes(numbering.n, n_values, plan->kernel.threads);
	numbering.numbers = plan_allocate(plan, bytes);
	if (!numbering.numbers)
		return PMG_NO_RESOURCES;
	numbering.lists = numbering.numbers + n_values;
	numbering.seen = (uint64_t *) (numbering.lists + numbering.n_shares * n_values);
	values_number(in, renumbering, &numbering);
	plan_release(plan, numbering.numbers, bytes);
	return PMG_OK;
}

pmg_status renumberings_make(const struct inspection *in)
{
	pmg_status status = PMG_OK;

	for (int32_t i = 0; i < in->desc->n_renumberings && status == PMG_OK; i++)
		status = renumbering_make(in, &in->desc->renumberings[i]);
	return status;
}
