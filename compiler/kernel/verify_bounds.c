/* SPDX-License-Identifier: MIT
 *
 * Indices of a function's own arrays, where both are known: extents that are numbers, or the vectors that hold so many
 * lanes, against indices that are computed from numbers, constants and variables of loops between numbers. What an `if`
 * or a jump may keep from being reached is not looked at. */
#include <string.h>

#include "kernel/kernel_private.h"

enum {
	DEPTH = 16                      /* of constants that are computed from others */
};

#define FAR (INT64_C(1) << 40)          /* numbers beyond it are not known */

struct range {
	bool has_lo, has_hi;
	int64_t lo, hi;
};

static struct range range_of(const struct k_scope *place, const struct k_expr *expr, int depth);

static const struct range unknown = { false, false, 0, 0 };

static struct range range_new(bool has_lo, int64_t lo, bool has_hi, int64_t hi)
{
	const bool is_lo = has_lo && lo > -FAR && lo < FAR, is_hi = has_hi && hi > -FAR && hi < FAR;

	return (struct range) { is_lo, is_hi, is_lo ? lo : 0, is_hi ? hi : 0 };
}

static bool is_number(const struct range *a)
{
	return a->has_lo && a->has_hi && a->lo == a->hi;
}

/* ---- arithmetic ------------------------------------------------------------------------------------ */

static struct range range_sum(const struct range *a, const struct range *b)
{
	return range_new(a->has_lo && b->has_lo, a->lo + b->lo, a->has_hi && b->has_hi, a->hi + b->hi);
}

static struct range range_negative(const struct range *a)
{
	return range_new(a->has_hi, -a->hi, a->has_lo, -a->lo);
}

static struct range range_times(const struct range *a, int64_t factor)
{
	if (factor <= -(1 << 20) || factor >= 1 << 20)
		return unknown;
	if (factor < 0)
		return range_new(a->has_hi, a->hi*factor, a->has_lo, a->lo*factor);
	return range_new(a->has_lo, a->lo*factor, a->has_hi, a->hi*factor);
}

static struct range range_product(const struct range *a, const struct range *b)
{
	if (is_number(a))
		return range_times(b, a->lo);
	return is_number(b) ? range_times(a, b->lo) : unknown;
}

/* C rounds towards zero, which keeps the order. */
static struct range range_quotient(const struct range *a, const struct range *b)
{
	if (!is_number(b) || b->lo <= 0)
		return unknown;
	return range_new(a->has_lo, a->lo/b->lo, a->has_hi, a->hi/b->lo);
}

static struct range range_rest(const struct range *a, const struct range *b)
{
	if (!is_number(b) || b->lo <= 0 || !a->has_lo || a->lo < 0)
		return unknown;
	return range_new(true, 0, true, a->has_hi && a->hi < b->lo ? a->hi : b->lo - 1);
}

static struct range range_masked(const struct range *mask)
{
	return is_number(mask) && mask->lo >= 0 ? range_new(true, 0, true, mask->lo) : unknown;
}

static struct range range_min(const struct range *a, const struct range *b)
{
	const bool is_a = a->has_hi && (!b->has_hi || a->hi < b->hi);

	return range_new(a->has_lo && b->has_lo, a->lo < b->lo ? a->lo : b->lo, a->has_hi || b->has_hi,
			 is_a ? a->hi : b->hi);
}

static struct range range_max(const struct range *a, const struct range *b)
{
	const struct range minus_a = range_negative(a), minus_b = range_negative(b);
	const struct range minus = range_min(&minus_a, &minus_b);

	return range_negative(&minus);
}

/* ---- names -------------------------------------------------------------------------------------------- */

static bool find_jump(const struct k_stmt *stmt, void *user)
{
	*(bool *) user |= stmt->kind == KS_BREAK || stmt->kind == KS_CONTINUE || stmt->kind == KS_RETURN;
	return true;
}

/* Is a place in the body of a loop reached for each value of its variable? */
static bool is_always_reached(const struct k_scope *place, const struct k_stmt *loop)
{
	bool has_jump = false;
	int at = place->inside.n;

	while (at > 0 && place->inside.items[at - 1] != loop)
		if (place->inside.items[--at]->kind == KS_IF || place->inside.items[at]->kind == KS_WHILE)
			return false;
	k_walk_block(&loop->loop.body, &(struct k_visitor) { .stmt = find_jump, .user = &has_jump });
	return at > 0 && !has_jump;
}

/* The last value that steps reach. */
static int64_t last_value(const struct range *first, int64_t last, const struct range *step)
{
	return is_number(first) && is_number(step) && step->lo > 0 && last >= first->lo
	       ? first->lo + (last - first->lo)/step->lo*step->lo : last;
}

