/* SPDX-License-Identifier: MIT
 *
 * The problem that is measured: a file, or a phantom, which is made once and kept in a cache. Weights are random and
 * never zero, unless a share of zeros is asked for; Y is the file's signal, or random. */
#include "life/life.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "phantom/phantom.h"

/* ---- The file ---------------------------------------------------------------------------- */

static bool make_folders(struct arena *arena, const char *path, struct failure *failure)
{
	char *copy = arena_string(arena, path);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0777) != 0 && errno != EEXIST)
			return fail_file(failure, copy, "cannot make the folder:");
		*slash = '/';
	}
	return true;
}

static const char *cache_folder(const struct life_values *values)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	if (values->cache)
		return values->cache;
	if (cache && *cache)
		return arena_printf(values->arena, "%s/pmg", cache);
	return arena_printf(values->arena, "%s/.cache/pmg", home && *home ? home : "/tmp");
}

static bool phantom_options(const struct life_values *values, struct life_phantom_options *options,
			    struct failure *failure)
{
	char error[512] = "";
	life_phantom_options_default(options);
	options->scale = 0.07;
	if (values->scale && (!parse_real(values->scale, &options->scale) || !(options->scale > 0)))
		return fail(failure, OUTCOME_USAGE, "--scale: '%s' is not a size above 0", values->scale);
	if (values->jitter && !parse_real(values->jitter, &options->coherence))
		return fail(failure, OUTCOME_USAGE, "--jitter: '%s' is not an angle", values->jitter);
	options->ntheta = values->ntheta;
	options->grid = values->grid_of_angles;
	options->seed = values->seed;
	if (life_phantom_options_complete(options, error, sizeof(error)) != PMG_OK)
		return fail(failure, OUTCOME_USAGE, "%s", error);
	return true;
}

static bool make_phantom(const struct life_phantom_options *options, const char *path, struct failure *failure)
{
	struct life_problem problem;
	char error[1024] = "";
	fprintf(stderr, "pmg bench: making %s\n", path);
	pmg_status status = life_phantom_generate(options, &problem, error, sizeof(error));
	if (status == PMG_OK) {
		status = life_problem_write(&problem, options, path, error, sizeof(error));
		life_problem_free(&problem);
	}
	return status == PMG_OK || fail(failure, (enum outcome) status, "%s", error);
}

/* The path of the phantom, which is made if it is not there. */
static const char *find_phantom(const struct life_values *values, struct life_case *problem, struct failure *failure)
{
	struct life_phantom_options options;
	if (!phantom_options(values, &options, failure))
		return NULL;
	problem->name = arena_printf(values->arena, "phantom scale=%g jitter=%g ntheta=%" PRId64 " grid=%" PRId64
				     " seed=%" PRId64, options.scale, options.coherence, options.ntheta,
				     options.grid, options.seed);
	const char *path = arena_printf(values->arena, "%s/life-%g-%g-%" PRId64 "-%" PRId64 "-%" PRId64 ".h5",
					cache_folder(values), options.scale, options.coherence, options.ntheta,
					options.grid, options.seed);
	if (access(path, R_OK) == 0)
		return path;
	return make_folders(values->arena, path, failure) && make_phantom(&options, path, failure) ? path : NULL;
}

/* ---- Arrays ---------------------------------------------------------------------------------- */

/* Takes the array of a member, converted and aligned. */
static bool take_array(struct member *member, pmg_type type, struct ndarray *to, struct failure *failure)
{
	if (!ndarray_convert(&member->array, type, member->name, failure) ||
	    !aligned_array(to, type, member->array.rank, member->array.shape, failure))
		return false;
	memcpy(to->data, member->array.data, ndarray_bytes(to));
	return true;
}

static bool read_object(const struct life_values *values, const char *path, const char *name,
			const struct wish *wish, struct content *content, struct failure *failure)
{
	struct location location;
	const char *text = arena_printf(values->arena, "%s:/%s", path, name);
	return location_parse(&location, values->arena, text, failure) &&
	       content_read(&location, wish, content, failure);
}

static bool read_array(const struct life_values *values, const char *path, const char *name, pmg_type type,
		       struct ndarray *to, struct failure *failure)
{
	struct content content = { 0 };
	struct wish wish = { .name = name };
	bool ok = read_object(values, path, name, &wish, &content, failure) &&
		  (content.kind == CONTENT_ARRAY ||
		   fail(failure, OUTCOME_DATA, "%s: '%s' is not an array", path, name)) &&
		  take_array(&content.members[0], type, to, failure);
	content_free(&content);
	return ok;
}

static bool read_tensor(const struct life_values *values, const char *path, struct life_case *problem,
			struct failure *failure)
{
	static const char *const names[] = { "atom", "voxel", "fiber", "value" };
	struct life_tensor *t = &problem->tensor;
	struct content content = { 0 };
	struct wish wish = { .name = "PHI", .names = names, .n_names = 4 };
	bool ok = read_object(values, path, "PHI", &wish, &content, failure);
	if (ok && content.kind == CONTENT_GROUP && !content_as_tensor(&content, names, 3))
		ok = fail(failure, OUTCOME_DATA, "%s: PHI is not a tensor over atom, voxel and fiber", path);
	ok = ok && tensor_check(&content, path, failure);
	if (ok) {
		const struct attribute *voxels = content_attribute(&content, "nVoxels");
		const struct attribute *fibers = content_attribute(&content, "nFibers");
		t->n_voxels = voxels ? voxels->value : tensor_extent(&content, 1);
		t->n_fibers = fibers ? fibers->value : tensor_extent(&content, 2);
		t->n_coeffs = content.members[3].array.shape[0];
	}
	ok = ok && take_array(&content.members[0], PMG_I32, &problem->atom, failure) &&
	     take_array(&content.members[1], PMG_I32, &problem->voxel, failure) &&
	     take_array(&content.members[2], PMG_I32, &problem->fiber, failure) &&
	     take_array(&content.members[3], PMG_F64, &problem->value, failure);
	content_free(&content);
	return ok;
}

