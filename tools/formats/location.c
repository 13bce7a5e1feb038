/* SPDX-License-Identifier: MIT
 *
 * The three ways to name a place: PATH, FILE.h5:/INNER for an object in a file that has several (.h5, .npz, .mat),
 * FILE.f64[3,4] for the shape of a file that does not tell it. A file whose whole name is the text comes first. And
 * whether two places are one. */
#include "formats/formats.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool parse_shape(struct location *location, struct arena *arena, const char *text,
			struct failure *failure)
{
	char *list = arena_string(arena, text), *rest = list;
	location->rank = 0;
	list[strlen(list) - 1] = '\0';
	for (char *number = strsep(&rest, ","); number && *list; number = strsep(&rest, ",")) {
		int64_t extent;
		number += strspn(number, " ");
		if (location->rank == PMG_MAX_RANK)
			return fail(failure, OUTCOME_USAGE, "'[%s': more than %d dimensions", text,
				    PMG_MAX_RANK);
		if (!parse_integer(number, &extent) || extent < 0)
			return fail(failure, OUTCOME_USAGE, "'[%s': '%s' is not a size", text, number);
		location->shape[location->rank++] = extent;
	}
	return true;
}

static bool ends_with(const char *text, size_t length, const char *suffix)
{
	size_t n = strlen(suffix);
	return length >= n && memcmp(text + length - n, suffix, n) == 0;
}

/* The ':' between a file and an object in it. */
static const char *find_inner(const char *text)
{
	static const char *const suffixes[] = { ".h5", ".hdf5", ".npz", ".mat" };
	for (const char *colon = strchr(text, ':'); colon; colon = strchr(colon + 1, ':')) {
		size_t length = (size_t) (colon - text);
		for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++)
			if (ends_with(text, length, suffixes[i]))
				return colon;
	}
	return NULL;
}

bool location_parse(struct location *location, struct arena *arena, const char *text, struct failure *failure)
{
	size_t length = strlen(text);
	const char *bracket = strrchr(text, '['), *colon = find_inner(text);
	*location = (struct location){ .rank = -1, .base = -1 };
	if (access(text, F_OK) == 0) {
		location->path = arena_string(arena, text);
	} else if (colon) {
		location->path = arena_copy(arena, text, (size_t) (colon - text));
		location->inner = arena_string(arena, colon + 1);
	} else if (bracket && text[length - 1] == ']') {
		location->path = arena_copy(arena, text, (size_t) (bracket - text));
		if (!parse_shape(location, arena, bracket + 1, failure))
			return false;
	} else {
		location->path = arena_string(arena, text);
	}
	location->format = format_of(location->path);
	return true;
}

/* ---- Comparing ------------------------------------------------------------------------- */

static bool find_folder(const char *path, size_t length, struct stat *status)
{
	char folder[4096];
	int wanted = snprintf(folder, sizeof(folder), "%s%.*s", *path == '/' ? "" : "./", (int) length, path);
	return wanted < (int) sizeof(folder) && stat(folder, status) == 0;
}

/* Files that are yet to be made: one name in one folder. */
static bool is_same_name(const char *path, const char *other)
{
	struct stat a, b;
	const char *slash = strrchr(path, '/'), *other_slash = strrchr(other, '/');
	size_t length = slash ? (size_t) (slash + 1 - path) : 0;
	size_t other_length = other_slash ? (size_t) (other_slash + 1 - other) : 0;
	if (strcmp(path + length, other + other_length) != 0)
		return false;
	if (!find_folder(path, length, &a) || !find_folder(other, other_length, &b))
		return strcmp(path, other) == 0;
	return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Devices and pipes keep nothing, and are never one. */
static bool is_same_file(const char *path, const char *other)
{
	struct stat a, b;
	bool is_there = stat(path, &a) == 0, is_other_there = stat(other, &b) == 0;
	if (!is_there || !is_other_there)
		return !is_there && !is_other_there && is_same_name(path, other);
	return S_ISREG(a.st_mode) && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* Behind what names no object: '/', any number of them, and '.' alone. */
static const char *next_component(const char *path)
{
	while (*path == '/' || (path[0] == '.' && (path[1] == '/' || path[1] == '\0')))
		path++;
	return path;
}

/* Component by component, as HDF5 reads them. */
static bool path_covers(const char *path, const char *other)
{
	for (;;) {
		path = next_component(path);
		other = next_component(other);
		size_t length = strcspn(path, "/");
		if (length == 0)
			return true;
		if (length != strcspn(other, "/") || memcmp(path, other, length) != 0)
			return false;
		path += length;
		other += length;
	}
}

bool location_covers(const struct location *location, const struct location *other)
{
	return is_same_file(location->path, other->path) &&
	       (!location->inner || !other->inner || path_covers(location->inner, other->inner));
}

bool location_spares(struct arena *arena, const char *output, const char *input, struct failure *failure)
{
	struct location to, from = { .path = arena_string(arena, input) };
	if (!location_parse(&to, arena, output, failure))
		return false;
	return !location_covers(&to, &from) ||
	       fail(failure, OUTCOME_USAGE, "-o %s: that is the input '%s'", output, input);
}
