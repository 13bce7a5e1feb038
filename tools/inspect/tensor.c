/* SPDX-License-Identifier: MIT
 *
 * What there is to know of a sparse tensor before it is used: sizes, how many coordinates of each mode
 * occur, by which order of modes the entries are sorted, and whether a coordinate occurs twice. */
#include "inspect/inspect.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct order {
	int n;
	int modes[PMG_MAX_RANK]; /* compared from the first to the last */
};

static int compare_entries(const struct content *tensor, const struct order *order, int64_t a, int64_t b)
{
	for (int m = 0; m < order->n; m++) {
		const struct ndarray *array = &tensor->members[order->modes[m]].array;
		int64_t x = ndarray_integer(array, a), y = ndarray_integer(array, b);
		if (x != y)
			return x < y ? -1 : 1;
	}
	return 0;
}

static int64_t entries(const struct content *tensor)
{
	return ndarray_count(&tensor->members[tensor->n_members - 1].array);
}

/* Whether the entries are in the order; if they are, how many equal the one before. */
static bool is_sorted(const struct content *tensor, const struct order *order, int64_t *duplicates)
{
	int64_t n = entries(tensor);
	*duplicates = 0;
	for (int64_t i = 1; i < n; i++) {
		int difference = compare_entries(tensor, order, i - 1, i);
		if (difference > 0)
			return false;
		*duplicates += difference == 0;
	}
	return true;
}

static void swap_modes(struct order *order, int a, int b)
{
	int old = order->modes[a];
	order->modes[a] = order->modes[b];
	order->modes[b] = old;
}

/* The next permutation in lexicographic order; false after the last. */
static bool next_order(struct order *order)
{
	int i = order->n - 2, j = order->n - 1;
	while (i >= 0 && order->modes[i] > order->modes[i + 1])
		i--;
	if (i < 0)
		return false;
	while (order->modes[j] < order->modes[i])
		j--;
	swap_modes(order, i, j);
	for (int low = i + 1, high = order->n - 1; low < high; low++, high--)
		swap_modes(order, low, high);
	return true;
}

static struct order first_order(int n_modes)
{
	struct order order = { .n = n_modes };
	for (int m = 0; m < n_modes; m++)
		order.modes[m] = m;
	return order;
}

struct sorting {
	const struct content *tensor;
	struct order order;
};

static int compare_numbers(const void *a, const void *b, void *user)
{
	const struct sorting *sorting = user;
	return compare_entries(sorting->tensor, &sorting->order, *(const int64_t *) a, *(const int64_t *) b);
}

static bool count_duplicates(const struct content *tensor, int64_t *duplicates, struct failure *failure)
{
	int64_t n = entries(tensor);
	struct sorting sorting = { .tensor = tensor, .order = first_order(tensor->n_members - 1) };
	int64_t *numbers = malloc((size_t) (n + 1) * sizeof(*numbers));
	if (!numbers)
		return fail_memory(failure, "sorting a tensor");
	for (int64_t i = 0; i < n; i++)
		numbers[i] = i;
	qsort_r(numbers, (size_t) n, sizeof(*numbers), compare_numbers, &sorting);
	*duplicates = 0;
	for (int64_t i = 1; i < n; i++)
		*duplicates += compare_entries(tensor, &sorting.order, numbers[i - 1], numbers[i]) == 0;
	free(numbers);
	return true;
}

/* Coordinates of a mode that occur; the size of the mode is at most what memory can mark. */
static bool count_distinct(const struct content *tensor, int mode, int64_t *distinct, struct failure *failure)
{
	const struct ndarray *array = &tensor->members[mode].array;
	int64_t n = ndarray_count(array), extent = tensor_extent(tensor, mode);
	*distinct = -1;
	if (extent > 16 * n + (1 << 20))
		return true;
	unsigned char *occurs = calloc((size_t) extent + 1, 1);
	if (!occurs)
		return fail_memory(failure, "counting coordinates");
	*distinct = 0;
	for (int64_t i = 0; i < n; i++) {
		unsigned char *mark = &occurs[ndarray_integer(array, i)];
		*distinct += !*mark;
		*mark = 1;
	}
	free(occurs);
	return true;
}

static const char *mode_name(const struct content *tensor, int mode, char *text, size_t size)
{
	if (*tensor->members[mode].name)
		return tensor->members[mode].name;
	snprintf(text, size, "mode %d", mode);
	return text;
}

static bool print_modes(const struct content *tensor, struct failure *failure)
{
	printf("  %-16s %12s %12s\n", "mode", "size", "occur");
	for (int m = 0; m < tensor->n_members - 1; m++) {
		char name[32];
		int64_t distinct;
		if (!count_distinct(tensor, m, &distinct, failure))
			return false;
		printf("  %-16s %12" PRId64 " ", mode_name(tensor, m, name, sizeof(name)),
		       tensor_extent(tensor, m));
		if (distinct >= 0)
			printf("%12" PRId64 "\n", distinct);
		else
			printf("%12s\n", "?");
	}
	return true;
}

static void print_order(const struct content *tensor, const struct order *order)
{
	printf("sorted by ");
	for (int m = 0; m < order->n; m++) {
		char name[32];
		printf("%s%s", m ? ", " : "", mode_name(tensor, order->modes[m], name, sizeof(name)));
	}
}

bool inspect_tensor(const struct content *tensor, struct failure *failure)
{
	int64_t duplicates;
	struct order order = first_order(tensor->n_members - 1);
	struct summary s = ndarray_summary(&tensor->members[tensor->n_members - 1].array);
	if (!print_modes(tensor, failure))
		return false;
	bool sorted = is_sorted(tensor, &order, &duplicates);
	while (!sorted && order.n <= 4 && next_order(&order))
		sorted = is_sorted(tensor, &order, &duplicates);
	if (!sorted && !count_duplicates(tensor, &duplicates, failure))
		return false;
	printf("  %" PRId64 " entries, ", entries(tensor));
	if (sorted)
		print_order(tensor, &order);
	else
		printf("not sorted");
	printf(", %" PRId64 " duplicate%s\n", duplicates, s_of(duplicates));
	if (s.min <= s.max)
		printf("  values from %.6g to %.6g, sum %.6g, %" PRId64 " zero, %" PRId64 " NaN, %" PRId64
		       " infinite\n",
		       s.min, s.max, s.sum, s.n_zero, s.n_nan, s.n_infinite);
	return true;
}
