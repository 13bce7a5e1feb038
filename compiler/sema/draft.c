/* SPDX-License-Identifier: MIT
 *
 * Drafts: groups while they are being written. The dims of a draft are slots, numbered in the order in which
 * they were found; its expressions name them by that number. A dim bound to an index array is made when a
 * subscript, a range or a condition first reads the array there, and found again afterwards. */
#include "sema/sema_private.h"

#include <string.h>

struct draft *draft_new(struct sema *sema, struct target *target, const char *name, struct span span)
{
	struct draft *draft = arena_new(sema->arena, struct draft);

	draft->target = target;
	draft->name = name;
	draft->span = span;
	draft->in_body = sema->in_body;
	draft->number = sema->n_numbered++;
	vec_push(sema->arena, &sema->drafts, draft);
	return draft;
}

/* ---- names of dims ---- */

static bool name_is_declared(const struct sema *sema, const char *name)
{
	return name_table_get(&sema->declared, name);
}

static bool name_is_taken(const struct sema *sema, const struct draft *draft, const char *name)
{
	if (name_is_declared(sema, name))
		return true;
	for (int i = 0; draft && i < draft->slots.n; i++)
		if (!draft->slots.items[i].is_closed && strcmp(draft->slots.items[i].dim.name, name) == 0)
			return true;
	return false;
}

/* `wish`, or the first of wish2, wish3, … that means nothing yet. */
const char *draft_fresh_name(struct sema *sema, const struct draft *draft, const char *wish)
{
	const char *name = wish;

	for (int i = 2; name_is_taken(sema, draft, name); i++)
		name = arena_printf(sema->arena, "%s%d", wish, i);
	return name;
}

/* A variable may have the name of something declared in another block: not so in what is generated. */
const char *draft_variable_name(struct sema *sema, const char *wish)
{
	const char *name = wish;

	for (int i = 2; name_is_declared(sema, name); i++)
		name = arena_printf(sema->arena, "%s%d", wish, i);
	return name;
}

/* The variable of dimension `number` of a whole-array expression: i, j, k, l, then i5, … */
const char *draft_letter(struct sema *sema, const struct draft *draft, int number)
{
	static const char *const letters[] = { "i", "j", "k", "l" };
	const int n = (int) (sizeof letters / sizeof letters[0]);
	const char *wish = number < n ? letters[number] : arena_printf(sema->arena, "i%d", number + 1);

	for (int i = number + 1; i < n && name_is_taken(sema, draft, wish); i++)
		wish = letters[i];
	return draft_fresh_name(sema, draft, wish);
}

/* A user's variable keeps its name; a made-up one that had it before gets another. */
static void give_way(struct sema *sema, struct draft *draft, const char *name)
{
	for (int i = 0; i < draft->slots.n; i++) {
		struct slot *slot = &draft->slots.items[i];

		if (slot->is_hidden && !slot->is_closed && strcmp(slot->dim.name, name) == 0)
			slot->dim.name = draft_fresh_name(sema, draft, name);
	}
}

/* ---- slots ---- */

int draft_add_slot(struct sema *sema, struct draft *draft, const struct slot *slot)
{
	if (!slot->is_hidden)
		give_way(sema, draft, slot->dim.name);
	vec_push(sema->arena, &draft->slots, *slot);
	return draft->slots.n - 1;
}

int draft_find_bind(const struct draft *draft, const struct access *source)
{
	for (int i = 0; i < draft->slots.n; i++) {
		const struct dim *dim = &draft->slots.items[i].dim;

		if (dim->kind == DIM_BIND && access_equal(&dim->source, source))
			return i;
	}
	return -1;
}

static const char *last_part(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot ? dot + 1 : name;
}

/* "voxel" for PHI.voxel[k]; "voxel_k" when voxel is the array itself; "off_begin" in a range. */
static const char *bind_name(struct sema *sema, const struct draft *draft, const struct access *source,
			     const char *suffix)
{
	const char *name = last_part(source->array->name);
	int first = source->array->rank ? expr_last_dim(source->subs[0]) : -1;

	if (suffix)
		name = arena_printf(sema->arena, "%s_%s", name, suffix);
	else if (name_is_taken(sema, draft, name))
		name = arena_printf(sema->arena, "%s_%s", name,
				    first >= 0 ? draft->slots.items[first].dim.name : "at");
	return draft_fresh_name(sema, draft, name);
}

