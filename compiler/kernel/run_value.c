/* SPDX-License-Identifier: MIT
 *
 * Values of kernel programs and the arithmetic of C on them: operands are promoted and brought to one type, results
 * rounded or wrapped to it. What is computed from a value that nobody has written, from the number of the thread, or
 * from a number that 64 bits were too few for, is marked so. */
#include "kernel/run_private.h"

#include <math.h>
#include <string.h>

struct run_value run_int(int64_t value)
{
	return (struct run_value) { .kind = RUN_INT, .element = TYPE_I64, .integer = value };
}

static bool is_float(int element)
{
	return element == TYPE_F32 || element == TYPE_F64;
}

static int64_t wrapped(int element, int64_t value)
{
	switch (element) {
	case TYPE_I8: return (int8_t) value;
	case TYPE_I16: return (int16_t) value;
	case TYPE_I32: return (int32_t) value;
	case TYPE_U8: return (uint8_t) value;
	case TYPE_U16: return (uint16_t) value;
	case TYPE_U32: return (uint32_t) value;
	case TYPE_BOOL: return value != 0;
	}
	return value;
}

static double rounded(int element, double value)
{
	return element == TYPE_F32 || element == RUN_VECTOR_F32 ? (double) (float) value : value;
}

struct run_value run_of_element(int element, double real, int64_t integer)
{
	struct run_value value = { .kind = is_float(element) ? RUN_FLOAT : RUN_INT, .element = element };

	if (value.kind == RUN_FLOAT)
		value.real = rounded(element, real);
	else
		value.integer = wrapped(element, integer);
	return value;
}

double run_real(const struct run_value *value)
{
	if (value->kind == RUN_FLOAT)
		return value->real;
	return value->element == RUN_U64 ? (double) (uint64_t) value->integer : (double) value->integer;
}

int64_t run_integer(struct run *run, const struct run_value *value)
{
	if (value->is_unset)
		run_fault(run, "a number that decides where or how often was never written");
	else if (value->kind == RUN_FLOAT && !(fabs(value->real) < 0x1p62))
		run_fault(run, "%g is no number of anything", value->real);
	else if (value->kind != RUN_INT && value->kind != RUN_FLOAT)
		run_fault(run, "an integer is expected");
	else if (value->has_wrapped)
		run_fault(run, "64 bits are too few for this index");
	if (run->has_stopped)
		return 0;
	return value->kind == RUN_FLOAT ? (int64_t) value->real : value->integer;
}

bool run_truth(struct run *run, const struct run_value *value)
{
	if (value->is_unset)
		run_fault(run, "the condition has a value that was never written");
	if (value->kind == RUN_ADDRESS)
		return value->buffer != NULL;
	return value->kind == RUN_FLOAT ? value->real != 0 : value->integer != 0;
}

/* ---- conversions ---- */

struct run_value run_marked(struct run_value to, const struct run_value *a, const struct run_value *b)
{
	to.is_unset |= a->is_unset | b->is_unset;
	to.is_own |= a->is_own | b->is_own;
	to.has_wrapped |= a->has_wrapped | b->has_wrapped;
	return to;
}

static double *new_lanes(struct run *run)
{
	if (!run->vectors)
		run->vectors = arena_new_array(run->arena, double, RUN_VECTORS*RUN_MOST_LANES);
	run->n_vectors = (run->n_vectors + 1) % RUN_VECTORS;
	return run->vectors + run->n_vectors*RUN_MOST_LANES;
}

void run_lanes_taken(struct run *run, struct run_value *vector)
{
	const double *before = vector->lane;

	vector->lane = new_lanes(run);
	memcpy(vector->lane, before, (size_t) vector->lanes*sizeof *before);
}

struct run_value run_filled(struct run *run, int element, struct run_value value)
{
	struct run_value vector = { .kind = RUN_VECTOR, .element = element, .lanes = run_lanes(run, element),
				    .is_own = value.is_own };

	vector.lane = new_lanes(run);
	for (int i = 0; i < vector.lanes; i++)
		vector.lane[i] = rounded(element, run_real(&value));
	vector.unset = value.is_unset ? UINT32_MAX : 0;
	return vector;
}

static struct run_value vector_converted(struct run *run, struct run_value value, int element)
{
	if (value.element == element)
		return value;
	value.element = element;
	run_lanes_taken(run, &value);
	for (int i = 0; i < value.lanes; i++)
		value.lane[i] = rounded(element, value.lane[i]);
	return value;
}

static int64_t of_real(double real)
{
	return fabs(real) < 0x1p63 ? (int64_t) real : 0;
}

struct run_value run_converted(struct run *run, struct run_value value, int element)
{
	bool is_vector = run_is_vector(element);
	struct run_value to;

