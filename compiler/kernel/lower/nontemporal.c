/* SPDX-License-Identifier: MIT
 *
 * Non-temporal stores of results. A store through the caches reads the line first, and a result that is larger than
 * the caches is written back before anybody reads it. So whole lines of it are stored past them, if the runtime finds
 * its rows to begin with lines, and the result large enough: pmg_uses_nontemporal in runtime/tune/memory_policy.h, the
 * one threshold. What is stored is one of:
 *
 * - a row of vectors, of as many cells as lines have, which no loop around reads: it is stored in one way or the other.
 *   Where it is added to in batches, a batch reads what the one before has stored: only the last one stores so.
 * - a block of lanes: it stays in the caches, where its loops read it, and each vector is stored in its place besides.
 *
 * Behind parallel loops and executions, others see these stores as all others (pmgrt_row.h). */
#include <string.h>

#include "kernel/lower/lower_private.h"

enum { LINE = 64 };             /* bytes: PMG_CACHE_LINE */

/* By the name of the element type. */
static const struct element { const char *type, *read, *write, *stream; int64_t size; } elements[] = {
	{ "double", "PMG_READ_F64", "PMG_WRITE_F64", "PMG_STREAM_F64", 8 },
	{ "float", "PMG_READ_F32", "PMG_WRITE_F32", "PMG_STREAM_F32", 4 }
};

struct result {                 /* a buffer of the caller */
	const struct k_stmt *let;
	const char *flag;       /* the variable that says whether it is stored so; NULL: nobody asks */
};

struct place {                  /* of a block of lanes */
	const char *block;
	const char *other;      /* where it is stored besides, unless that is NULL */
};

struct search {
	struct k_lowered *lowered;
	const struct k_function *function;
	VEC(struct result) results;
	VEC(struct place) places;
	VEC(const struct k_stmt *) visible;     /* declarations and loops around */
	const struct k_stmt *nest;              /* the outermost loop around; NULL */
};

static struct arena *arena_of(const struct search *search)
{
	return search->lowered->arena;
}

static bool is_name(const struct k_expr *expr, const char *name)
{
	return expr->kind == KE_NAME && strcmp(expr->text, name) == 0;
}

static bool is_call(const struct k_expr *expr, const char *function)
{
	return expr && expr->kind == KE_CALL && strcmp(expr->text, function) == 0;
}

static bool is_int(const struct k_expr *expr, int64_t value)
{
	return expr->kind == KE_INT && expr->integer == value;
}

static struct result *result_find(struct search *search, const struct k_expr *name)
{
	for (int i = 0; i < search->results.n; i++)
		if (is_name(name, search->results.items[i].let->let.name))
			return &search->results.items[i];
	return NULL;
}

static void decide(const struct search *search, const struct k_stmt *stmt, const struct result *result,
		   const char *reason)
{
	lower_decide(search->lowered, (struct k_decision) {
		.span = stmt->span, .subject = result->let->let.name, .chosen = "non-temporal stores",
		.alternatives = "stores through the caches", .reason = reason
	});
}

/* ---- names ---- */

static const char *name_of(const struct k_stmt *stmt)
{
	return stmt->kind == KS_LET ? stmt->let.name : stmt->loop.name;
}

static const struct k_stmt *declaration_of(const struct search *search, const char *name)
{
	for (int i = search->visible.n; i-- > 0;)
		if (strcmp(name_of(search->visible.items[i]), name) == 0)
			return search->visible.items[i];
	return NULL;
}

static bool is_param(const struct k_function *function, const char *name)
{
	for (int i = 0; i < function->params.n; i++)
		if (strcmp(function->params.items[i].name, name) == 0)
			return true;
	return false;
}

/* `base`, or with a number behind it: visible nowhere around, and mentioned nowhere in the block. */
static const char *new_name(const struct search *search, const struct k_block *block, const char *base)
{
	const char *name = base;

	for (int i = 2; declaration_of(search, name) || is_param(search->function, name) || k_mentions(block, name);
	     i++)
		name = arena_printf(arena_of(search), "%s_%d", base, i);
	return name;
}

static struct k_expr *flag_of(const struct search *search, struct result *result)
{
	const char *base = arena_printf(arena_of(search), "%s_is_nontemporal", result->let->let.name);

	if (!result->flag)
		result->flag = new_name(search, &search->function->body, base);
	return k_name(arena_of(search), result->flag);
}

/* ---- stores ---- */

