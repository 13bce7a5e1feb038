/* SPDX-License-Identifier: MIT
 *
 * Stages as text in the format of docs/ir.md with words in braces, which stand for what a system is like: {systems} for
 * the loops over systems, {n} for the number of rows, {x} for what names of new arrays begin with, … What is read has
 * the place of the recurrence that it replaces. Dims are called at.row, on.s or side.q in such a text, so that no name
 * of the program is meant, and row, s, q behind it. */
#include <string.h>

#include "passes/eliminate/eliminate_private.h"

/* ---- text ---- */

static const char *word_value(const struct builder *b, const char *name, size_t length)
{
	for (int i = b->words.n - 1; i >= 0; i--)
		if (strlen(b->words.items[i].name) == length && !strncmp(b->words.items[i].name, name, length))
			return b->words.items[i].value;
	return "?";
}

/* The text with words filled in. */
static const char *filled(const struct builder *b, const char *text)
{
	struct str out = str_new(b->arena);

	while (*text) {
		size_t plain = strcspn(text, "{"), length;

		str_add_text(&out, text, plain);
		text += plain;
		if (!*text)
			break;
		length = strcspn(++text, "}");
		str_add(&out, "%s", word_value(b, text, length));
		text += length + 1;
	}
	return str_text(&out);
}

void builder_set(struct builder *b, const char *name, const char *value)
{
	struct word word = { name, filled(b, value) };

	vec_push(b->arena, &b->words, word);
}

static const char *plain_name(const char *name)
{
	const char *dot = strchr(name, '.');

	return dot ? dot + 1 : name;
}

/* What was read has the place of the solution, and its dims names without the part that keeps them apart from sizes. */
static void own_stages(struct builder *b, int first)
{
	struct span span = b->what->group->span;

	for (int i = first; i < b->module->stages.n; i++) {
		struct stage *stage = b->module->stages.items[i];

		stage->span = stage->group->span = span;
		for (int d = 0; d < stage->dims.n; d++) {
			stage->dims.items[d].name = plain_name(stage->dims.items[d].name);
			stage->dims.items[d].span = span;
		}
	}
}

bool builder_add(struct builder *b, enum region_kind region, const char *text)
{
	int first_stage = b->module->stages.n, first_array = b->module->arrays.n;
	char *group = arena_printf(b->arena, "%d", b->module->groups.n);
	bool ok;

	builder_set(b, "group", group);
	ok = module_read_part(b->module, region, item_choice_word(b->algorithm->choice), filled(b, text));
	b->words.n--;
	own_stages(b, first_stage);
	for (int i = first_array; i < b->module->arrays.n; i++)
		b->module->arrays.items[i]->span = b->what->group->span;
	return ok;
}

/* ---- words ---- */

static const char *exact(const struct builder *b, const struct expr *expr)
{
	return expr_exact_text(b->arena, b->module, NULL, expr);
}

static const char *range_text(const struct builder *b, int sub)
{
	const struct array *x = b->what->solution;

	return arena_printf(b->arena, "%s..%s", exact(b, x->lo[sub]), exact(b, x->hi[sub]));
}

/* The dim that is this subscript of the solution, as it is called in the program. */
static const char *dim_name(const struct builder *b, int sub)
{
	const row_values *rhs = &b->what->values[ROW_RHS];
	const struct stage *step = rhs->items[rhs->n - 1].stage;

	return step->dims.items[step->write.subs[sub]->index].name;
}

static bool is_side(const struct builder *b, int sub)
{
	return sub >= b->what->solution->rank - b->what->n_sides;
}

const char *builder_variable(const struct builder *b, int sub)
{
	return arena_printf(b->arena, "%s.%s", is_side(b, sub) ? "side" : "on", dim_name(b, sub));
}

const char *builder_solution_at(const struct builder *b, const char *row)
{
	const struct array *x = b->what->solution;
	struct str text = str_new(b->arena);

	for (int i = 0; i < x->rank; i++) {
		str_add(&text, "%s%s", i ? ", " : "", i == b->what->row ? row : builder_variable(b, i));
		if (i == b->what->row && !expr_is_zero(x->lo[i]))
			str_add(&text, " + %s", exact(b, x->lo[i]));
	}
	return str_text(&text);
}

/* Loops, subscripts and boxes of the systems, in front of those of the rows. */
static void set_systems(struct builder *b)
{
	struct str systems = str_new(b->arena), on = str_new(b->arena), boxes = str_new(b->arena);

	for (int i = 0; i < b->what->solution->rank; i++) {
		if (i == b->what->row || is_side(b, i))
			continue;
		str_add(&systems, "for %s in %s\n", builder_variable(b, i), range_text(b, i));
		str_add(&on, "%s, ", builder_variable(b, i));
		str_add(&boxes, "%s, ", range_text(b, i));
	}
	builder_set(b, "systems", str_text(&systems));
	builder_set(b, "on", str_text(&on));
	builder_set(b, "boxes", str_text(&boxes));
}

