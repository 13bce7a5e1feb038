/* SPDX-License-Identifier: MIT
 *
 * Partition (Wang 1981; Laszlo, Giles, Appleyard 2016) as stages: rows in chunks of R. With L the last unknown of the
 * chunk before, elimination down a chunk leaves
 *
 *     x[r] = rhs[r] - lower[r] L - upper[r] x[r+1]
 *
 * and sums of these, weighted by products of the -upper before them, leave the first unknown of the chunk in terms of L
 * and the last one. Between last rows and first rows of the chunks behind remains one tridiagonal row for each chunk,
 * whose diagonal is near 1; these are solved by parallel cyclic reduction, and each chunk is filled in from its end.
 * Rows past the last one are those of the identity: all chunks have R rows, and no row of the program is read there.
 *
 * On a device all that is done down a chunk is one loop over its rows. On a processor the rows are copied in loops that
 * are vectors, and no loop is shared with the elimination, in which nothing depends on the number of a chunk: chunks
 * run in blocks (passes/map/interleave.c). */
#include "passes/eliminate/eliminate_private.h"

static const char arrays[] =
	"array {x}.part_lower : temp {type}[{boxes}0..{chunks}, 0..{rows}]\n"
	"array {x}.part_diag : temp {type}[{boxes}0..{chunks}, 0..{rows}]\n"
	"array {x}.part_upper : temp {type}[{boxes}0..{chunks}, 0..{rows}]\n"
	"array {x}.part_rhs : temp {type}[{boxes}0..{chunks}, 0..{rows}{side_boxes}]\n"
	"array {x}.chunk_lower : temp {type}[{boxes}0..{chunks}, 0..{rows}]\n"
	"array {x}.chunk_upper : temp {type}[{boxes}0..{chunks}, 0..{rows}]\n"
	"array {x}.chunk_rhs : temp {type}[{boxes}0..{chunks}, 0..{rows}{side_boxes}]\n"
	"array {x}.chunk_weight : temp {type}[{boxes}0..{chunks}, 0..{rows}]\n"
	"array {x}.first_lower : temp {type}[{boxes}0..{chunks}]\n"
	"array {x}.first_upper : temp {type}[{boxes}0..{chunks}]\n"
	"array {x}.first_rhs : temp {type}[{boxes}0..{chunks}{side_boxes}]\n"
	"array {x}.chunk_last : temp {type}[{boxes}0..{chunks}{side_boxes}]\n"
	"array {x}.chunk_before : temp {type}[{boxes}0..{chunks}{side_boxes}]\n"
	"array {x}.chunk_x : temp {type}[{boxes}0..{chunks}, 0..{rows}{side_boxes}]\n";

static const char rows_past[] =
	"group \"{x}.part\" common {2}\n"
	"stage\n{chunk}{past}{x}.part_lower[{cell}] = {zero}\n"
	"stage\n{chunk}{past}{x}.part_diag[{cell}] = {one}\n"
	"stage\n{chunk}{past}{x}.part_upper[{cell}] = {zero}\n"
	"stage\n{chunk}{sides}{past}{x}.part_rhs[{cell}{side}] = {zero}\n";

static const char begin[] =
	"group \"{x}.chunk\" common {1}\n"
	"stage init\n{chunks_of}{x}.first_lower[{one_chunk}] = {zero}\n"
	"stage init\n{chunks_of}{sides}{x}.first_rhs[{one_chunk}{side}] = {zero}\n";

