/* SPDX-License-Identifier: MIT
 *
 * A stable order of points by several keys: least-significant-digit radix sort (Knuth, TAOCP 3, 5.2.5) of 64-bit words
 * that hold the number of the point in their low bits and its keys above, only the bits that the keys' limits need.
 * Where the keys do not fit, the words are filled with the less significant bits first, sorted, filled with the
 * next ones in the order found, and so on: any number of keys of any size, always 8 bytes a point.
 *
 * A pass counts digits and moves words by equal shares of the points, a thread each; a share's words of one digit go
 * behind those of the shares before it. So the result does not depend on the number of threads. Digits of 11 bits
 * (2048 streams of stores) were the fastest in measurements, and combining of writes did not pay. */
#include "plan/plan.h"

#include <string.h>

#define MAX_DIGIT 11
#define SMALL_DIGIT 8                   /* where there are few points to count */
#define SMALL_SIZE ((int64_t) 1 << 13)

int bits_of(int64_t limit)
{
	return limit <= 1 ? 0 : 64 - __builtin_clzll((unsigned long long) limit - 1);
}

int32_t shares_of(int64_t n, int32_t threads)
{
	const int32_t most = threads < PMG_MAX_SHARES ? threads : PMG_MAX_SHARES;
	const int64_t useful = n / (PMG_PARALLEL_SIZE / 4);

	if (n < PMG_PARALLEL_SIZE)
		return 1;
	return useful < most ? (int32_t) useful : most;
}

static int digit_most(int64_t n)
{
	return n < SMALL_SIZE ? SMALL_DIGIT : MAX_DIGIT;
}

int64_t sort_counts(int64_t n, int32_t threads)
{
	return ((int64_t) 1 << digit_most(n)) * shares_of(n, threads);
}

void order_points(const struct order *order, int64_t first, int64_t n, int64_t *at)
{
	const uint64_t mask = ((uint64_t) 1 << order->index_bits) - 1;

	for (int64_t i = 0; i < n; i++)
		at[i] = (int64_t) (order->points[first + i] & mask);
}

/* The lowest bit of key `key` in the concatenation of all. */
static int key_low(const struct order *order, int key)
{
	int low = 0;

	for (int k = order->n_keys - 1; k > key; k--)
		low += order->keys[k].bits;
	return low;
}

bool order_tells(const struct order *order, int key, int *shift, uint64_t *mask)
{
	const int low = key_low(order, key);

	*shift = low - order->low + order->index_bits;
	*mask = ((uint64_t) 1 << order->keys[key].bits) - 1;
	return low >= order->low;
}

/* ---- Filling ---- */

/* A share of the points, in a pass over the digit at `shift` or a filling by bits low..high of the keys. */
struct share {
	struct order *order;
	int64_t begin, end;
	int low, high;
	bool is_first;                  /* the points are in their first order */
	int shift;
	uint64_t mask;
	int64_t *counts;                /* of each digit; then where the next word goes */
};

/* Adds to `words` what bits low..high of the keys have of key number `key`. */
static void block_add_key(const struct share *share, int key, const int64_t *at, int64_t first, int64_t n,
			  uint64_t *words)
{
	const struct sort_key *source = &share->order->keys[key];
	const int key_at = key_low(share->order, key);
	const int high = share->high - key_at < source->bits ? share->high - key_at : source->bits;
	const int down = share->low > key_at ? share->low - key_at : 0;
	const int up = share->low > key_at ? 0 : key_at - share->low;
	int64_t values[BLOCK];

	if (high <= down)
		return;
	if (share->is_first)
		elements_read(&source->values, first, n, values);
	else
		elements_gather(&source->values, at, n, values);
	if (source->rank)
		for (int64_t i = 0; i < n; i++)
			values[i] = source->rank[values[i]];
	for (int64_t i = 0; i < n; i++)
		words[i] |= ((uint64_t) values[i] & (((uint64_t) 1 << high) - 1)) >> down << up;
}

