/* SPDX-License-Identifier: MIT
 *
 * Parts of a long entry as functions, so that people can read it and compilers take no longer than they must. Of an
 * entry that is not long all parts stay. Of a long one each part is a function; or, if the part is long itself, each of
 * those that it is made of. A part that is apart is a function in any case: it takes from the plan what an earlier part
 * has changed.
 *
 * How long a part is shows once vectors and accumulators are written out, and what nothing reads is gone. Prefetches
 * and non-temporal stores, in which candidates differ, come later, so that these are cut alike. What stays in its place
 * has no braces there. */
#include <string.h>

#include "kernel/lower/outline_private.h"

enum { LONG_ENTRY = 90, LONG_PART = 80 };       /* lines; of more, parts are functions */

struct outlining {
	struct k_lowered *lowered;
	struct k_function *entry;
	VEC(struct outline_place) places;
	int first, next;                /* where in the program its functions begin, and where the next one goes */
	bool has_cut;
};

/* Where statements go: to what the entry becomes, or to a function of it. */
struct destination {
	struct outlining *outlining;
	struct k_block *block;
	name_list names;
	bool is_long;                   /* parts are cut out of it */
	int behind_part;                /* where in the block the part before ends; -1: there is none in this block */
};

static void take_block(struct destination *to, const struct k_block *block, int first);

/* ---- how long it is ---- */

static bool is_part(const struct k_stmt *stmt)
{
	return stmt->kind == KS_BLOCK && stmt->part;
}

static bool has_parts(const struct k_block *block)
{
	bool has = false;

	for (int i = 0; i < block->stmts.n; i++)
		has |= is_part(block->stmts.items[i]);
	return has;
}

/* With the line that sets it off from the next one; declarations of a part that is made of others are not counted. */
static int length_of_part(const struct k_stmt *part)
{
	int n = 0;

	if (!has_parts(&part->body))
		return k_length(&part->body) + 1;
	for (int i = 0; i < part->body.stmts.n; i++)
		if (is_part(part->body.stmts.items[i]))
			n += length_of_part(part->body.stmts.items[i]);
	return n;
}

struct measure {
	int n_lines;
	bool has_apart;
};

static bool measure_part(const struct k_stmt *stmt, void *user)
{
	struct measure *measure = user;

	if (!is_part(stmt))
		return stmt->kind == KS_WHILE;
	measure->n_lines += length_of_part(stmt);
	measure->has_apart |= stmt->is_apart;
	return false;
}

/* ---- functions ---- */

static const struct outline_place *place_of(const struct outlining *outlining, const struct k_stmt *part)
{
	int i = 0;

	while (outlining->places.items[i].part != part)
		i++;
	return &outlining->places.items[i];
}

/* Behind the kernels that it launches, and the entry's functions before it. */
static int number_for(const struct outlining *outlining, const struct k_function *function)
{
	const struct k_program *program = outlining->lowered->program;
	struct name_table mentioned = { 0 };
	int number = outlining->next;

	k_block_mentions(outlining->lowered->arena, &function->body, &mentioned);
	for (int f = number; f < program->functions.n; f++)
		if (name_table_get(&mentioned, program->functions.items[f]->name))
			number = f + 1;
	return number;
}

static void insert(struct outlining *outlining, struct k_function *function)
{
	struct k_program *program = outlining->lowered->program;
	const int number = number_for(outlining, function);

	vec_push(outlining->lowered->arena, &program->functions, function);
	for (int f = program->functions.n - 1; f > number; f--)
		program->functions.items[f] = program->functions.items[f - 1];
	program->functions.items[number] = function;
	outlining->next = number + 1;
}

/* NAME_2, MACRO(NAME_2) */
static const char *numbered(struct arena *arena, const char *name, int number)
{
	const size_t length = strcspn(name, ")");

	return arena_printf(arena, "%.*s_%d%s", (int) length, name, number, name + length);
}

/* Entries that differ in what is known of parameters have functions in common. NULL: it is new, by a name that none
 * has. */
