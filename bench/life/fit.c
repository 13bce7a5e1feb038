/* SPDX-License-Identifier: MIT
 *
 * The whole solver on a GPU, dsl_examples/sbbnnls.pmg, compiled as `pmg run` does it: some iterations with a look after
 * each, so that those of the two step rules have times of their own, then all of them at one go. Nothing is read from a
 * file and no array of the caller is moved meanwhile. The processor does the first ones, too, by the program as it
 * stands, all numbers in 64 bits, and must come to the same objectives; with a precision of less, to near ones. Later
 * ones differ in any case: these steps amplify the rounding of sums in another order, so that two numbers of threads
 * differ as much.
 *
 * All begins with weights 0, or (--weights=sparse=…) with a share of them, and a signal that keeps the others at 0. */
#include "life/life.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "handtuned/life_layout.h"

enum { TIMED = 100 };           /* iterations that are looked at one by one */
static const double LESS = 0.1; /* weights than those of the start explain the signal; these are at least as large */

struct life_fit {
	const struct life_case *problem;
	struct arena *arena;
	struct session session;
	struct results results;
	struct execution execution;
	const struct ndarray *w0, *b;
	double last;                    /* when an iteration was done last */
	double *times[2];               /* of iterations whose number is even, odd */
	int n[2];
	double seconds;                 /* of all, at one go */
	double objective, live;
	double objectives[LIFE_COMPARED];    /* before each of the first iterations; 0 behind the end */
	int64_t iterations;
};

static bool bind_number(struct life_fit *fit, const char *name, double value, struct failure *failure)
{
	return bind_word(&fit->session, arena_printf(fit->arena, "%s=%.17g", name, value), failure);
}

static bool bind_fit(struct life_fit *fit, struct failure *failure)
{
	struct session *s = &fit->session;
	const struct life_case *p = fit->problem;
	word_list none = { 0 };
	return bind_memory(s, "PHI.atom", &p->atom, failure) && bind_memory(s, "PHI.voxel", &p->voxel, failure) &&
	       bind_memory(s, "PHI.fiber", &p->fiber, failure) && bind_memory(s, "PHI.value", &p->value, failure) &&
	       bind_memory(s, "D", &p->D, failure) && bind_memory(s, "b", fit->b, failure) &&
	       life_bind_places(s, p, failure) &&
	       bind_memory(s, "w0", fit->w0, failure) &&
	       bind_number(fit, "maxIter", (double) fit->iterations, failure) &&
	       bind_number(fit, "preconditioned", 1, failure) && bind_number(fit, "tolGradient", 0, failure) &&
	       bind_number(fit, "tolObjective", -1, failure) && session_bind(s, &none, 0, failure);
}

static const struct ndarray *output(const struct life_fit *fit, const char *name)
{
	for (int i = 0; i < fit->session.arguments.n; i++)
		if (strcmp(fit->session.arguments.items[i].array->name, name) == 0)
			return &fit->results.arrays[i];
	return NULL;
}

static bool open_fit(struct life_fit *fit, struct life_values *values, bool is_reference, struct failure *failure)
{
	struct session *s = &fit->session;
	const char *path = bench_find_file(values->arena, "dsl_examples/sbbnnls.pmg", failure);
	s->arena = fit->arena = values->arena;
	s->values = values->run;
	if (is_reference) {
		s->values.target = "openmp";
		s->values.with = NULL;
	}
	fit->iterations = values->iterations;
	for (int i = 0; i < 2; i++)
		fit->times[i] = arena_new_array(values->arena, double, TIMED);
	return path && session_open(s, path, failure) && bind_fit(fit, failure) &&
	       results_new(s, &fit->results, failure) &&
	       library_share(s, &values->libraries, &fit->results, &fit->execution, failure) &&
	       library_plan(&fit->execution, failure);
}

static void close_fit(struct life_fit *fit)
{
	library_close(&fit->execution);
	results_free(&fit->session, &fit->results);
	session_free(&fit->session);
}

/* ---- What is fitted ----------------------------------------------------------------------------- */

struct start {
	struct ndarray w0, b;           /* b: empty where the signal is the problem's */
};

