/* SPDX-License-Identifier: MIT
 *
 * NumPy's .npy, versions 1 to 3: a magic, the length of a header, the header (the text of a Python
 * dictionary with the keys descr, fortran_order and shape), the elements. Either byte order, either order
 * of dimensions. Half precision becomes f32, and uint64 i64 where it fits; complex numbers, texts and
 * records are refused. */
#include "formats/streams.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#define MAGIC "\x93NUMPY"
#define MAGIC_BYTES 6
#define HEADER_BYTES 65536
#define ALIGNMENT 64

struct npy_header {
	pmg_type type;
	bool is_swapped, is_columns, is_half, is_u64;
	int rank;
	int64_t shape[PMG_MAX_RANK];
};

/* ---- The header's text ----------------------------------------------------------- */

/* What follows "'key':" in the dictionary; NULL: nothing. */
static const char *find_key(const char *header, const char *key)
{
	char quoted[32];
	for (int style = 0; style < 2; style++) {
		snprintf(quoted, sizeof(quoted), style ? "\"%s\"" : "'%s'", key);
		const char *found = strstr(header, quoted);
		if (!found)
			continue;
		found += strlen(quoted);
		found += strspn(found, " \t\n");
		if (*found == ':')
			return found + 1 + strspn(found + 1, " \t\n");
	}
	return NULL;
}

static bool parse_kind(const char *code, struct npy_header *header)
{
	static const struct {
		const char *code;
		pmg_type type;
	} kinds[] = {
		{ "f4", PMG_F32 }, { "f8", PMG_F64 },  { "i1", PMG_I8 },  { "i2", PMG_I16 },
		{ "i4", PMG_I32 }, { "i8", PMG_I64 },  { "u1", PMG_U8 },  { "u2", PMG_U16 },
		{ "u4", PMG_U32 }, { "b1", PMG_BOOL }, { "f2", PMG_U16 }, { "u8", PMG_I64 },
	};
	header->is_half = strncmp(code, "f2", 2) == 0;
	header->is_u64 = strncmp(code, "u8", 2) == 0;
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		header->type = kinds[i].type;
		if (strncmp(code, kinds[i].code, 2) == 0)
			return true;
	}
	return false;
}

static bool parse_descr(const char *text, struct npy_header *header)
{
	if (!text || (*text != '\'' && *text != '"') || !strchr("<>|=", text[1]) || !text[1])
		return false;
	bool is_little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
	header->is_swapped = text[1] == (is_little ? '>' : '<');
	return parse_kind(text + 2, header) && text[4] == text[0];
}

static bool parse_shape(const char *text, struct npy_header *header)
{
	if (!text || *text != '(')
		return false;
	for (text++; *text != ')'; text += strspn(text, " ,\n")) {
		int64_t extent = 0;
		int digits = 0;
		for (; isdigit((unsigned char) *text) && digits < 18; digits++)
			extent = 10 * extent + *text++ - '0';
		if (digits == 0 || header->rank == PMG_MAX_RANK || !strchr(" ,)\n", *text))
			return false;
		header->shape[header->rank++] = extent;
	}
	return true;
}

/* The code without what follows it in the header; of a record, no code. */
static bool unknown_type(const char *path, const char *descr, struct failure *failure)
{
	static const struct {
		char kind;
		const char *text;
	} kinds[] = { { 'c', "complex numbers" }, { 'O', "Python objects" }, { 'U', "texts" },
		      { 'S', "texts" },           { 'M', "times" },          { 'm', "durations" } };
	char code[24], shown[100];
	const char *what = *descr == '[' ? "records" : "of an unknown type";
	size_t length = *descr == '[' || !*descr ? 0 : strcspn(descr + 1, "'\"");
	snprintf(code, sizeof(code), "%.*s", (int) (length < 20 ? length : 20), descr + 1);
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (length > 1 && code[1] == kinds[i].kind)
			what = kinds[i].text;
	return fail_file(failure, path, "the elements are %s%s%s%s; integers, floats and bools are supported",
			 what, length ? " ('" : "", printable(code, shown, sizeof(shown)), length ? "')" : "");
}

static bool parse_header(const char *path, const char *text, struct npy_header *header,
			 struct failure *failure)
{
	const char *descr = find_key(text, "descr"), *order = find_key(text, "fortran_order");
	if (!descr || !order)
		return fail_file(failure, path, "the header has no 'descr' or no 'fortran_order'");
	if (!parse_descr(descr, header))
		return unknown_type(path, descr, failure);
	if (strncmp(order, "True", 4) != 0 && strncmp(order, "False", 5) != 0)
		return fail_file(failure, path, "'fortran_order' is neither True nor False");
	header->is_columns = *order == 'T';
	if (!parse_shape(find_key(text, "shape"), header))
		return fail_file(failure, path, "the header has no valid 'shape' of at most %d dimensions",
				 PMG_MAX_RANK);
	return true;
}

/* ---- Reading ------------------------------------------------------------------------ */

static bool read_header(struct binary_input *in, struct npy_header *header, struct failure *failure)
{
	unsigned char start[12];
	char text[HEADER_BYTES + 1];
	if (!binary_read(in, start, MAGIC_BYTES + 2, "the header", failure))
		return false;
	if (memcmp(start, MAGIC, MAGIC_BYTES) != 0 || start[6] < 1 || start[6] > 3)
		return fail_file(failure, in->path, "not a .npy file of version 1, 2 or 3");
	size_t length_bytes = start[6] == 1 ? 2 : 4, length = 0;
	if (!binary_read(in, start + 8, length_bytes, "the header", failure))
		return false;
	for (size_t b = 0; b < length_bytes; b++)
		length |= (size_t) start[8 + b] << (8 * b);
	if (length > HEADER_BYTES || (int64_t) length > binary_left(in))
		return fail_file(failure, in->path, "a header of %zu bytes in a file of %" PRId64, length,
				 in->size);
	if (!binary_read(in, text, length, "the header", failure))
		return false;
	text[length] = '\0';
	return parse_header(in->path, text, header, failure);
}

