/* SPDX-License-Identifier: MIT
 *
 * MATLAB files of version 5 to 7: structures of one element, and objects of classes made by class(), which are stored
 * as such structures, are ways to what is in them; arrays of real numbers are taken, all else passed over. Own code,
 * since the libraries at hand leave out what is in objects, as ENCODE's `fe` has one. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/mat_private.h"

enum { MAX_DEPTH = 16, MAX_ENTRIES = 4096, MAX_FIELDS = 4096, PATH_BYTES = 512 };
enum class { CLASS_CELL = 1, CLASS_STRUCT, CLASS_OBJECT, CLASS_CHAR, CLASS_SPARSE, CLASS_DOUBLE };

struct matrix {
	int class, rank;
	bool is_complex;
	int64_t shape[PMG_MAX_RANK];
	char name[NAME_BYTES]; /* of a variable */
};

/* What is done with what is found on the way. */
struct walk {
	struct mat_stream stream;
	/* Reading: */
	const char *target; /* without '/' before; "" is the file */
	const struct wish *wish;
	struct content *content;
	bool is_found;
	/* Listing: */
	void (*visit)(const struct tree_entry *entry, void *user);
	void *user;
	int n_entries;
};

static bool walk_matrix(struct walk *w, int64_t *left, const char *around, const char *field, int depth,
			struct failure *failure);

/* ---- Numbers ---------------------------------------------------------------------------- */

static bool type_of(uint32_t mat_type, pmg_type *type)
{
	static const struct {
		uint32_t mat_type;
		pmg_type type;
	} types[] = { { MI_INT8, PMG_I8 },    { MI_UINT8, PMG_U8 },   { MI_INT16, PMG_I16 },
		      { MI_UINT16, PMG_U16 }, { MI_INT32, PMG_I32 },  { MI_UINT32, PMG_U32 },
		      { MI_SINGLE, PMG_F32 }, { MI_DOUBLE, PMG_F64 }, { MI_INT64, PMG_I64 },
		      { MI_UINT64, PMG_I64 } };
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		*type = types[i].type;
		if (types[i].mat_type == mat_type)
			return true;
	}
	return false;
}

/* The type of a class of numbers from CLASS_DOUBLE on. */
static pmg_type type_of_class(int class)
{
	static const pmg_type types[] = { PMG_F64, PMG_F32, PMG_I8,  PMG_U8,  PMG_I16,
					  PMG_U16, PMG_I32, PMG_U32, PMG_I64, PMG_I64 };
	return types[class - CLASS_DOUBLE];
}

static const char *name_of_class(const struct matrix *m)
{
	static const char *const names[] = { [CLASS_CELL] = "a cell array", [CLASS_STRUCT] = "a structure",
					     [CLASS_OBJECT] = "an object",  [CLASS_CHAR] = "a text",
					     [CLASS_SPARSE] = "a sparse matrix" };
	bool has_name = m->class >= CLASS_CELL && m->class <= CLASS_SPARSE;
	return has_name ? names[m->class] : m->is_complex ? "an array of complex numbers" :
	       m->class == 17 ? "an object of a class made by classdef" : "of an unknown class";
}

static bool is_numeric(const struct matrix *m)
{
	return m->class >= CLASS_DOUBLE && m->class <= CLASS_DOUBLE + 9 && !m->is_complex;
}

static bool check_unsigned(struct walk *w, const struct ndarray *array, struct failure *failure)
{
	for (int64_t i = ndarray_count(array) - 1; i >= 0; i--)
		if (((const int64_t *) array->data)[i] < 0)
			return mat_fail(&w->stream, failure, "a number before it is above 2^63 - 1");
	return true;
}

static bool take_numbers(struct walk *w, int64_t *left, const struct matrix *m, const char *name,
			 struct failure *failure)
{
	struct mat_tag tag;
	pmg_type type;
	size_t bytes;
	char shape[200];
	if (!mat_tag(&w->stream, left, &tag, failure))
		return false;
	if (!type_of(tag.type, &type))
		return mat_fail(&w->stream, failure, "'%s' has elements of type %u", name, tag.type);
	if (!shape_bytes(m->rank, m->shape, pmg_type_size(type), &bytes) || (int64_t) bytes != tag.size)
		return mat_fail(&w->stream, failure, "%" PRId64 " bytes follow, '%s' is %s of %s", tag.size, name,
				extents_text(m->rank, m->shape, shape, sizeof(shape)), pmg_type_name(type));
	struct member *member = content_add(w->content, name, failure);
	if (!member)
		return false;
	struct ndarray *array = &member->array;
	snprintf(member->storage, sizeof(member->storage), "MATLAB%s", w->stream.is_packed ? ", packed" : "");
	if (!ndarray_new(array, type, m->rank, m->shape, failure) ||
	    !mat_bytes(&w->stream, left, &tag, array->data, failure))
		return false;
	if (w->stream.is_swapped)
		ndarray_swap_bytes(array);
	return (tag.type != MI_UINT64 || check_unsigned(w, array, failure)) &&
	       ndarray_convert(array, type_of_class(m->class), name, failure) &&
	       ndarray_from_columns(array, failure);
}