/* b = M (w0 - LESS): without bounds, all weights would become smaller by LESS, those at 0 negative. */
static bool fill_signal(const struct life_case *problem, const double *w0, double *b, struct failure *failure)
{
	int64_t n = problem->tensor.n_fibers;
	double *w = life_memory(n, sizeof(*w));
	if (!w)
		return fail_memory(failure, "the weights");
	for (int64_t i = 0; i < n; i++)
		w[i] = w0[i] - LESS;
	bool ok = life_naive_product(problem, LIFE_DSC, w, b, failure);
	free(w);
	return ok;
}

static bool start_new(const struct life_case *problem, struct start *start, struct failure *failure)
{
	const struct life_tensor *t = &problem->tensor;
	*start = (struct start){ 0 };
	if (!aligned_array(&start->w0, PMG_F64, 1, &t->n_fibers, failure))
		return false;
	memset(start->w0.data, 0, ndarray_bytes(&start->w0));
	if (!life_is_sparse(problem))
		return true;
	if (!aligned_array(&start->b, PMG_F64, 2, (int64_t[]){ t->n_voxels, t->n_theta }, failure))
		return false;
	memcpy(start->w0.data, problem->w.data, ndarray_bytes(&start->w0));
	return fill_signal(problem, start->w0.data, start->b.data, failure);
}

static void start_free(struct start *start)
{
	ndarray_free(&start->w0);
	ndarray_free(&start->b);
}

/* ---- Times -------------------------------------------------------------------------------- */

static void note_iteration(void *user, int64_t iteration, int64_t last)
{
	struct life_fit *fit = user;
	double now = clock_seconds(false, 1);
	int rule = (int) ((iteration - 1) % 2);
	(void) last;
	if (fit->n[rule] < TIMED)
		fit->times[rule][fit->n[rule]++] = now - fit->last;
	fit->last = now;
}

/* From the start, up to an iteration that is not timed: everything has been compiled, loaded and placed then. */
static bool start_fit(struct life_fit *fit, int64_t budget, struct failure *failure)
{
	pmg_control control = { .budget = budget };
	return library_step(&fit->execution, &control, failure);
}

static bool time_each(struct life_fit *fit, struct failure *failure)
{
	pmg_control control = { .budget = fit->iterations - 2 < TIMED ? fit->iterations - 2 : TIMED, .resume = true,
				.same_buffers = true, .check_every = 1, .progress = note_iteration, .user = fit };
	if (!start_fit(fit, 2, failure))
		return false;
	fit->last = clock_seconds(false, 1);
	if (!library_step(&fit->execution, &control, failure))
		return false;
	for (int i = 0; i < LIFE_COMPARED && i < fit->iterations; i++)
		fit->objectives[i] = ndarray_real(output(fit, "objective"), i);
	return true;
}

static bool time_all(struct life_fit *fit, struct failure *failure)
{
	pmg_control control = { .budget = -1, .resume = true, .same_buffers = true,
				.check_every = fit->session.values.check_every };
	if (!start_fit(fit, 0, failure))
		return false;
	double start = clock_seconds(false, 1);
	if (!library_step(&fit->execution, &control, failure))
		return false;
	fit->seconds = clock_seconds(false, 1) - start;
	fit->objective = ndarray_real(output(fit, "reached"), 0);
	const double *w = output(fit, "w")->data;
	for (int64_t f = 0; f < fit->problem->tensor.n_fibers; f++)
		fit->live += w[f] > 0;
	fit->live /= (double) fit->problem->tensor.n_fibers;
	return true;
}

/* ---- Telling ---------------------------------------------------------------------------------- */

static const char *machine_of(const struct life_fit *fit)
{
	return strcmp(fit->session.values.target, "cuda") == 0 ? gpu_name(fit->arena) : machine_name(fit->arena);
}

static struct record record_of(const struct life_fit *fit, const char *op)
{
	struct record record = record_new();
	record.bench = "life";
	record.problem = fit->problem->name;
	record.op = op;
	record.version = "generated";
	record.target = fit->session.values.target;
	record.threads = (double) fit->session.values.threads;
	record.algorithm = fit->session.values.with ? fit->session.values.with : "";
	record.precision = life_precision(record.algorithm);
	record.plan_ms = 1e3 * fit->execution.plan_seconds;
	record.plan_bytes = (double) pmg_plan_bytes(fit->execution.plan);
	record_device(&record, fit->execution.plan);
	record.machine = machine_of(fit);
	record.weights = life_is_sparse(fit->problem) ? fit->problem->weights : "";
	record.clock = "wall";
	return record;
}

