/* SPDX-License-Identifier: MIT
 *
 * TrackVis' .trk: a header of 1000 bytes, then streamlines with their number of points, scalars of each point and
 * properties of each streamline, which are skipped. Coordinates are millimetres from the corner of the first voxel,
 * along axes in the order that the header names: half a voxel off to its centre, then the axes turned to those of
 * the header's matrix, then that matrix. A header without a matrix has the identity. What is pruned of a .trk is copied
 * as it is, with one property more; what comes from elsewhere is along the axes of its grid. */
#include <byteswap.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/streams.h"
#include "life/connectome.h"

enum { HEADER = 1000, MAX_FIELDS = 1 << 12 };

struct trk {
	struct binary_input in;
	bool is_swapped;
	int64_t n_scalars, n_properties, stated;
	double to_mm[3][4];
	char header[HEADER];
};

/* ---- Numbers ----------------------------------------------------------------------------- */

static int64_t short_at(const struct trk *trk, const char *bytes)
{
	uint16_t value;
	memcpy(&value, bytes, sizeof(value));
	return (int16_t) (trk->is_swapped ? bswap_16(value) : value);
}

static int64_t int_at(const struct trk *trk, const char *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof(value));
	return (int32_t) (trk->is_swapped ? bswap_32(value) : value);
}

static float float_at(const struct trk *trk, const char *bytes)
{
	uint32_t value;
	float number;
	memcpy(&value, bytes, sizeof(value));
	value = trk->is_swapped ? bswap_32(value) : value;
	memcpy(&number, &value, sizeof(number));
	return number;
}

static void put_short(const struct trk *trk, char *bytes, int64_t value)
{
	uint16_t stored = (uint16_t) value;
	stored = trk->is_swapped ? bswap_16(stored) : stored;
	memcpy(bytes, &stored, sizeof(stored));
}

static void put_int(const struct trk *trk, char *bytes, int64_t value)
{
	uint32_t stored = (uint32_t) value;
	stored = trk->is_swapped ? bswap_32(stored) : stored;
	memcpy(bytes, &stored, sizeof(stored));
}

static void put_float(const struct trk *trk, char *bytes, float value)
{
	uint32_t stored;
	memcpy(&stored, &value, sizeof(stored));
	put_int(trk, bytes, stored);
}

/* ---- Space ----------------------------------------------------------------------------------- */

/* The axis (0 to 2) and sense of a letter of RASLPI; false: no such letter. */
static bool axis_of(char letter, int *axis, int *sense)
{
	static const char letters[] = "LRPAIS";
	const char *at = letter ? strchr(letters, letter) : NULL;
	if (!at)
		return false;
	*axis = (int) (at - letters) / 2;
	*sense = (at - letters) % 2 ? 1 : -1;
	return true;
}

/* The scanner's axis that each axis of the matrix is nearest to, no axis twice. */
static void axes_of(const double matrix[3][4], int axis[3], int sense[3])
{
	bool is_row_used[3] = { false, false, false }, is_column_used[3] = { false, false, false };
	for (int n = 0; n < 3; n++) {
		int best_row = 0, best_column = 0;
		double best = -1;
		for (int row = 0; row < 3; row++)
			for (int column = 0; column < 3; column++) {
				double length = hypot(hypot(matrix[0][column], matrix[1][column]), matrix[2][column]);
				double share = length > 0 ? fabs(matrix[row][column]) / length : 0;
				if (is_row_used[row] || is_column_used[column] || share <= best)
					continue;
				best = share;
				best_row = row;
				best_column = column;
			}
		is_row_used[best_row] = is_column_used[best_column] = true;
		axis[best_column] = best_row;
		sense[best_column] = matrix[best_row][best_column] < 0 ? -1 : 1;
	}
}

/* The header's matrix behind the turn from its voxel order and the shift to centres; sizes of the grid along the axes
 * of the matrix. */
static void set_space(struct trk *trk, const double matrix[3][4], const char *order, const double *size,
		      const int64_t *extent, int64_t *turned_extent)
{
	int axis[3], sense[3];
	axes_of(matrix, axis, sense);
	for (int row = 0; row < 3; row++) {
		trk->to_mm[row][3] = matrix[row][3];
		for (int from = 0; from < 3; from++) {
			int wanted = 0, turned = 1, to = 0;
			axis_of(order[from], &wanted, &turned);
			for (int column = 0; column < 3; column++)
				to = axis[column] == wanted ? column : to;
			bool is_flipped = turned != sense[to];
			turned_extent[to] = extent[from];
			trk->to_mm[row][from] = (is_flipped ? -1 : 1) * matrix[row][to] / size[from];
			trk->to_mm[row][3] +=
				matrix[row][to] * (is_flipped ? (double) extent[from] - 0.5 : -0.5);
		}
	}
}

