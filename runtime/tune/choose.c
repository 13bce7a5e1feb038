/* SPDX-License-Identifier: MIT
 *
 * Which candidate of its pipeline a plan is of: the one asked for, the first, the one of the least estimate, or the
 * fastest of all in trials. One whose own arrays cannot hold the data is passed over while there is another. Where no
 * trial could be run, for want of memory or because each failed, the estimate decides. */
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

struct choosing {
	const pmg_pipeline_desc *desc;
	const void *args;
	const pmg_options *options;
	pmg_options narrowed;           /* with the limit that `trials` leave */
	int64_t extents[PMG_MAX_EXTENTS];
	pmg_trial *trials;              /* desc->n_candidates */
	int32_t best_lanes;             /* of candidates with one estimate, those of such blocks come first */
};

static const char *choice_of(const pmg_pipeline_desc *desc)
{
	return desc->choice ? desc->choice : "";
}

static bool candidates_are_consistent(const pmg_pipeline_desc *desc)
{
	if (desc->n_candidates < 0 || (desc->n_candidates > 0 && (!desc->candidates || desc->candidates[0] != desc)))
		return false;
	for (int32_t i = 1; i < desc->n_candidates; i++) {
		const pmg_pipeline_desc *other = desc->candidates[i];

		if (!other || other->n_candidates != 0 || !other->choice || other->args_size != desc->args_size ||
		    other->n_params != desc->n_params)
			return false;
	}
	return true;
}

/* ---- One without comparing ---- */

static bool is_eligible(const struct choosing *c, const pmg_pipeline_desc *candidate)
{
	return !c->options->deterministic || candidate->is_ordered;
}

static bool is_long_enough(const void *args, const pmg_least *least)
{
	return *(const int64_t *) (const void *) ((const char *) args + least->at) + least->plus >= least->least;
}

static bool is_suitable(const struct choosing *c, const pmg_pipeline_desc *candidate)
{
	bool is = candidate->n_least == 0;

	for (int32_t i = 0; i < candidate->n_least; i++)
		is = is || is_long_enough(c->args, &candidate->least[i]);
	return is && (!candidate->suits || candidate->suits(c->args));
}

static bool is_measured(const pmg_options *options)
{
	return options->tune == PMG_TUNE_MEASURE && !options->deterministic;
}

/* Arguments in blocks that each execution would convert; trials in blocks make their own. */
static int32_t n_converted(const struct choosing *c, const pmg_pipeline_desc *candidate)
{
	const bool makes_own = c->options->in_blocks && is_measured(c->options);
	int32_t n = 0;

	for (int32_t i = 0; i < candidate->n_arrays && !makes_own; i++) {
		const pmg_array_desc *array = &candidate->arrays[i];
		const pmg_buffer *blocks = argument_in_blocks(array, c->args);

		n += blocks && !array->is_fixed && !parts_are_found(array, blocks);
	}
	return n;
}

/* Why a candidate is left to others that may be taken: they take more of the blocks as they lie; else they are meant
 * for the sizes. */
enum misfit { MISFIT_NONE, MISFIT_BLOCKS, MISFIT_SIZES };

static const char *const problem_of[] = {
	[MISFIT_BLOCKS] = "it takes arguments in other blocks", [MISFIT_SIZES] = "it is meant for other sizes"
};

static const char *const reason_without[] = {
	[MISFIT_BLOCKS] = "the first that takes the blocks as they lie",
	[MISFIT_SIZES] = "the first that suits the sizes"
};

static const char *const reason_can_hold = "the first that can hold the data";

static enum misfit misfit_of(const struct choosing *c, const pmg_pipeline_desc *candidate)
{
	const int32_t n = n_converted(c, candidate);
	bool is_unfit = false;

	for (int32_t i = 0; i < c->desc->n_candidates; i++) {
		const pmg_pipeline_desc *other = c->desc->candidates[i];
		const int32_t n_other = n_converted(c, other);

		if (is_eligible(c, other) && n_other < n)
			return MISFIT_BLOCKS;
		is_unfit = is_unfit || (is_eligible(c, other) && n_other == n && is_suitable(c, other));
	}
	return is_unfit && !is_suitable(c, candidate) ? MISFIT_SIZES : MISFIT_NONE;
}

static pmg_status plan_of_candidate(const struct choosing *c, const pmg_pipeline_desc *candidate,
				    const char *reason, struct plan **plan)
{
	pmg_status status = plan_make(candidate, c->args, c->options, plan);

	if (status == PMG_OK)
		(*plan)->report.reason = reason;
	return status;
}

