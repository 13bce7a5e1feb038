/* SPDX-License-Identifier: MIT
 *
 * Typed marks of schedule trees. A mark's isl_id carries a pointer to its struct; the name, such as
 * "loop(S0.k)" or "atomic(S2)", is for dumps and is what mark_read recovers it from. */
#include "ir/schedule.h"

#include <stdlib.h>
#include <string.h>

static const char *const mark_names[] = {
#define MARK(id, text) text,
#include "ir/isl/marks.def"
#undef MARK
};

const char *mark_name(enum mark_kind kind)
{
	return mark_names[kind];
}

struct mark *mark_new(struct module *module, enum mark_kind kind, const char *pass, struct span span)
{
	struct mark *mark = arena_new(module->arena, struct mark);

	mark->kind = kind;
	mark->pass = pass;
	mark->span = span;
	mark->direction = 1;
	return mark;
}

bool mark_is_loop(const struct mark *mark)
{
	return mark && (mark->kind == MARK_LOOP || mark->kind == MARK_BIND || mark->kind == MARK_CHILDREN ||
			mark->kind == MARK_TILE);
}

int mark_dim_number(const struct mark *mark)
{
	return (int) (mark->dim - mark->stage->dims.items);
}

/* "block(S0.1 x 16 A3 A4)" */
static const char *block_text(struct module *module, const struct mark *mark)
{
	struct str text = str_new(module->arena);

	str_add(&text, "block(%s.%d x %lld", mark->stage->name, mark_dim_number(mark), (long long) mark->lanes);
	for (int i = 0; i < mark->arrays.n; i++)
		str_add(&text, " A%d", mark->arrays.items[i]->number);
	str_add(&text, ")");
	return str_text(&text);
}

enum { MOST_WARPS = 8 };

/* grid(LANES / LANES OF A ROW x CELLS, WARPS, ROLLED, BLOCK), the last three where they are given. */
static const char *grid_text(struct module *module, const struct mark *mark)
{
	struct str text = str_new(module->arena);

	str_add(&text, "%s(%d / %d x %d", mark_names[mark->kind], mark->team_lanes, mark->row_lanes, mark->width);
	if (mark->warps)
		str_add(&text, ", %d warps", mark->warps);
	if (mark->is_rolled)
		str_add(&text, ", rolled");
	if (mark->is_block)
		str_add(&text, ", block");
	str_add(&text, ")");
	return str_text(&text);
}

/* The number that is all there is in parentheses; NULL: the mark has none. */
static int64_t *mark_number(struct mark *mark)
{
	return mark->kind == MARK_PARTS ? &mark->parts : mark->kind == MARK_PARALLEL ? &mark->least_operations
	       : mark->kind == MARK_VECTOR ? &mark->chunk : NULL;
}

static const char *mark_text(struct module *module, struct mark *mark)
{
	const int64_t *number = mark_number(mark);
	const char *kind = mark_names[mark->kind];

	if (mark->kind == MARK_BLOCK)
		return block_text(module, mark);
	if (mark->dim)
		return arena_printf(module->arena, "%s(%s.%s%d)", kind, mark->stage->name,
				    mark->direction < 0 ? "-" : "", mark_dim_number(mark));
	if (mark->kind == MARK_GROUP)
		return arena_printf(module->arena, "%s(G%d)", kind, mark->group->number);
	if (mark->kind == MARK_STORAGE || mark->kind == MARK_TEAM_STORAGE)
		return arena_printf(module->arena, "%s(A%d)", kind, mark->array->number);
	if (mark->kind == MARK_GRID)
		return grid_text(module, mark);
	if (number && *number)
		return arena_printf(module->arena, "%s(%lld)", kind, (long long) *number);
	if (mark->stage)
		return arena_printf(module->arena, "%s(%s)", kind, mark->stage->name);
	return kind;
}

__isl_give isl_id *mark_id(struct module *module, struct mark *mark)
{
	return isl_id_alloc(module->ctx, mark_text(module, mark), mark);
}

struct mark *mark_of(__isl_take isl_id *id)
{
	struct mark *mark = isl_id_get_user(id);

	isl_id_free(id);
	return mark;
}

struct mark *mark_of_node(__isl_keep isl_schedule_node *node)
{
	if (isl_schedule_node_get_type(node) != isl_schedule_node_mark)
		return NULL;
	return mark_of(isl_schedule_node_mark_get_id(node));
}

struct mark *mark_above(__isl_keep isl_schedule_node *node)
{
	isl_schedule_node *parent = isl_schedule_node_parent(isl_schedule_node_copy(node));
	struct mark *mark = mark_of_node(parent);

	isl_schedule_node_free(parent);
	return mark;
}

struct mark *mark_below(__isl_keep isl_schedule_node *node)
{
	isl_schedule_node *child;
	struct mark *mark;

