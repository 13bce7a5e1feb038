/* SPDX-License-Identifier: MIT
 *
 * Types in C text: scalars, vectors, structures of the runtime, and pointers to them. */
#include "kernel/kernel_private.h"
#include "kernel/read.h"

#include <string.h>

static bool token_is(const struct k_token *token, const char *name)
{
	return token->length == strlen(name) && !strncmp(token->text, name, token->length);
}

bool k_is_scalar(struct arena *arena, const struct k_token *token)
{
	struct k_type type;

	if (token->kind != K_TOKEN_NAME)
		return false;
	type = k_scalar(arena_copy(arena, token->text, token->length));
	return k_is_arithmetic(&type) || k_is_vector(&type) || token_is(token, "void");
}

/* A word of C that begins no type. */
static bool is_keyword(const struct k_token *token)
{
	static const char *const words[] = {
		"break", "case", "continue", "default", "do", "else", "extern", "for", "goto", "if", "return", "sizeof",
		"static", "struct", "switch", "typedef", "union", "while"
	};

	for (size_t i = 0; i < sizeof words / sizeof *words; i++)
		if (token_is(token, words[i]))
			return true;
	return false;
}

bool k_read_type(struct k_reader *r, struct k_type *type)
{
	*type = (struct k_type) { .is_const = k_accept(r, "const") };
	if (r->token.kind != K_TOKEN_NAME || is_keyword(&r->token))
		return false;
	type->name = k_expect_name(r);
	type->is_pointer = k_accept(r, "*");
	type->is_restrict = type->is_pointer && (k_accept(r, "restrict") || k_accept(r, "__restrict__"));
	return !r->error;
}
