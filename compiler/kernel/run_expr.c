/* SPDX-License-Identifier: MIT
 *
 * Expressions of a running kernel program. What a store goes to is an address, of memory, or of a name's value. */
#include "kernel/run_private.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- constants and names ---- */

static struct run_value of_int(const struct k_expr *expr)
{
	const bool is_unsigned = expr->text && strpbrk(expr->text, "uU");
	const bool is_long = expr->text && strpbrk(expr->text, "lLC");
	const bool fits = expr->integer >= INT32_MIN && expr->integer <= INT32_MAX;

	if (is_unsigned)
		return run_of_element(is_long || expr->integer > UINT32_MAX ? RUN_U64 : TYPE_U32, 0, expr->integer);
	return run_of_element(fits && !is_long ? TYPE_I32 : TYPE_I64, 0, expr->integer);
}

static struct run_value of_float(const struct k_expr *expr)
{
	const size_t length = strlen(expr->text);
	const bool is_hex = strpbrk(expr->text, "xX"), is_single = strchr("fF", expr->text[length - 1]) &&
								   (!is_hex || strpbrk(expr->text, "pP"));

	return run_of_element(is_single ? TYPE_F32 : TYPE_F64, strtod(expr->text, NULL), 0);
}

static bool is_constant(const char *name, struct run_value *value)
{
	static const struct {
		const char *name;
		int64_t integer;
	} integers[] = {
		{ "PMG_OK", 0 }, { "PMG_ROWS", 8 }, { "PMG_PREFETCH_WINDOW", 48 }, { "PMG_PREFETCH_FLAT", 6 },
		{ "PMG_NO_ROW", INT64_MIN },
		{ "PMG_DOTS", 4 }, { "PMG_DEFERRED", 256 }, { "PMG_AT_END", INT64_MIN }, { "PMG_WARP_LANES", 32 },
		{ "PMG_LISTED", 2 }, { "PMG_CACHE_LINE", 64 }, { "INT64_MAX", INT64_MAX }, { "INT64_MIN", INT64_MIN },
		{ "INT32_MAX", INT32_MAX }, { "INT32_MIN", INT32_MIN }, { "INT16_MAX", INT16_MAX },
		{ "INT16_MIN", INT16_MIN }, { "INT8_MAX", INT8_MAX }, { "INT8_MIN", INT8_MIN },
		{ "UINT8_MAX", UINT8_MAX }, { "UINT16_MAX", UINT16_MAX }, { "UINT32_MAX", UINT32_MAX },
		{ "PMG_NOT_FINITE", INT64_C(1) << 62 }, { "PMG_NO_TRANS", 111 },
		{ "PMG_TRANS", 112 }, { "true", 1 }, { "false", 0 }
	};

	for (size_t i = 0; i < sizeof integers / sizeof *integers; i++)
		if (!strcmp(integers[i].name, name))
			return *value = run_int(integers[i].integer), true;
	if (!strcmp(name, "INFINITY") || !strcmp(name, "NAN"))
		return *value = run_of_element(TYPE_F32, *name == 'I' ? (double) INFINITY : (double) NAN, 0), true;
	if (!strcmp(name, "DBL_MAX") || !strcmp(name, "FLT_MAX"))
		return *value = run_of_element(*name == 'D' ? TYPE_F64 : TYPE_F32,
					       *name == 'D' ? DBL_MAX : (double) FLT_MAX, 0), true;
	if (!strcmp(name, "NULL"))
		return *value = (struct run_value) { .kind = RUN_ADDRESS, .element = RUN_VOID }, true;
	return false;
}

static bool is_function(const struct run *run, const char *name, struct run_value *value)
{
	for (int i = 0; i < run->program->functions.n; i++)
		if (!strcmp(run->program->functions.items[i]->name, name))
			return *value = (struct run_value) { .kind = RUN_FUNCTION, .integer = i }, true;
	return false;
}

static struct run_value of_name(struct run *run, const char *name)
{
	struct run_value value;

	if (!run_find(run, name) && (is_constant(name, &value) || is_function(run, name, &value)))
		return value;
	return run_name_read(run, name);
}

/* ---- members ---- */

static struct run_value of_plan(struct run *run, const char *member)
{
	struct run_value value = { .element = TYPE_I64 };

	if (!strcmp(member, "threads"))
		return run_of_element(TYPE_I32, 0, run->host->threads);
	value.kind = !strcmp(member, "data") ? RUN_DATA : !strcmp(member, "sizes") ? RUN_SIZES
		   : !strcmp(member, "places") ? RUN_PLACES : RUN_NOTHING;
	if (value.kind == RUN_NOTHING)
		run_unknown(run, "plan->%s", member);
	return value;
}