static float half_to_float(uint16_t half)
{
	int exponent = half >> 10 & 31, fraction = half & 1023;
	float magnitude;
	if (exponent == 31)
		magnitude = fraction ? NAN : INFINITY;
	else
		magnitude = ldexpf((float) (exponent ? fraction + 1024 : fraction),
				   (exponent ? exponent : 1) - 25);
	return half & 0x8000 ? -magnitude : magnitude;
}

static bool widen_halves(struct ndarray *array, struct failure *failure)
{
	struct ndarray wide;
	if (!ndarray_new(&wide, PMG_F32, array->rank, array->shape, failure))
		return false;
	for (int64_t i = ndarray_count(array) - 1; i >= 0; i--)
		((float *) wide.data)[i] = half_to_float(((const uint16_t *) array->data)[i]);
	ndarray_free(array);
	*array = wide;
	return true;
}

static bool check_u64(const char *path, const struct ndarray *array, struct failure *failure)
{
	char place[200];
	for (int64_t i = 0; i < ndarray_count(array); i++)
		if (ndarray_integer(array, i) < 0)
			return fail_file(failure, path, "the value at %s is above 2^63 - 1",
					 position_text(array, i, place, sizeof(place)));
	return true;
}

static bool read_elements(struct binary_input *in, const struct npy_header *header, struct ndarray *array,
			  struct failure *failure)
{
	size_t bytes;
	char shape[200];
	extents_text(header->rank, header->shape, shape, sizeof(shape));
	if (!shape_bytes(header->rank, header->shape, pmg_type_size(header->type), &bytes) ||
	    bytes != (size_t) binary_left(in))
		return fail_file(failure, in->path,
				 "the header at byte %ld says shape %s of %s, but %" PRId64
				 " bytes follow it",
				 ftell(in->file), shape, pmg_type_name(header->type), binary_left(in));
	if (!ndarray_new(array, header->type, header->rank, header->shape, failure) ||
	    !binary_read(in, array->data, bytes, "the elements", failure))
		return false;
	if (header->is_swapped)
		ndarray_swap_bytes(array);
	if (header->is_u64 && !check_u64(in->path, array, failure))
		return false;
	if (header->is_half && !widen_halves(array, failure))
		return false;
	return !header->is_columns || ndarray_from_columns(array, failure);
}

bool npy_take(struct binary_input *in, struct member *member, struct failure *failure)
{
	struct npy_header header = { 0 };
	bool ok = read_header(in, &header, failure) && read_elements(in, &header, &member->array, failure);
	bool is_little = header.is_swapped != (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__);
	snprintf(member->storage, sizeof(member->storage), "%s-endian, %s-major%s",
		 is_little ? "little" : "big", header.is_columns ? "column" : "row",
		 header.is_half ? ", half precision" : "");
	return ok;
}

bool npy_read(const struct location *location, const struct wish *wish, struct content *content,
	      struct failure *failure)
{
	struct binary_input in;
	(void) wish;
	content->kind = CONTENT_ARRAY;
	struct member *member = content_add(content, "", failure);
	if (!member || !binary_open(&in, location->path, failure))
		return false;
	bool ok = npy_take(&in, member, failure);
	binary_close(&in);
	return ok;
}

/* ---- Writing --------------------------------------------------------------------------- */

static const char *code_of(pmg_type type)
{
	static const char *const codes[] = {
		[PMG_F32] = "<f4", [PMG_F64] = "<f8",  [PMG_I8] = "|i1", [PMG_I16] = "<i2",
		[PMG_I32] = "<i4", [PMG_I64] = "<i8",  [PMG_U8] = "|u1", [PMG_U16] = "<u2",
		[PMG_U32] = "<u4", [PMG_BOOL] = "|b1",
	};
	return codes[type];
}

static size_t header_text(const struct ndarray *array, char *text, size_t size)
{
	size_t used = (size_t) snprintf(text, size, "{'descr': '%s', 'fortran_order': False, 'shape': (",
					code_of(array->type));
	for (int d = 0; d < array->rank; d++)
		used += (size_t) snprintf(text + used, size - used, "%" PRId64 "%s", array->shape[d],
					  d + 1 < array->rank ? ", "
					  : array->rank == 1  ? ","
							      : "");
	used += (size_t) snprintf(text + used, size - used, "), }");
	while ((MAGIC_BYTES + 4 + used + 1) % ALIGNMENT)
		text[used++] = ' ';
	text[used++] = '\n';
	return used;
}

bool npy_write(const struct location *location, const struct content *content, struct failure *failure)
{
	struct output out;
	char text[1024];
	const struct ndarray *array = &content->members[0].array;
	size_t length = header_text(array, text, sizeof(text) - ALIGNMENT);
	const unsigned char sizes[4] = { 1, 0, (unsigned char) (length & 255),
					 (unsigned char) (length >> 8) };
	if (!output_open(&out, location->path, failure))
		return false;
	fwrite(MAGIC, 1, MAGIC_BYTES, out.file);
	fwrite(sizes, 1, sizeof(sizes), out.file);
	fwrite(text, 1, length, out.file);
	fwrite(array->data, 1, ndarray_bytes(array), out.file);
	return output_close(&out, true, failure);
}
