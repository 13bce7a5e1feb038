/* SPDX-License-Identifier: MIT
 *
 * A part of an entry as a function. Of the names that it reads, those that the entry computes from the plan and from
 * what it has declared before are computed again, so that a compiler knows the same of them in both places, and that
 * buffers do not overlap. What the entry got from its other parameters, and variables of loops, are handed on. */
#include <string.h>

#include "kernel/lower/outline_private.h"

struct cutting {
	struct arena *arena;
	const struct k_function *entry;
	const struct outline_place *place;
	struct name_table read;         /* by the part, and by what it declares anew */
	struct k_function *function;
	struct k_expr *call;
};

/* ---- which names are declared anew ---- */

/* Of the entry's parameters, every function of the runtime takes the first one, the plan. */
static bool reads_other_parameter(const struct k_function *entry, const struct k_expr *value)
{
	for (int i = 1; i < entry->params.n; i++)
		if (k_expr_mentions(value, entry->params.items[i].name))
			return true;
	return false;
}

static bool is_changed(const struct k_function *entry, const struct k_let *let)
{
	return let->is_variable && !let->type.is_pointer && k_uses_in_block(&entry->body, let->name).writes > 1;
}

static bool declares(const struct k_stmt *part, const char *name)
{
	for (int i = 0; part->is_apart && i < part->body.stmts.n; i++) {
		const struct k_stmt *stmt = part->body.stmts.items[i];

		if (stmt->kind == KS_LET && strcmp(stmt->let.name, name) == 0)
			return true;
	}
	return false;
}

/* The name of the i-th declaration means another one in the part: of a part around that is apart, or of its own. */
static bool is_hidden(const struct outline_place *place, int i)
{
	const char *name = place->visible.items[i].name;

	for (int k = i + 1; k < place->visible.n; k++)
		if (strcmp(place->visible.items[k].name, name) == 0)
			return true;
	return declares(place->part, name);
}

struct looking {
	const struct outline_place *place;
	int i;                          /* the declaration whose value it is */
	bool is_found;
};

static bool find_hidden(const struct k_expr *expr, void *user)
{
	struct looking *looking = user;

	for (int i = 0; i < looking->i && expr->kind == KE_NAME && !looking->is_found; i++)
		looking->is_found = !strcmp(looking->place->visible.items[i].name, expr->text) &&
				    is_hidden(looking->place, i);
	return !looking->is_found;
}

/* Does the value of the i-th declaration read a name that is another one in the part? */
static bool reads_hidden(const struct outline_place *place, int i)
{
	struct looking looking = { .place = place, .i = i };

	k_walk_expr(place->visible.items[i].stmt->let.value, &(struct k_visitor) { .expr = find_hidden,
										 .user = &looking });
	return looking.is_found;
}

static bool is_anew(const struct cutting *cutting, int i)
{
	const struct k_stmt *stmt = cutting->place->visible.items[i].stmt;
	const struct k_let *let = stmt && stmt->kind == KS_LET ? &stmt->let : NULL;

	return let && let->value && let->extents.n == 0 && !k_has_effect(let->value) &&
	       !reads_other_parameter(cutting->entry, let->value) && !is_changed(cutting->entry, let) &&
	       !reads_hidden(cutting->place, i);
}

static bool note_name(const struct k_expr *expr, void *user)
{
	struct cutting *cutting = user;

	if (expr->kind == KE_NAME)
		name_table_set(cutting->arena, &cutting->read, expr->text, cutting);
	return true;
}

static bool is_read(const struct cutting *cutting, int i)
{
	return name_table_get(&cutting->read, cutting->place->visible.items[i].name) && !is_hidden(cutting->place, i);
}

/* From the last one on: what a value reads is declared before it. */
static void find_names(struct cutting *cutting)
{
	const struct outline_place *place = cutting->place;

	k_block_mentions(cutting->arena, &place->part->body, &cutting->read);
	for (int i = place->visible.n; i-- > 0;) {
		const struct k_declared *declared = &place->visible.items[i];

		if (is_read(cutting, i) && is_anew(cutting, i))
			k_walk_expr(declared->stmt->let.value, &(struct k_visitor) { .expr = note_name,
										     .user = cutting });
	}
}

/* ---- what is handed on ---- */

