/* SPDX-License-Identifier: MIT
 *
 * Outputs that appear whole or not at all: written as "PATH.part-N" in the same folder, brought to disk,
 * renamed. Links are followed, so that the file they lead to is replaced and not the link. */
#include "formats/streams.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static void forget(struct output *out)
{
	free(out->path);
	free(out->part);
	*out = (struct output){ 0 };
}

static bool refuse(struct output *out, const char *path, struct failure *failure)
{
	bool is_nowhere = errno == ENOENT;
	fail_file(failure, path, is_nowhere ? "cannot write: there is no such folder" : "cannot write:");
	if (is_nowhere)
		failure->outcome = OUTCOME_IO;
	forget(out);
	return false;
}

static bool name_files(struct output *out, const char *path)
{
	out->path = realpath(path, NULL);
	if (!out->path && asprintf(&out->path, "%s", path) < 0)
		out->path = NULL;
	if (out->path && asprintf(&out->part, "%s.part-%ld", out->path, (long) getpid()) < 0)
		out->part = NULL;
	errno = ENOMEM;
	return out->path && out->part;
}

bool output_open(struct output *out, const char *path, struct failure *failure)
{
	struct stat existing;
	*out = (struct output){ 0 };
	if (stat(path, &existing) == 0 && !S_ISREG(existing.st_mode)) {
		fail_file(failure, path, "cannot write: it exists and is not a regular file");
		failure->outcome = OUTCOME_IO;
		return false;
	}
	if (!name_files(out, path))
		return refuse(out, path, failure);
	errno = ENAMETOOLONG;
	if (!scratch_add(out->part))
		return refuse(out, path, failure);
	out->file = fopen(out->part, "wbe");
	if (out->file)
		return true;
	scratch_forget(out->part);
	return refuse(out, path, failure);
}

bool output_close(struct output *out, bool ok, struct failure *failure)
{
	if (ok && (ferror(out->file) || fflush(out->file) != 0 || fsync(fileno(out->file)) != 0))
		ok = fail_file(failure, out->path, "cannot write:");
	if (fclose(out->file) != 0 && ok)
		ok = fail_file(failure, out->path, "cannot write:");
	if (ok && rename(out->part, out->path) != 0)
		ok = fail_file(failure, out->path, "cannot write:");
	if (ok)
		scratch_forget(out->part);
	else
		scratch_remove(out->part);
	forget(out);
	return ok;
}

bool output_is_possible(const char *path, struct failure *failure)
{
	struct output out;
	if (!output_open(&out, path, failure))
		return false;
	output_close(&out, false, failure);
	return true;
}
