/* SPDX-License-Identifier: MIT
 *
 * ENCODE's structure `fe` in a .mat (Caiafa and Pestilli 2017): coefficients fe.life.M.Phi, an sptensor or a structure
 * with its fields, which count from 1; dictionary fe.life.M.DictSig; the measured signal, of which y is what is left
 * without the mean over directions in each voxel, as feGet(fe, 'dsigdemeaned') has it. */
#include <inttypes.h>
#include <string.h>

#include "life/import.h"

struct reader {
	struct arena *arena;
	const struct location *file;
	const char *base; /* "/fe" */
	struct parts *parts;
	int64_t n_voxels, n_theta;
};

/* ---- Parts of the structure --------------------------------------------------------------- */

static bool read_part(struct reader *r, const char *inner, const char *const *names, int n_names,
		      struct content *content, struct failure *failure)
{
	struct location location = *r->file;
	const struct wish wish = { .names = names, .n_names = n_names };
	location.inner = arena_printf(r->arena, "%s%s", r->base, inner);
	if (!content_read(&location, &wish, content, failure))
		return false;
	if (content->kind == CONTENT_GROUP)
		return true;
	fail_file(failure, location.path, "%s: it is no structure, nor an object of a class that has its fields here",
		  location.inner);
	fail_help(failure, "save its fields as arrays: docs/life.md has the lines, in MATLAB and in Python");
	return false;
}

static bool lacks(struct reader *r, const char *name, struct failure *failure)
{
	return fail_file(failure, r->file->path, "%s: it is not there, or no array of numbers",
			 arena_printf(r->arena, "%s%s", r->base, name));
}

static bool split_subscripts(struct reader *r, const struct ndarray *subs, struct failure *failure)
{
	static const char *const modes[] = { "atom", "voxel", "fiber" };
	int64_t n = subs->rank == 2 && subs->shape[1] == 3 ? subs->shape[0] : -1;
	char shape[200];
	if (n < 0)
		return fail_file(failure, r->file->path, "%s/life/M/Phi/subs: its shape is %s, not [coefficients, 3]",
				 r->base, extents_text(subs->rank, subs->shape, shape, sizeof(shape)));
	for (int m = 0; m < 3; m++) {
		struct member *mode = content_add(&r->parts->phi, modes[m], failure);
		if (!mode || !ndarray_new(&mode->array, PMG_F64, 1, &n, failure))
			return false;
		for (int64_t i = 0; i < n; i++)
			((double *) mode->array.data)[i] = ndarray_real(subs, 3 * i + m);
	}
	return true;
}

static bool read_phi(struct reader *r, struct failure *failure)
{
	static const char *const names[] = { "subs", "vals", "size" };
	struct content content = { 0 };
	bool ok = read_part(r, "/life/M/Phi", names, 3, &content, failure);
	struct member *subs = content_find(&content, names[0]), *vals = content_find(&content, names[1]);
	struct member *size = content_find(&content, names[2]);
	if (ok && (!subs || !vals))
		ok = lacks(r, subs ? "/life/M/Phi/vals" : "/life/M/Phi/subs", failure);
	ok = ok && split_subscripts(r, &subs->array, failure);
	struct member *value = ok ? content_add(&r->parts->phi, "value", failure) : NULL;
	if (value) {
		value->array = vals->array;
		vals->array.data = NULL;
	}
	ok = value && tensor_of_lists(&r->parts->phi, size ? &size->array : NULL, 1, r->file->path, failure);
	content_free(&content);
	return ok;
}

static bool read_model(struct reader *r, bool has_dictionary, struct failure *failure)
{
	static const char *const names[] = { "DictSig", "orient" };
	struct content content = { 0 };
	bool ok = read_part(r, "/life/M", names, 2, &content, failure);
	struct member *D = content_find(&content, names[0]), *orient = content_find(&content, names[1]);
	if (ok && !has_dictionary) {
		ok = D && D->array.rank == 2
			     ? transpose(&D->array, failure) && parts_put(r->parts, "D", &D->array, failure)
			     : lacks(r, "/life/M/DictSig", failure);
		const struct member *taken = content_find(&r->parts->group, "D");
		if (ok && orient && orient->array.rank == 2 && orient->array.shape[0] == 3 &&
		    orient->array.shape[1] == taken->array.shape[0])
			ok = transpose(&orient->array, failure) &&
			     parts_put(r->parts, "orientations", &orient->array, failure);
	}
	content_free(&content);
	return ok;
}

/* ---- The signal -------------------------------------------------------------------------------- */

