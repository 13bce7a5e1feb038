/* SPDX-License-Identifier: MIT
 *
 * Functions of generated C text, a line at a time. */
#include "kernel/programs.h"

#include <string.h>

#include "codegen/quote.h"

static const char *take_line(struct arena *arena, const char **from)
{
	const size_t length = strcspn(*from, "\n");
	const char *line = arena_copy(arena, *from, length);

	*from += length + ((*from)[length] != '\0');
	return line;
}

static bool ends_with(const char *text, const char *tail)
{
	const size_t n = strlen(text), m = strlen(tail);

	return n >= m && !strcmp(text + n - m, tail);
}

/* The head of a loop may take two lines. */
static const char *take_statement(struct arena *arena, const char **from)
{
	const char *text = take_line(arena, from);

	text += strspn(text, "\t");
	if (!strncmp(text, "for (", 5) && ends_with(text, ";")) {
		const char *rest = take_line(arena, from);

		text = arena_printf(arena, "%s\n%s", text, rest + strspn(rest, "\t"));
	}
	return text;
}

static void quote_body(struct k_builder *builder, const char *from, const char *end)
{
	while (from < end) {
		const char *text = take_statement(builder->arena, &from);

		if (ends_with(text, "{") && !strchr("}* /", *text))
			quote_open_at(builder, "test:1", "%s", text);
		else
			quote_at(builder, "test:1", "%s", text);
	}
}

/* Where the head of the function begins whose body does at `brace`. */
static const char *head_before(const char *text, const char *brace)
{
	const char *head = brace;

	while (head > text && !(head[-1] == '\n' && (head - 1 == text || strchr("\n/}", head[-2]))))
		head--;
	return head;
}

static bool is_kernel_head(const char *head)
{
	return !strncmp(head, "static ", 7) && strstr(head, "pmg_plan *plan") && !strstr(head, "const pmg_plan *plan");
}

static struct k_function *function_of(struct arena *arena, const char *head, const char *body, const char *end,
				      const char **error)
{
	struct k_function *function = quote_function(arena, head, error);
	struct k_builder builder;

	if (!function)
		return NULL;
	builder = k_builder_new(arena, &function->body);
	quote_body(&builder, body, end);
	*error = builder.error ? builder.error : builder.open.n != 1 ? "a block stays open" : NULL;
	return *error ? NULL : function;
}

struct k_program *program_of_text(struct arena *arena, const char *text, const char **error)
{
	struct k_program *program = arena_new(arena, struct k_program);

	for (const char *brace = strstr(text, "\n{\n"); brace; brace = strstr(brace + 1, "\n{\n")) {
		const char *end = strstr(brace, "\n}\n"), *from = head_before(text, brace);
		const char *head = arena_copy(arena, from, (size_t) (brace - from));
		struct k_function *function;

		if (!end || !is_kernel_head(head))
			continue;
		function = function_of(arena, head, brace + 3, end + 1, error);
		if (!function)
			return NULL;
		vec_push(arena, &program->functions, function);
	}
	return program;
}

/* ---- descriptions ---- */

/* The text behind ".KEY = " up to one of the characters that end it; NULL: the description has no such field. */
static const char *field_of(struct arena *arena, const char *description, const char *key, const char *ends)
{
	const char *at = strstr(description, arena_printf(arena, "\n\t.%s = ", key));

	if (!at)
		return NULL;
	at = strchr(at, '=') + 2;
	at += *at == '"';
	return arena_copy(arena, at, strcspn(at, ends));
}

const char *kernel_of_text(struct arena *arena, const char *text, const char *pipeline, const char *choice)
{
	static const char start[] = "_description = {\n";

	for (const char *at = strstr(text, start); at; at = strstr(at + 1, start)) {
		const char *end = strstr(at, "\n};\n");
		const char *description = arena_copy(arena, at, (size_t) (end - at));
		const char *name = field_of(arena, description, "name", "\""), *of = NULL;

		of = field_of(arena, description, "choice", "\"");
		if (name && !strcmp(name, pipeline) && !strcmp(of ? of : "", choice ? choice : ""))
			return field_of(arena, description, "kernel", ",");
	}
	return NULL;
}