static const struct k_function *find_same(const struct outlining *outlining, struct k_function *function)
{
	const struct k_function *other;
	const char *name = function->name;

	for (int i = 2; (other = k_function_find(outlining->lowered->program, function->name)) != NULL; i++) {
		if (k_function_is_equal(other, function))
			return other;
		function->name = numbered(outlining->lowered->arena, name, i);
	}
	return NULL;
}

static bool is_blank(const struct k_block *block, int i)
{
	return i >= 0 && block->stmts.items[i]->kind == KS_BLANK;
}

/* `if` or a call between two parts, or ahead of the first one in a loop: asks whether all is well. */
static bool is_question(const struct destination *to, int i)
{
	return i >= 0 && i >= to->behind_part && (to->block->stmts.items[i]->kind == KS_IF ||
						  to->block->stmts.items[i]->kind == KS_CALL);
}

/* Calls follow each other without empty lines, also where a question is between them. */
static void drop_blanks(struct destination *to)
{
	struct k_block *block = to->block;
	int from = block->stmts.n - 1;
	bool is_asked;

	if (!is_blank(block, from))
		return;
	is_asked = is_question(to, from - 1);
	from -= is_asked;
	from -= is_asked && is_blank(block, from - 1);
	if (from != to->behind_part && !(is_asked && from == 0))
		return;
	for (int i = from, n = block->stmts.n; i < n; i++)
		if (is_blank(block, i))
			block->stmts.n--;
		else
			block->stmts.items[from++] = block->stmts.items[i];
}

/* Is one of these comments of the same place? */
static bool has_comment(const struct k_block *comments, const struct k_stmt *comment)
{
	for (int i = 0; i < comments->stmts.n; i++)
		if (span_equal(comments->stmts.items[i]->span, comment->span))
			return true;
	return false;
}

/* Lines of the program stand above what computes them, but once where that follows each other. */
static void drop_repeated(struct arena *arena, struct k_block *block)
{
	struct k_block out = { 0 }, before = { 0 };

	for (int i = 0; i < block->stmts.n; i++) {
		struct k_block here = { 0 };

		for (; i < block->stmts.n && block->stmts.items[i]->kind == KS_COMMENT; i++) {
			vec_push(arena, &here.stmts, block->stmts.items[i]);
			if (!has_comment(&before, block->stmts.items[i]))
				vec_push(arena, &out.stmts, block->stmts.items[i]);
		}
		if (here.stmts.n)
			before = here;
		if (i < block->stmts.n)
			vec_push(arena, &out.stmts, block->stmts.items[i]);
	}
	*block = out;
}

static void add_call(struct destination *to, const struct k_stmt *part, struct k_expr *call)
{
	struct k_stmt *stmt = k_stmt(to->outlining->lowered->arena, KS_CALL);

	stmt->span = part->span;
	stmt->emitter = EMITTER;
	stmt->value = call;
	drop_blanks(to);
	vec_push(to->outlining->lowered->arena, &to->block->stmts, stmt);
}

static void cut(struct destination *to, const struct k_stmt *part)
{
	struct outlining *outlining = to->outlining;
	struct arena *arena = outlining->lowered->arena;
	struct k_expr *call;
	struct k_function *function = outline_function(arena, outlining->entry, place_of(outlining, part), &call);
	struct destination inside = { .outlining = outlining, .block = &function->body, .behind_part = -1 };
	const struct k_function *same;

	name_list_begin(arena, &inside.names, outlining->lowered->program, function);
	for (int i = 0; i < function->body.stmts.n; i++)
		name_list_declare(arena, &inside.names, function->body.stmts.items[i]);
	take_block(&inside, &part->body, 0);
	drop_repeated(arena, &function->body);
	same = find_same(outlining, function);
	if (!same)
		insert(outlining, function);
	call->text = same ? same->name : function->name;
	add_call(to, part, call);
	outlining->has_cut = true;
}

/* ---- what stays ---- */

/* Where its own parts are functions, which declare what they read, its declarations are of no use. */
static int n_declarations(const struct k_stmt *part)
{
	int n = 0;

	while (part->is_apart && n < part->body.stmts.n && !is_part(part->body.stmts.items[n]))
		n++;
	return n;
}

