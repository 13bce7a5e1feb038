/* SPDX-License-Identifier: MIT
 *
 * Cells of several formats one after the other: what only some of them tell is told of none, as a cell of a table
 * would have points at 0 of area 0. Copies of a cell have its shape. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hines/cells.h"

static const char *const names[] = { "neuron.swc", "matrix.tsv" };

static void put_files(void)
{
	static const char *const texts[] = { "1 1 0 0 0 5 -1\n2 3 9 0 0 1 1\n", "0 -1 0 0 1 1\n1 0 -1 -1 4 1\n" };
	for (int i = 0; i < 2; i++) {
		FILE *file = fopen(names[i], "w");
		if (file) {
			fputs(texts[i], file);
			fclose(file);
		}
	}
}

/* Of files in this order: has the forest shapes and ids, or has it none? -1: one of the two, or no forest. */
static int shapes_of(struct arena *arena, const char *files, int64_t systems, int n_cells)
{
	struct cell_request request = cell_request_default();
	struct notes notes = { .arena = arena };
	struct failure failure = { 0 };
	struct forest forest = { 0 };
	cell_list cells = { 0 };
	bool ok;
	int has = -1;
	request.systems = systems;
	ok = cell_request_complete(&request, &failure);
	for (; *files && ok; files++)
		ok = cells_read(&cells, names[*files - '0'], NULL, &request, &notes, &failure);
	ok = ok && cells.n == n_cells && forest_of_cells(&forest, &cells, &failure);
	if (ok && !forest.all.shape == !forest.all.id && (!forest.all.shape || forest.all.shape->area[0] > 0))
		has = forest.all.shape != NULL;
	forest_free(&forest);
	for (int i = 0; i < cells.n; i++)
		cell_free(&cells.items[i]);
	return has;
}

int main(void)
{
	static const struct {
		const char *files;
		int64_t systems;
		int n_cells, has_shapes;
	} rows[] = { { "0", 0, 1, 1 }, { "00", 0, 2, 1 }, { "1", 0, 1, 0 }, { "01", 0, 2, 0 }, { "10", 0, 2, 0 },
		     { "010", 0, 3, 0 }, { "0", 3, 3, 1 } };
	char folder[] = "/tmp/pmg-forest-XXXXXX";
	struct arena arena = { 0 };
	int n_failed = 0, n = (int) (sizeof(rows) / sizeof(rows[0]));
	if (!mkdtemp(folder) || chdir(folder) != 0) {
		perror(folder);
		return 1;
	}
	put_files();
	for (int i = 0; i < n; i++) {
		int has = shapes_of(&arena, rows[i].files, rows[i].systems, rows[i].n_cells);
		n_failed += has != rows[i].has_shapes;
		if (has != rows[i].has_shapes)
			fprintf(stderr, "files %s: %d\n", rows[i].files, has);
	}
	for (int i = 0; i < 2; i++)
		unlink(names[i]);
	rmdir(folder);
	arena_release(&arena);
	printf("%d passed, %d failed\n", n - n_failed, n_failed);
	return n_failed > 0;
}
