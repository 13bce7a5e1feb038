/* SPDX-License-Identifier: MIT
 *
 * TRX: a zip of header.json, positions.3.TYPE (scanner space, little-endian) and offsets.TYPE, which counts from 0
 * and may lack the last value, or have a last one that leaves points over. Data of points and streamlines are left
 * out; of what is written, weights are dps/weight. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "formats/streams.h"
#include "life/connectome.h"

struct parts {
	struct ndarray header, positions, offsets;
	char positions_name[NAME_BYTES], offsets_name[NAME_BYTES];
	char *text; /* the header, with an end */
};

/* ---- Reading ------------------------------------------------------------------------------ */

static bool is_wanted(const char *name, const void *user)
{
	(void) user;
	return strcmp(name, "header.json") == 0 || strncmp(name, "positions.3.", 12) == 0 ||
	       strncmp(name, "offsets.", 8) == 0;
}

/* The numbers behind "KEY": of a flat object, also in lists; false: there are fewer of them. */
static bool header_numbers(const char *header, const char *key, int wanted, double *values)
{
	char quoted[64];
	int found = 0;
	snprintf(quoted, sizeof(quoted), "\"%s\"", key);
	const char *at = strstr(header, quoted);
	at = at ? at + strlen(quoted) : "";
	at += strspn(at, " \t\r\n");
	for (bool more = *at == ':'; more && found < wanted; found += more) {
		char *end;
		at += strspn(at, ":, []\t\r\n");
		values[found] = strtod(at, &end);
		more = end != at;
		at = end;
	}
	return found == wanted;
}

static bool header_integer(const char *header, const char *key, int64_t *value)
{
	double number;
	bool ok = header_numbers(header, key, 1, &number) && number >= 0 && number < 1e15;
	*value = ok ? (int64_t) number : -1;
	return ok && (double) *value == number;
}

/* False in a header without it, which has no say in where points are. */
static bool read_frame(const char *header, struct frame *frame)
{
	double extent[3], matrix[12], inverse[3][4], determinant;
	if (!header_numbers(header, "DIMENSIONS", 3, extent) ||
	    !header_numbers(header, "VOXEL_TO_RASMM", 12, matrix))
		return false;
	for (int i = 0; i < 3; i++) {
		if (!(extent[i] >= 1 && extent[i] <= INT32_MAX))
			return false;
		frame->extent[i] = (int64_t) extent[i];
		memcpy(frame->to_mm[i], matrix + 4 * i, sizeof(frame->to_mm[i]));
	}
	return affine_invert((const double(*)[4]) frame->to_mm, inverse, &determinant);
}

static double half_value(uint16_t bits)
{
	int exponent = bits >> 10 & 31, fraction = bits & 1023;
	double value = exponent == 31 ? (fraction ? (double) NAN : (double) INFINITY)
				      : exponent ? ldexp(1024 + fraction, exponent - 25)
						 : ldexp(fraction, -24);
	return bits & 0x8000 ? -value : value;
}

static float position_at(const struct ndarray *positions, size_t width, int64_t i)
{
	const char *bytes = (const char *) positions->data + (size_t) i * width;
	uint16_t half;
	float single;
	double wide;
	if (width == 2) {
		memcpy(&half, bytes, 2);
		return (float) half_value(half);
	}
	memcpy(&single, bytes, 4);
	if (width == 4)
		return single;
	memcpy(&wide, bytes, 8);
	return (float) wide;
}

static int64_t offset_at(const struct ndarray *offsets, size_t width, int64_t i)
{
	uint32_t narrow;
	uint64_t wide;
	if (width == 4) {
		memcpy(&narrow, (const char *) offsets->data + 4 * i, 4);
		return narrow;
	}
	memcpy(&wide, (const char *) offsets->data + 8 * i, 8);
	return wide > INT64_MAX ? INT64_MAX : (int64_t) wide;
}

/* Bytes of a number by the last word of a member's name; 0: not one of them. */
static size_t width_of(const char *name, const char *kind)
{
	const char *dot = strrchr(name, '.');
	size_t n = strlen(kind);
	if (!dot || strncmp(dot + 1, kind, n) != 0)
		return 0;
	const char *bits = dot + 1 + n;
	if (strcmp(bits, "64") == 0)
		return 8;
	return strcmp(bits, "32") == 0 ? 4 : strcmp(bits, "16") == 0 && strcmp(kind, "float") == 0 ? 2 : 0;
}