/* The cell that a target sets, with a vector or alone. */
static struct k_expr *cell_of(struct k_expr *target)
{
	if (target->kind == KE_CALL && k_effects(target) & K_CALL_IS_TARGET)
		target = target->args.items[0];
	return target->kind == KE_LOAD && target->args.items[0]->kind == KE_NAME ? target : NULL;
}

/* Of a target that is a vector of whole elements; NULL: it is no such. */
static const struct element *vector_of(const struct k_expr *target)
{
	for (size_t i = 0; i < sizeof elements / sizeof *elements; i++)
		if (is_call(target, elements[i].write))
			return &elements[i];
	return NULL;
}

/* The target that is in the buffer; NULL. */
static struct k_expr *target_in(const struct k_stmt *stmt, const char *buffer)
{
	for (int i = 0; stmt->kind == KS_STORE && i < stmt->store.targets.n; i++) {
		struct k_expr *cell = cell_of(stmt->store.targets.items[i]);

		if (cell && is_name(cell->args.items[0], buffer))
			return stmt->store.targets.items[i];
	}
	return NULL;
}

/* ---- blocks of lanes ---- */

struct stores {                 /* to a block */
	const char *block;
	int n, n_vectors;       /* of all; of vectors that are there to stay */
};

static bool count_store(const struct k_stmt *stmt, void *user)
{
	struct stores *stores = user;
	const struct k_expr *target = target_in(stmt, stores->block);

	stores->n += target != NULL;
	stores->n_vectors += target && !stmt->store.is_interim && vector_of(target);
	return true;
}

/* Are all stores to the block behind statement i known, and vectors among those that are there to stay? */
static bool is_stored_in_vectors(const struct k_block *block, int i, const char *name)
{
	const struct k_block rest = { .stmts = { .items = block->stmts.items + i + 1, .n = block->stmts.n - i - 1 } };
	const struct k_uses uses = k_uses_in_block(&rest, name);
	struct stores stores = { .block = name };

	k_walk_block(&rest, &(struct k_visitor) { .stmt = count_store, .user = &stores });
	return stores.n_vectors > 0 && uses.writes == stores.n && uses.addresses == 0;
}

static const char *suffix_behind(const char *name, const char *prefix)
{
	const size_t n = strlen(prefix);

	return strncmp(name, prefix, n) == 0 ? name + n : NULL;
}

/* Opens a block for what is stored, which then is no memory of the caller if it is stored there besides. Segments are
 * in memory of their own in any case. Returns the call that says where that is; NULL: this opens none. */
static struct k_expr *open_besides(const struct search *search, struct k_expr *open)
{
	const char *of_block = suffix_behind(open->text, "pmg_block_open_");
	const char *of_segments = suffix_behind(open->text, "pmg_segments_open_");
	struct k_expr *call;

	if (!of_block && !of_segments)
		return NULL;
	if (of_block)
		open->text = arena_printf(arena_of(search), "pmg_block_keep_%s", of_block);
	call = k_call(arena_of(search), arena_printf(arena_of(search), "pmg_%s_nontemporal_%s",
						     of_block ? "block" : "segments",
						     of_block ? of_block : of_segments), 0);
	for (int i = 1; i < open->args.n; i++)
		vec_push(arena_of(search), &call->args, open->args.items[i]);
	return call;
}

static void lower_let(struct search *search, struct k_builder *b, const struct k_block *block, int i)
{
	struct k_stmt *stmt = block->stmts.items[i];
	struct k_expr *value = stmt->let.value, *call;
	const struct result *result = value && value->kind == KE_CALL && value->args.n > 2
				      ? result_find(search, value->args.items[2]) : NULL;
	struct place place = { .block = stmt->let.name };

	if (!result || !is_stored_in_vectors(block, i, place.block) || !(call = open_besides(search, value)))
		return;
	place.other = new_name(search, block, arena_printf(arena_of(search), "%s_nontemporal",
							   result->let->let.name));
	k_var(b, stmt->let.type, place.other, call);
	vec_push(arena_of(search), &search->places, place);
	decide(search, stmt, result, "whole lines of a block of lanes, stored besides where its loops read it");
}

/* Where a lane keeps what is there, it may have no place. */
static struct k_expr *where_stored(struct arena *arena, const struct k_stmt *stmt, const struct k_expr *target,
				   const char *other)
{
	struct k_expr *value = stmt->store.value, *name = k_name(arena, other);

	if (value->kind != KE_SELECT || !k_expr_is_equal(value->args.items[2], target))
		return name;
	return k_join(arena, K_AND, name, value->args.items[0]);
}

