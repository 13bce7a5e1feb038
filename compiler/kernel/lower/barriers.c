/* SPDX-License-Identifier: MIT
 *
 * Barriers of teams that are blocks. A kernel is built with one around each loop that lanes share. Lanes need to wait
 * only where a dependence crosses them: where one may touch what another has touched since the last barrier, and one of
 * the two writes. So all barriers of such a kernel are dropped, and one is put before each statement that conflicts
 * with what was touched since the last one.
 *
 * What is touched is known by buffer: memory, or an array that lanes share. Two loops over the lanes do not conflict
 * where each lane has the same cells in both: their variables begin alike, and both indices are a number times the
 * variable plus what is the same all along. In a loop that runs in order, what its last iterations touched is there at
 * its begin; this is repeated until nothing is added. Conditions and bounds of loops around are the same for all. */
#include <string.h>

#include "kernel/affine.h"
#include "kernel/lower/lower_private.h"

static const char barrier_name[] = "PMG_BLOCK_SYNC";

struct touch {
	const char *buffer;
	bool writes;
	struct k_expr *index;           /* NULL: any */
	const struct k_loop *lanes;     /* the loop over the lanes that it is in; NULL: all lanes do it, or one does */
};

typedef VEC(struct touch) touch_list;

struct placing {
	struct arena *arena;
	name_list own;                  /* arrays and variables of each lane */
	name_list fixed;                /* names with one value in all of the kernel */
	name_list other, same;          /* second names of arrays that lanes share, and their first ones */
	int n_before, n_placed;
};

/* ---- what a statement touches ---- */

/* A name for memory that another name has, which touches nothing. */
static bool is_pointer_to_array(const struct k_stmt *stmt)
{
	return stmt->kind == KS_LET && stmt->let.type.is_pointer && stmt->let.value && stmt->let.value->kind == KE_NAME;
}

struct collecting {
	struct placing *placing;
	touch_list *touches;
	const struct k_loop *lanes;
};

/* The array by whose name the memory was declared. */
static const char *memory_of(const struct placing *placing, const char *buffer)
{
	for (int i = 0; i < placing->other.n; i++)
		if (!strcmp(placing->other.items[i], buffer))
			return placing->same.items[i];
	return buffer;
}

static void add_touch(const struct collecting *c, const char *buffer, struct k_expr *index, bool writes)
{
	const struct touch touch = { memory_of(c->placing, buffer), writes, index, c->lanes };

	if (!name_list_has(&c->placing->own, touch.buffer))
		vec_push(c->placing->arena, c->touches, touch);
}

static bool collect_expr(const struct k_expr *expr, void *user);

struct pointers {
	const struct collecting *collecting;
	bool are_written;
};

static bool collect_pointer(const struct k_expr *expr, void *user)
{
	const struct pointers *pointers = user;

	if (expr->kind != KE_NAME || !expr->type.is_pointer)
		return collect_expr(expr, (void *) (uintptr_t) pointers->collecting);
	add_touch(pointers->collecting, expr->text, NULL, pointers->are_written);
	return true;
}

/* What calls.def says of pointers: those that lead to what is only read, or may be written. */
static void collect_call(const struct collecting *c, const struct k_expr *call)
{
	const struct k_callee *callee = k_callee_find(call->text);

	for (int i = 0; i < call->args.n; i++) {
		const char letter = callee ? k_callee_argument(callee, i) : 'o';
		struct pointers pointers = { c, letter != 'r' && letter != 'c' && letter != 'v' };

		k_walk_expr(call->args.items[i], &(struct k_visitor) { .expr = collect_pointer, .user = &pointers });
	}
}

static bool collect_expr(const struct k_expr *expr, void *user)
{
	const struct collecting *c = user;

	if (expr->kind == KE_CALL) {
		collect_call(c, expr);
		return false;
	}

	if (expr->kind == KE_LOAD && expr->args.items[0]->kind == KE_NAME) {
		add_touch(c, expr->args.items[0]->text, expr->args.items[1], false);
		k_walk_expr(expr->args.items[1], &(struct k_visitor) { .expr = collect_expr, .user = user });
		return false;
	}
	if (expr->kind == KE_NAME && expr->type.is_pointer)
		add_touch(c, expr->text, NULL, true);
	return true;
}

static void collect_target(const struct collecting *c, const struct k_expr *target)
{
	if (target->kind == KE_LOAD && target->args.items[0]->kind == KE_NAME)
		add_touch(c, target->args.items[0]->text, target->args.items[1], true);
}

static bool collect_stmt(const struct k_stmt *stmt, void *user)
{
	struct collecting *c = user;

	if (is_pointer_to_array(stmt))
		return false;
	if (stmt->kind == KS_LOOP && stmt->loop.kind == K_LOOP_LANES)
		c->lanes = &stmt->loop;
	for (int i = 0; stmt->kind == KS_STORE && i < stmt->store.targets.n; i++)
		collect_target(c, stmt->store.targets.items[i]);
	return true;
}

