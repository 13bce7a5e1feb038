/* SPDX-License-Identifier: MIT
 *
 * Cells of a file of any of the formats. */
#include "hines/cells.h"

#include <stdlib.h>
#include <string.h>

/* ---- Morphologies -------------------------------------------------------------------------------- */

/* The next tree of the points that are left: those of `root`, in their order. */
static bool take_tree(const struct morphology *m, const int32_t *root, int32_t which, int32_t *place,
		      struct morphology *tree, struct failure *failure)
{
	int64_t n = 0;
	for (int64_t i = which; i < m->n; i++)
		n += root[i] == which;
	*tree = (struct morphology){ .path = m->path, .points = malloc((size_t) n * sizeof(struct point)) };
	if (!tree->points)
		return fail_memory(failure, "the points");
	for (int64_t i = which; tree->n < n; i++) {
		if (root[i] != which)
			continue;
		place[i] = (int32_t) tree->n;
		tree->points[tree->n] = m->points[i];
		tree->points[tree->n++].parent = m->points[i].parent < 0 ? -1 : place[m->points[i].parent];
	}
	return true;
}

static bool add_cell(cell_list *cells, const struct morphology *m, const struct physics *physics,
		     struct notes *notes, struct failure *failure)
{
	struct cell cell;
	if (!cell_of_morphology(&cell, m, physics, notes, failure))
		return false;
	vec_push(notes->arena, cells, cell);
	return true;
}

static void make_copy(struct cell *cell)
{
	shape_free(cell->shape);
	cell->shape = NULL;
	cell->is_copy = true;
}

/* One after the other, each with voltages of its own; the shape is that of the first. */
static bool add_copies(cell_list *cells, const struct morphology *m, const struct cell_request *request,
		       struct notes *notes, struct failure *failure)
{
	struct physics physics = request->physics;
	struct notes silent = { .arena = notes->arena };
	bool ok = add_cell(cells, m, &physics, notes, failure);
	for (int64_t s = 1; s < request->systems && ok; s++) {
		physics.seed++;
		ok = add_cell(cells, m, &physics, &silent, failure);
		if (ok)
			make_copy(&cells->items[cells->n - 1]);
	}
	return ok;
}

static bool divide_tree(struct morphology *m, const struct cell_request *request, struct notes *notes,
			struct failure *failure)
{
	const struct conventions *c = &request->conventions;
	return c->convention == CONVENTION_POINTS || morphology_divide(m, c, &request->physics, notes, failure);
}

static bool split_trees(cell_list *cells, const struct morphology *m, const struct cell_request *request,
			struct notes *notes, struct failure *failure)
{
	int32_t *root = malloc((size_t) m->n * sizeof(*root)),
		*place = malloc((size_t) m->n * sizeof(*place));
	bool ok = (root && place) || fail_memory(failure, "the points");
	for (int64_t i = 0; ok && i < m->n; i++)
		root[i] = m->points[i].parent < 0 ? (int32_t) i : root[m->points[i].parent];
	for (int32_t i = 0; ok && i < m->n; i++) {
		struct morphology tree = { 0 };
		if (root[i] != i)
			continue;
		ok = take_tree(m, root, i, place, &tree, failure) &&
		     divide_tree(&tree, request, notes, failure) &&
		     add_cell(cells, &tree, &request->physics, notes, failure);
		morphology_free(&tree);
	}
	free(root);
	free(place);
	return ok;
}

static bool read_swc(cell_list *cells, const char *path, const struct cell_request *request,
		     struct notes *notes, struct failure *failure)
{
	struct morphology m;
	if (!swc_read(&m, path, notes, failure))
		return false;
	bool ok = morphology_apply(&m, &request->conventions, notes, failure) &&
		  (request->conventions.roots == ROOTS_SPLIT
			   ? split_trees(cells, &m, request, notes, failure)
			   : divide_tree(&m, request, notes, failure) &&
				     add_copies(cells, &m, request, notes, failure));
	morphology_free(&m);
	return ok;
}

/* ---- Formats --------------------------------------------------------------------------------------- */

static const struct {
	const char *name, *suffix;
} formats[] = { { "swc", ".swc" }, { "tsv", ".tsv" }, { "coreneuron", "_2.dat" }, { "bsc", ".txt" } };

enum { FORMAT_SWC, FORMAT_TSV, FORMAT_CORENEURON, FORMAT_BSC, N_FORMATS };

static int format_named(const char *path, const char *format)
{
	size_t length = strlen(path);
	for (int i = 0; i < N_FORMATS; i++) {
		size_t n = strlen(formats[i].suffix);
		if (format ? strcmp(format, formats[i].name) == 0
			   : length >= n && strcmp(path + length - n, formats[i].suffix) == 0)
			return i;
	}
	return -1;
}