static void keep(struct destination *to, const struct k_stmt *part)
{
	const struct k_block block = outline_rename(to->outlining->lowered->arena, &to->names, &part->body);

	take_block(to, &block, 0);
}

static void take_part(struct destination *to, const struct k_stmt *part)
{
	const bool has = has_parts(&part->body);

	if (to->is_long && !(has && length_of_part(part) > LONG_PART)) {
		cut(to, part);
	} else if (has) {
		take_block(to, &part->body, n_declarations(part));
	} else {
		keep(to, part);
	}
	to->behind_part = to->block->stmts.n;
}

/* ---- the entry ---- */

static void take_inside(struct k_block *block, void *user)
{
	const struct destination *around = user;
	struct k_block out = { 0 };
	struct destination to = { around->outlining, &out, around->names, around->is_long, -1 };

	take_block(&to, block, 0);
	drop_repeated(around->outlining->lowered->arena, &out);
	*block = out;
}

static void take_block(struct destination *to, const struct k_block *block, int first)
{
	struct arena *arena = to->outlining->lowered->arena;

	for (int i = first; i < block->stmts.n; i++) {
		struct k_stmt *stmt = block->stmts.items[i];

		if (is_part(stmt)) {
			take_part(to, stmt);
			continue;
		}
		if (stmt->kind == KS_WHILE)
			name_list_inside(arena, &to->names, stmt, take_inside, to);
		name_list_declare(arena, &to->names, stmt);
		vec_push(arena, &to->block->stmts, stmt);
	}
}

static void note_place(struct k_scope *place, const struct k_stmt *stmt, void *user)
{
	struct outlining *outlining = user;
	struct outline_place found = { .part = stmt };

	if (!is_part(stmt))
		return;
	for (int i = 0; i < place->visible.n; i++)
		vec_push(place->arena, &found.visible, place->visible.items[i]);
	vec_push(place->arena, &outlining->places, found);
}

/* Kernels that the entry itself launches stand right ahead of it. */
static void move_own_kernels(const struct outlining *outlining)
{
	struct arena *arena = outlining->lowered->arena;
	struct k_function **functions = outlining->lowered->program->functions.items;
	struct name_table mentioned = { 0 };
	VEC(struct k_function *) own = { 0 };
	int n = outlining->first;

	k_block_mentions(arena, &outlining->entry->body, &mentioned);
	for (int f = n; functions[f] != outlining->entry; f++)
		if (functions[f]->kind == K_FUNCTION_DEVICE && name_table_get(&mentioned, functions[f]->name))
			vec_push(arena, &own, functions[f]);
		else
			functions[n++] = functions[f];
	for (int f = 0; f < own.n; f++)
		functions[n++] = own.items[f];
}

static void outline_entry(struct outlining *outlining, const struct measure *measure)
{
	struct arena *arena = outlining->lowered->arena;
	struct k_function *entry = outlining->entry;
	struct k_block out = { 0 };
	struct destination to = { .outlining = outlining, .block = &out, .behind_part = -1,
				  .is_long = measure->n_lines > LONG_ENTRY || measure->has_apart };

	k_walk_function(arena, outlining->lowered->program, entry,
			&(struct k_scope_visitor) { .stmt = note_place, .user = outlining });
	name_list_begin(arena, &to.names, outlining->lowered->program, entry);
	take_block(&to, &entry->body, 0);
	drop_repeated(arena, &out);
	entry->body = out;
	if (!outlining->has_cut)
		return;
	outline_share_buffers(entry);
	k_function_drop_unread(arena, entry);
	move_own_kernels(outlining);
}

void lower_outline(struct k_lowered *lowered)
{
	int next = 0;

	for (int f = 0; f < lowered->program->functions.n; f++) {
		struct outlining outlining = { .lowered = lowered, .entry = lowered->program->functions.items[f],
					       .first = next, .next = next };
		struct measure measure = { 0 };

		if (outlining.entry->kind != K_FUNCTION_ENTRY)
			continue;
		k_walk_block(&outlining.entry->body, &(struct k_visitor) { .stmt = measure_part, .user = &measure });
		outline_entry(&outlining, &measure);
		while (lowered->program->functions.items[f] != outlining.entry)
			f++;
		next = f + 1;
	}
}