static struct run_value of_number(const struct k_run_number *number)
{
	return number->is_float ? run_of_element(TYPE_F64, number->real, 0) : run_int(number->integer);
}

static struct run_value of_arguments(struct run *run, const char *member)
{
	struct k_run_number number = { 0 };

	if (!run->host->argument(run->host->user, member, &number))
		run_fault(run, "there is no argument '%s'", member);
	return of_number(&number);
}

static struct run_value of_place(struct run *run, int64_t number, const char *member)
{
	struct k_run_place place = { 0 };

	if (!run->host->place(run->host->user, number, &place))
		run_fault(run, "the plan has no place %lld", (long long) number);
	return run_int(!strcmp(member, "block") ? place.block : !strcmp(member, "row") ? place.row
		       : !strcmp(member, "lane") ? place.lane : !strcmp(member, "is_padded") ? place.is_padded : 0);
}

/* A field of a pmg_lane_masks in memory. */
static struct run_value of_lane_masks(struct run *run, struct run_value at, const char *member)
{
	static const char *const fields[] = { "follows", "roots", "children", "parents" };

	at.element = TYPE_I64;
	for (int64_t i = 0; i < 4; i++)
		if (!strcmp(fields[i], member))
			at = run_at(run, at, i);
	return run_load(run, &at, RUN_READ);
}

static struct run_value of_member(struct run *run, const struct k_expr *expr)
{
	const struct k_expr *of = expr->args.items[0];
	struct run_value value = of->kind == KE_LOAD ? run_address(run, of) : run_expr(run, of);

	switch (value.kind) {
	case RUN_PLAN: return of_plan(run, expr->text);
	case RUN_ARGUMENTS: return of_arguments(run, expr->text);
	case RUN_PLACE: return of_place(run, value.integer, expr->text);
	case RUN_ADDRESS:
		if (value.element == RUN_KIN)
			return of_lane_masks(run, value, expr->text);
		break;
	case RUN_NOTHING: return value;
	case RUN_LOOP: return run_int(!strcmp(expr->text, "it") ? run->loop.it : run->loop.is_over);
	case RUN_FUNCTION:
	case RUN_INT:
	case RUN_FLOAT:
	case RUN_VECTOR:
	case RUN_MASK:
	case RUN_TYPE:
	case RUN_DATA:
	case RUN_SIZES:
	case RUN_PLACES: break;
	}
	run_unknown(run, "member '%s'", expr->text);
	return run_int(0);
}

/* ---- elements ---- */

static struct run_value of_sizes(struct run *run, int64_t number)
{
	int64_t size = 0;

	if (!run->host->size(run->host->user, number, &size))
		run_fault(run, "the plan has no size %lld", (long long) number);
	return run_int(size);
}

static int64_t inner_of(const int64_t *shape)
{
	int64_t n = 1;

	for (; shape && *shape; shape++)
		n *= *shape;
	return n;
}

/* Of an array of arrays, the one with this number. */
static struct run_value element_at(struct run *run, struct run_value base, struct run_value index)
{
	if (base.shape && *base.shape) {
		index.integer = run_integer(run, &index)*inner_of(base.shape);
		base.shape++;
	}
	return run_moved(run, base, &index);
}

static struct run_value lane_of(struct run *run, const struct run_value *vector, int64_t lane)
{
	struct run_value value = run_of_element(vector->element == RUN_VECTOR_F64 ? TYPE_F64 : TYPE_F32, 0, 0);

	if (lane < 0 || lane >= vector->lanes)
		run_fault(run, "lane %lld of a vector of %d", (long long) lane, vector->lanes);
	else
		value.real = vector->lane[lane];
	value.is_unset = lane >= 0 && lane < vector->lanes && (vector->unset >> lane & 1);
	return value;
}

/* The address of an element; what is no memory has its value here. */
static struct run_value element_of(struct run *run, const struct k_expr *expr)
{
	struct run_value base = run_expr(run, expr->args.items[0]), index = run_expr(run, expr->args.items[1]);
	int64_t number = run_integer(run, &index);

	if (base.kind == RUN_ADDRESS)
		return element_at(run, base, index);
	if (base.kind == RUN_DATA)
		return run_plan_data(run, number);
	if (base.kind == RUN_SIZES)
		return of_sizes(run, number);
	if (base.kind == RUN_PLACES)
		return (struct run_value) { .kind = RUN_PLACE, .integer = number };
	if (base.kind == RUN_VECTOR)
		return lane_of(run, &base, number);
	if (!run->has_stopped)
		run_unknown(run, "an element of this");
	return base;
}

