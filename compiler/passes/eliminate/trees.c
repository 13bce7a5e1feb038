/* SPDX-License-Identifier: MIT
 *
 * Partition over a tree as stages: nodes in chunks (struct chunking), runs of at most R nodes along a branch, of which
 * only the last one has other neighbours below. With L the unknown of the node above a chunk, elimination down the
 * chunk leaves for its inner nodes
 *
 *     x[i] = rhs[i] - lower[i] L - upper[i] x[i+1]
 *
 * and sums of these, weighted by products of the -upper before them, leave the first unknown in terms of L and the last
 * one. So of a chunk remain an equation of its last unknown, with L and the first unknowns of the chunks below it, and
 * what its own first unknown is: a system over the tree of chunks. It is solved turn by turn, towards the roots: a
 * chunk takes from its equation what the list of those below it leaves, and adds itself to the list that it is in.
 * Then, turn by turn from the roots, last unknowns follow, and chunks are filled in from their ends.
 *
 * Chunks are independent of each other, and so are those of one turn. On a device all of them look at each turn whether
 * it is theirs, so that a lane has one chunk, and the host knows how many lanes there are. */
#include "passes/eliminate/eliminate_private.h"

/* ---- chunks ---- */

static const char node_arrays[] =
	"array {x}.part_lower : temp {type}[{boxes}0..{n}]\n"
	"array {x}.part_upper : temp {type}[{boxes}0..{n}]\n"
	"array {x}.part_rhs : temp {type}[{boxes}0..{n}{side_boxes}]\n"
	"array {x}.part_weight : temp {type}[{boxes}0..{n}]\n";

static const char chunk_arrays[] =
	"array {x}.first_lower : temp {type}[{boxes}0..{chunks}]\n"
	"array {x}.first_upper : temp {type}[{boxes}0..{chunks}]\n"
	"array {x}.first_rhs : temp {type}[{boxes}0..{chunks}{side_boxes}]\n"
	"array {x}.last_lower : temp {type}[{boxes}0..{chunks}]\n"
	"array {x}.last_diag : temp {type}[{boxes}0..{chunks}]\n"
	"array {x}.last_rhs : temp {type}[{boxes}0..{chunks}{side_boxes}]\n"
	"array {x}.below_diag : temp {type}[{boxes}0..{chunks} + 1]\n"
	"array {x}.below_rhs : temp {type}[{boxes}0..{chunks} + 1{side_boxes}]\n"
	"array {x}.chunk_lower : temp {type}[{boxes}0..{chunks}]\n"
	"array {x}.chunk_rhs : temp {type}[{boxes}0..{chunks}{side_boxes}]\n"
	"array {x}.chunk_last : temp {type}[{boxes}0..{chunks}{side_boxes}]\n"
	"array {x}.chunk_before : temp {type}[{boxes}0..{chunks}{side_boxes}]\n";

static const char begin[] =
	"group \"{x}.part\" common {1}\n"
	"stage init\n{chunks_of}{x}.first_lower[{one_chunk}] = {zero}\n"
	"stage init\n{chunks_of}{sides}{x}.first_rhs[{one_chunk}{side}] = {zero}\n";

