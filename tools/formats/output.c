/* SPDX-License-Identifier: MIT
 *
 * Outputs that appear whole or not at all: written as "PATH.part-M-N" in the same folder, brought to disk,
 * renamed. Links are followed, so that the file they lead to is replaced and not the link.
 * What processes that were killed have left of such parts goes when the next one begins; their names tell the machine
 * and the process that made them. */
#include "formats/streams.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
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

/* ---- Names of parts ----------------------------------------------------------------------------- */

static uint32_t add_text(uint32_t sum, const char *text)
{
	for (; *text; text++)
		sum = (sum ^ (unsigned char) *text) * 0x01000193u;
	return sum;
}

/* Where processes have their numbers: one name space, until its machine is started again. 0: that is not known. */
static uint32_t machine(void)
{
	char boot[64] = "", space[64] = "";
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");
	bool is_known = file && fscanf(file, "%63s", boot) == 1 &&
			readlink("/proc/self/ns/pid", space, sizeof(space) - 1) > 0;
	if (file)
		fclose(file);
	return is_known ? add_text(add_text(0x811c9dc5u, boot), space) : 0;
}

/* The name of a file that is a part of `base` by a process that is gone. */
static bool is_left_over(const char *name, const char *base, uint32_t here)
{
	char *end;
	size_t n = strlen(base);
	unsigned long maker;
	if (strncmp(name, base, n) != 0 || strncmp(name + n, ".part-", 6) != 0)
		return false;
	maker = strtoul(name + n + 6, &end, 16);
	if (maker != here || end != name + n + 14 || *end != '-')
		return false;
	long process = strtol(end + 1, &end, 10);
	return process > 0 && (!*end || *end == '.') && kill((pid_t) process, 0) != 0 && errno == ESRCH;
}

static void remove_left_over(const char *path, uint32_t here)
{
	const char *slash = strrchr(path, '/');
	char *folder = slash ? strndup(path, (size_t) (slash + 1 - path)) : strdup(".");
	DIR *list = here && folder ? opendir(folder) : NULL;
	struct dirent *entry;
	while (list && (entry = readdir(list)))
		if (is_left_over(entry->d_name, slash ? slash + 1 : path, here))
			unlinkat(dirfd(list), entry->d_name, 0);
	if (list)
		closedir(list);
	free(folder);
}

/* ---- Opening and closing ------------------------------------------------------------------------- */

static bool name_files(struct output *out, const char *path, uint32_t here)
{
	out->path = realpath(path, NULL);
	if (!out->path && asprintf(&out->path, "%s", path) < 0)
		out->path = NULL;
	if (out->path &&
	    asprintf(&out->part, "%s.part-%08" PRIx32 "-%ld", out->path, here, (long) getpid()) < 0)
		out->part = NULL;
	errno = ENOMEM;
	return out->path && out->part;
}

bool output_open(struct output *out, const char *path, struct failure *failure)
{
	const uint32_t here = machine();
	struct stat existing;
	*out = (struct output){ 0 };
	if (stat(path, &existing) == 0 && !S_ISREG(existing.st_mode)) {
		fail_file(failure, path, "cannot write: it exists and is not a regular file");
		failure->outcome = OUTCOME_IO;
		return false;
	}
	if (!name_files(out, path, here))
		return refuse(out, path, failure);
	remove_left_over(out->path, here);
	errno = ENAMETOOLONG;
	if (!scratch_add(out->part))
		return refuse(out, path, failure);
	out->file = fopen(out->part, "wbe");
	if (out->file)
		return true;
	scratch_forget(out->part);
	return refuse(out, path, failure);
}

bool text_is_plain(const char *path, struct failure *failure)
{
	return !path_has_suffix_of(path, ".gz") ||
	       fail(failure, OUTCOME_USAGE, "%s: compressed text is read, not written", path);
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
	bool ok = fclose(out.file) == 0 || fail_file(failure, out.path, "cannot write:");
	scratch_remove(out.part);
	forget(&out);
	return ok;
}