static const char eliminate[] =
	"array {x}.chunk_reciprocal : local {type}[] group {group}\n"
	"group \"{x}.chunk\" common {2}{apart}\n"
	"stage\n{chunk}{first}{x}.chunk_reciprocal[] = {one} / {x}.part_diag[{cell}]\n"
	"stage\n{chunk}{later}{x}.chunk_reciprocal[] = "
	"{one} / ({x}.part_diag[{cell}] - {x}.part_lower[{cell}] * {x}.chunk_upper[{before}])\n"
	"stage\n{chunk}{x}.chunk_upper[{cell}] = {x}.part_upper[{cell}] * {x}.chunk_reciprocal[]\n"
	"stage\n{chunk}{first}{x}.chunk_lower[{cell}] = {x}.part_lower[{cell}] * {x}.chunk_reciprocal[]\n"
	"stage\n{chunk}{later}{x}.chunk_lower[{cell}] = "
	"-({x}.part_lower[{cell}] * {x}.chunk_lower[{before}] * {x}.chunk_reciprocal[])\n"
	"stage\n{chunk}{sides}{first}{x}.chunk_rhs[{cell}{side}] = "
	"{x}.part_rhs[{cell}{side}] * {x}.chunk_reciprocal[]\n"
	"stage\n{chunk}{sides}{later}{x}.chunk_rhs[{cell}{side}] = ({x}.part_rhs[{cell}{side}] - "
	"{x}.part_lower[{cell}] * {x}.chunk_rhs[{before}{side}]) * {x}.chunk_reciprocal[]\n"
	"stage\n{chunk}{first}{x}.chunk_weight[{cell}] = {one}\n"
	"stage\n{chunk}{later}{x}.chunk_weight[{cell}] = -({x}.chunk_weight[{before}] * {x}.chunk_upper[{before}])\n"
	"stage\n{chunk}{inner}{x}.first_lower[{one_chunk}] += {x}.chunk_weight[{cell}] * {x}.chunk_lower[{cell}]\n"
	"stage\n{chunk}{last}{x}.first_upper[{one_chunk}] = {x}.chunk_weight[{cell}]\n"
	"stage\n{chunk}{sides}{inner}{x}.first_rhs[{one_chunk}{side}] += "
	"{x}.chunk_weight[{cell}] * {x}.chunk_rhs[{cell}{side}]\n";

static const char condense[] =
	"group \"{x}.pcr\" common {1}\n"
	"stage\n{chunks_of}{x}.pcr_lower[{condensed}] = {x}.chunk_lower[{end_row}]\n"
	"stage\n{chunks_of}{x}.pcr_diag[{condensed}] = {one} - "
	"{x}.chunk_upper[{end_row}] * {x}.first_lower[{next_chunk}]\n"
	"stage\n{chunks_of}{x}.pcr_upper[{condensed}] = "
	"{x}.chunk_upper[{end_row}] * {x}.first_upper[{next_chunk}]\n"
	"stage\n{chunks_of}{sides}{x}.pcr_rhs[{condensed}{side}] = {x}.chunk_rhs[{end_row}{side}] - "
	"{x}.chunk_upper[{end_row}] * {x}.first_rhs[{next_chunk}{side}]\n";

static const char fill_in[] =
	"group \"{x}.chunk_last\" common {1}\n"
	"stage\n{chunks_of}{sides}{x}.chunk_last[{one_chunk}{side}] = "
	"{x}.pcr_rhs[{on}{steps}, at.chunk{side}] / {x}.pcr_diag[{on}{steps}, at.chunk]\n"
	"group \"{x}.chunk_before\" common {1}\n"
	"stage\n{chunks_of}{sides}{x}.chunk_before[{one_chunk}{side}] = {x}.chunk_last[{chunk_before}{side}]\n"
	"group \"{x}.chunk_x\" common {2}\n"
	"stage\n{chunk}{sides}{last}{x}.chunk_x[{cell}{side}] = {x}.chunk_last[{one_chunk}{side}]\n"
	"stage\n{chunk}{sides}{inner}{x}.chunk_x[{cell}{side}] = {x}.chunk_rhs[{cell}{side}] - "
	"{x}.chunk_lower[{cell}] * {x}.chunk_before[{one_chunk}{side}] - "
	"{x}.chunk_upper[{cell}] * {x}.chunk_x[{behind_it}{side}]\n"
	"group \"{x}\" common {2}\n"
	"stage\n{chunk}{sides}where {index} < {n}\n{solution}[{out_of_chunk}] = {x}.chunk_x[{cell}{side}]\n";

