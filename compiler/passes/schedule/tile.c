/* SPDX-License-Identifier: MIT
 *
 * `tile f (32, 256);`: loops of what computes f run tile by tile. Above each run of loops that stand directly inside
 * one another come the bands of their tiles, floor(i/32)*32, and the loops themselves run inside of a tile; loops that
 * read their range from offsets have tiles that begin at the start of the range. Nothing is tiled unless asked for.
 * Whether the new order is legal is proved by the dependences; it is refused with the two iterations that it would
 * swap. Tiles at the borders are smaller: isl gives their loops the bounds. */
#include <limits.h>

#include "passes/pass_private.h"

typedef isl_schedule_node node;

struct tiling {
	struct module *module;
	const struct override *override;
	const char *name;               /* of the array */
	int n_done;                     /* loops that are tiled */
	const char *obstacle;           /* to tiling one more */
	const struct group *beside;     /* further loops; NULL */
};

/* ---- bands ---- */

/* Where the tiles of a loop over dim `number` of `stage` begin to be counted: at 0, or at the start of a range that
 * depends on other dims. */
static __isl_give isl_pw_aff *tile_origin(struct module *module, const struct stage *stage, int number)
{
	const struct expr *lo = stage->dims.items[number].lo;
	const struct expr zero = { .kind = EXPR_INT, .type = TYPE_I64 };

	return expr_pw_aff(module, stage, lo && expr_last_dim(lo) >= 0 ? lo : &zero);
}

/* { S[D] -> [floor((direction*(D_number - origin) + shift)/size)*size] } for the stages below the mark of the loop. */
static __isl_give isl_multi_union_pw_aff *tile_schedule(struct module *module, __isl_keep node *loop, int64_t size)
{
	const struct mark *mark = mark_of_node(loop);
	stage_list below = tree_stages(module, loop);
	struct expr dim = { .kind = EXPR_DIM, .type = TYPE_I64, .index = mark_dim_number(mark) };
	isl_union_pw_aff *sum = NULL;

	for (int i = 0; i < below.n; i++) {
		isl_pw_aff *aff = expr_pw_aff(module, below.items[i], &dim);
		isl_val *val = isl_val_int_from_si(module->ctx, size), *shift;
		isl_union_pw_aff *one;

		aff = isl_pw_aff_sub(aff, tile_origin(module, below.items[i], dim.index));
		aff = mark->direction < 0 ? isl_pw_aff_neg(aff) : aff;
		shift = isl_val_int_from_si(module->ctx, group_shift(below.items[i]->group, dim.index));
		aff = isl_pw_aff_add_constant_val(aff, shift);
		aff = isl_pw_aff_floor(isl_pw_aff_scale_down_val(aff, isl_val_copy(val)));
		one = isl_union_pw_aff_from_pw_aff(isl_pw_aff_scale_val(aff, val));
		sum = sum ? isl_union_pw_aff_union_add(sum, one) : one;
	}
	return isl_multi_union_pw_aff_from_union_pw_aff(sum);
}

/* The bands of the tiles of `n` loops, of which the first has its mark at `at`, above it; back to that mark. */
static __isl_give node *insert_tiles(struct tiling *t, __isl_take node *at, int n)
{
	const struct mark **loops = arena_new_array(t->module->arena, const struct mark *, n);
	isl_multi_union_pw_aff **bands = arena_new_array(t->module->arena, isl_multi_union_pw_aff *, n);

	for (int i = 0; i < n; i++) {
		loops[i] = mark_of_node(at);
		bands[i] = tile_schedule(t->module, at, t->override->numbers.items[t->n_done + i]);
		at = isl_schedule_node_first_child(isl_schedule_node_first_child(at));
	}
	at = isl_schedule_node_ancestor(at, 2*n);
	for (int i = n - 1; i >= 0; i--) {
		struct mark *mark = mark_new(t->module, MARK_TILE, "tile", t->override->span);

		mark->dim = loops[i]->dim;
		mark->stage = loops[i]->stage;
		mark->direction = loops[i]->direction;
		at = isl_schedule_node_insert_partial_schedule(at, bands[i]);
		at = isl_schedule_node_insert_mark(at, mark_id(t->module, mark));
	}
	t->n_done += n;
	for (int i = 0; i < 2*n; i++)
		at = isl_schedule_node_first_child(at);
	return at;
}

