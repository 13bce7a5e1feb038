/* SPDX-License-Identifier: MIT
 *
 * What papers have measured: the tables in bench/papers. */
#include "program.h"

#include <stdio.h>
#include <string.h>

static bool read_row(struct arena *arena, const char *line, int n_words, struct paper_row *row)
{
	char *rest = arena_string(arena, line);
	int n = 0;
	rest[strcspn(rest, "\n")] = '\0';
	*row = (struct paper_row){ .number = 0 };
	for (char *word = strsep(&rest, "\t"); word && n < n_words; word = strsep(&rest, "\t"))
		row->words[n++] = word;
	return n == n_words && parse_real(row->words[n - 1], &row->number);
}

bool paper_read(struct arena *arena, const char *name, int n_words, paper_row_list *rows, struct failure *failure)
{
	const char *path = bench_find_file(arena, arena_printf(arena, "bench/papers/%s", name), failure);
	FILE *file = path ? fopen(path, "re") : NULL;
	char line[512];
	bool ok = true;
	if (!path)
		return false;
	if (!file)
		return fail_file(failure, path, "cannot open:");
	while (ok && fgets(line, sizeof(line), file)) {
		struct paper_row row;
		if (*line == '#')
			continue;
		ok = read_row(arena, line, n_words, &row) || fail(failure, OUTCOME_DATA, "%s: %s", path, line);
		vec_push(arena, rows, row);
	}
	fclose(file);
	return ok;
}