	if (value.kind == RUN_VECTOR)
		return is_vector ? vector_converted(run, value, element) : value;
	if (value.kind != RUN_INT && value.kind != RUN_FLOAT)
		return value;
	if (is_vector)
		return run_filled(run, element, value);
	if (element == TYPE_BOOL)
		to = run_of_element(element, 0, run_real(&value) != 0);
	else
		to = run_of_element(element, run_real(&value),
				    value.kind == RUN_FLOAT ? of_real(value.real) : value.integer);
	return run_marked(to, &value, &value);
}

/* ---- integers and floats ---- */

static int rank(int element)
{
	return element == RUN_U64 ? 3 : element == TYPE_I64 ? 2 : element == TYPE_U32 ? 1 : 0;
}

static int common(int a, int b)
{
	static const int of_rank[] = { TYPE_I32, TYPE_U32, TYPE_I64, RUN_U64 };

	if (is_float(a) || is_float(b))
		return a == TYPE_F64 || b == TYPE_F64 || !is_float(a) != !is_float(b)
		       ? (a == TYPE_F64 || b == TYPE_F64 ? TYPE_F64 : TYPE_F32) : TYPE_F32;
	return of_rank[rank(a) > rank(b) ? rank(a) : rank(b)];
}

struct run_value run_flag(bool value)
{
	return run_of_element(TYPE_I32, 0, value);
}

/* A comparison's result in `out`; false: it is another operator. */
static bool compared(enum k_op op, double a, double b, bool *out)
{
	switch ((int) op) {
	case K_EQ: *out = a == b; return true;
	case K_NE: *out = a != b; return true;
	case K_LT: *out = a < b; return true;
	case K_LE: *out = a <= b; return true;
	case K_GT: *out = a > b; return true;
	case K_GE: *out = a >= b; return true;
	}
	return false;
}

static bool compared_integers(enum k_op op, int64_t a, int64_t b, bool *out)
{
	return compared(op, a < b ? 0 : a == b ? 1 : 2, 1, out);
}

static double computed(enum k_op op, double a, double b)
{
	switch ((int) op) {
	case K_ADD: return a + b;
	case K_SUB: return a - b;
	case K_MUL: return a*b;
	case K_DIV: return a/b;
	}
	return NAN;
}

/* Sets `has_wrapped` where 64 bits with a sign are too few. */
static int64_t computed_integer(struct run *run, enum k_op op, int64_t a, int64_t b, bool *has_wrapped)
{
	int64_t result = 0;

	if ((op == K_DIV || op == K_REM) && b == 0) {
		run_fault(run, "a division of integers by zero");
		return 0;
	}
	switch ((int) op) {
	case K_ADD: *has_wrapped = __builtin_add_overflow(a, b, &result); break;
	case K_SUB: *has_wrapped = __builtin_sub_overflow(a, b, &result); break;
	case K_MUL: *has_wrapped = __builtin_mul_overflow(a, b, &result); break;
	case K_DIV: result = b == -1 ? -a : a/b; break;
	case K_REM: result = b == -1 ? 0 : a % b; break;
	case K_BIT_AND: result = a & b; break;
	case K_BIT_OR: result = a | b; break;
	case K_SHIFT: result = a >> (b & 63); break;
	}
	return result;
}

static struct run_value integers(struct run *run, enum k_op op, const struct run_value *a, const struct run_value *b)
{
	int type = op == K_SHIFT ? common(a->element, a->element) : common(a->element, b->element);
	int64_t x = wrapped(type, a->integer), y = wrapped(type, b->integer), exact;
	bool is_true, has_wrapped = false;
	struct run_value value;

	if (type == RUN_U64 && (x < 0) != (y < 0) && compared_integers(op, y, x, &is_true) && op != K_EQ && op != K_NE)
		return run_flag(is_true);
	if (compared_integers(op, x, y, &is_true))
		return run_flag(is_true);
	exact = computed_integer(run, op, x, y, &has_wrapped);
	value = run_of_element(type, 0, exact);
	value.has_wrapped = type == RUN_U64 ? false : has_wrapped || value.integer != exact;
	return value;
}

static struct run_value floats(enum k_op op, const struct run_value *a, const struct run_value *b)
{
	int type = common(a->element, b->element);
	double x = rounded(type, run_real(a)), y = rounded(type, run_real(b));
	bool is_true;

	if (compared(op, x, y, &is_true))
		return run_flag(is_true);
	return run_of_element(type, computed(op, x, y), 0);
}

/* ---- vectors, masks, addresses ---- */

static struct run_value vectors(struct run *run, enum k_op op, struct run_value a, struct run_value b)
{
	int element = a.kind == RUN_VECTOR ? a.element : b.element;
	struct run_value mask = { .kind = RUN_MASK, .element = element };
	bool is_true, is_mask = false;

