/* SPDX-License-Identifier: MIT
 *
 * A problem from arrays with names, from a sparse tensor, and from an explicit sparse matrix M, [voxels · directions,
 * fibers] with directions the fastest, which has an atom of its own for each fiber in each voxel. Names are those of
 * this project or those that LiFE users give to what they export. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "life/import.h"

void parts_free(struct parts *parts)
{
	content_free(&parts->phi);
	content_free(&parts->group);
	content_free(&parts->matrix);
}

bool parts_put(struct parts *parts, const char *name, struct ndarray *array, struct failure *failure)
{
	struct member *member = content_find(&parts->group, name) ? NULL : content_add(&parts->group, name, failure);
	if (!member)
		return content_find(&parts->group, name) != NULL;
	member->array = *array;
	array->data = NULL;
	return true;
}

void as_list(struct ndarray *array)
{
	if (array->rank != 2 || (array->shape[0] != 1 && array->shape[1] != 1))
		return;
	array->shape[0] *= array->shape[1];
	array->rank = 1;
}

bool transpose(struct ndarray *array, struct failure *failure)
{
	int64_t rows = array->shape[0];
	array->shape[0] = array->shape[1];
	array->shape[1] = rows;
	return ndarray_from_columns(array, failure);
}

/* ---- Coefficients ---------------------------------------------------------------------------- */

static bool shift(struct member *mode, int64_t base, const char *path, struct failure *failure)
{
	int64_t *coordinates = mode->array.data;
	for (int64_t i = 0; i < ndarray_count(&mode->array); i++) {
		if (coordinates[i] < base)
			return fail_file(failure, path, "%s[%" PRId64 "] is %" PRId64 ", but coordinates count from %"
					 PRId64, mode->name, i, coordinates[i], base);
		coordinates[i] -= base;
	}
	return true;
}

static bool add_sizes(struct content *phi, const struct ndarray *sizes, const char *path, struct failure *failure)
{
	if (!sizes)
		return true;
	if (ndarray_count(sizes) != 3)
		return fail_file(failure, path, "the sizes of PHI are %" PRId64 ", not 3", ndarray_count(sizes));
	for (int m = 0; m < 3; m++) {
		char name[24];
		double size = ndarray_real(sizes, m);
		if (!(size >= 0 && size <= INT32_MAX))
			return fail_file(failure, path, "size %d of PHI is %g", m, size);
		snprintf(name, sizeof(name), "shape.%d", m);
		if (!content_add_attribute(phi, name, (int64_t) size, failure))
			return false;
	}
	return true;
}

bool tensor_of_lists(struct content *phi, const struct ndarray *sizes, int64_t base, const char *path,
		     struct failure *failure)
{
	static const char *const modes[] = { "atom", "voxel", "fiber" };
	phi->kind = CONTENT_GROUP;
	for (int m = 0; m < 3; m++) {
		struct member *mode = content_find(phi, modes[m]);
		char name[2 * NAME_BYTES];
		snprintf(name, sizeof(name), "%.400s: %s", path, modes[m]);
		as_list(&mode->array);
		if (!ndarray_convert(&mode->array, PMG_I64, name, failure) || !shift(mode, base, path, failure))
			return false;
	}
	as_list(&content_find(phi, "value")->array);
	return add_sizes(phi, sizes, path, failure) &&
	       (content_as_tensor(phi, modes, 3) || fail_file(failure, path, "PHI is not complete"));
}

/* ---- Names ---------------------------------------------------------------------------------------- */

static const struct {
	const char *name, *ours;
} names[] = { { "atom", "atom" },     { "atoms", "atom" },    { "voxel", "voxel" },   { "voxels", "voxel" },
	      { "fiber", "fiber" },   { "fibers", "fiber" },  { "value", "value" },   { "values", "value" },
	      { "vals", "value" },    { "D", "D" },           { "DictSig", "DictSig" }, { "y", "y" },
	      { "dSig", "dSig" },     { "shape", "shape" },   { "size", "shape" },    { "sz", "shape" },
	      { "signal", "signal" }, { "S0", "S0" } };

enum { N_NAMES = sizeof(names) / sizeof(names[0]) };

static bool rename_members(struct content *content, const char *path, struct failure *failure)
{
	for (int i = 0; i < content->n_members; i++)
		for (int n = 0; n < N_NAMES; n++) {
			struct member *member = &content->members[i];
			if (strcmp(member->name, names[n].name) != 0)
				continue;
			struct member *other = content_find(content, names[n].ours);
			if (other && other != member)
				return fail_file(failure, path, "it has both '%s' and '%s'", member->name, other->name);
			snprintf(member->name, sizeof(member->name), "%s", names[n].ours);
			break;
		}
	return true;
}

