/* SPDX-License-Identifier: MIT
 *
 * Stencils tile by tile: `fuse f, g; tile g (16);` where g reads f at points around its own, so that no loop over
 * points could be shared. What g is computed from, as far as nothing else reads it, is computed in each tile of g with
 * the border that the tile needs, those points of the border in several tiles (overlapped tiling: Krishnamoorthy and
 * others 2007, Ragan-Kelley and others 2013).
 *
 * This is a change of the program, after which nothing is special: stages run over tiles and the points of a tile,
 * and temporaries have a cell for each tile and point, f[tile, i - 16*tile + border]. No cell is set twice. That loops
 * over tiles are shared, and that what one tile needs is stored for one tile, is found by fusion and storage. */
#include <limits.h>
#include <string.h>

#include <isl/ilp.h>

#include "passes/pass_private.h"

enum { MAX_TILED = 4 };

/* Points of a group in a tile: from `before` points before it to `after` points after it; and how it is stored. */
struct border {
	bool is_member;
	int64_t before[MAX_TILED], after[MAX_TILED];
	int subscript[MAX_TILED];       /* of the array that it writes: dim + offset */
	int64_t offset[MAX_TILED];
};

struct halo {
	struct module *module;
	struct region *region;
	struct override *tile;
	struct group *root;
	int first, n;                   /* the dims that are tiled */
	const int64_t *sizes;
	struct border *borders;         /* by number of group */
	bool is_shifted;                /* some border is not empty */
};

/* What a group computes is its last stage; others may be sums in variables of a point. */
static const struct access *result_of(const struct group *group)
{
	return &group->stages.items[group->stages.n - 1]->write;
}

static struct array *target_of(const struct group *group)
{
	return result_of(group)->array;
}

/* ---- which groups ---- */

static bool dims_are_ranges(const struct halo *h, const struct group *group)
{
	bool are = group->n_common >= h->first + h->n;

	for (int s = 0; are && s < group->stages.n; s++)
		for (int k = 0; k < h->n; k++)
			are = are && group->stages.items[s]->dims.items[h->first + k].kind == DIM_RANGE;
	return are && !group->is_recurrence;
}

/* The one subscript that is this dim plus a constant, which no other mentions; -1. */
static int subscript_of(const struct access *access, int dim, int64_t *offset)
{
	int found = -1;

	for (int i = 0; i < access->array->rank; i++) {
		int used;
		int64_t by;

		if (!expr_uses_dim(access->subs[i], dim))
			continue;
		if (found >= 0 || !expr_is_shifted_dim(access->subs[i], &used, &by) || used != dim)
			return -1;
		found = i;
		*offset = by;
	}
	return found;
}

/* Every stage sets the array, at the same subscripts, or a variable of the point. */
static bool finds_subscripts(const struct halo *h, const struct group *group, struct border *border)
{
	const struct access *write = result_of(group);
	bool finds = true;

	for (int s = 0; s < group->stages.n; s++) {
		const struct stage *stage = group->stages.items[s];

		finds = finds && (stage->write.array->role == ROLE_LOCAL ||
				  (stage->op == REDUCE_SET && !stage->is_init && access_equal(&stage->write, write)));
	}
	for (int k = 0; k < h->n && finds; k++) {
		border->subscript[k] = subscript_of(write, h->first + k, &border->offset[k]);
		finds = border->subscript[k] >= 0;
	}
	return finds;
}

struct reading {
	struct halo *h;
	const struct stage *stage;
	const struct array *array;
	struct border *border;
	bool is_possible, is_read;
};

/* The least and the most by which a subscript is ahead of the dim, wherever the stage runs; false: it has no bound. */
static bool finds_reach(const struct halo *h, const struct stage *stage, const struct expr *sub, int dim,
			int64_t *least, int64_t *most)
{
	const struct expr at = { .kind = EXPR_DIM, .type = TYPE_I64, .index = dim };
	isl_pw_aff *ahead = isl_pw_aff_sub(expr_pw_aff(h->module, stage, sub), expr_pw_aff(h->module, stage, &at));

	ahead = isl_pw_aff_intersect_domain(ahead, isl_set_copy(stage->domain));
	*least = val_integer(isl_pw_aff_min_val(isl_pw_aff_copy(ahead)));
	*most = val_integer(isl_pw_aff_max_val(ahead));
	return *least != INT_MAX && *most != INT_MAX;
}