static pmg_status unordered_fail(const struct choosing *c)
{
	return pmg_fail(c->options->context, PMG_BAD_CALL,
			"pipeline '%s' was compiled to no kernel whose sums have one order; "
			"pmgc --deterministic=on makes one",
			c->desc->name);
}

static pmg_status unknown_fail(const struct choosing *c, const char *wanted)
{
	char list[512] = "";

	if (c->desc->n_candidates <= 1)
		return pmg_fail(c->options->context, PMG_BAD_CALL, "pipeline '%s' has no candidate '%s', only one, '"
				PMG_FIRST_CANDIDATE "'", c->desc->name, wanted);
	for (int32_t i = 1; i < c->desc->n_candidates; i++)
		snprintf(list + strlen(list), sizeof list - strlen(list), ", '%s'", c->desc->candidates[i]->choice);
	return pmg_fail(c->options->context, PMG_BAD_CALL, "pipeline '%s' has no candidate '%s'; there are '"
			PMG_FIRST_CANDIDATE "'%s", c->desc->name, wanted, list);
}

static pmg_status choose_named(const struct choosing *c, struct plan **plan)
{
	const char *wanted = c->options->candidate;
	const bool is_first = !*wanted || strcmp(wanted, PMG_FIRST_CANDIDATE) == 0;
	const pmg_pipeline_desc *found = is_first || strcmp(wanted, choice_of(c->desc)) == 0 ? c->desc : NULL;

	for (int32_t i = 1; i < c->desc->n_candidates; i++)
		if (strcmp(wanted, c->desc->candidates[i]->choice) == 0)
			found = c->desc->candidates[i];
	if (!found)
		return unknown_fail(c, wanted);
	return is_eligible(c, found) ? plan_of_candidate(c, found, "asked for", plan) : unordered_fail(c);
}

/* The first that may be taken and can hold the data, among those that are misfits or among the others. */
static pmg_status choose_first_of(const struct choosing *c, bool misfits, const char *reason, struct plan **plan)
{
	const int32_t n = c->desc->n_candidates > 0 ? c->desc->n_candidates : 1;
	pmg_status status = STATUS_TOO_NARROW;

	for (int32_t i = 0; i < n && status == STATUS_TOO_NARROW; i++) {
		const pmg_pipeline_desc *candidate = i == 0 ? c->desc : c->desc->candidates[i];
		const enum misfit misfit = misfit_of(c, candidate);

		if (!is_eligible(c, candidate)) {
			reason = "the first that is ordered";
		} else if ((misfit != MISFIT_NONE) != misfits) {
			reason = misfits ? reason : reason_without[misfit];
		} else {
			status = plan_of_candidate(c, candidate, reason, plan);
			reason = reason_can_hold;
		}
	}
	return status;
}

static pmg_status choose_first(const struct choosing *c, struct plan **plan)
{
	bool is_any = is_eligible(c, c->desc);
	pmg_status status;

	for (int32_t i = 1; i < c->desc->n_candidates; i++)
		is_any = is_any || is_eligible(c, c->desc->candidates[i]);
	if (!is_any)
		return unordered_fail(c);
	status = choose_first_of(c, false, "the first", plan);
	return status == STATUS_TOO_NARROW ? choose_first_of(c, true, reason_can_hold, plan) : status;
}

/* ---- Comparing ---- */

/* Where no result may depend on the number of threads, the choice may not either. */
enum { THREADS_IF_DETERMINISTIC = 16 };

static int32_t threads_to_expect(const pmg_options *options)
{
	return options->deterministic ? THREADS_IF_DETERMINISTIC : threads_of(options->threads);
}

static int64_t trials_bytes(const pmg_pipeline_desc *desc)
{
	return desc->n_candidates * (int64_t) sizeof(pmg_trial);
}

static void trials_begin(const struct choosing *c)
{
	const int32_t threads = threads_to_expect(c->options);
	struct known_runs known = { 0 };

	memset(c->trials, 0, (size_t) trials_bytes(c->desc));
	for (int32_t i = 0; i < c->desc->n_candidates; i++) {
		const pmg_pipeline_desc *candidate = c->desc->candidates[i];
		const enum misfit misfit = misfit_of(c, candidate);
		pmg_trial *trial = &c->trials[i];

		trial->choice = choice_of(candidate);
		trial->estimate = execution_estimate(candidate, c->args, c->extents, threads, &known);
		if (!is_eligible(c, candidate))
			snprintf(trial->problem, sizeof trial->problem, "its sums depend on the order of threads");
		else if (misfit != MISFIT_NONE)
			snprintf(trial->problem, sizeof trial->problem, "%s", problem_of[misfit]);
	}
}