static bool move_member(struct content *from, const char *name, struct content *to, struct failure *failure)
{
	struct member *old = content_find(from, name), *new = content_add(to, name, failure);
	if (!new)
		return false;
	new->array = old->array;
	old->array.data = NULL;
	return true;
}

/* A list of signals has the directions of a voxel together. */
static bool take_signal(struct content *content, const char *name, int64_t n_theta, const char *path,
			struct parts *parts, struct failure *failure)
{
	struct member *member = content_find(content, name);
	if (!member)
		return true;
	struct ndarray *array = &member->array;
	if (strcmp(name, "dSig") == 0)
		as_list(array);
	if (array->rank == 1 && n_theta > 0) {
		if (array->shape[0] % n_theta != 0)
			return fail_file(failure, path, "%s: %" PRId64 " numbers are no multiple of %" PRId64
					 " directions", name, array->shape[0], n_theta);
		array->rank = 2;
		array->shape[0] /= n_theta;
		array->shape[1] = n_theta;
	}
	return parts_put(parts, "y", array, failure);
}

static bool take_dictionary(struct content *content, const char *path, struct parts *parts, struct failure *failure)
{
	struct member *D = content_find(content, "D"), *columns = content_find(content, "DictSig");
	if (columns && columns->array.rank != 2)
		return fail_file(failure, path, "DictSig is no matrix");
	/* DictSig has a column for each atom. */
	return (!columns || (transpose(&columns->array, failure) && parts_put(parts, "D", &columns->array, failure))) &&
	       (!D || !D->array.data || parts_put(parts, "D", &D->array, failure));
}

static bool take_arrays(struct content *content, int64_t base, const char *path, struct parts *parts,
			struct failure *failure)
{
	static const char *const lists[] = { "atom", "voxel", "fiber", "value" };
	static const char *const others[] = { "signal", "S0" };
	for (int i = 0; i < 4; i++)
		if (!content_find(content, lists[i]))
			return fail_file(failure, path, "it lacks one of atom, voxel, fiber, value: '%s'", lists[i]);
	for (int i = 0; i < 4; i++)
		if (!move_member(content, lists[i], &parts->phi, failure))
			return false;
	if (content_attribute(content, "index_base") && !import_counts_itself(path, base != 0, failure))
		return false;
	const struct member *sizes = content_find(content, "shape"), *D;
	for (int i = 0; i < content->n_attributes; i++)
		if (!content_add_attribute(&parts->phi, content->attributes[i].name, content->attributes[i].value,
					   failure))
			return false;
	if (!tensor_of_lists(&parts->phi, sizes ? &sizes->array : NULL, base, path, failure) ||
	    !take_dictionary(content, path, parts, failure))
		return false;
	D = content_find(&parts->group, "D");
	int64_t n_theta = D && D->array.rank == 2 ? D->array.shape[1] : 0;
	for (int i = 0; i < 2; i++) {
		struct member *member = content_find(content, others[i]);
		if (member && !parts_put(parts, others[i], &member->array, failure))
			return false;
	}
	return take_signal(content, "y", n_theta, path, parts, failure) &&
	       take_signal(content, "dSig", n_theta, path, parts, failure);
}

/* ---- The file ----------------------------------------------------------------------------------------- */

static bool take_tensor(struct content *content, const char *path, struct parts *parts, struct failure *failure)
{
	static const char *const modes[] = { "atom", "voxel", "fiber", "value" };
	if (content->n_members == 3) {
		parts->matrix = *content;
		*content = (struct content){ 0 };
		return true;
	}
	if (content->n_members != 4)
		return fail_file(failure, path, "a sparse tensor of three modes is needed: atom, voxel, fiber");
	parts->phi = *content;
	*content = (struct content){ 0 };
	for (int m = 0; m < 4; m++)
		snprintf(parts->phi.members[m].name, sizeof(parts->phi.members[m].name), "%s", modes[m]);
	return true;
}

bool import_counts_itself(const char *path, bool is_one_based, struct failure *failure)
{
	if (!is_one_based)
		return true;
	fail(failure, OUTCOME_USAGE, "--one-based is for lists in a .mat, .npz or .h5; %s counts as its format does",
	     path);
	fail_help(failure, "a .tsv, SciPy's .npz and COMMIT's lists count from 0, a .tns, a .mtx and an fe from 1");
	return false;
}

