/* SPDX-License-Identifier: MIT
 *
 * The runtime's arithmetic, threads and atomic updates for running kernel programs. What only asks for memory does
 * nothing, and nothing is far. */
#include "kernel/run_private.h"

#include <float.h>
#include <math.h>

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
	const bool is_single = args->element == TYPE_F32;

	(void) run;
	return run_marked(run_of_element(is_single ? TYPE_F32 : TYPE_F64,
				     of_math(args->code, run_real(x), run_real(y), is_single), 0), x, y);
}

/* ---- minimum, maximum, integers ---- */

static struct run_value call_min_max(struct run *run, const struct run_args *args)
{
	const int element = args->element < 0 ? TYPE_I64 : args->element;

	return run_combined(run, (enum run_combining) args->code, run_converted(run, args->value[0], element),
			    run_converted(run, args->value[1], element));
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
	return run_marked(run_int(args->code == DIV ? quotient : b == 0 || b == -1 ? 0 : a - quotient*b),
			  &args->value[0], &args->value[1]);
}

static struct run_value call_quotient(struct run *run, const struct run_args *args)
{
	const double quotient = run_real(&args->value[0])/run_real(&args->value[1]);

	(void) run;
	return run_marked(run_of_element(TYPE_F64, quotient, 0), &args->value[0], &args->value[1]);
}

static struct run_value call_to(struct run *run, const struct run_args *args)
{
	const struct run_value *x = &args->value[0];
	const double real = isnan(run_real(x)) ? 0 : run_real(x);
	const int bits = 8*(int) run_element_bytes(run, args->element) - (args->element < TYPE_U8);
	const double above = ldexp(1, bits), below = args->element < TYPE_U8 ? -above : 0;

	return run_marked(run_of_element(args->element, 0, real >= above ? (int64_t) ((UINT64_C(1) << bits) - 1)
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
	return run_marked(run_int(begin < n ? begin : n), &args->value[1], &args->value[1]);
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
	struct run_value at = args->value[0];

	if (args->element >= 0)
		at.element = args->element;
	return run_update(run, &at, (enum run_combining) args->code, args->value[1]);
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

static struct run_value call_wide(struct run *run, const struct run_args *args)
{
	return run_converted(run, args->value[0], TYPE_I64);
}

const struct run_call run_math_calls[] = {
	RUN_CALL("fabs", call_float, ABS), RUN_CALL("sqrt", call_float, SQRT), RUN_CALL("exp", call_float, EXP),
	RUN_CALL("log", call_float, LOG), RUN_CALL("sin", call_float, SIN), RUN_CALL("cos", call_float, COS),
	RUN_CALL("tanh", call_float, TANH), RUN_CALL("expm1", call_float, EXPM1), RUN_CALL("floor", call_float, FLOOR),
	RUN_CALL("ceil", call_float, CEIL), RUN_CALL("pmg_pow_", call_float, POW),
	RUN_CALL("pmg_exprelr_", call_float, EXPRELR), RUN_CALL("pmg_unit_scale_", call_float, UNIT_SCALE),
	RUN_CALL("pmg_min_", call_min_max, RUN_MIN), RUN_CALL("pmg_max_", call_min_max, RUN_MAX),
	RUN_CALL("pmg_min_both_", call_min_max, RUN_MIN), RUN_CALL("pmg_max_both_", call_min_max, RUN_MAX),
	RUN_CALL("pmg_least_", call_ordered, RUN_MIN), RUN_CALL("pmg_greatest_", call_ordered, RUN_MAX),
	RUN_CALL("PMG_UP_TO", call_min_max, RUN_MIN), RUN_CALL("pmg_div", call_div, DIV),
	RUN_CALL("PMG_QUOTIENT", call_quotient, 0),
	RUN_CALL("pmg_mod", call_div, MOD), RUN_CALL("pmg_to_", call_to, 0),
	RUN_CALL("pmg_halvings", call_levels, HALVINGS), RUN_CALL("pmg_doublings", call_levels, DOUBLINGS),
	RUN_CALL("pmg_part_begin", call_part_begin, 0), RUN_CALL("pmg_index_at", call_index_at, 0),
	RUN_CALL("pmg_thread", call_thread, THREAD), RUN_CALL("pmg_threads", call_thread, THREADS),
	RUN_CALL("pmg_team", call_thread, TEAM), RUN_CALL("pmg_atomic_min_", call_atomic, RUN_MIN),
	RUN_CALL("pmg_atomic_max_", call_atomic, RUN_MAX), RUN_CALL("pmg_atomic_prod_", call_atomic, RUN_PROD),
	RUN_CALL("pmg_keep", call_keep, 0), RUN_CALL("PMG_END", run_first_arg, 0),
	RUN_CALL("__builtin_expect", run_first_arg, 0), RUN_CALL("INT64_C", call_wide, 0),
	RUN_CALL("PMG_PREFETCH", NULL, 0), RUN_CALL("pmg_prefetch_row", NULL, 0),
	RUN_CALL("__builtin_prefetch", NULL, 0), RUN_CALL("pmg_prefetch_block_", NULL, 0),
	RUN_CALL("pmg_prefetch_segments_", NULL, 0), RUN_CALL("pmg_block_later", NULL, 0),
	RUN_CALL("pmg_block_next", NULL, 0), RUN_CALL("pmg_block_prefetches", NULL, 0),
	RUN_CALL("pmg_segments_prefetches", NULL, 0), RUN_CALL("pmg_prefetch_distance", NULL, 0),
	RUN_CALL("pmg_prefetch_window_row", NULL, 0), RUN_CALL("pmg_is_nontemporal", NULL, 1),
	RUN_CALL_OF_NODES("PMG_PRIVATE_ADD", run_private, 0), RUN_CALL_OF_NODES("PMG_PRIVATE_MUL", run_private, 0),
	RUN_CALL_OF_NODES("PMG_PRIVATE_BY", run_private, 1),
	RUN_CALL_OF_NODES("PMG_CARRIED", NULL, 0), RUN_CALL_OF_NODES("PMG_CARRIED_FROM", NULL, 0),
	RUN_CALL("pmg_*_atomic_add", call_atomic, RUN_ADD), RUN_CALL("pmg_*_atomic_prod", call_atomic, RUN_PROD),
	RUN_CALL("pmg_*_atomic_min", call_atomic, RUN_MIN), RUN_CALL("pmg_*_atomic_max", call_atomic, RUN_MAX),
	RUN_CALL("pmg_*_atomic_add_", call_atomic, RUN_ADD), RUN_CALL("pmg_*_atomic_prod_", call_atomic, RUN_PROD),
	RUN_CALL("pmg_*_atomic_min_", call_atomic, RUN_MIN), RUN_CALL("pmg_*_atomic_max_", call_atomic, RUN_MAX),
	RUN_CALLS_END
};
