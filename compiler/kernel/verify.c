/* SPDX-License-Identifier: MIT
 *
 * Whether a kernel program is well-formed. Rules, in the order in which they are asked of a function:
 *
 *     names     each is declared before it is used, once where it is visible, and what is constant is not set
 *               (verify_names.c)
 *     parts     one that may become a function is left as one is (verify_parts.c)
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

struct asking {
	struct k_check check;
	const struct k_rule *rule;
};

static void ask_declare(struct k_scope *place, const struct k_declared *declared, void *user)
{
	struct asking *asking = user;

	asking->check.place = place;
	asking->check.stmt = declared->stmt;
	if (asking->rule->declare)
		asking->rule->declare(&asking->check, declared);
}

static void ask_expr(const struct k_expr *expr, void *user)
{
	struct asking *asking = user;

	k_walk_expr(expr, &(struct k_visitor) { .expr = asking->rule->expr, .user = &asking->check });
}

static void ask_stmt(struct k_scope *place, const struct k_stmt *stmt, void *user)
{
	struct asking *asking = user;

	asking->check.place = place;
	asking->check.stmt = stmt;
	if (asking->rule->expr)
		k_each_expr(stmt, ask_expr, asking);
	if (asking->rule->stmt)
		asking->rule->stmt(&asking->check, stmt);
}

static const struct k_rule *const rules[] = {
	&k_rule_names, &k_rule_parts, &k_rule_types, &k_rule_teams, &k_rule_bounds, &k_rule_races
};

enum { N_RULES = sizeof rules/sizeof rules[0] };

static const char *verify_function(struct arena *arena, const struct k_program *program,
				   const struct k_function *function, int n_rules)
{
	const struct k_varying varying = k_varying_find(arena, program, function);
	struct k_scope outside = { .arena = arena, .program = program, .function = function };
	struct asking asking = { .check = { .varying = &varying } };

	for (int i = 0; i < n_rules && !asking.check.fault; i++) {
		asking.rule = rules[i];
		asking.check.place = &outside;
		asking.check.stmt = NULL;
		if (asking.rule->function)
			asking.rule->function(&asking.check);
		k_walk_function(arena, program, function, &(struct k_scope_visitor) { ask_stmt, ask_declare, &asking });
	}
	return asking.check.fault;
}

static const char *verify_by(struct arena *arena, const struct k_program *program, int n_rules)
{
	const char *fault = NULL;

	for (int i = 0; i < program->functions.n && !fault; i++)
		fault = verify_function(arena, program, program->functions.items[i], n_rules);
	return fault;
}

const char *k_verify(struct arena *arena, const struct k_program *program)
{
	return verify_by(arena, program, N_RULES);
}

const char *k_verify_without_races(struct arena *arena, const struct k_program *program)
{
	return verify_by(arena, program, N_RULES - 1);
}