bool import_arrays(const struct location *location, int64_t base, struct parts *parts, bool *is_other,
		   struct failure *failure)
{
	const char *wished[N_NAMES];
	struct wish wish = { .name = "PHI", .names = wished, .n_names = N_NAMES };
	struct content content = { 0 };
	bool ok;
	for (int i = 0; i < N_NAMES; i++)
		wished[i] = names[i].name;
	*is_other = false;
	if (!content_read(location, &wish, &content, failure))
		return false;
	if (content.kind == CONTENT_TENSOR)
		ok = import_counts_itself(location->path, base != 0, failure) &&
		     take_tensor(&content, location->path, parts, failure);
	else if (content.kind != CONTENT_GROUP)
		ok = fail_file(failure, location->path, "a sparse tensor of three modes is needed: atom, voxel, fiber");
	else {
		*is_other = content.n_members == 0;
		ok = *is_other || (rename_members(&content, location->path, failure) &&
				   take_arrays(&content, base, location->path, parts, failure));
	}
	content_free(&content);
	return ok;
}

/* ---- An explicit matrix ------------------------------------------------------------------------------- */

struct entry {
	int64_t fiber, voxel, theta;
	double value;
};

static int compare_entries(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;
	if (x->fiber != y->fiber)
		return x->fiber < y->fiber ? -1 : 1;
	if (x->voxel != y->voxel)
		return x->voxel < y->voxel ? -1 : 1;
	return (x->theta > y->theta) - (x->theta < y->theta);
}

static bool is_new_block(const struct entry *entries, int64_t i)
{
	return i == 0 || entries[i].fiber != entries[i - 1].fiber || entries[i].voxel != entries[i - 1].voxel;
}

static struct entry *list_entries(const struct content *matrix, int64_t n_theta, int64_t *n_blocks)
{
	int64_t n = ndarray_count(&matrix->members[2].array);
	struct entry *entries = calloc((size_t) n + 1, sizeof(*entries));
	for (int64_t i = 0; i < n && entries; i++) {
		int64_t row = ndarray_integer(&matrix->members[0].array, i);
		entries[i] = (struct entry){ .fiber = ndarray_integer(&matrix->members[1].array, i),
					     .voxel = row / n_theta,
					     .theta = row % n_theta,
					     .value = ndarray_real(&matrix->members[2].array, i) };
	}
	if (!entries)
		return NULL;
	qsort(entries, (size_t) n, sizeof(*entries), compare_entries);
	*n_blocks = 0;
	for (int64_t i = 0; i < n; i++)
		*n_blocks += is_new_block(entries, i);
	return entries;
}

static bool make_blocks(struct parts *parts, const struct entry *entries, int64_t n, int64_t n_blocks, int64_t n_theta,
			struct failure *failure)
{
	static const char *const lists[] = { "atom", "voxel", "fiber", "value" };
	struct ndarray D;
	int64_t *modes[3];
	parts->phi.kind = CONTENT_TENSOR;
	for (int m = 0; m < 4; m++) {
		struct member *member = content_add(&parts->phi, lists[m], failure);
		if (!member || !ndarray_new(&member->array, m < 3 ? PMG_I64 : PMG_F64, 1, &n_blocks, failure))
			return false;
	}
	if (!ndarray_new(&D, PMG_F64, 2, (int64_t[]){ n_blocks, n_theta }, failure))
		return false;
	for (int m = 0; m < 3; m++)
		modes[m] = parts->phi.members[m].array.data;
	for (int64_t i = 0, block = -1; i < n; i++) {
		block += is_new_block(entries, i);
		modes[0][block] = block;
		modes[1][block] = entries[i].voxel;
		modes[2][block] = entries[i].fiber;
		((double *) parts->phi.members[3].array.data)[block] = 1;
		((double *) D.data)[block * n_theta + entries[i].theta] += entries[i].value;
	}
	bool ok = parts_put(parts, "D", &D, failure);
	ndarray_free(&D);
	return ok;
}

bool import_matrix(struct parts *parts, const char *path, struct failure *failure)
{
	struct content *matrix = &parts->matrix;
	const struct member *y = content_find(&parts->group, "y");
	int64_t n_blocks = 0, n_rows = tensor_extent(matrix, 0);
	if (!y || y->array.rank != 2 || y->array.shape[1] < 1)
		return fail_file(failure, path, "a sparse matrix needs --y, [voxels, directions]");
	int64_t n_voxels = y->array.shape[0], n_theta = y->array.shape[1], n_needed = n_voxels * n_theta;
	if (matrix->sizes[0] >= 0 ? n_rows != n_needed : n_rows > n_needed)
		return fail_file(failure, path, "the matrix has %" PRId64 " rows, --y has %" PRId64 " numbers", n_rows,
				 n_needed);
	struct entry *entries = list_entries(matrix, n_theta, &n_blocks);
	bool ok = entries ? make_blocks(parts, entries, ndarray_count(&matrix->members[2].array), n_blocks, n_theta,
					failure)
			  : fail_memory(failure, "a sparse matrix");
	free(entries);
	if (ok) {
		parts->phi.sizes[0] = n_blocks;
		parts->phi.sizes[1] = n_voxels;
		parts->phi.sizes[2] = tensor_extent(matrix, 1);
	}
	return ok;
}
