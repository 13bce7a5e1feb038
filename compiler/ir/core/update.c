/* SPDX-License-Identifier: MIT
 *
 * An update that is written as a definition: `v[i] = v[i] + dt*m[i]` means `reduce v[i] += dt*m[i]`. The text of the
 * fix is made of pieces of the user's own. */
#include "ir/ir.h"

#include <string.h>

static const char *text_between(const struct module *module, struct span span, uint32_t start, uint32_t end)
{
	return span_text(module->diags->sources, module->arena, (struct span) { span.file, start, end });
}

static const char *without_blanks(const char *text)
{
	return text + strspn(text, " \t");
}

/* "+= dt*m" of `v + dt*m`, where `old` is its first operand; NULL: it is no sum or product. */
static const char *change_behind(const struct module *module, const struct expr *value, const struct expr *old)
{
	const char *text = without_blanks(text_between(module, value->span, old->span.end, value->span.end));
	const char *rest = *text ? without_blanks(text + 1) : "";

	if (*text == '-')
		return arena_printf(module->arena, "+= -%s", rest);
	return *text == '+' || *text == '*' ? arena_printf(module->arena, "%c= %s", *text, rest) : NULL;
}

/* "+= dt*m" of `dt*m + v`. */
static const char *change_before(const struct module *module, const struct expr *value, const struct expr *old)
{
	const char *text = text_between(module, value->span, value->span.start, old->span.start), *sign;

	sign = strrchr(text, value->op == OP_ADD ? '+' : '*');
	if (!sign || *without_blanks(sign + 1))
		return NULL;
	while (sign > text && strchr(" \t", sign[-1]))
		sign--;
	return arena_printf(module->arena, "%c= %.*s", value->op == OP_ADD ? '+' : '*', (int) (sign - text), text);
}

static bool reads_array(const struct expr *expr, const struct array *array)
{
	return expr->kind == EXPR_READ && expr->access.array == array;
}

/* Of a sum or a product with the old value of the array as its first or last operand; `*old` is that operand. */
static const char *change_text(const struct module *module, const struct stage *stage, const struct expr **old)
{
	const struct expr *value = stage->value, *first = value;
	bool is_sum = value->op == OP_ADD || value->op == OP_SUB;

	if (value->kind != EXPR_OP || (!is_sum && value->op != OP_MUL))
		return NULL;
	while (first->kind == EXPR_OP && (is_sum ? first->op == OP_ADD || first->op == OP_SUB : first->op == OP_MUL))
		first = first->args[0];
	*old = first;
	if (reads_array(first, stage->write.array))
		return change_behind(module, value, first);
	*old = value->args[1];
	return (value->op == OP_ADD || value->op == OP_MUL) && reads_array(*old, stage->write.array)
	       ? change_before(module, value, *old) : NULL;
}

const char *stage_update_text(const struct module *module, struct stage *stage)
{
	const struct expr *old;
	const char *change = change_text(module, stage, &old), *before, *target;

	if (!change || stage_count_reads(stage, stage->write.array) != 1 || old->span.start < stage->span.start ||
	    stage->value->span.end > stage->span.end ||
	    strchr(text_between(module, stage->span, stage->span.start, stage->span.end), '\n'))
		return NULL;
	before = text_between(module, stage->span, stage->span.start, stage->value->span.start);
	target = text_between(module, old->span, old->span.start, old->span.end);
	if (strncmp(before, target, strlen(target)))
		return NULL;
	before = without_blanks(before + strlen(target));
	if (*before != '=' || *without_blanks(before + 1))
		return NULL;
	return arena_printf(module->arena, "reduce %s %s%s", target, change,
			    text_between(module, stage->span, stage->value->span.end, stage->span.end));
}
