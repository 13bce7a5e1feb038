/* SPDX-License-Identifier: MIT
 *
 * Names of other languages: of numbers, of branches, of functions and of what arrays have there as members. Of each
 * what is written instead is known, either a text that takes its place or a sentence. */
#include "sema/sema_private.h"

#include <string.h>

const char *foreign_value(const char *name)
{
	static const struct word_pair values[] = {
		{ "True", "true" }, { "TRUE", "true" }, { "False", "false" }, { "FALSE", "false" },
		{ "Inf", "inf" }, { "INF", "inf" }, { "INFINITY", "inf" }, { "Infinity", "inf" }, { "infinity", "inf" },
		{ "inf", "inf" },
	};

	return WORD_PAIR_FIND(values, name);
}

const char *foreign_number(const char *name)
{
	static const char pi[] = "3.14159265358979", e[] = "2.71828182845905", nan[] = "0.0/0.0";
	static const struct word_pair numbers[] = {
		{ "pi", pi }, { "Pi", pi }, { "PI", pi }, { "M_PI", pi }, { "M_E", e },
		{ "nan", nan }, { "NaN", nan }, { "NAN", nan },
	};

	return WORD_PAIR_FIND(numbers, name);
}

const char *foreign_branch(const char *name)
{
	static const struct word_pair branches[] = {
		{ "default", "else" }, { "otherwise", "else" }, { "_", "else" },
	};
	static const char *const word[] = { "else" };
	const char *ours = WORD_PAIR_FIND(branches, name);

	return ours ? ours : suggest_nearest(name, word, 1);
}

#define INVERSE "there are no inverse trigonometric functions: give their values as an array"
#define SPECIAL "there is no such function: give its values as an array"
#define ASINH "of x >= 0 it is log(x + sqrt(x*x + 1)), and of -x less that"
#define ACOSH "this is log(x + sqrt(x*x - 1))"
#define ATANH "this is log((1 + x)/(1 - x))/2"
#define REMAINDER "it is x - y*floor(x/y + 0.5), but for ties"
#define ROUNDED "the nearest integer is floor(x + 0.5)"
#define PLACES "the first place of a value v is min(i in 0..n) select(x[i] == v, i, n)"
#define SIZES "sizes have the names of the declaration, as n in x : f64[n]"

/* By the name of its version for f64. */
static const char *function_advice(const char *name)
{
	static const struct word_pair functions[] = {
		{ "len", SIZES }, { "length", SIZES }, { "size", SIZES }, { "shape", SIZES },
		{ "minval", "the smallest value is min(i in 0..n) x[i]" },
		{ "argmax", PLACES }, { "argmin", PLACES },
		{ "mean", "a mean is sum(x)/n" },
		{ "sqr", "a square is x*x or pow(x, 2)" }, { "square", "a square is x*x or pow(x, 2)" },
		{ "ceil", "rounded up is -floor(-x)" },
		{ "log10", "to the base 10 it is log(x)/log(10)" }, { "log2", "to the base 2 it is log(x)/log(2)" },
		{ "hypot", "this is sqrt(x*x + y*y)" }, { "tan", "this is sin(x)/cos(x)" },
		{ "sigmoid", "this is 1/(1 + exp(-x))" }, { "relu", "this is max(x, 0)" },
		{ "expm1", "exp(x) - 1 without loss near 0 is x/exprelr(x); else write exp(x) - 1" },
		{ "log1p", "this is log(1 + x), which loses digits near 0" },
		{ "exp2", "this is pow(2, x)" }, { "exp10", "this is pow(10, x)" }, { "pow10", "this is pow(10, x)" },
		{ "softplus", "this is log(1 + exp(x))" }, { "heaviside", "this is select(x < 0, 0, 1)" },
		{ "radians", "this is x*3.14159265358979/180" }, { "degrees", "this is x*180/3.14159265358979" },
		{ "cbrt", "of x >= 0 it is pow(x, 1.0/3)" }, { "rsqrt", "this is 1/sqrt(x)" },
		{ "sinh", "this is (exp(x) - exp(-x))/2" }, { "cosh", "this is (exp(x) + exp(-x))/2" },
		{ "asinh", ASINH }, { "acosh", ACOSH }, { "atanh", ATANH }, { "arcsinh", ASINH }, { "arccosh", ACOSH },
		{ "arctanh", ATANH }, { "asin", INVERSE }, { "acos", INVERSE },
		{ "atan", INVERSE }, { "atan2", INVERSE }, { "arcsin", INVERSE }, { "arccos", INVERSE },
		{ "arctan", INVERSE }, { "arctan2", INVERSE }, { "erf", SPECIAL }, { "erfc", SPECIAL },
		{ "gamma", SPECIAL }, { "tgamma", SPECIAL }, { "lgamma", SPECIAL }, { "j0", SPECIAL },
		{ "j1", SPECIAL }, { "jn", SPECIAL }, { "y0", SPECIAL }, { "y1", SPECIAL }, { "yn", SPECIAL },
		{ "nextafter", SPECIAL }, { "nexttoward", SPECIAL }, { "erfinv", SPECIAL }, { "digamma", SPECIAL },
		{ "gammaln", SPECIAL }, { "frexp", SPECIAL }, { "logb", SPECIAL }, { "ilogb", SPECIAL },
		{ "fmod", "with the sign of y it is x - y*floor(x/y)" },
		{ "remainder", REMAINDER }, { "remquo", REMAINDER },
		{ "drem", REMAINDER },
		{ "modf", "the fraction is x - select(x < 0, -floor(-x), floor(x))" }, { "fma", "this is a*b + c" },
		{ "ldexp", "this is x*pow(2, n)" }, { "scalbn", "this is x*pow(2, n)" },
		{ "scalbln", "this is x*pow(2, n)" },
		{ "trunc", "towards 0 it is select(x < 0, -floor(-x), floor(x))" }, { "rint", ROUNDED },
		{ "nearbyint", ROUNDED }, { "lrint", ROUNDED }, { "llrint", ROUNDED }, { "lround", ROUNDED },
		{ "llround", ROUNDED },
		{ "fmin", "the smaller of two numbers is min(a, b)" },
		{ "fmax", "the greater of two numbers is max(a, b)" }, { "fdim", "this is max(x - y, 0)" },
		{ "copysign", "this is select(y < 0, -abs(x), abs(x))" },
		{ "sign", "this is select(x < 0, -1, select(x > 0, 1, 0))" },
		{ "signbit", "this is x < 0" }, { "isnan", "NaN differs from itself: x != x" },
		{ "isinf", "this is abs(x) == 1.0/0.0" }, { "isfinite", "this is x - x == 0" },
		{ "clip", "this is min(max(x, lo), hi)" }, { "clamp", "this is min(max(x, lo), hi)" },
		{ "round", ROUNDED },
		{ "mod", "the remainder of integers is i % n" },
		{ "children", "children are a range of a reduction, as in sum(c in children(T.parent, i)) x[c]" },
		{ "where", "a choice is select(c, a, b)" },
		{ "maximum", "the greater of two numbers is max(a, b)" },
		{ "minimum", "the smaller of two numbers is min(a, b)" },
		{ "power", "a power is pow(x, y)" }, { "fabs", "the absolute value is abs(x)" },
		{ "ln", "the natural logarithm is log(x)" },
		{ "int", "integers are made by cast<i64>(x)" }, { "float", "floats are made by cast<f64>(x)" },
	};

	return WORD_PAIR_FIND(functions, name);
}

