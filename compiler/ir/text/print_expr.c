/* SPDX-License-Identifier: MIT
 *
 * Expressions as text, with the fewest parentheses, in two forms (struct expr_printer). In the exact form
 *     3, 3:i32, 0.5, 0.5:f32      literals: i64 and f64 unless another type is named
 *     -3 and -(3)                 a literal, and the negation of one
 *     A[i, j], s[]                arrays always have brackets, so that a dim may have the name of an array
 *     i, $2                       a dim by name, by number where the name says too little
 *     cast<f32>(x)                every conversion */
#include "ir/text/print_private.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const op_names[] = {
#define OP(id, text, c_text, arity, precedence) text,
#include "ir/core/ops.def"
#undef OP
};

const char *const reduce_names[] = {
#define REDUCE(id, text, identity) text,
#include "ir/core/reduce.def"
#undef REDUCE
};

int op_precedence(enum expr_op op)
{
	static const int precedences[] = {
#define OP(id, text, c_text, arity, precedence) precedence,
#include "ir/core/ops.def"
#undef OP
	};

	return precedences[op];
}

/* ---- names and strings ---- */

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_plain(const char *name)
{
	if (!is_letter(name[0]))
		return false;
	for (const char *c = name + 1; *c; c++)
		if (!is_letter(*c) && !(*c >= '0' && *c <= '9') && !(*c == '.' && is_letter(c[1])))
			return false;
	return true;
}

static bool is_word(const char *name)
{
	static const char *const words[] = {
#define WORD(word) #word,
#include "ir/text/words.def"
#undef WORD
	};

	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		if (strcmp(name, words[i]) == 0)
			return true;
	for (int op = 0; op < OP_N; op++)
		if (strcmp(name, op_names[op]) == 0)
			return true;
	return false;
}

void print_name(struct str *text, const char *name)
{
	const char *quote = is_plain(name) && !is_word(name) ? "" : "`";

	str_add(text, "%s%s%s", quote, name, quote);
}

void print_string(struct str *text, const char *string)
{
	str_add(text, "\"");
	for (const char *c = string ? string : ""; *c; c++) {
		if (*c == '"' || *c == '\\')
			str_add(text, "\\%c", *c);
		else if (*c == '\n')
			str_add(text, "\\n");
		else
			str_add_text(text, c, 1);
	}
	str_add(text, "\"");
}

/* ---- leaves ---- */

static void print_type_suffix(const struct expr_printer *p, enum scalar_type type, enum scalar_type usual)
{
	if (p->is_exact && type != usual)
		str_add(p->text, ":%s", type_name(type));
}

/* The shortest digits that read back as the same value. */
static void print_float(const struct expr_printer *p, const struct expr *expr)
{
	char digits[40];

	for (int precision = 15; precision <= 17; precision++) {
		snprintf(digits, sizeof digits, "%.*g", precision, expr->real);
		if (strtod(digits, NULL) == expr->real)
			break;
	}
	if (isnan(expr->real))
		snprintf(digits, sizeof digits, "nan");
	str_add(p->text, "%s%s", digits, strpbrk(digits, ".enN") ? "" : ".0");
	print_type_suffix(p, expr->type, TYPE_F64);
}

static bool dim_is_named(const struct expr_printer *p, int number)
{
	const dim_list *dims = &p->stage->dims;

	for (int i = 0; i < dims->n; i++)
		if (i != number && strcmp(dims->items[i].name, dims->items[number].name) == 0)
			return false;
	for (int i = 0; i < p->module->params.n; i++)
		if (strcmp(p->module->params.items[i].name, dims->items[number].name) == 0)
			return false;
	return true;
}

static void print_dim(const struct expr_printer *p, int number)
{
	const struct dim *dim;

	if (!p->stage || number < 0 || number >= p->stage->dims.n) {
		str_add(p->text, "$%d", number);
		return;
	}
	dim = &p->stage->dims.items[number];
	if (!p->is_exact && dim->kind == DIM_BIND)
		print_access(p, &dim->source);
	else if (!p->is_exact)
		str_add(p->text, "%s", dim->name);
	else if (dim_is_named(p, number))
		print_name(p->text, dim->name);
	else
		str_add(p->text, "$%d", number);
}

static void print_param(const struct expr_printer *p, int number)
{
	if (number < 0 || number >= p->module->params.n)
		str_add(p->text, "?%d", number);
	else if (p->is_exact)
		print_name(p->text, p->module->params.items[number].name);
	else
		str_add(p->text, "%s", p->module->params.items[number].name);
}

void print_access(const struct expr_printer *p, const struct access *access)
{
	int n = access_n_subs(access);

	if (p->is_exact)
		print_name(p->text, access->array->name);
	else
		str_add(p->text, "%s%s", access->array->owner ? "next " : "",
			access->array->owner ? access->array->owner->name : access->array->name);
	if (n == 0 && !p->is_exact)
		return;
	str_add(p->text, "[");
	for (int i = 0; i < n; i++) {
		str_add(p->text, i ? ", " : "");
		print_expr(p, access->subs[i]);
	}
	str_add(p->text, "]");
}