static const char eliminate[] =
	"array {x}.part_diag : local {type}[] group {group}\n"
	"array {x}.part_above : local {type}[] group {group}\n"
	"array {x}.part_reciprocal : local {type}[] group {group}\n"
	"group \"{x}.part\" common {5}\n"
	"stage\n{nodes}where {first}\n{x}.part_diag[] = {diag}\n"
	"stage\n{nodes}where {later}\n"
	"{x}.part_diag[] = {diag} - {lower} * {x}.part_upper[{before}]\n"
	"stage\n{nodes}where {first} and {is_root}\n{x}.part_above[] = {zero}\n"
	"stage\n{nodes}where {first} and {is_below}\n{x}.part_above[] = {lower}\n"
	"stage\n{nodes}where {later}\n{x}.part_above[] = -({lower} * {x}.part_lower[{before}])\n"
	"stage\n{nodes}where {inner}\n{x}.part_reciprocal[] = {one} / {x}.part_diag[]\n"
	"stage\n{nodes}where {inner}\n{x}.part_upper[{node}] = {upper_behind} * {x}.part_reciprocal[]\n"
	"stage\n{nodes}where {inner}\n{x}.part_lower[{node}] = {x}.part_above[] * {x}.part_reciprocal[]\n"
	"stage\n{nodes}{sides}where {first} and {inner}\n"
	"{x}.part_rhs[{node}{side}] = {rhs} * {x}.part_reciprocal[]\n"
	"stage\n{nodes}{sides}where {later} and {inner}\n{x}.part_rhs[{node}{side}] = "
	"({rhs} - {lower} * {x}.part_rhs[{before}{side}]) * {x}.part_reciprocal[]\n"
	"stage\n{nodes}where {first}\n{x}.part_weight[{node}] = {one}\n"
	"stage\n{nodes}where {later}\n"
	"{x}.part_weight[{node}] = -({x}.part_weight[{before}] * {x}.part_upper[{before}])\n"
	"stage\n{nodes}where {inner}\n"
	"{x}.first_lower[{one_chunk}] += {x}.part_weight[{node}] * {x}.part_lower[{node}]\n"
	"stage\n{nodes}{sides}where {inner}\n"
	"{x}.first_rhs[{one_chunk}{side}] += {x}.part_weight[{node}] * {x}.part_rhs[{node}{side}]\n"
	"stage\n{nodes}where {last}\n{x}.first_upper[{one_chunk}] = {x}.part_weight[{node}]\n"
	"stage\n{nodes}where {last}\n{x}.last_lower[{one_chunk}] = {x}.part_above[]\n"
	"stage\n{nodes}where {last}\n{x}.last_diag[{one_chunk}] = {x}.part_diag[]\n"
	"stage\n{nodes}{sides}where {first} and {last}\n{x}.last_rhs[{one_chunk}{side}] = {rhs}\n"
	"stage\n{nodes}{sides}where {later} and {last}\n{x}.last_rhs[{one_chunk}{side}] = "
	"{rhs} - {lower} * {x}.part_rhs[{before}{side}]\n";

/* ---- the tree of chunks ---- */

static const char none[] =
	"group \"{x}.below\" common {1}\n"
	"stage\n{chunks_of}where at.chunk == 0\n{x}.below_diag[{on}{chunks}] = {zero}\n"
	"stage\n{chunks_of}{sides}where at.chunk == 0\n{x}.below_rhs[{on}{chunks}{side}] = {zero}\n";

static const char up[] =
	"array {x}.chunk_reciprocal : local {type}[] group {group}\n"
	"group \"{x}.below\" common {turn_depth}\n"
	"stage\n{turn}{child}{x}.chunk_reciprocal[] = "
	"{one} / ({x}.last_diag[{one_chunk}] - {x}.below_diag[{on}at.child])\n"
	"stage\n{turn}where {is_turn}\n"
	"{x}.chunk_lower[{one_chunk}] = {x}.last_lower[{one_chunk}] * {x}.chunk_reciprocal[]\n"
	"stage\n{turn}{sides}{child}{x}.chunk_rhs[{one_chunk}{side}] = "
	"({x}.last_rhs[{one_chunk}{side}] - {x}.below_rhs[{on}at.child{side}]) * {x}.chunk_reciprocal[]\n"
	"stage\n{turn}{sibling}{x}.below_diag[{one_chunk}] = {x}.below_diag[{on}at.sibling] + {upper_first} * "
	"({x}.first_lower[{one_chunk}] + {x}.first_upper[{one_chunk}] * {x}.chunk_lower[{one_chunk}])\n"
	"stage\n{turn}{sides}{sibling}{x}.below_rhs[{one_chunk}{side}] = {x}.below_rhs[{on}at.sibling{side}] + "
	"{upper_first} * ({x}.first_rhs[{one_chunk}{side}] + "
	"{x}.first_upper[{one_chunk}] * {x}.chunk_rhs[{one_chunk}{side}])\n";

