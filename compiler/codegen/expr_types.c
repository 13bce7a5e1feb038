/* SPDX-License-Identifier: MIT
 *
 * What depends on types when expressions become C: literals that read back as the same value, conversions that
 * saturate, and arithmetic of narrow integers, which C computes in int and which wraps here. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/codegen_private.h"

/* ---- literals ---- */

static bool reads_back(const char *text, double value, bool is_single)
{
	return is_single ? strtof(text, NULL) == (float) value : strtod(text, NULL) == value;
}

static struct k_expr *float_literal(struct arena *arena, double value, bool is_single)
{
	double size = fabs(value);
	const char *text = "";
	struct k_expr *literal;

	if (isnan(value))
		return k_name(arena, "NAN");
	if (is_single ? isinf((float) value) : isinf(value))
		return value < 0 ? k_unary(arena, K_NEG, k_name(arena, "INFINITY")) : k_name(arena, "INFINITY");
	for (int digits = 1; digits <= 17; digits++) {
		text = arena_printf(arena, "%.*g", digits, size);
		if (reads_back(text, size, is_single))
			break;
	}
	literal = k_float(arena, arena_printf(arena, "%s%s%s", text, strpbrk(text, ".e") ? "" : ".0",
					      is_single ? "f" : ""));
	return signbit(value) ? k_unary(arena, K_NEG, literal) : literal;
}

static struct k_expr *integer_literal(struct arena *arena, int64_t value, enum scalar_type type)
{
	struct k_expr *literal;

	if (type_is_float(type))
		return float_literal(arena, type == TYPE_F32 ? (double) (float) value : (double) value,
				     type == TYPE_F32);
	if (type == TYPE_BOOL)
		return k_bool(arena, value != 0);
	literal = k_int(arena, value);
	if (type == TYPE_U32)
		literal->text = arena_printf(arena, "%" PRId64 "u", value);
	return literal;
}

struct k_expr *c_literal(struct arena *arena, const struct expr *expr)
{
	if (expr->kind == EXPR_FLOAT)
		return float_literal(arena, expr->real, expr->type == TYPE_F32);
	return integer_literal(arena, expr->integer, expr->type);
}

/* ---- conversions ---- */

static struct k_expr *plain_cast(struct arena *arena, enum scalar_type to, struct k_expr *value)
{
	return k_cast(arena, k_scalar(type_c_name(to)), value);
}

struct k_expr *c_cast(struct arena *arena, enum scalar_type to, enum scalar_type from, struct k_expr *value)
{
	if (to == from)
		return value;
	if (to == TYPE_BOOL)
		return k_binary(arena, K_NE, value, k_int(arena, 0));
	if (type_is_float(from) && !type_is_float(to))
		return k_call(arena, arena_printf(arena, "pmg_to_%s", type_name(to)), 1, value);
	return plain_cast(arena, to, value);
}

struct k_expr *c_narrow(struct arena *arena, enum scalar_type type, struct k_expr *value)
{
	if (type_is_float(type) || type == TYPE_I64 || type == TYPE_U32 || type == TYPE_BOOL)
		return value;
	return plain_cast(arena, type, value);
}

struct k_expr *c_type(struct arena *arena, enum scalar_type type)
{
	return k_type_arg(arena, k_scalar(type_c_name(type)));
}

/* ---- identities of reductions ---- */

static struct k_expr *infinity(struct arena *arena, bool is_negative)
{
	struct k_expr *infinity = k_name(arena, "INFINITY");

	return is_negative ? k_unary(arena, K_NEG, infinity) : infinity;
}

struct k_expr *c_identity(struct arena *arena, enum reduce_op op, enum scalar_type type)
{
	bool is_float = type_is_float(type);
	int64_t lo, hi;

	type_limits(type, &lo, &hi);
	switch (op) {
	case REDUCE_MUL:
		return integer_literal(arena, 1, type);
	case REDUCE_MIN:
		return is_float ? infinity(arena, false) : integer_literal(arena, hi, type);
	case REDUCE_MAX:
		return is_float ? infinity(arena, true) : integer_literal(arena, lo, type);
	case REDUCE_SET:
	case REDUCE_ADD:
	case REDUCE_N:
		break;
	}
	return integer_literal(arena, 0, type);
}
