/* SPDX-License-Identifier: MIT
 *
 * How long a block is: in lines, as C has them, one for each statement, head, `else` and brace. */
#include <string.h>

#include "kernel/kernel.h"

static int lines_of_text(const char *text)
{
	int n = 1;

	while ((text = strchr(text, '\n')) != NULL) {
		n++;
		text++;
	}
	return n;
}

/* A head, a brace, and a line that says how the loop runs. */
static int length_of_loop(enum k_loop_kind kind, const struct k_block *body)
{
	const bool has_line = kind != K_LOOP_SERIAL && kind != K_LOOP_GRID && kind != K_LOOP_LANES;

	return 2 + has_line + k_length(body);
}

static int length_of_if(const struct k_if *branch)
{
	if (branch->is_bare)
		return 1 + k_length(&branch->then);
	return 2 + k_length(&branch->then) + (branch->has_otherwise ? 1 + k_length(&branch->otherwise) : 0);
}

static int length_of_stmt(const struct k_stmt *stmt)
{
	switch (stmt->kind) {
	case KS_BLOCK:
		return 2 + k_length(&stmt->body);
	case KS_PARALLEL:
		return 3 + k_length(&stmt->body);
	case KS_LOOP:
		return length_of_loop(stmt->loop.kind, &stmt->loop.body);
	case KS_WHILE:
		return length_of_loop(stmt->repeat.kind, &stmt->repeat.body);
	case KS_IF:
		return length_of_if(&stmt->branch);
	case KS_LET:
		return !stmt->let.is_joined;
	case KS_STORE:
		return 1 + (stmt->store.mode == K_STORE_ATOMIC);
	case KS_COMMENT:
		return lines_of_text(stmt->text);
	case KS_RECORD:
		return 2 + k_length(&stmt->record.fields);
	case KS_CALL: case KS_RETURN: case KS_BREAK: case KS_CONTINUE: case KS_UNUSED: case KS_BLANK: case KS_N:
		break;
	}
	return 1;
}

int k_length(const struct k_block *block)
{
	int n = 0;

	for (int i = 0; i < block->stmts.n; i++)
		n += length_of_stmt(block->stmts.items[i]);
	return n;
}
