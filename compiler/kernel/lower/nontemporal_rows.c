/* SPDX-License-Identifier: MIT
 *
 * Rows of vectors that are stored non-temporally, of as many cells as lines have, which no loop around reads: such a
 * row is stored in one way or the other. Where it is added to in batches, a batch reads what the one before has stored:
 * only the last one stores so. */
#include "kernel/lower/nontemporal_private.h"

enum { LINE = 64 };             /* bytes: PMG_CACHE_LINE */

static bool is_int(const struct k_expr *expr, int64_t value)
{
	return expr->kind == KE_INT && expr->integer == value;
}

/* Is the value a multiple of n, by what is declared around? Vectors of a row lie from its first cell on. */
static bool is_multiple(const struct search *search, const struct k_expr *expr, int64_t n)
{
	const struct k_stmt *stmt;

	if (expr->kind == KE_INT)
		return expr->integer % n == 0;
	if (expr->kind == KE_BINARY && (expr->op == K_ADD || expr->op == K_SUB))
		return is_multiple(search, expr->args.items[0], n) && is_multiple(search, expr->args.items[1], n);
	if (expr->kind == KE_BINARY && expr->op == K_MUL)
		return is_multiple(search, expr->args.items[0], n) || is_multiple(search, expr->args.items[1], n);
	if (expr->kind != KE_NAME)
		return expr_calls(expr, "PMG_VECTOR_START");
	stmt = nontemporal_declaration(search, expr->text);
	if (!stmt)
		return false;
	if (stmt->kind == KS_LET)
		return !stmt->let.is_variable && stmt->let.value && is_multiple(search, stmt->let.value, n);
	return stmt->loop.step && is_multiple(search, stmt->loop.first, n) &&
	       is_multiple(search, stmt->loop.step, n);
}

/* How many cells the vectors have that a loop goes through; 0: it is no such loop. */
static int64_t n_cells(const struct k_loop *loop)
{
	if (loop->kind != K_LOOP_UNROLLED || !is_int(loop->first, 0) || loop->step || loop->is_down ||
	    !expr_calls(loop->bound, "PMG_VECTORS") || loop->bound->args.items[1]->kind != KE_INT)
		return 0;
	return loop->bound->args.items[1]->integer;
}

/* Where in the result the only store of a loop over vectors begins, behind declarations; NULL: it is no such loop. */
static const struct k_expr *row_cell(const struct k_loop *loop)
{
	const int last = loop->body.stmts.n - 1;
	const struct k_stmt *stmt = last >= 0 ? loop->body.stmts.items[last] : NULL;

	for (int i = 0; i < last; i++)
		if (loop->body.stmts.items[i]->kind != KS_LET)
			return NULL;
	if (!stmt || stmt->kind != KS_STORE || stmt->store.targets.n != 1 || stmt->store.op != K_OP_N ||
	    !nontemporal_vector(stmt->store.targets.items[0]))
		return NULL;
	return nontemporal_cell(stmt->store.targets.items[0]);
}

static bool are_whole_lines(struct search *search, const struct k_loop *loop, const struct k_expr *cell)
{
	const struct k_stmt *last = loop->body.stmts.items[loop->body.stmts.n - 1];
	const int64_t n = LINE/nontemporal_vector(last->store.targets.items[0])->size;
	const int visible = search->visible.n;
	bool are;

	for (int i = 0; i + 1 < loop->body.stmts.n; i++)
		vec_push(search->lowered->arena, &search->visible, loop->body.stmts.items[i]);
	are = n_cells(loop) % n == 0 && is_multiple(search, cell->args.items[1], n);
	search->visible.n = visible;
	return are;
}

/* A loop over batches: `end` is declared in it as PMG_UP_TO(first + step, bound). */
struct batches {
	const struct k_loop *loop;      /* NULL: there are none */
	const char *end;
	const char *result;
	int n_reads;                    /* of the result, in its nest, but of what a batch before has stored */
};

