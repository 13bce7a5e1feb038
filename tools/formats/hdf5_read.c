/* SPDX-License-Identifier: MIT
 *
 * Reading HDF5. In the child: finds the object that is wanted and sends it, a dataset in pieces of whole
 * rows, a group as the datasets in it; with their integer attributes. In the parent: makes a content of it.
 * */
#include "formats/hdf5_private.h"

#include <stdlib.h>
#include <string.h>

#define MAX_MEMBERS 1024
#define MAX_DEPTH 16
#define MAX_ENTRIES 4096

struct read_request {
	const char *inner;       /* NULL: not said */
	const struct wish *wish; /* NULL: all */
};

/* ---- Sending a dataset -------------------------------------------------------------- */

static bool fits_signed(const uint64_t *values, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (values[i] > INT64_MAX)
			return false;
	return true;
}

/* Rows in a piece: whole chunks, about HDF5_PIECE_BYTES. */
static int64_t rows_in_piece(hid_t set, const struct record *record, size_t row_bytes)
{
	hsize_t chunk[H5S_MAX_RANK] = { 1 };
	hid_t properties = H5Dget_create_plist(set);
	if (H5Pget_layout(properties) == H5D_CHUNKED)
		H5Pget_chunk(properties, H5S_MAX_RANK, chunk);
	H5Pclose(properties);
	int64_t unit = chunk[0] < (hsize_t) record->shape[0] ? (int64_t) chunk[0] : record->shape[0];
	int64_t rows = (int64_t) (HDF5_PIECE_BYTES / (row_bytes ? row_bytes : 1));
	rows = rows > unit ? rows - rows % unit : unit;
	return rows < record->shape[0] ? rows : record->shape[0];
}

static bool read_rows(hid_t set, hid_t memory, const struct record *record, int64_t first, int64_t rows,
		      void *piece)
{
	hsize_t start[PMG_MAX_RANK] = { (hsize_t) first }, count[PMG_MAX_RANK];
	for (int d = 0; d < record->rank; d++)
		count[d] = (hsize_t) (d == 0 ? rows : record->shape[d]);
	hid_t in_file = H5Dget_space(set), in_memory = H5Screate_simple(record->rank, count, NULL);
	bool ok = H5Sselect_hyperslab(in_file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
		  H5Dread(set, memory, in_memory, in_file, H5P_DEFAULT, piece) >= 0;
	H5Sclose(in_file);
	H5Sclose(in_memory);
	return ok;
}

static void send_piece(struct hdf5_child *child, hid_t memory, const char *name, const void *piece,
		       size_t bytes)
{
	if (H5Tequal(memory, H5T_NATIVE_UINT64) > 0 && !fits_signed(piece, bytes / sizeof(uint64_t)))
		child_fail(child, OUTCOME_DATA, name, "it has values above 2^63 - 1");
	child_send(child, &(struct record){ .kind = RECORD_DATA, .bytes = bytes }, piece);
}

static void send_rows(struct hdf5_child *child, hid_t set, hid_t memory, const struct record *record)
{
	size_t row_bytes;
	shape_bytes(record->rank - 1, record->shape + 1, pmg_type_size((pmg_type) record->type), &row_bytes);
	int64_t rows = rows_in_piece(set, record, row_bytes);
	void *piece = malloc((size_t) rows * row_bytes);
	if (!piece)
		child_fail(child, OUTCOME_RESOURCES, record->name,
			   "it needs more memory than its file is allowed");
	for (int64_t first = 0; first < record->shape[0]; first += rows) {
		int64_t n = record->shape[0] - first < rows ? record->shape[0] - first : rows;
		if (!read_rows(set, memory, record, first, n, piece))
			child_fail(child, OUTCOME_DATA, record->name, NULL);
		send_piece(child, memory, record->name, piece, (size_t) n * row_bytes);
	}
	free(piece);
}

static void send_dataset(struct hdf5_child *child, hid_t set, struct record *record)
{
	size_t bytes;
	unsigned char scalar[sizeof(double)];
	hid_t memory = dataset_memory_type(set, record);
	child_send(child, record, NULL);
	shape_bytes(record->rank, record->shape, pmg_type_size((pmg_type) record->type), &bytes);
	if (record->rank == 0) {
		if (H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, scalar) < 0)
			child_fail(child, OUTCOME_DATA, record->name, NULL);
		send_piece(child, memory, record->name, scalar, bytes);
	} else if (bytes > 0) {
		send_rows(child, set, memory, record);
	}
}

/* ---- Sending attributes ------------------------------------------------------------------ */

