/* SPDX-License-Identifier: MIT
 *
 * The folder that COMMIT's trk2dictionary writes (Daducci et al. 2015): bare little-endian lists of segments, and
 * images of the voxels that have one. Columns of the model are, one group behind the other: each streamline with each
 * radius, each peak with each kernel of the space around axons, each voxel with each isotropic kernel. All are fibers
 * of one PHI here, and all kernels atoms of one dictionary. Voxels are numbered in the order of the image, the first
 * axis the fastest. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "formats/streams.h"
#include "life/import.h"

struct list {
	char *path;
	int64_t n;
	struct ndarray array;
};

enum list_name { IC_F, IC_V, IC_O, IC_LEN, TRK_NORM, EC_V, EC_O, ISO_V, N_LISTS };

static const struct {
	const char *file;
	pmg_type type;
} list_rows[N_LISTS] = {
	[IC_F] = { "IC_f", PMG_U32 },	  [IC_V] = { "IC_v", PMG_U32 }, [IC_O] = { "IC_o", PMG_U16 },
	[IC_LEN] = { "IC_len", PMG_F32 }, [TRK_NORM] = { "TRK_norm", PMG_F32 },
	[EC_V] = { "EC_v", PMG_U32 },	  [EC_O] = { "EC_o", PMG_U16 }, [ISO_V] = { "ISO_v", PMG_U32 },
};

struct dictionary {
	struct arena *arena;
	const char *folder;
	struct list lists[N_LISTS];
	struct image image;
	int64_t n_places, n_voxels;
	int64_t *number; /* of a voxel by its place; -1: not in the mask */
	const struct commit_kernels *kernels;
	int64_t n_radii, n_hindered, n_kinds, n_directions, n_samples;
	/* What is made: */
	int64_t n, n_coeffs;
	int64_t *modes[3];
	double *values;
};

/* ---- Lists ------------------------------------------------------------------------------------ */

static bool read_list(struct dictionary *d, enum list_name name, bool is_needed, struct failure *failure)
{
	struct list *list = &d->lists[name];
	struct binary_input in;
	size_t width = pmg_type_size(list_rows[name].type);
	list->path = arena_printf(d->arena, "%s/dictionary_%s.dict", d->folder, list_rows[name].file);
	list->array = (struct ndarray){ .type = list_rows[name].type, .rank = 1 };
	if (!is_needed && access(list->path, F_OK) != 0)
		return true;
	if (!binary_open(&in, list->path, failure))
		return false;
	list->n = in.size / (int64_t) width;
	bool ok = in.size % (int64_t) width == 0 ||
		  fail_file(failure, list->path, "byte %" PRId64 ": it ends in the middle of a number of %zu bytes",
			    in.size, width);
	ok = ok && ndarray_new(&list->array, list_rows[name].type, 1, &list->n, failure) &&
	     binary_read(&in, list->array.data, ndarray_bytes(&list->array), "a list", failure);
	if (ok && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__)
		ndarray_swap_bytes(&list->array);
	binary_close(&in);
	return ok;
}

static bool check_length(const struct dictionary *d, enum list_name name, enum list_name other,
			 struct failure *failure)
{
	const struct list *list = &d->lists[name], *wanted = &d->lists[other];
	return list->n == wanted->n ||
	       fail_file(failure, list->path, "byte %" PRId64 ": it ends after %" PRId64 " numbers, %s has %" PRId64,
			 list->n * (int64_t) pmg_type_size(list_rows[name].type), list->n, wanted->path, wanted->n);
}

static bool check_range(const struct dictionary *d, enum list_name name, int64_t limit, const char *what,
			struct failure *failure)
{
	const struct list *list = &d->lists[name];
	for (int64_t i = 0; i < list->n; i++)
		if (ndarray_integer(&list->array, i) >= limit)
			return fail_file(failure, list->path, "byte %" PRId64 ": %" PRId64 ", but there are %" PRId64
					 " %s", i * (int64_t) pmg_type_size(list_rows[name].type),
					 ndarray_integer(&list->array, i), limit, what);
	return true;
}

