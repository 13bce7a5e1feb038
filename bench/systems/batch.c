/* SPDX-License-Identifier: MIT
 *
 * A batch: many tridiagonal systems of one length or of several, or Hines systems on one tree or on many. All numbers
 * are drawn, so that any size can be made again. */
#include "systems/systems.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* `n`: rows of each system, 0 where lengths differ. Takes the data. */
static struct ndarray array_of(double **data, int64_t n, int64_t n_systems, int64_t n_rows)
{
	struct ndarray array = { .type = PMG_F64, .rank = n ? 2 : 1, .shape = { n ? n_systems : n_rows, n },
				 .data = *data };
	*data = NULL;
	return array;
}

/* The phantom's arrays become those of the case. */
static bool take_arrays(struct system_phantom *phantom, struct systems_case *problem, struct failure *failure)
{
	struct system_batch *b = &problem->batch;
	int64_t n = b->n_rows == b->n_systems * b->n && (b->is_chain || b->has_one_tree) ? b->n : 0;
	int64_t n_matrix = b->is_shared ? 0 : n, rows = b->is_shared ? b->n : b->n_rows;
	struct ndarray *arrays[] = { &problem->upper, &problem->lower, &problem->diag, &problem->rhs };
	const void **data[] = { &b->upper, &b->lower, &b->diag, &b->rhs };
	*arrays[0] = array_of(&phantom->upper, n_matrix, b->n_systems, rows);
	*arrays[1] = array_of(&phantom->lower, n_matrix, b->n_systems, rows);
	*arrays[2] = array_of(&phantom->diag, n, b->n_systems, b->n_rows);
	*arrays[3] = array_of(&phantom->rhs, n, b->n_systems, b->n_rows);
	if (!aligned_array(&problem->x, b->is_single ? PMG_F32 : PMG_F64, problem->rhs.rank, problem->rhs.shape,
			   failure))
		return false;
	memset(problem->x.data, 0, ndarray_bytes(&problem->x));
	for (int i = 0; b->is_single && i < 4; i++)
		if (!ndarray_convert(arrays[i], PMG_F32, "a number", failure))
			return false;
	for (int i = 0; i < 4; i++)
		*data[i] = arrays[i]->data;
	problem->offset = phantom->offset;
	problem->parent = phantom->parent;
	phantom->offset = NULL;
	phantom->parent = NULL;
	b->offset = problem->offset;
	b->parent = problem->parent;
	return true;
}

static bool is_single(const struct systems_values *values)
{
	return values->precision && strcmp(values->precision, "f32") == 0;
}

const char *systems_case_op(const struct systems_values *values)
{
	return values->is_tri ? "tri" : values->is_many || values->lengths ? "forest" : "hines";
}

const char *systems_case_name(const struct systems_values *values, const char *shape, int64_t n_systems)
{
	const char *lengths = values->lengths ? arena_printf(values->arena, " lengths=%s", values->lengths) : "";
	return arena_printf(values->arena, "%s=%s%s systems=%" PRId64 "%s%s seed=%" PRId64,
			    values->is_tri ? "n" : "tree", shape, lengths, n_systems,
			    values->is_shared ? " shared" : "", is_single(values) ? " f32" : "", values->seed);
}

static void name_case(const struct systems_values *values, const char *shape, struct systems_case *problem)
{
	const struct system_batch *b = &problem->batch;
	problem->op = systems_case_op(values);
	problem->shape = arena_string(values->arena, shape);
	problem->name = systems_case_name(values, shape, b->n_systems);
	problem->tree_bytes = b->is_chain || b->has_one_tree ? 0 : 4.0 * (double) b->n_rows;
}

bool systems_shape_parse(const struct systems_values *values, const char *text, struct tree_shape *shape,
			 struct failure *failure)
{
	if (!values->is_tri)
		return tree_shape_parse(text, 512, shape, failure);
	*shape = (struct tree_shape){ 0 };
	if (parse_integer(text, &shape->n) && shape->n >= 1 && shape->n <= INT32_MAX)
		return true;
	return fail(failure, OUTCOME_USAGE, "--n: '%s' is not a number of rows, from 1 to %d", text, INT32_MAX);
}

bool systems_case_open(const struct systems_values *values, const char *shape, int64_t n_systems,
		       struct systems_case *problem, struct failure *failure)
{
	struct system_options options = { .is_tri = values->is_tri, .is_many = values->is_many,
					  .is_shared = values->is_shared, .n_systems = n_systems,
					  .seed = values->seed };
	struct system_phantom phantom;
	*problem = (struct systems_case){ 0 };
	if (!systems_shape_parse(values, shape, &options.shape, failure) ||
	    !system_lengths_parse(values->lengths, &options.low, &options.high, failure) ||
	    !system_phantom_make(&options, &phantom, failure))
		return false;
	problem->batch = (struct system_batch){
		.is_chain = values->is_tri, .is_shared = values->is_shared,
		.is_single = is_single(values),
		.has_one_tree = phantom.has_one_tree, .n_systems = phantom.n_systems, .n = phantom.n,
		.n_rows = phantom.n_rows,
	};
	name_case(values, shape, problem);
	bool ok = take_arrays(&phantom, problem, failure);
	system_phantom_free(&phantom);
	if (!ok)
		systems_case_close(problem);
	return ok;
}

double systems_case_bytes(const struct systems_case *problem)
{
	const struct system_batch *b = &problem->batch;
	double element = b->is_single ? 4 : 8;
	return (b->is_shared ? 3 : 5) * element * (double) b->n_rows + problem->tree_bytes;
}

void systems_case_close(struct systems_case *problem)
{
	ndarray_free(&problem->upper);
	ndarray_free(&problem->lower);
	ndarray_free(&problem->diag);
	ndarray_free(&problem->rhs);
	ndarray_free(&problem->x);
	free(problem->offset);
	free(problem->parent);
	problem->offset = NULL;
	problem->parent = NULL;
}
