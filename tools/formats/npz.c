/* SPDX-License-Identifier: MIT
 *
 * NumPy's .npz: a zip archive with an array in the format .npy for each name. What scipy.sparse.save_npz writes is a
 * sparse matrix: a tensor of two modes, from lists of coordinates, of compressed rows or of compressed columns. */
#include "formats/streams.h"

#include <inttypes.h>
#include <string.h>

#define SUFFIX ".npy"

struct selection {
	const char *inner; /* NULL: not said */
	const struct wish *wish;
};

/* ---- Which arrays -------------------------------------------------------------------- */

static bool is_named(const char *member, const char *name)
{
	size_t n = strlen(name);
	return strncmp(member, name, n) == 0 && strcmp(member + n, SUFFIX) == 0;
}

static bool is_of_matrix(const char *member)
{
	static const char *const names[] = { "format", "shape", "data", "indices", "indptr", "row", "col", "offsets" };
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (is_named(member, names[i]))
			return true;
	return false;
}

static bool is_wanted(const char *member, const void *user)
{
	const struct selection *selection = user;
	const struct wish *wish = selection->wish;
	size_t length = strlen(member), n = strlen(SUFFIX);
	char name[NAME_BYTES];
	if (length <= n || strcmp(member + length - n, SUFFIX) != 0)
		return false;
	if (selection->inner)
		return is_named(member, selection->inner);
	snprintf(name, sizeof(name), "%.*s", (int) (length - n), member);
	return wish_takes(wish, name) || is_of_matrix(member) || (wish->name && is_named(member, wish->name));
}

/* ---- Arrays ----------------------------------------------------------------------------- */

static bool unpack_member(const char *path, struct member *member, struct failure *failure)
{
	struct binary_input in;
	struct ndarray bytes = member->array;
	char name[2 * NAME_BYTES], shown[NAME_BYTES];
	snprintf(name, sizeof(name), "%s: %s", path, printable(member->name, shown, sizeof(shown)));
	member->array = (struct ndarray){ 0 };
	bool ok = binary_open_bytes(&in, name, bytes.data, ndarray_bytes(&bytes), failure) &&
		  npy_take(&in, member, failure);
	binary_close(&in);
	ndarray_free(&bytes);
	member->name[strlen(member->name) - strlen(SUFFIX)] = '\0';
	return ok;
}

/* "csr" of the member `format`, which is a text of bytes or of 32-bit characters; "" if there is none. It goes. */
static void take_kind(struct content *content, char kind[4])
{
	struct member *member = content_find(content, "format" SUFFIX);
	int used = 0;
	kind[0] = '\0';
	if (!member)
		return;
	const char *bytes = member->array.data;
	const char *newline = memchr(bytes, '\n', ndarray_bytes(&member->array));
	const char *end = bytes + ndarray_bytes(&member->array);
	for (const char *at = newline ? newline + 1 : end; at < end && used < 3; at++)
		if (*at)
			kind[used++] = *at;
	kind[used] = '\0';
	ndarray_free(&member->array);
	*member = content->members[--content->n_members];
}

static bool unpack(const char *path, struct content *content, struct failure *failure)
{
	for (int i = 0; i < content->n_members; i++)
		if (!unpack_member(path, &content->members[i], failure))
			return false;
	return true;
}

/* ---- Sparse matrices ------------------------------------------------------------------------ */

static bool as_integers(const char *path, struct member *member, struct failure *failure)
{
	char what[2 * NAME_BYTES];
	snprintf(what, sizeof(what), "%s: %s", path, member->name);
	if (member->array.rank != 1)
		return fail_file(failure, path, "%s: it is no list", member->name);
	return ndarray_convert(&member->array, PMG_I64, what, failure);
}

