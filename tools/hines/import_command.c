/* SPDX-License-Identifier: MIT
 *
 * `pmg import KIND FILE…`: cells as a file that `pmg run` binds to the pipelines of dsl_examples/hines.pmg. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "hines/cells.h"

struct values {
	struct cell_request request;
	const char *output;
};

enum { MOST_SHOWN = 20 };

/* ---- Writing -------------------------------------------------------------------------------- */

/* Of n nodes; nothing where files have no points. */
static bool add_shape(struct content *group, const struct shape *s, int64_t n, struct failure *failure)
{
	return !s || (content_borrow(group, "area", PMG_F64, 1, n, 0, s->area, failure) &&
		      content_borrow(group, "volume", PMG_F64, 1, n, 0, s->volume, failure) &&
		      content_borrow(group, "cm", PMG_F64, 1, n, 0, s->cm, failure) &&
		      content_borrow(group, "gAxial", PMG_F64, 1, n, 0, s->axial, failure) &&
		      content_borrow(group, "type", PMG_I32, 1, n, 0, s->type, failure) &&
		      content_borrow(group, "place", PMG_F64, 2, n, 3, s->place, failure) &&
		      content_borrow(group, "distance", PMG_F64, 1, n, 0, s->distance, failure) &&
		      content_borrow(group, "diameter", PMG_F64, 1, n, 0, s->diameter, failure));
}

static bool write_forest(void *user, const char *path, struct failure *failure)
{
	struct forest *f = user;
	struct content group = { .kind = CONTENT_GROUP }, trees = { .kind = CONTENT_GROUP };
	struct cell *a = &f->all;
	bool ok = content_borrow(&group, "upper", PMG_F64, 1, a->n, 0, a->upper, failure) &&
		  content_borrow(&group, "lower", PMG_F64, 1, a->n, 0, a->lower, failure) &&
		  content_borrow(&group, "diag", PMG_F64, 1, a->n, 0, a->diag, failure) &&
		  content_borrow(&group, "rhs", PMG_F64, 1, a->n, 0, a->rhs, failure) &&
		  content_borrow(&group, "reference", PMG_F64, 1, a->n, 0, a->reference, failure) &&
		  content_borrow(&group, "id", PMG_I64, 1, a->n, 0, a->id, failure) &&
		  add_shape(&group, a->shape, a->n, failure);
	if (!hdf5_write_borrowed(&group, path, "/", ok, failure))
		return false;
	ok = content_borrow(&trees, "parent", PMG_I32, 1, a->n, 0, a->parent, failure) &&
	     content_borrow(&trees, "offset", PMG_I64, 1, f->n + 1, 0, f->offset, failure);
	return hdf5_write_borrowed(&trees, path, "/F", ok, failure);
}

/* Many systems on the tree of one cell, which f holds as often. */
static bool write_copies(void *user, const char *path, struct failure *failure)
{
	struct forest *f = user;
	struct content group = { .kind = CONTENT_GROUP }, tree = { .kind = CONTENT_GROUP };
	struct cell *a = &f->all;
	int64_t n = f->offset[1];
	bool ok = content_borrow(&group, "upper", PMG_F64, 1, n, 0, a->upper, failure) &&
		  content_borrow(&group, "lower", PMG_F64, 1, n, 0, a->lower, failure) &&
		  content_borrow(&group, "diag", PMG_F64, 2, f->n, n, a->diag, failure) &&
		  content_borrow(&group, "rhs", PMG_F64, 2, f->n, n, a->rhs, failure) &&
		  content_borrow(&group, "id", PMG_I64, 1, n, 0, a->id, failure) &&
		  add_shape(&group, a->shape, n, failure);
	if (!hdf5_write_borrowed(&group, path, "/", ok, failure))
		return false;
	ok = content_borrow(&tree, "parent", PMG_I32, 1, n, 0, a->parent, failure);
	return hdf5_write_borrowed(&tree, path, "/T", ok, failure);
}

/* ---- Reading ----------------------------------------------------------------------------------- */

static void print_notes(const char *path, const struct notes *notes)
{
	for (int i = 0; i < notes->lines.n && i < MOST_SHOWN; i++)
		printf("%s: %s\n", path, notes->lines.items[i]);
	if (notes->lines.n > MOST_SHOWN)
		printf("%s: %d more of these\n", path, notes->lines.n - MOST_SHOWN);
}

