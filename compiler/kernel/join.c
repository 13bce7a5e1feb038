/* SPDX-License-Identifier: MIT
 *
 * Declarations that stand in one line: at the head of a function, those of one type, as far as a line reaches; further
 * inside, neighbours of one type that are constant numbers, or have no value yet. What a value reads stays declared
 * before it. */
#include <string.h>

#include "kernel/kernel_private.h"

enum { COLUMNS = 120, INDENT = 8 };

struct declaration {                    /* a line */
	VEC(struct k_stmt *) lets;
	size_t length;
};

typedef VEC(struct declaration) declaration_list;

static bool can_be_joined(const struct k_let *let)
{
	return !let->is_known && let->space != K_SPACE_SHARED && let->type.name && strcmp(let->type.name, "auto");
}

/* In columns, behind the type. */
static size_t declarator_length(struct arena *arena, const struct k_let *let)
{
	const size_t extents = let->extents.n ? strlen(k_expr_text(arena, let->extents.items[0])) + strlen("[]") : 0;
	const size_t value = let->value ? strlen(k_expr_text(arena, let->value)) + strlen(" = ") : 0;

	const size_t pointer = let->type.is_pointer ? strlen("*") : 0;
	const size_t restricted = let->type.is_restrict ? strlen("restrict ") : 0;

	return pointer + restricted + strlen(let->name) + extents + value + strlen(", ");
}

static bool mentions_any(const struct k_expr *value, const struct declaration *line)
{
	bool mentions = false;

	for (int i = 0; value && i < line->lets.n; i++)
		mentions |= k_expr_mentions(value, line->lets.items[i]->let.name);
	return mentions;
}

static bool has_room(const struct declaration *line, const struct k_let *let, size_t length)
{
	const struct k_let *first = &line->lets.items[0]->let;

	return can_be_joined(first) && can_be_joined(let) && k_type_is_equal(&first->type, &let->type) &&
	       line->length + length <= COLUMNS;
}

/* The last line that has room and stands behind all that the value reads; NULL: there is none. */
static struct declaration *line_for(const declaration_list *lines, const struct k_let *let, size_t length)
{
	for (int i = lines->n - 1; i >= 0; i--) {
		struct declaration *line = &lines->items[i];

		if (has_room(line, let, length))
			return line;
		if (mentions_any(let->value, line))
			break;
	}
	return NULL;
}

static void add_let(struct arena *arena, declaration_list *lines, struct k_stmt *stmt, int depth)
{
	const size_t length = declarator_length(arena, &stmt->let);
	struct declaration *line = line_for(lines, &stmt->let, length);
	struct declaration fresh = { .length = INDENT*(size_t) depth };

	if (!line) {
		fresh.length += stmt->let.type.name ? strlen("const ") + strlen(stmt->let.type.name) : 0;
		vec_push(arena, lines, fresh);
		line = &lines->items[lines->n - 1];
	}
	line->length += length;
	stmt->let.is_joined = line->lets.n > 0;
	vec_push(arena, &line->lets, stmt);
}

/* The declarations first..last-1. */
static void join(struct arena *arena, struct k_block *block, int first, int last, int depth)
{
	declaration_list lines = { 0 };

	for (int i = first; i < last; i++)
		add_let(arena, &lines, block->stmts.items[i], depth);
	for (int i = 0; i < lines.n; i++)
		for (int k = 0; k < lines.items[i].lets.n; k++)
			block->stmts.items[first++] = lines.items[i].lets.items[k];
}

/* What stands ahead of the first empty line. */
static void join_head(struct arena *arena, struct k_block *body)
{
	int end = 0, first = 0;

	while (end < body->stmts.n && body->stmts.items[end]->kind != KS_BLANK)
		end++;
	for (int i = 0; i <= end && end < body->stmts.n; i++)
		if (body->stmts.items[i]->kind != KS_LET) {
			join(arena, body, first, i, 1);
			first = i + 1;
		}
}

/* A constant number, or one that has no value yet. */
static bool is_plain(const struct k_stmt *stmt)
{
	return stmt->kind == KS_LET && !stmt->let.is_joined && can_be_joined(&stmt->let) &&
	       (!stmt->let.value || (stmt->let.type.is_const && !stmt->let.type.is_pointer));
}

static bool are_alike(const struct k_stmt *a, const struct k_stmt *b)
{
	return is_plain(a) && is_plain(b) && k_type_is_equal(&a->let.type, &b->let.type) &&
	       !a->let.value == !b->let.value && a->let.space == b->let.space;
}

static void join_neighbours(struct arena *arena, struct k_block *block, int depth)
{
	for (int i = 0, end; i < block->stmts.n; i = end) {
		struct k_stmt *stmt = block->stmts.items[i];
		struct k_block *body = stmt->kind == KS_RECORD ? NULL : k_body(stmt);

		for (end = i + 1; end < block->stmts.n && are_alike(stmt, block->stmts.items[end]); end++)
			;
		if (end > i + 1)
			join(arena, block, i, end, depth);
		if (body)
			join_neighbours(arena, body, depth + 1);
		if (stmt->kind == KS_IF)
			join_neighbours(arena, &stmt->branch.otherwise, depth + 1);
	}
}

void k_join_declarations(struct arena *arena, struct k_program *program)
{
	for (int f = 0; f < program->functions.n; f++) {
		struct k_function *function = program->functions.items[f];

		if (function->is_elsewhere)
			continue;
		if (function->kind != K_FUNCTION_DEVICE)
			join_head(arena, &function->body);
		join_neighbours(arena, &function->body, 1);
	}
}