static bool is_within(const struct ndarray *array, int64_t limit, const char *name, struct failure *failure)
{
	const int32_t *values = array->data;
	int64_t n = ndarray_count(array);
	for (int64_t k = 0; k < n; k++)
		if (values[k] < 0 || values[k] >= limit)
			return fail(failure, OUTCOME_DATA, "PHI.%s[%" PRId64 "] is %" PRId32 ", not in 0..%" PRId64,
				    name, k, values[k], limit);
	return true;
}

/* ---- Inputs -------------------------------------------------------------------------------------- */

/* In [0, 1), by place: the finaliser of SplitMix64. */
static double draw(uint64_t seed, int64_t i)
{
	uint64_t x = (seed << 40) + (uint64_t) i + 0x9e3779b97f4a7c15u;
	x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
	x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
	return (double) ((x ^ (x >> 31)) >> 11) * 0x1p-53;
}

static bool make_weights(const struct life_values *values, struct life_case *problem, struct failure *failure)
{
	double share = 1;
	const char *text = values->weights ? values->weights : "dense";
	bool is_sparse = strncmp(text, "sparse=", 7) == 0;
	if (is_sparse ? !parse_real(text + 7, &share) || !(share >= 0 && share <= 1) : strcmp(text, "dense") != 0)
		return fail(failure, OUTCOME_USAGE, "--weights: '%s' is neither dense nor sparse=SHARE, from 0 to 1",
			    text);
	if (!aligned_array(&problem->w, PMG_F64, 1, &problem->tensor.n_fibers, failure))
		return false;
	double *w = problem->w.data;
	for (int64_t f = 0; f < problem->tensor.n_fibers; f++)
		w[f] = !is_sparse || draw(2, f) < share ? 0.1 + draw(1, f) : 0;
	problem->weights = text;
	return true;
}

bool life_is_sparse(const struct life_case *problem)
{
	return strcmp(problem->weights, "dense") != 0;
}

static bool make_signal(const struct life_values *values, const char *path, struct life_case *problem,
			struct failure *failure)
{
	const struct life_tensor *t = &problem->tensor;
	struct failure ignored = { 0 };
	int64_t shape[] = { t->n_voxels, t->n_theta };
	if (read_array(values, path, "y", PMG_F64, &problem->Y, &ignored) && problem->Y.rank == 2 &&
	    problem->Y.shape[0] == shape[0] && problem->Y.shape[1] == shape[1])
		return true;
	ndarray_free(&problem->Y);
	if (!aligned_array(&problem->Y, PMG_F64, 2, shape, failure))
		return false;
	for (int64_t i = 0; i < shape[0] * shape[1]; i++)
		((double *) problem->Y.data)[i] = 0.1 + draw(3, i);
	return true;
}

/* ---- All together ------------------------------------------------------------------------------------ */

static void point_tensor(struct life_case *problem)
{
	struct life_tensor *t = &problem->tensor;
	const struct ndarray *coords = &problem->coords;
	t->atom = problem->atom.data;
	t->voxel = problem->voxel.data;
	t->fiber = problem->fiber.data;
	t->value = problem->value.data;
	t->D = problem->D.data;
	bool fits = coords->data && coords->rank == 2 && coords->shape[0] == t->n_voxels && coords->shape[1] == 3;
	t->coords = fits ? coords->data : NULL;
}

static bool read_problem(const struct life_values *values, const char *path, struct life_case *problem,
			 struct failure *failure)
{
	struct failure ignored = { 0 };
	if (!read_tensor(values, path, problem, failure) ||
	    !read_array(values, path, "D", PMG_F64, &problem->D, failure))
		return false;
	if (problem->D.rank != 2)
		return fail(failure, OUTCOME_DATA, "%s: D has not two dimensions", path);
	problem->tensor.n_atoms = problem->D.shape[0];
	problem->tensor.n_theta = problem->D.shape[1];
	if (problem->tensor.n_coeffs == 0 || problem->tensor.n_theta == 0)
		return fail(failure, OUTCOME_DATA, "%s: there is nothing to compute", path);
	read_array(values, path, "voxel_coords", PMG_I32, &problem->coords, &ignored);
	point_tensor(problem);
	return is_within(&problem->atom, problem->tensor.n_atoms, "atom", failure) &&
	       is_within(&problem->voxel, problem->tensor.n_voxels, "voxel", failure) &&
	       is_within(&problem->fiber, problem->tensor.n_fibers, "fiber", failure) &&
	       make_weights(values, problem, failure) && make_signal(values, path, problem, failure);
}

bool life_case_open(const struct life_values *values, struct life_case *problem, struct failure *failure)
{
	const char *path = values->problem;
	*problem = (struct life_case){ .name = path };
	if (!path)
		path = find_phantom(values, problem, failure);
	if (path && read_problem(values, path, problem, failure))
		return true;
	life_case_close(problem);
	return false;
}

void life_case_close(struct life_case *problem)
{
	ndarray_free(&problem->atom);
	ndarray_free(&problem->voxel);
	ndarray_free(&problem->fiber);
	ndarray_free(&problem->value);
	ndarray_free(&problem->D);
	ndarray_free(&problem->coords);
	ndarray_free(&problem->w);
	ndarray_free(&problem->Y);
}