static void add_times(struct life_fit *fit, const char *op, double *times, int n, record_list *records)
{
	struct record record = record_of(fit, op);
	struct interval interval = median_interval(times, n);
	record.ms_median = 1e3 * interval.middle;
	record.ms_low = 1e3 * interval.low;
	record.ms_high = 1e3 * interval.high;
	record.ms_min = 1e3 * times[0];
	record.runs = n;
	vec_push(fit->arena, records, record);
	printf("%-7s %-9s %9.4g ms an iteration (%.4g - %.4g), %d of them\n", fit->session.values.target, op,
	       record.ms_median, record.ms_low, record.ms_high, n);
}

static void add_rules(struct life_fit *fit, record_list *records)
{
	static const char *const ops[] = { "fit even", "fit odd" };
	for (int i = 0; i < 2; i++)
		if (fit->n[i] > 0)
			add_times(fit, ops[i], fit->times[i], fit->n[i], records);
}

static void add_all(struct life_fit *fit, record_list *records)
{
	const pmg_report *report = pmg_plan_report(fit->execution.plan);
	add_times(fit, "fit", &fit->seconds, 1, records);
	printf("%-7s %lld iterations in %.4g s, objective %.12g, %.1f %% of the fibers live; plan %.4g s",
	       fit->session.values.target, (long long) fit->iterations, fit->seconds, fit->objective, 100 * fit->live,
	       fit->execution.plan_seconds);
	if (report->device_bytes > 0)
		printf("; device %.1f MB, %.1f MB to it, %.1f MB from it", 1e-6 * (double) report->device_bytes,
		       1e-6 * (double) report->to_device, 1e-6 * (double) report->from_device);
	printf("\n");
	fflush(stdout);
}

static bool run_fit(struct life_fit *fit, struct life_values *values, record_list *records, bool is_reference,
		    struct failure *failure)
{
	if (!open_fit(fit, values, is_reference, failure) || !time_each(fit, failure))
		return false;
	add_rules(fit, records);
	if (is_reference)
		return true;
	if (!time_all(fit, failure))
		return false;
	add_all(fit, records);
	return true;
}

/* `of`: the record of the whole fit. */
static bool compare(const struct life_fit *fit, const struct life_fit *reference, struct record *of,
		    struct failure *failure)
{
	bool is_f64 = strcmp(of->precision, "f64") == 0;
	int n = fit->iterations < LIFE_COMPARED ? (int) fit->iterations : LIFE_COMPARED;
	double difference = 0;
	for (int i = 0; i < n; i++) {
		double d = fabs(fit->objectives[i] / reference->objectives[i] - 1);
		if (!(d <= difference))
			difference = isnan(d) ? INFINITY : d;
	}
	of->error = difference;
	printf("the objectives of the first %d iterations differ by at most %.2g of their value%s\n", n, difference,
	       is_f64 ? "" : " from those with all numbers in 64 bits");
	double limit = is_f64 ? LIFE_AGREEMENT : LIFE_NEARNESS;
	return difference <= limit ||
	       fail(failure, OUTCOME_NUMERICAL, "that is more than rounding explains: %g", limit);
}

bool life_fit(struct life_values *values, const struct life_case *problem, record_list *records,
	      struct failure *failure)
{
	struct start start;
	bool is_compared = life_is_on_gpu(values) && !values->versions;
	if (!start_new(problem, &start, failure)) {
		start_free(&start);
		return false;
	}
	struct life_fit fit = { .problem = problem, .w0 = &start.w0, .b = start.b.data ? &start.b : &problem->Y };
	struct life_fit reference = fit;
	bool ok = run_fit(&fit, values, records, false, failure);
	int whole = records->n - 1;
	close_fit(&fit);
	ok = ok && (!is_compared || run_fit(&reference, values, records, true, failure));
	if (is_compared)
		close_fit(&reference);
	start_free(&start);
	return ok && (!is_compared || compare(&fit, &reference, &records->items[whole], failure));
}
