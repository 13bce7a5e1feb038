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

static void add_extents(struct k_scope *place, struct str *text, const struct k_let *let)
{
	for (int i = 0; i < let->extents.n; i++)
		str_add(text, "[%s]", k_expr_text(place->arena, let->extents.items[i]));
}

static void add_let(struct k_scope *place, struct str *text, const struct k_let *let)
{
	str_add(text, "%s%s%s", k_type_text(place->arena, &let->type), let->type.is_pointer ? "" : " ", let->name);
	add_extents(place, text, let);
	if (let->value)
		str_add(text, " = %s", k_expr_text(place->arena, let->value));
}

static void add_store(struct k_scope *place, struct str *text, const struct k_store *store)
{
	for (int i = 0; i < store->targets.n; i++)
		str_add(text, "%s %s= ", k_expr_text(place->arena, store->targets.items[i]),
			store->op == K_OP_N ? "" : k_op_text(store->op));
	str_add(text, "%s", k_expr_text(place->arena, store->value));
}

static void add_loop(struct k_scope *place, struct str *text, const struct k_loop *loop)
{
	str_add(text, "for (%s = %s; %s %s %s)", loop->name, k_expr_text(place->arena, loop->first), loop->name,
		loop->is_down ? ">=" : "<", k_expr_text(place->arena, loop->bound));
}

static void add_with_value(struct k_scope *place, struct str *text, const char *before, const struct k_expr *value,
			   const char *behind)
{
	str_add(text, "%s%s%s", before, value ? k_expr_text(place->arena, value) : "", behind);
}

/* A statement without what is inside of it. */
static const char *stmt_text(struct k_scope *place, const struct k_stmt *stmt)
{
	struct str text = str_new(place->arena);

	switch (stmt->kind) {
	case KS_LET:
		add_let(place, &text, &stmt->let);
		break;
	case KS_STORE:
		add_store(place, &text, &stmt->store);
		break;
	case KS_LOOP:
		add_loop(place, &text, &stmt->loop);
		break;
	case KS_WHILE:
		add_with_value(place, &text, "while (", stmt->repeat.condition, ")");
		break;
	case KS_IF:
		add_with_value(place, &text, "if (", stmt->branch.condition, ")");
		break;
	case KS_CALL:
		add_with_value(place, &text, "", stmt->value, "");
		break;
	case KS_PARALLEL:
		add_with_value(place, &text, "parallel (", stmt->value, ")");
		break;
	case KS_RETURN:
		add_with_value(place, &text, stmt->value ? "return " : "return", stmt->value, "");
		break;
	case KS_UNUSED:
		add_with_value(place, &text, "(void) ", stmt->value, "");
		break;
	case KS_BREAK:
		str_add(&text, "break");
		break;
	case KS_CONTINUE:
		str_add(&text, "continue");
		break;
	case KS_BLOCK:
	case KS_COMMENT:
	case KS_BLANK:
	case KS_RECORD:
	case KS_N:
		break;
	}
	return str_text(&text);
}

const char *k_fault(struct k_scope *place, const struct k_stmt *stmt, const char *format, ...)
{
	va_list args;
	const char *what;

	va_start(args, format);
	what = arena_vprintf(place->arena, format, args);
	va_end(args);
	if (!stmt)
		return arena_printf(place->arena, "%s: %s", place->function->name, what);
	return arena_printf(place->arena, "%s: %s: %s", place->function->name, stmt_text(place, stmt), what);
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
