/* SPDX-License-Identifier: MIT
 *
 * Calls of a running kernel program: functions of the program, the runtime's arithmetic and threads, and what the host
 * does. A name that ends with a type is looked up without it. What only asks for memory does nothing. */
#include "kernel/run_private.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- which one ---- */

/* The length of the name without the ending of its type, _f64, _F32, _i8, and that type; -1: it has none. */
static size_t stem_of(const char *name, int *element)
{
	const size_t length = strlen(name);

	*element = -1;
	for (int type = 0; type < TYPE_N; type++) {
		const char *ending = type_name((enum scalar_type) type);
		const size_t n = strlen(ending);

		if (length <= n || name[length - n - 1] != '_' || strcasecmp(name + length - n, ending))
			continue;
		*element = type;
		return length - n;
	}
	return length;
}

static const struct run_call *in_table(const struct run_call *table, const char *name, size_t length)
{
	for (; table->name; table++)
		if (strlen(table->name) == length && !strncmp(table->name, name, length))
			return table;
	return NULL;
}

static const struct run_call *in_tables(const char *name, size_t length)
{
	const struct run_call *const tables[] = { run_math_calls, run_vector_calls, run_block_calls };
	const struct run_call *call = NULL;

	for (size_t i = 0; i < sizeof tables / sizeof *tables && !call; i++)
		call = in_table(tables[i], name, length);
	return call;
}

/* Where it was found is kept for the next time; an entry without a call: it is the program's or the host's. */
static const struct run_known *known_of(struct run *run, const char *name)
{
	struct run_known *known = &run->known[((uintptr_t) name >> 3) % RUN_CALLS_KNOWN];
	int element;

	if (known->text == name)
		return known;
	*known = (struct run_known) { .text = name, .call = in_tables(name, strlen(name)), .element = -1 };
	if (!known->call) {
		known->call = in_tables(name, stem_of(name, &element));
		known->element = element;
	}
	return known;
}

/* ---- the program's and the host's ---- */

enum { MOST_ARGS = 32 };

static struct k_run_number number_of(const struct run_value *value)
{
	return (struct k_run_number) {
		.is_float = value->kind == RUN_FLOAT, .real = value->kind == RUN_FLOAT ? value->real : 0,
		.integer = value->kind == RUN_INT ? value->integer : 0,
		.address = value->kind == RUN_ADDRESS && value->buffer ? value->buffer->base + value->integer : NULL
	};
}

static struct run_value call_host(struct run *run, const struct k_expr *call, const struct run_value *args)
{
	struct k_run_number numbers[MOST_ARGS], result = { 0 };

	for (int i = 0; i < call->args.n; i++)
		numbers[i] = number_of(&args[i]);
	if (!run->has_stopped && !run->host->call(run->host->user, call->text, numbers, call->args.n, &result))
		run_unknown(run, "%s", call->text);
	return result.is_float ? run_of_element(TYPE_F64, result.real, 0) : run_int(result.integer);
}

static struct run_value call_other(struct run *run, const struct k_expr *call)
{
	const struct k_function *function = run_find_function(run, call->text);
	struct run_value args[MOST_ARGS];

	if (call->args.n > MOST_ARGS)
		run_unknown(run, "%s", call->text);
	for (int i = 0; i < call->args.n && !run->has_stopped; i++)
		args[i] = run_expr(run, call->args.items[i]);
	if (run->has_stopped)
		return run_int(0);
	return function ? run_function(run, function, args, call->args.n) : call_host(run, call, args);
}

struct run_value run_call(struct run *run, const struct k_expr *call)
{
	const struct run_known *known = known_of(run, call->text);

	return known->call ? known->call->call(run, call, known->element, known->call->code) : call_other(run, call);
}

/* ---- functions of floats ---- */

enum math { ABS, SQRT, EXP, LOG, SIN, COS, TANH, EXPM1, FLOOR, CEIL, POW, EXPRELR, UNIT_SCALE };

static double exprelr(double x)
{
	const double bounded = x > 800 ? 800 : x;

	return bounded == 0 ? 1 : bounded/expm1(bounded);
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
	case EXPRELR: return exprelr(x);
	case UNIT_SCALE: return unit_scale(x, is_single ? 125 : 1021);
	}
	return NAN;
}

/* expf, pmg_pow_f32: of floats. */
static struct run_value call_float(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct run_value x = run_arg(run, call, 0), y = call->args.n > 1 ? run_arg(run, call, 1) : x;
	const bool is_single = element == TYPE_F32 || (element < 0 && call->text[strlen(call->text) - 1] == 'f');
	struct run_value value = run_of_element(is_single ? TYPE_F32 : TYPE_F64,
						of_math(code, run_real(&x), run_real(&y), is_single), 0);

	value.is_unset = x.is_unset || y.is_unset;
	return value;
}

/* ---- minimum, maximum, integers ---- */

enum { MIN, MAX };

