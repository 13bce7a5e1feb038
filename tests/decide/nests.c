/* SPDX-License-Identifier: MIT
 *
 * Marks of schedule trees, whose stages, dims and arrays have numbers there, as lines of names. */
#include "nests.h"

#include <isl/schedule_node.h>
#include <stdlib.h>
#include <string.h>

#include "ir/schedule.h"

typedef isl_schedule_node node;

struct walk {
	struct arena *arena;
	struct str text;
	const char *above;              /* what stands in the lines of all leaves below */
	bool is_behind_loop;            /* it ends with a loop */
};

static const char *arrays_of(struct arena *arena, const struct mark *mark)
{
	struct str names = str_new(arena);

	for (int i = 0; i < mark->arrays.n; i++)
		str_add(&names, " %s", mark->arrays.items[i]->name);
	return str_text(&names);
}

/* What the mark is of, in parentheses; "" for what belongs to the loop below alone. */
static const char *detail_of(struct arena *arena, const struct mark *mark)
{
	const char *written = mark->stage && mark->stage->write.array ? mark->stage->write.array->name : "";

	switch (mark->kind) {
	case MARK_ATOMIC:
	case MARK_ACCUMULATE:
	case MARK_PRIVATE:
	case MARK_SKIP:
	case MARK_SKIP_ALWAYS:
	case MARK_BLAS:
		return arena_printf(arena, "(%s)", written);
	case MARK_ROW:
		return arena_printf(arena, "(%s.%s)", written, mark->dim->name);
	case MARK_STORAGE:
	case MARK_TEAM_STORAGE:
		return arena_printf(arena, "(%s)", mark->array->name);
	case MARK_BLOCK:
		return arena_printf(arena, "(%lld:%s)", (long long) mark->lanes, arrays_of(arena, mark));
	case MARK_GRID:
		return arena_printf(arena, "(%d, %d)", mark->team_lanes, mark->row_lanes);
	case MARK_PARTS:
		return mark->parts ? arena_printf(arena, "(%lld)", (long long) mark->parts) : "";
	case MARK_VECTOR:
		return mark->chunk ? arena_printf(arena, "(%lld)", (long long) mark->chunk) : "";
	case MARK_LOOP:
	case MARK_BIND:
	case MARK_CHILDREN:
	case MARK_TILE:
	case MARK_GROUP:
	case MARK_PARALLEL:
	case MARK_TEAM:
	case MARK_DYNAMIC:
	case MARK_WARP_LOOP:
	case MARK_LANES:
	case MARK_UNROLL:
	case MARK_N:
		return "";
	}
	return "";
}

/* The schedule of its band says how long it is: [{ S1[i, j] -> [(i - (i) mod 32)] }]. */
static const char *tile_of(struct arena *arena, const struct mark *mark, __isl_keep node *at)
{
	node *band = isl_schedule_node_first_child(isl_schedule_node_copy(at));
	isl_multi_union_pw_aff *values = isl_schedule_node_band_get_partial_schedule(band);
	char *text = isl_multi_union_pw_aff_to_str(values);
	const char *size = text ? strstr(text, " mod ") : NULL;
	const char *tile = arena_printf(arena, "tile %ld %s", size ? atol(size + 5) : 0, mark->dim->name);

	free(text);
	isl_multi_union_pw_aff_free(values);
	isl_schedule_node_free(band);
	return tile;
}

static const char *loop_of(struct arena *arena, const struct mark *mark, __isl_keep node *at)
{
	return mark->kind == MARK_TILE ? tile_of(arena, mark, at)
				       : arena_printf(arena, "%s%s", mark->direction < 0 ? "-" : "", mark->dim->name);
}

static void enter_mark(struct walk *walk, const struct mark *mark, __isl_keep node *at)
{
	const char *text;

	if (mark->kind == MARK_GROUP || mark->kind == MARK_BIND)
		return;
	text = mark_is_loop(mark) ? loop_of(walk->arena, mark, at)
				  : arena_printf(walk->arena, "%s%s", mark_name(mark->kind),
						 detail_of(walk->arena, mark));
	walk->above = arena_printf(walk->arena, "%s%s %s", walk->above, walk->is_behind_loop ? "," : "", text);
	walk->is_behind_loop = mark_is_loop(mark);
}

static isl_stat add_line(__isl_take isl_set *set, void *user)
{
	struct walk *walk = user;
	const struct stage *stage = stage_of_id(isl_set_get_tuple_id(set));

	str_add(&walk->text, "%s:%s\n", stage->write.array->name, walk->above);
	isl_set_free(set);
	return isl_stat_ok;
}

static void add_leaf(struct walk *walk, __isl_keep node *at)
{
	isl_union_set *domain = isl_schedule_node_get_domain(at);

	isl_union_set_foreach_set(domain, add_line, walk);
	isl_union_set_free(domain);
}

static void visit(struct walk *walk, __isl_take node *at)
{
	const struct mark *mark = mark_of_node(at);
	struct walk before = *walk;
	int n = (int) isl_schedule_node_n_children(at);

	if (mark)
		enter_mark(walk, mark, at);
	if (isl_schedule_node_get_type(at) == isl_schedule_node_leaf)
		add_leaf(walk, at);
	for (int i = 0; i < n; i++)
		visit(walk, isl_schedule_node_get_child(at, i));
	walk->above = before.above;
	walk->is_behind_loop = before.is_behind_loop;
	isl_schedule_node_free(at);
}

const char *nests_text(struct compilation *c)
{
	struct walk walk = { &c->arena, str_new(&c->arena), "", false };

	for (int m = 0; m < c->modules.n; m++)
		for (int i = 0; i < REGION_N; i++)
			if (c->modules.items[m]->regions[i].schedule)
				visit(&walk, isl_schedule_get_root(c->modules.items[m]->regions[i].schedule));
	return str_text(&walk.text);
}
