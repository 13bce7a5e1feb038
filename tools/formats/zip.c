/* SPDX-License-Identifier: MIT
 *
 * Members of a zip archive as bytes. libzip runs in a child with limits; what it unpacks is as little trusted as any
 * file, and whoever takes the bytes checks them. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <zip.h>

#include "formats/hdf5_private.h"

enum { PIECE = 1 << 20 };

struct request {
	bool (*is_wanted)(const char *name, const void *user);
	const void *user;
};

/* ---- In the child ------------------------------------------------------------------------- */

/* What libzip takes for the end of a file may be an error of the system. */
static _Noreturn void fail_zip(struct hdf5_child *child, zip_error_t *error, const char *what, const char *damage)
{
	const bool is_memory = zip_error_code_zip(error) == ZIP_ER_MEMORY;
	child_fail_system(child, is_memory ? ENOMEM : errno, what, damage);
}

static void send_member(struct hdf5_child *child, zip_t *archive, zip_uint64_t i, const zip_stat_t *status)
{
	struct record record = { .kind = RECORD_ARRAY, .type = PMG_U8, .rank = 1 };
	char *piece = malloc(PIECE);
	zip_file_t *file = zip_fopen_index(archive, i, 0);
	if (!piece)
		child_fail_system(child, ENOMEM, status->name, "");
	if (!file)
		fail_zip(child, zip_get_error(archive), status->name, "it cannot be unpacked");
	record.shape[0] = (int64_t) status->size;
	snprintf(record.name, sizeof(record.name), "%s", status->name);
	child_send(child, &record, NULL);
	for (uint64_t left = status->size; left > 0;) {
		zip_int64_t n = zip_fread(file, piece, left < PIECE ? left : PIECE);
		if (n <= 0)
			fail_zip(child, zip_file_get_error(file), status->name, "it is damaged");
		child_send(child, &(struct record){ .kind = RECORD_DATA, .bytes = (uint64_t) n }, piece);
		left -= (uint64_t) n;
	}
	if (zip_fread(file, piece, 1) != 0)
		fail_zip(child, zip_file_get_error(file), status->name, "it is damaged");
	if (zip_fclose(file) != 0)
		child_fail(child, OUTCOME_DATA, status->name, "it is damaged");
	free(piece);
}

static void send_members(struct hdf5_child *child)
{
	const struct request *request = child->request;
	int code;
	zip_error_t error;
	errno = 0;
	zip_t *archive = zip_open(child->path, ZIP_RDONLY | ZIP_CHECKCONS, &code);
	if (!archive) {
		zip_error_init_with_code(&error, code);
		fail_zip(child, &error, "byte 0", "not a zip archive that can be opened");
	}
	zip_int64_t n = zip_get_num_entries(archive, 0);
	for (zip_uint64_t i = 0; i < (zip_uint64_t) n; i++) {
		zip_stat_t status;
		if (zip_stat_index(archive, i, 0, &status) == 0 && (status.valid & ZIP_STAT_NAME) &&
		    (status.valid & ZIP_STAT_SIZE) && request->is_wanted(status.name, request->user))
			send_member(child, archive, i, &status);
	}
	zip_discard(archive);
}

/* ---- In the parent --------------------------------------------------------------------------- */

static bool accept_member(struct hdf5_parent *parent, const struct record *record, struct failure *failure)
{
	struct content *content = parent->user;
	if (record->kind != RECORD_ARRAY)
		return fail_file(failure, parent->path, "the process that reads the file sends nonsense");
	if (content_find(content, record->name))
		return fail_file(failure, parent->path, "it has '%s' twice", record->name);
	struct member *member = content_add(content, record->name, failure);
	return member && hdf5_receive(parent, record, &member->array, failure);
}

bool zip_read(const char *path, bool (*is_wanted)(const char *name, const void *user), const void *user,
	      struct content *content, struct failure *failure)
{
	const struct request request = { .is_wanted = is_wanted, .user = user };
	struct hdf5_child child = {
		.path = path, .is_limited = true, .work = send_members, .request = &request, .library = "zip"
	};
	struct hdf5_parent parent = { .accept = accept_member, .user = content };
	content->kind = CONTENT_GROUP;
	return hdf5_run(&child, &parent, failure);
}
