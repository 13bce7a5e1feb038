/* SPDX-License-Identifier: MIT
 *
 * What a team that is a block has of a multiprocessor, for --explain: bytes in registers of each lane, from which
 * launch bounds follow (PMG_BOUNDS_BLOCK), bytes that its lanes share, and barriers. How many blocks a multiprocessor
 * runs at a time follows from these and from sizes that the host knows. Nothing is changed. */
#include <string.h>

#include "kernel/lower/lower_private.h"

/* Arrays of one extent. */
struct extent {
	const struct k_expr *elements;
	int n, size;                    /* arrays, bytes of an element */
};

struct sizing {
	struct arena *arena;
	VEC(struct extent) shared;
	int64_t own;
	int n_barriers;
};

static void add_shared(struct sizing *sizing, const struct k_let *let)
{
	const struct k_expr *elements = let->extents.items[0];
	const int size = type_size_of(let->type.name);

	for (int i = 0; i < sizing->shared.n; i++) {
		struct extent *extent = &sizing->shared.items[i];

		if (extent->size == size && k_expr_is_equal(extent->elements, elements)) {
			extent->n++;
			return;
		}
	}
	vec_push(sizing->arena, &sizing->shared, ((struct extent) { elements, 1, size }));
}

static bool look_at(const struct k_stmt *stmt, void *user)
{
	struct sizing *sizing = user;
	const struct k_let *let = stmt->kind == KS_LET && stmt->let.extents.n == 1 ? &stmt->let : NULL;

	if (let && let->space == K_SPACE_SHARED)
		add_shared(sizing, let);
	if (let && let->space == K_SPACE_REGISTERS && let->extents.items[0]->kind == KE_INT)
		sizing->own += let->extents.items[0]->integer*type_size_of(let->type.name);
	sizing->n_barriers += stmt->kind == KS_CALL && is_name_of(stmt->value, "PMG_BLOCK_SYNC");
	return true;
}

static const char *shared_text(const struct sizing *sizing)
{
	struct str text = str_new(sizing->arena);

	for (int i = 0; i < sizing->shared.n; i++) {
		const struct extent *extent = &sizing->shared.items[i];

		str_add(&text, "%s%d*(%s)", i ? " + " : "", extent->n*extent->size,
			k_expr_text(sizing->arena, extent->elements));
	}
	return sizing->shared.n ? str_text(&text) : "0";
}

static void tell(struct k_lowered *lowered, const struct k_function *function)
{
	struct sizing sizing = { .arena = lowered->arena };

	k_walk_block(&function->body, &(struct k_visitor) { .stmt = look_at, .user = &sizing });
	lower_decide(lowered, (struct k_decision) {
		.span = function->head.span, .subject = function->name,
		.chosen = arena_printf(lowered->arena, "%lld bytes of arrays in registers", (long long) sizing.own),
		.alternatives = "memory",
		.reason = arena_printf(lowered->arena, "of each lane; its team has %s bytes of shared memory and %d "
				       "barrier%s", shared_text(&sizing), sizing.n_barriers,
				       sizing.n_barriers == 1 ? "" : "s")
	});
}

void lower_block_size(struct k_lowered *lowered)
{
	for (int i = 0; i < lowered->program->functions.n; i++)
		if (is_kernel_of_blocks(lowered->program->functions.items[i]))
			tell(lowered, lowered->program->functions.items[i]);
}
