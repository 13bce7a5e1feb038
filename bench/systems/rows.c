/* SPDX-License-Identifier: MIT
 *
 * The rows of one case: the stream, hand-written code, and generated code as it comes, flat, in blocks of other sizes,
 * and in blocks that the caller holds, with the copies into these and back. */
#include "systems/systems.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- The stream ------------------------------------------------------------------------------- */

static bool run_stream(void *state, double *seconds, struct failure *failure)
{
	struct systems_row *row = state;
	const struct system_batch *b = &row->problem->batch;
	const double *from[] = { b->upper, b->lower, b->diag, b->rhs };
	(void) failure;
	double start = clock_seconds(false, 1);
	system_stream(NULL, row->call.threads, b->is_shared ? 2 : 4, b->n_rows / (b->is_single ? 2 : 1), from,
		      row->out);
	*seconds = clock_seconds(false, 1) - start;
	return true;
}

/* ---- Hand-written code -------------------------------------------------------------------------- */

static bool run_call(void *state, double *seconds, struct failure *failure)
{
	struct systems_row *row = state;
	(void) failure;
	double start = clock_seconds(false, 1);
	system_call_run(&row->call, row->out);
	*seconds = clock_seconds(false, 1) - start;
	return true;
}

static struct systems_row *new_row(struct systems_values *values, struct systems_case *problem, const char *name)
{
	struct systems_row *row = arena_new(values->arena, struct systems_row);
	*row = (struct systems_row){ .problem = problem, .out = problem->x.data };
	row->row.state = row;
	row->row.record = record_new();
	row->row.record.version = name;
	row->row.record.target = "openmp";
	return row;
}

static bool add_hand(struct systems_values *values, struct systems_case *problem,
		     const struct system_version *version, bool is_asked, systems_row_list *rows)
{
	char error[200] = "";
	struct systems_row *row = new_row(values, problem, version->name);
	row->row.run = run_call;
	row->call = (struct system_call){ .version = version, .batch = &problem->batch,
					  .threads = (int) values->run.threads };
	if (!system_call_prepare(&row->call, values->isa, error, sizeof(error))) {
		if (is_asked)
			fprintf(stderr, "pmg bench: %s of %s is left out: %s\n", problem->op, version->name, error);
		system_call_release(&row->call);
		return true;
	}
	row->row.record.threads = row->call.threads;
	row->row.record.layout = version->lanes ? arena_printf(values->arena, "interleave(%d)", row->call.blocks.lanes)
						: "flat";
	row->row.record.plan_ms = 1e3 * row->call.seconds;
	row->row.record.plan_bytes = (double) row->call.bytes;
	vec_push(values->arena, rows, row);
	return true;
}

void systems_row_free(const struct systems_values *values, struct systems_row *row)
{
	if (row->is_generated)
		systems_generated_free(row);
	else if (row->on_gpu.state)
		systems_gpu_free(values, row);
	else if (row->call.version)
		system_call_release(&row->call);
}

/* ---- Lists -------------------------------------------------------------------------------------- */

static bool add_stream(struct systems_values *values, struct systems_case *problem, systems_row_list *rows)
{
	struct systems_row *row = new_row(values, problem, "stream");
	row->row.run = run_stream;
	row->is_stream = true;
	row->call.threads = (int) values->run.threads;
	row->row.record.threads = (double) values->run.threads;
	row->row.record.layout = problem->batch.is_shared ? "2 reads, 1 write" : "4 reads, 1 write";
	vec_push(values->arena, rows, row);
	return true;
}

static const char *const generated_names[] = { "generated", "written", "generated_held", "written_held",
						"into_blocks", "out_of_blocks", "copied" };
enum { N_GENERATED = sizeof(generated_names) / sizeof(generated_names[0]) };

/* On a GPU, arrays are held in no blocks. */
static int n_generated(const struct systems_values *values)
{
	enum { N_FLAT = 2 };
	return systems_is_on_gpu(values) ? N_FLAT : N_GENERATED;
}

