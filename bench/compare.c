/* SPDX-License-Identifier: MIT
 *
 * Two files of records: which rows became faster or slower. A row is the same as one of the other file if all that
 * says what was measured is the same; a difference counts where the 95 % intervals of the medians are apart. */
#include "bench.h"

#include <math.h>
#include <string.h>

static bool is_same_row(const struct record *a, const struct record *b)
{
	const char *const texts[][2] = {
		{ a->bench, b->bench }, { a->problem, b->problem }, { a->op, b->op }, { a->version, b->version },
		{ a->target, b->target }, { a->precision, b->precision }, { a->weights, b->weights },
		{ a->algorithm, b->algorithm }, { a->clock, b->clock },
	};
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (strcmp(texts[i][0], texts[i][1]) != 0)
			return false;
	/* What generated code decides by itself may change. */
	return a->threads == b->threads && (strcmp(a->version, "generated") == 0 ||
					    (strcmp(a->restructure, b->restructure) == 0 &&
					     strcmp(a->partition, b->partition) == 0));
}

static const char *verdict(const struct record *old, const struct record *new)
{
	if (new->ms_high < old->ms_low)
		return "faster";
	if (new->ms_low > old->ms_high)
		return "slower";
	return "same";
}

static const struct record *find_same(const record_list *records, const struct record *record)
{
	for (int i = 0; i < records->n; i++)
		if (is_same_row(&records->items[i], record))
			return &records->items[i];
	return NULL;
}

static bool has_time(const struct record *record)
{
	return record->ms_median > 0 && record->ms_low > 0 && record->ms_high >= record->ms_low;
}

static void print_comparison(const struct record *old, const struct record *new)
{
	char before[64], after[64];
	snprintf(before, sizeof(before), "%.4g [%.4g, %.4g]", old->ms_median, old->ms_low, old->ms_high);
	snprintf(after, sizeof(after), "%.4g [%.4g, %.4g]", new->ms_median, new->ms_low, new->ms_high);
	printf("%-4s%-24s %3.0f %-10s %28s %28s %8.3f %s%s%s\n", new->op, new->version, new->threads, new->weights,
	       before, after, old->ms_median / new->ms_median, verdict(old, new), *new->algorithm ? "  " : "",
	       new->algorithm);
}

bool compare_files(struct arena *arena, const char *old_path, const char *new_path, struct failure *failure)
{
	record_list old = { 0 }, new = { 0 };
	int matched = 0;
	if (!records_read(arena, old_path, &old, failure) || !records_read(arena, new_path, &new, failure))
		return false;
	printf("%-4s%-24s %3s %-10s %28s %28s %8s\n", "op", "version", "thr", "weights", "before, ms", "after, ms",
	       "speed-up");
	for (int i = 0; i < new.n; i++) {
		const struct record *before = find_same(&old, &new.items[i]);
		if (!before || !has_time(before) || !has_time(&new.items[i]))
			continue;
		print_comparison(before, &new.items[i]);
		matched++;
	}
	printf("%d of %d rows are in both files\n", matched, new.n);
	return matched > 0 || fail(failure, OUTCOME_DATA, "%s and %s have no row in common", old_path, new_path);
}
