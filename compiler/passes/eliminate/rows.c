/* SPDX-License-Identifier: MIT
 *
 * The rows of the program as arrays of their coefficients, and these by powers of two: products of coefficients neither
 * overflow nor lose digits then, whatever the units of a row. The solution is that of the rows as they are.
 *
 * In chunks of R rows, row i is row i mod R of chunk i/R, and a loop over all rows becomes one over chunks and one over
 * the rows of each. */
#include "passes/eliminate/eliminate_private.h"

static const char raw_rows[] =
	"array {x}.row_lower : temp {type}[{boxes}{row_boxes}]\n"
	"array {x}.row_diag : temp {type}[{boxes}{row_boxes}]\n"
	"array {x}.row_upper : temp {type}[{boxes}{row_boxes}]\n"
	"array {x}.row_rhs : temp {type}[{boxes}{row_boxes}{side_boxes}]\n";

static const char scaled_rows[] =
	"array {x}.row_scale : local {type}[] group {group}\n"
	"group \"{x}.{kind}\" common {row_depth}\n"
	"stage\n{each}{is_row}{x}.row_scale[] = unit_scale(abs({x}.row_diag[{row}]) + "
	"abs({x}.row_lower[{row}]) + abs({x}.row_upper[{row}]))\n"
	"stage\n{each}{is_row}{x}.{kind}_lower[{scaled}] = {x}.row_scale[] * {x}.row_lower[{row}]\n"
	"stage\n{each}{is_row}{x}.{kind}_diag[{scaled}] = {x}.row_scale[] * {x}.row_diag[{row}]\n"
	"stage\n{each}{is_row}{x}.{kind}_upper[{scaled}] = {x}.row_scale[] * {x}.row_upper[{row}]\n"
	"stage\n{each}{sides}{is_row}{x}.{kind}_rhs[{scaled}{side}] = {x}.row_scale[] * {x}.row_rhs[{row}{side}]\n";

/* ---- chunks ---- */

static struct expr *by(const struct builder *b, enum expr_op op, struct expr *expr, int64_t number)
{
	return expr_binary(b->arena, op, TYPE_I64, expr, expr_int(b->arena, number, expr->span));
}

struct expr *builder_n_chunks(const struct builder *b)
{
	int64_t rows = b->algorithm->chunk;

	return by(b, OP_DIV, by(b, OP_ADD, builder_n_rows(b), rows - 1), rows);
}

/* The dim that is the row of a stage, if it goes over all rows; -1: none does. */
static int dim_of_rows(const struct builder *b, const struct stage *stage, const struct expr *row)
{
	const struct array *x = b->what->solution;
	const struct dim *dim = row->kind == EXPR_DIM ? &stage->dims.items[row->index] : NULL;
	bool is_whole = dim && dim->kind == DIM_RANGE && expr_equal(dim->lo, x->lo[b->what->row]) &&
			expr_equal(dim->hi, x->hi[b->what->row]);

	return is_whole ? row->index : -1;
}

/* In the place of dim `row`; the others keep their order. */
static dim_list dims_in_chunks(const struct builder *b, const dim_list *dims, int row, struct expr *const *map)
{
	struct arena *arena = b->arena;
	struct dim part = dims->items[row];
	dim_list split = { 0 };

	for (int d = 0; d < dims->n; d++) {
		struct dim dim = dim_substitute(arena, &dims->items[d], map);

		if (d != row) {
			vec_push(arena, &split, dim);
			continue;
		}
		part.lo = expr_int(arena, 0, part.span);
		part.hi = builder_n_chunks(b);
		part.name = "chunk";
		vec_push(arena, &split, part);
		part.hi = expr_int(arena, b->algorithm->chunk, part.span);
		part.name = "row";
		vec_push(arena, &split, part);
	}
	return split;
}

/* Dims `row` and `row` + 1 are then the subscripts of the row. */
static void split_rows(const struct builder *b, struct stage *stage, int row)
{
	struct arena *arena = b->arena;
	struct expr **map = arena_new_array(arena, struct expr *, stage->dims.n), *is_row;
	struct dim rows = stage->dims.items[row];
	int n_systems = b->what->solution->rank - b->what->n_sides - 1;

	for (int d = 0; d < stage->dims.n; d++)
		map[d] = expr_dim(arena, d + (d > row), rows.span);
	map[row] = expr_binary(arena, OP_ADD, TYPE_I64, by(b, OP_MUL, map[row], b->algorithm->chunk),
			       expr_dim(arena, row + 1, rows.span));
	if (!expr_is_zero(rows.lo))
		map[row] = expr_binary(arena, OP_ADD, TYPE_I64, map[row], rows.lo);
	is_row = expr_binary(arena, OP_LT, TYPE_BOOL, map[row], rows.hi);
	if (stage->guard)
		is_row = expr_binary(arena, OP_AND, TYPE_BOOL, is_row, expr_substitute(arena, stage->guard, map));
	stage->guard = is_row;
	stage->dims = dims_in_chunks(b, &stage->dims, row, map);
	stage->value = expr_substitute(arena, stage->value, map);
	stage->write = access_substitute(arena, &stage->write, map);
	stage->write.subs[n_systems] = expr_dim(arena, row, rows.span);
	stage->write.subs[n_systems + 1] = expr_dim(arena, row + 1, rows.span);
}

