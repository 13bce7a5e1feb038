/* SPDX-License-Identifier: MIT
 *
 * What depends on types when expressions become C: literals that read back as the same value, conversions that
 * saturate, and arithmetic of narrow integers, which C computes in int and which wraps here. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen_private.h"

static struct text primary(const char *text)
{
	return (struct text) { text, LEVEL_PRIMARY };
}

/* ---- literals ---- */

static bool reads_back(const char *text, double value, bool is_single)
{
	return is_single ? strtof(text, NULL) == (float) value : strtod(text, NULL) == value;
}

static struct text float_text(struct arena *arena, double value, bool is_single)
{
	double size = fabs(value);
	const char *text = "";

	if (isnan(value))
		return primary("NAN");
	if (is_single ? isinf((float) value) : isinf(value))
		return value < 0 ? (struct text) { "-INFINITY", LEVEL_UNARY } : primary("INFINITY");
	for (int digits = 1; digits <= 17; digits++) {
		text = arena_printf(arena, "%.*g", digits, size);
		if (reads_back(text, size, is_single))
			break;
	}
	text = arena_printf(arena, "%s%s%s%s", signbit(value) ? "-" : "", text, strpbrk(text, ".e") ? "" : ".0",
			    is_single ? "f" : "");
	return (struct text) { text, signbit(value) ? LEVEL_UNARY : LEVEL_PRIMARY };
}

static struct text integer_literal(struct arena *arena, int64_t value, enum scalar_type type)
{
	if (type_is_float(type))
		return float_text(arena, type == TYPE_F32 ? (double) (float) value : (double) value, type == TYPE_F32);
	if (type == TYPE_BOOL)
		return primary(value ? "true" : "false");
	if (type == TYPE_U32)
		return primary(arena_printf(arena, "%" PRId64 "u", value));
	return (struct text) { int_text(arena, value), value < 0 ? LEVEL_UNARY : LEVEL_PRIMARY };
}

struct text c_literal(struct arena *arena, const struct expr *expr)
{
	if (expr->kind == EXPR_FLOAT)
		return float_text(arena, expr->real, expr->type == TYPE_F32);
	return integer_literal(arena, expr->integer, expr->type);
}

/* ---- conversions ---- */

static struct text plain_cast(struct arena *arena, enum scalar_type to, struct text value)
{
	const char *operand = text_at_least(arena, value, LEVEL_UNARY);

	return (struct text) { arena_printf(arena, "(%s) %s", type_c_name(to), operand), LEVEL_UNARY };
}

struct text c_cast(struct arena *arena, enum scalar_type to, enum scalar_type from, struct text value)
{
	if (to == from)
		return value;
	if (to == TYPE_BOOL)
		return (struct text) { arena_printf(arena, "%s != 0", text_at_least(arena, value, LEVEL_COMPARE)),
				       LEVEL_EQUAL };
	if (type_is_float(from) && !type_is_float(to))
		return primary(arena_printf(arena, "pmg_to_%s(%s)", type_name(to), value.text));
	return plain_cast(arena, to, value);
}

struct text c_narrow(struct arena *arena, enum scalar_type type, struct text value)
{
	if (type_is_float(type) || type == TYPE_I64 || type == TYPE_U32 || type == TYPE_BOOL)
		return value;
	return plain_cast(arena, type, value);
}

/* ---- identities of reductions ---- */

const char *c_identity(struct arena *arena, enum reduce_op op, enum scalar_type type)
{
	bool is_float = type_is_float(type);
	int64_t lo, hi;

	type_limits(type, &lo, &hi);
	switch (op) {
	case REDUCE_MUL:
		return integer_literal(arena, 1, type).text;
	case REDUCE_MIN:
		return is_float ? "INFINITY" : integer_literal(arena, hi, type).text;
	case REDUCE_MAX:
		return is_float ? "-INFINITY" : integer_literal(arena, lo, type).text;
	case REDUCE_SET:
	case REDUCE_ADD:
	case REDUCE_N:
		break;
	}
	return integer_literal(arena, 0, type).text;
}