/* ---- What a matrix is --------------------------------------------------------------------- */

static bool read_words(struct walk *w, int64_t *left, uint32_t type, int64_t least, int64_t most, uint32_t *words,
		       int64_t *n, const char *what, struct failure *failure)
{
	struct mat_tag tag;
	if (!mat_tag(&w->stream, left, &tag, failure))
		return false;
	*n = tag.size / 4;
	if (tag.type != type || tag.size % 4 != 0 || *n < least || *n > most)
		return mat_fail(&w->stream, failure, "%s: an element of type %u and %" PRId64 " bytes", what, tag.type,
				tag.size);
	if (!mat_bytes(&w->stream, left, &tag, words, failure))
		return false;
	for (int64_t i = 0; i < *n && w->stream.is_swapped; i++)
		words[i] = __builtin_bswap32(words[i]);
	return true;
}

static bool read_name(struct walk *w, int64_t *left, char name[NAME_BYTES], struct failure *failure)
{
	struct mat_tag tag;
	char bytes[NAME_BYTES] = "";
	if (!mat_tag(&w->stream, left, &tag, failure))
		return false;
	if ((tag.type != MI_INT8 && tag.type != MI_UTF8) || tag.size >= NAME_BYTES / 4)
		return mat_fail(&w->stream, failure, "a name: an element of type %u and %" PRId64 " bytes", tag.type,
				tag.size);
	if (!mat_bytes(&w->stream, left, &tag, bytes, failure))
		return false;
	printable(bytes, name, NAME_BYTES);
	return true;
}

static bool read_header(struct walk *w, int64_t *left, struct matrix *m, struct failure *failure)
{
	uint32_t flags[2], extents[PMG_MAX_RANK];
	int64_t n;
	if (!read_words(w, left, MI_UINT32, 2, 2, flags, &n, "flags of an array", failure))
		return false;
	m->class = (int) (flags[0] & 0xff);
	m->is_complex = (flags[0] & 0x800) != 0;
	if (m->class == 17) /* has no shape */
		return read_name(w, left, m->name, failure);
	if (!read_words(w, left, MI_INT32, 1, PMG_MAX_RANK, extents, &n, "the shape of an array", failure))
		return false;
	m->rank = (int) n;
	for (int d = 0; d < m->rank; d++) {
		m->shape[d] = (int32_t) extents[d];
		if (m->shape[d] < 0)
			return mat_fail(&w->stream, failure, "the shape of an array has the size %" PRId64,
					m->shape[d]);
	}
	return read_name(w, left, m->name, failure);
}

/* ---- On the way -------------------------------------------------------------------------------- */

/* Whether `path` is `target` or leads to it. */
static bool leads_to(const char *path, const char *target)
{
	size_t n = strlen(path);
	return n == 0 || (strncmp(path, target, n) == 0 && (target[n] == '/' || target[n] == '\0'));
}

static bool is_scalar(const struct matrix *m)
{
	int64_t n = 1;
	for (int d = 0; d < m->rank; d++)
		n *= m->shape[d] == 1;
	return n == 1;
}

static bool is_way(const struct matrix *m)
{
	return (m->class == CLASS_STRUCT || m->class == CLASS_OBJECT) && is_scalar(m);
}

static void list_entry(struct walk *w, const char *path, const struct matrix *m)
{
	char full[PATH_BYTES + 1];
	struct tree_entry entry = { .path = full, .rank = m->rank, .is_array = is_numeric(m) };
	snprintf(full, sizeof(full), "/%s", path);
	memcpy(entry.shape, m->shape, sizeof(entry.shape));
	if (entry.is_array)
		entry.type = type_of_class(m->class);
	entry.note = entry.is_array ? (w->stream.is_packed ? "packed" : "") : name_of_class(m);
	w->visit(&entry, w->user);
	w->n_entries++;
}

/* The fields, one behind the other. */
static bool walk_fields(struct walk *w, int64_t *left, const struct matrix *m, const char *path, int depth,
			struct failure *failure)
{
	char class[NAME_BYTES];
	uint32_t width;
	int64_t n;
	struct mat_tag tag;
	if (m->class == CLASS_OBJECT && !read_name(w, left, class, failure))
		return false;
	if (!read_words(w, left, MI_INT32, 1, 1, &width, &n, "the length of names", failure) ||
	    !mat_tag(&w->stream, left, &tag, failure))
		return false;
	if (tag.type != MI_INT8 || width < 1 || width > NAME_BYTES / 4 || tag.size % width != 0 ||
	    tag.size / width > MAX_FIELDS)
		return mat_fail(&w->stream, failure, "names of fields: an element of type %u and %" PRId64
				" bytes for names of %u", tag.type, tag.size, width);
	char *names = calloc((size_t) tag.size + 1, 1);
	bool ok = names ? mat_bytes(&w->stream, left, &tag, names, failure) : fail_memory(failure, "names");
	for (int64_t f = 0; ok && f < tag.size / width; f++) {
		char name[NAME_BYTES / 4 + 1] = "", shown[NAME_BYTES + 1];
		memcpy(name, names + f * width, width);
		ok = walk_matrix(w, left, path, printable(name, shown, sizeof(shown)), depth + 1, failure);
	}
	free(names);
	return ok;
}

