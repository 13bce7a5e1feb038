/* SPDX-License-Identifier: MIT
 *
 * Random sizes and data for any pipeline. */
#include "random/bind.h"
#include "random/values.h"

#include <string.h>

/* Around each copy: as an index, far outside of anything; as a number, so large that whoever reads it is seen, and so
 * small that whoever adds to it is. Every other draw has negative ones: neither a minimum nor a maximum passes. */
enum { FENCE = 64, FENCE_BYTE = 0x41, FENCE_SIGN = 0x80 };

/* Of wide draws: how often a size is chosen, the largest one of other draws, what small ones are less than, and the
 * largest product of all. */
enum { WIDENINGS = 12, NARROW = 17, SMALL = 9, WIDEST = 1 << 14 };

static int fence_byte(const struct binding_set *set)
{
	return FENCE_BYTE | (set->random >> 20 & 1 ? FENCE_SIGN : 0);
}

static int64_t below(struct binding_set *set, int64_t n)
{
	return random_below(&set->random, n);
}

/* Extents and limits: affine expressions over params. */
static int64_t value_of(const struct binding_set *set, const struct expr *expr)
{
	int64_t a, b, quotient;

	if (expr->kind == EXPR_INT)
		return expr->integer;
	if (expr->kind == EXPR_PARAM)
		return set->sizes[expr->index];
	a = value_of(set, expr->args[0]);
	if (expr->kind == EXPR_CAST || expr->op == OP_NEG)
		return expr->kind == EXPR_CAST ? a : -a;
	b = value_of(set, expr->args[1]);
	if (expr->op == OP_ADD || expr->op == OP_SUB || expr->op == OP_MUL)
		return expr->op == OP_ADD ? a + b : expr->op == OP_SUB ? a - b : a * b;
	if (expr->op == OP_MIN || expr->op == OP_MAX)
		return (a < b) == (expr->op == OP_MIN) ? a : b;
	quotient = a / b - (a % b && (a < 0) != (b < 0));
	return expr->op == OP_DIV ? quotient : a - b * quotient;
}

/* ---- index arrays ---- */

/* What an array of indices looks like: as it comes, in every fourth draw each of the others. */
enum shape { MIXED, ALIKE, EXTREME, LONG };

static enum shape draw_shape(struct binding_set *set)
{
	return below(set, 4) ? MIXED : (enum shape) (1 + below(set, 3));
}

static void sort(int64_t *v, int64_t first, int64_t n)
{
	for (int64_t i = first; i < n; i++)
		for (int64_t j = i; j > first && v[j - 1] > v[j]; j--) {
			int64_t swap = v[j];

			v[j] = v[j - 1];
			v[j - 1] = swap;
		}
}

/* Segments of any length; or of one; or one with all; or empty ones at both ends. */
static void fill_offsets(struct binding_set *set, int64_t *v, int64_t n, int64_t limit)
{
	const enum shape shape = draw_shape(set);
	const int64_t one = below(set, n);

	for (int64_t i = 1; i + 1 < n; i++)
		v[i] = shape == ALIKE ? (i < limit ? i : limit)
		     : shape == EXTREME ? (i <= one ? 0 : limit)
		     : shape == LONG && (i < n/4 || i > n - n/4) ? (i < n/4 ? 0 : limit) : below(set, limit + 1);
	sort(v, 1, n - 1);
	v[0] = 0;
	v[n - 1] = limit;
}

/* Trees and chains; or roots alone; or stars; or one chain for each segment. */
static void fill_tree(struct binding_set *set, int64_t *v, int64_t n, const int64_t *segments, int64_t n_segments)
{
	const enum shape shape = draw_shape(set);
	int64_t first = 0, s = 0;

	for (int64_t i = 0; i < n; i++) {
		while (segments && s + 1 < n_segments && segments[s + 1] <= i)
			first = segments[++s];
		v[i] = i == first || shape == ALIKE ? -1
		     : shape == EXTREME ? 0
		     : shape == LONG ? i - first - 1
		     : below(set, 6) == 0 ? -1
		     : below(set, 2) ? i - first - 1 : below(set, i - first);
	}
}

/* Any value; or one for all; or the ends; or each once, as far as there are enough. */
static int64_t draw_index(struct binding_set *set, enum shape shape, int64_t i, int64_t limit, int64_t one)
{
	if (shape == ALIKE)
		return one;
	if (shape == EXTREME)
		return below(set, 2) ? limit - 1 : 0;
	return shape == LONG ? i % limit : below(set, limit);
}

