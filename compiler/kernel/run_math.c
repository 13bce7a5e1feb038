/* SPDX-License-Identifier: MIT
 *
 * The runtime's arithmetic, threads and atomic updates for running kernel programs. What only asks for memory does
 * nothing, and nothing is far. */
#include "kernel/run_private.h"

#include <float.h>
#include <math.h>
#include <string.h>

static struct run_value marked(struct run_value to, const struct run_value *a, const struct run_value *b)
{
	to.is_unset = a->is_unset || b->is_unset;
	to.is_own = a->is_own || b->is_own;
	to.has_wrapped = a->has_wrapped || b->has_wrapped;
	return to;
}

/* ---- functions of floats ---- */

enum math { ABS, SQRT, EXP, LOG, SIN, COS, TANH, EXPM1, FLOOR, CEIL, POW, EXPRELR, UNIT_SCALE };

/* 0 where the type does not hold the divisor. */
static double exprelr(double x, bool is_single)
{
	const double divisor = expm1(x);

	if (x == 0)
		return 1;
	return divisor > (is_single ? FLT_MAX : DBL_MAX) ? 0 : x/divisor;
}

/* The power of two by which |x| comes into 1..2. */
static double unit_scale(double x, int most)
{
	const double size = fabs(x) < ldexp(1, most) ? fabs(x) : ldexp(1, most);
	int exponent;

	frexp(size, &exponent);
	return size < ldexp(1, -most - 1) ? ldexp(1, most + 1) : ldexp(1, 1 - exponent);
}

static double of_math(int code, double x, double y, bool is_single)
{
	switch ((enum math) code) {
	case ABS: return fabs(x);
	case SQRT: return sqrt(x);
	case EXP: return exp(x);
	case LOG: return log(x);
	case SIN: return sin(x);
	case COS: return cos(x);
	case TANH: return tanh(x);
	case EXPM1: return expm1(x);
	case FLOOR: return floor(x);
	case CEIL: return ceil(x);
	case POW: return pow(x, y);
	case EXPRELR: return exprelr(x, is_single);
	case UNIT_SCALE: return unit_scale(x, is_single ? 125 : 1021);
	}
	return NAN;
}

/* expf, pmg_pow_f32: of floats. */
static struct run_value call_float(struct run *run, const struct run_args *args)
{
	const struct run_value *x = &args->value[0], *y = &args->value[args->n > 1];
	const bool ends_with_f = args->element < 0 && args->name[strlen(args->name) - 1] == 'f';
	const bool is_single = args->element == TYPE_F32 || ends_with_f;

	(void) run;
	return marked(run_of_element(is_single ? TYPE_F32 : TYPE_F64,
				     of_math(args->code, run_real(x), run_real(y), is_single), 0), x, y);
}

/* ---- minimum, maximum, integers ---- */

enum { MIN, MAX, PROD };

static struct run_value least_or_most(struct run *run, struct run_value a, struct run_value b, int element, bool is_max)
{
	bool is_a;

	a = run_converted(run, a, element);
	b = run_converted(run, b, element);
	if (a.kind == RUN_FLOAT)
		is_a = isnan(a.real) || (is_max ? a.real > b.real : a.real < b.real);
	else
		is_a = is_max ? a.integer > b.integer : a.integer < b.integer;
	return marked(is_a ? a : b, &a, &b);
}

static struct run_value call_min_max(struct run *run, const struct run_args *args)
{
	return least_or_most(run, args->value[0], args->value[1], args->element < 0 ? TYPE_I64 : args->element,
			     args->code == MAX);
}

/* Of numbers: the second one where one of them is NaN. */
static struct run_value call_ordered(struct run *run, const struct run_args *args)
{
	const struct run_value *a = &args->value[0], *b = &args->value[1];

	return isnan(run_real(a)) ? run_converted(run, *b, args->element) : call_min_max(run, args);
}

enum { DIV, MOD };

/* As the runtime divides: a division by zero gives 0. */
static struct run_value call_div(struct run *run, const struct run_args *args)
{
	const int64_t a = args->value[0].integer, b = args->value[1].integer;
	const int64_t quotient = b == 0 ? 0 : b == -1 ? (int64_t) (0 - (uint64_t) a)
			       : a/b - (a % b != 0 && (a ^ b) < 0);