/* What the target is, or what is in it. */
static bool take(struct walk *w, int64_t *left, const struct matrix *m, const char *path, const char *name, int depth,
		 struct failure *failure)
{
	bool is_target = strcmp(path, w->target) == 0;
	if (is_target) {
		w->is_found = true;
		w->content->kind = is_numeric(m) ? CONTENT_ARRAY : CONTENT_GROUP;
		snprintf(w->content->inner, sizeof(w->content->inner), "/%.200s", path);
	}
	if (is_target && is_way(m))
		return walk_fields(w, left, m, path, depth, failure);
	if (is_numeric(m) && (is_target || wish_takes(w->wish, name)))
		return take_numbers(w, left, m, name, failure);
	if (!is_target)
		return true;
	mat_fail(&w->stream, failure, "'/%s' is %s%s", path, name_of_class(m),
		 m->class == CLASS_STRUCT || m->class == CLASS_OBJECT ? " of several elements" : "");
	fail_help(failure, "in MATLAB, save arrays of numbers: full(…), or the fields that are needed");
	return false;
}

static bool walk_inside(struct walk *w, int64_t *left, const struct matrix *m, const char *around, const char *path,
			const char *name, int depth, struct failure *failure)
{
	if (w->visit) {
		bool goes_on = is_way(m) && depth < MAX_DEPTH && w->n_entries < MAX_ENTRIES;
		if (w->n_entries < MAX_ENTRIES)
			list_entry(w, path, m);
		return !goes_on || walk_fields(w, left, m, path, depth, failure);
	}
	if (strcmp(path, w->target) == 0 || strcmp(around, w->target) == 0)
		return take(w, left, m, path, name, depth, failure);
	if (leads_to(path, w->target) && is_way(m) && depth < MAX_DEPTH)
		return walk_fields(w, left, m, path, depth, failure);
	return true;
}

/* A variable, or with `field` a field of what `around` names. */
static bool walk_matrix(struct walk *w, int64_t *left, const char *around, const char *field, int depth,
			struct failure *failure)
{
	struct mat_tag tag;
	struct matrix m = { 0 };
	char path[PATH_BYTES];
	if (!mat_tag(&w->stream, left, &tag, failure))
		return false;
	if (tag.type != MI_MATRIX || tag.is_small)
		return mat_fail(&w->stream, failure, "an array is needed, this is an element of type %u", tag.type);
	*left -= tag.size;
	int64_t own = tag.size;
	if (own == 0) /* a field without a value */
		return true;
	if (!read_header(w, &own, &m, failure))
		return false;
	const char *name = field ? field : m.name;
	if (!*name) /* what classes of classdef need, behind the variables */
		return mat_skip(&w->stream, own, failure);
	if (snprintf(path, sizeof(path), "%s%s%s", around, *around ? "/" : "", name) >= (int) sizeof(path))
		return mat_fail(&w->stream, failure, "names of fields are too long");
	return walk_inside(w, &own, &m, around, path, name, depth, failure) && mat_skip(&w->stream, own, failure);
}

static bool walk_file(struct walk *w, const char *path, struct failure *failure)
{
	int64_t size;
	bool ok = mat_open(&w->stream, path, failure);
	while (ok) {
		int more = mat_next(&w->stream, &size, failure);
		ok = more > 0 && walk_matrix(w, &size, "", NULL, 0, failure) && mat_end(&w->stream, failure);
		if (more == 0) {
			ok = true;
			break;
		}
	}
	mat_close(&w->stream);
	return ok;
}

bool mat5_list(const char *path, void (*visit)(const struct tree_entry *entry, void *user), void *user,
	       struct failure *failure)
{
	struct walk *w = calloc(1, sizeof(*w));
	if (!w)
		return fail_memory(failure, "a file");
	w->visit = visit;
	w->user = user;
	bool ok = walk_file(w, path, failure);
	free(w);
	return ok;
}

bool mat5_read(const struct location *location, const struct wish *wish, struct content *content,
	       struct failure *failure)
{
	struct walk *w = calloc(1, sizeof(*w));
	if (!w)
		return fail_memory(failure, "a file");
	w->target = location->inner ? location->inner + strspn(location->inner, "/") : "";
	w->wish = wish;
	w->content = content;
	w->is_found = !*w->target;
	content->kind = CONTENT_GROUP;
	bool ok = walk_file(w, location->path, failure);
	if (ok && !w->is_found) {
		ok = fail_file(failure, location->path, "there is no '%s' in it", location->inner);
		fail_help(failure, "'pmg inspect' lists what there is");
	}
	free(w);
	return ok;
}