/* ---- where ---- */

/* Loops that stand directly inside one another, from the mark at `at` on, and not more than are still to be tiled. */
static int n_adjacent(const struct tiling *t, __isl_keep node *at)
{
	node *next = isl_schedule_node_copy(at);
	int n = 0;

	while (n < t->override->numbers.n - t->n_done) {
		const struct mark *mark = mark_of_node(next);

		if (!mark || mark->kind != MARK_LOOP)
			break;
		next = isl_schedule_node_first_child(isl_schedule_node_first_child(next));
		n++;
	}
	isl_schedule_node_free(next);
	return n;
}

static bool computes(const struct tiling *t, __isl_keep node *at)
{
	stage_list below = tree_stages(t->module, at);

	for (int i = 0; i < below.n; i++)
		if (group_defines(below.items[i]->group, t->name) && !below.items[i]->is_init)
			return true;
	return false;
}

static const struct group *other_group(const struct tiling *t, const stage_list *stages)
{
	for (int i = 0; i < stages->n; i++)
		if (!group_defines(stages->items[i]->group, t->name))
			return stages->items[i]->group;
	return NULL;
}

static bool any_is_of_sum(const stage_list *stages)
{
	bool is = false;

	for (int i = 0; i < stages->n; i++)
		is |= stages->items[i]->write.array->role == ROLE_LOCAL;
	return is;
}

/* Why no loop below `at` is tiled. */
static void note_obstacle(struct tiling *t, __isl_keep node *at)
{
	stage_list below = tree_stages(t->module, at);

	t->beside = isl_schedule_node_n_children(at) ? other_group(t, &below) : NULL;
	if (!isl_schedule_node_n_children(at))
		t->obstacle = "there are no more loops around it";
	else if (t->beside)
		t->obstacle = arena_printf(t->module->arena, "further loops stand beside '%s'", t->beside->name);
	else if (any_is_of_sum(&below))
		t->obstacle = "the loop of a sum stands beside where it starts: of a 'reduce', all can be tiled";
	else
		t->obstacle = "further loops stand beside one another";
}

/* Goes down to the loops of what computes the array, as long as nothing else stands beside them. */
static __isl_give node *tile_below(struct tiling *t, __isl_take node *at)
{
	int n;

	while (t->n_done < t->override->numbers.n) {
		n = n_adjacent(t, at);
		if (n)
			at = insert_tiles(t, at, n);
		while (n--)
			at = isl_schedule_node_first_child(isl_schedule_node_first_child(at));
		if (t->n_done == t->override->numbers.n || isl_schedule_node_n_children(at) != 1)
			break;
		if (n_adjacent(t, at) == 0)
			at = isl_schedule_node_first_child(at);
	}
	note_obstacle(t, at);
	return at;
}

static __isl_give isl_schedule *tiled(struct tiling *t, __isl_keep isl_schedule *schedule)
{
	node *at = isl_schedule_node_first_child(isl_schedule_get_root(schedule));
	int n = isl_schedule_node_n_children(at);
	isl_schedule *changed;

	for (int i = 0; i < n && t->n_done == 0; i++) {
		isl_size depth = isl_schedule_node_get_tree_depth(at);

		at = isl_schedule_node_first_child(isl_schedule_node_child(at, i));
		if (computes(t, at))
			at = tile_below(t, at);
		at = isl_schedule_node_ancestor(at, isl_schedule_node_get_tree_depth(at) - depth);
	}
	changed = isl_schedule_node_get_schedule(at);
	isl_schedule_node_free(at);
	return changed;
}

/* ---- items ---- */

static struct diag *report(const struct tiling *t, enum diag_code code, const char *problem, const char *sample)
{
	struct diag *diag = diag_error(t->module->diags, code, t->override->span, "%s", problem);

	if (sample)
		diag_label(t->module->diags, diag, (struct span) { 0 }, "%s", sample);
	return diag;
}

