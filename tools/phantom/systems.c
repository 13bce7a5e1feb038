/* SPDX-License-Identifier: MIT
 *
 * A batch from its options. Each system has a stream of random numbers of its own, so that threads change nothing. */
#include "phantom/systems.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "phantom/random.h"
#include "pmgrt.h"

enum { MOST_DISTINCT = 2560 };  /* trees of one length; then they are taken again */

/* ---- Sizes ---------------------------------------------------------------------------------- */

bool system_lengths_parse(const char *text, int64_t *low, int64_t *high, struct failure *failure)
{
	char first[32];
	const char *dots = text ? strstr(text, "..") : NULL;
	*low = *high = 0;
	if (!text)
		return true;
	snprintf(first, sizeof(first), "%.*s", dots ? (int) (dots - text) : 0, text);
	if (dots && parse_integer(first, low) && parse_integer(dots + 2, high) && *low >= 1 && *high >= *low &&
	    *high <= INT32_MAX)
		return true;
	return fail(failure, OUTCOME_USAGE, "--lengths: '%s' is not LOW..HIGH, integers from 1 to %" PRId32 ", LOW not "
		    "above HIGH", text, INT32_MAX);
}

static bool lay_out(const struct system_options *o, struct system_phantom *p, struct failure *failure)
{
	struct random_stream random = random_stream_of(o->seed, RANDOM_LENGTHS, 0);
	p->offset = calloc((size_t) o->n_systems + 1, sizeof(*p->offset));
	if (!p->offset)
		return fail_memory(failure, "the systems");
	p->n_systems = o->n_systems;
	for (int64_t s = 0; s < o->n_systems; s++) {
		int64_t length = o->high ? o->low + random_below(&random, o->high - o->low + 1) : o->shape.n;
		p->offset[s + 1] = p->offset[s] + length;
		p->n = length > p->n ? length : p->n;
	}
	p->n_rows = p->offset[o->n_systems];
	p->has_one_tree = !o->is_tri && !o->is_many && !o->high;
	return true;
}

/* ---- Trees ------------------------------------------------------------------------------------- */

/* The shape, or one of `n` nodes with its share of branches. */
static struct tree_shape shape_of(const struct tree_shape *shape, int64_t n)
{
	struct tree_shape own = *shape;
	if (n == shape->n)
		return own;
	int64_t branches = shape->n_levels ? 1 : shape->branches * n / shape->n;
	own = (struct tree_shape){ .n = n, .branches = branches < 1 ? 1 : branches };
	own.branches = n == 1 ? 0 : own.branches;
	return own;
}

static bool draw_forest(const struct system_options *o, struct system_phantom *p, struct failure *failure)
{
	bool ok = true;
	for (int64_t s = 0; s < p->n_systems && ok; s++) {
		int64_t at = p->offset[s], n = p->offset[s + 1] - at, early = s - MOST_DISTINCT;
		struct tree_shape own = shape_of(&o->shape, n);
		if (early >= 0 && n == p->offset[early + 1] - p->offset[early])
			memcpy(p->parent + at, p->parent + p->offset[early], (size_t) n * sizeof(int32_t));
		else
			ok = tree_draw(&own, (uint64_t) (o->seed + s), p->parent + at, failure);
	}
	return ok;
}

static bool make_trees(const struct system_options *o, struct system_phantom *p, struct failure *failure)
{
	p->parent = malloc((size_t) (p->has_one_tree ? p->n : p->n_rows) * sizeof(*p->parent) + 1);
	if (!p->parent)
		return fail_memory(failure, "the trees");
	return p->has_one_tree ? tree_draw(&o->shape, (uint64_t) o->seed, p->parent, failure)
			       : draw_forest(o, p, failure);
}

/* ---- Numbers ------------------------------------------------------------------------------------ */

static void draw_off_diagonal(const int32_t *parent, int64_t n, struct random_stream *random, double *upper,
			      double *lower)
{
	for (int64_t i = 0; i < n; i++) {
		upper[i] = -0.1 - random_uniform(random);
		lower[i] = parent ? -0.1 - random_uniform(random) : i ? upper[i - 1] : 0;
	}
	if (!parent)
		upper[n - 1] = 0;
	for (int64_t i = 0; parent && i < n; i++)
		if (parent[i] < 0)
			upper[i] = lower[i] = 0;
}

static void draw_system(const int32_t *parent, int64_t n, uint64_t seed, bool draws_matrix, double *upper,
			double *lower, double *diag, double *rhs)
{
	struct random_stream random = random_stream_of((int64_t) seed, RANDOM_SYSTEM, 0);
	if (draws_matrix)
		draw_off_diagonal(parent, n, &random, upper, lower);
	for (int64_t i = 0; i < n; i++) {
		diag[i] = 0.1 + random_uniform(&random) - lower[i] - (parent ? 0 : upper[i]);
		rhs[i] = 2 * random_uniform(&random) - 1;
	}
	for (int64_t i = 0; parent && i < n; i++)
		if (parent[i] >= 0)
			diag[parent[i]] -= upper[i];
}

static double *new_numbers(int64_t n)
{
	return pmg_memory((size_t) n * sizeof(double) + 64);
}

static bool make_numbers(const struct system_options *o, struct system_phantom *p, struct failure *failure)
{
	int64_t n_matrix = o->is_shared ? p->n : p->n_rows;
	p->upper = new_numbers(n_matrix);
	p->lower = new_numbers(n_matrix);
	p->diag = new_numbers(p->n_rows);
	p->rhs = new_numbers(p->n_rows);
	if (!p->upper || !p->lower || !p->diag || !p->rhs)
		return fail_memory(failure, "the numbers");
	/* The first system draws what is shared. */
	for (int64_t s = 0; o->is_shared && s < 1 && s < p->n_systems; s++)
		draw_system(p->parent, p->n, (uint64_t) o->seed, true, p->upper, p->lower, p->diag, p->rhs);
#pragma omp parallel for schedule(static)
	for (int64_t s = o->is_shared; s < p->n_systems; s++) {
		int64_t at = p->offset[s], own = o->is_shared ? 0 : at;
		draw_system(p->parent ? p->parent + (p->has_one_tree ? 0 : at) : NULL, p->offset[s + 1] - at,
			    (uint64_t) (o->seed + s), !o->is_shared, p->upper + own, p->lower + own, p->diag + at,
			    p->rhs + at);
	}
	return true;
}

bool system_phantom_make(const struct system_options *options, struct system_phantom *phantom,
			 struct failure *failure)
{
	*phantom = (struct system_phantom){ 0 };
	if (lay_out(options, phantom, failure) && (options->is_tri || make_trees(options, phantom, failure)) &&
	    make_numbers(options, phantom, failure))
		return true;
	system_phantom_free(phantom);
	return false;
}

void system_phantom_free(struct system_phantom *phantom)
{
	free(phantom->offset);
	free(phantom->parent);
	free(phantom->upper);
	free(phantom->lower);
	free(phantom->diag);
	free(phantom->rhs);
	*phantom = (struct system_phantom){ 0 };
}