static bool check_places(const struct dictionary *d, enum list_name name, struct failure *failure)
{
	const struct list *list = &d->lists[name];
	if (!check_range(d, name, d->n_places, "voxels in the image", failure))
		return false;
	for (int64_t i = 0; i < list->n; i++)
		if (d->number[ndarray_integer(&list->array, i)] < 0)
			return fail_file(failure, list->path, "byte %" PRId64 ": voxel %" PRId64 " is not in the mask",
					 i * (int64_t) pmg_type_size(list_rows[name].type),
					 ndarray_integer(&list->array, i));
	return true;
}

static bool check_numbers(const struct dictionary *d, enum list_name name, struct failure *failure)
{
	const struct list *list = &d->lists[name];
	for (int64_t i = 0; i < list->n; i++) {
		double value = ndarray_real(&list->array, i);
		if (!(value >= 0 && value <= 3e38) || (name == TRK_NORM && value == 0))
			return fail_file(failure, list->path, "byte %" PRId64 ": the length %g", i * 4, value);
	}
	return true;
}

static bool read_lists(struct dictionary *d, struct failure *failure)
{
	for (int i = 0; i < N_LISTS; i++)
		if (!read_list(d, (enum list_name) i, i <= TRK_NORM, failure))
			return false;
	return check_length(d, IC_V, IC_F, failure) && check_length(d, IC_O, IC_F, failure) &&
	       check_length(d, IC_LEN, IC_F, failure) && check_length(d, EC_O, EC_V, failure);
}

static bool check_lists(struct dictionary *d, struct failure *failure)
{
	return check_range(d, IC_F, d->lists[TRK_NORM].n, "streamlines", failure) &&
	       check_range(d, IC_O, d->n_directions, "directions of the kernels", failure) &&
	       check_range(d, EC_O, d->n_directions, "directions of the kernels", failure) &&
	       check_places(d, IC_V, failure) && check_places(d, EC_V, failure) && check_places(d, ISO_V, failure) &&
	       check_numbers(d, IC_LEN, failure) && check_numbers(d, TRK_NORM, failure);
}

/* ---- Voxels ------------------------------------------------------------------------------------- */

/* Numbers those voxels of an image whose value is above 0. */
static bool read_mask(struct dictionary *d, const char *path, struct failure *failure)
{
	if (!image_open(&d->image, path, failure))
		return false;
	d->n_places = d->image.extent[0] * d->image.extent[1] * d->image.extent[2];
	if (d->image.n_volumes != 1)
		return fail_file(failure, path, "a mask has one volume, not %" PRId64, d->image.n_volumes);
	int64_t *places = calloc((size_t) d->n_places, sizeof(int64_t));
	double *values = calloc((size_t) d->n_places, sizeof(double));
	bool ok = places && values ? true : fail_memory(failure, "a mask");
	for (int64_t i = 0; i < d->n_places && ok; i++)
		places[i] = i;
	ok = ok && image_gather(&d->image, path, places, d->n_places, values, failure);
	d->n_voxels = 0;
	for (int64_t i = 0; i < d->n_places && ok; i++)
		places[i] = values[i] > 0 ? d->n_voxels++ : -1;
	free(values);
	free(d->number);
	d->number = places;
	return ok;
}

/* The mask is of all voxels that have a streamline, or the one that the user gave COMMIT: y tells. */
static bool find_mask(struct dictionary *d, int64_t n_wanted, struct failure *failure)
{
	static const char *const names[] = { "tdi.nii", "tdi.nii.gz", "mask.nii", "mask.nii.gz" };
	const char *read = NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *path = arena_printf(d->arena, "%s/dictionary_%s", d->folder, names[i]);
		if (access(path, F_OK) != 0)
			continue;
		read = path;
		if (!read_mask(d, path, failure))
			return false;
		if (d->n_voxels == n_wanted)
			return true;
	}
	if (!read)
		return fail_file(failure, d->folder, "it has neither dictionary_tdi.nii nor dictionary_mask.nii");
	return fail_file(failure, read, "%" PRId64 " voxels are in the mask, --y has %" PRId64 " rows", d->n_voxels,
			 n_wanted);
}

