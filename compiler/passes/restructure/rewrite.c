/* SPDX-License-Identifier: MIT
 *
 * The loops that replace `for k in 0..n, a = A[k], b = B[k], …, t in …`:
 *
 *     for chunk in 0..chunks, for a in chunk_offsets[chunk]..chunk_offsets[chunk + 1]       (or a in 0..limit)
 *     for run in offsets[a]..offsets[a + 1], b = run_b[run]                                   (or none of this)
 *     for k in run_offsets[run]..run_offsets[run + 1]                                         (or offsets[a]…)
 *     the value a of a segment may be bound instead: for place in …, a = order[place], with offsets[place]
 *     or all of this: for part in 0..parts, a = part_values[part], for k in part_begins[part]..part_ends[part]
 *     c = sorted_c[k], …, t in …
 *
 * Arrays read at the point are read from their copies in the new order; where the point itself is needed, it is the
 * bound dim `order`. Dims that need no point of the run stand behind the loop over its points, or before it where that
 * separates the factors (factor.c): before the runs if these then share a row of the target. */
#include "passes/restructure/restructure_private.h"

struct rewriter {
	struct rewriting *out;
	const struct choice *choice;
	struct module *module;
	struct arena *arena;
	struct expr *point;             /* the new k */
	struct expr *order;             /* the caller's k; NULL: nothing needs it */
};

static struct expr *push_dim(struct rewriter *r, struct dim dim)
{
	vec_push(r->arena, &r->out->dims, dim);
	return expr_dim(r->arena, r->out->dims.n - 1, dim.span);
}

static struct span span_here(const struct rewriter *r)
{
	return r->out->accumulation->stage->dims.items[0].span;
}

static struct expr *push_range(struct rewriter *r, const char *name, struct expr *lo, struct expr *hi)
{
	return push_dim(r, (struct dim) { .kind = DIM_RANGE, .name = name, .span = span_here(r), .lo = lo, .hi = hi });
}

static struct expr *push_bind(struct rewriter *r, const char *name, struct array *array, struct expr *sub)
{
	struct dim dim = { .kind = DIM_BIND, .name = name, .span = span_here(r),
			   .source = { .array = array, .span = span_here(r) } };

	dim.source.subs = arena_new_array(r->arena, struct expr *, 1);
	dim.source.subs[0] = sub;
	return push_dim(r, dim);
}

/* for NAME in offsets[at]..offsets[at + 1] */
static struct expr *push_piece(struct rewriter *r, const char *name, const char *of, struct array *offsets,
			       struct expr *at)
{
	struct expr *next = expr_binary(r->arena, OP_ADD, TYPE_I64, at, expr_int(r->arena, 1, at->span));
	struct expr *lo = push_bind(r, arena_printf(r->arena, "%s_begin", of), offsets, at);
	struct expr *hi = push_bind(r, arena_printf(r->arena, "%s_end", of), offsets, next);

	return push_range(r, name, lo, hi);
}

static const struct dim *old_dim(const struct rewriter *r, int number)
{
	return &r->out->accumulation->stage->dims.items[number];
}

/* ---- loops over segments, runs and points ---- */

static struct expr *push_places(struct rewriter *r, const char *name)
{
	const struct restructuring *restructuring = r->out->restructuring;
	const struct dim *key = old_dim(r, r->choice->keys.items[0]);
	struct expr *zero = expr_int(r->arena, 0, key->span);
	struct expr *chunk;

	if (!restructuring->chunks)
		return push_range(r, name, zero, key->source.array->limit);
	chunk = push_range(r, "chunk", zero, expr_param(r->arena, r->module, restructuring->n_chunks, key->span));
	return push_piece(r, name, "chunk", restructuring->chunks, chunk);
}

/* The number of the segment; the last dim is the value of its first key. */
static struct expr *push_segments(struct rewriter *r)
{
	struct array *order = r->out->restructuring->order;
	int key = r->choice->keys.items[0];
	const char *name = old_dim(r, key)->name;
	struct expr *segment = push_places(r, order ? "place" : name);

	r->out->map[key] = order ? push_bind(r, name, order, segment) : segment;
	r->out->n_segments = r->out->dims.n;
	return segment;
}

static bool needs_point(const struct rewriter *r, int number);
static void push_old_dim(struct rewriter *r, int number);

