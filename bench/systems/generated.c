/* SPDX-License-Identifier: MIT
 *
 * Rows of generated code: constructs and the recurrences that they stand for, compiled as `pmg run` does it, bound to
 * the batch where it lies in memory, planned once and executed in turns with the others. In single precision the
 * programs are read with f32 in the place of f64. */
#include "systems/systems.h"

#include <stdlib.h>
#include <string.h>

#include "handtuned/life_layout.h"

/* ---- The program -------------------------------------------------------------------------------- */

struct program {
	const char *file, *pipeline;
};

/* What is measured as "generated" and, `is_written`, without the construct; no file: there is none. */
static struct program program_of(const struct system_batch *b, bool is_written)
{
	static const struct program none = { 0 };
	bool is_equal = b->n_rows == b->n_systems * b->n;
	const char *example = "dsl_examples/hines.pmg";
	if (b->is_chain && !is_equal)
		return is_written ? none : (struct program){ "dsl_examples/tri_ragged.pmg", "tri_ragged" };
	if (b->is_chain)
		return is_written ? (struct program){ "dsl_examples/thomas.pmg", "thomas" }
				  : (struct program){ "dsl_examples/tridiagonal.pmg", "tri_batch" };
	if (!b->has_one_tree)
		return is_written ? none : (struct program){ example, "hines_forest" };
	if (b->is_shared)
		return (struct program){ example, is_written ? "hines_written" : "hines" };
	return is_written ? (struct program){ "bench/systems/hines_own_written.pmg", "hines_own_written" }
			  : (struct program){ "dsl_examples/hines_own.pmg", "hines_own" };
}

/* The text of a file with one type in the place of another one of as many letters; NULL after a failure. */
static const char *read_program(struct arena *arena, const char *path, const char *type, struct failure *failure)
{
	FILE *file = fopen(path, "re");
	char *text = NULL;
	size_t size = 0;
	if (!file) {
		fail_file(failure, path, "cannot open:");
		return NULL;
	}
	ssize_t n = getdelim(&text, &size, '\0', file);
	fclose(file);
	char *copy = arena_string(arena, n > 0 ? text : "");
	free(text);
	for (char *at = strstr(copy, "f64"); at; at = strstr(at + 3, "f64"))
		memcpy(at, type, 3);
	return copy;
}

/* ---- Binding ------------------------------------------------------------------------------------ */

static bool bind_offsets(struct systems_row *row, const char *name, struct failure *failure)
{
	const struct system_batch *b = &row->problem->batch;
	const struct ndarray offsets = { .type = PMG_I64, .rank = 1, .shape = { b->n_systems + 1 },
					 .data = row->problem->offset };
	return bind_memory(&row->session, name, &offsets, failure);
}

static bool bind_trees(struct systems_row *row, struct failure *failure)
{
	const struct system_batch *b = &row->problem->batch;
	const struct ndarray parent = { .type = PMG_I32, .rank = 1, .shape = { b->has_one_tree ? b->n : b->n_rows },
					.data = row->problem->parent };
	if (b->has_one_tree)
		return bind_memory(&row->session, "T.parent", &parent, failure);
	return bind_memory(&row->session, "F.parent", &parent, failure) && bind_offsets(row, "F.offset", failure);
}

static bool bind_batch(struct systems_row *row, struct failure *failure)
{
	const struct systems_case *p = row->problem;
	const struct system_batch *b = &p->batch;
	struct session *s = &row->session;
	word_list none = { 0 };
	const char *names[] = { b->is_chain ? "a" : "lower", b->is_chain ? "b" : "diag", b->is_chain ? "c" : "upper",
				b->is_chain ? "d" : "rhs" };
	const struct ndarray *arrays[] = { &p->lower, &p->diag, &p->upper, &p->rhs };
	for (int i = 0; i < 4; i++)
		if (!bind_memory(s, names[i], arrays[i], failure))
			return false;
	if (b->is_chain && b->n_rows != b->n_systems * b->n && !bind_offsets(row, "offset", failure))
		return false;
	return (b->is_chain || bind_trees(row, failure)) && session_bind(s, &none, 0, failure);
}

/* ---- Arrays in blocks ---------------------------------------------------------------------------- */

struct held_array {
	void *memory;           /* from which `blocks` begins somewhere */
	pmg_buffer flat, blocks;
	pmg_buffer offsets;     /* of the segments that these are blocks of; without data: of the first dimension */
	bool is_written;
};

/* Arrays begin at different places of a page, so that a write does not seem to meet the next reads. */
enum { SKEW_BYTES = 5 * 64 + 1024 };

static pmg_buffer buffer_of(const struct execution *e, const pmg_array_desc *array)
{
	pmg_buffer buffer;
	memcpy(&buffer, e->args + array->offset, sizeof(buffer));
	return buffer;
}

