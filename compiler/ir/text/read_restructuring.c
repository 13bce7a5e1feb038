/* SPDX-License-Identifier: MIT
 *
 * The lines of restructurings, branches and chunks. The arrays that they name stand above them. */
#include "ir/text/read_private.h"

#include <string.h>

static struct array *read_array_name(struct reader *r)
{
	struct span span = r->token.span;
	const char *name = reader_name(r);
	struct array *array = r->failed ? NULL : module_find_array(r->module, name);

	if (!array && !r->failed)
		reader_fail(r, span, "'%s' is not an array", name);
	return array;
}

static int read_count(struct reader *r)
{
	struct span span;
	const char *name;

	if (!reader_take(r, "count"))
		return -1;
	span = r->token.span;
	name = reader_name(r);
	for (int i = 0; i < r->module->params.n && !r->failed; i++)
		if (r->module->params.items[i].is_inspected && !strcmp(r->module->params.items[i].name, name))
			return i;
	reader_fail(r, span, "'%s' is not found by an inspector", name);
	return -1;
}

static void read_copy(struct reader *r, struct restructuring *restructuring)
{
	struct inspected_copy copy = { .to = read_array_name(r) };

	if (reader_take(r, "from"))
		copy.from = read_array_name(r);
	copy.is_per_run = reader_take(r, "run");
	vec_push(r->arena, &restructuring->copies, copy);
}

static void read_renumbering(struct reader *r, struct restructuring *restructuring)
{
	struct renumbering renumbering = { .mode = read_array_name(r) };

	reader_expect(r, "order");
	renumbering.order = read_array_name(r);
	vec_push(r->arena, &restructuring->renumberings, renumbering);
}

static void read_offsets(struct reader *r, struct restructuring *restructuring)
{
	reader_expect(r, "segments");
	restructuring->segments = read_array_name(r);
	if (reader_take(r, "runs")) {
		restructuring->runs = read_array_name(r);
		restructuring->n_runs = read_count(r);
	}
	if (reader_take(r, "chunks")) {
		restructuring->chunks = read_array_name(r);
		restructuring->n_chunks = read_count(r);
	}
	restructuring->is_by_threads = reader_take(r, "threads");
}

static void read_parts(struct reader *r, struct restructuring *restructuring)
{
	restructuring->part_values = read_array_name(r);
	reader_expect(r, "begins");
	restructuring->part_begins = read_array_name(r);
	reader_expect(r, "ends");
	restructuring->part_ends = read_array_name(r);
	restructuring->n_parts = read_count(r);
}

void read_restructuring(struct reader *r)
{
	struct restructuring restructuring = { .span = r->token.span, .n_runs = -1, .n_chunks = -1,
					       .n_parts = -1 };

	restructuring.name = reader_string(r);
	reader_expect(r, "of");
	restructuring.n = read_expr(r);
	reader_expect(r, "keys");
	while (!r->failed && !reader_at(r, "segments"))
		vec_push(r->arena, &restructuring.keys, read_array_name(r));
	read_offsets(r, &restructuring);
	if (reader_take(r, "parts"))
		read_parts(r, &restructuring);
	if (reader_take(r, "along"))
		restructuring.coordinates = read_array_name(r);
	if (reader_take(r, "values"))
		restructuring.order = read_array_name(r);
	while (reader_take(r, "copy"))
		read_copy(r, &restructuring);
	while (reader_take(r, "renumber"))
		read_renumbering(r, &restructuring);
	vec_push(r->arena, &r->module->restructurings, restructuring);
}

void read_branching(struct reader *r)
{
	struct branching branching = { .span = r->token.span };

	reader_expect(r, "of");
	branching.tree = read_array_name(r);
	reader_expect(r, "depth");
	branching.depth = read_array_name(r);
	reader_expect(r, "levels");
	branching.levels = read_array_name(r);
	reader_expect(r, "begins");
	branching.begins = read_array_name(r);
	reader_expect(r, "ends");
	branching.ends = read_array_name(r);
	vec_push(r->arena, &r->module->branchings, branching);
}

static struct array *read_array_after(struct reader *r, const char *word)
{
	reader_expect(r, word);
	return read_array_name(r);
}

void read_chunking(struct reader *r)
{
	struct chunking chunking = { .span = r->token.span };

	chunking.tree = read_array_after(r, "of");
	reader_expect(r, "rows");
	chunking.rows = reader_integer(r);
	chunking.n_chunks = read_count(r);
	chunking.n_turns = read_count(r);
	chunking.offsets = read_array_after(r, "offsets");
	chunking.above = read_array_after(r, "above");
	chunking.child = read_array_after(r, "child");
	chunking.sibling = read_array_after(r, "sibling");
	chunking.turn = read_array_after(r, "turn");
	if (reader_take(r, "order")) {
		chunking.order = read_array_name(r);
		chunking.turns = read_array_after(r, "turns");
	}
	vec_push(r->arena, &r->module->chunkings, chunking);
}
