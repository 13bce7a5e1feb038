/* SPDX-License-Identifier: MIT
 *
 * `pmg phantom hines` and `pmg phantom tri`: a batch of systems as a file that `pmg run` binds: T or F with their
 * parents, upper, lower, diag, rhs; or a, b, c, d of tridiagonal systems, with offset where lengths differ. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "formats/formats.h"
#include "phantom/systems.h"

struct values {
	struct system_options options;
	const char *output, *tree, *lengths;
	int64_t n;              /* 0: not given */
	bool stats, is_own;
};

/* ---- The file ------------------------------------------------------------------------------ */

static bool write_numbers(const struct values *v, const struct system_phantom *p, const char *path,
			  struct failure *failure)
{
	static const char *const names[][4] = { { "upper", "lower", "diag", "rhs" }, { "c", "a", "b", "d" } };
	double *const data[] = { p->upper, p->lower, p->diag, p->rhs };
	struct content group = { .kind = CONTENT_GROUP };
	bool is_table = p->has_one_tree || (v->options.is_tri && !v->options.high), ok = true;
	for (int i = 0; i < 4 && ok; i++) {
		bool is_shared = i < 2 && v->options.is_shared;
		int64_t rows = is_shared ? p->n : is_table ? p->n_systems : p->n_rows;
		ok = content_borrow(&group, names[v->options.is_tri][i], PMG_F64, is_table && !is_shared ? 2 : 1, rows,
				    p->n, data[i], failure);
	}
	if (ok && v->options.is_tri && v->options.high)
		ok = content_borrow(&group, "offset", PMG_I64, 1, p->n_systems + 1, 0, p->offset, failure);
	return hdf5_write_borrowed(&group, path, "/", ok, failure);
}

struct phantom_file {
	const struct values *v;
	const struct system_phantom *phantom;
};

static bool fill_file(void *user, const char *path, struct failure *failure)
{
	const struct phantom_file *file = user;
	const struct system_phantom *p = file->phantom;
	struct content trees = { .kind = CONTENT_GROUP };
	if (!write_numbers(file->v, p, path, failure))
		return false;
	if (file->v->options.is_tri)
		return true;
	int64_t n = p->has_one_tree ? p->n : p->n_rows;
	bool ok = content_borrow(&trees, "parent", PMG_I32, 1, n, 0, p->parent, failure);
	if (ok && !p->has_one_tree)
		ok = content_borrow(&trees, "offset", PMG_I64, 1, p->n_systems + 1, 0, p->offset, failure);
	return hdf5_write_borrowed(&trees, path, p->has_one_tree ? "/T" : "/F", ok, failure);
}

/* ---- The report -------------------------------------------------------------------------------- */

static void print_statistics(const struct values *v, const struct system_phantom *p)
{
	int64_t branches = 0, deepest = 0, shortest = p->n;
	for (int64_t s = 0; s < p->n_systems; s++) {
		int64_t at = p->offset[s], n = p->offset[s + 1] - at;
		shortest = n < shortest ? n : shortest;
		if (v->options.is_tri || (p->has_one_tree && s > 0))
			continue;
		int64_t depth = tree_depth(p->parent + at, n);
		branches += tree_count_branches(p->parent + at, n);
		deepest = depth > deepest ? depth : deepest;
	}
	printf("%" PRId64 " system%s, %" PRId64 " row%s, %" PRId64 " to %" PRId64 " each\n", p->n_systems,
	       s_of(p->n_systems), p->n_rows, s_of(p->n_rows), shortest, p->n);
	if (!v->options.is_tri)
		printf("%s, %" PRId64 " branch%s, at most %" PRId64 " node%s from a root to a tip\n",
		       p->has_one_tree ? "one tree" : "a tree for each", branches, branches == 1 ? "" : "es", deepest,
		       s_of(deepest));
}

/* ---- The command ---------------------------------------------------------------------------------- */

/* Options of which one would do nothing. */
static bool options_agree(const struct values *v, struct failure *failure)
{
	const struct system_options *o = &v->options;
	if (v->n && v->lengths)
		return fail(failure, OUTCOME_USAGE, "--n and --lengths exclude each other");
	if (v->is_own && (o->is_many || v->lengths))
		return fail(failure, OUTCOME_USAGE, "--own is for one tree: with %s each system has its own anyway",
			    o->is_many ? "--many" : "--lengths");
	return true;
}

static bool take_shape(struct values *v, struct failure *failure)
{
	struct tree_shape *shape = &v->options.shape;
	int64_t n = v->n ? v->n : 512;
	if (v->options.is_tri) {
		shape->n = n;
		return true;
	}
	if (!tree_shape_parse(v->tree, n, shape, failure))
		return false;
	return !v->n || shape->n == n ||
	       fail(failure, OUTCOME_USAGE,
		    "--n=%" PRId64 " is for chain and levels=N; the tree %s has %" PRId64 " node%s", n, v->tree,
		    shape->n, s_of(shape->n));
}

