/* SPDX-License-Identifier: MIT
 *
 * A problem in an HDF5 file, in the layout of `pmg phantom life`: the group PHI with atom, voxel, fiber and value,
 * beside it D, y and what else is known. Sizes that contradict each other are refused. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "life/connectome.h"

enum { N_REALS = 7 };

struct real_member {
	const char *name;
	double **values;
	int64_t rows, columns; /* columns 0: a list */
};

static void list_reals(struct problem *p, struct real_member list[N_REALS])
{
	const struct real_member rows[N_REALS] = {
		{ "D", &p->D, p->n_atoms, p->n_theta },
		{ "y", &p->y, p->n_voxels, p->n_theta },
		{ "signal", &p->signal, p->n_voxels, p->n_theta },
		{ "S0", &p->S0, p->n_voxels, 0 },
		{ "orientations", &p->orientations, p->n_atoms, 3 },
		{ "bvals", &p->bvals, p->n_theta, 0 },
		{ "directions", &p->bvecs, p->n_theta, 3 },
	};
	memcpy(list, rows, sizeof(rows));
}

const char *problem_object(int i)
{
	static const char *const others[] = { "PHI", "voxel_coords" };
	struct problem none = { 0 };
	struct real_member reals[N_REALS];
	list_reals(&none, reals);
	return i < N_REALS ? reals[i].name : i < N_REALS + 2 ? others[i - N_REALS] : NULL;
}

/* ---- Reading -------------------------------------------------------------------------------- */

static bool take_matrix(struct content *content, const struct real_member *real, const char *path,
		      struct failure *failure)
{
	struct member *member = content_find(content, real->name);
	char shape[200];
	if (!member)
		return true;
	struct ndarray *array = &member->array;
	if (array->rank != (real->columns ? 2 : 1) || array->shape[0] != real->rows ||
	    (real->columns && array->shape[1] != real->columns))
		return fail_file(failure, path, "the shape of /%s is %s, which does not fit the others", real->name,
				 extents_text(array->rank, array->shape, shape, sizeof(shape)));
	if (!ndarray_convert(array, PMG_F64, real->name, failure))
		return false;
	*real->values = array->data;
	array->data = NULL;
	return true;
}

static bool take_coordinate(struct content *phi, int mode, int64_t size, int32_t **list, const char *path,
			    struct failure *failure)
{
	struct member *member = &phi->members[mode];
	for (int64_t i = 0, n = ndarray_count(&member->array); i < n; i++) {
		int64_t at = ndarray_integer(&member->array, i);
		if (at >= size)
			return fail_file(failure, path, "/PHI/%s[%lld] is %lld, there are %lld", member->name,
					 (long long) i, (long long) at, (long long) size);
	}
	if (!ndarray_convert(&member->array, PMG_I32, member->name, failure))
		return false;
	*list = member->array.data;
	member->array.data = NULL;
	return true;
}

static int64_t fibers_of(const struct content *phi)
{
	const struct attribute *stated = content_attribute(phi, "nFibers");
	return stated ? stated->value : tensor_extent(phi, 2);
}

static bool take_phi(struct problem *p, struct content *phi, const char *path, struct failure *failure)
{
	static const char *const modes[] = { "atom", "voxel", "fiber" };
	if (phi->kind != CONTENT_TENSOR && !content_as_tensor(phi, modes, 3))
		return fail_file(failure, path, "/PHI lacks one of atom, voxel, fiber, value");
	if (!tensor_check(phi, path, failure))
		return false;
	p->n_coeffs = ndarray_count(&phi->members[3].array);
	p->n_fibers = fibers_of(phi);
	if (p->n_fibers < 0 || p->n_fibers > INT32_MAX)
		return fail_file(failure, path, "/PHI states %lld fibers", (long long) p->n_fibers);
	if (!take_coordinate(phi, 0, p->n_atoms, &p->atom, path, failure) ||
	    !take_coordinate(phi, 1, p->n_voxels, &p->voxel, path, failure) ||
	    !take_coordinate(phi, 2, p->n_fibers, &p->fiber, path, failure) ||
	    !ndarray_convert(&phi->members[3].array, PMG_F64, "value", failure))
		return false;
	p->value = phi->members[3].array.data;
	phi->members[3].array.data = NULL;
	return true;
}

