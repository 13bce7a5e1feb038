/* SPDX-License-Identifier: MIT
 *
 * `pmg life evaluate`: how well weights explain the signal, by voxel; against a repeated scan; and what some fibers
 * contribute where they run (a virtual lesion, Pestilli et al. 2014): their weights become 0, the others stay. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "life/model.h"

enum { DECADES = 12 };

struct values {
	const char *repeat, *lesion, *voxels, *signals;
	int64_t signal;
};

/* Numbers of some voxels. */
struct list {
	double *values;
	int64_t n;
};

/* What is told once all of it is known. */
struct evaluation {
	struct problem problem, repeat;
	struct arena *arena;
	const char *path;
	double *w, *prediction, *rmse; /* rmse by voxel */
	struct list ratio;             /* to a repeated scan */
	struct list with, without;     /* RMSE on the path of a lesion */
};

/* ---- Lists of numbers ------------------------------------------------------------------------ */

static int compare_numbers(const void *a, const void *b)
{
	double x = *(const double *) a, y = *(const double *) b;
	return (x > y) - (x < y);
}

static struct list list_new(struct evaluation *e, int64_t most)
{
	return (struct list){ arena_new_array(e->arena, double, most + 1), 0 };
}

/* Sorts it. */
static void print_list(const char *name, const struct list *list)
{
	double sum = 0, *values = list->values;
	int64_t n = list->n;
	for (int64_t i = 0; i < n; i++)
		sum += values[i];
	qsort(values, (size_t) n, sizeof(double), compare_numbers);
	double middle = (values[(n - 1) / 2] + values[n / 2]) / 2;
	printf("%-28s mean %.9g, median %.9g, most %.9g\n", name, sum / (double) n, middle, values[n - 1]);
}

/* ---- Weights ------------------------------------------------------------------------------------ */

static void print_weights(const struct evaluation *e)
{
	int64_t decades[DECADES + 1] = { 0 }, live = 0, n = e->problem.n_fibers;
	double sum = 0, most = 0;
	for (int64_t f = 0; f < n; f++) {
		live += e->w[f] > 0;
		sum += e->w[f];
		most = fmax(most, e->w[f]);
	}
	printf("%-28s %" PRId64 " of %" PRId64 " fibers, sum %.9g\n", "weights above 0:", live, n, sum);
	if (most == 0)
		return;
	int top = (int) floor(log10(most));
	for (int64_t f = 0; f < n; f++) {
		int below = e->w[f] > 0 ? top - (int) floor(log10(e->w[f])) : 0;
		if (e->w[f] > 0)
			decades[below < DECADES ? below : DECADES]++;
	}
	for (int d = 0; d <= DECADES; d++)
		if (decades[d])
			printf("  %s 1e%-+4d %19" PRId64 " fibers\n", d < DECADES ? "from" : "below",
			       d < DECADES ? top - d : top - d + 1, decades[d]);
}

/* ---- The fit ---------------------------------------------------------------------------------------- */

static void compare_fit(struct evaluation *e)
{
	const struct problem *p = &e->problem;
	e->rmse = arena_new_array(e->arena, double, p->n_voxels + 1);
	for (int64_t v = 0; v < p->n_voxels; v++)
		e->rmse[v] = model_rmse(p, v, e->prediction, p->y);
}

static void print_fit(struct evaluation *e)
{
	const struct problem *p = &e->problem;
	double residual = 0, total = 0;
	struct list copy = list_new(e, p->n_voxels);
	for (int64_t i = 0; i < p->n_voxels * p->n_theta; i++) {
		residual += (e->prediction[i] - p->y[i]) * (e->prediction[i] - p->y[i]);
		total += p->y[i] * p->y[i];
	}
	for (int64_t v = 0; v < p->n_voxels; v++)
		copy.values[copy.n++] = e->rmse[v];
	printf("%-28s %.12g, of %.12g for weights 0\n", "objective:", residual / 2, total / 2);
	if (total > 0)
		printf("%-28s %.4f\n", "variance explained:", 1 - residual / total);
	print_list(p->signal ? "RMSE, units of the scan:" : "RMSE, units of y:", &copy);
}

/* ---- A repeated scan ---------------------------------------------------------------------------------- */

static bool same_voxels(const struct problem *a, const struct problem *b)
{
	if (a->n_voxels != b->n_voxels || a->n_theta != b->n_theta)
		return false;
	return !a->voxel_coords || !b->voxel_coords ||
	       memcmp(a->voxel_coords, b->voxel_coords, (size_t) a->n_voxels * 3 * sizeof(int32_t)) == 0;
}

