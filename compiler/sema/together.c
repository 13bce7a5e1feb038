/* SPDX-License-Identifier: MIT
 *
 * Over how many variables definitions that read each other run together. At most over those that all have; and where
 * one reads all that another has at the same point of some variables, over these and no more, since its values are
 * complete only behind the loops over the others. */
#include "sema/sema_private.h"

struct together {
	struct draft **drafts;
	int n_drafts;
	const struct draft *reader;
	int n;
};

static int common_slot(const struct draft *draft, int number)
{
	int slot = -1;

	while (number-- >= 0 && (slot = draft_next_common(draft, slot)) >= 0)
		;
	return slot;
}

static bool is_slot(const struct expr *expr, int slot)
{
	return slot >= 0 && expr->kind == EXPR_DIM && expr->index == slot;
}

/* Does `sub` run over the whole range of the writer's variable? */
static bool is_whole(const struct draft *reader, const struct expr *sub, const struct draft *writer, int slot)
{
	const struct slot *own = sub->kind == EXPR_DIM ? &reader->slots.items[sub->index] : NULL;

	return own && !own->is_common && own->dim.kind == DIM_RANGE &&
	       dim_equal(&own->dim, &writer->slots.items[slot].dim);
}

static void note_whole(struct access *access, void *user)
{
	struct together *together = user;
	const struct draft *reader = together->reader, *writer = NULL;
	const struct access *write;
	int n = 0;

	for (int i = 0; i < together->n_drafts; i++)
		if (draft_defines(together->drafts[i], access->array))
			writer = together->drafts[i];
	if (!writer || access->array->role == ROLE_LOCAL)
		return;
	write = &writer->stages.items[writer->stages.n - 1]->write;
	while (n < access->array->rank && is_slot(access->subs[n], common_slot(reader, n)) &&
	       is_slot(write->subs[n], common_slot(writer, n)))
		n++;
	if (n > 0 && n < together->n && n < access->array->rank && is_slot(write->subs[n], common_slot(writer, n)) &&
	    is_whole(reader, access->subs[n], writer, common_slot(writer, n)))
		together->n = n;
}

int drafts_together(struct draft **drafts, int n)
{
	struct together together = { drafts, n, NULL, draft_n_common(drafts[0]) };

	for (int i = 0; i < n; i++) {
		together.reader = drafts[i];
		draft_reads(drafts[i], note_whole, &together);
	}
	return together.n;
}
