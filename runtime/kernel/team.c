/* SPDX-License-Identifier: MIT
 *
 * Threads of a region on a machine whose processors have other work. A region ends when its last thread does, and a
 * thread that waits for a processor makes all others wait, longer than a short region takes on one thread. So a short
 * region gets no more threads than there are free processors: those that the system counts, less the threads that run
 * and are not ours. The count is read every 20 ms, which costs less than a thousandth of the time. The caller's thread
 * is always left.
 *
 * Threads of an earlier region go on running for a while when it has ended. So as many count as ours as the largest
 * region has had since the last look, of any plan of the context: other plans of it run on the same threads. */
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* Nanoseconds; operations that keep a thread busy for longer than it waits for a processor. */
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
	team->left = processors > 0 ? threads_left(processors, count_running(), team->most ? team->most : 1) : threads;
	team->most = 0;
}

int32_t pmg_plan_team(pmg_plan *handle, int32_t threads, double work)
{
	struct plan *plan = plan_of(handle);
	struct team *team = context_team(plan->context);

	if (!plan->is_deterministic && work < (double) LONG_WORK*threads) {
		look(team, threads);
		threads = threads < team->left ? threads : team->left;
	}
	team->most = threads > team->most ? threads : team->most;
	return threads;
}
