/* SPDX-License-Identifier: MIT
 *
 * Sizes follow from equations "extent = what the file has". An equation with one unknown parameter is
 * solved, again and again until nothing changes; every equation that is certain must hold at the end, else
 * the two that contradict each other are told. What a file only suggests (its largest coordinate, an
 * attribute of the same name) is used for parameters that nothing certain determines. */
#include "run/run.h"

#include <inttypes.h>
#include <string.h>

/* An affine expression over parameters: sum of factor * parameter, plus constant. */
struct linear {
	int64_t constant;
	int64_t *factors; /* by number of parameter */
};

void equation_add(struct session *s, const struct expr *expr, int64_t value, bool is_guess,
		  const char *source)
{
	struct equation equation = { .expr = expr, .value = value, .source = source, .is_guess = is_guess };
	if (expr)
		vec_push(s->arena, &s->equations, equation);
}

/* ---- Values --------------------------------------------------------------------------- */

static int64_t floor_quotient(int64_t a, int64_t b)
{
	int64_t quotient = a / b;
	return quotient - (a % b != 0 && (a < 0) != (b < 0));
}

static bool apply(enum expr_op op, int64_t a, int64_t b, int64_t *value)
{
	if (op == OP_ADD)
		return !__builtin_add_overflow(a, b, value);
	if (op == OP_SUB)
		return !__builtin_sub_overflow(a, b, value);
	if (op == OP_MUL)
		return !__builtin_mul_overflow(a, b, value);
	if (op == OP_MIN || op == OP_MAX)
		return *value = (a < b) == (op == OP_MIN) ? a : b, true;
	if ((op != OP_DIV && op != OP_MOD) || b <= 0)
		return false;
	*value = op == OP_DIV ? floor_quotient(a, b) : a - b * floor_quotient(a, b);
	return true;
}

bool sizes_evaluate(const struct session *s, const struct expr *expr, int64_t *value)
{
	int64_t a, b = 0;
	if (expr->kind == EXPR_INT) {
		*value = expr->integer;
		return true;
	}
	if (expr->kind == EXPR_PARAM) {
		*value = s->sizes.items[expr->index].value;
		return s->sizes.items[expr->index].is_known;
	}
	if (expr->kind == EXPR_CAST)
		return sizes_evaluate(s, expr->args[0], value);
	if (expr->kind != EXPR_OP || op_arity(expr->op) > 2 || !sizes_evaluate(s, expr->args[0], &a))
		return false;
	if (expr->op == OP_NEG)
		return apply(OP_SUB, 0, a, value);
	return op_arity(expr->op) == 2 && sizes_evaluate(s, expr->args[1], &b) &&
	       apply(expr->op, a, b, value);
}

bool sizes_shape(const struct session *s, const struct array *array, int64_t *shape)
{
	for (int d = 0; d < array->rank; d++)
		if (!sizes_evaluate(s, array->hi[d], &shape[d]))
			return false;
	return true;
}

const char *array_text(struct session *s, const struct array *array)
{
	struct str text = str_new(s->arena);
	str_add(&text, "%s", type_name(array->type));
	for (int d = 0; d < array->rank; d++)
		str_add(&text, "%s%s", d ? ", " : "[", expr_text(s->arena, s->module, NULL, array->hi[d]));
	if (array->rank > 0)
		str_add(&text, "]");
	return str_text(&text);
}

/* ---- Linear forms ------------------------------------------------------------------------ */

static bool add_linear(const struct session *s, const struct expr *expr, int64_t factor, struct linear *to);

static bool add_product(const struct session *s, const struct expr *expr, int64_t factor, struct linear *to)
{
	int64_t constant, product;
	for (int side = 0; side < 2; side++)
		if (expr_is_constant(expr->args[side], &constant))
			return !__builtin_mul_overflow(factor, constant, &product) &&
			       add_linear(s, expr->args[1 - side], product, to);
	return false;
}

/* to += factor * expr; false where that is not linear or overflows. */
static bool add_linear(const struct session *s, const struct expr *expr, int64_t factor, struct linear *to)
{
	int64_t product;
	if (expr->kind == EXPR_INT)
		return !__builtin_mul_overflow(factor, expr->integer, &product) &&
		       !__builtin_add_overflow(to->constant, product, &to->constant);
	if (expr->kind == EXPR_PARAM)
		return !__builtin_add_overflow(to->factors[expr->index], factor, &to->factors[expr->index]);
	if (expr->kind != EXPR_OP)
		return false;
	if (expr->op == OP_ADD || expr->op == OP_SUB)
		return add_linear(s, expr->args[0], factor, to) &&
		       add_linear(s, expr->args[1], expr->op == OP_ADD ? factor : -factor, to);
	if (expr->op == OP_NEG)
		return add_linear(s, expr->args[0], -factor, to);
	return expr->op == OP_MUL && add_product(s, expr, factor, to);
}

