/* SPDX-License-Identifier: MIT
 *
 * Blocks of lanes that are stored non-temporally: such a block stays in the caches, where its loops read it, and each
 * of its vectors is stored in its place besides. */
#include <string.h>

#include "kernel/lower/nontemporal_private.h"

struct stores {                 /* to a block */
	const char *block;
	int n, n_vectors;       /* of all; of vectors that are there to stay */
};

static bool count_store(const struct k_stmt *stmt, void *user)
{
	struct stores *stores = user;
	const struct k_expr *target = nontemporal_target(stmt, stores->block);

	stores->n += target != NULL;
	stores->n_vectors += target && !stmt->store.is_interim && nontemporal_vector(target);
	return true;
}

/* Are all stores to the block behind statement i known, and vectors among those that are there to stay? */
static bool is_stored_in_vectors(const struct k_block *block, int i, const char *name)
{
	const struct k_block rest = { .stmts = { .items = block->stmts.items + i + 1, .n = block->stmts.n - i - 1 } };
	const struct k_uses uses = k_uses_in_block(&rest, name);
	struct stores stores = { .block = name };

	k_walk_block(&rest, &(struct k_visitor) { .stmt = count_store, .user = &stores });
	return stores.n_vectors > 0 && uses.writes == stores.n && uses.addresses == 0;
}

static const char *suffix_behind(const char *name, const char *prefix)
{
	const size_t n = strlen(prefix);

	return strncmp(name, prefix, n) == 0 ? name + n : NULL;
}

/* Opens a block for what is stored, which then is no memory of the caller if it is stored there besides. Segments are
 * in memory of their own in any case. Returns the call that says where that is; NULL: this opens none. */
static struct k_expr *open_besides(const struct search *search, struct k_expr *open)
{
	const char *of_block = suffix_behind(open->text, "pmg_block_open_");
	const char *of_segments = suffix_behind(open->text, "pmg_segments_open_");
	struct k_expr *call;

	if (!of_block && !of_segments)
		return NULL;
	if (of_block)
		open->text = arena_printf(search->lowered->arena, "pmg_block_keep_%s", of_block);
	call = k_call(search->lowered->arena, arena_printf(search->lowered->arena, "pmg_%s_nontemporal_%s",
						     of_block ? "block" : "segments",
						     of_block ? of_block : of_segments), 0);
	for (int i = 1; i < open->args.n; i++)
		vec_push(search->lowered->arena, &call->args, open->args.items[i]);
	return call;
}

void nontemporal_let(struct search *search, struct k_builder *b, const struct k_block *block, int i)
{
	struct k_stmt *stmt = block->stmts.items[i];
	struct k_expr *value = stmt->let.value, *call;
	const struct result *result = value && value->kind == KE_CALL && value->args.n > 2
				      ? nontemporal_result(search, value->args.items[2]) : NULL;
	struct place place = { .block = stmt->let.name };

	if (!result || !is_stored_in_vectors(block, i, place.block) || !(call = open_besides(search, value)))
		return;
	place.other = nontemporal_name(search, block, arena_printf(search->lowered->arena, "%s_nontemporal",
							   result->let->let.name));
	k_var(b, stmt->let.type, place.other, call);
	vec_push(search->lowered->arena, &search->places, place);
	nontemporal_decide(search, stmt, result,
			   "whole lines of a block of lanes, stored besides where its loops read it");
}

/* Where a lane keeps what is there, it may have no place. */
static struct k_expr *where_stored(struct arena *arena, const struct k_stmt *stmt, const struct k_expr *target,
				   const char *other)
{
	struct k_expr *value = stmt->store.value, *name = k_name(arena, other);

	if (value->kind != KE_SELECT || !k_expr_is_equal(value->args.items[2], target))
		return name;
	return k_join(arena, K_AND, name, value->args.items[0]);
}

void nontemporal_besides(const struct search *search, struct k_builder *b, const struct k_stmt *stmt,
			  const struct place *place)
{
	struct arena *a = search->lowered->arena;
	struct k_expr *target = nontemporal_target(stmt, place->block), *cell, *other;
	const struct element *vector = target ? nontemporal_vector(target) : NULL;

	if (!target || stmt->store.is_interim)
		return;
	cell = nontemporal_cell(target);
	other = k_at(a, place->other, cell->args.items[1]);
	k_only_if(b, vector ? k_name(a, place->other) : where_stored(a, stmt, target, place->other));
	if (vector)
		k_do(b, K_CALL(a, vector->stream, other, K_CALL(a, vector->read, cell)));
	else
		k_set(b, other, cell);
}

void nontemporal_put(struct search *search, struct k_builder *b, struct k_expr *call)
{
	struct result *result = NULL;

	if (suffix_behind(call->text, "pmg_segments_put_") || suffix_behind(call->text, "pmg_ragged_write_"))
		result = nontemporal_result(search, call->args.items[2]);
	for (int i = 0; result && i < search->places.n; i++)
		if (expr_names(call->args.items[0], search->places.items[i].block))
			k_only_if(b, k_unary(b->arena, K_NOT, k_name(b->arena, search->places.items[i].other)));
	if (result)
		call->args.items[call->args.n - 1] = nontemporal_flag(search, result);
}
