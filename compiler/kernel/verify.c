/* SPDX-License-Identifier: MIT
 *
 * Whether a kernel program is well-formed. Rules, in the order in which they are asked of a function:
 *
 *     names     each is declared before it is used, once where it is visible, and what is constant is not set
 *               (verify_names.c)
 *     types     indices, conditions, values, arguments (verify_types.c)
 *     teams     all who have to reach a barrier do; threads share a loop where there are some (verify_teams.c)
 *     races     no two iterations of a concurrent loop certainly set the same (verify_races.c)
 *     bounds    an index that is known lies in its array (verify_bounds.c)
 *
 * What is found is certainly wrong; what needs values to be seen is left to who runs the program. Types are those of
 * k_resolve_types: where it has not run, or knows none, nothing is said of them. */
#include "kernel/kernel_private.h"

/* ---- messages ------------------------------------------------------------------------------------ */

const char *k_fault(struct k_scope *place, const struct k_stmt *stmt, const char *format, ...)
{
	va_list args;
	const char *what;

	va_start(args, format);
	what = arena_vprintf(place->arena, format, args);
	va_end(args);
	if (!stmt)
		return arena_printf(place->arena, "%s: %s", place->function->name, what);
	return arena_printf(place->arena, "%s: %s: %s", place->function->name, k_stmt_text(place->arena, stmt), what);
}

/* ---- rules ------------------------------------------------------------------------------------------ */

typedef const char *verify_rule(struct arena *arena, const struct k_program *program,
				const struct k_function *function);

static const char *verify_by(struct arena *arena, const struct k_program *program, verify_rule *const *rules, int n)
{
	const char *fault = NULL;

	for (int i = 0; i < program->functions.n && !fault; i++)
		for (int rule = 0; rule < n && !fault; rule++)
			fault = rules[rule](arena, program, program->functions.items[i]);
	return fault;
}

/* The last rule is that of races. */
static verify_rule *const rules[] = {
	k_verify_names, k_verify_types, k_verify_teams, k_verify_bounds, k_verify_races
};

enum { N_RULES = sizeof rules/sizeof rules[0] };

const char *k_verify(struct arena *arena, const struct k_program *program)
{
	return verify_by(arena, program, rules, N_RULES);
}

const char *k_verify_without_races(struct arena *arena, const struct k_program *program)
{
	return verify_by(arena, program, rules, N_RULES - 1);
}
