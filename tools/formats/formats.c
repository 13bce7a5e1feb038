/* SPDX-License-Identifier: MIT
 *
 * The table of formats, and what is the same for all: which one a file has, and what every array read must
 * satisfy. */
#include "formats/formats.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

static const struct format formats[] = {
	{ "npy", ".npy", "NumPy's array", .read = npy_read, .write = npy_write },
	{ "hdf5", ".h5 .hdf5", "HDF5: FILE.h5:/DATASET or FILE.h5:/GROUP", .read = hdf5_read,
	  .write = hdf5_write, .has_room = hdf5_has_room },
	{ "npz", ".npz", "NumPy's archive of arrays (FILE.npz:NAME), SciPy's sparse matrix",
	  .read = npz_read },
	{ "mat", ".mat", "MATLAB's, versions 5 to 7.3: FILE.mat:/NAME/FIELD", .read = mat_read },
	{ "mtx", ".mtx .mtx.gz", "Matrix Market, coordinate or array", .read = matrix_market_read,
	  .write = matrix_market_write, .fits = matrix_market_fits },
	{ "tns", ".tns .tns.gz", "sparse tensor as text, coordinates from 1 (FROSTT)",
	  .read = coordinates_read, .write = coordinates_write, .fits = coordinates_fits },
	{ "tsv", ".tsv .tsv.gz", "sparse tensor as text, coordinates from 0",
	  .read = coordinates_read, .write = coordinates_write, .fits = coordinates_fits },
	{ "txt", ".txt .txt.gz", "numbers between white space, one or two dimensions",
	  .read = text_read, .write = text_write, .fits = text_fits },
	{ "raw", ".f64 .f32 .i64 .i32 .i16 .i8 .u32 .u16 .u8 .bool",
	  "bare little-endian numbers: FILE.f64[3,4]", .read = raw_read, .write = raw_write },
};

#define N_FORMATS ((int) (sizeof(formats) / sizeof(formats[0])))

const struct format *format_numbered(int i)
{
	return i < N_FORMATS ? &formats[i] : NULL;
}

static bool has_suffix(const char *path, const char *suffix, size_t n)
{
	size_t length = strlen(path);
	return length > n && memcmp(path + length - n, suffix, n) == 0;
}

bool path_has_suffix_of(const char *path, const char *suffixes)
{
	while (*suffixes) {
		size_t n = strcspn(suffixes, " ");
		if (has_suffix(path, suffixes, n))
			return true;
		suffixes += n + strspn(suffixes + n, " ");
	}
	return false;
}

static const struct format *format_named(const char *name)
{
	for (int i = 0; i < N_FORMATS; i++)
		if (strcmp(formats[i].name, name) == 0)
			return &formats[i];
	return NULL;
}

static const struct format *format_of_first_bytes(const char *path)
{
	static const struct {
		const char *bytes, *format;
	} signatures[] = { { "\x93NUMPY", "npy" },
			   { "\x89HDF\r\n\x1a\n", "hdf5" },
			   { "%%MatrixMarket", "mtx" } };
	char start[16] = "";
	struct stat status;
	FILE *file = stat(path, &status) == 0 && S_ISREG(status.st_mode) ? fopen(path, "rbe") : NULL;
	if (!file)
		return NULL;
	size_t n = fread(start, 1, sizeof(start) - 1, file);
	fclose(file);
	for (size_t i = 0; i < sizeof(signatures) / sizeof(signatures[0]); i++) {
		size_t length = strlen(signatures[i].bytes);
		if (n >= length && memcmp(start, signatures[i].bytes, length) == 0)
			return format_named(signatures[i].format);
	}
	return NULL;
}

const struct format *format_of(const char *path)
{
	for (int i = 0; i < N_FORMATS; i++)
		if (path_has_suffix_of(path, formats[i].suffixes))
			return &formats[i];
	return format_of_first_bytes(path);
}

/* Of which another command makes arrays. */
static bool shape_of_neuron(const char *path, struct failure *failure)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	int length = (int) (strlen(name) - strlen(".swc"));
	fail(failure, OUTCOME_USAGE, "%s: a neuron's shape, from which its tree is to be made first", path);
	fail_help(failure, "pmg import swc %s --systems=1 -o %.*s.h5 makes a Tree, T in that file; without --systems "
		  "a Forest, F", path, length, name);
	return false;
}