/* The border grows by what a read needs. */
static void widen(struct access *access, void *user)
{
	struct reading *r = user;

	if (access->array != r->array)
		return;
	for (int k = 0; k < r->h->n && r->is_possible; k++) {
		const struct border *reader = &r->h->borders[r->stage->group->number];
		struct border *border = r->border;
		int64_t least = 0, most = 0;

		r->is_possible = reader->is_member && finds_reach(r->h, r->stage, access->subs[border->subscript[k]],
								  r->h->first + k, &least, &most);
		least -= border->offset[k];
		most -= border->offset[k];
		if (!r->is_read || reader->before[k] - least > border->before[k])
			border->before[k] = reader->before[k] - least;
		if (!r->is_read || reader->after[k] + most > border->after[k])
			border->after[k] = reader->after[k] + most;
	}
	r->is_read = true;
}

/* Is the group read by members only, at points that are known? */
static bool finds_border(struct halo *h, const struct group *group, struct border *border)
{
	struct reading r = { h, NULL, target_of(group), border, true, false };

	for (int s = 0; s < h->module->stages.n && r.is_possible; s++) {
		struct stage *stage = h->module->stages.items[s];

		if (stage->group != group && stage->write.array == r.array)
			return false;
		r.stage = stage;
		stage_reads(stage, widen, &r);
	}
	return r.is_possible && r.is_read;
}

static bool is_temporary(const struct halo *h, const struct array *array)
{
	return array->role == ROLE_TEMP && !array_is_index(array) && array->rank + h->n <= ARRAY_MAX_RANK &&
	       !(h->module->loop.until && expr_reads_array(h->module->loop.until, array));
}

static bool is_small(const struct halo *h, const struct border *border)
{
	bool is = true;

	for (int k = 0; k < h->n; k++) {
		int64_t size = h->sizes[k] + border->before[k] + border->after[k];

		is = is && size > 0 && size <= INT_MAX && border->before[k] < INT_MAX && border->after[k] < INT_MAX;
	}
	return is;
}

static void note_shift(struct halo *h, const struct border *border)
{
	for (int k = 0; k < h->n; k++)
		h->is_shifted |= border->before[k] || border->after[k];
}

/* Readers come behind what they read, so that all of a group's are known before it. */
static void find_members(struct halo *h)
{
	int at = region_place_of(h->region, h->root);

	h->borders[h->root->number].is_member = true;
	while (--at >= 0) {
		const struct group *group = h->region->groups.items[at];
		struct border border = { .is_member = true };

		if (!is_temporary(h, target_of(group)) || !dims_are_ranges(h, group) ||
		    !finds_subscripts(h, group, &border) || !finds_border(h, group, &border) || !is_small(h, &border))
			continue;
		h->borders[group->number] = border;
		note_shift(h, &border);
	}
}

/* ---- expressions ---- */

static struct expr *sum(const struct halo *h, struct expr *a, int64_t b)
{
	return b ? expr_binary(h->module->arena, OP_ADD, TYPE_I64, a, expr_int(h->module->arena, b, a->span)) : a;
}

/* size*tile + by */
static struct expr *tile_start(const struct halo *h, int k, int64_t by)
{
	struct arena *arena = h->module->arena;
	struct expr *size = expr_int(arena, h->sizes[k], h->tile->span);

	return sum(h, expr_binary(arena, OP_MUL, TYPE_I64, size, expr_dim(arena, h->first + k, h->tile->span)), by);
}

/* floor(expr/size) */
static struct expr *quotient(const struct halo *h, struct expr *expr, int k)
{
	int64_t value;

	if (expr_is_constant(expr, &value) && value >= 0)
		return expr_int(h->module->arena, value/h->sizes[k], expr->span);
	return expr_binary(h->module->arena, OP_DIV, TYPE_I64, expr,
			   expr_int(h->module->arena, h->sizes[k], expr->span));
}

static const struct dim *root_dim(const struct halo *h, int k)
{
	return &h->root->stages.items[0]->dims.items[h->first + k];
}

static struct dim tile_dim(const struct halo *h, int k)
{
	const struct dim *dim = root_dim(h, k);

	return (struct dim) { .kind = DIM_RANGE, .name = arena_printf(h->module->arena, "%s_tile", dim->name),
			      .span = dim->span, .lo = quotient(h, dim->lo, k),
			      .hi = quotient(h, sum(h, dim->hi, h->sizes[k] - 1), k) };
}

/* ---- the change ---- */