/* The value of what is known; `*unknown` is the one parameter that is not, with its factor. */
static bool split_linear(const struct session *s, const struct linear *form, int64_t *known, int *unknown)
{
	*known = form->constant;
	*unknown = -1;
	for (int p = 0; p < s->sizes.n; p++) {
		int64_t product;
		if (form->factors[p] == 0)
			continue;
		if (!s->sizes.items[p].is_known) {
			if (*unknown >= 0)
				return false;
			*unknown = p;
		} else if (__builtin_mul_overflow(form->factors[p], s->sizes.items[p].value, &product) ||
			   __builtin_add_overflow(*known, product, known)) {
			return false;
		}
	}
	return *unknown >= 0;
}

/* Whether the equation determines a parameter that was unknown. */
static bool solve(struct session *s, const struct equation *equation)
{
	int64_t known, rest;
	int unknown;
	struct linear form = { .factors = arena_new_array(s->arena, int64_t, s->sizes.n + 1) };
	if (!add_linear(s, equation->expr, 1, &form) || !split_linear(s, &form, &known, &unknown) ||
	    __builtin_sub_overflow(equation->value, known, &rest) || rest % form.factors[unknown] != 0 ||
	    rest / form.factors[unknown] < 0)
		return false;
	struct size *size = &s->sizes.items[unknown];
	size->is_known = true;
	size->is_guess = equation->is_guess;
	size->value = rest / form.factors[unknown];
	size->source = equation->source;
	return true;
}

/* ---- Flat files ------------------------------------------------------------------------------ */

/* The one dimension whose extent is not known, and the product of the others; -1: not one, or no product. */
static int open_dimension(const struct session *s, const struct array *array, int64_t *product)
{
	int64_t extent;
	int open = -1;
	*product = 1;
	for (int d = 0; d < array->rank; d++) {
		if (!sizes_evaluate(s, array->hi[d], &extent)) {
			if (open >= 0)
				return -1;
			open = d;
		} else if (__builtin_mul_overflow(*product, extent, product)) {
			return -1;
		}
	}
	return *product > 0 ? open : -1;
}

/* A file of n numbers without a shape determines an extent when all others are known. */
static void equation_of_flat(struct session *s, struct argument *argument)
{
	int64_t product, n = ndarray_count(&argument->value);
	int open = open_dimension(s, argument->array, &product);
	if (open < 0 || n % product != 0)
		return;
	const char *source = arena_printf(s->arena, "%s (%s, %" PRId64 " numbers)", argument->array->name,
					  argument->source, n);
	equation_add(s, argument->array->hi[open], n / product, false, source);
}

static bool solve_all(struct session *s, bool with_guesses)
{
	bool changed = false;
	for (int i = 0; i < s->arguments.n; i++)
		if (s->arguments.items[i].is_flat)
			equation_of_flat(s, &s->arguments.items[i]);
	for (int i = 0; i < s->equations.n; i++)
		if (with_guesses || !s->equations.items[i].is_guess)
			changed |= solve(s, &s->equations.items[i]);
	return changed;
}

/* ---- Checking ------------------------------------------------------------------------------------ */

static bool contradiction(struct session *s, const struct equation *equation, int64_t value,
			  struct failure *failure)
{
	const struct expr *expr = equation->expr;
	const char *text = expr_text(s->arena, s->module, NULL, expr);
	if (expr->kind == EXPR_PARAM)
		return fail(failure, OUTCOME_DATA, "%s is %" PRId64 " by %s, but %" PRId64 " by %s", text,
			    value, s->sizes.items[expr->index].source, equation->value, equation->source);
	fail(failure, OUTCOME_DATA, "%s must be %" PRId64 ", but is %" PRId64 " by %s", text, value,
	     equation->value, equation->source);
	for (int p = 0; p < s->sizes.n; p++) {
		const struct size *size = &s->sizes.items[p];
		if (size->is_known && size->source && strstr(text, size->param->name))
			fail_help(failure, "%s is %" PRId64 " by %s", size->param->name, size->value,
				  size->source);
	}
	return false;
}

static bool check_equations(struct session *s, struct failure *failure)
{
	for (int i = 0; i < s->equations.n; i++) {
		const struct equation *equation = &s->equations.items[i];
		int64_t value;
		if (!equation->is_guess && sizes_evaluate(s, equation->expr, &value) &&
		    value != equation->value)
			return contradiction(s, equation, value, failure);
	}
	return true;
}

/* A parameter that stands in an extent which the files have too small, or as no multiple, stays unknown. */
static bool unknown_sizes(struct session *s, struct failure *failure)
{
	struct str names = str_new(s->arena);
	const char *example = NULL;
	for (int p = 0; p < s->sizes.n; p++) {
		const struct size *size = &s->sizes.items[p];
		if (size->is_known || !param_is_argument(size->param))
			continue;
		str_add(&names, "%s%s", example ? ", " : "", size->param->name);
		example = example ? example : size->param->name;
	}
	if (!example)
		return true;
	fail(failure, OUTCOME_USAGE, "not known, and told by no argument: %s", str_text(&names));
	fail_help(failure, "give %s=NUMBER", example);
	return false;
}

