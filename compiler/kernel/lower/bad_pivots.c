/* SPDX-License-Identifier: MIT
 *
 * Pivots of loops whose iterations are lanes of vectors. A check that may tell of a bad pivot,
 *
 *     pmg_check_pivot(plan, pivot, number, row, s)
 *
 * is a call with an effect, which no compiler makes vectors of. Such a loop finds the least number of an iteration
 * whose pivot is bad (pmg_first_bad of runtime/pmgrt_pivot.h), a reduction, and that one is told of behind it.
 *
 * What the check says of its pivot is computed again there, from the variable of the loop: constants of the body are
 * declared again, which only arithmetic on it may give. The first check of a loop is found so; one that stands in an
 * inner loop has no such number. What each thread finds of a loop that a team shares would have to be brought together
 * by hand, unless that team ends with the loop. */
#include <string.h>

#include "kernel/lower/lower_private.h"

enum { PLAN, PIVOT, NUMBER, ROW, SYSTEM };      /* arguments of pmg_check_pivot */

struct search {
	struct k_lowered *lowered;
	name_list visible;
};

/* ---- the check of a loop ---- */

static bool is_of_vectors(const struct k_loop *loop)
{
	return loop->kind == K_LOOP_SIMD ||
	       (loop->kind == K_LOOP_WORKSHARE && loop->is_simd && loop->share.starts_team);
}

static bool is_check(const struct k_stmt *stmt)
{
	return stmt->kind == KS_CALL && stmt->value->kind == KE_CALL &&
	       strcmp(stmt->value->text, "pmg_check_pivot") == 0;
}

static struct k_stmt *find_check(const struct k_block *block);

/* The check that a statement of a loop is, or has under a condition; one without braces comes with its condition. */
static struct k_stmt *check_in(struct k_stmt *stmt)
{
	struct k_stmt *found;

	if (is_check(stmt))
		return stmt;
	if (stmt->kind == KS_BLOCK)
		return find_check(&stmt->body);
	if (stmt->kind != KS_IF)
		return NULL;
	found = find_check(&stmt->branch.then);
	if (found && stmt->branch.is_bare)
		return stmt;
	return found ? found : find_check(&stmt->branch.otherwise);
}

/* The first one; NULL: there is none. */
static struct k_stmt *find_check(const struct k_block *block)
{
	struct k_stmt *found = NULL;

	for (int i = 0; i < block->stmts.n && !found; i++)
		found = check_in(block->stmts.items[i]);
	return found;
}

static const struct k_expr *call_of(const struct k_stmt *check)
{
	return check->kind == KS_IF ? check->branch.then.stmts.items[0]->value : check->value;
}

/* ---- what it says of its pivot ---- */

/* The end of a loop's body, which is made anew: a block behind the loop. */
struct telling {
	struct arena *arena;
	const struct k_loop *loop;
	struct k_block declared;        /* constants of the body, last one first, and then the call */
	bool is_known;
};

static bool is_arithmetic(const struct k_expr *expr, void *user)
{
	bool *is = user;

	*is = *is && (expr->kind == KE_INT || expr->kind == KE_NAME || expr->kind == KE_UNARY ||
		      expr->kind == KE_BINARY || expr->kind == KE_CAST);
	return *is;
}

static bool can_be_repeated(const struct k_let *let)
{
	bool can = let->value && !let->is_variable && let->extents.n == 0;

	if (can)
		k_walk_expr(let->value, &(struct k_visitor) { .expr = is_arithmetic, .user = &can });
	return can;
}

static bool check_declared(const struct k_stmt *stmt, void *user)
{
	struct telling *telling = user;
	const char *name = stmt->kind == KS_LET ? stmt->let.name : stmt->kind == KS_LOOP ? stmt->loop.name : NULL;

	telling->is_known = telling->is_known && (!name || !k_mentions(&telling->declared, name));
	return true;
}

/* Constants of the body that the call mentions go with it; with any other name of the body, it is not known. */
static struct telling telling_of(struct arena *arena, const struct k_loop *loop, const struct k_expr *call)
{
	struct telling telling = { .arena = arena, .loop = loop, .is_known = true };
	struct k_stmt *stmt = k_stmt(arena, KS_CALL);
	struct k_block others = { 0 };

