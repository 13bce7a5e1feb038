/* SPDX-License-Identifier: MIT
 *
 * MRtrix's .tck: a text header up to END, then triplets of floats; a triplet of NaN ends a streamline, one of
 * infinities the file. Lines of the header that are not `key: value` go on from the line before. `count` may be
 * wrong, so that the data alone decide; a file without its last triplet has been cut. */
#include <byteswap.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "formats/streams.h"
#include "life/connectome.h"

enum { HEADER_BYTES = 1 << 20, BLOCK_TRIPLETS = 4096 };

struct tck {
	struct binary_input in;
	int64_t data; /* offset */
	bool is_double, is_swapped, has_type, has_file;
};

/* ---- The header ------------------------------------------------------------------------ */

static bool read_type(struct tck *tck, const char *value, int64_t at, struct failure *failure)
{
	static const char *const names[] = { "Float32LE", "Float64LE", "Float32BE", "Float64BE" };
	const int one = 1;
	bool is_little = *(const char *) &one == 1;
	for (int i = 0; i < 4; i++) {
		if (strcmp(value, names[i]) != 0)
			continue;
		tck->is_double = i % 2 == 1;
		tck->is_swapped = (i < 2) != is_little;
		return tck->has_type = true;
	}
	char shown[64];
	return fail_file(failure, tck->in.path, "byte %lld: datatype '%s' is not one that .tck has", (long long) at,
			 printable(value, shown, sizeof(shown)));
}

static bool read_place(struct tck *tck, const char *value, int64_t at, struct failure *failure)
{
	if (strncmp(value, ". ", 2) != 0 || !parse_integer(value + 2, &tck->data) || tck->data < at ||
	    tck->data > tck->in.size)
		return fail_file(failure, tck->in.path,
				 "byte %lld: 'file' must name an offset behind the header and in this file ('. N')",
				 (long long) at);
	return tck->has_file = true;
}

static bool read_key(struct tck *tck, char *line, int64_t at, struct tracks *tracks, struct failure *failure)
{
	char *colon = strchr(line, ':');
	if (!colon)
		return true;
	*colon = '\0';
	char *value = colon + 1 + strspn(colon + 1, " \t");
	value[strcspn(value, "\r")] = '\0';
	for (size_t n = strlen(value); n > 0 && (value[n - 1] == ' ' || value[n - 1] == '\t'); n--)
		value[n - 1] = '\0';
	if (strcmp(line, "datatype") == 0)
		return read_type(tck, value, at, failure);
	if (strcmp(line, "file") == 0)
		return read_place(tck, value, at, failure);
	if (strcmp(line, "count") == 0 && (!parse_integer(value, &tracks->stated) || tracks->stated < 0))
		return fail_file(failure, tck->in.path, "byte %lld: 'count' is not a number", (long long) at);
	return true;
}

static bool read_lines(struct tck *tck, char *text, struct tracks *tracks, struct failure *failure)
{
	char *line = text;
	for (char *end = strchr(line, '\n'); end; end = strchr(line, '\n')) {
		*end = '\0';
		if (strcmp(line, "END") == 0 || strcmp(line, "END\r") == 0) {
			if (!tck->has_file)
				tck->data = end + 1 - text;
			return tck->has_type ||
			       fail_file(failure, tck->in.path, "byte %lld: the header ends without a 'datatype'",
					 (long long) (line - text));
		}
		if (line == text && strncmp(line, "mrtrix tracks", 13) != 0)
			return fail_file(failure, tck->in.path, "byte 0: it does not begin with 'mrtrix tracks'");
		if (!read_key(tck, line, line - text, tracks, failure))
			return false;
		line = end + 1;
	}
	return fail_file(failure, tck->in.path, "byte %lld: the header has no END", (long long) (line - text));
}

static bool read_header(struct tck *tck, struct tracks *tracks, struct failure *failure)
{
	size_t n = tck->in.size < HEADER_BYTES ? (size_t) tck->in.size : HEADER_BYTES;
	char *text = malloc(n + 1);
	if (!text)
		return fail_memory(failure, "a header");
	bool ok = binary_read(&tck->in, text, n, "the header", failure);
	text[n] = '\0';
	ok = ok && read_lines(tck, text, tracks, failure);
	free(text);
	return ok;
}

/* ---- The data --------------------------------------------------------------------------------- */