enum order { POINTERS, VARIABLES, CONSTANTS, ORDER_N };

static enum order order_of(const struct k_declared *declared)
{
	const struct k_stmt *stmt = declared->stmt;

	if (declared->type.is_pointer)
		return POINTERS;
	return stmt && stmt->kind == KS_LET && !stmt->let.is_variable ? CONSTANTS : VARIABLES;
}

static bool is_parameter(const struct k_function *function, const char *name)
{
	for (int i = 0; i < function->params.n; i++)
		if (function->params.items[i].name == name)
			return true;
	return false;
}

static bool is_handed_on(const struct cutting *cutting, int i)
{
	const struct k_declared *declared = &cutting->place->visible.items[i];

	if (!is_read(cutting, i))
		return false;
	return declared->stmt ? !is_anew(cutting, i) : is_parameter(cutting->entry, declared->name);
}

static void hand_on(struct cutting *cutting, const struct k_declared *declared)
{
	struct k_type type = declared->type;

	type.is_const = type.is_const && type.is_pointer;
	vec_push(cutting->arena, &cutting->function->params, ((struct k_param) { type, declared->name }));
	vec_push(cutting->arena, &cutting->call->args, k_name(cutting->arena, declared->name));
}

static void add_parameters(struct cutting *cutting)
{
	const struct outline_place *place = cutting->place;

	for (int order = POINTERS; order < ORDER_N; order++)
		for (int i = 0; i < place->visible.n; i++)
			if ((int) order_of(&place->visible.items[i]) == order && is_handed_on(cutting, i))
				hand_on(cutting, &place->visible.items[i]);
}

/* ---- declarations ---- */

/* A buffer that does not overlap others is constant where nothing is written to it, but for `n` declarations. */
static void know_constant(struct k_let *let, const struct k_block *block, int n)
{
	const struct k_uses uses = k_uses_in_block(block, let->name);

	let->type.is_const = let->type.is_const || (uses.writes == n && !uses.addresses);
}

static bool begins_with_declarations(const struct k_stmt *part)
{
	const struct k_stmt *first = part->is_apart && part->body.stmts.n ? part->body.stmts.items[0] : NULL;

	return first && (first->kind == KS_LET || first->kind == KS_CALL);
}

static void add_declarations(struct cutting *cutting)
{
	const struct k_block *body = &cutting->place->part->body;
	struct k_block *head = &cutting->function->body;
	struct k_builder b = k_builder_new(cutting->arena, head);

	for (int i = 0; i < cutting->place->visible.n; i++) {
		const struct k_declared *declared = &cutting->place->visible.items[i];
		struct k_stmt *copy;

		if (!is_read(cutting, i) || !is_anew(cutting, i))
			continue;
		copy = k_copy_stmt(cutting->arena, declared->stmt, &(struct k_replacing) { 0 });
		if (copy->let.type.is_restrict)
			know_constant(&copy->let, body, 0);
		k_add_as_it_is(&b, copy);
	}
	if (head->stmts.n && !begins_with_declarations(cutting->place->part)) {
		b.span = cutting->entry->head.span;
		k_blank(&b);
	}
}

struct k_function *outline_function(struct arena *arena, const struct k_function *entry,
				    const struct outline_place *place, struct k_expr **call)
{
	struct cutting cutting = { .arena = arena, .entry = entry, .place = place,
				   .function = arena_new(arena, struct k_function) };

	*cutting.function = (struct k_function) { .kind = K_FUNCTION_HOST, .qualifiers = "static",
						  .result = k_scalar("void"), .name = place->part->part,
						  .head = entry->head, .end = entry->head };
	*call = cutting.call = k_call(arena, place->part->part, 0);
	find_names(&cutting);
	add_parameters(&cutting);
	add_declarations(&cutting);
	return cutting.function;
}

/* The functions reach the same elements. */
void outline_share_buffers(struct k_function *entry)
{
	for (int i = 0; i < entry->body.stmts.n; i++) {
		struct k_stmt *stmt = entry->body.stmts.items[i];

		if (stmt->kind != KS_LET || !stmt->let.type.is_restrict)
			continue;
		know_constant(&stmt->let, &entry->body, 1);
		stmt->let.type.is_restrict = false;
	}
}
