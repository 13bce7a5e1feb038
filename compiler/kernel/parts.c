/* SPDX-License-Identifier: MIT
 *
 * What a statement is made of: where its expressions and the statements inside of it are, in the order of the text. Of
 * a loop that is where it begins, its bound, its step, which iterations run here, how threads share them, and then the
 * body. Who walks, copies or compares trees goes through this table, and knows no kind of statement by itself. */
#include <stddef.h>

#include "kernel/kernel_private.h"

#define EXPR(field) { K_PART_EXPR, offsetof(struct k_stmt, field) }
#define EXPRS(field) { K_PART_EXPRS, offsetof(struct k_stmt, field) }
#define BLOCK(field) { K_PART_BLOCK, offsetof(struct k_stmt, field) }
#define STMT(field) { K_PART_STMT, offsetof(struct k_stmt, field) }
#define FIELDS(field) { K_PART_FIELDS, offsetof(struct k_stmt, field) }

enum { MOST_PARTS = 11 };

/* A row ends where its parts do. */
static const struct k_part parts[KS_N + 1][MOST_PARTS] = {
	[KS_BLOCK] = { BLOCK(body) },
	[KS_LET] = { EXPRS(let.extents), EXPR(let.value) },
	[KS_STORE] = { EXPRS(store.targets), EXPR(store.value) },
	[KS_LOOP] = { EXPR(loop.first), EXPR(loop.bound), EXPR(loop.step), EXPR(loop.number), EXPR(loop.count),
		      EXPR(loop.share.chunk), EXPR(loop.share.threads), EXPR(loop.row.length), EXPR(loop.row.alone),
		      BLOCK(loop.body) },
	[KS_WHILE] = { BLOCK(repeat.before), EXPR(repeat.condition), STMT(repeat.after), BLOCK(repeat.body) },
	[KS_IF] = { EXPR(branch.condition), BLOCK(branch.then), BLOCK(branch.otherwise) },
	[KS_CALL] = { EXPR(value) },
	[KS_PARALLEL] = { EXPR(value), BLOCK(body) },
	[KS_RETURN] = { EXPR(value) },
	[KS_RECORD] = { EXPR(record.alignment), FIELDS(record.fields) },
	[KS_UNUSED] = { EXPR(value) },
};

const struct k_part *k_parts(const struct k_stmt *stmt)
{
	return parts[stmt->kind];
}

void *k_part_at(const struct k_stmt *stmt, const struct k_part *part)
{
	return (char *) (uintptr_t) stmt + part->offset;
}

struct k_exprs k_part_exprs(const struct k_stmt *stmt, const struct k_part *part)
{
	k_expr_list *list = k_part_at(stmt, part);

	if (part->sort == K_PART_EXPRS)
		return (struct k_exprs) { list->items, list->n };
	return part->sort == K_PART_EXPR ? (struct k_exprs) { k_part_at(stmt, part), 1 } : (struct k_exprs) { NULL, 0 };
}

struct k_stmts k_part_stmts(const struct k_stmt *stmt, const struct k_part *part)
{
	struct k_block *block = k_part_at(stmt, part);
	struct k_stmt **alone = k_part_at(stmt, part);

	if (part->sort == K_PART_BLOCK)
		return (struct k_stmts) { block->stmts.items, block->stmts.n };
	return part->sort == K_PART_STMT && *alone ? (struct k_stmts) { alone, 1 } : (struct k_stmts) { NULL, 0 };
}
