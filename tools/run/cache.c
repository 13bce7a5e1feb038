/* SPDX-License-Identifier: MIT
 *
 * Libraries that are kept for later runs, in a folder that PMG_CACHE names, or in pmg/ of XDG_CACHE_HOME or ~/.cache,
 * where wisdom is, too. Behind the library a file has the messages of the compiler about the program, and a tail with
 * the sum of all: what is damaged is compiled anew, and takes the place of the old.
 *
 * A file appears under its name when it is whole. Runs at the same time may keep the same library, of which one stays;
 * one that is in use stays in memory when it is removed. Where nothing can be kept, the program runs all the same.
 *
 * Code is taken from nobody else: folder and file belong to the user, and nobody else may write them. The folder stays
 * open from that check on, so that no other one of its name is loaded from. */
#include "run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char mark[8] = "pmglib1";

struct tail {
	uint64_t library, messages, sum; /* bytes; of them */
	char mark[8];
};

const char *cache_path(struct arena *arena, const char *name)
{
	const char *cache = getenv("XDG_CACHE_HOME"), *home = getenv("HOME");
	if (cache && *cache)
		return arena_printf(arena, "%s/pmg/%s", cache, name);
	return home && *home ? arena_printf(arena, "%s/.cache/pmg/%s", home, name) : NULL;
}

void cache_make_folders(struct arena *arena, const char *path)
{
	char *copy = arena_string(arena, path);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(copy, 0700);
		*slash = '/';
	}
}

const char *cache_library_path(struct arena *arena, const char *name)
{
	const char *folder = getenv("PMG_CACHE");
	if (!folder || !*folder)
		return cache_path(arena, name);
	return strcmp(folder, "off") == 0 ? NULL : arena_printf(arena, "%s/%s", folder, name);
}

/* ---- The folder ------------------------------------------------------------------------------ */

static const char *folder_of(struct arena *arena, const char *path)
{
	return arena_printf(arena, "%.*s", (int) (strrchr(path, '/') - path), path);
}

/* Why no code is taken from it, nor left there; NULL: nothing is wrong. */
static const char *fault_of(const struct stat *status)
{
	if (status->st_uid != geteuid())
		return "it belongs to another user";
	return status->st_mode & (S_IWGRP | S_IWOTH) ? "others may write it (chmod go-w ends that)" : NULL;
}

/* -1: it is not there, or has a `fault`. */
static int open_folder(const char *path, const char **fault)
{
	struct stat status;
	int folder = open(*path ? path : "/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	*fault = NULL;
	if (folder < 0)
		return -1;
	if (fstat(folder, &status) == 0 && !(*fault = fault_of(&status)))
		return folder;
	close(folder);
	return -1;
}

/* ---- Reading -------------------------------------------------------------------------------- */

struct entry {
	char *bytes;
	size_t n;
	struct tail tail;
};

static bool is_ours(int file, struct stat *status)
{
	return fstat(file, status) == 0 && S_ISREG(status->st_mode) && !fault_of(status);
}

static bool read_all(int file, char *bytes, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t got = read(file, bytes + at, n - at);
		if (got <= 0)
			return false;
		at += (size_t) got;
	}
	return true;
}

static bool is_whole(struct entry *entry)
{
	struct tail *tail = &entry->tail;
	size_t rest;
	if (entry->n < sizeof(*tail))
		return false;
	rest = entry->n - sizeof(*tail);
	memcpy(tail, entry->bytes + rest, sizeof(*tail));
	return memcmp(tail->mark, mark, sizeof(mark)) == 0 && tail->library <= rest &&
	       tail->messages == rest - tail->library && tail->sum == cache_sum(0, entry->bytes, rest);
}

/* The caller frees its bytes. */
static bool entry_read(int folder, const char *name, struct entry *entry)
{
	struct stat status;
	int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	bool ok = file >= 0 && is_ours(file, &status);
	*entry = (struct entry){ .n = ok ? (size_t) status.st_size : 0 };
	entry->bytes = ok ? malloc(entry->n + 1) : NULL;
	ok = entry->bytes && read_all(file, entry->bytes, entry->n) && is_whole(entry);
	if (ok)
		futimens(file, NULL);
	if (file >= 0)
		close(file);
	return ok;
}

/* ---- Writing ------------------------------------------------------------------------------------ */

static bool write_all(int file, const void *bytes, size_t n)
{
	for (size_t at = 0; at < n;) {
		ssize_t put = write(file, (const char *) bytes + at, n - at);
		if (put <= 0)
			return false;
		at += (size_t) put;
	}
	return true;
}