static void take_triplet(const struct tck *tck, const char *bytes, float *point)
{
	for (int i = 0; i < 3; i++) {
		uint64_t wide;
		uint32_t narrow;
		double value;
		if (tck->is_double) {
			memcpy(&wide, bytes + 8 * i, 8);
			wide = tck->is_swapped ? bswap_64(wide) : wide;
			memcpy(&value, &wide, 8);
			point[i] = (float) value;
		} else {
			memcpy(&narrow, bytes + 4 * i, 4);
			narrow = tck->is_swapped ? bswap_32(narrow) : narrow;
			memcpy(&point[i], &narrow, 4);
		}
	}
}

enum triplet { TRIPLET_POINT, TRIPLET_END, TRIPLET_LAST, TRIPLET_BAD };

static enum triplet triplet_kind(const float *p)
{
	if (isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]))
		return TRIPLET_POINT;
	if (isnan(p[0]) && isnan(p[1]) && isnan(p[2]))
		return TRIPLET_END;
	return isinf(p[0]) && isinf(p[1]) && isinf(p[2]) ? TRIPLET_LAST : TRIPLET_BAD;
}

static bool add_triplet(struct tck *tck, struct tracks *tracks, const float *point, int64_t at, bool *is_done,
			struct failure *failure)
{
	int64_t begin = tracks->n ? tracks->offsets[tracks->n] : 0;
	switch (triplet_kind(point)) {
	case TRIPLET_POINT:
		return tracks_point(tracks, point, failure);
	case TRIPLET_END:
		return tracks_end(tracks, failure);
	case TRIPLET_LAST:
		*is_done = true;
		return begin == tracks->n_points ||
		       fail_file(failure, tck->in.path, "byte %lld: the file ends within streamline %lld",
				 (long long) at, (long long) tracks->n);
	case TRIPLET_BAD:
		break;
	}
	return fail_file(failure, tck->in.path, "byte %lld: a point of streamline %lld is not finite", (long long) at,
			 (long long) tracks->n);
}

static bool read_block(struct tck *tck, struct tracks *tracks, int64_t *at, bool *is_done, struct failure *failure)
{
	char bytes[BLOCK_TRIPLETS * 24];
	size_t triplet = tck->is_double ? 24 : 12;
	int64_t left = (tck->in.size - *at) / (int64_t) triplet, n = left < BLOCK_TRIPLETS ? left : BLOCK_TRIPLETS;
	if (n == 0)
		return fail_file(failure, tck->in.path,
				 "byte %lld: the file ends without the triplet of infinities that marks its end",
				 (long long) *at);
	if (!binary_read(&tck->in, bytes, (size_t) n * triplet, "the streamlines", failure))
		return false;
	for (int64_t i = 0; i < n && !*is_done; i++, *at += (int64_t) triplet) {
		float point[3];
		take_triplet(tck, bytes + (size_t) i * triplet, point);
		if (!add_triplet(tck, tracks, point, *at, is_done, failure))
			return false;
	}
	return true;
}

bool tck_read(struct tracks *tracks, const char *path, struct failure *failure)
{
	struct tck tck = { 0 };
	bool is_done = false;
	bool ok = binary_open(&tck.in, path, failure) && read_header(&tck, tracks, failure);
	int64_t at = tck.data;
	ok = ok && (fseek(tck.in.file, (long) at, SEEK_SET) == 0 || fail_file(failure, path, "cannot read:"));
	while (ok && !is_done)
		ok = read_block(&tck, tracks, &at, &is_done, failure);
	binary_close(&tck.in);
	return ok;
}

/* ---- Writing ------------------------------------------------------------------------------------ */

/* Weights have no place in a .tck. */
bool tck_write(const struct tracks *tracks, const double *numbers, const char *path, struct failure *failure)
{
	static const float end[3] = { NAN, NAN, NAN }, last[3] = { INFINITY, INFINITY, INFINITY };
	char header[128];
	struct output out;
	const int one = 1;
	(void) numbers;
	if (!output_open(&out, path, failure))
		return false;
	int n = snprintf(header, sizeof(header), "mrtrix tracks\ndatatype: Float32%s\ncount: %lld\nfile: . 128\nEND\n",
			 *(const char *) &one == 1 ? "LE" : "BE", (long long) tracks->n);
	memset(header + n, 0, sizeof(header) - (size_t) n);
	fwrite(header, 1, sizeof(header), out.file);
	for (int64_t i = 0; i < tracks->n; i++) {
		int64_t begin = tracks->offsets[i], count = tracks->offsets[i + 1] - begin;
		if (count > 0)
			fwrite(tracks->points + 3 * begin, 3 * sizeof(float), (size_t) count, out.file);
		fwrite(end, sizeof(end), 1, out.file);
	}
	fwrite(last, sizeof(last), 1, out.file);
	return output_close(&out, true, failure);
}