/* An integer, or a list of at most as many as an array has dimensions as NAME.0, NAME.1, … */
static void send_attribute(struct hdf5_child *child, hid_t attribute)
{
	int64_t values[PMG_MAX_RANK] = { 0 };
	char name[NAME_BYTES - 8] = "";
	hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
	hssize_t n = H5Sget_simple_extent_npoints(space);
	bool is_list = H5Sget_simple_extent_ndims(space) > 0;
	bool ok = H5Tget_class(type) == H5T_INTEGER && n > 0 && n <= PMG_MAX_RANK &&
		  H5Aget_name(attribute, sizeof(name), name) > 0 &&
		  H5Aread(attribute, H5T_NATIVE_INT64, values) >= 0;
	for (int i = 0; ok && i < n; i++) {
		struct record record = { .kind = RECORD_ATTRIBUTE, .shape = { values[i] } };
		snprintf(record.name, sizeof(record.name), is_list ? "%s.%d" : "%s", name, i);
		child_send(child, &record, NULL);
	}
	H5Tclose(type);
	H5Sclose(space);
}

static void send_attributes(struct hdf5_child *child, hid_t object)
{
	for (int i = 0; i < PMG_MAX_RANK * PMG_MAX_RANK; i++) {
		hid_t attribute = H5Aopen_by_idx(object, ".", H5_INDEX_NAME, H5_ITER_INC, (hsize_t) i,
						 H5P_DEFAULT, H5P_DEFAULT);
		if (attribute < 0)
			return;
		send_attribute(child, attribute);
		H5Aclose(attribute);
	}
}

/* ---- Finding ------------------------------------------------------------------------------- */

static bool is_there(hid_t group, const char *name)
{
	return name && H5Lexists(group, name, H5P_DEFAULT) > 0;
}

static bool has_wishes(hid_t group, const struct wish *wish)
{
	for (int i = 0; i < wish->n_names; i++)
		if (!is_there(group, wish->names[i]))
			return false;
	return wish->n_names > 0;
}

/* The name of link "i"; false when there are no more. */
static bool link_name(hid_t group, int i, char *name)
{
	ssize_t length = H5Lget_name_by_idx(group, ".", H5_INDEX_NAME, H5_ITER_INC, (hsize_t) i, name,
					    NAME_BYTES, H5P_DEFAULT);
	return length > 0 && length < NAME_BYTES;
}

static bool is_dataset(hid_t group, const char *name)
{
	hid_t object = H5Oopen(group, name, H5P_DEFAULT);
	bool result = object >= 0 && H5Iget_type(object) == H5I_DATASET;
	H5Oclose(object);
	return result;
}

static bool only_dataset(hid_t group, char *name)
{
	char other[NAME_BYTES];
	return link_name(group, 0, name) && !link_name(group, 1, other) && is_dataset(group, name);
}

static hid_t open_wanted(struct hdf5_child *child, hid_t file, const struct read_request *request)
{
	char name[NAME_BYTES];
	const struct wish *wish = request->wish;
	const char *inner = request->inner;
	if (!inner || !*inner) {
		inner = "/";
		if (wish && is_there(file, wish->name))
			inner = wish->name;
		else if (!(wish && has_wishes(file, wish)) && only_dataset(file, name))
			inner = name;
	}
	hid_t object = H5Oopen(file, inner, H5P_DEFAULT);
	if (object < 0)
		child_fail(child, OUTCOME_DATA, inner,
			   "there is no such object in the file, or it lies in another one "
			   "('pmg inspect' lists what there is)");
	return object;
}

/* A member that is wished for by name must be readable, others are left out. */
static void send_member(struct hdf5_child *child, hid_t group, const char *name, bool is_needed)
{
	struct record record;
	hid_t object = H5Oopen(group, name, H5P_DEFAULT);
	if (object < 0)
		return;
	object_describe(object, name, &record);
	if (record.kind == RECORD_ARRAY)
		send_dataset(child, object, &record);
	else if (is_needed)
		child_fail(child, OUTCOME_DATA, name, record.note);
	H5Oclose(object);
}

static void send_group(struct hdf5_child *child, hid_t group, const struct wish *wish)
{
	char name[NAME_BYTES];
	for (int i = 0; i < MAX_MEMBERS && link_name(group, i, name); i++)
		if (wish_takes(wish, name))
			send_member(child, group, name, wish_names(wish, name));
}