	(void) run;
	return marked(run_int(args->code == DIV ? quotient : b == 0 || b == -1 ? 0 : a - quotient*b), &args->value[0],
		      &args->value[1]);
}

static struct run_value call_to(struct run *run, const struct run_args *args)
{
	const struct run_value *x = &args->value[0];
	const double real = isnan(run_real(x)) ? 0 : run_real(x);
	const int bits = 8*(int) run_element_bytes(run, args->element) - (args->element < TYPE_U8);
	const double above = ldexp(1, bits), below = args->element < TYPE_U8 ? -above : 0;

	return marked(run_of_element(args->element, 0, real >= above ? (int64_t) ((UINT64_C(1) << bits) - 1)
						       : real <= below ? (int64_t) below : (int64_t) real), x, x);
}

enum { HALVINGS, DOUBLINGS };

static struct run_value call_levels(struct run *run, const struct run_args *args)
{
	int64_t n = run_arg(run, args, 0), limit = run_arg(run, args, 1), levels = 0;

	for (; args->code == HALVINGS && n > limit && limit >= 0; n /= 2)
		levels++;
	for (; args->code == DOUBLINGS && limit < n && levels < 62; limit *= 2)
		levels++;
	return run_int(levels);
}

/* (n, part, parts, line) */
static struct run_value call_part_begin(struct run *run, const struct run_args *args)
{
	const int64_t n = run_arg(run, args, 0), part = run_arg(run, args, 1);
	const int64_t parts = run_arg(run, args, 2), line = run_arg(run, args, 3);
	int64_t begin = n;

	if (parts <= 0 || line <= 0)
		run_fault(run, "%s: no parts, or no lines", args->name);
	else if (part < parts)
		begin = (part*n/parts + line/2)/line*line;
	return marked(run_int(begin < n ? begin : n), &args->value[1], &args->value[1]);
}

/* ---- memory, threads ---- */

/* (indices, limit, i) */
static struct run_value call_index_at(struct run *run, const struct run_args *args)
{
	struct run_value at = args->value[0];

	at.element = run_arg(run, args, 1) <= 65536 ? TYPE_U16 : TYPE_I32;
	at = run_moved(run, at, &args->value[2]);
	return run_converted(run, run_load(run, &at, RUN_READ), TYPE_I64);
}

enum { THREAD, THREADS, TEAM };

static struct run_value call_thread(struct run *run, const struct run_args *args)
{
	const struct run_team *team = run->fiber->team;
	struct run_value value = run_int(args->code == TEAM ? run->host->threads : team ? team->n : 1);

	if (args->code == THREAD)
		value.integer = run->fiber->number;
	value.is_own = args->code == THREAD;
	return value;
}

/* (target, value) */
static struct run_value call_atomic(struct run *run, const struct run_args *args)
{
	struct run_value at = args->value[0], before, value;

	at.element = args->element;
	before = run_load(run, &at, RUN_WRITE_ATOMIC);
	if (run->has_stopped)
		return before;
	value = args->code == PROD ? run_binary(run, K_MUL, before, args->value[1])
				   : least_or_most(run, before, args->value[1], args->element, args->code == MAX);
	run_store(run, &at, value, true);
	return value;
}

/* (plan, state, next): next is made a copy of it. */
static struct run_value call_keep(struct run *run, const struct run_args *args)
{
	const struct run_value from = run_plan_data(run, run_arg(run, args, 1));
	const struct run_value to = run_plan_data(run, run_arg(run, args, 2));

	if (!run->has_stopped)
		run_copy(&to, &from);
	return to;
}

static struct run_value call_first(struct run *run, const struct run_args *args)
{
	(void) run;
	return args->value[0];
}

static struct run_value call_wide(struct run *run, const struct run_args *args)
{
	return run_converted(run, args->value[0], TYPE_I64);
}