static void store_besides(const struct search *search, struct k_builder *b, const struct k_stmt *stmt,
			  const struct place *place)
{
	struct arena *a = arena_of(search);
	struct k_expr *target = target_in(stmt, place->block), *cell, *other;
	const struct element *vector = target ? vector_of(target) : NULL;

	if (!target || stmt->store.is_interim)
		return;
	cell = cell_of(target);
	other = k_at(a, place->other, cell->args.items[1]);
	k_only_if(b, vector ? k_name(a, place->other) : where_stored(a, stmt, target, place->other));
	if (vector)
		k_do(b, K_CALL(a, vector->stream, other, K_CALL(a, vector->read, cell)));
	else
		k_set(b, other, cell);
}

/* Brings the block to its place, if it is not there: lane by lane, non-temporally. */
static void lower_put(struct search *search, struct k_builder *b, struct k_expr *call)
{
	struct result *result = NULL;

	if (suffix_behind(call->text, "pmg_segments_put_") || suffix_behind(call->text, "pmg_ragged_write_"))
		result = result_find(search, call->args.items[2]);
	for (int i = 0; result && i < search->places.n; i++)
		if (is_name(call->args.items[0], search->places.items[i].block))
			k_only_if(b, k_unary(b->arena, K_NOT, k_name(b->arena, search->places.items[i].other)));
	if (result)
		call->args.items[call->args.n - 1] = flag_of(search, result);
}

/* ---- rows ---- */

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
		return is_call(expr, "PMG_VECTOR_START");
	stmt = declaration_of(search, expr->text);
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
	    !is_call(loop->bound, "PMG_VECTORS") || loop->bound->args.items[1]->kind != KE_INT)
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
	    !vector_of(stmt->store.targets.items[0]))
		return NULL;
	return cell_of(stmt->store.targets.items[0]);
}

static bool are_whole_lines(struct search *search, const struct k_loop *loop, const struct k_expr *cell)
{
	const struct k_stmt *last = loop->body.stmts.items[loop->body.stmts.n - 1];
	const int64_t n = LINE/vector_of(last->store.targets.items[0])->size;
	const int visible = search->visible.n;
	bool are;

	for (int i = 0; i + 1 < loop->body.stmts.n; i++)
		vec_push(arena_of(search), &search->visible, loop->body.stmts.items[i]);
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

	if (!loop->step || loop->is_down || !is_call(value, "PMG_UP_TO"))
		return false;
	begin = value->args.items[0];
	return begin->kind == KE_BINARY && begin->op == K_ADD && is_name(begin->args.items[0], loop->name) &&
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
	       is_name(condition->args.items[0], batches->loop->name) &&
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
		return flag_of(search, result);
	batches = batches_around(search, name);
	k_walk_stmt(search->nest, &(struct k_visitor) { .stmt = count_reads, .user = &batches });
	if (batches.n_reads > 0)
		return NULL;
	flag = flag_of(search, result);
	return k_binary(arena_of(search), K_AND, flag,
			k_binary(arena_of(search), K_EQ, k_name(arena_of(search), batches.end),
				 batches.loop->bound));
}

static struct k_stmt *stored_so(const struct search *search, const struct k_stmt *loop)
{
	struct k_stmt *copy = k_copy_stmt(arena_of(search), loop, &(struct k_replacing) { 0 });
	struct k_block *body = &copy->loop.body;
	struct k_stmt *store = body->stmts.items[--body->stmts.n];
	struct k_expr *target = store->store.targets.items[0];
	struct k_builder b = k_builder_new(arena_of(search), body);

	b.span = store->span;
	k_do(&b, K_CALL(arena_of(search), vector_of(target)->stream, cell_of(target), store->store.value));
	return copy;
}

/* Adds the loop; false: it is no row that is stored so. */
static bool lower_row(struct search *search, struct k_builder *b, struct k_stmt *stmt)
{
	const struct k_expr *cell = n_cells(&stmt->loop) > 0 && search->nest ? row_cell(&stmt->loop) : NULL;
	struct result *result = cell ? result_find(search, cell->args.items[0]) : NULL;
	struct k_expr *condition = result && are_whole_lines(search, &stmt->loop, cell)
				   ? row_condition(search, result) : NULL;

	if (!condition)
		return false;
	k_begin_if(b, condition);
	k_add_as_it_is(b, stored_so(search, stmt));
	k_begin_else(b);
	k_add_as_it_is(b, stmt);
	k_end(b);
	decide(search, stmt, result, "whole lines of a row, which no loop around reads again");
	return true;
}