/* In C, a version for f32 ends with an f, one for long double with an l. */
const char *foreign_function(const char *name)
{
	const char *advice = function_advice(name);
	char plain[24];
	size_t n = strlen(name);

	if (advice || n < 3 || n >= sizeof plain || !strchr("fl", name[n - 1]))
		return advice;
	memcpy(plain, name, n - 1);
	plain[n - 1] = '\0';
	return function_advice(plain);
}

const char *foreign_member(const char *name)
{
	static const struct word_pair members[] = {
		{ "T", "a matrix is transposed by transpose(x)" }, { "shape", SIZES }, { "size", SIZES },
		{ "length", SIZES }, { "dim", SIZES }, { "ndim", SIZES },
		{ "max", "the greatest value is maxval(x)" }, { "min", "the smallest value is min(i in 0..n) x[i]" },
		{ "astype", "a conversion is written cast<f32>(x)" },
	};
	const char *ours = WORD_PAIR_FIND(members, name);

	return ours ? ours : foreign_function(name);
}

/* ---- functions that are called as members ---- */

static const char *text_of(const struct sema *sema, struct span span)
{
	return span_text(sema->diags->sources, sema->arena, span);
}

/* `sum(x)` for `x.sum()`, `cast<f32>(x)` for `x.astype(f32)`; of a module, which is no name of the program, what
 * it has; NULL: there is no such function. */
const char *foreign_call(const struct sema *sema, const struct tree_expr *call, bool is_module)
{
	const struct function *function = function_find(call->name.member);
	int n = call->args.n + !is_module;
	const char *first = call->args.n ? text_of(sema, call->args.items[0]->span) : "";
	enum scalar_type type;
	struct str text = str_new(sema->arena);

	if (!is_module && call->args.n == 1 && !strcmp(call->name.member, "astype") && type_from_name(first, &type))
		return arena_printf(sema->arena, "cast<%s>(%s)", first, call->name.name);
	if (!function || n < function->min_args || n > function->max_args)
		return NULL;
	str_add(&text, "%s(%s", function->name, is_module ? "" : call->name.name);
	for (int i = 0; i < call->args.n; i++)
		str_add(&text, "%s%s", i || !is_module ? ", " : "", text_of(sema, call->args.items[i]->span));
	str_add(&text, ")");
	return str_text(&text);
}
