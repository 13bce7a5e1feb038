/* SPDX-License-Identifier: MIT
 *
 * Elements that lanes read, loaded into registers one round ahead. In a loop of which each lane of a team has an
 * iteration,
 *
 *     for (k_first = first; k_first < end; k_first += pmg_team)
 *         is_in = k_first + pmg_lane < end
 *         k = is_in ? k_first + pmg_lane : end - 1
 *         … PMG_ONCE(index[k]) … PMG_ONCE(buf[n]) …, n being PMG_ONCE(index[k])
 *
 * each lane reads the element of its next iteration while it works at this one. It does the same with what such an
 * element is the subscript of; the subscript is then read one iteration earlier still.
 *
 * Only what is read in each round: an operand of a choice exists only if it is chosen, and what lanes agree to leave
 * out is not read. Only where an element keeps its value meanwhile: the loop writes no `index`, the kernel no `buf`. */
#include <string.h>

#include "kernel/lower/lower_private.h"

enum { NONE = -2, BY_LANE = -1 };

/* An array of which each lane reads an element in each round. */
struct stream {
	const char *array;
	int by;                         /* the stream whose elements are the subscripts; BY_LANE: iterations are */
	bool has_later;                 /* other streams need its elements one round earlier */
	const char *now, *ahead, *later;        /* variables: elements of this round and the next two; NULL */
};

struct search {
	struct arena *arena;
	const struct k_function *function;
	name_list visible;
	const struct k_loop *loop;      /* that is rewritten */
	const char *iteration;          /* the variable for that of the lane */
	VEC(struct stream) streams;
};

/* ---- the loop ---- */

static const struct k_expr *value_of_let(const struct k_block *block, int i)
{
	return i < block->stmts.n && block->stmts.items[i]->kind == KS_LET ? block->stmts.items[i]->let.value : NULL;
}

/* The variable for the iteration of a lane; NULL: the loop is none over a team's iterations. */
static const char *iteration_of(struct arena *a, const struct k_stmt *stmt)
{
	const struct k_loop *loop = &stmt->loop;
	const struct k_expr *own, *is_in, *value;

	if (stmt->kind != KS_LOOP || loop->kind != K_LOOP_SERIAL || loop->is_down ||
	    !is_name_of(loop->step, "pmg_team"))
		return NULL;
	own = k_binary(a, K_ADD, k_name(a, loop->name), k_name(a, "pmg_lane"));
	is_in = value_of_let(&loop->body, 0);
	value = value_of_let(&loop->body, 1);
	if (!is_in || is_in->kind != KE_BINARY || is_in->op != K_LT ||
	    !k_expr_is_equal(is_in->args.items[0], own) || !k_expr_is_equal(is_in->args.items[1], loop->bound) ||
	    !value || value->kind != KE_SELECT ||
	    !is_name_of(value->args.items[0], loop->body.stmts.items[0]->let.name) ||
	    !k_expr_is_equal(value->args.items[1], own))
		return NULL;
	return loop->body.stmts.items[1]->let.name;
}

/* How many statements the head has: both declarations, and that the second one may be unused. */
static int head_length(const struct search *search)
{
	const struct k_block *body = &search->loop->body;

	return body->stmts.n > 2 && body->stmts.items[2]->kind == KS_UNUSED ? 3 : 2;
}

/* ---- what its names are ---- */

struct declaration {
	const char *name;
	const struct k_expr *value;     /* NULL: blocks declare different ones, or a variable */
	bool is_found;
};

static bool note_declaration(const struct k_stmt *stmt, void *user)
{
	struct declaration *declaration = user;
	const struct k_expr *value = stmt->kind == KS_LET && !stmt->let.is_variable ? stmt->let.value : NULL;

	if (stmt->kind != KS_LET || strcmp(stmt->let.name, declaration->name) != 0)
		return true;
	if (declaration->is_found && value &&
	    (!declaration->value || !k_expr_is_equal(declaration->value, value)))
		value = NULL;
	declaration->value = value;
	declaration->is_found = true;
	return true;
}

/* The value of a constant of the loop; NULL: it is none, or its name has several. */
static const struct k_expr *value_of(const struct search *search, const char *name)
{
	struct declaration declaration = { .name = name };

	k_walk_block(&search->loop->body, &(struct k_visitor) { .stmt = note_declaration, .user = &declaration });
	return declaration.value;
}

/* Have lanes agreed upon the value of a condition? */
static bool is_agreed_upon(const struct search *search, const struct k_expr *condition)
{
	const struct k_expr *value = condition->kind == KE_NAME ? value_of(search, condition->text) : NULL;

	return value && (k_effects(value) & (K_CALL_IS_BARRIER | K_CALL_IS_OF_LANE)) == K_CALL_IS_BARRIER;
}

/* ---- streams ---- */

static int find_stream(const struct search *search, const char *array, int by)
{
	for (int i = 0; i < search->streams.n; i++)
		if (search->streams.items[i].by == by && strcmp(search->streams.items[i].array, array) == 0)
			return i;
	return NONE;
}

