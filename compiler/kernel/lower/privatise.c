/* SPDX-License-Identifier: MIT
 *
 * Private copies. A parallel region that begins with a call of PMG_PRIVATE_… updates a buffer in whatever iteration
 * comes to a cell. Each thread gets a copy of the buffer, or each part if the region is one loop over parts, whose sums
 * then do not depend on the number of threads: a row of memory that is there for the copies. A copy begins with the
 * identity of the operation and takes all that the region did to the buffer. Behind the loops, threads share the cells,
 * and add the copies to each in the order of the threads or parts. Where no region is around the call, one thread
 * updates the buffer itself. */
#include <string.h>

#include "kernel/lower/lower_private.h"

/* As the call says. */
struct copies {
	struct k_expr *combine;         /* the name of a function of both values; NULL: `op` */
	enum k_op op;
	const char *target, *memory;
	struct k_expr *cells, *identity;
	int64_t n_parts;                /* 1: a copy for each thread */
};

struct search {
	struct arena *arena;
	const struct k_function *function;
	name_list visible;
	const struct copies *copies;    /* of the region that is rewritten */
	const char *type, *own;         /* of its elements; the copy */
};

/* ---- names ---- */

static const char *declare(struct search *search, const char *base, const struct k_stmt *inside)
{
	return name_list_new(search->arena, &search->visible, inside, base);
}

struct buffer {
	const char *name, *element;
};

static bool find_element(const struct k_stmt *stmt, void *user)
{
	struct buffer *buffer = user;

	if (!buffer->element && stmt->kind == KS_LET && strcmp(stmt->let.name, buffer->name) == 0)
		buffer->element = stmt->let.type.name;
	return !buffer->element;
}

/* The element type of a buffer that the function, or a part of it, declares. */
static const char *element_of(const struct k_function *function, const char *name)
{
	struct buffer buffer = { .name = name };

	k_walk_block(&function->body, &(struct k_visitor) { .stmt = find_element, .user = &buffer });
	return buffer.element;
}

/* ---- the call ---- */

static bool read_call(const struct k_stmt *region, struct copies *copies)
{
	const struct k_expr *call = k_private_call(region);
	const bool is_function = call && strcmp(call->text, "PMG_PRIVATE_BY") == 0;
	struct k_expr *const *args;

	if (!call)
		return false;
	args = call->args.items + is_function;
	*copies = (struct copies) { .combine = is_function ? call->args.items[0] : NULL,
				    .op = strcmp(call->text, "PMG_PRIVATE_ADD") == 0 ? K_ADD : K_MUL,
				    .target = args[0]->text, .memory = args[1]->text, .cells = args[2],
				    .identity = args[3], .n_parts = args[4]->integer };
	return true;
}

/* ---- statements ---- */

static struct k_stmt *open_cells(struct search *search, struct k_builder *b, const char *i)
{
	return k_begin_for(b, "int64_t", i, k_int(search->arena, 0), search->copies->cells, NULL);
}

/* Where the copy of a number begins. */
static struct k_expr *copy_at(const struct search *search, struct k_expr *number)
{
	return k_join(search->arena, K_MUL, number, search->copies->cells);
}

/* target = target + value */
static void combine(const struct search *search, struct k_builder *b, struct k_expr *target, struct k_expr *value)
{
	const struct copies *copies = search->copies;
	struct arena *a = search->arena;

	if (copies->combine)
		k_set(b, target, k_call(a, copies->combine->text, 2, target, value));
	else if (type_is_narrow(search->type))
		k_set(b, target, k_cast(a, k_scalar(search->type), k_binary(a, copies->op, target, value)));
	else
		k_update(b, copies->op, target, value);
}

/* The copy, with the identity in all cells. */
static void start(struct search *search, struct k_builder *b, struct k_expr *number, const struct k_stmt *inside)
{
	struct arena *a = search->arena;
	const struct copies *copies = search->copies;
	const char *i;

	search->own = declare(search, arena_printf(a, "%s_own", copies->target), inside);
	k_var(b, k_pointer(search->type, false), search->own,
	      k_binary(a, K_ADD, k_name(a, copies->memory), copy_at(search, number)));
	i = declare(search, "i", NULL);
	open_cells(search, b, i)->loop.kind = K_LOOP_SIMD;
	k_set(b, k_at(a, search->own, k_name(a, i)), copies->identity);
	k_end(b);
	search->visible.n--;
}