static const char down[] =
	"group \"{x}.chunk_last\" common {turn_depth}\n"
	"stage\n{turn}{sides}{root}{x}.chunk_last[{one_chunk}{side}] = {x}.chunk_rhs[{one_chunk}{side}]\n"
	"stage\n{turn}{sides}{parent}{x}.chunk_last[{one_chunk}{side}] = {x}.chunk_rhs[{one_chunk}{side}] - "
	"{x}.chunk_lower[{one_chunk}] * {x}.chunk_last[{on}at.above{side}]\n"
	"group \"{x}.chunk_before\" common {2}\n"
	"stage\n{hanging}{sides}where {is_root}\n{x}.chunk_before[{one_chunk}{side}] = {zero}\n"
	"stage\n{hanging}{sides}where {is_below}\n"
	"{x}.chunk_before[{one_chunk}{side}] = {x}.chunk_last[{on}at.above{side}]\n";

static const char fill_in[] =
	"group \"{x}\" common {4}\n"
	"stage\n{own_nodes}{sides}where {last}\n{filled}[{filled_at}] = {x}.chunk_last[{one_chunk}{side}]\n"
	"stage\n{own_nodes}{sides}where {inner}\n{filled}[{filled_at}] = {x}.part_rhs[{node}{side}] - "
	"{x}.part_lower[{node}] * {x}.chunk_before[{one_chunk}{side}] - "
	"{x}.part_upper[{node}] * {filled}[{filled_behind}]\n";

/* What a lane has computed it reads again in memory of its block. */
static const char filled_array[] =
	"array {x}.part_x : temp {type}[{boxes}0..{n}{side_boxes}]\n";

static const char copy_out[] =
	"stage\n{own_nodes}{sides}{solution}[{out_of_node}] = {x}.part_x[{node}{side}]\n";

/* ---- tables of the tree ---- */

struct chunk_tables {
	struct module *module;
	struct chunking chunking;
	const char *name;
};

static struct expr *plus_one(struct arena *arena, struct expr *expr)
{
	return expr_binary(arena, OP_ADD, TYPE_I64, expr, expr_int(arena, 1, expr->span));
}

static int add_count(const struct chunk_tables *t, const char *what, struct expr *most)
{
	struct module *module = t->module;
	const char *base = arena_printf(module->arena, "%s_%s", t->chunking.tree->c_name, what), *name = base;
	int number;

	for (int i = 2; module_has_param(module, name); i++)
		name = arena_printf(module->arena, "%s_%d", base, i);
	number = module_add_param(module, name, t->chunking.span);
	module->params.items[number].is_inspected = true;
	module->params.items[number].of = most;
	return number;
}

static struct array *add_table(const struct chunk_tables *t, const char *what, struct expr *n, struct expr *limit)
{
	struct arena *arena = t->module->arena;
	const char *name = arena_printf(arena, "%s.%s", t->name, what);
	struct array *array = module_add_array(t->module, name, ROLE_TEMP, TYPE_I64, 1, t->chunking.span);

	array->hi[0] = n;
	array->facts = FACT_INDEX;
	array->is_proved = true;
	array->limit = limit;
	return array;
}

static void add_tables(struct chunk_tables *t, bool has_order)
{
	struct chunking *c = &t->chunking;
	struct arena *arena = t->module->arena;
	struct expr *n = c->tree->hi[0], *chunks, *turns, *above;

	c->n_chunks = add_count(t, "chunks", n);
	c->n_turns = add_count(t, "turns", plus_one(arena, n));
	chunks = expr_param(arena, t->module, c->n_chunks, c->span);
	turns = expr_param(arena, t->module, c->n_turns, c->span);
	above = plus_one(arena, chunks);
	c->offsets = add_table(t, "offsets", above, plus_one(arena, n));
	c->offsets->facts |= FACT_SORTED;
	c->above = add_table(t, "above", above, above);
	c->child = add_table(t, "child", above, above);
	c->sibling = add_table(t, "sibling", above, above);
	c->turn = add_table(t, "turn", above, turns);
	if (!has_order)
		return;
	c->order = add_table(t, "order", chunks, chunks);
	c->order->facts |= FACT_UNIQUE;
	c->turns = add_table(t, "turns", plus_one(arena, turns), above);
	c->turns->facts |= FACT_SORTED;
}