static bool order_is_sound(const char *order)
{
	int seen = 0;
	for (int i = 0; i < 3; i++) {
		int axis, sense;
		if (!axis_of(order[i], &axis, &sense))
			return false;
		seen |= 1 << axis;
	}
	return seen == 7;
}

static bool read_space(struct trk *trk, const char *header, struct frame *frame, struct failure *failure)
{
	double matrix[3][4] = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 } }, size[3];
	int64_t extent[3];
	char order[5] = { 0 };
	bool has_matrix = float_at(trk, header + 440 + 4 * 15) != 0;
	memcpy(order, header[948] ? header + 948 : "LPS", 3);
	for (int i = 0; i < 3; i++) {
		extent[i] = short_at(trk, header + 6 + 2 * i);
		size[i] = (double) float_at(trk, header + 12 + 4 * i);
		if (!isfinite(size[i]) || size[i] <= 0)
			return fail_file(failure, trk->in.path, "byte %d: a voxel size is %g", 12 + 4 * i, size[i]);
		for (int k = 0; k < 4 && has_matrix; k++) {
			matrix[i][k] = (double) float_at(trk, header + 440 + 4 * (4 * i + k));
			if (!isfinite(matrix[i][k]))
				return fail_file(failure, trk->in.path, "byte %d: the matrix is not finite",
						 440 + 4 * (4 * i + k));
		}
	}
	if (!order_is_sound(order)) {
		char shown[16];
		return fail_file(failure, trk->in.path, "byte 948: '%s' is no order of voxels",
				 printable(order, shown, sizeof(shown)));
	}
	set_space(trk, matrix, order, size, extent, frame->extent);
	memcpy(frame->to_mm, matrix, sizeof(matrix));
	frame->is_known = has_matrix && extent[0] > 0 && extent[1] > 0 && extent[2] > 0;
	return true;
}

/* ---- The header ------------------------------------------------------------------------------- */

static bool read_header(struct trk *trk, struct frame *frame, struct failure *failure)
{
	char *header = trk->header;
	if (!binary_read(&trk->in, header, HEADER, "the header", failure))
		return false;
	if (memcmp(header, "TRACK", 5) != 0)
		return fail_file(failure, trk->in.path, "byte 0: it does not begin with 'TRACK'");
	trk->is_swapped = int_at(trk, header + 996) != HEADER;
	if (int_at(trk, header + 996) != HEADER)
		return fail_file(failure, trk->in.path, "byte 996: the size of the header is not 1000");
	trk->n_scalars = short_at(trk, header + 36);
	trk->n_properties = short_at(trk, header + 238);
	trk->stated = int_at(trk, header + 988);
	if (trk->n_scalars < 0 || trk->n_scalars > MAX_FIELDS)
		return fail_file(failure, trk->in.path, "byte 36: %lld scalars of a point",
				 (long long) trk->n_scalars);
	if (trk->n_properties < 0 || trk->n_properties > MAX_FIELDS)
		return fail_file(failure, trk->in.path, "byte 238: %lld properties of a streamline",
				 (long long) trk->n_properties);
	if (trk->stated < 0)
		return fail_file(failure, trk->in.path, "byte 988: %lld streamlines", (long long) trk->stated);
	return read_space(trk, header, frame, failure);
}

/* ---- Streamlines --------------------------------------------------------------------------------- */

static bool read_point(struct trk *trk, struct tracks *tracks, struct failure *failure)
{
	char bytes[4 * (3 + MAX_FIELDS)];
	float from[3], to[3];
	if (!binary_read(&trk->in, bytes, 4 * (size_t) (3 + trk->n_scalars), "a point", failure))
		return false;
	for (int i = 0; i < 3; i++)
		from[i] = float_at(trk, bytes + 4 * i);
	for (int i = 0; i < 3; i++) {
		const double *row = trk->to_mm[i];
		double value = row[0] * (double) from[0] + row[1] * (double) from[1] + row[2] * (double) from[2];
		to[i] = (float) (value + row[3]);
		if (!isfinite(to[i]))
			return fail_file(failure, trk->in.path, "byte %ld: a point of streamline %lld is not finite",
					 ftell(trk->in.file) - 4 * (3 + (long) trk->n_scalars),
					 (long long) tracks->n);
	}
	return tracks_point(tracks, to, failure);
}

