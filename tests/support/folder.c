/* SPDX-License-Identifier: MIT
 *
 * Programs of a folder. Names come from scandir, sorted, so that a test takes the same path each time. */
#include "support/folder.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_program(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return dot && !strcmp(dot, ".pmg");
}

int folder_each_program(const char *folder, void (*visit)(const char *path, void *user), void *user)
{
	struct dirent **entries;
	int n = scandir(folder, &entries, is_program, alphasort);

	for (int i = 0; i < n; i++) {
		char path[512];

		snprintf(path, sizeof path, "%.200s/%.255s", folder, entries[i]->d_name);
		if (visit)
			visit(path, user);
		free(entries[i]);
	}
	if (n >= 0)
		free(entries);
	return n > 0 ? n : 0;
}

struct nth {
	int n, at, visited;
	void (*visit)(const char *path, void *user);
	void *user;
};

static void visit_nth(const char *path, void *user)
{
	struct nth *nth = user;

	if (nth->at++ % nth->n)
		return;
	nth->visited++;
	nth->visit(path, nth->user);
}

int folder_each_nth(const char *folder, int n, int first, void (*visit)(const char *path, void *user), void *user)
{
	struct nth nth = { getenv("PMG_TEST_LONG") ? 1 : n, n - first, 0, visit, user };

	folder_each_program(folder, visit_nth, &nth);
	return nth.visited;
}

const char *folder_name_of(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}