/* Subscripts of a member's array: the tiles, then those that it had, counted from the start of the border. */
static void to_tile(const struct halo *h, struct access *access, const struct border *border)
{
	struct arena *arena = h->module->arena;
	struct expr **subs = arena_new_array(arena, struct expr *, access->array->rank);

	for (int k = 0; k < h->n; k++)
		subs[k] = expr_dim(arena, h->first + k, access->span);
	memcpy(subs + h->n, access->subs, (size_t) (access->array->rank - h->n)*sizeof *subs);
	for (int k = 0; k < h->n; k++) {
		struct expr **sub = &subs[h->n + border->subscript[k]];
		struct expr *start = tile_start(h, k, border->offset[k] - border->before[k]);

		*sub = expr_binary(arena, OP_SUB, TYPE_I64, *sub, start);
	}
	access->subs = subs;
}

static const struct border *border_of(const struct halo *h, const struct array *array)
{
	for (int g = 0; g < h->region->groups.n; g++) {
		const struct group *group = h->region->groups.items[g];

		if (h->borders[group->number].is_member && group != h->root && target_of(group) == array)
			return &h->borders[group->number];
	}
	return NULL;
}

/* `border`: of its array, to whose subscripts those of the tile come in front; NULL: it is none of the members'. */
static struct access access_of_tile(const struct halo *h, const struct access *access, const struct border *border,
				    struct expr *const *dims)
{
	struct access copy = *access;

	if (!border)
		return access_substitute(h->module->arena, access, dims);
	copy.subs = arena_new_array(h->module->arena, struct expr *, ARRAY_MAX_RANK);
	for (int i = 0; i < copy.array->rank - h->n; i++)
		copy.subs[i] = expr_substitute(h->module->arena, access->subs[i], dims);
	to_tile(h, &copy, border);
	return copy;
}

/* The expression at the new dims; what is read of members, where they now have it. */
static struct expr *rewritten(const struct halo *h, struct expr *expr, struct expr *const *dims)
{
	const struct border *border = expr->kind == EXPR_READ ? border_of(h, expr->access.array) : NULL;
	struct expr *copy = arena_new(h->module->arena, struct expr);
	int n = expr_n_args(expr);

	if (!n && !border)
		return expr_substitute(h->module->arena, expr, dims);
	*copy = *expr;
	if (border) {
		copy->access = access_of_tile(h, &expr->access, border, dims);
		return copy;
	}
	copy->args = arena_new_array(h->module->arena, struct expr *, n);
	for (int i = 0; i < n; i++)
		copy->args[i] = rewritten(h, expr->args[i], dims);
	return copy;
}

static void clip(const struct halo *h, struct dim *dim, int k, const struct border *border)
{
	struct arena *arena = h->module->arena;

	dim->lo = expr_binary(arena, OP_MAX, TYPE_I64, dim->lo, tile_start(h, k, -border->before[k]));
	dim->hi = expr_binary(arena, OP_MIN, TYPE_I64, dim->hi, tile_start(h, k, h->sizes[k] + border->after[k]));
}

static void rewrite_stage(const struct halo *h, struct stage *stage, const struct dim *tiles)
{
	struct arena *arena = h->module->arena;
	const struct border *border = &h->borders[stage->group->number];
	struct expr **dims = arena_new_array(arena, struct expr *, stage->dims.n);
	dim_list list = { 0 };

	for (int d = 0; d < stage->dims.n; d++)
		dims[d] = expr_dim(arena, d < h->first ? d : d + h->n, stage->dims.items[d].span);
	for (int d = 0; d < stage->dims.n; d++) {
		struct dim dim = dim_substitute(arena, &stage->dims.items[d], dims);

		for (int k = 0; d == h->first && k < h->n; k++)
			vec_push(arena, &list, tiles[k]);
		if (d >= h->first && d < h->first + h->n)
			clip(h, &dim, d - h->first, border);
		vec_push(arena, &list, dim);
	}
	stage->dims = list;
	stage->guard = stage->guard ? expr_substitute(arena, stage->guard, dims) : NULL;
	stage->value = rewritten(h, stage->value, dims);
	stage->write = access_of_tile(h, &stage->write, border_of(h, stage->write.array), dims);
}

static void widen_array(const struct halo *h, struct array *array, const struct border *border,
			const struct dim *tiles)
{
	struct arena *arena = h->module->arena;
	struct expr **lo = arena_new_array(arena, struct expr *, array->rank + h->n);
	struct expr **hi = arena_new_array(arena, struct expr *, array->rank + h->n);

	memcpy(lo + h->n, array->lo, (size_t) array->rank*sizeof *lo);
	memcpy(hi + h->n, array->hi, (size_t) array->rank*sizeof *hi);
	for (int k = 0; k < h->n; k++) {
		int at = h->n + border->subscript[k];

		lo[k] = tiles[k].lo;
		hi[k] = tiles[k].hi;
		lo[at] = expr_int(arena, 0, array->span);
		hi[at] = expr_int(arena, h->sizes[k] + border->before[k] + border->after[k], array->span);
	}
	array->lo = lo;
	array->hi = hi;
	array->rank += h->n;
}