int draft_bind(struct sema *sema, struct draft *draft, const struct access *source, const char *suffix)
{
	struct slot slot = { .is_hidden = true };
	int found = draft_find_bind(draft, source);

	if (found >= 0)
		return found;
	slot.dim.kind = DIM_BIND;
	slot.dim.name = bind_name(sema, draft, source, suffix);
	slot.dim.span = source->span;
	slot.dim.source = *source;
	return draft_add_slot(sema, draft, &slot);
}

/* ---- which slots an expression needs ---- */

static void mark_access(const struct draft *draft, const struct access *access, bool *needed)
{
	if (access->array->role == ROLE_LOCAL)
		return;
	for (int i = 0; i < access->array->rank; i++)
		draft_mark(draft, access->subs[i], needed);
}

static void mark_dim(const struct draft *draft, const struct dim *dim, bool *needed)
{
	if (dim->kind == DIM_RANGE) {
		draft_mark(draft, dim->lo, needed);
		draft_mark(draft, dim->hi, needed);
	} else {
		mark_access(draft, &dim->source, needed);
	}
}

void draft_mark_slot(const struct draft *draft, int slot, bool *needed)
{
	if (needed[slot])
		return;
	needed[slot] = true;
	mark_dim(draft, &draft->slots.items[slot].dim, needed);
}

void draft_mark(const struct draft *draft, const struct expr *expr, bool *needed)
{
	int n = 0;

	if (!expr)
		return;
	if (expr->kind == EXPR_DIM)
		draft_mark_slot(draft, expr->index, needed);
	else if (expr->kind == EXPR_READ)
		mark_access(draft, &expr->access, needed);
	else if (expr->kind == EXPR_OP)
		n = op_arity(expr->op);
	else if (expr->kind == EXPR_CAST)
		n = 1;
	for (int i = 0; i < n; i++)
		draft_mark(draft, expr->args[i], needed);
}

bool draft_depends_on_own(struct sema *sema, const struct draft *draft, int slot)
{
	bool *needed = arena_new_array(sema->arena, bool, draft->slots.n + 1);

	draft_mark_slot(draft, slot, needed);
	for (int i = 0; i < draft->slots.n; i++)
		if (needed[i] && draft->slots.items[i].dim.kind != DIM_BIND &&
		    !draft->slots.items[i].is_common)
			return true;
	return false;
}

void draft_close(struct sema *sema, struct draft *draft, int first)
{
	for (int i = first; i < draft->slots.n; i++)
		if (draft_depends_on_own(sema, draft, i))
			draft->slots.items[i].is_closed = true;
}

int draft_next_common(const struct draft *draft, int last)
{
	for (int i = last + 1; i < draft->slots.n; i++)
		if (draft->slots.items[i].is_common)
			return i;
	return -1;
}

int draft_n_common(const struct draft *draft)
{
	int n = 0;

	for (int i = 0; i < draft->slots.n; i++)
		n += draft->slots.items[i].is_common;
	return n;
}

/* ---- stages ---- */

struct draft_stage *draft_add_stage(struct sema *sema, struct draft *draft, struct span span)
{
	struct draft_stage *stage = arena_new(sema->arena, struct draft_stage);

	stage->span = span;
	vec_push(sema->arena, &draft->stages, stage);
	return stage;
}

static void stage_visit(struct draft_stage *stage, void (*visit)(struct access *access, void *user),
			void *user)
{
	if (stage->value)
		expr_reads(stage->value, visit, user);
}

/* Each array element that the draft reads: in values, then by index arrays. */
void draft_reads(struct draft *draft, void (*visit)(struct access *access, void *user), void *user)
{
	for (int i = 0; i < draft->stages.n; i++)
		stage_visit(draft->stages.items[i], visit, user);
	for (int i = 0; i < draft->slots.n; i++)
		if (draft->slots.items[i].dim.kind != DIM_RANGE)
			visit(&draft->slots.items[i].dim.source, user);
}

bool draft_defines(const struct draft *draft, const struct array *array)
{
	for (int i = 0; i < draft->stages.n; i++)
		if (draft->stages.items[i]->write.array == array)
			return true;
	return false;
}

/* The array that a draft defines; NULL for a draft without stages. */
struct array *draft_writes(const struct draft *draft)
{
	return draft->stages.n ? draft->stages.items[draft->stages.n - 1]->write.array : NULL;
}