static bool is_key(const struct rewriter *r, int number)
{
	bool is = false;

	for (int i = 0; i < r->choice->keys.n; i++)
		is = is || r->choice->keys.items[i] == number;
	return is;
}

/* Loops that factors of the points need, too, where others are left: outside of the points. NULL: there are none. */
static bool *find_common(const struct rewriter *r)
{
	int n = r->out->accumulation->stage->dims.n;
	bool *is_of_point = arena_new_array(r->arena, bool, n), *is_common = arena_new_array(r->arena, bool, n);

	for (int d = 0; d < n; d++)
		is_of_point[d] = needs_point(r, d) && !is_key(r, d);
	return factors_find_common(r->out->accumulation, is_of_point, is_common) ? is_common : NULL;
}

/* Do the updates of a segment meet in one row of the target for each of the common loops? */
static bool has_row_for_segment(const struct rewriter *r)
{
	const struct stage *stage = r->out->accumulation->stage;
	bool has = true;

	for (int d = 0; d < stage->dims.n; d++)
		has = has && (!needs_point(r, d) || d == r->choice->keys.items[0] ||
			      !access_uses_dim(&stage->write, d));
	return has;
}

static void push_common(struct rewriter *r, const bool *is_common)
{
	for (int d = 1; d < r->out->accumulation->stage->dims.n; d++)
		if (is_common && is_common[d])
			push_old_dim(r, d);
}

static void push_points_of_run(struct rewriter *r, struct expr *segment, const char *segment_name)
{
	struct restructuring *restructuring = r->out->restructuring;
	const bool *is_common = find_common(r), has_row = has_row_for_segment(r);
	struct expr *run;

	push_common(r, has_row ? is_common : NULL);
	run = push_piece(r, "run", segment_name, restructuring->segments, segment);
	for (int i = 1; i < r->choice->keys.n; i++) {
		int key = r->choice->keys.items[i];
		struct array *copy = restructuring_copy(r->module, restructuring, old_dim(r, key)->source.array, true);

		copy->storage = r->choice->narrows ? STORAGE_NARROW : STORAGE_F64;
		r->out->map[key] = push_bind(r, old_dim(r, key)->name, copy, run);
	}
	push_common(r, has_row ? NULL : is_common);
	r->point = push_piece(r, old_dim(r, 0)->name, "run", restructuring->runs, run);
	r->out->dims.items[r->out->dims.n - 1].is_short = true;
}

/* No segment has all of its points in one place: what starts its cells stays apart. */
static void push_points_of_part(struct rewriter *r)
{
	const struct restructuring *restructuring = r->out->restructuring;
	const struct dim *key = old_dim(r, r->choice->keys.items[0]);
	struct expr *zero = expr_int(r->arena, 0, key->span), *begin, *end;
	struct expr *part = push_range(r, "part", zero, expr_param(r->arena, r->module, restructuring->n_parts,
								   key->span));

	r->out->map[r->choice->keys.items[0]] = push_bind(r, key->name, restructuring->part_values, part);
	begin = push_bind(r, "part_begin", restructuring->part_begins, part);
	end = push_bind(r, "part_end", restructuring->part_ends, part);
	r->point = push_range(r, old_dim(r, 0)->name, begin, end);
}

static void push_points(struct rewriter *r)
{
	const char *name = old_dim(r, r->choice->keys.items[0])->name;
	struct expr *segment;

	if (r->choice->partition == PARTITION_COEFF) {
		r->point = push_range(r, old_dim(r, 0)->name, expr_int(r->arena, 0, span_here(r)), old_dim(r, 0)->hi);
		return;
	}
	if (r->choice->partition == PARTITION_PARTS) {
		push_points_of_part(r);
		return;
	}
	segment = push_segments(r);
	if (r->choice->has_runs)
		push_points_of_run(r, segment, name);
	else
		r->point = push_piece(r, old_dim(r, 0)->name, name, r->out->restructuring->segments, segment);
}

/* ---- expressions at the new points ---- */

static struct expr *rewrite_expr(struct rewriter *r, struct expr *expr);

static struct expr **rewrite_all(struct rewriter *r, struct expr **exprs, int n)
{
	struct expr **copies = arena_new_array(r->arena, struct expr *, n);

