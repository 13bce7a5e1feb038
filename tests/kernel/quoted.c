/* SPDX-License-Identifier: MIT
 *
 * Reads the functions of a generated file, line by line, as codegen writes them. */
#include "kernel/quoted.h"

#include <string.h>

#include "kernel/quote.h"

enum { TEXT_MAX = 1 << 22 };

const char *quoted_read(struct arena *arena, const char *path)
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

struct k_function *quoted_function(struct arena *arena, const struct quoted_part *part, const char **error)
{
	const size_t length = (size_t) (part->body - 3 - part->head);
	struct k_function *function = quote_function(arena, arena_copy(arena, part->head, length), error);
	struct k_builder builder;

	if (!function)
		return NULL;
	builder = k_builder_new(arena, &function->body);
	quote_body(&builder, part->body, part->end);
	*error = builder.error;
	if (!builder.error && builder.open.n != 1)
		*error = arena_printf(arena, "%s: a block is open", function->name);
	return *error ? NULL : function;
}

static bool is_of_interface(const char *head, const char *brace)
{
	const char *text = strstr(head, "**"), *const tables = "const pmg_pipeline_desc *const *";

	return (text && text < brace) || strncmp(head, tables, strlen(tables)) == 0;
}

static const char *head_before(const char *file, const char *brace)
{
	const char *head = brace;

	while (head > file && !(head[-1] == '\n' && (head - 1 == file || head[-2] == '\n' || head[-2] == '/')))
		head--;
	return head;
}

bool quoted_next(const char *file, const char **at, struct quoted_part *part)
{
	const char *brace;

	while ((brace = strstr(*at, "\n{\n")) != NULL) {
		const char *end = strstr(brace, "\n}\n");

		*part = (struct quoted_part) { head_before(file, brace), brace + 3, end + 1 };
		*at = brace + 3;
		if (end && !is_of_interface(part->head, brace))
			return true;
	}
	return false;
}

static bool is_of_table(const struct quoted_part *part)
{
	const char *const description = "const pmg_pipeline_desc *";

	return strncmp(part->head, description, strlen(description)) == 0;
}

struct k_program *quoted_text(struct arena *arena, const char *text, const char **error)
{
	struct k_program *program = arena_new(arena, struct k_program);
	struct quoted_part part;
	const char *at = text;

	*error = NULL;
	while (!*error && quoted_next(text, &at, &part))
		if (!is_of_table(&part))
			vec_push(arena, &program->functions, quoted_function(arena, &part, error));
	return *error ? NULL : program;
}

struct k_program *quoted_file(struct arena *arena, const char *path, const char **error)
{
	const char *text = quoted_read(arena, path);

	*error = "cannot be read";
	return text ? quoted_text(arena, text, error) : NULL;
}