/* A line of help: all suffixes, or those that are written, none of which is that of compressed text. */
static void list_suffixes(const char *before, bool are_written, struct failure *failure)
{
	fail_help(failure, "%s", before);
	for (int i = 0; i < N_FORMATS; i++)
		for (const char *at = formats[i].suffixes; *at; at += strspn(at, " ")) {
			const size_t n = strcspn(at, " "), used = strlen(failure->text);
			const bool is_listed = !are_written || (formats[i].write && memcmp(at + n - 3, ".gz", 3) != 0);
			if (is_listed)
				snprintf(failure->text + used, sizeof(failure->text) - used, " %.*s", (int) n, at);
			at += n;
		}
}

static bool unknown_format(const char *path, struct failure *failure)
{
	fail(failure, OUTCOME_USAGE, "%s: unknown format", path);
	list_suffixes("known by their suffixes:", false, failure);
	return false;
}

static bool format_is_written(const struct location *location, struct failure *failure)
{
	if (location->format && location->format->write)
		return true;
	fail(failure, OUTCOME_USAGE, "%s: %s", location->path,
	     location->format ? "the format is read, not written" : "unknown format");
	list_suffixes("written are", true, failure);
	return false;
}

/* A bool of another value than 0 and 1 has no meaning in C. */
static bool check_bools(const char *path, const struct ndarray *array, struct failure *failure)
{
	for (int64_t i = 0; array->type == PMG_BOOL && i < ndarray_count(array); i++)
		if (ndarray_integer(array, i) > 1)
			return fail_file(failure, path, "element %" PRId64 " is neither true nor false", i);
	return true;
}

static bool check_content(const struct location *location, struct content *content, struct failure *failure)
{
	for (int i = 0; i < content->n_members; i++)
		if (!check_bools(location->path, &content->members[i].array, failure))
			return false;
	return content->kind != CONTENT_TENSOR || tensor_check(content, location->path, failure);
}

bool content_read(const struct location *location, const struct wish *wish, struct content *content,
		  struct failure *failure)
{
	memset(content, 0, sizeof(*content));
	if (!file_is_readable(location->path, failure))
		return false;
	if (!location->format)
		return path_has_suffix_of(location->path, ".swc") ? shape_of_neuron(location->path, failure)
							     : unknown_format(location->path, failure);
	if (location->format->read(location, wish, content, failure) &&
	    check_content(location, content, failure))
		return true;
	content_free(content);
	return false;
}

static bool takes_lists(const struct format *format)
{
	return format->write == hdf5_write || format->write == coordinates_write ||
	       format->write == matrix_market_write;
}

/* FILE[SHAPE] must be the shape of what goes there; a flat list takes any of its size. */
static bool check_shape(const struct location *location, const struct content *content,
			struct failure *failure)
{
	char given[200], held[200];
	size_t bytes;
	const struct ndarray *array = &content->members[0].array;
	if (location->rank < 0)
		return true;
	if (content->kind == CONTENT_FLAT &&
	    shape_bytes(location->rank, location->shape, pmg_type_size(array->type), &bytes) &&
	    bytes == ndarray_bytes(array))
		return true;
	if (content->kind == CONTENT_ARRAY && location->rank == array->rank &&
	    memcmp(location->shape, array->shape, (size_t) array->rank * sizeof(array->shape[0])) == 0)
		return true;
	return fail(failure, OUTCOME_USAGE, "%s: the shape is %s, not %s", location->path,
		    extents_text(array->rank, array->shape, held, sizeof(held)),
		    extents_text(location->rank, location->shape, given, sizeof(given)));
}

bool location_has_room(const struct location *location, bool is_array, struct failure *failure)
{
	const struct format *format = location->format;
	return !format || !format->has_room || format->has_room(location, is_array, failure);
}

bool content_fits(const struct location *location, const struct content *content, struct failure *failure)
{
	if (!format_is_written(location, failure))
		return false;
	if (!content_is_array(content) && !takes_lists(location->format))
		return fail(failure, OUTCOME_USAGE, "%s: the format holds one array, not %d", location->path,
			    content->n_members);
	if (content->kind == CONTENT_GROUP && location->format->write != hdf5_write)
		return fail(failure, OUTCOME_USAGE, "%s: the format does not hold groups of arrays",
			    location->path);
	if ((location->format->fits && !location->format->fits(location, content, failure)) ||
	    !location_has_room(location, content_is_array(content), failure))
		return false;
	return !content_is_array(content) || check_shape(location, content, failure);
}

bool content_write(const struct location *location, const struct content *content, struct failure *failure)
{
	return content_fits(location, content, failure) && location->format->write(location, content, failure);
}
