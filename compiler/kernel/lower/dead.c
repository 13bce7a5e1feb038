/* SPDX-License-Identifier: MIT
 *
 * What nothing reads: declarations without an effect (kernel/unread.c), parameters of the host's functions together
 * with what calls hand to them, and `unused` of a parameter that is used. Builders declare all that a function may
 * read. A function stands ahead of those that call it, so that one walk drops what only a dropped parameter's value
 * read, too. */
#include <string.h>

#include "kernel/lower/lower_private.h"

/* ---- parameters ---- */

/* Calls of a function, in those behind it, which lose an argument. Several may share one expression. */
struct call_search {
	struct arena *arena;
	const char *function;
	int i;
};

static struct k_expr *without_argument(struct arena *arena, const struct k_expr *call, int i)
{
	struct k_expr *shorter = k_call(arena, call->text, 0);

	for (int k = 0; k < call->args.n; k++)
		if (k != i)
			vec_push(arena, &shorter->args, call->args.items[k]);
	return shorter;
}

static bool shorten_call(const struct k_stmt *stmt, void *user)
{
	const struct call_search *search = user;

	if (stmt->kind == KS_CALL && stmt->value->kind == KE_CALL && strcmp(stmt->value->text, search->function) == 0)
		((struct k_stmt *) stmt)->value = without_argument(search->arena, stmt->value, search->i);
	return true;
}

static void drop_parameter(struct k_lowered *lowered, int number, int i)
{
	struct k_program *program = lowered->program;
	struct k_function *function = program->functions.items[number];
	struct call_search search = { lowered->arena, function->name, i };

	for (int k = i + 1; k < function->params.n; k++)
		function->params.items[k - 1] = function->params.items[k];
	function->params.n--;
	for (int f = number + 1; f < program->functions.n; f++)
		k_walk_block(&program->functions.items[f]->body,
			     &(struct k_visitor) { .stmt = shorten_call, .user = &search });
}

static void drop_parameters(struct k_lowered *lowered, int number)
{
	const struct k_function *function = lowered->program->functions.items[number];

	for (int i = function->params.n; i-- > 0;)
		if (!k_mentions(&function->body, function->params.items[i].name))
			drop_parameter(lowered, number, i);
}

void lower_dead(struct k_lowered *lowered)
{
	for (int i = 0; i < lowered->program->functions.n; i++) {
		struct k_function *function = lowered->program->functions.items[i];

		k_function_drop_unread(lowered->arena, function);
		if (function->kind == K_FUNCTION_HOST)
			drop_parameters(lowered, i);
	}
}