/* array[index] of PMG_ONCE(array[index]); NULL: it is another expression. */
static const struct k_expr *element_of(const struct k_expr *expr)
{
	const struct k_expr *element = is_call_of(expr, "PMG_ONCE") ? expr->args.items[0] : NULL;

	return element && element->kind == KE_LOAD && element->args.items[0]->kind == KE_NAME ? element : NULL;
}

/* The index array that a subscript is an element of, for the lane's iteration; NULL: it is another subscript. */
static const char *index_array_of(const struct search *search, const struct k_expr *subscript)
{
	const struct k_expr *value = subscript->kind == KE_NAME ? value_of(search, subscript->text) : subscript;
	const struct k_expr *element = element_of(value);

	return element && is_name_of(element->args.items[1], search->iteration) ? element->args.items[0]->text : NULL;
}

/* What a subscript comes from: BY_LANE, a stream, or NONE. */
static int find_by(const struct search *search, const struct k_expr *subscript)
{
	const char *array = index_array_of(search, subscript);

	if (is_name_of(subscript, search->iteration))
		return BY_LANE;
	return array ? find_stream(search, array, BY_LANE) : NONE;
}

static bool is_const_parameter(const struct search *search, const char *array)
{
	for (int i = 0; i < search->function->params.n; i++)
		if (strcmp(search->function->params.items[i].name, array) == 0)
			return search->function->params.items[i].type.is_const;
	return false;
}

static bool loop_writes(const struct search *search, const char *array)
{
	const struct k_uses uses = k_uses_in_block(&search->loop->body, array);

	return uses.writes > 0 || uses.addresses > 0;
}

static void add_stream(struct search *search, const char *array, int by)
{
	const bool keeps_value = by == BY_LANE ? !loop_writes(search, array) : is_const_parameter(search, array);

	if (by == NONE || !keeps_value || find_stream(search, array, by) != NONE)
		return;
	vec_push(search->arena, &search->streams, ((struct stream) { .array = array, .by = by }));
	if (by != BY_LANE)
		search->streams.items[by].has_later = true;
}

static void note_element(struct search *search, const struct k_expr *element)
{
	const struct k_expr *subscript = element->args.items[1];
	const char *index = index_array_of(search, subscript);

	if (index)
		add_stream(search, index, BY_LANE);
	add_stream(search, element->args.items[0]->text, find_by(search, subscript));
}

static bool note_reads(const struct k_expr *expr, void *user)
{
	struct search *search = user;
	const struct k_expr *element = element_of(expr);

	if (element)
		note_element(search, element);
	if (expr->kind == KE_SELECT)
		k_walk_expr(expr->args.items[0], &(struct k_visitor) { .expr = note_reads, .user = user });
	return expr->kind != KE_SELECT;
}

static bool is_in_each_round(const struct k_stmt *stmt, void *user)
{
	return stmt->kind != KS_IF || !is_agreed_upon(user, stmt->branch.condition);
}

/* ---- above the loop, and at its head ---- */

static const char *declare(struct search *search, const struct stream *stream, const char *what,
			   const struct k_stmt *inside)
{
	const char *base = arena_printf(search->arena, "%s_%s", stream->array, what);

	return name_list_new(search->arena, &search->visible, inside, base);
}

static const char *subscripts_of(const struct search *search, const struct stream *stream)
{
	return search->streams.items[stream->by].ahead;
}

/* Sets a variable to the element of the round behind the one at `first`. */
static struct k_expr *next_of(const struct search *search, const struct stream *stream, const char *variable,
			      struct k_expr *first)
{
	struct arena *a = search->arena;

	return K_CALL(a, "PMG_NEXT", k_name(a, variable), k_name(a, stream->array), first, search->loop->bound);
}

static struct k_expr *next_at_of(const struct search *search, const struct stream *stream, struct k_expr *first)
{
	struct arena *a = search->arena;

	return K_CALL(a, "PMG_NEXT_AT", k_name(a, stream->ahead), k_name(a, stream->array),
		      k_name(a, subscripts_of(search, stream)), first, search->loop->bound);
}

static struct k_expr *first_of(const struct search *search, const struct stream *stream)
{
	struct arena *a = search->arena;
	struct k_expr *array = k_name(a, stream->array), *first = search->loop->first, *end = search->loop->bound;

	if (stream->by == BY_LANE)
		return K_CALL(a, "PMG_FIRST", array, first, end);
	return K_CALL(a, "PMG_FIRST_AT", array, k_name(a, subscripts_of(search, stream)), first, end);
}