/* The equation that could not be solved although its one unknown is all that is missing. */
static bool impossible_equation(struct session *s, struct failure *failure)
{
	for (int i = 0; i < s->equations.n; i++) {
		const struct equation *equation = &s->equations.items[i];
		int64_t known;
		int unknown;
		struct linear form = { .factors = arena_new_array(s->arena, int64_t, s->sizes.n + 1) };
		if (!equation->is_guess && add_linear(s, equation->expr, 1, &form) &&
		    split_linear(s, &form, &known, &unknown))
			return fail(failure, OUTCOME_DATA,
				    "no %s makes %s equal to %" PRId64 ", which it is by %s",
				    s->sizes.items[unknown].param->name,
				    expr_text(s->arena, s->module, NULL, equation->expr), equation->value,
				    equation->source);
	}
	return true;
}

/* A flat file that would tell an extent if it were as long as a multiple of the others. */
static bool divide_flat(struct session *s, const struct argument *argument, struct failure *failure)
{
	const struct array *array = argument->array;
	struct str text = str_new(s->arena);
	int64_t product, n = ndarray_count(&argument->value);
	int open = argument->is_flat ? open_dimension(s, array, &product) : -1;
	if (open < 0 || n % product == 0)
		return true;
	for (int d = 0, k = 0; d < array->rank; d++)
		if (d != open)
			str_add(&text, "%s%s", k++ ? " * " : "",
				expr_text(s->arena, s->module, NULL, array->hi[d]));
	return fail(failure, OUTCOME_DATA,
		    "%s (%s): %" PRId64 " numbers are no multiple of %s = %" PRId64, array->name,
		    argument->source, n, str_text(&text), product);
}

static bool shape_flat(struct session *s, struct argument *argument, struct failure *failure)
{
	struct ndarray *value = &argument->value;
	const struct array *array = argument->array;
	int64_t shape[PMG_MAX_RANK];
	size_t bytes;
	char text[200];
	if (!argument->is_flat || !sizes_shape(s, array, shape))
		return true;
	if (!shape_bytes(array->rank, shape, pmg_type_size(value->type), &bytes) ||
	    bytes != ndarray_bytes(value))
		return fail(failure, OUTCOME_DATA, "%s has %" PRId64 " numbers (%s), but its shape is %s",
			    array->name, ndarray_count(value), argument->source,
			    extents_text(array->rank, shape, text, sizeof(text)));
	value->rank = array->rank;
	memcpy(value->shape, shape, sizeof(shape));
	return true;
}

/* No array has fewer than no cells along a subscript. */
static bool check_extents(struct session *s, struct failure *failure)
{
	for (int i = 0; i < s->arguments.n; i++) {
		const struct array *array = s->arguments.items[i].array;
		int64_t shape[PMG_MAX_RANK];
		bool is_known = sizes_shape(s, array, shape);
		for (int d = 0; is_known && d < array->rank; d++) {
			const char *extent;
			if (shape[d] >= 0)
				continue;
			extent = expr_text(s->arena, s->module, NULL, array->hi[d]);
			fail(failure, OUTCOME_DATA, "'%s' would have %s = %" PRId64 " values along subscript %d (%s)",
			     array->name, extent, shape[d], d + 1,
			     span_place(&s->c->sources, s->arena, array->span));
			fail_help(failure, "give larger sizes; 'assume %s >= 0;' says in the program which fit",
				  extent);
			return false;
		}
	}
	return true;
}

bool sizes_infer(struct session *s, struct failure *failure)
{
	for (int guesses = 0; guesses < 2; guesses++)
		while (solve_all(s, guesses))
			;
	if (!check_equations(s, failure) || !impossible_equation(s, failure))
		return false;
	for (int i = 0; i < s->arguments.n; i++)
		if (!divide_flat(s, &s->arguments.items[i], failure))
			return false;
	if (!unknown_sizes(s, failure) || !check_extents(s, failure))
		return false;
	for (int i = 0; i < s->arguments.n; i++)
		if (!shape_flat(s, &s->arguments.items[i], failure))
			return false;
	return true;
}

/* ---- Telling ---------------------------------------------------------------------------------- */

/* Suggestions that are too small for what is certain, but for what the user says himself: perhaps a file of
 * another problem. */
static void print_doubt(const struct session *s, const struct equation *equation)
{
	const struct expr *expr = equation->expr;
	if (!equation->is_guess || expr->kind != EXPR_PARAM)
		return;
	const struct size *size = &s->sizes.items[expr->index];
	if (!size->is_guess && !size->is_given && equation->value < size->value)
		printf("%s = %" PRId64 " by %s, but %s suggests %" PRId64 "\n", size->param->name,
		       size->value, size->source, equation->source, equation->value);
}

void sizes_print(const struct session *s)
{
	for (int p = 0; p < s->sizes.n; p++) {
		const struct size *size = &s->sizes.items[p];
		if (size->is_guess)
			printf("%s = %" PRId64 ", by %s\n", size->param->name, size->value, size->source);
	}
	for (int i = 0; i < s->equations.n; i++)
		print_doubt(s, &s->equations.items[i]);
}