/* The i-th version; NULL: there are no more. */
static const char *version_at(const struct systems_values *values, int i)
{
	bool is_usual;
	if (i < n_generated(values))
		return generated_names[i];
	i -= n_generated(values);
	if (systems_is_on_gpu(values))
		return systems_gpu_name(values, i, &is_usual);
	return i == 0 ? "stream" : i <= n_system_versions ? system_versions[i - 1].name : NULL;
}

static bool version_is_known(const struct systems_values *values, const char *name, struct failure *failure)
{
	enum { MOST = 40 };
	const char *names[MOST];
	int n = 0;
	for (const char *known = version_at(values, n); known && n < MOST; known = version_at(values, n)) {
		if (strcmp(known, name) == 0)
			return true;
		names[n++] = known;
	}
	return version_is_unknown(name, systems_is_on_gpu(values) ? " for a GPU" : "", names, n, failure);
}

static bool is_generated(const char *name)
{
	for (int i = 0; i < N_GENERATED; i++)
		if (strcmp(generated_names[i], name) == 0)
			return true;
	return false;
}

bool systems_versions_check(const struct systems_values *values, struct failure *failure)
{
	word_list names = { 0 };
	char *rest = arena_string(values->arena, values->versions ? values->versions : "");
	for (char *name = strsep(&rest, ","); name; name = strsep(&rest, ",")) {
		if (*name && !version_is_known(values, name, failure))
			return false;
		if (words_have(&names, name))
			return fail(failure, OUTCOME_USAGE, "--versions: '%s' is there twice", name);
		if (*name)
			vec_push(values->arena, &names, name);
	}
	/* Beside all of them, some that cannot be are left out. */
	if (!values->versions || !values->baseline)
		return true;
	if (values->generated.n > 0 || values->has_algorithms)
		vec_push(values->arena, &names, "generated");
	if (values->held.n > 0)
		vec_push(values->arena, &names, "generated_held");
	if (values->has_algorithms)
		vec_push(values->arena, &names, "sequential");
	return words_have(&names, values->baseline) ||
	       baseline_is_unknown(values->arena, values->baseline, &names, failure);
}

static bool add_version(struct systems_values *values, struct systems_case *problem, const char *name,
			bool is_asked, systems_row_list *rows, struct failure *failure)
{
	if (is_generated(name))
		return systems_row_generated(values, problem, name, "", rows, failure);
	if (systems_is_on_gpu(values))
		return systems_row_gpu(values, problem, name, is_asked, rows, failure);
	if (strcmp(name, "stream") == 0)
		return add_stream(values, problem, rows);
	return add_hand(values, problem, system_version_named(name), is_asked, rows);
}

/* One system after the other, and blocks of half and of twice as many, as flat data and held so by the caller. */
static bool add_layouts(struct systems_values *values, struct systems_case *problem, systems_row_list *rows,
			struct failure *failure)
{
	const struct system_batch *b = &problem->batch;
	const char *array = b->is_chain ? "d" : "rhs";
	bool ok = systems_row_generated(values, problem, "generated_held", "", rows, failure) &&
		  systems_row_generated(values, problem, "into_blocks", "", rows, failure) &&
		  systems_row_generated(values, problem, "out_of_blocks", "", rows, failure) &&
		  systems_row_generated(values, problem, "copied", "", rows, failure);
	if (b->n_rows != b->n_systems * b->n || !(b->is_chain || b->has_one_tree))
		return ok;
	ok = ok && systems_row_generated(values, problem, "generated", "--interleave=off", rows, failure) &&
	     systems_row_generated(values, problem, "written_held", "", rows, failure);
	for (int block = 8; block <= 32 && ok; block *= 4) {
		const char *options = arena_printf(values->arena, "'--with=layout %s : interleave(block = %d)'", array,
						   block);
		ok = systems_row_generated(values, problem, "generated", options, rows, failure) &&
		     systems_row_generated(values, problem, "generated_held", options, rows, failure);
	}
	return ok;
}