static struct run_value chosen(const struct run_value *a, const struct run_value *b, bool is_max)
{
	double x = run_real(a), y = run_real(b);

	if (a->kind == RUN_FLOAT)
		return isnan(x) || (is_max ? x > y : x < y) ? *a : *b;
	return (is_max ? a->integer > b->integer : a->integer < b->integer) ? *a : *b;
}

static struct run_value least_or_most(struct run *run, struct run_value a, struct run_value b, int element, int code)
{
	struct run_value value;

	a = run_converted(run, a, element);
	b = run_converted(run, b, element);
	value = chosen(&a, &b, code == MAX);
	value.is_unset = a.is_unset || b.is_unset;
	value.is_own = a.is_own || b.is_own;
	return value;
}

static struct run_value call_min_max(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct run_value a = run_arg(run, call, 0), b = run_arg(run, call, 1);

	return least_or_most(run, a, b, element, code);
}

/* a < b ? a : b as a macro: of any type. */
static struct run_value call_up_to(struct run *run, const struct k_expr *call, int element, int code)
{
	(void) element;
	return call_min_max(run, call, TYPE_I64, code);
}

enum { DIV, MOD };

/* Division by zero, which the runtime makes 0, is a fault of the caller's numbers, not of the kernel. */
static struct run_value call_div(struct run *run, const struct k_expr *call, int element, int code)
{
	struct run_value a = run_arg(run, call, 0), b = run_arg(run, call, 1), value = a;
	int64_t quotient = b.integer == 0 ? 0 : b.integer == -1 ? (int64_t) (0 - (uint64_t) a.integer)
			 : a.integer/b.integer - (a.integer % b.integer != 0 && (a.integer ^ b.integer) < 0);

	(void) element;
	value = run_int(code == DIV ? quotient : b.integer == 0 || b.integer == -1 ? 0 : a.integer - quotient*b.integer);
	value.is_unset = a.is_unset || b.is_unset;
	value.is_own = a.is_own || b.is_own;
	value.has_wrapped = a.has_wrapped || b.has_wrapped;
	return value;
}

static struct run_value call_to(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct run_value x = run_arg(run, call, 0);
	const double real = isnan(run_real(&x)) ? 0 : run_real(&x);
	const int bits = 8*(int) run_element_bytes(run, element);
	const bool is_signed = element < TYPE_U8;
	const double above = ldexp(1, bits - is_signed), below = is_signed ? -above : 0;
	struct run_value value = run_int(real >= above ? (int64_t) (((uint64_t) 1 << (bits - is_signed)) - 1)
					 : real <= below ? (int64_t) below : (int64_t) real);

	(void) code;
	value.is_unset = x.is_unset;
	value = run_converted(run, value, element);
	return value;
}

enum { HALVINGS, DOUBLINGS };

static struct run_value call_levels(struct run *run, const struct k_expr *call, int element, int code)
{
	int64_t n = run_arg_int(run, call, 0), limit = run_arg_int(run, call, 1), levels = 0;

	(void) element;
	for (; code == HALVINGS && n > limit && limit >= 0; n /= 2)
		levels++;
	for (; code == DOUBLINGS && limit < n && levels < 62; limit *= 2)
		levels++;
	return run_int(levels);
}

static struct run_value call_part_begin(struct run *run, const struct k_expr *call, int element, int code)
{
	const int64_t n = run_arg_int(run, call, 0), part = run_arg_int(run, call, 1);
	const int64_t parts = run_arg_int(run, call, 2), line = run_arg_int(run, call, 3);
	struct run_value value = run_arg(run, call, 1);
	int64_t begin = n;

	(void) element, (void) code;
	if (parts <= 0 || line <= 0)
		run_fault(run, "%s: no parts, or no lines", call->text);
	else if (part < parts)
		begin = (part*n/parts + line/2)/line*line;
	value.integer = begin < n ? begin : n;
	value.element = TYPE_I64;
	return value;
}

/* ---- indices, threads, atomics, prefetches ---- */

static struct run_value call_index_at(struct run *run, const struct k_expr *call, int element, int code)
{
	struct run_value at = run_arg(run, call, 0), index = run_arg(run, call, 2), value;

	(void) element, (void) code;
	at.element = run_arg_int(run, call, 1) <= 65536 ? TYPE_U16 : TYPE_I32;
	at = run_moved(run, at, &index);
	value = run->has_stopped ? run_int(0) : run_load(run, &at, RUN_READ);
	return run_converted(run, value, TYPE_I64);
}

enum { THREAD, THREADS, TEAM };

static struct run_value call_thread(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct run_team *team = run->fiber->team;
	struct run_value value = run_int(code == THREAD ? run->fiber->number : code == TEAM || !team
					 ? run->host->threads : team->n);

	(void) call, (void) element;
	if (code == THREADS && !team)
		value.integer = 1;
	value.is_own = code == THREAD;
	return value;
}

enum { ATOMIC_MIN, ATOMIC_MAX, ATOMIC_PROD };

