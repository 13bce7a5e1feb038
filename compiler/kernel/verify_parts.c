/* SPDX-License-Identifier: MIT
 *
 * Parts of an entry, each of which may become a function. So it is left at its end alone, and stands where one thread
 * calls it, once at a time: in the entry, in another part, or in a `while` of these. Nothing behind it reads what it
 * declares: it is a block. */
#include "kernel/kernel_private.h"

static bool may_be_around(const struct k_stmt *stmt)
{
	return stmt->kind == KS_WHILE || (stmt->kind == KS_BLOCK && stmt->part);
}

static void check_part(struct k_check *check)
{
	const struct k_scope *place = check->place;

	if (place->function->kind != K_FUNCTION_ENTRY)
		K_FAULT(check, "a part stands in no entry");
	for (int i = 0; i < place->inside.n; i++)
		if (!may_be_around(place->inside.items[i]))
			K_FAULT(check, "a part stands in a statement that no function is called from");
}

/* Does the statement leave the innermost part around it? A `break` leaves no more than the loop that it stands in. */
static bool leaves_part(const struct k_scope *place, const struct k_stmt *stmt)
{
	bool in_part = false, in_loop = false;

	for (int i = 0; i < place->inside.n; i++) {
		const struct k_stmt *around = place->inside.items[i];
		const bool is_part = around->kind == KS_BLOCK && around->part;

		in_part |= is_part;
		in_loop = !is_part && (in_loop || around->kind == KS_LOOP || around->kind == KS_WHILE);
	}
	return in_part && (stmt->kind == KS_RETURN || !in_loop);
}

static void check_stmt(struct k_check *check, const struct k_stmt *stmt)
{
	if (stmt->kind == KS_BLOCK && stmt->part)
		check_part(check);
	if ((stmt->kind == KS_RETURN || stmt->kind == KS_BREAK || stmt->kind == KS_CONTINUE) &&
	    leaves_part(check->place, stmt))
		K_FAULT(check, "this leaves a part before its end");
}

const struct k_rule k_rule_parts = { .stmt = check_stmt };