	stmt->value = k_copy_expr(arena, call, &(struct k_replacing) { 0 });
	stmt->value->args.items[PIVOT] = k_int(arena, 0);
	vec_push(arena, &telling.declared.stmts, stmt);
	for (int i = loop->body.stmts.n; i-- > 0;) {
		struct k_stmt *each = loop->body.stmts.items[i];

		if (each->kind == KS_LET && can_be_repeated(&each->let) &&
		    k_mentions(&telling.declared, each->let.name))
			vec_push(arena, &telling.declared.stmts, each);
		else
			vec_push(arena, &others.stmts, each);
	}
	k_walk_block(&others, &(struct k_visitor) { .stmt = check_declared, .user = &telling });
	return telling;
}

/* ---- the loop ---- */

/* if (first != INT64_MAX) { s = first & ~PMG_NOT_FINITE; …; pmg_check_pivot(plan, pmg_pivot_at(first), …, s); } */
static void tell(struct k_builder *b, const struct telling *telling, const char *name)
{
	struct arena *a = b->arena;
	struct k_expr *first = k_name(a, name), *call = telling->declared.stmts.items[0]->value;
	struct k_expr *is_found = k_binary(a, K_NE, first, k_int(a, INT64_MAX));

	call->args.items[PIVOT] = K_CALL(a, "pmg_pivot_at", first);
	k_begin_if(b, K_CALL(a, "__builtin_expect", is_found, k_int(a, 0)));
	k_const(b, telling->loop->type, telling->loop->name,
		k_binary(a, K_BIT_AND, first, k_unary(a, K_INVERT, k_name(a, "PMG_NOT_FINITE"))));
	for (int i = telling->declared.stmts.n; i-- > 1;)
		k_add(b, k_copy_stmt(a, telling->declared.stmts.items[i], &(struct k_replacing) { 0 }), EMITTER);
	k_do(b, call);
	k_end(b);
}

/* The check becomes first = pmg_first_bad(first, pivot, s), or, of one with a condition, what `first` was without. */
static void search_there(struct arena *a, struct k_stmt *check, const struct k_loop *loop, const char *name)
{
	struct k_expr *first = k_name(a, name);
	struct k_expr *found = K_CALL(a, "pmg_first_bad", first, call_of(check)->args.items[PIVOT],
				      k_name(a, loop->name));
	struct k_stmt *store;

	if (check->kind == KS_IF)
		found = k_select(a, check->branch.condition, found, first);
	store = k_store_of(a, K_OP_N, first, found);
	store->span = check->span;
	store->emitter = EMITTER;
	*check = *store;
}

static void decide(struct k_lowered *lowered, struct span span, const char *variable)
{
	lower_decide(lowered, (struct k_decision) {
		.span = span, .subject = variable, .chosen = "finds the first bad pivot",
		.alternatives = "tells of each bad pivot at once",
		.reason = "a call in the loop would keep it from running in vectors"
	});
}

/* Adds statement `i` of the block, a loop, with the search around it; false: it has none. */
static bool add_searching(struct search *search, struct k_block *out, const struct k_block *block, int i)
{
	struct arena *arena = search->lowered->arena;
	struct k_stmt *stmt = block->stmts.items[i];
	struct k_stmt *check = is_of_vectors(&stmt->loop) ? find_check(&stmt->loop.body) : NULL;
	struct k_builder b = k_builder_new(arena, out);
	struct telling telling;
	const char *first;

	if (!check)
		return false;
	telling = telling_of(arena, &stmt->loop, call_of(check));
	if (!telling.is_known)
		return false;
	b.span = stmt->span;
	first = name_list_ahead(arena, &search->visible, block, i, "first");
	decide(search->lowered, check->span, stmt->loop.name);
	k_var(&b, k_scalar("int64_t"), first, k_int(arena, INT64_MAX));
	search_there(arena, check, &stmt->loop, first);
	vec_push(arena, &stmt->loop.reductions, ((struct k_reduction) { "min", first }));
	vec_push(arena, &out->stmts, stmt);
	tell(&b, &telling, first);
	return true;
}

/* ---- the walk ---- */

static bool take(void *user, struct k_block *out, const struct k_block *block, int i)
{
	return block->stmts.items[i]->kind == KS_LOOP && add_searching(user, out, block, i);
}

void lower_bad_pivots(struct k_lowered *lowered)
{
	for (int i = 0; i < lowered->program->functions.n; i++) {
		struct search search = { .lowered = lowered };

		lower_each(lowered, lowered->program->functions.items[i], &search.visible, take, &search);
	}
}
