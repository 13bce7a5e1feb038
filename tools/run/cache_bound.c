/* SPDX-License-Identifier: MIT
 *
 * What the folder of kept libraries holds: listed, limited, cleared. Those that were used the longest time ago go
 * first; parts that a run left which was killed go after an hour. Other files are none of ours. */
#include "run/run.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PART_SECONDS = 3600, DIGITS = 16 };

/* NAME-0123456789abcdef.so, or what follows. */
static const char *ending_of(const char *name)
{
	const char *dash = strrchr(name, '-');
	const char *part = strstr(name, ".so.part-");
	if (part) {
		char *whole = strdup(name);
		bool is = false;
		if (whole) {
			whole[part - name + 3] = '\0';
			is = ending_of(whole) != NULL;
			free(whole);
		}
		return is ? part + 3 : NULL;
	}
	return dash && strspn(dash + 1, "0123456789abcdef") == DIGITS && strcmp(dash + 1 + DIGITS, ".so") == 0 ?
		       dash + 1 + DIGITS + 3 : NULL;
}

static int compare_used(const void *a, const void *b)
{
	const struct kept_library *x = a, *y = b;
	return (x->used > y->used) - (x->used < y->used);
}

void cache_list(struct arena *arena, const char *folder, kept_list *list)
{
	DIR *names = opendir(folder);
	*list = (kept_list){ 0 };
	for (struct dirent *entry = names ? readdir(names) : NULL; entry; entry = readdir(names)) {
		const char *ending = ending_of(entry->d_name);
		struct stat status;
		struct kept_library library = { .path = arena_printf(arena, "%s/%s", folder, entry->d_name) };
		if (!ending || lstat(library.path, &status) != 0 || !S_ISREG(status.st_mode))
			continue;
		library.bytes = status.st_size;
		library.used = (double) status.st_mtim.tv_sec + 1e-9 * (double) status.st_mtim.tv_nsec;
		library.is_part = *ending != '\0';
		vec_push(arena, list, library);
	}
	if (names)
		closedir(names);
	if (list->n)
		qsort(list->items, (size_t) list->n, sizeof(*list->items), compare_used);
}

void cache_bound(struct arena *arena, const char *path)
{
	kept_list list;
	int64_t bytes = 0;
	char *folder = arena_string(arena, path);
	*strrchr(folder, '/') = '\0';
	cache_list(arena, folder, &list);
	for (int i = 0; i < list.n; i++)
		bytes += list.items[i].bytes;
	for (int i = 0; i < list.n; i++) {
		const struct kept_library *library = &list.items[i];
		bool is_old = library->is_part && (double) time(NULL) - library->used > PART_SECONDS;
		if ((bytes <= CACHE_BYTES || library->is_part || strcmp(library->path, path) == 0) && !is_old)
			continue;
		if (unlink(library->path) == 0)
			bytes -= library->bytes;
	}
}