static bool add_streamline(struct tracks *tracks, const struct parts *parts, size_t width, int64_t begin, int64_t end,
			   const char *path, struct failure *failure)
{
	for (int64_t p = begin; p < end; p++) {
		float point[3];
		for (int k = 0; k < 3; k++) {
			point[k] = position_at(&parts->positions, width, 3 * p + k);
			if (!isfinite(point[k]))
				return fail_file(failure, path,
						 "%s, byte %lld: a point of streamline %lld is not finite",
						 parts->positions_name, (long long) ((3 * p + k) * (int64_t) width),
						 (long long) tracks->n);
		}
		if (!tracks_point(tracks, point, failure))
			return false;
	}
	return tracks_end(tracks, failure);
}

static bool add_streamlines(struct tracks *tracks, const struct parts *parts, size_t width, size_t offset_width,
			    int64_t n_points, int64_t n_offsets, const char *path, struct failure *failure)
{
	for (int64_t i = 0; i < tracks->stated; i++) {
		int64_t begin = offset_at(&parts->offsets, offset_width, i);
		int64_t end = i + 1 < n_offsets ? offset_at(&parts->offsets, offset_width, i + 1) : n_points;
		if (begin > end || end > n_points || (i == 0 && begin != 0))
			return fail_file(failure, path,
					 "%s, byte %lld: streamline %lld is from point %lld to %lld of %lld",
					 parts->offsets_name, (long long) (i * (int64_t) offset_width), (long long) i,
					 (long long) begin, (long long) end, (long long) n_points);
		if (!add_streamline(tracks, parts, width, begin, end, path, failure))
			return false;
	}
	return true;
}

static bool read_parts(struct tracks *tracks, const struct parts *parts, const char *path, struct failure *failure)
{
	int64_t n_points, n = ndarray_count(&parts->offsets);
	size_t width = width_of(parts->positions_name, "float"), offset_width = width_of(parts->offsets_name, "uint");
	if (!width || !offset_width)
		return fail_file(failure, path, "'%s' is of no type that TRX has",
				 width ? parts->offsets_name : parts->positions_name);
	if (!header_integer(parts->text, "NB_VERTICES", &n_points) ||
	    !header_integer(parts->text, "NB_STREAMLINES", &tracks->stated))
		return fail_file(failure, path, "header.json: it states no NB_VERTICES or no NB_STREAMLINES");
	int64_t n_positions = ndarray_count(&parts->positions), n_offsets = n / (int64_t) offset_width;
	if (n_positions % (3 * (int64_t) width) != 0 || n_positions / (3 * (int64_t) width) != n_points)
		return fail_file(failure, path, "%s, byte %lld: it ends there, the header says %lld points",
				 parts->positions_name, (long long) n_positions, (long long) n_points);
	if (n % (int64_t) offset_width != 0 || n_offsets < tracks->stated || n_offsets > tracks->stated + 1)
		return fail_file(failure, path, "%s, byte %lld: it ends there, the header says %lld streamlines",
				 parts->offsets_name, (long long) n, (long long) tracks->stated);
	if (!add_streamlines(tracks, parts, width, offset_width, n_points, n_offsets, path, failure))
		return false;
	tracks->n_left_over = n_points - tracks->n_points;
	tracks->frame.is_known = read_frame(parts->text, &tracks->frame);
	return true;
}

/* Of several members of a kind, all but the header would be taken at will. */
static bool sort_members(struct parts *parts, struct content *members, const char *path, struct failure *failure)
{
	for (int i = 0; i < members->n_members; i++) {
		struct member *member = &members->members[i];
		bool is_header = *member->name == 'h', is_points = *member->name == 'p';
		struct ndarray *array = is_header ? &parts->header : is_points ? &parts->positions : &parts->offsets;
		if (array->data)
			return fail_file(failure, path, "it has '%s' twice", member->name);
		*array = member->array;
		member->array.data = NULL;
		if (!is_header)
			snprintf(is_points ? parts->positions_name : parts->offsets_name, NAME_BYTES, "%s",
				 member->name);
	}
	if (parts->header.data && parts->positions.data && parts->offsets.data)
		return true;
	return fail_file(failure, path, "it lacks %s",
			 !parts->header.data      ? "header.json"
			 : !parts->positions.data ? "positions.3.*"
						  : "offsets.*");
}

