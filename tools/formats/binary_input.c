/* SPDX-License-Identifier: MIT
 *
 * Regular files of bytes, whose size is known before anything is read from them, and bytes in memory as such files. */
#include "formats/streams.h"

#include <errno.h>
#include <sys/stat.h>

bool binary_open(struct binary_input *in, const char *path, struct failure *failure)
{
	struct stat status;
	*in = (struct binary_input){ .path = path };
	if (stat(path, &status) != 0)
		return fail_file(failure, path, "cannot open:");
	if (!S_ISREG(status.st_mode)) {
		fail_file(failure, path, "not a regular file");
		failure->outcome = OUTCOME_IO;
		return false;
	}
	in->file = fopen(path, "rbe");
	in->size = status.st_size;
	return in->file || fail_file(failure, path, "cannot open:");
}

bool binary_open_bytes(struct binary_input *in, const char *name, void *bytes, size_t n, struct failure *failure)
{
	*in = (struct binary_input){ .path = name, .size = (int64_t) n };
	if (n == 0)
		return fail_file(failure, name, "ends at byte 0");
	in->file = fmemopen(bytes, n, "r");
	return in->file || fail_memory(failure, name);
}

bool binary_read(struct binary_input *in, void *bytes, size_t n, const char *what, struct failure *failure)
{
	size_t got = n ? fread(bytes, 1, n, in->file) : 0;
	if (got == n)
		return true;
	if (ferror(in->file))
		return fail_file(failure, in->path, "cannot read:");
	return fail_file(failure, in->path, "ends at byte %ld, in the middle of %s", ftell(in->file), what);
}

int64_t binary_left(struct binary_input *in)
{
	return in->size - ftell(in->file);
}

void binary_close(struct binary_input *in)
{
	if (in->file)
		fclose(in->file);
	in->file = NULL;
}