static touch_list touches_of(struct placing *placing, const struct k_stmt *stmt)
{
	touch_list touches = { 0 };
	struct collecting c = { placing, &touches, NULL };

	k_walk_stmt(stmt, &(struct k_visitor) { collect_stmt, collect_expr, &c });
	return touches;
}

/* ---- conflicts ---- */

/* index = factor*variable + rest, the rest being the same all along. */
static bool split_index(const struct placing *placing, const struct touch *touch, int64_t *factor, struct affine *rest)
{
	const struct affine index = affine_of(placing->arena, touch->index);

	*factor = 0;
	*rest = affine_constant(index.constant);
	for (int i = 0; i < index.terms.n; i++) {
		const struct term *term = &index.terms.items[i];

		if (term_is_name(term, touch->lanes->name)) {
			*factor = term->factor;
			continue;
		}
		if (term->atom->kind != KE_NAME || !name_list_has(&placing->fixed, term->atom->text))
			return false;
		vec_push(placing->arena, &rest->terms, *term);
	}
	return *factor != 0;
}

static bool begin_alike(const struct k_loop *a, const struct k_loop *b)
{
	return k_expr_is_equal(a->first, b->first) && !a->is_down && !b->is_down && !a->step && !b->step &&
	       (a->count ? b->count && k_expr_is_equal(a->count, b->count) : !b->count);
}

/* Has each lane the same cells in both? */
static bool are_of_one_lane(const struct placing *placing, const struct touch *a, const struct touch *b)
{
	struct affine rest_a, rest_b;
	int64_t factor_a, factor_b;

	return a->lanes && b->lanes && a->index && b->index && begin_alike(a->lanes, b->lanes) &&
	       split_index(placing, a, &factor_a, &rest_a) && split_index(placing, b, &factor_b, &rest_b) &&
	       factor_a == factor_b && affine_is_equal(placing->arena, &rest_a, &rest_b);
}

static bool is_conflict(const struct placing *placing, const struct touch *a, const struct touch *b)
{
	return (a->writes || b->writes) && !strcmp(a->buffer, b->buffer) && !are_of_one_lane(placing, a, b);
}

static bool conflicts(const struct placing *placing, const touch_list *pending, const touch_list *touches)
{
	for (int i = 0; i < pending->n; i++)
		for (int j = 0; j < touches->n; j++)
			if (is_conflict(placing, &pending->items[i], &touches->items[j]))
				return true;
	return false;
}

static bool is_same_touch(const struct touch *a, const struct touch *b)
{
	return a->writes == b->writes && a->lanes == b->lanes && a->index == b->index && !strcmp(a->buffer, b->buffer);
}

/* False: all were there. */
static bool add_all(struct arena *arena, touch_list *to, const touch_list *from)
{
	const int before = to->n;

	for (int i = 0; i < from->n; i++) {
		bool is_there = false;

		for (int j = 0; j < to->n && !is_there; j++)
			is_there = is_same_touch(&to->items[j], &from->items[i]);
		if (!is_there)
			vec_push(arena, to, from->items[i]);
	}
	return to->n > before;
}

/* ---- where barriers stand ---- */

static bool is_barrier(const struct k_stmt *stmt)
{
	return stmt->kind == KS_CALL && stmt->value->kind == KE_NAME && !strcmp(stmt->value->text, barrier_name);
}

static bool find_barrier(const struct k_stmt *stmt, void *user)
{
	*(int *) user += is_barrier(stmt);
	return true;
}

static int n_barriers(const struct k_stmt *stmt)
{
	int n = 0;

	k_walk_stmt(stmt, &(struct k_visitor) { .stmt = find_barrier, .user = &n });
	return n;
}

static touch_list copy_of(struct arena *arena, const touch_list *list)
{
	touch_list copy = { 0 };

	add_all(arena, &copy, list);
	return copy;
}

/* What is added goes to `out`; changes `pending` to what was touched since the last barrier. */
static void place_block(struct placing *placing, const struct k_block *block, touch_list *pending, struct k_block *out);

static void wait_before(struct placing *placing, const struct k_stmt *stmt, touch_list *pending, struct k_block *out)
{
	struct k_stmt *barrier = k_stmt(placing->arena, KS_CALL);

	barrier->value = k_name(placing->arena, barrier_name);
	barrier->span = stmt->span;
	barrier->emitter = EMITTER;
	vec_push(placing->arena, &out->stmts, barrier);
	placing->n_placed++;
	*pending = (touch_list) { 0 };
}

/* A team has one iteration of a loop over the grid, unless that is strided. */
static void place_loop(struct placing *placing, struct k_stmt *copy, touch_list *pending)
{
	const struct k_block body = copy->loop.body;
	const bool is_once = copy->loop.kind == K_LOOP_GRID && !copy->loop.is_strided;
	touch_list at_begin = copy_of(placing->arena, pending), at_end;
	const int n_placed = placing->n_placed;

	do {
		placing->n_placed = n_placed;
		copy->loop.body = (struct k_block) { 0 };
		at_end = copy_of(placing->arena, &at_begin);
		place_block(placing, &body, &at_end, &copy->loop.body);
	} while (add_all(placing->arena, &at_begin, &at_end) && !is_once);
	add_all(placing->arena, pending, &at_end);
}