static struct range range_of_loop(const struct k_scope *place, const struct k_stmt *stmt, int depth)
{
	const struct k_loop *loop = &stmt->loop;
	const struct range first = range_of(place, loop->first, depth), bound = range_of(place, loop->bound, depth);
	const struct range step = loop->step ? range_of(place, loop->step, depth) : range_new(true, 1, true, 1);
	const struct range range = loop->is_down ? range_new(bound.has_lo, bound.lo, first.has_hi, first.hi)
				   : range_new(first.has_lo, first.lo, bound.has_hi,
					       last_value(&first, bound.hi - 1, &step));

	if (!is_always_reached(place, stmt) || (range.has_lo && range.has_hi && range.hi < range.lo))
		return unknown;
	return range;
}

static struct range range_of_name(const struct k_scope *place, const char *name, int depth)
{
	const struct k_declared *declared = k_declared_find(place, name);
	const struct k_stmt *stmt = declared ? declared->stmt : NULL;

	if (!stmt || depth == 0)
		return unknown;
	if (stmt->kind == KS_LOOP)
		return range_of_loop(place, stmt, depth - 1);
	if (stmt->kind == KS_LET && !stmt->let.is_variable && stmt->let.value && declared->rank == 0)
		return range_of(place, stmt->let.value, depth - 1);
	return unknown;
}

/* ---- expressions ----------------------------------------------------------------------------------------- */

static struct range range_of_binary(const struct k_scope *place, const struct k_expr *expr, int depth)
{
	const struct range a = range_of(place, expr->args.items[0], depth);
	const struct range b = range_of(place, expr->args.items[1], depth), minus_b = range_negative(&b);

	if (expr->op == K_ADD)
		return range_sum(&a, &b);
	if (expr->op == K_SUB)
		return range_sum(&a, &minus_b);
	if (expr->op == K_MUL)
		return range_product(&a, &b);
	if (expr->op == K_DIV)
		return range_quotient(&a, &b);
	if (expr->op == K_REM)
		return range_rest(&a, &b);
	return expr->op == K_BIT_AND ? range_masked(is_number(&b) ? &b : &a) : unknown;
}

static struct range range_of_call(const struct k_scope *place, const struct k_expr *call, int depth)
{
	struct range a, b;

	if (call->args.n != 2)
		return unknown;
	a = range_of(place, call->args.items[0], depth);
	b = range_of(place, call->args.items[1], depth);
	if (strcmp(call->text, "pmg_min_i64") == 0 || strcmp(call->text, "PMG_UP_TO") == 0)
		return range_min(&a, &b);
	if (strcmp(call->text, "pmg_max_i64") == 0)
		return range_max(&a, &b);
	return strcmp(call->text, "pmg_mod") == 0 && is_number(&b) && b.lo > 0 ? range_new(true, 0, true, b.lo - 1)
									       : unknown;
}

static struct range range_of(const struct k_scope *place, const struct k_expr *expr, int depth)
{
	struct range a;

	if (expr->kind == KE_INT)
		return range_new(true, expr->integer, true, expr->integer);
	if (expr->kind == KE_NAME)
		return range_of_name(place, expr->text, depth);
	if (expr->kind == KE_BINARY)
		return range_of_binary(place, expr, depth);
	if (expr->kind == KE_CALL)
		return range_of_call(place, expr, depth);
	if (expr->kind == KE_CAST && k_is_integer(&expr->of))
		return range_of(place, expr->args.items[0], depth);
	if (expr->kind != KE_UNARY || expr->op != K_NEG)
		return unknown;
	a = range_of(place, expr->args.items[0], depth);
	return range_negative(&a);
}

/* ---- indices ---------------------------------------------------------------------------------------------- */

static bool is_call_of(const struct k_expr *expr, const char *function, int n)
{
	return expr->kind == KE_CALL && strcmp(expr->text, function) == 0 && expr->args.n == n;
}

/* Below n, the vector that holds the last of n lanes, and vectors behind it: lane/PMG_LANES(T) + c, c > 0. */
static bool is_vector_behind(const struct k_scope *place, const struct k_expr *index, const struct k_expr *extent)
{
	const struct k_expr *quotient, *more;
	struct range lane, lanes;

	if (index->kind != KE_BINARY || index->op != K_ADD || !is_call_of(extent, "PMG_VECTORS", 2))
		return false;
	quotient = index->args.items[0];
	more = index->args.items[1];
	if (quotient->kind != KE_BINARY || quotient->op != K_DIV || more->kind != KE_INT || more->integer <= 0)
		return false;
	lane = range_of(place, quotient->args.items[0], DEPTH);
	lanes = range_of(place, extent->args.items[1], DEPTH);
	return is_call_of(quotient->args.items[1], "PMG_LANES", 1) && lane.has_hi && lanes.has_hi &&
	       lane.hi >= lanes.hi - 1;
}