/* One for all that cut a tree into chunks of so many rows. */
static const struct chunking *chunking_of(const struct tree_elimination *e, const struct algorithm *algorithm,
					  bool has_order)
{
	struct module *module = e->rows.module;
	struct chunk_tables t = { .module = module, .chunking = { .span = e->rows.group->span, .tree = e->tree,
								   .rows = algorithm->chunk } };
	int n_others = 0;

	for (int i = 0; i < module->chunkings.n; i++) {
		const struct chunking *other = &module->chunkings.items[i];

		if (other->tree == e->tree && other->rows == algorithm->chunk)
			return other;
		n_others += other->tree == e->tree;
	}
	t.name = arena_printf(module->arena, n_others ? "%s.chunks%d" : "%s.chunks", e->tree->name, n_others + 1);
	add_tables(&t, has_order);
	vec_push(module->arena, &module->chunkings, t.chunking);
	return &module->chunkings.items[module->chunkings.n - 1];
}

/* ---- words ---- */

/* The stage with dims called as the words are. */
static struct stage named_stage(const struct builder *b)
{
	const struct elimination *what = b->what;
	struct stage stage = *what->values[ROW_RHS].items[0].stage;
	dim_list dims = { 0 };

	for (int d = 0; d < stage.dims.n; d++)
		vec_push(b->arena, &dims, stage.dims.items[d]);
	for (int i = 0; i < what->solution->rank; i++)
		dims.items[stage.write.subs[i]->index].name =
			i == what->row ? "at.node" : builder_variable(b, i);
	stage.dims = dims;
	return stage;
}

/* A coefficient as text, at the node of this name and so many behind it. */
static void set_coefficient(struct builder *b, const char *word, struct expr *value, const char *node, int64_t behind)
{
	struct stage stage = named_stage(b);
	const int dim = stage.write.subs[b->what->row]->index;
	struct expr **dims = arena_new_array(b->arena, struct expr *, stage.dims.n);

	stage.dims.items[dim].name = node;
	dims[dim] = expr_dim(b->arena, dim, value->span);
	if (behind)
		dims[dim] = expr_binary(b->arena, OP_ADD, TYPE_I64, dims[dim],
					expr_int(b->arena, behind, value->span));
	value = expr_as(b->arena, b->what->solution->type, expr_substitute(b->arena, value, dims));
	builder_set(b, word, arena_printf(b->arena, "(%s)", expr_exact_text(b->arena, b->module, &stage, value)));
}

static void set_coefficients(struct builder *b, const struct tree_elimination *e)
{
	set_coefficient(b, "diag", e->diag, "at.node", 0);
	set_coefficient(b, "rhs", e->rhs, "at.node", 0);
	set_coefficient(b, "lower", e->lower, "at.node", 0);
	set_coefficient(b, "upper_behind", e->upper, "at.node", 1);
	set_coefficient(b, "upper_first", e->upper, "at.begin", 0);
}

static void set_table(struct builder *b, const char *word, const struct array *table)
{
	builder_set(b, word, table->name);
}

static void set_tables(struct builder *b, const struct chunking *chunking)
{
	builder_set_size(b, "chunks", expr_param(b->arena, b->module, chunking->n_chunks, chunking->span));
	builder_set_size(b, "turns", expr_param(b->arena, b->module, chunking->n_turns, chunking->span));
	set_table(b, "offsets", chunking->offsets);
	set_table(b, "above_of", chunking->above);
	set_table(b, "child_of", chunking->child);
	set_table(b, "sibling_of", chunking->sibling);
	set_table(b, "turn_of", chunking->turn);
	if (!chunking->order)
		return;
	set_table(b, "order", chunking->order);
	set_table(b, "turns_of", chunking->turns);
}

