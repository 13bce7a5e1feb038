/* SPDX-License-Identifier: MIT
 *
 * --turns=N: what the choice of a plan costs. All candidates are planned, and executed in turns, so that clock, caches
 * and other work meet them alike; the medians are told beside the estimates, and the ratio of the one that is chosen to
 * the best one. A turn of a candidate is so many executions that it takes LONG_ENOUGH; one that is HOPELESS after the
 * first turn is not run again. */
#include "run/run.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define LONG_ENOUGH 2e-3
#define HOPELESS 8.0

enum { MOST_EXECUTIONS = 1000 };

struct turn_taker {
	struct execution e;
	const char *choice, *problem;   /* problem: why it is not measured; NULL */
	double *seconds, median, estimate;
	int n;
};

struct turns {
	struct session *session;
	struct turn_taker *takers;
	int n;                          /* candidates */
	int chosen, executions;
};

static pmg_options options_of(const struct session *s, pmg_context *context)
{
	return (pmg_options){ .context = context, .threads = (int32_t) s->values.threads,
			      .check_finite = session_checks_finite(),
			      .max_memory = s->max_memory ? s->max_memory - session_bytes(s) : 0 };
}

static const char *name_of(const char *choice)
{
	return choice && *choice ? choice : PMG_FIRST_CANDIDATE;
}

/* One that cannot be planned has a problem; it may need what the data does not have. */
static bool taker_open(struct turns *turns, const struct execution *any, int i, struct failure *failure)
{
	struct turn_taker *taker = &turns->takers[i];
	const pmg_pipeline_desc *desc = any->desc;
	if (!library_attach(turns->session, desc, any->results, &taker->e, failure))
		return false;
	taker->choice = name_of(desc->n_candidates ? desc->candidates[i]->choice : NULL);
	taker->seconds = arena_new_array(turns->session->arena, double, turns->session->values.turns);
	pmg_options options = options_of(turns->session, taker->e.context);
	options.candidate = taker->choice;
	if (desc->plan(taker->e.args, &options, &taker->e.plan) != PMG_OK)
		taker->problem = arena_string(turns->session->arena, pmg_message(taker->e.context));
	return true;
}

/* Which one a plan of its own choice takes, and the estimates of all. */
static bool find_chosen(struct turns *turns, const struct execution *any, struct failure *failure)
{
	struct execution e;
	bool ok = library_attach(turns->session, any->desc, any->results, &e, failure);
	if (ok) {
		pmg_options options = options_of(turns->session, e.context);
		options.tune = turns->session->tune;
		ok = e.desc->plan(e.args, &options, &e.plan) == PMG_OK;
		if (!ok)
			fail(failure, OUTCOME_DATA, "%s", pmg_message(e.context));
	}
	const pmg_report *report = pmg_plan_report(e.plan);
	for (int i = 0; ok && i < turns->n; i++) {
		if (strcmp(turns->takers[i].choice, name_of(report->choice)) == 0)
			turns->chosen = i;
		if (i < report->n_trials)
			turns->takers[i].estimate = report->trials[i].estimate;
	}
	library_close(&e);
	return ok;
}

/* Of one thread the processor's time counts, which other work does not change. */
static bool execute_timed(const struct turns *turns, struct turn_taker *taker, double *seconds,
			  struct failure *failure)
{
	struct timespec before, after;
	bool ok = clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before) == 0 &&
		  library_execute(&taker->e, seconds, failure);
	if (ok && turns->session->values.threads == 1 && clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after) == 0)
		*seconds = (double) (after.tv_sec - before.tv_sec) + 1e-9*(double) (after.tv_nsec - before.tv_nsec);
	return ok;
}

static bool take_turn(struct turns *turns, struct turn_taker *taker, struct failure *failure)
{
	double all = 0, seconds;
	for (int i = 0; i < turns->executions; i++) {
		if (!execute_timed(turns, taker, &seconds, failure))
			return false;
		all += seconds;
	}
	taker->seconds[taker->n++] = all/turns->executions;
	return true;
}

static int compare_times(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;
	return (x > y) - (x < y);
}

/* The first execution of each makes pages and wakes threads, and tells how often one is to be executed. */
static bool warm_up(struct turns *turns, struct failure *failure)
{
	double least = 0, seconds;
	for (int i = 0; i < turns->n; i++)
		for (int twice = 0; twice < 2 && !turns->takers[i].problem; twice++) {
			if (!execute_timed(turns, &turns->takers[i], &seconds, failure))
				return false;
			least = least > 0 && least < seconds ? least : seconds;
		}
	turns->executions = least*MOST_EXECUTIONS < LONG_ENOUGH ? MOST_EXECUTIONS : 1 + (int) (LONG_ENOUGH/least);
	return true;
}

static const struct turn_taker *best_of(const struct turns *turns)
{
	const struct turn_taker *best = NULL;
	for (int i = 0; i < turns->n; i++)
		if (turns->takers[i].n && (!best || turns->takers[i].median < best->median))
			best = &turns->takers[i];
	return best;
}

static bool take_turns(struct turns *turns, struct failure *failure)
{
	bool ok = warm_up(turns, failure);
	for (int turn = 0; ok && turn < turns->session->values.turns; turn++) {
		const struct turn_taker *best = best_of(turns);
		const double most = best ? HOPELESS*best->median : 0;
		for (int i = 0; ok && i < turns->n; i++)
			if (!turns->takers[i].problem && (turn == 0 || turns->takers[i].median <= most))
				ok = take_turn(turns, &turns->takers[i], failure);
		for (int i = 0; i < turns->n; i++) {
			struct turn_taker *taker = &turns->takers[i];
			qsort(taker->seconds, (size_t) taker->n, sizeof(*taker->seconds), compare_times);
			taker->median = taker->n ? taker->seconds[taker->n/2] : 0;
		}
	}
	return ok;
}

static void print_turns(const struct turns *turns)
{
	const struct turn_taker *best = best_of(turns), *chosen = &turns->takers[turns->chosen];
	printf("  %-40s %12s %12s %6s\n", "candidate", "estimate ms", "median ms", "turns");
	for (int i = 0; i < turns->n; i++) {
		const struct turn_taker *taker = &turns->takers[i];
		printf("%c %-40s %12.4f %12.4f %6d%s%s\n", i == turns->chosen ? '*' : ' ', taker->choice,
		       1e3*taker->estimate, 1e3*taker->median, taker->n, taker->problem ? "  left out: " : "",
		       taker->problem ? taker->problem : "");
	}
	if (best && chosen->n)
		printf("chosen: %s takes %.3f times the best, %s, of %.4f ms\n", chosen->choice,
		       chosen->median/best->median, best->choice, 1e3*best->median);
}

bool turns_run(const struct execution *any, struct failure *failure)
{
	struct turns turns = { .session = any->session };
	bool ok = true;
	turns.n = any->desc->n_candidates > 0 ? any->desc->n_candidates : 1;
	turns.takers = arena_new_array(any->session->arena, struct turn_taker, turns.n);
	for (int i = 0; ok && i < turns.n; i++)
		ok = taker_open(&turns, any, i, failure);
	ok = ok && find_chosen(&turns, any, failure) && take_turns(&turns, failure);
	if (ok)
		print_turns(&turns);
	for (int i = 0; i < turns.n; i++)
		library_close(&turns.takers[i].e);
	return ok;
}
