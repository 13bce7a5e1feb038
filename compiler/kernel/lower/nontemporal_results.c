/* SPDX-License-Identifier: MIT
 *
 * Results, and stores to them: what is found by a name, by the target of a store, and what is declared for them. */
#include <string.h>

#include "kernel/lower/nontemporal_private.h"

/* By the name of the element type. */
static const struct element elements[] = {
	{ "double", "PMG_READ_F64", "PMG_WRITE_F64", "PMG_STREAM_F64", 8 },
	{ "float", "PMG_READ_F32", "PMG_WRITE_F32", "PMG_STREAM_F32", 4 }
};

bool expr_names(const struct k_expr *expr, const char *name)
{
	return expr->kind == KE_NAME && strcmp(expr->text, name) == 0;
}

bool expr_calls(const struct k_expr *expr, const char *function)
{
	return expr && expr->kind == KE_CALL && strcmp(expr->text, function) == 0;
}

struct result *nontemporal_result(struct search *search, const struct k_expr *name)
{
	for (int i = 0; i < search->results.n; i++)
		if (expr_names(name, search->results.items[i].let->let.name))
			return &search->results.items[i];
	return NULL;
}

void nontemporal_decide(const struct search *search, const struct k_stmt *stmt, const struct result *result,
		   const char *reason)
{
	lower_decide(search->lowered, (struct k_decision) {
		.span = stmt->span, .subject = result->let->let.name, .chosen = "non-temporal stores",
		.alternatives = "stores through the caches", .reason = reason
	});
}

/* ---- names ---- */

static const char *name_of(const struct k_stmt *stmt)
{
	return stmt->kind == KS_LET ? stmt->let.name : stmt->loop.name;
}

const struct k_stmt *nontemporal_declaration(const struct search *search, const char *name)
{
	for (int i = search->visible.n; i-- > 0;)
		if (strcmp(name_of(search->visible.items[i]), name) == 0)
			return search->visible.items[i];
	return NULL;
}

const char *nontemporal_name(const struct search *search, const struct k_block *block, const char *base)
{
	struct arena *arena = search->lowered->arena;
	const struct k_stmt inside = { .kind = KS_BLOCK, .body = *block };
	name_list visible = { 0 };

	name_list_begin(arena, &visible, search->lowered->program, search->function);
	for (int i = 0; i < search->visible.n; i++)
		vec_push(arena, &visible, name_of(search->visible.items[i]));
	return lower_name(arena, &visible, &inside, base);
}

struct k_expr *nontemporal_flag(const struct search *search, struct result *result)
{
	const char *base = arena_printf(search->lowered->arena, "%s_is_nontemporal", result->let->let.name);

	if (!result->flag)
		result->flag = nontemporal_name(search, &search->function->body, base);
	return k_name(search->lowered->arena, result->flag);
}

/* ---- stores ---- */

struct k_expr *nontemporal_cell(struct k_expr *target)
{
	if (target->kind == KE_CALL && k_effects(target) & K_CALL_IS_TARGET)
		target = target->args.items[0];
	return target->kind == KE_LOAD && target->args.items[0]->kind == KE_NAME ? target : NULL;
}

const struct element *nontemporal_vector(const struct k_expr *target)
{
	for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
		if (expr_calls(target, elements[i].write))
			return &elements[i];
	return NULL;
}

struct k_expr *nontemporal_target(const struct k_stmt *stmt, const char *buffer)
{
	for (int i = 0; stmt->kind == KS_STORE && i < stmt->store.targets.n; i++) {
		struct k_expr *cell = nontemporal_cell(stmt->store.targets.items[i]);

		if (cell && expr_names(cell->args.items[0], buffer))
			return stmt->store.targets.items[i];
	}
	return NULL;
}