	for (int i = 0; i < n; i++)
		copies[i] = rewrite_expr(r, exprs[i]);
	return copies;
}

static struct access rewrite_access(struct rewriter *r, const struct access *access)
{
	struct access copy = *access;

	if (!access_is_of_points(r->out->accumulation, access)) {
		copy.subs = rewrite_all(r, access->subs, access_n_subs(access));
		return copy;
	}
	copy.array = restructuring_copy(r->module, r->out->restructuring, access->array, false);
	copy.subs = arena_new_array(r->arena, struct expr *, 1);
	copy.subs[0] = r->point;
	return copy;
}

static struct expr *rewrite_expr(struct rewriter *r, struct expr *expr)
{
	struct expr *copy;

	if (expr->kind == EXPR_DIM)
		return expr->index ? r->out->map[expr->index] : r->order;
	copy = arena_new(r->arena, struct expr);
	*copy = *expr;
	if (expr->kind == EXPR_READ) {
		copy->access = rewrite_access(r, &expr->access);
		if (type_is_integer(expr->type) && copy->access.array->type != expr->type) {
			copy->type = copy->access.array->type;
			return expr_cast(r->arena, expr->type, copy);
		}
	}
	if (expr_n_args(expr))
		copy->args = rewrite_all(r, expr->args, expr_n_args(expr));
	return copy;
}

/* ---- the number that a point has for the caller ---- */

static bool access_needs_order(const struct rewriter *r, const struct access *access);

static bool expr_needs_order(const struct rewriter *r, const struct expr *expr)
{
	bool needs = expr->kind == EXPR_DIM && expr->index == 0;

	if (expr->kind == EXPR_READ)
		needs = access_needs_order(r, &expr->access);
	for (int i = 0; !needs && i < expr_n_args(expr); i++)
		needs = expr_needs_order(r, expr->args[i]);
	return needs;
}

static bool access_needs_order(const struct rewriter *r, const struct access *access)
{
	bool needs = false;

	if (!access_is_of_points(r->out->accumulation, access))
		for (int i = 0; !needs && i < access_n_subs(access); i++)
			needs = expr_needs_order(r, access->subs[i]);
	return needs;
}

static bool needs_order(const struct rewriter *r)
{
	const struct stage *stage = r->out->accumulation->stage;
	bool needs = expr_needs_order(r, stage->value) || access_needs_order(r, &stage->write);

	for (int i = 1; !needs && i < stage->dims.n; i++) {
		const struct dim *dim = &stage->dims.items[i];

		needs = dim->kind == DIM_RANGE ? expr_needs_order(r, dim->lo) || expr_needs_order(r, dim->hi)
					       : access_needs_order(r, &dim->source);
	}
	return needs;
}

static void push_order(struct rewriter *r)
{
	struct array *copy;

	if (!needs_order(r))
		return;
	copy = restructuring_copy(r->module, r->out->restructuring, NULL, false);
	r->order = push_bind(r, "order", copy, r->point);
}

/* ---- the other dims ---- */

/* Does the old dim need a point, itself or through others? */
static bool needs_point(const struct rewriter *r, int number)
{
	bool needs = number == 0;

	for (int d = 0; !needs && d < number; d++)
		needs = dim_uses_dim(old_dim(r, number), d) && needs_point(r, d);
	return needs;
}

/* Is all that the old dim uses already there? */
static bool is_ready(const struct rewriter *r, int number)
{
	bool is = true;

	for (int d = 1; is && d < number; d++)
		is = !dim_uses_dim(old_dim(r, number), d) || r->out->map[d];
	return is;
}

static bool is_ready_of_point(const struct rewriter *r, int number)
{
	return needs_point(r, number) && is_ready(r, number);
}

static bool is_ready_and_bound(const struct rewriter *r, int number)
{
	return old_dim(r, number)->kind == DIM_BIND && is_ready(r, number);
}

static void push_old_dim(struct rewriter *r, int number)
{
	struct dim dim = *old_dim(r, number);

	if (dim.kind == DIM_RANGE) {
		dim.lo = rewrite_expr(r, dim.lo);
		dim.hi = rewrite_expr(r, dim.hi);
	} else {
		dim.source = rewrite_access(r, &dim.source);
	}
	r->out->map[number] = push_dim(r, dim);
}