static bool complete(struct values *v, struct failure *failure)
{
	struct system_options *o = &v->options;
	if (!options_agree(v, failure) || !system_lengths_parse(v->lengths, &o->low, &o->high, failure))
		return false;
	o->is_shared = !o->is_tri && !o->is_many && !o->high && !v->is_own;
	return take_shape(v, failure);
}

static bool make(void *values, const word_list *operands, struct arena *arena, struct failure *failure)
{
	struct values *v = values;
	struct system_phantom phantom;
	(void) arena;
	if (operands->n > 0)
		return fail(failure, OUTCOME_USAGE, "'%s' is not an option", operands->items[0]);
	const struct format *format = v->output ? format_of(v->output) : NULL;
	if (v->output && (!format || format->write != hdf5_write))
		return fail(failure, OUTCOME_USAGE, "%s: a phantom is an HDF5 file: -o FILE.h5", v->output);
	if (!v->output && !v->stats)
		return fail(failure, OUTCOME_USAGE, "nothing to do: give -o FILE.h5, --stats or both");
	if (!complete(v, failure) || !system_phantom_make(&v->options, &phantom, failure))
		return false;
	if (v->stats)
		print_statistics(v, &phantom);
	struct phantom_file file = { v, &phantom };
	bool ok = !v->output || hdf5_write_whole(v->output, fill_file, &file, failure);
	system_phantom_free(&phantom);
	return ok;
}

static int run_systems(const struct command *command, struct arena *arena, int argc, char **argv, bool is_tri)
{
	struct values values = { .options = { .n_systems = 256, .seed = 1, .is_tri = is_tri }, .tree = "medium-low" };
	return command_do(command, arena, argc, argv, &values, make);
}

static int run_hines(const struct command *command, struct arena *arena, int argc, char **argv)
{
	return run_systems(command, arena, argc, argv, false);
}

static int run_tri(const struct command *command, struct arena *arena, int argc, char **argv)
{
	return run_systems(command, arena, argc, argv, true);
}

#define COMMON_OPTIONS(rows, lengths_are) \
	{ .name = "systems", .kind = OPTION_INTEGER, .offset = offsetof(struct values, options.n_systems), .low = 1, \
	  .high = INT32_MAX, .operand = "N", .text = "how many (default: 256)" }, \
	{ .name = "n", .kind = OPTION_INTEGER, .offset = offsetof(struct values, n), .low = 1, .high = INT32_MAX, \
	  .operand = "N", .text = rows }, \
	{ .name = "lengths", .kind = OPTION_TEXT, .offset = offsetof(struct values, lengths), \
	  .operand = "LOW..HIGH", .text = "systems of so many rows, each of its own length" lengths_are }, \
	{ .name = "seed", .kind = OPTION_INTEGER, .offset = offsetof(struct values, options.seed), .low = 0, \
	  .high = INT32_MAX, .operand = "N", .text = "another seed is another batch (default: 1)" }, \
	{ .name = "stats", .offset = offsetof(struct values, stats), .text = "print what was made" }, \
	{ .name = "output", .letter = 'o', .kind = OPTION_TEXT, .offset = offsetof(struct values, output), \
	  .operand = "FILE.h5", .text = "the HDF5 file to write, in the place of one of that name" }

static const struct option_row hines_rows[] = {
	{ .name = "tree", .kind = OPTION_TEXT, .offset = offsetof(struct values, tree), .operand = "SHAPE",
	  .text = "small-low … big-high, NODES/BRANCHES, levels=N, levels=256,2x32,…, chain (default: medium-low)" },
	{ .name = "many", .offset = offsetof(struct values, options.is_many), .text = "a tree for each system" },
	{ .name = "own", .offset = offsetof(struct values, is_own),
	  .text = "upper and lower of one tree for each system, not shared" },
	COMMON_OPTIONS("nodes of levels=N and chain (default: 512)", ", and so of its own tree"),
};

static const struct option_row tri_rows[] = { COMMON_OPTIONS("rows of a system (default: 512)", "") };

const struct command phantom_hines_command = {
	.name = "phantom hines",
	.operands = "-o FILE.h5",
	.sentence = "make Hines systems, on one tree or on many",
	.details = "'pmg run dsl_examples/hines.pmg --pipeline=hines' takes what is made: T=FILE.h5 upper=FILE.h5 …;\n"
		   "of many trees, --pipeline=hines_forest: F=FILE.h5 …; with --own, dsl_examples/hines_own.pmg.\n"
		   "The same options give the same file.\n",
	.options = hines_rows,
	.n_options = sizeof(hines_rows) / sizeof(hines_rows[0]),
	.run = run_hines,
};

const struct command phantom_tri_command = {
	.name = "phantom tri",
	.operands = "-o FILE.h5",
	.sentence = "make tridiagonal systems, diagonally dominant and symmetric",
	.details = "'pmg run dsl_examples/tridiagonal.pmg --pipeline=tri_batch' takes what is made: a=FILE.h5 "
		   "b=FILE.h5\nc=FILE.h5 d=FILE.h5; with --lengths, dsl_examples/tri_ragged.pmg does.\n"
		   "The same options give the same file.\n",
	.options = tri_rows,
	.n_options = sizeof(tri_rows) / sizeof(tri_rows[0]),
	.run = run_tri,
};