static void fill_index(struct binding_set *set, const struct array *array, int64_t *v, int64_t n, int64_t limit)
{
	const enum shape shape = draw_shape(set);
	const bool is_unique = array->facts & FACT_UNIQUE;
	const int64_t first = is_unique ? below(set, limit - n + 1) : 0, one = limit ? below(set, limit) : 0;

	for (int64_t i = 0; i < n; i++)
		v[i] = is_unique ? first + i : draw_index(set, shape, i, limit, one);
	if (array->facts & FACT_SORTED)
		sort(v, 0, n);
	for (int64_t i = n - 1; i > 0 && !(array->facts & FACT_SORTED) && shape != LONG; i--) {
		int64_t j = below(set, i + 1), swap = v[i];

		v[i] = v[j];
		v[j] = swap;
	}
}

static bool fill_facts(struct binding_set *set, const struct array *array, int64_t n)
{
	int64_t limit = value_of(set, array->limit), *v = set->inputs[array->number];
	const struct array *segments = array->segments;

	if (array->facts & FACT_OFFSETS) {
		if (n == 0 || (n == 1 && limit))
			return false;
		fill_offsets(set, v, n, limit);
	} else if (array->facts & FACT_TREE) {
		fill_tree(set, v, n, segments ? set->inputs[segments->number] : NULL,
			  segments ? set->extents[segments->number][0] : 0);
	} else {
		if (n && (limit == 0 || (array->facts & FACT_UNIQUE && limit < n)))
			return false;
		fill_index(set, array, v, n, limit);
	}
	return true;
}

/* ---- arrays ---- */

static bool draw_array(struct binding_set *set, struct arena *arena, const struct array *array)
{
	int64_t n = 1;

	set->extents[array->number] = arena_new_array(arena, int64_t, array->rank + 1);
	for (int i = 0; i < array->rank; i++) {
		int64_t extent = value_of(set, array->hi[i]);

		set->extents[array->number][i] = extent;
		if (extent < 0)
			return false;
		n *= extent;
	}
	set->bytes[array->number] = (size_t) n * (size_t) type_size(array->type);
	set->inputs[array->number] = arena_alloc(arena, set->bytes[array->number] + 64);
	if (array->facts)
		return fill_facts(set, array, n);
	values_fill(array, set->inputs[array->number], n, &set->random);
	return true;
}

/* A method that diverges on random data is stopped before rounding decides what it gives: a wide one after a step. */
static bool is_bound(const struct param *param)
{
	return !strcmp(param->name, "maxIter");
}

static void draw_sizes(struct binding_set *set)
{
	static const int64_t choices[] = { 0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17 };
	/* Conditions of several sizes decide where all are next to nothing. */
	int64_t n_choices = below(set, 4) == 0 ? 3 : (int64_t) (sizeof choices / sizeof choices[0]);

	for (int i = 0; i < set->module->params.n; i++) {
		bool is_method = is_bound(&set->module->params.items[i]);

		set->sizes[i] = choices[below(set, is_method ? 3 : n_choices)];
		set->scalars[i] = (double) below(set, 4);
	}
}

/* The product of all sizes, or more than WIDEST. */
static int64_t work(const struct binding_set *set)
{
	int64_t product = 1;

	for (int i = 0; i < set->module->params.n; i++)
		if (product <= WIDEST && set->sizes[i])
			product *= set->sizes[i];
	return product;
}

static bool is_widened(const struct param *param, int64_t size)
{
	bool is_size = !param->is_scalar && !param->is_loop && !param->is_inspected;

	return is_size && param->derivation == DERIVATION_NONE && size <= NARROW && !is_bound(param);
}

/* What kernels are compiled for, in every other draw. */
static void draw_specialized(struct binding_set *set)
{
	for (int i = 0; i < set->module->params.n; i++) {
		const struct param *param = &set->module->params.items[i];

		if (param->is_specialized && below(set, 2))
			set->sizes[i] = param->value;
	}
}

/* Tiles have 16, 32 or 256 iterations. Beside one wide size all others are small: borders of long, narrow arrays. */
static void widen_sizes(struct binding_set *set)
{
	static const int64_t choices[] = { 18, 31, 32, 33, 34, 47, 48, 63, 64, 65, 66, 97, 255, 257, 258, 300, 515 };
	const struct module *module = set->module;
	const int64_t wanted = 1 + below(set, 2);
	int64_t widened = 0;

	for (int i = 0; i < module->params.n; i++)
		set->sizes[i] %= is_bound(&module->params.items[i]) ? 2 : wanted == 1 ? SMALL : NARROW + 1;
	for (int attempt = 0; module->params.n && attempt < WIDENINGS && widened < wanted; attempt++) {
		const int64_t i = below(set, module->params.n), before = set->sizes[i];
		const int64_t size = choices[below(set, (int64_t) (sizeof choices / sizeof choices[0]))];

		if (!is_widened(&module->params.items[i], before))
			continue;
		set->sizes[i] = size;
		widened++;
		if (work(set) > WIDEST) {
			set->sizes[i] = before;
			widened--;
		}
	}
}

