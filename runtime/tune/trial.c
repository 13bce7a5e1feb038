/* SPDX-License-Identifier: MIT
 *
 * Trials: each candidate is planned and run three times (as the kernels of S4 are), on scratch that all share, or each
 * on its own, with arguments in its blocks. The best plan so far is held while the next one is made, so that at most
 * two exist at once. Unless one of them is clearly slower, both are run some more times in turns, so that clock, caches
 * and other work meet them alike; then the next one is better only if it is so turn by turn, and by more than chance
 * explains. A candidate that does not fit beside the best, or that fails, is left out with the reason; one that is far
 * behind after its first run is not run again. */
#include "plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_TIMES = 256 };

/* A candidate of an estimate this much above the least is not tried; nor is one run again that took as much longer than
 * the best. */
#define HOPELESS_ESTIMATE 30.0
#define HOPELESS_RUN 2.0

/* The next one is clearly slower, or clearly faster: other work that met the best one does not explain it. */
#define CLEARLY_SLOWER 1.5
#define CLEARLY_FASTER (1/3.0)

/* Turns, and how many more of those that are so close after them. */
enum { TURNS = 4, MORE_TURNS = 4 };
#define CLOSE 1.1

/* The next one is better if it takes less than this part of the best one's time: the median of all turns. */
#define BETTER 0.97

/* A run is so many executions, or iterations of a pipeline with `iterate`, that it takes so long: other work that
 * takes a core for a moment meets a part of a run, and not all runs of a candidate. */
#define LONG_ENOUGH 5e-3

struct trials {
	const pmg_pipeline_desc *desc;
	const void *args;
	const pmg_options *options;
	pmg_trial *trials;
	struct scratch scratch[2];
	struct scratch *of_best, *of_next;      /* the first one, unless each has its own */
	double least_estimate;
	int64_t times;                  /* executions of a run, or iterations of its only one; 0: not found yet */
	bool is_finished;               /* an execution has been */
	bool lacks_room;                /* for a candidate and its arguments in blocks, perhaps beside the best one */
	struct plan *best;
	double best_seconds;
	int32_t chosen;
};

static void problem_set(pmg_trial *trial, const char *problem)
{
	snprintf(trial->problem, sizeof trial->problem, "%s", problem);
}

/* ---- Running ---- */

/* The seconds of one execution. */
static pmg_status execute_timed(struct trials *trials, struct plan *plan, double *seconds)
{
	struct scratch *const scratch = plan == trials->best ? trials->of_best : trials->of_next;
	pmg_control control = { .budget = trials->times };
	double start;
	pmg_status status;

	scratch_fill(scratch);
	start = seconds_now();
	plan->is_tried = true;
	status = pmg_plan_execute(&plan->kernel, scratch->args, &control);
	plan->is_tried = false;
	*seconds = seconds_now() - start;
	trials->is_finished |= control.finished;
	return status;
}

static int64_t executions(const struct trials *trials)
{
	return trials->desc->has_loop ? 1 : trials->times;
}

/* A run: the mean seconds of an execution. */
static pmg_status run(struct trials *trials, struct plan *plan, double *seconds)
{
	const int64_t n = executions(trials);
	pmg_status status = PMG_OK;
	double taken;

	*seconds = 0;
	for (int64_t i = 0; i < n && status == PMG_OK; i++) {
		status = execute_timed(trials, plan, &taken);
		*seconds += taken / (double) n;
	}
	return status;
}

/* How often is found with the first candidate and used for all. The first run also makes pages and wakes threads. An
 * `iterate` that ends needs no more iterations; its first one may differ from the others. */
static pmg_status times_find(struct trials *trials, struct plan *plan)
{
	const bool has_loop = trials->desc->has_loop;
	pmg_status status;
	double seconds;

	trials->times = has_loop ? 2 : 1;
	status = run(trials, plan, &seconds);
	while (status == PMG_OK && trials->times < MOST_TIMES && !(has_loop && trials->is_finished)) {
		status = run(trials, plan, &seconds);
		if (seconds * (double) executions(trials) >= LONG_ENOUGH)
			break;
		trials->times *= 2;
	}
	if (status != PMG_OK)
		trials->times = 0;
	return status;
}

/* Runs of the plan of a candidate; `least` becomes the least of all its runs. */
static pmg_status run_noted(struct trials *trials, struct plan *plan, pmg_trial *trial, double *least)
{
	double seconds;
	const pmg_status status = run(trials, plan, &seconds);

	if (status == PMG_OK) {
		trial->runs[trial->n_runs++] = seconds;
		*least = fmin(*least, seconds);
	}
	return status;
}

static pmg_status plan_try(struct trials *trials, struct plan *plan, pmg_trial *trial, double *least)
{
	pmg_status status = trials->times ? PMG_OK : times_find(trials, plan);

	*least = HUGE_VAL;
	while (status == PMG_OK && trial->n_runs < PMG_TRIAL_RUNS) {
		status = run_noted(trials, plan, trial, least);
		if (trials->best && *least > HOPELESS_RUN * trials->best_seconds)
			break;
	}
	return status;
}

