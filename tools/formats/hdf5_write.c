/* SPDX-License-Identifier: MIT
 *
 * Writing HDF5: the file that is there, or an empty one, is copied beside its name; a child opens the copy,
 * replaces the one object that is written, and only then the copy gets the name. Without times, so that
 * equal data are equal files. A tensor is a group of its members with the attributes `shape` and
 * `index_base`. */
#include "formats/hdf5_private.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct write_request {
	const char *inner;
	const struct content *content;
};

struct room_request {
	const char *inner;
	bool is_array;
	enum force force;
};

static const char *inner_of(const struct location *location, bool is_array)
{
	if (location->inner && *location->inner)
		return location->inner;
	return is_array ? "/data" : "/";
}

/* ---- In the child ---------------------------------------------------------------------- */

static hid_t memory_type(pmg_type type)
{
	switch (type) {
	case PMG_F32:
		return H5T_NATIVE_FLOAT;
	case PMG_F64:
		return H5T_NATIVE_DOUBLE;
	case PMG_I8:
		return H5T_NATIVE_INT8;
	case PMG_I16:
		return H5T_NATIVE_INT16;
	case PMG_I32:
		return H5T_NATIVE_INT32;
	case PMG_I64:
		return H5T_NATIVE_INT64;
	case PMG_U8:
		return H5T_NATIVE_UINT8;
	case PMG_U16:
		return H5T_NATIVE_UINT16;
	case PMG_U32:
		return H5T_NATIVE_UINT32;
	case PMG_BOOL:
		break;
	}
	hid_t values = H5Tenum_create(H5T_NATIVE_INT8);
	H5Tenum_insert(values, "FALSE", &(signed char){ 0 });
	H5Tenum_insert(values, "TRUE", &(signed char){ 1 });
	return values;
}

static hid_t without_times(hid_t class)
{
	hid_t properties = H5Pcreate(class);
	H5Pset_obj_track_times(properties, false);
	return properties;
}

static bool remove_old(hid_t parent, const char *name)
{
	return H5Lexists(parent, name, H5P_DEFAULT) <= 0 || H5Ldelete(parent, name, H5P_DEFAULT) >= 0;
}

static bool put_array(hid_t parent, const char *name, const struct ndarray *array)
{
	hsize_t shape[PMG_MAX_RANK] = { 0 };
	for (int d = 0; d < array->rank; d++)
		shape[d] = (hsize_t) array->shape[d];
	if (!remove_old(parent, name))
		return false;
	hid_t type = memory_type(array->type), properties = without_times(H5P_DATASET_CREATE);
	hid_t links = H5Pcreate(H5P_LINK_CREATE);
	hid_t space = array->rank ? H5Screate_simple(array->rank, shape, NULL) : H5Screate(H5S_SCALAR);
	H5Pset_create_intermediate_group(links, 1);
	hid_t set = H5Dcreate2(parent, name, type, space, links, properties, H5P_DEFAULT);
	return set >= 0 && H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, array->data) >= 0 &&
	       H5Dclose(set) >= 0;
}

static bool put_integers(hid_t object, const char *name, int n, const int64_t *values)
{
	hid_t space = n == 1 ? H5Screate(H5S_SCALAR) : H5Screate_simple(1, &(hsize_t){ (hsize_t) n }, NULL);
	if (H5Aexists(object, name) > 0)
		H5Adelete(object, name);
	hid_t attribute = H5Acreate2(object, name, H5T_STD_I64LE, space, H5P_DEFAULT, H5P_DEFAULT);
	return attribute >= 0 && H5Awrite(attribute, H5T_NATIVE_INT64, values) >= 0 &&
	       H5Aclose(attribute) >= 0;
}

/* `shape` only where the sizes are known: the largest coordinate says little. */
static bool put_tensor_sizes(hid_t group, const struct content *tensor)
{
	int n_modes = tensor->n_members - 1;
	bool is_stated = true;
	for (int m = 0; m < n_modes; m++)
		is_stated = is_stated && tensor->sizes[m] >= 0;
	return (!is_stated || put_integers(group, "shape", n_modes, tensor->sizes)) &&
	       put_integers(group, "index_base", 1, &(int64_t){ 0 });
}

/* The root stays what it is, another group is made anew. */
static hid_t make_group(hid_t file, const char *name)
{
	hid_t links = H5Pcreate(H5P_LINK_CREATE);
	H5Pset_create_intermediate_group(links, 1);
	if (strcmp(name, "/") == 0)
		return H5Gopen2(file, "/", H5P_DEFAULT);
	if (!remove_old(file, name))
		return H5I_INVALID_HID;
	return H5Gcreate2(file, name, links, without_times(H5P_GROUP_CREATE), H5P_DEFAULT);
}

static bool put_group(hid_t file, const char *name, const struct content *content)
{
	hid_t group = make_group(file, name);
	bool ok = group >= 0;
	for (int i = 0; ok && i < content->n_members; i++) {
		char numbered[32];
		const struct member *member = &content->members[i];
		snprintf(numbered, sizeof(numbered), "mode%d", i);
		ok = put_array(group, *member->name ? member->name : numbered, &member->array);
	}
	if (ok && content->kind == CONTENT_TENSOR)
		ok = put_tensor_sizes(group, content);
	return ok && H5Gclose(group) >= 0;
}