/* The same of right-hand sides, behind those of the rows. */
static void set_sides(struct builder *b)
{
	struct str sides = str_new(b->arena), side = str_new(b->arena), boxes = str_new(b->arena);

	for (int i = 0; i < b->what->solution->rank; i++) {
		if (!is_side(b, i))
			continue;
		str_add(&sides, "for %s in %s\n", builder_variable(b, i), range_text(b, i));
		str_add(&side, ", %s", builder_variable(b, i));
		str_add(&boxes, ", %s", range_text(b, i));
	}
	builder_set(b, "sides", str_text(&sides));
	builder_set(b, "side", str_text(&side));
	builder_set(b, "side_boxes", str_text(&boxes));
}

struct expr *builder_n_rows(const struct builder *b)
{
	const struct array *x = b->what->solution;
	struct expr *lo = x->lo[b->what->row], *hi = x->hi[b->what->row];

	return expr_is_zero(lo) ? hi : expr_binary(b->arena, OP_SUB, TYPE_I64, hi, lo);
}

static const char *c_letters(const struct builder *b, const char *name)
{
	char *text = arena_string(b->arena, name);

	for (char *c = text; *c; c++)
		if (*c == '.')
			*c = '_';
	return text;
}

/* {1} is one more than there are loops over systems, … */
static void set_counts(struct builder *b)
{
	static const char *const names[] = { "0", "1", "2", "3", "4", "5", "6" };
	int n_systems = b->what->solution->rank - b->what->n_sides - 1;

	for (int i = 0; i < (int) (sizeof names / sizeof names[0]); i++)
		builder_set(b, names[i], arena_printf(b->arena, "%d", n_systems + i));
}

void builder_set_size(struct builder *b, const char *word, const struct expr *size)
{
	builder_set(b, word, arena_printf(b->arena, "(%s)", exact(b, size)));
}

void builder_open(struct builder *b)
{
	const char *x = b->what->solution->name;
	bool is_single = b->what->solution->type == TYPE_F32;

	builder_set(b, "x", x);
	builder_set(b, "c_x", c_letters(b, x));
	builder_set(b, "solution", arena_printf(b->arena, "`%s`", b->what->solution->name));
	builder_set(b, "type", type_name(b->what->solution->type));
	builder_set(b, "zero", is_single ? "0.0:f32" : "0.0");
	builder_set(b, "one", is_single ? "1.0:f32" : "1.0");
	builder_set_size(b, "n", builder_n_rows(b));
	set_counts(b);
	set_systems(b);
	set_sides(b);
	builder_set(b, "out", builder_solution_at(b, "at.row"));
	builder_set(b, "behind", builder_solution_at(b, "at.row + at.stride"));
}

void builder_derive(struct builder *b, const char *word, const char *name, enum derivation derivation, struct expr *of,
		    int64_t limit)
{
	const struct expr *size = module_derive(b->module, filled(b, name), derivation, of, limit,
						b->what->group->span);

	builder_set(b, word, exact(b, size));
}

struct array *builder_array(const struct builder *b, const char *name)
{
	return module_find_array(b->module, filled(b, name));
}

/* ---- in the place of what was there ---- */

struct builder builder_new(const struct elimination *what, const struct algorithm *algorithm)
{
	struct builder b = { .what = what, .algorithm = algorithm, .module = what->module,
			     .arena = what->module->arena };

	while (region_place_of(&b.module->regions[b.region], what->group) == b.module->regions[b.region].groups.n)
		b.region++;
	b.n_groups = b.module->regions[b.region].groups.n;
	return b;
}

/* The new groups come in the place of the recurrence; what it was, and where it began, has no stages any more and is
 * dropped by module_prune. */
void builder_close(struct builder *b)
{
	struct region *region = &b->module->regions[b->region];
	int place = region_place_of(region, b->what->group);
	group_list groups = { 0 };

	for (int i = 0; i <= place; i++)
		if (group_writes(region->groups.items[i], b->what->solution))
			region->groups.items[i]->stages.n = 0;
		else
			vec_push(b->arena, &groups, region->groups.items[i]);
	for (int i = b->n_groups; i < region->groups.n; i++)
		vec_push(b->arena, &groups, region->groups.items[i]);
	for (int i = place + 1; i < b->n_groups; i++)
		vec_push(b->arena, &groups, region->groups.items[i]);
	region->groups = groups;
}