/* lane/PMG_LANES(T) of the vectors PMG_VECTORS(T, n): then it is `lane` that is below n. */
static void take_lanes(const struct k_expr **index, const struct k_expr **extent)
{
	const struct k_expr *vectors = *extent, *quotient = *index;

	if (!is_call_of(vectors, "PMG_VECTORS", 2) || quotient->kind != KE_BINARY || quotient->op != K_DIV ||
	    !is_call_of(quotient->args.items[1], "PMG_LANES", 1))
		return;
	if (!k_type_is_equal(&vectors->args.items[0]->of, &quotient->args.items[1]->args.items[0]->of))
		return;
	*index = quotient->args.items[0];
	*extent = vectors->args.items[1];
}

/* What is left of a sum with a number, which *more has then. */
static const struct k_expr *without_number(const struct k_expr *expr, int64_t *more)
{
	*more = 0;
	if (expr->kind != KE_BINARY || (expr->op != K_ADD && expr->op != K_SUB) || expr->args.items[1]->kind != KE_INT)
		return expr;
	*more = expr->op == K_ADD ? expr->args.items[1]->integer : -expr->args.items[1]->integer;
	return expr->args.items[0];
}

/* The loop that counts up by one and always comes here; NULL: the name is another one's. */
static const struct k_loop *loop_of(const struct k_scope *place, const struct k_expr *name)
{
	const struct k_declared *declared = name->kind == KE_NAME ? k_declared_find(place, name->text) : NULL;
	const struct k_stmt *stmt = declared ? declared->stmt : NULL;

	if (!stmt || stmt->kind != KS_LOOP || stmt->loop.is_down || stmt->loop.step)
		return NULL;
	return is_always_reached(place, stmt) ? &stmt->loop : NULL;
}

/* i + a of a loop up to n + b in an array of n elements, a + b > 0. */
static bool is_behind(const struct k_scope *place, const struct k_expr *index, const struct k_expr *extent)
{
	int64_t more, bound_more;
	const struct k_loop *loop = loop_of(place, without_number(index, &more));
	const struct k_expr *bound = loop ? without_number(loop->bound, &bound_more) : NULL;

	return bound && more + bound_more > 0 &&
	       strcmp(k_expr_text(place->arena, bound), k_expr_text(place->arena, extent)) == 0;
}

static void check_index(struct k_check *check, const struct k_expr *load, const struct k_expr *extent, int behind)
{
	const struct k_expr *index = load->args.items[1];
	const bool leaves = is_behind(check->place, index, extent) || is_vector_behind(check->place, index, extent);
	struct range range, size;

	take_lanes(&index, &extent);
	range = range_of(check->place, index, DEPTH);
	size = range_of(check->place, extent, DEPTH);
	if (range.has_lo && range.lo < 0)
		K_FAULT(check, "'%s' is before the array: its index may be %lld",
			k_expr_text(check->place->arena, load), (long long) range.lo);
	if (range.has_hi && size.has_hi && range.hi >= size.hi + behind)
		K_FAULT(check, "'%s' is behind the array of %lld: its index may be %lld",
			k_expr_text(check->place->arena, load), (long long) size.hi, (long long) range.hi);
	if (leaves)
		K_FAULT(check, "'%s' leaves the array", k_expr_text(check->place->arena, load));
}

/* `behind`: an address may be that behind the last element. */
static void check_load(struct k_check *check, const struct k_expr *load, int behind)
{
	int n_indices;
	const struct k_expr *buffer = k_buffer_of(load, &n_indices);
	const struct k_declared *declared = buffer ? k_declared_find(check->place, buffer->text) : NULL;

	if (declared && declared->stmt && declared->stmt->kind == KS_LET && n_indices <= declared->stmt->let.extents.n)
		check_index(check, load, declared->stmt->let.extents.items[n_indices - 1], behind);
}

static bool check_expr(const struct k_expr *expr, void *user)
{
	struct k_check *check = user;
	const struct k_expr *first = expr->args.n > 0 ? expr->args.items[0] : NULL;

	if (expr->kind == KE_LOAD)
		check_load(check, expr, 0);
	if (expr->kind == KE_UNARY && expr->op == K_ADDRESS && first->kind == KE_LOAD)
		check_load(check, first, 1);
	/* What is behind a condition may not be reached. */
	return expr->kind != KE_SELECT && !(expr->kind == KE_UNARY && expr->op == K_ADDRESS) &&
	       !(expr->kind == KE_BINARY && (expr->op == K_AND || expr->op == K_OR));
}

const struct k_rule k_rule_bounds = { .expr = check_expr };