/* ---- Kernels --------------------------------------------------------------------------------------- */

static bool check_kernel(const struct ndarray *kernel, const char *option, int rank, int64_t n_directions,
			 int64_t n_samples, struct failure *failure)
{
	char shape[200];
	if (!kernel->data ||
	    (kernel->rank == rank && kernel->shape[rank - 1] == n_samples &&
	     (rank == 2 || kernel->shape[1] == n_directions)))
		return true;
	extents_text(kernel->rank, kernel->shape, shape, sizeof(shape));
	if (rank == 2)
		return fail(failure, OUTCOME_DATA, "--%s: its shape is %s, but --y has %" PRId64 " samples", option,
			    shape, n_samples);
	return fail(failure, OUTCOME_DATA, "--%s: its shape is %s, which does not fit %" PRId64 " directions and the %"
		    PRId64 " samples of --y", option, shape, n_directions, n_samples);
}

static bool take_kernels(struct dictionary *d, struct commit_kernels *kernels, int64_t n_samples,
			 struct failure *failure)
{
	struct ndarray *wmr = &kernels->wmr;
	if (wmr->rank == 2) {
		*wmr = (struct ndarray){ .type = wmr->type, .rank = 3,
					 .shape = { 1, wmr->shape[0], wmr->shape[1] }, .data = wmr->data };
	}
	d->kernels = kernels;
	d->n_samples = n_samples;
	d->n_directions = wmr->rank == 3 ? wmr->shape[1] : 0;
	if (!check_kernel(wmr, "dictionary", 3, d->n_directions, n_samples, failure) ||
	    !check_kernel(&kernels->wmh, "hindered", 3, d->n_directions, n_samples, failure) ||
	    !check_kernel(&kernels->iso, "isotropic", 2, 0, n_samples, failure))
		return false;
	d->n_radii = wmr->shape[0];
	d->n_hindered = kernels->wmh.data ? kernels->wmh.shape[0] : 0;
	d->n_kinds = kernels->iso.data ? kernels->iso.shape[0] : 0;
	return true;
}

static bool join_kernels(struct dictionary *d, struct parts *parts, struct failure *failure)
{
	const struct ndarray *all[] = { &d->kernels->wmr, &d->kernels->wmh, &d->kernels->iso };
	struct ndarray D;
	int64_t shape[] = { (d->n_radii + d->n_hindered) * d->n_directions + d->n_kinds, d->n_samples }, at = 0;
	if (!ndarray_new(&D, PMG_F64, 2, shape, failure))
		return false;
	for (int k = 0; k < 3; k++)
		for (int64_t i = 0, n = all[k]->data ? ndarray_count(all[k]) : 0; i < n; i++)
			((double *) D.data)[at++] = ndarray_real(all[k], i);
	bool ok = parts_put(parts, "D", &D, failure);
	ndarray_free(&D);
	return ok;
}

/* ---- Coefficients ---------------------------------------------------------------------------------- */

static void add(struct dictionary *d, int64_t atom, int64_t place, int64_t fiber, double value)
{
	d->modes[0][d->n] = atom;
	d->modes[1][d->n] = d->number[place];
	d->modes[2][d->n] = fiber;
	d->values[d->n++] = value;
}