/* By estimate; where that is the same or not known, by their blocks (best_lanes), or the first ones. */
static bool comes_before(const struct choosing *c, int32_t i, int32_t j)
{
	const double a = c->trials[i].estimate, b = c->trials[j].estimate;
	const bool is_best = widths_lanes(c->desc->candidates[i]) == c->best_lanes;

	if (a != b)
		return a < b;
	return is_best == (widths_lanes(c->desc->candidates[j]) == c->best_lanes) ? i < j : is_best;
}

/* The eligible one of the least estimate that has no problem, or one in any case, among those that come after `last`
 * (-1: all). */
static int32_t best_estimate(const struct choosing *c, bool with_problems, int32_t last)
{
	int32_t best = -1;

	for (int32_t i = 0; i < c->desc->n_candidates; i++)
		if (is_eligible(c, c->desc->candidates[i]) && (with_problems || !c->trials[i].problem[0]) &&
		    (last < 0 || comes_before(c, last, i)) && (best < 0 || comes_before(c, i, best)))
			best = i;
	return best;
}

static bool may_do_better(pmg_status status)
{
	return status == PMG_NO_RESOURCES || status == STATUS_TOO_NARROW;
}

static pmg_status choose_estimated_of(const struct choosing *c, bool with_problems, const char *reason,
				      struct plan **plan)
{
	pmg_status status = STATUS_TOO_NARROW;

	for (int32_t best = best_estimate(c, with_problems, -1); best >= 0 && may_do_better(status);
	     best = best_estimate(c, with_problems, best)) {
		status = plan_of_candidate(c, c->desc->candidates[best], reason, plan);
		if (may_do_better(status))
			snprintf(c->trials[best].problem, sizeof c->trials[best].problem, "%s",
				 pmg_message(c->options->context));
	}
	return status;
}

/* Those with a problem, which may be that others suit the data better, only where all others fail. */
static pmg_status choose_estimated(const struct choosing *c, const char *reason, struct plan **plan)
{
	pmg_status status;

	if (best_estimate(c, true, -1) < 0)
		return unordered_fail(c);
	status = choose_estimated_of(c, false, reason, plan);
	return may_do_better(status) ? choose_estimated_of(c, true, reason, plan) : status;
}

static pmg_status choose_measured(const struct choosing *c, struct plan **plan)
{
	int32_t chosen;
	pmg_status status = trials_run(c->desc, c->args, c->options, c->extents, c->trials, plan, &chosen);

	if (status == PMG_OK && !*plan)
		return choose_estimated(c, "estimated, as no trial could be run", plan);
	if (status == PMG_OK)
		(*plan)->report.reason = "measured";
	return status;
}

/* The list of trials becomes the plan's. */
static void trials_give(const struct choosing *c, struct plan *plan, int64_t max_memory)
{
	plan->report.trials = c->trials;
	plan->report.n_trials = c->desc->n_candidates;
	plan->trials_bytes = trials_bytes(c->desc);
	plan->bytes += plan->trials_bytes;
	plan->peak += plan->trials_bytes;
	plan->max_memory = max_memory;
}

static pmg_status choose_by_trials(struct choosing *c, struct plan **plan)
{
	const int32_t threads = threads_to_expect(c->options);

	c->best_lanes = widths_best(c->desc, c->options, c->extents, threads, widths_near(threads));
	trials_begin(c);
	return is_measured(c->options) ? choose_measured(c, plan) : choose_estimated(c, "estimated", plan);
}

/* No plan has room in what the list of trials leaves: what the smallest one needs beside it, of the whole limit. */
static pmg_status room_fail(const struct choosing *c, int64_t max_memory)
{
	int64_t least = INT64_MAX;

	for (int32_t i = 0; i < c->desc->n_candidates; i++) {
		int64_t peak;

		if (args_forecast(c->desc->candidates[i], c->args, &peak) >= 0 && peak < least)
			least = peak;
	}
	if (least > max_memory - trials_bytes(c->desc) && least < INT64_MAX)
		return limit_fail(c->options->context, c->desc->name, least + trials_bytes(c->desc), max_memory);
	return PMG_NO_RESOURCES;
}