static bool is_end(const struct k_stmt *stmt, const struct k_loop *loop)
{
	const struct k_expr *value = stmt->kind == KS_LET ? stmt->let.value : NULL, *begin;

	if (!loop->step || loop->is_down || !expr_calls(value, "PMG_UP_TO"))
		return false;
	begin = value->args.items[0];
	return begin->kind == KE_BINARY && begin->op == K_ADD && expr_names(begin->args.items[0], loop->name) &&
	       k_expr_is_equal(begin->args.items[1], loop->step) &&
	       k_expr_is_equal(value->args.items[1], loop->bound);
}

static struct batches batches_around(const struct search *search, const char *result)
{
	struct batches batches = { .result = result };

	for (int i = search->visible.n; i-- > 0 && !batches.loop;) {
		const struct k_stmt *stmt = search->visible.items[i];

		for (int k = 0; stmt->kind == KS_LOOP && k < stmt->loop.body.stmts.n && !batches.loop; k++)
			if (is_end(stmt->loop.body.stmts.items[k], &stmt->loop)) {
				batches.loop = &stmt->loop;
				batches.end = stmt->loop.body.stmts.items[k]->let.name;
			}
	}
	return batches;
}

static bool is_of_first_batch(const struct batches *batches, const struct k_expr *condition)
{
	return batches->loop && condition->kind == KE_BINARY && condition->op == K_EQ &&
	       expr_names(condition->args.items[0], batches->loop->name) &&
	       k_expr_is_equal(condition->args.items[1], batches->loop->first);
}

static bool count_reads(const struct k_stmt *stmt, void *user)
{
	struct batches *batches = user;
	const struct k_visitor visitor = { .stmt = count_reads, .user = user };
	const struct k_block alone = { .stmts = { .items = (struct k_stmt *[]) { (struct k_stmt *) stmt }, .n = 1 } };

	if (stmt->kind == KS_IF && is_of_first_batch(batches, stmt->branch.condition)) {
		k_walk_block(&stmt->branch.then, &visitor);
		return false;
	}
	if (!k_body((struct k_stmt *) stmt))
		batches->n_reads += k_uses_in_block(&alone, batches->result).reads;
	return true;
}

/* When the row is stored for the last time, if it is stored so; NULL: never. */
static struct k_expr *row_condition(struct search *search, struct result *result)
{
	const char *name = result->let->let.name;
	struct batches batches = { .result = name };
	struct k_expr *flag;

	k_walk_stmt(search->nest, &(struct k_visitor) { .stmt = count_reads, .user = &batches });
	if (batches.n_reads == 0)
		return nontemporal_flag(search, result);
	batches = batches_around(search, name);
	k_walk_stmt(search->nest, &(struct k_visitor) { .stmt = count_reads, .user = &batches });
	if (batches.n_reads > 0)
		return NULL;
	flag = nontemporal_flag(search, result);
	return k_binary(search->lowered->arena, K_AND, flag,
			k_binary(search->lowered->arena, K_EQ, k_name(search->lowered->arena, batches.end),
				 batches.loop->bound));
}

static struct k_stmt *stored_so(const struct search *search, const struct k_stmt *loop)
{
	struct k_stmt *copy = k_copy_stmt(search->lowered->arena, loop, &(struct k_replacing) { 0 });
	struct k_block *body = &copy->loop.body;
	struct k_stmt *store = body->stmts.items[--body->stmts.n];
	struct k_expr *target = store->store.targets.items[0];
	struct k_builder b = k_builder_new(search->lowered->arena, body);

	b.span = store->span;
	k_do(&b, K_CALL(search->lowered->arena, nontemporal_vector(target)->stream,
			nontemporal_cell(target), store->store.value));
	return copy;
}

bool nontemporal_row(struct search *search, struct k_builder *b, struct k_stmt *stmt)
{
	const struct k_expr *cell = n_cells(&stmt->loop) > 0 && search->nest ? row_cell(&stmt->loop) : NULL;
	struct result *result = cell ? nontemporal_result(search, cell->args.items[0]) : NULL;
	struct k_expr *condition = result && are_whole_lines(search, &stmt->loop, cell)
				   ? row_condition(search, result) : NULL;

	if (!condition)
		return false;
	k_begin_if(b, condition);
	k_add_as_it_is(b, stored_so(search, stmt));
	k_begin_else(b);
	k_add_as_it_is(b, stmt);
	k_end(b);
	nontemporal_decide(search, stmt, result, "whole lines of a row, which no loop around reads again");
	return true;
}