/* Below 1: the model is nearer to the repeated scan than the first scan is. */
static bool compare_repeat(struct evaluation *e, const char *path, struct failure *failure)
{
	const struct problem *p = &e->problem, *r = &e->repeat;
	if (!problem_read(&e->repeat, path, failure) || !problem_check(&e->repeat, path, failure))
		return false;
	if (!same_voxels(p, r))
		return fail_file(failure, path, "its voxels or directions are not those of %s", e->path);
	e->ratio = list_new(e, p->n_voxels);
	for (int64_t v = 0; v < p->n_voxels; v++) {
		double scans = model_rmse(r, v, p->y, r->y);
		if (scans > 0)
			e->ratio.values[e->ratio.n++] = model_rmse(r, v, e->prediction, r->y) / scans;
	}
	return e->ratio.n > 0 || fail_file(failure, path, "the two scans are equal in each voxel");
}

/* ---- A virtual lesion ------------------------------------------------------------------------------------ */

static bool read_lesion(struct evaluation *e, const char *text, bool *is_cut, struct failure *failure)
{
	struct location location;
	struct content content = { 0 };
	if (!location_parse(&location, e->arena, text, failure) || !content_read(&location, NULL, &content, failure))
		return false;
	const struct ndarray *list = &content.members[0].array;
	bool is_list = content.kind == CONTENT_ARRAY || content.kind == CONTENT_FLAT;
	bool ok = is_list && type_holds_integers(list->type) && ndarray_count(list) > 0;
	if (!ok)
		fail_file(failure, text, "a list of numbers of fibers is needed, counting from 0");
	for (int64_t i = 0; ok && i < ndarray_count(list); i++) {
		int64_t f = ndarray_integer(list, i);
		ok = (f >= 0 && f < e->problem.n_fibers) ||
		     fail_file(failure, text, "there is no fiber %" PRId64 ", there are %" PRId64, f,
			       e->problem.n_fibers);
		if (ok && is_cut[f])
			ok = fail_file(failure, text,
				       "fiber %" PRId64 " is there twice; numbers of fibers are needed, no mask", f);
		if (ok)
			is_cut[f] = true;
	}
	content_free(&content);
	return ok;
}

static void moments(const struct list *list, double *mean, double *variance)
{
	const double *values = list->values;
	const int64_t n = list->n;
	double sum = 0, squares = 0;
	for (int64_t i = 0; i < n; i++)
		sum += values[i];
	*mean = sum / (double) n;
	for (int64_t i = 0; i < n; i++)
		squares += (values[i] - *mean) * (values[i] - *mean);
	*variance = n > 1 ? squares / (double) (n - 1) : 0;
}

/* The distance of two lists of one length: how far the sorted values lie apart. */
static double earth_movers_distance(double *a, double *b, int64_t n)
{
	double sum = 0;
	qsort(a, (size_t) n, sizeof(double), compare_numbers);
	qsort(b, (size_t) n, sizeof(double), compare_numbers);
	for (int64_t i = 0; i < n; i++)
		sum += fabs(a[i] - b[i]);
	return sum / (double) n;
}

static bool compare_path(struct evaluation *e, const bool *is_cut, const double *prediction, const char *text,
			 struct failure *failure)
{
	const struct problem *p = &e->problem;
	bool *is_on_path = arena_new_array(e->arena, bool, p->n_voxels + 1);
	e->with = list_new(e, p->n_voxels);
	e->without = list_new(e, p->n_voxels);
	for (int64_t k = 0; k < p->n_coeffs; k++)
		if (is_cut[p->fiber[k]])
			is_on_path[p->voxel[k]] = true;
	for (int64_t v = 0; v < p->n_voxels; v++)
		if (is_on_path[v]) {
			e->with.values[e->with.n++] = e->rmse[v];
			e->without.values[e->without.n++] = model_rmse(p, v, prediction, p->y);
		}
	return e->with.n > 0 || fail_file(failure, text, "these fibers run through no voxel of the problem");
}

static void print_lesion(const struct evaluation *e)
{
	double mean[2], variance[2];
	moments(&e->with, &mean[0], &variance[0]);
	moments(&e->without, &mean[1], &variance[1]);
	printf("%-28s %" PRId64 " voxels, mean RMSE %.9g, without them %.9g\n", "lesion of those fibers:", e->with.n,
	       mean[0], mean[1]);
	if (variance[0] + variance[1] > 0)
		printf("%-28s %.6g\n", "strength of evidence:", (mean[1] - mean[0]) / sqrt(variance[0] + variance[1]));
	printf("%-28s %.9g\n", "earth mover's distance:",
	       earth_movers_distance(e->with.values, e->without.values, e->with.n));
}