static struct run_value call_atomic(struct run *run, const struct k_expr *call, int element, int code)
{
	struct run_value at = run_arg(run, call, 0), value = run_arg(run, call, 1), before;

	at.element = element;
	before = run_load(run, &at, RUN_WRITE_ATOMIC);
	if (run->has_stopped)
		return before;
	value = code == ATOMIC_PROD ? run_binary(run, K_MUL, before, value)
				    : least_or_most(run, before, value, element, code == ATOMIC_MAX ? MAX : MIN);
	run_store(run, &at, value, true);
	return value;
}

/* (plan, state, next): next is made a copy of it. */
static struct run_value call_keep(struct run *run, const struct k_expr *call, int element, int code)
{
	const struct run_value from = run_plan_data(run, run_arg_int(run, call, 1));
	const struct run_value to = run_plan_data(run, run_arg_int(run, call, 2));

	(void) element, (void) code;
	if (!run->has_stopped)
		run_copy(&to, &from);
	return to;
}

static struct run_value call_nothing(struct run *run, const struct k_expr *call, int element, int code)
{
	(void) run, (void) call, (void) element, (void) code;
	return (struct run_value) { .kind = RUN_NOTHING };
}

/* Those that only say how far ahead to ask. */
static struct run_value call_zero(struct run *run, const struct k_expr *call, int element, int code)
{
	(void) run, (void) call, (void) element;
	return run_int(code);
}

static struct run_value call_first(struct run *run, const struct k_expr *call, int element, int code)
{
	(void) element, (void) code;
	return run_arg(run, call, 0);
}

static struct run_value call_wide(struct run *run, const struct k_expr *call, int element, int code)
{
	(void) element, (void) code;
	return run_converted(run, run_arg(run, call, 0), TYPE_I64);
}

const struct run_call run_math_calls[] = {
	{ "fabs", call_float, ABS }, { "fabsf", call_float, ABS }, { "sqrt", call_float, SQRT },
	{ "sqrtf", call_float, SQRT }, { "exp", call_float, EXP }, { "expf", call_float, EXP },
	{ "log", call_float, LOG }, { "logf", call_float, LOG }, { "sin", call_float, SIN },
	{ "sinf", call_float, SIN }, { "cos", call_float, COS }, { "cosf", call_float, COS },
	{ "tanh", call_float, TANH }, { "tanhf", call_float, TANH }, { "expm1", call_float, EXPM1 },
	{ "expm1f", call_float, EXPM1 }, { "floor", call_float, FLOOR }, { "floorf", call_float, FLOOR },
	{ "ceil", call_float, CEIL }, { "ceilf", call_float, CEIL }, { "pmg_pow_", call_float, POW },
	{ "pmg_exprelr_", call_float, EXPRELR }, { "pmg_unit_scale_", call_float, UNIT_SCALE },
	{ "pmg_min_", call_min_max, MIN }, { "pmg_max_", call_min_max, MAX }, { "PMG_UP_TO", call_up_to, MIN },
	{ "pmg_div", call_div, DIV }, { "pmg_mod", call_div, MOD }, { "pmg_to_", call_to, 0 },
	{ "pmg_halvings", call_levels, HALVINGS }, { "pmg_doublings", call_levels, DOUBLINGS },
	{ "pmg_part_begin", call_part_begin, 0 }, { "pmg_index_at", call_index_at, 0 },
	{ "pmg_thread", call_thread, THREAD }, { "pmg_threads", call_thread, THREADS }, { "pmg_team", call_thread, TEAM },
	{ "pmg_atomic_min_", call_atomic, ATOMIC_MIN }, { "pmg_atomic_max_", call_atomic, ATOMIC_MAX },
	{ "pmg_atomic_prod_", call_atomic, ATOMIC_PROD },
	{ "__builtin_expect", call_first, 0 }, { "pmg_keep", call_keep, 0 }, { "PMG_END", call_first, 0 }, { "INT64_C", call_wide, 0 },
	{ "PMG_FETCH", call_nothing, 0 }, { "pmg_row_ask", call_nothing, 0 }, { "__builtin_prefetch", call_nothing, 0 },
	{ "pmg_block_asked_", call_nothing, 0 }, { "pmg_segments_asked_", call_nothing, 0 },
	{ "pmg_block_later", call_nothing, 0 },
	{ "pmg_block_far", call_zero, 0 }, { "pmg_segments_far", call_zero, 0 }, { "pmg_far_if_long", call_zero, 0 },
	{ "pmg_most_ahead", call_zero, 0 }, { "pmg_rows_ahead", call_zero, 0 }, { "pmg_ask_most", call_zero, 0 },
	{ "pmg_ask_rest", call_zero, 0 }, { "pmg_window_ahead", call_zero, 0 }, { "pmg_is_large", call_zero, 0 },
	{ "pmg_next_first", call_zero, 0 },
	{ NULL, NULL, 0 }
};
