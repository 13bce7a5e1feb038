/* SPDX-License-Identifier: MIT
 *
 * The harness: statistics of samples whose answer is known, rounds, records that are read as they were written. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench.h"
#include "tally.h"

/* ---- Statistics ------------------------------------------------------------------------ */

static void the_median_is_the_middle(struct tally *tally)
{
	double odd[] = { 5, 1, 3 }, even[] = { 4, 1, 3, 2 };
	CHECK(tally, median_of(odd, 3) == 3);
	CHECK(tally, median_of(even, 4) == 2.5);
}

/* For n values the ranks are those of the tables of the sign test: n = 10 gives the 2nd and the 9th, 20 the 6th and
 * the 15th, 100 the 40th and the 61st. */
static void intervals_are_order_statistics(struct tally *tally)
{
	static const int cases[][2] = { { 3, 1 }, { 6, 1 }, { 9, 2 }, { 10, 2 }, { 20, 6 }, { 100, 40 } };
	double values[100];
	for (size_t c = 0; c < sizeof(cases) / sizeof(cases[0]); c++) {
		int n = cases[c][0], rank = cases[c][1];
		for (int i = 0; i < n; i++)
			values[i] = n - i;
		struct interval interval = median_interval(values, n);
		CHECK(tally, interval.low == rank && interval.high == n + 1 - rank);
		CHECK(tally, interval.middle == 0.5 * (n + 1));
	}
}

/* Of many samples with a known median, 95 in 100 intervals hold it, or some more, ranks being whole numbers. */
static void intervals_hold_the_median(struct tally *tally)
{
	unsigned seed = 3;
	double values[15];
	int held = 0;
	for (int sample = 0; sample < 4000; sample++) {
		for (int i = 0; i < 15; i++)
			values[i] = pow(rand_r(&seed) / (RAND_MAX + 1.0), 4);
		struct interval interval = median_interval(values, 15);
		held += interval.low <= 0.0625 && 0.0625 <= interval.high;
	}
	CHECK(tally, held > 0.945 * 4000 && held < 0.985 * 4000);
}

static const char *disturbance_text(double median, double runs, const char *clock)
{
	static char text[200];
	struct row row = { .record = record_new() };
	struct row *rows[] = { &row };
	FILE *stream = fmemopen(text, sizeof(text), "w");
	row.record.ms_median = median;
	row.record.ms_min = 1.5;
	row.record.runs = runs;
	row.record.clock = clock;
	memset(text, 0, sizeof(text));
	disturbance_print(&(row_list){ .items = rows, .n = 1 }, stream);
	fclose(stream);
	return text;
}

static void medians_far_from_the_least_are_told(struct tally *tally)
{
	CHECK(tally, strcmp(disturbance_text(6, 6, "wall"), "medians are up to 4.0 times the least: other work seems "
			    "to run here; --clock=cpu is disturbed less\n") == 0);
	CHECK(tally, strcmp(disturbance_text(3, 6, "cpu"), "medians are up to 2.0 times the least: other work seems "
			    "to run here\n") == 0);
	CHECK(tally, !*disturbance_text(2.9, 6, "wall") && !*disturbance_text(6, 5, "wall"));
}

static void ratios_are_of_medians(struct tally *tally)
{
	struct arena arena = { 0 };
	double base[] = { 10, 11, 9, 10, 12, 10 }, times[] = { 2, 2, 2.1, 1.9, 2, 2 };
	struct interval ratio = ratio_interval(&arena, base, 6, times, 6);
	struct interval again = ratio_interval(&arena, base, 6, times, 6);
	CHECK(tally, ratio.middle == 5);
	CHECK(tally, ratio.low >= 4.4 && ratio.low <= 5 && ratio.high >= 5 && ratio.high <= 6.3);
	CHECK(tally, ratio.low == again.low && ratio.high == again.high);
	CHECK(tally, base[0] == 10 && base[2] == 9);
	arena_release(&arena);
}

/* ---- Rounds ------------------------------------------------------------------------------- */

struct counted {
	double seconds;
	int n, *clock, last;
};

static bool run_counted(void *state, double *seconds, struct failure *failure)
{
	struct counted *counted = state;
	(void) failure;
	counted->n++;
	counted->last = (*counted->clock)++;
	*seconds = counted->seconds;
	return true;
}

