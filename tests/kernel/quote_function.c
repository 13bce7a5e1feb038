/* SPDX-License-Identifier: MIT
 *
 * Heads of functions in C text: what links them, their result, for a device the threads that it may have, and
 * parameters. */
#include "kernel/quote.h"

#include <string.h>

static const char *read_qualifiers(struct k_reader *r)
{
	if (k_accept(r, "static"))
		return "static";
	if (k_accept(r, "PMG_ALWAYS_INLINE"))
		return "PMG_ALWAYS_INLINE";
	if (!k_accept(r, "extern"))
		return NULL;
	if (r->token.kind != K_TOKEN_STRING)
		return "extern";
	k_next(r);
	return "extern \"C\"";
}

/* Does a parameter begin a line? */
static bool begins_line(const struct k_reader *r)
{
	return r->token.is_spaced && (r->token.text[-1] == '\t' || r->token.text[-1] == '\n');
}

static bool read_param(struct k_reader *r, struct k_function *function)
{
	struct k_param param = { 0 };

	if (begins_line(r))
		function->broken_at = function->params.n;
	if (!k_read_type(r, &param.type)) {
		k_fail(r, "a type is missing");
		return false;
	}
	param.name = k_expect_name(r);
	vec_push(r->arena, &function->params, param);
	return param.name != NULL;
}

static bool read_params(struct k_reader *r, struct k_function *function)
{
	if (!k_expect(r, "("))
		return false;
	if (k_is(r, "void") && r->at[0] == ')') {
		k_next(r);
		return k_expect(r, ")");
	}
	do {
		if (!read_param(r, function))
			return false;
	} while (k_accept(r, ","));
	return k_expect(r, ")");
}

static void read_head(struct k_reader *r, struct k_function *function)
{
	function->qualifiers = read_qualifiers(r);
	function->kind = k_accept(r, "__global__") ? K_FUNCTION_DEVICE : K_FUNCTION_HOST;
	if (!k_read_type(r, &function->result)) {
		k_fail(r, "a type is missing");
		return;
	}
	if (function->kind == K_FUNCTION_DEVICE && !strncmp(r->token.text, "PMG_BOUNDS", 10)) {
		function->bounds = k_read_unary(r);
		if (!function->bounds)
			return;
	}
	function->name = k_expect_name(r);
	if (function->name && read_params(r, function) && r->token.kind != K_TOKEN_END)
		k_fail(r, "the head of a function goes on");
}

struct k_function *quote_function(struct arena *arena, const char *text, const char **error)
{
	struct k_reader r = k_reader_new(arena, text);
	struct k_function *function = arena_new(arena, struct k_function);

	read_head(&r, function);
	*error = r.error;
	return r.error ? NULL : function;
}
