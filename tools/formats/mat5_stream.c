/* SPDX-License-Identifier: MIT
 *
 * Bytes of a MATLAB file of version 5 to 7. A size that an element states is believed only within the element around
 * it, and that of a packed variable only up to what zlib can make of its bytes. */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "formats/mat_private.h"

enum { HEADER = 128, EXPANSION = 1100 };

bool mat_fail(struct mat_stream *stream, struct failure *failure, const char *format, ...)
{
	char text[600];
	va_list args;
	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	if (stream->is_packed)
		return fail_file(failure, stream->in.path, "byte %" PRId64 " of the variable packed at byte %" PRId64
				 ": %s", stream->at, stream->begin, text);
	return fail_file(failure, stream->in.path, "byte %" PRId64 ": %s", stream->begin + stream->at, text);
}

/* ---- Bytes --------------------------------------------------------------------------------- */

static bool unpack(struct mat_stream *stream, unsigned char *bytes, int64_t n, struct failure *failure)
{
	stream->z.next_out = bytes;
	stream->z.avail_out = (uInt) n;
	while (stream->z.avail_out > 0) {
		if (stream->z.avail_in == 0 && stream->packed_left > 0) {
			int64_t most = (int64_t) sizeof(stream->packed);
			size_t piece = (size_t) (stream->packed_left < most ? stream->packed_left : most);
			if (!binary_read(&stream->in, stream->packed, piece, "a packed variable", failure))
				return false;
			stream->packed_left -= (int64_t) piece;
			stream->z.next_in = stream->packed;
			stream->z.avail_in = (uInt) piece;
		}
		uInt before = stream->z.avail_out;
		int status = inflate(&stream->z, Z_SYNC_FLUSH);
		stream->at += before - stream->z.avail_out;
		if (stream->is_ending && status == Z_STREAM_END && stream->z.avail_out > 0)
			return true;
		if (stream->is_ending && stream->z.avail_out == 0)
			return mat_fail(stream, failure, "more follows");
		if (stream->z.avail_out > 0 && (status == Z_STREAM_END || status == Z_BUF_ERROR))
			return mat_fail(stream, failure, "it ends there");
		if (status != Z_OK && status != Z_STREAM_END)
			return mat_fail(stream, failure, "it cannot be unpacked (%s)",
					stream->z.msg ? stream->z.msg : zError(status));
	}
	return true;
}

static bool read_bytes(struct mat_stream *stream, void *bytes, int64_t n, struct failure *failure)
{
	const int64_t most = 1 << 30;
	if (!stream->is_packed) {
		if (!binary_read(&stream->in, bytes, (size_t) n, "a variable", failure))
			return false;
		stream->at += n;
		return true;
	}
	for (int64_t done = 0; done < n; done += most)
		if (!unpack(stream, (unsigned char *) bytes + done, n - done < most ? n - done : most, failure))
			return false;
	return true;
}

bool mat_skip(struct mat_stream *stream, int64_t n, struct failure *failure)
{
	unsigned char waste[1 << 14];
	if (!stream->is_packed) {
		if (n > binary_left(&stream->in))
			return mat_fail(stream, failure, "%" PRId64 " bytes are to follow, but the file ends at byte %"
					PRId64, n, stream->in.size);
		stream->at += n;
		return fseeko(stream->in.file, n, SEEK_CUR) == 0 ||
		       fail_file(failure, stream->in.path, "cannot read:");
	}
	for (int64_t left = n; left > 0; left -= (int64_t) sizeof(waste))
		if (!unpack(stream, waste, left < (int64_t) sizeof(waste) ? left : (int64_t) sizeof(waste), failure))
			return false;
	return true;
}

/* ---- Elements ---------------------------------------------------------------------------------- */

static uint32_t word(const struct mat_stream *stream, const unsigned char *bytes)
{
	uint32_t value;
	memcpy(&value, bytes, sizeof(value));
	return stream->is_swapped ? __builtin_bswap32(value) : value;
}

bool mat_tag(struct mat_stream *stream, int64_t *left, struct mat_tag *tag, struct failure *failure)
{
	unsigned char bytes[8];
	if (*left < (int64_t) sizeof(bytes))
		return mat_fail(stream, failure, "an element is missing");
	if (!read_bytes(stream, bytes, sizeof(bytes), failure))
		return false;
	*left -= (int64_t) sizeof(bytes);
	uint32_t first = word(stream, bytes);
	tag->is_small = first >> 16 != 0;
	tag->type = tag->is_small ? first & 0xffff : first;
	tag->size = tag->is_small ? first >> 16 : word(stream, bytes + 4);
	memcpy(tag->small, bytes + 4, sizeof(tag->small));
	if (tag->size > (tag->is_small ? (int64_t) sizeof(tag->small) : *left))
		return mat_fail(stream, failure, "an element of %" PRId64 " bytes in one that has %" PRId64 " left",
				tag->size, tag->is_small ? (int64_t) sizeof(tag->small) : *left);
	return true;
}