static pmg_status choose_compared(struct choosing *c, struct plan **plan)
{
	const pmg_options *options = c->options;
	const int64_t bytes = trials_bytes(c->desc);
	pmg_status status = sizes_check(options->context, c->desc, c->args, options->threads, c->extents);

	if (status != PMG_OK)
		return status;
	if (options->max_memory > 0 && options->max_memory <= bytes)
		return limit_fail(options->context, c->desc->name, bytes + plan_block_bytes(c->desc),
				  options->max_memory);
	c->trials = context_allocate(options->context, (size_t) bytes);
	if (!c->trials)
		return pmg_fail(options->context, PMG_NO_RESOURCES, "no memory for %lld bytes of pipeline '%s'",
				(long long) bytes, c->desc->name);
	c->narrowed = *options;
	c->narrowed.max_memory -= options->max_memory > 0 ? bytes : 0;
	c->options = &c->narrowed;
	status = choose_by_trials(c, plan);
	if (status == PMG_NO_RESOURCES && options->max_memory > 0)
		status = room_fail(c, options->max_memory);
	if (status == PMG_OK)
		trials_give(c, *plan, options->max_memory);
	else
		context_release(options->context, c->trials, (size_t) bytes);
	return status;
}

/* ---- The plan ---- */

static pmg_status choose(struct choosing *c, struct plan **plan)
{
	if (!candidates_are_consistent(c->desc))
		return pmg_fail(c->options->context, PMG_INTERNAL,
				"the description of pipeline '%s' contradicts itself", c->desc->name);
	if (c->options->candidate)
		return choose_named(c, plan);
	if (c->desc->n_candidates < 2 || c->options->tune == PMG_TUNE_OFF)
		return choose_first(c, plan);
	return choose_compared(c, plan);
}

pmg_status pmg_plan_new(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options,
			pmg_plan **result)
{
	const double start = seconds_now();
	struct choosing choosing = { .desc = desc, .args = args, .options = options };
	struct plan *plan = NULL;
	pmg_status status;

	if (result)
		*result = NULL;
	if (!options || !options->context)
		return PMG_BAD_CALL;
	if (!result)
		return pmg_fail(options->context, PMG_BAD_CALL, "there is no place for the plan, but NULL");
	status = call_check(desc, args, options);
	if (status == PMG_OK)
		status = choose(&choosing, &plan);
	if (status != PMG_OK)
		return status == STATUS_TOO_NARROW ? PMG_BAD_DATA : status;
	context_forget(options->context);
	plan->report.tuning = seconds_now() - start - plan->report.inspection;
	*result = &plan->kernel;
	return PMG_OK;
}

const pmg_report *pmg_plan_report(const pmg_plan *plan)
{
	pmg_report *report = plan ? (pmg_report *) (uintptr_t) &plan_of_const(plan)->report : NULL;

	if (report) {
		report->device_bytes = plan->device_bytes;
		report->to_device = plan->to_device;
		report->from_device = plan->from_device;
		report->device_seconds = plan->device_seconds;
		report->device_lacks = plan->device_lacks;
	}
	return report;
}

/* ---- Forecasts ---- */

struct forecast {
	int64_t most, second;           /* of the plans */
	int64_t for_a_while;            /* the most that one needs besides while it is made */
};

static void forecast_add(struct forecast *forecast, int64_t bytes, int64_t peak)
{
	if (peak - bytes > forecast->for_a_while)
		forecast->for_a_while = peak - bytes;
	if (bytes > forecast->most) {
		forecast->second = forecast->most;
		forecast->most = bytes;
	} else if (bytes > forecast->second) {
		forecast->second = bytes;
	}
}

/* Of all candidates; false: one needs too much. */
static bool candidates_forecast(const pmg_pipeline_desc *desc, const void *args, struct forecast *forecast)
{
	for (int32_t i = 0; i < desc->n_candidates; i++) {
		int64_t peak;
		const int64_t bytes = args_forecast(desc->candidates[i], args, &peak);

		if (bytes < 0)
			return false;
		forecast_add(forecast, bytes, peak);
	}
	return true;
}

int64_t pmg_plan_forecast_with(const pmg_pipeline_desc *desc, const void *args, const pmg_options *options,
			       int64_t *peak)
{
	int64_t extents[PMG_MAX_EXTENTS], most = 0, bytes = args_forecast(desc, args, &most), more = 0;
	struct forecast forecast = { .for_a_while = bytes < 0 ? 0 : most - bytes };

	if (bytes >= 0 && options && options->tune != PMG_TUNE_OFF && !options->candidate && desc->n_candidates > 1) {
		bytes = candidates_forecast(desc, args, &forecast) ? forecast.most + trials_bytes(desc) : -1;
		if (bytes >= 0 && is_measured(options) &&
		    sizes_check(NULL, desc, args, options->threads, extents) == PMG_OK)
			more = forecast.second + trials_forecast(desc, args, options, extents);
	}
	if (peak)
		*peak = bytes < 0 ? -1 : bytes + more + forecast.for_a_while;
	return bytes;
}
