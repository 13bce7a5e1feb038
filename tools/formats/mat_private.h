/* SPDX-License-Identifier: MIT
 *
 * MATLAB's files of versions 5 and 7: elements, each a type, a size and that many bytes, aligned to 8; a variable is
 * an element made of such elements, perhaps packed by zlib. mat5_stream.c gives the bytes of one variable, mat5.c what
 * they mean. */
#ifndef TOOLS_FORMATS_MAT_PRIVATE_H
#define TOOLS_FORMATS_MAT_PRIVATE_H

#include "formats/streams.h"

enum mat_type {
	MI_INT8 = 1,
	MI_UINT8,
	MI_INT16,
	MI_UINT16,
	MI_INT32,
	MI_UINT32,
	MI_SINGLE,
	MI_DOUBLE = 9,
	MI_INT64 = 12,
	MI_UINT64,
	MI_MATRIX,
	MI_COMPRESSED,
	MI_UTF8
};

struct mat_stream {
	struct binary_input in;
	bool is_swapped, is_packed, is_ending;
	int64_t begin;       /* where in the file the variable begins */
	int64_t at;          /* bytes of it that were read, unpacked */
	int64_t packed_left; /* bytes of the file that are not read yet */
	z_stream z;
	unsigned char packed[1 << 14];
};

/* The type and the size of an element; those of at most 4 bytes may have them beside it. */
struct mat_tag {
	uint32_t type;
	int64_t size;
	bool is_small;
	unsigned char small[4];
};

/* ---- mat5_stream.c -------------------------------------------------------------------- */

/* Opens the file behind its header; swapped numbers are known from that. */
bool mat_open(struct mat_stream *stream, const char *path, struct failure *failure);
void mat_close(struct mat_stream *stream);
/* 1: `size` bytes of the next variable follow, as far as is known; 0: the file ends; -1: a failure. */
int mat_next(struct mat_stream *stream, int64_t *size, struct failure *failure);
/* Behind a variable all of which was read. */
bool mat_end(struct mat_stream *stream, struct failure *failure);
/* Elements lie in a container, of which `left` bytes are left. */
bool mat_tag(struct mat_stream *stream, int64_t *left, struct mat_tag *tag, struct failure *failure);
/* The bytes of an element, and what aligns it; `bytes` NULL: passed over. */
bool mat_bytes(struct mat_stream *stream, int64_t *left, const struct mat_tag *tag, void *bytes,
	       struct failure *failure);
bool mat_skip(struct mat_stream *stream, int64_t n, struct failure *failure);
bool mat_fail(struct mat_stream *stream, struct failure *failure, const char *format, ...) PRINTF_LIKE(3, 4);

/* ---- mat5.c -------------------------------------------------------------------------------- */

bool mat5_read(const struct location *location, const struct wish *wish, struct content *content,
	       struct failure *failure);
bool mat5_list(const char *path, void (*visit)(const struct tree_entry *entry, void *user), void *user,
	       struct failure *failure);

#endif