void builder_open_chunks(struct builder *b)
{
	builder_set(b, "rows", arena_printf(b->arena, "%lld", (long long) b->algorithm->chunk));
	builder_set_size(b, "chunks", builder_n_chunks(b));
	builder_set(b, "chunks_of", "{systems}for at.chunk in 0..{chunks}\n");
	builder_set(b, "chunk", "{chunks_of}for at.row in 0..{rows}\n");
	builder_set(b, "index", "{rows}*at.chunk + at.row");
	builder_set(b, "past", "where {index} >= {n}\n");
	builder_set(b, "first", "where at.row == 0\n");
	builder_set(b, "later", "where at.row != 0\n");
	builder_set(b, "inner", "where at.row != {rows} - 1\n");
	builder_set(b, "last", "where at.row == {rows} - 1\n");
	builder_set(b, "one_chunk", "{on}at.chunk");
	builder_set(b, "next_chunk", "{on}min(at.chunk + 1, {chunks} - 1)");
	builder_set(b, "chunk_before", "{on}max(at.chunk - 1, 0)");
	builder_set(b, "condensed", "{on}0, at.chunk");
	builder_set(b, "cell", "{one_chunk}, at.row");
	builder_set(b, "before", "{one_chunk}, at.row - 1");
	builder_set(b, "behind_it", "{one_chunk}, at.row + 1");
	builder_set(b, "end_row", "{one_chunk}, {rows} - 1");
	builder_set(b, "out_of_chunk", builder_solution_at(b, "{index}"));
	builder_set(b, "scaled", "{cell}");
	builder_set(b, "apart", b->is_device ? "" : " apart");
}

/* Does each stage go over systems, chunks and rows of these, in this order, and write there? */
static bool goes_by_rows(const struct builder *b, const struct group *group)
{
	bool does = true;

	for (int i = 0; i < group->stages.n && does; i++) {
		const struct access *write = &group->stages.items[i]->write;

		for (int d = 0; d < access_n_subs(write) && d < group->n_common && does; d++)
			does = write->subs[d]->kind == EXPR_DIM && write->subs[d]->index == d;
	}
	return does && group->n_common == b->what->solution->rank - b->what->n_sides + 1;
}

static void join_group(struct builder *b, struct group *all, struct group *group)
{
	for (int i = 0; i < b->module->arrays.n; i++)
		if (b->module->arrays.items[i]->group == group)
			b->module->arrays.items[i]->group = all;
	for (int i = 0; i < group->stages.n; i++) {
		group->stages.items[i]->group = all;
		vec_push(b->arena, &all->stages, group->stages.items[i]);
	}
	all->name = group->name;
	group->stages.n = 0;
}

/* The groups from this one on in one loop over rows: a thread that has a chunk keeps what is needed once. */
static void join_groups(struct builder *b, int first)
{
	struct region *region = &b->module->regions[b->region];
	struct group *all = region->groups.items[first];
	int n = first;

	for (int g = first; g < region->groups.n; g++)
		if (!goes_by_rows(b, region->groups.items[g]))
			return;
	while (++n < region->groups.n)
		join_group(b, all, region->groups.items[n]);
	region->groups.n = first + 1;
}

static bool add(struct builder *b, const char *text)
{
	return builder_add(b, b->region, text);
}

bool builder_add_condensed(struct builder *b)
{
	int first;

	if (!add(b, arrays) || !add(b, begin))
		return false;
	first = b->module->regions[b->region].groups.n;
	if (!builder_add_system(b, "part") || !add(b, rows_past) || !add(b, eliminate))
		return false;
	if (b->is_device)
		join_groups(b, first);
	return add(b, condense);
}

bool builder_add_chunks(struct builder *b)
{
	return add(b, fill_in);
}
