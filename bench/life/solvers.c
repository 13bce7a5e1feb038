/* SPDX-License-Identifier: MIT
 *
 * `pmg bench life --op=fit` on processors: the whole solver. Rows take turns with one iteration each, all from weights
 * 0, so that each measures the same iterations in the same minutes: the loop by hand around the products of a version,
 * and sbbnnls.pmg as `pmg life fit` runs it. What compares is the mean over the run, since an iteration with an even
 * number has a product more, and weights become zero on the way. The objectives of the first iterations must agree;
 * later ones differ as the order of sums leads the steps. */
#include "life/life.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "handtuned/life_layout.h"
#include "handtuned/life_solver.h"
#include "life/fit.h"

struct fit_row {
	struct row row;
	struct life_solver *hand;       /* NULL: generated */
	struct fit fit;
	struct problem problem;
	double *objectives;             /* behind each iteration */
	int64_t done, live;
};

typedef VEC(struct fit_row *) fit_row_list;

/* ---- Running ------------------------------------------------------------------------------- */

static bool run_hand(void *state, double *seconds, struct failure *failure)
{
	struct fit_row *row = state;
	double start = life_now();
	(void) failure;
	life_solver_step(row->hand);
	*seconds = life_now() - start;
	row->objectives[row->done++] = life_solver_objective(row->hand);
	return true;
}

static bool run_generated(void *state, double *seconds, struct failure *failure)
{
	struct fit_row *row = state;
	double start = life_now();
	bool ok = fit_iterate(&row->fit, failure);
	*seconds = life_now() - start;
	row->objectives[row->done++] = row->fit.state.objective;
	return ok;
}

/* ---- Rows ----------------------------------------------------------------------------------------- */

static struct fit_row *add_row(struct life_values *values, const struct life_case *problem, const char *version,
			       fit_row_list *rows)
{
	struct fit_row *row = arena_new(values->arena, struct fit_row);
	*row = (struct fit_row){ .row.state = row };
	row->objectives = arena_new_array(values->arena, double, (int) values->iterations + 1);
	row->row.record = record_new();
	row->row.record.bench = "life";
	row->row.record.problem = problem->name;
	row->row.record.op = "fit";
	row->row.record.version = version;
	row->row.record.target = "openmp";
	row->row.record.threads = (double) values->run.threads;
	row->row.record.precision = "f64";
	vec_push(values->arena, rows, row);
	return row;
}

static bool add_hand(struct life_values *values, const struct life_case *problem, const char *name,
		     fit_row_list *rows, struct failure *failure)
{
	char error[200] = "";
	const struct life_version *version = life_version_named(name, strlen(name));
	if (!version)
		return life_version_unknown(name, failure);
	struct fit_row *row = add_row(values, problem, version->name, rows);
	row->row.run = run_hand;
	row->hand = life_solver_new(&problem->tensor, problem->Y.data, version, (int) values->run.threads, values->isa,
				    error, sizeof(error));
	if (!row->hand)
		return fail(failure, OUTCOME_RESOURCES, "%s: %s", name, error);
	row->row.record.layout = values->isa ? values->isa : life_cpu_isa(0);
	row->row.record.restructure = life_order_name(version->order[LIFE_WC]);
	row->row.record.partition = life_partition_name(version->partition[LIFE_WC]);
	row->row.record.plan_ms = 1e3 * life_solver_seconds(row->hand);
	row->row.record.plan_bytes = (double) life_solver_bytes(row->hand);
	return true;
}

static bool add_generated(struct life_values *values, const struct life_case *problem, bool is_deterministic,
			  fit_row_list *rows, struct failure *failure)
{
	const struct life_tensor *t = &problem->tensor;
	struct fit_row *row = add_row(values, problem, "generated", rows);
	struct fit_options options = { .iterations = values->iterations, .steps = 1, .threads = values->run.threads,
				       .cc = values->run.cc, .target = values->run.target,
				       .is_deterministic = is_deterministic };
	row->row.run = run_generated;
	row->row.record.algorithm = is_deterministic ? "--deterministic" : "";
	row->problem = (struct problem){ .n_atoms = t->n_atoms, .n_voxels = t->n_voxels, .n_fibers = t->n_fibers,
					 .n_theta = t->n_theta, .n_coeffs = t->n_coeffs, .atom = problem->atom.data,
					 .voxel = problem->voxel.data, .fiber = problem->fiber.data,
					 .value = problem->value.data, .D = problem->D.data, .y = problem->Y.data,
					 .voxel_coords = t->coords ? problem->coords.data : NULL };
	if (!fit_open(&row->fit, values->arena, &row->problem, &options, failure) ||
	    !fit_plan(&row->fit, failure) || !fit_begin(&row->fit, failure))
		return false;
	row->row.record.plan_ms = 1e3 * row->fit.execution.plan_seconds;
	row->row.record.plan_bytes = (double) pmg_plan_bytes(row->fit.execution.plan);
	return true;
}