/* ---- the walk ---- */

static void lower_block(struct search *search, struct k_block *block);

static void lower_inside(struct search *search, struct k_stmt *stmt)
{
	const struct k_stmt *nest = search->nest;
	const int visible = search->visible.n;

	if (stmt->kind == KS_RECORD || !k_body(stmt))
		return;
	if (stmt->kind == KS_LOOP) {
		search->nest = nest ? nest : stmt;
		vec_push(arena_of(search), &search->visible, stmt);
	}
	if (stmt->kind == KS_IF)
		lower_block(search, &stmt->branch.otherwise);
	lower_block(search, k_body(stmt));
	search->visible.n = visible;
	search->nest = nest;
}

static void lower_stmt(struct search *search, struct k_builder *b, const struct k_block *block, int i)
{
	struct k_stmt *stmt = block->stmts.items[i];

	b->span = stmt->span;
	if (stmt->kind == KS_CALL && stmt->value->kind == KE_CALL)
		lower_put(search, b, stmt->value);
	if (b->bare)
		k_add(b, stmt, stmt->emitter);
	else if (stmt->kind != KS_LOOP || !lower_row(search, b, stmt))
		k_add_as_it_is(b, stmt);
	if (stmt->kind == KS_LET)
		lower_let(search, b, block, i);
	for (int k = 0; k < search->places.n; k++)
		store_besides(search, b, stmt, &search->places.items[k]);
}

static void lower_block(struct search *search, struct k_block *block)
{
	const int visible = search->visible.n, places = search->places.n;
	struct k_block out = { 0 };
	struct k_builder b = k_builder_new(arena_of(search), &out);

	for (int i = 0; i < block->stmts.n; i++) {
		lower_inside(search, block->stmts.items[i]);
		lower_stmt(search, &b, block, i);
		if (block->stmts.items[i]->kind == KS_LET)
			vec_push(arena_of(search), &search->visible, block->stmts.items[i]);
	}
	search->visible.n = visible;
	search->places.n = places;
	*block = out;
}

/* ---- functions ---- */

/* Results are declared as `let x: double * = plan->data[3]`. */
static bool is_of_plan(const struct k_expr *value)
{
	return value && value->kind == KE_LOAD && value->args.items[0]->kind == KE_MEMBER &&
	       strcmp(value->args.items[0]->text, "data") == 0;
}

static void find_results(struct search *search)
{
	const struct k_block *body = &search->function->body;

	for (int i = 0; i < body->stmts.n; i++) {
		const struct k_stmt *stmt = body->stmts.items[i];

		if (stmt->kind == KS_LET && stmt->let.is_result && is_of_plan(stmt->let.value))
			vec_push(arena_of(search), &search->results, ((struct result) { .let = stmt }));
	}
}

static void add_flags(struct search *search, struct k_block *body)
{
	struct k_block out = { 0 };
	struct k_builder b = k_builder_new(arena_of(search), &out);

	for (int i = 0; i < body->stmts.n; i++) {
		const struct k_stmt *stmt = body->stmts.items[i];
		const struct result *result = stmt->kind == KS_LET
					      ? result_find(search, k_name(b.arena, stmt->let.name)) : NULL;

		k_add_as_it_is(&b, body->stmts.items[i]);
		b.span = stmt->span;
		if (result && result->let == stmt && result->flag)
			k_const(&b, k_scalar("bool"), result->flag,
				K_CALL(b.arena, "pmg_is_nontemporal", stmt->let.value->args.items[0]->args.items[0],
				       stmt->let.value->args.items[1]));
	}
	*body = out;
}

static void lower_function(struct k_lowered *lowered, struct k_function *function)
{
	struct search search = { .lowered = lowered, .function = function };

	find_results(&search);
	if (search.results.n == 0)
		return;
	lower_block(&search, &function->body);
	add_flags(&search, &function->body);
}

void lower_nontemporal(struct k_lowered *lowered)
{
	for (int i = 0; lowered->target->has_nontemporal && i < lowered->program->functions.n; i++)
		lower_function(lowered, lowered->program->functions.items[i]);
}