	a = run_converted(run, a, element);
	b = run_converted(run, b, element);
	run_lanes_taken(run, &a);
	for (int i = 0; i < a.lanes; i++) {
		is_mask = compared(op, a.lane[i], b.lane[i], &is_true);
		if (is_mask)
			mask.integer |= (int64_t) is_true << i;
		else
			a.lane[i] = rounded(element, computed(op, a.lane[i], b.lane[i]));
	}
	mask.lanes = a.lanes;
	a.unset |= b.unset;
	mask.is_unset = a.unset;
	return is_mask ? mask : run_marked(a, &a, &b);
}

static struct run_value masks(enum k_op op, struct run_value a, const struct run_value *b)
{
	a.integer = op == K_BIT_AND ? a.integer & b->integer : a.integer | b->integer;
	return run_marked(a, &a, b);
}

static struct run_value addresses(struct run *run, enum k_op op, struct run_value a, struct run_value b)
{
	bool is_true;

	if (a.kind == RUN_ADDRESS && b.kind == RUN_INT && (op == K_ADD || op == K_SUB)) {
		b.integer = op == K_ADD ? b.integer : -b.integer;
		return run_moved(run, a, &b);
	}
	if (a.kind == RUN_INT && b.kind == RUN_ADDRESS && op == K_ADD)
		return run_moved(run, b, &a);
	if (a.kind != RUN_ADDRESS || b.kind != RUN_ADDRESS) {
		run_unknown(run, "an operator of this address");
		return run_int(0);
	}
	if (compared(op, a.buffer == b.buffer ? (double) a.integer : (a.buffer < b.buffer ? -1.0 : 1e300),
		     a.buffer == b.buffer ? (double) b.integer : 0, &is_true))
		return run_flag(is_true);
	return run_int((a.integer - b.integer)/run_element_bytes(run, a.element));
}

static bool is_number(const struct run_value *value)
{
	return value->kind == RUN_INT || value->kind == RUN_FLOAT;
}

struct run_value run_binary(struct run *run, enum k_op op, struct run_value a, struct run_value b)
{
	if (a.kind == RUN_VECTOR || b.kind == RUN_VECTOR)
		return vectors(run, op, a, b);
	if (a.kind == RUN_ADDRESS || b.kind == RUN_ADDRESS)
		return addresses(run, op, a, b);
	if (a.kind == RUN_MASK && b.kind == RUN_MASK)
		return masks(op, a, &b);
	if (!is_number(&a) || !is_number(&b)) {
		run_unknown(run, "operator %s of something that is no number", k_op_text(op));
		return run_int(0);
	}
	return run_marked(a.kind == RUN_INT && b.kind == RUN_INT ? integers(run, op, &a, &b) : floats(op, &a, &b),
			  &a, &b);
}

struct run_value run_combined(struct run *run, enum run_combining how, struct run_value a, struct run_value b)
{
	const double x = run_real(&a), y = run_real(&b);
	bool is_a;

	if (how == RUN_ADD || how == RUN_PROD)
		return run_binary(run, how == RUN_ADD ? K_ADD : K_MUL, a, b);
	if (a.kind == RUN_FLOAT || b.kind == RUN_FLOAT)
		is_a = isnan(x) || (how == RUN_MIN ? x < y : x > y);
	else
		is_a = how == RUN_MIN ? a.integer < b.integer : a.integer > b.integer;
	return run_marked(is_a ? a : b, &a, &b);
}

/* ---- one operand ---- */

static struct run_value negated(struct run *run, struct run_value a)
{
	struct run_value zero = a;

	if (a.kind == RUN_VECTOR)
		run_lanes_taken(run, &a);
	for (int i = 0; a.kind == RUN_VECTOR && i < a.lanes; i++)
		a.lane[i] = -a.lane[i];
	if (a.kind == RUN_FLOAT)
		a.real = -a.real;
	zero.integer = 0;
	return a.kind == RUN_INT ? run_binary(run, K_SUB, zero, a) : a;
}

static struct run_value inverted(struct run_value a)
{
	if (a.kind == RUN_MASK) {
		a.integer = ~a.integer & ((INT64_C(1) << a.lanes) - 1);
		return a;
	}
	return run_marked(run_of_element(common(a.element, a.element), 0, ~a.integer), &a, &a);
}

struct run_value run_unary(struct run *run, enum k_op op, struct run_value a)
{
	if (op == K_NOT)
		return run_flag(!run_truth(run, &a));
	if (op == K_NEG)
		return negated(run, a);
	if (op == K_INVERT)
		return inverted(a);
	run_unknown(run, "operator %s", k_op_text(op));
	return a;
}
