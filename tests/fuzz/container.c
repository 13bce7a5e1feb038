/* SPDX-License-Identifier: MIT
 *
 * libFuzzer: any bytes as what the process that reads an HDF5 file sends to its parent, which must not trust it. */
#include <stdlib.h>
#include <unistd.h>

#include "formats/hdf5_private.h"

struct bytes {
	const uint8_t *data;
	size_t size;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void send_bytes(struct hdf5_child *child)
{
	const struct bytes *bytes = child->request;

	for (size_t at = 0; at < bytes->size;) {
		ssize_t n = write(child->pipe, bytes->data + at, bytes->size - at);

		if (n <= 0)
			break;
		at += (size_t) n;
	}
	_exit(0);
}

static bool accept_record(struct hdf5_parent *parent, const struct record *record, struct failure *failure)
{
	struct ndarray array = { 0 };
	bool ok;

	if (record->kind != RECORD_ARRAY)
		return true;
	ok = hdf5_receive(parent, record, &array, failure);
	if (ok)
		(void) ndarray_summary(&array);
	ndarray_free(&array);
	return ok;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[] = "/tmp/pmg-fuzz-XXXXXX";
	struct bytes bytes = { data, size };
	struct hdf5_child child = { .path = path, .work = send_bytes, .request = &bytes };
	struct hdf5_parent parent = { .accept = accept_record };
	struct failure failure = { 0 };
	int file = mkstemp(path);

	if (file < 0 || write(file, data, size) != (ssize_t) size)
		abort();
	close(file);
	(void) hdf5_run(&child, &parent, &failure);
	unlink(path);
	return 0;
}