static bool draw(struct binding_set *set, struct module *module, struct arena *arena, uint64_t seed, bool is_wide)
{
	*set = (struct binding_set) { .module = module, .random = seed };
	set->sizes = arena_new_array(arena, int64_t, module->params.n + 1);
	set->scalars = arena_new_array(arena, double, module->params.n + 1);
	set->extents = arena_new_array(arena, int64_t *, module->arrays.n + 1);
	set->inputs = arena_new_array(arena, void *, module->arrays.n + 1);
	set->bytes = arena_new_array(arena, size_t, module->arrays.n + 1);
	draw_sizes(set);
	if (is_wide) {
		widen_sizes(set);
		draw_specialized(set);
	}
	for (int i = 0; i < module->arrays.n; i++)
		if (array_is_argument(module->arrays.items[i]) && !draw_array(set, arena, module->arrays.items[i]))
			return false;
	return true;
}

bool binding_draw(struct binding_set *set, struct module *module, struct arena *arena, uint64_t seed)
{
	return draw(set, module, arena, seed, false);
}

bool binding_draw_wide(struct binding_set *set, struct module *module, struct arena *arena, uint64_t seed)
{
	return draw(set, module, arena, seed, true);
}

/* ---- views ---- */

void **binding_copy(const struct binding_set *set, struct arena *arena)
{
	void **copies = arena_new_array(arena, void *, set->module->arrays.n + 1);

	for (int i = 0; i < set->module->arrays.n; i++) {
		if (!set->inputs[i])
			continue;
		copies[i] = (char *) arena_alloc(arena, set->bytes[i] + 2*FENCE) + FENCE;
		memset((char *) copies[i] - FENCE, fence_byte(set), set->bytes[i] + 2*FENCE);
		memcpy(copies[i], set->inputs[i], set->bytes[i]);
	}
	return copies;
}

bool binding_is_fenced(const struct binding_set *set, void **copies)
{
	const int byte = fence_byte(set);
	bool is_whole = true;

	for (int i = 0; i < set->module->arrays.n; i++) {
		const unsigned char *data = copies[i];

		for (size_t k = 0; data && k < FENCE; k++)
			is_whole = is_whole && *(data - 1 - k) == byte && data[set->bytes[i] + k] == byte;
	}
	return is_whole;
}

struct interp_input binding_interp(const struct binding_set *set, struct arena *arena, void **copies)
{
	struct interp_input input = { .sizes = set->sizes, .scalars = set->scalars, .max_iterations = -1 };

	for (int i = 0; i < set->module->arrays.n; i++) {
		const struct array *array = set->module->arrays.items[i];
		struct interp_array value = { .array = array, .type = array->type, .data = copies[i] };

		if (!copies[i])
			continue;
		memcpy(value.shape, set->extents[i], (size_t) array->rank * sizeof value.shape[0]);
		vec_push(arena, &input.arrays, value);
	}
	return input;
}

static int param_number(const struct module *module, const char *name)
{
	for (int i = 0; i < module->params.n; i++)
		if (!strcmp(module->params.items[i].name, name))
			return i;
	return 0;
}

static void set_param(const struct binding_set *set, char *args, const pmg_param_desc *param)
{
	int number = param_number(set->module, param->name);

	if (param->type == PMG_I64)
		*(int64_t *) (void *) (args + param->offset) = set->sizes[number];
	else if (param->type == PMG_F64)
		*(double *) (void *) (args + param->offset) = set->scalars[number];
	else
		*(float *) (void *) (args + param->offset) = (float) set->scalars[number];
}

void *binding_args(const struct binding_set *set, struct arena *arena, const pmg_pipeline_desc *desc, void **copies)
{
	char *args = arena_alloc(arena, desc->args_size);

	for (int i = 0; i < desc->n_params; i++)
		set_param(set, args, &desc->params[i]);
	for (int i = 0; i < desc->n_arrays; i++) {
		const pmg_array_desc *array = &desc->arrays[i];
		const struct array *of;

		if (array->offset == SIZE_MAX)
			continue;
		of = module_find_array(set->module, array->name);
		*(pmg_buffer *) (void *) (args + array->offset) =
			pmg_dense(copies[of->number], array->type, array->rank, set->extents[of->number]);
	}
	return args;
}