static bool compare_lesion(struct evaluation *e, const char *text, struct failure *failure)
{
	const struct problem *p = &e->problem;
	bool *is_cut = arena_new_array(e->arena, bool, p->n_fibers + 1);
	double *w = arena_new_array(e->arena, double, p->n_fibers + 1), *prediction = NULL;
	if (!read_lesion(e, text, is_cut, failure))
		return false;
	for (int64_t f = 0; f < p->n_fibers; f++)
		w[f] = is_cut[f] ? 0 : e->w[f];
	bool ok = model_predict(p, w, &prediction, failure) && compare_path(e, is_cut, prediction, text, failure);
	free(prediction);
	return ok;
}

/* ---- The command ----------------------------------------------------------------------------------------- */

static bool check_files(const struct evaluation *e, const struct values *v, const char *weights,
			struct failure *failure)
{
	const struct step_file files[] = {
		{ READS_PROBLEM, e->path, NULL },
		{ READS_ARRAY, weights, "/w" },
		{ READS_PROBLEM, v->repeat, NULL },
		{ READS_ARRAY, v->lesion, NULL },
		{ READS_ARRAY, v->signals, "/signals" },
		{ WRITES_ARRAY, v->voxels, "/w" },
	};
	return files_check(e->arena, files, sizeof(files) / sizeof(files[0]), failure);
}

static void print_all(struct evaluation *e)
{
	print_fit(e);
	print_weights(e);
	if (e->ratio.n)
		print_list("Rrmse, to the repeated scan:", &e->ratio);
	if (e->with.n)
		print_lesion(e);
}

static bool run_evaluate(struct evaluation *e, const struct values *v, const char *weights, struct failure *failure)
{
	struct problem *p = &e->problem;
	bool ok = check_files(e, v, weights, failure) &&
		  problem_open(p, e->path, weights, failure) &&
		  (!v->signals || signals_take(e->arena, v->signals, v->signal, p, failure)) &&
		  (e->w = weights_read(e->arena, weights, v->signal, &p->n_fibers, failure)) &&
		  model_predict(p, e->w, &e->prediction, failure);
	if (ok)
		compare_fit(e);
	ok = ok && (!v->repeat || compare_repeat(e, v->repeat, failure)) &&
	     (!v->lesion || compare_lesion(e, v->lesion, failure)) &&
	     (!v->voxels || weights_write(e->arena, v->voxels, e->rmse, 0, p->n_voxels, failure));
	if (ok)
		print_all(e);
	problem_free(&e->problem);
	problem_free(&e->repeat);
	free(e->prediction);
	free(e->w);
	return ok;
}

static const struct option_row rows[] = {
	{ .name = "repeat", .kind = OPTION_TEXT, .offset = offsetof(struct values, repeat), .operand = "PROBLEM.h5",
	  .text = "another scan of the same voxels and directions, for Rrmse" },
	{ .name = "lesion", .kind = OPTION_TEXT, .offset = offsetof(struct values, lesion), .operand = "FILE",
	  .text = "numbers of fibers, from 0: what they contribute where they run" },
	{ .name = "voxels", .kind = OPTION_TEXT, .offset = offsetof(struct values, voxels), .operand = "FILE",
	  .text = "write the RMSE of each voxel" },
	{ .name = "signals", .kind = OPTION_TEXT, .offset = offsetof(struct values, signals), .operand = "FILE",
	  .text = "the signals that were fitted, instead of the problem's own" },
	{ .name = "signal", .kind = OPTION_INTEGER, .offset = offsetof(struct values, signal), .low = 0,
	  .high = INT32_MAX, .operand = "N", .text = "which of them, and of the weights, from 0" },
};

static bool evaluate(void *values, const word_list *operands, struct arena *arena, struct failure *failure)
{
	struct evaluation e = { .arena = arena, .path = operands->n ? operands->items[0] : NULL };
	if (operands->n == 2)
		return run_evaluate(&e, values, operands->items[1], failure);
	fail(failure, OUTCOME_USAGE, "a problem and its weights are needed");
	fail_help(failure, "pmg life evaluate problem.h5 weights.txt");
	return false;
}

static int evaluate_main(const struct command *command, struct arena *arena, int argc, char **argv)
{
	struct values values = { .signal = SIGNAL_UNSAID };
	return command_do(command, arena, argc, argv, &values, evaluate);
}

const struct command life_evaluate_command = {
	.name = "life evaluate",
	.operands = "PROBLEM.h5 WEIGHTS",
	.sentence = "tell how well weights explain the signal",
	.details = "",
	.options = rows,
	.n_options = sizeof(rows) / sizeof(rows[0]),
	.run = evaluate_main,
};