static void rewrite(const struct halo *h)
{
	struct dim tiles[MAX_TILED];

	for (int k = 0; k < h->n; k++)
		tiles[k] = tile_dim(h, k);
	for (int g = 0; g < h->region->groups.n; g++) {
		struct group *group = h->region->groups.items[g];

		if (h->borders[group->number].is_member && group != h->root)
			widen_array(h, target_of(group), &h->borders[group->number], tiles);
	}
	for (int g = 0; g < h->region->groups.n; g++) {
		struct group *group = h->region->groups.items[g];

		if (!h->borders[group->number].is_member)
			continue;
		for (int s = 0; s < group->stages.n; s++)
			rewrite_stage(h, group->stages.items[s], tiles);
		group->n_common += h->n;
		group_run_forwards(h->module, group);
	}
}

/* ---- items ---- */

/* The item that fuses the tiled one with a member; NULL. */
static struct override *find_fuse(const struct halo *h)
{
	for (int i = 0; i < h->module->overrides.n; i++) {
		struct override *fuse = &h->module->overrides.items[i];
		bool has_root = false, has_member = false;

		for (int s = 0; s < fuse->subjects.n && fuse->verb == VERB_FUSE; s++) {
			has_root |= group_defines(h->root, fuse->subjects.items[s]);
			for (int g = 0; g < h->region->groups.n; g++)
				has_member |= h->region->groups.items[g] != h->root &&
					      h->borders[h->region->groups.items[g]->number].is_member &&
					      group_defines(h->region->groups.items[g], fuse->subjects.items[s]);
		}
		if (has_root && has_member)
			return fuse;
	}
	return NULL;
}

/* All members share the loops over tiles. */
static void fuse_members(const struct halo *h, struct override *fuse)
{
	for (int g = 0; g < h->region->groups.n; g++) {
		const struct group *group = h->region->groups.items[g];

		if (h->borders[group->number].is_member && group != h->root)
			vec_push(h->module->arena, &fuse->subjects, target_of(group)->name);
	}
}

/* Sizes of 1 in front are loops that stay as they are. */
static bool takes_sizes(struct halo *h)
{
	const struct override *tile = h->tile;
	bool is_range = true;

	while (h->first < tile->numbers.n && tile->numbers.items[h->first] == 1)
		h->first++;
	h->n = tile->numbers.n - h->first;
	h->sizes = tile->numbers.items + h->first;
	if (h->n < 1 || h->n > MAX_TILED || !dims_are_ranges(h, h->root))
		return false;
	for (int k = 0; k < h->n; k++)
		is_range = is_range && h->sizes[k] > 0 && h->sizes[k] <= INT_MAX &&
			   expr_last_dim(root_dim(h, k)->lo) < 0 && expr_last_dim(root_dim(h, k)->hi) < 0;
	return is_range;
}

static bool try_root(struct module *module, struct region *region, struct group *root, struct override *tile)
{
	struct halo h = { .module = module, .region = region, .tile = tile, .root = root };
	struct override *fuse;

	h.borders = arena_new_array(module->arena, struct border, module->groups.n);
	if (!takes_sizes(&h))
		return false;
	find_members(&h);
	fuse = find_fuse(&h);
	if (!h.is_shifted || !fuse)
		return false;
	rewrite(&h);
	fuse_members(&h, fuse);
	tile->choice = CHOICE_HALO;
	tile->is_used = true;
	module_decide(module, DECISION_HALO, tile->subjects.items[0], tile->span, "the schedule asks for it");
	return true;
}

static bool try_item(struct module *module, struct override *tile)
{
	for (int r = 0; r < REGION_N; r++)
		for (int g = 0; g < module->regions[r].groups.n; g++)
			if (group_defines(module->regions[r].groups.items[g], tile->subjects.items[0]))
				return try_root(module, &module->regions[r], module->regions[r].groups.items[g], tile);
	return false;
}

bool pass_halo(struct module *module, const struct pass_options *options)
{
	bool is_changed = false;

	(void) options;
	for (int i = 0; i < module->overrides.n; i++) {
		struct override *tile = &module->overrides.items[i];

		if (tile->verb == VERB_TILE && tile->choice == CHOICE_ABSENT && tile->subjects.n == 1 &&
		    tile->numbers.n)
			is_changed |= try_item(module, tile);
	}
	if (is_changed)
		module_analyse(module);
	return true;
}