static void write_object(struct hdf5_child *child)
{
	const struct write_request *request = child->request;
	const struct content *content = request->content;
	bool is_array = content_is_array(content);
	child_listen(child);
	if (child->size == 0) {
		hid_t made =
			H5Fcreate(child->path, H5F_ACC_TRUNC, without_times(H5P_FILE_CREATE), H5P_DEFAULT);
		if (made < 0 || H5Fclose(made) < 0)
			child_fail(child, OUTCOME_IO, "cannot write", NULL);
	}
	hid_t file = child_open(child, H5F_ACC_RDWR);
	bool ok = is_array ? put_array(file, request->inner, &content->members[0].array)
			   : put_group(file, request->inner, content);
	if (!ok || H5Fflush(file, H5F_SCOPE_GLOBAL) < 0 || H5Fclose(file) < 0)
		child_fail(child, OUTCOME_IO, "cannot write", NULL);
}

/* What is there is of another kind. */
static void kind_fail(struct hdf5_child *child, const char *path, H5I_type_t kind, H5I_type_t wanted, enum force force)
{
	const char *reason = "it is no array", *help = "it is no array; --force replaces it by one";
	if (wanted == H5I_GROUP) {
		reason = "it is no group";
		help = "it is no group; --force replaces it by one";
	} else if (kind == H5I_GROUP) {
		reason = "it is a group, and no place for an array";
		help = "it is a group, which --force replaces by the array";
	}
	child_fail(child, OUTCOME_USAGE, path, force == FORCE_OFFERED ? help : reason);
}

/* What is at `path` is, or makes room for, an object of the kind that is wanted. Links may lead to nothing. */
static void check_room(struct hdf5_child *child, hid_t file, const char *path, H5I_type_t wanted, bool is_last)
{
	const struct room_request *request = child->request;
	enum force force = is_last ? request->force : FORCE_NO;
	hid_t object = H5Oopen(file, path, H5P_DEFAULT);
	H5I_type_t kind = object < 0 ? H5I_BADID : H5Iget_type(object);
	if (object >= 0)
		H5Oclose(object);
	if (kind != wanted && force != FORCE_GIVEN && (object >= 0 || !is_last))
		kind_fail(child, path, kind, wanted, force);
}

/* Each object on the way to the last must be a group, and that one, if it is there, of the kind that is written. */
static void find_room(struct hdf5_child *child)
{
	char path[NAME_BYTES];
	const struct room_request *request = child->request;
	const char *inner = request->inner, *at = inner + strspn(inner, "/");
	hid_t file = child_open(child, H5F_ACC_RDONLY);
	if (!*at && request->is_array)
		child_fail(child, OUTCOME_USAGE, inner, "it is the file's root; an array needs a name");
	while (*at) {
		at += strcspn(at, "/");
		snprintf(path, sizeof(path), "%.*s", (int) (at - inner), inner);
		at += strspn(at, "/");
		if (H5Lexists(file, path, H5P_DEFAULT) <= 0)
			return;
		check_room(child, file, path, !*at && request->is_array ? H5I_DATASET : H5I_GROUP, !*at);
	}
}

/* ---- In the parent ------------------------------------------------------------------------- */

static bool copy_old(const char *path, FILE *to, struct failure *failure)
{
	char buffer[1 << 16];
	FILE *from = fopen(path, "rbe");
	if (!from)
		return errno == ENOENT || fail_file(failure, path, "cannot open:");
	for (size_t n = fread(buffer, 1, sizeof(buffer), from); n > 0;
	     n = fread(buffer, 1, sizeof(buffer), from))
		fwrite(buffer, 1, n, to);
	bool ok = !ferror(from) || fail_file(failure, path, "cannot read:");
	fclose(from);
	return ok && ((fflush(to) == 0 && !ferror(to)) || fail_file(failure, path, "cannot write:"));
}

bool hdf5_has_room(const struct location *location, bool is_array, struct failure *failure)
{
	struct stat status;
	struct room_request request = { .inner = inner_of(location, is_array),
					.is_array = is_array,
					.force = location->force };
	struct hdf5_child child = { .path = location->path, .is_limited = true, .work = find_room,
				    .request = &request };
	struct hdf5_parent parent = { .path = location->path };
	return stat(location->path, &status) != 0 || status.st_size == 0 || hdf5_run(&child, &parent, failure);
}

bool hdf5_write(const struct location *location, const struct content *content, struct failure *failure)
{
	struct output out;
	struct write_request request = { .inner = inner_of(location, content_is_array(content)),
					 .content = content };
	struct hdf5_child child = { .work = write_object, .request = &request };
	struct hdf5_parent parent = { .path = location->path };
	if (!output_open(&out, location->path, failure))
		return false;
	child.path = out.part;
	bool ok = copy_old(out.path, out.file, failure) && hdf5_run(&child, &parent, failure);
	return output_close(&out, ok, failure);
}
