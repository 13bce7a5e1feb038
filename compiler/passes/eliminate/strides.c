/* SPDX-License-Identifier: MIT
 *
 * Steps that double the distance of the rows which are coupled: how many there are, the table of distances, and the
 * words for the row of a step and its neighbours. Parallel reduction and recursive doubling both go by them. */
#include "passes/eliminate/eliminate_private.h"

static const char stride_table[] =
	"array {x}.pcr_stride : temp i64[0..{steps} + 1] index(1099511627776) proved\n"
	"group \"{x}.pcr_stride\" common 1\n"
	"stage\n"
	"for at.level in 0..{steps} + 1\n"
	"where at.level == 0\n"
	"{x}.pcr_stride[at.level] = 1\n"
	"stage\n"
	"for at.level in 0..{steps} + 1\n"
	"where at.level != 0\n"
	"{x}.pcr_stride[at.level] = 2 * {x}.pcr_stride[at.level - 1]\n";

/* Of all rows, of one for each chunk, or of those that halving has left. */
static void set_step_words(struct builder *b)
{
	bool is_behind_halving = b->algorithm->rows;

	builder_set(b, "depth", is_behind_halving ? "{5}" : "{3}");
	builder_set(b, "most", is_behind_halving ? "{rows}" : b->algorithm->chunk ? "{chunks}" : "{n}");
	builder_set(b, "end", is_behind_halving ? "at.end - at.begin" : "{most}");
	builder_set(b, "few", is_behind_halving ? "where at.end - at.begin <= {rows}\n" : "");
	builder_set(b, "stepping", is_behind_halving ? "{top}" : "{systems}");
	builder_set(b, "stepping", "{stepping}for at.level in 0..{steps}\nlet at.stride = {x}.pcr_stride[at.level]\n"
		    "for at.row in 0..{end}\n");
	builder_set(b, "here", "{on}at.level, at.row");
	builder_set(b, "next", "{on}at.level + 1, at.row");
	builder_set(b, "left", "{on}at.level, max(at.row - at.stride, 0)");
	builder_set(b, "right", "{on}at.level, min(at.row + at.stride, {end} - 1)");
	builder_set(b, "strided", "{systems}let at.stride = {x}.pcr_stride[{steps}]\nfor at.row in 0..{n}\n");
}

/* How many steps free so many rows of each other, or as many as are asked for. */
static void set_steps(struct builder *b)
{
	const struct param rows = { .derivation = DERIVATION_DOUBLINGS, .limit = 1 };
	int64_t steps = b->algorithm->rows ? param_derived(&rows, b->algorithm->rows) : b->algorithm->steps;

	if (steps == ALL_STEPS)
		builder_derive(b, "steps", "{c_x}_doublings", DERIVATION_DOUBLINGS,
			       b->algorithm->chunk ? builder_n_chunks(b) : builder_n_rows(b), 1);
	else
		builder_set(b, "steps", arena_printf(b->arena, "%lld", (long long) steps));
}

bool builder_add_strides(struct builder *b)
{
	set_steps(b);
	set_step_words(b);
	return builder_add(b, REGION_PROLOGUE, stride_table);
}