	if (isl_schedule_node_has_children(node) != isl_bool_true)
		return NULL;
	child = isl_schedule_node_get_child(node, 0);
	mark = mark_of_node(child);
	isl_schedule_node_free(child);
	return mark;
}

/* ---- reading back ---- */

static bool kind_of_name(const char *name, size_t length, enum mark_kind *kind)
{
	for (int i = 0; i < MARK_N; i++)
		if (strlen(mark_names[i]) == length && !strncmp(mark_names[i], name, length)) {
			*kind = (enum mark_kind) i;
			return true;
		}
	return false;
}

static bool read_stage(struct module *module, struct mark *mark, const char *text, char **end)
{
	long number = text[0] == 'S' ? strtol(text + 1, end, 10) : -1;

	if (number < 0 || number >= module->stages.n)
		return false;
	mark->stage = module->stages.items[number];
	return true;
}

static bool read_dim(struct mark *mark, const char *text)
{
	long number;

	if (text[0] != '.')
		return false;
	mark->direction = text[1] == '-' ? -1 : 1;
	number = strtol(text + (text[1] == '-' ? 2 : 1), NULL, 10);
	if (number < 0 || number >= mark->stage->dims.n)
		return false;
	mark->dim = &mark->stage->dims.items[number];
	return true;
}

static bool read_group(struct module *module, struct mark *mark, const char *text)
{
	long number = text[0] == 'G' ? strtol(text + 1, NULL, 10) : -1;

	if (number < 0 || number >= module->groups.n)
		return false;
	mark->group = module->groups.items[number];
	return true;
}

static bool read_array(struct module *module, struct mark *mark, const char *text)
{
	long number = text[0] == 'A' ? strtol(text + 1, NULL, 10) : -1;

	if (number < 0 || number >= module->arrays.n)
		return false;
	mark->array = module->arrays.items[number];
	return true;
}

static bool read_block(struct module *module, struct mark *mark, const char *text)
{
	char *end = NULL;

	text = strstr(text, " x ");
	mark->lanes = text ? strtol(text + 3, &end, 10) : 0;
	for (text = end; text && *text == ' '; text = end) {
		long number = text[1] == 'A' ? strtol(text + 2, &end, 10) : -1;

		if (number < 0 || number >= module->arrays.n)
			return false;
		vec_push(module->arena, &mark->arrays, module->arrays.items[number]);
	}
	return mark->lanes > 0;
}

bool mark_can_have_warps(long warps)
{
	return warps >= 0 && warps <= MOST_WARPS && (warps & (warps - 1)) == 0;
}

static bool read_grid(struct mark *mark, const char *text)
{
	char *end = NULL;

	mark->team_lanes = mark->row_lanes = (int) strtol(text, &end, 10);
	mark->width = 1;
	if (!strncmp(end, " / ", 3))
		mark->row_lanes = (int) strtol(end + 3, &end, 10);
	if (!strncmp(end, " x ", 3))
		mark->width = (int) strtol(end + 3, &end, 10);
	if (strstr(end, " warps"))
		mark->warps = (int) strtol(end + 1, &end, 10);
	mark->is_rolled = strstr(end, ", rolled");
	mark->is_block = strstr(end, ", block");
	return mark->row_lanes > 0 && mark->team_lanes % mark->row_lanes == 0 && mark->width > 0 &&
	       mark_can_have_warps(mark->warps);
}

struct mark *mark_read(struct module *module, const char *name)
{
	const char *open = strchr(name, '(');
	size_t length = open ? (size_t) (open - name) : strlen(name);
	struct mark *mark = mark_new(module, MARK_LOOP, "read", (struct span) { 0 });
	char *rest = NULL;

	if (!kind_of_name(name, length, &mark->kind))
		return NULL;
	if (!open)
		return mark->kind == MARK_PARALLEL || mark->kind == MARK_VECTOR || mark->kind == MARK_DYNAMIC ||
		       mark->kind == MARK_UNROLL || mark->kind == MARK_LANES
			       ? mark : NULL;
	if (mark->kind == MARK_GRID)
		return read_grid(mark, open + 1) ? mark : NULL;
	if (mark_number(mark))
		return (*mark_number(mark) = strtol(open + 1, NULL, 10)) > 0 ? mark : NULL;
	if (mark->kind == MARK_GROUP)
		return read_group(module, mark, open + 1) ? mark : NULL;
	if (mark->kind == MARK_STORAGE || mark->kind == MARK_TEAM_STORAGE)
		return read_array(module, mark, open + 1) ? mark : NULL;
	if (!read_stage(module, mark, open + 1, &rest))
		return NULL;
	if (mark->kind == MARK_BLOCK)
		return read_dim(mark, rest) && read_block(module, mark, rest) ? mark : NULL;
	if (!mark_is_loop(mark) && mark->kind != MARK_ROW && mark->kind != MARK_WARP_LOOP)
		return mark;
	return read_dim(mark, rest) ? mark : NULL;
}