const struct run_call run_math_calls[] = {
	{ "fabs", call_float, ABS, RUN_VALUES }, { "fabsf", call_float, ABS, RUN_VALUES },
	{ "sqrt", call_float, SQRT, RUN_VALUES }, { "sqrtf", call_float, SQRT, RUN_VALUES },
	{ "exp", call_float, EXP, RUN_VALUES }, { "expf", call_float, EXP, RUN_VALUES },
	{ "log", call_float, LOG, RUN_VALUES }, { "logf", call_float, LOG, RUN_VALUES },
	{ "sin", call_float, SIN, RUN_VALUES }, { "sinf", call_float, SIN, RUN_VALUES },
	{ "cos", call_float, COS, RUN_VALUES }, { "cosf", call_float, COS, RUN_VALUES },
	{ "tanh", call_float, TANH, RUN_VALUES }, { "tanhf", call_float, TANH, RUN_VALUES },
	{ "expm1", call_float, EXPM1, RUN_VALUES }, { "expm1f", call_float, EXPM1, RUN_VALUES },
	{ "floor", call_float, FLOOR, RUN_VALUES }, { "floorf", call_float, FLOOR, RUN_VALUES },
	{ "ceil", call_float, CEIL, RUN_VALUES }, { "ceilf", call_float, CEIL, RUN_VALUES },
	{ "pmg_pow_", call_float, POW, RUN_VALUES }, { "pmg_exprelr_", call_float, EXPRELR, RUN_VALUES },
	{ "pmg_unit_scale_", call_float, UNIT_SCALE, RUN_VALUES },
	{ "pmg_min_", call_min_max, MIN, RUN_VALUES }, { "pmg_max_", call_min_max, MAX, RUN_VALUES },
	{ "pmg_min_both_", call_min_max, MIN, RUN_VALUES }, { "pmg_max_both_", call_min_max, MAX, RUN_VALUES },
	{ "pmg_least_", call_ordered, MIN, RUN_VALUES }, { "pmg_greatest_", call_ordered, MAX, RUN_VALUES },
	{ "PMG_UP_TO", call_min_max, MIN, RUN_VALUES }, { "pmg_div", call_div, DIV, RUN_VALUES },
	{ "pmg_mod", call_div, MOD, RUN_VALUES }, { "pmg_to_", call_to, 0, RUN_VALUES },
	{ "pmg_halvings", call_levels, HALVINGS, RUN_VALUES },
	{ "pmg_doublings", call_levels, DOUBLINGS, RUN_VALUES },
	{ "pmg_part_begin", call_part_begin, 0, RUN_VALUES }, { "pmg_index_at", call_index_at, 0, RUN_VALUES },
	{ "pmg_thread", call_thread, THREAD, RUN_VALUES }, { "pmg_threads", call_thread, THREADS, RUN_VALUES },
	{ "pmg_team", call_thread, TEAM, RUN_VALUES }, { "pmg_atomic_min_", call_atomic, MIN, RUN_VALUES },
	{ "pmg_atomic_max_", call_atomic, MAX, RUN_VALUES },
	{ "pmg_atomic_prod_", call_atomic, PROD, RUN_VALUES }, { "pmg_keep", call_keep, 0, RUN_VALUES },
	{ "PMG_END", call_first, 0, RUN_VALUES }, { "__builtin_expect", call_first, 0, RUN_VALUES },
	{ "INT64_C", call_wide, 0, RUN_VALUES }, { "PMG_PREFETCH", NULL, 0, RUN_VALUES },
	{ "pmg_prefetch_row", NULL, 0, RUN_VALUES }, { "__builtin_prefetch", NULL, 0, RUN_VALUES },
	{ "pmg_prefetch_block_", NULL, 0, RUN_VALUES }, { "pmg_prefetch_segments_", NULL, 0, RUN_VALUES },
	{ "pmg_block_later", NULL, 0, RUN_VALUES }, { "pmg_block_next", NULL, 0, RUN_VALUES },
	{ "pmg_block_prefetches", NULL, 0, RUN_VALUES }, { "pmg_segments_prefetches", NULL, 0, RUN_VALUES },
	{ "pmg_prefetch_distance", NULL, 0, RUN_VALUES }, { "pmg_prefetch_window_row", NULL, 0, RUN_VALUES },
	{ "pmg_is_nontemporal", NULL, 1, RUN_VALUES },
	{ "PMG_PRIVATE_ADD", run_private, 0, RUN_NODES }, { "PMG_PRIVATE_MUL", run_private, 0, RUN_NODES },
	{ "PMG_PRIVATE_BY", run_private, 1, RUN_NODES },
	{ NULL, NULL, 0, RUN_VALUES }
};
