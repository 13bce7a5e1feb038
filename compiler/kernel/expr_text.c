/* SPDX-License-Identifier: MIT
 *
 * Expressions and types as C text. Parentheses stand where a node says so (is_grouped), where C needs them, and where
 * compilers warn without. Products have no blanks around their operators, remainders and all looser ones have. */
#include "kernel/kernel.h"

#include <inttypes.h>

static void add_expr(struct str *out, const struct k_expr *expr);

const char *k_int_text(struct arena *arena, int64_t value)
{
	if (value == INT64_MIN || value == INT64_MAX)
		return value < 0 ? "INT64_MIN" : "INT64_MAX";
	if (value > INT32_MAX || value < -INT32_MAX)
		return arena_printf(arena, "INT64_C(%" PRId64 ")", value);
	return arena_printf(arena, "%" PRId64, value);
}

const char *k_type_text(struct arena *arena, const struct k_type *type)
{
	return arena_printf(arena, "%s%s%s%s", type->is_const ? "const " : "", type->name ? type->name : "auto",
			    type->is_pointer ? " *" : "", type->is_restrict ? "restrict" : "");
}

static void add_grouped(struct str *out, const struct k_expr *expr, bool needs)
{
	bool adds = needs && !expr->is_grouped;

	if (adds)
		str_add_text(out, "(", 1);
	add_expr(out, expr);
	if (adds)
		str_add_text(out, ")", 1);
}

static void add_at_least(struct str *out, const struct k_expr *expr, enum k_level level)
{
	add_grouped(out, expr, k_level(expr) < level);
}

static void add_list(struct str *out, const struct k_expr *const *items, int n)
{
	for (int i = 0; i < n; i++) {
		if (i)
			str_add_text(out, ", ", 2);
		add_expr(out, items[i]);
	}
}

#define ADD_LIST(out, vec) add_list((out), (const struct k_expr *const *) (vec).items, (vec).n)

/* ---- operators ---- */

/* Is an operand that binds tighter than its operator taken for a mistake by compilers? */
static bool is_misread(enum k_level outer, enum k_level inner)
{
	switch (outer) {
	case K_LEVEL_OR:
		return inner == K_LEVEL_AND;
	case K_LEVEL_BIT_OR:
	case K_LEVEL_BIT_AND:
		return inner > outer && inner <= K_LEVEL_SUM && inner != K_LEVEL_SHIFT;
	case K_LEVEL_EQUAL:
		return inner == K_LEVEL_EQUAL || inner == K_LEVEL_COMPARE;
	case K_LEVEL_COMPARE:
		return inner == K_LEVEL_COMPARE;
	case K_LEVEL_SHIFT:
		return inner == K_LEVEL_SUM;
	case K_LEVEL_SELECT:
	case K_LEVEL_AND:
	case K_LEVEL_SUM:
	case K_LEVEL_PRODUCT:
	case K_LEVEL_UNARY:
	case K_LEVEL_PRIMARY:
		break;
	}
	return false;
}

/* Operators of a level are read from the left. */
static void add_binary(struct str *out, const struct k_expr *expr)
{
	const struct k_expr *a = expr->args.items[0], *b = expr->args.items[1];
	enum k_level level = k_op_level(expr->op);
	bool is_tight = expr->op == K_MUL || expr->op == K_DIV;

	add_grouped(out, a, k_level(a) < level || is_misread(level, k_level(a)));
	str_add(out, is_tight ? "%s" : " %s ", k_op_text(expr->op));
	add_grouped(out, b, k_level(b) <= level || is_misread(level, k_level(b)));
}

static bool begins_with_minus(const struct k_expr *expr)
{
	if (expr->is_grouped || k_level(expr) != K_LEVEL_UNARY)
		return false;
	return expr->kind == KE_INT || expr->kind == KE_FLOAT || (expr->kind == KE_UNARY && expr->op == K_NEG);
}

/* --x and &&x would be other operators. */
static void add_unary(struct str *out, const struct k_expr *expr)
{
	const struct k_expr *a = expr->args.items[0];
	bool joins = (expr->op == K_NEG && begins_with_minus(a)) ||
		     (expr->op == K_ADDRESS && a->kind == KE_UNARY && a->op == K_ADDRESS);

	str_add(out, "%s", k_op_text(expr->op));
	add_grouped(out, a, joins || k_level(a) < K_LEVEL_UNARY);
}

static void add_select(struct str *out, const struct k_expr *expr)
{
	add_at_least(out, expr->args.items[0], K_LEVEL_OR);
	str_add_text(out, " ? ", 3);
	add_expr(out, expr->args.items[1]);
	str_add_text(out, " : ", 3);
	add_expr(out, expr->args.items[2]);
}

/* ---- the others ---- */

static void add_int(struct str *out, const struct k_expr *expr)
{
	str_add(out, "%s", expr->text ? expr->text : k_int_text(out->arena, expr->integer));
}

static void add_load(struct str *out, const struct k_expr *expr)
{
	add_at_least(out, expr->args.items[0], K_LEVEL_PRIMARY);
	str_add_text(out, "[", 1);
	add_expr(out, expr->args.items[1]);
	str_add_text(out, "]", 1);
}

static void add_member(struct str *out, const struct k_expr *expr)
{
	add_at_least(out, expr->args.items[0], K_LEVEL_PRIMARY);
	str_add(out, "%s%s", expr->is_arrow ? "->" : ".", expr->text);
}

static void add_cast(struct str *out, const struct k_expr *expr)
{
	str_add(out, "(%s) ", k_type_text(out->arena, &expr->of));
	add_at_least(out, expr->args.items[0], K_LEVEL_UNARY);
}

static void add_call(struct str *out, const struct k_expr *expr)
{
	str_add(out, "%s", expr->text);
	if (expr->constants.n) {
		str_add_text(out, "<", 1);
		ADD_LIST(out, expr->constants);
		str_add_text(out, ">", 1);
	}
	str_add_text(out, "(", 1);
	ADD_LIST(out, expr->args);
	str_add_text(out, ")", 1);
}

static void add_braces(struct str *out, const struct k_expr *expr)
{
	str_add_text(out, "{ ", 2);
	ADD_LIST(out, expr->args);
	str_add(out, "%s}", expr->args.n ? " " : "");
}

static void add_kind(struct str *out, const struct k_expr *expr)
{
	switch (expr->kind) {
	case KE_INT: add_int(out, expr); break;
	case KE_BOOL: str_add(out, "%s", expr->integer ? "true" : "false"); break;
	case KE_FLOAT:
	case KE_STRING:
	case KE_NAME: str_add(out, "%s", expr->text); break;
	case KE_TYPE: str_add(out, "%s", k_type_text(out->arena, &expr->of)); break;
	case KE_LOAD: add_load(out, expr); break;
	case KE_MEMBER: add_member(out, expr); break;
	case KE_UNARY: add_unary(out, expr); break;
	case KE_BINARY: add_binary(out, expr); break;
	case KE_SELECT: add_select(out, expr); break;
	case KE_CAST: add_cast(out, expr); break;
	case KE_CALL: add_call(out, expr); break;
	case KE_LIST: add_braces(out, expr); break;
	case KE_N: break;
	}
}

static void add_expr(struct str *out, const struct k_expr *expr)
{
	if (expr->is_grouped)
		str_add_text(out, "(", 1);
	add_kind(out, expr);
	if (expr->is_grouped)
		str_add_text(out, ")", 1);
}

const char *k_expr_text(struct arena *arena, const struct k_expr *expr)
{
	struct str out = str_new(arena);

	add_expr(&out, expr);
	return str_text(&out);
}
