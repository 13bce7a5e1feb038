/* SPDX-License-Identifier: MIT
 *
 * The child's side of reading and writing HDF5: sending records, opening the file with plugins and external
 * links off, and telling which datasets are plain numbers stored in this file alone. */
#include "formats/hdf5_private.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define FILL_BYTES (1 << 20) /* what a dataset that was never written may have */
#define DEFLATION 1100

/* ---- Sending ------------------------------------------------------------------------ */

static void send_bytes(int pipe, const void *bytes, size_t n)
{
	const char *at = bytes;
	while (n > 0) {
		ssize_t sent = write(pipe, at, n);
		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			_exit(1);
		at += sent;
		n -= (size_t) sent;
	}
}

void child_send(struct hdf5_child *child, const struct record *record, const void *bytes)
{
	struct record sent = *record;
	sent.magic = HDF5_MAGIC;
	send_bytes(child->pipe, &sent, sizeof(sent));
	if (bytes)
		send_bytes(child->pipe, bytes, record->bytes);
}

static herr_t keep_innermost(unsigned n, const H5E_error2_t *entry, void *user)
{
	char *text = user;
	if (n == 0 && entry->desc)
		snprintf(text, NAME_BYTES, "%s", entry->desc);
	return 0;
}

void child_fail(struct hdf5_child *child, enum outcome outcome, const char *what, const char *reason)
{
	char words[NAME_BYTES] = "the HDF5 library gives no reason", text[2 * NAME_BYTES];
	if (!reason)
		H5Ewalk2(H5E_DEFAULT, H5E_WALK_UPWARD, keep_innermost, words);
	int n = snprintf(text, sizeof(text), "%s: %s", what, reason ? reason : words);
	size_t length = n < (int) sizeof(text) ? (size_t) n : sizeof(text) - 1;
	child_send(child, &(struct record){ .kind = RECORD_FAILURE, .shape = { outcome }, .bytes = length },
		   text);
	_exit(1);
}

void child_fail_system(struct hdf5_child *child, int error, const char *what, const char *damage)
{
	if (error == ENOMEM)
		child_fail(child, OUTCOME_RESOURCES, what, strerror(error));
	if (error == EIO || error == EACCES || error == EPERM || error == EMFILE || error == ENFILE || error == ESTALE)
		child_fail(child, OUTCOME_IO, what, strerror(error));
	child_fail(child, OUTCOME_DATA, what, damage);
}

static herr_t find_reason(unsigned n, const H5E_error2_t *entry, void *user)
{
	const char *reason = n == 0 && entry->desc ? strstr(entry->desc, "errno = ") : NULL;
	if (reason)
		sscanf(reason, "errno = %d", (int *) user);
	return 0;
}

/* Called by the library for each function of it that fails. What only fails to be there is for others to judge; what
 * the system refuses ends the work, whatever was asked for. */
static herr_t fail_by_system(hid_t stack, void *user)
{
	int error = 0;
	H5Ewalk2(stack, H5E_WALK_UPWARD, find_reason, &error);
	if (error)
		child_fail(user, OUTCOME_IO, "the system refuses it", strerror(error));
	return 0;
}

/* ---- Opening -------------------------------------------------------------------------- */

void child_listen(struct hdf5_child *child)
{
	H5Eset_auto2(H5E_DEFAULT, fail_by_system, child);
}

hid_t child_open(struct hdf5_child *child, unsigned access)
{
	child_listen(child);
	if (H5open() < 0 || H5PLset_loading_state(0) < 0 || H5Lunregister(H5L_TYPE_EXTERNAL) < 0)
		child_fail(child, OUTCOME_INTERNAL, "cannot start the HDF5 library", NULL);
	hid_t file = H5Fopen(child->path, access, H5P_DEFAULT);
	if (file < 0)
		child_fail(child, OUTCOME_DATA, "not an HDF5 file that can be opened", NULL);
	return file;
}

/* ---- Types ------------------------------------------------------------------------------ */

static hid_t integer_type(size_t size, bool is_signed, int32_t *type)
{
	switch (size) {
	case 1:
		*type = is_signed ? PMG_I8 : PMG_U8;
		return is_signed ? H5T_NATIVE_INT8 : H5T_NATIVE_UINT8;
	case 2:
		*type = is_signed ? PMG_I16 : PMG_U16;
		return is_signed ? H5T_NATIVE_INT16 : H5T_NATIVE_UINT16;
	case 4:
		*type = is_signed ? PMG_I32 : PMG_U32;
		return is_signed ? H5T_NATIVE_INT32 : H5T_NATIVE_UINT32;
	case 8:
		*type = PMG_I64;
		return is_signed ? H5T_NATIVE_INT64 : H5T_NATIVE_UINT64;
	default:
		return H5I_INVALID_HID;
	}
}

static hid_t float_type(size_t size, int32_t *type)
{
	*type = size == 8 ? PMG_F64 : PMG_F32;
	if (size == 8)
		return H5T_NATIVE_DOUBLE;
	return size == 4 || size == 2 ? H5T_NATIVE_FLOAT : H5I_INVALID_HID;
}

/* The enumeration FALSE = 0, TRUE = 1 of one byte, as others write it for bools. */
static hid_t bool_type(hid_t stored, int32_t *type)
{
	signed char no = 1, yes = 0;
	*type = PMG_BOOL;
	if (H5Tget_size(stored) != 1 || H5Tget_nmembers(stored) != 2 ||
	    H5Tenum_valueof(stored, "FALSE", &no) < 0 || H5Tenum_valueof(stored, "TRUE", &yes) < 0 ||
	    no != 0 || yes != 1)
		return H5I_INVALID_HID;
	return H5Tcopy(stored);
}

