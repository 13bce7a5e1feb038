/* SPDX-License-Identifier: MIT
 *
 * Checks of what --explain says of blocks of a device that run an iteration of a loop. */
#include "sentence_checks.h"

#include <string.h>

/* Is there a name that ends so, of the array that the sentence is about? */
static const char *check_name(const struct sentence *s, const char *end)
{
	const char *name = sentence_fail(s, "%s_%s", c_name_of(s, s->decision->subject), end);

	return find_anywhere(s, mentions, name) >= 0 ? NULL : sentence_fail(s, "no %s", name);
}

const char *check_border(const struct sentence *s)
{
	return check_name(s, "border");
}

const char *check_team_of_block(const struct sentence *s)
{
	return find_anywhere(s, is_call_named, "PMG_TEAM_BLOCK") >= 0 ? NULL : "no team is a block";
}

const char *check_own(const struct sentence *s)
{
	return check_name(s, "own");
}

const char *check_of_block(const struct sentence *s)
{
	return check_name(s, "shared");
}

static bool is_name_for(const struct sentence *s, int node, const char *name)
{
	const struct k_stmt *stmt = sentence_stmt(s, node);

	return stmt->kind == KS_LET && stmt->let.type.is_pointer && stmt->let.value &&
	       stmt->let.value->kind == KE_NAME && !strcmp(stmt->let.name, name);
}

/* Its name leads to the memory of the other one. */
const char *check_room(const struct sentence *s)
{
	const char *name = sentence_fail(s, "%s_shared", c_name_of(s, s->decision->subject));
	const char *other = sentence_fail(s, "%s_shared", c_name_of(s, sentence_quoted(s, 0)));
	const int let = find_anywhere(s, is_name_for, name);

	return let >= 0 && !strcmp(sentence_stmt(s, let)->let.value->text, other) ? NULL :
	       sentence_fail(s, "%s is not in %s", name, other);
}

/* A variable of the lane has the name of the array that it comes from. */
const char *check_lane_cell(const struct sentence *s)
{
	const char *name = sentence_fail(s, "%s_cell", s->decision->subject);

	return find_anywhere(s, mentions, name) >= 0 ? NULL : sentence_fail(s, "no %s", name);
}

static bool count_quotient(const struct k_expr *expr, void *user)
{
	*(int *) user += expr->kind == KE_CALL && !strcmp(expr->text, "PMG_QUOTIENT");
	return true;
}

/* As many calls as it says, each in the place of an operation. */
const char *check_quotients(const struct sentence *s)
{
	int n = 0;

	for (int i = 0; i < s->tree->program->functions.n; i++)
		if (!strcmp(s->tree->program->functions.items[i]->name, s->decision->subject))
			k_walk_block(&s->tree->program->functions.items[i]->body,
				     &(struct k_visitor) { .expr = count_quotient, .user = &n });
	return n == sentence_number(s) ? NULL : sentence_fail(s, "%d quotients", n);
}

/* Bytes of arrays in registers. */
const char *check_block_size(const struct sentence *s)
{
	int64_t own = 0;

	for (int i = 0; i < s->tree->nodes.n; i++) {
		const struct k_let *let = &sentence_stmt(s, i)->let;

		if (strcmp(s->tree->nodes.items[i].function->name, s->decision->subject) ||
		    sentence_stmt(s, i)->kind != KS_LET || let->space != K_SPACE_REGISTERS || !let->extents.n)
			continue;
		own += let->extents.items[0]->integer*(strcmp(let->type.name, "float") ? 8 : 4);
	}
	return own == sentence_number(s) ? NULL : sentence_fail(s, "%d bytes", (int) own);
}

/* As many as are left in the kernel. */
const char *check_barriers(const struct sentence *s)
{
	int n = 0;

	for (int i = 0; i < s->tree->nodes.n; i++)
		n += !strcmp(s->tree->nodes.items[i].function->name, s->decision->subject) &&
		     is_call_named(s, i, "PMG_BLOCK_SYNC");
	return n == sentence_number(s) ? NULL : sentence_fail(s, "%d barriers", n);
}