/* The number of the row (or column) of each entry, from where each of them begins. */
static bool expand_pointers(const char *path, struct member *pointers, int64_t n_lines, int64_t n_entries,
			    struct failure *failure)
{
	struct ndarray lines;
	const int64_t *begin = pointers->array.data;
	if (ndarray_count(&pointers->array) != n_lines + 1)
		return fail_file(failure, path, "indptr: %" PRId64 " numbers, %" PRId64 " are needed",
				 ndarray_count(&pointers->array), n_lines + 1);
	for (int64_t i = 0; i <= n_lines; i++)
		if (begin[i] < (i ? begin[i - 1] : 0) || (i == 0 && begin[i] != 0) ||
		    begin[i] > n_entries || (i == n_lines && begin[i] != n_entries))
			return fail_file(failure, path, "indptr[%" PRId64 "] is %" PRId64 " of %" PRId64
					 " entries", i, begin[i], n_entries);
	if (!ndarray_new(&lines, PMG_I64, 1, &n_entries, failure))
		return false;
	for (int64_t i = 0; i < n_lines; i++)
		for (int64_t k = begin[i]; k < begin[i + 1]; k++)
			((int64_t *) lines.data)[k] = i;
	ndarray_free(&pointers->array);
	pointers->array = lines;
	return true;
}

static bool read_shape(const char *path, struct content *content, int64_t sizes[2], struct failure *failure)
{
	struct member *shape = content_find(content, "shape");
	if (!shape || !as_integers(path, shape, failure) || ndarray_count(&shape->array) != 2)
		return fail_file(failure, path, "shape: it does not state two sizes");
	memcpy(sizes, shape->array.data, 2 * sizeof(sizes[0]));
	if (sizes[0] >= 0 && sizes[1] >= 0 && sizes[0] < INT64_MAX && sizes[1] < INT64_MAX)
		return true;
	return fail_file(failure, path, "shape: a size is negative or too large");
}

/* scipy.sparse knows further formats; those are converted by `.tocoo()`. */
static bool unknown_kind(const char *path, const char *kind, struct failure *failure)
{
	char shown[32];
	fail_file(failure, path, "format: a sparse matrix of the format '%s'; coo, csr and csc are read",
		  printable(kind, shown, sizeof(shown)));
	fail_help(failure, "scipy.sparse.save_npz(FILE, matrix.tocoo())");
	return false;
}

static bool make_matrix(const char *path, const char *kind, struct content *content, struct failure *failure)
{
	bool is_rows = strcmp(kind, "csr") == 0, is_columns = strcmp(kind, "csc") == 0;
	const char *names[2] = { "row", "col" };
	int64_t sizes[2];
	if (!is_rows && !is_columns && strcmp(kind, "coo") != 0)
		return unknown_kind(path, kind, failure);
	if (is_rows || is_columns) {
		names[is_columns] = "indptr";
		names[is_rows] = "indices";
	}
	struct member *modes[2] = { content_find(content, names[0]), content_find(content, names[1]) };
	struct member *data = content_find(content, "data");
	if (!modes[0] || !modes[1] || !data)
		return fail_file(failure, path, "it lacks %s", !data ? "data" : names[modes[0] != NULL]);
	if (!read_shape(path, content, sizes, failure) || !as_integers(path, modes[0], failure) ||
	    !as_integers(path, modes[1], failure))
		return false;
	int64_t n = ndarray_count(&data->array);
	if ((is_rows || is_columns) && !expand_pointers(path, modes[is_columns], sizes[is_columns], n, failure))
		return false;
	snprintf(data->name, sizeof(data->name), "value");
	if (!content_as_tensor(content, names, 2))
		return fail_file(failure, path, "it is no sparse matrix");
	snprintf(content->members[0].name, sizeof(content->members[0].name), "row");
	snprintf(content->members[1].name, sizeof(content->members[1].name), "col");
	memcpy(content->sizes, sizes, sizeof(sizes));
	return true;
}

/* ---- The file ----------------------------------------------------------------------------------- */

bool npz_read(const struct location *location, const struct wish *wish, struct content *content,
	      struct failure *failure)
{
	const char *inner = location->inner ? location->inner + strspn(location->inner, "/") : NULL;
	struct selection selection = { .inner = inner && *inner ? inner : NULL, .wish = wish };
	char kind[4];
	if (!zip_read(location->path, is_wanted, &selection, content, failure))
		return false;
	take_kind(content, kind);
	if (!unpack(location->path, content, failure))
		return false;
	snprintf(content->inner, sizeof(content->inner), "%s", selection.inner ? selection.inner : "/");
	if (*kind)
		return make_matrix(location->path, kind, content, failure);
	if (selection.inner && content->n_members == 0)
		return fail_file(failure, location->path, "it has no array '%s'", selection.inner);
	if (selection.inner || !(wish && wish->n_names > 0))
		content_pick(content, wish ? wish->name : NULL);
	return true;
}