/* ---- operators ---- */

static int precedence_of(const struct expr *expr)
{
	int precedence = expr->kind == EXPR_OP ? op_precedence(expr->op) : 0;

	return precedence ? precedence : INT32_MAX;
}

static void print_operand(const struct expr_printer *p, const struct expr *operand, bool in_parentheses)
{
	str_add(p->text, in_parentheses ? "(" : "");
	print_expr(p, operand);
	str_add(p->text, in_parentheses ? ")" : "");
}

static bool is_literal(const struct expr *expr)
{
	return expr->kind == EXPR_INT || expr->kind == EXPR_FLOAT;
}

static void print_prefix(const struct expr_printer *p, const struct expr *expr)
{
	const struct expr *operand = expr->args[0];
	bool in_parentheses = precedence_of(operand) < precedence_of(expr) ||
			      (expr->op == OP_NEG && is_literal(operand));

	str_add(p->text, "%s%s", op_names[expr->op], expr->op == OP_NOT ? " " : "");
	print_operand(p, operand, in_parentheses);
}

static void print_binary(const struct expr_printer *p, const struct expr *expr)
{
	int own = precedence_of(expr), left = precedence_of(expr->args[0]), right = precedence_of(expr->args[1]);

	print_operand(p, expr->args[0], left < own || (left == own && op_is_comparison(expr->op)));
	str_add(p->text, " %s ", op_names[expr->op]);
	print_operand(p, expr->args[1], right <= own);
}

static void print_call(const struct expr_printer *p, const char *name, const struct expr *expr)
{
	str_add(p->text, "%s(", name);
	for (int i = 0; i < expr_n_args(expr); i++) {
		str_add(p->text, i ? ", " : "");
		print_expr(p, expr->args[i]);
	}
	str_add(p->text, ")");
}

static void print_op(const struct expr_printer *p, const struct expr *expr)
{
	if (op_precedence(expr->op) == 0)
		print_call(p, op_names[expr->op], expr);
	else if (op_arity(expr->op) == 1)
		print_prefix(p, expr);
	else
		print_binary(p, expr);
}

/* People do not see conversions that keep the value, for they did not write them. */
static void print_cast(const struct expr_printer *p, const struct expr *expr)
{
	enum scalar_type from = expr->args[0]->type;
	bool is_widening = type_is_float(expr->type) ? !(from == TYPE_F64 && expr->type == TYPE_F32)
						     : !type_is_float(from) && type_size(from) <= type_size(expr->type);

	if (p->is_exact || !is_widening)
		print_call(p, arena_printf(p->text->arena, "cast<%s>", type_name(expr->type)), expr);
	else
		print_operand(p, expr->args[0], expr->args[0]->kind == EXPR_OP && op_precedence(expr->args[0]->op));
}

void print_expr(const struct expr_printer *p, const struct expr *expr)
{
	switch (expr->kind) {
	case EXPR_INT:
		str_add(p->text, "%" PRId64, expr->integer);
		print_type_suffix(p, expr->type, TYPE_I64);
		break;
	case EXPR_FLOAT:
		print_float(p, expr);
		break;
	case EXPR_BOOL:
		str_add(p->text, expr->integer ? "true" : "false");
		break;
	case EXPR_PARAM:
		print_param(p, expr->index);
		break;
	case EXPR_DIM:
		print_dim(p, expr->index);
		break;
	case EXPR_READ:
		print_access(p, &expr->access);
		break;
	case EXPR_CAST:
		print_cast(p, expr);
		break;
	case EXPR_OP:
		print_op(p, expr);
		break;
	case EXPR_N:
		break;
	}
}

/* ---- for people ---- */

static const char *printed(struct arena *arena, const struct module *module, const struct stage *stage,
			   const struct expr *expr, bool is_exact)
{
	struct str text = str_new(arena);
	const struct expr_printer printer = { &text, module, stage, is_exact };

	print_expr(&printer, expr);
	return str_text(&text);
}

const char *expr_text(struct arena *arena, const struct module *module, const struct stage *stage,
		      const struct expr *expr)
{
	return printed(arena, module, stage, expr, false);
}

const char *expr_exact_text(struct arena *arena, const struct module *module, const struct stage *stage,
			    const struct expr *expr)
{
	return printed(arena, module, stage, expr, true);
}

const char *access_text(struct arena *arena, const struct module *module, const struct stage *stage,
			const struct access *access)
{
	struct str text = str_new(arena);
	const struct expr_printer printer = { &text, module, stage, false };

	print_access(&printer, access);
	return str_text(&text);
}
