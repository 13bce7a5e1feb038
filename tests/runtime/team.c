/* SPDX-License-Identifier: MIT
 *
 * How many threads a parallel region gets: as many as have work, of those that the plan has,
 * and processors that are free; no time is measured. */
#include "runtime/check.h"
#include "plan/plan.h"

#include <math.h>

/* One cell of a hundred compartments had as many threads as there were, and took up to 300 times as long. */
static void test_work(struct tests *tests)
{
	const double unit = PMG_THREAD_WORK;

	CHECK(tests, pmg_team_size(8, 0, 100) == 1);
	CHECK(tests, pmg_team_size(8, 2*unit - 1, 100) == 1);
	CHECK(tests, pmg_team_size(8, 2*unit, 100) == 2);
	CHECK(tests, pmg_team_size(8, 5.5*unit, 100) == 5);
	CHECK(tests, pmg_team_size(8, 8*unit, 100) == 8);
	CHECK(tests, pmg_team_size(8, 1e18, 100) == 8);
	CHECK(tests, pmg_team_size(1, 1e18, 100) == 1);
}

static void test_iterations(struct tests *tests)
{
	CHECK(tests, pmg_team_size(8, 1e18, 0) == 1);
	CHECK(tests, pmg_team_size(8, 1e18, 1) == 1);
	CHECK(tests, pmg_team_size(8, 1e18, 3) == 3);
	CHECK(tests, pmg_team_size(8, 1e18, 17.0/16) == 2);
	CHECK(tests, pmg_team_size(8, 1e18, 0.5) == 1);
	CHECK(tests, pmg_team_size(8, 1e18, INFINITY) == 8);
}

/* A range may be empty, or end before it begins; sizes may be so large that their product is infinite, and those of no
 * elements make it undefined. */
static void test_extremes(struct tests *tests)
{
	CHECK(tests, pmg_team_size(8, -1e18, 100) == 1);
	CHECK(tests, pmg_team_size(8, 1e18, -3) == 1);
	CHECK(tests, pmg_team_size(8, INFINITY, INFINITY) == 8);
	CHECK(tests, pmg_team_size(8, NAN, 100) >= 1);
	CHECK(tests, pmg_team_size(8, 1e18, NAN) >= 1);
}

/* Processors, what runs, and what of it is our own. */
static void test_busy(struct tests *tests)
{
	CHECK(tests, threads_left(2, 1, 1) == 2);
	CHECK(tests, threads_left(2, 1, 2) == 2);
	CHECK(tests, threads_left(2, 2, 1) == 1);
	CHECK(tests, threads_left(2, 3, 1) == 1);
	CHECK(tests, threads_left(2, 4, 2) == 1);
	CHECK(tests, threads_left(16, 4, 1) == 13);
	CHECK(tests, threads_left(16, 16, 16) == 16);
	CHECK(tests, threads_left(16, 0, 1) == 16);
	CHECK(tests, threads_left(2, 100, 1) == 1);
}

/* With options.deterministic, how busy the machine is changes no number of threads: partial sums would be others. */
static void test_deterministic(struct tests *tests)
{
	pmg_context *context = pmg_context_new(NULL);
	struct plan busy = { .context = context }, same = { .context = context, .is_deterministic = true };

	*context_team(context) = (struct team) { .looked = INT64_MAX, .left = 1 };
	CHECK(tests, pmg_plan_team(&busy.kernel, 4, 1e6) == 1);
	CHECK(tests, pmg_plan_team(&same.kernel, 4, 1e6) == 4);
	pmg_context_free(context);
}

/* Threads that another plan, or a larger region before the last one, has left running were taken for other work: the
 * second candidate of a trial ran on one thread. */
static void test_own_threads(struct tests *tests)
{
	pmg_context *context = pmg_context_new(NULL);
	struct plan first = { .context = context }, second = { .context = context };
	struct team *team = context_team(context);

	*team = (struct team) { .looked = INT64_MAX, .left = 6 };
	CHECK(tests, pmg_plan_team(&first.kernel, 4, 1e6) == 4);
	CHECK(tests, pmg_plan_team(&first.kernel, 2, 1e6) == 2);
	CHECK(tests, pmg_plan_team(&second.kernel, 3, 1e6) == 3);
	CHECK(tests, team->most == 4 && team->left == 6);
	CHECK(tests, pmg_plan_team(&second.kernel, 8, 1e6) == 6);
	CHECK(tests, team->most == 6);
	team->looked = 0;
	CHECK(tests, pmg_plan_team(&second.kernel, 2, 1e6) >= 1);
	CHECK(tests, team->looked > 0 && team->most <= 2);
	pmg_context_free(context);
}

void test_team(struct tests *tests)
{
	test_work(tests);
	test_iterations(tests);
	test_extremes(tests);
	test_busy(tests);
	test_deterministic(tests);
	test_own_threads(tests);
}