struct ranked {
	int64_t place, index;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;
	if (x->place != y->place)
		return x->place < y->place ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

/* COMMIT sorts peaks and isotropic voxels by their place and numbers its unknowns so. */
static struct ranked *rank_places(const struct list *list)
{
	struct ranked *ranked = calloc((size_t) list->n + 1, sizeof(*ranked));
	for (int64_t i = 0; i < list->n && ranked; i++)
		ranked[i] = (struct ranked){ .place = ndarray_integer(&list->array, i), .index = i };
	if (ranked)
		qsort(ranked, (size_t) list->n, sizeof(*ranked), compare_ranked);
	return ranked;
}

static void add_segments(struct dictionary *d)
{
	const struct list *lists = d->lists;
	for (int64_t r = 0; r < d->n_radii; r++)
		for (int64_t i = 0; i < lists[IC_F].n; i++) {
			int64_t f = ndarray_integer(&lists[IC_F].array, i);
			add(d, r * d->n_directions + ndarray_integer(&lists[IC_O].array, i),
			    ndarray_integer(&lists[IC_V].array, i), r * lists[TRK_NORM].n + f,
			    ndarray_real(&lists[IC_LEN].array, i) / ndarray_real(&lists[TRK_NORM].array, f));
		}
}

static bool add_places(struct dictionary *d, const struct list *list, const struct list *directions, int64_t n_kernels,
		       int64_t first_atom, int64_t first_fiber, struct failure *failure)
{
	struct ranked *ranked = rank_places(list);
	if (!ranked)
		return fail_memory(failure, "a list of voxels");
	for (int64_t k = 0; k < n_kernels; k++)
		for (int64_t i = 0; i < list->n; i++) {
			int64_t atom = first_atom + k;
			if (directions)
				atom = first_atom + k * d->n_directions +
				       ndarray_integer(&directions->array, ranked[i].index);
			add(d, atom, ranked[i].place, first_fiber + k * list->n + i, 1);
		}
	free(ranked);
	return true;
}

static bool make_phi(struct dictionary *d, struct content *phi, struct failure *failure)
{
	static const char *const names[] = { "atom", "voxel", "fiber", "value" };
	const struct list *lists = d->lists;
	int64_t n_streamlines = d->n_radii * lists[TRK_NORM].n, n_peaks = d->n_hindered * lists[EC_V].n;
	int64_t n_lumps = d->n_kinds * lists[ISO_V].n, atoms = (d->n_radii + d->n_hindered) * d->n_directions;
	d->n_coeffs = d->n_radii * lists[IC_F].n + n_peaks + n_lumps;
	phi->kind = CONTENT_TENSOR;
	for (int m = 0; m < 4; m++) {
		struct member *member = content_add(phi, names[m], failure);
		if (!member || !ndarray_new(&member->array, m < 3 ? PMG_I64 : PMG_F64, 1, &d->n_coeffs, failure))
			return false;
	}
	for (int m = 0; m < 3; m++)
		d->modes[m] = phi->members[m].array.data;
	d->values = phi->members[3].array.data;
	phi->sizes[0] = atoms + d->n_kinds;
	phi->sizes[1] = d->n_voxels;
	phi->sizes[2] = n_streamlines + n_peaks + n_lumps;
	add_segments(d);
	return add_places(d, &lists[EC_V], &lists[EC_O], d->n_hindered, d->n_radii * d->n_directions, n_streamlines,
			  failure) &&
	       add_places(d, &lists[ISO_V], NULL, d->n_kinds, atoms, n_streamlines + n_peaks, failure);
}

bool import_commit(struct arena *arena, const char *folder, struct commit_kernels *kernels, struct parts *parts,
		   struct failure *failure)
{
	struct dictionary *d = arena_new(arena, struct dictionary);
	const struct member *y = content_find(&parts->group, "y");
	d->arena = arena;
	d->folder = folder;
	bool ok = take_kernels(d, kernels, y->array.shape[1], failure) && read_lists(d, failure) &&
		  find_mask(d, y->array.shape[0], failure) && check_lists(d, failure) &&
		  join_kernels(d, parts, failure) && make_phi(d, &parts->phi, failure);
	for (int i = 0; i < N_LISTS; i++)
		ndarray_free(&d->lists[i].array);
	free(d->number);
	return ok;
}