bool mat_bytes(struct mat_stream *stream, int64_t *left, const struct mat_tag *tag, void *bytes,
	       struct failure *failure)
{
	int64_t padding = (8 - tag->size % 8) % 8;
	if (tag->is_small) {
		if (bytes)
			memcpy(bytes, tag->small, (size_t) tag->size);
		return true;
	}
	*left -= tag->size;
	padding = padding < *left ? padding : *left;
	*left -= padding;
	return (bytes ? read_bytes(stream, bytes, tag->size, failure) : mat_skip(stream, tag->size, failure)) &&
	       mat_skip(stream, padding, failure);
}

/* ---- Variables ------------------------------------------------------------------------------------ */

/* A file of version 4 begins with a variable: five words, of which the first is its kind in decimal digits MOPT (order
 * of bytes, 0, type 0 to 5, full, text or sparse), then its rows and columns, whether it is complex, and the length of
 * its name. A later one begins with a text. */
static bool is_version_4(struct mat_stream *stream)
{
	unsigned char bytes[20];
	bool is = fread(bytes, 1, sizeof(bytes), stream->in.file) == sizeof(bytes);
	rewind(stream->in.file);
	for (int swapped = 0; is && swapped < 2; swapped++) {
		uint32_t words[5];
		stream->is_swapped = swapped;
		for (int i = 0; i < 5; i++)
			words[i] = word(stream, bytes + sizeof(words[0]) * (size_t) i);
		if (words[0] < 5000 && words[0] % 1000 < 60 && words[0] % 10 < 3 && words[3] < 2 && words[4] > 0 &&
		    words[4] < NAME_BYTES)
			return true;
	}
	return false;
}

static bool refuse_version_4(const char *path, struct failure *failure)
{
	fail_file(failure, path, "version 4 of MATLAB's format is not read");
	fail_help(failure, "in MATLAB, load it and save it with -v7: load('old.mat'); save('new.mat', '-v7')");
	return false;
}

bool mat_open(struct mat_stream *stream, const char *path, struct failure *failure)
{
	unsigned char header[HEADER];
	bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	*stream = (struct mat_stream){ 0 };
	if (!binary_open(&stream->in, path, failure))
		return false;
	if (is_version_4(stream))
		return refuse_version_4(path, failure);
	if (!binary_read(&stream->in, header, sizeof(header), "the header", failure))
		return false;
	bool is_order_little = memcmp(header + 126, "IM", 2) == 0;
	if (!is_order_little && memcmp(header + 126, "MI", 2) != 0)
		return fail_file(failure, path, "byte 126: no MATLAB file of version 5 or newer");
	stream->is_swapped = is_order_little != is_little;
	stream->begin = HEADER;
	if (header[is_order_little ? 125 : 124] != 1)
		return fail_file(failure, path, "byte 124: it is of version 0x%02x%02x, which is not known",
				 header[is_order_little ? 125 : 124], header[is_order_little ? 124 : 125]);
	return true;
}

void mat_close(struct mat_stream *stream)
{
	if (stream->is_packed)
		inflateEnd(&stream->z);
	binary_close(&stream->in);
}

int mat_next(struct mat_stream *stream, int64_t *size, struct failure *failure)
{
	struct mat_tag tag;
	stream->begin = ftell(stream->in.file);
	stream->at = 0;
	int64_t left = binary_left(&stream->in);
	*size = left;
	if (left == 0)
		return 0;
	if (!mat_tag(stream, &left, &tag, failure))
		return -1;
	if (tag.type == MI_COMPRESSED && !tag.is_small) {
		stream->packed_left = tag.size;
		stream->at = 0;
		stream->z = (z_stream){ 0 };
		if (inflateInit(&stream->z) != Z_OK)
			return fail_memory(failure, "zlib") ? 1 : -1;
		stream->is_packed = true;
		if (__builtin_mul_overflow(tag.size, (int64_t) EXPANSION, size))
			*size = INT64_MAX;
		return 1;
	}
	if (tag.type != MI_MATRIX || tag.is_small)
		return mat_fail(stream, failure, "a variable is needed, this is an element of type %u", tag.type) ? 1
														  : -1;
	stream->at = 0;
	*size = tag.size + 8;
	return fseeko(stream->in.file, stream->begin, SEEK_SET) == 0 ? 1 : -1;
}

/* What packs a variable ends with a sum over all of it, and with it. */
bool mat_end(struct mat_stream *stream, struct failure *failure)
{
	unsigned char more;
	if (!stream->is_packed)
		return true;
	stream->is_ending = true;
	bool ok = unpack(stream, &more, 1, failure);
	inflateEnd(&stream->z);
	stream->is_ending = stream->is_packed = false;
	return ok && (fseeko(stream->in.file, stream->packed_left, SEEK_CUR) == 0 ||
		      fail_file(failure, stream->in.path, "cannot read:"));
}