/* ---- coefficients ---- */

/* Subscripts of a coefficient that a stage of the program gives: systems, row, right-hand side. */
static struct expr **kept_at(const struct builder *b, const struct row_value *value, const struct array *array)
{
	const struct access *write = &value->stage->write;
	struct expr **subs = arena_new_array(b->arena, struct expr *, array->rank), *row = write->subs[b->what->row];
	struct expr *lo = b->what->solution->lo[b->what->row];
	int n = 0, n_matrix = b->what->solution->rank - b->what->n_sides;

	for (int i = 0; i < n_matrix; i++)
		if (i != b->what->row)
			subs[n++] = write->subs[i];
	row = expr_is_zero(lo) ? row : expr_binary(b->arena, OP_SUB, TYPE_I64, row, lo);
	subs[n++] = b->algorithm->chunk ? by(b, OP_DIV, row, b->algorithm->chunk) : row;
	if (b->algorithm->chunk)
		subs[n++] = by(b, OP_MOD, row, b->algorithm->chunk);
	for (int i = n_matrix; n < array->rank; i++)
		subs[n++] = write->subs[i];
	return subs;
}

/* How many dims stand there in the place of one. */
static int add_row_value(struct builder *b, struct group *group, const struct row_value *value, struct array *array)
{
	struct stage *stage = module_add_stage(b->module, group, &(dim_list) { 0 }, value->stage->span);
	int row = dim_of_rows(b, value->stage, value->stage->write.subs[b->what->row]);

	for (int d = 0; d < value->n_dims; d++)
		vec_push(b->arena, &stage->dims, value->stage->dims.items[d]);
	stage->guard = value->stage->guard;
	stage->write = (struct access) { .array = array, .subs = kept_at(b, value, array),
					 .span = value->stage->span };
	stage->value = value->value ? expr_as(b->arena, array->type, value->value)
				    : expr_float(b->arena, 0, array->type, stage->span);
	if (!b->algorithm->chunk || row < 0)
		return 0;
	split_rows(b, stage, row);
	return 1;
}

static void add_rows(struct builder *b, const row_values *values, struct array *array)
{
	const struct group *of = NULL;
	struct group *group = NULL;
	int n_dims = -1, n_more;

	for (int i = 0; i < values->n; i++) {
		const struct row_value *value = &values->items[i];

		if (value->stage->group != of || value->n_dims != n_dims) {
			of = value->stage->group;
			n_dims = value->n_dims;
			group = module_add_group(b->module, b->region, array->name, value->stage->span);
		}
		n_more = add_row_value(b, group, value, array);
		group->n_common = (of->n_common < n_dims ? of->n_common : n_dims) + n_more;
	}
}

static void set_row_words(struct builder *b)
{
	builder_set(b, "row_boxes", b->algorithm->chunk ? "0..{chunks}, 0..{rows}" : "0..{n}");
	builder_set(b, "row_depth", b->algorithm->chunk ? "{2}" : "{1}");
	builder_set(b, "each", b->algorithm->chunk ? "{chunk}" : "{systems}for at.row in 0..{n}\n");
	builder_set(b, "row", b->algorithm->chunk ? "{on}at.chunk, at.row" : "{on}at.row");
	builder_set(b, "is_row", b->algorithm->chunk ? "where {rows}*at.chunk + at.row < {n}\n" : "");
}

bool builder_add_system(struct builder *b, const char *prefix)
{
	static const char *const names[ROW_N] = { "lower", "diag", "upper", "rhs" };

	builder_set(b, "kind", prefix);
	set_row_words(b);
	if (!builder_add(b, b->region, raw_rows))
		return false;
	for (int i = 0; i < ROW_N; i++)
		add_rows(b, &b->what->values[i], builder_array(b, arena_printf(b->arena, "{x}.row_%s", names[i])));
	return builder_add(b, b->region, scaled_rows);
}