static bool is_problem_of(const struct member *D, const struct member *y, const char *path, struct failure *failure)
{
	bool has_D = D && D->array.rank == 2, has_y = y && y->array.rank == 2;
	if (has_D && has_y && D->array.shape[1] == y->array.shape[1])
		return true;
	if (has_D && has_y)
		fail_file(failure, path, "it is no problem: D has rows of %lld numbers, y of %lld",
			  (long long) D->array.shape[1], (long long) y->array.shape[1]);
	else
		fail_file(failure, path, "it is no problem: it has no matrix %s of real numbers",
			  has_D ? "y" : has_y ? "D" : "D and no y");
	fail_help(failure, "'pmg life encode' and 'pmg life import' make problems");
	return false;
}

static bool take_group(struct problem *p, struct content *group, const char *path, struct failure *failure)
{
	struct member *D = content_find(group, "D"), *y = content_find(group, "y");
	struct member *coords = content_find(group, "voxel_coords");
	struct real_member reals[N_REALS];
	if (!is_problem_of(D, y, path, failure))
		return false;
	p->n_atoms = D->array.shape[0];
	p->n_voxels = y->array.shape[0];
	p->n_theta = D->array.shape[1];
	list_reals(p, reals);
	for (int i = 0; i < N_REALS; i++)
		if (!take_matrix(group, &reals[i], path, failure))
			return false;
	if (coords && coords->array.rank == 2 && coords->array.shape[0] == p->n_voxels && coords->array.shape[1] == 3 &&
	    ndarray_convert(&coords->array, PMG_I32, "voxel_coords", failure)) {
		p->voxel_coords = coords->array.data;
		coords->array.data = NULL;
	}
	return true;
}

static bool read_group(const char *path, const char *inner, struct content *content, struct failure *failure)
{
	struct location location = { .path = (char *) (uintptr_t) path,
				     .inner = (char *) (uintptr_t) inner,
				     .rank = -1,
				     .base = -1 };
	return hdf5_read(&location, NULL, content, failure) &&
	       (content->kind == CONTENT_GROUP || fail_file(failure, path, "%s is no group", inner));
}

bool problem_read(struct problem *p, const char *path, struct failure *failure)
{
	struct content group = { 0 }, phi = { 0 };
	*p = (struct problem){ 0 };
	bool ok = file_is_readable(path, failure) && read_group(path, "/", &group, failure) &&
		  take_group(p, &group, path, failure) && read_group(path, "/PHI", &phi, failure) &&
		  take_phi(p, &phi, path, failure);
	content_free(&group);
	content_free(&phi);
	if (!ok)
		problem_free(p);
	return ok;
}

bool problem_assemble(struct problem *p, struct content *group, struct content *phi, const char *path,
		      struct failure *failure)
{
	*p = (struct problem){ 0 };
	if (take_group(p, group, path, failure) && take_phi(p, phi, path, failure))
		return true;
	problem_free(p);
	return false;
}

/* ---- Writing ---------------------------------------------------------------------------------- */