static bool is_worth_turns(const struct trials *trials, const pmg_trial *trial, double seconds)
{
	const int32_t most = PMG_TRIAL_MOST - TURNS - MORE_TURNS;

	return trials->best && seconds <= CLEARLY_SLOWER * trials->best_seconds &&
	       seconds >= CLEARLY_FASTER * trials->best_seconds && trial->n_runs <= most &&
	       trials->trials[trials->chosen].n_runs <= most;
}

static bool are_close(double a, double b)
{
	return fmax(a, b) <= CLOSE * fmin(a, b);
}

static void best_drop(struct trials *trials)
{
	pmg_plan_destroy(&trials->best->kernel);
	trials->best = NULL;
	if (trials->options->in_blocks)
		scratch_close(trials->of_best);
}

/* The best plan has failed beside the next one. */
static void best_lose(struct trials *trials)
{
	problem_set(&trials->trials[trials->chosen], "it has failed beside another one");
	best_drop(trials);
}

static double median_of(double *values, int n)
{
	for (int i = 1; i < n; i++)
		for (int k = i; k > 0 && values[k] < values[k - 1]; k--) {
			const double value = values[k];

			values[k] = values[k - 1];
			values[k - 1] = value;
		}
	return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

/* Runs the best plan and the next one in turns: the part of the best one's time that the next one takes. Meanwhile the
 * best one takes no more memory, which has been promised to the next. */
static pmg_status take_turns(struct trials *trials, pmg_trial *trial, struct plan *plan, double *seconds, double *part)
{
	pmg_trial *const best = &trials->trials[trials->chosen];
	const int64_t limit = trials->best->max_memory;
	pmg_status status = PMG_OK, lost = PMG_OK;
	double parts[TURNS + MORE_TURNS];
	int turn = 0;

	if (limit > 0)
		trials->best->max_memory = trials->best->bytes;
	for (; turn < TURNS + MORE_TURNS && status == PMG_OK && lost == PMG_OK; turn++) {
		if (turn == TURNS && !are_close(trials->best_seconds, *seconds))
			break;
		lost = run_noted(trials, trials->best, best, &trials->best_seconds);
		status = run_noted(trials, plan, trial, seconds);
		parts[turn] = trial->runs[trial->n_runs - 1] / best->runs[best->n_runs - 1];
	}
	*part = median_of(parts, turn);
	trials->best->max_memory = limit;
	if (lost != PMG_OK)
		best_lose(trials);
	return status;
}

/* ---- Candidates ---- */

/* What the limit leaves beside scratch and the best plan; 0: there is no limit; negative: nothing. */
static int64_t memory_left(const struct trials *trials)
{
	const int64_t held = trials->scratch[0].bytes + trials->scratch[1].bytes +
			     (trials->best ? trials->best->bytes : 0);
	const int64_t left = trials->options->max_memory - held;

	if (trials->options->max_memory == 0)
		return 0;
	return left > 0 ? left : -1;
}

/* The candidate's own scratch, if it has one, beside its plan. */
static pmg_status next_open(struct trials *trials, int32_t number, struct plan *plan)
{
	struct scratch *const next = &trials->scratch[trials->of_best == &trials->scratch[0]];
	const int64_t left = plan->max_memory - plan->bytes;

	if (!trials->options->in_blocks)
		return PMG_OK;
	trials->of_next = next;
	next->desc = trials->desc->candidates[number];
	trials->lacks_room = (plan->max_memory > 0 && scratch_forecast(next) > left) || !scratch_open(next);
	if (trials->lacks_room)
		return pmg_fail(trials->options->context, PMG_NO_RESOURCES,
				"no memory is left for its arguments in blocks");
	plan->max_memory -= plan->max_memory > 0 ? next->bytes : 0;
	return PMG_OK;
}

static void next_close(struct trials *trials)
{
	if (trials->options->in_blocks && trials->of_next->args)
		scratch_close(trials->of_next);
}

/* `part`: of the best one's time. */
static void keep_better(struct trials *trials, int32_t number, struct plan *plan, double seconds, double part)
{
	struct scratch *const of_best = trials->of_best;
	struct plan *loser = plan;

	if (!trials->best || part < BETTER) {
		loser = trials->best;
		trials->best = plan;
		trials->best_seconds = seconds;
		trials->chosen = number;
		trials->of_best = trials->of_next;
		trials->of_next = of_best;
	}
	pmg_plan_destroy(loser ? &loser->kernel : NULL);
	next_close(trials);
}

/* The plan of a candidate, within what is left. */
static pmg_status next_plan(const struct trials *trials, int32_t number, struct plan **plan)
{
	pmg_options options = *trials->options;

	options.max_memory = memory_left(trials);
	if (options.max_memory < 0)
		return pmg_fail(options.context, PMG_NO_RESOURCES, "no memory is left within the limit");
	return plan_make(trials->desc->candidates[number], trials->args, &options, plan);
}

static pmg_status candidate_try(struct trials *trials, int32_t number)
{
	pmg_trial *const trial = &trials->trials[number];
	struct plan *plan = NULL;
	double seconds, part = 0;
	pmg_status status = next_plan(trials, number, &plan);

	trials->lacks_room = trials->options->in_blocks && status == PMG_NO_RESOURCES && trials->best;
	if (status == PMG_OK)
		status = next_open(trials, number, plan);
	if (status == PMG_OK) {
		trial->inspection = plan->report.inspection;
		status = plan_try(trials, plan, trial, &seconds);
		part = trials->best ? seconds / trials->best_seconds : 0;
	}
	if (status == PMG_OK && is_worth_turns(trials, trial, seconds))
		status = take_turns(trials, trial, plan, &seconds, &part);
	if (status == PMG_OK) {
		keep_better(trials, number, plan, seconds, part);
		return PMG_OK;
	}
	if (!trials->lacks_room)
		problem_set(trial, pmg_message(trials->options->context));
	pmg_plan_destroy(plan ? &plan->kernel : NULL);
	next_close(trials);
	return status;
}

static bool is_worth_trying(const struct trials *trials, const pmg_trial *trial)
{
	return !trial->problem[0] &&
	       (trials->least_estimate <= 0 || trial->estimate <= HOPELESS_ESTIMATE * trials->least_estimate);
}

/* Wrong data is wrong for every candidate; what is too large for the arrays of one is not. */
static bool is_final(pmg_status status)
{
	return status == PMG_BAD_DATA || status == PMG_BAD_CALL || status == PMG_INTERNAL;
}

static pmg_status candidates_try(struct trials *trials)
{
	pmg_status status = PMG_OK;

	for (int32_t i = 0; i < trials->desc->n_candidates && !is_final(status) && !trials->lacks_room; i++)
		if (is_worth_trying(trials, &trials->trials[i]))
			status = candidate_try(trials, i);
		else if (!trials->trials[i].problem[0])
			problem_set(&trials->trials[i], "its estimate is far above the least");
	if (trials->lacks_room && trials->best)
		best_drop(trials);
	return trials->best ? PMG_OK : status;
}

/* The plan as it was before any execution: states are zero. */
static void plan_forget(struct plan *plan)
{
	for (int32_t i = 0; i < plan->desc->n_arrays; i++)
		if (plan->desc->arrays[i].role == PMG_STATE)
			memset(plan->bindings[i].own, 0, (size_t) plan->bindings[i].own_bytes);
	plan->progress = (struct progress) { .has_state = false };
	fault_forget(plan);
}

static double least_estimate(const pmg_trial *trials, int32_t n)
{
	double least = 0;

	for (int32_t i = 0; i < n; i++)
		if (!trials[i].problem[0] && trials[i].estimate > 0 && (least <= 0 || trials[i].estimate < least))
			least = trials[i].estimate;
	return least;
}

static struct scratch scratch_of(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options,
				 const int64_t *extents)
{
	return (struct scratch) { .desc = desc, .context = options->context, .extents = extents, .caller = args,
				  .in_blocks = options->in_blocks };
}

int64_t trials_forecast(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options,
			const int64_t *extents)
{
	struct scratch scratch = scratch_of(desc, args, options, extents);
	int64_t most = scratch_forecast(&scratch);

	for (int32_t i = 1; options->in_blocks && i < desc->n_candidates; i++) {
		int64_t bytes;

		scratch.desc = desc->candidates[i];
		bytes = scratch_forecast(&scratch);
		most = bytes > most ? bytes : most;
	}
	return options->in_blocks ? 2*most : most;
}

/* The scratch of all candidates; of the first ones, while they have their own. */
static bool scratch_begin(struct trials *trials)
{
	const pmg_options *options = trials->options;

	trials->of_best = trials->of_next = &trials->scratch[0];
	if (!options->in_blocks)
		return (options->max_memory == 0 || scratch_forecast(&trials->scratch[0]) < options->max_memory) &&
		       scratch_open(&trials->scratch[0]);
	trials->scratch[1] = trials->scratch[0];
	trials->of_best = &trials->scratch[1];
	return true;
}

pmg_status trials_run(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options,
		      const int64_t *extents, pmg_trial *list, struct plan **best, int32_t *chosen)
{
	struct trials trials = {
		.desc = desc, .args = args, .options = options, .trials = list,
		.scratch = { scratch_of(desc, args, options, extents) },
		.least_estimate = least_estimate(list, desc->n_candidates)
	};
	pmg_status status;

	*best = NULL;
	if (!scratch_begin(&trials))
		return PMG_OK;
	status = candidates_try(&trials);
	if (trials.of_best->args)
		scratch_close(trials.of_best);
	if (!trials.best)
		return is_final(status) ? status : PMG_OK;
	plan_forget(trials.best);
	trials.best->max_memory = options->max_memory;
	*best = trials.best;
	*chosen = trials.chosen;
	return PMG_OK;
}