static void send_wanted(struct hdf5_child *child)
{
	const struct read_request *request = child->request;
	struct record record;
	char name[NAME_BYTES] = "/";
	hid_t file = child_open(child, H5F_ACC_RDONLY), object = open_wanted(child, file, request);
	H5Iget_name(object, name, sizeof(name));
	object_describe(object, request->inner ? request->inner : name, &record);
	if (record.kind == RECORD_ENTRY)
		child_fail(child, OUTCOME_DATA, record.name, record.note);
	if (record.kind == RECORD_GROUP)
		child_send(child, &record, NULL);
	send_attributes(child, object);
	if (record.kind == RECORD_GROUP)
		send_group(child, object, request->wish);
	else
		send_dataset(child, object, &record);
}

/* ---- The parent ------------------------------------------------------------------------------- */

static bool accept_content(struct hdf5_parent *parent, const struct record *record, struct failure *failure)
{
	struct content *content = parent->user;
	char name[NAME_BYTES];
	if (record->kind == RECORD_GROUP)
		content->kind = CONTENT_GROUP;
	if (record->kind == RECORD_ATTRIBUTE)
		return content_add_attribute(content, record->name, record->shape[0], failure);
	if (!*content->inner)
		snprintf(content->inner, sizeof(content->inner), "%s", record->name);
	if (record->kind != RECORD_ARRAY)
		return true;
	struct member *member = content_add(content, printable(record->name, name, sizeof(name)), failure);
	if (member)
		snprintf(member->storage, sizeof(member->storage), "%.60s", record->note);
	return member && hdf5_receive(parent, record, &member->array, failure);
}

bool hdf5_read(const struct location *location, const struct wish *wish, struct content *content,
	       struct failure *failure)
{
	struct read_request request = { .inner = location->inner, .wish = wish };
	struct hdf5_child child = {
		.path = location->path, .is_limited = true, .work = send_wanted, .request = &request
	};
	struct hdf5_parent parent = { .accept = accept_content, .user = content };
	content->kind = CONTENT_ARRAY;
	return hdf5_run(&child, &parent, failure);
}

/* ---- Listing ---------------------------------------------------------------------------------- */

static int send_entries(struct hdf5_child *child, hid_t group, const char *path, int depth, int left);

/* Sends one link and what is below it; the number of entries that may still be sent. */
static int send_entry(struct hdf5_child *child, hid_t group, const char *path, const char *name, int depth,
		      int left)
{
	struct record record = { .kind = RECORD_ENTRY };
	H5L_info_t link;
	char full[NAME_BYTES];
	snprintf(full, sizeof(full), "%.120s/%.120s", path, name);
	if (H5Lget_info(group, name, &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD) {
		snprintf(record.name, sizeof(record.name), "%s", full);
		snprintf(record.note, sizeof(record.note), "a link, not followed");
		child_send(child, &record, NULL);
		return left - 1;
	}
	hid_t object = H5Oopen(group, name, H5P_DEFAULT);
	object_describe(object, full, &record);
	child_send(child, &record, NULL);
	left--;
	if (record.kind == RECORD_GROUP && depth < MAX_DEPTH)
		left = send_entries(child, object, full, depth + 1, left);
	H5Oclose(object);
	return left;
}

static int send_entries(struct hdf5_child *child, hid_t group, const char *path, int depth, int left)
{
	char name[NAME_BYTES];
	for (int i = 0; left > 0 && link_name(group, i, name); i++)
		left = send_entry(child, group, path, name, depth, left);
	return left;
}

static void send_list(struct hdf5_child *child)
{
	hid_t file = child_open(child, H5F_ACC_RDONLY), root = H5Oopen(file, "/", H5P_DEFAULT);
	send_entries(child, root, "", 0, MAX_ENTRIES);
}

struct list_request {
	void (*visit)(const struct tree_entry *entry, void *user);
	void *user;
};

static bool accept_entry(struct hdf5_parent *parent, const struct record *record, struct failure *failure)
{
	const struct list_request *request = parent->user;
	char name[2 * NAME_BYTES];
	struct tree_entry entry = { .path = printable(record->name, name, sizeof(name)),
				    .note = record->note,
				    .is_array = record->kind == RECORD_ARRAY,
				    .type = (pmg_type) record->type,
				    .rank = record->rank };
	(void) failure;
	memcpy(entry.shape, record->shape, sizeof(entry.shape));
	request->visit(&entry, request->user);
	return true;
}

bool hdf5_list(const char *path, void (*visit)(const struct tree_entry *entry, void *user), void *user,
	       struct failure *failure)
{
	struct list_request request = { .visit = visit, .user = user };
	struct hdf5_child child = { .path = path, .is_limited = true, .work = send_list };
	struct hdf5_parent parent = { .accept = accept_entry, .user = &request };
	return hdf5_run(&child, &parent, failure);
}