static bool write_arrays(void *problem, const char *path, struct failure *failure)
{
	struct problem p = *(const struct problem *) problem;
	struct content group = { .kind = CONTENT_GROUP };
	struct content phi = { .kind = CONTENT_TENSOR, .sizes = { p.n_atoms, p.n_voxels, p.n_fibers } };
	struct real_member reals[N_REALS];
	bool ok = true;
	list_reals(&p, reals);
	for (int i = 0; i < N_REALS && ok; i++)
		ok = content_borrow(&group, reals[i].name, PMG_F64, reals[i].columns ? 2 : 1, reals[i].rows,
				    reals[i].columns, *reals[i].values, failure);
	ok = ok && content_borrow(&group, "voxel_coords", PMG_I32, 2, p.n_voxels, 3, p.voxel_coords, failure);
	if (!hdf5_write_borrowed(&group, path, "/", ok, failure))
		return false;
	ok = content_borrow(&phi, "atom", PMG_I32, 1, p.n_coeffs, 0, p.atom, failure) &&
	     content_borrow(&phi, "voxel", PMG_I32, 1, p.n_coeffs, 0, p.voxel, failure) &&
	     content_borrow(&phi, "fiber", PMG_I32, 1, p.n_coeffs, 0, p.fiber, failure) &&
	     content_borrow(&phi, "value", PMG_F64, 1, p.n_coeffs, 0, p.value, failure);
	return hdf5_write_borrowed(&phi, path, "/PHI", ok, failure);
}

bool problem_write(const struct problem *problem, const char *path, struct failure *failure)
{
	return hdf5_write_whole(path, write_arrays, (void *) (uintptr_t) problem, failure);
}

void problem_free(struct problem *p)
{
	void *lists[] = { p->atom, p->voxel, p->fiber, p->value, p->D,	    p->y,
			  p->signal, p->S0,  p->orientations, p->bvals, p->bvecs, p->voxel_coords };
	for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++)
		free(lists[i]);
	*p = (struct problem){ 0 };
}

/* ---- What it holds -------------------------------------------------------------------------------- */

static bool check_finite(const double *values, int64_t rows, int64_t columns, const char *name, const char *path,
			 struct failure *failure)
{
	for (int64_t i = 0; i < rows * columns; i++) {
		if (isfinite(values[i]))
			continue;
		if (columns == 1)
			return fail_file(failure, path, "%s[%lld] is %g", name, (long long) i, values[i]);
		return fail_file(failure, path, "%s[%lld, %lld] is %g", name, (long long) (i / columns),
				 (long long) (i % columns), values[i]);
	}
	return true;
}

bool problem_check(const struct problem *p, const char *path, struct failure *failure)
{
	const char *lacking = p->n_fibers == 0 ? "fibers" : p->n_coeffs == 0 ? "coefficients" :
			      p->n_voxels == 0 ? "voxels" : p->n_theta == 0 ? "directions" : NULL;
	if (lacking)
		return fail_file(failure, path, "the problem has no %s", lacking);
	return check_finite(p->value, p->n_coeffs, 1, "/PHI/value", path, failure) &&
	       check_finite(p->D, p->n_atoms, p->n_theta, "/D", path, failure) &&
	       check_finite(p->y, p->n_voxels, p->n_theta, "/y", path, failure);
}

static bool is_problem(const char *path)
{
	struct problem problem;
	struct failure ignored = { 0 };
	bool is = problem_read(&problem, path, &ignored);
	if (is)
		problem_free(&problem);
	return is;
}

bool problem_open(struct problem *p, const char *path, const char *weights, struct failure *failure)
{
	if (problem_read(p, path, failure))
		return problem_check(p, path, failure);
	if (failure->outcome == OUTCOME_DATA && is_problem(weights))
		fail_help(failure, "the problem comes first: %s %s", weights, path);
	return false;
}

int64_t problem_bytes(const struct problem *p)
{
	struct problem copy = *p;
	struct real_member reals[N_REALS];
	int64_t bytes = p->n_coeffs * (int64_t) (3 * sizeof(int32_t) + sizeof(double));
	list_reals(&copy, reals);
	for (int i = 0; i < N_REALS; i++)
		if (*reals[i].values)
			bytes += reals[i].rows * (reals[i].columns ? reals[i].columns : 1) * (int64_t) sizeof(double);
	return bytes + (p->voxel_coords ? 3 * p->n_voxels * (int64_t) sizeof(int32_t) : 0);
}
