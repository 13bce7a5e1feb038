/* SPDX-License-Identifier: MIT
 *
 * Cells of a file of any of the formats, and what is asked of them. */
#include "hines/cells.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The request --------------------------------------------------------------------------- */

struct cell_request cell_request_default(void)
{
	return (struct cell_request){
		.physics = { .ra = 150,
			     .cm = 1,
			     .leak = 1e-4,
			     .rest = -65,
			     .dt = 0.025,
			     .voltage_low = -65,
			     .voltage_high = -45,
			     .seed = NO_SEED },
	};
}

static bool take_name(const char *option, const char *word, const char *const *names, int *value,
		      struct failure *failure)
{
	int n = 0;
	for (; word && names[n]; n++)
		if (strcmp(names[n], word) == 0) {
			*value = n;
			return true;
		}
	if (!word)
		return true;
	fail(failure, OUTCOME_USAGE, "--%s=%s is no convention", option, word);
	fail_help_choose(failure, word, names, n);
	return false;
}

enum range { ANY_NUMBER, FROM_ZERO, ABOVE_ZERO };

static bool is_in_range(enum range range, double value)
{
	return isfinite(value) && (range == ANY_NUMBER || value > 0 || (range == FROM_ZERO && value == 0));
}

static bool take_number(const char *option, const char *text, enum range range, double *value, struct failure *failure)
{
	static const char *const names[] = { "", " of 0 or more", " above 0" };
	if (!text || (parse_real(text, value) && is_in_range(range, *value)))
		return true;
	return fail(failure, OUTCOME_USAGE, "--%s=%s is not a number%s", option, text, names[range]);
}

/* V or LOW..HIGH */
static bool take_voltage(const char *text, struct physics *physics, struct failure *failure)
{
	char low[32];
	const char *dots = text ? strstr(text, "..") : NULL;
	if (!text)
		return true;
	snprintf(low, sizeof(low), "%.*s", dots ? (int) (dots - text) : (int) strlen(text), text);
	return take_number("voltage", low, ANY_NUMBER, &physics->voltage_low, failure) &&
	       take_number("voltage", dots ? dots + 2 : low, ANY_NUMBER, &physics->voltage_high, failure) &&
	       (physics->voltage_low <= physics->voltage_high ||
		fail(failure, OUTCOME_USAGE, "--voltage=%s: the lowest is above the highest", text));
}

/* Of two pieces of a branch that is just longer, none is below LEAST_LENGTH. */
static bool take_max_length(const char *text, double *length, struct failure *failure)
{
	if (!take_number("max-length", text, ABOVE_ZERO, length, failure))
		return false;
	return !text || *length >= 2 * LEAST_LENGTH ||
	       fail(failure, OUTCOME_USAGE, "--max-length=%s is below %g um: pieces below %g um are taken as so long",
		    text, 2 * LEAST_LENGTH, LEAST_LENGTH);
}

bool cell_request_complete(struct cell_request *r, struct failure *failure)
{
	struct conventions *c = &r->conventions;
	struct physics *p = &r->physics;
	int soma = 0, roots = 0, order = 0;
	if (!take_name("soma", r->soma, soma_names, &soma, failure) ||
	    !take_name("roots", r->roots, roots_names, &roots, failure) ||
	    !take_name("order", r->order, node_order_names, &order, failure))
		return false;
	p->seed = p->seed == NO_SEED ? 1 : p->seed;
	p->cm_is_given = r->cm != NULL;
	c->soma = (enum soma) soma;
	c->roots = (enum roots) roots;
	c->order = (enum node_order) order;
	if (r->max_length && c->per_branch > 0)
		return fail(failure, OUTCOME_USAGE, "--max-length and --per-branch exclude each other");
	return take_max_length(r->max_length, &c->max_length, failure) &&
	       take_number("ra", r->ra, ABOVE_ZERO, &p->ra, failure) &&
	       take_number("cm", r->cm, ABOVE_ZERO, &p->cm, failure) &&
	       take_number("leak", r->leak, FROM_ZERO, &p->leak, failure) &&
	       take_number("rest", r->rest, ANY_NUMBER, &p->rest, failure) &&
	       take_number("dt", r->dt, ABOVE_ZERO, &p->dt, failure) && take_voltage(r->voltage, p, failure);
}

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

/* One after the other, each with voltages of its own. */
static bool add_copies(cell_list *cells, const struct morphology *m, const struct cell_request *request,
		       struct notes *notes, struct failure *failure)
{
	struct physics physics = request->physics;
	struct notes silent = { .arena = notes->arena };
	bool ok = add_cell(cells, m, &physics, notes, failure);
	for (int64_t s = 1; s < request->systems && ok; s++) {
		physics.seed++;
		ok = add_cell(cells, m, &physics, &silent, failure);
	}
	return ok;
}

static bool split_trees(cell_list *cells, const struct morphology *m, const struct physics *physics,
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
		     add_cell(cells, &tree, physics, notes, failure);
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
			   ? split_trees(cells, &m, &request->physics, notes, failure)
			   : add_copies(cells, &m, request, notes, failure));
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

/* How points become a system. CoreNEURON's files lack the diagonal only. */
static const struct shape_option {
	const char *name;
	size_t offset;
	bool is_of_diagonal;
} shape_options[] = {
	{ "soma", offsetof(struct cell_request, soma), false },
	{ "roots", offsetof(struct cell_request, roots), false },
	{ "order", offsetof(struct cell_request, order), false },
	{ "max-length", offsetof(struct cell_request, max_length), false },
	{ "ra", offsetof(struct cell_request, ra), false },
	{ "voltage", offsetof(struct cell_request, voltage), false },
	{ "cm", offsetof(struct cell_request, cm), true },
	{ "leak", offsetof(struct cell_request, leak), true },
	{ "rest", offsetof(struct cell_request, rest), true },
	{ "dt", offsetof(struct cell_request, dt), true },
};

/* An option that files without points have no use for, nor any for a diagonal if one `lacks_diagonal`; NULL: none. */
static const char *idle_option(const struct cell_request *request, bool lacks_diagonal)
{
	for (size_t i = 0; i < sizeof(shape_options) / sizeof(shape_options[0]); i++) {
		const struct shape_option *option = &shape_options[i];
		const char *const *text = (const void *) ((const char *) request + option->offset);
		if (*text && !(option->is_of_diagonal && lacks_diagonal))
			return option->name;
	}
	return request->conventions.per_branch > 0 ? "per-branch" : request->physics.seed != NO_SEED ? "seed" : NULL;
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
	const char *idle = has_points || n == 0 ? NULL : idle_option(request, lacks_diagonal);
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
	bool has_reference = cells->n > 0, has_ids = cells->n > 0;
	*f = (struct forest){ .n = cells->n, .offset = calloc((size_t) cells->n + 1, sizeof(int64_t)) };
	for (int i = 0; i < cells->n; i++) {
		n += cells->items[i].n;
		has_reference = has_reference && cells->items[i].reference;
		has_ids = has_ids && cells->items[i].id;
	}
	bool ok = f->offset && cell_new(&f->all, n, failure);
	if (ok && has_reference)
		f->all.reference = calloc((size_t) n + 1, sizeof(double));
	if (ok && has_ids)
		f->all.id = calloc((size_t) n + 1, sizeof(int64_t));
	if (ok && (f->all.reference || !has_reference) && (f->all.id || !has_ids))
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
		if (f->all.id)
			memcpy(f->all.id + at, cell->id, (size_t) cell->n * sizeof(int64_t));
	}
	return true;
}