static bool read_streamline(struct trk *trk, struct tracks *tracks, struct failure *failure)
{
	char bytes[4];
	if (!binary_read(&trk->in, bytes, 4, "the number of points of a streamline", failure))
		return false;
	int64_t n = int_at(trk, bytes);
	if (n < 0 || n * 4 * (3 + trk->n_scalars) + 4 * trk->n_properties > binary_left(&trk->in))
		return fail_file(failure, trk->in.path, "byte %ld: streamline %lld has %lld points, more than follow",
				 ftell(trk->in.file) - 4, (long long) tracks->n, (long long) n);
	for (int64_t i = 0; i < n; i++)
		if (!read_point(trk, tracks, failure))
			return false;
	fseek(trk->in.file, 4 * (long) trk->n_properties, SEEK_CUR);
	return tracks_end(tracks, failure);
}

static bool read_streamlines(struct trk *trk, struct tracks *tracks, struct failure *failure)
{
	while (binary_left(&trk->in) > 0 && (trk->stated == 0 || tracks->n < trk->stated))
		if (!read_streamline(trk, tracks, failure))
			return false;
	if (tracks->n < trk->stated)
		return fail_file(failure, trk->in.path, "byte %lld: it ends after %lld of %lld streamlines",
				 (long long) trk->in.size, (long long) tracks->n, (long long) trk->stated);
	if (binary_left(&trk->in) > 0)
		return fail_file(failure, trk->in.path, "byte %ld: more follows behind the %lld streamlines",
				 ftell(trk->in.file), (long long) trk->stated);
	return true;
}

bool trk_read(struct tracks *tracks, const char *path, struct failure *failure)
{
	struct trk trk = { 0 };
	bool ok = binary_open(&trk.in, path, failure) && read_header(&trk, &tracks->frame, failure) &&
		  read_streamlines(&trk, tracks, failure);
	tracks->stated = trk.stated ? trk.stated : -1;
	tracks->has_data = trk.n_scalars || trk.n_properties;
	binary_close(&trk.in);
	return ok;
}

/* ---- Writing --------------------------------------------------------------------------------------- */

/* From millimetres to those of a .trk, along the axes of the frame. */
struct space {
	struct frame frame;
	double size[3], to_voxel[3][4];
};

/* Of a grid that is not known or that the header has no room for, one voxel. */
static void make_space(struct space *space, const struct frame *frame)
{
	double determinant;
	bool has_room = frame->is_known;
	for (int i = 0; i < 3; i++)
		has_room = has_room && frame->extent[i] <= INT16_MAX;
	space->frame = has_room ? *frame : frame_of_one_voxel;
	if (!affine_invert((const double(*)[4]) space->frame.to_mm, space->to_voxel, &determinant)) {
		space->frame = frame_of_one_voxel;
		affine_invert(frame_of_one_voxel.to_mm, space->to_voxel, &determinant);
	}
	for (int i = 0; i < 3; i++)
		space->size[i] = hypot(hypot(space->frame.to_mm[0][i], space->frame.to_mm[1][i]),
				       space->frame.to_mm[2][i]);
}

static void make_header(struct trk *trk, const struct tracks *tracks, const struct space *space, bool has_numbers)
{
	char *header = trk->header;
	int axis[3], sense[3];
	axes_of((const double(*)[4]) space->frame.to_mm, axis, sense);
	memcpy(header, "TRACK", 5);
	for (int i = 0; i < 3; i++) {
		put_short(trk, header + 6 + 2 * i, space->frame.extent[i]);
		put_float(trk, header + 12 + 4 * i, (float) space->size[i]);
		header[948 + i] = "LRPAIS"[2 * axis[i] + (sense[i] > 0)];
		for (int k = 0; k < 4; k++)
			put_float(trk, header + 440 + 4 * (4 * i + k), (float) space->frame.to_mm[i][k]);
	}
	put_float(trk, header + 440 + 4 * 15, 1);
	put_short(trk, header + 238, has_numbers);
	if (has_numbers)
		memcpy(header + 240, "weight", 6);
	put_int(trk, header + 988, tracks->n);
	put_int(trk, header + 992, 2);
	put_int(trk, header + 996, HEADER);
}

static void write_streamline(FILE *file, const struct tracks *tracks, const struct space *space, int64_t i)
{
	int32_t n = (int32_t) (tracks->offsets[i + 1] - tracks->offsets[i]);
	fwrite(&n, sizeof(n), 1, file);
	for (int64_t p = tracks->offsets[i]; p < tracks->offsets[i + 1]; p++) {
		float point[3];
		for (int k = 0; k < 3; k++) {
			double at = space->to_voxel[k][3] + 0.5;
			for (int j = 0; j < 3; j++)
				at += space->to_voxel[k][j] * (double) tracks->points[3 * p + j];
			point[k] = (float) (at * space->size[k]);
		}
		fwrite(point, sizeof(point), 1, file);
	}
}

