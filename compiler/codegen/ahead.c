/* SPDX-License-Identifier: MIT
 *
 * Prefetches of cells. A loop over the points of a run reads or updates w[fiber], where fiber is what a copied index
 * array says: the hardware prefetcher does not cover such an address, and the processor waits. The index array has it
 * long before, so that each point prefetches the cell of one some points later (PMG_PREFETCH of pmgrt_math.h). Points
 * of a run or segment are followed by those of the next, and behind the last ones the arrays of an inspector may be
 * read.
 *
 * Only cells of one number: of rows, the first cells are a small part. Only what is read or added to, at every point:
 * nothing waits for a store, and what is chosen elsewhere need not exist.
 * Only loops that are no vectors, which a prefetch for each point would hinder. */
#include "codegen/codegen_private.h"

/* Is the index array read at the points of a short loop, one after the other? */
static bool is_at_points(const struct stage *stage, const struct access *source)
{
	return source->array->role == ROLE_INSPECTED && source->array->type == TYPE_I32 &&
	       source->subs[0]->kind == EXPR_DIM && stage->dims.items[source->subs[0]->index].is_short;
}

struct search {
	int dim;
	VEC(const struct access *) found;
	struct arena *arena;
};

static void look_at_cell(struct search *search, const struct access *access)
{
	bool is = access->array->rank == 1 && !array_is_local(access->array) &&
		  !access->array->folded && access->subs[0]->kind == EXPR_DIM && access->subs[0]->index == search->dim;

	for (int i = 0; is && i < search->found.n; i++)
		is = search->found.items[i]->array != access->array;
	if (is)
		vec_push(search->arena, &search->found, access);
}

static void look_at_access(struct access *access, void *user)
{
	look_at_cell(user, access);
}

/* An updated cell may be one of the thread's own copy. */
static const char *name_of(const struct emit *e, const struct stage *stage, const struct access *access)
{
	return access == &stage->write && e->private_copy.of == stage ? e->private_copy.name : access->array->c_name;
}

void emit_ahead(struct emit *e, const struct mark *bind, const struct point *point)
{
	const struct stage *stage = point->stage;
	struct search search = { .dim = mark_dim_number(bind), .arena = e->arena };
	struct affine index;

	if (e->target->device_ending || expr_has_choice(stage->value) || !is_at_points(stage, &bind->dim->source))
		return;
	expr_reads(stage->value, look_at_access, &search);
	if (stage->op != REDUCE_SET)
		look_at_cell(&search, &stage->write);
	index = c_index(e, point, &bind->dim->source);
	for (int i = 0; i < search.found.n; i++)
		k_do(e->b, K_CALL(e->arena, "PMG_PREFETCH", k_name(e->arena, name_of(e, stage, search.found.items[i])),
				  k_name(e->arena, bind->dim->source.array->c_name),
				  affine_expr(e->arena, &index)));
}