static bool add_rows(struct life_values *values, const struct life_case *problem, fit_row_list *rows,
		     struct failure *failure)
{
	char *rest = arena_string(values->arena, values->versions ? values->versions : "cpu_opt,best,generated");
	for (char *name = strsep(&rest, ","); name; name = strsep(&rest, ",")) {
		bool is_generated = strcmp(name, "generated") == 0;
		if (*name && !(is_generated ? add_generated(values, problem, values->run.deterministic, rows, failure)
					    : add_hand(values, problem, name, rows, failure)))
			return false;
	}
	return rows->n > 0 || fail(failure, OUTCOME_USAGE, "there is nothing to measure");
}

static void free_row(struct fit_row *row)
{
	life_solver_free(row->hand);
	if (!row->hand && row->fit.problem)
		fit_close(&row->fit);
}

/* ---- Results ----------------------------------------------------------------------------------------- */

/* The largest relative difference of the objectives to those of the first row, while rounding has not led the steps
 * elsewhere. */
static bool compare(struct fit_row *row, const struct fit_row *first, struct failure *failure)
{
	double most = 0;
	for (int64_t i = 0; i < row->done && i < LIFE_COMPARED; i++) {
		double difference = fabs(row->objectives[i] / first->objectives[i] - 1);
		most = isnan(difference) ? INFINITY : fmax(most, difference);
	}
	row->row.record.error = most;
	row->live = row->hand ? life_solver_live(row->hand) : row->fit.state.live;
	return most <= LIFE_AGREEMENT ||
	       fail(failure, OUTCOME_NUMERICAL, "objectives of the first %d iterations by %s and %s differ by %.2g of "
		    "their value", LIFE_COMPARED, row->row.record.version, first->row.record.version, most);
}

/* By means over the run. */
static void relate_means(const fit_row_list *rows, const char *baseline)
{
	for (int i = 0; i < rows->n; i++)
		for (int j = 0; j < rows->n; j++) {
			struct record *record = &rows->items[i]->row.record;
			const struct record *base = &rows->items[j]->row.record;
			if (strcmp(base->version, baseline) == 0 && isnan(record->ratio)) {
				record->baseline = base->version;
				record->ratio = base->ms_mean / record->ms_mean;
			}
		}
}

static void print_rows(const fit_row_list *rows, FILE *stream)
{
	fprintf(stream, "%-26s %3s %5s %9s %9s %9s %7s %20s %9s %8s %8s %8s\n", "solver", "thr", "runs", "mean ms",
		"median", "min", "x base", "objective", "live", "error", "plan ms", "plan MB");
	for (int i = 0; i < rows->n; i++) {
		const struct fit_row *row = rows->items[i];
		const struct record *r = &row->row.record;
		char name[64];
		snprintf(name, sizeof(name), "%s%s%s", r->version, *r->algorithm ? " " : "", r->algorithm);
		fprintf(stream, "%-26s %3.0f %5.0f %9.4g %9.4g %9.4g %7.3g %20.12g %9lld %8.1e %8.4g %8.1f\n", name,
			r->threads, r->runs, r->ms_mean, r->ms_median, r->ms_min, r->ratio,
			row->objectives[row->done - 1], (long long) row->live, r->error, r->plan_ms,
			1e-6 * r->plan_bytes);
	}
	fprintf(stream, "clock: %s\n", rows->items[0]->row.record.clock);
}

/* ---- All together -------------------------------------------------------------------------------------- */

static bool measure_rows(struct life_values *values, bool counts_processors, const fit_row_list *rows,
			 record_list *records, struct failure *failure)
{
	row_list measured = { 0 };
	struct effort effort = { .min_runs = (int) values->iterations, .max_runs = (int) values->iterations,
				 .counts_processors = counts_processors };
	for (int i = 0; i < rows->n; i++) {
		rows->items[i]->row.record.machine = machine_name(values->arena);
		vec_push(values->arena, &measured, &rows->items[i]->row);
	}
	if (!measure(values->arena, &measured, &effort, failure))
		return false;
	bool ok = true;
	relate_means(rows, values->baseline);
	for (int i = 0; i < rows->n; i++)
		ok = compare(rows->items[i], rows->items[0], failure) && ok;
	print_rows(rows, stdout);
	for (int i = 0; i < rows->n; i++)
		vec_push(values->arena, records, rows->items[i]->row.record);
	return ok;
}

bool life_solvers(struct life_values *values, const struct life_case *problem, bool counts_processors,
		  record_list *records, struct failure *failure)
{
	fit_row_list rows = { 0 };
	bool ok = add_rows(values, problem, &rows, failure) &&
		  measure_rows(values, counts_processors, &rows, records, failure);
	for (int i = 0; i < rows.n; i++)
		free_row(rows.items[i]);
	return ok;
}