static hid_t memory_type(hid_t set, int32_t *type)
{
	hid_t stored = H5Dget_type(set), memory = H5I_INVALID_HID;
	H5T_class_t class = H5Tget_class(stored);
	if (class == H5T_INTEGER)
		memory = integer_type(H5Tget_size(stored), H5Tget_sign(stored) == H5T_SGN_2, type);
	else if (class == H5T_FLOAT)
		memory = float_type(H5Tget_size(stored), type);
	else if (class == H5T_ENUM)
		memory = bool_type(stored, type);
	H5Tclose(stored);
	return memory;
}

/* ---- Storage ------------------------------------------------------------------------------- */

/* NULL, or why the filters are not accepted. */
static const char *check_filters(hid_t properties, bool *is_deflated)
{
	int n = H5Pget_nfilters(properties);
	*is_deflated = false;
	for (int i = 0; i < n; i++) {
		unsigned flags, config;
		size_t n_values = 0;
		H5Z_filter_t filter =
			H5Pget_filter2(properties, (unsigned) i, &flags, &n_values, NULL, 0, NULL, &config);
		*is_deflated |= filter == H5Z_FILTER_DEFLATE;
		if (filter != H5Z_FILTER_DEFLATE && filter != H5Z_FILTER_SHUFFLE)
			return "it has a filter other than deflate and shuffle";
	}
	return NULL;
}

static const char *check_layout(hid_t properties, bool *is_deflated)
{
	H5D_layout_t layout = H5Pget_layout(properties);
	*is_deflated = false;
	if (layout == H5D_VIRTUAL)
		return "it is a virtual dataset, whose numbers are in other files";
	if (layout != H5D_COMPACT && layout != H5D_CONTIGUOUS && layout != H5D_CHUNKED)
		return "its layout is unknown";
	if (H5Pget_external_count(properties) != 0)
		return "its numbers are in another file";
	return check_filters(properties, is_deflated);
}

static const char *check_storage(hid_t set, uint64_t bytes, int64_t file_size)
{
	bool is_deflated;
	hid_t properties = H5Dget_create_plist(set);
	const char *reason = check_layout(properties, &is_deflated);
	uint64_t stored = H5Dget_storage_size(set),
		 most = FILL_BYTES + (is_deflated ? DEFLATION : 1) * stored;
	H5Pclose(properties);
	if (reason)
		return reason;
	return bytes > most || stored > (uint64_t) file_size
		       ? "its shape is more than what the file stores of it"
		       : NULL;
}

/* ---- Describing ------------------------------------------------------------------------------- */

static const char *describe_shape(hid_t set, struct record *record)
{
	hsize_t shape[H5S_MAX_RANK];
	hid_t space = H5Dget_space(set);
	int rank = H5Sget_simple_extent_type(space) == H5S_NULL ? -1 : H5Sget_simple_extent_ndims(space);
	bool ok = rank >= 0 && rank <= PMG_MAX_RANK && H5Sget_simple_extent_dims(space, shape, NULL) >= 0;
	H5Sclose(space);
	record->rank = ok ? rank : 0;
	for (int d = 0; ok && d < rank; d++) {
		ok = shape[d] <= INT64_MAX;
		record->shape[d] = (int64_t) shape[d];
	}
	return ok ? NULL : "it has no shape, or more dimensions than we take";
}

static const char *describe_dataset(hid_t set, int64_t file_size, struct record *record)
{
	size_t bytes;
	const char *reason = describe_shape(set, record);
	if (reason)
		return reason;
	if (memory_type(set, &record->type) < 0)
		return "its elements are not integers, floats or bools";
	if (!shape_bytes(record->rank, record->shape, pmg_type_size((pmg_type) record->type), &bytes))
		return "its shape is too large";
	return check_storage(set, bytes, file_size);
}

/* "little-endian, chunked, deflate" */
static void describe_storage(hid_t set, char *note, size_t size)
{
	bool is_deflated;
	hid_t stored = H5Dget_type(set), properties = H5Dget_create_plist(set);
	H5T_order_t order = H5Tget_order(stored);
	H5D_layout_t layout = H5Pget_layout(properties);
	check_filters(properties, &is_deflated);
	snprintf(note, size, "%s%s%s",
		 order == H5T_ORDER_BE   ? "big-endian"
		 : order == H5T_ORDER_LE ? "little-endian"
					 : "bytes",
		 layout == H5D_CHUNKED ? ", chunked" : "", is_deflated ? ", deflate" : "");
	H5Pclose(properties);
	H5Tclose(stored);
}

static int64_t size_of_file(hid_t object)
{
	hsize_t size = 0;
	hid_t file = H5Iget_file_id(object);
	H5Fget_filesize(file, &size);
	H5Fclose(file);
	return (int64_t) size;
}

void object_describe(hid_t object, const char *name, struct record *record)
{
	*record = (struct record){ .kind = RECORD_ENTRY };
	snprintf(record->name, sizeof(record->name), "%s", name);
	H5I_type_t type = H5Iget_type(object);
	const char *reason = "neither a group nor a dataset";
	if (type == H5I_GROUP) {
		reason = "a group";
		record->kind = RECORD_GROUP;
	} else if (type == H5I_DATASET) {
		reason = describe_dataset(object, size_of_file(object), record);
		record->kind = reason ? RECORD_ENTRY : RECORD_ARRAY;
	}
	if (reason)
		snprintf(record->note, sizeof(record->note), "%s", reason);
	else
		describe_storage(object, record->note, sizeof(record->note));
	record->type = record->kind == RECORD_ARRAY ? record->type : 0;
}

hid_t dataset_memory_type(hid_t set, struct record *record)
{
	return memory_type(set, &record->type);
}