static void place_if(struct placing *placing, struct k_stmt *copy, touch_list *pending)
{
	const struct k_block then = copy->branch.then, otherwise = copy->branch.otherwise;
	touch_list other = copy_of(placing->arena, pending);

	copy->branch.then = copy->branch.otherwise = (struct k_block) { 0 };
	place_block(placing, &then, pending, &copy->branch.then);
	place_block(placing, &otherwise, &other, &copy->branch.otherwise);
	add_all(placing->arena, pending, &other);
}

/* A statement with barriers inside. */
static void place_inside(struct placing *placing, const struct k_stmt *stmt, touch_list *pending, struct k_block *out)
{
	struct k_stmt *copy = arena_new(placing->arena, struct k_stmt);
	struct k_block body;

	*copy = *stmt;
	if (stmt->kind == KS_LOOP) {
		place_loop(placing, copy, pending);
	} else if (stmt->kind == KS_IF) {
		place_if(placing, copy, pending);
	} else {
		body = copy->body;
		copy->body = (struct k_block) { 0 };
		place_block(placing, &body, pending, &copy->body);
	}
	vec_push(placing->arena, &out->stmts, copy);
}

static void place_stmt(struct placing *placing, struct k_stmt *stmt, touch_list *pending, struct k_block *out)
{
	const touch_list touches = touches_of(placing, stmt);

	if (conflicts(placing, pending, &touches))
		wait_before(placing, stmt, pending, out);
	add_all(placing->arena, pending, &touches);
	vec_push(placing->arena, &out->stmts, stmt);
}

static void place_block(struct placing *placing, const struct k_block *block, touch_list *pending, struct k_block *out)
{
	for (int i = 0; i < block->stmts.n; i++) {
		struct k_stmt *stmt = block->stmts.items[i];

		if (is_barrier(stmt))
			continue;
		if (n_barriers(stmt))
			place_inside(placing, stmt, pending, out);
		else
			place_stmt(placing, stmt, pending, out);
	}
}

/* ---- kernels ---- */

static bool note_names(const struct k_stmt *stmt, void *user)
{
	struct placing *placing = user;
	const bool is_shared = stmt->kind == KS_LET && stmt->let.extents.n && stmt->let.space == K_SPACE_SHARED;

	const bool is_other = is_pointer_to_array(stmt);

	if (stmt->kind == KS_LET && !is_shared && !is_other)
		vec_push(placing->arena, &placing->own, stmt->let.name);
	if (is_other) {
		vec_push(placing->arena, &placing->other, stmt->let.name);
		vec_push(placing->arena, &placing->same, memory_of(placing, stmt->let.value->text));
	}
	if (stmt->kind == KS_LOOP && stmt->loop.kind == K_LOOP_GRID && !stmt->loop.is_strided)
		vec_push(placing->arena, &placing->fixed, stmt->loop.name);
	placing->n_before += is_barrier(stmt);
	return true;
}

/* Can barriers inside be moved: only statements that have blocks, and no other barrier, are around them? */
static bool find_other(const struct k_stmt *stmt, void *user)
{
	bool *has_other = user;

	*has_other |= stmt->kind == KS_WHILE || stmt->kind == KS_PARALLEL ||
		      (stmt->kind == KS_CALL && !is_barrier(stmt) && k_effects(stmt->value) & K_CALL_IS_BARRIER);
	return true;
}

static void lower_kernel(struct k_lowered *lowered, struct k_function *function)
{
	struct placing placing = { .arena = lowered->arena };
	struct k_block out = { 0 };
	touch_list pending = { 0 };
	bool has_other = false;

	k_walk_block(&function->body, &(struct k_visitor) { .stmt = note_names, .user = &placing });
	k_walk_block(&function->body, &(struct k_visitor) { .stmt = find_other, .user = &has_other });
	if (placing.n_before == 0 || has_other)
		return;
	for (int i = 0; i < function->params.n; i++)
		if (!function->params.items[i].type.is_pointer)
			vec_push(lowered->arena, &placing.fixed, function->params.items[i].name);
	place_block(&placing, &function->body, &pending, &out);
	function->body = out;
	lower_decide(lowered, (struct k_decision) {
		.span = function->head.span, .subject = function->name,
		.chosen = arena_printf(lowered->arena, "%d barriers", placing.n_placed),
		.alternatives = arena_printf(lowered->arena, "%d", placing.n_before),
		.reason = "lanes wait where one may touch what another has touched"
	});
}

void lower_barriers(struct k_lowered *lowered)
{
	for (int i = 0; i < lowered->program->functions.n; i++)
		if (lowered->program->functions.items[i]->kind == K_FUNCTION_DEVICE)
			lower_kernel(lowered, lowered->program->functions.items[i]);
}
