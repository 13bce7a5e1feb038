/* SPDX-License-Identifier: MIT
 *
 * Types in C text: scalars, vectors, structures of the runtime, and pointers to them. */
#include "kernel/read.h"

#include <string.h>

static bool token_is(const struct k_token *token, const char *name)
{
	return token->length == strlen(name) && !strncmp(token->text, name, token->length);
}

bool k_is_scalar(const struct k_token *token)
{
	static const char *const names[] = {
#define TYPE(id, name, c_name, abi_name, size, is_float, is_signed) c_name,
#include "support/types.def"
#undef TYPE
		"int", "unsigned", "size_t", "char", "void", "uint64_t"
	};

	if (token->kind != K_TOKEN_NAME)
		return false;
	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (token_is(token, names[i]))
			return true;
	return token->length > 11 && !strncmp(token->text, "pmg_vector_", 11);
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