/* Its shape, without memory. */
static pmg_status make_blocks(const struct execution *e, const pmg_array_desc *array, struct held_array *held)
{
	int32_t lanes = pmg_plan_lanes(e->plan, array->name);
	held->blocks = array->segments < 0 ? pmg_in_blocks(NULL, &held->flat, lanes) : held->flat;
	if (array->segments < 0)
		return PMG_OK;
	held->offsets = buffer_of(e, &e->desc->arrays[array->segments]);
	return pmg_in_segments(e->context, NULL, &held->flat, &held->offsets, lanes, &held->blocks);
}

/* Those from `first` on that are `is_written`, into blocks or out of them, in one loop: all over the same offsets, or
 * none. */
static pmg_status relayout(const struct systems_row *row, int first, bool is_written, bool into)
{
	pmg_context *context = row->execution.context;
	const pmg_buffer *offsets = NULL;
	int32_t threads = (int32_t) row->session.values.threads, n = 0;
	for (int i = first; i < row->n_held; i++) {
		const struct held_array *held = &row->held[i];
		if (held->is_written != is_written)
			continue;
		offsets = held->offsets.data ? &held->offsets : NULL;
		row->to[n] = into ? &held->blocks : &held->flat;
		row->from[n++] = into ? &held->flat : &held->blocks;
	}
	return offsets ? pmg_relayout_segments_all(context, n, row->to, row->from, offsets, threads)
		       : pmg_relayout_all(context, n, row->to, row->from, threads);
}

static size_t bytes_of(const pmg_buffer *blocks)
{
	size_t bytes = pmg_type_size(blocks->type);
	for (int32_t d = 0; d < blocks->rank; d++)
		bytes *= (size_t) blocks->shape[d];
	return bytes;
}

static bool hold_array(struct systems_row *row, const pmg_array_desc *array, struct failure *failure)
{
	struct execution *e = &row->execution;
	struct held_array *held = &row->held[row->n_held];
	*held = (struct held_array){ .is_written = array->role == PMG_OUT, .flat = buffer_of(e, array) };
	pmg_status status = make_blocks(e, array, held);
	if (status != PMG_OK)
		return fail(failure, (enum outcome) status, "%s", pmg_message(e->context));
	size_t skew = (size_t) row->n_held * SKEW_BYTES;
	held->memory = life_memory((int64_t) (bytes_of(&held->blocks) + skew), 1);
	if (!held->memory)
		return fail_memory(failure, "arrays in blocks");
	row->n_held++;
	held->blocks.data = (char *) held->memory + skew;
	status = relayout(row, row->n_held - 1, held->is_written, true);
	memcpy(e->args + array->offset, &held->blocks, sizeof(held->blocks));
	return status == PMG_OK || fail(failure, (enum outcome) status, "%s", pmg_message(e->context));
}

/* Does the row have it in blocks? A copy has what it copies. */
static bool is_held(const struct systems_row *row, const pmg_array_desc *array)
{
	return pmg_plan_lanes(row->execution.plan, array->name) > 1 &&
	       (!row->is_copy || (array->role == PMG_OUT) == row->out_of_blocks);
}

/* What the kernel of the plan takes in blocks becomes blocks. */
static bool hold_arrays(struct systems_values *values, struct systems_row *row, struct failure *failure)
{
	const pmg_pipeline_desc *desc = row->execution.desc;
	row->held = arena_new_array(values->arena, struct held_array, desc->n_arrays + 1);
	row->to = arena_new_array(values->arena, const pmg_buffer *, desc->n_arrays + 1);
	row->from = arena_new_array(values->arena, const pmg_buffer *, desc->n_arrays + 1);
	for (int32_t i = 0; i < desc->n_arrays; i++)
		if (is_held(row, &desc->arrays[i]) && !hold_array(row, &desc->arrays[i], failure))
			return false;
	return true;
}

static bool copy_arrays(struct systems_row *row, bool out_of_blocks, struct failure *failure)
{
	return relayout(row, 0, out_of_blocks, !out_of_blocks) == PMG_OK ||
	       fail(failure, OUTCOME_INTERNAL, "%s", pmg_message(row->execution.context));
}

bool systems_generated_fetch(struct systems_row *row, struct failure *failure)
{
	return copy_arrays(row, true, failure);
}

double systems_copy_bytes(const struct systems_row *row)
{
	double bytes = 0;
	for (int i = 0; i < row->n_held; i++)
		bytes += (double) (bytes_of(&row->held[i].flat) +
				   bytes_of(row->as_it_lies ? &row->held[i].flat : &row->held[i].blocks));
	return bytes;
}

/* ---- The row ------------------------------------------------------------------------------------- */

static bool run_generated(void *state, double *seconds, struct failure *failure)
{
	struct systems_row *row = state;
	if (row->problem->gpu && !row->problem->functions->busy())
		return fail(failure, OUTCOME_RESOURCES, "%s: the GPU fails", row->problem->name);
	if (!library_execute(&row->execution, seconds, failure))
		return false;
	if (row->problem->gpu)
		*seconds = pmg_plan_report(row->execution.plan)->device_seconds;
	return true;
}