/* Keeps the tiled tree of a region if no dependence is reversed. */
static bool keep_if_legal(const struct tiling *t, struct region *region, __isl_take isl_schedule *schedule)
{
	struct arena *arena = t->module->arena;
	isl_union_map *reversed = !region->strict ? NULL :
				  schedule_ordered(arena, schedule, isl_union_map_copy(region->strict), false);
	bool is_legal = reversed && isl_union_map_is_empty(reversed) == isl_bool_true;

	if (!is_legal) {
		isl_schedule_free(schedule);
		report(t, DIAG_BREAKS_DEPENDENCE, arena_printf(t->module->arena, "'%s' cannot be tiled: an iteration "
								"would run before one that it needs", t->name),
		       reversed ? dependence_sample(t->module, isl_union_map_copy(reversed)) : NULL);
		isl_union_map_free(reversed);
		return false;
	}
	isl_union_map_free(reversed);
	isl_schedule_free(region->schedule);
	region->schedule = schedule;
	return true;
}

static bool numbers_are_sizes(const struct override *override)
{
	bool are = override->numbers.n;

	for (int i = 0; are && i < override->numbers.n; i++)
		are = override->numbers.items[i] > 0 && override->numbers.items[i] <= INT_MAX;
	return are;
}

static bool names_group(const struct override *override, const struct group *group)
{
	bool does = false;

	for (int i = 0; i < override->subjects.n; i++)
		does |= group_defines(group, override->subjects.items[i]);
	return does;
}

/* Is what stands beside them read there? */
static bool reads_beside(const struct tiling *t)
{
	const struct stage *last = t->beside->stages.items[t->beside->stages.n - 1];
	bool does = false;

	for (int i = 0; i < t->module->groups.n; i++)
		does |= group_defines(t->module->groups.items[i], t->name) &&
			group_reads(t->module->groups.items[i], last->write.array);
	return does;
}

/* The item that has put there what stands beside further loops, and what it could have been for. */
static void explain_beside(const struct tiling *t, struct diag *diag)
{
	for (int i = 0; t->beside && i < t->module->overrides.n; i++) {
		const struct override *fuse = &t->module->overrides.items[i];

		if (fuse->verb == VERB_FUSE && names_group(fuse, t->beside))
			diag_label(t->module->diags, diag, fuse->span, "without this item it stands apart");
	}
	if (t->beside && reads_beside(t))
		diag_help(t->module->diags, diag, (struct span) { 0 },
			  "tiles have a border of '%s' where it is read at points around its own, in a rectangle",
			  t->beside->name);
}

/* Fewer loops than sizes: how many, and what ends them. */
static bool refuse(const struct tiling *t, int most)
{
	const char *obstacle = t->obstacle ? t->obstacle : "nothing computes it in loops over ranges";
	int n = t->override->numbers.n;
	const char *problem = arena_printf(t->module->arena, "%d size%s for '%s', but %d of its loops can be tiled",
					   n, n == 1 ? "" : "s", t->name, most);

	explain_beside(t, report(t, DIAG_BAD_ITEM, problem, obstacle));
	return false;
}

static bool tile_subject(struct module *module, const struct override *override, const char *name)
{
	struct tiling t = { .module = module, .override = override, .name = name };
	int most = 0;

	for (int r = 0; r < REGION_N; r++) {
		isl_schedule *schedule;

		if (!module->regions[r].schedule)
			continue;
		t.n_done = 0;
		schedule = tiled(&t, module->regions[r].schedule);
		most = t.n_done > most ? t.n_done : most;
		if (t.n_done == override->numbers.n) {
			module_decide(module, DECISION_TILE, name, override->span, "the schedule asks for it");
			return keep_if_legal(&t, &module->regions[r], schedule);
		}
		isl_schedule_free(schedule);
	}
	return refuse(&t, most);
}

bool pass_tile(struct module *module, const struct pass_options *options)
{
	bool ok = true;

	(void) options;
	for (int i = 0; i < module->overrides.n; i++) {
		struct override *override = &module->overrides.items[i];
		struct tiling t = { .module = module, .override = override };

		if (override->verb != VERB_TILE || override->choice == CHOICE_AUTO ||
		    override->choice == CHOICE_HALO)
			continue;
		override->is_used = numbers_are_sizes(override) && override->subjects.n;
		if (!override->is_used)
			report(&t, DIAG_BAD_ITEM, "'tile' takes a name and the sizes of its tiles, from 1 on", NULL);
		for (int s = 0; override->is_used && s < override->subjects.n; s++)
			override->is_used = tile_subject(module, override, override->subjects.items[s]);
		ok = ok && override->is_used;
	}
	return ok;
}