static void set_loops(struct builder *b)
{
	builder_set(b, "chunks_of", "{systems}for at.chunk in 0..{chunks}\n");
	builder_set(b, "hanging", "{chunks_of}let at.above = {above_of}[at.chunk]\n");
	builder_set(b, "bounds", "let at.begin = {offsets}[at.chunk]\nlet at.end = {offsets}[at.chunk + 1]\n");
	builder_set(b, "nodes", "{hanging}{bounds}for at.node in at.begin..at.end\n");
	builder_set(b, "own_nodes", "{chunks_of}{bounds}for at.node in at.begin..at.end\n");
	builder_set(b, "first", "at.node == at.begin");
	builder_set(b, "later", "at.node > at.begin");
	builder_set(b, "inner", "at.node < at.end - 1");
	builder_set(b, "last", "at.node == at.end - 1");
	builder_set(b, "is_root", "at.above >= {chunks}");
	builder_set(b, "is_below", "at.above < {chunks}");
	builder_set(b, "one_chunk", "{on}at.chunk");
	builder_set(b, "node", "{on}at.node");
	builder_set(b, "before", "{on}at.node - 1");
}

/* The chunks of a turn, and what is known of those that they need. */
static void set_turns(struct builder *b)
{
	const char *listed = "let at.from = {turns_of}[at.turn]\nlet at.to = {turns_of}[at.turn + 1]\n"
			     "for at.place in at.from..at.to\nlet at.chunk = {order}[at.place]\n";

	builder_set(b, "turn", "{systems}for at.turn in 1..{turns}\n");
	builder_set(b, "turn", b->is_device ? "{turn}for at.chunk in 0..{chunks}\n"
					    : arena_printf(b->arena, "{turn}%s", listed));
	builder_set(b, "turn", "{turn}let at.own = {turn_of}[at.chunk]\n");
	builder_set(b, "turn_depth", b->is_device ? "{3}" : "{6}");
	builder_set(b, "is_turn", "at.own == at.turn");
	builder_set(b, "child", "let at.child = {child_of}[at.chunk]\nlet at.earlier = {turn_of}[at.child]\n"
		    "where {is_turn} and at.earlier < at.turn\n");
	builder_set(b, "sibling", "let at.above = {above_of}[at.chunk]\nlet at.begin = {offsets}[at.chunk]\n"
		    "let at.sibling = {sibling_of}[at.chunk]\nlet at.earlier = {turn_of}[at.sibling]\n"
		    "where {is_turn} and at.earlier < at.turn and {is_below}\n");
	builder_set(b, "root", "let at.above = {above_of}[at.chunk]\nwhere {is_turn} and {is_root}\n");
	builder_set(b, "parent", "let at.above = {above_of}[at.chunk]\nlet at.later = {turn_of}[at.above]\n"
		    "where {is_turn} and at.later > at.turn and {is_below}\n");
}

static void set_filled(struct builder *b)
{
	builder_set(b, "out_of_node", builder_solution_at(b, "at.node"));
	builder_set(b, "filled", b->is_device ? "{x}.part_x" : "{solution}");
	builder_set(b, "filled_at", b->is_device ? "{node}{side}" : "{out_of_node}");
	builder_set(b, "filled_behind", b->is_device ? "{on}at.node + 1{side}"
						     : builder_solution_at(b, "at.node + 1"));
}

/* ---- the whole ---- */

static bool add(struct builder *b, const char *text)
{
	return builder_add(b, b->region, text);
}

static bool add_fill_in(struct builder *b)
{
	if (!b->is_device)
		return add(b, fill_in);
	return add(b, filled_array) && add(b, arena_printf(b->arena, "%s%s", fill_in, copy_out));
}

bool eliminate_tree_by(const struct tree_elimination *elimination, const struct algorithm *algorithm, bool is_device)
{
	const struct chunking *chunking = chunking_of(elimination, algorithm, !is_device);
	struct builder b = builder_new(&elimination->rows, algorithm);
	bool ok;

	b.is_device = is_device;
	builder_open(&b);
	set_tables(&b, chunking);
	set_loops(&b);
	set_turns(&b);
	set_filled(&b);
	set_coefficients(&b, elimination);
	ok = add(&b, node_arrays) && add(&b, chunk_arrays) && add(&b, begin) && add(&b, eliminate) && add(&b, none) &&
	     add(&b, up) && add(&b, down) && add_fill_in(&b) && builder_add_check(&b, false);
	builder_close(&b);
	return ok;
}