static bool run_copy(void *state, double *seconds, struct failure *failure)
{
	struct systems_row *row = state;
	double start = clock_seconds(false, 1);
	bool ok = copy_arrays(row, row->out_of_blocks, failure);
	*seconds = clock_seconds(false, 1) - start;
	return ok;
}

/* The inputs of a system. */
enum { MOST_HELD = 4 };

/* What goes into blocks, as it lies: arrays of one size, whose blocks have room for it. */
static bool run_copied(void *state, double *seconds, struct failure *failure)
{
	struct systems_row *row = state;
	const double *from[MOST_HELD];
	double *to[MOST_HELD];
	int64_t n = (int64_t) (bytes_of(&row->held[0].flat) / sizeof(double));
	(void) failure;
	int arrays = row->n_held < MOST_HELD ? row->n_held : MOST_HELD;
	for (int i = 0; i < arrays; i++) {
		from[i] = row->held[i].flat.data;
		to[i] = row->held[i].blocks.data;
	}
	double start = clock_seconds(false, 1);
	system_copy(NULL, (int) row->session.values.threads, arrays, n, from, to);
	*seconds = clock_seconds(false, 1) - start;
	return true;
}

static const char *layout_of(const struct execution *e)
{
	int32_t most = 0;
	for (int i = 0; i < e->desc->n_arrays; i++) {
		int32_t lanes = pmg_plan_lanes(e->plan, e->desc->arrays[i].name);
		most = lanes > most ? lanes : most;
	}
	return most ? arena_printf(e->session->arena, "blocks of %d", (int) most) : "flat";
}

static void describe(struct systems_row *row, const char *version, const char *options)
{
	struct record *record = &row->row.record;
	const pmg_report *report = pmg_plan_report(row->execution.plan);
	record->version = version;
	record->target = row->session.values.target;
	record->threads = (double) row->session.values.threads;
	record->algorithm = options;
	record->layout = layout_of(&row->execution);
	record->plan_ms = 1e3 * (row->execution.plan_seconds - (report ? report->tuning : 0));
	record->tuning_ms = report ? 1e3 * report->tuning : 0;
	record->plan_bytes = (double) pmg_plan_bytes(row->execution.plan);
	record->clock = row->problem->gpu ? "device" : "";
	record_device(record, row->execution.plan);
}

static bool open_program(struct systems_values *values, struct systems_row *row, const struct program *program,
			 struct failure *failure)
{
	const char *path = bench_find_file(values->arena, program->file, failure);
	row->session.text = path ? read_program(values->arena, path, row->problem->batch.is_single ? "f32" : "f64",
						failure)
				 : NULL;
	row->session.values.pipeline = program->pipeline;
	return row->session.text && session_open(&row->session, program->file, failure) && bind_batch(row, failure) &&
	       bench_results(&row->session, &row->results, &row->out, failure);
}

bool systems_row_generated(struct systems_values *values, struct systems_case *problem, const char *version,
			   const char *options, systems_row_list *rows, struct failure *failure)
{
	struct systems_row *row = arena_new(values->arena, struct systems_row);
	struct program program = program_of(&problem->batch, strncmp(version, "written", 7) == 0);
	if (!program.file)
		return true;
	*row = (struct systems_row){ .problem = problem, .is_generated = true };
	row->out_of_blocks = strcmp(version, "out_of_blocks") == 0;
	row->as_it_lies = strcmp(version, "copied") == 0;
	row->is_copy = row->out_of_blocks || row->as_it_lies || strcmp(version, "into_blocks") == 0;
	row->row.record = record_new();
	row->row.run = row->as_it_lies ? run_copied : row->is_copy ? run_copy : run_generated;
	row->row.state = row;
	row->session.arena = values->arena;
	row->session.building = arena_printf(values->arena, "compiling %s %s", version, options);
	vec_push(values->arena, rows, row);
	bool is_held = strstr(version, "_held");
	bool ok = bench_read_options(values->arena, is_held ? "held" : "generated", options, &values->run,
				     &row->session.values, failure) &&
		  open_program(values, row, &program, failure) &&
		  library_share(&row->session, &values->libraries, &row->results, &row->execution, failure);
	if (ok && row->session.values.explain)
		bench_explain(&row->session, version, options);
	row->execution.in_blocks = row->is_copy || is_held;
	ok = ok && library_plan(&row->execution, failure) &&
	     (!row->execution.in_blocks || hold_arrays(values, row, failure));
	if (ok && problem->gpu) {
		systems_gpu_bind(values, row);
		/* Those whose rows are shared out among lanes have levels. */
		row->levels = systems_levels("pcr", problem->batch.n);
	}
	if (ok && row->is_copy && row->n_held == 0) {
		rows->n--;
		systems_generated_free(row);
	} else if (ok) {
		describe(row, version, options);
	}
	return ok;
}

void systems_generated_free(struct systems_row *row)
{
	library_close(&row->execution);
	for (int i = 0; i < row->n_held; i++)
		free(row->held[i].memory);
	results_free(&row->session, &row->results);
	session_free(&row->session);
}