static bool has_version(const systems_row_list *rows, const char *version)
{
	for (int i = 0; i < rows->n; i++)
		if (strcmp(rows->items[i]->row.record.version, version) == 0)
			return true;
	return false;
}

/* Operations of algorithms over trees depend on the tree. */
static void describe_algorithm(struct systems_row *row, const char *name)
{
	const struct system_batch *b = &row->problem->batch;
	if (b->is_chain && b->n_rows == b->n_systems * b->n)
		row->row.record.operations = systems_operations(name, b->n) / (double) b->n;
	if (!b->is_chain || b->n_rows == b->n_systems * b->n)
		row->levels = systems_levels(name, b->n);
}

/* Elimination as it is written, and what else the schedule offers. */
static bool add_algorithms(struct systems_values *values, struct systems_case *problem, systems_row_list *rows,
			   struct failure *failure)
{
	static const char *const of_chains[] = { "thomas", "cr", "pcr", "crpcr", "pcr_thomas", "partition", "stone",
						 NULL };
	static const char *const of_trees[] = { "chains", "hines", "level_batches", "partition(rows = 16)",
						"partition", NULL };
	const char *const *name = problem->batch.is_chain ? of_chains : of_trees;
	bool ok = has_version(rows, "sequential") ||
		  add_version(values, problem, "sequential", true, rows, failure);
	for (; ok && *name; name++) {
		const char *options = arena_printf(values->arena, "'--with=algorithm x : %s'", *name);
		ok = systems_row_generated(values, problem, "generated", options, rows, failure);
		if (ok)
			describe_algorithm(rows->items[rows->n - 1], *name);
	}
	return ok;
}

static bool add_generated(struct systems_values *values, struct systems_case *problem, const char *name,
			  const word_list *options, systems_row_list *rows, struct failure *failure)
{
	for (int i = 0; i < options->n; i++)
		if (!systems_row_generated(values, problem, name, options->items[i], rows, failure))
			return false;
	return true;
}

/* Where no versions are named. */
static bool add_all(struct systems_values *values, struct systems_case *problem, systems_row_list *rows,
		    struct failure *failure)
{
	static const char *const first[] = { "stream", "generated", "written" };
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++)
		if (!add_version(values, problem, first[i], false, rows, failure))
			return false;
	if (!add_layouts(values, problem, rows, failure))
		return false;
	for (int i = 0; i < n_system_versions; i++)
		add_hand(values, problem, &system_versions[i], false, rows);
	return true;
}

static bool add_all_on_gpu(struct systems_values *values, struct systems_case *problem, systems_row_list *rows,
			   struct failure *failure)
{
	bool is_usual, ok = add_version(values, problem, "generated", false, rows, failure);
	const char *name = systems_gpu_name(values, 0, &is_usual);
	for (int i = 1; name && ok; name = systems_gpu_name(values, i++, &is_usual))
		if (is_usual)
			ok = systems_row_gpu(values, problem, name, false, rows, failure);
	return ok;
}

bool systems_rows_add(struct systems_values *values, struct systems_case *problem, systems_row_list *rows,
		      struct failure *failure)
{
	char *rest = arena_string(values->arena, values->versions ? values->versions : "");
	for (char *name = strsep(&rest, ","); name; name = strsep(&rest, ","))
		if (*name && !add_version(values, problem, name, true, rows, failure))
			return false;
	if (values->has_algorithms && !add_algorithms(values, problem, rows, failure))
		return false;
	bool has_all = !values->versions && !values->has_algorithms;
	if (has_all && !(systems_is_on_gpu(values) ? add_all_on_gpu : add_all)(values, problem, rows, failure))
		return false;
	return add_generated(values, problem, "generated", &values->generated, rows, failure) &&
	       add_generated(values, problem, "generated_held", &values->held, rows, failure);
}
