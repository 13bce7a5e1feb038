/* SPDX-License-Identifier: MIT
 *
 * Reads the functions of a generated file, line by line, as codegen writes them. */
#include "kernel/quoted.h"

#include <string.h>

#include "codegen/quote.h"

enum { TEXT_MAX = 1 << 22 };

static const char *read_file(struct arena *arena, const char *path)
{
	FILE *file = fopen(path, "r");
	char *text;

	if (!file)
		return NULL;
	text = arena_alloc(arena, TEXT_MAX);
	text[fread(text, 1, TEXT_MAX - 1, file)] = '\0';
	fclose(file);
	return text;
}

/* The line at *from, which goes behind it. */
static const char *take_line(struct arena *arena, const char **from, const char *end)
{
	size_t length = strcspn(*from, "\n");
	const char *line = arena_copy(arena, *from, length);

	*from += length + (*from + length < end);
	return line;
}

static bool ends_with(const char *text, const char *tail)
{
	size_t n = strlen(text), m = strlen(tail);

	return n >= m && strcmp(text + n - m, tail) == 0;
}

/* The head of a `for` may have two lines. */
static const char *join_head(struct arena *arena, const char *text, const char **from, const char *end)
{
	const char *rest;

	if (strncmp(text, "for (", strlen("for (")) != 0 || !ends_with(text, ";"))
		return text;
	rest = take_line(arena, from, end);
	return arena_printf(arena, "%s\n%s", text, rest + strspn(rest, "\t"));
}

static void quote_body(struct k_builder *builder, const char *from, const char *end)
{
	while (from < end) {
		const char *text = take_line(builder->arena, &from, end);

		text = join_head(builder->arena, text + strspn(text, "\t"), &from, end);
		if (ends_with(text, "{") && !strchr("}* /", *text))
			quote_open_at(builder, "quoted.c:1", "%s", text);
		else
			quote_at(builder, "quoted.c:1", "%s", text);
	}
}

/* `head` up to the line of the brace, the body up to the closing one. */
static struct k_function *quote_one(struct arena *arena, const char *head, const char *body, const char *end,
				    const char **error)
{
	struct k_function *function = quote_function(arena, arena_copy(arena, head, (size_t) (body - 3 - head)), error);
	struct k_builder builder;

	if (!function)
		return NULL;
	builder = k_builder_new(arena, &function->body);
	quote_body(&builder, body, end);
	*error = builder.error;
	if (!builder.error && builder.open.n != 1)
		*error = arena_printf(arena, "%s: a block is open", function->name);
	return *error ? NULL : function;
}

/* Pointers to pointers, and tables. */
static bool is_of_interface(const char *head, const char *brace)
{
	const char *text = strstr(head, "**");

	return (text && text < brace) ||
	       strncmp(head, "const pmg_pipeline_desc", strlen("const pmg_pipeline_desc")) == 0;
}

static const char *head_before(const char *file, const char *brace)
{
	const char *head = brace;

	while (head > file && !(head[-1] == '\n' && (head - 1 == file || head[-2] == '\n' || head[-2] == '/')))
		head--;
	return head;
}

struct k_program *quoted_text(struct arena *arena, const char *text, const char **error)
{
	struct k_program *program = arena_new(arena, struct k_program);
	const char *brace = text;

	*error = NULL;
	while (!*error && (brace = strstr(brace, "\n{\n")) != NULL) {
		const char *end = strstr(brace, "\n}\n"), *head = head_before(text, brace);

		if (end && !is_of_interface(head, brace))
			vec_push(arena, &program->functions, quote_one(arena, head, brace + 3, end + 1, error));
		brace += 3;
	}
	return *error ? NULL : program;
}

struct k_program *quoted_file(struct arena *arena, const char *path, const char **error)
{
	const char *text = read_file(arena, path);

	*error = "cannot be read";
	return text ? quoted_text(arena, text, error) : NULL;
}