static bool is_of_plan(const struct k_expr *expr)
{
	return expr->kind == KE_MEMBER && !strcmp(expr->text, "data");
}

static struct run_value of_load(struct run *run, const struct k_expr *expr)
{
	struct run_value at = element_of(run, expr);

	if (at.kind != RUN_ADDRESS || is_of_plan(expr->args.items[0]) || (at.shape && *at.shape))
		return at;
	return run_load(run, &at, RUN_READ);
}

/* ---- addresses ---- */

static struct run_value address_of_name(struct run *run, const char *name)
{
	const struct run_binding *binding = run_find(run, name);

	if (binding && (binding->is_array || binding->value.kind == RUN_NOTHING))
		return binding->value;
	run_unknown(run, "the address of '%s'", name);
	return run_int(0);
}

struct run_value run_address(struct run *run, const struct k_expr *expr)
{
	struct run_value value;

	if (expr->kind == KE_NAME)
		return address_of_name(run, expr->text);
	if (expr->kind == KE_LOAD)
		return element_of(run, expr);
	if (expr->kind == KE_UNARY && expr->op == K_CONTENT)
		return run_expr(run, expr->args.items[0]);
	value = run_expr(run, expr);
	if (value.kind != RUN_ADDRESS && value.kind != RUN_PLACE && value.kind != RUN_NOTHING)
		run_unknown(run, "the address of a value");
	return value;
}

/* ---- operators ---- */

static struct run_value of_binary(struct run *run, const struct k_expr *expr)
{
	struct run_value a = run_expr(run, expr->args.items[0]), b;

	if (expr->op == K_AND && !run_truth(run, &a))
		return run_flag(false);
	if (expr->op == K_OR && run_truth(run, &a))
		return run_flag(true);
	b = run_expr(run, expr->args.items[1]);
	if (expr->op == K_AND || expr->op == K_OR)
		return run_flag(run_truth(run, &b));
	return run->has_stopped ? a : run_binary(run, expr->op, a, b);
}

static struct run_value of_unary(struct run *run, const struct k_expr *expr)
{
	struct run_value a;

	if (expr->op == K_ADDRESS)
		return run_address(run, expr->args.items[0]);
	a = run_expr(run, expr->args.items[0]);
	return expr->op == K_CONTENT ? run_load(run, &a, RUN_READ) : run_unary(run, expr->op, a);
}

/* Both sides are brought to one type, where they are numbers. */
static struct run_value of_select(struct run *run, const struct k_expr *expr)
{
	struct run_value condition = run_expr(run, expr->args.items[0]);
	struct run_value value = run_expr(run, expr->args.items[run_truth(run, &condition) ? 1 : 2]);

	value.is_own |= condition.is_own;
	return value;
}

static struct run_value of_cast(struct run *run, const struct k_expr *expr)
{
	struct run_value value = run_expr(run, expr->args.items[0]);
	const int element = run_element_of(run, expr->of.name);

	if (value.kind == RUN_ARGUMENTS)
		return value;
	if (element < 0)
		run_unknown(run, "type '%s'", expr->of.name);
	else if (value.kind == RUN_ADDRESS && expr->of.is_pointer)
		value.element = element;
	else if (!expr->of.is_pointer && element != RUN_VOID)
		value = run_converted(run, value, element);
	if (value.kind == RUN_ADDRESS && expr->of.is_pointer)
		value.is_const = expr->of.is_const;
	return value;
}

static struct run_value of_type(struct run *run, const struct k_expr *expr)
{
	const int element = run_element_of(run, expr->of.name);

	if (element < 0)
		run_unknown(run, "type '%s'", expr->of.name);
	return (struct run_value) { .kind = RUN_TYPE, .element = element };
}

struct run_value run_expr(struct run *run, const struct k_expr *expr)
{
	if (run->has_stopped)
		return run_int(0);
	switch (expr->kind) {
	case KE_INT: return of_int(expr);
	case KE_FLOAT: return of_float(expr);
	case KE_BOOL: return run_flag(expr->integer);
	case KE_NAME: return of_name(run, expr->text);
	case KE_TYPE: return of_type(run, expr);
	case KE_LOAD: return of_load(run, expr);
	case KE_MEMBER: return of_member(run, expr);
	case KE_UNARY: return of_unary(run, expr);
	case KE_BINARY: return of_binary(run, expr);
	case KE_SELECT: return of_select(run, expr);
	case KE_CAST: return of_cast(run, expr);
	case KE_CALL: return run_call(run, expr);
	case KE_STRING:
	case KE_LIST:
	case KE_N: break;
	}
	run_unknown(run, "an expression of this kind");
	return run_int(0);
}