static bool make_text(struct parts *parts, struct failure *failure)
{
	size_t n = ndarray_bytes(&parts->header);
	parts->text = calloc(n + 1, 1);
	if (!parts->text)
		return fail_memory(failure, "a header");
	memcpy(parts->text, parts->header.data, n);
	return true;
}

bool trx_read(struct tracks *tracks, const char *path, struct failure *failure)
{
	struct parts parts = { 0 };
	struct content members = { 0 };
	bool ok = zip_read(path, is_wanted, NULL, &members, failure) &&
		  sort_members(&parts, &members, path, failure) && make_text(&parts, failure) &&
		  read_parts(tracks, &parts, path, failure);
	content_free(&members);
	free(parts.text);
	ndarray_free(&parts.header);
	ndarray_free(&parts.positions);
	ndarray_free(&parts.offsets);
	return ok;
}

/* ---- Writing ------------------------------------------------------------------------------------ */

static bool put_member(zip_t *archive, const char *name, const void *data, size_t bytes)
{
	zip_source_t *source = zip_source_buffer(archive, data, bytes, 0);
	zip_int64_t i = source ? zip_file_add(archive, name, source, ZIP_FL_ENC_UTF_8) : -1;
	if (i < 0 && source)
		zip_source_free(source);
	return i >= 0 && zip_set_file_compression(archive, (zip_uint64_t) i, ZIP_CM_STORE, 0) == 0 &&
	       zip_file_set_mtime(archive, (zip_uint64_t) i, 315532800, 0) == 0;
}

static bool put_members(zip_t *archive, const struct tracks *tracks, float *numbers, const char *header)
{
	static const int64_t none[1];
	return put_member(archive, "header.json", header, strlen(header)) &&
	       put_member(archive, "positions.3.float32", tracks->points,
			  3 * sizeof(float) * (size_t) tracks->n_points) &&
	       put_member(archive, "offsets.uint64", tracks->n ? tracks->offsets : none,
			  sizeof(int64_t) * ((size_t) tracks->n + 1)) &&
	       (!numbers ||
		put_member(archive, "dps/weight.float32", numbers, sizeof(float) * (size_t) tracks->n));
}

static void print_header(const struct tracks *tracks, char *text, size_t size)
{
	const struct frame *frame = tracks->frame.is_known ? &tracks->frame : &frame_of_one_voxel;
	size_t used = (size_t) snprintf(text, size,
					"{\"DIMENSIONS\": [%lld, %lld, %lld], \"VOXEL_TO_RASMM\": [",
					(long long) frame->extent[0], (long long) frame->extent[1],
					(long long) frame->extent[2]);
	for (int i = 0; i < 3; i++) {
		const double *row = frame->to_mm[i];
		used += (size_t) snprintf(text + used, size - used, "[%#.17g, %#.17g, %#.17g, %#.17g], ", row[0],
					  row[1], row[2], row[3]);
	}
	snprintf(text + used, size - used,
		 "[0.0, 0.0, 0.0, 1.0]], \"NB_VERTICES\": %lld, \"NB_STREAMLINES\": %lld}",
		 (long long) tracks->n_points, (long long) tracks->n);
}

bool trx_write(const struct tracks *tracks, const double *numbers, const char *path, struct failure *failure)
{
	char header[1024];
	int error;
	struct output out;
	float *narrow = numbers ? calloc((size_t) tracks->n + 1, sizeof(float)) : NULL;
	if (numbers && !narrow)
		return fail_memory(failure, "the weights");
	for (int64_t i = 0; narrow && i < tracks->n; i++)
		narrow[i] = (float) numbers[i];
	print_header(tracks, header, sizeof(header));
	bool ok = output_open(&out, path, failure);
	if (!ok) {
		free(narrow);
		return false;
	}
	zip_t *archive = zip_open(out.part, ZIP_CREATE | ZIP_TRUNCATE, &error);
	ok = archive && put_members(archive, tracks, narrow, header);
	if (archive && (!ok || zip_close(archive) != 0)) {
		zip_discard(archive);
		ok = false;
	}
	if (!ok)
		fail_file(failure, path, "cannot write:");
	ok = output_close(&out, ok, failure);
	free(narrow);
	return ok;
}
