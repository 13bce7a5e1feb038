/* SPDX-License-Identifier: MIT
 *
 * libFuzzer: any bytes as a file of cells of the format KIND, with the conventions that change most. What is read must
 * be whole: parents stand before their children. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "hines/cells.h"
#include "fuzz/put_file.h"

#ifndef KIND
#define KIND "swc"
#endif

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const struct conventions ways[] = {
	{ 0 },
	{ .soma = SOMA_THREE_POINTS, .roots = ROOTS_LARGEST, .order = ORDER_DEPTH, .per_branch = 3 },
	{ .soma = SOMA_SPHERE, .roots = ROOTS_SPLIT, .order = ORDER_DEPTH, .unit = UNIT_NM },
	{ .convention = CONVENTION_NEURON, .roots = ROOTS_SPLIT, .per_branch = 2, .scale = SCALE_APPLIED },
	{ .convention = CONVENTION_ARBOR, .roots = ROOTS_LARGEST, .per_branch = 2 },
};

static void check_cells(cell_list *cells)
{
	for (int c = 0; c < cells->n; c++) {
		struct cell *cell = &cells->items[c];
		for (int64_t i = 0; i < cell->n; i++)
			if (cell->parent[i] < -1 || cell->parent[i] >= i)
				abort();
		cell_free(cell);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena arena = { 0 };
	struct failure failure = { 0 };
	struct notes notes = { .arena = &arena };
	cell_list cells = { 0 };
	char path[64];
	snprintf(path, sizeof(path), "/tmp/pmg-fuzz-cells-%ld", (long) getpid());
	put_file(path, data, size);
	for (int way = 0; way < 5; way++) {
		struct cell_request request = cell_request_default();
		request.conventions = ways[way];
		(void) cells_read(&cells, path, KIND, &request, &notes, &failure);
		check_cells(&cells);
		cells.n = 0;
	}
	unlink(path);
	arena_release(&arena);
	return 0;
}