static bool unknown_format(const char *path, const char *format, struct failure *failure)
{
	const char *names[N_FORMATS];
	for (int i = 0; i < N_FORMATS; i++)
		names[i] = formats[i].name;
	fail(failure, OUTCOME_USAGE,
	     format ? "there is no format '%s' of cells" : "%s: the format is not known by its name",
	     format ? format : path);
	const char *near = format ? suggest_nearest(format, names, N_FORMATS) : NULL;
	if (near)
		fail_help(failure, "did you mean '%s'?", near);
	else
		fail_help(failure,
			  "swc, tsv (.hines.tsv), bsc (text of cuHinesBatch), coreneuron (GID_2.dat)");
	return false;
}

bool cell_options_apply(const struct cell_request *request, const char *const *paths, int n, const char *format,
			struct failure *failure)
{
	bool has_points = false, lacks_diagonal = false;
	for (int i = 0; i < n; i++) {
		int number = format_named(paths[i], format);
		has_points = has_points || number == FORMAT_SWC || number < 0;
		lacks_diagonal = lacks_diagonal || number == FORMAT_CORENEURON;
	}
	const char *idle = has_points || n == 0 ? NULL : cell_option_idle(request, lacks_diagonal);
	if (!idle)
		return true;
	fail(failure, OUTCOME_USAGE, "--%s changes nothing: %s %s the systems %s", idle,
	     n > 1 ? "these files" : paths[0], n > 1 ? "have" : "has", n > 1 ? "themselves" : "itself");
	fail_help(failure, lacks_diagonal ? "--cm, --leak, --rest and --dt make the diagonals of coreneuron"
					  : "it is for the points of swc");
	return false;
}

bool cells_read(cell_list *cells, const char *path, const char *format, const struct cell_request *request,
		struct notes *notes, struct failure *failure)
{
	struct cell cell = { 0 };
	bool ok = false;
	switch (format_named(path, format)) {
	case FORMAT_SWC:
		return read_swc(cells, path, request, notes, failure);
	case FORMAT_TSV:
		ok = tsv_cell_read(&cell, path, failure);
		break;
	case FORMAT_CORENEURON:
		ok = coreneuron_cell_read(&cell, path, &request->physics, notes, failure);
		break;
	case FORMAT_BSC:
		ok = bsc_cell_read(&cell, path, failure);
		break;
	default:
		return unknown_format(path, format, failure);
	}
	if (ok)
		vec_push(notes->arena, cells, cell);
	return ok;
}

/* ---- One after the other --------------------------------------------------------------------------- */

void forest_free(struct forest *f)
{
	free(f->offset);
	cell_free(&f->all);
	*f = (struct forest){ 0 };
}

/* What only some files tell is told of all cells or of none. */
static bool forest_new(struct forest *f, const cell_list *cells, struct failure *failure)
{
	int64_t n = 0;
	bool has_reference = cells->n > 0, has_ids = cells->n > 0, has_shapes = cells->n > 0;
	*f = (struct forest){ .n = cells->n, .offset = calloc((size_t) cells->n + 1, sizeof(int64_t)) };
	for (int i = 0; i < cells->n; i++) {
		n += cells->items[i].n;
		has_reference = has_reference && cells->items[i].reference;
		has_ids = has_ids && cells->items[i].id;
		has_shapes = has_shapes && (cells->items[i].shape || cells->items[i].is_copy);
	}
	bool ok = f->offset && cell_new(&f->all, n, failure);
	if (ok && has_reference)
		f->all.reference = calloc((size_t) n + 1, sizeof(double));
	if (ok && has_ids)
		f->all.id = calloc((size_t) n + 1, sizeof(int64_t));
	if (ok && has_shapes)
		f->all.shape = shape_new(n);
	if (ok && (f->all.reference || !has_reference) && (f->all.id || !has_ids) && (f->all.shape || !has_shapes))
		return true;
	forest_free(f);
	return fail_memory(failure, "the cells");
}

bool forest_of_cells(struct forest *f, const cell_list *cells, struct failure *failure)
{
	if (!forest_new(f, cells, failure))
		return false;
	for (int i = 0; i < cells->n; i++) {
		const struct cell *cell = &cells->items[i];
		int64_t at = f->offset[i];
		size_t bytes = (size_t) cell->n * sizeof(double);
		f->offset[i + 1] = at + cell->n;
		memcpy(f->all.parent + at, cell->parent, (size_t) cell->n * sizeof(int32_t));
		memcpy(f->all.upper + at, cell->upper, bytes);
		memcpy(f->all.lower + at, cell->lower, bytes);
		memcpy(f->all.diag + at, cell->diag, bytes);
		memcpy(f->all.rhs + at, cell->rhs, bytes);
		if (f->all.reference)
			memcpy(f->all.reference + at, cell->reference, bytes);
		if (f->all.shape && cell->shape)
			shape_copy(f->all.shape, at, cell->shape, cell->n);
		if (f->all.id)
			memcpy(f->all.id + at, cell->id, (size_t) cell->n * sizeof(int64_t));
	}
	return true;
}
