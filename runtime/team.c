/* SPDX-License-Identifier: MIT
 *
 * Threads of a region on a machine whose processors have other work. A region ends when its last thread does, and one
 * that waits for its turn on a processor lets all others wait, for longer than a short region takes alone. So a short
 * region has no more threads than processors that are free, as the system counts what runs; that is asked for at times,
 * which costs less than a thousandth. One thread is always left: that of the caller. */
#include "plan.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds, and operations of a thread that keep it busy for longer than it waits for its turn. */
enum { BETWEEN_LOOKS = 20000000, LONG_WORK = 1 << 27 };

int32_t threads_left(int64_t processors, int64_t running, int64_t own)
{
	const int64_t others = running > own ? running - own : 0;

	return processors - others > 1 ? (int32_t) (processors - others) : 1;
}

/* "0.10 0.20 0.30 2/345 6789": 2 run; 0: it is not known. */
static int64_t count_running(void)
{
	char text[64] = "";
	FILE *file = fopen("/proc/loadavg", "re");
	long long running = 0;
	const char *slash;

	if (file && fgets(text, sizeof text, file)) {
		slash = strchr(text, '/');
		while (slash && slash > text && slash[-1] != ' ')
			slash--;
		if (slash && sscanf(slash, "%lld", &running) != 1)
			running = 0;
	}
	if (file)
		fclose(file);
	return running;
}

static int64_t now(void)
{
	struct timespec time;

	return clock_gettime(CLOCK_MONOTONIC, &time) == 0 ? time.tv_sec*(int64_t) 1000000000 + time.tv_nsec : 0;
}

static void look(struct team *team, int32_t threads)
{
	const int64_t time = now(), processors = sysconf(_SC_NPROCESSORS_ONLN);

	if (team->left && time - team->looked < BETWEEN_LOOKS)
		return;
	team->looked = time;
	team->left = processors > 0 ? threads_left(processors, count_running(), team->size ? team->size : 1) : threads;
}

int32_t pmg_plan_team(pmg_plan *handle, int32_t threads, double work)
{
	struct plan *plan = plan_of(handle);

	if (!plan->is_deterministic && work < (double) LONG_WORK*threads) {
		look(&plan->team, threads);
		threads = threads < plan->team.left ? threads : plan->team.left;
	}
	plan->team.size = threads;
	return threads;
}