/* The library as it was linked, then the messages; the caller frees its bytes. */
static bool entry_make(const char *library, const char *messages, struct entry *entry)
{
	struct stat status;
	size_t n = strlen(messages);
	int file = open(library, O_RDONLY | O_CLOEXEC);
	bool ok = file >= 0 && fstat(file, &status) == 0;
	*entry = (struct entry){ .n = ok ? (size_t) status.st_size : 0 };
	entry->bytes = ok ? malloc(entry->n + n + 1) : NULL;
	ok = entry->bytes && read_all(file, entry->bytes, entry->n);
	if (ok) {
		memcpy(entry->bytes + entry->n, messages, n + 1);
		entry->tail = (struct tail){ entry->n, n, cache_sum(0, entry->bytes, entry->n + n), "" };
		memcpy(entry->tail.mark, mark, sizeof(mark));
		entry->n += n;
	}
	if (file >= 0)
		close(file);
	return ok;
}

/* Only when it is whole, under its name. */
static bool entry_write(struct arena *arena, const char *path, const struct entry *entry)
{
	char *part = arena_printf(arena, "%s.part-XXXXXX", path);
	const char *fault;
	cache_make_folders(arena, path);
	int folder = open_folder(folder_of(arena, path), &fault);
	int file = folder < 0 ? -1 : mkostemp(part, O_CLOEXEC);
	if (folder >= 0)
		close(folder);
	if (file < 0)
		return false;
	scratch_add(part);
	bool ok = write_all(file, entry->bytes, entry->n) && write_all(file, &entry->tail, sizeof(entry->tail));
	ok = close(file) == 0 && ok && rename(part, path) == 0;
	if (ok)
		scratch_forget(part);
	else
		scratch_remove(part);
	return ok;
}

/* What cannot be kept is compiled the next time, too. */
static bool keep(struct session *s, const struct build *build, const char *path)
{
	struct entry entry;
	bool ok = entry_make(build->library, build->messages, &entry) && entry_write(s->arena, path, &entry);
	free(entry.bytes);
	if (ok)
		cache_bound(s->arena, path);
	return ok;
}

/* ---- Loading -------------------------------------------------------------------------------------- */

/* The passes of a kept library have run elsewhere: the module stays as it was read. */
static bool load_kept(struct session *s, int folder, const char *name, struct results *results, struct execution *e)
{
	struct failure failure = { 0 };
	struct entry entry;
	const char *path = arena_printf(s->arena, "/proc/self/fd/%d/%s", folder, name);
	bool ok = entry_read(folder, name, &entry) && library_load(s, path, results, e, &failure);
	if (ok)
		fwrite(entry.bytes + entry.tail.library, 1, entry.tail.messages, stderr);
	free(entry.bytes);
	if (!ok)
		library_close(e);
	return ok;
}

static bool build_and_load(struct session *s, const char *path, struct results *results, struct execution *e,
			   struct failure *failure)
{
	struct build build;
	if (s->building)
		progress_tell("%s", s->building);
	bool ok = build_library(s, &build, failure);
	if (s->building)
		progress_forget();
	if (ok && s->values.explain)
		fputs(explain_text(s->c, s->module), stdout);
	if (ok && path)
		s->library = keep(s, &build, path) ? "kept in" : "cannot be kept in";
	ok = ok && library_load(s, build.library, results, e, failure);
	build_remove(&build);
	return ok;
}

/* False: there is none that can be used. */
static bool find_kept(struct session *s, const char *path, struct results *results, struct execution *e,
		      const char **fault)
{
	bool is_asked_for = s->values.keep || s->values.explain;
	int folder = open_folder(folder_of(s->arena, path), fault);
	bool is_found = folder >= 0 && !is_asked_for && load_kept(s, folder, strrchr(path, '/') + 1, results, e);
	if (folder >= 0)
		close(folder);
	return is_found;
}

bool cache_load(struct session *s, struct results *results, struct execution *e, struct failure *failure)
{
	const char *name = s->values.keep ? NULL : cache_name(s);
	const char *path = name ? cache_library_path(s->arena, name) : NULL, *fault = NULL;
	*e = (struct execution){ .session = s, .results = results };
	s->library_path = path;
	s->library = "found in";
	if (path && find_kept(s, path, results, e, &fault)) {
		build_specialize(s);
		return true;
	}
	if (fault) {
		messages_note(s, "no libraries are kept in %s: %s", folder_of(s->arena, path), fault);
		s->library = "cannot be kept in";
	}
	return build_and_load(s, fault ? NULL : path, results, e, failure);
}

void cache_print(const struct session *s)
{
	if (s->library_path)
		printf("library %s %s\n", s->library, s->library_path);
}