static void block_fill(const struct share *share, int64_t first, int64_t n)
{
	const struct order *order = share->order;
	uint64_t words[BLOCK] = { 0 };
	int64_t at[BLOCK];

	if (share->is_first)
		for (int64_t i = 0; i < n; i++)
			at[i] = first + i;
	else
		order_points(order, first, n, at);
	for (int key = 0; key < order->n_keys; key++)
		block_add_key(share, key, at, first, n, words);
	for (int64_t i = 0; i < n; i++)
		order->points[first + i] = words[i] << order->index_bits | (uint64_t) at[i];
}

static void share_fill(const struct share *share)
{
	for (int64_t first = share->begin; first < share->end; first += BLOCK)
		block_fill(share, first, block_size(first, share->end));
}

/* ---- Passes ---- */

static void share_count(const struct share *share)
{
	const uint64_t *points = share->order->points;

	memset(share->counts, 0, ((size_t) share->mask + 1) * sizeof *share->counts);
	for (int64_t i = share->begin; i < share->end; i++)
		share->counts[points[i] >> share->shift & share->mask]++;
}

static void share_scatter(const struct share *share)
{
	const uint64_t *points = share->order->points;
	uint64_t *to = share->order->spare;
	int64_t *next = share->counts;

	for (int64_t i = share->begin; i < share->end; i++)
		to[next[points[i] >> share->shift & share->mask]++] = points[i];
}

/* Counts become places; true if one digit has all points, so that the pass would move nothing. */
static bool counts_to_places(const struct share *shares, int32_t n_shares, int64_t n)
{
	int64_t sum = 0;

	for (uint64_t digit = 0; digit <= shares[0].mask; digit++) {
		const int64_t before = sum;

		for (int32_t s = 0; s < n_shares; s++) {
			const int64_t count = shares[s].counts[digit];

			shares[s].counts[digit] = sum;
			sum += count;
		}
		if (sum - before == n)
			return true;
	}
	return false;
}

static void digit_pass(struct order *order, struct share *shares, int32_t n_shares)
{
	uint64_t *const from = order->points;

	PARALLEL(n_shares, order->n, schedule(static))
	for (int32_t s = 0; s < n_shares; s++)
		share_count(&shares[s]);
	if (counts_to_places(shares, n_shares, order->n))
		return;
	PARALLEL(n_shares, order->n, schedule(static))
	for (int32_t s = 0; s < n_shares; s++)
		share_scatter(&shares[s]);
	order->points = order->spare;
	order->spare = from;
}

/* Fills the words with bits low..high of the keys and sorts by them, in digits of about equal size. */
static void word_sort(struct order *order, struct share *shares, int32_t n_shares, int low, int high)
{
	const int most = digit_most(order->n);
	const int n_passes = (high - low + most - 1) / most;
	int shift = order->index_bits;

	for (int32_t s = 0; s < n_shares; s++) {
		shares[s].low = low;
		shares[s].high = high;
	}
	PARALLEL(n_shares, order->n, schedule(static))
	for (int32_t s = 0; s < n_shares; s++)
		share_fill(&shares[s]);
	for (int32_t s = 0; s < n_shares; s++)
		shares[s].is_first = false;
	for (int left = n_passes; left > 0; left--) {
		const int digit = (high - low + left - 1) / left;

		for (int32_t s = 0; s < n_shares; s++) {
			shares[s].shift = shift;
			shares[s].mask = ((uint64_t) 1 << digit) - 1;
		}
		digit_pass(order, shares, n_shares);
		shift += digit;
		low += digit;
	}
}

void order_sort(struct order *order, int64_t *counts, int32_t threads)
{
	const int32_t n_shares = shares_of(order->n, threads);
	const int total = key_low(order, -1);
	struct share shares[PMG_MAX_SHARES];
	const int word = 64 - bits_of(order->n);
	int low = 0, high = total % word;

	order->index_bits = bits_of(order->n);
	for (int32_t s = 0; s < n_shares; s++)
		shares[s] = (struct share) {
			.order = order, .is_first = true,
			.begin = share_begin(order->n, n_shares, s),
			.end = share_begin(order->n, n_shares, s + 1),
			.counts = counts + ((int64_t) s << digit_most(order->n))
		};
	/* The last word, which stays, is as full as possible. */
	do {
		word_sort(order, shares, n_shares, low, high);
		order->low = low;
		low = high;
		high += word;
	} while (low < total);
}
