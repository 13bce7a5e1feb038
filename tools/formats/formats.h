/* SPDX-License-Identifier: MIT
 *
 * Files of numbers: what they hold once they are read (a dense array, a sparse tensor, a group of arrays),
 * and one reader and one writer for each format.
 *
 * A file is not trusted. Sizes are checked against the size of the file before memory is taken, products
 * against overflow, and a file that ends early, goes on too long or contradicts itself is a failure that
 * names the place. Outputs are written beside their final name and renamed when they are whole. */
#ifndef TOOLS_FORMATS_FORMATS_H
#define TOOLS_FORMATS_FORMATS_H

#include "cli/cli.h"
#include "pmgrt.h"

/* ---- ndarray.c ------------------------------------------------------------- */

/* A dense array, row-major, in the machine's byte order; `data` comes from malloc and is never NULL once
 * made. */
struct ndarray {
	pmg_type type;
	int rank;
	int64_t shape[PMG_MAX_RANK];
	void *data;
};

/* Bytes of an array, or false: a negative size, an overflow, or more than the machine can address. */
bool shape_bytes(int rank, const int64_t *shape, size_t element, size_t *bytes);
bool ndarray_new(struct ndarray *array, pmg_type type, int rank, const int64_t *shape,
		 struct failure *failure);
bool ndarray_copy(struct ndarray *to, const struct ndarray *from, struct failure *failure);
void ndarray_free(struct ndarray *array);
int64_t ndarray_count(const struct ndarray *array);
size_t ndarray_bytes(const struct ndarray *array);
bool type_holds_integers(pmg_type type);                         /* bool too */
int64_t ndarray_integer(const struct ndarray *array, int64_t i); /* of an integer type */
double ndarray_real(const struct ndarray *array, int64_t i);
/* Changes the type. Values that the type cannot hold are failures that name `what` and the position; only
 * floating-point numbers are rounded, to floating-point numbers. */
bool ndarray_convert(struct ndarray *array, pmg_type type, const char *what, struct failure *failure);
void ndarray_swap_bytes(struct ndarray *array);
/* From column-major order, the shape being right already. */
bool ndarray_from_columns(struct ndarray *array, struct failure *failure);
const char *extents_text(int rank, const int64_t *shape, char *text, size_t size); /* "[3, 4]", "scalar" */
/* The position of element i: "[2, 7]", "" for a scalar. */
const char *position_text(const struct ndarray *array, int64_t i, char *text, size_t size);

/* ---- content.c -------------------------------------------------------------- */

#define NAME_BYTES 256

struct member {
	char name[NAME_BYTES]; /* "" where the file has no names */
	char storage[64];      /* how the file has it, for people: "little-endian, chunked, deflate" */
	struct ndarray array;
};

/* A number that a file states about itself: the size "nVoxels" of a tensor. */
struct attribute {
	char name[NAME_BYTES];
	int64_t value;
};

enum content_kind {
	CONTENT_ARRAY,  /* one member */
	CONTENT_FLAT,   /* one member of rank 1, whose shape the file does not tell */
	CONTENT_TENSOR, /* coordinate arrays from 0 in the order of modes, then the values */
	CONTENT_GROUP   /* members with names */
};

struct content {
	enum content_kind kind;
	int n_members, n_attributes;
	struct member *members;
	struct attribute *attributes;
	char inner[NAME_BYTES];	/* HDF5: the object that was read */
	int64_t sizes[PMG_MAX_RANK]; /* TENSOR: size of each mode, or -1 where the file does not state it */
};

/* Adds an array whose data stay the caller's, for hdf5_write_borrowed(); nothing where `data` is NULL. */
bool content_borrow(struct content *content, const char *name, pmg_type type, int rank, int64_t rows, int64_t columns,
		    void *data, struct failure *failure);
/* A file that appears whole, in the place of what is there: `fill` writes into the path that it is given. */
bool hdf5_write_whole(const char *path, bool (*fill)(void *user, const char *path, struct failure *failure),
		      void *user, struct failure *failure);
/* With `ok`, writes the members to `inner` in the file, over what is there; frees the content but no data. */
bool hdf5_write_borrowed(struct content *content, const char *path, const char *inner, bool ok,
			 struct failure *failure);
/* The new member has no array yet; NULL after a failure. */
struct member *content_add(struct content *content, const char *name, struct failure *failure);
bool content_add_attribute(struct content *content, const char *name, int64_t value, struct failure *failure);
const struct attribute *content_attribute(const struct content *content, const char *name);
struct member *content_find(const struct content *content, const char *name);
bool content_is_array(const struct content *content);  /* one, whatever its kind */
void content_free(struct content *content);
/* A group that has an array `name` (NULL: none is asked for), or one array only, becomes that array. */
void content_pick(struct content *group, const char *name);
/* Turns a group that has the members `modes` and "value" into a tensor; false without a failure if it has
 * not. Its sizes come from the attributes shape.0, shape.1, … */
bool content_as_tensor(struct content *content, const char *const *modes, int n_modes);
/* Coordinates are as long as the values, integers and not negative. */
bool tensor_check(struct content *tensor, const char *what, struct failure *failure);
/* Whether a group has lists of one length, all but `value` of them integers: the modes, in no order. */
bool group_looks_like_tensor(const struct content *group);
int64_t tensor_extent(const struct content *tensor,
		      int mode); /* the stated size, else largest coordinate + 1 */

/* ---- location.c --------------------------------------------------------------- */

struct format;