static void rows_take_turns_until_they_have_enough(struct tally *tally)
{
	struct arena arena = { 0 };
	struct failure failure = { 0 };
	struct effort effort = { .min_seconds = 1, .min_runs = 4, .max_runs = 50 };
	int clock = 0;
	struct counted states[] = { { 0.5, 0, &clock, 0 }, { 0.1, 0, &clock, 0 }, { 0.001, 0, &clock, 0 } };
	struct row rows[3];
	row_list list = { 0 };
	for (int i = 0; i < 3; i++) {
		rows[i] = (struct row){ .record = record_new(), .run = run_counted, .state = &states[i] };
		rows[i].record.op = "op";
		rows[i].record.version = i ? "other" : "slow";
		vec_push(&arena, &list, &rows[i]);
	}
	CHECK(tally, measure(&arena, &list, &effort, &failure));
	CHECK(tally, states[0].n == 4 && states[1].n >= 10 && states[1].n <= 11 && states[2].n == 50);
	CHECK(tally, states[0].last < 12 && states[1].last > states[0].last);
	CHECK(tally, fabs(rows[0].record.ms_median - 500) < 1e-9 && rows[2].record.runs == 50);
	relate(&arena, &list, "slow");
	CHECK(tally, fabs(rows[1].record.ratio - 5) < 1e-9 && fabs(rows[2].record.ratio_low - 500) < 1e-6);
	CHECK(tally, strcmp(rows[1].record.baseline, "slow") == 0);
	arena_release(&arena);
}

/* ---- Records -------------------------------------------------------------------------------- */

static bool write_file(const char *path, const char *text)
{
	FILE *file = fopen(path, "w");
	bool ok = file && fputs(text, file) >= 0;
	return file && fclose(file) == 0 && ok;
}

static bool reads(struct arena *arena, const char *path, record_list *records)
{
	struct failure failure = { 0 };
	return records_read(arena, path, records, &failure);
}

static void records_are_read_as_written(struct tally *tally, const char *path)
{
	struct arena arena = { 0 };
	struct record record = record_new();
	record_list records = { 0 };
	record.problem = "a \"quoted\" \\ name\n";
	record.version = "generated";
	record.ms_median = 0.125;
	record.plan_bytes = 123456789012.0;
	FILE *file = fopen(path, "w");
	record_write(&record, file);
	record_write(&record, file);
	fclose(file);
	CHECK(tally, reads(&arena, path, &records) && records.n == 2);
	CHECK(tally, records.n == 2 && strcmp(records.items[1].problem, record.problem) == 0);
	CHECK(tally, records.n == 2 && records.items[1].ms_median == 0.125 && isnan(records.items[1].error));
	CHECK(tally, records.n == 2 && records.items[0].plan_bytes == record.plan_bytes);
	arena_release(&arena);
}

static void other_members_are_skipped(struct tally *tally, const char *path)
{
	struct arena arena = { 0 };
	record_list records = { 0 };
	CHECK(tally, write_file(path, "{\"op\": \"wc\", \"other\": 3, \"more\": \"x\", \"ms_min\": null}\n\n"));
	CHECK(tally, reads(&arena, path, &records) && records.n == 1);
	CHECK(tally, records.n == 1 && strcmp(records.items[0].op, "wc") == 0 && isnan(records.items[0].ms_min));
	arena_release(&arena);
}

static void what_is_no_record_is_refused(struct tally *tally, const char *path)
{
	static const char *const texts[] = { "{\"op\": 3}\n", "{\"op\": \"wc\"\n", "nothing\n", "{\"op\" \"wc\"}\n",
					     "{\"op\": \"wc}\n", "{} {}\n", "{\"ms_min\": \"1\"}\n", "[1]\n" };
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct arena arena = { 0 };
		record_list records = { 0 };
		CHECK(tally, write_file(path, texts[i]) && !reads(&arena, path, &records));
		arena_release(&arena);
	}
}

int main(void)
{
	struct tally tally = { 0 };
	char path[] = "/tmp/test_harness_XXXXXX";
	int file = mkstemp(path);
	if (file >= 0)
		close(file);
	the_median_is_the_middle(&tally);
	intervals_are_order_statistics(&tally);
	intervals_hold_the_median(&tally);
	medians_far_from_the_least_are_told(&tally);
	ratios_are_of_medians(&tally);
	rows_take_turns_until_they_have_enough(&tally);
	records_are_read_as_written(&tally, path);
	other_members_are_skipped(&tally, path);
	what_is_no_record_is_refused(&tally, path);
	unlink(path);
	return tally_close(&tally);
}