static void push_old_dims(struct rewriter *r, bool (*belongs)(const struct rewriter *r, int number))
{
	for (int i = 1; i < r->out->accumulation->stage->dims.n; i++)
		if (!r->out->map[i] && belongs(r, i))
			push_old_dim(r, i);
}

/* ---- the whole ---- */

struct rewriting rewriting_new(const struct accumulation *accumulation, const struct choice *choice)
{
	struct arena *arena = accumulation->module->arena;
	struct rewriting out = { .accumulation = accumulation,
				 .restructuring = restructuring_of(accumulation, choice) };
	struct rewriter r = { .out = &out, .choice = choice, .module = accumulation->module, .arena = arena };

	out.map = arena_new_array(arena, struct expr *, accumulation->stage->dims.n);
	push_points(&r);
	out.n_common = out.dims.n - 1;
	push_order(&r);
	push_old_dims(&r, choice->has_runs ? is_ready_of_point : is_ready_and_bound);
	if (!choice->has_runs)
		out.n_common = out.dims.n;
	out.n_points = out.dims.n - out.n_common;
	push_old_dims(&r, is_ready);
	out.value = rewrite_expr(&r, accumulation->stage->value);
	out.write = rewrite_access(&r, &accumulation->stage->write);
	return out;
}

/* ---- the start of the target ---- */

/* The group of one stage that sets all of the target, or NULL. */
static struct group *find_start(const struct accumulation *accumulation)
{
	for (int i = 0; i < accumulation->module->groups.n; i++) {
		struct group *group = accumulation->module->groups.items[i];
		struct stage *stage = group->stages.items[0];

		if (group->stages.n == 1 && stage->is_init && stage->write.array == accumulation->stage->write.array)
			return group;
	}
	return NULL;
}

static bool expr_is_dim(const struct expr *expr, int dim)
{
	return expr->kind == EXPR_DIM && expr->index == dim;
}

/* The dim of the start that runs over the values of the key, all of them, in the place of `key` in the target; -1. */
static int dim_of_key(const struct accumulation *accumulation, const struct stage *start, int key)
{
	const struct expr *limit = accumulation->stage->dims.items[key].source.array->limit;
	int64_t lo;

	for (int i = 0; i < start->write.array->rank; i++) {
		const struct dim *dim;

		if (!expr_is_dim(accumulation->stage->write.subs[i], key) || start->write.subs[i]->kind != EXPR_DIM)
			continue;
		dim = &start->dims.items[start->write.subs[i]->index];
		if (dim->kind == DIM_RANGE && expr_is_constant(dim->lo, &lo) && lo == 0 && expr_equal(dim->hi, limit))
			return start->write.subs[i]->index;
	}
	return -1;
}

static bool dims_are_plain(const struct stage *stage)
{
	bool are = !stage->guard || expr_last_dim(stage->guard) < 0;

	for (int d = 0; are && d < stage->dims.n; d++)
		are = dim_is_fixed(&stage->dims.items[d]);
	return are;
}

void rewrite_start(const struct rewriting *rewriting, int key)
{
	const struct accumulation *accumulation = rewriting->accumulation;
	struct arena *arena = accumulation->module->arena;
	struct group *group = rewriting->n_segments ? find_start(accumulation) : NULL;
	struct stage *start = group ? group->stages.items[0] : NULL;
	int dim = start && dims_are_plain(start) ? dim_of_key(accumulation, start, key) : -1;
	struct expr **map;
	dim_list dims = { 0 };

	if (dim < 0)
		return;
	map = arena_new_array(arena, struct expr *, start->dims.n);
	for (int d = 0; d < rewriting->n_segments; d++)
		vec_push(arena, &dims, rewriting->dims.items[d]);
	for (int d = 0; d < start->dims.n; d++) {
		if (d != dim)
			vec_push(arena, &dims, start->dims.items[d]);
		map[d] = expr_dim(arena, d == dim ? rewriting->n_segments - 1 : dims.n - 1, start->span);
	}
	for (int i = 0; i < start->write.array->rank; i++)
		start->write.subs[i] = expr_substitute(arena, start->write.subs[i], map);
	start->value = expr_substitute(arena, start->value, map);
	start->dims = dims;
	group->n_common = dims.n;
	group->direction = NULL;
}