bool trk_write(const struct tracks *tracks, const double *numbers, const char *path, struct failure *failure)
{
	struct trk trk = { 0 };
	struct space space;
	struct output out;
	if (tracks->n > INT32_MAX)
		return fail_file(failure, path, "a .trk holds at most %d streamlines", INT32_MAX);
	if (!output_open(&out, path, failure))
		return false;
	make_space(&space, &tracks->frame);
	make_header(&trk, tracks, &space, numbers != NULL);
	fwrite(trk.header, 1, HEADER, out.file);
	for (int64_t i = 0; i < tracks->n; i++) {
		float number = numbers ? (float) numbers[i] : 0;
		write_streamline(out.file, tracks, &space, i);
		if (numbers)
			fwrite(&number, sizeof(number), 1, out.file);
	}
	return output_close(&out, true, failure);
}

/* ---- Pruning --------------------------------------------------------------------------------------- */

enum { NAMES_AT = 240, NAME_SIZE = 20, N_PROPERTY_NAMES = 10 };

/* How many properties a name is for: one, or what follows its NUL as nibabel has it. */
static int64_t columns_of_name(const char *name)
{
	char text[NAME_SIZE + 1] = "";
	memcpy(text, name, NAME_SIZE);
	long n = strtol(text + strnlen(text, NAME_SIZE - 1) + 1, NULL, 10);
	return n <= 1 ? 1 : n <= MAX_FIELDS ? n : MAX_FIELDS + 1;
}

/* The property "weight": one that is there, or a new one behind the others, with a name if all of them have one. */
static int64_t weight_column(struct trk *trk)
{
	int64_t column = 0;
	for (int i = 0; i < N_PROPERTY_NAMES && column <= trk->n_properties; i++) {
		char *name = trk->header + NAMES_AT + NAME_SIZE * i;
		if (!*name && column == trk->n_properties)
			memcpy(name, "weight", 6);
		if (!*name)
			break;
		if (strncmp(name, "weight", NAME_SIZE) == 0 && columns_of_name(name) == 1)
			return column;
		column += columns_of_name(name);
	}
	return trk->n_properties;
}

static bool copy_bytes(struct trk *trk, FILE *to, int64_t n, struct failure *failure)
{
	char bytes[1 << 14];
	while (n > 0) {
		size_t piece = n < (int64_t) sizeof(bytes) ? (size_t) n : sizeof(bytes);
		if (!binary_read(&trk->in, bytes, piece, "a streamline", failure))
			return false;
		if (to)
			fwrite(bytes, 1, piece, to);
		n -= (int64_t) piece;
	}
	return true;
}

/* With `to` NULL it is passed over; else with so many properties. */
static bool copy_streamline(struct trk *trk, FILE *to, int64_t weight, int64_t n_properties, double number,
			    struct failure *failure)
{
	char bytes[4], properties[4 * (MAX_FIELDS + 1)];
	if (!binary_read(&trk->in, bytes, 4, "the number of points of a streamline", failure))
		return false;
	if (to)
		fwrite(bytes, 1, 4, to);
	if (!copy_bytes(trk, to, int_at(trk, bytes) * 4 * (3 + trk->n_scalars), failure) ||
	    !binary_read(&trk->in, properties, 4 * (size_t) trk->n_properties, "the properties", failure))
		return false;
	put_float(trk, properties + 4 * weight, (float) number);
	if (to)
		fwrite(properties, 4, (size_t) n_properties, to);
	return true;
}

static bool copy_streamlines(struct trk *trk, FILE *to, const bool *is_kept, const double *numbers,
			     struct failure *failure)
{
	const int64_t weight = weight_column(trk), n = trk->n_properties + (weight == trk->n_properties);
	int64_t kept = 0;
	put_short(trk, trk->header + 238, n);
	fwrite(trk->header, 1, HEADER, to);
	for (int64_t i = 0; binary_left(&trk->in) > 0 && (trk->stated == 0 || i < trk->stated); i++) {
		if (!copy_streamline(trk, is_kept[i] ? to : NULL, weight, n, numbers[i], failure))
			return false;
		kept += is_kept[i];
	}
	put_int(trk, trk->header + 988, kept);
	fseek(to, 0, SEEK_SET);
	fwrite(trk->header, 1, HEADER, to);
	return true;
}

bool trk_prune(const char *from, const bool *is_kept, const double *numbers, const char *path, struct failure *failure)
{
	struct trk trk = { 0 };
	struct frame ignored;
	struct output out;
	bool ok = binary_open(&trk.in, from, failure) && read_header(&trk, &ignored, failure) &&
		  output_open(&out, path, failure);
	if (ok)
		ok = output_close(&out, copy_streamlines(&trk, out.file, is_kept, numbers, failure), failure);
	binary_close(&trk.in);
	return ok;
}