/* The sum of a cell over all copies: its name. */
static const char *add_up(struct search *search, struct k_builder *b, const char *number, struct k_expr *n,
			  const char *i)
{
	struct arena *a = search->arena;
	const struct copies *copies = search->copies;
	const char *sum = declare(search, copies->op == K_MUL && !copies->combine ? "product" : "sum", NULL);
	struct k_expr *place = k_binary(a, K_ADD, copy_at(search, k_name(a, number)), k_name(a, i));

	k_var(b, k_scalar(search->type), sum, copies->identity);
	k_begin_for(b, "int64_t", number, k_int(a, 0), n, NULL);
	combine(search, b, k_name(a, sum), k_at(a, copies->memory, place));
	k_end(b);
	return sum;
}

static void add_copies(struct search *search, struct k_builder *b)
{
	struct arena *a = search->arena;
	const struct copies *copies = search->copies;
	const bool has_parts = copies->n_parts > 1;
	const char *i = declare(search, "i", NULL);
	const char *number = declare(search, has_parts ? "part" : "thread", NULL);
	struct k_expr *n = has_parts ? k_int(a, copies->n_parts) : k_name(a, declare(search, "n_threads", NULL));
	const char *sum;

	if (!has_parts)
		k_const(b, k_scalar("int64_t"), n->text, k_call(a, "pmg_threads", 0));
	open_cells(search, b, i)->loop.kind = K_LOOP_WORKSHARE;
	sum = add_up(search, b, number, n, i);
	combine(search, b, k_at(a, copies->target, k_name(a, i)), k_name(a, sum));
	k_end(b);
}

/* ---- the region ---- */

static struct k_expr *to_copy(const struct k_expr *expr, void *user)
{
	const struct search *search = user;

	if (expr->kind != KE_NAME || strcmp(expr->text, search->copies->target) != 0)
		return NULL;
	return k_name(search->arena, search->own);
}

/* Adds statements `from` and on of a block, with what they do to the target done to the copy. */
static void redirect(struct search *search, struct k_builder *b, const struct k_block *block, int from)
{
	const struct k_replacing replacing = { .expr = to_copy, .user = search };

	for (int i = from; i < block->stmts.n; i++)
		k_add_as_it_is(b, k_copy_stmt(b->arena, block->stmts.items[i], &replacing));
}

/* Inside of the loop over parts, which stands alone behind the call. Its variable keeps its name for itself. */
static void lower_parts(struct search *search, struct k_stmt *stmt)
{
	struct k_block *body = &stmt->loop.body, out = { 0 };
	struct k_builder b = k_builder_new(search->arena, &out);
	const int visible = search->visible.n;

	b.span = stmt->span;
	vec_push(search->arena, &search->visible, stmt->loop.name);
	start(search, &b, k_name(search->arena, stmt->loop.name), stmt);
	redirect(search, &b, body, 0);
	search->visible.n = visible + 1;
	*body = out;
}

static void lower_region(struct search *search, struct k_stmt *region, const struct copies *copies)
{
	struct k_block out = { 0 };
	struct k_builder b = k_builder_new(search->arena, &out);
	const int visible = search->visible.n;

	b.span = region->span;
	search->copies = copies;
	search->type = element_of(search->function, copies->memory);
	if (copies->n_parts > 1) {
		lower_parts(search, region->body.stmts.items[1]);
		vec_push(search->arena, &out.stmts, region->body.stmts.items[1]);
	} else {
		start(search, &b, k_call(search->arena, "pmg_thread", 0), region);
		redirect(search, &b, &region->body, 1);
	}
	add_copies(search, &b);
	search->visible.n = visible;
	region->body = out;
}

/* ---- the walk ---- */

/* Such a call in a block that one thread runs, where no updates meet. */
static bool is_needless(const struct k_stmt *stmt)
{
	return stmt->kind == KS_CALL && k_effects(stmt->value) & K_CALL_IS_PRIVATE;
}

static bool take(void *user, struct k_block *out, const struct k_block *block, int i)
{
	struct search *search = user;
	struct k_stmt *stmt = block->stmts.items[i];
	struct copies copies;

	if (is_needless(stmt))
		return true;
	if (!read_call(stmt, &copies))
		return false;
	lower_region(search, stmt, &copies);
	name_list_declare(search->arena, &search->visible, stmt);
	vec_push(search->arena, &out->stmts, stmt);
	return true;
}

void lower_privatise(struct k_lowered *lowered)
{
	for (int i = 0; i < lowered->program->functions.n; i++) {
		struct k_function *function = lowered->program->functions.items[i];
		struct search search = { .arena = lowered->arena, .function = function };

		lower_each(lowered, function, &search.visible, take, &search);
	}
}