/* A group of HDF5 may be replaced by a dataset, and the other way round: no; if the user said --force; he did. */
enum force { FORCE_NO, FORCE_OFFERED, FORCE_GIVEN };

/* Where numbers are: PATH, FILE.h5:/INNER (.npz and .mat, too), or FILE.f64[SHAPE]. */
struct location {
	char *path, *inner; /* inner: NULL if not given */
	int rank;           /* -1: no shape given */
	int64_t shape[PMG_MAX_RANK];
	int base; /* of coordinates: 0 or 1; -1: the format's own */
	const struct format *format;
	enum force force;
};

/* What a reader of a format with names is to look for: the object named `name` where no place is given, and of a
 * group only the members `names`, and the array `besides` if there is one. NULL: all there is. */
struct wish {
	const char *name;
	const char *const *names;
	int n_names;
	const char *besides;
};

/* Is it one of `names`? Is it to be read: one of these, `besides`, or any where no names are given? */
bool wish_names(const struct wish *wish, const char *name);
bool wish_takes(const struct wish *wish, const char *name);

bool location_parse(struct location *location, struct arena *arena, const char *text,
		    struct failure *failure);
/* Whether both are in one file and, with places in it, `inner` is `other`'s or a group around it. */
bool location_covers(const struct location *location, const struct location *other);
/* False after fail() where writing to `output` would replace `input`, all of which is read. */
bool location_spares(struct arena *arena, const char *output, const char *input, struct failure *failure);

/* ---- formats.c ------------------------------------------------------------------ */

struct format {
	const char *name, *suffixes; /* ".h5 .hdf5" */
	const char *sentence;
	bool (*read)(const struct location *location, const struct wish *wish, struct content *content,
		     struct failure *failure);
	/* NULL: the format is only read */
	bool (*write)(const struct location *location, const struct content *content,
		      struct failure *failure);
	/* Is it content that `write` takes? NULL: it takes any. */
	bool (*fits)(const struct location *location, const struct content *content, struct failure *failure);
	/* Can an array, or else a group, be made in what is there? NULL: what is there is replaced. */
	bool (*has_room)(const struct location *location, bool is_array, struct failure *failure);
};

/* Reads; on failure `content` is empty. */
bool content_read(const struct location *location, const struct wish *wish, struct content *content,
		  struct failure *failure);
/* Whether its kind and shape are what content_write() takes there, and there is room for it. */
bool content_fits(const struct location *location, const struct content *content, struct failure *failure);
bool location_has_room(const struct location *location, bool is_array, struct failure *failure);
bool content_write(const struct location *location, const struct content *content, struct failure *failure);
/* Does it end in one of ".tsv .tsv.gz", behind a name? */
bool path_has_suffix_of(const char *path, const char *suffixes);
const struct format *format_of(const char *path); /* by suffix, else by the first bytes; NULL: unknown */
const struct format *format_numbered(int i);      /* NULL: no more */

/* ---- npy.c, npz.c, raw.c, text.c, coordinates.c, matrix_market.c, hdf5_*.c, mat*.c -------------- */

bool npy_read(const struct location *, const struct wish *, struct content *, struct failure *);
bool npy_write(const struct location *, const struct content *, struct failure *);
bool raw_read(const struct location *, const struct wish *, struct content *, struct failure *);
bool raw_holds_reals(const char *path); /* as the suffix says */
bool raw_write(const struct location *, const struct content *, struct failure *);
bool text_read(const struct location *, const struct wish *, struct content *, struct failure *);
bool text_write(const struct location *, const struct content *, struct failure *);
bool text_fits(const struct location *, const struct content *, struct failure *);
bool coordinates_read(const struct location *, const struct wish *, struct content *, struct failure *);
bool coordinates_write(const struct location *, const struct content *, struct failure *);
bool coordinates_fits(const struct location *, const struct content *, struct failure *);
/* The line of entry `i`, from 1; 0: the file has lines of another kind. */
int64_t coordinates_line(const struct location *location, int64_t i);
int64_t coordinates_base(const struct location *location); /* from where the file counts */
bool matrix_market_read(const struct location *, const struct wish *, struct content *, struct failure *);
bool matrix_market_write(const struct location *, const struct content *, struct failure *);
bool matrix_market_fits(const struct location *, const struct content *, struct failure *);
bool hdf5_read(const struct location *, const struct wish *, struct content *, struct failure *);
/* In the place of what is there, whatever it is: content_write() asks for room. */
bool hdf5_write(const struct location *, const struct content *, struct failure *);
bool hdf5_has_room(const struct location *, bool is_array, struct failure *);

bool npz_read(const struct location *, const struct wish *, struct content *, struct failure *);
bool mat_read(const struct location *, const struct wish *, struct content *, struct failure *);

/* One object of a file that has a tree of them. */
struct tree_entry {
	const char *path, *note; /* "/PHI/atom"; "deflate", "group", "link to elsewhere: not followed" */
	bool is_array;
	pmg_type type;
	int rank;
	int64_t shape[PMG_MAX_RANK];
};
bool hdf5_list(const char *path, void (*visit)(const struct tree_entry *entry, void *user), void *user,
	       struct failure *failure);
bool mat_list(const char *path, void (*visit)(const struct tree_entry *entry, void *user), void *user,
	      struct failure *failure);

/* ---- summary.c -------------------------------------------------------------------- */

struct summary {
	int64_t n, n_nan, n_infinite, n_zero;
	double min, max, sum; /* of what is finite; min > max: nothing is */
};
struct summary ndarray_summary(const struct ndarray *array);

#endif