static bool without_mean(struct reader *r, const struct ndarray *signal, struct failure *failure)
{
	struct ndarray y;
	if (!ndarray_copy(&y, signal, failure) || !ndarray_convert(&y, PMG_F64, "the signal", failure))
		return false;
	double *values = y.data;
	for (int64_t v = 0; v < r->n_voxels; v++) {
		double sum = 0;
		for (int64_t t = 0; t < r->n_theta; t++)
			sum += values[v * r->n_theta + t];
		for (int64_t t = 0; t < r->n_theta; t++)
			values[v * r->n_theta + t] -= sum / (double) r->n_theta;
	}
	bool ok = parts_put(r->parts, "y", &y, failure);
	ndarray_free(&y);
	return ok;
}

/* The mean of the volumes of b = 0. */
static bool take_S0(struct reader *r, const struct ndarray *all, struct failure *failure)
{
	struct ndarray S0;
	int64_t n = all->rank == 2 ? all->shape[1] : 1;
	if (all->shape[0] != r->n_voxels || n == 0)
		return true;
	if (!ndarray_new(&S0, PMG_F64, 1, &r->n_voxels, failure))
		return false;
	for (int64_t i = 0; i < r->n_voxels * n; i++)
		((double *) S0.data)[i / n] += ndarray_real(all, i) / (double) n;
	bool ok = parts_put(r->parts, "S0", &S0, failure);
	ndarray_free(&S0);
	return ok;
}

/* Numbers of each direction, where there are as many of them; some versions keep those of all volumes. */
static bool take_gradients(struct reader *r, struct content *content, struct failure *failure)
{
	struct member *bvals = content_find(content, "bvals"), *bvecs = content_find(content, "bvecs");
	if (bvals)
		as_list(&bvals->array);
	if (!bvals || !bvecs || bvals->array.rank != 1 || bvals->array.shape[0] != r->n_theta ||
	    bvecs->array.rank != 2 || bvecs->array.shape[0] != r->n_theta || bvecs->array.shape[1] != 3)
		return true;
	return parts_put(r->parts, "bvals", &bvals->array, failure) &&
	       parts_put(r->parts, "directions", &bvecs->array, failure);
}

static bool read_signal(struct reader *r, bool has_y, struct failure *failure)
{
	static const char *const names[] = { "diffusion_signal_img", "diffusion_S0_img", "bvals", "bvecs" };
	struct content content = { 0 };
	bool ok = read_part(r, "/life", names, 4, &content, failure);
	struct member *signal = content_find(&content, names[0]), *S0 = content_find(&content, names[1]);
	if (ok && signal && signal->array.rank == 2) {
		r->n_voxels = signal->array.shape[0];
		r->n_theta = signal->array.shape[1];
		ok = (has_y || without_mean(r, &signal->array, failure)) &&
		     parts_put(r->parts, "signal", &signal->array, failure) &&
		     (!S0 || take_S0(r, &S0->array, failure)) && take_gradients(r, &content, failure);
	} else if (ok && !has_y)
		ok = lacks(r, "/life/diffusion_signal_img", failure);
	content_free(&content);
	return ok;
}

/* Places of voxels, which MATLAB counts from 1; without them the problem is whole, too. */
static bool read_places(struct reader *r, struct failure *failure)
{
	static const char *const names[] = { "coords" };
	struct content content = { 0 };
	struct failure ignored = { 0 };
	bool ok = true, is_there = read_part(r, "/roi", names, 1, &content, &ignored);
	struct member *coords = is_there ? content_find(&content, names[0]) : NULL;
	if (coords && coords->array.rank == 2 && coords->array.shape[0] == r->n_voxels && coords->array.shape[1] == 3 &&
	    ndarray_convert(&coords->array, PMG_I32, "coords", &ignored)) {
		for (int64_t i = 0; i < 3 * r->n_voxels; i++)
			((int32_t *) coords->array.data)[i] -= ((int32_t *) coords->array.data)[i] > INT32_MIN;
		ok = parts_put(r->parts, "voxel_coords", &coords->array, failure);
	}
	content_free(&content);
	return ok;
}

bool import_fe(struct arena *arena, const struct location *location, bool has_y, bool has_dictionary,
	       struct parts *parts, struct failure *failure)
{
	struct reader r = { .arena = arena, .file = location, .parts = parts };
	r.base = location->inner && *location->inner ? location->inner : "/fe";
	return read_phi(&r, failure) && read_model(&r, has_dictionary, failure) &&
	       read_signal(&r, has_y, failure) && read_places(&r, failure);
}