static bool read_file(struct arena *arena, const char *kind, const char *path, const struct cell_request *request,
		      cell_list *cells, struct failure *failure)
{
	struct notes notes = { .arena = arena };
	int before = cells->n;
	int64_t n = 0;
	if (!cells_read(cells, path, kind, request, &notes, failure))
		return false;
	for (int i = before; i < cells->n; i++)
		n += cells->items[i].n;
	print_notes(path, &notes);
	printf("%s: %d system%s, %" PRId64 " node%s\n", path, cells->n - before, s_of(cells->n - before), n, s_of(n));
	return true;
}

static bool read_all(struct arena *arena, struct values *v, const word_list *operands, cell_list *cells,
		     struct failure *failure)
{
	bool ok = true;
	for (int i = 1; i < operands->n && ok; i++)
		ok = read_file(arena, operands->items[0], operands->items[i], &v->request, cells, failure);
	return ok;
}

static bool check_request(struct arena *arena, struct values *v, const word_list *operands, struct failure *failure)
{
	const struct format *format = v->output ? format_of(v->output) : NULL;
	if (operands->n == 1 && path_has_suffix_of(operands->items[0], ".swc .tsv .txt .dat .bsc")) {
		fail(failure, OUTCOME_USAGE, "%s: the kind of files is missing before it", operands->items[0]);
		fail_help(failure, "pmg import swc FILE.swc -o cells.h5; other kinds are tsv, bsc and coreneuron");
		return false;
	}
	if (operands->n < 2 || !v->output) {
		fail(failure, OUTCOME_USAGE, operands->n == 0 ? "the kind of files is missing" :
		     operands->n == 1 ? "a file to read is missing" : "--output FILE.h5 is missing");
		fail_help(failure, "pmg import swc FILE.swc -o cells.h5");
		return false;
	}
	if (!format || format->write != hdf5_write)
		return fail(failure, OUTCOME_USAGE, "%s: cells are an HDF5 file: -o FILE.h5", v->output);
	if (v->request.systems && (operands->n > 2 || strcmp(operands->items[0], "swc") != 0 ||
			   (v->request.roots && strcmp(v->request.roots, "split") == 0)))
		return fail(failure, OUTCOME_USAGE,
			    "--systems is for one file of swc, with one tree or all in a system");
	for (int i = 1; i < operands->n; i++)
		if (!location_spares(arena, v->output, operands->items[i], failure))
			return false;
	return cell_options_apply(&v->request, operands->items + 1, operands->n - 1, operands->items[0], failure) &&
	       cell_request_complete(&v->request, failure);
}

static bool import(void *values, const word_list *operands, struct arena *arena, struct failure *failure)
{
	struct values *v = values;
	cell_list cells = { 0 };
	struct forest forest = { 0 };
	bool is_wanted = check_request(arena, v, operands, failure);
	bool is_read = is_wanted && read_all(arena, v, operands, &cells, failure) &&
		       forest_of_cells(&forest, &cells, failure);
	bool ok = is_read &&
		  hdf5_write_whole(v->output, v->request.systems ? write_copies : write_forest, &forest, failure);
	if (is_wanted && !is_read && operands->n > 2)
		fail_note(failure, "nothing is written to %s, which takes all files or none", v->output);
	forest_free(&forest);
	for (int i = 0; i < cells.n; i++)
		cell_free(&cells.items[i]);
	return ok;
}

/* ---- The command ---------------------------------------------------------------------------------- */

static const struct option_row rows[] = {
	CELL_OPTIONS(request),
	{ .name = "systems", .kind = OPTION_INTEGER, .offset = offsetof(struct values, request.systems), .low = 1,
	  .high = 1000000, .operand = "N", .text = "so many systems on the tree of one file, each with its voltages" },
	{ .name = "output", .letter = 'o', .kind = OPTION_TEXT, .offset = offsetof(struct values, output),
	  .operand = "FILE.h5", .text = "the HDF5 file to write, in the place of one of that name" },
};

static int run_import(const struct command *command, struct arena *arena, int argc, char **argv)
{
	struct values values = { .request = cell_request_default() };
	return command_do(command, arena, argc, argv, &values, import);
}

const struct command import_command = {
	.name = "import",
	.operands = "swc|tsv|bsc|coreneuron FILE… -o FILE.h5",
	.sentence = "make Hines systems of neurons' shapes, or of other programs' files",
	.details = "What is changed in a file is told. F (the trees), upper, lower, diag and rhs are what the pipeline "
		   "hines_forest of\ndsl_examples/hines.pmg takes; with --systems, T and the others are those of "
		   "hines.\nOf shapes, area, volume, cm, gAxial, type, place, distance, diameter and id say what "
		   "each node is; id is\nthat of its point in the file, or -1 where it is none.\n",
	.options = rows,
	.n_options = sizeof(rows) / sizeof(rows[0]),
	.run = run_import,
};
