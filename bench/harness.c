/* SPDX-License-Identifier: MIT
 *
 * Rounds: each runs every row once, in an order of its own, so that what changes on the machine while it is measured
 * (clock, temperature, other work) meets all rows alike. A row that has run often and long enough leaves; slow rows do
 * so first, and the others go on among themselves. */
#include "bench.h"

#include <dlfcn.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static void keep_time(struct arena *arena, struct row *row, double seconds)
{
	if (row->n_times == row->capacity) {
		int capacity = row->capacity ? 2 * row->capacity : 16;
		double *times = arena_new_array(arena, double, capacity);
		if (row->n_times > 0)
			memcpy(times, row->times, (size_t) row->n_times * sizeof(*times));
		row->times = times;
		row->capacity = capacity;
	}
	row->times[row->n_times++] = seconds;
	row->total += seconds;
}

bool version_is_unknown(const char *name, const char *where, const char *const *names, int n, struct failure *failure)
{
	fail(failure, OUTCOME_USAGE, "there is no version '%s'%s", name, where);
	fail_help_choose(failure, name, names, n);
	return false;
}

bool baseline_is_unknown(struct arena *arena, const char *baseline, const word_list *versions, struct failure *failure)
{
	word_list names = { 0 };
	for (int i = 0; i < versions->n; i++)
		if (!words_have(&names, versions->items[i]))
			vec_push(arena, &names, versions->items[i]);
	fail(failure, OUTCOME_USAGE, "--baseline: no version that is measured is called '%s'", baseline);
	fail_help_choose(failure, baseline, names.items, names.n);
	return false;
}

bool effort_read(const char *min_time, const char *clock, struct effort *effort, struct failure *failure)
{
	*effort = (struct effort){ .min_seconds = 1, .min_runs = 6, .max_runs = 2000 };
	effort->counts_processors = clock && strcmp(clock, "cpu") == 0;
	if (clock && !effort->counts_processors && strcmp(clock, "wall") != 0)
		return fail(failure, OUTCOME_USAGE, "--clock: '%s' is neither wall nor cpu", clock);
	if (min_time && (!parse_real(min_time, &effort->min_seconds) || !(effort->min_seconds >= 0)))
		return fail(failure, OUTCOME_USAGE, "--min-time: '%s' is not a number of seconds", min_time);
	return true;
}

static bool has_enough(const struct row *row, const struct effort *effort)
{
	return row->n_times >= effort->max_runs ||
	       (row->n_times >= effort->min_runs && row->total >= effort->min_seconds);
}

/* Moves the rows that want more to the front, in a random order; how many. */
static int draw_order(struct row **order, int n, const struct effort *effort, unsigned *seed)
{
	int left = 0;
	for (int i = 0; i < n; i++)
		if (!has_enough(order[i], effort))
			order[left++] = order[i];
	for (int i = left - 1; i > 0; i--) {
		int other = rand_r(seed) % (i + 1);
		struct row *row = order[i];
		order[i] = order[other];
		order[other] = row;
	}
	return left;
}

double clock_seconds(bool counts_processors, double threads)
{
	struct timespec time;
	clock_gettime(counts_processors ? CLOCK_PROCESS_CPUTIME_ID : CLOCK_MONOTONIC, &time);
	return ((double) time.tv_sec + 1e-9 * (double) time.tv_nsec) / (counts_processors ? threads : 1);
}

static bool warm(struct row *row, const struct effort *effort, struct failure *failure)
{
	for (double sum = 0, seconds; sum < effort->warm_seconds; sum += seconds)
		if (!row->run(row->state, &seconds, failure))
			return false;
	return true;
}