/* What lanes have in the first round, and behind it. */
static void begin(struct search *search, struct k_builder *b, const struct k_stmt *stmt)
{
	struct arena *a = search->arena;

	for (int i = 0; i < search->streams.n; i++) {
		struct stream *stream = &search->streams.items[i];

		stream->ahead = declare(search, stream, "ahead", stmt);
		k_var(b, k_scalar("auto"), stream->ahead, first_of(search, stream));
		if (!stream->has_later)
			continue;
		stream->later = declare(search, stream, "later", stmt);
		k_var(b, k_scalar("auto"), stream->later, k_name(a, stream->ahead));
		k_do(b, next_of(search, stream, stream->later, search->loop->first));
	}
}

/* What was read for later is what is read ahead now. */
static void move_on(const struct search *search, struct k_builder *b, const struct stream *stream, struct k_expr *first)
{
	struct arena *a = search->arena;

	k_set(b, k_name(a, stream->ahead), k_name(a, stream->later));
	k_do(b, next_of(search, stream, stream->later, k_binary(a, K_ADD, first, k_name(a, "pmg_team"))));
}

/* What lanes have in this round, and in the next one. */
static void go_on(struct search *search, struct k_builder *b, const struct k_stmt *stmt)
{
	struct k_expr *first = k_name(search->arena, search->loop->name);

	for (int i = 0; i < search->streams.n; i++) {
		struct stream *stream = &search->streams.items[i];

		stream->now = declare(search, stream, "now", stmt);
		k_const(b, k_scalar("auto"), stream->now, k_name(search->arena, stream->ahead));
		if (stream->by != BY_LANE)
			k_do(b, next_at_of(search, stream, first));
		else if (stream->has_later)
			move_on(search, b, stream, first);
		else
			k_do(b, next_of(search, stream, stream->ahead, first));
	}
}

/* ---- the rest ---- */

static struct k_expr *to_register(const struct k_expr *expr, void *user);

/* Only the condition of a choice is evaluated in any case. */
static struct k_expr *with_condition(struct search *search, const struct k_expr *select)
{
	const struct k_replacing nothing = { 0 }, reads = { .expr = to_register, .user = search };
	struct k_expr *copy = k_copy_expr(search->arena, select, &nothing);

	copy->args.items[0] = k_copy_expr(search->arena, select->args.items[0], &reads);
	return copy;
}

static struct k_expr *to_register(const struct k_expr *expr, void *user)
{
	struct search *search = user;
	const struct k_expr *element = element_of(expr), *subscript = element ? element->args.items[1] : NULL;
	const int by = element ? find_by(search, subscript) : NONE;
	const int i = element ? find_stream(search, element->args.items[0]->text, by) : NONE;
	struct k_expr *now;

	if (expr->kind == KE_SELECT)
		return with_condition(search, expr);
	if (i < 0)
		return NULL;
	now = k_name(search->arena, search->streams.items[i].now);
	return by == BY_LANE || subscript->kind != KE_NAME
	     ? now : K_CALL(search->arena, "PMG_READ_AT", now, k_name(search->arena, subscript->text));
}

static struct k_block rewritten(struct search *search, const struct k_stmt *stmt)
{
	const struct k_block *body = &stmt->loop.body;
	const struct k_replacing reads = { .expr = to_register, .user = search };
	const int head = head_length(search);
	struct k_block out = { 0 };
	struct k_builder b = k_builder_new(search->arena, &out);

	for (int i = 0; i < head; i++)
		k_add_as_it_is(&b, body->stmts.items[i]);
	b.span = stmt->span;
	go_on(search, &b, stmt);
	for (int i = head; i < body->stmts.n; i++)
		k_add_as_it_is(&b, k_copy_stmt(search->arena, body->stmts.items[i], &reads));
	return out;
}

/* Adds the loop, with what it prefetches. */
static void lower_loop(struct search *search, struct k_builder *b, struct k_stmt *stmt)
{
	int visible;

	search->loop = &stmt->loop;
	search->streams.n = 0;
	k_walk_block(&stmt->loop.body, &(struct k_visitor) { is_in_each_round, note_reads, search });
	b->span = stmt->span;
	begin(search, b, stmt);
	visible = search->visible.n;
	if (search->streams.n > 0)
		stmt->loop.body = rewritten(search, stmt);
	search->visible.n = visible;
	k_add_as_it_is(b, stmt);
}

/* ---- the walk ---- */

static bool take(void *user, struct k_block *out, const struct k_block *block, int i)
{
	struct search *search = user;
	struct k_stmt *stmt = block->stmts.items[i];
	struct k_builder b = k_builder_new(search->arena, out);

	search->iteration = iteration_of(search->arena, stmt);
	if (!search->iteration)
		return false;
	lower_loop(search, &b, stmt);
	name_list_declare(search->arena, &search->visible, stmt);
	return true;
}

void lower_lane_loads(struct k_lowered *lowered)
{
	for (int i = 0; i < lowered->program->functions.n; i++) {
		struct k_function *function = lowered->program->functions.items[i];
		struct search search = { .arena = lowered->arena, .function = function };

		if (function->kind == K_FUNCTION_DEVICE)
			lower_each(lowered, function, &search.visible, take, &search);
	}
}