static bool run_once(struct arena *arena, struct row *row, const struct effort *effort, struct failure *failure)
{
	int repeats = row->repeats > 0 ? row->repeats : 1;
	if (!warm(row, effort, failure))
		return false;
	double sum = 0, start = clock_seconds(true, row->record.threads);
	for (int i = 0; i < repeats; i++) {
		double seconds;
		if (!row->run(row->state, &seconds, failure))
			return false;
		sum += seconds;
	}
	if (effort->counts_processors)
		sum = clock_seconds(true, row->record.threads) - start;
	keep_time(arena, row, sum / repeats);
	row->total += sum - sum / repeats;
	return true;
}

static void summarise(struct arena *arena, struct row *row)
{
	double *sorted = arena_new_array(arena, double, row->n_times);
	memcpy(sorted, row->times, (size_t) row->n_times * sizeof(*sorted));
	struct interval interval = median_interval(sorted, row->n_times);
	row->record.ms_median = 1e3 * interval.middle;
	row->record.ms_low = 1e3 * interval.low;
	row->record.ms_high = 1e3 * interval.high;
	row->record.ms_min = 1e3 * sorted[0];
	row->record.ms_mean = 1e3 * row->total / row->n_times;
	row->record.runs = row->n_times;
}

bool measure(struct arena *arena, const row_list *rows, const struct effort *effort, struct failure *failure)
{
	struct row **order = arena_new_array(arena, struct row *, rows->n + 1);
	unsigned seed = 1;
	if (rows->n > 0)
		memcpy(order, rows->items, (size_t) rows->n * sizeof(struct row *));
	for (int n = draw_order(order, rows->n, effort, &seed); n > 0; n = draw_order(order, n, effort, &seed))
		for (int i = 0; i < n; i++)
			if (!run_once(arena, order[i], effort, failure))
				return false;
	for (int i = 0; i < rows->n; i++) {
		summarise(arena, rows->items[i]);
		if (!*rows->items[i]->record.clock)
			rows->items[i]->record.clock = effort->counts_processors ? "cpu" : "wall";
	}
	return true;
}

/* ---- Ratios ------------------------------------------------------------------------ */

const struct row *find_baseline(const row_list *rows, const char *op, const char *baseline)
{
	for (int i = 0; i < rows->n; i++)
		if (strcmp(rows->items[i]->record.op, op) == 0 &&
		    strcmp(rows->items[i]->record.version, baseline) == 0)
			return rows->items[i];
	return NULL;
}

void relate(struct arena *arena, const row_list *rows, const char *baseline)
{
	for (int i = 0; i < rows->n; i++) {
		struct row *row = rows->items[i];
		const struct row *base = find_baseline(rows, row->record.op, baseline);
		if (!base)
			continue;
		struct interval ratio =
			ratio_interval(arena, base->times, base->n_times, row->times, row->n_times);
		row->record.baseline = baseline;
		row->record.ratio = ratio.middle;
		row->record.ratio_low = ratio.low;
		row->record.ratio_high = ratio.high;
	}
}

/* ---- The machine ------------------------------------------------------------------------ */

const char *machine_name(struct arena *arena)
{
	char line[512], *name = NULL;
	FILE *file = fopen("/proc/cpuinfo", "re");
	while (file && !name && fgets(line, sizeof(line), file)) {
		char *colon = strchr(line, ':');
		if (strncmp(line, "model name", 10) != 0 || !colon)
			continue;
		colon[1 + strcspn(colon + 1, "\n")] = '\0';
		name = arena_string(arena, colon + 1 + strspn(colon + 1, " "));
	}
	if (file)
		fclose(file);
	return name ? name : "unknown";
}

const char *gpu_name(struct arena *arena)
{
	int (*initialise)(unsigned flags), (*name_of)(char *name, int size, int device);
	char name[256] = "unknown";
	void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!driver)
		return "unknown";
	*(void **) (void *) &initialise = dlsym(driver, "cuInit");
	*(void **) (void *) &name_of = dlsym(driver, "cuDeviceGetName");
	if (!initialise || !name_of || initialise(0) != 0 || name_of(name, sizeof(name), 0) != 0)
		return "unknown";
	return arena_string(arena, name);
}
